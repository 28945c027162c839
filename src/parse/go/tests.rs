use super::*;
use crate::parse::testing::{Recorded, read};
use proptest::prelude::*;

fn lenient(input: &[u8]) -> Recorded {
    read(Box::new(Go::new(Mode::Lenient)), input)
}

/// `(name, unit, value)` of all samples.
fn samples(input: &str) -> Vec<(String, String, f64)> {
    lenient(input.as_bytes())
        .kept
        .iter()
        .map(|k| (k.name.clone(), k.unit.name.to_string(), k.value().unwrap()))
        .collect()
}

fn names(input: &str) -> Vec<String> {
    samples(input).into_iter().map(|s| s.0).collect()
}

fn codes(input: &str) -> Vec<(&'static str, u64, u32)> {
    lenient(input.as_bytes()).diagnostics.iter().map(|d| (d.code, d.pos.unwrap().line, d.pos.unwrap().column)).collect()
}

#[test]
fn a_result_line_gives_one_sample_per_pair() {
    let got = samples("BenchmarkGet/size=1KiB-8   \t 100\t 250 ns/op\t 4.00 MB/s\t 12 B/op\n");
    let want = [("sec/op", 250.0 * 1e-9), ("B/sec", 4e6), ("B/op", 12.0)];
    assert_eq!(got.len(), 3);
    for ((name, unit, value), (u, v)) in got.iter().zip(want) {
        assert_eq!((name.as_str(), unit.as_str(), *value), ("Get/size=1KiB-8", u, v));
    }
}

#[test]
fn number_syntax_is_go_s_and_values_are_finite() {
    let ok: &[(&str, f64)] = &[
        ("+5", 5.0),
        ("-5", -5.0),
        ("5.", 5.0),
        (".5", 0.5),
        ("5e3", 5000.0),
        ("0x1p4", 16.0),
        ("0x1.8p1", 3.0),
        ("-0x.8p0", -0.5),
        ("1_000", 1000.0),
        ("99999999999999999999", 1e20),
        ("1e-400", 0.0),
    ];
    for (text, want) in ok {
        assert_eq!(go_float(text.as_bytes()), Ok(*want), "{text}");
    }
    for text in
        ["", "1,000", "1e", "e5", "0x10", "_1", "1_", "1__0", "1.2.3", "ten", "infinit", "0xp1", "+", "--1", "1e5_"]
    {
        assert_eq!(go_float(text.as_bytes()), Err("number"), "{text}");
    }
    for text in ["Inf", "-inf", "Infinity", "NaN", "1e400", "0x1p5000"] {
        assert_eq!(go_float(text.as_bytes()), Err("finite number"), "{text}");
    }
    for (text, ok) in
        [("+7", true), ("-1", true), ("0", true), ("1.5", false), ("1e3", false), ("0x10", false), ("1_0", false)]
    {
        assert_eq!(iteration_count(text.as_bytes()).is_ok(), ok, "{text}");
    }
    assert_eq!(iteration_count(b"99999999999999999999"), Err(" (out of range)"));
}

#[test]
fn malformed_results_are_said_with_their_place_and_the_rest_is_read() {
    let input = "BenchmarkOk 1 10 ns/op\n\
                 BenchmarkNoMeas 100\n\
                 BenchmarkNoUnit 100 10\n\
                 BenchmarkNoUnit2 100 10 ns/op 11\n\
                 BenchmarkBadVal 100 1.2.3 ns/op\n\
                 BenchmarkBadIters 1.5 10 ns/op\n\
                 BenchmarkInf 1 Inf ns/op\n\
                 BenchmarkOk 1 12 ns/op\n";
    assert_eq!(
        codes(input),
        [
            ("missing-measurements", 2, 20),
            ("missing-unit", 3, 21),
            ("missing-unit", 4, 31),
            ("bad-value", 5, 21),
            ("bad-iterations", 6, 19),
            ("bad-value", 7, 16),
        ]
    );
    assert_eq!(names(input), ["Ok", "Ok"]);
    let said = &lenient(input.as_bytes()).diagnostics[3].message;
    assert_eq!(said, "expected a number before \"ns/op\", found \"1.2.3\"");
}

#[test]
fn names_are_whatever_follows_the_prefix() {
    let input = "Benchmark 1 1 ns/op\nBenchmarklower 1 1 ns/op\nBenchmark/sub=1 1 1 ns/op\nbenchmarkNo 1 1 ns/op\n BenchmarkNo 1 1 ns/op\n";
    assert_eq!(names(input), ["", "lower", "/sub=1"]);
    assert_eq!(codes(input), [("indented-result", 5, 1)]);
}

#[test]
fn output_of_the_program_between_name_and_numbers_costs_no_sample() {
    let input = "BenchmarkPrint-2 \thello from bench\nhello from bench\n     100\t   550.6 ns/op\n\
                 BenchmarkTail-2 \txx     100\t 240.2 ns/op\n\
                 xBenchmarkFront \tx     100\t 241 ns/op\n\
                 BenchmarkLog \twarn: cold cache\n2026/11/30 19:34:20 n=1\nwarn: cold cache\n     100\t 294.5 ns/op\n";
    assert_eq!(names(input), ["Print-2", "Tail-2", "Front", "Log"]);
    assert_eq!(codes(input), []);
}

#[test]
fn a_panic_leaves_the_name_without_numbers_and_says_so() {
    let input = "BenchmarkA-2 1 1 ns/op\nBenchmarkInit/provider-2 \tpanic: test timed out\n\ngoroutine 12 [running]:\n\t/usr/x.go:2 +0x8e\nexit status 2\nFAIL\texample.org/demo\t1800.1s\nFAIL\n";
    assert_eq!(names(input), ["A-2"]);
    let said = lenient(input.as_bytes()).diagnostics;
    assert_eq!(said.len(), 2);
    assert!(said[0].message.contains("BenchmarkInit/provider-2"));
    assert_eq!(said[1].message, "the run reports FAIL example.org/demo 1800.1s");
}

#[test]
fn verbose_output_is_quiet() {
    let input = "goos: linux\n=== RUN   BenchmarkA\nBenchmarkA\nBenchmarkA-2 1 1 ns/op\n    a_test.go:8: BenchmarkA note\n--- BENCH: BenchmarkA\nPASS\nok  \tx\t1.2s\n";
    assert_eq!(names(input), ["A-2"]);
    assert_eq!(codes(input), []);
}

fn settings(input: &str) -> Vec<String> {
    let last = lenient(input.as_bytes()).kept.pop().unwrap();
    last.settings.iter().map(|(k, v)| format!("{k}={v}")).collect()
}

#[test]
fn settings_hold_for_later_lines() {
    let head = "goos: linux\nkey3:noSpace\nKey: upper\ntwo words: v\nk:ey9: colon first\nünï: x y \nkey5:\ttabbed\ngone: x\ngone:\n";
    assert_eq!(settings(&format!("{head}BenchmarkA 1 1 ns/op\n")), ["goos=linux", "ünï=x y ", "key5=tabbed"]);
}

#[test]
fn log_lines_after_results_are_no_settings() {
    let input = "goos: linux\npkg: a\nBenchmarkA 1 1 ns/op\nwarn: cold cache\npkg: b\nBenchmarkA 1 1 ns/op\npanic: no\nBenchmarkA 1 1 ns/op\n";
    // `warn` stands in a block with `pkg`, so it counts; `panic` stands alone.
    assert_eq!(settings(input), ["goos=linux", "pkg=b", "warn=cold cache"]);
    let log = "pkg: a\nBenchmarkA 1 1 ns/op\nwarn: cold\nBenchmarkA 1 1 ns/op\n";
    assert_eq!(settings(log), ["pkg=a"]);
    let drop_in = read(Box::new(Go::new(Mode::DropIn)), log.as_bytes());
    assert_eq!(drop_in.kept[1].settings, [("pkg".into(), "a".into()), ("warn".into(), "cold".into())]);
}

#[test]
fn unit_lines_are_metadata_of_the_tidied_unit() {
    let got = lenient(b"Unit ns/op better=lower\nUnit sec/op better=higher\nUnit\nUnit B/op better\nUnit MB/s better=higher\nUnitx 1\n");
    let metadata: Vec<_> = got.metadata.iter().map(|(u, k, v)| (u.as_str(), k.as_str(), v.as_str())).collect();
    assert_eq!(metadata, [("sec/op", "better", "lower"), ("B/sec", "better", "higher")]);
    assert_eq!(got.diagnostics.len(), 3);
}

#[test]
fn fork_comments_are_blocks() {
    let got = lenient(b"# fork 1 of 2\nBenchmarkA 1 1 ns/op\n# fork 2 of 2\nBenchmarkA 1 1 ns/op\n# fork x of 2\n");
    assert_eq!(got.kept.iter().map(|k| k.block).collect::<Vec<_>>(), [Some(1), Some(2)]);
}

proptest! {
    #[test]
    fn any_bytes_never_panic(input in proptest::collection::vec(any::<u8>(), 0..400)) {
        lenient(&input);
    }

    #[test]
    fn shuffled_pieces_never_panic_and_values_are_finite(
        pieces in proptest::collection::vec(prop_oneof![
            Just("Benchmark"), Just("BenchmarkA"), Just(" "), Just("\t"), Just("\n"), Just("100"), Just("1e400"), Just("ns/op"),
            Just("NaN"), Just("Unit "), Just("a=b"), Just("goos: x"), Just("PASS"), Just("FAIL\t"), Just("\u{a0}"), Just("é"), Just("0x1p4"),
            Just("99999999999999999999"), Just("# fork 1 of 2")
        ], 0..60)
    ) {
        for kept in lenient(pieces.concat().as_bytes()).kept {
            prop_assert!(kept.value().unwrap().is_finite());
        }
    }
}
