//! Byte-level pieces that the line parsers share: blanks, words, printed decimal numbers. No allocation, no panics.

use super::lex::number;

/// A number as it was printed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Decimal {
    /// Finite.
    pub value: f64,
    /// Half a unit of the last printed place.
    pub resolution: f64,
}

impl Decimal {
    /// The same in another unit.
    pub fn scaled(self, factor: f64) -> Self {
        Decimal { value: self.value * factor, resolution: self.resolution * factor.abs() }
    }
}

/// Reads `[+-] digits [. digits] [e [+-] digits]` at the start of `bytes`; the number and how many bytes it took.
///
/// `inf`, `nan`, hex floats and numbers that overflow are not decimals. Digits may be missing on one side of the point.
pub fn decimal(bytes: &[u8]) -> Option<(Decimal, usize)> {
    match number(bytes) {
        Some((n, rest)) if !matches!(rest.first(), Some(b'e' | b'E')) => {
            let places = i32::try_from(n.places).ok()?;
            Some((Decimal { value: n.value(), resolution: 0.5 * power_of_ten(-places) }, bytes.len() - rest.len()))
        }
        _ => any_decimal(bytes),
    }
}

/// [`decimal`] for all that is no plain number.
fn any_decimal(bytes: &[u8]) -> Option<(Decimal, usize)> {
    let digits = |from: usize| bytes.iter().skip(from).take_while(|b| b.is_ascii_digit()).count();
    let mut at = usize::from(matches!(bytes.first(), Some(b'+' | b'-')));
    let whole = digits(at);
    at += whole;
    let mut places = 0;
    if bytes.get(at) == Some(&b'.') {
        places = digits(at + 1);
        if whole + places > 0 {
            at += 1 + places;
        }
    }
    if whole + places == 0 {
        return None;
    }
    let mut exponent = 0i32;
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
        let count = digits(at + 1 + sign);
        if count > 0 {
            let text = std::str::from_utf8(bytes.get(at + 1..at + 1 + sign + count)?).ok()?;
            exponent = text.parse().ok()?;
            at += 1 + sign + count;
        }
    }
    let text = std::str::from_utf8(bytes.get(..at)?).ok()?;
    let value: f64 = text.parse().ok()?;
    let last = exponent.saturating_sub(i32::try_from(places).unwrap_or(i32::MAX));
    value.is_finite().then(|| (Decimal { value, resolution: 0.5 * power_of_ten(last) }, at))
}

/// All of `bytes` as one decimal number.
pub fn whole_decimal(bytes: &[u8]) -> Option<Decimal> {
    decimal(bytes).filter(|(_, used)| *used == bytes.len()).map(|(d, _)| d)
}

fn power_of_ten(exponent: i32) -> f64 {
    // The literals a short number needs are exact this way; powi(10, -3) would be off in the last bit.
    let table = [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6];
    match usize::try_from(exponent.unsigned_abs()).ok().and_then(|i| table.get(i)) {
        Some(p) if exponent >= 0 => *p,
        Some(p) => 1.0 / p,
        None => 10f64.powi(exponent),
    }
}

/// A blank inside a line.
pub fn is_blank(b: u8) -> bool {
    matches!(b, b' ' | b'\t')
}

/// Skips blanks, then takes everything up to the next blank; the word and the rest.
pub fn word(bytes: &[u8]) -> (&[u8], &[u8]) {
    let start = bytes.iter().position(|&b| !is_blank(b)).unwrap_or(bytes.len());
    let bytes = bytes.get(start..).unwrap_or_default();
    let end = bytes.iter().position(|&b| is_blank(b)).unwrap_or(bytes.len());
    bytes.split_at(end)
}

/// A decimal integer without sign.
pub fn integer(bytes: &[u8]) -> Option<u64> {
    if bytes.is_empty() || !bytes.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(bytes).ok()?.parse().ok()
}

/// Fields of one CSV record, without the quotes around them; `None` where a quote or a line end stands inside a field, or there is none,
/// which is for a reader of the csv crate: it does all, but making one costs as much as a thousand records like these.
pub fn plain_fields(record: &[u8], delimiter: u8) -> Option<Vec<&[u8]>> {
    if record.is_empty() || record.starts_with(b"\xef\xbb\xbf") || memchr::memchr2(b'\r', b'\n', record).is_some() {
        return None;
    }
    let mut fields = Vec::with_capacity(12);
    let mut rest = record;
    loop {
        let behind = match rest.strip_prefix(b"\"") {
            Some(quoted) => {
                let end = memchr::memchr(b'"', quoted)?;
                fields.push(quoted.get(..end)?);
                quoted.get(end + 1..)?
            }
            None => {
                let (field, behind) = rest.split_at(memchr::memchr(delimiter, rest).unwrap_or(rest.len()));
                if field.contains(&b'"') {
                    return None;
                }
                fields.push(field);
                behind
            }
        };
        match behind.split_first() {
            None => return Some(fields),
            Some((&b, more)) if b == delimiter => rest = more,
            Some(_) => return None,
        }
    }
}

/// `inf`, `nan` and their signed forms, as C prints them.
pub fn is_not_finite(bytes: &[u8]) -> bool {
    let bytes = bytes.strip_prefix(b"-").or_else(|| bytes.strip_prefix(b"+")).unwrap_or(bytes);
    ["inf", "nan", "infinity"].iter().any(|w| bytes.eq_ignore_ascii_case(w.as_bytes()))
}

/// `bytes` in quotes for a message, cut to 80 bytes, control characters escaped.
pub fn shown(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes.get(..80).unwrap_or(bytes));
    let more = if bytes.len() > 80 { "..." } else { "" };
    format!("\"{}{more}\"", text.escape_debug())
}

/// Where `part` lies inside `whole`, of which it is a subslice.
pub fn span_in(part: &[u8], whole: &[u8]) -> std::ops::Range<usize> {
    let start = (part.as_ptr() as usize).saturating_sub(whole.as_ptr() as usize).min(whole.len());
    start..(start + part.len()).min(whole.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn plain_fields_are_those_of_a_reader(record in "([ a,\"\r\n\u{feff}]|\"[ a,]{0,2}\"|,){0,8}") {
            if let Some(plain) = plain_fields(record.as_bytes(), b',') {
                let mut reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(record.as_bytes());
                let mut all = csv::ByteRecord::new();
                prop_assert!(reader.read_byte_record(&mut all).unwrap());
                prop_assert_eq!(plain, all.iter().collect::<Vec<_>>());
            }
        }

        #[test]
        fn plain_numbers_are_read_like_all_others(s in "[-+]?[0-9]{0,17}(\\.[0-9]{0,9})?([eE][-+]?[0-9]{0,2})?[ .a-f%]{0,2}") {
            let (plain, any) = (decimal(s.as_bytes()), any_decimal(s.as_bytes()));
            prop_assert_eq!(plain.map(|(d, n)| (d.value.to_bits(), d.resolution.to_bits(), n)),
                any.map(|(d, n)| (d.value.to_bits(), d.resolution.to_bits(), n)));
        }
    }

    #[test]
    fn decimals_and_what_is_none() {
        for (text, value, resolution, used) in [
            ("12.220 micros", 12.22, 0.0005, 6),
            ("5", 5.0, 0.5, 1),
            ("-3.25%", -3.25, 0.005, 5),
            ("+1.", 1.0, 0.5, 3),
            (".5", 0.5, 0.05, 2),
            ("4.68700E+01", 46.87, 0.00005, 11),
            ("1e3x", 1000.0, 500.0, 3),
            ("2em", 2.0, 0.5, 1),
        ] {
            let (d, n) = decimal(text.as_bytes()).unwrap_or_else(|| panic!("{text}"));
            assert_eq!((d.value, n), (value, used), "{text}");
            assert!((d.resolution / resolution - 1.0).abs() < 1e-12, "{text}: {}", d.resolution);
        }
        for text in ["", "inf", "-nan", "x1", ".", "-", "1e999", "e5"] {
            assert_eq!(decimal(text.as_bytes()), None, "{text}");
        }
        assert_eq!(whole_decimal(b"1.5x"), None);
    }

    #[test]
    fn words_integers_and_places() {
        assert_eq!(word(b"  ab\tc "), (&b"ab"[..], &b"\tc "[..]));
        assert_eq!(word(b"  "), (&b""[..], &b""[..]));
        assert_eq!(integer(b"0042"), Some(42));
        assert_eq!(integer(b"99999999999999999999"), None);
        assert_eq!(integer(b""), None);
        assert!(is_not_finite(b"-NaN") && !is_not_finite(b"info"));
        let whole = b"hello world";
        assert_eq!(span_in(&whole[6..], whole), 6..11);
    }
}
