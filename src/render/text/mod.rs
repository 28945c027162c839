//! Text for a terminal: one block per unit, fitted to a width by giving up detail in a fixed order.
//!
//! Given up in this order: the interval of the change, p, the `±` of each side, the middle of names; then one block per compared column.
//! A row is never wrapped and a number never cut. The change table is drawn by [`grid`], which pads cells by display width; a general table crate
//! took 6 µs a row for the same (measured over 100,000 rows), more than reading and testing the row.

mod change;
mod explain;
pub(super) mod grid;
mod relative;
mod strip;

use std::collections::HashMap;
use std::io::{self, BufWriter, Write};

use anstyle::{AnsiColor, Style};

use super::Render;
use crate::base::printable;
use crate::report::{Correction, Counts, Report, Settings, Table, Verdict, View};
use crate::units::show::Spelling;

/// How to write text.
#[derive(Clone, Debug)]
pub struct Text {
    /// Columns of the terminal.
    pub width: usize,
    /// Write ANSI colours.
    pub color: bool,
    /// How units are spelled, and whether to stay below 128.
    pub spelling: Spelling,
    /// Show errors in units, not in percent.
    pub absolute_error: bool,
    /// Decimals of p.
    pub p_digits: usize,
    /// Relative view: the name behind the numbers.
    pub name_last: bool,
    /// Relative view: plain new / base instead of turned by direction.
    pub raw_ratio: bool,
    /// Relative view: the interval of each ratio behind it.
    pub ratio_interval: bool,
}

impl Default for Text {
    fn default() -> Self {
        Text {
            width: 100,
            color: false,
            spelling: Spelling::default(),
            absolute_error: false,
            p_digits: 3,
            name_last: false,
            raw_ratio: false,
            ratio_interval: false,
        }
    }
}

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const GREEN: Style = AnsiColor::Green.on_default();
const RED: Style = AnsiColor::Red.on_default();
const YELLOW: Style = AnsiColor::Yellow.on_default();

/// Colour of a verdict; the word is always there too.
fn style_of(verdict: Verdict) -> Style {
    match verdict {
        Verdict::Better { confirmed: true } => GREEN,
        Verdict::Better { confirmed: false } => GREEN.dimmed(),
        Verdict::Worse { confirmed: true } => RED,
        Verdict::Worse { confirmed: false } => RED.dimmed(),
        Verdict::Changed { confirmed: true } => BOLD,
        Verdict::Changed { confirmed: false } => Style::new(),
        Verdict::Same | Verdict::Untested => DIM,
        Verdict::Unclear => YELLOW,
    }
}

/// Footnotes of the whole answer, numbered in order of first use.
#[derive(Default)]
struct Footnotes<'a> {
    texts: Vec<&'a str>,
    numbers: HashMap<&'a str, usize>,
}

impl<'a> Footnotes<'a> {
    /// The number of `text`, from 1.
    fn number(&mut self, text: &'a str) -> usize {
        *self.numbers.entry(text).or_insert_with(|| {
            self.texts.push(text);
            self.texts.len()
        })
    }

    /// ` [1] [2]` for these texts.
    fn marks(&mut self, texts: impl Iterator<Item = &'a str>) -> String {
        texts.map(|t| format!(" [{}]", self.number(t))).collect()
    }
}

impl Render for Text {
    fn render(&self, report: &Report, out: &mut dyn Write) -> io::Result<()> {
        let mut out = BufWriter::with_capacity(1 << 16, out);
        if report.tables.iter().flat_map(|t| &t.rows).any(|r| r.explanation().is_some()) {
            self.explain(report, &mut out)?;
            return out.flush();
        }
        let mut notes = Footnotes::default();
        let mut before: Option<&Table> = None;
        for table in &report.tables {
            if before.is_some() {
                writeln!(out)?;
            }
            self.keys(table, before, &mut out)?;
            match report.settings.view {
                View::Relative if table.base.is_some() => self.relative(table, &mut notes, &mut out)?,
                _ => self.change(table, &report.settings, &mut notes, &mut out)?,
            }
            before = Some(table);
        }
        if report.tables.iter().any(|t| t.base.is_some()) {
            let hidden = report.tables.iter().flat_map(|t| &t.rows).filter(|r| r.hidden || r.beyond_limit).count();
            self.line(BOLD, &summary_line(&report.summary, &report.settings, hidden), &mut out)?;
        } else {
            let hidden = report.tables.iter().flat_map(|t| &t.rows).filter(|r| r.hidden || r.beyond_limit).count();
            if hidden > 0 {
                self.line(BOLD, &format!("{hidden} rows not shown; --all shows them"), &mut out)?;
            }
        }
        for (i, text) in notes.texts.iter().enumerate() {
            writeln!(out, "[{}] {}", i + 1, self.plain(text))?;
        }
        out.flush()
    }
}

impl Text {
    /// Settings of a table that differ from those of the table before, and the parameters that all its rows share.
    fn keys(&self, table: &Table, before: Option<&Table>, out: &mut dyn Write) -> io::Result<()> {
        let known = |k: &str, v: &str| before.is_some_and(|b| b.keys.iter().any(|(bk, bv)| **bk == *k && **bv == *v));
        let mut line = String::new();
        let mut lines = Vec::new();
        let shared = table.shared_parameters();
        for (k, v) in table.keys.iter().filter(|(k, v)| !known(k, v) && !v.is_empty()).chain(&shared) {
            let part = self.plain(&format!("{k}: {v}"));
            if !line.is_empty() && grid::width(&line) + 2 + grid::width(&part) > self.width {
                lines.push(std::mem::take(&mut line));
            }
            if !line.is_empty() {
                line.push_str("  ");
            }
            line.push_str(&part);
        }
        // What the base table had and this one lacks.
        let gone = before
            .iter()
            .flat_map(|b| b.keys.iter())
            .filter(|(k, v)| !v.is_empty() && !table.keys.iter().any(|(tk, tv)| tk == k && !tv.is_empty()));
        for (k, _) in gone {
            line.push_str(if line.is_empty() { "" } else { "  " });
            line.push_str(&self.plain(&format!("{k}: (none)")));
        }
        lines.push(line);
        for line in lines.iter().filter(|l| !l.is_empty()) {
            self.line(DIM, line, out)?;
        }
        Ok(())
    }

    fn line(&self, style: Style, text: &str, out: &mut dyn Write) -> io::Result<()> {
        if self.color { writeln!(out, "{style}{text}{style:#}") } else { writeln!(out, "{text}") }
    }

    /// Text from an input or a note, made safe to print, and ASCII where asked for.
    fn plain(&self, text: &str) -> String {
        let safe = printable(text);
        if !self.spelling.ascii || safe.is_ascii() {
            return safe.into_owned();
        }
        safe.chars()
            .map(|c| match c {
                c if c.is_ascii() => c.to_string(),
                '±' => "+-".to_owned(),
                'µ' | 'μ' => "u".to_owned(),
                '∞' => "inf".to_owned(),
                '…' => "..".to_owned(),
                '−' => "-".to_owned(),
                '≈' => "about".to_owned(),
                c => c.escape_unicode().to_string(),
            })
            .collect()
    }
}

/// The sentence at the end: what was found, and how much of it chance alone would give.
fn summary_line(c: &Counts, settings: &Settings, hidden: usize) -> String {
    let mut parts = vec![format!("{} faster", c.faster), format!("{} slower", c.slower)];
    if c.changed > 0 {
        parts.push(format!("{} changed", c.changed));
    }
    parts.push(format!("{} same", c.same));
    parts.push(format!("{} unclear", c.unclear));
    for (n, word) in [(c.untested, "untested"), (c.unmatched, "unmatched")] {
        if n > 0 {
            parts.push(format!("{n} {word}"));
        }
    }
    let mut line = parts.join(", ");
    if hidden > 0 {
        line += &format!(" ({hidden} not shown; --all shows them)");
    }
    if settings.equivalence {
        let confidence = change::confidence_words(1.0 - 2.0 * settings.alpha);
        let margin = change::trim_zeros(100.0 * settings.margin);
        line += &format!("; same: the {confidence} interval is within {margin}%");
    }
    if c.expected_false > 0.0 {
        let about = match c.expected_false {
            n if n < 9.95 => format!("{n:.1}"),
            n => format!("{n:.0}"),
        };
        // Errors that leave out differences between processes promise too much.
        let about = if c.in_doubt > 0 { format!("more than {about}") } else { format!("about {about}") };
        let left = match settings.correction {
            Correction::Holm => format!("{} left after Holm", c.after_correction),
            Correction::Bh => format!("{} left after Benjamini-Hochberg", c.after_correction),
            Correction::None => "none taken out (--correction none)".to_owned(),
        };
        line += &format!("; {about} false calls expected by chance, {left}");
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_says_what_chance_gives_and_what_is_left() {
        let counts = Counts {
            faster: 2,
            slower: 5,
            unclear: 30,
            expected_false: 1.85,
            after_correction: 4,
            ..Counts::default()
        };
        let settings = |correction| Settings {
            alpha: 0.05,
            confidence: 0.95,
            margin: 0.01,
            equivalence: false,
            correction,
            view: View::Change,
        };
        let said = |counts: &Counts, settings: &Settings| {
            let line = summary_line(counts, settings, 0);
            line.split_once("; ").map(|(_, rest)| rest.to_owned())
        };
        let holm = settings(Correction::Holm);
        assert_eq!(said(&counts, &holm).unwrap(), "about 1.9 false calls expected by chance, 4 left after Holm");
        assert_eq!(
            said(&counts, &settings(Correction::Bh)).unwrap(),
            "about 1.9 false calls expected by chance, 4 left after Benjamini-Hochberg"
        );
        assert_eq!(
            said(&counts, &settings(Correction::None)).unwrap(),
            "about 1.9 false calls expected by chance, none taken out (--correction none)"
        );
        let pooled = Counts { in_doubt: 3, ..counts };
        assert_eq!(said(&pooled, &holm).unwrap(), "more than 1.9 false calls expected by chance, 4 left after Holm");
        let equivalence = Settings { margin: 0.02, equivalence: true, ..settings(Correction::Holm) };
        assert!(said(&counts, &equivalence).unwrap().starts_with("same: the 90% interval is within 2%; about"));
        assert_eq!(said(&Counts { same: 3, ..Counts::default() }, &holm), None, "exact values have no chance in them");
    }
}
