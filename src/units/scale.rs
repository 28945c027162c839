//! benchstat's spelling of numbers: `1.718µ`, `97.65Ki`, and the shortest digits of its CSV.
//!
//! Source: golang.org/x/perf/benchunit. A row has one step and one number of decimals, chosen by its smallest non-zero size so that this one
//! shows four digits. Bytes have steps of 1024 and no fractional ones. abstat's own spelling is in [`super::show`].

use super::tidy;

/// Which steps a unit takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// T G M k, none, m µ n.
    Decimal,
    /// Ti Gi Mi Ki, none.
    Binary,
}

impl Class {
    /// Bytes in the numerator make a binary unit.
    pub fn of(unit: &str) -> Class {
        let bytes = tidy::tokens(unit).any(|t| !t.denominator && matches!(t.text, "B" | "MB" | "bytes"));
        if bytes { Class::Binary } else { Class::Decimal }
    }
}

/// A step: from which sizes on it shows one, two, three decimals.
struct Step {
    from: [f64; 3],
    size: f64,
    prefix: &'static str,
}

// Literals, so that each threshold is the float nearest to it.
const DECIMAL: [Step; 8] = [
    Step { from: [99.995e12, 9.9995e12, 0.99995e12], size: 1e12, prefix: "T" },
    Step { from: [99.995e9, 9.9995e9, 0.99995e9], size: 1e9, prefix: "G" },
    Step { from: [99.995e6, 9.9995e6, 0.99995e6], size: 1e6, prefix: "M" },
    Step { from: [99.995e3, 9.9995e3, 0.99995e3], size: 1e3, prefix: "k" },
    Step { from: [99.995e0, 9.9995e0, 0.99995e0], size: 1e0, prefix: "" },
    Step { from: [99.995e-3, 9.9995e-3, 0.99995e-3], size: 1e-3, prefix: "m" },
    Step { from: [99.995e-6, 9.9995e-6, 0.99995e-6], size: 1e-6, prefix: "µ" },
    Step { from: [99.995e-9, 9.9995e-9, 0.99995e-9], size: 1e-9, prefix: "n" },
];

const BINARY: [Step; 5] = [
    binary(1099511627776.0, "Ti"),
    binary(1073741824.0, "Gi"),
    binary(1048576.0, "Mi"),
    binary(1024.0, "Ki"),
    binary(1.0, ""),
];

const fn binary(size: f64, prefix: &'static str) -> Step {
    Step { from: [99.995 * size, 9.9995 * size, 0.99995 * size], size, prefix }
}

/// Sizes in smallest steps from which on 3, 4, ... decimals are enough.
const SMALL: [f64; 8] = [9.9995e-1, 9.9995e-2, 9.9995e-3, 9.9995e-4, 9.9995e-5, 9.9995e-6, 9.9995e-7, 9.9995e-8];

/// Step and decimals for the numbers of one row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    size: f64,
    places: usize,
    prefix: &'static str,
}

impl Scale {
    /// For a row of these values, finite.
    pub fn of(values: impl IntoIterator<Item = f64>, class: Class) -> Scale {
        let sizes = values.into_iter().map(f64::abs).filter(|v| *v != 0.0);
        let Some(least) = sizes.min_by(f64::total_cmp) else {
            return Scale { size: 1.0, places: 3, prefix: "" };
        };
        let steps: &[Step] = match class {
            Class::Decimal => &DECIMAL,
            Class::Binary => &BINARY,
        };
        for step in steps {
            if let Some(i) = step.from.iter().position(|&from| least >= from) {
                return Scale { size: step.size, places: i + 1, prefix: step.prefix };
            }
        }
        let last = &steps[steps.len() - 1];
        let shown = least / last.size;
        let i = SMALL.iter().position(|&from| shown >= from).unwrap_or(SMALL.len() - 1);
        Scale { size: last.size, places: 3 + i, prefix: last.prefix }
    }

    /// `value` with prefix, half rounded to even on its exact binary value.
    pub fn format(&self, value: f64) -> String {
        format!("{:.*}{}", self.places, value / self.size, self.prefix)
    }
}

/// Shortest digits that read back as `value`; exponents below -4 and from 6 on are written out, with a sign and two digits at least: `1e-09`,
/// `0.0001`, `100000`, `1e+06`.
pub fn shortest(value: f64) -> String {
    if !value.is_finite() {
        return if value.is_nan() {
            "NaN"
        } else if value > 0.0 {
            "+Inf"
        } else {
            "-Inf"
        }
        .to_owned();
    }
    let text = format!("{value:e}");
    let Some((digits, exponent)) = text.split_once('e') else { return text };
    match exponent.parse::<i32>() {
        Ok(e) if !(-4..6).contains(&e) => {
            let sign = if e < 0 { '-' } else { '+' };
            format!("{digits}e{sign}{:02}", e.unsigned_abs())
        }
        _ => format!("{value}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes() {
        for unit in ["B/op", "MB/s", "v-bytes", "x*B/ns", "p99-B/s"] {
            assert_eq!(Class::of(unit), Class::Binary, "{unit}");
        }
        for unit in ["sec/op", "op/B", "GB/s", "allocs/op", "Bytes"] {
            assert_eq!(Class::of(unit), Class::Decimal, "{unit}");
        }
    }

    /// Values and shown numbers of go.md c.5; testdata/go holds many more.
    #[test]
    fn rows_of_numbers() {
        let decimal: [(&[f64], &[&str]); 8] = [
            (&[999.94], &["999.9"]),
            (&[999.95], &["1.000k"]),
            (&[44.4e-9, 8.964e-6], &["44.40n", "8964.00n"]),
            (&[0.0, 100.0], &["0.0", "100.0"]),
            (&[0.0, 0.0], &["0.000", "0.000"]),
            (&[0.09999e-9], &["0.09999n"]),
            (&[-3.25, -4.25], &["-3.250", "-4.250"]),
            (&[1.5e15], &["1500.0T"]),
        ];
        for (values, want) in decimal {
            let scale = Scale::of(values.iter().copied(), Class::Decimal);
            let got: Vec<String> = values.iter().map(|&v| scale.format(v)).collect();
            assert_eq!(got, want, "{values:?}");
        }
        for (value, want) in [(1023.0, "1023.0"), (1024.0, "1.000Ki"), (1e-4, "0.0001000"), (1e5, "97.66Ki")] {
            assert_eq!(Scale::of([value], Class::Binary).format(value), want, "{value}");
        }
    }

    #[test]
    fn shortest_digits() {
        for (value, want) in [
            (1e-9, "1e-09"),
            (1e-4, "0.0001"),
            (99999e-9, "9.9999e-05"),
            (1e5, "100000"),
            (1e6, "1e+06"),
            (1234567.5, "1.2345675e+06"),
            (3.2218e8, "3.2218e+08"),
            (0.0, "0"),
            (-0.25, "-0.25"),
            (999999.0, "999999"),
            (1e100, "1e+100"),
            (f64::INFINITY, "+Inf"),
        ] {
            assert_eq!(shortest(value), want);
        }
    }
}
