//! What was typed: one definition per flag, from which help, man page and completions come. Nothing is looked up here.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::compare::{CenterChoice, GeomeanInterval, TestChoice};
use crate::render::chart::Chart;
use crate::report::{Correction, Sort};

/// Reads benchmark results of Go, JMH and RocksDB, and says what changed.
#[derive(Clone, Debug, Parser)]
#[command(
    name = "abstat",
    version,
    about = "Reads benchmark results (Go, JMH, RocksDB db_bench) and says what changed, with honest statistics",
    after_help = EXAMPLES,
    after_long_help = LONG_EXAMPLES,
    args_conflicts_with_subcommands = true,
    subcommand_precedence_over_arg = true,
    max_term_width = 100,
)]
pub struct Cli {
    /// Something other than comparing.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// What to read and compare.
    #[command(flatten)]
    pub compare: CompareArgs,
}

/// What abstat does beside comparing.
#[derive(Clone, Debug, Subcommand)]
pub enum Command {
    /// Measure RocksDB: get, put and range workloads.
    Run(Box<super::runner::RunArgs>),
    /// benchstat's tables, byte for byte: takes benchstat's flags (also under the name benchstat).
    #[command(disable_help_flag = true)]
    Benchstat {
        /// benchstat's flags and inputs.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGS")]
        args: Vec<OsString>,
    },
    /// Write every sample of the inputs as Go text, CSV or JSON lines.
    Convert(ConvertArgs),
    /// Print shell completions or the manual page.
    Generate(super::generate::GenerateArgs),
}

/// `abstat convert`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Examples:
  abstat convert -f jsonl results/*.json > samples.jsonl
  abstat convert -f go jmh.json | abstat benchstat -")]
pub struct ConvertArgs {
    /// Files to read: PATH, LABEL=PATH, or - for standard input.
    #[arg(value_name = "INPUT")]
    pub inputs: Vec<String>,

    /// What to write.
    #[arg(short, long, value_enum, default_value_t)]
    pub format: ConvertFormat,

    /// Read all inputs as this format instead of recognising it.
    #[arg(long, value_name = "FORMAT")]
    pub from: Option<String>,

    /// Keep only results that match.
    #[arg(long, value_name = "EXPR")]
    pub filter: Option<String>,
}

/// Formats of `abstat convert`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ConvertFormat {
    /// One JSON object per sample.
    #[default]
    Jsonl,
    /// One record per sample.
    Csv,
    /// Go benchmark text, which benchstat reads.
    Go,
}

const EXAMPLES: &str = "\
Examples:
  abstat old.txt new.txt                        what changed from old to new
  go test -bench . -count 10 | abstat           a summary of one run
  abstat base=old.txt head=- --fail-on 'slower>5%' < new.txt";

const LONG_EXAMPLES: &str = "\
Examples:
  abstat old.txt new.txt
      What changed from old to new: medians, change, its interval, p, and a word per benchmark.
  go test -bench . -count 10 | abstat
      A summary of one run: medians and how exactly they are known.
  go test -bench . -count 10 | abstat base=old.txt head=-
      The run just made against a file. A path that exists wins over LABEL=PATH.
  abstat old.txt new.txt --fail-on 'slower>5%'
      Exit code 1 if something is slower by more than 5 % for sure.
  abstat old.txt new.txt -f json -o csv:changes.csv
      JSON on stdout and CSV in a file.

Exit codes:
  0  done, and all gates passed
  1  a gate (--fail-on) tripped
  2  could not do it: usage, unreadable input, output that cannot be written
  3  nothing to compare, or a gate that could judge nothing";

/// Everything that reads inputs and compares them.
#[derive(Clone, Debug, Args)]
pub struct CompareArgs {
    /// Files to read: PATH, LABEL=PATH, or - for standard input.
    ///
    /// One input is summarized; of several the first is the base, unless --base names another. The format is recognised by content.
    #[arg(value_name = "INPUT", help_heading = "Input")]
    pub inputs: Vec<String>,

    /// Read all inputs as this format instead of recognising it.
    #[arg(long, value_name = "FORMAT", help_heading = "Input")]
    pub from: Option<String>,

    /// Keep only results that match, such as '.name:Get /size:(1KiB OR 4KiB) .unit:ns/op'.
    ///
    /// KEY:VALUE, KEY:(A OR B), KEY:/regexp/, joined by AND, OR, - (not) and parentheses. Keys are those of --row.
    #[arg(long, value_name = "EXPR", help_heading = "Input")]
    pub filter: Option<String>,

    /// Keep only these units (short for a .unit filter); repeatable.
    #[arg(long, value_name = "UNIT", help_heading = "Input")]
    pub unit: Vec<String>,

    /// Take every warning about an input as an error.
    #[arg(long, help_heading = "Input")]
    pub strict: bool,

    /// Also say what is usually not worth saying.
    #[arg(short, long, help_heading = "Input")]
    pub verbose: bool,

    /// Keys that make a table (default: .config).
    ///
    /// A list of keys: .config, .fullname, .name, .file, /PART of a Go name, any setting or parameter. KEY@alpha, KEY@num, KEY@version
    /// sort, KEY@(a b) also keeps only these values.
    #[arg(long, value_name = "KEYS", help_heading = "Compare")]
    pub table: Option<String>,

    /// Keys that make a row (default: .fullname).
    #[arg(long, value_name = "KEYS", help_heading = "Compare")]
    pub row: Option<String>,

    /// Keys that make a column (default: .file).
    #[arg(long, value_name = "KEYS", help_heading = "Compare")]
    pub col: Option<String>,

    /// Keys that are left out of all of these.
    #[arg(long, value_name = "KEYS", help_heading = "Compare")]
    pub ignore: Option<String>,

    /// Column that the others are compared with: a label, else a place from 0, or `best`.
    #[arg(long, value_name = "LABEL", help_heading = "Compare")]
    pub base: Option<String>,

    /// Significant means p at most this.
    #[arg(long, value_name = "P", default_value = "0.05", help_heading = "Compare")]
    pub alpha: f64,

    /// Confidence of all intervals.
    #[arg(long, value_name = "LEVEL", default_value = "0.95", help_heading = "Compare")]
    pub confidence: f64,

    /// Changes below this are negligible.
    ///
    /// A change whose whole interval lies within it is `same`, significant or not.
    #[arg(long, value_name = "PERCENT", default_value = "1%", help_heading = "Compare")]
    pub margin: String,

    /// Test whether changes stay below this: `same` by two one-sided tests.
    ///
    /// A row is `same` when its interval of confidence 1 - 2 alpha (90% by default) lies within it. Takes the place of --margin.
    #[arg(long, value_name = "PERCENT", conflicts_with = "margin", help_heading = "Compare")]
    pub equiv: Option<String>,

    /// Correction for the number of rows tested together.
    ///
    /// With 40 unchanged rows and none, four suites in five show a false change.
    #[arg(long, value_enum, default_value_t, help_heading = "Compare")]
    pub correction: Correction,

    /// Center of raw samples.
    #[arg(long, value_enum, default_value_t, help_heading = "Compare")]
    pub center: CenterChoice,

    /// Test of raw samples.
    #[arg(long, value_enum, default_value_t, help_heading = "Compare")]
    pub test: TestChoice,

    /// Compare the k-th run of one side with the k-th of the other: for runs that were made in turns.
    ///
    /// Student's t on the logarithms of the pairs' ratios. Needs raw samples and equally many on both sides; forked results pair by fork.
    #[arg(long, help_heading = "Compare")]
    pub paired: bool,

    /// Intervals of changes by bootstrap (BCa, ratio of means) instead of the test's own; of raw samples.
    ///
    /// 10,000 resamples from a fixed seed. Too narrow with few runs.
    #[arg(long, help_heading = "Compare")]
    pub bootstrap: bool,

    /// What the interval of a geomean is about: these benchmarks, or benchmarks like these.
    #[arg(long, value_enum, default_value_t, help_heading = "Compare")]
    pub geomean_ci: GeomeanInterval,

    /// Processes behind each printed summary (JMH forks), where the input does not say.
    #[arg(long, value_name = "N", help_heading = "Compare")]
    pub forks: Option<u64>,

    /// Compare results named OLD under the name NEW; repeatable.
    #[arg(long, value_name = "OLD=NEW", help_heading = "Compare")]
    pub rename: Vec<String>,

    /// Pool report rows of one version even where they differ too much to be repeats.
    #[arg(long, help_heading = "Compare")]
    pub pool: bool,

    /// Take printed errors as if their values were independent.
    #[arg(long, help_heading = "Compare")]
    pub assume_independent: bool,

    /// Tell the whole story of these rows: a name, else a part of names or a regular expression; repeatable.
    ///
    /// Samples, intervals, which test and why, effect sizes, what the runs can show and how many more are needed, all warnings.
    #[arg(long, value_name = "ROW", help_heading = "Show")]
    pub explain: Vec<String>,

    /// Ratios to the base column instead of changes.
    #[arg(long, help_heading = "Show")]
    pub relative: bool,

    /// Ratios of --relative: turned so that above 1 is better, or plain new / base.
    #[arg(long, value_enum, default_value_t, help_heading = "Show")]
    pub ratio: RatioChoice,

    /// Put the interval of each ratio of --relative behind it; the table of a run does.
    #[arg(long, help_heading = "Show")]
    pub ratio_interval: bool,

    /// Put the name behind the numbers in --relative.
    #[arg(long, help_heading = "Show")]
    pub name_last: bool,

    /// Order of the rows.
    #[arg(long, value_enum, default_value_t, help_heading = "Show")]
    pub sort: Sort,

    /// Show only rows with these verdicts, such as slower,unclear.
    #[arg(long, value_name = "VERDICTS", value_delimiter = ',', help_heading = "Show")]
    pub only: Vec<String>,

    /// Show all rows; otherwise a table of more than 60 shows the changed ones.
    #[arg(long, help_heading = "Show")]
    pub all: bool,

    /// Spelling of units: 1.718 µs, or 1.718µ as in benchstat.
    #[arg(long, value_enum, default_value_t, help_heading = "Show")]
    pub units: UnitsChoice,

    /// Errors in percent of the center, or in its unit.
    #[arg(long, value_enum, default_value_t, help_heading = "Show")]
    pub error: ErrorChoice,

    /// Decimals of p.
    #[arg(long, value_name = "N", default_value = "3", help_heading = "Show")]
    pub p_digits: usize,

    /// Colours.
    #[arg(long, value_enum, default_value_t, help_heading = "Show")]
    pub color: ColorChoice,

    /// Width to fit text into (default: the terminal's, else COLUMNS, else 100).
    #[arg(long, value_name = "COLUMNS", help_heading = "Show")]
    pub width: Option<usize>,

    /// Text output without any byte above 127.
    #[arg(long, help_heading = "Show")]
    pub ascii: bool,

    /// Fail (exit 1) when a row breaks this rule: `[FILTER:]CONDITION`, such as 'slower>5%'; repeatable.
    ///
    /// slower, slower>5% (the whole interval is beyond it), slower>5%:est (the estimate is), slower>5%:raw (no test), faster>20%,
    /// geomean>2%, unclear, missing, config, any.
    #[arg(long, value_name = "RULE", help_heading = "Gate")]
    pub fail_on: Vec<String>,

    /// Rows that no rule sees.
    #[arg(long, value_name = "EXPR", help_heading = "Gate")]
    pub fail_except: Vec<String>,

    /// Rules from a TOML file with fail-on and fail-except lists.
    #[arg(long, value_name = "FILE", help_heading = "Gate")]
    pub rules: Option<PathBuf>,

    /// Format of stdout.
    #[arg(short, long, value_enum, default_value_t, help_heading = "Output")]
    pub format: FormatChoice,

    /// Also write FORMAT:FILE, or FILE with the format of its extension; repeatable.
    #[arg(short, long, value_name = "[FORMAT:]FILE", help_heading = "Output")]
    pub output: Vec<PathBuf>,

    /// Below a text table, draw the changes with their intervals and the single values.
    #[arg(long, help_heading = "Show")]
    pub plot: bool,

    /// The chart of -f svg.
    #[arg(long, value_enum, default_value_t, help_heading = "Output")]
    pub chart: Chart,

    /// Line 1 of Markdown: <!-- abstat:ID -->, by which a sticky comment is found.
    #[arg(long, value_name = "ID", help_heading = "Output")]
    pub marker: Option<String>,

    /// Longest Markdown output.
    #[arg(long, value_name = "BYTES", default_value = "65000", help_heading = "Output")]
    pub max_bytes: usize,

    /// Words instead of signs in Markdown.
    #[arg(long, help_heading = "Output")]
    pub no_emoji: bool,
}

/// Formats to write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum FormatChoice {
    /// For a terminal.
    #[default]
    Text,
    /// One record per benchmark and compared column.
    Csv,
    /// Everything, for programs.
    Json,
    /// For a pull request.
    #[value(alias = "md")]
    Markdown,
    /// One page with charts.
    Html,
    /// One chart, see --chart.
    Svg,
}

/// `--ratio`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum RatioChoice {
    /// Above 1 is better.
    #[default]
    Better,
    /// New / base.
    Raw,
}

/// `--units`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum UnitsChoice {
    /// `1.718 µs`.
    #[default]
    Si,
    /// `1.718µ`.
    Go,
}

/// `--error`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ErrorChoice {
    /// In percent of the center.
    #[default]
    Percent,
    /// In the unit of the center.
    Absolute,
}

/// `--color`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ColorChoice {
    /// On a terminal, unless NO_COLOR says otherwise.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}
