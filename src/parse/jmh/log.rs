//! The console log: measured iterations of every fork, with what JMH and the benchmark print around them.
//!
//! ```text
//! # JMH version: 1.38           settings of a benchmark, in an order that differs by version
//! # Benchmark: org.example.MapBench.get
//! # Parameters: (keyCount = 100, kind = hash)
//! # Fork: 1 of 2
//! # Warmup Iteration   1: 942379.335 ops/ms          not a sample; nor is anything under `# Warmup Fork`
//! Iteration   1: 109456.646 ops/ms                   a sample
//!                  hits:    82092.480 ops/ms          samples of secondary metrics, to a blank line
//! Result "org.example.MapBench.get":                  used only where no table follows
//! ```
//! A benchmark's samples are held until it ends and pushed as one record per fork and metric. A **run** is what one final table describes;
//! it has that table's number, and the table's rows are held against it ([`Log::find`]).
//! Not samples: iterations of mode `sample` (means of calls that are not printed), metrics that JMH adds up, and all iterations of a
//! series of which some are printed by their order of magnitude only; of these the table's row is the result.

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::label;
use super::number::{self, Approx, Printed};
use super::table::{Token, tokens};
use super::unit::{self, Mode};
use super::{Identity, Output, Place};
use crate::base::Diagnostic;
use crate::model::jmh_names;
use crate::model::{Center, Reading, Settings, Spread, Summary};
use crate::parse::Line;
use crate::parse::lex::{plain_decimal, trim};

/// Level of the errors that JMH prints.
pub const CONFIDENCE: f64 = 0.999;

/// State of reading a log.
#[derive(Debug, Default)]
pub struct Log {
    head: Head,
    /// Lines of `head` are coming; anything else ends it.
    in_head: bool,
    /// `head` names a benchmark of which no iteration was seen.
    fresh: bool,
    fork: Fork,
    block: Option<Block>,
    run: Option<Run>,
    state: State,
    /// Tables and runs begun so far in the input.
    tables: u32,
}

/// Settings printed before a benchmark.
#[derive(Debug, Default)]
struct Head {
    line: u64,
    settings: Vec<(&'static str, String)>,
    iterations: Option<u64>,
    mode: Option<Mode>,
    benchmark: Option<String>,
    params: Vec<(String, String)>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Fork {
    number: u32,
    of: Option<u32>,
    warmup: bool,
}

#[derive(Debug, Default)]
enum State {
    #[default]
    Idle,
    /// Below an iteration: lines of secondary metrics.
    Secondary { measured: bool, at: usize },
    /// An iteration whose value has not come yet.
    Pending(Pending),
    /// In a `Result` block.
    Result(ResultBlock),
    /// What a forked VM that died had printed last.
    Dump,
}

#[derive(Debug)]
struct Pending {
    line: u64,
    number: u64,
    measured: bool,
    /// The last value that could be it.
    value: Option<(Value, String)>,
    blanks: u32,
}

/// The number of an iteration line.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Value {
    Exact(Printed),
    Approx(Approx),
}

/// What a `Result` block states.
#[derive(Clone, Debug, Default)]
struct ResultBlock {
    line: u64,
    name: Option<String>,
    label: String,
    value: Option<Value>,
    error: Option<Printed>,
    unit: String,
    stdev: Option<Printed>,
    n: Option<u64>,
    /// `[Sum]`, `[Maximum]`: not a mean; its error means nothing.
    added_up: bool,
}

/// The benchmark being measured.
#[derive(Debug)]
struct Block {
    line: u64,
    name: Option<String>,
    mode: Option<Mode>,
    params: Vec<(String, String)>,
    settings: Vec<(&'static str, String)>,
    planned_iterations: Option<u64>,
    planned_forks: Option<u32>,
    last_fork: u32,
    last_iteration: u64,
    measured: u64,
    failures: u64,
    series: Vec<Samples>,
    results: Vec<ResultBlock>,
}

/// Iterations of one metric.
#[derive(Debug)]
struct Samples {
    label: String,
    unit: String,
    forks: Vec<ForkSamples>,
    count: u64,
    approx: u64,
    decimals: i32,
}

#[derive(Debug)]
struct ForkSamples {
    fork: u32,
    line: u64,
    /// As printed.
    values: Vec<f64>,
}

/// All benchmarks of one final table.
#[derive(Debug)]
struct Run {
    number: u32,
    done: Vec<Done>,
    measured: bool,
    complete: bool,
}

/// A benchmark that was measured, as the final table is held against it.
#[derive(Debug)]
struct Done {
    line: u64,
    name: String,
    mode: Option<Mode>,
    params: Vec<(String, String)>,
    settings: Settings,
    series: Vec<DoneSeries>,
    results: Vec<ResultBlock>,
    /// Only a `Result` block was seen.
    standalone: bool,
}

#[derive(Debug)]
struct DoneSeries {
    label: String,
    n: u64,
    mean: f64,
    decimals: i32,
    /// Its samples were pushed.
    raw: bool,
    covered: bool,
}

/// Where a table row belongs in its run.
pub struct Found<'a> {
    pub name: &'a str,
    pub params: &'a [(String, String)],
    pub settings: &'a Settings,
    /// Samples were pushed: how many, their mean in the printed unit, half a unit of their last place.
    pub raw: Option<(u64, f64, f64)>,
}

impl Log {
    /// Number of the next table.
    pub fn next_table(&mut self) -> u32 {
        self.tables += 1;
        self.tables
    }

    /// Whether a run is open, and its number.
    pub fn run_number(&self) -> Option<u32> {
        self.run.as_ref().map(|r| r.number)
    }

    /// Whether lines that mean nothing by themselves may belong to a log.
    pub fn expects(&self) -> bool {
        !matches!(self.state, State::Idle)
    }

    /// Settings printed last, for a table without a run.
    pub fn settings(&self) -> Settings {
        let mut settings = Settings::default();
        for (key, value) in &self.head.settings {
            settings.set(key, value);
        }
        settings
    }

    /// Looks at a line. `bytes` is its text behind `[info]` and the like, the first blank of which may matter. Returns whether it is a
    /// log's.
    pub fn line(&mut self, line: Line<'_>, bytes: &[u8], out: &mut Output<'_>) -> bool {
        let Some(first) = bytes.iter().position(|b| !matches!(b, b' ' | b'\t')) else {
            self.blank(out);
            return false;
        };
        let body = &bytes[first..];
        if matches!(self.state, State::Dump) {
            return self.dump_line(body);
        }
        match body[0] {
            b'I' => {
                if let Some((number, rest)) = iteration(body) {
                    return self.iteration(line, number, rest, true, out);
                }
            }
            b'#' => {
                if let Some(rest) = body.strip_prefix(b"# ") {
                    if let Some((number, rest)) = rest.strip_prefix(b"Warmup ").and_then(iteration) {
                        return self.iteration(line, number, rest, false, out);
                    }
                    if self.comment(line.number, rest, out) {
                        return true;
                    }
                }
            }
            b'R' | b'S' if first == 0 && self.result_head(line.number, body, out) => return true,
            b'<' if self.failure_line(line.number, body, out) => return true,
            _ => {}
        }
        match &mut self.state {
            State::Idle | State::Dump => false,
            State::Secondary { measured, at } => {
                let (measured, at) = (*measured, *at);
                first > 0 && self.secondary(line, body, measured, at)
            }
            State::Pending(_) => self.pending_line(body),
            State::Result(result) => {
                let mine = result.line(body);
                if !mine {
                    self.end_result(out);
                }
                mine
            }
        }
    }

    fn blank(&mut self, out: &mut Output<'_>) {
        match &mut self.state {
            State::Secondary { .. } => self.state = State::Idle,
            State::Pending(p) => {
                p.blanks += 1;
                // A stack trace, or the end of what the program printed.
                if p.blanks >= 2 {
                    self.settle_pending(out);
                }
            }
            _ => {}
        }
    }

    /// Ends what a line of another kind ends.
    fn settle(&mut self, out: &mut Output<'_>) {
        match self.state {
            State::Pending(_) => self.settle_pending(out),
            State::Result(_) => self.end_result(out),
            _ => self.state = State::Idle,
        }
    }

    // ---- headers ----------------------------------------------------------------------------------

    /// A `# ` line; `rest` stands behind it. Returns whether JMH prints such a line.
    fn comment(&mut self, number: u64, rest: &[u8], out: &mut Output<'_>) -> bool {
        // Key up to the colon; program output may look like anything else.
        let Some(colon) = memchr::memchr(b':', &rest[..rest.len().min(24)]) else {
            if rest.starts_with(b"JMH ") && rest.get(4).is_some_and(u8::is_ascii_digit) {
                self.settle(out);
                let text = String::from_utf8_lossy(&rest[4..]);
                let version = text.split(' ').next().unwrap_or_default().to_owned();
                self.head_field(number, "jmhVersion", version);
                return true;
            }
            if rest.starts_with(b"Run complete. ") {
                self.settle(out);
                self.close_block(out);
                if let Some(run) = &mut self.run {
                    run.complete = true;
                }
                return true;
            }
            return false;
        };
        let value = || String::from_utf8_lossy(trim(&rest[colon + 1..])).into_owned();
        match &rest[..colon] {
            b"Run progress" => {
                self.settle(out);
                self.in_head = false;
            }
            b"Fork" | b"Warmup Fork" => {
                self.settle(out);
                let text = value();
                let mut words = text.split(' ');
                let n = words.next().and_then(|w| w.parse().ok());
                let of = words.nth(1).and_then(|w| w.parse().ok());
                let warmup = rest.starts_with(b"Warmup");
                match (n, of) {
                    (Some(number), of) => {
                        self.fork = Fork { number, of: if warmup { self.fork.of } else { of }, warmup }
                    }
                    _ if text.starts_with("N/A") => self.fork = Fork { number: 1, of: Some(0), warmup },
                    _ => return false,
                }
                if let Some(block) = &mut self.block
                    && !self.fresh
                {
                    block.last_iteration = 0;
                }
            }
            b"Run complete. Total time" => {
                self.settle(out);
                self.close_block(out);
                if let Some(run) = &mut self.run {
                    run.complete = true;
                }
            }
            b"JMH version" => {
                self.settle(out);
                self.head_field(number, "jmhVersion", value());
            }
            b"VM version" => {
                self.settle(out);
                // `JDK 17.0.15, OpenJDK 64-Bit Server VM, 17.0.15+6`
                let text = value();
                let mut parts = text.splitn(3, ", ");
                let jdk = parts.next().unwrap_or_default();
                self.head_field(number, "jdkVersion", jdk.strip_prefix("JDK ").unwrap_or(jdk).to_owned());
                if let Some(name) = parts.next() {
                    self.head_field(number, "vmName", name.to_owned());
                }
                if let Some(version) = parts.next() {
                    self.head_field(number, "vmVersion", version.to_owned());
                }
            }
            b"VM options" => {
                self.settle(out);
                let options = value();
                self.head_field(number, "jvmArgs", if options == "<none>" { String::new() } else { options });
            }
            b"VM invoker" | b"Blackhole mode" | b"Timeout" | b"Preset JVM options" => {
                self.settle(out);
                self.begin_head(number);
            }
            key @ (b"Warmup" | b"Measurement") => {
                self.settle(out);
                let names = match key {
                    b"Warmup" => ["warmupIterations", "warmupTime", "warmupBatchSize"],
                    _ => ["measurementIterations", "measurementTime", "measurementBatchSize"],
                };
                let text = value();
                // `5 iterations, 50 ms each, 10 calls per op`
                let count =
                    text.strip_suffix(" iterations").or_else(|| text.split_once(" iterations,").map(|(n, _)| n));
                let count = if text == "<none>" { Some("0") } else { count };
                let Some(count) = count.filter(|c| c.parse::<u64>().is_ok()) else { return false };
                self.head_field(number, names[0], count.to_owned());
                if key == b"Measurement" {
                    self.head.iterations = count.parse().ok();
                }
                for part in text.split(", ").skip(1) {
                    if let Some(time) = part.strip_suffix(" each") {
                        self.head_field(number, names[1], time.to_owned());
                    } else if let Some(calls) = part.strip_suffix(" calls per op") {
                        self.head_field(number, names[2], calls.to_owned());
                    }
                }
            }
            b"Threads" => {
                self.settle(out);
                let text = value();
                let count = text.split(' ').next().unwrap_or_default();
                if count.parse::<u64>().is_err() {
                    return false;
                }
                self.head_field(number, "threads", count.to_owned());
            }
            b"Benchmark mode" => {
                self.settle(out);
                self.begin_head(number);
                self.head.mode = Mode::from_log(&value());
            }
            b"Benchmark" => {
                let name = value();
                if name.is_empty() || name.contains(char::is_whitespace) {
                    return false;
                }
                self.settle(out);
                self.begin_head(number);
                self.head.line = number;
                self.head.benchmark = Some(name);
                self.fresh = true;
            }
            b"Parameters" => {
                self.settle(out);
                self.begin_head(number);
                self.head.params = parameters(&value());
            }
            _ => return rest.starts_with(b"*** WARNING: ") || rest.starts_with(b"WARNING: JMH"),
        }
        true
    }

    fn begin_head(&mut self, line: u64) {
        if !self.in_head {
            self.head = Head { line, ..Head::default() };
            self.fork = Fork::default();
            self.in_head = true;
            self.fresh = false;
        }
    }

    fn head_field(&mut self, line: u64, key: &'static str, value: String) {
        self.begin_head(line);
        self.head.settings.push((key, value));
    }

    /// Makes the benchmark of the last header the current one when its first iteration comes.
    fn ensure_block(&mut self, line: u64, out: &mut Output<'_>) {
        self.in_head = false;
        if !self.fresh && self.block.is_some() {
            return;
        }
        let head = &mut self.head;
        if let Some(block) = &self.block {
            // JMH 0.x repeats the header for each fork.
            let same = block.name == head.benchmark && block.mode == head.mode && block.params == head.params;
            if same && self.fork.number > block.last_fork && !self.fork.warmup {
                self.fresh = false;
                return;
            }
        }
        self.close_block(out);
        let head = &mut self.head;
        let again = self.run.as_ref().is_some_and(|run| {
            (run.done.iter()).any(|d| {
                !d.standalone
                    && Some(&d.name) == head.benchmark.as_ref()
                    && d.mode == head.mode
                    && d.params == head.params
            })
        });
        if again {
            // The same benchmark once more: another run, without a table between.
            self.close_run(false, out);
        }
        let head = &mut self.head;
        let fresh = std::mem::take(&mut self.fresh);
        self.block = Some(Block {
            line: if fresh { head.line } else { line },
            name: if fresh { head.benchmark.take() } else { None },
            mode: head.mode,
            params: if fresh { std::mem::take(&mut head.params) } else { Vec::new() },
            settings: head.settings.clone(),
            planned_iterations: head.iterations,
            planned_forks: self.fork.of,
            last_fork: 0,
            last_iteration: 0,
            measured: 0,
            failures: 0,
            series: Vec::new(),
            results: Vec::new(),
        });
        let run = self.run.get_or_insert_with(|| Run::open(&mut self.tables));
        run.measured = true;
    }

    // ---- iterations -------------------------------------------------------------------------------
    fn iteration(&mut self, line: Line<'_>, number: u64, rest: &[u8], measured: bool, out: &mut Output<'_>) -> bool {
        let rest = trim(rest);
        let current = self.block.as_ref().filter(|_| !self.fresh);
        let mode = current.map_or(self.head.mode, |b| b.mode);
        let timed_out =
            rest.strip_prefix(b"(benchmark timed out").and_then(|r| Some(&r[memchr::memchr(b')', r)? + 1..]));
        let value = iteration_value(timed_out.unwrap_or(rest), mode);
        if current.is_none() && !self.fresh && value.is_none() && mode.is_none() {
            return false; // some program's own iterations
        }
        self.settle(out);
        self.ensure_block(line.number, out);
        let Some(block) = &mut self.block else { return false };
        let measured = measured && !self.fork.warmup;
        if measured {
            let mut fork = self.fork.number.max(1);
            if fork <= block.last_fork && number == 1 && block.last_iteration >= 1 {
                fork = block.last_fork + 1; // the line `# Fork:` was cut out
                self.fork.number = fork;
            }
            block.last_fork = fork;
            block.last_iteration = number;
            block.planned_forks = block.planned_forks.or(self.fork.of);
            block.measured += 1;
            if timed_out.is_some() {
                out.diagnose(
                    Diagnostic::warning("timed-out", format!("iteration {number} was interrupted after its timeout"))
                        .at_line(line.number),
                );
            }
        }
        self.state = match value {
            Some((Parsed::Sampled, _)) => State::Secondary { measured: false, at: 0 },
            Some((Parsed::Value(value), unit)) => {
                if measured {
                    block.add("", unit, value, line.number);
                }
                State::Secondary { measured, at: 0 }
            }
            None if rest.starts_with(b"<failure") => {
                block.fail(measured);
                State::Idle
            }
            None => {
                let value = glued_value(rest, block.mode);
                State::Pending(Pending { line: line.number, number, measured, value, blanks: 0 })
            }
        };
        true
    }

    /// A line while an iteration's value is looked for: that value, a failure, or what the program printed.
    fn pending_line(&mut self, body: &[u8]) -> bool {
        let State::Pending(pending) = &mut self.state else { return false };
        let Some(block) = &mut self.block else { return false };
        match iteration_value(body, block.mode) {
            Some((Parsed::Value(value), unit)) => {
                let known = block.series.first().map(|s| s.unit.as_str());
                let better =
                    pending.value.as_ref().is_none_or(|(_, u)| known != Some(u.as_str()) || known == Some(unit));
                if better {
                    pending.value = Some((value, unit.to_owned()));
                }
                true
            }
            _ => false,
        }
    }

    fn settle_pending(&mut self, out: &mut Output<'_>) {
        let State::Pending(pending) = std::mem::take(&mut self.state) else { return };
        let Some(block) = &mut self.block else { return };
        if !pending.measured {
            return;
        }
        let what = || format!("iteration {} of {}", pending.number, block.name.as_deref().unwrap_or("a benchmark"));
        let diagnostic = match &pending.value {
            Some((_, unit)) => Diagnostic::note(
                "interleaved-output",
                format!("value of {} stands behind the program's own output, in {unit}", what()),
            ),
            None => Diagnostic::warning("lost-iteration", format!("no value found for {}", what())),
        };
        out.diagnose(diagnostic.at_line(pending.line));
        if let Some((value, unit)) = pending.value {
            block.add("", &unit, value, pending.line);
        } else if block.mode == Some(Mode::Sample) {
            block.measured = block.measured.saturating_sub(1);
        }
    }

    /// `<failure>`, `<forked VM failed with exit code 7>`, `<stdout last='20 lines'>`.
    fn failure_line(&mut self, number: u64, body: &[u8], out: &mut Output<'_>) -> bool {
        if body.starts_with(b"<failure") {
            let measured = match std::mem::take(&mut self.state) {
                State::Pending(p) => p.measured,
                _ => return false,
            };
            if let Some(block) = &mut self.block {
                block.fail(measured);
            }
            return true;
        }
        if self.block.is_none() && !self.fresh {
            return false;
        }
        if body.starts_with(b"<forked VM failed with exit code ") {
            self.settle(out);
            self.ensure_block(number, out);
            if let Some(block) = &mut self.block {
                block.failures += 1;
            }
            let text = String::from_utf8_lossy(body);
            let text = text.trim_end().trim_matches(['<', '>']);
            out.diagnose(
                Diagnostic::warning("forked-vm-failed", format!("{text}: what it printed last is not read as results"))
                    .at_line(number),
            );
            return true;
        }
        if body.starts_with(b"<stdout last=") || body.starts_with(b"<stderr last=") {
            self.state = State::Dump;
            return true;
        }
        false
    }

    fn dump_line(&mut self, body: &[u8]) -> bool {
        if body.starts_with(b"</stdout>") || body.starts_with(b"</stderr>") {
            self.state = State::Idle;
            return true;
        }
        if body.starts_with(b"# Run ") || body.starts_with(b"# Fork: ") || body.starts_with(b"# JMH ") {
            // Its end is missing.
            self.state = State::Idle;
            return false;
        }
        true
    }

    /// `                 gc.alloc.rate.norm: 32.009 B/op`
    fn secondary(&mut self, line: Line<'_>, body: &[u8], measured: bool, at: usize) -> bool {
        // The label may hold colons and blanks; the value cannot.
        let Some(colon) = memchr::memrchr(b':', body) else { return false };
        let label_bytes = trim(&body[..colon]);
        let text = trim(&body[colon + 1..]);
        let Some((parsed, unit)) = iteration_value(text, None) else {
            return text.starts_with(b"<") || text.starts_with("±".as_bytes());
        };
        let (Parsed::Value(value), true) = (parsed, measured) else { return true };
        let Some(block) = &mut self.block else { return true };
        if block.mode == Some(Mode::Sample) {
            return true;
        }
        // Metrics come in the same order in each iteration.
        let next = block.series.get(at + 1).is_some_and(|s| s.label.as_bytes() == label_bytes && s.unit == unit);
        if next {
            block.add_at(at + 1, value, line.number);
        } else {
            let label = String::from_utf8_lossy(label_bytes);
            let method = block.name.as_deref().map_or("", label::method);
            let label = label::normal(&label, method).into_owned();
            block.add(&label, unit, value, line.number);
        }
        self.state = State::Secondary { measured, at: at + 1 };
        true
    }

    // ---- results ----------------------------------------------------------------------------------

    fn result_head(&mut self, number: u64, body: &[u8], out: &mut Output<'_>) -> bool {
        let rest = [&b"Result"[..], b"Secondary result", b"Run result"].into_iter().find_map(|p| body.strip_prefix(p));
        let Some(rest) = rest else { return false };
        let text = String::from_utf8_lossy(rest);
        let text = text.trim();
        let open = self.block.is_some() || self.fresh;
        let mut result = ResultBlock { line: number, ..ResultBlock::default() };
        let value = if let Some(quoted) = text.strip_prefix('"') {
            let Some((name, value)) = quoted.split_once('"') else { return false };
            let Some(value) = value.strip_prefix(':') else { return false };
            if name.contains(char::is_whitespace) && !name.contains('{') {
                return false;
            }
            if name.starts_with(['@', '·']) {
                result.label = label::normal(name, "").into_owned(); // JMH 1.0
            } else {
                let (name, label) = label::split(name);
                (result.name, result.label) = (Some(name.to_owned()), label.into_owned());
            }
            value
        } else {
            let Some(value) = text.strip_prefix(':') else { return false };
            value
        };
        let value = value.trim();
        if value.is_empty() {
            if result.name.is_none() && !open {
                return false;
            }
        } else if !(result.value_line(value) || open && body.starts_with(b"Run")) {
            return false;
        }
        self.settle(out);
        self.in_head = false;
        self.state = State::Result(result);
        true
    }

    fn end_result(&mut self, out: &mut Output<'_>) {
        let State::Result(mut result) = std::mem::take(&mut self.state) else { return };
        if result.value.is_none() {
            return;
        }
        if let Some(block) = &mut self.block
            && !self.fresh
        {
            let fits = match (&block.name, &result.name) {
                (Some(a), Some(b)) => jmh_names::same(a, b),
                (None, Some(b)) => {
                    block.name = Some(b.clone());
                    true
                }
                _ => true,
            };
            if fits {
                block.results.push(result);
                return;
            }
        }
        // A block by itself: its iterations were not printed or not pasted.
        let name = result.name.take().or_else(|| self.head.benchmark.clone());
        let Some(name) = name else { return };
        self.close_block(out);
        let run = self.run.get_or_insert_with(|| Run::open(&mut self.tables));
        let (mode, params) = match &self.head.benchmark {
            Some(b) if jmh_names::same(b, &name) => (self.head.mode, self.head.params.clone()),
            _ => (None, Vec::new()),
        };
        if !result.label.is_empty()
            && let Some(last) = run.done.last_mut()
            && last.standalone
            && last.name == name
        {
            last.results.push(result);
            return;
        }
        let mode = mode
            .or_else(|| if result.n.is_some() && result.stdev.is_none() { None } else { Mode::of_unit(&result.unit) });
        let mut settings = Settings::default();
        for (key, value) in &self.head.settings {
            settings.set(key, value);
        }
        run.done.push(Done {
            line: result.line,
            name,
            mode,
            params,
            settings,
            series: Vec::new(),
            results: vec![result],
            standalone: true,
        });
    }

    // ---- ends -------------------------------------------------------------------------------------

    /// The current benchmark ended: pushes its samples.
    fn close_block(&mut self, out: &mut Output<'_>) {
        let Some(block) = self.block.take() else { return };
        let Some(run) = &mut self.run else { return };
        let done = block.close(run.number, out);
        if let Some(done) = done {
            run.done.push(done);
        }
    }

    /// The run ended, with its table or without: pushes what `Result` blocks state of series no row spoke of.
    pub fn close_run(&mut self, table: bool, out: &mut Output<'_>) {
        self.close_block(out);
        let Some(run) = self.run.take() else { return };
        let number = run.number.to_string();
        for done in &run.done {
            if done.standalone && table {
                continue; // the table has it
            }
            for result in &done.results {
                let series = done.series.iter().find(|s| s.label == result.label);
                if series.is_some_and(|s| s.covered) {
                    continue;
                }
                done.push_result(result, series, &number, out);
            }
        }
        if run.measured && !table && !run.complete {
            let line = run.done.first().map_or(0, |d| d.line);
            let diagnostic = Diagnostic::warning(
                "incomplete-run",
                "log of an incomplete run: it ends before JMH's result table; what was measured is kept",
            );
            out.diagnose(if line > 0 { diagnostic.at_line(line) } else { diagnostic });
        }
    }

    /// The input ended.
    pub fn finish(&mut self, out: &mut Output<'_>) {
        self.settle(out);
        self.close_run(false, out);
    }

    /// A table begins: the current benchmark is over. Returns the run's number if the table is that of a run.
    pub fn before_table(&mut self, out: &mut Output<'_>) -> Option<u32> {
        self.settle(out);
        self.in_head = false;
        self.close_block(out);
        if std::mem::take(&mut self.fresh) && self.run.is_none() {
            self.run = Some(Run::open(&mut self.tables));
        }
        self.run_number()
    }

    /// Finds the benchmark of the run that a table row is of; its series is then spoken for.
    pub fn find(
        &mut self,
        name: &str,
        label: &str,
        mode: Mode,
        params: &[(&str, &str)],
        score: Option<Printed>,
    ) -> Option<Found<'_>> {
        let run = self.run.as_mut()?;
        let fits = |d: &Done| {
            !d.standalone
                && d.mode.is_none_or(|m| m == mode)
                && d.params.iter().filter(|(_, v)| v != "N/A").count() == params.len()
                && params.iter().all(|(k, v)| d.params.iter().any(|(dk, dv)| dk == k && dv == v))
                && jmh_names::same(&d.name, name)
        };
        let near = |d: &Done| match (d.series.iter().find(|s| s.label == label), score) {
            (Some(s), Some(score)) => !s.covered && (s.mean - score.value).abs() <= 2.0 * score.resolution(),
            _ => true,
        };
        let at = (run.done.iter().position(|d| fits(d) && near(d))).or_else(|| run.done.iter().position(fits))?;
        let done = &mut run.done[at];
        let mut raw = None;
        if let Some(series) = done.series.iter_mut().find(|s| s.label == label) {
            series.covered = true;
            if series.raw {
                let resolution = 0.5 * 10f64.powi(-series.decimals);
                raw = Some((series.n, series.mean, resolution));
            }
        } else {
            // Mode `sample`, percentiles: remember that the table has it.
            done.series.push(DoneSeries {
                label: label.to_owned(),
                n: 0,
                mean: 0.0,
                decimals: 0,
                raw: false,
                covered: true,
            });
        }
        let done = &run.done[at];
        Some(Found { name: &done.name, params: &done.params, settings: &done.settings, raw })
    }
}

impl Run {
    fn open(tables: &mut u32) -> Self {
        *tables += 1;
        Run { number: *tables, done: Vec::new(), measured: false, complete: false }
    }
}

impl Block {
    fn add(&mut self, label: &str, unit: &str, value: Value, line: u64) {
        if self.mode == Some(Mode::Sample) {
            return;
        }
        let at = self.series.iter().position(|s| s.label == label && s.unit == unit).unwrap_or_else(|| {
            self.series.push(Samples {
                label: label.to_owned(),
                unit: unit.to_owned(),
                forks: Vec::new(),
                count: 0,
                approx: 0,
                decimals: 0,
            });
            self.series.len() - 1
        });
        self.add_at(at, value, line);
    }

    fn add_at(&mut self, at: usize, value: Value, line: u64) {
        let fork = self.last_fork;
        let Some(series) = self.series.get_mut(at) else { return };
        series.count += 1;
        let number = match value {
            Value::Exact(p) => {
                series.decimals = p.decimals;
                p.value
            }
            Value::Approx(a) => {
                // Zero is a number; an order of magnitude is not.
                series.approx += u64::from(a != Approx::Zero || !unit::is_sum(&series.unit, &series.label));
                a.value()
            }
        };
        match series.forks.last_mut() {
            Some(f) if f.fork == fork => f.values.push(number),
            _ => series.forks.push(ForkSamples { fork, line, values: vec![number] }),
        }
    }

    fn fail(&mut self, measured: bool) {
        self.failures += 1;
        if measured {
            self.measured = self.measured.saturating_sub(1);
        }
    }

    /// Iterations that lack a secondary metric (no collection, no churn) count as zero in JMH's own mean. Where that mean says so, the zeros
    /// are samples too.
    fn pad_with_zeros(&mut self) {
        let Some(primary) = self.series.iter().position(|s| s.label.is_empty()) else { return };
        let lengths: Vec<(u32, usize, u64)> =
            self.series[primary].forks.iter().map(|f| (f.fork, f.values.len(), f.line)).collect();
        let all = self.series[primary].count;
        for series in self.series.iter_mut().filter(|s| s.count < all && !s.label.is_empty()) {
            let stated = self.results.iter().find(|r| r.label == series.label).and_then(|r| r.value);
            let Some(Value::Exact(stated)) = stated else { continue };
            let sum: f64 = series.forks.iter().flat_map(|f| &f.values).sum();
            #[expect(clippy::cast_precision_loss, reason = "counts of iterations")]
            let mean = sum / all as f64;
            if (mean - stated.value).abs() > 2.0 * stated.resolution() {
                continue;
            }
            for &(fork, length, line) in &lengths {
                match series.forks.iter_mut().find(|f| f.fork == fork) {
                    Some(f) => f.values.resize(length.max(f.values.len()), 0.0),
                    None => series.forks.push(ForkSamples { fork, line, values: vec![0.0; length] }),
                }
            }
            series.forks.sort_by_key(|f| f.fork);
            series.count = all;
        }
    }

    fn close(mut self, run: u32, out: &mut Output<'_>) -> Option<Done> {
        let found = match self.mode {
            Some(Mode::Sample) => self.measured,
            _ => self.series.iter().filter(|s| s.label.is_empty()).map(|s| s.count).sum(),
        };
        let Some(name) = self.name.take() else {
            if found > 0 {
                out.diagnose(
                    Diagnostic::warning(
                        "nameless-iterations",
                        format!("{found} iterations of a benchmark that is not named, left out"),
                    )
                    .at_line(self.line)
                    .hint("keep the `# Benchmark:` line or the `Result` block when pasting"),
                );
            }
            return None;
        };
        let mode = self.mode.or_else(|| self.series.first().and_then(|s| Mode::of_unit(&s.unit)));
        let shown = Shown { name: &name, params: &self.params };
        let planned = self.planned_iterations.map(|i| i * u64::from(self.planned_forks.unwrap_or(1).max(1)));
        if found == 0 {
            out.diagnose(
                Diagnostic::warning("failed-benchmark", format!("{shown}: no result (failed)")).at_line(self.line),
            );
        } else if let Some(planned) = planned
            && found < planned
        {
            out.diagnose(
                Diagnostic::warning("short-run", format!("{shown}: {found} of {planned} iterations"))
                    .at_line(self.line),
            );
        } else if self.failures > 0 {
            out.diagnose(
                Diagnostic::warning("short-run", format!("{shown}: {} failures", self.failures)).at_line(self.line),
            );
        }
        let mut settings = Settings::default();
        if let Some(forks) = self.planned_forks {
            settings.set("forks", &forks.to_string());
        }
        for (key, value) in &self.settings {
            settings.set(key, value);
        }
        let number = run.to_string();
        let mut series = Vec::new();
        self.pad_with_zeros();
        for s in &self.series {
            // JMH 0.9 averaged what later versions add up.
            let averaged = self.results.iter().any(|r| r.label == s.label && r.error.is_some() && !r.added_up);
            let raw = s.approx == 0 && (averaged || !unit::is_sum(&s.unit, &s.label));
            if raw {
                s.push(&name, mode, &self.params, &number, &settings, out);
            }
            let sum: f64 = s.forks.iter().flat_map(|f| &f.values).sum();
            #[expect(clippy::cast_precision_loss, reason = "counts of iterations")]
            let mean = sum / s.count as f64;
            series.push(DoneSeries {
                label: s.label.clone(),
                n: s.count,
                mean,
                decimals: s.decimals,
                raw,
                covered: false,
            });
        }
        Some(Done {
            line: self.line,
            name,
            mode,
            params: self.params,
            settings,
            series,
            results: self.results,
            standalone: false,
        })
    }
}

/// A benchmark in a message.
struct Shown<'a> {
    name: &'a str,
    params: &'a [(String, String)],
}

impl std::fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)?;
        for (i, (k, v)) in self.params.iter().enumerate() {
            write!(f, "{}{k}={v}", if i == 0 { " (" } else { ", " })?;
        }
        if self.params.is_empty() { Ok(()) } else { f.write_str(")") }
    }
}

impl Samples {
    fn push(
        &self,
        name: &str,
        mode: Option<Mode>,
        params: &[(String, String)],
        table: &str,
        settings: &Settings,
        out: &mut Output<'_>,
    ) {
        let (unit, factor) = out.unit(&self.unit, mode, &self.label);
        let mode = mode.map_or("", Mode::name);
        let id = Identity { name, label: &self.label, mode, params: &pairs(params) };
        let mut readings = Vec::new();
        for fork in &self.forks {
            readings.clear();
            readings.extend(fork.values.iter().map(|&v| (unit, Reading::One { value: factor.apply(v), weight: 1 })));
            out.push(&id, Place { table, ..Place::default() }, settings, fork.line, Some(fork.fork), &readings);
        }
    }
}

/// Borrowed parameters.
pub fn pairs(params: &[(String, String)]) -> Vec<(&str, &str)> {
    params.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect()
}

impl Done {
    /// Pushes what a `Result` block states, as evidence or beside samples.
    fn push_result(&self, result: &ResultBlock, series: Option<&DoneSeries>, table: &str, out: &mut Output<'_>) {
        let Some(value) = result.value else { return };
        let (unit, factor) = out.unit(&result.unit, self.mode, &result.label);
        let raw = series.is_some_and(|s| s.raw);
        let mut n = result.n.or(series.filter(|s| s.n > 0).map(|s| s.n));
        if n.is_none()
            && let (Some(error), Some(stdev)) = (result.error, result.stdev)
        {
            n = infer_n(error, stdev);
            let message = match n {
                Some(n) => format!("{}: n = {n} inferred from error and stdev", self.name),
                None => format!("{}: n is not printed and does not follow from error and stdev", self.name),
            };
            out.diagnose(Diagnostic::note("inferred-n", message).at_line(result.line));
        }
        let sum = result.added_up || (unit::is_sum(&result.unit, &result.label) && result.error.is_none());
        let spread = match result.error {
            Some(e) if !sum => Spread::StudentError {
                half_width: factor.apply(e.value),
                confidence: CONFIDENCE,
                resolution: factor.apply(e.resolution()),
            },
            _ => Spread::None,
        };
        let (value, resolution, approximate) = match value {
            Value::Exact(p) => (p.value, p.resolution(), false),
            Value::Approx(a) => (a.value(), 0.0, true),
        };
        let summary = Summary {
            center: if sum || n == Some(1) { Center::Single } else { Center::Mean },
            value: factor.apply(value),
            spread,
            n,
            forks: None,
            resolution: factor.apply(resolution),
            approximate,
        };
        let reading = if raw { Reading::Reported(summary) } else { Reading::Summary(summary) };
        let params = pairs(&self.params);
        let id = Identity {
            name: &self.name,
            label: &result.label,
            mode: self.mode.map_or("", Mode::name),
            params: &params,
        };
        out.push(&id, Place { table, ..Place::default() }, &self.settings, result.line, None, &[(unit, reading)]);
    }
}

impl ResultBlock {
    /// A line inside the block. Returns whether it belongs there.
    fn line(&mut self, body: &[u8]) -> bool {
        let text = super::decode::decode(body);
        let text = text.trim();
        if let Some(at) = text.find("stdev = ")
            && (text.starts_with("(min, avg, max)") || text.starts_with("Statistics:"))
        {
            self.stdev = text[at + 8..].split([' ', ',']).next().and_then(number::parse_alone);
            // With a decimal comma the rest was cut off by the split.
            if let Some(word) = text[at + 8..].split(' ').next()
                && number::is_number(word)
            {
                self.stdev = number::parse_alone(word);
            }
            return true;
        }
        for prefix in ["N = ", "Samples, N = ", "samples = "] {
            if let Some(n) = text.strip_prefix(prefix) {
                self.n = number::integer(n.trim());
                return true;
            }
        }
        if let Some(mean) = text.strip_prefix("mean =") {
            return self.value.is_some() || self.value_line(mean.trim());
        }
        if [
            "CI (",
            "Confidence interval (",
            "min =",
            "max =",
            "p(",
            "(min, avg, max)",
            "Statistics:",
            "Histogram",
            "Percentiles",
        ]
        .iter()
        .any(|p| text.starts_with(p))
        {
            return true;
        }
        self.value.is_none() && self.value_line(text)
    }

    /// `22.071 ±(99.9%) 5.225 ms/op [Average]`
    fn value_line(&mut self, text: &str) -> bool {
        let text = match text.rsplit_once(" [") {
            Some((value, tag)) if tag.ends_with(']') => {
                self.added_up = tag != "Average]";
                value
            }
            _ => text,
        };
        let Some((value, error, unit)) = parse_value(text).filter(|(_, _, u)| unit::is_known(u) || u.contains('/'))
        else {
            return false;
        };
        (self.value, self.error, self.unit) = (Some(value), error, unit.to_owned());
        true
    }
}

// ---- pieces ---------------------------------------------------------------------------------------

/// `Iteration   1: rest`; the number in any script.
fn iteration(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let rest = bytes.strip_prefix(b"Iteration ")?;
    let colon = memchr::memchr(b':', &rest[..rest.len().min(40)])?;
    let mut number = 0u64;
    let digits = rest[..colon].trim_ascii_start();
    for &b in digits {
        if !b.is_ascii_digit() {
            let number = number::integer(std::str::from_utf8(digits).ok()?)?;
            return Some((number, &rest[colon + 1..]));
        }
        number = number.checked_mul(10)?.checked_add(u64::from(b - b'0'))?;
    }
    (!digits.is_empty()).then_some((number, &rest[colon + 1..]))
}

enum Parsed {
    Value(Value),
    /// `n = 173155, mean = 110 ns/op, p{...}`: mode sample of old versions.
    Sampled,
}

/// Reads `value [±(99.9%) e] unit` and nothing else, of a unit that fits `mode`.
fn iteration_value(bytes: &[u8], mode: Option<Mode>) -> Option<(Parsed, &str)> {
    let bytes = trim(bytes);
    let fits = |unit: &str| match mode {
        Some(mode) => mode.fits(unit),
        None => unit::is_known(unit) || unit.contains('/'),
    };
    // The common line: two words.
    if let Some(blank) = memchr::memchr(b' ', bytes)
        && let Some(value) = plain_decimal(&bytes[..blank])
    {
        let unit = &bytes[blank + 1..];
        if !unit.contains(&b' ')
            && let Ok(unit) = std::str::from_utf8(unit)
        {
            let decimals = bytes[..blank].iter().rposition(|&b| b == b'.').map_or(0, |p| blank - p - 1);
            let value = Value::Exact(Printed { value, decimals: decimals as i32 });
            return fits(unit).then_some((Parsed::Value(value), unit));
        }
    }
    if bytes.starts_with(b"n = ")
        && memchr::memmem::find(bytes, b", mean = ").is_some()
        && mode.is_none_or(|m| m == Mode::Sample)
    {
        return Some((Parsed::Sampled, ""));
    }
    if !bytes.first().is_some_and(|&b| b.is_ascii_digit() || b == b'-' || b == b'?' || b >= 0x80) {
        return None;
    }
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        // `±` in the console's character set: only the number and the unit matter, and they are ASCII.
        Err(_) => {
            let (value, error, unit) = parse_value_bytes(bytes)?;
            let _ = error;
            return fits(unit).then_some((Parsed::Value(value), unit));
        }
    };
    // `(2 threads)` of JMH 0.x
    let text = match text.rsplit_once(" (") {
        Some((value, tag)) if tag.ends_with(')') && tag.contains("thread") => value,
        _ => text,
    };
    let (value, _, unit) = parse_value(text)?;
    fits(unit).then_some((Parsed::Value(value), unit))
}

/// `value [pm error] unit`, all of `text`.
fn parse_value(text: &str) -> Option<(Value, Option<Printed>, &str)> {
    if text.len() > 200 {
        return None;
    }
    let toks = tokens(text, 0);
    let word = |i: usize| toks.get(i).map_or("", |t: &Token<'_>| t.text);
    let (value, mut i) = match number::parse_alone(word(0)) {
        Some(p) => (Value::Exact(p), 1),
        None => {
            let (a, used) = number::approx(word(0), toks.get(1).map(|t| t.text))?;
            (Value::Approx(a), used)
        }
    };
    let mut error = None;
    if word(i).contains('(') && word(i).ends_with("%)") {
        error = if word(i + 1) == "NaN" { None } else { Some(number::parse_alone(word(i + 1))?) };
        i += 2;
    }
    let unit = toks.get(i)?.text;
    (toks.len() == i + 1 && !number::is_number(unit)).then_some((value, error, unit))
}

/// The same of bytes that are not UTF-8: the unit is ASCII, or nothing is read.
fn parse_value_bytes(bytes: &[u8]) -> Option<(Value, Option<Printed>, &str)> {
    let unit_at = memchr::memrchr(b' ', bytes)? + 1;
    let unit = std::str::from_utf8(&bytes[unit_at..]).ok()?;
    let text = super::decode::decode(bytes).into_owned();
    let (value, error, found) = parse_value(&text)?;
    (found == unit).then_some((value, error, unit))
}

/// A value at the end of a line that a program began: `warn: no newline 0.022 us/op`.
fn glued_value(bytes: &[u8], mode: Option<Mode>) -> Option<(Value, String)> {
    let text = super::decode::decode(bytes);
    let toks = tokens(&text, 0);
    // `0.1 ±(99.9%) 0.2 us/op` has four words, `≈ 10⁻⁴ us/op` three.
    [4usize, 3, 2].into_iter().find_map(|words| {
        let at = toks.len().checked_sub(words)?;
        match iteration_value(text.get(toks[at].at..)?.as_bytes(), mode)? {
            (Parsed::Value(value), unit) => Some((value, unit.to_owned())),
            (Parsed::Sampled, _) => None,
        }
    })
}

/// `(keyCount = 100, kind = hash)`: split before each `, name = `, since values may hold commas.
fn parameters(text: &str) -> Vec<(String, String)> {
    let Some(inner) = text.strip_prefix('(').map(|t| t.strip_suffix(')').unwrap_or(t)) else { return Vec::new() };
    let mut out: Vec<(String, String)> = Vec::new();
    let mut rest = inner;
    while let Some((name, after)) = rest.split_once(" =") {
        let after = after.strip_prefix(' ').unwrap_or(after);
        let is_next = |at: &usize| {
            let candidate = &after[at + 2..];
            candidate.split_once(" =").is_some_and(|(n, _)| is_identifier(n))
        };
        let end = after.match_indices(", ").map(|(at, _)| at).find(is_next);
        let (value, next) = match end {
            Some(at) => (&after[..at], &after[at + 2..]),
            None => (after, ""),
        };
        if !value.is_empty() {
            out.push((name.to_owned(), value.to_owned()));
        }
        rest = next;
    }
    out
}

fn is_identifier(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '$'))
}

/// The number of values for which `error = t(0.9995, n - 1) * stdev / sqrt(n)`, both known to the printed place; `None` where several
/// numbers that differ by more than 5 % fit.
fn infer_n(error: Printed, stdev: Printed) -> Option<u64> {
    // t / sqrt(n) falls with n.
    let factor = |n: u64| {
        #[expect(clippy::cast_precision_loss, reason = "below 2^20")]
        let n = n as f64;
        StudentsT::new(0.0, 1.0, n - 1.0).map_or(f64::NAN, |t| t.inverse_cdf(0.9995)) / n.sqrt()
    };
    let first_at_most = |limit: f64| {
        let (mut low, mut high) = (3u64, 1u64 << 20);
        while low < high {
            let middle = low.midpoint(high);
            if factor(middle) <= limit {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        low
    };
    let (e, s) = (error.resolution(), stdev.resolution());
    if stdev.value <= s || error.value <= e {
        return None;
    }
    let least = first_at_most((error.value + e) / (stdev.value - s));
    let most = first_at_most((error.value - e) / (stdev.value + s));
    let best = error.value / stdev.value;
    let near = first_at_most(best);
    let n = if near > 3 && factor(near - 1) - best < best - factor(near) { near - 1 } else { near };
    let narrow = most.saturating_sub(least) <= 1 + n / 20;
    (narrow && n < 1 << 20).then_some(n)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_split_before_names() {
        for (text, want) in [
            ("(keyCount = 100, kind = hash)", "keyCount:100;kind:hash"),
            ("(text = plain text, with comma, valueSize = 16)", "text:plain text, with comma;valueSize:16"),
            ("(v = )", ""),
            ("(a = , b = 1)", "b:1"),
            ("(v = a=b;c)", "v:a=b;c"),
            ("(v = (x))", "v:(x)"),
            ("", ""),
        ] {
            let got: Vec<String> = parameters(text).iter().map(|(k, v)| format!("{k}:{v}")).collect();
            assert_eq!(got.join(";"), want, "{text}");
        }
    }

    #[test]
    fn n_follows_from_error_and_stdev() {
        let p = |value: f64, decimals| Printed { value, decimals };
        assert_eq!(infer_n(p(0.634, 3), p(1.870, 3)), Some(100));
        assert_eq!(infer_n(p(0.885, 3), p(2.610, 3)), Some(100));
        assert_eq!(infer_n(p(92834595.865, 3), p(106908458.656, 3)), Some(20));
        assert_eq!(infer_n(p(11.692, 3), p(6.115, 3)), Some(8));
        assert_eq!(infer_n(p(0.002, 3), p(0.003, 3)), None);
        assert_eq!(infer_n(p(0.0, 3), p(0.0, 3)), None);
    }

    #[test]
    fn values_of_iterations() {
        let exact = |value, decimals| Value::Exact(Printed { value, decimals });
        for (text, mode, want) in [
            ("109456.646 ops/ms", Some(Mode::Thrpt), Some((exact(109456.646, 3), "ops/ms"))),
            ("0.120 ±(99.9%) 1.396 us/op", Some(Mode::Avgt), Some((exact(0.12, 3), "us/op"))),
            ("0.120 ?(99.9%) 1.396 us/op", Some(Mode::Avgt), Some((exact(0.12, 3), "us/op"))),
            ("≈ 10⁻⁴ us/op", Some(Mode::Avgt), Some((Value::Approx(Approx::Power(-4)), "us/op"))),
            ("53,467 ns/op", Some(Mode::Avgt), Some((exact(53.467, 3), "ns/op"))),
            ("1923.000 ns", Some(Mode::Ss), Some((exact(1923.0, 3), "ns"))),
            ("33613.984 ops/ms (2 threads)", None, Some((exact(33613.984, 3), "ops/ms"))),
            ("12.5 ops/s", Some(Mode::Avgt), None),
            ("flush done in 12.5 us/op", Some(Mode::Avgt), None),
            ("12.5 us/op later", Some(Mode::Avgt), None),
            ("", Some(Mode::Avgt), None),
        ] {
            let got = match iteration_value(text.as_bytes(), mode) {
                Some((Parsed::Value(v), unit)) => Some((v, unit)),
                _ => None,
            };
            assert_eq!(got, want, "{text}");
        }
        let (value, unit) = glued_value(b"warn: no newline 0.022 us/op", Some(Mode::Avgt)).unwrap();
        assert_eq!((value, unit.as_str()), (exact(0.022, 3), "us/op"));
        assert_eq!(iteration_value(b"0.120 \xb1(99.9%) 1.396 us/op", Some(Mode::Avgt)).map(|(_, u)| u), Some("us/op"));
    }
}
