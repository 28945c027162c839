//! What a log holds: runs, their benchmarks, the samples of each fork.

use std::collections::{HashMap, HashSet};

use super::head::settings;
use super::result::{ResultBlock, infer_n};
use super::value::Value;
use crate::base::Diagnostic;
use crate::model::jmh_names;
use crate::model::{Center, Reading, Settings, Spread, Summary};
use crate::parse::jmh::label;
use crate::parse::jmh::number::{Approx, Printed};
use crate::parse::jmh::unit::{self, Mode};
use crate::parse::jmh::{CONFIDENCE, Identity, Output, Place, Source, counted};

/// The benchmark being measured.
#[derive(Debug)]
pub struct Block {
    pub line: u64,
    pub name: Option<String>,
    pub mode: Option<Mode>,
    pub params: Vec<(String, String)>,
    pub settings: Vec<(&'static str, String)>,
    pub planned_iterations: Option<u64>,
    pub planned_forks: Option<u32>,
    /// Forks with measured iterations.
    pub forks: u64,
    pub last_fork: u32,
    pub last_iteration: u64,
    pub measured: u64,
    pub failures: u64,
    pub series: Vec<Samples>,
    /// Where the series of a label is, in the unit it had last.
    pub by_label: HashMap<String, usize>,
    pub results: Vec<ResultBlock>,
}

/// Iterations of one metric.
#[derive(Debug)]
pub struct Samples {
    pub label: String,
    pub unit: String,
    pub forks: Vec<ForkSamples>,
    pub count: u64,
    pub approx: u64,
    pub decimals: i32,
}

#[derive(Debug)]
pub struct ForkSamples {
    pub fork: u32,
    pub line: u64,
    /// As printed.
    pub values: Vec<f64>,
}

/// All benchmarks of one final table.
#[derive(Debug)]
pub struct Run {
    pub number: u32,
    pub done: Vec<Done>,
    /// Those measured, by method and parameters.
    index: HashMap<String, Vec<usize>>,
    pub measured: bool,
    pub complete: bool,
}

/// A benchmark that was measured, as the final table is held against it.
#[derive(Debug)]
pub struct Done {
    pub line: u64,
    pub name: String,
    pub mode: Option<Mode>,
    pub params: Vec<(String, String)>,
    pub settings: Settings,
    /// By label.
    pub series: HashMap<String, DoneSeries>,
    pub results: Vec<ResultBlock>,
    /// Only a `Result` block was seen.
    pub standalone: bool,
    /// Another format of the stream told it before.
    pub repeated: bool,
    /// Forks that were measured.
    pub forks: Option<u64>,
}

#[derive(Debug)]
pub struct DoneSeries {
    pub n: u64,
    pub mean: f64,
    pub decimals: i32,
    /// Its samples were pushed.
    pub raw: bool,
    pub covered: bool,
}

/// Where a table row belongs in its run.
pub struct Found<'a> {
    pub name: &'a str,
    pub params: &'a [(String, String)],
    pub settings: &'a Settings,
    /// Samples were pushed: how many, their mean in the printed unit, half a unit of their last place.
    pub raw: Option<(u64, f64, f64)>,
    /// See [`Done::repeated`].
    pub repeated: bool,
    /// See [`Done::forks`].
    pub forks: Option<u64>,
}

impl Run {
    /// A run that takes the next number.
    pub fn open(tables: &mut u32) -> Self {
        *tables += 1;
        Run { number: *tables, done: Vec::new(), index: HashMap::new(), measured: false, complete: false }
    }

    /// Adds a benchmark.
    pub fn add(&mut self, done: Done) {
        if !done.standalone {
            let key = key(label::method(&done.name), &pairs(&done.params));
            self.index.entry(key).or_default().push(self.done.len());
        }
        self.done.push(done);
    }

    /// Whether it was measured already.
    pub fn has(&self, name: &str, mode: Option<Mode>, params: &[(String, String)]) -> bool {
        let key = key(label::method(name), &pairs(params));
        let same = |&at: &usize| self.done.get(at).is_some_and(|d| d.name == name && d.mode == mode);
        self.index.get(&key).into_iter().flatten().any(same)
    }

    /// See [`super::Log::find`].
    pub fn find(
        &mut self,
        name: &str,
        label: &str,
        mode: Mode,
        params: &[(&str, &str)],
        score: Option<Printed>,
    ) -> Option<Found<'_>> {
        let all: Vec<usize>;
        let candidates = if name.is_empty() {
            // A class in lower case: JMH took it for a package and cut it away.
            all = (0..self.done.len()).collect();
            &all
        } else {
            self.index.get(&key(label::method(name), params))?
        };
        let fits = |at: &usize| {
            let d = &self.done[*at];
            let own = || key("", &pairs(&d.params)) == key("", params);
            !d.standalone && d.mode.is_none_or(|m| m == mode) && jmh_names::same(&d.name, name) && own()
        };
        let near = |at: &usize| match (self.done[*at].series.get(label), score) {
            (Some(s), Some(score)) => !s.covered && (s.mean - score.value).abs() <= 2.0 * score.resolution(),
            _ => true,
        };
        let fitting = || candidates.iter().copied().filter(fits);
        let at = fitting().find(near).or_else(|| fitting().next())?;
        let done = &mut self.done[at];
        let mut raw = None;
        if let Some(series) = done.series.get_mut(label) {
            series.covered = true;
            if series.raw {
                raw = Some((series.n, series.mean, 0.5 * 10f64.powi(-series.decimals)));
            }
        } else {
            // Mode `sample`, percentiles: remember that the table has it.
            let covered = DoneSeries { n: 0, mean: 0.0, decimals: 0, raw: false, covered: true };
            done.series.insert(label.to_owned(), covered);
        }
        let done = &self.done[at];
        let Done { name, params, settings, repeated, forks, .. } = done;
        Some(Found { name, params, settings, raw, repeated: *repeated, forks: *forks })
    }
}

/// Method and parameters in a fixed order. `N/A` is what tables print for none.
fn key(method: &str, params: &[(&str, &str)]) -> String {
    let mut params: Vec<_> = params.iter().filter(|(_, v)| *v != "N/A").collect();
    params.sort_unstable();
    let mut key = method.to_owned();
    for (k, v) in params {
        for part in [k, v] {
            key.push('\0');
            key.push_str(part);
        }
    }
    key
}

impl Block {
    pub fn add(&mut self, label: &str, unit: &str, value: Value, line: u64) {
        if self.mode == Some(Mode::Sample) {
            return;
        }
        // Bytes one by one: units are a few, and this is done for each iteration.
        let near = |s: &Samples| {
            s.label.len() == label.len() && s.unit.bytes().eq(unit.bytes()) && (label.is_empty() || s.label == label)
        };
        // The primary metric is first; there may be many others.
        let found = match self.series.first() {
            Some(s) if near(s) => Some(0),
            _ => self.by_label.get(label).copied().filter(|&at| self.series.get(at).is_some_and(near)),
        };
        let at = found.unwrap_or_else(|| {
            self.by_label.insert(label.to_owned(), self.series.len());
            self.series.push(Samples {
                label: label.to_owned(),
                unit: unit.to_owned(),
                forks: Vec::new(),
                count: 0,
                approx: 0,
                decimals: 0,
            });
            self.series.len() - 1
        });
        self.add_at(at, value, line);
    }

    pub fn add_at(&mut self, at: usize, value: Value, line: u64) {
        let fork = self.last_fork;
        let Some(series) = self.series.get_mut(at) else { return };
        series.count += 1;
        let number = match value {
            Value::Exact(p) => {
                series.decimals = p.decimals;
                p.value
            }
            Value::Approx(a) => {
                // Zero is a number; an order of magnitude is not.
                series.approx += u64::from(a != Approx::Zero || !unit::is_sum(&series.unit, &series.label));
                a.value()
            }
        };
        match series.forks.last_mut() {
            Some(f) if f.fork == fork => f.values.push(number),
            _ => series.forks.push(ForkSamples { fork, line, values: vec![number] }),
        }
    }

    pub fn fail(&mut self, measured: bool) {
        self.failures += 1;
        if measured {
            self.measured = self.measured.saturating_sub(1);
        }
    }

    /// Iterations that lack a secondary metric (no collection, no churn) count as zero in JMH's own mean. Where that mean says so, the zeros
    /// are samples too.
    pub fn pad_with_zeros(&mut self) {
        let Some(primary) = self.series.iter().position(|s| s.label.is_empty()) else { return };
        let lengths: Vec<(u32, usize, u64)> =
            self.series[primary].forks.iter().map(|f| (f.fork, f.values.len(), f.line)).collect();
        let all = self.series[primary].count;
        let stated: HashMap<&str, Value> =
            self.results.iter().filter_map(|r| r.value.map(|v| (r.label.as_str(), v))).collect();
        for series in self.series.iter_mut().filter(|s| s.count < all && !s.label.is_empty()) {
            let Some(Value::Exact(stated)) = stated.get(series.label.as_str()) else { continue };
            let sum: f64 = series.forks.iter().flat_map(|f| &f.values).sum();
            #[expect(clippy::cast_precision_loss, reason = "counts of iterations")]
            let mean = sum / all as f64;
            if (mean - stated.value).abs() > 2.0 * stated.resolution() {
                continue;
            }
            for &(fork, length, line) in &lengths {
                match series.forks.iter_mut().find(|f| f.fork == fork) {
                    Some(f) => f.values.resize(length.max(f.values.len()), 0.0),
                    None => series.forks.push(ForkSamples { fork, line, values: vec![0.0; length] }),
                }
            }
            series.forks.sort_by_key(|f| f.fork);
            series.count = all;
        }
    }

    pub fn close(mut self, run: u32, out: &mut Output<'_>) -> Option<Done> {
        let found = match self.mode {
            Some(Mode::Sample) => self.measured,
            _ => self.series.iter().filter(|s| s.label.is_empty()).map(|s| s.count).sum(),
        };
        let Some(name) = self.name.take() else {
            if found > 0 {
                out.diagnose(
                    Diagnostic::warning(
                        "nameless-iterations",
                        format!("{found} iterations of a benchmark that is not named, left out"),
                    )
                    .at_line(self.line)
                    .hint("keep the `# Benchmark:` line or the `Result` block when pasting"),
                );
            }
            return None;
        };
        let mode = self.mode.or_else(|| self.series.first().and_then(|s| Mode::of_unit(&s.unit)));
        self.pad_with_zeros();
        let params = pairs(&self.params);
        let shown = Identity { name: &name, label: "", mode: mode.map_or("", Mode::name), params: &params };
        let forks = u64::from(self.planned_forks.unwrap_or(1).max(1));
        let planned = self.planned_iterations.map(|i| i.saturating_mul(forks));
        if found == 0 {
            out.diagnose(
                Diagnostic::warning("failed-benchmark", format!("{shown}: no result (failed)")).at_line(self.line),
            );
        } else if let Some(planned) = planned
            && found < planned
        {
            out.diagnose(
                Diagnostic::warning("short-run", format!("{shown}: {found} of {planned} iterations"))
                    .at_line(self.line),
            );
        } else if self.failures > 0 {
            out.diagnose(
                Diagnostic::warning("short-run", format!("{shown}: {}", counted(self.failures, "failure", "failures")))
                    .at_line(self.line),
            );
        }
        let settings = settings(self.planned_forks, &self.settings);
        let number = run.to_string();
        let repeated = self.series.iter().find(|s| s.label.is_empty() && s.approx == 0).is_some_and(|s| {
            let (_, factor) = out.unit(&s.unit, mode, "");
            out.told.again(Source::Text, &shown, factor.apply(s.mean()), factor.apply(0.5 * 10f64.powi(-s.decimals)))
        });
        // JMH 0.9 averaged what later versions add up.
        let averaged: HashSet<&str> =
            self.results.iter().filter(|r| r.error.is_some() && !r.added_up).map(|r| r.label.as_str()).collect();
        let mut series = HashMap::new();
        for s in &self.series {
            let averaged = averaged.contains(s.label.as_str());
            let raw = s.approx == 0 && (averaged || !unit::is_sum(&s.unit, &s.label));
            if raw && !repeated {
                s.push(&name, mode, &self.params, &number, &settings, out);
            }
            let done = DoneSeries { n: s.count, mean: s.mean(), decimals: s.decimals, raw, covered: false };
            series.entry(s.label.clone()).or_insert(done);
        }
        Some(Done {
            line: self.line,
            name,
            mode,
            params: self.params,
            settings,
            series,
            results: self.results,
            standalone: false,
            repeated,
            forks: Some(self.forks).filter(|f| *f > 0),
        })
    }
}

impl Samples {
    /// As printed.
    fn mean(&self) -> f64 {
        let sum: f64 = self.forks.iter().flat_map(|f| &f.values).sum();
        #[expect(clippy::cast_precision_loss, reason = "a count of iterations")]
        let mean = sum / self.count as f64;
        mean
    }

    pub fn push(
        &self,
        name: &str,
        mode: Option<Mode>,
        params: &[(String, String)],
        table: &str,
        settings: &Settings,
        out: &mut Output<'_>,
    ) {
        let (unit, factor) = out.unit(&self.unit, mode, &self.label);
        let mode = mode.map_or("", Mode::name);
        let id = Identity { name, label: &self.label, mode, params: &pairs(params) };
        let mut readings = Vec::new();
        for fork in &self.forks {
            readings.clear();
            readings.extend(fork.values.iter().map(|&v| (unit, Reading::One { value: factor.apply(v), weight: 1 })));
            out.push(&id, Place { table, ..Place::default() }, settings, fork.line, Some(fork.fork), &readings);
        }
    }
}

/// Borrowed parameters.
pub fn pairs(params: &[(String, String)]) -> Vec<(&str, &str)> {
    params.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect()
}

impl Done {
    /// Pushes what a `Result` block states, as evidence or beside samples.
    pub fn push_result(&self, result: &ResultBlock, series: Option<&DoneSeries>, table: &str, out: &mut Output<'_>) {
        let Some(value) = result.value else { return };
        let (unit, factor) = out.unit(&result.unit, self.mode, &result.label);
        let raw = series.is_some_and(|s| s.raw);
        let mut n = result.n.or(series.filter(|s| s.n > 0).map(|s| s.n));
        if n.is_none()
            && let (Some(error), Some(stdev)) = (result.error, result.stdev)
        {
            n = infer_n(error, stdev);
            let message = match n {
                Some(n) => format!("{}: n = {n} inferred from error and stdev", self.name),
                None => format!("{}: n is not printed and does not follow from error and stdev", self.name),
            };
            out.diagnose(Diagnostic::note("inferred-n", message).at_line(result.line));
        }
        let sum = result.added_up || (unit::is_sum(&result.unit, &result.label) && result.error.is_none());
        let spread = match result.error {
            Some(e) if !sum => Spread::StudentError {
                half_width: factor.apply(e.value),
                confidence: CONFIDENCE,
                resolution: factor.apply(e.resolution()),
            },
            _ => Spread::None,
        };
        let (value, resolution, approximate) = match value {
            Value::Exact(p) => (p.value, p.resolution(), false),
            Value::Approx(a) => (a.value(), 0.0, true),
        };
        let summary = Summary {
            center: if sum || n == Some(1) { Center::Single } else { Center::Mean },
            value: factor.apply(value),
            spread,
            n,
            forks: self.forks,
            resolution: factor.apply(resolution),
            approximate,
        };
        let reading = if raw { Reading::Reported(summary) } else { Reading::Summary(summary) };
        let params = pairs(&self.params);
        let id = Identity {
            name: &self.name,
            label: &result.label,
            mode: self.mode.map_or("", Mode::name),
            params: &params,
        };
        out.push(&id, Place { table, ..Place::default() }, &self.settings, result.line, None, &[(unit, reading)]);
    }
}
