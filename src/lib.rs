//! abstat reads benchmark results of many producers into one sample model, says with sound statistics what changed, and renders tables.
//!
//! # How it works
//!
//! One pipe, one direction:
//!
//! ```text
//! input -> parse -> read -> pivot -> compare -> report -> render, gate
//! bytes    records   series  tables   numbers    answer    bytes
//! ```
//!
//! - [`input`] opens, decodes and cuts into lines; [`parse`] has one file per format behind one trait, and the only list of them;
//!   [`read`] drives both and keeps what the filter lets pass in a [`model::SeriesSet`]. Left of it everything is per line and borrowed.
//! - [`model`] keeps raw samples and printed summaries apart: they are different evidence, and nothing turns a summary into samples.
//!   The fork of a sample is kept, for forks are the unit of a fair test.
//! - [`pivot`] decides which keys make tables, rows and columns; [`compare`](mod@compare) chooses a base, picks the method by what both sides
//!   have, and gives verdicts; [`stats`] takes numbers and knows nothing else.
//! - A [`report::Report`] holds finished numbers. [`render`] has one file per output and computes nothing; [`gate`] holds rules against it.
//! - [`runner`] measures RocksDB and writes samples that are read like everybody else's. [`cli`] is the wiring.
//!
//! [`base`] and [`units`] are what all of them share. A test holds the `use` lines against this picture.
//!
//! # Example
//!
//! ```
//! use std::sync::Arc;
//!
//! use abstat::compare::{Plan, compare};
//! use abstat::input::{BLOCK, Source, SourceKind};
//! use abstat::parse::mixed::Mixed;
//! use abstat::pivot::{Filter, Layout, layout};
//! use abstat::read::{Request, read};
//! use abstat::report::Verdict;
//!
//! let lines = |ns: [u32; 5]| ns.map(|v| format!("BenchmarkGet-8 1000 {v} ns/op\n")).concat();
//! let source = |text: String| Source {
//!     label: None,
//!     kind: SourceKind::Bytes("example", Arc::from(text.into_bytes())),
//! };
//! let sources = [source(lines([100, 101, 102, 103, 104])), source(lines([80, 81, 82, 83, 84]))];
//!
//! let mut set = read(&Request {
//!     sources: &sources,
//!     labels: &["old".into(), "new".into()],
//!     parsers: &|| Mixed::new(None).expect("all formats"),
//!     filter: &Filter::all(),
//!     block: BLOCK,
//! })
//! .map_err(|(error, _)| error)?;
//! let grid = layout(&mut set, &Layout::default());
//! let report = compare(grid, set.inputs, set.diagnostics, &Plan::default())?;
//!
//! let row = &report.tables[0].rows[0];
//! let change = row.comparison(1).expect("both sides have it");
//! assert_eq!(change.verdict, Verdict::Better { confirmed: true });
//! assert!((change.p.expect("a test was made") - 2.0 / 252.0).abs() < 1e-12);
//! # Ok::<(), abstat::base::Error>(())
//! ```

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
