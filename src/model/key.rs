//! Keys: the names under which settings and parts of a result's identity can be asked for.

use std::fmt;
use std::sync::{Arc, OnceLock};

use hashbrown::HashMap;

/// A key of the projection and filter languages.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Key {
    /// `.name`
    Name,
    /// `.fullname`: everything that tells the results of one run apart.
    FullName,
    /// `.file`: label of the input.
    File,
    /// `.config`: all settings not named elsewhere.
    Config,
    /// `.unit`, in filters only.
    Unit,
    /// `/k`: part of a Go name; `/gomaxprocs` is the `-N` suffix.
    Part(Arc<str>),
    /// Any other key of a result or setting of its run: a JMH parameter, `goos`, and abstat's own `.label`, `.mode`, `.table`, ...
    Plain(Arc<str>),
}

impl Key {
    /// The key spelled `text`; every text is a key.
    pub fn parse(text: &str) -> Self {
        match text {
            ".name" => Key::Name,
            ".fullname" => Key::FullName,
            ".file" => Key::File,
            ".config" => Key::Config,
            ".unit" => Key::Unit,
            _ => match text.strip_prefix('/') {
                Some(part) => Key::Part(part.into()),
                None => Key::Plain(text.into()),
            },
        }
    }

    /// One of abstat's own keys (`.label`, `.mode`): never part of `.config`.
    pub fn is_dotted(&self) -> bool {
        match self {
            Key::Plain(k) => k.starts_with('.'),
            Key::Part(_) => false,
            _ => true,
        }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Key::Name => f.write_str(".name"),
            Key::FullName => f.write_str(".fullname"),
            Key::File => f.write_str(".file"),
            Key::Config => f.write_str(".config"),
            Key::Unit => f.write_str(".unit"),
            Key::Part(k) => write!(f, "/{k}"),
            Key::Plain(k) => f.write_str(k),
        }
    }
}

/// Settings in force where a result stands (`goos`, `pkg`, `Keys`, ...), in order of first sight.
///
/// A parser keeps one per stream and changes it as it reads; `generation` tells a sink cheaply whether anything changed. A copy shares
/// with its original all blocks of entries that neither of them changes: a stream may change one of many settings very often.
#[derive(Debug, Default)]
pub struct Settings {
    /// Entries, [`FEW`] a block. Those that were unset have an empty value, until they are the most.
    blocks: Vec<Arc<Vec<Entry>>>,
    len: usize,
    unset: usize,
    /// Where each key stands, once there are more than [`FEW`] and one was asked for.
    index: OnceLock<HashMap<Arc<str>, usize>>,
    generation: u64,
}

/// A key and its value.
type Entry = (Arc<str>, Arc<str>);

/// So many keys are looked through one by one.
const FEW: usize = 32;

impl Clone for Settings {
    fn clone(&self) -> Self {
        let Settings { blocks, len, unset, generation, .. } = self;
        Settings { blocks: blocks.clone(), len: *len, unset: *unset, index: OnceLock::new(), generation: *generation }
    }
}

impl PartialEq for Settings {
    /// Equal entries in equal order; the generation is bookkeeping.
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Settings {
    /// Sets `key`; an empty `value` unsets it. Returns whether anything changed.
    pub fn set(&mut self, key: &str, value: &str) -> bool {
        match self.position(key) {
            Some(i) if value.is_empty() => {
                self.change(i, value);
                if let Some(index) = self.index.get_mut() {
                    index.remove(key);
                }
                self.unset += 1;
                if self.unset * 2 >= self.len {
                    self.drop_unset();
                }
            }
            Some(i) if self.entry(i).is_some_and(|(_, v)| **v == *value) => return false,
            Some(i) => self.change(i, value),
            None if value.is_empty() => return false,
            None => self.append((key.into(), value.into())),
        }
        self.generation = next_generation();
        true
    }

    fn entry(&self, i: usize) -> Option<&Entry> {
        self.blocks.get(i / FEW)?.get(i % FEW)
    }

    fn change(&mut self, i: usize, value: &str) {
        let block = self.blocks.get_mut(i / FEW).map(Arc::make_mut);
        if let Some(entry) = block.and_then(|b| b.get_mut(i % FEW)) {
            entry.1 = value.into();
        }
    }

    fn append(&mut self, entry: Entry) {
        if let Some(index) = self.index.get_mut() {
            index.insert(entry.0.clone(), self.len);
        }
        match self.blocks.last_mut().filter(|b| b.len() < FEW) {
            Some(block) => Arc::make_mut(block).push(entry),
            None => self.blocks.push(Arc::new(vec![entry])),
        }
        self.len += 1;
    }

    fn drop_unset(&mut self) {
        let before = std::mem::take(self);
        for (key, value) in before.blocks.iter().flat_map(|b| b.iter()).filter(|(_, v)| !v.is_empty()) {
            self.append((key.clone(), value.clone()));
        }
    }

    fn position(&self, key: &str) -> Option<usize> {
        let entries = || self.blocks.iter().flat_map(|b| b.iter()).enumerate().filter(|(_, (_, v))| !v.is_empty());
        if self.len <= FEW {
            return entries().find(|(_, (k, _))| **k == *key).map(|(i, _)| i);
        }
        self.index.get_or_init(|| entries().map(|(i, (k, _))| (k.clone(), i)).collect()).get(key).copied()
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        if self.len > 0 {
            *self = Settings { generation: next_generation(), ..Settings::default() };
        }
    }

    /// The value of `key`, `None` when unset.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.position(key).and_then(|i| self.entry(i)).map(|(_, v)| &**v)
    }

    /// All `(key, value)` in order of first sight.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.blocks.iter().flat_map(|b| b.iter()).filter(|(_, v)| !v.is_empty()).map(|(k, v)| (&**k, &**v))
    }

    /// Differs whenever the entries may differ; equal numbers mean equal entries within one process. 0: never set.
    pub fn generation(&self) -> u64 {
        self.generation
    }
}

fn next_generation() -> u64 {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_keys_are_found_changed_and_forgotten_like_few() {
        let mut s = Settings::default();
        let mut want: Vec<(String, String)> = Vec::new();
        let mut x = 1u64;
        for _ in 0..2000 {
            x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let key = format!("k{}", (x >> 33) % 90);
            let value = ["", "a", "b", "c"][(x >> 61) as usize % 4];
            let before = (s.clone(), want.clone());
            s.set(&key, value);
            assert!(
                before.0.iter().eq(before.1.iter().map(|(k, v)| (k.as_str(), v.as_str()))),
                "a copy stays as it was"
            );
            assert_eq!(before.0.get(&key), before.1.iter().find(|(k, _)| *k == key).map(|(_, v)| v.as_str()));
            match want.iter().position(|(k, _)| *k == key) {
                Some(i) if value.is_empty() => drop(want.remove(i)),
                Some(i) => want[i].1 = value.to_owned(),
                None if value.is_empty() => {}
                None => want.push((key, value.to_owned())),
            }
            assert!(s.iter().eq(want.iter().map(|(k, v)| (k.as_str(), v.as_str()))));
            assert!((0..90).all(|n| {
                let key = format!("k{n}");
                s.get(&key) == want.iter().find(|(k, _)| *k == key).map(|(_, v)| v.as_str())
            }));
        }
    }

    #[test]
    fn generation_changes_with_the_entries_only() {
        let mut s = Settings::default();
        assert!(s.set("goos", "linux"));
        let g = s.generation();
        assert!(!s.set("goos", "linux"));
        assert_eq!(s.generation(), g);
        assert!(s.set("goos", ""));
        assert_ne!(s.generation(), g);
        assert_eq!(s.get("goos"), None);
    }

    #[test]
    fn keys_print_as_they_are_written() {
        for text in [".name", ".fullname", ".file", ".config", ".unit", "/size", "/gomaxprocs", "goos", ".mode"] {
            assert_eq!(Key::parse(text).to_string(), text);
        }
    }
}
