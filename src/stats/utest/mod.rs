//! Mann-Whitney U test, exact as far as affordable, with and without ties.
//!
//! U counts the pairs with before > after, plus half the equal pairs. Under the null all assignments of the pooled
//! values to the two sides are equally likely (exact for exchangeable values, conditional on ties). The two-sided p
//! doubles the smaller tail: valid for a skewed null too, the same with the sides swapped and under any monotone map of
//! the values. benchstat reads the lower tail at min(U, nm - U), which is wrong for ties with unequal counts; here it
//! is not.
//!
//! statrs's test is not used: its exact p-values are wrong unless the first sample is the larger one.

mod exact;
mod normal;
mod ties;

use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::model::Sample;

use super::distributions::{choose, ln_choose};
use super::power::smallest_p;
pub(super) use exact::Untied;

/// A p-value and where it comes from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PValue {
    /// From the exact null distribution.
    Exact(f64),
    /// From the normal approximation.
    Asymptotic(f64),
}

impl PValue {
    /// The probability, above 0 unless it is below the range of f64, at most 1.
    pub fn value(self) -> f64 {
        match self {
            PValue::Exact(p) | PValue::Asymptotic(p) => p,
        }
    }
}

/// Outcome of a Mann-Whitney U test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UTest {
    /// Two-sided.
    pub p: PValue,
    /// Pairs with before > after plus half the equal pairs: 0 to n * m.
    pub u: f64,
    /// P(after > before) + P(equal) / 2, the effect size A: 0.5 means no shift.
    pub effect: f64,
    /// All values of both sides are equal: p is 1.
    pub all_equal: bool,
}

/// One-sided p-values: P(U <= u) small says before < after.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Tails {
    less: f64,
    greater: f64,
}

impl Tails {
    fn two_sided(self) -> f64 {
        (2.0 * self.less.min(self.greater)).min(1.0)
    }
}

/// Sizes of groups of equal values, ascending by value; those of ten runs a side need no room of their own.
type Groups = SmallVec<[u32; 20]>;

/// What the test looks at: U, the counts, and how the pooled values tie.
#[derive(Clone, Debug, PartialEq)]
struct Ranking {
    n: usize,
    m: usize,
    /// 2U, whole.
    twice_u: u64,
    /// Sizes of the groups of equal values, ascending by value.
    groups: Groups,
}

impl Ranking {
    /// One merge of the two sorted samples. Equality is that of f64: -0 equals 0.
    fn new(before: &Sample, after: &Sample) -> Self {
        let (x, y) = (before.values(), after.values());
        let (mut i, mut j) = (0, 0);
        let mut twice_u = 0;
        let mut groups = Groups::with_capacity(x.len() + y.len());
        while i < x.len() || j < y.len() {
            let value = match (x.get(i), y.get(j)) {
                (Some(&a), Some(&b)) => a.min(b),
                (Some(&a), None) => a,
                (None, Some(&b)) => b,
                (None, None) => break,
            };
            let in_x = x[i..].iter().take_while(|&&v| v == value).count();
            let in_y = y[j..].iter().take_while(|&&v| v == value).count();
            twice_u += in_x as u64 * (2 * j + in_y) as u64;
            groups.push((in_x + in_y) as u32);
            i += in_x;
            j += in_y;
        }
        Ranking { n: x.len(), m: y.len(), twice_u, groups }
    }

    fn is_tied(&self) -> bool {
        self.groups.len() < self.n + self.m
    }

    fn all_equal(&self) -> bool {
        self.groups.len() == 1
    }

    fn outcome(&self, p: PValue) -> UTest {
        let u = self.twice_u as f64 / 2.0;
        let effect = 1.0 - u / (self.n as f64 * self.m as f64);
        UTest { p, u, effect, all_equal: self.all_equal() }
    }
}

/// How far the exact distribution is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ExactLimit {
    /// As far as it takes milliseconds.
    Affordable,
    /// benchstat's: 50 values a side without ties, 25 with.
    Benchstat,
}

impl ExactLimit {
    fn allows(self, ranking: &Ranking) -> bool {
        match self {
            ExactLimit::Affordable if ranking.is_tied() => ties::is_affordable(ranking),
            ExactLimit::Affordable => untied_is_affordable(ranking.n, ranking.m),
            ExactLimit::Benchstat => ranking.n.max(ranking.m) <= if ranking.is_tied() { 25 } else { 50 },
        }
    }
}

/// C(n + m, n) fits an f64 up to this many values of both sides.
const MOST_VALUES: usize = 1000;

/// The exact null distribution without ties takes milliseconds.
pub(super) fn untied_is_affordable(n: usize, m: usize) -> bool {
    let (n, m) = (n as u128, m as u128);
    n + m <= MOST_VALUES as u128 && n * m * n.min(m) <= 10_000_000
}

/// Null distributions already worked out, for any number of threads. Results are the same with a fresh one for each
/// test.
#[derive(Debug)]
pub struct UCache {
    /// Of up to [`FEW`] values a side, without a lock: threads that ask for the same one all the time would wait for each other.
    few: Box<[OnceLock<Untied>]>,
    untied: RwLock<FxHashMap<(usize, usize), Arc<Untied>>>,
    tied: RwLock<FxHashMap<ties::Pattern, Tails>>,
}

/// See [`UCache::few`].
const FEW: usize = 32;

impl Default for UCache {
    fn default() -> Self {
        let few = std::iter::repeat_with(OnceLock::new).take((FEW + 1) * (FEW + 1)).collect();
        UCache { few, untied: RwLock::default(), tied: RwLock::default() }
    }
}

impl UCache {
    /// An empty one.
    pub fn new() -> Self {
        UCache::default()
    }

    /// Gives `then` the null distribution of `n` against `m` values without ties.
    pub(super) fn untied<R>(&self, n: usize, m: usize, then: impl FnOnce(&Untied) -> R) -> R {
        /// Pairs of counts kept: enough for any real set of files, and bounded for the others.
        const KEPT: usize = 1024;
        let (a, b) = (n.min(m), n.max(m));
        if b <= FEW {
            return then(self.few[a * (FEW + 1) + b].get_or_init(|| Untied::new(a, b)));
        }
        let null = cached(&self.untied, KEPT, (a, b), |&(a, b)| Arc::new(Untied::new(a, b)));
        then(&null)
    }

    fn tails(&self, ranking: &Ranking) -> Tails {
        if !ranking.is_tied() {
            return self.untied(ranking.n, ranking.m, |null| null.tails(ranking.twice_u / 2));
        }
        /// Tie patterns kept; each takes some fifty bytes.
        const KEPT: usize = 1 << 15;
        let (pattern, mirrored) = ties::Pattern::new(ranking);
        let tails = cached(&self.tied, KEPT, pattern, ties::Pattern::tails);
        if mirrored { Tails { less: tails.greater, greater: tails.less } } else { tails }
    }
}

/// The value of `key`, computed outside of the lock if need be; kept while there is room.
fn cached<K: Clone + Eq + std::hash::Hash, V: Clone>(
    map: &RwLock<FxHashMap<K, V>>,
    room: usize,
    key: K,
    compute: impl FnOnce(&K) -> V,
) -> V {
    // A panic elsewhere cannot leave a half-written entry, so a poisoned lock is as good as a whole one.
    if let Some(found) = map.read().unwrap_or_else(PoisonError::into_inner).get(&key) {
        return found.clone();
    }
    let value = compute(&key);
    let mut map = map.write().unwrap_or_else(PoisonError::into_inner);
    if map.len() < room {
        map.insert(key, value.clone());
    }
    value
}

/// The two-sided test of `before` against `after`.
///
/// Exact while it takes milliseconds (about 215 values a side without ties, 66 with, more where there are few distinct
/// values), else the normal approximation with corrections for ties and continuity.
pub fn mann_whitney(before: &Sample, after: &Sample, cache: &UCache) -> UTest {
    test(&Ranking::new(before, after), cache, ExactLimit::Affordable)
}

/// As [`mann_whitney`]; with it, where p is above `alpha` and values differ, what [`smallest_p_with_ties`] gives.
pub fn mann_whitney_at(alpha: f64, before: &Sample, after: &Sample, cache: &UCache) -> (UTest, Option<f64>) {
    let ranking = Ranking::new(before, after);
    let test = test(&ranking, cache, ExactLimit::Affordable);
    (test, (test.p.value() > alpha && !test.all_equal).then(|| ranking.smallest_p()))
}

/// As [`mann_whitney`], exact as far as benchstat is: up to 50 values a side without ties, 25 with.
///
/// Its error with ties and unequal counts is not copied.
pub(super) fn mann_whitney_benchstat(before: &Sample, after: &Sample, cache: &UCache) -> UTest {
    test(&Ranking::new(before, after), cache, ExactLimit::Benchstat)
}

fn test(ranking: &Ranking, cache: &UCache, limit: ExactLimit) -> UTest {
    let p = if ranking.all_equal() {
        PValue::Exact(1.0)
    } else if limit.allows(ranking) {
        PValue::Exact(cache.tails(ranking).two_sided())
    } else {
        PValue::Asymptotic(normal::Approximation::new(ranking).two_sided())
    };
    ranking.outcome(p)
}

/// The smallest two-sided p that values tied as these are could have given, however they fell to the two sides.
pub fn smallest_p_with_ties(before: &Sample, after: &Sample) -> f64 {
    Ranking::new(before, after).smallest_p()
}

impl Ranking {
    fn smallest_p(&self) -> f64 {
        let Ranking { n, m, groups, .. } = self;
        if !self.is_tied() {
            return smallest_p(*n as u64, *m as u64);
        }
        // All of the smaller ranks on one side: free choice only within the group at the boundary.
        let ways = |groups: &mut dyn Iterator<Item = &u32>| {
            let mut left = *n;
            for &size in groups {
                let size = size as usize;
                if left <= size {
                    return (size as u64, left as u64);
                }
                left -= size;
            }
            (0, 0)
        };
        let ends = [ways(&mut groups.iter()), ways(&mut groups.iter().rev())];
        let all = ((n + m) as u64, *n as u64);
        let share = if n + m <= MOST_VALUES {
            ends.map(|(size, left)| choose(size, left) / choose(all.0, all.1))
        } else {
            ends.map(|(size, left)| (ln_choose(size, left) - ln_choose(all.0, all.1)).exp())
        };
        (2.0 * share[0].min(share[1])).min(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::oracle::Oracle;
    use proptest::prelude::*;

    fn sample(values: &[f64]) -> Sample {
        Sample::new(values.to_vec()).unwrap()
    }

    fn sides(c: &crate::stats::oracle::Case<'_>) -> (Sample, Sample) {
        (sample(&c.values("x")), sample(&c.values("y")))
    }

    /// Both tails by looking at every assignment.
    fn brute_force(x: &[f64], y: &[f64]) -> Tails {
        let pooled: Vec<f64> = x.iter().chain(y).copied().collect();
        let observed = twice_u(x, y);
        let (mut less, mut greater, mut all) = (0u64, 0u64, 0u64);
        for bits in 0u32..1 << pooled.len() {
            if bits.count_ones() as usize != x.len() {
                continue;
            }
            let (a, b): (Vec<_>, Vec<_>) = pooled.iter().enumerate().partition(|&(i, _)| bits >> i & 1 == 1);
            let u = twice_u(&a.iter().map(|p| *p.1).collect::<Vec<_>>(), &b.iter().map(|p| *p.1).collect::<Vec<_>>());
            all += 1;
            less += u64::from(u <= observed);
            greater += u64::from(u >= observed);
        }
        Tails { less: less as f64 / all as f64, greater: greater as f64 / all as f64 }
    }

    fn twice_u(x: &[f64], y: &[f64]) -> u64 {
        x.iter().flat_map(|a| y.iter().map(move |b| u64::from(a > b) * 2 + u64::from(a == b))).sum()
    }

    #[test]
    fn exact_tails_agree_with_the_oracle_both_ways() {
        let cache = UCache::new();
        for c in Oracle::load("mwu").cases() {
            let (x, y) = sides(&c);
            let ranking = Ranking::new(&x, &y);
            assert_eq!(ranking.twice_u as f64 / 2.0, c.f64("u"), "{}", c.id());
            assert_eq!(ranking.is_tied(), c.get("ties").as_bool().unwrap(), "{}", c.id());
            let tails = cache.tails(&ranking);
            c.number("p_less", tails.less);
            c.number("p_greater", tails.greater);
            c.number("p_two_sided", tails.two_sided());
            let swapped = cache.tails(&Ranking::new(&y, &x));
            c.number("p_less", swapped.greater);
            c.number("p_greater", swapped.less);
            if c.has("min_p_two_sided") {
                c.number("min_p_two_sided", smallest_p_with_ties(&x, &y));
                c.number("min_p_two_sided", smallest_p_with_ties(&y, &x));
            }
        }
    }

    #[test]
    fn the_test_is_exact_within_its_limits_and_says_so() {
        let cache = UCache::new();
        for c in Oracle::load("mwu").cases() {
            let (x, y) = sides(&c);
            let t = mann_whitney(&x, &y, &cache);
            match t.p {
                PValue::Exact(p) => c.number("p_two_sided", p),
                PValue::Asymptotic(p) => {
                    assert!(c.has("beyond_default_limit"), "{}", c.id());
                    assert!((p / c.f64("p_two_sided") - 1.0).abs() < 0.01, "{}", c.id());
                }
            }
            assert_eq!(t.all_equal, c.get("kind") == "all-equal" || x == y && x.is_constant(), "{}", c.id());
        }
    }

    #[test]
    fn the_normal_approximation_agrees_with_the_oracle() {
        for c in Oracle::load("mwu_asymptotic").cases() {
            let (x, y) = sides(&c);
            let a = normal::Approximation::new(&Ranking::new(&x, &y));
            c.number("mean_u", a.mean());
            c.number("sigma_u", a.sigma());
            c.number("abs_z_corrected", a.abs_z());
            c.number("p_two_sided", a.two_sided());
            c.number("p_less", a.tails().less);
            c.number("p_greater", a.tails().greater);
        }
    }

    #[test]
    fn large_samples_of_few_distinct_values_can_reach_a_small_p() {
        let side = |ones: usize| sample(&[vec![1.0; ones], vec![2.0; 5000 - ones]].concat());
        assert!(smallest_p_with_ties(&side(2500), &side(2400)) < 1e-100);
        // One value that differs: it is on one side or the other.
        assert!((smallest_p_with_ties(&side(5000), &side(4999)) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn benchstat_stops_being_exact_at_50_and_25() {
        let cache = UCache::new();
        let ramp = |n: usize, by: f64| sample(&(0..n).map(|i| i as f64 + by).collect::<Vec<_>>());
        let exact = |x: &Sample, y: &Sample| matches!(mann_whitney_benchstat(x, y, &cache).p, PValue::Exact(_));
        assert!(exact(&ramp(50, 0.0), &ramp(50, 0.5)));
        assert!(!exact(&ramp(51, 0.0), &ramp(50, 0.5)));
        assert!(exact(&ramp(25, 0.0), &ramp(25, 1.0)));
        assert!(!exact(&ramp(25, 0.0), &ramp(26, 1.0)));
        assert!(mann_whitney_benchstat(&sample(&[1.0; 60]), &sample(&[1.0; 60]), &cache).all_equal);
    }

    #[test]
    fn exact_and_normal_meet_at_the_limit() {
        let cache = UCache::new();
        for n in [215usize, 216] {
            let x: Vec<f64> = (0..n).map(|i| i as f64).collect();
            let y: Vec<f64> = (0..n).map(|i| i as f64 + 23.5 / 2.0).collect();
            let t = mann_whitney(&sample(&x), &sample(&y), &cache);
            assert_eq!(matches!(t.p, PValue::Exact(_)), n == 215);
            let normal = normal::Approximation::new(&Ranking::new(&sample(&x), &sample(&y))).two_sided();
            assert!((t.p.value() / normal - 1.0).abs() < 0.01, "{n}: {:?} {normal}", t.p);
        }
    }

    #[test]
    fn many_values_are_exact_where_few_are_distinct() {
        // 200 against 200 in two values (the oracle has this one): the normal approximation would be off by a tenth.
        let two_valued =
            |zeros: usize| sample(&(0..200).map(|i| if i < zeros { 0.0 } else { 1.0 }).collect::<Vec<_>>());
        let (x, y) = (two_valued(120), two_valued(100));
        let exact = mann_whitney(&x, &y, &UCache::new());
        assert!(matches!(exact.p, PValue::Exact(_)));
        let normal = normal::Approximation::new(&Ranking::new(&x, &y)).two_sided();
        assert!((normal / exact.p.value() - 1.0).abs() > 0.1, "{normal}");
        let limit = |n: usize| {
            let doubled = sample(&(0..n).map(|i| (i / 2) as f64).collect::<Vec<_>>());
            ExactLimit::Affordable.allows(&Ranking::new(&doubled, &doubled))
        };
        assert!(limit(60) && !limit(80));
    }

    #[test]
    fn one_value_a_side_and_complete_separation() {
        let cache = UCache::new();
        let p = |x: &[f64], y: &[f64]| mann_whitney(&sample(x), &sample(y), &cache).p.value();
        assert_eq!(p(&[1.0], &[2.0]), 1.0);
        assert_eq!(p(&[1.0], &[1.0]), 1.0);
        assert_eq!(p(&[1.0, 2.0, 3.0, 4.0, 5.0], &[6.0, 7.0, 8.0, 9.0, 10.0]), 2.0 / 252.0);
        assert_eq!(p(&[2.0; 5], &[1.0; 5]), 2.0 / 252.0);
        // Before is all smaller: every pair has after > before.
        assert_eq!(mann_whitney(&sample(&[1.0, 2.0]), &sample(&[3.0, 4.0]), &cache).effect, 1.0);
    }

    #[test]
    fn two_hundred_a_side_exactly_in_milliseconds() {
        let x: Vec<f64> = (0..200).map(|i| (i * 37 % 211) as f64).collect();
        let y: Vec<f64> = (0..200).map(|i| (i * 41 % 211) as f64 + 3.5).collect();
        let start = std::time::Instant::now();
        let t = mann_whitney(&sample(&x), &sample(&y), &UCache::new());
        assert!(matches!(t.p, PValue::Exact(_)));
        // Debug builds on a loaded machine; a release build takes some 5 ms.
        assert!(start.elapsed().as_secs_f64() < 5.0);
    }

    #[test]
    fn threads_share_a_cache_and_change_nothing() {
        use rayon::prelude::*;
        let rows: Vec<(Sample, Sample)> = (0..400u32)
            .map(|row| {
                let side = |salt: u32| {
                    let values = (0..4 + row % 5)
                        .map(|i| f64::from((i * 7919 + row * 31 + salt).wrapping_mul(2_654_435_761) % 23));
                    sample(&values.collect::<Vec<_>>())
                };
                (side(1), side(2))
            })
            .collect();
        let shared = UCache::new();
        let parallel: Vec<UTest> = rows.par_iter().map(|(x, y)| mann_whitney(x, y, &shared)).collect();
        let alone: Vec<UTest> = rows.iter().map(|(x, y)| mann_whitney(x, y, &UCache::new())).collect();
        assert_eq!(parallel, alone);
    }

    fn agree(a: Tails, b: Tails) -> bool {
        (a.less - b.less).abs() < 1e-14 && (a.greater - b.greater).abs() < 1e-14
    }

    fn tied_values(max: usize) -> impl Strategy<Value = Vec<f64>> {
        prop::collection::vec((-3i8..4).prop_map(f64::from), 1..max)
    }

    proptest! {
        #[test]
        fn small_samples_agree_with_every_assignment_looked_at(x in tied_values(6), y in tied_values(6)) {
            let got = UCache::new().tails(&Ranking::new(&sample(&x), &sample(&y)));
            prop_assert!(agree(got, brute_force(&x, &y)), "{got:?}");
        }

        #[test]
        fn small_untied_samples_agree_with_every_assignment_looked_at(
            order in Just((0..11u8).collect::<Vec<_>>()).prop_shuffle(),
            n in 1usize..11,
        ) {
            let values: Vec<f64> = order.iter().map(|&v| f64::from(v)).collect();
            let (x, y) = values.split_at(n);
            let got = UCache::new().tails(&Ranking::new(&sample(x), &sample(y)));
            prop_assert!(agree(got, brute_force(x, y)), "{got:?}");
        }

        #[test]
        fn laws_of_the_test(x in tied_values(30), y in tied_values(30), jitter in any::<bool>()) {
            let cache = UCache::new();
            let spread = |v: &[f64], by: f64| -> Vec<f64> {
                v.iter().enumerate().map(|(i, v)| if jitter { v + i as f64 * by } else { *v }).collect()
            };
            let (x, y) = (spread(&x, 0.011), spread(&y, 0.013));
            let t = mann_whitney(&sample(&x), &sample(&y), &cache);
            prop_assert!(t.p.value() > 0.0 && t.p.value() <= 1.0);
            prop_assert_eq!(t.u * 2.0, twice_u(&x, &y) as f64);
            // The sides swapped.
            let swapped = mann_whitney(&sample(&y), &sample(&x), &cache);
            prop_assert_eq!(t.p, swapped.p);
            prop_assert!((t.effect + swapped.effect - 1.0).abs() < 1e-15);
            // A rising map changes nothing; a falling one mirrors.
            let map = |v: &[f64], f: fn(f64) -> f64| sample(&v.iter().map(|&v| f(v)).collect::<Vec<_>>());
            prop_assert_eq!(t, mann_whitney(&map(&x, f64::exp), &map(&y, f64::exp), &cache));
            let falling = mann_whitney(&map(&x, |v| -v), &map(&y, |v| -v), &cache);
            prop_assert!((t.p.value() / falling.p.value() - 1.0).abs() < 1e-12);
            // A fresh cache changes nothing.
            prop_assert_eq!(t, mann_whitney(&sample(&x), &sample(&y), &UCache::new()));
            if let PValue::Exact(p) = t.p {
                prop_assert!(p >= smallest_p_with_ties(&sample(&x), &sample(&y)) * (1.0 - 1e-12));
            }
        }
    }
}
