//! Where a number stands on an axis, and which ticks the axis has.

/// A stretch of numbers laid on a stretch of places (pixels, columns).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Axis {
    /// Smallest and largest number; different, and above 0 where `log`.
    pub from: (f64, f64),
    /// Places of these.
    pub to: (f64, f64),
    /// Equal factors, not equal differences, are equally far apart.
    pub log: bool,
}

/// A mark of an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Tick {
    /// The number it stands at.
    pub at: f64,
    /// What is written there.
    pub label: String,
}

/// The ends with the factor `pad` around them (on a log axis); kept finite, and above 0 on a log axis.
pub fn widened((lo, hi): (f64, f64), pad: f64, log: bool) -> (f64, f64) {
    match log {
        true => ((lo / pad).max(f64::MIN_POSITIVE), (hi * pad).min(f64::MAX)),
        false => (lo.max(f64::MIN), hi.min(f64::MAX)),
    }
}

impl Axis {
    /// An axis over `numbers`, which are widened where they are one point. `None` when there are none.
    pub fn over(numbers: impl IntoIterator<Item = f64>, log: bool) -> Option<(f64, f64)> {
        let usable = |v: &f64| v.is_finite() && (!log || *v > 0.0);
        let ends = numbers.into_iter().filter(usable).fold(None, |ends: Option<(f64, f64)>, v| match ends {
            None => Some((v, v)),
            Some((lo, hi)) => Some((lo.min(v), hi.max(v))),
        });
        let ends = ends.map(|(lo, hi)| match hi > lo {
            true => (lo, hi),
            false if log => (lo / 1.05, hi * 1.05),
            false => (lo - (lo.abs() * 0.05).max(f64::MIN_POSITIVE), hi + (hi.abs() * 0.05).max(f64::MIN_POSITIVE)),
        });
        ends.map(|(lo, hi)| widened((lo, hi), 1.0, log))
    }

    /// The place of `number`, kept inside the axis.
    pub fn place(&self, number: f64) -> f64 {
        let f = |v: f64| if self.log { v.ln() } else { v };
        let (lo, hi) = (f(self.from.0), f(self.from.1));
        let share = ((f(number) - lo) / (hi - lo)).clamp(0.0, 1.0);
        let share = if share.is_nan() { 0.0 } else { share };
        self.to.0 + share * (self.to.1 - self.to.0)
    }

    /// Whether `number` lies on the axis.
    pub fn holds(&self, number: f64) -> bool {
        (self.from.0..=self.from.1).contains(&number)
    }

    /// Round numbers inside the axis, about `n` of them.
    pub fn round(&self, n: usize) -> Vec<f64> {
        let (lo, hi) = self.from;
        let n = n.max(1);
        if self.log && lo > 0.0 && hi / lo > 4.0 {
            return decades(lo, hi, n);
        }
        // Each end by itself: their difference may be too large a number.
        let step = nice_step(hi / n as f64 - lo / n as f64);
        if !step.is_finite() || step <= 0.0 {
            return vec![];
        }
        let first = (lo / step).ceil();
        let count = ((hi / step).floor() - first).clamp(0.0, 100.0) as usize;
        (0..=count).map(|i| (first + i as f64) * step).filter(|v| self.holds(*v)).collect()
    }
}

/// 1, 2 or 5 times a power of ten, at least `at_least`.
fn nice_step(at_least: f64) -> f64 {
    let power = 10f64.powf(at_least.log10().floor());
    [1.0, 2.0, 5.0, 10.0].into_iter().map(|m| m * power).find(|s| *s >= at_least * 0.999_999).unwrap_or(10.0 * power)
}

/// 1, 2, 5 per decade, or 1 per so many decades, between `lo` and `hi`.
fn decades(lo: f64, hi: f64, n: usize) -> Vec<f64> {
    let (first, last) = (lo.log10().floor() as i32, hi.log10().ceil() as i32);
    let between = |steps: &[f64], every: usize| -> Vec<f64> {
        let powers = (first..=last).step_by(every);
        powers.flat_map(|e| steps.iter().map(move |m| m * 10f64.powi(e))).filter(|v| (lo..=hi).contains(v)).collect()
    };
    let choices = [between(&[1.0, 2.0, 5.0], 1), between(&[1.0, 3.0], 1), between(&[1.0], 1)];
    let fits = choices.into_iter().find(|c| c.len() <= n + 2);
    fits.unwrap_or_else(|| between(&[1.0], ((last - first).unsigned_abs() as usize / n).max(1)))
}

/// Ticks for ratios on a log axis, written as changes in percent. Always has the tick of no change when it is inside.
pub fn percent_ticks(axis: &Axis, n: usize) -> Vec<Tick> {
    let wide = axis.from.1 / axis.from.0 > 4.0;
    let ratios: Vec<f64> = match wide {
        true => axis.round(n),
        false => {
            let percent =
                Axis { from: (100.0 * (axis.from.0 - 1.0), 100.0 * (axis.from.1 - 1.0)), log: false, ..*axis };
            percent.round(n).into_iter().map(|p| 1.0 + p / 100.0).collect()
        }
    };
    ratios.into_iter().map(|r| Tick { at: r, label: percent_label(100.0 * (r - 1.0)) }).collect()
}

/// `+10%`, `0%`, `+0.05%`: as many digits as a round number needs.
fn percent_label(percent: f64) -> String {
    // Six digits: enough for any round number, few enough to hide the rounding of the way here.
    let rounded = (percent * 1e6).round() / 1e6;
    match rounded {
        0.0 => "0%".to_owned(),
        p if p >= 1e5 => format!("{p:+.0e}%"),
        p => format!("{p:+}%"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_follow_the_scale_and_stay_inside() {
        let linear = Axis { from: (0.0, 10.0), to: (100.0, 200.0), log: false };
        assert_eq!((linear.place(5.0), linear.place(-1.0), linear.place(99.0)), (150.0, 100.0, 200.0));
        let log = Axis { from: (0.5, 2.0), to: (0.0, 80.0), log: true };
        assert!((log.place(1.0) - 40.0).abs() < 1e-9);
        assert_eq!(log.place(0.0), 0.0);
        let down = Axis { from: (0.0, 10.0), to: (90.0, 10.0), log: false };
        assert_eq!(down.place(0.0), 90.0);
    }

    #[test]
    fn ends_are_apart_and_numbers_that_have_no_place_left_out() {
        assert_eq!(Axis::over([3.0, 1.0, f64::NAN, f64::INFINITY], false), Some((1.0, 3.0)));
        assert_eq!(Axis::over([0.0, -1.0, 4.0, 2.0], true), Some((2.0, 4.0)));
        let (lo, hi) = Axis::over([2.0], true).unwrap();
        assert!(lo < 2.0 && hi > 2.0);
        let (lo, hi) = Axis::over([0.0], false).unwrap();
        assert!(lo < 0.0 && hi > 0.0);
        assert_eq!(Axis::over([], false), None);
        assert_eq!(Axis::over([-1.0], true), None);
    }

    #[test]
    fn ticks_are_round_numbers() {
        let axis = |lo: f64, hi: f64, log| Axis { from: (lo, hi), to: (0.0, 1.0), log };
        assert_eq!(axis(0.0, 10.0, false).round(5), [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]);
        assert_eq!(axis(-0.3, 0.31, false).round(4), [-0.2, 0.0, 0.2]);
        assert_eq!(axis(0.9, 150.0, true).round(6), [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0]);
        let labels =
            |lo, hi| -> Vec<String> { percent_ticks(&axis(lo, hi, true), 5).into_iter().map(|t| t.label).collect() };
        assert_eq!(labels(0.79, 1.21), ["-20%", "-10%", "0%", "+10%", "+20%"]);
        assert_eq!(labels(0.999, 1.002), ["-0.1%", "0%", "+0.1%", "+0.2%"]);
        assert_eq!(labels(0.19, 5.1), ["-80%", "-50%", "0%", "+100%", "+400%"]);
        assert!(axis(1e-300, 1e300, true).round(6).len() <= 10);
        assert!(axis(1.0, 1.0 + f64::EPSILON, false).round(5).len() <= 101);
    }

    proptest::proptest! {
        #[test]
        fn ticks_lie_on_their_axis(a in -1e12..1e12f64, b in -1e12..1e12f64, log: bool, n in 1..12usize) {
            if let Some(from) = Axis::over([a, b], log) {
                let axis = Axis { from, to: (0.0, 100.0), log };
                for t in axis.round(n) {
                    proptest::prop_assert!(axis.holds(t));
                    proptest::prop_assert!((0.0..=100.0).contains(&axis.place(t)));
                }
            }
        }
    }
}
