//! What was kept of all inputs: groups of series, in order of first appearance.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use smallvec::SmallVec;

use super::{Evidence, Key, Observations, PrintedComparison, Reading, Scheme, Settings, Summary};
use crate::base::{Diagnostic, SourceId};
use crate::units::{Direction, Unit, UnitId};

/// Index into [`SeriesSet::settings`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SettingsId(pub u32);

/// An input as it was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Input {
    /// Its label, `.file`.
    pub label: String,
    /// As typed, without the label.
    pub path: String,
    /// Format names that gave results, in order of first result, such as `go`.
    pub formats: Vec<&'static str>,
    /// Results read (after the filter).
    pub results: u64,
    /// Results that were malformed and left out.
    pub skipped: u64,
}

/// One metric of one group.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// The samples or the summary.
    pub evidence: Evidence,
    /// What few series have.
    stated: Option<Box<Stated>>,
}

/// What an input states beside the evidence.
#[derive(Clone, Debug, Default, PartialEq)]
struct Stated {
    reported: Option<Summary>,
    printed: Option<PrintedComparison>,
}

impl Series {
    /// An empty series of raw observations.
    pub fn new() -> Self {
        Series::of(Evidence::Raw(Observations::default()))
    }

    /// An empty series with room for `n` raw observations.
    pub fn with_capacity(n: usize) -> Self {
        Series::of(Evidence::Raw(Observations::new(Vec::with_capacity(n))))
    }

    /// A series of this evidence.
    pub fn of(evidence: Evidence) -> Self {
        Series { evidence, stated: None }
    }

    /// What the input states about the samples.
    pub fn reported(&self) -> Option<&Summary> {
        self.stated.as_ref()?.reported.as_ref()
    }

    /// What a printed table states against its base column.
    pub fn printed(&self) -> Option<&PrintedComparison> {
        self.stated.as_ref()?.printed.as_ref()
    }

    fn state(&mut self) -> &mut Stated {
        self.stated.get_or_insert_default()
    }

    /// Adds a reading. A summary beside samples becomes what was reported; two summaries cannot be combined.
    pub fn push(&mut self, reading: &Reading, block: Option<u32>) {
        match reading {
            Reading::One { value, weight } => match &mut self.evidence {
                Evidence::Raw(o) => o.push(*value, *weight, block),
                Evidence::Summary(s) => {
                    let mut o = Observations::default();
                    o.push(*value, *weight, block);
                    let reported = (**s).clone();
                    self.evidence = Evidence::Raw(o);
                    self.state().reported = Some(reported);
                }
                Evidence::Mixed => {}
            },
            Reading::Summary(s) => match &self.evidence {
                Evidence::Raw(o) if o.values.is_empty() => self.evidence = Evidence::Summary(Box::new(s.clone())),
                Evidence::Raw(_) => self.state().reported = Some(s.clone()),
                Evidence::Summary(_) => self.evidence = Evidence::Mixed,
                Evidence::Mixed => {}
            },
            Reading::Reported(s) => self.state().reported = Some(s.clone()),
            Reading::Printed(p) => self.state().printed = Some(p.clone()),
        }
    }

    /// Pools `other` into this one.
    pub fn merge(&mut self, other: &Series) {
        match (&mut self.evidence, &other.evidence) {
            (Evidence::Raw(a), Evidence::Raw(b)) => a.append(b),
            (Evidence::Raw(a), _) if a.values.is_empty() => self.evidence = other.evidence.clone(),
            (_, Evidence::Raw(b)) if b.values.is_empty() => {}
            _ => self.evidence = Evidence::Mixed,
        }
        // A statement about one part says nothing about the pool.
        self.stated = None;
    }

    /// Nothing was read into it.
    pub fn is_empty(&self) -> bool {
        matches!(&self.evidence, Evidence::Raw(o) if o.values.is_empty()) && self.reported().is_none()
    }
}

impl Default for Series {
    fn default() -> Self {
        Series::new()
    }
}

/// Many groups. Boxed: a growing list of a million would be copied again and again, and a group that is done with can be let go of.
pub type Groups = Vec<Box<Group>>;

/// All series of one identity in one input under one set of settings.
#[derive(Clone, Debug)]
pub struct Group {
    /// The input.
    pub source: SourceId,
    /// Settings in force.
    pub settings: SettingsId,
    /// Line of its first result.
    pub line: u64,
    /// See [`super::Record::name`].
    pub name: Box<str>,
    /// How to take the name apart.
    pub scheme: Scheme,
    /// See [`Group::keys`] and [`Group::column`]; most groups of Go's have neither.
    pub own: Option<Box<Own>>,
    /// One series per unit, in order of first appearance. A few need no room of their own.
    pub series: SmallVec<[(UnitId, Series); 4]>,
}

/// What a group has beside its name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Own {
    /// See [`super::Record::keys`].
    pub keys: Vec<(Arc<str>, Box<str>)>,
    /// See [`super::Record::column`].
    pub column: Option<Box<str>>,
}

impl Group {
    /// See [`super::Record::keys`].
    pub fn keys(&self) -> &[(Arc<str>, Box<str>)] {
        self.own.as_ref().map_or(&[], |own| &own.keys)
    }

    /// See [`super::Record::column`].
    pub fn column(&self) -> Option<&str> {
        self.own.as_ref()?.column.as_deref()
    }

    /// The value of one of the group's own keys.
    pub fn key(&self, key: &str) -> Option<&str> {
        self.keys().iter().find(|(k, _)| &**k == key).map(|(_, v)| &**v)
    }
}

/// Anything whose keys can be asked for: filters and projections see results through this alone.
pub trait KeyOf {
    /// The value of `key`; the empty string where it is missing. Never called with [`Key::Config`] or [`Key::Unit`].
    fn value(&self, key: &Key) -> Cow<'_, str>;
}

/// What `Unit` lines said of a base unit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UnitAssumption {
    /// `better=`.
    pub better: Option<Direction>,
    /// `assume=exact`.
    pub exact: bool,
}

/// All that was kept.
#[derive(Debug, Default)]
pub struct SeriesSet {
    /// In order of the command line.
    pub inputs: Vec<Input>,
    /// Distinct settings.
    pub settings: Vec<Settings>,
    /// Distinct units (base name and printed spelling); two may share a base name.
    pub units: Vec<Unit>,
    /// Metadata by base unit name.
    pub assumptions: HashMap<Arc<str>, UnitAssumption>,
    /// In order of first appearance: by input, then by line.
    pub groups: Groups,
    /// What was noticed while reading, in order.
    pub diagnostics: Vec<Diagnostic>,
}
