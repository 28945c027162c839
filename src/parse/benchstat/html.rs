//! HTML of benchstat version 1.
//!
//! ```text
//! <table class='benchstat oldnew'>
//! <tr class='configs'><th><th>old.txt<th>new.txt
//! <tbody>
//! <tr><th><th colspan='2' class='metric'>time/op<th>delta
//! <tr class='group'><th colspan='4'>pkg:a goos:b<tr class='better'><td>X<td>46.9ns ± 8%<td>40.1ns ± 2%<td class='delta'>−13.31%<td class='note'>(p=0.016 n=4&#43;5)
//! <tr><td>&nbsp;
//! </tbody>
//! </table>
//! ```
//! Tags are not closed; a row ends where the next begins.

use super::cell::{Class, Words, is_not_finite};
use super::{Context, Notes, Row, Table, refuse, v1::metric};
use crate::model::{Center, Sink};
use crate::parse::{Claim, Line};

/// Cells of a row kept; benchstat prints a few.
const CELLS: usize = 10_000;

/// A table being read.
#[derive(Default)]
pub struct Html {
    columns: Vec<String>,
    table: Option<(Table, Class)>,
    row: Option<Open>,
    /// Keys set by the last group row.
    group: Vec<String>,
    over: bool,
}

/// A row that has begun.
struct Open {
    line: u64,
    class: String,
    cells: Vec<(bool, String)>,
}

impl Html {
    /// `</table>` was read.
    pub fn is_over(&self) -> bool {
        self.over
    }

    /// A line of the page; all up to `</table>` are of the table.
    pub fn line(&mut self, line: Line<'_>, context: &mut Context, out: &mut dyn Sink) -> Option<Claim> {
        let text = line.text();
        let mut pieces = text.split('<');
        if let (Some(first), Some(row)) = (pieces.next(), &mut self.row)
            && let Some((_, cell)) = row.cells.last_mut()
        {
            cell.push(' ');
            cell.push_str(first);
        }
        for piece in pieces {
            let (tag, content) = piece.split_once('>').unwrap_or((piece, ""));
            let (tag, attributes) = tag.split_once(char::is_whitespace).unwrap_or((tag, ""));
            match tag {
                "tr" => {
                    self.close_row(line, context, out);
                    let class = attributes.split('\'').nth(1).unwrap_or("").to_owned();
                    self.row = Some(Open { line: line.number, class, cells: Vec::new() });
                }
                "th" | "td" => {
                    if let Some(row) = self.row.as_mut().filter(|r| r.cells.len() < CELLS) {
                        row.cells.push((tag == "th", content.to_owned()));
                    }
                }
                "tbody" | "/tbody" | "/table" => {
                    self.close_row(line, context, out);
                    for key in self.group.drain(..) {
                        context.settings.set(&key, "");
                    }
                    if tag == "/table" {
                        self.over = true;
                        break;
                    }
                }
                _ => {}
            }
        }
        Some(Claim::Mine)
    }

    fn close_row(&mut self, line: Line<'_>, context: &mut Context, out: &mut dyn Sink) {
        let Some(row) = self.row.take() else { return };
        let texts: Vec<String> = row.cells.iter().map(|(_, t)| plain(t)).collect();
        let is_head = row.cells.iter().all(|(head, _)| *head);
        match row.class.as_str() {
            "configs" => self.columns = texts.into_iter().skip(1).collect(),
            "group" => {
                if let (Some((table, _)), Some(text)) = (&mut self.table, texts.first()) {
                    context.group(text, &mut self.group, table);
                }
            }
            _ if is_head => {
                let Some(name) = texts.get(1).filter(|t| !t.is_empty()) else { return };
                let (unit, class, factor) = metric(name);
                // One file has no heading; two and more do.
                let columns = match self.columns.is_empty() {
                    true => vec![None],
                    false => self.columns.iter().map(|c| Some(c.clone())).collect(),
                };
                self.table = Some((context.begin(columns, &unit, factor, out), class));
            }
            _ => self.data_row(&row, &texts, line, context, out),
        }
    }

    fn data_row(&mut self, row: &Open, texts: &[String], line: Line<'_>, context: &Context, out: &mut dyn Sink) {
        let Some((table, class)) = &mut self.table else { return };
        let Some((name, texts)) = texts.split_first() else { return };
        if texts.is_empty() || matches!(name.as_str(), "[Geo mean]" | "[Geomean]") {
            return;
        }
        let columns = table.columns.len();
        let mut cells = Vec::with_capacity(columns);
        for text in texts.iter().take(columns) {
            let mut words = Words::new(text);
            let cell = words.cell(*class);
            if cell.is_none() && words.peek().is_some() {
                let expected = if is_not_finite(text) { "a finite value" } else { "a value such as 46.9ns ± 8%" };
                refuse(line, text, expected, out);
                return;
            }
            cells.push(cell);
        }
        let mut comparisons = vec![None; cells.len()];
        if let (Some(delta), Some(last)) = (texts.get(columns), comparisons.last_mut()) {
            let both = format!("{delta} {}", texts.get(columns + 1).map_or("", String::as_str));
            *last = Words::new(&both).comparison();
        }
        let row = Row { line: row.line, name: name.clone(), cells, comparisons };
        table.push(&row, Center::Mean, &mut Notes::default(), context, out);
    }
}

/// Text of a cell: entities resolved, blanks at the ends dropped.
fn plain(text: &str) -> String {
    const ENTITIES: [(&str, &str); 9] = [
        ("&nbsp;", " "),
        ("&#43;", "+"),
        ("&#39;", "'"),
        ("&#34;", "\""),
        ("&quot;", "\""),
        ("&minus;", "\u{2212}"),
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&amp;", "&"),
    ];
    let mut text = text.to_owned();
    if text.contains('&') {
        for (entity, plain) in ENTITIES {
            if text.contains(entity) {
                text = text.replace(entity, plain);
            }
        }
    }
    text.trim().to_owned()
}
