//! What `abstat run` does when things break: a process is killed, the user presses Ctrl-C, the disk is full, the database is locked. Nothing that
//! was measured is lost, nothing foreign is touched, exit codes are 0 and 2.
#![cfg(target_os = "linux")]

mod runner_common;

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use runner_common::{abstat, listing, rocksdb, run, stderr, stdout};
use rustix::process::{Pid, Signal, kill_process};

/// Longest that anything here may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Waits until `condition` gives something.
fn wait_for<T>(what: &str, mut condition: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(value) = condition() {
            return value;
        }
        assert!(start.elapsed() < PATIENCE, "waited for {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn signal(pid: u32, signal: Signal) {
    let pid = Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    kill_process(pid, signal).unwrap();
}

/// Processes whose parent is `pid`.
fn children(pid: u32) -> Vec<u32> {
    fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"))
        .unwrap_or_default()
        .split_whitespace()
        .map(|p| p.parse().unwrap())
        .collect()
}

/// It is there and no zombie.
fn lives(pid: u32) -> bool {
    fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|s| !s.rsplit(')').next().unwrap_or("").starts_with(" Z"))
}

/// A run in the background, ended with the test.
struct Background {
    child: Child,
}

impl Background {
    fn start(command: &mut Command) -> Background {
        let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        Background { child }
    }

    /// Exit code, standard output and standard error.
    fn end(mut self) -> (Option<i32>, String, String) {
        let (mut out, mut err) = (String::new(), String::new());
        let mut pipe = self.child.stderr.take().unwrap();
        let reader = std::thread::spawn(move || {
            pipe.read_to_string(&mut err).unwrap();
            err
        });
        self.child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
        let code = self.child.wait().unwrap().code();
        (code, out, reader.join().unwrap())
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

/// Engines that there are: the map in memory, and RocksDB where it is.
fn engines() -> Vec<String> {
    let mut engines = vec!["memory".to_owned()];
    engines.extend(rocksdb().map(|p| p.display().to_string()));
    engines
}

fn samples(record: &Path) -> usize {
    fs::read_to_string(record).unwrap_or_default().matches("{\"abstat\":\"sample\"").count()
}

/// Samples that abstat reads from `record`: number of values and forks of the first row.
fn read_back(record: &Path) -> (u64, u64) {
    let output = run(abstat().arg(record).args(["-f", "json", "--unit", "op/sec"]));
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let cell = &json["tables"][0]["rows"][0]["cells"][0];
    (cell["n"].as_u64().unwrap(), cell["forks"].as_u64().unwrap())
}

/// A run of three processes of four iterations each, slow enough to be caught in the middle.
fn long_run(engine: &str, dir: &Path, record: &Path) -> Command {
    let mut command = abstat();
    command.args([
        "run",
        "put",
        "--engine",
        engine,
        "--keys",
        "500",
        "--forks",
        "3",
        "--warmup",
        "0",
        "--iterations",
        "4",
    ]);
    command.args(["--time", "0.25", "-f", "go", "--dir"]).arg(dir).arg("--record").arg(record);
    command
}

#[test]
fn a_killed_process_loses_its_fork_and_no_other() {
    for engine in engines() {
        let dir = tempfile::tempdir().unwrap();
        let record = dir.path().join("run.jsonl");
        let databases = dir.path().join("databases");
        fs::create_dir(&databases).unwrap();
        let background = Background::start(&mut long_run(&engine, &databases, &record));
        let parent = background.child.id();
        // In the middle of the second fork.
        wait_for("five samples", || (samples(&record) >= 5).then_some(()));
        let child = wait_for("a child", || children(parent).first().copied());
        signal(child, Signal::KILL);
        let (code, out, err) = background.end();
        assert_eq!(code, Some(2), "{engine}: {err}");
        assert!(err.contains("fork 2 of RocksDB/op=put") && err.contains("killed by signal 9 (SIGKILL)"), "{err}");
        assert!(err.contains("1 of 3 forks failed; the results are those of the others"), "{err}");
        let lines = out.lines().filter(|l| l.starts_with("Benchmark")).count();
        assert_eq!(lines, 8, "{out}");
        assert!(
            out.contains("# fork 1 of 3") && !out.contains("# fork 2 of 3") && out.contains("# fork 3 of 3"),
            "{out}"
        );
        assert_eq!(listing(&databases), Vec::<String>::new(), "the database of the dead process is removed");
        assert_eq!(read_back(&record), (8, 2));
        // Going on does what failed again.
        let resumed = run(abstat().args(["run", "-f", "go", "--resume"]).arg(&record));
        assert_eq!(resumed.status.code(), Some(0), "{}", stderr(&resumed));
        assert_eq!(read_back(&record), (12, 3));
    }
}

#[test]
fn ctrl_c_keeps_whole_iterations_and_cleans_up() {
    // A terminal sends the first, `kill` and service managers the second, a closed window the third.
    let by_engine = engines().into_iter().map(|engine| (engine, Signal::INT));
    let others = [Signal::TERM, Signal::HUP].map(|signal| ("memory".to_owned(), signal));
    for (engine, sent) in by_engine.chain(others) {
        let dir = tempfile::tempdir().unwrap();
        let record = dir.path().join("run.jsonl");
        let databases = dir.path().join("databases");
        fs::create_dir(&databases).unwrap();
        let background = Background::start(&mut long_run(&engine, &databases, &record));
        let parent = background.child.id();
        wait_for("six samples", || (samples(&record) >= 6).then_some(()));
        let child = wait_for("a child", || children(parent).first().copied());
        signal(parent, sent);
        let (code, out, err) = background.end();
        assert_eq!(code, Some(2), "{engine}: {err}");
        assert!(err.contains("error: interrupted") && err.contains("--resume"), "{err}");
        let lines = out.lines().filter(|l| l.starts_with("Benchmark")).count();
        assert!((6..12).contains(&lines), "{out}");
        assert_eq!(lines, samples(&record), "all that was recorded is shown");
        assert!(!lives(child), "the child is gone");
        assert_eq!(listing(&databases), Vec::<String>::new());
        assert_eq!(read_back(&record).0, lines as u64);
        let resumed = run(abstat().args(["run", "-f", "go", "--resume"]).arg(&record));
        assert_eq!(resumed.status.code(), Some(0), "{}", stderr(&resumed));
        assert_eq!(stdout(&resumed).lines().filter(|l| l.starts_with("Benchmark")).count(), 12);
        assert_eq!(read_back(&record), (12, 3));
    }
}

#[test]
fn a_killed_parent_leaves_no_process_and_no_database() {
    for engine in engines() {
        let dir = tempfile::tempdir().unwrap();
        let record = dir.path().join("run.jsonl");
        let databases = dir.path().join("databases");
        fs::create_dir(&databases).unwrap();
        let mut background = Background::start(&mut long_run(&engine, &databases, &record));
        let parent = background.child.id();
        wait_for("a sample", || (samples(&record) >= 1).then_some(()));
        let child = wait_for("a child", || children(parent).first().copied());
        signal(parent, Signal::KILL);
        background.child.wait().unwrap();
        wait_for("the child to go", || (!lives(child)).then_some(()));
        assert_eq!(listing(&databases), Vec::<String>::new(), "{engine}");
        // And the record is good for all but the iteration that ran.
        assert!(read_back(&record).0 >= 1);
    }
}

#[test]
fn a_directory_that_is_not_empty_is_refused_and_left_alone() {
    for engine in engines() {
        let dir = tempfile::tempdir().unwrap();
        let own = dir.path().join("data");
        fs::create_dir(&own).unwrap();
        fs::write(own.join("thesis.tex"), "chapter 1").unwrap();
        for option in ["--db", "--overwrite-db", "--use-db"] {
            if option == "--use-db" && engine == "memory" {
                continue;
            }
            let output = run(abstat().args(["run", "get", "--engine", &engine, "--quick", option]).arg(&own));
            assert_eq!(output.status.code(), Some(2), "{option}: {}", stderr(&output));
            assert!(stderr(&output).contains("data"), "{}", stderr(&output));
            assert_eq!(stdout(&output), "");
            assert_eq!(listing(&own), ["thesis.tex"], "{option}");
            assert_eq!(fs::read_to_string(own.join("thesis.tex")).unwrap(), "chapter 1");
        }
        // A file is no place either.
        let output =
            run(abstat().args(["run", "get", "--engine", &engine, "--quick", "--db"]).arg(own.join("thesis.tex")));
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains("is a file"), "{}", stderr(&output));
    }
}

#[test]
fn files_that_appear_beside_the_database_survive_it() {
    let Some(library) = rocksdb() else { return };
    let dir = tempfile::tempdir().unwrap();
    let record = dir.path().join("run.jsonl");
    let db = dir.path().join("db");
    let mut command = abstat();
    command.args(["run", "get", "--engine"]).arg(&library).args(["--keys", "500", "--forks", "1", "--warmup", "0"]);
    command.args(["--iterations", "6", "--time", "0.2", "-f", "go", "--db"]).arg(&db).arg("--record").arg(&record);
    let background = Background::start(&mut command);
    wait_for("a sample", || (samples(&record) >= 1).then_some(()));
    fs::write(db.join("notes.txt"), "mine").unwrap();
    let (code, _, err) = background.end();
    assert_eq!(code, Some(0), "{err}");
    assert!(err.contains("not RocksDB's; they stay: notes.txt"), "{err}");
    assert_eq!(listing(&db), ["notes.txt"]);
}

#[test]
fn a_locked_database_is_an_error_that_says_so() {
    let Some(library) = rocksdb() else { return };
    let dir = tempfile::tempdir().unwrap();
    let db = dir.path().join("db");
    let record = dir.path().join("run.jsonl");
    let holder = |command: &mut Command| {
        command.args(["run", "put", "--engine"]).arg(&library).args(["--keys", "500", "--forks", "1", "--warmup", "0"]);
        command.args(["--iterations", "100", "--time", "0.2", "--db"]).arg(&db).arg("--record").arg(&record);
    };
    let mut command = abstat();
    holder(&mut command);
    let background = Background::start(&mut command);
    wait_for("a sample", || (samples(&record) >= 1).then_some(()));
    let mut second = abstat();
    second.args(["run", "put", "--engine"]).arg(&library).args(["--keys", "500", "--quick", "--use-db"]).arg(&db);
    let output = run(second.arg("--allow-writes"));
    assert_eq!(output.status.code(), Some(2));
    let said = stderr(&output);
    assert!(said.contains("lock") && said.contains("hint: another process has this database open"), "{said}");
    // Nor is a database removed that somebody works with, although abstat made it.
    let mut third = abstat();
    third.args(["run", "put", "--engine"]).arg(&library).args(["--keys", "500", "--quick", "--overwrite-db"]).arg(&db);
    let output = run(&mut third);
    assert_eq!(output.status.code(), Some(2));
    let said = stderr(&output);
    assert!(said.contains("has this database open, so it is not overwritten"), "{said}");
    assert!(db.join("CURRENT").is_file() && db.join("ABSTAT_DB").is_file());
    let seen = samples(&record);
    wait_for("the first run to go on", || (samples(&record) > seen + 1).then_some(()));
    drop(background);
}

#[test]
fn what_one_release_lacks_does_not_stop_the_others() {
    let Some(library) = rocksdb() else { return };
    let dir = tempfile::tempdir().unwrap();
    let mut command = abstat();
    command
        .args(["run", "get", "--cache", "hcc", "--keys", "500", "--quick", "--time", "0.05", "-f", "go", "--engine"]);
    command.arg(format!("lib={}", library.display())).args(["--engine", "memory", "--dir"]).arg(dir.path());
    let output = run(&mut command);
    let (out, err) = (stdout(&output), stderr(&output));
    assert!(out.contains("/engine=memory"), "{out}");
    if output.status.code() == Some(0) {
        // A release that has it.
        assert!(out.contains("/engine=lib"), "{out}");
    } else {
        assert_eq!(output.status.code(), Some(2), "{err}");
        assert!(
            err.contains("has no function rocksdb_cache_create_hyper_clock; cache=hcc cannot be measured"),
            "{err}"
        );
        // The hint for locked databases: a clock is none.
        assert!(!err.contains("hint:"), "{err}");
        assert!(!out.contains("/engine=lib"), "{out}");
    }
}

/// Runs a script in a mount namespace of its own where `small` is a file system of `size`; `None` (said aloud) where that is not allowed.
fn with_small_disk(
    small: &Path,
    size: &str,
    script: &str,
    arguments: &[&std::ffi::OsStr],
) -> Option<std::process::Output> {
    let wrapped = format!("mount -t tmpfs -o size={size} none \"$1\" || exit 77; shift; {script}");
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-root-user", "--mount", "sh", "-c", &wrapped, "sh"]).arg(small).args(arguments);
    let output = command.env("COLUMNS", "200").stdin(Stdio::null()).output();
    match output {
        Ok(output) if output.status.code() != Some(77) && !stderr(&output).contains("unshare") => Some(output),
        _ => {
            eprintln!("skipped: no mount namespaces here");
            None
        }
    }
}

#[test]
fn a_full_disk_ends_the_fork_and_keeps_what_was_measured() {
    let Some(library) = rocksdb() else { return };
    let dir = tempfile::tempdir().unwrap();
    let small = dir.path().join("small");
    fs::create_dir(&small).unwrap();
    let record = dir.path().join("run.jsonl");
    let program = PathBuf::from(env!("CARGO_BIN_EXE_abstat"));
    // The first benchmark fits; values of the second one do not.
    let script = "program=$1; library=$2; record=$3; small=$4; \
        \"$program\" run put --engine \"$library\" --keys 500 --value-size 100,100000 --ratio 1 --compression none --forks 1 --warmup 0 \
        --iterations 2 --ops 500 --dir \"$small\" --record \"$record\" $5 -f go; code=$?; ls \"$small\" >&2; exit $code";
    let arguments = |force: &'static str| {
        [program.as_os_str(), library.as_os_str(), record.as_os_str(), small.as_os_str(), force.as_ref()]
    };
    // First asked: it does not fit, and nothing is started.
    let Some(output) = with_small_disk(&small, "16m", script, &arguments("")) else { return };
    assert_eq!(output.status.code(), Some(2));
    let said = stderr(&output);
    assert!(said.contains("free, about") && said.contains("--force"), "{said}");
    assert_eq!(samples(&record), 0);
    // Then forced.
    let _ = fs::remove_file(&record);
    let output = with_small_disk(&small, "16m", script, &arguments("--force")).unwrap();
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("No space left") || said.contains("(SIGABRT)"), "{said}");
    assert!(said.contains("hint: free some space") && said.contains("1 of 2 forks failed"), "{said}");
    assert_eq!(stdout(&output).lines().filter(|l| l.starts_with("Benchmark")).count(), 2, "{}", stdout(&output));
    assert!(said.trim_end().ends_with("the results are those of the others"), "the disk is empty again: {said}");
    assert_eq!(read_back(&record), (2, 1));
}

#[test]
fn a_record_that_cannot_be_written_ends_the_run() {
    let dir = tempfile::tempdir().unwrap();
    let small = dir.path().join("small");
    fs::create_dir(&small).unwrap();
    let databases = dir.path().join("databases");
    fs::create_dir(&databases).unwrap();
    let program = PathBuf::from(env!("CARGO_BIN_EXE_abstat"));
    let script = "\"$1\" run get --engine memory --keys 500 --forks 1 --warmup 0 --iterations 100 --time 0.01 -f go \
        --dir \"$2\" --record \"$3/run.jsonl\"; code=$?; wc -l < \"$3/run.jsonl\" >&2; tail -c 2 \"$3/run.jsonl\" >&2; exit $code";
    let arguments = [program.as_os_str(), databases.as_os_str(), small.as_os_str()];
    let Some(output) = with_small_disk(&small, "16k", script, &arguments) else { return };
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("cannot append: No space left on device"), "{said}");
    assert_eq!(listing(&databases), Vec::<String>::new());
}
