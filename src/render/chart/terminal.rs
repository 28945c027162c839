//! Pictures in text: changes with their intervals, and the samples of each row, within a width of columns.
//!
//! One line per comparison: name, axis, change and word. `├──▼──┤` is an interval around an estimate, shaded columns are the
//! margin, `│` is no change. Then per row a line per column: bars of how many samples fall into each place, or, where processes
//! are known, the number of the process. With `ascii` no byte is above 127.

use std::fmt::Write as _;
use std::io;

use anstyle::{AnsiColor, Style};

use super::axis::{Axis, percent_ticks};
use super::forest::Forest;
use super::strips::{Strip, strips};
use crate::base::printable;
use crate::model::Observations;
use crate::render::Render;
use crate::render::text::{Text, grid};
use crate::report::{Report, Table, Verdict};
use crate::units::show::{Spelling, percent};

/// Comparisons per table.
const ROWS: usize = 40;
/// Rows per table whose samples are shown.
const STRIPS: usize = 12;
/// Narrowest picture.
const NARROWEST: usize = 40;

/// Signs of a plot.
struct Signs {
    better: [char; 2],
    worse: [char; 2],
    changed: [char; 2],
    same: char,
    unclear: char,
    line: char,
    ends: [char; 2],
    arrows: [char; 2],
    zero: char,
    band: char,
    counts: [char; 4],
    center: char,
    cut: &'static str,
}

/// Confirmed, then not.
const UNICODE: Signs = Signs {
    better: ['▲', '△'],
    worse: ['▼', '▽'],
    changed: ['◆', '◇'],
    same: '●',
    unclear: '○',
    line: '─',
    ends: ['├', '┤'],
    arrows: ['<', '>'],
    zero: '│',
    band: '░',
    counts: ['▂', '▄', '▆', '█'],
    center: '│',
    cut: "…",
};

const ASCII: Signs = Signs {
    better: ['^', '^'],
    worse: ['v', 'v'],
    changed: ['#', '#'],
    same: 'o',
    unclear: '?',
    line: '-',
    ends: ['[', ']'],
    arrows: ['<', '>'],
    zero: '|',
    band: ':',
    counts: ['.', 'i', 'I', '#'],
    center: '|',
    cut: "..",
};

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();

/// `--plot`: the text table, and pictures below it.
#[derive(Clone, Debug)]
pub struct TextPlot {
    /// How to write the table; width, colour and ASCII hold for the pictures too.
    pub text: Text,
}

impl Render for TextPlot {
    fn render(&self, report: &Report, out: &mut dyn io::Write) -> io::Result<()> {
        self.text.render(report, out)?;
        let pictures = plot(report, self.text.width, self.text.spelling.ascii, self.text.color);
        if !pictures.is_empty() {
            writeln!(out, "\n{}", pictures.trim_end())?;
        }
        out.flush()
    }
}

/// The picture of `report` in lines of at most `width` columns (but no less than 40), each with its line end.
pub fn plot(report: &Report, width: usize, ascii: bool, colour: bool) -> String {
    let plot = Plot {
        width: width.max(NARROWEST),
        ascii,
        colour,
        signs: if ascii { &ASCII } else { &UNICODE },
        spelling: Spelling { ascii, go: false },
    };
    let mut out = String::new();
    for table in &report.tables {
        plot.forest(report, table, &mut out);
        plot.strips(table, &mut out);
    }
    out
}

struct Plot {
    width: usize,
    ascii: bool,
    colour: bool,
    signs: &'static Signs,
    spelling: Spelling,
}

/// A line being drawn: one sign and style per column.
struct Canvas(Vec<(char, Style)>);

impl Canvas {
    fn new(width: usize) -> Self {
        Canvas(vec![(' ', Style::new()); width])
    }

    fn put(&mut self, at: usize, sign: char, style: Style) {
        if let Some(place) = self.0.get_mut(at) {
            *place = (sign, style);
        }
    }

    /// The line; runs of one style are coloured together.
    fn text(&self, colour: bool) -> String {
        let mut out = String::new();
        for run in self.0.chunk_by(|a, b| a.1 == b.1) {
            let text: String = run.iter().map(|c| c.0).collect();
            let style = run[0].1;
            match colour && style != Style::new() {
                true => drop(write!(out, "{style}{text}{style:#}")),
                false => out.push_str(&text),
            }
        }
        out
    }
}

impl Plot {
    fn forest(&self, report: &Report, table: &Table, out: &mut String) {
        let Some(forest) = Forest::of(table, &report.settings, ROWS) else { return };
        let dim = table.unit.dim();
        let right =
            forest.rows.iter().map(|e| words(e.comparison.delta_pct, e.comparison.verdict.word(dim)).len()).max();
        let right = right.unwrap_or(0);
        let names: Vec<String> = forest.rows.iter().map(|e| self.plain(&forest.name(e))).collect();
        let longest = names.iter().map(|n| grid::width(n)).max().unwrap_or(0);
        // The axis gets at least two fifths; names give way first.
        let room = self.width.saturating_sub(right + 4 + self.width * 2 / 5).max(8);
        let label = longest.min(room);
        let across = self.width.saturating_sub(label + right + 4).max(10);
        let axis = Axis { from: forest.domain, to: (0.0, (across - 1) as f64), log: true };
        let column = |r: f64| axis.place(r).round() as usize;
        self.heading(&forest.title(), forest.note(), out);
        for (entry, name) in forest.rows.iter().zip(&names) {
            let c = entry.comparison;
            let style = style_of(c.verdict);
            let mut line = Canvas::new(across);
            for at in column(forest.margin.0)..=column(forest.margin.1) {
                line.put(at, self.signs.band, DIM);
            }
            line.put(column(1.0), self.signs.zero, DIM);
            if c.lo.is_some() || c.hi.is_some() {
                let (from, to) = (c.lo.map_or(0, column), c.hi.map_or(across - 1, column));
                (from..=to).for_each(|at| line.put(at, self.signs.line, style));
                let end = |ratio: Option<f64>, side: usize| match ratio.is_some_and(|r| axis.holds(r)) {
                    true => self.signs.ends[side],
                    false => self.signs.arrows[side],
                };
                line.put(from, end(c.lo, 0), style);
                line.put(to, end(c.hi, 1), style);
            }
            line.put(column(entry.ratio), self.sign(c.verdict), style);
            let name = grid::ellipsize(name, label, self.signs.cut);
            let words = words(c.delta_pct, c.verdict.word(dim));
            let pad = label.saturating_sub(grid::width(&name));
            out.push_str(&format!(
                "{name}{}  {}  {}\n",
                " ".repeat(pad),
                line.text(self.colour),
                self.styled(style, &words)
            ));
        }
        let mut ticks = Canvas::new(across);
        let (mut free, mut row) = (0, vec![]);
        for tick in percent_ticks(&axis, (across / 7).clamp(2, 11)) {
            let at = column(tick.at);
            let from = at.saturating_sub(tick.label.len() / 2).min(across.saturating_sub(tick.label.len()));
            if from >= free {
                free = from + tick.label.len() + 1;
                row.push((from, tick.label));
            }
        }
        for (from, label) in row {
            label.chars().enumerate().for_each(|(i, c)| ticks.put(from + i, c, DIM));
        }
        let line = ticks.text(self.colour);
        out.push_str(&format!("{}  {}\n\n", " ".repeat(label), line.trim_end()));
    }

    fn strips(&self, table: &Table, out: &mut String) {
        let (all, left_out) = strips(table, STRIPS);
        if all.is_empty() {
            return;
        }
        let note = (left_out > 0).then(|| format!("{} of {} rows", all.len(), all.len() + left_out));
        self.heading(&format!("values of {}", table.unit.name), note, out);
        let labels: Vec<String> = table.columns.iter().map(|c| self.plain(&c.label)).collect();
        let label = labels.iter().map(|l| grid::width(l)).max().unwrap_or(0).min(self.width / 4);
        let across = self.width.saturating_sub(label + 4).max(10);
        let mut forks = false;
        for strip in &all {
            self.strip_heading(strip, out);
            for &(column, samples) in &strip.lanes {
                let name = labels.get(column).map(String::as_str).unwrap_or_default();
                let name = grid::ellipsize(name, label, self.signs.cut);
                let pad = label.saturating_sub(grid::width(&name));
                let center = strip.row.cell(column).and_then(|c| c.center);
                let lane = self.lane(strip, samples, center, across, &mut forks);
                out.push_str(&format!("  {name}{}  {}\n", " ".repeat(pad), lane.trim_end()));
            }
        }
        let center = self.signs.center;
        let words = match forks {
            true => format!("{center} center   digit: process the value is of   *: of several"),
            false => format!(
                "{center} center   {} 1 value  {} 2  {} 3  {} more",
                self.signs.counts[0], self.signs.counts[1], self.signs.counts[2], self.signs.counts[3]
            ),
        };
        out.push_str(&format!("{}\n\n", self.styled(DIM, &self.fit(&words))));
    }

    /// The row's name on one line, the ends of its scale above the lanes.
    fn strip_heading(&self, strip: &Strip<'_>, out: &mut String) {
        let show = |v: f64| strip.scale.show(v, self.spelling);
        let (lo, hi) = (show(strip.domain.0), show(strip.domain.1));
        let ends = format!("{lo} .. {hi}");
        let name = grid::ellipsize(
            &self.plain(&strip.row.display_name()),
            self.width.saturating_sub(ends.len() + 2),
            self.signs.cut,
        );
        let pad = self.width.saturating_sub(grid::width(&name) + grid::width(&ends)).max(2);
        out.push_str(&format!("{}{}{}\n", self.styled(BOLD, &name), " ".repeat(pad), self.styled(DIM, &ends)));
    }

    fn lane(
        &self,
        strip: &Strip<'_>,
        o: &Observations,
        center: Option<f64>,
        across: usize,
        forks: &mut bool,
    ) -> String {
        let axis = Axis { from: strip.domain, to: (0.0, (across - 1) as f64), log: false };
        let column = |v: f64| axis.place(v).round() as usize;
        // Per place: how many, and of which process.
        let mut places: Vec<(usize, Option<u32>, bool)> = vec![(0, None, false); across];
        let first = o.blocks().and_then(|b| b.iter().min().copied()).unwrap_or(0);
        for (i, v) in o.values.iter().enumerate() {
            let block = o.blocks().and_then(|b| b.get(i).copied());
            if let Some(place) = places.get_mut(column(*v)) {
                place.2 |= place.0 > 0 && place.1 != block;
                place.1 = block;
                place.0 += 1;
            }
        }
        let several = o.blocks().is_some_and(|b| b.iter().any(|x| *x != first));
        *forks |= several;
        let mut line = Canvas::new(across);
        for (at, (n, block, mixed)) in places.into_iter().enumerate().filter(|(_, p)| p.0 > 0) {
            let digit = block.and_then(|b| char::from_digit((b - first + 1) % 10, 10));
            let sign = match (several, digit) {
                (true, _) if mixed => '*',
                (true, Some(digit)) => digit,
                _ => self.signs.counts[n.clamp(1, 4) - 1],
            };
            line.put(at, sign, Style::new());
        }
        if let Some(at) = center.map(column) {
            line.put(at, self.signs.center, BOLD);
        }
        line.text(self.colour)
    }

    fn heading(&self, title: &str, note: Option<String>, out: &mut String) {
        let text = match note {
            Some(note) => format!("{title} ({note})"),
            None => title.to_owned(),
        };
        out.push_str(&format!("{}\n", self.styled(BOLD, &self.fit(&self.plain(&text)))));
    }

    /// Cut at the end: what stands there matters least.
    fn fit(&self, text: &str) -> String {
        if grid::width(text) <= self.width {
            return text.to_owned();
        }
        let mut out = text.to_owned();
        while grid::width(&out) + grid::width(self.signs.cut) > self.width && out.pop().is_some() {}
        out + self.signs.cut
    }

    fn sign(&self, verdict: Verdict) -> char {
        let s = self.signs;
        match verdict {
            Verdict::Better { confirmed } => s.better[usize::from(!confirmed)],
            Verdict::Worse { confirmed } => s.worse[usize::from(!confirmed)],
            Verdict::Changed { confirmed } => s.changed[usize::from(!confirmed)],
            Verdict::Same => s.same,
            Verdict::Unclear => s.unclear,
            Verdict::Untested => 'x',
        }
    }

    fn styled(&self, style: Style, text: &str) -> String {
        match self.colour && style != Style::new() {
            true => format!("{style}{text}{style:#}"),
            false => text.to_owned(),
        }
    }

    fn plain(&self, text: &str) -> String {
        let text = printable(text);
        match self.ascii && !text.is_ascii() {
            true => text.chars().map(ascii).collect(),
            false => text.into_owned(),
        }
    }
}

/// A character without a byte above 127.
fn ascii(c: char) -> String {
    match c {
        c if c.is_ascii() => c.to_string(),
        'µ' | 'μ' => "u".to_owned(),
        '·' => "-".to_owned(),
        c => c.escape_unicode().to_string(),
    }
}

/// `+10.4% slower`, the change right-aligned.
fn words(delta_pct: Option<f64>, word: &str) -> String {
    format!("{:>7} {word}", delta_pct.map(percent).unwrap_or_else(|| "-".to_owned()))
}

fn style_of(verdict: Verdict) -> Style {
    match verdict {
        Verdict::Better { confirmed: true } => AnsiColor::Green.on_default(),
        Verdict::Better { confirmed: false } => AnsiColor::Green.on_default().dimmed(),
        Verdict::Worse { confirmed: true } => AnsiColor::Red.on_default(),
        Verdict::Worse { confirmed: false } => AnsiColor::Red.on_default().dimmed(),
        Verdict::Changed { confirmed: true } => BOLD,
        Verdict::Changed { confirmed: false } => Style::new(),
        Verdict::Unclear => AnsiColor::Yellow.on_default(),
        Verdict::Same | Verdict::Untested => DIM,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::fixture;

    fn everything() -> Report {
        let mut tables = fixture::rich().tables;
        tables.push(fixture::single());
        fixture::report(tables)
    }

    #[test]
    fn pictures_as_they_are() {
        insta::with_settings!({snapshot_path => "../../../testdata/render", prepend_module_to_snapshot => false}, {
            insta::assert_snapshot!("plot-100.txt", plot(&everything(), 100, false, false));
            insta::assert_snapshot!("plot-60-ascii.txt", plot(&everything(), 60, true, false));
        });
    }

    #[test]
    fn no_line_is_wider_than_asked_for() {
        for width in [0, 40, 41, 57, 80, 100, 160, 400] {
            for ascii in [false, true] {
                for line in plot(&everything(), width, ascii, false).lines() {
                    assert!(grid::width(line) <= width.max(NARROWEST), "{width}: {line}");
                    assert!(!line.ends_with(' ') && !line.chars().any(char::is_control), "{line:?}");
                    assert!(!ascii || line.is_ascii(), "{line}");
                }
            }
        }
    }

    #[test]
    fn colours_add_nothing_but_colours() {
        let coloured = plot(&everything(), 90, false, true);
        assert!(coloured.contains("\x1b[32m") && coloured.contains("\x1b[31m"));
        assert_eq!(anstream::adapter::strip_str(&coloured).to_string(), plot(&everything(), 90, false, false));
    }

    #[test]
    fn marks_stand_where_their_numbers_are() {
        let table = fixture::table_of(&[("x", 100.0, 120.0, (10.0, 30.0)), ("y", 100.0, 80.0, (-30.0, -10.0))]);
        let picture = plot(&fixture::report(vec![table]), 80, true, false);
        let line = |name: &str| picture.lines().find(|l| l.starts_with(name)).unwrap().to_owned();
        let at = |line: &str, sign: char| line.find(sign).unwrap();
        let (x, y) = (line("x"), line("y"));
        assert!(at(&x, '[') < at(&x, 'v') && at(&x, 'v') < at(&x, ']'), "{x}");
        assert!(at(&x, '|') < at(&x, '[') && at(&y, ']') < at(&y, '|'), "{x}\n{y}");
        assert_eq!(at(&x, '|'), at(&y, '|'));
        // Equal factors are equally far: 1.3 / 1.2 and 1.2 / 1.1.
        let (near, far) = (at(&x, 'v') - at(&x, '['), at(&x, ']') - at(&x, 'v'));
        assert!(near >= far && near - far <= 2, "{x}");
    }
}
