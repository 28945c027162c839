//! Units: what a metric is counted in, which way is better, and how a number of it is shown.
//!
//! A format's parser turns the unit it printed into a base [`Unit`] and a factor (`us/op` -> `sec/op`, 1e-6;
//! `MB/s` -> `B/sec`, 1e6 in Go and 2^20 in db_bench and JMH): **the format owns the factor**, there is no global
//! table of unit strings. This module owns the base spellings, their directions and classes, Go's token rule
//! ([`tidy`]) and the scaling of numbers for people ([`scale`]).

mod fixed;
pub mod scale;
pub mod show;
pub mod tidy;

pub use fixed::write_fixed;

use std::sync::Arc;

/// Index of a unit in a [`crate::model::SeriesSet`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnitId(pub u32);

/// Which way a metric improves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// Less is better (time, memory).
    Lower,
    /// More is better (rates).
    Higher,
}

/// What kind of quantity it is: decides the verdict words (`faster` or `better`) and prefixes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dim {
    /// Seconds per something: `faster` / `slower`.
    Time,
    /// Something per second: `faster` / `slower`.
    Rate,
    /// Anything else: `better` / `worse`.
    Other,
}

/// A unit as the model holds it: base spelling, no prefix.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Unit {
    /// Base spelling: `sec/op`, `op/sec`, `B/sec`, `allocs/op`; values of a series are in this unit.
    pub name: Arc<str>,
    /// As the input spelled it (`ns/op`); `.unit` filters match both.
    pub printed: Arc<str>,
    /// Which way is better, where the format or the name says so; `Unit ... better=` lines override it.
    pub better: Option<Direction>,
}

impl Unit {
    /// A unit with the built-in direction of its base name, see [`direction`].
    pub fn new(name: &str, printed: &str) -> Self {
        Unit { name: name.into(), printed: printed.into(), better: direction(name) }
    }

    /// The same with the direction that the format knows (`None`: neither way is better).
    #[must_use]
    pub fn with_better(mut self, better: Option<Direction>) -> Self {
        self.better = better;
        self
    }

    /// Kind of quantity, from the base name.
    pub fn dim(&self) -> Dim {
        dim(&self.name)
    }
}

/// Kind of quantity of a base unit name.
pub fn dim(name: &str) -> Dim {
    let (num, den) = name.split_once('/').map_or((name, ""), |(n, d)| (n, d));
    let last = num.rsplit(['-', '*', ' ']).next().unwrap_or(num);
    if last == "sec" {
        Dim::Time
    } else if den == "sec" || den == "s" {
        Dim::Rate
    } else {
        Dim::Other
    }
}

/// Built-in direction of a base unit name: time, bytes and allocations per operation lower, rates higher, else unknown.
pub fn direction(name: &str) -> Option<Direction> {
    match dim(name) {
        Dim::Time => Some(Direction::Lower),
        Dim::Rate => Some(Direction::Higher),
        Dim::Other => matches!(name, "B/op" | "allocs/op" | "B" | "bytes" | "bytes/op").then_some(Direction::Lower),
    }
}
