//! Small tables compared in tests: rows of series, one per column.

use super::{Plan, compare};
use crate::base::SourceId;
use crate::model::{Center, Evidence, Observations, PrintedComparison, Reading, Series, Spread, Summary};
use crate::pivot::{Column, Grid, GridCell, GridRow, GridTable};
use crate::report::{Comparison, Report};
use crate::units::Unit;

/// Independent values.
pub fn flat(values: &[f64]) -> Series {
    of(Evidence::Raw(Observations::new(values.to_vec())))
}

/// One list per process.
pub fn forked(forks: &[&[f64]]) -> Series {
    let mut o = Observations::default();
    for (block, values) in forks.iter().enumerate() {
        for v in *values {
            o.push(*v, 1, Some(block as u32));
        }
    }
    of(Evidence::Raw(o))
}

/// Values with counts, of one process if `block`.
pub fn histogram(values: &[(f64, u64)], block: Option<u32>) -> Series {
    let mut o = Observations::default();
    for (v, weight) in values {
        o.push(*v, *weight, block);
    }
    of(Evidence::Raw(o))
}

/// A JMH row: mean, 99.9 % error and number of values, printed with `resolution`.
pub fn jmh(value: f64, error: f64, n: u64, resolution: f64) -> Summary {
    Summary {
        center: Center::Mean,
        value,
        spread: Spread::StudentError { half_width: error, confidence: 0.999, resolution },
        n: Some(n),
        forks: None,
        resolution,
        approximate: false,
    }
}

/// A cell of a benchstat table, with what the table says of it.
pub fn cell_of_table(value: f64, printed: Option<(Option<f64>, f64)>) -> Series {
    let mut series =
        summary(Summary { center: Center::Median, spread: Spread::Percent(1.0), ..jmh(value, 0.0, 10, 0.0) });
    if let Some((delta_pct, p)) = printed {
        series.push(&Reading::Printed(PrintedComparison { delta_pct, p: Some(p), notes: vec![] }), None);
    }
    series
}

/// A series that is a summary.
pub fn summary(s: Summary) -> Series {
    of(Evidence::Summary(Box::new(s)))
}

fn of(evidence: Evidence) -> Series {
    Series::of(evidence)
}

/// Two columns, `old` and `new`, of the rows `A`, `B`, ...; `None`: no cell.
pub fn grid(unit: &str, rows: Vec<[Option<Series>; 2]>) -> Grid {
    let column = |label: &str| Column { label: label.into(), keys: vec![(".file".into(), label.into())], fields: 1 };
    let cell = |(i, series): (usize, Option<Series>)| {
        series.map(|series| GridCell { series, source: Some(SourceId(i as u32)), varies_in: vec![] })
    };
    let rows = rows
        .into_iter()
        .enumerate()
        .map(|(i, cells)| GridRow {
            name: char::from(b'A' + i as u8).to_string().into(),
            keys: [].into(),
            cells: cells.into_iter().enumerate().map(cell).collect(),
        })
        .collect();
    let table = GridTable {
        keys: [].into(),
        unit: Unit::new(unit, unit),
        exact: false,
        columns: vec![column("old"), column("new")],
        rows,
    };
    Grid::new(vec![table])
}

/// [`grid`] of times, compared.
pub fn report(rows: Vec<[Option<Series>; 2]>, plan: &Plan) -> Report {
    compare(grid("sec/op", rows), vec![], vec![], plan).unwrap()
}

/// The comparison of a single row of times.
pub fn pair(old: Series, new: Series, plan: &Plan) -> Comparison {
    report(vec![[Some(old), Some(new)]], plan).tables[0].rows[0].comparison(1).unwrap()
}

/// `center` times 1 plus each of `n` steps that spread by `spread` in all, in an order without trend.
pub fn around(center: f64, spread: f64, n: usize) -> Vec<f64> {
    (0..n).map(|i| center * (1.0 + spread * ((i * 7 % n) as f64 / (n - 1) as f64 - 0.5))).collect()
}

/// Texts of the notes of row `i`.
pub fn notes(report: &Report, i: usize) -> Vec<&str> {
    let table = &report.tables[0];
    table.rows[i].notes().map(|n| &*table.notes[n]).collect()
}
