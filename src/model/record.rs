//! What a parser pushes: one result, borrowed from the line it stands on.

use super::{Reading, Settings};
use crate::base::Diagnostic;
use crate::units::{Unit, UnitId};

/// How `.name`, `.fullname` and `/k` are made of a result's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// Go: `Get/size=1KiB-8`; `/k` parts and `/gomaxprocs` are inside the name (go.md a.9).
    Go,
    /// JMH: a dotted name that may be shortened from the left; `.label`, `.mode` and parameters are in `keys`.
    Jmh,
    /// A name that is taken as it stands (db_bench, reports); further keys are in `keys`.
    Plain,
}

/// One result: a benchmark's identity and what was measured in one go.
#[derive(Clone, Debug)]
pub struct Record<'a> {
    /// Line of the input, from 1.
    pub line: u64,
    /// The name as its producer prints it, Go's `Benchmark` prefix dropped, without a JMH label.
    pub name: &'a str,
    /// How to take the name apart.
    pub scheme: Scheme,
    /// Further parts of the identity in a fixed order: `.label`, `.mode`, parameters, `.table`, `.row`, `test`, `version`, ...
    /// Keys without a leading dot are parameters. Absent ones are left out, never empty.
    pub keys: &'a [(&'a str, &'a str)],
    /// Settings of the run where the result stands.
    pub settings: &'a Settings,
    /// Process the samples come from, where the input tells; any number, equal within one process of this input.
    pub block: Option<u32>,
    /// The metrics, base units. A unit that occurs twice gives two samples.
    pub readings: &'a [(UnitId, Reading)],
    /// Column label that replaces the input's label as `.file` (a benchstat table's own columns).
    pub column: Option<&'a str>,
}

/// Where records and diagnostics go.
pub trait Sink {
    /// The number of `unit` in this sink; parsers keep it and do not ask per line.
    fn unit(&mut self, unit: &Unit) -> UnitId;
    /// One result.
    fn record(&mut self, record: &Record<'_>);
    /// `Unit` metadata: `key` is `better` or `assume` or anything else. Errors with the value set before.
    ///
    /// # Errors
    /// The earlier value, when it differs: the first one stays.
    fn unit_metadata(&mut self, unit: &str, key: &str, value: &str) -> Result<(), String>;
    /// Something to say; the sink adds the input.
    fn diagnose(&mut self, diagnostic: Diagnostic);
}
