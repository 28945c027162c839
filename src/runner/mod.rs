//! `abstat run` (draft).
pub mod engine;
