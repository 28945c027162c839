//! The result table: header, and the grammar of a row. State and output are in [`super::text`].
//!
//! ```text
//! header := [Benchmark] (name)* Mode [Thr] [Cnt|Samples|Count] [Sec] group+     group := Score|Mean [error] Units
//! row    := name value* mode [cnt] group+                                      group := score [[±] error] unit
//! ```
//! A row is read from its mode to the right, because names and values may hold blanks or be empty: the rightmost mode whose tail fits
//! is the row's. What stands left of it is the name and one value per `(name)`; where blanks make the number of words differ,
//! the line is cut at the right edges of the header's words, to which JMH aligns values.

use smallvec::SmallVec;

use super::number::{self, Approx, is_number};
use super::unit::{self, Mode};

/// A word of a line and its byte offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token<'a> {
    pub text: &'a str,
    pub at: usize,
}

impl Token<'_> {
    pub fn end(&self) -> usize {
        self.at + self.text.len()
    }
}

/// Words of `text` from byte `from` on.
pub fn tokens(text: &str, from: usize) -> Vec<Token<'_>> {
    let mut out = Vec::with_capacity(12);
    let mut start = None;
    for (i, c) in text.char_indices().skip_while(|(i, _)| *i < from) {
        match (c.is_whitespace(), start) {
            (true, Some(at)) => {
                out.push(Token { text: &text[at..i], at });
                start = None;
            }
            (false, None) => start = Some(i),
            _ => {}
        }
    }
    if let Some(at) = start {
        out.push(Token { text: &text[at..], at });
    }
    out
}

/// What stands right of the mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// How often `Score Error Units` is repeated to the right, at least 1.
    groups: usize,
    /// `Thr Count Sec` of JMH 0.1 and 0.2.
    thr_sec: bool,
    /// Words after the last `Units`: columns that are not JMH's.
    extra: bool,
    /// The header names a count.
    cnt: bool,
}

/// Shape of a table without a header.
const PLAIN: Shape = Shape { groups: 1, thr_sec: false, extra: false, cnt: true };

/// Meaning of a cell between pipes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Name,
    Param,
    Mode,
    Cnt,
    Score,
    Error,
    Unit,
    Skip,
}

/// A table's header.
#[derive(Clone, Debug)]
pub struct Header {
    /// Names of the parameters in order.
    pub params: Vec<String>,
    named: bool,
    /// Column of the first character of `Benchmark`, or of the first parameter.
    start: usize,
    /// Columns right after each parameter's name.
    edges: Vec<usize>,
    /// Words before `Benchmark` in the line (`[info]`, a time).
    prefix: Vec<String>,
    shape: Shape,
    pipes: Option<Vec<Role>>,
}

/// A score as printed; the marks of numbers are not yet understood.
#[derive(Clone, Debug, PartialEq)]
pub enum Score {
    Number(String),
    Approx(Approx),
    NaN,
}

/// `score error unit`.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    pub score: Score,
    /// `None` where blank or `NaN`.
    pub error: Option<String>,
    pub unit: String,
}

/// One row.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub line: u64,
    /// With its label; may be empty.
    pub name: String,
    /// One per parameter; empty where there is none.
    pub values: Vec<String>,
    pub mode: Mode,
    pub cnt: Option<u64>,
    /// The table has a column for the count.
    pub has_cnt: bool,
    pub cells: SmallVec<[Cell; 1]>,
}

/// Outcome of reading a line as a row.
#[derive(Clone, Debug, PartialEq)]
pub enum Fit {
    Row(Row),
    /// It looks like a row but cannot be read: what was expected and found, and where.
    Misfit(String, std::ops::Range<usize>),
    /// The line of dashes below a Markdown header.
    Rule,
    No,
}

/// Finds a header among `toks[from..]`. Returns it and the index of the word after it. `columns` goes from header to header.
pub fn find_header(toks: &[Token<'_>], from: usize, columns: &mut Columns<'_>) -> Option<(Header, usize)> {
    (from..toks.len()).filter(|&m| toks[m].text == "Mode").find_map(|m| header_at(toks, from, m, columns))
}

fn header_at(toks: &[Token<'_>], from: usize, mode: usize, columns: &mut Columns<'_>) -> Option<(Header, usize)> {
    let word = |i: usize| toks.get(i).map_or("", |t| t.text);
    let mut i = mode + 1;
    let thr = word(i) == "Thr";
    i += usize::from(thr);
    let cnt = matches!(word(i), "Cnt" | "Samples" | "Count");
    i += usize::from(cnt);
    let sec = word(i) == "Sec";
    i += usize::from(sec);
    let group = |mut i: usize| {
        matches!(word(i), "Score" | "Mean").then_some(())?;
        i += 1;
        i += usize::from(matches!(word(i), "Score" | "Mean") && word(i + 1) == "error");
        i += usize::from(matches!(word(i), "±" | "+-" | "+/-"));
        i += usize::from(matches!(word(i), "Error" | "error"));
        i += usize::from(word(i).contains("(99"));
        matches!(unit_word(word(i)), "Units" | "Unit").then_some(i + 1)
    };
    i = group(i)?;
    let mut groups = 1;
    loop {
        let skip = usize::from(matches!(word(i), "Cnt" | "Samples"));
        match group(i + skip) {
            Some(next) => (i, groups) = (next, groups + 1),
            None => break,
        }
    }
    let mut first = mode;
    while first > from && param_name(word(first - 1)).is_some() {
        first -= 1;
    }
    let params: Vec<String> = toks[first..mode].iter().filter_map(|t| param_name(t.text)).map(str::to_owned).collect();
    let named = first > from && is_benchmark_word(word(first - 1));
    if !named && !cnt {
        return None;
    }
    let start_byte =
        if named { toks[first - 1].end() - "Benchmark".len() } else { toks.get(first).map_or(0, |t| t.at) };
    let before = first - usize::from(named);
    // A sentence before an inline header is not a prefix of the rows below it.
    let prefix =
        if before - from <= 4 { toks[from..before].iter().map(|t| t.text.to_owned()).collect() } else { Vec::new() };
    let shape = Shape { groups, thr_sec: thr && sec, extra: i < toks.len(), cnt };
    let start = columns.at(start_byte);
    let edges = toks[first..mode].iter().map(|t| columns.at(t.end())).collect();
    Some((Header { params, named, start, edges, prefix, shape, pipes: None }, i))
}

fn param_name(word: &str) -> Option<&str> {
    word.strip_prefix('(')?.strip_suffix(')').filter(|n| !n.is_empty() && !n.contains(['(', ')']))
}

/// `Benchmark`, perhaps with markup glued to it (`<pre>Benchmark`).
fn is_benchmark_word(word: &str) -> bool {
    word.strip_suffix("Benchmark").is_some_and(|before| !before.ends_with(char::is_alphanumeric))
}

/// Counts characters from one place of a line to the next, from left to right.
pub struct Columns<'a> {
    text: &'a str,
    byte: usize,
    column: usize,
}

impl<'a> Columns<'a> {
    /// At the start of a line.
    pub fn new(text: &'a str) -> Self {
        Columns { text, byte: 0, column: 0 }
    }

    /// Characters before `byte`, which is not left of the last one asked for.
    fn at(&mut self, byte: usize) -> usize {
        self.column += self.text.get(self.byte..byte).map_or(0, |s| s.chars().count());
        self.byte = byte;
        self.column
    }
}

/// A unit without what prose or markup may have glued to its end.
fn unit_word(word: &str) -> &str {
    let word = word.strip_suffix("</pre>").or_else(|| word.strip_suffix("</code>")).unwrap_or(word);
    let bare = word.trim_end_matches(['`', ';', '"', '\'', ')', '|', ',', '.']);
    if bare.is_empty() { word } else { bare }
}

/// Whether a word may stand for `±`.
fn is_pm(word: &str) -> bool {
    matches!(word, "\\u00b1" | "\\u00B1" | "&#177;")
        || (word.chars().count() <= 8
            && !word.chars().any(|c| c.is_ascii_digit())
            && word != "NaN"
            && !unit::is_known(unit_word(word)))
}

/// `±(99.9%)` and its mangled forms, without the level.
fn without_level(word: &str) -> &str {
    word.strip_suffix("%)").and_then(|w| w.rsplit_once('(')).map_or(word, |(pm, _)| pm)
}

fn is_error(word: &str) -> bool {
    word == "NaN" || is_number(word)
}

fn error_text(word: &str) -> Option<String> {
    (word != "NaN").then(|| word.to_owned())
}

/// Reads a score at `toks[i]`; with it how many words it takes.
fn score_at(toks: &[Token<'_>], i: usize) -> Option<(Score, usize)> {
    let word = toks.get(i)?.text;
    if is_number(word) {
        return Some((Score::Number(word.to_owned()), 1));
    }
    if word == "NaN" {
        return Some((Score::NaN, 1));
    }
    number::approx(word, toks.get(i + 1).map(|t| t.text)).map(|(a, used)| (Score::Approx(a), used))
}

/// Reads an error at `toks[i]`, if there is one; with it how many words it takes.
fn error_at(toks: &[Token<'_>], i: usize) -> (Option<String>, usize) {
    let Some(word) = toks.get(i).map(|t| t.text) else { return (None, 0) };
    if is_error(word) {
        return (error_text(word), 1);
    }
    let next = toks.get(i + 1).map_or("", |t| t.text);
    if is_error(next) && is_pm(without_level(word)) {
        return (error_text(next), 2);
    }
    // `±0.131` in one word.
    let digits = word.find(|c: char| c.is_ascii_digit()).unwrap_or(0);
    if digits > 0 && is_number(&word[digits..]) && is_pm(&word[..digits]) {
        return (error_text(&word[digits..]), 1);
    }
    (None, 0)
}

struct Tail {
    cnt: Option<u64>,
    cells: SmallVec<[Cell; 1]>,
    used: usize,
    /// A count and an error were there: the usual row.
    full: bool,
}

/// Reads what stands right of a mode. `known`: units must be JMH's (in running text the next word may be anything).
fn tail(toks: &[Token<'_>], shape: Shape, known: bool) -> Option<Tail> {
    let word = |i: usize| toks.get(i).map_or("", |t| t.text);
    let mut i = 0;
    let mut cnt = None;
    if shape.thr_sec && number::integer(word(0)).is_some() && is_number(word(2)) && score_at(toks, 3).is_some() {
        cnt = Some(number::integer(word(1))?);
        i = 3;
    } else if let Some(n) = number::integer(word(0))
        && score_at(toks, 1).is_some()
    {
        cnt = Some(n);
        i = 1;
    }
    let mut cells = SmallVec::new();
    let mut full = cnt.is_some();
    for group in 0..shape.groups {
        if group > 0 && number::integer(word(i)).is_some() && score_at(toks, i + 1).is_some() {
            i += 1;
        }
        let (score, used) = score_at(toks, i)?;
        i += used;
        let (error, used) = error_at(toks, i);
        full &= used > 0;
        i += used;
        let unit = unit_word(toks.get(i)?.text);
        if is_number(unit) || (known && !unit::is_known(unit)) {
            return None;
        }
        cells.push(Cell { score, error, unit: unit.to_owned() });
        i += 1;
    }
    Some(Tail { cnt, cells, used: i, full })
}

impl Header {
    /// Reads a line below the header. `content` is the byte where it begins behind comment signs and the like.
    pub fn row(&self, line: u64, text: &str, content: usize) -> Fit {
        if self.pipes.is_some() {
            return self.piped_row(line, text);
        }
        let toks = tokens(text, 0);
        let modes = |t: &Token<'_>| Mode::parse(t.text);
        let last = toks.len();
        let fitting = (0..last).rev().find_map(|j| {
            let mode = modes(&toks[j])?;
            let tail = tail(&toks[j + 1..], self.shape, false)?;
            (j + 1 + tail.used == last || self.shape.extra).then_some((j, mode, tail))
        });
        let Some((at, mode, tail)) = fitting else {
            return match toks.iter().rposition(|t| modes(t).is_some()) {
                Some(j) if looks_like_tail(&toks[j + 1..]) => {
                    let from = toks[j + 1].at;
                    Fit::Misfit("expected count, score, error and unit after the mode".into(), from..text.len())
                }
                _ => Fit::No,
            };
        };
        let Some((name, values)) = self.left(text, content, &toks[..at], toks[at].at) else {
            let found = toks[..at].iter().filter(|t| t.at >= content).count();
            let want = self.params.len() + usize::from(self.named);
            let from = toks.first().map_or(0, |t| t.at);
            return Fit::Misfit(
                format!("expected {want} columns before the mode or values aligned to the header, found {found} words"),
                from..toks[at].at,
            );
        };
        Fit::Row(Row { line, name, values, mode, cnt: tail.cnt, has_cnt: self.shape.cnt, cells: tail.cells })
    }

    /// Name and values of a row from what stands before its mode.
    fn left(&self, text: &str, content: usize, toks: &[Token<'_>], mode_at: usize) -> Option<(String, Vec<String>)> {
        let want = self.params.len() + usize::from(self.named);
        let own = |t: &Token<'_>| t.text.to_owned();
        let mut words = &toks[toks.iter().position(|t| t.at >= content).unwrap_or(toks.len())..];
        if words.len() == self.prefix.len() + want && !self.prefix.is_empty() && content == 0 {
            words = &words[self.prefix.len()..];
        }
        if words.len() == want {
            return match words.split_first() {
                Some((name, values)) if self.named => Some((own(name), values.iter().map(own).collect())),
                _ => Some((String::new(), words.iter().map(own).collect())),
            };
        }
        self.cut(text, mode_at)
    }

    /// Cuts at the header's edges; `None` unless every cut falls between words.
    fn cut(&self, text: &str, mode_at: usize) -> Option<(String, Vec<String>)> {
        let chars: Vec<char> = text.get(..mode_at)?.chars().collect();
        let blank = |i: usize| chars.get(i).is_none_or(|c| c.is_whitespace());
        if self.start > 0 && !blank(self.start - 1) {
            return None;
        }
        let mut at = self.start;
        let mut name = String::new();
        if self.named {
            let mut depth = 0usize;
            while let Some(&c) = chars.get(at) {
                match c {
                    '{' => depth += 1,
                    '}' => depth = depth.saturating_sub(1),
                    _ if c.is_whitespace() && depth == 0 => break,
                    _ => {}
                }
                name.push(c);
                at += 1;
            }
        }
        let mut values = Vec::with_capacity(self.edges.len());
        for &edge in &self.edges {
            if edge < at || edge > chars.len() || !blank(edge) {
                return None;
            }
            let value: String = chars[at..edge].iter().collect();
            // Values end at the edge, unless there is none.
            if !value.trim().is_empty() && blank(edge - 1) {
                return None;
            }
            values.push(value.trim().to_owned());
            at = edge;
        }
        chars[at.min(chars.len())..].iter().all(|c| c.is_whitespace()).then_some((name, values))
    }

    /// Reads rows that follow the header in its own line, from word `from` on. Returns the index of the first word that is not theirs.
    pub fn inline_rows(
        &self,
        line: u64,
        toks: &[Token<'_>],
        from: usize,
        mut each: impl FnMut(Row),
        mut misfit: impl FnMut(&str, std::ops::Range<usize>),
    ) -> usize {
        let lead = self.params.len() + usize::from(self.named);
        let mut at = from;
        while at < toks.len() {
            if let Some(mode) = toks.get(at + lead).and_then(|t| Mode::parse(t.text))
                && let Some(tail) = tail(&toks[at + lead + 1..], Shape { extra: false, ..self.shape }, true)
            {
                let own = |t: &Token<'_>| t.text.to_owned();
                let (name, values) = if self.named {
                    (own(&toks[at]), toks[at + 1..at + lead].iter().map(own).collect())
                } else {
                    (String::new(), toks[at..at + lead].iter().map(own).collect())
                };
                at += lead + 1 + tail.used;
                each(Row { line, name, values, mode, cnt: tail.cnt, has_cnt: self.shape.cnt, cells: tail.cells });
                continue;
            }
            // A value with blanks, or none, in the middle of rows: pass over that row alone.
            let reach = toks.len().min(at + lead + 12);
            let next = (at..reach).find_map(|j| {
                Mode::parse(toks[j].text)?;
                tail(&toks[j + 1..], self.shape, true).filter(|t| t.full).map(|t| (j, j + 1 + t.used))
            });
            let Some((mode, end)) = next else { break };
            misfit(
                &format!("expected {lead} columns before the mode, found {} words", mode - at),
                toks[at].at..toks[end - 1].end(),
            );
            at = end;
        }
        at
    }

    fn piped_row(&self, line: u64, text: &str) -> Fit {
        let Some(roles) = &self.pipes else { return Fit::No };
        let cells = pipe_cells(text);
        if cells.len() < 2 {
            return Fit::No;
        }
        if cells.iter().all(|c| !c.text.is_empty() && c.text.chars().all(|c| matches!(c, '-' | ':' | ' ' | '='))) {
            return Fit::Rule;
        }
        let role = |want: Role| roles.iter().zip(&cells).filter(move |(r, _)| **r == want).map(|(_, c)| c);
        let plain = |c: &Token<'_>| c.text.trim_matches(['`', '*']).trim().replace("\\|", "|");
        let Some(mode) = role(Role::Mode).next().and_then(|c| Mode::parse(&plain(c))) else { return Fit::No };
        let mut groups: SmallVec<[Cell; 1]> = SmallVec::new();
        let mut errors = role(Role::Error);
        let mut units = role(Role::Unit);
        for score in role(Role::Score) {
            let score_text = plain(score);
            let words = tokens(&score_text, 0);
            let error_cell = errors.next().map(plain).unwrap_or_default();
            let unit = units.next().map(plain).unwrap_or_default();
            let Some((score_value, used)) = score_at(&words, 0) else {
                return Fit::Misfit(
                    format!("expected a score, found {:?}", score.text),
                    score.at..score.end().max(score.at + 1),
                );
            };
            let mut error = error_at(&words, used).0;
            if error.is_none() {
                error = error_at(&tokens(&error_cell, 0), 0).0;
            }
            groups.push(Cell { score: score_value, error, unit });
        }
        if groups.is_empty() || groups.iter().any(|c| c.unit.is_empty()) {
            return Fit::Misfit(
                format!("expected {} cells as in the header, found {}", roles.len(), cells.len()),
                cells[0].at..text.len(),
            );
        }
        let name = role(Role::Name).next().map(plain).unwrap_or_default();
        let values = role(Role::Param).map(plain).collect();
        let cnt = role(Role::Cnt).next().and_then(|c| number::integer(&plain(c)));
        Fit::Row(Row { line, name, values, mode, cnt, has_cnt: self.shape.cnt, cells: groups })
    }
}

fn looks_like_tail(toks: &[Token<'_>]) -> bool {
    toks.iter().any(|t| t.text.starts_with(|c: char| c.is_ascii_digit()))
        && toks.last().is_some_and(|t| unit::is_known(unit_word(t.text)))
}

/// Cells between pipes, trimmed; without the empty ones outside.
fn pipe_cells(text: &str) -> Vec<Token<'_>> {
    let mut cells = Vec::new();
    let mut from = 0;
    let mut push = |from: usize, to: usize| {
        let cell = &text[from..to];
        let lead = cell.len() - cell.trim_start().len();
        cells.push(Token { text: cell.trim(), at: from + lead });
    };
    let mut escaped = false;
    for (i, b) in text.bytes().enumerate() {
        if b == b'|' && !escaped {
            push(from, i);
            from = i + 1;
        }
        escaped = b == b'\\' && !escaped;
    }
    push(from, text.len());
    let inner = text.trim();
    if inner.starts_with('|') && !cells.is_empty() {
        cells.remove(0);
    }
    if inner.ends_with('|') && !inner.ends_with("\\|") {
        cells.pop();
    }
    cells
}

/// Reads a header whose columns are between pipes.
pub fn pipe_header(text: &str) -> Option<Header> {
    memchr::memchr(b'|', text.as_bytes())?;
    let cells = pipe_cells(text);
    let plain: Vec<&str> = cells.iter().map(|c| c.text.trim_matches(['`', '*']).trim()).collect();
    let mode = plain.iter().position(|c| *c == "Mode")?;
    let mut roles = vec![Role::Skip; plain.len()];
    let name = plain[..mode].iter().position(|c| *c == "Benchmark").or_else(|| {
        // A renamed first column; parameters keep their parentheses.
        plain[..mode].first().is_some_and(|c| param_name(c).is_none()).then_some(0)
    });
    let mut params = Vec::new();
    for (i, cell) in plain[..mode].iter().enumerate() {
        if Some(i) == name {
            roles[i] = Role::Name;
        } else if !cell.is_empty() {
            roles[i] = Role::Param;
            params.push(param_name(cell).unwrap_or(cell).to_owned());
        }
    }
    roles[mode] = Role::Mode;
    for (role, cell) in roles.iter_mut().zip(&plain).skip(mode + 1) {
        *role = match *cell {
            "Cnt" | "Samples" | "Count" => Role::Cnt,
            "Units" | "Unit" => Role::Unit,
            c if c.contains("rror") => Role::Error,
            "Score" | "Mean" => Role::Score,
            _ => Role::Skip,
        };
    }
    let count = |role| roles.iter().filter(|r| **r == role).count();
    let groups = count(Role::Score);
    if groups == 0 || count(Role::Unit) < groups {
        return None;
    }
    let shape = Shape { groups, thr_sec: false, extra: false, cnt: count(Role::Cnt) > 0 };
    Some(Header {
        params,
        named: name.is_some(),
        start: 0,
        edges: Vec::new(),
        prefix: Vec::new(),
        shape,
        pipes: Some(roles),
    })
}

/// Reads rows without a header: `name value* mode cnt score ± error unit`, one or several in the line, from its first word on.
/// `lenient`: the line before was such a row, so count and error may be missing. Returns whether all of the line was rows.
pub fn bare_rows(line: u64, text: &str, content: usize, lenient: bool, mut each: impl FnMut(Row)) -> bool {
    let toks = tokens(text, content);
    let mut at = 0;
    while let Some(name) = toks.get(at) {
        let found = (at + 1..toks.len().min(at + 40)).find_map(|j| {
            let mode = Mode::parse(toks[j].text)?;
            let tail = tail(&toks[j + 1..], PLAIN, true)?;
            (tail.full || (lenient && j + 1 + tail.used == toks.len())).then_some((j, mode, tail))
        });
        let Some((j, mode, tail)) = found else { return false };
        if !is_java_name(name.text, lenient || at > 0) {
            return false;
        }
        let values = toks[at + 1..j].iter().map(|t| t.text.to_owned()).collect();
        at = j + 1 + tail.used;
        each(Row { line, name: name.text.to_owned(), values, mode, cnt: tail.cnt, has_cnt: true, cells: tail.cells });
    }
    at > 0
}

/// `Class.method` or `method:label`; a single identifier too if `lenient`.
fn is_java_name(word: &str, lenient: bool) -> bool {
    word.starts_with(|c: char| c.is_alphabetic() || matches!(c, '_' | '$'))
        && word.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '$' | '.' | ':' | '·' | '@' | '-' | '{' | '}'))
        && (lenient || word.contains(['.', ':']))
        && !word.ends_with(['.', ':'])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(text: &str) -> Header {
        find_header(&tokens(text, 0), 0, &mut Columns::new(text)).unwrap_or_else(|| panic!("no header: {text}")).0
    }

    /// `name|value,value|mode cnt|score error unit;...`
    fn show(fit: &Fit) -> String {
        let Fit::Row(row) = fit else { return format!("{fit:?}") };
        let cells: Vec<String> = (row.cells.iter())
            .map(|c| {
                let score = match &c.score {
                    Score::Number(s) => s.clone(),
                    other => format!("{other:?}"),
                };
                format!("{score} {} {}", c.error.as_deref().unwrap_or("-"), c.unit)
            })
            .collect();
        let cnt = row.cnt.map_or("-".to_owned(), |n| n.to_string());
        format!("{}|{}|{} {cnt}|{}", row.name, row.values.join(","), row.mode.name(), cells.join(";"))
    }

    #[test]
    fn headers_of_all_versions() {
        for (text, params) in [
            ("Benchmark     (keyCount)  (kind)   Mode  Cnt          Score           Error   Units", "keyCount,kind"),
            (
                "Benchmark            (keyCount) (kind)   Mode   Samples         Mean   Mean error    Units",
                "keyCount,kind",
            ),
            ("Benchmark   Mode Thr    Count  Sec         Mean   Mean error    Units", ""),
            ("Benchmark  Mode  Samples  Score  Score error  Units", ""),
            ("Benchmark  Mode  Samples  Score  Error  Units", ""),
            ("see <pre>Benchmark  Mode  Cnt  Score  Error  Units", ""),
            ("(size)  Mode  Cnt  Score  Error  Units", "size"),
            ("Benchmark  Mode  Score  Error  Units", ""),
            ("Benchmark  Mode  Cnt  Score  Units", ""),
        ] {
            assert_eq!(header(text).params.join(","), params, "{text}");
        }
        for text in [
            "Benchmark result is saved to F",
            "Benchmark had encountered error, and fail on error was requested",
            "Benchmarks: ",
            "Mode Units Score",
            "the Mode Score Units columns",
            "Benchmark Mode Cnt Score Error",
        ] {
            assert!(find_header(&tokens(text, 0), 0, &mut Columns::new(text)).is_none(), "{text}");
        }
    }

    #[test]
    fn rows_are_read_from_the_right() {
        let h = "Benchmark      (v)  (text)   Mode  Cnt  Score   Error  Units";
        for (row, want) in [
            ("A.b              1       x  thrpt   10  1.500 ± 2.000  ops/s", "A.b|1,x|thrpt 10|1.500 2.000 ops/s"),
            ("A.b              1       x  thrpt   10  1.500 ? 2.000  ops/s", "A.b|1,x|thrpt 10|1.500 2.000 ops/s"),
            ("A.b              1       x  thrpt   10  1.500 &#177; 2.000  ops/s", "A.b|1,x|thrpt 10|1.500 2.000 ops/s"),
            ("A.b              1       x  thrpt   10  1.500 ±2.000  ops/s", "A.b|1,x|thrpt 10|1.500 2.000 ops/s"),
            ("A.b              1       x  thrpt   10  1.500   2.000  ops/s", "A.b|1,x|thrpt 10|1.500 2.000 ops/s"),
            ("A.b              1       x  thrpt   10  1.500 ± NaN  ops/s", "A.b|1,x|thrpt 10|1.500 - ops/s"),
            ("A.b              1       x  thrpt    2  1.500          ops/s", "A.b|1,x|thrpt 2|1.500 - ops/s"),
            ("A.b              1       x  thrpt       1.500          ops/s", "A.b|1,x|thrpt -|1.500 - ops/s"),
            ("A.b              1       x  thrpt       1.500 ± 0.100  ops/s", "A.b|1,x|thrpt -|1.500 0.100 ops/s"),
            ("A.b              1       x   avgt    5  ≈ 10⁻⁴          s/op", "A.b|1,x|avgt 5|Approx(Power(-4)) - s/op"),
            ("A.b              1       x   avgt    5  ? 10??          s/op", "A.b|1,x|avgt 5|Approx(Lost) - s/op"),
            ("A.b:stack        1       x  thrpt         NaN            ---", "A.b:stack|1,x|thrpt -|NaN - ---"),
            // Values with blanks, without text, that look like a tail.
            ("A.b              1  a  b c  thrpt   10  1.500 ± 2.000  ops/s", "A.b|1,a  b c|thrpt 10|1.500 2.000 ops/s"),
            ("A.b              1          thrpt   10  1.500 ± 2.000  ops/s", "A.b|1,|thrpt 10|1.500 2.000 ops/s"),
            ("A.b         10 ± 2       x  thrpt   10  1.500 ± 2.000  ops/s", "A.b|10 ± 2,x|thrpt 10|1.500 2.000 ops/s"),
            (
                "A.b   avgt 25 1.0s       x  thrpt   10  1.500 ± 2.000  ops/s",
                "A.b|avgt 25 1.0s,x|thrpt 10|1.500 2.000 ops/s",
            ),
            ("                 1       x  thrpt   10  1.500 ± 2.000  ops/s", "|1,x|thrpt 10|1.500 2.000 ops/s"),
            (
                "A.{a b}.c        1       x  thrpt   10  1.500 ± 2.000  ops/s",
                "A.{a b}.c|1,x|thrpt 10|1.500 2.000 ops/s",
            ),
            ("A.b 1 x thrpt 10 1.500 ± 2.000 ops/s", "A.b|1,x|thrpt 10|1.500 2.000 ops/s"),
        ] {
            assert_eq!(show(&header(h).row(1, row, 0)), want, "{row}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_a_misfit_and_prose_is_not() {
        let h = header("Benchmark  (v)   Mode  Cnt  Score   Error  Units");
        for (row, from) in [
            ("A.b 1 2 thrpt 10 1.500 ± 2.000 ops/s", 0),
            ("A.b thrpt 10 1.500 ± 2.000 ops/s", 0),
            ("A.b 1 thrpt 10 1.5x0 ± 2.000 ops/s", 12),
        ] {
            assert!(
                matches!(h.row(1, row, 0), Fit::Misfit(_, span) if span.start == from),
                "{row}: {:?}",
                h.row(1, row, 0)
            );
        }
        for row in ["", "thrpt is better", "in mode thrpt we saw 10 percent", "etc"] {
            assert_eq!(h.row(1, row, 0), Fit::No, "{row}");
        }
    }

    #[test]
    fn columns_repeated_to_the_right() {
        let h = header("Benchmark  (v)  Mode  Cnt  Score   Error  Units   Score   Error  Units");
        let row = "A.b          1  avgt    7  6.190 ± 0.051  ns/op   7.802 ± 0.077  ns/op";
        assert_eq!(show(&h.row(1, row, 0)), "A.b|1|avgt 7|6.190 0.051 ns/op;7.802 0.077 ns/op");
        let h = header("Benchmark  Mode  Cnt  Score   Error  Units  Diff");
        assert_eq!(show(&h.row(1, "A.b  avgt  7  6.190 ± 0.051  ns/op  -5 %", 0)), "A.b||avgt 7|6.190 0.051 ns/op");
    }

    #[test]
    fn pipes() {
        let h = pipe_header("| Benchmark | (k) | size | Mode | Cnt | Score | Error | Units |").unwrap();
        assert_eq!(h.params, ["k", "size"]);
        assert_eq!(h.row(1, "|---|:--:|---|---|---|--:|---|---|", 0), Fit::Rule);
        for (row, want) in [
            ("| `A.b` | a b | | avgt | 15 | 1.5 | ± 0.1 | ns/op |", "A.b|a b,|avgt 15|1.5 0.1 ns/op"),
            (
                "| A.b | a\\|b | 1 | thrpt | 15 | ≈ 10⁻¹⁰ |  | ops/ns |",
                "A.b|a|b,1|thrpt 15|Approx(Power(-10)) - ops/ns",
            ),
            ("| A.b | 1 | 1 | avgt | 15 | 1.5 ± 0.1 | | ns/op", "A.b|1,1|avgt 15|1.5 0.1 ns/op"),
        ] {
            assert_eq!(show(&h.row(1, row, 0)), want, "{row}");
        }
        assert!(matches!(h.row(1, "| A.b | 1 | 1 | avgt | 15 | fast | | ns/op |", 0), Fit::Misfit(..)));
        assert!(matches!(h.row(1, "| A.b | 1 | 1 | avgt |", 0), Fit::Misfit(..)));
        assert_eq!(h.row(1, "no pipes", 0), Fit::No);
        assert!(pipe_header("| Mode | Score |").is_none());
    }

    #[test]
    fn rows_in_the_line_of_their_header() {
        let text = "Benchmark (c) Mode Cnt Score Error Units A.x 1 thrpt 25 1.5 ± 0.1 ops/s A.y two words thrpt 25 2.5 ± 0.1 ops/s \
                    A.z 3 thrpt 2 2.5 ops/s. ``` Indicating a 7x avgt difference";
        let toks = tokens(text, 0);
        let (h, next) = find_header(&toks, 0, &mut Columns::new(text)).unwrap();
        let (mut rows, mut misfits) = (Vec::new(), Vec::new());
        let end = h.inline_rows(
            1,
            &toks,
            next,
            |r| rows.push(show(&Fit::Row(r))),
            |m, span| misfits.push((m.to_owned(), span)),
        );
        assert_eq!(rows, ["A.x|1|thrpt 25|1.5 0.1 ops/s", "A.z|3|thrpt 2|2.5 - ops/s"]);
        assert_eq!(misfits.len(), 1);
        assert!(text[misfits[0].1.clone()].starts_with("A.y two"));
        assert_eq!(toks[end].text, "```");
    }

    #[test]
    fn rows_without_header() {
        let rows = |text: &str, lenient| {
            let mut rows = Vec::new();
            bare_rows(1, text, 0, lenient, |r| rows.push(show(&Fit::Row(r))));
            rows
        };
        let line = "A.get 1_col 1000 thrpt 25 204.3 ± 1.5 ops/s A.get 1_col 1000 thrpt 25 184.3 ± 2.3 ops/s";
        assert_eq!(
            rows(line, false),
            ["A.get|1_col,1000|thrpt 25|204.3 1.5 ops/s", "A.get|1_col,1000|thrpt 25|184.3 2.3 ops/s"]
        );
        assert_eq!(rows("A.get thrpt 204.3 ops/s", true), ["A.get||thrpt -|204.3 - ops/s"]);
        for prose in [
            "in mode avgt 12.5 us/op",
            "we ran avgt 5 times 1.5 ± 0.5 us/op",
            "the mode thrpt 25 1.5 ± 0.1 ops/s",
            "A.get thrpt 204.3 ops/s",
            "e.g. thrpt",
            "",
        ] {
            assert_eq!(rows(prose, false), [""; 0], "{prose}");
        }
    }
}
