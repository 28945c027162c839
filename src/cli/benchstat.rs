//! `abstat benchstat`: takes benchstat's arguments, prints benchstat's tables.
//!
//! Flags are those of benchstat since 2023, parsed as Go's `flag` package does: `-alpha 0.1`, `-alpha=0.1`, `--alpha 0.1`, all before the
//! first input. Unlike benchstat, every failure has an exit code.

use std::ffi::OsString;
use std::io::{self, Write};

use super::Exit;
use crate::base::{Diagnostic, Error, Severity, printable};
use crate::compare::benchstat::{Levels, tables};
use crate::input::{BLOCK, Source};
use crate::model::{Input, SeriesSet};
use crate::parse::mixed::Mixed;
use crate::pivot::labels::{Named, benchstat_labels};
use crate::pivot::{Filter, Layout, Mode, Projection, SyntaxError, layout};
use crate::read::{Request, read};
use crate::render::benchstat::{csv, text};

const USAGE: &str = "\
Usage: abstat benchstat [flags] inputs...

Prints the tables that Go's benchstat prints: medians of each input, and what changed against the first one.
An input is PATH, LABEL=PATH or - for standard input. Without the word benchstat, abstat says more about the same files.

Flags, before the inputs:
  -alpha P          a difference is shown if p <= P (default 0.05)
  -col KEYS         what makes columns (default .file)
  -confidence C     level of the intervals behind ± (default 0.95)
  -filter EXPR      use only results that match (default *)
  -format FORMAT    text, or csv with warnings on stderr (default text)
  -ignore KEYS      variation in these keys is not looked at
  -row KEYS         what makes rows (default .fullname)
  -table KEYS       what makes tables (default .config)
";

/// What to print.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Text,
    Csv,
}

/// What was asked for.
#[derive(Debug)]
struct Plan {
    levels: Levels,
    format: Format,
    filter: Filter,
    layout: Layout,
    inputs: Vec<String>,
}

/// Why there is nothing to do.
#[derive(Debug)]
enum Refusal {
    /// `-h`.
    Help,
    /// One line, and advice.
    Usage(String, Option<String>),
    /// An expression with its flag.
    Syntax(&'static str, SyntaxError),
    /// No input was named.
    NoInput,
}

/// Runs with the arguments behind the word `benchstat`.
pub fn run(args: impl IntoIterator<Item = OsString>, out: &mut dyn Write, err: &mut dyn Write) -> Exit {
    let args = args.into_iter().map(|a| a.to_string_lossy().into_owned());
    // A closed stderr is nobody's problem.
    let mut say = |text: String| {
        let _ = err.write_all(text.as_bytes());
    };
    match plan(args) {
        Ok(plan) => match answer(&plan) {
            Ok((output, warnings)) => {
                say(warnings);
                print(&output, out, say)
            }
            Err((error, warnings)) => {
                say(warnings);
                say(format!("benchstat: {}\n", printable(&error.to_string())));
                if let Some(hint) = error.hint() {
                    say(format!("hint: {}\n", printable(hint)));
                }
                if matches!(error, Error::NothingToCompare { .. }) { Exit::Nothing } else { Exit::Failed }
            }
        },
        Err(Refusal::Help) => print(USAGE, out, say),
        Err(Refusal::NoInput) => {
            say(USAGE.to_owned());
            Exit::Failed
        }
        Err(Refusal::Usage(message, hint)) => {
            say(format!("benchstat: {}\n", printable(&message)));
            if let Some(hint) = hint {
                say(format!("hint: {}\n", printable(&hint)));
            }
            Exit::Failed
        }
        Err(Refusal::Syntax(flag, error)) => {
            say(syntax(flag, &error));
            Exit::Failed
        }
    }
}

/// Writes to stdout; nobody reading on is no error.
fn print(text: &str, out: &mut dyn Write, mut say: impl FnMut(String)) -> Exit {
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(e) if e.kind() != io::ErrorKind::BrokenPipe => {
            say(format!("benchstat: cannot write stdout: {e}\n"));
            Exit::Failed
        }
        _ => Exit::Done,
    }
}

/// The first fault in benchstat's form: the message, the expression and a caret.
fn syntax(flag: &str, error: &SyntaxError) -> String {
    let Some(fault) = error.faults.first() else { return format!("benchstat: parsing {flag}\n") };
    let caret = " ".repeat(error.column(fault));
    let expression = printable(&error.expression);
    format!("benchstat: parsing {flag}: syntax error: {}\n\t{expression}\n\t{caret}^\n", printable(&fault.message))
}

/// Reads the flags.
fn plan(args: impl Iterator<Item = String>) -> Result<Plan, Refusal> {
    let mut plan = Plan {
        levels: Levels::default(),
        format: Format::Text,
        filter: Filter::all(),
        layout: Layout { mode: Mode::Benchstat, ..Layout::default() },
        inputs: Vec::new(),
    };
    // Expressions are looked at last, in benchstat's order.
    let [mut filter, mut table, mut row, mut col, mut ignore] = [const { None }; 5];
    let mut format = None;
    let mut args = args.peekable();
    while let Some(arg) = args.next_if(|a| a.starts_with('-') && a != "-") {
        if arg == "--" {
            break;
        }
        let flag = arg.strip_prefix("--").unwrap_or(&arg[1..]);
        let (name, given) = match flag.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (flag, None),
        };
        if matches!(name, "h" | "help") {
            return Err(Refusal::Help);
        }
        if !matches!(name, "alpha" | "col" | "confidence" | "filter" | "format" | "ignore" | "row" | "table") {
            return Err(unknown(name));
        }
        let Some(value) = given.or_else(|| args.next()) else {
            return Err(Refusal::Usage(format!("flag needs an argument: -{name}"), None));
        };
        match name {
            "alpha" => plan.levels.alpha = number("-alpha", &value)?,
            "confidence" => plan.levels.confidence = number("-confidence", &value)?,
            "format" => format = Some(value),
            "filter" => filter = Some(value),
            "table" => table = Some(value),
            "row" => row = Some(value),
            "col" => col = Some(value),
            _ => ignore = Some(value),
        }
    }
    plan.inputs = args.collect();
    if plan.inputs.is_empty() {
        return Err(Refusal::NoInput);
    }
    for (flag, level) in [("-alpha", plan.levels.alpha), ("-confidence", plan.levels.confidence)] {
        if !(0.0..=1.0).contains(&level) {
            return Err(Refusal::Usage(format!("{flag} must be in range [0, 1]"), None));
        }
    }
    plan.format = match format.as_deref() {
        None | Some("text") => Format::Text,
        Some("csv") => Format::Csv,
        Some(other) => {
            let hint = format!("abstat itself, without the word benchstat, writes more: abstat -f {other} ...");
            let known = matches!(other, "json" | "html" | "markdown" | "md");
            return Err(Refusal::Usage("-format must be text or csv".to_owned(), known.then_some(hint)));
        }
    };
    if let Some(text) = filter {
        plan.filter = text.parse().map_err(|e| Refusal::Syntax("-filter", e))?;
    }
    let list = |flag: &'static str, text: Option<String>| -> Result<Option<Projection>, Refusal> {
        text.map(|text| text.parse().map_err(|e| Refusal::Syntax(flag, e))).transpose()
    };
    plan.layout.table = list("-table", table)?;
    plan.layout.row = list("-row", row)?;
    plan.layout.col = list("-col", col)?;
    plan.layout.ignore = list("-ignore", ignore)?.unwrap_or_default();
    Ok(plan)
}

fn number(flag: &str, text: &str) -> Result<f64, Refusal> {
    text.parse().map_err(|_| Refusal::Usage(format!("invalid value {text:?} for flag {flag}: parse error"), None))
}

/// What to do instead of a flag that is not known; those of benchstat before 2023 have successors.
fn unknown(name: &str) -> Refusal {
    let hint = match name {
        "csv" => Some("benchstat of 2022 and before had it; now it is -format csv"),
        "html" => Some("benchstat of 2022 and before had it; abstat -f html OLD NEW writes a page"),
        "geomean" => Some("benchstat of 2022 and before had it; now the geometric mean is always shown"),
        "norange" => Some("benchstat of 2022 and before had it; ranges are always shown now"),
        "delta-test" => {
            Some("benchstat of 2022 and before had it; the test is always Mann-Whitney's now, see also abstat --test")
        }
        "sort" => Some("benchstat of 2022 and before had it; abstat --sort change|name OLD NEW sorts"),
        "split" => Some("benchstat of 2022 and before had it; now it is -table"),
        _ => None,
    };
    let hint = hint.map_or_else(|| "abstat benchstat -h lists the flags".to_owned(), str::to_owned);
    Refusal::Usage(format!("flag provided but not defined: -{name}"), Some(hint))
}

/// Output and what to say on stderr.
fn answer(plan: &Plan) -> Result<(String, String), (Error, String)> {
    let fail = |e: Error| (e, String::new());
    let sources: Vec<Source> = plan.inputs.iter().map(|i| Source::parse_split_always(i)).collect();
    if sources.iter().filter(|s| s.is_stdin()).count() > 1 {
        return Err(fail(Error::usage("standard input (-) can be read only once, found it twice")));
    }
    let paths: Vec<String> = sources.iter().map(|s| if s.is_stdin() { "-".to_owned() } else { s.name() }).collect();
    let named: Vec<Named<'_>> =
        sources.iter().zip(&paths).map(|(s, path)| Named { label: s.label.as_deref(), path }).collect();
    let labels = benchstat_labels(&named);
    let request =
        Request { sources: &sources, labels: &labels, parsers: &Mixed::drop_in, filter: &plan.filter, block: BLOCK };
    let mut set = match read(&request) {
        Ok(set) => set,
        // As long as some input has results, those without are no reason to stop.
        Err((Error::Empty { .. } | Error::NoResults { .. }, set)) if !set.groups.is_empty() => *set,
        Err((error, set)) => return Err((advised(error, plan), warnings(&set))),
    };
    let noticed = warnings(&set);
    let grid = layout(&mut set, &plan.layout);
    if grid.tables.is_empty() {
        let message = "no result matches the filter".to_owned();
        return Err((Error::NothingToCompare { message, hint: None }, noticed));
    }
    let tables = tables(grid, plan.levels);
    Ok(match plan.format {
        Format::Text => (text(&tables), noticed),
        Format::Csv => {
            let (records, warnings) = csv(&tables);
            (records, noticed + &warnings)
        }
    })
}

/// A file that is missing because it is a flag gets advice.
fn advised(error: Error, plan: &Plan) -> Error {
    match &error {
        Error::Read { name, .. } if name.starts_with('-') && plan.inputs.contains(name) => {
            Error::Usage { message: error.to_string(), hint: Some("flags stand before the inputs".to_owned()) }
        }
        _ => error,
    }
}

/// What was noticed while reading, one line each: `PATH:LINE: MESSAGE`.
fn warnings(set: &SeriesSet) -> String {
    let shown = set.diagnostics.iter().filter(|d| d.severity == Severity::Warning);
    shown.map(|d| warning(d, &set.inputs)).collect()
}

fn warning(d: &Diagnostic, inputs: &[Input]) -> String {
    let input = d.source.and_then(|s| inputs.get(s.0 as usize));
    let line = d.pos.filter(|p| p.line > 0).map_or_else(String::new, |p| format!("{}:", p.line));
    let place = input.map_or_else(String::new, |i| format!("{}:{line}", i.path));
    let space = if place.is_empty() { "" } else { " " };
    format!("{}{space}{}\n", printable(&place), printable(&d.message))
}
