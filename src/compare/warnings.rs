//! Warnings about the values of a row, in words with what to do about each. They change no number and no verdict.
//!
//! Which of them reach everybody: only those that make a change that was called less trustworthy than it looks ([`serious`]), as a
//! footnote that all rows of its kind share. All of them are in JSON and in `--explain`.

use std::borrow::Cow;

use super::Plan;
use super::assess::Assessment;
use super::notes::rough_percent;
use super::side::{Grounds, Side};
use crate::base::Diagnostic;
use crate::model::Sample;
use crate::pivot::{Column, is_date};
use crate::report::{Table, Verdict};
use crate::stats::diagnose::{self, Warning};
use crate::units::Unit;
use crate::units::show::{Scale, Spelling};

/// All warnings about the values of one side.
pub(super) fn of_side(grounds: &Grounds) -> Vec<Warning> {
    let Some(o) = grounds.observations.as_ref().filter(|o| o.weights().is_none()) else { return Vec::new() };
    match &grounds.side {
        Side::Flat(_) => diagnose::diagnose(&o.values),
        Side::OneProcess(_) => {
            let mut all = diagnose::diagnose(&o.values);
            all.extend(diagnose::diagnose_forks(o));
            all
        }
        Side::Forks { centers, .. } => {
            let mut all = diagnose::diagnose(centers);
            all.extend(diagnose::diagnose_forks(o));
            all
        }
        Side::Summary(_) | Side::Mixed => Vec::new(),
    }
}

/// Warnings about the two sides of a comparison together.
pub(super) fn of_pair(x: &Grounds, y: &Grounds) -> Option<Warning> {
    diagnose::spread_changed(&x.moments()?, &y.moments()?)
}

/// Warnings about one side that touch a change that was called. `modes`: two modes too.
fn serious_of_side(grounds: &Grounds, modes: bool) -> impl Iterator<Item = Warning> {
    let raw = grounds.observations.as_ref().filter(|o| o.weights().is_none());
    let of_runs = match (&grounds.side, raw) {
        (Side::Flat(s) | Side::OneProcess(s), Some(o)) => Some((&o.values, Cow::Borrowed(s))),
        (Side::Forks { centers, .. }, Some(_)) => Sample::new(centers.clone()).map(|s| (centers, Cow::Owned(s))),
        _ => None,
    };
    let of_runs = of_runs.map(|(values, sample)| {
        let two_modes = if modes { diagnose::two_modes(&sample) } else { None };
        (diagnose::order(values, &sample), two_modes)
    });
    let in_forks = matches!(grounds.side, Side::OneProcess(_) | Side::Forks { .. });
    let of_forks = raw.filter(|_| in_forks).map(diagnose::diagnose_forks);
    let (order, two_modes) = of_runs.unwrap_or_default();
    order.into_iter().flatten().chain(two_modes).chain(of_forks.into_iter().flatten())
}

/// What is wrong and what to do, for one side of a row: `2 of 10 values far off (max +38%): ...`.
pub(super) fn text(warning: &Warning, unit: &Unit) -> String {
    let (finding, advice) = match warning {
        Warning::Outliers { count, n, farthest } => {
            let farthest = farthest.map_or(String::new(), |f| format!(" (the farthest {:+.0}%)", 100.0 * f));
            (
                format!("{count} of {n} values far off{farthest}"),
                "medians and ranks bear it, means do not; see what else ran",
            )
        }
        Warning::Drift { change, .. } => {
            let way = if *change > 0.0 { "rise" } else { "fall" };
            (
                format!("values {way} by {} over the run", rough_percent(change.abs())),
                "warm up longer, or alternate the sides' runs",
            )
        }
        Warning::Step { at, change, .. } => {
            let size = change.map_or(String::new(), |c| format!(" by {:+.1}%", 100.0 * c));
            (
                format!("values jump{size} at run {}", at + 1),
                "something changed during the run; run again, alternating the sides",
            )
        }
        Warning::Correlation { effective_n, .. } => (
            format!(
                "neighbours in run order are alike: as good as {} independent values",
                effective_n.max(1.0).round()
            ),
            "p is too small; alternate the sides' runs",
        ),
        Warning::WarmUp { excess } => {
            (format!("first iterations stand apart by {:+.0}%", 100.0 * excess), "more warm-up iterations")
        }
        Warning::ForkEffect { too_small, .. } => (
            format!("processes differ: an error that pools their iterations is too small by x{too_small:.1}"),
            "more forks tell more, more iterations do not",
        ),
        Warning::FewForks { forks } => (format!("{forks} forks are few"), "5 or more are advised"),
        Warning::Bimodal { low, high, share_high } => {
            let scale = Scale::of(unit, [*low, *high].into_iter());
            let show = |v: f64| scale.show(v, Spelling::default());
            (
                format!("two modes: {} and {} ({:.0}% of the values)", show(*low), show(*high), 100.0 * share_high),
                "a median may stand in either; find what switches",
            )
        }
        Warning::Noise { cv, detectable } => {
            let seen = detectable.map_or(String::new(), |d| format!(", can only see changes >= {}", rough_percent(d)));
            (format!("noisy: cv {:.0}%{seen}", 100.0 * cv), "a quieter machine or more runs")
        }
        Warning::SpreadChanged { ratio, counts_differ } => {
            let times = if *ratio > 1.0 { *ratio } else { 1.0 / ratio };
            let way = if *ratio > 1.0 { "grew" } else { "shrank" };
            (
                format!("the spread {way} x{times:.1}"),
                match counts_differ {
                    true => "with unequal numbers of runs up to 14% of rank tests call a change then; make them equal",
                    false => "look at the samples, not at the centers alone",
                },
            )
        }
        Warning::Resolution { distinct, n } => (
            format!("only {distinct} distinct values among {n}: timer or print resolution limits"),
            "more operations per run",
        ),
    };
    format!("{finding}: {advice}")
}

/// All warnings about a row as texts, the column before each.
pub(super) fn of_row(
    grounds: &[Option<Grounds>],
    assessments: &[Assessment],
    columns: &[Column],
    unit: &Unit,
) -> Vec<String> {
    let mut texts = Vec::new();
    for (side, column) in grounds.iter().zip(columns) {
        let found = side.iter().flat_map(of_side);
        texts.extend(found.map(|w| format!("{}: {}", column.label, text(&w, unit))));
    }
    for a in assessments {
        let both = grounds[a.base].as_ref().zip(grounds[a.column].as_ref());
        let found = both.and_then(|(x, y)| of_pair(x, y));
        texts.extend(found.map(|w| format!("{}: {}", columns[a.column].label, text(&w, unit))));
    }
    texts
}

/// Footnotes for warnings that touch a change that was called. Whether it stands after the correction does not matter here.
///
/// False alarms on normal noise are below 1.5 % of sides for each of these ([`diagnose`]); those of outliers, of two modes in few values and
/// of resolution are not, and ranks bear them.
pub(super) fn serious(base: &Grounds, new: &Grounds, a: &Assessment, plan: &Plan) -> Vec<&'static str> {
    let verdict = a.verdict(None, plan).0;
    let contradicts = verdict == Verdict::Unclear && a.p.is_some_and(|p| p <= plan.alpha);
    // The shown medians moved by what the ranks do not support.
    let outside = a.delta_pct.zip(a.lo.zip(a.hi)).is_some_and(|(d, (lo, hi))| !(lo..=hi).contains(&(1.0 + d / 100.0)));
    let jumpy = a.is_by_ranks() && (contradicts || verdict.is_change() && outside);
    if !verdict.is_change() && !jumpy {
        return Vec::new();
    }
    let mut texts = Vec::new();
    for warning in serious_of_side(base, jumpy).chain(serious_of_side(new, jumpy)).chain(of_pair(base, new)) {
        let text = match warning {
            Warning::Drift { .. } => {
                "values rise or fall over the run on a side: the change may be the machine's; alternate the sides' runs"
            }
            Warning::Step { .. } => {
                "values jump during the run on a side: the change may be the machine's; alternate the sides' runs"
            }
            Warning::Correlation { .. } => {
                "neighbours in run order are alike on a side: p is too small; alternate the sides' runs"
            }
            Warning::WarmUp { .. } => "first iterations stand apart on a side: more warm-up iterations",
            Warning::SpreadChanged { counts_differ: true, .. } if a.is_by_ranks() => {
                "spread and numbers of runs both differ: up to 14% of rank tests call a change then; make the numbers equal"
            }
            Warning::Bimodal { .. } if jumpy => {
                "values of a side lie in two modes, and its median may stand in either: find what switches"
            }
            _ => continue,
        };
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    texts
}

/// Both columns say when they were run, and these are different times.
pub(super) fn not_interleaved(base: &Column, new: &Column) -> Option<String> {
    let date = |c: &Column| {
        let settings = c.keys.get(c.fields..).unwrap_or_default();
        settings.iter().find(|(key, _)| is_date(key)).map(|(_, v)| v.clone())
    };
    let (old, new) = (date(base)?, date(new)?);
    (old != new).then(|| {
        format!(
            "measured one after the other ({old}; {new}), so drift of the machine looks like a change: alternate the sides' runs \
             (ABAB)"
        )
    })
}

/// Notes about columns that were not run in turns: said on request, for hardly any runs are.
pub(super) fn of_columns(tables: &[Table]) -> Vec<Diagnostic> {
    let mut out: Vec<Diagnostic> = Vec::new();
    for table in tables {
        let Some(base) = table.base else { continue };
        for (i, new) in table.columns.iter().enumerate() {
            let Some(text) = not_interleaved(&table.columns[base], new).filter(|_| i != base) else { continue };
            let message = format!("{} and {}: {text}", table.columns[base].label, new.label);
            if !out.iter().any(|d| d.message == message) {
                out.push(Diagnostic::note("not-interleaved", message));
            }
        }
    }
    out
}
