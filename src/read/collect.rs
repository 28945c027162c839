//! The sink at the end of a parser: keeps what the filter lets pass, each series under its group.

use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasher, Hash, Hasher};
use std::sync::Arc;

use hashbrown::{DefaultHashBuilder, HashTable};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use crate::base::{Diagnostic, Severity, SourceId};
use crate::model::{
    Evidence, Group, Input, Own, Record, Series, SeriesSet, Settings, SettingsId, Sink, UnitAssumption,
};
use crate::parse::go::better;
use crate::pivot::filter::{Decision, Filter};
use crate::pivot::keys::ResultKeys;
use crate::units::{Unit, UnitId};

/// Diagnostics of one code shown per input; the rest is counted.
const SHOWN_PER_CODE: usize = 5;

/// Units of a group that are looked for one by one; a group with more of them has the rest in a map.
const NEAR: usize = 32;

/// Room is made for at most so many values of a series before they are seen.
const MOST_EXPECTED: usize = 1 << 16;

/// The sink of one input.
pub struct Collector<'f> {
    set: SeriesSet,
    filter: &'f Filter,
    source: SourceId,
    hasher: DefaultHashBuilder,
    /// Index of groups by identity, each with its hash: made anew for every growth of the table they would cost as much as the lines.
    index: HashTable<(u64, u32)>,
    /// Where the series of units beyond the first [`NEAR`] of a group are.
    far: FxHashMap<(u32, UnitId), u32>,
    /// Units of a group that the filter drops.
    dropped: FxHashSet<(u32, UnitId)>,
    units: HashMap<Unit, UnitId>,
    /// The group of the last result.
    last: Option<u32>,
    /// Values that a series of the group before it had: the next ones likely have as many.
    expected: usize,
    settings: HashMap<u64, Vec<SettingsId>>,
    /// Generation and number of the settings last seen.
    current: Option<(u64, SettingsId)>,
    said: BTreeMap<&'static str, usize>,
    line: u64,
    removed: usize,
}

impl<'f> Collector<'f> {
    /// An empty sink for input `source`.
    pub fn new(source: SourceId, input: Input, filter: &'f Filter) -> Self {
        let set = SeriesSet { inputs: vec![input], ..SeriesSet::default() };
        Collector {
            set,
            filter,
            source,
            hasher: DefaultHashBuilder::default(),
            index: HashTable::new(),
            far: FxHashMap::default(),
            dropped: FxHashSet::default(),
            units: HashMap::new(),
            last: None,
            expected: 0,
            settings: HashMap::new(),
            current: None,
            said: BTreeMap::new(),
            line: 0,
            removed: 0,
        }
    }

    /// The line being read, and how many bytes were taken from its start before parsers saw it.
    pub fn at(&mut self, line: u64, removed: usize) {
        (self.line, self.removed) = (line, removed);
    }

    /// Names of the formats that gave results.
    pub fn formats(&mut self, found: &[&'static str]) {
        self.set.inputs[0].formats = found.to_vec();
    }

    /// Results kept so far.
    pub fn results(&self) -> u64 {
        self.set.inputs[0].results
    }

    /// What was kept, as a set of one input.
    pub fn finish(mut self) -> SeriesSet {
        for (code, count) in std::mem::take(&mut self.said) {
            if count > SHOWN_PER_CODE {
                let more = count - SHOWN_PER_CODE;
                let d = Diagnostic::warning(code, format!("{more} more like the ones above ({code})"));
                self.set.diagnostics.push(d.in_source(self.source));
            }
        }
        self.set
    }

    fn settings_id(&mut self, settings: &Settings) -> SettingsId {
        if let Some((generation, id)) = self.current
            && generation == settings.generation()
        {
            return id;
        }
        let mut hasher = self.hasher.build_hasher();
        for entry in settings.iter() {
            entry.hash(&mut hasher);
        }
        let same = self.settings.entry(hasher.finish()).or_default();
        let all = &mut self.set.settings;
        let id = same.iter().copied().find(|id| all[id.0 as usize] == *settings).unwrap_or_else(|| {
            let id = SettingsId(u32::try_from(all.len()).unwrap_or(u32::MAX));
            all.push(settings.clone());
            same.push(id);
            id
        });
        self.current = Some((settings.generation(), id));
        id
    }

    /// The group of `record`, made if it is new. `None` when the filter drops it.
    fn group(&mut self, record: &Record<'_>, settings: SettingsId) -> Option<usize> {
        if let Some(last) = self.last
            && is_group(&self.set.groups[last as usize], record, settings)
        {
            return Some(last as usize);
        }

        let hash = self.hasher.hash_one((record.name, settings, record.keys, record.column));
        let groups = &mut self.set.groups;
        if let Some(&(_, at)) =
            self.index.find(hash, |&(h, i)| h == hash && is_group(&groups[i as usize], record, settings))
        {
            self.last = Some(at);
            return Some(at as usize);
        }
        if !self.filter.is_all() {
            let keys = ResultKeys::of_record(record, &self.set.inputs[0].label);
            if matches!(self.filter.decide(&keys), Decision::None) {
                return None;
            }
        }
        let own = !record.keys.is_empty() || record.column.is_some();
        let keys = record.keys.iter().map(|&(k, v)| (Arc::from(k), Box::from(v)));
        let group = Group {
            source: self.source,
            settings,
            line: record.line,
            name: record.name.into(),
            scheme: record.scheme,
            own: own.then(|| Box::new(Own { keys: keys.collect(), column: record.column.map(Box::from) })),
            series: SmallVec::with_capacity(record.readings.len()),
        };
        let at = u32::try_from(groups.len()).ok()?;
        if let Some((_, Series { evidence: Evidence::Raw(before), .. })) =
            self.last.and_then(|last| groups[last as usize].series.first())
        {
            self.expected = before.values.len().min(MOST_EXPECTED);
        }
        self.index.insert_unique(hash, (hash, at), |&(h, _)| h);
        groups.push(Box::new(group));
        self.last = Some(at);
        Some(at as usize)
    }

    /// The place of the series of `unit` in group `at`; `guess` is where it was on the line before. `None` when the filter drops it.
    #[inline]
    fn series(&mut self, at: usize, unit: UnitId, guess: usize, record: &Record<'_>) -> Option<usize> {
        match self.set.groups[at].series.get(guess) {
            Some(s) if s.0 == unit => Some(guess),
            _ => self.find_series(at, unit, record),
        }
    }

    fn find_series(&mut self, at: usize, unit: UnitId, record: &Record<'_>) -> Option<usize> {
        let group = u32::try_from(at).ok()?;
        let series = &mut self.set.groups[at].series;
        if let Some(near) = series.iter().take(NEAR).position(|s| s.0 == unit) {
            return Some(near);
        }
        if let Some(&far) = self.far.get(&(group, unit)) {
            return Some(far as usize);
        }
        if !self.filter.is_all() {
            if self.dropped.contains(&(group, unit)) {
                return None;
            }
            let keys = ResultKeys::of_record(record, &self.set.inputs[0].label);
            if !self.filter.keeps(&keys, &self.set.units[unit.0 as usize]) {
                self.dropped.insert((group, unit));
                return None;
            }
        }
        let new = series.len();
        series.push((unit, Series::with_capacity(self.expected)));
        if new >= NEAR {
            self.far.insert((group, unit), u32::try_from(new).ok()?);
        }
        Some(new)
    }
}

fn is_group(group: &Group, record: &Record<'_>, settings: SettingsId) -> bool {
    *group.name == *record.name
        && group.settings == settings
        && group.scheme == record.scheme
        && group.column() == record.column
        && group.keys().len() == record.keys.len()
        && group.keys().iter().zip(record.keys).all(|((k, v), (rk, rv))| **k == **rk && **v == **rv)
}

impl Sink for Collector<'_> {
    fn unit(&mut self, unit: &Unit) -> UnitId {
        if let Some(id) = self.units.get(unit) {
            return *id;
        }
        let id = UnitId(u32::try_from(self.set.units.len()).unwrap_or(u32::MAX));
        self.set.units.push(unit.clone());
        self.units.insert(unit.clone(), id);
        id
    }

    fn record(&mut self, record: &Record<'_>) {
        let settings = self.settings_id(record.settings);
        let Some(at) = self.group(record, settings) else { return };
        self.set.inputs[0].results += 1;
        for (k, (unit, reading)) in record.readings.iter().enumerate() {
            if let Some(i) = self.series(at, *unit, k, record) {
                self.set.groups[at].series[i].1.push(reading, record.block);
            }
        }
    }

    fn unit_metadata(&mut self, unit: &str, key: &str, value: &str) -> Result<(), String> {
        assume(self.set.assumptions.entry(unit.into()).or_default(), key, value)
    }

    fn diagnose(&mut self, mut diagnostic: Diagnostic) {
        // By convention of the parsers these codes say that a result was left out.
        if diagnostic.code.starts_with("bad-") || diagnostic.code.starts_with("missing-") {
            self.set.inputs[0].skipped += 1;
        }
        let said = self.said.entry(diagnostic.code).or_default();
        *said += 1;
        if *said > SHOWN_PER_CODE && diagnostic.severity == Severity::Warning {
            return;
        }
        if let Some(pos) = &mut diagnostic.pos
            && pos.line == self.line
            && pos.column > 0
        {
            pos.column = pos.column.saturating_add(u32::try_from(self.removed).unwrap_or(0));
        }
        self.set.diagnostics.push(diagnostic.in_source(self.source));
    }
}

/// Records one `key=value` of a unit; an earlier other value stays and is the error.
fn assume(known: &mut UnitAssumption, key: &str, value: &str) -> Result<(), String> {
    use crate::units::Direction;
    match key {
        "better" => {
            let Some(direction) = better(value) else { return Ok(()) };
            match known.better {
                Some(before) if before != direction => {
                    Err(if before == Direction::Lower { "lower" } else { "higher" }.to_owned())
                }
                _ => {
                    known.better = Some(direction);
                    Ok(())
                }
            }
        }
        "assume" if value == "exact" => {
            known.exact = true;
            Ok(())
        }
        "assume" if known.exact => Err("exact".to_owned()),
        _ => Ok(()),
    }
}

/// Adds the groups of `part`, one input, to `set`.
pub(super) fn join(set: &mut SeriesSet, part: SeriesSet) {
    if set.inputs.is_empty() {
        *set = part;
        return;
    }
    let mut known: HashMap<Unit, UnitId> = HashMap::new();
    for unit in &set.units {
        let id = UnitId(u32::try_from(known.len()).unwrap_or(u32::MAX));
        known.insert(unit.clone(), id);
    }
    let units: Vec<UnitId> = part
        .units
        .into_iter()
        .map(|unit| {
            *known.entry(unit).or_insert_with_key(|unit| {
                set.units.push(unit.clone());
                UnitId(u32::try_from(set.units.len() - 1).unwrap_or(u32::MAX))
            })
        })
        .collect();
    let mut known: HashMap<Vec<(&str, &str)>, SettingsId> = HashMap::new();
    for (i, s) in set.settings.iter().enumerate() {
        known.insert(s.iter().collect(), SettingsId(u32::try_from(i).unwrap_or(u32::MAX)));
    }
    let mut fresh: Vec<usize> = Vec::new();
    let ids: Vec<SettingsId> = part
        .settings
        .iter()
        .enumerate()
        .map(|(i, s)| {
            *known.entry(s.iter().collect()).or_insert_with(|| {
                fresh.push(i);
                SettingsId(u32::try_from(set.settings.len() + fresh.len() - 1).unwrap_or(u32::MAX))
            })
        })
        .collect();
    drop(known);
    set.settings.extend(fresh.into_iter().map(|i| part.settings[i].clone()));
    set.inputs.extend(part.inputs);
    set.groups.reserve(part.groups.len());
    for mut group in part.groups {
        group.settings = ids[group.settings.0 as usize];
        for (unit, _) in &mut group.series {
            *unit = units[unit.0 as usize];
        }
        set.groups.push(group);
    }
    set.diagnostics.extend(part.diagnostics);
    for (unit, assumption) in part.assumptions {
        let known = set.assumptions.entry(unit.clone()).or_default();
        known.exact |= assumption.exact;
        match (known.better, assumption.better) {
            (Some(a), Some(b)) if a != b => {
                let message = format!("the inputs disagree on which way {unit} is better; the first one stays");
                set.diagnostics.push(Diagnostic::warning("bad-unit-line", message));
            }
            (None, b) => known.better = b,
            _ => {}
        }
    }
}
