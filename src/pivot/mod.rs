//! Which keys make tables, rows and columns: the filter and projection languages, sort orders, and the [`Grid`] they make of a series set.

mod axis;
pub mod filter;
mod grid;
#[cfg(test)]
mod grid_tests;
pub mod jmh;
pub mod keys;
pub mod labels;
mod lex;
pub mod pooling;
pub mod projection;
pub mod rename;
mod rows;
mod sheets;
mod stock;
#[cfg(test)]
pub mod testing;
mod unsplit;
mod varies;

pub use filter::{ByUnit, Decision, Filter, UnitView};
pub use grid::{Layout, Mode, layout};
pub use keys::{GoName, ResultKeys};
pub use lex::{Fault, SyntaxError};
pub use projection::{Field, Order, Projection};
pub use unsplit::is_date;

use std::sync::Arc;

use smallvec::SmallVec;

use crate::base::{Diagnostic, SourceId};
use crate::model::Series;
use crate::units::Unit;

/// A key and its value.
pub type Pair = (Arc<str>, Arc<str>);

/// Keys with their values, in order.
pub type Keys = Arc<[Pair]>;

/// Series laid out as tables of rows and columns. Nothing is computed yet, and series are moved into a table when it is asked for.
#[derive(Debug, Default)]
pub struct Grid {
    /// In output order, as laid out without their rows: see [`Grid::into_tables`] and [`Grid::filled`].
    pub tables: Vec<GridTable>,
    /// What was noticed while laying out (settings that differ between columns, unmatched names, residue).
    pub diagnostics: Vec<Diagnostic>,
    /// The series of tables that are not filled yet.
    stock: Option<Box<stock::Stock>>,
}

impl Grid {
    /// A grid of these tables, which have all their rows.
    pub fn new(tables: Vec<GridTable>) -> Self {
        Grid { tables, ..Grid::default() }
    }

    /// All tables with their rows.
    #[must_use]
    pub fn filled(mut self) -> Self {
        if let Some(mut stock) = self.stock.take() {
            self.tables.iter_mut().enumerate().for_each(|(i, table)| stock.fill(i, table));
        }
        self
    }

    /// The tables one after the other, each filled when it is asked for.
    pub fn into_tables(mut self) -> impl Iterator<Item = GridTable> {
        self.tables.into_iter().enumerate().map(move |(i, mut table)| {
            if let Some(stock) = &mut self.stock {
                stock.fill(i, &mut table);
            }
            table
        })
    }
}

/// One table: one table key and one unit.
#[derive(Debug)]
pub struct GridTable {
    /// The table key's fields, without the unit. A missing key is left out; in benchstat's mode it has the empty string.
    pub keys: Keys,
    /// Unit of all its values, directions and `assume=` of `Unit` lines applied.
    pub unit: Unit,
    /// `assume=exact` holds for this unit.
    pub exact: bool,
    /// In output order, at least one.
    pub columns: Vec<Column>,
    /// In output order, at least one; none before the table is filled.
    pub rows: Vec<GridRow>,
}

impl GridTable {
    /// The column called `text`: by label, else by place (from 0).
    pub fn column(&self, text: &str) -> Option<usize> {
        let by_label = self.columns.iter().position(|c| c.label == text);
        by_label.or_else(|| text.parse().ok().filter(|&i: &usize| i < self.columns.len()))
    }
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Non-empty values of the column key joined by one space.
    pub label: String,
    /// Fields of the column key, then settings that describe this column's inputs (constant in each input, differing between them).
    pub keys: Vec<Pair>,
    /// How many of `keys` are fields of the column key; the rest are describing settings.
    pub fields: usize,
}

/// A row of a table.
#[derive(Debug)]
pub struct GridRow {
    /// As its producer prints it, or the values of the `--row` keys joined by one space.
    pub name: Arc<str>,
    /// The result's own keys and parameters (`rows[].keys` of the JSON contract), as far as all pooled results share them; shared with the
    /// same row of other tables. Empty in benchstat's mode.
    pub keys: Keys,
    /// One per column; those of two columns need no room of their own, for there may be a million rows.
    pub cells: SmallVec<[Option<GridCell>; 2]>,
}

/// Where a row and a column meet.
#[derive(Debug)]
pub struct GridCell {
    /// The pooled series.
    pub series: Series,
    /// The input that all of it comes from; `None`: several.
    pub source: Option<SourceId>,
    /// Keys (residue) in which the pooled results differ, for `benchmarks vary in ...`.
    pub varies_in: Vec<String>,
}
