//! Does abstat keep its promises? Tables of made-up runs of known truth, compared by the ordinary way.
//!
//! Promised are: at most one table of unchanged rows in twenty with a confirmed change, intervals that cover, gates that neither cry wolf
//! nor sleep, `same` only of what is the same. Random numbers come from fixed seeds, so that every run of the tests is the same run. By
//! default small; `ABSTAT_SIMULATION=full cargo test --release --test simulation -- --nocapture` prints the figures of the large one.

use abstat::compare::{Plan, compare};
use abstat::gate::{GateExit, Rule, Rules, judge};
use abstat::model::{Evidence, Observations, Series};
use abstat::pivot::{Column, Grid, GridCell, GridRow, GridTable};
use abstat::report::{Report, Verdict};
use abstat::units::Unit;
use rayon::prelude::*;

/// Rows of a table.
const ROWS: usize = 40;

/// Tables of each kind.
fn tables(small: u64, full: u64) -> u64 {
    if std::env::var("ABSTAT_SIMULATION").is_ok_and(|v| v == "full") { full } else { small }
}

/// SplitMix64 (Steele, Lea and Flood 2014), and normal values from it.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// In (0, 1].
    fn uniform(&mut self) -> f64 {
        ((self.next() >> 11) + 1) as f64 / (1u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        (-2.0 * self.uniform().ln()).sqrt() * (std::f64::consts::TAU * self.uniform()).cos()
    }

    fn chance(&mut self, p: f64) -> bool {
        self.uniform() <= p
    }
}

/// How the runs of a side come about, around 1.
#[derive(Clone, Copy, Debug)]
enum Noise {
    /// So many runs with normal noise of 1 %.
    Flat(usize),
    /// The same, with one run in ten slower by up to half.
    Stalls(usize),
    /// The same in two modes 5 % apart, half of the runs each.
    Modes(usize),
    /// So many processes of five iterations; standard deviation between processes and within them.
    Forks(usize, f64, f64),
    /// So many processes of five iterations, each of which is slower by 5 % with a chance of 3 in 10.
    SlowForks(usize),
}

impl Noise {
    fn series(self, factor: f64, random: &mut Random) -> Series {
        let mut o = Observations::default();
        match self {
            Noise::Flat(n) => (0..n).for_each(|_| o.push(1.0 + 0.01 * random.normal(), 1, None)),
            Noise::Stalls(n) => (0..n).for_each(|_| {
                let stall = if random.chance(0.1) { 0.5 * random.uniform() } else { 0.0 };
                o.push(1.0 + 0.01 * random.normal() + stall, 1, None);
            }),
            Noise::Modes(n) => (0..n).for_each(|_| {
                let mode = if random.chance(0.5) { 0.05 } else { 0.0 };
                o.push(1.0 + 0.005 * random.normal() + mode, 1, None);
            }),
            Noise::Forks(forks, between, within) => (0..forks).for_each(|f| {
                let center = 1.0 + between * random.normal();
                (0..5).for_each(|_| o.push(center + within * random.normal(), 1, Some(f as u32)));
            }),
            Noise::SlowForks(forks) => (0..forks).for_each(|f| {
                let center = if random.chance(0.3) { 1.05 } else { 1.0 };
                (0..5).for_each(|_| o.push(center + 0.01 * random.normal(), 1, Some(f as u32)));
            }),
        }
        o.values.iter_mut().for_each(|v| *v *= factor);
        Series::of(Evidence::Raw(o))
    }
}

/// Shapes of noise that are promised something: the name, and the noise.
const SHAPES: [(&str, Noise); 9] = [
    ("flat, 5 runs", Noise::Flat(5)),
    ("flat, 10 runs", Noise::Flat(10)),
    ("flat, 20 runs", Noise::Flat(20)),
    ("stalls, 10 runs", Noise::Stalls(10)),
    ("two modes, 10 runs", Noise::Modes(10)),
    ("5 forks, mild", Noise::Forks(5, 0.005, 0.01)),
    ("5 forks, strong", Noise::Forks(5, 0.015, 0.01)),
    ("10 forks, strong", Noise::Forks(10, 0.015, 0.01)),
    ("5 forks, slow mode", Noise::SlowForks(5)),
];

/// A table of times, `old` and `new`, with a change of each row by its factor.
fn table(noise: Noise, factors: &[f64], seed: u64) -> Grid {
    let mut random = Random(seed);
    let column = |label: &str| Column { label: label.into(), keys: vec![(".file".into(), label.into())], fields: 1 };
    let cell = |series| Some(GridCell { series, source: None, varies_in: vec![] });
    let rows = factors
        .iter()
        .enumerate()
        .map(|(i, &factor)| GridRow {
            name: format!("row{i}").into(),
            keys: [].into(),
            cells: [cell(noise.series(1.0, &mut random)), cell(noise.series(factor, &mut random))].into(),
        })
        .collect();
    let table = GridTable {
        keys: [].into(),
        unit: Unit::new("sec/op", "sec/op"),
        exact: false,
        columns: vec![column("old"), column("new")],
        rows,
    };
    Grid::new(vec![table])
}

fn report(noise: Noise, factors: &[f64], seed: u64, plan: &Plan) -> Report {
    compare(table(noise, factors, seed), vec![], vec![], plan).unwrap()
}

/// Sums of what `of` counts in each of `count` tables.
fn sums<const N: usize>(count: u64, of: impl Fn(u64) -> [usize; N] + Sync + Send) -> [f64; N] {
    let add = |a: [usize; N], b: [usize; N]| std::array::from_fn(|i| a[i] + b[i]);
    (0..count).into_par_iter().map(of).reduce(|| [0; N], add).map(|n| n as f64)
}

/// `observed` is at most `promised` as far as `count` trials can tell (three standard errors).
fn assert_at_most(what: &str, observed: f64, promised: f64, count: u64) {
    println!("  {what}: {:.2} % (promised: at most {:.1} %)", 100.0 * observed, 100.0 * promised);
    let error = (promised * (1.0 - promised) / count as f64).sqrt();
    assert!(observed <= promised + 3.0 * error, "{what}: {observed} of {count}, promised {promised}");
}

fn assert_at_least(what: &str, observed: f64, promised: f64, count: u64) {
    println!("  {what}: {:.2} % (promised: at least {:.1} %)", 100.0 * observed, 100.0 * promised);
    let error = (promised * (1.0 - promised) / count as f64).sqrt();
    assert!(observed >= promised - 3.0 * error, "{what}: {observed} of {count}, promised {promised}");
}

fn comparisons(report: &Report) -> impl Iterator<Item = abstat::report::Comparison> {
    report.tables.iter().flat_map(|t| &t.rows).flat_map(|r| r.comparisons().map(|(_, c)| c))
}

fn slower_by_5_percent() -> Rules {
    Rules { rules: vec![Rule::parse("slower>5%").unwrap()], ..Rules::default() }
}

fn trips(report: &Report) -> usize {
    usize::from(judge(report, &slower_by_5_percent()).2 == GateExit::Tripped)
}

fn is_shifted(report: &Report) -> usize {
    usize::from(report.warnings.iter().any(|w| w.code == "run-shifted"))
}

#[test]
fn unchanged_tables_show_no_change() {
    let count = tables(25, 5000);
    let rows = count * ROWS as u64;
    for (name, noise) in SHAPES {
        let [called, significant, covered, tripped, shifted] = sums(count, |seed| {
            let r = report(noise, &[1.0; ROWS], seed, &Plan::default());
            let covers =
                |lo: Option<f64>, hi: Option<f64>| lo.is_none_or(|lo| lo <= 1.0) && hi.is_none_or(|hi| hi >= 1.0);
            [
                usize::from(r.summary.after_correction > 0),
                comparisons(&r).filter(|c| c.p.is_some_and(|p| p <= 0.05)).count(),
                comparisons(&r).filter(|c| covers(c.lo, c.hi)).count(),
                trips(&r),
                is_shifted(&r),
            ]
        });
        let (of_tables, of_rows) = (count as f64, rows as f64);
        println!("{name}:");
        assert_at_most("tables with a confirmed change", called / of_tables, 0.05, count);
        assert_at_most("rows with p <= 0.05", significant / of_rows, 0.05, rows);
        assert_at_least("intervals that cover no change", covered / of_rows, 0.95, rows);
        assert_at_most("slower>5% trips", tripped / of_tables, 0.01, count);
        assert_at_most("tables called shifted", shifted / of_tables, 0.001, count);
    }
}

#[test]
fn gates_trip_on_what_is_slower_by_10_percent() {
    let count = tables(25, 5000);
    let assert_trips = |what: String, noise, factors: &[f64]| {
        let [tripped] = sums(count, |seed| [trips(&report(noise, factors, seed, &Plan::default()))]);
        assert_at_least(&what, tripped / count as f64, 0.95, count);
    };
    for (name, noise) in SHAPES.into_iter().filter(|s| !matches!(s.1, Noise::Flat(5))) {
        assert_trips(format!("slower>5% trips on a run slower by 10 %, {name}"), noise, &[1.1; ROWS]);
    }
    // One row alone: stalls, modes and slow processes hide it from few runs.
    let mut factors = [1.0; ROWS];
    factors[7] = 1.1;
    let enough = [
        ("flat, 10 runs", Noise::Flat(10)),
        ("stalls, 20 runs", Noise::Stalls(20)),
        ("two modes, 20 runs", Noise::Modes(20)),
        ("5 forks, mild", Noise::Forks(5, 0.005, 0.01)),
        ("5 forks, strong", Noise::Forks(5, 0.015, 0.01)),
        ("12 forks, slow mode", Noise::SlowForks(12)),
    ];
    for (name, noise) in enough {
        assert_trips(format!("slower>5% trips on one row of {ROWS} slower by 10 %, {name}"), noise, &factors);
    }
    assert_trips("slower>5% trips on a table of one row slower by 10 %, flat, 5 runs".into(), Noise::Flat(5), &[1.1]);
}

#[test]
fn a_gate_that_could_never_trip_says_so() {
    // Five runs a side are never significant among forty rows: to pass would say what nobody knows.
    for seed in 0..5 {
        let r = report(Noise::Flat(5), &[1.1; ROWS], seed, &Plan::default());
        assert_eq!(judge(&r, &slower_by_5_percent()).2, GateExit::CouldNotJudge);
    }
}

#[test]
fn same_is_said_of_what_is_the_same() {
    let count = tables(8, 2000);
    let rows = count * ROWS as u64;
    for equivalence in [false, true] {
        let plan = Plan { margin: 0.02, equivalence, ..Plan::default() };
        let what = if equivalence { "two one-sided tests" } else { "shown interval" };
        for (name, noise) in [SHAPES[1], SHAPES[2], SHAPES[5]] {
            let same = |factor| {
                let of = |r: &Report| comparisons(r).filter(|c| c.verdict == Verdict::Same).count();
                let [same] = sums(count, |seed| [of(&report(noise, &[factor; ROWS], seed, &plan))]);
                same / rows as f64
            };
            assert_at_most(&format!("same at the very margin by {what}, {name}"), same(1.02), 0.05, rows);
            assert_at_least(&format!("same of unchanged rows by {what}, {name}"), same(1.0), 0.9, rows);
        }
    }
}

#[test]
fn pairs_bear_drift_that_both_sides_share() {
    // Runs made in turns while the machine gets slower by 5 %.
    let drifting = |seed: u64, paired: bool| {
        let mut grid = table(Noise::Flat(10), &[1.0; ROWS], seed);
        for cell in grid.tables[0].rows.iter_mut().flat_map(|r| r.cells.iter_mut().flatten()) {
            if let Evidence::Raw(o) = &mut cell.series.evidence {
                o.values.iter_mut().enumerate().for_each(|(i, v)| *v += 0.005 * i as f64);
            }
        }
        compare(grid, vec![], vec![], &Plan { paired, ..Plan::default() }).unwrap()
    };
    let count = tables(20, 5000);
    let [called] = sums(count, |seed| [usize::from(drifting(seed, true).summary.after_correction > 0)]);
    assert_at_most("tables with a confirmed change, pairs that drift together", called / count as f64, 0.05, count);
    let width = |r: &Report| comparisons(r).map(|c| c.hi.unwrap().ln() - c.lo.unwrap().ln()).sum::<f64>();
    assert!(width(&drifting(1, true)) < 0.8 * width(&drifting(1, false)), "pairs know the change better");
}

#[test]
fn a_run_that_moved_as_a_whole_is_named() {
    let count = tables(10, 2000);
    for (name, noise) in [SHAPES[1], SHAPES[3], SHAPES[5]] {
        let [named] = sums(count, |seed| [is_shifted(&report(noise, &[1.03; ROWS], seed, &Plan::default()))]);
        assert_at_least(&format!("a shift of 3 % is named, {name}"), named / count as f64, 0.95, count);
    }
}
