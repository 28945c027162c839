//! CSV of both versions of benchstat.
//!
//! ```text
//! name,old time/op (ns/op),±,new time/op (ns/op),±,delta,±       version 1; -norange leaves out ±; one file: name,time/op (ns/op),±
//! name \ time/op (ns/op),f1,±,f2,±                                version 1, three files or more
//! GobEncode,1.35683E+07,1%,1.17623E+07,1%,-13.31%,(p=0.016 n=4+5)
//!
//! ,old.txt,,new.txt,,,                                            version 2: one record per column field
//! ,sec/op,CI,sec/op,CI,vs base,P                                  and one of units
//! Run-8,1.718e-06,1%,1.4225e-06,1%,-17.20%,p=0.000 n=10
//! ```
//! Records end early where their last cells are missing. Version 1 gives values in the unit in parentheses.

use std::borrow::Cow;

use super::cell::{Cell, Comparison, Test, delta, is_not_finite, spread, test};
use super::{Context, Notes, Row, Table, base_unit, is_group, refuse};
use crate::model::{Center, Sink};
use crate::parse::scan::{plain_fields, whole_decimal};
use crate::parse::{Claim, Line};
use crate::units::{Unit, tidy::tidy};

/// A table being read.
pub struct Csv {
    table: Table,
    center: Center,
    columns: Vec<Places>,
    /// Keys set by the last group line.
    group: Vec<String>,
}

/// Fields of a column.
struct Places {
    value: usize,
    spread: Option<usize>,
    /// Delta; its test is in the field behind it.
    delta: Option<usize>,
}

/// Fields of one record.
pub fn fields(line: &[u8]) -> Vec<Cow<'_, str>> {
    if memchr::memchr(b'"', line).is_none() {
        return line.split(|&b| b == b',').map(String::from_utf8_lossy).collect();
    }
    if let Some(plain) = plain_fields(line, b',') {
        return plain.into_iter().map(String::from_utf8_lossy).collect();
    }
    let mut reader = ::csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(line);
    let mut record = ::csv::ByteRecord::new();
    match reader.read_byte_record(&mut record) {
        Ok(true) => record.iter().map(|f| Cow::Owned(String::from_utf8_lossy(f).into_owned())).collect(),
        _ => Vec::new(),
    }
}

/// Whether these are the units of a version 2 table.
pub fn is_units(fields: &[Cow<'_, str>]) -> bool {
    matches!(fields, [name, unit, ci, ..] if name.is_empty() && !unit.is_empty() && ci == "CI")
}

impl Csv {
    /// A version 2 table with these records of labels and of units.
    pub fn start_v2(labels: &[Vec<String>], units: &[Cow<'_, str>], context: &mut Context, out: &mut dyn Sink) -> Csv {
        let mut columns = Vec::new();
        for (i, pair) in units.windows(2).enumerate().skip(1) {
            if let [unit, ci] = pair
                && ci == "CI"
                && !unit.is_empty()
            {
                let compared = units.get(i + 2).is_some_and(|f| f == "vs base");
                columns.push(Places { value: i, spread: Some(i + 1), delta: compared.then_some(i + 2) });
            }
        }
        let label = |place: usize| {
            let parts = labels.iter().filter_map(|l| l.get(place)).map(String::as_str).filter(|t| !t.is_empty());
            parts.collect::<Vec<_>>().join(" ")
        };
        let names = columns
            .iter()
            .enumerate()
            .map(|(i, c)| Some(if labels.is_empty() { (i + 1).to_string() } else { label(c.value) }))
            .collect();
        let unit = base_unit(units.get(1).map_or("", |u| u));
        let table = context.begin_v2(names, &unit, out);
        Csv { table, center: Center::Median, columns, group: Vec::new() }
    }

    /// A version 1 table, if this is its header.
    pub fn start_v1(fields: &[Cow<'_, str>], context: &mut Context, out: &mut dyn Sink) -> Option<Csv> {
        let (first, rest) = fields.split_first()?;
        let ranged = rest.get(1).is_some_and(|f| f == "±");
        let place = |k: usize| 1 + k * if ranged { 2 } else { 1 };
        let places = |k: usize, delta| Places { value: place(k), spread: ranged.then(|| place(k) + 1), delta };
        let (metric, names, columns) = if let Some(metric) = first.strip_prefix("name \\ ") {
            let files: Vec<_> = rest.iter().filter(|f| *f != "±").map(|f| Some(f.to_string())).collect();
            let columns = (0..files.len()).map(|k| places(k, None)).collect();
            (metric.to_owned(), files, columns)
        } else if first == "name" {
            let cells: Vec<&str> = rest.iter().map(|f| &**f).filter(|f| *f != "±").collect();
            match cells[..] {
                [one] => (one.to_owned(), vec![None], vec![places(0, None)]),
                [old, new, "delta"] => {
                    let metric = old.strip_prefix("old ")?;
                    (new.strip_prefix("new ")? == metric).then_some(())?;
                    let columns = vec![places(0, None), places(1, Some(place(2)))];
                    (metric.to_owned(), vec![Some("old".to_owned()), Some("new".to_owned())], columns)
                }
                _ => return None,
            }
        } else {
            return None;
        };
        let raw = metric.strip_suffix(')')?.rsplit_once(" (")?.1;
        let tidied = tidy(raw);
        let unit = Unit::new(&base_unit(&tidied.name).name, raw);
        if names.is_empty() {
            return None;
        }
        let table = context.begin(names, &unit, tidied.factor, out);
        Some(Csv { table, center: Center::Mean, columns, group: Vec::new() })
    }

    /// A line after the header; `None` when the table is over.
    pub fn line(&mut self, line: Line<'_>, context: &mut Context, out: &mut dyn Sink) -> Option<Claim> {
        let fields = fields(line.bytes);
        let name = fields.first()?;
        if let [only] = &fields[..] {
            if self.center == Center::Mean && is_group(only) {
                context.group(only, &mut self.group, &mut self.table);
                return Some(Claim::Mine);
            }
            self.leave(context);
            return None;
        }
        let of = |place: usize| fields.get(place).map(|f| f.trim()).filter(|f| !f.is_empty());
        let no_spread = self.columns.iter().all(|c| c.spread.is_none_or(|s| of(s).is_none()));
        if matches!(&**name, "[Geo mean]" | "[Geomean]") || (name == "geomean" && no_spread) {
            return Some(Claim::Mine);
        }
        let mut cells = Vec::with_capacity(self.columns.len());
        let mut comparisons = Vec::with_capacity(self.columns.len());
        for column in &self.columns {
            let Some(text) = of(column.value) else {
                cells.push(None);
                comparisons.push(None);
                continue;
            };
            let Some(value) = whole_decimal(text.as_bytes()) else {
                if is_not_finite(text) || cells.iter().any(Option::is_some) {
                    refuse(line, text, "a finite value", out);
                    return Some(Claim::Mine);
                }
                self.leave(context);
                return None;
            };
            let shown = column.spread.and_then(of);
            let spread = shown.and_then(spread);
            if let (Some(shown), None) = (shown, spread) {
                refuse(line, shown, "a percentage", out);
                return Some(Claim::Mine);
            }
            // Printed in full, so the last place says nothing of how exact the value is.
            let value = crate::parse::scan::Decimal {
                resolution: if self.center == Center::Median { 0.0 } else { value.resolution },
                ..value
            };
            cells.push(Some(Cell { value, spread, marks: Vec::new() }));
            comparisons.push(column.delta.and_then(|d| {
                let delta = delta(of(d)?)?;
                let found = of(d + 1).map(|t| test(t.trim_start_matches('(').trim_end_matches(')')));
                Some(Comparison { delta, test: found.unwrap_or_else(Test::default), marks: Vec::new() })
            }));
        }
        if cells.iter().all(Option::is_none) {
            return Some(Claim::Maybe);
        }
        let row = Row { line: line.number, name: name.to_string(), cells, comparisons };
        self.table.push(&row, self.center, &mut Notes::default(), context, out);
        Some(Claim::Mine)
    }

    /// The group of this table does not hold for another.
    fn leave(&mut self, context: &mut Context) {
        for key in self.group.drain(..) {
            context.settings.set(&key, "");
        }
    }
}
