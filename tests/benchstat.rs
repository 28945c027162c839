//! `abstat benchstat` against what benchstat printed, byte for byte.

use std::collections::HashMap;
use std::path::Path;
use std::process::{Command, Output};

const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/go");

fn table(name: &str) -> Vec<HashMap<String, String>> {
    let text = std::fs::read_to_string(Path::new(DATA).join(name)).unwrap();
    let mut lines = text.lines();
    let head: Vec<&str> = lines.next().unwrap().split('\t').collect();
    let row = |line: &str| head.iter().zip(line.split('\t')).map(|(k, v)| ((*k).to_owned(), v.to_owned())).collect();
    lines.map(row).collect()
}

/// Words of a command line; quotes group, nothing else is special.
fn words(line: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for c in line.chars() {
        match (c, quote) {
            (c, Some(q)) if c == q => quote = None,
            ('\'' | '"', None) => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (' ', None) => out.extend(word.take()),
            (c, _) => word.get_or_insert_default().push(c),
        }
    }
    out.extend(word);
    out
}

fn run(case: &HashMap<String, String>) -> Output {
    Command::new(env!("CARGO_BIN_EXE_abstat"))
        .arg("benchstat")
        .args(words(&case["args"]))
        .current_dir(Path::new(DATA).join(&case["cwd"]))
        .output()
        .unwrap()
}

/// Numbers of geomean records may differ in their last digits: exp and log are the C library's there, and Go's in benchstat.
fn near(got: &str, want: &str) -> bool {
    got == want
        || matches!((got.parse::<f64>(), want.parse::<f64>()), (Ok(a), Ok(b)) if (a - b).abs() <= 1e-13 * b.abs())
}

fn same(got: &str, want: &str, csv: bool) -> bool {
    let geomean = |a: &str, b: &str| {
        let (a, b): (Vec<&str>, Vec<&str>) = (a.split(',').collect(), b.split(',').collect());
        csv && b[0] == "geomean" && a.len() == b.len() && a.iter().zip(&b).all(|(a, b)| near(a, b))
    };
    let (a, b): (Vec<&str>, Vec<&str>) = (got.split('\n').collect(), want.split('\n').collect());
    a.len() == b.len() && a.iter().zip(&b).all(|(a, b)| a == b || geomean(a, b))
}

/// Lines with runs of blanks as one.
fn squeezed(text: &str) -> Vec<String> {
    text.lines().map(|l| l.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

#[test]
fn output_is_benchstats() {
    let differences = table("differences.tsv");
    let cases = table("cases.tsv");
    assert!(cases.len() >= 74);
    let mut wrong = Vec::new();
    for case in &cases {
        let name = &case["case"];
        let want = std::fs::read_to_string(Path::new(DATA).join(&case["stdout"])).unwrap();
        let output = run(case);
        let (got, said) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
        let ok = if name == "help" {
            output.status.success() && !got.is_empty()
        } else if let Some(difference) = differences.iter().find(|d| d["case"] == *name) {
            let drop = regex::Regex::new(&difference["drop"]).unwrap();
            let got = squeezed(&got);
            let expected =
                want.lines().filter(|l| !l.trim().is_empty() && !drop.is_match(l)).collect::<Vec<_>>().join("\n");
            output.status.success() && !got.is_empty() && squeezed(&expected).iter().all(|l| got.contains(l))
        } else if case["exit"] != "0" || want.is_empty() {
            !output.status.success() && got.is_empty() && !said.trim().is_empty()
        } else {
            output.status.success() && same(&got, &want, case["args"].contains("csv"))
        };
        if !ok {
            wrong.push(format!("{name}: exit {}\n{got}\n{said}\nwant\n{want}", output.status));
        }
    }
    assert!(wrong.is_empty(), "{} of {} cases differ\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

/// Faults of expressions are told in benchstat's words, at its place; so are the warnings of CSV.
#[test]
fn messages_are_benchstats() {
    let mut checked = 0;
    let differences = table("differences.tsv");
    let differs = |case: &HashMap<String, String>| differences.iter().any(|d| d["case"] == case["case"]);
    for case in table("cases.tsv").iter().filter(|c| c["stderr"] != "-" && !differs(c)) {
        let want = std::fs::read_to_string(Path::new(DATA).join(&case["stderr"])).unwrap();
        let csv = case["args"].contains("-format csv") && want.contains(": need >=");
        if !want.contains("syntax error: ") && !csv {
            continue;
        }
        let said = String::from_utf8(run(case).stderr).unwrap();
        // What is said of lines that cannot be read is said in our own words.
        let tables = |text: &str| text.lines().filter(|l| !l.contains(".txt:")).map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(tables(&said), tables(&want), "{}", case["case"]);
        checked += 1;
    }
    assert!(checked >= 15, "{checked}");
}

#[test]
fn flags_of_old_benchstat_name_their_successors() {
    for (flag, successor) in [
        ("-html", "abstat -f html"),
        ("-csv", "-format csv"),
        ("-split=pkg", "-table"),
        ("-delta-test=none", "Mann-Whitney"),
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_abstat")).args(["benchstat", flag, "x"]).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{flag}");
        assert!(said.contains("hint: ") && said.contains(successor), "{flag}: {said}");
    }
}
