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

/// A column: its cells from top to bottom, a heading first. All their text is one string: a table may have 100,000s of rows.
#[derive(Clone, Debug)]
pub struct Column {
    /// Side of the cells.
    pub align: Align,
    /// Blanks before it.
    pub gap: usize,
    text: String,
    cells: Vec<Cell>,
    widest: usize,
}

#[derive(Clone, Copy, Debug)]
struct Cell {
    /// Where its text ends in that of the column.
    end: usize,
    width: u32,
    style: Style,
}

impl Column {
    /// An empty column.
    pub fn new(align: Align, gap: usize) -> Self {
        Column { align, gap, text: String::new(), cells: Vec::new(), widest: 0 }
    }

    /// Adds a cell.
    pub fn push(&mut self, text: &str, style: Style) {
        self.push_with(style, |out| out.push_str(text));
    }

    /// Adds a cell of which `write` appends the text.
    pub fn push_with(&mut self, style: Style, write: impl FnOnce(&mut String)) {
        let start = self.text.len();
        write(&mut self.text);
        let width = width(&self.text[start..]);
        self.widest = self.widest.max(width);
        self.cells.push(Cell { end: self.text.len(), width: u32::try_from(width).unwrap_or(u32::MAX), style });
    }

    /// Number of cells.
    pub fn len(&self) -> usize {
        self.cells.len()
    }

    /// Text and colour of the `i`-th cell; empty where there is none.
    pub fn cell(&self, i: usize) -> (&str, Style) {
        match self.cells.get(i) {
            Some(cell) => (&self.text[self.start(i)..cell.end], cell.style),
            None => ("", Style::new()),
        }
    }

    fn start(&self, i: usize) -> usize {
        i.checked_sub(1).and_then(|before| self.cells.get(before)).map_or(0, |c| c.end)
    }

    /// Texts of the cells.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).map(|i| self.cell(i).0)
    }

    /// Display width of its widest cell.
    pub fn width(&self) -> usize {
        self.widest
    }
}

/// Display width of all columns side by side.
pub fn total_width(columns: &[&Column]) -> usize {
    columns.iter().filter(|c| c.width() > 0).map(|c| c.gap + c.width()).sum()
}

/// Writes the columns side by side. Blanks at the end of a line are left out; columns without text take no room.
pub fn write(columns: &[&Column], color: bool, out: &mut dyn Write) -> io::Result<()> {
    let columns: Vec<&Column> = columns.iter().copied().filter(|c| c.width() > 0).collect();
    let lines = columns.iter().map(|c| c.len()).max().unwrap_or(0);
    let mut line = String::new();
    for i in 0..lines {
        line.clear();
        let mut pad = 0;
        for column in &columns {
            let (text, style) = column.cell(i);
            let rest = column.width() - column.cells.get(i).map_or(0, |c| c.width as usize);
            let (before, after) = match column.align {
                Align::Left => (0, rest),
                Align::Right => (rest, 0),
            };
            pad += column.gap + before;
            if text.is_empty() {
                pad += after;
                continue;
            }
            line.extend(std::iter::repeat_n(' ', pad));
            if color && style != Style::new() {
                line.push_str(&format!("{style}{text}{style:#}"));
            } else {
                line.push_str(text);
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
            left.push(a, Style::new());
            right.push(b, Style::new());
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
