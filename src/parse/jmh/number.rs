//! Numbers as JMH and people print them: any locale's digits and marks, and the `≈ 10⁻³` of scores too small for three decimals.
//!
//! JMH formats by the locale of its JVM and never groups. People group by hand. So `1,234` can be read in two ways, and a table
//! decides once, from all its cells ([`Votes`]).

use crate::parse::lex::plain_decimal;

/// A number with the precision it was printed in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Printed {
    /// As printed, finite.
    pub value: f64,
    /// Digits after the decimal mark, less an exponent.
    pub decimals: i32,
}

impl Printed {
    /// Half a unit of the last printed place.
    pub fn resolution(self) -> f64 {
        0.5 * 10f64.powi(-self.decimals)
    }
}

/// What the marks in a table's numbers mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Marks {
    /// `1,234.5`: JMH in most locales; `,` groups.
    #[default]
    Point,
    /// `1.234,5`: decimal comma; `.` groups.
    Comma,
    /// Both stand for the decimal mark: tables of two locales pasted together.
    Either,
}

/// Evidence about [`Marks`], from all numbers of a table.
#[derive(Clone, Copy, Debug, Default)]
pub struct Votes {
    comma_groups: bool,
    point_groups: bool,
    lone_comma: bool,
    /// Not three digits after it.
    sure_comma: bool,
    lone_point: bool,
}

impl Votes {
    /// Looks at one number.
    pub fn observe(&mut self, text: &str) {
        let commas = text.matches(',').count();
        let points = text.matches('.').count();
        match (commas, points) {
            (0, 0) => {}
            (0, 1) => self.lone_point = true,
            (1, 0) => {
                self.lone_comma = true;
                let places = text.rsplit(',').next().map_or(0, |t| t.chars().count());
                self.sure_comma |= places != 3;
            }
            (_, 0) => self.comma_groups = true,
            (0, _) => self.point_groups = true,
            _ if text.rfind('.') > text.rfind(',') => self.comma_groups = true,
            _ => self.point_groups = true,
        }
    }

    /// The meaning that fits all numbers seen.
    pub fn marks(self) -> Marks {
        if self.comma_groups {
            Marks::Point
        } else if self.point_groups {
            Marks::Comma
        } else if self.lone_comma && self.lone_point {
            // `1,234` beside `0.567` groups; `12,5` beside `0.567` cannot.
            if self.sure_comma { Marks::Either } else { Marks::Point }
        } else if self.lone_comma {
            Marks::Comma
        } else {
            Marks::Point
        }
    }

    /// A `,` was seen, so the decision deserves a word.
    pub fn has_comma(self) -> bool {
        self.lone_comma || self.comma_groups || self.point_groups
    }
}

/// Value of a decimal digit in the scripts that Java's formatter uses.
fn digit(c: char) -> Option<u8> {
    const ZEROS: [u32; 9] = [0x30, 0x660, 0x6f0, 0x966, 0x9e6, 0xe50, 0x1040, 0x1c50, 0xff10];
    let c = c as u32;
    ZEROS.iter().find(|&&z| (z..z + 10).contains(&c)).map(|&z| (c - z) as u8)
}

/// Whether `text` is a number in some locale: digits, marks, a sign, an exponent. `NaN` is not.
pub fn is_number(text: &str) -> bool {
    let body = text.strip_prefix(['-', '+', '\u{2212}']).unwrap_or(text);
    let mut digits = 0;
    let mut mark_last = false;
    for (at, c) in body.char_indices() {
        if digit(c).is_some() {
            digits += 1;
            mark_last = false;
        } else if matches!(c, '.' | ',' | '\u{66b}' | '\u{66c}') {
            mark_last = true;
        } else if matches!(c, 'e' | 'E') && digits > 0 && !mark_last {
            let tail = &body[at + 1..];
            let tail = tail.strip_prefix(['-', '+']).unwrap_or(tail);
            return (1..=4).contains(&tail.len()) && tail.bytes().all(|b| b.is_ascii_digit());
        } else {
            return false;
        }
    }
    digits > 0 && !mark_last
}

/// A count: digits of any script and nothing else.
pub fn integer(text: &str) -> Option<u64> {
    if text.is_empty() {
        return None;
    }
    text.chars().try_fold(0u64, |n, c| n.checked_mul(10)?.checked_add(u64::from(digit(c)?)))
}

/// Reads a number for which [`is_number`] holds. `None` if the marks do not fit (`1.2.3`) or it overflows.
pub fn parse(text: &str, marks: Marks) -> Option<Printed> {
    if let Some(value) = plain_decimal(text.as_bytes())
        && (marks != Marks::Comma || !text.contains('.'))
    {
        let decimals = text.find('.').map_or(0, |p| text.len() - p - 1);
        return Some(Printed { value, decimals: decimals as i32 });
    }
    if text.len() > 400 {
        return None;
    }
    let mut plain = String::with_capacity(text.len());
    let mut point = None;
    let mut exponent = 0;
    for (at, c) in text.char_indices() {
        let decimal = match c {
            '.' => marks != Marks::Comma,
            ',' => marks != Marks::Point,
            '\u{66b}' => true,
            '\u{66c}' => false,
            '-' | '\u{2212}' => {
                plain.push('-');
                continue;
            }
            '+' => continue,
            'e' | 'E' => {
                let tail = &text[at + 1..];
                exponent = tail.strip_prefix('+').unwrap_or(tail).parse::<i32>().ok()?;
                break;
            }
            _ => {
                plain.push(char::from(b'0' + digit(c)?));
                continue;
            }
        };
        if decimal {
            if point.is_some() {
                return None;
            }
            point = Some(plain.len());
            plain.push('.');
        } else if point.is_some() {
            return None; // a grouping mark after the decimal mark
        }
    }
    let decimals = point.map_or(0, |p| plain.len() - p - 1);
    if exponent != 0 {
        plain.push('e');
        plain.push_str(&exponent.to_string());
    }
    let value: f64 = plain.parse().ok()?;
    let decimals = i32::try_from(decimals).ok()? - exponent;
    value.is_finite().then_some(Printed { value, decimals })
}

/// Reads one number by itself: where JMH alone has printed it, a single `,` is the decimal mark.
pub fn parse_alone(text: &str) -> Option<Printed> {
    if !is_number(text) {
        return None;
    }
    let mut votes = Votes::default();
    votes.observe(text);
    parse(text, votes.marks())
}

/// A score that JMH printed by its order of magnitude only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Approx {
    /// `≈ 0`: zero or below.
    Zero,
    /// `≈ 10ⁿ`.
    Power(i32),
    /// The exponent was lost to a character set (`? 10??`).
    Lost,
}

impl Approx {
    /// For display: 10ⁿ, or 0 where no number is known.
    pub fn value(self) -> f64 {
        match self {
            Approx::Power(n) => 10f64.powi(n),
            Approx::Zero | Approx::Lost => 0.0,
        }
    }
}

/// `≈` in all its spellings: U+2248, what consoles without it print, `÷` (its cp437 byte read as Latin-1).
fn is_approx_sign(text: &str) -> bool {
    matches!(text, "≈" | "?" | "÷" | "~" | "\u{fffd}" | "≅" | "&asymp;" | "&#8776;" | "\\u2248")
}

/// Reads `≈ 0`, `≈ 10⁻⁴` from `first` and the token after it. Returns the number of tokens read too.
pub fn approx(first: &str, second: Option<&str>) -> Option<(Approx, usize)> {
    let (power, used) = if is_approx_sign(first) {
        (second?, 2)
    } else {
        let sign = first.chars().next()?;
        let rest = first.get(sign.len_utf8()..)?;
        (is_approx_sign(first.get(..sign.len_utf8())?).then_some(rest)?, 1)
    };
    if power == "0" || power == "\u{660}" {
        return Some((Approx::Zero, used));
    }
    let exponent = power.strip_prefix("10")?;
    if exponent.is_empty() {
        return None;
    }
    let mut value = 0i32;
    let mut digits = 0;
    for c in exponent.chars() {
        let d = match c {
            '⁰' => 0,
            '¹' => 1,
            '²' | 'ý' => 2, // ý: the cp437 byte of ² read as Latin-1
            '³' => 3,
            '⁴'..='⁹' => c as i32 - '⁴' as i32 + 4,
            '0'..='9' if exponent.starts_with(['^', '-', '\u{207b}', '\u{2212}']) => c as i32 - '0' as i32,
            '⁻' | '-' | '\u{2212}' | '^' | '?' | '\u{fffd}' if digits == 0 => continue,
            _ => return (!c.is_alphanumeric()).then_some((Approx::Lost, used)),
        };
        value = (value * 10 + d).min(400);
        digits += 1;
    }
    // Only scores below one half of the last place are printed so: the exponent is negative even where its sign was lost.
    Some((if digits == 0 { Approx::Lost } else { Approx::Power(-value) }, used))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_of_all_locales() {
        for (text, marks, value, decimals) in [
            ("193632890.087", Marks::Point, 193632890.087, 3),
            ("1,234,567.890", Marks::Point, 1234567.89, 3),
            ("53,466527", Marks::Comma, 53.466527, 6),
            ("1.234,5", Marks::Comma, 1234.5, 1),
            ("١٦٠١٤٥٦٤٢٫٨٥٨", Marks::Point, 160145642.858, 3),
            ("٤", Marks::Point, 4.0, 0),
            ("-0.5", Marks::Point, -0.5, 1),
            ("1.2E8", Marks::Point, 1.2e8, -7),
            ("12,5", Marks::Either, 12.5, 1),
            ("12.5", Marks::Either, 12.5, 1),
        ] {
            assert!(is_number(text), "{text}");
            assert_eq!(parse(text, marks), Some(Printed { value, decimals }), "{text}");
        }
        for text in ["", "NaN", "10⁻³", "1.", "a1", "1e", "±1", "ops/s", "-", ",", "10??", "1e99999"] {
            assert!(!is_number(text), "{text}");
        }
        assert_eq!(parse("1.2.3", Marks::Point), None);
        assert_eq!(parse("1e999", Marks::Point), None);
        assert_eq!(integer("25"), Some(25));
        assert_eq!(integer("٤"), Some(4));
        assert_eq!(integer("2.5"), None);
        assert_eq!(integer("99999999999999999999"), None);
    }

    #[test]
    fn a_table_decides_once_what_a_comma_means() {
        for (cells, marks) in [
            (&["1.5", "2.25"][..], Marks::Point),
            (&["123,456", "0,001"], Marks::Comma),
            (&["1,234", "0.567"], Marks::Point),
            (&["1,234,567", "123,456"], Marks::Point),
            (&["1,234.5", "123,456"], Marks::Point),
            (&["1.234,5", "123,456"], Marks::Comma),
            (&["12,5", "0.567"], Marks::Either),
        ] {
            let mut votes = Votes::default();
            cells.iter().for_each(|c| votes.observe(c));
            assert_eq!(votes.marks(), marks, "{cells:?}");
        }
    }

    #[test]
    fn approximate_scores_in_all_spellings() {
        for (first, second, want) in [
            ("≈", Some("0"), Some((Approx::Zero, 2))),
            ("≈", Some("10⁻⁴"), Some((Approx::Power(-4), 2))),
            ("≈", Some("10⁻¹⁰"), Some((Approx::Power(-10), 2))),
            ("≈10⁻⁴", None, Some((Approx::Power(-4), 1))),
            ("~", Some("10^-3"), Some((Approx::Power(-3), 2))),
            ("?", Some("10??"), Some((Approx::Lost, 2))),
            ("?", Some("10?³"), Some((Approx::Power(-3), 2))),
            ("÷", Some("10?ý"), Some((Approx::Power(-2), 2))),
            ("\u{fffd}", Some("10\u{fffd}\u{fffd}"), Some((Approx::Lost, 2))),
            ("?", Some("0"), Some((Approx::Zero, 2))),
            ("?", Some("0.5"), None),
            ("≈", Some("10"), None),
            ("≈", Some("100.5"), None),
            ("1.5", Some("10⁻⁴"), None),
            ("≈", None, None),
        ] {
            assert_eq!(approx(first, second), want, "{first} {second:?}");
        }
    }

    proptest! {
        #[test]
        fn what_is_a_number_parses_or_overflows(s in "[-+]?[0-9.,eE٠-٩٫]{0,20}") {
            if is_number(&s) {
                for marks in [Marks::Point, Marks::Comma, Marks::Either] {
                    if let Some(p) = parse(&s, marks) {
                        prop_assert!(p.value.is_finite());
                    }
                }
            }
        }

        #[test]
        fn nothing_panics(a in ".{0,12}", b in ".{0,12}") {
            is_number(&a);
            parse(&a, Marks::Point);
            parse_alone(&a);
            approx(&a, Some(&b));
            integer(&a);
        }
    }
}
