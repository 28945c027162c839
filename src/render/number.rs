//! Numbers of a report as people read them: one scale per row, changes, p-values.

use crate::units::{Dim, Unit};

/// One prefix and number of decimals for all values of a row.
#[derive(Clone, Debug, PartialEq)]
pub struct Scale {
    factor: f64,
    decimals: usize,
    suffix: String,
}

const PREFIXES: [(f64, &str); 9] =
    [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""), (1e-3, "m"), (1e-6, "µ"), (1e-9, "n"), (1e-12, "p")];

impl Scale {
    /// The scale that gives the smallest of `values` other than zero four digits.
    pub fn of(unit: &Unit, values: impl IntoIterator<Item = f64>) -> Self {
        let smallest = values.into_iter().map(f64::abs).filter(|v| *v > 0.0).min_by(f64::total_cmp).unwrap_or(0.0);
        let small_ok = unit.dim() == Dim::Time;
        let (factor, prefix) = PREFIXES
            .into_iter()
            .find(|(f, _)| smallest >= *f && (small_ok || *f >= 1.0))
            .unwrap_or(if small_ok && smallest > 0.0 { (1e-12, "p") } else { (1.0, "") });
        let scaled = smallest / factor;
        let decimals = if scaled == 0.0 || scaled.fract() == 0.0 && factor == 1.0 {
            0
        } else {
            (3.0 - scaled.log10().floor()).clamp(0.0, 9.0) as usize
        };
        let base = match (unit.dim(), &*unit.name) {
            (Dim::Time, _) => "s",
            (_, n) if n.starts_with("B/s") => "B/s",
            (_, n) if n == "B" || n.starts_with("B/") => "B",
            _ => "",
        };
        let suffix = format!("{prefix}{base}");
        let space = if base.is_empty() { "" } else { " " };
        Scale { factor, decimals, suffix: if suffix.is_empty() { suffix } else { format!("{space}{suffix}") } }
    }

    /// `value` in this scale, with its prefix and unit.
    pub fn show(&self, value: f64) -> String {
        format!("{:.*}{}", self.decimals, value / self.factor, self.suffix)
    }
}

/// A percentage of change with its sign and one decimal; small ones keep two digits. `minus` is the sign to print for `-`.
pub fn percent(value: f64, minus: char) -> String {
    let a = value.abs();
    let text = match a {
        a if a >= 1e7 => format!("{a:.1e}"),
        a if (1e-6..0.095).contains(&a) => format!("{a:.*}", (1.0 - a.log10().floor()).clamp(1.0, 8.0) as usize),
        _ => format!("{a:.1}"),
    };
    let is_zero = text.bytes().all(|b| b == b'0' || b == b'.');
    let sign = if value < 0.0 && !is_zero { minus } else { '+' };
    format!("{sign}{text}")
}

/// A p-value to three decimals; below half of the last `<0.001`.
pub fn p_value(p: f64) -> String {
    if p < 0.0005 { "<0.001".to_owned() } else { format!("{p:.3}") }
}
