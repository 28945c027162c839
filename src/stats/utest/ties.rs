//! Null distribution of U given how the values tie.
//!
//! The groups of equal values are gone through upwards. When r of a group of t values fall to the first side, of which
//! so far `below` values of the other side are smaller, 2U grows by 2 r below + r (t - r), in C(t, r) ways (Klotz 1966;
//! for groups of one this is the shift algorithm of Streitberg and Röhmel 1986). All terms are positive: the error is
//! about N * 2^-53.

use smallvec::SmallVec;

use super::super::distributions::choose;
use super::{Groups, MOST_VALUES, Ranking, Tails};

/// The exact distribution takes milliseconds: the states gone through, each as wide as there are pairs.
///
/// Without large groups this is (n * m)^2 <= 2e7; few distinct values cost far less than many.
pub(super) fn is_affordable(ranking: &Ranking) -> bool {
    const MOST_STEPS: u64 = 20_000_000;
    if ranking.n + ranking.m > MOST_VALUES {
        return false;
    }
    // No pattern takes more.
    let most = (ranking.n.min(ranking.m) + 1) * (ranking.n + ranking.m);
    if (most * ranking.n * ranking.m) as u64 <= MOST_STEPS {
        return true;
    }
    let (mut seen, mut steps) = (0, 0u64);
    for &size in &ranking.groups {
        for j in counts(seen + size as usize, ranking.n, ranking.m) {
            steps += picks(j, seen, size as usize, ranking.m).count() as u64;
        }
        seen += size as usize;
    }
    steps * (ranking.n * ranking.m) as u64 <= MOST_STEPS
}

/// How many of the `seen` smallest values can be on the first side of `first` against `second` values.
fn counts(seen: usize, first: usize, second: usize) -> std::ops::RangeInclusive<usize> {
    seen.saturating_sub(second)..=first.min(seen)
}

/// How many values of a group of `size`, at least one, may have brought the first side to `j` when `seen` values came
/// before.
fn picks(j: usize, seen: usize, size: usize, second: usize) -> std::ops::RangeInclusive<usize> {
    j.saturating_sub(seen).max(1)..=size.min(j).min((j + second).saturating_sub(seen))
}

/// A tie pattern with an observed U, turned so that U is in the lower half.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Pattern {
    /// Values on the side whose U is counted.
    first: u32,
    /// 2U, at most the number of pairs.
    twice_u: u32,
    groups: GroupEnds,
}

/// Sizes of groups, small: of the values in ascending order a bit each, set where a group ends. Thousands of patterns are remembered.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct GroupEnds(SmallVec<[u64; 1]>);

impl GroupEnds {
    fn new(sizes: &[u32]) -> Self {
        let total: u32 = sizes.iter().sum();
        let mut bits: SmallVec<[u64; 1]> = SmallVec::from_elem(0, total.div_ceil(u64::BITS) as usize);
        let mut end = 0;
        for size in sizes {
            end += size;
            bits[(end - 1) as usize / 64] |= 1 << ((end - 1) % 64);
        }
        GroupEnds(bits)
    }

    fn sizes(&self) -> Groups {
        let mut before = 0;
        let mut sizes = Groups::new();
        for (k, &word) in self.0.iter().enumerate() {
            let mut rest = word;
            while rest != 0 {
                let end = k as u32 * u64::BITS + rest.trailing_zeros() + 1;
                sizes.push(end - before);
                before = end;
                rest &= rest - 1;
            }
        }
        sizes
    }
}

impl Pattern {
    /// The pattern, and whether it counts the other side's U: its lower tail is then the upper tail of `ranking`.
    pub fn new(ranking: &Ranking) -> (Self, bool) {
        let pairs = (ranking.n * ranking.m) as u64;
        // In the middle either side would do: the smaller one, so that swapping the sides changes no bit.
        let mirrored = ranking.twice_u > pairs || (ranking.twice_u == pairs && ranking.n > ranking.m);
        let (first, twice_u) =
            if mirrored { (ranking.m, 2 * pairs - ranking.twice_u) } else { (ranking.n, ranking.twice_u) };
        let pattern = Pattern { first: first as u32, twice_u: twice_u as u32, groups: GroupEnds::new(&ranking.groups) };
        (pattern, mirrored)
    }

    /// P(U <= u) and P(U >= u) of the first side.
    pub fn tails(&self) -> Tails {
        let groups = self.groups.sizes();
        let total: usize = groups.iter().map(|&t| t as usize).sum();
        let first = self.first as usize;
        let second = total - first;
        let target = self.twice_u as usize;
        let width = target + 1;
        // ways[j * width + w]: of the groups so far, j values on the first side and 2U = w.
        let mut ways = vec![0.0f64; (first + 1) * width];
        ways[0] = 1.0;
        // Counts above `reach` cannot occur yet, or cannot end at the target any more: the values still to come on the
        // first side lie above all of the second side so far.
        let reach = |j: usize, below: usize| -> Option<usize> {
            let least_to_come = 2 * (first - j) * below;
            target.checked_sub(least_to_come).map(|room| room.min(2 * j * below))
        };
        let mut seen = 0;
        let mut ways_to_pick = Vec::new();
        for size in groups {
            let size = size as usize;
            let after = seen + size;
            ways_to_pick.clear();
            ways_to_pick.extend((0..=size).map(|r| choose(size as u64, r as u64)));
            // Downwards, so that rows of fewer values are still those of the groups before.
            for j in counts(after, first, second).rev() {
                let Some(limit) = reach(j, after - j) else { continue };
                let (rows_before, row) = ways.split_at_mut(j * width);
                for r in picks(j, seen, size, second) {
                    let from = j - r;
                    let below = seen - from;
                    let Some(has) = reach(from, below) else { continue };
                    let gained = 2 * r * below + r * (size - r);
                    let Some(room) = limit.checked_sub(gained) else { continue };
                    let count = room.min(has) + 1;
                    let source = &rows_before[from * width..][..count];
                    for (to, from) in row[gained..][..count].iter_mut().zip(source) {
                        *to += ways_to_pick[r] * from;
                    }
                }
            }
            seen = after;
        }
        let all = choose(total as u64, first as u64);
        let last = &ways[first * width..];
        let less = last.iter().sum::<f64>() / all;
        let at = last[target] / all;
        // U is below its mean, so the upper tail is not the small one unless the null is very skewed, and never below
        // `at`.
        Tails { less, greater: (1.0 - less + at).clamp(at, 1.0) }
    }
}
