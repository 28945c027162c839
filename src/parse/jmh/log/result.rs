//! `Result` blocks: what JMH states of a benchmark below its iterations.

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::value::{Value, parse_value};
use crate::parse::jmh::decode::decode;
use crate::parse::jmh::number::{self, Printed};
use crate::parse::jmh::unit;

/// What a `Result` block states.
#[derive(Clone, Debug, Default)]
pub struct ResultBlock {
    pub line: u64,
    pub name: Option<String>,
    pub label: String,
    pub value: Option<Value>,
    pub error: Option<Printed>,
    pub unit: String,
    pub stdev: Option<Printed>,
    pub n: Option<u64>,
    /// `[Sum]`, `[Maximum]`: not a mean; its error means nothing.
    pub added_up: bool,
}

impl ResultBlock {
    /// A line inside the block. Returns whether it belongs there.
    pub fn line(&mut self, body: &[u8]) -> bool {
        let text = decode(body);
        let text = text.trim();
        if let Some(at) = text.find("stdev = ")
            && (text.starts_with("(min, avg, max)") || text.starts_with("Statistics:"))
        {
            self.stdev = text[at + 8..].split([' ', ',']).next().and_then(number::parse_alone);
            // With a decimal comma the rest was cut off by the split.
            if let Some(word) = text[at + 8..].split(' ').next()
                && number::is_number(word)
            {
                self.stdev = number::parse_alone(word);
            }
            return true;
        }
        for prefix in ["N = ", "Samples, N = ", "samples = "] {
            if let Some(n) = text.strip_prefix(prefix) {
                self.n = number::integer(n.trim());
                return true;
            }
        }
        if let Some(mean) = text.strip_prefix("mean =") {
            return self.value.is_some() || self.value_line(mean.trim());
        }
        if [
            "CI (",
            "Confidence interval (",
            "min =",
            "max =",
            "p(",
            "(min, avg, max)",
            "Statistics:",
            "Histogram",
            "Percentiles",
        ]
        .iter()
        .any(|p| text.starts_with(p))
        {
            return true;
        }
        self.value.is_none() && self.value_line(text)
    }

    /// `22.071 ±(99.9%) 5.225 ms/op [Average]`
    pub fn value_line(&mut self, text: &str) -> bool {
        let text = match text.rsplit_once(" [") {
            Some((value, tag)) if tag.ends_with(']') => {
                self.added_up = tag != "Average]";
                value
            }
            _ => text,
        };
        let Some((value, error, unit)) = parse_value(text).filter(|(_, _, u)| unit::is_known(u) || u.contains('/'))
        else {
            return false;
        };
        (self.value, self.error, self.unit) = (Some(value), error, unit.to_owned());
        true
    }
}

/// The number of values for which `error = t(0.9995, n - 1) * stdev / sqrt(n)`, both known to the printed place; `None` where several
/// numbers that differ by more than 5 % fit.
pub fn infer_n(error: Printed, stdev: Printed) -> Option<u64> {
    // t / sqrt(n) falls with n.
    let factor = |n: u64| {
        #[expect(clippy::cast_precision_loss, reason = "below 2^20")]
        let n = n as f64;
        StudentsT::new(0.0, 1.0, n - 1.0).map_or(f64::NAN, |t| t.inverse_cdf(0.9995)) / n.sqrt()
    };
    let first_at_most = |limit: f64| {
        let (mut low, mut high) = (3u64, 1u64 << 20);
        while low < high {
            let middle = low.midpoint(high);
            if factor(middle) <= limit {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        low
    };
    let (e, s) = (error.resolution(), stdev.resolution());
    if stdev.value <= s || error.value <= e {
        return None;
    }
    let least = first_at_most((error.value + e) / (stdev.value - s));
    let most = first_at_most((error.value - e) / (stdev.value + s));
    let best = error.value / stdev.value;
    let near = first_at_most(best);
    let n = if near > 3 && factor(near - 1) - best < best - factor(near) { near - 1 } else { near };
    let narrow = most.saturating_sub(least) <= 1 + n / 20;
    (narrow && n < 1 << 20).then_some(n)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    pub fn n_follows_from_error_and_stdev() {
        let p = |value: f64, decimals| Printed { value, decimals };
        assert_eq!(infer_n(p(0.634, 3), p(1.870, 3)), Some(100));
        assert_eq!(infer_n(p(0.885, 3), p(2.610, 3)), Some(100));
        assert_eq!(infer_n(p(92834595.865, 3), p(106908458.656, 3)), Some(20));
        assert_eq!(infer_n(p(11.692, 3), p(6.115, 3)), Some(8));
        assert_eq!(infer_n(p(0.002, 3), p(0.003, 3)), None);
        assert_eq!(infer_n(p(0.0, 3), p(0.0, 3)), None);
    }
}
