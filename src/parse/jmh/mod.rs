//! JMH in every shape people have it: console logs, result tables in any text, JSON, CSV and SCSV, LaTeX.
//!
//! Source of the formats: JMH's formatters of 0.1 to 1.38 (`org.openjdk.jmh.results.format`, `...runner.format`), and their output.
//!
//! Supported: raw iterations of logs with their fork ([`log`]); tables of all header generations, pasted anywhere, on one line, between
//! pipes, without a header ([`table`], [`text`]); JSON with `rawData` and `rawDataHistogram` ([`json`]); CSV and SCSV in any locale
//! ([`csv`]); LaTeX ([`latex`]).
//!
//! Unsupported: the text of profilers (`:stack`), histograms drawn in logs, single calls of mode `sample` in logs (not printed).
//!
//! One parser reads all of them, because one stream may hold several that speak of the same results: a log ends in a table.
//! Keys of a result: `.label`, `.mode`, parameters, then for text `.table`, `.heading`, `.group`. Of equal keys in one table or file the
//! second gets `#2` after its name. Settings carry JMH's JSON names (`jmhVersion`, `threads`, `forks`, `jvmArgs`, ...).

mod csv;
mod decode;
mod json;
mod label;
mod latex;
mod log;
mod number;
mod table;
#[cfg(test)]
mod tests;
mod text;
mod unit;

use std::borrow::Cow;
use std::fmt;

use hashbrown::HashMap;
use smallvec::SmallVec;

use super::{Claim, Line, RecordParser};
use crate::base::Diagnostic;
use crate::model::jmh_names;
use crate::model::{Reading, Record, Scheme, Settings, Sink};
use crate::units::UnitId;
use unit::{Factor, Mode, Units};

/// Level of the errors that JMH prints.
const CONFIDENCE: f64 = 0.999;

/// The parser.
#[derive(Default)]
pub struct Jmh {
    json: json::Json,
    csv: csv::Csv,
    latex: latex::Latex,
    text: text::Text,
    units: Units,
    told: Told,
}

impl Jmh {
    /// A parser for one stream.
    pub fn new() -> Self {
        Self::default()
    }
}

impl RecordParser for Jmh {
    fn line(&mut self, line: Line<'_>, out: &mut dyn Sink) -> Claim {
        let out = &mut Output { sink: out, units: &mut self.units, told: &mut self.told };
        let mine = self.json.line(line, out)
            || self.csv.line(line, out)
            || self.latex.line(line, out)
            || self.text.line(line, out);
        if mine { Claim::Mine } else { Claim::No }
    }

    fn finish(&mut self, out: &mut dyn Sink) {
        let out = &mut Output { sink: out, units: &mut self.units, told: &mut self.told };
        self.json.finish(out);
        self.csv.finish(out);
        self.latex.finish(out);
        self.text.finish(out);
        let repeated = out.told.repeated;
        if repeated > 0 {
            out.diagnose(Diagnostic::warning(
                "told-twice",
                format!(
                    "{} in two formats in this input: read once",
                    counted(repeated, "result stands", "results stand")
                ),
            ));
        }
    }
}

/// The sink, and what all formats share.
struct Output<'a> {
    sink: &'a mut dyn Sink,
    units: &'a mut Units,
    told: &'a mut Told,
}

impl Output<'_> {
    /// Number and factor of a printed unit.
    fn unit(&mut self, printed: &str, mode: Option<Mode>, label: &str) -> (UnitId, Factor) {
        self.units.get(printed, mode, label, self.sink)
    }

    fn diagnose(&mut self, diagnostic: Diagnostic) {
        self.sink.diagnose(diagnostic);
    }

    /// Pushes a result.
    fn push(
        &mut self,
        id: &Identity<'_>,
        place: Place<'_>,
        settings: &Settings,
        line: u64,
        block: Option<u32>,
        readings: &[(UnitId, Reading)],
    ) {
        let own = [(".label", id.label), (".mode", id.mode)];
        let places = [(".table", place.table), (".heading", place.heading), (".group", place.group)];
        // A broken header may leave a parameter without a name; its value still tells results apart.
        let keys: SmallVec<[(&str, &str); 8]> = own
            .iter()
            .chain(id.params)
            .chain(&places)
            .map(|&(k, v)| (if k.is_empty() { "unnamed" } else { k }, v))
            .filter(|(_, v)| !v.is_empty())
            .collect();
        let name = id.name;
        self.sink.record(&Record {
            line,
            name,
            scheme: Scheme::Jmh,
            keys: &keys,
            settings,
            block,
            readings,
            column: None,
        });
    }
}

/// What a result is called.
struct Identity<'a> {
    name: &'a str,
    label: &'a str,
    /// Empty where the input does not tell.
    mode: &'a str,
    /// Values are not empty.
    params: &'a [(&'a str, &'a str)],
}

impl fmt::Display for Identity<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)?;
        if !self.label.is_empty() {
            write!(f, ":{}", self.label)?;
        }
        for (i, (k, v)) in self.params.iter().enumerate() {
            write!(f, "{}{k}={v}", if i == 0 { " (" } else { ", " })?;
        }
        if self.params.is_empty() { Ok(()) } else { f.write_str(")") }
    }
}

/// `1 row`, `2 rows`.
fn counted(n: u64, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

/// Formats that may stand in one stream and speak of the same run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    /// Log or table.
    Text,
    Json,
    Csv,
}

/// Results read so far. A log that is followed by the JSON of its run tells all results twice; what has the same name, parameters and value
/// in another format is the same result.
#[derive(Debug, Default)]
struct Told {
    seen: HashMap<String, SmallVec<[Teller; 1]>>,
    repeated: u64,
    /// Room for the next key.
    key: String,
}

/// Results of one name and parameters that are remembered; more are repetitions.
const TELLERS: usize = 32;

#[derive(Debug)]
struct Teller {
    source: Source,
    name: Box<str>,
    value: f64,
    resolution: f64,
}

impl Told {
    /// Whether another format told this result before; else remembers it. `value` in base units, known to `resolution`.
    fn again(&mut self, source: Source, id: &Identity<'_>, value: f64, resolution: f64) -> bool {
        let mut params: SmallVec<[_; 8]> = id.params.into();
        params.sort_unstable();
        write_key(&mut self.key, &[label::method(id.name), id.label, id.mode], &params);
        let tellers = self.seen.entry_ref(self.key.as_str()).or_default();
        let same = |t: &Teller| {
            t.source != source
                && jmh_names::same(&t.name, id.name)
                && (t.value - value).abs() <= t.resolution + resolution + 1e-9 * value.abs()
        };
        if tellers.iter().any(same) {
            self.repeated += 1;
            return true;
        }
        if tellers.len() >= TELLERS {
            return false;
        }
        tellers.push(Teller { source, name: id.name.into(), value, resolution });
        false
    }
}

/// Makes `key` of what identifies a result.
fn write_key(key: &mut String, head: &[&str], params: &[(&str, &str)]) {
    key.clear();
    for &part in head.iter().chain(params.iter().flat_map(|(k, v)| [k, v])) {
        key.push_str(part);
        key.push('\0');
    }
}

/// Where a result of a text stands; empty parts are left out.
#[derive(Clone, Copy, Debug, Default)]
struct Place<'a> {
    table: &'a str,
    heading: &'a str,
    group: &'a str,
}

/// How often each identity occurred, to tell repeated results apart.
#[derive(Debug, Default)]
struct Repeats {
    seen: HashMap<String, u32>,
    /// Room for the next key.
    key: String,
}

impl Repeats {
    /// The name under which the next result of this identity goes: `#2` after the second, and so on.
    fn name<'a>(&mut self, id: &Identity<'a>, extra: &str) -> Cow<'a, str> {
        write_key(&mut self.key, &[id.name, id.label, id.mode, extra], id.params);
        let count = self.seen.entry_ref(self.key.as_str()).or_insert(0);
        *count += 1;
        if *count == 1 { Cow::Borrowed(id.name) } else { Cow::Owned(format!("{}#{count}", id.name)) }
    }

    fn clear(&mut self) {
        self.seen.clear();
    }
}
