//! JMH's JSON (`-rf json`), and what other tools write in its shape.
//!
//! The top-level array is cut into its elements as lines come, by a scanner that knows strings and depth and nothing else; each element is
//! read by serde. So a file of any length needs the memory of one element, and a cut or broken file keeps what is complete.
//! JMH 1.21 and older did not escape special characters in values: where an element does not end, the indentation of its braces
//! tells where the next begins.
//!
//! Required: `benchmark`, `mode`, `primaryMetric.score`, `.scoreUnit`. Samples are `rawData`, or `rawDataHistogram` as weighted values; the
//! score and its 99.9 % error are reported beside them. Summaries only, because samples are not there or mean something else:
//! percentiles, metrics that JMH adds up, members of a group in mode `sample`, `rawData: []`.

use std::borrow::Cow;
use std::fmt;

use memchr::memmem;
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::label;
use super::unit::{self, Mode};
use super::{CONFIDENCE, Identity, Output, Place, Repeats, Source, counted};
use crate::base::Diagnostic;
use crate::model::{Center, Reading, Settings, Spread, Summary};
use crate::parse::Line;

/// Bytes of an element before it is known to be JMH's.
const TENTATIVE: usize = 1 << 20;
/// Bytes of an element; a longer one is passed over.
const LONGEST: usize = 256 << 20;

/// Reader of JSON documents in a text.
#[derive(Default)]
pub struct Json {
    at: At,
    /// The document is JMH's.
    confirmed: bool,
    element: Element,
    /// Elements read, and elements lost, of the document.
    read: u64,
    settings: Settings,
    repeats: Repeats,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum At {
    /// Not in a document.
    #[default]
    Outside,
    /// In the array, between elements.
    Between,
    /// In an element of an array.
    Inside,
    /// In an object that is not in an array.
    Alone,
}

/// The element being collected.
#[derive(Default)]
struct Element {
    bytes: Vec<u8>,
    /// Where it begins.
    line: u64,
    column: usize,
    depth: u64,
    in_string: bool,
    escaped: bool,
    /// Blanks before its `{`, if that stands alone on its line.
    indent: Option<usize>,
    /// A string did not end in its line: not JSON.
    broken: bool,
    /// It was longer than [`LONGEST`].
    too_long: bool,
}

impl Json {
    /// Looks at a line; returns whether it is part of a JMH document.
    pub fn line(&mut self, line: Line<'_>, out: &mut Output<'_>) -> bool {
        let bytes = line.bytes;
        let Some(first) = bytes.iter().position(|b| !matches!(b, b' ' | b'\t' | b'\r')) else {
            return self.confirmed && self.at != At::Outside;
        };
        let mut at = first;
        if self.at == At::Outside {
            match bytes[first] {
                b'[' => {
                    // `[info]` and the like are no arrays.
                    if !matches!(next_byte(bytes, first + 1), None | Some(b'{' | b']')) {
                        return false;
                    }
                    (self.at, self.confirmed, self.read) = (At::Between, false, 0);
                    at += 1;
                }
                b'{' => {
                    if !matches!(next_byte(bytes, first + 1), None | Some(b'"')) {
                        return false;
                    }
                    (self.at, self.confirmed, self.read) = (At::Alone, false, 0);
                    self.begin(line, first);
                }
                _ => return false,
            }
        } else if self.confirmed && self.at == At::Inside {
            at = self.resynchronize(line, first, out);
        }
        let mut mine = self.confirmed;
        while at < bytes.len() {
            if self.at == At::Between {
                match bytes[at] {
                    b' ' | b'\t' | b'\r' | b',' => at += 1,
                    b'{' => {
                        self.at = At::Inside;
                        self.begin(line, at);
                    }
                    b']' => {
                        self.at = At::Outside;
                        return mine;
                    }
                    _ => {
                        if self.confirmed {
                            out.diagnose(
                                Diagnostic::warning("bad-json", "expected , or ] between results of a JMH JSON array")
                                    .at(line.number, bytes, at..at + 1)
                                    .hint("results before it are kept"),
                            );
                        }
                        self.at = At::Outside;
                        return mine;
                    }
                }
                continue;
            }
            let (end, closed) = self.element.scan(bytes, at);
            self.element.keep(&bytes[at..end], self.confirmed);
            if !self.confirmed {
                let part = &bytes[at..end];
                self.confirmed = memmem::find(part, b"\"primaryMetric\"").is_some()
                    || memmem::find(part, b"\"jmhVersion\"").is_some();
                mine |= self.confirmed;
            }
            at = end;
            if closed {
                self.end(out);
            }
            if self.at == At::Outside {
                return mine;
            }
        }
        if matches!(self.at, At::Inside | At::Alone) {
            self.element.end_line();
            if !self.confirmed && (self.element.bytes.len() > TENTATIVE || self.element.broken) {
                self.at = At::Outside;
                self.element = Element::default();
            }
        }
        mine
    }

    /// Bytes held in memory.
    #[cfg(test)]
    pub fn held(&self) -> usize {
        self.element.bytes.capacity()
    }

    fn begin(&mut self, line: Line<'_>, at: usize) {
        let alone =
            line.bytes[..at].iter().all(|b| matches!(b, b' ' | b'\t')) && next_byte(line.bytes, at + 1).is_none();
        let mut bytes = std::mem::take(&mut self.element.bytes);
        bytes.clear();
        self.element =
            Element { bytes, line: line.number, column: at, indent: alone.then_some(at), ..Element::default() };
    }

    /// Ends an element whose own end is lost, at a brace that stands where elements begin or end. Returns where to read on.
    fn resynchronize(&mut self, line: Line<'_>, first: usize, out: &mut Output<'_>) -> usize {
        if self.element.indent != Some(first) {
            return first;
        }
        let body = line.bytes[first..].trim_ascii_end();
        if body == b"{" {
            self.element.broken = true;
            self.end(out);
        } else if matches!(body, b"}" | b"}," | b"} ,") && (self.element.depth != 1 || self.element.broken) {
            self.element.keep(b"}", true);
            self.end(out);
            return first + 1;
        }
        first
    }

    fn end(&mut self, out: &mut Output<'_>) {
        self.at = if self.at == At::Inside { At::Between } else { At::Outside };
        if !self.confirmed {
            return;
        }
        self.read += 1;
        let element = std::mem::take(&mut self.element);
        if element.too_long {
            out.diagnose(
                Diagnostic::warning(
                    "bad-json",
                    format!("result {} is longer than {} MB, left out", self.read, LONGEST >> 20),
                )
                .at_line(element.line),
            );
        } else {
            match serde_json::from_slice::<JmhResult<'_>>(&element.bytes) {
                Ok(result) => self.push(&result, element.line, out),
                Err(e) => out.diagnose(element.complain(self.read, &e)),
            }
        }
        // Keep the buffer, unless one element made it very large.
        if element.bytes.capacity() <= 4 << 20 {
            self.element.bytes = element.bytes;
        }
    }

    /// The input ended.
    pub fn finish(&mut self, out: &mut Output<'_>) {
        let at = std::mem::take(&mut self.at);
        if !self.confirmed {
            return;
        }
        match at {
            At::Inside | At::Alone => out.diagnose(
                Diagnostic::warning(
                    "cut-json",
                    format!(
                        "JSON ends inside result {}: it is lost, the {} before it are kept",
                        self.read + 1,
                        self.read
                    ),
                )
                .at_line(self.element.line),
            ),
            At::Between => out.diagnose(Diagnostic::warning(
                "cut-json",
                format!("JSON array is not closed after result {}: more may be missing", self.read),
            )),
            At::Outside => {}
        }
    }
}

fn next_byte(bytes: &[u8], from: usize) -> Option<u8> {
    bytes.get(from..)?.iter().copied().find(|b| !matches!(b, b' ' | b'\t' | b'\r'))
}

impl Element {
    /// Reads on from `bytes[at..]`. Returns where it stopped and whether the element closed there.
    fn scan(&mut self, bytes: &[u8], mut at: usize) -> (usize, bool) {
        while at < bytes.len() {
            if self.in_string {
                if self.escaped {
                    self.escaped = false;
                    at += 1;
                    continue;
                }
                let Some(n) = memchr::memchr2(b'"', b'\\', &bytes[at..]) else { return (bytes.len(), false) };
                at += n + 1;
                if bytes[at - 1] == b'\\' {
                    self.escaped = true;
                } else {
                    self.in_string = false;
                }
                continue;
            }
            match bytes[at] {
                b'"' => self.in_string = true,
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => {
                    self.depth = self.depth.saturating_sub(1);
                    if self.depth == 0 {
                        if !(self.broken && self.indent.is_some()) {
                            return (at + 1, true);
                        }
                        self.depth = 1; // depth means nothing any more: the indentation tells
                    }
                }
                _ => {}
            }
            at += 1;
        }
        (at, false)
    }

    fn keep(&mut self, part: &[u8], confirmed: bool) {
        let limit = if confirmed { LONGEST } else { TENTATIVE + part.len() };
        if self.bytes.len() + part.len() > limit {
            self.too_long = true;
            self.bytes = Vec::new();
        } else if !self.too_long {
            self.bytes.extend_from_slice(part);
        }
    }

    fn end_line(&mut self) {
        // Line breaks inside strings are not JSON; each line starts afresh so that braces are found again.
        self.broken |= self.in_string;
        self.in_string = false;
        self.escaped = false;
        if !self.too_long {
            self.bytes.push(b'\n');
        }
    }

    /// What is wrong with it.
    fn complain(&self, number: u64, e: &serde_json::Error) -> Diagnostic {
        let bad_line = e.line().max(1);
        let text = self.bytes.split(|&b| b == b'\n').nth(bad_line - 1).unwrap_or_default();
        let column = e.column().saturating_sub(1).min(text.len());
        let line = self.line + bad_line as u64 - 1;
        let old = if e.is_data() { None } else { self.old_version() };
        let diagnostic = match old {
            Some(version) => Diagnostic::warning(
                "bad-json",
                format!(
                    "result {number} is not valid JSON near line {line}: written by JMH {version} with special characters in a value; it is left out"
                ),
            )
            .hint("use JMH 1.22 or newer, or its log, table or CSV of the same run"),
            None => Diagnostic::warning("bad-json", format!("result {number} is left out: {}", without_place(e))),
        };
        if bad_line == 1 && self.column > 0 {
            return diagnostic.at_line(line);
        }
        diagnostic.at(line, text, column..column + 1)
    }

    /// The version, where it is one that does not escape.
    fn old_version(&self) -> Option<String> {
        let Some(at) = memmem::find(&self.bytes, b"\"jmhVersion\"") else {
            return Some("1.21 or older".into());
        };
        let text = String::from_utf8_lossy(self.bytes.get(at..(at + 60).min(self.bytes.len()))?);
        let version = text.split('"').nth(3)?.to_owned();
        let minor: u32 = version.strip_prefix("1.")?.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()?;
        (minor <= 21).then(|| format!("{version} (1.21 and older do not escape)"))
    }
}

/// serde's message without its ` at line 3 column 4`, which counts from the element.
fn without_place(e: &serde_json::Error) -> String {
    let text = e.to_string();
    text.rsplit_once(" at line ").map_or(text.clone(), |(message, _)| message.to_owned())
}

// ---- what serde reads -----------------------------------------------------------------------------

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct JmhResult<'a> {
    #[serde(borrow)]
    benchmark: Scalar<'a>,
    #[serde(borrow)]
    mode: Scalar<'a>,
    #[serde(borrow, default)]
    jmh_version: Scalar<'a>,
    #[serde(borrow, default)]
    threads: Scalar<'a>,
    #[serde(borrow, default)]
    forks: Scalar<'a>,
    #[serde(borrow, default)]
    jvm_args: Scalar<'a>,
    #[serde(borrow, default)]
    jdk_version: Scalar<'a>,
    #[serde(borrow, default)]
    vm_name: Scalar<'a>,
    #[serde(borrow, default)]
    vm_version: Scalar<'a>,
    #[serde(borrow, default)]
    warmup_iterations: Scalar<'a>,
    #[serde(borrow, default)]
    warmup_time: Scalar<'a>,
    #[serde(borrow, default)]
    warmup_batch_size: Scalar<'a>,
    #[serde(borrow, default)]
    measurement_iterations: Scalar<'a>,
    #[serde(borrow, default)]
    measurement_time: Scalar<'a>,
    #[serde(borrow, default)]
    measurement_batch_size: Scalar<'a>,
    #[serde(borrow, default)]
    params: Members<Scalar<'a>>,
    #[serde(borrow)]
    primary_metric: Metric<'a>,
    #[serde(borrow, default)]
    secondary_metrics: Members<Metric<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metric<'a> {
    score: Number,
    #[serde(default)]
    score_error: Number,
    #[serde(borrow)]
    score_unit: Scalar<'a>,
    #[serde(default)]
    raw_data: Option<Vec<Vec<Number>>>,
    #[serde(default)]
    raw_data_histogram: Option<Histogram>,
}

/// Per fork and iteration: values and how often each was seen.
type Histogram = Vec<Vec<Vec<(Number, Number)>>>;

/// A number, or JMH's `"NaN"`, `"+INF"`, `"-INF"`, which are not finite.
#[derive(Clone, Copy, Debug)]
struct Number(f64);

impl Default for Number {
    fn default() -> Self {
        Number(f64::NAN)
    }
}

impl Number {
    fn finite(self) -> Option<f64> {
        self.0.is_finite().then_some(self.0)
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct V;
        impl Visitor<'_> for V {
            type Value = Number;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number or \"NaN\"")
            }
            fn visit_f64<E>(self, v: f64) -> Result<Number, E> {
                Ok(Number(v))
            }
            #[expect(clippy::cast_precision_loss, reason = "a measured value")]
            fn visit_u64<E>(self, v: u64) -> Result<Number, E> {
                Ok(Number(v as f64))
            }
            #[expect(clippy::cast_precision_loss, reason = "a measured value")]
            fn visit_i64<E>(self, v: i64) -> Result<Number, E> {
                Ok(Number(v as f64))
            }
            fn visit_str<E: serde::de::Error>(self, v: &str) -> Result<Number, E> {
                match v {
                    "NaN" => Ok(Number(f64::NAN)),
                    "+INF" | "INF" | "Infinity" => Ok(Number(f64::INFINITY)),
                    "-INF" | "-Infinity" => Ok(Number(f64::NEG_INFINITY)),
                    _ => v.parse().map(Number).map_err(|_| E::invalid_value(serde::de::Unexpected::Str(v), &self)),
                }
            }
            fn visit_unit<E>(self) -> Result<Number, E> {
                Ok(Number(f64::NAN))
            }
        }
        d.deserialize_any(V)
    }
}

/// Text, a number, or a list of them with blanks between.
#[derive(Debug, Default)]
struct Scalar<'a>(Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Scalar<'a> {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct V;
        impl<'de> Visitor<'de> for V {
            type Value = Scalar<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("text or a number")
            }
            fn visit_borrowed_str<E>(self, v: &'de str) -> Result<Scalar<'de>, E> {
                Ok(Scalar(Cow::Borrowed(v)))
            }
            fn visit_str<E>(self, v: &str) -> Result<Scalar<'de>, E> {
                Ok(Scalar(Cow::Owned(v.to_owned())))
            }
            fn visit_u64<E>(self, v: u64) -> Result<Scalar<'de>, E> {
                Ok(Scalar(Cow::Owned(v.to_string())))
            }
            fn visit_i64<E>(self, v: i64) -> Result<Scalar<'de>, E> {
                Ok(Scalar(Cow::Owned(v.to_string())))
            }
            fn visit_f64<E>(self, v: f64) -> Result<Scalar<'de>, E> {
                Ok(Scalar(Cow::Owned(v.to_string())))
            }
            fn visit_bool<E>(self, v: bool) -> Result<Scalar<'de>, E> {
                Ok(Scalar(Cow::Borrowed(if v { "true" } else { "false" })))
            }
            fn visit_unit<E>(self) -> Result<Scalar<'de>, E> {
                Ok(Scalar::default())
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Scalar<'de>, A::Error> {
                let mut all = String::new();
                while let Some(item) = seq.next_element::<Cow<'de, str>>()? {
                    if !all.is_empty() {
                        all.push(' ');
                    }
                    all.push_str(&item);
                }
                Ok(Scalar(Cow::Owned(all)))
            }
        }
        d.deserialize_any(V)
    }
}

/// Members of an object in order; `null` and lists have none.
#[derive(Debug)]
struct Members<T>(Vec<(String, T)>);

impl<T> Default for Members<T> {
    fn default() -> Self {
        Members(Vec::new())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Members<T> {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct V<T>(std::marker::PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for V<T> {
            type Value = Members<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<T>, A::Error> {
                let mut all = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    all.push(entry);
                }
                Ok(Members(all))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Members<T>, A::Error> {
                while seq.next_element::<IgnoredAny>()?.is_some() {}
                Ok(Members::default())
            }
            fn visit_unit<E>(self) -> Result<Members<T>, E> {
                Ok(Members::default())
            }
        }
        d.deserialize_any(V(std::marker::PhantomData))
    }
}

// ---- results --------------------------------------------------------------------------------------

impl Json {
    fn push(&mut self, result: &JmhResult<'_>, line: u64, out: &mut Output<'_>) {
        let mode_text = &*result.mode.0;
        let mode = Mode::parse(mode_text);
        for (key, value) in [
            ("forks", &result.forks),
            ("jmhVersion", &result.jmh_version),
            ("jdkVersion", &result.jdk_version),
            ("vmName", &result.vm_name),
            ("vmVersion", &result.vm_version),
            ("jvmArgs", &result.jvm_args),
            ("warmupIterations", &result.warmup_iterations),
            ("warmupTime", &result.warmup_time),
            ("warmupBatchSize", &result.warmup_batch_size),
            ("measurementIterations", &result.measurement_iterations),
            ("measurementTime", &result.measurement_time),
            ("measurementBatchSize", &result.measurement_batch_size),
            ("threads", &result.threads),
        ] {
            // Logs print batches only where they have more than one call.
            let plain = key.ends_with("BatchSize") && value.0 == "1";
            self.settings.set(key, if plain { "" } else { &value.0 });
        }
        let mut params: Vec<(&str, &str)> =
            result.params.0.iter().map(|(k, v)| (k.as_str(), &*v.0)).filter(|(_, v)| !v.is_empty()).collect();
        params.sort_unstable();
        let (name, own_label) = label::split(&result.benchmark.0);
        let id = Identity { name, label: &own_label, mode: mode_text, params: &params };
        let primary = &result.primary_metric;
        let (_, factor) = out.unit(&primary.score_unit.0, mode, id.label);
        if let Some(score) = primary.score.finite()
            && out.told.again(Source::Json, &id, factor.apply(score), 0.0)
        {
            return;
        }
        let shown = self.repeats.name(&id, &result.threads.0);
        let id = Identity { name: &shown, ..id };
        if let Some(mode) = mode
            && unit::kind(&primary.score_unit.0).is_some()
            && !mode.fits(&primary.score_unit.0)
        {
            out.diagnose(
                Diagnostic::warning(
                    "unit-mode",
                    format!("mode {mode_text} but unit {}: unit trusted", primary.score_unit.0),
                )
                .at_line(line),
            );
        }
        let planned = planned(result);
        let lengths: Vec<usize> = primary.raw_data.iter().flatten().map(Vec::len).collect();
        let target = Target { settings: &self.settings, line, mode, planned, lengths: &lengths };
        target.metric(&id, primary, out);
        for (name, metric) in &result.secondary_metrics.0 {
            let label = label::normal(name, label::method(id.name));
            let id = Identity { label: &label, ..id };
            if let Some(score) = metric.score.finite() {
                let (_, factor) = out.unit(&metric.score_unit.0, mode, &label);
                out.told.again(Source::Json, &id, factor.apply(score), 0.0);
            }
            target.metric(&id, metric, out);
        }
    }
}

/// Forks times iterations, as configured.
fn planned(result: &JmhResult<'_>) -> Option<(u64, u64)> {
    let iterations = result.measurement_iterations.0.parse().ok()?;
    let forks: u64 = result.forks.0.parse().ok()?;
    Some((forks.max(1), iterations))
}

/// Where the metrics of an element go.
struct Target<'a> {
    settings: &'a Settings,
    line: u64,
    mode: Option<Mode>,
    planned: Option<(u64, u64)>,
    /// Iterations of each fork.
    lengths: &'a [usize],
}

impl Target<'_> {
    fn metric(&self, id: &Identity<'_>, metric: &Metric<'_>, out: &mut Output<'_>) {
        let printed = &*metric.score_unit.0;
        let main = id.label.is_empty();
        let (unit, factor) = out.unit(printed, self.mode, id.label);
        let push_one = |block, readings: &[_], out: &mut Output<'_>| {
            out.push(id, Place::default(), self.settings, self.line, block, readings)
        };
        let score = metric.score.finite().map(|s| factor.apply(s));
        let error = metric.score_error.finite().map(|e| factor.apply(e.abs()));
        let empty = Vec::new();
        let raw = metric.raw_data.as_ref().unwrap_or(&empty);
        let histogram = metric.raw_data_histogram.iter().flatten().flatten().flatten().next().is_some();
        let raw_count: usize = raw.iter().map(Vec::len).sum();
        let summary = |center, spread, n, forks| {
            score.map(|value| Summary { center, value, spread, n, forks, resolution: 0.0, approximate: false })
        };
        let student = || match error {
            Some(half_width) => Spread::StudentError { half_width, confidence: CONFIDENCE, resolution: 0.0 },
            None => Spread::None,
        };
        if main {
            self.compare_with_plan(id, metric, raw_count, out);
        }

        if unit::is_percentile(id.label)
            || self.is_sum(id, metric)
            || (raw_count == 0 && !histogram)
            || (self.mode == Some(Mode::Sample) && !main)
        {
            let percentile = unit::is_percentile(id.label);
            let sum = self.is_sum(id, metric);
            let n = if sum {
                Some(raw_count as u64).filter(|n| *n > 0)
            } else if !percentile && raw_count == 0 && self.mode != Some(Mode::Sample) {
                if main && score.is_some() {
                    out.diagnose(
                        Diagnostic::note(
                            "planned-n",
                            "rawData is empty: n is taken from forks and iterations as configured",
                        )
                        .at_line(self.line),
                    );
                }
                self.planned.map(|(forks, iterations)| forks.saturating_mul(iterations))
            } else {
                None
            };
            let (center, spread) =
                if percentile || sum { (Center::Single, Spread::None) } else { (Center::Mean, student()) };
            let forks = self.planned.map(|(forks, _)| forks).filter(|_| !percentile && !sum);
            match summary(center, spread, n, forks) {
                Some(s) => push_one(None, &[(unit, Reading::Summary(s))], out),
                None => self.no_number(id, printed, out),
            }
            return;
        }

        if self.mode == Some(Mode::Sample) && !histogram {
            // JMH before 1.14.
            let message = format!("{id}: rawData of mode sample holds means of iterations, not calls");
            out.diagnose(Diagnostic::note("iteration-means", message).at_line(self.line));
        }
        // One record per fork.
        let mut lost = 0u64;
        let mut total = 0u64;
        let mut sum = 0.0;
        let mut readings = Vec::new();
        let mut forks = 0;
        let mut take = |value: Number, weight: u64, readings: &mut Vec<_>| match value.finite() {
            Some(v) if weight > 0 => {
                total += weight;
                #[expect(clippy::cast_precision_loss, reason = "a count of calls")]
                let times = weight as f64;
                sum += factor.apply(v) * times;
                readings.push((unit, Reading::One { value: factor.apply(v), weight }));
            }
            Some(_) => {}
            None => lost += 1,
        };
        let zeros = self.zeros(id, metric);
        let count =
            if histogram { metric.raw_data_histogram.as_ref().map_or(0, Vec::len) } else { raw.len().max(zeros.len()) };
        for fork in 0..count {
            readings.clear();
            if histogram {
                for &(value, weight) in metric.raw_data_histogram.iter().flat_map(|h| h.get(fork)).flatten().flatten() {
                    #[expect(
                        clippy::cast_possible_truncation,
                        clippy::cast_sign_loss,
                        reason = "saturates; NaN becomes 0"
                    )]
                    let weight = weight.0 as u64;
                    take(value, weight, &mut readings);
                }
            } else {
                for &value in raw.get(fork).into_iter().flatten() {
                    take(value, 1, &mut readings);
                }
                for _ in 0..zeros.get(fork).copied().unwrap_or(0) {
                    take(Number(0.0), 1, &mut readings);
                }
            }
            if !readings.is_empty() {
                forks += 1;
                push_one(u32::try_from(fork + 1).ok(), &readings, out);
            }
        }
        if lost > 0 {
            out.diagnose(
                Diagnostic::warning(
                    "no-number",
                    format!("{id}: {}, left out", counted(lost, "value is not a number", "values are not numbers")),
                )
                .at_line(self.line),
            );
        }
        if total == 0 {
            self.no_number(id, printed, out);
            return;
        }
        #[expect(clippy::cast_precision_loss, reason = "a count")]
        let mean = sum / total as f64;
        let Some(score) = score else { return };
        // JMH 0.x computes another score in mode avgt: not the mean of what it lists.
        if (mean - score).abs() > 1e-6 * mean.abs() + factor.apply(1e-3) {
            out.diagnose(
                Diagnostic::note(
                    "score-differs",
                    format!("{id}: the score is not the mean of rawData; rawData is used"),
                )
                .at_line(self.line),
            );
        } else if let Some(s) = summary(Center::Mean, student(), Some(total), Some(forks)) {
            push_one(None, &[(unit, Reading::Reported(s))], out);
        }
    }

    /// Whether JMH added the metric up: it then states no error, for any number of iterations.
    fn is_sum(&self, id: &Identity<'_>, metric: &Metric<'_>) -> bool {
        if id.label.is_empty() || unit::is_percentile(id.label) {
            return false;
        }
        let count: usize = metric.raw_data.iter().flatten().map(Vec::len).sum();
        let stated = metric.score_error.finite().is_some();
        if count > 2 { !stated } else { unit::is_sum(&metric.score_unit.0, id.label) && !stated }
    }

    /// How many zeros belong to each fork: iterations that lack a secondary metric (no collection, no churn) are left out of its rawData
    /// but count as zero in its score.
    fn zeros(&self, id: &Identity<'_>, metric: &Metric<'_>) -> Vec<usize> {
        let (Some(raw), Some(score)) = (&metric.raw_data, metric.score.finite()) else { return Vec::new() };
        let all: usize = self.lengths.iter().sum();
        let count: usize = raw.iter().map(Vec::len).sum();
        if id.label.is_empty() || count >= all || raw.len() > self.lengths.len() {
            return Vec::new();
        }
        let sum: f64 = raw.iter().flatten().map(|n| n.0).sum();
        #[expect(clippy::cast_precision_loss, reason = "a count of iterations")]
        let mean = sum / all as f64;
        if mean.is_nan() || (mean - score).abs() > 1e-9 * score.abs() {
            return Vec::new();
        }
        let own = |fork: usize| raw.get(fork).map_or(0, Vec::len);
        self.lengths.iter().enumerate().map(|(fork, length)| length.saturating_sub(own(fork))).collect()
    }

    fn compare_with_plan(&self, id: &Identity<'_>, metric: &Metric<'_>, raw_count: usize, out: &mut Output<'_>) {
        let Some((forks, iterations)) = self.planned else { return };
        let planned = forks.saturating_mul(iterations);
        let found = match &metric.raw_data_histogram {
            Some(h) if !h.is_empty() => h.iter().map(Vec::len).sum(),
            _ => raw_count,
        } as u64;
        if found > 0 && found < planned {
            out.diagnose(
                Diagnostic::warning("short-run", format!("{id}: {found} of {planned} iterations")).at_line(self.line),
            );
        }
    }

    fn no_number(&self, id: &Identity<'_>, unit: &str, out: &mut Output<'_>) {
        // Text of profilers (`:stack`) has no number by design.
        let diagnostic = if unit == "---" {
            Diagnostic::note("no-number", format!("{id} has no number, left out"))
        } else {
            Diagnostic::warning("no-number", format!("{id}: expected a score, found none that is a number"))
        };
        out.diagnose(diagnostic.at_line(self.line));
    }
}
