//! A whole run that shifted: most rows moved the same way by about the same amount. A change of the code rarely does that; a machine that
//! got slower, hotter or busier between two runs does, and no test of one row can tell.

use crate::base::Diagnostic;
use crate::model::Key;
use crate::pivot::Column;
use crate::report::{Table, Test};
use crate::units::Dim;

/// Fewer rows than this moving alike is no wonder.
const FEWEST_ROWS: usize = 8;
/// Share of the rows that go one way.
const SAME_WAY: f64 = 0.8;
/// The deviation of the rows' log ratios, from their median absolute deviation, is at most this share of their median. Without any shift
/// that happens in 0.7 % of suites of 8 rows, 0.4 % of 10 and less than 0.01 % of 20 (normal noise, 40,000 suites each).
const ALIKE: f64 = 0.5;
/// Smaller shifts are not worth a word.
const SMALLEST: f64 = 0.005;

/// Warnings about columns that moved as a whole against their base, over all tables of one unit of time or rate.
pub(super) fn shifted(tables: &[Table]) -> Vec<Diagnostic> {
    let mut pools: Vec<Pool<'_>> = Vec::new();
    for table in tables.iter().filter(|t| t.unit.dim() != Dim::Other && !t.exact) {
        let Some(base) = table.base else { continue };
        for (i, column) in table.columns.iter().enumerate() {
            if i == base || !is_whole_run(column) {
                continue;
            }
            let (unit, old, new) = (&*table.unit.name, &*table.columns[base].label, &*column.label);
            let known = pools.iter().position(|p| (p.unit, p.old, p.new) == (unit, old, new));
            let at = known.unwrap_or_else(|| {
                pools.push(Pool { unit, old, new, logs: Vec::new(), tested: false });
                pools.len() - 1
            });
            for c in table.rows.iter().filter_map(|r| r.comparison(i)) {
                pools[at].tested |= c.test != Test::None;
                let ratio = c.delta_pct.map(|d| 1.0 + d / 100.0).filter(|r| *r > 0.0);
                pools[at].logs.extend(ratio.map(f64::ln));
            }
        }
    }
    let mut said: Vec<(&str, &str)> = Vec::new();
    let mut out = Vec::new();
    for pool in &pools {
        // Time and rate of the same benchmarks tell the same.
        if said.contains(&(pool.old, pool.new)) {
            continue;
        }
        if let Some(d) = pool.warning() {
            said.push((pool.old, pool.new));
            out.push(d);
        }
    }
    out
}

/// Columns are runs, not values of a parameter, which is free to change all rows alike.
fn is_whole_run(column: &Column) -> bool {
    let fields = column.keys.get(..column.fields).unwrap_or_default();
    !fields.is_empty() && fields.iter().all(|(key, _)| Key::parse(key).is_dotted())
}

/// The changes of one column against its base in one unit.
struct Pool<'a> {
    unit: &'a str,
    old: &'a str,
    new: &'a str,
    /// Logarithms of the ratios.
    logs: Vec<f64>,
    /// At least one of them was tested.
    tested: bool,
}

impl Pool<'_> {
    fn warning(&self) -> Option<Diagnostic> {
        let (logs, tested) = (&self.logs, self.tested);
        let shift = median(logs)?;
        let (rows, same) = (logs.len(), logs.iter().filter(|l| **l * shift > 0.0).count());
        let deviations: Vec<f64> = logs.iter().map(|l| (l - shift).abs()).collect();
        /// Of the median absolute deviation to the standard deviation, for the normal law.
        const TO_SD: f64 = 1.4826;
        let alike = TO_SD * median(&deviations)? <= ALIKE * shift.abs();
        let most = same as f64 >= SAME_WAY * rows as f64;
        if rows < FEWEST_ROWS || !most || !alike || shift.abs() < SMALLEST || !tested {
            return None;
        }
        let message = format!(
            "{same} of {rows} rows of {} moved the same way from {} to {}, by about {:+.1}%; that is likely the machine or \
             something else that all of them share, not the code",
            self.unit,
            self.old,
            self.new,
            100.0 * shift.exp_m1(),
        );
        let hint = "measure both sides again in turns (ABAB) on a quiet machine; a run of the same code against itself shows what it does alone";
        Some(Diagnostic::warning("run-shifted", message).hint(hint))
    }
}

/// The middle value; `None` of nothing.
fn median(values: &[f64]) -> Option<f64> {
    let sample = crate::model::Sample::new(values.to_vec())?;
    Some(crate::stats::Ordered::median(&sample))
}
