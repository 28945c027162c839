//! The finished answer: numbers, words and notes, without widths, colours or formats.
//!
//! Every renderer and the gate read a [`Report`] and nothing else; all arithmetic is done when it exists.
//! Numbers are in base units at full precision. `None` is "unknown" or "undefined"; nothing here is NaN or infinite.

pub mod benchstat;
mod explanation;
mod row;
mod select;

pub use explanation::{
    Basis, BootstrapStory, Estimate, Explanation, PairStory, PowerStory, ProcessStory, RankStory, SideStory, Worth,
};
pub use row::Row;
pub use select::{Selection, Sort, select};

use std::fmt;

use crate::base::Diagnostic;
use crate::model::{Center, Input};
use crate::pivot::{Column, Keys, Pair};
use crate::units::{Dim, Direction, Unit};

/// Everything there is to show.
#[derive(Debug)]
pub struct Report {
    /// How it was computed.
    pub settings: Settings,
    /// What was read.
    pub inputs: Vec<Input>,
    /// In output order.
    pub tables: Vec<Table>,
    /// Counts over all tables.
    pub summary: Counts,
    /// One per `--fail-on` rule.
    pub gates: Vec<GateOutcome>,
    /// What was noticed on the way.
    pub warnings: Vec<Diagnostic>,
}

/// How a report was computed.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Significant means p <= alpha; 0 to 1.
    pub alpha: f64,
    /// Of all intervals; 0 to 1.
    pub confidence: f64,
    /// Changes inside `1/(1+margin) ..= 1+margin` are negligible; 0.01 is 1 %.
    pub margin: f64,
    /// `same` is decided by two one-sided tests: the interval of confidence 1 - 2 alpha lies inside the margin.
    pub equivalence: bool,
    /// How the p-values of one table and column are corrected before they decide.
    pub correction: Correction,
    /// Which view is asked for; the numbers are the same.
    pub view: View,
}

/// Correction for many comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum Correction {
    /// Family-wise error rate; the default.
    #[default]
    Holm,
    /// Benjamini-Hochberg: false discovery rate.
    Bh,
    /// Each row by itself.
    None,
}

/// What the table shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum View {
    /// Centers, change, interval, p, verdict.
    #[default]
    Change,
    /// Base absolute, others as ratios above 1 when better.
    Relative,
}

/// One unit of one table key.
#[derive(Debug)]
pub struct Table {
    /// Table key and its values; a missing key has the empty string.
    pub keys: Keys,
    /// Unit of all values.
    pub unit: Unit,
    /// `assume=exact` holds: no test, any difference is a change.
    pub exact: bool,
    /// At least one.
    pub columns: Vec<Column>,
    /// Index of the column that the others are compared with; `None` with one column.
    pub base: Option<usize>,
    /// At least one, in output order.
    pub rows: Vec<Row>,
    /// `None` where there is nothing to average.
    pub geomean: Option<Geomean>,
    /// Footnote texts, in order of first use; rows refer to them.
    pub notes: Vec<String>,
}

/// What is known of one benchmark in one column.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cell {
    /// Samples were seen (`raw`), or only a summary.
    pub raw: bool,
    /// Number of values.
    pub n: Option<u64>,
    /// Number of processes.
    pub forks: Option<u64>,
    /// What `center` is; `None` only in an empty cell.
    pub kind: Option<Center>,
    /// In base units.
    pub center: Option<f64>,
    /// Interval of the center; `None` where unknown or infinite.
    pub lo: Option<f64>,
    /// Upper end.
    pub hi: Option<f64>,
    /// An interval was asked for but needs more values: shown as `± ∞`.
    pub infinite: bool,
    /// Nominal confidence of the interval.
    pub confidence: f64,
    /// Achieved coverage of an order-statistic interval.
    pub coverage: Option<f64>,
    /// Arithmetic mean of the values.
    pub mean: Option<f64>,
    /// Standard deviation of the values (n - 1).
    pub sd: Option<f64>,
    /// Smallest value.
    pub min: Option<f64>,
    /// Largest value.
    pub max: Option<f64>,
    /// What the input states.
    pub reported: Option<Reported>,
    /// Percent after `±` of a benchstat table.
    pub spread_pct: Option<f64>,
    /// Only the order of magnitude of `center` is known.
    pub approximate: bool,
}

/// Center and error as the input prints them, base units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reported {
    /// The printed center.
    pub center: f64,
    /// The printed half width.
    pub error: Option<f64>,
    /// Its confidence, 0 to 1.
    pub confidence: Option<f64>,
}

/// A cell against its row's base cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Comparison {
    /// Column index of the base.
    pub base: usize,
    /// Change of the shown centers in percent of the base; `None` when the base is 0.
    pub delta_pct: Option<f64>,
    /// Change of the shown centers in base units.
    pub difference: Option<f64>,
    /// Effect estimate new / base.
    pub ratio: Option<f64>,
    /// Interval of `ratio`; `None` where unbounded.
    pub lo: Option<f64>,
    /// Upper end.
    pub hi: Option<f64>,
    /// Nominal confidence of the interval.
    pub confidence: f64,
    /// Interval of `ratio` of confidence 1 - 2 alpha, where equivalence was asked for.
    pub equivalence: Option<(f64, f64)>,
    /// The row's own p-value.
    pub p: Option<f64>,
    /// After the correction over the rows tested in this table and column.
    pub p_adjusted: Option<f64>,
    /// Which test.
    pub test: Test,
    /// Which interval.
    pub interval: IntervalMethod,
    /// The word.
    pub verdict: Verdict,
    /// Why there is no test, or why a verdict keeps its `?`.
    pub why: Option<Why>,
    /// So few runs that no values could have made a change stand among the rows tested together.
    pub out_of_reach: bool,
    /// Lower is better: [`Comparison::relative`] is 1 / ratio.
    pub turned: bool,
}

/// Tests, by their words in the JSON contract.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Test {
    MannWhitneyExact,
    MannWhitneyNormal,
    Welch,
    WelchLogForks,
    WelchSummary,
    WelchSummaryForks,
    Paired,
    Exact,
    Printed,
    #[default]
    None,
}

impl Test {
    /// The contract's word.
    pub fn word(self) -> &'static str {
        match self {
            Test::MannWhitneyExact => "mann-whitney-exact",
            Test::MannWhitneyNormal => "mann-whitney-normal",
            Test::Welch => "welch",
            Test::WelchLogForks => "welch-log-forks",
            Test::WelchSummary => "welch-summary",
            Test::WelchSummaryForks => "welch-summary-forks",
            Test::Paired => "paired-t-log",
            Test::Exact => "exact",
            Test::Printed => "printed",
            Test::None => "none",
        }
    }
}

/// Interval methods, by their words in the JSON contract.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum IntervalMethod {
    HodgesLehmann,
    LogDelta,
    Fieller,
    WelchLogForks,
    WelchLog,
    PairedLog,
    Bootstrap,
    #[default]
    None,
}

impl IntervalMethod {
    /// The contract's word.
    pub fn word(self) -> &'static str {
        match self {
            IntervalMethod::HodgesLehmann => "hodges-lehmann",
            IntervalMethod::LogDelta => "log-delta",
            IntervalMethod::Fieller => "fieller",
            IntervalMethod::WelchLogForks => "welch-log-forks",
            IntervalMethod::WelchLog => "welch-log",
            IntervalMethod::PairedLog => "paired-log",
            IntervalMethod::Bootstrap => "bootstrap-bca",
            IntervalMethod::None => "none",
        }
    }
}

/// Why there is no test, or why a verdict is not confirmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Why {
    OneSide,
    SingleValue,
    NoSpread,
    UnitDiffers,
    KindDiffers,
    TooFew,
    AllEqual,
    Constant,
    MixedSummaries,
    Approximate,
    Correction,
    Pooled,
    OneProcess,
    Contradiction,
    NotAsked,
}

impl Why {
    /// The contract's word.
    pub fn word(self) -> &'static str {
        match self {
            Why::OneSide => "one-side",
            Why::SingleValue => "single-value",
            Why::NoSpread => "no-spread",
            Why::UnitDiffers => "unit-differs",
            Why::KindDiffers => "kind-differs",
            Why::TooFew => "too-few",
            Why::AllEqual => "all-equal",
            Why::Constant => "constant",
            Why::MixedSummaries => "mixed-summaries",
            Why::Approximate => "approximate",
            Why::Correction => "correction",
            Why::Pooled => "pooled",
            Why::OneProcess => "one-process",
            Why::Contradiction => "contradiction",
            Why::NotAsked => "not-asked",
        }
    }
}

/// What a row's comparison comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// Better by the unit's direction: `faster` / `better`. Not `confirmed`: `faster?`.
    Better {
        /// Stands after the correction, and its interval includes all of the noise.
        confirmed: bool,
    },
    /// Worse: `slower` / `worse`.
    Worse {
        /// As for `Better`.
        confirmed: bool,
    },
    /// Changed where no direction is better.
    Changed {
        /// As for `Better`.
        confirmed: bool,
    },
    /// Shown to be negligible.
    Same,
    /// Tested, and neither changed nor shown to be the same.
    Unclear,
    /// Could not be tested.
    Untested,
}

impl Verdict {
    /// The word of this verdict for a quantity of kind `dim`, with its `?`.
    pub fn word(self, dim: Dim) -> &'static str {
        let speed = matches!(dim, Dim::Time | Dim::Rate);
        match (self, speed) {
            (Verdict::Better { confirmed: true }, true) => "faster",
            (Verdict::Better { confirmed: false }, true) => "faster?",
            (Verdict::Better { confirmed: true }, false) => "better",
            (Verdict::Better { confirmed: false }, false) => "better?",
            (Verdict::Worse { confirmed: true }, true) => "slower",
            (Verdict::Worse { confirmed: false }, true) => "slower?",
            (Verdict::Worse { confirmed: true }, false) => "worse",
            (Verdict::Worse { confirmed: false }, false) => "worse?",
            (Verdict::Changed { confirmed: true }, _) => "changed",
            (Verdict::Changed { confirmed: false }, _) => "changed?",
            (Verdict::Same, _) => "same",
            (Verdict::Unclear, _) => "unclear",
            (Verdict::Untested, _) => "untested",
        }
    }

    /// Significant, confirmed or not.
    pub fn is_change(self) -> bool {
        matches!(self, Verdict::Better { .. } | Verdict::Worse { .. } | Verdict::Changed { .. })
    }

    /// A change that stands.
    pub fn is_confirmed(self) -> bool {
        matches!(
            self,
            Verdict::Better { confirmed: true }
                | Verdict::Worse { confirmed: true }
                | Verdict::Changed { confirmed: true }
        )
    }
}

/// Geometric means of a table.
#[derive(Clone, Debug, Default)]
pub struct Geomean {
    /// Rows present in all columns.
    pub rows: usize,
    /// Per column, over those rows; `None` where a value is not above 0.
    pub centers: Vec<Option<f64>>,
    /// Per column: geometric mean of new / base over the rows present in both.
    pub ratios: Vec<Option<f64>>,
    /// Per column: interval of the ratio for this fixed set of rows.
    pub intervals: Vec<Option<(f64, f64)>>,
    /// What to know about it.
    pub notes: Vec<String>,
}

/// Verdicts counted over all tables.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Counts {
    /// Faster or better, confirmed or not.
    pub faster: usize,
    /// Slower or worse, confirmed or not.
    pub slower: usize,
    /// Changed without a direction, confirmed or not.
    pub changed: usize,
    /// Shown to be the same.
    pub same: usize,
    /// Neither.
    pub unclear: usize,
    /// Present on both sides, but no test possible.
    pub untested: usize,
    /// Present on one side only.
    pub unmatched: usize,
    /// How many of the tested rows would pass alone by chance if nothing had changed: alpha times rows tested.
    pub expected_false: f64,
    /// Changes that are confirmed.
    pub after_correction: usize,
    /// Verdicts that rest on pooled errors or on one process: more of them are false than `expected_false` promises.
    pub in_doubt: usize,
}

/// What a `--fail-on` rule found.
#[derive(Clone, Debug, Default)]
pub struct GateOutcome {
    /// The rule as typed.
    pub rule: String,
    /// It trips.
    pub tripped: bool,
    /// Rows the rule could judge.
    pub judged: usize,
    /// The rows that trip it, worst first.
    pub rows: Vec<GateRow>,
}

/// A row that trips a gate.
#[derive(Clone, Debug)]
pub struct GateRow {
    /// The row's name, or `geomean`.
    pub name: String,
    /// The table's unit.
    pub unit: String,
    /// Label of the compared column.
    pub column: String,
    /// The change in percent.
    pub delta_pct: Option<f64>,
    /// Interval of the change in percent.
    pub interval_pct: Option<(f64, f64)>,
    /// The verdict's word, or why it trips (`only in old`).
    pub verdict: String,
}

impl Report {
    /// Warnings that the machines or tool chains of the sides are not the same.
    pub fn machine_differences(&self) -> impl Iterator<Item = &Diagnostic> {
        // `setting-differs` is about all other settings.
        self.warnings.iter().filter(|w| w.code.ends_with("-differs") && w.code != "setting-differs")
    }
}

impl Table {
    /// The number of values per cell, when all cells agree.
    pub fn common_n(&self) -> Option<u64> {
        let mut cells = self.rows.iter().flat_map(|r| r.cells().flatten()).map(|c| c.n);
        let first = cells.next()??;
        cells.all(|n| n == Some(first)).then_some(first)
    }

    /// `10 runs`, `25 values of 5 processes`, when all cells agree.
    pub fn runs_words(&self) -> Option<String> {
        let n = self.common_n()?;
        let mut forks = self.rows.iter().flat_map(|r| r.cells().flatten()).map(|c| c.forks);
        let first = forks.next()?;
        Some(match first.filter(|_| forks.all(|f| f == first)) {
            Some(f) => format!("{n} values of {f} {}", if f == 1 { "process" } else { "processes" }),
            None => format!("{n} run{}", if n == 1 { "" } else { "s" }),
        })
    }

    /// The package that all rows share, with its final dot: `org.example.store.`. Empty where names are not JMH's.
    pub fn package(&self) -> &str {
        let mut rows = self.rows.iter();
        let Some(first) = rows.next() else { return "" };
        if !self.keys.iter().chain(first.keys.iter()).any(|(k, _)| &**k == ".mode") {
            return "";
        }
        let mut shared = &first.name[..first.name.rfind('.').map_or(0, |n| n + 1)];
        // A class begins upper case; only what stands before it is a package.
        let class = shared.split_inclusive('.').take_while(|c| c.starts_with(char::is_lowercase)).map(str::len).sum();
        shared = &shared[..class];
        for row in rows {
            while !row.name.starts_with(shared) {
                shared = &shared[..shared.trim_end_matches('.').rfind('.').map_or(0, |n| n + 1)];
            }
        }
        shared
    }

    /// Parameters that all of at least two rows share: they need not be in every name.
    pub fn shared_parameters(&self) -> Vec<Pair> {
        let Some((first, rest)) = self.rows.split_first().filter(|(_, rest)| !rest.is_empty()) else {
            return Vec::new();
        };
        let parameter = |k: &str| !k.starts_with('.') && !k.starts_with('/');
        let mut shared: Vec<Pair> = first.keys.iter().filter(|(k, _)| parameter(k)).cloned().collect();
        for row in rest {
            if shared.is_empty() {
                break;
            }
            shared.retain(|pair| row.keys.contains(pair));
        }
        // Names made by --row hold them already.
        shared.retain(|(_, v)| !first.name.split(' ').any(|word| word == &**v));
        shared
    }

    /// What the centers are, when all cells agree.
    pub fn common_kind(&self) -> Option<Center> {
        let mut cells = self.rows.iter().flat_map(|r| r.cells().flatten()).map(|c| c.kind);
        let first = cells.next()??;
        cells.all(|k| k == Some(first)).then_some(first)
    }

    /// `lower is better`, `higher is better`, or nothing.
    pub fn direction_words(&self) -> Option<&'static str> {
        match self.unit.better? {
            Direction::Lower => Some("lower is better"),
            Direction::Higher => Some("higher is better"),
        }
    }
}

impl Cell {
    /// The larger half of the interval in percent of the center, benchstat's way: 0 when all three are 0, `None` when signs differ.
    pub fn error_pct(&self) -> Option<f64> {
        if self.spread_pct.is_some() {
            return self.spread_pct;
        }
        let (c, lo, hi) = (self.center?, self.lo?, self.hi?);
        if c == 0.0 && lo == 0.0 && hi == 0.0 {
            return Some(0.0);
        }
        let same_sign = (c > 0.0 && lo > 0.0 && hi > 0.0) || (c < 0.0 && lo < 0.0 && hi < 0.0);
        same_sign.then(|| 100.0 * (hi / c - 1.0).abs().max((1.0 - lo / c).abs()))
    }

    /// The larger half of the interval in base units.
    pub fn error(&self) -> Option<f64> {
        let (c, lo, hi) = (self.center?, self.lo?, self.hi?);
        Some((hi - c).max(c - lo))
    }
}

/// From one center to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CenterChange {
    /// In base units.
    pub difference: f64,
    /// In percent of `before`; `None` from 0 to another number.
    pub delta_pct: Option<f64>,
}

impl CenterChange {
    /// The change from `before` to `after`.
    pub fn new(before: f64, after: f64) -> Self {
        let ratio = if before == 0.0 && after == 0.0 { 1.0 } else { after / before };
        let delta_pct = Some(100.0 * (ratio - 1.0)).filter(|_| ratio.is_finite());
        CenterChange { difference: after - before, delta_pct }
    }
}

impl Comparison {
    /// `ratio` turned by the unit's direction: above 1 is better. `ratio` itself where no direction is known.
    pub fn relative(&self) -> Option<f64> {
        if self.turned { self.ratio.map(|r| 1.0 / r).filter(|r| r.is_finite()) } else { self.ratio }
    }

    /// The interval of [`Comparison::relative`], or of the plain ratio; `None` where an end is open.
    pub fn ratio_interval(&self, plain: bool) -> Option<(f64, f64)> {
        let (lo, hi) = self.lo.zip(self.hi)?;
        let turned = (1.0 / hi, 1.0 / lo);
        let bounds = if self.turned && !plain { turned } else { (lo, hi) };
        Some(bounds).filter(|(lo, hi)| lo.is_finite() && hi.is_finite())
    }

    /// The interval of the change in percent; an open end is infinite. `None` when both ends are open or there is none.
    pub fn interval_pct(&self) -> Option<(f64, f64)> {
        if self.lo.is_none() && self.hi.is_none() {
            return None;
        }
        let pct = |r: f64| 100.0 * (r - 1.0);
        Some((self.lo.map_or(f64::NEG_INFINITY, pct), self.hi.map_or(f64::INFINITY, pct)))
    }
}

/// `name` and behind it the parameters in `keys` that it does not hold itself and that are not in `said`.
pub fn display_name(name: &str, keys: &[Pair], said: &[Pair]) -> String {
    let mut out = name.to_owned();
    for (k, v) in keys {
        if said.iter().any(|(s, _)| s == k) {
            continue;
        }
        if !k.starts_with('.') && !k.starts_with('/') && !name.split(' ').any(|word| word == &**v) {
            out.push_str(&format!(" {k}={v}"));
        }
    }
    out
}

impl fmt::Display for Correction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Correction::Holm => "holm",
            Correction::Bh => "bh",
            Correction::None => "none",
        })
    }
}
