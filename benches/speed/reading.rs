//! Bytes to series: decoding, lines, recognition, parsing, collecting.

use abstat::base::Severity;
use abstat::compare::benchstat::{Levels, tables};
use abstat::pivot::{Filter, Layout, Mode, layout};
use abstat::render::{benchstat, samples};
use criterion::{BenchmarkId, Criterion, SamplingMode, Throughput};

use crate::inputs::{Repeated, Shape, Side, db_bench_runs, go_json, repeated};
use crate::{go, pair, read, sizes, source};

/// Bytes of the smallest input.
const SMALLEST: usize = 2 << 20;

/// Bytes of a result line of Go.
const GO_LINE: usize = 140;

pub fn all(c: &mut Criterion) {
    let lines = |bytes: usize| bytes.div_ceil(GO_LINE);
    let go = |shape| move |bytes| go(shape, lines(bytes), Side::Old);
    let other = |format| move |bytes| repeated(format, 0, bytes);

    growth(c, "go-few", go(Shape::Few));
    growth(c, "go-many", go(Shape::Many));
    growth(c, "go-loop", go(Shape::Loop));
    growth(c, "go-json", |bytes| {
        let text = crate::go(Shape::Many, lines(bytes) / 3, Side::Old);
        go_json(&String::from_utf8(text).expect("it was written as UTF-8"))
    });
    growth(c, "jmh-log", other(Repeated::JmhLog));
    growth(c, "jmh-json", other(Repeated::JmhJson));
    growth(c, "jmh-table", other(Repeated::JmhTable));
    growth(c, "db_bench", other(Repeated::DbBench));
    growth(c, "db_bench-runs", db_bench_runs);
    growth(c, "report-tsv", other(Repeated::ReportTsv));
    growth(c, "benchstat", benchstat_table);
    growth(c, "abstat", tidy_lines);
}

fn growth(c: &mut Criterion, format: &str, input: impl Fn(usize) -> Vec<u8>) {
    let mut group = c.benchmark_group(format!("read {format}"));
    group.sampling_mode(SamplingMode::Flat);
    for size in sizes(SMALLEST) {
        let bytes = input(size);
        let length = bytes.len() as u64;
        let sources = [source(bytes)];
        let set = read(&sources, &Filter::all());
        // What is measured is results that are read, not complaints.
        let complaints = set.diagnostics.iter().filter(|d| d.severity == Severity::Warning).count();
        let results = set.inputs[0].results;
        assert!(results as usize > complaints && set.inputs[0].skipped == 0, "{format}: {:?}", set.diagnostics);
        group.throughput(Throughput::Bytes(length));
        group.bench_function(BenchmarkId::from_parameter(size), |b| {
            b.iter_with_large_drop(|| read(&sources, &Filter::all()));
        });
    }
    group.finish();
}

/// What benchstat prints of two files.
fn benchstat_table(bytes: usize) -> Vec<u8> {
    // A benchmark gives a row in each of four tables.
    let benchmarks = bytes.div_ceil(4 * 110);
    let mut set = read(&pair(Shape::Many, 10 * benchmarks), &Filter::all());
    let grid = layout(&mut set, &Layout { mode: Mode::Benchstat, ..Layout::default() });
    benchstat::text(&tables(grid, Levels::default())).into_bytes()
}

/// What `abstat convert -f jsonl` writes of Go text.
fn tidy_lines(bytes: usize) -> Vec<u8> {
    let lines = bytes.div_ceil(4 * 250);
    let set = read(&[source(go(Shape::Many, lines, Side::Old))], &Filter::all());
    let mut out = Vec::new();
    samples::jsonl(&set, &mut out).expect("memory takes it");
    out
}
