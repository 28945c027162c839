//! Every command in the README is run, in a copy of what the repository holds for it, and what it prints is what the README says.
//!
//! ```` ```console ```` blocks hold commands behind `$ ` and the output that is expected; `...` alone on a line stands for any lines.
//! ```` ```sh ```` blocks hold commands only: they must succeed, or end with the code of a comment `# exit N`.
//! Programs of others (`go`, `gh`, `duckdb`, `cargo`) are stood for by `tests/readme-bin`. Measurements are made, but
//! few of them, of small files. `ABSTAT_UPDATE=1` writes the outputs anew.

use std::path::Path;
use std::process::{Command, Stdio};

struct Block {
    /// Line of the opening fence, from 0.
    line: usize,
    console: bool,
    text: Vec<String>,
}

fn blocks(readme: &str) -> Vec<Block> {
    let mut out: Vec<Block> = Vec::new();
    let mut open = false;
    for (i, line) in readme.lines().enumerate() {
        match line {
            "```console" | "```sh" if !open => {
                out.push(Block { line: i, console: line == "```console", text: Vec::new() });
                open = true;
            }
            "```" => open = false,
            _ if open => {
                if let Some(block) = out.last_mut() {
                    block.text.push(line.to_owned());
                }
            }
            _ => {}
        }
    }
    out
}

/// stdout and stderr in the order of a terminal that shows stdout first, and the exit code.
fn run(command: &str, dir: &Path) -> (String, i32) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let abstat = Path::new(env!("CARGO_BIN_EXE_abstat")).parent().unwrap();
    let path =
        format!("{}:{}:{}", root.join("tests/readme-bin").display(), abstat.display(), std::env::var("PATH").unwrap());
    let out = Command::new("sh")
        .args(["-c", command])
        .current_dir(dir)
        .env("PATH", path)
        .env("GITHUB_STEP_SUMMARY", dir.join("summary.md"))
        .envs([("BENCH_PAIRS", "1"), ("BENCH_STARTS", "2")])
        .env_remove("NO_COLOR")
        .env_remove("CLICOLOR_FORCE")
        .env_remove("COLUMNS")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = String::from_utf8(out.stdout).unwrap() + &String::from_utf8(out.stderr).unwrap();
    (text, out.status.code().unwrap_or(-1))
}

/// A directory in which files can be written, with the repository's files in reach.
fn workspace() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for name in ["testdata", "scripts", "Cargo.toml"] {
        std::os::unix::fs::symlink(root.join(name), dir.path().join(name)).unwrap();
    }
    dir
}

fn matches(expected: &[&str], got: &[&str]) -> bool {
    match expected.iter().position(|l| *l == "...") {
        None => expected == got,
        Some(n) => {
            got.len() >= n
                && expected[..n] == got[..n]
                && (n + 1 == expected.len() || (n..=got.len()).any(|from| matches(&expected[n + 1..], &got[from..])))
        }
    }
}

#[test]
fn every_command_of_the_readme_runs_and_prints_what_is_said() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let readme = std::fs::read_to_string(&path).unwrap();
    let dir = workspace();
    let mut lines: Vec<String> = readme.lines().map(str::to_owned).collect();
    let update = std::env::var_os("ABSTAT_UPDATE").is_some();
    let mut commands = 0;
    let mut wrong = Vec::new();
    for block in blocks(&readme).iter().rev() {
        let mut fresh = Vec::new();
        let mut i = 0;
        while i < block.text.len() {
            let mut command = block.text[i].clone();
            fresh.push(command.clone());
            i += 1;
            while command.ends_with('\\') && i < block.text.len() {
                fresh.push(block.text[i].clone());
                command = format!("{}\n{}", command, block.text[i]);
                i += 1;
            }
            if command.trim().is_empty() || command.starts_with('#') {
                continue;
            }
            commands += 1;
            let at = block.line + i + 1;
            if !block.console {
                let code = command.rsplit_once("# exit ").and_then(|(_, n)| n.trim().parse().ok()).unwrap_or(0);
                let (text, got) = run(&command, dir.path());
                if got != code {
                    wrong.push(format!("README.md:{at}: {command}\nends with {got}, not {code}:\n{text}"));
                }
                continue;
            }
            let Some(command) = command.strip_prefix("$ ") else {
                wrong.push(format!("README.md:{at}: expected a command behind \"$ \", found {command:?}"));
                continue;
            };
            let from = i;
            while i < block.text.len() && !block.text[i].starts_with("$ ") {
                i += 1;
            }
            let expected: Vec<&str> = block.text[from..i].iter().map(String::as_str).collect();
            let (text, _) = run(command, dir.path());
            let got: Vec<&str> = text.lines().map(str::trim_end).collect();
            if update && !expected.contains(&"...") {
                fresh.extend(got.iter().map(|l| (*l).to_owned()));
            } else {
                fresh.extend(expected.iter().map(|l| (*l).to_owned()));
                if !matches(&expected, &got) {
                    wrong.push(format!("README.md:{at}: {command}\nprints\n{text}"));
                }
            }
        }
        lines.splice(block.line + 1..block.line + 1 + block.text.len(), fresh);
    }
    assert!(commands >= 10, "only {commands} commands found");
    if update {
        std::fs::write(&path, lines.join("\n") + "\n").unwrap();
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
