//! JSON: the whole report, schema 1. Numbers in base units at full precision; unknown is `null`.

use std::io::{self, BufWriter, Write};

use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};

use super::Render;
use crate::base::{Diagnostic, Severity};
use crate::model::{Center, Input};
use crate::pivot::Pair;
use crate::report::{Cell, Comparison, Counts, GateOutcome, Geomean, Report, Row, Table, View};
use crate::units::{Dim, Direction};

/// The renderer.
#[derive(Clone, Copy, Debug, Default)]
pub struct Json;

impl Render for Json {
    fn render(&self, report: &Report, out: &mut dyn Write) -> io::Result<()> {
        let mut out = BufWriter::with_capacity(1 << 16, out);
        serde_json::to_writer(&mut out, &Document(report))?;
        out.write_all(b"\n")?;
        out.flush()
    }
}

struct Document<'a>(&'a Report);

impl Serialize for Document<'_> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let r = self.0;
        let mut m = s.serialize_map(None)?;
        m.serialize_entry("schema", &1)?;
        m.serialize_entry("tool", concat!("abstat ", env!("CARGO_PKG_VERSION")))?;
        m.serialize_entry(
            "settings",
            &SettingsDoc {
                alpha: r.settings.alpha,
                confidence: r.settings.confidence,
                margin: r.settings.margin,
                equivalence: r.settings.equivalence,
                correction: r.settings.correction.to_string(),
                view: if r.settings.view == View::Relative { "relative" } else { "change" },
            },
        )?;
        m.serialize_entry("inputs", &List(&r.inputs, InputDoc))?;
        m.serialize_entry("tables", &List(&r.tables, TableDoc))?;
        m.serialize_entry("summary", &SummaryDoc::from(&r.summary))?;
        m.serialize_entry("gates", &List(&r.gates, GateDoc))?;
        let shown: Vec<_> = r.warnings.iter().filter(|w| w.severity == Severity::Warning).collect();
        m.serialize_entry("warnings", &shown.iter().map(|w| WarningDoc(w, &r.inputs)).collect::<Vec<_>>())?;
        m.end()
    }
}

/// A slice whose items are serialized through a wrapper.
struct List<'a, T, W>(&'a [T], fn(&'a T) -> W);

impl<T, W: Serialize> Serialize for List<'_, T, W> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let mut seq = s.serialize_seq(Some(self.0.len()))?;
        for item in self.0 {
            seq.serialize_element(&(self.1)(item))?;
        }
        seq.end()
    }
}

#[derive(Serialize)]
struct SettingsDoc {
    alpha: f64,
    confidence: f64,
    margin: f64,
    equivalence: bool,
    correction: String,
    view: &'static str,
}

struct InputDoc<'a>(&'a Input);

impl Serialize for InputDoc<'_> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let i = self.0;
        let mut m = s.serialize_map(Some(5))?;
        m.serialize_entry("label", &i.label)?;
        m.serialize_entry("path", &i.path)?;
        m.serialize_entry("format", &i.formats.join("+"))?;
        m.serialize_entry("results", &i.results)?;
        m.serialize_entry("skipped", &i.skipped)?;
        m.end()
    }
}

struct Pairs<'a>(&'a [Pair]);

impl Serialize for Pairs<'_> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let mut m = s.serialize_map(Some(self.0.len()))?;
        for (k, v) in self.0 {
            m.serialize_entry(&**k, &**v)?;
        }
        m.end()
    }
}

struct TableDoc<'a>(&'a Table);

impl Serialize for TableDoc<'_> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct ColumnDoc<'a> {
            label: &'a str,
            keys: Pairs<'a>,
        }
        let t = self.0;
        let mut m = s.serialize_map(None)?;
        m.serialize_entry("keys", &Pairs(&t.keys))?;
        m.serialize_entry("unit", &*t.unit.name)?;
        m.serialize_entry("better", &t.unit.better.map(|b| if b == Direction::Lower { "lower" } else { "higher" }))?;
        m.serialize_entry("columns", &List(&t.columns, |c| ColumnDoc { label: &c.label, keys: Pairs(&c.keys) }))?;
        m.serialize_entry("base", &t.base)?;
        let dim = t.unit.dim();
        m.serialize_entry("rows", &t.rows.iter().map(|row| RowDoc { row, dim, notes: &t.notes }).collect::<Vec<_>>())?;
        m.serialize_entry("geomean", &t.geomean.as_ref().map(GeomeanDoc))?;
        m.end()
    }
}

struct RowDoc<'a> {
    row: &'a Row,
    dim: Dim,
    notes: &'a [String],
}

impl Serialize for RowDoc<'_> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let mut m = s.serialize_map(Some(5))?;
        m.serialize_entry("name", &*self.row.name)?;
        m.serialize_entry("keys", &Pairs(&self.row.keys))?;
        m.serialize_entry("cells", &self.row.cells().map(|c| c.map(CellDoc)).collect::<Vec<_>>())?;
        let comparisons: Vec<_> =
            (0..self.row.width()).map(|i| self.row.comparison(i).map(|c| ComparisonDoc(c, self.dim))).collect();
        m.serialize_entry("comparisons", &comparisons)?;
        let notes = self.row.notes().filter_map(|n| self.notes.get(n)).chain(self.row.warnings());
        m.serialize_entry("notes", &notes.collect::<Vec<_>>())?;
        m.end()
    }
}

/// The contract's word for a center.
pub(super) fn kind_word(kind: Center) -> &'static str {
    match kind {
        Center::Median => "median",
        Center::Mean => "mean",
        Center::ForkMean => "fork-mean",
        Center::Mode => "mode",
        Center::Single => "single",
    }
}

struct CellDoc(Cell);

impl Serialize for CellDoc {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct ReportedDoc {
            center: f64,
            error: Option<f64>,
            confidence: Option<f64>,
        }
        let c = self.0;
        let mut m = s.serialize_map(None)?;
        m.serialize_entry("evidence", if c.raw { "raw" } else { "summary" })?;
        m.serialize_entry("n", &c.n)?;
        m.serialize_entry("forks", &c.forks)?;
        m.serialize_entry("kind", &c.kind.map(kind_word))?;
        // `≈ 0` is below what was printed, not a number.
        m.serialize_entry("center", &c.center.filter(|v| !(c.approximate && *v == 0.0)))?;
        m.serialize_entry("lo", &c.lo)?;
        m.serialize_entry("hi", &c.hi)?;
        m.serialize_entry("confidence", &c.confidence)?;
        if c.coverage.is_some() {
            m.serialize_entry("coverage", &c.coverage)?;
        }
        m.serialize_entry("mean", &c.mean)?;
        m.serialize_entry("sd", &c.sd)?;
        m.serialize_entry("min", &c.min)?;
        m.serialize_entry("max", &c.max)?;
        if let Some(r) = c.reported {
            let doc = ReportedDoc { center: r.center, error: r.error, confidence: r.confidence };
            m.serialize_entry("reported", &doc)?;
        }
        if c.spread_pct.is_some() {
            m.serialize_entry("spread_pct", &c.spread_pct)?;
        }
        if c.approximate {
            m.serialize_entry("approximate", &true)?;
        }
        m.end()
    }
}

struct ComparisonDoc(Comparison, Dim);

impl Serialize for ComparisonDoc {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let c = self.0;
        let mut m = s.serialize_map(None)?;
        m.serialize_entry("base", &c.base)?;
        m.serialize_entry("delta_pct", &c.delta_pct)?;
        m.serialize_entry("difference", &c.difference)?;
        m.serialize_entry("ratio", &c.ratio)?;
        m.serialize_entry("lo", &c.lo)?;
        m.serialize_entry("hi", &c.hi)?;
        m.serialize_entry("confidence", &c.confidence)?;
        if let Some((lo, hi)) = c.equivalence {
            m.serialize_entry("equivalence", &[lo, hi])?;
        }
        m.serialize_entry("p", &c.p)?;
        m.serialize_entry("p_adjusted", &c.p_adjusted)?;
        m.serialize_entry("test", c.test.word())?;
        m.serialize_entry("interval", c.interval.word())?;
        m.serialize_entry("verdict", c.verdict.word(self.1))?;
        m.serialize_entry("why", &c.why.map(|w| w.word()))?;
        m.serialize_entry("relative", &c.relative())?;
        m.end()
    }
}

struct GeomeanDoc<'a>(&'a Geomean);

impl Serialize for GeomeanDoc<'_> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let g = self.0;
        let mut m = s.serialize_map(Some(5))?;
        m.serialize_entry("rows", &g.rows)?;
        m.serialize_entry("centers", &g.centers)?;
        m.serialize_entry("ratios", &g.ratios)?;
        m.serialize_entry("intervals", &g.intervals)?;
        m.serialize_entry("notes", &g.notes)?;
        m.end()
    }
}

#[derive(Serialize)]
struct SummaryDoc {
    faster: usize,
    slower: usize,
    changed: usize,
    same: usize,
    unclear: usize,
    untested: usize,
    unmatched: usize,
    expected_false: f64,
    after_correction: usize,
    in_doubt: usize,
}

impl From<&Counts> for SummaryDoc {
    fn from(c: &Counts) -> Self {
        SummaryDoc {
            faster: c.faster,
            slower: c.slower,
            changed: c.changed,
            same: c.same,
            unclear: c.unclear,
            untested: c.untested,
            unmatched: c.unmatched,
            expected_false: c.expected_false,
            after_correction: c.after_correction,
            in_doubt: c.in_doubt,
        }
    }
}

struct GateDoc<'a>(&'a GateOutcome);

impl Serialize for GateDoc<'_> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct GateRowDoc<'a> {
            name: &'a str,
            unit: &'a str,
            column: &'a str,
            delta_pct: Option<f64>,
            interval_pct: Option<(f64, f64)>,
            verdict: &'a str,
        }
        let g = self.0;
        let mut m = s.serialize_map(Some(4))?;
        m.serialize_entry("rule", &g.rule)?;
        m.serialize_entry("tripped", &g.tripped)?;
        m.serialize_entry("judged", &g.judged)?;
        m.serialize_entry(
            "rows",
            &List(&g.rows, |r| GateRowDoc {
                name: &r.name,
                unit: &r.unit,
                column: &r.column,
                delta_pct: r.delta_pct,
                interval_pct: r.interval_pct,
                verdict: &r.verdict,
            }),
        )?;
        m.end()
    }
}

struct WarningDoc<'a>(&'a Diagnostic, &'a [Input]);

impl Serialize for WarningDoc<'_> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let d = self.0;
        let mut m = s.serialize_map(None)?;
        m.serialize_entry("code", d.code)?;
        m.serialize_entry("message", &d.message)?;
        m.serialize_entry("hint", &d.hint)?;
        m.serialize_entry("source", &d.source.and_then(|s| self.1.get(s.0 as usize)).map(|i| &i.path))?;
        m.serialize_entry("line", &d.pos.map(|p| p.line))?;
        m.serialize_entry("column", &d.pos.map(|p| p.column).filter(|c| *c > 0))?;
        m.end()
    }
}
