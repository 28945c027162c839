//! The numbers and notes of a benchstat table, for the drop-in mode: a [`Grid`] laid out in benchstat's mode in, finished tables out.
//!
//! Source: golang.org/x/perf/cmd/benchstat and benchmath. The baseline is the first column of each table. Not here: how numbers are written.

use rayon::prelude::*;

use crate::model::{Evidence, Sample};
use crate::pivot::{Grid, GridCell, GridRow, GridTable, Pair};
use crate::report::benchstat::{Cell, Delta, Geomean, Range, Row, Table, Versus};
use crate::stats::{UCache, benchstat};
use crate::units::scale::shortest;

/// What to compare by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Levels {
    /// A difference is shown if p <= alpha; 0 to 1.
    pub alpha: f64,
    /// Of the intervals; 0 to 1.
    pub confidence: f64,
}

impl Default for Levels {
    fn default() -> Self {
        Levels { alpha: 0.05, confidence: 0.95 }
    }
}

/// Computes all tables.
pub fn tables(grid: Grid, levels: Levels) -> Vec<Table> {
    let cache = UCache::new();
    grid.into_tables().map(|t| table(t, levels, &cache)).collect()
}

fn table(table: GridTable, levels: Levels, cache: &UCache) -> Table {
    let exact = table.exact;
    let rows: Vec<Row> = table.rows.into_par_iter().map(|r| row(r, exact, levels, cache)).collect();
    let geomeans = (0..table.columns.len()).map(|i| geomean(&rows, i)).collect();
    let value = |(_, v): &Pair| v.to_string();
    Table {
        keys: table.keys,
        unit: table.unit.name,
        columns: table.columns.iter().map(|c| c.keys.iter().take(c.fields).map(value).collect()).collect(),
        rows,
        geomeans,
    }
}

fn row(row: GridRow, exact: bool, levels: Levels, cache: &UCache) -> Row {
    let samples: Vec<Option<(Sample, Vec<String>)>> = row.cells.into_iter().map(sample).collect();
    let mut cells: Vec<Option<Cell>> = Vec::with_capacity(samples.len());
    for (i, cell) in samples.iter().enumerate() {
        let summarized = cell.as_ref().map(|(sample, varies_in)| {
            let mut cell = summary(sample, varies_in, exact, levels);
            let base = (i > 0).then(|| samples.first()?.as_ref().zip(cells.first()?.as_ref())).flatten();
            cell.versus = base.map(|((s, _), c)| versus((s, c.center), (sample, cell.center), exact, levels, cache));
            cell
        });
        cells.push(summarized);
    }
    Row { name: row.name, cells }
}

/// The values of a cell and the keys in which they vary.
fn sample(cell: Option<GridCell>) -> Option<(Sample, Vec<String>)> {
    let cell = cell?;
    match cell.series.evidence {
        Evidence::Raw(o) => Some((Sample::new(o.values)?, cell.varies_in)),
        Evidence::Summary(_) | Evidence::Mixed => None,
    }
}

fn summary(sample: &Sample, varies_in: &[String], exact: bool, levels: Levels) -> Cell {
    let mut notes = Vec::new();
    if !varies_in.is_empty() {
        notes.push(format!("benchmarks vary in {}", varies_in.join(", ")));
    }
    let values = sample.values();
    let (center, (lo, hi)) = if exact {
        let (lo, hi) = (values[0], values[values.len() - 1]);
        if !sample.is_constant() {
            let (lo, hi) = (shortest(lo), shortest(hi));
            notes.push(format!("exact distribution expected, but values range from {lo} to {hi}"));
        }
        (benchstat::mode(sample), (lo, hi))
    } else {
        (benchstat::median(sample), benchstat::median_ci(sample, levels.confidence))
    };
    if lo.is_infinite() || hi.is_infinite() {
        let needed = match benchstat::samples_needed(levels.confidence) {
            Some(n) => format!(">= {n}"),
            None => "> 50".to_owned(),
        };
        let level = shortest(levels.confidence);
        notes.push(format!("need {needed} samples for confidence interval at level {level}"));
    }
    Cell { center, range: range(center, lo, hi), notes, versus: None }
}

fn range(center: f64, lo: f64, hi: f64) -> Range {
    let sign = |v: f64| v.partial_cmp(&0.0);
    if lo.is_infinite() || hi.is_infinite() {
        Range::Infinite
    } else if sign(lo) != sign(center) || sign(hi) != sign(center) {
        Range::Unknown
    } else if center == 0.0 {
        Range::Percent(0.0)
    } else {
        Range::Percent((hi / center - 1.0).max(1.0 - lo / center) * 100.0)
    }
}

fn versus(
    (base, base_center): (&Sample, f64),
    (new, new_center): (&Sample, f64),
    exact: bool,
    levels: Levels,
    cache: &UCache,
) -> Versus {
    let counts = (base.len(), new.len());
    let mut notes = Vec::new();
    let p = if exact {
        None
    } else {
        match benchstat::mann_whitney(base, new, cache) {
            Ok(p) => {
                if p > levels.alpha {
                    notes.extend(too_few(counts, levels.alpha));
                }
                Some(p)
            }
            Err(benchstat::AllEqual) => {
                notes.push("all samples are equal".to_owned());
                Some(1.0)
            }
        }
    };
    let delta = if p.is_some_and(|p| p > levels.alpha) {
        Delta::Noise
    } else if base_center == new_center {
        Delta::Equal
    } else if base_center == 0.0 {
        Delta::Unknown
    } else {
        Delta::Percent((new_center / base_center - 1.0) * 100.0)
    };
    Versus { delta, p, counts, notes }
}

/// The note that no result could have been significant with these counts.
fn too_few(counts: (usize, usize), alpha: f64) -> Option<String> {
    let needed = match benchstat::detect_needed(alpha) {
        Some(n) if counts.0 as u64 >= n || counts.1 as u64 >= n => return None,
        Some(n) => format!(">= {n}"),
        None if counts.0 >= 10 || counts.1 >= 10 => return None,
        None => "> 10".to_owned(),
    };
    Some(format!("need {needed} samples to detect a difference at alpha level {}", shortest(alpha)))
}

fn geomean(rows: &[Row], i: usize) -> Geomean {
    let center = |r: &Row, i: usize| r.cells[i].as_ref().map(|c| c.center);
    let mut out = Geomean::default();
    let mut ratios = Vec::new();
    let mut base_of_zero = false;
    if i > 0 {
        let bases = rows.iter().filter(|r| r.cells[0].is_some()).count();
        for (base, new) in rows.iter().filter_map(|r| Some((center(r, 0)?, center(r, i)?))) {
            if base == new {
                ratios.push(1.0);
            } else {
                base_of_zero |= base == 0.0;
                ratios.push(new / base);
            }
        }
        if ratios.len() != bases {
            out.notes.push("benchmark set differs from baseline; geomeans may not be comparable".to_owned());
        }
    }
    out.center = running_geomean(rows.iter().filter_map(|r| center(r, i)));
    if out.center.is_none() {
        out.notes.push("summaries must be >0 to compute geomean".to_owned());
    }
    if i > 0 {
        let mean = if base_of_zero { None } else { running_geomean(ratios) };
        if mean.is_none() && !base_of_zero {
            out.notes.push("ratios must be >0 to compute geomean".to_owned());
        }
        out.delta = Some(mean.map_or(Delta::Unknown, |m| Delta::Percent((m - 1.0) * 100.0)));
    }
    out
}

/// By the running mean of logarithms, benchstat's way; `None` for no values or when one is not above 0.
fn running_geomean(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let mut mean = 0.0;
    let mut n = 0.0;
    for value in values {
        if value <= 0.0 {
            return None;
        }
        n += 1.0;
        mean += (value.ln() - mean) / n;
    }
    (n > 0.0).then(|| mean.exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges() {
        for (center, lo, hi, want) in [
            (10.0, 9.0, 12.0, Range::Percent(20.0)),
            (10.0, 5.0, 12.0, Range::Percent(50.0)),
            (0.0, 0.0, 0.0, Range::Percent(0.0)),
            (1.0, 0.0, 2.0, Range::Unknown),
            (-10.0, -12.0, -9.0, Range::Percent(-10.0)),
            (1.0, f64::NEG_INFINITY, 2.0, Range::Infinite),
        ] {
            match (range(center, lo, hi), want) {
                (Range::Percent(got), Range::Percent(want)) => {
                    assert!((got - want).abs() < 1e-9, "{center} {lo} {hi}: {got}");
                }
                (got, want) => assert_eq!(got, want, "{center} {lo} {hi}"),
            }
        }
    }

    #[test]
    fn geometric_means() {
        assert_eq!(running_geomean([]), None);
        assert_eq!(running_geomean([1.0, 0.0]), None);
        assert_eq!(running_geomean([4.0]), Some(4.0_f64.ln().exp()));
        assert!((running_geomean([1.0, 4.0, 16.0]).unwrap() - 4.0).abs() < 1e-14);
    }
}
