//! Everything that a run is asked to do, checked before anything starts.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::clock::Length;
use super::error::{Error, Result};
use super::spec::{self, Benchmark};
use super::workload::Rng;

/// What is measured, by which label.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EngineSpec {
    /// As typed; `None`: made up from the release.
    pub label: Option<String>,
    /// Which.
    pub source: Source,
}

/// Where an engine comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// The map in memory.
    Memory,
    /// `ABSTAT_ROCKSDB`, else the RocksDB of this system.
    System,
    /// A shared library, or a jar that holds one.
    Library(PathBuf),
}

impl EngineSpec {
    /// Reads `LABEL=PATH`, `PATH`, `memory`, `LABEL=memory`.
    ///
    /// # Errors
    /// [`Error::Usage`] for a label that cannot be part of a name.
    pub fn parse(text: &str) -> Result<EngineSpec> {
        let (label, path) = match text.split_once('=') {
            // A path may hold `=` too; a label holds no `/`.
            Some((label, path)) if !label.contains(['/', '\\']) => (Some(label), path),
            _ => (None, text),
        };
        if let Some(label) = label {
            let bad = |c: char| c.is_whitespace() || c.is_control() || matches!(c, '/' | '=' | ',');
            if label.is_empty() || label.contains(bad) {
                return Err(Error::usage(format!(
                    "--engine {text}: expected LABEL=PATH with a label without blanks, commas or slashes"
                )));
            }
        }
        if path.is_empty() {
            return Err(Error::usage(format!("--engine {text}: expected a path after =")));
        }
        let source = match path {
            "memory" => Source::Memory,
            "system" => Source::System,
            _ => Source::Library(PathBuf::from(path)),
        };
        Ok(EngineSpec { label: label.map(str::to_owned), source })
    }
}

/// Order of the processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunOrder {
    /// First forks of all, second forks of all, ...: drift of the machine hits all alike.
    Interleaved,
    /// All forks of one, then all of the next.
    Blocked,
    /// Shuffled by the seed.
    Random,
}

/// Where databases are made or found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Place {
    /// In a new directory under this one.
    Temporary(PathBuf),
    /// Here, where nothing may be.
    New(PathBuf),
    /// Here, where a database that abstat made may be.
    Overwrite(PathBuf),
    /// Here, where a database is.
    Use {
        /// Its directory.
        path: PathBuf,
        /// It may be written to.
        writes: bool,
    },
}

/// A run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Combinations of parameters, in order of the result.
    pub benchmarks: Vec<Benchmark>,
    /// What they are measured on, in order of the columns.
    pub engines: Vec<EngineSpec>,
    /// Processes of each benchmark on each engine.
    pub forks: u32,
    /// Iterations of each process that do not count.
    pub warmup: u32,
    /// Iterations of each process that count.
    pub iterations: u32,
    /// Of each iteration.
    pub length: Length,
    /// Of the processes.
    pub order: RunOrder,
    /// Base of all random numbers.
    pub seed: u64,
    /// Histograms of single operations.
    pub latency: bool,
    /// Threads meet between iterations.
    pub synchronized: bool,
    /// Of the databases.
    pub place: Place,
    /// Databases stay.
    pub keep: bool,
    /// Start although the disk seems too small.
    pub force: bool,
    /// Seconds without a sign of life after which a process counts as hanging, beside the length of an iteration.
    pub timeout: f64,
}

impl Plan {
    /// `benchmarks` on the system's RocksDB with the default phases.
    pub fn new(benchmarks: Vec<Benchmark>) -> Self {
        Plan {
            benchmarks,
            engines: vec![EngineSpec { label: None, source: Source::System }],
            forks: 3,
            warmup: 2,
            iterations: 5,
            length: Length::Seconds(2.0),
            order: RunOrder::Interleaved,
            seed: 42,
            latency: false,
            synchronized: true,
            place: Place::Temporary(std::env::temp_dir()),
            keep: false,
            force: false,
            timeout: 600.0,
        }
    }

    /// All of it can be done.
    ///
    /// # Errors
    /// [`Error::Usage`] naming the flag.
    pub fn check(&self) -> Result<()> {
        let usage = |message: &str| Err(Error::usage(message));
        if self.benchmarks.is_empty() {
            return usage("nothing to measure");
        }
        if self.engines.is_empty() {
            return usage("no engine to measure");
        }
        for benchmark in &self.benchmarks {
            benchmark.check()?;
        }
        for (flag, n) in [("--forks", self.forks), ("--iterations", self.iterations)] {
            if n == 0 {
                return usage(&format!("{flag}: expected 1 or more, found 0"));
            }
        }
        match self.length {
            Length::Seconds(s) if !(s > 0.0 && s <= 86_400.0) => {
                return usage(&format!("--time: expected more than 0 and up to 86400 seconds, found {s}"));
            }
            Length::Ops(0) => return usage("--ops: expected 1 or more, found 0"),
            Length::Ops(_) if !self.synchronized => {
                return usage("--sync-iterations=no needs iterations of a length in time, not --ops");
            }
            _ => {}
        }
        if !(self.timeout > 0.0 && self.timeout.is_finite()) {
            return usage(&format!("--timeout: expected a number of seconds above 0, found {}", self.timeout));
        }
        if let Place::Use { path, writes } = &self.place {
            if self.engines.iter().any(|e| e.source == Source::Memory) {
                return usage("--use-db: the memory engine has no database on disk to use");
            }
            if self.benchmarks.iter().any(|b| b.fresh || b.compact) {
                return usage("--use-db uses a database as it is: it cannot go with --fresh or --compact");
            }
            let write = self.benchmarks.iter().find(|b| !b.op.only_reads() || b.while_writing.is_some());
            if let (Some(b), false) = (write, *writes) {
                return Err(Error::refused(
                    format!("--use-db {}: {} writes to the database", path.display(), b.op.name()),
                    "--allow-writes lets it; without it the database stays as it is",
                ));
            }
        }
        let mut labels: Vec<&str> = self.engines.iter().filter_map(|e| e.label.as_deref()).collect();
        labels.sort_unstable();
        if let Some(twice) = labels.windows(2).find(|w| w[0] == w[1]) {
            return usage(&format!("--engine: two engines are called {}", twice[0]));
        }
        Ok(())
    }

    /// Parameters that tell its benchmarks apart.
    pub fn varied(&self) -> Vec<&'static str> {
        spec::varied(&self.benchmarks)
    }

    /// Iterations of each process, warm-up included.
    pub fn all_iterations(&self) -> u32 {
        self.warmup.saturating_add(self.iterations)
    }

    /// Seconds that the iterations take; `None` where they have no length in time. Loading comes on top.
    pub fn measuring_seconds(&self) -> Option<f64> {
        let Length::Seconds(seconds) = self.length else { return None };
        let timed = self.benchmarks.iter().filter(|b| !b.fresh).count();
        if timed < self.benchmarks.len() {
            return None;
        }
        let forks = (timed * self.engines.len()) as f64 * f64::from(self.forks);
        Some(forks * f64::from(self.all_iterations()) * seconds)
    }

    /// All processes in their order.
    pub fn slots(&self) -> Vec<Slot> {
        let mut slots = Vec::new();
        let configurations = || {
            (0..self.benchmarks.len())
                .flat_map(|benchmark| (0..self.engines.len()).map(move |engine| (benchmark, engine)))
        };
        match self.order {
            RunOrder::Blocked => {
                for (benchmark, engine) in configurations() {
                    slots.extend((1..=self.forks).map(|fork| Slot { benchmark, engine, fork }));
                }
            }
            RunOrder::Interleaved | RunOrder::Random => {
                for fork in 1..=self.forks {
                    slots.extend(configurations().map(|(benchmark, engine)| Slot { benchmark, engine, fork }));
                }
            }
        }
        if self.order == RunOrder::Random {
            let mut rng = Rng::new(self.seed);
            for i in (1..slots.len()).rev() {
                slots.swap(i, rng.below(i as u64 + 1) as usize);
            }
        }
        slots
    }
}

/// One process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// Into [`Plan::benchmarks`].
    pub benchmark: usize,
    /// Into [`Plan::engines`].
    pub engine: usize,
    /// From 1.
    pub fork: u32,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runner::spec::{Grid, Op};

    #[test]
    fn engines_are_read_as_typed() {
        let spec = |label: Option<&str>, source| EngineSpec { label: label.map(str::to_owned), source };
        let lib = |p: &str| Source::Library(p.into());
        for (text, want) in [
            ("memory", spec(None, Source::Memory)),
            ("ram=memory", spec(Some("ram"), Source::Memory)),
            ("v7=/l/librocksdb.so.7.8", spec(Some("v7"), lib("/l/librocksdb.so.7.8"))),
            ("rocksdbjni-8.3.2.jar", spec(None, lib("rocksdbjni-8.3.2.jar"))),
            ("/a=b/lib.so", spec(None, lib("/a=b/lib.so"))),
            ("x=/a=b/lib.so", spec(Some("x"), lib("/a=b/lib.so"))),
        ] {
            assert_eq!(EngineSpec::parse(text).unwrap(), want, "{text}");
        }
        for bad in ["=x", "v7=", "a b=x", "a,b=x", ""] {
            assert!(EngineSpec::parse(bad).is_err(), "{bad}");
        }
    }

    fn plan() -> Plan {
        let mut plan = Plan::new(Grid::default().expand().unwrap());
        plan.engines = vec![
            EngineSpec { label: None, source: Source::System },
            EngineSpec { label: None, source: Source::Memory },
        ];
        plan.forks = 2;
        plan
    }

    #[test]
    fn interleaving_puts_engines_side_by_side_and_forks_apart() {
        let order = |order| -> Vec<(usize, usize, u32)> {
            Plan { order, ..plan() }.slots().iter().map(|s| (s.benchmark, s.engine, s.fork)).collect()
        };
        let interleaved = order(RunOrder::Interleaved);
        assert_eq!(interleaved[..5], [(0, 0, 1), (0, 1, 1), (1, 0, 1), (1, 1, 1), (0, 0, 2)]);
        let blocked = order(RunOrder::Blocked);
        assert_eq!(blocked[..3], [(0, 0, 1), (0, 0, 2), (0, 1, 1)]);
        let mut random = order(RunOrder::Random);
        assert_eq!(random, order(RunOrder::Random));
        assert_ne!(random, interleaved);
        random.sort_unstable();
        let mut all = blocked.clone();
        all.sort_unstable();
        assert_eq!(random, all);
    }

    #[test]
    fn plans_that_cannot_work_are_refused() {
        let use_db = |writes| Place::Use { path: "p".into(), writes };
        let system = vec![EngineSpec { label: None, source: Source::System }];
        let twice = vec![
            EngineSpec { label: Some("a".into()), source: Source::System },
            EngineSpec { label: Some("a".into()), source: Source::Memory },
        ];
        for (bad, word) in [
            (Plan { forks: 0, ..plan() }, "--forks"),
            (Plan { iterations: 0, ..plan() }, "--iterations"),
            (Plan { length: Length::Seconds(0.0), ..plan() }, "--time"),
            (Plan { length: Length::Seconds(f64::NAN), ..plan() }, "--time"),
            (Plan { length: Length::Ops(0), ..plan() }, "--ops"),
            (Plan { length: Length::Ops(5), synchronized: false, ..plan() }, "--sync-iterations"),
            (Plan { place: use_db(true), ..plan() }, "memory engine"),
            (Plan { place: use_db(false), engines: system.clone(), ..plan() }, "put writes"),
            (Plan { engines: twice, ..plan() }, "two engines"),
            (Plan { timeout: 0.0, ..plan() }, "--timeout"),
            (Plan { benchmarks: vec![Benchmark { keys: 0, ..Benchmark::new(Op::Get) }], ..plan() }, "--keys"),
        ] {
            let text = bad.check().unwrap_err().to_string();
            assert!(text.contains(word), "{text}");
        }
        plan().check().unwrap();
        Plan { place: use_db(true), engines: system, ..plan() }.check().unwrap();
    }

    #[test]
    fn the_time_is_known_where_iterations_have_one() {
        // 2 benchmarks x 2 engines x 2 forks x 7 iterations x 2 s.
        assert_eq!(plan().measuring_seconds(), Some(112.0));
        assert_eq!(Plan { length: Length::Ops(10), ..plan() }.measuring_seconds(), None);
    }
}
