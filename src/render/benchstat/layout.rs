//! Text in columns with cells that span several of them.
//!
//! A column is as wide as its widest single cell; what a spanning cell needs beyond the columns under it goes to the growable ones among
//! them. In front of each cell stands its margin, right-aligned in the widest margin of the column it begins in. Widths count code points.

/// Where a text stands in its columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Align {
    Left,
    Right,
    Center,
}

/// A cell that is not empty.
#[derive(Clone, Debug)]
pub(super) struct Cell {
    pub column: usize,
    pub span: usize,
    pub align: Align,
    pub margin: &'static str,
    pub text: String,
}

/// Rows of cells, each in order of columns.
#[derive(Debug, Default)]
pub(super) struct Layout {
    rows: Vec<Vec<Cell>>,
    growable: Vec<bool>,
}

fn width(text: &str) -> usize {
    text.chars().count()
}

impl Layout {
    /// An empty one; `growable` says of each column whether it may grow under a spanning cell.
    pub fn new(growable: Vec<bool>) -> Self {
        Layout { rows: Vec::new(), growable }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: Vec<Cell>) {
        self.rows.push(cells);
    }

    /// Margin and width of each column.
    fn columns(&self) -> (Vec<usize>, Vec<usize>) {
        let n = self.growable.len();
        let (mut margins, mut widths) = (vec![0; n], vec![0; n]);
        let cells = || self.rows.iter().flatten();
        for cell in cells() {
            margins[cell.column] = margins[cell.column].max(width(cell.margin));
            if cell.span == 1 {
                widths[cell.column] = widths[cell.column].max(width(&cell.text));
            }
        }
        for cell in cells().filter(|c| c.span > 1) {
            let under = cell.column..cell.column + cell.span;
            let mut growable: Vec<usize> = under.clone().filter(|&i| self.growable[i]).collect();
            let fixed =
                span(&margins, &widths, cell.column, cell.span) - growable.iter().map(|&i| widths[i]).sum::<usize>();
            let mut rest = width(&cell.text).saturating_sub(fixed);
            // Widest first: a column that is wide already leaves less for the others.
            growable.sort_by_key(|&i| std::cmp::Reverse(widths[i]));
            for (k, &i) in growable.iter().enumerate() {
                widths[i] = widths[i].max(rest.div_ceil(growable.len() - k));
                rest = rest.saturating_sub(widths[i]);
            }
        }
        (margins, widths)
    }

    /// All rows as lines.
    pub fn write(&self, out: &mut String) {
        let (margins, widths) = self.columns();
        for row in &self.rows {
            // Columns passed, and blanks owed if anything follows.
            let (mut at, mut owed) = (0, 0);
            for cell in row {
                owed += (at..cell.column).map(|i| margins[i] + widths[i]).sum::<usize>();
                let room = span(&margins, &widths, cell.column, cell.span);
                let len = width(&cell.text);
                let front = match cell.align {
                    Align::Left => 0,
                    Align::Right => room.saturating_sub(len),
                    Align::Center => room.saturating_sub(len) / 2,
                };
                blanks(out, owed + margins[cell.column] - width(cell.margin));
                out.push_str(cell.margin);
                blanks(out, front);
                out.push_str(&cell.text);
                // A text longer than its room pushes the rest aside by twice what it is over: benchstat takes the negative number of
                // blanks for a width.
                owed = room.abs_diff(len + front);
                at = cell.column + cell.span;
            }
            out.push('\n');
        }
    }
}

/// Width of `count` columns from `first` on, without the first one's margin.
fn span(margins: &[usize], widths: &[usize], first: usize, count: usize) -> usize {
    let columns = first..first + count;
    columns.clone().map(|i| widths[i]).sum::<usize>() + columns.skip(1).map(|i| margins[i]).sum::<usize>()
}

fn blanks(out: &mut String, n: usize) {
    out.extend(std::iter::repeat_n(' ', n));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(column: usize, span: usize, align: Align, margin: &'static str, text: &str) -> Cell {
        Cell { column, span, align, margin, text: text.into() }
    }

    #[test]
    fn spanning_cells_grow_what_may_grow() {
        let mut layout = Layout::new(vec![false, true, false, true]);
        layout.row(vec![cell(1, 3, Align::Center, " | ", "a long heading")]);
        layout.row(vec![
            cell(0, 1, Align::Left, "", "row"),
            cell(1, 1, Align::Right, " ", "1.0"),
            cell(2, 1, Align::Right, " ± ", "2%"),
            cell(3, 1, Align::Right, " ", "3"),
        ]);
        let mut out = String::new();
        layout.write(&mut out);
        assert_eq!(out, "    | a long heading\nrow    1.0 ± 2%    3\n");
    }

    #[test]
    fn nothing_trails() {
        let mut layout = Layout::new(vec![false, false]);
        layout.row(vec![cell(0, 1, Align::Left, "", "a")]);
        layout.row(vec![cell(0, 1, Align::Left, "", "long"), cell(1, 1, Align::Left, " ", "b")]);
        layout.row(vec![cell(1, 1, Align::Left, " ", "c")]);
        let mut out = String::new();
        layout.write(&mut out);
        assert_eq!(out, "a\nlong b\n     c\n");
    }
}
