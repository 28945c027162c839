//! CSV in long form: one record per benchmark, unit and compared column (or per column, where nothing is compared). Numbers in base
//! units at full precision; an empty field is unknown.

use std::io::{self, Write};

use super::Render;
use super::json::kind_word;
use crate::pivot::Pair;
use crate::report::{Cell, Comparison, Report, Row, Table};
use crate::units::Direction;

/// The renderer.
#[derive(Clone, Copy, Debug, Default)]
pub struct Csv;

const HEADER: [&str; 33] = [
    "table",
    "name",
    "keys",
    "unit",
    "better",
    "base",
    "column",
    "base_evidence",
    "base_n",
    "base_forks",
    "base_kind",
    "base_center",
    "base_lo",
    "base_hi",
    "base_sd",
    "evidence",
    "n",
    "forks",
    "kind",
    "center",
    "lo",
    "hi",
    "sd",
    "delta_pct",
    "ratio",
    "ratio_lo",
    "ratio_hi",
    "confidence",
    "p",
    "p_adjusted",
    "test",
    "verdict",
    "why",
];

impl Render for Csv {
    fn render(&self, report: &Report, out: &mut dyn Write) -> io::Result<()> {
        let mut writer = csv::Writer::from_writer(out);
        writer.write_record(HEADER).map_err(io_error)?;
        for table in &report.tables {
            for row in &table.rows {
                rows(table, row, &mut writer)?;
            }
        }
        writer.flush()
    }
}

/// The error of the writer below: what the library makes of it by itself is of no kind, and a broken pipe must be known.
pub(super) fn io_error(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    }
}

fn rows(table: &Table, row: &Row, writer: &mut csv::Writer<&mut dyn Write>) -> io::Result<()> {
    let base = table.base.and_then(|b| row.cell(b));
    let base_label = table.base.map_or("", |b| table.columns[b].label.as_str());
    let mut written = false;
    for (i, cell) in row.cells().enumerate() {
        if table.base == Some(i) || (cell.is_none() && row.comparison(i).is_none()) {
            continue;
        }
        record(
            table,
            row,
            (base_label, base.as_ref()),
            (&table.columns[i].label, cell.as_ref()),
            row.comparison(i).as_ref(),
            writer,
        )?;
        written = true;
    }
    if !written {
        // Only in the base column.
        record(table, row, (base_label, base.as_ref()), ("", None), None, writer)?;
    }
    Ok(())
}

fn record(
    table: &Table,
    row: &Row,
    (base_label, base): (&str, Option<&Cell>),
    (label, cell): (&str, Option<&Cell>),
    comparison: Option<&Comparison>,
    writer: &mut csv::Writer<&mut dyn Write>,
) -> io::Result<()> {
    let pairs = |pairs: &[Pair]| pairs.iter().map(|(k, v)| format!("{k}={v}")).collect::<Vec<_>>().join(" ");
    let better = table.unit.better.map_or("", |b| if b == Direction::Lower { "lower" } else { "higher" });
    let mut fields: Vec<String> = vec![
        pairs(&table.keys),
        row.name.to_string(),
        pairs(&row.keys),
        table.unit.name.to_string(),
        better.to_owned(),
        base_label.to_owned(),
        label.to_owned(),
    ];
    side(base, &mut fields);
    side(cell, &mut fields);
    let c = comparison;
    fields.extend([
        number(c.and_then(|c| c.delta_pct)),
        number(c.and_then(|c| c.ratio)),
        number(c.and_then(|c| c.lo)),
        number(c.and_then(|c| c.hi)),
        number(c.map(|c| c.confidence).or(cell.map(|c| c.confidence))),
        number(c.and_then(|c| c.p)),
        number(c.and_then(|c| c.p_adjusted)),
        c.map_or("", |c| c.test.word()).to_owned(),
        c.map_or("", |c| c.verdict.word(table.unit.dim())).to_owned(),
        c.and_then(|c| c.why).map_or("", |w| w.word()).to_owned(),
    ]);
    writer.write_record(&fields).map_err(io_error)?;
    Ok(())
}

fn side(cell: Option<&Cell>, fields: &mut Vec<String>) {
    let whole = |n: Option<u64>| n.map_or(String::new(), |n| n.to_string());
    let c = cell;
    fields.extend([
        c.map_or("", |c| if c.raw { "raw" } else { "summary" }).to_owned(),
        whole(c.and_then(|c| c.n)),
        whole(c.and_then(|c| c.forks)),
        c.and_then(|c| c.kind).map_or("", kind_word).to_owned(),
        number(c.and_then(|c| c.center)),
        number(c.and_then(|c| c.lo)),
        number(c.and_then(|c| c.hi)),
        number(c.and_then(|c| c.sd)),
    ]);
}

/// Shortest digits that read back to the same number, with an exponent where the plain form is long.
pub(super) fn number(value: Option<f64>) -> String {
    match value {
        None => String::new(),
        Some(v) if v != 0.0 && !(1e-5..1e15).contains(&v.abs()) => format!("{v:e}"),
        Some(v) => v.to_string(),
    }
}
