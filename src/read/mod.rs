//! The front half of the pipe: sources -> lines -> parsers -> what is kept.
//!
//! Inputs are read in parallel, each by its own parsers into its own part; parts are joined in the order of the command line,
//! so that the result does not depend on the number of threads.

mod collect;

use std::io::Read;

use rayon::prelude::*;

pub use collect::Collector;

use crate::base::{Diagnostic, Error, SourceId};
use crate::input::{self, Source};
use crate::model::{Input, SeriesSet, Sink};
use crate::parse::mixed::Mixed;
use crate::parse::{FORMATS, Line};
use crate::pivot::Filter;

/// What to read, and how.
pub struct Request<'a> {
    /// In the order of the command line.
    pub sources: &'a [Source],
    /// One per source.
    pub labels: &'a [String],
    /// Makes the parsers of one input.
    pub parsers: &'a (dyn Fn() -> Mixed + Sync),
    /// Which results are kept.
    pub filter: &'a Filter,
    /// Bytes read at a time.
    pub block: usize,
}

/// Reads all inputs.
///
/// # Errors
/// The first input, in order, that cannot be read; else the first that is empty or holds no result. With it what was read of all of them.
pub fn read(request: &Request<'_>) -> Result<SeriesSet, (Error, Box<SeriesSet>)> {
    let parts: Vec<_> = request
        .sources
        .par_iter()
        .enumerate()
        .map(|(i, source)| {
            read_one(request, SourceId(u32::try_from(i).unwrap_or(u32::MAX)), source, &request.labels[i])
        })
        .collect();
    let mut set = SeriesSet::default();
    let mut failure = None;
    for (part, error) in parts {
        collect::join(&mut set, part);
        let unread = |e: &Error| matches!(e, Error::Read { .. });
        failure = match (failure, error) {
            (Some(before), Some(e)) if unread(&e) && !unread(&before) => Some(e),
            (before, e) => before.or(e),
        };
    }
    match failure {
        None => Ok(set),
        Some(error) => Err((error, Box::new(set))),
    }
}

fn read_one(request: &Request<'_>, id: SourceId, source: &Source, label: &str) -> (SeriesSet, Option<Error>) {
    let input = Input { label: label.to_owned(), path: source.name(), formats: Vec::new(), results: 0, skipped: 0 };
    let mut collector = Collector::new(id, input, request.filter);
    let error = fill(request, source, &mut collector).err();
    (collector.finish(), error)
}

fn fill(request: &Request<'_>, source: &Source, collector: &mut Collector<'_>) -> Result<(), Error> {
    let fail = |e| Error::Read { name: source.name(), source: e };
    let mut bytes: Box<dyn Read + Send> = input::decode(source.open()?);
    let mut parsers = (request.parsers)();
    let mut first: Option<String> = None;
    let mut unclaimed = 0u64;
    // A last line without an end: its number, and the results before it.
    let mut open: Option<(u64, u64)> = None;
    let read = input::read_lines(&mut bytes, request.block, |line| {
        collector.at(line.number, line.removed);
        if line.cut {
            collector.diagnose(
                Diagnostic::warning(
                    "line-cut",
                    format!("a line is longer than {} MiB; its rest was not read", input::LONGEST_LINE >> 20),
                )
                .at_line(line.number),
            );
        }
        if !line.ended && !looks_whole(line.bytes) {
            open = Some((line.number, collector.results()));
        }
        if !parsers.line(Line { number: line.number, bytes: line.bytes }, collector) {
            unclaimed += 1;
            open = None;
            if first.is_none() {
                let text = String::from_utf8_lossy(&line.bytes[..line.bytes.len().min(240)]);
                if !text.trim().is_empty() {
                    first = Some(text.trim().chars().take(60).collect());
                }
            }
        }
    });
    collector.at(0, 0);
    parsers.finish(collector);
    collector.formats(parsers.found());
    if let Some((line, results)) = open
        && collector.results() > results
    {
        let message =
            "the last line has no line end: if the input was cut off there, its last value or unit is not whole";
        collector.diagnose(Diagnostic::warning("no-line-end", message).at_line(line));
    }
    let total = read.map_err(fail)?;
    if total == 0 {
        return Err(Error::Empty { name: source.name() });
    }
    if unclaimed > 0 {
        let lines = if unclaimed == 1 {
            "line was not a result".to_owned()
        } else {
            format!("{unclaimed} lines were not results")
        };
        collector.diagnose(Diagnostic::note("other-lines", lines));
    }
    if parsers.found().is_empty() {
        let mut names: Vec<_> = FORMATS.iter().map(|f| f.name).collect();
        names.dedup();
        let begins = first.map_or(String::new(), |f| format!("; it begins with \"{}\"", f.escape_debug()));
        return Err(Error::NoResults {
            message: format!(
                "{}: no benchmark results found; looks like none of: {}{begins}",
                source.name(),
                names.join(", ")
            ),
            hint: Some("-v says what was noticed on the way; --from FORMAT reads it as that format".into()),
        });
    }
    Ok(())
}

/// A line that ends so was not cut within a value: a closed bracket, a unit that nothing can follow.
fn looks_whole(line: &[u8]) -> bool {
    let line = line.trim_ascii_end();
    [&b")"[..], b"]", b"}", b">", b"|", b"/op", b"MB/s"].iter().any(|end| line.ends_with(end))
}
