//! Published tables of relative rates: a rate over that of a base version, two decimals, one row a test.
//!
//! ```text
//! Relative to: 6.29.5     col-1: 8.11.4   col-2: 9.11.2       key lines, on one line or one each
//! col-1   col-2
//! 1.11    1.38    revrangewhilewriting                        names last ...
//!
//! 6.29.5<TAB>8.11.4<TAB>test                                  labels and the word test
//! 1.00<TAB>1.11<TAB>revrangewhilewriting
//!
//! test,6.29.5,8.11.4,                                         ... or first; a comma may end the header
//! fillseq.wal_disabled.v400,1.00,0.98
//!
//! fillseq.wal_disabled.v400,0.98,0.91                         no header, the base left out
//! ```
//! Cells stand between TABs, commas or blanks; all are numbers with a point, or missing (`-`, `NA`, blank). So that prose and other
//! tables are not taken for it, there must be key lines, or a header with the word `test`, or a first column of `1.00` throughout at
//! least two rows, or comma separated rows of tests that benchmark.sh runs.
//!
//! Each cell becomes a single ratio without spread, unit `ratio`, above 1 is better. The column is the label; keys are `test`, `.table` and
//! `.heading`. Where the base has no column of its own, it gets one of ratio 1, which is what the table says of it: named by
//! `Relative to:`, else `base`. Equal labels get `#2`. A table of rates under such a header is told and not read.

use std::borrow::Cow;

use hashbrown::HashMap;

use super::scan::{Decimal, is_blank, shown, span_in, whole_decimal};
use super::{Claim, Line, RecordParser};
use crate::base::Diagnostic;
use crate::model::{Center, Reading, Record, Scheme, Settings, Sink, Spread, Summary};
use crate::units::{Direction, Unit, UnitId};

/// Rows of a table without header that wait until it is known what they are.
const WAITING: usize = 2_000;
/// Most columns.
const COLUMNS: usize = 300;
/// Ratios above this are taken for rates.
const LARGEST: f64 = 1_000.0;

/// The parser.
#[derive(Default)]
pub struct Relative {
    settings: Settings,
    /// From `Relative to:`.
    base: Option<String>,
    /// From `col-N:`.
    keys: Vec<(u32, String)>,
    /// Labels of the header in force; `None` outside a table that has one.
    header: Option<Header>,
    waiting: Vec<Row>,
    heading: Vec<u8>,
    tables: u32,
    unit: Option<UnitId>,
    told_rates: bool,
}

#[derive(Clone, Debug)]
struct Header {
    labels: Vec<String>,
    /// A column that the table does not have.
    base: Option<String>,
    /// Its place among the tables, once it has a row.
    number: Option<String>,
    names: HashMap<String, u32>,
}

#[derive(Clone, Debug, PartialEq)]
struct Row {
    line: u64,
    name: String,
    cells: Vec<Option<Decimal>>,
    name_first: bool,
    commas: bool,
    tabs: bool,
}

impl RecordParser for Relative {
    fn line(&mut self, line: Line<'_>, out: &mut dyn Sink) -> Claim {
        let bytes = line.bytes.trim_ascii();
        if bytes.is_empty() {
            self.decide(out);
            return Claim::No;
        }
        let bytes = unquoted(bytes);
        if bytes.len() < 100_000 {
            if (bytes.starts_with(b"Relative to") || bytes.starts_with(b"col-"))
                && let Some(claim) = self.key_line(bytes)
            {
                self.decide(out);
                return claim;
            }
            if self.may_be_header(bytes)
                && let Some(header) = self.header_line(bytes)
            {
                self.decide(out);
                self.header = Some(header);
                return Claim::Maybe;
            }
            // Under a header numbers need not be printed as ratios usually are.
            let width = self.header.as_ref().map(|h| h.labels.len());
            if let Some(row) = width.and_then(|w| row(line.number, bytes, any_ratio).filter(|r| r.cells.len() == w)) {
                return self.row(row, out);
            }
            if may_be_row(bytes)
                && let Some(row) = row(line.number, bytes, whole_ratio)
            {
                return self.row(row, out);
            }
            if self.header.as_ref().is_some_and(|h| is_rates(bytes, h.labels.len())) {
                if !self.told_rates {
                    self.told_rates = true;
                    let message = format!("expected ratios, found {}", shown(bytes));
                    let hint = "this looks like a table of rates; read the report it was made of";
                    out.diagnose(
                        Diagnostic::warning("bad-value", message)
                            .at(line.number, line.bytes, span_in(bytes, line.bytes))
                            .hint(hint),
                    );
                }
                return Claim::Maybe;
            }
        }
        self.decide(out);
        self.header = None;
        self.base = None;
        self.keys.clear();
        if bytes.iter().any(u8::is_ascii_alphanumeric) {
            self.heading.clear();
            self.heading.extend_from_slice(bytes.get(..200).unwrap_or(bytes));
        }
        Claim::No
    }

    fn finish(&mut self, out: &mut dyn Sink) {
        self.decide(out);
    }
}

impl Relative {
    /// A parser for one input.
    pub fn new() -> Self {
        Relative::default()
    }

    /// `Relative to: LABEL  col-1: LABEL ...`, or a part of it.
    fn key_line(&mut self, bytes: &[u8]) -> Option<Claim> {
        let text = std::str::from_utf8(bytes).ok()?;
        let mut words = text.split_whitespace().peekable();
        let mut found = Vec::new();
        let mut base = None;
        while let Some(word) = words.next() {
            let (key, rest) = if word == "Relative" {
                let to = words.next()?;
                (None, to.strip_prefix("to")?)
            } else {
                let digits = word.strip_prefix("col-")?;
                let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
                let (number, rest) = digits.split_at(end);
                (Some(number.parse().ok()?), rest)
            };
            // The colon may stand apart, and the label may touch it.
            let rest = if rest.is_empty() { words.next()? } else { rest };
            let rest = rest.strip_prefix(':')?;
            let label = if rest.is_empty() { words.next()? } else { rest };
            match key {
                Some(number) => found.push((number, label.to_owned())),
                None => base = Some(label.to_owned()),
            }
        }
        if base.is_some() {
            self.keys.clear();
            self.base = base;
        } else if self.base.is_none() {
            return None;
        }
        if self.keys.len() + found.len() <= COLUMNS {
            self.keys.extend(found);
        }
        self.header = None;
        Some(Claim::Mine)
    }

    /// A cheap look before [`Relative::header_line`].
    fn may_be_header(&self, bytes: &[u8]) -> bool {
        let bare = bytes.strip_suffix(b",").unwrap_or(bytes);
        bytes.starts_with(b"test") || bare.ends_with(b"test") || (self.base.is_some() && bytes.starts_with(b"col-"))
    }

    /// Labels of columns: with the word `test` at an end, or `col-1  col-2` after key lines.
    fn header_line(&self, bytes: &[u8]) -> Option<Header> {
        let text = std::str::from_utf8(bytes).ok()?;
        let cells: Vec<&str> = cells(text).collect();
        if cells.len() < 2 || cells.len() > COLUMNS {
            return None;
        }
        let labels: Vec<&str> = match cells.as_slice() {
            ["test", labels @ ..] | [labels @ .., "test"] => labels.to_vec(),
            all if self.base.is_some() && all.iter().all(|c| c.starts_with("col-")) => all.to_vec(),
            _ => return None,
        };
        // Words of a sentence could stand there too; labels of builds have digits.
        let words = !text.contains(['\t', ',']);
        let is_label = |l: &&str| {
            !l.is_empty()
                && !l.contains(char::is_whitespace)
                && whole_ratio(l).is_none()
                && (!words || l.contains(|c: char| c.is_ascii_digit()))
        };
        if labels.is_empty() || !labels.iter().all(is_label) {
            return None;
        }
        let of_key = |label: &str| {
            let number: u32 = label.strip_prefix("col-")?.parse().ok()?;
            self.keys.iter().find(|(n, _)| *n == number).map(|(_, l)| l.clone())
        };
        let labels = unique(labels.iter().map(|l| of_key(l).unwrap_or_else(|| (*l).to_owned())));
        let base = self.base.clone().filter(|b| !labels.contains(b));
        Some(Header { labels, base, number: None, names: HashMap::new() })
    }

    fn row(&mut self, row: Row, out: &mut dyn Sink) -> Claim {
        if self.header.is_none()
            && let Some(base) = &self.base
            && self.keys.len() == row.cells.len()
        {
            // Key lines without the line of column names.
            let labels = unique(self.keys.iter().map(|(_, l)| l.clone()));
            let base = Some(base.clone());
            self.header = Some(Header { labels, base, number: None, names: HashMap::new() });
        }
        match self.header.take() {
            Some(mut header) if header.labels.len() == row.cells.len() => {
                self.push(&mut header, &row, out);
                self.header = Some(header);
                Claim::Mine
            }
            Some(header) if header.number.is_none() && !row.commas && !row.tabs => {
                // No row has come yet, so the heading may have been a line of text.
                self.waiting.push(row);
                Claim::Maybe
            }
            Some(header) => {
                let message = format!("expected {} ratios, found {}", header.labels.len(), row.cells.len());
                out.diagnose(Diagnostic::warning("bad-row", message).at_line(row.line).hint("row left out"));
                self.header = Some(header);
                Claim::Mine
            }
            None => {
                let fits = self.waiting.first().is_none_or(|f| {
                    (f.cells.len(), f.name_first, f.commas) == (row.cells.len(), row.name_first, row.commas)
                });
                if !fits || self.waiting.len() >= WAITING {
                    self.decide(out);
                }
                self.waiting.push(row);
                Claim::Maybe
            }
        }
    }

    /// Rows without a header: a table of this kind, or not.
    fn decide(&mut self, out: &mut dyn Sink) {
        let rows = std::mem::take(&mut self.waiting);
        let Some(first) = rows.first() else { return };
        let is_one = |r: &Row| r.cells.first().copied().flatten().is_some_and(|d| d.value == 1.0);
        let based = rows.len() >= 2 && first.cells.len() >= 2 && rows.iter().all(is_one);
        let tests = first.commas && first.name_first && first.cells.len() >= 2 && rows.iter().all(|r| is_test(&r.name));
        if !based && !tests {
            return;
        }
        let labels = (1..=first.cells.len()).map(|i| format!("col-{}", if based { i - 1 } else { i }));
        let mut labels: Vec<String> = labels.collect();
        if let (true, Some(l)) = (based, labels.first_mut()) {
            "base".clone_into(l);
        }
        let base = (!based).then(|| "base".to_owned());
        let mut header = Header { labels, base, number: None, names: HashMap::new() };
        for row in &rows {
            self.push(&mut header, row, out);
        }
    }

    fn push(&mut self, header: &mut Header, row: &Row, out: &mut dyn Sink) {
        let unit = *self
            .unit
            .get_or_insert_with(|| out.unit(&Unit::new("ratio", "ratio").with_better(Some(Direction::Higher))));
        let tables = &mut self.tables;
        let number = header.number.get_or_insert_with(|| {
            *tables = tables.saturating_add(1);
            tables.to_string()
        });
        let seen = header.names.entry_ref(row.name.as_str()).or_insert(0);
        *seen = seen.saturating_add(1);
        let name = if *seen > 1 { Cow::Owned(format!("{}#{seen}", row.name)) } else { Cow::Borrowed(&*row.name) };
        let heading = String::from_utf8_lossy(&self.heading);
        let keys = [("test", &*name), (".table", number.as_str()), (".heading", &heading)];
        let keys = if heading.is_empty() { &keys[..2] } else { &keys[..] };
        let base = header.base.iter().map(|b| (b, Some(Decimal { value: 1.0, resolution: 0.0 })));
        for (label, cell) in base.chain(header.labels.iter().zip(row.cells.iter().copied())) {
            let Some(d) = cell else { continue };
            let summary = Summary {
                center: Center::Single,
                value: d.value,
                spread: Spread::None,
                n: None,
                forks: None,
                resolution: d.resolution,
                approximate: false,
            };
            out.record(&Record {
                line: row.line,
                name: &name,
                scheme: Scheme::Plain,
                keys,
                settings: &self.settings,
                block: None,
                readings: &[(unit, Reading::Summary(summary))],
                column: Some(label),
            });
        }
    }
}

/// Without the marks of a quotation.
fn unquoted(bytes: &[u8]) -> &[u8] {
    match bytes.first() {
        Some(b'>') => {
            let start = bytes.iter().position(|&b| b != b'>' && !is_blank(b)).unwrap_or(bytes.len());
            bytes.get(start..).unwrap_or_default()
        }
        _ => bytes,
    }
}

/// A cheap look before [`row`]: at most one of the words is neither a ratio nor a mark of a missing cell.
fn may_be_row(bytes: &[u8]) -> bool {
    let mut names = 0;
    let mut ratios = 0;
    for word in bytes.split(|&b| is_blank(b) || b == b',').filter(|w| !w.is_empty()) {
        let point = word.first().is_some_and(u8::is_ascii_digit)
            && word.iter().rposition(|&b| b == b'.').is_some_and(|i| i + 3 <= word.len());
        if point {
            ratios += 1;
        } else if word != b"-" && word != b"NA" && word != b"nan" {
            names += 1;
            if names > 1 {
                return false;
            }
        }
    }
    ratios > 0
}

/// A row: a name at one end, ratios or missing cells otherwise, at least one ratio.
fn row(line: u64, bytes: &[u8], ratio: fn(&str) -> Option<Decimal>) -> Option<Row> {
    let text = std::str::from_utf8(bytes).ok()?;
    let cells: Vec<&str> = cells(text).collect();
    let (first, last) = (*cells.first()?, *cells.last()?);
    let is_name =
        |c: &str| c.contains(|c: char| c.is_ascii_alphabetic()) && !is_missing(c) && !c.contains(char::is_whitespace);
    let (name, middle, name_first) = match (is_name(first), is_name(last)) {
        (true, false) => (first, cells.get(1..)?, true),
        (false, true) => (last, cells.get(..cells.len() - 1)?, false),
        _ => return None,
    };
    if middle.len() > COLUMNS {
        return None;
    }
    let ratios: Option<Vec<Option<Decimal>>> =
        middle.iter().map(|c| if is_missing(c) { Some(None) } else { ratio(c).map(Some) }).collect();
    let ratios = ratios?;
    let any = ratios.iter().any(Option::is_some);
    any.then(|| Row {
        line,
        name: name.to_owned(),
        cells: ratios,
        name_first,
        commas: text.contains(','),
        tabs: text.contains('\t'),
    })
}

/// A positive number with two or more decimals, as ratios are printed.
fn whole_ratio(cell: &str) -> Option<Decimal> {
    let (whole, places) = cell.split_once('.')?;
    let digits = |t: &str| !t.is_empty() && t.bytes().all(|b| b.is_ascii_digit());
    if !digits(whole) || !digits(places) || places.len() < 2 {
        return None;
    }
    whole_decimal(cell.as_bytes()).filter(|d| d.value < LARGEST)
}

/// A number that may be a ratio.
fn any_ratio(cell: &str) -> Option<Decimal> {
    whole_decimal(cell.as_bytes()).filter(|d| d.value >= 0.0 && d.value < LARGEST)
}

fn is_missing(cell: &str) -> bool {
    matches!(cell, "" | "-" | "NA" | "nan")
}

/// A line of integers and a name, as many as there are labels: rates.
fn is_rates(bytes: &[u8], labels: usize) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    let cells: Vec<&str> = cells(text).collect();
    let numbers = cells.iter().filter(|c| whole_decimal(c.as_bytes()).is_some_and(|d| d.value >= LARGEST)).count();
    cells.len() == labels + 1 && numbers == labels
}

/// Cells of a line: between TABs or commas where there are any, else words. A separator at the end of the line ends no cell.
fn cells(text: &str) -> impl Iterator<Item = &str> {
    let separator = if text.contains('\t') {
        Some('\t')
    } else if text.contains(',') {
        Some(',')
    } else {
        None
    };
    let text = match separator {
        Some(s) => text.strip_suffix(s).unwrap_or(text),
        None => text,
    };
    text.split(move |c: char| separator.map_or_else(|| c.is_ascii() && is_blank(c as u8), |s| c == s))
        .map(str::trim)
        .filter(move |c| separator.is_some() || !c.is_empty())
}

/// Equal labels become `x`, `x#2`, ...
fn unique(labels: impl Iterator<Item = String>) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for label in labels {
        let mut name = label.clone();
        let mut n = 1u32;
        while out.contains(&name) {
            n += 1;
            name = format!("{label}#{n}");
        }
        out.push(name);
    }
    out
}

/// A test that benchmark.sh runs: what tells a table without header from any CSV of ratios.
fn is_test(name: &str) -> bool {
    const TESTS: [&str; 9] = [
        "fillseq",
        "fillrandom",
        "bulkload",
        "readrandom",
        "multireadrandom",
        "overwrite",
        "fwdrange",
        "revrange",
        "readwhile",
    ];
    TESTS.iter().any(|t| name.starts_with(t))
}

#[cfg(test)]
mod tests;
