//! Formats: the only list of them, and the traits that join them to the rest.
//!
//! A [`RecordParser`] is offered one line after another and says whether the line belonged to its format. An input whose format is not
//! given is read by all of them at once ([`mixed`]): the parser that took the last line is asked first, then the others in the order of
//! [`FORMATS`]; so a format is recognised by content, and one log may hold several.

pub mod abstat_jsonl;
pub mod benchstat;
pub mod db_bench;
pub mod go;
pub mod go_test_json;
pub mod jmh;
pub mod lex;
pub mod mixed;
pub mod regression_csv;
pub mod relative;
pub mod report_tsv;
pub mod scan;
#[cfg(test)]
pub mod testing;

use crate::model::Sink;

/// One line of an input, decoded to UTF-8 where it was UTF-16, ANSI sequences and CI time stamps removed, without its line end.
#[derive(Clone, Copy, Debug)]
pub struct Line<'a> {
    /// From 1.
    pub number: u64,
    /// May hold invalid UTF-8 and carriage returns inside (db_bench progress); not the terminating CR LF.
    pub bytes: &'a [u8],
}

impl<'a> Line<'a> {
    /// The text; invalid UTF-8 replaced.
    pub fn text(&self) -> std::borrow::Cow<'a, str> {
        String::from_utf8_lossy(self.bytes)
    }
}

/// Whether a line belonged to a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    /// It is of this format; nobody else need look.
    Mine,
    /// It may be (a setting, a heading); others should look too.
    Maybe,
    /// It is not.
    No,
}

/// A parser of one format. Never panics, whatever the bytes; keeps good results when others are bad.
pub trait RecordParser: Send {
    /// Looks at one line, pushes what it completes.
    fn line(&mut self, line: Line<'_>, out: &mut dyn Sink) -> Claim;
    /// The input ended; pushes what was pending and says what was cut off.
    fn finish(&mut self, out: &mut dyn Sink);
}

/// A format that abstat reads.
#[derive(Debug)]
pub struct Format {
    /// Name for `--from` and `inputs[].format`; several parsers may share one (`jmh`).
    pub name: &'static str,
    /// One line for the help.
    pub about: &'static str,
    /// A fresh parser for one input.
    pub parser: fn() -> Box<dyn RecordParser>,
}

/// All formats, in the order in which an undecided line is offered.
pub static FORMATS: &[Format] = &[
    Format {
        name: "abstat",
        about: "samples of abstat run and abstat convert, JSON lines",
        parser: || Box::new(abstat_jsonl::AbstatJsonl::default()),
    },
    Format {
        name: "jmh",
        about: "JMH: console log, table in any text, JSON, CSV, LaTeX",
        parser: || Box::new(jmh::Jmh::new()),
    },
    Format {
        name: "go",
        about: "go test -json",
        parser: || Box::new(go_test_json::GoTestJson::new(go::Mode::Lenient)),
    },
    Format { name: "go", about: "go test -bench", parser: || Box::new(go::Go::new(go::Mode::Lenient)) },
    Format { name: "db_bench", about: "db_bench of RocksDB, LevelDB", parser: || Box::new(db_bench::DbBench::new()) },
    Format {
        name: "report-tsv",
        about: "tables of RocksDB's benchmark.sh",
        parser: || Box::new(report_tsv::ReportTsv::new()),
    },
    Format {
        name: "report-tsv",
        about: "CSV of RocksDB's regression_test.sh",
        parser: || Box::new(regression_csv::RegressionCsv::new()),
    },
    Format { name: "benchstat", about: "tables that benchstat made", parser: || Box::new(benchstat::Benchstat::new()) },
    Format {
        name: "relative",
        about: "published tables of relative rates",
        parser: || Box::new(relative::Relative::new()),
    },
];
