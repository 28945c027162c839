//! One report with everything in it, for the tests of all renderers.
//!
//! The numbers are made up but hang together: centers are those of the observations, changes those of the centers.

use crate::base::Diagnostic;
use crate::model::{Center, Input, Observations};
use crate::pivot::Column;
use crate::report::{
    Cell, Comparison, Correction, Counts, GateOutcome, GateRow, Geomean, IntervalMethod, Report, Row, Settings, Table,
    Test, Verdict, View, Why,
};
use crate::units::{Direction, Unit};

/// Names that break out of a format where they are not escaped.
pub const HOSTILE: [&str; 7] = [
    "Parse/a|b`c-8",
    "Parse/<script>alert(1)</script>&amp;-8",
    "Parse/**x_y**~z~-8",
    "Parse/\x1b[31mred\x07\u{202e}rtl-8",
    "Parse/\"quoted\",'=1+1",
    "Parse/é漢字😀-8",
    "Parse/back\\|slash-8",
];

/// A name longer than any column.
pub const LONG: &str =
    "Store/engine=lsm/keys=1000000/value=1KiB/threads=16/compression=zstd/cache=8MiB/order=random/reverse-8";

fn column(label: &str, key: &str) -> Column {
    Column { label: label.into(), keys: [(key.into(), label.into())].into(), fields: 1 }
}

/// Where the samples of a cell stand in its spread.
const STEPS: [f64; 10] = [-0.5, 0.1, -0.2, 0.4, -0.1, 0.2, -0.4, 0.0, 0.5, 0.0];
/// About their standard deviation.
const SD: f64 = 0.32;

/// A cell of raw samples: `center` and ten values around it, `spread` apart in the extremes (relative).
pub fn raw(center: f64, spread: f64) -> Cell {
    let values: Vec<f64> = STEPS.iter().map(|s| center * (1.0 + spread * s)).collect();
    Cell {
        raw: true,
        n: Some(10),
        kind: Some(Center::Median),
        center: Some(center),
        lo: Some(center * (1.0 - 0.4 * spread)),
        hi: Some(center * (1.0 + 0.4 * spread)),
        confidence: 0.95,
        coverage: Some(0.979),
        mean: Some(center),
        sd: Some(center * spread * SD),
        min: values.iter().copied().min_by(f64::total_cmp),
        max: values.iter().copied().max_by(f64::total_cmp),
        ..Cell::default()
    }
}

/// The samples behind a cell of [`raw`]; three of a cell with three values, of five forks where it has forks.
fn samples(cell: &Cell) -> Option<Observations> {
    let center = cell.center.filter(|_| cell.raw)?;
    let spread = if center == 0.0 { 0.0 } else { cell.sd? / center / SD };
    if cell.n == Some(3) {
        return Some(Observations::new(vec![center * 0.99, center, center * 1.02]));
    }
    let values = Observations::new(STEPS.iter().map(|s| center * (1.0 + spread * s)).collect());
    Some(if cell.forks.is_some() { values.in_blocks((0..10).map(|i| i / 2).collect()) } else { values })
}

/// A row with the samples of its cells.
fn with_samples(mut row: Row) -> Row {
    row.keep_samples(row.cells().map(|c| samples(&c?)).collect());
    row
}

/// The same with five forks of two values.
fn forked(center: f64, spread: f64) -> Cell {
    let mut cell = raw(center, spread);
    (cell.forks, cell.kind) = (Some(5), Some(Center::ForkMean));
    cell
}

/// `new` against `old` with an interval in percent.
pub fn compared(old: f64, new: f64, lo_pct: f64, hi_pct: f64, p: f64, verdict: Verdict) -> Comparison {
    let ratio = new / old;
    Comparison {
        base: 0,
        delta_pct: Some(100.0 * (ratio - 1.0)),
        difference: Some(new - old),
        ratio: Some(ratio),
        lo: Some(1.0 + lo_pct / 100.0),
        hi: Some(1.0 + hi_pct / 100.0),
        confidence: 0.95,
        equivalence: None,
        p: Some(p),
        p_adjusted: Some((p * 8.0).min(1.0)),
        test: Test::MannWhitneyExact,
        interval: IntervalMethod::HodgesLehmann,
        verdict,
        why: None,
        out_of_reach: false,
        turned: false,
    }
}

fn untested(why: Why) -> Comparison {
    Comparison {
        delta_pct: None,
        difference: None,
        ratio: None,
        lo: None,
        hi: None,
        p: None,
        p_adjusted: None,
        test: Test::None,
        interval: IntervalMethod::None,
        why: Some(why),
        ..compared(1.0, 1.0, 0.0, 0.0, 1.0, Verdict::Untested)
    }
}

/// A row of two columns.
pub fn row(name: &str, old: Option<Cell>, new: Option<Cell>, comparison: Comparison, notes: &[usize]) -> Row {
    let keys = [(".name".into(), name.split('/').next().unwrap_or(name).into())].into();
    let mut row = Row::new(name.into(), keys, [old, new]);
    notes.iter().for_each(|&n| row.note(n));
    row.compare(1, &comparison);
    with_samples(row)
}

const WORSE: Verdict = Verdict::Worse { confirmed: true };
const BETTER: Verdict = Verdict::Better { confirmed: true };

/// Two columns of times with every verdict and every hostile name.
pub fn times() -> Table {
    let pair = |name: &str, old: f64, new: f64, spread: f64, interval: (f64, f64), p: f64, verdict, notes: &[usize]| {
        let c = compared(old, new, interval.0, interval.1, p, verdict);
        row(name, Some(raw(old, spread)), Some(raw(new, spread)), c, notes)
    };
    let mut rows = vec![
        pair("Get/1KiB", 1.718e-6, 1.423e-6, 0.02, (-17.9, -16.5), 1e-5, BETTER, &[]),
        pair("Get/64KiB", 3.066e-6, 3.070e-6, 0.01, (-0.4, 0.6), 0.446, Verdict::Same, &[]),
        pair("Put/1KiB", 8.91e-6, 9.84e-6, 0.05, (8.1, 13.0), 2e-5, WORSE, &[]),
        pair("Put/64KiB", 8.912e-6, 9.301e-6, 0.16, (-5.1, 14.8), 0.315, Verdict::Unclear, &[0]),
        pair("Flush", 2.0e-3, 2.06e-3, 0.06, (0.2, 6.1), 0.03, Verdict::Worse { confirmed: false }, &[1]),
        pair(LONG, 1.0e-3, 0.9e-3, 0.02, (-11.0, -9.0), 1e-5, BETTER, &[]),
    ];
    rows[4].edit_comparison(1, |c| c.why = Some(Why::Correction));
    rows.push(row("Scan", None, Some(raw(2.204e-3, 0.02)), untested(Why::OneSide), &[2]));
    rows.push(row("Iterate", Some(raw(4.1e-3, 0.02)), None, untested(Why::OneSide), &[2]));
    // Too few values for an interval.
    let few = |center: f64| Cell { n: Some(3), lo: None, hi: None, infinite: true, ..raw(center, 0.03) };
    let mut c = compared(5.0e-9, 5.2e-9, 0.0, 0.0, 0.4, Verdict::Unclear);
    (c.lo, c.hi, c.why) = (None, None, Some(Why::TooFew));
    rows.push(row("Compact", Some(few(5.0e-9)), Some(few(5.2e-9)), c, &[3]));
    for (i, name) in HOSTILE.iter().enumerate() {
        let old = 1e-6 * (i + 1) as f64;
        rows.push(match i % 2 {
            0 => pair(name, old, old * 1.2, 0.03, (18.0, 22.0), 1e-5, WORSE, &[]),
            _ => pair(name, old, old * 1.001, 0.01, (-0.3, 0.5), 0.7, Verdict::Same, &[]),
        });
    }
    let k = rows.len() - 2;
    Table {
        keys: [("goos".into(), "linux".into()), ("pkg".into(), "example.org/kv".into())].into(),
        unit: Unit::new("sec/op", "ns/op"),
        exact: false,
        columns: vec![column("main@1a2b3c4", ".file"), column("pr@9f8e7d6", ".file")],
        base: Some(0),
        rows,
        geomean: Some(Geomean {
            rows: k,
            centers: vec![Some(3.1e-6), Some(3.2e-6)],
            ratios: vec![None, Some(1.047)],
            intervals: vec![None, Some((1.04, 1.055))],
            notes: vec!["Scan, Iterate are left out".into()],
        }),
        notes: vec![
            "about 80 runs a side would settle a 5 % change".into(),
            "not significant after the Holm correction".into(),
            "left out of the geomean".into(),
            "need at least 6 values for a 95 % interval".into(),
        ],
    }
}

/// Allocations: exact, one of them from nothing.
pub fn allocations() -> Table {
    let cell = |v: f64| Some(Cell { lo: Some(v), hi: Some(v), kind: Some(Center::Mode), ..raw(v, 0.0) });
    let exact = |old: f64, new: f64, verdict| {
        let mut c = compared(old, new, 0.0, 0.0, 0.0, verdict);
        (c.p, c.p_adjusted, c.test, c.interval, c.lo, c.hi) =
            (None, None, Test::Exact, IntervalMethod::None, None, None);
        if old == 0.0 {
            (c.delta_pct, c.ratio) = (None, None);
        }
        c
    };
    Table {
        keys: [("goos".into(), "linux".into()), ("pkg".into(), "example.org/kv".into())].into(),
        unit: Unit::new("allocs/op", "allocs/op"),
        exact: true,
        columns: vec![column("main@1a2b3c4", ".file"), column("pr@9f8e7d6", ".file")],
        base: Some(0),
        rows: vec![
            row("Get/1KiB", cell(3.0), cell(2.0), exact(3.0, 2.0, BETTER), &[]),
            row("Put/1KiB", cell(0.0), cell(4.0), exact(0.0, 4.0, WORSE), &[]),
            row("Flush", cell(7.0), cell(7.0), exact(7.0, 7.0, Verdict::Same), &[]),
        ],
        geomean: None,
        notes: vec![],
    }
}

/// Four versions of a rate, compared with the first; forks, a summary and an unknown direction's neighbour.
pub fn versions() -> Table {
    let labels = ["6.29.5", "8.11.4", "9.11.2", "10.2.1"];
    let line = |name: &str, base: f64, ratios: [f64; 3], verdicts: [Verdict; 3]| {
        let mut cells = vec![Some(forked(base, 0.04))];
        let mut comparisons = Vec::new();
        for (r, v) in ratios.into_iter().zip(verdicts) {
            let mut c = compared(base, base * r, 100.0 * (r * 0.98 - 1.0), 100.0 * (r * 1.02 - 1.0), 0.004, v);
            (c.test, c.interval) = (Test::WelchLogForks, IntervalMethod::WelchLogForks);
            cells.push(Some(forked(base * r, 0.04)));
            comparisons.push(c);
        }
        let mut row = Row::new(name.into(), [(".name".into(), name.into())].into(), cells);
        comparisons.iter().enumerate().for_each(|(i, c)| row.compare(i + 1, c));
        with_samples(row)
    };
    let mut missing = line("readwhilewriting", 8e4, [1.0, 0.9, 0.91], [Verdict::Same, WORSE, WORSE]);
    missing.edit_cell(1, |c| *c = None);
    missing.compare(1, &untested(Why::OneSide));
    missing = with_samples(missing);
    let mut single = line("compact", 12.0, [1.1, 1.2, 1.3], [Verdict::Untested; 3]);
    for i in 0..single.width() {
        single.edit_cell(i, |c| {
            let center = c.and_then(|c| c.center);
            *c = Some(Cell { n: Some(1), kind: Some(Center::Single), center, confidence: 0.95, ..Cell::default() });
        });
    }
    for i in 1..single.width() {
        single.edit_comparison(i, |c| {
            (c.lo, c.hi, c.p, c.p_adjusted) = (None, None, None, None);
            (c.test, c.interval, c.why) = (Test::None, IntervalMethod::None, Some(Why::SingleValue));
        });
    }
    single = with_samples(single);
    Table {
        keys: [].into(),
        unit: Unit::new("op/sec", "ops/sec"),
        exact: false,
        columns: labels.iter().map(|l| column(l, "version")).collect(),
        base: Some(0),
        rows: vec![
            line("fillseq", 1.102e6, [1.02, 1.01, 1.02], [Verdict::Unclear, Verdict::Same, Verdict::Unclear]),
            line("revrange.t24", 5.029e5, [1.11, 1.38, 1.39], [BETTER; 3]),
            line("overwrite", 3.3e5, [0.97, 0.84, 0.86], [Verdict::Worse { confirmed: false }, WORSE, WORSE]),
            missing,
            single,
        ],
        geomean: Some(Geomean {
            rows: 3,
            centers: vec![Some(5.7e5), Some(5.9e5), Some(6.0e5), Some(6.1e5)],
            ratios: vec![None, Some(1.03), Some(1.06), Some(1.07)],
            intervals: vec![None; 4],
            notes: vec![],
        }),
        notes: vec![],
    }
}

/// A unit of which no direction is better.
pub fn sizes() -> Table {
    let c = compared(3.0, 4.5, 40.0, 60.0, 0.001, Verdict::Changed { confirmed: true });
    Table {
        unit: Unit::new("levels", "levels"),
        rows: vec![row("Get/1KiB", Some(raw(3.0, 0.1)), Some(raw(4.5, 0.1)), c, &[])],
        geomean: None,
        notes: vec![],
        ..times()
    }
}

/// One column: nothing is compared.
pub fn single() -> Table {
    let mut table = times();
    table.columns.truncate(1);
    table.base = None;
    table.geomean = None;
    table.rows.retain(|r| r.has(0));
    for row in &mut table.rows {
        row.truncate(1);
    }
    table
}

/// Latency percentiles of one run: units `p50-sec/op`, `p99-sec/op`.
pub fn percentiles() -> Vec<Table> {
    let quantiles = [("p50-sec/op", 1.0), ("p95-sec/op", 2.5), ("p99-sec/op", 6.0), ("p99.9-sec/op", 40.0)];
    quantiles
        .into_iter()
        .map(|(unit, times)| {
            let cell = |v: f64| {
                Some(Cell {
                    n: Some(1),
                    kind: Some(Center::Single),
                    center: Some(v),
                    confidence: 0.95,
                    ..Cell::default()
                })
            };
            let mut c = compared(1e-5 * times, 1.1e-5 * times, 0.0, 0.0, 1.0, Verdict::Untested);
            (c.lo, c.hi, c.p, c.p_adjusted, c.test, c.why) =
                (None, None, None, None, Test::None, Some(Why::SingleValue));
            Table {
                keys: [].into(),
                unit: Unit::new(unit, unit).with_better(Some(Direction::Lower)),
                rows: vec![row("readrandom", cell(1e-5 * times), cell(1.1e-5 * times), c, &[])],
                geomean: None,
                notes: vec!["one value a side: no test".into()],
                ..times_head()
            }
        })
        .collect()
}

/// Times of two columns that change for sure, with intervals in percent.
pub fn table_of(rows: &[(&str, f64, f64, (f64, f64))]) -> Table {
    let one = |(name, old, new, (lo, hi)): &(&str, f64, f64, (f64, f64))| {
        let verdict = if new > old { WORSE } else { BETTER };
        row(name, Some(raw(*old, 0.02)), Some(raw(*new, 0.02)), compared(*old, *new, *lo, *hi, 1e-4, verdict), &[])
    };
    Table { rows: rows.iter().map(one).collect(), notes: vec![], geomean: None, ..times() }
}

fn times_head() -> Table {
    Table { rows: vec![], ..times() }
}

/// A report of `tables`, its verdicts counted.
pub fn report(tables: Vec<Table>) -> Report {
    let mut summary = Counts {
        expected_false: 0.05 * tables.iter().map(|t| t.rows.len()).sum::<usize>() as f64,
        ..Counts::default()
    };
    for (_, c) in tables.iter().flat_map(|t| &t.rows).flat_map(Row::comparisons) {
        let n = match c.verdict {
            Verdict::Better { .. } => &mut summary.faster,
            Verdict::Worse { .. } => &mut summary.slower,
            Verdict::Changed { .. } => &mut summary.changed,
            Verdict::Same => &mut summary.same,
            Verdict::Unclear => &mut summary.unclear,
            Verdict::Untested if c.why == Some(Why::OneSide) => &mut summary.unmatched,
            Verdict::Untested => &mut summary.untested,
        };
        *n += 1;
        summary.after_correction += usize::from(c.verdict.is_confirmed());
    }
    let input = |label: &str| Input {
        label: label.into(),
        path: format!("{label}.txt"),
        formats: vec!["go"],
        results: 160,
        skipped: 1,
    };
    Report {
        settings: Settings {
            alpha: 0.05,
            confidence: 0.95,
            margin: 0.01,
            equivalence: false,
            correction: Correction::Holm,
            view: View::Change,
        },
        inputs: vec![input("main@1a2b3c4"), input("pr@9f8e7d6")],
        tables,
        summary,
        gates: vec![],
        warnings: vec![],
    }
}

/// Everything at once.
pub fn rich() -> Report {
    let mut report = report(vec![times(), allocations(), sizes(), versions()]);
    report.gates = vec![
        GateOutcome {
            rule: "slower>5%".into(),
            tripped: true,
            judged: 20,
            rows: vec![GateRow {
                name: "Put/1KiB".into(),
                unit: "sec/op".into(),
                column: "pr@9f8e7d6".into(),
                delta_pct: Some(10.44),
                interval_pct: Some((8.1, 13.0)),
                verdict: "slower".into(),
            }],
        },
        GateOutcome { rule: ".unit:B/op: slower".into(), tripped: false, judged: 3, rows: vec![] },
    ];
    report.warnings = vec![Diagnostic::warning(
        "cpu-differs",
        "cpu differs: main@1a2b3c4 \"A | B <x>\", pr@9f8e7d6 \"C\"; differences may be the machine's",
    )];
    report
}

/// The versions table in the relative view.
pub fn relative() -> Report {
    let mut report = report(vec![versions()]);
    report.settings.view = View::Relative;
    report
}

/// `n` rows of which every hundredth changed.
pub fn large(n: usize) -> Report {
    let mut table = times();
    table.rows = (0..n)
        .map(|i| {
            let old = 1e-6 * (1 + i % 977) as f64;
            let name = format!("Suite/case={i:05}/size={}KiB-8", 1 << (i % 12));
            match i % 100 {
                0 => {
                    let up = 5.0 + (i / 100 % 40) as f64;
                    let new = old * (1.0 + up / 100.0);
                    let c = compared(old, new, up - 1.0, up + 1.0, 1e-5, WORSE);
                    row(&name, Some(raw(old, 0.02)), Some(raw(new, 0.02)), c, &[])
                }
                _ => {
                    let c = compared(old, old * 1.001, -0.3, 0.5, 0.7, Verdict::Same);
                    row(&name, Some(raw(old, 0.01)), Some(raw(old * 1.001, 0.01)), c, &[])
                }
            }
        })
        .collect();
    report(vec![table])
}
