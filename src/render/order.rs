//! Which rows matter most: what every picture and the Markdown table show first.

use crate::report::{Comparison, Row, Table, Verdict};

/// Larger is shown earlier: confirmed worse, better, changed; the same with `?`; unclear; same; untested. Inside these by size.
pub fn weight(c: &Comparison) -> f64 {
    let size = match c.ratio {
        Some(r) if r > 0.0 => r.ln().abs(),
        Some(_) => 1e3,
        // Changed from zero: as large as can be.
        None if c.difference.is_some_and(|d| d != 0.0) => 1e3,
        None => 0.0,
    };
    let class = match c.verdict {
        Verdict::Worse { confirmed: true } => 8.0,
        Verdict::Better { confirmed: true } => 7.0,
        Verdict::Changed { confirmed: true } => 6.0,
        Verdict::Worse { .. } => 5.0,
        Verdict::Better { .. } => 4.0,
        Verdict::Changed { .. } => 3.0,
        Verdict::Unclear => 2.0,
        Verdict::Same => 1.0,
        Verdict::Untested => 0.0,
    };
    class * 1e6 + size
}

/// The weight of the row's most telling comparison.
pub fn row_weight(row: &Row) -> f64 {
    row.comparisons().map(|(_, c)| weight(&c)).fold(0.0, f64::max)
}

/// The `n` heaviest rows of `table`, heaviest first where there are more than `n`, else in the order of the table.
pub fn heaviest(table: &Table, n: usize, which: impl Fn(&Row) -> bool) -> (Vec<&Row>, usize) {
    let mut rows: Vec<&Row> = table.rows.iter().filter(|r| which(r)).collect();
    let all = rows.len();
    if all > n {
        rows.sort_by(|a, b| row_weight(b).total_cmp(&row_weight(a)));
        rows.truncate(n);
    }
    (rows, all - all.min(n))
}
