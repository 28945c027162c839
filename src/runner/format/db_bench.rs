//! A log in the shape of db_bench's (7.3 and later): a header for each combination, result lines, `[AVG]` and `[MEDIAN]`.
//!
//! Names are the runner's, because two workloads map to one of db_bench. Iterations of all forks are repetitions of one run; micros/op is the
//! time of all threads by operations, MB are 2^20 bytes, numbers are cut and not rounded where db_bench cuts.

use std::fmt::Write;

use super::{Group, RunOutcome};
use crate::model::run::{Latency, Phase, RunSample};

pub(super) fn render(outcome: &RunOutcome) -> String {
    let mut out = String::new();
    // Writing into a String cannot fail.
    let _ = write(&mut out, outcome);
    out
}

fn write(out: &mut String, outcome: &RunOutcome) -> std::fmt::Result {
    for group in Group::all(outcome) {
        header(out, outcome, &group)?;
        for role in group.roles() {
            let samples = |phase: Phase| {
                group.samples.iter().copied().filter(move |s| s.phase == phase && s.role.as_deref() == role)
            };
            let name = match (group.param("op").unwrap_or(""), role) {
                (op, None) => op.to_owned(),
                (op, Some(role)) => format!("{op}:{role}"),
            };
            let warmup: Vec<&RunSample> = samples(Phase::Warmup).collect();
            let measured: Vec<&RunSample> = samples(Phase::Measured).collect();
            if !warmup.is_empty() {
                writeln!(out, "Warming up benchmark by running {} times", warmup.len())?;
            }
            for s in warmup {
                result(out, &name, s)?;
            }
            if measured.len() > 1 {
                writeln!(out, "Running benchmark for {} times", measured.len())?;
            }
            for s in &measured {
                result(out, &name, s)?;
            }
            if measured.len() > 1 {
                summary(out, &name, &measured)?;
            }
        }
    }
    Ok(())
}

fn header(out: &mut String, outcome: &RunOutcome, group: &Group<'_>) -> std::fmt::Result {
    let param = |key: &str| group.param(key).unwrap_or("");
    let number = |key: &str| param(key).parse::<f64>().unwrap_or(0.0);
    writeln!(out, "# abstat run, not db_bench: {}", outcome.header.tool)?;
    if let Some(first) = group.samples.first() {
        if first.rocksdb != "memory" {
            writeln!(out, "RocksDB:    version {}", first.rocksdb)?;
        }
        writeln!(out, "Engine:     {}", first.engine)?;
    }
    let host = &outcome.header.host;
    writeln!(out, "CPU:        {} * {}", host.cores, host.cpu)?;
    let (keys, key_size, value_size) = (number("keys"), number("ksize"), number("vsize"));
    let compressed = value_size * number("ratio");
    writeln!(out, "Keys:       {key_size} bytes each (+ 0 bytes user-defined timestamp)")?;
    writeln!(out, "Values:     {value_size} bytes each ({:.0} bytes after compression)", compressed)?;
    writeln!(out, "Entries:    {keys}")?;
    let mib = f64::from(1 << 20);
    writeln!(out, "RawSize:    {:.1} MB (estimated)", keys * (key_size + value_size) / mib)?;
    writeln!(out, "FileSize:   {:.1} MB (estimated)", keys * (key_size + compressed) / mib)?;
    for (key, value) in group.samples.first().map(|s| &s.params).into_iter().flat_map(|p| p.iter()) {
        if !matches!(key, "op" | "keys" | "ksize" | "vsize") {
            writeln!(out, "{:<11} {value}", format!("{}:", name_of(key)))?;
        }
    }
    writeln!(out, "Seed:       {}", outcome.header.seed)?;
    writeln!(out, "------------------------------------------------")?;
    writeln!(out, "DB path: [abstat run]")
}

/// Header lines of db_bench begin with a capital.
fn name_of(key: &str) -> String {
    let mut letters = key.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

fn mib_per_second(s: &RunSample) -> f64 {
    if s.ops == 0 { 0.0 } else { s.bytes as f64 / s.ops as f64 * s.ops_s / f64::from(1 << 20) }
}

fn result(out: &mut String, name: &str, s: &RunSample) -> std::fmt::Result {
    if s.ops == 0 {
        return writeln!(out, "{name:<12} : skipped (no operations)");
    }
    let micros = s.thread_seconds * 1e6 / s.ops as f64;
    // db_bench has three places; below 10 us that is too few for what is measured here.
    let places = if micros >= 10.0 { 3 } else { 6 };
    write!(
        out,
        "{name:<12} : {micros:>11.places$} micros/op {} ops/sec {:.3} seconds {} operations;",
        s.ops_s as u64, s.seconds, s.ops
    )?;
    if s.bytes > 0 {
        write!(out, " {:>6.1} MB/s", mib_per_second(s))?;
    }
    if s.found != s.ops || !matches!(s.params.get("op"), Some("put" | "comparator")) && s.role.as_deref() != Some("put")
    {
        write!(out, " ({} of {} found)", s.found, s.ops)?;
    }
    writeln!(out)?;
    match &s.latency {
        Some(latency) => histogram(out, s, latency),
        None => Ok(()),
    }
}

/// The block that `--histogram` adds, without buckets.
fn histogram(out: &mut String, s: &RunSample, l: &Latency) -> std::fmt::Result {
    let what = match (s.params.get("op"), s.role.as_deref()) {
        (Some("put" | "comparator"), _) | (_, Some("put")) => "write",
        (Some("readwrite"), None) => "op",
        (Some("fwdrange" | "revrange"), _) => "seek",
        _ => "read",
    };
    let us = 1e6;
    writeln!(out, "Microseconds per {what}:")?;
    writeln!(out, "Count: {} Average: {:.4}  StdDev: {:.2}", l.count, l.mean * us, l.stddev * us)?;
    writeln!(out, "Min: {:.3}  Median: {:.4}  Max: {:.3}", l.min * us, l.p50 * us, l.max * us)?;
    writeln!(
        out,
        "Percentiles: P50: {:.3} P75: {:.3} P99: {:.3} P99.9: {:.3} P99.99: {:.3}",
        l.p50 * us,
        l.p75 * us,
        l.p99 * us,
        l.p99_9 * us,
        l.p99_99 * us
    )?;
    writeln!(out, "------------------------------------------------------")?;
    writeln!(out)
}

/// Mean, and half width of the 95 % interval of the normal law, which is what db_bench prints.
fn mean_and_error(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (mean, 1.959_964 * (variance / n).sqrt())
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match (sorted.get(middle), sorted.len() % 2) {
        (Some(high), 0) => f64::midpoint(*high, sorted.get(middle.wrapping_sub(1)).copied().unwrap_or(*high)),
        (Some(middle), _) => *middle,
        (None, _) => 0.0,
    }
}

fn summary(out: &mut String, name: &str, samples: &[&RunSample]) -> std::fmt::Result {
    let n = samples.len();
    let rates: Vec<f64> = samples.iter().map(|s| s.ops_s.trunc()).collect();
    let megabytes: Vec<f64> = samples.iter().map(|s| mib_per_second(s)).collect();
    let bytes = samples.iter().all(|s| s.bytes > 0);
    let (mean, error) = mean_and_error(&rates);
    write!(out, "{name} [AVG    {n} runs] : {} (± {}) ops/sec;", mean as u64, error as u64)?;
    if bytes {
        let (mean, error) = mean_and_error(&megabytes);
        write!(out, " {mean:>6.1} (± {error:.1}) MB/sec")?;
    }
    writeln!(out)?;
    write!(out, "{name} [MEDIAN {n} runs] : {} ops/sec;", median(&rates) as u64)?;
    if bytes {
        write!(out, " {:>6.1} MB/sec", median(&megabytes))?;
    }
    writeln!(out)
}
