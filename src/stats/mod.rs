//! Statistics of benchmark values: centres, intervals, tests, corrections, sample sizes, warnings.
//!
//! Takes numbers (slices of `f64`, [`crate::model::Sample`], [`crate::model::Observations`]); knows no names, units,
//! files or text. Which method fits which evidence is decided elsewhere.
//!
//! Conventions in all of it:
//! - **x is before (the base), y is after.** A difference is after - before, a ratio after / before.
//! - A list of values is a list of *independent* values: the values of flat data, the fork means of nested data
//!   ([`fork_means`]).
//! - A confidence is the decimal its user wrote, 0 to 1: 0.999 leaves tails of exactly 0.0005.
//! - Undefined is `None`, never NaN, 0 or a made-up p. Infinite bounds of an [`Interval`] mean "too few values".
//! - Values are finite (the parsers see to it). No result depends on the order of the values, except those of
//!   [`diagnose`] and [`paired()`], which are about the order, nor on the number of threads.

mod adjust;
pub mod benchstat;
mod bootstrap;
mod describe;
pub mod diagnose;
mod distributions;
mod equivalence;
mod forks;
mod geomean;
mod hodges_lehmann;
mod mean_ci;
mod median_ci;
#[cfg(test)]
mod oracle;
mod paired;
mod power;
mod ratio;
mod utest;
mod welch;

pub use adjust::{benjamini_hochberg, holm};
pub use bootstrap::{FEWEST_RESAMPLES, bootstrap_ratio};
pub use describe::{Counted, Moments, Ordered, moments, quantile_r7, quantile_r8};
pub use distributions::{f_upper_p, normal_quantile, t_quantile_two_sided, t_two_sided_p, t_upper_p, two_sided_tail};
pub use equivalence::{Equivalence, equivalence, is_within_margin};
pub use forks::{Anova, ForkEffect, fork_means};
pub use geomean::{LogRatio, SuiteRatio, geomean, population_ratio, suite_ratio};
pub use hodges_lehmann::{Shift, hodges_lehmann_ratio, hodges_lehmann_shift};
pub use mean_ci::{mean_ci, mean_error, sd_from_error, sd_from_normal_error};
pub use median_ci::{MedianRanks, median_ci, median_ci_needed, median_ranks};
pub use paired::{Paired, paired, signed_rank};
pub use power::{mde, mde_by_ranks, mde_log, runs_for_alpha, runs_needed, runs_needed_by_ranks, smallest_p};
pub use ratio::{
    Fieller, MeanRatio, RatioMethod, delta, fieller, log_delta, log_ratio_error, ratio_df, ratio_of_means,
};
pub use utest::{PValue, UCache, UTest, mann_whitney, mann_whitney_at, smallest_p_with_ties};
pub use welch::{LogWelch, Welch, welch, welch_log};

/// A range of values an unknown quantity is said to lie in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Lower bound; minus infinity (0 for a ratio) where there are too few values for one.
    pub lo: f64,
    /// Upper bound; infinity where there are too few values for one.
    pub hi: f64,
    /// The confidence asked for, 0 to 1.
    pub confidence: f64,
    /// The confidence reached, 0 to 1, where it is known exactly (order statistics); at least `confidence`.
    pub coverage: Option<f64>,
}

impl Interval {
    /// Both bounds are finite.
    pub fn is_finite(&self) -> bool {
        self.lo.is_finite() && self.hi.is_finite()
    }

    /// `value` lies in it, bounds included.
    pub fn contains(&self, value: f64) -> bool {
        self.lo <= value && value <= self.hi
    }

    /// It lies between `lo` and `hi`, bounds included.
    pub fn is_inside(&self, lo: f64, hi: f64) -> bool {
        lo <= self.lo && self.hi <= hi
    }
}

/// What a test of means needs to know of one side: from values, or recovered from what was printed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SummaryStats {
    /// Number of independent values, at least 1.
    pub n: u64,
    /// Their mean.
    pub mean: f64,
    /// Standard deviation of the single values (divisor n - 1), >= 0.
    pub sd: f64,
}

impl SummaryStats {
    /// The same mean and deviation of as many independent values as there were `forks`: the guard for a summary that
    /// pooled the iterations of known forks. The pooled variance is at least `forks` times that of the mean, whatever
    /// the forks differ by.
    pub fn guarded(self, forks: u64) -> Self {
        SummaryStats { n: forks, ..self }
    }
}

/// An estimated ratio after / before.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// The estimate, > 0 unless said otherwise.
    pub ratio: f64,
    /// Where the true ratio may lie.
    pub interval: Interval,
}
