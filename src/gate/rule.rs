//! One `--fail-on` rule: `[FILTER:]CONDITION`.
//!
//! ```text
//! rule      = [ filter ":" ] condition
//! condition = ( "slower" | "faster" | "any" ) [ ">" percent ] [ ":est" | ":raw" ]
//!           | "geomean" ">" percent [ ":est" | ":raw" ]
//!           | "unclear" | "missing" | "config"
//! percent   = digits [ "." digits ] "%"
//! ```
//! `regression` and `worse` are other words for `slower`, `improvement` and `better` for `faster`; blanks between the parts
//! do not matter. A filter may hold colons itself, so the condition is the shortest tail after a colon that is one.

use std::fmt;

/// What makes a row trip.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Condition {
    /// Slower or worse.
    Slower(Beyond),
    /// Faster or better: a suspicious improvement.
    Faster(Beyond),
    /// Changed in whatever direction, or on one side only.
    Any(Beyond),
    /// The geometric mean of a table is worse.
    Geomean(Beyond),
    /// Too noisy to say.
    Unclear,
    /// In the base only.
    Missing,
    /// Lines that describe the machine differ between the sides.
    Config,
}

/// How far, and on what evidence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Beyond {
    /// Percent, finite and not negative; 0 where none is typed.
    pub percent: f64,
    /// Which number has to be beyond it.
    pub by: By,
}

/// The number that is held against the limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum By {
    /// A confirmed verdict, and the end of the interval that is nearer to no change.
    #[default]
    NearEnd,
    /// `:est`: a verdict with or without its `?`, and the estimate.
    Estimate,
    /// `:raw`: the change of the shown centers, whatever the test says.
    Raw,
}

/// Conditions as they are offered in messages.
pub const CONDITIONS: &str =
    "slower, slower>5%, slower>5%:est, slower>5%:raw, faster>20%, geomean>2%, unclear, missing, config, any";

/// Words of conditions with their synonyms.
const WORDS: [&str; 11] = [
    "slower",
    "regression",
    "worse",
    "faster",
    "improvement",
    "better",
    "any",
    "geomean",
    "unclear",
    "missing",
    "config",
];

/// Why a text is not a condition.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ConditionError {
    /// What was expected and what was found.
    pub message: String,
    /// The nearest condition.
    pub hint: String,
}

/// Splits a rule into its filter, if it has one, and its condition.
///
/// # Errors
/// What is wrong with the condition; the filter is not looked at.
pub fn split(rule: &str) -> Result<(Option<&str>, Condition), ConditionError> {
    let tails = || rule.rmatch_indices(':').map(|(at, _)| (Some(&rule[..at]), &rule[at + 1..])).chain([(None, rule)]);
    for (filter, tail) in tails() {
        if let Ok(condition) = tail.parse() {
            return Ok((filter.map(str::trim), condition));
        }
    }
    // Nothing is a condition: speak of the tail that was most likely meant as one.
    let distance = |tail: &str| WORDS.iter().map(|w| strsim::damerau_levenshtein(w, word(tail).0)).min();
    let meant = tails()
        .map(|(_, tail)| (distance(tail).unwrap_or(usize::MAX), tail))
        .min_by_key(|(d, _)| (*d).min(3))
        .map_or(rule, |(_, tail)| tail);
    Err(meant.parse::<Condition>().err().unwrap_or_else(|| unknown(meant)))
}

/// The leading word of a condition and what follows it.
fn word(text: &str) -> (&str, &str) {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '-').unwrap_or(text.len());
    (&text[..end], text[end..].trim_start())
}

/// The error for a word that begins no condition.
fn unknown(text: &str) -> ConditionError {
    let (head, rest) = word(text);
    let message = match text.trim() {
        "" => "expected a condition, found nothing".to_owned(),
        found => format!("expected a condition, found {found:?}"),
    };
    let nearest = WORDS.iter().map(|w| (strsim::damerau_levenshtein(w, head), *w)).min();
    let hint = match nearest {
        Some((d, w)) if d <= 2 && !head.is_empty() => {
            let whole = format!("{w}{rest}");
            let whole = if whole.parse::<Condition>().is_ok() { whole } else { example(w).to_owned() };
            format!("nearest is {whole}")
        }
        _ => format!("conditions are {CONDITIONS}"),
    };
    ConditionError { message, hint }
}

/// A condition that begins with `word`.
fn example(word: &str) -> &'static str {
    match word {
        "slower" | "regression" | "worse" => "slower>5%",
        "faster" | "improvement" | "better" => "faster>20%",
        "geomean" => "geomean>2%",
        "unclear" => "unclear",
        "missing" => "missing",
        "config" => "config",
        _ => "any",
    }
}

impl std::str::FromStr for Condition {
    type Err = ConditionError;

    fn from_str(text: &str) -> Result<Self, ConditionError> {
        let (head, rest) = word(text);
        let error = |message: String| ConditionError { message, hint: format!("write it as {}", example(head)) };
        let plain = |c: Condition| match rest {
            "" => Ok(c),
            _ => Err(error(format!("{head} takes neither a percentage nor a mode, found {rest:?}"))),
        };
        let beyond = || beyond(head, rest).map_err(error);
        match head {
            "slower" | "regression" | "worse" => Ok(Condition::Slower(beyond()?.unwrap_or_default())),
            "faster" | "improvement" | "better" => Ok(Condition::Faster(beyond()?.unwrap_or_default())),
            "any" => Ok(Condition::Any(beyond()?.unwrap_or_default())),
            "geomean" => match beyond()? {
                Some(b) if rest.starts_with('>') => Ok(Condition::Geomean(b)),
                _ => Err(error("geomean needs a percentage".to_owned())),
            },
            "unclear" => plain(Condition::Unclear),
            "missing" => plain(Condition::Missing),
            "config" => plain(Condition::Config),
            _ => Err(unknown(text)),
        }
    }
}

/// What follows the word: `>5%:est`. `None` where nothing does.
fn beyond(head: &str, rest: &str) -> Result<Option<Beyond>, String> {
    if rest.is_empty() {
        return Ok(None);
    }
    let (limit, mode) = rest.split_once(':').map_or((rest, None), |(l, m)| (l.trim(), Some(m.trim())));
    let by = match mode {
        None => By::NearEnd,
        Some("est") => By::Estimate,
        Some("raw") => By::Raw,
        Some(other) => return Err(format!("expected est or raw after \":\", found {other:?}")),
    };
    if limit.is_empty() {
        return Ok(Some(Beyond { percent: 0.0, by }));
    }
    let Some(number) = limit.strip_prefix('>') else {
        return Err(format!("expected \">\" after {head}, found {limit:?}"));
    };
    let number = number.trim();
    let digits = number.strip_suffix('%').map(str::trim);
    let percent = digits
        .filter(|d| d.bytes().all(|b| b.is_ascii_digit() || b == b'.'))
        .and_then(|d| d.parse::<f64>().ok())
        .filter(|p| p.is_finite());
    match percent {
        Some(percent) => Ok(Some(Beyond { percent, by })),
        None => Err(format!("expected a percentage such as 5% after \">\", found {number:?}")),
    }
}

impl Default for Beyond {
    fn default() -> Self {
        Beyond { percent: 0.0, by: By::NearEnd }
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (word, beyond) = match self {
            Condition::Slower(b) => ("slower", b),
            Condition::Faster(b) => ("faster", b),
            Condition::Any(b) => ("any", b),
            Condition::Geomean(b) => ("geomean", b),
            Condition::Unclear => return f.write_str("unclear"),
            Condition::Missing => return f.write_str("missing"),
            Condition::Config => return f.write_str("config"),
        };
        f.write_str(word)?;
        if beyond.percent > 0.0 || matches!(self, Condition::Geomean(_)) {
            write!(f, ">{}%", beyond.percent)?;
        }
        f.write_str(match beyond.by {
            By::NearEnd => "",
            By::Estimate => ":est",
            By::Raw => ":raw",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn near(percent: f64) -> Beyond {
        Beyond { percent, by: By::NearEnd }
    }

    #[test]
    fn conditions_are_read_with_their_synonyms_and_blanks() {
        for (text, want) in [
            ("slower", Condition::Slower(near(0.0))),
            ("regression", Condition::Slower(near(0.0))),
            (" slower > 5 % ", Condition::Slower(near(5.0))),
            ("worse>2.5%:est", Condition::Slower(Beyond { percent: 2.5, by: By::Estimate })),
            ("slower>0%:raw", Condition::Slower(Beyond { percent: 0.0, by: By::Raw })),
            ("slower:raw", Condition::Slower(Beyond { percent: 0.0, by: By::Raw })),
            ("faster>20%", Condition::Faster(near(20.0))),
            ("improvement", Condition::Faster(near(0.0))),
            ("geomean>2%", Condition::Geomean(near(2.0))),
            ("geomean>0%", Condition::Geomean(near(0.0))),
            ("any", Condition::Any(near(0.0))),
            ("unclear", Condition::Unclear),
            ("missing", Condition::Missing),
            ("config", Condition::Config),
        ] {
            assert_eq!(text.parse(), Ok(want), "{text}");
        }
    }

    #[test]
    fn the_filter_is_what_stands_before_the_condition() {
        for (rule, filter, condition) in [
            ("slower>5%:raw", None, "slower>5%:raw"),
            (".unit:allocs/op: slower>0%:raw", Some(".unit:allocs/op"), "slower:raw"),
            (".name:/a:b/ OR goos:linux:any", Some(".name:/a:b/ OR goos:linux"), "any"),
            (".name:\"x: slower\": geomean>2%", Some(".name:\"x: slower\""), "geomean>2%"),
            (".name:slower:unclear", Some(".name:slower"), "unclear"),
            // A filter that is none: the filter language says so, not this module.
            (".name:slower", Some(".name"), "slower"),
        ] {
            let (f, c) = split(rule).unwrap();
            assert_eq!((f, c.to_string().as_str()), (filter, condition), "{rule}");
        }
    }

    #[test]
    fn errors_name_what_is_wrong_and_the_nearest_condition() {
        for (rule, message, hint) in [
            ("", "expected a condition, found nothing", "conditions are "),
            ("slowr>5%", "expected a condition, found \"slowr>5%\"", "nearest is slower>5%"),
            ("regresion", "expected a condition, found \"regresion\"", "nearest is regression"),
            (".name:Get: fastr > 7%", "expected a condition, found \"fastr > 7%\"", "nearest is faster> 7%"),
            ("slower>5", "expected a percentage such as 5% after \">\", found \"5\"", "write it as slower>5%"),
            ("slower>five%", "expected a percentage such as 5% after \">\", found \"five%\"", "write it as slower>5%"),
            ("slower>-1%", "expected a percentage such as 5% after \">\", found \"-1%\"", "write it as slower>5%"),
            ("slower>=5%", "expected a percentage such as 5% after \">\", found \"=5%\"", "write it as slower>5%"),
            ("slower 5%", "expected \">\" after slower, found \"5%\"", "write it as slower>5%"),
            ("slower>5%:near", "expected est or raw after \":\", found \"near\"", "write it as slower>5%"),
            ("geomean", "geomean needs a percentage", "write it as geomean>2%"),
            ("geomean:est", "geomean needs a percentage", "write it as geomean>2%"),
            (
                ".unit:x: unclear>5%",
                "unclear takes neither a percentage nor a mode, found \">5%\"",
                "write it as unclear",
            ),
            (".name:Get", "expected a condition, found \"Get\"", "conditions are "),
        ] {
            let e = split(rule).unwrap_err();
            assert_eq!(e.message, message, "{rule}");
            assert!(e.hint.starts_with(hint), "{rule}: {}", e.hint);
        }
    }

    fn condition() -> impl Strategy<Value = Condition> {
        let beyond = (0.0..1e4f64, prop_oneof![Just(By::NearEnd), Just(By::Estimate), Just(By::Raw)])
            .prop_map(|(percent, by)| Beyond { percent, by });
        prop_oneof![
            beyond.clone().prop_map(Condition::Slower),
            beyond.clone().prop_map(Condition::Faster),
            beyond.clone().prop_map(Condition::Any),
            beyond.prop_map(Condition::Geomean),
            Just(Condition::Unclear),
            Just(Condition::Missing),
            Just(Condition::Config),
        ]
    }

    proptest! {
        #[test]
        fn no_text_panics(text in any::<String>()) {
            let _ = split(&text);
        }

        #[test]
        fn no_text_of_the_grammars_letters_panics(text in "(slower|geo|any|[ .:>%a0-9\"/]){0,12}") {
            let _ = split(&text);
        }

        #[test]
        fn what_is_printed_is_read_back(c in condition()) {
            prop_assert_eq!(c.to_string().parse::<Condition>(), Ok(c));
            let rule = format!(".name:x:{c}");
            prop_assert_eq!(split(&rule), Ok((Some(".name:x"), c)));
        }
    }
}
