//! Small series sets written as text, and grids printed as text, for tests.

use std::fmt::Write as _;
use std::sync::Arc;

use super::{Grid, Layout, Mode, layout};
use crate::base::SourceId;
use crate::model::{Evidence, Group, Input, Own, Reading, Scheme, Series, SeriesSet, Settings, SettingsId};
use crate::units::{Unit, UnitId};

/// Reads lines `@label` (a new input), `key: value`, and results `go|jmh|plain NAME k=v ... | VALUE UNIT ...`; a key `column` is the column of
/// a printed table.
pub fn set(text: &str) -> SeriesSet {
    let mut set = SeriesSet::default();
    let mut settings = Settings::default();
    for (number, line) in text.lines().map(str::trim).enumerate().filter(|(_, l)| !l.is_empty()) {
        if let Some(label) = line.strip_prefix('@') {
            set.inputs.push(Input { label: label.into(), path: label.into(), formats: vec![], results: 0, skipped: 0 });
            settings.clear();
        } else if let Some((key, value)) = line.split_once(':').filter(|_| !line.contains('|')) {
            settings.set(key, value.trim());
        } else {
            result(&mut set, &settings, number as u64, line);
        }
    }
    set
}

fn result(set: &mut SeriesSet, settings: &Settings, line: u64, text: &str) {
    let (head, readings) = text.split_once('|').unwrap();
    let mut words = head.split_whitespace();
    let scheme = match words.next().unwrap() {
        "go" => Scheme::Go,
        "jmh" => Scheme::Jmh,
        _ => Scheme::Plain,
    };
    let name: Box<str> = words.next().unwrap().into();
    let mut keys: Vec<(Arc<str>, Box<str>)> =
        words.map(|w| w.split_once('=').unwrap()).map(|(k, v)| (k.into(), v.into())).collect();
    let column = keys.iter().position(|(k, _)| &**k == "column").map(|i| keys.remove(i).1);
    let s = set.settings.iter().position(|x| x == settings).unwrap_or_else(|| {
        set.settings.push(settings.clone());
        set.settings.len() - 1
    });
    let (source, settings) = (SourceId(set.inputs.len() as u32 - 1), SettingsId(s as u32));
    let own = (!keys.is_empty() || column.is_some()).then(|| Box::new(Own { keys, column }));
    let same = |g: &Group| (g.source, g.settings, &g.name, g.scheme, &g.own) == (source, settings, &name, scheme, &own);
    let g = set.groups.iter().position(|g| same(g)).unwrap_or_else(|| {
        set.groups.push(Box::new(Group {
            source,
            settings,
            line,
            name: name.clone(),
            scheme,
            own: own.clone(),
            series: [].into_iter().collect(),
        }));
        set.groups.len() - 1
    });
    let words: Vec<&str> = readings.split_whitespace().collect();
    for pair in words.chunks(2) {
        let unit = Unit::new(&crate::units::tidy::base(pair[1]).name, pair[1]);
        let u = set.units.iter().position(|x| *x == unit).unwrap_or_else(|| {
            set.units.push(unit);
            set.units.len() - 1
        });
        let series = &mut set.groups[g].series;
        let at = series.iter().position(|x| x.0 == UnitId(u as u32)).unwrap_or_else(|| {
            series.push((UnitId(u as u32), Series::new()));
            series.len() - 1
        });
        series[at].1.push(&Reading::One { value: pair[0].parse().unwrap(), weight: 1 }, None);
    }
}

/// A layout in `mode` of the lists given as `--flag list`.
pub fn plan(mode: Mode, flags: &str) -> Layout {
    let mut plan = Layout { mode, ..Layout::default() };
    let words: Vec<&str> = flags.split_whitespace().collect();
    for pair in words.chunks(2) {
        let list = pair[1].parse().unwrap();
        match pair[0] {
            "--table" => plan.table = Some(list),
            "--row" => plan.row = Some(list),
            "--col" => plan.col = Some(list),
            _ => plan.ignore = list,
        }
    }
    plan
}

/// One line per table (`keys | unit | columns`) and row (`name [keys]: values of each cell, and what they vary in`).
pub fn dump(grid: &Grid) -> String {
    fn list<S: AsRef<str>>(keys: &[(S, S)]) -> String {
        keys.iter().map(|(k, v)| format!("{}={}", k.as_ref(), v.as_ref())).collect::<Vec<_>>().join(",")
    }
    let mut out = String::new();
    for t in &grid.tables {
        let column = |c: &super::Column| match c.keys.get(c.fields..) {
            Some([]) | None => c.label.clone(),
            Some(more) => format!("{}({})", c.label, list(more)),
        };
        let columns: Vec<String> = t.columns.iter().map(column).collect();
        let head = format!("{} | {} | {}", list(&t.keys), t.unit.name, columns.join("; "));
        writeln!(out, "{}", head.trim_start()).unwrap();
        for r in &t.rows {
            write!(out, "  {} [{}]:", r.name, list(&r.keys)).unwrap();
            for c in &r.cells {
                let Some(c) = c else {
                    out.push_str(" -");
                    continue;
                };
                match &c.series.evidence {
                    Evidence::Raw(o) => {
                        let values: Vec<String> = o.values.iter().map(f64::to_string).collect();
                        write!(out, " {}", values.join("+")).unwrap();
                    }
                    other => write!(out, " {other:?}").unwrap(),
                }
                if !c.varies_in.is_empty() {
                    write!(out, "<{}>", c.varies_in.join(",")).unwrap();
                }
            }
            out.push('\n');
        }
    }
    for d in &grid.diagnostics {
        writeln!(out, "{:?} {}: {}", d.severity, d.code, d.message).unwrap();
    }
    out
}

/// [`set`], [`layout`] and [`dump`] in one; lines trimmed.
pub fn laid_out(mode: Mode, flags: &str, text: &str) -> String {
    dump(&layout(&mut set(text), &plan(mode, flags)).filled())
}
