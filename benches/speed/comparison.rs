//! Series to report: layout, and comparison with its correction, geometric mean and notes.

use abstat::compare::Plan;
use abstat::model::SeriesSet;
use abstat::pivot::{Filter, Layout, layout};
use criterion::{BatchSize, BenchmarkId, Criterion, SamplingMode, Throughput};

use crate::inputs::{Repeated, Shape, repeated};
use crate::{compared, pair, read, sizes, source};

/// Metrics of a line of Go, each a row.
const METRICS: usize = 4;

/// Benchmarks of the shape `Few`.
const FEW: usize = 20;

pub fn all(c: &mut Criterion) {
    // Rows of 10 values a side.
    growth(c, "rows", sizes(1000), |rows| read(&pair(Shape::Many, 10 * rows.div_ceil(METRICS)), &Filter::all()));
    // Always 80 rows; so many values a side.
    growth(c, "values", sizes(2500), |values| read(&pair(Shape::Few, FEW * values), &Filter::all()));
    // Rows of 25 values in 5 forks a side; 2600 bytes of a log each.
    growth(c, "forked rows", sizes(1000), |rows| {
        let log = |first| source(repeated(Repeated::JmhLog, first, 2600 * rows));
        read(&[log(0), log(1)], &Filter::all())
    });
}

fn growth(c: &mut Criterion, what: &str, sizes: [usize; 3], set: impl Fn(usize) -> SeriesSet) {
    for stage in ["layout", "compare"] {
        let mut group = c.benchmark_group(format!("{stage} {what}"));
        group.sampling_mode(SamplingMode::Flat);
        for size in sizes {
            let grid = layout(&mut set(size), &Layout::default()).filled();
            let rows: usize = grid.tables.iter().map(|t| t.rows.len()).sum();
            let values = if what == "values" { size * FEW * METRICS } else { rows };
            group.throughput(Throughput::Elements(values as u64));
            group.bench_function(BenchmarkId::from_parameter(size), |b| {
                if stage == "layout" {
                    b.iter_batched_ref(
                        || set(size),
                        |set| layout(set, &Layout::default()).filled(),
                        BatchSize::PerIteration,
                    );
                } else {
                    let laid_out = || {
                        let mut set = set(size);
                        (layout(&mut set, &Layout::default()).filled(), set)
                    };
                    let plan = Plan::default();
                    b.iter_batched(laid_out, |(grid, set)| compared(grid, set, &plan), BatchSize::PerIteration);
                }
            });
        }
        group.finish();
    }
}
