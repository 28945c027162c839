//! What is going on, on standard error: a bar on a terminal, lines when asked for, nothing otherwise.

use std::io::Write;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// How progress is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Show {
    /// Not at all.
    Nothing,
    /// One line per iteration.
    Lines,
    /// A bar that is drawn over.
    Bar,
}

/// Progress of a run.
pub struct Progress<'a> {
    err: &'a mut dyn Write,
    show: Show,
    bar: Option<ProgressBar>,
    /// Iterations of all forks.
    total: u64,
    done: u64,
    started: Instant,
    /// What it takes by the plan, until there is experience.
    planned: Option<Duration>,
    /// Iterations that were done before this process started.
    before: u64,
}

impl std::fmt::Debug for Progress<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Progress").field("done", &self.done).field("total", &self.total).finish_non_exhaustive()
    }
}

impl<'a> Progress<'a> {
    /// Nothing is shown before [`Progress::begin`].
    pub fn new(err: &'a mut dyn Write, show: Show) -> Self {
        Progress { err, show, bar: None, total: 0, done: 0, started: Instant::now(), planned: None, before: 0 }
    }

    /// The run begins: `total` iterations, of which `done` were there already.
    pub fn begin(&mut self, total: u64, done: u64, planned: Option<Duration>) {
        (self.total, self.done, self.before, self.planned) = (total, done, done, planned);
        self.started = Instant::now();
        if self.show == Show::Bar {
            let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr());
            if let Ok(style) = ProgressStyle::with_template("{wide_bar} {msg}") {
                bar.set_style(style);
            }
            bar.set_position(done);
            self.bar = Some(bar);
        }
    }

    /// Prints `line` above the bar. A closed standard error is nobody's problem.
    pub fn say(&mut self, line: &str) {
        let err = &mut self.err;
        let mut print = || {
            let _ = writeln!(err, "{line}");
        };
        match &self.bar {
            Some(bar) => bar.suspend(print),
            None => print(),
        }
    }

    /// Something other than an iteration goes on: loading, settling.
    pub fn busy(&mut self, what: &str) {
        if let Some(bar) = &self.bar {
            bar.set_message(format!("{what}  {}", self.left()));
        }
    }

    /// An iteration ended.
    pub fn step(&mut self, what: &str) {
        self.done += 1;
        let left = self.left();
        if let Some(bar) = &self.bar {
            bar.set_position(self.done);
            bar.set_message(format!("{what}  {left}"));
        } else if self.show == Show::Lines {
            self.say(&format!("{what}  {left}"));
        }
    }

    /// `count` iterations will not come: their fork failed.
    pub fn skip(&mut self, count: u64) {
        self.done += count;
        if let Some(bar) = &self.bar {
            bar.set_position(self.done);
        }
    }

    /// Takes the bar away.
    pub fn end(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }

    /// `ETA 0:41`.
    fn left(&self) -> String {
        let (now, to_do) = (self.done - self.before, self.total.saturating_sub(self.done));
        let left = if now == 0 {
            self.planned
        } else {
            // Loading is in what past iterations took.
            self.started
                .elapsed()
                .checked_mul(u32::try_from(to_do).unwrap_or(u32::MAX))
                .map(|t| t / u32::try_from(now).unwrap_or(1))
        };
        left.map_or_else(|| "ETA ?".to_owned(), |t| format!("ETA {}", clock(t.as_secs_f64())))
    }
}

/// Seconds as `0:41`, `12:05`, `1:02:03`.
pub fn clock(seconds: f64) -> String {
    let s = seconds.round().max(0.0) as u64;
    if s >= 3600 {
        format!("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60)
    } else {
        format!("{}:{:02}", s / 60, s % 60)
    }
}

/// A rate for people: `812 kop/s`.
pub fn rate(ops_s: f64) -> String {
    for (factor, prefix) in [(1e9, "G"), (1e6, "M"), (1e3, "k")] {
        if ops_s >= factor {
            let value = ops_s / factor;
            let digits = if value >= 100.0 {
                0
            } else if value >= 10.0 {
                1
            } else {
                2
            };
            return format!("{value:.digits$} {prefix}op/s");
        }
    }
    format!("{ops_s:.0} op/s")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_rates_are_short() {
        assert_eq!(clock(41.4), "0:41");
        assert_eq!(clock(725.0), "12:05");
        assert_eq!(clock(3723.0), "1:02:03");
        for (n, text) in
            [(812_345.0, "812 kop/s"), (1_234_567.0, "1.23 Mop/s"), (42_000.0, "42.0 kop/s"), (7.0, "7 op/s")]
        {
            assert_eq!(rate(n), text);
        }
    }

    #[test]
    fn lines_are_written_only_when_asked_for() {
        for (show, want) in [(Show::Nothing, "said\n"), (Show::Lines, "said\n[1/2] get  ETA 0:00\n")] {
            let mut out = Vec::new();
            let mut p = Progress::new(&mut out, show);
            p.begin(1, 0, None);
            p.say("said");
            p.busy("loading");
            p.step("[1/2] get");
            p.end();
            assert_eq!(String::from_utf8(out).unwrap(), want);
        }
    }
}
