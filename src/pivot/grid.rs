//! Lays the series of a set out as tables of rows and columns.
//!
//! Every list of keys (table, row, column) becomes an [`Axis`]: per group a small number, per number its place in output order. A cell is
//! where the three numbers and a unit meet; series that meet there are pooled. Time is linear in series and cells.

use std::sync::Arc;

use hashbrown::{HashMap, HashSet};

use super::axis::{Axis, CIRCUMSTANCES, Results, Term, terms};
use super::keys::{GoName, ResultKeys};
use super::projection::{Field, Order, Projection};
use super::unsplit::{self, Unsplit};
use super::{Column, Grid, GridCell, GridRow, GridTable, Keys, Pair};
use crate::base::Diagnostic;
use crate::model::{Group, Key, Scheme, Series, SeriesSet, Settings};
use crate::units::Unit;

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
struct Lists {
    table: Projection,
    row: Projection,
    col: Projection,
    /// `.mode`, `.table`, `.group`: they join the table keys.
    implied: Vec<Key>,
    /// `--col` was not given: parts of labels that all columns share are left out.
    short_labels: bool,
    /// Columns are tables of the input, labelled by their headings.
    headings: bool,
}

/// Lays out the groups of `set`, which is left without them; its inputs, settings and diagnostics stay.
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
    let heads: Vec<Head> = sheets.iter().map(|s| planes.head(results, &lists, s)).collect();
    let rows = planes.row_heads(results, &lists);
    let mut filler = Filler {
        varies: Varies::new(&named, &set.settings, plan.mode),
        place_of_row: vec![u32::MAX; rows.len()],
        place_of_col: vec![0; planes.cols.tuples.len()],
        heads: &rows,
        planes: &planes,
    };
    grid.tables = sheets
        .into_iter()
        .zip(heads)
        .map(|(sheet, head)| {
            let unit = units.finished(set, sheet.unit);
            let exact = set.assumptions.get(&unit.name).is_some_and(|a| a.exact);
            filler.fill(&mut groups, sheet, head, unit, exact)
        })
        .collect();
    grid
}

/// Leaves out what a fixed order does not list, and groups without a metric.
fn admit(set: &SeriesSet, groups: &mut Vec<Group>, copies: &mut Vec<u32>, plan: &Layout) {
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

/// A heading without Markdown's marks and the colon behind it: `## Before:` is `Before`.
fn bare_heading(heading: &str) -> String {
    let bare = heading.trim().trim_start_matches(['#', '*', '>', ' ']).trim_end_matches([':', '*', '#', ' ']);
    if bare.is_empty() { heading.to_owned() } else { bare.to_owned() }
}

/// Several inputs hold printed tables whose columns have equal headings.
fn headings_meet(groups: &[Group]) -> bool {
    let mut source_of: HashMap<&str, u32> = HashMap::new();
    groups
        .iter()
        .filter_map(|g| g.column.as_deref().map(|c| (c, g.source.0)))
        .any(|(column, source)| *source_of.entry(column).or_insert(source) != source)
}

impl Lists {
    fn new(set: &SeriesSet, groups: &[Group], plan: &Layout) -> Self {
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
fn has_several(groups: &[Group], key: &str) -> bool {
    let mut of_source: HashMap<u32, &str> = HashMap::new();
    groups
        .iter()
        .filter_map(|g| g.key(key).map(|v| (g.source.0, v)))
        .any(|(source, value)| *of_source.entry(source).or_insert(value) != value)
}

/// Some JMH benchmark stands in several tables (or groups) of the input.
fn share_names(groups: &[Group], key: &str) -> bool {
    let mut of_name: HashMap<(&str, Option<&str>, Option<&str>), &str> = HashMap::new();
    groups
        .iter()
        .filter(|g| g.scheme == Scheme::Jmh && g.column.is_none())
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
        g.keys.iter().for_each(|(k, _)| add(k.to_string()));
        if g.scheme == Scheme::Go {
            GoName::new(&g.name).keyed_parts().for_each(|(k, _)| add(format!("/{k}")));
        }
    }
    for s in results.set.settings.iter().take(100) {
        s.iter().for_each(|(k, _)| add(k.to_owned()));
    }
    keys.join(" ")
}

/// Units by base name: those that differ in their printed spelling alone are one.
struct Units {
    /// Per unit of the set the number of its base.
    base: Vec<u32>,
    /// Per base the first unit with it.
    first: Vec<u32>,
}

impl Units {
    fn new(set: &SeriesSet) -> Self {
        let mut numbers: HashMap<&str, u32> = HashMap::new();
        let mut first = Vec::new();
        let mut base = Vec::with_capacity(set.units.len());
        for (i, unit) in set.units.iter().enumerate() {
            base.push(*numbers.entry(&unit.name).or_insert_with(|| {
                first.push(i as u32);
                first.len() as u32 - 1
            }));
        }
        Units { base, first }
    }

    /// The unit of a base with what `Unit` lines said.
    fn finished(&self, set: &SeriesSet, base: u32) -> Unit {
        let mut unit = set.units[self.first[base as usize] as usize].clone();
        if let Some(better) = set.assumptions.get(&unit.name).and_then(|a| a.better) {
            unit.better = Some(better);
        }
        unit
    }
}

/// The three axes.
struct Planes {
    tables: Axis,
    rows: Axis,
    cols: Axis,
    unsplit: Unsplit,
    /// Every table has all columns of its kind, so that the base is the same everywhere.
    all_columns: bool,
    /// Where columns hold a copy number, its term.
    copies: Option<usize>,
    /// Kinds of producers that columns have results of, as `(kind, column)`.
    kinds: HashSet<(Scheme, u32)>,
    benchstat: bool,
}

/// A series and where it goes.
struct Entry {
    group: u32,
    series: u32,
}

/// A table before it is filled.
struct Sheet {
    table: u32,
    unit: u32,
    entries: Vec<Entry>,
}

/// What stands above a table.
struct Head {
    keys: Vec<Pair>,
    /// Numbers of the columns in output order.
    order: Vec<u32>,
    columns: Vec<Column>,
}

impl Planes {
    fn new(
        results: Results<'_>,
        lists: &Lists,
        plan: &Layout,
        copies: Vec<u32>,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Self {
        let n = results.groups.len();
        let benchstat = plan.mode == Mode::Benchstat;
        let mut col_terms = terms(&lists.col, results, &[], benchstat);
        let copied = (!copies.is_empty() && copies.iter().any(|&c| c > 0)).then_some(col_terms.len());
        if copied.is_some() {
            col_terms.push(Term::copies(copies));
        }
        let cols = Axis::new(col_terms, n);
        let rows = Axis::new(terms(&lists.row, results, &[], benchstat), n);
        let by_file = lists.col.names(&Key::File);
        let unsplit = if benchstat || !lists.table.names(&Key::Config) {
            Unsplit::default()
        } else {
            unsplit::find(results, &cols, &rows, by_file, diagnostics)
        };
        let mut table_terms = terms(&lists.table, results, &unsplit.keys, benchstat);
        let implied = lists.implied.iter().map(|key| Field { key: key.clone(), order: Order::First });
        table_terms.extend(implied.map(|field| Term::simple(&field, results)));
        let tables = Axis::new(table_terms, n);
        let kinds = results.groups.iter().zip(&cols.ids).map(|(g, &c)| (g.scheme, c)).collect();
        Planes { tables, rows, cols, unsplit, all_columns: by_file && !benchstat, copies: copied, kinds, benchstat }
    }

    /// The tables in output order and what goes into each.
    fn sheets(&self, groups: &[Group], units: &Units) -> Vec<Sheet> {
        let mut at: HashMap<(u32, u32), u32> = HashMap::new();
        let mut seen: Vec<u32> = vec![u32::MAX; units.first.len()];
        let mut next_unit = 0;
        let mut sheets: Vec<Sheet> = Vec::new();
        for (g, group) in groups.iter().enumerate() {
            let table = self.tables.ids[g];
            for (s, (unit, series)) in group.series.iter().enumerate() {
                let Some(&base) = units.base.get(unit.0 as usize) else { continue };
                if series.is_empty() && series.printed.is_none() {
                    continue;
                }
                if seen[base as usize] == u32::MAX {
                    seen[base as usize] = next_unit;
                    next_unit += 1;
                }
                let sheet = *at.entry((table, base)).or_insert_with(|| {
                    sheets.push(Sheet { table, unit: base, entries: Vec::new() });
                    sheets.len() as u32 - 1
                });
                sheets[sheet as usize].entries.push(Entry { group: g as u32, series: s as u32 });
            }
        }
        sheets.sort_by_key(|s| (self.tables.rank[s.table as usize], seen[s.unit as usize]));
        sheets
    }

    /// Keys and columns of a table.
    fn head(&self, results: Results<'_>, lists: &Lists, sheet: &Sheet) -> Head {
        let mut present = vec![false; self.cols.tuples.len()];
        for e in &sheet.entries {
            present[self.cols.ids[e.group as usize] as usize] = true;
        }
        if self.all_columns {
            self.add_kindred(results.groups, sheet, &mut present);
        }
        let mut order: Vec<u32> = (0..present.len() as u32).filter(|&c| present[c as usize]).collect();
        order.sort_by_key(|&c| self.cols.rank[c as usize]);
        let mut columns: Vec<Column> = order.iter().map(|&c| self.column(c)).collect();
        if lists.short_labels {
            shorten(&mut columns);
        }
        if lists.headings {
            self.head_by_headings(results.groups, &order, &mut columns);
        }
        if let Some(term) = self.copies {
            for (&c, column) in order.iter().zip(&mut columns) {
                let copy = self.cols.tuples[c as usize][term];
                if copy > 0 {
                    column.label = format!("{}#{}", column.label, copy + 1);
                }
            }
        }
        let all = self.tables.fields(sheet.table).map(|(k, v)| (k.clone(), v.clone()));
        let mut keys: Vec<Pair> =
            if self.benchstat { all.collect() } else { all.filter(|(_, v)| !v.is_empty()).collect() };
        self.describe(results, sheet, &order, &mut columns, &mut keys);
        Head { keys, order, columns }
    }

    fn column(&self, c: u32) -> Column {
        let keys: Vec<Pair> = self.cols.fields(c).map(|(k, v)| (k.clone(), v.clone())).collect();
        Column { label: unsplit::label(&self.cols, c), fields: keys.len(), keys }
    }

    /// Adds columns that hold results of the same kind of producer, though none in this table.
    fn add_kindred(&self, groups: &[Group], sheet: &Sheet, present: &mut [bool]) {
        let mut kinds: Vec<Scheme> = Vec::new();
        for e in &sheet.entries {
            let scheme = groups[e.group as usize].scheme;
            if !kinds.contains(&scheme) {
                kinds.push(scheme);
            }
        }
        for &(scheme, column) in &self.kinds {
            present[column as usize] |= kinds.contains(&scheme);
        }
    }

    /// Labels that are table numbers become the tables' headings where these differ, else `table 1`.
    fn head_by_headings(&self, groups: &[Group], order: &[u32], columns: &mut [Column]) {
        let headings: Vec<&str> =
            order.iter().map(|&c| groups[self.cols.first[c as usize] as usize].key(".heading").unwrap_or("")).collect();
        let distinct: HashSet<&str> = headings.iter().copied().filter(|h| !h.is_empty()).collect();
        let use_headings = distinct.len() == headings.len();
        for (column, heading) in columns.iter_mut().zip(headings) {
            column.label = if use_headings { bare_heading(heading) } else { format!("table {}", column.label) };
        }
    }

    /// Settings that do not split tables: keys of the table where they are the same in all its columns, else of the columns.
    fn describe(
        &self,
        results: Results<'_>,
        sheet: &Sheet,
        order: &[u32],
        columns: &mut [Column],
        keys: &mut Vec<Pair>,
    ) {
        if self.unsplit.keys.is_empty() {
            return;
        }
        let mut seen: HashSet<(u32, usize)> = HashSet::new();
        for e in &sheet.entries {
            let g = e.group as usize;
            seen.insert((self.cols.ids[g], results.groups[g].settings.0 as usize));
        }
        for key in &self.unsplit.keys {
            // Per column its one value; `Some(None)` after a second one.
            let mut values: HashMap<u32, Option<&str>> = HashMap::new();
            for &(column, s) in &seen {
                let value = results.set.settings.get(s).and_then(|s| s.get(key)).unwrap_or("");
                let slot = values.entry(column).or_insert(Some(value));
                if *slot != Some(value) {
                    *slot = None;
                }
            }
            let of: Vec<Option<&str>> = order.iter().map(|c| values.get(c).copied().flatten()).collect();
            match of.first() {
                Some(Some(first)) if of.len() == values.len() && of.iter().all(|v| v.as_ref() == Some(first)) => {
                    keys.push((key.clone(), Arc::from(*first)));
                }
                _ => {
                    for (column, value) in columns.iter_mut().zip(of) {
                        if let Some(value) = value.filter(|v| !v.is_empty()) {
                            column.keys.push((key.clone(), value.into()));
                        }
                    }
                }
            }
        }
    }

    /// Name and keys of every row.
    fn row_heads(&self, results: Results<'_>, lists: &Lists) -> Vec<(Arc<str>, Keys)> {
        let printed = matches!(lists.row.fields.as_slice(), [Field { key: Key::FullName, .. }]);
        let mut words: HashMap<String, Arc<str>> = HashMap::new();
        let mut rows: Vec<(Arc<str>, Vec<Pair>)> = (0..self.rows.tuples.len() as u32)
            .map(|r| {
                let g = &results.groups[self.rows.first[r as usize] as usize];
                let name = if printed {
                    self.rows.fields(r).next().map_or_else(|| "".into(), |(_, v)| v.clone())
                } else {
                    unsplit::label(&self.rows, r).into()
                };
                let keys = if self.benchstat { Vec::new() } else { own_keys(results, lists, g, &mut words) };
                (name, keys)
            })
            .collect();
        if self.benchstat {
            return rows.into_iter().map(|(name, keys)| (name, keys.into())).collect();
        }
        // A row that pools different results has only the keys that they share.
        for (i, g) in results.groups.iter().enumerate() {
            let r = self.rows.ids[i] as usize;
            let first = self.rows.first[r] as usize;
            let f = &results.groups[first];
            if first != i && !(g.name == f.name && g.keys == f.keys) {
                let keys = own_keys(results, lists, g, &mut words);
                rows[r].1.retain(|pair| keys.contains(pair));
            }
        }
        rows.into_iter().map(|(name, keys)| (name, keys.into())).collect()
    }
}

/// Keys of a result that belong to its row: the fields of `--row`, its name, parts and parameters, less those named in other lists.
fn own_keys(results: Results<'_>, lists: &Lists, g: &Group, words: &mut HashMap<String, Arc<str>>) -> Vec<Pair> {
    let mut out: Vec<Pair> = Vec::with_capacity(4);
    let mut word = |key: &str| match words.get(key) {
        Some(word) => word.clone(),
        None => {
            let word: Arc<str> = key.into();
            words.insert(key.to_owned(), word.clone());
            word
        }
    };
    let mut add = |key: &str, value: &str| {
        if !value.is_empty() && !out.iter().any(|(k, _)| &**k == key) {
            out.push((word(key), value.into()));
        }
    };
    for field in &lists.row.fields {
        if !matches!(field.key, Key::FullName | Key::Config | Key::File) {
            let value = results.value_in(g, &field.key);
            add(&field.key.to_string(), &value);
        }
    }
    if g.scheme == Scheme::Go {
        let name = GoName::new(&g.name);
        if !results.is_named(&Key::Name) {
            add(".name", name.base());
        }
        for (key, value) in name.keyed_parts() {
            if key != "gomaxprocs" && !results.names_part(key) {
                add(&format!("/{key}"), value);
            }
        }
        if !results.names_part("gomaxprocs") {
            add("/gomaxprocs", name.procs());
        }
    } else if !results.is_named(&Key::Name) {
        add(".name", &g.name);
    }
    for (key, value) in &g.keys {
        if !CIRCUMSTANCES.contains(&&**key) && !results.names_plain(key) {
            add(key, value);
        }
    }
    out
}

/// Which keys a pooled cell may vary in.
struct Varies<'a> {
    mode: Mode,
    named: &'a [Key],
    settings: &'a [Settings],
    /// Settings in order of first sight, if `.config` is in no list.
    config: Option<HashMap<&'a str, usize>>,
    /// `.fullname` is in no list.
    full_name: bool,
    /// `.file` is in no list.
    file: bool,
}

impl<'a> Varies<'a> {
    fn new(named: &'a [Key], settings: &'a [Settings], mode: Mode) -> Self {
        let config = (!named.contains(&Key::Config)).then(|| {
            let mut places = HashMap::new();
            for (key, _) in settings.iter().flat_map(Settings::iter) {
                let next = places.len();
                places.entry(key).or_insert(next);
            }
            places
        });
        let full_name = !named.contains(&Key::FullName);
        let file = mode == Mode::Abstat && !named.contains(&Key::File);
        Varies { mode, named, settings, config, full_name, file }
    }

    fn is_named(&self, key: &str) -> bool {
        self.named.iter().any(|n| matches!(n, Key::Plain(k) if &**k == key))
    }

    /// Adds the keys in which `a` and `b` differ to `out`.
    fn add(&self, a: &Group, b: &Group, out: &mut Vec<String>) {
        let mut note = |key: &str| {
            if !out.iter().any(|k| k == key) {
                out.push(key.to_owned());
            }
        };
        if self.config.is_some() && a.settings != b.settings {
            let of = |g: &Group| self.settings.get(g.settings.0 as usize);
            for (key, _) in of(a).into_iter().chain(of(b)).flat_map(Settings::iter) {
                let passes = self.mode == Mode::Abstat && unsplit::is_date(key);
                if !passes && !self.is_named(key) && of(a).and_then(|s| s.get(key)) != of(b).and_then(|s| s.get(key)) {
                    note(key);
                }
            }
        }
        if self.full_name && a.name != b.name {
            self.add_names(a, b, &mut note);
        }
        if self.mode == Mode::Abstat {
            if a.keys != b.keys {
                for (key, _) in a.keys.iter().chain(&b.keys) {
                    let passes = matches!(&**key, ".heading" | ".row" | "date" | "job_id");
                    if !passes && !self.is_named(key) && a.key(key) != b.key(key) {
                        note(key);
                    }
                }
            }
            if self.file && (a.source != b.source || a.column != b.column) {
                note(".file");
            }
        }
    }

    fn add_names(&self, a: &Group, b: &Group, note: &mut dyn FnMut(&str)) {
        let (x, y) = (GoName::new(&a.name), GoName::new(&b.name));
        let whole = x.without(self.named) != y.without(self.named);
        if self.mode == Mode::Benchstat {
            if whole {
                note(".fullname");
            }
            return;
        }
        let mut told = false;
        let mut differs = |key: Key, differ: bool| {
            if differ && !self.named.contains(&key) {
                note(&key.to_string());
                told = true;
            }
        };
        if a.scheme != Scheme::Go || b.scheme != Scheme::Go {
            differs(Key::Name, true);
            return;
        }
        differs(Key::Name, x.base() != y.base());
        for (key, _) in x.keyed_parts().chain(y.keyed_parts()) {
            differs(Key::Part(key.into()), x.part(key) != y.part(key));
        }
        differs(Key::Part("gomaxprocs".into()), x.procs() != y.procs());
        if !told && whole {
            note(".fullname");
        }
    }

    /// Puts the keys of a cell in order: settings as first seen, then the rest.
    fn sort(&self, keys: &mut [String]) {
        if let Some(places) = &self.config {
            keys.sort_by_key(|k| places.get(k.as_str()).copied().unwrap_or(usize::MAX));
        }
    }
}

/// Moves the series of tables into their cells.
struct Filler<'a> {
    planes: &'a Planes,
    heads: &'a [(Arc<str>, Keys)],
    varies: Varies<'a>,
    /// Per row number its place in the table at hand; `u32::MAX` otherwise.
    place_of_row: Vec<u32>,
    place_of_col: Vec<u32>,
}

impl Filler<'_> {
    fn fill(&mut self, groups: &mut [Group], sheet: Sheet, head: Head, unit: Unit, exact: bool) -> GridTable {
        let planes = self.planes;
        let mut numbers: Vec<u32> = Vec::new();
        for e in &sheet.entries {
            let r = planes.rows.ids[e.group as usize];
            let place = &mut self.place_of_row[r as usize];
            if *place == u32::MAX {
                *place = 0;
                numbers.push(r);
            }
        }
        numbers.sort_unstable_by_key(|&r| planes.rows.rank[r as usize]);
        for (place, &r) in numbers.iter().enumerate() {
            self.place_of_row[r as usize] = place as u32;
        }
        for (place, &c) in head.order.iter().enumerate() {
            self.place_of_col[c as usize] = place as u32;
        }
        let width = head.order.len();
        let empty_row = |&r: &u32| {
            let (name, keys) = &self.heads[r as usize];
            let mut cells = Vec::with_capacity(width);
            cells.resize_with(width, || None);
            GridRow { name: name.clone(), keys: keys.clone(), cells }
        };
        let mut rows: Vec<GridRow> = numbers.iter().map(empty_row).collect();
        // The first group of every filled cell.
        let mut first: Vec<u32> = vec![u32::MAX; rows.len() * width];
        for e in sheet.entries {
            let g = e.group as usize;
            let row = self.place_of_row[planes.rows.ids[g] as usize] as usize;
            let col = self.place_of_col[planes.cols.ids[g] as usize] as usize;
            let series: Series = std::mem::take(&mut groups[g].series[e.series as usize].1);
            let first = &mut first[row * width + col];
            match &mut rows[row].cells[col] {
                Some(cell) => {
                    cell.series.merge(&series);
                    cell.source = cell.source.filter(|&s| s == groups[g].source);
                    if *first != e.group {
                        self.varies.add(&groups[*first as usize], &groups[g], &mut cell.varies_in);
                    }
                }
                empty => {
                    *first = e.group;
                    *empty = Some(GridCell { series, source: Some(groups[g].source), varies_in: Vec::new() });
                }
            }
        }
        for cell in rows.iter_mut().flat_map(|r| r.cells.iter_mut().flatten()).filter(|c| c.varies_in.len() > 1) {
            self.varies.sort(&mut cell.varies_in);
        }
        for &r in &numbers {
            self.place_of_row[r as usize] = u32::MAX;
        }
        GridTable { keys: head.keys.into(), unit, exact, columns: head.columns, rows }
    }
}

/// Leaves out the parts of labels that all columns share.
fn shorten(columns: &mut [Column]) {
    let Some(first) = columns.first().filter(|c| c.fields > 1) else { return };
    let n = first.fields;
    let shared: Vec<bool> = (0..n).map(|i| columns.windows(2).all(|w| w[0].keys.get(i) == w[1].keys.get(i))).collect();
    if shared.iter().all(|&s| s) {
        return;
    }
    for column in columns {
        let parts = column.keys.iter().take(n).zip(&shared).filter(|((_, v), shared)| !**shared && !v.is_empty());
        column.label = parts.map(|((_, v), _)| &**v).collect::<Vec<_>>().join(" ");
    }
}
