//! Percentile plot of latencies: the share of calls on an axis of nines, the value on a log axis, a line per column.
//!
//! The points are metrics whose units name a percentile (`p50-sec/op`, `p99.9-sec/op`), or values with counts (histograms), of
//! which the shares are the places.

use maud::html;

use super::axis::{Axis, widened};
use super::svg::{self, Anchor, Figure, Shape};
use crate::report::{Report, Row, Table};
use crate::units::Unit;
use crate::units::show::{Scale, Spelling};

const TOP: f64 = 24.0;
const HEIGHT: f64 = 240.0;
const LEFT: f64 = 92.0;
const LABEL_MAX: usize = 24;
/// Steps of a histogram's line; of more every k-th is drawn.
const STEPS: usize = 300;

/// The distribution of one benchmark: a line per column.
pub struct Distribution {
    name: String,
    unit: Unit,
    /// Label of the column; share of calls at or below (0 to 1, below 1) and value.
    lines: Vec<(String, Vec<(f64, f64)>)>,
}

/// All distributions of a report: those of percentile units first.
pub fn distributions(report: &Report) -> Vec<Distribution> {
    let mut all: Vec<Distribution> = Vec::new();
    for table in &report.tables {
        match of_unit(&table.unit.name) {
            Some((share, rest)) => table.rows.iter().for_each(|row| add(&mut all, table, row, share, rest)),
            None => all.extend(table.rows.iter().filter_map(|row| histogram(table, row))),
        }
    }
    for line in all.iter_mut().flat_map(|d| &mut d.lines) {
        line.1.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    // One point makes no line.
    all.retain(|d| d.lines.iter().any(|l| l.1.len() > 1));
    all
}

/// `p99.9-sec/op` is a share of 0.999 and the unit `sec/op`.
fn of_unit(name: &str) -> Option<(f64, &str)> {
    let (percent, rest) = name.strip_prefix(['p', 'P'])?.split_once('-')?;
    let number = percent.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    let share = percent.parse::<f64>().ok().filter(|_| number)? / 100.0;
    (0.0..1.0).contains(&share).then_some((share, rest))
}

fn add(all: &mut Vec<Distribution>, table: &Table, row: &Row, share: f64, unit: &str) {
    let name = row.display_name();
    let at = all.iter().position(|d| d.name == name && *d.unit.name == *unit);
    let at = at.unwrap_or_else(|| {
        all.push(Distribution { name, unit: Unit::new(unit, unit), lines: vec![] });
        all.len() - 1
    });
    let lines = &mut all[at].lines;
    for (column, cell) in table.columns.iter().zip(row.cells()) {
        let Some(value) = cell.and_then(|c| c.center).filter(|v| *v > 0.0) else { continue };
        match lines.iter_mut().find(|(label, _)| *label == column.label) {
            Some((_, points)) => points.push((share, value)),
            None => lines.push((column.label.clone(), vec![(share, value)])),
        }
    }
}

/// Values with counts: each value at the share of calls at or below it.
fn histogram(table: &Table, row: &Row) -> Option<Distribution> {
    let line = |column: usize| {
        let o = row.samples(column)?;
        let weights = o.weights()?;
        let mut steps: Vec<(f64, u64)> =
            o.values.iter().copied().zip(weights.iter().copied()).filter(|s| s.0 > 0.0).collect();
        steps.sort_by(|a, b| a.0.total_cmp(&b.0));
        let all: u64 = steps.iter().fold(0, |a, s| a.saturating_add(s.1));
        let (mut seen, mut points) = (0u64, Vec::new());
        for (value, weight) in steps {
            // In the middle of the step, so that the last one has a place before 1.
            points.push(((seen as f64 + weight as f64 / 2.0) / all as f64, value));
            seen = seen.saturating_add(weight);
        }
        let every = points.len().div_ceil(STEPS).max(1);
        let last = points.last().copied();
        let mut thin: Vec<_> = points.into_iter().step_by(every).collect();
        thin.extend(last.filter(|l| thin.last() != Some(l)));
        Some(thin)
    };
    let columns = table.columns.iter().enumerate();
    let lines: Vec<_> = columns.filter_map(|(i, column)| Some((column.label.clone(), line(i)?))).collect();
    (!lines.is_empty()).then(|| Distribution { name: row.display_name(), unit: table.unit.clone(), lines })
}

/// Place of a share on an axis of nines: 0.9 is 1, 0.99 is 2.
fn nines(share: f64) -> f64 {
    -(1.0 - share).max(1e-12).log10()
}

/// One distribution as SVG.
pub fn figure(d: &Distribution, width: f64) -> Option<Figure> {
    let points = || d.lines.iter().flat_map(|l| &l.1);
    let shares = Axis::over(points().map(|p| nines(p.0)).chain([0.0]), false)?;
    let values = Axis::over(points().map(|p| p.1), true)?;
    let label = d.lines.iter().map(|l| svg::mono_width(&svg::cut(&l.0, LABEL_MAX))).fold(40.0, f64::max);
    let (x0, x1) = (LEFT, (width - label - 40.0).max(LEFT + 200.0));
    let x_axis = Axis { from: (shares.0, shares.1 * 1.02), to: (x0, x1), log: false };
    let pad = (values.1 / values.0).powf(0.05).max(1.02);
    let y_axis = Axis { from: widened(values, pad, true), to: (TOP + HEIGHT, TOP), log: true };
    let ticks = [
        ("min", 0.0),
        ("50%", 0.5),
        ("90%", 0.9),
        ("99%", 0.99),
        ("99.9%", 0.999),
        ("99.99%", 0.9999),
        ("99.999%", 0.99999),
    ];
    let body = html! {
        @for (text, share) in ticks.iter().filter(|t| x_axis.holds(nines(t.1))) {
            @let x = x_axis.place(nines(*share));
            (svg::line("grid", (x, TOP), (x, TOP + HEIGHT + 4.0)))
            (svg::text("dim", (x, TOP + HEIGHT + 18.0), Anchor::Middle, text))
        }
        @for tick in y_axis.round(6) {
            @let y = y_axis.place(tick);
            (svg::line("grid", (x0, y), (x1, y)))
            (svg::text("dim", (x0 - 6.0, y + 4.0), Anchor::End, &Scale::of(&d.unit, std::iter::once(tick)).show(tick, Spelling::default())))
        }
        @for (i, (column, line)) in d.lines.iter().enumerate() {
            @let series = i % svg::SERIES;
            @let places: Vec<(f64, f64)> = line.iter().map(|p| (x_axis.place(nines(p.0)), y_axis.place(p.1))).collect();
            g {
                title { (svg::plain(&format!("{}, {column}", d.name))) }
                (svg::path(&format!("way s{series} dash{}", i % 4), &places))
                // A histogram's steps are too many for marks.
                @if line.len() <= 12 {
                    @for ((share, value), at) in line.iter().zip(&places) {
                        g {
                            title { (svg::plain(&format!("{column}: {} at {}", show(d, *value), share_words(*share)))) }
                            (svg::mark(&format!("s{series}"), Shape::nth(i), *at, 4.0))
                        }
                    }
                }
                (svg::line(&format!("whisker s{series} dash{}", i % 4), (x1 + 10.0, TOP + 20.0 * i as f64 + 8.0), (x1 + 30.0, TOP + 20.0 * i as f64 + 8.0)))
                (svg::text(&format!("name s{series}"), (x1 + 36.0, TOP + 20.0 * i as f64 + 12.0), Anchor::Start, &svg::cut(column, LABEL_MAX)))
            }
        }
    };
    Some(Figure {
        width: x1 + label + 44.0,
        height: (TOP + HEIGHT + 28.0).max(TOP + 20.0 * d.lines.len() as f64 + 8.0),
        title: format!("{}: percentiles of {}", d.name, d.unit.name),
        note: Some("both axes are log scales; the value axis does not start at 0".to_owned()),
        body,
    })
}

fn show(d: &Distribution, value: f64) -> String {
    Scale::of(&d.unit, std::iter::once(value)).show(value, Spelling::default())
}

fn share_words(share: f64) -> String {
    let percent = (share * 1e7).round() / 1e5;
    format!("{percent} %")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_name_their_percentile() {
        assert_eq!(of_unit("p99-sec/op"), Some((0.99, "sec/op")));
        assert!(matches!(of_unit("p99.9-sec/op"), Some((s, "sec/op")) if (s - 0.999).abs() < 1e-12));
        for no in ["sec/op", "p-sec/op", "pages-per/op", "p100-sec/op", "p9e1-sec/op", "p99"] {
            assert_eq!(of_unit(no), None, "{no}");
        }
    }
}
