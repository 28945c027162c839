//! Samples instead of a report: tidy JSON lines, tidy CSV, and Go benchmark text, all of which are read back to the same samples.
//!
//! Summaries that inputs printed instead of samples are kept by JSON lines alone. Values are in base units at full precision.

use std::borrow::Cow;
use std::io::{self, Write};

use super::csv::io_error;
use crate::model::tidy::TidyLine;
use crate::model::{Evidence, Group, Reading, Record, Scheme, SeriesSet};
use crate::units::Direction;

/// One JSON object per sample and summary, as read by format `abstat`.
///
/// # Errors
/// Whatever writing to `out` gives.
pub fn jsonl(set: &SeriesSet, out: &mut dyn Write) -> io::Result<()> {
    for group in &set.groups {
        let keys: Vec<(&str, &str)> = group.keys().iter().map(|(k, v)| (&**k, &**v)).collect();
        let file = group.column().or(set.inputs.get(group.source.0 as usize).map(|i| i.label.as_str()));
        for (unit, series) in &group.series {
            let mut record = Record {
                line: group.line,
                name: &group.name,
                scheme: group.scheme,
                keys: &keys,
                settings: &set.settings[group.settings.0 as usize],
                block: None,
                readings: &[],
                column: group.column(),
            };
            let unit = &set.units[unit.0 as usize];
            let mut write = |record: &Record<'_>, reading: &Reading| -> io::Result<()> {
                let Some(line) = TidyLine::new(record, unit, reading, file) else { return Ok(()) };
                serde_json::to_writer(&mut *out, &line)?;
                out.write_all(b"\n")
            };
            match &series.evidence {
                Evidence::Raw(o) => {
                    for (i, value) in o.values.iter().enumerate() {
                        record.block = o.blocks().map(|b| b[i]);
                        let weight = o.weights().map_or(1, |w| w[i]);
                        write(&record, &Reading::One { value: *value, weight })?;
                    }
                }
                Evidence::Summary(s) => write(&record, &Reading::Summary((**s).clone()))?,
                Evidence::Mixed => {}
            }
            record.block = None;
            if let Some(s) = series.reported() {
                write(&record, &Reading::Reported(s.clone()))?;
            }
        }
    }
    Ok(())
}

/// One record per sample. Returns the number of summaries left out.
///
/// # Errors
/// Whatever writing to `out` gives.
pub fn csv(set: &SeriesSet, out: &mut dyn Write) -> io::Result<u64> {
    let mut writer = csv::Writer::from_writer(out);
    writer.write_record(["file", "name", "keys", "settings", "unit", "value", "weight", "block"]).map_err(io_error)?;
    let mut left_out = 0;
    for group in &set.groups {
        let keys = group.keys().iter().map(|(k, v)| format!("{k}={v}")).collect::<Vec<_>>().join(";");
        let settings = &set.settings[group.settings.0 as usize];
        let settings = settings.iter().map(|(k, v)| format!("{k}={v}")).collect::<Vec<_>>().join(";");
        let file = group.column().or(set.inputs.get(group.source.0 as usize).map(|i| i.label.as_str()));
        for (unit, series) in &group.series {
            let Evidence::Raw(o) = &series.evidence else {
                left_out += 1;
                continue;
            };
            for (i, value) in o.values.iter().enumerate() {
                let weight = o.weights().map_or(1, |w| w[i]).to_string();
                let block = o.blocks().map_or(String::new(), |b| b[i].to_string());
                let unit = &*set.units[unit.0 as usize].name;
                writer
                    .write_record([
                        file.unwrap_or(""),
                        &group.name,
                        &keys,
                        &settings,
                        unit,
                        &value.to_string(),
                        &weight,
                        &block,
                    ])
                    .map_err(io_error)?;
            }
        }
    }
    writer.flush()?;
    Ok(left_out)
}

/// Go benchmark text: one line per sample, keys as `/key=value` parts of the name. Returns the number of summaries left out.
///
/// # Errors
/// Whatever writing to `out` gives.
pub fn go(set: &SeriesSet, out: &mut dyn Write) -> io::Result<u64> {
    let mut left_out = 0;
    let mut settings = None;
    let mut said: Vec<&str> = Vec::new();
    for unit in &set.units {
        // Directions that a reader of Go text cannot know.
        let word = match unit.better {
            Some(Direction::Lower) => "lower",
            Some(Direction::Higher) => "higher",
            None => continue,
        };
        if crate::units::direction(&unit.name).is_none() && !said.contains(&&*unit.name) {
            said.push(&unit.name);
            writeln!(out, "Unit {} better={word}", token(go_unit(&unit.name)))?;
        }
    }
    for group in &set.groups {
        if settings != Some((group.source, group.settings)) {
            if settings.is_some() {
                writeln!(out)?;
            }
            let before = settings.map(|(_, id): (_, crate::model::SettingsId)| &set.settings[id.0 as usize]);
            let now = &set.settings[group.settings.0 as usize];
            for (k, _) in before.iter().flat_map(|b| b.iter()).filter(|(k, _)| now.get(k).is_none()) {
                writeln!(out, "{}:", setting_key(k))?;
            }
            for (k, v) in now.iter() {
                writeln!(out, "{}: {}", setting_key(k), v.replace(['\n', '\r'], " "))?;
            }
            settings = Some((group.source, group.settings));
        }
        left_out += lines(group, set, out)?;
    }
    Ok(left_out)
}

/// The samples of a group: the k-th values of its units share a line, so that they stay one run.
fn lines(group: &Group, set: &SeriesSet, out: &mut dyn Write) -> io::Result<u64> {
    let mut left_out = 0;
    let mut raw = Vec::new();
    for (unit, series) in &group.series {
        match &series.evidence {
            Evidence::Raw(o) => raw.push((token(go_unit(&set.units[unit.0 as usize].name)), o)),
            _ => left_out += 1,
        }
    }
    let name = go_name(group);
    let rows = raw.iter().map(|(_, o)| o.values.len()).max().unwrap_or(0);
    let forks = raw.iter().filter_map(|(_, o)| o.blocks()).flatten().max().copied().unwrap_or(0);
    let mut fork = None;
    for i in 0..rows {
        let here = raw.iter().find_map(|(_, o)| o.blocks()?.get(i).copied());
        if here.is_some() && here != fork {
            fork = here;
            writeln!(out, "# fork {} of {forks}", here.unwrap_or(0))?;
        }
        let weight = raw.iter().find_map(|(_, o)| o.weights()?.get(i).copied()).unwrap_or(1);
        let mut line = format!("Benchmark{name} 1");
        for (unit, o) in raw.iter() {
            if let Some(v) = o.values.get(i) {
                line.push_str(&format!(" {} {unit}", super::csv::number(Some(*v))));
            }
        }
        line.push('\n');
        for _ in 0..weight {
            out.write_all(line.as_bytes())?;
        }
    }
    Ok(left_out)
}

/// The name as one word, with keys as parts.
fn go_name(group: &Group) -> String {
    let mut name = token(&group.name).into_owned();
    if group.scheme == Scheme::Go {
        return name;
    }
    for (k, v) in group.keys() {
        name.push_str(&format!(
            "/{}={}",
            token(k.trim_start_matches('.')).replace('/', "_"),
            token(v).replace('/', "_")
        ));
    }
    name
}

/// benchstat's spelling of the rate of bytes.
fn go_unit(name: &str) -> &str {
    if name == "B/sec" { "B/s" } else { name }
}

/// White space and controls as `_`, so that it stays one field.
fn token(text: &str) -> Cow<'_, str> {
    let bad = |c: char| c.is_whitespace() || c.is_control();
    if text.contains(bad) { text.replace(bad, "_").into() } else { text.into() }
}

/// A key that Go's reader takes: begins lower case, no blanks, no upper case.
fn setting_key(key: &str) -> String {
    let key: String = token(key).to_lowercase().replace(':', "_");
    if key.starts_with(char::is_lowercase) { key } else { format!("k{key}") }
}
