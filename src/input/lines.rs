//! Bytes to lines: large blocks with the unfinished line carried over, ANSI sequences and CI time stamps taken out.

use std::borrow::Cow;
use std::io::{self, Read};

use memchr::{memchr, memchr_iter};

/// Bytes read at a time unless a test says otherwise.
pub const BLOCK: usize = 1 << 18;

/// A line is kept up to this length; the rest of a longer one is passed over and said, so that memory stays bounded.
pub const LONGEST_LINE: usize = 64 << 20;

/// A cleaned line.
pub struct CleanLine<'a> {
    /// From 1.
    pub number: u64,
    /// Without its end, ANSI sequences and time stamp.
    pub bytes: &'a [u8],
    /// Bytes taken away at its start, so that columns can be given as the file has them.
    pub removed: usize,
    /// It was longer than [`LONGEST_LINE`] and is cut.
    pub cut: bool,
    /// A line end follows; only the last line may be without.
    pub ended: bool,
}

/// Calls `each` with every line of `input`, in order, until the end or an error. Returns the number of bytes read.
///
/// # Errors
/// A read error, after the complete lines before it were delivered; what follows the last line end is not, its end being unknown.
pub fn read_lines(input: &mut dyn Read, block: usize, mut each: impl FnMut(CleanLine<'_>)) -> io::Result<u64> {
    let mut buffer: Vec<u8> = vec![0; block.max(1)];
    let mut held = 0; // bytes of the unfinished line, at the start of the buffer
    let mut number = 1u64;
    let mut total = 0u64;
    let mut cut = false; // the line in progress already lost bytes
    let mut escapes = false; // there are escape sequences in the bytes held
    let mut emit = |number: u64, raw: &[u8], escapes: bool, cut: bool, ended: bool| {
        let raw = raw.strip_suffix(b"\r").unwrap_or(raw);
        let (bytes, removed) = clean(raw, escapes);
        each(CleanLine { number, bytes: &bytes, removed, cut, ended });
    };
    loop {
        if buffer.len() - held < block.max(1) {
            // Doubled, so that a long line is not moved again for every block of it.
            buffer.resize((held * 2).max(held + block.max(1)), 0);
        }
        let got = match input.read(&mut buffer[held..]) {
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            got => got?,
        };
        total += got as u64;
        let filled = held + got;
        if got == 0 {
            if held > 0 || cut {
                emit(number, &buffer[..held], escapes, cut, false);
            }
            return Ok(total);
        }
        escapes |= memchr(0x1b, &buffer[held..filled]).is_some();
        let mut start = 0;
        for end in memchr_iter(b'\n', &buffer[held..filled]) {
            let end = held + end;
            emit(number, &buffer[start..end], escapes, cut, true);
            cut = false;
            number += 1;
            start = end + 1;
        }
        if start > 0 {
            buffer.copy_within(start..filled, 0);
            escapes &= memchr(0x1b, &buffer[..filled - start]).is_some();
        }
        held = filled - start;
        if held > LONGEST_LINE {
            held = LONGEST_LINE;
            cut = true;
        }
    }
}

/// The line without escape sequences (there are none unless `escapes`) and time stamp, and how many bytes were taken from its start.
fn clean(raw: &[u8], escapes: bool) -> (Cow<'_, [u8]>, usize) {
    let first = if escapes { memchr(0x1b, raw) } else { None };
    let (bytes, mut removed) = match first {
        Some(first) => {
            let stripped = without_escapes(raw, first);
            let at_start = if first == 0 { escape_len(raw) } else { 0 };
            (Cow::Owned(stripped), at_start)
        }
        None => (Cow::Borrowed(raw), 0),
    };
    let stamp = timestamp_len(&bytes);
    if stamp == 0 {
        return (bytes, removed);
    }
    removed += stamp;
    match bytes {
        Cow::Borrowed(b) => (Cow::Borrowed(&b[stamp..]), removed),
        Cow::Owned(mut b) => {
            b.drain(..stamp);
            (Cow::Owned(b), removed)
        }
    }
}

/// Length of the escape sequence at the start of `bytes`: `ESC [ ... final` (CSI), `ESC ] ... BEL|ST` (OSC, with ST as `ESC \` or 9C), else the two-byte form.
fn escape_len(bytes: &[u8]) -> usize {
    match bytes.get(1) {
        Some(b'[') => {
            // Parameters and intermediates are 0x20-0x3F; anything else that is not a final byte ends a broken sequence.
            let body = bytes[2..].iter().position(|b| !(0x20..=0x3f).contains(b));
            match body {
                Some(n) if (0x40..=0x7e).contains(&bytes[2 + n]) => 3 + n,
                Some(n) => 2 + n,
                None => bytes.len(),
            }
        }
        // The next escape ends the search: it is the string terminator, or the sequence was broken off.
        Some(b']') => match bytes[2..].iter().position(|&b| matches!(b, 0x07 | 0x9c | 0x1b)) {
            Some(n) if bytes[2 + n] != 0x1b => 3 + n,
            Some(n) if bytes.get(3 + n) == Some(&b'\\') => 4 + n,
            _ => 2,
        },
        Some(0x40..=0x7e) => 2,
        _ => 1,
    }
}

fn without_escapes(raw: &[u8], first: usize) -> Vec<u8> {
    let mut out = Vec::with_capacity(raw.len());
    let mut rest = raw;
    let mut next = Some(first);
    while let Some(at) = next {
        out.extend_from_slice(&rest[..at]);
        rest = &rest[at + escape_len(&rest[at..])..];
        next = memchr(0x1b, rest);
    }
    out.extend_from_slice(rest);
    out
}

/// Length of `2024-05-01T10:00:00.1234567Z ` at the start, 0 if there is none.
fn timestamp_len(bytes: &[u8]) -> usize {
    const SHAPE: &[u8] = b"dddd-dd-ddTdd:dd:dd";
    if bytes.len() < SHAPE.len() + 2 || !bytes[0].is_ascii_digit() {
        return 0;
    }
    let fits = SHAPE.iter().zip(bytes).all(|(s, b)| if *s == b'd' { b.is_ascii_digit() } else { s == b });
    if !fits {
        return 0;
    }
    let mut at = SHAPE.len();
    if bytes[at] == b'.' {
        at += 1;
        while bytes.get(at).is_some_and(u8::is_ascii_digit) {
            at += 1;
        }
    }
    match bytes.get(at..at + 2) {
        Some(b"Z ") => at + 2,
        _ if bytes.len() == at + 1 && bytes[at] == b'Z' => at + 1,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn lines(input: &[u8], block: usize) -> Vec<(u64, Vec<u8>, usize)> {
        let mut out = Vec::new();
        let mut reader = input;
        read_lines(&mut reader, block, |l| out.push((l.number, l.bytes.to_vec(), l.removed))).unwrap();
        out
    }

    #[test]
    fn ends_of_lines() {
        let text = |input: &[u8]| lines(input, BLOCK).into_iter().map(|l| l.1).collect::<Vec<_>>();
        assert_eq!(text(b""), Vec::<Vec<u8>>::new());
        assert_eq!(text(b"a"), [b"a"]);
        assert_eq!(text(b"a\r\nb\r\n"), [b"a", b"b"]);
        assert_eq!(text(b"\n\n"), [b"", b""]);
        assert_eq!(text(b"a\rb\n"), [b"a\rb"]);
        for (input, want) in [(&b"a\nb"[..], &[true, false][..]), (b"a\r\n\n", &[true, true]), (b"a\r", &[false])] {
            let mut ended = Vec::new();
            read_lines(&mut &*input, 1, |l| ended.push(l.ended)).unwrap();
            assert_eq!(ended, want, "{input:?}");
        }
    }

    #[test]
    fn escapes_and_time_stamps_are_taken_out() {
        let cases: &[(&[u8], &[u8], usize)] = &[
            (b"\x1b[32mok\x1b[0m x", b"ok x", 5),
            (b"2024-05-01T10:00:00.1234567Z BenchmarkA", b"BenchmarkA", 29),
            (b"\x1b[1m2024-05-01T10:00:00Z B", b"B", 4 + 21),
            (b"2024-05-01 10:00:00 x", b"2024-05-01 10:00:00 x", 0),
            (b"\x1b]0;title\x07text", b"text", 10),
            (b"\x1b]8;;http://x/\x1b\\link\x1b]8;;\x1b\\ y", b"link y", 16),
            (b"\x1b]never ended\x1b[1m x", b"never ended x", 2),
            (b"a\x1b", b"a", 0),
            (b"a\x1b[", b"a", 0),
            (b"a\x1b[3\xc3\xa4", b"a\xc3\xa4", 0),
        ];
        for (raw, want, removed) in cases {
            let (got, n) = clean(raw, true);
            assert_eq!((&*got, n), (*want, *removed), "{:?}", String::from_utf8_lossy(raw));
        }
    }

    proptest! {
        #[test]
        fn block_size_does_not_matter(input in proptest::collection::vec(prop_oneof![Just(b'\n'), Just(b'\r'), Just(0x1b), Just(b'['), any::<u8>()], 0..200), block in 1usize..40) {
            prop_assert_eq!(lines(&input, block), lines(&input, BLOCK));
        }
    }
}
