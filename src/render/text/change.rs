//! The before/after table: centers with their error, change with its interval, p, and a word.

use std::cell::OnceCell;
use std::fmt::Write as _;
use std::io::{self, Write};

use anstyle::Style;

use super::grid::{self, Align, Column};
use super::{BOLD, DIM, Footnotes, Text, style_of};
use crate::model::Center;
use crate::report::{self, Comparison, Row, Settings, Table, Test, Verdict};
use crate::units::show::{Scale, Scales, percent, write_p_value, write_percent};
use crate::units::write_fixed;

const PLAIN: Style = Style::new();

/// What is still shown; later ones show less.
#[derive(Clone, Copy, Debug)]
struct Detail {
    interval: bool,
    p: bool,
    error: bool,
    /// Room for names.
    name: usize,
}

/// Names are not cut below this.
const SHORTEST_NAME: usize = 16;

impl Text {
    pub(super) fn change<'a>(
        &'a self,
        table: &'a Table,
        settings: &'a Settings,
        notes: &mut Footnotes<'a>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        if self.all_equal(table, out)? {
            return Ok(());
        }
        let rows: Vec<&Row> = table.rows.iter().filter(|r| !r.hidden && !r.beyond_limit).collect();
        let compared: Vec<usize> = (0..table.columns.len()).filter(|&i| table.base.is_some_and(|b| b != i)).collect();
        let every = |list: &[usize]| -> Vec<usize> {
            let mut all: Vec<usize> = table.base.into_iter().chain(list.iter().copied()).collect();
            if table.base.is_none() {
                all = (0..table.columns.len()).collect();
            }
            all.sort_unstable();
            all
        };
        let drawn = Drawn::new(self, table, settings, rows, notes);
        let whole = every(&compared);
        if let Some(detail) = drawn.fit(&whole, self.width) {
            return drawn.write(&whole, detail, true, out);
        }
        // One block per compared column.
        for (k, &column) in compared.iter().enumerate() {
            if k > 0 {
                writeln!(out)?;
            }
            let pair = every(&[column]);
            let detail = drawn.fit(&pair, self.width).unwrap_or(Detail {
                interval: false,
                p: false,
                error: false,
                name: SHORTEST_NAME,
            });
            drawn.write(&pair, detail, true, out)?;
        }
        if compared.is_empty() {
            let least = Detail { interval: false, p: false, error: false, name: SHORTEST_NAME };
            drawn.write(&whole, least, true, out)?;
        }
        Ok(())
    }

    /// A unit in which nothing differs takes one line.
    fn all_equal(&self, table: &Table, out: &mut dyn Write) -> io::Result<bool> {
        let equal = |r: &Row| {
            let mut centers = r.cells().map(|c| c?.center);
            let first = centers.next().flatten();
            first.is_some()
                && centers.all(|c| c == first)
                && r.cells().flatten().all(|c| c.lo.is_none_or(|lo| Some(lo) == c.hi))
        };
        if table.base.is_none() || table.rows.len() < 2 || !table.rows.iter().all(equal) {
            return Ok(false);
        }
        let line = format!("{}: {} rows, all equal", self.plain(&table.unit.name), table.rows.len());
        self.line(DIM, &line, out)?;
        Ok(true)
    }

    /// A center with its unit, `-` where there is none.
    fn write_center(&self, cell: Option<&report::Cell>, scale: Scale, out: &mut String) {
        let Some(center) = cell.and_then(|c| c.center) else {
            out.push('-');
            return;
        };
        if cell.is_some_and(|c| c.approximate) {
            out.push_str(&self.plain("≈ "));
        }
        scale.write(center, self.spelling, out);
    }

    /// ` ± 1%`, or nothing.
    fn write_error(&self, cell: Option<&report::Cell>, scale: Scale, out: &mut String) {
        let Some(cell) = cell.filter(|c| c.kind != Some(Center::Single)) else { return };
        let sign = if self.spelling.ascii { " +- " } else { " ± " };
        if cell.infinite {
            out.push_str(&self.plain(" ± ∞"));
            return;
        }
        if self.absolute_error && cell.spread_pct.is_none() {
            if let Some(error) = cell.error() {
                out.push_str(sign);
                out.push_str(&scale.number(error));
            }
            return;
        }
        match (cell.error_pct(), cell.lo) {
            (Some(pct), _) => {
                out.push_str(sign);
                write_fixed(pct, usize::from(pct < 0.095 && pct > 0.0), out);
                out.push('%');
            }
            (None, Some(_)) => {
                out.push_str(sign);
                out.push('?');
            }
            (None, None) => {}
        }
    }

    /// `sec/op, lower is better`, what the numbers are, and the runs.
    fn heading(&self, table: &Table, settings: &Settings, columns: &[usize]) -> Vec<String> {
        let labels: Vec<String> = columns.iter().map(|&i| self.plain(&table.columns[i].label)).collect();
        let mut parts = Vec::new();
        if table.base.is_some() && labels.len() == 2 {
            let base = table.base.unwrap_or(0);
            let other = columns.iter().position(|&i| i != base).unwrap_or(0);
            let (a, b) = (&labels[1 - other], &labels[other]);
            parts.push(format!("{a} -> {b}"));
        }
        let unit = self.plain(&table.unit.name);
        parts.push(match table.direction_words() {
            Some(words) => format!("{unit}, {words}"),
            None => unit,
        });
        let confidence = confidence_words(settings.confidence);
        let printed = table.rows.iter().flat_map(|r| r.cells().flatten()).any(|c| c.spread_pct.is_some());
        if let Some(kind) = table.common_kind() {
            let what = match kind {
                Center::Mean | Center::Median if printed => {
                    format!("{} ± as printed", if kind == Center::Mean { "mean" } else { "median" })
                }
                Center::Median => format!("median ± {confidence} interval"),
                Center::Mean => format!("mean ± {confidence} error"),
                Center::ForkMean => format!("mean of fork means ± {confidence} error"),
                Center::Mode => "exact value".to_owned(),
                Center::Single => String::new(),
            };
            if !what.is_empty() {
                parts.push(self.plain(&what));
            }
        }
        if let Some(runs) = table.runs_words() {
            parts.push(format!("{runs} each"));
        }
        parts
    }
}

/// `95%`, `99.9%`.
pub(super) fn confidence_words(confidence: f64) -> String {
    let text = format!("{:.4}", confidence * 100.0);
    format!("{}%", text.trim_end_matches('0').trim_end_matches('.'))
}

/// All columns of a table as text, before it is decided which are shown.
struct Drawn<'a> {
    text: &'a Text,
    table: &'a Table,
    rows: Vec<&'a Row>,
    names: Column,
    /// Per column of the table.
    centers: Vec<Column>,
    /// Without their errors.
    centers_only: OnceCell<Vec<Column>>,
    runs: Vec<Column>,
    change: Vec<Column>,
    /// Rarely fit, so they are made when they are asked for.
    interval: OnceCell<Vec<Column>>,
    p: Vec<Column>,
    verdict: Vec<Column>,
    settings: &'a Settings,
}

impl<'a> Drawn<'a> {
    fn new(
        text: &'a Text,
        table: &'a Table,
        settings: &'a Settings,
        rows: Vec<&'a Row>,
        notes: &mut Footnotes<'a>,
    ) -> Self {
        let n = table.columns.len();
        let column = |align| vec![Column::new(align, 2); n];
        let mut d = Drawn {
            text,
            table,
            rows: Vec::new(),
            names: Column::new(Align::Left, 0),
            centers: column(Align::Right),
            centers_only: OnceCell::new(),
            runs: column(Align::Right),
            change: column(Align::Right),
            interval: OnceCell::new(),
            p: column(Align::Right),
            verdict: column(Align::Left),
            settings,
        };
        let common_n = table.common_n().is_some();
        d.names.push("", PLAIN);
        for (i, c) in table.columns.iter().enumerate() {
            let compared = table.base.is_some_and(|b| b != i);
            let head = |s: &'static str| if compared { s } else { "" };
            d.centers[i].push(&text.plain(&c.label), BOLD);
            d.runs[i].push(if common_n { "" } else { "n" }, BOLD);
            d.change[i].push(head("change"), BOLD);
            d.p[i].push(head("p"), BOLD);
            d.verdict[i].push("", PLAIN);
        }
        let scales = Scales::new(&table.unit);
        // Percents are padded to one width per column, so that the numbers before them line up.
        let mut errors: Vec<Column> = column(Align::Right);
        let row_scales: Vec<Scale> = rows.iter().map(|row| scale(scales, row)).collect();
        for (row, &scale) in rows.iter().zip(&row_scales) {
            for (cell, errors) in row.cells().zip(&mut errors) {
                errors.push_with(PLAIN, |out| text.write_error(cell.as_ref(), scale, out));
            }
        }
        let package = table.package().len();
        let shared = table.shared_parameters();
        let same = text.plain(&format!("same (±{}%)", trim_zeros(settings.margin * 100.0)));
        // Footnote numbers of the table's notes.
        let mut numbers: Vec<Option<usize>> = vec![None; table.notes.len()];
        for (k, row) in rows.iter().enumerate() {
            let name = row.name_without(&shared);
            d.names.push(&text.plain(&name[package..]), PLAIN);
            let scale = row_scales[k];
            let last = (0..n).rev().find(|&i| row.comparison(i).is_some());
            for (i, errors) in errors.iter().enumerate() {
                let cell = row.cell(i);
                let (error, _) = errors.cell(k);
                let pad = errors.width() - grid::width(error);
                d.centers[i].push_with(PLAIN, |out| {
                    text.write_center(cell.as_ref(), scale, out);
                    out.extend(std::iter::repeat_n(' ', pad));
                    out.push_str(error);
                });
                let runs = if common_n { None } else { cell.and_then(|c| c.n) };
                d.runs[i].push(&runs.map_or(String::new(), |n| n.to_string()), PLAIN);
                let marked = last == Some(i) || (last.is_none() && i + 1 == n);
                let marks = row.notes().filter(|_| marked).filter_map(|at| {
                    let text = table.notes.get(at)?;
                    Some(*numbers[at].get_or_insert_with(|| notes.number(text)))
                });
                d.comparison(i, row, scale, &same, marks);
            }
        }
        d.geomean(&errors, notes);
        d.rows = rows;
        d
    }

    /// Change, p and word of a row in column `i`, and the numbers of its footnotes.
    fn comparison(&mut self, i: usize, row: &Row, scale: Scale, same: &str, marks: impl Iterator<Item = usize>) {
        let (text, table) = (self.text, self.table);
        let Some(c) = row.comparison(i) else {
            self.change[i].push("", PLAIN);
            self.p[i].push("", PLAIN);
            self.verdict[i].push_with(PLAIN, |out| write_marks(marks, out));
            return;
        };
        let style = style_of(c.verdict);
        self.change[i].push_with(style, |out| match (c.delta_pct, c.difference) {
            (Some(pct), _) => write_percent(pct, out),
            // The table printed `~`.
            (None, _) if c.test == Test::Printed => out.push('-'),
            (None, Some(d)) => {
                out.push_str(if d < 0.0 { "" } else { "+" });
                scale.write(d, text.spelling, out);
            }
            (None, None) => out.push('-'),
        });
        self.p[i].push_with(PLAIN, |out| match c.p {
            Some(p) => write_p_value(p, text.p_digits, out),
            None => out.push('-'),
        });
        self.verdict[i].push_with(style, |out| {
            match (c.verdict, c.why) {
                (Verdict::Untested, Some(report::Why::OneSide)) => {
                    let only = if row.has(i) { i } else { c.base };
                    out.push_str("only in ");
                    out.push_str(&text.plain(&table.columns[only].label));
                }
                (Verdict::Same, Some(report::Why::AllEqual)) => out.push_str("same"),
                (Verdict::Same, _) if c.test != Test::Exact => out.push_str(same),
                _ => out.push_str(c.verdict.word(table.unit.dim())),
            }
            write_marks(marks, out);
        });
    }

    fn geomean(&mut self, errors: &[Column], notes: &mut Footnotes<'a>) {
        let Some(g) = self.shown_geomean() else { return };
        let marks = notes.marks(g.notes.iter().map(String::as_str));
        self.names.push(&format!("geomean{marks}"), PLAIN);
        let scale = Scale::of(&self.table.unit, g.centers.iter().flatten().copied());
        for (i, errors) in errors.iter().enumerate() {
            // Under the numbers, not under their errors.
            self.centers[i].push_with(PLAIN, |out| {
                if let Some(center) = g.centers[i] {
                    scale.write(center, self.text.spelling, out);
                    out.extend(std::iter::repeat_n(' ', errors.width()));
                }
            });
            self.runs[i].push("", PLAIN);
            self.change[i].push_with(PLAIN, |out| {
                if let Some(ratio) = g.ratios[i] {
                    write_percent(100.0 * (ratio - 1.0), out);
                }
            });
            self.p[i].push("", PLAIN);
            self.verdict[i].push("", PLAIN);
        }
    }

    fn shown_geomean(&self) -> Option<&'a report::Geomean> {
        self.table.geomean.as_ref().filter(|_| self.table.rows.len() > 1)
    }

    fn intervals(&self) -> &[Column] {
        self.interval.get_or_init(|| {
            let mut columns = vec![Column::new(Align::Right, 2); self.table.columns.len()];
            let head = format!("{} CI", confidence_words(self.settings.confidence));
            for (i, column) in columns.iter_mut().enumerate() {
                column.push(if self.table.base.is_some_and(|b| b != i) { &head } else { "" }, BOLD);
                for row in &self.rows {
                    let words = row.comparison(i).map(|c| interval_words(&c).unwrap_or_else(|| "-".into()));
                    column.push(&words.map_or(String::new(), |w| self.text.plain(&w)), PLAIN);
                }
                if let Some(g) = self.shown_geomean() {
                    let ci = g.intervals.get(i).copied().flatten();
                    let words = ci.map(|(lo, hi)| range(100.0 * (lo - 1.0), 100.0 * (hi - 1.0)));
                    column.push(&words.unwrap_or_default(), PLAIN);
                }
            }
            columns
        })
    }

    fn centers_only(&self) -> &[Column] {
        self.centers_only.get_or_init(|| {
            let mut columns = vec![Column::new(Align::Right, 2); self.table.columns.len()];
            for (column, c) in columns.iter_mut().zip(&self.table.columns) {
                column.push(&self.text.plain(&c.label), BOLD);
            }
            let scales = Scales::new(&self.table.unit);
            for row in &self.rows {
                let scale = scale(scales, row);
                for (column, cell) in columns.iter_mut().zip(row.cells()) {
                    column.push_with(PLAIN, |out| self.text.write_center(cell.as_ref(), scale, out));
                }
            }
            if let Some(g) = self.shown_geomean() {
                let scale = Scale::of(&self.table.unit, g.centers.iter().flatten().copied());
                for (column, center) in columns.iter_mut().zip(&g.centers) {
                    let shown = center.map(|c| scale.show(c, self.text.spelling));
                    column.push(&shown.unwrap_or_default(), PLAIN);
                }
            }
            columns
        })
    }

    /// The most detail with which these columns fit.
    fn fit(&self, columns: &[usize], width: usize) -> Option<Detail> {
        let longest = self.names.width();
        let full = Detail { interval: true, p: true, error: true, name: longest };
        let steps = [
            full,
            Detail { interval: false, ..full },
            Detail { interval: false, p: false, ..full },
            Detail { interval: false, p: false, error: false, ..full },
        ];
        for detail in steps {
            if self.width(columns, detail) <= width {
                return Some(detail);
            }
        }
        // Long names first cost their middle, with as much of the rest as then fits.
        for detail in [full, steps[1], steps[2], steps[3]] {
            let rest = self.width(columns, Detail { name: 0, ..detail });
            let enough = if detail.error { SHORTEST_NAME * 2 } else { SHORTEST_NAME };
            if rest + enough.min(longest) <= width {
                return Some(Detail { name: (width - rest).min(longest), ..detail });
            }
        }
        None
    }

    fn width(&self, columns: &[usize], detail: Detail) -> usize {
        detail.name.min(self.names.width()) + grid::total_width(&self.shown(columns, detail))
    }

    fn shown(&self, columns: &[usize], detail: Detail) -> Vec<&Column> {
        let mut shown = Vec::new();
        for &i in columns {
            shown.push(if detail.error { &self.centers[i] } else { &self.centers_only()[i] });
            if detail.error {
                shown.push(&self.runs[i]);
            }
            shown.push(&self.change[i]);
            if detail.interval {
                shown.push(&self.intervals()[i]);
            }
            if detail.p {
                shown.push(&self.p[i]);
            }
            shown.push(&self.verdict[i]);
        }
        shown
    }

    fn write(&self, columns: &[usize], detail: Detail, heading: bool, out: &mut dyn Write) -> io::Result<()> {
        if heading {
            let parts = self.text.heading(self.table, self.settings, columns);
            let mut line = String::new();
            for part in parts {
                let more = if line.is_empty() { 0 } else { 3 };
                if !line.is_empty() && grid::width(&line) + more + grid::width(&part) > self.text.width {
                    self.text.line(BOLD, &line, out)?;
                    line = format!("  {part}");
                    continue;
                }
                if !line.is_empty() {
                    line.push_str("   ");
                }
                line.push_str(&part);
            }
            self.text.line(BOLD, &line, out)?;
        }
        let names;
        let mark = if self.text.spelling.ascii { ".." } else { "…" };
        let name_column = if self.names.width() <= detail.name {
            &self.names
        } else {
            let mut cut = Column::new(Align::Left, 0);
            for name in self.names.texts() {
                cut.push(&grid::ellipsize(name, detail.name, mark), PLAIN);
            }
            names = cut;
            &names
        };
        let mut all = vec![name_column];
        all.extend(self.shown(columns, detail));
        grid::write(&all, self.text.color, out)
    }
}

/// ` [1] [2]`, without the first blank where nothing stands before it.
fn write_marks(numbers: impl Iterator<Item = usize>, out: &mut String) {
    let start = out.is_empty();
    for (i, number) in numbers.enumerate() {
        let _ = write!(out, "{}[{number}]", if start && i == 0 { "" } else { " " });
    }
}

fn scale(scales: Scales, row: &Row) -> Scale {
    scales.of(row.cells().flatten().filter_map(|c| c.center))
}

/// `-17.9 .. -16.5%`.
fn interval_words(c: &Comparison) -> Option<String> {
    let (lo, hi) = c.interval_pct()?;
    Some(range(lo, hi))
}

fn range(lo: f64, hi: f64) -> String {
    let end =
        |v: f64, open: &str| if v.is_finite() { percent(v).trim_end_matches('%').to_owned() } else { open.to_owned() };
    format!("{} .. {}%", end(lo, "-∞"), end(hi, "+∞"))
}

pub(super) fn trim_zeros(v: f64) -> String {
    let text = format!("{v:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
