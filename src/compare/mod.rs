//! From laid-out series to finished numbers: the one place where a base is chosen, tests are picked and verdicts are given.
//!
//! In the order of the work, each step in its file:
//! - `side`: what a cell shows and what a test may use of it;
//! - `draft`: a row whose table is not known yet;
//! - `assess`: two sides against each other, the method by what both have: flat raw data by Mann-Whitney and Hodges-Lehmann, forked data by
//!   Welch on log fork means, summaries by Welch from n, mean and error;
//! - `family`: the correction over the rows tested together;
//! - `verdict`: the word by p, interval and margin;
//! - `geomean`, `shift`: what the rows say together;
//! - `warnings`, `notes`: what makes a row less trustworthy than it looks, and what would settle it;
//! - `explain`: the whole story of the rows asked for.
//!
//! Not here: arithmetic of the tests ([`crate::stats`]), layout, words on paper.

mod assess;
pub mod benchstat;
mod draft;
mod explain;
mod family;
mod geomean;
mod notes;
mod shift;
mod side;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod verdict;
mod warnings;

pub use explain::RowPattern;

use rayon::prelude::*;

use crate::base::{Diagnostic, Error};
use crate::model::Input;
use crate::pivot::{Grid, GridRow, GridTable};
use crate::report::{Correction, Report, Row, Settings, Table, View};
use crate::stats::UCache;

use assess::Context;
use draft::Draft;
use notes::Notes;

/// Which statistic is the center of raw data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum CenterChoice {
    /// Median of flat data, mean of fork means of forked data.
    #[default]
    Auto,
    /// Median; of forked data the median of each fork.
    Median,
    /// Mean with its Student-t error; compared by Welch's t on logarithms.
    Mean,
}

/// Which test compares raw data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum TestChoice {
    /// By the shape of the data.
    #[default]
    Auto,
    /// Mann-Whitney U; of forked data over one value per fork.
    MannWhitney,
    /// Welch's t on logarithms.
    Welch,
    /// No test: centers and changes only.
    None,
}

/// What the interval of a geometric mean is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum GeomeanInterval {
    /// These benchmarks: how exactly their geometric mean is known.
    #[default]
    Suite,
    /// Benchmarks like these: how much others of their kind may differ.
    Population,
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
    /// Intervals of changes of raw samples by bootstrap.
    pub bootstrap: bool,
    /// `same` means: the interval of confidence 1 - 2 alpha lies inside the margin (two one-sided tests), not the shown one.
    pub equivalence: bool,
    /// What intervals of geometric means are about.
    pub geomean: GeomeanInterval,
    /// Rows to explain.
    pub explain: Vec<RowPattern>,
    /// Keep all warnings about the values of each row in the report, for programs.
    pub warnings: bool,
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
            bootstrap: false,
            equivalence: false,
            geomean: GeomeanInterval::Suite,
            explain: Vec::new(),
            warnings: false,
            keep_samples: false,
        }
    }
}

/// Computes the report of `grid`.
///
/// # Errors
/// [`Error::Usage`] when the base is no column of any table, or no row is one to explain.
pub fn compare(mut grid: Grid, inputs: Vec<Input>, mut said: Vec<Diagnostic>, plan: &Plan) -> Result<Report, Error> {
    said.append(&mut grid.diagnostics);
    if plan.base == Base::Best || !plan.explain.is_empty() {
        // These look at all rows before the first is compared.
        grid = grid.filled();
    }
    let bases = bases(&grid.tables, &plan.base)?;
    let explained = explain::wanted(&grid.tables, &plan.explain)?;
    let cache = UCache::new();
    // Room that all tables use in turn.
    let mut drafts: Vec<Draft> = Vec::new();
    let tables: Vec<Table> = grid
        .into_tables()
        .zip(bases)
        .map(|(table, base)| {
            let cx = Context { plan, cache: &cache, exact: table.exact, explained: false };
            compare_table(
                table,
                base,
                &|row| explained.iter().any(|e| e.matches(&row.name, &row.keys)),
                &mut drafts,
                &cx,
            )
        })
        .collect();
    said.extend(shift::shifted(&tables));
    said.extend(warnings::of_columns(&tables));
    Ok(Report {
        settings: Settings {
            alpha: plan.alpha,
            confidence: plan.confidence,
            margin: plan.margin,
            equivalence: plan.equivalence,
            correction: plan.correction,
            view: plan.view,
        },
        inputs,
        summary: family::count(&tables, plan),
        tables,
        gates: Vec::new(),
        warnings: said,
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
    if let Base::Label(label) = base
        && tables.iter().any(|t| t.columns.len() > 1)
        && found.iter().all(Option::is_none)
    {
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
    Ok(found)
}

/// Compares the columns of `table` with column `base` and finishes its rows. `explained`: the row's story is asked for. What `drafts` holds
/// is overwritten.
fn compare_table(
    table: GridTable,
    base: Option<usize>,
    explained: &(dyn Fn(&GridRow) -> bool + Sync),
    drafts: &mut Vec<Draft>,
    cx: &Context<'_>,
) -> Table {
    let GridTable { keys, unit, exact, columns, rows } = table;
    let begin = |(row, draft): (GridRow, &mut Draft)| {
        let cx = Context { explained: explained(&row), ..*cx };
        draft.begin(row, base, &columns, &unit, &cx)
    };
    drafts.resize_with(rows.len(), Draft::default);
    let mut rows: Vec<Row> = rows.into_par_iter().zip(drafts.par_iter_mut()).map(begin).collect();
    family::correct(drafts, columns.len(), cx.plan);
    let geomean = geomean::geomean(&rows, drafts, &columns, base, cx.plan);
    let averaged = geomean.as_ref().is_some_and(|g| g.ratios.iter().any(Option::is_some));
    let mut notes = Notes::default();
    // In one pass: rows are large, and there may be many.
    for (row, draft) in rows.iter_mut().zip(&*drafts) {
        draft.decide(row, unit.better, cx.plan);
        notes.of_row(row, draft, exact, averaged, cx.plan);
        if let Some(story) = explain::explain(draft, &columns, &unit, cx) {
            row.explain(story);
        }
    }
    Table { keys, unit, exact, columns, base, rows, geomean, notes: notes.finish() }
}
