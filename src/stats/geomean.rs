//! Geometric means, and the interval of a suite's geometric mean ratio.

use super::describe::{moments, sum};
use super::distributions::{normal_from_tail, t_quantile_two_sided, two_sided_tail};
use super::mean_ci::mean_error;
use super::{Interval, Ratio};

/// Geometric mean of `values`; `None` for no values or when one is not positive.
pub fn geomean(values: &[f64]) -> Option<f64> {
    let first = *values.first()?;
    if values.iter().any(|&v| v <= 0.0) {
        return None;
    }
    if values.iter().all(|&v| v == first) {
        return Some(first);
    }
    Some((sum(values.iter().map(|v| v.ln())) / values.len() as f64).exp())
}

/// What one row contributes to the interval of a suite: the logarithm of its ratio and how well that is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogRatio {
    /// ln of after / before.
    pub log_ratio: f64,
    /// Its standard error, >= 0.
    pub error: f64,
    /// Degrees of freedom of the error, > 0; infinite where it comes from a normal quantile.
    pub df: f64,
}

impl LogRatio {
    /// From a Hodges-Lehmann interval: its logarithmic width over that of a normal interval of the coverage it reached.
    /// `None` for infinite bounds.
    pub fn from_interval(ratio: &Ratio) -> Option<Self> {
        let Interval { lo, hi, confidence, coverage } = ratio.interval;
        if !(lo > 0.0 && hi.is_finite()) {
            return None;
        }
        let z = normal_from_tail(two_sided_tail(coverage.unwrap_or(confidence)));
        (z > 0.0).then(|| LogRatio {
            log_ratio: ratio.ratio.ln(),
            error: (hi.ln() - lo.ln()) / (2.0 * z),
            df: f64::INFINITY,
        })
    }
}

/// Geometric mean of the rows' ratios, its standard error and its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SuiteRatio {
    /// Geometric mean ratio with its interval.
    pub ratio: Ratio,
    /// Standard error of its logarithm.
    pub log_error: f64,
    /// Degrees of freedom of the error.
    pub df: f64,
}

/// How exactly the geometric mean ratio of *this* suite is known: the rows' own errors, propagated (Satterthwaite's
/// degrees of freedom). `None` for no rows.
pub fn suite_ratio(rows: &[LogRatio], confidence: f64) -> Option<SuiteRatio> {
    let count = rows.len() as f64;
    if rows.is_empty() {
        return None;
    }
    let log_ratio = sum(rows.iter().map(|r| r.log_ratio)) / count;
    let variance = sum(rows.iter().map(|r| r.error * r.error));
    let per_df = sum(rows.iter().map(|r| r.error.powi(4) / r.df));
    let df = if per_df > 0.0 { variance * variance / per_df } else { f64::INFINITY };
    let log_error = variance.sqrt() / count;
    let half_width = if log_error > 0.0 { t_quantile_two_sided(confidence, df) * log_error } else { 0.0 };
    Some(SuiteRatio { ratio: around(log_ratio, half_width, confidence), log_error, df })
}

/// The geometric mean ratio for benchmarks *like these*: Student's t over the rows' log ratios. Another question than
/// [`suite_ratio`]'s. `None` below two rows.
pub fn population_ratio(log_ratios: &[f64], confidence: f64) -> Option<Ratio> {
    let m = moments(log_ratios, None)?;
    Some(around(m.mean, mean_error(m.sd?, m.n, confidence)?, confidence))
}

fn around(log_ratio: f64, half_width: f64, confidence: f64) -> Ratio {
    let (lo, hi) = ((log_ratio - half_width).exp(), (log_ratio + half_width).exp());
    Ratio { ratio: log_ratio.exp(), interval: Interval { lo, hi, confidence, coverage: None } }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Sample;
    use crate::stats::oracle::Oracle;
    use crate::stats::{UCache, hodges_lehmann_ratio};
    use proptest::prelude::*;

    #[test]
    fn geomeans_agree_with_the_oracle() {
        for c in Oracle::load("geomean").of_kind("geomean") {
            c.optional("geomean", geomean(&c.values("values")));
        }
    }

    #[test]
    fn intervals_of_suites_agree_with_the_oracle() {
        for c in Oracle::load("geomean").of_kind("ratio_geomean_fixed_suite") {
            let rows: Vec<_> = c
                .list("rows")
                .iter()
                .map(|r| LogRatio { log_ratio: r.f64("log_ratio"), error: r.f64("se"), df: r.f64("df") })
                .collect();
            let conf = c.f64("conf");
            let suite = suite_ratio(&rows, conf).unwrap();
            c.number("ratio", suite.ratio.ratio);
            c.number("se_log", suite.log_error);
            c.number("df", suite.df);
            c.number("lo", suite.ratio.interval.lo);
            c.number("hi", suite.ratio.interval.hi);
            let logs: Vec<f64> = rows.iter().map(|r| r.log_ratio).collect();
            let population = population_ratio(&logs, conf);
            match c.inner("population_of_benchmarks") {
                None => assert_eq!(population, None),
                Some(want) => {
                    want.number("lo", population.unwrap().interval.lo);
                    want.number("hi", population.unwrap().interval.hi);
                }
            }
        }
    }

    #[test]
    fn a_row_of_ranks_contributes_the_error_its_interval_shows() {
        let r = |lo, hi, coverage| Ratio { ratio: 1.1, interval: Interval { lo, hi, confidence: 0.9, coverage } };
        let row = LogRatio::from_interval(&r(1.0, 1.21, Some(0.95))).unwrap();
        assert!((row.error - 1.21f64.ln() / (2.0 * 1.959_963_984_540_054)).abs() < 1e-15);
        assert_eq!(LogRatio::from_interval(&r(0.0, f64::INFINITY, Some(1.0))), None);
        // Rows without degrees of freedom of their own: the normal law.
        let suite = suite_ratio(&[row], 0.95).unwrap();
        assert!(suite.df.is_infinite());
        assert!((suite.ratio.interval.hi / 1.1 - 1.1).abs() < 1e-12);
    }

    #[test]
    fn rows_without_any_error_leave_none() {
        let exact = LogRatio { log_ratio: 0.1, error: 0.0, df: 4.0 };
        let s = suite_ratio(&[exact, exact], 0.95).unwrap();
        assert_eq!((s.ratio.interval.lo, s.ratio.interval.hi), (s.ratio.ratio, s.ratio.ratio));
        assert_eq!(suite_ratio(&[], 0.95), None);
        let same = Sample::new(vec![2.0; 6]).unwrap();
        let ratio = hodges_lehmann_ratio(&same, &same, 0.95, &UCache::new()).unwrap();
        assert_eq!(LogRatio::from_interval(&ratio).unwrap().error, 0.0);
    }

    proptest! {
        #[test]
        fn the_geomean_scales_and_lies_between(
            values in prop::collection::vec(1e-3..1e3f64, 1..30),
            scale in 1e-6..1e6f64,
        ) {
            let g = geomean(&values).unwrap();
            let scaled = geomean(&values.iter().map(|v| v * scale).collect::<Vec<_>>()).unwrap();
            prop_assert!((scaled / scale / g - 1.0).abs() < 1e-13);
            let min = values.iter().copied().fold(f64::INFINITY, f64::min);
            let max = values.iter().copied().fold(0.0, f64::max);
            prop_assert!(g >= min * (1.0 - 1e-14) && g <= max * (1.0 + 1e-14));
        }
    }
}
