//! Words, quoted words, regular expressions and operators: the tokens that the filter and the projection language share.

use std::fmt;
use std::ops::Range;

/// What is wrong with an expression, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Byte range in the expression; empty where something is missing.
    pub span: Range<usize>,
    /// Lower case, no full stop.
    pub message: String,
    /// The way out.
    pub hint: Option<String>,
}

/// All faults of one expression: first those of its grammar in order of place, then those of its meaning.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("syntax error: {first}", first = .faults.first().map_or("", |f| f.message.as_str()))]
pub struct SyntaxError {
    /// The expression as typed.
    pub expression: String,
    /// At least one.
    pub faults: Vec<Fault>,
}

impl SyntaxError {
    /// Character column (from 0) of a fault, for a caret under the expression.
    pub fn column(&self, fault: &Fault) -> usize {
        self.expression.get(..fault.span.start).map_or(0, |head| head.chars().count())
    }
}

/// A token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// A bare or quoted word, unquoted.
    Word(String),
    /// The text between two slashes.
    Regex(String),
    /// `AND`
    And,
    /// `OR`
    Or,
    /// One of `( ) : @ ,`, or `-` and `*` at the start of a word.
    Op(char),
    /// The end of the expression.
    End,
}

impl Token {
    /// As it is named in a message.
    pub fn text(&self) -> String {
        match self {
            Token::Word(w) | Token::Regex(w) => w.clone(),
            Token::And => "AND".into(),
            Token::Or => "OR".into(),
            Token::Op(c) => c.to_string(),
            Token::End => String::new(),
        }
    }
}

/// Whether `/` begins a regular expression (where a value is expected) or a word (where a key is).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slash {
    Regex,
    Word,
}

/// Reads tokens off an expression.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lexer<'a> {
    text: &'a str,
    at: usize,
}

/// A token and where it stands.
pub(super) type Spanned = (Token, Range<usize>);

fn is_operator(c: char) -> bool {
    matches!(c, '(' | ')' | ':' | '@' | ',')
}

fn ends_word(c: char) -> bool {
    is_operator(c) || c.is_whitespace()
}

impl<'a> Lexer<'a> {
    pub fn new(text: &'a str) -> Self {
        Lexer { text, at: 0 }
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or("")
    }

    /// Byte offset of the next token, or of the end.
    pub fn offset(&self) -> usize {
        self.at + (self.rest().len() - self.rest().trim_start().len())
    }

    /// The next token, without taking it.
    pub fn peek(&self, slash: Slash) -> Result<Spanned, Fault> {
        let mut ahead = *self;
        ahead.next(slash)
    }

    /// Takes the next token. After a fault the lexer stands behind the offending text.
    pub fn next(&mut self, slash: Slash) -> Result<Spanned, Fault> {
        self.at = self.offset();
        let start = self.at;
        let Some(first) = self.rest().chars().next() else {
            return Ok((Token::End, start..start));
        };
        if is_operator(first) || matches!(first, '-' | '*') {
            self.at += first.len_utf8();
            return Ok((Token::Op(first), start..self.at));
        }
        match first {
            '"' => self.quoted(start),
            '/' if slash == Slash::Regex => self.regex(start),
            _ => {
                let len = self.rest().find(ends_word).unwrap_or(self.rest().len());
                let word = &self.rest()[..len];
                self.at += len;
                let token = match word {
                    "AND" => Token::And,
                    "OR" => Token::Or,
                    _ => Token::Word(word.to_owned()),
                };
                Ok((token, start..self.at))
            }
        }
    }

    /// Skips to where the next term may begin: behind the next comma or blank, or the end.
    pub fn resume(&mut self) {
        self.at = self.offset();
        let len = self.rest().find(|c: char| c == ',' || c.is_whitespace()).unwrap_or(self.rest().len());
        self.at += len;
    }

    /// Moves behind byte `to`, which must be a boundary returned by this lexer.
    pub fn skip_to(&mut self, to: usize) {
        self.at = self.at.max(to);
    }

    fn quoted(&mut self, start: usize) -> Result<Spanned, Fault> {
        let body = &self.rest()[1..];
        let mut escaped = false;
        let end = body.char_indices().find(|&(_, c)| {
            let closes = c == '"' && !escaped;
            escaped = c == '\\' && !escaped;
            closes
        });
        let Some((end, _)) = end else {
            self.at = self.text.len();
            return Err(Fault {
                span: start..self.text.len(),
                message: "missing end quote".into(),
                hint: Some("a quoted word ends with \"; write \\\" for a quote inside it".into()),
            });
        };
        self.at = start + 1 + end + 1;
        match unquote(&body[..end]) {
            Some(word) => Ok((Token::Word(word), start..self.at)),
            None => Err(Fault {
                span: start..self.at,
                message: "bad escape sequence".into(),
                hint: Some(r#"known are \a \b \f \n \r \t \v \\ \" \xHH \OOO \uHHHH \UHHHHHHHH"#.into()),
            }),
        }
    }

    fn regex(&mut self, start: usize) -> Result<Spanned, Fault> {
        let body = &self.rest()[1..];
        let Some(end) = regex_end(body) else {
            self.at = self.text.len();
            return Err(Fault {
                span: start..self.text.len(),
                message: "missing close \"/\"".into(),
                hint: Some("a / inside a regular expression counts only outside [] and ()".into()),
            });
        };
        self.at = start + 1 + end + 1;
        let source = body[..end].to_owned();
        if self.rest().chars().next().is_some_and(|c| !ends_word(c)) {
            let at = self.at;
            let len = self.rest().find(ends_word).unwrap_or(self.rest().len());
            self.at += len;
            return Err(Fault {
                span: at..self.at,
                message: "regexp must be followed by space or an operator (unescaped \"/\"?)".into(),
                hint: Some("write \\/ for a slash inside it".into()),
            });
        }
        Ok((Token::Regex(source), start..self.at))
    }
}

/// Offset of the `/` that ends a regular expression: the first one not escaped and outside `[]` and `()`.
fn regex_end(body: &str) -> Option<usize> {
    let mut depth = 0usize;
    let mut class: Option<usize> = None;
    let mut escaped = false;
    for (at, c) in body.char_indices() {
        if escaped {
            escaped = false;
            continue;
        }
        match (c, class) {
            ('\\', _) => escaped = true,
            // A ] right after [ or [^ stands for itself.
            (']', Some(from)) if !matches!(&body[from..at], "[" | "[^") => class = None,
            (_, Some(_)) => {}
            ('[', None) => class = Some(at),
            ('(', None) => depth += 1,
            (')', None) => depth = depth.saturating_sub(1),
            ('/', None) if depth == 0 => return Some(at),
            _ => {}
        }
    }
    None
}

/// Resolves the escapes of a Go interpreted string.
fn unquote(body: &str) -> Option<String> {
    if !body.contains('\\') {
        return Some(body.to_owned());
    }
    let mut out = Vec::with_capacity(body.len());
    let mut rest = body;
    while let Some(at) = rest.find('\\') {
        out.extend_from_slice(&rest.as_bytes()[..at]);
        rest = &rest[at + 1..];
        let kind = rest.chars().next()?;
        let digits = match kind {
            'x' => 2,
            'u' => 4,
            'U' => 8,
            '0'..='7' => 3,
            _ => {
                out.push(match kind {
                    'a' => 7,
                    'b' => 8,
                    'f' => 12,
                    'n' => b'\n',
                    'r' => b'\r',
                    't' => b'\t',
                    'v' => 11,
                    '\\' => b'\\',
                    '"' => b'"',
                    _ => return None,
                });
                rest = &rest[1..];
                continue;
            }
        };
        let (from, radix) = if kind.is_ascii_digit() { (0, 8) } else { (1, 16) };
        let text = rest.get(from..from + digits)?;
        if !text.bytes().all(|b| char::from(b).is_digit(radix)) {
            return None;
        }
        let code = u32::from_str_radix(text, radix).ok()?;
        if matches!(kind, 'u' | 'U') {
            let mut utf8 = [0; 4];
            out.extend_from_slice(char::from_u32(code)?.encode_utf8(&mut utf8).as_bytes());
        } else {
            out.push(u8::try_from(code).ok()?);
        }
        rest = &rest[from + digits..];
    }
    out.extend_from_slice(rest.as_bytes());
    Some(String::from_utf8_lossy(&out).into_owned())
}

/// Writes `word` so that it is read back as the same word, quoted only where need be.
pub(super) fn write_word(f: &mut fmt::Formatter<'_>, word: &str, slash: Slash) -> fmt::Result {
    let bare = match word.chars().next() {
        None | Some('-' | '*' | '"') => false,
        Some('/') if slash == Slash::Regex => false,
        _ => !word.contains(|c: char| ends_word(c) || c.is_control()) && word != "AND" && word != "OR",
    };
    if bare {
        return f.write_str(word);
    }
    f.write_str("\"")?;
    for c in word.chars() {
        match c {
            '"' | '\\' => write!(f, "\\{c}")?,
            '\n' => f.write_str("\\n")?,
            '\r' => f.write_str("\\r")?,
            '\t' => f.write_str("\\t")?,
            c if c.is_control() => write!(f, "\\u{:04x}", c as u32)?,
            c => write!(f, "{c}")?,
        }
    }
    f.write_str("\"")
}

/// `text` in double quotes, as it is named in messages.
pub(super) fn quote(text: &str) -> String {
    format!("{text:?}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn go_escapes() {
        for (body, want) in [
            ("a b", Some("a b")),
            (r"\x41\102\u0043\U00000044", Some("ABCD")),
            (r"\t\n\\", Some("\t\n\\")),
            (r"\xc3\xa4", Some("ä")),
            (r"\q", None),
            (r"\'", None),
            (r"\x4", None),
            (r"\x+4", None),
            (r"\400", None),
            (r"\ud800", None),
            (r"\xä", None),
        ] {
            assert_eq!(unquote(body).as_deref(), want, "{body}");
        }
    }

    #[test]
    fn a_regexp_ends_outside_brackets() {
        for (body, end) in [
            ("a/", Some(1)),
            ("[/]/", Some(3)),
            ("(a/b)/", Some(5)),
            (r"a\/b/", Some(4)),
            ("[]/]/", Some(4)),
            ("[^]/]x/", Some(6)),
            ("(/", None),
            ("", None),
        ] {
            assert_eq!(regex_end(body), end, "{body}");
        }
    }
}
