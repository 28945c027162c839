//! Evidence against evidence: test, effect and interval by what both sides have.
//!
//! | sides | test | effect and interval |
//! |---|---|---|
//! | flat, flat | Mann-Whitney U | Hodges-Lehmann ratio |
//! | the same with means as centers, or `--test welch` | Welch on logarithms | ratio of geometric means |
//! | forks, forks or flat | Welch on the logarithms of one value per process | the same |
//! | one process on a side | as flat, over iterations; no verdict is confirmed | the same, within one process |
//! | a summary on a side | Welch from n, mean, deviation | log-delta, or Fieller where a mean is noisy |
//! | pairs (`--paired`) | t on the logarithms of the pairs' ratios | their geometric mean |
//! | exact unit | none: any difference is a change | none |
//! | a printed comparison | as printed | none |
//!
//! Logarithms need positive values; without, Welch takes the plain values and Fieller's interval. The word is given in `verdict`.

use super::side::{Grounds, Known, Precision, Side};
use super::{CenterChoice, Plan, TestChoice};
use crate::model::{Center, PrintedComparison, Sample};
use crate::report::{Cell, CenterChange, IntervalMethod, Test, Verdict, Why};
use crate::stats::{self, Interval, LogRatio, MeanRatio, PValue, Ratio, RatioMethod, SummaryStats, UCache};

/// Resamples of a bootstrap interval.
pub(super) const RESAMPLES: u32 = stats::FEWEST_RESAMPLES;
/// Its seed: fixed, so that the same input gives the same output.
pub(super) const SEED: u64 = 1;

/// What every comparison of a table shares, but for [`Context::explained`].
#[derive(Clone, Copy)]
pub(super) struct Context<'a> {
    pub plan: &'a Plan,
    pub cache: &'a UCache,
    /// `assume=exact` holds for the unit.
    pub exact: bool,
    /// The row's whole story is asked for.
    pub explained: bool,
}

/// A comparison before the correction and the word.
#[derive(Clone, Debug, Default)]
pub(super) struct Assessment {
    /// The compared column.
    pub column: usize,
    /// The base column.
    pub base: usize,
    /// Change of the shown centers in percent of the base.
    pub delta_pct: Option<f64>,
    /// Change of the shown centers in base units.
    pub difference: Option<f64>,
    /// Estimated new / base.
    pub ratio: Option<f64>,
    /// Its interval; `None` where unbounded.
    pub lo: Option<f64>,
    /// Upper end.
    pub hi: Option<f64>,
    /// Interval of the ratio of confidence 1 - 2 alpha, where equivalence was asked for.
    pub equivalence: Option<(f64, f64)>,
    /// Sign of after - before as the test sees it.
    pub direction: f64,
    /// Of the row alone.
    pub p: Option<f64>,
    /// After the correction.
    pub p_adjusted: Option<f64>,
    /// Rows corrected together.
    pub family: usize,
    /// Which test was made.
    pub test: Test,
    /// What `lo` and `hi` are.
    pub interval: IntervalMethod,
    /// Why there is no test.
    pub why: Option<Why>,
    /// Why a significant result is not confirmed, whatever p is.
    pub doubt: Option<Why>,
    /// Sizes of the samples tested.
    pub sizes: Option<(u64, u64)>,
    /// The samples are of processes, not of runs.
    pub of_forks: bool,
    /// Pooled standard deviation of the logarithms of the values tested; of raw values where the verdict is unclear or explained.
    pub sd_log: Option<f64>,
    /// The error of the logarithm of the ratio; also known where nothing varies.
    pub log_ratio: Option<LogRatio>,
    /// The smallest p that a rank test of these samples could have given.
    pub smallest_p: Option<f64>,
    /// What a printed table said.
    pub printed: Option<Box<PrintedComparison>>,
    /// What else to know.
    pub remarks: Vec<Remark>,
}

/// What to know about a comparison beside its verdict.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Remark {
    /// Pooled results differ in these keys.
    VariesIn(Vec<String>),
    /// Summaries that differ in these keys fell together.
    MixedIn(Vec<String>),
    /// Processes are told apart on one side only.
    ForksOnOneSide,
    /// A printed error has few digits.
    FewDigits,
    /// A printed error is below its last digit.
    BelowPrecision,
    /// Pairs were asked for, but the sides do not pair.
    NotPaired(&'static str),
    /// The interval is a bootstrap's.
    Bootstrap,
    /// The signed-rank test of the pairs does not agree with the t test: its p.
    SignedRank(f64),
}

/// What there is on one side of a comparison.
pub(super) type Half<'a> = (Option<&'a Cell>, Option<&'a Grounds>);

/// Compares `new`, which is in `column`, with `old`, which is in column `base`; `None` when neither has anything.
pub(super) fn assess(
    column: usize,
    base: usize,
    old: Half<'_>,
    new: Half<'_>,
    printed: Option<PrintedComparison>,
    cx: &Context<'_>,
) -> Option<Assessment> {
    let mut a = Assessment { column, base, ..Assessment::default() };
    let (x, y) = match (old.1, new.1) {
        (None, None) => return None,
        (Some(x), Some(y)) => (x, y),
        _ => {
            a.why = Some(Why::OneSide);
            return Some(a);
        }
    };
    let (Some(old), Some(new)) = (old.0, new.0) else {
        a.why = Some(Why::MixedSummaries);
        return Some(a);
    };
    if old.approximate || new.approximate {
        a.why = Some(Why::Approximate);
        return Some(a);
    }
    if let (Some(before), Some(after)) = (old.center, new.center) {
        a.centers(before, after);
    }
    match printed {
        Some(printed) => a.printed(printed),
        None if cx.exact => a.exact(),
        None if cx.plan.test == TestChoice::None => a.why = Some(Why::NotAsked),
        None => {
            a.test(x, y, cx);
            if a.why == Some(Why::NoSpread) && is_median(old) != is_median(new) {
                a.why = Some(Why::KindDiffers);
            }
        }
    }
    Some(a)
}

/// What the table that `new` was read from says of `new` against `base`.
///
/// A printed comparison is with the first column of its own table, which is the one without a comparison; turned around it also
/// serves where its own column is the base.
pub(super) fn printed_against(base: &Grounds, new: &Grounds) -> Option<PrintedComparison> {
    if base.source.is_none() || base.source != new.source {
        return None;
    }
    match (&base.printed, &new.printed) {
        (None, Some(printed)) => Some((**printed).clone()),
        (Some(printed), None) => {
            let turned = |pct: f64| -100.0 * pct / (100.0 + pct);
            let delta_pct = printed.delta_pct.map(turned).filter(|d| d.is_finite());
            Some(PrintedComparison { delta_pct, ..(**printed).clone() })
        }
        _ => None,
    }
}

impl Assessment {
    fn centers(&mut self, before: f64, after: f64) {
        let change = CenterChange::new(before, after);
        (self.difference, self.delta_pct) = (Some(change.difference), change.delta_pct);
        self.ratio = finite(after / before).filter(|_| before != 0.0);
    }

    fn printed(&mut self, printed: PrintedComparison) {
        self.test = Test::Printed;
        self.delta_pct = printed.delta_pct;
        // A table that shows no change of a row vouches for none.
        self.difference = self.difference.filter(|_| printed.delta_pct.is_some());
        self.direction = printed.delta_pct.unwrap_or(0.0);
        // `0.000` stands for anything below half of its last place.
        self.p = printed.p.map(|p| if p == 0.0 { 0.0005 } else { p });
        self.printed = Some(Box::new(printed));
    }

    /// No test: any difference is a change.
    fn exact(&mut self) {
        self.test = Test::Exact;
        self.direction = self.difference.unwrap_or(0.0);
    }

    fn test(&mut self, x: &Grounds, y: &Grounds, cx: &Context<'_>) {
        if cx.plan.paired {
            match pairs(x, y) {
                Ok((before, after)) => return self.paired(before, after, cx),
                Err(why) => self.remarks.push(Remark::NotPaired(why)),
            }
        }
        let choice = match cx.plan.test {
            TestChoice::Auto if cx.plan.center == CenterChoice::Mean => TestChoice::Welch,
            choice => choice,
        };
        match (&x.side, &y.side) {
            (Side::Summary(_), _) | (_, Side::Summary(_)) => self.summaries(&x.side, &y.side, cx),
            (Side::Mixed, _) | (_, Side::Mixed) => self.why = Some(Why::MixedSummaries),
            (Side::Flat(a), Side::Flat(b)) => self.values(a, b, choice, cx),
            (Side::Forks { centers: a, .. }, Side::Forks { centers: b, .. }) => self.forks(a, b, choice, cx),
            (Side::Forks { centers: a, .. }, Side::Flat(b)) => {
                self.remarks.push(Remark::ForksOnOneSide);
                self.forks(a, b.values(), choice, cx);
            }
            (Side::Flat(a), Side::Forks { centers: b, .. }) => {
                self.remarks.push(Remark::ForksOnOneSide);
                self.forks(a.values(), b, choice, cx);
            }
            // One process on a side: only its iterations can be tested, and the verdict keeps its `?`.
            (a @ Side::OneProcess(_), b) | (a, b @ Side::OneProcess(_)) => match (a.iterations(), b.iterations()) {
                (Some(a), Some(b)) => {
                    self.doubt = Some(Why::OneProcess);
                    self.values(a, b, choice, cx);
                }
                _ => self.summaries(&x.side, &y.side, cx),
            },
        }
    }

    /// Single values: by ranks unless asked otherwise.
    fn values(&mut self, a: &Sample, b: &Sample, choice: TestChoice, cx: &Context<'_>) {
        match choice {
            TestChoice::Welch => self.log_means(a.values(), b.values(), cx),
            _ => self.ranks(a, b, cx),
        }
    }

    /// One value per process: by Welch on logarithms unless asked otherwise.
    fn forks(&mut self, a: &[f64], b: &[f64], choice: TestChoice, cx: &Context<'_>) {
        self.of_forks = true;
        match (Sample::new(a.to_vec()), Sample::new(b.to_vec())) {
            (Some(a), Some(b)) if choice == TestChoice::MannWhitney => self.ranks(&a, &b, cx),
            _ => self.log_means(a, b, cx),
        }
    }

    /// Mann-Whitney with the Hodges-Lehmann ratio and its interval.
    fn ranks(&mut self, a: &Sample, b: &Sample, cx: &Context<'_>) {
        self.sizes = Some((a.len() as u64, b.len() as u64));
        if a.len() == 1 || b.len() == 1 {
            self.why = Some(Why::SingleValue);
            return;
        }
        let (u, smallest_p) = stats::mann_whitney_at(cx.plan.alpha, a, b, cx.cache);
        self.p = Some(u.p.value());
        self.direction = u.effect - 0.5;
        if u.all_equal {
            self.why = Some(Why::AllEqual);
        } else {
            self.test = match u.p {
                PValue::Exact(_) => Test::MannWhitneyExact,
                PValue::Asymptotic(_) => Test::MannWhitneyNormal,
            };
            self.smallest_p = smallest_p;
        }
        let Some(hl) = stats::hodges_lehmann_ratio(a, b, cx.plan.confidence, cx.cache) else {
            // Values of 0 or of both signs have no ratio that means anything.
            self.ratio = None;
            return;
        };
        self.log_ratio = LogRatio::from_interval(&hl);
        self.effect(IntervalMethod::HodgesLehmann, &hl);
        self.equivalence =
            cx.equivalence(|confidence| stats::hodges_lehmann_ratio(a, b, confidence, cx.cache).map(|hl| hl.interval));
        self.deviation(a.values(), b.values(), cx);
        self.bootstrap(a.values(), b.values(), cx);
    }

    /// Notes the pooled deviation of logarithms where advice on numbers of runs will be given.
    fn deviation(&mut self, a: &[f64], b: &[f64], cx: &Context<'_>) {
        if cx.explained || self.verdict(None, cx.plan).0 == Verdict::Unclear {
            self.sd_log = pooled_sd_log(a, b);
        }
    }

    /// Welch on logarithms of independent values.
    fn log_means(&mut self, a: &[f64], b: &[f64], cx: &Context<'_>) {
        self.sizes = Some((a.len() as u64, b.len() as u64));
        if a.len() < 2 || b.len() < 2 {
            self.why = Some(Why::SingleValue);
            return;
        }
        let (test, method) = match self.of_forks {
            true => (Test::WelchLogForks, IntervalMethod::WelchLogForks),
            false => (Test::Welch, IntervalMethod::WelchLog),
        };
        let Some(log) = stats::welch_log(a, b) else {
            // Not all positive: on the plain values.
            let of = |v: &[f64]| stats::moments(v, None).and_then(|m| m.summary());
            match (of(a), of(b)) {
                (Some(x), Some(y)) => self.welch(&x, &y, test, false, cx),
                _ => self.why = Some(Why::SingleValue),
            }
            return;
        };
        let Some(t) = &log.test else {
            self.constant(Some(log.ratio));
            return;
        };
        (self.p, self.test, self.direction) = (Some(t.p), test, t.difference);
        self.log_ratio = Some(LogRatio { log_ratio: t.difference, error: t.standard_error, df: t.df });
        if let Some(interval) = log.interval(cx.plan.confidence) {
            self.effect(method, &Ratio { ratio: log.ratio, interval });
        }
        self.equivalence = cx.equivalence(|confidence| log.interval(confidence));
        self.deviation(a, b, cx);
        self.bootstrap(a, b, cx);
    }

    /// The interval of the ratio of means by bootstrap in place of the test's own, if that was asked for.
    fn bootstrap(&mut self, a: &[f64], b: &[f64], cx: &Context<'_>) {
        let ratio = |confidence| stats::bootstrap_ratio(a, b, confidence, RESAMPLES, SEED);
        if let Some(r) = cx.plan.bootstrap.then(|| ratio(cx.plan.confidence)).flatten() {
            self.effect(IntervalMethod::Bootstrap, &r);
            self.equivalence = cx.equivalence(|confidence| ratio(confidence).map(|r| r.interval));
            self.remarks.push(Remark::Bootstrap);
        }
    }

    /// The k-th run of one side with the k-th of the other.
    fn paired(&mut self, before: &[f64], after: &[f64], cx: &Context<'_>) {
        self.sizes = Some((before.len() as u64, after.len() as u64));
        let Some(pairs) = stats::paired(before, after, cx.plan.confidence) else {
            self.why = Some(Why::SingleValue);
            return;
        };
        let Some(p) = pairs.p else {
            self.constant(Some(pairs.ratio.ratio));
            return;
        };
        (self.p, self.test, self.direction) = (Some(p), Test::Paired, pairs.ratio.ratio.ln());
        self.effect(IntervalMethod::PairedLog, &pairs.ratio);
        self.equivalence =
            cx.equivalence(|confidence| stats::paired(before, after, confidence).map(|p| p.ratio.interval));
        let df = (before.len() - 1) as f64;
        let half_width = (pairs.ratio.interval.hi / pairs.ratio.ratio).ln();
        let error = half_width / stats::t_quantile_two_sided(cx.plan.confidence, df);
        self.log_ratio = Some(LogRatio { log_ratio: self.direction, error, df });
        // As if the two sides of a pair shared nothing, so that the sample sizes of two samples hold.
        self.sd_log = Some(error * (before.len() as f64 / 2.0).sqrt());
        let reach = 0.5f64.powi(i32::try_from(before.len()).unwrap_or(i32::MAX) - 1);
        if let Some(check) = pairs.signed_rank.map(PValue::value).filter(|_| reach <= cx.plan.alpha)
            && (check <= cx.plan.alpha) != (p <= cx.plan.alpha)
        {
            self.remarks.push(Remark::SignedRank(check));
        }
    }

    /// From n, mean and deviation, of raw values too where the other side has no more.
    fn summaries(&mut self, x: &Side, y: &Side, cx: &Context<'_>) {
        let (a, b) = (x.reduced(), y.reduced());
        for precision in [a.precision, b.precision] {
            let remark = match precision {
                Precision::Enough => continue,
                Precision::FewDigits => Remark::FewDigits,
                Precision::Below => Remark::BelowPrecision,
            };
            if !self.remarks.contains(&remark) {
                self.remarks.push(remark);
            }
        }
        let (Some(x), Some(y)) = (&a.stats, &b.stats) else {
            self.why = Some(if a.n == Some(1) || b.n == Some(1) { Why::SingleValue } else { Why::NoSpread });
            return;
        };
        self.sizes = Some((x.n, y.n));
        self.doubt = [a.doubt, b.doubt].into_iter().flatten().max_by_key(|&w| w == Why::OneProcess);
        self.of_forks = a.guarded || b.guarded;
        let test = if self.of_forks { Test::WelchSummaryForks } else { Test::WelchSummary };
        // The guard makes an error larger than it is printed: no reason to doubt that the mean differs from 0.
        self.welch(x, y, test, self.of_forks && a.is_clear_of_zero() && b.is_clear_of_zero(), cx);
    }

    /// Welch's test of means and the interval of their ratio. `clear_of_zero`: the means are known to differ from 0, so that the logarithm
    /// of their ratio will do; else that depends on their errors.
    fn welch(&mut self, x: &SummaryStats, y: &SummaryStats, test: Test, clear_of_zero: bool, cx: &Context<'_>) {
        let ratio_of_means = |confidence| {
            let by_log = stats::log_delta(x, y, confidence).filter(|_| clear_of_zero);
            by_log
                .map(|r| MeanRatio { ratio: r.ratio, interval: Some((RatioMethod::LogDelta, Some(r.interval))) })
                .or_else(|| stats::ratio_of_means(x, y, confidence))
        };
        let ratio = ratio_of_means(cx.plan.confidence);
        let Some(t) = stats::welch(x, y) else {
            self.constant(ratio.map(|r| r.ratio));
            return;
        };
        (self.p, self.test, self.direction) = (Some(t.p), test, t.difference);
        self.ratio = ratio.and_then(|r| finite(r.ratio));
        let Some((ratio, (method, interval))) = ratio.and_then(|r| Some((r.ratio, r.interval?))) else { return };
        self.interval = match method {
            RatioMethod::LogDelta => IntervalMethod::LogDelta,
            RatioMethod::Fieller => IntervalMethod::Fieller,
        };
        if let Some(interval) = interval {
            self.effect(self.interval, &Ratio { ratio, interval });
        }
        self.equivalence = cx.equivalence(|confidence| stats::ratio_of_means(x, y, confidence)?.interval?.1);
        if method == RatioMethod::LogDelta {
            let (error, df) = (stats::log_ratio_error(x, y), stats::ratio_df(x, y));
            self.log_ratio = error.zip(df).map(|(error, df)| LogRatio { log_ratio: ratio.ln(), error, df });
        }
        if x.mean > 0.0 && y.mean > 0.0 {
            let (a, b) = (x.sd / x.mean, y.sd / y.mean);
            self.sd_log = Some(((a * a + b * b) / 2.0).sqrt());
        }
    }

    /// Both sides constant: the ratio is exact, there is nothing to test it with.
    fn constant(&mut self, ratio: Option<f64>) {
        self.ratio = ratio.and_then(finite);
        self.log_ratio =
            self.ratio.filter(|r| *r > 0.0).map(|r| LogRatio { log_ratio: r.ln(), error: 0.0, df: f64::INFINITY });
        if self.difference == Some(0.0) {
            self.why = Some(Why::AllEqual);
            self.p = Some(1.0);
        } else {
            self.why = Some(Why::Constant);
        }
    }

    fn effect(&mut self, method: IntervalMethod, effect: &Ratio) {
        self.interval = method;
        self.ratio = finite(effect.ratio);
        let Interval { lo, hi, .. } = effect.interval;
        // An interval of a ratio that needs more values is open at both ends.
        if !(lo == 0.0 && hi.is_infinite()) {
            (self.lo, self.hi) = (finite(lo), finite(hi));
        }
    }
}

impl Context<'_> {
    /// Bounds of the interval that decides equivalence, if that was asked for.
    fn equivalence(&self, interval: impl Fn(f64) -> Option<Interval>) -> Option<(f64, f64)> {
        if !self.plan.equivalence {
            return None;
        }
        let interval = interval(1.0 - 2.0 * self.plan.alpha)?;
        interval.is_finite().then_some((interval.lo, interval.hi))
    }
}

impl Known {
    /// The printed error, all values taken as independent, is small against the mean.
    fn is_clear_of_zero(&self) -> bool {
        /// The relative error up to which the logarithm of a ratio of means does.
        const MOST_RELATIVE_ERROR: f64 = 0.1;
        self.stats.zip(self.n).is_some_and(|(s, n)| s.sd / s.mean.abs() / (n as f64).sqrt() <= MOST_RELATIVE_ERROR)
    }
}

impl Side {
    /// n, mean and standard deviation of the unit of replication.
    fn reduced(&self) -> Known {
        let (values, doubt): (&[f64], _) = match self {
            Side::Flat(s) => (s.values(), None),
            Side::OneProcess(s) => (s.values(), Some(Why::OneProcess)),
            Side::Forks { centers, .. } => (centers, None),
            Side::Summary(known) => return *known,
            Side::Mixed => (&[], None),
        };
        Known {
            n: Some(values.len() as u64),
            stats: stats::moments(values, None).and_then(|m| m.summary()),
            guarded: false,
            doubt,
            precision: Precision::Enough,
        }
    }

    /// All values, processes not told apart.
    fn iterations(&self) -> Option<&Sample> {
        match self {
            Side::Flat(s) | Side::OneProcess(s) => Some(s),
            Side::Forks { iterations, .. } => iterations.as_ref(),
            Side::Summary(_) | Side::Mixed => None,
        }
    }
}

/// The values that belong together in run order, or why there are none.
fn pairs<'a>(x: &'a Grounds, y: &'a Grounds) -> Result<(&'a [f64], &'a [f64]), &'static str> {
    let values = |g: &'a Grounds| -> Result<&'a [f64], &'static str> {
        match (&g.side, &g.observations) {
            (Side::Flat(_), Some(o)) => Ok(&o.values),
            (Side::Forks { centers, .. }, _) => Ok(centers),
            (Side::OneProcess(_), _) => Err("a side is one process"),
            _ => Err("a side has no raw values"),
        }
    };
    let (before, after) = (values(x)?, values(y)?);
    if matches!(x.side, Side::Flat(_)) != matches!(y.side, Side::Flat(_)) {
        return Err("processes are told apart on one side only");
    }
    if before.len() != after.len() {
        return Err("the sides have different numbers of runs");
    }
    if before.iter().chain(after).any(|v| *v <= 0.0) {
        return Err("there are values that are not above 0");
    }
    Ok((before, after))
}

/// Whether the center is a median; `None` where it is not said what it is.
fn is_median(cell: &Cell) -> Option<bool> {
    match cell.kind? {
        Center::Median => Some(true),
        Center::Mean | Center::ForkMean => Some(false),
        Center::Mode | Center::Single => None,
    }
}

fn finite(v: f64) -> Option<f64> {
    v.is_finite().then_some(v)
}

/// Pooled standard deviation of logarithms, at least two values a side; `None` unless all are positive.
fn pooled_sd_log(a: &[f64], b: &[f64]) -> Option<f64> {
    let of = |v: &[f64]| {
        let logs: Option<Vec<f64>> = v.iter().map(|&x| (x > 0.0).then(|| x.ln())).collect();
        stats::moments(&logs?, None)?.sd
    };
    let (s, t) = (of(a)?, of(b)?);
    let (n, m) = ((a.len() - 1) as f64, (b.len() - 1) as f64);
    Some(((n * s * s + m * t * t) / (n + m)).sqrt())
}
