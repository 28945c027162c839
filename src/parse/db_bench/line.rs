//! Grammar of db_bench's result and summary lines. Pure functions on one line; no state, no allocation.
//!
//! ```text
//! NAME [blanks] ":" MICROS "micros/op" [ OPS "ops/sec" [ SECS "seconds" N "operations" ] ] [";"] [ MB "MB/s" ] [ MESSAGE ]
//! NAME "[AVG"    N "runs] :" OPS ["(±" H ")"] "ops/sec" [; MS "ms/op"] [; MB ["(±" H ")"] "MB/sec"]
//! NAME "[CI95"   N "runs] :" "(" LO "," HI ")" "ops/sec" [; "(" LO "," HI ")" "MB/sec"]
//! NAME "[MEDIAN" N "runs] :" OPS "ops/sec" [; MB "MB/sec"]
//! NAME ":" "skipped (" REASON ")"
//! ```

use std::sync::LazyLock;

use memchr::memmem::Finder;

use crate::parse::lex::plain_decimal;
use crate::parse::scan::{Decimal, decimal, integer, is_blank, is_not_finite, whole_decimal, word};

static MICROS: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("micros/op"));
static RATE: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("MB/s"));
static FAILURE: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("failure)"));
static UNSUPPORTED: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("not supported)"));
static RUNS: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("runs]"));

/// How far before `micros/op` its name is looked for.
const NEAR: usize = 1024;

/// A result line, numbers as printed.
#[derive(Clone, Debug, PartialEq)]
pub struct ResultLine<'a> {
    /// Benchmark name, emphasis marks of a paste removed.
    pub name: &'a [u8],
    /// Microseconds per operation.
    pub micros: f64,
    /// Operations per second, cut to an integer by db_bench.
    pub ops: Option<f64>,
    /// Elapsed seconds, three decimals (7.3 and later).
    pub seconds: Option<f64>,
    /// Operations done (7.3 and later).
    pub operations: Option<f64>,
    /// MiB per second.
    pub mb: Option<f64>,
    /// What follows, such as `(5 of 10 found)`; from one thread only.
    pub message: &'a [u8],
}

/// What a result line turned out to be.
#[derive(Clone, Debug, PartialEq)]
pub enum Parsed<'a> {
    /// A result.
    Result(ResultLine<'a>),
    /// It has the shape of a result, but `word` is not a number that can be used; `expected` says what belongs there.
    Bad { name: &'a [u8], word: &'a [u8], expected: &'static str },
}

impl ResultLine<'_> {
    /// Operations per second: `N / SECS` where the printed OPS has lost its digits; `None` for a run of one operation, which has
    /// a duration but no rate.
    pub fn rate(&self) -> Option<f64> {
        let ops = self.ops?;
        if self.operations == Some(1.0) || (self.operations.is_none() && is_single_shot(self.name)) {
            return None;
        }
        match (self.seconds, self.operations) {
            (Some(seconds), Some(n)) if ops < 1000.0 && seconds >= 1.0 => Some(n / seconds),
            _ => Some(ops),
        }
    }

    /// `F` and `M` of `(F of M found`.
    pub fn found(&self) -> Option<(u64, u64)> {
        let (_, rest) = split_once(self.message, b'(')?;
        let (found, rest) = word(rest);
        let (of, rest) = word(rest);
        let (total, rest) = word(rest);
        let (last, _) = word(rest);
        let hit = of == b"of" && last.starts_with(b"found");
        hit.then(|| Some((integer(found)?, integer(total)?))).flatten()
    }

    /// The message says that the benchmark did not do its work, so its numbers mean nothing.
    pub fn is_failure(&self) -> bool {
        !self.message.is_empty() && (FAILURE.find(self.message).is_some() || UNSUPPORTED.find(self.message).is_some())
    }
}

/// Benchmarks that do one thing per run; in output before 7.3 the operation count is not printed.
fn is_single_shot(name: &[u8]) -> bool {
    let names: [&[u8]; 7] =
        [b"compact", b"compactall", b"compact0", b"compact1", b"flush", b"waitforcompaction", b"openandcompact"];
    names.contains(&name)
}

/// Byte offsets just before each `micros/op` of a line; usually none or one, more where a paste has joined lines.
pub fn micros(line: &[u8]) -> impl Iterator<Item = usize> + '_ {
    MICROS.find_iter(line)
}

/// Where the name of the result whose `micros/op` stands at `at` begins, if `NAME : NUMBER` stands before it.
pub fn name_start(line: &[u8], at: usize) -> Option<usize> {
    // Names and numbers are short; a line without blanks may be long.
    let from = at.saturating_sub(NEAR);
    let near = line.get(from..)?;
    let number = number_start(near, at - from)?;
    let before = trim_end(near.get(..number)?);
    let name = trim_end(before.strip_suffix(b":")?);
    (!name.is_empty()).then(|| from + last_word(name))
}

/// Where the word before `at` begins.
fn number_start(line: &[u8], at: usize) -> Option<usize> {
    let head = trim_end(line.get(..at)?);
    let start = head.iter().rposition(|&b| is_blank(b) || b == b':').map_or(0, |i| i + 1);
    (start < head.len()).then_some(start)
}

/// One result: `line` begins with its name, `at` is the offset of its `micros/op`. `None` when it is no result after all.
pub fn result(line: &[u8], at: usize) -> Option<Parsed<'_>> {
    let start = number_start(line, at)?;
    let name = bare_name(trim_end(trim_end(line.get(..start)?).strip_suffix(b":")?));
    if name.is_empty() {
        return None;
    }
    let printed = trim_end(line.get(start..at)?);
    let micros = match number(name, printed, "microseconds per operation") {
        Ok(micros) => micros,
        Err(_) if !printed.iter().any(u8::is_ascii_digit) && !is_not_finite(printed) => return None,
        Err(bad) => return Some(bad),
    };
    let mut rest = line.get(at + b"micros/op".len()..).unwrap_or_default();
    let mut result = ResultLine { name, micros, ops: None, seconds: None, operations: None, mb: None, message: b"" };
    let (ops, after) = word(rest);
    let (label, after) = word(after);
    if let Some(tail) = label.strip_prefix(b"ops/sec") {
        match number(name, ops, "operations per second") {
            Ok(n) => result.ops = Some(n),
            Err(bad) => return Some(bad),
        }
        rest = if tail.is_empty() { after } else { from(line, tail) };
        let (seconds, after) = word(rest);
        let (unit, after) = word(after);
        if unit == b"seconds" {
            let (n, after) = word(after);
            let (unit, _) = word(after);
            match (number(name, seconds, "elapsed seconds"), number(name, n, "number of operations")) {
                (Ok(s), Ok(n)) => (result.seconds, result.operations) = (Some(s), Some(n)),
                (Err(bad), _) | (_, Err(bad)) => return Some(bad),
            }
            rest = unit.strip_prefix(b"operations").map_or(after, |tail| from(line, tail));
        }
    }
    let rest = rest.trim_ascii();
    let rest = rest.strip_prefix(b";").unwrap_or(rest).trim_ascii();
    result.message = rest;
    if let Some(unit) = RATE.find(rest) {
        let head = trim_end(rest.get(..unit)?);
        let at = last_word(head);
        let printed = head.get(at..)?;
        match number(name, printed, "megabytes per second") {
            Ok(mb) => result.mb = Some(mb),
            Err(bad) => return Some(bad),
        }
        // The message follows the rate; one old variant prints it before.
        let after = rest.get(unit + b"MB/s".len()..)?.trim_ascii();
        result.message = if after.is_empty() { trim_end(head.get(..at)?) } else { after };
    }
    Some(Parsed::Result(result))
}

/// A finite number >= 0; `inf`, `nan` and negative numbers come of an elapsed time of zero.
fn number<'a>(name: &'a [u8], word: &'a [u8], expected: &'static str) -> Result<f64, Parsed<'a>> {
    if let Some(plain) = plain_decimal(word) {
        return Ok(plain);
    }
    match whole_decimal(word) {
        Some(d) if d.value >= 0.0 && !word.starts_with(b"-") => Ok(d.value),
        _ => Err(Parsed::Bad { name, word, expected }),
    }
}

/// `NAME : skipped (REASON)`: name and reason.
pub fn skipped(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let (name, rest) = split_once(line, b':')?;
    let reason = rest.trim_ascii().strip_prefix(b"skipped")?.trim_ascii();
    let name = name.trim_ascii();
    let one_word = !name.is_empty() && !name.iter().any(|&b| is_blank(b));
    one_word.then(|| (bare_name(name), reason.strip_prefix(b"(").and_then(|r| r.strip_suffix(b")")).unwrap_or(reason)))
}

/// Which statistic a summary line prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Mean of the runs so far, with the half width of its normal 95 % interval since 7.3.
    Average,
    /// Median of the runs.
    Median,
    /// Bounds of the normal 95 % interval of the mean.
    Interval,
}

/// One number of a summary line with what is printed beside it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stated {
    /// Mean, median, or the middle of the interval.
    pub value: Decimal,
    /// Half width of the normal 95 % interval.
    pub half: Option<Decimal>,
}

/// A summary line; values are cut, not rounded, by db_bench.
#[derive(Clone, Debug, PartialEq)]
pub struct SummaryLine<'a> {
    /// Benchmark name.
    pub name: &'a [u8],
    /// Which statistic.
    pub kind: Kind,
    /// Runs behind it.
    pub runs: u64,
    /// `[AVG    5 runs]` with four blanks: printed once after the last run.
    pub last: bool,
    /// Operations per second.
    pub ops: Stated,
    /// MiB per second, where every run had bytes.
    pub mb: Option<Stated>,
}

/// Reads a summary line.
pub fn summary(line: &[u8]) -> Option<SummaryLine<'_>> {
    let at = RUNS.find(line)?;
    let open = memchr::memrchr(b'[', line.get(..at)?)?;
    let name = trim_end(line.get(..open)?);
    let name = bare_name(name.get(last_word(name)..)?);
    let (kind, rest) = word(line.get(open + 1..at)?);
    let blanks = rest.iter().take_while(|&&b| is_blank(b)).count();
    let runs = integer(rest.trim_ascii())?;
    let body = line.get(at + b"runs]".len()..)?.trim_ascii().strip_prefix(b":")?;
    let kind = match kind {
        b"AVG" => Kind::Average,
        b"MEDIAN" => Kind::Median,
        b"CI95" => Kind::Interval,
        _ => return None,
    };
    let mut ops = None;
    let mut mb = None;
    for part in body.split(|&b| b == b';') {
        let part = part.trim_ascii();
        if let Some(text) = part.strip_suffix(b"ops/sec") {
            ops = stated(kind, text);
        } else if let Some(text) = part.strip_suffix(b"MB/sec") {
            mb = stated(kind, text);
        }
    }
    (!name.is_empty() && runs > 0).then_some(SummaryLine { name, kind, runs, last: blanks > 1, ops: ops?, mb })
}

fn stated(kind: Kind, text: &[u8]) -> Option<Stated> {
    let text = text.trim_ascii();
    if kind == Kind::Interval {
        let (lo, hi) = split_once(text.strip_prefix(b"(")?.strip_suffix(b")")?, b',')?;
        let (lo, hi) = (whole_decimal(lo.trim_ascii())?, whole_decimal(hi.trim_ascii())?);
        let middle = |value| Decimal { value, resolution: lo.resolution };
        return Some(Stated {
            value: middle(f64::midpoint(lo.value, hi.value)),
            half: Some(middle((hi.value - lo.value) / 2.0)),
        });
    }
    let (value, used) = decimal(text)?;
    let rest = text.get(used..)?.trim_ascii();
    if rest.is_empty() {
        return Some(Stated { value, half: None });
    }
    // The sign is ±, in whatever encoding a paste has left it, or +/-.
    let rest = rest.strip_prefix(b"(")?.strip_suffix(b")")?;
    let digits = rest.iter().position(|b| b.is_ascii_digit())?;
    Some(Stated { value, half: Some(whole_decimal(rest.get(digits..)?.trim_ascii())?) })
}

/// A name without the emphasis marks, quotes and table bars that a paste may put around it.
fn bare_name(name: &[u8]) -> &[u8] {
    let name = name.get(last_word(name)..).unwrap_or_default();
    let is_mark = |b: &u8| matches!(b, b'*' | b'_' | b'`' | b'>' | b'|' | b'"');
    let start = name.iter().position(|b| !is_mark(b)).unwrap_or(name.len());
    let end = name.iter().rposition(|b| !is_mark(b)).map_or(start, |i| i + 1);
    name.get(start..end).unwrap_or_default()
}

fn trim_end(bytes: &[u8]) -> &[u8] {
    bytes.trim_ascii_end()
}

/// Offset of the last word of `bytes`, which has no blanks at its end.
fn last_word(bytes: &[u8]) -> usize {
    bytes.iter().rposition(|&b| is_blank(b)).map_or(0, |i| i + 1)
}

/// The rest of `line` from its subslice `tail` on.
fn from<'a>(line: &'a [u8], tail: &[u8]) -> &'a [u8] {
    line.get(crate::parse::scan::span_in(tail, line).start..).unwrap_or_default()
}

fn split_once(bytes: &[u8], at: u8) -> Option<(&[u8], &[u8])> {
    let i = memchr::memchr(at, bytes)?;
    Some((bytes.get(..i)?, bytes.get(i + 1..)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(line: &str) -> Option<Parsed<'_>> {
        let at = micros(line.as_bytes()).next()?;
        let start = name_start(line.as_bytes(), at)?;
        result(&line.as_bytes()[start..], at - start)
    }

    #[test]
    fn result_lines_of_every_era() {
        type Row<'a> = (&'a str, &'a str, f64, Option<f64>, Option<f64>, Option<f64>, Option<f64>, &'a str);
        let rows: &[Row<'_>] = &[
            ("fillseq      :       1.765 micros/op;   62.7 MB/s", "fillseq", 1.765, None, None, None, Some(62.7), ""),
            (
                "readrandom   :      12.220 micros/op 81829 ops/sec;   22.3 MB/s (9 of 10 found)",
                "readrandom",
                12.22,
                Some(81829.0),
                None,
                None,
                Some(22.3),
                "(9 of 10 found)",
            ),
            (
                "overwrite    :      15.480 micros/op 64597 ops/sec 1.548 seconds 100000 operations;   25.9 MB/s",
                "overwrite",
                15.48,
                Some(64597.0),
                Some(1.548),
                Some(1e5),
                Some(25.9),
                "",
            ),
            (
                "newiterator  :       0.906 micros/op 1103740 ops/sec 0.091 seconds 100000 operations;",
                "newiterator",
                0.906,
                Some(1103740.0),
                Some(0.091),
                Some(1e5),
                None,
                "",
            ),
            (
                "readrandomwriterandom :       9.956 micros/op 198695 ops/sec 0.604 seconds 120000 operations; ( reads:54000)",
                "readrandomwriterandom",
                9.956,
                Some(198695.0),
                Some(0.604),
                Some(120000.0),
                None,
                "( reads:54000)",
            ),
            (
                "fillsync:   70112.338 micros/op;    0.0 MB/s (1000 ops)",
                "fillsync",
                70112.338,
                None,
                None,
                None,
                Some(0.0),
                "(1000 ops)",
            ),
            (
                "fillsync : 51.2 micros/op; (100 ops) 0.4 MB/s",
                "fillsync",
                51.2,
                None,
                None,
                None,
                Some(0.4),
                "(100 ops)",
            ),
            ("| **fill_seq** : 1.70000 micros/op 5 ops/sec", "fill_seq", 1.7, Some(5.0), None, None, None, ""),
            ("# readrandom:12.3 micros/op 81000 ops/sec", "readrandom", 12.3, Some(81000.0), None, None, None, ""),
        ];
        for &(line, name, us, ops, secs, n, mb, message) in rows {
            let want = ResultLine {
                name: name.as_bytes(),
                micros: us,
                ops,
                seconds: secs,
                operations: n,
                mb,
                message: message.as_bytes(),
            };
            assert_eq!(one(line), Some(Parsed::Result(want)), "{line}");
        }
    }

    #[test]
    fn numbers_of_a_zero_elapsed_time_are_refused() {
        for (line, bad) in [
            ("a : inf micros/op 1 ops/sec;", "inf"),
            ("a : -nan micros/op;", "-nan"),
            ("a : 0.000 micros/op inf ops/sec;", "inf"),
            ("a : 0.000 micros/op -9223372036854775808 ops/sec;", "-9223372036854775808"),
            ("a : 1.2.3 micros/op 5 ops/sec;", "1.2.3"),
            ("a : 1.2 micros/op 5 ops/sec -0.1 seconds 5 operations;", "-0.1"),
            ("a : 1.2 micros/op 5 ops/sec; nan MB/s", "nan"),
        ] {
            match one(line) {
                Some(Parsed::Bad { word, .. }) => assert_eq!(word, bad.as_bytes(), "{line}"),
                other => panic!("{line}: {other:?}"),
            }
        }
    }

    #[test]
    fn prose_and_statistics_are_not_results() {
        for line in [
            "latency fell from 10.7 micros/op to 9 micros/op",
            "the unit: some micros/op",
            ": 10.7 micros/op",
            "rocksdb.db.get.micros P50 : 7.68 P95 : 19.5 P99 : 31.7 P100 : 16114.0 COUNT : 100000 SUM : 1792964",
        ] {
            assert_eq!(one(line), None, "{line}");
        }
    }

    #[test]
    fn rates_keep_their_digits() {
        let rate = |line| match one(line) {
            Some(Parsed::Result(r)) => r.rate(),
            other => panic!("{other:?}"),
        };
        let v2 = "fillsync : 3798.761 micros/op 263 ops/sec 379.876 seconds 100000 operations;    0.0 MB/s (100 ops)";
        assert_eq!(rate(v2), Some(100000.0 / 379.876));
        assert_eq!(rate("a : 3798.761 micros/op 263 ops/sec 0.876 seconds 100 operations;"), Some(263.0));
        assert_eq!(rate("compact : 242910.000 micros/op 4 ops/sec 0.243 seconds 1 operations;"), None);
        assert_eq!(rate("compact : 242910.000 micros/op 4 ops/sec;"), None);
        assert_eq!(rate("fillseq : 1.000 micros/op;"), None);
    }

    #[test]
    fn messages() {
        let read = |line| match one(line) {
            Some(Parsed::Result(r)) => (r.found(), r.is_failure()),
            other => panic!("{other:?}"),
        };
        assert_eq!(read("a : 1.0 micros/op 5 ops/sec; 1.0 MB/s (7 of 9 found)"), (Some((7, 9)), false));
        assert_eq!(read("a : 1.0 micros/op 5 ops/sec; (7 of 9 found, issued 3 non-exist keys)"), (Some((7, 9)), false));
        assert_eq!(read("a : 1.0 micros/op 5 ops/sec; (100 ops)"), (None, false));
        assert_eq!(read("snappycomp : 4602.000 micros/op; (snappy failure)"), (None, true));
    }

    #[test]
    fn summary_lines() {
        type Row<'a> = (&'a str, Kind, u64, bool, f64, Option<f64>, Option<(f64, Option<f64>)>);
        let rows: &[Row<'_>] = &[
            (
                "r [AVG 3 runs] : 104026 (± 31452) ops/sec;   38.1 (± 12.7) MB/sec",
                Kind::Average,
                3,
                false,
                104026.0,
                Some(31452.0),
                Some((38.1, Some(12.7))),
            ),
            (
                "r [AVG    5 runs] : 101489 (+/- 17518) ops/sec; 0.010 ms/op;   36.4 (+/- 7.2) MB/sec",
                Kind::Average,
                5,
                true,
                101489.0,
                Some(17518.0),
                Some((36.4, Some(7.2))),
            ),
            (
                "r [AVG    5 runs] : 101489 ops/sec;   36.4 MB/sec",
                Kind::Average,
                5,
                true,
                101489.0,
                None,
                Some((36.4, None)),
            ),
            (
                "r [MEDIAN 5 runs] : 99153 ops/sec;   34.3 MB/sec",
                Kind::Median,
                5,
                false,
                99153.0,
                None,
                Some((34.3, None)),
            ),
            (
                "r [CI95 3 runs] : (-10, 30) ops/sec; (28.5, 53.5) MB/sec",
                Kind::Interval,
                3,
                false,
                10.0,
                Some(20.0),
                Some((41.0, Some(12.5))),
            ),
            ("r [AVG 4 runs] : 622483 (± 322123) ops/sec", Kind::Average, 4, false, 622483.0, Some(322123.0), None),
        ];
        for &(line, kind, runs, last, ops, half, mb) in rows {
            let s = summary(line.as_bytes()).unwrap_or_else(|| panic!("{line}"));
            assert_eq!((s.name, s.kind, s.runs, s.last), (&b"r"[..], kind, runs, last), "{line}");
            assert_eq!((s.ops.value.value, s.ops.half.map(|h| h.value)), (ops, half), "{line}");
            assert_eq!(s.mb.map(|m| (m.value.value, m.half.map(|h| h.value))), mb, "{line}");
        }
        assert!(summary(b"r [AVG 3 runs] : 104026 (\xb1 31452) ops/sec").is_some_and(|s| s.ops.half.is_some()));
        assert_eq!(summary(b"finished 3 runs] : 5 ops/sec"), None);
    }

    #[test]
    fn skipped_benchmarks() {
        let line = b"mergerandom  : skipped (--merge_operator is unknown)";
        assert_eq!(skipped(line), Some((&b"mergerandom"[..], &b"--merge_operator is unknown"[..])));
        assert_eq!(skipped(b"the first one : skipped"), None);
    }
}
