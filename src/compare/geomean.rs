//! The geometric mean over a table's rows.

use super::Plan;
use crate::model::{Evidence, Series};
use crate::pivot::{Column, GridTable};
use crate::report::{Comparison, Geomean, Row};
use crate::stats::{self, Interval, LogRatio, Ratio};

/// The geomean of a finished table; `None` where no column has a positive center.
pub(super) fn geomean(rows: &[&Row], columns: &[Column], base: Option<usize>, plan: &Plan) -> Option<Geomean> {
    let n = columns.len();
    let center = |r: &Row, i: usize| r.cells[i].as_ref().filter(|c| !c.approximate).and_then(|c| c.center);
    let common: Vec<&&Row> = rows.iter().filter(|r| (0..n).all(|i| center(r, i).is_some())).collect();
    let mut g = Geomean { rows: common.len(), ..Geomean::default() };
    let mut not_positive: Vec<&str> = Vec::new();
    for i in 0..n {
        let values: Vec<f64> = common.iter().filter_map(|r| center(r, i)).collect();
        g.centers.push(if values.is_empty() { None } else { stats::geomean(&values) });
    }
    for r in &common {
        if (0..n).any(|i| center(r, i).is_some_and(|c| c <= 0.0)) {
            not_positive.push(&r.name);
        }
    }
    for i in 0..n {
        let Some(base) = base.filter(|&b| b != i) else {
            g.ratios.push(None);
            g.intervals.push(None);
            continue;
        };
        let mut ratios = Vec::new();
        let mut errors = Vec::new();
        let mut defined = true;
        for r in rows {
            let (Some(x), Some(y)) = (center(r, base), center(r, i)) else { continue };
            let ratio = if x == y {
                1.0
            } else if x > 0.0 && y > 0.0 {
                y / x
            } else {
                defined = false;
                continue;
            };
            ratios.push(ratio);
            errors.push(r.comparisons[i].as_ref().and_then(|c| log_ratio(ratio, c)));
        }
        let ratio = if defined && !ratios.is_empty() { stats::geomean(&ratios) } else { None };
        g.ratios.push(ratio);
        let all: Option<Vec<LogRatio>> = errors.into_iter().collect();
        let suite = ratio.and(all).and_then(|rows| stats::suite_ratio(&rows, plan.confidence));
        g.intervals.push(suite.map(|s| s.ratio.interval).filter(Interval::is_finite).map(|i| (i.lo, i.hi)));
    }
    if g.centers.iter().all(Option::is_none) && g.ratios.iter().all(Option::is_none) && not_positive.is_empty() {
        return None;
    }
    if common.len() < rows.len() && n > 1 {
        let (k, all) = (common.len(), rows.len());
        g.notes.push(format!(
            "benchmark set differs between the columns; geomean over the {k} of {all} rows present in all"
        ));
    }
    if !not_positive.is_empty() {
        let shown = not_positive.iter().take(3).copied().collect::<Vec<_>>().join(", ");
        let more = if not_positive.len() > 3 { ", ..." } else { "" };
        g.notes.push(format!("no geomean where a value is not above 0: {shown}{more}"));
    }
    Some(g)
}

/// The row's ratio of centers with the error that its interval shows.
fn log_ratio(ratio: f64, c: &Comparison) -> Option<LogRatio> {
    let (lo, hi) = (c.lo?, c.hi?);
    let interval = Interval { lo, hi, confidence: c.confidence, coverage: None };
    LogRatio::from_interval(&Ratio { ratio, interval })
}

/// The column with the best geometric mean over the rows that all columns have.
pub(super) fn best_column(table: &GridTable) -> usize {
    let n = table.columns.len();
    let rough = |s: &Series| match &s.evidence {
        Evidence::Raw(o) => stats::moments(&o.values, o.weights.as_deref()).map(|m| m.mean),
        Evidence::Summary(s) => Some(s.value),
        Evidence::Mixed => None,
    };
    let common: Vec<Vec<f64>> = table
        .rows
        .iter()
        .filter_map(|r| {
            r.cells.iter().map(|c| c.as_ref().and_then(|c| rough(&c.series)).filter(|v| *v > 0.0)).collect()
        })
        .collect();
    let score = |i: usize| common.iter().map(|r| r[i].ln()).sum::<f64>();
    let lower = table.unit.better != Some(crate::units::Direction::Higher);
    (0..n)
        .reduce(|best, i| if (score(i) < score(best)) == lower && score(i) != score(best) { i } else { best })
        .unwrap_or(0)
}
