//! What is known about one metric of one benchmark: raw observations, or only what a producer printed about them.

/// One number of a result line, in base units, finite.
#[derive(Clone, Debug, PartialEq)]
pub enum Reading {
    /// A sample.
    One {
        /// The value in base units.
        value: f64,
        /// How often it was seen; above 1 only for histogram counts.
        weight: u64,
    },
    /// What a producer printed *instead of* samples.
    Summary(Summary),
    /// What the producer itself states about samples that were read too: shown and cross-checked, never tested.
    Reported(Summary),
    /// A comparison with the base column that a printed table states; belongs to the later column's series.
    Printed(PrintedComparison),
}

/// Raw values of one series in the order they were observed. Small without weights and blocks: there may be millions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Observations {
    /// Values in base units, finite, in order of observation.
    pub values: Vec<f64>,
    marks: Option<Box<Marks>>,
}

/// What few series have beside their values.
#[derive(Clone, Debug, Default, PartialEq)]
struct Marks {
    weights: Option<Vec<u64>>,
    blocks: Option<Vec<u32>>,
}

impl Observations {
    /// Values seen once each, by one process or by processes that cannot be told apart.
    pub fn new(values: Vec<f64>) -> Self {
        Observations { values, marks: None }
    }

    /// The same with the process of each value.
    #[must_use]
    pub fn in_blocks(mut self, blocks: Vec<u32>) -> Self {
        debug_assert_eq!(blocks.len(), self.values.len());
        self.marks.get_or_insert_default().blocks = Some(blocks);
        self
    }

    /// How often each value was seen; `None`: once each.
    pub fn weights(&self) -> Option<&[u64]> {
        self.marks.as_ref()?.weights.as_deref()
    }

    /// Process (fork, run) of each value; `None`: the input does not tell processes apart.
    pub fn blocks(&self) -> Option<&[u32]> {
        self.marks.as_ref()?.blocks.as_deref()
    }

    /// Number of values, counting weights.
    pub fn count(&self) -> u64 {
        match self.weights() {
            Some(w) => w.iter().fold(0u64, |a, &b| a.saturating_add(b)),
            None => self.values.len() as u64,
        }
    }

    /// Values of each block in order of first appearance; `None` where processes are unknown.
    pub fn forks(&self) -> Option<Vec<Observations>> {
        let blocks = self.blocks()?;
        let mut at = std::collections::HashMap::new();
        let mut out: Vec<Observations> = Vec::new();
        for (i, &b) in blocks.iter().enumerate() {
            let k = *at.entry(b).or_insert_with(|| {
                out.push(Observations::default());
                out.len() - 1
            });
            out[k].push(self.values[i], self.weights().map_or(1, |w| w[i]), None);
        }
        // A process of which all values were seen once is still one of a histogram.
        if self.weights().is_some() {
            for fork in &mut out {
                let ones = vec![1; fork.values.len()];
                fork.marks.get_or_insert_default().weights.get_or_insert(ones);
            }
        }
        Some(out)
    }

    /// Appends one value. A block on any value makes blocks of all: values without one share block 0.
    #[inline]
    pub fn push(&mut self, value: f64, weight: u64, block: Option<u32>) {
        if weight != 1 || block.is_some() || self.marks.is_some() {
            self.mark(weight, block);
        }
        self.values.push(value);
    }

    /// Weight and block of the value that is appended next.
    fn mark(&mut self, weight: u64, block: Option<u32>) {
        let before = self.values.len();
        let marks = self.marks.get_or_insert_default();
        if weight != 1 || marks.weights.is_some() {
            marks.weights.get_or_insert_with(|| vec![1; before]).push(weight);
        }
        if block.is_some() || marks.blocks.is_some() {
            marks.blocks.get_or_insert_with(|| vec![0; before]).push(block.unwrap_or(0));
        }
    }

    /// Appends all of `other`, whose processes are other processes than those seen so far.
    pub fn append(&mut self, other: &Observations) {
        if other.marks.is_none() && self.marks.is_none() {
            self.values.extend_from_slice(&other.values);
            return;
        }
        let next = self.blocks().map_or(0, |b| b.iter().max().map_or(0, |m| m + 1));
        let blocks = self.blocks().is_some();
        // Flat values beside forked ones: one process of unknown make-up.
        for i in 0..other.values.len() {
            let weight = other.weights().map_or(1, |w| w[i]);
            let block = other.blocks().map(|b| b[i] + next).or(blocks.then_some(next));
            self.push(other.values[i], weight, block);
        }
    }
}

/// A non-empty ascending list of finite values: the only input of rank statistics.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample(Vec<f64>);

impl Sample {
    /// Sorts `values`; `None` when empty or when a value is not finite.
    pub fn new(mut values: Vec<f64>) -> Option<Self> {
        if values.is_empty() || values.iter().any(|v| !v.is_finite()) {
            return None;
        }
        values.sort_unstable_by(f64::total_cmp);
        Some(Sample(values))
    }

    /// Ascending values, at least one.
    pub fn values(&self) -> &[f64] {
        &self.0
    }

    /// Number of values, at least 1.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Never: a sample holds at least one value. Here for the convention that `len` brings along.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// All values equal.
    pub fn is_constant(&self) -> bool {
        self.0.first() == self.0.last()
    }
}

/// Which statistic stands in the middle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Center {
    /// Median of the values.
    Median,
    /// Arithmetic mean of the values.
    Mean,
    /// Mean of the means of each fork.
    ForkMean,
    /// Most frequent value (`assume=exact`).
    Mode,
    /// One value, or a number of which it is not said what it is.
    Single,
}

/// Spread as a producer printed it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Spread {
    /// Nothing printed.
    None,
    /// A Student-t half width in base units around a mean (JMH).
    StudentError {
        /// Half width, base units, >= 0.
        half_width: f64,
        /// 0 to 1.
        confidence: f64,
        /// Half a unit of the last printed place; 0 when printed in full.
        resolution: f64,
    },
    /// A half width of the normal law around a mean (db_bench `±`), base units.
    NormalError {
        /// Half width, base units, >= 0.
        half_width: f64,
        /// 0 to 1.
        confidence: f64,
        /// Half a unit of the last printed place; 0 when printed in full.
        resolution: f64,
    },
    /// Standard deviation of the single values, base units (n - 1).
    StdDev(f64),
    /// Percent after `±` of a benchstat table; what it means depends on benchstat's version (go.md d.6).
    Percent(f64),
    /// `± ∞` of a benchstat table: too few samples for an interval.
    Infinite,
}

/// What a producer printed about samples it did not print.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// Which statistic `value` is.
    pub center: Center,
    /// In base units, finite.
    pub value: f64,
    /// How it spreads.
    pub spread: Spread,
    /// Number of values behind it, where printed.
    pub n: Option<u64>,
    /// Forks behind it, where known.
    pub forks: Option<u64>,
    /// Half a unit of the last printed place of `value`, base units; 0 when printed in full.
    pub resolution: f64,
    /// `≈ 10⁻³`: only the order of magnitude is known; no delta, no test.
    pub approximate: bool,
}

/// What a printed table says about a cell against its base column.
#[derive(Clone, Debug, PartialEq)]
pub struct PrintedComparison {
    /// Change in percent; `None` where it prints `~`.
    pub delta_pct: Option<f64>,
    /// The printed p, 0.000 being below 0.0005.
    pub p: Option<f64>,
    /// Footnotes and parentheses kept as printed.
    pub notes: Vec<String>,
}

/// All that is known of one series.
#[derive(Clone, Debug, PartialEq)]
pub enum Evidence {
    /// Samples were seen.
    Raw(Observations),
    /// Only a summary was printed. Boxed: of a million series nearly all are raw.
    Summary(Box<Summary>),
    /// More than one summary fell together; they cannot be combined.
    Mixed,
}
