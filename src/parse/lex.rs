//! Small pieces that several formats share: fields, numbers, places in a line.

/// Fields of a line, split at runs of Unicode white space; invalid UTF-8 counts as text.
#[derive(Clone, Debug)]
pub struct Fields<'a> {
    line: &'a [u8],
    at: usize,
}

/// A field and its byte offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field<'a> {
    /// The bytes.
    pub bytes: &'a [u8],
    /// Offset of the first byte in the line.
    pub at: usize,
}

impl Field<'_> {
    /// Byte range in the line.
    pub fn span(&self) -> std::ops::Range<usize> {
        self.at..self.at + self.bytes.len()
    }
}

impl<'a> Fields<'a> {
    /// Fields of `line` from byte `at` on.
    pub fn new(line: &'a [u8], at: usize) -> Self {
        Fields { line, at }
    }

    /// Offset of the first byte not yet looked at.
    pub fn position(&self) -> usize {
        self.at
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Field<'a>;

    #[inline]
    fn next(&mut self) -> Option<Field<'a>> {
        let line = self.line;
        let mut at = self.at;
        loop {
            let n = blank_len(&line[at..]);
            if n == 0 {
                break;
            }
            at += n;
        }
        let start = at;
        while at < line.len() {
            let b = line[at];
            if b < 0x80 {
                if is_ascii_blank(b) {
                    break;
                }
                at += 1;
            } else if blank_len(&line[at..]) > 0 {
                break;
            } else {
                at += 1;
            }
        }
        self.at = at;
        (at > start).then(|| Field { bytes: &line[start..at], at: start })
    }
}

#[inline]
fn is_ascii_blank(b: u8) -> bool {
    matches!(b, b' ' | b'\t' | b'\n' | b'\x0b' | b'\x0c' | b'\r')
}

/// Length of the white space character at the start, 0 if there is none.
#[inline]
pub fn blank_len(bytes: &[u8]) -> usize {
    match bytes.first() {
        Some(&b) if b < 0x80 => usize::from(is_ascii_blank(b)),
        Some(0xc2) => match bytes.get(1) {
            Some(0x85 | 0xa0) => 2,
            _ => 0,
        },
        Some(0xe1..=0xe3) => bytes
            .get(..3)
            .and_then(|b| std::str::from_utf8(b).ok())
            .and_then(|s| s.chars().next())
            .map_or(0, |c| if c.is_whitespace() { 3 } else { 0 }),
        _ => 0,
    }
}

/// Without white space at both ends.
pub fn trim(bytes: &[u8]) -> &[u8] {
    let start = Fields::new(bytes, 0).next().map_or(bytes.len(), |f| f.at);
    let mut end = bytes.len();
    while end > start {
        let n = (1..=3.min(end - start)).find(|&n| blank_len(&bytes[end - n..end]) == n).unwrap_or(0);
        if n == 0 {
            break;
        }
        end -= n;
    }
    &bytes[start..end]
}

/// A plain decimal number as it stands in a line: `digits / 10^places`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Number {
    /// Its digits without the point, below 2^53.
    pub digits: u64,
    /// How many of them stand behind the point.
    pub places: usize,
}

impl Number {
    /// The value, correctly rounded: below 2^53 both the integer and the power of ten are exact, so the quotient is.
    #[inline]
    pub fn value(self) -> f64 {
        const POW10: [f64; 16] = [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];
        #[expect(clippy::cast_precision_loss, reason = "below 2^53")]
        let digits = self.digits as f64;
        if self.places == 0 { digits } else { digits / POW10[self.places & 15] }
    }
}

/// Digits with at most one point, at most 15 digits in all, no sign, no exponent, at the start of `bytes`; and what follows.
#[inline]
pub fn number(bytes: &[u8]) -> Option<(Number, &[u8])> {
    let mut digits: u64 = 0;
    let mut rest = bytes;
    let mut take = |rest: &mut &[u8]| {
        let before = rest.len();
        while let [b, tail @ ..] = *rest {
            let d = b.wrapping_sub(b'0');
            if d > 9 {
                break;
            }
            digits = digits.wrapping_mul(10).wrapping_add(u64::from(d));
            *rest = tail;
        }
        before - rest.len()
    };
    let whole = take(&mut rest);
    let mut places = 0;
    if let [b'.', tail @ ..] = rest {
        rest = tail;
        places = take(&mut rest);
    }
    (1..=15).contains(&(whole + places)).then_some((Number { digits, places }, rest))
}

/// What follows the blanks and tabs at the start; `None` if there are none.
#[inline]
pub fn after_blanks(bytes: &[u8]) -> Option<&[u8]> {
    let mut rest = bytes;
    while let [b' ' | b'\t', tail @ ..] = rest {
        rest = tail;
    }
    (rest.len() < bytes.len()).then_some(rest)
}

/// All of `bytes` as a plain number, see [`number`]. `None` for everything else, which then takes the general way.
#[inline]
pub fn plain_decimal(bytes: &[u8]) -> Option<f64> {
    number(bytes).filter(|(_, rest)| rest.is_empty()).map(|(n, _)| n.value())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn fields(s: &str) -> Vec<(&str, usize)> {
        Fields::new(s.as_bytes(), 0).map(|f| (std::str::from_utf8(f.bytes).unwrap(), f.at)).collect()
    }

    #[test]
    fn fields_split_at_any_white_space() {
        assert_eq!(fields(" a\tb\u{a0}c\u{2003}d é "), [("a", 1), ("b", 3), ("c", 6), ("d", 10), ("é", 12)]);
        assert_eq!(fields(""), []);
        assert_eq!(trim("\u{a0} a b\u{2003}\t".as_bytes()), b"a b");
        assert_eq!(trim(b"  "), b"");
    }

    proptest! {
        #[test]
        fn plain_decimals_equal_the_general_parser(s in "[0-9]{0,12}(\\.[0-9]{0,9})?") {
            if let Some(v) = plain_decimal(s.as_bytes()) {
                prop_assert_eq!(Ok(v), s.parse::<f64>());
            }
        }

        #[test]
        fn fields_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
            let joined: usize = Fields::new(&bytes, 0).map(|f| f.bytes.len()).sum();
            prop_assert!(joined <= bytes.len());
            trim(&bytes);
        }
    }
}
