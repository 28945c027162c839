//! abstat reads benchmark results of many producers into one sample model, says with sound statistics what changed, and renders tables.
pub mod base;
pub mod cli;
pub mod compare;
pub mod gate;
pub mod input;
pub mod model;
pub mod parse;
pub mod pivot;
pub mod read;
pub mod render;
pub mod report;
pub mod runner;
pub mod stats;
pub mod units;
