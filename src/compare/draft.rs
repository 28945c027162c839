//! A row on its own: cells weighed, compared and searched for what makes them less trustworthy, before the other rows of its table are known.

use smallvec::SmallVec;

use super::Plan;
use super::assess::{Assessment, Context, Remark, assess, printed_against};
use super::side::{Grounds, Side, wants_means, weigh};
use super::warnings;
use crate::pivot::{Column, GridRow};
use crate::report::{Cell, Row};
use crate::units::{Direction, Unit};

/// What is known of a row beside the row itself until its table's corrections are known.
#[derive(Default)]
pub(super) struct Draft {
    /// Of the columns that are compared, ascending.
    pub assessments: SmallVec<[Assessment; 1]>,
    /// What few rows have.
    pub doubts: Option<Box<Doubts>>,
    /// What the cells stand on, one per column; only of rows to be explained.
    pub grounds: Vec<Option<Grounds>>,
}

/// What makes a row less trustworthy.
#[derive(Default)]
pub(super) struct Doubts {
    /// Cells pool results that differ in more than they should.
    pub pooled: Option<Remark>,
    /// Warnings that touch a verdict.
    pub serious: Vec<&'static str>,
}

/// What the cells stand on, one per column.
pub(super) type AllGrounds = SmallVec<[Option<Grounds>; 2]>;

impl Draft {
    /// Weighs the cells of `row`, compares them with the one in column `base` and looks for what makes them less trustworthy. The values
    /// are let go of, but for those that charts or the row's story need.
    ///
    /// Takes the place of another row's draft: drafts are large, and there may be many.
    pub fn begin(
        &mut self,
        row: GridRow,
        base: Option<usize>,
        columns: &[Column],
        unit: &Unit,
        cx: &Context<'_>,
    ) -> Row {
        self.assessments.clear();
        (self.doubts, self.grounds) = (None, Vec::new());
        let means = row.cells.iter().flatten().any(|c| wants_means(&c.series, cx.plan));
        let mut varies: Vec<String> = Vec::new();
        let mut cells: SmallVec<[Option<Cell>; 2]> = SmallVec::with_capacity(row.cells.len());
        let mut grounds = AllGrounds::with_capacity(row.cells.len());
        for cell in row.cells {
            let (shown, ground) = match cell {
                Some(cell) => {
                    for key in cell.varies_in {
                        if !varies.contains(&key) {
                            varies.push(key);
                        }
                    }
                    let (shown, ground) = weigh(cell.series, cell.source, cx.exact, means, cx.plan);
                    (shown, Some(ground))
                }
                None => (None, None),
            };
            cells.push(shown);
            grounds.push(ground);
        }
        let mixed = grounds.iter().flatten().any(|g| matches!(g.side, Side::Mixed));
        if mixed || !varies.is_empty() {
            let pooled = if mixed { Remark::MixedIn(varies) } else { Remark::VariesIn(varies) };
            self.doubts = Some(Box::new(Doubts { pooled: Some(pooled), serious: Vec::new() }));
        }
        let half = |i: usize| (cells[i].as_ref(), grounds[i].as_ref());
        if let Some(base) = base {
            for i in (0..cells.len()).filter(|&i| i != base) {
                let both = grounds[base].as_ref().zip(grounds[i].as_ref());
                let printed = both.and_then(|(old, new)| printed_against(old, new));
                self.assessments.extend(assess(i, base, half(base), half(i), printed, cx));
            }
        }
        let mut row = Row::new(row.name, row.keys, cells);
        if !cx.exact {
            self.warn(&mut row, &grounds, columns, unit, cx);
        }
        if cx.plan.keep_samples {
            let samples = grounds.iter_mut().map(|grounds| {
                let samples = &mut grounds.as_mut()?.observations;
                if cx.explained { samples.clone() } else { samples.take() }
            });
            row.keep_samples(samples.collect());
        }
        if cx.explained {
            self.grounds = grounds.into_vec();
        }
        row
    }

    /// Looks for what makes the values less trustworthy than they look.
    fn warn(&mut self, row: &mut Row, grounds: &AllGrounds, columns: &[Column], unit: &Unit, cx: &Context<'_>) {
        for a in &self.assessments {
            if let (Some(base), Some(new)) = (&grounds[a.base], &grounds[a.column]) {
                let serious = warnings::serious(base, new, a, cx.plan);
                if !serious.is_empty() {
                    self.doubts.get_or_insert_default().serious.extend(serious);
                }
            }
        }
        if cx.plan.warnings {
            row.warn(warnings::of_row(grounds, &self.assessments, columns, unit));
        }
    }

    /// The assessment of column `i`.
    pub fn assessment(&self, i: usize) -> Option<&Assessment> {
        self.assessments.get(self.place(i)?)
    }

    /// The same, to be changed.
    pub fn assessment_mut(&mut self, i: usize) -> Option<&mut Assessment> {
        let place = self.place(i)?;
        self.assessments.get_mut(place)
    }

    fn place(&self, i: usize) -> Option<usize> {
        self.assessments.binary_search_by_key(&i, |a| a.column).ok()
    }

    /// Gives the verdicts, when the corrections are known.
    pub fn decide(&self, row: &mut Row, better: Option<Direction>, plan: &Plan) {
        for a in &self.assessments {
            row.compare(a.column, &a.decide(better, plan));
        }
    }
}
