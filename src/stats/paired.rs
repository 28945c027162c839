//! Paired runs: the k-th value before with the k-th after. Alternating runs cancel drift that both sides share.

use super::describe::moments;
use super::distributions::{normal_two_sided_p, t_two_sided_p};
use super::mean_ci::mean_ci;
use super::welch::ln_ratio;
use super::{Interval, PValue, Ratio};

/// Up to this many pairs the signed-rank test is exact.
const MOST_EXACT_PAIRS: usize = 100;

/// What pairs say of the ratio after / before.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Paired {
    /// Geometric mean of the ratios of the pairs, with its t interval.
    pub ratio: Ratio,
    /// Two-sided p of the t test on the log ratios; `None` when all ratios are equal.
    pub p: Option<f64>,
    /// Two-sided p of the signed-rank test on the log ratios, as a check; `None` when no pair differs.
    pub signed_rank: Option<PValue>,
}

/// Compares the pairs at `confidence`; `None` for lists of unequal length, fewer than two pairs, or values that are not
/// positive.
pub fn paired(before: &[f64], after: &[f64], confidence: f64) -> Option<Paired> {
    let positive = before.iter().chain(after).all(|&v| v > 0.0);
    if before.len() != after.len() || !positive {
        return None;
    }
    let logs: Vec<f64> =
        before.iter().zip(after).map(|(&x, &y)| if y >= x { ln_ratio(y, x) } else { -ln_ratio(x, y) }).collect();
    let summary = moments(&logs, None)?.summary()?;
    let log = mean_ci(&summary, confidence)?;
    let interval = Interval { lo: log.lo.exp(), hi: log.hi.exp(), ..log };
    let p = (summary.sd > 0.0).then(|| {
        let t = summary.mean / (summary.sd / (summary.n as f64).sqrt());
        t_two_sided_p(t, (summary.n - 1) as f64)
    });
    Some(Paired { ratio: Ratio { ratio: summary.mean.exp(), interval }, p, signed_rank: signed_rank(&logs) })
}

/// Wilcoxon's signed-rank test of differences around 0, two-sided. Zeros are left out; `None` when nothing else is
/// there.
///
/// Exact given the ties up to 100 differences (every sign equally likely), else the normal approximation with
/// corrections for ties and continuity.
pub fn signed_rank(differences: &[f64]) -> Option<PValue> {
    let mut sizes: Vec<(f64, bool)> = differences.iter().filter(|&&d| d != 0.0).map(|&d| (d.abs(), d > 0.0)).collect();
    if sizes.is_empty() {
        return None;
    }
    sizes.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    // Twice the midranks are whole.
    let mut doubled = Vec::with_capacity(sizes.len());
    let mut positive = 0u64;
    for group in sizes.chunk_by(|a, b| a.0 == b.0) {
        let rank = (2 * doubled.len() + group.len() + 1) as u64;
        positive += rank * group.iter().filter(|g| g.1).count() as u64;
        doubled.extend(std::iter::repeat_n(rank, group.len()));
    }
    let total: u64 = doubled.iter().sum();
    let near = positive.min(total - positive);
    if doubled.len() <= MOST_EXACT_PAIRS {
        return Some(PValue::Exact((2.0 * lower_tail(&doubled, near as usize)).min(1.0)));
    }
    // Signs are independent, so the variance of the sum is a quarter of the sum of squares, whatever ties.
    let sigma = doubled.iter().map(|&r| (r as f64).powi(2)).sum::<f64>().sqrt() / 2.0;
    // Sums of doubled ranks: half a unit for continuity is one.
    let distance = (total as f64 / 2.0 - near as f64 - 1.0).max(0.0);
    Some(PValue::Asymptotic(normal_two_sided_p(distance / sigma)))
}

/// P(sum of a random subset <= target), every subset equally likely.
fn lower_tail(ranks: &[u64], target: usize) -> f64 {
    let mut chance = vec![0.0f64; target + 1];
    chance[0] = 1.0;
    for &rank in ranks {
        let rank = rank as usize;
        for sum in (0..=target).rev() {
            let with = if sum >= rank { chance[sum - rank] } else { 0.0 };
            chance[sum] = 0.5 * (chance[sum] + with);
        }
    }
    chance.iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Hollander and Wolfe's depression scores, R's example of wilcox.test(paired = TRUE).
    const FIRST: [f64; 9] = [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30];
    #[expect(clippy::approx_constant, reason = "a score of 3.14 is a score")]
    const SECOND: [f64; 9] = [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29];

    #[test]
    fn the_signed_rank_test_gives_the_published_p() {
        let differences: Vec<f64> = FIRST.iter().zip(SECOND).map(|(a, b)| a - b).collect();
        // R: V = 40, one-sided p 0.01953 = 10/512.
        assert_eq!(signed_rank(&differences), Some(PValue::Exact(20.0 / 512.0)));
        assert_eq!(signed_rank(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]), Some(PValue::Exact(2.0 / 64.0)));
        assert_eq!(signed_rank(&[0.0, 0.0]), None);
        // Zeros do not count, ties share ranks: of 4 subsets of {1.5, 1.5}, one has the sum 0.
        assert_eq!(signed_rank(&[0.0, 2.0, 2.0]), Some(PValue::Exact(0.5)));
    }

    #[test]
    fn the_t_test_of_pairs_gives_the_published_interval() {
        // Student's sleep data (R: t.test(extra, paired) t -4.0621, df 9, p 0.002833, interval -2.4598858 to
        // -0.7001142) as logarithms.
        let first = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0].map(f64::exp);
        let second = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4].map(f64::exp);
        let r = paired(&second, &first, 0.95).unwrap();
        assert!((r.p.unwrap() - 0.002833).abs() < 1e-6, "{r:?}");
        assert!((r.ratio.ratio.ln() + 1.58).abs() < 1e-12);
        assert!(
            (r.ratio.interval.lo.ln() + 2.4598858).abs() < 1e-6 && (r.ratio.interval.hi.ln() + 0.7001142).abs() < 1e-6
        );
    }

    #[test]
    fn what_cannot_be_paired() {
        assert_eq!(paired(&[1.0, 2.0], &[1.0], 0.95), None);
        assert_eq!(paired(&[1.0], &[1.0], 0.95), None);
        assert_eq!(paired(&[1.0, 0.0], &[1.0, 1.0], 0.95), None);
        let same = paired(&[1.0, 2.0], &[2.0, 4.0], 0.95).unwrap();
        assert_eq!((same.ratio.ratio, same.p, same.ratio.interval.lo), (2.0, None, 2.0));
    }

    #[test]
    fn exact_and_normal_meet() {
        let differences = |n: i32| (1..=n).map(|i| f64::from(if i % 5 < 3 { i } else { -i })).collect::<Vec<_>>();
        assert!(matches!(signed_rank(&differences(100)), Some(PValue::Exact(_))));
        let Some(PValue::Asymptotic(normal)) = signed_rank(&differences(101)) else { panic!("exact past the limit") };
        let doubled: Vec<u64> = (1..=101).map(|rank| 2 * rank).collect();
        let negative: u64 = differences(101).iter().filter(|d| **d < 0.0).map(|d| -2.0 * d).sum::<f64>() as u64;
        let exact = 2.0 * lower_tail(&doubled, negative as usize);
        assert!((exact / normal - 1.0).abs() < 0.01, "{exact} {normal}");
    }

    proptest! {
        #[test]
        fn small_lists_agree_with_all_signs_looked_at(
            d in prop::collection::vec((-4i32..5).prop_map(f64::from), 1..9),
        ) {
            let nonzero: Vec<f64> = d.iter().copied().filter(|d| *d != 0.0).collect();
            let got = signed_rank(&d);
            prop_assume!(!nonzero.is_empty());
            let rank = |v: f64| {
                let less = nonzero.iter().filter(|w| w.abs() < v.abs()).count();
                let equal = nonzero.iter().filter(|w| w.abs() == v.abs()).count();
                less as f64 + (equal as f64 + 1.0) / 2.0
            };
            let observed: f64 = nonzero.iter().filter(|v| **v > 0.0).map(|v| rank(*v)).sum();
            let (mut less, mut greater) = (0, 0);
            for bits in 0..1u32 << nonzero.len() {
                let sum: f64 = (0..nonzero.len()).filter(|i| bits >> i & 1 == 1).map(|i| rank(nonzero[i])).sum();
                less += u32::from(sum <= observed);
                greater += u32::from(sum >= observed);
            }
            let want = (2.0 * f64::from(less.min(greater)) / f64::from(1u32 << nonzero.len())).min(1.0);
            prop_assert!((got.unwrap().value() - want).abs() < 1e-14);
        }
    }
}
