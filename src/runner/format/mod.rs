//! Samples as text, in formats that others read too. Each of them is read back by abstat to equal samples (as far as its printed digits go).
//!
//! | format | forks | what is lost |
//! |---|---|---|
//! | `jsonl` | yes | nothing; what `--record` appends, in the order of the plan |
//! | `go` | comments | warm-up, warnings |
//! | `jmh` | yes | nanoseconds per operation and bytes (throughput mode has none) |
//! | `db_bench` | no | fork boundaries; micros/op is thread time, as db_bench counts |

mod db_bench;
mod go;
mod jmh;

use std::fmt;
use std::str::FromStr;

use super::run::RunOutcome;
use crate::model::run::{ForkStart, RunLine, RunSample};

/// A format of samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SampleFormat {
    /// Go benchmark text.
    Go,
    /// A JMH log with its table.
    Jmh,
    /// A db_bench log.
    DbBench,
    /// abstat's own lines.
    Jsonl,
}

impl SampleFormat {
    /// All, with the names that `-f` takes.
    pub const ALL: [(&'static str, SampleFormat); 4] = [
        ("go", SampleFormat::Go),
        ("jmh", SampleFormat::Jmh),
        ("db_bench", SampleFormat::DbBench),
        ("jsonl", SampleFormat::Jsonl),
    ];
}

impl FromStr for SampleFormat {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL
            .iter()
            .find(|(name, _)| *name == text)
            .map(|(_, format)| *format)
            .ok_or_else(|| format!("expected go, jmh, db_bench or jsonl, found {text:?}"))
    }
}

impl fmt::Display for SampleFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Self::ALL.iter().find(|(_, format)| format == self).map_or("", |(name, _)| name))
    }
}

/// The samples of `outcome` as text.
pub fn render(format: SampleFormat, outcome: &RunOutcome) -> String {
    match format {
        SampleFormat::Go => go::render(outcome),
        SampleFormat::Jmh => jmh::render(outcome),
        SampleFormat::DbBench => db_bench::render(outcome),
        SampleFormat::Jsonl => jsonl(outcome),
    }
}

/// All samples of one benchmark on one engine, in order.
struct Group<'a> {
    /// All roles together first.
    samples: Vec<&'a RunSample>,
}

impl<'a> Group<'a> {
    /// Benchmarks on engines in order of first appearance.
    fn all(outcome: &'a RunOutcome) -> Vec<Group<'a>> {
        let mut groups: Vec<Group<'a>> = Vec::new();
        for sample in &outcome.samples {
            let same = |g: &&mut Group<'a>| {
                g.samples.first().is_some_and(|s| s.params == sample.params && s.engine == sample.engine)
            };
            match groups.iter_mut().find(same) {
                Some(group) => group.samples.push(sample),
                None => groups.push(Group { samples: vec![sample] }),
            }
        }
        groups
    }

    /// Samples of the whole, not of one role.
    fn whole(&self) -> impl Iterator<Item = &'a RunSample> {
        self.samples.iter().copied().filter(|s| s.role.is_none())
    }

    /// Roles in order, `None` (the whole) first.
    fn roles(&self) -> Vec<Option<&'a str>> {
        let mut roles: Vec<Option<&str>> = Vec::new();
        for s in &self.samples {
            let role = s.role.as_deref();
            if !roles.contains(&role) {
                roles.push(role);
            }
        }
        roles
    }

    /// Forks in order.
    fn forks(&self) -> Vec<u32> {
        let mut forks: Vec<u32> = self.samples.iter().map(|s| s.fork).collect();
        forks.dedup();
        forks
    }

    fn param(&self, key: &str) -> Option<&'a str> {
        self.samples.first().and_then(|s| s.params.get(key))
    }
}

/// What `--record` appends, sorted by the plan.
fn jsonl(outcome: &RunOutcome) -> String {
    let mut lines = vec![RunLine::Run(Box::new(outcome.header.clone()))];
    lines.extend(outcome.warnings.iter().cloned().map(RunLine::Warning));
    for group in Group::all(outcome) {
        for fork in group.forks() {
            let samples: Vec<&RunSample> = group.samples.iter().copied().filter(|s| s.fork == fork).collect();
            let Some(first) = samples.iter().find(|s| s.role.is_none()) else { continue };
            let start = ForkStart { benchmark: first.benchmark.clone(), fork, attempt: first.attempt };
            let end = outcome.forks.iter().find(|f| f.ok && f.benchmark == start.benchmark && f.fork == fork);
            lines.push(RunLine::Fork(start));
            lines.extend(samples.into_iter().map(|s| RunLine::Sample(Box::new(s.clone()))));
            lines.extend(end.cloned().map(RunLine::End));
        }
    }
    // Types without a map of other than text keys: serde cannot fail on them.
    lines.iter().filter_map(|line| line.to_text().ok()).collect()
}
