//! Shared by the tests of `abstat run`.
#![allow(dead_code, reason = "each test file uses its part")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The program, without the environment's say.
pub fn abstat() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_abstat"));
    command.env("COLUMNS", "200").env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE");
    command
}

/// Runs it without a terminal.
pub fn run(command: &mut Command) -> Output {
    command.stdin(std::process::Stdio::null()).output().unwrap()
}

pub fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Names in a directory, sorted.
pub fn listing(dir: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        std::fs::read_dir(dir).unwrap().map(|e| e.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// The RocksDB library of these tests. Where there is none the test says that it was skipped, or fails if `ABSTAT_REQUIRE_ROCKSDB=1` promises
/// one.
pub fn rocksdb() -> Option<PathBuf> {
    let found =
        std::env::var_os("ABSTAT_ROCKSDB").map(PathBuf::from).or_else(abstat::runner::engine::find_system_library);
    if found.is_none() {
        assert!(
            std::env::var_os("ABSTAT_REQUIRE_ROCKSDB").is_none_or(|v| v != "1"),
            "ABSTAT_REQUIRE_ROCKSDB=1, but there is no RocksDB library"
        );
        eprintln!("skipped: no RocksDB library found");
    }
    found
}
