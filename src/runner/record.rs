//! The record of a run: lines appended to a file as they come, and what such a file says when the run is continued.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use super::error::{Error, Result};
use super::plan::Plan;
use crate::model::run::{ForkEnd, RunHeader, RunLine, RunSample, RunWarning, SCHEMA};

/// A file that is appended to, one whole line at a time.
#[derive(Debug)]
pub struct Recorder {
    file: File,
    path: PathBuf,
}

fn error(path: &Path, message: impl Into<String>, hint: Option<&str>) -> Error {
    Error::Record { path: path.to_owned(), message: message.into(), hint: hint.map(str::to_owned) }
}

impl Recorder {
    /// A new record at `path`.
    ///
    /// # Errors
    /// Something is there already; the system's errors.
    pub fn create(path: &Path) -> Result<Recorder> {
        if path.metadata().is_ok_and(|m| m.is_file() && m.len() > 0) {
            return Err(error(
                path,
                "exists already; a record is never written over",
                Some("--resume FILE continues it; or name another file"),
            ));
        }
        let file =
            OpenOptions::new().append(true).create(true).open(path).map_err(|e| error(path, e.to_string(), None))?;
        Ok(Recorder { file, path: path.to_owned() })
    }

    /// The record at `path`, to go on after byte `end`.
    fn reopen(path: &Path, end: u64) -> Result<Recorder> {
        let failed = |e: std::io::Error| error(path, e.to_string(), None);
        let file = OpenOptions::new().append(true).open(path).map_err(failed)?;
        file.set_len(end).map_err(failed)?;
        Ok(Recorder { file, path: path.to_owned() })
    }

    /// Appends `line` in one write.
    ///
    /// # Errors
    /// The system's.
    pub fn write(&mut self, line: &RunLine) -> Result<()> {
        let failed = |message: String| error(&self.path, format!("cannot append: {message}"), None);
        let text = line.to_text().map_err(|e| failed(e.to_string()))?;
        self.file.write_all(text.as_bytes()).map_err(|e| failed(e.to_string()))
    }
}

/// What a record holds.
#[derive(Debug)]
pub struct Recorded {
    /// Its head.
    pub header: RunHeader,
    /// What is to be done in all.
    pub plan: Plan,
    /// Samples of forks that are complete.
    pub samples: Vec<RunSample>,
    /// Forks that are complete.
    pub done: Vec<ForkEnd>,
    /// Benchmark, fork and highest attempt of those that are not.
    pub attempts: Vec<(String, u32, u32)>,
    /// Warnings so far.
    pub warnings: Vec<RunWarning>,
    /// The last line was cut off.
    pub torn: bool,
}

/// Reads the record at `path` and opens it to go on.
///
/// # Errors
/// It is no record, or one of another schema.
pub fn resume(path: &Path) -> Result<(Recorded, Recorder)> {
    let bytes = std::fs::read(path).map_err(|e| error(path, e.to_string(), None))?;
    let (recorded, end) = read(path, &bytes)?;
    Ok((recorded, Recorder::reopen(path, end)?))
}

/// Reads a record, and the length of its whole lines.
fn read(path: &Path, bytes: &[u8]) -> Result<(Recorded, u64)> {
    let whole = memchr::memrchr(b'\n', bytes).map_or(0, |at| at + 1);
    let mut lines = bytes[..whole].split(|&b| b == b'\n').filter(|l| !l.trim_ascii().is_empty()).enumerate();
    let not_ours =
        |message: String| error(path, message, Some("--resume takes a file that --record of abstat run began"));
    let header = match lines.next().map(|(_, l)| serde_json::from_slice::<RunLine>(l)) {
        Some(Ok(RunLine::Run(header))) => *header,
        _ => return Err(not_ours("expected the head of a record in the first line".to_owned())),
    };
    if header.schema != SCHEMA {
        return Err(not_ours(format!(
            "expected schema {SCHEMA}, found {} (written by {})",
            header.schema, header.tool
        )));
    }
    let plan: Plan = serde_json::from_value(header.plan.clone())
        .map_err(|e| not_ours(format!("its plan cannot be read (written by {}): {e}", header.tool)))?;
    let mut out = Recorded {
        header,
        plan,
        samples: Vec::new(),
        done: Vec::new(),
        attempts: Vec::new(),
        warnings: Vec::new(),
        torn: whole < bytes.len(),
    };
    // Samples of the fork that is being read.
    let mut pending: Vec<RunSample> = Vec::new();
    for (number, line) in lines {
        let line = serde_json::from_slice::<RunLine>(line)
            .map_err(|e| not_ours(format!("line {} is damaged: {e}", number + 1)))?;
        match line {
            RunLine::Run(_) => return Err(not_ours(format!("line {} is the head of another record", number + 1))),
            RunLine::Fork(start) => {
                pending.clear();
                match out.attempts.iter_mut().find(|(b, f, _)| *b == start.benchmark && *f == start.fork) {
                    Some((_, _, attempt)) => *attempt = start.attempt,
                    None => out.attempts.push((start.benchmark, start.fork, start.attempt)),
                }
            }
            RunLine::Sample(sample) => pending.push(*sample),
            RunLine::End(end) if end.ok => {
                out.samples.append(&mut pending);
                out.attempts.retain(|(b, f, _)| !(*b == end.benchmark && *f == end.fork));
                out.done.push(end);
            }
            RunLine::End(_) => pending.clear(),
            RunLine::Warning(w) => out.warnings.push(w),
        }
    }
    Ok((out, whole as u64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::run::ForkStart;
    use crate::model::run::tests::sample;
    use crate::runner::spec::Grid;

    fn head() -> RunLine {
        let plan = Plan::new(Grid::default().expand().unwrap());
        RunLine::Run(Box::new(RunHeader {
            schema: SCHEMA,
            plan: serde_json::to_value(plan).unwrap(),
            ..RunHeader::default()
        }))
    }

    fn start(fork: u32, attempt: u32) -> RunLine {
        RunLine::Fork(ForkStart { benchmark: sample().benchmark, fork, attempt })
    }

    fn end(fork: u32, attempt: u32, ok: bool) -> RunLine {
        RunLine::End(ForkEnd { benchmark: sample().benchmark, fork, attempt, ok, message: None })
    }

    fn of(fork: u32, attempt: u32) -> RunLine {
        RunLine::Sample(Box::new(RunSample { fork, attempt, ..sample() }))
    }

    #[test]
    fn a_record_is_read_back_and_continued_after_its_last_whole_line() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("r.jsonl");
        let mut recorder = Recorder::create(&path).unwrap();
        let lines = [
            head(),
            start(1, 1),
            of(1, 1),
            of(1, 1),
            end(1, 1, true),
            start(2, 1),
            of(2, 1),
            end(2, 1, false),
            start(3, 1),
            of(3, 1),
        ];
        for line in &lines {
            recorder.write(line).unwrap();
        }
        // The process died in the middle of a line.
        recorder.file.write_all(b"{\"abstat\":\"sam").unwrap();
        drop(recorder);
        assert!(Recorder::create(&path).unwrap_err().hint().unwrap().contains("--resume"));

        let (recorded, mut recorder) = resume(&path).unwrap();
        assert!(recorded.torn);
        assert_eq!((recorded.samples.len(), recorded.done.len()), (2, 1));
        let attempts: Vec<(u32, u32)> = recorded.attempts.iter().map(|(_, f, a)| (*f, *a)).collect();
        assert_eq!(attempts, [(2, 1), (3, 1)]);
        for line in [start(3, 2), of(3, 2), end(3, 2, true)] {
            recorder.write(&line).unwrap();
        }
        let (recorded, _) = resume(&path).unwrap();
        assert!(!recorded.torn);
        assert_eq!((recorded.samples.len(), recorded.done.len()), (3, 2));
        assert_eq!(recorded.plan, Plan::new(Grid::default().expand().unwrap()));
    }

    #[test]
    fn what_is_no_record_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("notes.txt");
        std::fs::write(&path, "dear diary\n").unwrap();
        let text = resume(&path).unwrap_err().to_string();
        assert!(text.contains("expected the head of a record"), "{text}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "dear diary\n");
        let damaged = head().to_text().unwrap() + "dear diary\n" + &of(1, 1).to_text().unwrap();
        std::fs::write(&path, &damaged).unwrap();
        assert!(resume(&path).unwrap_err().to_string().contains("line 2 is damaged"));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), damaged);
        assert!(resume(&dir.path().join("missing")).is_err());
    }
}
