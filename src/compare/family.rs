//! Rows together: the correction over all rows that were tested at once, and the counts at the end.

use super::Plan;
use super::draft::Draft;
use crate::report::{Correction, Counts, Table, Test, Verdict, Why};
use crate::stats;

/// Fills in the adjusted p-values. A family is what one compared column of a table tests: a further input changes no earlier verdict.
pub(super) fn correct(drafts: &mut [Draft], columns: usize, plan: &Plan) {
    for i in 0..columns {
        // Rows in which all values are equal test nothing.
        let (mut tested, ps): (Vec<_>, Vec<f64>) = drafts
            .iter_mut()
            .filter_map(|d| d.assessment_mut(i))
            .filter(|a| a.test != Test::None)
            .filter_map(|a| a.p.map(|p| (a, p)))
            .unzip();
        let family = ps.len();
        let adjusted = match plan.correction {
            Correction::Holm => stats::holm(&ps),
            Correction::Bh => stats::benjamini_hochberg(&ps),
            Correction::None => ps,
        };
        for (a, p) in tested.iter_mut().zip(adjusted) {
            (a.p_adjusted, a.family) = (Some(p), family);
        }
    }
}

/// Verdicts counted over all tables.
pub(super) fn count(tables: &[Table], plan: &Plan) -> Counts {
    let mut counts = Counts::default();
    let mut tested = 0usize;
    for row in tables.iter().flat_map(|t| &t.rows) {
        let mut one_side = false;
        for (_, c) in row.comparisons() {
            tested += usize::from(c.p.is_some() && c.test != Test::None);
            counts.after_correction += usize::from(c.verdict.is_confirmed());
            counts.in_doubt += usize::from(matches!(c.why, Some(Why::Pooled | Why::OneProcess)));
            match c.verdict {
                Verdict::Better { .. } => counts.faster += 1,
                Verdict::Worse { .. } => counts.slower += 1,
                Verdict::Changed { .. } => counts.changed += 1,
                Verdict::Same => counts.same += 1,
                Verdict::Unclear => counts.unclear += 1,
                Verdict::Untested if c.why == Some(Why::OneSide) => one_side = true,
                Verdict::Untested => counts.untested += 1,
            }
        }
        counts.unmatched += usize::from(one_side);
    }
    counts.expected_false = plan.alpha * tested as f64;
    counts
}
