//! abstat's own lines: samples that `abstat run` recorded ([`crate::model::run`]) and tidy lines ([`crate::model::tidy`]).
//!
//! Supported: one JSON object a line, fields in any order, both kinds in one input, a record that was cut off in the middle of a line, a
//! record that was continued (`--resume`), several records one after another, single sample lines (`grep` of a record). Not supported: an
//! object over several lines, an array of objects.
//!
//! Samples of one fork are held back until the fork ended: those of a fork that failed are left out, those of an attempt that was started
//! again too.

use std::collections::HashMap;

use memchr::memmem::Finder;
use smallvec::SmallVec;

use super::{Claim, Line, RecordParser};
use crate::base::{Diagnostic, Severity};
use crate::model::run::{RunHeader, RunLine, RunSample, SCHEMA};
use crate::model::tidy::TidyLine;
use crate::model::{Reading, Record, Scheme, Settings, Sink};
use crate::units::{Unit, UnitId};

/// Reader of one input.
#[derive(Debug)]
pub struct AbstatJsonl {
    finders: [Finder<'static>; 4],
    /// Of the record that is being read.
    run_settings: Settings,
    tidy_settings: Settings,
    /// Heads seen.
    runs: u32,
    /// The fork whose samples are pending.
    fork: Option<Fork>,
    pending: Vec<(u64, RunSample)>,
    blocks: HashMap<(u32, u32, u32), u32>,
    units: Vec<(Unit, UnitId)>,
}

#[derive(Debug, PartialEq)]
struct Fork {
    /// Name without a role.
    benchmark: String,
    fork: u32,
    attempt: u32,
}

impl Default for AbstatJsonl {
    fn default() -> Self {
        AbstatJsonl {
            finders: [
                Finder::new("\"abstat\""),
                Finder::new("\"unit\""),
                Finder::new("\"value\""),
                Finder::new("\"name\""),
            ],
            run_settings: Settings::default(),
            tidy_settings: Settings::default(),
            runs: 0,
            fork: None,
            pending: Vec::new(),
            blocks: HashMap::new(),
            units: Vec::new(),
        }
    }
}

/// The name without its `/role=` part: that of the process.
fn without_role(name: &str) -> String {
    match name.rfind("/role=") {
        Some(start) => {
            let rest = &name[start + 6..];
            let end = rest.find(['/', '-']).unwrap_or(rest.len());
            format!("{}{}", &name[..start], &rest[end..])
        }
        None => name.to_owned(),
    }
}

impl AbstatJsonl {
    fn unit(&mut self, unit: Unit, out: &mut dyn Sink) -> UnitId {
        match self.units.iter().find(|(u, _)| *u == unit) {
            Some(&(_, id)) => id,
            None => {
                let id = out.unit(&unit);
                self.units.push((unit, id));
                id
            }
        }
    }

    /// `"abstat"` stands there as a field's name.
    fn is_run_line(&self, bytes: &[u8]) -> bool {
        let [tag, ..] = &self.finders;
        tag.find(bytes).is_some_and(|at| {
            bytes.get(at + 8..).is_some_and(|rest| rest.iter().find(|b| !b.is_ascii_whitespace()) == Some(&b':'))
        })
    }

    fn is_tidy_line(&self, bytes: &[u8]) -> bool {
        let [_, fields @ ..] = &self.finders;
        fields.iter().all(|f| f.find(bytes).is_some())
    }

    fn run_line(&mut self, number: u64, line: RunLine, out: &mut dyn Sink) {
        match line {
            RunLine::Run(header) => self.head(number, &header, out),
            RunLine::Fork(start) => {
                let again = self.fork.as_ref().is_some_and(|f| f.benchmark == start.benchmark && f.fork == start.fork);
                if again && !self.pending.is_empty() {
                    let message = format!(
                        "fork {} of {} was cut off and started again; {} samples of the first attempt left out",
                        start.fork,
                        start.benchmark,
                        self.pending.len()
                    );
                    out.diagnose(Diagnostic::note("fork-restarted", message).at_line(number));
                    self.pending.clear();
                }
                self.flush(out);
                self.fork = Some(Fork { benchmark: start.benchmark, fork: start.fork, attempt: start.attempt });
            }
            RunLine::Sample(sample) => {
                if !sample.is_measured() {
                    return;
                }
                let fork =
                    Fork { benchmark: without_role(&sample.benchmark), fork: sample.fork, attempt: sample.attempt };
                if self.fork.as_ref() != Some(&fork) {
                    self.flush(out);
                    self.fork = Some(fork);
                }
                self.pending.push((number, *sample));
            }
            RunLine::End(end) if end.ok => self.flush(out),
            RunLine::End(end) => {
                let why = end.message.as_deref().unwrap_or("no reason recorded");
                let message = format!("fork {} of {} failed: {why}; its samples are left out", end.fork, end.benchmark);
                out.diagnose(Diagnostic::warning("fork-failed", message).at_line(number));
                self.pending.clear();
                self.fork = None;
            }
            RunLine::Warning(warning) => {
                let message = format!("abstat run warned: {}", warning.message);
                out.diagnose(Diagnostic::note("run-warning", message).at_line(number));
            }
        }
    }

    fn head(&mut self, number: u64, header: &RunHeader, out: &mut dyn Sink) {
        self.flush(out);
        self.runs = self.runs.saturating_add(1);
        self.run_settings.clear();
        for (key, value) in header.settings() {
            self.run_settings.set(key, &value);
        }
        if header.schema > SCHEMA {
            let message =
                format!("expected a record of schema {SCHEMA} or below, found {}, of {}", header.schema, header.tool);
            let hint = "fields that are new there are passed over; a newer abstat reads them all";
            out.diagnose(Diagnostic::warning("newer-schema", message).at_line(number).hint(hint));
        }
    }

    /// Pushes the samples of the fork that ended.
    fn flush(&mut self, out: &mut dyn Sink) {
        let pending = std::mem::take(&mut self.pending);
        for (line, sample) in &pending {
            self.push(*line, sample, out);
        }
        self.fork = None;
    }

    fn push(&mut self, line: u64, sample: &RunSample, out: &mut dyn Sink) {
        let metrics = sample.metrics();
        if metrics.is_empty() {
            let message = format!("{}: an iteration without operations is no sample", sample.benchmark);
            out.diagnose(Diagnostic::warning("no-operations", message).at_line(line));
            return;
        }
        let mut readings: SmallVec<[(UnitId, Reading); 4]> = SmallVec::new();
        for m in &metrics {
            let id = self.unit(Unit::new(&m.unit, &m.printed), out);
            readings.push((id, Reading::One { value: m.base(), weight: 1 }));
        }
        self.run_settings.set("rocksdb", &sample.rocksdb);
        let next = u32::try_from(self.blocks.len()).unwrap_or(u32::MAX);
        let block = *self.blocks.entry((self.runs, sample.fork, sample.attempt)).or_insert(next);
        out.record(&Record {
            line,
            name: &sample.benchmark,
            scheme: Scheme::Go,
            keys: &[],
            settings: &self.run_settings,
            block: Some(block),
            readings: &readings,
            column: None,
        });
    }

    fn tidy_line(&mut self, number: u64, line: &TidyLine<'_>, out: &mut dyn Sink) {
        let reading = line.reading();
        if let Reading::One { weight: 0, .. } = reading {
            out.diagnose(Diagnostic::warning("bad-value", "expected a weight of 1 or more, found 0").at_line(number));
            return;
        }
        let changed = self.tidy_settings.iter().ne(line.settings.iter());
        if changed {
            self.tidy_settings.clear();
            for (key, value) in line.settings.iter() {
                self.tidy_settings.set(key, value);
            }
        }
        let unit = self.unit(line.unit(), out);
        let keys: SmallVec<[(&str, &str); 8]> = line.keys.iter().filter(|(_, v)| !v.is_empty()).collect();
        out.record(&Record {
            line: number,
            name: &line.name,
            scheme: line.scheme.into(),
            keys: &keys,
            settings: &self.tidy_settings,
            block: line.block,
            readings: &[(unit, reading)],
            column: line.file.as_deref(),
        });
    }
}

/// What serde says of a line, as a diagnostic with the column.
fn bad_line(line: Line<'_>, error: &serde_json::Error) -> Diagnostic {
    // serde_json counts bytes of the line from 1 and points at the last byte it looked at; 0 where it knows no place.
    let span = match error.column() {
        0 => 0..line.bytes.len(),
        column => column - 1..column,
    };
    let text = error.to_string();
    let what = text.rsplit_once(" at line ").map_or(text.as_str(), |(what, _)| what);
    Diagnostic::warning("bad-json-line", format!("expected a sample of abstat, found: {what}"))
        .at(line.number, line.bytes, span)
        .hint("line skipped")
}

impl RecordParser for AbstatJsonl {
    fn line(&mut self, line: Line<'_>, out: &mut dyn Sink) -> Claim {
        let bytes = line.bytes.trim_ascii_start();
        if bytes.first() != Some(&b'{') {
            return Claim::No;
        }
        if self.is_run_line(bytes) {
            match serde_json::from_slice::<RunLine>(line.bytes) {
                Ok(run) => self.run_line(line.number, run, out),
                Err(e) => out.diagnose(bad_line(line, &e)),
            }
            Claim::Mine
        } else if self.is_tidy_line(bytes) {
            match serde_json::from_slice::<TidyLine<'_>>(line.bytes) {
                Ok(tidy) => self.tidy_line(line.number, &tidy, out),
                Err(e) => out.diagnose(bad_line(line, &e)),
            }
            Claim::Mine
        } else {
            Claim::No
        }
    }

    fn finish(&mut self, out: &mut dyn Sink) {
        if self.fork.is_some() && !self.pending.is_empty() {
            let message = "the record ends in the middle of a fork; the iterations before count";
            let diagnostic = Diagnostic { severity: Severity::Note, ..Diagnostic::warning("cut-off", message) };
            out.diagnose(diagnostic);
        }
        self.flush(out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::run::{ForkEnd, ForkStart, Host, Phase, RunWarning};
    use crate::parse::testing::{Recorded, read};

    const NAME: &str = "RocksDB/op=get/cf=none/keys=1000/ksize=16/vsize=100/cache=lru/io=buffered-2";

    fn head(seed: u64) -> RunLine {
        RunLine::Run(Box::new(RunHeader {
            schema: SCHEMA,
            tool: "abstat 0.1.0".into(),
            seed,
            host: Host { os: "linux".into(), arch: "amd64".into(), cpu: "X".into(), ..Host::default() },
            ..RunHeader::default()
        }))
    }

    fn sample(fork: u32, attempt: u32, ops_s: f64) -> RunLine {
        RunLine::Sample(Box::new(RunSample {
            benchmark: NAME.to_owned(),
            params: [("op", "get")].into_iter().collect(),
            engine: "rocksdb".to_owned(),
            rocksdb: "7.8.3".to_owned(),
            role: None,
            fork,
            attempt,
            iteration: 1,
            phase: Phase::Measured,
            ops: 1000,
            calls: None,
            seconds: 0.5,
            thread_seconds: 1.0,
            ops_s,
            bytes: 116_000,
            found: 1000,
            threads: 2,
            latency: None,
        }))
    }

    fn start(fork: u32, attempt: u32) -> RunLine {
        RunLine::Fork(ForkStart { benchmark: NAME.into(), fork, attempt })
    }

    fn end(fork: u32, attempt: u32, ok: bool) -> RunLine {
        let message = (!ok).then(|| "disk full".to_owned());
        RunLine::End(ForkEnd { benchmark: NAME.into(), fork, attempt, ok, message })
    }

    fn run(lines: &[RunLine]) -> Recorded {
        let text: String = lines.iter().map(|l| l.to_text().unwrap()).collect();
        read(Box::new(AbstatJsonl::default()), text.as_bytes())
    }

    /// Block and rate of each sample kept.
    fn rates(recorded: &Recorded) -> Vec<(u32, f64)> {
        recorded
            .kept
            .iter()
            .filter(|k| &*k.unit.name == "op/sec")
            .map(|k| (k.block.unwrap(), k.value().unwrap()))
            .collect()
    }

    #[test]
    fn a_record_gives_its_samples_with_forks_as_blocks() {
        let r = run(&[
            head(42),
            RunLine::Warning(RunWarning { code: "load".into(), message: "load is 3".into() }),
            start(1, 1),
            sample(1, 1, 2000.0),
            sample(1, 1, 2100.0),
            end(1, 1, true),
            start(2, 1),
            sample(2, 1, 2200.0),
            end(2, 1, true),
        ]);
        assert_eq!(rates(&r), [(0, 2000.0), (0, 2100.0), (1, 2200.0)]);
        let first = &r.kept[0];
        assert_eq!((first.name.as_str(), first.scheme, &*first.unit.printed), (NAME, Scheme::Go, "ns/op"));
        assert_eq!(first.value(), Some(500_000.0 * 1e-9));
        let settings: Vec<(&str, &str)> = first.settings.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
        assert_eq!(
            settings,
            [("goos", "linux"), ("goarch", "amd64"), ("cpu", "X"), ("seed", "42"), ("rocksdb", "7.8.3")]
        );
        assert_eq!(
            r.diagnostics.iter().map(|d| (d.code, d.severity)).collect::<Vec<_>>(),
            [("run-warning", Severity::Note)]
        );
        assert!(r.claims.iter().all(|&c| c == Claim::Mine));
    }

    #[test]
    fn failed_and_restarted_forks_leave_no_samples_but_a_word() {
        let r = run(&[
            head(42),
            start(1, 1),
            sample(1, 1, 1.0),
            end(1, 1, false),
            start(2, 1),
            sample(2, 1, 2.0),
            start(2, 2),
            sample(2, 2, 3.0),
            end(2, 2, true),
            start(3, 1),
            sample(3, 1, 4.0),
        ]);
        assert_eq!(rates(&r).iter().map(|&(_, v)| v).collect::<Vec<_>>(), [3.0, 4.0]);
        assert_eq!(
            r.diagnostics.iter().map(|d| d.code).collect::<Vec<_>>(),
            ["fork-failed", "fork-restarted", "cut-off"]
        );
        assert!(r.diagnostics[0].message.contains("disk full"));
    }

    #[test]
    fn forks_of_two_records_in_one_input_are_different_processes() {
        let r = run(&[head(1), sample(1, 1, 1.0), head(2), sample(1, 1, 2.0)]);
        assert_eq!(rates(&r), [(0, 1.0), (1, 2.0)]);
        let seeds: Vec<_> =
            r.kept.iter().map(|k| k.settings.iter().find(|(k, _)| k == "seed").unwrap().1.clone()).collect();
        assert_eq!((seeds.first().unwrap().as_str(), seeds.last().unwrap().as_str()), ("1", "2"));
    }

    #[test]
    fn roles_of_one_fork_end_together() {
        let with_role = |role: &str, rate: f64| {
            let RunLine::Sample(mut s) = sample(1, 1, rate) else { unreachable!() };
            s.benchmark = format!("{}/role={role}-2", NAME.strip_suffix("-2").unwrap());
            s.role = Some(role.to_owned());
            RunLine::Sample(s)
        };
        let all = [head(1), start(1, 1), sample(1, 1, 3.0), with_role("get", 2.0), with_role("put", 1.0)];
        let mut lines = all.to_vec();
        lines.push(end(1, 1, true));
        assert_eq!(rates(&run(&lines)), [(0, 3.0), (0, 2.0), (0, 1.0)]);
        let mut lines = all.to_vec();
        lines.push(end(1, 1, false));
        assert_eq!(rates(&run(&lines)), []);
    }

    #[test]
    fn warm_up_is_no_sample() {
        let RunLine::Sample(mut s) = sample(1, 1, 1.0) else { unreachable!() };
        s.phase = Phase::Warmup;
        let r = run(&[head(1), RunLine::Sample(s), sample(1, 1, 2.0)]);
        assert_eq!(rates(&r), [(0, 2.0)]);
    }

    #[test]
    fn a_torn_line_is_named_and_the_rest_kept() {
        let mut text = head(1).to_text().unwrap() + &sample(1, 1, 1.0).to_text().unwrap();
        let torn = sample(1, 1, 2.0).to_text().unwrap();
        text.push_str(&torn[..torn.len() / 2]);
        let r = read(Box::new(AbstatJsonl::default()), text.as_bytes());
        assert_eq!(rates(&r), [(0, 1.0)]);
        assert_eq!(r.diagnostics[0].code, "bad-json-line");
        assert_eq!(r.diagnostics[0].pos.unwrap().line, 3);
    }

    #[test]
    fn tidy_lines_come_back_as_they_were() {
        let text = r#"{"name":"Get","scheme":"jmh","keys":{".mode":"thrpt","n":100},"settings":{"goos":"linux"},"unit":"op/sec","printed":"ops/ms","better":"higher","value":1500.5,"block":3,"file":"old"}
{"name":"p","unit":"parsecs","value":2,"better":"lower","weight":9}
"#;
        let r = read(Box::new(AbstatJsonl::default()), text.as_bytes());
        assert_eq!(r.diagnostics, []);
        let k = &r.kept[0];
        assert_eq!(
            (k.name.as_str(), k.scheme, k.key(".mode"), k.key("n")),
            ("Get", Scheme::Jmh, Some("thrpt"), Some("100"))
        );
        assert_eq!((k.block, k.column.as_deref(), k.value()), (Some(3), Some("old"), Some(1500.5)));
        assert_eq!((&*k.unit.name, &*k.unit.printed), ("op/sec", "ops/ms"));
        let k = &r.kept[1];
        assert_eq!((k.settings.len(), &k.reading), (0, &Reading::One { value: 2.0, weight: 9 }));
        assert_eq!(k.unit.better, Some(crate::units::Direction::Lower));
    }

    #[test]
    fn other_json_is_left_to_others_and_bad_lines_are_said() {
        for other in [
            r#"{"Time":"2024-05-01T10:00:00Z","Action":"output","Package":"abstat","Output":"x \"abstat\": 1\n"}"#,
            r#"{"jmhVersion":"1.36"}"#,
            "[{\"abstat\":1}]",
            "plain text \"abstat\":",
            "",
        ] {
            let r = read(Box::new(AbstatJsonl::default()), other.as_bytes());
            assert_eq!(
                (r.claims.iter().filter(|&&c| c == Claim::Mine).count(), r.diagnostics.len()),
                (0, 0),
                "{other}"
            );
        }
        for (bad, column, word) in [
            (r#"{"abstat":"sample","ops":1}"#, 1, "missing field"),
            (r#"{"abstat":"unheard"}"#, 19, "unknown variant"),
            (r#"{"name":"x","unit":"op/sec","value":"fast"}"#, 42, "invalid type"),
            (r#"{"name":"x","unit":"op/sec","value":1e999}"#, 41, "out of range"),
            (r#"{"name":"x","unit":"op/sec","value":null}"#, 40, "invalid type"),
        ] {
            let r = read(Box::new(AbstatJsonl::default()), bad.as_bytes());
            assert_eq!(r.kept, [], "{bad}");
            let d = &r.diagnostics[0];
            assert_eq!((d.code, d.pos.unwrap().column), ("bad-json-line", column), "{bad} {d:?}");
            assert!(d.message.contains(word), "{}", d.message);
        }
    }

    #[test]
    fn names_lose_their_role() {
        assert_eq!(without_role("RocksDB/op=readwrite/role=get-4"), "RocksDB/op=readwrite-4");
        assert_eq!(without_role("RocksDB/op=get-4"), "RocksDB/op=get-4");
        assert_eq!(without_role("a/role=put"), "a");
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_do_not_panic(bytes: Vec<u8>) {
            let mut line = br#"{"abstat":"sample","name":"x","unit":"s","value":1,"#.to_vec();
            line.extend_from_slice(&bytes);
            read(Box::new(AbstatJsonl::default()), &line);
            read(Box::new(AbstatJsonl::default()), &bytes);
        }
    }
}
