//! Inputs to measure with: the same bytes on every run and every machine, as large as asked for.
//!
//! Go text is made by the formats of Go's testing package. Logs and tables of other producers are real ones of testdata, repeated.
//! Not here: inputs that abstat itself makes of these (benchstat's tables, tidy lines).

use std::io::{self, Write};

/// Pseudo-random numbers by SplitMix64 (Steele, Lea and Flood 2014).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// 0 to 1.
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Times of a benchmark whose undisturbed time is 1: close to it, and sometimes far above.
    pub fn time(&mut self) -> f64 {
        let noise = 0.03 * (self.unit() + self.unit() - 1.0);
        let disturbed = if self.next().is_multiple_of(50) { 0.3 * self.unit() } else { 0.0 };
        1.0 + noise + disturbed
    }
}

/// How lines of Go text are spread over benchmarks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// 20 benchmarks with very many samples each, one benchmark after another.
    Few,
    /// A tenth as many benchmarks as lines, 10 samples of each after another, as `-count 10` has them.
    Many,
    /// As `Many`, but ten runs of all benchmarks after another, as a loop around `go test` has them.
    Loop,
}

/// Before or after a change that makes every third benchmark a fifth faster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Old,
    New,
}

/// Widest name; Go pads names to the widest of the package.
const NAME: usize = 60;

fn name(i: usize) -> String {
    const OPS: [&str; 10] =
        ["Encode", "Decode", "Validate", "Compress", "Expand", "Hash", "Lookup", "Insert", "Merge", "Scan"];
    const FORMATS: [&str; 5] = ["json", "gob", "proto", "msgpack", "cbor"];
    let [op, rest] = [i % 10, i / 10];
    let [format, rest] = [rest % 5, rest / 5];
    let how = ["serial", "parallel"][rest % 2];
    format!("Benchmark{}/format={}/size={}/{how}-16", OPS[op], FORMATS[format], size(i))
}

/// Bytes that an iteration of benchmark `i` works on.
fn size(i: usize) -> usize {
    64 * (1 + i / 100)
}

/// Writes about `lines` result lines of `go test -bench . -benchmem`.
pub fn go(shape: Shape, lines: usize, side: Side, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "goos: linux\ngoarch: amd64\npkg: example.org/codec\ncpu: Example CPU @ 3.00GHz")?;
    let mut random = Random(if side == Side::Old { 1 } else { 2 });
    let (benchmarks, samples) = match shape {
        Shape::Few => (20, lines.div_ceil(20)),
        Shape::Many | Shape::Loop => (lines.div_ceil(10), 10),
    };
    match shape {
        Shape::Few | Shape::Many => {
            for i in 0..benchmarks {
                let name = name(i);
                for _ in 0..samples {
                    go_line(&name, i, side, &mut random, out)?;
                }
            }
        }
        Shape::Loop => {
            for _ in 0..samples {
                for i in 0..benchmarks {
                    go_line(&name(i), i, side, &mut random, out)?;
                }
            }
        }
    }
    writeln!(out, "PASS\nok  \texample.org/codec\t{}.000s", lines)
}

fn go_line(name: &str, i: usize, side: Side, random: &mut Random, out: &mut dyn Write) -> io::Result<()> {
    let bytes = size(i);
    let changed = if side == Side::New && i.is_multiple_of(3) { 0.8 } else { 1.0 };
    let ns = (20.0 + 7.0 * (i % 97) as f64 + 0.3 * bytes as f64) * changed * random.time();
    let iterations = (1e9 / ns) as u64;
    // As `testing.prettyPrint` chooses decimals.
    let shown = match ns {
        ns if ns >= 999.95 => format!("{ns:10.0}"),
        ns if ns >= 99.995 => format!("{ns:12.1}"),
        _ => format!("{ns:13.2}"),
    };
    let rate = bytes as f64 / ns * 1e3;
    let allocated = bytes + 16 * (i % 5) + usize::from(random.next().is_multiple_of(4));
    let allocations = i % 7;
    writeln!(
        out,
        "{name:NAME$}\t{iterations:8}\t{shown} ns/op\t{rate:7.2} MB/s\t{allocated:8} B/op\t{allocations:8} allocs/op"
    )
}

/// The same lines as events of `go test -json`: the name and its numbers in one event each.
pub fn go_json(text: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() * 3);
    let mut event = |i: usize, output: &str| {
        let (second, micro) = (i / 1_000_000 % 60, i % 1_000_000);
        let output = output.replace('\t', "\\t").replace('\n', "\\n");
        let head = format!("{{\"Time\":\"2026-11-30T19:35:{second:02}.{micro:06}364Z\",\"Action\":\"output\",");
        out.extend_from_slice(head.as_bytes());
        out.extend_from_slice(format!("\"Package\":\"example.org/codec\",\"Output\":\"{output}\"}}\n").as_bytes());
    };
    for (i, line) in text.split_inclusive('\n').enumerate() {
        match line.split_once('\t') {
            Some((name, numbers)) if name.starts_with("Benchmark") => {
                event(2 * i, &format!("{name}\t"));
                event(2 * i + 1, numbers);
            }
            _ => event(2 * i, line),
        }
    }
    out
}

/// Formats other than Go's, made of real files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeated {
    JmhLog,
    JmhJson,
    JmhTable,
    DbBench,
    ReportTsv,
}

macro_rules! testdata {
    ($($path:literal),+) => { &[$(include_str!(concat!("../../testdata/", $path))),+] };
}

impl Repeated {
    fn files(self) -> &'static [&'static str] {
        match self {
            Repeated::JmhLog => testdata!("jmh/real/40-pair-base.log", "jmh/real/42-pair-new.log"),
            Repeated::JmhJson => testdata!("jmh/real/40-pair-base.json", "jmh/real/42-pair-new.json"),
            Repeated::JmhTable => testdata!("jmh/real/40-pair-base.txt"),
            Repeated::DbBench => testdata!(
                "db_bench/real/03-read-core.log",
                "db_bench/real/14-multireadrandom.log",
                "db_bench/real/15-mergerandom.log",
                "db_bench/real/26-ab-base.log",
                "db_bench/real/27-ab-new.log"
            ),
            Repeated::ReportTsv => testdata!("db_bench/example/versions.tsv"),
        }
    }

    /// What stands once, before all files; the part of a file that is repeated; what stands between two; what ends it all.
    fn parts(self, file: &str) -> (&str, &str, &str, &str) {
        match self {
            Repeated::JmhLog | Repeated::DbBench => ("", file, "", ""),
            Repeated::JmhJson => {
                let objects = file.trim().trim_start_matches('[').trim_end_matches(']').trim_end();
                ("[", objects, ",", "\n]\n")
            }
            Repeated::JmhTable | Repeated::ReportTsv => {
                let (head, rows) = file.split_at(file.find('\n').map_or(0, |n| n + 1));
                (head, rows, "", "")
            }
        }
    }
}

/// About `bytes` bytes of a format: its real files, beginning with file `first`, again and again. Numbers stay as they are, because printed
/// means agree with printed runs; JMH's classes get another name each time.
pub fn repeated(format: Repeated, first: usize, bytes: usize) -> Vec<u8> {
    let mut files = format.files().iter().cycle().skip(first);
    let mut out = String::with_capacity(bytes + (1 << 16));
    let mut end = "";
    for copy in 0.. {
        let Some(file) = files.next().filter(|_| copy == 0 || out.len() < bytes) else { break };
        let (head, body, between, tail) = format.parts(file);
        out.push_str(if copy == 0 { head } else { between });
        out.push_str(&renamed(body, copy));
        end = tail;
    }
    out.push_str(end);
    out.into_bytes()
}

/// Gives JMH's classes a number of five digits, and the columns of their tables five more.
fn renamed(text: &str, number: usize) -> String {
    let text = text.replace("Bench.", &format!("Bench{number:05}."));
    text.replace("Benchmark  ", "Benchmark       ")
}

/// About `bytes` bytes of one db_bench log: its real head, then runs of five benchmarks, as many of one after another as fit.
pub fn db_bench_runs(bytes: usize) -> Vec<u8> {
    let real = include_str!("../../testdata/db_bench/real/26-ab-base.log");
    let head = real.find("fillseq").unwrap_or(0);
    let mut out = String::with_capacity(bytes + 500);
    out.push_str(&real[..head]);
    let names = ["readrandom", "readseq", "readmissing", "seekrandom", "overwrite"];
    let runs = bytes.div_ceil(names.len() * DB_BENCH_LINE);
    let mut random = Random(4);
    for name in names {
        out.push_str(&format!("Running benchmark for {runs} times\n"));
        for _ in 0..runs {
            let micros = 6.2 * random.time();
            let (rate, seconds) = (1e6 / micros, micros * 0.05);
            let mb = rate * 420.0 / 1e6;
            out.push_str(&format!("{name:<12} : {micros:11.3} micros/op {rate:.0} ops/sec {seconds:.3} seconds "));
            out.push_str(&format!("50000 operations; {mb:6.1} MB/s\n"));
        }
    }
    out.into_bytes()
}

/// Bytes of a result line of db_bench.
const DB_BENCH_LINE: usize = 96;
