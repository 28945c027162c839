//! Markdown for a pull request comment or a job summary, GitHub's flavour: for a person who has ten seconds.
//!
//! A verdict line, gates and warnings, then per table the changed rows, worst first, and the rest folded away. At most four
//! columns: with more columns in the report their tables follow one another. Names stand in code spans, so that nothing in them
//! is markup; the whole stays under a byte limit by leaving out rows, folded ones first, and says how many.
//!
//! Not done here: posting the comment. The marker on the first line lets a step that does find and replace it.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io;

use super::Render;
use super::order::row_weight;
use crate::base::printable;
use crate::report::{Comparison, Report, Row, Table, Test, Verdict, View, Why};
use crate::units::show::{self, Scale, Spelling};

/// What can be chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MarkdownOptions {
    /// Makes line 1 `<!-- abstat:ID -->`.
    pub marker: Option<String>,
    /// Longest output in bytes; rows are left out to stay below it.
    pub max_bytes: usize,
    /// ✅ and ❌ beside confirmed changes; words otherwise.
    pub emoji: bool,
    /// Relative view: plain new / base instead of turned by direction.
    pub raw_ratio: bool,
    /// Where the full report is, to be named when rows are left out.
    pub full_report: Option<String>,
}

impl Default for MarkdownOptions {
    /// 65000 bytes: GitHub takes comments of 65536 characters.
    fn default() -> Self {
        MarkdownOptions { marker: None, max_bytes: 65_000, emoji: true, raw_ratio: false, full_report: None }
    }
}

/// `-f markdown`
#[derive(Clone, Debug, Default)]
pub struct Markdown(pub MarkdownOptions);

impl Render for Markdown {
    fn render(&self, report: &Report, out: &mut dyn io::Write) -> io::Result<()> {
        out.write_all(document(report, &self.0).as_bytes())
    }
}

/// Longest name in a table, in characters.
const NAME_MAX: usize = 48;
/// Kept free for saying what was left out.
const RESERVE: usize = 400;

/// Warnings about machines shown in full.
const WARNINGS: usize = 5;

const SPELLING: Spelling = Spelling { ascii: false, go: false };

/// A change with the minus sign of running text.
fn percent(pct: f64) -> String {
    show::percent(pct).replace('-', "−")
}

/// One table of the report, cut into what can be left out.
struct Section {
    /// Everything before the rows that are always shown.
    head: String,
    /// One table per group of columns; the first has the rows that count.
    parts: Vec<Part>,
    /// Rows that are not changed.
    summary: String,
    /// Full names of rows whose names are cut.
    names: Vec<String>,
    /// After everything.
    foot: String,
}

/// A Markdown table: header lines and rows.
struct Part {
    header: String,
    changed: Vec<String>,
    geomean: Option<String>,
    folded: Vec<String>,
}

fn document(report: &Report, options: &MarkdownOptions) -> String {
    let mut top = String::new();
    if let Some(marker) = &options.marker {
        top.push_str(&format!("<!-- abstat:{} -->\n", marker_text(marker)));
    }
    top.push_str(&verdict_line(report, options));
    top.push('\n');
    for gate in gate_lines(report, options) {
        top.push_str(&format!("\n{gate}\n"));
    }
    let differences: Vec<_> = report.machine_differences().collect();
    if !differences.is_empty() {
        top.push_str("\n> [!WARNING]\n");
        let mut lines: Vec<String> = differences.iter().take(WARNINGS).map(|d| escape(&shorten(&d.message))).collect();
        if let Some(more @ 1..) = differences.len().checked_sub(WARNINGS) {
            lines.push(format!("and {more} more"));
        }
        // Hard line breaks: one line each.
        top.push_str(&format!("> {}\n", lines.join("\\\n> ")));
    }
    let mut sections: Vec<Section> = report.tables.iter().map(|t| section(report, t, options)).collect();
    let bottom = format!("\n<sub>{}</sub>\n", escape(&method_line(report)));
    let dropped = fit(&mut sections, options.max_bytes.saturating_sub(top.len() + bottom.len()));
    for section in &sections {
        section.write(&mut top);
    }
    if let Some(dropped) = dropped {
        let place = match &options.full_report {
            Some(path) => format!("the full report is {}", code(path, false)),
            None => "`-f html`, `-f text --all` and `-f json` have them all".to_owned(),
        };
        top.push_str(&format!("\n_{dropped} to stay below {} bytes; {place}._\n", options.max_bytes));
    }
    top.push_str(&bottom);
    top
}

impl Section {
    fn write(&self, out: &mut String) {
        out.push_str(&self.head);
        for part in &self.parts {
            if !part.changed.is_empty() {
                out.push('\n');
                out.push_str(&part.header);
                part.changed.iter().chain(&part.geomean).for_each(|row| out.push_str(row));
            }
        }
        let folded = self.parts.iter().any(|p| !p.folded.is_empty());
        if folded || !self.names.is_empty() {
            out.push_str(&format!("\n<details><summary>{}</summary>\n", self.summary));
            for part in self.parts.iter().filter(|p| !p.folded.is_empty()) {
                out.push('\n');
                out.push_str(&part.header);
                let geomean = part.geomean.iter().filter(|_| part.changed.is_empty());
                part.folded.iter().chain(geomean).for_each(|row| out.push_str(row));
            }
            if !self.names.is_empty() {
                out.push('\n');
                self.names.iter().for_each(|name| out.push_str(name));
            }
            out.push_str("\n</details>\n");
        }
        out.push_str(&self.foot);
    }

    fn len(&self) -> usize {
        let mut text = String::new();
        self.write(&mut text);
        text.len()
    }
}

/// Leaves out rows, folded ones first, then changed ones from the end, then whole tables, until `room` is enough.
/// Says what was left out.
fn fit(sections: &mut Vec<Section>, room: usize) -> Option<String> {
    let mut total: usize = sections.iter().map(Section::len).sum();
    if total <= room {
        return None;
    }
    let room = room.saturating_sub(RESERVE);
    let (mut folded, mut changed, mut tables) = (0, 0, 0);
    for section in sections.iter_mut().rev() {
        while total > room && section.names.pop().is_some_and(|name| shrink(&mut total, &name)) {}
    }
    for section in sections.iter_mut().rev() {
        // Parts hold the same rows over other columns: take the row out of all of them.
        while total > room && section.pop(&mut total, |part| &mut part.folded) {
            folded += 1;
        }
    }
    for section in sections.iter_mut().rev() {
        while total > room && section.pop(&mut total, |part| &mut part.changed) {
            changed += 1;
        }
    }
    // What the popped rows leave behind (headers, folds) is counted exactly from here on.
    total = sections.iter().map(Section::len).sum();
    while total > room {
        let Some(section) = sections.pop() else { break };
        total -= section.len();
        tables += 1;
    }
    let counts = [
        (folded, "row without a shown change", "rows without a shown change"),
        (changed, "changed row", "changed rows"),
        (tables, "table", "tables"),
    ];
    let list: Vec<String> = counts
        .iter()
        .filter(|c| c.0 > 0)
        .map(|(n, one, many)| format!("{n} {}", if *n == 1 { one } else { many }))
        .collect();
    Some(if list.is_empty() { "Full names left out".to_owned() } else { format!("{} left out", list.join(", ")) })
}

/// Takes the length of `text` off `total`; always true.
fn shrink(total: &mut usize, text: &str) -> bool {
    *total = total.saturating_sub(text.len());
    true
}

impl Section {
    /// Takes the last row out of every part; false when there is none left.
    fn pop(&mut self, total: &mut usize, rows: impl Fn(&mut Part) -> &mut Vec<String>) -> bool {
        let mut any = false;
        for part in &mut self.parts {
            if let Some(row) = rows(part).pop() {
                any = shrink(total, &row);
            }
        }
        any
    }
}

/// `**abstat: 1 slower, 1 faster, 37 same, 3 unclear** (base `main`, head `pr`, 10 runs, sec/op, lower is better)`
fn verdict_line(report: &Report, options: &MarkdownOptions) -> String {
    let s = &report.summary;
    let compared = report.tables.iter().any(|t| t.base.is_some());
    let counts = [
        (s.slower, "slower", true),
        (s.faster, "faster", true),
        (s.changed, "changed", false),
        (s.same, "same", false),
        (s.unclear, "unclear", false),
        (s.untested, "untested", false),
        (s.unmatched, "unmatched", false),
    ];
    let counts: Vec<String> =
        counts.iter().filter(|(n, _, always)| *n > 0 || *always).map(|(n, word, _)| format!("{n} {word}")).collect();
    let headline = match compared {
        true => counts.join(", "),
        false => {
            let rows = report.tables.iter().map(|t| t.rows.len()).sum::<usize>();
            format!("{rows} {}, nothing to compare with", if rows == 1 { "row" } else { "rows" })
        }
    };
    let mut facts = Vec::new();
    let same = |f: &dyn Fn(&Table) -> Option<String>| {
        let mut all = report.tables.iter().map(f);
        let first = all.next()??;
        all.all(|x| x.as_ref() == Some(&first)).then_some(first)
    };
    let relative = report.settings.view == View::Relative;
    if let Some(base) = same(&|t| Some(t.columns.get(t.base?)?.label.clone())) {
        facts.push(format!("{} {}", if relative { "relative to" } else { "base" }, code(&base, false)));
    }
    let head = |t: &Table| match (&t.columns[..], t.base) {
        ([_, head], Some(0)) | ([head, _], Some(1)) => Some(head.label.clone()),
        _ => None,
    };
    if let Some(head) = same(&head) {
        facts.push(format!("head {}", code(&head, false)));
    }
    if let Some(runs) = same(&Table::runs_words) {
        facts.push(runs);
    }
    if let [table] = &report.tables[..] {
        facts.push(escape(&unit_words(table)));
    }
    if relative && compared {
        facts.push(if options.raw_ratio { "new / base" } else { "above 1.00 is better" }.to_owned());
    }
    match facts.is_empty() {
        true => format!("**abstat: {headline}**"),
        false => format!("**abstat: {headline}** ({})", facts.join(", ")),
    }
}

/// `sec/op, lower is better`
fn unit_words(table: &Table) -> String {
    match table.direction_words() {
        Some(words) => format!("{}, {words}", table.unit.name),
        None => table.unit.name.to_string(),
    }
}

fn gate_lines(report: &Report, options: &MarkdownOptions) -> Vec<String> {
    let units = report.tables.windows(2).any(|t| t[0].unit.name != t[1].unit.name);
    let named = |r: &crate::report::GateRow| match units {
        true => format!("{} {}", code(&cut(&r.name), false), escape(&r.unit)),
        false => code(&cut(&r.name), false),
    };
    let line = |gate: &crate::report::GateOutcome| {
        let rule = code(&gate.rule, false);
        let (sign, text) = match (gate.tripped, gate.judged) {
            // Not about rows: settings of the machine.
            (true, _) if gate.rows.iter().all(|r| r.unit.is_empty()) => {
                let names: Vec<String> = gate.rows.iter().map(|r| escape(&r.name)).collect();
                ("❌ ", format!("{rule} tripped: {} differ between the sides", names.join(", ")))
            }
            (true, n) => {
                let names: Vec<String> = gate.rows.iter().take(3).map(named).collect();
                let more = gate.rows.len().saturating_sub(names.len());
                let more = if more > 0 { format!(" and {more} more") } else { String::new() };
                ("❌ ", format!("{rule} tripped by {} of {n} rows: {}{more}", gate.rows.len(), names.join(", ")))
            }
            (false, 0) => ("", format!("{rule} could judge nothing")),
            (false, n) => ("✅ ", format!("{rule} passed: none of {n} rows")),
        };
        format!("{}gate {text}", if options.emoji { sign } else { "" })
    };
    let lines: Vec<String> = report.gates.iter().map(line).collect();
    // One paragraph, one line each.
    if lines.is_empty() { lines } else { vec![lines.join("\\\n")] }
}

/// `Mann-Whitney U, α 0.05 after Holm; intervals 95 %; margin ±1 %; about 0.2 false calls expected, 1 left after Holm`
fn method_line(report: &Report) -> String {
    let s = &report.settings;
    let mut tests: Vec<&str> = Vec::new();
    for (_, c) in report.tables.iter().flat_map(|t| &t.rows).flat_map(Row::comparisons) {
        let name = test_name(c.test);
        if !name.is_empty() && !tests.contains(&name) {
            tests.push(name);
        }
    }
    let correction = match s.correction {
        crate::report::Correction::Holm => " after Holm",
        crate::report::Correction::Bh => " after Benjamini-Hochberg",
        crate::report::Correction::None => "",
    };
    let mut text = tests.join(", ");
    if tests.iter().any(|t| !matches!(*t, "exact values" | "printed p")) {
        let _ = write!(text, ", α {}{correction}", s.alpha);
        let _ = write!(text, "; margin ±{} %", trimmed(s.margin * 100.0));
        let _ = write!(text, "; about {} false calls expected", short(report.summary.expected_false));
        let _ = write!(text, ", {} changes stand{correction}", report.summary.after_correction);
    }
    if !text.is_empty() {
        text.push_str("; ");
    }
    let _ = write!(text, "intervals {} %", trimmed(s.confidence * 100.0));
    // Settings that all tables share.
    if let [first, rest @ ..] = &report.tables[..] {
        for (k, v) in first.keys.iter().filter(|kv| rest.iter().all(|t| t.keys.contains(kv))) {
            let _ = write!(text, "; {k}: {v}");
        }
    }
    text
}

/// At most 300 characters of a message.
fn shorten(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(300) {
        None => Cow::Borrowed(text),
        Some((at, _)) => Cow::Owned(format!("{}…", &text[..at])),
    }
}

/// At most three decimals: 95, 99.9; products of decimals are not exact.
fn trimmed(x: f64) -> String {
    let text = format!("{x:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn short(x: f64) -> String {
    if x >= 10.0 { format!("{x:.0}") } else { format!("{x:.1}") }
}

fn test_name(test: Test) -> &'static str {
    match test {
        Test::MannWhitneyExact | Test::MannWhitneyNormal => "Mann-Whitney U",
        Test::Welch | Test::WelchSummary => "Welch's t",
        Test::WelchLogForks => "Welch's t on the logs of fork means",
        Test::WelchSummaryForks => "Welch's t with forks as n",
        Test::Paired => "paired t on logs",
        Test::Exact => "exact values",
        Test::Printed => "printed p",
        Test::None => "",
    }
}

fn section(report: &Report, table: &Table, options: &MarkdownOptions) -> Section {
    let alone = report.tables.len() == 1;
    let mut head = String::new();
    if !alone {
        let keys = table.keys.iter().filter(|kv| !report.tables.iter().all(|t| t.keys.contains(kv)));
        let keys: String = keys.map(|(k, v)| format!(", {k}: {v}")).collect();
        let runs =
            if report.tables.iter().any(|t| t.runs_words() != table.runs_words()) { table.runs_words() } else { None };
        let runs = runs.map(|r| format!(", {r}")).unwrap_or_default();
        head =
            format!("\n**{}**{}\n", escape(&table.unit.name), escape(&format!("{}{runs}{keys}", words_after(table))));
    }
    let shown: Vec<&Row> = table.rows.iter().filter(|r| !r.hidden).collect();
    let hidden = table.rows.len() - shown.len();
    let mut foot = String::new();
    if !table.notes.is_empty() {
        let notes: Vec<String> =
            table.notes.iter().enumerate().map(|(i, n)| format!("{} {}", superscript(i), escape(n))).collect();
        foot.push_str(&format!("\n<sub>{}</sub>\n", notes.join(" ")));
    }
    let mut section = Section { head, parts: vec![], summary: String::new(), names: vec![], foot };
    if let Some(words) = all_equal(table) {
        section.head.push_str(&format!("\n{}: {words}\n", escape(&table.unit.name)));
        return section;
    }
    let (mut changed, folded): (Vec<&Row>, Vec<&Row>) = match table.base {
        Some(_) => shown.iter().partition(|r| r.verdict().is_some_and(Verdict::is_change)),
        None => (shown, vec![]),
    };
    if table.base.is_some() {
        changed.sort_by(|a, b| row_weight(b).total_cmp(&row_weight(a)));
    }
    if changed.is_empty() {
        section.head.push_str("\nNo shown change.\n");
    }
    let layouts = Layout::of(table, report.settings.view);
    for layout in &layouts {
        section.parts.push(Part {
            header: layout.header(),
            changed: changed.iter().map(|r| layout.row(r, options)).collect(),
            geomean: layout.geomean(options),
            folded: folded.iter().map(|r| layout.row(r, options)).collect(),
        });
    }
    if hidden > 0 {
        let rows = if hidden == 1 { "row" } else { "rows" };
        let words = tally(table, table.rows.iter().filter(|r| r.hidden));
        section.foot.insert_str(0, &format!("\n<sub>{hidden} more {rows} not shown: {words}</sub>\n"));
    }
    section.summary = fold_summary(table, &folded);
    for row in changed.iter().chain(&folded).filter(|r| cut(&r.display_name()) != r.display_name()) {
        section.names.push(format!("- {}\n", code(&row.display_name(), false)));
    }
    section
}

/// `, lower is better`
fn words_after(table: &Table) -> String {
    table.direction_words().map(|w| format!(", {w}")).unwrap_or_default()
}

/// `212 rows, all equal`: nothing to see here.
fn all_equal(table: &Table) -> Option<String> {
    table.base?;
    let equal = |c: &Comparison| c.verdict == Verdict::Same && c.difference == Some(0.0);
    let all = table.rows.iter().all(|r| r.comparisons().all(|(_, c)| equal(&c)) && r.comparisons().next().is_some());
    let rows = table.rows.len();
    (all && rows > 1).then(|| format!("{rows} rows, all equal"))
}

/// `40 rows without a shown change (37 same, 3 unclear)`
fn fold_summary(table: &Table, folded: &[&Row]) -> String {
    if folded.is_empty() {
        return "Full names".to_owned();
    }
    let rows = if folded.len() == 1 { "row" } else { "rows" };
    format!("{} {rows} without a shown change ({})", folded.len(), tally(table, folded.iter().copied()))
}

/// `37 same, 3 unclear`: the verdicts of some rows.
fn tally<'a>(table: &Table, rows: impl Iterator<Item = &'a Row>) -> String {
    let mut words: Vec<(String, usize)> = Vec::new();
    for row in rows {
        let one_side = row.comparisons().any(|(_, c)| c.why == Some(Why::OneSide));
        let word = match row.verdict() {
            Some(Verdict::Untested) if one_side => "unmatched",
            Some(v) => v.word(table.unit.dim()),
            None => "alone",
        };
        match words.iter_mut().find(|(w, _)| w == word) {
            Some((_, n)) => *n += 1,
            None => words.push((word.to_owned(), 1)),
        }
    }
    let words: Vec<String> = words.iter().map(|(w, n)| format!("{n} {w}")).collect();
    words.join(", ")
}

/// Which columns of the report stand in one Markdown table.
struct Layout<'a> {
    table: &'a Table,
    view: View,
    /// Show the base column.
    base: Option<usize>,
    /// Compared columns.
    columns: Vec<usize>,
    /// Two columns in all: the change has one of its own.
    pair: bool,
    /// One column in all: interval and number of values have one each.
    single: bool,
}

impl<'a> Layout<'a> {
    /// At most four Markdown columns each.
    fn of(table: &'a Table, view: View) -> Vec<Layout<'a>> {
        let layout = |base, columns: &[usize], pair| {
            let single = table.columns.len() == 1;
            Layout { table, view, base, columns: columns.to_vec(), pair, single }
        };
        let Some(base) = table.base else {
            let all: Vec<usize> = (0..table.columns.len()).collect();
            return all.chunks(3).map(|c| layout(None, c, false)).collect();
        };
        let compared: Vec<usize> = (0..table.columns.len()).filter(|c| *c != base).collect();
        if compared.len() == 1 && view == View::Change {
            return vec![layout(Some(base), &compared, true)];
        }
        let first = compared.len().min(2);
        let mut layouts = vec![layout(Some(base), &compared[..first], false)];
        layouts.extend(compared[first..].chunks(3).map(|c| layout(None, c, false)));
        layouts
    }

    fn label(&self, column: usize) -> String {
        self.table.columns.get(column).map(|c| code(&cut(&c.label), true)).unwrap_or_default()
    }

    fn header(&self) -> String {
        let mut names = vec!["benchmark".to_owned()];
        names.extend(self.base.map(|b| self.label(b)));
        names.extend(self.columns.iter().map(|c| self.label(*c)));
        if self.pair {
            names.push("change".to_owned());
        }
        if self.single {
            names.extend(["interval".to_owned(), "values".to_owned()]);
        }
        let rule: String = (1..names.len()).map(|_| " --: |").collect();
        format!("| {} |\n| :-- |{rule}\n", names.join(" | "))
    }

    fn row(&self, row: &Row, options: &MarkdownOptions) -> String {
        let centers = row.cells().flatten().filter_map(|c| c.center);
        let scale = Scale::of(&self.table.unit, centers);
        let notes: String = row.notes().map(superscript).collect();
        let name = code(&cut(&row.display_name()), true);
        let mut cells = vec![if self.pair { name } else { format!("{name}{notes}") }];
        cells.extend(self.base.map(|b| center(row, b, &scale)));
        for &column in &self.columns {
            let comparison = row.comparison(column);
            match (comparison, self.view) {
                (Some(c), _) if self.pair => {
                    cells.push(center(row, column, &scale));
                    let change = self.change(&c, row, &scale, options);
                    cells.push(format!("{change}{notes}"));
                }
                (Some(c), View::Relative) => cells.push(self.ratio(&c, options)),
                (Some(c), View::Change) => {
                    let change = self.change(&Comparison { lo: None, hi: None, ..c }, row, &scale, options);
                    let center = center(row, column, &scale);
                    cells.push(if center == "–" { change } else { format!("{center} {change}") });
                }
                (None, _) => {
                    cells.push(center(row, column, &scale));
                    cells.extend(self.pair.then(|| "–".to_owned()));
                }
            }
            if self.single {
                let cell = row.cell(column);
                let interval = match cell.map(|c| (c.lo, c.hi, c.infinite)) {
                    Some((_, _, true)) => "± ∞".to_owned(),
                    Some((Some(lo), Some(hi), _)) => {
                        format!("[{}, {}]", scale.show(lo, SPELLING), scale.show(hi, SPELLING))
                    }
                    _ => "–".to_owned(),
                };
                cells.extend([interval, cell.and_then(|c| c.n).map_or("–".to_owned(), |n| n.to_string())]);
            }
        }
        line(&cells)
    }

    /// `❌ **+10.4%** [+8.1, +13.0]`
    fn change(&self, c: &Comparison, row: &Row, scale: &Scale, options: &MarkdownOptions) -> String {
        let delta = match (c.delta_pct, c.difference) {
            (Some(d), _) => percent(d),
            (None, Some(d)) if d < 0.0 => format!("−{}", scale.show(-d, SPELLING)),
            (None, Some(d)) => format!("+{}", scale.show(d, SPELLING)),
            (None, None) => String::new(),
        };

        let end = |pct: f64, open: &str| match pct.is_finite() {
            true => percent(pct).trim_end_matches('%').to_owned(),
            false => open.to_owned(),
        };
        let interval = match c.interval_pct() {
            // Without width there is nothing to say beside the change itself.
            Some((lo, hi)) if lo < hi => format!("[{}, {}]", end(lo, "−∞"), end(hi, "+∞")),
            _ => String::new(),
        };
        let word = c.verdict.word(self.table.unit.dim());
        let parts = match c.verdict {
            Verdict::Untested if c.why == Some(Why::OneSide) => {
                let at = (0..row.width()).find(|&i| row.has(i));
                [format!("only in {}", at.map(|a| self.label(a)).unwrap_or_default()), String::new(), String::new()]
            }
            v if v.is_confirmed() => match sign(v, options) {
                "" => [word.to_owned(), format!("**{delta}**"), interval],
                sign => [format!("{sign} **{delta}**"), interval, String::new()],
            },
            _ => [delta, interval, word.to_owned()],
        };
        parts.into_iter().filter(|p| !p.is_empty()).collect::<Vec<_>>().join(" ")
    }

    /// `✅ **1.38**`
    fn ratio(&self, c: &Comparison, options: &MarkdownOptions) -> String {
        let Some(ratio) = (if options.raw_ratio { c.ratio } else { c.relative() }) else { return "–".to_owned() };
        match sign(c.verdict, options) {
            "" if c.verdict.is_confirmed() => format!("**{ratio:.2}** {}", c.verdict.word(self.table.unit.dim())),
            "" if c.verdict.is_change() => format!("{ratio:.2}?"),
            "" => format!("{ratio:.2}"),
            sign => format!("{sign} **{ratio:.2}**"),
        }
    }

    fn geomean(&self, options: &MarkdownOptions) -> Option<String> {
        let g = self.table.geomean.as_ref().filter(|g| g.rows > 1)?;
        let mut cells = vec![format!("_geomean of {}_", g.rows)];
        let scale = Scale::of(&self.table.unit, g.centers.iter().flatten().copied());
        let center = |c: usize| match g.centers.get(c).copied().flatten() {
            Some(v) => scale.show(v, SPELLING),
            None => "–".to_owned(),
        };
        cells.extend(self.base.map(center));
        for &column in &self.columns {
            let ratio = g.ratios.get(column).copied().flatten();
            let change = ratio.map(|r| percent(100.0 * (r - 1.0))).unwrap_or_default();
            match self.view {
                _ if self.pair => cells.extend([center(column), change]),
                View::Change => cells.push(format!("{} {change}", center(column)).trim_end().to_owned()),
                View::Relative => cells.push(self.turned(ratio, options)),
            }
        }
        if self.single {
            cells.extend(["–".to_owned(), "–".to_owned()]);
        }
        Some(line(&cells))
    }

    /// A ratio of geometric means, above 1 when better.
    fn turned(&self, ratio: Option<f64>, options: &MarkdownOptions) -> String {
        let lower = self.table.unit.better == Some(crate::units::Direction::Lower) && !options.raw_ratio;
        ratio.map_or("–".to_owned(), |r| format!("{:.2}", if lower { 1.0 / r } else { r }))
    }
}

/// `✅`, `❌` or nothing.
fn sign(verdict: Verdict, options: &MarkdownOptions) -> &'static str {
    match verdict {
        Verdict::Better { confirmed: true } if options.emoji => "✅",
        Verdict::Worse { confirmed: true } if options.emoji => "❌",
        _ => "",
    }
}

/// The center of a cell, or a dash.
fn center(row: &Row, column: usize, scale: &Scale) -> String {
    match row.cell(column).and_then(|c| c.center.map(|v| (v, c.approximate))) {
        Some((v, true)) => format!("≈ {}", scale.show(v, SPELLING)),
        Some((v, false)) => scale.show(v, SPELLING),
        None => "–".to_owned(),
    }
}

fn line(cells: &[String]) -> String {
    format!("| {} |\n", cells.join(" | "))
}

/// At most [`NAME_MAX`] characters, the middle left out: what tells names apart is at their ends.
fn cut(name: &str) -> Cow<'_, str> {
    let n = name.chars().count();
    if n <= NAME_MAX {
        return Cow::Borrowed(name);
    }
    let (head, tail) = (NAME_MAX / 2, NAME_MAX - NAME_MAX / 2 - 1);
    let front: String = name.chars().take(head).collect();
    let back: String = name.chars().skip(n - tail).collect();
    Cow::Owned(format!("{front}…{back}"))
}

/// `text` as code, byte for byte what it is except for control characters, which are written out.
///
/// A code span where one can hold it: inside a table its pipes are escaped. Text that a span would change (blanks at the ends)
/// or that renderers split differently (a backslash before a pipe) becomes `<code>` with character references.
fn code(text: &str, in_table: bool) -> String {
    let text = printable(text);
    let awkward = text.is_empty() || text.trim() != text || in_table && text.contains("\\|");
    if awkward {
        let mut out = String::from("<code>");
        for c in text.chars() {
            match c {
                c if c.is_alphanumeric() => out.push(c),
                // Writing to a String cannot fail.
                c => drop(write!(out, "&#{};", u32::from(c))),
            }
        }
        return out + "</code>";
    }
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let pad = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    let text = if in_table { Cow::Owned(text.replace('|', "\\|")) } else { text };
    format!("{fence}{pad}{text}{pad}{fence}")
}

/// `text` as running text: nothing in it is markup, HTML or a mention.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    let text = printable(text);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            // Character references cannot open or close emphasis; a comment keeps `@` from naming a person.
            '*' | '_' | '`' | '[' | ']' | '~' | '|' | '\\' | '#' | '$' => drop(write!(out, "&#{};", u32::from(c))),
            '@' if chars.peek().is_some_and(|c| c.is_alphanumeric()) => out.push_str("@<!-- -->"),
            c => out.push(c),
        }
    }
    out
}

/// The marker's id without what would end a comment.
fn marker_text(id: &str) -> String {
    let mut text: String = id
        .chars()
        .map(|c| if c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '/' | ':') { c } else { '-' })
        .collect();
    while text.contains("--") {
        text = text.replace("--", "-");
    }
    text
}

/// `¹` for 0, `¹²` for 11.
fn superscript(index: usize) -> String {
    let digit = |d: char| ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'][d.to_digit(10).unwrap_or(0) as usize];
    (index + 1).to_string().chars().map(digit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::fixture;
    use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

    fn render(report: &Report, options: MarkdownOptions) -> String {
        let mut out = Vec::new();
        Markdown(options).render(report, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    /// Text of all table cells as a Markdown reader sees them, row by row.
    fn tables(markdown: &str) -> Vec<Vec<Vec<String>>> {
        let (mut tables, mut rows, mut row, mut cell) = (vec![], vec![], vec![], String::new());
        let mut in_cell = false;
        for event in Parser::new_ext(markdown, Options::ENABLE_TABLES | Options::ENABLE_GFM) {
            match event {
                Event::Start(Tag::TableCell) => in_cell = true,
                Event::End(TagEnd::TableCell) => {
                    in_cell = false;
                    row.push(std::mem::take(&mut cell));
                }
                Event::End(TagEnd::TableRow | TagEnd::TableHead) => rows.push(std::mem::take(&mut row)),
                Event::End(TagEnd::Table) => tables.push(std::mem::take(&mut rows)),
                Event::Text(t) | Event::Code(t) if in_cell => cell.push_str(&t),
                Event::InlineHtml(h) if in_cell => assert!(["<code>", "</code>"].contains(&&*h), "{h}"),
                _ => {}
            }
        }
        tables
    }

    #[test]
    fn everything_at_once() {
        insta::with_settings!({snapshot_path => "../../testdata/render", prepend_module_to_snapshot => false}, {
            insta::assert_snapshot!("rich.md", render(&fixture::rich(), MarkdownOptions {
                marker: Some("get-bench".into()),
                ..MarkdownOptions::default()
            }));
            insta::assert_snapshot!("no-emoji.md", render(&fixture::report(vec![fixture::times()]), MarkdownOptions {
                emoji: false,
                ..MarkdownOptions::default()
            }));
            insta::assert_snapshot!("relative.md", render(&fixture::relative(), MarkdownOptions::default()));
            insta::assert_snapshot!("single.md", render(&fixture::report(vec![fixture::single()]), MarkdownOptions::default()));
        });
    }

    #[test]
    fn names_arrive_as_they_are_and_tables_hold_together() {
        let text = render(&fixture::rich(), MarkdownOptions::default());
        let tables = tables(&text);
        let names: Vec<&str> = tables.iter().flat_map(|t| &t[1..]).map(|r| r[0].as_str()).collect();
        for name in fixture::HOSTILE {
            assert!(names.contains(&&*printable(name)), "{name:?} is not among {names:?}");
        }
        assert!(tables.len() >= 6);
        for table in &tables {
            assert!(table.iter().all(|r| r.len() == table[0].len() && r.len() <= 4), "{table:?}");
        }
        // Nothing of a name or a warning is HTML.
        for event in Parser::new_ext(&text, Options::ENABLE_TABLES | Options::ENABLE_GFM) {
            if let Event::Html(h) | Event::InlineHtml(h) = event {
                assert!(!h.contains("script") && !h.contains("<x>"), "{h}");
            }
        }
    }

    #[test]
    fn blanks_and_backticks_survive_in_code() {
        let mut report = fixture::report(vec![fixture::times()]);
        let names = [" lead", "trail ", "`", "``x`", "a`|`b", "\\|", "a\\\\|b\\", "|", "x", "&lt;", "[x](y)", "", "  "];
        for (row, name) in report.tables[0].rows.iter_mut().zip(names) {
            row.name = name.into();
        }
        let text = render(&report, MarkdownOptions::default());
        let cells: Vec<String> = tables(&text).into_iter().flatten().map(|r| r[0].clone()).collect();
        for name in names {
            assert!(cells.iter().any(|c| c == name), "{name:?}: {cells:?}");
        }
    }

    #[test]
    fn the_first_line_is_the_marker_and_cannot_end_early() {
        let with = |id: &str| {
            let options = MarkdownOptions { marker: Some(id.into()), ..MarkdownOptions::default() };
            render(&fixture::rich(), options).lines().next().unwrap().to_owned()
        };
        assert_eq!(with("get-bench"), "<!-- abstat:get-bench -->");
        assert_eq!(with("x --> <b>\n"), "<!-- abstat:x-b- -->");
        assert!(render(&fixture::rich(), MarkdownOptions::default()).starts_with("**abstat: "));
    }

    #[test]
    fn changed_rows_come_first_and_the_worst_of_them_before() {
        let text = render(&fixture::report(vec![fixture::times()]), MarkdownOptions::default());
        let tables = tables(&text);
        let changes: Vec<&str> = tables[0][1..].iter().map(|r| r[3].as_str()).collect();
        let signs: String = changes.iter().filter_map(|c| c.chars().next()).collect();
        assert_eq!(signs, "❌❌❌❌❌✅✅+_".replace('_', "+"), "{changes:?}");
        assert!(changes[0].starts_with("❌ +20.0% [+18.0, +22.0]"), "{changes:?}");
        assert!(changes[7].ends_with("slower?²"), "{changes:?}");
        // Folded rows have their words.
        assert!(tables[1][1..].iter().all(|r| ["same", "unclear", "only in"].iter().any(|w| r[3].contains(w))));
    }

    #[test]
    fn the_limit_is_kept_and_says_what_it_costs() {
        let full =
            render(&fixture::large(3000), MarkdownOptions { max_bytes: 10_000_000, ..MarkdownOptions::default() });
        assert!(full.len() > 160_000 && !full.contains("left out to stay"));
        for max in [100, 1_000, 3_000, 20_000, 65_000, 150_000] {
            let options = MarkdownOptions {
                max_bytes: max,
                full_report: Some("out/report.html".into()),
                ..MarkdownOptions::default()
            };
            let text = render(&fixture::large(3000), options);
            assert!(text.len() <= max.max(800), "{max}: {}", text.len());
            assert!(text.contains("left out to stay below") && text.contains("`out/report.html`"), "{max}: {text}");
            if max >= 20_000 {
                // 30 changed rows stay, folded ones go.
                assert_eq!(text.matches("❌").count(), 30, "{max}");
                let shown = tables(&text).iter().map(|t| t.len() - 1).sum::<usize>() - 1; // the geomean
                let left_out = text.split("\n_").nth(1).and_then(|t| t.split(' ').next()).unwrap();
                let left_out: usize = left_out.parse().unwrap();
                assert_eq!(shown + left_out, 3000, "{max}");
                assert!(text.len() > max - 2000, "{max}: {}", text.len());
            }
            assert_eq!(text.matches("<details>").count(), text.matches("</details>").count());
        }
    }

    #[test]
    fn running_text_is_never_markup_or_a_mention() {
        let text = escape("a*b*_c_ <b> `x` [l](u) @team #1 \x1b ~~s~~ | \\ &amp; $x$");
        for c in ["*", "_", "`", "[", "~", "|", "\\", "<b", "@team"] {
            assert!(!text.contains(c), "{c}: {text}");
        }
        let shown: String = Parser::new_ext(&text, Options::ENABLE_GFM | Options::ENABLE_STRIKETHROUGH)
            .filter_map(|e| if let Event::Text(t) = e { Some(t.to_string()) } else { None })
            .collect();
        assert_eq!(shown, "a*b*_c_ <b> `x` [l](u) @team #1 \\x1b ~~s~~ | \\ &amp; $x$");
    }
}
