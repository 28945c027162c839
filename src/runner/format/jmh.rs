//! A log in the shape of JMH's, with its final table, in throughput mode: what JMH readers understand. Its first line says that it is ours.
//!
//! Names are those of RocksJava's JMH classes where there is one. Roles of `readwrite` are group members; calls of multi-get and percentiles
//! are secondary results. `±` is JMH's: Student-t over all iterations, 99.9 %.

use std::fmt::Write;

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::{Group, RunOutcome};
use crate::model::run::{Phase, RunSample};
use crate::runner::clock::Length;

pub(super) fn render(outcome: &RunOutcome) -> String {
    let mut out = String::new();
    // Writing into a String cannot fail.
    let _ = write(&mut out, outcome);
    out
}

/// Class and method of a workload.
fn name(op: &str) -> &'static str {
    match op {
        "get" => "RocksGet.get",
        "get-pinned" => "RocksGet.getPinned",
        "get-into" => "RocksGet.getInto",
        "put" => "RocksPut.put",
        "multiget" => "RocksMultiGet.multiGet",
        "readwrite" => "RocksReadWrite.readwrite",
        "comparator" => "RocksComparator.put",
        "fwdrange" => "RocksRange.forward",
        "revrange" => "RocksRange.reverse",
        _ => "Rocks.run",
    }
}

/// JMH's word for a parameter.
fn parameter(key: &str) -> &str {
    match key {
        "cf" => "columnFamilies",
        "keys" => "keyCount",
        "ksize" => "keySize",
        "vsize" => "valueSize",
        "cache" => "cacheType",
        "csize" => "cacheSize",
        "block" => "blockSize",
        "hit" => "hitRate",
        "batch" => "multiGetSize",
        "comparator" => "comparatorName",
        other => other,
    }
}

/// A result line: the whole, or something beside it.
struct Series {
    /// Empty for the whole.
    label: String,
    unit: &'static str,
    values: Vec<f64>,
}

/// What a sample says beside its rate, in order.
fn secondary(s: &RunSample) -> Vec<(String, &'static str, f64)> {
    let mut out = Vec::new();
    if let (Some(calls), true) = (s.calls, s.ops > 0) {
        out.push(("calls".to_owned(), "ops/s", calls as f64 / s.ops as f64 * s.ops_s));
    }
    for (name, seconds) in s.latency.iter().flat_map(|l| l.percentiles()) {
        // A batch is timed as a whole.
        let what = if s.calls.is_some() { "calls.latency" } else { "latency" };
        out.push((format!("{what}.{name}"), "us/op", seconds * 1e6));
    }
    out
}

/// Rate and secondary values of an iteration: `of` are its samples, the whole first.
fn lines(op: &str, of: &[&RunSample]) -> Vec<(String, &'static str, f64)> {
    let mut out = Vec::new();
    for s in of {
        let label = s.role.as_ref().map_or(String::new(), |role| format!("{op}_{role}"));
        let prefix = if label.is_empty() { String::new() } else { format!("{label}.") };
        out.push((label, "ops/s", s.ops_s));
        out.extend(secondary(s).into_iter().map(|(name, unit, value)| (format!("{prefix}{name}"), unit, value)));
    }
    out
}

/// Half width of the 99.9 % interval of the mean, as JMH computes it; `None` below 3 values.
fn error(values: &[f64]) -> Option<f64> {
    let n = values.len();
    if n < 3 {
        return None;
    }
    let freedom = (n - 1) as f64;
    let mean = values.iter().sum::<f64>() / n as f64;
    let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / freedom;
    let t = StudentsT::new(0.0, 1.0, freedom).ok()?.inverse_cdf(0.9995);
    Some(t * variance.sqrt() / (n as f64).sqrt())
}

fn write(out: &mut String, outcome: &RunOutcome) -> std::fmt::Result {
    let plan = &outcome.plan;
    writeln!(out, "# abstat run, not JMH: {}, seed {}", outcome.header.tool, outcome.header.seed)?;
    let groups = Group::all(outcome);
    let columns = columns(outcome, &groups);
    let mut rows: Vec<Vec<String>> = Vec::new();
    for group in &groups {
        let Some(first) = group.samples.first() else { continue };
        let op = group.param("op").unwrap_or("");
        let parameters: Vec<(&str, Option<&str>)> = columns.iter().map(|&c| (c, value(group, c))).collect();
        writeln!(out)?;
        writeln!(out, "# RocksDB version: {}", first.rocksdb)?;
        let length = match plan.length {
            Length::Seconds(s) => format!("{s} s each"),
            Length::Ops(n) => format!("{n} ops a thread each"),
        };
        writeln!(out, "# Warmup: {} iterations, {length}", plan.warmup)?;
        writeln!(out, "# Measurement: {} iterations, {length}", plan.iterations)?;
        let count =
            |role: &str| group.samples.iter().find(|s| s.role.as_deref() == Some(role)).map_or(0, |s| s.threads);
        let members = match (count("get"), count("put")) {
            (0, _) | (_, 0) => String::new(),
            (get, put) => format!(" (1 group; {get}x \"{op}_get\", {put}x \"{op}_put\" in each group)"),
        };
        let threads = group.whole().next().map_or(0, |s| s.threads);
        let will = if plan.synchronized { ", will synchronize iterations" } else { "" };
        writeln!(out, "# Threads: {threads} thread{}{members}{will}", if threads == 1 { "" } else { "s" })?;
        writeln!(out, "# Benchmark mode: Throughput, ops/time")?;
        writeln!(out, "# Benchmark: {}", name(op))?;
        let list: Vec<String> =
            parameters.iter().filter_map(|(k, v)| v.map(|v| format!("{} = {v}", parameter(k)))).collect();
        writeln!(out, "# Parameters: ({})", list.join(", "))?;
        writeln!(out)?;
        let mut series: Vec<Series> = Vec::new();
        for fork in group.forks() {
            writeln!(out, "# Fork: {fork} of {}", plan.forks)?;
            for whole in group.whole().filter(|s| s.fork == fork) {
                let of: Vec<&RunSample> = group
                    .samples
                    .iter()
                    .copied()
                    .filter(|s| s.fork == fork && s.phase == whole.phase && s.iteration == whole.iteration)
                    .collect();
                if whole.phase == Phase::Warmup {
                    writeln!(out, "# Warmup Iteration {:>3}: {:.3} ops/s", whole.iteration, whole.ops_s)?;
                    continue;
                }
                let lines = lines(op, &of);
                for (i, (label, unit, value)) in lines.into_iter().enumerate() {
                    if i == 0 {
                        writeln!(out, "Iteration {:>3}: {value:.3} {unit}", whole.iteration)?;
                    } else {
                        writeln!(out, "                 {label}: {value:.3} {unit}")?;
                    }
                    match series.iter_mut().find(|s| s.label == label) {
                        Some(s) => s.values.push(value),
                        None => series.push(Series { label, unit, values: vec![value] }),
                    }
                }
                if of.len() > 1 || !secondary(whole).is_empty() {
                    writeln!(out)?;
                }
            }
            writeln!(out)?;
        }
        for s in &series {
            result(out, name(op), s)?;
            rows.push(row(name(op), &parameters, s));
        }
    }
    writeln!(out, "# Run complete.")?;
    writeln!(out)?;
    table(out, &columns, &rows)
}

/// The `Result` block.
fn result(out: &mut String, name: &str, s: &Series) -> std::fmt::Result {
    if s.label.is_empty() {
        writeln!(out, "\nResult \"{name}\":")?;
    } else {
        writeln!(out, "Secondary result \"{name}:{}\":", s.label)?;
    }
    let n = s.values.len();
    let mean = s.values.iter().sum::<f64>() / n as f64;
    match error(&s.values) {
        None => writeln!(out, "  {mean:.3} {}", s.unit)?,
        Some(error) => {
            let low = s.values.iter().copied().fold(f64::INFINITY, f64::min);
            let high = s.values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let stdev = (s.values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1) as f64).sqrt();
            writeln!(out, "  {mean:.3} ±(99.9%) {error:.3} {} [Average]", s.unit)?;
            writeln!(out, "  (min, avg, max) = ({low:.3}, {mean:.3}, {high:.3}), stdev = {stdev:.3}")?;
            let lower = if mean - error < 0.0005 { "≈ 0".to_owned() } else { format!("{:.3}", mean - error) };
            writeln!(out, "  CI (99.9%): [{lower}, {:.3}] (assumes normal distribution)", mean + error)?;
        }
    }
    writeln!(out)
}

/// A row of the table: name, parameters, mode, count, score, error, unit.
fn row(name: &str, parameters: &[(&str, Option<&str>)], s: &Series) -> Vec<String> {
    let n = s.values.len();
    let mean = s.values.iter().sum::<f64>() / n as f64;
    let mut row = vec![if s.label.is_empty() { name.to_owned() } else { format!("{name}:{}", s.label) }];
    row.extend(parameters.iter().map(|(_, v)| v.unwrap_or("N/A").to_owned()));
    row.push("thrpt".to_owned());
    row.push(if n == 1 { String::new() } else { n.to_string() });
    row.push(format!("{mean:.3}"));
    // JMH never prints an error below the last place.
    row.push(error(&s.values).map_or(String::new(), |e| format!("{:.3}", e.max(0.001))));
    row.push(s.unit.to_owned());
    row
}

/// Parameters that are columns: those that names show, and the engine where there are several.
fn columns(outcome: &RunOutcome, groups: &[Group<'_>]) -> Vec<&'static str> {
    let varied = outcome.plan.varied();
    let mut columns: Vec<&'static str> = Vec::new();
    for b in &outcome.plan.benchmarks {
        for (key, _) in b.shown(&varied) {
            if key != "op" && !columns.contains(&key) {
                columns.push(key);
            }
        }
    }
    if varied.contains(&"threads") {
        columns.push("threads");
    }
    let mut engines: Vec<&str> = groups.iter().filter_map(|g| g.samples.first()).map(|s| s.engine.as_str()).collect();
    engines.sort_unstable();
    engines.dedup();
    if engines.len() > 1 || outcome.plan.engines.len() > 1 {
        columns.push("engine");
    }
    columns
}

fn value<'a>(group: &Group<'a>, column: &str) -> Option<&'a str> {
    match column {
        "engine" => group.samples.first().map(|s| s.engine.as_str()),
        other => group.param(other),
    }
}

/// JMH's layout: names to the left, all else to the right, two blanks apart.
fn table(out: &mut String, columns: &[&str], rows: &[Vec<String>]) -> std::fmt::Result {
    let mut header = vec!["Benchmark".to_owned()];
    header.extend(columns.iter().map(|c| format!("({})", parameter(c))));
    header.extend(["Mode", "Cnt", "Score", "Error", "Units"].map(str::to_owned));
    let width = |i: usize| {
        std::iter::once(&header).chain(rows).filter_map(|r| r.get(i)).map(|c| c.chars().count()).max().unwrap_or(0)
    };
    let error_at = header.len().saturating_sub(2);
    for row in std::iter::once(&header).chain(rows) {
        let mut line = String::new();
        for (i, cell) in row.iter().enumerate() {
            let width = width(i);
            if i == 0 {
                write!(line, "{cell:<width$}")?;
            } else {
                // Two blanks, of which the second is the sign of the error and one more.
                let gap = match (i == error_at, cell.is_empty() || row == &header) {
                    (true, false) => " ± ",
                    (true, true) => "   ",
                    _ => "  ",
                };
                write!(line, "{gap}{cell:>width$}")?;
            }
        }
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}
