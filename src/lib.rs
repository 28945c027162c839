//! abstat reads benchmark results of many producers into one sample model, says with sound statistics what changed, and renders tables.
pub mod base;
pub mod units;
pub mod model;
pub mod input;
pub mod parse;
pub mod stats;
pub mod pivot;
pub mod compare;
pub mod report;
pub mod render;
pub mod gate;
pub mod runner;
pub mod cli;
