//! The child's side of a fork: one task from standard input, events as JSON lines on standard output.
//!
//! The parent keeps standard input open as long as it lives. When it closes, the child stops at once, removes its database and exits: a
//! killed parent leaves nothing that runs and nothing that fills the disk.

use std::io::{self, BufRead, Read, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::{Deserialize, Serialize};

use super::engine::{Facts, Library, MemoryEngine, RocksEngine};
use super::fork::{self, Event, Request};
use super::spec::{Benchmark, Op};

/// Which engine a child loads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ChildEngine {
    /// The map in memory.
    Memory,
    /// A shared library.
    Library(PathBuf),
}

/// What a child is asked to do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Work {
    /// Open a database in this directory, which is the parent's, and say what the engine is.
    Probe {
        /// Nothing may be there.
        path: PathBuf,
    },
    /// Measure.
    Fork(Box<Request>),
}

/// The line on standard input.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Task {
    /// What to load.
    pub engine: ChildEngine,
    /// What to do.
    pub work: Work,
    /// The parent's own directory, for the child to remove should the parent vanish.
    pub scratch: PathBuf,
}

/// Runs the child: `abstat run --child`. Exit code 0 when the last event was told, whatever it says.
pub fn main() -> ExitCode {
    // A panic in one thread would leave the others waiting at their barrier for ever.
    let print = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        print(info);
        std::process::abort();
    }));
    let mut line = String::new();
    let mut input = io::stdin().lock();
    let task: Task = match input.read_line(&mut line).map_err(|e| e.to_string()) {
        Ok(0) => return ExitCode::from(2),
        Ok(_) => match serde_json::from_str(&line) {
            Ok(task) => task,
            Err(e) => return refuse(&format!("bad task: {e}")),
        },
        Err(e) => return refuse(&e),
    };
    drop(input);
    static HALT: AtomicBool = AtomicBool::new(false);
    std::thread::spawn(|| {
        // Nothing more is sent: this returns when the parent closes the pipe or dies.
        let _ = io::copy(&mut io::stdin().lock().by_ref(), &mut io::sink());
        HALT.store(true, Ordering::Relaxed);
    });
    let mut out = io::stdout().lock();
    let mut tell = |event: &Event| -> bool {
        let told = serde_json::to_string(event)
            .map_err(io::Error::other)
            .and_then(|text| writeln!(out, "{text}").and_then(|()| out.flush()));
        if told.is_err() {
            HALT.store(true, Ordering::Relaxed);
        }
        told.is_ok()
    };
    let last = match work(&task, &HALT, &mut |event| {
        tell(&event);
    }) {
        Ok(()) => Event::Done,
        Err(message) => Event::Failed { message },
    };
    // Once it has heard the last event the parent closes the pipe as a matter of course: only before that it means that it is gone.
    let alone = HALT.load(Ordering::Relaxed);
    if !tell(&last) || alone {
        super::scratch::remove(&task.scratch);
    }
    ExitCode::SUCCESS
}

fn refuse(message: &str) -> ExitCode {
    let event = Event::Failed { message: message.to_owned() };
    if let Ok(text) = serde_json::to_string(&event) {
        let _ = writeln!(io::stdout(), "{text}");
    }
    ExitCode::from(2)
}

fn work(task: &Task, halt: &AtomicBool, tell: &mut dyn FnMut(Event)) -> Result<(), String> {
    match &task.engine {
        ChildEngine::Memory => match &task.work {
            Work::Probe { .. } => {
                tell(Event::Opened { facts: Facts { version: Some("memory".to_owned()), compression: None } });
                Ok(())
            }
            Work::Fork(request) => fork::run(&MemoryEngine, request, halt, tell),
        },
        ChildEngine::Library(path) => {
            let engine = RocksEngine::new(Library::load(path).map_err(|e| e.to_string())?);
            match &task.work {
                Work::Probe { path } => {
                    use super::engine::{Database, Engine};
                    let db =
                        engine.open(&fork::open_options(&Benchmark::new(Op::Get), path)).map_err(|e| e.to_string())?;
                    tell(Event::Opened { facts: db.facts() });
                    Ok(())
                }
                Work::Fork(request) => fork::run(&engine, request, halt, tell),
            }
        }
    }
}
