//! Strips: a dot per sample, a lane per column, each process of a lane in a line and a shape of its own.

use maud::html;

use super::axis::Axis;
use super::svg::{self, Anchor, Figure, Shape};
use crate::model::Observations;
use crate::render::order::heaviest;
use crate::report::{Cell, Row, Table};
use crate::units::show::{Scale, Spelling};

/// Dots drawn per lane; of more every k-th.
const DOTS: usize = 400;
/// Lines of processes per lane; more share lines.
const FORKS: usize = 10;

const LANE: f64 = 18.0;
const FORK: f64 = 7.0;
const LABEL_MAX: usize = 22;

/// The samples of one row.
pub struct Strip<'a> {
    pub row: &'a Row,
    /// Columns with samples, with the index of the column.
    pub lanes: Vec<(usize, &'a Observations)>,
    /// Smallest and largest sample.
    pub domain: (f64, f64),
    pub scale: Scale,
}

/// Strips of at most `max` rows of `table`, and how many more there are.
pub fn strips(table: &Table, max: usize) -> (Vec<Strip<'_>>, usize) {
    let (rows, left_out) = heaviest(table, max, |r| (0..r.width()).any(|i| drawable(r, i).is_some()));
    let all = rows
        .into_iter()
        .filter_map(|row| {
            let lanes: Vec<_> = (0..row.width()).filter_map(|i| Some((i, drawable(row, i)?))).collect();
            let values = lanes.iter().flat_map(|(_, o)| &o.values).copied();
            let domain = Axis::over(values, false)?;
            let scale = Scale::of(&table.unit, row.cells().flatten().filter_map(|c| c.center));
            Some(Strip { row, lanes, domain, scale })
        })
        .collect();
    (all, left_out)
}

/// The samples in column `i`, if there are several single ones.
fn drawable(row: &Row, i: usize) -> Option<&Observations> {
    row.samples(i).filter(|o| o.weights().is_none() && o.values.len() > 1)
}

/// Values and process number of the samples that are drawn, and how many there are in all.
pub fn dots(o: &Observations) -> (Vec<(f64, usize)>, usize) {
    let mut order: Vec<u32> = Vec::new();
    let mut fork = |block: Option<u32>| match block {
        None => 0,
        Some(b) => order.iter().position(|x| *x == b).unwrap_or_else(|| {
            order.push(b);
            order.len() - 1
        }),
    };
    let every = o.values.len().div_ceil(DOTS).max(1);
    let all = o.values.iter().enumerate().map(|(i, v)| (*v, fork(o.blocks().and_then(|b| b.get(i).copied()))));
    (all.collect::<Vec<_>>().into_iter().step_by(every).collect(), o.values.len())
}

/// The strips as SVG.
pub fn figure(table: &Table, max: usize, width: f64) -> Option<Figure> {
    let (strips, left_out) = strips(table, max);
    if strips.is_empty() {
        return None;
    }
    let label = |i: usize| table.columns.get(i).map(|c| svg::cut(&c.label, LABEL_MAX)).unwrap_or_default();
    let labels = (0..table.columns.len()).map(|i| svg::mono_width(&label(i))).fold(60.0, f64::max);
    let (x0, x1) = (labels + 20.0, width - 30.0);
    let (mut y, mut body, mut thinned, mut shared) = (8.0, vec![], false, false);
    for strip in &strips {
        let axis = Axis { from: strip.domain, to: (x0, x1), log: false };
        let name = strip.row.display_name();
        let top = y + 20.0;
        let mut lanes = vec![];
        let mut lane_top = top;
        for &(column, samples) in &strip.lanes {
            let Some(cell) = strip.row.cell(column) else { continue };
            let (dots, all) = dots(samples);
            thinned |= dots.len() < all;
            let forks = dots.iter().map(|d| d.1 + 1).max().unwrap_or(1);
            shared |= forks > FORKS;
            let height = LANE.max(FORK * forks.min(FORKS) as f64 + 8.0);
            let class = format!("s{}", column % svg::SERIES);
            let middle = lane_top + height / 2.0;
            let at = |fork: usize| {
                lane_top + (height - FORK * forks.min(FORKS) as f64) / 2.0 + FORK * ((fork % FORKS) as f64 + 0.5)
            };
            let words = cell_words(&strip.scale, &cell, all);
            lanes.push(html! {
                g {
                    title { (svg::plain(&format!("{name}, {}: {words}", label(column)))) }
                    (svg::text("name dim", (labels + 8.0, middle + 4.0), Anchor::End, &label(column)))
                    @if let (Some(lo), Some(hi)) = (cell.lo, cell.hi) {
                        (svg::rect(&format!("spread {class}"), (axis.place(lo), axis.place(hi)), (lane_top + 1.0, lane_top + height - 1.0)))
                    }
                    @for (value, fork) in &dots {
                        (svg::mark(&format!("dot {class}"), Shape::nth(*fork), (axis.place(*value), at(*fork)), 3.0))
                    }
                    @if let Some(center) = cell.center {
                        @let x = axis.place(center);
                        (svg::line("zero", (x, lane_top + 1.0), (x, lane_top + height - 1.0)))
                    }
                }
            });
            lane_top += height;
        }
        body.push(html! {
            (svg::text("name", (x0, y + 12.0), Anchor::Start, &svg::cut(&name, 90)))
            @for tick in axis.round(5) {
                @let x = axis.place(tick);
                (svg::line("grid", (x, top), (x, lane_top)))
                (svg::text("dim", (x, lane_top + 13.0), Anchor::Middle, &strip.scale.show(tick, Spelling::default())))
            }
            @for lane in &lanes { (lane) }
        });
        y = lane_top + 28.0;
    }
    let mut notes = vec!["a dot per value, bar: center, band: its interval; each row has its own scale".to_owned()];
    if strips.iter().any(|s| s.lanes.iter().any(|(_, c)| dots(c).0.iter().any(|d| d.1 > 0))) {
        notes.push("a line and shape per process".to_owned());
    }
    if left_out > 0 {
        notes.push(format!(
            "{} of {} rows drawn: changed ones first, then the largest",
            strips.len(),
            strips.len() + left_out
        ));
    }
    if thinned {
        notes.push(format!("of more than {DOTS} values a lane every k-th is drawn"));
    }
    if shared {
        notes.push(format!("more than {FORKS} processes share lines"));
    }
    let title = format!("values of {} by column", table.unit.name);
    Some(Figure { width, height: y, title, note: Some(notes.join("; ")), body: html! { @for b in &body { (b) } } })
}

fn cell_words(scale: &Scale, cell: &Cell, n: usize) -> String {
    let show = |v: f64| scale.show(v, Spelling::default());
    let mut text = format!("{n} values");
    if let Some(c) = cell.center {
        text.push_str(&format!(", center {}", show(c)));
    }
    if let (Some(lo), Some(hi)) = (cell.min, cell.max) {
        text.push_str(&format!(", from {} to {}", show(lo), show(hi)));
    }
    text
}
