//! Whether rows of a version series that share their keys may be pooled.
//!
//! Equal test and version do not prove equal setup: a file may hold one version measured with two block caches, and no column says so.
//! So rows are pooled only if in **every** test of that version the largest value is at most [`LIMIT`] times the smallest; otherwise
//! they stay apart, and the user is told which test spoke against it.

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
