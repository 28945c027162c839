//! Names that changed between the results compared: `--rename overwrite=overwriteandwait`.

use crate::base::Diagnostic;
use crate::model::{Group, Scheme, SeriesSet};

use super::keys::GoName;

/// An old name and the one it goes by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rename {
    /// The name to replace.
    pub from: String,
    /// Its replacement.
    pub to: String,
}

impl Rename {
    /// Reads `OLD=NEW`; `None` without a `=` or with an empty side.
    pub fn parse(text: &str) -> Option<Self> {
        let (from, to) = text.split_once('=')?;
        (!from.is_empty() && !to.is_empty()).then(|| Rename { from: from.to_owned(), to: to.to_owned() })
    }

    /// The new name of a result, if it is meant: Go's whole name or its base name; a JMH name or its last components; any other name
    /// or its beginning up to a dot (`overwrite.t8.s0`).
    fn apply(&self, name: &str, scheme: Scheme) -> Option<String> {
        let (from, to) = (self.from.as_str(), self.to.as_str());
        if name == from {
            return Some(to.to_owned());
        }
        match scheme {
            Scheme::Go => {
                let base = GoName::new(name).base();
                (base == from).then(|| format!("{to}{}", &name[base.len()..]))
            }
            Scheme::Jmh => {
                let front = name.strip_suffix(from)?;
                front.ends_with('.').then(|| format!("{front}{to}"))
            }
            Scheme::Plain => {
                let rest = name.strip_prefix(from)?;
                rest.starts_with(['.', '#']).then(|| format!("{to}{rest}"))
            }
        }
    }
}

/// Renames results of `set`, each by the first rename that fits, and says what was renamed: tables must show that different names met.
pub fn rename(set: &mut SeriesSet, renames: &[Rename]) -> Vec<Diagnostic> {
    let mut counts = vec![0usize; renames.len()];
    for group in &mut set.groups {
        if let Some(i) = renames.iter().position(|r| renamed(group, r)) {
            counts[i] += 1;
        }
    }
    let say = |(r, n): (&Rename, &usize)| match n {
        0 => Diagnostic::warning("rename-unused", format!("no result is called {}, nothing to rename", r.from)),
        1 => Diagnostic::warning("renamed", format!("{} counts as {} (1 result)", r.from, r.to)),
        n => Diagnostic::warning("renamed", format!("{} counts as {} ({n} results)", r.from, r.to)),
    };
    renames.iter().zip(&counts).map(say).collect()
}

fn renamed(group: &mut Group, rename: &Rename) -> bool {
    let Some(name) = rename.apply(&group.name, group.scheme) else { return false };
    for (key, value) in group.own.iter_mut().flat_map(|own| &mut own.keys) {
        if &**key == "test" && *value == group.name {
            *value = name.as_str().into();
        }
    }
    group.name = name.into();
    true
}

#[cfg(test)]
mod tests {
    use super::super::testing::{dump, plan, set};
    use super::super::{Mode, layout};
    use super::*;

    #[test]
    fn names_change_by_their_scheme() {
        let rename = Rename::parse("Get=Fetch").unwrap();
        for (name, scheme, want) in [
            ("Get", Scheme::Go, Some("Fetch")),
            ("Get-8", Scheme::Go, Some("Fetch-8")),
            ("Get/size=1-8", Scheme::Go, Some("Fetch/size=1-8")),
            ("GetAll-8", Scheme::Go, None),
            ("a.b.Get", Scheme::Jmh, Some("a.b.Fetch")),
            ("a.ForGet", Scheme::Jmh, None),
            ("Get.t8.s0", Scheme::Plain, Some("Fetch.t8.s0")),
            ("Get#2", Scheme::Plain, Some("Fetch#2")),
            ("Gets", Scheme::Plain, None),
        ] {
            assert_eq!(rename.apply(name, scheme).as_deref(), want, "{name}");
        }
        assert_eq!(Rename::parse("a"), None);
        assert_eq!(Rename::parse("=b"), None);
    }

    #[test]
    fn renamed_rows_meet_and_that_is_said() {
        let mut set = set("
            @f
            plain overwrite.t8 test=overwrite.t8 version=1 | 1 op/sec
            plain overwriteandwait.t8 test=overwriteandwait.t8 version=2 | 2 op/sec");
        let renames = ["overwrite=overwriteandwait", "x=y"].map(|r| Rename::parse(r).unwrap());
        let said: Vec<String> = rename(&mut set, &renames).into_iter().map(|d| d.message).collect();
        assert_eq!(
            said,
            ["overwrite counts as overwriteandwait (1 result)", "no result is called x, nothing to rename"]
        );
        let grid = dump(&layout(&mut set, &plan(Mode::Abstat, "")).filled());
        assert!(
            grid.contains("overwriteandwait.t8 [.name=overwriteandwait.t8,test=overwriteandwait.t8]: 1 2"),
            "{grid}"
        );
    }
}
