//! Text of benchstat version 1.
//!
//! ```text
//! name        old time/op    new time/op    delta            name  time/op          name \ time/op   f1           f2           f3
//! pkg:encoding/gob goos:linux                                  X     13.6ms ± 1%      X               13.6ms ± 1%               12ms ±11%
//! GobEncode     13.6ms ± 1%    11.8ms ± 1%  -13.31%  (p=0.016 n=4+5)
//! ```
//! Columns stand two blanks apart. A spread is blank where the mean is 0. With two files every row has both cells; with more a cell may
//! be missing, then its place tells the column. Rows of two files are also read without a header and from lines joined to one.

use super::cell::{Class, Words, class_of, is_not_finite};
use super::{Context, Notes, Row, Table, is_group, refuse};
use crate::model::{Center, Sink};
use crate::parse::{Claim, Line};
use crate::units::{Unit, tidy::tidy};

/// A table being read.
pub struct Text {
    table: Table,
    class: Class,
    form: Form,
    /// Keys set by the last group line.
    group: Vec<String>,
    /// It began with a row, not with a header.
    headless: bool,
}

enum Form {
    /// `name  M`
    One,
    /// `name  old M  new M  delta`
    Two,
    /// `name \ M  f1  f2 ...`: where each column begins, in characters.
    Many(Vec<usize>),
}

/// The unit and writing of a metric heading, and the factor of its values.
pub fn metric(name: &str) -> (Unit, Class, f64) {
    const KNOWN: [(&str, &str, Class); 4] = [
        ("time/op", "sec/op", Class::Time),
        ("time/GC", "sec/GC", Class::Time),
        ("alloc/op", "B/op", Class::Bytes),
        ("speed", "B/sec", Class::Speed),
    ];
    for (metric, unit, class) in KNOWN {
        if let Some(front) = name.strip_suffix(metric)
            && (front.is_empty() || front.ends_with('-'))
        {
            return (Unit::new(&format!("{front}{unit}"), name), class, 1.0);
        }
    }
    let tidied = tidy(name);
    let bytes = ["B/op", "bytes/op", "bytes"]
        .iter()
        .any(|b| name == *b || name.strip_suffix(b).is_some_and(|f| f.ends_with('-')));
    let class = if bytes { Class::Bytes } else { Class::Plain };
    (Unit::new(&super::base_unit(&tidied.name).name, name), class, tidied.factor)
}

impl Text {
    /// A table that begins on this line, and what the line was.
    pub fn start(line: Line<'_>, context: &mut Context, out: &mut dyn Sink) -> Option<(Text, Claim)> {
        let bytes = line.bytes;
        if let Some(at) = super::NAME.find(bytes) {
            let text = line.text();
            let trimmed = text.trim().trim_start_matches(['>', ' ', '\t']);
            if let Some(many) = trimmed.strip_prefix("name \\ ") {
                return Some((Text::many(&text, many, context, out)?, Claim::Mine));
            }
            if let Some(table) = Text::one(trimmed, context, out) {
                return Some((table, Claim::Mine));
            }
            // Joined lines: the header may stand anywhere.
            for start in super::NAME.find_iter(bytes.get(at..)?).map(|i| i + at) {
                // A long line may hold the word any number of times: look at a short piece first.
                let piece = String::from_utf8_lossy(bytes.get(start..bytes.len().min(start + 400))?);
                if two_files(&mut Words::new(&piece)).is_none() {
                    continue;
                }
                let rest = String::from_utf8_lossy(bytes.get(start..)?);
                let mut words = Words::new(&rest);
                let Some(name) = two_files(&mut words) else { continue };
                let joined = !words.is_empty();
                if start > 0 && !joined && bytes.get(..start)?.iter().any(u8::is_ascii_alphanumeric) {
                    continue;
                }
                let (unit, class, factor) = metric(name);
                let columns = vec![Some("old".to_owned()), Some("new".to_owned())];
                let table = context.begin(columns, &unit, factor, out);
                let mut this = Text { table, class, form: Form::Two, group: Vec::new(), headless: false };
                if joined {
                    this.rows_of_two(line, &mut words, context, out);
                }
                return Some((this, Claim::Mine));
            }
        }
        Text::headless(line, context, out).map(|t| (t, Claim::Mine))
    }

    /// `name  M`, two words and no more.
    fn one(trimmed: &str, context: &mut Context, out: &mut dyn Sink) -> Option<Text> {
        let rest = trimmed.strip_prefix("name")?;
        let name = rest.trim();
        if !rest.starts_with("  ") || name.is_empty() || name.contains(char::is_whitespace) {
            return None;
        }
        let (unit, class, factor) = metric(name);
        let table = context.begin(vec![None], &unit, factor, out);
        Some(Text { table, class, form: Form::One, group: Vec::new(), headless: false })
    }

    /// `M  f1  f2 ...` after `name \ `.
    fn many(text: &str, many: &str, context: &mut Context, out: &mut dyn Sink) -> Option<Text> {
        let cells: Vec<&str> = many.split("  ").map(str::trim).filter(|c| !c.is_empty()).collect();
        let (name, files) = cells.split_first()?;
        if files.is_empty() || name.contains(char::is_whitespace) {
            return None;
        }
        let mut starts = Vec::with_capacity(files.len());
        let mut from = text.find(name)? + name.len();
        for file in files {
            let at = from + text.get(from..)?.find(file)?;
            starts.push(text.get(..at)?.chars().count());
            from = at + file.len();
        }
        let (unit, class, factor) = metric(name);
        let columns = files.iter().map(|f| Some((*f).to_owned())).collect();
        let table = context.begin(columns, &unit, factor, out);
        Some(Text { table, class, form: Form::Many(starts), group: Vec::new(), headless: false })
    }

    /// A row of two files without a header: both spreads and the test must be there.
    fn headless(line: Line<'_>, context: &mut Context, out: &mut dyn Sink) -> Option<Text> {
        super::P_VALUE.find(line.bytes)?;
        let text = line.text();
        let mut words = Words::new(&text);
        let _name = words.next()?;
        let (class, name) = class_of(words.peek()?)?;
        let (old, new) = (words.cell(class)?, words.cell(class)?);
        let comparison = words.comparison()?;
        if old.spread.is_none() || new.spread.is_none() || comparison.test.p.is_none() || !words.is_empty() {
            return None;
        }
        let (unit, class, factor) = metric(name);
        let columns = vec![Some("old".to_owned()), Some("new".to_owned())];
        let table = context.begin(columns, &unit, factor, out);
        let mut this = Text { table, class, form: Form::Two, group: Vec::new(), headless: true };
        words.rewind(0);
        this.rows_of_two(line, &mut words, context, out);
        Some(this)
    }

    /// A line inside the table; `None` when the table is over.
    pub fn line(&mut self, line: Line<'_>, context: &mut Context, out: &mut dyn Sink) -> Option<Claim> {
        let text = line.text();
        let trimmed = text.trim().trim_start_matches(['>', ' ', '\t']);
        if trimmed.starts_with("[Geo mean]") || trimmed.starts_with("[Geomean]") {
            return Some(Claim::Mine);
        }
        if !trimmed.contains(char::is_whitespace) && !trimmed.is_empty() && !self.headless && !is_group(trimmed) {
            // A benchmark without this metric, or a heading: the table may go on.
            context.heading = trimmed.as_bytes().get(..200).unwrap_or(trimmed.as_bytes()).to_owned();
            return Some(Claim::Maybe);
        }
        if !self.headless && is_group(trimmed) {
            context.group(trimmed, &mut self.group, &mut self.table);
            return Some(Claim::Mine);
        }
        let mut words = Words::new(trimmed);
        let claim = match &self.form {
            Form::Two => self.rows_of_two(line, &mut words, context, out),
            Form::One => self.row_of_one(line, &mut words, context, out),
            Form::Many(starts) => {
                let starts = starts.clone();
                self.row_of_many(line, &text, &mut words, &starts, context, out)
            }
        };
        if claim.is_none() {
            // The group of this table does not hold for another.
            for key in self.group.drain(..) {
                context.settings.set(&key, "");
            }
        }
        claim
    }

    /// One row, or several that a paste joined; `None` when there is none.
    fn rows_of_two(
        &mut self,
        line: Line<'_>,
        words: &mut Words<'_>,
        context: &Context,
        out: &mut dyn Sink,
    ) -> Option<Claim> {
        let mut claim = None;
        loop {
            let start = words.position();
            let name = self.name(words)?;
            let (old, new) = (words.cell(self.class), words.cell(self.class));
            let (Some(old), Some(new)) = (old, new) else {
                words.rewind(start + 1);
                if claim.is_none() && words.peek().is_some_and(is_not_finite) {
                    refuse(line, words.peek().unwrap_or_default(), "a finite value", out);
                    return Some(Claim::Mine);
                }
                return claim;
            };
            let comparison = words.comparison();
            // Without any sign of benchstat it is a line of two numbers.
            if comparison.is_none() && (old.spread.is_none() || new.spread.is_none()) {
                return claim;
            }
            let row =
                Row { line: line.number, name, cells: vec![Some(old), Some(new)], comparisons: vec![None, comparison] };
            self.push(&row, context, out);
            claim = Some(Claim::Mine);
            if words.is_empty() {
                return claim;
            }
        }
    }

    fn row_of_one(
        &mut self,
        line: Line<'_>,
        words: &mut Words<'_>,
        context: &Context,
        out: &mut dyn Sink,
    ) -> Option<Claim> {
        let name = self.name(words)?;
        let Some(cell) = words.cell(self.class) else {
            return match words.peek() {
                Some(w) if is_not_finite(w) => {
                    refuse(line, w, "a finite value", out);
                    Some(Claim::Mine)
                }
                _ => None,
            };
        };
        if !words.is_empty() || (cell.spread.is_none() && cell.value.value != 0.0) {
            return None;
        }
        let row = Row { line: line.number, name, cells: vec![Some(cell)], comparisons: vec![None] };
        self.push(&row, context, out);
        Some(Claim::Mine)
    }

    fn row_of_many(
        &mut self,
        line: Line<'_>,
        text: &str,
        words: &mut Words<'_>,
        starts: &[usize],
        context: &Context,
        out: &mut dyn Sink,
    ) -> Option<Claim> {
        let name = self.name(words)?;
        let mut cells = Vec::new();
        while let Some(cell) = words.cell(self.class) {
            cells.push(Some(cell));
        }
        if words.peek().is_some_and(is_not_finite) {
            refuse(line, words.peek().unwrap_or_default(), "a finite value", out);
            return Some(Claim::Mine);
        }
        if !words.is_empty() || cells.len() > starts.len() {
            return None;
        }
        if cells.is_empty() {
            return None;
        }
        if cells.len() < starts.len() {
            // Some are missing: their places tell which.
            let chars: Vec<char> = text.chars().collect();
            let part = |i: usize| {
                let from = (*starts.get(i)?).min(chars.len());
                let to = starts.get(i + 1).map_or(chars.len(), |t| (*t).min(chars.len()));
                Words::new(&chars.get(from..to)?.iter().collect::<String>()).cell(self.class)
            };
            let placed: Vec<_> = (0..starts.len()).map(part).collect();
            if placed.iter().flatten().count() != cells.len() {
                refuse(line, text.trim(), "a value in each column, or blanks that keep the columns apart", out);
                return Some(Claim::Mine);
            }
            cells = placed;
        }
        let comparisons = vec![None; cells.len()];
        let row = Row { line: line.number, name, cells, comparisons };
        self.push(&row, context, out);
        Some(Claim::Mine)
    }

    /// The name of a row; empty for a benchmark that was called just `Benchmark`.
    fn name(&self, words: &mut Words<'_>) -> Option<String> {
        let start = words.position();
        if words.cell(self.class).is_some_and(|c| c.spread.is_some()) {
            words.rewind(start);
            return Some(String::new());
        }
        words.rewind(start);
        words.next().map(str::to_owned)
    }

    fn push(&mut self, row: &Row, context: &Context, out: &mut dyn Sink) {
        self.table.push(row, Center::Mean, &mut Notes::default(), context, out);
    }
}

/// Takes `name old M new M delta`; M.
fn two_files<'a>(words: &mut Words<'a>) -> Option<&'a str> {
    let mut next = || words.next();
    let header = (next()?, next()?, next()?, next()?, next()?, next()?);
    let (name, old, a, new, b, delta) = header;
    (name == "name" && old == "old" && new == "new" && a == b && delta == "delta").then_some(a)
}
