//! Lines of running text: finds tables in it, keeps the one being read, hands the rest to the [`Log`], and pushes rows.
//!
//! A table is held until it ends, because what `,` means in its numbers is decided from all of them. It ends at the next header, at a log's
//! line, at a code fence, or at the second line of prose in a row; rows without a header end at any other line. A log's last table is held
//! against the iterations of its run: rows of series whose samples were read are reported beside them, all others are results.

use std::sync::LazyLock;

use memchr::memchr;
use memchr::memmem::Finder;
use smallvec::SmallVec;

use super::log::Log;
use super::number::{self, Votes};
use super::table::{Cell, Columns, Fit, Header, Row, Score, bare_rows, find_header, pipe_header, tokens};
use super::unit;
use super::{CONFIDENCE, Identity, Output, Place, Repeats, Source, counted, label};
use crate::base::Diagnostic;
use crate::model::{Center, Reading, Settings, Spread, Summary};
use crate::parse::Line;

/// Reader of text.
#[derive(Default)]
pub struct Text {
    log: Log,
    table: Option<Table>,
    /// The last line that was neither blank nor JMH's.
    heading: Vec<u8>,
    settings: Settings,
}

/// A table being read.
struct Table {
    number: u32,
    heading: String,
    line: u64,
    /// `None`: rows without a header.
    header: Option<Header>,
    rows: Vec<Row>,
    /// It is the last table of a log's run.
    of_run: bool,
    /// Lines of prose since its last row.
    prose: u32,
    last_line: u64,
}

/// Longest heading kept, in bytes.
const HEADING: usize = 200;

impl Text {
    /// Looks at a line; returns whether it is JMH's.
    pub fn line(&mut self, line: Line<'_>, out: &mut Output<'_>) -> bool {
        let bytes = line.bytes;
        let Some(first) = bytes.iter().position(|b| !matches!(b, b' ' | b'\t' | b'\r')) else {
            self.blank(line, out);
            return false;
        };
        if self.log_line(line, bytes, first, out) {
            return true;
        }
        // `[info] `, ` * `, `> `, a time: what build tools, comments and mail put before each line.
        let mut content = 0;
        if matches!(bytes[first], b'[' | b'>' | b'*' | b'+' | b'-' | b'/' | b'#' | b'0'..=b'9') {
            content = prefix_len(bytes, false);
            let rest = &bytes[content..];
            let Some(first) = rest.iter().position(|b| !matches!(b, b' ' | b'\t')) else {
                self.blank(line, out);
                return false;
            };
            if content > 0 && self.log_line(line, rest, first, out) {
                return true;
            }
            content = prefix_len(bytes, true);
        }
        if self.table_line(line, content, out) {
            return true;
        }
        self.prose(bytes, content, out);
        false
    }

    fn blank(&mut self, line: Line<'_>, out: &mut Output<'_>) {
        self.log.line(Line { bytes: b"", ..line }, b"", out);
        if self.table.as_ref().is_some_and(|t| t.header.is_none()) {
            self.close_table(out);
        }
    }

    fn log_line(&mut self, line: Line<'_>, bytes: &[u8], first: usize, out: &mut Output<'_>) -> bool {
        let may = matches!(bytes[first], b'I' | b'#' | b'R' | b'S' | b'<') || self.log.expects();
        if !may {
            return false;
        }
        if self.table.is_some() && is_marker(&bytes[first..]) {
            self.close_table(out);
        }
        let mine = self.log.line(line, bytes, out);
        if mine {
            self.heading.clear();
        }
        mine
    }

    /// A line that is not a table's.
    fn prose(&mut self, bytes: &[u8], content: usize, out: &mut Output<'_>) {
        let body = bytes[content..].trim_ascii();
        let fence = body.starts_with(b"```") || body.starts_with(b"~~~");
        if let Some(table) = &mut self.table {
            // Comments between rows do not end a table; its header, or the rows themselves, may be commented too.
            let comment =
                body.starts_with(b"#") || body.starts_with(b"//") || body.iter().all(u8::is_ascii_punctuation);
            table.prose += u32::from(!comment);
            if fence || table.header.is_none() || table.prose >= 2 {
                self.close_table(out);
            }
        }
        if !fence && self.log.run_number().is_none() && body.iter().any(|b| b.is_ascii_alphanumeric() || *b >= 0x80) {
            self.heading.clear();
            self.heading.extend_from_slice(&body[..body.len().min(HEADING)]);
        }
    }

    /// Looks for a header or rows in a line.
    fn table_line(&mut self, line: Line<'_>, content: usize, out: &mut Output<'_>) -> bool {
        static UNIT: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("Unit"));
        let bytes = line.bytes;
        let header_like = UNIT.find(bytes).is_some();
        if !header_like && self.table.is_none() && !may_be_bare(bytes) {
            return false;
        }
        let text = super::decode::decode(bytes);
        if header_like && self.header(line.number, &text, out) {
            return true;
        }
        if let Some(table) = &mut self.table
            && let Some(header) = &table.header
        {
            let fit = header.row(line.number, &text, content);
            if let Fit::Misfit(..) = fit
                && table.prose > 0
                && self.bare(line.number, &text, content, out)
            {
                return true;
            }
            let Some(table) = &mut self.table else { return false };
            match fit {
                Fit::Row(row) => {
                    table.rows.push(row);
                    table.prose = 0;
                    return true;
                }
                Fit::Rule => return true,
                Fit::Misfit(message, span) => {
                    out.diagnose(Diagnostic::warning("bad-row", message).at(line.number, text.as_bytes(), span).hint(
                        "the row is left out; values with blanks can be read only where columns are aligned to the header",
                    ));
                    table.prose = 0;
                    return true;
                }
                Fit::No => {}
            }
        }
        may_be_bare(bytes) && self.bare(line.number, &text, content, out)
    }

    /// Headers in a line, with the rows that may follow in it.
    fn header(&mut self, number: u64, text: &str, out: &mut Output<'_>) -> bool {
        if let Some(header) = pipe_header(text) {
            self.open_table(Some(header), number, out);
            return true;
        }
        let toks = tokens(text, 0);
        let mut columns = Columns::new(text);
        let mut from = 0;
        let mut found = false;
        while let Some((header, next)) = find_header(&toks, from, &mut columns) {
            found = true;
            let mut rows = Vec::new();
            from = header.inline_rows(
                number,
                &toks,
                next,
                |row| rows.push(row),
                |message, span| {
                    out.diagnose(
                        Diagnostic::warning("bad-row", message)
                            .at(number, text.as_bytes(), span)
                            .hint("the row is left out"),
                    );
                },
            );
            self.open_table(Some(header), number, out);
            if !rows.is_empty() {
                if let Some(table) = &mut self.table {
                    table.rows = rows;
                }
                self.close_table(out);
            }
        }
        found
    }

    /// Rows without a header.
    fn bare(&mut self, number: u64, text: &str, content: usize, out: &mut Output<'_>) -> bool {
        let next = |t: &Table| t.header.is_none() && t.last_line + 1 == number;
        let lenient = self.table.as_ref().is_some_and(next);
        let mut rows = Vec::new();
        bare_rows(number, text, content, lenient, |row| rows.push(row));
        if rows.is_empty() {
            return false;
        }
        if !lenient {
            self.open_table(None, number, out);
        }
        if let Some(table) = &mut self.table {
            table.rows.append(&mut rows);
            table.last_line = number;
        }
        true
    }

    fn open_table(&mut self, header: Option<Header>, line: u64, out: &mut Output<'_>) {
        self.close_table(out);
        let run = self.log.before_table(out);
        let number = run.unwrap_or_else(|| self.log.next_table());
        let heading = String::from_utf8_lossy(&self.heading);
        let heading = heading.trim_start_matches('#').trim_end_matches('\u{fffd}').trim().to_owned();
        let of_run = run.is_some();
        self.table = Some(Table { number, heading, line, header, rows: Vec::new(), of_run, prose: 0, last_line: line });
    }

    fn close_table(&mut self, out: &mut Output<'_>) {
        let Some(mut table) = self.table.take() else { return };
        table.push(&mut self.log, &mut self.settings, out);
        if table.of_run {
            self.log.close_run(true, out);
        }
    }

    /// The input ended.
    pub fn finish(&mut self, out: &mut Output<'_>) {
        self.close_table(out);
        self.log.finish(out);
    }
}

/// Whether a line may hold a row: it has a unit with a slash and a mode.
fn may_be_bare(bytes: &[u8]) -> bool {
    static MODES: LazyLock<[Finder<'static>; 4]> =
        LazyLock::new(|| [" thrpt ", " avgt ", " sample ", " ss "].map(Finder::new));
    memchr(b'/', bytes).is_some() && MODES.iter().any(|m| m.find(bytes).is_some())
}

/// Lines of a log that end a table.
fn is_marker(body: &[u8]) -> bool {
    const KEYS: [&[u8]; 12] = [
        b"JMH ",
        b"Run ",
        b"VM ",
        b"Warmup: ",
        b"Warmup Iteration ",
        b"Warmup Fork: ",
        b"Measurement: ",
        b"Threads: ",
        b"Benchmark: ",
        b"Benchmark mode: ",
        b"Fork: ",
        b"Blackhole mode: ",
    ];
    match body.strip_prefix(b"# ") {
        Some(rest) => KEYS.iter().any(|k| rest.starts_with(k)),
        None => {
            body.starts_with(b"Iteration ")
                || body.starts_with(b"Result \"")
                || body.starts_with(b"Secondary result \"")
        }
    }
}

/// Length of what build tools and comments put before a line, with the blank after it: `[info] `, `12:34:56.789 `, `> `, ` * `, `+ `,
/// and `# ` if `hash`.
fn prefix_len(bytes: &[u8], hash: bool) -> usize {
    let mut content = 0;
    let mut at = 0;
    loop {
        while matches!(bytes.get(at), Some(b' ' | b'\t')) {
            at += 1;
        }
        let rest = &bytes[at..];
        let sign = match rest.first() {
            Some(b'[') => rest.iter().take(40).position(|&b| b == b']').map_or(0, |end| {
                let inner = &rest[1..end];
                let plain = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b':' | b'.' | b'-' | b'+' | b' ');
                if !inner.is_empty() && inner.iter().all(plain) { end + 1 } else { 0 }
            }),
            Some(b'>' | b'*' | b'+' | b'-') => 1,
            Some(b'#') if hash => rest.iter().take_while(|&&b| b == b'#').count(),
            Some(b'/') if rest.starts_with(b"//") => 2,
            Some(b'0'..=b'9') => clock_len(rest),
            _ => 0,
        };
        if sign == 0 || !matches!(rest.get(sign), None | Some(b' ' | b'\t')) {
            return content;
        }
        at += sign;
        content = (at + 1).min(bytes.len());
    }
}

/// Length of a date or time at the start (`12:34:56.789`, `2024-05-01`, `2024-05-01T12:34:56+02:00`), else 0.
fn clock_len(bytes: &[u8]) -> usize {
    let shape = |shape: &[u8]| {
        bytes.len() >= shape.len()
            && shape.iter().zip(bytes).all(|(s, b)| if *s == b'd' { b.is_ascii_digit() } else { s == b })
    };
    if !shape(b"dd:dd:dd") && !shape(b"dddd-dd-dd") {
        return 0;
    }
    bytes
        .iter()
        .take_while(|b| b.is_ascii_digit() || matches!(b, b'.' | b',' | b':' | b'-' | b'+' | b'T' | b'Z'))
        .count()
}

/// What was noticed in a table, told once.
#[derive(Default)]
struct Tally {
    approximate: u64,
    no_error: u64,
    not_numbers: u64,
}

impl Table {
    fn push(&mut self, log: &mut Log, settings: &mut Settings, out: &mut Output<'_>) {
        let mut votes = Votes::default();
        for cell in self.rows.iter().flat_map(|r| &r.cells) {
            if let Score::Number(text) = &cell.score {
                votes.observe(text);
            }
            if let Some(text) = &cell.error {
                votes.observe(text);
            }
        }
        let marks = votes.marks();
        if votes.has_comma() {
            let meaning = match marks {
                number::Marks::Point => "`,` groups digits",
                number::Marks::Comma => "`,` is the decimal mark",
                number::Marks::Either => "both `,` and `.` are decimal marks",
            };
            out.diagnose(
                Diagnostic::note("number-format", format!("numbers of this table: {meaning}")).at_line(self.line),
            );
        }
        let plain = log.settings();
        if plain != *settings {
            *settings = plain;
        }
        let mut tally = Tally::default();
        let mut repeats = Repeats::default();
        // Each row goes before the next one is kept elsewhere: a table may be as large as its input.
        for row in std::mem::take(&mut self.rows) {
            self.push_row(&row, marks, log, settings, &mut tally, &mut repeats, out);
        }
        self.tell(&tally, out);
    }

    #[expect(clippy::too_many_arguments, reason = "the state of one table")]
    fn push_row(
        &self,
        row: &Row,
        marks: number::Marks,
        log: &mut Log,
        settings: &Settings,
        tally: &mut Tally,
        repeats: &mut Repeats,
        out: &mut Output<'_>,
    ) {
        let (name, label) = label::split(&row.name);
        let positions: Vec<String>;
        let names = match &self.header {
            Some(header) => &header.params,
            None => {
                positions = (1..=row.values.len()).map(|i| format!("#{i}")).collect();
                &positions
            }
        };
        let params: SmallVec<[(&str, &str); 8]> = (names.iter().zip(&row.values))
            .map(|(k, v)| (k.as_str(), v.as_str()))
            .filter(|(_, v)| !v.is_empty() && *v != "N/A")
            .collect();
        let table = self.number.to_string();
        for (group, cell) in row.cells.iter().enumerate() {
            let score = match &cell.score {
                Score::Number(text) => match number::parse(text, marks) {
                    Some(p) => Some(p),
                    None => {
                        out.diagnose(
                            Diagnostic::warning("bad-number", format!("expected a score, found {text:?}"))
                                .at_line(row.line),
                        );
                        continue;
                    }
                },
                Score::Approx(_) => None,
                Score::NaN => {
                    tally.not_numbers += 1;
                    continue;
                }
            };
            if label.is_empty() && unit::kind(&cell.unit).is_some() && !row.mode.fits(&cell.unit) {
                out.diagnose(
                    Diagnostic::warning(
                        "unit-mode",
                        format!("mode {} but unit {}: unit trusted", row.mode.name(), cell.unit),
                    )
                    .at_line(row.line),
                );
            }
            let (unit, factor) = out.unit(&cell.unit, Some(row.mode), &label);
            let mut summary = summary(row, cell, &label, score, marks, factor, tally);
            let number = if row.cells.len() > 1 { (group + 1).to_string() } else { String::new() };
            let place = Place { table: &table, heading: if self.of_run { "" } else { &self.heading }, group: &number };
            let found = if self.of_run { log.find(name, &label, row.mode, &params, score) } else { None };
            if let Some(found) = found {
                if found.repeated {
                    continue;
                }
                let params = super::log::pairs(found.params);
                let id = Identity { name: found.name, label: &label, mode: row.mode.name(), params: &params };
                if found.raw.is_none() && again(&id, &summary, out) {
                    continue;
                }
                let place = Place { heading: "", ..place };
                summary.forks = found.forks.filter(|_| summary.center == Center::Mean);
                let reading = match found.raw {
                    Some((n, mean, resolution)) => {
                        check(&id, row, n, mean, resolution, score, out);
                        Reading::Reported(summary)
                    }
                    None => Reading::Summary(summary),
                };
                out.push(&id, place, found.settings, row.line, None, &[(unit, reading)]);
            } else {
                let id = Identity { name, label: &label, mode: row.mode.name(), params: &params };
                if again(&id, &summary, out) {
                    continue;
                }
                let name = repeats.name(&id, place.group);
                let id = Identity { name: &name, ..id };
                out.push(&id, place, settings, row.line, None, &[(unit, Reading::Summary(summary))]);
            }
        }
    }

    fn tell(&self, tally: &Tally, out: &mut Output<'_>) {
        if tally.approximate > 0 {
            out.diagnose(
                Diagnostic::warning(
                    "approximate-score",
                    format!(
                        "{} as ≈, by order of magnitude only: no comparison",
                        counted(tally.approximate, "score is printed", "scores are printed")
                    ),
                )
                .at_line(self.line)
                .hint("JMH's JSON of the same run (-rf json) has the numbers; or choose a smaller unit (-tu ns)"),
            );
        }
        if tally.no_error > 0 {
            out.diagnose(
                Diagnostic::warning(
                    "no-error",
                    format!(
                        "error unknown for n = 2 in {}: JMH prints none below n = 3",
                        counted(tally.no_error, "row", "rows")
                    ),
                )
                .at_line(self.line),
            );
        }
        if tally.not_numbers > 0 {
            out.diagnose(
                Diagnostic::note(
                    "no-number",
                    format!("{} no number (NaN), left out", counted(tally.not_numbers, "row has", "rows have")),
                )
                .at_line(self.line),
            );
        }
    }
}

/// What a row states, in base units.
fn summary(
    row: &Row,
    cell: &Cell,
    label: &str,
    score: Option<number::Printed>,
    marks: number::Marks,
    factor: unit::Factor,
    tally: &mut Tally,
) -> Summary {
    let percentile = unit::is_percentile(label);
    let sum = unit::is_sum(&cell.unit, label) && cell.error.is_none();
    // A blank count means one, but percentiles stand for as many calls as the row above them.
    let n = row.cnt.or((row.has_cnt && !percentile).then_some(1));
    let error = cell.error.as_deref().and_then(|e| number::parse(e, marks));
    let (value, resolution) = match (&cell.score, score) {
        (Score::Approx(a), _) => {
            tally.approximate += 1;
            (a.value(), 0.0)
        }
        (_, Some(p)) => (p.value, p.resolution()),
        _ => (0.0, 0.0),
    };
    let approximate = score.is_none();
    if n == Some(2) && error.is_none() && !approximate && !sum && !percentile {
        tally.no_error += 1;
    }
    let spread = match error {
        Some(e) => Spread::StudentError {
            half_width: factor.apply(e.value.abs()),
            confidence: CONFIDENCE,
            resolution: factor.apply(e.resolution()),
        },
        None => Spread::None,
    };
    let single = percentile || sum || n == Some(1);
    Summary {
        center: if single { Center::Single } else { Center::Mean },
        value: factor.apply(value),
        spread,
        n,
        forks: None,
        resolution: factor.apply(resolution),
        approximate,
    }
}

/// Whether another format of the stream told the row before.
fn again(id: &Identity<'_>, summary: &Summary, out: &mut Output<'_>) -> bool {
    !summary.approximate && out.told.again(Source::Text, id, summary.value, summary.resolution)
}

/// Holds a row against the iterations of its log.
fn check(
    id: &Identity<'_>,
    row: &Row,
    n: u64,
    mean: f64,
    resolution: f64,
    score: Option<number::Printed>,
    out: &mut Output<'_>,
) {
    let counted = row.cnt.unwrap_or(1);
    let message = if row.has_cnt && counted != n {
        format!("{}: the table counts {counted} iterations, the log holds {n}", id.name)
    } else if let Some(score) = score
        && (mean - score.value).abs() > score.resolution() + resolution + 1e-9 * score.value.abs()
    {
        format!("{}: the table's score is {}, the mean of the log's iterations {mean:.3}", id.name, score.value)
    } else {
        return;
    };
    out.diagnose(Diagnostic::warning("table-differs", message).at_line(row.line).hint("the iterations are used"));
}
