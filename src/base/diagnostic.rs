use std::ops::Range;

use super::{Pos, SourceId};

/// How much a diagnostic matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Shown with `-v` only.
    Note,
    /// Always shown; fatal with `--strict`.
    Warning,
}

/// A line of an input with the part that is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt {
    /// The decoded line, cut to at most [`Excerpt::MAX`] characters around the span.
    pub text: String,
    /// Byte range inside `text`.
    pub span: Range<usize>,
}

impl Excerpt {
    /// Longest excerpt kept of one line, in characters.
    pub const MAX: usize = 200;
}

/// Something to tell the user that did not stop the work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Stable kebab-case word for programs, such as `bad-value` or `cpu-differs`.
    pub code: &'static str,
    /// Note or warning.
    pub severity: Severity,
    /// The input meant; `None` when it is about the whole run. Parsers leave it `None`, the sink fills it in.
    pub source: Option<SourceId>,
    /// Where in the input.
    pub pos: Option<Pos>,
    /// Lower case, no full stop: what was expected, what was found.
    pub message: String,
    /// The offending line.
    pub excerpt: Option<Excerpt>,
    /// What to do about it, without the `hint:`.
    pub hint: Option<String>,
}

impl Diagnostic {
    /// A warning about the run as a whole.
    pub fn warning(code: &'static str, message: impl Into<String>) -> Self {
        Diagnostic {
            code,
            severity: Severity::Warning,
            source: None,
            pos: None,
            message: message.into(),
            excerpt: None,
            hint: None,
        }
    }

    /// A note about the run as a whole, shown with `-v`.
    pub fn note(code: &'static str, message: impl Into<String>) -> Self {
        Diagnostic { severity: Severity::Note, ..Diagnostic::warning(code, message) }
    }

    /// The same about line `line` as a whole.
    #[must_use]
    pub fn at_line(mut self, line: u64) -> Self {
        self.pos = Some(Pos { line, column: 0 });
        self
    }

    /// The same about bytes `span` of `bytes`, the text of line `line`; makes the excerpt.
    #[must_use]
    pub fn at(mut self, line: u64, bytes: &[u8], span: Range<usize>) -> Self {
        let end = span.end.min(bytes.len());
        let start = span.start.min(end);
        let head = String::from_utf8_lossy(&bytes[..start]);
        let mid = String::from_utf8_lossy(&bytes[start..end]);
        let column = head.chars().count() + 1;
        self.pos = Some(Pos { line, column: u32::try_from(column).unwrap_or(u32::MAX) });
        // Keep the span in sight: at most a third of the excerpt stands before it.
        let skip = (column - 1).saturating_sub(Excerpt::MAX / 3);
        let mut text: String = head.chars().skip(skip).collect();
        let from = text.len();
        let room = Excerpt::MAX - text.chars().count();
        text.extend(mid.chars().take(room));
        let to = text.len();
        let room = Excerpt::MAX - text.chars().count();
        // Decode only what can be shown: a line may be megabytes long.
        let tail = &bytes[end..bytes.len().min(end + room * 4)];
        text.extend(String::from_utf8_lossy(tail).chars().take(room));
        self.excerpt = Some(Excerpt { text, span: from..to });
        self
    }

    /// The same with advice.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The same about input `source`.
    #[must_use]
    pub fn in_source(mut self, source: SourceId) -> Self {
        self.source = Some(source);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn column_counts_characters_from_one() {
        let line = "BenchmarkÄ 1 x ns/op".as_bytes();
        let start = line.iter().position(|&b| b == b'x').unwrap();
        let d = Diagnostic::warning("bad-value", "m").at(7, line, start..start + 1);
        assert_eq!(d.pos, Some(Pos { line: 7, column: 14 }));
        let e = d.excerpt.unwrap();
        assert_eq!(&e.text[e.span], "x");
    }

    #[test]
    fn excerpt_of_a_huge_line_is_short_and_spans_past_the_end_are_cut() {
        let line = vec![b'a'; 1 << 20];
        let d = Diagnostic::warning("c", "m").at(1, &line, 1_000_000..2_000_000);
        let e = d.excerpt.unwrap();
        assert!(e.text.chars().count() <= Excerpt::MAX);
        assert!(e.span.end <= e.text.len());
    }
}
