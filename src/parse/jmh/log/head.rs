//! Lines that begin with `# `: settings of a benchmark, forks, progress.

use smallvec::{SmallVec, smallvec};

use crate::model::Settings;
use crate::parse::jmh::unit::Mode;
use crate::parse::lex::trim;

/// What is known of a benchmark before its iterations.
#[derive(Debug, Default)]
pub struct Head {
    /// Line that names the benchmark.
    pub line: u64,
    /// Under JMH's JSON names.
    pub settings: Vec<(&'static str, String)>,
    pub mode: Option<Mode>,
    pub benchmark: Option<String>,
    pub params: Vec<(String, String)>,
}

impl Head {
    /// Sets one of JMH's keys.
    pub fn set(&mut self, key: &'static str, value: String) {
        match self.settings.iter_mut().find(|(k, _)| *k == key) {
            Some((_, old)) => *old = value,
            None => self.settings.push((key, value)),
        }
    }

    /// Measured iterations of each fork, as planned.
    pub fn iterations(&self) -> Option<u64> {
        self.settings.iter().find(|(k, _)| *k == "measurementIterations").and_then(|(_, v)| v.parse().ok())
    }
}

/// Settings of a result.
pub fn settings(forks: Option<u32>, all: &[(&'static str, String)]) -> Settings {
    let mut settings = Settings::default();
    if let Some(forks) = forks {
        settings.set("forks", &forks.to_string());
    }
    for (key, value) in all {
        settings.set(key, value);
    }
    settings
}

/// The process of the iterations that follow.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Fork {
    /// From 1; 0 where no line told.
    pub number: u32,
    /// Forks planned; 0: the iterations run in the host VM.
    pub of: Option<u32>,
    /// All its iterations are warmup.
    pub warmup: bool,
}

/// A line of JMH's own.
#[derive(Debug, PartialEq)]
pub enum Comment {
    /// `Run progress: 12.50% complete`
    Progress,
    /// `Run complete. Total time: 00:01:39`
    Complete,
    /// `Fork: 1 of 2`
    Fork(Fork),
    /// `Warmup: 1 iterations, 50 ms each`
    Settings(SmallVec<[(&'static str, String); 3]>),
    /// `Benchmark mode: Throughput, ops/time`
    Mode(Option<Mode>),
    /// `Benchmark: org.example.MapBench.get`
    Benchmark(String),
    /// `Parameters: (keyCount = 100, kind = hash)`
    Parameters(Vec<(String, String)>),
    /// Warnings.
    Other,
}

/// Reads what stands behind `# `; `None` if JMH prints no such line.
pub fn comment(rest: &[u8]) -> Option<Comment> {
    let Some(colon) = memchr::memchr(b':', &rest[..rest.len().min(24)]) else {
        return match rest {
            // `JMH 1.8 (released 2525 days ago, please consider updating!)`
            [b'J', b'M', b'H', b' ', b'0'..=b'9', ..] => {
                let text = String::from_utf8_lossy(&rest[4..]);
                let version = text.split(' ').next().unwrap_or_default();
                Some(Comment::Settings(smallvec![("jmhVersion", version.to_owned())]))
            }
            _ if rest.starts_with(b"Run complete. Total time") => Some(Comment::Complete),
            _ => None,
        };
    };
    let text = String::from_utf8_lossy(trim(&rest[colon + 1..]));
    let one = |key, value: &str| Some(Comment::Settings(smallvec![(key, value.to_owned())]));
    match &rest[..colon] {
        b"Run progress" => Some(Comment::Progress),
        key @ (b"Fork" | b"Warmup Fork") => {
            let warmup = key != b"Fork";
            let mut words = text.split(' ');
            match words.next().and_then(|w| w.parse().ok()) {
                Some(number) => {
                    Some(Comment::Fork(Fork { number, of: words.nth(1).and_then(|w| w.parse().ok()), warmup }))
                }
                None => text.starts_with("N/A").then_some(Comment::Fork(Fork { number: 1, of: Some(0), warmup })),
            }
        }
        b"JMH version" => one("jmhVersion", &text),
        b"VM version" => {
            // `JDK 17.0.15, OpenJDK 64-Bit Server VM, 17.0.15+6`
            let text = text.strip_prefix("JDK ").unwrap_or(&text);
            let names = ["jdkVersion", "vmName", "vmVersion"];
            Some(Comment::Settings(names.into_iter().zip(text.splitn(3, ", ").map(str::to_owned)).collect()))
        }
        b"VM options" => one("jvmArgs", if text == "<none>" { "" } else { &text }),
        b"VM invoker" | b"Blackhole mode" | b"Timeout" => Some(Comment::Settings(SmallVec::new())),
        b"Warmup" => phase(&text, ["warmupIterations", "warmupTime", "warmupBatchSize"]),
        b"Measurement" => phase(&text, ["measurementIterations", "measurementTime", "measurementBatchSize"]),
        b"Threads" => {
            let count = text.split(' ').next().unwrap_or_default();
            count.parse::<u64>().ok().and_then(|_| one("threads", count))
        }
        b"Benchmark mode" => Some(Comment::Mode(Mode::from_log(&text))),
        b"Benchmark" => {
            (!text.is_empty() && !text.contains(char::is_whitespace)).then(|| Comment::Benchmark(text.into_owned()))
        }
        b"Parameters" => Some(Comment::Parameters(parameters(&text))),
        _ => (rest.starts_with(b"*** WARNING: ") || rest.starts_with(b"WARNING: JMH")).then_some(Comment::Other),
    }
}

/// `5 iterations, 50 ms each, 10 calls per op`, or `<none>`.
fn phase(text: &str, [count_key, time_key, batch_key]: [&'static str; 3]) -> Option<Comment> {
    let mut parts = text.split(", ");
    let first = parts.next().unwrap_or_default();
    let count = if first == "<none>" { "0" } else { first.strip_suffix(" iterations")? };
    count.parse::<u64>().ok()?;
    let mut settings = smallvec![(count_key, count.to_owned())];
    for part in parts {
        if let Some(time) = part.strip_suffix(" each") {
            settings.push((time_key, time.to_owned()));
        } else if let Some(calls) = part.strip_suffix(" calls per op") {
            settings.push((batch_key, calls.to_owned()));
        }
    }
    Some(Comment::Settings(settings))
}

/// `(keyCount = 100, kind = hash)`: split before each `, name = `, since values may hold commas.
fn parameters(text: &str) -> Vec<(String, String)> {
    let Some(inner) = text.strip_prefix('(').map(|t| t.strip_suffix(')').unwrap_or(t)) else { return Vec::new() };
    let mut out: Vec<(String, String)> = Vec::new();
    let mut rest = inner;
    while let Some((name, after)) = rest.split_once(" =") {
        let after = after.strip_prefix(' ').unwrap_or(after);
        let is_next = |at: &usize| {
            let candidate = &after[at + 2..];
            candidate.split_once(" =").is_some_and(|(n, _)| is_identifier(n))
        };
        let end = after.match_indices(", ").map(|(at, _)| at).find(is_next);
        let (value, next) = match end {
            Some(at) => (&after[..at], &after[at + 2..]),
            None => (after, ""),
        };
        if !value.is_empty() {
            out.push((name.to_owned(), value.to_owned()));
        }
        rest = next;
    }
    out
}

fn is_identifier(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '$'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_headers() {
        let settings = |all: &[(&'static str, &str)]| {
            Some(Comment::Settings(all.iter().map(|(k, v)| (*k, (*v).to_owned())).collect()))
        };
        let fork = |number, of, warmup| Some(Comment::Fork(Fork { number, of, warmup }));
        for (line, want) in [
            ("JMH version: 1.38-SNAPSHOT", settings(&[("jmhVersion", "1.38-SNAPSHOT")])),
            ("JMH 1.8 (released 2525 days ago, please consider updating!)", settings(&[("jmhVersion", "1.8")])),
            (
                "VM version: JDK 17.0.15, OpenJDK 64-Bit Server VM, 17.0.15+6",
                settings(&[
                    ("jdkVersion", "17.0.15"),
                    ("vmName", "OpenJDK 64-Bit Server VM"),
                    ("vmVersion", "17.0.15+6"),
                ]),
            ),
            ("VM options: <none>", settings(&[("jvmArgs", "")])),
            ("VM options: -Xmx1g -Dx=a, b", settings(&[("jvmArgs", "-Xmx1g -Dx=a, b")])),
            ("Warmup: <none>", settings(&[("warmupIterations", "0")])),
            (
                "Measurement: 5 iterations, single-shot each, 10 calls per op",
                settings(&[
                    ("measurementIterations", "5"),
                    ("measurementTime", "single-shot"),
                    ("measurementBatchSize", "10"),
                ]),
            ),
            ("Threads: 4 threads (1 group; 3x \"get\", 1x \"put\" in each group)", settings(&[("threads", "4")])),
            ("Benchmark mode: Sampling time", Some(Comment::Mode(Some(Mode::Sample)))),
            ("Benchmark: o.e.MapBench.get", Some(Comment::Benchmark("o.e.MapBench.get".into()))),
            ("Fork: 1 of 2", fork(1, Some(2), false)),
            ("Warmup Fork: 1 of 1", fork(1, Some(1), true)),
            ("Fork: N/A, test runs in the host VM", fork(1, Some(0), false)),
            ("Run progress: 12.50% complete, ETA 00:00:05", Some(Comment::Progress)),
            ("Run complete. Total time: 2 days, 01:02:03", Some(Comment::Complete)),
            ("Warmup: see below", None),
            ("Benchmark: the first of three", None),
            ("Fork: on GitHub", None),
            ("Threads: many", None),
            ("a comment", None),
            ("", None),
        ] {
            assert_eq!(comment(line.as_bytes()), want, "{line}");
        }
    }

    #[test]
    fn parameters_split_before_names() {
        for (text, want) in [
            ("(keyCount = 100, kind = hash)", "keyCount:100;kind:hash"),
            ("(text = plain text, with comma, valueSize = 16)", "text:plain text, with comma;valueSize:16"),
            ("(v = )", ""),
            ("(a = , b = 1)", "b:1"),
            ("(v = a=b;c)", "v:a=b;c"),
            ("(v = (x))", "v:(x)"),
            ("", ""),
        ] {
            let got: Vec<String> = parameters(text).iter().map(|(k, v)| format!("{k}:{v}")).collect();
            assert_eq!(got.join(";"), want, "{text}");
        }
    }
}
