//! Corrections for many comparisons. The p-values given are those of the rows that were tested; others do not count.

/// Holm's adjusted p-values in the order given (family-wise error, under any dependence; Holm 1979).
pub fn holm(ps: &[f64]) -> Vec<f64> {
    let mut adjusted = vec![0.0; ps.len()];
    let mut largest = 0.0_f64;
    for (rank, &i) in ascending(ps).iter().enumerate() {
        largest = largest.max(((ps.len() - rank) as f64 * ps[i]).min(1.0));
        adjusted[i] = largest;
    }
    adjusted
}

/// Benjamini and Hochberg's adjusted p-values in the order given (false discovery rate, independent or positively
/// dependent rows; 1995).
pub fn benjamini_hochberg(ps: &[f64]) -> Vec<f64> {
    let mut adjusted = vec![0.0; ps.len()];
    let mut smallest = 1.0_f64;
    for (rank, &i) in ascending(ps).iter().enumerate().rev() {
        smallest = smallest.min(ps[i] * ps.len() as f64 / (rank + 1) as f64);
        adjusted[i] = smallest;
    }
    adjusted
}

/// Indices by ascending p.
fn ascending(ps: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..ps.len()).collect();
    order.sort_by(|&a, &b| ps[a].total_cmp(&ps[b]));
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::oracle::Oracle;
    use proptest::prelude::*;

    #[test]
    fn adjusted_p_values_agree_with_the_oracle() {
        for c in Oracle::load("holm_bh").cases() {
            let all = c.get("p").as_array().unwrap();
            let tested: Vec<f64> = all.iter().filter_map(|p| p.as_f64()).collect();
            for (name, adjusted) in [("holm", holm(&tested)), ("bh", benjamini_hochberg(&tested))] {
                let mut adjusted = adjusted.into_iter();
                for (i, p) in all.iter().enumerate() {
                    c.at(name, i, p.as_f64().and_then(|_| adjusted.next()));
                }
            }
        }
    }

    proptest! {
        #[test]
        fn adjustment_keeps_order_and_never_lowers(ps in prop::collection::vec(0.0..=1.0f64, 0..60)) {
            let (h, b) = (holm(&ps), benjamini_hochberg(&ps));
            for i in 0..ps.len() {
                prop_assert!(ps[i] <= b[i] * (1.0 + 1e-15) && b[i] <= h[i] * (1.0 + 1e-15) && h[i] <= 1.0);
                for j in 0..ps.len() {
                    prop_assert!(ps[i] > ps[j] || (h[i] <= h[j] && b[i] <= b[j]));
                }
            }
        }
    }
}
