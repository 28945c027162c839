//! The whole story of the rows that were asked for: what the report of every row leaves out because it would be too much.

use regex::Regex;

use super::assess::{Assessment, Context, RESAMPLES, SEED};
use super::draft::Draft;
use super::notes::{EFFECTS, POWER};
use super::side::{Grounds, Side};
use super::{CenterChoice, TestChoice, warnings};
use crate::base::Error;
use crate::model::{Observations, Sample};
use crate::pivot::{Column, GridTable, Pair};
use crate::report::{
    Basis, BootstrapStory, Estimate, Explanation, PairStory, PowerStory, ProcessStory, RankStory, SideStory, Test,
    Worth, display_name,
};
use crate::stats::{self, Interval};
use crate::units::Unit;

/// Which rows to explain: a name, else a part of names, else a regular expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowPattern(pub String);

/// A pattern as the rows at hand decided it.
pub(super) enum Wanted {
    Name(String),
    Part(String),
    Regex(Regex),
}

impl Wanted {
    /// The row with this name and these keys is meant; parameters that are not in the name may be written behind it.
    pub fn matches(&self, name: &str, keys: &[Pair]) -> bool {
        let shown = display_name(name, keys, &[]);
        match self {
            Wanted::Name(wanted) => name == wanted || shown == *wanted,
            Wanted::Part(part) => shown.contains(part),
            Wanted::Regex(regex) => regex.is_match(&shown),
        }
    }
}

/// Finds out what each pattern means for these tables.
///
/// # Errors
/// [`Error::Usage`] for a pattern that no row fits.
pub(super) fn wanted(tables: &[GridTable], patterns: &[RowPattern]) -> Result<Vec<Wanted>, Error> {
    let rows = || tables.iter().flat_map(|t| &t.rows);
    let fits = |w: &Wanted| rows().any(|r| w.matches(&r.name, &r.keys));
    patterns
        .iter()
        .map(|RowPattern(text)| {
            let literal = [Wanted::Name(text.clone()), Wanted::Part(text.clone())];
            let regex = Regex::new(text).ok().map(Wanted::Regex);
            literal.into_iter().chain(regex).find(fits).ok_or_else(|| {
                let names = rows().map(|r| display_name(&r.name, &r.keys, &[]));
                let nearest =
                    names.max_by(|a, b| strsim::jaro_winkler(a, text).total_cmp(&strsim::jaro_winkler(b, text)));
                Error::Usage {
                    message: format!("--explain: no row is called {text:?}, and none matches it"),
                    hint: nearest.map(|n| format!("the nearest name is {n:?}")),
                }
            })
        })
        .collect()
}

/// The story of a finished row; `None` where it was not asked for.
pub(super) fn explain(draft: &Draft, columns: &[Column], unit: &Unit, cx: &Context<'_>) -> Option<Box<Explanation>> {
    let grounds = &draft.grounds;
    if grounds.is_empty() {
        return None;
    }
    let words = |found: Vec<stats::diagnose::Warning>| match cx.exact {
        true => Vec::new(),
        false => found.iter().map(|w| warnings::text(w, unit)).collect(),
    };
    let sides = grounds
        .iter()
        .enumerate()
        .filter_map(|(column, g)| Some((column, g.as_ref()?)))
        .map(|(column, g)| side(column, g, words(warnings::of_side(g))))
        .collect();
    let pairs = draft
        .assessments
        .iter()
        .map(|a| {
            let (x, y) = (grounds[a.base].as_ref(), grounds[a.column].as_ref());
            let order = warnings::not_interleaved(&columns[a.base], &columns[a.column]);
            let mut found =
                x.zip(y).map_or_else(Vec::new, |(x, y)| words(warnings::of_pair(x, y).into_iter().collect()));
            found.extend(order);
            pair(a, x.zip(y), found, cx)
        })
        .collect();
    Some(Box::new(Explanation { sides, pairs }))
}

fn side(column: usize, grounds: &Grounds, warnings: Vec<String>) -> SideStory {
    let histogram = grounds.observations.as_ref().is_some_and(|o| o.weights().is_some());
    let observations = grounds.observations.as_ref().filter(|_| !histogram);
    let forks = observations.and_then(|o| o.forks());
    let told_apart = forks.is_some();
    let runs = match (forks, observations) {
        (Some(forks), _) => forks.into_iter().map(|f| f.values).collect(),
        (None, Some(o)) => vec![o.values.clone()],
        (None, None) => Vec::new(),
    };
    SideStory {
        column,
        runs,
        told_apart,
        histogram,
        one_input: grounds.source.is_some(),
        processes: grounds.observations.as_ref().and_then(processes),
        warnings,
    }
}

fn processes(observations: &Observations) -> Option<ProcessStory> {
    /// What starting a process and warming it up is taken to cost, in iterations.
    const COST: f64 = 10.0;
    let anova = stats::Anova::new(observations)?;
    let effect = anova.effect?;
    let worth = anova.iterations_worth_doing(COST).map(|n| match n.is_finite() {
        true => (COST, Worth::Iterations(n)),
        false => (COST, Worth::Any),
    });
    Some(ProcessStory { between: effect.icc?, test: effect.test, design_effect: effect.design_effect, worth })
}

fn estimate(value: f64, interval: &Interval) -> Estimate {
    // Of a ratio that needs more values the interval begins at 0 and does not end.
    let bounds = interval.is_finite().then_some((interval.lo, interval.hi));
    Estimate { value, interval: bounds, coverage: interval.coverage }
}

fn pair(a: &Assessment, sides: Option<(&Grounds, &Grounds)>, warnings: Vec<String>, cx: &Context<'_>) -> PairStory {
    let plan = cx.plan;
    let basis = basis(a, sides);
    let tested = sides.and_then(|(x, y)| tested_values(basis, x, y)).filter(|_| a.test != Test::None);
    let ranks = tested.as_ref().and_then(|(x, y)| {
        let (x, y) = (Sample::new(x.clone())?, Sample::new(y.clone())?);
        let u = stats::mann_whitney(&x, &y, cx.cache);
        let shift = stats::hodges_lehmann_shift(&x, &y, plan.confidence, cx.cache);
        Some(RankStory {
            u: u.u,
            pairs: x.len() as f64 * y.len() as f64,
            effect: u.effect,
            p: u.p.value(),
            smallest_p: stats::smallest_p_with_ties(&x, &y),
            ratio: stats::hodges_lehmann_ratio(&x, &y, plan.confidence, cx.cache)
                .map(|r| estimate(r.ratio, &r.interval)),
            shift: estimate(shift.shift, &shift.interval),
        })
    });
    // More values of a kind that is in doubt would settle nothing.
    let power = a.detectable(plan).filter(|_| a.doubt.is_none()).map(|detectable| PowerStory {
        power: POWER,
        detectable,
        needed: EFFECTS.into_iter().filter_map(|e| Some((e, a.runs_needed(e, plan)?))).collect(),
        forks: a.of_forks,
    });
    let bootstrap = tested.as_ref().and_then(|(x, y)| {
        let r = stats::bootstrap_ratio(x, y, plan.confidence, RESAMPLES, SEED)?;
        Some(BootstrapStory { ratio: estimate(r.ratio, &r.interval), resamples: RESAMPLES, seed: SEED })
    });
    let signed_rank = tested
        .filter(|_| basis == Basis::Pairs)
        .and_then(|(x, y)| Some(stats::paired(&x, &y, plan.confidence)?.signed_rank?.value()));
    let chosen = plan.test != TestChoice::Auto || plan.center != CenterChoice::Auto || basis == Basis::Pairs;
    PairStory {
        column: a.column,
        basis,
        chosen,
        sizes: a.sizes,
        family: a.family,
        ranks,
        signed_rank,
        bootstrap,
        power,
        warnings,
    }
}

fn basis(a: &Assessment, sides: Option<(&Grounds, &Grounds)>) -> Basis {
    match (a.test, sides.map(|(x, y)| (&x.side, &y.side))) {
        (Test::Printed, _) => Basis::Printed,
        (Test::Exact, _) => Basis::Exact,
        (Test::Paired, _) => Basis::Pairs,
        (_, None | Some((Side::Mixed, _) | (_, Side::Mixed))) => Basis::Nothing,
        (_, Some((Side::Summary(_), _) | (_, Side::Summary(_)))) => Basis::Summary,
        (_, Some((Side::OneProcess(_), _) | (_, Side::OneProcess(_)))) => Basis::OneProcess,
        (_, Some((Side::Forks { .. }, Side::Forks { .. }))) => Basis::Forks,
        (_, Some((Side::Flat(_), Side::Flat(_)))) => Basis::Runs,
        (_, Some(_)) => Basis::ForksAndRuns,
    }
}

/// The values that were tested, in run order where that matters.
fn tested_values(basis: Basis, x: &Grounds, y: &Grounds) -> Option<(Vec<f64>, Vec<f64>)> {
    let of = |g: &Grounds| match (&g.side, &g.observations) {
        (Side::Forks { centers, .. }, _) if basis != Basis::OneProcess => Some(centers.clone()),
        (Side::Summary(_) | Side::Mixed, _) => None,
        (_, o) => o.as_ref().filter(|o| o.weights().is_none()).map(|o| o.values.clone()),
    };
    Some((of(x)?, of(y)?))
}
