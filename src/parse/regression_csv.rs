//! `SUMMARY.csv` of RocksDB's `tools/regression_test.sh`.
//!
//! Commas and padding blanks; the header has `commit id`, `benchmark` and `ops-per-s`, one row a benchmark. The commit is the version,
//! percentiles are in nanoseconds, the last three columns are what `time` said of the whole process. Other columns are settings of the
//! run. The same keys as in `report.tsv` ([`super::report_tsv`]): `test version .row`.

use super::scan::{shown, span_in, whole_decimal};
use super::{Claim, Line, RecordParser};
use crate::base::Diagnostic;
use crate::model::{Reading, Record, Scheme, Settings, Sink};
use crate::units::{Unit, UnitId};

const NANO: f64 = 1e-9;
/// Most columns; the script prints 23.
const COLUMNS: usize = 200;

/// The parser.
#[derive(Default)]
pub struct RegressionCsv {
    columns: Vec<Column>,
    row: u32,
    settings: Settings,
}

enum Column {
    Test,
    Version,
    Setting(String),
    Metric(UnitId, f64),
}

impl RecordParser for RegressionCsv {
    fn line(&mut self, line: Line<'_>, out: &mut dyn Sink) -> Claim {
        let bytes = line.bytes.trim_ascii();
        if bytes.starts_with(b"commit id,") && memchr::memmem::find(bytes, b"ops-per-s").is_some() {
            let names = bytes.split(|&b| b == b',').take(COLUMNS);
            self.columns = names.map(|c| column(c.trim_ascii(), out)).collect();
            self.row = 0;
            return Claim::Mine;
        }
        if bytes.is_empty() {
            self.columns.clear();
        }
        if self.columns.is_empty() {
            return Claim::No;
        }
        let cells: Vec<&[u8]> = bytes.split(|&b| b == b',').take(COLUMNS + 1).map(<[u8]>::trim_ascii).collect();
        if cells.len() < 2 {
            self.columns.clear();
            return Claim::No;
        }
        self.row = self.row.saturating_add(1);
        if cells.len() != self.columns.len() {
            let message = format!("expected {} cells, found {}", self.columns.len(), cells.len());
            out.diagnose(
                Diagnostic::warning("bad-row", message)
                    .at(line.number, line.bytes, span_in(bytes, line.bytes))
                    .hint("row left out"),
            );
            return Claim::Mine;
        }
        let (mut test, mut version) = (Default::default(), Default::default());
        let mut readings = Vec::with_capacity(self.columns.len());
        for (column, cell) in self.columns.iter().zip(&cells) {
            match column {
                Column::Test => test = String::from_utf8_lossy(cell),
                Column::Version => version = String::from_utf8_lossy(cell),
                Column::Setting(key) => {
                    self.settings.set(key, &String::from_utf8_lossy(cell));
                }
                Column::Metric(unit, factor) => match whole_decimal(cell) {
                    Some(d) => readings.push((*unit, Reading::One { value: d.value * factor, weight: 1 })),
                    None if cell.is_empty() => {}
                    None => {
                        let message = format!("expected a number, found {}", shown(cell));
                        let span = span_in(cell, line.bytes);
                        out.diagnose(
                            Diagnostic::warning("bad-value", message)
                                .at(line.number, line.bytes, span)
                                .hint("value left out"),
                        );
                    }
                },
            }
        }
        let place = self.row.to_string();
        let keys = [("test", &*test), ("version", &*version), (".row", &*place)];
        let keys: Vec<_> = keys.into_iter().filter(|(_, v)| !v.is_empty()).collect();
        out.record(&Record {
            line: line.number,
            name: &test,
            scheme: Scheme::Plain,
            keys: &keys,
            settings: &self.settings,
            block: None,
            readings: &readings,
            column: None,
        });
        Claim::Mine
    }

    fn finish(&mut self, _out: &mut dyn Sink) {}
}

impl RegressionCsv {
    /// A parser for one input.
    pub fn new() -> Self {
        RegressionCsv::default()
    }
}

fn column(name: &[u8], out: &mut dyn Sink) -> Column {
    let name = String::from_utf8_lossy(name);
    let percentile = name.strip_prefix('p').is_some_and(|p| whole_decimal(p.as_bytes()).is_some());
    match &*name {
        "benchmark" => Column::Test,
        "commit id" => Column::Version,
        "ops-per-s" => Column::Metric(out.unit(&Unit::new("op/sec", "ops-per-s")), 1.0),
        "user@host" => Column::Setting("host".into()),
        "real-sec" | "user-sec" | "sys-sec" => Column::Metric(out.unit(&Unit::new(&name, &name)), 1.0),
        _ if percentile => Column::Metric(out.unit(&Unit::new(&format!("{name}-sec/op"), &name)), NANO),
        _ => Column::Setting(name.replace('-', "_")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::testing::read;
    use proptest::prelude::*;

    fn file(text: &[u8]) -> crate::parse::testing::Recorded {
        read(Box::new(RegressionCsv::new()), text)
    }

    #[test]
    fn rows_of_the_summary() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/db_bench/reports/");
        let got = file(&std::fs::read(format!("{path}r13-regression-summary.csv")).unwrap());
        let table = std::fs::read_to_string(format!("{path}expected-tables.tsv")).unwrap();
        let want: Vec<Vec<_>> =
            table.lines().filter(|l| l.starts_with("r13")).map(|l| l.split('\t').collect()).collect();
        assert_eq!(want.len(), 2);
        for w in &want {
            let of = |unit: &str| {
                let found: Vec<_> =
                    got.kept.iter().filter(|k| k.key(".row") == Some(w[2]) && &*k.unit.name == unit).collect();
                assert_eq!(found.len(), 1, "{unit}");
                assert_eq!((found[0].name.as_str(), found[0].key("test")), (w[3], Some(w[3])));
                assert!(found[0].key("version").unwrap().starts_with(w[4]));
                found[0].value().unwrap()
            };
            assert_eq!(of("op/sec"), w[5].parse::<f64>().unwrap());
            assert!((of("p50-sec/op") / w[8].parse::<f64>().unwrap() - 1e-6).abs() < 1e-15);
            assert!((of("p99-sec/op") / w[9].parse::<f64>().unwrap() - 1e-6).abs() < 1e-15);
        }
        let settings = &got.kept[0].settings;
        assert!(settings.contains(&("num_threads".into(), "16".into())), "{settings:?}");
        assert!(settings.contains(&("host".into(), "root@localhost".into())), "{settings:?}");
    }

    #[test]
    fn rows_that_are_broken_are_told() {
        let got =
            file(b"commit id, benchmark, ops-per-s, p50\nabc, read, x, 5\nabc, read, 7\n\nabc, read, 9, 1\ntext\n");
        assert_eq!(got.diagnostics.iter().map(|d| d.code).collect::<Vec<_>>(), ["bad-value", "bad-row"]);
        assert_eq!(got.kept.len(), 1);
    }

    proptest! {
        #[test]
        fn any_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            file(&[b"commit id, benchmark, ops-per-s, p50\n", &bytes[..]].concat());
            file(&bytes);
        }
    }
}
