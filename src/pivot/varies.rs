//! Keys in which results differ that were pooled into one cell: for `benchmarks vary in ...`.

use hashbrown::HashMap;

use super::grid::Mode;
use super::keys::GoName;
use super::unsplit;
use crate::model::{Group, Key, Scheme, Settings};

/// Which keys a pooled cell may vary in.
#[derive(Debug)]
pub(super) struct Varies {
    mode: Mode,
    named: Vec<Key>,
    settings: Vec<Settings>,
    /// Settings in order of first sight, if `.config` is in no list.
    config: Option<HashMap<String, usize>>,
    /// `.fullname` is in no list.
    full_name: bool,
    /// `.file` is in no list.
    file: bool,
}

impl Varies {
    pub fn new(named: Vec<Key>, settings: Vec<Settings>, mode: Mode) -> Self {
        let config = (!named.contains(&Key::Config)).then(|| {
            let mut places: HashMap<String, usize> = HashMap::new();
            for (key, _) in settings.iter().flat_map(Settings::iter) {
                let next = places.len();
                places.entry_ref(key).or_insert(next);
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
    pub fn add(&self, a: &Group, b: &Group, out: &mut Vec<String>) {
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
            if a.keys() != b.keys() {
                for (key, _) in a.keys().iter().chain(b.keys()) {
                    let passes = matches!(&**key, ".heading" | ".row" | "date" | "job_id");
                    if !passes && !self.is_named(key) && a.key(key) != b.key(key) {
                        note(key);
                    }
                }
            }
            if self.file && (a.source != b.source || a.column() != b.column()) {
                note(".file");
            }
        }
    }

    fn add_names(&self, a: &Group, b: &Group, note: &mut dyn FnMut(&str)) {
        let (x, y) = (GoName::new(&a.name), GoName::new(&b.name));
        let whole = x.without(&self.named) != y.without(&self.named);
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
    pub fn sort(&self, keys: &mut [String]) {
        if let Some(places) = &self.config {
            keys.sort_by_key(|k| places.get(k).copied().unwrap_or(usize::MAX));
        }
    }
}
