//! The whole story of one row: what `--explain` tells beside the numbers of the row itself. Numbers only; `render::text::explain` has the words.

/// What there is to say of a row.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// One per column with a cell, in column order.
    pub sides: Vec<SideStory>,
    /// One per compared column, in column order.
    pub pairs: Vec<PairStory>,
}

/// One cell.
#[derive(Clone, Debug, PartialEq)]
pub struct SideStory {
    /// Its column.
    pub column: usize,
    /// Values in run order, base units; one list per process where processes are told apart, else one in all. None of a summary.
    pub runs: Vec<Vec<f64>>,
    /// Processes are told apart.
    pub told_apart: bool,
    /// The values are calls of histograms, which come in no order.
    pub histogram: bool,
    /// All values come from one input.
    pub one_input: bool,
    /// How the variance divides between and within processes; `None` with one process, one iteration each, or no variance.
    pub processes: Option<ProcessStory>,
    /// What makes the values less trustworthy than they look, each with what to do.
    pub warnings: Vec<String>,
}

/// What processes contribute to the variance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProcessStory {
    /// Share of the variance that is between processes, 0 to 1.
    pub between: f64,
    /// F and p of "all processes have one mean"; `None` where nothing varies within them.
    pub test: Option<(f64, f64)>,
    /// Variance of the mean by process means over that by pooled iterations.
    pub design_effect: Option<f64>,
    /// Iterations worth doing in each process, when starting one costs as much as so many; the cost first. Not for unbalanced data.
    pub worth: Option<(f64, Worth)>,
}

/// A number of iterations worth doing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Worth {
    /// So many.
    Iterations(f64),
    /// As many as one likes: processes do not differ.
    Any,
}

/// A number with where it may lie.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The number.
    pub value: f64,
    /// Its interval; `None` with too few values for one.
    pub interval: Option<(f64, f64)>,
    /// Confidence that the interval reaches, where known exactly.
    pub coverage: Option<f64>,
}

/// One cell against its base.
#[derive(Clone, Debug, PartialEq)]
pub struct PairStory {
    /// The compared column.
    pub column: usize,
    /// What the comparison rests on, and so why this test.
    pub basis: Basis,
    /// The test was chosen by `--test`, `--center` or `--paired`.
    pub chosen: bool,
    /// Sizes of the samples tested, base first.
    pub sizes: Option<(u64, u64)>,
    /// Rows corrected together with this one.
    pub family: usize,
    /// The tested values by ranks, whatever the test was.
    pub ranks: Option<RankStory>,
    /// p of the signed-rank test of the pairs.
    pub signed_rank: Option<f64>,
    /// Ratio of means with its bootstrap interval.
    pub bootstrap: Option<BootstrapStory>,
    /// What numbers of runs can show.
    pub power: Option<PowerStory>,
    /// What makes the comparison less trustworthy than it looks, each with what to do.
    pub warnings: Vec<String>,
}

/// What a comparison rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// Independent runs on both sides.
    Runs,
    /// Runs that belong together two by two.
    Pairs,
    /// One value per process on both sides.
    Forks,
    /// One value per process on one side, runs on the other.
    ForksAndRuns,
    /// Iterations of one process on a side.
    OneProcess,
    /// n, mean and error of a side.
    Summary,
    /// Exact values.
    Exact,
    /// A printed comparison.
    Printed,
    /// Nothing that could be tested.
    Nothing,
}

/// Two samples by ranks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RankStory {
    /// Mann and Whitney's U: pairs with base > new, plus half the equal pairs.
    pub u: f64,
    /// Number of pairs.
    pub pairs: f64,
    /// A = P(new > base) + P(equal) / 2.
    pub effect: f64,
    /// Two-sided p.
    pub p: f64,
    /// The smallest p that samples of these sizes and ties can have.
    pub smallest_p: f64,
    /// Hodges and Lehmann's ratio.
    pub ratio: Option<Estimate>,
    /// Hodges and Lehmann's shift, base units.
    pub shift: Estimate,
}

/// A bootstrap interval and what it can be made again from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BootstrapStory {
    /// Ratio of means.
    pub ratio: Estimate,
    /// Number of resamples.
    pub resamples: u32,
    /// Seed of the resampling.
    pub seed: u64,
}

/// What numbers of runs can show, with a probability of [`PowerStory::power`].
#[derive(Clone, Debug, PartialEq)]
pub struct PowerStory {
    /// 0 to 1.
    pub power: f64,
    /// The smallest change these samples show (0.02: 2 %).
    pub detectable: f64,
    /// Changes, and how many runs or forks a side show them.
    pub needed: Vec<(f64, u64)>,
    /// They are forks.
    pub forks: bool,
}
