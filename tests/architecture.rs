//! The direction of the pipe, held by the `use` lines: a later stage never reaches back, and renderers, parsers and statistics do not
//! know each other.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// A room, and the rooms that it may import from (besides itself).
const ROOMS: &[(&str, &[&str])] = &[
    ("base", &[]),
    ("units", &["base"]),
    ("model", &["base", "units"]),
    ("input", &["base", "units", "model"]),
    ("parse", &["base", "units", "model"]),
    ("stats", &["base", "units", "model"]),
    ("pivot", &["base", "units", "model"]),
    ("read", &["base", "units", "model", "input", "parse", "pivot"]),
    // A report holds numbers that statistics made.
    ("report", &["base", "units", "model", "pivot"]),
    ("compare", &["base", "units", "model", "stats", "pivot", "report"]),
    ("render", &["base", "units", "model", "pivot", "report"]),
    ("gate", &["base", "units", "model", "pivot", "report"]),
    ("runner", &["base", "units", "model"]),
];

fn sources(dir: &Path, out: &mut Vec<std::path::PathBuf>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, out);
        } else if path.extension().is_some_and(|e| e == "rs") {
            out.push(path);
        }
    }
}

/// The part of a source file that is not for tests: up to its test module.
fn without_tests(text: &str) -> &str {
    text.find("#[cfg(test)]\nmod ").map_or(text, |n| &text[..n])
}

/// Whether a file is compiled for tests only.
fn is_for_tests(path: &Path) -> bool {
    let name = path.file_stem().and_then(|s| s.to_str()).unwrap_or("");
    name.ends_with("tests") || matches!(name, "testing" | "fixture" | "oracle")
}

#[test]
fn rooms_import_only_from_rooms_before_them() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut wrong = BTreeSet::new();
    let mut seen = 0;
    for (room, may) in ROOMS {
        let mut files = Vec::new();
        sources(&src.join(room), &mut files);
        for file in files.iter().filter(|f| !is_for_tests(f)) {
            let text = fs::read_to_string(file).unwrap();
            for (n, line) in without_tests(&text).lines().enumerate() {
                // Mentions in documentation are welcome.
                if line.trim_start().starts_with("//") {
                    continue;
                }
                for part in line.split("crate::").skip(1) {
                    let name: String = part.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                    let known = ROOMS.iter().any(|(r, _)| *r == name) || name == "cli";
                    if !known {
                        continue;
                    }
                    seen += 1;
                    if name != *room && !may.contains(&name.as_str()) {
                        wrong.insert(format!("{}:{}: {room} must not import from {name}", file.display(), n + 1));
                    }
                }
            }
        }
    }
    assert!(seen > 50, "only {seen} imports found");
    assert!(wrong.is_empty(), "{}", wrong.into_iter().collect::<Vec<_>>().join("\n"));
}

#[test]
fn unsafe_code_stays_in_the_engine() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&src, &mut files);
    for file in files.iter().filter(|f| !f.to_string_lossy().contains("runner/engine/")) {
        let text = fs::read_to_string(file).unwrap();
        for (n, line) in text.lines().enumerate() {
            let code = line.split("//").next().unwrap_or("");
            assert!(!code.contains("unsafe {") && !code.contains("unsafe fn"), "{}:{}", file.display(), n + 1);
        }
    }
}
