//! Numbers for people: one prefix and one digit count for all values of a row, the unit with its prefix behind each number.
//!
//! `1.718 µs`, `64.00 KiB`, `1.102M`. Seconds take s, ms, µs, ns; bytes take binary prefixes; everything else k, M, G, T on the number.
//! Thresholds are those of Go's benchstat (go.md c.5), so that four digits are shown. The drop-in spelling is in [`super::scale`].

use std::fmt::Write as _;

use super::{Unit, dim, write_fixed};

/// How units are spelled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spelling {
    /// No byte above 127: `us` for `µs`.
    pub ascii: bool,
    /// benchstat's way: the prefix glued to the number (`1.718µ`), the unit in the heading only.
    pub go: bool,
}

/// Prefix and digits for the values of one row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    /// Shown number = value / `step`.
    pub step: f64,
    /// Digits behind the point.
    pub places: usize,
    prefix: &'static str,
    symbol: Symbol,
}

/// What stands behind the prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Symbol {
    Seconds,
    Bytes,
    BytesPerSecond,
    None,
}

const SECONDS: &[(f64, &str)] = &[(1.0, ""), (1e-3, "m"), (1e-6, "µ"), (1e-9, "n"), (1e-12, "p")];
const BYTES: &[(f64, &str)] =
    &[(1_099_511_627_776.0, "Ti"), (1_073_741_824.0, "Gi"), (1_048_576.0, "Mi"), (1024.0, "Ki"), (1.0, "")];
const COUNTS: &[(f64, &str)] =
    &[(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""), (1e-3, "m"), (1e-6, "µ"), (1e-9, "n")];

/// Scales for many rows of one unit.
#[derive(Clone, Copy, Debug)]
pub struct Scales(Symbol);

impl Scales {
    /// Those of `unit`.
    pub fn new(unit: &Unit) -> Self {
        Scales(symbol(&unit.name))
    }

    /// The scale for a row with these centers: chosen by the smallest non-zero size.
    pub fn of(self, centers: impl Iterator<Item = f64> + Clone) -> Scale {
        let symbol = self.0;
        let steps = match symbol {
            Symbol::Seconds => SECONDS,
            Symbol::Bytes | Symbol::BytesPerSecond => BYTES,
            Symbol::None => COUNTS,
        };
        let min = centers.clone().map(f64::abs).filter(|v| *v > 0.0).fold(f64::INFINITY, f64::min);
        // Counts (allocations, bytes of small objects) read best as they are.
        let whole = symbol != Symbol::Seconds && centers.into_iter().all(|v| v.fract() == 0.0 && v.abs() < 10_000.0);
        if !min.is_finite() || whole {
            return Scale { step: 1.0, places: if whole { 0 } else { 3 }, prefix: "", symbol };
        }
        for &(step, prefix) in steps {
            for (threshold, places) in [(99.995, 1), (9.9995, 2), (0.99995, 3)] {
                if min >= threshold * step {
                    return Scale { step, places, prefix, symbol };
                }
            }
        }
        // Below the last step: more digits, so that four are left.
        let (step, prefix) = steps[steps.len() - 1];
        let mut places = 3;
        let mut threshold = 0.99995;
        while places < 10 && min < threshold * step {
            places += 1;
            threshold /= 10.0;
        }
        Scale { step, places, prefix, symbol }
    }
}

impl Scale {
    /// The scale for a row of `unit` with these centers.
    pub fn of(unit: &Unit, centers: impl Iterator<Item = f64> + Clone) -> Scale {
        Scales::new(unit).of(centers)
    }

    /// The number alone, without prefix and unit.
    pub fn number(&self, value: f64) -> String {
        let mut out = String::new();
        self.write_number(value, &mut out);
        out
    }

    fn write_number(&self, value: f64, out: &mut String) {
        let shown = value / self.step;
        // Far above the rest of its row: more digits than a double has would be made up.
        let digits = 10f64.powi(15 - i32::try_from(self.places).unwrap_or(15));
        // Writing to a String cannot fail.
        if shown.abs() >= digits {
            let _ = write!(out, "{shown:.3e}");
        } else {
            write_fixed(shown, self.places, out);
        }
    }

    /// What follows the number: a blank and the prefixed unit, or the bare prefix.
    pub fn suffix(&self, spelling: Spelling) -> String {
        let mut out = String::new();
        self.write_suffix(spelling, &mut out);
        out
    }

    fn write_suffix(&self, spelling: Spelling, out: &mut String) {
        let (blank, unit) = match self.symbol {
            _ if spelling.go => ("", ""),
            Symbol::Seconds => (" ", "s"),
            Symbol::Bytes => (" ", "B"),
            Symbol::BytesPerSecond => (" ", "B/s"),
            Symbol::None => ("", ""),
        };
        out.push_str(blank);
        out.push_str(if spelling.ascii && self.prefix == "µ" { "u" } else { self.prefix });
        out.push_str(unit);
    }

    /// Number, prefix and unit.
    pub fn show(&self, value: f64, spelling: Spelling) -> String {
        let mut out = String::new();
        self.write(value, spelling, &mut out);
        out
    }

    /// Appends number, prefix and unit to `out`.
    pub fn write(&self, value: f64, spelling: Spelling, out: &mut String) {
        self.write_number(value, out);
        self.write_suffix(spelling, out);
    }
}

fn symbol(name: &str) -> Symbol {
    let numerator = name.split('/').next().unwrap_or(name);
    let token = numerator.rsplit(['-', '*', ' ']).next().unwrap_or(numerator);
    match token {
        "sec" | "s" if dim(name) == super::Dim::Time => Symbol::Seconds,
        "B" | "bytes" if matches!(name.rsplit('/').next(), Some("s" | "sec")) => Symbol::BytesPerSecond,
        "B" | "bytes" => Symbol::Bytes,
        _ => Symbol::None,
    }
}

/// A change in percent, `+1.2%`, `-0.3%`; big ones without the decimal, huge ones as `+1.2e12%`.
pub fn percent(pct: f64) -> String {
    let mut out = String::new();
    write_percent(pct, &mut out);
    out
}

/// Appends [`percent`] to `out`.
pub fn write_percent(pct: f64, out: &mut String) {
    if pct.abs() >= 1e9 {
        // Writing to a String cannot fail.
        let _ = write!(out, "{pct:+.1e}");
    } else if pct.abs() < 0.05 {
        // `+0.0` and `-0.0` alike; 0.05 itself is a little above five hundredths.
        out.push_str("+0.0");
    } else {
        if pct > 0.0 {
            out.push('+');
        }
        write_fixed(pct, usize::from(pct.abs() < 999.95), out);
    }
    out.push('%');
}

/// A p-value: `<0.001` below 0.0005, else three decimals.
pub fn p_value(p: f64, digits: usize) -> String {
    let mut out = String::new();
    write_p_value(p, digits, &mut out);
    out
}

/// Appends [`p_value`] to `out`.
pub fn write_p_value(p: f64, digits: usize, out: &mut String) {
    let smallest = 0.5 * 10f64.powi(-i32::try_from(digits).unwrap_or(3));
    if p < smallest {
        out.push('<');
        write_fixed(2.0 * smallest, digits, out);
    } else {
        write_fixed(p, digits, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(unit: &str, values: &[f64]) -> Vec<String> {
        let scale = Scale::of(&Unit::new(unit, unit), values.iter().copied());
        values.iter().map(|v| scale.show(*v, Spelling::default())).collect()
    }

    #[test]
    fn one_scale_and_digit_count_per_row() {
        assert_eq!(row("sec/op", &[1.718e-6, 1.423e-6]), ["1.718 µs", "1.423 µs"]);
        assert_eq!(row("sec/op", &[44.4e-9, 8.964e-6]), ["44.40 ns", "8964.00 ns"]);
        assert_eq!(row("sec/op", &[1234.0]), ["1234.0 s"]);
        assert_eq!(row("sec/op", &[0.05e-12]), ["0.05000 ps"]);
        assert_eq!(row("sec/op", &[0.0]), ["0.000 s"]);
        assert_eq!(row("B/op", &[65536.0, 70000.0]), ["64.00 KiB", "68.36 KiB"]);
        assert_eq!(row("B/op", &[212.0, 16.0]), ["212 B", "16 B"]);
        assert_eq!(row("op/sec", &[1_102_000.0]), ["1.102M"]);
        assert_eq!(row("B/sec", &[4e6]), ["3.815 MiB/s"]);
        assert_eq!(row("allocs/op", &[0.0, 3.0]), ["0", "3"]);
        assert_eq!(row("allocs/op", &[2.5]), ["2.500"]);
        assert_eq!(row("sec/op", &[1e-9, 1e9]), ["1.000 ns", "1.000e18 ns"]);
    }

    #[test]
    fn percents_and_p_values() {
        assert_eq!(percent(-17.1711), "-17.2%");
        assert_eq!(percent(-0.01), "+0.0%");
        assert_eq!(percent(12345.6), "+12346%");
        assert_eq!(percent(-1.26e300), "-1.3e300%");
        assert_eq!(p_value(1e-5, 3), "<0.001");
        assert_eq!(p_value(0.0006, 3), "0.001");
        assert_eq!(p_value(0.446, 3), "0.446");
        assert_eq!(p_value(0.0004, 4), "0.0004");
    }
}
