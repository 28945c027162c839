//! Go's unit tokens (go.md a.9): `ns` becomes `sec` and `MB` becomes `B` where they stand in the numerator.

use std::borrow::Cow;

/// The tidied unit and the factor its values are multiplied by.
///
/// Tokens are separated by `*`, `/`, `-` and whitespace; after `/` one is in the denominator, `*` returns to the numerator.
pub fn tidy(unit: &str) -> (Cow<'_, str>, f64) {
    if !unit.contains("ns") && !unit.contains("MB") {
        return (Cow::Borrowed(unit), 1.0);
    }
    let mut out = String::with_capacity(unit.len() + 4);
    let mut factor = 1.0;
    let mut denominator = false;
    let mut rest = unit;
    loop {
        let end = rest.find(|c: char| matches!(c, '*' | '/' | '-') || c.is_whitespace()).unwrap_or(rest.len());
        match &rest[..end] {
            "ns" if !denominator => {
                out.push_str("sec");
                factor *= 1e-9;
            }
            "MB" if !denominator => {
                out.push('B');
                factor *= 1e6;
            }
            token => out.push_str(token),
        }
        let Some(separator) = rest[end..].chars().next() else { break };
        match separator {
            '/' => denominator = true,
            '*' => denominator = false,
            _ => {}
        }
        out.push(separator);
        rest = &rest[end + separator.len_utf8()..];
    }
    if out == unit { (Cow::Borrowed(unit), 1.0) } else { (Cow::Owned(out), factor) }
}

#[cfg(test)]
mod tests {
    use super::tidy;

    #[test]
    fn numerator_tokens_only() {
        for (unit, want, factor) in [
            ("ns/op", "sec/op", 1e-9),
            ("MB/s", "B/s", 1e6),
            ("p99-ns/op", "p99-sec/op", 1e-9),
            ("items/MB", "items/MB", 1.0),
            ("ns-per-op", "sec-per-op", 1e-9),
            ("x/ns*MB", "x/ns*B", 1e6),
            ("ns", "sec", 1e-9),
            ("nsx/op", "nsx/op", 1.0),
            ("B/op", "B/op", 1.0),
            ("", "", 1.0),
        ] {
            let (got, f) = tidy(unit);
            assert_eq!((&*got, f), (want, factor), "{unit}");
        }
    }
}
