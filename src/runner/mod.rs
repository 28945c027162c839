//! `abstat run` (draft).
pub mod clock;
pub mod engine;
mod error;
pub mod fork;
pub mod place;
pub mod spec;
pub mod workload;
pub use error::{Error, Result};
