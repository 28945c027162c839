//! Which rows are shown, and in which order; hidden rows stay in the report.

use super::{Report, Row, Verdict};

/// Order of the rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Sort {
    /// As the rows came.
    #[default]
    Input,
    /// By name, numbers inside names by value.
    Name,
    /// Largest change first, worse before better.
    Change,
}

/// What to show.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// Order of the rows.
    pub sort: Sort,
    /// Verdict words to show; empty: no choice made.
    pub only: Vec<String>,
    /// Show all rows, however many.
    pub all: bool,
}

/// Above this many rows in a table only the changed ones are shown, unless all are asked for.
pub const ROW_LIMIT: usize = 60;

/// Sorts and hides rows of `report`.
pub fn select(report: &mut Report, selection: &Selection) {
    for table in &mut report.tables {
        match selection.sort {
            Sort::Input => {}
            Sort::Name => table.rows.sort_by(|a, b| natural(&a.name, &b.name)),
            Sort::Change => table.rows.sort_by(|a, b| size(b).total_cmp(&size(a))),
        }
        let dim = table.unit.dim();
        let compared = table.base.is_some();
        let long = table.rows.len() > ROW_LIMIT;
        for row in &mut table.rows {
            let words = || row.verdicts().map(|v| v.word(dim));
            row.hidden = !selection.only.is_empty()
                && !words().any(|w| selection.only.iter().any(|o| o == w || o == w.trim_end_matches('?')));
            row.beyond_limit = selection.only.is_empty()
                && !selection.all
                && compared
                && long
                && !row.verdicts().any(|v| v.is_change());
        }
    }
}

/// Sort key of `--sort change`: worse before better, then by size of the change on the log scale.
fn size(row: &Row) -> f64 {
    row.comparisons()
        .map(|(_, c)| {
            let size = c.ratio.filter(|r| *r > 0.0).map_or(0.0, |r| r.ln().abs());
            match c.verdict {
                Verdict::Worse { .. } => 3e3 + size,
                Verdict::Better { .. } => 2e3 + size,
                Verdict::Changed { .. } => 1e3 + size,
                Verdict::Same | Verdict::Unclear => size,
                Verdict::Untested => -1.0,
            }
        })
        .fold(f64::NEG_INFINITY, f64::max)
}

/// Compares names with the runs of digits in them as numbers.
pub fn natural(a: &str, b: &str) -> std::cmp::Ordering {
    use std::cmp::Ordering;
    let (mut a, mut b) = (a, b);
    loop {
        let digits = |s: &str| s.len() - s.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (da, db) = (digits(a), digits(b));
        if da > 0 && db > 0 {
            let (x, y) = (a[..da].trim_start_matches('0'), b[..db].trim_start_matches('0'));
            let order = x.len().cmp(&y.len()).then_with(|| x.cmp(y)).then_with(|| da.cmp(&db));
            if order != Ordering::Equal {
                return order;
            }
            (a, b) = (&a[da..], &b[db..]);
            continue;
        }
        match (a.chars().next(), b.chars().next()) {
            (None, None) => return Ordering::Equal,
            (x, y) if x != y => return x.cmp(&y),
            (Some(c), _) => (a, b) = (&a[c.len_utf8()..], &b[c.len_utf8()..]),
            (None, _) => return Ordering::Less,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn natural_order_takes_digit_runs_as_numbers() {
        let mut names = vec!["x/n=10", "x/n=9", "x", "x/n=010", "y", "x/n=1a"];
        names.sort_by(|a, b| natural(a, b));
        assert_eq!(names, ["x", "x/n=1a", "x/n=9", "x/n=10", "x/n=010", "y"]);
    }
}
