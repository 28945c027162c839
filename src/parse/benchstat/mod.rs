//! Tables that benchstat made: version 1 (until January 2023) as text, CSV and HTML, version 2 as text and CSV.
//!
//! Source: `golang.org/x/perf/cmd/benchstat` of both versions. They state no samples: each cell becomes a summary with its spread as
//! printed, each delta a printed comparison. The heading of a column (`old`, `new`, a file name) is the record's column; keys are
//! `.table` (place of the table in the input) and `.heading` (nearest line of text before it). Values are restored from the prefix they
//! are shown with.
//!
//! | form | begins with | module |
//! |---|---|---|
//! | version 1 text | `name  old time/op  new time/op  delta`, `name  time/op`, `name \ time/op  f1  f2  f3` | [`v1`] |
//! | version 1 CSV | `name,old time/op (ns/op),±,...` | [`csv`] |
//! | version 1 HTML | `<table class='benchstat oldnew'>` | [`html`] |
//! | version 2 text | lines of column labels and of units between `│` | [`v2`] |
//! | version 2 CSV | `,sec/op,CI,sec/op,CI,vs base,P` | [`csv`] |
//!
//! `key: value` lines before a version 2 table and `pkg:a goos:b` lines inside a version 1 table are settings. Geometric means are no
//! benchmarks and are left out. Also read: version 1 rows without their header, and tables whose lines a paste has joined.

mod cell;
mod csv;
mod html;
mod v1;
mod v2;

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::sync::LazyLock;

use hashbrown::HashMap;
use memchr::memmem::Finder;
use smallvec::SmallVec;

use cell::{Cell, Comparison, Delta, Shown};

use super::{Claim, Line, RecordParser};
use crate::base::Diagnostic;
use crate::model::{Center, PrintedComparison, Reading, Record, Scheme, Settings, Sink, Spread, Summary};
use crate::units::{Unit, UnitId};

static NAME: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("name"));
static P_VALUE: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("(p="));
static HTML: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("<table class='benchstat"));
/// First byte of the bar between columns.
const BAR: u8 = 0xe2;

/// Longest line looked at; tables have short ones, also when a paste has joined theirs.
const LONGEST: usize = 1 << 20;
/// Most `key: value` lines kept before a table.
const SETTINGS: usize = 200;

/// The parser.
#[derive(Default)]
pub struct Benchstat {
    context: Context,
    state: State,
    /// Records of column labels of a CSV table, until its units.
    labels: Vec<Vec<String>>,
    /// Lines between bars, until the first row.
    bars: Vec<v2::Bars>,
}

/// The table being read.
#[derive(Default)]
enum State {
    #[default]
    Outside,
    V1(v1::Text),
    V2(v2::Text),
    Csv(csv::Csv),
    Html(html::Html),
}

/// What stands around tables.
#[derive(Default)]
struct Context {
    settings: Settings,
    /// `key: value` lines that become settings if a table follows.
    pending: Vec<(String, String)>,
    /// The nearest line of text.
    heading: Vec<u8>,
    /// Tables begun so far.
    tables: u32,
}

impl RecordParser for Benchstat {
    fn line(&mut self, line: Line<'_>, out: &mut dyn Sink) -> Claim {
        if line.bytes.trim_ascii().is_empty() {
            return Claim::No;
        }
        if line.bytes.len() > LONGEST {
            self.end(out);
            return Claim::No;
        }
        let claim = match &mut self.state {
            State::Outside => None,
            State::V1(t) => t.line(line, &mut self.context, out),
            State::V2(t) => t.line(line, &self.context, out),
            State::Csv(t) => t.line(line, &mut self.context, out),
            State::Html(t) => t.line(line, &mut self.context, out),
        };
        if let Some(claim) = claim {
            if matches!(&self.state, State::Html(t) if t.is_over()) {
                self.state = State::Outside;
            }
            return claim;
        }
        // Not of the table in hand: it is over.
        self.end(out);
        self.outside(line, out)
    }

    fn finish(&mut self, out: &mut dyn Sink) {
        self.end(out);
    }
}

impl Benchstat {
    /// A parser for one input.
    pub fn new() -> Self {
        Benchstat::default()
    }

    fn end(&mut self, out: &mut dyn Sink) {
        if let State::V2(table) = &mut self.state {
            table.end(&self.context, out);
        }
        self.state = State::Outside;
    }

    /// A line that is not of the table in hand.
    fn outside(&mut self, line: Line<'_>, out: &mut dyn Sink) -> Claim {
        let bytes = line.bytes;
        let trimmed = bytes.trim_ascii();
        if memchr::memchr(BAR, trimmed).is_some()
            && let Some(bars) = v2::Bars::read(bytes)
        {
            self.labels.clear();
            self.bars.push(bars);
            if self.bars.len() > 16 {
                self.bars.remove(0);
            }
            return Claim::Mine;
        }
        if !self.bars.is_empty() {
            let bars = std::mem::take(&mut self.bars);
            if let Some(mut table) = v2::Text::start(&bars, &mut self.context, out)
                && let Some(claim) = table.line(line, &self.context, out)
            {
                self.state = State::V2(table);
                return claim;
            }
        }
        if trimmed.first() == Some(&b',') {
            let fields = csv::fields(trimmed);
            if csv::is_units(&fields) {
                let labels = std::mem::take(&mut self.labels);
                self.state = State::Csv(csv::Csv::start_v2(&labels, &fields, &mut self.context, out));
                return Claim::Mine;
            }
            if self.labels.len() < 16 {
                self.labels.push(fields.into_iter().map(Cow::into_owned).collect());
            }
            return Claim::Maybe;
        }
        self.labels.clear();
        if let Some((key, value)) = setting(trimmed) {
            if self.context.pending.len() < SETTINGS {
                self.context.pending.push((key.to_owned(), value.to_owned()));
            }
            return Claim::Maybe;
        }
        if trimmed.starts_with(b"name") && trimmed.contains(&b',') {
            let fields = csv::fields(trimmed);
            if let Some(table) = csv::Csv::start_v1(&fields, &mut self.context, out) {
                self.state = State::Csv(table);
                return Claim::Mine;
            }
        }
        if let Some((table, claim)) = v1::Text::start(line, &mut self.context, out) {
            self.state = State::V1(table);
            return claim;
        }
        if memchr::memchr(b'<', trimmed).is_some() && HTML.find(trimmed).is_some() {
            let mut table = html::Html::default();
            let claim = table.line(line, &mut self.context, out);
            if !table.is_over() {
                self.state = State::Html(table);
            }
            return claim.unwrap_or(Claim::Mine);
        }
        self.context.pending.clear();
        if trimmed.iter().any(u8::is_ascii_alphanumeric) {
            self.context.heading.clear();
            self.context.heading.extend_from_slice(trimmed.get(..200).unwrap_or(trimmed));
        }
        Claim::No
    }
}

impl Context {
    /// A version 2 table begins: the `key: value` lines before it are its settings.
    fn begin_v2(&mut self, columns: Vec<Option<String>>, unit: &Unit, out: &mut dyn Sink) -> Table {
        for (key, value) in std::mem::take(&mut self.pending) {
            self.settings.set(&key, &value);
        }
        self.begin(columns, unit, 1.0, out)
    }

    /// A version 1 table begins; it has no settings of its own, so a `key: value` line before it is text.
    fn begin(&mut self, columns: Vec<Option<String>>, unit: &Unit, factor: f64, out: &mut dyn Sink) -> Table {
        if let Some((key, value)) = self.pending.pop() {
            self.heading = format!("{key}: {value}").trim_end().to_owned().into_bytes();
            self.pending.clear();
        }
        self.tables = self.tables.saturating_add(1);
        Table {
            number: self.tables.to_string(),
            heading: String::from_utf8_lossy(&self.heading).into_owned(),
            unit: out.unit(unit),
            factor,
            columns,
            names: HashMap::new(),
        }
    }

    /// A `pkg:a goos:b` line: the group of the rows that follow.
    fn group(&mut self, text: &str, before: &mut Vec<String>, table: &mut Table) {
        for key in before.drain(..) {
            self.settings.set(&key, "");
        }
        for (key, value) in text.split_whitespace().filter_map(|w| w.split_once(':')) {
            self.settings.set(key, value);
            before.push(key.to_owned());
        }
        table.names.clear();
    }
}

/// Whether all words are `key:value` with a key as benchstat's `-split` takes.
fn is_group(text: &str) -> bool {
    let word = |w: &str| w.split_once(':').is_some_and(|(k, v)| is_key(k) && !v.is_empty() && !v.starts_with("//"));
    !text.trim().is_empty() && text.split_whitespace().all(word)
}

fn is_key(key: &str) -> bool {
    key.starts_with(char::is_lowercase) && !key.contains(|c: char| c.is_uppercase() || c.is_whitespace())
}

/// `key: value` as benchstat prints it above a table; keys of projections (`.name`, `/size`) too.
fn setting(line: &[u8]) -> Option<(&str, &str)> {
    let colon =
        memchr::memchr2(b':', b' ', line.get(..line.len().min(100))?).filter(|&i| line.get(i) == Some(&b':'))?;
    let key = std::str::from_utf8(line.get(..colon)?).ok()?;
    let value = std::str::from_utf8(line.get(colon + 1..)?).ok()?;
    let projected = key.strip_prefix(['.', '/']).is_some_and(|k| !k.is_empty() && !k.contains(char::is_whitespace));
    if !(is_key(key) || projected) || !(value.is_empty() || value.starts_with([' ', '\t'])) {
        return None;
    }
    Some((key, value.trim()))
}

/// A table whose rows are passed on.
struct Table {
    number: String,
    heading: String,
    unit: UnitId,
    /// What values are multiplied by.
    factor: f64,
    /// Headings of the columns; `None` where there is one column without a heading.
    columns: Vec<Option<String>>,
    /// How often each name was seen.
    names: HashMap<String, u32>,
}

/// A row as it was read.
#[derive(Clone, Debug, PartialEq)]
struct Row {
    line: u64,
    name: String,
    /// One per column.
    cells: Vec<Option<Cell>>,
    /// One per column, the first `None`.
    comparisons: Vec<Option<Comparison>>,
}

/// Texts of footnote marks, and which of them found a comparison to stand with.
#[derive(Default)]
struct Notes {
    texts: HashMap<u32, (u64, String)>,
    used: Vec<u32>,
}

impl Notes {
    fn add(&mut self, marks: &[u32], to: &mut Vec<String>) {
        for mark in marks {
            if let Some((_, text)) = self.texts.get(mark) {
                if !to.contains(text) {
                    to.push(text.clone());
                }
                if !self.used.contains(mark) {
                    self.used.push(*mark);
                }
            }
        }
    }
}

impl Table {
    /// Passes a row on. `center`: which statistic this version of benchstat shows.
    fn push(&mut self, row: &Row, center: Center, notes: &mut Notes, context: &Context, out: &mut dyn Sink) {
        let seen = self.names.entry_ref(row.name.as_str()).or_insert(0);
        *seen = seen.saturating_add(1);
        let name = if *seen > 1 { Cow::Owned(format!("{}#{seen}", row.name)) } else { Cow::Borrowed(&*row.name) };
        let keys = [(".table", self.number.as_str()), (".heading", self.heading.as_str())];
        let keys = if self.heading.is_empty() { &keys[..1] } else { &keys[..] };
        let tests = || row.comparisons.iter().flatten().map(|c| &c.test);
        let base_n = tests().find_map(|t| t.n).map(|(n, _)| n);
        // Without a p value only units with `assume=exact` are compared; their center is the mode.
        let exact = tests().next().is_some() && tests().all(|t| t.p.is_none() && t.n.is_some());
        let center = if exact && center == Center::Median { Center::Mode } else { center };
        let mut base_marks = row.cells.first().and_then(Option::as_ref).map(|c| c.marks.clone()).unwrap_or_default();
        for (i, cell) in row.cells.iter().enumerate() {
            let Some(cell) = cell else { continue };
            let comparison = row.comparisons.get(i).and_then(Option::as_ref);
            let n = match comparison {
                Some(c) => c.test.n.map(|(_, n)| n),
                None if i == 0 => base_n,
                None => None,
            };
            let value = cell.value.scaled(self.factor);
            let summary = Summary {
                center,
                value: value.value,
                spread: match cell.spread {
                    Some(Shown::Percent(p)) => Spread::Percent(p),
                    Some(Shown::Infinite) => Spread::Infinite,
                    Some(Shown::Unknown) | None => Spread::None,
                },
                n,
                forks: None,
                resolution: value.resolution,
                approximate: false,
            };
            let mut readings: SmallVec<[(UnitId, Reading); 2]> = SmallVec::new();
            readings.push((self.unit, Reading::Summary(summary)));
            if let Some(c) = comparison {
                let mut texts: Vec<String> = c.test.note.iter().cloned().collect();
                let delta_pct = match &c.delta {
                    Delta::None => None,
                    Delta::Percent(d) => Some(*d),
                    Delta::NotANumber(shown) => {
                        texts.push(format!("printed change: {shown}"));
                        None
                    }
                };
                notes.add(&base_marks, &mut texts);
                base_marks.clear();
                notes.add(&cell.marks, &mut texts);
                notes.add(&c.marks, &mut texts);
                let printed = PrintedComparison { delta_pct, p: c.test.p, notes: texts };
                readings.push((self.unit, Reading::Printed(printed)));
            }
            out.record(&Record {
                line: row.line,
                name: &name,
                scheme: Scheme::Go,
                keys,
                settings: &context.settings,
                block: None,
                readings: &readings,
                column: self.columns.get(i).and_then(Option::as_deref),
            });
        }
    }
}

/// The base unit of a unit that version 2 prints: it says `B/s` where the model says `B/sec`.
fn base_unit(printed: &str) -> Unit {
    Unit::new(if printed == "B/s" { "B/sec" } else { printed }, printed)
}

/// Says that a row has the shape of one, but holds a value that cannot be used.
fn refuse(line: Line<'_>, word: &str, expected: &str, out: &mut dyn Sink) {
    let at = memchr::memmem::find(line.bytes, word.as_bytes()).unwrap_or(0);
    let message = format!("expected {expected}, found {}", super::scan::shown(word.as_bytes()));
    out.diagnose(
        Diagnostic::warning("bad-value", message).at(line.number, line.bytes, at..at + word.len()).hint("row left out"),
    );
}
