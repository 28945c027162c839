//! The projection language: which keys make a table, a row or a column, and in which order their values come.
//!
//! ```text
//! list  = field { [","] field }
//! field = key [ "@" order ]
//! order = "alpha" | "num" | "version" | "(" value { value } ")"
//! ```
//! Words are those of the filter language ([`super::filter`]). Without an order, values come in order of first observation. A list of
//! values fixes their order and leaves out results with any other value.

use std::cmp::Ordering;
use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use super::lex::{Fault, Lexer, Slash, SyntaxError, Token, quote, write_word};
use crate::model::{Key, KeyOf};

/// A list of fields.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Projection {
    /// In the order typed.
    pub fields: Vec<Field>,
}

/// A key and how its values are sorted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// The key.
    pub key: Key,
    /// Order of its values.
    pub order: Order,
}

/// Order of the values of a key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// As first observed over all inputs.
    #[default]
    First,
    /// Bytewise.
    Alpha,
    /// By number, see [`compare_numbers`].
    Num,
    /// By numeric parts, see [`compare_versions`].
    Version,
    /// As listed; results with other values are left out.
    Fixed(Vec<String>),
}

impl Projection {
    /// Fields of `keys` in default order.
    pub fn of(keys: impl IntoIterator<Item = Key>) -> Self {
        Projection { fields: keys.into_iter().map(|key| Field { key, order: Order::First }).collect() }
    }

    /// Whether `key` is one of the fields.
    pub fn names(&self, key: &Key) -> bool {
        self.fields.iter().any(|f| f.key == *key)
    }

    /// False where a fixed order leaves the result out.
    pub fn admits(&self, result: &dyn KeyOf) -> bool {
        self.fields.iter().all(|f| match &f.order {
            Order::Fixed(values) => {
                let value = result.value(&f.key);
                values.iter().any(|v| *v == value)
            }
            _ => true,
        })
    }
}

impl FromStr for Projection {
    type Err = SyntaxError;

    /// # Errors
    /// All faults of the expression.
    fn from_str(text: &str) -> Result<Self, SyntaxError> {
        let mut parser = Parser { lexer: Lexer::new(text), grammar: Vec::new(), meaning: Vec::new() };
        let mut fields = Vec::new();
        let mut any = false;
        loop {
            match parser.lexer.peek(Slash::Word) {
                Ok((Token::End, _)) => break,
                Ok((Token::Op(','), span)) if any => parser.lexer.skip_to(span.end),
                _ => {}
            }
            any = true;
            match parser.field() {
                Ok(field) => fields.push(field),
                Err(fault) => {
                    parser.grammar.push(fault);
                    parser.lexer.resume();
                }
            }
        }
        let Parser { grammar: mut faults, meaning, .. } = parser;
        faults.extend(meaning);
        if faults.is_empty() {
            Ok(Projection { fields })
        } else {
            Err(SyntaxError { expression: text.to_owned(), faults })
        }
    }
}

struct Parser<'a> {
    lexer: Lexer<'a>,
    grammar: Vec<Fault>,
    meaning: Vec<Fault>,
}

impl Parser<'_> {
    fn field(&mut self) -> Result<Field, Fault> {
        let (token, span) = self.lexer.peek(Slash::Word).inspect_err(|f| self.lexer.skip_to(f.span.end))?;
        let Token::Word(word) = token else {
            return Err(Fault {
                span,
                message: "expected key".into(),
                hint: Some("keys are words such as .name, /size or goos, separated by commas or blanks".into()),
            });
        };
        self.lexer.skip_to(span.end);
        let key = Key::parse(&word);
        if key == Key::Unit {
            self.meaning.push(Fault {
                span: span.clone(),
                message: ".unit is only allowed in filters".into(),
                hint: Some("every unit has a table of its own".into()),
            });
        }
        let order = match self.lexer.peek(Slash::Word) {
            Ok((Token::Op('@'), at)) => {
                self.lexer.skip_to(at.end);
                self.order(&key)?
            }
            _ => Order::First,
        };
        Ok(Field { key, order })
    }

    fn order(&mut self, key: &Key) -> Result<Order, Fault> {
        let (token, span) = self.lexer.peek(Slash::Word).inspect_err(|f| self.lexer.skip_to(f.span.end))?;
        match token {
            Token::Word(word) => {
                self.lexer.skip_to(span.end);
                match word.as_str() {
                    "alpha" => Ok(Order::Alpha),
                    "num" => Ok(Order::Num),
                    "version" => Ok(Order::Version),
                    "first" => Ok(Order::First),
                    _ => {
                        self.meaning.push(Fault {
                            span,
                            message: format!("unknown order {}", quote(&word)),
                            hint: Some("orders are alpha, num, version and a list of values (v1 v2 ...)".into()),
                        });
                        Ok(Order::First)
                    }
                }
            }
            Token::Op('(') => {
                self.lexer.skip_to(span.end);
                self.fixed(key, span)
            }
            _ => Err(Fault {
                span,
                message: "expected named sort order or parenthesized list".into(),
                hint: Some("such as @alpha, @num, @version or @(v1 v2 ...)".into()),
            }),
        }
    }

    fn fixed(&mut self, key: &Key, open: Range<usize>) -> Result<Order, Fault> {
        let mut values = Vec::new();
        loop {
            let (token, span) = self.lexer.peek(Slash::Word).inspect_err(|f| self.lexer.skip_to(f.span.end))?;
            match token {
                Token::Word(word) => values.push(word),
                Token::And | Token::Or => values.push(token.text()),
                Token::Op(')') if values.is_empty() => {
                    let fault = Fault { span: span.clone(), message: "nothing to match".into(), hint: None };
                    self.lexer.skip_to(span.end);
                    return Err(fault);
                }
                Token::Op(')') => {
                    self.lexer.skip_to(span.end);
                    if *key == Key::Config {
                        self.meaning.push(Fault {
                            span: open,
                            message: "fixed order not allowed for .config".into(),
                            hint: Some("name the setting itself, such as goos@(linux darwin)".into()),
                        });
                    }
                    return Ok(Order::Fixed(values));
                }
                _ => {
                    self.lexer.skip_to(span.end);
                    return Err(Fault { span, message: "missing )".into(), hint: None });
                }
            }
            self.lexer.skip_to(span.end);
        }
    }
}

impl fmt::Display for Projection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, field) in self.fields.iter().enumerate() {
            if i > 0 {
                f.write_str(",")?;
            }
            write!(f, "{field}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_word(f, &self.key.to_string(), Slash::Word)?;
        match &self.order {
            Order::First => Ok(()),
            Order::Alpha => f.write_str("@alpha"),
            Order::Num => f.write_str("@num"),
            Order::Version => f.write_str("@version"),
            Order::Fixed(values) => {
                f.write_str("@(")?;
                for (i, value) in values.iter().enumerate() {
                    if i > 0 {
                        f.write_str(" ")?;
                    }
                    write_word(f, value, Slash::Word)?;
                }
                f.write_str(")")
            }
        }
    }
}

impl Order {
    /// Sorts two values; both must have been observed. `First` says equal: only the place of observation tells.
    pub fn compare(&self, a: &str, b: &str) -> Ordering {
        match self {
            Order::First => Ordering::Equal,
            Order::Alpha => a.cmp(b),
            Order::Num => compare_numbers(a, b),
            Order::Version => compare_versions(a, b),
            Order::Fixed(values) => {
                let place = |x: &str| values.iter().position(|v| v == x).unwrap_or(usize::MAX);
                place(a).cmp(&place(b))
            }
        }
    }
}

/// Numbers before other text, not-a-number last among them, ties bytewise.
///
/// The number of a text is the text itself where it is a float, else its first run of digits and dots with a suffix: `k`, `K`, `M`, `G`, `T`,
/// `P`, `E`, `Z`, `Y` times 1000 each, with `i` times 1024 each.
pub fn compare_numbers(a: &str, b: &str) -> Ordering {
    let by_number = match (number(a), number(b)) {
        (Some(x), Some(y)) => match (x.is_nan(), y.is_nan()) {
            // -0 and 0 are one number.
            (false, false) => x.partial_cmp(&y).unwrap_or(Ordering::Equal),
            (p, q) => p.cmp(&q),
        },
        (x, y) => y.is_some().cmp(&x.is_some()),
    };
    by_number.then_with(|| a.cmp(b))
}

fn number(text: &str) -> Option<f64> {
    if let Ok(x) = text.parse::<f64>() {
        return Some(x);
    }
    let digits = |c: char| c.is_ascii_digit() || c == '.';
    let start = text.find(digits)?;
    let run = &text[start..];
    let len = run.find(|c| !digits(c)).unwrap_or(run.len());
    let value: f64 = run[..len].parse().ok()?;
    let mut suffix = run[len..].chars();
    let power = match suffix.next() {
        Some('k' | 'K') => 1,
        Some('M') => 2,
        Some('G') => 3,
        Some('T') => 4,
        Some('P') => 5,
        Some('E') => 6,
        Some('Z') => 7,
        Some('Y') => 8,
        _ => 0,
    };
    let step: f64 = if suffix.next() == Some('i') { 1024.0 } else { 1000.0 };
    Some(value * step.powi(power))
}

/// By runs of digits and runs of other text: `9.9.3` before `9.10.0` before `10.0.1`, `1.2-rc1` before `1.2`. Ties bytewise.
pub fn compare_versions(a: &str, b: &str) -> Ordering {
    let mut x = runs(a);
    let mut y = runs(b);
    loop {
        let (r, s) = (x.next(), y.next());
        if r.is_none() && s.is_none() {
            return a.cmp(b);
        }
        let by_run = stage(r).cmp(&stage(s)).then_with(|| match (r.unwrap_or(""), s.unwrap_or("")) {
            (r, s) if starts_with_digit(r) && starts_with_digit(s) => {
                let (r, s) = (r.trim_start_matches('0'), s.trim_start_matches('0'));
                r.len().cmp(&s.len()).then_with(|| r.cmp(s))
            }
            (r, s) => r.cmp(s),
        });
        if by_run != Ordering::Equal {
            return by_run;
        }
    }
}

/// A pre-release comes before the release, which ends here; other longer versions come after.
fn stage(run: Option<&str>) -> u8 {
    let Some(run) = run else { return 1 };
    let word = run.trim_start_matches(['-', '.', '_', '~']).to_ascii_lowercase();
    if ["rc", "alpha", "beta", "pre", "dev", "snapshot"].iter().any(|p| word.starts_with(p)) {
        0
    } else if starts_with_digit(run) {
        2
    } else {
        3
    }
}

fn starts_with_digit(run: &str) -> bool {
    run.starts_with(|c: char| c.is_ascii_digit())
}

fn runs(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let digit = rest.chars().next()?.is_ascii_digit();
        let len = rest.find(|c: char| c.is_ascii_digit() != digit).unwrap_or(rest.len());
        let (run, tail) = rest.split_at(len);
        rest = tail;
        Some(run)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn faults(text: &str) -> Vec<(usize, String)> {
        let error = text.parse::<Projection>().unwrap_err();
        error.faults.iter().map(|f| (error.column(f), f.message.clone())).collect()
    }

    #[test]
    fn lists_orders_and_separators() {
        let p: Projection = ".name /size@num,goos@(linux \"my os\") , version@version".parse().unwrap();
        assert_eq!(p.fields.len(), 4);
        assert_eq!(p.fields[0], Field { key: Key::Name, order: Order::First });
        assert_eq!(p.fields[1], Field { key: Key::Part("size".into()), order: Order::Num });
        assert_eq!(p.fields[2].order, Order::Fixed(vec!["linux".into(), "my os".into()]));
        assert_eq!(p.to_string(), ".name,/size@num,goos@(linux \"my os\"),version@version");
        assert_eq!("".parse::<Projection>().unwrap(), Projection::default());
    }

    #[test]
    fn faults_stand_where_benchstat_puts_them() {
        for (text, column, message) in [
            ("a,,b", 2, "expected key"),
            ("a@", 2, "expected named sort order or parenthesized list"),
            ("a@()", 3, "nothing to match"),
            ("a@zork", 2, "unknown order \"zork\""),
            (".unit", 0, ".unit is only allowed in filters"),
            (".config@(a b)", 8, "fixed order not allowed for .config"),
            ("a@(b", 4, "missing )"),
            ("a,", 2, "expected key"),
            ("ä,\"b", 2, "missing end quote"),
        ] {
            assert_eq!(faults(text)[0], (column, message.to_owned()), "{text}");
        }
    }

    #[test]
    fn all_faults_are_told_at_once() {
        let all = faults("a@zork,,.unit,b@");
        let messages: Vec<&str> = all.iter().map(|f| f.1.as_str()).collect();
        assert_eq!(
            messages,
            [
                "expected key",
                "expected named sort order or parenthesized list",
                "unknown order \"zork\"",
                ".unit is only allowed in filters"
            ]
        );
    }

    #[test]
    fn numbers_sort_by_size() {
        let mut v = ["2M", "512", "1Ki", "x", "1k", "64", "nan", "1.5e3", "v8"];
        v.sort_by(|a, b| compare_numbers(a, b));
        assert_eq!(v, ["v8", "64", "512", "1k", "1Ki", "1.5e3", "2M", "nan", "x"]);
    }

    #[test]
    fn versions_sort_by_parts() {
        let mut v = ["10.0.1", "9.10.0", "9.9.3", "9.9", "1.2", "1.2-rc1", "1.2.1", "9.09.4"];
        v.sort_by(|a, b| compare_versions(a, b));
        assert_eq!(v, ["1.2-rc1", "1.2", "1.2.1", "9.9", "9.9.3", "9.09.4", "9.10.0", "10.0.1"]);
    }

    fn order() -> impl Strategy<Value = Order> {
        prop_oneof![
            Just(Order::First),
            Just(Order::Alpha),
            Just(Order::Num),
            Just(Order::Version),
            prop::collection::vec(any::<String>(), 1..4).prop_map(Order::Fixed),
        ]
    }

    proptest! {
        #[test]
        fn print_and_parse_agree(fields in prop::collection::vec((any::<String>(), order()), 0..5)) {
            let fields = fields.into_iter().map(|(key, order)| (Key::parse(&key), order));
            let p = Projection { fields: fields.map(|(key, order)| Field { key, order }).collect() };
            prop_assert_eq!(p.to_string().parse::<Projection>(), Ok(p));
        }

        #[test]
        fn any_text_parses_or_tells_why(text in r#"[a-z/.@(), "\\*:é-]{0,20}|.{0,40}"#) {
            match text.parse::<Projection>() {
                Ok(p) => prop_assert_eq!(p.to_string().parse::<Projection>(), Ok(p)),
                Err(e) => {
                    prop_assert!(!e.faults.is_empty());
                    prop_assert!(e.faults.iter().all(|f| text.get(f.span.clone()).is_some()));
                }
            }
        }

        #[test]
        fn orders_are_total(a in "([0-9a.k+-]|rc){0,6}", b in "([0-9a.k+-]|rc){0,6}", c in "([0-9a.k+-]|rc){0,6}") {
            for order in [Order::Num, Order::Version] {
                prop_assert_eq!(order.compare(&a, &b), order.compare(&b, &a).reverse());
                if order.compare(&a, &b).is_le() && order.compare(&b, &c).is_le() {
                    prop_assert!(order.compare(&a, &c).is_le(), "{:?} {} {} {}", order, a, b, c);
                }
            }
        }
    }
}
