//! Interval of the median by order statistics.
//!
//! The number of values below the true median is Binomial(n, 1/2) whatever the distribution, so the order statistics of
//! ranks l and r enclose it with probability sum over k in l..r of C(n,k)/2^n (Hoefler and Belli 2015). Ranks are
//! chosen by benchstat's rule, in weights that are symmetric by construction; [`super::benchstat`] has benchstat's own
//! arithmetic.

use std::cell::Cell;

use super::Interval;
use super::describe::Ordered;
use super::distributions::{choose, normal_from_tail, two_sided_tail};

/// Up to this many values C(n, k) fits an f64.
const EXACT_LIMIT: u64 = 1000;

/// Ranks of the order statistics that bound the median.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MedianRanks {
    /// Rank of the lower bound, from 1; 0: minus infinity.
    pub lo: u64,
    /// Rank of the upper bound; n + 1: infinity.
    pub hi: u64,
    /// Probability that the interval covers the median; `None` past 1000 values, where ranks come from the normal law.
    pub coverage: Option<f64>,
}

/// Interval of the median at `confidence` (0 to 1). Infinite below [`median_ci_needed`] values.
pub fn median_ci(values: &impl Ordered, confidence: f64) -> Interval {
    let MedianRanks { lo, hi, coverage } = median_ranks(values.count(), confidence);
    let (lo, hi) = bounds(values, lo, hi);
    Interval { lo, hi, confidence, coverage }
}

/// Order statistics of ranks `lo` and `hi`, infinite outside of 1 to n.
pub(super) fn bounds(values: &impl Ordered, lo: u64, hi: u64) -> (f64, f64) {
    (
        if lo >= 1 { values.at(lo) } else { f64::NEG_INFINITY },
        if hi <= values.count() { values.at(hi) } else { f64::INFINITY },
    )
}

/// Ranks of the interval for `n` >= 1 values: from the most likely count outwards, always to the likelier side, to the
/// left when both are equally likely, until `confidence` is reached.
pub fn median_ranks(n: u64, confidence: f64) -> MedianRanks {
    thread_local! {
        /// The last question with its answer: the rows of a table ask for the same.
        static LAST: Cell<Option<(u64, f64, MedianRanks)>> = const { Cell::new(None) };
    }
    if let Some((_, _, ranks)) = LAST.get().filter(|(m, c, _)| *m == n && *c == confidence) {
        return ranks;
    }
    let ranks = if n > EXACT_LIMIT { median_ranks_normal(n, confidence) } else { median_ranks_exact(n, confidence) };
    LAST.set(Some((n, confidence, ranks)));
    ranks
}

fn median_ranks_exact(n: u64, confidence: f64) -> MedianRanks {
    let power = 2f64.powi(-(n as i32));
    // Taken from the nearer end, so that C(n, k) and C(n, n - k) are the same f64.
    let weights: Vec<f64> = (0..=n).map(|k| choose(n, k) * power).collect();
    let weight = |k: u64| weights.get(k as usize).copied();
    let mut lo = n / 2;
    let mut hi = lo + 1;
    let mut coverage = weight(lo).unwrap_or(0.0);
    while coverage < confidence {
        let left = lo.checked_sub(1).and_then(weight);
        match (left, weight(hi)) {
            (Some(left), right) if right.is_none_or(|right| left >= right) => {
                coverage += left;
                lo -= 1;
            }
            (_, Some(right)) => {
                coverage += right;
                hi += 1;
            }
            (_, None) => break,
        }
    }
    MedianRanks { lo, hi, coverage: Some(coverage.min(1.0)) }
}

fn median_ranks_normal(n: u64, confidence: f64) -> MedianRanks {
    let z = normal_from_tail(two_sided_tail(confidence));
    let half = n as f64 / 2.0;
    let lo = (half + 0.5 - z * (n as f64).sqrt() / 2.0).floor().max(0.0) as u64;
    MedianRanks { lo, hi: n + 1 - lo, coverage: None }
}

/// The smallest number of values with a finite interval: 6 at 0.95, 8 at 0.99.
pub fn median_ci_needed(confidence: f64) -> u64 {
    // The widest finite interval leaves out only "all values above" and "all values below".
    (2..54).find(|&n| 1.0 - 2f64.powi(1 - n) >= confidence).map_or(54, |n| n as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Sample;
    use crate::stats::oracle::Oracle;
    use proptest::prelude::*;

    #[test]
    fn medians_and_ranks_agree_with_the_oracle() {
        for c in Oracle::load("median_ci").cases() {
            let s = Sample::new(c.values("values")).unwrap();
            let conf = c.f64("conf");
            c.number("median", s.median());
            let ranks = median_ranks(s.count(), conf);
            assert_eq!((ranks.lo, ranks.hi), (c.u64("lo_order"), c.u64("hi_order")), "{}", c.id());
            let interval = median_ci(&s, conf);
            c.number("lo", interval.lo);
            c.number("hi", interval.hi);
            c.number("coverage", interval.coverage.unwrap());
        }
    }

    #[test]
    fn values_needed_for_a_finite_interval() {
        for (confidence, n) in [(0.5, 2), (0.9, 5), (0.95, 6), (0.99, 8), (0.999, 11), (1.0, 54)] {
            assert_eq!(median_ci_needed(confidence), n);
        }
        for confidence in [0.5, 0.75, 0.875, 0.9, 0.95, 0.99, 0.999, 0.999_999] {
            let first = (1..60).find(|&n| {
                let r = median_ranks(n, confidence);
                r.lo >= 1 && r.hi <= n
            });
            assert_eq!(first, Some(median_ci_needed(confidence)));
        }
    }

    #[test]
    fn the_normal_law_takes_over_without_a_step() {
        for confidence in [0.9, 0.95, 0.99, 0.999] {
            let exact = median_ranks(1000, confidence);
            let normal = median_ranks_normal(1000, confidence);
            let width = |r: MedianRanks| (r.hi - r.lo) as i64;
            assert!((width(exact) - width(normal)).abs() <= 1, "{exact:?} {normal:?}");
            let next = median_ranks(1001, confidence);
            assert_eq!(next.lo + next.hi, 1002);
            assert_eq!(next.coverage, None);
        }
    }

    proptest! {
        #[test]
        fn coverage_is_the_binomial_sum_and_enough(n in 1u64..200, confidence in 0.0..1.0f64) {
            let r = median_ranks(n, confidence);
            let total: f64 = (r.lo..r.hi).map(|k| choose(n, k) * 2f64.powi(-(n as i32))).sum();
            let coverage = r.coverage.unwrap();
            prop_assert!((total - coverage).abs() < 1e-12);
            prop_assert!(coverage >= confidence || (r.lo == 0 && r.hi == n + 1));
            prop_assert!(r.lo < r.hi && r.hi <= n + 1);
        }
    }
}
