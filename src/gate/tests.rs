use super::*;
use crate::pivot::Column;
use crate::report::{Cell, Correction, Counts, Geomean, IntervalMethod, Settings, View};
use crate::units::Unit;

/// A comparison of two centers, as the default method leaves it.
fn compared(old: f64, new: f64, lo: f64, hi: f64, verdict: Verdict) -> Comparison {
    Comparison {
        base: 0,
        delta_pct: (old != 0.0).then(|| 100.0 * (new / old - 1.0)),
        difference: Some(new - old),
        ratio: (old != 0.0).then(|| new / old),
        lo: Some(lo),
        hi: Some(hi),
        confidence: 0.95,
        equivalence: None,
        p: Some(0.001),
        p_adjusted: Some(0.01),
        test: Test::MannWhitneyExact,
        interval: IntervalMethod::HodgesLehmann,
        verdict,
        why: None,
        out_of_reach: false,
        turned: false,
    }
}

const WORSE: Verdict = Verdict::Worse { confirmed: true };
const BETTER: Verdict = Verdict::Better { confirmed: true };

fn row(name: &str, comparison: Option<Comparison>) -> Row {
    let cell = || Some(Cell { raw: true, n: Some(10), ..Cell::default() });
    let keys = [(".name".into(), name.split('/').next().unwrap().into())].into();
    let mut row = Row::new(name.into(), keys, [cell(), cell()]);
    comparison.iter().for_each(|c| row.compare(1, c));
    row
}

fn column(label: &str) -> Column {
    Column { label: label.into(), keys: [(".file".into(), label.into())].into(), fields: 1 }
}

fn table(unit: &str, rows: Vec<Row>) -> Table {
    Table {
        keys: [("pkg".into(), "example.org/kv".into())].into(),
        unit: Unit::new(unit, unit),
        exact: false,
        columns: vec![column("old"), column("new")],
        base: Some(0),
        rows,
        geomean: None,
        notes: vec![],
    }
}

fn report(tables: Vec<Table>) -> Report {
    Report {
        settings: Settings {
            alpha: 0.05,
            confidence: 0.95,
            margin: 0.01,
            equivalence: false,
            correction: Correction::Holm,
            view: View::Change,
        },
        inputs: vec![],
        tables,
        summary: Counts::default(),
        gates: vec![],
        warnings: vec![],
    }
}

fn rules(texts: &[&str]) -> Rules {
    Rules { rules: texts.iter().map(|t| Rule::parse(t).unwrap()).collect(), ..Rules::default() }
}

/// Exit, names of the rows that trip, and how many were judged.
fn run(report: &Report, rule: &str) -> (GateExit, Vec<String>, usize) {
    let (outcomes, _, exit) = judge(report, &rules(&[rule]));
    (exit, outcomes[0].rows.iter().map(|r| r.name.clone()).collect(), outcomes[0].judged)
}

fn trips(report: &Report, rule: &str) -> Vec<String> {
    run(report, rule).1
}

/// +4.4 % unclear, +10.4 % slower, -17.2 % faster, +6 % slower with a near end of +2 %.
fn times() -> Report {
    report(vec![table(
        "sec/op",
        vec![
            row("Noisy", Some(compared(8.9, 9.3, 0.95, 1.15, Verdict::Unclear))),
            row("Vague", Some(compared(100.0, 106.0, 1.02, 1.11, WORSE))),
            row("Put/1KiB", Some(compared(100.0, 110.4, 1.081, 1.13, WORSE))),
            row("Get/1KiB", Some(compared(1.718, 1.423, 0.821, 0.835, BETTER))),
        ],
    )])
}

#[test]
fn the_near_end_of_the_interval_decides_and_est_and_raw_take_the_point() {
    let r = times();
    for (rule, want) in [
        ("slower", &["Put/1KiB", "Vague"][..]),
        ("regression", &["Put/1KiB", "Vague"]),
        ("slower>1%", &["Put/1KiB", "Vague"]),
        ("slower>5%", &["Put/1KiB"]),
        ("slower>9%", &[]),
        ("slower>5%:est", &["Put/1KiB", "Vague"]),
        ("slower>9%:est", &["Put/1KiB"]),
        ("slower>4%:raw", &["Put/1KiB", "Vague", "Noisy"]),
        ("slower>11%:raw", &[]),
        ("faster", &["Get/1KiB"]),
        // Turned, 0.835 is 1.198 times as fast.
        ("faster>19%", &["Get/1KiB"]),
        ("faster>20%", &[]),
        ("faster>20%:est", &["Get/1KiB"]),
        ("unclear", &["Noisy"]),
        ("any", &["Get/1KiB", "Put/1KiB", "Vague"]),
        ("any>5%", &["Get/1KiB", "Put/1KiB"]),
        ("missing", &[]),
        ("config", &[]),
    ] {
        let (exit, names, judged) = run(&r, rule);
        assert_eq!(names, want, "{rule}");
        assert_eq!(exit, if want.is_empty() { GateExit::Passed } else { GateExit::Tripped }, "{rule}");
        assert_eq!(judged, if rule == "config" { 1 } else { 4 }, "{rule}");
    }
}

#[test]
fn a_rate_is_slower_beyond_five_percent_below_one_over_1_05() {
    for (new, slower) in [(95.3, false), (95.2, true)] {
        let r = report(vec![table("op/sec", vec![row("x", Some(compared(100.0, new, 0.9, new / 100.0, WORSE)))])]);
        for rule in ["slower>5%", "slower>5%:est", "slower>5%:raw"] {
            assert_eq!(!trips(&r, rule).is_empty(), slower, "{new} {rule}");
        }
        assert!(trips(&r, "faster").is_empty());
        assert!(trips(&r, "faster:raw").is_empty());
    }
    let r = report(vec![table("op/sec", vec![row("x", Some(compared(100.0, 130.0, 1.25, 1.35, BETTER)))])]);
    assert_eq!(trips(&r, "faster>20%"), ["x"]);
    assert!(trips(&r, "slower:raw").is_empty());
}

#[test]
fn an_unconfirmed_change_counts_only_with_est() {
    let mut c = compared(100.0, 120.0, 1.1, 1.3, Verdict::Worse { confirmed: false });
    c.why = Some(Why::Correction);
    c.p_adjusted = Some(0.2);
    let r = report(vec![table("sec/op", vec![row("x", Some(c))])]);
    for rule in ["slower", "slower>5%", "any"] {
        assert_eq!(run(&r, rule), (GateExit::Passed, vec![], 1), "{rule}");
    }
    for rule in ["slower:est", "slower>5%:est", "slower>5%:raw", "any:est"] {
        assert_eq!(trips(&r, rule), ["x"], "{rule}");
    }
}

#[test]
fn so_few_runs_that_nothing_could_be_significant_are_no_reason_to_pass() {
    let row = |verdict, out_of_reach| {
        let c = Comparison { out_of_reach, ..compared(100.0, 120.0, 1.1, 1.3, verdict) };
        report(vec![table("sec/op", vec![row("x", Some(c))])])
    };
    let unsure = Verdict::Worse { confirmed: false };
    let (outcomes, said, exit) = judge(&row(unsure, true), &rules(&["slower>5%"]));
    assert_eq!((exit, outcomes[0].judged), (GateExit::CouldNotJudge, 0));
    assert!(said[0].message.contains("with so few runs no row can be significant"), "{}", said[0].message);
    assert_eq!(judge(&row(Verdict::Unclear, true), &rules(&["slower"])).2, GateExit::CouldNotJudge);
    // The estimate, and what is shown to be the same, are judged whatever the number of runs.
    assert_eq!(trips(&row(unsure, true), "slower>5%:est"), ["x"]);
    assert_eq!(judge(&row(Verdict::Same, true), &rules(&["slower>5%"])).2, GateExit::Passed);
    assert_eq!(judge(&row(unsure, false), &rules(&["slower>5%"])).2, GateExit::Passed);
}

#[test]
fn rows_on_trust_are_refused_unless_told_otherwise() {
    for why in [Why::Pooled, Why::OneProcess] {
        let mut c = compared(100.0, 120.0, 1.1, 1.3, Verdict::Worse { confirmed: false });
        c.why = Some(why);
        let mut r = report(vec![table("sec/op", vec![row("x", Some(c))])]);
        let (outcomes, said, exit) = judge(&r, &rules(&["slower>5%"]));
        assert_eq!((exit, outcomes[0].judged, outcomes[0].tripped), (GateExit::CouldNotJudge, 0, false));
        assert_eq!(
            said[0].message,
            "--fail-on \"slower>5%\" cannot judge 1 row of 1: differences between processes are not known"
        );
        assert_eq!(trips(&r, "slower>5%:est"), ["x"]);
        assert_eq!(trips(&r, "slower>5%:raw"), ["x"]);
        let trusting = Rules { assume_independent: true, ..rules(&["slower>5%"]) };
        assert_eq!(judge(&r, &trusting).2, GateExit::Tripped);
        // On trust or not, the correction holds.
        c.p_adjusted = Some(0.06);
        r.tables[0].rows = vec![row("x", Some(c))];
        assert_eq!(judge(&r, &trusting).2, GateExit::Passed);
        // Beside a row that can be judged the gate works, and says what it left out.
        r.tables[0].rows.push(row("y", Some(compared(1.0, 1.0, 0.999, 1.001, Verdict::Same))));
        let (outcomes, said, exit) = judge(&r, &rules(&["slower>5%"]));
        assert_eq!((exit, outcomes[0].judged, said.len()), (GateExit::Passed, 1, 1));
    }
}

#[test]
fn untested_rows_are_not_judged_but_raw_takes_their_change() {
    let mut c = compared(100.0, 120.0, 0.0, 0.0, Verdict::Untested);
    (c.lo, c.hi, c.p, c.p_adjusted, c.test) = (None, None, None, None, Test::None);
    c.why = Some(Why::SingleValue);
    let r = report(vec![table("sec/op", vec![row("x", Some(c))])]);
    for rule in ["slower", "slower>5%", "slower>5%:est", "faster", "unclear", "any"] {
        assert_eq!(run(&r, rule), (GateExit::CouldNotJudge, vec![], 0), "{rule}");
    }
    assert_eq!(trips(&r, "slower>5%:raw"), ["x"]);
    assert_eq!(run(&r, "slower>25%:raw"), (GateExit::Passed, vec![], 1));
}

#[test]
fn an_exact_unit_has_no_noise_and_growth_from_nothing_has_no_limit() {
    let mut c = compared(0.0, 3.0, 0.0, 0.0, WORSE);
    (c.lo, c.hi, c.p, c.p_adjusted, c.test) = (None, None, None, None, Test::Exact);
    let mut less = compared(4.0, 2.0, 0.0, 0.0, BETTER);
    (less.lo, less.hi, less.test) = (None, None, Test::Exact);
    let equal = compared(0.0, 0.0, 1.0, 1.0, Verdict::Same);
    let r = report(vec![table(
        "allocs/op",
        vec![row("zero", Some(c)), row("less", Some(less)), row("equal", Some(equal))],
    )]);
    for rule in ["slower", "slower>5%", "slower>5%:est", "slower>1000%:raw", "slower>0%:raw"] {
        assert_eq!(run(&r, rule), (GateExit::Tripped, vec!["zero".into()], 3), "{rule}");
    }
    assert_eq!(trips(&r, "faster>50%"), ["less"]);
    assert_eq!(trips(&r, "any"), ["zero", "less"]);
    let (o, ..) = judge(&r, &rules(&["slower>5%"]));
    assert_eq!(lines(&r, &o), ["gate: slower>5% tripped by 1 of 3 rows: zero: worse"]);
}

#[test]
fn a_verdict_without_an_interval_is_no_confident_excess() {
    let mut c = compared(100.0, 120.0, 0.0, 0.0, WORSE);
    (c.lo, c.hi, c.test) = (None, None, Test::Printed);
    let r = report(vec![table("sec/op", vec![row("x", Some(c))])]);
    assert_eq!(trips(&r, "slower"), ["x"]);
    assert_eq!(run(&r, "slower>5%"), (GateExit::CouldNotJudge, vec![], 0));
    assert_eq!(trips(&r, "slower>5%:est"), ["x"]);
}

#[test]
fn one_sided_intervals_judge_by_the_end_they_have() {
    for (lo, hi, trips) in [(Some(1.06), None, true), (None, Some(1.3), false), (Some(0.9), None, false)] {
        let mut c = compared(100.0, 120.0, 0.0, 0.0, WORSE);
        (c.lo, c.hi) = (lo, hi);
        let r = report(vec![table("sec/op", vec![row("x", Some(c))])]);
        assert_eq!(!super::tests::trips(&r, "slower>5%").is_empty(), trips, "{lo:?} {hi:?}");
    }
}

#[test]
fn missing_is_a_row_of_the_base_alone() {
    let one_side = || {
        let mut c = compared(1.0, 1.0, 0.0, 0.0, Verdict::Untested);
        (c.why, c.delta_pct, c.difference, c.ratio) = (Some(Why::OneSide), None, None, None);
        (c.lo, c.hi) = (None, None);
        Some(c)
    };
    let mut gone = row("gone", one_side());
    gone.edit_cell(1, |c| *c = None);
    let mut fresh = row("fresh", one_side());
    fresh.edit_cell(0, |c| *c = None);
    let mut mixed = row("mixed", one_side());
    mixed.edit_cell(1, |c| *c = None);
    mixed.edit_comparison(1, |c| c.why = Some(Why::MixedSummaries));
    let r = report(vec![table("sec/op", vec![gone, fresh, mixed])]);
    assert_eq!(run(&r, "missing"), (GateExit::Tripped, vec!["gone".into()], 2));
    assert_eq!(trips(&r, "any"), ["gone", "fresh"]);
    let (o, ..) = judge(&r, &rules(&["missing"]));
    assert_eq!(lines(&r, &o), ["gate: missing tripped by 1 of 2 rows: gone: only in old"]);
    assert_eq!(run(&r, "slower").0, GateExit::CouldNotJudge);
}

#[test]
fn filters_and_exceptions_choose_rows() {
    let mut r = times();
    r.tables.push(table("B/op", vec![row("Put/1KiB", Some(compared(10.0, 20.0, 1.9, 2.1, WORSE)))]));
    assert_eq!(trips(&r, "slower>5%"), ["Put/1KiB", "Put/1KiB"]);
    assert_eq!(run(&r, ".unit:B/op: slower>5%").2, 1);
    assert_eq!(trips(&r, ".name:Vague: slower"), ["Vague"]);
    assert_eq!(trips(&r, ".file:new pkg:example.org/kv .fullname:Vague: slower"), ["Vague"]);
    assert_eq!(run(&r, ".file:old: slower").0, GateExit::CouldNotJudge);
    let except = Rules { except: vec![Selector::parse(".name:Put").unwrap()], ..rules(&["slower"]) };
    let (o, ..) = judge(&r, &except);
    assert_eq!(o[0].rows.iter().map(|r| &*r.name).collect::<Vec<_>>(), ["Vague"]);
}

#[test]
fn a_rule_without_rows_warns_and_passes_only_beside_one_that_has_some() {
    let r = times();
    let (outcomes, said, exit) = judge(&r, &rules(&[".unit:B/op: slower", "slower>50%"]));
    assert_eq!(exit, GateExit::Passed);
    assert_eq!((outcomes.len(), said.len()), (2, 1));
    assert_eq!(said[0].message, "--fail-on \".unit:B/op: slower\" matches no row");
    assert_eq!(said[0].hint.as_deref(), Some("units here are sec/op"));
    assert_eq!(run(&r, ".unit:B/op: slower").0, GateExit::CouldNotJudge);
    assert_eq!(judge(&report(vec![]), &rules(&["slower"])).2, GateExit::CouldNotJudge);
    assert_eq!(judge(&r, &Rules::default()).2, GateExit::Passed);
}

#[test]
fn a_unit_without_a_direction_trips_any_alone() {
    let r = report(vec![table(
        "widgets",
        vec![row("x", Some(compared(1.0, 2.0, 1.9, 2.1, Verdict::Changed { confirmed: true })))],
    )]);
    assert_eq!(trips(&r, "any"), ["x"]);
    assert_eq!(run(&r, "slower").0, GateExit::CouldNotJudge);
    assert_eq!(run(&r, "slower>5%:raw").0, GateExit::CouldNotJudge);
}

#[test]
fn the_geomean_is_judged_per_table_and_over_the_rows_of_a_filter() {
    let mut r = times();
    let geomean = Geomean {
        rows: 4,
        ratios: vec![None, Some(1.03)],
        intervals: vec![None, Some((1.01, 1.05))],
        ..Geomean::default()
    };
    r.tables[0].geomean = Some(geomean);
    assert_eq!(run(&r, "geomean>2%"), (GateExit::Passed, vec![], 1));
    assert_eq!(trips(&r, "geomean>2%:est"), ["geomean"]);
    assert_eq!(trips(&r, "geomean>0.5%"), ["geomean"]);
    // sqrt(1.06 * 1.104) = 1.0818
    assert_eq!(trips(&r, ".name:Put: geomean>10%"), ["geomean"]);
    let except = |names: [&str; 2]| Rules {
        except: names.iter().map(|n| Selector::parse(&format!(".name:{n}")).unwrap()).collect(),
        ..rules(&["geomean>8%"])
    };
    let (o, _, exit) = judge(&r, &except(["Noisy", "Get"]));
    assert_eq!(exit, GateExit::Tripped);
    assert_eq!(lines(&r, &o), ["gate: geomean>8% tripped by 1 of 1 geomean: geomean +8.2%"]);
    assert_eq!(judge(&r, &except(["Put", "Get"])).2, GateExit::Passed);
}

#[test]
fn config_trips_on_machine_lines_that_differ() {
    let mut r = times();
    r.warnings = vec![
        Diagnostic::warning("bad-value", "not about machines"),
        Diagnostic::warning("setting-differs", "nor is a commit"),
        Diagnostic::warning("cpu-differs", "cpu differs: old \"A\", new \"B\"; differences may be the machine's"),
    ];
    let (o, _, exit) = judge(&r, &rules(&["config"]));
    assert_eq!(exit, GateExit::Tripped);
    assert_eq!(
        lines(&r, &o),
        ["gate: config tripped: cpu differs: old \"A\", new \"B\"; differences may be the machine's"]
    );
}

#[test]
fn lines_say_what_tripped_and_how_many_were_judged() {
    let mut r = times();
    let say = |r: &Report, rule: &str| lines(r, &judge(r, &rules(&[rule])).0).remove(0);
    assert_eq!(say(&r, "slower>5%"), "gate: slower>5% tripped by 1 of 4 rows: Put/1KiB +10.4% [+8.1, +13.0]");
    assert_eq!(
        say(&r, "slower"),
        "gate: slower tripped by 2 of 4 rows: Put/1KiB +10.4% [+8.1, +13.0]; Vague +6.0% [+2.0, +11.0]"
    );
    assert_eq!(say(&r, "slower>50%"), "gate: passed slower>50%: none of 4 rows");
    assert_eq!(say(&r, ".unit:x: slower"), "gate: .unit:x: slower could judge nothing");
    let worse = compared(100.0, 110.4, 1.081, 1.13, WORSE);
    r.tables[0].rows = (0..9).map(|i| row(&format!("a\x1b[{i}m"), Some(worse))).collect();
    r.tables.push(table("B/op", vec![]));
    let line = say(&r, "slower");
    assert!(line.contains("a\\x1b[0m sec/op +10.4%") && line.ends_with("; and 4 more"), "{line}");
    assert!(!line.contains('\x1b'));
}

#[test]
fn rules_name_the_flag_and_what_is_wrong() {
    let e = Rule::parse("slowr>5%").unwrap_err();
    assert_eq!(e.message, "--fail-on \"slowr>5%\": expected a condition, found \"slowr>5%\"");
    assert_eq!(e.hint.as_deref(), Some("nearest is slower>5%"));
    let e = Rule::parse("nonsense: slower").unwrap_err();
    assert!(e.message.starts_with("--fail-on \"nonsense: slower\": syntax error: "), "{e}");
    assert!(Rule::parse(".unit:x: config").is_err());
    assert_eq!(Rule::parse(" .unit:x : regression > 5 % ").unwrap().to_string(), ".unit:x: slower>5%");
}

#[test]
fn a_rules_file_is_read_whole_and_its_errors_have_places() {
    let text = "# guard\nfail-on = [\n  \"slower>5%\",\n  \".unit:allocs/op: slower>0%:raw\",\n]\nfail-except = ['.name:Flaky']\n";
    let r = from_toml("gates.toml", text).unwrap();
    assert_eq!(r.rules.iter().map(Rule::to_string).collect::<Vec<_>>(), ["slower>5%", ".unit:allocs/op: slower:raw"]);
    assert_eq!((r.except.len(), r.assume_independent), (1, false));

    let broken = "fail-on = [\"slower\",\n  \"slowr\"]\nfail-except = [\"bad\"]\n";
    let errors = from_toml("gates.toml", broken).unwrap_err();
    assert_eq!(errors.len(), 2);
    assert!(errors[0].message.starts_with("gates.toml:2:3: --fail-on \"slowr\": "), "{}", errors[0]);
    assert!(errors[1].message.starts_with("gates.toml:3:16: fail-except \"bad\": syntax error"), "{}", errors[1]);
    for (text, place) in [("fail-on = \"slower\"", ":1:11: "), ("failon = []", ":1:1: "), ("x = [", ":1:")] {
        let errors = from_toml("g", text).unwrap_err();
        assert!(errors[0].message.starts_with(&format!("g{place}")), "{}", errors[0]);
    }
    assert!(from_toml("g", "").unwrap().rules.is_empty());
}

proptest::proptest! {
    #[test]
    fn no_rule_or_file_panics(text in proptest::prelude::any::<String>()) {
        let _ = Rule::parse(&text);
        let _ = from_toml("f", &text);
        if let Ok(rule) = Rule::parse(&format!("{text}:slower>5%")) {
            proptest::prop_assert_eq!(Rule::parse(&rule.to_string()).unwrap().condition, rule.condition);
        }
    }
}
