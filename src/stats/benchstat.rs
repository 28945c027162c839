//! benchstat's own arithmetic, for the drop-in mode: where it differs from ours, it differs on purpose.
//!
//! Source: golang.org/x/perf/benchmath and the packages of go-moremath it calls. The median goes through an
//! interpolated quantile even where it is a single value; binomial weights above n = 20 come from rounded logarithms,
//! so that equal weights may compare unequal; above n = 30 the normal law is used.

use crate::model::Sample;

use super::UCache;
use super::describe::quantile_r8;
use super::distributions::{choose, normal_quantile, normal_upper_p};
use super::median_ci::bounds;
use super::utest::mann_whitney_benchstat;

/// benchstat gives up looking for a sample count with a finite interval past this one.
const MOST_SAMPLES_NAMED: u64 = 50;

/// The median as benchstat computes it: the last bits may differ from the middle value.
pub fn median(sample: &Sample) -> f64 {
    quantile_r8(sample, 0.5)
}

/// Lower and upper bound of the median's interval; infinite with too few values.
pub fn median_ci(sample: &Sample, confidence: f64) -> (f64, f64) {
    let (lo, hi) = median_ranks(sample.len() as u64, confidence);
    bounds(sample, lo, hi)
}

/// Ranks (from 1) of the order statistics that bound the median; 0 and n + 1: infinite.
pub fn median_ranks(n: u64, confidence: f64) -> (u64, u64) {
    if confidence >= 1.0 {
        (0, n + 1)
    } else if n <= 30 {
        ranks_binomial(n, confidence)
    } else {
        ranks_normal(n, confidence)
    }
}

fn ranks_binomial(n: u64, confidence: f64) -> (u64, u64) {
    let weight = |k: Option<u64>| k.filter(|&k| k <= n).map_or(0.0, |k| choose_rounded(n, k) * 2f64.powi(-(n as i32)));
    let mut lo = n / 2;
    let mut hi = lo + 1;
    let mut sum = weight(Some(lo));
    while sum < confidence && (lo > 0 || hi <= n) {
        let (left, right) = (weight(lo.checked_sub(1)), weight(Some(hi)));
        if lo > 0 && left >= right {
            sum += left;
            lo -= 1;
        } else {
            sum += right;
            hi += 1;
        }
    }
    (lo, hi.min(n + 1))
}

fn ranks_normal(n: u64, confidence: f64) -> (u64, u64) {
    let (mu, sd) = (n as f64 / 2.0, (n as f64 / 4.0).sqrt());
    let lower = mu + sd * normal_quantile((1.0 - confidence) / 2.0);
    let upper = 2.0 * mu - lower;
    let lo = ((lower - 0.5).floor() + 0.5).floor() + 1.0;
    let mut hi = ((upper - 0.5).ceil() + 0.5).floor() + 1.0;
    let coverage = |hi: f64| normal_upper_p((lo - 0.5 - mu) / sd) - normal_upper_p((hi - 0.5 - mu) / sd);
    let narrower = coverage(hi - 1.0);
    if narrower >= confidence && narrower < coverage(hi) {
        hi -= 1.0;
    }
    (lo.max(0.0) as u64, (hi.max(0.0) as u64).min(n + 1))
}

/// Smallest count of values with a finite interval; `None` past 50.
pub fn samples_needed(confidence: f64) -> Option<u64> {
    (2..=MOST_SAMPLES_NAMED).find(|&n| {
        let (lo, hi) = median_ranks(n, confidence);
        lo >= 1 && hi <= n
    })
}

/// Smallest count of values a side at which the U test can reach `alpha`; `None` past 9 ("> 10").
pub fn detect_needed(alpha: f64) -> Option<u64> {
    (1..=9).find(|&n| 2.0 / choose(2 * n, n) <= alpha)
}

/// All values of both sides are equal; benchstat shows `~` with p=1.000 and says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AllEqual;

/// Two-sided p of the Mann-Whitney U test, exact as far as benchstat is exact: 50 values a side without ties, 25 with.
///
/// For ties with unequal counts benchstat's own p is wrong and may change with the order of the files; this is the
/// right one.
///
/// # Errors
/// [`AllEqual`], when there is nothing to rank.
pub fn mann_whitney(before: &Sample, after: &Sample, cache: &UCache) -> Result<f64, AllEqual> {
    let test = mann_whitney_benchstat(before, after, cache);
    if test.all_equal { Err(AllEqual) } else { Ok(test.p.value()) }
}

/// The most frequent value, the smallest of equally frequent ones: the centre under `assume=exact`.
pub fn mode(sample: &Sample) -> f64 {
    let mut best = (0, sample.values()[0]);
    for run in sample.values().chunk_by(|a, b| a == b) {
        if run.len() > best.0 {
            best = (run.len(), run[0]);
        }
    }
    best.1
}

/// C(n, k) with go-moremath's rounding: whole up to n = 20, through logarithms of the gamma function above.
fn choose_rounded(n: u64, k: u64) -> f64 {
    if k == 0 || k == n || n <= 20 {
        return choose(n, k);
    }
    (ln_factorial(n) - ln_factorial(k) - ln_factorial(n - k)).exp()
}

/// ln n! as Go's `math.Lgamma(n + 1)` rounds it (FreeBSD's e_lgamma_r.c, of which whole arguments need two branches).
fn ln_factorial(n: u64) -> f64 {
    const W: [f64; 7] = [
        4.189_385_332_046_727e-1,
        8.333_333_333_333_297e-2,
        -2.777_777_777_287_755_4e-3,
        7.936_505_586_430_196e-4,
        -5.951_875_574_503_4e-4,
        8.363_399_189_962_821e-4,
        -1.630_929_340_965_752_7e-3,
    ];
    let x = (n + 1) as f64;
    if n < 7 {
        return (2..=n).map(|i| i as f64).product::<f64>().ln();
    }
    let z = 1.0 / x;
    let y = z * z;
    let series = W[2..].iter().rev().fold(0.0, |s, w| s * y + w);
    (x - 0.5) * (x.ln() - 1.0) + (W[0] + z * (W[1] + y * series))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::oracle::Oracle;

    #[test]
    fn ranks_agree_with_the_oracle() {
        for c in Oracle::load("median_ci").cases() {
            let prefix = if c.has("benchstat_lo_order") { "benchstat_" } else { "" };
            let want = (c.u64(&format!("{prefix}lo_order")), c.u64(&format!("{prefix}hi_order")));
            assert_eq!(median_ranks(c.u64("n"), c.f64("conf")), want, "{}", c.id());
        }
    }

    #[test]
    fn rounding_goes_right_exactly_where_benchstat_was_seen_to() {
        // Observed with go-moremath at every n up to 30; elsewhere its ranks are those of exact weights.
        let observed = [
            ((22, 0.9), (8, 16)),
            ((29, 0.9), (11, 20)),
            ((24, 0.95), (8, 18)),
            ((28, 0.99), (8, 22)),
            ((24, 0.999), (5, 21)),
            ((30, 0.999), (7, 25)),
        ];
        for n in 1..=30 {
            for confidence in [0.9, 0.95, 0.99, 0.999] {
                let exact = crate::stats::median_ranks(n, confidence);
                let want = observed.iter().find(|o| o.0 == (n, confidence)).map_or((exact.lo, exact.hi), |o| o.1);
                assert_eq!(median_ranks(n, confidence), want, "{n} at {confidence}");
            }
        }
    }

    #[test]
    fn ranks_of_larger_samples_at_95_percent() {
        for (n, ranks) in [
            (31, (10, 22)),
            (34, (11, 23)),
            (40, (14, 27)),
            (45, (16, 30)),
            (50, (18, 32)),
            (60, (22, 38)),
            (100, (40, 60)),
            (1000, (469, 532)),
        ] {
            assert_eq!(median_ranks(n, 0.95), ranks, "{n}");
        }
        assert_eq!(median_ranks(7, 1.0), (0, 8));
    }

    #[test]
    fn samples_needed_in_notes() {
        for (confidence, n) in [(0.95, Some(6)), (0.99, Some(8)), (0.999, Some(11)), (1.0, None)] {
            assert_eq!(samples_needed(confidence), n);
        }
        for (alpha, n) in [(0.05, Some(4)), (0.01, Some(5)), (1.0, Some(1)), (1e-6, None)] {
            assert_eq!(detect_needed(alpha), n);
        }
    }

    #[test]
    fn the_mode_is_the_smallest_of_equally_frequent_values() {
        let mode_of = |v: &[f64]| mode(&Sample::new(v.to_vec()).unwrap());
        assert_eq!(mode_of(&[3.0, 1.0, 3.0, 1.0, 2.0]), 1.0);
        assert_eq!(mode_of(&[5.0]), 5.0);
        assert_eq!(mode_of(&[1.0, 2.0, 2.0]), 2.0);
    }
}
