//! Labels of inputs (`.file`): short, distinct, and pooled only where the user typed them alike.

use std::collections::{HashMap, HashSet};

/// An input as typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named<'a> {
    /// What stood before `=`.
    pub label: Option<&'a str>,
    /// The path; `-` is standard input.
    pub path: &'a str,
}

/// The label of each input.
///
/// A typed label stays as it is. A bare path gives its file name without extension, less the words at either end that all bare paths share;
/// equal names are told apart by their directories, one path given twice by `#0`, `#1`. Where that would leave a name empty, nothing is
/// taken off. A bare path never gets the label of another input.
pub fn labels(inputs: &[Named<'_>]) -> Vec<String> {
    let mut paths: Vec<&str> = Vec::new();
    let mut times: HashMap<&str, usize> = HashMap::new();
    for input in inputs.iter().filter(|i| i.label.is_none()) {
        let n = times.entry(input.path).or_insert(0);
        *n += 1;
        if *n == 1 {
            paths.push(input.path);
        }
    }
    let short: HashMap<&str, String> = paths.iter().copied().zip(distinct(&paths)).collect();
    let mut taken: HashSet<String> = inputs.iter().filter_map(|i| i.label).map(str::to_owned).collect();
    let mut seen: HashMap<&str, usize> = HashMap::new();
    let mut out = Vec::with_capacity(inputs.len());
    for input in inputs {
        if let Some(label) = input.label {
            out.push(label.to_owned());
            continue;
        }
        let mut label = short.get(input.path).cloned().unwrap_or_else(|| input.path.to_owned());
        if times.get(input.path).is_some_and(|&n| n > 1) {
            let k = seen.entry(input.path).or_insert(0);
            label = format!("{label}#{k}");
            *k += 1;
        }
        if taken.contains(&label) {
            input.path.clone_into(&mut label);
        }
        while !taken.insert(label.clone()) {
            label.push('\'');
        }
        out.push(label);
    }
    out
}

/// Labels as benchstat makes them: what was typed, or the path; one bare path given several times is `path#0`, `path#1`.
pub fn benchstat_labels(inputs: &[Named<'_>]) -> Vec<String> {
    let mut times: HashMap<&str, usize> = HashMap::new();
    for input in inputs.iter().filter(|i| i.label.is_none()) {
        *times.entry(input.path).or_default() += 1;
    }
    let mut seen: HashMap<&str, usize> = HashMap::new();
    let mut out = Vec::with_capacity(inputs.len());
    for input in inputs {
        out.push(match input.label {
            Some(label) => label.to_owned(),
            None if times.get(input.path).is_some_and(|&n| n > 1) => {
                let k = seen.entry(input.path).or_default();
                *k += 1;
                format!("{}#{}", input.path, *k - 1)
            }
            None => input.path.to_owned(),
        });
    }
    out
}

/// Distinct labels of distinct paths.
fn distinct(paths: &[&str]) -> Vec<String> {
    let stems: Vec<&str> = paths.iter().map(|p| stem(p)).collect();
    let mut labels: Vec<String> = less_common_words(&stems).into_iter().map(str::to_owned).collect();
    let mut groups: HashMap<String, Vec<usize>> = HashMap::new();
    for (i, label) in labels.iter().enumerate() {
        groups.entry(label.clone()).or_default().push(i);
    }
    for (label, group) in groups.into_iter().filter(|(_, g)| g.len() > 1) {
        for (i, with_directory) in group.iter().zip(with_directories(&label, group.iter().map(|&i| paths[i]).collect()))
        {
            labels[*i] = with_directory;
        }
    }
    // The rare rest: a label with a directory that equals another path's.
    for i in 0..labels.len() {
        if labels.iter().enumerate().any(|(j, l)| j != i && *l == labels[i]) {
            labels[i] = paths[i].to_owned();
        }
    }
    labels
}

/// `label` behind as many directories as tell the paths apart; whole paths where none do.
fn with_directories(label: &str, paths: Vec<&str>) -> Vec<String> {
    let dirs: Vec<Vec<&str>> =
        paths.iter().map(|p| p.rsplit('/').skip(1).filter(|c| !matches!(*c, "" | ".")).collect()).collect();
    let deepest = dirs.iter().map(Vec::len).max().unwrap_or(0);
    for depth in 1..=deepest {
        let heads: Vec<&[&str]> = dirs.iter().map(|d| &d[..depth.min(d.len())]).collect();
        let mut sorted = heads.clone();
        sorted.sort_unstable();
        if sorted.windows(2).all(|w| w[0] != w[1]) {
            let join = |head: &&[&str]| head.iter().rev().map(|d| format!("{d}/")).collect::<String>() + label;
            return heads.iter().map(join).collect();
        }
    }
    let names: Vec<&str> = paths.iter().map(|p| file_name(p)).collect();
    let mut sorted = names.clone();
    sorted.sort_unstable();
    if sorted.windows(2).all(|w| w[0] != w[1]) {
        return names.into_iter().map(str::to_owned).collect();
    }
    paths.into_iter().map(str::to_owned).collect()
}

fn file_name(path: &str) -> &str {
    match path.trim_end_matches('/').rsplit('/').next() {
        Some("") | None => path,
        Some(name) => name,
    }
}

/// File name without extension. Digits behind a dot are a version, not an extension.
fn stem(path: &str) -> &str {
    if path == "-" {
        return "stdin";
    }
    let mut name = file_name(path);
    for _ in 0..2 {
        let Some((head, extension)) = name.rsplit_once('.') else { break };
        if head.is_empty() || !extension.contains(|c: char| c.is_alphabetic()) {
            break;
        }
        name = head;
        if !matches!(extension, "gz" | "zst" | "xz" | "bz2") {
            break;
        }
    }
    name
}

/// Where a word begins in its name, and the word.
type Word<'a> = (usize, &'a str);

/// The names less the words that all begin or end with; as they are where one would be left empty.
fn less_common_words<'a>(names: &[&'a str]) -> Vec<&'a str> {
    let words: Vec<Vec<Word<'a>>> = names.iter().map(|n| words(n)).collect();
    let shortest = words.iter().map(Vec::len).min().unwrap_or(0);
    let Some(first) = words.first().filter(|_| names.len() > 1) else { return names.to_vec() };
    let same = |i: usize, of: fn(&[Word<'a>], usize) -> Option<&'a str>| words.iter().all(|w| of(w, i) == of(first, i));
    let head = (0..shortest).take_while(|&i| same(i, |w, i| w.get(i).map(|x| x.1))).count();
    let from_end = |w: &[Word<'a>], i: usize| w.iter().rev().nth(i).map(|x| x.1);
    let tail = (0..shortest - head).take_while(|&i| same(i, from_end)).count();
    if head + tail == shortest {
        return names.to_vec();
    }
    let cut = |(name, words): (&&'a str, &Vec<Word<'a>>)| {
        let from = words.get(head).map_or(0, |w| w.0);
        let to = words.len().checked_sub(tail + 1).and_then(|k| words.get(k)).map_or(name.len(), |w| w.0 + w.1.len());
        name.get(from..to).unwrap_or(name)
    };
    names.iter().zip(&words).map(cut).collect()
}

/// Words of a name and where they begin; a dot between digits is part of a version.
fn words(name: &str) -> Vec<Word<'_>> {
    let bytes = name.as_bytes();
    let digit = |i: Option<usize>| i.and_then(|i| bytes.get(i)).is_some_and(u8::is_ascii_digit);
    let separates = |at: usize, c: char| match c {
        '.' => !(digit(at.checked_sub(1)) && digit(Some(at + 1))),
        c => !c.is_alphanumeric(),
    };
    let mut out = Vec::new();
    let mut from = 0;
    for (at, c) in name.char_indices().filter(|&(at, c)| separates(at, c)) {
        if at > from {
            out.push((from, &name[from..at]));
        }
        from = at + c.len_utf8();
    }
    if from < name.len() {
        out.push((from, &name[from..]));
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(inputs: &[&str]) -> Vec<String> {
        let named: Vec<Named<'_>> = inputs
            .iter()
            .map(|text| match text.split_once('=') {
                Some((label, path)) => Named { label: Some(label), path },
                None => Named { label: None, path: text },
            })
            .collect();
        labels(&named)
    }

    #[test]
    fn labels_are_short_and_distinct() {
        let cases: [(&[&str], &[&str]); 17] = [
            (&["old.txt"], &["old"]),
            (&["dir/old.txt", "new.txt"], &["old", "new"]),
            (&["x-baseline-run.txt", "x-candidate-run.txt"], &["baseline", "candidate"]),
            (&["a/bench.txt", "b/bench.txt"], &["a/bench", "b/bench"]),
            (&["r/a/x/bench.txt", "r/b/x/bench.txt"], &["a/x/bench", "b/x/bench"]),
            (&["bench.txt", "b/bench.txt"], &["bench", "b/bench"]),
            (&["old.txt", "old.txt", "new.txt"], &["old#0", "old#1", "new"]),
            (&["o=old.txt", "o=new.txt"], &["o", "o"]),
            (&["old.txt", "old=new.txt"], &["old.txt", "old"]),
            (&["run.txt", "run-2.txt"], &["run", "run-2"]),
            (&["v1.2.txt", "v1.3.txt"], &["v1.2", "v1.3"]),
            (&["rocksdb-8.11.4", "rocksdb-9.1.0"], &["8.11.4", "9.1.0"]),
            (&["-"], &["stdin"]),
            (&["run_old.txt", "-"], &["run_old", "stdin"]),
            (&["old.txt", "old.json"], &["old.txt", "old.json"]),
            (&["=old.txt", "b=new.txt"], &["", "b"]),
            (&["a/run-old.txt", "b/run-old.txt", "b/run-new.txt"], &["a/old", "b/old", "new"]),
        ];
        for (inputs, want) in cases {
            assert_eq!(of(inputs), want, "{inputs:?}");
        }
    }

    proptest! {
        #[test]
        fn bare_paths_never_pool(inputs in prop::collection::vec("([ab]=)?([ab./-]|#0){0,5}", 0..6)) {
            let refs: Vec<&str> = inputs.iter().map(String::as_str).collect();
            let labels = of(&refs);
            for i in 0..refs.len() {
                for j in 0..i {
                    let typed = refs[i].contains('=') && refs[j].contains('=');
                    prop_assert!(typed || labels[i] != labels[j], "{:?} {:?}", refs, labels);
                }
            }
        }
    }
}
