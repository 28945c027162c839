//! Gates: `--fail-on` rules over a finished [`Report`], for scripts that must stop on a slowdown.
//!
//! A rule ([`rule`]) names a condition and, before it, which rows it is about. By default a row counts only when its verdict
//! stands (significant after the correction) and the end of its interval that is nearer to no change is still beyond the limit:
//! a budget of 5 % then fails by chance in about 2 % of runs, where "significant and the estimate is beyond 5 %" fails in
//! up to half of them. Ratios are turned by the unit's direction first: slower beyond 5 % is above 1.05 for a time and below
//! 1/1.05 for a rate.
//!
//! Rows that nobody can vouch for (printed errors that pool forks, one process a side) are judged by `:est` and `:raw` only, or
//! when [`Rules::assume_independent`] is set; rows with so few runs that nothing could be significant, by `:est` and `:raw` only. A rule that could judge none of its rows does not pass: [`GateExit::CouldNotJudge`].
//!
//! The filtered geometric mean is the one thing computed here; without a filter it is the report's own.

mod file;
mod line;
pub mod rule;
mod select;

pub use file::from_toml;
pub use line::lines;
pub use select::Selector;

use std::fmt;

use crate::base::{Diagnostic, printable};
use crate::report::{Comparison, GateOutcome, GateRow, Report, Row, Table, Test, Verdict, Why};
use crate::units::{Dim, Direction};
use rule::{Beyond, By, Condition};

/// All that decides the exit code.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    /// `--fail-on`, in the order typed; any of them may trip.
    pub rules: Vec<Rule>,
    /// `--fail-except`: rows that no rule sees.
    pub except: Vec<Selector>,
    /// `--assume-independent`: pooled errors and single processes are taken at their word.
    pub assume_independent: bool,
}

/// One `--fail-on`.
#[derive(Clone, Debug)]
pub struct Rule {
    /// As typed.
    pub text: String,
    /// Which rows; `None`: all.
    pub filter: Option<Selector>,
    /// What trips it.
    pub condition: Condition,
}

/// Why a rule or a rules file cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct RuleError {
    /// Names the rule and what is wrong with it.
    pub message: String,
    /// The nearest thing that works.
    pub hint: Option<String>,
}

/// What the gates come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GateExit {
    /// No rule trips, and all could be judged: exit 0.
    Passed,
    /// At least one rule trips: exit 1.
    Tripped,
    /// None trips, but a rule could judge none of its rows, or no rule matched any row: exit 3.
    CouldNotJudge,
}

impl Rule {
    /// Reads `[FILTER:]CONDITION`.
    ///
    /// # Errors
    /// What is wrong with the condition or the filter.
    pub fn parse(text: &str) -> Result<Self, RuleError> {
        let (filter, condition) = rule::split(text).map_err(|e| RuleError {
            message: format!("--fail-on \"{}\": {e}", printable(text)),
            hint: Some(e.hint),
        })?;
        let filter = filter.map(Selector::parse).transpose().map_err(|e| RuleError {
            message: format!("--fail-on \"{}\": {e}", printable(text)),
            hint: e
                .faults
                .into_iter()
                .find_map(|f| f.hint)
                .or_else(|| Some("a rule is FILTER:CONDITION, such as .unit:sec/op: slower>5%".to_owned())),
        })?;
        if let (Some(_), Condition::Config) = (&filter, condition) {
            return Err(RuleError {
                message: format!("--fail-on \"{}\": config is about whole inputs and takes no filter", printable(text)),
                hint: Some("write it as config".to_owned()),
            });
        }
        Ok(Rule { text: text.trim().to_owned(), filter, condition })
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.filter {
            Some(filter) => write!(f, "{filter}: {}", self.condition),
            None => self.condition.fmt(f),
        }
    }
}

/// What a rule makes of one row and column.
enum Ruling {
    /// It trips; the larger the number, the worse.
    Trips(f64, GateRow),
    /// It was judged and does not.
    Passes,
    /// It cannot be judged.
    Unjudged(Unjudged),
}

/// Why a row cannot be judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unjudged {
    /// No test was possible, or the row is on one side only.
    Untested,
    /// The verdict rests on pooled errors or on one process.
    Processes,
    /// So few runs that no row can be significant among those tested together.
    OutOfReach,
    /// There is a verdict, but no interval to hold against a limit.
    NoInterval,
    /// No direction of the unit is better.
    NoDirection,
}

impl Unjudged {
    const ALL: [Unjudged; 5] =
        [Unjudged::Untested, Unjudged::Processes, Unjudged::OutOfReach, Unjudged::NoInterval, Unjudged::NoDirection];

    fn reason(self) -> &'static str {
        match self {
            Unjudged::Untested => "no test possible",
            Unjudged::Processes => "differences between processes are not known",
            Unjudged::OutOfReach => "with so few runs no row can be significant among so many",
            Unjudged::NoInterval => "no interval",
            Unjudged::NoDirection => "no direction of the unit is better",
        }
    }

    fn hint(self) -> &'static str {
        match self {
            Unjudged::Untested => "more runs a side make a test possible; :raw judges the bare change",
            Unjudged::Processes => {
                "give raw data of several processes, or --forks N; --assume-independent or :est takes them as they are"
            }
            Unjudged::OutOfReach => {
                "run each more often (10 times do for thousands of rows), or use --correction none or :est, with more false alarms"
            }
            Unjudged::NoInterval => ":est judges the estimate",
            Unjudged::NoDirection => "a line \"Unit NAME better=lower\" in the input says which way is better",
        }
    }
}

/// One row against the base in one column.
struct Pair<'a> {
    table: &'a Table,
    row: &'a Row,
    column: usize,
    base: usize,
}

impl<'a> Pair<'a> {
    fn comparison(&self) -> Option<Comparison> {
        self.row.comparison(self.column)
    }

    fn has(&self, column: usize) -> bool {
        self.row.has(column)
    }

    /// Present on one side only: `Some(true)` in the base.
    fn one_side(&self) -> Option<bool> {
        match self.comparison() {
            Some(c) if c.why != Some(Why::OneSide) => None,
            _ => (self.has(self.base) != self.has(self.column)).then(|| self.has(self.base)),
        }
    }

    fn label(&self, column: usize) -> String {
        self.table.columns.get(column).map(|c| c.label.clone()).unwrap_or_default()
    }

    fn gate_row(&self) -> GateRow {
        let c = self.comparison();
        let percent = |r: f64| 100.0 * (r - 1.0);
        let verdict = match (self.one_side(), c) {
            (Some(in_base), _) => format!("only in {}", self.label(if in_base { self.base } else { self.column })),
            (None, Some(c)) => c.verdict.word(self.table.unit.dim()).to_owned(),
            (None, None) => Verdict::Untested.word(self.table.unit.dim()).to_owned(),
        };
        GateRow {
            name: self.row.display_name(),
            unit: self.table.unit.name.to_string(),
            column: self.label(self.column),
            delta_pct: c.and_then(|c| c.delta_pct),
            interval_pct: c.and_then(|c| Some((percent(c.lo?), percent(c.hi?)))),
            verdict,
        }
    }
}

/// Holds `rules` against `report`: one outcome per rule, what to say besides, and the exit.
pub fn judge(report: &Report, rules: &Rules) -> (Vec<GateOutcome>, Vec<Diagnostic>, GateExit) {
    let (mut outcomes, mut diagnostics) = (Vec::new(), Vec::new());
    let (mut matched_any, mut unjudged_any) = (false, false);
    for rule in &rules.rules {
        let tally = match rule.condition {
            Condition::Geomean(beyond) => geomeans(report, rules, rule, beyond),
            Condition::Config => config(report),
            condition => rows(report, rules, rule, condition),
        };
        let judged = tally.judged;
        matched_any |= tally.matched > 0;
        unjudged_any |= tally.matched > 0 && judged == 0;
        tally.say(rule, report, &mut diagnostics);
        let mut trips = tally.trips;
        trips.sort_by(|a, b| b.0.total_cmp(&a.0));
        outcomes.push(GateOutcome {
            rule: rule.text.clone(),
            tripped: !trips.is_empty(),
            judged,
            rows: trips.into_iter().map(|(_, row)| row).collect(),
        });
    }
    let exit = if outcomes.iter().any(|o| o.tripped) {
        GateExit::Tripped
    } else if unjudged_any || (!outcomes.is_empty() && !matched_any) {
        GateExit::CouldNotJudge
    } else {
        GateExit::Passed
    };
    (outcomes, diagnostics, exit)
}

/// What one rule found.
#[derive(Default)]
struct Tally {
    /// Rows (tables, for `geomean`) that the rule is about.
    matched: usize,
    /// Of these, how many could be judged.
    judged: usize,
    trips: Vec<(f64, GateRow)>,
    unjudged: [usize; Unjudged::ALL.len()],
}

impl Tally {
    fn count(&mut self, ruling: Ruling) {
        self.matched += 1;
        match ruling {
            Ruling::Trips(size, row) => {
                self.judged += 1;
                self.trips.push((size, row));
            }
            Ruling::Passes => self.judged += 1,
            Ruling::Unjudged(why) => {
                for (n, u) in self.unjudged.iter_mut().zip(Unjudged::ALL) {
                    *n += usize::from(u == why);
                }
            }
        }
    }

    /// Diagnostics about rows that were not there or not judged.
    fn say(&self, rule: &Rule, report: &Report, out: &mut Vec<Diagnostic>) {
        let text = printable(&rule.text);
        let things = |n: usize| match rule.condition {
            Condition::Geomean(_) => plural(n, "geomean"),
            _ => plural(n, "row"),
        };
        if self.matched == 0 {
            let mut units: Vec<&str> = report.tables.iter().map(|t| &*t.unit.name).collect();
            units.dedup();
            let d = Diagnostic::warning("gate-no-match", format!("--fail-on \"{text}\" matches no row"));
            out.push(match units.is_empty() {
                true => d,
                false => d.hint(format!("units here are {}", printable(&units.join(", ")))),
            });
            return;
        }
        for (n, why) in self.unjudged.into_iter().zip(Unjudged::ALL).filter(|(n, _)| *n > 0) {
            let (n, of) = (things(n), self.matched);
            let message = format!("--fail-on \"{text}\" cannot judge {n} of {of}: {}", why.reason());
            // A gate that leaves out rows on thin evidence says so; that some rows have no test the table shows anyway.
            let d = match why {
                Unjudged::Processes | Unjudged::OutOfReach | Unjudged::NoInterval => {
                    Diagnostic::warning("gate-not-judged", message)
                }
                _ if self.judged == 0 => Diagnostic::warning("gate-not-judged", message),
                _ => Diagnostic::note("gate-not-judged", message),
            };
            out.push(d.hint(why.hint()));
        }
    }
}

/// All rows and compared columns of `report` that a rule is about.
fn pairs<'a>(report: &'a Report, rules: &'a Rules, rule: &'a Rule) -> impl Iterator<Item = Pair<'a>> {
    let tables = report.tables.iter().filter_map(|table| Some((table, table.base?)));
    tables.flat_map(move |(table, base)| {
        let columns = (0..table.columns.len()).filter(move |c| *c != base);
        let pairs = columns.flat_map(move |column| table.rows.iter().map(move |row| Pair { table, row, column, base }));
        pairs.filter(move |p| (p.has(base) || p.has(p.column) || p.comparison().is_some()) && is_about(p, rules, rule))
    })
}

fn is_about(pair: &Pair<'_>, rules: &Rules, rule: &Rule) -> bool {
    let matches = |s: &Selector| s.matches(pair.table, pair.row, pair.column);
    rule.filter.as_ref().is_none_or(matches) && !rules.except.iter().any(matches)
}

fn rows(report: &Report, rules: &Rules, rule: &Rule, condition: Condition) -> Tally {
    let mut tally = Tally::default();
    for pair in pairs(report, rules, rule) {
        tally.count(match condition {
            Condition::Slower(b) => judge_change(&pair, Wanted::Worse, b, report.settings.alpha, rules),
            Condition::Faster(b) => judge_change(&pair, Wanted::Better, b, report.settings.alpha, rules),
            Condition::Any(b) => judge_change(&pair, Wanted::Either, b, report.settings.alpha, rules),
            Condition::Unclear => judge_unclear(&pair),
            Condition::Missing => judge_missing(&pair),
            Condition::Geomean(_) | Condition::Config => continue,
        });
    }
    tally
}

fn judge_unclear(pair: &Pair<'_>) -> Ruling {
    match pair.comparison().map(|c| c.verdict) {
        Some(Verdict::Unclear) => Ruling::Trips(0.0, pair.gate_row()),
        Some(Verdict::Untested) | None => Ruling::Unjudged(Unjudged::Untested),
        Some(_) => Ruling::Passes,
    }
}

fn judge_missing(pair: &Pair<'_>) -> Ruling {
    match pair.one_side() {
        Some(true) => Ruling::Trips(0.0, pair.gate_row()),
        Some(false) => Ruling::Unjudged(Unjudged::Untested),
        None => Ruling::Passes,
    }
}

/// Which changes a condition is after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wanted {
    Worse,
    Better,
    Either,
}

fn judge_change(pair: &Pair<'_>, wanted: Wanted, beyond: Beyond, alpha: f64, rules: &Rules) -> Ruling {
    let limit = 1.0 + beyond.percent / 100.0;
    // Without a limit every change that gets here is one.
    let hold = |size: f64| match size > limit || beyond.percent == 0.0 {
        true => Ruling::Trips(size, pair.gate_row()),
        false => Ruling::Passes,
    };
    if wanted == Wanted::Either && pair.one_side().is_some() {
        return hold(f64::INFINITY);
    }
    let Some(c) = pair.comparison() else { return Ruling::Unjudged(Unjudged::Untested) };
    let better = pair.table.unit.better;
    if wanted != Wanted::Either && better.is_none() {
        return Ruling::Unjudged(Unjudged::NoDirection);
    }
    if beyond.by == By::Raw {
        return match ratio_of_centers(&c) {
            None => Ruling::Unjudged(Unjudged::Untested),
            Some(1.0) => Ruling::Passes,
            Some(r) => match r > 1.0 {
                _ if wanted == Wanted::Either => hold(size(r)),
                up if up == ((better == Some(Direction::Lower)) == (wanted == Wanted::Worse)) => hold(size(r)),
                _ => Ruling::Passes,
            },
        };
    }
    if c.verdict == Verdict::Untested {
        return Ruling::Unjudged(Unjudged::Untested);
    }
    let on_trust = c.verdict.is_change() && matches!(c.why, Some(Why::Pooled | Why::OneProcess));
    if on_trust && beyond.by == By::NearEnd && !rules.assume_independent {
        return Ruling::Unjudged(Unjudged::Processes);
    }
    // That it does not trip would say nothing.
    if beyond.by == By::NearEnd && c.out_of_reach && c.verdict != Verdict::Same {
        return Ruling::Unjudged(Unjudged::OutOfReach);
    }
    let is_wanted = match c.verdict {
        Verdict::Worse { .. } => wanted != Wanted::Better,
        Verdict::Better { .. } => wanted != Wanted::Worse,
        Verdict::Changed { .. } => wanted == Wanted::Either,
        Verdict::Same | Verdict::Unclear | Verdict::Untested => false,
    };
    // Where processes are in doubt the verdict has its `?` for that; whether it stands after the correction p tells.
    let stands = c.verdict.is_confirmed() || on_trust && c.p_adjusted.is_some_and(|p| p <= alpha);
    // From here on the verdict has told the direction: only sizes matter.
    let estimate = c.ratio.or_else(|| ratio_of_centers(&c)).map(size);
    match beyond.by {
        _ if !is_wanted => Ruling::Passes,
        By::NearEnd if !stands => Ruling::Passes,
        // The verdict alone was asked for.
        _ if beyond.percent == 0.0 => hold(estimate.unwrap_or(1.0).max(1.0)),
        // Exact values have no noise: the estimate is the interval.
        By::NearEnd if c.test != Test::Exact => match near_end(c.lo, c.hi) {
            None => Ruling::Unjudged(Unjudged::NoInterval),
            Some(near) if near > limit => hold(estimate.unwrap_or(near).max(near)),
            Some(_) => Ruling::Passes,
        },
        _ => estimate.map_or(Ruling::Unjudged(Unjudged::NoInterval), hold),
    }
}

/// A ratio as a factor of at least 1, whichever way it goes; infinite from or to zero.
fn size(ratio: f64) -> f64 {
    match ratio {
        r if r >= 1.0 => r,
        r if r > 0.0 => 1.0 / r,
        _ => f64::INFINITY,
    }
}

/// The end of an interval of a ratio that is nearer to no change, as a factor of at least 1. `None` without an interval.
fn near_end(lo: Option<f64>, hi: Option<f64>) -> Option<f64> {
    match (lo, hi) {
        (None, None) => None,
        (Some(lo), _) if lo > 1.0 => Some(lo),
        (_, Some(hi)) if hi < 1.0 => Some(size(hi)),
        _ => Some(1.0),
    }
}

/// The ratio of the shown centers as it goes: above 1 is up, also from zero and among negative numbers.
fn ratio_of_centers(c: &Comparison) -> Option<f64> {
    let ratio = c.delta_pct.map(|d| 1.0 + d / 100.0);
    let Some(difference) = c.difference else { return ratio };
    match (ratio, difference) {
        (_, 0.0) => Some(1.0),
        (Some(r), d) if (r > 1.0) == (d > 0.0) => Some(r),
        // A base of zero, or a negative one.
        (Some(r), d) if d > 0.0 => Some(size(r)),
        (Some(r), _) => Some(1.0 / size(r)),
        (None, d) => Some(if d > 0.0 { f64::INFINITY } else { 0.0 }),
    }
}

/// One ruling per table and compared column.
fn geomeans(report: &Report, rules: &Rules, rule: &Rule, beyond: Beyond) -> Tally {
    let mut tally = Tally::default();
    for table in &report.tables {
        let Some(base) = table.base else { continue };
        for column in (0..table.columns.len()).filter(|c| *c != base) {
            let about = |row: &&Row| is_about(&Pair { table, row, column, base }, rules, rule) && row.width() > column;
            let of: Vec<&Row> = table.rows.iter().filter(about).collect();
            if of.is_empty() {
                continue;
            }
            let whole = table.geomean.as_ref().filter(|_| of.len() == table.rows.len());
            let (ratio, interval) = match whole {
                Some(g) => (g.ratios.get(column).copied().flatten(), g.intervals.get(column).copied().flatten()),
                None => (geomean_of(&of, column), None),
            };
            let label = table.columns.get(column).map(|c| c.label.clone()).unwrap_or_default();
            tally.count(judge_geomean(table, label, ratio, interval, beyond));
        }
    }
    tally
}

/// Geometric mean of the ratios of the shown centers over the rows present on both sides.
fn geomean_of(rows: &[&Row], column: usize) -> Option<f64> {
    let ratios = rows.iter().filter_map(|r| r.comparison(column)).filter(|c| c.why != Some(Why::OneSide));
    let (mut sum, mut n) = (0.0, 0.0);
    for c in ratios {
        let r = 1.0 + c.delta_pct? / 100.0;
        if r <= 0.0 {
            return None;
        }
        sum += r.ln();
        n += 1.0;
    }
    (n > 0.0).then(|| (sum / n).exp())
}

fn judge_geomean(
    table: &Table,
    column: String,
    ratio: Option<f64>,
    interval: Option<(f64, f64)>,
    beyond: Beyond,
) -> Ruling {
    let Some(ratio) = ratio else { return Ruling::Unjudged(Unjudged::Untested) };
    let worse = match table.unit.better {
        None => return Ruling::Unjudged(Unjudged::NoDirection),
        Some(Direction::Lower) => ratio > 1.0,
        Some(Direction::Higher) => ratio < 1.0,
    };
    let near = interval.filter(|_| beyond.by == By::NearEnd).and_then(|(lo, hi)| near_end(Some(lo), Some(hi)));
    if !worse || near.unwrap_or_else(|| size(ratio)) <= 1.0 + beyond.percent / 100.0 {
        return Ruling::Passes;
    }
    let percent = |r: f64| 100.0 * (r - 1.0);
    let row = GateRow {
        name: "geomean".to_owned(),
        unit: table.unit.name.to_string(),
        column,
        delta_pct: Some(percent(ratio)),
        interval_pct: interval.map(|(lo, hi)| (percent(lo), percent(hi))),
        verdict: if matches!(table.unit.dim(), Dim::Other) { "worse" } else { "slower" }.to_owned(),
    };
    Ruling::Trips(size(ratio), row)
}

/// Settings that describe the machine and differ between the sides, as the layout of the tables noticed.
fn config(report: &Report) -> Tally {
    let compared = report.tables.iter().filter(|t| t.base.is_some() && t.columns.len() > 1).count();
    let mut tally = Tally { matched: compared, judged: compared, ..Tally::default() };
    tally.trips = report
        .machine_differences()
        .filter(|_| compared > 0)
        .map(|w| {
            let row = GateRow {
                name: w.code.trim_end_matches("-differs").to_owned(),
                unit: String::new(),
                column: String::new(),
                delta_pct: None,
                interval_pct: None,
                verdict: w.message.clone(),
            };
            (0.0, row)
        })
        .collect();
    tally
}

/// `n` of `noun`.
fn plural(n: usize, noun: &str) -> String {
    format!("{n} {noun}{}", if n == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests;
