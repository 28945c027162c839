//! Words of benchstat's cells: values with their prefix, spreads, deltas, notes. Shared by its text, CSV and HTML forms.

use std::borrow::Cow;

use smallvec::SmallVec;

use crate::parse::scan::{Decimal, decimal};

/// How a column's values are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Version 1, times: `46.9ns`, `1.74µs`, `3.2ms`, `12s`; read into seconds.
    Time,
    /// Version 1, `4.11kB`: thousands; read into bytes.
    Bytes,
    /// Version 1, `56.4MB/s`: thousands; read into bytes per second.
    Speed,
    /// Version 1, `3.00`, `12.3k`.
    Plain,
    /// Version 2, `1.718µ`, `95.02Mi`: the unit is in the heading, its prefix here.
    Prefixed,
}

/// A value as printed, in base units.
pub fn value(word: &str, class: Class) -> Option<Decimal> {
    // A UTF-8 micro sign read as Latin-1 has an Â before it.
    let (number, used) = decimal(word.as_bytes())?;
    let suffix = word.get(used..)?.trim_start_matches('\u{c2}');
    let thousands = |s: &str| match s {
        "" => Some(1.0),
        "k" => Some(1e3),
        "M" => Some(1e6),
        "G" => Some(1e9),
        "T" => Some(1e12),
        _ => None,
    };
    let factor = match class {
        Class::Time => match suffix {
            "s" => 1.0,
            "ms" => 1e-3,
            "µs" | "μs" | "us" => 1e-6,
            "ns" => 1e-9,
            _ => return None,
        },
        Class::Bytes => thousands(suffix.strip_suffix('B')?)?,
        Class::Speed => thousands(suffix.strip_suffix("B/s")?)?,
        Class::Plain => thousands(suffix)?,
        Class::Prefixed => match suffix {
            "n" => 1e-9,
            "µ" | "μ" | "u" => 1e-6,
            "m" => 1e-3,
            "Ki" => 1024.0,
            "Mi" => 1_048_576.0,
            "Gi" => 1_073_741_824.0,
            "Ti" => 1_099_511_627_776.0,
            _ => thousands(suffix)?,
        },
    };
    Some(number.scaled(factor))
}

/// Whether `word` is one of the values that are no numbers (`NaN`, `+Inf`, `NaNns`).
pub fn is_not_finite(word: &str) -> bool {
    let word = word.trim_start_matches(['+', '-']);
    word.starts_with("NaN") || word.starts_with("Inf")
}

/// The class of a version 1 value, and its unit, from the suffix alone.
pub fn class_of(word: &str) -> Option<(Class, &'static str)> {
    [(Class::Time, "time/op"), (Class::Speed, "speed"), (Class::Bytes, "alloc/op")]
        .into_iter()
        .find(|(class, _)| value(word, *class).is_some())
}

/// A spread as printed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shown {
    /// `± 8%`: percent, never negative (benchstat prints a sign where the center is negative).
    Percent(f64),
    /// `± ∞`: too few samples for an interval.
    Infinite,
    /// `± ?`: center and bounds differ in sign; `±NaN%`.
    Unknown,
}

/// What follows the `±`.
pub fn spread(word: &str) -> Option<Shown> {
    match word {
        "∞" => return Some(Shown::Infinite),
        "?" | "NaN%" => return Some(Shown::Unknown),
        _ => {}
    }
    let (d, used) = decimal(word.as_bytes())?;
    (word.get(used..)? == "%").then_some(Shown::Percent(d.value.abs()))
}

/// What follows a plus-minus sign that starts `word`, in the encodings that pastes leave behind.
pub fn after_plus_minus(word: &str) -> Option<&str> {
    ["±", "Â±", "+/-", "+-", "\u{fffd}"].iter().find_map(|sign| word.strip_prefix(sign))
}

/// A delta as printed.
#[derive(Clone, Debug, PartialEq)]
pub enum Delta {
    /// `~`: no difference shown.
    None,
    /// `+12.34%`
    Percent(f64),
    /// `?`, `+Inf%`, `+NaN%`: there is one, but it is no number.
    NotANumber(String),
}

/// Reads the word of a delta column.
pub fn delta(word: &str) -> Option<Delta> {
    if word == "~" {
        return Some(Delta::None);
    }
    if word == "?" {
        return Some(Delta::NotANumber(word.to_owned()));
    }
    // HTML prints U+2212.
    let number = word.strip_suffix('%')?;
    let number = if number.is_ascii() { Cow::Borrowed(number) } else { Cow::Owned(number.replace('\u{2212}', "-")) };
    if is_not_finite(&number) {
        return Some(Delta::NotANumber(word.to_owned()));
    }
    let (d, used) = decimal(number.as_bytes())?;
    (used == number.len()).then_some(Delta::Percent(d.value))
}

/// What stands in the parentheses after a delta.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Test {
    /// The p value, 0 to 1 (benchstat can print a little more).
    pub p: Option<f64>,
    /// Samples of the base column and of this one.
    pub n: Option<(u64, u64)>,
    /// Anything else: `all equal`, `too few samples`.
    pub note: Option<String>,
}

/// Reads `p=0.000 n=10`, `p=0.016 n=4+5`, `n=1`, `all equal`; without the parentheses.
pub fn test(text: &str) -> Test {
    let mut test = Test::default();
    for word in text.split_whitespace() {
        if let Some(p) = word.strip_prefix("p=").and_then(|w| w.parse::<f64>().ok()).filter(|p| (0.0..=2.0).contains(p))
        {
            test.p = Some(p.min(1.0));
        } else if let Some(n) = word.strip_prefix("n=").and_then(counts) {
            test.n = Some(n);
        } else {
            return Test { note: Some(text.trim().to_owned()), ..Test::default() };
        }
    }
    test
}

fn counts(text: &str) -> Option<(u64, u64)> {
    match text.split_once('+') {
        Some((a, b)) => Some((a.parse().ok()?, b.parse().ok()?)),
        None => text.parse().ok().map(|n| (n, n)),
    }
}

/// The number of a footnote mark such as `¹` or `¹²`.
pub fn superscript(word: &str) -> Option<u32> {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let mut number = None;
    for c in word.chars() {
        let digit = u32::try_from(DIGITS.iter().position(|d| *d == c)?).ok()?;
        number = Some(number.unwrap_or(0u32).checked_mul(10)?.checked_add(digit)?);
    }
    number
}

/// What is known of a cell: its value and spread, and the marks of its notes.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// In base units.
    pub value: Decimal,
    /// `None` where no spread is printed.
    pub spread: Option<Shown>,
    /// Footnotes.
    pub marks: Vec<u32>,
}

/// What is known of a comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The delta.
    pub delta: Delta,
    /// Its test.
    pub test: Test,
    /// Footnotes.
    pub marks: Vec<u32>,
}

/// The words of a row, taken one cell after the other.
#[derive(Clone, Debug)]
pub struct Words<'a> {
    words: SmallVec<[&'a str; 16]>,
    at: usize,
}

impl<'a> Words<'a> {
    /// Words of `text` between blanks.
    pub fn new(text: &'a str) -> Self {
        Words { words: text.split_whitespace().collect(), at: 0 }
    }

    /// The next word, not taken.
    pub fn peek(&self) -> Option<&'a str> {
        self.words.get(self.at).copied()
    }

    /// Takes the next word.
    pub fn next(&mut self) -> Option<&'a str> {
        let word = self.peek()?;
        self.at += 1;
        Some(word)
    }

    /// Number of words taken.
    pub fn position(&self) -> usize {
        self.at
    }

    /// Goes back to an earlier position.
    pub fn rewind(&mut self, at: usize) {
        self.at = at;
    }

    /// All words are taken.
    pub fn is_empty(&self) -> bool {
        self.at >= self.words.len()
    }

    /// `VALUE [± SPREAD] MARK*`; `None`, and nothing taken, where no value stands.
    pub fn cell(&mut self, class: Class) -> Option<Cell> {
        let value = value(self.peek()?, class)?;
        self.at += 1;
        let mut spread_shown = None;
        if let Some(rest) = self.peek().and_then(after_plus_minus) {
            let start = self.at;
            self.at += 1;
            spread_shown = if rest.is_empty() { self.next().and_then(spread) } else { spread(rest) };
            if spread_shown.is_none() {
                self.at = start;
            }
        }
        Some(Cell { value, spread: spread_shown, marks: self.marks() })
    }

    /// `DELTA [(...)] MARK*`; `None`, and nothing taken, where no delta stands.
    pub fn comparison(&mut self) -> Option<Comparison> {
        let delta = delta(self.peek()?)?;
        self.at += 1;
        let mut found = Test::default();
        let start = self.at;
        if self.peek().is_some_and(|w| w.starts_with('(')) {
            let mut text = String::new();
            while let Some(word) = self.next() {
                if !text.is_empty() {
                    text.push(' ');
                }
                text.push_str(word);
                // Parentheses of a table are short; an open one belongs to prose.
                if word.ends_with(')') || text.len() > 80 {
                    break;
                }
            }
            match text.strip_prefix('(').and_then(|t| t.strip_suffix(')')) {
                Some(inside) => found = test(inside),
                None => self.at = start,
            }
        }
        Some(Comparison { delta, test: found, marks: self.marks() })
    }

    /// Footnote marks.
    pub fn marks(&mut self) -> Vec<u32> {
        let mut marks = Vec::new();
        while let Some(mark) = self.peek().and_then(superscript) {
            marks.push(mark);
            self.at += 1;
        }
        marks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_in_base_units() {
        for (word, class, want, resolution) in [
            ("46.9ns", Class::Time, 46.9e-9, 0.05e-9),
            ("0.30µs", Class::Time, 0.30e-6, 0.005e-6),
            ("1.74Âµs", Class::Time, 1.74e-6, 0.005e-6),
            ("7200s", Class::Time, 7200.0, 0.5),
            ("56.4MB/s", Class::Speed, 56.4e6, 0.05e6),
            ("13.6B", Class::Bytes, 13.6, 0.05),
            ("4.11kB", Class::Bytes, 4110.0, 5.0),
            ("-3.25", Class::Plain, -3.25, 0.005),
            ("12.3k", Class::Plain, 12300.0, 50.0),
            ("1.718µ", Class::Prefixed, 1.718e-6, 0.0005e-6),
            ("95.02Mi", Class::Prefixed, 95.02 * 1_048_576.0, 0.005 * 1_048_576.0),
            ("3500.0m", Class::Prefixed, 3.5, 0.00005),
            ("0.000", Class::Prefixed, 0.0, 0.0005),
        ] {
            let got = value(word, class).unwrap_or_else(|| panic!("{word}"));
            assert!((got.value - want).abs() <= 1e-15 * want.abs(), "{word}: {}", got.value);
            assert!((got.resolution - resolution).abs() <= 1e-12 * resolution, "{word}: {}", got.resolution);
        }
        for (word, class) in [
            ("46.9", Class::Time),
            ("46.9ns", Class::Plain),
            ("5x", Class::Prefixed),
            ("5B", Class::Speed),
            ("NaNns", Class::Time),
        ] {
            assert_eq!(value(word, class), None, "{word}");
        }
        assert!(is_not_finite("NaNns") && is_not_finite("+Inf") && !is_not_finite("Nanny"));
    }

    #[test]
    fn deltas_tests_and_marks() {
        assert_eq!(delta("~"), Some(Delta::None));
        assert_eq!(delta("-17.20%"), Some(Delta::Percent(-17.2)));
        assert_eq!(delta("\u{2212}13.31%"), Some(Delta::Percent(-13.31)));
        assert_eq!(delta("+Inf%"), Some(Delta::NotANumber("+Inf%".into())));
        assert_eq!(delta("10"), None);
        assert_eq!(test("p=0.016 n=4+5"), Test { p: Some(0.016), n: Some((4, 5)), note: None });
        assert_eq!(test("p=0.000 n=10"), Test { p: Some(0.0), n: Some((10, 10)), note: None });
        assert_eq!(test("n=1"), Test { p: None, n: Some((1, 1)), note: None });
        assert_eq!(test("all equal"), Test { p: None, n: None, note: Some("all equal".into()) });
        assert_eq!(test("p=1.500 n=2").p, Some(1.0));
        assert_eq!((superscript("¹²"), superscript("¹x"), superscript("")), (Some(12), None, None));
        assert_eq!(spread("-8%"), Some(Shown::Percent(8.0)));
        assert_eq!(spread("∞"), Some(Shown::Infinite));
    }

    #[test]
    fn cells_of_a_row() {
        let mut words = Words::new("1.186µ ± ∞ ¹   1.296µ ±11% ¹ ²   ~ (p=0.333 n=2) ³");
        let a = words.cell(Class::Prefixed).unwrap();
        assert_eq!((a.spread, a.marks), (Some(Shown::Infinite), vec![1]));
        let b = words.cell(Class::Prefixed).unwrap();
        assert_eq!((b.spread, b.marks), (Some(Shown::Percent(11.0)), vec![1, 2]));
        let c = words.comparison().unwrap();
        assert_eq!((c.delta, c.test.p, c.marks), (Delta::None, Some(0.333), vec![3]));
        assert!(words.is_empty());
        let mut prose = Words::new("~ (and then it went on");
        assert!(prose.comparison().is_some());
        assert_eq!(prose.peek(), Some("(and"));
    }
}
