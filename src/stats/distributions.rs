//! Tails and quantiles of the normal, Student's t and F distributions, and binomial coefficients.
//!
//! `ln_gamma` and the regularised incomplete gamma and beta functions are statrs's. Small tails are computed directly,
//! never as 1 - cdf. statrs 0.19's own `erfc` is not used: from 0.5 on it is off by up to 1e-10 of its value.

use std::cell::Cell;
use std::f64::consts::{PI, SQRT_2};

use statrs::function::beta::beta_reg;
use statrs::function::erf::erfc_inv;
use statrs::function::gamma::{gamma_ur, ln_gamma};

/// Degrees of freedom from which Student's t is taken as normal: quantiles differ by less than a millionth (tails from
/// 1e-6 up).
const NORMAL_DF: f64 = 1e7;

/// What a two-sided interval of this confidence leaves outside, as the decimal it is: 0.9 leaves 0.1, not 0.0999…98.
///
/// The difference decides comparisons with exact probabilities such as 2/20.
pub fn two_sided_tail(confidence: f64) -> f64 {
    let plain = 1.0 - confidence;
    let decimal = (plain * 1e12).round() / 1e12;
    // More than 12 decimals: as written, the subtraction is exact enough.
    if (decimal - plain).abs() <= f64::EPSILON { decimal } else { plain }
}

/// P(|Z| >= |z|) of the standard normal distribution.
pub fn normal_two_sided_p(z: f64) -> f64 {
    let half_square = 0.5 * z * z;
    if half_square == 0.0 {
        1.0
    } else if half_square > 750.0 {
        // Below the smallest f64.
        0.0
    } else {
        gamma_ur(0.5, half_square)
    }
}

/// P(Z >= z) of the standard normal distribution.
pub fn normal_upper_p(z: f64) -> f64 {
    let half = 0.5 * normal_two_sided_p(z);
    if z >= 0.0 { half } else { 1.0 - half }
}

/// The z with P(Z <= z) = `p`; infinite at 0 and 1.
pub fn normal_quantile(p: f64) -> f64 {
    if p <= 0.5 { -normal_from_tail(2.0 * p) } else { normal_from_tail(2.0 * (1.0 - p)) }
}

/// The z >= 0 with P(|Z| >= z) = `tail`.
pub fn normal_from_tail(tail: f64) -> f64 {
    thread_local! {
        /// The last question with its answer: the rows of a table ask for the same.
        static LAST: Cell<(f64, f64)> = const { Cell::new((1.0, 0.0)) };
    }
    let (last, z) = LAST.get();
    if last == tail {
        return z;
    }
    let z = normal_from_new_tail(tail);
    LAST.set((tail, z));
    z
}

fn normal_from_new_tail(tail: f64) -> f64 {
    if tail >= 1.0 {
        return 0.0;
    }
    if tail <= 0.0 {
        return f64::INFINITY;
    }
    let z = SQRT_2 * erfc_inv(tail);
    // One Newton step on the logarithm of the tail takes the approximation to the last digits.
    let density = (2.0 / PI).sqrt() * (-0.5 * z * z).exp();
    let p = normal_two_sided_p(z);
    if density > 0.0 && p > 0.0 { z + (p / tail).ln() * p / density } else { z }
}

/// P(|T| >= |t|) of Student's distribution with `df` > 0 degrees of freedom, not necessarily whole.
pub fn t_two_sided_p(t: f64, df: f64) -> f64 {
    if t.is_nan() || df.is_nan() || df <= 0.0 {
        // Values past the range of f64: no evidence of anything.
        return 1.0;
    }
    if df > NORMAL_DF {
        return normal_two_sided_p(t);
    }
    if t.abs() < 1.0 {
        // df/(df + t²) would round away what the tail depends on here.
        return 1.0 - beta(0.5, df / 2.0, t * t / (df + t * t));
    }
    beta(df / 2.0, 0.5, df / (df + t * t))
}

/// P(T >= t) of Student's distribution with `df` > 0 degrees of freedom.
pub fn t_upper_p(t: f64, df: f64) -> f64 {
    let half = t_two_sided_p(t, df) / 2.0;
    if t >= 0.0 { half } else { 1.0 - half }
}

/// The t >= 0 with P(|T| <= t) = `confidence` at `df` > 0 degrees of freedom; infinite at 1.
pub fn t_quantile_two_sided(confidence: f64, df: f64) -> f64 {
    t_from_tail(two_sided_tail(confidence), df)
}

/// The t >= 0 with P(|T| >= t) = `tail` at `df` > 0 degrees of freedom.
pub fn t_from_tail(tail: f64, df: f64) -> f64 {
    /// Questions remembered with their answers: the rows of a table ask for few levels and mostly have equally many values.
    const REMEMBERED: usize = 64;
    thread_local! {
        static ANSWERS: [Cell<(f64, f64, f64)>; REMEMBERED] = const { [const { Cell::new((f64::NAN, f64::NAN, 0.0)) }; _] };
    }
    let mixed = (tail.to_bits().rotate_left(32) ^ df.to_bits()).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ANSWERS.with(|answers| {
        let slot = &answers[(mixed >> 58) as usize % REMEMBERED];
        let (known_tail, known_df, t) = slot.get();
        if (known_tail, known_df) == (tail, df) {
            return t;
        }
        let t = t_from_new_tail(tail, df);
        slot.set((tail, df, t));
        t
    })
}

fn t_from_new_tail(tail: f64, df: f64) -> f64 {
    let start = normal_from_tail(tail);
    if df > NORMAL_DF || start == 0.0 || start.is_infinite() {
        return start;
    }
    // Newton on ln P(|T| >= t) over ln t, which is concave and nearly straight in the tail. Started below the root (t
    // has heavier tails than the normal law), the first step passes the root at most once and the rest descend to it.
    let ln_density = ln_gamma((df + 1.0) / 2.0) - ln_gamma(df / 2.0) - 0.5 * (df * PI).ln();
    let mut t = start;
    for _ in 0..60 {
        let p = t_two_sided_p(t, df);
        let density = (ln_density - 0.5 * (df + 1.0) * (t * t / df).ln_1p()).exp();
        let slope = 2.0 * density * t / p;
        let step = (p / tail).ln() / slope;
        if !step.is_finite() {
            break;
        }
        t *= step.exp();
        if step.abs() < 1e-14 {
            break;
        }
    }
    t
}

/// P(F >= f) of the F distribution with `df1`, `df2` > 0 degrees of freedom.
pub fn f_upper_p(f: f64, df1: f64, df2: f64) -> f64 {
    beta(df2 / 2.0, df1 / 2.0, df2 / (df2 + df1 * f))
}

/// The regularised incomplete beta function; 1 where values past the range of f64 leave no argument for it: no evidence of anything.
fn beta(a: f64, b: f64, x: f64) -> f64 {
    let defined = a > 0.0 && b > 0.0 && a.is_finite() && b.is_finite() && (0.0..=1.0).contains(&x);
    if defined { beta_reg(a, b, x) } else { 1.0 }
}

/// The binomial coefficient C(n, k); whole below 2^53, infinite past the range of f64 (n > 1029).
pub fn choose(n: u64, k: u64) -> f64 {
    if k > n {
        return 0.0;
    }
    let mut c = 1.0;
    for i in 1..=k.min(n - k) {
        c = c * (n - i + 1) as f64 / i as f64;
        if c == f64::INFINITY {
            break;
        }
    }
    c
}

/// The logarithm of C(n, k), k at most n.
pub fn ln_choose(n: u64, k: u64) -> f64 {
    let ln_factorial = |n: u64| ln_gamma(n as f64 + 1.0);
    ln_factorial(n) - ln_factorial(k) - ln_factorial(n.saturating_sub(k))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::oracle::Oracle;

    #[test]
    fn t_quantiles_and_tails_agree_with_the_oracle() {
        let oracle = Oracle::load("t");
        for c in oracle.of_kind("t_quantile") {
            c.number("t", t_quantile_two_sided(c.f64("conf"), c.f64("df")));
        }
        for c in oracle.of_kind("t_two_sided_p") {
            c.number("p", t_two_sided_p(c.f64("t"), c.f64("df")));
            c.number("p", t_two_sided_p(-c.f64("t"), c.f64("df")));
        }
    }

    #[test]
    fn a_confidence_is_the_decimal_that_was_written() {
        for (confidence, tail) in
            [(0.9, 0.1), (0.95, 0.05), (0.99, 0.01), (0.999, 0.001), (0.5, 0.5), (0.0, 1.0), (1.0, 0.0)]
        {
            assert_eq!(two_sided_tail(confidence), tail);
        }
        assert_eq!(two_sided_tail(0.999_999_9), 1e-7);
        let odd = 0.123_456_789_012_345_67;
        assert_eq!(two_sided_tail(odd), 1.0 - odd);
    }

    #[test]
    fn normal_quantiles_match_tables_and_invert_the_tail() {
        // Abramowitz and Stegun, table 26.5 and 26.6.
        for (p, z) in [
            (0.975, 1.959_963_984_540_054),
            (0.995, 2.575_829_303_548_901),
            (0.5, 0.0),
            (0.9995, 3.290_526_731_491_926),
        ] {
            assert!((normal_quantile(p) - z).abs() < 1e-14 * z.max(1.0), "{p}: {}", normal_quantile(p));
            assert!((normal_quantile(1.0 - p) + z).abs() < 1e-13 * z.max(1.0), "{p}");
        }
        for tail in [0.999, 0.5, 1e-3, 1e-20, 1e-200, 1e-300] {
            let back = normal_two_sided_p(normal_from_tail(tail));
            assert!((back / tail - 1.0).abs() < 1e-12, "{tail}: {back}");
        }
        assert_eq!(normal_quantile(0.0), f64::NEG_INFINITY);
        assert_eq!(normal_quantile(1.0), f64::INFINITY);
    }

    #[test]
    fn large_degrees_of_freedom_approach_the_normal_law_without_a_step() {
        for tail in [0.5, 0.05, 1e-3, 1e-6] {
            let z = normal_from_tail(tail);
            for df in [1e4, 1e5, 1e6, 9.9e6, 1.1e7, 1e9, f64::INFINITY] {
                // The first terms of the expansion in 1/df (Abramowitz and Stegun 26.7.5).
                let expected = z
                    + (z.powi(3) + z) / (4.0 * df)
                    + (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / (96.0 * df * df);
                let t = t_from_tail(tail, df);
                assert!((t / expected - 1.0).abs() < 1e-6, "{tail} {df}: {t} {expected}");
            }
        }
    }

    #[test]
    fn quantiles_invert_tails_from_one_tenth_of_a_degree_up() {
        for df in [0.1, 0.5, 1.0, 1.37, 4.0, 30.0, 400.0] {
            for tail in [0.999_999, 0.9, 0.4, 0.05, 1e-4, 1e-9] {
                let back = t_two_sided_p(t_from_tail(tail, df), df);
                assert!((back / tail - 1.0).abs() < 1e-11, "{df} {tail}: {back}");
            }
        }
    }

    #[test]
    fn remembered_quantiles_are_those_that_were_asked_for() {
        let questions = || (1..200).flat_map(|df| [0.001, 0.05, 0.5].map(|tail| (tail, f64::from(df) / 2.0)));
        for (tail, df) in questions().chain(questions()) {
            assert_eq!(t_from_tail(tail, df), t_from_new_tail(tail, df), "{tail} {df}");
            assert_eq!(t_from_tail(tail, df), t_from_new_tail(tail, df), "{tail} {df}");
        }
    }

    #[test]
    fn binomial_coefficients() {
        assert_eq!(choose(50, 25), 126_410_606_437_752.0);
        assert_eq!(choose(3, 5), 0.0);
        assert_eq!(choose(0, 0), 1.0);
        assert_eq!(choose(100_000, 50_000), f64::INFINITY);
        for (n, k) in [(1, 0), (10, 3), (50, 25), (900, 450)] {
            assert!((ln_choose(n, k).exp() / choose(n, k) - 1.0).abs() < 1e-11, "{n} {k}");
        }
        // 2.702882409454366e299, summed from Pascal's triangle in whole numbers.
        assert!((choose(1000, 500) / 2.702_882_409_454_366e299 - 1.0).abs() < 1e-13);
    }
}
