//! Normal approximation to the null distribution of U, with the variance corrected for ties and half a unit for
//! continuity.

use super::super::distributions::normal_two_sided_p;
use super::Ranking;

/// Mean and standard deviation of U under the null, and where the observed U lies.
#[derive(Clone, Copy, Debug)]
pub(super) struct Approximation {
    u: f64,
    mean: f64,
    sigma: f64,
}

impl Approximation {
    pub fn new(ranking: &Ranking) -> Self {
        let pairs = ranking.n as f64 * ranking.m as f64;
        let total = (ranking.n + ranking.m) as i128;
        // Whole numbers: with nearly all values tied, almost everything cancels.
        let cube = |t: i128| t * t * t - t;
        let free = cube(total) - ranking.groups.iter().map(|&t| cube(i128::from(t))).sum::<i128>();
        let variance = pairs / 12.0 * (free as f64 / (total * (total - 1)) as f64);
        Approximation { u: ranking.twice_u as f64 / 2.0, mean: pairs / 2.0, sigma: variance.sqrt() }
    }

    #[cfg(test)]
    pub fn mean(&self) -> f64 {
        self.mean
    }

    #[cfg(test)]
    pub fn sigma(&self) -> f64 {
        self.sigma
    }

    /// |U - mean| in standard deviations, after the correction for continuity.
    pub fn abs_z(&self) -> f64 {
        let distance = ((self.u - self.mean).abs() - 0.5).max(0.0);
        if self.sigma > 0.0 { distance / self.sigma } else { 0.0 }
    }

    pub fn two_sided(&self) -> f64 {
        normal_two_sided_p(self.abs_z())
    }

    /// One-sided p-values.
    #[cfg(test)]
    pub fn tails(&self) -> super::Tails {
        use super::super::distributions::normal_upper_p;
        let d = self.u - self.mean;
        super::Tails { less: normal_upper_p(-(d + 0.5) / self.sigma), greater: normal_upper_p((d - 0.5) / self.sigma) }
    }
}
