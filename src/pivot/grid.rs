//! Lays the series of a set out as tables of rows and columns.
//!
//! Every list of keys (table, row, column) becomes an axis: per group a small number, per number its place in output order. A cell is
//! where the three numbers and a unit meet; series that meet there are pooled. Time is linear in series and cells.

use hashbrown::{HashMap, HashSet};

use super::Grid;
use super::axis::Results;
use super::keys::{GoName, ResultKeys};
use super::projection::{Order, Projection};
use super::rows::row_heads;
use super::sheets::{Planes, Units};
use super::stock::{Places, Stock};
use super::varies::Varies;
use crate::base::Diagnostic;
use crate::model::{Group, Groups, Key, Scheme, SeriesSet};

/// Whose rules hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// abstat's: what describes the inputs does not split tables, everything comes in order of first sight.
    #[default]
    Abstat,
    /// benchstat's, byte for byte.
    Benchstat,
}

/// How to lay out.
#[derive(Clone, Debug, Default)]
pub struct Layout {
    /// Whose rules hold.
    pub mode: Mode,
    /// What makes a table, beside the unit. Default: `.config`.
    pub table: Option<Projection>,
    /// What makes a row. Default: `.fullname`.
    pub row: Option<Projection>,
    /// What makes a column. Default: `.file`; see [`layout`].
    pub col: Option<Projection>,
    /// Keys that make nothing and are not missed.
    pub ignore: Projection,
    /// Per group of the set a number; groups that differ in it are never pooled but stand in columns `LABEL`, `LABEL#2`, ...
    /// Empty: all may be pooled.
    pub copies: Vec<u32>,
}

/// The lists as they will be used.
pub(super) struct Lists {
    pub table: Projection,
    pub row: Projection,
    pub col: Projection,
    /// `.mode`, `.table`, `.group`: they join the table keys.
    pub implied: Vec<Key>,
    /// `--col` was not given: parts of labels that all columns share are left out.
    pub short_labels: bool,
    /// Columns are tables of the input, labelled by their headings.
    pub headings: bool,
}

/// Lays out the groups of `set`, which is left without them and their settings; its inputs and diagnostics stay.
///
/// Where `plan.col` is not given, columns are inputs (`.file`); with reports (`test`, `version`) also versions; the tables or groups of a
/// single input with several JMH tables that share benchmark names.
pub fn layout(set: &mut SeriesSet, plan: &Layout) -> Grid {
    let mut groups = std::mem::take(&mut set.groups);
    let mut copies = plan.copies.clone();
    admit(set, &mut groups, &mut copies, plan);
    let mut grid = Grid::default();
    if groups.is_empty() {
        return grid;
    }
    let lists = Lists::new(set, &groups, plan);
    let mut named: Vec<Key> = [&lists.table, &lists.row, &lists.col, &plan.ignore]
        .iter()
        .flat_map(|list| list.fields.iter().map(|f| f.key.clone()))
        .collect();
    named.extend(lists.implied.iter().cloned());
    let results = Results {
        set,
        groups: &groups,
        named: &named,
        label_columns: plan.mode == Mode::Abstat && headings_meet(&groups),
    };
    if plan.mode == Mode::Abstat {
        grid.diagnostics.extend(unknown_keys(results, plan));
    }
    let planes = Planes::new(results, &lists, plan, copies, &mut grid.diagnostics);
    let units = Units::new(set);
    let sheets = planes.sheets(&groups, &units);
    let mut supplies = Vec::with_capacity(sheets.len());
    for sheet in sheets {
        let head = planes.head(results, &lists, &sheet);
        let unit = units.finished(set, &sheet);
        supplies.push(sheet.supply(&head));
        grid.tables.push(head.table(unit, set));
    }
    let heads = row_heads(results, &planes.rows, &lists.row, plan.mode == Mode::Abstat);
    let (rows, cols) = (Places::new(planes.rows), Places::new(planes.cols));
    let varies = Varies::new(named, std::mem::take(&mut set.settings), plan.mode);
    grid.stock = Some(Box::new(Stock::new(groups, rows, cols, heads, varies, supplies)));
    grid
}

/// Leaves out what a fixed order does not list, and groups without a metric.
fn admit(set: &SeriesSet, groups: &mut Groups, copies: &mut Vec<u32>, plan: &Layout) {
    let lists: Vec<&Projection> = [plan.table.as_ref(), plan.row.as_ref(), plan.col.as_ref(), Some(&plan.ignore)]
        .into_iter()
        .flatten()
        .filter(|list| list.fields.iter().any(|f| matches!(f.order, Order::Fixed(_))))
        .collect();
    copies.resize(if copies.is_empty() { 0 } else { groups.len() }, 0);
    if lists.is_empty() && groups.iter().all(|g| !g.series.is_empty()) {
        return;
    }
    let keep: Vec<bool> = groups
        .iter()
        .map(|g| {
            let keys = ResultKeys::of_group(g, set);
            !g.series.is_empty() && lists.iter().all(|list| list.admits(&keys))
        })
        .collect();
    let mut kept = keep.iter();
    groups.retain(|_| kept.next().copied().unwrap_or(true));
    let mut kept = keep.iter();
    copies.retain(|_| kept.next().copied().unwrap_or(true));
}

/// Several inputs hold printed tables whose columns have equal headings.
fn headings_meet(groups: &[Box<Group>]) -> bool {
    let mut source_of: HashMap<&str, u32> = HashMap::new();
    groups
        .iter()
        .filter_map(|g| g.column().map(|c| (c, g.source.0)))
        .any(|(column, source)| *source_of.entry(column).or_insert(source) != source)
}

impl Lists {
    fn new(set: &SeriesSet, groups: &[Box<Group>], plan: &Layout) -> Self {
        let table = plan.table.clone().unwrap_or_else(|| Projection::of([Key::Config]));
        let row = plan.row.clone().unwrap_or_else(|| Projection::of([Key::FullName]));
        let mut lists = Lists {
            col: plan.col.clone().unwrap_or_else(|| Projection::of([Key::File])),
            table,
            row,
            implied: Vec::new(),
            short_labels: false,
            headings: false,
        };
        if plan.mode == Mode::Benchstat {
            return lists;
        }
        let plain = |key: &str| Key::Plain(key.into());
        let named = |lists: &Lists, key: &Key| {
            [&lists.table, &lists.row, &lists.col, &plan.ignore].iter().any(|list| list.names(key))
        };
        if plan.col.is_none() {
            lists.short_labels = true;
            let sources: HashSet<u32> = groups.iter().map(|g| g.source.0).collect();
            let single = sources.len() == 1 && set.inputs.len() <= 1;
            if single && !named(&lists, &plain(".group")) && share_names(groups, ".group") {
                lists.col = Projection::of([plain(".group")]);
            } else if single && !named(&lists, &plain(".table")) && share_names(groups, ".table") {
                lists.col = Projection::of([plain(".table")]);
                lists.headings = true;
            } else if !named(&lists, &plain("version"))
                && groups.iter().any(|g| g.key("test").is_some() && g.key("version").is_some())
            {
                lists.col = Projection::of([Key::File, plain("version")]);
            }
        }
        if groups.iter().any(|g| g.key(".mode").is_some()) && !named(&lists, &plain(".mode")) {
            lists.implied.push(plain(".mode"));
        }
        for key in [".table", ".group"] {
            if !named(&lists, &plain(key)) && has_several(groups, key) {
                lists.implied.push(plain(key));
            }
        }
        lists
    }
}

/// Some input has several values of `key`.
fn has_several(groups: &[Box<Group>], key: &str) -> bool {
    let mut of_source: HashMap<u32, &str> = HashMap::new();
    groups
        .iter()
        .filter_map(|g| g.key(key).map(|v| (g.source.0, v)))
        .any(|(source, value)| *of_source.entry(source).or_insert(value) != value)
}

/// Some JMH benchmark stands in several tables (or groups) of the input.
fn share_names(groups: &[Box<Group>], key: &str) -> bool {
    let mut of_name: HashMap<(&str, Option<&str>, Option<&str>), &str> = HashMap::new();
    groups
        .iter()
        .filter(|g| g.scheme == Scheme::Jmh && g.column().is_none())
        .filter_map(|g| g.key(key).map(|v| ((&*g.name, g.key(".label"), g.key(".mode")), v)))
        .any(|(name, value)| *of_name.entry(name).or_insert(value) != value)
}

/// Warnings about keys that no result has.
fn unknown_keys(results: Results<'_>, plan: &Layout) -> Vec<Diagnostic> {
    let mut out = Vec::new();
    let lists = [
        ("--table", plan.table.as_ref()),
        ("--row", plan.row.as_ref()),
        ("--col", plan.col.as_ref()),
        ("--ignore", Some(&plan.ignore)),
    ];
    for (flag, list) in lists {
        for field in list.into_iter().flat_map(|l| &l.fields) {
            let known = match &field.key {
                Key::Plain(key) => {
                    results.groups.iter().any(|g| g.key(key).is_some())
                        || results.set.settings.iter().any(|s| s.get(key).is_some())
                }
                Key::Part(part) => results.groups.iter().any(|g| {
                    let name = GoName::new(&g.name);
                    g.scheme == Scheme::Go
                        && (!name.part(part).is_empty()
                            || name.keyed_parts().any(|(k, _)| k == &**part)
                            || &**part == "gomaxprocs")
                }),
                _ => true,
            };
            if !known {
                let message = format!("{flag}: no result has the key {}", field.key);
                out.push(
                    Diagnostic::warning("unknown-key", message).hint(format!("keys here: {}", some_keys(results))),
                );
            }
        }
    }
    out
}

/// The keys that results have, as many as fit a line.
fn some_keys(results: Results<'_>) -> String {
    let mut keys: Vec<String> = vec![".name".into(), ".fullname".into(), ".file".into()];
    let mut add = |key: String| {
        if !keys.contains(&key) && keys.len() < 16 {
            keys.push(key);
        }
    };
    for g in results.groups.iter().take(1000) {
        g.keys().iter().for_each(|(k, _)| add(k.to_string()));
        if g.scheme == Scheme::Go {
            GoName::new(&g.name).keyed_parts().for_each(|(k, _)| add(format!("/{k}")));
        }
    }
    for s in results.set.settings.iter().take(100) {
        s.iter().for_each(|(k, _)| add(k.to_owned()));
    }
    keys.join(" ")
}
