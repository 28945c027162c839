//! `--rules FILE`: rules kept beside the code they guard.
//!
//! ```toml
//! fail-on = ["slower>5%", ".unit:allocs/op: slower>0%:raw"]
//! fail-except = [".name:/Flaky/"]
//! assume-independent = false
//! ```
//! All three are optional; every other key is an error. Rules and exceptions add to those of the command line.

use serde::Deserialize;
use toml::Spanned;

use super::{Rule, RuleError, Rules, Selector};
use crate::base::printable;

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct File {
    #[serde(default)]
    fail_on: Vec<Spanned<String>>,
    #[serde(default)]
    fail_except: Vec<Spanned<String>>,
    #[serde(default)]
    assume_independent: bool,
}

/// Reads a rules file; `name` is how messages call it.
///
/// # Errors
/// Everything that is wrong with it, at least one, each with `name:line:column`.
pub fn from_toml(name: &str, text: &str) -> Result<Rules, Vec<RuleError>> {
    let at = |offset: usize, message: String, hint: Option<String>| {
        let (line, column) = place(text, offset);
        RuleError { message: format!("{}:{line}:{column}: {message}", printable(name)), hint }
    };
    let file: File = toml::from_str(text).map_err(|e| {
        let message = printable(e.message().lines().next().unwrap_or("not TOML")).into_owned();
        let hint = "a rules file has fail-on, fail-except and assume-independent".to_owned();
        vec![at(e.span().map_or(0, |s| s.start), message, Some(hint))]
    })?;
    let mut rules = Rules { assume_independent: file.assume_independent, ..Rules::default() };
    let mut errors = Vec::new();
    for rule in file.fail_on {
        match Rule::parse(rule.get_ref()) {
            Ok(r) => rules.rules.push(r),
            Err(e) => errors.push(at(rule.span().start, e.message, e.hint)),
        }
    }
    for except in file.fail_except {
        match Selector::parse(except.get_ref()) {
            Ok(s) => rules.except.push(s),
            Err(e) => {
                let message = format!("fail-except \"{}\": {e}", printable(except.get_ref()));
                errors.push(at(except.span().start, message, None));
            }
        }
    }
    if errors.is_empty() { Ok(rules) } else { Err(errors) }
}

/// Line and column in characters, both from 1.
fn place(text: &str, offset: usize) -> (usize, usize) {
    let head = text.get(..offset).unwrap_or(text);
    let start = head.rfind('\n').map_or(0, |n| n + 1);
    (head.matches('\n').count() + 1, head[start..].chars().count() + 1)
}
