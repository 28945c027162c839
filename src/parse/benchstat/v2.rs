//! Text of benchstat version 2.
//!
//! ```text
//! goos: linux
//!         │   base.txt   │                pr.txt                │      one line per column field
//!         │    sec/op    │    sec/op     vs base                │      and one of units
//! Run/x-2   1.186µ ± ∞ ¹   1.296µ ± ∞ ¹       ~ (p=0.333 n=2) ²
//! geomean   202.0n         211.9n        +4.89%
//! ¹ need >= 6 samples for confidence interval at level 0.95
//! ```
//! The bars of the line of units divide the rows into cells; names may hold blanks. Where a paste has lost the places, a row is read
//! word by word, if every cell is there. Footnotes stand after the rows, so rows wait for them.

use smallvec::SmallVec;

use super::cell::{Class, Words, is_not_finite, superscript};
use super::{Context, Notes, Row, Table, base_unit, refuse};
use crate::base::Diagnostic;
use crate::model::{Center, Sink};
use crate::parse::{Claim, Line};

/// Rows that wait for their footnotes; beyond that they are passed on without.
const WAITING: usize = 100_000;
const BAR: char = '│';

/// A heading line: texts between bars.
#[derive(Clone, Debug, PartialEq)]
pub struct Bars {
    /// Where each bar stands, in characters.
    at: Vec<usize>,
    /// Text after each bar but the last.
    texts: Vec<String>,
}

impl Bars {
    /// Reads a line that has nothing but blanks before its first bar and ends with one.
    pub fn read(line: &[u8]) -> Option<Bars> {
        memchr::memmem::find(line, BAR.encode_utf8(&mut [0; 4]).as_bytes())?;
        let text = String::from_utf8_lossy(line);
        let text = text.trim_end();
        let decoration = |c: char| c.is_whitespace() || c == '>';
        if !text.trim_start_matches(decoration).starts_with(BAR) || !text.ends_with(BAR) {
            return None;
        }
        let at: Vec<usize> = text.chars().enumerate().filter(|(_, c)| *c == BAR).map(|(i, _)| i).collect();
        let mut texts: Vec<String> = text.split(BAR).skip(1).map(|t| t.trim().to_owned()).collect();
        texts.pop();
        (at.len() >= 2).then_some(Bars { at, texts })
    }
}

/// Where the characters with these ascending numbers begin in `text`; its end for those beyond it.
fn byte_offsets(text: &str, characters: &[usize]) -> SmallVec<[usize; 8]> {
    let (mut byte, mut before) = (0, 0);
    let offset = |&character: &usize| {
        let rest = text.get(byte..).unwrap_or_default();
        byte += rest.char_indices().nth(character - before).map_or(rest.len(), |(i, _)| i);
        before = character;
        byte
    };
    characters.iter().map(offset).collect()
}

/// A table being read.
pub struct Text {
    table: Table,
    at: Vec<usize>,
    rows: Vec<Row>,
    notes: Notes,
}

impl Text {
    /// The table that heading lines begin; `None` when the last of them is not a line of units.
    pub fn start(bars: &[Bars], context: &mut Context, out: &mut dyn Sink) -> Option<Text> {
        let (units, labels) = bars.split_last()?;
        let mut unit = None;
        for (i, text) in units.texts.iter().enumerate() {
            let mut words = text.split_whitespace();
            let name = words.next()?;
            let rest: Vec<_> = words.collect();
            let compared = rest == ["vs", "base"];
            if !(rest.is_empty() || (compared && i > 0)) || unit.is_some_and(|u| u != name) {
                return None;
            }
            unit = Some(name);
        }
        let columns = units
            .at
            .iter()
            .take(units.texts.len())
            .enumerate()
            .map(|(i, at)| {
                let fields = labels.iter().filter_map(|l| {
                    // A label may span several columns; the places of its bars tell which.
                    let span = if l.at.len() == units.at.len() { i } else { l.at.iter().rposition(|b| b <= at)? };
                    l.texts.get(span).map(String::as_str).filter(|t| !t.is_empty())
                });
                let label = fields.collect::<Vec<_>>().join(" ");
                // Without lines of labels the columns still are different ones.
                Some(if labels.is_empty() { (i + 1).to_string() } else { label })
            })
            .collect();
        let table = context.begin_v2(columns, &base_unit(unit?), out);
        // Where `vs base` has nothing below it, benchstat moves the later bars of this line, but not the cells, to the right.
        let mut at = units.at.clone();
        for l in labels.iter().filter(|l| l.at.len() == units.at.len()) {
            at.iter_mut().zip(&l.at).for_each(|(a, b)| *a = (*a).min(*b));
        }
        Some(Text { table, at, rows: Vec::new(), notes: Notes::default() })
    }

    /// A line after the heading; `None` when the table is over.
    pub fn line(&mut self, line: Line<'_>, context: &Context, out: &mut dyn Sink) -> Option<Claim> {
        let text = line.text();
        let trimmed = text.trim().trim_start_matches(['>', ' ', '\t']);
        if let Some((mark, note)) = trimmed.split_once(char::is_whitespace)
            && let Some(mark) = superscript(mark)
        {
            self.notes.texts.insert(mark, (line.number, note.trim().to_owned()));
            return Some(Claim::Mine);
        }
        let geomean = trimmed.split_whitespace().next() == Some("geomean");
        if geomean && !trimmed.contains('±') {
            return Some(Claim::Mine);
        }
        let row = self.by_place(line.number, &text).or_else(|| self.by_word(line.number, trimmed));
        match row {
            Some(row) => {
                self.rows.push(row);
                if self.rows.len() >= WAITING {
                    self.pass_on(context, out);
                }
                Some(Claim::Mine)
            }
            None if trimmed.contains('±') => {
                match trimmed.split_whitespace().skip(1).find(|w| is_not_finite(w)) {
                    Some(word) => refuse(line, word, "a finite value", out),
                    None => refuse(line, trimmed, "a name and a cell in each column", out),
                }
                Some(Claim::Mine)
            }
            None => None,
        }
    }

    /// The table is over: rows meet their footnotes, and footnotes without a comparison are told.
    pub fn end(&mut self, context: &Context, out: &mut dyn Sink) {
        self.pass_on(context, out);
        let mut left: Vec<_> = self.notes.texts.iter().filter(|(mark, _)| !self.notes.used.contains(mark)).collect();
        left.sort();
        for (_, (line, text)) in left {
            out.diagnose(Diagnostic::note("footnote", format!("the table says: {text}")).at_line(*line));
        }
    }

    fn pass_on(&mut self, context: &Context, out: &mut dyn Sink) {
        for row in std::mem::take(&mut self.rows) {
            self.table.push(&row, Center::Median, &mut self.notes, context, out);
        }
    }

    /// Cells by the places of the bars.
    fn by_place(&self, number: u64, text: &str) -> Option<Row> {
        let text = text.trim_end();
        let starts = byte_offsets(text, &self.at);
        let mut cells = Vec::with_capacity(self.at.len());
        let mut comparisons = Vec::with_capacity(self.at.len());
        for (i, &from) in starts.iter().enumerate().take(starts.len().saturating_sub(1)) {
            // Nothing stands beyond the last bar.
            let last = i + 2 == starts.len();
            let to = if last { text.len() } else { starts.get(i + 1).copied()? };
            if text.get(from..)?.starts_with(|c: char| !c.is_whitespace()) {
                return None;
            }
            let mut words = Words::new(text.get(from..to)?);
            let cell = if words.is_empty() { None } else { Some(words.cell(Class::Prefixed)?) };
            if cell.as_ref().is_some_and(|c| c.spread.is_none()) {
                return None;
            }
            comparisons.push(if i == 0 || cell.is_none() { None } else { words.comparison() });
            cells.push(cell);
            if !words.is_empty() {
                return None;
            }
        }
        let name = text.get(..*starts.first()?)?.trim().trim_start_matches(['>', ' ', '\t']).to_owned();
        cells.iter().any(Option::is_some).then_some(Row { line: number, name, cells, comparisons })
    }

    /// Cells one after the other, all of them there.
    fn by_word(&self, number: u64, text: &str) -> Option<Row> {
        let mut words = Words::new(text);
        let mut name = Vec::new();
        loop {
            let start = words.position();
            let is_cell = words.cell(Class::Prefixed).is_some_and(|c| c.spread.is_some());
            words.rewind(start);
            if is_cell {
                break;
            }
            name.push(words.next()?);
        }
        let columns = self.at.len().saturating_sub(1);
        let mut cells = Vec::with_capacity(columns);
        let mut comparisons = Vec::with_capacity(columns);
        for i in 0..columns {
            cells.push(Some(words.cell(Class::Prefixed).filter(|c| c.spread.is_some())?));
            comparisons.push(if i == 0 { None } else { words.comparison() });
        }
        words.is_empty().then(|| Row { line: number, name: name.join(" "), cells, comparisons })
    }
}
