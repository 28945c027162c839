//! The geometric mean over a table's rows.
//!
//! Centers are averaged over the rows that all columns have, ratios over the rows that the two columns have. The interval says how exactly
//! the mean ratio of this set of rows is known, from the rows' own errors; with `--geomean-ci population` it is about benchmarks like these.

use super::draft::Draft;
use super::{GeomeanInterval, Plan};
use crate::model::{Evidence, Series};
use crate::pivot::{Column, GridTable};
use crate::report::{Geomean, Row};
use crate::stats::{self, Interval, LogRatio};

/// The geomean of a finished table; `None` where there is nothing to average.
pub(super) fn geomean(drafts: &[Draft], columns: &[Column], base: Option<usize>, plan: &Plan) -> Option<Geomean> {
    let n = columns.len();
    let common: Vec<&Row> = drafts.iter().map(|d| &d.row).filter(|r| (0..n).all(|i| center(r, i).is_some())).collect();
    let of_column = |i: usize| {
        let values: Vec<f64> = common.iter().filter_map(|r| center(r, i)).collect();
        stats::geomean(&values)
    };
    let mut g = Geomean { rows: common.len(), centers: (0..n).map(of_column).collect(), ..Geomean::default() };
    for i in 0..n {
        let (ratio, interval) = match base {
            Some(base) if base != i => ratio(drafts, base, i, plan),
            _ => (None, None),
        };
        g.ratios.push(ratio);
        g.intervals.push(interval.filter(Interval::is_finite).map(|i| (i.lo, i.hi)));
    }
    let not_positive: Vec<&str> =
        common.iter().filter(|r| (0..n).any(|i| center(r, i).is_some_and(|c| c <= 0.0))).map(|r| &*r.name).collect();
    if g.centers.iter().chain(&g.ratios).all(Option::is_none) && not_positive.is_empty() {
        return None;
    }
    if common.len() < drafts.len() && n > 1 {
        let (k, all) = (common.len(), drafts.len());
        g.notes.push(format!(
            "benchmark set differs between the columns; geomean over the {k} of {all} rows present in all"
        ));
    }
    if !not_positive.is_empty() {
        let shown = not_positive.iter().take(3).copied().collect::<Vec<_>>().join(", ");
        let more = if not_positive.len() > 3 { ", ..." } else { "" };
        g.notes.push(format!("no geomean where a value is not above 0: {shown}{more}"));
    }
    if plan.geomean == GeomeanInterval::Population && g.intervals.iter().any(Option::is_some) {
        g.notes.push("its interval is for benchmarks like these, not for these".into());
    }
    Some(g)
}

fn center(row: &Row, i: usize) -> Option<f64> {
    row.cell(i).filter(|c| !c.approximate)?.center
}

/// Geometric mean of the ratios of column `i` to the base over the rows that have both, and its interval.
fn ratio(drafts: &[Draft], base: usize, i: usize, plan: &Plan) -> (Option<f64>, Option<Interval>) {
    let mut ratios = Vec::new();
    let mut errors: Option<Vec<LogRatio>> = Some(Vec::new());
    for d in drafts {
        let (Some(x), Some(y)) = (center(&d.row, base), center(&d.row, i)) else { continue };
        let ratio = if x == y {
            1.0
        } else if x > 0.0 && y > 0.0 {
            y / x
        } else {
            return (None, None);
        };
        ratios.push(ratio);
        // One row of which the error is unknown leaves the whole unknown.
        let error = d.assessments.get(i).and_then(|a| a.as_ref()?.log_ratio);
        errors = errors.zip(error).map(|(mut all, e)| {
            all.push(LogRatio { log_ratio: ratio.ln(), ..e });
            all
        });
    }
    let interval = match plan.geomean {
        GeomeanInterval::Suite => {
            errors.and_then(|e| stats::suite_ratio(&e, plan.confidence)).map(|s| s.ratio.interval)
        }
        GeomeanInterval::Population => {
            let logs: Vec<f64> = ratios.iter().map(|r| r.ln()).collect();
            stats::population_ratio(&logs, plan.confidence).map(|r| r.interval)
        }
    };
    (stats::geomean(&ratios), interval)
}

/// The column with the best geometric mean over the rows that all columns have.
pub(super) fn best_column(table: &GridTable) -> usize {
    let n = table.columns.len();
    let rough = |s: &Series| match &s.evidence {
        Evidence::Raw(o) => stats::moments(&o.values, o.weights()).map(|m| m.mean),
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
