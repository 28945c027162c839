//! Same input, same bytes out: whatever the number of threads, the size of blocks, and however often.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use abstat::compare::{Plan, compare};
use abstat::input::{BLOCK, Source, SourceKind};
use abstat::parse::FORMATS as FORMATS_READ;
use abstat::parse::mixed::Mixed;
use abstat::pivot::{Filter, Layout, jmh, layout};
use abstat::read::{Request, read};
use abstat::render::Render;
use abstat::render::chart::Svg;
use abstat::render::csv::Csv;
use abstat::render::html::Html;
use abstat::render::json::Json;
use abstat::render::markdown::Markdown;
use abstat::render::text::Text;
use assert_cmd::cargo::CommandCargoExt as _;

/// Inputs of each format: a run, or several that are compared.
const INPUTS: &[&[&str]] = &[
    &["testdata/go/example/old.txt", "testdata/go/example/new.txt"],
    &["testdata/jmh/example/base.json", "testdata/jmh/example/same.json"],
    &["testdata/jmh/example/write-up.md"],
    &["testdata/jmh/real/01-thrpt-params.log", "testdata/jmh/real/01-thrpt-params.csv"],
    &["testdata/db_bench/real/04-repeat-x5-w2.log", "testdata/db_bench/real/06-repeat-ci95.log"],
    &["testdata/db_bench/example/versions.tsv"],
    &["testdata/db_bench/real/11-duration-report.csv"],
    &["testdata/benchstat/example/pasted.txt"],
    &["testdata/benchstat/inputs/m0.txt", "testdata/benchstat/inputs/m1.txt", "testdata/benchstat/inputs/m2.txt"],
    &["fuzz/corpus/relative/names-last"],
    &["fuzz/corpus/abstat_jsonl/go-inputs-exactconf.txt.jsonl"],
    &["fuzz/corpus/go_test_json/go-inputs-gotest-json-119.txt"],
    &["testdata/go/example/old.txt", "testdata/jmh/example/base.json", "testdata/db_bench/real/01-fill-core.log"],
];

const FORMATS: [&str; 6] = ["text", "json", "csv", "markdown", "html", "svg"];

fn run(inputs: &[&str], args: &[&str], threads: &str) -> (Option<i32>, Vec<u8>, Vec<u8>) {
    let out = Command::cargo_bin("abstat")
        .unwrap()
        .args(inputs)
        .args(args)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env("RAYON_NUM_THREADS", threads)
        .env_remove("COLUMNS")
        .env_remove("CLICOLOR_FORCE")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    (out.status.code(), out.stdout, out.stderr)
}

#[test]
fn threads_and_repetition_change_no_byte() {
    for inputs in INPUTS {
        for format in FORMATS {
            let args = ["--all", "-v", "-f", format];
            let want = run(inputs, &args, "1");
            assert_eq!(want.0, Some(0), "{inputs:?}: {}", String::from_utf8_lossy(&want.2));
            assert!(!want.1.is_empty());
            for threads in ["1", "2", "5"] {
                assert!(run(inputs, &args, threads) == want, "{inputs:?} as {format} with {threads} threads");
            }
        }
    }
}

#[test]
fn resampling_and_many_rows_are_the_same_with_any_number_of_threads() {
    let go = INPUTS[0];
    for args in [&["--bootstrap", "-f", "json"][..], &["--fail-on", "any", "--sort", "change", "-f", "json"]] {
        let want = run(go, args, "1");
        for threads in ["2", "5"] {
            assert!(run(go, args, threads) == want, "{args:?} with {threads} threads");
        }
    }
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).to_string_lossy().into_owned();
    for (name, shift) in [("old.txt", 0), ("new.txt", 3)] {
        let line =
            |i: u64| format!("BenchmarkRow{} 1 {} ns/op {} B/op\n", i % 3000, 100 + shift + i * 7919 % 13, i % 5);
        fs::write(path(name), (0..18_000).map(line).collect::<String>()).unwrap();
    }
    let (old, new) = (path("old.txt"), path("new.txt"));
    let want = run(&[&old, &new], &["-f", "json"], "1");
    assert_eq!(want.0, Some(0));
    for threads in ["2", "5"] {
        assert!(run(&[&old, &new], &["-f", "json"], threads) == want, "{threads} threads");
    }
}

/// All outputs of `inputs` read in blocks of `block`.
fn outputs(inputs: &[&str], block: usize) -> Vec<Vec<u8>> {
    let sources: Vec<Source> = inputs
        .iter()
        .map(|path| {
            let bytes = fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap();
            Source { label: None, kind: SourceKind::Bytes("input", Arc::from(bytes)) }
        })
        .collect();
    let labels: Vec<String> = (0..sources.len()).map(|n| format!("in{n}")).collect();
    let filter = Filter::all();
    let parsers = || Mixed::new(None).unwrap();
    let request = Request { sources: &sources, labels: &labels, parsers: &parsers, filter: &filter, block };
    let mut set = read(&request).map_err(|(error, _)| error).unwrap();
    let mut said = std::mem::take(&mut set.diagnostics);
    said.extend(jmh::unify_names(&mut set));
    let grid = layout(&mut set, &Layout::default());
    let plan = Plan { keep_samples: true, warnings: true, ..Plan::default() };
    let report = compare(grid, set.inputs, said, &plan).unwrap();
    let renderers: [&dyn Render; 6] =
        [&Text::default(), &Json, &Csv, &Markdown::default(), &Html::default(), &Svg::default()];
    renderers
        .map(|r| {
            let mut out = Vec::new();
            r.render(&report, &mut out).unwrap();
            out
        })
        .into()
}

#[test]
fn the_size_of_blocks_changes_no_byte() {
    for inputs in INPUTS {
        let want = outputs(inputs, BLOCK);
        for block in [1, 7, 64, 4093, 1 << 16] {
            assert!(outputs(inputs, block) == want, "{inputs:?} in blocks of {block}");
        }
    }
}

#[test]
fn every_format_is_among_the_inputs() {
    let mut found = BTreeSet::new();
    for inputs in INPUTS {
        let (_, json, _) = run(inputs, &["-f", "json"], "1");
        let doc: serde_json::Value = serde_json::from_slice(&json).unwrap();
        found.extend(doc["inputs"].as_array().unwrap().iter().map(|i| i["format"].as_str().unwrap_or("").to_owned()));
    }
    for format in FORMATS_READ {
        assert!(found.contains(format.name), "{} is not among {found:?}", format.name);
    }
}
