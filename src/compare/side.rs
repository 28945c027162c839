//! One cell: the number that is shown, and what a test may use of its evidence.
//!
//! Which center is shown and what the unit of replication is follow from the shape of the evidence: single values of flat data, one
//! mean (or median) per process of forked data, n, mean and deviation of a printed summary. Iterations of one process are kept apart
//! from independent values: they can be tested, but never vouch for a verdict.

use super::{CenterChoice, Plan};
use crate::base::SourceId;
use crate::model::{Center, Evidence, Observations, PrintedComparison, Sample, Series, Spread, Summary};
use crate::report::{Cell, Reported, Why};
use crate::stats::{self, Moments, SummaryStats};

/// What a comparison may use of a cell. Never more than the input supports.
pub(super) enum Side {
    /// Independent values.
    Flat(Sample),
    /// At least two processes, told apart.
    Forks {
        /// One value per process, in order of first appearance.
        centers: Vec<f64>,
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
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    /// Values behind it.
    pub n: Option<u64>,
    /// For Welch's test; `None` without a spread of means.
    pub stats: Option<SummaryStats>,
    /// The number of values is that of the forks (`--forks`, or known from the log), so that the error holds for them.
    pub guarded: bool,
    /// Why no verdict that rests on it is confirmed.
    pub doubt: Option<Why>,
    /// How well the printed digits tell the error.
    pub precision: Precision,
}

/// How well the printed digits tell an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Precision {
    /// To 5 % or better.
    Enough,
    /// Half a unit of its last place is more than 5 % of it.
    FewDigits,
    /// It was printed as zero: below its last place, half of which stands for it.
    Below,
}

/// What a cell stands on.
pub(super) struct Grounds {
    /// What a test may use.
    pub side: Side,
    /// The raw values in run order.
    pub observations: Option<Observations>,
    /// The input all of it comes from.
    pub source: Option<SourceId>,
    /// What the table it was read from says of it.
    pub printed: Option<Box<PrintedComparison>>,
}

impl Grounds {
    /// Moments of the raw values that are tested.
    pub fn moments(&self) -> Option<Moments> {
        match &self.side {
            Side::Flat(s) | Side::OneProcess(s) => Some(Moments::of(s)),
            Side::Forks { centers, .. } => stats::moments(centers, None),
            Side::Summary(_) | Side::Mixed => None,
        }
    }
}

/// Whether the cell's center is a mean, so that a row's flat cells should show means too.
pub(super) fn wants_means(series: &Series, plan: &Plan) -> bool {
    match &series.evidence {
        Evidence::Raw(o) => match plan.center {
            CenterChoice::Mean => true,
            CenterChoice::Median => false,
            CenterChoice::Auto => o.blocks().is_some() || o.weights().is_some(),
        },
        Evidence::Summary(s) => matches!(s.center, Center::Mean | Center::ForkMean),
        Evidence::Mixed => false,
    }
}

/// The cell to show, `None` for summaries that cannot be combined, and what it stands on.
///
/// `means`: flat cells show their mean, because another cell of the row can show no median.
pub(super) fn weigh(
    series: Series,
    source: Option<SourceId>,
    exact: bool,
    means: bool,
    plan: &Plan,
) -> (Option<Cell>, Grounds) {
    let printed = series.printed().cloned().map(Box::new);
    let stated = series.reported().map(reported);
    let (cell, side, observations) = match series.evidence {
        Evidence::Mixed => (None, Side::Mixed, None),
        Evidence::Summary(s) => {
            let (mut cell, known) = summary(&s, plan);
            cell.reported = cell.reported.or(stated);
            (Some(cell), Side::Summary(known), None)
        }
        Evidence::Raw(o) => {
            let (mut cell, side) = raw(&o, exact, means, plan);
            cell.reported = stated;
            (Some(cell), side, Some(o))
        }
    };
    (cell, Grounds { side, observations, source, printed })
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
    let mut cell = Cell { raw: true, n: Some(o.count()), confidence: plan.confidence, ..Cell::default() };
    let Some(sample) = Sample::new(o.values.clone()) else { return (cell, Side::Mixed) };
    let moments = match o.weights() {
        Some(weights) => stats::moments(&o.values, Some(weights)),
        None => Some(Moments::of(&sample)),
    };
    let Some(m) = moments else { return (cell, Side::Mixed) };
    (cell.mean, cell.sd, cell.min, cell.max) = (Some(m.mean), m.sd, Some(m.min), Some(m.max));
    let forks = o.forks();
    cell.forks = forks.as_ref().map(|f| f.len() as u64);
    if exact {
        cell.kind = Some(Center::Mode);
        cell.center = Some(stats::benchstat::mode(&sample));
        (cell.lo, cell.hi) = (cell.min, cell.max);
        return (cell, Side::Flat(sample));
    }
    let wants_median = plan.center == CenterChoice::Median;
    if let Some(forks) = forks.as_ref().filter(|f| f.len() > 1) {
        let centers: Vec<f64> = forks.iter().filter_map(|f| center_of_fork(f, wants_median)).collect();
        match Sample::new(centers.clone()).filter(|_| wants_median) {
            Some(medians) => median(&mut cell, &medians, plan),
            None => {
                cell.kind = Some(Center::ForkMean);
                if let Some(of_forks) = stats::moments(&centers, None) {
                    mean(&mut cell, &of_forks, plan);
                }
            }
        }
        return (cell, Side::Forks { centers, iterations: o.weights().is_none().then_some(sample) });
    }
    if o.weights().is_some() {
        // Calls of a histogram are not runs: there are no values to rank, and no interval of a median that would hold.
        cell.kind = Some(if wants_median { Center::Median } else { Center::Mean });
        if wants_median {
            cell.center = center_of_fork(o, true);
        } else {
            mean(&mut cell, &m, plan);
        }
        let known = Known {
            n: cell.n,
            stats: m.summary(),
            guarded: false,
            doubt: Some(Why::OneProcess),
            precision: Precision::Enough,
        };
        return (cell, Side::Summary(known));
    }
    let one_process = forks.is_some();
    if wants_median || !(one_process || means) {
        median(&mut cell, &sample, plan);
    } else {
        cell.kind = Some(Center::Mean);
        mean(&mut cell, &m, plan);
    }
    (cell, if one_process { Side::OneProcess(sample) } else { Side::Flat(sample) })
}

/// The value that stands for a fork: its mean, or its median, counting weights.
fn center_of_fork(fork: &Observations, wants_median: bool) -> Option<f64> {
    if !wants_median {
        return stats::moments(&fork.values, fork.weights()).map(|m| m.mean);
    }
    match fork.weights() {
        Some(weights) => stats::Counted::new(&fork.values, weights).map(|c| stats::Ordered::median(&c)),
        None => Sample::new(fork.values.clone()).map(|s| stats::Ordered::median(&s)),
    }
}

fn median(cell: &mut Cell, sample: &Sample, plan: &Plan) {
    cell.kind = Some(if cell.n == Some(1) { Center::Single } else { Center::Median });
    cell.center = Some(stats::Ordered::median(sample));
    let interval = stats::median_ci(sample, plan.confidence);
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
    match interval {
        Some(i) => (cell.lo, cell.hi) = (Some(i.lo), Some(i.hi)),
        None => cell.infinite = true,
    }
}

fn summary(s: &Summary, plan: &Plan) -> (Cell, Known) {
    let (sd, precision) = recovered_sd(s);
    // Only the error of a JMH table pools forks and iterations as if they were independent.
    let pools = matches!(s.spread, Spread::StudentError { .. }) && !plan.assume_independent;
    let forks = s.forks.or(plan.forks.filter(|_| pools));
    let doubt = match forks {
        _ if !pools => None,
        None => Some(Why::Pooled),
        Some(0 | 1) => Some(Why::OneProcess),
        Some(_) => None,
    };
    // The deviation of all iterations is at least that of a fork's mean: with as many values as forks the error is on the safe side.
    let guarded = pools && forks.is_some_and(|f| f > 1);
    let n = if guarded { s.n.zip(forks).map(|(n, forks)| n.min(forks)) } else { s.n };
    let of_means = n.zip(sd).filter(|(n, _)| *n > 1).map(|(n, sd)| SummaryStats { n, mean: s.value, sd });
    let mut cell = Cell {
        n: s.n,
        forks,
        kind: Some(s.center),
        center: Some(s.value),
        confidence: plan.confidence,
        mean: (s.center == Center::Mean).then_some(s.value),
        sd,
        approximate: s.approximate,
        infinite: s.spread == Spread::Infinite,
        reported: Some(reported(s)).filter(|r| r.error.is_some()),
        ..Cell::default()
    };
    match (of_means.and_then(|m| stats::mean_ci(&m, plan.confidence)), s.spread) {
        (Some(i), _) => (cell.lo, cell.hi) = (Some(i.lo), Some(i.hi)),
        // Without n an error holds at its own confidence only. One below the printed digits is at most half of the last one.
        (None, Spread::StudentError { half_width, confidence, resolution }) if plan.confidence <= confidence => {
            let bound = if precision == Precision::Below { Some(resolution) } else { None };
            if let Some(e) = bound.or((confidence == plan.confidence).then_some(half_width)) {
                (cell.lo, cell.hi) = (Some(s.value - e), Some(s.value + e));
            }
        }
        (None, Spread::Percent(percent)) => cell.spread_pct = Some(percent),
        _ => {}
    }
    // A deviation of single values says nothing of a median.
    let stats = of_means.filter(|_| matches!(s.center, Center::Mean | Center::ForkMean));
    (cell, Known { n: s.n, stats, guarded, doubt, precision })
}

/// Standard deviation of the single values behind what was printed, and how well the digits tell it.
fn recovered_sd(s: &Summary) -> (Option<f64>, Precision) {
    /// Share of the error that rounding may make up unsaid.
    const LARGEST_ROUNDING: f64 = 0.05;
    // An error printed as zero is at most half a unit of its last place.
    let largest = |half_width: f64, resolution: f64| if half_width == 0.0 { resolution } else { half_width };
    let (half_width, resolution, sd) = match s.spread {
        Spread::StudentError { half_width: h, confidence, resolution: r } => {
            (h, r, s.n.and_then(|n| stats::sd_from_error(largest(h, r), n, confidence)))
        }
        Spread::NormalError { half_width: h, confidence, resolution: r } => {
            (h, r, s.n.and_then(|n| stats::sd_from_normal_error(largest(h, r), n, confidence)))
        }
        Spread::StdDev(sd) => (sd, 0.0, Some(sd)),
        Spread::None | Spread::Percent(_) | Spread::Infinite => return (None, Precision::Enough),
    };
    if half_width == 0.0 && resolution > 0.0 {
        (sd, Precision::Below)
    } else if resolution > LARGEST_ROUNDING * half_width {
        (sd, Precision::FewDigits)
    } else {
        (sd, Precision::Enough)
    }
}
