//! A row of a table, kept small: a report may hold a million of them.
//!
//! Cells and comparisons are taken apart when a row is made and put together again when they are asked for. Unknown numbers are kept
//! as NaN, which no known number is, and what few cells have stands in a box.

use std::sync::Arc;

use smallvec::SmallVec;

use super::{Cell, CenterChange, Comparison, Explanation, IntervalMethod, Reported, Test, Verdict, Why, display_name};
use crate::model::{Center, Observations};
use crate::pivot::{Keys, Pair};

/// One benchmark.
#[derive(Debug, Default)]
pub struct Row {
    /// As its producer prints it, or the `--row` values.
    pub name: Arc<str>,
    /// The result's own keys and parameters.
    pub keys: Keys,
    /// Of two columns they need no room of their own, nor does the one comparison of these.
    cells: SmallVec<[Option<SmallCell>; 2]>,
    /// Of the columns that are compared, ascending.
    comparisons: SmallVec<[SmallComparison; 1]>,
    /// Nominal confidence of all intervals of the row.
    confidence: f64,
    notes: SmallVec<[u32; 4]>,
    extra: Option<Box<Extra>>,
    /// Left out of text and Markdown by `--only` or the row limit; still in JSON and CSV.
    pub hidden: bool,
    /// Left out of text because the table is long and nothing changed here; `--all` shows it. Markdown folds such rows instead.
    pub beyond_limit: bool,
}

/// What rows have on request only.
#[derive(Debug, Default)]
struct Extra {
    samples: Vec<Option<Observations>>,
    warnings: Vec<String>,
    explanation: Option<Box<Explanation>>,
}

impl Row {
    /// A row with one cell per column, not compared yet.
    pub fn new(name: Arc<str>, keys: Keys, cells: impl IntoIterator<Item = Option<Cell>>) -> Self {
        let mut row = Row { name, keys, ..Row::default() };
        for cell in cells {
            row.confidence = cell.as_ref().map_or(row.confidence, |c| c.confidence);
            row.cells.push(cell.map(SmallCell::from));
        }
        row
    }

    /// Number of columns.
    pub fn width(&self) -> usize {
        self.cells.len()
    }

    /// What is known in column `i`.
    #[inline]
    pub fn cell(&self, i: usize) -> Option<Cell> {
        Some(self.cells.get(i)?.as_ref()?.whole(self.confidence))
    }

    /// Whether there is anything in column `i`.
    pub fn has(&self, i: usize) -> bool {
        self.cells.get(i).is_some_and(Option::is_some)
    }

    /// One per column.
    #[inline]
    pub fn cells(&self) -> impl DoubleEndedIterator<Item = Option<Cell>> + ExactSizeIterator + Clone {
        self.cells.iter().map(|c| c.as_ref().map(|c| c.whole(self.confidence)))
    }

    /// Column `i` against the base column; `None` in the base column and where there is nothing to say.
    #[inline]
    pub fn comparison(&self, i: usize) -> Option<Comparison> {
        let at = self.comparisons.binary_search_by_key(&i, |c| c.column as usize).ok()?;
        Some(self.whole(&self.comparisons[at]))
    }

    /// The columns that are compared, ascending, and how.
    #[inline]
    pub fn comparisons(&self) -> impl DoubleEndedIterator<Item = (usize, Comparison)> {
        self.comparisons.iter().map(|c| (c.column as usize, self.whole(c)))
    }

    /// Verdicts of the columns that are compared.
    pub fn verdicts(&self) -> impl Iterator<Item = Verdict> {
        self.comparisons.iter().map(|c| c.verdict)
    }

    /// Adds the comparison of column `i`, or puts it in the place of the one there.
    pub fn compare(&mut self, i: usize, comparison: &Comparison) {
        let small = SmallComparison::new(i, comparison, self.center_change(comparison.base, i));
        self.confidence = comparison.confidence;
        match self.comparisons.binary_search_by_key(&small.column, |c| c.column) {
            Ok(at) => self.comparisons[at] = small,
            Err(at) => self.comparisons.insert(at, small),
        }
    }

    #[inline]
    fn whole(&self, c: &SmallComparison) -> Comparison {
        c.whole(self.center_change(c.base as usize, c.column as usize), self.confidence)
    }

    /// From the center in column `base` to the one in column `i`.
    #[inline]
    fn center_change(&self, base: usize, i: usize) -> Option<CenterChange> {
        let center = |i: usize| self.cells.get(i)?.as_ref()?.center.get();
        Some(CenterChange::new(center(base)?, center(i)?))
    }

    /// Indexes into [`super::Table::notes`], in order of use.
    pub fn notes(&self) -> impl DoubleEndedIterator<Item = usize> + ExactSizeIterator {
        self.notes.iter().map(|&at| at as usize)
    }

    /// Refers to note `at` of the table, once.
    pub fn note(&mut self, at: usize) {
        // As many notes as that have no table.
        let at = u32::try_from(at).unwrap_or(u32::MAX);
        if !self.notes.contains(&at) {
            self.notes.push(at);
        }
    }

    /// The samples in column `i`, where they were kept.
    pub fn samples(&self, i: usize) -> Option<&Observations> {
        self.extra.as_ref()?.samples.get(i)?.as_ref()
    }

    /// Keeps `samples`, one per column.
    pub fn keep_samples(&mut self, samples: Vec<Option<Observations>>) {
        self.extra.get_or_insert_default().samples = samples;
    }

    /// What makes its values less trustworthy than they look, where that was asked for; for programs, beside the notes.
    pub fn warnings(&self) -> &[String] {
        self.extra.as_ref().map_or(&[], |e| &e.warnings)
    }

    /// Keeps `warnings`.
    pub fn warn(&mut self, warnings: Vec<String>) {
        if !warnings.is_empty() {
            self.extra.get_or_insert_default().warnings = warnings;
        }
    }

    /// Its whole story, where that was asked for.
    pub fn explanation(&self) -> Option<&Explanation> {
        self.extra.as_ref()?.explanation.as_deref()
    }

    /// Keeps its story.
    pub fn explain(&mut self, explanation: Box<Explanation>) {
        self.extra.get_or_insert_default().explanation = Some(explanation);
    }

    /// The name, and behind it the parameters that it does not hold itself: `MapBench.get size=1000`.
    pub fn display_name(&self) -> String {
        self.name_without(&[])
    }

    /// [`Row::display_name`] less the parameters in `said`, which were said elsewhere.
    pub fn name_without(&self, said: &[Pair]) -> String {
        display_name(&self.name, &self.keys, said)
    }

    /// The most telling verdict of the row: a change before everything else, the worst first.
    pub fn verdict(&self) -> Option<Verdict> {
        let rank = |v: &Verdict| match v {
            Verdict::Worse { confirmed: true } => 0,
            Verdict::Better { confirmed: true } => 1,
            Verdict::Changed { confirmed: true } => 2,
            Verdict::Worse { .. } => 3,
            Verdict::Better { .. } => 4,
            Verdict::Changed { .. } => 5,
            Verdict::Unclear => 6,
            Verdict::Same => 7,
            Verdict::Untested => 8,
        };
        self.verdicts().min_by_key(rank)
    }
}

/// For tests that need a report a little different.
#[cfg(test)]
impl Row {
    /// Changes the cell in column `i`.
    pub fn edit_cell(&mut self, i: usize, edit: impl FnOnce(&mut Option<Cell>)) {
        let mut cell = self.cell(i);
        edit(&mut cell);
        self.cells[i] = cell.map(SmallCell::from);
    }

    /// Changes the comparison of column `i`, which there must be.
    pub fn edit_comparison(&mut self, i: usize, edit: impl FnOnce(&mut Comparison)) {
        let mut comparison = self.comparison(i).unwrap();
        edit(&mut comparison);
        self.compare(i, &comparison);
    }

    /// Leaves the first `n` columns, compared with nothing.
    pub fn truncate(&mut self, n: usize) {
        self.cells.truncate(n);
        self.comparisons.clear();
    }
}

/// A number, or NaN for none.
#[derive(Clone, Copy, Debug)]
struct Figure(f64);

impl From<Option<f64>> for Figure {
    fn from(v: Option<f64>) -> Self {
        Figure(v.unwrap_or(f64::NAN))
    }
}

impl Figure {
    #[inline]
    fn get(self) -> Option<f64> {
        (!self.0.is_nan()).then_some(self.0)
    }
}

/// A count, or the largest there is for none.
#[derive(Clone, Copy, Debug)]
struct Number(u64);

impl From<Option<u64>> for Number {
    fn from(n: Option<u64>) -> Self {
        Number(n.unwrap_or(u64::MAX))
    }
}

impl Number {
    #[inline]
    fn get(self) -> Option<u64> {
        (self.0 != u64::MAX).then_some(self.0)
    }
}

#[derive(Clone, Debug)]
struct SmallCell {
    center: Figure,
    lo: Figure,
    hi: Figure,
    coverage: Figure,
    mean: Figure,
    sd: Figure,
    min: Figure,
    max: Figure,
    n: Number,
    printed: Option<Box<(Option<Reported>, Option<f64>)>>,
    /// The largest there is for none; more processes than that nobody starts.
    forks: u32,
    kind: Option<Center>,
    raw: bool,
    infinite: bool,
    approximate: bool,
}

impl From<Cell> for SmallCell {
    fn from(c: Cell) -> Self {
        let printed = c.reported.is_some() || c.spread_pct.is_some();
        SmallCell {
            center: c.center.into(),
            lo: c.lo.into(),
            hi: c.hi.into(),
            coverage: c.coverage.into(),
            mean: c.mean.into(),
            sd: c.sd.into(),
            min: c.min.into(),
            max: c.max.into(),
            n: c.n.into(),
            forks: c.forks.map_or(u32::MAX, |n| u32::try_from(n).unwrap_or(u32::MAX - 1)),
            printed: printed.then(|| Box::new((c.reported, c.spread_pct))),
            kind: c.kind,
            raw: c.raw,
            infinite: c.infinite,
            approximate: c.approximate,
        }
    }
}

impl SmallCell {
    #[inline]
    fn whole(&self, confidence: f64) -> Cell {
        let (reported, spread_pct) = self.printed.as_deref().copied().unwrap_or_default();
        Cell {
            raw: self.raw,
            n: self.n.get(),
            forks: (self.forks != u32::MAX).then_some(self.forks.into()),
            kind: self.kind,
            center: self.center.get(),
            lo: self.lo.get(),
            hi: self.hi.get(),
            infinite: self.infinite,
            confidence,
            coverage: self.coverage.get(),
            mean: self.mean.get(),
            sd: self.sd.get(),
            min: self.min.get(),
            max: self.max.get(),
            reported,
            spread_pct,
            approximate: self.approximate,
        }
    }
}

/// What few comparisons have.
#[derive(Clone, Debug)]
struct Rare {
    equivalence: Option<(f64, f64)>,
    /// Another change than that of the centers: in base units and in percent.
    change: Option<(Option<f64>, Option<f64>)>,
}

fn both(change: Option<CenterChange>) -> (Option<f64>, Option<f64>) {
    (change.map(|c| c.difference), change.and_then(|c| c.delta_pct))
}

#[derive(Clone, Debug)]
struct SmallComparison {
    ratio: Figure,
    lo: Figure,
    hi: Figure,
    p: Figure,
    p_adjusted: Figure,
    rare: Option<Box<Rare>>,
    column: u32,
    base: u32,
    test: Test,
    interval: IntervalMethod,
    verdict: Verdict,
    why: Option<Why>,
    out_of_reach: bool,
    turned: bool,
}

impl SmallComparison {
    fn new(column: usize, c: &Comparison, of_centers: Option<CenterChange>) -> Self {
        // Columns come from inputs or keys: never as many as 2^32.
        let small = |i: usize| u32::try_from(i).unwrap_or(u32::MAX);
        let change = (c.difference, c.delta_pct);
        let change = Some(change).filter(|change| *change != both(of_centers));
        let rare = Rare { equivalence: c.equivalence, change };
        SmallComparison {
            ratio: c.ratio.into(),
            lo: c.lo.into(),
            hi: c.hi.into(),
            p: c.p.into(),
            p_adjusted: c.p_adjusted.into(),
            turned: c.turned,
            rare: (rare.equivalence.is_some() || rare.change.is_some()).then(|| Box::new(rare)),
            column: small(column),
            base: small(c.base),
            test: c.test,
            interval: c.interval,
            verdict: c.verdict,
            why: c.why,
            out_of_reach: c.out_of_reach,
        }
    }

    #[inline]
    fn whole(&self, of_centers: Option<CenterChange>, confidence: f64) -> Comparison {
        let rare = self.rare.as_deref();
        let other = rare.and_then(|r| r.change);
        let (difference, delta_pct) = other.unwrap_or_else(|| both(of_centers));
        Comparison {
            base: self.base as usize,
            delta_pct,
            difference,
            ratio: self.ratio.get(),
            lo: self.lo.get(),
            hi: self.hi.get(),
            confidence,
            equivalence: rare.and_then(|r| r.equivalence),
            p: self.p.get(),
            p_adjusted: self.p_adjusted.get(),
            test: self.test,
            interval: self.interval,
            verdict: self.verdict,
            why: self.why,
            out_of_reach: self.out_of_reach,
            turned: self.turned,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_and_comparisons_come_back_as_they_went_in() {
        let full = Cell {
            raw: true,
            n: Some(0),
            forks: Some(3),
            kind: Some(Center::Mean),
            center: Some(0.0),
            lo: Some(f64::NEG_INFINITY),
            hi: Some(2.0),
            infinite: true,
            confidence: 0.9,
            coverage: Some(0.95),
            mean: Some(4.0),
            sd: Some(5.0),
            min: Some(6.0),
            max: Some(7.0),
            reported: Some(Reported { center: 1.0, error: None, confidence: Some(0.999) }),
            spread_pct: Some(8.0),
            approximate: true,
        };
        let empty = Cell { confidence: 0.9, ..Cell::default() };
        let mut row = Row::new("r".into(), [].into(), [Some(full), None, Some(empty)]);
        assert_eq!(row.cells().collect::<Vec<_>>(), [Some(full), None, Some(empty)]);
        assert_eq!((row.cell(0), row.cell(1), row.cell(3), row.width()), (Some(full), None, None, 3));
        let c = Comparison {
            base: 0,
            delta_pct: Some(1.0),
            difference: None,
            ratio: Some(3.0),
            lo: Some(4.0),
            hi: Some(f64::INFINITY),
            confidence: 0.9,
            equivalence: Some((5.0, 6.0)),
            p: Some(0.0),
            p_adjusted: Some(1.0),
            test: Test::Welch,
            interval: IntervalMethod::Fieller,
            verdict: Verdict::Better { confirmed: false },
            why: Some(Why::Correction),
            out_of_reach: true,
            turned: true,
        };
        row.compare(2, &c);
        row.compare(1, &Comparison { equivalence: None, ..c });
        assert_eq!(row.comparison(2), Some(c));
        let equivalences: Vec<_> = row.comparisons().map(|(i, c)| (i, c.equivalence)).collect();
        assert_eq!(equivalences, [(1, None), (2, Some((5.0, 6.0)))]);
        row.compare(2, &Comparison { p: None, ..c });
        assert_eq!((row.comparison(0), row.comparison(2).unwrap().p, row.comparisons().count()), (None, None, 2));
    }

    #[test]
    fn rows_are_small() {
        assert!(size_of::<Row>() <= 336, "{}", size_of::<Row>());
    }
}
