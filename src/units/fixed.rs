//! Numbers with a fixed number of decimals, as tables print by the million.

use std::fmt::Write;

/// Appends `value` with `places` decimals, rounded as `format!` rounds: to the nearest by the exact binary value.
///
/// Everyday numbers are rounded as whole numbers of their last place, which is several times faster; those near the middle between two
/// of them, large ones and long ones go the exact way.
pub fn write_fixed(value: f64, places: usize, out: &mut String) {
    const POWERS: [f64; 6] = [1.0, 10.0, 100.0, 1e3, 1e4, 1e5];
    /// Below it the product is known to 1e-6 of the last place.
    const LARGEST: f64 = 1e9;
    /// Nearer to the middle than this, the product's own rounding might decide.
    const UNSURE: f64 = 1e-4;
    let scaled = value.abs() * POWERS.get(places).copied().unwrap_or(f64::INFINITY);
    let whole = scaled.floor();
    let rest = scaled - whole - 0.5;
    if !(scaled < LARGEST && rest.abs() > UNSURE) {
        // Writing to a String cannot fail.
        let _ = write!(out, "{value:.places$}");
        return;
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole and below 1e9")]
    let mut number = whole as u32 + u32::from(rest > 0.0);
    if value.is_sign_negative() {
        out.push('-');
    }
    // Ten digits, a point and the zeros before them.
    let mut text = [b'0'; 17];
    let mut at = text.len();
    for k in 0.. {
        if k == places && places > 0 {
            at -= 1;
            text[at] = b'.';
        }
        if number == 0 && k > places {
            break;
        }
        at -= 1;
        text[at] = b'0' + (number % 10) as u8;
        number /= 10;
    }
    out.push_str(std::str::from_utf8(&text[at..]).unwrap_or_default());
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn fixed(value: f64, places: usize) -> String {
        let mut out = String::new();
        write_fixed(value, places, &mut out);
        out
    }

    #[test]
    fn halves_and_edges_are_rounded_as_format_does() {
        for places in 0..8 {
            for value in [
                0.0,
                -0.0,
                0.5,
                1.5,
                2.5,
                0.25,
                0.125,
                0.045,
                0.05,
                -0.04,
                0.999_999,
                9.9995,
                99.995,
                1e9,
                123_456.789,
                999_999_999.5,
                4.35,
                f64::MAX,
                f64::MIN_POSITIVE,
                f64::INFINITY,
                f64::NAN,
            ] {
                assert_eq!(fixed(value, places), format!("{value:.places$}"));
            }
        }
    }

    proptest! {
        #[test]
        fn as_format_does(value in prop_oneof![-1e3..1e3f64, -1e10..1e10f64, any::<f64>()], places in 0usize..7) {
            prop_assert_eq!(fixed(value, places), format!("{value:.places$}"));
        }

        #[test]
        fn decimals_that_end_in_five(units in -100_000i32..100_000, places in 0usize..5) {
            let value = (f64::from(units) + 0.5) / 10f64.powi(places as i32);
            prop_assert_eq!(fixed(value, places), format!("{value:.places$}"));
        }
    }
}
