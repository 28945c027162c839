//! One process of a run, from the inside: make a directory, open, load, settle, measure, check, close, remove.
//!
//! Runs in a child process ([`super::child`]); tests run it in place.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Sender};
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

use super::clock::{self, Lap, Length, Member, Role, Timing, Track};
use super::engine::{Access, Database, Engine, Facts, MultiGet, OpenOptions, Session, WriteMode};
use super::place::{Contents, MARKER, Made};
use super::spec::{Benchmark, Io, Op};
use super::workload::{
    Fresh, Indexes, Into, Keys, Known, Lookup, MultiLookup, Operation, Paced, Pinned, Put, Scan, Values,
};
use crate::model::run::Latency;

/// Where the database is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Where {
    /// Made at this path, where nothing may be.
    New {
        /// Directory of the database.
        path: PathBuf,
        /// Leave it there in the end.
        keep: bool,
    },
    /// There already.
    Existing {
        /// Directory of the database.
        path: PathBuf,
        /// It may be written to.
        writes: bool,
        /// For RocksDB's own log when it is only read.
        log_dir: PathBuf,
    },
}

/// What a fork is asked to do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// What to measure.
    pub benchmark: Benchmark,
    /// Where.
    pub place: Where,
    /// Warm-up iterations.
    pub warmup: u32,
    /// Measured iterations.
    pub iterations: u32,
    /// Of each.
    pub length: Length,
    /// Of the values: the same for all forks.
    pub seed: u64,
    /// Of the order of keys: the fork's own.
    pub fork_seed: u64,
    /// Threads meet between iterations.
    pub synchronized: bool,
    /// Histograms of single operations.
    pub latency: bool,
}

/// One role in one iteration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RoleResult {
    /// `None`: all threads.
    pub role: Option<String>,
    /// Threads of the role.
    pub threads: u32,
    /// As in [`crate::model::run::RunSample`].
    pub ops: u64,
    /// Calls, where they are not operations.
    pub calls: Option<u64>,
    /// Wall time.
    pub seconds: f64,
    /// Sum over the threads.
    pub thread_seconds: f64,
    /// Sum over the threads of their rates.
    pub ops_s: f64,
    /// Key and value bytes.
    pub bytes: u64,
    /// Operations that found what they looked for.
    pub found: u64,
    /// Single operations.
    pub latency: Option<Latency>,
}

/// What a fork tells while it runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    /// The database is open.
    Opened {
        /// What the engine says of itself.
        facts: Facts,
    },
    /// Keys are being loaded.
    Loading {
        /// Keys so far.
        done: u64,
        /// Keys in all.
        total: u64,
    },
    /// Flush, compaction, background work.
    Settling,
    /// An iteration was measured and checked.
    Iteration {
        /// Warm-up ones come first.
        warmup: bool,
        /// From 1 in each phase.
        number: u32,
        /// The whole first, then its roles.
        results: Vec<RoleResult>,
    },
    /// Something to know about.
    Warning {
        /// Stable kebab-case word.
        code: String,
        /// Lower case, no full stop.
        message: String,
    },
    /// All is done and removed.
    Done,
    /// Nothing more comes.
    Failed {
        /// Why.
        message: String,
    },
}

/// How `b` opens a new database at `path`.
pub fn open_options(b: &Benchmark, path: &Path) -> OpenOptions {
    OpenOptions {
        path: path.to_owned(),
        log_dir: None,
        access: Access::Create,
        families: b.families,
        cache: b.cache,
        cache_size: b.cache_size,
        direct: b.io == Io::Direct,
        compression: b.compression,
        bloom_bits: b.bloom,
        block_size: b.block_size,
        comparator: b.comparator,
        ordered: b.op.walks(),
        default_handle: b.op == Op::MultiGet && b.multi_get == MultiGet::Batched,
    }
}

/// What is measured on an open database.
struct Fork<'a, D> {
    request: &'a Request,
    db: &'a D,
    values: &'a Values,
    /// What the values were before the first iteration, where it is known.
    loaded: Option<u64>,
    halt: &'a AtomicBool,
}

/// Runs a fork.
///
/// # Errors
/// What failed; the events so far stand, but the fork has no result.
pub fn run<E: Engine>(
    engine: &E,
    request: &Request,
    halt: &AtomicBool,
    tell: &mut dyn FnMut(Event),
) -> Result<(), String> {
    let b = &request.benchmark;
    let values = Values::new(b, request.seed);
    let total = u64::from(request.warmup) + u64::from(request.iterations);
    match &request.place {
        Where::New { path, keep } => {
            let contents = Contents { benchmark: b.clone(), seed: request.seed, generations: total };
            if b.fresh {
                for i in 0..request.warmup + request.iterations {
                    let made = Made::new(path, &contents).map_err(|e| e.to_string())?;
                    let filled = fill(engine, request, &values, halt, tell, i, made.path());
                    let last = i + 1 == request.warmup + request.iterations;
                    finish(made, *keep && (last || filled.is_err()), tell, filled)?;
                }
                return Ok(());
            }
            let made = Made::new(path, &contents).map_err(|e| e.to_string())?;
            let measured = load_and_measure(engine, request, &values, halt, tell, made.path());
            finish(made, *keep, tell, measured)
        }
        Where::Existing { path, writes, log_dir } => {
            let mut options = open_options(b, path);
            options.access = if *writes { Access::ReadWrite } else { Access::ReadOnly };
            options.log_dir = (!*writes).then(|| log_dir.clone());
            let contents = Contents::read(path);
            if let Some(contents) = &contents {
                contents.fits(b, path).map_err(|e| e.to_string())?;
            }
            // Values of another seed cannot be checked.
            let loaded = contents.as_ref().filter(|c| c.seed == request.seed).map(|c| c.generations);
            if let (true, Some(mut contents)) = (*writes && path.join(MARKER).is_file(), contents) {
                contents.generations += total;
                contents.write(path).map_err(|e| format!("{}: {e}", path.display()))?;
            }
            let db = engine.open(&options).map_err(|e| e.to_string())?;
            tell(Event::Opened { facts: db.facts() });
            Fork { request, db: &db, values: &values, loaded, halt }.measure(tell)?;
            if *writes {
                db.flush().map_err(|e| format!("flush after the writes: {e}"))?;
            }
            check_background(&db)
        }
    }
}

/// Removes what was made, unless it is kept; the first error counts.
fn finish(made: Made, keep: bool, tell: &mut dyn FnMut(Event), result: Result<(), String>) -> Result<(), String> {
    if !keep {
        match made.remove() {
            Ok(left) if left.is_empty() => {}
            Ok(left) => tell(Event::Warning {
                code: "files-left".to_owned(),
                message: format!("the database held files that are not RocksDB's; they stay: {}", left.join(", ")),
            }),
            // The cause comes first; the parent tries again.
            Err(e) if result.is_ok() => return Err(e.to_string()),
            Err(_) => {}
        }
    }
    result
}

fn load_and_measure<E: Engine>(
    engine: &E,
    request: &Request,
    values: &Values,
    halt: &AtomicBool,
    tell: &mut dyn FnMut(Event),
    path: &Path,
) -> Result<(), String> {
    let b = &request.benchmark;
    let db = engine.open(&open_options(b, path)).map_err(|e| e.to_string())?;
    tell(Event::Opened { facts: db.facts() });
    // In a thread that ends, as measuring threads are: the memory that the load gave back is then theirs to use again.
    std::thread::scope(|scope| {
        let (sender, loading) = mpsc::channel();
        let loader = scope.spawn(|| load(&db, b, values, halt, sender));
        for event in loading {
            tell(event);
        }
        loader.join().unwrap_or_else(|_| Err("the load panicked".to_owned()))
    })?;
    tell(Event::Settling);
    db.flush().map_err(|e| format!("flush after the load: {e}"))?;
    if b.compact {
        db.compact().map_err(|e| format!("compaction after the load: {e}"))?;
    }
    settle(&db, halt)?;
    check_order(&db, b)?;
    Fork { request, db: &db, values, loaded: Some(0), halt }.measure(tell)?;
    if !b.op.only_reads() || b.while_writing.is_some() {
        db.flush().map_err(|e| format!("flush after the writes: {e}"))?;
    }
    check_background(&db)
}

/// One iteration of a fresh workload: a database that is empty at its start.
fn fill<E: Engine>(
    engine: &E,
    request: &Request,
    values: &Values,
    halt: &AtomicBool,
    tell: &mut dyn FnMut(Event),
    iteration: u32,
    path: &Path,
) -> Result<(), String> {
    let b = &request.benchmark;
    let db = engine.open(&open_options(b, path)).map_err(|e| e.to_string())?;
    if iteration == 0 {
        tell(Event::Opened { facts: db.facts() });
    }
    let ops = match request.length {
        Length::Ops(ops) => ops,
        Length::Seconds(_) => (b.keys / u64::from(b.threads.max(1))).max(1),
    };
    let one = Request {
        warmup: u32::from(iteration < request.warmup),
        iterations: u32::from(iteration >= request.warmup),
        length: Length::Ops(ops),
        synchronized: true,
        // Another order of keys each time, where it is random.
        fork_seed: request.fork_seed.wrapping_add(u64::from(iteration) << 32),
        ..request.clone()
    };
    let number = if iteration < request.warmup { iteration + 1 } else { iteration - request.warmup + 1 };
    Fork { request: &one, db: &db, values, loaded: Some(0), halt }.measure(&mut |event| {
        tell(match event {
            Event::Iteration { warmup, results, .. } => Event::Iteration { warmup, number, results },
            other => other,
        });
    })?;
    db.flush().map_err(|e| format!("flush after the writes: {e}"))?;
    check_background(&db)
}

/// Writes every key once, in the order of indexes.
fn load<D: Database>(
    db: &D,
    b: &Benchmark,
    values: &Values,
    halt: &AtomicBool,
    tell: Sender<Event>,
) -> Result<(), String> {
    // Nobody who listens is no reason to stop.
    let tell = |event| drop(tell.send(event));
    let mode = WriteMode { wal: b.wal, sync: false };
    let mut session = db.session(mode, None).map_err(|e| e.to_string())?;
    let mut keys = Keys::new(b);
    let mut told = Instant::now();
    tell(Event::Loading { done: 0, total: b.keys });
    for index in 0..b.keys {
        let family = keys.set(index);
        session
            .put(family, keys.bytes(), values.loaded(index))
            .map_err(|e| format!("load, key {index} of {}: {e}", b.keys))?;
        if index % 256 == 255 {
            if halt.load(Ordering::Relaxed) {
                return Err("stopped".to_owned());
            }
            if told.elapsed() > Duration::from_millis(250) {
                told = Instant::now();
                tell(Event::Loading { done: index + 1, total: b.keys });
            }
        }
    }
    Ok(())
}

/// Waits until no flush or compaction runs or waits.
fn settle<D: Database>(db: &D, halt: &AtomicBool) -> Result<(), String> {
    let mut quiet = 0;
    // Twice in a row: between the end of one compaction and the decision for the next none is counted.
    while quiet < 2 {
        if halt.load(Ordering::Relaxed) {
            return Err("stopped".to_owned());
        }
        let work = db.background_work().map_err(|e| e.to_string())?;
        quiet = if work == 0 { quiet + 1 } else { 0 };
        std::thread::sleep(Duration::from_millis(10));
    }
    Ok(())
}

/// The first key is the one that the comparator asked for puts first: an unknown comparator name is accepted by RocksDB without a word.
fn check_order<D: Database>(db: &D, b: &Benchmark) -> Result<(), String> {
    let shares = u64::from(b.families.max(1));
    let mut keys = Keys::new(b);
    for family in 0..shares.min(b.keys) {
        let last = family + (b.keys - 1 - family) / shares * shares;
        keys.set(if b.comparator.is_reverse() { last } else { family });
        let first = db.first_key(family as u32).map_err(|e| e.to_string())?;
        if first.as_deref() != Some(keys.bytes()) {
            return Err(format!(
                "comparator={}: the library does not follow it, or the load is incomplete",
                super::spec::word(&b.comparator)
            ));
        }
    }
    Ok(())
}

fn check_background<D: Database>(db: &D) -> Result<(), String> {
    match db.background_errors().map_err(|e| e.to_string())? {
        0 => Ok(()),
        n => Err(format!("RocksDB counts {n} background errors")),
    }
}

impl<D: Database> Fork<'_, D> {
    fn mode(&self) -> WriteMode {
        let b = &self.request.benchmark;
        WriteMode { wal: b.wal, sync: b.sync }
    }

    /// Runs `op` on `track`. `exact`: values read back must be of the iteration that just ended.
    fn run<O: Operation>(&self, track: Track<'_>, name: &str, op: Result<O, String>, exact: bool, writers: bool) {
        let (values, loaded, synchronized) = (self.values, self.loaded, self.request.synchronized);
        track.run(name, op, move |generation| match loaded {
            _ if exact && synchronized => Known::Values(values, generation..=generation),
            Some(loaded) if writers => Known::Values(values, 0..=generation.max(loaded)),
            Some(loaded) => Known::Values(values, 0..=loaded),
            None => Known::Nothing,
        });
    }

    fn indexes(&self, stream: u32, thread: u32, threads: u32) -> Indexes {
        let seed = self.request.fork_seed.wrapping_add(u64::from(stream));
        Indexes::new(&self.request.benchmark, seed, thread, threads)
    }

    /// One thread that does `op`. `stream` is its number among all threads.
    fn reader(&self, track: Track<'_>, op: Op, stream: u32, thread: u32, threads: u32) {
        let b = &self.request.benchmark;
        let writers = b.op == Op::ReadWrite || b.while_writing.is_some();
        let multi_get = (op == Op::MultiGet).then_some(b.multi_get);
        let session = self.db.session(self.mode(), multi_get).map_err(|e| e.to_string());
        let indexes = self.indexes(stream, thread, threads);
        let known = self.loaded.is_some();
        let name = op.name();
        match op {
            Op::Get => {
                self.run(track, name, session.map(|s| Lookup::<_, Fresh>::new(s, b, indexes, known)), false, writers);
            }
            Op::GetInto => {
                self.run(track, name, session.map(|s| Lookup::<_, Into>::new(s, b, indexes, known)), false, writers);
            }
            Op::MultiGet => {
                self.run(track, name, session.map(|s| MultiLookup::new(s, b, indexes, known)), false, writers);
            }
            Op::FwdRange | Op::RevRange => {
                let backwards = op == Op::RevRange;
                self.run(track, name, session.map(|s| Scan::new(s, b, indexes, backwards, known)), false, writers);
            }
            Op::GetPinned | Op::Put | Op::ReadWrite | Op::Comparator => {
                self.run(track, name, session.map(|s| Lookup::<_, Pinned>::new(s, b, indexes, known)), false, writers);
            }
        }
    }

    fn writer(&self, track: Track<'_>, rate: Option<u64>, stream: u32, thread: u32, threads: u32) {
        let b = &self.request.benchmark;
        let session = self.db.session(self.mode(), None).map_err(|e| e.to_string());
        let put = session.map(|s| Put::new(s, b, self.indexes(stream, thread, threads), self.values));
        match rate {
            Some(rate) if rate > 0 => self.run(track, "put", put.map(|p| Paced::new(p, rate)), true, true),
            _ => self.run(track, "put", put, true, true),
        }
    }

    fn members<'s>(&'s self) -> Vec<Member<'s>> {
        let b = &self.request.benchmark;
        let mut members: Vec<Member<'s>> = Vec::new();
        let mut add = |role: Role, body: Box<dyn FnOnce(Track<'_>) + Send + 's>| members.push(Member { role, body });
        match b.op {
            Op::ReadWrite => {
                let (readers, writers) = (b.readers, b.writers);
                for t in 0..readers {
                    add(Role::Get, Box::new(move |track| self.reader(track, Op::GetPinned, t, t, readers)));
                }
                let rate = b.write_rate.map(|r| r / u64::from(writers.max(1)));
                for t in 0..writers {
                    add(Role::Put, Box::new(move |track| self.writer(track, rate, readers + t, t, writers)));
                }
            }
            Op::Put | Op::Comparator => {
                for t in 0..b.threads {
                    add(Role::Only, Box::new(move |track| self.writer(track, None, t, t, b.threads)));
                }
            }
            op => {
                for t in 0..b.threads {
                    add(Role::Only, Box::new(move |track| self.reader(track, op, t, t, b.threads)));
                }
                if let Some(rate) = b.while_writing {
                    let stream = b.threads;
                    add(Role::Beside, Box::new(move |track| self.writer(track, Some(rate), stream, 0, 1)));
                }
            }
        }
        members
    }

    fn measure(&self, tell: &mut dyn FnMut(Event)) -> Result<(), String>
    where
        D: Sync,
    {
        let r = self.request;
        let timing = Timing {
            iterations: r.warmup + r.iterations,
            length: r.length,
            synchronized: r.synchronized,
            latency: r.latency,
            first_generation: self.loaded.unwrap_or(0) + 1,
        };
        clock::measure(self.members(), timing, self.halt, &mut |i, laps| {
            let warmup = i < r.warmup;
            let number = if warmup { i + 1 } else { i - r.warmup + 1 };
            tell(Event::Iteration { warmup, number, results: results(&r.benchmark, &laps) });
        })
    }
}

/// The whole of an iteration and, of a mixed workload, each role.
fn results(b: &Benchmark, laps: &[Lap]) -> Vec<RoleResult> {
    let of = |name: Option<&str>, takes: &dyn Fn(Role) -> bool| {
        let laps: Vec<&Lap> = laps.iter().filter(|l| takes(l.role)).collect();
        summarize(b, name, &laps)
    };
    let mut out = vec![of(None, &|role| role != Role::Beside)];
    if b.op == Op::ReadWrite {
        out.push(of(Some("get"), &|role| role == Role::Get));
        out.push(of(Some("put"), &|role| role == Role::Put));
    }
    out
}

fn summarize(b: &Benchmark, role: Option<&str>, laps: &[&Lap]) -> RoleResult {
    let mut out = RoleResult {
        role: role.map(str::to_owned),
        threads: u32::try_from(laps.len()).unwrap_or(u32::MAX),
        ops: 0,
        calls: None,
        seconds: 0.0,
        thread_seconds: 0.0,
        ops_s: 0.0,
        bytes: 0,
        found: 0,
        latency: None,
    };
    let mut calls = 0;
    let mut all: Option<Histogram<u64>> = None;
    for lap in laps {
        let seconds = lap.end.duration_since(lap.start).as_secs_f64();
        out.thread_seconds += seconds;
        if seconds > 0.0 {
            out.ops_s += lap.tally.ops as f64 / seconds;
        }
        out.ops += lap.tally.ops;
        out.bytes += lap.tally.bytes;
        out.found += lap.tally.found;
        calls += lap.tally.calls;
        if let Some(h) = &lap.latency {
            match &mut all {
                // Equal bounds: adding cannot fail.
                Some(sum) => drop(sum.add(h)),
                None => all = Some(h.clone()),
            }
        }
    }
    if b.op == Op::MultiGet {
        out.calls = Some(calls);
    }
    let start = laps.iter().map(|l| l.start).min();
    let end = laps.iter().map(|l| l.end).max();
    if let (Some(start), Some(end)) = (start, end) {
        out.seconds = end.duration_since(start).as_secs_f64();
    }
    out.latency = all.filter(|h| !h.is_empty()).map(|h| {
        let seconds = |nanoseconds: u64| nanoseconds as f64 * 1e-9;
        let at = |quantile: f64| seconds(h.value_at_quantile(quantile));
        Latency {
            count: h.len(),
            mean: h.mean() * 1e-9,
            stddev: h.stdev() * 1e-9,
            min: seconds(h.min()),
            p50: at(0.5),
            p75: at(0.75),
            p99: at(0.99),
            p99_9: at(0.999),
            p99_99: at(0.9999),
            max: seconds(h.max()),
        }
    });
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runner::engine::{Cache, Comparator, MemoryEngine};
    use crate::runner::spec::Order;

    fn request(b: Benchmark, path: &Path) -> Request {
        Request {
            benchmark: b,
            place: Where::New { path: path.join("db"), keep: false },
            warmup: 1,
            iterations: 2,
            length: Length::Seconds(0.1),
            seed: 42,
            fork_seed: 1042,
            synchronized: true,
            latency: false,
        }
    }

    fn small(op: Op) -> Benchmark {
        Benchmark { keys: 500, families: 3, batch: 7, threads: 2, ..Benchmark::new(op) }
    }

    /// Iterations of a run: (warm-up, number, results).
    fn iterations<E: Engine>(engine: &E, request: &Request) -> Result<Iterations, String> {
        let mut out = Vec::new();
        run(engine, request, &AtomicBool::new(false), &mut |event| {
            if let Event::Iteration { warmup, number, results } = event {
                out.push((warmup, number, results));
            }
        })?;
        Ok(out)
    }

    type Runs<'a> = dyn Fn(&Request) -> Result<Iterations, String> + 'a;
    type Iterations = Vec<(bool, u32, Vec<RoleResult>)>;

    /// `check` on the memory engine, and on RocksDB where there is one (then its last argument is true).
    fn on_both(check: &dyn Fn(&Runs<'_>, &Path, bool)) {
        let dir = tempfile::tempdir().unwrap();
        check(&|r| iterations(&MemoryEngine, r), dir.path(), false);
        if let Some(engine) = crate::runner::engine::tests::rocksdb() {
            let dir = tempfile::tempdir().unwrap();
            check(&|r| iterations(&engine, r), dir.path(), true);
        }
    }

    #[test]
    fn every_workload_gives_counted_and_checked_iterations() {
        on_both(&|run, dir, _| {
            for (_, op) in Op::ALL {
                let r = request(small(op), dir);
                let all = run(&r).unwrap_or_else(|e| panic!("{op:?}: {e}"));
                assert_eq!(
                    all.iter().map(|(w, n, _)| (*w, *n)).collect::<Vec<_>>(),
                    [(true, 1), (false, 1), (false, 2)]
                );
                for (_, _, results) in &all {
                    let whole = &results[0];
                    assert!(whole.ops > 0 && whole.found == whole.ops, "{op:?} {whole:?}");
                    // Each thread's rate over its own time: at least operations by wall time, more where one started late.
                    let by_wall = whole.ops as f64 / whole.seconds;
                    assert!(whole.ops_s >= by_wall * 0.999, "{op:?} {whole:?}");
                    assert!(whole.ops_s * whole.seconds <= whole.ops as f64 * 20.0, "{op:?} {whole:?}");
                    assert!(whole.seconds >= 0.099 && whole.thread_seconds <= 2.0 * whole.seconds + 1e-9, "{whole:?}");
                    let entry = 16 + 100;
                    match op {
                        Op::FwdRange | Op::RevRange => assert!(whole.bytes > whole.ops * entry * 9),
                        _ => assert_eq!(whole.bytes, whole.ops * entry),
                    }
                    assert_eq!(whole.calls, (op == Op::MultiGet).then_some(whole.ops / 7));
                    if op == Op::ReadWrite {
                        let roles: Vec<Option<&str>> = results.iter().map(|r| r.role.as_deref()).collect();
                        assert_eq!(roles, [None, Some("get"), Some("put")]);
                        assert_eq!(whole.ops, results[1].ops + results[2].ops);
                        assert_eq!(whole.ops_s, results[1].ops_s + results[2].ops_s);
                    } else {
                        assert_eq!(results.len(), 1);
                    }
                }
                assert!(!dir.join("db").exists());
            }
        });
    }

    #[test]
    fn variants_of_workloads_pass_their_checks_too() {
        on_both(&|run, dir, rocksdb| {
            let b = small;
            let mut variants = vec![
                Benchmark { families: 0, multi_get: MultiGet::Batched, ..b(Op::MultiGet) },
                Benchmark { families: 20, multi_get: MultiGet::Batched, hit_rate: 0.5, ..b(Op::MultiGet) },
                Benchmark { hit_rate: 0.0, ..b(Op::Get) },
                Benchmark { hit_rate: 0.3, ..b(Op::GetInto) },
                Benchmark { order: Order::Seq, ..b(Op::Get) },
                Benchmark { order: Order::Seq, ..b(Op::Put) },
                Benchmark { while_writing: Some(1 << 20), ..b(Op::Get) },
                Benchmark { while_writing: Some(0), ..b(Op::FwdRange) },
                Benchmark { write_rate: Some(1 << 20), readers: 2, writers: 2, ..b(Op::ReadWrite) },
                Benchmark { wal: false, compact: true, bloom: 10, ..b(Op::Put) },
                Benchmark { cache: Cache::None, key_size: 2, value_size: 1, ..b(Op::GetPinned) },
                Benchmark { value_size: 65536, keys: 20, ..b(Op::Put) },
                Benchmark { key_size: 128, ..b(Op::RevRange) },
            ];
            for comparator in [Comparator::Reverse, Comparator::CallbackBytewise, Comparator::CallbackReverse] {
                variants.push(Benchmark { comparator, ..b(Op::FwdRange) });
                variants.push(Benchmark { comparator, ..b(Op::RevRange) });
                variants.push(Benchmark { comparator, families: 0, ..b(Op::Comparator) });
            }
            for variant in variants {
                for synchronized in [true, false] {
                    // Iterations of a common end may pass before a thread gets a core.
                    let length = if synchronized { Length::Ops(300) } else { Length::Seconds(0.02) };
                    let r = Request { synchronized, length, ..request(variant.clone(), dir) };
                    let all = run(&r).unwrap_or_else(|e| panic!("{variant:?} (RocksDB: {rocksdb}): {e}"));
                    assert_eq!(all.len(), 3, "{variant:?}");
                    for (_, _, results) in &all {
                        assert!(results[0].ops > 0 || !synchronized);
                        if variant.hit_rate == 0.0 {
                            assert_eq!(results[0].found, 0);
                        }
                    }
                }
            }
        });
    }

    #[test]
    fn counted_iterations_do_exactly_that_many_operations() {
        on_both(&|run, dir, _| {
            let r = Request { length: Length::Ops(1000), latency: true, ..request(small(Op::Get), dir) };
            for (_, _, results) in run(&r).unwrap() {
                assert_eq!(results[0].ops, 2000);
                let latency = results[0].latency.as_ref().unwrap();
                assert_eq!(latency.count, 2000);
                assert!(
                    latency.min > 0.0
                        && latency.min <= latency.p50
                        && latency.p50 <= latency.p99
                        && latency.p99 <= latency.max
                );
                assert!(latency.mean * 2000.0 <= results[0].thread_seconds * 1.01);
            }
        });
    }

    #[test]
    fn fresh_fills_write_every_key_of_a_new_database_each_time() {
        on_both(&|run, dir, _| {
            for order in [Order::Seq, Order::Random] {
                let b = Benchmark { fresh: true, order, ..small(Op::Put) };
                let all = run(&request(b, dir)).unwrap();
                assert_eq!(
                    all.iter().map(|(w, n, r)| (*w, *n, r[0].ops)).collect::<Vec<_>>(),
                    [(true, 1, 500), (false, 1, 500), (false, 2, 500)]
                );
            }
        });
    }

    #[test]
    fn a_halted_fork_stops_and_leaves_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let halt = AtomicBool::new(false);
        let r = Request { length: Length::Seconds(60.0), ..request(small(Op::Get), dir.path()) };
        let start = Instant::now();
        let result = std::thread::scope(|s| {
            s.spawn(|| {
                std::thread::sleep(Duration::from_millis(100));
                halt.store(true, Ordering::Relaxed);
            });
            run(&MemoryEngine, &r, &halt, &mut |_| {})
        });
        assert_eq!(result, Err("stopped".to_owned()));
        assert!(start.elapsed() < Duration::from_secs(10));
        assert!(!dir.path().join("db").exists());
    }

    #[test]
    fn kept_databases_can_be_read_again_and_written_when_allowed() {
        let Some(engine) = crate::runner::engine::tests::rocksdb() else { return };
        let dir = tempfile::tempdir().unwrap();
        let db = dir.path().join("db");
        let keep = Where::New { path: db.clone(), keep: true };
        iterations(&engine, &Request { place: keep, ..request(small(Op::Put), dir.path()) }).unwrap();
        assert_eq!(Contents::read(&db).unwrap().generations, 3);
        let logs = dir.path().join("logs");
        std::fs::create_dir(&logs).unwrap();
        let there = |writes| Where::Existing { path: db.clone(), writes, log_dir: logs.clone() };
        for op in [Op::Get, Op::RevRange, Op::MultiGet] {
            iterations(&engine, &Request { place: there(false), ..request(small(op), dir.path()) }).unwrap();
        }
        let puts = request(small(Op::Put), dir.path());
        // Reading only: RocksDB refuses the first put, and that is what is reported.
        let error = iterations(&engine, &Request { place: there(false), ..puts.clone() }).unwrap_err();
        assert!(error.starts_with("put: Not implemented"), "{error}");
        iterations(&engine, &Request { place: there(true), ..puts.clone() }).unwrap();
        assert_eq!(Contents::read(&db).unwrap().generations, 6);
        iterations(&engine, &Request { place: there(true), ..request(small(Op::ReadWrite), dir.path()) }).unwrap();
        // Other parameters than it was made with.
        let other = request(Benchmark { keys: 501, ..small(Op::Get) }, dir.path());
        let error = iterations(&engine, &Request { place: there(false), ..other.clone() }).unwrap_err();
        assert!(error.contains("made with --keys 500"), "{error}");
        // A database of somebody else: keys that are missing are found out by counting.
        std::fs::remove_file(db.join(MARKER)).unwrap();
        iterations(&engine, &Request { place: there(false), ..request(small(Op::Get), dir.path()) }).unwrap();
        let error = iterations(&engine, &Request { place: there(false), ..other }).unwrap_err();
        assert!(error.contains("keys that exist") || error.contains("was not found"), "{error}");
        // And it is never made over.
        let error = iterations(&engine, &puts).unwrap_err();
        assert!(error.contains("is not empty"), "{error}");
        assert!(db.join("CURRENT").exists());
    }
}
