//! The whole command: exit codes, streams and messages.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use assert_cmd::cargo::CommandCargoExt as _;

struct Outcome {
    code: i32,
    stdout: String,
    stderr: String,
}

fn abstat(args: &[&str], stdin: &[u8]) -> Outcome {
    abstat_in(Path::new(env!("CARGO_MANIFEST_DIR")), args, stdin)
}

fn abstat_in(dir: &Path, args: &[&str], stdin: &[u8]) -> Outcome {
    // The program may end before it has read everything.
    let out = assert_cmd::Command::cargo_bin("abstat")
        .unwrap()
        .args(args)
        .current_dir(dir)
        .env_remove("NO_COLOR")
        .env_remove("CLICOLOR_FORCE")
        .env_remove("COLUMNS")
        .write_stdin(stdin)
        .output()
        .unwrap();
    Outcome {
        code: out.status.code().unwrap_or(-1),
        stdout: String::from_utf8_lossy(&out.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&out.stderr).into_owned(),
    }
}

fn samples(name: &str, values: &[f64]) -> String {
    values.iter().map(|v| format!("Benchmark{name} 1 {v} ns/op\n")).collect()
}

fn write(dir: &Path, name: &str, text: &str) -> PathBuf {
    let path = dir.join(name);
    fs::write(&path, text).unwrap();
    path
}

const OLD: &[f64] = &[100.0, 101.0, 99.0, 102.0, 98.0, 100.5, 99.5, 101.5, 98.5, 100.2];
const NEW: &[f64] = &[120.0, 121.0, 119.0, 122.0, 118.0, 120.5, 119.5, 121.5, 118.5, 120.2];

#[test]
fn what_cannot_be_read_is_exit_2_with_a_message_and_nothing_on_stdout() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "empty.txt", "");
    write(dir.path(), "prose.txt", "nothing to see here\nmove along\n");
    write(dir.path(), "ok.txt", &samples("A", OLD));
    for (args, said) in [
        (&["ok.txt", "missing.txt"][..], "missing.txt"),
        (&["."], "is a directory"),
        (&["empty.txt"], "empty.txt: no data"),
        (&["ok.txt", "prose.txt"], "prose.txt: no benchmark results found"),
        (&["ok.txt", "-"], "stdin: no data"),
        (&["--from", "gо", "ok.txt"], "--from"),
        (&["--filter", "a:", "ok.txt"], "--filter"),
        (&["--row", "a@zork", "ok.txt"], "unknown order"),
        (&["--alpha", "2", "ok.txt"], "--alpha"),
        (&["--base", "nobody", "a=ok.txt", "b=ok.txt"], "--base"),
        (&["--only", "quicker", "ok.txt"], "--only"),
        (&["-o", "report.zip", "ok.txt"], "--output"),
        (&["-o", "json:no/such/dir/x", "ok.txt"], "cannot write"),
        (&["-", "-"], "only once"),
        (&["--fail-on", "slowr>5%", "ok.txt"], "--fail-on"),
        (&["--nope", "ok.txt"], "--nope"),
    ] {
        let got = abstat_in(dir.path(), args, b"");
        assert_eq!((got.code, got.stdout.as_str()), (2, ""), "{args:?}: {}", got.stderr);
        assert!(got.stderr.contains(said), "{args:?}: {}", got.stderr);
        assert!(!got.stderr.contains("panicked"), "{args:?}: {}", got.stderr);
    }
}

#[test]
fn inputs_without_a_common_name_are_exit_3_and_name_the_nearest_pair() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "old.txt", &samples("Get-8", OLD));
    write(dir.path(), "new.txt", &samples("Get-16", NEW));
    let got = abstat_in(dir.path(), &["old.txt", "new.txt"], b"");
    assert_eq!((got.code, got.stdout.as_str()), (3, ""));
    assert!(got.stderr.contains("share no benchmark names"), "{}", got.stderr);
    assert!(got.stderr.contains("hint: nearest pair: \"Get-8\" / \"Get-16\""), "{}", got.stderr);
    let filtered = abstat_in(dir.path(), &["old.txt", "--filter", ".name:Nobody"], b"");
    assert_eq!((filtered.code, filtered.stdout.as_str()), (3, ""));
}

#[test]
fn gates_trip_with_exit_1_and_only_then() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "old.txt", &samples("A", OLD));
    write(dir.path(), "new.txt", &samples("A", NEW));
    for (args, code) in [
        (&["old.txt", "new.txt"][..], 0),
        (&["old.txt", "new.txt", "--fail-on", "slower>5%"], 1),
        (&["old.txt", "new.txt", "--fail-on", "slower>50%"], 0),
        (&["new.txt", "old.txt", "--fail-on", "slower"], 0),
        (&["new.txt", "old.txt", "--fail-on", "faster>5%"], 1),
        (&["old.txt", "new.txt", "--fail-on", "slower>5%", "--fail-except", ".name:A"], 3),
    ] {
        let got = abstat_in(dir.path(), args, b"");
        assert_eq!(got.code, code, "{args:?}: {}", got.stderr);
        assert_eq!(args.contains(&"--fail-on"), got.stderr.contains("gate"), "{args:?}: {}", got.stderr);
    }
}

#[test]
fn a_path_that_exists_wins_over_a_label() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "run=1.txt", &samples("A", OLD));
    let got = abstat_in(dir.path(), &["run=1.txt", "-f", "json"], b"");
    let doc: serde_json::Value = serde_json::from_str(&got.stdout).unwrap();
    assert_eq!(doc["inputs"][0]["path"], "run=1.txt");
    let labelled = abstat_in(dir.path(), &["base=run=1.txt", "head=-", "-f", "json"], samples("A", NEW).as_bytes());
    let doc: serde_json::Value = serde_json::from_str(&labelled.stdout).unwrap();
    assert_eq!((&doc["inputs"][0]["label"], &doc["inputs"][1]["label"]), (&"base".into(), &"head".into()));
}

#[test]
fn swapping_the_sides_mirrors_every_number() {
    let dir = tempfile::tempdir().unwrap();
    let tied = [100.0, 100.0, 101.0, 99.0, 100.0, 120.0];
    write(dir.path(), "old.txt", &(samples("A", OLD) + &samples("B", &tied)));
    write(dir.path(), "new.txt", &(samples("A", NEW) + &samples("B", &OLD[..4])));
    let rows = |args: &[&str]| {
        let got = abstat_in(dir.path(), args, b"");
        let doc: serde_json::Value = serde_json::from_str(&got.stdout).unwrap();
        doc["tables"][0]["rows"].as_array().unwrap().clone()
    };
    let there = rows(&["old.txt", "new.txt", "-f", "json"]);
    let back = rows(&["new.txt", "old.txt", "-f", "json"]);
    assert_eq!(there.len(), 2);
    for (a, b) in there.iter().zip(&back) {
        let (x, y) = (&a["comparisons"][1], &b["comparisons"][1]);
        assert_eq!(x["p"], y["p"]);
        let close = |u: &serde_json::Value, v: &serde_json::Value| {
            (u.as_f64().unwrap() * v.as_f64().unwrap() - 1.0).abs() < 1e-12
        };
        assert!(close(&x["ratio"], &y["ratio"]) && close(&x["lo"], &y["hi"]) && close(&x["hi"], &y["lo"]), "{x} {y}");
        assert_eq!(a["cells"][0], b["cells"][1]);
    }
}

#[test]
fn scaling_all_values_changes_no_p() {
    let dir = tempfile::tempdir().unwrap();
    let p = |factor: f64| {
        let scaled = |v: &[f64]| samples("A", &v.iter().map(|x| x * factor).collect::<Vec<_>>());
        write(dir.path(), "old.txt", &scaled(OLD));
        write(dir.path(), "new.txt", &scaled(&[99.0, 103.0, 100.1, 104.0, 105.0]));
        let got = abstat_in(dir.path(), &["old.txt", "new.txt", "-f", "json"], b"");
        let doc: serde_json::Value = serde_json::from_str(&got.stdout).unwrap();
        doc["tables"][0]["rows"][0]["comparisons"][1]["p"].as_f64().unwrap()
    };
    let one = p(1.0);
    assert!(one > 0.0 && one < 1.0);
    assert_eq!((p(1024.0), p(2f64.powi(-20))), (one, one));
}

#[test]
fn colour_follows_the_flag_then_the_environment() {
    let run = |args: &[&str], set: &[(&str, &str)]| {
        let mut command = Command::cargo_bin("abstat").unwrap();
        command
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .args(["testdata/go/example/old.txt", "testdata/go/example/new.txt"]);
        command.args(args).env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE");
        let out = command.envs(set.iter().copied()).output().unwrap();
        out.stdout.contains(&0x1b)
    };
    assert!(!run(&[], &[]));
    assert!(run(&["--color", "always"], &[("NO_COLOR", "1")]));
    assert!(run(&[], &[("CLICOLOR_FORCE", "1")]));
    assert!(!run(&[], &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]));
    assert!(!run(&["--color", "never"], &[("CLICOLOR_FORCE", "1")]));
}

#[test]
fn text_fits_the_width_and_ascii_stays_below_128() {
    for width in ["70", "80", "120", "200"] {
        let got = abstat(&["--width", width, "testdata/go/example/old.txt", "testdata/go/example/new.txt"], b"");
        let limit: usize = width.parse().unwrap();
        // Footnotes and the summary are sentences; tables fit.
        let rows =
            got.stdout.lines().filter(|l| l.starts_with("Get/") || l.starts_with("Put/") || l.starts_with("geomean"));
        for line in rows {
            assert!(line.chars().count() <= limit, "{width}: {line}");
        }
    }
    let ascii = abstat(&["--ascii", "testdata/go/example/old.txt", "testdata/go/example/new.txt"], b"");
    assert!(ascii.stdout.is_ascii(), "{}", ascii.stdout);
    assert!(ascii.stdout.contains("+- "));
}

#[test]
fn outputs_beside_stdout_are_whole_files_in_the_format_of_their_name() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "old.txt", &samples("A", OLD));
    write(dir.path(), "new.txt", &samples("A", NEW));
    let got = abstat_in(
        dir.path(),
        &["old.txt", "new.txt", "-o", "r.json", "-o", "md:pr", "-o", "r.html", "-o", "r.csv", "-o", "r.svg"],
        b"",
    );
    assert_eq!(got.code, 0, "{}", got.stderr);
    let text = |name: &str| fs::read_to_string(dir.path().join(name)).unwrap();
    assert!(serde_json::from_str::<serde_json::Value>(&text("r.json")).is_ok());
    assert!(text("pr").contains("| :-- | --: | --: | --: |"));
    assert!(text("r.html").starts_with("<!DOCTYPE html>"));
    assert!(text("r.csv").starts_with("table,name,"));
    assert!(text("r.svg").contains("<svg"));
    let left: Vec<_> = fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left.len(), 7, "{left:?}");
}

#[test]
fn warnings_give_the_place_and_the_line_and_strict_makes_them_fatal() {
    let input = samples("A", OLD) + "BenchmarkB-8   1000   1.2.3 ns/op\n";
    let got = abstat(&["-"], input.as_bytes());
    assert_eq!(got.code, 0);
    assert!(
        got.stderr.contains("warning: stdin:11:23: expected a number before \"ns/op\", found \"1.2.3\""),
        "{}",
        got.stderr
    );
    assert!(got.stderr.contains("11 | BenchmarkB-8   1000   1.2.3 ns/op"), "{}", got.stderr);
    let strict = abstat(&["--strict", "-"], input.as_bytes());
    assert_eq!((strict.code, strict.stdout.as_str()), (2, ""));
}

#[test]
fn a_link_named_benchstat_is_benchstat() {
    let dir = tempfile::tempdir().unwrap();
    let program = Command::cargo_bin("abstat").unwrap().get_program().to_owned();
    let link = dir.path().join("benchstat");
    std::os::unix::fs::symlink(program, &link).unwrap();
    write(dir.path(), "old.txt", &samples("A", OLD));
    let out = Command::new(&link).arg("old.txt").current_dir(dir.path()).output().unwrap();
    let same = abstat_in(dir.path(), &["benchstat", "old.txt"], b"");
    assert_eq!(String::from_utf8_lossy(&out.stdout), same.stdout);
    assert!(same.stdout.contains("old.txt") && same.stdout.contains("sec/op"), "{}", same.stdout);
}

#[test]
fn help_names_every_exit_code_and_has_examples() {
    let help = abstat(&["--help"], b"");
    assert_eq!(help.code, 0);
    for word in ["Examples:", "Exit codes:", "--fail-on", "abstat old.txt new.txt"] {
        assert!(help.stdout.contains(word), "{word}");
    }
    assert!(abstat(&["--version"], b"").stdout.starts_with("abstat "));
    let short = abstat(&["-h"], b"");
    assert!(short.stdout.lines().count() < help.stdout.lines().count());
}

#[test]
fn what_convert_writes_is_read_back_to_the_same_table() {
    for (format, inputs) in [
        ("jsonl", ["testdata/go/example/old.txt", "testdata/go/example/new.txt"]),
        ("go", ["testdata/go/example/old.txt", "testdata/go/example/new.txt"]),
        ("jsonl", ["testdata/jmh/example/base.json", "testdata/jmh/example/same.json"]),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let mut paths = Vec::new();
        for (side, input) in ["a", "b"].iter().zip(inputs) {
            let converted = abstat(&["convert", "-f", format, input], b"");
            assert_eq!(converted.code, 0, "{}", converted.stderr);
            paths.push(write(dir.path(), side, &converted.stdout).display().to_string());
        }
        let tables = |a: &str, b: &str| {
            // JSON lines keep the label of the input; Go text has none to keep.
            let (old, new) = (format!("old={a}"), format!("new={b}"));
            let inputs = if format == "go" { [old.as_str(), &new] } else { [a, b] };
            let got = abstat(&[inputs[0], inputs[1], "-f", "json"], b"");
            let doc: serde_json::Value = serde_json::from_str(&got.stdout).unwrap();
            doc["tables"].clone()
        };
        assert!(tables(&paths[0], &paths[1]) == tables(inputs[0], inputs[1]), "{format}");
    }
}
