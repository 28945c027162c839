//! What the keys of the two languages mean for a result.

use std::borrow::Cow;
use std::sync::Arc;

use crate::model::{Group, Key, KeyOf, Record, Scheme, SeriesSet, Settings};

/// A Go benchmark name taken apart: `Codec/format=json/size=1k-8`.
///
/// The suffix is a final `-` and digits, GOMAXPROCS. The base name is all up to the first `/`, without a `/` the name less the suffix;
/// so `A-8/x` has the base `A-8`. Parts are what is left, split before each `/`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GoName<'a> {
    base: &'a str,
    parts: &'a str,
    procs: &'a str,
    full: &'a str,
}

impl<'a> GoName<'a> {
    /// Takes `full` apart; every text is a name.
    pub fn new(full: &'a str) -> Self {
        let digits = full.len() - full.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        let head = &full[..full.len() - digits];
        let (body, procs) = match head.strip_suffix('-') {
            Some(body) if digits > 0 => (body, &full[head.len()..]),
            _ => (full, ""),
        };
        let (base, parts) = body.split_at(body.find('/').unwrap_or(body.len()));
        GoName { base, parts, procs, full }
    }

    /// `.name`
    pub fn base(&self) -> &'a str {
        self.base
    }

    /// `/gomaxprocs`: the suffix, else a part of that name, else empty.
    pub fn procs(&self) -> &'a str {
        if self.procs.is_empty() { self.part("gomaxprocs") } else { self.procs }
    }

    /// The parts in order, each with its leading `/`.
    pub fn parts(&self) -> impl Iterator<Item = &'a str> {
        let mut rest = self.parts;
        std::iter::from_fn(move || {
            let body = rest.strip_prefix('/')?;
            let len = body.find('/').map_or(rest.len(), |at| at + 1);
            let (part, tail) = rest.split_at(len);
            rest = tail;
            Some(part)
        })
    }

    /// `(key, value)` of the parts that have a `=`, in order.
    pub fn keyed_parts(&self) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.parts().filter_map(|part| part[1..].split_once('='))
    }

    /// Value of the first part `/key=value`; empty without one.
    pub fn part(&self, key: &str) -> &'a str {
        self.keyed_parts().find(|(k, _)| *k == key).map_or("", |(_, v)| v)
    }

    /// The name without what other keys say: [`Key::Name`] becomes `*`, parts are deleted, `/gomaxprocs` takes the suffix along.
    pub fn without(&self, named: &[Key]) -> Cow<'a, str> {
        let touches = |key: &Key| match key {
            Key::Name => true,
            Key::Part(k) => {
                (&**k == "gomaxprocs" && !self.procs.is_empty()) || self.keyed_parts().any(|(own, _)| own == &**k)
            }
            _ => false,
        };
        if !named.iter().any(touches) {
            return Cow::Borrowed(self.full);
        }
        let names = |key: &str| named.iter().any(|n| matches!(n, Key::Part(k) if &**k == key));
        let mut out = String::with_capacity(self.full.len());
        out.push_str(if named.contains(&Key::Name) { "*" } else { self.base });
        for part in self.parts() {
            if !part[1..].split_once('=').is_some_and(|(key, _)| names(key)) {
                out.push_str(part);
            }
        }
        if !self.procs.is_empty() && !names("gomaxprocs") {
            out.push('-');
            out.push_str(self.procs);
        }
        Cow::Owned(out)
    }
}

/// Keys that a result has of its own, as a record or as a group holds them.
#[derive(Clone, Copy, Debug)]
enum Own<'a> {
    Record(&'a [(&'a str, &'a str)]),
    Group(&'a [(Arc<str>, Box<str>)]),
}

impl<'a> Own<'a> {
    fn get(self, key: &str) -> Option<&'a str> {
        match self {
            Own::Record(keys) => keys.iter().find(|(k, _)| *k == key).map(|(_, v)| *v),
            Own::Group(keys) => keys.iter().find(|(k, _)| &**k == key).map(|(_, v)| &**v),
        }
    }
}

/// The keys of one result.
#[derive(Clone, Copy, Debug)]
pub struct ResultKeys<'a> {
    name: &'a str,
    scheme: Scheme,
    own: Own<'a>,
    settings: Option<&'a Settings>,
    file: &'a str,
}

impl<'a> ResultKeys<'a> {
    /// Keys of a record of the input labelled `label`.
    pub fn of_record(record: &'a Record<'a>, label: &'a str) -> Self {
        ResultKeys {
            name: record.name,
            scheme: record.scheme,
            own: Own::Record(record.keys),
            settings: Some(record.settings),
            file: record.column.unwrap_or(label),
        }
    }

    /// Keys of a group of `set`.
    pub fn of_group(group: &'a Group, set: &'a SeriesSet) -> Self {
        ResultKeys {
            name: &group.name,
            scheme: group.scheme,
            own: Own::Group(group.keys()),
            settings: set.settings.get(group.settings.0 as usize),
            file: match group.column() {
                Some(column) => column,
                None => set.inputs.get(group.source.0 as usize).map_or("", |i| &i.label),
            },
        }
    }

    /// The value of `key`, borrowed from the result where it stands there as it is.
    pub fn get(&self, key: &Key) -> Cow<'a, str> {
        let text = match (key, self.scheme) {
            (Key::Name, Scheme::Go) => GoName::new(self.name).base(),
            (Key::Name, _) => self.name,
            (Key::FullName, Scheme::Go | Scheme::Plain) => self.name,
            (Key::FullName, Scheme::Jmh) => match self.own.get(".label") {
                Some(label) => return Cow::Owned(format!("{}:{label}", self.name)),
                None => self.name,
            },
            (Key::File, _) => self.file,
            (Key::Part(part), Scheme::Go) => {
                let name = GoName::new(self.name);
                if &**part == "gomaxprocs" { name.procs() } else { name.part(part) }
            }
            (Key::Plain(key), _) => self.own.get(key).or_else(|| self.settings.and_then(|s| s.get(key))).unwrap_or(""),
            (Key::Part(_), Scheme::Jmh | Scheme::Plain) | (Key::Config | Key::Unit, _) => "",
        };
        Cow::Borrowed(text)
    }
}

impl KeyOf for ResultKeys<'_> {
    fn value(&self, key: &Key) -> Cow<'_, str> {
        self.get(key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn go_names_come_apart() {
        for (full, base, parts, procs) in [
            ("A-1-2", "A-1", vec![], "2"),
            ("Dash-", "Dash-", vec![], ""),
            ("x-8y", "x-8y", vec![], ""),
            ("A-8/x", "A-8", vec!["/x"], ""),
            ("A/k=v/x-8", "A", vec!["/k=v", "/x"], "8"),
            ("", "", vec![], ""),
            ("-8", "", vec![], "8"),
            ("8", "8", vec![], ""),
            ("A//b/", "A", vec!["/", "/b", "/"], ""),
            ("Ä/ö=ü-16", "Ä", vec!["/ö=ü"], "16"),
        ] {
            let name = GoName::new(full);
            assert_eq!((name.base(), name.parts().collect::<Vec<_>>(), name.procs()), (base, parts, procs), "{full}");
        }
        assert_eq!(GoName::new("A/a=b=c/a=d").part("a"), "b=c");
        assert_eq!(GoName::new("A/gomaxprocs=3").procs(), "3");
        assert_eq!(GoName::new("A/gomaxprocs=3-4").procs(), "4");
    }

    #[test]
    fn named_keys_leave_the_full_name() {
        let keys = |text: &str| text.split(' ').map(Key::parse).collect::<Vec<_>>();
        for (full, named, want) in [
            ("A/x=1/y=2-8", "/x", "A/y=2-8"),
            ("A/x=1/y=2-8", ".name", "*/x=1/y=2-8"),
            ("A/x=1/y=2-8", "/gomaxprocs", "A/x=1/y=2"),
            ("A/x=1/x=2", "/x /z", "A"),
            ("A/gomaxprocs=2-8", "/gomaxprocs", "A"),
            ("A/xy=1", "/x", "A/xy=1"),
            ("A-8", ".name", "*-8"),
            ("A-8/x", ".name", "*/x"),
            ("A", "goos .file", "A"),
        ] {
            assert_eq!(GoName::new(full).without(&keys(named)), want, "{full} {named}");
        }
    }

    #[test]
    fn keys_of_a_record() {
        let mut settings = Settings::default();
        settings.set("goos", "linux");
        settings.set("mode", "setting");
        let record = Record {
            line: 1,
            name: "MapBench.get",
            scheme: Scheme::Jmh,
            keys: &[(".label", "gc.count"), (".mode", "thrpt"), ("mode", "param")],
            settings: &settings,
            block: None,
            readings: &[],
            column: None,
        };
        let keys = ResultKeys::of_record(&record, "old");
        for (key, want) in [
            (".name", "MapBench.get"),
            (".fullname", "MapBench.get:gc.count"),
            (".label", "gc.count"),
            (".mode", "thrpt"),
            ("mode", "param"),
            ("goos", "linux"),
            (".file", "old"),
            ("/x", ""),
            ("nothing", ""),
        ] {
            assert_eq!(keys.get(&Key::parse(key)), want, "{key}");
        }
        let table = Record { column: Some("master"), ..record };
        assert_eq!(ResultKeys::of_record(&table, "old").get(&Key::File), "master");
    }
}
