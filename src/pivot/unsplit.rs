//! Settings that describe a column instead of splitting tables.
//!
//! A setting that is constant inside each input and differs between inputs says how the inputs differ; a comparison of the inputs is what
//! was asked for, so it must not put them into different tables. The same holds for the machine (`cpu`, `goos`, ...) wherever it is constant
//! inside each cell, and always for dates.

use std::sync::Arc;

use hashbrown::HashMap;
use smallvec::SmallVec;

use super::axis::{Axis, Results, Term, settings_of_columns};
use super::projection::Order;
use crate::base::Diagnostic;
use crate::model::Scheme;

/// What a setting speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Subject {
    /// The machine or the tool chain; the code of the warning when it differs.
    Machine(&'static str),
    /// When it was run, or how much was run.
    Date,
    /// Release of what was measured; columns often are its releases under other names.
    Release,
    /// Anything else.
    Other,
}

fn subject(key: &str) -> Subject {
    let word: String = key.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    match word.as_str() {
        "cpu" | "cpumodel" | "cpucache" | "cpus" | "cores" => Subject::Machine("cpu-differs"),
        "goos" | "os" | "kernel" => Subject::Machine("os-differs"),
        "goarch" | "arch" | "goamd64" => Subject::Machine("arch-differs"),
        "go" | "goversion" | "toolchain" => Subject::Machine("go-version-differs"),
        "jdk" | "jdkversion" | "vmversion" | "vmname" | "vminvoker" | "jvm" => Subject::Machine("jvm-differs"),
        "host" | "hostname" | "machine" => Subject::Machine("host-differs"),
        "date" | "time" | "timestamp" | "starttime" | "runstamp" => Subject::Date,
        // How much was measured says how exact a result is, not what it is.
        "forks" | "warmupforks" | "warmupiterations" | "measurementiterations" => Subject::Date,
        "rocksdb" => Subject::Release,
        _ => Subject::Other,
    }
}

/// Whether the setting says when a run was.
pub fn is_date(key: &str) -> bool {
    subject(key) == Subject::Date
}

/// The settings that do not split tables.
#[derive(Debug, Default)]
pub(super) struct Unsplit {
    /// In order of first sight.
    pub keys: Vec<Arc<str>>,
}

/// Values of one setting in one column.
#[derive(Default)]
struct Values {
    /// Distinct values in order of first sight; 0 is "missing".
    distinct: SmallVec<[u32; 4]>,
    /// Settings numbers that have it.
    seen: u32,
}

/// Finds them. `columns` has a field for the input if `by_file`.
pub(super) fn find(
    results: Results<'_>,
    columns: &Axis,
    rows: &Axis,
    by_file: bool,
    out: &mut Vec<Diagnostic>,
) -> Unsplit {
    let pairs = settings_of_columns(results.groups, &columns.ids);
    let mut count: Vec<u32> = vec![0; columns.tuples.len()];
    let mut keys: Vec<&str> = Vec::new();
    let mut key_number: HashMap<&str, u32> = HashMap::new();
    let mut texts: Vec<&str> = vec![""];
    let mut text_number: HashMap<&str, u32> = HashMap::new();
    let mut by_key: HashMap<(u32, u32), Values> = HashMap::new();
    for &(column, s) in &pairs {
        count[column as usize] += 1;
        for (key, value) in results.set.settings.get(s).into_iter().flat_map(|s| s.iter()) {
            let k = *key_number.entry(key).or_insert_with(|| {
                keys.push(key);
                keys.len() as u32 - 1
            });
            let v = *text_number.entry(value).or_insert_with(|| {
                texts.push(value);
                texts.len() as u32 - 1
            });
            let values = by_key.entry((k, column)).or_default();
            values.seen += 1;
            // Only "one", "several" and the sets of a machine's few values matter.
            if values.distinct.len() < 64 && !values.distinct.contains(&v) {
                values.distinct.push(v);
            }
        }
    }
    let go_keys = |key: &str| {
        results.groups.iter().any(|g| {
            g.scheme == Scheme::Go
                && results.set.settings.get(g.settings.0 as usize).is_some_and(|s| s.get(key).is_some())
        })
    };
    let mut unsplit = Unsplit::default();
    let mut machine: Vec<&str> = Vec::new();
    for (k, &key) in keys.iter().enumerate() {
        if results.names_plain(key) {
            continue;
        }
        let sets: SmallVec<[SmallVec<[u32; 4]>; 2]> = (0..columns.tuples.len() as u32)
            .map(|column| {
                let mut set = by_key.get(&(k as u32, column)).map_or_else(SmallVec::new, |v| v.distinct.clone());
                let seen = by_key.get(&(k as u32, column)).map_or(0, |v| v.seen);
                if seen < count[column as usize] {
                    set.push(0);
                }
                set.sort_unstable();
                set
            })
            .collect();
        let differs = sets.windows(2).any(|w| w[0] != w[1]);
        let constant = sets.iter().all(|s| s.len() == 1);
        if constant && !differs {
            continue;
        }
        let subject = subject(key);
        if constant && differs && (by_file || subject != Subject::Other) {
            let values: Vec<&str> = sets.iter().map(|s| s.first().map_or("", |&v| texts[v as usize])).collect();
            out.extend(difference(key, subject, columns, &values, || go_keys(key)));
            unsplit.keys.push(key.into());
        } else if subject == Subject::Date && (differs || !constant) {
            unsplit.keys.push(key.into());
        } else if matches!(subject, Subject::Machine(_)) && differs {
            machine.push(key);
        }
    }
    if !machine.is_empty() {
        for (key, code) in constant_in_cells(results, columns, rows, &unsplit, &machine) {
            out.push(Diagnostic::warning(
                code,
                format!("{key} differs between the results compared; differences may be the machine's"),
            ));
            unsplit.keys.push(key.into());
        }
    }
    unsplit
}

/// Those of `machine` that have one value in every cell, even if they do not split tables.
fn constant_in_cells<'k>(
    results: Results<'_>,
    columns: &Axis,
    rows: &Axis,
    unsplit: &Unsplit,
    machine: &[&'k str],
) -> Vec<(&'k str, &'static str)> {
    let mut without: Vec<Arc<str>> = unsplit.keys.clone();
    without.extend(machine.iter().map(|&k| Arc::from(k)));
    let rest = Term::config(&Order::First, results, &without, false);
    let mut first: HashMap<(u32, u32, u32), usize> = HashMap::new();
    let mut constant = vec![true; machine.len()];
    for (i, g) in results.groups.iter().enumerate() {
        let s = g.settings.0 as usize;
        let before = *first.entry((rest.ids[i], rows.ids[i], columns.ids[i])).or_insert(s);
        if before != s {
            let value = |s: usize, key| results.set.settings.get(s).and_then(|s| s.get(key));
            for (constant, &key) in constant.iter_mut().zip(machine) {
                *constant &= value(before, key) == value(s, key);
            }
        }
    }
    let keep = |(&key, constant): (&&'k str, bool)| match subject(key) {
        Subject::Machine(code) if constant => Some((key, code)),
        _ => None,
    };
    machine.iter().zip(constant).filter_map(keep).collect()
}

/// What to say of a setting that has one value in each column.
fn difference(
    key: &str,
    subject: Subject,
    columns: &Axis,
    values: &[&str],
    in_go: impl Fn() -> bool,
) -> Option<Diagnostic> {
    let mut groups: Vec<(&str, Vec<String>)> = Vec::new();
    let mut order: Vec<u32> = (0..values.len() as u32).collect();
    order.sort_by_key(|&c| columns.rank[c as usize]);
    for column in order {
        let value = values[column as usize];
        let label = label(columns, column);
        match groups.iter_mut().find(|g| g.0 == value) {
            Some(group) => group.1.push(label),
            None => groups.push((value, vec![label])),
        }
    }
    // What an input does not say is unknown, not different: a pasted table has no settings at all.
    if groups.iter().filter(|(value, _)| !value.is_empty()).count() < 2 {
        return None;
    }
    const SHOWN: usize = 4;
    let mut parts: Vec<String> = groups
        .iter()
        .take(SHOWN)
        .map(|(value, labels)| {
            let more = if labels.len() > SHOWN { ", ..." } else { "" };
            let value = if value.is_empty() { "none".to_owned() } else { format!("\"{value}\"") };
            format!("{}{more} {value}", labels[..labels.len().min(SHOWN)].join(", "))
        })
        .collect();
    if groups.len() > SHOWN {
        parts.push(format!("and {} more values", groups.len() - SHOWN));
    }
    let wide = groups.iter().any(|g| g.1.len() > 1);
    let what = format!("{key} differs: {}", parts.join(if wide { "; " } else { ", " }));
    match subject {
        Subject::Machine(code) => Some(Diagnostic::warning(code, format!("{what}; differences may be the machine's"))),
        Subject::Date => None,
        // A key in Go text is whatever its author wrote to tell the runs apart; the options that a program prints are its conditions.
        Subject::Release | Subject::Other if in_go() => Some(Diagnostic::note("setting-differs", what)),
        Subject::Release | Subject::Other => Some(Diagnostic::warning("setting-differs", what)),
    }
}

/// Non-empty values of a column's fields joined by a blank.
pub(super) fn label(axis: &Axis, tuple: u32) -> String {
    let values: Vec<&str> = axis.fields(tuple).map(|(_, v)| &**v).filter(|v| !v.is_empty()).collect();
    values.join(" ")
}
