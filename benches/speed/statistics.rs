//! Single tests and intervals.

use abstat::model::Sample;
use abstat::stats::{UCache, bootstrap_ratio, hodges_lehmann_ratio, mann_whitney};
use criterion::{BenchmarkId, Criterion, Throughput};

use crate::inputs::Random;
use crate::sizes;

/// Resamples that abstat takes.
const RESAMPLES: u32 = 10_000;

pub fn all(c: &mut Criterion) {
    let mut group = c.benchmark_group("mann-whitney");
    for n in [10, 25, 200] {
        for (kind, steps) in [("untied", None), ("tied", Some(8.0))] {
            let (before, after) = sides(n, steps);
            // As in a comparison: null distributions of earlier rows are at hand.
            let known = UCache::new();
            group.bench_function(format!("{n} v {n} {kind}"), |b| b.iter(|| mann_whitney(&before, &after, &known)));
            group.bench_function(format!("{n} v {n} {kind} first"), |b| {
                b.iter_with_setup(UCache::new, |fresh| (mann_whitney(&before, &after, &fresh), fresh));
            });
        }
    }
    group.finish();

    let mut group = c.benchmark_group("tests");
    for n in sizes(25_000) {
        let rows: Vec<_> = (0..n as u64).map(|i| (sample(10, None, i), sample(10, None, i + 1_000_000))).collect();
        group.throughput(Throughput::Elements(n as u64));
        group.bench_function(BenchmarkId::from_parameter(n), |b| {
            b.iter(|| {
                let cache = UCache::new();
                rows.iter().map(|(x, y)| mann_whitney(x, y, &cache).p.value()).sum::<f64>()
            });
        });
    }
    group.finish();

    let mut group = c.benchmark_group("interval");
    for n in [10, 200] {
        let (before, after) = sides(n, None);
        let known = UCache::new();
        group.bench_function(format!("hodges-lehmann {n} v {n}"), |b| {
            b.iter(|| hodges_lehmann_ratio(&before, &after, 0.95, &known));
        });
        group.bench_function(format!("bootstrap {n} v {n}"), |b| {
            b.iter(|| bootstrap_ratio(before.values(), after.values(), 0.95, RESAMPLES, 1));
        });
    }
    group.finish();
}

fn sides(n: usize, steps: Option<f64>) -> (Sample, Sample) {
    (sample(n, steps, 1), sample(n, steps, 2))
}

/// `n` times around 1; rounded to so many values in the tenth around it, if that is asked for.
fn sample(n: usize, steps: Option<f64>, seed: u64) -> Sample {
    let mut random = Random(seed);
    let value = |t: f64| steps.map_or(t, |steps| (t * 10.0 * steps).round() / (10.0 * steps));
    Sample::new((0..n).map(|_| value(random.time())).collect()).expect("finite values, at least one")
}
