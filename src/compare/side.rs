//! One cell: the number that is shown, and what a test may use of its evidence.

use super::{CenterChoice, Plan, TestChoice};
use crate::model::{Center, Evidence, Observations, Sample, Series, Spread, Summary};
use crate::report::{Cell, Reported};
use crate::stats::{self, Moments, SummaryStats};

/// What a comparison may use of a cell. Never more than the input supports.
pub(super) enum Side {
    /// Independent values.
    Flat(Sample),
    /// Means of at least two processes.
    Forks {
        /// One per process.
        means: Vec<f64>,
        /// All iterations, processes not told apart; `None` for histograms.
        iterations: Option<Sample>,
    },
    /// Iterations of one process.
    OneProcess(Sample),
    /// n, mean and standard deviation.
    Summary(Known),
    /// Summaries that cannot be combined.
    Mixed,
}

/// What a printed summary supports.
pub(super) struct Known {
    /// Which statistic the center is.
    pub center: Center,
    /// Values behind it.
    pub n: Option<u64>,
    /// For Welch's test; `None` without a spread.
    pub stats: Option<SummaryStats>,
    /// The spread stands for fork means (`--forks`, or known from the log).
    pub guarded: bool,
    /// The printed error treats iterations of forks as independent, and the number of forks is unknown.
    pub pooled: bool,
    /// All values come from one process.
    pub one_process: bool,
}

/// Whether the cell's center is a mean, so that a row's flat cells should show means too.
pub(super) fn wants_means(series: &Series, plan: &Plan) -> bool {
    match &series.evidence {
        Evidence::Raw(o) => {
            plan.center == CenterChoice::Mean || (plan.center == CenterChoice::Auto && o.blocks.is_some())
        }
        Evidence::Summary(s) => matches!(s.center, Center::Mean | Center::ForkMean),
        Evidence::Mixed => false,
    }
}

/// The cell to show and the side to test. `None`: there is nothing to show.
pub(super) fn weigh(series: Series, exact: bool, means: bool, plan: &Plan) -> (Option<Cell>, Side) {
    let reported = series.reported.as_deref().map(reported);
    match series.evidence {
        Evidence::Mixed => (None, Side::Mixed),
        Evidence::Summary(s) => {
            let (mut cell, known) = summary(&s, plan);
            cell.reported = cell.reported.or(reported);
            (Some(cell), Side::Summary(known))
        }
        Evidence::Raw(o) => {
            let (mut cell, side) = raw(&o, exact, means, plan);
            cell.reported = reported;
            if plan.keep_samples {
                cell.observations = Some(o);
            }
            (Some(cell), side)
        }
    }
}

fn reported(s: &Summary) -> Reported {
    let (error, confidence) = match s.spread {
        Spread::StudentError { half_width, confidence, .. } | Spread::NormalError { half_width, confidence, .. } => {
            (Some(half_width), Some(confidence))
        }
        _ => (None, None),
    };
    Reported { center: s.value, error, confidence }
}

fn raw(o: &Observations, exact: bool, means: bool, plan: &Plan) -> (Cell, Side) {
    let moments = stats::moments(&o.values, o.weights.as_deref());
    let mut cell = Cell { raw: true, n: Some(o.count()), confidence: plan.confidence, ..Cell::default() };
    if let Some(m) = moments {
        (cell.mean, cell.sd, cell.min, cell.max) = (Some(m.mean), m.sd, Some(m.min), Some(m.max));
    }
    let (Some(sample), Some(m)) = (Sample::new(o.values.clone()), moments) else { return (cell, Side::Mixed) };
    let forks =
        if plan.test == TestChoice::MannWhitney && plan.center != CenterChoice::Mean { None } else { o.forks() };
    cell.forks =
        o.blocks.as_ref().map(|_| forks.as_ref().map_or_else(|| o.forks().map_or(0, |f| f.len()), Vec::len) as u64);
    if exact {
        cell.kind = Some(Center::Mode);
        cell.center = Some(stats::benchstat::mode(&sample));
        (cell.lo, cell.hi) = (cell.min, cell.max);
        return (cell, Side::Flat(sample));
    }
    match forks {
        Some(forks) if forks.len() > 1 => {
            let fork_means: Vec<f64> =
                forks.iter().filter_map(|f| stats::moments(&f.values, f.weights.as_deref())).map(|m| m.mean).collect();
            if plan.center == CenterChoice::Median {
                median(&mut cell, &sample, o, plan);
            } else if let Some(f) = stats::moments(&fork_means, None) {
                cell.kind = Some(Center::ForkMean);
                mean(&mut cell, &f, plan);
            }
            let iterations = o.weights.is_none().then_some(sample);
            (cell, Side::Forks { means: fork_means, iterations })
        }
        Some(_) => {
            if plan.center == CenterChoice::Median {
                median(&mut cell, &sample, o, plan);
            } else {
                cell.kind = Some(Center::Mean);
                mean(&mut cell, &m, plan);
            }
            if o.weights.is_none() {
                return (cell, Side::OneProcess(sample));
            }
            let known = Known {
                center: Center::Mean,
                n: cell.n,
                stats: m.summary(),
                guarded: false,
                pooled: false,
                one_process: true,
            };
            (cell, Side::Summary(known))
        }
        None => {
            if means {
                cell.kind = Some(Center::Mean);
                mean(&mut cell, &m, plan);
            } else {
                median(&mut cell, &sample, o, plan);
            }
            (cell, Side::Flat(sample))
        }
    }
}

fn median(cell: &mut Cell, sample: &Sample, o: &Observations, plan: &Plan) {
    if let Some(weights) = &o.weights {
        // Calls of a histogram: the weighted median, without an interval that would take calls for independent runs.
        if let Some(counted) = stats::Counted::new(&o.values, weights) {
            cell.kind = Some(Center::Median);
            cell.center = Some(stats::Ordered::median(&counted));
        }
        return;
    }
    cell.kind = Some(if sample.len() == 1 { Center::Single } else { Center::Median });
    let interval = stats::median_ci(sample, plan.confidence);
    cell.center = Some(stats::Ordered::median(sample));
    let finite = |v: f64| v.is_finite().then_some(v);
    (cell.lo, cell.hi, cell.coverage) = (finite(interval.lo), finite(interval.hi), interval.coverage);
    cell.infinite = !interval.is_finite();
}

fn mean(cell: &mut Cell, m: &Moments, plan: &Plan) {
    cell.center = Some(m.mean);
    if cell.n == Some(1) {
        cell.kind = Some(Center::Single);
    }
    let interval = m.summary().and_then(|s| stats::mean_ci(&s, plan.confidence));
    if let Some(i) = interval {
        (cell.lo, cell.hi) = (Some(i.lo), Some(i.hi));
    } else {
        cell.infinite = true;
    }
}

fn summary(s: &Summary, plan: &Plan) -> (Cell, Known) {
    let forks = s.forks.or(plan.forks);
    let mut cell = Cell {
        raw: false,
        n: s.n,
        forks: s.forks,
        kind: Some(s.center),
        center: Some(s.value),
        confidence: plan.confidence,
        approximate: s.approximate,
        reported: Some(reported(s)).filter(|r| r.error.is_some()),
        ..Cell::default()
    };
    let (sd, student) = match s.spread {
        Spread::StudentError { half_width, confidence, .. } => {
            (s.n.and_then(|n| stats::sd_from_error(half_width, n, confidence)), true)
        }
        Spread::NormalError { half_width, confidence, .. } => {
            (s.n.and_then(|n| stats::sd_from_normal_error(half_width, n, confidence)), false)
        }
        Spread::StdDev(sd) => (Some(sd), false),
        Spread::Percent(pct) => {
            cell.spread_pct = Some(pct);
            (None, false)
        }
        Spread::Infinite => {
            cell.infinite = true;
            (None, false)
        }
        Spread::None => (None, false),
    };
    cell.sd = sd;
    // The error of a JMH table pools forks; with their number known it is guarded, as if each fork were one value.
    let guard = student && forks.is_some_and(|f| f >= 1) && !plan.assume_independent;
    let n = if guard { forks.filter(|f| *f >= 2) } else { s.n };
    let stats = match (n, sd) {
        (Some(n), Some(sd)) if n >= 2 => Some(SummaryStats { n, mean: s.value, sd }),
        _ => None,
    };
    // Shown: what the producer printed, at the confidence asked for; guarded only where the user gave the forks.
    let shown_n = if plan.forks.is_some() && guard { n } else { s.n };
    if let (Some(n), Some(sd)) = (shown_n, sd) {
        if let Some(i) = stats::mean_ci(&SummaryStats { n, mean: s.value, sd }, plan.confidence) {
            (cell.lo, cell.hi) = (Some(i.lo), Some(i.hi));
        }
    } else if let Spread::StudentError { half_width, confidence, .. } = s.spread {
        if confidence == plan.confidence {
            (cell.lo, cell.hi) = (Some(s.value - half_width), Some(s.value + half_width));
        }
    }
    cell.mean = (s.center == Center::Mean).then_some(s.value);
    let one = guard && forks == Some(1);
    let stats = if one {
        sd.zip(s.n).filter(|(_, n)| *n >= 2).map(|(sd, n)| SummaryStats { n, mean: s.value, sd })
    } else {
        stats
    };
    let known = Known {
        center: s.center,
        n: s.n,
        stats,
        guarded: guard && !one,
        pooled: student && !guard && !plan.assume_independent,
        one_process: one,
    };
    (cell, known)
}
