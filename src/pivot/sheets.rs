//! From axes to tables: what goes where and what stands above.

use std::sync::Arc;

use hashbrown::{HashMap, HashSet};

use super::axis::{Axis, Results, Term, terms};
use super::grid::{Layout, Lists, Mode};
use super::projection::{Field, Order};
use super::stock::{NONE, Supply};
use super::unsplit::{self, Unsplit};
use super::{Column, GridTable, Pair};
use crate::base::Diagnostic;
use crate::model::{Group, Key, Scheme, SeriesSet};
use crate::units::{Unit, UnitId};

/// Units by base name: those that differ in their printed spelling alone are one.
pub(super) struct Units {
    /// Per unit of the set the number of its base.
    base: Vec<u32>,
    /// Per base the first unit with it.
    first: Vec<u32>,
}

impl Units {
    pub fn new(set: &SeriesSet) -> Self {
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

    /// The unit of a table with what `Unit` lines said.
    pub fn finished(&self, set: &SeriesSet, sheet: &Sheet) -> Unit {
        let mut unit = set.units[self.first[sheet.unit as usize] as usize].clone();
        if let Some(better) = set.assumptions.get(&unit.name).and_then(|a| a.better) {
            unit.better = Some(better);
        }
        unit
    }
}

/// The three axes.
pub(super) struct Planes {
    tables: Axis,
    pub rows: Axis,
    pub cols: Axis,
    unsplit: Unsplit,
    /// Every table has all columns of its kind, so that the base is the same everywhere.
    all_columns: bool,
    /// Where columns hold a copy number, its term.
    copies: Option<usize>,
    /// Kinds of producers that columns have results of, as `(kind, column)`.
    kinds: HashSet<(Scheme, u32)>,
    benchstat: bool,
}

/// A table before it is filled.
pub(super) struct Sheet {
    table: u32,
    unit: u32,
    /// Group and place in the group of each of its series.
    series: Vec<(u32, u32)>,
}

impl Sheet {
    fn groups(&self) -> impl Iterator<Item = usize> {
        self.series.iter().map(|&(g, _)| g as usize)
    }

    /// What the table with this head is filled from.
    pub fn supply(self, head: &Head) -> Supply {
        Supply { series: self.series, columns: head.order.clone() }
    }
}

/// What stands above a table.
pub(super) struct Head {
    keys: Vec<Pair>,
    /// Numbers of the columns in output order.
    order: Vec<u32>,
    columns: Vec<Column>,
}

impl Head {
    /// The table, without rows.
    pub fn table(self, unit: Unit, set: &SeriesSet) -> GridTable {
        let exact = set.assumptions.get(&unit.name).is_some_and(|a| a.exact);
        GridTable { keys: self.keys.into(), unit, exact, columns: self.columns, rows: Vec::new() }
    }
}

impl Planes {
    pub fn new(
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
    pub fn sheets(&self, groups: &[Box<Group>], units: &Units) -> Vec<Sheet> {
        let mut at: HashMap<(u32, u32), u32> = HashMap::new();
        let mut seen: Vec<u32> = vec![NONE; units.first.len()];
        let mut next_unit = 0;
        let mut list: Vec<Sheet> = Vec::new();
        // Sheets of the group before, unit by unit: the next one mostly has the same.
        let mut before: Vec<(UnitId, u32)> = Vec::new();
        let mut table_before = NONE;
        for (g, group) in groups.iter().enumerate() {
            let table = self.tables.ids[g];
            if table != table_before {
                before.clear();
                table_before = table;
            }
            for (s, (unit, series)) in group.series.iter().enumerate() {
                let Some(&base) = units.base.get(unit.0 as usize) else { continue };
                if series.is_empty() && series.printed().is_none() {
                    continue;
                }
                let sheet = match before.get(s) {
                    Some(&(u, sheet)) if u == *unit => sheet,
                    _ => {
                        if seen[base as usize] == NONE {
                            seen[base as usize] = next_unit;
                            next_unit += 1;
                        }
                        let sheet = *at.entry((table, base)).or_insert_with(|| {
                            list.push(Sheet { table, unit: base, series: Vec::new() });
                            list.len() as u32 - 1
                        });
                        before.truncate(s);
                        if before.len() == s {
                            before.push((*unit, sheet));
                        }
                        sheet
                    }
                };
                list[sheet as usize].series.push((g as u32, s as u32));
            }
        }
        list.iter_mut().for_each(|s| s.series.shrink_to_fit());
        list.sort_by_key(|s| (self.tables.rank[s.table as usize], seen[s.unit as usize]));
        list
    }

    /// Keys and columns of a table.
    pub fn head(&self, results: Results<'_>, lists: &Lists, sheet: &Sheet) -> Head {
        let mut present = vec![false; self.cols.tuples.len()];
        for g in sheet.groups() {
            present[self.cols.ids[g] as usize] = true;
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
    fn add_kindred(&self, groups: &[Box<Group>], sheet: &Sheet, present: &mut [bool]) {
        let mut kinds: Vec<Scheme> = Vec::new();
        for g in sheet.groups() {
            let scheme = groups[g].scheme;
            if !kinds.contains(&scheme) {
                kinds.push(scheme);
            }
        }
        for &(scheme, column) in &self.kinds {
            present[column as usize] |= kinds.contains(&scheme);
        }
    }

    /// Labels that are table numbers become the tables' headings where these differ, else `table 1`.
    fn head_by_headings(&self, groups: &[Box<Group>], order: &[u32], columns: &mut [Column]) {
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
        for g in sheet.groups() {
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
}

/// A heading without Markdown's marks and the colon behind it: `## Before:` is `Before`.
fn bare_heading(heading: &str) -> String {
    let bare = heading.trim().trim_start_matches(['#', '*', '>', ' ']).trim_end_matches([':', '*', '#', ' ']);
    if bare.is_empty() { heading.to_owned() } else { bare.to_owned() }
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
