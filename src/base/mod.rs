//! Places and messages: where something stands in an input, and what is said about it.
//!
//! A [`Diagnostic`] is data, not text on a stream: parsers and later stages push them, the command line
//! prints them (first five per code and input, the rest counted). Fatal conditions are [`Error`]s.

mod diagnostic;
mod error;
mod printable;

pub use diagnostic::{Diagnostic, Excerpt, Severity};
pub use error::Error;
pub use printable::printable;

/// Index of an input in the order the user typed them; 0-based.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceId(pub u32);

/// A place in an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pos {
    /// Line number, from 1.
    pub line: u64,
    /// Column in characters, from 1; 0 when the whole line is meant.
    pub column: u32,
}
