//! Output of RocksDB's and LevelDB's db_bench, and of the many benchmarks that print like it.
//!
//! Source: `tools/db_bench_tool.cc` of RocksDB (2012 to 11.x) and `benchmarks/db_bench.cc` of LevelDB.
//! Supported: result lines of all three forms ([`mod@line`]), repeats `name[X5-W2]` with their AVG, MEDIAN and CI95 lines, histograms,
//! `--stats_interval` lines, the `--report_file` CSV, header settings ([`header`]); stdout alone or with stderr between (progress ended by
//! CR), CRLF, pastes with quote marks, emphasis, `&nbsp;` and joined lines.
//! Passed over: STATISTICS, compaction and level dumps, perf context, thread status, `time` output.
//!
//! One record per measured result line, named after the benchmark:
//!
//! | printed | unit |
//! |---|---|
//! | micros/op | `sec/op` |
//! | ops/sec, or N / SECS where below 1000 | `op/sec`; none for a run of one operation |
//! | MB/s (2^20) | `B/sec` |
//! | percentiles and maximum of a histogram | `p99-sec/op`, ..., `pmax-sec/op`; `read-p99-sec/op` where a result has several histograms |
//! | rate of an interval line, of one thread | `interval-op/sec`; one block per run |
//! | row of the report CSV over the time since the row before | `interval_qps-op/sec`, benchmark `interval_qps` |
//!
//! micros/op and ops/sec stay two metrics: with T threads one is T times the other's inverse in some versions and not in others.
//!
//! **Runs.** Lines announced by `Warming up ... W times` are left out; those announced by `Running benchmark for X times`, or averaged by
//! the `[AVG n runs]` line after them, are the samples of one entry. Any other result is an entry of its own; the second entry of a name
//! in an input is `name#2`. Summary lines without their runs are summaries; beside runs they are checked against them and kept as
//! what the input states.

mod header;
mod histogram;
pub mod line;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::HashMap;

use header::Header;
use histogram::{Histogram, Step};
use line::{Kind, Parsed, Stated, SummaryLine};

use super::scan::{integer, is_blank, shown, span_in, whole_decimal, word};
use super::{Claim, Line, RecordParser};
use crate::base::Diagnostic;
use crate::model::{Center, Reading, Record, Scheme, Settings, Sink, Spread, Summary};
use crate::units::{Unit, UnitId};

/// db_bench's MB.
pub const MIB: f64 = 1_048_576.0;
const MICRO: f64 = 1e-6;
/// Confidence of `±` and CI95.
const CONFIDENCE: f64 = 0.95;
/// Seconds below which a run is said to be short.
const SHORT: f64 = 0.1;
/// Results of one entry held back until it ends; more are passed on early and no longer checked against summaries.
const HELD: usize = 10_000;
/// Most units; histograms name a few.
const UNITS: usize = 200;
/// Interval lines held back until the result they belong to.
const INTERVALS: usize = 4_000_000;

/// The parser.
#[derive(Default)]
pub struct DbBench {
    settings: Settings,
    units: Vec<(Box<str>, UnitId)>,
    /// Entries so far of each name.
    entries: HashMap<Box<str>, u32>,
    entry: Option<Entry>,
    summary: Option<LoneSummary>,
    /// Warm-up results still to come.
    warming: u64,
    /// Results announced by `Running benchmark for X times`, until the first of them comes.
    announced: Option<u64>,
    histogram: histogram::Reader,
    /// The last result was measured, so what follows (histograms) belongs to it.
    attach: bool,
    /// Rates of interval lines since the last result.
    intervals: Vec<f64>,
    /// Interval lines beyond what is kept.
    dropped: u64,
    /// Blocks given so far to interval rates.
    blocks: u32,
    report: Option<ReportCsv>,
    in_header: bool,
    /// A line that only db_bench prints was seen.
    seen: bool,
    any_result: bool,
    /// `Keys:` lines seen, one a process.
    processes: u32,
    told_processes: bool,
    /// Benchmarks with a run too short to say much: how many, and the first of them with its seconds.
    short: (u64, Option<(u64, Box<str>, f64)>),
    /// Bytes of the line before the text being read: its blanks and quotation marks, or other results.
    indent: usize,
    /// The last line that says something, kept while there is no result.
    last: (u64, Vec<u8>),
    readings: Vec<(UnitId, Reading)>,
}

/// Results of one benchmark in a row.
struct Entry {
    name: Box<str>,
    runs: Vec<Run>,
    repeats: Repeats,
    /// Results of it that could not be used.
    lost: u64,
    /// Runs already passed on, because there are very many.
    passed: u64,
    /// Its `[AVG    n runs]` was printed: the next result is of another entry.
    complete: bool,
    /// The last average printed for it.
    stated: Option<(u64, Stated, Option<Stated>)>,
}

/// What is known of the results of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Repeats {
    /// Nothing: each is an entry of its own unless an average joins them.
    Unknown,
    /// So many were announced.
    Announced(u64),
    /// An average joined them.
    Averaged,
}

/// One measured result.
struct Run {
    line: u64,
    /// Seconds per operation.
    time: f64,
    /// Operations per second.
    rate: Option<f64>,
    /// ops/sec as printed, what averages are made of.
    printed: Option<f64>,
    /// MB/s as printed.
    mb: Option<f64>,
    /// Part of the reads that found their key.
    hits: Option<f64>,
    histograms: Vec<Histogram>,
    intervals: Vec<f64>,
}

/// Summary lines of a benchmark whose results are not in the input.
struct LoneSummary {
    line: u64,
    name: Box<str>,
    runs: u64,
    kind: Kind,
    ops: Stated,
    mb: Option<Stated>,
    complete: bool,
}

/// A `--report_file` CSV being read.
struct ReportCsv {
    block: u32,
    /// Seconds of the row before.
    at: f64,
}

impl RecordParser for DbBench {
    fn line(&mut self, line: Line<'_>, out: &mut dyn Sink) -> Claim {
        if memchr::memchr(b'\r', line.bytes).is_none() {
            return self.segment(line.number, line.bytes, out);
        }
        let mut claim = Claim::No;
        let mut start = 0;
        for end in memchr::memchr_iter(b'\r', line.bytes).chain([line.bytes.len()]) {
            let segment = line.bytes.get(start..end).unwrap_or_default();
            start = end + 1;
            match self.segment(line.number, segment, out) {
                Claim::Mine => claim = Claim::Mine,
                Claim::Maybe if claim == Claim::No => claim = Claim::Maybe,
                _ => {}
            }
        }
        claim
    }

    fn finish(&mut self, out: &mut dyn Sink) {
        self.close(out);
        if !self.intervals.is_empty() {
            let message = format!("{} interval lines without the result line they belong to", self.intervals.len());
            let hint = "the run was cut off before it printed its result";
            out.diagnose(Diagnostic::warning("run-cut", message).hint(hint));
        }
        if self.dropped > 0 {
            let message = format!("{} interval lines beyond {INTERVALS} of one run were left out", self.dropped);
            out.diagnose(Diagnostic::warning("too-many", message));
        }
        if let (count, Some((line, name, seconds))) = &self.short {
            let others = match count - 1 {
                0 => String::new(),
                n => format!(", and {n} more results for less than {SHORT} s"),
            };
            let message = format!("{} ran for {seconds} s only{others}", shown(name.as_bytes()));
            let hint = "rates of such short runs say little; a larger --num or --duration gives longer runs";
            out.diagnose(Diagnostic::warning("short-run", message).at_line(*line).hint(hint));
        }
        if self.seen && !self.any_result {
            let (number, text) = &self.last;
            let message = format!("db_bench output without a result line; it ends with {}", shown(text));
            out.diagnose(Diagnostic::warning("no-result", message).at(*number, text, 0..text.len()));
        }
    }
}

impl DbBench {
    /// A parser for one input.
    pub fn new() -> Self {
        DbBench::default()
    }

    /// One line between LFs and CRs.
    fn segment(&mut self, number: u64, bytes: &[u8], out: &mut dyn Sink) -> Claim {
        // By far the most frequent text: some hundred thousand times in one line.
        if bytes.starts_with(b"... finished ") {
            return Claim::Mine;
        }
        let decoded = without_nbsp(bytes);
        let text = undecorated(&decoded);
        self.indent = span_in(text, &decoded).start;
        match text.first() {
            None => return Claim::No,
            Some(b'[' | b'(') if self.histogram.bucket(text) => return Claim::Mine,
            Some(b'.') if text.starts_with(b"... finished ") => return Claim::Mine,
            Some(b'0'..=b'9') => {
                if let Some(rate) = interval(text) {
                    if self.intervals.len() < INTERVALS {
                        self.intervals.push(rate);
                    } else {
                        self.dropped += 1;
                    }
                    return Claim::Mine;
                }
                if self.report.is_some() {
                    return self.report_row(number, text, out);
                }
            }
            _ => {}
        }
        let claim = match self.results(number, text, out) {
            true => Claim::Mine,
            false => self.other(number, text, out),
        };
        if self.seen && !self.any_result {
            self.last.0 = number;
            self.last.1.clear();
            self.last.1.extend_from_slice(text.get(..200).unwrap_or(text));
        }
        claim
    }

    /// The results of a line; a paste may have joined several lines, then each reaches to the name of the next.
    fn results(&mut self, number: u64, text: &[u8], out: &mut dyn Sink) -> bool {
        let mut found = false;
        let mut ats = line::micros(text).filter_map(|at| Some((line::name_start(text, at)?, at))).peekable();
        while let Some((start, at)) = ats.next() {
            let end = ats.peek().map_or(text.len(), |&(next, _)| next);
            let Some(part) = text.get(start..end) else { break };
            if let Some(parsed) = line::result(part, at - start) {
                self.indent += start;
                self.result(number, part, parsed, out);
                self.indent -= start;
                found = true;
            }
        }
        found
    }

    fn result(&mut self, number: u64, text: &[u8], parsed: Parsed<'_>, out: &mut dyn Sink) {
        self.seen = true;
        self.in_header = false;
        self.attach = false;
        let mut intervals = std::mem::take(&mut self.intervals);
        let name = match &parsed {
            Parsed::Result(r) => r.name,
            Parsed::Bad { name, .. } => name,
        };
        let warm_up = self.warming > 0;
        if warm_up {
            self.warming -= 1;
            self.intervals = reuse(intervals);
            return;
        }
        let result = match parsed {
            Parsed::Result(r) if !r.is_failure() => r,
            Parsed::Result(r) => {
                let why = String::from_utf8_lossy(r.message).into_owned();
                let message = format!("benchmark {} failed: {why}", shown(name));
                let span = span_in(r.message, text);
                let failed = Diagnostic::warning("failed-benchmark", message).hint("result left out");
                out.diagnose(self.at(failed, number, text, span));
                self.entry_of(name, out).lost += 1;
                return;
            }
            Parsed::Bad { word, expected, .. } => {
                let message = format!("expected {expected}, found {}", shown(word));
                let span = span_in(word, text);
                let bad = Diagnostic::warning("bad-value", message).hint("result left out");
                out.diagnose(self.at(bad, number, text, span));
                self.entry_of(name, out).lost += 1;
                return;
            }
        };
        self.any_result = true;
        if result.ops.is_some() {
            self.is_rocksdb();
        }
        let hits = result.found().filter(|&(_, total)| total > 0).map(|(found, total)| found as f64 / total as f64);
        if hits == Some(0.0) && result.mb.is_some() {
            let message = format!("{} found none of its keys, so its MB/s counts nothing", shown(name));
            let empty = Diagnostic::warning("nothing-found", message);
            out.diagnose(self.at(empty, number, text, span_in(result.message, text)));
        }
        intervals.shrink_to_fit();
        let run = Run {
            line: number,
            time: result.micros * MICRO,
            rate: result.rate(),
            printed: result.ops,
            mb: result.mb,
            hits,
            histograms: Vec::new(),
            intervals,
        };
        if let Some(seconds) = result.seconds.filter(|&s| s < SHORT) {
            let first = || (number, String::from_utf8_lossy(name).into(), seconds);
            self.short.0 += 1;
            self.short.1.get_or_insert_with(first);
        }
        let entry = self.entry_of(name, out);
        entry.runs.push(run);
        self.attach = true;
        if self.entry.as_ref().is_some_and(|e| e.runs.len() >= HELD) {
            self.pass_on(out);
        }
    }

    /// The entry to which the next result of `name` belongs.
    fn entry_of(&mut self, name: &[u8], out: &mut dyn Sink) -> &mut Entry {
        let announced = self.announced.take();
        let goes_on = self.entry.as_ref().is_some_and(|e| {
            let same = e.name.as_bytes() == name && !e.complete && announced.is_none();
            same && match e.repeats {
                Repeats::Announced(x) => e.count() + e.lost < x,
                Repeats::Unknown | Repeats::Averaged => true,
            }
        });
        if !goes_on {
            self.close(out);
        }
        self.entry.get_or_insert_with(|| Entry {
            name: String::from_utf8_lossy(name).into(),
            runs: Vec::new(),
            repeats: announced.map_or(Repeats::Unknown, Repeats::Announced),
            lost: 0,
            passed: 0,
            complete: false,
            stated: None,
        })
    }

    /// A summary line: checked against its runs, or kept where there are none.
    fn summary(&mut self, number: u64, text: &[u8], s: &SummaryLine<'_>, out: &mut dyn Sink) {
        self.seen = true;
        if let Some(entry) = &mut self.entry
            && entry.name.as_bytes() == s.name
            && entry.count() > 0
        {
            if entry.repeats == Repeats::Unknown && s.kind != Kind::Median && entry.passed == 0 {
                self.join(s, out);
            }
            let Some(entry) = &mut self.entry else { return };
            let checked = entry.check(s);
            entry.complete |= s.last || (s.kind == Kind::Median && entry.stated.is_some());
            if s.kind != Kind::Median {
                entry.stated = Some((s.runs, s.ops, s.mb));
            }
            if let Err(why) = checked {
                let differs = Diagnostic::warning("summary-differs", format!("{} states {why}", shown(text)));
                out.diagnose(self.at(differs, number, text, 0..text.len()));
            }
            return;
        }
        self.any_result = true;
        let same_group = self.summary.as_ref().is_some_and(|l| {
            l.name.as_bytes() == s.name
                && match (l.kind, s.kind) {
                    (Kind::Median, _) => false,
                    (_, Kind::Median) => s.runs == l.runs,
                    // A running summary is followed by one of more runs, or by the last one of as many.
                    _ => !l.complete && (s.runs > l.runs || (s.runs == l.runs && (s.last || s.kind != l.kind))),
                }
        });
        match &mut self.summary {
            Some(lone) if same_group => {
                if s.kind == Kind::Median {
                    lone.complete = true;
                } else {
                    (lone.line, lone.runs, lone.kind, lone.ops, lone.mb) = (number, s.runs, s.kind, s.ops, s.mb);
                    lone.complete = s.last;
                }
            }
            _ => {
                self.close(out);
                self.summary = Some(LoneSummary {
                    line: number,
                    name: String::from_utf8_lossy(s.name).into(),
                    runs: s.runs,
                    kind: s.kind,
                    ops: s.ops,
                    mb: s.mb,
                    complete: s.last,
                });
            }
        }
    }

    /// An average over the last `n` of some results that nothing announced: they were repetitions of one entry. What stands before
    /// them was not.
    fn join(&mut self, s: &SummaryLine<'_>, out: &mut dyn Sink) {
        let Some(entry) = &mut self.entry else { return };
        let Some(first) = usize::try_from(s.runs).ok().and_then(|n| entry.runs.len().checked_sub(n)) else { return };
        let repeated = entry.runs.split_off(first);
        let joined = Entry {
            name: entry.name.clone(),
            runs: repeated,
            repeats: Repeats::Averaged,
            lost: 0,
            passed: 0,
            complete: false,
            stated: None,
        };
        if joined.check(s).is_ok() {
            self.close(out);
            self.entry = Some(joined);
        } else {
            entry.runs.extend(joined.runs);
        }
    }

    /// A line that is no result.
    fn other(&mut self, number: u64, text: &[u8], out: &mut dyn Sink) -> Claim {
        self.report = None;
        if let Some(summary) = line::summary(text) {
            self.summary(number, text, &summary, out);
            return Claim::Mine;
        }
        match self.histogram.line(text) {
            Step::No => {}
            Step::Part => return Claim::Mine,
            Step::Done(h) => {
                if let (true, Some(run)) = (self.attach, self.entry.as_mut().and_then(|e| e.runs.last_mut())) {
                    run.histograms.push(h);
                }
                return Claim::Mine;
            }
        }
        match text.first() {
            Some(b'W') => {
                if let Some(times) = times(text, b"Warming up benchmark by running ") {
                    self.close(out);
                    (self.warming, self.announced, self.seen) = (times, None, true);
                    return Claim::Mine;
                }
            }
            Some(b'R') => {
                if let Some(times) = times(text, b"Running benchmark for ") {
                    self.close(out);
                    (self.warming, self.announced, self.seen) = (0, Some(times), true);
                    return Claim::Mine;
                }
            }
            Some(b'D') if text.starts_with(b"DB path: [") => {
                self.close(out);
                (self.warming, self.announced, self.seen) = (0, None, true);
                self.is_rocksdb();
                return Claim::Mine;
            }
            Some(b's') if text == b"secs_elapsed,interval_qps" => {
                self.close(out);
                self.blocks += 1;
                self.report = Some(ReportCsv { block: self.blocks, at: 0.0 });
                return Claim::Mine;
            }
            _ => {}
        }
        if let Some((header, changes)) = header::read(text, self.in_header) {
            // Settings hold for what follows: what was read before must be passed on first. A warning on stderr may come between
            // the repetitions of an entry.
            let is_warning = changes.iter().all(|(key, _)| key == "warning");
            if !changes.is_empty() && (!is_warning || self.in_header) {
                self.close(out);
            }
            header::apply(changes, &mut self.settings);
            return self.header(header);
        }
        if let Some((name, reason)) = line::skipped(text) {
            self.seen = true;
            let message = format!("db_bench skipped benchmark {}: {}", shown(name), String::from_utf8_lossy(reason));
            let skipped = Diagnostic::warning("skipped-benchmark", message);
            out.diagnose(self.at(skipped, number, text, span_in(name, text)));
            return Claim::Mine;
        }
        if self.any_result && is_error(text) {
            let hint = "the run ended here; benchmarks after this line are missing";
            let ended = Diagnostic::warning("run-ended", format!("db_bench stopped: {}", shown(text))).hint(hint);
            out.diagnose(self.at(ended, number, text, 0..text.len()));
            return Claim::Mine;
        }
        Claim::No
    }

    /// The diagnostic about bytes `span` of `text`, which is a part of line `number`.
    fn at(&self, diagnostic: Diagnostic, number: u64, text: &[u8], span: std::ops::Range<usize>) -> Diagnostic {
        let mut diagnostic = diagnostic.at(number, text, span);
        if let Some(pos) = &mut diagnostic.pos {
            pos.column = pos.column.saturating_add(u32::try_from(self.indent).unwrap_or(u32::MAX));
        }
        diagnostic
    }

    fn header(&mut self, header: Header) -> Claim {
        match header {
            Header::Keys => {
                self.processes += 1;
                (self.in_header, self.seen) = (true, true);
                Claim::Mine
            }
            Header::Version => {
                self.seen = true;
                Claim::Mine
            }
            Header::Known => Claim::Mine,
            Header::Shared => Claim::Maybe,
            Header::Rule => {
                self.in_header = false;
                Claim::Mine
            }
        }
    }

    /// What stands here only RocksDB prints, whatever its version line calls it.
    fn is_rocksdb(&mut self) {
        if self.settings.get("tool") == Some("leveldb") {
            self.settings.set("tool", "rocksdb");
        }
    }

    /// `seconds,operations` of a report CSV: operations since the row before.
    fn report_row(&mut self, number: u64, text: &[u8], out: &mut dyn Sink) -> Claim {
        let Some(report) = &mut self.report else { return Claim::No };
        let pair = memchr::memchr(b',', text).and_then(|i| Some((text.get(..i)?, text.get(i + 1..)?)));
        let Some((Some(seconds), Some(operations))) = pair.map(|(s, n)| (whole_decimal(s), whole_decimal(n))) else {
            self.report = None;
            return Claim::No;
        };
        let elapsed = seconds.value - report.at;
        if elapsed <= 0.0 {
            let message = format!("expected seconds above {}, found {}", report.at, seconds.value);
            let bad = Diagnostic::warning("bad-value", message).hint("row left out");
            out.diagnose(self.at(bad, number, text, 0..1));
            return Claim::Mine;
        }
        report.at = seconds.value;
        let block = report.block;
        self.any_result = true;
        let unit = self.unit("interval_qps-op/sec", "interval_qps", out);
        out.record(&Record {
            line: number,
            name: "interval_qps",
            scheme: Scheme::Plain,
            keys: &[],
            settings: &self.settings,
            block: Some(block),
            readings: &[(unit, Reading::One { value: operations.value / elapsed, weight: 1 })],
            column: None,
        });
        Claim::Mine
    }

    /// The entry or summary in hand is over: passes it on.
    fn close(&mut self, out: &mut dyn Sink) {
        self.report = None;
        self.attach = false;
        if let Some(entry) = self.entry.take() {
            if let Repeats::Announced(x) = entry.repeats
                && entry.count() + entry.lost < x
            {
                let message =
                    format!("{} results of {} where {x} were announced", entry.count(), shown(entry.name.as_bytes()));
                let line = entry.runs.last().map_or(0, |r| r.line);
                out.diagnose(Diagnostic::warning("run-cut", message).at_line(line));
            }
            self.pass(entry, out);
        }
        if let Some(lone) = self.summary.take() {
            let ops = summary_of(lone.kind, lone.runs, lone.ops, 1.0);
            let rate = self.unit("op/sec", "ops/sec", out);
            let mut readings = vec![(rate, Reading::Summary(ops))];
            if let Some(mb) = lone.mb {
                let bytes = self.unit("B/sec", "MB/s", out);
                readings.push((bytes, Reading::Summary(summary_of(lone.kind, lone.runs, mb, MIB))));
            }
            let name = self.name(&lone.name, out);
            self.record(lone.line, &name, None, &readings, out);
        }
    }

    /// Passes the runs of a very long entry on before it ends.
    fn pass_on(&mut self, out: &mut dyn Sink) {
        let Some(mut entry) = self.entry.take() else { return };
        let rest = Entry {
            name: entry.name.clone(),
            runs: Vec::new(),
            repeats: entry.repeats,
            lost: entry.lost,
            passed: entry.count(),
            complete: false,
            stated: None,
        };
        entry.stated = None;
        self.pass(entry, out);
        self.entry = Some(rest);
    }

    fn pass(&mut self, mut entry: Entry, out: &mut dyn Sink) {
        let mut name = match (entry.passed, entry.repeats) {
            (0, _) | (_, Repeats::Unknown) => None,
            _ => Some(self.last_name(&entry.name)),
        };
        let hits = entry.runs.iter().filter(|r| r.mb.is_some()).filter_map(|r| r.hits);
        let (low, high) = hits.fold((1.0, 0.0), |(l, h), x| (f64::min(l, x), f64::max(h, x)));
        if high - low > 0.01 && entry.repeats != Repeats::Unknown {
            let message = format!(
                "runs of {} found {:.0} % to {:.0} % of their keys; MB/s counts found ones only",
                shown(entry.name.as_bytes()),
                low * 100.0,
                high * 100.0
            );
            out.diagnose(
                Diagnostic::note("hit-rate-differs", message).at_line(entry.runs.first().map_or(0, |r| r.line)),
            );
        }
        let stated = entry.stated.take();
        let mut runs = std::mem::take(&mut entry.runs).into_iter().peekable();
        while let Some(run) = runs.next() {
            let stated = stated.as_ref().filter(|_| runs.peek().is_none());
            if entry.repeats == Repeats::Unknown {
                name = None;
            }
            let name = name.get_or_insert_with(|| self.name(&entry.name, out));
            self.pass_run(&run, name, stated, out);
        }
    }

    fn pass_run(&mut self, run: &Run, name: &str, stated: Option<&(u64, Stated, Option<Stated>)>, out: &mut dyn Sink) {
        let mut readings = std::mem::take(&mut self.readings);
        readings.clear();
        let one = |value| Reading::One { value, weight: 1 };
        readings.push((self.unit("sec/op", "micros/op", out), one(run.time)));
        if let Some(rate) = run.rate {
            readings.push((self.unit("op/sec", "ops/sec", out), one(rate)));
        }
        if let Some(mb) = run.mb {
            readings.push((self.unit("B/sec", "MB/s", out), one(mb * MIB)));
        }
        for h in &run.histograms {
            if self.units.len() >= UNITS {
                break;
            }
            let op = if run.histograms.len() > 1 { format!("{}-", h.op) } else { String::new() };
            for (p, value) in &h.percentiles {
                let printed = format!("{op}P{p}");
                readings.push((self.unit(&format!("{op}p{p}-sec/op"), &printed, out), one(value * MICRO)));
            }
            if let Some(max) = h.max {
                let printed = format!("{op}Max");
                readings.push((self.unit(&format!("{op}pmax-sec/op"), &printed, out), one(max * MICRO)));
            }
        }
        if let Some(&(n, ops, mb)) = stated {
            if run.rate.is_some() {
                readings.push((
                    self.unit("op/sec", "ops/sec", out),
                    Reading::Reported(summary_of(Kind::Average, n, ops, 1.0)),
                ));
            }
            if let Some(mb) = mb.filter(|_| run.mb.is_some()) {
                readings
                    .push((self.unit("B/sec", "MB/s", out), Reading::Reported(summary_of(Kind::Average, n, mb, MIB))));
            }
        }
        self.record(run.line, name, None, &readings, out);
        self.readings = readings;
        if !run.intervals.is_empty() {
            self.blocks += 1;
            let unit = self.unit("interval-op/sec", "ops/second", out);
            let rates: Vec<_> = run.intervals.iter().map(|&rate| (unit, one(rate))).collect();
            self.record(run.line, name, Some(self.blocks), &rates, out);
        }
    }

    fn record(&self, line: u64, name: &str, block: Option<u32>, readings: &[(UnitId, Reading)], out: &mut dyn Sink) {
        let settings = &self.settings;
        out.record(&Record { line, name, scheme: Scheme::Plain, keys: &[], settings, block, readings, column: None });
    }

    /// `name`, `name#2`, ... for the next entry of a benchmark.
    fn name(&mut self, name: &str, out: &mut dyn Sink) -> String {
        let count = match self.entries.get_mut(name) {
            Some(count) => {
                *count += 1;
                *count
            }
            None => {
                self.entries.insert(name.into(), 1);
                1
            }
        };
        if count > 1 && self.processes > 1 && !self.told_processes {
            self.told_processes = true;
            let message = format!(
                "several db_bench runs in one input: {} of a later one is kept apart as {name}#{count}",
                shown(name.as_bytes())
            );
            let hint =
                "give each run as an input of its own; inputs of one label are pooled: old=run1.log old=run2.log";
            out.diagnose(Diagnostic::note("several-runs", message).hint(hint));
        }
        self.last_name(name)
    }

    /// The name of the last entry of a benchmark.
    fn last_name(&self, name: &str) -> String {
        match self.entries.get(name) {
            Some(&count) if count > 1 => format!("{name}#{count}"),
            _ => name.to_owned(),
        }
    }

    fn unit(&mut self, name: &str, printed: &str, out: &mut dyn Sink) -> UnitId {
        if let Some((_, id)) = self.units.iter().find(|(n, _)| &**n == name) {
            return *id;
        }
        let id = out.unit(&Unit::new(name, printed));
        self.units.push((name.into(), id));
        id
    }
}

impl Entry {
    /// Usable results.
    fn count(&self) -> u64 {
        self.passed + self.runs.len() as u64
    }

    /// Whether a summary agrees with the runs; if not, what it says and what they give.
    fn check(&self, s: &SummaryLine<'_>) -> Result<(), String> {
        if self.passed > 0 || self.lost > 0 {
            return Ok(());
        }
        if s.runs != self.count() {
            return Err(format!("{} runs, but {} result lines were read", s.runs, self.count()));
        }
        let center = |values: Vec<f64>| if s.kind == Kind::Median { median(values) } else { mean(&values) };
        // db_bench cuts what it prints, the runs as well as the summary.
        let near = |stated: f64, seen: f64, step: f64| (stated - seen).abs() <= step * 1.01 + seen.abs() * 1e-9;
        let ops: Option<Vec<f64>> = self.runs.iter().map(|r| r.printed).collect();
        if let Some(seen) = ops.and_then(center)
            && !near(s.ops.value.value, seen, 1.0)
        {
            return Err(format!("{} ops/sec, but the runs give {seen:.1}", s.ops.value.value));
        }
        let mb: Option<Vec<f64>> = self.runs.iter().map(|r| r.mb).collect();
        if let (Some(stated), Some(seen)) = (s.mb, mb.and_then(center))
            && !near(stated.value.value, seen, 0.15)
        {
            return Err(format!("{} MB/sec, but the runs give {seen:.2}", stated.value.value));
        }
        Ok(())
    }
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_unstable_by(f64::total_cmp);
    let upper = *values.get(values.len() / 2)?;
    let lower = *values.get(values.len().checked_sub(1)? / 2)?;
    Some(f64::midpoint(lower, upper))
}

fn summary_of(kind: Kind, runs: u64, stated: Stated, factor: f64) -> Summary {
    let value = stated.value.scaled(factor);
    Summary {
        center: if kind == Kind::Median { Center::Median } else { Center::Mean },
        value: value.value,
        spread: match stated.half.map(|h| h.scaled(factor)) {
            Some(h) if h.value >= 0.0 => {
                Spread::NormalError { half_width: h.value, confidence: CONFIDENCE, resolution: h.resolution }
            }
            _ => Spread::None,
        },
        n: Some(runs),
        forks: None,
        resolution: value.resolution,
        approximate: false,
    }
}

/// N of `<before>N times`.
fn times(text: &[u8], before: &[u8]) -> Option<u64> {
    let (n, rest) = word(text.strip_prefix(before)?);
    integer(n).filter(|_| word(rest).0.starts_with(b"times"))
}

/// The rate of `2026/11/30-19:32:11  ... thread 0: (N,N) ops and (RATE,RATE) ops/second in (S,S) seconds`, of this interval.
fn interval(text: &[u8]) -> Option<f64> {
    if text.get(4) != Some(&b'/') || text.get(7) != Some(&b'/') || text.get(10) != Some(&b'-') {
        return None;
    }
    let at = memchr::memmem::find(text, b") ops and (")?;
    memchr::memmem::find(text.get(..at)?, b"... thread ")?;
    let rest = text.get(at + b") ops and (".len()..)?;
    let comma = memchr::memchr(b',', rest)?;
    memchr::memmem::find(rest, b") ops/second in (")?;
    whole_decimal(rest.get(..comma)?).map(|d| d.value).filter(|v| *v >= 0.0)
}

/// What db_bench and the system print when a run ends early.
fn is_error(text: &[u8]) -> bool {
    const STARTS: [&[u8]; 12] = [
        b"unknown benchmark",
        b"open error:",
        b"put error:",
        b"del error:",
        b"get error:",
        b"write error:",
        b"Get returned an error:",
        b"MultiGet returned an error:",
        b"Fatal error during",
        b"terminate called",
        b"Segmentation fault",
        b"Received signal",
    ];
    match text.first() {
        Some(b'u' | b'o' | b'p' | b'd' | b'g' | b'w' | b'G' | b'M' | b'F' | b't' | b'S' | b'R') => {
            STARTS.iter().any(|s| text.starts_with(s)) || memchr::memmem::find(text, b"Assertion `").is_some()
        }
        _ => false,
    }
}

/// An emptied vector.
fn reuse(mut v: Vec<f64>) -> Vec<f64> {
    v.clear();
    v
}

/// Without the marks of a quotation and without blanks at both ends.
fn undecorated(mut text: &[u8]) -> &[u8] {
    loop {
        text = text.trim_ascii();
        match text.strip_prefix(b">") {
            Some(rest) if rest.first().is_none_or(|&b| is_blank(b) || b == b'>') => text = rest,
            _ => return text,
        }
    }
}

/// Blanks for `&nbsp;` and U+00A0, which web pages put for runs of blanks.
fn without_nbsp(bytes: &[u8]) -> Cow<'_, [u8]> {
    let len_at = |at: usize| match bytes.get(at..) {
        Some(tail) if tail.starts_with(b"&nbsp;") => b"&nbsp;".len(),
        Some(tail) if tail.starts_with(b"\xc2\xa0") => 2,
        _ => 0,
    };
    let mut hits = memchr::memchr2_iter(b'&', 0xc2, bytes).filter(|&at| len_at(at) > 0).peekable();
    if hits.peek().is_none() {
        return Cow::Borrowed(bytes);
    }
    let mut out = Vec::with_capacity(bytes.len());
    let mut copied = 0;
    for at in hits {
        out.extend_from_slice(bytes.get(copied..at).unwrap_or_default());
        out.push(b' ');
        copied = at + len_at(at);
    }
    out.extend_from_slice(bytes.get(copied..).unwrap_or_default());
    Cow::Owned(out)
}
