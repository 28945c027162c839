//! Two-level data: iterations within forks (processes). The fork mean is the unit of every test.
//!
//! Model: value = mean + fork effect (variance tau²) + iteration effect (variance sigma²). The mean of F forks of I
//! iterations has variance tau²/F + sigma²/(F I); pooling the iterations divides tau² by I as well. The variance of the
//! fork means estimates the right sum whatever goes on within a fork (Georges, Buytaert and Eeckhout 2007; Kalibera and
//! Jones 2013).
//!
//! Tests and intervals of nested data are those of [`super::welch_log`], [`super::mean_ci()`] and the others, given the
//! fork means.

use crate::model::Observations;

use super::describe::{Moments, moments, power_of_two_scale};
use super::distributions::f_upper_p;

/// The mean of each fork, in order of first appearance, each fork with equal weight; `None` where processes are not
/// told apart.
pub fn fork_means(observations: &Observations) -> Option<Vec<f64>> {
    Some(fork_moments(observations)?.iter().map(|m| m.mean).collect())
}

fn fork_moments(observations: &Observations) -> Option<Vec<Moments>> {
    let forks = observations.forks()?;
    Some(forks.iter().filter_map(|f| moments(&f.values, f.weights())).collect())
}

/// How the variance divides between forks and within them (one-way analysis of variance). Variances are squares of the
/// unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Anova {
    /// Number of forks, at least 1.
    pub forks: u64,
    /// Number of iterations of all forks.
    pub n: u64,
    /// All forks have equally many iterations.
    pub balanced: bool,
    /// Mean square within forks, estimates sigma²; `None` with one iteration a fork.
    pub within: Option<f64>,
    /// What takes more than one fork, and iterations within one.
    pub effect: Option<ForkEffect>,
}

/// What forks contribute to the variance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ForkEffect {
    /// Variance between forks, the estimate of tau², >= 0.
    pub component: f64,
    /// Intraclass correlation tau²/(tau² + sigma²), 0 to 1; `None` when nothing varies.
    pub icc: Option<f64>,
    /// Variance of the mean by fork means over that by pooled iterations; its root is the factor by which a pooled
    /// error is too small. `None` when nothing varies.
    pub design_effect: Option<f64>,
    /// F statistic and p of "all forks have one mean"; `None` when nothing varies within forks.
    pub test: Option<(f64, f64)>,
}

impl Anova {
    /// Divides the variance of `observations`; `None` where processes are not told apart or nothing was seen.
    pub fn new(observations: &Observations) -> Option<Self> {
        let mut forks = fork_moments(observations)?;
        let mut pooled = moments(&observations.values, observations.weights())?;
        // Squares must neither overflow nor vanish.
        let scale = power_of_two_scale(pooled.min.abs().max(pooled.max.abs()));
        for m in forks.iter_mut().chain([&mut pooled]) {
            (m.mean, m.sd) = (m.mean / scale, m.sd.map(|sd| sd / scale));
        }
        let unscaled = |square: f64| square * scale * scale;
        let count = forks.len() as u64;
        let n = pooled.n;
        let total = n as f64;

        let within_df = n - count;
        let within_squares: f64 = forks.iter().filter_map(|f| Some(f.sd?.powi(2) * (f.n - 1) as f64)).sum();
        let within = (within_df > 0).then(|| within_squares / within_df as f64);

        let effect = within.filter(|_| count > 1).map(|within| {
            let between_df = (count - 1) as f64;
            let between = forks.iter().map(|f| f.n as f64 * (f.mean - pooled.mean).powi(2)).sum::<f64>() / between_df;
            let typical = (total - forks.iter().map(|f| (f.n as f64).powi(2)).sum::<f64>() / total) / between_df;
            let component = ((between - within) / typical).max(0.0);
            let means: Vec<f64> = forks.iter().map(|f| f.mean).collect();
            let of_fork_means = moments(&means, None).and_then(|m| m.sd).map_or(0.0, |sd| sd * sd / count as f64);
            let of_pool = pooled.sd.map_or(0.0, |sd| sd * sd / total);
            ForkEffect {
                component: unscaled(component),
                icc: (component + within > 0.0).then(|| component / (component + within)),
                design_effect: (of_pool > 0.0).then(|| of_fork_means / of_pool),
                test: (within > 0.0).then(|| {
                    let f = between / within;
                    (f, f_upper_p(f, between_df, within_df as f64))
                }),
            }
        });
        let balanced = forks.iter().all(|f| f.n == forks[0].n);
        Some(Anova { forks: count, n, balanced, within: within.map(unscaled), effect })
    }

    /// Iterations worth doing in each fork when starting one and warming it up costs as much as `cost` iterations
    /// (Kalibera and Jones): infinite when forks do not differ ("as many as you like"). `None` for unbalanced data or
    /// when nothing varies.
    pub fn iterations_worth_doing(&self, cost: f64) -> Option<f64> {
        let (within, effect) = (self.within?, self.effect?);
        if !self.balanced || effect.icc.is_none() {
            return None;
        }
        Some(if effect.component > 0.0 { (cost * within / effect.component).sqrt() } else { f64::INFINITY })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Sample;
    use crate::stats::oracle::{Case, Oracle, values};
    use crate::stats::{
        UCache, fieller, log_delta, mann_whitney, mean_error, ratio_df, ratio_of_means, smallest_p_with_ties, welch_log,
    };

    fn nested(c: &Case<'_>, side: &str) -> Observations {
        let mut o = Observations::default();
        for (fork, iterations) in c.get(side).as_array().unwrap().iter().enumerate() {
            for v in values(iterations) {
                o.push(v, 1, Some(fork as u32));
            }
        }
        o
    }

    #[test]
    fn each_side_agrees_with_the_oracle() {
        for c in Oracle::load("hierarchical").cases() {
            for side in ["before", "after"] {
                let want = c.inner(&format!("{side}_summary")).unwrap();
                let o = nested(&c, side);
                let anova = Anova::new(&o).unwrap();
                assert_eq!((anova.forks, anova.n), (want.u64("forks"), want.u64("n")), "{}", c.id());
                let means = fork_means(&o).unwrap();
                let m = moments(&means, None).unwrap();
                let pooled = moments(&o.values, None).unwrap();
                want.number("mean", m.mean);
                want.number("pooled_mean", pooled.mean);
                want.optional("var_of_fork_means", m.sd.map(|sd| sd * sd));
                want.optional("within_var", anova.within);
                let conf = c.f64("conf");
                want.optional("error", m.sd.and_then(|sd| mean_error(sd, m.n, conf)));
                want.optional("naive_error", pooled.sd.and_then(|sd| mean_error(sd, pooled.n, conf)));
                want.optional("fork_var_component", anova.effect.map(|e| e.component));
                want.optional("icc", anova.effect.and_then(|e| e.icc));
                want.optional("design_effect", anova.effect.and_then(|e| e.design_effect));
                want.optional("fork_F", anova.effect.and_then(|e| e.test).map(|t| t.0));
                want.optional("fork_p", anova.effect.and_then(|e| e.test).map(|t| t.1));
                let worth = want.inner("optimal_iterations_per_fork");
                for cost in [1.0, 5.0, 20.0] {
                    match &worth {
                        Some(worth) => worth.number(&cost.to_string(), anova.iterations_worth_doing(cost).unwrap()),
                        None => assert_eq!(anova.iterations_worth_doing(cost), None, "{}", c.id()),
                    }
                }
            }
        }
    }

    #[test]
    fn comparisons_of_fork_means_agree_with_the_oracle() {
        let cache = UCache::new();
        for c in Oracle::load("hierarchical").cases() {
            let conf = c.f64("conf");
            let (x, y) = (fork_means(&nested(&c, "before")).unwrap(), fork_means(&nested(&c, "after")).unwrap());
            let log = welch_log(&x, &y).unwrap();
            match c.inner("ratio_log_welch_forks") {
                None => assert_eq!(log.test, None),
                Some(want) => {
                    want.number("ratio", log.ratio);
                    want.number("p_two_sided", log.test.unwrap().p);
                    want.number("df", log.test.unwrap().df);
                    let interval = log.interval(conf).unwrap();
                    want.number("lo", interval.lo);
                    want.number("hi", interval.hi);
                }
            }
            if let Some(want) = c.inner("ratio_of_means") {
                let side = |v: &[f64]| moments(v, None).unwrap().summary().unwrap();
                let (x, y) = (side(&x), side(&y));
                want.optional("ratio", ratio_of_means(&x, &y, conf).map(|r| r.ratio));
                want.optional("df", ratio_df(&x, &y));
                let bounds = log_delta(&x, &y, conf).map(|r| (r.interval.lo, r.interval.hi));
                want.pair("log_delta", bounds);
                let interval = fieller(&x, &y, conf).and_then(|f| f.interval()).unwrap();
                want.inner("fieller").unwrap().number("lo", interval.lo);
                want.inner("fieller").unwrap().number("hi", interval.hi);
            }
            let (x, y) = (Sample::new(x).unwrap(), Sample::new(y).unwrap());
            let (u, want) = (mann_whitney(&x, &y, &cache), c.inner("mwu_forks").unwrap());
            want.number("u", u.u);
            want.number("p_two_sided", u.p.value());
            want.number("min_p_two_sided", smallest_p_with_ties(&x, &y));
        }
    }

    #[test]
    fn flat_values_have_no_forks() {
        let mut o = Observations::default();
        o.push(1.0, 1, None);
        assert_eq!(fork_means(&o), None);
        assert_eq!(Anova::new(&o), None);
    }

    #[test]
    fn counts_of_a_histogram_weigh_within_their_fork_only() {
        let mut o = Observations::default();
        o.push(1.0, 3, Some(0));
        o.push(5.0, 1, Some(0));
        o.push(4.0, 1000, Some(1));
        assert_eq!(fork_means(&o), Some(vec![2.0, 4.0]));
    }

    #[test]
    fn constant_forks_have_no_test() {
        let mut o = Observations::default();
        for fork in 0..3 {
            o.push(7.0, 1, Some(fork));
            o.push(7.0, 1, Some(fork));
        }
        let a = Anova::new(&o).unwrap();
        let effect = a.effect.unwrap();
        assert_eq!((effect.icc, effect.design_effect, effect.test), (None, None, None));
        assert_eq!(a.iterations_worth_doing(5.0), None);
    }
}
