//! The tables of RocksDB's `tools/benchmark.sh`: `report.tsv`, `summary.tsv` and files made of several of them.
//!
//! TAB separated; a header line begins with `ops_sec` (`ops/sec` before September 2021) and starts a block; lines that begin with `#`
//! explain columns; an empty line ends a block. Columns are found by name, so every vintage is read alike:
//!
//! | vintage | columns |
//! |---|---|
//! | 2015 | `ops/sec mb/sec Size-GB L0_MB Sum_GB W-Amp W-MB/s usec/op p50 p75 p99 p99.9 p99.99 Uptime Stall-time Stall% Test` |
//! | 2016 | the same with `L0_GB` |
//! | 2021-09 | `ops_sec mb_sec total_size_gb level0_size_gb sum_gb write_amplification write_mbps usec_op percentile_50 ... test_name test_date rocksdb_version job_id` |
//! | 2022-06, 2022-07 | `ops_sec mb_sec lsm_sz blob_sz c_wgb w_amp c_mbps c_wsecs c_csecs b_rgb b_wgb usec_op p50 p99 p99.9 p99.99 pmax uptime stall% Nstall u_cpu s_cpu rss test date version job_id [githash]` |
//!
//! One record per row; keys `test version date job_id githash .row`, the last being the row's place in its block. Every numeric column
//! is a metric; names of older vintages are read as those of the newest. `NA`, `nan`, `inf` and blank cells are missing; a row that
//! begins with `failed` is told and gives nothing. Where paths stand at the head (`summary.tsv`), the k-th row of each block belongs to
//! the k-th path, and the part of it that differs is the record's column.
//!
//! A paste may have turned TABs into blanks. Then a row is read if there is one way only to set its words to the columns.
//!
//! Not here: `regression_test.sh` ([`super::regression_csv`]), the tables of relative numbers made of these ([`super::relative`]).

use super::db_bench::MIB;
use super::scan::{is_blank, is_not_finite, shown, span_in, whole_decimal};
use super::{Claim, Line, RecordParser};
use crate::base::Diagnostic;
use crate::model::{Reading, Record, Scheme, Settings, Sink};
use crate::units::{Direction, Unit, UnitId};

const GIB: f64 = 1024.0 * MIB;
const MICRO: f64 = 1e-6;
/// Most columns; the widest vintage has 28.
const COLUMNS: usize = 200;
/// Most paths taken from the head of a summary.
const PATHS: usize = 2_000;

/// The parser.
#[derive(Default)]
pub struct ReportTsv {
    columns: Vec<Column>,
    /// The header was separated by blanks.
    blanks: bool,
    /// Rows so far in this block; `None` before the first header.
    row: Option<u32>,
    /// An empty line ended the block; its header still holds for rows that follow.
    over: bool,
    paths: Vec<Box<str>>,
    labels: Vec<String>,
    /// Rows of a block whose labels are known when it ends: line and text.
    held: Vec<(u64, Vec<u8>)>,
    told_labels: bool,
    settings: Settings,
    readings: Vec<(UnitId, Reading)>,
}

/// What a column holds.
#[derive(Clone, Debug, PartialEq)]
enum Column {
    Key(&'static str),
    /// `blank`: its cell is often left blank.
    Metric {
        unit: UnitId,
        factor: f64,
        cell: Cell,
        blank: bool,
    },
}

/// How a metric's cells are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cell {
    /// `12.5`
    Number,
    /// `439GB`
    Size,
    /// `01:02:03.456`
    Clock,
    /// `12`
    Count,
}

impl RecordParser for ReportTsv {
    fn line(&mut self, line: Line<'_>, out: &mut dyn Sink) -> Claim {
        let bytes = line.bytes.trim_ascii();
        if bytes.is_empty() {
            self.end_block(out);
            self.over = true;
            return Claim::No;
        }
        if let Some(rest) = bytes.strip_prefix(b"ops_sec").or_else(|| bytes.strip_prefix(b"ops/sec"))
            && rest.first().is_some_and(|&b| is_blank(b))
        {
            self.end_block(out);
            return self.header(bytes, out);
        }
        if self.row.is_none() {
            return self.path(bytes);
        }
        // What a row begins with decides whether it is one, so that prose between blocks stays prose.
        let first = bytes.split(|&b| is_blank(b)).next().unwrap_or_default();
        if first.len() == bytes.len() || (first != b"failed" && first != b"NA" && whole_decimal(first).is_none()) {
            return if self.row.is_some() && !self.over && bytes.ends_with(b".tsv") {
                self.path(bytes)
            } else {
                Claim::No
            };
        }
        // Nor is it one if it cannot have the cells of a row.
        let words = || bytes.split(|&b| is_blank(b)).filter(|w| !w.is_empty()).count();
        if (!self.blanks && !bytes.contains(&b'\t')) || (self.blanks && words() < 6) {
            return Claim::No;
        }
        let row = line.bytes;
        if self.over {
            self.row = Some(0);
            self.over = false;
        }
        if self.labels.is_empty() {
            self.take(line.number, row, None, out);
        } else {
            self.held.push((line.number, row.to_owned()));
            if self.held.len() > self.labels.len() {
                self.end_block(out);
            }
        }
        Claim::Mine
    }

    fn finish(&mut self, out: &mut dyn Sink) {
        self.end_block(out);
    }
}

impl ReportTsv {
    /// A parser for one input.
    pub fn new() -> Self {
        ReportTsv::default()
    }

    /// A line before the first header: a path of `summary.tsv`, or nothing.
    fn path(&mut self, bytes: &[u8]) -> Claim {
        let is_path = bytes.ends_with(b".tsv") && !bytes.iter().any(|&b| is_blank(b)) && self.paths.len() < PATHS;
        if is_path {
            self.paths.push(String::from_utf8_lossy(bytes).into());
            Claim::Maybe
        } else {
            if !bytes.starts_with(b"#") {
                self.paths.clear();
            }
            Claim::No
        }
    }

    fn header(&mut self, bytes: &[u8], out: &mut dyn Sink) -> Claim {
        let blanks = !bytes.contains(&b'\t');
        let cells = cells(bytes, blanks).take(COLUMNS + 1);
        let names: Vec<_> = cells.map(|c| String::from_utf8_lossy(c).into_owned()).collect();
        if names.len() > COLUMNS {
            return Claim::No;
        }
        let has = |any: &[&str]| names.iter().any(|n| any.contains(&n.as_str()));
        if !has(&["usec_op", "usec/op"]) || !has(&["test", "Test", "test_name"]) {
            return Claim::No;
        }
        self.columns = names.iter().map(|n| column(n, out)).collect();
        self.blanks = blanks;
        self.over = false;
        if self.row.is_none() {
            self.labels = labels(&self.paths);
        }
        self.row = Some(0);
        Claim::Mine
    }

    /// A block is complete: its rows meet the paths at the head.
    fn end_block(&mut self, out: &mut dyn Sink) {
        let held = std::mem::take(&mut self.held);
        if held.is_empty() {
            return;
        }
        let labels = std::mem::take(&mut self.labels);
        let fits = held.len() == labels.len();
        if !fits && !self.told_labels {
            self.told_labels = true;
            let message =
                format!("expected a row for each of the {} paths at the head, found {}", labels.len(), held.len());
            let line = held.first().map_or(0, |(n, _)| *n);
            out.diagnose(
                Diagnostic::warning("path-count", message).at_line(line).hint("rows of this block have no label"),
            );
        }
        for (i, (number, row)) in held.iter().enumerate() {
            self.take(*number, row, labels.get(i).filter(|_| fits).map(String::as_str), out);
        }
        self.labels = labels;
    }

    /// One row.
    fn take(&mut self, number: u64, row: &[u8], label: Option<&str>, out: &mut dyn Sink) {
        let place = self.row.map_or(1, |r| r.saturating_add(1));
        self.row = Some(place);
        let mut values: Vec<Option<&[u8]>> = Vec::with_capacity(self.columns.len());
        if self.blanks {
            let words: Vec<_> = cells(row, true).collect();
            match self.align(&words) {
                Some(aligned) => values = aligned,
                None => {
                    let message = format!(
                        "expected {} cells, found {}, and which are blank cannot be told",
                        self.columns.len(),
                        words.len()
                    );
                    let hint = "the TABs of this table were lost; use the file itself";
                    out.diagnose(Diagnostic::warning("bad-row", message).at(number, row, 0..row.len()).hint(hint));
                    return;
                }
            }
        } else {
            values.extend(cells(row, false).take(self.columns.len()).map(Some));
        }
        let cell = |i: usize| values.get(i).copied().flatten().filter(|v| !v.is_empty());
        let place = place.to_string();
        let mut keys: Vec<(&str, std::borrow::Cow<'_, str>)> = Vec::with_capacity(6);
        for (i, column) in self.columns.iter().enumerate() {
            if let (Column::Key(key), Some(v)) = (column, cell(i)) {
                keys.push((key, String::from_utf8_lossy(v)));
            }
        }
        keys.sort_by_key(|(k, _)| KEYS.iter().position(|o| o == k));
        let test = keys.iter().find(|(k, _)| *k == "test").map(|(_, v)| v.clone().into_owned());
        let Some(test) = test else {
            let message = format!(
                "expected a test name in a row of {} cells, found none among {}",
                self.columns.len(),
                values.len()
            );
            out.diagnose(Diagnostic::warning("bad-row", message).at(number, row, 0..row.len()).hint("row left out"));
            return;
        };
        if cell(0) == Some(b"failed") {
            let version =
                keys.iter().find(|(k, _)| *k == "version").map(|(_, v)| format!(", version {v}")).unwrap_or_default();
            let message = format!("the test {}{version} is reported as failed", shown(test.as_bytes()));
            out.diagnose(Diagnostic::warning("failed-benchmark", message).at(number, row, 0..b"failed".len()));
            return;
        }
        let mut readings = std::mem::take(&mut self.readings);
        readings.clear();
        for (i, column) in self.columns.iter().enumerate() {
            let (Column::Metric { unit, factor, cell: kind, .. }, Some(text)) = (column, cell(i)) else { continue };
            match kind.read(text) {
                Ok(Some(value)) => readings.push((*unit, Reading::One { value: value * factor, weight: 1 })),
                Ok(None) => {}
                Err(expected) => {
                    let message = format!("expected {expected}, found {}", shown(text));
                    out.diagnose(
                        Diagnostic::warning("bad-value", message)
                            .at(number, row, span_in(text, row))
                            .hint("value left out"),
                    );
                }
            }
        }
        keys.push((".row", place.as_str().into()));
        let keys: Vec<_> = keys.iter().map(|(k, v)| (*k, v.as_ref())).collect();
        out.record(&Record {
            line: number,
            name: &test,
            scheme: Scheme::Plain,
            keys: &keys,
            settings: &self.settings,
            block: None,
            readings: &readings,
            column: label,
        });
        self.readings = readings;
    }

    /// Sets words to columns where cells that are often blank may be missing. `None` when there is no way, or more than one.
    fn align<'a>(&self, words: &[&'a [u8]]) -> Option<Vec<Option<&'a [u8]>>> {
        let optional: Vec<usize> =
            (0..self.columns.len()).filter(|&i| self.columns.get(i).is_some_and(Column::may_be_blank)).collect();
        let missing = self.columns.len().checked_sub(words.len())?;
        if missing == 0 {
            return Some(words.iter().copied().map(Some).collect());
        }
        let mut found = None;
        // At most a handful of columns can be blank, so all choices are few.
        for choice in 0u32..1 << optional.len().min(12) {
            if choice.count_ones() as usize != missing {
                continue;
            }
            let mut words = words.iter();
            let mut aligned = Vec::with_capacity(self.columns.len());
            let fits = self.columns.iter().enumerate().all(|(i, column)| {
                let blank = optional.iter().position(|&o| o == i).is_some_and(|bit| choice >> bit & 1 == 1);
                let word = if blank { None } else { words.next().copied() };
                aligned.push(word);
                blank || word.is_some_and(|w| column.accepts(w))
            });
            if fits {
                if found.is_some() {
                    return None;
                }
                found = Some(aligned);
            }
        }
        found
    }
}

impl Column {
    fn may_be_blank(&self) -> bool {
        match self {
            Column::Key(key) => *key == "job_id" || *key == "githash",
            Column::Metric { blank, .. } => *blank,
        }
    }

    /// Whether `word` may stand in the column; used only where TABs were lost.
    fn accepts(&self, word: &[u8]) -> bool {
        match self {
            Column::Key("date") => word.len() >= 10 && word.get(4) == Some(&b'-') && word.contains(&b'T'),
            Column::Key("version") => word.first().is_some_and(u8::is_ascii_digit) && word.contains(&b'.'),
            Column::Key("githash") => is_hash(word),
            // The two stand side by side and both may be blank: what looks like a hash is the hash.
            Column::Key("job_id") => !is_hash(word),
            Column::Key("test") => word.first().is_some_and(u8::is_ascii_alphabetic),
            Column::Key(_) => true,
            Column::Metric { cell: Cell::Size, .. } => word.contains(&b'B') && Cell::Size.read(word).is_ok(),
            Column::Metric { cell: Cell::Count, .. } => word.iter().all(u8::is_ascii_digit),
            Column::Metric { cell, .. } => cell.read(word).is_ok(),
        }
    }
}

fn is_hash(word: &[u8]) -> bool {
    word.len() >= 7 && word.iter().all(u8::is_ascii_hexdigit)
}

impl Cell {
    /// The number; `Ok(None)` for what is missing, else what was expected.
    fn read(self, text: &[u8]) -> Result<Option<f64>, &'static str> {
        if text.eq_ignore_ascii_case(b"na") || text == b"-" || is_not_finite(text) {
            return Ok(None);
        }
        match self {
            Cell::Number | Cell::Count => whole_decimal(text).map(|d| Some(d.value)).ok_or("a number"),
            Cell::Size => size(text).map(Some).ok_or("a size such as 16GB"),
            Cell::Clock => clock(text).map(Some).ok_or("a duration such as 00:01:02.5"),
        }
    }
}

/// Bytes of `16GB`, `0.0GB,`, `256MB`, `5`.
fn size(text: &[u8]) -> Option<f64> {
    let text = text.strip_suffix(b",").unwrap_or(text);
    let (number, used) = super::scan::decimal(text)?;
    let factor = match text.get(used..)? {
        b"B" | b"" => 1.0,
        b"KB" => 1024.0,
        b"MB" => MIB,
        b"GB" => GIB,
        b"TB" => 1024.0 * GIB,
        _ => return None,
    };
    Some(number.value * factor)
}

/// Seconds of `H:M:S`.
fn clock(text: &[u8]) -> Option<f64> {
    let mut seconds = 0.0;
    for part in text.split(|&b| b == b':') {
        seconds = seconds * 60.0 + whole_decimal(part)?.value;
    }
    Some(seconds)
}

/// Order of the keys of a record.
const KEYS: [&str; 5] = ["test", "version", "date", "job_id", "githash"];

/// What the column named `name` holds. Units of all but the first three have the column's name in front, so that they are metrics
/// of their own; a direction is given where it does not depend on how long the test ran.
fn column(name: &str, out: &mut dyn Sink) -> Column {
    let key = match name {
        "test" | "Test" | "test_name" => Some("test"),
        "version" | "rocksdb_version" => Some("version"),
        "date" | "test_date" => Some("date"),
        "job_id" => Some("job_id"),
        "githash" => Some("githash"),
        _ => None,
    };
    if let Some(key) = key {
        return Column::Key(key);
    }
    let lower = Some(Direction::Lower);
    let higher = Some(Direction::Higher);
    let percentile = name.strip_prefix("percentile_").or_else(|| name.strip_prefix('p'));
    let (unit, factor, better, cell) = match name {
        "ops_sec" | "ops/sec" => ("op/sec", 1.0, higher, Cell::Number),
        "mb_sec" | "mb/sec" => ("B/sec", MIB, higher, Cell::Number),
        "usec_op" | "usec/op" => ("sec/op", MICRO, lower, Cell::Number),
        "lsm_sz" => ("lsm_sz-B", 1.0, lower, Cell::Size),
        "Size-GB" | "total_size_gb" => ("lsm_sz-B", GIB, lower, Cell::Number),
        "blob_sz" => ("blob_sz-B", 1.0, lower, Cell::Size),
        "L0_MB" => ("l0_sz-B", MIB, lower, Cell::Number),
        "L0_GB" | "level0_size_gb" => ("l0_sz-B", GIB, lower, Cell::Number),
        "c_wgb" | "Sum_GB" | "sum_gb" => ("c_wgb-B", GIB, None, Cell::Number),
        "w_amp" | "W-Amp" | "write_amplification" => ("w_amp", 1.0, lower, Cell::Number),
        "c_mbps" | "W-MB/s" | "write_mbps" => ("c_mbps-B/sec", MIB, None, Cell::Number),
        "c_wsecs" => ("c_wsecs-sec", 1.0, None, Cell::Number),
        "c_csecs" => ("c_csecs-sec", 1.0, None, Cell::Number),
        "b_rgb" => ("b_rgb-B", GIB, None, Cell::Number),
        "b_wgb" => ("b_wgb-B", GIB, None, Cell::Number),
        "uptime" | "Uptime" => ("uptime-sec", 1.0, None, Cell::Number),
        "Stall-time" | "stall_time" => ("stall_time-sec", 1.0, lower, Cell::Clock),
        "stall%" | "Stall%" | "stall_percent" => ("stall%", 1.0, lower, Cell::Number),
        "Nstall" => ("Nstall", 1.0, lower, Cell::Count),
        // Thousands of seconds.
        "u_cpu" => ("u_cpu-sec", 1000.0, None, Cell::Number),
        "s_cpu" => ("s_cpu-sec", 1000.0, None, Cell::Number),
        "rss" => ("rss-B", GIB, lower, Cell::Number),
        "pmax" => ("pmax-sec/op", MICRO, lower, Cell::Number),
        _ => match percentile.filter(|p| whole_decimal(p.as_bytes()).is_some()) {
            Some(p) => {
                let unit = Unit::new(&format!("p{p}-sec/op"), name).with_better(lower);
                return Column::Metric { unit: out.unit(&unit), factor: MICRO, cell: Cell::Number, blank: false };
            }
            None => (name, 1.0, None, Cell::Number),
        },
    };
    Column::Metric {
        unit: out.unit(&Unit::new(unit, name).with_better(better)),
        factor,
        cell,
        blank: matches!(name, "blob_sz" | "Nstall"),
    }
}

/// Cells of a line: between TABs with blanks around them dropped, or words.
fn cells(line: &[u8], blanks: bool) -> impl Iterator<Item = &[u8]> {
    line.split(move |&b| b == b'\t' || (blanks && b == b' '))
        .map(|c| c.trim_ascii())
        .filter(move |c| !(blanks && c.is_empty()))
}

/// The part of each path in which it differs from the others: without the directories in front and behind that all share.
fn labels(paths: &[Box<str>]) -> Vec<String> {
    let parts: Vec<Vec<&str>> =
        paths.iter().map(|p| p.split('/').filter(|c| !c.is_empty() && *c != ".").collect()).collect();
    let Some(first) = parts.first() else { return Vec::new() };
    let shared = |at: &dyn Fn(&Vec<&str>, usize) -> Option<String>| {
        (0..first.len())
            .take_while(|&i| at(first, i).is_some() && parts.iter().all(|p| at(p, i) == at(first, i)))
            .count()
    };
    let front = shared(&|p, i| p.get(i).map(|s| (*s).to_owned()));
    let back = shared(&|p, i| p.len().checked_sub(i + 1).and_then(|i| p.get(i)).map(|s| (*s).to_owned()));
    let mut labels: Vec<String> = Vec::with_capacity(parts.len());
    for p in &parts {
        let middle = p.get(front..p.len().saturating_sub(back)).filter(|m| !m.is_empty());
        // One path, or equal ones: the directory the report lies in.
        let name =
            middle.unwrap_or_else(|| p.get(p.len().saturating_sub(2)..p.len().saturating_sub(1)).unwrap_or_default());
        let name = name.join("/");
        let again = labels.iter().filter(|l| l.split('#').next() == Some(&name)).count();
        labels.push(if again == 0 { name } else { format!("{name}#{}", again + 1) });
    }
    labels
}

#[cfg(test)]
mod tests;
