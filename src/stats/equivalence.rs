//! "No change" as a finding: two one-sided tests against a margin (Schuirmann 1987).

use super::Interval;
use super::distributions::t_upper_p;
use super::welch::welch_log;

/// Outcome of the two one-sided Welch tests on logarithms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Equivalence {
    /// Geometric mean after over geometric mean before.
    pub ratio: f64,
    /// p against "the ratio is 1/(1 + margin) or less".
    pub p_lower: f64,
    /// p against "the ratio is 1 + margin or more".
    pub p_upper: f64,
    /// The interval of confidence 1 - 2 alpha: inside the margin exactly when both p are at most alpha.
    pub interval: Interval,
}

impl Equivalence {
    /// The larger of both p: equivalent when it is at most alpha.
    pub fn p(&self) -> f64 {
        self.p_lower.max(self.p_upper)
    }
}

/// Tests whether positive independent values changed by less than `margin` (0.01: 1 %), with an interval of confidence
/// 1 - 2 `alpha`.
///
/// `None` where there is no Welch test on logarithms: fewer than two values a side, values that are not positive, both
/// sides constant.
pub fn equivalence(before: &[f64], after: &[f64], margin: f64, alpha: f64) -> Option<Equivalence> {
    let log = welch_log(before, after)?;
    let test = log.test?;
    let bound = margin.ln_1p();
    let interval = log.interval(1.0 - 2.0 * alpha)?;
    Some(Equivalence {
        ratio: log.ratio,
        p_lower: t_upper_p((test.difference + bound) / test.standard_error, test.df),
        p_upper: t_upper_p((bound - test.difference) / test.standard_error, test.df),
        interval,
    })
}

/// The whole interval of a ratio lies within 1/(1 + margin) and 1 + margin: shown to be negligible.
///
/// With a Hodges-Lehmann interval of confidence 1 - 2 alpha this is the rank version of [`equivalence`].
pub fn is_within_margin(ratio: &Interval, margin: f64) -> bool {
    ratio.is_inside(1.0 / (1.0 + margin), 1.0 + margin)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::oracle::Oracle;

    #[test]
    fn both_tests_and_the_interval_agree_with_the_oracle() {
        for c in Oracle::load("tost").cases() {
            let margin = c.f64("margin");
            let e = equivalence(&c.values("x"), &c.values("y"), margin, 0.05).unwrap();
            c.number("p_lower", e.p_lower);
            c.number("p_upper", e.p_upper);
            c.number("p", e.p());
            c.number("ratio", e.ratio);
            c.pair("ci90", Some((e.interval.lo, e.interval.hi)));
            let equivalent = c.get("equivalent_at_05").as_bool().unwrap();
            assert_eq!(e.p() <= 0.05, equivalent, "{}", c.id());
            assert_eq!(is_within_margin(&e.interval, margin), equivalent, "{}", c.id());
        }
    }

    #[test]
    fn an_infinite_interval_shows_nothing() {
        let i = Interval { lo: 0.0, hi: f64::INFINITY, confidence: 0.9, coverage: Some(1.0) };
        assert!(!is_within_margin(&i, 0.01));
    }
}
