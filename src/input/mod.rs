//! Inputs: what the user named, opened, decoded and cut into lines.
//!
//! Decoding: UTF-8 (BOM dropped), UTF-16 with or without BOM, gzip, zstd; ANSI sequences and CI time stamps at line starts are removed.
//! Not here: what a line means. Invalid UTF-8 passes through as bytes; formats decide.

mod decode;
mod lines;
mod packed;
mod source;

pub use decode::decode;
pub use lines::{BLOCK, LONGEST_LINE, read_lines};
pub use source::{Source, SourceKind};
