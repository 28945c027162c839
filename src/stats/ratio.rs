//! Interval of a ratio of two means: relative throughput, speed-up.
//!
//! From summaries the default is the log-delta interval, which is the reciprocal when the sides are swapped and never
//! negative. Fieller's interval (1954) replaces it where a mean is not much larger than its error. Degrees of freedom
//! by Satterthwaite's formula at the estimated ratio (Tamhane and Logan 2004).

use super::distributions::t_quantile_two_sided;
use super::welch::satterthwaite;
use super::{Interval, Ratio, SummaryStats};

/// Relative standard error of a mean past which [`ratio_of_means`] uses Fieller's interval.
const MOST_RELATIVE_ERROR: f64 = 0.1;

/// Variances of the two means relative to the square of the mean before, and what follows from them.
#[derive(Clone, Copy, Debug)]
struct Relative {
    ratio: f64,
    /// Variance of the mean before, over its square.
    before: f64,
    /// Variance of the mean after, over the square of the mean before.
    after: f64,
    df: f64,
}

impl Relative {
    /// `None` with fewer than two values a side, a mean before of 0, or no variance at all.
    fn new(before: &SummaryStats, after: &SummaryStats) -> Option<Self> {
        if before.n < 2 || after.n < 2 {
            return None;
        }
        let ratio = quotient(before, after)?;
        let a = (before.sd / before.mean).powi(2) / before.n as f64;
        let b = (after.sd / before.mean).powi(2) / after.n as f64;
        let of_ratio = a * ratio * ratio;
        if !(of_ratio + b > 0.0 && (of_ratio + b).is_finite()) {
            return None;
        }
        Some(Relative { ratio, before: a, after: b, df: satterthwaite(of_ratio, before.n, b, after.n) })
    }

    /// Standard error of the ratio.
    fn error(&self) -> f64 {
        (self.before * self.ratio * self.ratio + self.after).sqrt()
    }

    fn t(&self, confidence: f64) -> f64 {
        t_quantile_two_sided(confidence, self.df)
    }
}

/// Mean after over mean before; `None` when the mean before is 0 or the ratio is outside the range of f64.
fn quotient(before: &SummaryStats, after: &SummaryStats) -> Option<f64> {
    let ratio = after.mean / before.mean;
    (before.mean != 0.0 && ratio.is_finite()).then_some(ratio)
}

/// Degrees of freedom of the intervals of the ratio; `None` where there is none.
pub fn ratio_df(before: &SummaryStats, after: &SummaryStats) -> Option<f64> {
    Some(Relative::new(before, after)?.df)
}

/// Standard error of the logarithm of the ratio of means, > 0; `None` where there is no [`log_delta`] interval.
pub fn log_ratio_error(before: &SummaryStats, after: &SummaryStats) -> Option<f64> {
    let r = Relative::new(before, after)?;
    (r.ratio > 0.0).then(|| r.error() / r.ratio)
}

/// The ratio with the interval r * exp(± t * error of the logarithm).
///
/// `None` unless the ratio is positive, each side has two values, and at least one varies.
pub fn log_delta(before: &SummaryStats, after: &SummaryStats, confidence: f64) -> Option<Ratio> {
    let r = Relative::new(before, after)?;
    let ratio = r.ratio;
    if ratio <= 0.0 {
        return None;
    }
    let factor = (r.t(confidence) * r.error() / ratio).exp();
    Some(Ratio { ratio, interval: Interval { lo: ratio / factor, hi: ratio * factor, confidence, coverage: None } })
}

/// The ratio with the interval r ± t * standard error: symmetric, so not consistent under swapping the sides.
pub fn delta(before: &SummaryStats, after: &SummaryStats, confidence: f64) -> Option<Ratio> {
    let r = Relative::new(before, after)?;
    let half_width = r.t(confidence) * r.error();
    let (lo, hi) = (r.ratio - half_width, r.ratio + half_width);
    Some(Ratio { ratio: r.ratio, interval: Interval { lo, hi, confidence, coverage: None } })
}

/// The ratios that a t test of after - ratio * before does not reject.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fieller {
    /// An interval.
    Bounded(Interval),
    /// All ratios up to `lo` and from `hi`: the mean before is not distinguishable from 0.
    Outside {
        /// Upper end of the lower part.
        lo: f64,
        /// Lower end of the upper part.
        hi: f64,
    },
    /// Every ratio: neither mean is distinguishable from 0.
    All,
}

impl Fieller {
    /// The interval, where there is a bounded one.
    pub fn interval(&self) -> Option<Interval> {
        match self {
            Fieller::Bounded(interval) => Some(*interval),
            Fieller::Outside { .. } | Fieller::All => None,
        }
    }
}

/// Fieller's set of ratios; `None` with fewer than two values a side, a mean before of 0, or no variance at all.
pub fn fieller(before: &SummaryStats, after: &SummaryStats, confidence: f64) -> Option<Fieller> {
    let r = Relative::new(before, after)?;
    let square = r.t(confidence).powi(2);
    // In units of the mean before: (1 - tx) rho² - 2 r rho + (r² - ty) <= 0.
    let (tx, ty) = (square * r.before, square * r.after);
    let leading = 1.0 - tx;
    let constant = r.ratio * r.ratio - ty;
    let discriminant = ty * leading + tx * r.ratio * r.ratio;
    if discriminant <= 0.0 && leading <= 0.0 {
        return Some(Fieller::All);
    }
    // The root without cancellation first, the other from the product of both.
    let sum = r.ratio + discriminant.max(0.0).sqrt().copysign(r.ratio);
    let roots = [sum / leading, if sum == 0.0 { 0.0 } else { constant / sum }];
    let (lo, hi) = (roots[0].min(roots[1]), roots[0].max(roots[1]));
    Some(if leading > 0.0 {
        Fieller::Bounded(Interval { lo, hi, confidence, coverage: None })
    } else {
        Fieller::Outside { lo, hi }
    })
}

/// How the interval of a ratio of means was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RatioMethod {
    /// [`log_delta`].
    LogDelta,
    /// [`fieller`].
    Fieller,
}

/// A ratio of means and its default interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeanRatio {
    /// Mean after over mean before.
    pub ratio: f64,
    /// Where the true ratio may lie, and by which method. The interval is `None` where Fieller's set is unbounded: the
    /// mean before is not distinguishable from 0. No method: fewer than two values a side, or both sides constant (the
    /// ratio is exact then).
    pub interval: Option<(RatioMethod, Option<Interval>)>,
}

/// The ratio of the means with its log-delta interval, or Fieller's where a relative standard error is above 10 % or
/// the ratio is not positive. `None` when the mean before is 0.
pub fn ratio_of_means(before: &SummaryStats, after: &SummaryStats, confidence: f64) -> Option<MeanRatio> {
    let ratio = quotient(before, after)?;
    let relative_error = |s: &SummaryStats| s.sd / s.mean.abs() / (s.n as f64).sqrt();
    let interval = if relative_error(before).max(relative_error(after)) <= MOST_RELATIVE_ERROR && ratio > 0.0 {
        log_delta(before, after, confidence).map(|r| (RatioMethod::LogDelta, Some(r.interval)))
    } else {
        fieller(before, after, confidence).map(|f| (RatioMethod::Fieller, f.interval()))
    };
    Some(MeanRatio { ratio, interval })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::oracle::{Case, Oracle};
    use crate::stats::{moments, sd_from_error, welch, welch_log};
    use proptest::prelude::*;

    fn sides(c: &Case<'_>) -> (SummaryStats, SummaryStats) {
        let raw = |name: &str| moments(&c.values(name), None).unwrap().summary().unwrap();
        let printed = |name: &str| {
            let s = c.inner(name).unwrap();
            let sd = sd_from_error(s.f64("error"), s.u64("n"), s.f64("conf")).unwrap();
            SummaryStats { n: s.u64("n"), mean: s.f64("mean"), sd }
        };
        if c.get("source") == "raw" { (raw("x"), raw("y")) } else { (printed("before"), printed("after")) }
    }

    pub fn check_fieller(c: &Case<'_>, got: Option<Fieller>) {
        let Some(want) = c.inner("fieller") else {
            assert_eq!(got, None, "{}", c.id());
            return;
        };
        let (kind, lo, hi) = match got.unwrap() {
            Fieller::Bounded(i) => ("bounded", Some(i.lo), Some(i.hi)),
            Fieller::Outside { lo, hi } => ("outside", Some(lo), Some(hi)),
            Fieller::All => ("all", None, None),
        };
        assert_eq!(want.get("kind"), kind, "{}", c.id());
        want.optional("lo", lo);
        want.optional("hi", hi);
    }

    #[test]
    fn ratios_and_their_intervals_agree_with_the_oracle() {
        for c in Oracle::load("ratio_ci").cases() {
            let (x, y) = sides(&c);
            let conf = c.f64("conf");
            c.optional("ratio", ratio_of_means(&x, &y, conf).map(|r| r.ratio));
            c.optional("df", ratio_df(&x, &y));
            let bounds = |r: Option<Ratio>| r.map(|r| (r.interval.lo, r.interval.hi));
            c.pair("delta", bounds(delta(&x, &y, conf)));
            c.pair("log_delta", bounds(log_delta(&x, &y, conf)));
            check_fieller(&c, fieller(&x, &y, conf));
        }
    }

    #[test]
    fn ratios_of_geometric_means_agree_with_the_oracle() {
        for c in Oracle::load("ratio_ci").cases().filter(|c| c.get("source") == "raw") {
            let got = welch_log(&c.values("x"), &c.values("y"));
            let Some(want) = c.inner("log_welch") else {
                assert_eq!(got, None, "{}", c.id());
                continue;
            };
            let got = got.unwrap();
            let interval = got.interval(c.f64("conf"));
            want.number("ratio", got.ratio);
            want.optional("lo", interval.map(|i| i.lo));
            want.optional("hi", interval.map(|i| i.hi));
            want.optional("df", got.test.map(|t| t.df));
            want.optional("p_two_sided", got.test.map(|t| t.p));
        }
    }

    #[test]
    fn the_forks_guard_gives_the_ratio_of_the_oracle() {
        for c in Oracle::load("t").of_kind("welch_forks_guard") {
            let side = |name: &str| {
                let s = c.inner(name).unwrap();
                let sd = sd_from_error(s.f64("error"), s.u64("n"), s.f64("conf")).unwrap();
                SummaryStats { n: s.u64("n"), mean: s.f64("mean"), sd }.guarded(s.u64("forks"))
            };
            let r = log_delta(&side("before"), &side("after"), c.f64("conf")).unwrap();
            c.number("ratio", r.ratio);
            c.pair("log_delta", Some((r.interval.lo, r.interval.hi)));
        }
    }

    #[test]
    fn the_default_interval_is_fiellers_where_errors_are_large() {
        let s = |mean, sd| SummaryStats { n: 4, mean, sd };
        let method = |x, y| ratio_of_means(&x, &y, 0.95).and_then(|r| r.interval).map(|i| (i.0, i.1.is_some()));
        assert_eq!(method(s(10.0, 1.0), s(11.0, 1.0)), Some((RatioMethod::LogDelta, true)));
        assert_eq!(method(s(10.0, 2.5), s(11.0, 1.0)), Some((RatioMethod::Fieller, true)));
        assert_eq!(method(s(10.0, 1.0), s(-11.0, 1.0)), Some((RatioMethod::Fieller, true)));
        assert_eq!(method(s(1.0, 10.0), s(11.0, 1.0)), Some((RatioMethod::Fieller, false)));
        assert_eq!(method(s(4.0, 0.0), s(2.0, 0.0)), None);
        assert_eq!(ratio_of_means(&s(0.0, 1.0), &s(1.0, 1.0), 0.95), None);
    }

    proptest! {
        #[test]
        fn log_delta_is_reciprocal_and_fieller_inverts_the_test(
            x in (0.5..2.0f64, 0.01..0.5f64, 2u64..20), y in (0.5..2.0f64, 0.01..0.5f64, 2u64..20),
        ) {
            let side = |(mean, sd, n): (f64, f64, u64)| SummaryStats { n, mean, sd };
            let (x, y) = (side(x), side(y));
            let (r, s) = (log_delta(&x, &y, 0.95).unwrap(), log_delta(&y, &x, 0.95).unwrap());
            prop_assert!((r.interval.lo * s.interval.hi - 1.0).abs() < 1e-12);
            prop_assert!(r.interval.lo > 0.0 && r.interval.contains(r.ratio));
            // On the bound rho, the difference after - rho * before is t standard errors from 0.
            if let Some(Fieller::Bounded(i)) = fieller(&x, &y, 0.95) {
                prop_assert!(i.contains(r.ratio));
                for rho in [i.lo, i.hi] {
                    let scaled = SummaryStats { n: x.n, mean: rho * x.mean, sd: rho.abs() * x.sd };
                    let w = welch(&scaled, &y).unwrap();
                    let t = t_quantile_two_sided(0.95, ratio_df(&x, &y).unwrap());
                    prop_assert!((w.t.abs() / t - 1.0).abs() < 1e-9);
                }
            }
        }
    }
}
