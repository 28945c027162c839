//! What the fuzz targets do with their bytes. An ordinary test replays the corpus through the same functions.

use std::io::{Cursor, Read};
use std::sync::Arc;

use abstat::base::{Diagnostic, Error, printable};
use abstat::compare::benchstat::{Levels, tables};
use abstat::compare::{Plan, compare};
use abstat::gate::{self, Rule, Rules};
use abstat::input::{BLOCK, Source, SourceKind, decode, read_lines};
use abstat::model::{Key, KeyOf, Reading, Record, SeriesSet, Sink, Summary};
use abstat::parse::mixed::Mixed;
use abstat::parse::{
    Line, RecordParser, abstat_jsonl, benchstat, db_bench, go, go_test_json, jmh, regression_csv, relative, report_tsv,
};
use abstat::pivot::{Filter, Layout, Mode, Projection, SyntaxError, jmh as jmh_names, layout, pooling};
use abstat::read::{Request, read as read_all};
use abstat::render::chart::{Chart, Svg, terminal};
use abstat::render::csv::Csv;
use abstat::render::html::Html;
use abstat::render::json::Json;
use abstat::render::markdown::{Markdown, MarkdownOptions};
use abstat::render::text::Text;
use abstat::render::{Render, samples};
use abstat::report::{Report, Selection, View, select};
use abstat::units::{Unit, UnitId};

/// A target: panics when something is wrong.
pub type Target = fn(&[u8]);

/// All targets by name.
pub const TARGETS: &[(&str, Target)] = &[
    ("abstat_jsonl", |data| parser(Box::new(abstat_jsonl::AbstatJsonl::default()), data)),
    ("jmh", |data| parser(Box::new(jmh::Jmh::new()), data)),
    ("go", |data| {
        parser(Box::new(go::Go::new(go::Mode::Lenient)), data);
        parser(Box::new(go::Go::new(go::Mode::DropIn)), data);
    }),
    ("go_test_json", |data| {
        parser(Box::new(go_test_json::GoTestJson::new(go::Mode::Lenient)), data);
        parser(Box::new(go_test_json::GoTestJson::new(go::Mode::DropIn)), data);
    }),
    ("db_bench", |data| parser(Box::new(db_bench::DbBench::new()), data)),
    ("report_tsv", |data| parser(Box::new(report_tsv::ReportTsv::new()), data)),
    ("regression_csv", |data| parser(Box::new(regression_csv::RegressionCsv::new()), data)),
    ("benchstat", |data| parser(Box::new(benchstat::Benchstat::new()), data)),
    ("relative", |data| parser(Box::new(relative::Relative::new()), data)),
    ("mixed", mixed),
    ("decode", decoded),
    ("filter", filter),
    ("projection", projection),
    ("rule", rule),
    ("pipe", pipe),
];

/// The target of this name.
///
/// # Panics
/// When there is none.
pub fn target(name: &str) -> Target {
    TARGETS.iter().find(|(n, _)| *n == name).expect("a target").1
}

/// Takes everything and looks whether it keeps the rules of a sink.
#[derive(Default)]
struct Rigid {
    units: Vec<Unit>,
    readings: usize,
    said: usize,
}

impl Sink for Rigid {
    fn unit(&mut self, unit: &Unit) -> UnitId {
        let at = self.units.iter().position(|u| u == unit).unwrap_or_else(|| {
            self.units.push(unit.clone());
            self.units.len() - 1
        });
        UnitId(u32::try_from(at).expect("few units"))
    }

    fn record(&mut self, record: &Record<'_>) {
        assert!(record.line > 0);
        for (key, value) in record.keys {
            assert!(!key.is_empty() && !value.is_empty(), "{record:?}");
        }
        for (unit, reading) in record.readings {
            assert!((unit.0 as usize) < self.units.len());
            self.readings += 1;
            match reading {
                Reading::One { value, weight } => assert!(value.is_finite() && *weight > 0, "{record:?}"),
                Reading::Summary(summary) | Reading::Reported(summary) => numbers(summary),
                Reading::Printed(_) => {}
            }
        }
    }

    fn unit_metadata(&mut self, _: &str, _: &str, _: &str) -> Result<(), String> {
        Ok(())
    }

    fn diagnose(&mut self, diagnostic: Diagnostic) {
        self.said += 1;
        assert!(!diagnostic.message.is_empty());
        if let Some(excerpt) = &diagnostic.excerpt {
            assert!(excerpt.text.get(excerpt.span.clone()).is_some(), "{diagnostic:?}");
        }
    }
}

/// What a producer printed is a number.
fn numbers(summary: &Summary) {
    let text = format!("{summary:?}");
    assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
}

/// One parser over the lines of `data`.
fn parser(mut parser: Box<dyn RecordParser>, data: &[u8]) {
    let mut out = Rigid::default();
    let lines = read_lines(&mut &*data, BLOCK, |line| {
        parser.line(Line { number: line.number, bytes: line.bytes }, &mut out);
    });
    assert_eq!(lines.expect("memory can be read"), data.len() as u64);
    parser.finish(&mut out);
    assert!(out.readings <= data.len() && out.said <= data.len(), "{} readings, {} messages", out.readings, out.said);
}

/// Reads the inputs in `data` in blocks of `block`.
fn read(data: &[u8], block: usize, parsers: &(dyn Fn() -> Mixed + Sync)) -> (SeriesSet, Option<Error>) {
    let sources: Vec<Source> = inputs(data)
        .into_iter()
        .map(|bytes| Source { label: None, kind: SourceKind::Bytes("fuzz", Arc::from(bytes)) })
        .collect();
    let labels: Vec<String> = (1..=sources.len()).map(|n| format!("in{n}")).collect();
    let filter = Filter::all();
    match read_all(&Request { sources: &sources, labels: &labels, parsers, filter: &filter, block }) {
        Ok(set) => (set, None),
        Err((error, set)) => (*set, Some(error)),
    }
}

/// Up to three inputs, parted by lines of `=====`.
fn inputs(data: &[u8]) -> Vec<&[u8]> {
    let mut rest = data;
    let mut out = Vec::new();
    const PART: &[u8] = b"\n=====\n";
    while out.len() < 2
        && let Some(at) = rest.windows(PART.len()).position(|w| w == PART)
    {
        out.push(&rest[..=at]);
        rest = &rest[at + PART.len()..];
    }
    out.push(rest);
    out
}

fn any_format() -> Mixed {
    Mixed::new(None).expect("all formats")
}

/// Both were read from the same bytes.
fn same(a: &SeriesSet, b: &SeriesSet) {
    assert_eq!(a.inputs, b.inputs);
    assert_eq!(a.settings, b.settings);
    assert_eq!(a.units, b.units);
    assert_eq!(a.assumptions, b.assumptions);
    assert_eq!(a.diagnostics, b.diagnostics);
    assert_eq!(format!("{:?}", a.groups), format!("{:?}", b.groups));
}

/// The whole front half: what is recognised does not depend on how many bytes come at a time.
fn mixed(data: &[u8]) {
    let (large, error) = read(data, BLOCK, &any_format);
    let (small, again) = read(data, 1 + data.len() % 61, &any_format);
    same(&large, &small);
    assert_eq!(error.map(|e| e.to_string()), again.map(|e| e.to_string()));
}

/// Reads at most `step` bytes at a time.
struct Slow<R> {
    inner: R,
    step: usize,
}

impl<R: Read> Read for Slow<R> {
    fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
        let n = buf.len().min(self.step);
        self.inner.read(&mut buf[..n])
    }
}

/// The lines, at most 16 MiB of them, and the error behind them. A line is its number, bytes, what was removed, and whether it was cut.
type Lines = (Vec<(u64, Vec<u8>, usize, bool)>, Option<String>);

fn lines(data: &[u8], step: usize, block: usize) -> Lines {
    let input = Slow { inner: Cursor::new(data.to_vec()), step };
    let mut out = Vec::new();
    let mut bytes = decode(Box::new(input)).take(16 << 20);
    let end = read_lines(&mut bytes, block, |l| out.push((l.number, l.bytes.to_vec(), l.removed, l.cut)));
    (out, end.err().map(|e| e.to_string()))
}

/// Decoding and lines: the same whatever the sizes of blocks and reads are.
fn decoded(data: &[u8]) {
    let want = lines(data, usize::MAX, BLOCK);
    for (number, line) in want.0.iter().enumerate() {
        assert_eq!(line.0, number as u64 + 1);
        assert!(!line.1.contains(&b'\n'));
    }
    for (step, block) in [(1, 4096), (7, 1), (4096, 33)] {
        // One byte at a time costs as many calls.
        if data.len() * block < 1 << 20 || block > 64 {
            let got = lines(data, step, block);
            if want.1.is_some() && got.1 == want.1 {
                // How much comes out before damage is met depends on how much is unpacked at a time.
                let both = got.0.len().min(want.0.len());
                assert!(got.0[..both] == want.0[..both], "reads of {step}, blocks of {block}");
            } else {
                assert!(got == want, "reads of {step}, blocks of {block}");
            }
        }
    }
}

/// A result that has every key, made of the key's name.
struct Everything;

impl KeyOf for Everything {
    fn value(&self, key: &Key) -> std::borrow::Cow<'_, str> {
        format!("{key:?}").into()
    }
}

/// Faults stand inside the expression.
fn faults(error: &SyntaxError) {
    assert!(!error.faults.is_empty());
    for fault in &error.faults {
        assert!(error.expression.get(fault.span.clone()).is_some(), "{error:?}");
        assert!(!fault.message.is_empty());
        error.column(fault);
    }
}

/// The filter language: what is printed of a filter is the same filter.
fn filter(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    match text.parse::<Filter>() {
        Ok(filter) => {
            let unit = Unit::new("sec/op", "ns/op");
            let kept = filter.keeps(&Everything, &unit);
            let again: Filter = filter.to_string().parse().unwrap_or_else(|e| panic!("{filter}: {e:?}"));
            assert_eq!(again.to_string(), filter.to_string());
            assert_eq!(again.keeps(&Everything, &unit), kept);
            filter.decide(&Everything);
            filter.keys();
        }
        Err(error) => faults(&error),
    }
}

/// The projection language.
fn projection(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    match text.parse::<Projection>() {
        Ok(list) => {
            let again: Projection = list.to_string().parse().unwrap_or_else(|e| panic!("{list}: {e:?}"));
            assert_eq!(again.to_string(), list.to_string());
            list.admits(&Everything);
            let words: Vec<&str> = text.split_whitespace().collect();
            for field in &list.fields {
                for pair in words.windows(2) {
                    let there = field.order.compare(pair[0], pair[1]);
                    assert_eq!(there, field.order.compare(pair[1], pair[0]).reverse(), "{field}: {pair:?}");
                }
            }
        }
        Err(error) => faults(&error),
    }
}

/// Gate rules: one, and a file of them.
fn rule(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    match Rule::parse(&text) {
        Ok(rule) => {
            let again = Rule::parse(&rule.to_string()).unwrap_or_else(|e| panic!("{rule}: {e}"));
            assert_eq!(again.to_string(), rule.to_string());
        }
        Err(error) => assert!(!error.message.is_empty()),
    }
    if let Err(errors) = gate::from_toml("rules.toml", &text) {
        assert!(!errors.is_empty());
    }
}

/// What a run writes, by format.
type Outputs = Vec<(&'static str, String)>;

fn rendered(renderer: &dyn Render, report: &Report) -> String {
    let mut out = Vec::new();
    renderer.render(report, &mut out).expect("memory can be written");
    String::from_utf8(out).expect("UTF-8")
}

/// Bytes to bytes; how it is compared depends on `choice`.
fn outputs(data: &[u8], choice: u8) -> Outputs {
    let (mut set, _) = read(data, BLOCK, &any_format);
    let mut out = Outputs::new();
    let utf8 = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    if set.groups.is_empty() {
        return out;
    }
    let mut said = std::mem::take(&mut set.diagnostics);
    said.extend(jmh_names::unify_names(&mut set));
    for (name, write) in [
        ("jsonl", (|set, out| samples::jsonl(set, out)) as fn(&SeriesSet, &mut Vec<u8>) -> std::io::Result<()>),
        ("samples.csv", |set, out| samples::csv(set, out).map(drop)),
        ("go", |set, out| samples::go(set, out).map(drop)),
    ] {
        let mut bytes = Vec::new();
        write(&set, &mut bytes).expect("memory can be written");
        out.push((name, utf8(bytes)));
    }
    let (copies, warnings) = pooling::copies(&set, &[], if choice & 1 == 0 { pooling::LIMIT } else { f64::INFINITY });
    said.extend(warnings);
    let grid = layout(&mut set, &Layout { copies, ..Layout::default() });
    let plan = Plan {
        view: if choice & 2 == 0 { View::Change } else { View::Relative },
        paired: choice & 4 != 0,
        equivalence: choice & 8 != 0,
        assume_independent: choice & 16 != 0,
        bootstrap: choice & 224 == 224 && data.len() < 512,
        warnings: true,
        keep_samples: true,
        ..Plan::default()
    };
    let mut report = match compare(grid, std::mem::take(&mut set.inputs), said, &plan) {
        Ok(report) => report,
        Err(error) => {
            out.push(("error", error.to_string()));
            return out;
        }
    };
    select(&mut report, &Selection { all: choice & 32 != 0, ..Selection::default() });
    let rules = ["slower>5%", "slower>5%:raw", "geomean>2%", "any", "missing", "unclear", "config", "faster>1%:est"];
    let rules = Rules { rules: rules.iter().map(|r| Rule::parse(r).expect("a rule")).collect(), ..Rules::default() };
    let (outcomes, warnings, exit) = gate::judge(&report, &rules);
    report.gates = outcomes;
    report.warnings.extend(warnings);
    out.push(("gates", format!("{:?}\n{}\n", exit, gate::lines(&report, &report.gates).join("\n"))));
    let text = Text { width: 40 + usize::from(choice), ..Text::default() };
    out.push(("text", rendered(&text, &report)));
    out.push(("coloured", rendered(&Text { color: true, ..text.clone() }, &report)));
    let mut ascii = text;
    ascii.spelling.ascii = true;
    out.push(("ascii", rendered(&ascii, &report)));
    out.push(("plot", terminal::plot(&report, 80, false, false)));
    out.push(("markdown", rendered(&Markdown(MarkdownOptions::default()), &report)));
    out.push(("html", rendered(&Html::default(), &report)));
    out.push(("csv", rendered(&Csv, &report)));
    out.push(("json", rendered(&Json, &report)));
    for (name, chart) in [
        ("forest.svg", Chart::Forest),
        ("lines.svg", Chart::Lines),
        ("strips.svg", Chart::Strips),
        ("percentiles.svg", Chart::Percentiles),
    ] {
        out.push((name, rendered(&Svg { chart, ..Svg::default() }, &report)));
    }
    let (mut set, _) = read(data, BLOCK, &Mixed::drop_in);
    let grid = layout(&mut set, &Layout { mode: Mode::Benchstat, ..Layout::default() });
    let tables = tables(grid, Levels::default());
    out.push(("benchstat", abstat::render::benchstat::text(&tables)));
    let (records, warnings) = abstat::render::benchstat::csv(&tables);
    out.push(("benchstat.csv", format!("{records}{warnings}")));
    out
}

/// Nothing but line ends steers a terminal.
fn quiet(name: &str, text: &str) {
    let Some(line) = text.split('\n').find(|line| printable(line) != *line) else { return };
    let at = line.char_indices().find(|(at, c)| printable(&line[*at..at + c.len_utf8()]).len() != c.len_utf8());
    let (at, c) = at.expect("a character that is written out");
    let near: String = line[..at].chars().rev().take(60).collect::<Vec<_>>().into_iter().rev().collect();
    panic!("{name}: {c:?} after {near:?}");
}

/// Bytes to all outputs: each is of its format, and a second run writes the same.
fn pipe(data: &[u8]) {
    let choice = data.iter().fold(data.len() as u8, |a, b| a.rotate_left(3) ^ b);
    let outputs = self::outputs(data, choice);
    assert!(outputs == self::outputs(data, choice), "two runs write different bytes");
    for (name, text) in &outputs {
        match *name {
            "json" => drop(serde_json::from_str::<serde_json::Value>(text).unwrap_or_else(|e| panic!("{e}: {text}"))),
            "jsonl" => {
                for line in text.lines() {
                    serde_json::from_str::<serde_json::Value>(line).unwrap_or_else(|e| panic!("{e}: {line}"));
                }
            }
            "csv" | "samples.csv" => {
                let mut records = csv::ReaderBuilder::new().from_reader(text.as_bytes());
                for record in records.records() {
                    record.unwrap_or_else(|e| panic!("{name}: {e}: {text}"));
                }
            }
            "text" | "plot" | "markdown" | "html" => quiet(name, text),
            "ascii" => {
                quiet(name, text);
                assert!(text.is_ascii(), "{text}");
            }
            name if name.ends_with(".svg") => {
                quiet(name, text);
                roxmltree::Document::parse(text).unwrap_or_else(|e| panic!("{name}: {e}: {text}"));
            }
            _ => {}
        }
        if matches!(*name, "json" | "csv" | "html" | "markdown" | "text") {
            assert!(!text.contains("NaN") || contains_nan(data), "{name}: {text}");
        }
    }
}

/// A name may well be NaN.
fn contains_nan(data: &[u8]) -> bool {
    data.windows(3).any(|w| w == b"NaN") || data.contains(&0)
}
