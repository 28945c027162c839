//! Warnings about a list of values: what makes its tests less trustworthy than they look. Values are never dropped.
//!
//! Values come in run order. The thresholds are engineering choices, each with its reason beside it. Whether the two
//! sides were measured at different times is not visible in the values, and not looked for here.
//!
//! False alarms on normal noise, each of 20,000 lists (share of lists warned of):
//!
//! | values | outliers | drift | step | correlation | bimodal |
//! |---|---|---|---|---|---|
//! | 5 | 13.7 % | - | - | - | - |
//! | 10 | 4.6 % | 0.5 % | - | 0.1 % | 2.8 % |
//! | 20 | 1.8 % | 0.7 % | 0.1 % | 0.7 % | 0.0 % |
//! | 50 | 0.6 % | 0.7 % | 0.5 % | 1.5 % | 0.0 % |
//!
//! Fork effect: 1.0 %; warm-up: at most 1.0 % (5 forks of 3 iterations).

use std::borrow::Cow;
use std::cmp::Ordering;

use crate::model::{Observations, Sample};

use super::describe::{Moments, Ordered, moments, quantile_r7, sum};
use super::distributions::{f_upper_p, normal_two_sided_p};
use super::forks::Anova;
use super::power::mde;
use super::welch::ln_ratio;

/// Something to know about the values. Relative numbers are fractions (0.04: 4 %).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Warning {
    /// Values far off the middle half.
    Outliers {
        /// How many.
        count: u64,
        /// Of how many.
        n: u64,
        /// Deviation of the farthest one from the median, relative to it, with its sign; `None` around a median of 0.
        farthest: Option<f64>,
    },
    /// Values rise or fall over the run.
    Drift {
        /// Change from the first to the last run along the fitted line, relative to the median, with its sign.
        change: f64,
        /// Two-sided p of the Mann-Kendall test.
        p: f64,
    },
    /// Values jump once.
    Step {
        /// Index of the first value after the jump, from 0.
        at: usize,
        /// Change of the median at the jump, relative to the median before it; `None` from a median of 0.
        change: Option<f64>,
        /// Approximate two-sided p of Pettitt's test.
        p: f64,
    },
    /// Neighbours in run order are alike: there are fewer independent values than values.
    Correlation {
        /// Lag-1 autocorrelation, > 0.
        lag1: f64,
        /// As many independent values tell as much.
        effective_n: f64,
    },
    /// The first iteration of each fork stands apart from the others.
    WarmUp {
        /// Mean excess of the first iterations over the rest of their fork, relative to the mean of the rest, with its
        /// sign.
        excess: f64,
    },
    /// Forks differ: an error that pools iterations is too small.
    ForkEffect {
        /// By this factor.
        too_small: f64,
        /// Share of the variance that is between forks, 0 to 1.
        icc: f64,
        /// p of the analysis of variance.
        p: f64,
    },
    /// Two or three forks: intervals are wide and tests weak.
    FewForks {
        /// Number of forks.
        forks: u64,
    },
    /// Values lie in two heaps.
    Bimodal {
        /// Mean of the lower heap.
        low: f64,
        /// Mean of the upper heap.
        high: f64,
        /// Share of the values in the upper heap, 0 to 1.
        share_high: f64,
    },
    /// Only large changes can be seen.
    Noise {
        /// Coefficient of variation, sd / |mean|.
        cv: f64,
        /// Change that a comparison with as many values as noisy as these would show with a probability of 80 %.
        detectable: Option<f64>,
    },
    /// The two sides spread differently.
    SpreadChanged {
        /// sd after over sd before, > 0.
        ratio: f64,
        /// The counts differ by more than a factor 2 as well: the Mann-Whitney test then calls up to 14 % false
        /// changes.
        counts_differ: bool,
    },
    /// So few distinct values that the timer or the printed digits limit what can be seen.
    Resolution {
        /// Number of distinct values.
        distinct: u64,
        /// Of how many.
        n: u64,
    },
}

/// Fences of outliers in interquartile ranges: Tukey's "far out".
const FAR_OUT: f64 = 3.0;
/// Tests of warnings are many and unasked for: one false alarm in a hundred.
const WARN_P: f64 = 0.01;
/// A drift below this is not worth a word.
const SMALLEST_DRIFT: f64 = 0.01;
/// Of longer series as many evenly spaced values are looked at for drifts and jumps: enough for any that matters.
const MOST_VALUES_IN_ORDER: usize = 1000;
/// Within-heap deviations that the empty gap between two heaps must span. Explaining 85 % of the variance puts the
/// means of equal heaps 4.8 deviations apart, so the gap is what tells heaps from one broad one.
const HEAP_GAP: f64 = 3.0;
const HEAP_EXPLAINED: f64 = 0.85;
const HEAP_SHARE: f64 = 0.2;
/// Deviations by which first iterations must exceed the others.
const WARM_UP_EXCESS: f64 = 3.0;
const NOISY_CV: f64 = 0.1;
const NOISY_DETECTABLE: f64 = 0.05;
/// So quiet that even three values a side show a change of [`NOISY_DETECTABLE`]: saves the quantiles for most rows.
const QUIET_CV: f64 = 0.015;
/// Where Mann-Whitney begins to misfire with unequal counts.
const SPREAD_RATIO: f64 = 3.0;

/// Warnings about one side of flat values (or fork means) in run order, in the order of [`Warning`]'s variants. Not for
/// exact units.
pub fn diagnose(values: &[f64]) -> Vec<Warning> {
    let Some(sample) = Sample::new(values.to_vec()) else { return Vec::new() };
    let [drift, step, correlation] = order(values, &sample);
    let resolution = resolution(&sample);
    // With a handful of distinct values, outliers are the resolution's.
    let outliers = if resolution.is_some() { None } else { outliers(&sample) };
    [outliers, drift, step, correlation, two_modes(&sample), noise(&sample), resolution].into_iter().flatten().collect()
}

/// Of [`diagnose`], what depends on the run order of `values`, whose sorted form is `sample`: drift, a step, correlation.
pub fn order(values: &[f64], sample: &Sample) -> [Option<Warning>; 3] {
    let (mut drift, mut step) = (drift(values, sample), step(values));
    if let (Some(_), Some(Warning::Step { at, .. })) = (drift, step) {
        // Both tests see either; the shape that fits better is named.
        if explained_by_split(values, at) > explained_by_line(values) { drift = None } else { step = None }
    }
    [drift, step, correlation(values)]
}

/// Of [`diagnose`], two modes; with a handful of distinct values these are the resolution's.
pub fn two_modes(sample: &Sample) -> Option<Warning> {
    if resolution(sample).is_some() { None } else { bimodal(sample) }
}

/// Warnings about iterations within forks; none where processes are not told apart.
pub fn diagnose_forks(observations: &Observations) -> Vec<Warning> {
    let Some(anova) = Anova::new(observations) else { return Vec::new() };
    let few = (2..=3).contains(&anova.forks).then_some(Warning::FewForks { forks: anova.forks });
    let effect = anova.effect.and_then(|e| {
        let ((_, p), icc, design_effect) = (e.test?, e.icc?, e.design_effect?);
        (p <= WARN_P && icc > 0.1).then(|| Warning::ForkEffect { too_small: design_effect.sqrt(), icc, p })
    });
    [warm_up(observations), effect, few].into_iter().flatten().collect()
}

/// Whether the spread changed by more than a factor 3 from `before` to `after`, beyond what the counts let chance do.
pub fn spread_changed(x: &Moments, y: &Moments) -> Option<Warning> {
    let ratio = y.sd? / x.sd?;
    if !(ratio > 0.0 && ratio.is_finite()) || ratio.max(1.0 / ratio) <= SPREAD_RATIO {
        return None;
    }
    let (wide, narrow) = if ratio > 1.0 { (y.n, x.n) } else { (x.n, y.n) };
    let f = ratio.max(1.0 / ratio).powi(2);
    let p = 2.0 * f_upper_p(f, (wide - 1) as f64, (narrow - 1) as f64);
    let counts_differ = x.n > 2 * y.n || y.n > 2 * x.n;
    (p <= WARN_P).then_some(Warning::SpreadChanged { ratio, counts_differ })
}

/// Number of values below `Q1 - fence * IQR` or above `Q3 + fence * IQR` (quantiles of type 7).
pub fn count_outliers(sample: &Sample, fence: f64) -> u64 {
    let (low, high) = fences(sample, fence);
    sample.values().iter().filter(|&&v| v < low || v > high).count() as u64
}

fn fences(sample: &Sample, fence: f64) -> (f64, f64) {
    let (q1, q3) = (quantile_r7(sample, 0.25), quantile_r7(sample, 0.75));
    (q1 - fence * (q3 - q1), q3 + fence * (q3 - q1))
}

fn outliers(sample: &Sample) -> Option<Warning> {
    let count = count_outliers(sample, FAR_OUT);
    if sample.len() < 5 || count == 0 {
        return None;
    }
    let median = sample.median();
    let (low, high) = (sample.values()[0] - median, sample.at(sample.count()) - median);
    let farthest = relative(if -low > high { low } else { high }, median);
    Some(Warning::Outliers { count, n: sample.count(), farthest })
}

/// `change` relative to the size of `base`.
fn relative(change: f64, base: f64) -> Option<f64> {
    (base != 0.0).then(|| change / base.abs())
}

/// Mann and Kendall's test for a trend in run order: the number of rising minus falling pairs, and the two-sided p of
/// its normal approximation with corrections for ties and continuity.
pub fn mann_kendall(values: &[f64]) -> (i64, f64) {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let (s, z) = kendall(values, &sorted);
    (s, normal_two_sided_p(z))
}

/// Rising minus falling pairs, and the size of the normal deviate; `sorted` are the values in order.
fn kendall(values: &[f64], sorted: &[f64]) -> (i64, f64) {
    let n = values.len();
    let s = if n <= 64 { rising_pairs_of_few(values) } else { rising_pairs(values, sorted) };
    let weight = |t: f64| t * (t - 1.0) * (2.0 * t + 5.0);
    let tied: f64 = sorted.chunk_by(|a, b| a == b).map(|group| weight(group.len() as f64)).sum();
    let variance = (weight(n as f64) - tied) / 18.0;
    let z = if variance > 0.0 { (s.unsigned_abs() as f64 - 1.0).max(0.0) / variance.sqrt() } else { 0.0 };
    (s, z)
}

/// Rising minus falling pairs, pair by pair.
fn rising_pairs_of_few(values: &[f64]) -> i64 {
    let after = |i: usize, v: f64| values[i + 1..].iter().map(|&w| i64::from(w > v) - i64::from(w < v)).sum::<i64>();
    values.iter().enumerate().map(|(i, &v)| after(i, v)).sum()
}

/// The same in O(n log n) steps: how many earlier values have each rank is kept in a Fenwick tree.
fn rising_pairs(values: &[f64], sorted: &[f64]) -> i64 {
    let n = values.len();
    let mut tree = vec![0i64; n + 1];
    let up_to = |tree: &[i64], rank: usize| {
        let (mut i, mut count) = (rank, 0);
        while i > 0 {
            count += tree[i];
            i &= i - 1;
        }
        count
    };
    let mut s = 0;
    for (seen, &value) in values.iter().enumerate() {
        let below = sorted.partition_point(|&v| v < value);
        let not_above = sorted.partition_point(|&v| v <= value);
        s += up_to(&tree, below) - (seen as i64 - up_to(&tree, not_above));
        let mut i = not_above;
        while i <= n {
            tree[i] += 1;
            i += i & i.wrapping_neg();
        }
    }
    s
}

/// At most [`MOST_VALUES_IN_ORDER`] of `values`, evenly spaced, the ends among them; and the index of the k-th.
fn thinned(values: &[f64]) -> (Cow<'_, [f64]>, impl Fn(usize) -> usize) {
    let (n, kept) = (values.len(), values.len().min(MOST_VALUES_IN_ORDER));
    let at = move |k: usize| if kept == n { k } else { k * (n - 1) / (kept - 1) };
    let thin = if kept == n { Cow::Borrowed(values) } else { (0..kept).map(|k| values[at(k)]).collect() };
    (thin, at)
}

/// Theil and Sen's slope: the median change per run over all pairs of runs. `None` below two values.
pub fn theil_sen_slope(values: &[f64]) -> Option<f64> {
    let (thin, at) = thinned(values);
    let mut slopes = Vec::with_capacity(thin.len() * thin.len().saturating_sub(1) / 2);
    for j in 1..thin.len() {
        for i in 0..j {
            slopes.push((thin[j] - thin[i]) / (at(j) - at(i)) as f64);
        }
    }
    Some(Sample::new(slopes)?.median())
}

fn drift(values: &[f64], sample: &Sample) -> Option<Warning> {
    /// Of a normal deviate: p is above [`WARN_P`], which saves its computation.
    const SMALL: f64 = 2.5;
    if values.len() < 8 {
        return None;
    }
    let (_, z) = match thinned(values).0 {
        Cow::Borrowed(values) => kendall(values, sample.values()),
        Cow::Owned(thin) => kendall(&thin, Sample::new(thin.clone())?.values()),
    };
    let p = if z < SMALL { 1.0 } else { normal_two_sided_p(z) };
    if p > WARN_P {
        return None;
    }
    let median = sample.median();
    let change = relative(theil_sen_slope(values)? * values.len() as f64, median)?;
    (change.abs() >= SMALLEST_DRIFT).then_some(Warning::Drift { change, p })
}

/// Pettitt's test for one jump in run order: index of the first value after the likeliest jump, and the approximate
/// two-sided p. `None` below two values.
pub fn pettitt(values: &[f64]) -> Option<(usize, f64)> {
    let sorted = Sample::new(values.to_vec())?;
    let n = values.len() as f64;
    let doubled_midrank = |value: f64| {
        let below = sorted.values().partition_point(|&v| v < value);
        let not_above = sorted.values().partition_point(|&v| v <= value);
        (below + not_above + 1) as f64
    };
    let mut rank_sum = 0.0;
    let mut best: Option<(usize, f64)> = None;
    for (i, &value) in values.iter().enumerate().take(values.len() - 1) {
        rank_sum += doubled_midrank(value);
        let k = (rank_sum - (i + 1) as f64 * (n + 1.0)).abs();
        if best.is_none_or(|(_, most)| k > most) {
            best = Some((i + 1, k));
        }
    }
    let (at, k) = best?;
    Some((at, (2.0 * (-6.0 * k * k / (n * n * n + n * n)).exp()).min(1.0)))
}

fn step(values: &[f64]) -> Option<Warning> {
    if values.len() < 20 {
        return None;
    }
    let (thin, index) = thinned(values);
    let (at, p) = pettitt(&thin)?;
    let at = index(at);
    if p > WARN_P {
        return None;
    }
    let (before, after) = values.split_at(at);
    let (before, after) = (Sample::new(before.to_vec())?.median(), Sample::new(after.to_vec())?.median());
    Some(Warning::Step { at, change: relative(after - before, before), p })
}

/// Share of the variance that a jump of the mean at index `at` explains, 0 to 1.
fn explained_by_split(values: &[f64], at: usize) -> f64 {
    let (low, high) = values.split_at(at);
    let (Some(all), Some(a), Some(b)) = (moments(values, None), moments(low, None), moments(high, None)) else {
        return 0.0;
    };
    let between = a.n as f64 * (a.mean - all.mean).powi(2) + b.n as f64 * (b.mean - all.mean).powi(2);
    let total = all.sd.map_or(0.0, |sd| sd * sd) * (all.n - 1) as f64;
    if total > 0.0 { between / total } else { 0.0 }
}

/// Share of the variance that a straight line in run order explains, 0 to 1.
fn explained_by_line(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let Some(m) = moments(values, None) else { return 0.0 };
    let centre = (n - 1.0) / 2.0;
    let slope: f64 = values.iter().enumerate().map(|(i, v)| (i as f64 - centre) * (v - m.mean)).sum();
    let runs = n * (n * n - 1.0) / 12.0;
    let total = m.sd.map_or(0.0, |sd| sd * sd) * (n - 1.0);
    if total > 0.0 { slope * slope / (runs * total) } else { 0.0 }
}

/// Lag-1 autocorrelation in run order; `None` for constant values.
pub fn lag1(values: &[f64]) -> Option<f64> {
    let mean = sum(values.iter().copied()) / values.len() as f64;
    let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
    let products: f64 = values.windows(2).map(|w| (w[0] - mean) * (w[1] - mean)).sum();
    (squares > 0.0).then(|| products / squares)
}

fn correlation(values: &[f64]) -> Option<Warning> {
    let n = values.len() as f64;
    let lag1 = lag1(values)?;
    let alike = n >= 10.0 && lag1 > 2.0 / n.sqrt();
    alike.then(|| Warning::Correlation { lag1, effective_n: n * (1.0 - lag1) / (1.0 + lag1) })
}

fn bimodal(sample: &Sample) -> Option<Warning> {
    let (values, n) = (sample.values(), sample.len());
    if n < 10 {
        return None;
    }
    // Of all splits of the sorted values, the one that explains most: sums of the deviations from the smallest value.
    let shifted = |i: usize| values[i] - values[0];
    let total: f64 = (0..n).map(shifted).sum();
    let mut low_sum = 0.0;
    let best = (1..n).map(|at| {
        low_sum += shifted(at - 1);
        let apart = (total - low_sum) / (n - at) as f64 - low_sum / at as f64;
        (at, apart * apart * at as f64 * (n - at) as f64)
    });
    let (at, _) = best.max_by(|a, b| a.1.total_cmp(&b.1))?;
    let share = at.min(n - at) as f64 / n as f64;
    if share < HEAP_SHARE || explained_by_split(values, at) < HEAP_EXPLAINED {
        return None;
    }
    let (low, high) = (moments(&values[..at], None)?, moments(&values[at..], None)?);
    let squares = |m: &Moments| m.sd.map_or(0.0, |sd| sd * sd * (m.n - 1) as f64);
    let within = ((squares(&low) + squares(&high)) / (n - 2) as f64).sqrt();
    let heaps = high.min - low.max >= HEAP_GAP * within;
    heaps.then(|| Warning::Bimodal { low: low.mean, high: high.mean, share_high: (n - at) as f64 / n as f64 })
}

fn noise(sample: &Sample) -> Option<Warning> {
    let values = sample.values();
    let m = Moments::of(sample);
    let cv = m.cv()?;
    // Three values with this deviation can show the change in question: more values can all the more.
    if m.n < 3 || cv < QUIET_CV {
        return None;
    }
    let detectable = (m.min > 0.0).then(|| {
        let logs: Vec<f64> = values.iter().map(|&v| ln_ratio(v, m.min)).collect();
        mde(moments(&logs, None)?.sd?, m.n, 0.05, 0.8)
    });
    let detectable = detectable.flatten();
    let noisy = cv > NOISY_CV || detectable.is_some_and(|d| d > NOISY_DETECTABLE);
    noisy.then_some(Warning::Noise { cv, detectable })
}

fn resolution(sample: &Sample) -> Option<Warning> {
    let distinct = sample.values().chunk_by(|a, b| a == b).count() as u64;
    let n = sample.count();
    (n >= 6 && (2..=3).contains(&distinct)).then_some(Warning::Resolution { distinct, n })
}

fn warm_up(observations: &Observations) -> Option<Warning> {
    // Histograms do not tell which value came first.
    if observations.weights().is_some() {
        return None;
    }
    let forks: Vec<Vec<f64>> = observations.forks()?.into_iter().map(|f| f.values).filter(|f| f.len() > 1).collect();
    let fewest = forks.iter().map(Vec::len).min()?;
    let firsts_are = |order: Ordering| forks.iter().all(|f| f[1..].iter().all(|v| f[0].total_cmp(v) == order));
    // As likely as this without any warm-up, on either side; too likely with five forks of two iterations.
    let chance = 2.0 * (fewest as f64).powi(-(forks.len() as i32));
    let always = forks.len() >= 5 && chance <= WARN_P && (firsts_are(Ordering::Greater) || firsts_are(Ordering::Less));

    let rests: Vec<Moments> = forks.iter().filter_map(|f| moments(&f[1..], None)).collect();
    let excesses: Vec<f64> = forks.iter().zip(&rests).map(|(f, rest)| f[0] - rest.mean).collect();
    let (excess, rest) =
        (moments(&excesses, None)?.mean, moments(&rests.iter().map(|r| r.mean).collect::<Vec<_>>(), None)?.mean);
    let squares: f64 = rests.iter().filter_map(|r| Some(r.sd?.powi(2) * (r.n - 1) as f64)).sum();
    let freedom: u64 = rests.iter().map(|r| r.n - 1).sum();
    let within = (squares / freedom as f64).sqrt();
    // Fewer than three degrees of freedom know next to nothing of the deviation.
    let large = freedom >= 3 && excess.abs() > WARM_UP_EXCESS * within;
    if always || large { Some(Warning::WarmUp { excess: relative(excess, rest)? }) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rising_pairs_are_the_same_counted_either_way() {
        let values: Vec<f64> = (0..500u32).map(|i| f64::from(i * 7919 % 97)).collect();
        let mut sorted = values.clone();
        sorted.sort_unstable_by(f64::total_cmp);
        assert_eq!(rising_pairs(&values, &sorted), rising_pairs_of_few(&values));
    }

    use crate::stats::oracle::Oracle;
    use proptest::prelude::*;

    #[test]
    fn statistics_behind_the_warnings_agree_with_the_oracle() {
        for c in Oracle::load("diagnostics").cases() {
            let values = c.values("values");
            let (s, p) = mann_kendall(&values);
            assert_eq!(Some(s), c.get("mann_kendall_S").as_i64(), "{}", c.id());
            c.number("mann_kendall_p", p);
            c.optional("theil_sen_slope", theil_sen_slope(&values));
            c.optional("lag1", lag1(&values));
            let sample = Sample::new(values).unwrap();
            assert_eq!(count_outliers(&sample, 1.5), c.u64("outliers_1_5_iqr"), "{}", c.id());
            assert_eq!(count_outliers(&sample, 3.0), c.u64("outliers_3_iqr"), "{}", c.id());
        }
    }

    /// Quantiles of a normal law in an order without any trend: quiet data of a given deviation.
    fn quiet(n: usize, center: f64, sd: f64) -> Vec<f64> {
        let step = (1..n).rev().find(|s| gcd(*s, n) == 1 && *s as f64 <= n as f64 * 0.62).unwrap_or(1);
        (0..n)
            .map(|i| center + sd * crate::stats::normal_quantile((((i * step + n / 2) % n) as f64 + 0.5) / n as f64))
            .collect()
    }

    fn gcd(a: usize, b: usize) -> usize {
        if b == 0 { a } else { gcd(b, a % b) }
    }

    fn forked(forks: &[impl AsRef<[f64]>]) -> Observations {
        let mut o = Observations::default();
        for (i, fork) in forks.iter().enumerate() {
            fork.as_ref().iter().for_each(|&v| o.push(v, 1, Some(i as u32)));
        }
        o
    }

    #[test]
    fn quiet_data_have_no_warning() {
        for n in [1, 3, 5, 10, 20, 50] {
            let found = diagnose(&quiet(n, 100.0, 0.5));
            assert_eq!(found, [], "{n}: {found:?}");
        }
        assert_eq!(diagnose(&[]), []);
        assert_eq!(diagnose(&[7.0; 30]), []);
    }

    #[test]
    fn far_off_values_are_counted() {
        let mut values = quiet(10, 100.0, 0.5);
        values[3] = 138.0;
        values[7] = 90.0;
        let Warning::Outliers { count: 2, n: 10, farthest: Some(by) } = diagnose(&values)[0] else {
            panic!("{:?}", diagnose(&values))
        };
        assert!((by - 0.38).abs() < 0.01, "{by}");
    }

    #[test]
    fn a_slope_is_a_drift_and_a_jump_is_a_step() {
        let sloped: Vec<f64> = quiet(30, 100.0, 0.3).iter().enumerate().map(|(i, v)| v + 0.15 * i as f64).collect();
        let found = diagnose(&sloped);
        assert!(matches!(found[0], Warning::Drift { change, .. } if (0.03..0.06).contains(&change)), "{found:?}");
        assert!(!found.iter().any(|w| matches!(w, Warning::Step { .. })), "{found:?}");

        let jumped: Vec<f64> =
            quiet(30, 100.0, 0.3).iter().enumerate().map(|(i, v)| v + if i < 12 { 0.0 } else { 4.0 }).collect();
        let found = diagnose(&jumped);
        assert!(
            matches!(found[0], Warning::Step { at: 12, change: Some(c), .. } if (0.03..0.05).contains(&c)),
            "{found:?}"
        );
        assert!(!found.iter().any(|w| matches!(w, Warning::Drift { .. })), "{found:?}");
        // Autocorrelated as well, and in two heaps.
        assert!(
            found.iter().any(|w| matches!(w, Warning::Correlation { effective_n, .. } if *effective_n < 15.0)),
            "{found:?}"
        );
    }

    #[test]
    fn a_drift_too_small_to_matter_is_not_one() {
        let values: Vec<f64> = (0..20).map(|i| 100.0 + 0.01 * f64::from(i)).collect();
        assert!(!diagnose(&values).iter().any(|w| matches!(w, Warning::Drift { .. })));
    }

    #[test]
    fn two_heaps_are_bimodal_and_one_broad_one_is_not() {
        let mut values = quiet(12, 10.1, 0.02);
        values.extend(quiet(8, 10.9, 0.02));
        let found = bimodal(&Sample::new(values).unwrap());
        assert!(
            matches!(found, Some(Warning::Bimodal { low, high, share_high })
            if (low - 10.1).abs() < 0.01 && (high - 10.9).abs() < 0.01 && share_high == 0.4),
            "{found:?}"
        );
        let even: Vec<f64> = (0..40).map(f64::from).collect();
        assert_eq!(bimodal(&Sample::new(even).unwrap()), None);
        // One value apart is an outlier, not a heap.
        let mut values = quiet(19, 10.0, 0.02);
        values.push(12.0);
        assert_eq!(bimodal(&Sample::new(values).unwrap()), None);
    }

    #[test]
    fn noise_says_what_could_be_seen() {
        let found = diagnose(&quiet(5, 100.0, 5.0));
        assert!(
            matches!(found[..], [Warning::Noise { cv, detectable: Some(d) }] if cv > 0.03 && d > 0.05),
            "{found:?}"
        );
        assert!(matches!(
            noise(&Sample::new(vec![-1.0, 1.0, 3.0]).unwrap()),
            Some(Warning::Noise { detectable: None, .. })
        ));
    }

    #[test]
    fn few_distinct_values_are_a_matter_of_resolution() {
        let values = [1.0, 1.0, 2.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
        let found = diagnose(&values);
        assert!(found.contains(&Warning::Resolution { distinct: 2, n: 10 }), "{found:?}");
        assert!(!found.iter().any(|w| matches!(w, Warning::Outliers { .. } | Warning::Bimodal { .. })), "{found:?}");
    }

    #[test]
    fn forks_that_differ_make_a_pooled_error_too_small() {
        let forks: Vec<Vec<f64>> = (0..5).map(|f| quiet(10, 100.0 + 2.0 * f64::from(f * 3 % 5), 0.5)).collect();
        let slices: Vec<&[f64]> = forks.iter().map(Vec::as_slice).collect();
        let found = diagnose_forks(&forked(&slices));
        assert!(
            matches!(found[..], [Warning::ForkEffect { too_small, icc, .. }] if too_small > 2.5 && icc > 0.9),
            "{found:?}"
        );
        let found = diagnose_forks(&forked(&slices[..2]));
        assert!(found.contains(&Warning::FewForks { forks: 2 }), "{found:?}");
        let alike: Vec<&[f64]> = vec![&forks[0]; 5];
        assert_eq!(diagnose_forks(&forked(&alike)), []);
    }

    #[test]
    fn slow_first_iterations_are_noticed_either_way() {
        let fork: [f64; 5] = [103.0, 100.0, 100.2, 99.9, 100.1];
        let found = diagnose_forks(&forked(&[fork; 5]));
        assert!(matches!(found[..], [Warning::WarmUp { excess }] if (0.02..0.04).contains(&excess)), "{found:?}");
        // Barely, but in every fork; and of throughput.
        let steady = [99.85, 100.0, 100.2, 99.9, 100.1];
        assert!(matches!(diagnose_forks(&forked(&[steady; 5]))[..], [Warning::WarmUp { excess }] if excess < 0.0));
        assert_eq!(diagnose_forks(&forked(&[steady; 4])), []);
        // Two iterations: being first in five forks is no rare thing.
        assert_eq!(diagnose_forks(&forked(&[[101.0, 100.0]; 5])), []);
    }

    fn spread(before: &[f64], after: &[f64]) -> Option<Warning> {
        spread_changed(&moments(before, None)?, &moments(after, None)?)
    }

    #[test]
    fn a_spread_that_changed_beyond_chance() {
        let found = spread(&quiet(10, 100.0, 0.5), &quiet(10, 100.0, 2.0));
        assert!(
            matches!(found, Some(Warning::SpreadChanged { ratio, counts_differ: false }) if (ratio - 4.0).abs() < 0.01),
            "{found:?}"
        );
        let found = spread(&quiet(10, 100.0, 2.0), &quiet(30, 100.0, 0.5));
        assert!(matches!(found, Some(Warning::SpreadChanged { counts_differ: true, .. })), "{found:?}");
        assert_eq!(spread(&quiet(3, 100.0, 0.5), &quiet(3, 100.0, 2.0)), None);
        assert_eq!(spread(&[1.0; 5], &[1.0, 2.0]), None);
    }

    #[test]
    fn pettitt_finds_the_jump_by_definition() {
        let values = [3.0, 1.0, 2.0, 2.0, 8.0, 9.0, 7.0, 9.0];
        let (at, p) = pettitt(&values).unwrap();
        // K = sum of sign(after - before) over the 4 x 4 pairs = 16.
        assert_eq!(at, 4);
        assert!((p - 2.0 * (-6.0 * 256.0 / (512.0f64 + 64.0)).exp()).abs() < 1e-15);
        assert_eq!(pettitt(&[1.0]), None);
    }

    proptest! {
        #[test]
        fn trends_count_pairs(values in prop::collection::vec((0i8..9).prop_map(f64::from), 0..40)) {
            let pairs = values.iter().enumerate().flat_map(|(j, b)| values[..j].iter().map(move |a| (a, b)));
            let s: i64 = pairs.map(|(a, b)| i64::from(b > a) - i64::from(b < a)).sum();
            prop_assert_eq!(mann_kendall(&values).0, s);
            let mut reversed = values.clone();
            reversed.reverse();
            prop_assert_eq!(mann_kendall(&reversed), (-s, mann_kendall(&values).1));
        }

        #[test]
        fn any_values_can_be_diagnosed(
            values in prop::collection::vec(prop::num::f64::NORMAL | prop::num::f64::ZERO, 0..40),
        ) {
            let found = format!("{:?}", diagnose(&values));
            prop_assert!(!found.contains("NaN"), "{}", found);
        }
    }
}
