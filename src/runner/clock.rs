//! Iterations: threads that start together, run for a time or a number of operations, and say how long it took them.
//!
//! A thread reads the clock before and after its loop, and a relaxed counter (the current iteration) once per operation; nothing else is
//! shared inside the loop. The main thread sleeps until the end of the iteration and raises the counter. Between iterations all meet at a
//! barrier and look at what they did, off the clock; without `synchronized` they run on and only the boundaries are read.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Barrier, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

use super::workload::{Known, Operation, Tally, check_tally};

/// How long an iteration is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Length {
    /// Seconds.
    Seconds(f64),
    /// Operations of each thread.
    Ops(u64),
}

/// The iterations of one process.
#[derive(Clone, Copy, Debug)]
pub struct Timing {
    /// Iterations, warm-up included.
    pub iterations: u32,
    /// Of each.
    pub length: Length,
    /// Threads wait for each other between iterations.
    pub synchronized: bool,
    /// One clock reading per operation, into a histogram.
    pub latency: bool,
    /// Generation of values that the first iteration writes.
    pub first_generation: u64,
}

/// What a thread is there for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// The only kind of thread.
    Only,
    /// Reader of a mixed workload.
    Get,
    /// Writer of a mixed workload.
    Put,
    /// Runs beside and is not measured.
    Beside,
}

/// What one thread did in one iteration.
#[derive(Debug)]
pub struct Lap {
    /// Of the thread.
    pub role: Role,
    /// Just before its first operation.
    pub start: Instant,
    /// Just after its last one.
    pub end: Instant,
    /// What it did.
    pub tally: Tally,
    /// Nanoseconds of single operations.
    pub latency: Option<Histogram<u64>>,
}

/// Longest that an operation can take in a histogram: an hour, in nanoseconds.
const LONGEST: u64 = 3_600_000_000_000;

fn histogram() -> Option<Histogram<u64>> {
    // Three digits: percentiles are exact to 0.1 %. Bounds that hdrhistogram accepts, so there always is one.
    Histogram::new_with_bounds(1, LONGEST, 3).ok()
}

/// How long the main thread naps at most before it looks whether something failed.
const NAP: Duration = Duration::from_millis(20);

struct Shared<'a> {
    timing: Timing,
    /// Number of the iteration that runs, from 0.
    current: AtomicU32,
    /// No further iteration.
    over: AtomicBool,
    failed: AtomicBool,
    /// Measured threads that still count to their number of operations.
    busy: AtomicU32,
    barrier: Barrier,
    laps: Mutex<Laps>,
    arrived: Condvar,
    /// Somebody outside wants it to end.
    halt: &'a AtomicBool,
}

#[derive(Default)]
struct Laps {
    /// With the number of the iteration.
    done: Vec<(u32, Lap)>,
    error: Option<String>,
}

impl Shared<'_> {
    fn laps(&self) -> MutexGuard<'_, Laps> {
        self.laps.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn fail(&self, message: String) {
        let mut laps = self.laps();
        // The first failure is the cause of the others.
        laps.error.get_or_insert(message);
        self.failed.store(true, Ordering::Relaxed);
        self.arrived.notify_all();
    }

    /// A measured thread has done what it had to do in this iteration.
    fn finish(&self) {
        // Under the lock: the main thread looks at the number and goes to sleep without a gap in between.
        let laps = self.laps();
        self.busy.fetch_sub(1, Ordering::Release);
        drop(laps);
        self.arrived.notify_all();
    }

    fn push(&self, iteration: u32, lap: Lap) {
        self.laps().done.push((iteration, lap));
        self.arrived.notify_all();
    }
}

/// A thread's place in the iterations.
pub struct Track<'a> {
    shared: &'a Shared<'a>,
    role: Role,
}

impl std::fmt::Debug for Track<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Track").field("role", &self.role).finish_non_exhaustive()
    }
}

/// A thread: its role, and what it does on its track once it runs.
pub struct Member<'a> {
    /// What it is there for.
    pub role: Role,
    /// Makes its operation and calls [`Track::run`], exactly once: the others wait for it.
    pub body: Box<dyn FnOnce(Track<'_>) + Send + 'a>,
}

impl std::fmt::Debug for Member<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Member").field("role", &self.role).finish_non_exhaustive()
    }
}

/// The loop. `latency` is only there when asked for: one clock reading per operation.
fn timed<O: Operation>(
    op: &mut O,
    current: &AtomicU32,
    mine: u32,
    limit: u64,
    latency: &mut Option<Histogram<u64>>,
) -> Result<(Instant, Instant), String> {
    let failed = |e: super::engine::Error| e.to_string();
    let start = Instant::now();
    match latency {
        None => {
            while current.load(Ordering::Relaxed) == mine && op.tally().ops < limit {
                op.call().map_err(failed)?;
            }
        }
        Some(histogram) => {
            let mut before = start;
            while current.load(Ordering::Relaxed) == mine && op.tally().ops < limit {
                op.call().map_err(failed)?;
                let now = Instant::now();
                let nanoseconds = now.duration_since(before).as_nanos();
                histogram.saturating_record(u64::try_from(nanoseconds).unwrap_or(u64::MAX));
                before = now;
            }
        }
    }
    Ok((start, Instant::now()))
}

impl<'a> Track<'a> {
    /// Runs all iterations with `op`; `known` says what values may be read back in a generation.
    pub fn run<'v, O: Operation>(self, name: &str, op: Result<O, String>, known: impl Fn(u64) -> Known<'v>) {
        if let Err(message) = &op {
            self.shared.fail(message.clone());
        }
        // All are set up, or none runs.
        self.shared.barrier.wait();
        let Ok(mut op) = op else { return };
        if self.shared.failed.load(Ordering::Relaxed) {
            return;
        }
        if self.shared.timing.synchronized {
            self.run_synchronized(name, &mut op, known);
        } else {
            self.run_free(name, &mut op, known);
        }
    }

    fn limit(&self) -> u64 {
        match self.shared.timing.length {
            Length::Ops(ops) if self.role != Role::Beside => ops,
            _ => u64::MAX,
        }
    }

    fn run_synchronized<'v, O: Operation>(&self, name: &str, op: &mut O, known: impl Fn(u64) -> Known<'v>) {
        let shared = self.shared;
        let mut latency = if shared.timing.latency { histogram() } else { None };
        for mine in 0..shared.timing.iterations {
            let generation = shared.timing.first_generation + u64::from(mine);
            op.start(generation);
            if let Some(h) = &mut latency {
                h.reset();
            }
            shared.barrier.wait();
            if shared.over.load(Ordering::Relaxed) {
                return;
            }
            let times = timed(op, &shared.current, mine, self.limit(), &mut latency)
                .map_err(|message| shared.fail(format!("{name}: {message}")));
            if self.role != Role::Beside {
                shared.finish();
            }
            shared.barrier.wait();
            if let Ok((start, end)) = times {
                let checked = check_tally(name, op.tally())
                    .and_then(|()| op.check(&known(generation)).map_err(|e| format!("{name}: {e}")));
                if let Err(message) = checked {
                    shared.fail(message);
                }
                let lap = Lap { role: self.role, start, end, tally: *op.tally(), latency: latency.clone() };
                shared.push(mine, lap);
            }
            shared.barrier.wait();
        }
    }

    fn run_free<'v, O: Operation>(&self, name: &str, op: &mut O, known: impl Fn(u64) -> Known<'v>) {
        let shared = self.shared;
        let total = shared.timing.iterations;
        let mut latency = if shared.timing.latency { histogram() } else { None };
        let mut mine = 0;
        op.start(shared.timing.first_generation);
        shared.barrier.wait();
        loop {
            if let Some(h) = &mut latency {
                h.reset();
            }
            match timed(op, &shared.current, mine, u64::MAX, &mut latency) {
                Err(message) => {
                    shared.fail(format!("{name}: {message}"));
                    break;
                }
                Ok((start, end)) => {
                    if let Err(message) = check_tally(name, op.tally()) {
                        shared.fail(message);
                    }
                    let lap = Lap { role: self.role, start, end, tally: *op.tally(), latency: latency.clone() };
                    shared.push(mine, lap);
                    // One operation may last longer than an iteration.
                    let now = shared.current.load(Ordering::Relaxed).min(total);
                    for missed in mine + 1..now {
                        let tally = Tally::default();
                        shared.push(missed, Lap { role: self.role, start: end, end, tally, latency: None });
                    }
                    if now >= total {
                        break;
                    }
                    mine = now;
                    op.start(shared.timing.first_generation + u64::from(mine));
                }
            }
        }
        shared.barrier.wait();
        if !shared.failed.load(Ordering::Relaxed) {
            // Others may have got further than this thread.
            let generation = shared.timing.first_generation + u64::from(total.saturating_sub(1));
            if let Err(message) = op.check(&known(generation)) {
                shared.fail(format!("{name}: {message}"));
            }
        }
    }
}

/// Sleeps until `deadline`, or until something failed.
fn sleep_until(deadline: Instant, shared: &Shared<'_>) {
    while !shared.failed.load(Ordering::Relaxed) && !shared.halt.load(Ordering::Relaxed) {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return;
        }
        std::thread::sleep(left.min(NAP));
    }
}

/// Runs all iterations with one thread per member. `report` gets the number of each iteration (from 0) and its laps, all threads' work
/// checked.
///
/// # Errors
/// What failed first: an engine's error, a check, a halt from outside.
pub fn measure(
    members: Vec<Member<'_>>,
    timing: Timing,
    halt: &AtomicBool,
    report: &mut dyn FnMut(u32, Vec<Lap>),
) -> Result<(), String> {
    let measured = members.iter().filter(|m| m.role != Role::Beside).count();
    let measured = u32::try_from(measured).unwrap_or(u32::MAX);
    let count = members.len();
    let shared = Shared {
        timing,
        current: AtomicU32::new(0),
        over: AtomicBool::new(false),
        failed: AtomicBool::new(false),
        busy: AtomicU32::new(0),
        barrier: Barrier::new(count + 1),
        laps: Mutex::default(),
        arrived: Condvar::new(),
        halt,
    };
    std::thread::scope(|scope| {
        for member in members {
            let track = Track { shared: &shared, role: member.role };
            scope.spawn(move || (member.body)(track));
        }
        shared.barrier.wait();
        if shared.failed.load(Ordering::Relaxed) {
            return;
        }
        if timing.synchronized {
            drive_synchronized(&shared, measured, report);
        } else {
            drive_free(&shared, count, report);
        }
    });
    let mut laps = shared.laps();
    match laps.error.take() {
        Some(message) => Err(message),
        None if halt.load(Ordering::Relaxed) => Err("stopped".to_owned()),
        None => Ok(()),
    }
}

fn drive_synchronized(shared: &Shared<'_>, measured: u32, report: &mut dyn FnMut(u32, Vec<Lap>)) {
    for i in 0..shared.timing.iterations {
        shared.busy.store(measured, Ordering::Relaxed);
        shared.barrier.wait();
        match shared.timing.length {
            Length::Seconds(seconds) => {
                let length = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
                if let Some(deadline) = Instant::now().checked_add(length) {
                    sleep_until(deadline, shared);
                }
            }
            Length::Ops(_) => {
                // Woken by the last thread: looking again and again would take time from what is measured.
                let mut laps = shared.laps();
                while shared.busy.load(Ordering::Acquire) > 0
                    && !shared.failed.load(Ordering::Relaxed)
                    && !shared.halt.load(Ordering::Relaxed)
                {
                    laps = shared.arrived.wait_timeout(laps, NAP).unwrap_or_else(PoisonError::into_inner).0;
                }
            }
        }
        shared.current.store(i + 1, Ordering::Relaxed);
        shared.barrier.wait();
        shared.barrier.wait();
        let failed = shared.failed.load(Ordering::Relaxed) || shared.halt.load(Ordering::Relaxed);
        if !failed {
            let laps = shared.laps().done.drain(..).map(|(_, lap)| lap).collect();
            report(i, laps);
        } else {
            shared.over.store(true, Ordering::Relaxed);
            if i + 1 < shared.timing.iterations {
                // They wait at the start of the next iteration.
                shared.barrier.wait();
            }
            return;
        }
    }
}

fn drive_free(shared: &Shared<'_>, count: usize, report: &mut dyn FnMut(u32, Vec<Lap>)) {
    let total = shared.timing.iterations;
    let Length::Seconds(seconds) = shared.timing.length else {
        shared.fail("iterations without a common end need a length in time".to_owned());
        shared.current.store(total, Ordering::Relaxed);
        shared.barrier.wait();
        shared.barrier.wait();
        return;
    };
    shared.barrier.wait();
    let start = Instant::now();
    for i in 0..total {
        let length = Duration::try_from_secs_f64(seconds * f64::from(i + 1)).unwrap_or(Duration::MAX);
        if let Some(deadline) = start.checked_add(length) {
            sleep_until(deadline, shared);
        }
        let failed = || shared.failed.load(Ordering::Relaxed) || shared.halt.load(Ordering::Relaxed);
        if failed() {
            break;
        }
        shared.current.store(i + 1, Ordering::Relaxed);
        let mut laps = shared.laps();
        while laps.done.iter().filter(|(n, _)| *n == i).count() < count && !failed() {
            laps = shared.arrived.wait_timeout(laps, NAP).unwrap_or_else(PoisonError::into_inner).0;
        }
        if failed() {
            break;
        }
        let (mine, later): (Vec<_>, Vec<_>) = laps.done.drain(..).partition(|(n, _)| *n == i);
        laps.done = later;
        drop(laps);
        report(i, mine.into_iter().map(|(_, lap)| lap).collect());
    }
    shared.current.store(total, Ordering::Relaxed);
    shared.barrier.wait();
}
