//! Go's unit tokens: how `ns/op` becomes `sec/op` and `p99-MB/s` becomes `p99-B/s`.
//!
//! A unit is a list of tokens separated by `*`, `/`, `-` and whitespace. A token stands in the numerator until a `/`; `*` returns to the
//! numerator, `-` changes nothing. In the numerator `ns` becomes `sec` (values times 1e-9) and `MB` becomes `B` (times 1e6); everything
//! else keeps its spelling. This is the rule of Go's benchmark tools and holds for Go text alone: other formats own their factors.

use std::borrow::Cow;

/// A unit after the rule.
#[derive(Clone, Debug, PartialEq)]
pub struct Tidied<'a> {
    /// Its new spelling.
    pub name: Cow<'a, str>,
    /// What to multiply values by.
    pub factor: f64,
}

/// A token of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token<'a> {
    /// Its text, not empty.
    pub text: &'a str,
    /// Byte offset in the unit.
    pub at: usize,
    /// Whether it stands in the denominator.
    pub denominator: bool,
}

/// The tokens of a unit in order.
pub fn tokens(unit: &str) -> impl Iterator<Item = Token<'_>> {
    let mut rest = unit;
    let mut at = 0;
    let mut denominator = false;
    std::iter::from_fn(move || {
        while let Some(c) = rest.chars().next() {
            let separator = matches!(c, '*' | '/' | '-') || c.is_whitespace();
            if !separator {
                break;
            }
            match c {
                '*' => denominator = false,
                '/' => denominator = true,
                _ => {}
            }
            rest = &rest[c.len_utf8()..];
            at += c.len_utf8();
        }
        let len = rest.find(|c: char| matches!(c, '*' | '/' | '-') || c.is_whitespace()).unwrap_or(rest.len());
        let (text, tail) = rest.split_at(len);
        let token = Token { text, at, denominator };
        rest = tail;
        at += len;
        (!text.is_empty()).then_some(token)
    })
}

/// Applies the rule. Multiply values by the factor; dividing by its inverse gives other last digits.
pub fn tidy(unit: &str) -> Tidied<'_> {
    match unit {
        "ns/op" => return Tidied { name: Cow::Borrowed("sec/op"), factor: 1e-9 },
        "MB/s" => return Tidied { name: Cow::Borrowed("B/s"), factor: 1e6 },
        "B/op" | "allocs/op" => return Tidied { name: Cow::Borrowed(unit), factor: 1.0 },
        _ => {}
    }
    let mut name = String::new();
    let mut copied = 0;
    let mut factor = 1.0;
    for token in tokens(unit).filter(|t| !t.denominator) {
        let (new, by) = match token.text {
            "ns" => ("sec", 1e-9),
            "MB" => ("B", 1e6),
            _ => continue,
        };
        name.push_str(&unit[copied..token.at]);
        name.push_str(new);
        copied = token.at + token.text.len();
        factor *= by;
    }
    if copied == 0 {
        return Tidied { name: Cow::Borrowed(unit), factor };
    }
    name.push_str(&unit[copied..]);
    Tidied { name: Cow::Owned(name), factor }
}

/// The same in abstat's own spelling, which is common to all formats: a rate of bytes is `B/sec`, not `B/s`.
pub fn base(unit: &str) -> Tidied<'_> {
    let tidied = tidy(unit);
    match tidied.name.strip_suffix("B/s") {
        Some(head) if head.is_empty() || head.ends_with(['*', '-']) => {
            Tidied { name: Cow::Owned(format!("{head}B/sec")), factor: tidied.factor }
        }
        _ => tidied,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numerators_change_and_denominators_do_not() {
        let cases = [
            ("ns/op", "sec/op", 1e-9),
            ("MB/s", "B/s", 1e6),
            ("B/op", "B/op", 1.0),
            ("p99-ns/op", "p99-sec/op", 1e-9),
            ("items/MB", "items/MB", 1.0),
            ("ns-per-op", "sec-per-op", 1e-9),
            ("op/ns", "op/ns", 1.0),
            ("x/y*ns", "x/y*sec", 1e-9),
            ("ns*MB", "sec*B", 1e-9 * 1e6),
            ("ns", "sec", 1e-9),
            ("nsx/op", "nsx/op", 1.0),
            ("/ns", "/ns", 1.0),
            ("", "", 1.0),
            ("ms/op", "ms/op", 1.0),
            ("größe-ns", "größe-sec", 1e-9),
        ];
        for (unit, name, factor) in cases {
            assert_eq!(tidy(unit), Tidied { name: name.into(), factor }, "{unit}");
        }
    }

    #[test]
    fn byte_rates_have_one_spelling() {
        for (unit, name, factor) in [
            ("MB/s", "B/sec", 1e6),
            ("B/s", "B/sec", 1.0),
            ("disk-MB/s", "disk-B/sec", 1e6),
            ("kB/s", "kB/s", 1.0),
            ("ops/s", "ops/s", 1.0),
            ("ns/op", "sec/op", 1e-9),
        ] {
            assert_eq!(base(unit), Tidied { name: name.into(), factor }, "{unit}");
        }
    }
}
