//! Bytes to UTF-8: byte order marks, UTF-16 without one, gzip.

use std::io::{self, Cursor, Read};

use encoding_rs::{Encoding, UTF_16BE, UTF_16LE};
use encoding_rs_io::DecodeReaderBytesBuilder;
use flate2::read::MultiGzDecoder;

/// How much is looked at to tell an encoding.
const SNIFF: usize = 4096;

/// A reader of UTF-8 over `input`: gzip is unpacked, UTF-16 decoded lossily, a UTF-8 BOM dropped. Other bytes pass unchanged.
///
/// # Errors
/// Whatever the first read of `input` gives.
pub fn decode(input: Box<dyn Read + Send>) -> io::Result<Box<dyn Read + Send>> {
    let (head, input) = peek(input)?;
    if head.starts_with(&[0x1f, 0x8b]) {
        let (head, input) = peek(Box::new(MultiGzDecoder::new(input)))?;
        return Ok(decode_text(&head, input));
    }
    Ok(decode_text(&head, input))
}

fn decode_text(head: &[u8], mut input: Box<dyn Read + Send>) -> Box<dyn Read + Send> {
    if head.starts_with(b"\xef\xbb\xbf") {
        let mut bom = [0; 3];
        // The three bytes are in the peeked buffer.
        let _ = input.read_exact(&mut bom);
        return input;
    }
    match utf16(head) {
        Some(encoding) => {
            Box::new(DecodeReaderBytesBuilder::new().encoding(Some(encoding)).strip_bom(true).build(input))
        }
        None => input,
    }
}

/// The first bytes of `input`, and `input` with them put back.
fn peek(mut input: Box<dyn Read + Send>) -> io::Result<(Vec<u8>, Box<dyn Read + Send>)> {
    let mut head = Vec::with_capacity(SNIFF);
    (&mut input).take(SNIFF as u64).read_to_end(&mut head)?;
    let joined = Cursor::new(head.clone()).chain(input);
    Ok((head, Box::new(joined)))
}

/// UTF-16 by its byte order mark, or by NULs at nearly all odd (LE) or even (BE) offsets.
fn utf16(head: &[u8]) -> Option<&'static Encoding> {
    if head.starts_with(&[0xff, 0xfe]) {
        return Some(UTF_16LE);
    }
    if head.starts_with(&[0xfe, 0xff]) {
        return Some(UTF_16BE);
    }
    let pairs = head.len() / 2;
    if pairs < 4 {
        return None;
    }
    let nul = |from: usize| head[..pairs * 2].iter().skip(from).step_by(2).filter(|&&b| b == 0).count();
    let (even, odd) = (nul(0), nul(1));
    if odd * 10 >= pairs * 8 && even * 10 < pairs {
        Some(UTF_16LE)
    } else if even * 10 >= pairs * 8 && odd * 10 < pairs {
        Some(UTF_16BE)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn decoded(bytes: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        decode(Box::new(Cursor::new(bytes.to_vec()))).unwrap().read_to_end(&mut out).unwrap();
        out
    }

    #[test]
    fn utf16_is_decoded_with_and_without_a_mark_in_both_orders() {
        let text = "goos: linux\r\nBenchmarkÄ 1 2 ns/op\r\n".repeat(200);
        let le: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let be: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        let marked = |mark: &[u8], body: &[u8]| [mark, body].concat();
        for bytes in [marked(&[0xff, 0xfe], &le), marked(&[0xfe, 0xff], &be), le.clone(), be.clone()] {
            assert_eq!(decoded(&bytes), text.as_bytes());
        }
    }

    #[test]
    fn a_utf8_mark_is_dropped_and_other_bytes_pass() {
        assert_eq!(decoded(b"\xef\xbb\xbfabc"), b"abc");
        assert_eq!(decoded(b"\xff\xb1abc"), b"\xff\xb1abc");
        assert_eq!(decoded(b""), b"");
        assert_eq!(decoded(b"\xff\xfe"), b"");
    }

    #[test]
    fn gzip_is_unpacked() {
        let mut z = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        z.write_all(b"BenchmarkA 1 2 ns/op\n").unwrap();
        assert_eq!(decoded(&z.finish().unwrap()), b"BenchmarkA 1 2 ns/op\n");
    }
}
