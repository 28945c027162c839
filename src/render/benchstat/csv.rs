//! benchstat's CSV: records as ragged as its own, and warnings that name a spreadsheet cell.

use super::{comparison, delta, range};
use crate::report::benchstat::Table;
use crate::units::scale::shortest;

/// Records, and warnings for stderr.
#[derive(Debug, Default)]
struct Records {
    out: String,
    count: usize,
    warnings: String,
}

/// All tables as CSV, and the warnings about them, one a line: `F7: all samples are equal`.
pub fn csv(tables: &[Table]) -> (String, String) {
    let mut records = Records::default();
    let mut before: Option<&Table> = None;
    for table in tables {
        if before.is_some() {
            records.write(&[]);
        }
        for (i, (key, value)) in table.keys.iter().enumerate() {
            if before.is_none_or(|b| b.keys.get(i).is_none_or(|(_, v)| v != value)) {
                records.write(&[format!("{key}: {value}")]);
            }
        }
        records.table(table);
        before = Some(table);
    }
    (records.out, records.warnings)
}

/// Field of the centre of column `i`.
fn start(i: usize) -> usize {
    if i == 0 { 1 } else { 3 + (i - 1) * 4 }
}

impl Records {
    fn table(&mut self, table: &Table) {
        let n = table.columns.len();
        for level in 0..table.columns.first().map_or(0, Vec::len) {
            let mut record = Record::default();
            for (i, column) in table.columns.iter().enumerate() {
                record.put(start(i), column[level].clone());
            }
            record.put(start(n) - 1, String::new());
            self.write(&record.0);
        }
        let mut record = Record::default();
        for i in 0..n {
            record.put(start(i), table.unit.to_string());
            record.put(start(i) + 1, "CI".to_owned());
            if i > 0 {
                record.put(start(i) + 2, "vs base".to_owned());
                record.put(start(i) + 3, "P".to_owned());
            }
        }
        self.write(&record.0);
        for row in &table.rows {
            let mut record = Record(vec![row.name.to_string()]);
            for (at, cell) in row.cells.iter().enumerate().filter_map(|(i, c)| Some((start(i), c.as_ref()?))) {
                record.put(at, shortest(cell.center));
                record.put(at + 1, range(cell.range));
                self.warn(at, &cell.notes);
                if let Some(versus) = &cell.versus {
                    record.put(at + 2, delta(versus.delta));
                    record.put(at + 3, comparison(versus));
                    self.warn(at + 2, &versus.notes);
                }
            }
            self.write(&record.0);
        }
        let mut record = Record(vec!["geomean".to_owned()]);
        for (i, geomean) in table.geomeans.iter().enumerate() {
            record.put(start(i), geomean.center.map_or_else(String::new, shortest));
            if let Some(change) = geomean.delta {
                record.put(start(i) + 2, delta(change));
            }
            record.put(start(i + 1) - 1, String::new());
            self.warn(start(i), &geomean.notes);
        }
        self.write(&record.0);
    }

    /// Warnings about a field of the record to be written next.
    fn warn(&mut self, field: usize, notes: &[String]) {
        for note in notes {
            self.warnings.push_str(&format!("{}{}: {note}\n", letters(field), self.count + 1));
        }
    }

    fn write(&mut self, fields: &[String]) {
        for (i, field) in fields.iter().enumerate() {
            if i > 0 {
                self.out.push(',');
            }
            if needs_quotes(field) {
                self.out.push('"');
                self.out.push_str(&field.replace('"', "\"\""));
                self.out.push('"');
            } else {
                self.out.push_str(field);
            }
        }
        self.out.push('\n');
        self.count += 1;
    }
}

#[derive(Default)]
struct Record(Vec<String>);

impl Record {
    /// Puts `field` at place `at`, empty fields before it where there are none.
    fn put(&mut self, at: usize, field: String) {
        self.0.resize(at.max(self.0.len()), String::new());
        self.0.push(field);
    }
}

/// As Go's encoding/csv decides.
fn needs_quotes(field: &str) -> bool {
    field == "\\." || field.contains([',', '"', '\r', '\n']) || field.starts_with(char::is_whitespace)
}

/// Column letters in base 26 with A = 0, so that 26 is `BA`: benchstat's way, a spreadsheet says AA.
fn letters(mut field: usize) -> String {
    let mut out = Vec::new();
    loop {
        out.push(b'A' + (field % 26) as u8);
        field /= 26;
        if field == 0 {
            break;
        }
    }
    out.iter().rev().map(|&b| char::from(b)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_quoted_and_named_as_go_does() {
        for (field, want) in [("a b", false), (" a", true), ("a,b", true), ("a\"", true), ("\\.", true), ("", false)] {
            assert_eq!(needs_quotes(field), want, "{field}");
        }
        for (field, want) in [(0, "A"), (25, "Z"), (26, "BA"), (52, "CA"), (676, "BAA")] {
            assert_eq!(letters(field), want);
        }
    }
}
