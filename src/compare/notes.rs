//! Footnotes: why a verdict is not what one hoped for, and what would settle it. Each text once per table.

use std::collections::HashMap;

use super::Plan;
use super::assess::{Assessment, RESAMPLES, Remark, SEED};
use super::draft::Draft;
use crate::model::Center;
use crate::report::{Comparison, IntervalMethod, Row, Test, Verdict, Why};
use crate::stats;

/// Power that advice on numbers of runs is given for.
pub(super) const POWER: f64 = 0.8;
/// Changes that advice is given for, largest first.
pub(super) const EFFECTS: [f64; 3] = [0.05, 0.02, 0.01];

/// Rows tested from which on something is said of most of them.
const FEWEST_TESTED: usize = 3;

/// Texts of one table.
#[derive(Default)]
pub(super) struct Notes {
    texts: Vec<String>,
    index: HashMap<String, usize>,
    /// Advice on numbers of runs: one text for all rows that share it, made at the end.
    advice: Vec<(Advice, usize)>,
    /// Rows and compared columns that were tested, and of these the unclear ones with the change they can show.
    tested: usize,
    detectable: Vec<f64>,
}

/// So many runs a side would settle a change of this size.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Advice {
    effect: f64,
    /// Processes, not runs.
    forks: bool,
    /// Of the rows that share it.
    fewest: u64,
    most: u64,
}

impl Advice {
    /// Rows share an advice where their numbers are of one kind: soon done, an evening, a cluster, hopeless.
    fn shared_by(&self, settle: &Settle) -> bool {
        let kind = |runs: u64| [20, 100, 1000].into_iter().filter(|&limit| runs > limit).count();
        (self.effect, self.forks, kind(self.most)) == (settle.effect, settle.forks, kind(settle.runs))
    }
}

impl Notes {
    /// Adds the footnotes of a row whose verdicts are known.
    ///
    /// `geomean`: the table has a geometric mean that a one-sided row is left out of.
    pub fn of_row(&mut self, row: &mut Row, draft: &Draft, exact: bool, geomean: bool, plan: &Plan) {
        let Draft { assessments, doubts, .. } = draft;
        if geomean && row.comparisons().any(|(_, c)| c.why == Some(Why::OneSide)) {
            self.add(row, "left out of the geomean".into());
        }
        if row.cells().flatten().any(|c| c.infinite && c.raw && c.kind == Some(Center::Median)) {
            let forks = row.cells().flatten().any(|c| c.forks.is_some_and(|f| f > 1));
            self.add(row, needed_for_median(forks, plan));
        }
        if exact && row.cells().flatten().any(|c| c.min != c.max) {
            self.add(row, "exact values expected, but they differ between runs".into());
        }
        if let Some(remark) = doubts.as_ref().and_then(|d| d.pooled.as_ref()) {
            self.add(row, remark_text(remark));
        }
        for a in assessments {
            if let Some(c) = row.comparison(a.column) {
                self.of_comparison(row, a, &c, plan);
            }
        }
        for text in doubts.iter().flat_map(|d| &d.serious) {
            self.add(row, (*text).into());
        }
    }

    /// All texts in order of first use.
    pub fn finish(mut self) -> Vec<String> {
        let mut median = None;
        // Where most rows are unclear, what the runs can show at all comes first.
        if self.tested >= FEWEST_TESTED && 2 * self.detectable.len() > self.tested {
            self.detectable.sort_unstable_by(f64::total_cmp);
            median = self.detectable.get(self.detectable.len() / 2).copied();
        }
        for (advice, slot) in &self.advice {
            let unit = if advice.forks { "forks" } else { "runs" };
            let runs = match advice.fewest == advice.most {
                true => format!("about {}", advice.most),
                false => format!("{} to {}", advice.fewest, advice.most),
            };
            let mut text = format!("{runs} {unit} a side would settle a {}% change", advice.effect * 100.0);
            if let Some(detectable) = median.take() {
                text = format!(
                    "most rows are unclear: these runs show changes of {} (middle row); {text}",
                    rough_percent(detectable)
                );
            }
            self.texts[*slot] = text;
        }
        self.texts
    }

    fn of_comparison(&mut self, row: &mut Row, a: &Assessment, c: &Comparison, plan: &Plan) {
        self.tested += usize::from(c.p.is_some() && c.test != Test::None);
        for remark in &a.remarks {
            self.add(row, remark_text(remark));
        }
        for text in a.printed.iter().flat_map(|p| &p.notes) {
            self.add(row, text.clone());
        }
        if let (Verdict::Unclear, None) = (c.verdict, c.why) {
            self.detectable.extend(a.detectable(plan));
            match settled_by(a, plan) {
                Some(settle) => self.advise(row, settle),
                None if a.printed.is_some() => {}
                None if a.sd_log.is_none() => {
                    self.add(row, "values of 0 or of both signs have no ratio; more runs may still tell".into());
                }
                None => {
                    let margin = percent(plan.margin);
                    self.add(row, format!("the interval reaches beyond ±{margin}: four times the runs would halve it"));
                }
            }
        } else if let Some(text) = of_verdict(a, c, plan) {
            self.add(row, text);
        }
        let open = c.interval == IntervalMethod::HodgesLehmann && c.lo.is_none() && c.hi.is_none();
        if open && c.why != Some(Why::TooFew) {
            let runs = stats::runs_for_alpha(1.0 - plan.confidence, 1);
            let confidence = percent(plan.confidence);
            self.add(row, format!("need >= {runs} runs a side for a {confidence} interval of the change"));
        }
        if c.test == Test::WelchLogForks && a.sizes.is_some_and(|(n, m)| n.min(m) < 4) {
            self.add(row, "2 or 3 forks a side are few: weak and cautious; 5 or more are advised".into());
        }
    }

    fn add(&mut self, row: &mut Row, text: String) {
        let at = *self.index.entry(text).or_insert_with_key(|text| {
            self.texts.push(text.clone());
            self.texts.len() - 1
        });
        row.note(at);
    }

    fn advise(&mut self, row: &mut Row, settle: Settle) {
        let known = self.advice.iter_mut().find(|(a, _)| a.shared_by(&settle));
        let Settle { effect, forks, runs } = settle;
        let at = match known {
            Some((advice, at)) => {
                (advice.fewest, advice.most) = (advice.fewest.min(runs), advice.most.max(runs));
                *at
            }
            None => {
                self.texts.push(String::new());
                let at = self.texts.len() - 1;
                self.advice.push((Advice { effect, forks, fewest: runs, most: runs }, at));
                at
            }
        };
        row.note(at);
    }
}

fn remark_text(remark: &Remark) -> String {
    match remark {
        Remark::VariesIn(keys) => format!("benchmarks vary in {}", keys.join(", ")),
        Remark::MixedIn(keys) if keys.is_empty() => {
            "more than one printed summary for a cell; choose one with --row, --col or --filter".into()
        }
        Remark::MixedIn(keys) => format!("varies in {}; choose them with --row or --col", keys.join(", ")),
        Remark::ForksOnOneSide => "processes are told apart on one side only: fork means against single runs".into(),
        Remark::FewDigits => "the printed error has few digits: it is known to 5% at best, and p with it".into(),
        Remark::BelowPrecision => "the printed error is below its last digit, half of which stands for it".into(),
        Remark::NotPaired(why) => format!("not paired: {why}"),
        Remark::Bootstrap => {
            format!("interval by bootstrap (BCa, {RESAMPLES} resamples, seed {SEED}): too narrow with few runs")
        }
        Remark::SignedRank(p) => {
            format!("the signed-rank test of the pairs says p = {p:.3}, the t test otherwise: look at the pairs")
        }
    }
}

fn of_verdict(a: &Assessment, c: &Comparison, plan: &Plan) -> Option<String> {
    let text = match c.why? {
        Why::Correction => not_after_correction(a, plan),
        Why::TooFew => too_few(a, plan),
        Why::Pooled => {
            "the printed error pools forks and iterations; the true error may be larger: raw results (-rf json) \
                        or --forks N tell"
                .into()
        }
        Why::OneProcess => "one process: differences between processes are invisible; several forks show them".into(),
        Why::SingleValue => "one run on a side: run each more often (>= 6 runs, 10 are better)".into(),
        Why::NoSpread if a.printed.is_none() => "printed without the spread that a test needs".into(),
        Why::KindDiffers => "a mean on one side, a median on the other".into(),
        Why::Approximate => "only the order of magnitude was printed; raw results have the number".into(),
        Why::Constant => "both sides constant: nothing to test with".into(),
        Why::Contradiction => {
            "the centers and the bulk of the runs disagree on the direction: look at the samples".into()
        }
        Why::OneSide | Why::UnitDiffers | Why::AllEqual | Why::NotAsked | Why::NoSpread | Why::MixedSummaries => {
            return None;
        }
    };
    Some(text)
}

fn not_after_correction(a: &Assessment, plan: &Plan) -> String {
    let rows = a.family;
    let alone = format!("significant alone, not among the {rows} rows tested together");
    // A rank test of few runs has a smallest p, and Holm multiplies it by the number of rows.
    if !a.is_out_of_reach(plan) {
        return alone;
    }
    let needed = stats::runs_for_alpha(plan.alpha, rows as u64);
    format!("{alone}: with so few runs no row can be, {needed} a side are needed")
}

fn too_few(a: &Assessment, plan: &Plan) -> String {
    let alone = stats::runs_for_alpha(plan.alpha, 1);
    if a.sizes.is_some_and(|(n, m)| stats::smallest_p(n, m) <= plan.alpha) {
        return format!("so many values are equal that none of their arrangements reaches p <= {}", plan.alpha);
    }
    let together = stats::runs_for_alpha(plan.alpha, a.family.max(1) as u64);
    let unit = if a.of_forks { "forks" } else { "runs" };
    let all = match together > alone {
        true => format!(", {together} for {} rows together", a.family),
        false => String::new(),
    };
    format!("need >= {alone} {unit} a side to reach p <= {}{all}", plan.alpha)
}

/// What would settle an unclear row.
struct Settle {
    effect: f64,
    forks: bool,
    runs: u64,
}

/// The largest of the usual changes that cannot be seen yet, and the runs that show it.
fn settled_by(a: &Assessment, plan: &Plan) -> Option<Settle> {
    let (n, m) = a.sizes?;
    let detectable = a.detectable(plan)?;
    let effect = EFFECTS.into_iter().find(|e| *e < detectable)?;
    let runs = a.runs_needed(effect, plan)?;
    (runs > n.min(m)).then_some(Settle { effect, forks: a.of_forks, runs })
}

impl Assessment {
    /// The test is one of ranks.
    pub fn is_by_ranks(&self) -> bool {
        matches!(self.test, Test::MannWhitneyExact | Test::MannWhitneyNormal)
    }

    /// The change (0.02: 2 %) that these samples show with a probability of [`POWER`].
    pub fn detectable(&self, plan: &Plan) -> Option<f64> {
        let (n, m) = self.sizes?;
        let mde = if self.is_by_ranks() { stats::mde_by_ranks } else { stats::mde };
        mde(self.sd_log?, n.min(m), plan.alpha, POWER)
    }

    /// Runs or forks a side that show `effect` with a probability of [`POWER`]. From 20 on one digit, rounded up: the deviation
    /// behind it is itself vague.
    pub fn runs_needed(&self, effect: f64, plan: &Plan) -> Option<u64> {
        let needed = if self.is_by_ranks() { stats::runs_needed_by_ranks } else { stats::runs_needed };
        Some(round_up(needed(self.sd_log?, effect, plan.alpha, POWER)))
    }
}

fn round_up(n: u64) -> u64 {
    if n <= 20 {
        return n;
    }
    let step = 10u64.pow(n.ilog10());
    n.div_ceil(step) * step
}

fn needed_for_median(forks: bool, plan: &Plan) -> String {
    let needed = stats::median_ci_needed(plan.confidence);
    let unit = if forks { "forks" } else { "runs" };
    format!("need >= {needed} {unit} for a {} interval", percent(plan.confidence))
}

/// `95%`, `99.9%`.
pub(super) fn percent(fraction: f64) -> String {
    let text = format!("{:.4}", fraction * 100.0);
    format!("{}%", text.trim_end_matches('0').trim_end_matches('.'))
}

/// Two digits are enough: `0.8%`, `9%`, `24%`.
pub(super) fn rough_percent(fraction: f64) -> String {
    let pct = fraction * 100.0;
    if pct < 2.0 { format!("{pct:.1}%") } else { format!("{pct:.0}%") }
}
