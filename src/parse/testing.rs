//! A sink that keeps everything, for the tests of parsers.

use super::{Claim, Line, RecordParser};
use crate::base::Diagnostic;
use crate::model::{Reading, Record, Scheme, Sink};
use crate::units::{Unit, UnitId};

/// One reading with everything around it, owned.
#[derive(Clone, Debug, PartialEq)]
pub struct Kept {
    pub line: u64,
    pub name: String,
    pub scheme: Scheme,
    pub keys: Vec<(String, String)>,
    pub settings: Vec<(String, String)>,
    pub block: Option<u32>,
    pub column: Option<String>,
    pub unit: Unit,
    pub reading: Reading,
}

impl Kept {
    /// The value of one of the result's keys.
    pub fn key(&self, key: &str) -> Option<&str> {
        self.keys.iter().find(|(k, _)| k == key).map(|(_, v)| v.as_str())
    }

    /// The sample's value, if it is one.
    pub fn value(&self) -> Option<f64> {
        match self.reading {
            Reading::One { value, .. } => Some(value),
            _ => None,
        }
    }
}

/// What a parser pushed.
#[derive(Debug, Default)]
pub struct Recorded {
    pub kept: Vec<Kept>,
    pub units: Vec<Unit>,
    pub metadata: Vec<(String, String, String)>,
    pub diagnostics: Vec<Diagnostic>,
    /// One per line.
    pub claims: Vec<Claim>,
}

impl Sink for Recorded {
    fn unit(&mut self, unit: &Unit) -> UnitId {
        let at = self.units.iter().position(|u| u == unit).unwrap_or_else(|| {
            self.units.push(unit.clone());
            self.units.len() - 1
        });
        UnitId(at as u32)
    }

    fn record(&mut self, r: &Record<'_>) {
        for (unit, reading) in r.readings {
            self.kept.push(Kept {
                line: r.line,
                name: r.name.to_owned(),
                scheme: r.scheme,
                keys: r.keys.iter().map(|&(k, v)| (k.to_owned(), v.to_owned())).collect(),
                settings: r.settings.iter().map(|(k, v)| (k.to_owned(), v.to_owned())).collect(),
                block: r.block,
                column: r.column.map(str::to_owned),
                unit: self.units[unit.0 as usize].clone(),
                reading: reading.clone(),
            });
        }
    }

    fn unit_metadata(&mut self, unit: &str, key: &str, value: &str) -> Result<(), String> {
        if let Some((_, _, v)) = self.metadata.iter().find(|(u, k, v)| u == unit && k == key && v != value) {
            return Err(v.clone());
        }
        self.metadata.push((unit.into(), key.into(), value.into()));
        Ok(())
    }

    fn diagnose(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }
}

/// Runs `parser` over `input`, split at LF, one CR before it dropped.
pub fn read(mut parser: Box<dyn RecordParser>, input: &[u8]) -> Recorded {
    let mut out = Recorded::default();
    let body = input.strip_suffix(b"\n").unwrap_or(input);
    if !input.is_empty() {
        for (i, line) in body.split(|&b| b == b'\n').enumerate() {
            let bytes = line.strip_suffix(b"\r").unwrap_or(line);
            let claim = parser.line(Line { number: i as u64 + 1, bytes }, &mut out);
            out.claims.push(claim);
        }
    }
    parser.finish(&mut out);
    out
}
