//! Inputs made to break things: endless lines, a great many keys, deep nesting, bombs, and names that are markup everywhere.
//!
//! Nothing here looks at a clock. The sizes are such that work which grows with the square of them would take minutes.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use assert_cmd::Command;
use pulldown_cmark::{Event, Options, Parser, Tag};

struct Outcome {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

fn abstat(args: &[&str], stdin: &[u8]) -> Outcome {
    let out = Command::cargo_bin("abstat")
        .unwrap()
        .args(args)
        .env_remove("COLUMNS")
        .env_remove("CLICOLOR_FORCE")
        .write_stdin(stdin)
        .output()
        .unwrap();
    let stderr = String::from_utf8(out.stderr).unwrap();
    assert!(!stderr.contains("panicked"), "{stderr}");
    Outcome { code: out.status.code(), stdout: String::from_utf8(out.stdout).unwrap(), stderr }
}

/// One good result behind everything that is bad.
const GOOD: &str = "\nBenchmarkGood 1 2 ns/op\n";

/// `each(0)`, ..., `each(n - 1)`, joined.
fn list(n: usize, each: impl Fn(usize) -> String) -> String {
    (0..n).map(each).collect()
}

#[test]
fn lines_of_two_mebibytes_cost_nothing_but_themselves() {
    const LONG: usize = 2 << 20;
    let fill = |text: &str| text.repeat(LONG / text.len());
    for line in [
        fill("a"),
        fill(" "),
        fill("\t"),
        fill("1 ns/op "),
        fill("|"),
        fill("\""),
        fill("\\"),
        fill("{"),
        fill("[1,"),
        fill("{\"a\":"),
        fill("\x1b["),
        fill("\x1b]"),
        fill("\x1b[1m"),
        fill("\r"),
        fill("\u{b1} "),
        fill("\u{c2}"),
        fill("Benchmark"),
        fill("BenchmarkA "),
        fill("1.00,"),
        fill("1.00\t"),
        fill("<td>"),
        fill("\\texttt{a} & "),
        format!("Benchmark{} 1 2 ns/op", fill("a")),
        format!("BenchmarkA 1 {} ns/op", fill("1")),
        format!("BenchmarkA 1 2 {}", fill("n")),
        format!("BenchmarkA {}", fill("1 ns/op ")),
        format!("pkg: {}", fill("a")),
        format!("{}: a", fill("a")),
        format!("Unit {} better=lower", fill("a")),
        format!("{{\"Action\":\"output\",\"Output\":\"{}\"}}", fill("a")),
        format!("{{\"Action\":\"output\",\"Output\":\"{}\"}}", fill("\\n")),
        format!("{{\"Action\":{}", fill("[")),
        format!("Benchmark {} Mode Cnt Score Units", fill("(p) ")),
        format!("Benchmark Mode Cnt Score {} Units", fill("- ")),
        format!("fillseq : {} micros/op 426000 ops/sec;", fill("1")),
        format!("ops_sec\t{}test", fill("a\t")),
        format!("test,{}", fill("a,")),
        format!("name  {}time/op  delta", fill("old ")),
        format!("\"Benchmark\",\"Mode\",\"Threads\",\"Samples\",\"Score\",\"Unit\"{}", fill(",\"Param: p\"")),
        format!("Iteration   1: {} ns/op", fill("1")),
        format!("# Parameters: ({})", fill("a = 1, ")),
    ] {
        let begins: String = line.chars().take(40).collect();
        let got = abstat(&["-f", "csv", "--filter", ".name:Good"], (line + GOOD).as_bytes());
        assert_eq!(got.code, Some(0), "{begins}: {}", got.stderr);
        assert!(got.stdout.contains("Good"), "{begins}: {}", &got.stdout[..got.stdout.len().min(500)]);
        // Whatever is said about a line quotes a part of it.
        assert!(got.stderr.len() < 4096, "{begins}: {} bytes of messages", got.stderr.len());
    }
}

#[test]
fn a_name_of_two_mebibytes_is_written_or_cut() {
    let input = format!("Benchmark{} 1 2 ns/op\n", "a<".repeat(1 << 20));
    for format in ["text", "csv", "json", "html", "svg"] {
        let got = abstat(&["-f", format], input.as_bytes());
        assert_eq!(got.code, Some(0), "{format}: {}", got.stderr);
        assert!(got.stdout.len() < 64 << 20, "{format}: {} bytes", got.stdout.len());
    }
    let got = abstat(&["-f", "markdown"], input.as_bytes());
    assert!(got.code == Some(0) && got.stdout.len() <= 65_000, "{}", got.stdout.len());
}

#[test]
fn a_great_many_of_anything_is_read() {
    const N: usize = 20_000;
    let parts = |v: &str| list(N, |i| format!("/k{i}={v}{i}"));
    let params = |sep: &str| list(N, |i| format!("{}\"p{i}\":\"1\"", if i == 0 { "" } else { sep }));
    let result = |n: usize, params: &str| {
        format!(
            "{{\"benchmark\":\"a.B.c{n}\",\"mode\":\"avgt\",\"forks\":1,\"params\":{{{params}}},\
             \"primaryMetric\":{{\"score\":1.0,\"scoreUnit\":\"ns/op\",\"rawData\":[[1.0,2.0]]}},\"secondaryMetrics\":{{}}}}"
        )
    };
    // What it is, the input, and how many results it holds.
    let inputs: Vec<(&str, String, usize)> = vec![
        ("names", list(N, |i| format!("BenchmarkN{i} 1 {} ns/op\n", i + 1)), N),
        ("parts of names", format!("BenchmarkN{} 1 2 ns/op\nBenchmarkM{} 1 2 ns/op\n", parts("v"), parts("w")), 2),
        ("settings", list(N, |i| format!("key{i}: v\n")) + GOOD, 1),
        (
            "settings that come and go",
            list(N, |i| format!("key{i}: v\n")) + &list(N, |i| format!("key{i}:\n")) + GOOD,
            1,
        ),
        ("changes of a setting", list(N, |i| format!("pkg: p{i}\nBenchmarkA 1 2 ns/op\n")), N),
        ("units of a line", format!("BenchmarkA 1{}\n", list(N, |i| format!(" 1 u{i}"))), 1),
        ("units of a name", list(N, |i| format!("BenchmarkA 1 1 u{i}\n")), N),
        ("Unit lines", list(N, |i| format!("Unit u{i} better=lower\n")) + GOOD, 1),
        ("bad lines", list(N, |i| format!("BenchmarkA 1 x{i} ns/op\n")) + GOOD, 1),
        ("lines like settings", "BenchmarkA 1 2 ns/op\n".to_owned() + &list(N, |i| format!("key{i}: v\n")), 1),
        (
            "packages",
            list(N, |i| {
                format!("{{\"Action\":\"output\",\"Package\":\"p{i}\",\"Output\":\"BenchmarkA 1 2 ns/op\\n\"}}\n")
            }),
            N,
        ),
        ("fragments", "{\"Action\":\"output\",\"Package\":\"p\",\"Output\":\"a\"}\n".repeat(N) + GOOD, 1),
        ("db_bench names", list(N, |i| format!("fill{i} : 2.345 micros/op 426000 ops/sec;\n")), N),
        (
            "progress",
            list(N, |i| format!("... finished {i} ops\r")) + "\nfillseq : 2.345 micros/op 426000 ops/sec;\n",
            1,
        ),
        ("rows of ratios", "6.0\t7.0\ttest\n".to_owned() + &list(N, |i| format!("1.00\t1.10\tread{i}\n")), 2 * N),
        (
            "rows of a JMH table",
            "Benchmark  Mode  Cnt  Score   Error  Units\n".to_owned()
                + &list(N, |i| format!("a.B.c{i}  avgt  5  1.000 \u{b1} 0.1  ns/op\n")),
            N,
        ),
        (
            "columns of a JMH table",
            format!(
                "Benchmark {}Mode  Cnt  Score   Error  Units\na.B.c {}avgt  5  1.000 \u{b1} 0.1  ns/op\n",
                list(N, |i| format!("(p{i}) ")),
                "1 ".repeat(N)
            ),
            1,
        ),
        ("JMH parameters", format!("[{}]\n", result(1, &params(","))), 1),
        ("JMH results", format!("[{}]\n", list(N, |i| result(i, "") + if i + 1 < N { ",\n" } else { "" })), N),
        (
            "rows of benchstat",
            "name  old time/op  new time/op  delta\n".to_owned()
                + &list(N, |i| format!("A{i}  502ns \u{b1} 2%  499ns \u{b1} 2%  ~  (p=0.2 n=5+5)\n")),
            2 * N,
        ),
        (
            "keys of a sample",
            format!(
                "{{\"name\":\"A\",\"scheme\":\"go\",\"keys\":{{{}}},\"settings\":{{{}}},\"unit\":\"sec/op\",\"better\":\"lower\",\
                 \"value\":1.0,\"file\":\"x\"}}\n",
                params(","),
                params(",").replace("\"p", "\"s")
            ),
            1,
        ),
        ("escape sequences", "\x1b]".repeat(N) + &"\x1b[1".repeat(N) + &"\x1b]x\x1b".repeat(N) + GOOD, 1),
        ("samples", "BenchmarkA 1 2 ns/op\n".repeat(N), N),
    ];
    for (what, input, results) in inputs {
        let got = abstat(&["-f", "json", "--all", "-"], input.as_bytes());
        assert_eq!(got.code, Some(0), "{what}: {}", got.stderr);
        let doc: serde_json::Value = serde_json::from_str(&got.stdout).unwrap();
        assert_eq!(doc["inputs"][0]["results"].as_u64(), Some(results as u64), "{what}");
        assert!(got.stderr.len() < 8192, "{what}: {} bytes of messages", got.stderr.len());
        // A number has some hundred bytes around it in JSON, but it does not repeat what belongs to the others.
        assert!(got.stdout.len() < 100 * input.len() + 4096, "{what}: {} of {}", got.stdout.len(), input.len());
    }
}

#[test]
fn json_and_rules_nested_without_end_are_refused() {
    let deep = |open: &str, close: &str| open.repeat(100_000) + &close.repeat(100_000);
    for nested in [deep("[", "]"), deep("{\"a\":", "}"), deep("[", ""), deep("{\"a\":[", "")] {
        for input in [
            nested.clone(),
            format!("[{{\"jmhVersion\":\"1.37\",\"benchmark\":\"a.b\",\"params\":{nested}}}]"),
            format!("{{\"Action\":\"output\",\"Package\":\"p\",\"Output\":{nested}}}"),
            format!("{{\"name\":\"A\",\"keys\":{nested},\"unit\":\"sec/op\",\"value\":1.0}}"),
            format!("{{\"abstat\":\"run\",\"plan\":{nested}}}"),
        ] {
            let got = abstat(&["-f", "csv"], (input + GOOD).as_bytes());
            assert!(got.code == Some(0) || got.code == Some(2), "{:?} {}", got.code, got.stderr);
            assert!(got.stderr.len() < 4096, "{}", got.stderr.len());
        }
    }
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("rules.toml");
    for text in ["fail-on = ".to_owned() + &"[".repeat(100_000), "a".to_owned() + &".a".repeat(100_000) + " = 1"] {
        std::fs::write(&path, text).unwrap();
        let got = abstat(&["-", "--rules", path.to_str().unwrap()], GOOD.as_bytes());
        assert_eq!(got.code, Some(2), "{}", got.stderr);
        assert!(got.stderr.len() < 4096, "{}", got.stderr.len());
    }
    for filter in
        ["(".repeat(50_000), "(".repeat(30_000) + "a:b" + &")".repeat(30_000), "a:/".to_owned() + &"(".repeat(30_000)]
    {
        let got = abstat(&["-", "--filter", &filter], GOOD.as_bytes());
        assert_eq!(got.code, Some(2), "{}", got.stderr);
        assert!(got.stderr.len() < 16_384, "{}", got.stderr.len());
    }
}

/// Names that mean something to a terminal, HTML, Markdown, CSV, LaTeX, a shell or a format string.
const NAMES: &[&str] = &[
    "plain",
    "a|b||c\\|d",
    "`x` ``y`` `",
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "' onmouseover='alert(1)",
    "</title></style></svg></td></table><h1>",
    "<!-- --> <![CDATA[ ]]> <?xml ?>",
    "&amp; &lt; &#60; &nbsp",
    "[link](http://x/) ![image](http://x/) <http://x/>",
    "*bold* _it_ __b__ ~~s~~ # h\t> q - l 1. n",
    "@someone #123 http://example.org/",
    "$x$ \\begin{x} \\\\ % & # _ ^ { } ~",
    "=cmd|'/C calc'!A0",
    "+1 -1 @SUM(A1)",
    "a,b;c\"d\"\"e",
    "%s %n {} {{x}} ${x} $(x)",
    "\x1b[31mred\x1b]0;title\x07\u{9b}31m",
    "nul\0bell\x07back\x08\x7fdel",
    "line\nfeed\rreturn\ttab\u{2028}\u{2029}\u{85}",
    "right\u{202e}tfel\u{2066}iso\u{2069}\u{200b}zero\u{feff}",
    "e\u{301}\u{320} \u{1f469}\u{200d}\u{1f469}\u{200d}\u{1f467} \u{6f22}\u{5b57} \u{5d0}\u{5d1}",
    "\u{fffe}\u{ffff}\u{fffd}\u{10ffff}",
    "  blanks  around  ",
];

/// Samples of benchmarks with these names, and the same text in keys, settings and units.
fn samples(names: &[String], factor: f64) -> String {
    let mut out = String::new();
    for (n, name) in names.iter().enumerate() {
        for i in 0..6 {
            let value = (100.0 + f64::from(i)) * factor;
            let sample = serde_json::json!({
                "name": name, "scheme": "plain", "keys": {"param": name}, "settings": {"note": names[0]},
                "unit": if n < names.len() / 2 { "sec/op" } else { names[n % 3 + 1].as_str() }, "better": "lower", "value": value,
                "file": "x",
            });
            writeln!(out, "{sample}").unwrap();
        }
    }
    out
}

/// What `abstat` writes as `format` about `names`, with a column called like the second of them.
fn table(names: &[String], format: &str, more: &[&str]) -> String {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("old"), samples(names, 1.0)).unwrap();
    std::fs::write(dir.path().join("new"), samples(names, 1.2)).unwrap();
    // An argument holds no NUL.
    let label = |n: usize| names[n].replace(['\0', '='], "");
    let path = |file: &str| dir.path().join(file).to_string_lossy().into_owned();
    let (old, new) = (format!("{}={}", label(3), path("old")), format!("{}={}", label(1), path("new")));
    let mut args = vec![old.as_str(), &new, "-f", format, "--all", "--fail-on", "slower>5%"];
    args.extend(more);
    let got = abstat(&args, b"");
    assert_eq!(got.code, Some(1), "{format}: {}", got.stderr);
    if !more.contains(&"always") {
        quiet("stderr", &got.stderr);
    }
    // Paths of temporary directories differ from run to run.
    got.stdout.replace(&*dir.path().to_string_lossy(), "DIR")
}

/// No control, direction mark or invisible character but line ends.
fn quiet(what: &str, text: &str) {
    for line in text.split('\n') {
        assert_eq!(abstat::base::printable(line), line, "{what}");
    }
}

fn hostile() -> Vec<String> {
    NAMES.iter().map(|n| (*n).to_owned()).collect()
}

/// As many names of as many characters, all of them letters.
fn harmless() -> Vec<String> {
    let letters =
        |n: usize, len: usize| format!("x{n}").chars().chain(std::iter::repeat('x')).take(len.max(3)).collect();
    NAMES.iter().enumerate().map(|(n, name)| letters(n, name.chars().count())).collect()
}

#[test]
fn names_steer_no_terminal() {
    for more in [&[][..], &["--ascii"], &["--plot"], &["--relative"], &["--explain", "plain"]] {
        let text = table(&hostile(), "text", more);
        quiet("text", &text);
        assert!(text.lines().count() > 10, "{text}");
    }
    let coloured = table(&hostile(), "text", &["--color", "always"]);
    let mut rest = coloured.as_str();
    while let Some(at) = rest.find('\x1b') {
        let end = rest[at..].find('m').unwrap();
        assert!(rest[at + 1..at + end].trim_start_matches('[').bytes().all(|b| b.is_ascii_digit() || b == b';'));
        rest = &rest[at + end + 1..];
    }
}

#[test]
fn names_come_back_from_json_and_csv_as_they_were() {
    let doc: serde_json::Value = serde_json::from_str(&table(&hostile(), "json", &[])).unwrap();
    let mut names: Vec<&str> = Vec::new();
    for table in doc["tables"].as_array().unwrap() {
        names.extend(table["rows"].as_array().unwrap().iter().map(|r| r["keys"]["param"].as_str().unwrap()));
    }
    names.sort_unstable();
    let mut want: Vec<&str> = NAMES.to_vec();
    want.sort_unstable();
    assert_eq!(names, want);
    let text = table(&hostile(), "csv", &[]);
    let mut records = csv::Reader::from_reader(text.as_bytes());
    let rows: Vec<csv::StringRecord> = records.records().map(Result::unwrap).collect();
    let mut found: Vec<&str> = NAMES.iter().copied().filter(|n| rows.iter().any(|r| &r[1] == *n)).collect();
    found.sort_unstable();
    assert_eq!(found, want, "{text}");
}

#[test]
fn names_are_no_markup_in_pages_and_pictures() {
    for (format, more) in
        [("html", &[][..]), ("svg", &[]), ("svg", &["--chart", "strips"]), ("svg", &["--chart", "lines"])]
    {
        let (bad, good) = (table(&hostile(), format, more), table(&harmless(), format, more));
        quiet(format, &bad);
        let count = |text: &str, what: &str| text.matches(what).count();
        // The same elements with the same attributes, but for lines that are broken at other places.
        let elements = |text: &str| {
            let mut of: BTreeMap<String, usize> = BTreeMap::new();
            for tag in text.split('<').skip(1) {
                let name: String =
                    tag.chars().take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '/' | '!')).collect();
                *of.entry(name).or_default() += 1;
            }
            of
        };
        assert_eq!(elements(&bad), elements(&good), "{format} {more:?}");
        assert_eq!(count(&bad, "\""), count(&good, "\""), "{format} {more:?}");
        if format == "svg" {
            roxmltree::Document::parse(&bad).unwrap();
        }
    }
}

#[test]
fn names_are_no_markup_in_markdown() {
    let text = table(&hostile(), "markdown", &[]);
    quiet("markdown", &text);
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS | Options::ENABLE_GFM;
    let mut code = 0;
    for event in Parser::new_ext(&text, options) {
        match event {
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                panic!("a link to {dest_url}: {text}")
            }
            Event::Html(html) | Event::InlineHtml(html) => {
                let html = html.trim();
                let known = ["<details>", "</details>", "<code>", "</code>", "<br>", "<!-- -->", "<sub>", "</sub>"];
                assert!(
                    known.contains(&html) || html.starts_with("<summary>") || html.starts_with("<details>"),
                    "{html}"
                );
                assert!(!html.contains("script") && !html.contains("img"), "{html}");
            }
            Event::Code(_) => code += 1,
            _ => {}
        }
    }
    assert!(code > NAMES.len() / 2, "{code}: {text}");
    for bait in ["@someone", "#123"] {
        for (at, _) in text.match_indices(bait) {
            let line = text[..at].rfind('\n').map_or(0, |n| n + 1);
            assert!(text[line..at].matches('`').count() % 2 == 1, "{bait} outside of code: {}", &text[line..at + 20]);
        }
    }
}
