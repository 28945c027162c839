//! Every rule of how a comparison is made and what it is called, one test each.

use super::testing::*;
use super::*;
use crate::model::{Center, Evidence, Series, Spread, Summary};
use crate::report::{IntervalMethod, Test, Verdict, Why};
use crate::units::Direction;

const BETTER: Verdict = Verdict::Better { confirmed: true };
const WORSE: Verdict = Verdict::Worse { confirmed: true };
const MAYBE_WORSE: Verdict = Verdict::Worse { confirmed: false };

fn plan() -> Plan {
    Plan::default()
}

/// Forks of three iterations, their means around `center`.
fn forks(center: f64, n: usize) -> Series {
    let means = around(center, 0.02, n);
    let forks: Vec<Vec<f64>> = means.iter().map(|m| vec![m * 0.999, m * 1.001, *m]).collect();
    forked(&forks.iter().map(Vec::as_slice).collect::<Vec<_>>())
}

#[test]
fn the_shape_of_both_sides_chooses_test_and_interval() {
    let raw = |center| flat(&around(center, 0.02, 10));
    let printed = |center: f64| summary(jmh(center, 0.02 * center, 25, 0.0));
    let one = |center| forked(&[&around(center, 0.02, 10)]);
    let cases = [
        ("flat", raw(1.0), raw(1.2), Test::MannWhitneyExact, IntervalMethod::HodgesLehmann),
        ("forks", forks(1.0, 5), forks(1.2, 5), Test::WelchLogForks, IntervalMethod::WelchLogForks),
        ("forks and flat", forks(1.0, 5), raw(1.2), Test::WelchLogForks, IntervalMethod::WelchLogForks),
        ("flat and forks", raw(1.0), forks(1.2, 5), Test::WelchLogForks, IntervalMethod::WelchLogForks),
        ("one process", one(1.0), forks(1.2, 5), Test::MannWhitneyExact, IntervalMethod::HodgesLehmann),
        ("one process and flat", raw(1.0), one(1.2), Test::MannWhitneyExact, IntervalMethod::HodgesLehmann),
        ("summaries", printed(1.0), printed(1.2), Test::WelchSummary, IntervalMethod::LogDelta),
        ("summary and flat", printed(1.0), raw(1.2), Test::WelchSummary, IntervalMethod::LogDelta),
        ("summary and forks", printed(1.0), forks(1.2, 5), Test::WelchSummary, IntervalMethod::LogDelta),
    ];
    for (name, old, new, test, interval) in cases {
        let c = pair(old, new, &plan());
        assert_eq!((c.test, c.interval), (test, interval), "{name}");
        assert!(c.p.unwrap() < 0.01 && c.ratio.unwrap() > 1.15, "{name}");
    }
}

#[test]
fn test_and_center_can_be_asked_for() {
    let raw = |center| flat(&around(center, 0.02, 10));
    let with = |test, center| Plan { test, center, ..plan() };
    let welch = with(TestChoice::Welch, CenterChoice::Auto);
    let ranks = with(TestChoice::MannWhitney, CenterChoice::Auto);
    let mean = with(TestChoice::Auto, CenterChoice::Mean);
    let mean_ranks = with(TestChoice::MannWhitney, CenterChoice::Mean);
    let median = with(TestChoice::Auto, CenterChoice::Median);
    let none = with(TestChoice::None, CenterChoice::Auto);
    for (old, new, plan, test, interval) in [
        (raw(1.0), raw(1.2), &welch, Test::Welch, IntervalMethod::WelchLog),
        (raw(1.0), raw(1.2), &mean, Test::Welch, IntervalMethod::WelchLog),
        (raw(1.0), raw(1.2), &mean_ranks, Test::MannWhitneyExact, IntervalMethod::HodgesLehmann),
        (forks(1.0, 6), forks(1.2, 6), &ranks, Test::MannWhitneyExact, IntervalMethod::HodgesLehmann),
        (forks(1.0, 6), forks(1.2, 6), &median, Test::WelchLogForks, IntervalMethod::WelchLogForks),
        (raw(1.0), raw(1.2), &none, Test::None, IntervalMethod::None),
    ] {
        let c = pair(old, new, plan);
        assert_eq!((c.test, c.interval), (test, interval), "{:?} {:?}", plan.test, plan.center);
    }
    // Ranks of six against six forks, not of all eighteen iterations: the smallest p there is.
    let c = pair(forks(1.0, 6), forks(1.2, 6), &ranks);
    assert_eq!(c.p, Some(2.0 / 924.0));
    let c = pair(raw(1.0), raw(1.2), &none);
    assert_eq!((c.verdict, c.why), (Verdict::Untested, Some(Why::NotAsked)));
}

#[test]
fn centers_follow_the_shape_and_a_row_shows_one_kind() {
    let cells = |old, new, plan: &Plan| {
        let r = report(vec![[Some(old), Some(new)]], plan);
        let row = r.tables.into_iter().next().unwrap().rows.remove(0);
        row.cells().map(|c| c.unwrap()).collect::<Vec<_>>()
    };
    let raw = || flat(&[1.0, 2.0, 6.0, 1.5, 1.75, 1.75]);
    let c = cells(raw(), raw(), &plan());
    assert_eq!((c[0].kind, c[0].center), (Some(Center::Median), Some(1.75)));
    assert_eq!((c[0].lo, c[0].hi), (Some(1.0), Some(6.0)));
    assert!((c[0].coverage.unwrap() - 0.96875).abs() < 1e-12);
    // Forked data are means of fork means, whatever the number of iterations of each.
    let two = || forked(&[&[1.0, 3.0], &[5.0, 5.0, 5.0, 5.0]]);
    let c = cells(two(), raw(), &plan());
    assert_eq!((c[0].kind, c[0].center, c[0].forks, c[0].n), (Some(Center::ForkMean), Some(3.5), Some(2), Some(6)));
    assert_eq!((c[1].kind, c[1].center), (Some(Center::Mean), Some(14.0 / 6.0)), "beside means a mean");
    let medians = Plan { center: CenterChoice::Median, ..plan() };
    let c = cells(forked(&[&[1.0, 1.0, 9.0], &[2.0], &[3.0, 3.0]]), raw(), &medians);
    assert_eq!((c[0].kind, c[0].center), (Some(Center::Median), Some(2.0)), "median of the forks' medians");
    assert_eq!((c[1].kind, c[1].center), (Some(Center::Median), Some(1.75)));
    // Calls of histograms are no runs.
    let c = cells(histogram(&[(1.0, 99), (2.0, 1)], None), raw(), &plan());
    assert_eq!((c[0].kind, c[0].center, c[0].n), (Some(Center::Mean), Some(1.01), Some(100)));
}

#[test]
fn words_follow_p_interval_and_margin() {
    let at = |center, spread| flat(&around(center, spread, 20));
    let verdict = |old, new| {
        let c = pair(old, new, &plan());
        (c.verdict, c.why)
    };
    assert_eq!(verdict(at(1.0, 0.02), at(1.2, 0.02)), (WORSE, None));
    assert_eq!(verdict(at(1.2, 0.02), at(1.0, 0.02)), (BETTER, None));
    // Significant, and shown to be negligible.
    let c = pair(at(1.0, 0.002), at(1.004, 0.002), &plan());
    assert!(c.p.unwrap() < 1e-6);
    assert_eq!((c.verdict, c.why), (Verdict::Same, None));
    assert_eq!(verdict(at(1.0, 0.002), at(1.0001, 0.002)), (Verdict::Same, None));
    assert_eq!(verdict(at(1.0, 0.2), at(1.01, 0.2)), (Verdict::Unclear, None));
    assert_eq!(verdict(flat(&[2.0; 5]), flat(&[2.0; 5])), (Verdict::Same, Some(Why::AllEqual)));
    assert_eq!(pair(flat(&[2.0; 5]), flat(&[2.0; 5]), &plan()).p, Some(1.0));
}

#[test]
fn direction_of_the_unit_turns_the_word_and_the_relative_ratio() {
    let rows = || vec![[Some(flat(&around(1.0, 0.02, 10))), Some(flat(&around(2.0, 0.02, 10)))]];
    for (unit, better, verdict, relative) in [
        ("sec/op", Some(Direction::Lower), WORSE, 0.5),
        ("op/sec", Some(Direction::Higher), BETTER, 2.0),
        ("widgets", None, Verdict::Changed { confirmed: true }, 2.0),
    ] {
        let r = compare(grid(unit, rows()), vec![], vec![], &plan()).unwrap();
        assert_eq!(r.tables[0].unit.better, better);
        let c = r.tables[0].rows[0].comparison(1).unwrap();
        assert_eq!(c.verdict, verdict, "{unit}");
        assert!((c.relative().unwrap() / relative - 1.0).abs() < 0.02, "{unit}");
        let (lo, hi) = c.ratio_interval(false).unwrap();
        assert!(lo <= c.relative().unwrap() && c.relative().unwrap() <= hi);
    }
}

#[test]
fn a_row_significant_alone_is_not_confirmed_after_the_correction() {
    // p = 2/70 of four against four, with a second row that shows nothing.
    let change = || [Some(flat(&[1.0, 1.01, 1.02, 1.03])), Some(flat(&[1.1, 1.11, 1.12, 1.13]))];
    let noise = || [Some(flat(&[1.0, 1.2, 1.4, 1.6])), Some(flat(&[1.1, 1.3, 1.35, 1.5]))];
    let alone = report(vec![change()], &plan());
    assert_eq!(alone.tables[0].rows[0].comparison(1).unwrap().verdict, WORSE);
    let r = report(vec![change(), noise()], &plan());
    let c = r.tables[0].rows[0].comparison(1).unwrap();
    assert_eq!((c.verdict, c.why), (MAYBE_WORSE, Some(Why::Correction)));
    assert_eq!(c.p_adjusted, Some(4.0 / 70.0));
    assert_eq!(
        notes(&r, 0)[1],
        "significant alone, not among the 2 rows tested together: with so few runs no row can be, 5 a side are needed"
    );
    assert_eq!((r.summary.slower, r.summary.after_correction, r.summary.expected_false), (1, 0, 0.1));
    let none = report(vec![change(), noise()], &Plan { correction: Correction::None, ..plan() });
    let c = none.tables[0].rows[0].comparison(1).unwrap();
    assert_eq!((c.verdict, c.p_adjusted), (WORSE, c.p));
    // Benjamini and Hochberg: the larger of two p is not multiplied.
    let bh = report(vec![change(), change()], &Plan { correction: Correction::Bh, ..plan() });
    assert_eq!(bh.summary.after_correction, 2);
}

#[test]
fn rows_of_equal_values_are_no_part_of_the_family() {
    let change = [Some(flat(&[1.0, 1.01, 1.02, 1.03])), Some(flat(&[1.1, 1.11, 1.12, 1.13]))];
    let equal = [Some(flat(&[1.0; 4])), Some(flat(&[1.0; 4]))];
    let r = report(vec![change, equal], &plan());
    assert_eq!(r.tables[0].rows[0].comparison(1).unwrap().verdict, WORSE);
    assert_eq!(r.summary.expected_false, 0.05);
}

#[test]
fn printed_errors_pool_forks_unless_their_number_is_known() {
    let printed = |center: f64| jmh(center, 0.02 * center, 25, 0.0);
    let c = pair(summary(printed(1.0)), summary(printed(1.2)), &plan());
    assert_eq!((c.verdict, c.why, c.test), (MAYBE_WORSE, Some(Why::Pooled), Test::WelchSummary));
    let with_forks = Plan { forks: Some(5), ..plan() };
    let guarded = pair(summary(printed(1.0)), summary(printed(1.2)), &with_forks);
    assert_eq!((guarded.verdict, guarded.test), (WORSE, Test::WelchSummaryForks));
    assert!(guarded.p.unwrap() > c.p.unwrap(), "five values tell less than 25");
    let width = |c: &crate::report::Comparison| c.hi.unwrap() - c.lo.unwrap();
    assert!(width(&guarded) > 2.0 * width(&c));
    // Known from the log is as good; one fork is one process.
    let known = |center, forks| summary(Summary { forks: Some(forks), ..printed(center) });
    assert_eq!(pair(known(1.0, 5), known(1.2, 5), &plan()).p, guarded.p);
    let one = pair(known(1.0, 1), known(1.2, 1), &plan());
    assert_eq!((one.verdict, one.why, one.p), (MAYBE_WORSE, Some(Why::OneProcess), c.p));
    let trusted = Plan { assume_independent: true, ..plan() };
    let c = pair(summary(printed(1.0)), summary(printed(1.2)), &trusted);
    assert_eq!((c.verdict, c.why), (WORSE, None));
    // More forks than values there are not.
    let few = Plan { forks: Some(100), ..plan() };
    assert_eq!(pair(summary(printed(1.0)), summary(printed(1.2)), &few).p, c.p);
}

#[test]
fn guarded_intervals_stay_on_logarithms_and_noisy_means_take_fieller() {
    let printed = |center: f64, error: f64| summary(jmh(center, error * center, 50, 0.0));
    let five = Plan { forks: Some(5), ..plan() };
    assert_eq!(pair(printed(1.0, 0.15), printed(1.1, 0.15), &five).interval, IntervalMethod::LogDelta);
    assert_eq!(pair(printed(1.0, 0.5), printed(1.1, 0.5), &plan()).interval, IntervalMethod::Fieller);
}

#[test]
fn one_process_a_side_is_tested_but_never_confirmed() {
    let one = |center| forked(&[&around(center, 0.02, 20)]);
    let c = pair(one(1.0), one(1.2), &plan());
    assert_eq!((c.verdict, c.why), (MAYBE_WORSE, Some(Why::OneProcess)));
    assert!(c.p.unwrap() < 1e-6);
    let r = report(vec![[Some(one(1.0)), Some(one(1.2))]], &plan());
    assert_eq!(notes(&r, 0), ["one process: differences between processes are invisible; several forks show them"]);
    assert_eq!(r.summary.in_doubt, 1);
    let calls = |v| histogram(&[(v, 1000), (2.0 * v, 10)], Some(0));
    let c = pair(calls(1.0), calls(1.2), &plan());
    assert_eq!((c.verdict, c.why), (MAYBE_WORSE, Some(Why::OneProcess)));
    let c = pair(histogram(&[(1.0, 9), (2.0, 1)], None), histogram(&[(1.0, 5), (2.0, 5)], None), &plan());
    assert_eq!((c.test, c.why), (Test::WelchSummary, Some(Why::OneProcess)), "not the ranks of two distinct values");
}

#[test]
fn few_forks_are_said() {
    let note = "2 or 3 forks a side are few: weak and cautious; 5 or more are advised";
    for (n, said) in [(2, true), (3, true), (4, false), (5, false)] {
        let r = report(vec![[Some(forks(1.0, n)), Some(forks(1.5, n))]], &plan());
        assert_eq!(notes(&r, 0).contains(&note), said, "{n} forks: {:?}", notes(&r, 0));
    }
}

#[test]
fn reasons_for_no_test() {
    let raw = || flat(&around(1.0, 0.02, 10));
    let why = |old, new| {
        let c = pair(old, new, &plan());
        assert_eq!((c.verdict, c.test, c.p), (Verdict::Untested, Test::None, None));
        c.why.unwrap()
    };
    let bare = |center, value| Summary { center, spread: Spread::None, ..jmh(value, 0.0, 5, 0.0) };
    let median = |value| summary(bare(Center::Median, value));
    let mean = |value| summary(bare(Center::Mean, value));
    assert_eq!(why(flat(&[1.0]), raw()), Why::SingleValue);
    assert_eq!(why(raw(), flat(&[1.0])), Why::SingleValue);
    assert_eq!(why(summary(Summary { n: Some(1), ..bare(Center::Mean, 1.0) }), mean(2.0)), Why::SingleValue);
    assert_eq!(why(mean(1.0), mean(2.0)), Why::NoSpread);
    assert_eq!(why(median(1.0), raw()), Why::NoSpread, "a median is shown beside it");
    assert_eq!(why(median(1.0), mean(2.0)), Why::KindDiffers);
    assert_eq!(why(Series::of(Evidence::Mixed), raw()), Why::MixedSummaries);
    let about = summary(Summary { approximate: true, ..jmh(1e-3, 1e-4, 5, 0.0) });
    assert_eq!(why(about, mean(2.0)), Why::Approximate);
    assert_eq!(why(forked(&[&[1.0], &[1.0]]), forked(&[&[2.0], &[2.0]])), Why::Constant);
    let r = report(vec![[Some(raw()), None], [None, Some(raw())]], &plan());
    for row in &r.tables[0].rows {
        assert_eq!(row.comparison(1).unwrap().why, Some(Why::OneSide));
    }
    assert_eq!((r.summary.unmatched, r.summary.untested), (2, 0));
}

#[test]
fn too_few_runs_say_how_many_are_needed() {
    let three = |v: f64| flat(&[v, v * 1.01, v * 1.02]);
    let r = report(vec![[Some(three(1.0)), Some(three(2.0))]], &plan());
    let c = r.tables[0].rows[0].comparison(1).unwrap();
    assert_eq!((c.verdict, c.why, c.p), (Verdict::Unclear, Some(Why::TooFew), Some(0.1)));
    assert_eq!((c.interval, c.lo, c.hi), (IntervalMethod::HodgesLehmann, None, None));
    assert_eq!(notes(&r, 0), ["need >= 6 runs for a 95% interval", "need >= 4 runs a side to reach p <= 0.05"]);
    // Nine of ten equal values leave a rank test nothing to work with.
    let ties = |v| flat(&[1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, v]);
    let r = report(vec![[Some(ties(1.0)), Some(ties(5.0))]], &plan());
    let c = r.tables[0].rows[0].comparison(1).unwrap();
    assert_eq!(c.verdict, Verdict::Same, "the interval says that");
    let wide = |v: f64| flat(&[1.0, 1.0, v, 1.0, 1.0]);
    let r = report(vec![[Some(wide(1.0)), Some(wide(5.0))]], &Plan { margin: 0.0, ..plan() });
    assert_eq!(r.tables[0].rows[0].comparison(1).unwrap().why, Some(Why::TooFew));
    assert!(notes(&r, 0).iter().any(|n| n.starts_with("so many values are equal")), "{:?}", notes(&r, 0));
}

#[test]
fn centers_against_ranks_say_nothing() {
    // The median falls while nearly all pairs rise.
    let old = [1.0, 1.0, 1.0, 1.0, 1.0, 5.0, 5.0, 5.0, 5.0, 5.0, 5.0];
    let new = [4.0, 4.1, 4.2, 4.3, 4.4, 4.9, 5.1, 5.2, 5.3, 5.4, 5.5];
    let c = pair(flat(&old), flat(&new), &Plan { alpha: 0.3, ..plan() });
    assert!(c.difference.unwrap() < 0.0 && c.ratio.unwrap() > 1.0 && c.p.unwrap() <= 0.3);
    assert_eq!((c.verdict, c.why), (Verdict::Unclear, Some(Why::Contradiction)));
    // Equal medians are no change to be told, whatever the ranks say.
    let (old, new) = ([1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0, 2.0, 2.0, 2.0]);
    let c = pair(flat(&old), flat(&new), &Plan { alpha: 0.3, margin: 0.0, ..plan() });
    assert_eq!((c.difference, c.why), (Some(0.0), Some(Why::Contradiction)));
}

#[test]
fn negative_values_and_zeros() {
    // All negative: the ratio is of sizes, the word follows the values.
    let c = pair(flat(&around(-1.0, 0.02, 10)), flat(&around(-2.0, 0.02, 10)), &plan());
    assert!((c.ratio.unwrap() - 2.0).abs() < 0.02);
    assert_eq!(c.verdict, BETTER, "smaller is better, and -2 is smaller");
    let c = pair(flat(&around(-2.0, 0.02, 10)), flat(&around(1.0, 0.02, 10)), &plan());
    assert_eq!((c.ratio, c.lo, c.verdict), (None, None, WORSE), "both signs have no ratio");
    let zero = || flat(&[0.0; 6]);
    let c = pair(zero(), flat(&around(1.0, 0.02, 6)), &plan());
    assert_eq!((c.delta_pct, c.ratio, c.verdict), (None, None, WORSE));
    assert_eq!(pair(zero(), zero(), &plan()).delta_pct, Some(0.0));
    // Forks with a value at zero: plain means.
    let c = pair(forked(&[&[0.0], &[1.0], &[2.0]]), forked(&[&[4.0], &[5.0], &[6.0]]), &plan());
    assert_eq!((c.test, c.interval), (Test::WelchLogForks, IntervalMethod::Fieller));
}

#[test]
fn exact_units_take_any_difference() {
    let exact = |old: &[f64], new: &[f64]| {
        let mut grid = grid("allocs/op", vec![[Some(flat(old)), Some(flat(new))]]);
        grid.tables[0].exact = true;
        compare(grid, vec![], vec![], &plan()).unwrap()
    };
    let of = |r: &crate::report::Report| {
        let c = r.tables[0].rows[0].comparison(1).unwrap();
        (c.verdict, c.test, c.p)
    };
    assert_eq!(of(&exact(&[5.0; 5], &[5.001; 5])), (WORSE, Test::Exact, None));
    assert_eq!(of(&exact(&[5.0; 5], &[5.0; 5])), (Verdict::Same, Test::Exact, None));
    assert_eq!(of(&exact(&[5.0], &[4.0])), (BETTER, Test::Exact, None));
    let r = exact(&[5.0, 5.0, 6.0], &[5.0; 3]);
    assert_eq!(r.tables[0].rows[0].cell(0).unwrap().center, Some(5.0), "the most frequent value");
    assert_eq!(notes(&r, 0), ["exact values expected, but they differ between runs"]);
}

#[test]
fn printed_comparisons_are_those_with_their_own_base_alone() {
    let row = |a, b| [Some(a), Some(b)];
    let printed = |sources: [u32; 2], rows, base: Base| {
        let mut grid = grid("sec/op", rows);
        for cells in grid.tables[0].rows.iter_mut().map(|r| &mut r.cells) {
            for (cell, source) in cells.iter_mut().flatten().zip(sources) {
                cell.source = Some(crate::base::SourceId(source));
            }
        }
        let r = compare(grid, vec![], vec![], &Plan { base, ..plan() }).unwrap();
        let column = usize::from(r.tables[0].base == Some(0));
        r.tables[0].rows.iter().map(|r| r.comparison(column).unwrap()).collect::<Vec<_>>()
    };
    let rows = || {
        vec![
            row(cell_of_table(1.0, None), cell_of_table(1.25, Some((Some(25.0), 0.0)))),
            row(cell_of_table(1.0, None), cell_of_table(1.3, Some((None, 0.4)))),
        ]
    };
    let c = printed([0, 0], rows(), Base::First);
    assert_eq!((c[0].test, c[0].p, c[0].delta_pct, c[0].verdict), (Test::Printed, Some(0.0005), Some(25.0), WORSE));
    assert_eq!((c[1].delta_pct, c[1].difference, c[1].verdict), (None, None, Verdict::Unclear));
    let turned = printed([0, 0], rows(), Base::Label("new".into()));
    assert_eq!((turned[0].p, turned[0].delta_pct, turned[0].verdict), (Some(0.0005), Some(-20.0), BETTER));
    // Of another input nothing is said, nor where the base is itself compared with something else.
    let other = printed([0, 1], rows(), Base::First);
    assert_eq!((other[0].test, other[0].why), (Test::None, Some(Why::NoSpread)));
    let third = vec![row(cell_of_table(1.0, Some((Some(5.0), 0.0))), cell_of_table(1.2, Some((Some(20.0), 0.0))))];
    assert_eq!(printed([0, 0], third, Base::First)[0].test, Test::None);
}

#[test]
fn errors_of_few_digits_are_said_and_those_below_them_bounded() {
    let r =
        report(vec![[Some(summary(jmh(1.0, 0.01, 25, 0.0005))), Some(summary(jmh(1.0, 0.1, 25, 0.0005)))]], &plan());
    assert!(!notes(&r, 0).iter().any(|n| n.contains("few digits")), "5 % are enough");
    let r =
        report(vec![[Some(summary(jmh(1.0, 0.004, 25, 0.0005))), Some(summary(jmh(1.5, 0.1, 25, 0.0005)))]], &plan());
    assert!(notes(&r, 0).iter().any(|n| n.contains("few digits")), "{:?}", notes(&r, 0));
    let r = report(vec![[Some(summary(jmh(1.0, 0.0, 25, 0.0005))), Some(summary(jmh(1.5, 0.0, 25, 0.0005)))]], &plan());
    let row = &r.tables[0].rows[0];
    assert!(row.cell(0).unwrap().lo.unwrap() < 1.0, "not an exact value");
    assert_eq!(row.comparison(1).unwrap().test, Test::WelchSummary);
    assert!(notes(&r, 0).iter().any(|n| n.contains("below its last digit")), "{:?}", notes(&r, 0));
    // Printed in full, zero is zero.
    let c = pair(summary(jmh(1.0, 0.0, 25, 0.0)), summary(jmh(1.5, 0.0, 25, 0.0)), &plan());
    assert_eq!((c.test, c.why), (Test::None, Some(Why::Constant)));
}

#[test]
fn unclear_rows_share_one_advice_per_size_of_change() {
    let noisy = |i: usize| [Some(flat(&around(1.0, 0.2, 10 + i))), Some(flat(&around(1.01, 0.3, 10 + i)))];
    let r = report((0..4).map(noisy).collect(), &plan());
    assert!(r.tables[0].rows.iter().all(|r| r.comparison(1).unwrap().verdict == Verdict::Unclear));
    let texts = &r.tables[0].notes;
    assert_eq!(texts.len(), 1, "{texts:?}");
    assert!(texts[0].starts_with("most rows are unclear: these runs show changes of "), "{texts:?}");
    assert!(texts[0].ends_with("runs a side would settle a 5% change"), "{texts:?}");
}

#[test]
fn equivalence_is_decided_by_the_narrower_interval() {
    let (old, new) = (around(1.0, 0.1, 12), around(1.002, 0.1, 12));
    let bounds = pair(flat(&old), flat(&new), &Plan { equivalence: true, ..plan() });
    let widest = |(lo, hi): (f64, f64)| f64::max(1.0 / lo, hi) - 1.0;
    let (shown, decides) = (bounds.lo.zip(bounds.hi).map(widest).unwrap(), bounds.equivalence.map(widest).unwrap());
    assert!(decides < shown);
    let margin = f64::midpoint(shown, decides);
    let strict = pair(flat(&old), flat(&new), &Plan { margin, ..plan() });
    assert_eq!((strict.verdict, strict.equivalence), (Verdict::Unclear, None));
    let c = pair(flat(&old), flat(&new), &Plan { margin, equivalence: true, ..plan() });
    assert_eq!(c.verdict, Verdict::Same);
    assert_eq!((c.lo, c.hi, c.p), (strict.lo, strict.hi, strict.p), "what is shown stays");
    for (old, new) in
        [(forks(1.0, 5), forks(1.0, 5)), (summary(jmh(1.0, 0.01, 9, 0.0)), summary(jmh(1.0, 0.01, 9, 0.0)))]
    {
        let c = pair(old, new, &Plan { margin: 0.05, equivalence: true, ..plan() });
        assert!(c.equivalence.is_some());
        assert_eq!(c.verdict, Verdict::Same);
    }
}

#[test]
fn pairs_cancel_drift_that_both_sides_share() {
    let drift: Vec<f64> = (0..10).map(|i| 1.0 + 0.1 * i as f64).collect();
    let slower: Vec<f64> = drift.iter().enumerate().map(|(i, v)| v * (1.02 + 0.001 * (i % 3) as f64)).collect();
    let apart = pair(flat(&drift), flat(&slower), &plan());
    assert_eq!(apart.verdict, Verdict::Unclear);
    let paired = Plan { paired: true, ..plan() };
    let c = pair(flat(&drift), flat(&slower), &paired);
    assert_eq!((c.test, c.interval, c.verdict), (Test::Paired, IntervalMethod::PairedLog, WORSE));
    assert!((c.ratio.unwrap() - 1.021).abs() < 1e-3);
    let c = pair(forks(1.0, 5), forks(1.2, 5), &paired);
    assert_eq!(c.test, Test::Paired, "forks pair by their means");
    for (old, new, why) in [
        (flat(&drift), flat(&slower[1..]), "not paired: the sides have different numbers of runs"),
        (summary(jmh(1.0, 0.1, 5, 0.0)), flat(&slower), "not paired: a side has no raw values"),
        (forks(1.0, 10), flat(&slower), "not paired: processes are told apart on one side only"),
        (flat(&[0.0, 1.0, 2.0, 3.0]), flat(&[1.0, 2.0, 3.0, 4.0]), "not paired: there are values that are not above 0"),
    ] {
        let r = report(vec![[Some(old), Some(new)]], &paired);
        assert_ne!(r.tables[0].rows[0].comparison(1).unwrap().test, Test::Paired);
        assert!(notes(&r, 0).contains(&why), "{:?}", notes(&r, 0));
    }
}

#[test]
fn pairs_are_checked_by_signed_ranks() {
    // One pair out of eight is far off: the t test sees noise, the ranks see one sign.
    let old = [1.0; 8];
    let new = [1.01, 1.012, 1.011, 1.013, 1.009, 1.012, 1.4, 1.01];
    let r = report(vec![[Some(flat(&old)), Some(flat(&new))]], &Plan { paired: true, ..plan() });
    let c = r.tables[0].rows[0].comparison(1).unwrap();
    assert!(c.p.unwrap() > 0.05);
    assert!(
        notes(&r, 0).iter().any(|n| n.starts_with("the signed-rank test of the pairs says p = 0.008")),
        "{:?}",
        notes(&r, 0)
    );
}

#[test]
fn bootstrap_intervals_are_the_same_every_time() {
    let rows = || [Some(flat(&around(1.0, 0.1, 10))), Some(flat(&around(1.2, 0.1, 10)))];
    let boot = Plan { bootstrap: true, ..plan() };
    let [a, b] = [report(vec![rows()], &boot), report(vec![rows()], &boot)];
    let of = |r: &crate::report::Report| r.tables[0].rows[0].comparison(1).unwrap();
    assert_eq!(of(&a).interval, IntervalMethod::Bootstrap);
    assert_eq!((of(&a).lo, of(&a).hi), (of(&b).lo, of(&b).hi));
    assert_eq!(of(&a).p, of(&report(vec![rows()], &plan())).p, "the test stays");
    assert!(notes(&a, 0)[0].contains("seed 1"), "{:?}", notes(&a, 0));
}

#[test]
fn pooled_results_say_in_what_they_vary() {
    let mut one = grid("sec/op", vec![[Some(flat(&[1.0, 2.0])), None]]);
    one.tables[0].rows[0].cells[0].as_mut().unwrap().varies_in = vec!["goos".into(), "cpu".into()];
    one.tables[0].columns.truncate(1);
    one.tables[0].rows[0].cells.truncate(1);
    let r = compare(one, vec![], vec![], &plan()).unwrap();
    assert!(notes(&r, 0).contains(&"benchmarks vary in goos, cpu"), "also of a single column");
    let mixed = || Series::of(Evidence::Mixed);
    let mut two = grid("sec/op", vec![[Some(mixed()), Some(flat(&[1.0, 2.0]))], [Some(mixed()), Some(mixed())]]);
    two.tables[0].rows[0].cells[0].as_mut().unwrap().varies_in = vec!["k".into()];
    let r = compare(two, vec![], vec![], &plan()).unwrap();
    assert!(r.tables[0].rows[0].cell(0).is_none());
    assert!(notes(&r, 0).contains(&"varies in k; choose them with --row or --col"), "{:?}", notes(&r, 0));
    assert!(notes(&r, 1)[0].starts_with("more than one printed summary"), "{:?}", notes(&r, 1));
}

#[test]
fn the_base_is_a_label_a_place_or_the_best() {
    let base = |base: Base| {
        let rows = vec![[Some(flat(&[2.0, 2.0])), Some(flat(&[1.0, 1.0]))]];
        compare(grid("sec/op", rows), vec![], vec![], &Plan { base, ..plan() }).map(|r| r.tables[0].base)
    };
    assert_eq!(base(Base::First).unwrap(), Some(0));
    assert_eq!(base(Base::Label("new".into())).unwrap(), Some(1));
    assert_eq!(base(Base::Label("1".into())).unwrap(), Some(1));
    assert_eq!(base(Base::Best).unwrap(), Some(1));
    assert!(base(Base::Label("absent".into())).is_err());
}

#[test]
fn the_geomean_has_an_interval_from_the_rows_own_errors() {
    let rows = |k: usize| {
        (0..k).map(|_| [Some(flat(&around(1.0, 0.05, 10))), Some(flat(&around(1.1, 0.05, 10)))]).collect::<Vec<_>>()
    };
    let width = |rows, plan: &Plan| {
        let g = report(rows, plan).tables.remove(0).geomean.unwrap();
        assert!((g.ratios[1].unwrap() - 1.1).abs() < 1e-9 && g.intervals[0].is_none());
        let (lo, hi) = g.intervals[1].unwrap();
        assert!(lo < 1.1 + 1e-9 && 1.1 - 1e-9 < hi);
        hi / lo
    };
    let (one, four) = (width(rows(1), &plan()), width(rows(4), &plan()));
    assert!((one.ln() / four.ln() - 2.0).abs() < 1e-6, "four rows are known twice as exactly: {one} {four}");
    // The interval of one row by normal quantiles of the coverage that its Hodges-Lehmann interval reached.
    let c = report(rows(1), &plan()).tables.remove(0).rows.remove(0).comparison(1).unwrap();
    assert!(one.ln() < (c.hi.unwrap() / c.lo.unwrap()).ln(), "the row's interval covers more than 95 %");
    // A row of which the error is unknown leaves the interval unknown, a row of equal values does not.
    let mut unknown = rows(2);
    unknown.push([Some(flat(&[1.0])), Some(flat(&[1.1]))]);
    assert_eq!(report(unknown, &plan()).tables[0].geomean.as_ref().unwrap().intervals[1], None);
    let mut equal = rows(2);
    equal.push([Some(flat(&[1.0; 5])), Some(flat(&[1.0; 5]))]);
    assert!(report(equal, &plan()).tables[0].geomean.as_ref().unwrap().intervals[1].is_some());
    // Benchmarks like these: rows that all moved alike say so of others too.
    let population = Plan { geomean: GeomeanInterval::Population, ..plan() };
    assert!((width(rows(4), &population) - 1.0).abs() < 1e-9);
    for (old, new) in [(forks(1.0, 5), forks(1.1, 5)), (summary(jmh(1.0, 0.1, 5, 0.0)), summary(jmh(1.1, 0.1, 5, 0.0)))]
    {
        let g = report(vec![[Some(old), Some(new)]], &plan()).tables.remove(0);
        let (lo, hi) = g.geomean.unwrap().intervals[1].unwrap();
        let c = g.rows[0].comparison(1).unwrap();
        assert!((lo / c.lo.unwrap() - 1.0).abs() < 1e-4 && (hi / c.hi.unwrap() - 1.0).abs() < 1e-4, "{lo} {hi} {c:?}");
    }
}

#[test]
fn the_geomean_leaves_out_what_is_missing_and_names_what_is_not_positive() {
    let v = |x: f64| Some(flat(&[x, x]));
    let r = report(vec![[v(1.0), v(2.0)], [v(4.0), v(8.0)], [v(100.0), None]], &plan());
    let g = r.tables[0].geomean.as_ref().unwrap();
    assert_eq!((g.rows, &g.centers[..], g.ratios[1]), (2, &[Some(2.0), Some(4.0)][..], Some(2.0)));
    assert_eq!(g.notes, ["benchmark set differs between the columns; geomean over the 2 of 3 rows present in all"]);
    assert_eq!(notes(&r, 2)[0], "left out of the geomean");
    let r = report(vec![[v(1.0), v(2.0)], [v(0.0), v(8.0)]], &plan());
    let g = r.tables[0].geomean.as_ref().unwrap();
    assert_eq!((g.centers[0], g.ratios[1]), (None, None));
    assert_eq!(g.notes, ["no geomean where a value is not above 0: B"]);
}

#[test]
fn a_run_that_moved_as_a_whole_is_named() {
    let shifted = |ratios: &[f64], unit: &str| {
        let row = |r: &f64| [Some(flat(&around(1.0, 0.02, 10))), Some(flat(&around(*r, 0.02, 10)))];
        let r = compare(grid(unit, ratios.iter().map(row).collect()), vec![], vec![], &plan()).unwrap();
        r.warnings.into_iter().map(|d| (d.code, d.message)).collect::<Vec<_>>()
    };
    let alike = [1.030, 1.031, 1.029, 1.035, 1.028, 1.03, 1.032, 1.027];
    let said = shifted(&alike, "sec/op");
    assert_eq!(said.len(), 1, "{said:?}");
    assert_eq!(said[0].0, "run-shifted");
    assert!(
        said[0].1.starts_with("8 of 8 rows of sec/op moved the same way from old to new, by about +3.0%"),
        "{said:?}"
    );
    assert_eq!(shifted(&alike, "op/sec").len(), 1);
    assert_eq!(shifted(&alike, "B/op"), [], "a machine does not change what is allocated");
    assert_eq!(shifted(&alike[..7], "sec/op"), [], "seven rows are few");
    let mut some = alike;
    some[..2].copy_from_slice(&[0.7, 0.8]);
    assert_eq!(shifted(&some, "sec/op"), [], "three in four are not most");
    assert_eq!(shifted(&[1.5, 1.01, 1.2, 1.0, 1.1, 1.02, 1.4, 1.3], "sec/op"), [], "not by the same amount");
    assert_eq!(shifted(&[1.003; 8], "sec/op"), [], "not worth a word");
}

#[test]
fn columns_of_a_parameter_are_no_runs() {
    let row = || [Some(flat(&around(1.0, 0.02, 10))), Some(flat(&around(4.0, 0.02, 10)))];
    let mut grid = grid("sec/op", (0..10).map(|_| row()).collect());
    for column in &mut grid.tables[0].columns {
        column.keys = vec![("/size".into(), column.label.clone().into())];
    }
    assert_eq!(compare(grid, vec![], vec![], &plan()).unwrap().warnings, []);
}

#[test]
fn warnings_reach_everybody_only_where_a_change_was_called() {
    let steady = || flat(&around(1.0, 0.02, 20));
    let drifting =
        |by: f64| flat(&around(1.0, 0.02, 20).iter().enumerate().map(|(i, v)| v + by * i as f64).collect::<Vec<_>>());
    let said = |new, plan: &Plan| {
        let r = report(vec![[Some(steady()), Some(new)]], plan);
        let row = &r.tables[0].rows[0];
        (notes(&r, 0).join("; "), row.warnings().join("; "))
    };
    let (footnotes, all) = said(drifting(0.01), &plan());
    assert!(footnotes.contains("values rise or fall over the run on a side"), "{footnotes}");
    assert_eq!(all, "", "only for programs");
    let everything = Plan { warnings: true, ..plan() };
    let (_, all) = said(drifting(0.01), &everything);
    assert!(all.contains("new: values rise by 19% over the run: warm up longer"), "{all}");
    // No change was called: nothing to warn everybody of.
    let wide = |by| {
        flat(&around(1.0, 0.02, 20).iter().enumerate().map(|(i, v)| v + by * (i as f64 - 9.5)).collect::<Vec<_>>())
    };
    let (footnotes, all) = said(wide(0.01), &everything);
    assert!(!footnotes.contains("over the run"), "{footnotes}");
    assert!(all.contains("values rise"), "{all}");
    let (footnotes, all) = said(steady(), &everything);
    assert_eq!((footnotes.as_str(), all.as_str()), ("", ""));
}

#[test]
fn explanations_are_of_the_rows_that_match() {
    let row = || [Some(flat(&around(1.0, 0.02, 10))), Some(flat(&around(1.2, 0.02, 10)))];
    let explained = |patterns: &[&str]| {
        let names = ["Get/size=1", "Get/size=10", "Put"];
        let mut grid = grid("sec/op", (0..3).map(|_| row()).collect());
        for (row, name) in grid.tables[0].rows.iter_mut().zip(names) {
            row.name = name.into();
        }
        let explain = patterns.iter().map(|p| RowPattern((*p).to_owned())).collect();
        let r = compare(grid, vec![], vec![], &Plan { explain, ..plan() })?;
        Ok(r.tables[0].rows.iter().map(|r| r.explanation().is_some()).collect::<Vec<_>>())
    };
    let of = |patterns: &[&str]| explained(patterns).map_err(|e: Error| e.to_string());
    assert_eq!(of(&[]).unwrap(), [false; 3]);
    assert_eq!(of(&["Get/size=1"]).unwrap(), [true, false, false], "a name is that name alone");
    assert_eq!(of(&["Get"]).unwrap(), [true, true, false], "else a part of it");
    assert_eq!(of(&["size=.$"]).unwrap(), [true, false, false], "else a regular expression");
    assert_eq!(of(&["Put", "=10"]).unwrap(), [false, true, true]);
    assert_eq!(of(&["Pot"]).unwrap_err(), "--explain: no row is called \"Pot\", and none matches it");
    assert!(of(&["Get("]).is_err());
}

#[test]
fn explanations_hold_what_the_row_leaves_out() {
    let explain = Plan { explain: vec![RowPattern("A".into())], ..plan() };
    let story = |old, new| {
        let r = report(vec![[Some(old), Some(new)]], &explain);
        r.tables[0].rows[0].explanation().unwrap().clone()
    };
    use crate::report::Basis;
    let s = story(flat(&around(1.0, 0.02, 10)), flat(&around(1.2, 0.02, 10)));
    let p = &s.pairs[0];
    assert_eq!((p.basis, p.chosen, p.sizes, p.family), (Basis::Runs, false, Some((10, 10)), 1));
    let ranks = p.ranks.unwrap();
    assert_eq!((ranks.u, ranks.pairs, ranks.effect), (0.0, 100.0, 1.0));
    assert!((ranks.shift.value - 0.2).abs() < 0.01 && ranks.ratio.unwrap().coverage.unwrap() > 0.95);
    assert!(p.bootstrap.is_some() && p.signed_rank.is_none());
    let power = p.power.as_ref().unwrap();
    assert_eq!(power.needed.iter().map(|n| n.0).collect::<Vec<_>>(), [0.05, 0.02, 0.01]);
    assert!(power.needed.windows(2).all(|w| w[0].1 <= w[1].1) && !power.forks);
    assert_eq!((s.sides[0].runs.len(), s.sides[0].told_apart, s.sides[0].one_input), (1, false, true));
    let s = story(forks(1.0, 5), forks(1.2, 5));
    assert_eq!((s.pairs[0].basis, s.sides[0].runs.len(), s.sides[0].told_apart), (Basis::Forks, 5, true));
    assert!(s.sides[0].processes.unwrap().between > 0.9);
    assert_eq!(s.pairs[0].ranks.unwrap().pairs, 25.0, "of forks, not of iterations");
    let s = story(summary(jmh(1.0, 0.1, 5, 0.0)), flat(&around(1.2, 0.02, 10)));
    assert_eq!((s.pairs[0].basis, s.pairs[0].ranks, s.sides[0].runs.len()), (Basis::Summary, None, 0));
}

#[test]
fn runs_at_different_times_are_said_in_explanations() {
    let explain = Plan { explain: vec![RowPattern("A".into())], ..plan() };
    let warned = |old: &str, new: &str| {
        let mut grid = grid("sec/op", vec![[Some(flat(&[1.0, 2.0])), Some(flat(&[1.0, 2.0]))]]);
        for (column, date) in grid.tables[0].columns.iter_mut().zip([old, new]) {
            column.keys.push(("Date".into(), date.into()));
        }
        let r = compare(grid, vec![], vec![], &explain).unwrap();
        r.tables[0].rows[0].explanation().unwrap().pairs[0].warnings.join("")
    };
    assert!(warned("Mon", "Tue").starts_with("measured one after the other (Mon; Tue)"));
    assert_eq!(warned("Mon", "Mon"), "");
}
