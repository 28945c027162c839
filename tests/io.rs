//! Inputs that end early or cannot be read, outputs that cannot be written: what was good stays, nothing is believed in silence.
#![cfg(unix)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use abstat::base::Severity;
use abstat::input::{BLOCK, Source, SourceKind};
use abstat::parse::mixed::Mixed;
use abstat::pivot::Filter;
use abstat::read::{Request, read};
use abstat::render::samples;
use assert_cmd::cargo::CommandCargoExt as _;

const OLD: &str = "testdata/go/example/old.txt";

struct Outcome {
    code: Option<i32>,
    stdout: Vec<u8>,
    stderr: String,
}

fn command(args: &[&str]) -> Command {
    let mut command = Command::cargo_bin("abstat").unwrap();
    command.args(args).current_dir(env!("CARGO_MANIFEST_DIR")).stdin(Stdio::null());
    for name in ["NO_COLOR", "CLICOLOR_FORCE", "COLUMNS"] {
        command.env_remove(name);
    }
    command
}

fn outcome(command: &mut Command) -> Outcome {
    let out = command.output().unwrap();
    let stderr = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(!stderr.contains("panicked"), "{stderr}");
    Outcome { code: out.status.code(), stdout: out.stdout, stderr }
}

fn abstat(args: &[&str]) -> Outcome {
    outcome(&mut command(args))
}

#[test]
fn packed_inputs_say_what_the_plain_one_says() {
    let table = |path: &str| {
        let got = abstat(&[&format!("x={path}"), "-f", "csv"]);
        assert_eq!(got.code, Some(0), "{path}: {}", got.stderr);
        got.stdout
    };
    let plain = table(OLD);
    let mut packed = 0;
    for entry in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/input")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|e| e == "gz" || e == "zst") {
            packed += 1;
            assert!(table(path.to_str().unwrap()) == plain, "{}", path.display());
        }
    }
    assert_eq!(packed, 4);
}

#[test]
fn packed_inputs_that_are_cut_are_exit_2_and_name_the_file() {
    let dir = tempfile::tempdir().unwrap();
    for (from, name) in [("two-frames.txt.zst", "zstd"), ("pzstd.txt.zst", "zstd"), ("two-members.txt.gz", "gzip")] {
        let whole = fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/input").join(from)).unwrap();
        let path = dir.path().join(from);
        fs::write(&path, &whole[..whole.len() - 10]).unwrap();
        for args in [&[OLD, path.to_str().unwrap()][..], &["convert", path.to_str().unwrap()]] {
            let got = abstat(args);
            assert_eq!((got.code, &*got.stdout), (Some(2), &b""[..]), "{args:?}");
            let want = format!("error: {}: the {name} data ends too early\n", path.display());
            assert!(got.stderr.contains(&want), "{}", got.stderr);
        }
    }
}

/// Values with units of an input, and what was said about it.
fn values(bytes: &[u8]) -> (BTreeSet<String>, Vec<String>) {
    let sources = [Source { label: None, kind: SourceKind::Bytes("x", Arc::from(bytes)) }];
    let filter = Filter::all();
    let parsers = || Mixed::new(None).unwrap();
    let request =
        Request { sources: &sources, labels: &["x".into()], parsers: &parsers, filter: &filter, block: BLOCK };
    let (set, error) = match read(&request) {
        Ok(set) => (set, None),
        Err((error, set)) => (*set, Some(error.to_string())),
    };
    let mut values = BTreeSet::new();
    let mut text = Vec::new();
    samples::jsonl(&set, &mut text).unwrap();
    for line in std::str::from_utf8(&text).unwrap().lines() {
        let doc: serde_json::Value = serde_json::from_str(line).unwrap();
        // What a log says of its own samples stands where its table has no row for them.
        if doc["summary"]["reported"] != true {
            values.insert(format!("{} {}", doc["value"], doc["unit"]));
        }
    }
    let warnings = set.diagnostics.into_iter().filter(|d| d.severity == Severity::Warning);
    (values, warnings.map(|d| d.message).chain(error).collect())
}

fn files(dir: &Path, out: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, out);
        } else {
            out.push(path);
        }
    }
}

#[test]
fn an_input_cut_within_a_line_gives_its_values_or_a_warning() {
    let mut inputs = Vec::new();
    for part in ["go/inputs", "go/example", "jmh/real", "jmh/reports", "db_bench", "benchstat"] {
        files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata").join(part), &mut inputs);
    }
    inputs.sort();
    let mut tried = BTreeMap::new();
    let mut wrong = Vec::new();
    for path in inputs {
        let bytes = fs::read(&path).unwrap();
        let kind = (path.parent().unwrap().to_owned(), path.extension().map(ToOwned::to_owned));
        if bytes.len() > 6000 || tried.get(&kind).is_some_and(|&n| n >= 3) {
            continue;
        }
        let (whole, said) = values(&bytes);
        if whole.is_empty() {
            continue;
        }
        *tried.entry(kind).or_insert(0) += 1;
        for n in bytes.len().saturating_sub(120).max(1)..bytes.len() {
            let (cut, warnings) = values(&bytes[..n]);
            let warned = warnings.len() > said.len() || warnings.iter().any(|w| !said.contains(w));
            let invented = cut.difference(&whole).next();
            if let (false, Some(value)) = (warned, invented) {
                let end = bytes[..n].rsplit(|&b| b == b'\n').next().unwrap();
                wrong.push(format!("{}: {}: {value}", path.display(), String::from_utf8_lossy(end)));
                break;
            }
        }
    }
    assert!(tried.values().sum::<usize>() > 20, "{tried:?}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

const NEW: &str = "testdata/go/example/new.txt";
const FORMATS: [&str; 6] = ["text", "json", "csv", "markdown", "html", "svg"];

/// Runs `script` in a shell, `$ABSTAT` being the program.
fn shell(dir: &Path, script: &str) -> Outcome {
    let program = command(&[]).get_program().to_owned();
    outcome(Command::new("sh").args(["-c", script]).env("ABSTAT", program).current_dir(dir).stdin(Stdio::null()))
}

/// A directory with `old.txt` and `new.txt`.
fn directory() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (from, to) in [(OLD, "old.txt"), (NEW, "new.txt")] {
        fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join(from), dir.path().join(to)).unwrap();
    }
    dir
}

/// Names in a directory, hidden ones too.
fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(dir).unwrap().map(|e| e.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn a_full_device_is_exit_2_whatever_is_written() {
    let dir = directory();
    let mut commands: Vec<String> = FORMATS.iter().map(|f| format!("old.txt new.txt -f {f} > /dev/full")).collect();
    commands.extend(FORMATS.iter().map(|f| format!("old.txt new.txt -o {f}:/dev/full")));
    commands.extend(["jsonl", "csv", "go"].map(|f| format!("convert -f {f} old.txt > /dev/full")));
    commands.extend(["text", "csv"].map(|f| format!("benchstat -format {f} old.txt new.txt > /dev/full")));
    for args in
        ["benchstat -h", "--help", "-h", "--version", "convert --help", "generate man", "generate completions zsh"]
    {
        commands.push(format!("{args} > /dev/full"));
    }
    commands.push("old.txt new.txt --plot > /dev/full".into());
    commands.push("old.txt new.txt --fail-on any > /dev/full".into());
    for args in commands {
        let got = shell(dir.path(), &format!("\"$ABSTAT\" {args}"));
        assert_eq!((got.code, &*got.stdout), (Some(2), &b""[..]), "{args}: {}", got.stderr);
        let place = if args.contains("-o ") { "/dev/full" } else { "stdout" };
        let said = got.stderr.contains(&format!("cannot write {place}: No space left on device"));
        assert!(
            said && got.stderr.lines().filter(|l| l.contains("cannot write")).count() == 1,
            "{args}: {}",
            got.stderr
        );
    }
    assert_eq!(names(dir.path()), ["new.txt", "old.txt"]);
}

#[test]
fn a_file_that_cannot_be_written_whole_is_not_there_or_stays_as_it_was() {
    let dir = directory();
    for format in FORMATS {
        for before in [None, Some("what was there")] {
            let path = dir.path().join("report");
            if let Some(text) = before {
                fs::write(&path, text).unwrap();
            }
            // A limit of one block, with its signal ignored, fails in the middle of a file as a full disk does.
            let script = format!(
                "trap '' XFSZ; ulimit -f 1; \"$ABSTAT\" old.txt new.txt --all -o {format}:report -o json:second.json > /dev/null"
            );
            let got = shell(dir.path(), &script);
            assert_eq!(got.code, Some(2), "{format}: {}", got.stderr);
            assert!(got.stderr.starts_with("error: cannot write report: File too large"), "{format}: {}", got.stderr);
            assert_eq!(fs::read_to_string(&path).ok().as_deref(), before, "{format}");
            let mut left = vec!["new.txt", "old.txt"];
            left.extend(before.map(|_| "report"));
            assert_eq!(names(dir.path()), left, "{format}");
            let _ = fs::remove_file(&path);
        }
    }
}

#[test]
fn a_place_that_cannot_be_written_is_exit_2_and_is_named() {
    let dir = directory();
    fs::create_dir(dir.path().join("folder")).unwrap();
    for (target, said) in [
        ("json:missing/r.json", "cannot write missing/r.json: No such file or directory"),
        ("json:folder", "cannot write folder: Is a directory"),
        ("json:old.txt/r.json", "cannot write old.txt/r.json: Not a directory"),
        // Nobody may make files there, not even root.
        ("json:/proc/r.json", "cannot write /proc/r.json: "),
    ] {
        let got = shell(dir.path(), &format!("\"$ABSTAT\" old.txt new.txt -o {target}"));
        assert_eq!((got.code, &*got.stdout), (Some(2), &b""[..]), "{target}: {}", got.stderr);
        assert!(got.stderr.contains(said), "{target}: {}", got.stderr);
        assert_eq!(names(dir.path()), ["folder", "new.txt", "old.txt"]);
    }
    assert!(names(&dir.path().join("folder")).is_empty());
}

#[test]
fn a_file_that_is_replaced_keeps_its_permissions_and_its_links() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let dir = directory();
    let path = dir.path().join("real.csv");
    fs::write(&path, "before").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    symlink("real.csv", dir.path().join("link.csv")).unwrap();
    let got = shell(dir.path(), "umask 027; \"$ABSTAT\" old.txt new.txt -o link.csv -o fresh.csv > /dev/null");
    assert_eq!(got.code, Some(0), "{}", got.stderr);
    let mode = |name: &str| fs::metadata(dir.path().join(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode("real.csv"), mode("fresh.csv")), (0o640, 0o640));
    assert!(fs::symlink_metadata(dir.path().join("link.csv")).unwrap().is_symlink());
    assert_eq!(fs::read(&path).unwrap(), fs::read(dir.path().join("fresh.csv")).unwrap());
}

#[test]
fn closed_streams_are_no_reason_to_fail_otherwise() {
    let dir = directory();
    let want = shell(dir.path(), "\"$ABSTAT\" old.txt new.txt -f csv").stdout;
    for closed in [">&-", ">&- 2>&-", "2>&-", "<&-"] {
        let got = shell(dir.path(), &format!("\"$ABSTAT\" old.txt new.txt -o r.csv {closed}"));
        assert_eq!(got.code, Some(0), "{closed}: {}", got.stderr);
        // Nothing meant for a closed stream went into a file that got its number.
        assert!(fs::read(dir.path().join("r.csv")).unwrap() == want, "{closed}");
    }
    let got = shell(dir.path(), "\"$ABSTAT\" old.txt missing.txt 2>&-");
    assert_eq!(got.code, Some(2));
    let got = shell(dir.path(), "\"$ABSTAT\" old.txt new.txt --fail-on any 2>&- > /dev/null");
    assert_eq!(got.code, Some(1));
    let got = shell(dir.path(), "\"$ABSTAT\" - <&-");
    assert_eq!(got.code, Some(2), "{}", got.stderr);
    assert!(got.stderr.contains("stdin: no data"), "{}", got.stderr);
}

#[test]
fn nobody_reading_on_is_no_error_and_gates_still_count() {
    let dir = directory();
    let mut commands: Vec<(String, i32)> =
        FORMATS.iter().map(|f| (format!("old.txt new.txt --all -f {f}"), 0)).collect();
    commands
        .extend(["convert old.txt", "benchstat old.txt new.txt", "--help", "generate man"].map(|c| (c.to_owned(), 0)));
    commands.push(("old.txt new.txt --fail-on any".into(), 1));
    commands.push(("old.txt new.txt --fail-on any -o text:/dev/stdout".into(), 1));
    for (args, code) in commands {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let args: Vec<&str> = args.split(' ').collect();
        let got = outcome(command(&args).current_dir(dir.path()).stdout(writer));
        assert_eq!(got.code, Some(code), "{args:?}: {}", got.stderr);
        assert!(!got.stderr.contains("error"), "{args:?}: {}", got.stderr);
    }
}

#[test]
fn what_cannot_be_read_to_its_end_is_exit_2_and_is_named() {
    let dir = directory();
    for (args, said) in [
        ("old.txt .", "error: .: is a directory"),
        ("old.txt - < .", "error: stdin: Is a directory"),
        ("old.txt /proc/self/mem", "error: /proc/self/mem: Input/output error"),
        ("convert /proc/self/mem", "error: /proc/self/mem: Input/output error"),
        ("benchstat old.txt /proc/self/mem", "benchstat: /proc/self/mem: Input/output error"),
        ("old.txt new.txt/x", "error: new.txt/x: Not a directory"),
    ] {
        let got = shell(dir.path(), &format!("\"$ABSTAT\" {args}"));
        assert_eq!((got.code, &*got.stdout), (Some(2), &b""[..]), "{args}: {}", got.stderr);
        assert!(got.stderr.contains(said), "{args}: {}", got.stderr);
    }
}

#[test]
fn what_was_noticed_before_a_read_error_is_said() {
    let dir = tempfile::tempdir().unwrap();
    let text = "BenchmarkA 1 x ns/op\n".to_owned() + &"BenchmarkA 1 2 ns/op\n".repeat(50_000);
    let whole = dir.path().join("x.txt");
    fs::write(&whole, text).unwrap();
    let got = shell(dir.path(), "gzip -c x.txt | head -c 400 > x.gz; \"$ABSTAT\" x.gz");
    assert_eq!((got.code, &*got.stdout), (Some(2), &b""[..]));
    assert!(got.stderr.contains("warning: x.gz:1:14: expected a number"), "{}", got.stderr);
    assert!(got.stderr.contains("error: x.gz: the gzip data ends too early"), "{}", got.stderr);
}

#[test]
fn a_pipe_that_is_cut_in_a_number_is_said() {
    let dir = tempfile::tempdir().unwrap();
    for (input, said) in [
        ("BenchmarkA 1 200 ns/op\nBenchmarkA 1 20", "stdin:2:"),
        ("BenchmarkA 1 200 ns/op\nBenchmarkA 1 200 n", "stdin:2: the last line has no line end"),
        ("test,6.0,7.0\nreadrandom,1.00,1.1", "stdin:2: the last line has no line end"),
    ] {
        fs::write(dir.path().join("in"), input).unwrap();
        let got = shell(dir.path(), "cat in | \"$ABSTAT\"");
        assert_eq!(got.code, Some(0), "{}", got.stderr);
        assert!(got.stderr.contains(said), "{input:?}: {}", got.stderr);
        let strict = shell(dir.path(), "cat in | \"$ABSTAT\" --strict");
        assert_eq!(strict.code, Some(2), "{}", strict.stderr);
    }
    // Whole lines are whole.
    for input in [
        "BenchmarkA 1 200 ns/op",
        "BenchmarkA 1 200 ns/op\n",
        "BenchmarkA 1 200 ns/op\nPASS",
        "# a\nBenchmarkA 1 2 ns/op\nok x 1.2s",
    ] {
        fs::write(dir.path().join("in"), input).unwrap();
        let got = shell(dir.path(), "\"$ABSTAT\" --strict < in");
        assert_eq!((got.code, &*got.stderr), (Some(0), ""), "{input:?}");
    }
}

#[test]
fn a_file_that_grows_while_it_is_read_is_read_to_an_end() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log.txt");
    let line = "BenchmarkA 1 2 ns/op\n";
    fs::write(&path, line.repeat(1000)).unwrap();
    let stop = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let writer = {
        let (path, stop) = (path.clone(), Arc::clone(&stop));
        std::thread::spawn(move || {
            use std::io::Write as _;
            let mut file = fs::OpenOptions::new().append(true).open(path).unwrap();
            // Bounded, should the reader never come to an end.
            for _ in 0..200_000 {
                if stop.load(std::sync::atomic::Ordering::Relaxed) {
                    break;
                }
                file.write_all(line.as_bytes()).unwrap();
            }
        })
    };
    let got = shell(dir.path(), "\"$ABSTAT\" -f json log.txt");
    stop.store(true, std::sync::atomic::Ordering::Relaxed);
    writer.join().unwrap();
    assert_eq!(got.code, Some(0), "{}", got.stderr);
    let doc: serde_json::Value = serde_json::from_slice(&got.stdout).unwrap();
    let results = doc["inputs"][0]["results"].as_u64().unwrap();
    // The end may have been seen while the line before it was half written: then that is said, and of no other line anything.
    let last = |n: u64| got.stderr.starts_with(&format!("warning: log.txt:{n}:"));
    assert!(got.stderr.is_empty() || last(results) || last(results + 1), "{results}: {}", got.stderr);
    assert!(got.stderr.matches("warning:").count() <= 1, "{}", got.stderr);
    let lines = fs::read_to_string(&path).unwrap().lines().count() as u64;
    assert!((1000..=lines).contains(&results), "{results} of {lines}");
}
