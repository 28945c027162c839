//! The relative table: base column absolute, the others as ratios, above 1.00 is better whatever the unit.

use std::io::{self, Write};

use anstyle::Style;
use comfy_table::{CellAlignment, ContentArrangement, Table as Drawing, presets};

use super::grid::{self, Align, Column};
use super::{BOLD, Footnotes, Text, style_of};
use crate::report::{Row, Table, Verdict};
use crate::units::show::Scale;

impl Text {
    pub(super) fn relative<'a>(
        &self,
        table: &'a Table,
        notes: &mut Footnotes<'a>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let Some(base) = table.base else { return Ok(()) };
        let rows: Vec<&Row> = table.rows.iter().filter(|r| !r.hidden && !r.beyond_limit).collect();
        let direction =
            if self.raw_ratio || table.unit.better.is_none() { "new / base" } else { "above 1.00 is better" };
        let label = self.plain(&table.columns[base].label);
        let mut heading = format!("{} relative to {label}; {direction}", self.plain(&table.unit.name));
        match table.common_n() {
            Some(1) => heading.push_str("   single runs: no test"),
            Some(n) => heading.push_str(&format!("   {n} runs each")),
            None => {}
        }
        let mut names = Column::new(Align::Left, if self.name_last { 2 } else { 0 });
        names.push(if self.name_last { "test" } else { "" }, BOLD);
        let (package, shared) = (table.package().len(), table.shared_parameters());
        for row in &rows {
            let marks = notes.marks(row.notes().filter_map(|n| table.notes.get(n)).map(String::as_str));
            names.push(&(self.plain(&row.name_without(&shared)[package..]) + &marks), Style::new());
        }
        let mut absolute = Column::new(Align::Right, 2);
        absolute.push(&label, BOLD);
        for row in &rows {
            let shown = row
                .cell(base)
                .and_then(|c| c.center)
                .map_or_else(|| "-".to_owned(), |c| Scale::of(&table.unit, std::iter::once(c)).show(c, self.spelling));
            absolute.push(&shown, Style::new());
        }
        let mut marked = (false, false);
        let others: Vec<Column> = (0..table.columns.len())
            .filter(|&i| i != base)
            .map(|i| {
                let mut column = Column::new(Align::Right, 2);
                column.push(&self.plain(&table.columns[i].label), BOLD);
                for row in &rows {
                    let (shown, style) = self.ratio(row, i, &mut marked);
                    column.push(&shown, style);
                }
                column
            })
            .collect();
        self.line(BOLD, &heading, out)?;
        // Fold the columns by width, repeating the names.
        let fixed = grid::total_width(&[&names]);
        let mut at = 0;
        let mut first = true;
        while at < others.len() || first {
            let mut used = fixed + if first { grid::total_width(&[&absolute]) } else { 0 };
            let mut end = at;
            while end < others.len() {
                let w = grid::total_width(&[&others[end]]);
                if used + w > self.width && end > at {
                    break;
                }
                used += w;
                end += 1;
            }
            if !first {
                writeln!(out)?;
            }
            let mut all: Vec<&Column> = Vec::new();
            if !self.name_last {
                all.push(&names);
            }
            if first {
                all.push(&absolute);
            }
            all.extend(&others[at..end]);
            if self.name_last {
                all.push(&names);
            }
            draw(&all, self.color, out)?;
            (at, first) = (end, false);
        }
        if marked.0 || marked.1 {
            writeln!(out, "* better   ! worse   ? not confirmed   (others: not shown to differ, or single runs)")?;
        }
        Ok(())
    }

    fn ratio(&self, row: &Row, i: usize, marked: &mut (bool, bool)) -> (String, Style) {
        let none = || ("- ".to_owned(), Style::new());
        let Some(c) = row.comparison(i) else { return none() };
        let shown = if self.raw_ratio { c.ratio } else { c.relative() };
        let Some(ratio) = shown else { return none() };
        let mark = match c.verdict {
            Verdict::Better { confirmed: true } => "*",
            Verdict::Worse { confirmed: true } => "!",
            Verdict::Better { .. } | Verdict::Worse { .. } | Verdict::Changed { .. } => "?",
            _ => " ",
        };
        marked.0 |= mark != " ";
        let interval = c.ratio_interval(self.raw_ratio).filter(|_| self.ratio_interval);
        let interval = interval.map_or(String::new(), |(lo, hi)| format!(" [{lo:.2}, {hi:.2}]"));
        (format!("{ratio:.2}{mark}{interval}"), style_of(c.verdict))
    }
}

/// Draws the columns side by side, without rules and without blanks at the ends of lines.
fn draw(columns: &[&Column], color: bool, out: &mut dyn Write) -> io::Result<()> {
    let mut drawing = Drawing::new();
    drawing.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    let lines = columns.iter().map(|c| c.len()).max().unwrap_or(0);
    for i in 0..lines {
        let row = columns.iter().map(|c| {
            let (text, style) = c.cell(i);
            if color && style != Style::new() { format!("{style}{text}{style:#}") } else { text.to_owned() }
        });
        drawing.add_row(row.collect::<Vec<_>>());
    }
    for (column, drawn) in columns.iter().zip(drawing.column_iter_mut()) {
        drawn.set_padding((u16::try_from(column.gap).unwrap_or(0), 0));
        drawn.set_cell_alignment(match column.align {
            Align::Left => CellAlignment::Left,
            Align::Right => CellAlignment::Right,
        });
    }
    for line in drawing.lines() {
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}
