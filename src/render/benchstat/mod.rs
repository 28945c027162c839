//! benchstat's own outputs, byte for byte: text and CSV.

mod csv;
mod layout;
mod text;

pub use csv::csv;
pub use text::text;

use crate::report::benchstat::{Delta, Range, Versus};

/// `8%`, `∞`, `?`.
fn range(range: Range) -> String {
    match range {
        Range::Infinite => "∞".to_owned(),
        Range::Unknown => "?".to_owned(),
        Range::Percent(p) => format!("{p:.0}%"),
    }
}

/// `+4.58%`, `0.00%`, `~`, `?`.
fn delta(delta: Delta) -> String {
    match delta {
        Delta::Noise => "~".to_owned(),
        Delta::Equal => "0.00%".to_owned(),
        Delta::Unknown => "?".to_owned(),
        Delta::Percent(p) => format!("{p:+.2}%"),
    }
}

/// `p=0.002 n=6`, `n=3+4`.
fn comparison(versus: &Versus) -> String {
    let n = match versus.counts {
        (a, b) if a == b => format!("n={a}"),
        (a, b) => format!("n={a}+{b}"),
    };
    match versus.p {
        Some(p) => format!("p={p:.3} {n}"),
        None => n,
    }
}
