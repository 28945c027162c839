use std::collections::BTreeMap;
use std::path::PathBuf;

use proptest::prelude::*;

use super::*;
use crate::parse::testing::{Kept, Recorded, read as read_lines};
use crate::units::Direction;

fn read(input: impl AsRef<[u8]>) -> Recorded {
    read_lines(Box::new(DbBench::new()), input.as_ref())
}

fn dir(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("testdata/db_bench").join(name)
}

fn load(folder: &str, file: &str) -> Recorded {
    read(std::fs::read(dir(folder).join(file)).unwrap_or_else(|e| panic!("{folder}/{file}: {e}")))
}

/// Rows of a table with a header, as maps.
fn table(folder: &str, file: &str) -> Vec<BTreeMap<String, String>> {
    let text = std::fs::read_to_string(dir(folder).join(file)).unwrap();
    let mut lines = text.lines();
    let head: Vec<_> = lines.next().unwrap().split('\t').collect();
    lines.map(|l| head.iter().zip(l.split('\t')).map(|(k, v)| ((*k).to_owned(), v.to_owned())).collect()).collect()
}

/// `(file, name)` -> unit -> samples, of the rows of an expected-results table; the second entry of a name is `name#2`.
type Expected = BTreeMap<(String, String), BTreeMap<String, Vec<f64>>>;

fn expected(rows: &[BTreeMap<String, String>]) -> Expected {
    let mut out = Expected::new();
    let mut last: Option<(String, String, String)> = None;
    for r in rows.iter().filter(|r| r["phase"] == "measure") {
        let number = |key: &str| r.get(key).filter(|v| !v.is_empty()).map(|v| v.parse::<f64>().unwrap());
        let entry = r.get("entry").map_or("1", |e| e);
        let name = if entry == "1" { r["benchmark"].clone() } else { format!("{}#{entry}", r["benchmark"]) };
        let units = out.entry((r["file"].clone(), name.clone())).or_default();
        let mut add = |unit: String, value: Option<f64>| {
            if let Some(v) = value {
                units.entry(unit).or_default().push(v);
            }
        };
        // A second histogram of a result is a row with the same numbers.
        let this = (r["file"].clone(), name, r["rep"].clone());
        let again = last.as_ref() == Some(&this);
        last = Some(this);
        if !again {
            add("sec/op".into(), number("micros_op").map(|v| v * 1e-6));
            let rate = match (number("ops_sec"), number("seconds"), number("operations")) {
                (_, _, Some(1.0)) => None,
                (Some(ops), Some(s), Some(n)) if ops < 1000.0 && s >= 1.0 => Some(n / s),
                (ops, ..) => ops,
            };
            add("op/sec".into(), rate);
            add("B/sec".into(), number("mb_sec").map(|v| v * 1_048_576.0));
        }
        let both =
            rows.iter().filter(|o| ["file", "benchmark", "rep"].iter().all(|k| o.get(*k) == r.get(*k))).count() > 1;
        let op = match r.get("hist_kind") {
            Some(kind) if both && !kind.is_empty() => format!("{kind}-"),
            _ => String::new(),
        };
        for p in ["p50", "p75", "p99", "p99.9", "p99.99"] {
            add(format!("{op}{p}-sec/op"), number(p).map(|v| v * 1e-6));
        }
    }
    out
}

/// Samples of the same shape that were read. `extra`: units that the expected table does not hold.
fn samples(file: &str, got: &Recorded, extra: &[&str]) -> Expected {
    let mut out = Expected::new();
    for k in &got.kept {
        if let (Some(v), false) = (k.value(), extra.iter().any(|e| k.unit.name.ends_with(e))) {
            out.entry((file.to_owned(), k.name.clone()))
                .or_default()
                .entry(k.unit.name.to_string())
                .or_default()
                .push(v);
        }
    }
    out
}

fn assert_close(got: &Expected, want: &Expected) {
    assert_eq!(got.keys().collect::<Vec<_>>(), want.keys().collect::<Vec<_>>());
    for (key, units) in want {
        let mine = &got[key];
        assert_eq!(mine.keys().collect::<Vec<_>>(), units.keys().collect::<Vec<_>>(), "{key:?}");
        for (unit, values) in units {
            assert_eq!(mine[unit].len(), values.len(), "{key:?} {unit}");
            for (a, b) in mine[unit].iter().zip(values) {
                assert!((a - b).abs() <= 1e-12 * b.abs(), "{key:?} {unit}: {a}, want {b}");
            }
        }
    }
}

fn files(folder: &str, rows: &[BTreeMap<String, String>]) -> Vec<String> {
    assert!(rows.len() > 1, "{folder}");
    let mut names: Vec<_> = rows.iter().map(|r| r["file"].clone()).collect();
    names.dedup();
    names
}

#[test]
fn every_result_of_the_real_logs() {
    let rows = table("real", "expected.tsv");
    for file in files("real", &rows) {
        let mine: Vec<_> = rows.iter().filter(|r| r["file"] == file).cloned().collect();
        let got = load("real", &file);
        assert_close(&samples(&file, &got, &["interval-op/sec", "pmax-sec/op"]), &expected(&mine));
        let codes: Vec<_> = got.diagnostics.iter().map(|d| d.code).collect();
        assert!(!codes.contains(&"summary-differs") && !codes.contains(&"run-cut"), "{file}: {:?}", got.diagnostics);
    }
}

#[test]
fn messages_of_the_real_logs() {
    for r in table("real", "expected.tsv") {
        let bytes = std::fs::read(dir("real").join(&r["file"])).unwrap();
        let seen = bytes.split(|&b| b == b'\n' || b == b'\r').any(|segment| {
            let Some(at) = line::micros(segment).next() else { return false };
            match line::result(segment, at) {
                Some(Parsed::Result(l)) => {
                    let found =
                        l.found().map_or((String::new(), String::new()), |(f, t)| (f.to_string(), t.to_string()));
                    l.name == r["benchmark"].as_bytes()
                        && format!("{:.3}", l.micros) == r["micros_op"]
                        && l.message == r["message"].as_bytes()
                        && found == (r["found"].clone(), r["total"].clone())
                }
                _ => false,
            }
        });
        assert!(seen, "{r:?}");
    }
}

#[test]
fn averages_of_the_real_logs_are_reported_and_agree() {
    let rows = table("real", "expected-aggregates.tsv");
    for r in &rows {
        // Each line by itself is understood.
        let text = std::fs::read_to_string(dir("real").join(&r["file"])).unwrap();
        let (kind, last) = match &*r["kind"] {
            "AVG" => (Kind::Average, false),
            "AVG-final" => (Kind::Average, true),
            "MEDIAN" => (Kind::Median, false),
            _ => (Kind::Interval, false),
        };
        let number = |key: &str| r[key].parse::<f64>().ok();
        let seen = text.split(['\n', '\r']).filter_map(|l| line::summary(l.as_bytes())).any(|s| {
            let bounds = |s: Stated| match (kind, s.half) {
                (Kind::Interval, Some(h)) => (Some(s.value.value - h.value), Some(s.value.value + h.value)),
                (_, h) => (Some(s.value.value), h.map(|h| h.value)),
            };
            let near = |a: Option<f64>, b: Option<f64>| match (a, b) {
                (Some(a), Some(b)) => (a - b).abs() < 1e-9 * b.abs().max(1.0),
                (a, b) => a == b,
            };
            let (ops, ops_ci) = bounds(s.ops);
            let (mb, mb_ci) = s.mb.map_or((None, None), bounds);
            s.name == r["benchmark"].as_bytes()
                && (s.kind, s.last, s.runs.to_string()) == (kind, last, r["runs"].clone())
                && near(ops, number("ops"))
                && near(ops_ci, number("ops_ci_or_high"))
                && near(mb, number("mb"))
                && near(mb_ci, number("mb_ci_or_high"))
        });
        assert!(seen, "{r:?}");
        if r["kind"] != "AVG-final" {
            continue;
        }
        // The last average is what the input states of the entry.
        let got = load("real", &r["file"]);
        for (unit, value, half, factor) in
            [("op/sec", "ops", "ops_ci_or_high", 1.0), ("B/sec", "mb", "mb_ci_or_high", MIB)]
        {
            let reported: Vec<_> = got
                .kept
                .iter()
                .filter(|k| k.name == r["benchmark"] && &*k.unit.name == unit)
                .filter_map(|k| if let Reading::Reported(s) = &k.reading { Some(s) } else { None })
                .collect();
            let Some(want) = number(value) else {
                assert!(reported.is_empty(), "{r:?}");
                continue;
            };
            assert_eq!(reported.len(), 1, "{r:?} {unit}");
            let s = reported[0];
            assert_eq!((s.center, s.n), (Center::Mean, r["runs"].parse().ok()), "{r:?}");
            assert!((s.value - want * factor).abs() < 1e-6 * want * factor, "{r:?}");
            match s.spread {
                Spread::NormalError { half_width, confidence, .. } => {
                    assert!((half_width - number(half).unwrap() * factor).abs() < 1e-6 * half_width, "{r:?}");
                    assert_eq!(confidence, 0.95);
                }
                other => panic!("{r:?}: {other:?}"),
            }
        }
    }
}

#[test]
fn interval_lines_and_report_rows() {
    let rows = table("real", "expected-intervals.tsv");
    for file in files("real", &rows) {
        let got = load("real", &file);
        let mut want: BTreeMap<String, Vec<f64>> = BTreeMap::new();
        let mut seconds = 0.0;
        for r in rows.iter().filter(|r| r["file"] == file) {
            let of = |key: &str| r[key].parse::<f64>().unwrap();
            let (name, value) = if file.ends_with(".csv") {
                let elapsed = of("total_secs") - seconds;
                seconds = of("total_secs");
                ("interval_qps".to_owned(), of("interval_ops") / elapsed)
            } else {
                (r["benchmark"].clone(), of("interval_qps"))
            };
            want.entry(name).or_default().push(value);
        }
        let mut seen: BTreeMap<String, Vec<f64>> = BTreeMap::new();
        let mut blocks = Vec::new();
        for k in got.kept.iter().filter(|k| k.unit.name.starts_with("interval")) {
            seen.entry(k.name.clone()).or_default().push(k.value().unwrap());
            blocks.push((k.name.clone(), k.block.expect("one process")));
            assert_eq!(k.unit.better, Some(Direction::Higher));
        }
        blocks.dedup();
        assert_eq!(blocks.len(), want.len(), "{file}: one block per run");
        assert_eq!(seen, want, "{file}");
    }
}

#[test]
fn shapes_of_public_pastes() {
    let rows = table("reports", "expected-results.tsv");
    for file in files("reports", &rows) {
        let mine: Vec<_> =
            rows.iter().filter(|r| r["file"] == file && !r["note"].contains("meaningless")).cloned().collect();
        let got = load("reports", &file);
        let extra = ["interval-op/sec", "pmax-sec/op", "p75-sec/op", "p99.9-sec/op", "p99.99-sec/op"];
        let mut want = expected(&mine);
        // One operation: a duration, not a rate; the table does not say it for old output.
        for ((_, name), units) in &mut want {
            if name == "compact" {
                units.remove("op/sec");
            }
        }
        assert_close(&samples(&file, &got, &extra), &want);
    }
    let failed = load("reports", "r06-leveldb-list.log").diagnostics;
    assert_eq!(failed.iter().map(|d| (d.code, d.pos.unwrap().line)).collect::<Vec<_>>(), [("failed-benchmark", 26)]);
}

#[test]
fn summaries_without_their_runs() {
    let rows = table("reports", "expected-summaries.tsv");
    let got = load("reports", "r05-summary-only.txt");
    let lone: Vec<_> = rows.iter().filter(|r| r["file"] == "r05-summary-only.txt").collect();
    assert_eq!(lone.len(), 2);
    for (r, name) in lone.iter().zip(["readrandom", "readrandom#2"]) {
        for (unit, value, half, factor) in [("op/sec", "ops", "ops_ci", 1.0), ("B/sec", "mb", "mb_ci", MIB)] {
            let found: Vec<_> = got.kept.iter().filter(|k| k.name == name && &*k.unit.name == unit).collect();
            let of = |key: &str| r[key].parse::<f64>().unwrap() * factor;
            assert!(
                matches!(&found[..], [Kept { reading: Reading::Summary(s), .. }]
                if s.value == of(value) && s.n == r["runs"].parse().ok() && s.center == Center::Mean
                    && matches!(s.spread, Spread::NormalError { half_width, .. } if half_width == of(half))),
                "{found:?}"
            );
        }
    }
    assert_eq!(got.kept.len(), 4);
    let checked = load("reports", "r04-x6-v1-avg.log");
    assert!(checked.diagnostics.is_empty(), "{:?}", checked.diagnostics);
    assert!(checked.kept.iter().any(|k| matches!(&k.reading, Reading::Reported(s) if s.value == 200_503.0)));
}

#[test]
fn files_without_results() {
    for r in table("reports", "expected-errors.tsv") {
        assert_eq!(load("reports", &r["file"]).kept, [], "{r:?}");
    }
    let pebble = load("reports", "r17-pebble-ycsb.txt");
    assert!(pebble.diagnostics.is_empty() && pebble.claims.iter().all(|c| *c == Claim::No));
    let cut = load("real", "18-errors.log");
    assert_eq!(cut.kept, []);
    let d = &cut.diagnostics[..];
    assert_eq!((d[0].code, d[0].pos.unwrap().line, d.len()), ("no-result", 5, 1));
    assert!(d[0].message.contains("db_bench: ./tools/db_bench_tool.cc:4131"), "{}", d[0].message);
    let old = load("reports", "r16-no-result.txt");
    assert!(old.diagnostics[0].message.contains("rocksdb.sst.read.micros statistics"), "{:?}", old.diagnostics);
}

#[test]
fn runs_that_end_early_and_skipped_benchmarks_are_told() {
    let codes = |r: &Recorded| r.diagnostics.iter().map(|d| (d.code, d.pos.map_or(0, |p| p.line))).collect::<Vec<_>>();
    assert_eq!(codes(&load("real", "19-unknown.log")), [("run-ended", 26)]);
    assert_eq!(codes(&load("real", "23-skipped-merge.log")), [("skipped-benchmark", 28)]);
    let cut = read("Running benchmark for 5 times\na : 1.000 micros/op 5 ops/sec;\na : 1.000 micros/op 5 ops/sec;\n");
    assert_eq!((codes(&cut), cut.kept.len()), (vec![("run-cut", 3)], 4));
    let bad = read("a : inf micros/op 5 ops/sec;\nb : 1.0 micros/op -3 ops/sec;\nc : 0.5 micros/op nan ops/sec;\n");
    assert_eq!(
        (codes(&bad), bad.kept.len()),
        (vec![("bad-value", 1), ("bad-value", 2), ("bad-value", 3), ("no-result", 3)], 0)
    );
    assert_eq!(bad.diagnostics[0].excerpt.as_ref().map(|e| &e.text[e.span.clone()]), Some("inf"));
    assert_eq!(codes(&load("reports", "r12-intervals.log")), [("nothing-found", 5)]);
}

#[test]
fn places_count_from_the_start_of_the_line() {
    let got = read("  > a : inf micros/op; b : 1.0 micros/op nan ops/sec;\n");
    let places: Vec<_> =
        got.diagnostics.iter().filter(|d| d.code == "bad-value").map(|d| d.pos.unwrap().column).collect();
    assert_eq!(places, [9, 42]);
}

#[test]
fn short_runs_are_told_once() {
    let got = load("real", "03-read-core.log");
    let told: Vec<_> = got.diagnostics.iter().map(|d| (d.code, d.pos.unwrap().line, d.message.as_str())).collect();
    assert_eq!(told, [("short-run", 27, "\"readseq\" ran for 0.041 s only, and 2 more results for less than 0.1 s")]);
}

#[test]
fn very_many_repetitions_stay_one_entry() {
    let n = 2 * HELD + 5;
    let text = format!("Running benchmark for {n} times\n{}", "a : 1.000 micros/op;\n".repeat(n));
    let got = read(text);
    assert_eq!(got.kept.len(), n);
    assert!(got.kept.iter().all(|k| k.name == "a"));
    assert!(got.diagnostics.is_empty(), "{:?}", got.diagnostics);
    // Results that nothing announced are entries, however many.
    let loose = read("a : 1.000 micros/op;\n".repeat(HELD + 3));
    assert_eq!(loose.kept.last().map(|k| k.name.clone()), Some(format!("a#{}", HELD + 3)));
}

#[test]
fn header_settings() {
    let of = |file: &str| load("real", file).kept[0].settings.clone();
    let want = [
        ("tool", "rocksdb"),
        ("version", "7.8.3"),
        ("date", "Mon Nov 30 19:31:37 2026"),
        ("cpu", "2 * AMD EPYC"),
        ("cpu_cache", "1024 KB"),
        ("key_size", "20"),
        ("value_size", "400"),
        ("compressed_value_size", "200"),
        ("entries", "100000"),
        ("compression", "NoCompression"),
        ("memtablerep", "SkipListFactory"),
        ("perf_level", "1"),
        ("warning", "Assertions are enabled; benchmarks unnecessarily slow"),
    ];
    let want: Vec<_> = want.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    assert_eq!(of("01-fill-core.log"), want);
    // The header stands after the progress of the first benchmark, but belongs to it.
    assert!(of("09-stats-interval.log").contains(&("entries".to_owned(), "100000".to_owned())));
    let old = load("reports", "r02-rocksdb310-indented.log");
    assert!(old.kept[0].settings.contains(&("tool".to_owned(), "rocksdb".to_owned())));
    let level = load("reports", "r07-leveldb-trailing.log");
    assert!(level.kept[0].settings.contains(&("tool".to_owned(), "leveldb".to_owned())));
}

#[test]
fn results_after_settings_changed_keep_their_own() {
    let got = read("Keys: 16 bytes each\na : 1.0 micros/op;\nKeys: 32 bytes each\na : 2.0 micros/op;\n");
    let of = |i: usize| (got.kept[i].name.as_str(), got.kept[i].settings[0].1.as_str());
    assert_eq!((of(0), of(1)), (("a", "16"), ("a#2", "32")));
    assert_eq!(got.diagnostics.iter().map(|d| d.code).collect::<Vec<_>>(), ["several-runs"]);
}

#[test]
fn a_warning_between_repetitions_does_not_part_them() {
    let got = read("Running benchmark for 2 times\na : 1.0 micros/op;\nWARNING: Snappy is off\na : 2.0 micros/op;\n");
    assert_eq!(got.kept.iter().map(|k| k.name.as_str()).collect::<Vec<_>>(), ["a", "a"]);
    assert!(got.diagnostics.is_empty());
}

#[test]
fn an_average_joins_results_that_nothing_announced() {
    // As `grep readrandom log` leaves them.
    let got = read(
        "r : 9.0 micros/op 100 ops/sec;\nr : 9.0 micros/op 200 ops/sec;\nr : 9.0 micros/op 300 ops/sec;\n\
         r [AVG 2 runs] : 250 (± 98) ops/sec\nr : 9.0 micros/op 400 ops/sec;\nr [AVG    3 runs] : 300 (± 113) ops/sec\n\
         r [MEDIAN 3 runs] : 300 ops/sec\nr : 9.0 micros/op 500 ops/sec;\n",
    );
    let rates: Vec<_> = got
        .kept
        .iter()
        .filter(|k| &*k.unit.name == "op/sec")
        .filter_map(|k| Some((k.name.as_str(), k.value()?)))
        .collect();
    assert_eq!(rates, [("r", 100.0), ("r#2", 200.0), ("r#2", 300.0), ("r#2", 400.0), ("r#3", 500.0)]);
    assert!(got.diagnostics.is_empty(), "{:?}", got.diagnostics);
}

#[test]
fn an_average_that_does_not_follow_from_its_runs_is_told() {
    let got = read(
        "Running benchmark for 2 times\nr : 9.0 micros/op 100 ops/sec; 1.0 MB/s\nr : 9.0 micros/op 200 ops/sec; 1.0 MB/s\n\
         r [AVG    2 runs] : 152 (± 98) ops/sec; 1.0 (± 0.1) MB/sec\nr [MEDIAN 2 runs] : 150 ops/sec; 2.0 MB/sec\n",
    );
    assert_eq!(got.diagnostics.iter().map(|d| d.code).collect::<Vec<_>>(), ["summary-differs", "summary-differs"]);
    assert!(got.diagnostics[0].message.contains("152 ops/sec, but the runs give 150.0"), "{:?}", got.diagnostics);
    assert!(got.diagnostics[1].message.contains("2 MB/sec, but the runs give 1.00"), "{:?}", got.diagnostics);
}

#[test]
fn pastes_with_decorations() {
    for text in [
        "> fillseq      :  5.402 micros/op 185090 ops/sec;   74.1 MB/s",
        "fillseq&nbsp; &nbsp;&nbsp; : 5.402&nbsp;micros/op 185090 ops/sec; 74.1 MB/s",
        "fillseq\u{a0}\u{a0} : 5.402\u{a0}micros/op 185090 ops/sec; 74.1 MB/s",
        "**fillseq** : 5.402 micros/op 185090 ops/sec; 74.1 MB/s",
        "    _fillseq_: 5.402 micros/op 185090 ops/sec; 74.1 MB/s\r",
        ">> fillseq:5.402 micros/op 185090 ops/sec;74.1 MB/s",
    ] {
        let got = read(text);
        let values: Vec<_> = got.kept.iter().map(|k| (k.name.as_str(), &*k.unit.name, k.value().unwrap())).collect();
        assert_eq!(values.len(), 3, "{text}");
        assert!(values.iter().all(|v| v.0 == "fillseq"), "{text}: {values:?}");
        assert_eq!((values[1].1, values[1].2), ("op/sec", 185090.0), "{text}");
    }
    let joined = read(
        "results: a : 1.0 micros/op 5 ops/sec; 2.0 MB/s (1 of 2 found) b : 3.0 micros/op 7 ops/sec; c : 4.0 micros/op;",
    );
    let names: Vec<_> = joined.kept.iter().map(|k| (k.name.as_str(), k.value().unwrap())).collect();
    assert_eq!(names, [("a", 1e-6), ("a", 5.0), ("a", 2.0 * MIB), ("b", 3e-6), ("b", 7.0), ("c", 4e-6)]);
}

#[test]
fn units_and_directions() {
    let got = load("real", "07-histogram-t1.log");
    for u in &got.units {
        let lower = u.name.ends_with("sec/op");
        assert_eq!(u.better, Some(if lower { Direction::Lower } else { Direction::Higher }), "{u:?}");
    }
    let names: Vec<_> = got.units.iter().map(|u| &*u.name).collect();
    assert_eq!(
        names,
        [
            "sec/op",
            "op/sec",
            "B/sec",
            "p50-sec/op",
            "p75-sec/op",
            "p99-sec/op",
            "p99.9-sec/op",
            "p99.99-sec/op",
            "pmax-sec/op"
        ]
    );
}

#[test]
fn lines_of_others_are_not_claimed() {
    let lines = "goos: linux\nBenchmarkGet-8   100   12 ns/op\nname  old time/op  new time/op  delta\nDate: today\n# note\n(see 5 %)\n";
    assert!(read(lines).claims.iter().all(|c| *c == Claim::No));
}

proptest! {
    #[test]
    fn any_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..2000)) {
        read(&bytes);
    }

    #[test]
    fn pieces_of_db_bench_never_panic(
        parts in proptest::collection::vec(
            prop_oneof![
                Just("readrandom   :".to_owned()), Just(" micros/op ".to_owned()), Just("ops/sec".to_owned()), Just(";".to_owned()),
                Just("MB/s".to_owned()), Just("\n".to_owned()), Just("\r".to_owned()), Just(" [AVG ".to_owned()), Just(" runs] : ".to_owned()),
                Just("(± ".to_owned()), Just(")".to_owned()), Just("Running benchmark for ".to_owned()), Just(" times\n".to_owned()),
                Just("Microseconds per read:\nCount: ".to_owned()), Just("\nMin: 1 Median: 2 Max: 3\nPercentiles: P50: ".to_owned()),
                Just("Keys: 5 bytes each\n".to_owned()), Just("secs_elapsed,interval_qps\n".to_owned()), Just("DB path: [x]\n".to_owned()),
                Just("2026/11/30-19:32:11  ... thread 0: (1,1) ops and (".to_owned()), Just("&nbsp;".to_owned()),
                "[0-9.]{1,6}", " {1,3}", "\\PC{0,4}",
            ],
            0..60,
        ),
    ) {
        read(parts.concat());
    }
}
