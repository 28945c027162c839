//! Which rows of a report a rule is about: the ordinary filter language over what a report keeps of a result.
//!
//! A row is found under the keys of its table, of itself and of the compared column; `.unit` is the table's unit in either
//! spelling, `.fullname` and a missing `.name` are the row's name.

use std::borrow::Cow;
use std::fmt;

use crate::model::{Key, KeyOf};
use crate::pivot::{Filter, SyntaxError};
use crate::report::{Row, Table};

/// A filter over the rows of a report.
#[derive(Clone, Debug)]
pub struct Selector(Filter);

impl Selector {
    /// Reads an expression of the filter language.
    ///
    /// # Errors
    /// All that is wrong with it.
    pub fn parse(text: &str) -> Result<Self, SyntaxError> {
        Ok(Selector(text.parse()?))
    }

    /// Whether `row` of `table`, compared in `column`, is meant.
    pub fn matches(&self, table: &Table, row: &Row, column: usize) -> bool {
        self.0.keeps(&Place { table, row, column }, &table.unit)
    }
}

impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// One row in one compared column.
struct Place<'a> {
    table: &'a Table,
    row: &'a Row,
    column: usize,
}

impl KeyOf for Place<'_> {
    fn value(&self, key: &Key) -> Cow<'_, str> {
        let name = key.to_string();
        let column = self.table.columns.get(self.column).map_or(&[][..], |c| &c.keys);
        for keys in [&self.row.keys[..], column, &self.table.keys] {
            if let Some((_, value)) = keys.iter().find(|(k, _)| **k == *name) {
                return Cow::Borrowed(value);
            }
        }
        match key {
            Key::Name | Key::FullName => Cow::Borrowed(&self.row.name),
            _ => Cow::Borrowed(""),
        }
    }
}
