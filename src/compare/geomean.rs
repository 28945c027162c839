//! The geometric mean over a table's rows.
//!
//! Centers are averaged over the rows that all columns have, ratios over the rows that the two columns have. The interval says how exactly
//! the mean ratio of this set of rows is known, from the rows' own errors; with `--geomean-ci population` it is about benchmarks like these.

use smallvec::SmallVec;

use super::draft::Draft;
use super::{GeomeanInterval, Plan};
use crate::model::{Evidence, Series};
use crate::pivot::{Column, GridTable};
use crate::report::{Geomean, Row};
use crate::stats::{self, Interval, LogRatio};

/// The centers of one row, one per column, gathered once: drafts are large, and there may be many. `None`: no exact center.
type Centers = SmallVec<[Option<f64>; 2]>;

/// The geomean of a table whose rows are drafted; `None` where there is nothing to average.
pub(super) fn geomean(
    rows: &[Row],
    drafts: &[Draft],
    columns: &[Column],
    base: Option<usize>,
    plan: &Plan,
) -> Option<Geomean> {
    let n = columns.len();
    let center = |r: &Row, i: usize| r.cell(i).filter(|c| !c.approximate).and_then(|c| c.center);
    let lines: Vec<Centers> = rows.iter().map(|r| (0..n).map(|i| center(r, i)).collect()).collect();
    let is_common = |l: &&Centers| l.iter().all(Option::is_some);
    let common = lines.iter().filter(is_common).count();
    let of_column = |i: usize| {
        let values: Vec<f64> = lines.iter().filter(is_common).filter_map(|l| l[i]).collect();
        stats::geomean(&values)
    };
    let mut g = Geomean { rows: common, centers: (0..n).map(of_column).collect(), ..Geomean::default() };
    for i in 0..n {
        let (ratio, interval) = match base {
            Some(base) if base != i => ratio(drafts, &lines, base, i, plan),
            _ => (None, None),
        };
        g.ratios.push(ratio);
        g.intervals.push(interval.filter(Interval::is_finite).map(|i| (i.lo, i.hi)));
    }
    let is_positive = |l: &Centers| l.iter().flatten().all(|c| *c > 0.0);
    let not_positive: Vec<&str> =
        lines.iter().zip(rows).filter(|(l, _)| is_common(l) && !is_positive(l)).map(|(_, r)| &*r.name).collect();
    if g.centers.iter().chain(&g.ratios).all(Option::is_none) && not_positive.is_empty() {
        return None;
    }
    if common < rows.len() && n > 1 {
        g.notes.push(format!(
            "benchmark set differs between the columns; geomean over the {common} of {} rows present in all",
            rows.len()
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

/// Geometric mean of the ratios of column `i` to the base over the rows that have both, and its interval.
fn ratio(drafts: &[Draft], lines: &[Centers], base: usize, i: usize, plan: &Plan) -> (Option<f64>, Option<Interval>) {
    let mut ratios = Vec::new();
    for l in lines {
        let (Some(x), Some(y)) = (l[base], l[i]) else { continue };
        ratios.push(if x == y {
            1.0
        } else if x > 0.0 && y > 0.0 {
            y / x
        } else {
            return (None, None);
        });
    }
    let logs: Vec<f64> = ratios.iter().map(|r: &f64| r.ln()).collect();
    let interval = match plan.geomean {
        GeomeanInterval::Suite => {
            let both = drafts.iter().zip(lines).filter(|(_, l)| l[base].is_some() && l[i].is_some());
            // One row of which the error is unknown leaves the whole unknown.
            let errors: Option<Vec<LogRatio>> = both
                .zip(&logs)
                .map(|((d, _), &log_ratio)| Some(LogRatio { log_ratio, ..d.assessment(i)?.log_ratio? }))
                .collect();
            errors.and_then(|e| stats::suite_ratio(&e, plan.confidence)).map(|s| s.ratio.interval)
        }
        GeomeanInterval::Population => stats::population_ratio(&logs, plan.confidence).map(|r| r.interval),
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
