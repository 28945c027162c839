//! benchstat's text tables.
//!
//! Physical columns: label; of the first column centre, range, note; of each later one centre, range, note, delta, comparison, note; a last
//! one for the rule that closes header lines.

use super::layout::{Align, Cell, Layout};
use super::{comparison, delta, range};
use crate::report::benchstat::{Delta, Table};
use crate::units::scale::{Class, Scale};

const RULE: &str = " │";
const HEAD: &str = " │ ";

/// All tables as text.
pub fn text(tables: &[Table]) -> String {
    let mut out = String::new();
    let mut before: Option<&Table> = None;
    for table in tables {
        if before.is_some() {
            out.push('\n');
        }
        for (i, (key, value)) in table.keys.iter().enumerate() {
            if before.is_none_or(|b| b.keys.get(i).is_none_or(|(_, v)| v != value)) {
                out.push_str(&format!("{key}: {value}\n"));
            }
        }
        write(table, &mut out);
        before = Some(table);
    }
    out
}

/// First physical column of column `i`.
fn start(i: usize) -> usize {
    if i == 0 { 1 } else { 4 + (i - 1) * 6 }
}

/// Notes of a table, numbered in order of first use.
#[derive(Default)]
struct Footnotes(Vec<String>);

impl Footnotes {
    /// The marks of some notes.
    fn marks(&mut self, notes: &[String]) -> String {
        let marks: Vec<String> = notes
            .iter()
            .map(|note| {
                let at = self.0.iter().position(|n| n == note).unwrap_or_else(|| {
                    self.0.push(note.clone());
                    self.0.len() - 1
                });
                superscript(at + 1)
            })
            .collect();
        marks.join(" ")
    }
}

fn superscript(n: usize) -> String {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    n.to_string().bytes().map(|b| DIGITS[usize::from(b - b'0')]).collect()
}

fn write(table: &Table, out: &mut String) {
    let n = table.columns.len();
    let end = start(n);
    let mut growable = vec![false; end + 1];
    (0..n).for_each(|i| growable[start(i)] = true);
    let mut layout = Layout::new(growable);
    let rule = Cell { column: end, span: 1, align: Align::Left, margin: RULE, text: String::new() };

    let levels = table.columns.first().map_or(0, Vec::len);
    for level in 0..levels {
        let mut cells = Vec::new();
        let mut i = 0;
        while i < n {
            // Equal neighbours are one, if they are in all lines above.
            let same = (i..n).take_while(|&j| table.columns[j][..=level] == table.columns[i][..=level]).count();
            cells.push(Cell {
                column: start(i),
                span: start(i + same) - start(i),
                align: Align::Center,
                margin: HEAD,
                text: table.columns[i][level].clone(),
            });
            i += same;
        }
        cells.push(rule.clone());
        layout.row(cells);
    }
    let mut cells = Vec::new();
    for i in 0..n {
        let unit = table.unit.to_string();
        cells.push(Cell { column: start(i), span: 3, align: Align::Center, margin: HEAD, text: unit });
        if i > 0 {
            let text = "vs base".to_owned();
            cells.push(Cell { column: start(i) + 3, span: 3, align: Align::Left, margin: "  ", text });
        }
    }
    cells.push(rule);
    layout.row(cells);

    let class = Class::of(&table.unit);
    let mut footnotes = Footnotes::default();
    for row in &table.rows {
        let mut line = Line::new(&row.name);
        let scale = Scale::of(row.cells.iter().flatten().map(|c| c.center), class);
        for (i, cell) in row.cells.iter().enumerate().filter_map(|(i, c)| Some((start(i), c.as_ref()?))) {
            line.right(i, " ", scale.format(cell.center));
            line.right(i + 1, " ± ", range(cell.range));
            line.left(i + 2, footnotes.marks(&cell.notes));
            if let Some(versus) = &cell.versus {
                line.right(i + 3, " ", delta(versus.delta));
                line.left(i + 4, format!("({})", comparison(versus)));
                line.left(i + 5, footnotes.marks(&versus.notes));
            }
        }
        layout.row(line.0);
    }
    if table.rows.len() > 1 {
        let mut line = Line::new("geomean");
        for (i, geomean) in table.geomeans.iter().enumerate() {
            let at = start(i);
            if let Some(center) = geomean.center {
                line.right(at, " ", Scale::of([center], class).format(center));
            }
            match geomean.delta {
                // benchstat's own: this one is not aligned with the deltas above.
                Some(change @ Delta::Unknown) => line.left(at + 3, delta(change)),
                Some(change) => line.right(at + 3, " ", delta(change)),
                None => {}
            }
            line.left(start(i + 1) - 1, footnotes.marks(&geomean.notes));
        }
        layout.row(line.0);
    }
    layout.write(out);
    for (i, note) in footnotes.0.iter().enumerate() {
        out.push_str(&format!("{} {note}\n", superscript(i + 1)));
    }
}

/// The cells of a row; empty ones are left out.
struct Line(Vec<Cell>);

impl Line {
    fn new(label: &str) -> Self {
        let mut line = Line(Vec::new());
        line.add(0, Align::Left, "", label.to_owned());
        line
    }

    fn add(&mut self, column: usize, align: Align, margin: &'static str, text: String) {
        if !text.is_empty() {
            self.0.push(Cell { column, span: 1, align, margin, text });
        }
    }

    fn right(&mut self, column: usize, margin: &'static str, text: String) {
        self.add(column, Align::Right, margin, text);
    }

    fn left(&mut self, column: usize, text: String) {
        self.add(column, Align::Left, " ", text);
    }
}
