//! What is needed: checked and looked up. Every usage error is found here, before anything is read.

use std::io::IsTerminal;

use super::args::{ColorChoice, CompareArgs, ErrorChoice, FormatChoice, RatioChoice, UnitsChoice};
use super::output::{self, Options, Target, draws_samples};
use crate::base::Error;
use crate::compare::{self, Base, RowPattern};
use crate::gate::{self, Rule, Rules, Selector};
use crate::input::Source;
use crate::parse::FORMATS;
use crate::pivot::labels::{Named, labels};
use crate::pivot::rename::Rename;
use crate::pivot::{Filter, Projection, SyntaxError, pooling};
use crate::pivot::{Layout, Mode};
use crate::render::markdown::MarkdownOptions;
use crate::render::text::Text;
use crate::report::{Selection, View};
use crate::units::show::Spelling;

/// What to do.
pub struct Plan {
    pub reading: Reading,
    pub layout: Layout,
    pub renames: Vec<Rename>,
    pub compare: compare::Plan,
    pub selection: Selection,
    pub options: Options,
    pub rules: Rules,
    /// Report rows are pooled up to this ratio between them.
    pub pool_limit: f64,
    pub targets: Vec<Target>,
}

/// What to read.
pub struct Reading {
    pub sources: Vec<Source>,
    pub labels: Vec<String>,
    pub from: Option<String>,
    pub filter: Filter,
}

/// Why there is no plan.
pub enum Refusal {
    /// One or more faults in expressions: the flag and what is wrong.
    Syntax(Vec<(&'static str, SyntaxError)>),
    /// Anything else.
    Usage(Error),
    /// Nothing was named and a person waits at the terminal.
    NoInput,
}

impl From<Error> for Refusal {
    fn from(e: Error) -> Self {
        Refusal::Usage(e)
    }
}

/// Makes the plan.
pub fn plan(args: &CompareArgs) -> Result<Plan, Refusal> {
    let mut faults = Vec::new();
    let mut reading = reading(&args.inputs, args.from.as_deref(), args.filter.as_deref(), &mut faults)?;
    if !args.unit.is_empty() {
        let units = unit_filter(&args.unit, &mut faults);
        reading.filter = std::mem::take(&mut reading.filter).and(units);
    }
    let mut list = |flag: &'static str, text: &Option<String>| -> Option<Projection> {
        text.as_deref().and_then(|text| text.parse().map_err(|e| faults.push((flag, e))).ok())
    };
    let layout = Layout {
        mode: Mode::Abstat,
        table: list("--table", &args.table),
        row: list("--row", &args.row),
        col: list("--col", &args.col),
        ignore: list("--ignore", &args.ignore).unwrap_or_default(),
        copies: Vec::new(),
    };
    let mut rules = rules(args, &mut faults)?;
    rules.assume_independent = args.assume_independent;
    if !faults.is_empty() {
        return Err(Refusal::Syntax(faults));
    }
    let renames = args
        .rename
        .iter()
        .map(|text| {
            Rename::parse(text).ok_or_else(|| Error::usage(format!("--rename: expected OLD=NEW, found {text:?}")))
        })
        .collect::<Result<_, _>>()?;
    let targets: Vec<Target> = args.output.iter().map(|o| output::target(o)).collect::<Result<_, _>>()?;
    let formats = || targets.iter().map(|t| t.format).chain([args.format]);
    if !args.explain.is_empty() && !formats().any(|f| f == FormatChoice::Text) {
        return Err(Error::Usage {
            message: "--explain tells its story as text, and no text is written".into(),
            hint: Some("leave out --format, or add -o text:FILE".into()),
        }
        .into());
    }
    if args.equiv.is_some() && args.alpha >= 0.5 {
        return Err(Error::usage("--equiv: needs --alpha below 0.5").into());
    }
    let fraction = |flag: &str, v: f64| {
        if v > 0.0 && v < 1.0 {
            Ok(v)
        } else {
            Err(Error::usage(format!("{flag}: expected a number between 0 and 1, found {v}")))
        }
    };
    let spelling = Spelling { ascii: args.ascii, go: args.units == UnitsChoice::Go };
    Ok(Plan {
        reading,
        layout,
        renames,
        compare: compare::Plan {
            alpha: fraction("--alpha", args.alpha)?,
            confidence: fraction("--confidence", args.confidence)?,
            margin: match &args.equiv {
                Some(equiv) => percent("--equiv", equiv)?,
                None => percent("--margin", &args.margin)?,
            },
            equivalence: args.equiv.is_some(),
            correction: args.correction,
            view: if args.relative { View::Relative } else { View::Change },
            base: match args.base.as_deref() {
                None => Base::First,
                Some("best") => Base::Best,
                Some(label) => Base::Label(label.to_owned()),
            },
            center: args.center,
            test: args.test,
            forks: match args.forks {
                Some(0) => return Err(Error::usage("--forks: expected at least 1, found 0").into()),
                forks => forks,
            },
            assume_independent: args.assume_independent,
            paired: args.paired,
            bootstrap: args.bootstrap,
            geomean: args.geomean_ci,
            explain: args.explain.iter().cloned().map(RowPattern).collect(),
            warnings: formats().any(|f| f == FormatChoice::Json),
            keep_samples: formats().any(draws_samples) || args.plot,
        },
        selection: Selection { sort: args.sort, only: verdicts(&args.only)?, all: args.all },
        rules,
        pool_limit: if args.pool { f64::INFINITY } else { pooling::LIMIT },
        options: Options {
            text: Text {
                width: width(args.width),
                color: color(args.color, std::io::stdout().is_terminal()),
                spelling,
                absolute_error: args.error == ErrorChoice::Absolute,
                p_digits: args.p_digits.min(17),
                name_last: args.name_last,
                raw_ratio: args.ratio == RatioChoice::Raw,
                ratio_interval: args.ratio_interval,
            },
            markdown: MarkdownOptions {
                marker: args.marker.clone(),
                max_bytes: args.max_bytes,
                emoji: !args.no_emoji,
                raw_ratio: args.ratio == RatioChoice::Raw,
                full_report: targets
                    .iter()
                    .find(|t| t.format != FormatChoice::Markdown)
                    .map(|t| t.path.display().to_string()),
            },
            chart: args.chart,
            plot: args.plot,
        },
        targets,
    })
}

/// What to read, checked; faults of the filter are added to `faults`.
pub fn reading(
    inputs: &[String],
    from: Option<&str>,
    filter: Option<&str>,
    faults: &mut Vec<(&'static str, SyntaxError)>,
) -> Result<Reading, Refusal> {
    let sources = sources(inputs)?;
    let named: Vec<(Option<String>, String)> =
        sources.iter().map(|s| (s.label.clone(), if s.is_stdin() { "-".to_owned() } else { s.name() })).collect();
    let named: Vec<Named<'_>> = named.iter().map(|(l, p)| Named { label: l.as_deref(), path: p }).collect();
    let labels = labels(&named);
    if let Some(from) = from {
        known_format(from)?;
    }
    let filter = filter.map_or_else(Filter::all, |text| {
        text.parse().unwrap_or_else(|e| {
            faults.push(("--filter", e));
            Filter::all()
        })
    });
    Ok(Reading { labels, sources, from: from.map(str::to_owned), filter })
}

fn sources(inputs: &[String]) -> Result<Vec<Source>, Refusal> {
    if inputs.is_empty() {
        if std::io::stdin().is_terminal() {
            return Err(Refusal::NoInput);
        }
        return Ok(vec![Source::stdin()]);
    }
    let sources: Vec<Source> = inputs.iter().map(|i| Source::parse(i)).collect();
    if sources.iter().filter(|s| s.is_stdin()).count() > 1 {
        return Err(Error::usage("standard input (-) can be read only once, found it twice").into());
    }
    Ok(sources)
}

/// The gates: from the rules file, then from the flags.
fn rules(args: &CompareArgs, faults: &mut Vec<(&'static str, SyntaxError)>) -> Result<Rules, Refusal> {
    let usage = |e: gate::RuleError| Error::Usage { message: e.message, hint: e.hint };
    let mut rules = Rules::default();
    if let Some(path) = &args.rules {
        let name = path.display().to_string();
        let text = std::fs::read_to_string(path).map_err(|source| Error::Read { name: name.clone(), source })?;
        rules = gate::from_toml(&name, &text).map_err(|e| match e.into_iter().next() {
            Some(e) => usage(e),
            None => Error::usage(format!("{name}: not a rules file")),
        })?;
    }
    for text in &args.fail_on {
        rules.rules.push(Rule::parse(text).map_err(usage)?);
    }
    for text in &args.fail_except {
        match Selector::parse(text) {
            Ok(s) => rules.except.push(s),
            Err(e) => faults.push(("--fail-except", e)),
        }
    }
    Ok(rules)
}

fn known_format(from: &str) -> Result<(), Error> {
    let mut names: Vec<&str> = FORMATS.iter().map(|f| f.name).collect();
    names.dedup();
    if names.contains(&from) {
        return Ok(());
    }
    let nearest = names.iter().max_by(|a, b| strsim::jaro_winkler(a, from).total_cmp(&strsim::jaro_winkler(b, from)));
    Err(Error::Usage {
        message: format!("--from: unknown format {from:?}; known: {}", names.join(", ")),
        hint: nearest.map(|n| format!("did you mean {n}?")),
    })
}

/// `.unit:(A OR B)`.
fn unit_filter(units: &[String], faults: &mut Vec<(&'static str, SyntaxError)>) -> Filter {
    let quoted: Vec<String> = units.iter().map(|u| format!("{u:?}")).collect();
    format!(".unit:({})", quoted.join(" OR ")).parse().unwrap_or_else(|e| {
        faults.push(("--unit", e));
        Filter::all()
    })
}

/// `1%`, `1.5%` or `0.01`, as a fraction.
fn percent(flag: &str, text: &str) -> Result<f64, Error> {
    let value = match text.strip_suffix('%') {
        Some(p) => p.trim().parse::<f64>().map(|v| v / 100.0),
        None => text.parse::<f64>(),
    };
    match value {
        Ok(v) if (0.0..1.0).contains(&v) => Ok(v),
        _ => Err(Error::Usage {
            message: format!("{flag}: expected a percentage such as 1%, found {text:?}"),
            hint: None,
        }),
    }
}

const VERDICTS: [&str; 8] = ["faster", "slower", "better", "worse", "changed", "same", "unclear", "untested"];

fn verdicts(words: &[String]) -> Result<Vec<String>, Error> {
    for word in words {
        if !VERDICTS.contains(&word.trim_end_matches('?')) {
            return Err(Error::usage(format!("--only: unknown verdict {word:?}; known: {}", VERDICTS.join(", "))));
        }
    }
    // Time and everything else have a word each for the same thing.
    let mut all = words.to_vec();
    for (a, b) in [("faster", "better"), ("slower", "worse")] {
        for suffix in ["", "?"] {
            let (a, b) = (format!("{a}{suffix}"), format!("{b}{suffix}"));
            if words.contains(&a) || words.contains(&b) {
                all.extend([a, b]);
            }
        }
    }
    Ok(all)
}

fn width(flag: Option<usize>) -> usize {
    let terminal = || terminal_size::terminal_size_of(std::io::stdout()).map(|(w, _)| usize::from(w.0));
    let variable = || std::env::var("COLUMNS").ok().and_then(|c| c.parse().ok()).filter(|c| *c > 0);
    flag.or_else(terminal).or_else(variable).unwrap_or(100)
}

/// Whether a stream gets colours: the flag, else NO_COLOR, else CLICOLOR_FORCE, else a terminal that is not dumb.
pub fn color(choice: ColorChoice, terminal: bool) -> bool {
    let set = |name: &str| std::env::var_os(name).is_some_and(|v| !v.is_empty());
    match choice {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto if set("NO_COLOR") => false,
        ColorChoice::Auto if std::env::var_os("CLICOLOR_FORCE").is_some_and(|v| !v.is_empty() && v != "0") => true,
        ColorChoice::Auto => terminal && std::env::var_os("TERM").is_none_or(|t| t != "dumb"),
    }
}
