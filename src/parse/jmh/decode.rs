//! Lines whose `±`, `≈`, `⁻`, `·` were mangled by a character set, put right.
//!
//! JMH result files are UTF-8; its console uses the character set of the terminal, and people save such text in the wrong one.
//! Repaired: UTF-8 that was read as Latin-1, windows-1252, cp437 or cp850 and saved again. Not repaired, because the information
//! is gone: `?` of an ASCII console, U+FFFD; the grammar of a row takes any short token for `±`.

use std::borrow::Cow;

/// The text of a line: UTF-8 as it stands, put right where it was decoded wrongly; other bytes as windows-1252.
pub fn decode(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) if text.is_ascii() => Cow::Borrowed(text),
        Ok(text) => repair(text).map_or(Cow::Borrowed(text), Cow::Owned),
        Err(_) => encoding_rs::WINDOWS_1252.decode_without_bom_handling(bytes).0,
    }
}

/// Characters of bytes 0x80 to 0xFF.
const CP437: &str = "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u{a0}";
const CP850: &str = "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u{ad}±‗¾¶§÷¸°¨·¹³²■\u{a0}";

/// `None` where nothing looks mangled, or where the whole line does not become valid UTF-8.
fn repair(text: &str) -> Option<String> {
    // Lead bytes C2 (± · ² ³) and E2 (≈ ⁻ ⁴) as each of the sets shows them.
    let lead = |c| matches!(c, 'Â' | 'â' | '┬' | 'Γ' | 'Ô');
    if !text.contains(lead) {
        return None;
    }
    [windows_1252 as fn(char) -> Option<u8>, |c| upper(CP437, c), |c| upper(CP850, c)].into_iter().find_map(|byte| {
        let bytes: Option<Vec<u8>> = text.chars().map(|c| if c.is_ascii() { Some(c as u8) } else { byte(c) }).collect();
        String::from_utf8(bytes?).ok()
    })
}

fn upper(set: &str, c: char) -> Option<u8> {
    set.chars().position(|s| s == c).and_then(|i| u8::try_from(0x80 + i).ok())
}

/// Byte of a character in windows-1252 or, for U+0080 to U+00FF, Latin-1. Of the bytes that windows-1252 does not define
/// only 0x81 occurs in what JMH prints, so that is what U+FFFD was.
fn windows_1252(c: char) -> Option<u8> {
    if c == '\u{fffd}' {
        return Some(0x81);
    }
    if let Ok(byte) = u8::try_from(u32::from(c)) {
        return Some(byte);
    }
    let mut buffer = [0; 4];
    let (bytes, _, unmappable) = encoding_rs::WINDOWS_1252.encode(c.encode_utf8(&mut buffer));
    match (&*bytes, unmappable) {
        (&[byte], false) => Some(byte),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn tables_of_characters_are_complete() {
        assert_eq!(CP437.chars().count(), 128);
        assert_eq!(CP850.chars().count(), 128);
    }

    #[test]
    fn mangled_lines_are_put_right() {
        let right = "a:·gc ≈ 10⁻⁷ 1.0 ± 2.0 é";
        for wrong in [
            "a:Â·gc â‰ˆ 10â�»â�· 1.0 Â± 2.0 Ã©",
            "a:Â·gc â\u{89}\u{88} 10â\u{81}»â\u{81}· 1.0 Â± 2.0 Ã©",
            "a:┬╖gc Γëê 10Γü╗Γü╖ 1.0 ┬▒ 2.0 ├⌐",
            "a:┬ÀgcÔëê 10Ôü╗ÔüÀ 1.0 ┬▒ 2.0 ├®",
        ] {
            let got = decode(wrong.as_bytes());
            assert_eq!(got.replace("gc≈", "gc ≈"), right, "{wrong}");
        }
        assert_eq!(decode(right.as_bytes()), right);
        assert_eq!(decode("Âge 1.0 ± 2.0".as_bytes()), "Âge 1.0 ± 2.0");
        assert_eq!(decode(b"1.0 \xb1 2.0"), "1.0 ± 2.0");
    }

    proptest! {
        #[test]
        fn any_bytes_decode(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
            decode(&bytes);
        }

        #[test]
        fn what_utf8_became_is_found_again(s in "[ -~±≈⁻⁰-⁹·é]{0,20}") {
            let wrong: String = s.bytes().map(char::from).collect();
            if s.contains(['±', '≈']) {
                prop_assert_eq!(decode(wrong.as_bytes()), s);
            }
        }
    }
}
