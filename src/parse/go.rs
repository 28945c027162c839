//! Go benchmark text, as `go test -bench` prints it.
//!
//! Source: the `testing` package and benchstat's reader. Supported: configuration and `Unit` lines, several metrics a line, `-v`,
//! results glued to the program's own output or split by it, failures, and the `# fork K of N` comments of abstat's own runner.
//! Not here: `go test -json` ([`super::go_test_json`]), which feeds its text through this parser; tables that benchstat made.
//!
//! ```text
//! result  = "Benchmark" name iterations (value unit)+      fields split at white space; never indented
//! unit    = "Unit" unit (key "=" value)+
//! setting = key ":" [blanks value]                         key begins lower case, holds no blank and no upper case
//! ```
//! Deviations from benchstat, all on purpose ([`Mode::Lenient`]; [`Mode::DropIn`] reads settings as benchstat does):
//! after the first result a setting counts only if its key was seen before, or if it stands in one block of such lines with `goos`,
//! `goarch`, `pkg` or `cpu`: everything else is log text. NaN and infinities are refused. Text printed by the program between a name and
//! its numbers, or glued to either, does not cost the sample.

use std::collections::{HashMap, HashSet};

use memchr::{memchr, memmem};
use nom::bytes::complete::tag;
use nom::character::complete::{char, hex_digit0, i32, one_of, u32};
use nom::combinator::{all_consuming, opt};
use nom::sequence::{preceded, separated_pair};
use nom::{IResult, Parser};

use super::lex::{Field, Fields, Number, after_blanks, number, plain_decimal, trim};
use super::{Claim, Line, RecordParser};
use crate::base::Diagnostic;
use crate::model::{Reading, Record, Scheme, Settings, Sink};
use crate::units::{Direction, Unit, UnitId, tidy::tidy};

/// How settings are told from log lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Log lines that look like settings are passed over, see the module's head.
    Lenient,
    /// As benchstat: every `key: value` line is a setting, and `MB/s` becomes `B/s`.
    DropIn,
}

/// The parser.
pub struct Go {
    mode: Mode,
    settings: Settings,
    /// Keys that were settings in this input.
    known: HashSet<String>,
    /// A run of `key: value` lines after the first result, not yet known to be settings.
    block: Vec<(String, String)>,
    seen_result: bool,
    /// A name whose numbers have not come yet.
    pending: Option<Pending>,
    fork: Option<u32>,
    units: Vec<KnownUnit>,
    /// Index into `units` by printed spelling.
    unit_index: HashMap<Box<[u8]>, usize>,
    readings: Vec<(UnitId, Reading)>,
    last: Last,
    failed: bool,
}

struct Pending {
    name: String,
    line: u64,
    text: Vec<u8>,
}

/// The last result, which the next line most often repeats but for the numbers.
#[derive(Default)]
struct Last {
    /// The line's bytes up to the end of the name.
    front: Vec<u8>,
    name: String,
    /// Units in order of the line: indexes into [`Go::units`].
    units: Vec<usize>,
}

struct KnownUnit {
    printed: Box<[u8]>,
    id: UnitId,
    factor: f64,
}

/// Why a result line is not one.
struct Fault<'a> {
    code: &'static str,
    message: String,
    span: std::ops::Range<usize>,
    /// For telling malformed results from a name with text after it.
    at: Option<Field<'a>>,
}

impl Go {
    /// A parser for one stream.
    pub fn new(mode: Mode) -> Self {
        Go {
            mode,
            settings: Settings::default(),
            known: HashSet::new(),
            block: Vec::new(),
            seen_result: false,
            pending: None,
            fork: None,
            units: Vec::new(),
            unit_index: HashMap::new(),
            readings: Vec::new(),
            last: Last::default(),
            failed: false,
        }
    }

    /// Reads a line that repeats the name and the units of the last result and has plain numbers: nearly every line of a long file.
    /// `false`: it is for the general way, and nothing was pushed.
    fn repeats(&mut self, line: Line<'_>, out: &mut dyn Sink) -> bool {
        if self.pending.is_some() || self.last.units.is_empty() {
            return false;
        }
        let Some(rest) = line.bytes.strip_prefix(&self.last.front[..]).and_then(after_blanks) else { return false };
        let Some((Number { places: 0, .. }, rest)) = number(rest) else { return false };
        let Some(mut rest) = after_blanks(rest) else { return false };
        self.readings.clear();
        for &k in &self.last.units {
            let unit = &self.units[k];
            let Some((value, behind)) = number(rest) else { return false };
            let Some(behind) = after_blanks(behind).and_then(|b| b.strip_prefix(&*unit.printed)) else { return false };
            let value = value.value() * unit.factor;
            if !value.is_finite() {
                return false;
            }
            self.readings.push((unit.id, Reading::One { value, weight: 1 }));
            rest = behind;
            match after_blanks(rest) {
                Some(more) => rest = more,
                None if rest.is_empty() => break,
                None => return false,
            }
        }
        if !rest.is_empty() || self.readings.len() < self.last.units.len() {
            return false;
        }
        self.seen_result = true;
        self.emit(line.number, &self.last.name, out);
        true
    }

    fn result(&mut self, line: Line<'_>, start: usize, out: &mut dyn Sink) -> Claim {
        let bytes = line.bytes;
        let mut fields = Fields::new(bytes, start);
        let Some(first) = fields.next() else { return Claim::No };
        let after = fields.position();
        if after == bytes.len() {
            // `go test -v` prints bare names.
            return Claim::Mine;
        }
        self.drop_pending(out);
        let name = &first.bytes[b"Benchmark".len()..];
        // The testing package prints a tab behind the padded name; prose that begins with the word does not.
        let printed = self.mode == Mode::DropIn || bytes[after..].iter().find(|b| **b != b' ') == Some(&b'\t');
        let iterations = fields.next();
        let fault = match iterations {
            None => {
                // The name waits for its numbers, printed after whatever the benchmark prints.
                return self.wait(printed, name, line);
            }
            Some(f) => match iteration_count(f.bytes) {
                Ok(()) => match self.measurements(bytes, f.span().end, out) {
                    Ok(()) => {
                        self.push(line.number, name, out);
                        self.last.front.clear();
                        self.last.front.extend_from_slice(&bytes[..after]);
                        self.last.name.clear();
                        self.last.name.push_str(&String::from_utf8_lossy(name));
                        return Claim::Mine;
                    }
                    Err(fault) => fault,
                },
                Err(found) => Fault {
                    code: "bad-iterations",
                    message: format!("expected an iteration count, found {}{found}", shown(f.bytes)),
                    span: f.span(),
                    at: Some(f),
                },
            },
        };
        if fault.at.is_some() {
            // Not a number after the name: the program's own text, or a malformed result.
            match self.suffix(bytes, after, out) {
                Some(true) => {
                    self.push(line.number, name, out);
                    return Claim::Mine;
                }
                Some(false) => {}
                None => return self.wait(printed, name, line),
            }
        }
        refuse(&fault, line, out);
        Claim::Mine
    }

    /// Tries the last run of fields `int (float unit)+` behind `from` as the numbers of a name with text glued between.
    /// `Some(true)`: read. `Some(false)`: it holds measurements, but the line is malformed. `None`: text only.
    fn suffix(&mut self, bytes: &[u8], from: usize, out: &mut dyn Sink) -> Option<bool> {
        // A line may be megabytes long: measurements are at its end, and a result has few of them.
        const TAIL: usize = 16 << 10;
        let from = from.max(bytes.len().saturating_sub(TAIL));
        let fields: Vec<Field<'_>> = Fields::new(bytes, from).collect();
        let mut at = fields.len();
        while at >= 2 && go_float(fields[at - 2].bytes).is_ok() && go_float(fields[at - 1].bytes).is_err() {
            at -= 2;
        }
        if at == fields.len() {
            return None;
        }
        let numeric =
            |f: &Field<'_>| go_float(f.bytes).is_ok() || iteration_count(f.bytes).is_err_and(|e| !e.is_empty());
        let glued = at >= 1 && iteration_count(fields[at - 1].bytes).is_ok();
        if !glued || fields[..at - 1].iter().all(numeric) {
            return Some(false);
        }
        Some(self.measurements(bytes, fields[at - 1].span().end, out).is_ok())
    }

    /// Reads `(value unit)+` from byte `from` on into `self.readings`.
    fn measurements<'a>(&mut self, bytes: &'a [u8], from: usize, out: &mut dyn Sink) -> Result<(), Fault<'a>> {
        self.readings.clear();
        let mut fields = Fields::new(bytes, from);
        let mut k = 0;
        while let Some(value) = fields.next() {
            let Some(unit) = fields.next() else {
                return Err(Fault {
                    code: "missing-unit",
                    message: format!("expected a unit after {}", shown(value.bytes)),
                    span: value.span(),
                    at: None,
                });
            };
            let number = match plain_decimal(value.bytes).map_or_else(|| go_float(value.bytes), Ok) {
                Ok(v) => v,
                Err(why) => {
                    return Err(Fault {
                        code: "bad-value",
                        message: format!(
                            "expected a {why} before \"{}\", found {}",
                            String::from_utf8_lossy(unit.bytes).escape_debug(),
                            shown(value.bytes)
                        ),
                        span: value.span(),
                        at: None,
                    });
                }
            };
            let at = self.unit(k, unit.bytes, out);
            let KnownUnit { factor, id, .. } = self.units[at];
            let scaled = number * factor;
            if !scaled.is_finite() {
                return Err(Fault {
                    code: "bad-value",
                    message: format!("expected a finite number, found {}", shown(value.bytes)),
                    span: value.span(),
                    at: None,
                });
            }
            self.readings.push((id, Reading::One { value: scaled, weight: 1 }));
            k += 1;
        }
        self.last.units.truncate(k);
        if self.readings.is_empty() {
            return Err(Fault {
                code: "missing-measurements",
                message: "expected a measurement and its unit after the iteration count, found the end of the line"
                    .into(),
                span: bytes.len()..bytes.len(),
                at: None,
            });
        }
        Ok(())
    }

    /// Index of the unit printed as `printed`, the `k`-th of its line.
    fn unit(&mut self, k: usize, printed: &[u8], out: &mut dyn Sink) -> usize {
        let guess = self.last.units.get(k).copied();
        let at = match guess.filter(|&at| *self.units[at].printed == *printed) {
            Some(at) => at,
            None => self.find_unit(printed, out),
        };
        if k < self.last.units.len() {
            self.last.units[k] = at;
        } else {
            self.last.units.push(at);
        }
        at
    }

    fn find_unit(&mut self, printed: &[u8], out: &mut dyn Sink) -> usize {
        if let Some(&known) = self.unit_index.get(printed) {
            return known;
        }
        let text = String::from_utf8_lossy(printed);
        let tidied = tidy(&text);
        let id = out.unit(&Unit::new(base_name(self.mode, &tidied.name), &text));
        let factor = tidied.factor;
        self.unit_index.insert(printed.into(), self.units.len());
        self.units.push(KnownUnit { printed: printed.into(), id, factor });
        self.units.len() - 1
    }

    fn push(&mut self, line: u64, name: &[u8], out: &mut dyn Sink) {
        self.seen_result = true;
        self.emit(line, &String::from_utf8_lossy(name), out);
    }

    fn emit(&self, line: u64, name: &str, out: &mut dyn Sink) {
        out.record(&Record {
            line,
            name,
            scheme: Scheme::Go,
            keys: &[],
            settings: &self.settings,
            block: self.fork,
            readings: &self.readings,
            column: None,
        });
    }

    fn wait(&mut self, printed: bool, name: &[u8], line: Line<'_>) -> Claim {
        if !printed {
            return Claim::No;
        }
        let text = line.bytes[..line.bytes.len().min(200)].to_vec();
        self.pending = Some(Pending { name: String::from_utf8_lossy(name).into_owned(), line: line.number, text });
        Claim::Mine
    }

    /// The numbers of the pending name, if this line is nothing but numbers.
    fn complete(&mut self, line: Line<'_>, out: &mut dyn Sink) -> bool {
        if self.pending.is_none() {
            return false;
        }
        let bytes = line.bytes;
        let Some(first) = Fields::new(bytes, 0).next() else { return false };
        let numbers_only =
            iteration_count(first.bytes).is_ok() && self.measurements(bytes, first.span().end, out).is_ok();
        // The program may end its text without a line end: the numbers then follow on the same line.
        let read = numbers_only
            || (!bytes.starts_with(b"---") && self.ends_like_result(bytes) && self.suffix(bytes, 0, out) == Some(true));
        if read && let Some(p) = self.pending.take() {
            self.push(p.line, p.name.as_bytes(), out);
        }
        read
    }

    /// Cheap test before the tail of a line is taken apart: its last field is a unit seen before, or has a slash.
    fn ends_like_result(&self, bytes: &[u8]) -> bool {
        let bytes = trim(bytes);
        let last = bytes.rsplit(|b| b.is_ascii_whitespace()).next().unwrap_or(bytes);
        last.contains(&b'/') || self.unit_index.contains_key(last)
    }

    fn drop_pending(&mut self, out: &mut dyn Sink) {
        if let Some(p) = self.pending.take() {
            let name = &p.name;
            out.diagnose(
                Diagnostic::warning(
                    "no-numbers",
                    format!("expected numbers for Benchmark{name}, found none before the next result"),
                )
                .at(p.line, &p.text, 0..p.text.len().min("Benchmark".len() + name.len()))
                .hint("it failed, was stopped, or its numbers were lost"),
            );
        }
    }

    fn unit_line(&mut self, line: Line<'_>, out: &mut dyn Sink) {
        let bytes = line.bytes;
        let mut fields = Fields::new(bytes, 0);
        fields.next();
        let complain = |out: &mut dyn Sink, message: String, span| {
            out.diagnose(Diagnostic::warning("bad-unit-line", message).at(line.number, bytes, span));
        };
        let Some(unit) = fields.next() else {
            complain(out, "expected a unit after \"Unit\", found the end of the line".into(), bytes.len()..bytes.len());
            return;
        };
        let printed = String::from_utf8_lossy(unit.bytes);
        let tidied = tidy(&printed);
        let name = base_name(self.mode, &tidied.name);
        for field in fields {
            let Some(eq) = memchr(b'=', field.bytes).filter(|&n| n > 0) else {
                complain(out, format!("expected key=value, found {}", shown(field.bytes)), field.span());
                continue;
            };
            let key = String::from_utf8_lossy(&field.bytes[..eq]);
            let value = String::from_utf8_lossy(&field.bytes[eq + 1..]);
            if let Err(before) = out.unit_metadata(name, &key, &value) {
                let message =
                    format!("{key} of unit {printed} is already {before:?}, found {value:?}; the first one stays");
                complain(out, message, field.span());
            }
        }
    }

    fn setting(&mut self, key: &[u8], value: &[u8]) -> Claim {
        let key = String::from_utf8_lossy(key);
        let value = String::from_utf8_lossy(value);
        if self.mode == Mode::DropIn || !self.seen_result {
            if self.settings.set(&key, &value) || !self.known.contains(&*key) {
                self.known.insert(key.into_owned());
            }
            return Claim::Maybe;
        }
        self.block.push((key.into_owned(), value.into_owned()));
        Claim::Maybe
    }

    /// The block of `key: value` lines is over: decides which of them are settings.
    fn end_block(&mut self) {
        if self.block.is_empty() {
            return;
        }
        let of_testing = self.block.iter().any(|(k, _)| matches!(k.as_str(), "goos" | "goarch" | "pkg" | "cpu"));
        for (key, value) in std::mem::take(&mut self.block) {
            if of_testing || self.known.contains(&key) {
                self.settings.set(&key, &value);
                self.known.insert(key);
            }
        }
    }

    fn failure(&mut self, line: Line<'_>, out: &mut dyn Sink) {
        let text = String::from_utf8_lossy(trim(line.bytes)).into_owned();
        // `FAIL` alone repeats what the line with the package said.
        if text == "FAIL" && self.failed {
            return;
        }
        self.failed = true;
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        out.diagnose(
            Diagnostic::warning("run-failed", format!("the run reports {words}"))
                .at(line.number, line.bytes, 0..line.bytes.len().min(200))
                .hint("results before it are kept; later ones may be missing"),
        );
    }
}

impl RecordParser for Go {
    fn line(&mut self, line: Line<'_>, out: &mut dyn Sink) -> Claim {
        let bytes = line.bytes;
        match bytes.first() {
            None => {
                self.end_block();
                return Claim::No;
            }
            Some(b'B') if bytes.starts_with(b"Benchmark") => {
                self.end_block();
                if self.repeats(line, out) {
                    return Claim::Mine;
                }
                return self.result(line, 0, out);
            }
            Some(b'U')
                if bytes.starts_with(b"Unit") && Fields::new(bytes, 0).next().is_some_and(|f| f.bytes == b"Unit") =>
            {
                self.end_block();
                self.unit_line(line, out);
                return Claim::Mine;
            }
            _ => {}
        }
        if let Some((key, value)) = setting(bytes) {
            // A line of numbers never looks like this, so a pending name stays pending.
            if self.mode == Mode::Lenient && self.complete(line, out) {
                return Claim::Mine;
            }
            return self.setting(key, value);
        }
        self.end_block();
        if self.mode == Mode::Lenient || self.pending.is_some() {
            if self.complete(line, out) {
                return Claim::Mine;
            }
            if let Some(start) = glued_front(bytes) {
                return self.glued(line, start, out);
            }
        }
        self.chatter(line, out)
    }

    fn finish(&mut self, out: &mut dyn Sink) {
        self.end_block();
        self.drop_pending(out);
    }
}

impl Go {
    /// A result with text glued to the front of its name. Only complete ones are believed.
    fn glued(&mut self, line: Line<'_>, start: usize, out: &mut dyn Sink) -> Claim {
        let mut fields = Fields::new(line.bytes, start);
        let Some(first) = fields.next() else { return Claim::No };
        let after = fields.position();
        let name = &first.bytes[b"Benchmark".len()..];
        let complete = match fields.next() {
            Some(f) if iteration_count(f.bytes).is_ok() => self.measurements(line.bytes, f.span().end, out).is_ok(),
            Some(_) => self.suffix(line.bytes, after, out) == Some(true),
            None => false,
        };
        if !complete {
            return Claim::No;
        }
        self.drop_pending(out);
        self.push(line.number, name, out);
        Claim::Mine
    }

    /// Everything else: what the `testing` package prints around results, and the program's own text.
    fn chatter(&mut self, line: Line<'_>, out: &mut dyn Sink) -> Claim {
        let bytes = line.bytes;
        let mine = if self.seen_result { Claim::Mine } else { Claim::Maybe };
        match bytes.first() {
            Some(b'P') if bytes == b"PASS" => {
                self.drop_pending(out);
                mine
            }
            Some(b'F') if bytes == b"FAIL" || bytes.starts_with(b"FAIL\t") => {
                self.drop_pending(out);
                self.failure(line, out);
                mine
            }
            Some(b'-') if bytes.starts_with(b"--- FAIL: ") => {
                self.failure(line, out);
                mine
            }
            Some(b'-') if bytes.starts_with(b"--- BENCH: ") || bytes.starts_with(b"--- SKIP: ") => mine,
            Some(b'o') if bytes.starts_with(b"ok  \t") => {
                self.drop_pending(out);
                mine
            }
            Some(b'#') => match fork_comment(bytes) {
                Some(k) => {
                    self.fork = Some(k);
                    Claim::Mine
                }
                None => Claim::No,
            },
            Some(b' ' | b'\t') if self.pending.is_none() && memmem::find(bytes, b"Benchmark").is_some() => {
                self.indented(line, out);
                Claim::No
            }
            _ => Claim::No,
        }
    }

    /// An indented result is text by the format's rules; it is said with `-v`, so that nothing vanishes in silence.
    fn indented(&mut self, line: Line<'_>, out: &mut dyn Sink) {
        let mut fields = Fields::new(line.bytes, 0);
        let whole = fields.next().is_some_and(|f| f.bytes.starts_with(b"Benchmark"))
            && fields.next().is_some_and(|f| iteration_count(f.bytes).is_ok())
            && fields.next().is_some_and(|f| go_float(f.bytes).is_ok());
        if whole {
            out.diagnose(
                Diagnostic::note("indented-result", "an indented line looks like a result and was not read").at(
                    line.number,
                    line.bytes,
                    0..line.bytes.len().min(80),
                ),
            );
        }
    }
}

/// Go's own rate unit goes under the name that all formats share; benchstat's tables keep it.
fn base_name(mode: Mode, tidied: &str) -> &str {
    if tidied == "B/s" && mode == Mode::Lenient { "B/sec" } else { tidied }
}

/// `key: value`, by go.md a.7.
fn setting(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let first = *bytes.first()?;
    if first.is_ascii_uppercase() || first <= b' ' || first.is_ascii_digit() {
        return None;
    }
    let colon = 1 + memchr(b':', &bytes[1..])?;
    let key = &bytes[..colon];
    if key.iter().any(|b| b.is_ascii_uppercase() || *b <= b' ') {
        return None;
    }
    if first.is_ascii() && !first.is_ascii_lowercase() {
        return None;
    }
    if !key.is_ascii() {
        let text = std::str::from_utf8(key).ok()?;
        if !text.starts_with(char::is_lowercase) || text.contains(|c: char| c.is_uppercase() || c.is_whitespace()) {
            return None;
        }
    }
    let rest = &bytes[colon + 1..];
    let blanks = rest.iter().take_while(|b| matches!(b, b' ' | b'\t')).count();
    (rest.is_empty() || blanks > 0).then(|| (key, &rest[blanks..]))
}

/// Where `Benchmark` begins behind text that has no blank before it, or behind an `Engine:x ` prefix.
fn glued_front(bytes: &[u8]) -> Option<usize> {
    let at = memmem::find(bytes, b"Benchmark").filter(|&n| n > 0)?;
    let before = bytes[at - 1];
    let engine = before == b' ' && bytes.starts_with(b"Engine:") && !bytes[..at - 1].contains(&b' ');
    (engine || !(before.is_ascii_whitespace() || before.is_ascii_punctuation())).then_some(at)
}

/// `# fork 2 of 3`: the process of the results that follow, printed by abstat's own runner.
fn fork_comment(bytes: &[u8]) -> Option<u32> {
    let comment = (tag("# fork "), whole, tag(" of "), whole);
    let (_, (_, k, _, _)) = all_consuming(comment).parse(bytes).ok()?;
    Some(k)
}

fn whole(bytes: &[u8]) -> IResult<&[u8], u32> {
    u32(bytes)
}

/// A base-10 signed 64-bit integer. The error says more where the number is one, but too large: ` (out of range)`.
fn iteration_count(bytes: &[u8]) -> Result<(), &'static str> {
    let digits = match bytes {
        [b'+' | b'-', rest @ ..] => rest,
        _ => bytes,
    };
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return Err("");
    }
    if digits.len() <= 18 {
        return Ok(());
    }
    match std::str::from_utf8(bytes).map(str::parse::<i64>) {
        Ok(Ok(_)) => Ok(()),
        _ => Err(" (out of range)"),
    }
}

/// Go's float syntax, finite values only. The error is what was expected.
fn go_float(bytes: &[u8]) -> Result<f64, &'static str> {
    const NUMBER: &str = "number";
    const FINITE: &str = "finite number";
    let text = std::str::from_utf8(bytes).map_err(|_| NUMBER)?;
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let value = match unsigned.as_bytes() {
        [b'0', b'x' | b'X', ..] => {
            let v = hex_float(&unsigned[2..]).ok_or(NUMBER)?;
            if text.starts_with('-') { -v } else { v }
        }
        [b'0'..=b'9' | b'.', ..] => {
            if !unsigned.bytes().all(|b| matches!(b, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-' | b'_')) {
                return Err(NUMBER);
            }
            without_underscores(text).and_then(|t| t.parse().ok()).ok_or(NUMBER)?
        }
        _ => {
            let lower = unsigned.to_ascii_lowercase();
            return Err(if matches!(lower.as_str(), "inf" | "infinity" | "nan") { FINITE } else { NUMBER });
        }
    };
    if value.is_finite() { Ok(value) } else { Err(FINITE) }
}

/// The text without `_`, which may stand between digits only.
fn without_underscores(text: &str) -> Option<std::borrow::Cow<'_, str>> {
    if !text.contains('_') {
        return Some(text.into());
    }
    let b = text.as_bytes();
    let between = |i: usize| i > 0 && b[i - 1].is_ascii_digit() && b.get(i + 1).is_some_and(u8::is_ascii_digit);
    (0..b.len()).all(|i| b[i] != b'_' || between(i)).then(|| text.replace('_', "").into())
}

/// The part of a hexadecimal float behind `0x`: digits, optional point, `p` and a decimal exponent.
fn hex_float(text: &str) -> Option<f64> {
    let digits = |text| -> IResult<&str, &str> { hex_digit0(text) };
    let mantissa = (digits, opt(preceded(char('.'), digits)));
    let (_, ((whole, fraction), exponent)) =
        all_consuming(separated_pair(mantissa, one_of("pP"), i32)).parse(text).ok()?;
    let fraction = fraction.unwrap_or("");
    if (whole.is_empty() && fraction.is_empty()) || exponent.unsigned_abs() >= 100_000 {
        return None;
    }
    let mut value = 0.0f64;
    let mut scale = exponent;
    // 16 hexadecimal digits are 64 bits: more than f64 holds; later ones only scale.
    let mut kept = 0;
    for (i, c) in whole.chars().chain(fraction.chars()).enumerate() {
        let digit = f64::from(c.to_digit(16)?);
        if kept < 16 {
            value = value * 16.0 + digit;
            kept += usize::from(value > 0.0);
            if i >= whole.len() {
                scale -= 4;
            }
        } else if i < whole.len() {
            scale += 4;
        }
    }
    // In two steps, so that the intermediate power neither overflows nor underflows.
    let half = scale / 2;
    Some(value * 2f64.powi(half) * 2f64.powi(scale - half))
}

/// Bytes for a message: quoted, control characters escaped, long ones cut.
fn shown(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(80)]);
    let more = if bytes.len() > 80 { "..." } else { "" };
    format!("\"{}{more}\"", text.escape_debug())
}

fn refuse(fault: &Fault<'_>, line: Line<'_>, out: &mut dyn Sink) {
    out.diagnose(
        Diagnostic::warning(fault.code, fault.message.clone())
            .at(line.number, line.bytes, fault.span.clone())
            .hint("line skipped"),
    );
}

/// `better=` of a `Unit` line.
pub fn better(value: &str) -> Option<Direction> {
    match value {
        "higher" => Some(Direction::Higher),
        "lower" => Some(Direction::Lower),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
