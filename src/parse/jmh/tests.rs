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
    assert_eq!((series, checked), (283, 270));
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
    assert_eq!(series, 263);
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

#[test]
fn tables_in_prose_are_found_and_nothing_else() {
    let root = testdata().join("pasted");
    let mut rows = 0;
    for entry in std::fs::read_dir(&root).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().unwrap() != "txt" {
            continue;
        }
        let shown = path.file_name().unwrap().to_str().unwrap();
        let got = parse_file(&path);
        let mut left: Vec<_> = got.kept.iter().collect();
        for line in std::fs::read_to_string(path.with_extension("tsv")).unwrap().lines().skip(1) {
            let [table, heading, name, label, params, mode, n, score, error, unit] =
                line.split('\t').collect::<Vec<_>>().try_into().unwrap();
            rows += 1;
            let mut keys: Vec<(String, String)> = Vec::new();
            let params = params.split(';').filter_map(|p| p.split_once('='));
            for (k, v) in [(".label", label), (".mode", mode)]
                .into_iter()
                .chain(params)
                .chain([(".table", table), (".heading", heading)])
            {
                if !v.is_empty() {
                    keys.push((k.to_owned(), v.to_owned()));
                }
            }
            let at = left.iter().position(|k| k.name == name && k.keys == keys);
            let kept = left.remove(at.unwrap_or_else(|| panic!("{shown}: no {line}\nleft: {left:#?}")));
            let Reading::Summary(s) = &kept.reading else { panic!("{shown}: {line}") };
            let (base, f) = factor(unit);
            assert_eq!(&*kept.unit.name, base, "{shown}: {line}");
            assert!(close(s.value, score.parse::<f64>().unwrap() * f, 1e-12, 0.0), "{shown}: {line}: {}", s.value);
            assert_eq!(s.n, n.parse().ok(), "{shown}: {line}");
            match s.spread {
                Spread::StudentError { half_width, .. } => {
                    assert!(close(half_width, error.parse::<f64>().unwrap() * f, 1e-12, 0.0), "{shown}: {line}");
                }
                _ => assert_eq!(error, "-", "{shown}: {line}"),
            }
        }
        assert!(left.is_empty(), "{shown}: invented {left:#?}");
        let bad: Vec<_> = warnings(&got).into_iter().filter(|w| !w.starts_with("error unknown")).collect();
        assert!(bad.is_empty(), "{shown}: {bad:?}");
    }
    assert_eq!(rows, 46);
}

/// `name key=value... : values` of every cell.
fn show(got: &Recorded) -> Vec<String> {
    cells(got)
        .iter()
        .map(|c| {
            let keys: Vec<String> = c.keys.iter().map(|(k, v)| format!("{k}={v}")).collect();
            let values: Vec<String> = c.raw.iter().map(|r| format!("{}@{}", r.0, r.2)).collect();
            let summary = c.summary.as_ref().map_or(String::new(), |s| format!("summary {} n={:?}", s.value, s.n));
            format!("{} {}: {}{summary}", c.name, keys.join(" "), values.join(" "))
        })
        .collect()
}

fn codes(got: &Recorded) -> Vec<&str> {
    got.diagnostics.iter().map(|d| d.code).collect()
}

const HEAD: &str = "# JMH version: 1.37\n# Measurement: 2 iterations, 1 s each\n# Threads: 1 thread\n\
                    # Benchmark mode: Average time, time/op\n# Benchmark: org.example.A.b\n\n\
                    # Run progress: 0.00% complete, ETA 00:00:00\n# Fork: 1 of 1\n# Warmup Iteration   1: 9.000 s/op\n";

#[test]
fn values_behind_the_programs_own_output_are_found() {
    let log = format!(
        "{HEAD}Iteration   1: loading 5.0 s/op\nstill loading\n3.250 s/op\nIteration   2: warn: no newline 4.500 s/op\n\n\
         # Run complete. Total time: 00:00:01\n"
    );
    let got = parse_text(&log);
    assert_eq!(show(&got), ["org.example.A.b .mode=avgt .table=1: 3.25@1 4.5@1"]);
    assert_eq!(codes(&got), ["interleaved-output", "interleaved-output"]);
    let lost = format!(
        "{HEAD}Iteration   1: loading\nnothing\nIteration   2: 4.500 s/op\n\n# Run complete. Total time: 00:00:01\n"
    );
    let got = parse_text(&lost);
    assert_eq!(show(&got), ["org.example.A.b .mode=avgt .table=1: 4.5@1"]);
    assert_eq!(
        warnings(&got),
        ["no value found for iteration 1 of org.example.A.b", "org.example.A.b: 1 of 2 iterations"]
    );
    assert_eq!(got.diagnostics[0].pos.unwrap().line, 10);
}

#[test]
fn an_iteration_that_timed_out_counts_and_is_said() {
    let log = format!(
        "{HEAD}Iteration   1: (benchmark timed out, interrupted 1 times) 3.250 s/op\nIteration   2: 4.500 s/op\n\
         # Run complete. Total time: 00:00:01\n"
    );
    let got = parse_text(&log);
    assert_eq!(show(&got), ["org.example.A.b .mode=avgt .table=1: 3.25@1 4.5@1"]);
    assert_eq!(codes(&got), ["timed-out"]);
}

#[test]
fn iterations_are_named_by_their_result_block_or_left_out() {
    let iterations = "# Fork: 1 of 2\nIteration   1: 1.500 ops/s\nIteration   2: 2.500 ops/s\n\n# Fork: 2 of 2\nIteration   1: 3.500 ops/s\n";
    let got = parse_text(&format!("{iterations}\n\nResult \"org.example.A.b\":\n  2.500 ops/s\n"));
    assert_eq!(show(&got), ["org.example.A.b .mode=thrpt .table=1: 1.5@1 2.5@1 3.5@2"]);
    let got = parse_text(iterations);
    assert_eq!(show(&got), [""; 0]);
    assert_eq!(codes(&got), ["nameless-iterations", "incomplete-run"]);
    // Fork lines cut out: numbers that start again.
    let got =
        parse_text("# Benchmark: A.b\nIteration   1: 1.5 s/op\nIteration   2: 2.5 s/op\nIteration   1: 3.5 s/op\n");
    assert_eq!(show(&got), ["A.b .mode=avgt .table=1: 1.5@1 2.5@1 3.5@2"]);
}

#[test]
fn a_run_after_another_is_a_table_of_its_own() {
    let run = |a: &str, b: &str, table: bool| {
        let table = if table {
            "\n# Run complete. Total time: 00:00:01\n\nBenchmark  Mode  Cnt  Score   Error  Units\nA.b        avgt    2  4.000           s/op\n"
        } else {
            ""
        };
        format!("{HEAD}Iteration   1: {a} s/op\nIteration   2: {b} s/op\n{table}")
    };
    let got = parse_text(&(run("3.000", "5.000", true) + &run("3.500", "4.500", true)));
    let name = "org.example.A.b .mode=avgt";
    assert_eq!(show(&got), [format!("{name} .table=1: 3@1 5@1"), format!("{name} .table=2: 3.5@1 4.5@1")]);
    let reported: Vec<f64> = cells(&got).iter().map(|c| c.reported.as_ref().unwrap().value).collect();
    assert_eq!(reported, [4.0, 4.0]);
    // Without a table between: the same benchmark again.
    let got = parse_text(&(run("3.000", "5.000", false) + &run("3.500", "4.500", true)));
    assert_eq!(show(&got), [format!("{name} .table=1: 3@1 5@1"), format!("{name} .table=2: 3.5@1 4.5@1")]);
    assert!(codes(&got).contains(&"incomplete-run"));
}

#[test]
fn a_table_that_differs_from_its_log_is_reported() {
    let table = |row: &str| {
        let log = format!(
            "{HEAD}Iteration   1: 3.000 s/op\nIteration   2: 5.000 s/op\n\nBenchmark  Mode  Cnt  Score   Error  Units\n{row}\n"
        );
        let got = parse_text(&log);
        assert_eq!(show(&got)[0], "org.example.A.b .mode=avgt .table=1: 3@1 5@1");
        (
            cells(&got).len(),
            warnings(&got)
                .into_iter()
                .filter(|w| !w.starts_with("error unknown"))
                .map(str::to_owned)
                .collect::<Vec<_>>(),
        )
    };
    assert_eq!(table("A.b        avgt    2  4.000           s/op"), (1, vec![]));
    let (cells, said) = table("A.b        avgt    2  4.100           s/op");
    assert_eq!((cells, said.len()), (1, 1));
    assert!(said[0].contains("score is 4.1") && said[0].contains("4.000"), "{said:?}");
    let (cells, said) = table("A.b        avgt    3  4.000 ± 1.000   s/op");
    assert_eq!((cells, said.len()), (1, 1));
    assert!(said[0].contains("counts 3 iterations, the log holds 2"), "{said:?}");
    // Another benchmark is another result.
    assert_eq!(table("A.c        avgt    2  4.000           s/op"), (2, vec![]));
}

#[test]
fn a_log_behind_the_prefix_of_a_build_tool_is_a_log() {
    let log = format!(
        "{HEAD}Iteration   1: 3.000 s/op\n                 hits: 7.000 #/op\n\nIteration   2: 5.000 s/op\n\nBenchmark  Mode  Cnt  Score   Error  Units\nA.b        avgt    2  4.000           s/op\n"
    );
    let prefixed: String = log.lines().map(|l| format!("[info] {l}\n")).collect();
    let got = parse_text(&prefixed);
    assert_eq!(
        show(&got),
        ["org.example.A.b .mode=avgt .table=1: 3@1 5@1", "org.example.A.b .label=hits .mode=avgt .table=1: 7@1",]
    );
    assert_eq!(cells(&got)[0].reported.as_ref().unwrap().value, 4.0);
}

#[test]
fn failures_and_short_runs_are_said() {
    let said = |file: &str| {
        let got = parse_file(&testdata().join("real").join(file));
        warnings(&got).join("\n")
    };
    let work = "org.example.codec.FlakyBench.work";
    let text = said("14-fail-continue.log");
    for part in [
        format!("{work} (how=setup): no result (failed)"),
        format!("{work} (how=call): 2 of 6 iterations"),
        format!("{work} (how=exit): no result (failed)"),
        "forked VM failed with exit code 7".into(),
    ] {
        assert!(text.contains(&part), "{part} not in {text}");
    }
    assert!(said("14-fail-continue.json").contains(&format!("{work} (how=call): 2 of 6 iterations")));
    assert!(said("15-fail-foe.log").contains("incomplete run"));
    assert!(said("16-fail-all.log").contains("no result (failed)"));
    let interrupted = parse_file(&testdata().join("real/46-interrupted.log"));
    let counts: Vec<usize> = cells(&interrupted).iter().map(|c| c.raw.len()).collect();
    assert_eq!(counts, [20, 13]);
    let text = warnings(&interrupted).join("\n");
    for part in ["incomplete run", "no value found for iteration 4", "(keyCount=100, kind=tree): 13 of 20 iterations"] {
        assert!(text.contains(part), "{part} not in {text}");
    }
    let dump = parse_file(&testdata().join("reports/JR32.log"));
    assert!(!dump.kept.iter().any(|k| k.value() == Some(0.0999)));
}

#[test]
fn settings_of_log_and_json_are_the_same() {
    for stem in ["01-thrpt-params", "05-ss", "08-group-thrpt", "24-noforks", "28-threads-batch", "25-warmup-forks"] {
        let read = |extension| {
            let got = parse_file(&testdata().join(format!("real/{stem}.{extension}")));
            let settings: BTreeMap<String, String> = got.kept[0].settings.iter().cloned().collect();
            settings
        };
        assert_eq!(read("log"), read("json"), "{stem}");
    }
}

#[test]
fn a_stream_that_holds_log_and_json_is_read_once() {
    for stem in ["01-thrpt-params", "11-prof-gc", "04-sample", "05-ss"] {
        let file = |extension| std::fs::read(testdata().join(format!("real/{stem}.{extension}"))).unwrap();
        let count = |bytes: &[u8]| {
            let got = parse(bytes);
            let cells = cells(&got).iter().filter(|c| !c.summary.as_ref().is_some_and(|s| s.approximate)).count();
            (cells, codes(&got).contains(&"told-twice"))
        };
        for (a, b) in [("log", "json"), ("json", "log"), ("json", "txt"), ("csv", "json")] {
            let (first, _) = count(&file(a));
            let both = count(&[file(a), b"\n".to_vec(), file(b)].concat());
            // In mode `sample` JSON has no error, logs no calls; their score is rounded or approximate.
            if stem != "04-sample" {
                assert_eq!(both, (first, true), "{stem} {a} {b}");
            }
        }
    }
}

// ---- JSON -----------------------------------------------------------------------------------------

fn json_result(name: &str, raw: &str) -> String {
    format!(
        r#"{{"jmhVersion":"1.37","benchmark":"{name}","mode":"avgt","threads":1,"forks":1,"measurementIterations":2,"params":{{"k":"v, {{"}},"primaryMetric":{{"score":4.0,"scoreError":"NaN","scoreUnit":"s/op","rawData":{raw}}},"secondaryMetrics":{{}}}}"#
    )
}

#[test]
fn json_that_is_cut_keeps_what_is_complete() {
    let whole = format!("[{},\n{}\n]\n", json_result("A.b", "[[3.0,5.0]]"), json_result("A.c", "[[3.5,4.5]]"));
    let got = parse_text(&whole);
    assert_eq!(show(&got), ["A.b .mode=avgt k=v, {: 3@1 5@1", "A.c .mode=avgt k=v, {: 3.5@1 4.5@1"]);
    assert_eq!(codes(&got), [""; 0]);
    let first = whole.find(",\n").unwrap();
    let second = whole.find("\n]").unwrap();
    for end in 0..whole.len() - 2 {
        let got = parse_text(&whole[..end]);
        assert_eq!(cells(&got).len(), usize::from(end >= first) + usize::from(end >= second), "{end}");
        let told = codes(&got).contains(&"cut-json");
        assert_eq!(told, end > whole.find("\"jmhVersion\"").unwrap() + 11, "{end}");
    }
}

#[test]
fn json_in_a_document_or_alone_is_found() {
    let one = json_result("A.b", "[[3.0,5.0]]");
    for text in [
        format!("Results:\n```json\n[{one}]\n```\nend\n"),
        format!("{one}\n"),
        format!("x\n[\n\n  {one}\n\n]\nBenchmark Mode Cnt Score Error Units\n"),
        format!("[info] starting\n[ {one} ]"),
    ] {
        assert_eq!(show(&parse_text(&text)), ["A.b .mode=avgt k=v, {: 3@1 5@1"], "{text}");
    }
    let twice = show(&parse_text(&format!("[{one},{one}]")));
    assert_eq!(twice[1], "A.b#2 .mode=avgt k=v, {: 3@1 5@1");
}

#[test]
fn json_of_others_is_left_alone() {
    for text in [
        "[{\"name\": \"x\", \"value\": 1}]",
        "{\"Time\":\"2026\",\"Action\":\"output\",\"Output\":\"\\\"primaryMetric\\\"\"}",
        "{\n  \"a\": 1\n}",
        "[1, 2]",
        "{ int x; }",
        "[ERROR] no",
        "[]",
        "[\n]",
    ] {
        let got = parse_text(text);
        assert_eq!((codes(&got).len(), got.kept.len()), (0, 0), "{text}");
        assert!(got.claims.iter().all(|c| *c == crate::parse::Claim::No), "{text}");
    }
}

#[test]
fn json_with_values_that_are_not_numbers_or_not_there() {
    let got = parse_text(&format!("[{}]", json_result("A.b", r#"[["NaN",5.0]]"#)));
    assert_eq!(show(&got), ["A.b .mode=avgt k=v, {: 5@1"]);
    assert!(warnings(&got)[0].contains("1 value is not a number"), "{:?}", warnings(&got));
    let got = parse_text(&format!("[{}]", json_result("A.b", "[]")));
    assert_eq!(show(&got), ["A.b .mode=avgt k=v, {: summary 4 n=Some(2)"]);
    let broken = json_result("A.b", "[[3.0]]").replace("\"score\":4.0,", "");
    let got = parse_text(&format!("[\n{broken},\n{}]", json_result("A.c", "[[3.0]]")));
    assert_eq!(show(&got), ["A.c .mode=avgt k=v, {: 3@1"]);
    assert!(warnings(&got)[0].contains("missing field `score`"), "{:?}", warnings(&got));
    assert_eq!(got.diagnostics[0].pos.unwrap().line, 2);
}

#[test]
fn invalid_json_of_old_versions_is_said_and_the_rest_kept() {
    let got = parse_file(&testdata().join("real/old/v1.21-odd-params.json"));
    let text = std::fs::read_to_string(testdata().join("real/old/v1.21-odd-params.json")).unwrap();
    let all = text.matches("\"jmhVersion\"").count();
    let said =
        warnings(&got).iter().filter(|w| w.contains("written by JMH 1.21") && w.contains("special characters")).count();
    assert!(said > 0);
    assert_eq!(cells(&got).len() + said, all);
    let got = parse_file(&testdata().join("real/old/v1.8-prof-gc.json"));
    assert!(
        warnings(&got).iter().all(|w| w.contains("1.21 or older")) && !warnings(&got).is_empty(),
        "{:?}",
        warnings(&got)
    );
}

#[test]
fn junk_that_looks_like_json_takes_no_memory_and_no_stack() {
    let deep = "[".repeat(1_000_000);
    assert_eq!(parse_text(&deep).kept.len(), 0);
    let deep = format!("[{{\"jmhVersion\":\"1.37\",\"x\":{}{}}}]", "[".repeat(200_000), "]".repeat(200_000));
    let got = parse_text(&deep);
    assert_eq!((got.kept.len(), codes(&got)), (0, vec!["bad-json"]));
    let deep = format!("[{{\"jmhVersion\":\"1.37\",\"rawData\":{}", "{\"a\":".repeat(200_000));
    assert_eq!(codes(&parse_text(&deep)), ["cut-json"]);
    let mut jmh = Jmh::new();
    let mut out = Recorded::default();
    let line = format!("{{\"a\": \"{}\"", "x".repeat(1 << 16));
    for number in 1..200 {
        use crate::parse::{Line, RecordParser};
        jmh.line(Line { number, bytes: line.as_bytes() }, &mut out);
    }
    assert!(jmh.json.held() <= 3 << 20);
}

// ---- CSV, LaTeX -----------------------------------------------------------------------------------

#[test]
fn csv_with_line_breaks_in_values_or_broken_rows() {
    let head =
        "\"Benchmark\",\"Mode\",\"Threads\",\"Samples\",\"Score\",\"Score Error (99.9%)\",\"Unit\",\"Param: k\"\r\n";
    let got = parse_text(&format!(
        "{head}\"A.b\",\"avgt\",1,5,4.5,0.5,\"s/op\",\"two\r\nlines, \"\"quoted\"\"\"\r\n\"A.c\",\"avgt\",1,5,oops,0.5,\"s/op\",x\r\n\"A.d\",\"avgt\",1,5\r\n\"A.e\",\"avgt\",1,1,4.5,NaN,\"s/op\",\r\n"
    ));
    assert_eq!(
        show(&got),
        ["A.b .mode=avgt k=two\nlines, \"quoted\": summary 4.5 n=Some(5)", "A.e .mode=avgt: summary 4.5 n=Some(1)",]
    );
    assert_eq!(
        got.diagnostics.iter().map(|d| (d.code, d.pos.unwrap().line)).collect::<Vec<_>>(),
        [("bad-number", 4), ("bad-row", 5)]
    );
    let cut = parse_text(&format!("{head}\"A.b\",\"avgt\",1,5,4.5,0.5,\"s/op\",\"two"));
    assert_eq!(codes(&cut), ["cut-csv"]);
    let excel = parse_text(
        "Benchmark;Mode;Threads;Samples;Score;Score Error (99,9%);Unit\nA.b;avgt;1;5;4,5;0,5;s/op\n\nprose\n",
    );
    assert_eq!(show(&excel), ["A.b .mode=avgt: summary 4.5 n=Some(5)"]);
}

#[test]
fn real_latex_is_read_row_by_row() {
    let mut rows = 0;
    for (stem, wants) in expected() {
        let file = testdata().join(format!("real/{stem}.tex"));
        if !file.exists() {
            continue;
        }
        let got = parse_file(&file);
        let text = std::fs::read_to_string(&file).unwrap();
        if !text.trim_end().ends_with("\\end{tabular}") {
            assert!(codes(&got).contains(&"cut-latex"), "{stem}");
            continue;
        }
        let mut cells = cells(&got);
        for want in &wants {
            let printed = want.printed.as_ref().unwrap();
            let text = |k: &str| printed[k].as_str().unwrap_or_default();
            if text("unit") == "---" {
                continue;
            }
            rows += 1;
            let at = cells.iter().position(|c| {
                let params = want.params.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
                same(&c.name, &want.name)
                    && c.key(".label") == want.label
                    && c.params() == params
                    && (c.key(".mode").is_empty() || c.key(".mode") == want.mode)
                    && c.unit == factor(&want.unit).0
            });
            let cell = cells.remove(at.unwrap_or_else(|| panic!("{stem}: no {}: {cells:#?}", want.show())));
            assert_eq!(cell.key(".mode"), if want.unit.starts_with("ops/") { "thrpt" } else { "" });
            let s = cell.summary.unwrap();
            assert_eq!((s.n, s.approximate), (None, text("score").contains('≈')), "{stem}");
            if !s.approximate {
                assert!(close(s.value, printed_number(text("score")).0 * factor(&want.unit).1, 1e-12, 0.0), "{stem}");
                let error = Some(text("error")).filter(|e| !e.is_empty() && *e != "NaN");
                assert_eq!(matches!(s.spread, Spread::StudentError { .. }), error.is_some(), "{stem}: {}", want.show());
            }
        }
        assert!(cells.is_empty(), "{stem}: invented {cells:?}");
    }
    assert_eq!(rows, 179);
}

// ---- laws -----------------------------------------------------------------------------------------

/// Lines that parsers look for, whole and cut, in any order.
fn fragment() -> impl proptest::strategy::Strategy<Value = Vec<u8>> {
    use proptest::prelude::*;
    let known: Vec<&'static str> = vec![
        "Benchmark  (k)  Mode  Cnt  Score   Error  Units",
        "A.b          1  avgt    5  1.250 ± 0.100  us/op",
        "A.b:·gc.time 1  avgt    5  ≈ 10⁻³            ms",
        "| Benchmark | (k) | Mode | Cnt | Score | Error | Units |",
        "| A.b | 1 | avgt | 5 | 1.250 | ± 0.100 | us/op |",
        "# Benchmark: A.b",
        "# Parameters: (k = 1, l = , m = 2)",
        "# Fork: 1 of 2",
        "# Warmup Fork: 1 of 2",
        "# Benchmark mode: Average time, time/op",
        "# Measurement: 5 iterations, 1 s each",
        "# Warmup Iteration   1: 1.250 us/op",
        "Iteration   1: 1.250 us/op",
        "Iteration   2: ",
        "Iteration   3: ≈ 10⁻³ us/op",
        "                 gc.time: 5.000 ms",
        "<failure>",
        "<stdout last='20 lines'>",
        "</stdout>",
        "<forked VM failed with exit code 7>",
        "Result \"A.b\":",
        "  1.250 ±(99.9%) 0.100 us/op [Average]",
        "  (min, avg, max) = (1.0, 1.250, 2.0), stdev = 0.100",
        "  N = 12",
        "# Run complete. Total time: 00:00:01",
        "```",
        "",
        "prose with thrpt 25 in ops/s",
        "A.b 1 thrpt 25 1.250 ± 0.100 ops/s A.b 1 thrpt 25 1.350 ± 0.100 ops/s",
        "[",
        "{",
        "    {",
        "  \"jmhVersion\" : \"1.21\",",
        "  \"benchmark\" : \"A.b\", \"mode\": \"avgt\",",
        "  \"primaryMetric\" : { \"score\": 1.0, \"scoreUnit\": \"us/op\", \"rawData\": [[1.0, \"NaN\"]] }",
        "},",
        "]",
        "\"Benchmark\",\"Mode\",\"Threads\",\"Samples\",\"Score\",\"Score Error (99.9%)\",\"Unit\",\"Param: k\"",
        "\"A.b\",\"avgt\",1,5,1.25,0.1,\"us/op\",\"1",
        "\\begin{tabular}{r|l|l|rll}",
        " \\multicolumn{1}{c|}{\\texttt{Benchmark}} & \\texttt{k} & \\multicolumn{3}{c}{\\texttt{Score}} \\\\",
        "\\texttt{A.b} & \\texttt{1} & \\texttt{1.25} & \\scriptsize $\\pm$ \\texttt{0.1} & \\texttt{us/op} \\\\",
        "\\end{tabular}",
    ];
    (proptest::sample::select(known), 0usize..200, proptest::collection::vec(any::<u8>(), 0..6), 0u8..10).prop_map(
        |(line, at, junk, how)| {
            let mut bytes = line.as_bytes().to_vec();
            let at = at.min(bytes.len());
            match how {
                0 => bytes.truncate(at),
                1 => bytes.splice(at..at, junk).for_each(drop),
                2 => bytes.drain(..at).for_each(drop),
                3 => bytes = [b"[info] ".to_vec(), bytes].concat(),
                _ => {}
            }
            bytes
        },
    )
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig { cases: 400, ..Default::default() })]

    #[test]
    fn any_lines_never_panic(lines in proptest::collection::vec(fragment(), 0..40)) {
        let got = parse(&lines.join(&b'\n'));
        cells_are_sound(&got);
    }

    #[test]
    fn any_bytes_never_panic(bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..300)) {
        cells_are_sound(&parse(&bytes));
    }
}

fn cells_are_sound(got: &Recorded) {
    for k in &got.kept {
        assert!(k.keys.iter().all(|(_, v)| !v.is_empty()));
        match &k.reading {
            Reading::One { value, weight } => assert!(value.is_finite() && *weight > 0),
            Reading::Summary(s) | Reading::Reported(s) => {
                assert!(s.value.is_finite() && s.resolution >= 0.0);
                if let Spread::StudentError { half_width, .. } = s.spread {
                    assert!(half_width.is_finite() && half_width >= 0.0);
                }
            }
            Reading::Printed(_) => panic!(),
        }
    }
}
