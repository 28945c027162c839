//! A run: engines are looked for and probed, processes started one after another, their samples recorded as they come.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::child::{ChildEngine, Task, Work};
use super::clock::Length;
use super::engine::{self, Compression, Facts};
use super::error::{Error, Result};
use super::fork::{Event, Request, RoleResult, Where};
use super::plan::{EngineSpec, Place, Plan, Slot, Source};
use super::process::{self, ChildCommand, Ending};
use super::progress::{self, Progress, Show};
use super::record::{self, Recorded, Recorder};
use super::scratch::Scratch;
use super::spec::Benchmark;
use super::{machine, place, signals};
use crate::model::run::{EngineFacts, ForkEnd, ForkStart, Phase, RunHeader, RunLine, RunSample, RunWarning, SCHEMA};

/// How a run is carried out; none of it changes what is measured.
#[derive(Clone, Debug)]
pub struct Options {
    /// File that samples are appended to as they come.
    pub record: Option<PathBuf>,
    /// Progress on standard error.
    pub show: Show,
    /// How to start a process of this program.
    pub child: ChildCommand,
}

/// What came of a run.
#[derive(Clone, Debug)]
pub struct RunOutcome {
    /// What was asked for.
    pub plan: Plan,
    /// What holds for all samples.
    pub header: RunHeader,
    /// Samples of forks that did not fail, warm-up ones too, in the order of the plan: benchmark, engine, fork, iteration, role.
    pub samples: Vec<RunSample>,
    /// Forks that ended, in order.
    pub forks: Vec<ForkEnd>,
    /// What was warned of.
    pub warnings: Vec<RunWarning>,
    /// The user ended it early.
    pub interrupted: bool,
}

impl RunOutcome {
    /// Something that was asked for is missing: exit code 2.
    pub fn failed(&self) -> bool {
        self.interrupted || self.forks.iter().any(|f| !f.ok)
    }

    /// Nothing was measured at all.
    pub fn is_empty(&self) -> bool {
        !self.samples.iter().any(RunSample::is_measured)
    }
}

/// What RocksDB says of a full disk.
const NO_SPACE: &str = "No space left";

/// What can be done about a failure, by a word of its message.
fn hint_for(message: &str) -> Option<&'static str> {
    let table: [(&str, &str); 9] = [
        (NO_SPACE, "free some space, or use --dir for another file system"),
        // Not "lock" alone: that is in every message about blocks and clocks.
        ("lock file:", "another process has this database open"),
        ("lock hold by", "another process has this database open"),
        ("(SIGXFSZ)", "files may not grow further: a limit of the shell (ulimit -f)"),
        ("Direct I/O", "--io direct needs a file system that supports it (tmpfs does not): --dir"),
        ("direct I/O", "--io direct needs a file system that supports it (tmpfs does not): --dir"),
        ("not linked with the binary", "this library was built without it; --compression none always works"),
        (
            "(SIGKILL)",
            "the kernel kills processes when memory runs out; fewer or smaller --keys, a smaller --cache-size",
        ),
        ("keys that exist", "the database must hold --keys keys of --key-size bytes, made by abstat or db_bench"),
    ];
    table.iter().find(|(word, _)| message.contains(word)).map(|(_, hint)| *hint)
}

/// An engine that works.
struct Ready {
    label: String,
    engine: ChildEngine,
    facts: EngineFacts,
}

/// The file behind `source`; jars are unpacked into `scratch`.
fn locate(spec: &EngineSpec, number: usize, scratch: &Path) -> Result<(ChildEngine, String)> {
    let file = match &spec.source {
        Source::Memory => return Ok((ChildEngine::Memory, "memory".to_owned())),
        Source::Library(path) => path.clone(),
        Source::System => match std::env::var_os("ABSTAT_ROCKSDB").filter(|v| !v.is_empty()) {
            Some(path) => PathBuf::from(path),
            // Last, whatever the loader knows and we do not.
            None => engine::find_system_library().unwrap_or_else(|| PathBuf::from(SYSTEM_NAME)),
        },
    };
    let named = file.display().to_string();
    let label = spec.label.as_deref().unwrap_or(&named);
    if !engine::is_archive(&file) {
        // A bare name would be looked for in the loader's path and not here.
        let here = if file.components().count() == 1 && file.is_file() { Path::new(".").join(&file) } else { file };
        return Ok((ChildEngine::Library(here), named));
    }
    let to = scratch.join(format!("library{number}"));
    std::fs::create_dir(&to).map_err(Error::io("cannot create", &to))?;
    let member = engine::extract(&file, &to).map_err(|e| Error::engine(label, &e))?;
    Ok((ChildEngine::Library(member), named))
}

#[cfg(target_os = "macos")]
const SYSTEM_NAME: &str = "librocksdb.dylib";
#[cfg(not(target_os = "macos"))]
const SYSTEM_NAME: &str = "librocksdb.so";

/// Loads each engine in a process of its own and asks what it is.
fn probe(plan: &Plan, scratch: &Scratch, options: &Options, stop: &AtomicBool) -> Result<Vec<Ready>> {
    let mut ready: Vec<Ready> = Vec::new();
    for (i, spec) in plan.engines.iter().enumerate() {
        let (engine, source) = locate(spec, i, scratch.path())?;
        let task = Task {
            engine: engine.clone(),
            work: Work::Probe { path: scratch.path().join(format!("probe{i}")) },
            scratch: scratch.path().to_owned(),
        };
        let mut facts = Facts::default();
        let silence = Duration::from_secs(60);
        let ending = process::run(&options.child, &task, silence, &|| stop.load(Ordering::Relaxed), &mut |event| {
            if let Event::Opened { facts: told } = event {
                facts = told;
            }
        });
        match ending {
            Ending::Done => {}
            Ending::Interrupted => return Err(Error::Interrupted),
            Ending::Failed(message) => {
                let unnamed = spec.source == Source::System && std::env::var_os("ABSTAT_ROCKSDB").is_none();
                if unnamed && engine::find_system_library().is_none() {
                    return Err(Error::NoLibrary { places: engine::search_places() });
                }
                let label = spec.label.clone().unwrap_or_else(|| source.clone());
                let hint = if message.contains("cannot load") || message.contains("not a RocksDB") {
                    Some("expected a shared library of RocksDB for this machine, or a rocksdbjni jar".to_owned())
                } else {
                    hint_for(&message).map(str::to_owned)
                };
                return Err(Error::Engine { label, message, hint });
            }
        }
        let version = facts.version.unwrap_or_else(|| "unknown".to_owned());
        let default = match (&spec.source, plan.engines.len()) {
            (Source::Memory, _) => "memory".to_owned(),
            (_, 1) => "rocksdb".to_owned(),
            _ => version.clone(),
        };
        let mut label = spec.label.clone().unwrap_or_else(|| default.clone());
        let mut n = 2;
        while ready.iter().any(|r| r.label == label) {
            label = format!("{default}#{n}");
            n += 1;
        }
        let compression = facts.compression.unwrap_or_default();
        let facts = EngineFacts { label: label.clone(), source, version, compression };
        ready.push(Ready { label, engine, facts });
    }
    Ok(ready)
}

/// The running state of a run.
struct Run<'a, 'e> {
    plan: &'a Plan,
    options: &'a Options,
    scratch: &'a Scratch,
    engines: &'a [Ready],
    varied: Vec<&'static str>,
    recorder: Option<Recorder>,
    progress: &'a mut Progress<'e>,
    stop: &'static AtomicBool,
    /// The directory of [`Place::New`] was there before, empty.
    existed: bool,
    samples: Vec<(Slot, RunSample)>,
    forks: Vec<ForkEnd>,
    warnings: Vec<RunWarning>,
    interrupted: bool,
}

/// Warnings of one kind that are shown; the rest is counted.
const SHOWN: usize = 5;

impl Run<'_, '_> {
    fn record(&mut self, line: &RunLine) -> Result<()> {
        match &mut self.recorder {
            Some(recorder) => recorder.write(line),
            None => Ok(()),
        }
    }

    fn warn(&mut self, warning: RunWarning) -> Result<()> {
        let same = self.warnings.iter().filter(|w| w.code == warning.code).count();
        if same < SHOWN {
            self.progress.say(&format!("warning: {}", warning.message));
        }
        self.record(&RunLine::Warning(warning.clone()))?;
        self.warnings.push(warning);
        Ok(())
    }

    fn name(&self, slot: Slot, role: Option<&str>) -> String {
        let (Some(benchmark), Some(engine)) = (self.plan.benchmarks.get(slot.benchmark), self.engines.get(slot.engine))
        else {
            return String::new();
        };
        let engine = (self.engines.len() > 1).then_some(engine.label.as_str());
        benchmark.name(&self.varied, engine, role)
    }

    /// Where the database of `slot` goes, and the path to clean up should the process crash.
    fn place(&self, slot: Slot, last: bool) -> Where {
        match &self.plan.place {
            Place::Temporary(_) => Where::New {
                path: self.scratch.databases().join(format!(
                    "{}-{}-{}",
                    slot.benchmark + 1,
                    slot.engine + 1,
                    slot.fork
                )),
                keep: self.plan.keep,
            },
            // The next process needs the same place.
            Place::New(path) | Place::Overwrite(path) => {
                Where::New { path: path.clone(), keep: self.plan.keep && last }
            }
            Place::Use { path, writes } => {
                Where::Existing { path: path.clone(), writes: *writes, log_dir: self.scratch.path().join("logs") }
            }
        }
    }

    /// Runs one process. `number` is its place among all.
    fn fork(&mut self, slot: Slot, attempt: u32, last: bool) -> Result<()> {
        let (Some(benchmark), Some(engine)) = (self.plan.benchmarks.get(slot.benchmark), self.engines.get(slot.engine))
        else {
            return Ok(());
        };
        let name = self.name(slot, None);
        self.record(&RunLine::Fork(ForkStart { benchmark: name.clone(), fork: slot.fork, attempt }))?;
        let place = self.place(slot, last);
        let request = Request {
            benchmark: benchmark.clone(),
            place: place.clone(),
            warmup: self.plan.warmup,
            iterations: self.plan.iterations,
            length: self.plan.length,
            seed: self.plan.seed,
            fork_seed: self.plan.seed.wrapping_add(1000 * u64::from(slot.fork)),
            synchronized: self.plan.synchronized,
            latency: self.plan.latency,
        };
        let task = Task {
            engine: engine.engine.clone(),
            work: Work::Fork(Box::new(request)),
            scratch: self.scratch.path().to_owned(),
        };
        let length = match self.plan.length {
            Length::Seconds(s) => s,
            Length::Ops(_) => 0.0,
        };
        let silence = Duration::try_from_secs_f64(self.plan.timeout + 2.0 * length).unwrap_or(Duration::MAX);
        let options = self.options;
        let what = self.what(slot, benchmark);
        let stop = self.stop;
        let mut samples: Vec<RunSample> = Vec::new();
        let mut trouble: Option<Error> = None;
        let mut warnings: Vec<RunWarning> = Vec::new();
        let mut steps = 0u64;
        let stop_now = std::cell::Cell::new(false);
        let ending = process::run(
            &options.child,
            &task,
            silence,
            &|| stop.load(Ordering::Relaxed) || stop_now.get(),
            &mut |event| {
                let handled = self.event(slot, attempt, &what, event, &mut samples, &mut warnings, &mut steps);
                if let Err(e) = handled {
                    // The record cannot be written: measuring on would be for nothing.
                    trouble.get_or_insert(e);
                    stop_now.set(true);
                }
            },
        );
        // Some releases abort when the disk is full; before the database is removed that can be seen.
        let full = matches!(&place, Where::New { path, .. } if place::is_full(path));
        self.clean_up(&place)?;
        if let Some(e) = trouble {
            return Err(e);
        }
        for warning in warnings {
            self.warn(warning)?;
        }
        let end = |ok, message| ForkEnd { benchmark: name.clone(), fork: slot.fork, attempt, ok, message };
        match ending {
            Ending::Done => {
                let end = end(true, None);
                self.record(&RunLine::End(end.clone()))?;
                self.forks.push(end);
                let whole: Vec<&RunSample> = samples.iter().filter(|s| s.is_measured() && s.role.is_none()).collect();
                let mut short = benchmark.short_name(&self.varied);
                if self.engines.len() > 1 {
                    short.push_str(&format!(" {}", engine.label));
                }
                for warning in machine::sample_warnings(&short, slot.fork, &whole) {
                    self.warn(warning)?;
                }
                self.samples.extend(samples.into_iter().filter(|s| s.ops > 0).map(|s| (slot, s)));
            }
            Ending::Failed(mut message) => {
                if full && !message.contains(NO_SPACE) {
                    message.push_str(&format!(" ({NO_SPACE} on the file system of the database)"));
                }
                self.progress.say(&format!("error: fork {} of {name} failed: {message}", slot.fork));
                if let Some(hint) = hint_for(&message) {
                    self.progress.say(&format!("hint: {hint}"));
                }
                let end = end(false, Some(message));
                self.record(&RunLine::End(end.clone()))?;
                self.forks.push(end);
                self.progress.skip(u64::from(self.plan.all_iterations()).saturating_sub(steps));
            }
            Ending::Interrupted => {
                // Whole iterations are whole samples.
                self.interrupted = true;
                self.samples.extend(samples.into_iter().filter(|s| s.ops > 0).map(|s| (slot, s)));
            }
        }
        Ok(())
    }

    /// `[3/12] get cf=20 fork 2/3`.
    fn what(&self, slot: Slot, benchmark: &Benchmark) -> String {
        let engines = self.engines.len();
        let number = slot.benchmark * engines + slot.engine + 1;
        let of = self.plan.benchmarks.len() * engines;
        let mut what = format!("[{number}/{of}] {}", benchmark.short_name(&self.varied));
        if let (Some(engine), true) = (self.engines.get(slot.engine), engines > 1) {
            what.push_str(&format!(" {}", engine.label));
        }
        format!("{what} fork {}/{}", slot.fork, self.plan.forks)
    }

    #[expect(clippy::too_many_arguments, reason = "what a closure would capture, were it not for the borrow of self")]
    fn event(
        &mut self,
        slot: Slot,
        attempt: u32,
        what: &str,
        event: Event,
        samples: &mut Vec<RunSample>,
        warnings: &mut Vec<RunWarning>,
        steps: &mut u64,
    ) -> Result<()> {
        match event {
            Event::Opened { .. } => self.progress.busy(&format!("{what} open")),
            Event::Loading { done, total } => {
                let percent = (done as f64 / total.max(1) as f64 * 100.0).floor();
                self.progress.busy(&format!("{what} loading {percent} %"));
            }
            Event::Settling => self.progress.busy(&format!("{what} settling")),
            Event::Warning { code, message } => warnings.push(RunWarning { code, message }),
            Event::Iteration { warmup, number, results } => {
                let phase = if warmup { Phase::Warmup } else { Phase::Measured };
                let rate = results.first().map_or(0.0, |r| r.ops_s);
                for result in results {
                    let sample = self.sample(slot, attempt, phase, number, result);
                    self.record(&RunLine::Sample(Box::new(sample.clone())))?;
                    samples.push(sample);
                }
                *steps += 1;
                let (kind, of) = if warmup { ("warm-up", self.plan.warmup) } else { ("iter", self.plan.iterations) };
                self.progress.step(&format!("{what} {kind} {number}/{of}  {}", progress::rate(rate)));
            }
            Event::Done | Event::Failed { .. } => {}
        }
        Ok(())
    }

    fn sample(&self, slot: Slot, attempt: u32, phase: Phase, iteration: u32, r: RoleResult) -> RunSample {
        let benchmark = self.plan.benchmarks.get(slot.benchmark);
        let engine = self.engines.get(slot.engine);
        // Reads of a database of our own find all of it in files; db_bench leaves a part in the memtable.
        let flushed = !matches!(self.plan.place, Place::Use { .. }) && benchmark.is_some_and(|b| !b.fresh);
        let more = |b: &Benchmark| {
            [("threads", b.measured_threads().to_string()), ("flushed", if flushed { "yes" } else { "no" }.to_owned())]
        };
        RunSample {
            benchmark: self.name(slot, r.role.as_deref()),
            params: benchmark.map(|b| b.parts().into_iter().chain(more(b)).collect()).unwrap_or_default(),
            engine: engine.map(|e| e.label.clone()).unwrap_or_default(),
            rocksdb: engine.map(|e| e.facts.version.clone()).unwrap_or_default(),
            role: r.role,
            fork: slot.fork,
            attempt,
            iteration,
            phase,
            ops: r.ops,
            calls: r.calls,
            seconds: r.seconds,
            thread_seconds: r.thread_seconds,
            ops_s: r.ops_s,
            bytes: r.bytes,
            found: r.found,
            threads: r.threads,
            latency: r.latency,
        }
    }

    /// Removes what a crashed process left.
    fn clean_up(&mut self, place: &Where) -> Result<()> {
        let Where::New { path, keep: false } = place else { return Ok(()) };
        let existed = self.existed && !matches!(self.plan.place, Place::Temporary(_));
        let Some(made) = place::take_up(path, existed) else { return Ok(()) };
        let left = match made.remove() {
            Ok(left) if left.is_empty() => return Ok(()),
            Ok(left) => format!("it holds files that are not RocksDB's: {}", left.join(", ")),
            Err(e) => e.to_string(),
        };
        let message = format!("{} could not be removed: {left}", path.display());
        self.warn(RunWarning { code: "files-left".to_owned(), message })
    }
}

/// Carries `plan` out. Progress, warnings and failures of single forks go to `err`.
///
/// # Errors
/// What keeps the run from starting or from recording; a failed fork is part of the outcome instead.
pub fn run(plan: Plan, options: &Options, err: &mut dyn Write) -> Result<RunOutcome> {
    plan.check()?;
    let recorder = options.record.as_deref().map(Recorder::create).transpose()?;
    let mut progress = Progress::new(err, options.show);
    execute(plan, None, recorder, options, &mut progress)
}

/// Goes on with the run that the record at `path` began: forks that are complete are kept, others are done (again).
///
/// # Errors
/// As [`run`]; and when the record is none, or the engines are other releases than those recorded.
pub fn resume(path: &Path, options: &Options, err: &mut dyn Write) -> Result<RunOutcome> {
    let (recorded, recorder) = record::resume(path)?;
    let mut progress = Progress::new(err, options.show);
    if recorded.torn {
        progress.say(&format!("warning: {}: the last line was cut off and is dropped", path.display()));
    }
    let plan = recorded.plan.clone();
    plan.check()?;
    let options = Options { record: Some(path.to_owned()), ..options.clone() };
    execute(plan, Some(recorded), Some(recorder), &options, &mut progress)
}

fn same_engines(recorded: &Recorded, engines: &[Ready], path: &Path) -> Result<()> {
    for (was, is) in recorded.header.engines.iter().zip(engines) {
        if was.label != is.label || was.version != is.facts.version {
            return Err(Error::Record {
                path: path.to_owned(),
                message: format!(
                    "engine {} was {} when the record began and is {} now ({})",
                    was.label, was.version, is.facts.version, is.facts.source
                ),
                hint: Some("samples of two releases do not belong into one column; start a new record".to_owned()),
            });
        }
    }
    Ok(())
}

/// Directory that databases lie in, for space and file system.
fn home(plan: &Plan) -> PathBuf {
    match &plan.place {
        Place::Temporary(path) | Place::New(path) | Place::Overwrite(path) | Place::Use { path, .. } => path.clone(),
    }
}

/// Checks the place that was named, before anything is started. Says whether it existed, empty.
fn check_place(plan: &Plan) -> Result<bool> {
    let mut existed = false;
    match &plan.place {
        Place::Temporary(dir) => {
            if !dir.is_dir() {
                return Err(Error::usage(format!("--dir {}: is no directory", dir.display())));
            }
        }
        Place::New(path) => existed = place::check_empty(path)?,
        Place::Overwrite(path) => {
            place::overwrite(path)?;
            existed = place::check_empty(path)?;
        }
        Place::Use { path, .. } => {
            if !path.join("CURRENT").is_file() {
                return Err(Error::usage(format!("--use-db {}: no RocksDB database is there", path.display())));
            }
        }
    }
    if let Place::New(path) | Place::Overwrite(path) = &plan.place {
        let parent = path.parent().filter(|p| !p.as_os_str().is_empty());
        if parent.is_some_and(|p| !p.is_dir()) {
            return Err(Error::usage(format!("{}: its parent directory does not exist", path.display())));
        }
    }
    let on_disk = plan.engines.iter().any(|e| e.source != Source::Memory);
    if on_disk && !plan.force && !matches!(plan.place, Place::Use { .. }) {
        let kept = if plan.keep && matches!(plan.place, Place::Temporary(_)) {
            // All of them are there in the end.
            u64::from(plan.forks) * plan.engines.len() as u64
        } else {
            1
        };
        let need = if kept == 1 {
            plan.benchmarks.iter().map(Benchmark::disk_need).max().unwrap_or(0)
        } else {
            plan.benchmarks.iter().map(Benchmark::disk_need).fold(0, u64::saturating_add).saturating_mul(kept)
        };
        place::check_space(&home(plan), need)?;
    }
    Ok(existed)
}

/// `12 benchmarks x 2 engines x 3 forks x (2 + 5) x 2 s: about 8:24 and loading; seed 42`
fn announcement(plan: &Plan) -> String {
    let count = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    let mut text = count(plan.benchmarks.len(), "benchmark");
    if plan.engines.len() > 1 {
        text.push_str(&format!(" x {}", count(plan.engines.len(), "engine")));
    }
    let length = match plan.length {
        Length::Seconds(s) => format!("{s} s"),
        Length::Ops(n) => format!("{n} ops a thread"),
    };
    text.push_str(&format!(
        " x {} x ({} + {}) x {length}",
        count(plan.forks as usize, "fork"),
        plan.warmup,
        plan.iterations
    ));
    if let Some(seconds) = plan.measuring_seconds() {
        text.push_str(&format!(": about {} and loading", progress::clock(seconds)));
    }
    let mut more = vec![format!("seed {}", plan.seed), format!("order {}", super::spec::word(&plan.order))];
    if plan.latency {
        more.push("latency on: one clock reading per operation".to_owned());
    }
    // Parameters that are the same everywhere and not the default.
    let varied = plan.varied();
    if let Some(first) = plan.benchmarks.first() {
        let default = Benchmark::new(first.op).parts();
        for (key, value) in first.parts() {
            if key != "op" && !varied.contains(&key) && !default.contains(&(key, value.clone())) {
                more.push(format!("{key}={value}"));
            }
        }
    }
    if plan.benchmarks.iter().any(|b| b.families > 1) {
        more.push("keys are the total over all column families".to_owned());
    }
    format!("{text}; {}", more.join(", "))
}

/// `engines: v7 RocksDB 7.8.3 (librocksdb.so.7.8), memory`: what stands behind each label.
fn introduction(engines: &[Ready]) -> String {
    let one = |r: &Ready| match &r.engine {
        ChildEngine::Memory if r.label == r.facts.source => r.label.clone(),
        ChildEngine::Memory => format!("{} {}", r.label, r.facts.source),
        ChildEngine::Library(_) if r.label == r.facts.version => {
            format!("RocksDB {} ({})", r.facts.version, r.facts.source)
        }
        ChildEngine::Library(_) => format!("{} RocksDB {} ({})", r.label, r.facts.version, r.facts.source),
    };
    let list: Vec<String> = engines.iter().map(one).collect();
    format!("engine{}: {}", if list.len() == 1 { "" } else { "s" }, list.join(", "))
}

fn execute(
    plan: Plan,
    recorded: Option<Recorded>,
    recorder: Option<Recorder>,
    options: &Options,
    progress: &mut Progress<'_>,
) -> Result<RunOutcome> {
    let stop = signals::watch();
    let existed = check_place(&plan)?;
    let scratch = match &plan.place {
        Place::Temporary(dir) => Scratch::new(dir)?,
        _ => Scratch::new(&std::env::temp_dir())?,
    };
    let logs = scratch.path().join("logs");
    std::fs::create_dir(&logs).map_err(Error::io("cannot create", &logs))?;
    let engines = probe(&plan, &scratch, options, stop)?;
    let header = match &recorded {
        Some(recorded) => {
            same_engines(recorded, &engines, options.record.as_deref().unwrap_or(Path::new("the record")))?;
            recorded.header.clone()
        }
        None => RunHeader {
            schema: SCHEMA,
            tool: concat!("abstat ", env!("CARGO_PKG_VERSION")).to_owned(),
            started: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs()),
            host: machine::host(&home(&plan)),
            engines: engines.iter().map(|e| e.facts.clone()).collect(),
            seed: plan.seed,
            plan: serde_json::to_value(&plan).map_err(|e| Error::usage(format!("the plan cannot be written: {e}")))?,
        },
    };
    progress.say(&announcement(&plan));
    progress.say(&introduction(&engines));
    let mut run = Run {
        plan: &plan,
        options,
        scratch: &scratch,
        engines: &engines,
        varied: plan.varied(),
        recorder,
        progress,
        stop,
        existed,
        samples: Vec::new(),
        forks: Vec::new(),
        warnings: Vec::new(),
        interrupted: false,
    };
    let slots = plan.slots();
    let mut attempts: Vec<(String, u32, u32)> = Vec::new();
    match recorded {
        None => run.record(&RunLine::Run(Box::new(header.clone())))?,
        Some(recorded) => {
            for sample in recorded.samples {
                let slot = slots
                    .iter()
                    .find(|s| s.fork == sample.fork && run.name(**s, sample.role.as_deref()) == sample.benchmark);
                run.samples.extend(slot.filter(|_| sample.ops > 0).map(|s| (*s, sample)));
            }
            run.progress.say(&format!("note: {} of {} forks are in the record", recorded.done.len(), slots.len()));
            run.forks = recorded.done;
            run.warnings = recorded.warnings;
            attempts = recorded.attempts;
        }
    }
    let done: Vec<(String, u32)> = run.forks.iter().map(|f| (f.benchmark.clone(), f.fork)).collect();
    let is_done =
        |run: &Run<'_, '_>, slot: Slot| done.iter().any(|(b, f)| *f == slot.fork && *b == run.name(slot, None));
    let mut to_do: Vec<Slot> = slots.iter().copied().filter(|s| !is_done(&run, *s)).collect();
    // The fork that was cut off first, so that its second attempt follows its first in the record.
    if let Some((benchmark, fork, _)) = attempts.last()
        && let Some(at) = to_do.iter().position(|s| s.fork == *fork && run.name(*s, None) == *benchmark)
    {
        let cut_off = to_do.remove(at);
        to_do.insert(0, cut_off);
    }
    let iterations = u64::from(plan.all_iterations());
    let planned = plan
        .measuring_seconds()
        .and_then(|s| Duration::try_from_secs_f64(s * to_do.len() as f64 / slots.len().max(1) as f64).ok());
    run.progress.begin(slots.len() as u64 * iterations, (slots.len() - to_do.len()) as u64 * iterations, planned);
    let threads = plan.benchmarks.iter().map(Benchmark::all_threads).max().unwrap_or(1);
    let count = to_do.len();
    if count > 0 {
        for warning in machine::warnings(threads) {
            run.warn(warning)?;
        }
        warn_of_compression(&mut run)?;
    }
    for (i, slot) in to_do.into_iter().enumerate() {
        if run.interrupted || stop.load(Ordering::Relaxed) {
            run.interrupted = true;
            break;
        }
        let name = run.name(slot, None);
        let attempt = attempts.iter().find(|(b, f, _)| *b == name && *f == slot.fork).map_or(1, |(_, _, a)| a + 1);
        run.fork(slot, attempt, i + 1 == count)?;
    }
    run.progress.end();
    say_the_end(&mut run);
    let Run { mut samples, forks, warnings, interrupted, .. } = run;
    samples.sort_by_key(|(slot, s)| (slot.benchmark, slot.engine, slot.fork, s.phase == Phase::Measured, s.iteration));
    let samples = samples.into_iter().map(|(_, s)| s).collect();
    Ok(RunOutcome { plan, header, samples, forks, warnings, interrupted })
}

/// Engines that compress differently by default measure different things.
fn warn_of_compression(run: &mut Run<'_, '_>) -> Result<()> {
    if !run.plan.benchmarks.iter().any(|b| b.compression == Compression::Default) {
        return Ok(());
    }
    let known: Vec<&EngineFacts> = run.engines.iter().map(|e| &e.facts).filter(|f| !f.compression.is_empty()).collect();
    if known.windows(2).all(|w| w[0].compression == w[1].compression) {
        return Ok(());
    }
    let list: Vec<String> = known.iter().map(|f| format!("{} {}", f.label, f.compression)).collect();
    let message =
        format!("engines compress differently by default ({}); --compression none makes them alike", list.join(", "));
    run.warn(RunWarning { code: "compression-differs".to_owned(), message })
}

/// What was hidden, kept or cut off.
fn say_the_end(run: &mut Run<'_, '_>) {
    let mut codes: Vec<&str> = Vec::new();
    for w in &run.warnings {
        if !codes.contains(&w.code.as_str()) {
            codes.push(&w.code);
        }
    }
    let mut lines: Vec<String> = Vec::new();
    for code in codes {
        let count = run.warnings.iter().filter(|w| w.code == code).count();
        if count > SHOWN {
            lines.push(format!("warning: {} more of kind {code}", count - SHOWN));
        }
    }
    let failed = run.forks.iter().filter(|f| !f.ok).count();
    if failed > 0 {
        lines.push(format!("error: {failed} of {} forks failed; the results are those of the others", run.forks.len()));
    }
    if run.interrupted {
        lines.push("error: interrupted; the results are those of the iterations until then".to_owned());
        if let Some(path) = &run.options.record {
            lines.push(format!("hint: abstat run --resume {} goes on", path.display()));
        }
    }
    if run.plan.keep {
        let at = match &run.plan.place {
            Place::Temporary(_) => run.scratch.databases(),
            _ => home(run.plan),
        };
        lines.push(format!("note: kept in {}", at.display()));
    }
    for line in lines {
        run.progress.say(&line);
    }
}
