//! The whole story of single rows in plain words: `--explain`.
//!
//! A paragraph per subject behind its label, wrapped to the width; values as strips: one in run order for each side, one of both sides on a
//! common axis.

use std::io::{self, Write};

use anstyle::Style;

use super::change::{confidence_words, trim_zeros};
use super::grid::width;
use super::strip::{dots, run_order};
use super::{BOLD, DIM, Text, YELLOW, style_of};
use crate::model::Center;
use crate::report::{
    Basis, Cell, Comparison, Correction, IntervalMethod, PairStory, ProcessStory, Report, Row, Settings, SideStory,
    Table, Test, Verdict, Why, Worth,
};
use crate::units::show::{Scale, percent};

/// Width of the labels before the paragraphs.
const LABEL: usize = 10;
/// Text is not wrapped below this.
const NARROWEST: usize = 40;
/// A blank at which no line is broken.
const TIED: &str = "\u{a0}";

impl Text {
    /// Tells the stories of all rows that have one.
    pub(super) fn explain(&self, report: &Report, out: &mut dyn Write) -> io::Result<()> {
        let mut first = true;
        for table in &report.tables {
            for row in &table.rows {
                let Some(story) = row.explanation() else { continue };
                if !std::mem::take(&mut first) {
                    writeln!(out)?;
                }
                let scale = Scale::of(&table.unit, row.cells().flatten().filter_map(|c| c.center));
                let teller = Teller { text: self, settings: &report.settings, table, row, scale };
                teller.heading(out)?;
                for side in &story.sides {
                    teller.side(side, out)?;
                }
                teller.axis(&story.sides, out)?;
                for pair in &story.pairs {
                    teller.pair(pair, story.pairs.len() > 1, out)?;
                }
                teller.notes(out)?;
            }
        }
        if report.tables.iter().flat_map(|t| t.rows.iter().map(move |r| (t, r))).any(may_be_one_process) {
            writeln!(out)?;
            let go = report.inputs.iter().any(|i| i.formats.contains(&"go"));
            let how = if go { " (a loop around go test -count=1)" } else { "" };
            let text = format!(
                "all runs of a side come from one input; if one process made them, differences between processes are not in \
                 them. Runs in separate processes are safer{how}, the two sides in turns"
            );
            self.say("note", Style::new(), &text, out)?;
        }
        Ok(())
    }

    /// `label     text`, wrapped, the text under itself.
    fn say(&self, label: &str, style: Style, text: &str, out: &mut dyn Write) -> io::Result<()> {
        let label = self.plain(label);
        let mut lines = self.wrapped(text, self.room()).into_iter();
        let pad = " ".repeat(LABEL.saturating_sub(width(&label)));
        if width(&label) >= LABEL {
            self.line(BOLD, &label, out)?;
        } else if let Some(line) = lines.next() {
            let label = if self.color { format!("{BOLD}{label}{BOLD:#}") } else { label };
            self.behind(&format!("{label}{pad}"), style, &line, out)?;
        }
        for line in lines {
            self.behind(&" ".repeat(LABEL), style, &line, out)?;
        }
        Ok(())
    }

    /// Columns for the paragraphs.
    fn room(&self) -> usize {
        self.width.max(NARROWEST) - LABEL
    }

    /// Breaks `text` at blanks into lines of at most `room` columns, numbers and their units together; a longer word has a line of its own.
    fn wrapped(&self, text: &str, room: usize) -> Vec<String> {
        let words = text.split(' ').filter(|w| !w.is_empty());
        let words = words.map(|w| w.split(TIED).map(|part| self.plain(part)).collect::<Vec<_>>().join(" "));
        let mut lines: Vec<String> = Vec::new();
        for word in words {
            match lines.last_mut() {
                Some(line) if width(line) + 1 + width(&word) <= room => {
                    line.push(' ');
                    line.push_str(&word);
                }
                _ => lines.push(word),
            }
        }
        lines
    }

    fn behind(&self, before: &str, style: Style, text: &str, out: &mut dyn Write) -> io::Result<()> {
        match self.color && style != Style::new() {
            true => writeln!(out, "{before}{style}{text}{style:#}"),
            false => writeln!(out, "{before}{text}"),
        }
    }
}

/// Runs of a side that was explained come from one input and are not told apart by process.
fn may_be_one_process((table, row): (&Table, &Row)) -> bool {
    let one_input = |s: &SideStory| s.one_input && !s.told_apart && s.runs.iter().any(|r| r.len() > 1);
    !table.exact && row.explanation().is_some_and(|e| e.sides.iter().any(one_input))
}

/// Tells of one row.
struct Teller<'a> {
    text: &'a Text,
    settings: &'a Settings,
    table: &'a Table,
    row: &'a Row,
    scale: Scale,
}

impl Teller<'_> {
    /// A number and its unit, which stay on one line.
    fn show(&self, v: f64) -> String {
        self.scale.show(v, self.text.spelling).replace(' ', TIED)
    }

    /// The same outside of a paragraph.
    fn bare(&self, v: f64) -> String {
        self.text.plain(&self.scale.show(v, self.text.spelling))
    }

    /// The same with its sign.
    fn signed(&self, v: f64) -> String {
        format!("{}{}", if v < 0.0 { "" } else { "+" }, self.show(v))
    }

    /// `1.707 .. 1.736 µs`; an open end is infinite.
    fn range(&self, lo: f64, hi: f64) -> String {
        let end = |v: f64, open: &str| if v.is_finite() { self.scale.number(v) } else { open.to_owned() };
        let suffix = self.scale.suffix(self.text.spelling);
        format!("{} .. {}{suffix}", end(lo, "-∞"), end(hi, "+∞")).replace(' ', TIED)
    }

    fn label(&self, column: usize) -> &str {
        self.table.columns.get(column).map_or("", |c| &c.label)
    }

    fn heading(&self, out: &mut dyn Write) -> io::Result<()> {
        let unit = &self.table.unit.name;
        let direction = self.table.direction_words().map_or(String::new(), |w| format!(", {w}"));
        let heading = self.text.plain(&format!("{}   {unit}{direction}", self.row.display_name()));
        self.text.line(BOLD, &heading, out)?;
        let keys: Vec<String> =
            self.table.keys.iter().filter(|k| !k.1.is_empty()).map(|(k, v)| format!("{k}: {v}")).collect();
        for line in self.text.wrapped(&keys.join(", "), self.text.width.max(NARROWEST)) {
            self.text.line(DIM, &line, out)?;
        }
        Ok(())
    }

    fn side(&self, side: &SideStory, out: &mut dyn Write) -> io::Result<()> {
        let Some(cell) = self.row.cell(side.column) else { return Ok(()) };
        writeln!(out)?;
        let mut text = samples_words(side, &cell);
        match (cell.min, cell.max) {
            (Some(min), Some(max)) if min == max => {
                return self.text.say(
                    self.label(side.column),
                    Style::new(),
                    &format!("{text}, all {}", self.show(min)),
                    out,
                );
            }
            (Some(min), Some(max)) => text += &format!(", from {} to {}", self.show(min), self.show(max)),
            _ => {}
        }
        self.text.say(self.label(side.column), Style::new(), &text, out)?;
        if let Some(strip) = run_order(&side.runs, self.text.room(), self.text.spelling.ascii) {
            writeln!(out, "{}{strip}", " ".repeat(LABEL))?;
        }
        if side.runs.len() > 1 {
            self.text.say("", Style::new(), &self.means_of_processes(&side.runs), out)?;
        }
        self.text.say("", Style::new(), &self.center(&cell), out)?;
        if let Some(processes) = &side.processes {
            self.text.say("", Style::new(), &processes_words(processes), out)?;
        }
        for warning in &side.warnings {
            self.text.say("", YELLOW, &format!("warning: {warning}"), out)?;
        }
        Ok(())
    }

    /// The mean of each process, of the first ones where there are many.
    fn means_of_processes(&self, runs: &[Vec<f64>]) -> String {
        const SHOWN: usize = 10;
        let mean = |r: &Vec<f64>| r.iter().map(|v| v / r.len() as f64).sum::<f64>();
        let means: Vec<String> = runs.iter().take(SHOWN).map(|r| self.scale.number(mean(r))).collect();
        let more = if runs.len() > SHOWN { ", ..." } else { "" };
        let unit = self.scale.suffix(self.text.spelling).replace(' ', TIED);
        format!("means of the processes: {}{unit}{more}", means.join(", "))
    }

    /// What stands in the middle, and how exactly it is known.
    fn center(&self, cell: &Cell) -> String {
        let Some(center) = cell.center else { return "no value".into() };
        let what = match cell.kind {
            Some(Center::Median) if cell.forks.is_some_and(|f| f > 1) => "median of the processes' medians",
            Some(Center::Median) => "median",
            Some(Center::Mean) => "mean",
            Some(Center::ForkMean) => "mean of the processes' means",
            Some(Center::Mode) => "most frequent value",
            Some(Center::Single) | None => "value",
        };
        let about = if cell.approximate { "about " } else { "" };
        let mut text = format!("{what} {about}{}", self.show(center));
        let confidence = confidence_words(self.settings.confidence);
        match (cell.lo, cell.hi) {
            _ if cell.kind == Some(Center::Mode) => {}
            (Some(lo), Some(hi)) => {
                let how = match (cell.kind, cell.coverage) {
                    (Some(Center::Median), Some(c)) => format!(" by order statistics, which cover {:.1}%", 100.0 * c),
                    (Some(Center::Median), None) => " by order statistics".to_owned(),
                    (Some(Center::ForkMean), _) => " by Student's t over the processes".to_owned(),
                    _ => " by Student's t".to_owned(),
                };
                text += &format!(", {confidence} interval {}{how}", self.range(lo, hi));
            }
            _ if cell.infinite => text += &format!("; too few values for a {confidence} interval"),
            _ => {}
        }
        if let Some(pct) = cell.spread_pct {
            text += &format!(" ± {}%, as printed", trim_zeros(pct));
        }
        if let (Some(mean), Some(sd)) = (cell.mean, cell.sd) {
            let cv = if mean == 0.0 { String::new() } else { format!(" ({:.1}%)", 100.0 * sd / mean.abs()) };
            let mean =
                if cell.kind == Some(Center::Mean) { String::new() } else { format!("mean {}, ", self.show(mean)) };
            text += &format!("; {mean}standard deviation {}{cv}", self.show(sd));
        }
        if let Some(r) = &cell.reported {
            let error = r.error.map_or(String::new(), |e| format!(" ± {}", self.show(e)));
            let at = r.confidence.map_or(String::new(), |c| format!(" ({})", confidence_words(c)));
            text += &format!("; the input itself says {}{error}{at}", self.show(r.center));
        }
        text
    }

    /// The values of all sides on one axis.
    fn axis(&self, sides: &[SideStory], out: &mut dyn Write) -> io::Result<()> {
        let values = || sides.iter().flat_map(|s| s.runs.iter().flatten().copied());
        let (min, max) = values().fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), v| (lo.min(v), hi.max(v)));
        if min >= max || values().count() < 3 {
            return Ok(());
        }
        writeln!(out)?;
        let room = self.text.room().min(72);
        for side in sides.iter().filter(|s| !s.runs.is_empty()) {
            let center = self.row.cell(side.column).and_then(|c| c.center);
            let strip = dots(&side.runs, center, (min, max), room, self.text.spelling.ascii);
            let label = cut(&self.text.plain(self.label(side.column)), LABEL - 1);
            writeln!(out, "{label}{}{strip}", " ".repeat(LABEL - width(&label)))?;
        }
        let (lo, hi) = (self.bare(min), self.bare(max));
        let gap = room.saturating_sub(width(&lo) + width(&hi)).max(1);
        self.text.line(DIM, &format!("{}{lo}{}{hi}", " ".repeat(LABEL), " ".repeat(gap)), out)
    }

    fn pair(&self, pair: &PairStory, several: bool, out: &mut dyn Write) -> io::Result<()> {
        let Some(c) = self.row.comparison(pair.column) else { return Ok(()) };
        writeln!(out)?;
        if several {
            let line = format!("{} -> {}", self.label(c.base), self.label(pair.column));
            self.text.line(BOLD, &self.text.plain(&line), out)?;
        }
        if let Some(text) = self.change(&c, pair) {
            self.text.say("change", Style::new(), &text, out)?;
        }
        self.text.say("test", Style::new(), &self.test(&c, pair), out)?;
        for text in self.by_other_methods(&c, pair) {
            self.text.say("", Style::new(), &text, out)?;
        }
        let dim = self.table.unit.dim();
        self.text.say(
            "verdict",
            style_of(c.verdict),
            &format!("{}: {}", c.verdict.word(dim), self.reason(&c, pair)),
            out,
        )?;
        if let Some(text) = power_words(pair) {
            self.text.say("power", Style::new(), &text, out)?;
        }
        for warning in &pair.warnings {
            self.text.say("warning", YELLOW, warning, out)?;
        }
        Ok(())
    }

    fn change(&self, c: &Comparison, pair: &PairStory) -> Option<String> {
        let center = |i: usize| self.row.cell(i).and_then(|c| c.center);
        let (old, new) = (center(c.base)?, center(pair.column)?);
        let mut text = format!("{} -> {}", self.show(old), self.show(new));
        if let Some(d) = c.difference {
            text += &format!(", {}", self.signed(d));
        }
        if let Some(pct) = c.delta_pct {
            text += &format!(", {}", percent(pct));
        }
        let estimate = match c.interval {
            IntervalMethod::HodgesLehmann => "median of the ratios of all pairs of runs (Hodges-Lehmann)",
            IntervalMethod::LogDelta => "ratio of means (interval by the delta method on logarithms)",
            IntervalMethod::Fieller => "ratio of means (interval by Fieller, because a mean is noisy)",
            IntervalMethod::WelchLogForks => "ratio of the geometric means of the processes",
            IntervalMethod::WelchLog => "ratio of geometric means",
            IntervalMethod::PairedLog => "geometric mean of the pairs' ratios",
            IntervalMethod::Bootstrap => "ratio of means (interval by bootstrap)",
            IntervalMethod::None => return Some(text),
        };
        if let Some(r) = c.ratio {
            text += &format!("; {estimate} {r:.4}, {}", percent(100.0 * (r - 1.0)));
            text += &match c.interval_pct() {
                Some((lo, hi)) => format!(", {} interval {}", confidence_words(c.confidence), percent_range(lo, hi)),
                None => format!(", too few values for a {} interval", confidence_words(c.confidence)),
            };
        }
        let coverage = pair.ranks.and_then(|r| r.ratio?.coverage);
        if let Some(coverage) = coverage.filter(|_| c.interval == IntervalMethod::HodgesLehmann) {
            text += &format!(" (covers {:.1}%)", 100.0 * coverage);
        }
        if c.why == Some(Why::OneProcess) || pair.basis == Basis::OneProcess {
            text += "; within one process";
        }
        Some(text)
    }

    fn test(&self, c: &Comparison, pair: &PairStory) -> String {
        let test = match c.test {
            Test::MannWhitneyExact => "Mann-Whitney U, exact",
            Test::MannWhitneyNormal => "Mann-Whitney U by its normal approximation",
            Test::Welch if c.interval == IntervalMethod::Fieller => "Welch's t",
            Test::Welch => "Welch's t on logarithms",
            Test::WelchLogForks => "Welch's t on the logarithms of one value per process",
            Test::WelchSummary => "Welch's t from n, mean and standard deviation",
            Test::WelchSummaryForks => "Welch's t from mean and standard deviation, with as many values as processes",
            Test::Paired => "Student's t on the logarithms of the pairs' ratios",
            Test::Exact => return "none: the unit is exact, so any difference is a change".into(),
            Test::Printed => "as the table that was read states it",
            Test::None => return "none".into(),
        };
        let because = match pair.basis {
            Basis::Runs => "both sides are lists of single runs, and ranks ask nothing of their noise",
            Basis::Pairs => "run k of one side belongs to run k of the other",
            Basis::Forks => {
                "iterations of one process belong together, and only processes vary independently of each other"
            }
            Basis::ForksAndRuns => "one side has one value per process, the other single runs",
            Basis::OneProcess => {
                "a side is one process: only its iterations can be compared, and how processes differ is not seen"
            }
            Basis::Summary => "only n, mean and error of a side are known",
            Basis::Printed | Basis::Exact | Basis::Nothing => "the samples are not at hand",
        };
        let asked = if pair.chosen { ", as asked for" } else { "" };
        let mut text = match (pair.basis, pair.chosen) {
            (Basis::Printed, _) => test.to_owned(),
            (Basis::Runs, true) => format!("{test}{asked}"),
            _ => format!("{test}{asked}, because {because}"),
        };
        if let Some((n, m)) = pair.sizes {
            text += &format!("; {n} against {m} values");
        }
        if let Some(p) = c.p {
            text += &format!("; p = {}", self.p(p));
        }
        if let (Some(p), Some(correction)) = (c.p_adjusted, correction_words(self.settings.correction)) {
            text += &match pair.family {
                1 => ", the only row tested".to_owned(),
                rows => format!(", {} after {correction} over the {rows} rows tested together", self.p(p)),
            };
        }
        text
    }

    /// What ranks, pairs and resampling say of the same values.
    fn by_other_methods(&self, c: &Comparison, pair: &PairStory) -> Vec<String> {
        let mut texts = Vec::new();
        if let Some(r) = &pair.ranks {
            let by_ranks = matches!(c.test, Test::MannWhitneyExact | Test::MannWhitneyNormal);
            let p = if by_ranks {
                String::new()
            } else {
                format!("Mann-Whitney U of the same values: p = {}; ", self.p(r.p))
            };
            let mut text = format!(
                "{p}U = {} of {} pairs: a value of {} is above one of {} with probability A = {:.2}",
                r.u,
                r.pairs,
                self.label(pair.column),
                self.label(c.base),
                r.effect
            );
            text += &format!("; shift (Hodges-Lehmann) {}", self.signed(r.shift.value));
            if let Some((lo, hi)) = r.shift.interval {
                text += &format!(", {} interval {}", confidence_words(c.confidence), self.range(lo, hi));
            }
            if r.smallest_p > self.settings.alpha {
                text += &format!("; the smallest p such samples can have is {}", self.p(r.smallest_p));
            }
            texts.push(text);
        }
        if let Some(p) = pair.signed_rank {
            texts.push(format!("signed-rank test of the pairs: p = {}", self.p(p)));
        }
        let shown = c.interval == IntervalMethod::Bootstrap;
        if let Some((b, (lo, hi))) = pair.bootstrap.filter(|_| !shown).and_then(|b| Some((b, b.ratio.interval?))) {
            texts.push(format!(
                "ratio of means {:.4}, {} interval by bootstrap {} (BCa, {} resamples, seed {})",
                b.ratio.value,
                confidence_words(c.confidence),
                percent_range(100.0 * (lo - 1.0), 100.0 * (hi - 1.0)),
                b.resamples,
                b.seed
            ));
        }
        texts
    }

    /// Why the verdict is what it is.
    fn reason(&self, c: &Comparison, pair: &PairStory) -> String {
        let s = self.settings;
        let alpha = s.alpha;
        if let Some(text) = c.why.and_then(untested_words) {
            return text.into();
        }
        if c.test == Test::Exact {
            let equal = c.verdict == Verdict::Same;
            return if equal { "equal" } else { "any difference of exact values is a change" }.into();
        }
        let margin = format!("±{}%", trim_zeros(100.0 * s.margin));
        let interval = self.deciding_interval(c);
        let doubt = match c.why {
            Some(Why::OneProcess) => ", but differences between processes are not in it",
            Some(Why::Pooled) => ", but it pools forks and iterations, and the true one may be wider",
            _ => "",
        };
        match (c.verdict, c.why) {
            (Verdict::Same, _) => {
                let interval = interval.unwrap_or_default();
                let significant = c.p.is_some_and(|p| p <= alpha);
                let though = if significant { ", though p says that there is some change" } else { "" };
                format!("{interval} lies within {margin}: whatever the change is, it is negligible{though}{doubt}")
            }
            (Verdict::Untested, _) => "no test is possible".into(),
            (Verdict::Unclear, Some(Why::TooFew)) => format!("no arrangement of these values has p at most {alpha}"),
            (Verdict::Unclear, Some(Why::Contradiction)) => {
                "the centers moved one way, or not at all, and the bulk of the values the other".into()
            }
            (Verdict::Unclear, _) => {
                let p = match c.p {
                    Some(_) => format!("p is above {alpha}, so that a change is not shown"),
                    None => "p is not known, so that a change is not shown".to_owned(),
                };
                match interval {
                    Some(interval) => format!(
                        "{p}, and {interval} does not lie within {margin}, so that sameness is not shown either{doubt}"
                    ),
                    None => format!("{p}; without an interval sameness cannot be shown"),
                }
            }
            (_, Some(Why::Correction)) => {
                let correction = correction_words(s.correction).unwrap_or("the correction");
                format!(
                    "p is at most {alpha} for this row alone, but not after {correction} over {} rows: such rows turn up by \
                     chance",
                    pair.family
                )
            }
            (_, Some(Why::OneProcess)) => format!(
                "p is at most {alpha}, but one process a side cannot show how processes differ; not confirmed whatever p is"
            ),
            (_, Some(Why::Pooled)) => format!(
                "p is at most {alpha}, but the printed error pools forks and iterations and may be too small; not confirmed \
                 whatever p is"
            ),
            _ => {
                let after = match (correction_words(s.correction), pair.family) {
                    (Some(correction), rows) if rows > 1 => format!(", also after {correction} over {rows} rows"),
                    _ => String::new(),
                };
                let interval = interval.map_or(String::new(), |i| format!(", and {i} does not lie within {margin}"));
                format!("p is at most {alpha}{after}{interval}")
            }
        }
    }

    /// `the 95% interval -17.9 .. -16.5%`: the one that is held against the margin.
    fn deciding_interval(&self, c: &Comparison) -> Option<String> {
        let pct = |r: f64| 100.0 * (r - 1.0);
        let (confidence, (lo, hi)) = match c.equivalence {
            Some((lo, hi)) => (1.0 - 2.0 * self.settings.alpha, (pct(lo), pct(hi))),
            None => (c.confidence, c.interval_pct()?),
        };
        Some(format!("the {} interval {}", confidence_words(confidence), percent_range(lo, hi)))
    }

    fn notes(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut notes = self.row.notes().filter_map(|n| self.table.notes.get(n)).peekable();
        if notes.peek().is_some() {
            writeln!(out)?;
        }
        notes.try_for_each(|note| self.text.say("note", Style::new(), note, out))
    }

    /// A p-value to two digits at least.
    fn p(&self, p: f64) -> String {
        if p < 0.001 { format!("{p:.1e}") } else { format!("{p:.*}", self.text.p_digits.max(3)) }
    }
}

/// `5 processes of 4 iterations`.
fn samples_words(side: &SideStory, cell: &Cell) -> String {
    let n = cell.n.map_or("an unknown number of".to_owned(), |n| n.to_string());
    if side.histogram {
        return format!("{n} calls from histograms");
    }
    if !cell.raw {
        let forks = cell.forks.map_or(String::new(), |f| format!(" from {f} processes"));
        return format!("only a summary of {n} values{forks}");
    }
    if !side.told_apart {
        return format!("{n} run{}, in the order they were made", if cell.n == Some(1) { "" } else { "s" });
    }
    let (processes, first) = (side.runs.len(), side.runs.first().map_or(0, Vec::len));
    let of = match side.runs.iter().all(|r| r.len() == first) {
        true => format!("{first}"),
        false => "different numbers of".to_owned(),
    };
    let es = if processes == 1 { "" } else { "es" };
    format!("{n} values: {processes} process{es} of {of} iteration{}", if first == 1 { "" } else { "s" })
}

/// What the analysis of variance says.
fn processes_words(processes: &ProcessStory) -> String {
    let mut text = format!("{:.0}% of the variance is between processes", 100.0 * processes.between);
    if let Some((f, p)) = processes.test {
        text += &format!(" (F = {f:.2}, p = {p:.3})");
    }
    if let Some(design) = processes.design_effect {
        let pooled = design.sqrt();
        text += &match pooled > 1.05 {
            true => {
                format!(
                    "; an error that pools the iterations would be too small by x{pooled:.1} (design effect {design:.1})"
                )
            }
            false => format!("; pooling the iterations would not make the error smaller (design effect {design:.1})"),
        };
    }
    match processes.worth {
        Some((cost, Worth::Iterations(n))) => {
            text += &format!(
                "; about {} iterations a process are worth doing if starting one costs as much as {cost}: beyond that, more \
                 processes tell more",
                n.ceil().max(1.0)
            );
        }
        Some((_, Worth::Any)) => text += "; processes do not differ, so iterations and processes count alike",
        None => {}
    }
    text
}

fn power_words(pair: &PairStory) -> Option<String> {
    let power = pair.power.as_ref().filter(|p| p.detectable > 0.0)?;
    let unit = if power.forks { "processes" } else { "runs" };
    let now = pair.sizes.map_or(String::new(), |(n, m)| match n == m {
        true => format!("{n} {unit} a side "),
        false => format!("{n} and {m} {unit} "),
    });
    let needed: Vec<String> = power.needed.iter().map(|(e, n)| format!("{}% {n}", trim_zeros(100.0 * e))).collect();
    Some(format!(
        "{now}show a change of {}% with a probability of {:.0}%; needed a side: {}. Measure anew with so many: adding runs until p is \
         small finds what is not there",
        two_digits(100.0 * power.detectable),
        100.0 * power.power,
        needed.join(", ")
    ))
}

fn untested_words(why: Why) -> Option<&'static str> {
    Some(match why {
        Why::OneSide => "the row is on one side only",
        Why::SingleValue => "a single run has no spread to test with",
        Why::NoSpread => "the spread that a test needs is not known",
        Why::UnitDiffers => "the units differ",
        Why::KindDiffers => "a mean and a median cannot be compared",
        Why::AllEqual => "all values are equal",
        Why::Constant => "neither side varies, so that there is nothing to test with",
        Why::MixedSummaries => "several printed summaries fall into one cell",
        Why::Approximate => "only the order of magnitude is known",
        Why::NotAsked => "no test was asked for",
        Why::TooFew | Why::Correction | Why::Pooled | Why::OneProcess | Why::Contradiction => return None,
    })
}

fn correction_words(correction: Correction) -> Option<&'static str> {
    match correction {
        Correction::Holm => Some("Holm"),
        Correction::Bh => Some("Benjamini-Hochberg"),
        Correction::None => None,
    }
}

/// `-17.9 .. -16.5%`.
fn percent_range(lo: f64, hi: f64) -> String {
    let end = |v: f64, open: &str| match v.is_finite() {
        true => percent(v).trim_end_matches('%').to_owned(),
        false => open.to_owned(),
    };
    format!("{} .. {}%", end(lo, "-∞"), end(hi, "+∞")).replace(' ', TIED)
}

fn two_digits(v: f64) -> String {
    if v < 9.95 { format!("{v:.1}") } else { format!("{v:.0}") }
}

/// The beginning of `text`, at most `room` columns wide.
fn cut(text: &str, room: usize) -> String {
    let mut out = String::new();
    for c in text.chars() {
        out.push(c);
        if width(&out) > room {
            out.pop();
            break;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::{Plan, RowPattern, compare};
    use crate::pivot::testing;
    use crate::pivot::{Layout, layout};
    use crate::render::Render;
    use crate::units::show::Spelling;

    const FLAT: &str = "
        @old
        goos: linux
        go Get-8 | 101 ns/op
        go Get-8 | 102 ns/op
        go Get-8 | 100 ns/op
        go Get-8 | 103 ns/op
        go Get-8 | 99 ns/op
        go Get-8 | 140 ns/op
        @new
        goos: linux
        go Get-8 | 111 ns/op
        go Get-8 | 112 ns/op
        go Get-8 | 110 ns/op
        go Get-8 | 113 ns/op
        go Get-8 | 109 ns/op
        go Get-8 | 114 ns/op";

    fn told(text: &str, renderer: &Text, plan: Plan) -> String {
        let mut set = testing::set(text);
        let grid = layout(&mut set, &Layout::default());
        let plan = Plan { explain: vec![RowPattern(".".into())], ..plan };
        let report = compare(grid, set.inputs, vec![], &plan).unwrap();
        let mut out = Vec::new();
        renderer.render(&report, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn the_story_of_a_row_of_flat_data() {
        insta::with_settings!({ snapshot_path => "../../../testdata/render", prepend_module_to_snapshot => false }, {
            insta::assert_snapshot!("explain-flat.txt", told(FLAT, &Text::default(), Plan::default()));
        });
    }

    #[test]
    fn no_line_is_wider_than_asked_for() {
        for (wide, ascii) in [(40, false), (61, true), (80, false), (120, true)] {
            let spelling = Spelling { ascii, ..Spelling::default() };
            let text = told(FLAT, &Text { width: wide, spelling, ..Text::default() }, Plan::default());
            for line in text.lines() {
                assert!(width(line) <= wide, "{} columns of {wide}: {line}", width(line));
            }
            assert!(!ascii || text.is_ascii(), "{text}");
        }
    }

    #[test]
    fn numbers_stay_with_their_units() {
        for wide in 40..100 {
            let text = told(FLAT, &Text { width: wide, ..Text::default() }, Plan::default());
            assert!(!text.lines().any(|l| l.trim_start().starts_with("ns")), "{text}");
        }
    }

    #[test]
    fn reasons_fit_the_verdicts() {
        let reason = |plan| told(FLAT, &Text { width: 1000, ..Text::default() }, plan);
        let text = reason(Plan::default());
        assert!(
            text.contains("slower: p is at most 0.05, and the 95% interval") || text.contains("unclear: p is above"),
            "{text}"
        );
        let same = reason(Plan { margin: 0.9, ..Plan::default() });
        assert!(same.contains("same: the 95% interval -18.6 .. +12.9% lies within ±90%"), "{same}");
        let equivalent = reason(Plan { margin: 0.9, equivalence: true, ..Plan::default() });
        assert!(equivalent.contains("same: the 90% interval"), "{equivalent}");
        let paired = reason(Plan { paired: true, ..Plan::default() });
        assert!(paired.contains("as asked for, because run k of one side belongs to run k of the other"), "{paired}");
        assert!(paired.contains("signed-rank test of the pairs: p = "), "{paired}");
        let single = told("@a\ngo A | 1 ns/op\n@b\ngo A | 2 ns/op", &Text::default(), Plan::default());
        assert!(single.contains("untested: a single run has no spread to test with"), "{single}");
    }
}
