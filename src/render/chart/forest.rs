//! Forest plot: the change of each row with its interval, on a log axis of new / base, with the margin shaded.

use maud::{Markup, html};

use super::axis::{Axis, percent_ticks, widened};
use super::svg::{self, Anchor, Figure, Shape};
use crate::render::order::weight;
use crate::report::{Comparison, Row, Settings, Table, Verdict};
use crate::units::Direction;
use crate::units::show::percent;

/// The rows of a forest plot and the numbers its axis needs: drawn here, and in text by [`super::terminal`].
pub struct Forest<'a> {
    pub table: &'a Table,
    pub rows: Vec<Entry<'a>>,
    /// Comparisons with a ratio that are not among `rows`.
    pub left_out: usize,
    /// Comparisons without a ratio.
    pub without: usize,
    /// Smallest and largest ratio of the axis.
    pub domain: (f64, f64),
    /// The margin as ratios.
    pub margin: (f64, f64),
}

/// One row in one compared column.
pub struct Entry<'a> {
    pub row: &'a Row,
    pub column: usize,
    pub comparison: Comparison,
    pub ratio: f64,
}

impl<'a> Forest<'a> {
    /// At most `max` comparisons of `table`, the heaviest first where there are more. `None` when there is nothing to draw.
    pub fn of(table: &'a Table, settings: &Settings, max: usize) -> Option<Self> {
        table.base?;
        let mut rows = Vec::new();
        let mut without = 0;
        for row in &table.rows {
            for (column, c) in row.comparisons() {
                match c.ratio.or(c.delta_pct.map(|d| 1.0 + d / 100.0)) {
                    Some(ratio) if ratio > 0.0 => rows.push(Entry { row, column, comparison: c, ratio }),
                    _ => without += 1,
                }
            }
        }
        let left_out = rows.len().saturating_sub(max);
        if left_out > 0 {
            rows.sort_by(|a, b| weight(&b.comparison).total_cmp(&weight(&a.comparison)));
            rows.truncate(max);
        }
        let margin = (1.0 / (1.0 + settings.margin), 1.0 + settings.margin);
        // Points are always inside; an interval may reach three times as far (and at least to 50 %) before it leaves the axis.
        let points = rows.iter().map(|e| e.ratio).chain([margin.0, margin.1, 1.0]);
        let (lo, hi) = Axis::over(points, true)?;
        let (far_lo, far_hi) = (lo.powi(3).min(1.0 / 1.5), hi.powi(3).max(1.5));
        let ends = rows.iter().flat_map(|e| [e.comparison.lo, e.comparison.hi]).flatten();
        let (lo, hi) = Axis::over(ends.map(|r| r.clamp(far_lo, far_hi)).chain([lo, hi]), true)?;
        let pad = (hi / lo).powf(0.03);
        (!rows.is_empty()).then_some(Forest {
            table,
            rows,
            left_out,
            without,
            domain: widened((lo, hi), pad, true),
            margin,
        })
    }

    /// The name of a row, with the column where several are compared.
    pub fn name(&self, entry: &Entry<'_>) -> String {
        let name = entry.row.display_name();
        match self.table.columns.get(entry.column) {
            Some(c) if self.table.columns.len() > 2 => format!("{name} · {}", c.label),
            _ => name,
        }
    }

    /// `change of sec/op against main; lower is better`
    pub fn title(&self) -> String {
        let base =
            self.table.base.and_then(|b| self.table.columns.get(b)).map(|c| c.label.as_str()).unwrap_or_default();
        let words = self.table.direction_words().map(|w| format!("; {w}")).unwrap_or_default();
        format!("change of {} against {base}{words}", self.table.unit.name)
    }

    /// What is not drawn.
    pub fn note(&self) -> Option<String> {
        let mut parts = Vec::new();
        if self.left_out > 0 {
            let all = self.left_out + self.rows.len();
            parts.push(format!("{} of {all} rows drawn: changed ones first, then the largest", self.rows.len()));
        }
        if self.without > 0 {
            parts.push(format!("{} without a ratio left out", self.without));
        }
        (!parts.is_empty()).then(|| parts.join("; "))
    }
}

/// Class and shape of a verdict's mark.
pub fn look(verdict: Verdict) -> (&'static str, Shape) {
    match verdict {
        Verdict::Better { confirmed: true } => ("better", Shape::Up),
        Verdict::Better { confirmed: false } => ("better hollow", Shape::Up),
        Verdict::Worse { confirmed: true } => ("worse", Shape::Down),
        Verdict::Worse { confirmed: false } => ("worse hollow", Shape::Down),
        Verdict::Changed { confirmed: true } => ("other", Shape::Diamond),
        Verdict::Changed { confirmed: false } => ("other hollow", Shape::Diamond),
        Verdict::Unclear => ("unclear hollow", Shape::Circle),
        Verdict::Same => ("same", Shape::Circle),
        Verdict::Untested => ("same", Shape::Cross),
    }
}

/// Everything about a comparison in words.
pub fn words(table: &Table, c: &Comparison, name: &str) -> String {
    let mut text = format!("{name}: {}", c.verdict.word(table.unit.dim()));
    if let Some(d) = c.delta_pct {
        text.push_str(&format!(", {}", percent(d)));
    }
    if let Some((lo, hi)) = c.interval_pct() {
        let end = |v: f64, open: &str| if v.is_finite() { percent(v) } else { open.to_owned() };
        text.push_str(&format!(", interval {} to {}", end(lo, "unbounded"), end(hi, "unbounded")));
    }
    if let Some(p) = c.p {
        text.push_str(&format!(", p {}", crate::units::show::p_value(p, 3)));
    }
    text
}

const ROW: f64 = 22.0;
const TOP: f64 = 30.0;
const NAME_MAX: usize = 44;

/// The plot as SVG.
pub fn figure(forest: &Forest<'_>, width: f64) -> Figure {
    let names: Vec<String> = forest.rows.iter().map(|e| forest.name(e)).collect();
    let label = names.iter().map(|n| svg::mono_width(&svg::cut(n, NAME_MAX))).fold(60.0, f64::max);
    let dim = forest.table.unit.dim();
    let said = |c: &Comparison| format!("{} {}", c.delta_pct.map(percent).unwrap_or_default(), c.verdict.word(dim));
    let right = forest.rows.iter().map(|e| svg::mono_width(&said(&e.comparison))).fold(0.0, f64::max) + 20.0;
    let (x0, x1) = (label + 20.0, (width - right).max(label + 220.0));
    let width = x1 + right;
    let bottom = TOP + ROW * forest.rows.len() as f64;
    let axis = Axis { from: forest.domain, to: (x0, x1), log: true };
    let ticks = percent_ticks(&axis, 7);
    let ways = match forest.table.unit.better {
        Some(Direction::Lower) => Some(("← better", "worse →")),
        Some(Direction::Higher) => Some(("← worse", "better →")),
        None => None,
    };
    let body = html! {
        (svg::rect("band", (axis.place(forest.margin.0), axis.place(forest.margin.1)), (TOP, bottom)))
        @for tick in &ticks {
            @let x = axis.place(tick.at);
            (svg::line(if tick.at == 1.0 { "zero" } else { "grid" }, (x, TOP), (x, bottom + 4.0)))
            (svg::text("dim", (x, bottom + 18.0), Anchor::Middle, &tick.label))
        }
        @if let Some((left, right)) = ways {
            (svg::text("dim", (x0, TOP - 10.0), Anchor::Start, left))
            (svg::text("dim", (x1, TOP - 10.0), Anchor::End, right))
        }
        @for (i, (entry, name)) in forest.rows.iter().zip(&names).enumerate() {
            @let y = TOP + ROW * (i as f64 + 0.5);
            @let c = &entry.comparison;
            @let (class, shape) = look(c.verdict);
            g {
                title { (svg::plain(&words(forest.table, c, name))) }
                (svg::text("name", (label + 4.0, y + 4.0), Anchor::End, &svg::cut(name, NAME_MAX)))
                (whisker(&axis, c, y, class))
                (svg::mark(class, shape, (axis.place(entry.ratio), y), 5.0))
                (svg::text(
                    &format!("name {}", class.split(' ').next().unwrap_or_default()),
                    (x1 + 12.0, y + 4.0),
                    Anchor::Start,
                    &said(c),
                ))
            }
        }
        (svg::text("dim", ((x0 + x1) / 2.0, bottom + 36.0), Anchor::Middle, &format!(
            "new / base, log scale; band: margin of {} to {}",
            percent(100.0 * (forest.margin.0 - 1.0)),
            percent(100.0 * (forest.margin.1 - 1.0)),
        )))
    };
    Figure { width, height: bottom + 46.0, title: forest.title(), note: forest.note(), body }
}

/// The interval as a line with ends; an end beyond the axis, or an open one, is an arrow.
fn whisker(axis: &Axis, c: &Comparison, y: f64, class: &str) -> Markup {
    if c.lo.is_none() && c.hi.is_none() {
        return html! {};
    }
    let class = format!("whisker {}", class.split(' ').next().unwrap_or_default());
    let (from, to) = (axis.place(c.lo.unwrap_or(0.0)), axis.place(c.hi.unwrap_or(f64::INFINITY)));
    let end = |ratio: Option<f64>, x: f64, inward: f64| match ratio.is_some_and(|r| axis.holds(r)) {
        true => svg::line(&class, (x, y - 4.0), (x, y + 4.0)),
        false => html! {
            (svg::line(&class, (x, y), (x + inward, y - 4.0)))
            (svg::line(&class, (x, y), (x + inward, y + 4.0)))
        },
    };
    html! {
        (svg::line(&class, (from, y), (to, y)))
        (end(c.lo, from, 5.0))
        (end(c.hi, to, -5.0))
    }
}
