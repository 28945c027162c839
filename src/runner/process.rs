//! The parent's side of a fork: start a child, pass its events on, notice when it dies, hangs, or is no longer wanted.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::child::Task;
use super::fork::Event;

/// How a child is started.
#[derive(Clone, Debug)]
pub struct ChildCommand {
    /// This program.
    pub program: PathBuf,
    /// What makes it a child: `run --child`.
    pub arguments: Vec<OsString>,
}

impl ChildCommand {
    /// This very program.
    ///
    /// # Errors
    /// The system's.
    pub fn this_program() -> std::io::Result<Self> {
        Ok(ChildCommand { program: std::env::current_exe()?, arguments: vec!["run".into(), "--child".into()] })
    }
}

/// How a child ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It did all it was asked.
    Done,
    /// It did not, and why.
    Failed(String),
    /// It was told to stop.
    Interrupted,
}

/// Lines of the child's standard error that are kept.
const LAST_WORDS: usize = 8;
/// Time that a child gets to stop by itself.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often the parent looks whether it should stop.
const GLANCE: Duration = Duration::from_millis(50);

struct Running {
    child: Child,
    stdin: Option<ChildStdin>,
    events: Receiver<Event>,
    words: Option<JoinHandle<VecDeque<String>>>,
}

fn start(command: &ChildCommand, task: &Task) -> Result<Running, String> {
    let mut c = Command::new(&command.program);
    c.args(&command.arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    #[cfg(unix)]
    {
        use std::os::unix::process::CommandExt;
        // A group of its own: Ctrl-C goes to the parent, which then decides.
        c.process_group(0);
    }
    let mut child = c.spawn().map_err(|e| format!("cannot start {}: {e}", command.program.display()))?;
    let mut stdin = child.stdin.take();
    let stdout = child.stdout.take();
    let stderr = child.stderr.take();
    let line = serde_json::to_string(task).map_err(|e| e.to_string())?;
    if let Some(pipe) = &mut stdin {
        // A child that dies before it reads is found out below.
        let _ = writeln!(pipe, "{line}").and_then(|()| pipe.flush());
    }
    let (sender, events) = mpsc::channel();
    std::thread::spawn(move || {
        let Some(stdout) = stdout else { return };
        // Lines that are no events are a library's chatter.
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            if let Ok(event) = serde_json::from_str::<Event>(&line)
                && sender.send(event).is_err()
            {
                return;
            }
        }
    });
    let words = std::thread::spawn(move || {
        let mut last = VecDeque::new();
        let Some(stderr) = stderr else { return last };
        // Cut a line without an end: this is memory of the parent.
        let mut reader = BufReader::new(stderr);
        let mut line = Vec::new();
        while reader.by_ref().take(4096).read_until(b'\n', &mut line).is_ok_and(|n| n > 0) {
            let text: String = String::from_utf8_lossy(&line)
                .trim_end()
                .chars()
                .map(|c| if c.is_control() { ' ' } else { c })
                .collect();
            if !text.is_empty() {
                if last.len() == LAST_WORDS {
                    last.pop_front();
                }
                last.push_back(text);
            }
            line.clear();
        }
        last
    });
    Ok(Running { child, stdin, events, words: Some(words) })
}

impl Running {
    /// Waits for the end, at most `patience`, then kills.
    fn wait(&mut self, patience: Duration) -> Option<ExitStatus> {
        let deadline = Instant::now() + patience;
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) => return Some(status),
                Ok(None) if Instant::now() < deadline => std::thread::sleep(Duration::from_millis(5)),
                _ => {
                    let _ = self.child.kill();
                    let _ = self.child.wait();
                    return None;
                }
            }
        }
    }

    fn last_words(&mut self) -> String {
        let words = self.words.take().and_then(|w| w.join().ok()).unwrap_or_default();
        words.into_iter().map(|w| format!("\n    {w}")).collect()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // On an early way out: nothing may go on measuring.
        if matches!(self.child.try_wait(), Ok(None)) {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

fn describe(status: ExitStatus) -> String {
    #[cfg(unix)]
    {
        use std::os::unix::process::ExitStatusExt;
        if let Some(signal) = status.signal() {
            let name = match signal {
                4 => " (SIGILL)",
                6 => " (SIGABRT)",
                7 => " (SIGBUS)",
                8 => " (SIGFPE)",
                9 => " (SIGKILL)",
                11 => " (SIGSEGV)",
                15 => " (SIGTERM)",
                24 => " (SIGXCPU)",
                25 => " (SIGXFSZ)",
                _ => "",
            };
            return format!("was killed by signal {signal}{name}");
        }
    }
    match status.code() {
        Some(code) => format!("exited with code {code} without a result"),
        None => "ended without a result".to_owned(),
    }
}

/// Runs a child to its end. `silence` is the longest time without an event before it counts as hanging. `stop` is asked again and again.
pub fn run(
    command: &ChildCommand,
    task: &Task,
    silence: Duration,
    stop: &dyn Fn() -> bool,
    on_event: &mut dyn FnMut(Event),
) -> Ending {
    let mut running = match start(command, task) {
        Ok(running) => running,
        Err(message) => return Ending::Failed(message),
    };
    let mut heard = Instant::now();
    loop {
        if stop() {
            // Closing the pipe asks it to stop, remove its database and go.
            running.stdin = None;
            running.wait(PATIENCE);
            return Ending::Interrupted;
        }
        match running.events.recv_timeout(GLANCE) {
            Ok(Event::Done) => {
                running.stdin = None;
                // What a library does on its way out is no longer our business.
                running.wait(PATIENCE);
                return Ending::Done;
            }
            Ok(Event::Failed { message }) => {
                running.stdin = None;
                running.wait(PATIENCE);
                return Ending::Failed(message);
            }
            Ok(event) => {
                heard = Instant::now();
                on_event(event);
            }
            Err(RecvTimeoutError::Timeout) if heard.elapsed() > silence => {
                let _ = running.child.kill();
                running.wait(PATIENCE);
                return Ending::Failed(format!(
                    "no sign of life for {} s; killed{}",
                    silence.as_secs(),
                    running.last_words()
                ));
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                let status = running.wait(PATIENCE);
                let how = status.map_or_else(|| "closed its output and hung".to_owned(), describe);
                return Ending::Failed(format!("the process {how}{}", running.last_words()));
            }
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::runner::child::{ChildEngine, Work};

    fn task() -> Task {
        Task { engine: ChildEngine::Memory, work: Work::Probe { path: "p".into() }, scratch: "s".into() }
    }

    /// A child that is a shell script.
    fn shell(script: &str) -> ChildCommand {
        ChildCommand { program: "/bin/sh".into(), arguments: vec!["-c".into(), script.into()] }
    }

    fn run_shell(script: &str, silence: Duration, stop: &dyn Fn() -> bool) -> (Ending, Vec<Event>) {
        let mut events = Vec::new();
        let ending = run(&shell(script), &task(), silence, stop, &mut |e| events.push(e));
        (ending, events)
    }

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn events_are_passed_on_and_chatter_is_not() {
        let script = r#"read task; echo chatter; echo '{"event":"settling"}'; echo '{"event":"done"}'"#;
        assert_eq!(run_shell(script, LONG, &|| false), (Ending::Done, vec![Event::Settling]));
    }

    #[test]
    fn deaths_are_described_with_the_last_words() {
        let (ending, events) =
            run_shell(r#"echo '{"event":"settling"}'; echo "Assertion failed" >&2; kill -ABRT $$"#, LONG, &|| false);
        assert_eq!(
            ending,
            Ending::Failed("the process was killed by signal 6 (SIGABRT)\n    Assertion failed".to_owned())
        );
        assert_eq!(events.len(), 1);
        let (ending, _) = run_shell("exit 7", LONG, &|| false);
        assert_eq!(ending, Ending::Failed("the process exited with code 7 without a result".to_owned()));
        let missing = ChildCommand { program: "/no/such/program".into(), arguments: Vec::new() };
        let ending = run(&missing, &task(), LONG, &|| false, &mut |_| {});
        assert!(matches!(ending, Ending::Failed(m) if m.starts_with("cannot start /no/such/program")));
    }

    #[test]
    fn a_silent_child_is_killed() {
        let start = Instant::now();
        let (ending, _) = run_shell("exec sleep 100", Duration::from_millis(100), &|| false);
        assert!(matches!(ending, Ending::Failed(m) if m.starts_with("no sign of life")));
        assert!(start.elapsed() < Duration::from_secs(30));
    }

    #[test]
    fn a_child_that_is_no_longer_wanted_is_asked_by_the_end_of_its_input() {
        let dir = tempfile::tempdir().unwrap();
        let gone = dir.path().join("gone");
        // `cat` ends when the pipe closes; a child that is killed writes nothing.
        let start = Instant::now();
        let script = format!("cat >/dev/null; echo gone > {}", gone.display());
        let (ending, _) = run_shell(&script, LONG, &|| start.elapsed() > Duration::from_millis(200));
        assert_eq!(ending, Ending::Interrupted);
        assert!(gone.exists());
    }
}
