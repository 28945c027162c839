//! Keys: the names under which settings and parts of a result's identity can be asked for.

use std::fmt;
use std::sync::Arc;

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
/// A parser keeps one per stream and changes it as it reads; `generation` tells a sink cheaply whether anything changed.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    entries: Vec<(Arc<str>, Arc<str>)>,
    generation: u64,
}

impl PartialEq for Settings {
    /// Equal entries in equal order; the generation is bookkeeping.
    fn eq(&self, other: &Self) -> bool {
        self.entries == other.entries
    }
}

impl Settings {
    /// Sets `key`; an empty `value` unsets it. Returns whether anything changed.
    pub fn set(&mut self, key: &str, value: &str) -> bool {
        match self.entries.iter().position(|(k, _)| &**k == key) {
            Some(i) if value.is_empty() => {
                self.entries.remove(i);
            }
            Some(i) if &*self.entries[i].1 == value => return false,
            Some(i) => self.entries[i].1 = value.into(),
            None if value.is_empty() => return false,
            None => self.entries.push((key.into(), value.into())),
        }
        self.generation = next_generation();
        true
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        if !self.entries.is_empty() {
            self.entries.clear();
            self.generation = next_generation();
        }
    }

    /// The value of `key`, `None` when unset.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.entries.iter().find(|(k, _)| &**k == key).map(|(_, v)| &**v)
    }

    /// All `(key, value)` in order of first sight.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.entries.iter().map(|(k, v)| (&**k, &**v))
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
