//! Outputs: one file per format behind [`Render`]. A renderer formats and lays out finished numbers; it computes none.

pub mod benchstat;
pub mod chart;
pub mod csv;
pub mod html;
pub mod json;
pub mod markdown;
mod order;
pub mod samples;
pub mod text;

#[cfg(test)]
mod anything;
#[cfg(test)]
mod fixture;

use std::io;

use crate::report::Report;

/// Writes a report in one format.
pub trait Render {
    /// Writes all of `report` to `out`.
    ///
    /// # Errors
    /// Whatever writing to `out` gives.
    fn render(&self, report: &Report, out: &mut dyn io::Write) -> io::Result<()>;
}
