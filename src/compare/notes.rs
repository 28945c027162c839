//! Footnotes: why a verdict is not what one hoped for, and what would settle it.

use std::collections::HashMap;

use super::assess::Assessment;
use super::{Draft, Plan};
use crate::pivot::GridTable;
use crate::report::{Row, Test, Verdict, Why};
use crate::stats;

/// Texts of one table, each once.
#[derive(Default)]
pub(super) struct Notes {
    texts: Vec<String>,
    index: HashMap<String, usize>,
}

impl Notes {
    fn add(&mut self, row: &mut Row, text: String) {
        let at = *self.index.entry(text).or_insert_with_key(|text| {
            self.texts.push(text.clone());
            self.texts.len() - 1
        });
        if !row.notes.contains(&at) {
            row.notes.push(at);
        }
    }

    /// All texts in order of first use.
    pub fn texts(self) -> Vec<String> {
        self.texts
    }

    /// Adds the footnotes of a row whose verdicts are known.
    ///
    /// `geomean`: the table has a geometric mean that a one-sided row is left out of.
    pub fn of_row(&mut self, draft: &mut Draft, table: &GridTable, geomean: bool, plan: &Plan) {
        let row = &mut draft.row;
        if geomean && row.comparisons.iter().flatten().any(|c| c.why == Some(Why::OneSide)) {
            self.add(row, "left out of the geomean".into());
        }
        if row.cells.iter().flatten().any(|c| c.infinite && c.kind != Some(crate::model::Center::Single)) {
            let needed = stats::median_ci_needed(plan.confidence);
            self.add(row, format!("need >= {needed} runs for a {} interval", percent_words(plan.confidence)));
        }
        if table.exact && row.cells.iter().flatten().any(|c| c.min != c.max) {
            self.add(row, "exact values expected, but they differ between runs".into());
        }
        for i in 0..draft.assessments.len() {
            let Some(a) = &draft.assessments[i] else { continue };
            let Some(c) = &row.comparisons[i] else { continue };
            let verdict = c.verdict;
            let why = c.why;
            for text in of_comparison(a, verdict, why, plan) {
                self.add(row, text);
            }
        }
        if draft.row.comparisons.iter().flatten().all(|_| false) && draft.row.cells.iter().any(Option::is_none) {
            // Nothing was compared, and a cell is missing: summaries that fell together.
            self.add(
                &mut draft.row,
                "more than one printed summary for a cell; choose one with --row, --col or --filter".into(),
            );
        }
    }
}

fn of_comparison(a: &Assessment, verdict: Verdict, why: Option<Why>, plan: &Plan) -> Vec<String> {
    let mut texts = Vec::new();
    if let Some((keys, mixed)) = &a.varies_in {
        let keys = keys.join(", ");
        texts.push(if *mixed {
            format!("varies in {keys}; choose them with --row or --col")
        } else {
            format!("benchmarks vary in {keys}")
        });
    }
    if let Some(printed) = &a.printed {
        texts.extend(printed.notes.iter().cloned());
    }
    match (verdict, why) {
        (_, Some(Why::Correction)) => {
            texts.push(format!("significant alone, not among the {} rows tested together", a.family));
        }
        (_, Some(Why::Pooled)) => texts.push(
            "the printed error pools forks and iterations; the true error may be larger: raw results (-rf json) or --forks N tell"
                .into(),
        ),
        (_, Some(Why::OneProcess)) => texts.push("one process: differences between processes are invisible".into()),
        (_, Some(Why::SingleValue)) => texts.push("one run on a side: run each more often (>= 6 runs, 10 are better)".into()),
        (_, Some(Why::NoSpread)) if a.printed.is_none() && plan.test != super::TestChoice::None => {
            texts.push("printed without the spread that a test needs".into());
        }
        (_, Some(Why::KindDiffers)) => texts.push("a mean on one side, a median on the other".into()),
        (_, Some(Why::Approximate)) => texts.push("only the order of magnitude was printed; raw results have the number".into()),
        (_, Some(Why::Constant)) => texts.push("both sides constant: nothing to test with".into()),
        (_, Some(Why::Contradiction)) => {
            texts.push("the centers moved one way, most pairs of runs the other: look at the samples".into());
        }
        (_, Some(Why::MixedSummaries)) if a.varies_in.is_none() => {
            texts.push("more than one printed summary for a cell; choose one with --row, --col or --filter".into());
        }
        (Verdict::Unclear, Some(Why::TooFew)) => {
            let alone = stats::runs_for_alpha(plan.alpha, 1);
            let all = stats::runs_for_alpha(plan.alpha, a.family.max(1) as u64);
            texts.push(if all > alone {
                format!("need >= {alone} runs a side to reach p <= {}, {all} for {} rows together", plan.alpha, a.family)
            } else {
                format!("need >= {alone} runs a side to reach p <= {}", plan.alpha)
            });
        }
        (Verdict::Unclear, None) => texts.extend(runs_to_settle(a, plan)),
        _ => {}
    }
    if a.test == Test::WelchLogForks && a.sizes.is_some_and(|(n, m)| n.min(m) < 4) {
        let few = a.sizes.map_or(0, |(n, m)| n.min(m));
        texts.push(format!("{few} forks a side are few: weak and cautious; 5 or more are advised"));
    }
    texts
}

/// `about 80 runs a side would settle a 5% change`: the largest of the usual effects that cannot be seen yet.
fn runs_to_settle(a: &Assessment, plan: &Plan) -> Option<String> {
    const POWER: f64 = 0.8;
    let (sd, (n, m)) = (a.sd_log?, a.sizes?);
    let rank = matches!(a.test, Test::MannWhitneyExact | Test::MannWhitneyNormal);
    let now = if rank {
        stats::mde_by_ranks(sd, n.min(m), plan.alpha, POWER)
    } else {
        stats::mde(sd, n.min(m), plan.alpha, POWER)
    }?;
    let effect = [0.05, 0.02, 0.01].into_iter().find(|e| *e < now).unwrap_or(0.01);
    let needed = if rank { stats::runs_needed_by_ranks } else { stats::runs_needed };
    let runs = round_up(needed(sd, effect, plan.alpha, POWER));
    if runs <= n.min(m) {
        return None;
    }
    let unit = if a.test == Test::WelchLogForks || a.test == Test::WelchSummaryForks { "forks" } else { "runs" };
    Some(format!("about {runs} {unit} a side would settle a {}% change", effect * 100.0))
}

/// One significant digit beyond 20: the standard deviation behind it is itself vague.
fn round_up(n: u64) -> u64 {
    if n <= 20 {
        return n;
    }
    let step = 10u64.pow(n.ilog10());
    n.div_ceil(step) * step
}

/// `95%`.
fn percent_words(confidence: f64) -> String {
    let text = format!("{:.4}", confidence * 100.0);
    format!("{}%", text.trim_end_matches('0').trim_end_matches('.'))
}
