//! Whether two JMH benchmark names are the same one, shortened differently.
//!
//! JMH's tables remove the package that all names of a run share, or cut its components to their first letters; logs, JSON and CSV
//! print full names. So `org.example.store.MapBench.get`, `o.e.store.MapBench.get` and `MapBench.get` may be one benchmark, seen in
//! three runs. Names are compared by component from the right: a missing leading component matches anything, a package component of
//! one letter matches by first letter. A name that fits two different ones is kept apart and reported: nothing is guessed.

use hashbrown::{HashMap, HashSet};

/// Whether `a` and `b` may be the same name. An empty name (a class in lower case is taken for a package and cut away) fits any.
pub fn same(a: &str, b: &str) -> bool {
    if a.is_empty() || b.is_empty() || a == b {
        return true;
    }
    let mut left = a.rsplit('.');
    let mut right = b.rsplit('.');
    // Methods are never shortened.
    if left.next() != right.next() {
        return false;
    }
    left.zip(right).all(|(x, y)| x == y || cut(x, y) || cut(y, x))
}

/// `short` is `long` cut to its first letter, as JMH does with packages (and lower-case classes, which it takes for packages).
fn cut(short: &str, long: &str) -> bool {
    let mut letters = short.chars();
    let (Some(first), None) = (letters.next(), letters.next()) else { return false };
    !first.is_uppercase() && long.starts_with(first)
}

/// A name and the run it was read from: within one run, different names are different benchmarks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Named<'a> {
    /// Without the label.
    pub name: &'a str,
    /// Any number; equal for names shortened together (one input, or one table of it). Earlier runs have smaller numbers.
    pub run: u32,
}

/// What [`unify`] found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unified<'a> {
    /// For each name given, the name to show: as printed in the first run that has it.
    pub canonical: Vec<&'a str>,
    /// Names that fit more than one other name and were kept apart, each with those; every pair once, in order of appearance.
    pub ambiguous: Vec<(&'a str, Vec<&'a str>)>,
}

/// Finds which names are the same benchmark. Repeated names are fine; the order of `names` within a run does not matter.
pub fn unify<'a>(names: &[Named<'a>]) -> Unified<'a> {
    let mut runs: Vec<(u32, Vec<&'a str>)> = Vec::new();
    let mut at: HashMap<u32, usize> = HashMap::new();
    for n in names {
        let i = *at.entry(n.run).or_insert_with(|| {
            runs.push((n.run, Vec::new()));
            runs.len() - 1
        });
        runs[i].1.push(n.name);
    }
    runs.sort_by_key(|(run, _)| *run);
    // Each benchmark: the spellings seen so far, the first of which is shown.
    let mut found: Vec<Vec<&'a str>> = Vec::new();
    let mut index = Index::default();
    let mut canonical: HashMap<(u32, &'a str), &'a str> = HashMap::new();
    let mut ambiguous = Ambiguous::default();
    for (run, mut members) in runs {
        let mut seen = HashSet::new();
        members.retain(|m| seen.insert(*m));
        let mut fits: Vec<Vec<usize>> = members.iter().map(|name| index.candidates(name, &found)).collect();
        // What a name of this run is spelled exactly like is that one and no other.
        let exact: Vec<Option<usize>> = (members.iter().zip(&fits))
            .map(|(name, fit)| fit.first().copied().filter(|&f| found[f].contains(name)))
            .collect();
        let taken: HashSet<usize> = exact.iter().flatten().copied().collect();
        for (fit, own) in fits.iter_mut().zip(&exact) {
            fit.retain(|f| *own == Some(*f) || !taken.contains(f));
        }
        // How many names of this run want each benchmark found before.
        let mut wanted: HashMap<usize, Vec<&'a str>> = HashMap::new();
        for (name, fit) in members.iter().zip(&fits) {
            for &f in fit {
                wanted.entry(f).or_default().push(name);
            }
        }
        for (name, fit) in members.iter().zip(&fits) {
            let alone = |f: usize| wanted.get(&f).is_none_or(|w| w.len() == 1);
            let target = match fit[..] {
                [f] if alone(f) => Some(f),
                [] => None,
                [f] => {
                    // Several names of this run fit one earlier name.
                    let rivals = wanted.get(&f).into_iter().flatten().copied().collect();
                    ambiguous.note(found[f][0], rivals);
                    None
                }
                _ => {
                    ambiguous.note(name, fit.iter().map(|&f| found[f][0]).collect());
                    None
                }
            };
            let f = target.unwrap_or_else(|| {
                found.push(Vec::new());
                found.len() - 1
            });
            if !found[f].contains(name) {
                found[f].push(name);
                index.add(name, f);
            }
            canonical.insert((run, name), found[f][0]);
        }
    }
    let canonical = names.iter().map(|n| canonical.get(&(n.run, n.name)).copied().unwrap_or(n.name)).collect();
    Unified { canonical, ambiguous: ambiguous.list }
}

/// Where spellings were seen: a benchmark of each run may have the method `get`, but few of them in classes that fit each other.
#[derive(Default)]
struct Index<'a> {
    spelled: HashMap<&'a str, usize>,
    by_method: HashMap<&'a str, Vec<usize>>,
    by_class: HashMap<(&'a str, Option<&'a str>), Vec<usize>>,
}

impl<'a> Index<'a> {
    /// Benchmark `f` was spelled `name`.
    fn add(&mut self, name: &'a str, f: usize) {
        let (method, class) = last_two(name);
        self.spelled.entry(name).or_insert(f);
        self.by_method.entry(method).or_default().push(f);
        self.by_class.entry((method, class)).or_default().push(f);
    }

    /// Benchmarks that `name` fits: the one that was spelled exactly so, else all of which every spelling fits.
    fn candidates(&self, name: &str, found: &[Vec<&str>]) -> Vec<usize> {
        if let Some(&exact) = self.spelled.get(name) {
            return vec![exact];
        }
        let (method, class) = last_two(name);
        let mut near: Vec<usize> = match class {
            _ if name.is_empty() => (0..found.len()).collect(),
            // What is no single letter fits itself, its first letter and names without a class.
            Some(class) if class.chars().nth(1).is_some() => {
                let letter = class.chars().next().map_or("", |c| &class[..c.len_utf8()]);
                let keys = [(method, Some(class)), (method, Some(letter)), (method, None), ("", None)];
                keys.iter().filter_map(|key| self.by_class.get(key)).flatten().copied().collect()
            }
            _ => [method, ""].iter().filter_map(|m| self.by_method.get(m)).flatten().copied().collect(),
        };
        near.sort_unstable();
        near.dedup();
        near.retain(|&f| found[f].iter().all(|spelling| same(spelling, name)));
        near
    }
}

/// The method, and the class where there is one.
fn last_two(name: &str) -> (&str, Option<&str>) {
    let mut parts = name.rsplit('.');
    (parts.next().unwrap_or(name), parts.next())
}

/// Names kept apart, each list of others once.
#[derive(Default)]
struct Ambiguous<'a> {
    list: Vec<(&'a str, Vec<&'a str>)>,
    known: HashSet<(&'a str, Vec<&'a str>)>,
}

impl<'a> Ambiguous<'a> {
    fn note(&mut self, name: &'a str, mut others: Vec<&'a str>) {
        others.retain(|o| *o != name);
        if !others.is_empty() && self.known.insert((name, others.clone())) {
            self.list.push((name, others));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_are_compared_from_the_right() {
        for (a, b, want) in [
            ("MapBench.get", "org.example.store.MapBench.get", true),
            ("o.e.store.MapBench.get", "org.example.store.MapBench.get", true),
            ("o.e.s.MapBench.get", "org.example.store.MapBench.get", true),
            ("o.e.s.MapBench.get", "o.e.store.MapBench.get", true),
            ("o.x.store.MapBench.get", "org.example.store.MapBench.get", false),
            ("MapBench.get", "MapBench.g", false),
            ("M.get", "MapBench.get", false),
            ("get", "MapBench.get", true),
            ("MapBench.sum", "MapBench.get", false),
            ("XMapBench.get", "MapBench.get", false),
            ("", "MapBench.get", true),
            ("l.work", "lowbench.work", true),
        ] {
            assert_eq!(same(a, b), want, "{a} {b}");
            assert_eq!(same(b, a), want, "{b} {a}");
        }
    }

    fn unified<'a>(names: &[(&'a str, u32)]) -> Unified<'a> {
        unify(&names.iter().map(|&(name, run)| Named { name, run }).collect::<Vec<_>>())
    }

    #[test]
    fn names_of_several_runs_are_joined_under_the_first_spelling() {
        let got = unified(&[
            ("o.e.store.MapBench.get", 0),
            ("o.e.codec.MapBench.sum", 0),
            ("o.e.store.MapBench.get", 0),
            ("MapBench.get", 1),
            ("org.example.store.MapBench.get", 2),
            ("org.example.store.MapBench.put", 2),
            ("MapBench.put", 1),
        ]);
        let first = "o.e.store.MapBench.get";
        assert_eq!(
            got.canonical,
            [first, "o.e.codec.MapBench.sum", first, first, first, "MapBench.put", "MapBench.put"]
        );
        assert_eq!(got.ambiguous, []);
    }

    #[test]
    fn what_fits_two_names_is_kept_apart_and_reported() {
        let got = unified(&[("a.Map.get", 0), ("b.Map.get", 0), ("Map.get", 1)]);
        assert_eq!(got.canonical, ["a.Map.get", "b.Map.get", "Map.get"]);
        assert_eq!(got.ambiguous, [("Map.get", vec!["a.Map.get", "b.Map.get"])]);
        let got = unified(&[("Map.get", 0), ("a.Map.get", 1), ("b.Map.get", 1)]);
        assert_eq!(got.canonical, ["Map.get", "a.Map.get", "b.Map.get"]);
        assert_eq!(got.ambiguous, [("Map.get", vec!["a.Map.get", "b.Map.get"])]);
    }

    #[test]
    fn an_exact_spelling_wins() {
        let got = unified(&[("Map.get", 0), ("a.Map.get", 0), ("Map.get", 1), ("a.Map.get", 1)]);
        assert_eq!(got.canonical, ["Map.get", "a.Map.get", "Map.get", "a.Map.get"]);
        assert_eq!(got.ambiguous, []);
    }

    proptest! {
        #[test]
        fn the_index_leaves_nothing_out(names in proptest::collection::vec("([a-cÄ]{0,2}\\.){0,2}([A-Ba-bÄä]{0,2}\\.)?[f-g]?", 0..12), name in "([a-c]{1,2}\\.)?([A-Ba-bÄä]{0,2}\\.)?[f-g]?") {
            let found: Vec<Vec<&str>> = names.iter().map(|n| vec![n.as_str()]).collect();
            let mut index = Index::default();
            names.iter().enumerate().for_each(|(f, n)| index.add(n, f));
            let want = match names.iter().position(|n| *n == name) {
                Some(exact) => vec![exact],
                None => (0..names.len()).filter(|&f| same(&names[f], &name)).collect(),
            };
            prop_assert_eq!(index.candidates(&name, &found), want);
        }
    }

    proptest! {
        #[test]
        fn names_of_one_run_are_never_joined(names in proptest::collection::vec("[a-c]{0,2}(\\.[A-Ca-c]{1,2}){0,3}", 0..12), runs in proptest::collection::vec(0u32..3, 12)) {
            let given: Vec<Named<'_>> = names.iter().zip(runs).map(|(name, run)| Named { name, run }).collect();
            let got = unify(&given);
            for (i, a) in given.iter().enumerate() {
                prop_assert!(same(a.name, got.canonical[i]));
                for (j, b) in given.iter().enumerate() {
                    if a.run == b.run {
                        prop_assert_eq!(a.name == b.name, got.canonical[i] == got.canonical[j]);
                    }
                }
            }
        }
    }
}
