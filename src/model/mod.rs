//! The one sample model all formats are read into.
//!
//! A [`Record`] borrows from the line it was read from and is what parsers push into a [`Sink`]; a [`SeriesSet`] owns what was
//! kept. [`Evidence`] keeps raw samples and printed summaries apart: nothing here turns a [`Summary`] into samples.

mod evidence;
pub mod jmh_names;
mod key;
mod record;
pub mod run;
mod series;
pub mod tidy;

pub use evidence::{Center, Evidence, Observations, PrintedComparison, Reading, Sample, Spread, Summary};
pub use key::{Key, Settings};
pub use record::{Record, Scheme, Sink};
pub use series::{Group, Groups, Input, KeyOf, Own, Series, SeriesSet, SettingsId, UnitAssumption};
