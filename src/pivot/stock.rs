//! The series of a grid before they stand in cells. They are moved into a table when it is its turn, so that of a million rows only those
//! of one table are in cells, and the memory of a series goes to the rows that are made of it.

use std::sync::Arc;

use smallvec::SmallVec;

use super::axis::Axis;
use super::varies::Varies;
use super::{GridCell, GridRow, GridTable, Keys};
use crate::model::{Group, Groups};

/// No number.
pub(super) const NONE: u32 = u32::MAX;

/// What a table is filled from.
#[derive(Debug, Default)]
pub(super) struct Supply {
    /// Group and place in the group of each of its series, in order.
    pub series: Vec<(u32, u32)>,
    /// Numbers of its columns on their axis, in output order.
    pub columns: Vec<u32>,
}

/// Numbers on an axis.
#[derive(Debug)]
pub(super) struct Places {
    /// Per group.
    pub of_group: Vec<u32>,
    /// Per number its place in output order.
    pub rank: Vec<u32>,
    /// Per number its place in the table at hand, else [`NONE`].
    in_table: Vec<u32>,
}

impl Places {
    pub fn new(axis: Axis) -> Self {
        Places { in_table: vec![NONE; axis.rank.len()], of_group: axis.ids, rank: axis.rank }
    }
}

/// All series, by group.
#[derive(Debug)]
pub(super) struct Stock {
    /// Let go of when all of their series are moved.
    groups: Vec<Option<Box<Group>>>,
    /// Per group its series that are not moved yet.
    left: Vec<u32>,
    rows: Places,
    cols: Places,
    /// Per row number its name and keys.
    heads: Vec<(Arc<str>, Keys)>,
    varies: Varies,
    /// Per table.
    supplies: Vec<Supply>,
}

impl Stock {
    pub fn new(
        groups: Groups,
        rows: Places,
        cols: Places,
        heads: Vec<(Arc<str>, Keys)>,
        varies: Varies,
        supplies: Vec<Supply>,
    ) -> Self {
        let left = groups.iter().map(|g| g.series.len() as u32).collect();
        let groups = groups.into_iter().map(Some).collect();
        Stock { groups, left, rows, cols, heads, varies, supplies }
    }

    /// Moves the series of table `i` into `table`, which has its columns but no row.
    pub fn fill(&mut self, i: usize, table: &mut GridTable) {
        let Supply { series, columns } = self.supplies.get_mut(i).map(std::mem::take).unwrap_or_default();
        let mut rows: Vec<u32> = Vec::new();
        for &(g, _) in &series {
            let row = self.rows.of_group[g as usize];
            let place = &mut self.rows.in_table[row as usize];
            if *place == NONE {
                *place = 0;
                rows.push(row);
            }
        }
        rows.sort_unstable_by_key(|&r| self.rows.rank[r as usize]);
        for (place, &r) in rows.iter().enumerate() {
            self.rows.in_table[r as usize] = place as u32;
        }
        for (place, &c) in columns.iter().enumerate() {
            self.cols.in_table[c as usize] = place as u32;
        }
        table.rows = rows.iter().map(|&r| self.empty_row(r, columns.len())).collect();
        self.place(&series, table, columns.len());
        for &r in &rows {
            self.rows.in_table[r as usize] = NONE;
        }
        for &c in &columns {
            self.cols.in_table[c as usize] = NONE;
        }
        for &(g, _) in series.iter().filter(|(g, _)| self.left[*g as usize] == 0) {
            self.groups[g as usize] = None;
        }
    }

    fn empty_row(&self, row: u32, width: usize) -> GridRow {
        let (name, keys) = &self.heads[row as usize];
        let mut cells = SmallVec::with_capacity(width);
        cells.resize_with(width, || None);
        GridRow { name: name.clone(), keys: keys.clone(), cells }
    }

    fn place(&mut self, series: &[(u32, u32)], table: &mut GridTable, width: usize) {
        // The first group of every filled cell.
        let mut first = vec![NONE; table.rows.len() * width];
        let mut pooled = false;
        for &(g, s) in series {
            let (g, s) = (g as usize, s as usize);
            self.left[g] -= 1;
            let Some(group) = &mut self.groups[g] else { continue };
            let (series, source) = (std::mem::take(&mut group.series[s].1), group.source);
            let row = self.rows.in_table[self.rows.of_group[g] as usize] as usize;
            let col = self.cols.in_table[self.cols.of_group[g] as usize] as usize;
            let first = &mut first[row * width + col];
            match &mut table.rows[row].cells[col] {
                Some(cell) => {
                    pooled = true;
                    cell.series.merge(&series);
                    cell.source = cell.source.filter(|&s| s == source);
                    let first = *first as usize;
                    if let (Some(a), Some(b), true) = (&self.groups[first], &self.groups[g], first != g) {
                        self.varies.add(a, b, &mut cell.varies_in);
                    }
                }
                empty => {
                    *first = g as u32;
                    *empty = Some(GridCell { series, source: Some(source), varies_in: Vec::new() });
                }
            }
        }
        if pooled {
            let cells = table.rows.iter_mut().flat_map(|r| r.cells.iter_mut().flatten());
            cells.filter(|c| c.varies_in.len() > 1).for_each(|c| self.varies.sort(&mut c.varies_in));
        }
    }
}
