//! From laid-out series to finished numbers: the one place where a base is chosen, tests are picked and verdicts are given.
//!
//! The method is statistics.md's: flat raw data by Mann-Whitney and Hodges-Lehmann, forked data by Welch on log fork means, summaries by
//! Welch from n, mean and error; what both sides have decides. Not here: arithmetic of the tests ([`crate::stats`]), layout, words on paper.

mod assess;
pub mod benchstat;
mod geomean;
mod notes;
mod side;

use rayon::prelude::*;

use crate::base::{Diagnostic, Error};
use crate::model::Input;
use crate::pivot::{Grid, GridTable};
use crate::report::{Correction, Counts, Report, Row, Settings, Table, Test, Verdict, View, Why};
use crate::stats::{self, UCache};

use assess::Assessment;
use notes::Notes;
use side::Side;

/// Which statistic is the center of raw data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum CenterChoice {
    /// Median of flat data, mean of fork means of forked data.
    #[default]
    Auto,
    /// Median, for forked data too.
    Median,
    /// Mean with its Student-t error.
    Mean,
}

/// Which test compares raw data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum TestChoice {
    /// By the shape of the data.
    #[default]
    Auto,
    /// Mann-Whitney U over all values, forks not told apart.
    MannWhitney,
    /// Welch's t on logarithms.
    Welch,
    /// No test: centers and changes only.
    None,
}

/// The base column.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Base {
    /// The first column of each table.
    #[default]
    First,
    /// A column's label; else, if it is a number, its place from 0.
    Label(String),
    /// The column with the best geometric mean.
    Best,
}

/// How to compare.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Significant means p <= alpha.
    pub alpha: f64,
    /// Of all intervals.
    pub confidence: f64,
    /// Negligible change: 0.01 is 1 %.
    pub margin: f64,
    /// Correction over a table's rows.
    pub correction: Correction,
    /// View asked for; carried into the report.
    pub view: View,
    /// The base column.
    pub base: Base,
    /// Center of raw data.
    pub center: CenterChoice,
    /// Test of raw data.
    pub test: TestChoice,
    /// Forks behind each summary that does not say so itself.
    pub forks: Option<u64>,
    /// Take printed errors as if their values were independent.
    pub assume_independent: bool,
    /// The k-th run of one side belongs to the k-th of the other.
    pub paired: bool,
    /// Keep the samples in the report, for charts.
    pub keep_samples: bool,
}

impl Default for Plan {
    fn default() -> Self {
        Plan {
            alpha: 0.05,
            confidence: 0.95,
            margin: 0.01,
            correction: Correction::Holm,
            view: View::Change,
            base: Base::First,
            center: CenterChoice::Auto,
            test: TestChoice::Auto,
            forks: None,
            assume_independent: false,
            paired: false,
            keep_samples: false,
        }
    }
}

/// Computes the report of `grid`.
///
/// # Errors
/// [`Error::Usage`] when the base is no column of any table.
pub fn compare(grid: Grid, inputs: Vec<Input>, mut warnings: Vec<Diagnostic>, plan: &Plan) -> Result<Report, Error> {
    warnings.extend(grid.diagnostics);
    let bases = bases(&grid.tables, &plan.base)?;
    let cache = UCache::new();
    let tables: Vec<Table> =
        grid.tables.into_iter().zip(bases).map(|(table, base)| compare_table(table, base, plan, &cache)).collect();
    let summary = count(&tables, plan);
    Ok(Report {
        settings: Settings {
            alpha: plan.alpha,
            confidence: plan.confidence,
            margin: plan.margin,
            correction: plan.correction,
            view: plan.view,
        },
        inputs,
        tables,
        summary,
        gates: Vec::new(),
        warnings,
    })
}

/// The base column of each table; a table that lacks the base has none and compares nothing.
fn bases(tables: &[GridTable], base: &Base) -> Result<Vec<Option<usize>>, Error> {
    let found: Vec<Option<usize>> = tables
        .iter()
        .map(|t| {
            if t.columns.len() < 2 {
                return None;
            }
            match base {
                Base::First => Some(0),
                Base::Best => Some(geomean::best_column(t)),
                Base::Label(label) => t
                    .columns
                    .iter()
                    .position(|c| c.label == *label)
                    .or_else(|| label.parse().ok().filter(|&i: &usize| i < t.columns.len())),
            }
        })
        .collect();
    if let Base::Label(label) = base {
        if tables.iter().any(|t| t.columns.len() > 1) && found.iter().all(Option::is_none) {
            let mut labels: Vec<&str> = Vec::new();
            for c in tables.iter().flat_map(|t| &t.columns) {
                if !labels.contains(&&*c.label) {
                    labels.push(&c.label);
                }
            }
            labels.truncate(20);
            return Err(Error::Usage {
                message: format!("--base: no column is labelled {label:?}"),
                hint: Some(format!("the columns are: {}", labels.join(", "))),
            });
        }
    }
    Ok(found)
}

/// A row before its table's corrections are known.
struct Draft {
    row: Row,
    /// One per column.
    assessments: Vec<Option<Assessment>>,
}

fn compare_table(mut table: GridTable, base: Option<usize>, plan: &Plan, cache: &UCache) -> Table {
    let rows = std::mem::take(&mut table.rows);
    let mut drafts: Vec<Draft> = rows
        .into_par_iter()
        .map(|row| {
            let means = row.cells.iter().flatten().any(|c| side::wants_means(&c.series, plan));
            let mut varies: Vec<String> = Vec::new();
            let mut printed = Vec::with_capacity(row.cells.len());
            let (cells, sides): (Vec<_>, Vec<_>) = row
                .cells
                .into_iter()
                .map(|cell| {
                    let Some(cell) = cell else {
                        printed.push(None);
                        return (None, None);
                    };
                    for key in cell.varies_in {
                        if !varies.contains(&key) {
                            varies.push(key);
                        }
                    }
                    printed.push(cell.series.printed.clone());
                    let (shown, side) = side::weigh(cell.series, table.exact, means, plan);
                    (shown, Some(side))
                })
                .unzip();
            let assessments: Vec<_> = (0..sides.len())
                .map(|i| {
                    let base = base?;
                    if i == base {
                        return None;
                    }
                    assess::assess(
                        (cells[base].as_ref(), sides[base].as_ref()),
                        (cells[i].as_ref(), sides[i].as_ref()),
                        printed[i].as_deref(),
                        &assess::Context { plan, cache, exact: table.exact, base },
                    )
                })
                .collect();
            let mut draft = Draft {
                row: Row {
                    name: row.name,
                    keys: row.keys,
                    comparisons: vec![None; cells.len()],
                    cells,
                    notes: Vec::new(),
                    hidden: false,
                },
                assessments,
            };
            if !varies.is_empty() {
                draft.varies(&sides, varies);
            }
            draft
        })
        .collect();
    let mut notes = Notes::default();
    correct(&mut drafts, plan);
    for draft in &mut drafts {
        for (i, assessment) in draft.assessments.iter_mut().enumerate() {
            let Some(a) = assessment else { continue };
            draft.row.comparisons[i] = Some(a.decide(table.unit.better, plan));
        }
    }
    let geomean = geomean::geomean(&drafts.iter().map(|d| &d.row).collect::<Vec<_>>(), &table.columns, base, plan);
    let averaged = geomean.as_ref().is_some_and(|g| g.ratios.iter().any(Option::is_some));
    for draft in &mut drafts {
        notes.of_row(draft, &table, averaged, plan);
    }
    Table {
        keys: table.keys,
        unit: table.unit,
        exact: table.exact,
        columns: table.columns,
        base,
        rows: drafts.into_iter().map(|d| d.row).collect(),
        geomean,
        notes: notes.texts(),
    }
}

impl Draft {
    /// Cells whose results differ in more than they should: pooled samples get a warning, summaries cannot be combined.
    fn varies(&mut self, sides: &[Option<Side>], keys: Vec<String>) {
        let mixed = sides.iter().flatten().any(|s| matches!(s, Side::Mixed));
        for a in self.assessments.iter_mut().flatten() {
            a.varies_in = Some((keys.clone(), mixed));
        }
        if self.assessments.iter().all(Option::is_none) {
            self.assessments.resize_with(sides.len(), || None);
        }
    }
}

/// Fills in the adjusted p-values: one family per compared column of a table.
fn correct(drafts: &mut [Draft], plan: &Plan) {
    let columns = drafts.first().map_or(0, |d| d.assessments.len());
    for i in 0..columns {
        let tested: Vec<usize> = (0..drafts.len())
            .filter(|&k| drafts[k].assessments[i].as_ref().is_some_and(|a| a.p.is_some() && a.test != Test::None))
            .collect();
        let ps: Vec<f64> = tested.iter().filter_map(|&k| drafts[k].assessments[i].as_ref()?.p).collect();
        let adjusted = match plan.correction {
            Correction::Holm => stats::holm(&ps),
            Correction::Bh => stats::benjamini_hochberg(&ps),
            Correction::None => ps,
        };
        for (k, p) in tested.iter().zip(adjusted) {
            if let Some(a) = &mut drafts[*k].assessments[i] {
                a.p_adjusted = Some(p);
                a.family = tested.len();
            }
        }
    }
}

fn count(tables: &[Table], plan: &Plan) -> Counts {
    let mut c = Counts::default();
    let mut tested = 0usize;
    for row in tables.iter().flat_map(|t| &t.rows) {
        let mut one_side = false;
        for cmp in row.comparisons.iter().flatten() {
            tested += usize::from(cmp.p.is_some() && cmp.test != Test::None);
            c.after_correction += usize::from(cmp.verdict.is_confirmed());
            match cmp.verdict {
                Verdict::Better { .. } => c.faster += 1,
                Verdict::Worse { .. } => c.slower += 1,
                Verdict::Changed { .. } => c.changed += 1,
                Verdict::Same => c.same += 1,
                Verdict::Unclear => c.unclear += 1,
                Verdict::Untested if cmp.why == Some(Why::OneSide) => one_side = true,
                Verdict::Untested => c.untested += 1,
            }
        }
        c.unmatched += usize::from(one_side);
    }
    c.expected_false = plan.alpha * tested as f64;
    c
}
