//! What is said on stderr of each gate.

use super::rule::{Condition, split};
use crate::base::printable;
use crate::report::{GateOutcome, GateRow, Report};

/// Rows named on one line; the rest are counted.
const NAMED: usize = 5;

/// One line per outcome, without a line end:
/// `gate: slower>5% tripped by 1 of 42 rows: Put/1KiB +10.4% [+8.1, +13.0]`, `gate: passed slower>5%: none of 42 rows`.
///
/// A row is named with its unit where tables of several units have it, and with its column where several are compared.
pub fn lines(report: &Report, outcomes: &[GateOutcome]) -> Vec<String> {
    outcomes.iter().map(|o| line(report, o)).collect()
}

fn line(report: &Report, outcome: &GateOutcome) -> String {
    let rule = printable(&outcome.rule);
    if outcome.judged == 0 {
        return format!("gate: {rule} could judge nothing");
    }
    let condition = split(&outcome.rule).ok().map(|(_, condition)| condition);
    let noun = match condition {
        Some(Condition::Config) => "table",
        Some(Condition::Geomean(_)) => "geomean",
        _ => "row",
    };
    let of = super::plural(outcome.judged, noun);
    if !outcome.tripped {
        return format!("gate: passed {rule}: none of {of}");
    }
    if condition == Some(Condition::Config) {
        let what: Vec<_> = outcome.rows.iter().map(|r| printable(&r.verdict)).collect();
        return format!("gate: {rule} tripped: {}", what.join("; "));
    }
    let mut text = format!("gate: {rule} tripped by {} of {of}: ", outcome.rows.len());
    for (i, row) in outcome.rows.iter().take(NAMED).enumerate() {
        text.push_str(if i > 0 { "; " } else { "" });
        text.push_str(&named(report, row));
    }
    if let Some(more @ 1..) = outcome.rows.len().checked_sub(NAMED) {
        text.push_str(&format!("; and {more} more"));
    }
    text
}

/// `Put/1KiB +10.4% [+8.1, +13.0]`
fn named(report: &Report, row: &GateRow) -> String {
    let units = report.tables.iter().any(|t| *t.unit.name != *row.unit);
    let columns = report.tables.iter().any(|t| t.columns.len() > 2);
    let mut text = printable(&row.name).into_owned();
    for extra in [(units, &row.unit), (columns, &row.column)].into_iter().filter(|(shown, _)| *shown).map(|(_, e)| e) {
        if !extra.is_empty() {
            text.push(' ');
            text.push_str(&printable(extra));
        }
    }
    match row.delta_pct {
        Some(d) => text.push_str(&format!(" {}%", signed(d))),
        None => text.push_str(&format!(": {}", printable(&row.verdict))),
    }
    if let Some((lo, hi)) = row.interval_pct {
        text.push_str(&format!(" [{}, {}]", signed(lo), signed(hi)));
    }
    text
}

/// One decimal and always a sign; small changes keep two digits.
fn signed(percent: f64) -> String {
    match percent.abs() {
        a if a >= 1e7 => format!("{percent:+.1e}"),
        a if (1e-6..0.095).contains(&a) => {
            // Decimals that leave two significant digits.
            let decimals = (1.0 - a.log10().floor()).clamp(1.0, 8.0);
            format!("{percent:+.*}", decimals as usize)
        }
        _ => format!("{percent:+.1}"),
    }
}

#[cfg(test)]
mod tests {
    use super::signed;

    #[test]
    fn changes_have_a_sign_and_small_ones_two_digits() {
        for (percent, want) in [
            (10.44, "+10.4"),
            (-17.16, "-17.2"),
            (0.0, "+0.0"),
            (0.04123, "+0.041"),
            (-0.00123, "-0.0012"),
            (0.0999, "+0.1"),
            (123_456.78, "+123456.8"),
            (2.5e9, "+2.5e9"),
        ] {
            assert_eq!(signed(percent), want);
        }
    }
}
