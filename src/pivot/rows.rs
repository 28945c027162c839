//! Names and keys of rows.

use std::hash::BuildHasher;
use std::sync::Arc;

use hashbrown::{HashMap, HashSet};
use rustc_hash::FxBuildHasher;

use super::axis::{Axis, CIRCUMSTANCES, Results};
use super::keys::GoName;
use super::projection::{Field, Projection};
use super::{Keys, Pair, unsplit};
use crate::model::{Group, Key, Scheme};

/// Name and keys of every row of `rows`, the axis of the list `by`.
pub(super) fn row_heads(results: Results<'_>, rows: &Axis, by: &Projection, with_keys: bool) -> Vec<(Arc<str>, Keys)> {
    let printed = matches!(by.fields.as_slice(), [Field { key: Key::FullName, .. }]);
    let mut words = Words::default();
    let mut heads: Vec<(Arc<str>, Keys)> = Vec::with_capacity(rows.tuples.len());
    let nothing: Keys = [].into();
    let mut own: Vec<Pair> = Vec::new();
    for r in 0..rows.tuples.len() as u32 {
        let first = &results.groups[rows.first[r as usize] as usize];
        let name = match rows.fields(r).next() {
            Some((_, name)) if printed && first.keys().is_empty() => name.clone(),
            _ if printed => Arc::from(&*results.printed_name(first)),
            _ => unsplit::label(rows, r).into(),
        };
        if with_keys {
            own_keys(results, by, first, &mut words, &mut own);
        }
        heads.push((name, if own.is_empty() { nothing.clone() } else { own.drain(..).collect() }));
    }
    // A row that pools different results has only the keys that they share. Equal full names have equal keys.
    if with_keys && !by.names(&Key::FullName) {
        for (i, g) in results.groups.iter().enumerate() {
            let r = rows.ids[i] as usize;
            let first = rows.first[r] as usize;
            let f = &results.groups[first];
            if first != i && !(g.name == f.name && g.keys() == f.keys()) {
                own_keys(results, by, g, &mut words, &mut own);
                let keys: HashSet<Pair> = own.drain(..).collect();
                if !heads[r].1.iter().all(|pair| keys.contains(pair)) {
                    heads[r].1 = heads[r].1.iter().filter(|pair| keys.contains(*pair)).cloned().collect();
                }
            }
        }
    }
    heads
}

/// So many keys of a result are looked through one by one.
const FEW: usize = 32;

/// Keys and values handed out before: rows share most of them.
#[derive(Default)]
struct Words {
    keys: HashMap<String, Word>,
    /// `/key` by `key`.
    parts: HashMap<String, Word>,
}

/// A key and some of its values.
struct Word {
    key: Arc<str>,
    /// The last value of each hash.
    values: [Option<Arc<str>>; 32],
}

impl Words {
    fn key(&mut self, key: &str) -> &mut Word {
        self.keys.entry_ref(key).or_insert_with(|| Word::new(key.into()))
    }

    fn part(&mut self, key: &str) -> &mut Word {
        self.parts.entry_ref(key).or_insert_with(|| Word::new(format!("/{key}").into()))
    }
}

impl Word {
    fn new(key: Arc<str>) -> Self {
        Word { key, values: Default::default() }
    }

    fn value(&mut self, value: &str) -> Arc<str> {
        // Its upper bits are the better ones.
        let at = FxBuildHasher.hash_one(value) >> 59;
        let known = &mut self.values[at as usize];
        match known {
            Some(last) if **last == *value => last.clone(),
            _ => known.insert(value.into()).clone(),
        }
    }
}

/// Adds to `out`, which is empty, the keys of a result that belong to its row: the fields of `--row`, its name, parts and parameters, less those named in other lists.
fn own_keys(results: Results<'_>, by: &Projection, g: &Group, words: &mut Words, out: &mut Vec<Pair>) {
    // The keys in `out`, once there are too many to be looked through.
    let mut many: HashSet<Arc<str>> = HashSet::new();
    let mut add = |word: &mut Word, value: &str| {
        let key = &word.key;
        let known = if many.is_empty() { out.iter().any(|(k, _)| k == key) } else { many.contains(key) };
        if !value.is_empty() && !known {
            out.push((key.clone(), word.value(value)));
            if out.len() > FEW {
                let from = many.len();
                many.extend(out.iter().skip(from).map(|(k, _)| k.clone()));
            }
        }
    };
    for field in &by.fields {
        if !matches!(field.key, Key::FullName | Key::Config | Key::File) {
            add(words.key(&field.key.to_string()), &results.value_in(g, &field.key));
        }
    }
    if g.scheme == Scheme::Go {
        let name = GoName::new(&g.name);
        if !results.is_named(&Key::Name) {
            add(words.key(".name"), name.base());
        }
        for (key, value) in name.keyed_parts() {
            if key != "gomaxprocs" && !results.names_part(key) {
                add(words.part(key), value);
            }
        }
        if !results.names_part("gomaxprocs") {
            add(words.part("gomaxprocs"), name.procs());
        }
    } else if !results.is_named(&Key::Name) {
        add(words.key(".name"), &g.name);
    }
    for (key, value) in g.keys() {
        if !CIRCUMSTANCES.contains(&&**key) && !results.names_plain(key) {
            add(words.key(key), value);
        }
    }
}
