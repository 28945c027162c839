//! `abstat run`: a small runner of RocksDB get and put workloads.
//!
//! It makes samples and judges none of them: a [`RunOutcome`] is turned into text by [`format::render`], and that text goes the way of all benchmark
//! output. Modules, from the outside in:
//!
//! * [`plan`], [`spec`]: what was asked for, checked; names of benchmarks
//! * [`run()`], [`resume`]: find engines, start one process after another, record samples as they come
//! * [`process`] and [`child`]: the two ends of a fork; JSON lines between them
//! * [`fork`], [`clock`], [`workload`]: open, load, iterate, check
//! * [`engine`]: RocksDB loaded at run time, or a map in memory
//! * [`place`], [`scratch`]: which directories are ours
//! * [`record`], [`machine`], [`progress`]: durable samples, warnings, progress
//!
//! Not done: merges, transactions, deletes; several databases; statistics.

pub mod child;
pub mod clock;
pub mod engine;
mod error;
pub mod fork;
pub mod format;
pub mod machine;
pub mod place;
pub mod plan;
pub mod process;
pub mod progress;
pub mod record;
mod run;
pub mod scratch;
pub mod signals;
pub mod spec;
pub mod workload;

pub use error::{Error, Result};
pub use run::{Options, RunOutcome, resume, run};
