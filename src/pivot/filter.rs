//! The filter language: which results, and which of their metrics, are used.
//!
//! ```text
//! expr  = and {"OR" and}         and = match {["AND"] match}
//! match = "(" expr ")" | "-" match | "*" | key ":" value | key ":" "(" value {"OR" value} ")"
//! value = word | "/" regexp "/"  word = bare word | Go double-quoted string
//! ```
//! Bare words run to whitespace or one of `( ) : @ ,`. A word must equal the whole value, a regular expression matches anywhere in it;
//! `key:""` matches results without the key. `.unit` selects single metrics and matches the spelling of the input (`ns/op`) or the base
//! one (`sec/op`). Nesting is bounded, so that no expression can exhaust the stack.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use regex::Regex;
use smallvec::SmallVec;

use super::lex::{Fault, Lexer, Slash, SyntaxError, Token, quote, write_word};
use crate::model::{Key, KeyOf};
use crate::units::{Unit, tidy};

/// Levels of `-` and parentheses that an expression may nest.
const MAX_DEPTH: usize = 100;

/// A filter expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filter {
    expr: Expr,
    /// Number of `key:value` terms; each has a number below it.
    terms: usize,
    /// Some term asks for `.unit`.
    by_unit: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Expr {
    All,
    Term(Term),
    Not(Box<Expr>),
    And(Vec<Expr>),
    Or(Vec<Expr>),
}

/// `key:value` or `key:(value OR value ...)`.
#[derive(Clone, Debug)]
struct Term {
    key: Key,
    values: Vec<Pattern>,
    /// Place among the terms of the filter.
    number: usize,
}

impl PartialEq for Term {
    /// The number is bookkeeping.
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key && self.values == other.values
    }
}

impl Eq for Term {}

#[derive(Clone, Debug)]
enum Pattern {
    Literal(String),
    Regex(Regex),
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Pattern::Literal(a), Pattern::Literal(b)) => a == b,
            (Pattern::Regex(a), Pattern::Regex(b)) => a.as_str() == b.as_str(),
            _ => false,
        }
    }
}

impl Eq for Pattern {}

impl Pattern {
    fn matches(&self, value: &str) -> bool {
        match self {
            Pattern::Literal(text) => text == value,
            Pattern::Regex(regex) => regex.is_match(value),
        }
    }
}

type Truths = SmallVec<[u64; 1]>;

/// What a filter says of one result.
#[derive(Clone, Debug)]
pub enum Decision<'f> {
    /// All its metrics are used.
    All,
    /// None is.
    None,
    /// Those whose unit [`ByUnit::keeps`].
    ByUnit(ByUnit<'f>),
}

/// A filter with everything but the unit decided.
#[derive(Clone, Debug)]
pub struct ByUnit<'f> {
    filter: &'f Filter,
    truths: Truths,
}

/// What a filter makes of one unit: worked out once per unit, not per result.
#[derive(Clone, Debug)]
pub struct UnitView {
    truths: Truths,
}

impl ByUnit<'_> {
    /// Whether the metric of the unit behind `view` is used.
    pub fn keeps(&self, view: &UnitView) -> bool {
        let bit = |n: usize| is_set(&self.truths, n) || is_set(&view.truths, n);
        self.filter.expr.eval(&|term| Some(bit(term.number))).unwrap_or(true)
    }
}

fn is_set(truths: &Truths, n: usize) -> bool {
    truths.get(n / 64).is_some_and(|word| word >> (n % 64) & 1 == 1)
}

fn set(truths: &mut Truths, n: usize) {
    if truths.len() <= n / 64 {
        truths.resize(n / 64 + 1, 0);
    }
    truths[n / 64] |= 1 << (n % 64);
}

impl Default for Filter {
    fn default() -> Self {
        Filter::all()
    }
}

impl Filter {
    /// `*`: keeps everything.
    pub fn all() -> Self {
        Filter { expr: Expr::All, terms: 0, by_unit: false }
    }

    /// Whether it keeps everything without looking.
    pub fn is_all(&self) -> bool {
        self.expr == Expr::All
    }

    /// What keeps a result that both filters keep.
    #[must_use]
    pub fn and(self, other: Filter) -> Filter {
        if self.is_all() {
            return other;
        }
        if other.is_all() {
            return self;
        }
        let mut expr = Expr::And(vec![self.expr, other.expr]);
        let (terms, by_unit) = expr.number();
        Filter { expr, terms, by_unit }
    }

    /// What it says of `result` as a whole.
    pub fn decide(&self, result: &dyn KeyOf) -> Decision<'_> {
        let whole = self.expr.eval(&|term| (term.key != Key::Unit).then(|| term.matches(&result.value(&term.key))));
        match whole {
            Some(true) => Decision::All,
            Some(false) => Decision::None,
            None => {
                let mut truths = Truths::new();
                self.expr.each_term(&mut |term| {
                    if term.key != Key::Unit && term.matches(&result.value(&term.key)) {
                        set(&mut truths, term.number);
                    }
                });
                Decision::ByUnit(ByUnit { filter: self, truths })
            }
        }
    }

    /// What it makes of `unit`, for [`ByUnit::keeps`].
    pub fn of_unit(&self, unit: &Unit) -> UnitView {
        let mut truths = Truths::new();
        if self.by_unit {
            let tidied = tidy::tidy(&unit.printed);
            self.expr.each_term(&mut |term| {
                let spelled = [&*unit.name, &*unit.printed, &*tidied.name];
                if term.key == Key::Unit && spelled.iter().any(|s| term.matches(s)) {
                    set(&mut truths, term.number);
                }
            });
        }
        UnitView { truths }
    }

    /// Whether the metric `unit` of `result` is used: [`Filter::decide`] and [`Filter::of_unit`] in one, for single questions.
    pub fn keeps(&self, result: &dyn KeyOf, unit: &Unit) -> bool {
        match self.decide(result) {
            Decision::All => true,
            Decision::None => false,
            Decision::ByUnit(by_unit) => by_unit.keeps(&self.of_unit(unit)),
        }
    }

    /// The keys it asks for.
    pub fn keys(&self) -> Vec<Key> {
        let mut keys = Vec::with_capacity(self.terms);
        self.expr.each_term(&mut |term| {
            if !keys.contains(&term.key) {
                keys.push(term.key.clone());
            }
        });
        keys
    }
}

impl Term {
    fn matches(&self, value: &str) -> bool {
        self.values.iter().any(|p| p.matches(value))
    }
}

impl Expr {
    /// Truth under `atom`, which says `None` where it does not know; `None` where the answer depends on that.
    fn eval(&self, atom: &dyn Fn(&Term) -> Option<bool>) -> Option<bool> {
        match self {
            Expr::All => Some(true),
            Expr::Term(term) => atom(term),
            Expr::Not(inner) => inner.eval(atom).map(|x| !x),
            Expr::And(parts) => fold(parts, atom, false),
            Expr::Or(parts) => fold(parts, atom, true),
        }
    }

    fn each_term(&self, see: &mut dyn FnMut(&Term)) {
        match self {
            Expr::All => {}
            Expr::Term(term) => see(term),
            Expr::Not(inner) => inner.each_term(see),
            Expr::And(parts) | Expr::Or(parts) => parts.iter().for_each(|p| p.each_term(see)),
        }
    }

    /// Numbers the terms; returns their count and whether one asks for the unit.
    fn number(&mut self) -> (usize, bool) {
        fn walk(expr: &mut Expr, next: &mut usize, by_unit: &mut bool) {
            match expr {
                Expr::All => {}
                Expr::Term(term) => {
                    term.number = *next;
                    *next += 1;
                    *by_unit |= term.key == Key::Unit;
                }
                Expr::Not(inner) => walk(inner, next, by_unit),
                Expr::And(parts) | Expr::Or(parts) => parts.iter_mut().for_each(|p| walk(p, next, by_unit)),
            }
        }
        let (mut next, mut by_unit) = (0, false);
        walk(self, &mut next, &mut by_unit);
        (next, by_unit)
    }
}

/// `stop` decides as soon as one part has it; else unknown if one part is.
fn fold(parts: &[Expr], atom: &dyn Fn(&Term) -> Option<bool>, stop: bool) -> Option<bool> {
    let mut known = true;
    for part in parts {
        match part.eval(atom) {
            Some(x) if x == stop => return Some(stop),
            Some(_) => {}
            None => known = false,
        }
    }
    known.then_some(!stop)
}

impl FromStr for Filter {
    type Err = SyntaxError;

    /// # Errors
    /// All faults of the expression.
    fn from_str(text: &str) -> Result<Self, SyntaxError> {
        let mut parser = Parser { lexer: Lexer::new(text), grammar: Vec::new(), meaning: Vec::new(), depth: 0 };
        let mut expr = parser.expr();
        // A ) that nothing opened, or what follows a fault: name it and read on for further faults.
        while let Ok((token, span)) = parser.lexer.peek(Slash::Word) {
            if token == Token::End || parser.depth > MAX_DEPTH {
                break;
            }
            parser.unexpected(&token, span.clone());
            parser.lexer.skip_to(span.end);
            if !matches!(parser.lexer.peek(Slash::Word), Ok((Token::End, _))) {
                parser.expr();
            }
        }
        let Parser { grammar: mut faults, meaning, .. } = parser;
        faults.extend(meaning);
        if !faults.is_empty() {
            return Err(SyntaxError { expression: text.to_owned(), faults });
        }
        let (terms, by_unit) = expr.number();
        Ok(Filter { expr, terms, by_unit })
    }
}

struct Parser<'a> {
    lexer: Lexer<'a>,
    grammar: Vec<Fault>,
    meaning: Vec<Fault>,
    depth: usize,
}

impl Parser<'_> {
    fn unexpected(&mut self, token: &Token, span: Range<usize>) {
        self.grammar.push(Fault { span, message: format!("unexpected {}", quote(&token.text())), hint: None });
    }

    fn expr(&mut self) -> Expr {
        let mut parts = vec![self.and()];
        while let Ok((Token::Or, span)) = self.lexer.peek(Slash::Word) {
            self.lexer.skip_to(span.end);
            parts.push(self.and());
        }
        one_or(parts, Expr::Or)
    }

    fn and(&mut self) -> Expr {
        let mut parts = vec![self.matched()];
        loop {
            match self.lexer.peek(Slash::Word) {
                Ok((Token::And, span)) => self.lexer.skip_to(span.end),
                Ok((Token::Op('(' | '-' | '*') | Token::Word(_), _)) | Err(_) => {}
                Ok((Token::Op(')') | Token::Or | Token::End, _)) => break,
                Ok((token, span)) => {
                    self.unexpected(&token, span.clone());
                    self.lexer.skip_to(span.end);
                    continue;
                }
            }
            parts.push(self.matched());
        }
        one_or(parts, Expr::And)
    }

    /// A match; a fault is noted, its text skipped, and stands for everything.
    fn matched(&mut self) -> Expr {
        self.depth += 1;
        let result = if self.depth > MAX_DEPTH {
            let span = self.lexer.offset()..self.lexer.offset();
            // No use in reading on: everything behind this is as deep.
            self.lexer.skip_to(usize::MAX);
            Err(Fault {
                span,
                message: format!("nested too deep, at most {MAX_DEPTH} levels"),
                hint: Some("repeated keys can be written as key:(value OR value)".into()),
            })
        } else {
            self.term()
        };
        self.depth -= 1;
        result.unwrap_or_else(|fault| {
            self.grammar.push(fault);
            Expr::All
        })
    }

    fn take(&mut self, slash: Slash) -> Result<(Token, Range<usize>), Fault> {
        self.lexer.next(slash)
    }

    fn term(&mut self) -> Result<Expr, Fault> {
        let (token, span) = self.lexer.peek(Slash::Word).inspect_err(|f| self.lexer.skip_to(f.span.end))?;
        let key = match token {
            Token::Op('(') => {
                self.lexer.skip_to(span.end);
                let inner = self.expr();
                return match self.lexer.peek(Slash::Word) {
                    Ok((Token::Op(')'), close)) => {
                        self.lexer.skip_to(close.end);
                        Ok(inner)
                    }
                    _ => {
                        let at = self.lexer.offset();
                        Err(Fault {
                            span: at..at,
                            message: "missing \")\"".into(),
                            hint: Some(format!("the ( at character {} is not closed", span.start + 1)),
                        })
                    }
                };
            }
            Token::Op('-') => {
                self.lexer.skip_to(span.end);
                return Ok(Expr::Not(Box::new(self.matched())));
            }
            Token::Op('*') => {
                self.lexer.skip_to(span.end);
                return Ok(Expr::All);
            }
            Token::Word(word) => word,
            Token::Op(')') | Token::End | Token::Or => {
                return Err(Fault { span, message: "expected key:value or subexpression".into(), hint: None });
            }
            _ => {
                self.lexer.skip_to(span.end);
                return Err(Fault { span, message: "expected key:value or subexpression".into(), hint: None });
            }
        };
        self.lexer.skip_to(span.end);
        let Ok((Token::Op(':'), colon)) = self.lexer.peek(Slash::Word) else {
            return Err(Fault {
                span,
                message: "expected key:value".into(),
                hint: Some(format!("to match a benchmark's name write .name:{key} or .name:/{key}/")),
            });
        };
        self.lexer.skip_to(colon.end);
        let key_span = span.clone();
        let values = match self.lexer.peek(Slash::Regex) {
            Ok((Token::Op('('), open)) => {
                self.lexer.skip_to(open.end);
                self.values()?
            }
            Ok((Token::Word(_) | Token::Regex(_), _)) => {
                let token = self.take(Slash::Regex)?;
                vec![self.pattern(token)]
            }
            Err(_) => {
                self.take(Slash::Regex)?;
                Vec::new()
            }
            Ok((_, at)) => {
                return Err(Fault {
                    span: span.start..at.start.max(span.end),
                    message: "expected key:value".into(),
                    hint: Some(format!("to match results without the key write {key}:\"\"")),
                });
            }
        };
        let key = Key::parse(&key);
        if key == Key::Config {
            self.meaning.push(Fault {
                span: key_span,
                message: ".config is only allowed in projections".into(),
                hint: Some("name the setting itself, such as goos:linux".into()),
            });
        }
        Ok(Expr::Term(Term { key, values, number: 0 }))
    }

    fn values(&mut self) -> Result<Vec<Pattern>, Fault> {
        let mut values = Vec::new();
        loop {
            let (token, span) = self.lexer.peek(Slash::Regex).inspect_err(|f| self.lexer.skip_to(f.span.end))?;
            if !matches!(token, Token::Word(_) | Token::Regex(_)) {
                return Err(Fault { span, message: "expected value".into(), hint: None });
            }
            self.lexer.skip_to(span.end);
            values.push(self.pattern((token, span)));
            let (token, span) = self.lexer.peek(Slash::Regex).inspect_err(|f| self.lexer.skip_to(f.span.end))?;
            match token {
                Token::Op(')') => {
                    self.lexer.skip_to(span.end);
                    return Ok(values);
                }
                Token::Or => self.lexer.skip_to(span.end),
                _ => {
                    self.skip_list();
                    return Err(Fault {
                        span,
                        message: "value list must be separated by OR".into(),
                        hint: Some("such as key:(one OR two)".into()),
                    });
                }
            }
        }
    }

    /// Moves behind the ) of a list of values.
    fn skip_list(&mut self) {
        while !matches!(self.lexer.next(Slash::Regex), Ok((Token::Op(')') | Token::End, _))) {}
    }

    fn pattern(&mut self, (token, span): (Token, Range<usize>)) -> Pattern {
        match token {
            Token::Regex(source) => match Regex::new(&source) {
                Ok(regex) => Pattern::Regex(regex),
                Err(e) => {
                    self.meaning.push(Fault { span, message: regex_fault(&e), hint: None });
                    Pattern::Literal(String::new())
                }
            },
            token => Pattern::Literal(token.text()),
        }
    }
}

/// What the regex crate says, on one line.
fn regex_fault(error: &regex::Error) -> String {
    let text = error.to_string();
    let last = text.lines().last().unwrap_or("").trim_start_matches("error: ");
    format!("bad regular expression: {}", last.trim_end_matches('.'))
}

fn one_or(mut parts: Vec<Expr>, join: fn(Vec<Expr>) -> Expr) -> Expr {
    if parts.len() == 1 { parts.swap_remove(0) } else { join(parts) }
}

impl fmt::Display for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.expr.write(f, Binding::Or)
    }
}

/// How strongly the place of an expression binds: what must be put in parentheses there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Binding {
    Or,
    And,
    Match,
}

impl Expr {
    fn write(&self, f: &mut fmt::Formatter<'_>, place: Binding) -> fmt::Result {
        let (own, parts, between) = match self {
            Expr::All => return f.write_str("*"),
            Expr::Term(term) => return write!(f, "{term}"),
            Expr::Not(inner) => {
                f.write_str("-")?;
                return inner.write(f, Binding::Match);
            }
            Expr::And(parts) => (Binding::And, parts, " "),
            Expr::Or(parts) => (Binding::Or, parts, " OR "),
        };
        // Equal binding needs parentheses too, or a nested list would become one with its parent.
        let inner = if own == Binding::Or { Binding::And } else { Binding::Match };
        let open = place > own;
        if open {
            f.write_str("(")?;
        }
        for (i, part) in parts.iter().enumerate() {
            if i > 0 {
                f.write_str(between)?;
            }
            part.write(f, inner)?;
        }
        if open {
            f.write_str(")")?;
        }
        Ok(())
    }
}

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_word(f, &self.key.to_string(), Slash::Word)?;
        f.write_str(":")?;
        if let [value] = self.values.as_slice() {
            return write!(f, "{value}");
        }
        for (i, value) in self.values.iter().enumerate() {
            write!(f, "{}{value}", if i == 0 { "(" } else { " OR " })?;
        }
        f.write_str(")")
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Pattern::Literal(text) => write_word(f, text, Slash::Regex),
            Pattern::Regex(regex) => write!(f, "/{regex}/"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use proptest::prelude::*;

    use super::*;

    struct Keys(&'static [(&'static str, &'static str)]);

    impl KeyOf for Keys {
        fn value(&self, key: &Key) -> Cow<'_, str> {
            let key = key.to_string();
            self.0.iter().find(|(k, _)| *k == key).map_or("", |(_, v)| *v).into()
        }
    }

    const RESULT: Keys = Keys(&[(".name", "Get"), ("/size", "1k"), ("goos", "linux"), ("note", "a b")]);

    fn parse(text: &str) -> Filter {
        text.parse().unwrap_or_else(|e: SyntaxError| panic!("{text}: {e:?}"))
    }

    fn units_kept(text: &str) -> String {
        let filter = parse(text);
        let units = [Unit::new("sec/op", "ns/op"), Unit::new("B/sec", "MB/s"), Unit::new("B/op", "B/op")];
        units.iter().map(|u| if filter.keeps(&RESULT, u) { 'y' } else { '-' }).collect()
    }

    #[test]
    fn results_and_units() {
        for (text, want) in [
            ("*", "yyy"),
            ("-*", "---"),
            (".name:Get", "yyy"),
            (".name:Ge", "---"),
            (".name:/e/", "yyy"),
            (".name:/^E/", "---"),
            ("-.name:Get", "---"),
            ("goos:linux /size:1k", "yyy"),
            ("goos:linux AND /size:2k", "---"),
            ("goos:plan9 OR /size:1k", "yyy"),
            ("/size:(2k OR 1k)", "yyy"),
            ("/size:(2k OR /k$/)", "yyy"),
            ("missing:\"\"", "yyy"),
            ("goos:\"\"", "---"),
            ("note:\"a b\"", "yyy"),
            ("note:\"\\x61 b\"", "yyy"),
            (".unit:ns/op", "y--"),
            (".unit:sec/op", "y--"),
            (".unit:(B/s OR B/op)", "-yy"),
            (".unit:/^B/", "-yy"),
            ("-.unit:MB/s", "y-y"),
            (".unit:ns/op OR .name:Get", "yyy"),
            (".unit:ns/op OR .name:Put", "y--"),
            (".unit:ns/op .name:Put", "---"),
            ("-(.unit:ns/op .name:Get)", "-yy"),
            ("(.unit:ns/op OR .unit:B/op) -.unit:B/op", "y--"),
        ] {
            assert_eq!(units_kept(text), want, "{text}");
        }
    }

    #[test]
    fn a_decision_is_taken_for_the_whole_result_where_it_can_be() {
        assert!(matches!(parse(".unit:ns/op OR .name:Get").decide(&RESULT), Decision::All));
        assert!(matches!(parse(".unit:ns/op .name:Put").decide(&RESULT), Decision::None));
        assert!(matches!(parse(".unit:ns/op .name:Get").decide(&RESULT), Decision::ByUnit(_)));
    }

    #[test]
    fn both_filters_hold() {
        let both = parse(".unit:ns/op").and(parse("goos:linux OR .unit:B/op"));
        assert!(both.keeps(&RESULT, &Unit::new("sec/op", "ns/op")));
        assert!(!both.keeps(&RESULT, &Unit::new("B/op", "B/op")));
    }

    fn faults(text: &str) -> Vec<(usize, String)> {
        let error = text.parse::<Filter>().unwrap_err();
        error.faults.iter().map(|f| (error.column(f), f.message.clone())).collect()
    }

    #[test]
    fn faults_stand_where_benchstat_puts_them() {
        for (text, column, message) in [
            ("a:", 0, "expected key:value"),
            ("a b:c", 0, "expected key:value"),
            ("a:/(/", 2, "missing close \"/\""),
            ("(a:b", 4, "missing \")\""),
            (".config:x", 0, ".config is only allowed in projections"),
            ("a:(b c)", 5, "value list must be separated by OR"),
            ("a:\"b", 2, "missing end quote"),
            ("a:\"\\q\"", 2, "bad escape sequence"),
            ("", 0, "expected key:value or subexpression"),
            ("a:(OR b)", 3, "expected value"),
            ("a:b,c:d", 3, "unexpected \",\""),
            ("a:b)", 3, "unexpected \")\""),
            ("a:/b/c", 5, "regexp must be followed by space or an operator (unescaped \"/\"?)"),
            ("a:b OR", 6, "expected key:value or subexpression"),
        ] {
            assert_eq!(faults(text)[0], (column, message.to_owned()), "{text}");
        }
    }

    #[test]
    fn all_faults_are_told_at_once() {
        let all = faults("a .config:x c:(d e) f:/[/");
        let messages: Vec<&str> = all.iter().map(|f| f.1.as_str()).collect();
        assert_eq!(
            messages,
            [
                "expected key:value",
                "value list must be separated by OR",
                "missing close \"/\"",
                ".config is only allowed in projections"
            ]
        );
        let all = faults("g:/x{2,1}/ .config:y");
        assert_eq!(all.len(), 2);
        assert!(all[0].1.starts_with("bad regular expression: "), "{all:?}");
    }

    #[test]
    fn depth_is_bounded() {
        for open in ["(", "-", "-("] {
            let all = faults(&(open.repeat(100_000) + "a:b"));
            assert!(all.iter().any(|f| f.1.starts_with("nested too deep")), "{open}");
        }
        assert!(("-".repeat(MAX_DEPTH - 1) + "a:b").parse::<Filter>().is_ok());
        // Long is not deep.
        assert!("a:b ".repeat(100_000).parse::<Filter>().is_ok());
    }

    fn pattern() -> impl Strategy<Value = Pattern> {
        prop_oneof![
            any::<String>().prop_map(Pattern::Literal),
            "[a-z]{0,3}([(]x[/]y[)]|[\\[][/a][\\]]|\\\\/)?".prop_map(|s| Pattern::Regex(Regex::new(&s).unwrap())),
        ]
    }

    fn expr() -> impl Strategy<Value = Expr> {
        let term = (any::<String>(), prop::collection::vec(pattern(), 1..3))
            .prop_filter("not a filter key", |(key, _)| key != ".config")
            .prop_map(|(key, values)| Expr::Term(Term { key: Key::parse(&key), values, number: 0 }));
        prop_oneof![1 => Just(Expr::All), 6 => term].prop_recursive(4, 24, 3, |inner| {
            prop_oneof![
                inner.clone().prop_map(|e| Expr::Not(Box::new(e))),
                prop::collection::vec(inner.clone(), 2..4).prop_map(Expr::And),
                prop::collection::vec(inner, 2..4).prop_map(Expr::Or),
            ]
        })
    }

    proptest! {
        #[test]
        fn print_and_parse_agree(mut expr in expr()) {
            let (terms, by_unit) = expr.number();
            let filter = Filter { expr, terms, by_unit };
            prop_assert_eq!(filter.to_string().parse::<Filter>(), Ok(filter));
        }

        #[test]
        fn any_text_parses_or_tells_why(text in r#"([a-z/.@(), "\\*:é-]|AND|OR){0,30}|.{0,40}"#) {
            match text.parse::<Filter>() {
                Ok(filter) => prop_assert_eq!(filter.to_string().parse::<Filter>(), Ok(filter)),
                Err(e) => {
                    prop_assert!(!e.faults.is_empty());
                    prop_assert!(e.faults.iter().all(|f| text.get(f.span.clone()).is_some()), "{:?}", e);
                }
            }
        }
    }
}
