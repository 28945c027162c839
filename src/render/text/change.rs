//! The before/after table: centers with their error, change with its interval, p, and a word.

use std::io::{self, Write};

use super::grid::{self, Align, Cell, Column};
use super::{BOLD, DIM, Footnotes, Text, style_of};
use crate::model::Center;
use crate::report::{self, Comparison, Row, Settings, Table, Test, Verdict};
use crate::units::show::{Scale, p_value, percent};

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
        let drawn = Drawn::new(self, table, settings, &rows, notes);
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
            let mut centers = r.cells.iter().map(|c| c.as_ref().and_then(|c| c.center));
            let first = centers.next().flatten();
            first.is_some()
                && centers.all(|c| c == first)
                && r.cells.iter().flatten().all(|c| c.lo.is_none_or(|lo| Some(lo) == c.hi))
        };
        if table.base.is_none() || table.rows.len() < 2 || !table.rows.iter().all(equal) {
            return Ok(false);
        }
        let line = format!("{}: {} rows, all equal", self.plain(&table.unit.name), table.rows.len());
        self.line(DIM, &line, out)?;
        Ok(true)
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
        let printed = table.rows.iter().flat_map(|r| r.cells.iter().flatten()).any(|c| c.spread_pct.is_some());
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
    names: Column,
    /// Per column of the table.
    centers: Vec<Column>,
    centers_only: Vec<Column>,
    runs: Vec<Column>,
    change: Vec<Column>,
    interval: Vec<Column>,
    p: Vec<Column>,
    verdict: Vec<Column>,
    settings: &'a Settings,
}

impl<'a> Drawn<'a> {
    fn new(
        text: &'a Text,
        table: &'a Table,
        settings: &'a Settings,
        rows: &[&'a Row],
        notes: &mut Footnotes<'a>,
    ) -> Self {
        let n = table.columns.len();
        let column = |align, gap| vec![Column::new(align, gap); n];
        let mut d = Drawn {
            text,
            table,
            names: Column::new(Align::Left, 0),
            centers: column(Align::Right, 2),
            centers_only: column(Align::Right, 2),
            runs: column(Align::Right, 2),
            change: column(Align::Right, 2),
            interval: column(Align::Right, 2),
            p: column(Align::Right, 2),
            verdict: column(Align::Left, 2),
            settings,
        };
        let common_n = table.common_n().is_some();
        d.names.cells.push(Cell::default());
        for (i, c) in table.columns.iter().enumerate() {
            let label = text.plain(&c.label);
            d.centers[i].cells.push(Cell::styled(label.clone(), BOLD));
            d.centers_only[i].cells.push(Cell::styled(label, BOLD));
            d.runs[i].cells.push(Cell::styled(if common_n { "" } else { "n" }, BOLD));
            let compared = table.base.is_some_and(|b| b != i);
            let head = |s: &str| Cell::styled(if compared { s } else { "" }, BOLD);
            d.change[i].cells.push(head("change"));
            d.interval[i].cells.push(head(&format!("{} CI", confidence_words(settings.confidence))));
            d.p[i].cells.push(head("p"));
            d.verdict[i].cells.push(Cell::default());
        }
        // Percents are padded to one width per column, so that the numbers before them line up.
        let errors: Vec<Vec<String>> =
            (0..n).map(|i| rows.iter().map(|r| d.error(r.cells[i].as_ref(), scale(table, r))).collect()).collect();
        let widest: Vec<usize> = errors.iter().map(|e| e.iter().map(|s| grid::width(s)).max().unwrap_or(0)).collect();
        let package = table.package().len();
        let shared = table.shared_parameters();
        for (k, row) in rows.iter().enumerate() {
            d.names.cells.push(Cell::plain(text.plain(&row.name_without(&shared)[package..])));
            let scale = scale(table, row);
            let last = (0..n).rev().find(|&i| row.comparisons[i].is_some());
            for i in 0..n {
                let cell = row.cells[i].as_ref();
                let center = match cell.and_then(|c| c.center) {
                    Some(c) => {
                        let about =
                            if cell.is_some_and(|c| c.approximate) { text.plain("≈ ") } else { String::new() };
                        about + &scale.show(c, text.spelling)
                    }
                    None => "-".to_owned(),
                };
                let pad = widest[i] - grid::width(&errors[i][k]);
                let with_error = format!("{center}{}{}", " ".repeat(pad), errors[i][k]);
                d.centers[i].cells.push(Cell::plain(with_error));
                d.centers_only[i].cells.push(Cell::plain(center));
                let runs = if common_n { None } else { cell.and_then(|c| c.n) };
                d.runs[i].cells.push(Cell::plain(runs.map_or(String::new(), |n| n.to_string())));
                d.comparison(i, row, scale, settings.margin);
                if last == Some(i) || (last.is_none() && i + 1 == n) {
                    let marks = notes.marks(row.notes.iter().filter_map(|&n| table.notes.get(n)).map(String::as_str));
                    if let Some(cell) = d.verdict[i].cells.last_mut() {
                        cell.text.push_str(if cell.text.is_empty() { marks.trim_start() } else { &marks });
                    }
                }
            }
        }
        d.geomean(notes);
        d
    }

    /// ` ± 1%`, or nothing.
    fn error(&self, cell: Option<&report::Cell>, scale: Scale) -> String {
        let Some(cell) = cell else { return String::new() };
        let sign = if self.text.spelling.ascii { " +- " } else { " ± " };
        if cell.kind == Some(Center::Single) {
            return String::new();
        }
        if cell.infinite {
            return self.text.plain(" ± ∞");
        }
        if self.text.absolute_error && cell.spread_pct.is_none() {
            return cell.error().map_or(String::new(), |e| format!("{sign}{}", scale.number(e)));
        }
        match (cell.error_pct(), cell.lo) {
            (Some(pct), _) if pct < 0.095 && pct > 0.0 => format!("{sign}{pct:.1}%"),
            (Some(pct), _) => format!("{sign}{pct:.0}%"),
            (None, Some(_)) => format!("{sign}?"),
            (None, None) => String::new(),
        }
    }

    fn comparison(&mut self, i: usize, row: &Row, scale: Scale, margin: f64) {
        let dim = self.table.unit.dim();
        let text = self.text;
        let Some(c) = &row.comparisons[i] else {
            for column in [&mut self.change[i], &mut self.interval[i], &mut self.p[i], &mut self.verdict[i]] {
                column.cells.push(Cell::default());
            }
            return;
        };
        let style = style_of(c.verdict);
        let change = match (c.delta_pct, c.difference) {
            (Some(pct), _) => percent(pct),
            // The table printed `~`.
            (None, _) if c.test == Test::Printed => "-".to_owned(),
            (None, Some(d)) => format!("{}{}", if d < 0.0 { "" } else { "+" }, scale.show(d, text.spelling)),
            (None, None) => "-".to_owned(),
        };
        self.change[i].cells.push(Cell::styled(change, style));
        self.interval[i].cells.push(Cell::plain(interval_words(c).map_or_else(|| "-".into(), |s| text.plain(&s))));
        self.p[i].cells.push(Cell::plain(c.p.map_or_else(|| "-".into(), |p| p_value(p, text.p_digits))));
        let words = match (c.verdict, c.why) {
            (Verdict::Untested, Some(report::Why::OneSide)) => {
                let only = if row.cells[i].is_some() { i } else { c.base };
                format!("only in {}", text.plain(&self.table.columns[only].label))
            }
            (Verdict::Same, Some(report::Why::AllEqual)) => "same".to_owned(),
            (Verdict::Same, _) if c.test != Test::Exact => {
                text.plain(&format!("same (±{}%)", trim_zeros(margin * 100.0)))
            }
            _ => c.verdict.word(dim).to_owned(),
        };
        self.verdict[i].cells.push(Cell::styled(words, style));
    }

    fn geomean(&mut self, notes: &mut Footnotes<'a>) {
        let Some(g) = &self.table.geomean else { return };
        if self.table.rows.len() < 2 {
            return;
        }
        let marks = notes.marks(g.notes.iter().map(String::as_str));
        self.names.cells.push(Cell::plain(format!("geomean{marks}")));
        let unit = &self.table.unit;
        let scale = Scale::of(unit, g.centers.iter().flatten().copied());
        for i in 0..self.table.columns.len() {
            let center = g.centers[i].map_or(String::new(), |c| scale.show(c, self.text.spelling));
            // Under the numbers, not under their errors.
            let error = self.centers[i].cells.iter().skip(1).map(|c| error_width(&c.text)).max().unwrap_or(0);
            let padded = if center.is_empty() { String::new() } else { format!("{center}{}", " ".repeat(error)) };
            self.centers[i].cells.push(Cell::plain(padded));
            self.centers_only[i].cells.push(Cell::plain(center));
            self.runs[i].cells.push(Cell::default());
            self.change[i].cells.push(Cell::plain(g.ratios[i].map_or(String::new(), |r| percent(100.0 * (r - 1.0)))));
            let ci = g.intervals.get(i).copied().flatten();
            self.interval[i]
                .cells
                .push(Cell::plain(ci.map_or(String::new(), |(lo, hi)| range(100.0 * (lo - 1.0), 100.0 * (hi - 1.0)))));
            self.p[i].cells.push(Cell::default());
            self.verdict[i].cells.push(Cell::default());
        }
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
            shown.push(if detail.error { &self.centers[i] } else { &self.centers_only[i] });
            if detail.error {
                shown.push(&self.runs[i]);
            }
            shown.push(&self.change[i]);
            if detail.interval {
                shown.push(&self.interval[i]);
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
            let mut cut = self.names.clone();
            for cell in &mut cut.cells {
                cell.text = grid::ellipsize(&cell.text, detail.name, mark);
            }
            names = cut;
            &names
        };
        let mut all = vec![name_column];
        all.extend(self.shown(columns, detail));
        grid::write(&all, self.text.color, out)
    }
}

/// Width of the ` ± 1%` at the end of a cell's text.
fn error_width(text: &str) -> usize {
    let at = text.find(" ± ").or_else(|| text.find(" +- "));
    at.map_or(0, |n| grid::width(&text[n..]) + text[..n].len() - text[..n].trim_end().len())
}

fn scale(table: &Table, row: &Row) -> Scale {
    Scale::of(&table.unit, row.cells.iter().flatten().filter_map(|c| c.center))
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
