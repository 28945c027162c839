use proptest::prelude::*;

use super::Mode::{Abstat, Benchstat};
use super::testing::laid_out;
use super::testing::{plan, set};
use crate::model::Evidence;

/// The wanted lines, indented as the code around them.
fn lines(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines().map(str::trim).filter(|l| !l.is_empty()) {
        // Rows are those with a bracket.
        if line.contains(" [") {
            out.push_str("  ");
        }
        out.push_str(line);
        out.push('\n');
    }
    out
}

#[track_caller]
fn check(mode: super::Mode, flags: &str, text: &str, want: &str) {
    assert_eq!(laid_out(mode, flags, text), lines(want), "{mode:?} {flags}");
}

const TWO: &str = "
    @old
    goos: linux
    pkg: a
    go Get/size=1k-8 | 1 ns/op 10 B/op
    go Get/size=1k-8 | 2 ns/op 10 B/op
    go Put-8 | 3 ns/op
    @new
    goos: linux
    pkg: a
    go Put-8 | 4 ns/op
    go Get/size=1k-8 | 5 ns/op 11 B/op
    go New-8 | 6 ns/op";

#[test]
fn two_inputs_of_go() {
    check(
        Abstat,
        "",
        TWO,
        "
        goos=linux,pkg=a | sec/op | old; new
        Get/size=1k-8 [.name=Get,/size=1k,/gomaxprocs=8]: 1+2 5
        Put-8 [.name=Put,/gomaxprocs=8]: 3 4
        New-8 [.name=New,/gomaxprocs=8]: - 6
        goos=linux,pkg=a | B/op | old; new
        Get/size=1k-8 [.name=Get,/size=1k,/gomaxprocs=8]: 10+10 11",
    );
    check(
        Benchstat,
        "",
        TWO,
        "
        goos=linux,pkg=a | sec/op | old; new
        Get/size=1k-8 []: 1+2 5
        Put-8 []: 3 4
        New-8 []: - 6
        goos=linux,pkg=a | B/op | old; new
        Get/size=1k-8 []: 10+10 11",
    );
}

#[test]
fn projections() {
    check(
        Abstat,
        "--row .name --col .file",
        TWO,
        "
        goos=linux,pkg=a | sec/op | old; new
        Get [.name=Get,/size=1k,/gomaxprocs=8]: 1+2 5
        Put [.name=Put,/gomaxprocs=8]: 3 4
        New [.name=New,/gomaxprocs=8]: - 6
        goos=linux,pkg=a | B/op | old; new
        Get [.name=Get,/size=1k,/gomaxprocs=8]: 10+10 11",
    );
    check(
        Abstat,
        "--col .name --ignore .file",
        TWO,
        "
        goos=linux,pkg=a | sec/op | Get; Put; New
        */size=1k-8 [/size=1k,/gomaxprocs=8]: 1+2+5 - -
        *-8 [/gomaxprocs=8]: - 3+4 6
        goos=linux,pkg=a | B/op | Get
        */size=1k-8 [/size=1k,/gomaxprocs=8]: 10+10+11",
    );
    check(
        Benchstat,
        "--table pkg,.file@(new) --row .name@alpha --col goos",
        TWO,
        "
        pkg=a,.file=new | sec/op | linux
        Get []: 5
        New []: 6
        Put []: 4
        pkg=a,.file=new | B/op | linux
        Get []: 11",
    );
}

#[test]
fn pooled_cells_say_what_they_vary_in() {
    let text = "
        @f
        goos: linux
        go A/x=1-8 | 1 ns/op
        go A/x=2-8 | 2 ns/op
        note: b
        go A/x=1-4 | 3 ns/op";
    check(
        Abstat,
        "--row .name --table goos",
        text,
        "
        goos=linux | sec/op | f
        A [.name=A]: 1+2+3<note,/x,/gomaxprocs>",
    );
    check(
        Abstat,
        "--row .name --ignore /x,/gomaxprocs,note",
        text,
        "
        goos=linux | sec/op | f
        A [.name=A]: 1+2+3",
    );
    check(
        Benchstat,
        "--row .name --table goos",
        text,
        "
        goos=linux | sec/op | f
        A []: 1+2+3<note,.fullname>",
    );
    check(
        Benchstat,
        "--row .name --table .config",
        text,
        "
        goos=linux,note= | sec/op | f
        A []: 1+2<.fullname>
        goos=linux,note=b | sec/op | f
        A []: 3",
    );
}

#[test]
fn tables_come_in_order_of_first_sight_and_bytewise_in_benchstat() {
    let text = "
        @f
        pkg: zeta
        go A | 1 ns/op
        pkg: alpha
        go A | 2 ns/op";
    check(
        Abstat,
        "",
        text,
        "
        pkg=zeta | sec/op | f
        A [.name=A]: 1
        pkg=alpha | sec/op | f
        A [.name=A]: 2",
    );
    check(
        Benchstat,
        "",
        text,
        "
        pkg=alpha | sec/op | f
        A []: 2
        pkg=zeta | sec/op | f
        A []: 1",
    );
    check(
        Benchstat,
        "--table pkg",
        text,
        "
        pkg=zeta | sec/op | f
        A []: 1
        pkg=alpha | sec/op | f
        A []: 2",
    );
}

#[test]
fn what_describes_the_inputs_does_not_split_tables() {
    let text = "
        @old
        goos: linux
        cpu: A
        commit: 1
        date: monday
        go Get | 1 ns/op
        date: tuesday
        go Get | 2 ns/op
        @new
        goos: linux
        cpu: B
        commit: 2
        date: friday
        go Get | 3 ns/op";
    check(
        Abstat,
        "",
        text,
        r#"
        goos=linux | sec/op | old(cpu=A,commit=1); new(cpu=B,commit=2,date=friday)
        Get [.name=Get]: 1+2 3
        Warning cpu-differs: cpu differs: old "A", new "B"; differences may be the machine's
        Note setting-differs: commit differs: old "1", new "2""#,
    );
    check(
        Benchstat,
        "--ignore date",
        text,
        "
        goos=linux,cpu=A,commit=1 | sec/op | old
        Get []: 1+2
        goos=linux,cpu=B,commit=2 | sec/op | new
        Get []: 3",
    );
}

#[test]
fn a_machine_that_is_constant_in_each_cell_does_not_split_tables() {
    let text = "
        @old
        cpu: A
        go Get | 1 ns/op
        go Put | 2 ns/op
        @new
        cpu: A
        go Get | 3 ns/op
        cpu: B
        go Put | 4 ns/op";
    check(
        Abstat,
        "",
        text,
        "
         | sec/op | old(cpu=A); new
        Get [.name=Get]: 1 3
        Put [.name=Put]: 2 4
        Warning cpu-differs: cpu differs between the results compared; differences may be the machine's",
    );
    let both = "
        @old
        cpu: A
        go Get | 1 ns/op
        cpu: B
        go Get | 2 ns/op
        @new
        cpu: B
        go Get | 3 ns/op";
    check(
        Abstat,
        "",
        both,
        "
        cpu=A | sec/op | old; new
        Get [.name=Get]: 1 -
        cpu=B | sec/op | old; new
        Get [.name=Get]: 2 3",
    );
}

#[test]
fn other_columns_than_inputs() {
    let text = "
        @f
        goarch: amd64
        cpu: A
        go Get | 1 ns/op
        goarch: arm64
        cpu: B
        go Get | 2 ns/op";
    check(
        Abstat,
        "--col goarch",
        text,
        r#"
         | sec/op | amd64(cpu=A); arm64(cpu=B)
        Get [.name=Get]: 1 2
        Warning cpu-differs: cpu differs: amd64 "A", arm64 "B"; differences may be the machine's"#,
    );
}

#[test]
fn modes_of_jmh_are_never_pooled_and_parameters_are_keys() {
    let text = "
        @old
        jmh b.Map.get .mode=thrpt size=10 | 1 ops/s
        jmh b.Map.get .label=gc .mode=thrpt size=10 | 7 B/op
        jmh b.Map.get .mode=avgt size=10 | 2 s/op
        jmh b.Map.get .mode=avgt size=20 | 3 s/op";
    check(
        Abstat,
        "",
        text,
        "
        .mode=thrpt | ops/s | old
        b.Map.get [.name=b.Map.get,size=10]: 1
        .mode=thrpt | B/op | old
        b.Map.get:gc [.name=b.Map.get,.label=gc,size=10]: 7
        .mode=avgt | s/op | old
        b.Map.get [.name=b.Map.get,size=10]: 2
        b.Map.get [.name=b.Map.get,size=20]: 3",
    );
    check(
        Abstat,
        "--col size --ignore .mode",
        text,
        "
         | ops/s | 10
        b.Map.get [.name=b.Map.get]: 1
         | B/op | 10
        b.Map.get:gc [.name=b.Map.get,.label=gc]: 7
         | s/op | 10; 20
        b.Map.get [.name=b.Map.get]: 2 3",
    );
    check(
        Abstat,
        "--row .mode,size --col .name",
        text,
        "
         | ops/s | b.Map.get
        thrpt 10 [.mode=thrpt,size=10]: 1
         | B/op | b.Map.get
        thrpt 10 [.mode=thrpt,size=10]: 7
         | s/op | b.Map.get
        avgt 10 [.mode=avgt,size=10]: 2
        avgt 20 [.mode=avgt,size=20]: 3",
    );
}

#[test]
fn tables_of_one_jmh_input_are_columns_where_they_share_names() {
    let text = "
        @f
        jmh A .mode=avgt .table=1 .heading=before | 1 s/op
        jmh B .mode=avgt .table=1 .heading=before | 2 s/op
        jmh A .mode=avgt .table=2 .heading=HEAD | 3 s/op";
    check(
        Abstat,
        "",
        &text.replace("HEAD", "after"),
        "
        .mode=avgt | s/op | before; after
        A [.name=A]: 1 3
        B [.name=B]: 2 -",
    );
    check(
        Abstat,
        "",
        &text.replace("HEAD", "before"),
        "
        .mode=avgt | s/op | table 1; table 2
        A [.name=A]: 1 3
        B [.name=B]: 2 -",
    );
    check(
        Abstat,
        "--col .table",
        text,
        "
        .mode=avgt | s/op | 1; 2
        A [.name=A]: 1 3
        B [.name=B]: 2 -",
    );
    check(
        Abstat,
        "--col .file",
        text,
        "
        .mode=avgt,.table=1 | s/op | f
        A [.name=A]: 1
        B [.name=B]: 2
        .mode=avgt,.table=2 | s/op | f
        A [.name=A]: 3",
    );
    // With a second input the inputs are compared, table by table.
    check(
        Abstat,
        "",
        &format!("{text}\n@g\njmh A .mode=avgt .table=1 | 4 s/op"),
        "
        .mode=avgt,.table=1 | s/op | f; g
        A [.name=A]: 1 4
        B [.name=B]: 2 -
        .mode=avgt,.table=2 | s/op | f; g
        A [.name=A]: 3 -",
    );
    // A log beside a single table: nothing to keep apart.
    let log = "
        @f
        jmh A .mode=avgt | 1 s/op
        @g
        jmh A .mode=avgt .table=1 | 2 s/op";
    check(
        Abstat,
        "",
        log,
        "
        .mode=avgt | s/op | f; g
        A [.name=A]: 1 2",
    );
}

#[test]
fn groups_of_columns_side_by_side_are_columns() {
    let text = "
        @f
        jmh A .mode=avgt .table=1 .group=1 | 1 s/op
        jmh A .mode=avgt .table=1 .group=2 | 2 s/op";
    check(
        Abstat,
        "",
        text,
        "
        .mode=avgt | s/op | 1; 2
        A [.name=A]: 1 2",
    );
    check(
        Abstat,
        "--col .file",
        text,
        "
        .mode=avgt,.group=1 | s/op | f
        A [.name=A]: 1
        .mode=avgt,.group=2 | s/op | f
        A [.name=A]: 2",
    );
}

#[test]
fn columns_of_printed_tables() {
    let text = "
        @f
        go A .table=1 column=old | 1 sec/op
        go A .table=1 column=new | 2 sec/op
        go A .table=2 column=old | 3 B/op
        go A .table=2 column=new | 4 B/op";
    check(
        Abstat,
        "",
        text,
        "
        .table=1 | sec/op | old; new
        A [.name=A]: 1 2
        .table=2 | B/op | old; new
        A [.name=A]: 3 4",
    );
    let two = "
        @f
        go A .table=1 column=old | 1 sec/op
        @g
        go A .table=1 column=old | 2 sec/op";
    check(
        Abstat,
        "",
        two,
        "
         | sec/op | f old; g old
        A [.name=A]: 1 2",
    );
}

#[test]
fn versions_of_reports_are_columns() {
    let text = "
        @sum
        plain fill test=fill version=9.9.3 date=1 .row=1 | 1 op/sec
        plain fill test=fill version=9.10.0 date=2 .row=2 | 2 op/sec
        plain read test=read version=9.9.3 date=3 .row=1 | 3 op/sec
        plain read test=read version=9.10.0 date=4 .row=2 | 4 op/sec";
    check(
        Abstat,
        "",
        text,
        "
         | op/sec | 9.9.3; 9.10.0
        fill [.name=fill,test=fill]: 1 2
        read [.name=read,test=read]: 3 4",
    );
    check(
        Abstat,
        "--row test --col version@alpha",
        text,
        "
         | op/sec | 9.10.0; 9.9.3
        fill [test=fill,.name=fill]: 2 1
        read [test=read,.name=read]: 4 3",
    );
    let more = text.replace("@sum", "@a") + &text.replace("@sum", "@b");
    check(
        Abstat,
        "--row test@(read)",
        &more,
        "
         | op/sec | a 9.9.3; a 9.10.0; b 9.9.3; b 9.10.0
        read [test=read,.name=read]: 3 4 3 4",
    );
    check(
        Abstat,
        "--col test --row version --ignore .file",
        text,
        "
         | op/sec | fill; read
        9.9.3 [version=9.9.3]: 1 3
        9.10.0 [version=9.10.0]: 2 4",
    );
}

#[test]
fn keys_that_no_result_has_are_named() {
    let out = laid_out(Abstat, "--row /nosuch --ignore /size,gooos", TWO);
    assert!(out.contains("unknown-key: --row: no result has the key /nosuch"), "{out}");
    assert!(out.contains("unknown-key: --ignore: no result has the key gooos"), "{out}");
    assert!(!out.contains("/size\n"), "{out}");
}

#[test]
fn units_with_one_base_are_one_table() {
    let text = "
        @old
        go A | 1 ns/op
        @new
        go A | 2 sec/op";
    check(
        Abstat,
        "",
        text,
        "
         | sec/op | old; new
        A [.name=A]: 1 2",
    );
}

#[test]
fn copies_stand_apart() {
    let text = "
        @f
        plain fill test=fill version=9 .row=1 | 1 op/sec
        plain fill test=fill version=9 .row=2 | 2 op/sec";
    let mut set = super::testing::set(text);
    let plan = super::Layout { copies: vec![0, 1], ..super::Layout::default() };
    let grid = super::layout(&mut set, &plan).filled();
    let labels: Vec<&str> = grid.tables[0].columns.iter().map(|c| c.label.as_str()).collect();
    assert_eq!(labels, ["f 9", "f 9#2"]);
    check(
        Abstat,
        "",
        text,
        "
         | op/sec | f 9
        fill [.name=fill,test=fill]: 1+2",
    );
}

/// A line of the language of [`set`].
fn line() -> impl Strategy<Value = String> {
    let key = "(\\.table=[12]|\\.group=[12]|\\.mode=(avgt|ss)|test=t|version=[12]|p=[ab]|column=[xy]|date=[12])";
    let result = (
        "(go|jmh|plain) (A|B)(/k=[12])?(-8)?",
        prop::collection::vec(key, 0..3),
        "(1 ns/op|2 sec/op|3 B/op)( 4 B/op)?",
    )
        .prop_map(|(name, mut keys, readings)| {
            keys.sort();
            keys.dedup_by(|a, b| a.split('=').next() == b.split('=').next());
            format!("{name} {} | {readings}", keys.join(" "))
        });
    prop_oneof![5 => result, 1 => "@[ab]", 2 => "(goos|cpu|note|date): [12]?"]
}

proptest! {
    /// Whatever the lists, every value is in one cell, rows and columns are as long as their tables, and columns have distinct keys.
    #[test]
    fn no_value_is_lost_or_counted_twice(
        lines in prop::collection::vec(line(), 1..20),
        flags in prop::collection::vec("--(table|row|col|ignore) (\\.config|\\.file|\\.fullname|\\.name|/k|goos@alpha|p@num|version@version|\\.table)", 0..4),
        benchstat in any::<bool>(),
    ) {
        let mut set = set(&format!("@first\n{}", lines.join("\n")));
        let count = |e: &Evidence| if let Evidence::Raw(o) = e { o.values.len() } else { 0 };
        let before: usize = set.groups.iter().flat_map(|g| &g.series).map(|(_, s)| count(&s.evidence)).sum();
        let grid = super::layout(&mut set, &plan(if benchstat { Benchstat } else { Abstat }, &flags.join(" "))).filled();
        let mut after = 0;
        for t in &grid.tables {
            prop_assert!(!t.columns.is_empty() && !t.rows.is_empty());
            for (i, c) in t.columns.iter().enumerate() {
                prop_assert!(t.columns[..i].iter().all(|d| d.keys[..d.fields] != c.keys[..c.fields]));
            }
            for r in &t.rows {
                prop_assert_eq!(r.cells.len(), t.columns.len());
                prop_assert!(r.cells.iter().any(Option::is_some));
                after += r.cells.iter().flatten().map(|c| count(&c.series.evidence)).sum::<usize>();
            }
        }
        prop_assert_eq!(before, after);
    }
}
