//! What numbers of runs can show: smallest attainable p, minimum detectable effect, runs needed.
//!
//! The deviation given is that of the logarithms of the independent values (fork means for nested data), pooled over
//! both sides. From few values it is vague itself (n = 5: 80 % of estimates are within a factor 0.7 to 1.9), so that
//! runs should be rounded up when they are shown. There is no "observed power" here: it would be a function of p alone.

use std::f64::consts::PI;
use std::sync::{LazyLock, PoisonError, RwLock};

use rustc_hash::FxHashMap;

use super::distributions::{choose, t_from_tail};

/// More runs than this are not asked of anybody; the answer is then this number.
const MOST_RUNS: u64 = 1_000_000_000;

/// The smallest two-sided p of a Mann-Whitney test of `n` against `m` values without ties: 2/C(n + m, n).
pub fn smallest_p(n: u64, m: u64) -> f64 {
    // Counts past 500 are past any threshold, and past f64.
    (2.0 / choose(n.min(500) + m.min(500), n.min(500))).min(1.0)
}

/// The smallest number of values a side with which a Mann-Whitney test can reach `alpha` in every one of `rows` rows
/// after Holm: 2/C(2n, n) <= alpha/rows. `alpha` is above 0 and `rows` at least 1.
pub fn runs_for_alpha(alpha: f64, rows: u64) -> u64 {
    (1..500).find(|&n| smallest_p(n, n) * rows as f64 <= alpha).unwrap_or(500)
}

/// The minimum detectable effect as a change of the ratio (0.02: a ratio of 1.02): what a t test of `n` against `n`
/// values finds with probability `power`. `None` below two values.
pub fn mde(log_sd: f64, n: u64, alpha: f64, power: f64) -> Option<f64> {
    Some(mde_log(log_sd, n, alpha, power)?.exp_m1())
}

/// The logarithm of 1 + [`mde`].
pub fn mde_log(log_sd: f64, n: u64, alpha: f64, power: f64) -> Option<f64> {
    (n >= 2).then(|| factor(n, alpha, power) * log_sd)
}

/// The smallest number of values a side with which a t test finds a change by `effect` (0.01: 1 %, > 0) with
/// probability `power`; at least 2, at most a billion.
pub fn runs_needed(log_sd: f64, effect: f64, alpha: f64, power: f64) -> u64 {
    let target = effect.ln_1p();
    let enough = |n: u64| factor(n, alpha, power) * log_sd <= target;
    // As if the deviation were known: too few by about z squared / 4, which the steps make up for.
    let known = 2.0 * (sum_of_quantiles(f64::INFINITY, alpha, power) * log_sd / target).powi(2);
    if known >= MOST_RUNS as f64 {
        return MOST_RUNS;
    }
    let mut n = (known as u64).max(2);
    while n > 2 && enough(n - 1) {
        n -= 1;
    }
    while n < MOST_RUNS && !enough(n) {
        n += 1;
    }
    n
}

/// The log effect that `n` >= 2 values a side find, in standard deviations. It falls as `n` rises.
fn factor(n: u64, alpha: f64, power: f64) -> f64 {
    sum_of_quantiles((2 * n - 2) as f64, alpha, power) * (2.0 / n as f64).sqrt()
}

/// The two-sided quantile of the level and the one-sided one of the power, at least 0 together.
fn sum_of_quantiles(df: f64, alpha: f64, power: f64) -> f64 {
    /// Sums already worked out: a quantile takes microseconds, and the rows of a large table ask for the same few.
    static KNOWN: LazyLock<RwLock<FxHashMap<[u64; 3], f64>>> = LazyLock::new(RwLock::default);
    /// Enough for any real table, and bounded.
    const KEPT: usize = 1 << 16;
    let key = [df, alpha, power].map(f64::to_bits);
    if let Some(&known) = KNOWN.read().unwrap_or_else(PoisonError::into_inner).get(&key) {
        return known;
    }
    // One-sided: half the two-sided tail, on the side of its sign.
    let miss = 1.0 - power;
    let of_power = if miss <= 0.5 { t_from_tail(2.0 * miss, df) } else { -t_from_tail(2.0 * power, df) };
    let sum = (t_from_tail(alpha, df) + of_power).max(0.0);
    let mut known = KNOWN.write().unwrap_or_else(PoisonError::into_inner);
    if known.len() < KEPT {
        known.insert(key, sum);
    }
    sum
}

/// As [`runs_needed`] for the Mann-Whitney test: more by its asymptotic relative efficiency 3/pi, and enough to reach
/// `alpha` at all.
pub fn runs_needed_by_ranks(log_sd: f64, effect: f64, alpha: f64, power: f64) -> u64 {
    let by_t = runs_needed(log_sd, effect, alpha, power);
    ((by_t as f64 * (PI / 3.0)).ceil() as u64).max(runs_for_alpha(alpha, 1))
}

/// As [`mde`] for the Mann-Whitney test: that of 3/pi of the values.
pub fn mde_by_ranks(log_sd: f64, n: u64, alpha: f64, power: f64) -> Option<f64> {
    // Widening the error by the same factor as fewer values would; the degrees of freedom stay.
    mde(log_sd * (PI / 3.0).sqrt(), n, alpha, power)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::oracle::Oracle;
    use proptest::prelude::*;

    #[test]
    fn attainable_p_agrees_with_the_oracle() {
        let oracle = Oracle::load("power");
        for c in oracle.of_kind("mwu_min_p") {
            c.number("p", smallest_p(c.u64("n1"), c.u64("n2")));
        }
        for c in oracle.of_kind("mwu_min_n") {
            assert_eq!(runs_for_alpha(c.f64("alpha"), 1), c.u64("n"));
        }
        for (rows, n) in [(1, 4), (10, 6), (40, 7), (200, 8)] {
            assert_eq!(runs_for_alpha(0.05, rows), n);
        }
    }

    #[test]
    fn detectable_effects_and_runs_needed_agree_with_the_oracle() {
        let oracle = Oracle::load("power");
        for c in oracle.of_kind("mde") {
            let (sd, n, alpha, power) = (c.f64("log_sd"), c.u64("n"), c.f64("alpha"), c.f64("power"));
            c.number("mde_log", mde_log(sd, n, alpha, power).unwrap());
            c.number("mde_ratio", mde(sd, n, alpha, power).unwrap());
        }
        for c in oracle.of_kind("runs_needed") {
            let (sd, effect, alpha, power) = (c.f64("log_sd"), c.f64("effect"), c.f64("alpha"), c.f64("power"));
            assert_eq!(runs_needed(sd, effect, alpha, power), c.u64("n_t"), "{}", c.id());
            assert_eq!(runs_needed_by_ranks(sd, effect, alpha, power), c.u64("n_mwu"), "{}", c.id());
        }
    }

    #[test]
    fn odd_questions_have_answers() {
        assert_eq!(mde(0.01, 1, 0.05, 0.8), None);
        assert_eq!(runs_needed(0.0, 0.01, 0.05, 0.8), 2);
        assert_eq!(runs_needed(10.0, 1e-9, 0.05, 0.8), MOST_RUNS);
        assert_eq!(runs_for_alpha(1e-300, 1_000_000), 500);
        assert!(smallest_p(100_000, 100_000) > 0.0);
        // Less power than alpha would have by chance: any effect is "found".
        assert_eq!(mde_log(0.01, 5, 0.05, 0.001), Some(0.0));
    }

    proptest! {
        #[test]
        fn more_runs_see_smaller_effects(sd in 0.001..0.2f64, n in 2u64..200, effect in 0.005..0.5f64) {
            prop_assert!(mde(sd, n + 1, 0.05, 0.8).unwrap() < mde(sd, n, 0.05, 0.8).unwrap());
            let needed = runs_needed(sd, effect, 0.05, 0.8);
            prop_assert!(mde(sd, needed, 0.05, 0.8).unwrap() <= effect * (1.0 + 1e-12));
            prop_assert!(needed == 2 || mde(sd, needed - 1, 0.05, 0.8).unwrap() > effect * (1.0 - 1e-12));
        }
    }
}
