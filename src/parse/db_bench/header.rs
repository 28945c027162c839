//! Header lines of a db_bench run: `Key:   value`, all optional, turned into settings.
//!
//! | line | setting |
//! |---|---|
//! | `RocksDB:    version 7.8.3`, `LevelDB:    version 1.23`, forks | `tool`, `version` |
//! | `Date:`, `CPU:`, `CPUCache:` | `date`, `cpu`, `cpu_cache` |
//! | `Keys:       20 bytes each (+ 8 bytes user-defined timestamp)` | `key_size` 20, `timestamp_size` 8 |
//! | `Values:     400 bytes each (200 bytes after compression)` | `value_size` 400, `compressed_value_size` 200 |
//! | `Values Distribution: uniform (min: 1, max: 9)` | `value_distribution` |
//! | `Entries:    100000` | `entries` |
//! | any other `Key name: value` between `Keys:` and the rule of dashes | `key_name` |
//! | `Set seed to 17 because --seed was 0` | `seed` |
//!
//! Left out: `RawSize`, `FileSize` (they follow from the others), limits and rates of 0 (off), the database's path.

use std::borrow::Cow;

use crate::model::Settings;
use crate::parse::scan::{integer, is_blank, word};

/// What a header line means to the parser, beyond the settings it made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Header {
    /// `RocksDB: version`: names the program.
    Version,
    /// `Keys:` opens the block of settings, one per process.
    Keys,
    /// A line that no other producer prints (`Values:`, `Entries:`).
    Known,
    /// A line that others may print too (`Date:`, `CPU:`).
    Shared,
    /// The rule that ends the block.
    Rule,
}

/// Settings that a line makes: key and value, the empty value for what is off.
pub type Changes = Vec<(Cow<'static, str>, String)>;

/// Reads a header line; `inside` says that the block of settings is open, where unknown keys count too.
pub fn read(line: &[u8], inside: bool) -> Option<(Header, Changes)> {
    if line.len() >= 40 && line.iter().all(|&b| b == b'-') {
        return inside.then(|| (Header::Rule, Vec::new()));
    }
    if let Some(seed) = line.strip_prefix(b"Set seed to ") {
        let (seed, rest) = word(seed);
        integer(seed).filter(|_| rest.trim_ascii().starts_with(b"because"))?;
        return Some((Header::Known, vec![set("seed", seed)]));
    }
    let colon = memchr::memchr(b':', line.get(..line.len().min(41))?)?;
    let (key, value) = (line.get(..colon)?.trim_ascii_end(), line.get(colon + 1..)?.trim_ascii());
    if !key.first().is_some_and(u8::is_ascii_alphabetic) {
        return None;
    }
    let read = match key {
        b"Keys" => {
            let (size, rest) = size_of(value)?;
            let stamp = parenthesis(rest).filter(|n| *n != b"0").unwrap_or_default();
            (Header::Keys, vec![set("key_size", size), set("timestamp_size", stamp)])
        }
        b"Values" => {
            let (size, rest) = size_of(value)?;
            let compressed = parenthesis(rest).unwrap_or_default();
            (Header::Known, vec![set("value_size", size), set("compressed_value_size", compressed)])
        }
        b"Entries" => {
            integer(value)?;
            (Header::Known, vec![set("entries", value)])
        }
        b"Date" => {
            // ctime: weekday, month, day, time, year.
            let (day, rest) = word(value);
            (day.len() == 3 && rest.iter().filter(|&&b| b == b':').count() == 2).then_some(())?;
            (Header::Shared, vec![set("date", value)])
        }
        b"CPU" => {
            let (count, rest) = word(value);
            integer(count).filter(|_| word(rest).0 == b"*")?;
            (Header::Shared, vec![set("cpu", value)])
        }
        b"CPUCache" => (Header::Shared, vec![set("cpu_cache", value)]),
        b"WARNING" => {
            let known: [&[u8]; 4] = [b"Assertions", b"Optimization", b"Snappy", b"compression"];
            (inside || known.iter().any(|k| value.starts_with(k))).then_some(())?;
            // Not a setting of the user's, but one that makes numbers incomparable, so it is kept where the others are.
            (Header::Known, vec![set("warning", value)])
        }
        b"RawSize" | b"FileSize" if inside => (Header::Known, Vec::new()),
        _ if value.starts_with(b"version ") && is_name(key) => {
            let version = word(value.get(b"version ".len()..)?).0;
            let version = version.strip_suffix(b",").unwrap_or(version);
            // Before April 2016 RocksDB called itself LevelDB; the original stayed at 1.x.
            let tool: &[u8] = match key {
                b"LevelDB" if !version.starts_with(b"1.") => b"RocksDB",
                other => other,
            };
            let (key, tool) = set("tool", tool);
            (Header::Version, vec![(key, tool.to_ascii_lowercase()), set("version", version)])
        }
        _ if inside && is_name(key) && !value.is_empty() => {
            let name = String::from_utf8_lossy(key).to_ascii_lowercase().replace([' ', '-'], "_");
            let value = if word(value).0 == b"0" { b"" } else { value };
            let (_, value) = set("", value);
            let name = match &*name {
                "values_distribution" => Cow::Borrowed("value_distribution"),
                _ => Cow::Owned(name),
            };
            (Header::Known, vec![(name, value)])
        }
        _ => return None,
    };
    Some(read)
}

fn set(key: &'static str, value: &[u8]) -> (Cow<'static, str>, String) {
    (Cow::Borrowed(key), String::from_utf8_lossy(value).into_owned())
}

/// Applies what a line said. Warnings of a run add up.
pub fn apply(changes: Changes, settings: &mut Settings) {
    for (key, value) in changes {
        match settings.get("warning") {
            Some(old) if key == "warning" => {
                if !old.contains(&value) && old.len() < 400 {
                    let both = format!("{old}; {value}");
                    settings.set("warning", &both);
                }
            }
            _ => {
                settings.set(&key, &value);
            }
        }
    }
}

/// `N bytes each ...` or `N avg bytes each ...`: N and what follows `each`.
fn size_of(value: &[u8]) -> Option<(&[u8], &[u8])> {
    let (size, rest) = word(value);
    integer(size)?;
    let (unit, rest) = match word(rest) {
        (b"avg", rest) => word(rest),
        other => other,
    };
    let (each, rest) = word(rest);
    (unit == b"bytes" && each == b"each").then_some((size, rest))
}

/// The first number of `(+ N bytes ...)` or `(N bytes ...)`.
fn parenthesis(rest: &[u8]) -> Option<&[u8]> {
    let rest = rest.trim_ascii().strip_prefix(b"(")?;
    let rest = rest.strip_prefix(b"+").unwrap_or(rest);
    let (n, _) = word(rest);
    integer(n).map(|_| n)
}

/// Words of letters and digits, as header keys are.
fn is_name(key: &[u8]) -> bool {
    key.iter().all(|&b| b.is_ascii_alphanumeric() || is_blank(b) || matches!(b, b'-' | b'_' | b'.' | b'/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_the_settings_they_make() {
        type Row<'a> = (&'a str, bool, Option<Header>, &'a [(&'a str, &'a str)]);
        let rows: &[Row<'_>] = &[
            ("RocksDB:    version 7.8.3", false, Some(Header::Version), &[("tool", "rocksdb"), ("version", "7.8.3")]),
            ("LevelDB:    version 1.23", false, Some(Header::Version), &[("tool", "leveldb"), ("version", "1.23")]),
            ("LevelDB:    version 3.10", false, Some(Header::Version), &[("tool", "rocksdb"), ("version", "3.10")]),
            (
                "Kyoto Cabinet:    version 1.2.76, lib ver 16",
                false,
                Some(Header::Version),
                &[("tool", "kyoto cabinet"), ("version", "1.2.76")],
            ),
            (
                "Date:       Tue Mar  3 09:15:07 2020",
                false,
                Some(Header::Shared),
                &[("date", "Tue Mar  3 09:15:07 2020")],
            ),
            ("Date: 2020-03-03", false, None, &[]),
            ("CPU:        2 * AMD EPYC", false, Some(Header::Shared), &[("cpu", "2 * AMD EPYC")]),
            ("CPU: fast", false, None, &[]),
            ("Keys:       16 bytes each", false, Some(Header::Keys), &[("key_size", "16")]),
            (
                "Keys:       20 bytes each (+ 0 bytes user-defined timestamp)",
                false,
                Some(Header::Keys),
                &[("key_size", "20")],
            ),
            (
                "Keys:       20 bytes each (+ 8 bytes user-defined timestamp)",
                false,
                Some(Header::Keys),
                &[("key_size", "20"), ("timestamp_size", "8")],
            ),
            ("Keys: a, b and c", false, None, &[]),
            (
                "Values:     400 bytes each (200 bytes after compression)",
                true,
                Some(Header::Known),
                &[("value_size", "400"), ("compressed_value_size", "200")],
            ),
            (
                "Values:     100 avg bytes each (50 bytes after compression)",
                true,
                Some(Header::Known),
                &[("value_size", "100"), ("compressed_value_size", "50")],
            ),
            (
                "Values Distribution: uniform (min: 1, max: 9)",
                true,
                Some(Header::Known),
                &[("value_distribution", "uniform (min: 1, max: 9)")],
            ),
            ("Entries:    100000", true, Some(Header::Known), &[("entries", "100000")]),
            ("Prefix:    0 bytes", true, Some(Header::Known), &[]),
            ("Prefix:    8 bytes", true, Some(Header::Known), &[("prefix", "8 bytes")]),
            ("Keys per prefix:    10", true, Some(Header::Known), &[("keys_per_prefix", "10")]),
            ("Keys per prefix:    10", false, None, &[]),
            ("RawSize:    40.1 MB (estimated)", true, Some(Header::Known), &[]),
            ("Memtablerep: SkipListFactory", true, Some(Header::Known), &[("memtablerep", "SkipListFactory")]),
            (
                "WARNING: Assertions are enabled; benchmarks unnecessarily slow",
                true,
                Some(Header::Known),
                &[("warning", "Assertions are enabled; benchmarks unnecessarily slow")],
            ),
            ("------------------------------------------------", true, Some(Header::Rule), &[]),
            ("------------------------------------------------", false, None, &[]),
            ("Set seed to 1657 because --seed was 0", false, Some(Header::Known), &[("seed", "1657")]),
        ];
        for (line, inside, want, settings) in rows {
            let mut s = Settings::default();
            let (header, changes) = read(line.as_bytes(), *inside).unzip();
            assert_eq!(header, *want, "{line}");
            apply(changes.unwrap_or_default(), &mut s);
            assert_eq!(s.iter().collect::<Vec<_>>(), settings.to_vec(), "{line}");
        }
    }
}
