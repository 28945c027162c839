//! One HTML file: summary, charts and sortable tables. No network, light and dark, prints, and works with scripts off.
//!
//! All rows of the report are in the tables, also those that text and Markdown leave out, up to [`TABLE_ROWS`] a table; charts
//! show the rows that matter most and say how many they leave out. Names are text: the markup writer escapes them, control
//! characters are written out, and the page forbids itself every request.

use std::io;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::Render;
use super::chart::{self, forest, lines, percentiles, strips, svg};
use super::order::heaviest;
use crate::base::{Severity, printable};
use crate::pivot::Pair;
use crate::report::{Cell, Comparison, Correction, GateOutcome, Report, Row, Table, Verdict, View, Why};
use crate::units::show::{Scale, Spelling, p_value, percent};

/// Rows of one table on the page; a browser lays out this many in about a second.
pub const TABLE_ROWS: usize = 20_000;

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("sort.js");

/// `-f html`
#[derive(Clone, Copy, Debug, Default)]
pub struct Html {
    /// Relative view: plain new / base instead of turned by direction.
    pub raw_ratio: bool,
}

impl Render for Html {
    fn render(&self, report: &Report, out: &mut dyn io::Write) -> io::Result<()> {
        out.write_all(page(report, *self).into_string().as_bytes())
    }
}

fn page(report: &Report, options: Html) -> Markup {
    let title = headline(report);
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy"
                    content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { "abstat: " (title) }
                style { (PreEscaped(STYLE)) (PreEscaped(svg::css())) }
            }
            body {
                main {
                    h1 { @if counts(report).is_empty() { "Benchmark results" } @else { "Benchmark comparison" } }
                    (summary(report))
                    @for (i, table) in report.tables.iter().enumerate() { (section(report, table, i, options)) }
                    (distributions(report))
                    (colophon(report))
                }
                script { (PreEscaped(SCRIPT)) }
            }
        }
        (PreEscaped("\n"))
    }
}

/// `1 slower, 1 faster, 37 same`
fn headline(report: &Report) -> String {
    let counts: Vec<String> = counts(report).iter().map(|(n, word, _)| format!("{n} {word}")).collect();
    if counts.is_empty() { "nothing to compare".to_owned() } else { counts.join(", ") }
}

/// Number, word and class of the verdicts that occur; none when nothing is compared.
fn counts(report: &Report) -> Vec<(usize, &'static str, &'static str)> {
    if report.tables.iter().all(|t| t.base.is_none()) {
        return vec![];
    }
    let s = &report.summary;
    let all = [
        (s.slower, "slower", "worse"),
        (s.faster, "faster", "better"),
        (s.changed, "changed", "changed"),
        (s.same, "same", "same"),
        (s.unclear, "unclear", "unclear"),
        (s.untested, "untested", "untested"),
        (s.unmatched, "unmatched", "untested"),
    ];
    all.into_iter().filter(|(n, word, _)| *n > 0 || matches!(*word, "slower" | "faster")).collect()
}

fn summary(report: &Report) -> Markup {
    let counts = counts(report);
    let s = &report.summary;
    html! {
        @if counts.is_empty() {
            p { "Nothing to compare with: one column." }
        } @else {
            ul.counts {
                @for (n, word, class) in &counts { li class=(class) { b { (n) } " " (word) } }
            }
            p.dim {
                "About " (one_decimal(s.expected_false)) " false calls expected by chance; "
                (s.after_correction) " changes stand" (correction_words(report.settings.correction)) "."
            }
        }
        @for gate in &report.gates { (gate_line(report, gate)) }
        @for w in report.warnings.iter().filter(|w| w.severity == Severity::Warning).take(20) {
            div.warning { (printable(&w.message)) }
        }
        @let more = report.warnings.iter().filter(|w| w.severity == Severity::Warning).count().saturating_sub(20);
        @if more > 0 { div.warning { "and " (more) " more warnings" } }
        @let constant = report.tables.first().map(|t| t.keys.iter().filter(|kv| shared(report, kv)).collect::<Vec<_>>()).unwrap_or_default();
        @if !constant.is_empty() {
            p.dim {
                @for (i, (k, v)) in constant.iter().enumerate() { @if i > 0 { " · " } (printable(k)) ": " (printable(v)) }
            }
        }
        @if report.tables.len() > 1 {
            nav { p { "Tables: "
                @for (i, t) in report.tables.iter().enumerate() {
                    @if i > 0 { ", " }
                    a href=(format!("#t{i}")) { (printable(&t.unit.name)) }
                }
            } }
        }
    }
}

/// Whether all tables have this setting.
fn shared(report: &Report, setting: &Pair) -> bool {
    report.tables.iter().all(|t| t.keys.contains(setting))
}

fn one_decimal(x: f64) -> String {
    if x >= 10.0 { format!("{x:.0}") } else { format!("{x:.1}") }
}

fn correction_words(correction: Correction) -> &'static str {
    match correction {
        Correction::Holm => " after Holm",
        Correction::Bh => " after Benjamini-Hochberg",
        Correction::None => "",
    }
}

fn gate_line(report: &Report, gate: &GateOutcome) -> Markup {
    let units = report.tables.windows(2).any(|t| t[0].unit.name != t[1].unit.name);
    let class = match (gate.tripped, gate.judged) {
        (true, _) => "gate tripped",
        (false, 0) => "gate unknown",
        (false, _) => "gate",
    };
    html! {
        div class=(class) {
            "gate " code { (printable(&gate.rule)) }
            @if gate.tripped {
                @if gate.rows.iter().all(|r| r.unit.is_empty()) {
                    " tripped, the sides differ in: "
                } @else {
                    " tripped by " (gate.rows.len()) " of " (gate.judged) " rows: "
                }
                @for (i, row) in gate.rows.iter().take(10).enumerate() {
                    @if i > 0 { ", " }
                    code { (printable(&row.name)) }
                    @if units { " " (printable(&row.unit)) }
                    @if let Some(d) = row.delta_pct { " " (minus(&percent(d))) }
                }
                @if gate.rows.len() > 10 { " and " (gate.rows.len() - 10) " more" }
            } @else if gate.judged == 0 {
                " could judge nothing"
            } @else {
                " passed: none of " (gate.judged) " rows"
            }
        }
    }
}

/// One table with its charts.
fn section(report: &Report, table: &Table, index: usize, options: Html) -> Markup {
    let forest =
        forest::Forest::of(table, &report.settings, chart::FOREST_ROWS).map(|f| forest::figure(&f, chart::WIDTH));
    let lines = if lines::has_lines(table) {
        lines::figure(table, options.raw_ratio, chart::LINES, chart::WIDTH)
    } else {
        None
    };
    let strips = strips::figure(table, chart::STRIP_ROWS, chart::WIDTH);
    html! {
        section {
            h2 id=(format!("t{index}")) {
                (printable(&table.unit.name))
                small {
                    @if let Some(words) = table.direction_words() { ", " (words) }
                    @if let Some(runs) = table.runs_words() { ", " (runs) " each" }
                    @for (k, v) in table.keys.iter().filter(|kv| !shared(report, kv)) { " · " (printable(k)) ": " (printable(v)) }
                }
            }
            (rows(report, table, options))
            @if let Some(f) = &lines { (figure("Over the columns", f, true)) }
            @if let Some(f) = &forest { (figure("Changes and their intervals", f, true)) }
            @if let Some(f) = &strips { (figure("Values", f, false)) }
        }
    }
}

/// A chart; long ones are folded.
fn figure(heading: &str, figure: &svg::Figure, open: bool) -> Markup {
    html! {
        details open[open] {
            summary { (svg::plain(heading)) }
            figure {
                figcaption { (svg::plain(&figure.title)) @if let Some(n) = &figure.note { " (" (svg::plain(n)) ")" } }
                (chart::inline(figure))
            }
        }
    }
}

fn distributions(report: &Report) -> Markup {
    let all = percentiles::distributions(report);
    let figures: Vec<_> =
        all.iter().filter_map(|d| percentiles::figure(d, chart::WIDTH)).take(chart::DISTRIBUTIONS).collect();
    html! {
        @if !figures.is_empty() {
            section {
                h2 { "Percentiles" }
                @for f in &figures { (figure(&f.title, f, true)) }
                @if all.len() > figures.len() { p.dim { (all.len() - figures.len()) " more benchmarks are not drawn." } }
            }
        }
    }
}

/// What stands in the columns of the table.
#[derive(Clone, Copy, PartialEq)]
enum Part {
    Center,
    Change,
    Interval,
    P,
    Verdict,
    Relative,
}

/// The table itself.
fn rows(report: &Report, table: &Table, options: Html) -> Markup {
    let parts = parts(report, table);
    let (shown, left_out) = heaviest(table, TABLE_ROWS, |_| true);
    let used: Vec<usize> = {
        let mut used: Vec<usize> = shown.iter().flat_map(|r| r.notes()).collect();
        used.sort_unstable();
        used.dedup();
        used
    };
    html! {
        div.wide {
            table.rows {
                @if left_out > 0 {
                    caption { (left_out) " rows are left out: changed ones first, then the largest are kept; -f csv has all" }
                }
                thead { tr {
                    th scope="col" { "benchmark" }
                    @for (column, part) in &parts {
                        th scope="col" class=[(*part == Part::Verdict).then_some("left")] { (heading(report, table, *column, *part)) }
                    }
                } }
                tbody {
                    @for row in &shown { (line(table, row, &parts, options)) }
                }
                @if let Some(g) = table.geomean.as_ref().filter(|g| g.rows > 1) {
                    tfoot { tr {
                        td { "geomean of " (g.rows) }
                        @let scale = Scale::of(&table.unit, g.centers.iter().flatten().copied());
                        @for (column, part) in &parts {
                            td {
                                @let ratio = g.ratios.get(*column).copied().flatten();
                                @match part {
                                    Part::Center => @if let Some(c) = g.centers.get(*column).copied().flatten() { (scale.show(c, Spelling::default())) }
                                    Part::Change => @if let Some(r) = ratio { (minus(&percent(100.0 * (r - 1.0)))) }
                                    Part::Interval => @if let Some((lo, hi)) = g.intervals.get(*column).copied().flatten() {
                                        (range(100.0 * (lo - 1.0), 100.0 * (hi - 1.0)))
                                    }
                                    Part::Relative => @if let Some(r) = ratio { (format!("{:.2}", if options.raw_ratio { r } else { turned(table, r) })) }
                                    Part::P | Part::Verdict => {}
                                }
                            }
                        }
                    } }
                }
            }
        }
        @if !used.is_empty() || table.geomean.as_ref().is_some_and(|g| !g.notes.is_empty()) {
            ul.notes {
                @for n in &used { @if let Some(text) = table.notes.get(*n) { li { "[" (n + 1) "] " (printable(text)) } } }
                @for text in table.geomean.iter().flat_map(|g| &g.notes) { li { "geomean: " (printable(text)) } }
            }
        }
    }
}

fn parts(report: &Report, table: &Table) -> Vec<(usize, Part)> {
    let mut parts = Vec::new();
    for column in 0..table.columns.len() {
        let compared = table.base.is_some_and(|b| b != column);
        let kinds: &[Part] = match (compared, report.settings.view) {
            (false, _) => &[Part::Center],
            (true, View::Relative) => &[Part::Relative, Part::Verdict],
            (true, View::Change) if table.columns.len() == 2 => {
                &[Part::Center, Part::Change, Part::Interval, Part::P, Part::Verdict]
            }
            (true, View::Change) => &[Part::Center, Part::Change, Part::Verdict],
        };
        parts.extend(kinds.iter().map(|k| (column, *k)));
    }
    parts
}

fn heading(report: &Report, table: &Table, column: usize, part: Part) -> Markup {
    let label = table.columns.get(column).map(|c| printable(&c.label).into_owned()).unwrap_or_default();
    let label = if part == Part::Center || table.columns.len() > 2 { label } else { String::new() };
    let interval = format!("{} % interval", trimmed(report.settings.confidence * 100.0));
    let text = match part {
        Part::Interval => &interval,
        Part::Center => "",
        Part::Change => "change",
        Part::P => "p",
        Part::Verdict => "verdict",
        Part::Relative => "ratio",
    };
    html! {
        @if !label.is_empty() { @if text.is_empty() { (label) } @else { small { (label) } } }
        (text)
    }
}

fn line(table: &Table, row: &Row, parts: &[(usize, Part)], options: Html) -> Markup {
    let scale = Scale::of(&table.unit, row.cells().flatten().filter_map(|c| c.center));
    let last = parts.iter().rposition(|(_, p)| *p == Part::Verdict);
    html! {
        tr {
            td.name {
                (printable(&row.display_name()))
                // With verdicts in the table the footnotes stand there.
                @if last.is_none() { (marks(row)) }
            }
            @for (i, (column, part)) in parts.iter().enumerate() {
                @let c = row.comparison(*column);
                @match (part, c) {
                    (Part::Center, _) => (center(row.cell(*column).as_ref(), &scale)),
                    (Part::Change, Some(c)) => (change(&c, &scale)),
                    (Part::Interval, Some(c)) => @match c.interval_pct() {
                        Some((lo, hi)) => td data-v=[c.ratio] { (range(lo, hi)) },
                        None => td data-none="" { "–" },
                    },
                    (Part::P, Some(c)) => @match c.p {
                        Some(p) => td data-v=(p) { (p_value(p, 3)) },
                        None => td data-none="" { "–" },
                    },
                    (Part::Relative, Some(c)) => @match if options.raw_ratio { c.ratio } else { c.relative() } {
                        Some(r) => td data-v=(r) class=(class(c.verdict)) { (format!("{r:.2}")) },
                        None => td data-none="" { "–" },
                    },
                    (Part::Verdict, Some(c)) => td class=(format!("left {}", class(c.verdict))) {
                        (verdict(table, row, *column, &c)) @if last == Some(i) { (marks(row)) }
                    },
                    (Part::Verdict, None) => td.left data-none="" { @if last == Some(i) { (marks(row)) } },
                    (_, None) => td data-none="" { "–" },
                }
            }
        }
    }
}

/// ` [1] [2]`
fn marks(row: &Row) -> Markup {
    html! { @for n in row.notes() { span.dim { " [" (n + 1) "]" } } }
}

fn center(cell: Option<&Cell>, scale: &Scale) -> Markup {
    let Some((cell, v)) = cell.and_then(|c| Some((c, c.center?))) else {
        return html! { td data-none="" { "–" } };
    };
    let error = match (cell.infinite, cell.error_pct()) {
        (true, _) => " ± ∞".to_owned(),
        (false, Some(e)) if e > 0.0 && e < 0.095 => format!(" ± {e:.1}%"),
        (false, Some(e)) => format!(" ± {e:.0}%"),
        (false, None) => String::new(),
    };
    html! {
        td data-v=(v) title=[cell.n.map(|n| n_words(cell, n))] {
            @if cell.approximate { "≈ " }
            (scale.show(v, Spelling::default())) span.dim { (error) }
        }
    }
}

fn n_words(cell: &Cell, n: u64) -> String {
    let values = if n == 1 { "1 value".to_owned() } else { format!("{n} values") };
    match cell.forks {
        Some(1) => format!("{values} of one process"),
        Some(f) => format!("{values} of {f} processes"),
        None => values,
    }
}

fn change(c: &Comparison, scale: &Scale) -> Markup {
    let class = class(c.verdict);
    match (c.delta_pct, c.difference) {
        (Some(d), _) => html! { td data-v=(d) class=(class) { (minus(&percent(d))) } },
        (None, Some(d)) => {
            let text = format!("{}{}", if d < 0.0 { "−" } else { "+" }, scale.show(d.abs(), Spelling::default()));
            // A change from nothing is larger than every percentage.
            html! { td data-v=(if d < 0.0 { "-1e308" } else { "1e308" }) class=(class) { (text) } }
        }
        (None, None) => html! { td data-none="" { "–" } },
    }
}

fn verdict(table: &Table, row: &Row, column: usize, c: &Comparison) -> String {
    let word = c.verdict.word(table.unit.dim());
    if c.verdict == Verdict::Untested && c.why == Some(Why::OneSide) {
        let at = if row.has(c.base) { c.base } else { column };
        let label = table.columns.get(at).map(|c| printable(&c.label).into_owned());
        return label.map_or_else(|| "only on one side".to_owned(), |l| format!("only in {l}"));
    }
    let sign = match c.verdict {
        Verdict::Better { .. } => "▲ ",
        Verdict::Worse { .. } => "▼ ",
        Verdict::Changed { .. } => "◆ ",
        _ => "",
    };
    format!("{sign}{word}")
}

fn class(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Better { confirmed: true } => "better sure",
        Verdict::Better { .. } => "better",
        Verdict::Worse { confirmed: true } => "worse sure",
        Verdict::Worse { .. } => "worse",
        Verdict::Changed { confirmed: true } => "changed sure",
        Verdict::Changed { .. } => "changed",
        Verdict::Unclear => "unclear",
        Verdict::Same => "same",
        Verdict::Untested => "untested",
    }
}

/// Above 1 when better.
fn turned(table: &Table, ratio: f64) -> f64 {
    if table.unit.better == Some(crate::units::Direction::Lower) { 1.0 / ratio } else { ratio }
}

fn minus(text: &str) -> String {
    text.replace('-', "−")
}

/// At most three decimals: 95, 99.9; products of decimals are not exact.
fn trimmed(x: f64) -> String {
    let text = format!("{x:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// `−17.9 … −16.5%`
fn range(lo: f64, hi: f64) -> String {
    let end = |v: f64, open: &str| {
        if v.is_finite() { minus(percent(v).trim_end_matches('%')) } else { open.to_owned() }
    };
    format!("{} … {}%", end(lo, "−∞"), end(hi, "+∞"))
}

/// Inputs and settings.
fn colophon(report: &Report) -> Markup {
    let s = &report.settings;
    html! {
        section {
            h2 { "Inputs and method" }
            div.wide { table {
                thead { tr { th { "input" } th.left { "path" } th.left { "format" } th { "results" } th { "skipped" } } }
                tbody { @for i in &report.inputs {
                    tr {
                        td.name { (printable(&i.label)) }
                        td.left.name { (printable(&i.path)) }
                        td.left { (i.formats.join("+")) }
                        td { (i.results) }
                        td { (i.skipped) }
                    }
                } }
            } }
            p.dim {
                "Significant: p ≤ " (s.alpha) (correction_words(s.correction)) ". Intervals: " (trimmed(s.confidence * 100.0))
                " %. Same: the whole interval inside ±" (trimmed(s.margin * 100.0)) " %. A ? marks a change that is significant for its row "
                "alone but not confirmed. " "Made by abstat " (env!("CARGO_PKG_VERSION")) "."
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::fixture;

    fn html(report: &Report) -> String {
        let mut out = Vec::new();
        Html::default().render(report, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    fn everything() -> Report {
        let mut report = fixture::rich();
        report.tables.extend(fixture::percentiles());
        report
    }

    #[test]
    fn a_table_that_is_too_long_says_what_it_leaves_out() {
        let text = html(&fixture::large(TABLE_ROWS + 5));
        assert!(text.contains("5 rows are left out"));
        assert_eq!(text.matches("<tr><td class=\"name\">Suite/case=").count(), TABLE_ROWS);
        // All changed rows are among those kept.
        assert_eq!(text.matches("▼ slower").count(), TABLE_ROWS.div_ceil(100) + 1);
    }

    #[test]
    fn the_page_asks_for_nothing_and_has_every_row() {
        let text = html(&everything());
        assert!(text.starts_with("<!DOCTYPE html>") && text.contains("default-src 'none'"));
        for no in ["http://", "https://", "src=", "@import", "url("] {
            assert!(!text.contains(no), "{no}");
        }
        for table in everything().tables {
            for row in &table.rows {
                let escaped = printable(&row.name)
                    .replace('&', "&amp;")
                    .replace('<', "&lt;")
                    .replace('>', "&gt;")
                    .replace('"', "&quot;");
                assert!(text.contains(&format!("<td class=\"name\">{escaped}")), "{escaped}");
            }
        }
    }

    #[test]
    fn ratios_are_turned_unless_asked_for_raw() {
        let mut report = fixture::report(vec![fixture::table_of(&[("x", 100.0, 80.0, (-22.0, -18.0))])]);
        report.settings.view = View::Relative;
        report.tables[0].rows[0].edit_comparison(1, |c| c.turned = true);
        let with = |raw_ratio: bool| {
            let mut out = Vec::new();
            Html { raw_ratio }.render(&report, &mut out).unwrap();
            String::from_utf8(out).unwrap()
        };
        assert!(with(false).contains(">1.25</td>") && with(true).contains(">0.80</td>"));
    }

    /// For a look with one's own eyes and for the browser test: `ABSTAT_PICTURES=/tmp/x cargo test pages_to_look_at`.
    #[test]
    fn pages_to_look_at() {
        let Some(dir) = std::env::var_os("ABSTAT_PICTURES") else { return };
        let write =
            |name: &str, report: &Report| std::fs::write(std::path::Path::new(&dir).join(name), html(report)).unwrap();
        write("rich.html", &everything());
        write("relative.html", &fixture::relative());
        write("single.html", &fixture::report(vec![fixture::single()]));
        write("large.html", &fixture::large(12_000));
    }
}
