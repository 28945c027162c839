//! The finished tables of the drop-in mode: numbers and notes as benchstat gives them, before they are written.

use std::sync::Arc;

use crate::pivot::Keys;

/// A finished table.
#[derive(Debug)]
pub struct Table {
    /// Its key without the unit, empty values included.
    pub keys: Keys,
    /// As benchstat tidies it.
    pub unit: Arc<str>,
    /// Values of the column key's fields, per column.
    pub columns: Vec<Vec<String>>,
    /// In output order.
    pub rows: Vec<Row>,
    /// The last row, one per column.
    pub geomeans: Vec<Geomean>,
}

/// A row.
#[derive(Debug)]
pub struct Row {
    /// Its label.
    pub name: Arc<str>,
    /// One per column.
    pub cells: Vec<Option<Cell>>,
}

/// A summary and what became of it.
#[derive(Debug)]
pub struct Cell {
    /// Median, or mode of exact units.
    pub center: f64,
    /// How far its interval goes.
    pub range: Range,
    /// Remarks on the summary.
    pub notes: Vec<String>,
    /// Against the baseline, where the row has one.
    pub versus: Option<Versus>,
}

/// The larger half of an interval in percent of its center.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Range {
    /// Too few values.
    Infinite,
    /// The center and the bounds differ in sign.
    Unknown,
    /// In percent; negative where the center is.
    Percent(f64),
}

/// A change against the baseline.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Delta {
    /// `~`: not shown to differ.
    Noise,
    /// The centers are equal.
    Equal,
    /// The base is 0.
    Unknown,
    /// In percent.
    Percent(f64),
}

/// A comparison with the baseline.
#[derive(Debug)]
pub struct Versus {
    /// The change.
    pub delta: Delta,
    /// `None` for exact units, which are not tested.
    pub p: Option<f64>,
    /// Values of the baseline and of the cell.
    pub counts: (usize, usize),
    /// Remarks on the comparison.
    pub notes: Vec<String>,
}

/// Geometric mean of a column, and of its ratios to the baseline.
#[derive(Debug, Default)]
pub struct Geomean {
    /// Of all centers of the column; `None` where one is not above 0.
    pub center: Option<f64>,
    /// Change of the geometric mean of the ratios; `None` in the first column.
    pub delta: Option<Delta>,
    /// Remarks.
    pub notes: Vec<String>,
}
