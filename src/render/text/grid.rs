//! Drawing cells in columns: padding by display width, colours outside the padding.

use std::io::{self, Write};

use anstyle::Style;
use unicode_width::UnicodeWidthStr;

/// Display width of `text`.
pub fn width(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.width() }
}

/// Where a cell stands in its column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// At the left edge.
    Left,
    /// At the right edge.
    Right,
}

/// A cell.
#[derive(Clone, Debug, Default)]
pub struct Cell {
    /// Without colours.
    pub text: String,
    /// Its colour.
    pub style: Style,
}

impl Cell {
    /// A cell without colour.
    pub fn plain(text: impl Into<String>) -> Self {
        Cell { text: text.into(), style: Style::new() }
    }

    /// A coloured cell.
    pub fn styled(text: impl Into<String>, style: Style) -> Self {
        Cell { text: text.into(), style }
    }
}

/// A column: its cells from top to bottom, a heading first.
#[derive(Clone, Debug)]
pub struct Column {
    /// Side of the cells.
    pub align: Align,
    /// Blanks before it.
    pub gap: usize,
    /// One per line of the table.
    pub cells: Vec<Cell>,
}

impl Column {
    /// An empty column.
    pub fn new(align: Align, gap: usize) -> Self {
        Column { align, gap, cells: Vec::new() }
    }

    /// Display width of its widest cell.
    pub fn width(&self) -> usize {
        self.cells.iter().map(|c| width(&c.text)).max().unwrap_or(0)
    }
}

/// Display width of all columns side by side.
pub fn total_width(columns: &[&Column]) -> usize {
    columns.iter().filter(|c| c.width() > 0).map(|c| c.gap + c.width()).sum()
}

/// Writes the columns side by side. Blanks at the end of a line are left out; columns without text take no room.
pub fn write(columns: &[&Column], color: bool, out: &mut dyn Write) -> io::Result<()> {
    let columns: Vec<(&Column, usize)> = columns.iter().map(|c| (*c, c.width())).filter(|(_, w)| *w > 0).collect();
    let lines = columns.iter().map(|(c, _)| c.cells.len()).max().unwrap_or(0);
    let mut line = String::new();
    for i in 0..lines {
        line.clear();
        let mut pad = 0;
        for (column, full) in &columns {
            let empty = Cell::default();
            let cell = column.cells.get(i).unwrap_or(&empty);
            let own = width(&cell.text);
            let rest = full - own;
            let (before, after) = match column.align {
                Align::Left => (0, rest),
                Align::Right => (rest, 0),
            };
            pad += column.gap + before;
            if cell.text.is_empty() {
                pad += after;
                continue;
            }
            line.extend(std::iter::repeat_n(' ', pad));
            if color && cell.style != Style::new() {
                let style = cell.style;
                line.push_str(&format!("{style}{}{style:#}", cell.text));
            } else {
                line.push_str(&cell.text);
            }
            pad = after;
        }
        line.truncate(line.trim_end_matches(' ').len());
        line.push('\n');
        out.write_all(line.as_bytes())?;
    }
    Ok(())
}

/// `name` cut in the middle to at most `room` columns: `Get/…/shards=8`, at a slash where that keeps enough.
pub fn ellipsize(name: &str, room: usize, mark: &str) -> String {
    if width(name) <= room {
        return name.to_owned();
    }
    let keep = room.saturating_sub(width(mark));
    // The end tells rows apart more often than the middle: two fifths in front, the rest behind.
    let head = take_width(name.chars(), keep * 2 / 5);
    let head = match head.rfind('/') {
        Some(n) if n + 1 >= head.len() / 2 => head[..=n].to_owned(),
        _ => head,
    };
    let tail: String = take_width(name.chars().rev(), keep - width(&head)).chars().rev().collect();
    format!("{head}{mark}{tail}")
}

fn take_width(chars: impl Iterator<Item = char>, room: usize) -> String {
    let mut out = String::new();
    let mut used = 0;
    for c in chars {
        let w = unicode_width::UnicodeWidthChar::width(c).unwrap_or(0);
        if used + w > room {
            break;
        }
        used += w;
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(columns: &[Column]) -> String {
        let mut out = Vec::new();
        write(&columns.iter().collect::<Vec<_>>(), false, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn cells_are_padded_by_display_width_and_lines_end_without_blanks() {
        let mut left = Column::new(Align::Left, 0);
        let mut right = Column::new(Align::Right, 2);
        for (a, b) in [("漢字", "1"), ("a", "µs"), ("abcde", "")] {
            left.cells.push(Cell::plain(a));
            right.cells.push(Cell::plain(b));
        }
        assert_eq!(drawn(&[left, right]), "漢字    1\na      µs\nabcde\n");
    }

    #[test]
    fn names_are_cut_in_the_middle() {
        assert_eq!(ellipsize("Get/size=64KiB/shards=8", 40, "…"), "Get/size=64KiB/shards=8");
        let cut = ellipsize("Get/size=64KiB/mode=readonly/shards=8", 20, "…");
        assert_eq!(cut, "Get/…adonly/shards=8");
        assert!(width(&cut) <= 20);
        assert_eq!(ellipsize("漢字漢字漢字漢字", 9, "…"), "漢…字漢字");
    }
}
