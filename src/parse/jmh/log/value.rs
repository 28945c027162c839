//! Values of iterations: `Iteration   1: 0.120 ±(99.9%) 1.396 us/op`, in any locale, with what programs print before them.

use crate::parse::jmh::decode::decode;
use crate::parse::jmh::number::{self, Approx, Printed};
use crate::parse::jmh::table::{Token, tokens};
use crate::parse::jmh::unit::{self, Mode};
use crate::parse::lex::{plain_decimal, trim};

/// The number of an iteration line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    Exact(Printed),
    Approx(Approx),
}

/// `Iteration   1: rest`; the number in any script.
pub fn iteration(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let rest = bytes.strip_prefix(b"Iteration ")?;
    let colon = memchr::memchr(b':', &rest[..rest.len().min(40)])?;
    let mut number = 0u64;
    let digits = rest[..colon].trim_ascii_start();
    for &b in digits {
        if !b.is_ascii_digit() {
            let number = number::integer(std::str::from_utf8(digits).ok()?)?;
            return Some((number, &rest[colon + 1..]));
        }
        number = number.checked_mul(10)?.checked_add(u64::from(b - b'0'))?;
    }
    (!digits.is_empty()).then_some((number, &rest[colon + 1..]))
}

pub enum Parsed {
    Value(Value),
    /// `n = 173155, mean = 110 ns/op, p{...}`: mode sample of old versions.
    Sampled,
}

/// Reads `value [±(99.9%) e] unit` and nothing else, of a unit that fits `mode`.
pub fn iteration_value(bytes: &[u8], mode: Option<Mode>) -> Option<(Parsed, &str)> {
    let bytes = trim(bytes);
    let fits = |unit: &str| match mode {
        Some(mode) => mode.fits(unit),
        None => unit::is_known(unit) || unit.contains('/'),
    };
    // The common line: two words.
    if let Some(blank) = memchr::memchr(b' ', bytes)
        && let Some(value) = plain_decimal(&bytes[..blank])
    {
        let unit = &bytes[blank + 1..];
        if !unit.contains(&b' ')
            && let Ok(unit) = std::str::from_utf8(unit)
        {
            let decimals = bytes[..blank].iter().rposition(|&b| b == b'.').map_or(0, |p| blank - p - 1);
            let value = Value::Exact(Printed { value, decimals: decimals as i32 });
            return fits(unit).then_some((Parsed::Value(value), unit));
        }
    }
    if bytes.starts_with(b"n = ")
        && memchr::memmem::find(bytes, b", mean = ").is_some()
        && mode.is_none_or(|m| m == Mode::Sample)
    {
        return Some((Parsed::Sampled, ""));
    }
    if !bytes.first().is_some_and(|&b| b.is_ascii_digit() || b == b'-' || b == b'?' || b >= 0x80) {
        return None;
    }
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        // `±` in the console's character set: only the number and the unit matter, and they are ASCII.
        Err(_) => {
            let (value, error, unit) = parse_value_bytes(bytes)?;
            let _ = error;
            return fits(unit).then_some((Parsed::Value(value), unit));
        }
    };
    // `(2 threads)` of JMH 0.x
    let text = match text.rsplit_once(" (") {
        Some((value, tag)) if tag.ends_with(')') && tag.contains("thread") => value,
        _ => text,
    };
    let (value, _, unit) = parse_value(text)?;
    fits(unit).then_some((Parsed::Value(value), unit))
}

/// `value [pm error] unit`, all of `text`.
pub fn parse_value(text: &str) -> Option<(Value, Option<Printed>, &str)> {
    if text.len() > 200 {
        return None;
    }
    let toks = tokens(text, 0);
    let word = |i: usize| toks.get(i).map_or("", |t: &Token<'_>| t.text);
    let (value, mut i) = match number::parse_alone(word(0)) {
        Some(p) => (Value::Exact(p), 1),
        None => {
            let (a, used) = number::approx(word(0), toks.get(1).map(|t| t.text))?;
            (Value::Approx(a), used)
        }
    };
    let mut error = None;
    if word(i).contains('(') && word(i).ends_with("%)") {
        error = if word(i + 1) == "NaN" { None } else { Some(number::parse_alone(word(i + 1))?) };
        i += 2;
    }
    let unit = toks.get(i)?.text;
    (toks.len() == i + 1 && !number::is_number(unit)).then_some((value, error, unit))
}

/// The same of bytes that are not UTF-8: the unit is ASCII, or nothing is read.
pub fn parse_value_bytes(bytes: &[u8]) -> Option<(Value, Option<Printed>, &str)> {
    let unit_at = memchr::memrchr(b' ', bytes)? + 1;
    let unit = std::str::from_utf8(&bytes[unit_at..]).ok()?;
    let text = decode(bytes).into_owned();
    let (value, error, found) = parse_value(&text)?;
    (found == unit).then_some((value, error, unit))
}

/// A value at the end of a line that a program began: `warn: no newline 0.022 us/op`.
pub fn glued_value(bytes: &[u8], mode: Option<Mode>) -> Option<(Value, String)> {
    let text = decode(bytes);
    let toks = tokens(&text, 0);
    // `0.1 ±(99.9%) 0.2 us/op` has four words, `≈ 10⁻⁴ us/op` three.
    [4usize, 3, 2].into_iter().find_map(|words| {
        let at = toks.len().checked_sub(words)?;
        match iteration_value(text.get(toks[at].at..)?.as_bytes(), mode)? {
            (Parsed::Value(value), unit) => Some((value, unit.to_owned())),
            (Parsed::Sampled, _) => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    pub fn values_of_iterations() {
        let exact = |value, decimals| Value::Exact(Printed { value, decimals });
        for (text, mode, want) in [
            ("109456.646 ops/ms", Some(Mode::Thrpt), Some((exact(109456.646, 3), "ops/ms"))),
            ("0.120 ±(99.9%) 1.396 us/op", Some(Mode::Avgt), Some((exact(0.12, 3), "us/op"))),
            ("0.120 ?(99.9%) 1.396 us/op", Some(Mode::Avgt), Some((exact(0.12, 3), "us/op"))),
            ("≈ 10⁻⁴ us/op", Some(Mode::Avgt), Some((Value::Approx(Approx::Power(-4)), "us/op"))),
            ("53,467 ns/op", Some(Mode::Avgt), Some((exact(53.467, 3), "ns/op"))),
            ("1923.000 ns", Some(Mode::Ss), Some((exact(1923.0, 3), "ns"))),
            ("33613.984 ops/ms (2 threads)", None, Some((exact(33613.984, 3), "ops/ms"))),
            ("12.5 ops/s", Some(Mode::Avgt), None),
            ("flush done in 12.5 us/op", Some(Mode::Avgt), None),
            ("12.5 us/op later", Some(Mode::Avgt), None),
            ("", Some(Mode::Avgt), None),
        ] {
            let got = match iteration_value(text.as_bytes(), mode) {
                Some((Parsed::Value(v), unit)) => Some((v, unit)),
                _ => None,
            };
            assert_eq!(got, want, "{text}");
        }
        let (value, unit) = glued_value(b"warn: no newline 0.022 us/op", Some(Mode::Avgt)).unwrap();
        assert_eq!((value, unit.as_str()), (exact(0.022, 3), "us/op"));
        assert_eq!(iteration_value(b"0.120 \xb1(99.9%) 1.396 us/op", Some(Mode::Avgt)).map(|(_, u)| u), Some("us/op"));
    }
}
