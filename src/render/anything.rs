//! Any report at all through every renderer that draws: numbers of every size and sign, absent ones, names of every kind.

use proptest::prelude::*;

use super::Render;
use super::chart::{Chart, Svg, terminal};
use super::fixture;
use super::html::Html;
use super::markdown::{Markdown, MarkdownOptions};
use crate::model::Observations;
use crate::report::{Cell, Comparison, Geomean, Report, Row, Table, Verdict, View, Why};
use crate::units::Unit;

/// Finite numbers, the awkward ones often.
fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        Just(0.0),
        Just(-0.0),
        Just(1.0),
        Just(f64::MIN_POSITIVE),
        Just(f64::MAX),
        Just(f64::MIN),
        1e-12..1e12f64,
        -1e3..1e3f64,
        any::<f64>().prop_filter("finite", |v| v.is_finite()),
    ]
}

/// A cell and its samples.
fn cell() -> impl Strategy<Value = Option<(Cell, Observations)>> {
    let values = proptest::collection::vec((number(), 1..1000u64, 0..12u32), 0..6);
    let cell =
        (prop::option::of(number()), prop::option::of((number(), number())), values, any::<(bool, bool, bool)>());
    prop::option::of(cell.prop_map(|(center, interval, values, (weighted, forked, infinite))| {
        let cell = Cell {
            raw: true,
            n: Some(values.len() as u64),
            center,
            lo: interval.map(|(a, b)| a.min(b)),
            hi: interval.map(|(a, b)| a.max(b)),
            confidence: 0.95,
            infinite,
            ..Cell::default()
        };
        let samples = values.iter().fold(Observations::default(), |mut o, v| {
            o.push(v.0, if weighted { v.1 } else { 1 }, forked.then_some(v.2));
            o
        });
        (cell, samples)
    }))
}

fn comparison() -> impl Strategy<Value = Option<Comparison>> {
    let verdict = prop_oneof![
        Just(Verdict::Better { confirmed: true }),
        Just(Verdict::Worse { confirmed: false }),
        Just(Verdict::Changed { confirmed: true }),
        Just(Verdict::Same),
        Just(Verdict::Unclear),
        Just(Verdict::Untested),
    ];
    let some = || prop::option::of(number());
    let why =
        prop_oneof![Just(None), Just(Some(Why::OneSide)), Just(Some(Why::Pooled)), Just(Some(Why::MixedSummaries))];
    prop::option::of((some(), some(), some(), some(), some(), any::<bool>(), verdict, why).prop_map(
        |(delta_pct, difference, ratio, lo, hi, turned, verdict, why)| Comparison {
            delta_pct,
            difference,
            ratio,
            lo,
            hi,
            turned,
            why,
            ..fixture::compared(1.0, 1.0, 0.0, 0.0, 0.5, verdict)
        },
    ))
}

fn table() -> impl Strategy<Value = Table> {
    let row = |n: usize| {
        (
            any::<String>(),
            proptest::collection::vec(cell(), n),
            proptest::collection::vec(comparison(), n),
            any::<bool>(),
        )
    };
    let units = ["sec/op", "op/sec", "B/sec", "B/op", "p99-sec/op", "widgets", "", "p50-sec/op", "a|`<b>"];
    (1..5usize)
        .prop_flat_map(move |n| {
            let rows = proptest::collection::vec(row(n), 1..6);
            let labels = proptest::collection::vec(any::<String>(), n);
            let ratios = proptest::collection::vec(prop::option::of(number()), n);
            (Just(n), prop::option::of(0..n), rows, labels, ratios, prop::sample::select(units.to_vec()))
        })
        .prop_map(|(n, base, rows, labels, ratios, unit)| {
            let mut table = fixture::table_of(&[]);
            table.columns =
                labels.into_iter().map(|label| crate::pivot::Column { label, keys: vec![], fields: 0 }).collect();
            table.unit = Unit::new(unit, unit);
            table.base = base.filter(|_| n > 1);
            table.geomean = Some(Geomean {
                rows: rows.len(),
                centers: ratios.clone(),
                intervals: ratios.iter().map(|r| r.map(|r| (r, r))).collect(),
                ratios,
                notes: vec![],
            });
            table.notes = vec!["a *note* | <b>".into()];
            table.rows = rows
                .into_iter()
                .map(|(name, cells, mut comparisons, hidden)| {
                    if let Some(c) = table.base.and_then(|b| comparisons.get_mut(b)) {
                        *c = None;
                    }
                    if table.base.is_none() {
                        comparisons.fill(None);
                    }
                    let (cells, samples): (Vec<_>, Vec<_>) = cells.into_iter().map(Option::unzip).unzip();
                    let mut row = Row::new(name.into(), [].into(), cells);
                    row.note(0);
                    (row.hidden, row.beyond_limit) = (hidden, hidden);
                    for (i, c) in comparisons.iter().enumerate() {
                        c.iter().for_each(|c| row.compare(i, c));
                    }
                    row.keep_samples(samples);
                    row
                })
                .collect();
            table
        })
}

fn report() -> impl Strategy<Value = Report> {
    (proptest::collection::vec(table(), 0..3), any::<bool>()).prop_map(|(tables, relative)| {
        let mut report = fixture::report(tables);
        report.settings.view = if relative { View::Relative } else { View::Change };
        report
    })
}

fn text(renderer: &dyn Render, report: &Report) -> String {
    let mut out = Vec::new();
    renderer.render(report, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn markdown_keeps_its_tables_and_its_limit(report in report(), max in 500..5000usize) {
        let options = MarkdownOptions { max_bytes: max, ..MarkdownOptions::default() };
        let text = text(&Markdown(options), &report);
        prop_assert!(text.len() <= max.max(2000), "{} > {max}", text.len());
        prop_assert!(!text.contains("NaN"));
        prop_assert!(text.matches("<details>").count() == text.matches("</details>").count());
        for block in text.split("\n\n").filter(|b| b.starts_with("| ")) {
            let bars = |l: &str| l.replace("\\|", "").matches('|').count();
            let lines: Vec<&str> = block.lines().collect();
            prop_assert!(lines.iter().all(|l| bars(l) == bars(lines[1])), "{block}");
        }
    }

    #[test]
    fn pictures_are_xml_with_places_that_are_numbers(report in report()) {
        for chart in [Chart::Forest, Chart::Lines, Chart::Strips, Chart::Percentiles] {
            let svg = text(&Svg { chart, ..Svg::default() }, &report);
            let xml = roxmltree::Document::parse(&svg);
            prop_assert!(xml.is_ok(), "{chart:?}: {xml:?}");
            for node in xml.unwrap().descendants() {
                for name in ["x", "y", "x1", "y1", "x2", "y2", "cx", "cy", "r", "width", "height"] {
                    if let Some(v) = node.attribute(name) {
                        prop_assert!(v.parse::<f64>().is_ok_and(|v| v.abs() < 1e5), "{chart:?}: {name}={v}");
                    }
                }
            }
        }
    }

    #[test]
    fn pages_and_plots_of_anything(report in report(), width in 0..200usize, ascii: bool) {
        let page = text(&Html::default(), &report);
        prop_assert!(page.ends_with("</html>\n"));
        for line in terminal::plot(&report, width, ascii, false).lines() {
            // Numbers are never cut: two huge ones with their units need this much.
            prop_assert!(unicode_width::UnicodeWidthStr::width(line) <= width.max(80), "{line}");
            prop_assert!(!ascii || line.is_ascii());
        }
    }
}
