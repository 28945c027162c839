//! Bytes to UTF-8: byte order marks, UTF-16 without one, gzip, zstd.

use std::io::{self, BufReader, Cursor, Read};

use encoding_rs::{Encoding, UTF_16BE, UTF_16LE};
use encoding_rs_io::DecodeReaderBytesBuilder;

use super::packed;

/// How much is looked at to tell an encoding.
const SNIFF: usize = 4096;

/// A reader of UTF-8 over `input`: gzip and zstd are unpacked, UTF-16 decoded lossily, a UTF-8 BOM dropped. Other bytes pass unchanged.
/// An error of the first read comes when it is read.
pub fn decode(input: Box<dyn Read + Send>) -> Box<dyn Read + Send> {
    let (head, input) = peek(input);
    let unpacked: Box<dyn Read + Send> = if packed::is_gzip(&head) {
        Box::new(packed::gzip(input))
    } else if packed::is_zstd(&head) {
        Box::new(packed::zstd(input))
    } else {
        return decode_text(&head, input);
    };
    let (head, input) = peek(unpacked);
    decode_text(&head, input)
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
            let text = DecodeReaderBytesBuilder::new().encoding(Some(encoding)).strip_bom(true).build(input);
            // Asked for less than four bytes, the decoder forgets the end of text that is cut within a character.
            Box::new(BufReader::with_capacity(1 << 16, text))
        }
        None => input,
    }
}

/// The first bytes of `input`, and `input` with them, and an error that came behind them, put back.
fn peek(mut input: Box<dyn Read + Send>) -> (Vec<u8>, Box<dyn Read + Send>) {
    let mut head = Vec::with_capacity(SNIFF);
    let failure = (&mut input).take(SNIFF as u64).read_to_end(&mut head).err();
    let joined = Cursor::new(head.clone()).chain(Failure(failure)).chain(input);
    (head, Box::new(joined))
}

/// Fails once, if there is an error.
struct Failure(Option<io::Error>);

impl Read for Failure {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
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
    use proptest::prelude::*;
    use std::io::Write;

    fn all(input: impl Read + Send + 'static) -> (Vec<u8>, Option<io::Error>) {
        let mut out = Vec::new();
        let failure = decode(Box::new(input)).read_to_end(&mut out).err();
        (out, failure)
    }

    fn decoded(bytes: &[u8]) -> Vec<u8> {
        let (out, failure) = all(Cursor::new(bytes.to_vec()));
        assert!(failure.is_none(), "{failure:?}");
        out
    }

    /// What was read before the error, and the error.
    fn failed(bytes: &[u8]) -> (Vec<u8>, String) {
        let (out, failure) = all(Cursor::new(bytes.to_vec()));
        (out, failure.expect("an error").to_string())
    }

    fn gz(bytes: &[u8]) -> Vec<u8> {
        let mut z = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        z.write_all(bytes).unwrap();
        z.finish().unwrap()
    }

    fn zst(bytes: &[u8]) -> Vec<u8> {
        ruzstd::encoding::compress_to_vec(bytes, ruzstd::encoding::CompressionLevel::Fastest)
    }

    /// A frame that is passed over, of the `n`th kind.
    fn skippable(n: u8, content: &[u8]) -> Vec<u8> {
        let length = u32::try_from(content.len()).unwrap().to_le_bytes();
        [&[0x50 + n, 0x2a, 0x4d, 0x18], &length[..], content].concat()
    }

    /// Lines that do not pack to nothing.
    fn text(lines: u32) -> Vec<u8> {
        let mut x = 1u32;
        let mut line = |n| {
            x = x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            format!("BenchmarkA{n} 1 {x} ns/op\n")
        };
        (0..lines).map(&mut line).collect::<String>().into_bytes()
    }

    #[test]
    fn utf16_is_decoded_with_and_without_a_mark_in_both_orders() {
        let text = "goos: linux\r\nBenchmarkÄ 1 2 ns/op\r\n".repeat(200);
        let le: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let be: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        let marked = |mark: &[u8], body: &[u8]| [mark, body].concat();
        for bytes in [marked(&[0xff, 0xfe], &le), marked(&[0xfe, 0xff], &be), le.clone(), be.clone()] {
            assert_eq!(decoded(&bytes), text.as_bytes());
            assert_eq!(decoded(&gz(&bytes)), text.as_bytes());
            assert_eq!(decoded(&zst(&bytes)), text.as_bytes());
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
    fn what_is_packed_is_unpacked_with_all_that_follows_in_the_file() {
        for pack in [gz, zst] {
            for lines in [0, 1, 50_000] {
                assert_eq!(decoded(&pack(&text(lines))), text(lines));
            }
            assert_eq!(
                decoded(&[pack(&text(9)), pack(b""), pack(b"b\n")].concat()),
                [text(9), b"b\n".to_vec()].concat()
            );
        }
        // The program's own: level 19, a checksum, a window; `printf 'BenchmarkA 1 2 ns/op\n' | zstd -19 --check`.
        let own = b"\x28\xb5\x2f\xfd\x04\x68\xa9\x00\x00BenchmarkA 1 2 ns/op\n\x1a\x05\x15\xa4";
        assert_eq!(decoded(own), b"BenchmarkA 1 2 ns/op\n");
    }

    #[test]
    fn skippable_frames_are_passed_over() {
        let frames = [skippable(0, b""), zst(b"a\n"), skippable(15, &[7; 100_000]), zst(b"b\n"), skippable(3, b"x")];
        assert_eq!(decoded(&frames.concat()), b"a\nb\n");
        assert_eq!(decoded(&skippable(1, b"only this")), b"");
        let (got, why) = failed(&[zst(b"a\n"), skippable(2, &[0; 50])].concat()[..40]);
        assert_eq!((&*got, &*why), (&b"a\n"[..], "the zstd data ends too early"));
    }

    #[test]
    fn data_cut_anywhere_gives_what_was_before_and_an_error() {
        let whole = text(100);
        for (pack, name) in [(gz as fn(&[u8]) -> Vec<u8>, "gzip"), (zst, "zstd")] {
            let packed = pack(&whole);
            for n in 4..packed.len() {
                let (got, why) = failed(&packed[..n]);
                assert_eq!(why, format!("the {name} data ends too early"), "{n}");
                assert!(whole.starts_with(&got));
            }
        }
        // Blocks hold 128 KiB: those before the cut are there, though a window of them is kept back while more may come.
        let long = text(20_000);
        let packed = zst(&long);
        let (got, _) = failed(&packed[..packed.len() - 5]);
        assert!(got.len() >= 256 << 10 && long.starts_with(&got), "{}", got.len());
        let (got, _) = failed(&gz(&long)[..packed.len() / 2]);
        assert!(got.len() >= 64 << 10 && long.starts_with(&got), "{}", got.len());
    }

    #[test]
    fn damage_is_an_error() {
        let mut packed = zst(&text(100));
        let last = packed.len() - 1;
        packed[last] ^= 1;
        assert_eq!(failed(&packed), (text(100), "the zstd data is damaged: its checksum is another".into()));
        let (got, why) = failed(&[zst(b"a\n"), b"and then text\n".to_vec()].concat());
        assert_eq!(got, b"a\n");
        assert!(why.starts_with("the zstd data is damaged: "), "{why}");
        let (got, why) = failed(&[gz(b"a\n"), b"and then text\n".to_vec()].concat());
        assert_eq!(got, b"a\n");
        assert!(why.starts_with("the gzip data is damaged: "), "{why}");
        // Wrong bits in the middle: what is before them is there.
        let long = text(20_000);
        let mut packed = gz(&long);
        let at = packed.len() / 2;
        packed[at..at + 8].fill(0xff);
        let (got, why) = failed(&packed);
        assert!(why.starts_with("the gzip data is damaged: "), "{why}");
        let third = long.len() / 3;
        assert!(got.len() > third && got[..third] == long[..third], "{} of {}", got.len(), long.len());
        // A window of 256 MiB; a dictionary.
        let (_, why) = failed(b"\x28\xb5\x2f\xfd\x00\x90\x01\x00\x00");
        assert!(why.contains("128 MiB"), "{why}");
        let (_, why) = failed(b"\x28\xb5\x2f\xfd\x01\x00\x07\x01\x00\x00");
        assert!(why.contains("dictionary"), "{why}");
    }

    #[test]
    fn a_read_error_is_handed_on_behind_what_was_read() {
        let broken = |bytes: &[u8]| {
            let (out, failure) = all(Cursor::new(bytes.to_vec()).chain(Failure(Some(io::Error::from_raw_os_error(5)))));
            (out, failure.and_then(|e| e.raw_os_error()))
        };
        assert_eq!(broken(b"a\n"), (b"a\n".to_vec(), Some(5)));
        assert_eq!(broken(&[b'x'; 5000]), (vec![b'x'; 5000], Some(5)));
        let long = text(20_000);
        for pack in [gz, zst] {
            let packed = pack(&long);
            assert_eq!(broken(&packed), (long.clone(), Some(5)));
            let (got, failure) = broken(&packed[..packed.len() - 100]);
            assert!(failure == Some(5) && got.len() > 256 << 10 && long.starts_with(&got));
        }
    }

    proptest! {
        #[test]
        fn any_bytes_after_a_mark_of_packed_data_end(bytes in proptest::collection::vec(any::<u8>(), 0..400), mark in 0..3usize) {
            let marks: [&[u8]; 3] = [b"\x1f\x8b\x08\x00", b"\x28\xb5\x2f\xfd", b"\x55\x2a\x4d\x18\x02\x00\x00\x00"];
            let _ = all(Cursor::new([marks[mark], &bytes].concat()));
        }

        #[test]
        fn a_changed_byte_gives_an_error_or_bytes(at in 0..2000usize, change in 1..=255u8) {
            let mut packed = zst(&text(200));
            let at = at % packed.len();
            packed[at] ^= change;
            let _ = all(Cursor::new(packed));
        }
    }
}
