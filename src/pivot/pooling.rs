//! Whether rows of a version series that share their keys may be pooled.
//!
//! Equal test and version do not prove equal setup: a file may hold one version measured with two block caches, and no column says so.
//! So rows are pooled only if in **every** test of that version the largest value is at most [`LIMIT`] times the smallest; otherwise
//! they stay apart, and the user is told which test spoke against it.

use hashbrown::HashMap;

use crate::base::{Diagnostic, SourceId};
use crate::model::{Evidence, Key, SeriesSet};

/// Default of the largest ratio between values that are pooled.
pub const LIMIT: f64 = 1.25;

/// The rows of one test and version.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rows<'a> {
    /// Name of the test.
    pub test: &'a str,
    /// One rate per row, in the order of the input.
    pub values: &'a [f64],
    /// Date of each row, where the input has dates.
    pub dates: &'a [Option<&'a str>],
}

/// What to do with the rows of a version.
#[derive(Clone, Debug, PartialEq)]
pub enum Pooling {
    /// No test has more than one row.
    Single,
    /// The rows of each test are samples of one cell.
    Pool,
    /// The k-th row of each test is the k-th column (`#2`, `#3`, ...).
    Separate(Conflict),
}

/// The test whose rows lie furthest apart, for the warning that a column may mix setups.
#[derive(Clone, Debug, PartialEq)]
pub struct Conflict {
    /// Name of the test.
    pub test: String,
    /// Its values, in the order of the input.
    pub values: Vec<f64>,
    /// Dates of those values, as far as known.
    pub dates: Vec<Option<String>>,
    /// Largest over smallest value; infinite where one is 0 or below.
    pub ratio: f64,
}

/// Decides for the rows of one version, given all its tests. `limit` is at least 1.
pub fn decide(tests: &[Rows<'_>], limit: f64) -> Pooling {
    let worst = tests.iter().filter(|t| t.values.len() > 1).max_by(|a, b| ratio(a.values).total_cmp(&ratio(b.values)));
    match worst {
        None => Pooling::Single,
        Some(t) if ratio(t.values) <= limit => Pooling::Pool,
        Some(t) => Pooling::Separate(Conflict {
            test: t.test.to_owned(),
            values: t.values.to_vec(),
            dates: t.dates.iter().map(|d| d.map(str::to_owned)).collect(),
            ratio: ratio(t.values),
        }),
    }
}

/// Largest over smallest value, at least 1; infinite where values of 0 or below stand beside others.
fn ratio(values: &[f64]) -> f64 {
    let (low, high) = values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), &v| (l.min(v), h.max(v)));
    if low == high || values.is_empty() {
        1.0
    } else if low > 0.0 {
        high / low
    } else {
        f64::INFINITY
    }
}

/// Tests of a version with the groups of their rows.
type Tests<'a> = Vec<(&'a str, Vec<usize>)>;

/// Per group of `set` the number of its copy (0: the first, or pooled), and a warning per version whose rows stay apart. Empty when all
/// may be pooled. `named` are the keys that make tables, rows and columns: where `.row` or `date` is among them, nothing falls together.
pub fn copies(set: &SeriesSet, named: &[Key], limit: f64) -> (Vec<u32>, Vec<Diagnostic>) {
    if named.iter().any(|k| matches!(k, Key::Plain(k) if &**k == ".row" || &**k == "date")) {
        return (Vec::new(), Vec::new());
    }
    // Versions in order of first sight, their tests likewise.
    let mut versions: Vec<(SourceId, &str, Tests<'_>)> = Vec::new();
    let mut at: HashMap<(SourceId, &str), usize> = HashMap::new();
    let mut test_at: HashMap<(usize, &str), usize> = HashMap::new();
    for (i, g) in set.groups.iter().enumerate() {
        let (Some(test), Some(_)) = (g.key("test"), g.key(".row")) else { continue };
        let version = g.key("version").unwrap_or("");
        let k = *at.entry((g.source, version)).or_insert_with(|| {
            versions.push((g.source, version, Vec::new()));
            versions.len() - 1
        });
        let tests = &mut versions[k].2;
        let t = *test_at.entry((k, test)).or_insert_with(|| {
            tests.push((test, Vec::new()));
            tests.len() - 1
        });
        tests[t].1.push(i);
    }
    let mut copies = Vec::new();
    let mut warnings = Vec::new();
    for (source, version, tests) in &versions {
        let rates: Vec<(Vec<f64>, Vec<Option<&str>>)> = tests
            .iter()
            .map(|(_, rows)| {
                let known = rows.iter().filter_map(|&i| Some((rate(set, i)?, set.groups[i].key("date"))));
                known.unzip()
            })
            .collect();
        let rows: Vec<Rows<'_>> =
            tests.iter().zip(&rates).map(|((test, _), (values, dates))| Rows { test, values, dates }).collect();
        let Pooling::Separate(conflict) = decide(&rows, limit) else { continue };
        copies.resize(set.groups.len(), 0);
        for (_, rows) in tests {
            for (copy, &i) in rows.iter().enumerate() {
                copies[i] = u32::try_from(copy).unwrap_or(u32::MAX);
            }
        }
        warnings.push(conflict.warning(version).in_source(*source));
    }
    (copies, warnings)
}

/// The rate of a report's row.
fn rate(set: &SeriesSet, group: usize) -> Option<f64> {
    let series = set.groups[group].series.iter().find(|(u, _)| &*set.units[u.0 as usize].name == "op/sec")?;
    match &series.1.evidence {
        Evidence::Raw(o) => o.values.first().copied(),
        Evidence::Summary(s) => Some(s.value),
        Evidence::Mixed => None,
    }
}

impl Conflict {
    fn warning(&self, version: &str) -> Diagnostic {
        let values: Vec<String> = self.values.iter().map(f64::to_string).collect();
        let dates: Vec<&str> = self.dates.iter().flatten().map(String::as_str).collect();
        let dates = if dates.is_empty() { String::new() } else { format!(" of {}", dates.join(" and ")) };
        Diagnostic::warning(
            "rows-not-pooled",
            format!(
                "version {version} has several rows per test that differ too much to be repeats ({}: {}{dates}); they are columns of \
                 their own, and one column may mix setups",
                self.test,
                values.join(" and ")
            ),
        )
        .hint("give inputs or rows labels, choose with --col version,date or --filter, or pool them all with --pool")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows<'a>(test: &'a str, values: &'a [f64]) -> Rows<'a> {
        Rows { test, values, dates: &[] }
    }

    #[test]
    fn one_test_that_differs_keeps_all_rows_apart() {
        // Two block caches under one version: the load does not show it, the reads do.
        let load = rows("fillseq", &[1_179_264.0, 1_122_634.0]);
        let dates = [Some("2025-04-13"), Some("2025-04-18")];
        let reads = Rows { test: "readwhilewriting.t24", values: &[1_770_594.0, 3_101_949.0], dates: &dates };
        assert_eq!(decide(&[load], LIMIT), Pooling::Pool);
        match decide(&[load, reads], LIMIT) {
            Pooling::Separate(c) => {
                assert_eq!((c.test.as_str(), &c.values[..]), ("readwhilewriting.t24", reads.values));
                assert_eq!(c.dates[1].as_deref(), Some("2025-04-18"));
                assert!((c.ratio - 1.751_925_8).abs() < 1e-6, "{}", c.ratio);
            }
            other => panic!("{other:?}"),
        }
        assert_eq!(decide(&[load, reads], 2.0), Pooling::Pool);
    }

    #[test]
    fn limits() {
        assert_eq!(decide(&[], LIMIT), Pooling::Single);
        assert_eq!(decide(&[rows("a", &[5.0]), rows("b", &[])], LIMIT), Pooling::Single);
        assert_eq!(decide(&[rows("a", &[4.0, 5.0])], LIMIT), Pooling::Pool);
        assert!(matches!(decide(&[rows("a", &[4.0, 5.001])], LIMIT), Pooling::Separate(_)));
        assert_eq!(decide(&[rows("a", &[0.0, 0.0])], LIMIT), Pooling::Pool);
        assert!(
            matches!(decide(&[rows("a", &[0.0, 5.0])], LIMIT), Pooling::Separate(Conflict { ratio, .. }) if ratio.is_infinite())
        );
    }
}
