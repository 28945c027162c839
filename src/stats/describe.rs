//! Mean, standard deviation and quantiles, of single values and of values with counts.

use crate::model::Sample;

/// Count, mean and spread of a list of values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moments {
    /// Number of values, counting weights; at least 1.
    pub n: u64,
    /// Arithmetic mean.
    pub mean: f64,
    /// Standard deviation of the single values (divisor n - 1); `None` for one value.
    pub sd: Option<f64>,
    /// Smallest value.
    pub min: f64,
    /// Largest value.
    pub max: f64,
}

impl Moments {
    /// Coefficient of variation, sd / |mean|; `None` for one value or a mean of 0.
    pub fn cv(&self) -> Option<f64> {
        let sd = self.sd?;
        (self.mean != 0.0).then(|| sd / self.mean.abs())
    }
}

/// Moments of `values`, each counted `weights` times; `None` when nothing is left to count.
///
/// Sums run over the sorted values, so that the order of the values does not matter; values that are sorted already are not sorted
/// again. Differences from the mean are exact where a large common offset would cost digits, and their squares are corrected for the
/// mean's own rounding.
pub fn moments(values: &[f64], weights: Option<&[u64]>) -> Option<Moments> {
    let Some(weights) = weights else {
        if values.is_sorted_by(|a, b| a.total_cmp(b).is_le()) {
            return moments_of_ascending(values);
        }
        let mut sorted = values.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        return moments_of_ascending(&sorted);
    };
    let mut sorted: Vec<(f64, u64)> =
        values.iter().copied().zip(weights.iter().copied()).filter(|&(_, w)| w > 0).collect();
    sorted.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let n = sorted.iter().fold(0u64, |n, &(_, w)| n.saturating_add(w));
    let (values, weights): (Vec<f64>, Vec<f64>) = sorted.into_iter().map(|(v, w)| (v, w as f64)).unzip();
    moments_of(&values, |i| weights[i], n)
}

impl Moments {
    /// Moments of a sample: those of its values in any order.
    pub fn of(sample: &Sample) -> Self {
        match moments_of_ascending(sample.values()) {
            Some(m) => m,
            None => unreachable!("a sample holds at least one value"),
        }
    }
}

fn moments_of_ascending(values: &[f64]) -> Option<Moments> {
    moments_of(values, |_| 1.0, values.len() as u64)
}

/// Moments of ascending values, the i-th counted `weight(i)` times, `n` in all.
fn moments_of(sorted: &[f64], weight: impl Fn(usize) -> f64, n: u64) -> Option<Moments> {
    let (min, max) = (*sorted.first()?, *sorted.last()?);
    let count = n as f64;
    let scale = power_of_two_scale(min.abs().max(max.abs()));
    let unit = 1.0 / scale;
    let within = |mean: f64| mean.clamp(min * unit, max * unit);
    let (mut center, squares);
    if min < 0.0 && max > 0.0 {
        center = within(sum(sorted.iter().enumerate().map(|(i, v)| v * unit * weight(i))) / count);
        let away = |(i, v): (usize, &f64)| (v * unit - center, weight(i));
        let rest = sum(sorted.iter().enumerate().map(away).map(|(d, w)| d * w));
        squares = sum(sorted.iter().enumerate().map(away).map(|(d, w)| d * d * w)) - rest * rest / count;
    } else {
        // Values of one sign do not cancel: what their plain sum loses is far below the deviations, whose sum gives it back.
        let [total] = sums(sorted, |i, v| [v * unit * weight(i)]);
        center = within(total / count);
        let [rest, away] = sums(sorted, |i, v| {
            let d = v * unit - center;
            [d * weight(i), d * d * weight(i)]
        });
        center = within(center + rest / count);
        squares = away - rest * rest / count;
    }
    let sd = (n > 1).then(|| (squares.max(0.0) / (count - 1.0)).sqrt() * scale);
    Some(Moments { n, mean: center * scale, sd, min, max })
}

/// Plain sums of `terms(index, value)`, in eight strands that a processor adds side by side.
fn sums<const N: usize>(values: &[f64], terms: impl Fn(usize, f64) -> [f64; N]) -> [f64; N] {
    const STRANDS: usize = 8;
    let mut totals = [[0.0_f64; STRANDS]; N];
    let blocks = values.chunks_exact(STRANDS);
    let (tail, rest) = (values.len() - blocks.remainder().len(), blocks.remainder());
    for (b, block) in blocks.enumerate() {
        for (k, &v) in block.iter().enumerate() {
            for (total, term) in totals.iter_mut().zip(terms(b * STRANDS + k, v)) {
                total[k] += term;
            }
        }
    }
    for (k, &v) in rest.iter().enumerate() {
        for (total, term) in totals.iter_mut().zip(terms(tail + k, v)) {
            total[k] += term;
        }
    }
    totals.map(|[a, b, c, d, e, f, g, h]| ((a + b) + (c + d)) + ((e + f) + (g + h)))
}

/// Sum in the order given, with Neumaier's compensation: the error does not grow with the number of terms.
pub(super) fn sum(terms: impl Iterator<Item = f64>) -> f64 {
    let mut total = 0.0_f64;
    let mut lost = 0.0;
    for x in terms {
        let next = total + x;
        lost += if total.abs() >= x.abs() { (total - next) + x } else { (x - next) + total };
        total = next;
    }
    total + lost
}

/// A power of two to divide values of this size by before squaring them: 1 unless squares would overflow or vanish.
pub(super) fn power_of_two_scale(largest: f64) -> f64 {
    if largest == 0.0 || (1e-150..=1e150).contains(&largest) {
        return 1.0;
    }
    // The value with its mantissa cleared; two more powers of headroom so that differences cannot overflow.
    let power = f64::from_bits(largest.to_bits() & 0x7ff0_0000_0000_0000);
    if largest > 1.0 { power } else { power.max(f64::MIN_POSITIVE) }
}

/// Values that can be asked for by rank.
pub trait Ordered {
    /// Number of values, at least 1.
    fn count(&self) -> u64;
    /// The value of rank `k`, from 1 (smallest) to [`Ordered::count`].
    fn at(&self, k: u64) -> f64;

    /// The middle value, or the mean of the two middle values.
    fn median(&self) -> f64 {
        let n = self.count();
        f64::midpoint(self.at(n.div_ceil(2)), self.at(n / 2 + 1))
    }
}

impl Ordered for Sample {
    fn count(&self) -> u64 {
        self.len() as u64
    }

    fn at(&self, k: u64) -> f64 {
        self.values()[k as usize - 1]
    }
}

/// Values with counts (a histogram), ascending: what a [`Sample`] would be with every value repeated.
#[derive(Clone, Debug, PartialEq)]
pub struct Counted {
    /// Ascending values with the number of values up to and including each.
    cumulative: Vec<(f64, u64)>,
}

impl Counted {
    /// `values[i]` was seen `weights[i]` times; `None` when nothing was seen or a value is not finite.
    pub fn new(values: &[f64], weights: &[u64]) -> Option<Self> {
        let mut cumulative: Vec<(f64, u64)> =
            values.iter().copied().zip(weights.iter().copied()).filter(|&(_, w)| w > 0).collect();
        if cumulative.is_empty() || cumulative.iter().any(|(v, _)| !v.is_finite()) {
            return None;
        }
        cumulative.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let mut total = 0u64;
        for (_, count) in &mut cumulative {
            total = total.saturating_add(*count);
            *count = total;
        }
        Some(Counted { cumulative })
    }
}

impl Ordered for Counted {
    fn count(&self) -> u64 {
        self.cumulative.last().map_or(0, |&(_, c)| c)
    }

    fn at(&self, k: u64) -> f64 {
        let i = self.cumulative.partition_point(|&(_, c)| c < k);
        self.cumulative[i.min(self.cumulative.len() - 1)].0
    }
}

/// Quantile `q` (0 to 1) by linear interpolation between order statistics, type 7 of Hyndman and Fan (R's and NumPy's
/// default).
pub fn quantile_r7(values: &impl Ordered, q: f64) -> f64 {
    let n = values.count();
    interpolate(values, (n - 1) as f64 * q + 1.0)
}

/// Quantile `q` (0 to 1), type 8 of Hyndman and Fan (median-unbiased), in the f64 steps benchstat takes.
pub fn quantile_r8(values: &impl Ordered, q: f64) -> f64 {
    let n = values.count() as f64;
    interpolate(values, 1.0 / 3.0 + q * (n + 1.0 / 3.0))
}

/// The value at the fractional rank `h`, clamped to the smallest and largest.
fn interpolate(values: &impl Ordered, h: f64) -> f64 {
    let n = values.count();
    let k = h.floor();
    if k < 1.0 {
        return values.at(1);
    }
    if k >= n as f64 {
        return values.at(n);
    }
    let (a, b) = (values.at(k as u64), values.at(k as u64 + 1));
    let step = b - a;
    if step.is_finite() { a + (h - k) * step } else { (1.0 - (h - k)) * a + (h - k) * b }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::oracle::Oracle;
    use proptest::prelude::*;

    #[test]
    fn moments_agree_with_the_oracle() {
        for c in Oracle::load("t").of_kind("mean_error") {
            let m = moments(&c.values("values"), None).unwrap();
            assert_eq!(m.n, c.u64("n"));
            c.number("mean", m.mean);
            c.optional("sd", m.sd);
        }
    }

    #[test]
    fn quartiles_of_type_7_agree_with_the_oracle() {
        for c in Oracle::load("diagnostics").cases() {
            let s = Sample::new(c.values("values")).unwrap();
            c.number("q1", quantile_r7(&s, 0.25));
            c.number("q3", quantile_r7(&s, 0.75));
            c.optional("cv", moments(s.values(), None).unwrap().cv());
        }
    }

    #[test]
    fn quartiles_of_type_8_match_hyndman_and_fan() {
        let s = Sample::new((1..=5).map(f64::from).collect()).unwrap();
        // p(k) = (k - 1/3)/(n + 1/3): the first quartile of 1..5 is 5/3.
        assert!((quantile_r8(&s, 0.25) - 5.0 / 3.0).abs() < 1e-15);
        assert_eq!((quantile_r8(&s, 0.0), quantile_r8(&s, 1.0)), (1.0, 5.0));
    }

    #[test]
    fn nothing_has_no_moments() {
        assert_eq!(moments(&[], None), None);
        assert_eq!(moments(&[1.0, 2.0], Some(&[0, 0])), None);
        assert_eq!(Counted::new(&[1.0], &[0]), None);
    }

    #[test]
    fn extreme_scales_neither_overflow_nor_vanish() {
        let m = moments(&[-f64::MAX, f64::MAX, 0.0], None).unwrap();
        assert_eq!(m.mean, 0.0);
        assert!(m.sd.unwrap() >= f64::MAX * 0.99, "{m:?}");
        let m = moments(&[1e-310, 3e-310], None).unwrap();
        assert!(
            (m.mean / 2e-310 - 1.0).abs() < 1e-10 && (m.sd.unwrap() / 2f64.sqrt() / 1e-310 - 1.0).abs() < 1e-10,
            "{m:?}"
        );
        let m = moments(&[1e200, 2e200, 3e200], None).unwrap();
        assert!((m.sd.unwrap() / 1e200 - 1.0).abs() < 1e-15, "{m:?}");
    }

    proptest! {
        #[test]
        fn counts_mean_repetition(pairs in prop::collection::vec((-1e6..1e6f64, 0u64..5), 1..20), q in 0.0..=1.0f64) {
            let (values, weights): (Vec<f64>, Vec<u64>) = pairs.iter().copied().unzip();
            let repeated: Vec<f64> = pairs.iter().flat_map(|&(v, w)| std::iter::repeat_n(v, w as usize)).collect();
            match (Sample::new(repeated.clone()), Counted::new(&values, &weights)) {
                (None, None) => {}
                (Some(s), Some(c)) => {
                    prop_assert_eq!(s.count(), c.count());
                    for k in 1..=s.count() {
                        prop_assert_eq!(s.at(k), c.at(k));
                    }
                    prop_assert_eq!(s.median(), c.median());
                    prop_assert_eq!(quantile_r8(&s, q), quantile_r8(&c, q));
                    prop_assert_eq!(quantile_r7(&s, q), quantile_r7(&c, q));
                    let (a, b) = (moments(&repeated, None).unwrap(), moments(&values, Some(&weights)).unwrap());
                    prop_assert!((a.mean - b.mean).abs() <= 1e-9);
                    prop_assert!((a.sd.unwrap_or(0.0) - b.sd.unwrap_or(0.0)).abs() <= 1e-6);
                }
                other => prop_assert!(false, "{:?}", other),
            }
        }

        #[test]
        fn moments_do_not_depend_on_order(mut values in prop::collection::vec(-1e9..1e9f64, 1..30)) {
            let m = moments(&values, None);
            values.reverse();
            prop_assert_eq!(m, moments(&values, None));
        }

        #[test]
        fn moments_scale(values in prop::collection::vec(0.1..10.0f64, 2..20), power in -900i32..900) {
            let factor = 2f64.powi(power);
            let a = moments(&values, None).unwrap();
            let b = moments(&values.iter().map(|v| v * factor).collect::<Vec<_>>(), None).unwrap();
            prop_assert!((a.mean * factor / b.mean - 1.0).abs() < 1e-15);
            prop_assert!(a.sd.unwrap() == 0.0 || (a.sd.unwrap() * factor / b.sd.unwrap() - 1.0).abs() < 1e-14);
        }
    }
}
