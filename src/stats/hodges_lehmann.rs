//! Shift and ratio between two samples: the median of all pairwise differences or ratios, with the interval that
//! inverts the Mann-Whitney test (Hodges and Lehmann 1963).
//!
//! The interval runs from the k-th smallest to the k-th largest pair, where k comes from the null distribution without
//! ties: without ties it leaves out "no change" exactly when the two-sided p is at most 1 - confidence; with ties it is
//! conservative. The interval of the ratio of throughputs is the reciprocal of that of times.

use smallvec::SmallVec;

use crate::model::Sample;

use super::distributions::{normal_from_tail, two_sided_tail};
use super::utest::untied_is_affordable;
use super::{Interval, Ratio, UCache};

/// Up to this many pairs are written out (8 MB); order statistics of more are found by counting.
const MOST_PAIRS_LISTED: usize = 1_000_000;

/// An estimated difference after - before.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shift {
    /// The estimate.
    pub shift: f64,
    /// Where the true shift may lie; infinite with too few values.
    pub interval: Interval,
}

/// Median of the ratios after / before of all pairs (for an even number the geometric mean of the two middle ones), and
/// its interval at `confidence` (0 to 1), from 0 to infinity with too few values.
///
/// `None` where ratios make no sense: a zero, mixed signs, or ratios outside the range of f64.
pub fn hodges_lehmann_ratio(before: &Sample, after: &Sample, confidence: f64, cache: &UCache) -> Option<Ratio> {
    let mirrored = |s: &Sample| s.values().iter().rev().map(|v| -v).collect::<Vec<_>>();
    let (x_negative, y_negative);
    let (x, y) = if before.values()[0] < 0.0 {
        (x_negative, y_negative) = (mirrored(before), mirrored(after));
        (&x_negative[..], &y_negative[..])
    } else {
        (before.values(), after.values())
    };
    let [(x_min, x_max), (y_min, y_max)] = [ends(x)?, ends(y)?];
    let usable = x_min > 0.0 && y_min > 0.0 && y_min / x_max > 0.0 && (y_max / x_min).is_finite();
    if !usable {
        return None;
    }
    let (k, coverage) = rank(x.len(), y.len(), confidence, cache);
    let [lo, low_middle, high_middle, hi] = order_statistics(x, y, &Ratios, k);
    let ratio = if low_middle == high_middle { low_middle } else { low_middle.sqrt() * high_middle.sqrt() };
    let (lo, hi) = if k == 0 { (0.0, f64::INFINITY) } else { (lo, hi) };
    Some(Ratio { ratio, interval: Interval { lo, hi, confidence, coverage } })
}

/// Median of the differences after - before of all pairs, and its interval at `confidence` (0 to 1).
pub fn hodges_lehmann_shift(before: &Sample, after: &Sample, confidence: f64, cache: &UCache) -> Shift {
    let (x, y) = (before.values(), after.values());
    let (k, coverage) = rank(x.len(), y.len(), confidence, cache);
    let largest = [x, y].iter().flat_map(|s| ends(s)).fold(0.0, |m: f64, (lo, hi)| m.max(-lo).max(hi));
    // Halves of huge values, whose differences would overflow.
    let unit = if largest > f64::MAX / 2.0 { 0.5 } else { 1.0 };
    let [lo, low_middle, high_middle, hi] = order_statistics(x, y, &Shifts { unit }, k);
    let (lo, hi) = if k == 0 { (f64::NEG_INFINITY, f64::INFINITY) } else { (lo / unit, hi / unit) };
    Shift { shift: f64::midpoint(low_middle, high_middle) / unit, interval: Interval { lo, hi, confidence, coverage } }
}

fn ends(sorted: &[f64]) -> Option<(f64, f64)> {
    Some((*sorted.first()?, *sorted.last()?))
}

/// The largest k with P(U <= k - 1) <= (1 - confidence) / 2 without ties, and the coverage reached where it is exact.
fn rank(n: usize, m: usize, confidence: f64, cache: &UCache) -> (usize, Option<f64>) {
    let half_tail = two_sided_tail(confidence) / 2.0;
    if untied_is_affordable(n, m) {
        return cache.untied(n, m, |null| {
            let tails = null.lower_tails();
            let k = tails.partition_point(|&p| p <= half_tail);
            let left_out = if k == 0 { 0.0 } else { 2.0 * tails[k - 1] };
            (k, Some(1.0 - left_out))
        });
    }
    let pairs = n as f64 * m as f64;
    let sigma = (pairs * (n as f64 + m as f64 + 1.0) / 12.0).sqrt();
    // Half a unit for continuity: P(U <= k - 1) is taken at k - 1/2.
    let k = (pairs / 2.0 + 0.5 - normal_from_tail(2.0 * half_tail) * sigma).floor();
    (k.clamp(0.0, pairs / 2.0) as usize, None)
}

/// What is made of a pair.
trait Contrast {
    /// Must not rise with `x` nor fall with `y`.
    fn pair(&self, x: f64, y: f64) -> f64;

    /// At or above every `y` of which `pair(x, y)` is at most `value`, and hardly above the largest: counting by it needs no more than
    /// one look at `pair` for each `x`.
    fn reach(&self, x: f64, value: f64) -> f64;
}

/// y / x of positive values.
struct Ratios;

/// y - x, both times `unit`, a power of two.
struct Shifts {
    unit: f64,
}

/// A few units of the last place of 1.
const ROUNDING: f64 = 4.0 * f64::EPSILON;

impl Contrast for Ratios {
    fn pair(&self, x: f64, y: f64) -> f64 {
        y / x
    }

    fn reach(&self, x: f64, value: f64) -> f64 {
        // Where the product is not a normal number its relative error says nothing.
        value * x * (1.0 + ROUNDING) + f64::MIN_POSITIVE
    }
}

impl Contrast for Shifts {
    fn pair(&self, x: f64, y: f64) -> f64 {
        y * self.unit - x * self.unit
    }

    fn reach(&self, x: f64, value: f64) -> f64 {
        let x = x * self.unit;
        (value + x + ROUNDING * (value.abs() + x.abs()) + f64::MIN_POSITIVE) / self.unit
    }
}

/// The `k`-th smallest, the two middle and the `k`-th largest pair of all; those of k = 1 for k = 0. `x` and `y` are ascending.
fn order_statistics(x: &[f64], y: &[f64], contrast: &impl Contrast, k: usize) -> [f64; 4] {
    let pairs = x.len() * y.len();
    let k = k.max(1);
    let mut ranks = [k - 1, (pairs - 1) / 2, pairs / 2, pairs - k];
    // Only at a confidence near 0 are the outer ranks not the outer ones.
    ranks.sort_unstable();
    if let (Some((x_min, x_max)), Some((y_min, y_max))) = (ends(x), ends(y)) {
        let (smallest, largest) = (contrast.pair(x_max, y_min), contrast.pair(x_min, y_max));
        if smallest == largest {
            return [smallest; 4];
        }
    }
    if pairs > MOST_PAIRS_LISTED {
        return by_counting(x, y, contrast, ranks.map(|rank| rank as u64 + 1));
    }
    listed(x, y, contrast, ranks)
}

/// The pairs of these ascending ranks, from 0.
fn listed<const N: usize>(x: &[f64], y: &[f64], contrast: &impl Contrast, ranks: [usize; N]) -> [f64; N] {
    // As whole numbers, which compare faster.
    let mut all: SmallVec<[i64; 128]> = SmallVec::with_capacity(x.len() * y.len());
    for &x in x {
        all.extend(y.iter().map(|&y| order_key(contrast.pair(x, y))));
    }
    let mut rest = &mut all[..];
    let mut passed = 0;
    let mut found = [0.0; N];
    for (i, &rank) in ranks.iter().enumerate() {
        if i > 0 && rank == ranks[i - 1] {
            found[i] = found[i - 1];
            continue;
        }
        let (_, key, above) = rest.select_nth_unstable(rank - passed);
        found[i] = of_order_key(*key);
        rest = above;
        passed = rank + 1;
    }
    found
}

/// The pairs of these ranks (from 1, ascending) where there are too many to list: counts at a few values narrow each down to a
/// handful of pairs, which are listed. A count takes n + m steps, and about ten are needed.
fn by_counting(x: &[f64], y: &[f64], contrast: &impl Contrast, ranks: [u64; 4]) -> [f64; 4] {
    let pairs = Pairs { x: Runs::new(x), y: Runs::new(y), contrast };
    let (Some(first), Some(last)) = (pairs.extreme(false), pairs.extreme(true)) else { return [f64::NAN; 4] };
    let mut known = vec![Count { value: below(first), weight: 0, listed: 0 }, pairs.count(last)];
    // A thinned sample says about where to look.
    let thin = |s: &[f64]| -> Vec<f64> {
        let n = s.len().min(THINNED);
        (0..n).map(|i| s[(2 * i + 1) * s.len() / (2 * n)]).collect()
    };
    let (thin_x, thin_y) = (thin(x), thin(y));
    let scale = (thin_x.len() * thin_y.len()) as f64 / (x.len() as f64 * y.len() as f64);
    let near = |rank: u64, by: f64| ((rank as f64 * scale + by) as usize).min(thin_x.len() * thin_y.len() - 1);
    let margin = (thin_x.len() * thin_y.len()) as f64 / 256.0;
    for hint in
        listed(&thin_x, &thin_y, contrast, [near(ranks[0], -margin), near(ranks[1], 0.0), near(ranks[3], margin)])
    {
        pairs.learn(hint, &mut known);
    }
    let mut picked = Picked::default();
    ranks.map(|rank| pairs.select(rank, &mut known, &mut picked))
}

/// Values a side of a thinned sample.
const THINNED: usize = 100;

/// Distinct values, ascending.
struct Runs {
    values: Vec<f64>,
    /// Values up to and including each.
    up_to: Vec<u64>,
}

impl Runs {
    fn new(sorted: &[f64]) -> Self {
        let mut runs = Runs { values: Vec::new(), up_to: Vec::new() };
        for (i, &v) in sorted.iter().enumerate() {
            if sorted.get(i + 1) != Some(&v) {
                runs.values.push(v);
                runs.up_to.push(i as u64 + 1);
            }
        }
        runs
    }

    /// Number of values among the first `k` distinct ones.
    fn below(&self, k: usize) -> u64 {
        k.checked_sub(1).map_or(0, |last| self.up_to[last])
    }
}

/// How many pairs are at most a value.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Count {
    value: f64,
    /// Pairs of values.
    weight: u64,
    /// Pairs of distinct values.
    listed: u64,
}

/// All pairs of two samples.
struct Pairs<'a, C> {
    x: Runs,
    y: Runs,
    contrast: &'a C,
}

impl<C: Contrast> Pairs<'_, C> {
    /// The largest or smallest pair.
    fn extreme(&self, largest: bool) -> Option<f64> {
        let (x, y) = (&self.x.values, &self.y.values);
        let (x, y) = if largest { (x.first()?, y.last()?) } else { (x.last()?, y.first()?) };
        Some(self.contrast.pair(*x, *y))
    }

    fn count(&self, value: f64) -> Count {
        let (mut j, mut count) = (0, Count { value, weight: 0, listed: 0 });
        let mut before = 0;
        for (&x, &up_to) in self.x.values.iter().zip(&self.x.up_to) {
            j = self.advance(j, x, value);
            count.weight += (up_to - before) * self.y.below(j);
            count.listed += j as u64;
            before = up_to;
        }
        count
    }

    /// How many distinct `y` make pairs with `x` of at most `value`; at least `from` do.
    #[inline]
    fn advance(&self, from: usize, x: f64, value: f64) -> usize {
        const STEP: usize = 4;
        let y = &self.y.values[..];
        let (reach, mut j) = (self.contrast.reach(x, value), from);
        // Several at a time without a branch for each: which way the next one falls nobody can guess.
        while let Some(next) = y.get(j..j + STEP) {
            let within: usize = next.iter().map(|&y| usize::from(y <= reach)).sum();
            j += within;
            if within < STEP {
                break;
            }
        }
        while j < y.len() && y[j] <= reach {
            j += 1;
        }
        while j > from && self.contrast.pair(x, y[j - 1]) > value {
            j -= 1;
        }
        j
    }

    /// Counts at `value` and keeps that in order.
    fn learn(&self, value: f64, known: &mut Vec<Count>) {
        if let Err(at) = known.binary_search_by(|c| c.value.total_cmp(&value))
            && at > 0
            && at < known.len()
        {
            known.insert(at, self.count(value));
        }
    }

    /// The pair of `rank`; counts on the way join `known`, which begins below all pairs and ends with the largest.
    fn select(&self, rank: u64, known: &mut Vec<Count>, picked: &mut Picked) -> f64 {
        // A value occurs at most once with each distinct x: fewer pairs than these may not be told apart by counting.
        let tied = self.x.values.len().min(self.y.values.len()) as u64;
        let mut patience = 1.0;
        loop {
            let at = known.partition_point(|c| c.weight < rank).clamp(1, known.len() - 1);
            let (low, high) = (known[at - 1], known[at]);
            let (from, to) = (order_key(low.value), order_key(high.value));
            if to.saturating_sub(from) <= 1 {
                return high.value;
            }
            let gap = high.listed - low.listed;
            if gap <= FEW || (gap <= FEW + tied && patience > 1.0) {
                // The two middle ranks share a gap.
                if (picked.low, picked.high) != (low.value, high.value) {
                    *picked = self.pick(low.value, high.value);
                }
                return picked.at(rank - low.weight);
            }
            // Pairs lie densely: the rank's share of the gap says where it is, to about the root of their number.
            let share = (rank - low.weight) as f64 / (high.weight - low.weight) as f64;
            let margin = 4.0 * patience / (gap as f64).sqrt();
            if margin < 0.25 {
                for share in [share - margin, share + margin] {
                    let value = low.value + (high.value - low.value) * share;
                    if low.value < value && value < high.value {
                        self.learn(value, known);
                    }
                }
            }
            let shrunk = |known: &[Count]| {
                let at = known.partition_point(|c| c.weight < rank).clamp(1, known.len() - 1);
                known[at].listed - known[at - 1].listed < gap / 2
            };
            if !shrunk(known) {
                patience *= 8.0;
                // Never more than 64 times: halves of the f64 values between.
                self.learn(of_order_key(i128::midpoint(from.into(), to.into()) as i64), known);
            }
        }
    }

    /// The pairs above `low` and up to `high`.
    fn pick(&self, low: f64, high: f64) -> Picked {
        let mut found: Vec<(f64, u64)> = Vec::new();
        let y = &self.y.values[..];
        let (mut from, mut to) = (0, 0);
        for (i, &x) in self.x.values.iter().enumerate() {
            (from, to) = (self.advance(from, x, low), self.advance(to, x, high));
            let weight = self.x.below(i + 1) - self.x.below(i);
            found.extend(
                (from..to).map(|j| (self.contrast.pair(x, y[j]), weight * (self.y.below(j + 1) - self.y.below(j)))),
            );
        }
        found.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        Picked { low, high, found }
    }
}

/// The pairs of a gap between two counts.
struct Picked {
    low: f64,
    high: f64,
    /// Ascending, each with its number.
    found: Vec<(f64, u64)>,
}

impl Default for Picked {
    fn default() -> Self {
        Picked { low: f64::NAN, high: f64::NAN, found: Vec::new() }
    }
}

impl Picked {
    /// The pair of `rank`, from 1.
    fn at(&self, rank: u64) -> f64 {
        let mut passed = 0;
        let reached = self.found.iter().find(|(_, weight)| {
            passed += weight;
            passed >= rank
        });
        reached.map_or(self.high, |&(value, _)| value)
    }
}

/// Pairs that are listed sooner than counted again.
const FEW: u64 = 4096;

/// The next smaller value.
fn below(value: f64) -> f64 {
    of_order_key(order_key(value) - 1)
}

fn order_key(value: f64) -> i64 {
    let bits = value.to_bits() as i64;
    bits ^ (((bits >> 63) as u64) >> 1) as i64
}

fn of_order_key(key: i64) -> f64 {
    f64::from_bits((key ^ (((key >> 63) as u64) >> 1) as i64) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::mann_whitney;
    use crate::stats::oracle::Oracle;
    use proptest::prelude::*;

    fn sample(values: &[f64]) -> Sample {
        Sample::new(values.to_vec()).unwrap()
    }

    #[test]
    fn shifts_and_ratios_agree_with_the_oracle() {
        let cache = UCache::new();
        for c in Oracle::load("hodges_lehmann").cases() {
            let (x, y, conf) = (sample(&c.values("x")), sample(&c.values("y")), c.f64("conf"));
            assert_eq!(rank(x.len(), y.len(), conf, &cache).0 as u64, c.u64("k"), "{}", c.id());
            let shift = hodges_lehmann_shift(&x, &y, conf, &cache);
            c.number("shift", shift.shift);
            c.number("shift_lo", shift.interval.lo);
            c.number("shift_hi", shift.interval.hi);
            c.optional("coverage", shift.interval.coverage);
            let ratio = hodges_lehmann_ratio(&x, &y, conf, &cache);
            c.optional("ratio", ratio.map(|r| r.ratio));
            c.optional("ratio_lo", ratio.map(|r| r.interval.lo));
            c.optional("ratio_hi", ratio.map(|r| r.interval.hi));
            // Throughput instead of time: the sides' reciprocals in the same order give reciprocal bounds.
            if let Some(r) = ratio {
                let swapped = hodges_lehmann_ratio(&y, &x, conf, &cache).unwrap();
                c.number("ratio", 1.0 / swapped.ratio);
                c.number("ratio_lo", 1.0 / swapped.interval.hi);
                c.number("ratio_hi", 1.0 / swapped.interval.lo);
                assert_eq!(r.interval.coverage, swapped.interval.coverage);
            }
        }
    }

    #[test]
    fn ratios_need_one_sign_and_no_zero() {
        let cache = UCache::new();
        let ratio = |x: &[f64], y: &[f64]| hodges_lehmann_ratio(&sample(x), &sample(y), 0.5, &cache).map(|r| r.ratio);
        assert_eq!(ratio(&[1.0, 2.0], &[0.0, 2.0]), None);
        assert_eq!(ratio(&[-0.0, 2.0], &[1.0, 2.0]), None);
        assert_eq!(ratio(&[-1.0, 2.0], &[1.0, 2.0]), None);
        assert_eq!(ratio(&[-1.0], &[1.0]), None);
        assert_eq!(ratio(&[1e-300], &[1e300]), None);
        assert_eq!(ratio(&[-1.0, -2.0], &[-2.0, -4.0]), ratio(&[1.0, 2.0], &[2.0, 4.0]));
        assert_eq!(ratio(&[1e300], &[2e300]), Some(2.0));
    }

    #[test]
    fn huge_values_have_a_shift_that_is_not_nan() {
        let cache = UCache::new();
        let s = hodges_lehmann_shift(&sample(&[-f64::MAX, f64::MAX]), &sample(&[f64::MAX, -f64::MAX]), 0.5, &cache);
        assert_eq!(s.shift, 0.0);
    }

    #[test]
    fn past_the_exact_limit_the_rank_goes_on_smoothly() {
        let cache = UCache::new();
        for confidence in [0.9, 0.95, 0.99, 0.999] {
            let (exact, coverage) = rank(215, 215, confidence, &cache);
            let (normal, unknown) = rank(216, 216, confidence, &cache);
            assert!(coverage.is_some() && unknown.is_none());
            // k grows by about n per value a side; a discontinuity would show against that.
            assert!((normal as i64 - exact as i64 - 216).abs() < 60, "{confidence}: {exact} {normal}");
        }
    }

    #[test]
    fn counting_finds_what_sorting_finds() {
        let x: Vec<f64> = (0..40).map(|i| 1.0 + f64::from(i * i) * 0.01).collect();
        let y: Vec<f64> = (0..37).map(|i| 2.0 + f64::from(i) * 0.25).collect();
        fn holds(x: &[f64], y: &[f64], contrast: &impl Contrast) {
            let mut all: Vec<f64> = x.iter().flat_map(|&x| y.iter().map(move |&y| contrast.pair(x, y))).collect();
            all.sort_unstable_by(f64::total_cmp);
            for ranks in [[1, 2, 500, 740], [740, 741, 1479, 1480], [7, 7, 7, 7]] {
                assert_eq!(by_counting(x, y, contrast, ranks), ranks.map(|rank| all[rank as usize - 1]));
            }
        }
        holds(&x, &y, &Ratios);
        holds(&x, &y, &Shifts { unit: 1.0 });
        let huge = |v: &[f64]| v.iter().map(|v| v * 1.5e307).collect::<Vec<_>>();
        holds(&huge(&x), &huge(&y), &Shifts { unit: 0.5 });
        let tiny = |v: &[f64]| v.iter().map(|v| v * 1e-309).collect::<Vec<_>>();
        holds(&tiny(&x), &tiny(&y), &Ratios);
        holds(&tiny(&x), &tiny(&y), &Shifts { unit: 1.0 });
    }

    proptest! {
        #[test]
        fn counting_finds_what_listing_finds_with_and_without_ties(
            x in prop::collection::vec(1u32..3000, 70..120), y in prop::collection::vec(1u32..3000, 70..120),
            ranks in prop::array::uniform4(0usize..4900), grain in 1u32..400, decimals in 0i32..3,
        ) {
            let of = |v: &[u32]| -> Vec<f64> {
                let mut v: Vec<f64> = v.iter().map(|&v| f64::from(v / grain + 1) / 10f64.powi(decimals)).collect();
                v.sort_unstable_by(f64::total_cmp);
                v
            };
            let (x, y, mut ranks) = (of(&x), of(&y), ranks);
            ranks.sort_unstable();
            let from_1 = ranks.map(|r| r as u64 + 1);
            prop_assert_eq!(by_counting(&x, &y, &Ratios, from_1), listed(&x, &y, &Ratios, ranks));
            let shifts = Shifts { unit: 1.0 };
            prop_assert_eq!(by_counting(&x, &y, &shifts, from_1), listed(&x, &y, &shifts, ranks));
        }
    }

    #[test]
    fn two_million_pairs_are_not_listed() {
        let x: Vec<f64> = (0..1500).map(|i| 100.0 + f64::from(i * 7919 % 1500) * 0.01).collect();
        let y: Vec<f64> = x.iter().map(|v| v * 1.01).collect();
        let r = hodges_lehmann_ratio(&sample(&x), &sample(&y), 0.95, &UCache::new()).unwrap();
        assert!((r.ratio - 1.01).abs() < 1e-4 && r.interval.lo < 1.01 && r.interval.hi > 1.01, "{r:?}");
    }

    proptest! {
        #[test]
        fn the_interval_leaves_out_no_change_exactly_when_the_test_says_so(
            mut pool in prop::collection::hash_set(1u32..100_000, 4..40), n in 2usize..20,
            confidence in prop::sample::select(vec![0.5, 0.9, 0.95, 0.99]), push in 0u32..40_000,
        ) {
            let all: Vec<u32> = pool.drain().collect();
            let n = n.min(all.len() - 1);
            let x: Vec<f64> = all[..n].iter().map(|&v| f64::from(v)).collect();
            let y: Vec<f64> = all[n..].iter().map(|&v| f64::from(v + push)).collect();
            prop_assume!(x.iter().all(|v| !y.contains(v)));
            let cache = UCache::new();
            let p = mann_whitney(&sample(&x), &sample(&y), &cache).p.value();
            let r = hodges_lehmann_ratio(&sample(&x), &sample(&y), confidence, &cache).unwrap();
            let s = hodges_lehmann_shift(&sample(&x), &sample(&y), confidence, &cache);
            let significant = p <= two_sided_tail(confidence);
            prop_assert_eq!(!r.interval.contains(1.0), significant);
            prop_assert_eq!(!s.interval.contains(0.0), significant);
        }

        #[test]
        fn ratios_scale_and_bracket(
            x in prop::collection::vec(0.5..2.0f64, 1..15),
            y in prop::collection::vec(0.5..2.0f64, 1..15),
            power in -300i32..300,
        ) {
            let cache = UCache::new();
            let r = hodges_lehmann_ratio(&sample(&x), &sample(&y), 0.9, &cache).unwrap();
            prop_assert!(r.interval.lo <= r.ratio && r.ratio <= r.interval.hi);
            let unit = 2f64.powi(power);
            let scaled = |v: &[f64]| sample(&v.iter().map(|v| v * unit).collect::<Vec<_>>());
            prop_assert_eq!(Some(r), hodges_lehmann_ratio(&scaled(&x), &scaled(&y), 0.9, &cache));
            let faster = hodges_lehmann_ratio(&sample(&x), &scaled(&y), 0.9, &cache).unwrap();
            prop_assert!((faster.ratio / unit / r.ratio - 1.0).abs() < 1e-14);
        }
    }
}
