use std::path::{Path, PathBuf};

use proptest::prelude::*;

use super::*;
use crate::parse::report_tsv::ReportTsv;
use crate::parse::testing::{Recorded, read as read_lines};

fn read(text: impl AsRef<[u8]>) -> Recorded {
    read_lines(Box::new(Relative::new()), text.as_ref())
}

/// `column: value name` of each cell.
fn cells(got: &Recorded) -> Vec<(String, f64, String)> {
    got.kept
        .iter()
        .map(|k| {
            assert_eq!(k.key("test"), Some(k.name.as_str()));
            assert_eq!((&*k.unit.name, k.unit.better), ("ratio", Some(Direction::Higher)));
            match &k.reading {
                Reading::Summary(s) => {
                    assert_eq!((s.center, s.spread, s.n), (Center::Single, Spread::None, None));
                    (k.column.clone().unwrap(), s.value, k.name.clone())
                }
                other => panic!("{other:?}"),
            }
        })
        .collect()
}

fn owned(rows: &[(&str, f64, &str)]) -> Vec<(String, f64, String)> {
    rows.iter().map(|(c, v, n)| ((*c).to_owned(), *v, (*n).to_owned())).collect()
}

#[test]
fn key_lines_and_column_names() {
    let rows = "1.11    1.38    revrange\n0.99    1.00    fwdrange\n";
    let want = owned(&[
        ("6.29.5", 1.0, "revrange"),
        ("8.11.4", 1.11, "revrange"),
        ("9.11.2", 1.38, "revrange"),
        ("6.29.5", 1.0, "fwdrange"),
        ("8.11.4", 0.99, "fwdrange"),
        ("9.11.2", 1.0, "fwdrange"),
    ]);
    for head in [
        "Relative to: 6.29.5     col-1: 8.11.4   col-2: 9.11.2\ncol-1   col-2\n",
        "Relative to: 6.29.5\ncol-1 : 8.11.4\ncol-2 : 9.11.2\n\ncol-1\tcol-2\n",
        "> Relative to : 6.29.5\n> col-1:8.11.4\ncol-2: 9.11.2\n",
        "QPS of the server\nRelative to: 6.29.5  col-1: 8.11.4  col-2: 9.11.2\n",
    ] {
        let got = read(format!("{head}{rows}"));
        assert_eq!(cells(&got), want, "{head}");
        assert!(got.diagnostics.is_empty());
    }
}

#[test]
fn headers_with_the_word_test() {
    let want = owned(&[
        ("6.29.5", 1.0, "fillseq.v400"),
        ("7.10.2", 0.93, "fillseq.v400"),
        ("6.29.5", 1.0, "readrandom.t24"),
        ("7.10.2", 1.02, "readrandom.t24"),
    ]);
    for text in [
        "6.29.5\t7.10.2\ttest\n1.00\t0.93\tfillseq.v400\n1.00\t1.02\treadrandom.t24\n",
        "test,6.29.5,7.10.2,\nfillseq.v400,1.00,0.93\nreadrandom.t24,1.00,1.02\n",
        "6.29.5  7.10.2  test\n1.00  0.93  fillseq.v400\n1.00  1.02  readrandom.t24\n",
    ] {
        let got = read(text);
        assert_eq!(cells(&got), want, "{text}");
        assert_eq!(got.kept[0].key(".table"), Some("1"));
    }
    let missing = read("6.29.5\t7.10.2\t8.0\ttest\n1.00\t\t0.93\ta\n1.00\tNA\t-\tb\n");
    assert_eq!(cells(&missing), owned(&[("6.29.5", 1.0, "a"), ("8.0", 0.93, "a"), ("6.29.5", 1.0, "b")]));
    let same = read("10.2.1\t10.2.1\ttest\n1.00\t1.39\ta\n");
    assert_eq!(cells(&same), owned(&[("10.2.1", 1.0, "a"), ("10.2.1#2", 1.39, "a")]));
}

#[test]
fn under_a_header_any_decimals_are_ratios() {
    let got = read("6.0\t7.0\ttest\n1.00\t0.93\ta\n1\t12.5\tb\n1.0\t0.9\tc\n");
    let values: Vec<_> = cells(&got).iter().map(|c| c.1).collect();
    assert_eq!(values, [1.0, 0.93, 1.0, 12.5, 1.0, 0.9]);
}

#[test]
fn tables_without_any_header() {
    let based = read("text\n1.00 1.02 fill\n1.00 0.99 read\n");
    assert_eq!(
        cells(&based),
        owned(&[("base", 1.0, "fill"), ("col-1", 1.02, "fill"), ("base", 1.0, "read"), ("col-1", 0.99, "read")])
    );
    assert_eq!(based.kept[0].key(".heading"), Some("text"));
    let left_out = read("fillseq.wal_disabled.v400,0.98,0.91\nreadrandom.t8,0.99,0.99\n");
    assert_eq!(cells(&left_out).len(), 6);
    assert_eq!(
        cells(&left_out)[..3],
        owned(&[
            ("base", 1.0, "fillseq.wal_disabled.v400"),
            ("col-1", 0.98, "fillseq.wal_disabled.v400"),
            ("col-2", 0.91, "fillseq.wal_disabled.v400"),
        ])
    );
}

#[test]
fn two_tables_are_two() {
    let text = "LRU\n6.0\t7.0\ttest\n1.00\t0.93\ta\nHCC\n8.0\t9.0\ttest\n1.00\t0.90\ta\n1.00\t0.91\ta\n";
    let got = read(text);
    let seen: Vec<_> =
        got.kept.iter().map(|k| (k.key(".table").unwrap(), k.key(".heading").unwrap(), k.name.as_str())).collect();
    assert_eq!(seen[0], ("1", "LRU", "a"));
    assert_eq!(seen[2], ("2", "HCC", "a"));
    assert_eq!(seen[4], ("2", "HCC", "a#2"));
}

#[test]
fn what_is_not_such_a_table() {
    for text in [
        "it took 1.00 seconds\n1.00 times faster\nthe ratio is 1.38\n",
        "1.00 1.02 fill\n0.98 0.99 read\n",
        "1.00 1.02 fill\n",
        "1.0 2.5 point-a\n1.0 2.5 point-b\n",
        "all runs of the 2nd test\nreal 12.34\nuser 10.20\n",
        "name,ratio\na,0.98,0.91\nb,0.99,0.97\n",
        "col-1: not a key\ncol-1 col-2\n1.00 2.00 x\n",
        "1100.00 1.00 a\n1100.00 1.00 b\n",
        "BenchmarkX-8 100 12.50 ns/op\n",
        "readrandom   :      12.220 micros/op 81829 ops/sec;   22.3 MB/s\n",
    ] {
        let got = read(text);
        assert_eq!(got.kept, [], "{text}");
        assert!(!got.claims.contains(&Claim::Mine), "{text}");
    }
    let rates = read("9.8.4\t9.9.3\ttest\n1513822\t1559014\tfillseq\n542253\t535640\tread\n");
    assert_eq!(rates.kept, []);
    assert_eq!(rates.diagnostics.iter().map(|d| (d.code, d.pos.unwrap().line)).collect::<Vec<_>>(), [("bad-value", 2)]);
}

#[test]
fn rows_of_another_length_are_told() {
    let got = read("6.0\t7.0\ttest\n1.00\t0.93\t0.94\ta\n1.00\t0.93\tb\n");
    assert_eq!(got.diagnostics.iter().map(|d| (d.code, d.pos.unwrap().line)).collect::<Vec<_>>(), [("bad-row", 2)]);
    assert_eq!(cells(&got).len(), 2);
}

/// Rates of a report in the order of its rows, per test; the last name of a block names it.
fn rates(path: &Path) -> Vec<(String, Vec<f64>)> {
    let got = read_lines(Box::new(ReportTsv::new()), &std::fs::read(path).unwrap());
    let mut blocks: Vec<(String, Vec<f64>)> = Vec::new();
    for k in got.kept.iter().filter(|k| &*k.unit.name == "op/sec") {
        let place: usize = k.key(".row").unwrap().parse().unwrap();
        if place == 1 {
            blocks.push((String::new(), Vec::new()));
        }
        let block = blocks.last_mut().unwrap();
        assert_eq!(block.1.len() + 1, place, "{}: rows in order", path.display());
        block.0.clone_from(&k.name);
        block.1.push(k.value().unwrap());
    }
    blocks
}

fn of_kind(dir: &Path, end: &str, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            of_kind(&path, end, out);
        } else if path.to_str().is_some_and(|p| p.ends_with(end)) {
            out.push(path);
        }
    }
}

/// Published tables against the reports they were made of. The directory is not part of the project: it holds `sum.X.txt` beside
/// `fmt.X.abs1.tsv`, and `NAME.sum.txt` beside `NAME.rel2.csv`, `NAME.csum.csv`, `NAME.abs0.tsv`.
#[test]
fn published_tables_follow_from_their_reports() {
    let Ok(root) = std::env::var("ABSTAT_EXTRA_DATA") else { return };
    let mut tables = Vec::new();
    for end in [".abs1.tsv", ".rel2.csv", ".csum.csv", ".abs0.tsv"] {
        of_kind(Path::new(&root), end, &mut tables);
    }
    let mut compared = 0;
    for table in &tables {
        let name = table.file_name().unwrap().to_str().unwrap();
        let stem = name.strip_prefix("fmt.").map_or_else(
            || format!("{}.sum.txt", name.split('.').next().unwrap()),
            |rest| format!("sum.{}.txt", rest.strip_suffix(".abs1.tsv").unwrap()),
        );
        let source = table.with_file_name(stem);
        let got = read(std::fs::read(table).unwrap());
        if got.kept.is_empty() {
            // The one table of rates under a name that elsewhere is one of ratios.
            assert_eq!(got.diagnostics[0].code, "bad-value", "{}", table.display());
            continue;
        }
        assert!(got.diagnostics.is_empty(), "{}", table.display());
        let blocks = rates(&source);
        let mut at = 0;
        let ratios: Vec<_> = cells(&got);
        while let Some((_, _, test)) = ratios.get(at) {
            let row: Vec<f64> = ratios[at..].iter().take_while(|(_, _, t)| t == test).map(|(_, v, _)| *v).collect();
            let (_, rates) = blocks.iter().find(|(t, _)| t == test).unwrap_or_else(|| panic!("{name} {test}"));
            assert_eq!(row.len(), rates.len(), "{name} {test}");
            for (cell, rate) in row.iter().zip(rates) {
                assert_eq!(format!("{cell:.2}"), format!("{:.2}", rate / rates[0]), "{name} {test}");
                compared += 1;
            }
            at += row.len();
        }
    }
    assert!(tables.len() > 20 && compared > 1300, "{} tables, {compared} cells", tables.len());
}

/// All rows of the reports of that directory are read, and nothing of them is doubted.
#[test]
fn archived_reports_are_read_whole() {
    let Ok(root) = std::env::var("ABSTAT_EXTRA_DATA") else { return };
    let mut files = Vec::new();
    for end in ["sum.txt", ".lru.txt", ".hcc.txt", ".both.txt", "summary.tsv"] {
        of_kind(Path::new(&root), end, &mut files);
    }
    assert!(files.len() > 20);
    for path in files {
        let bytes = std::fs::read(&path).unwrap();
        let got = read_lines(Box::new(ReportTsv::new()), &bytes);
        let rows = String::from_utf8_lossy(&bytes)
            .lines()
            .filter(|l| l.starts_with(|c: char| c.is_ascii_digit()) && l.contains('\t'))
            .count();
        let read = got.kept.iter().filter(|k| &*k.unit.name == "op/sec").count();
        assert_eq!(read, rows, "{}", path.display());
        assert!(got.diagnostics.is_empty(), "{}: {:?}", path.display(), got.diagnostics);
        let labelled = got.kept.iter().filter(|k| k.column.is_some()).count();
        let paths = String::from_utf8_lossy(&bytes).lines().any(|l| l.ends_with("report.tsv"));
        assert_eq!(labelled > 0, paths, "{}", path.display());
    }
}

proptest! {
    #[test]
    fn any_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..500)) {
        read(&bytes);
        read([b"6.0\t7.0\ttest\n", &bytes[..]].concat());
    }

    #[test]
    fn pieces_of_tables_never_panic(
        parts in proptest::collection::vec(
            prop_oneof![
                Just("Relative to: ".to_owned()), Just("col-1: ".to_owned()), Just("col-2".to_owned()), Just("\n".to_owned()), Just("\t".to_owned()),
                Just(",".to_owned()), Just(" ".to_owned()), Just("test".to_owned()), Just("1.00".to_owned()), Just("-".to_owned()), "[0-9]\\.[0-9]{2}", "[a-z]{1,3}", "\\PC{0,2}",
            ],
            0..60,
        ),
    ) {
        read(parts.concat());
    }
}
