//! CSV and SCSV (`-rf csv`, `-rf scsv`): `"Benchmark","Mode","Threads","Samples","Score","Score Error (99.9%)","Unit","Param: x"...`.
//!
//! Numbers follow the locale of the JVM; with a decimal comma the delimiter and the quotes tell it from a separator. An empty parameter
//! is an absent one. JMH 1.4.2 and newer print six decimals, so small scores read `0.000000`: they are kept with that precision, and said.

use std::borrow::Cow;

use super::label;
use super::number::parse_alone;
use super::unit::{self, Mode};
use super::{CONFIDENCE, Identity, Output, Place, Repeats, Source, counted};
use crate::base::Diagnostic;
use crate::model::{Center, Reading, Settings, Spread, Summary};
use crate::parse::Line;
use crate::parse::scan::plain_fields;

/// A quoted field may hold line breaks; a record may be this long.
const LONGEST: usize = 1 << 20;

/// Reader of CSV.
#[derive(Default)]
pub struct Csv {
    columns: Option<Columns>,
    /// A record whose quotes are still open, and its first line.
    open: Vec<u8>,
    open_line: u64,
    odd_quotes: bool,
    settings: Settings,
    repeats: Repeats,
    /// Rows whose score is all zeros.
    zeros: u64,
    zeros_line: u64,
}

struct Columns {
    delimiter: u8,
    count: usize,
    threads: Option<usize>,
    samples: usize,
    score: usize,
    error: Option<usize>,
    unit: usize,
    params: Vec<(usize, String)>,
}

impl Csv {
    /// Looks at a line; returns whether it is a header or a record.
    pub fn line(&mut self, line: Line<'_>, out: &mut Output<'_>) -> bool {
        if let Some(columns) = header(line.bytes) {
            self.end(out);
            self.columns = Some(columns);
            return true;
        }
        let Some(columns) = &self.columns else { return false };
        if line.bytes.trim_ascii().is_empty() && self.open.is_empty() {
            return false;
        }
        if self.open.is_empty() {
            (self.open_line, self.odd_quotes) = (line.number, false);
        }
        self.odd_quotes ^= memchr::memchr_iter(b'"', line.bytes).count() % 2 == 1;
        if self.odd_quotes && self.open.len() + line.bytes.len() < LONGEST {
            self.open.extend_from_slice(line.bytes);
            self.open.push(b'\n');
            return true;
        }
        let mut whole = std::mem::take(&mut self.open);
        let (record, number) = if whole.is_empty() {
            (line.bytes, line.number)
        } else {
            whole.extend_from_slice(line.bytes);
            (whole.as_slice(), self.open_line)
        };
        let fields = fields(record, columns.delimiter);
        let mode = fields.get(1).map_or("", |m| m);
        if fields.len() != columns.count || Mode::parse(mode).is_none() {
            if fields.len() == columns.count || (fields.len() > 2 && Mode::parse(mode).is_some()) {
                out.diagnose(
                    Diagnostic::warning(
                        "bad-row",
                        format!(
                            "expected {} fields with a mode in the second, found {} and {mode:?}",
                            columns.count,
                            fields.len()
                        ),
                    )
                    .at(number, record, 0..record.len()),
                );
                return true;
            }
            self.end(out);
            return false;
        }
        self.record(number, record, &fields, out);
        true
    }

    fn record(&mut self, line: u64, record: &[u8], fields: &[Cow<'_, str>], out: &mut Output<'_>) {
        let Some(columns) = &self.columns else { return };
        let field = |i: usize| fields.get(i).map_or("", |f| f.trim());
        let mode = field(1);
        let (name, label) = label::split(field(0));
        let printed = field(columns.unit);
        if field(columns.score) == "NaN" {
            out.diagnose(Diagnostic::note("no-number", format!("{} has no number, left out", field(0))).at_line(line));
            return;
        }
        let Some(score) = parse_alone(field(columns.score)) else {
            out.diagnose(
                Diagnostic::warning("bad-number", format!("expected a score, found {:?}", field(columns.score))).at(
                    line,
                    record,
                    0..record.len(),
                ),
            );
            return;
        };
        let mode_kind = Mode::parse(mode);
        if let Some(m) = mode_kind
            && label.is_empty()
            && unit::kind(printed).is_some()
            && !m.fits(printed)
        {
            out.diagnose(
                Diagnostic::warning("unit-mode", format!("mode {mode} but unit {printed}: unit trusted")).at_line(line),
            );
        }
        if score.value == 0.0 && score.decimals > 0 && kind_of_score(printed, &label) {
            self.zeros += 1;
            self.zeros_line = if self.zeros == 1 { line } else { self.zeros_line };
        }
        let params: Vec<(&str, &str)> =
            columns.params.iter().map(|(i, k)| (k.as_str(), field(*i))).filter(|(_, v)| !v.is_empty()).collect();
        // Printed as a decimal number by some versions.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
        let whole = |i: usize| parse_alone(field(i)).map(|p| p.value as u64);
        let threads = columns.threads.and_then(whole).map(|n| n.to_string()).unwrap_or_default();
        self.settings.set("threads", &threads);
        let percentile = unit::is_percentile(&label);
        let error = columns.error.and_then(|i| parse_alone(field(i)));
        let sum = unit::is_sum(printed, &label) && error.is_none();
        let n = whole(columns.samples).filter(|_| !percentile);
        let (unit, factor) = out.unit(printed, mode_kind, &label);
        let spread = match error {
            Some(e) => Spread::StudentError {
                half_width: factor.apply(e.value.abs()),
                confidence: CONFIDENCE,
                resolution: factor.apply(e.resolution()),
            },
            _ => Spread::None,
        };
        let summary = Summary {
            center: if percentile || sum || n == Some(1) { Center::Single } else { Center::Mean },
            value: factor.apply(score.value),
            spread,
            n,
            forks: None,
            resolution: factor.apply(score.resolution()),
            approximate: false,
        };
        let id = Identity { name, label: &label, mode, params: &params };
        if out.told.again(Source::Csv, &id, summary.value, summary.resolution) {
            return;
        }
        let name = self.repeats.name(&id, &threads);
        let id = Identity { name: &name, ..id };
        out.push(&id, Place::default(), &self.settings, line, None, &[(unit, Reading::Summary(summary))]);
    }

    fn end(&mut self, out: &mut Output<'_>) {
        self.columns = None;
        if !self.open.is_empty() {
            out.diagnose(
                Diagnostic::warning("cut-csv", "CSV ends inside a quoted field: its record is lost")
                    .at_line(self.open_line),
            );
            self.open.clear();
        }
        if self.zeros > 0 {
            out.diagnose(
                Diagnostic::warning(
                    "zero-score",
                    format!(
                        "{} no digit but zeros: too small for the six decimals of JMH's CSV",
                        counted(self.zeros, "score has", "scores have")
                    ),
                )
                .at_line(self.zeros_line)
                .hint("choose a smaller unit (-tu ns), or JSON (-rf json)"),
            );
            self.zeros = 0;
        }
    }

    /// The input ended.
    pub fn finish(&mut self, out: &mut Output<'_>) {
        self.end(out);
    }
}

/// Time and rates cannot be zero; counts can.
fn kind_of_score(unit: &str, label: &str) -> bool {
    unit::kind(unit).is_some() && (label.is_empty() || unit::is_percentile(label))
}

/// Fields of one record.
fn fields(record: &[u8], delimiter: u8) -> Vec<Cow<'_, str>> {
    if let Some(plain) = plain_fields(record, delimiter) {
        return plain.into_iter().map(super::decode::decode).collect();
    }
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(delimiter)
        .has_headers(false)
        .flexible(true)
        .buffer_capacity(record.len().clamp(16, 1 << 16))
        .from_reader(record);
    let mut fields = csv::ByteRecord::new();
    match reader.read_byte_record(&mut fields) {
        Ok(true) => fields.iter().map(|f| Cow::Owned(super::decode::decode(f).into_owned())).collect(),
        _ => Vec::new(),
    }
}

fn header(bytes: &[u8]) -> Option<Columns> {
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    // Spreadsheets drop the quotes.
    let rest = bytes.strip_prefix(b"\"Benchmark\"").or_else(|| bytes.strip_prefix(b"Benchmark"))?;
    let delimiter = *rest.first().filter(|b| matches!(b, b',' | b';' | b'\t'))?;
    let fields = fields(bytes, delimiter);
    let find = |want: &[&str]| fields.iter().position(|f| want.contains(&&**f));
    if find(&["Mode"]) != Some(1) {
        return None;
    }
    let samples = find(&["Samples"])?;
    let score = find(&["Score", "Mean"])?;
    let unit = find(&["Unit", "Units"])?;
    let error = fields.iter().position(|f| f.starts_with("Score Error") || f.starts_with("Mean Error"));
    let params = fields
        .iter()
        .enumerate()
        .filter_map(|(i, f)| f.strip_prefix("Param: ").map(|name| (i, name.to_owned())))
        .collect();
    Some(Columns { delimiter, count: fields.len(), threads: find(&["Threads"]), samples, score, error, unit, params })
}
