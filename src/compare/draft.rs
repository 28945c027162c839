//! A row on its own: cells weighed, compared and searched for what makes them less trustworthy, before the other rows of its table are known.

use super::Plan;
use super::assess::{Assessment, Context, Remark, assess, printed_against};
use super::side::{Grounds, Side, wants_means, weigh};
use super::warnings;
use crate::pivot::{Column, GridRow};
use crate::report::Row;
use crate::units::{Direction, Unit};

/// A row before its table's corrections are known.
pub(super) struct Draft {
    /// As far as it is finished.
    pub row: Row,
    /// One per column.
    pub assessments: Vec<Option<Box<Assessment>>>,
    /// What few rows have.
    pub doubts: Option<Box<Doubts>>,
    /// What the cells stand on, one per column; only of rows to be explained once [`Draft::release`] was called.
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

impl Draft {
    /// Weighs the cells of `row` and compares them with the one in column `base`.
    pub fn new(row: GridRow, base: Option<usize>, cx: &Context<'_>) -> Self {
        let means = row.cells.iter().flatten().any(|c| wants_means(&c.series, cx.plan));
        let mut varies: Vec<String> = Vec::new();
        let mut cells = Vec::with_capacity(row.cells.len());
        let mut grounds: Vec<Option<Grounds>> = Vec::with_capacity(row.cells.len());
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
        let pooled = match mixed {
            true => Some(Remark::MixedIn(varies)),
            false => (!varies.is_empty()).then_some(Remark::VariesIn(varies)),
        };
        let half = |i: usize| (cells[i].as_ref(), grounds[i].as_ref());
        let compare = |i: usize| {
            let base = base.filter(|&base| base != i)?;
            let both = grounds[base].as_ref().zip(grounds[i].as_ref());
            let printed = both.and_then(|(old, new)| printed_against(old, new));
            assess(base, half(base), half(i), printed, cx).map(Box::new)
        };
        let assessments = (0..cells.len()).map(compare).collect();
        let row = Row::new(row.name, row.keys, cells);
        let doubts = pooled.map(|pooled| Box::new(Doubts { pooled: Some(pooled), serious: Vec::new() }));
        Draft { row, assessments, doubts, grounds }
    }

    /// Looks for what makes the values less trustworthy than they look.
    pub fn warn(&mut self, columns: &[Column], unit: &Unit, cx: &Context<'_>) {
        if cx.exact {
            return;
        }
        for (new, a) in self.grounds.iter().zip(&self.assessments) {
            let base = a.as_ref().and_then(|a| Some((a, self.grounds[a.base].as_ref()?)));
            if let (Some((a, base)), Some(new)) = (base, new) {
                let serious = warnings::serious(base, new, a, cx.plan);
                if !serious.is_empty() {
                    self.doubts.get_or_insert_default().serious.extend(serious);
                }
            }
        }
        if cx.plan.warnings {
            self.row.warn(warnings::of_row(&self.grounds, &self.assessments, columns, unit));
        }
    }

    /// Lets go of the values, but for those that charts or the row's story need.
    pub fn release(&mut self, cx: &Context<'_>) {
        if cx.plan.keep_samples {
            let samples = self.grounds.iter_mut().map(|grounds| {
                let samples = &mut grounds.as_mut()?.observations;
                if cx.explained { samples.clone() } else { samples.take() }
            });
            self.row.keep_samples(samples.collect());
        }
        if !cx.explained {
            self.grounds = Vec::new();
        }
    }

    /// Gives the verdicts, when the corrections are known.
    pub fn decide(&mut self, better: Option<Direction>, plan: &Plan) {
        for (i, a) in self.assessments.iter().enumerate() {
            if let Some(a) = a {
                self.row.compare(i, &a.decide(better, plan));
            }
        }
    }
}
