//! Welch's t test of two means, from values or from what is known of them, and the interval of their difference (Welch
//! 1947).

use super::describe::{moments, power_of_two_scale};
use super::distributions::{t_quantile_two_sided, t_two_sided_p, t_upper_p};
use super::{Interval, SummaryStats};

/// Outcome of a Welch test. Differences are after - before, in the unit of the values (or of their logarithms).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Welch {
    /// Difference of the means.
    pub difference: f64,
    /// Its standard error, > 0.
    pub standard_error: f64,
    /// Difference over standard error.
    pub t: f64,
    /// Degrees of freedom, not necessarily whole, > 0.
    pub df: f64,
    /// Two-sided p.
    pub p: f64,
}

impl Welch {
    /// p against "after is not larger".
    pub fn p_increase(&self) -> f64 {
        t_upper_p(self.t, self.df)
    }

    /// p against "after is not smaller".
    pub fn p_decrease(&self) -> f64 {
        t_upper_p(-self.t, self.df)
    }

    /// Interval of the difference.
    pub fn interval(&self, confidence: f64) -> Interval {
        let half_width = t_quantile_two_sided(confidence, self.df) * self.standard_error;
        Interval { lo: self.difference - half_width, hi: self.difference + half_width, confidence, coverage: None }
    }
}

/// Tests `after` against `before`; `None` with fewer than two values a side, or when both sides are constant.
pub fn welch(before: &SummaryStats, after: &SummaryStats) -> Option<Welch> {
    if before.n < 2 || after.n < 2 || (before.sd == 0.0 && after.sd == 0.0) {
        return None;
    }
    let scale = power_of_two_scale(before.sd.max(after.sd));
    let a = (before.sd / scale).powi(2) / before.n as f64;
    let b = (after.sd / scale).powi(2) / after.n as f64;
    let df = satterthwaite(a, before.n, b, after.n);
    let error = (a + b).sqrt();
    let t = (after.mean / scale - before.mean / scale) / error;
    let p = t_two_sided_p(t, df);
    Some(Welch { difference: after.mean - before.mean, standard_error: error * scale, t, df, p })
}

/// Degrees of freedom of a sum of two variances of means `a` and `b`, not both 0, of `n` and `m` >= 2 values.
pub(super) fn satterthwaite(a: f64, n: u64, b: f64, m: u64) -> f64 {
    // Shares, so that no square of a variance vanishes or overflows.
    let (a, b) = (a / (a + b), b / (a + b));
    1.0 / (a * a / (n - 1) as f64 + b * b / (m - 1) as f64)
}

/// The test on logarithms: what can be said of the ratio of geometric means.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogWelch {
    /// Geometric mean after over geometric mean before, > 0.
    pub ratio: f64,
    /// The test of the difference of mean logarithms; `None` with fewer than two values a side, or when both are
    /// constant (the ratio is exact then).
    pub test: Option<Welch>,
}

impl LogWelch {
    /// Interval of the ratio, where there is a test.
    pub fn interval(&self, confidence: f64) -> Option<Interval> {
        let log = self.test?.interval(confidence);
        Some(Interval { lo: log.lo.exp(), hi: log.hi.exp(), ..log })
    }
}

/// Welch's test on the logarithms of positive values (fork means, or single independent values); `None` when a side is
/// empty or a value is not positive.
pub fn welch_log(before: &[f64], after: &[f64]) -> Option<LogWelch> {
    let unit = before.iter().chain(after).copied().fold(f64::INFINITY, f64::min);
    if unit <= 0.0 {
        return None;
    }
    let logs = |values: &[f64]| moments(&values.iter().map(|&v| ln_ratio(v, unit)).collect::<Vec<_>>(), None);
    let (x, y) = (logs(before)?, logs(after)?);
    let test = x.summary().zip(y.summary()).and_then(|(x, y)| welch(&x, &y));
    Some(LogWelch { ratio: (y.mean - x.mean).exp(), test })
}

/// ln(value / unit) for value >= unit > 0, to the last digits also where they are nearly equal.
pub(super) fn ln_ratio(value: f64, unit: f64) -> f64 {
    if value < 2.0 * unit {
        return ((value - unit) / unit).ln_1p();
    }
    let ratio = value / unit;
    if ratio.is_finite() { ratio.ln() } else { value.ln() - unit.ln() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::oracle::{Case, Oracle};
    use crate::stats::sd_from_error;
    use proptest::prelude::*;

    fn check(c: &Case<'_>, x: &SummaryStats, y: &SummaryStats) {
        let w = welch(x, y);
        let interval = w.map(|w| w.interval(c.f64("conf")));
        c.number("diff", w.map_or(y.mean - x.mean, |w| w.difference));
        c.optional("t", w.map(|w| w.t));
        c.optional("df", w.map(|w| w.df));
        c.optional("p_two_sided", w.map(|w| w.p));
        c.optional("p_increase", w.map(|w| w.p_increase()));
        c.optional("p_decrease", w.map(|w| w.p_decrease()));
        c.optional("diff_lo", interval.map(|i| i.lo));
        c.optional("diff_hi", interval.map(|i| i.hi));
    }

    #[test]
    fn tests_of_values_and_of_summaries_agree_with_the_oracle() {
        for c in Oracle::load("t").of_kind("welch") {
            let (x, y) = if c.get("source") == "raw" {
                let side = |name: &str| moments(&c.values(name), None).unwrap().summary().unwrap();
                (side("x"), side("y"))
            } else {
                (recovered(&c, "before"), recovered(&c, "after"))
            };
            check(&c, &x, &y);
        }
    }

    fn recovered(c: &Case<'_>, side: &str) -> SummaryStats {
        let s = c.inner(side).unwrap();
        let sd = sd_from_error(s.f64("error"), s.u64("n"), s.f64("conf")).unwrap();
        SummaryStats { n: s.u64("n"), mean: s.f64("mean"), sd }
    }

    #[test]
    fn the_forks_guard_agrees_with_the_oracle() {
        for c in Oracle::load("t").of_kind("welch_forks_guard") {
            let side = |name: &str| recovered(&c, name).guarded(c.inner(name).unwrap().u64("forks"));
            check(&c, &side("before"), &side("after"));
        }
    }

    #[test]
    fn too_little_to_test() {
        let s = |n, mean, sd| SummaryStats { n, mean, sd };
        assert_eq!(welch(&s(1, 1.0, 0.0), &s(5, 2.0, 1.0)), None);
        assert_eq!(welch(&s(5, 1.0, 0.0), &s(5, 2.0, 0.0)), None);
        assert_eq!(welch_log(&[1.0, 0.0], &[1.0]), None);
        assert_eq!(welch_log(&[], &[1.0]), None);
        assert_eq!(welch_log(&[2.0], &[3.0]), Some(LogWelch { ratio: 1.5, test: None }));
        assert_eq!(welch_log(&[4.0; 5], &[2.0; 5]), Some(LogWelch { ratio: 0.5, test: None }));
    }

    #[test]
    fn extreme_scales_are_tested_as_others_are() {
        let s = |mean, sd| SummaryStats { n: 5, mean, sd };
        let usual = welch(&s(1.0, 0.25), &s(1.5, 0.5)).unwrap();
        for unit in [2f64.powi(-1000), 2f64.powi(1000)] {
            let w = welch(&s(unit, 0.25 * unit), &s(1.5 * unit, 0.5 * unit)).unwrap();
            assert_eq!((w.t, w.df, w.p), (usual.t, usual.df, usual.p));
        }
        let far = welch_log(&[1e-300, 2e-300], &[1e300, 2e300]).unwrap();
        assert!(far.test.unwrap().p < 1e-3);
    }

    proptest! {
        #[test]
        fn laws_of_the_test_on_logarithms(
            x in prop::collection::vec(0.9..1.1f64, 2..10),
            y in prop::collection::vec(0.9..1.1f64, 2..10),
            scale in 1e-9..1e9f64,
        ) {
            let a = welch_log(&x, &y).unwrap();
            let swapped = welch_log(&y, &x).unwrap();
            prop_assert!((a.ratio * swapped.ratio - 1.0).abs() < 1e-14);
            let (i, j) = (a.interval(0.95).unwrap(), swapped.interval(0.95).unwrap());
            prop_assert!((i.lo * j.hi - 1.0).abs() < 1e-13 && (i.hi * j.lo - 1.0).abs() < 1e-13);
            let t = a.test.unwrap();
            prop_assert!((0.0..=1.0).contains(&t.p));
            prop_assert_eq!(t.p, swapped.test.unwrap().p);
            prop_assert!((t.p - 0.05).abs() < 1e-9 || (t.p <= 0.05) != i.contains(1.0));
            let scaled = |v: &[f64]| v.iter().map(|v| v * scale).collect::<Vec<_>>();
            let b = welch_log(&scaled(&x), &scaled(&y)).unwrap();
            prop_assert!((b.test.unwrap().p / t.p - 1.0).abs() < 1e-7);
        }
    }
}
