//! One axis of a grid: the values that groups have for the fields of a projection, as small numbers in output order.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::hash::BuildHasher;
use std::sync::Arc;

use hashbrown::hash_table::Entry;
use hashbrown::{DefaultHashBuilder, HashMap, HashSet, HashTable};
use smallvec::SmallVec;

use super::keys::{GoName, ResultKeys};
use super::projection::{Field, Order, Projection};
use crate::model::{Group, Key, Scheme, SeriesSet};

/// Own keys of a result that say where or when it was had, not what was measured.
pub(super) const CIRCUMSTANCES: [&str; 9] =
    [".table", ".group", ".heading", ".row", ".mode", "version", "date", "job_id", "githash"];

/// The groups to lay out and what their keys need.
#[derive(Clone, Copy)]
pub(super) struct Results<'a> {
    pub set: &'a SeriesSet,
    pub groups: &'a [Box<Group>],
    /// Keys named in any list: they leave `.config` and `.fullname`.
    pub named: &'a [Key],
    /// Inputs hold printed tables whose columns have equal headings: the input's label goes before the heading.
    pub label_columns: bool,
}

impl<'a> Results<'a> {
    /// Value of `key` for group `g`.
    pub fn value(&self, g: &'a Group, key: &Key) -> Cow<'a, str> {
        let keys = ResultKeys::of_group(g, self.set);
        match (key, g.column()) {
            (Key::File, Some(column)) if self.label_columns => {
                let label = self.set.inputs.get(g.source.0 as usize).map_or("", |i| &i.label);
                Cow::Owned(format!("{label} {column}"))
            }
            _ => keys.get(key),
        }
    }

    /// Value of `key` for group `g`, short-lived.
    pub fn value_in<'g>(&self, g: &'g Group, key: &Key) -> Cow<'g, str>
    where
        'a: 'g,
    {
        ResultKeys::of_group(g, self.set).get(key)
    }

    pub fn is_named(&self, key: &Key) -> bool {
        self.named.contains(key)
    }

    pub fn names_plain(&self, key: &str) -> bool {
        self.named.iter().any(|n| matches!(n, Key::Plain(k) if &**k == key))
    }

    pub fn names_part(&self, key: &str) -> bool {
        self.named.iter().any(|n| matches!(n, Key::Part(k) if &**k == key))
    }

    /// Keys of `g` that belong to its full name: all but those named elsewhere and its circumstances.
    pub fn identity(&self, g: &'a Group) -> SmallVec<[(&'a str, &'a str); 6]> {
        let mut keys: SmallVec<[(&str, &str); 6]> = g
            .keys()
            .iter()
            .filter(|(k, _)| !CIRCUMSTANCES.contains(&&**k))
            .filter(|(k, _)| !self.names_plain(k))
            .map(|(k, v)| (&**k, &**v))
            .collect();
        keys.sort_unstable();
        keys
    }

    /// `rows[].name`: the name as its producer prints it, `*` in place of one named elsewhere.
    pub fn printed_name(&self, g: &'a Group) -> Cow<'a, str> {
        if g.scheme == Scheme::Go {
            return GoName::new(&g.name).without(self.named);
        }
        let hidden = self.is_named(&Key::Name) || g.key("test").is_some() && self.names_plain("test");
        let name = if hidden { "*" } else { &*g.name };
        match g.key(".label") {
            Some(label) if !self.names_plain(".label") => Cow::Owned(format!("{name}:{label}")),
            _ => Cow::Borrowed(name),
        }
    }
}

/// Gives texts numbers in order of first sight.
#[derive(Default)]
pub(super) struct Interner {
    hasher: DefaultHashBuilder,
    /// Numbers by their texts.
    index: HashTable<u32>,
    pub values: Vec<Arc<str>>,
}

impl Interner {
    pub fn intern(&mut self, value: &str) -> u32 {
        let Interner { hasher, index, values } = self;
        let is_value = |&id: &u32| *values[id as usize] == *value;
        let hash_of = |&id: &u32| hasher.hash_one(&*values[id as usize]);
        let id = match index.entry(hasher.hash_one(value), is_value, hash_of) {
            Entry::Occupied(known) => return *known.get(),
            Entry::Vacant(new) => {
                let id = values.len() as u32;
                new.insert(id);
                id
            }
        };
        values.push(value.into());
        id
    }
}

/// One field of an axis, or several that go together (`.config`).
#[derive(Debug)]
pub(super) struct Term {
    /// Names of its fields.
    pub fields: Vec<Arc<str>>,
    /// Per group the number of its value.
    pub ids: Vec<u32>,
    /// Per number one value for each field.
    pub values: Vec<SmallVec<[Arc<str>; 1]>>,
    /// Per number its place in output order.
    rank: Vec<u32>,
    /// Output order is that of first sight.
    in_order: bool,
}

impl Term {
    fn new(field: &Field, ids: Vec<u32>, values: Vec<Arc<str>>) -> Self {
        let rank = field.order.ranks(&values);
        Term {
            fields: vec![field.key.to_string().into()],
            ids,
            values: values.into_iter().map(|v| SmallVec::from([v])).collect(),
            rank,
            in_order: field.order == Order::First,
        }
    }

    /// The field of one key.
    pub fn simple(field: &Field, results: Results<'_>) -> Self {
        let groups = results.groups;
        let mut names = Interner::default();
        let ids = match &field.key {
            Key::Plain(key) if !groups.iter().any(|g| g.key(key).is_some()) => {
                by_settings(groups, results.set.settings.len(), |s| {
                    let value = results.set.settings.get(s).and_then(|s| s.get(key)).unwrap_or("");
                    names.intern(value)
                })
            }
            key => groups.iter().map(|g| names.intern(&results.value(g, key))).collect(),
        };
        Term::new(field, ids, names.values)
    }

    /// `.fullname`: equal for groups that differ only in keys named elsewhere. Its text is the name and the parameters behind it.
    pub fn full_name(field: &Field, results: Results<'_>) -> Self {
        let mut names = Interner::default();
        let mut pairs: HashMap<(&str, &str), u32> = HashMap::new();
        let mut whole: HashMap<SmallVec<[u32; 6]>, u32> = HashMap::new();
        let mut values: Vec<Arc<str>> = Vec::new();
        let mut alone: Vec<u32> = Vec::new();
        let mut ids = Vec::with_capacity(results.groups.len());
        for g in results.groups {
            let name = names.intern(&results.printed_name(g));
            let own = results.identity(g);
            let in_name = |key: &str| matches!(key, ".label" | "test");
            // Names without further keys are by far the most.
            if own.iter().all(|(k, _)| in_name(k)) {
                if alone.len() <= name as usize {
                    alone.resize(name as usize + 1, u32::MAX);
                }
                let id = &mut alone[name as usize];
                if *id == u32::MAX {
                    *id = values.len() as u32;
                    values.push(names.values[name as usize].clone());
                }
                ids.push(*id);
                continue;
            }
            let mut key: SmallVec<[u32; 6]> = SmallVec::new();
            key.push(name);
            for &pair in &own {
                let next = pairs.len() as u32;
                key.push(*pairs.entry(pair).or_insert(next));
            }
            ids.push(*whole.entry(key).or_insert_with(|| {
                let mut text = names.values[name as usize].to_string();
                for (k, v) in own.iter().filter(|(k, _)| !in_name(k)) {
                    text.push_str(&format!(" {k}={v}"));
                }
                values.push(text.into());
                values.len() as u32 - 1
            }));
        }
        Term::new(field, ids, values)
    }

    /// All settings but those named elsewhere and those in `unsplit`.
    ///
    /// `bytewise`: sorted by value, field after field, instead of by first sight.
    pub fn config(order: &Order, results: Results<'_>, unsplit: &[Arc<str>], bytewise: bool) -> Self {
        let mut fields: Vec<Arc<str>> = Vec::new();
        let mut at: HashMap<&str, usize> = HashMap::new();
        let mut seen = vec![false; results.set.settings.len()];
        for g in results.groups {
            let s = g.settings.0 as usize;
            let Some(settings) = results.set.settings.get(s).filter(|_| !std::mem::replace(&mut seen[s], true)) else {
                continue;
            };
            for (key, _) in settings.iter() {
                if !at.contains_key(key) && !results.names_plain(key) && !unsplit.iter().any(|k| &**k == key) {
                    at.insert(key, fields.len());
                    fields.push(key.into());
                }
            }
        }
        let empty: Arc<str> = "".into();
        let mut names = Interner::default();
        let mut tuples: HashMap<Vec<u32>, u32> = HashMap::new();
        let mut values: Vec<SmallVec<[Arc<str>; 1]>> = Vec::new();
        let ids = by_settings(results.groups, results.set.settings.len(), |s| {
            let mut tuple = vec![u32::MAX; fields.len()];
            for (key, value) in results.set.settings.get(s).into_iter().flat_map(|s| s.iter()) {
                if let Some(&i) = at.get(key) {
                    tuple[i] = names.intern(value);
                }
            }
            *tuples.entry(tuple).or_insert_with_key(|tuple| {
                let text = |&v: &u32| names.values.get(v as usize).unwrap_or(&empty).clone();
                values.push(tuple.iter().map(text).collect());
                values.len() as u32 - 1
            })
        });
        let order = if bytewise && *order == Order::First { &Order::Alpha } else { order };
        let in_order = *order == Order::First;
        let mut by_rank: Vec<u32> = (0..values.len() as u32).collect();
        if !in_order {
            by_rank.sort_by(|&a, &b| {
                let (a, b) = (&values[a as usize], &values[b as usize]);
                let each = a.iter().zip(b).map(|(x, y)| order.compare(x, y));
                each.fold(Ordering::Equal, Ordering::then)
            });
        }
        Term { fields, ids, rank: inverse(&by_rank), values, in_order }
    }

    /// Numbers that keep results of one key apart; without a field.
    pub fn copies(ids: Vec<u32>) -> Self {
        let n = ids.iter().max().map_or(0, |m| m + 1);
        Term {
            fields: Vec::new(),
            ids,
            values: vec![SmallVec::new(); n as usize],
            rank: (0..n).collect(),
            in_order: false,
        }
    }
}

/// Works `of` out once per settings number, in order of first sight.
fn by_settings(groups: &[Box<Group>], count: usize, mut of: impl FnMut(usize) -> u32) -> Vec<u32> {
    let mut known = vec![u32::MAX; count];
    let mut number = |g: &Group| {
        let s = g.settings.0 as usize;
        match known.get_mut(s) {
            Some(slot) if *slot != u32::MAX => *slot,
            Some(slot) => {
                *slot = of(s);
                *slot
            }
            None => of(s),
        }
    };
    groups.iter().map(|g| number(g)).collect()
}

fn inverse(by_rank: &[u32]) -> Vec<u32> {
    let mut rank = vec![0; by_rank.len()];
    for (place, &id) in by_rank.iter().enumerate() {
        rank[id as usize] = place as u32;
    }
    rank
}

impl Order {
    /// Place of each of the distinct values, given in order of first sight.
    fn ranks(&self, values: &[Arc<str>]) -> Vec<u32> {
        let mut by_rank: Vec<u32> = (0..values.len() as u32).collect();
        match self {
            Order::First => {}
            Order::Fixed(listed) => {
                let place: HashMap<&str, usize> =
                    listed.iter().enumerate().rev().map(|(i, v)| (v.as_str(), i)).collect();
                by_rank.sort_by_key(|&id| place.get(&*values[id as usize]).copied().unwrap_or(usize::MAX));
            }
            order => by_rank.sort_by(|&a, &b| order.compare(&values[a as usize], &values[b as usize])),
        }
        inverse(&by_rank)
    }
}

/// The tuples of an axis.
#[derive(Debug)]
pub(super) struct Axis {
    /// Its terms.
    pub terms: Vec<Term>,
    /// Per group the number of its tuple.
    pub ids: Vec<u32>,
    /// Per tuple the number of its value in each term.
    pub tuples: Vec<SmallVec<[u32; 2]>>,
    /// Per tuple its place in output order.
    pub rank: Vec<u32>,
    /// Per tuple its first group.
    pub first: Vec<u32>,
}

impl Axis {
    pub fn new(terms: Vec<Term>, groups: usize) -> Self {
        let mut tuples: Vec<SmallVec<[u32; 2]>> = Vec::new();
        let mut first: Vec<u32> = Vec::new();
        let mut ids: Vec<u32> = Vec::with_capacity(groups);
        if let [term] = terms.as_slice() {
            // Numbers are given in order of first sight, so a number above all seen is new.
            ids.extend_from_slice(&term.ids);
            for (g, &id) in term.ids.iter().enumerate() {
                if id as usize == tuples.len() {
                    tuples.push(SmallVec::from_slice(&[id]));
                    first.push(g as u32);
                }
            }
        } else {
            let mut numbers: HashMap<SmallVec<[u32; 2]>, u32> = HashMap::new();
            for g in 0..groups {
                let tuple: SmallVec<[u32; 2]> = terms.iter().map(|t| t.ids[g]).collect();
                ids.push(*numbers.entry(tuple).or_insert_with_key(|tuple| {
                    tuples.push(tuple.clone());
                    first.push(g as u32);
                    tuples.len() as u32 - 1
                }));
            }
        }
        let mut by_rank: Vec<u32> = (0..tuples.len() as u32).collect();
        if terms.len() != 1 || !terms[0].in_order {
            by_rank.sort_by(|&a, &b| {
                let (a, b) = (&tuples[a as usize], &tuples[b as usize]);
                let each =
                    terms.iter().zip(a.iter().zip(b)).map(|(t, (&x, &y))| t.rank[x as usize].cmp(&t.rank[y as usize]));
                each.fold(Ordering::Equal, Ordering::then)
            });
        }
        Axis { rank: inverse(&by_rank), terms, ids, tuples, first }
    }

    /// Field names and values of a tuple.
    pub fn fields(&self, tuple: u32) -> impl Iterator<Item = (&Arc<str>, &Arc<str>)> {
        let numbers = &self.tuples[tuple as usize];
        self.terms.iter().zip(numbers).flat_map(|(t, &v)| t.fields.iter().zip(&t.values[v as usize]))
    }
}

/// Terms of a list.
pub(super) fn terms(list: &Projection, results: Results<'_>, unsplit: &[Arc<str>], bytewise: bool) -> Vec<Term> {
    let term = |field: &Field| match field.key {
        Key::Config => Term::config(&field.order, results, unsplit, bytewise),
        Key::FullName => Term::full_name(field, results),
        _ => Term::simple(field, results),
    };
    list.fields.iter().map(term).collect()
}

/// Distinct settings numbers that groups of each column have, as `(column, settings)`.
pub(super) fn settings_of_columns(groups: &[Box<Group>], columns: &[u32]) -> Vec<(u32, usize)> {
    let mut seen = HashSet::new();
    let mut out = Vec::new();
    let mut last = None;
    for (g, &column) in groups.iter().zip(columns) {
        let pair = (column, g.settings.0 as usize);
        if last != Some(pair) && seen.insert(pair) {
            out.push(pair);
        }
        last = Some(pair);
    }
    out
}
