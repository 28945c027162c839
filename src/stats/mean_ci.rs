//! Interval of the mean by Student's t, and back from a printed error to the standard deviation.

use super::describe::Moments;
use super::distributions::t_quantile_two_sided;
use super::{Interval, SummaryStats};

/// Half width of the interval of a mean: t * sd / sqrt(n) with n - 1 degrees of freedom; `None` below two values.
///
/// (JMH prints NaN for n <= 2.)
pub fn mean_error(sd: f64, n: u64, confidence: f64) -> Option<f64> {
    if n < 2 {
        return None;
    }
    if sd == 0.0 {
        return Some(0.0);
    }
    Some(t_quantile_two_sided(confidence, (n - 1) as f64) * (sd / (n as f64).sqrt()))
}

/// Standard deviation of the single values behind a half width that was computed as by [`mean_error`]; `None` below two
/// values.
pub fn sd_from_error(error: f64, n: u64, confidence: f64) -> Option<f64> {
    (n >= 2).then(|| error * (n as f64).sqrt() / t_quantile_two_sided(confidence, (n - 1) as f64))
}

/// Standard deviation behind a half width of the normal law, z * sd / sqrt(n) (db_bench's `±`); `None` below two
/// values.
pub fn sd_from_normal_error(error: f64, n: u64, confidence: f64) -> Option<f64> {
    (n >= 2).then(|| error * (n as f64).sqrt() / t_quantile_two_sided(confidence, f64::INFINITY))
}

/// Interval mean ± [`mean_error`].
pub fn mean_ci(stats: &SummaryStats, confidence: f64) -> Option<Interval> {
    let error = mean_error(stats.sd, stats.n, confidence)?;
    Some(Interval { lo: stats.mean - error, hi: stats.mean + error, confidence, coverage: None })
}

impl Moments {
    /// What a test of means needs; `None` for one value.
    pub fn summary(&self) -> Option<SummaryStats> {
        Some(SummaryStats { n: self.n, mean: self.mean, sd: self.sd? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::moments;
    use crate::stats::oracle::Oracle;

    #[test]
    fn errors_agree_with_the_oracle() {
        for c in Oracle::load("t").of_kind("mean_error") {
            let m = moments(&c.values("values"), None).unwrap();
            for i in c.list("intervals") {
                let conf = i.f64("conf");
                i.optional("error", m.sd.and_then(|sd| mean_error(sd, m.n, conf)));
                let interval = m.summary().and_then(|s| mean_ci(&s, conf));
                i.optional("lo", interval.map(|i| i.lo));
                i.optional("hi", interval.map(|i| i.hi));
            }
        }
    }

    #[test]
    fn deviations_recovered_from_printed_errors_agree_with_the_oracle() {
        for c in Oracle::load("t").of_kind("recover_sd") {
            let n = c.u64("n");
            let sd = sd_from_error(c.f64("error"), n, c.f64("conf")).unwrap();
            c.number("sd", sd);
            c.number("se", sd / (n as f64).sqrt());
            let errors = c.inner("error_at").unwrap();
            for conf in ["0.9", "0.95", "0.99", "0.999"] {
                errors.number(conf, mean_error(sd, n, conf.parse().unwrap()).unwrap());
            }
        }
    }

    #[test]
    fn one_value_has_no_error() {
        assert_eq!(mean_error(1.0, 1, 0.95), None);
        assert_eq!(sd_from_error(1.0, 1, 0.95), None);
        assert_eq!(sd_from_normal_error(1.0, 1, 0.95), None);
    }

    #[test]
    fn a_normal_error_gives_its_deviation_back() {
        // db_bench: 1.96 * sd / sqrt(n).
        let sd = sd_from_normal_error(1.96 * 3.0 / 10f64.sqrt(), 10, 0.95).unwrap();
        assert!((sd - 3.0).abs() < 1e-4, "{sd}");
    }
}
