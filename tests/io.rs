//! Inputs that end early or cannot be read, outputs that cannot be written: what was good stays, nothing is believed in silence.
#![cfg(unix)]

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

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
