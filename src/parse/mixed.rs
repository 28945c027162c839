//! Reading an input whose format is not given, or changes on the way.

use super::go::{Go, Mode};
use super::go_test_json::GoTestJson;
use super::{Claim, FORMATS, Format, Line, RecordParser};
use crate::base::Diagnostic;
use crate::model::{Record, Sink};
use crate::units::{Unit, UnitId};

/// All parsers of a list of formats, offered each line until one claims it.
pub struct Mixed {
    parsers: Vec<(&'static Format, Box<dyn RecordParser>)>,
    /// The parser that claimed the last line: asked first, so that a line in the middle of a format stays with it.
    active: usize,
    /// Names of formats that gave results, in order of first result.
    found: Vec<&'static str>,
}

impl Mixed {
    /// Parsers of the formats named `only`, or of all of them. `None` when there is no such format.
    pub fn new(only: Option<&str>) -> Option<Self> {
        let parsers: Vec<_> =
            FORMATS.iter().filter(|f| only.is_none_or(|name| name == f.name)).map(|f| (f, (f.parser)())).collect();
        (!parsers.is_empty()).then_some(Mixed { parsers, active: 0, found: Vec::new() })
    }

    /// Parsers of Go's two formats that take settings and units as benchstat does.
    pub fn drop_in() -> Self {
        let go = |f: &&Format| f.name == "go";
        let parsers: [Box<dyn RecordParser>; 2] =
            [Box::new(GoTestJson::new(Mode::DropIn)), Box::new(Go::new(Mode::DropIn))];
        Mixed { parsers: FORMATS.iter().filter(go).zip(parsers).collect(), active: 0, found: Vec::new() }
    }

    /// Names of the formats that gave results.
    pub fn found(&self) -> &[&'static str] {
        &self.found
    }

    /// Offers a line to the parsers. Returns whether one of them claimed it.
    pub fn line(&mut self, line: Line<'_>, out: &mut dyn Sink) -> bool {
        if self.offer(self.active, line, out) {
            return true;
        }
        for i in 0..self.parsers.len() {
            if i != self.active && self.offer(i, line, out) {
                self.active = i;
                return true;
            }
        }
        false
    }

    fn offer(&mut self, i: usize, line: Line<'_>, out: &mut dyn Sink) -> bool {
        let (format, parser) = &mut self.parsers[i];
        let mut watch = Watch { out, results: false };
        let claim = parser.line(line, &mut watch);
        if watch.results {
            note(&mut self.found, format.name);
        }
        claim == Claim::Mine
    }

    /// The input ended.
    pub fn finish(&mut self, out: &mut dyn Sink) {
        for (format, parser) in &mut self.parsers {
            let mut watch = Watch { out, results: false };
            parser.finish(&mut watch);
            if watch.results {
                note(&mut self.found, format.name);
            }
        }
    }
}

fn note(found: &mut Vec<&'static str>, name: &'static str) {
    if !found.contains(&name) {
        found.push(name);
    }
}

/// Passes everything on and remembers whether there was a result.
struct Watch<'a> {
    out: &'a mut dyn Sink,
    results: bool,
}

impl Sink for Watch<'_> {
    fn unit(&mut self, unit: &Unit) -> UnitId {
        self.out.unit(unit)
    }
    fn record(&mut self, record: &Record<'_>) {
        self.results = true;
        self.out.record(record);
    }
    fn unit_metadata(&mut self, unit: &str, key: &str, value: &str) -> Result<(), String> {
        self.out.unit_metadata(unit, key, value)
    }
    fn diagnose(&mut self, diagnostic: Diagnostic) {
        self.out.diagnose(diagnostic);
    }
}
