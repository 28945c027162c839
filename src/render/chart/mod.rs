//! Pictures of a report: forest plots, strips of samples, lines over versions and percentiles, as SVG and in text.
//!
//! The SVG is written here on the markup writer that the HTML report uses. plotters (0.3.7) was looked at first: its SVG backend
//! rounds every place to whole pixels, writes colours into each element, so that one picture cannot be light and dark by CSS,
//! and gives elements no `<title>`.

pub mod axis;
pub mod forest;
pub mod lines;
pub mod percentiles;
pub mod strips;
pub mod svg;
pub mod terminal;

use std::io;

use maud::{Markup, PreEscaped, html};

use self::svg::{Anchor, Figure};
use super::Render;
use crate::report::Report;

/// Comparisons in one forest plot.
pub const FOREST_ROWS: usize = 50;
/// Rows of one strips chart.
pub const STRIP_ROWS: usize = 24;
/// Lines of one chart.
pub const LINES: usize = 16;
/// Percentile plots of a report.
pub const DISTRIBUTIONS: usize = 8;
/// Pixels.
pub const WIDTH: f64 = 920.0;

/// Kinds of pictures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Chart {
    /// Changes with their intervals.
    #[default]
    Forest,
    /// Ratios over the columns.
    Lines,
    /// A dot per sample.
    Strips,
    /// Latency percentiles.
    Percentiles,
}

/// `-f svg`: all charts of one kind below one another.
#[derive(Clone, Copy, Debug, Default)]
pub struct Svg {
    /// Which.
    pub chart: Chart,
    /// Lines of plain new / base instead of turned by direction.
    pub raw_ratio: bool,
}

impl Render for Svg {
    fn render(&self, report: &Report, out: &mut dyn io::Write) -> io::Result<()> {
        out.write_all(document(&figures(report, *self), self.chart).into_string().as_bytes())
    }
}

/// The charts of one kind, in the order of the tables.
pub fn figures(report: &Report, svg: Svg) -> Vec<Figure> {
    let tables = report.tables.iter();
    match svg.chart {
        Chart::Forest => tables
            .filter_map(|t| forest::Forest::of(t, &report.settings, FOREST_ROWS))
            .map(|f| forest::figure(&f, WIDTH))
            .collect(),
        Chart::Lines => tables.filter_map(|t| lines::figure(t, svg.raw_ratio, LINES, WIDTH)).collect(),
        Chart::Strips => tables.filter_map(|t| strips::figure(t, STRIP_ROWS, WIDTH)).collect(),
        Chart::Percentiles => {
            let all = percentiles::distributions(report);
            let mut figures: Vec<Figure> =
                all.iter().filter_map(|d| percentiles::figure(d, WIDTH)).take(DISTRIBUTIONS).collect();
            if let (Some(more @ 1..), Some(last)) = (all.len().checked_sub(figures.len()), figures.last_mut()) {
                let note = last.note.take().unwrap_or_default();
                last.note = Some(format!("{note}; {more} more benchmarks are not drawn"));
            }
            figures
        }
    }
}

/// One chart for a page that has [`svg::css`].
pub fn inline(figure: &Figure) -> Markup {
    html! {
        svg.chart role="img" viewBox=(view_box(figure.width, figure.height)) aria-label=(svg::plain(&figure.title)) {
            title { (svg::plain(&figure.title)) }
            (figure.body)
        }
    }
}

fn view_box(width: f64, height: f64) -> String {
    format!("0 0 {} {}", svg::px(width), svg::px(height))
}

/// A file of its own.
fn document(figures: &[Figure], chart: Chart) -> Markup {
    const HEAD: f64 = 34.0;
    const GAP: f64 = 26.0;
    let width = figures.iter().map(|f| f.width).fold(320.0, f64::max);
    let mut tops = vec![10.0];
    for f in figures {
        tops.push(tops.last().copied().unwrap_or(0.0) + HEAD + f.height + GAP);
    }
    let height = tops.last().copied().unwrap_or(0.0).max(60.0);
    let title = match figures {
        [one] => one.title.clone(),
        _ => format!("{} of {} tables", word(chart), figures.len()),
    };
    html! {
        (PreEscaped("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"))
        svg.chart xmlns="http://www.w3.org/2000/svg" role="img" width=(svg::px(width)) height=(svg::px(height))
            viewBox=(view_box(width, height)) {
            title { (svg::plain(&title)) }
            style { (PreEscaped(svg::css())) }
            (svg::rect("ground", (0.0, width), (0.0, height)))
            @for (figure, top) in figures.iter().zip(&tops) {
                g transform=(format!("translate(0 {})", svg::px(*top))) {
                    (svg::text("title", (12.0, 12.0), Anchor::Start, &figure.title))
                    @if let Some(note) = &figure.note {
                        (svg::text("dim", (12.0, 28.0), Anchor::Start, note))
                    }
                    g transform=(format!("translate(0 {})", svg::px(HEAD))) { (figure.body) }
                }
            }
            @if figures.is_empty() {
                (svg::text("dim", (12.0, 30.0), Anchor::Start, &format!("nothing to draw as {}{}", word(chart), needs(chart))))
            }
        }
        (PreEscaped("\n"))
    }
}

/// What a chart needs that is not there.
fn needs(chart: Chart) -> &'static str {
    match chart {
        Chart::Forest | Chart::Lines => ": nothing is compared",
        Chart::Strips => ": no single values are known",
        Chart::Percentiles => ": no percentiles and no histograms are known",
    }
}

fn word(chart: Chart) -> &'static str {
    match chart {
        Chart::Forest => "changes",
        Chart::Lines => "relative lines",
        Chart::Strips => "values",
        Chart::Percentiles => "percentiles",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::fixture;

    const KINDS: [Chart; 4] = [Chart::Forest, Chart::Lines, Chart::Strips, Chart::Percentiles];

    fn svg(report: &Report, chart: Chart) -> String {
        let mut out = Vec::new();
        Svg { chart, ..Svg::default() }.render(report, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    fn all() -> Report {
        let mut tables = fixture::rich().tables;
        tables.extend(fixture::percentiles());
        fixture::report(tables)
    }

    /// Texts of all elements called `name`.
    fn texts(svg: &str, name: &str) -> Vec<String> {
        let xml = roxmltree::Document::parse(svg).unwrap();
        let named = xml.descendants().filter(|n| n.has_tag_name(("http://www.w3.org/2000/svg", name)));
        named.map(|n| n.text().unwrap_or_default().to_owned()).collect()
    }

    #[test]
    fn every_chart_is_xml_and_holds_hostile_names_as_text() {
        for chart in KINDS {
            let svg = svg(&all(), chart);
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{chart:?}");
            let titles = texts(&svg, "title");
            assert!(titles.len() > 3, "{chart:?}: {titles:?}");
            if chart != Chart::Percentiles {
                for name in fixture::HOSTILE {
                    let name = svg::plain(name);
                    assert!(titles.iter().any(|t| t.contains(&name)), "{chart:?}: {name} is not among {titles:?}");
                }
            }
            // One style sheet for both schemes, no colour on an element, nothing to fetch.
            assert_eq!(svg.matches("prefers-color-scheme").count(), 1);
            for no in ["fill=", "stroke=", "style=", "href", "<script"] {
                assert!(!svg.contains(no), "{chart:?}: {no}");
            }
        }
    }

    #[test]
    fn marks_stand_at_their_numbers() {
        let table = fixture::table_of(&[("x", 100.0, 121.0, (10.0, 33.1)), ("y", 100.0, 90.909_090_9, (-20.0, -5.0))]);
        let svg = svg(&fixture::report(vec![table]), Chart::Forest);
        let xml = roxmltree::Document::parse(&svg).unwrap();
        let x = |n: &roxmltree::Node<'_, '_>, a: &str| n.attribute(a).unwrap().parse::<f64>().unwrap();
        let zero = xml.descendants().find(|n| n.attribute("class") == Some("zero")).map(|n| x(&n, "x1")).unwrap();
        let groups: Vec<_> =
            xml.descendants().filter(|n| n.has_tag_name("g") && n.attribute("transform").is_none()).collect();
        let at = |g: &roxmltree::Node<'_, '_>| {
            let line = g.children().find(|n| n.attribute("class").is_some_and(|c| c.starts_with("whisker"))).unwrap();
            let points =
                g.children().find(|n| n.has_tag_name("polygon")).unwrap().attribute("points").unwrap().to_owned();
            let xs: Vec<f64> = points.split(' ').map(|p| p.split(',').next().unwrap().parse().unwrap()).collect();
            let middle =
                (xs.iter().copied().fold(f64::MAX, f64::min) + xs.iter().copied().fold(f64::MIN, f64::max)) / 2.0;
            (x(&line, "x1"), middle, x(&line, "x2"))
        };
        let (up, down) = (at(&groups[0]), at(&groups[1]));
        // 1.1, 1.21 and 1.331 are equally far apart, and 1 / 1.1 as far on the other side.
        let step = up.0 - zero;
        assert!(step > 10.0, "{step}");
        for (got, want) in [(up.1 - zero, 2.0), (up.2 - zero, 3.0), (down.1 - zero, -1.0)] {
            assert!((got / step - want).abs() < 0.02, "{got} is not {want} times {step}");
        }
    }

    #[test]
    fn a_large_report_has_small_charts_that_say_so() {
        for chart in [Chart::Forest, Chart::Lines, Chart::Strips] {
            let svg = svg(&fixture::large(12_000), chart);
            assert!(svg.len() < 200_000, "{chart:?}: {}", svg.len());
            assert!(texts(&svg, "text").iter().any(|t| t.contains(" of 12000 rows drawn")), "{chart:?}");
        }
    }

    #[test]
    fn without_anything_to_draw_the_picture_says_why() {
        let mut table = fixture::single();
        table.rows.iter_mut().for_each(|r| r.keep_samples(vec![]));
        let report = fixture::report(vec![table]);
        for chart in KINDS {
            let svg = svg(&report, chart);
            assert!(texts(&svg, "text")[0].starts_with("nothing to draw as "), "{svg}");
        }
    }

    /// For a look with one's own eyes: `ABSTAT_PICTURES=/tmp/x cargo test pictures_to_look_at`.
    #[test]
    fn pictures_to_look_at() {
        let Some(dir) = std::env::var_os("ABSTAT_PICTURES") else { return };
        for chart in KINDS {
            std::fs::write(std::path::Path::new(&dir).join(format!("{chart:?}.svg")), svg(&all(), chart)).unwrap();
        }
    }
}
