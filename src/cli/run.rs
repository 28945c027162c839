//! Does what the plan says: read, lay out, compare, write.

use std::io::{self, Write};

use super::Exit;
use super::args::{Cli, CompareArgs};
use super::messages::Messages;
use super::output::{renderer, write_file};
use super::plan::{Plan, Reading, Refusal, plan};
use crate::base::{Error, Severity};
use crate::compare::compare;
use crate::gate::{self, GateExit, Rules};
use crate::input::BLOCK;
use crate::model::{Key, SeriesSet};
use crate::parse::mixed::Mixed;
use crate::pivot::rename::rename;
use crate::pivot::{Layout, jmh, layout, pooling};
use crate::read::{Request, read};
use crate::report::{Report, Why, select};

const USAGE: &str = "\
usage: abstat [OPTIONS] INPUT...

  abstat old.txt new.txt                  what changed from old to new
  go test -bench . -count 10 | abstat     a summary of one run
  abstat --help                           everything
";

/// Runs the program.
pub fn run(cli: &Cli) -> Exit {
    let args = &cli.compare;
    let messages = Messages::new(args.color, args.verbose);
    match plan(args) {
        Ok(plan) => answer(args, &plan, &messages).unwrap_or_else(|e| failed(&e, &messages)),
        Err(refusal) => refused(&refusal, &messages),
    }
}

/// The exit of a run that ended with an error, which is said.
pub(super) fn failed(e: &Error, messages: &Messages) -> Exit {
    if broken_pipe(e) {
        return Exit::Done;
    }
    messages.error(e);
    if matches!(e, Error::NothingToCompare { .. }) { Exit::Nothing } else { Exit::Failed }
}

/// The exit of a run that could not be planned, which is said.
pub(super) fn refused(refusal: &Refusal, messages: &Messages) -> Exit {
    match refusal {
        Refusal::Usage(e) => messages.error(e),
        Refusal::Syntax(faults) => {
            for (flag, error) in faults {
                messages.syntax(flag, error);
            }
        }
        Refusal::NoInput => {
            messages.line("error: no input named, and standard input is a terminal");
            messages.raw(USAGE);
        }
    }
    Exit::Failed
}

pub(super) fn broken_pipe(e: &Error) -> bool {
    matches!(e, Error::Write { source, .. } if source.kind() == io::ErrorKind::BrokenPipe)
}

/// Reads all inputs; what was noticed before a failure is said.
pub(super) fn read_all(reading: &Reading, messages: &Messages) -> Result<SeriesSet, Error> {
    let parsers = || match Mixed::new(reading.from.as_deref()) {
        Some(parsers) => parsers,
        None => unreachable!("the plan knows the format"),
    };
    let request = Request {
        sources: &reading.sources,
        labels: &reading.labels,
        parsers: &parsers,
        filter: &reading.filter,
        block: BLOCK,
    };
    read(&request).map_err(|(e, set)| {
        messages.diagnostics(&set.diagnostics, &set.inputs);
        e
    })
}

/// Reads, compares and writes.
pub(super) fn answer(args: &CompareArgs, plan: &Plan, messages: &Messages) -> Result<Exit, Error> {
    let mut set = read_all(&plan.reading, messages)?;
    let mut noticed = std::mem::take(&mut set.diagnostics);
    let strict = args.strict && noticed.iter().any(|d| d.severity == Severity::Warning);
    if set.groups.is_empty() {
        messages.diagnostics(&noticed, &set.inputs);
        return Err(Error::NothingToCompare { message: "no result matches the filter".into(), hint: None });
    }
    let lists = &plan.layout;
    let named: Vec<Key> = [lists.table.as_ref(), lists.row.as_ref(), lists.col.as_ref(), Some(&lists.ignore)]
        .into_iter()
        .flatten()
        .flat_map(|list| list.fields.iter().map(|f| f.key.clone()))
        .collect();
    noticed.extend(jmh::unify_names(&mut set));
    noticed.extend(rename(&mut set, &plan.renames));
    let (copies, warnings) = pooling::copies(&set, &named, plan.pool_limit);
    noticed.extend(warnings);
    let grid = layout(&mut set, &Layout { copies, ..plan.layout.clone() });
    let inputs = std::mem::take(&mut set.inputs);
    let mut report = compare(grid, inputs, noticed, &plan.compare)?;
    messages.diagnostics(&report.warnings, &report.inputs);
    if let Some(e) = nothing_in_common(&report) {
        return Err(e);
    }
    if strict {
        return Err(Error::usage("--strict: there were warnings about the inputs"));
    }
    select(&mut report, &plan.selection);
    let exit = gates(&mut report, &plan.rules, messages);
    for target in &plan.targets {
        write_file(target, &report, &plan.options)?;
    }
    let mut stdout = io::stdout().lock();
    let written = renderer(args.format, &plan.options).render(&report, &mut stdout).and_then(|()| stdout.flush());
    if let Err(source) = written {
        // Nobody reads on: no error, and no reason to forget what the gates came to.
        if source.kind() != io::ErrorKind::BrokenPipe {
            return Err(Error::Write { path: "stdout".into(), source });
        }
    }
    for line in gate::lines(&report, &report.gates) {
        messages.line(&line);
    }
    // The program ends here: taking a large report apart would be for nothing.
    std::mem::forget(report);
    Ok(exit)
}

/// Holds the rules against the report and keeps the outcome in it.
fn gates(report: &mut Report, rules: &Rules, messages: &Messages) -> Exit {
    if rules.rules.is_empty() {
        return Exit::Done;
    }
    let (outcomes, diagnostics, exit) = gate::judge(report, rules);
    messages.diagnostics(&diagnostics, &report.inputs);
    report.gates = outcomes;
    report.warnings.extend(diagnostics);
    match exit {
        GateExit::Passed => Exit::Done,
        GateExit::Tripped => Exit::Tripped,
        GateExit::CouldNotJudge => Exit::Nothing,
    }
}

/// Several columns were asked for, but no row has two of them.
fn nothing_in_common(report: &Report) -> Option<Error> {
    let formats: Vec<_> = report.inputs.iter().map(|i| &i.formats).collect();
    // Inputs of different formats are rarely meant to share names: they are shown one beside the other.
    if report.inputs.len() < 2 || formats.windows(2).any(|w| w[0] != w[1]) {
        return None;
    }
    let rows = || report.tables.iter().flat_map(|t| &t.rows);
    if rows().any(|r| r.comparisons().any(|(_, c)| c.why != Some(Why::OneSide))) {
        return None;
    }
    if report.tables.iter().any(|t| t.columns.len() > 1 && t.base.is_none()) {
        return None;
    }
    // Names of each input: a table may hold one or several of them.
    let names = |label: &str| -> Vec<&str> {
        let mut out = Vec::new();
        for t in &report.tables {
            let Some(i) = t.columns.iter().position(|c| c.label == label) else { continue };
            for r in t.rows.iter().filter(|r| r.has(i)) {
                if !out.contains(&&*r.name) {
                    out.push(&*r.name);
                }
                if out.len() >= 200 {
                    return out;
                }
            }
        }
        out
    };
    let labels: Vec<&str> = report.inputs.iter().map(|i| i.label.as_str()).collect();
    let (a, b) = (names(labels[0]), names(labels[1]));
    let some = |names: &[&str]| names.iter().take(3).map(|n| format!("{n:?}")).collect::<Vec<_>>().join(", ");
    let paths = report.inputs.iter().map(|i| i.path.as_str()).collect::<Vec<_>>();
    let message = format!(
        "{} share no benchmark names: {} has {}; {} has {}",
        paths.join(" and "),
        labels[0],
        some(&a),
        labels[1],
        some(&b)
    );
    let nearest = a
        .iter()
        .flat_map(|x| b.iter().map(move |y| (x, y)))
        .max_by(|(a, b), (c, d)| strsim::jaro_winkler(a, b).total_cmp(&strsim::jaro_winkler(c, d)));
    let hint = nearest.map(|(x, y)| {
        let procs = |n: &str| n.rsplit_once('-').is_some_and(|(_, d)| d.bytes().all(|b| b.is_ascii_digit()));
        let stem = |n: &str| n.rsplit_once('-').map_or(n.to_owned(), |(s, _)| s.to_owned());
        let how = if procs(x) && procs(y) && stem(x) == stem(y) {
            "; try --ignore /gomaxprocs"
        } else if x == y {
            "; they differ in other keys: try --ignore or --table"
        } else {
            ""
        };
        format!("nearest pair: {x:?} / {y:?}{how}")
    });
    Some(Error::NothingToCompare { message, hint })
}
