//! Real output of JMH and field reports, file by file. The expected values in `testdata/jmh` were not made by this parser.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::Value;
use statrs::distribution::{ContinuousCDF, StudentsT};

use super::Jmh;
use crate::base::Severity;
use crate::model::jmh_names::same;
use crate::model::{Reading, Spread, Summary};
use crate::parse::testing::{Recorded, read};

fn testdata() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/jmh")
}

fn parse(bytes: &[u8]) -> Recorded {
    // The input layer decodes UTF-16 and drops a UTF-8 mark.
    let text;
    let bytes = match encoding_rs::Encoding::for_bom(bytes) {
        Some((encoding, skip)) => {
            text = encoding.decode(&bytes[skip..]).0.into_owned();
            text.as_bytes()
        }
        None => bytes,
    };
    read(Box::new(Jmh::new()), bytes)
}

fn parse_file(path: &Path) -> Recorded {
    parse(&std::fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display())))
}

fn parse_text(text: &str) -> Recorded {
    parse(text.as_bytes())
}

/// All that was read of one metric of one result.
#[derive(Debug)]
struct Cell {
    name: String,
    keys: BTreeMap<String, String>,
    unit: String,
    better: Option<crate::units::Direction>,
    /// Value, weight, block.
    raw: Vec<(f64, u64, u32)>,
    summary: Option<Summary>,
    reported: Option<Summary>,
}

impl Cell {
    fn key(&self, key: &str) -> &str {
        self.keys.get(key).map_or("", String::as_str)
    }

    fn params(&self) -> BTreeMap<&str, &str> {
        self.keys.iter().filter(|(k, _)| !k.starts_with('.')).map(|(k, v)| (k.as_str(), v.as_str())).collect()
    }

    fn n(&self) -> Option<u64> {
        match &self.summary {
            Some(s) => s.n,
            None => Some(self.raw.iter().map(|r| r.1).sum()),
        }
    }

    fn mean(&self) -> f64 {
        self.raw.iter().map(|r| r.0 * r.1 as f64).sum::<f64>() / self.n().unwrap() as f64
    }

    /// 99.9 % half width.
    fn error(&self) -> Option<f64> {
        if let Some(s) = &self.summary {
            return match s.spread {
                Spread::StudentError { half_width, confidence, .. } => {
                    assert_eq!(confidence, 0.999);
                    Some(half_width)
                }
                _ => None,
            };
        }
        let (n, mean) = (self.n().unwrap() as f64, self.mean());
        if n < 3.0 {
            return None;
        }
        let squares: f64 = self.raw.iter().map(|r| (r.0 - mean).powi(2) * r.1 as f64).sum();
        Some(StudentsT::new(0.0, 1.0, n - 1.0).unwrap().inverse_cdf(0.9995) * (squares / (n - 1.0)).sqrt() / n.sqrt())
    }
}

fn cells(got: &Recorded) -> Vec<Cell> {
    let mut cells: Vec<Cell> = Vec::new();
    for k in &got.kept {
        let keys: BTreeMap<String, String> = k.keys.iter().cloned().collect();
        assert_eq!(keys.len(), k.keys.len(), "a key twice: {:?}", k.keys);
        assert!(k.keys.iter().all(|(_, v)| !v.is_empty()), "empty key: {:?}", k.keys);
        let at = cells
            .iter()
            .position(|c| c.name == k.name && c.keys == keys && c.unit == *k.unit.name)
            .unwrap_or_else(|| {
                let (name, unit) = (k.name.clone(), k.unit.name.to_string());
                cells.push(Cell {
                    name,
                    keys,
                    unit,
                    better: k.unit.better,
                    raw: vec![],
                    summary: None,
                    reported: None,
                });
                cells.len() - 1
            });
        let cell = &mut cells[at];
        match &k.reading {
            Reading::One { value, weight } => {
                assert!(value.is_finite());
                cell.raw.push((*value, *weight, k.block.unwrap()));
            }
            Reading::Summary(s) => {
                assert!(cell.summary.is_none(), "two summaries of {} {:?}", cell.name, cell.keys);
                cell.summary = Some(s.clone());
            }
            Reading::Reported(s) => cell.reported = Some(s.clone()),
            Reading::Printed(_) => panic!("a comparison"),
        }
    }
    for c in &cells {
        assert!(c.raw.is_empty() != c.summary.is_none(), "not one kind of evidence: {c:?}");
    }
    cells
}

/// Factor of a printed unit, by hand.
fn factor(unit: &str) -> (&str, f64) {
    match unit {
        "s/op" => ("sec/op", 1.0),
        "ms/op" => ("sec/op", 1e-3),
        "us/op" => ("sec/op", 1e-6),
        "ns/op" => ("sec/op", 1e-9),
        "ops/s" => ("op/sec", 1.0),
        "ops/ms" => ("op/sec", 1e3),
        "ops/us" => ("op/sec", 1e6),
        "ops/ns" => ("op/sec", 1e9),
        "MB/sec" => ("B/sec", 1048576.0),
        _ => (unit, 1.0),
    }
}

/// A row of `expected.jsonl` or of a report.
struct Want {
    stem: String,
    name: String,
    label: String,
    params: BTreeMap<String, String>,
    mode: String,
    n: u64,
    forks: u64,
    score: Option<f64>,
    error: Option<f64>,
    unit: String,
    printed: Option<Value>,
}

impl Want {
    fn new(v: &Value) -> Self {
        let text = |k: &str| v[k].as_str().unwrap_or_default().to_owned();
        let positional = if v["positional"] == true { "#" } else { "" };
        let label = text("label");
        let params = v["params"].as_object().unwrap();
        Want {
            stem: text("stem"),
            name: v["benchmark"].as_str().or(v["name"].as_str()).unwrap().to_owned(),
            // Versions before 1.37 print `get·p0.50`.
            label: label.rsplit('·').next().unwrap().trim_start_matches('@').to_owned(),
            params: (params.iter())
                .map(|(k, v)| (format!("{positional}{k}"), v.as_str().unwrap().to_owned()))
                .filter(|(_, v)| !v.is_empty() && v != "N/A")
                .collect(),
            mode: text("mode"),
            n: v["n"].as_u64().unwrap(),
            forks: v["forks"].as_u64().unwrap_or(1),
            score: v["score"].as_f64(),
            error: v["error"].as_f64(),
            unit: text("unit"),
            printed: v.get("printed").cloned(),
        }
    }

    fn is_percentile(&self) -> bool {
        self.label.contains("p0.") || self.label.contains("p1.")
    }

    fn is_of(&self, c: &Cell) -> bool {
        let name = c.name.split('#').next().unwrap();
        same(name, &self.name)
            && c.key(".label") == self.label
            && c.key(".mode") == self.mode
            && factor(&self.unit).0 == c.unit
            && c.params() == self.params.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect()
    }

    fn show(&self) -> String {
        format!("{} {}:{} {:?} {} {}", self.stem, self.name, self.label, self.params, self.mode, self.unit)
    }
}

fn expected() -> BTreeMap<String, Vec<Want>> {
    let text = std::fs::read_to_string(testdata().join("real/expected.jsonl")).unwrap();
    let mut out: BTreeMap<String, Vec<Want>> = BTreeMap::new();
    for line in text.lines() {
        let want = Want::new(&serde_json::from_str(line).unwrap());
        out.entry(want.stem.clone()).or_default().push(want);
    }
    out
}

/// Value and decimals of a printed number in any locale, by hand.
fn printed_number(text: &str) -> (f64, i32) {
    let ascii: String = text
        .chars()
        .map(|c| match c {
            '٠'..='٩' => char::from_digit(c as u32 - 0x660, 10).unwrap(),
            ',' | '٫' => '.',
            c => c,
        })
        .collect();
    (ascii.parse().unwrap(), ascii.split('.').nth(1).map_or(0, |d| d.len() as i32))
}

fn close(got: f64, want: f64, relative: f64, absolute: f64) -> bool {
    (got - want).abs() <= (relative * want.abs()).max(absolute)
}

/// Takes the cell of `want` out of `cells`.
fn take(cells: &mut Vec<Cell>, want: &Want, file: &str) -> Cell {
    let found: Vec<usize> = (0..cells.len()).filter(|&i| want.is_of(&cells[i])).collect();
    assert!(!found.is_empty(), "{file}: no {}; left are {cells:#?}", want.show());
    cells.remove(found[0])
}

#[test]
fn real_tables_are_read_row_by_row() {
    let mut rows = 0;
    let check = |file: &Path, wants: &[Want], rows: &mut usize| {
        let shown = file.display().to_string();
        let got = parse_file(file);
        let mut cells = cells(&got);
        let lost_exponent = shown.contains("replacement-char");
        for want in wants {
            let printed = want.printed.as_ref().unwrap();
            let text = |k: &str| printed[k].as_str().unwrap_or_default();
            *rows += 1;
            if text("unit") == "---" {
                continue;
            }
            let cell = take(&mut cells, want, &shown);
            let s = cell.summary.as_ref().unwrap();
            assert_eq!((cell.key(".table"), cell.key(".group")), ("1", ""));
            assert_eq!(cell.name, text("name").split(':').next().unwrap(), "{shown}");
            let f = factor(&want.unit).1;
            let n = if text("cnt").is_empty() {
                if want.is_percentile() { None } else { Some(1) }
            } else {
                Some(printed_number(text("cnt")).0 as u64)
            };
            assert_eq!(s.n, n, "{shown}: {}", want.show());
            if let Some(power) = text("score").strip_prefix("≈ ") {
                assert!(s.approximate);
                let digits: String = power
                    .chars()
                    .filter_map(|c| "⁰¹²³⁴⁵⁶⁷⁸⁹".chars().position(|d| d == c))
                    .map(|d| d.to_string())
                    .collect();
                let value =
                    if power == "0" || lost_exponent { 0.0 } else { 10f64.powi(-digits.parse::<i32>().unwrap()) };
                assert!(close(s.value, value * f, 1e-12, 0.0), "{shown}: {}", want.show());
                assert_eq!(s.spread, Spread::None);
            } else {
                let (value, decimals) = printed_number(text("score"));
                assert!(!s.approximate && close(s.value, value * f, 1e-12, 0.0), "{shown}: {}", want.show());
                assert!(close(s.resolution, 0.5 * 10f64.powi(-decimals) * f, 1e-12, 0.0));
                let error =
                    Some(text("error")).filter(|e| !e.is_empty() && *e != "NaN").map(|e| printed_number(e).0 * f);
                match (cell.error(), error) {
                    (Some(got), Some(want)) => assert!(close(got, want, 1e-12, 0.0), "{shown}"),
                    (got, want) => assert_eq!(got, want, "{shown}"),
                }
            }
        }
        assert!(cells.is_empty(), "{shown}: invented {cells:?}");
        let bad: Vec<_> = got.diagnostics.iter().filter(|d| matches!(d.code, "bad-row" | "bad-number")).collect();
        assert!(bad.is_empty(), "{shown}: {bad:?}");
    };
    let expected = expected();
    let real = testdata().join("real");
    for (stem, wants) in &expected {
        let file = real.join(format!("{stem}.txt"));
        if file.exists() {
            check(&file, wants, &mut rows);
        }
    }
    for entry in std::fs::read_dir(real.join("mojibake")).unwrap() {
        let path = entry.unwrap().path();
        let stem = path.file_name().unwrap().to_str().unwrap().split('.').next().unwrap().to_owned();
        check(&path, &expected[&stem], &mut rows);
    }
    assert_eq!(rows, 524);
}

#[test]
fn real_csv_is_read_row_by_row() {
    let mut rows = 0;
    for (stem, wants) in expected() {
        for extension in ["csv", "scsv"] {
            let file = testdata().join(format!("real/{stem}.{extension}"));
            if !file.exists() {
                continue;
            }
            let shown = file.display().to_string();
            let got = parse_file(&file);
            let mut cells = cells(&got);
            for want in &wants {
                rows += 1;
                let Some(score) = want.score else { continue };
                let cell = take(&mut cells, want, &shown);
                let s = cell.summary.as_ref().unwrap();
                assert_eq!(cell.name, want.name, "{shown}");
                assert_eq!(s.n, if want.is_percentile() { None } else { Some(want.n) }, "{shown}: {}", want.show());
                let f = factor(&want.unit).1;
                // Six decimals, or the whole double in versions before 1.4.2.
                assert!(close(s.value, score * f, 1e-9, 0.5000001e-6 * f), "{shown}: {}: {s:?}", want.show());
                match (cell.error(), want.error) {
                    (Some(got), Some(want)) => assert!(close(got, want * f, 1e-9, 0.5000001e-6 * f), "{shown}"),
                    (got, want) => assert_eq!(got, want, "{shown}"),
                }
            }
            assert!(cells.is_empty(), "{shown}: invented {cells:?}");
            let told = got.diagnostics.iter().any(|d| d.code == "zero-score");
            let zeros = std::fs::read_to_string(&file).unwrap().contains("0.000000,0.000000");
            assert!(!zeros || told, "{shown}: zeros without a word");
        }
    }
    assert_eq!(rows, 642);
}

#[test]
fn real_json_gives_the_samples_behind_jmhs_own_score_and_error() {
    let (mut series, mut checked) = (0, 0);
    for (stem, wants) in expected() {
        let file = testdata().join(format!("real/{stem}.json"));
        if !file.exists() {
            continue;
        }
        let shown = file.display().to_string();
        let got = parse_file(&file);
        let mut cells = cells(&got);
        for want in &wants {
            let Some(score) = want.score else { continue };
            let cell = take(&mut cells, want, &shown);
            let f = factor(&want.unit).1;
            assert_eq!(cell.name, want.name);
            assert_eq!(cell.key(".table"), "");
            if let Some(s) = &cell.summary {
                assert!(close(s.value, score * f, 1e-12, 0.0), "{shown}: {}", want.show());
                assert!(!want.label.is_empty() || stem == "36-no-rawdata", "{shown}: {}", want.show());
                continue;
            }
            series += 1;
            // Iterations may lack a secondary metric.
            let ragged = !want.label.is_empty() && cell.n() < Some(want.n);
            assert!(ragged || cell.n() == Some(want.n), "{shown}: {}", want.show());
            let forks: BTreeSet<u32> = cell.raw.iter().map(|r| r.2).collect();
            if want.label.is_empty() {
                assert_eq!(forks.len() as u64, want.forks.max(1), "{shown}: {}", want.show());
            }
            if stem.starts_with("old/v0.5.4") {
                continue; // another score, and numbers cut to 3 decimals
            }
            // JMH computes the histograms of mode `sample` from calls that it prints rounded.
            let tolerance = if want.mode == "sample" { 1e-3 } else { 1e-10 };
            assert!(close(cell.mean(), score * f, tolerance, 0.0), "{shown}: {}", want.show());
            let reported = cell.reported.as_ref().unwrap();
            assert!(close(reported.value, score * f, 1e-12, 0.0));
            if let Some(error) = want.error {
                assert!(close(cell.error().unwrap(), error * f, tolerance, 0.0), "{shown}: {}", want.show());
                let Spread::StudentError { half_width, .. } = reported.spread else { panic!() };
                assert!(close(half_width, error * f, 1e-12, 0.0));
                checked += 1;
            }
        }
        assert!(cells.is_empty(), "{shown}: invented {cells:?}");
    }
    assert_eq!((series, checked), (281, 268));
}

#[test]
fn logs_hold_the_samples_of_the_json_of_the_same_run() {
    let mut series = 0;
    for (stem, wants) in expected() {
        let log = testdata().join(format!("real/{stem}.log"));
        let json = testdata().join(format!("real/{stem}.json"));
        if !log.exists() || !json.exists() {
            continue;
        }
        let shown = log.display().to_string();
        let (from_log, from_json) = (cells(&parse_file(&log)), cells(&parse_file(&json)));
        for want in &wants {
            let Some(raw) = from_json.iter().find(|c| want.is_of(c) && !c.raw.is_empty()) else { continue };
            let cell = from_log.iter().find(|c| want.is_of(c)).unwrap_or_else(|| panic!("{shown}: no {}", want.show()));
            if want.mode == "sample"
                || cell.summary.as_ref().is_some_and(|s| s.approximate || s.value.abs() < 10e-3 * factor(&want.unit).1)
            {
                assert!(cell.summary.is_some(), "{shown}: {}", want.show());
                continue;
            }
            let f = factor(&want.unit).1;
            assert_eq!(cell.raw.len(), raw.raw.len(), "{shown}: {}", want.show());
            for (a, b) in cell.raw.iter().zip(&raw.raw) {
                assert_eq!((a.1, a.2), (b.1, b.2), "{shown}: {}", want.show());
                assert!((a.0 - b.0).abs() <= 0.50001e-3 * f, "{shown}: {}: {} {}", want.show(), a.0, b.0);
            }
            series += 1;
        }
    }
    assert_eq!(series, 261);
}

#[test]
fn logs_report_their_own_table_beside_the_samples() {
    let mut rows = 0;
    for (stem, wants) in expected() {
        let file = testdata().join(format!("real/{stem}.log"));
        if !file.exists() {
            continue;
        }
        let shown = file.display().to_string();
        let got = parse_file(&file);
        let mut cells = cells(&got);
        for want in &wants {
            let printed = want.printed.as_ref().unwrap();
            let text = |k: &str| printed[k].as_str().unwrap_or_default();
            if text("unit") == "---" {
                continue;
            }
            rows += 1;
            let cell = take(&mut cells, want, &shown);
            let s =
                cell.reported.as_ref().or(cell.summary.as_ref()).unwrap_or_else(|| panic!("{shown}: {}", want.show()));
            assert_eq!(cell.key(".table"), "1");
            assert_eq!(cell.name, want.name, "{shown}");
            let f = factor(&want.unit).1;
            if !s.approximate {
                let (value, _) = printed_number(text("score"));
                assert!(close(s.value, value * f, 1e-12, 0.0), "{shown}: {}", want.show());
                let error =
                    Some(text("error")).filter(|e| !e.is_empty() && *e != "NaN").map(|e| printed_number(e).0 * f);
                let stated = match s.spread {
                    Spread::StudentError { half_width, .. } => Some(half_width),
                    _ => None,
                };
                assert!(
                    stated == error || close(stated.unwrap(), error.unwrap(), 1e-12, 0.0),
                    "{shown}: {}",
                    want.show()
                );
            }
            if !want.is_percentile() {
                assert_eq!(cell.n(), Some(want.n), "{shown}: {}", want.show());
            }
        }
        assert!(cells.is_empty(), "{shown}: invented {cells:?}");
        let bad: Vec<_> = got
            .diagnostics
            .iter()
            .filter(|d| {
                matches!(
                    d.code,
                    "table-differs" | "bad-row" | "lost-iteration" | "incomplete-run" | "nameless-iterations"
                )
            })
            .collect();
        assert!(bad.is_empty(), "{shown}: {bad:?}");
    }
    assert_eq!(rows, 415);
}

#[test]
fn field_reports_are_read_as_expected() {
    let root = testdata().join("reports");
    let mut files: Vec<PathBuf> = std::fs::read_dir(&root).unwrap().map(|e| e.unwrap().path()).collect();
    files.sort();
    for spec_file in files.iter().filter(|f| f.to_str().unwrap().ends_with(".expected.json")) {
        let spec: Value = serde_json::from_str(&std::fs::read_to_string(spec_file).unwrap()).unwrap();
        let Some(rows) = spec["rows"].as_array() else { continue };
        for input in spec["inputs"].as_array().unwrap() {
            let input = input.as_str().unwrap();
            let mut cells = cells(&parse_file(&root.join(input)));
            let side = input.split('.').nth(1).unwrap();
            for row in rows.iter().filter(|r| r["file"].as_str().is_none_or(|f| f == side)) {
                let want = Want::new(row);
                let of_place = |c: &Cell| {
                    let fits = |key: &str, field: &str| row[field].as_u64().is_none_or(|n| c.key(key) == n.to_string());
                    fits(".table", "table") && fits(".group", "group")
                };
                let at = cells.iter().position(|c| want.is_of(c) && of_place(c));
                let cell =
                    cells.remove(at.unwrap_or_else(|| panic!("{input}: no {}; left are {cells:#?}", want.show())));
                let f = factor(&want.unit).1;
                let n = if want.is_percentile() { None } else { Some(want.n) };
                assert_eq!(cell.n(), n, "{input}: {}", want.show());
                let value = cell.summary.as_ref().map_or_else(|| cell.mean(), |s| s.value);
                assert!(
                    close(value, want.score.unwrap() * f, 1e-9, if cell.raw.is_empty() { 0.0 } else { 0.5e-3 * f }),
                    "{input}: {}",
                    want.show()
                );
                let error = match &cell.reported {
                    Some(Summary { spread: Spread::StudentError { half_width, .. }, .. }) => Some(*half_width),
                    _ => cell.error(),
                };
                match (error, want.error) {
                    (Some(got), Some(want)) => assert!(close(got, want * f, 1e-9, 0.0), "{input}"),
                    (got, want) => assert_eq!(got, want, "{input}"),
                }
                if let Some(raw) = row["raw"].as_array() {
                    let want_raw: Vec<(f64, u32)> = (raw.iter().zip(1..))
                        .flat_map(|(fork, i)| {
                            fork.as_array().unwrap().iter().map(move |v| (v.as_f64().unwrap() * f, i))
                        })
                        .collect();
                    assert_eq!(cell.raw.len(), want_raw.len(), "{input}");
                    for (a, b) in cell.raw.iter().zip(&want_raw) {
                        assert!(close(a.0, b.0, 1e-12, 0.0) && a.2 == b.1, "{input}");
                    }
                }
                if let Some(direction) = row["direction"].as_str() {
                    assert_eq!(format!("{:?}", cell.better.unwrap()).to_lowercase(), direction);
                }
            }
            assert!(cells.is_empty(), "{input}: invented {cells:?}");
        }
    }
}

fn warnings(got: &Recorded) -> Vec<&str> {
    got.diagnostics.iter().filter(|d| d.severity == Severity::Warning).map(|d| d.message.as_str()).collect()
}
