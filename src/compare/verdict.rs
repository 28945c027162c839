//! The word of a comparison: by p, the corrected p, the interval and the margin.

use super::Plan;
use super::assess::Assessment;
use crate::report::{Comparison, Correction, Test, Verdict, Why};
use crate::stats::{self, Interval};
use crate::units::Direction;

impl Assessment {
    /// The finished comparison for a unit of which `better` is the good direction.
    pub fn decide(&self, better: Option<Direction>, plan: &Plan) -> Comparison {
        let (verdict, why) = self.verdict(better, plan);
        Comparison {
            base: self.base,
            delta_pct: self.delta_pct,
            difference: self.difference,
            ratio: self.ratio,
            lo: self.lo,
            hi: self.hi,
            confidence: plan.confidence,
            equivalence: self.equivalence,
            p: self.p,
            p_adjusted: self.p_adjusted,
            test: self.test,
            interval: self.interval,
            verdict,
            why,
            out_of_reach: self.is_out_of_reach(plan),
            turned: better == Some(Direction::Lower),
        }
    }

    /// The smallest p that a rank test of so many runs can give is too large for the number of rows corrected together.
    pub fn is_out_of_reach(&self, plan: &Plan) -> bool {
        // The other corrections do not multiply every row's p by the number of rows.
        let times = if plan.correction == Correction::Holm { self.family.max(1) } else { 1 };
        // No p is below the smallest.
        let reached = self.p.is_some_and(|p| p * times as f64 <= plan.alpha);
        let smallest = self.sizes.filter(|_| self.is_by_ranks() && !reached).map(|(n, m)| stats::smallest_p(n, m));
        smallest.is_some_and(|p| p * times as f64 > plan.alpha)
    }

    /// The word for a unit of which `better` is the good direction, and why it is not another.
    pub fn verdict(&self, better: Option<Direction>, plan: &Plan) -> (Verdict, Option<Why>) {
        match self.test {
            Test::None if self.why == Some(Why::AllEqual) => return (Verdict::Same, self.why),
            Test::None => return (Verdict::Untested, self.why.or(Some(Why::NoSpread))),
            Test::Exact => {
                return match self.difference {
                    Some(0.0) => (Verdict::Same, None),
                    Some(_) => (self.change(better, true), None),
                    None => (Verdict::Untested, Some(Why::NoSpread)),
                };
            }
            _ => {}
        }
        if self.is_negligible(plan) {
            return (Verdict::Same, self.doubt);
        }
        let Some(p) = self.p.filter(|p| *p <= plan.alpha && self.direction != 0.0) else {
            let out_of_reach = self.smallest_p.is_some_and(|p| p > plan.alpha);
            return (Verdict::Unclear, if out_of_reach { Some(Why::TooFew) } else { self.doubt });
        };
        if self.contradicts() {
            return (Verdict::Unclear, Some(Why::Contradiction));
        }
        if self.p_adjusted.unwrap_or(p) > plan.alpha {
            return (self.change(better, false), Some(Why::Correction));
        }
        (self.change(better, self.doubt.is_none()), self.doubt)
    }

    /// The centers moved one way, or not at all, and the values tested the other.
    fn contradicts(&self) -> bool {
        // Pairs are judged by their ratios alone, and printed centers are rounded.
        let by_centers = !matches!(self.test, Test::Paired | Test::Printed);
        by_centers && self.difference.is_some_and(|d| d == 0.0 || (d > 0.0) != (self.direction > 0.0))
    }

    /// The whole interval lies inside the margin.
    fn is_negligible(&self, plan: &Plan) -> bool {
        let bounds = if plan.equivalence { self.equivalence } else { self.lo.zip(self.hi) };
        bounds.is_some_and(|(lo, hi)| {
            let interval = Interval { lo, hi, confidence: plan.confidence, coverage: None };
            stats::is_within_margin(&interval, plan.margin)
        })
    }

    /// Which way it went, in words of the unit.
    fn change(&self, better: Option<Direction>, confirmed: bool) -> Verdict {
        match better {
            None => Verdict::Changed { confirmed },
            Some(better) if (better == Direction::Higher) == (self.direction > 0.0) => Verdict::Better { confirmed },
            Some(_) => Verdict::Worse { confirmed },
        }
    }
}
