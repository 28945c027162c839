//! Inputs that end early or cannot be read, outputs that cannot be written: what was good stays, nothing is believed in silence.
#![cfg(unix)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use abstat::base::Severity;
use abstat::input::{BLOCK, Source, SourceKind};
use abstat::parse::mixed::Mixed;
use abstat::pivot::Filter;
use abstat::read::{Request, read};
use abstat::render::samples;
use assert_cmd::cargo::CommandCargoExt as _;

const OLD: &str = "testdata/go/example/old.txt";

struct Outcome {
    code: Option<i32>,
    stdout: Vec<u8>,
    stderr: String,
}

fn command(args: &[&str]) -> Command {
    let mut command = Command::cargo_bin("abstat").unwrap();
    command.args(args).current_dir(env!("CARGO_MANIFEST_DIR")).stdin(Stdio::null());
    for name in ["NO_COLOR", "CLICOLOR_FORCE", "COLUMNS"] {
        command.env_remove(name);
    }
    command
}

fn outcome(command: &mut Command) -> Outcome {
    let out = command.output().unwrap();
    let stderr = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(!stderr.contains("panicked"), "{stderr}");
    Outcome { code: out.status.code(), stdout: out.stdout, stderr }
}

fn abstat(args: &[&str]) -> Outcome {
    outcome(&mut command(args))
}

#[test]
fn packed_inputs_say_what_the_plain_one_says() {
    let table = |path: &str| {
        let got = abstat(&[&format!("x={path}"), "-f", "csv"]);
        assert_eq!(got.code, Some(0), "{path}: {}", got.stderr);
        got.stdout
    };
    let plain = table(OLD);
    let mut packed = 0;
    for entry in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/input")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|e| e == "gz" || e == "zst") {
            packed += 1;
            assert!(table(path.to_str().unwrap()) == plain, "{}", path.display());
        }
    }
    assert_eq!(packed, 4);
}

#[test]
fn packed_inputs_that_are_cut_are_exit_2_and_name_the_file() {
    let dir = tempfile::tempdir().unwrap();
    for (from, name) in [("two-frames.txt.zst", "zstd"), ("pzstd.txt.zst", "zstd"), ("two-members.txt.gz", "gzip")] {
        let whole = fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/input").join(from)).unwrap();
        let path = dir.path().join(from);
        fs::write(&path, &whole[..whole.len() - 10]).unwrap();
        for args in [&[OLD, path.to_str().unwrap()][..], &["convert", path.to_str().unwrap()]] {
            let got = abstat(args);
            assert_eq!((got.code, &*got.stdout), (Some(2), &b""[..]), "{args:?}");
            let want = format!("error: {}: the {name} data ends too early\n", path.display());
            assert!(got.stderr.contains(&want), "{}", got.stderr);
        }
    }
}

/// Values with units of an input, and what was said about it.
fn values(bytes: &[u8]) -> (BTreeSet<String>, Vec<String>) {
    let sources = [Source { label: None, kind: SourceKind::Bytes("x", Arc::from(bytes)) }];
    let filter = Filter::all();
    let parsers = || Mixed::new(None).unwrap();
    let request =
        Request { sources: &sources, labels: &["x".into()], parsers: &parsers, filter: &filter, block: BLOCK };
    let (set, error) = match read(&request) {
        Ok(set) => (set, None),
        Err((error, set)) => (*set, Some(error.to_string())),
    };
    let mut values = BTreeSet::new();
    let mut text = Vec::new();
    samples::jsonl(&set, &mut text).unwrap();
    for line in std::str::from_utf8(&text).unwrap().lines() {
        let doc: serde_json::Value = serde_json::from_str(line).unwrap();
        // What a log says of its own samples stands where its table has no row for them.
        if doc["summary"]["reported"] != true {
            values.insert(format!("{} {}", doc["value"], doc["unit"]));
        }
    }
    let warnings = set.diagnostics.into_iter().filter(|d| d.severity == Severity::Warning);
    (values, warnings.map(|d| d.message).chain(error).collect())
}

fn files(dir: &Path, out: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, out);
        } else {
            out.push(path);
        }
    }
}

#[test]
fn an_input_cut_within_a_line_gives_its_values_or_a_warning() {
    let mut inputs = Vec::new();
    for part in ["go/inputs", "go/example", "jmh/real", "jmh/reports", "db_bench", "benchstat"] {
        files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata").join(part), &mut inputs);
    }
    inputs.sort();
    let mut tried = BTreeMap::new();
    let mut wrong = Vec::new();
    for path in inputs {
        let bytes = fs::read(&path).unwrap();
        let kind = (path.parent().unwrap().to_owned(), path.extension().map(ToOwned::to_owned));
        if bytes.len() > 6000 || tried.get(&kind).is_some_and(|&n| n >= 3) {
            continue;
        }
        let (whole, said) = values(&bytes);
        if whole.is_empty() {
            continue;
        }
        *tried.entry(kind).or_insert(0) += 1;
        for n in bytes.len().saturating_sub(120).max(1)..bytes.len() {
            let (cut, warnings) = values(&bytes[..n]);
            let warned = warnings.len() > said.len() || warnings.iter().any(|w| !said.contains(w));
            let invented = cut.difference(&whole).next();
            if let (false, Some(value)) = (warned, invented) {
                let end = bytes[..n].rsplit(|&b| b == b'\n').next().unwrap();
                wrong.push(format!("{}: {}: {value}", path.display(), String::from_utf8_lossy(end)));
                break;
            }
        }
    }
    assert!(tried.values().sum::<usize>() > 20, "{tried:?}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
