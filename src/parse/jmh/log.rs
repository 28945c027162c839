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

use std::collections::HashMap;

mod head;
mod result;
mod run;
mod value;

use super::Output;
use super::label;
use super::number::Printed;
use super::unit::Mode;
use crate::base::Diagnostic;
use crate::model::{Settings, jmh_names};
use crate::parse::Line;
use crate::parse::lex::trim;
use head::{Comment, Fork, Head, comment, settings};
use result::ResultBlock;
use run::{Block, Done, Run};
use value::{Parsed, Value, glued_value, iteration, iteration_value};

pub use run::{Found, pairs};

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
        settings(None, &self.head.settings)
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
                    if let Some(comment) = comment(rest) {
                        self.comment(line.number, comment, out);
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

    /// A line of JMH's own behind `# `.
    fn comment(&mut self, number: u64, comment: Comment, out: &mut Output<'_>) {
        if comment == Comment::Other {
            return;
        }
        self.settle(out);
        let is_setting =
            matches!(comment, Comment::Settings(_) | Comment::Mode(_) | Comment::Benchmark(_) | Comment::Parameters(_));
        if is_setting && !self.in_head {
            self.head = Head { line: number, ..Head::default() };
            self.fork = Fork::default();
            self.in_head = true;
            self.fresh = false;
        }
        match comment {
            Comment::Progress => self.in_head = false,
            Comment::Complete => {
                self.close_block(out);
                if let Some(run) = &mut self.run {
                    run.complete = true;
                }
            }
            Comment::Fork(fork) => {
                // Of a warmup fork `of` counts warmup forks.
                self.fork = if fork.warmup { Fork { of: self.fork.of, ..fork } } else { fork };
            }
            Comment::Settings(settings) => settings.into_iter().for_each(|(key, value)| self.head.set(key, value)),
            Comment::Mode(mode) => self.head.mode = mode,
            Comment::Benchmark(name) => {
                self.head.line = number;
                self.head.benchmark = Some(name);
                self.fresh = true;
            }
            Comment::Parameters(params) => self.head.params = params,
            Comment::Other => {}
        }
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
        let again = (self.run.as_ref().zip(head.benchmark.as_ref()))
            .is_some_and(|(run, name)| run.has(name, head.mode, &head.params));
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
            planned_iterations: head.iterations(),
            planned_forks: self.fork.of,
            forks: 0,
            last_fork: 0,
            last_iteration: 0,
            measured: 0,
            failures: 0,
            series: Vec::new(),
            by_label: HashMap::new(),
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
            block.forks += u64::from(fork != block.last_fork);
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
        let settings = settings(None, &self.head.settings);
        run.add(Done {
            line: result.line,
            name,
            mode,
            params,
            settings,
            series: HashMap::new(),
            results: vec![result],
            standalone: true,
            forks: None,
            repeated: false,
        });
    }

    // ---- ends -------------------------------------------------------------------------------------

    /// The current benchmark ended: pushes its samples.
    fn close_block(&mut self, out: &mut Output<'_>) {
        let Some(block) = self.block.take() else { return };
        let Some(run) = &mut self.run else { return };
        let done = block.close(run.number, out);
        if let Some(done) = done {
            run.add(done);
        }
    }

    /// The run ended, with its table or without: pushes what `Result` blocks state of series no row spoke of.
    pub fn close_run(&mut self, table: bool, out: &mut Output<'_>) {
        self.close_block(out);
        let Some(run) = self.run.take() else { return };
        let number = run.number.to_string();
        for done in &run.done {
            if done.repeated || (done.standalone && table) {
                continue; // told elsewhere: the table has it
            }
            for result in &done.results {
                let series = done.series.get(&result.label);
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
        self.run.as_mut()?.find(name, label, mode, params, score)
    }
}
