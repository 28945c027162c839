//! Evidence against evidence: test, effect and interval by what both sides have; then the word.

use super::side::{Known, Side};
use super::{Plan, TestChoice};
use crate::model::{Center, PrintedComparison, Sample};
use crate::report::{Cell, Comparison, IntervalMethod, Test, Verdict, Why};
use crate::stats::{self, Interval, PValue, RatioMethod, SummaryStats, UCache};
use crate::units::Direction;

/// What every comparison of a table shares.
pub(super) struct Context<'a> {
    pub plan: &'a Plan,
    pub cache: &'a UCache,
    pub exact: bool,
    pub base: usize,
}

/// A comparison before the correction and the word.
#[derive(Clone, Debug)]
pub(super) struct Assessment {
    pub base: usize,
    pub delta_pct: Option<f64>,
    pub difference: Option<f64>,
    pub ratio: Option<f64>,
    pub lo: Option<f64>,
    pub hi: Option<f64>,
    pub p: Option<f64>,
    pub p_adjusted: Option<f64>,
    /// Rows corrected together.
    pub family: usize,
    pub test: Test,
    pub interval: IntervalMethod,
    /// Why there is no test.
    pub why: Option<Why>,
    /// Why a significant result is not confirmed, whatever p is.
    pub doubt: Option<Why>,
    /// Sizes of the samples tested.
    pub sizes: Option<(u64, u64)>,
    /// Pooled standard deviation of the logarithms of the values tested.
    pub sd_log: Option<f64>,
    /// No arrangement of these samples could reach alpha.
    pub out_of_reach: bool,
    /// What a printed table said.
    pub printed: Option<PrintedComparison>,
    /// Keys in which the pooled results differ, and whether they are summaries.
    pub varies_in: Option<(Vec<String>, bool)>,
    confidence: f64,
}

type Pair<'a> = (Option<&'a Cell>, Option<&'a Side>);

/// Compares `new` with `old`; `None` when neither side has anything.
pub(super) fn assess(
    old: Pair<'_>,
    new: Pair<'_>,
    printed: Option<&PrintedComparison>,
    cx: &Context<'_>,
) -> Option<Assessment> {
    let mut a = Assessment {
        base: cx.base,
        delta_pct: None,
        difference: None,
        ratio: None,
        lo: None,
        hi: None,
        p: None,
        p_adjusted: None,
        family: 0,
        test: Test::None,
        interval: IntervalMethod::None,
        why: None,
        doubt: None,
        sizes: None,
        sd_log: None,
        out_of_reach: false,
        printed: printed.cloned(),
        varies_in: None,
        confidence: cx.plan.confidence,
    };
    let (Some(x), Some(y)) = (old.1, new.1) else {
        if old.1.is_none() && new.1.is_none() {
            return None;
        }
        a.why = Some(Why::OneSide);
        return Some(a);
    };
    if matches!(x, Side::Mixed) || matches!(y, Side::Mixed) {
        a.why = Some(Why::MixedSummaries);
        return Some(a);
    }
    let approximate = old.0.is_some_and(|c| c.approximate) || new.0.is_some_and(|c| c.approximate);
    if approximate {
        a.why = Some(Why::Approximate);
        return Some(a);
    }
    if let (Some(b), Some(c)) = (old.0.and_then(|c| c.center), new.0.and_then(|c| c.center)) {
        a.centers(b, c);
    }
    if let Some(p) = printed {
        a.printed(p);
        return Some(a);
    }
    if cx.exact {
        a.exact();
        return Some(a);
    }
    if cx.plan.test == TestChoice::None {
        a.why = Some(Why::NoSpread);
        return Some(a);
    }
    a.test(x, y, cx);
    Some(a)
}

impl Assessment {
    fn centers(&mut self, old: f64, new: f64) {
        self.difference = Some(new - old);
        if old != 0.0 {
            let ratio = new / old;
            if ratio.is_finite() {
                self.delta_pct = Some(100.0 * (ratio - 1.0));
                self.ratio = Some(ratio);
            }
        } else if new == 0.0 {
            self.delta_pct = Some(0.0);
        }
    }

    fn printed(&mut self, printed: &PrintedComparison) {
        self.test = Test::Printed;
        self.delta_pct = printed.delta_pct;
        // `0.000` stands for anything below half of its last place.
        self.p = printed.p.map(|p| if p == 0.0 { 0.0005 } else { p });
    }

    /// No test: any difference is a change.
    fn exact(&mut self) {
        self.test = Test::Exact;
    }

    fn test(&mut self, x: &Side, y: &Side, cx: &Context<'_>) {
        match (x, y) {
            (Side::Summary(a), Side::Summary(b)) => self.summaries(a, b, cx),
            (Side::Summary(a), other) => self.summaries(a, &other.reduced(), cx),
            (other, Side::Summary(b)) => self.summaries(&other.reduced(), b, cx),
            (Side::Flat(a), Side::Flat(b)) if cx.plan.test == TestChoice::Welch => {
                self.log_means(a.values(), b.values(), cx, false)
            }
            (Side::Flat(a), Side::Flat(b)) => self.ranks(a, b, cx),
            (Side::Forks { means: a, .. }, Side::Forks { means: b, .. }) => self.log_means(a, b, cx, true),
            (Side::Forks { means: a, .. }, Side::Flat(b)) => self.log_means(a, b.values(), cx, true),
            (Side::Flat(a), Side::Forks { means: b, .. }) => self.log_means(a.values(), b, cx, true),
            (a, b) => {
                // One process on a side: only its iterations can be tested, and the verdict keeps its `?`.
                self.doubt = Some(Why::OneProcess);
                match (a.iterations(), b.iterations()) {
                    (Some(a), Some(b)) if cx.plan.test != TestChoice::Welch => self.ranks(a, b, cx),
                    (Some(a), Some(b)) => self.log_means(a.values(), b.values(), cx, false),
                    _ => self.summaries(&a.reduced(), &b.reduced(), cx),
                }
            }
        }
    }

    /// Mann-Whitney with the Hodges-Lehmann ratio and its interval.
    fn ranks(&mut self, a: &Sample, b: &Sample, cx: &Context<'_>) {
        let (n, m) = (a.len(), b.len());
        self.sizes = Some((n as u64, m as u64));
        if n == 1 || m == 1 {
            self.why = Some(Why::SingleValue);
            return;
        }
        let u = stats::mann_whitney(a, b, cx.cache);
        self.p = Some(u.p.value());
        if u.all_equal {
            self.why = Some(Why::AllEqual);
        } else {
            self.test = match u.p {
                PValue::Exact(_) => Test::MannWhitneyExact,
                PValue::Asymptotic(_) => Test::MannWhitneyNormal,
            };
        }
        self.out_of_reach = stats::smallest_p(n as u64, m as u64) > cx.plan.alpha;
        // Without a common sign there is no ratio to estimate.
        let Some(hl) = stats::hodges_lehmann_ratio(a, b, cx.plan.confidence, cx.cache) else {
            if a.values()[0] <= 0.0 || b.values()[0] <= 0.0 {
                self.ratio = None;
            }
            return;
        };
        self.interval = IntervalMethod::HodgesLehmann;
        self.effect(hl.ratio, &hl.interval);
        if a.values()[0] > 0.0 && b.values()[0] > 0.0 {
            self.sd_log = pooled_sd_log(a.values(), b.values());
        }
    }

    /// Welch on logarithms of independent values: fork means, or flat values.
    fn log_means(&mut self, a: &[f64], b: &[f64], cx: &Context<'_>, forks: bool) {
        self.sizes = Some((a.len() as u64, b.len() as u64));
        if a.len() < 2 || b.len() < 2 {
            self.why = Some(Why::SingleValue);
            return;
        }
        let test = if forks { Test::WelchLogForks } else { Test::Welch };
        match stats::welch_log(a, b) {
            Some(log) => match &log.test {
                Some(t) => {
                    self.p = Some(t.p);
                    self.test = test;
                    self.interval = if forks { IntervalMethod::WelchLogForks } else { IntervalMethod::WelchLog };
                    if let Some(i) = log.interval(cx.plan.confidence) {
                        self.effect(log.ratio, &i);
                    }
                    self.sd_log = pooled_sd_log(a, b);
                }
                None => {
                    self.ratio = Some(log.ratio);
                    self.constant();
                }
            },
            // Not all positive: on the plain means.
            None => {
                let of = |v: &[f64]| stats::moments(v, None).and_then(|m| m.summary());
                match (of(a), of(b)) {
                    (Some(x), Some(y)) => self.welch(&x, &y, if forks { Test::WelchLogForks } else { Test::Welch }, cx),
                    _ => self.why = Some(Why::SingleValue),
                }
            }
        }
    }

    fn summaries(&mut self, a: &Known, b: &Known, cx: &Context<'_>) {
        let mean = |k: &Known| matches!(k.center, Center::Mean | Center::ForkMean);
        let (Some(x), Some(y)) = (&a.stats, &b.stats) else {
            let single = |k: &Known| k.n == Some(1);
            self.why = Some(if single(a) || single(b) {
                Why::SingleValue
            } else if mean(a) != mean(b) {
                Why::KindDiffers
            } else {
                Why::NoSpread
            });
            return;
        };
        if mean(a) != mean(b) {
            self.why = Some(Why::KindDiffers);
            return;
        }
        self.sizes = Some((x.n, y.n));
        self.doubt = if a.one_process || b.one_process {
            Some(Why::OneProcess)
        } else if a.pooled || b.pooled {
            Some(Why::Pooled)
        } else {
            None
        };
        let test = if a.guarded || b.guarded { Test::WelchSummaryForks } else { Test::WelchSummary };
        self.welch(x, y, test, cx);
    }

    /// Welch's test of means and the interval of their ratio.
    fn welch(&mut self, x: &SummaryStats, y: &SummaryStats, test: Test, cx: &Context<'_>) {
        let Some(t) = stats::welch(x, y) else {
            self.constant();
            return;
        };
        self.p = Some(t.p);
        self.test = test;
        let Some(r) = stats::ratio_of_means(x, y, cx.plan.confidence) else { return };
        self.ratio = Some(r.ratio);
        if let Some((method, interval)) = r.interval {
            self.interval = match method {
                RatioMethod::LogDelta => IntervalMethod::LogDelta,
                RatioMethod::Fieller => IntervalMethod::Fieller,
            };
            if let Some(i) = interval {
                self.effect(r.ratio, &i);
            }
        }
        if x.mean > 0.0 && y.mean > 0.0 {
            let (a, b) = (x.sd / x.mean, y.sd / y.mean);
            self.sd_log = Some(((a * a + b * b) / 2.0).sqrt());
        }
    }

    /// Both sides constant: the ratio is exact, there is nothing to test it with.
    fn constant(&mut self) {
        if self.difference == Some(0.0) {
            self.why = Some(Why::AllEqual);
            self.p = Some(1.0);
        } else {
            self.why = Some(Why::Constant);
        }
    }

    fn effect(&mut self, ratio: f64, interval: &Interval) {
        let finite = |v: f64| v.is_finite().then_some(v);
        self.ratio = finite(ratio);
        // A ratio interval that needs more values is open at both ends.
        if interval.is_finite() && !(interval.lo == 0.0 && interval.hi.is_infinite()) {
            (self.lo, self.hi) = (finite(interval.lo), finite(interval.hi));
        }
    }

    /// The finished comparison: the word by p, the corrected p, the interval and the margin.
    pub fn decide(&self, better: Option<Direction>, plan: &Plan) -> Comparison {
        let (verdict, why) = self.verdict(better, plan);
        let turn = |r: f64| match better {
            Some(Direction::Lower) => 1.0 / r,
            _ => r,
        };
        let turned = |r: Option<f64>| r.map(turn).filter(|v| v.is_finite());
        let (mut relative_lo, mut relative_hi) = (turned(self.lo), turned(self.hi));
        if better == Some(Direction::Lower) {
            std::mem::swap(&mut relative_lo, &mut relative_hi);
        }
        Comparison {
            base: self.base,
            delta_pct: self.delta_pct,
            difference: self.difference,
            ratio: self.ratio,
            lo: self.lo,
            hi: self.hi,
            confidence: self.confidence,
            p: self.p.filter(|_| self.test != Test::Exact),
            p_adjusted: self.p_adjusted,
            test: self.test,
            interval: self.interval,
            verdict,
            why,
            relative: turned(self.ratio),
            relative_lo,
            relative_hi,
        }
    }

    fn verdict(&self, better: Option<Direction>, plan: &Plan) -> (Verdict, Option<Why>) {
        // Which way it went: the change of the shown centers, else the estimate.
        let estimate = self.ratio.map(|r| r - 1.0);
        let shown = self.difference.or(self.delta_pct);
        let up = match (self.test, estimate) {
            (Test::Printed, _) => self.delta_pct.unwrap_or(0.0),
            (_, Some(e)) if e != 0.0 && self.interval != IntervalMethod::None => e,
            _ => shown.unwrap_or(0.0),
        };
        let change = |confirmed: bool| match better {
            _ if up == 0.0 => Verdict::Unclear,
            None => Verdict::Changed { confirmed },
            Some(Direction::Lower) if up < 0.0 => Verdict::Better { confirmed },
            Some(Direction::Higher) if up > 0.0 => Verdict::Better { confirmed },
            Some(_) => Verdict::Worse { confirmed },
        };
        if self.why == Some(Why::AllEqual) {
            return (Verdict::Same, self.why);
        }
        if self.test == Test::Exact {
            return match self.difference {
                Some(0.0) => (Verdict::Same, None),
                Some(_) => (change(true), None),
                None => (Verdict::Untested, Some(Why::OneSide)),
            };
        }
        if self.test == Test::None {
            return (Verdict::Untested, self.why.or(Some(Why::NoSpread)));
        }
        let limit = 1.0 + plan.margin;
        if let (Some(lo), Some(hi)) = (self.lo, self.hi) {
            if lo >= 1.0 / limit && hi <= limit {
                return (Verdict::Same, None);
            }
        }
        let Some(p) = self.p else { return (Verdict::Unclear, None) };
        if p > plan.alpha || (self.test == Test::Printed && self.delta_pct.is_none()) {
            return (Verdict::Unclear, self.out_of_reach.then_some(Why::TooFew));
        }
        // The medians moved one way and the ranks the other: nothing can be said.
        if let (Some(e), Some(d)) = (estimate, self.difference) {
            if self.interval == IntervalMethod::HodgesLehmann && e * d < 0.0 {
                return (Verdict::Unclear, Some(Why::Contradiction));
            }
        }
        if self.p_adjusted.is_some_and(|q| q > plan.alpha) {
            return (change(false), Some(Why::Correction));
        }
        match self.doubt {
            Some(why) => (change(false), Some(why)),
            None => (change(true), None),
        }
    }
}

impl Side {
    /// n, mean and standard deviation of the replication unit.
    fn reduced(&self) -> Known {
        let of = |v: &[f64]| stats::moments(v, None).and_then(|m| m.summary());
        let (stats, n, one_process) = match self {
            Side::Flat(s) => (of(s.values()), s.len(), false),
            Side::OneProcess(s) => (of(s.values()), s.len(), true),
            Side::Forks { means, .. } => (of(means), means.len(), false),
            Side::Summary(k) => {
                return Known { ..*k };
            }
            Side::Mixed => (None, 0, false),
        };
        Known { center: Center::Mean, n: Some(n as u64), stats, guarded: false, pooled: false, one_process }
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

/// Pooled standard deviation of logarithms of positive values, at least two a side.
fn pooled_sd_log(a: &[f64], b: &[f64]) -> Option<f64> {
    let of = |v: &[f64]| {
        let logs: Vec<f64> = v.iter().map(|x| x.ln()).collect();
        stats::moments(&logs, None)?.sd
    };
    let (s, t) = (of(a)?, of(b)?);
    let (n, m) = ((a.len() - 1) as f64, (b.len() - 1) as f64);
    Some(((n * s * s + m * t * t) / (n + m)).sqrt())
}
