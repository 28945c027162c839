use std::collections::BTreeMap;
use std::path::PathBuf;

use proptest::prelude::*;

use super::*;
use crate::base::Severity;
use crate::parse::testing::{Recorded, read as read_lines};

fn read(text: impl AsRef<[u8]>) -> Recorded {
    read_lines(Box::new(Benchstat::new()), text.as_ref())
}

fn dir(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("testdata/benchstat").join(name)
}

fn text(folder: &str, file: &str) -> String {
    std::fs::read_to_string(dir(folder).join(file)).unwrap_or_else(|e| panic!("{folder}/{file}: {e}"))
}

fn case(name: &str) -> Recorded {
    let got = read(text("cases", &format!("{name}.out")));
    let warnings: Vec<_> = got.diagnostics.iter().filter(|d| d.severity == Severity::Warning).collect();
    assert!(warnings.is_empty(), "{name}: {warnings:?}");
    got
}

/// Settings, unit, name and column of a cell.
type Id = (String, String, String, String);

fn ids(k: &crate::parse::testing::Kept) -> Id {
    let mut settings: Vec<_> = k.settings.iter().map(|(k, v)| format!("{k}={v}")).collect();
    settings.sort();
    (settings.join(" "), k.unit.name.to_string(), k.name.clone(), k.column.clone().unwrap_or_default())
}

fn summaries(got: &Recorded) -> BTreeMap<Id, Summary> {
    let mut out = BTreeMap::new();
    for k in &got.kept {
        if let Reading::Summary(s) = &k.reading {
            assert!(out.insert(ids(k), s.clone()).is_none(), "two cells of {:?}", ids(k));
        }
    }
    out
}

fn comparisons(got: &Recorded) -> BTreeMap<Id, PrintedComparison> {
    let printed = |k: &crate::parse::testing::Kept| match &k.reading {
        Reading::Printed(p) => Some((ids(k), p.clone())),
        _ => None,
    };
    got.kept.iter().filter_map(printed).collect()
}

/// Samples of a Go benchmark text: package, base unit and name.
fn samples(file: &str) -> BTreeMap<(String, String, String), Vec<f64>> {
    let mut pkg = String::new();
    let mut out: BTreeMap<_, Vec<f64>> = BTreeMap::new();
    for line in text("inputs", file).lines() {
        if let Some(p) = line.strip_prefix("pkg: ") {
            pkg = p.to_owned();
        }
        let Some(rest) = line.strip_prefix("Benchmark") else { continue };
        let words: Vec<_> = rest.split_whitespace().collect();
        for pair in words[2..].chunks(2) {
            let tidied = crate::units::tidy::tidy(pair[1]);
            let unit = if tidied.name == "B/s" { "B/sec".to_owned() } else { tidied.name.into_owned() };
            out.entry((pkg.clone(), unit, words[0].to_owned()))
                .or_default()
                .push(pair[0].parse::<f64>().unwrap() * tidied.factor);
        }
    }
    out
}

fn median(mut v: Vec<f64>) -> f64 {
    v.sort_by(f64::total_cmp);
    f64::midpoint(v[(v.len() - 1) / 2], v[v.len() / 2])
}

/// Mean without outliers and number of values kept, as version 1 has them.
fn kept_mean(mut v: Vec<f64>) -> (f64, usize) {
    v.sort_by(f64::total_cmp);
    let quantile = |q: f64| {
        let h = 1.0 / 3.0 + q * (v.len() as f64 + 1.0 / 3.0);
        let k = h.floor();
        if k <= 0.0 {
            v[0]
        } else if k as usize >= v.len() {
            v[v.len() - 1]
        } else {
            v[k as usize - 1] + (h - k) * (v[k as usize] - v[k as usize - 1])
        }
    };
    let (q1, q3) = (quantile(0.25), quantile(0.75));
    let range = (q1 - 1.5 * (q3 - q1), q3 + 1.5 * (q3 - q1));
    let kept: Vec<f64> = v.iter().copied().filter(|x| *x >= range.0 && *x <= range.1).collect();
    (kept.iter().sum::<f64>() / kept.len() as f64, kept.len())
}

fn pkg_of(id: &Id) -> String {
    id.0.split(' ').find_map(|s| s.strip_prefix("pkg=")).unwrap_or_default().to_owned()
}

#[test]
fn version_2_tables_against_the_samples_they_were_made_of() {
    for stem in ["nsweep", "ties", "unequal", "zeroneg", "multipkg"] {
        for form in ["", "-csv"] {
            let got = case(&format!("{stem}{form}"));
            let cells = summaries(&got);
            let mut want = 0;
            for side in ["old", "new"] {
                let file = format!("{stem}-{side}.txt");
                for ((pkg, unit, name), values) in samples(&file) {
                    want += 1;
                    let (_, s) = cells
                        .iter()
                        .find(|(id, _)| (&id.1, &id.2, &id.3, &pkg_of(id)) == (&unit, &name, &file, &pkg))
                        .unwrap_or_else(|| panic!("{stem}{form} {side} {pkg} {unit} {name}"));
                    let n = values.len() as u64;
                    let center = median(values);
                    let error = (s.value - center).abs();
                    assert!(
                        error <= s.resolution * 1.000_001 + 1e-12 * center.abs(),
                        "{stem}{form} {name}: {s:?}, want {center}"
                    );
                    assert_eq!(s.center, Center::Median);
                    // A row on one side only is compared with nothing, so its n is not printed.
                    assert!(
                        s.n == Some(n) || (s.n.is_none() && name.starts_with("Only")) || stem == "multipkg",
                        "{name}: {s:?}"
                    );
                }
            }
            assert_eq!(cells.len(), want, "{stem}{form}");
            if form == "-csv" {
                assert!(cells.values().all(|s| s.resolution == 0.0));
            }
        }
    }
}

#[test]
fn version_2_deltas_follow_from_the_medians() {
    for stem in ["nsweep", "ties", "unequal", "multipkg"] {
        let got = case(stem);
        let printed = comparisons(&got);
        let of = |id: &(String, String, String), side: &str| {
            samples(&format!("{stem}-{side}.txt")).get(id).cloned().map(median)
        };
        assert!(printed.len() > 3);
        for (id, p) in printed {
            let key = (pkg_of(&id), id.1.clone(), id.2.clone());
            let (old, new) = (of(&key, "old").unwrap(), of(&key, "new").unwrap());
            if let Some(delta) = p.delta_pct {
                assert!((delta - (new / old - 1.0) * 100.0).abs() <= 0.005_01, "{stem} {id:?} {delta}");
                assert!(p.p.unwrap() <= 0.05);
            } else {
                assert!(p.p.unwrap() > 0.0495, "{stem} {id:?} {p:?}");
            }
        }
    }
}

#[test]
fn version_1_tables_against_the_samples_they_were_made_of() {
    for stem in ["nsweep", "ties", "unequal", "zeroneg", "multipkg"] {
        for form in ["", "-csv", "-ttest"] {
            let got = case(&format!("v1-{stem}{form}"));
            let cells = summaries(&got);
            assert!(!cells.is_empty());
            for ((settings, unit, name, column), s) in &cells {
                let file = format!("{stem}-{column}.txt");
                let pkg = pkg_of(&(settings.clone(), String::new(), String::new(), String::new()));
                let found: Vec<_> = samples(&file)
                    .into_iter()
                    .filter(|((p, u, n), _)| u == unit && n == name && (pkg.is_empty() || *p == pkg))
                    .collect();
                assert_eq!(found.len(), 1, "{stem}{form} {unit} {name}");
                let (center, n) = kept_mean(found[0].1.clone());
                let error = (s.value - center).abs();
                assert!(
                    error <= s.resolution * 1.000_001 + 1e-9 * center.abs(),
                    "{stem}{form} {name}: {s:?}, want {center}"
                );
                assert_eq!(s.center, Center::Mean);
                assert!(s.n == Some(n as u64) || s.n.is_none(), "{name}: {s:?}, want {n}");
            }
            // Both sides or none.
            let rows = samples(&format!("{stem}-old.txt"))
                .keys()
                .filter(|k| samples(&format!("{stem}-new.txt")).contains_key(*k))
                .count();
            assert_eq!(cells.len(), 2 * rows, "{stem}{form}");
        }
    }
}

#[test]
fn one_file_with_many_units() {
    let raw = samples("units.txt");
    for name in ["units-many", "units-many-csv", "v1-units-many"] {
        let got = case(name);
        let cells = summaries(&got);
        assert_eq!(cells.len(), raw.len(), "{name}");
        for ((_, unit, bench), values) in &raw {
            let (id, s) = cells
                .iter()
                .find(|(id, _)| id.1 == *unit && id.2 == *bench)
                .unwrap_or_else(|| panic!("{name}: {unit}"));
            let center = if name.starts_with("v1") { kept_mean(values.clone()).0 } else { median(values.clone()) };
            assert!(
                (s.value - center).abs() <= s.resolution * 1.000_001 + 1e-12 * center,
                "{name} {unit}: {s:?}, want {center}"
            );
            assert_eq!(id.3, if name.starts_with("v1") { "" } else { "units.txt" });
        }
    }
}

/// Two forms of one table hold the same cells, within what each shows.
fn same(a: &str, b: &str) {
    let (mut x, mut y) = (case(a), case(b));
    // HTML names the files where text says old and new.
    for k in x.kept.iter_mut().chain(&mut y.kept) {
        for side in ["old", "new"] {
            if k.column.as_ref().is_some_and(|c| c.ends_with(&format!("{side}.txt"))) {
                k.column = Some(side.to_owned());
            }
        }
    }
    let (left, right) = (summaries(&x), summaries(&y));
    assert!(!left.is_empty());
    let only: Vec<_> = left
        .keys()
        .filter(|k| !right.contains_key(*k))
        .chain(right.keys().filter(|k| !left.contains_key(*k)))
        .collect();
    assert!(only.is_empty(), "{a} {b}: {} in one only, {:?}", only.len(), &only[..only.len().min(4)]);
    for (id, s) in &left {
        let t = &right[id];
        assert!(
            (s.value - t.value).abs() <= (s.resolution + t.resolution) * 1.000_001 + 1e-12 * s.value.abs(),
            "{a} {b} {id:?}"
        );
        assert_eq!((s.n, s.center), (t.n, t.center), "{a} {b} {id:?}");
        let norange = matches!(s.spread, Spread::None) || matches!(t.spread, Spread::None);
        assert!(s.spread == t.spread || norange, "{a} {b} {id:?}: {:?} {:?}", s.spread, t.spread);
    }
    let (left, right) = (comparisons(&x), comparisons(&y));
    let only: Vec<_> = left
        .keys()
        .filter(|k| !right.contains_key(*k))
        .chain(right.keys().filter(|k| !left.contains_key(*k)))
        .collect();
    assert!(only.is_empty(), "{a} {b}: {} in one only, {:?}", only.len(), &only[..only.len().min(4)]);
    for (id, p) in &left {
        assert_eq!((p.delta_pct, p.p), (right[id].delta_pct, right[id].p), "{a} {b} {id:?}");
    }
}

#[test]
fn forms_of_one_table_agree() {
    for (a, b) in [
        ("v1-oldnewhtml", "v1-oldnew"),
        ("v1-csv2", "v1-oldnew"),
        ("v1-csv2norange", "v1-oldnew"),
        ("v1-oldnewgeo", "v1-oldnew"),
        ("v1-allcsv", "v1-all"),
        ("v1-zeroneg-html", "v1-zeroneg"),
        ("v1-zeroneg-csv", "v1-zeroneg"),
        ("v1-multipkg-html", "v1-multipkg"),
        ("v1-multipkg-csv", "v1-multipkg"),
        ("v1-nsweep-csv", "v1-nsweep"),
        ("v1-unequal-csv", "v1-unequal"),
        ("up-crcIgnore", "crc-csv"),
        ("crc-table-poly", "crc-table-poly-csv"),
        ("crc-col-two-level", "crc-col-two-level-csv"),
        ("exactconf", "exactconf-csv"),
        ("labels", "labels-csv"),
        ("six-files", "six-files-csv"),
        ("up-crcOldNew", "crc-note-csv"),
        ("scale", "scale-csv"),
        ("up-zero", "zero-csv"),
        ("dup-file", "dup-file"),
        ("nsweep", "nsweep-csv"),
        ("zeroneg", "zeroneg-csv"),
    ] {
        same(a, b);
    }
}

#[test]
fn every_cell_of_every_text_table_is_read() {
    let mut tables = 0;
    for entry in std::fs::read_dir(dir("cases")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let text = std::fs::read_to_string(&path).unwrap();
        let got = read(&text);
        if name.starts_with("v1") || name.ends_with("csv") || name.contains("csv-") || name.starts_with("up-csv") {
            assert!(!got.kept.is_empty(), "{name}");
            continue;
        }
        tables += 1;
        let shown = got.kept.iter().filter(|k| matches!(k.reading, Reading::Summary(_))).count();
        // NaN and infinities of one case cannot be kept.
        let lost = text
            .lines()
            .filter(|l| l.contains("NaN") || l.contains("Inf"))
            .map(|l| l.matches('±').count())
            .sum::<usize>();
        assert_eq!(shown + lost, text.matches('±').count(), "{name}");
        let compared = got.kept.iter().filter(|k| matches!(k.reading, Reading::Printed(_))).count();
        assert_eq!(compared, text.matches("n=").count() - name_counts(&text), "{name}");
    }
    assert!(tables > 50);
}

/// `n=` in names of benchmarks and in settings, which is no comparison.
fn name_counts(text: &str) -> usize {
    text.lines().map(|l| l.matches("n=").count() - l.matches("(n=").count() - l.matches(" n=").count()).sum()
}

#[test]
fn column_labels_settings_tables_and_headings() {
    let got = case("crc-col-two-level");
    let mut labels: Vec<_> = got.kept.iter().filter_map(|k| k.column.clone()).collect();
    labels.sort();
    labels.dedup();
    assert_eq!(labels, ["crc-new.txt 0", "crc-new.txt 1", "crc-old.txt 0", "crc-old.txt 1"]);
    assert_eq!(got.kept[0].name, "15 IEEE");
    let tables: Vec<_> = case("units-many").kept.iter().map(|k| k.key(".table").unwrap().to_owned()).collect();
    assert_eq!(tables.first().map(String::as_str), Some("1"));
    assert_eq!(tables.last().cloned(), Some(tables.len().to_string()));
    let packages = case("multipkg");
    let of_c = packages.kept.iter().find(|k| k.settings.contains(&("pkg".into(), "example.org/c".into()))).unwrap();
    assert_eq!((of_c.name.as_str(), of_c.key(".table")), ("Run-4", Some("3")));
    assert!(of_c.settings.contains(&("goos".into(), "linux".into())));
    let projected = case("crc-table-poly");
    assert!(projected.kept[0].settings.contains(&("/poly".into(), "IEEE".into())));
    let headed = read(
        "Before the change:\n\nname  time/op\nX     5.00ns ± 1%\n\nname  speed\nX     5.00MB/s ± 1%\nAfter:\nname  time/op\nX     4.00ns ± 1%\n",
    );
    let seen: Vec<_> = headed.kept.iter().map(|k| (k.key(".table").unwrap(), k.key(".heading").unwrap())).collect();
    assert_eq!(seen, [("1", "Before the change:"), ("2", "Before the change:"), ("3", "After:")]);
    let group = case("v1-multipkg");
    assert_eq!(group.kept[0].settings.len(), 3);
    let empty = case("label-empty");
    assert_eq!(empty.kept[0].column.as_deref(), Some(""));
}

#[test]
fn too_few_samples_and_footnotes() {
    let got = read(text("reports", "r21-ingest-inf.txt"));
    let cells = summaries(&got);
    assert_eq!(cells.len(), 4);
    assert!(cells.values().all(|s| s.spread == Spread::Infinite && s.n == Some(2)));
    let x = comparisons(&got).into_iter().find(|(id, _)| id.2 == "Run/x-2").unwrap().1;
    assert_eq!((x.delta_pct, x.p), (None, Some(0.333)));
    assert_eq!(
        x.notes,
        [
            "need >= 6 samples for confidence interval at level 0.95",
            "need >= 4 samples to detect a difference at alpha level 0.05"
        ]
    );
    assert_eq!(
        got.kept[0].settings.iter().map(|(k, _)| k.as_str()).collect::<Vec<_>>(),
        ["goos", "goarch", "pkg", "cpu"]
    );
    assert!(got.diagnostics.is_empty());
    // A note that stands with no comparison is told apart.
    let vary = case("row-name-warn");
    assert_eq!(
        vary.diagnostics.iter().map(|d| (d.code, &*d.message)).collect::<Vec<_>>(),
        [("footnote", "the table says: benchmarks vary in .fullname")]
    );
    let infinite = case("v1-zeroneg");
    let rise = comparisons(&infinite).into_iter().find(|(id, _)| id.2 == "Zero/new=5").unwrap().1;
    assert_eq!((rise.delta_pct, rise.p, &*rise.notes), (None, Some(0.002), &["printed change: +Inf%".to_owned()][..]));
    let equal = comparisons(&infinite).into_iter().find(|(id, _)| id.2 == "Zero/both=y").unwrap().1;
    assert_eq!((equal.delta_pct, equal.p, &*equal.notes), (None, None, &["all equal".to_owned()][..]));
    let exact = case("exactconf");
    assert!(
        exact
            .kept
            .iter()
            .any(|k| matches!(&k.reading, Reading::Summary(s) if s.center == Center::Mode && s.n == Some(2)))
    );
}

#[test]
fn a_version_1_table_as_printed_and_joined_to_one_line() {
    let lines = text("reports", "r22-ingest-v1.txt");
    let got = read(&lines);
    let cells = summaries(&got);
    assert_eq!(cells.len(), 16);
    let of =
        |i: u32, column: &str| &cells[&(String::new(), "sec/op".into(), format!("Case/i={i}-8"), column.to_owned())];
    assert_eq!(
        (of(0, "old").value, of(0, "old").spread, of(0, "old").n),
        (100.0 * 1e-9, Spread::Percent(1.0), Some(8))
    );
    assert_eq!(of(6, "new").value, 349.0 * 1e-9);
    let joined = format!(
        "Here are runs (old, new): {} Release note: None.",
        lines.split_whitespace().collect::<Vec<_>>().join(" ")
    );
    let one = read(&joined);
    assert_eq!(summaries(&one), cells);
    assert_eq!(comparisons(&one), comparisons(&got));
    let headless = lines.lines().skip(1).collect::<Vec<_>>().join("\n");
    assert_eq!(summaries(&read(&headless)), cells);
    let indented: String = lines.lines().map(|l| format!("    > {l}\n")).collect();
    assert_eq!(summaries(&read(&indented)), cells);
}

#[test]
fn pastes_that_lost_their_blanks() {
    for name in ["two-file", "nsweep", "up-smallSample"] {
        let printed = text("cases", &format!("{name}.out"));
        let collapsed: String =
            printed.lines().map(|l| format!("{}\n", l.split_whitespace().collect::<Vec<_>>().join(" "))).collect();
        assert_eq!(summaries(&read(&collapsed)), summaries(&read(&printed)), "{name}");
        let quoted: String = printed.lines().map(|l| format!("> {l}\n")).collect();
        let without =
            |r: &Recorded| summaries(r).into_iter().map(|(id, s)| ((id.1, id.2, id.3), s)).collect::<BTreeMap<_, _>>();
        assert_eq!(without(&read(&quoted)), without(&read(&printed)), "{name}");
    }
}

#[test]
fn values_that_are_no_numbers_are_told() {
    let got = read(text("cases", "v1-numsyntax.out"));
    let told: Vec<_> = got.diagnostics.iter().map(|d| (d.code, d.pos.unwrap().line)).collect();
    assert_eq!(told, [("bad-value", 9), ("bad-value", 10)]);
    assert_eq!(summaries(&got).len(), 11);
}

#[test]
fn prose_and_other_tables_are_not_read() {
    let text = "name  value\nfoo 3\nname old new\nthe name old time/op new time/op\n│ a │ b │\n│ c │ d │\n\
                | name | time |\n,a,b\nx,1,2\nname,age\nbob,5\n100 ± 3% is (p=0.05) fine\nwarn: something\n";
    let got = read(text);
    assert_eq!(got.kept, []);
    let told: Vec<_> = got.diagnostics.iter().map(|d| &d.message).collect();
    assert!(told.is_empty(), "{told:?}");
}

proptest! {
    #[test]
    fn any_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..1000)) {
        read(&bytes);
    }

    #[test]
    fn pieces_of_tables_never_panic(
        parts in proptest::collection::vec(
            prop_oneof![
                Just("\n".to_owned()), Just("  ".to_owned()), Just(" ± ".to_owned()), Just("%".to_owned()), Just("∞".to_owned()),
                Just("~".to_owned()), Just("(p=0.1 n=2)".to_owned()), Just("¹".to_owned()), Just(" │ ".to_owned()), Just("\n │ a │\n │ sec/op │\n".to_owned()),
                Just("name  old time/op  new time/op  delta\n".to_owned()), Just("name \\ speed  f1  f2\n".to_owned()), Just("name  alloc/op\n".to_owned()),
                Just(",a,\n,sec/op,CI\n".to_owned()), Just("name,time/op (ns/op),±\n".to_owned()), Just("<table class='benchstat'>".to_owned()),
                Just("<tr>".to_owned()), Just("<td>".to_owned()), Just("<th>".to_owned()), Just("</table>".to_owned()), Just("pkg:x\n".to_owned()),
                Just("goos: y\n".to_owned()), Just(",".to_owned()), "[0-9.]{1,4}(ns|MB/s|kB|n|Mi)?", "[a-z]{1,4}", "\\PC{0,3}",
            ],
            0..60,
        ),
    ) {
        read(parts.concat());
    }
}
