//! `go test -json` (test2json): one JSON object a line, whose `Output` strings are fragments of Go benchmark text.
//!
//! Source: `cmd/test2json`. Only `"Action":"output"` matters. Fragments of several packages interleave, so each package has a buffer and a
//! [`Go`] parser of its own; a fragment ends a line only if it ends in LF. `Test` is ignored: it is not reliable with `-count`.
//! Lines that are not such objects (build failures) are left to other parsers. Places in messages are those of the event line.

use std::borrow::Cow;
use std::collections::HashMap;

use serde::Deserialize;

use super::go::{Go, Mode};
use super::{Claim, Line, RecordParser};
use crate::base::Diagnostic;
use crate::model::Sink;

/// The parser.
pub struct GoTestJson {
    /// In order of first sight.
    packages: Vec<Package>,
    /// Index into `packages` by name.
    index: HashMap<String, usize>,
    mode: Mode,
}

struct Package {
    parser: Go,
    /// A line not yet ended.
    line: String,
    /// The last event's line in the input.
    at: u64,
}

#[derive(Deserialize)]
struct Event<'a> {
    #[serde(rename = "Action", borrow)]
    action: Cow<'a, str>,
    #[serde(rename = "Package", borrow, default)]
    package: Cow<'a, str>,
    #[serde(rename = "Output", borrow, default)]
    output: Cow<'a, str>,
}

/// An unfinished line is kept up to this many bytes; programs under test may print without end.
const LONGEST: usize = 64 << 20;

impl GoTestJson {
    /// A parser for one stream, its text read in `mode`.
    pub fn new(mode: Mode) -> Self {
        GoTestJson { packages: Vec::new(), index: HashMap::new(), mode }
    }
}

impl RecordParser for GoTestJson {
    fn line(&mut self, line: Line<'_>, out: &mut dyn Sink) -> Claim {
        if line.bytes.first() != Some(&b'{') || memchr::memmem::find(line.bytes, b"\"Action\"").is_none() {
            return Claim::No;
        }
        let event: Event<'_> = match serde_json::from_slice(line.bytes) {
            Ok(event) => event,
            Err(e) => {
                let at = e.column().saturating_sub(1);
                out.diagnose(
                    Diagnostic::warning("bad-event", "expected an event of go test -json, found broken JSON")
                        .at(line.number, line.bytes, at..at + 1)
                        .hint("line skipped"),
                );
                return Claim::Mine;
            }
        };
        if event.action != "output" {
            return Claim::Mine;
        }
        let at = match self.index.get(&*event.package) {
            Some(&at) => at,
            None => {
                self.packages.push(Package { parser: Go::new(self.mode), line: String::new(), at: 0 });
                self.index.insert(event.package.into_owned(), self.packages.len() - 1);
                self.packages.len() - 1
            }
        };
        let package = &mut self.packages[at];
        package.at = line.number;
        let mut rest = &*event.output;
        while let Some(end) = rest.find('\n') {
            package.line.push_str(&rest[..end]);
            package.end_line(out);
            rest = &rest[end + 1..];
        }
        if package.line.len() + rest.len() <= LONGEST {
            package.line.push_str(rest);
        }
        Claim::Mine
    }

    fn finish(&mut self, out: &mut dyn Sink) {
        for package in &mut self.packages {
            if !package.line.is_empty() {
                package.end_line(out);
            }
            package.parser.finish(out);
        }
    }
}

impl Package {
    fn end_line(&mut self, out: &mut dyn Sink) {
        let text = std::mem::take(&mut self.line);
        let bytes = text.strip_suffix('\r').unwrap_or(&text).as_bytes();
        self.parser.line(Line { number: self.at, bytes }, out);
        // Keep the buffer for the next line.
        self.line = text;
        self.line.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::testing::read;
    use proptest::prelude::*;

    fn event(package: &str, output: &str) -> String {
        serde_json::json!({"Time": "2026-01-01T00:00:00Z", "Action": "output", "Package": package, "Test": "x", "Output": output})
            .to_string()
            + "\n"
    }

    #[test]
    fn fragments_of_packages_that_interleave_are_joined_per_package() {
        let input = [
            event("a", "pkg: a\n"),
            event("b", "pkg: b\n"),
            "{\"Action\":\"run\",\"Package\":\"a\",\"Test\":\"BenchmarkX\"}\n".to_owned(),
            event("a", "BenchmarkX-2 \t"),
            event("b", "BenchmarkY-2 \t     100\t 3 ns/op\n"),
            event("a", "     100\t 11.72 ns/op\n"),
            "build failed: x\n".to_owned(),
            event("a", "BenchmarkZ 1 1 ns/op"),
            "{\"Action\":\"output\",\"Outp\n".to_owned(),
        ]
        .concat();
        let got = read(Box::new(GoTestJson::new(Mode::Lenient)), input.as_bytes());
        let all: Vec<_> =
            got.kept.iter().map(|k| (k.name.as_str(), k.settings[0].1.as_str(), k.value().unwrap())).collect();
        assert_eq!(all, [("Y-2", "b", 3.0 * 1e-9), ("X-2", "a", 11.72 * 1e-9), ("Z", "a", 1e-9)]);
        assert_eq!(
            got.diagnostics.iter().map(|d| (d.code, d.pos.unwrap().line)).collect::<Vec<_>>(),
            [("bad-event", 9)]
        );
        assert_eq!(got.claims[6], Claim::No);
        assert_eq!(got.kept.iter().map(|k| k.line).collect::<Vec<_>>(), [5, 6, 8]);
    }

    proptest! {
        #[test]
        fn any_output_never_panics(outputs in proptest::collection::vec((0u8..3, ".*"), 0..20)) {
            let input: String = outputs.iter().map(|(p, o)| event(&p.to_string(), o)).collect();
            read(Box::new(GoTestJson::new(Mode::Lenient)), input.as_bytes());
        }
    }
}
