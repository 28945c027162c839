use std::borrow::Cow;
use std::fmt::Write as _;

/// `text` with every character that could steer a terminal or hide its neighbours written out (`\x1b`, `\u{202e}`):
/// controls, line separators, direction marks and zero-width format characters. Everything else stays as it is.
pub fn printable(text: &str) -> Cow<'_, str> {
    if text.bytes().all(|b| (b' '..=b'~').contains(&b)) || !text.chars().any(is_unsafe) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if !is_unsafe(c) => out.push(c),
            // Writing to a String cannot fail.
            c if u32::from(c) < 0x100 => drop(write!(out, "\\x{:02x}", u32::from(c))),
            c => drop(write!(out, "\\u{{{:x}}}", u32::from(c))),
        }
    }
    Cow::Owned(out)
}

fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_steers_or_hides_is_written_out() {
        for (text, want) in [
            ("Get/size=1KiB|`x`<b>é漢", "Get/size=1KiB|`x`<b>é漢"),
            ("a\x1b[31mb\x07", "a\\x1b[31mb\\x07"),
            ("a\tb\r\n\u{85}", "a\\tb\\r\\n\\x85"),
            ("gnp\u{202e}.exe\u{200b}", "gnp\\u{202e}.exe\\u{200b}"),
        ] {
            assert_eq!(printable(text), want);
        }
    }
}
