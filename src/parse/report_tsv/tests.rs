use std::path::PathBuf;

use proptest::prelude::*;

use super::*;
use crate::parse::testing::{Kept, Recorded, read as read_lines};

fn read(text: impl AsRef<[u8]>) -> Recorded {
    read_lines(Box::new(ReportTsv::new()), text.as_ref())
}

fn reports() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("testdata/db_bench/reports")
}

const HEAD_2015: &str = "ops/sec\tmb/sec\tSize-GB\tL0_MB\tSum_GB\tW-Amp\tW-MB/s\tusec/op\tp50\tp75\tp99\tp99.9\tp99.99\tUptime\tStall-time\tStall%\tTest\n";
const HEAD_2022: &str = "ops_sec\tmb_sec\tlsm_sz\tblob_sz\tc_wgb\tw_amp\tc_mbps\tc_wsecs\tc_csecs\tb_rgb\tb_wgb\tusec_op\tp50\tp99\t\
     p99.9\tp99.99\tpmax\tuptime\tstall%\tNstall\tu_cpu\ts_cpu\trss\ttest\tdate\tversion\tjob_id\tgithash\n";

fn value(got: &Recorded, test: &str, unit: &str) -> Option<f64> {
    let found: Vec<&Kept> = got.kept.iter().filter(|k| k.name == test && &*k.unit.name == unit).collect();
    assert!(found.len() <= 1, "{test} {unit}");
    found.first().and_then(|k| k.value())
}

fn near(got: Option<f64>, want: Option<f64>) -> bool {
    match (got, want) {
        (Some(a), Some(b)) => (a - b).abs() <= 1e-12 * b.abs(),
        (a, b) => a == b,
    }
}

#[test]
fn every_row_of_the_report_tables() {
    let table = std::fs::read_to_string(reports().join("expected-tables.tsv")).unwrap();
    let rows: Vec<Vec<&str>> =
        table.lines().skip(1).map(|l| l.split('\t').collect()).filter(|r: &Vec<_>| r[0].ends_with(".tsv")).collect();
    assert_eq!(rows.len(), 5);
    for r in rows {
        let got = read(std::fs::read(reports().join(r[0])).unwrap());
        let mine: Vec<_> = got.kept.iter().filter(|k| k.name == r[3]).collect();
        for k in &mine {
            assert_eq!((k.key("test"), k.key("version"), k.key(".row")), (Some(r[3]), Some(r[4]), Some(r[2])), "{k:?}");
        }
        for (unit, cell, factor) in [
            ("op/sec", r[5], 1.0),
            ("B/sec", r[6], MIB),
            ("sec/op", r[7], 1e-6),
            ("p50-sec/op", r[8], 1e-6),
            ("p99-sec/op", r[9], 1e-6),
        ] {
            let want = cell.parse::<f64>().ok().map(|v| v * factor);
            assert!(near(value(&got, r[3], unit), want), "{r:?} {unit}");
        }
    }
}

#[test]
fn the_newest_vintage() {
    let got = read(std::fs::read(reports().join("r09-report28.tsv")).unwrap());
    let test = "fillseq.wal_disabled.v400";
    for (unit, want) in [
        ("lsm_sz-B", Some(GIB)),
        ("blob_sz-B", Some(0.0)),
        ("c_wgb-B", Some(1.4 * GIB)),
        ("w_amp", Some(0.7)),
        ("c_mbps-B/sec", Some(91.2 * MIB)),
        ("c_wsecs-sec", Some(40.0)),
        ("pmax-sec/op", Some(5511e-6)),
        ("uptime-sec", Some(15.0)),
        ("stall%", Some(0.0)),
        ("Nstall", Some(0.0)),
        ("u_cpu-sec", Some(100.0)),
        ("rss-B", Some(0.5 * GIB)),
    ] {
        assert!(near(value(&got, test, unit), want), "{unit}");
    }
    let read = "readrandom.t4";
    for missing in ["B/sec", "blob_sz-B", "w_amp", "Nstall", "rss-B"] {
        assert_eq!(value(&got, read, missing), None, "{missing}");
    }
    let k = got.kept.iter().find(|k| k.name == read).unwrap();
    let keys: Vec<_> = k.keys.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
    assert_eq!(
        keys,
        [
            ("test", read),
            ("version", "7.5.0"),
            ("date", "2022-06-9T13:43:00"),
            ("githash", "0a1b2c3d4e"),
            (".row", "3")
        ]
    );
    assert_eq!(
        got.diagnostics.iter().map(|d| (d.code, d.pos.unwrap().line)).collect::<Vec<_>>(),
        [("failed-benchmark", 5)]
    );
    assert!(got.diagnostics[0].message.contains("multireadrandom.t4"), "{:?}", got.diagnostics);
}

#[test]
fn directions() {
    let got = read(format!(
        "{HEAD_2022}1\t1\t1GB\t1GB\t1\t1\t1\t1\t1\t1\t1\t1\t1\t1\t1\t1\t1\t1\t1\t1\t1\t1\t1\tt\td\t1.0\tj\th\n"
    ));
    assert_eq!(got.units.len(), 23);
    let of = |better| got.units.iter().filter(|u| u.better == better).map(|u| &*u.printed).collect::<Vec<_>>();
    assert_eq!(of(Some(Direction::Higher)), ["ops_sec", "mb_sec"]);
    assert_eq!(of(None), ["c_wgb", "c_mbps", "c_wsecs", "c_csecs", "b_rgb", "b_wgb", "uptime", "u_cpu", "s_cpu"]);
}

#[test]
fn the_first_vintages_share_the_units_of_the_newest() {
    let row =
        "811020\t324.9\t16\t256\t21.5\t1.0\t181.0\t1.2\t1.0\t1.1\t3\t6\t14\t122\t00:01:02.500\t1.5\tfillseq.v400\n";
    let got = read(format!("{HEAD_2015}{row}"));
    for (unit, want) in [
        ("op/sec", 811020.0),
        ("lsm_sz-B", 16.0 * GIB),
        ("l0_sz-B", 256.0 * MIB),
        ("c_wgb-B", 21.5 * GIB),
        ("c_mbps-B/sec", 181.0 * MIB),
        ("p75-sec/op", 1.1e-6),
        ("stall_time-sec", 62.5),
        ("stall%", 1.5),
    ] {
        assert!(near(value(&got, "fillseq.v400", unit), Some(want)), "{unit}");
    }
    let gb = read(format!("{}{row}", HEAD_2015.replace("L0_MB", "L0_GB")));
    assert!(near(value(&gb, "fillseq.v400", "l0_sz-B"), Some(256.0 * GIB)));
    assert_eq!(got.kept[0].keys, [("test".into(), "fillseq.v400".into()), (".row".into(), "1".into())]);
}

fn row(ops: u32, test: &str, version: &str) -> String {
    format!(
        "{ops}\t1.0\t1GB\t0GB\t1\tNA\t1\t1\t1\t0\t0\t1.0\t1\t1\t1\t1\t1\t1\t0.0\t\t1\t1\tNA\t{test}\t2025-05-9T01:44:24\t{version}\t\tabc\n"
    )
}

#[test]
fn blocks_headers_and_things_between() {
    let text = format!(
        "# ops_sec - operations per second\n{HEAD_2022}{}{}1.001\n\n{HEAD_2015}5\t1.0\t1\t1\t1\t1\t1\t9\t1\t1\t1\t1\t1\t1\t0:0:1\t0\told\n\n\nsome text\n{HEAD_2022}{}{}",
        row(1, "a", "8.0"),
        row(2, "b", "8.0"),
        row(3, "c", "9.0"),
        row(4, "c", "9.1"),
    );
    let got = read(&text);
    let ops: Vec<_> = got
        .kept
        .iter()
        .filter(|k| &*k.unit.name == "op/sec")
        .map(|k| (k.value().unwrap(), k.name.as_str(), k.key("version").unwrap_or(""), k.key(".row").unwrap()))
        .collect();
    assert_eq!(
        ops,
        [
            (1.0, "a", "8.0", "1"),
            (2.0, "b", "8.0", "2"),
            (5.0, "old", "", "1"),
            (3.0, "c", "9.0", "1"),
            (4.0, "c", "9.1", "2")
        ]
    );
    assert!(got.diagnostics.is_empty(), "{:?}", got.diagnostics);
}

#[test]
fn paths_of_a_summary_label_the_rows_of_each_block() {
    let text = format!(
        "run/8.0.gcc/report.tsv\nrun/8.0.clang/report.tsv\n\n{HEAD_2022}{}{}\n{HEAD_2022}{}\n",
        row(1, "a", "8.0"),
        row(2, "a", "8.0"),
        row(3, "b", "8.0"),
    );
    let got = read(&text);
    let seen: Vec<_> = got
        .kept
        .iter()
        .filter(|k| &*k.unit.name == "op/sec")
        .map(|k| (k.value().unwrap(), k.column.as_deref()))
        .collect();
    assert_eq!(seen, [(1.0, Some("8.0.gcc")), (2.0, Some("8.0.clang")), (3.0, None)]);
    assert_eq!(got.diagnostics.iter().map(|d| d.code).collect::<Vec<_>>(), ["path-count"]);
}

#[test]
fn labels_of_paths() {
    for (paths, want) in [
        (vec!["bm/8.0.gcc/report.tsv", "bm/8.1.gcc/report.tsv"], vec!["8.0.gcc", "8.1.gcc"]),
        (vec!["bm/8.0/out/report.tsv", "old/8.1/out/report.tsv"], vec!["bm/8.0", "old/8.1"]),
        (vec!["run/8.0/report.tsv"], vec!["8.0"]),
        (vec!["run/8.0/report.tsv", "run/8.0/report.tsv"], vec!["8.0", "8.0#2"]),
    ] {
        let paths: Vec<Box<str>> = paths.into_iter().map(Into::into).collect();
        assert_eq!(labels(&paths), want);
    }
}

#[test]
fn tables_whose_tabs_became_blanks() {
    let blank = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let full = "588211 235.6 1GB 0.0GB, 1.4 0.7 91.2 40 39 0 0 1.7 1.0 4 15 27 5511 15 0.0 0 0.1 0.0 0.5 fillseq.v400 2022-06-29T13:36:05 7.5.0 0a1b2c3d4e";
    let got = read(format!("{}\n{full}\n", blank(HEAD_2022)));
    // Only job_id is blank, and the hash is where the hash belongs.
    assert!(near(value(&got, "fillseq.v400", "rss-B"), Some(0.5 * GIB)), "{:?}", got.diagnostics);
    assert_eq!(got.kept[0].key("githash"), Some("0a1b2c3d4e"));
    let without = "301442 NA 2GB 0.0 NA 0.0 0 0 0 0 13.2 11.9 31 48 77 2011 60 0.0 0.4 0.1 NA readrandom.t4 2022-06-9T13:43:00 7.5.0 0a1b2c3d4e";
    let got = read(format!("{}\n{without}\n", blank(HEAD_2022)));
    assert!(near(value(&got, "readrandom.t4", "u_cpu-sec"), Some(400.0)), "{:?}", got.diagnostics);
    let broken = "301442 NA 2GB 0.0 readrandom.t4 2022-06-9T13:43:00 7.5.0 0a1b2c3d4e";
    let got = read(format!("{}\n{broken}\n", blank(HEAD_2022)));
    assert_eq!(got.kept, []);
    assert_eq!(got.diagnostics.iter().map(|d| d.code).collect::<Vec<_>>(), ["bad-row"]);
}

#[test]
fn bad_cells_and_short_rows_are_told_and_cost_nothing_else() {
    let text =
        format!("{HEAD_2022}{}1\t2\t3GB\n", row(1, "a", "8.0").replacen("1.0", "x", 1).replacen("1GB", "1XB", 1));
    let got = read(&text);
    assert_eq!(got.diagnostics.iter().map(|d| d.code).collect::<Vec<_>>(), ["bad-value", "bad-value", "bad-row"]);
    assert_eq!(got.diagnostics[0].excerpt.as_ref().map(|e| &e.text[e.span.clone()]), Some("x"));
    assert_eq!(value(&got, "a", "op/sec"), Some(1.0));
    assert_eq!(value(&got, "a", "B/sec"), None);
    let nan = read(format!("{HEAD_2022}{}", row(1, "a", "8.0").replacen("NA", "-nan", 1)));
    assert!(nan.diagnostics.is_empty() && value(&nan, "a", "w_amp").is_none());
}

#[test]
fn lines_of_others_are_not_claimed() {
    let got = read("goos: linux\nops_sec is a column\n5 apples\nops_sec\tmb_sec\n1\t2\n");
    assert!(got.claims.iter().all(|c| *c == Claim::No), "{:?}", got.claims);
}

proptest! {
    #[test]
    fn any_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..500)) {
        read(&bytes);
        read([HEAD_2022.as_bytes(), &bytes].concat());
        read([HEAD_2022.replace('\t', " ").as_bytes(), b"1 2 ", &bytes].concat());
    }
}
