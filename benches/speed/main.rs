//! How fast each stage is, and how its time grows: `cargo bench`, under three minutes; `scripts/bench.sh` makes a table of it.
//!
//! Groups are named after stages. Where a group has sizes they are N, 2N and 4N, so that linear growth shows as times 1 : 2 : 4.
//! All of it runs on one thread: rates are per core. Without `--bench` (`cargo test --benches`) inputs are small and each
//! benchmark runs once.

use std::sync::Arc;
use std::time::Duration;

use abstat::compare::{Plan, compare};
use abstat::input::{BLOCK, Source, SourceKind};
use abstat::model::SeriesSet;
use abstat::parse::mixed::Mixed;
use abstat::pivot::{Filter, Grid, Layout, layout};
use abstat::report::Report;
use criterion::Criterion;

mod comparison;
mod inputs;
mod output;
mod reading;
mod statistics;

/// The binary's.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    rayon::ThreadPoolBuilder::new().num_threads(1).build_global().expect("nobody used threads before");
    let mut criterion = Criterion::default()
        .without_plots()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(700))
        .configure_from_args();
    reading::all(&mut criterion);
    statistics::all(&mut criterion);
    comparison::all(&mut criterion);
    output::all(&mut criterion);
    criterion.final_summary();
}

/// N, 2N and 4N, or hundredths of them when nothing is measured.
fn sizes(n: usize) -> [usize; 3] {
    let n = if std::env::args().any(|a| a == "--bench") { n } else { n.div_ceil(100) };
    [n, 2 * n, 4 * n]
}

/// An input of the front half.
fn source(bytes: Vec<u8>) -> Source {
    Source { label: None, kind: SourceKind::Bytes("benchmark", Arc::from(bytes)) }
}

/// The whole front half, every format tried, as for an input named on the command line.
fn read(sources: &[Source], filter: &Filter) -> SeriesSet {
    let labels: Vec<String> = ["old", "new"].iter().take(sources.len()).map(|&l| l.to_owned()).collect();
    let parsers = || Mixed::new(None).expect("all formats");
    abstat::read::read(&abstat::read::Request { sources, labels: &labels, parsers: &parsers, filter, block: BLOCK })
        .map_err(|(e, _)| e)
        .expect("the inputs hold results")
}

/// The middle of the pipe.
fn report(mut set: SeriesSet, plan: &Plan) -> Report {
    let grid = layout(&mut set, &Layout::default());
    compared(grid, set, plan)
}

fn compared(grid: Grid, set: SeriesSet, plan: &Plan) -> Report {
    compare(grid, set.inputs, set.diagnostics, plan).expect("the first column is the base")
}

/// Go text as [`inputs::go`] makes it.
fn go(shape: inputs::Shape, lines: usize, side: inputs::Side) -> Vec<u8> {
    let mut out = Vec::new();
    inputs::go(shape, lines, side, &mut out).expect("memory takes it");
    out
}

/// Two files of the same shape, before and after.
fn pair(shape: inputs::Shape, lines: usize) -> [Source; 2] {
    [source(go(shape, lines, inputs::Side::Old)), source(go(shape, lines, inputs::Side::New))]
}
