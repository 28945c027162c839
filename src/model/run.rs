//! Lines that `abstat run` records: what `--record` appends, `-f jsonl` prints and format `abstat` reads.
//!
//! One JSON object a line; the field `abstat` says what it is:
//!
//! | `abstat` | when | holds |
//! |---|---|---|
//! | `run` | first | schema, tool, host, engines, seed, the whole plan |
//! | `fork` | a process starts | benchmark, fork, attempt |
//! | `sample` | after each iteration, once per role | a [`RunSample`]; complete in itself |
//! | `end` | the process ended | `ok`, or why it failed |
//! | `warning` | any time | something about the machine or the samples |
//!
//! A fork whose `end` says that it failed has no samples, whatever stands before; one without `end` (the run was cut off there) has those
//! that stand there, unless a later attempt of the same fork follows.

use serde::{Deserialize, Serialize};

use super::tidy::Pairs;

/// Number that changes when a reader of the lines would have to.
pub const SCHEMA: u32 = 1;

/// One line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "abstat", rename_all = "kebab-case")]
pub enum RunLine {
    /// The head.
    Run(Box<RunHeader>),
    /// A process starts.
    Fork(ForkStart),
    /// An iteration was measured.
    Sample(Box<RunSample>),
    /// A process ended.
    End(ForkEnd),
    /// Something to know about the numbers.
    Warning(RunWarning),
}

impl RunLine {
    /// The line as text with its line end.
    ///
    /// # Errors
    /// None that the types here can cause; serde's type.
    pub fn to_text(&self) -> serde_json::Result<String> {
        serde_json::to_string(self).map(|mut text| {
            text.push('\n');
            text
        })
    }
}

/// What holds for all samples of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunHeader {
    /// [`SCHEMA`].
    pub schema: u32,
    /// `abstat 0.1.0`.
    pub tool: String,
    /// Seconds since 1970.
    pub started: u64,
    /// Where it ran.
    pub host: Host,
    /// What was measured, in column order.
    pub engines: Vec<EngineFacts>,
    /// Base of all random numbers.
    pub seed: u64,
    /// Everything that was asked for; enough to go on with the run.
    pub plan: serde_json::Value,
}

impl RunHeader {
    /// Settings of the run that are keys of every sample, but for the engine's release: the configuration lines of the Go text.
    pub fn settings(&self) -> Vec<(&'static str, String)> {
        let mut out = vec![("goos", self.host.os.clone()), ("goarch", self.host.arch.clone())];
        if !self.host.cpu.is_empty() {
            out.push(("cpu", self.host.cpu.clone()));
        }
        out.push(("seed", self.seed.to_string()));
        out
    }
}

/// A machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Host {
    /// Go's word: `linux`, `darwin`.
    pub os: String,
    /// Go's word: `amd64`, `arm64`.
    pub arch: String,
    /// Model name of the CPU; empty where unknown.
    pub cpu: String,
    /// Cores this process may use.
    pub cores: usize,
    /// Release of the kernel; empty where unknown.
    pub kernel: String,
    /// Type of the file system that holds the databases; empty where unknown.
    pub filesystem: String,
}

/// An engine that was measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EngineFacts {
    /// As typed or made up.
    pub label: String,
    /// The library or jar; `memory`.
    pub source: String,
    /// Release, `7.8.3`; `memory` for the map in memory.
    pub version: String,
    /// Compression in force where none was chosen, as the library spells it; empty where unknown.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub compression: String,
}

/// The start of a process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ForkStart {
    /// Name as in the samples, without a role.
    pub benchmark: String,
    /// From 1.
    pub fork: u32,
    /// From 1; above 1 when an earlier attempt was cut off.
    pub attempt: u32,
}

/// The end of a process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ForkEnd {
    /// Name as in the samples, without a role.
    pub benchmark: String,
    /// From 1.
    pub fork: u32,
    /// From 1.
    pub attempt: u32,
    /// All iterations were measured and their work was checked.
    pub ok: bool,
    /// Why not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// Something to know about the numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunWarning {
    /// Stable kebab-case word.
    pub code: String,
    /// Lower case, no full stop.
    pub message: String,
}

/// Warm-up or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// Not a sample.
    Warmup,
    /// A sample.
    Measured,
}

/// One iteration of one role.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunSample {
    /// Name in Go's style with all its parts: `RocksDB/op=get/cf=20/.../role=get-8`.
    pub benchmark: String,
    /// Every parameter, whether it is in the name or not.
    pub params: Pairs,
    /// Label of the engine.
    pub engine: String,
    /// Release of the engine.
    pub rocksdb: String,
    /// `get` or `put` of a mixed workload; absent for the whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// Process, from 1.
    pub fork: u32,
    /// From 1; above 1 when an earlier attempt of the fork was cut off.
    pub attempt: u32,
    /// From 1 in each phase.
    pub iteration: u32,
    /// Warm-up or not.
    pub phase: Phase,
    /// Operations of all threads.
    pub ops: u64,
    /// Calls, where one call does several operations (multi-get).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<u64>,
    /// From the start of the first thread to the end of the last.
    pub seconds: f64,
    /// Sum of the times of the threads.
    pub thread_seconds: f64,
    /// Sum over the threads of operations by time.
    pub ops_s: f64,
    /// Key and value bytes read or written.
    pub bytes: u64,
    /// Operations that found what they looked for; equal to `ops` for writes.
    pub found: u64,
    /// Threads of the role.
    pub threads: u32,
    /// Percentiles of single operations, with `--latency`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency: Option<Latency>,
}

/// Times of single operations (of calls, where a call does several), in seconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "percentiles by name")]
pub struct Latency {
    pub count: u64,
    pub mean: f64,
    pub stddev: f64,
    pub min: f64,
    pub p50: f64,
    pub p75: f64,
    pub p99: f64,
    #[serde(rename = "p99.9")]
    pub p99_9: f64,
    #[serde(rename = "p99.99")]
    pub p99_99: f64,
    pub max: f64,
}

impl Latency {
    /// Percentiles as db_bench names them.
    pub fn percentiles(&self) -> [(&'static str, f64); 5] {
        [("p50", self.p50), ("p75", self.p75), ("p99", self.p99), ("p99.9", self.p99_9), ("p99.99", self.p99_99)]
    }
}

/// One metric of a sample, as Go text prints it.
#[derive(Clone, Debug, PartialEq)]
pub struct Metric {
    /// Base unit: `sec/op`.
    pub unit: String,
    /// As printed: `ns/op`.
    pub printed: String,
    /// In the printed unit, rounded to nine significant digits.
    pub value: f64,
    /// Printed to base.
    pub factor: f64,
}

impl Metric {
    fn new(unit: &str, printed: &str, value: f64, factor: f64) -> Self {
        Metric { unit: unit.to_owned(), printed: printed.to_owned(), value: round(value), factor }
    }

    /// In the base unit, by the same multiplication that a reader of the Go text does.
    pub fn base(&self) -> f64 {
        self.value * self.factor
    }
}

/// Nine significant digits: more than any clock here has, and short to print.
fn round(value: f64) -> f64 {
    format!("{value:.8e}").parse().unwrap_or(value)
}

impl RunSample {
    /// What is compared, in the order in which it is printed. Shared by the Go text and by the reader of these lines, so that both give
    /// equal samples.
    pub fn metrics(&self) -> Vec<Metric> {
        let mut out = Vec::with_capacity(3);
        if !(self.ops_s > 0.0 && self.ops_s.is_finite()) {
            return out;
        }
        out.push(Metric::new("sec/op", "ns/op", 1e9 / self.ops_s, 1e-9));
        out.push(Metric::new("op/sec", "op/sec", self.ops_s, 1.0));
        if self.ops > 0 {
            let per_op = |total: u64| total as f64 / self.ops as f64;
            if self.bytes > 0 {
                out.push(Metric::new("B/sec", "MB/s", per_op(self.bytes) * self.ops_s * 1e-6, 1e6));
            }
            if let Some(calls) = self.calls {
                out.push(Metric::new("call/sec", "call/sec", per_op(calls) * self.ops_s, 1.0));
            }
        }
        if let Some(latency) = &self.latency {
            // A batch is timed as a whole.
            let per = if self.calls.is_some() { "call" } else { "op" };
            for (name, seconds) in latency.percentiles() {
                let (unit, printed) = (format!("{name}-sec/{per}"), format!("{name}-ns/{per}"));
                out.push(Metric::new(&unit, &printed, seconds * 1e9, 1e-9));
            }
        }
        out
    }

    /// A sample of the benchmark, not a warm-up.
    pub fn is_measured(&self) -> bool {
        self.phase == Phase::Measured
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A sample with round numbers: 1000 operations by two threads in half a second.
    pub(crate) fn sample() -> RunSample {
        RunSample {
            benchmark: "RocksDB/op=get/cf=none/keys=1000/ksize=16/vsize=100/cache=lru/io=buffered-2".to_owned(),
            params: [("op", "get"), ("cf", "none"), ("keys", "1000"), ("ksize", "16"), ("vsize", "100")]
                .into_iter()
                .collect(),
            engine: "v7".to_owned(),
            rocksdb: "7.8.3".to_owned(),
            role: None,
            fork: 1,
            attempt: 1,
            iteration: 1,
            phase: Phase::Measured,
            ops: 1000,
            calls: None,
            seconds: 0.5,
            thread_seconds: 1.0,
            ops_s: 2000.0,
            bytes: 116_000,
            found: 1000,
            threads: 2,
            latency: None,
        }
    }

    #[test]
    fn metrics_are_wall_time_rate_and_bytes() {
        let metrics: Vec<(String, f64)> = sample().metrics().iter().map(|m| (m.unit.clone(), m.base())).collect();
        // 500 us of wall time for each operation, though each thread needs 1 ms.
        assert_eq!(metrics[0], ("sec/op".to_owned(), 500_000.0 * 1e-9));
        assert_eq!(metrics[1], ("op/sec".to_owned(), 2000.0));
        assert_eq!(metrics[2], ("B/sec".to_owned(), 0.232 * 1e6));
        assert_eq!(metrics.len(), 3);
        let multi = RunSample { calls: Some(100), ..sample() };
        assert_eq!(multi.metrics()[3], Metric::new("call/sec", "call/sec", 200.0, 1.0));
        assert!(RunSample { ops_s: 0.0, ..sample() }.metrics().is_empty());
    }

    #[test]
    fn lines_survive_writing_and_reading() {
        let latency = Latency {
            count: 10,
            mean: 1.5e-6,
            stddev: 1e-7,
            min: 1e-6,
            p50: 1.25e-6,
            p75: 1.5e-6,
            p99: 2e-6,
            p99_9: 3e-6,
            p99_99: 3e-6,
            max: 3e-6,
        };
        let end = ForkEnd { benchmark: "b".into(), fork: 1, attempt: 2, ok: false, message: Some("disk full".into()) };
        for line in [
            RunLine::Run(Box::new(RunHeader {
                schema: SCHEMA,
                seed: 42,
                plan: serde_json::json!({"forks": 3}),
                ..RunHeader::default()
            })),
            RunLine::Fork(ForkStart { benchmark: "b".into(), fork: 1, attempt: 2 }),
            RunLine::Sample(Box::new(RunSample { latency: Some(latency), role: Some("put".into()), ..sample() })),
            RunLine::End(end),
            RunLine::Warning(RunWarning { code: "load".into(), message: "m".into() }),
        ] {
            let text = line.to_text().unwrap();
            assert!(text.starts_with("{\"abstat\":\"") && text.ends_with("}\n"), "{text}");
            assert_eq!(serde_json::from_str::<RunLine>(&text).unwrap(), line);
        }
    }
}
