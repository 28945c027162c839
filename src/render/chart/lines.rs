//! Lines over the columns: how each row moves from version to version relative to the base, above 1.00 when better.

use maud::html;

use super::axis::{Axis, widened};
use super::svg::{self, Anchor, Figure, Shape};
use crate::render::order::heaviest;
use crate::report::{Comparison, Row, Table};
use crate::units::Direction;

const TOP: f64 = 24.0;
const HEIGHT: f64 = 300.0;
const NAME_MAX: usize = 28;

/// Where a row stands in a column: ratio and interval turned by direction.
struct Point {
    column: usize,
    ratio: f64,
    interval: Option<(f64, f64)>,
    comparison: Option<Comparison>,
}

/// The lines as SVG, ratios turned by direction unless `raw_ratio`; `None` where no row has a ratio in a compared column.
pub fn figure(table: &Table, raw_ratio: bool, max: usize, width: f64) -> Option<Figure> {
    let base = table.base?;
    let turn = |r: f64| if table.unit.better == Some(Direction::Lower) && !raw_ratio { 1.0 / r } else { r };
    let points = |row: &'_ Row| -> Vec<usize> {
        (0..row.width()).filter(|i| row.comparison(*i).and_then(|c| c.ratio).is_some_and(|r| r > 0.0)).collect()
    };
    let (rows, left_out) = heaviest(table, max, |r| !points(r).is_empty());
    if rows.is_empty() {
        return None;
    }
    let lines: Vec<(&Row, Vec<Point>)> = rows
        .iter()
        .map(|row| {
            let mut line: Vec<Point> = vec![];
            for column in 0..table.columns.len() {
                let comparison = row.comparison(column);
                match comparison.and_then(|c| Some((c, c.ratio.filter(|r| *r > 0.0)?))) {
                    _ if column == base && row.has(base) => {
                        line.push(Point { column, ratio: 1.0, interval: None, comparison: None });
                    }
                    Some((c, ratio)) => {
                        let interval = c.lo.zip(c.hi).filter(|(lo, _)| *lo > 0.0).map(|(lo, hi)| (turn(lo), turn(hi)));
                        line.push(Point { column, ratio: turn(ratio), interval, comparison: Some(c) });
                    }
                    None => {}
                }
            }
            (*row, line)
        })
        .collect();
    let ratios = lines.iter().flat_map(|(_, l)| l.iter().map(|p| p.ratio)).chain([1.0]);
    let (lo, hi) = Axis::over(ratios, true)?;
    let pad = (hi / lo).powf(0.06).max(1.005);
    let label = rows.iter().map(|r| svg::mono_width(&svg::cut(&r.display_name(), NAME_MAX))).fold(60.0, f64::max);
    let (x0, x1) = (56.0, (width - label - 30.0).max(300.0));
    let width = x1 + label + 30.0;
    let y_axis = Axis { from: widened((lo, hi), pad, true), to: (TOP + HEIGHT, TOP), log: true };
    let steps = (table.columns.len().max(2) - 1) as f64;
    let x = |column: usize| x0 + 20.0 + (x1 - x0 - 40.0) * column as f64 / steps;
    // Labels of columns are cut to the room they have.
    let room = (((x1 - x0 - 40.0) / steps / svg::mono_width("x")) as usize).clamp(4, 24);
    let ends = spread(lines.iter().map(|(_, l)| l.last().map_or(TOP, |p| y_axis.place(p.ratio))).collect());
    let body = html! {
        @for tick in y_axis.round(6) {
            @let y = y_axis.place(tick);
            (svg::line(if tick == 1.0 { "zero" } else { "grid" }, (x0, y), (x1, y)))
            (svg::text("dim", (x0 - 6.0, y + 4.0), Anchor::End, &ratio_label(tick)))
        }
        @for (i, column) in table.columns.iter().enumerate() {
            (svg::line("grid", (x(i), TOP + HEIGHT), (x(i), TOP + HEIGHT + 5.0)))
            (svg::text("name", (x(i), TOP + HEIGHT + 20.0), Anchor::Middle, &svg::cut(&column.label, room)))
        }
        @for (i, ((row, line), end)) in lines.iter().zip(&ends).enumerate() {
            @let name = row.display_name();
            @let series = i % svg::SERIES;
            // Colours repeat after eight lines, dashes change with each.
            @let class = format!("s{series} dash{}", (i + i / svg::SERIES) % 4);
            @let places: Vec<(f64, f64)> = line.iter().map(|p| (x(p.column), y_axis.place(p.ratio))).collect();
            g {
                title { (svg::plain(&name)) }
                (svg::path(&format!("way {class}"), &places))
                @for (p, (px, py)) in line.iter().zip(&places) {
                    g {
                        title { (svg::plain(&point_words(table, &name, p))) }
                        @if let Some((a, b)) = p.interval {
                            (svg::line(&format!("whisker s{series}"), (*px, y_axis.place(a)), (*px, y_axis.place(b))))
                        }
                        (svg::mark(
                            &format!("s{series}{}", if is_shown(p) { "" } else { " hollow" }),
                            Shape::nth(i),
                            (*px, *py),
                            4.0,
                        ))
                    }
                }
                @if let Some((px, py)) = places.last() {
                    (svg::line("grid", (px + 6.0, *py), (x1 + 4.0, end - 4.0)))
                }
                (svg::text(&format!("name s{series}"), (x1 + 8.0, *end), Anchor::Start, &svg::cut(&name, NAME_MAX)))
            }
        }
    };
    let base = table.columns.get(base).map(|c| c.label.as_str()).unwrap_or_default();
    let words = if table.unit.better.is_some() && !raw_ratio { "above 1.00 is better" } else { "new / base" };
    let mut notes =
        vec!["filled: shown to differ from the base; the axis is a log scale and does not start at 0".to_owned()];
    if left_out > 0 {
        notes.push(format!(
            "{} of {} rows drawn: changed ones first, then the largest",
            lines.len(),
            lines.len() + left_out
        ));
    }
    Some(Figure {
        width,
        height: TOP + HEIGHT + 34.0,
        title: format!("{} relative to {base}; {words}", table.unit.name),
        note: Some(notes.join("; ")),
        body,
    })
}

/// The base, and confirmed changes.
fn is_shown(p: &Point) -> bool {
    p.comparison.is_none_or(|c| c.verdict.is_confirmed())
}

fn point_words(table: &Table, name: &str, p: &Point) -> String {
    let label = table.columns.get(p.column).map(|c| c.label.as_str()).unwrap_or_default();
    match p.comparison {
        Some(c) => format!("{name}, {label}: {} ({})", ratio_label(p.ratio), c.verdict.word(table.unit.dim())),
        None => format!("{name}, {label}: base"),
    }
}

/// Two decimals, more where two hide a difference.
fn ratio_label(ratio: f64) -> String {
    let two = format!("{ratio:.2}");
    match two.parse::<f64>() {
        Ok(r) if (r / ratio - 1.0).abs() < 5e-3 => two,
        _ => format!("{ratio:.2e}"),
    }
}

/// Places of labels moved down and up until they no longer overlap, in the order of their lines.
fn spread(wanted: Vec<f64>) -> Vec<f64> {
    const APART: f64 = 14.0;
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by(|a, b| wanted[*a].total_cmp(&wanted[*b]));
    let mut places = wanted;
    let mut last = f64::NEG_INFINITY;
    for &i in &order {
        places[i] = (places[i] + 4.0).max(last + APART);
        last = places[i];
    }
    // What went below the axis comes back up.
    let mut next = TOP + HEIGHT + APART;
    for &i in order.iter().rev() {
        places[i] = places[i].min(next - APART);
        next = places[i];
    }
    places
}

/// Whether lines say more than a forest: more than two columns, and a ratio somewhere.
pub fn has_lines(table: &Table) -> bool {
    table.columns.len() > 2 && table.rows.iter().any(|r| r.comparisons().any(|(_, c)| c.ratio.is_some()))
}
