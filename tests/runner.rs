//! `abstat run`, the whole program: on the map in memory always, on RocksDB where a library is found (`ABSTAT_ROCKSDB`, else the system's;
//! with `ABSTAT_REQUIRE_ROCKSDB=1` a missing library is a failure).

mod runner_common;

use std::collections::BTreeMap;
use std::path::Path;

use runner_common::{abstat, listing, rocksdb, run, stderr, stdout};

/// Options of a run that takes moments.
const SHORT: [&str; 8] = ["--forks", "2", "--warmup", "1", "--iterations", "3", "--time", "0.1"];

/// `abstat run` on the map in memory with these options, in `dir`.
fn memory(dir: &Path, options: &[&str]) -> std::process::Output {
    let mut command = abstat();
    command.arg("run").args(options).args(["--engine", "memory", "--keys", "500", "--dir"]).arg(dir).args(SHORT);
    run(&mut command)
}

/// Unit and name -> cell, of what `abstat -f json` says of a file.
fn cells(path: &Path) -> BTreeMap<(String, String), serde_json::Value> {
    let output = run(abstat().arg(path).args(["-f", "json"]));
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let mut out = BTreeMap::new();
    for table in json["tables"].as_array().unwrap() {
        for row in table["rows"].as_array().unwrap() {
            let key = (table["unit"].as_str().unwrap().to_owned(), row["name"].as_str().unwrap().to_owned());
            assert!(out.insert(key.clone(), row["cells"][0].clone()).is_none(), "{key:?} twice");
        }
    }
    out
}

#[test]
fn a_run_prints_its_table_and_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let output = memory(dir.path(), &["get,put"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = stdout(&output);
    let name = "RocksDB/op=get/cf=none/keys=500/ksize=16/vsize=100/cache=lru/io=buffered-1";
    for part in [name, "op=put", "sec/op", "op/sec", "B/sec"] {
        assert!(text.contains(part), "{part} in {text}");
    }
    let said = stderr(&output);
    let plan = "2 benchmarks x 2 forks x (1 + 3) x 0.1 s: about 0:02 and loading; seed 42";
    assert!(said.starts_with(plan), "{said}");
    assert!(!said.contains("ETA"), "no progress into a pipe: {said}");
    assert_eq!(listing(dir.path()), Vec::<String>::new());
}

#[test]
fn progress_lines_say_what_runs() {
    let dir = tempfile::tempdir().unwrap();
    let output = memory(dir.path(), &["get,put", "--cf", "none,20", "--progress", "always"]);
    let said = stderr(&output);
    let line = said.lines().find(|l| l.starts_with("[3/4] put cf=none fork 2/2 iter 3/3  "));
    let line = line.unwrap_or_else(|| panic!("{said}"));
    assert!(line.contains("op/s  ETA 0:0"), "{line}");
}

#[test]
fn every_format_reads_back_to_the_same_samples() {
    let dir = tempfile::tempdir().unwrap();
    let record = dir.path().join("run.jsonl");
    let name = record.to_str().unwrap();
    let workloads = "get,multiget,readwrite";
    let output = memory(dir.path(), &[workloads, "--threads", "2", "--latency", "-f", "jsonl", "--record", name]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let jsonl = dir.path().join("out.jsonl");
    std::fs::write(&jsonl, &output.stdout).unwrap();
    let reference = cells(&jsonl);
    assert_eq!(reference, cells(&record), "what is recorded and what is printed");
    // 3 benchmarks and 2 roles: three units and five percentiles each; calls of the batches.
    assert_eq!(reference.len(), 5 * 3 + 5 * 5 + 1);

    let as_format = |format: &str| {
        let output = run(abstat().args(["run", "--resume"]).arg(&record).args(["-f", format]));
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let path = dir.path().join(format!("out.{format}"));
        std::fs::write(&path, &output.stdout).unwrap();
        cells(&path)
    };
    assert_eq!(reference, as_format("go"), "Go text to the last bit");

    let close = |a: &serde_json::Value, b: &serde_json::Value, tolerance: f64, what: &str| {
        for field in ["mean", "min", "max"] {
            let (a, b) = (a[field].as_f64().unwrap(), b[field].as_f64().unwrap());
            assert!((a / b - 1.0).abs() < tolerance, "{what} {field}: {a} {b}");
        }
        assert_eq!(a["n"], b["n"], "{what}");
    };
    let find = |unit: &str, op: &str, role: &str| {
        let is_it = |(u, name): &(String, String)| {
            u == unit
                && name.contains(&format!("op={op}/"))
                && if role.is_empty() { !name.contains("/role=") } else { name.contains(&format!("/role={role}-")) }
        };
        reference.iter().find(|(key, _)| is_it(key)).map(|(_, cell)| cell).unwrap()
    };

    let jmh = as_format("jmh");
    for (name, op, role) in [
        ("RocksGet.get", "get", ""),
        ("RocksMultiGet.multiGet", "multiget", ""),
        ("RocksReadWrite.readwrite", "readwrite", ""),
        ("RocksReadWrite.readwrite:readwrite_get", "readwrite", "get"),
        ("RocksReadWrite.readwrite:readwrite_put", "readwrite", "put"),
    ] {
        let cell = &jmh[&("op/sec".to_owned(), name.to_owned())];
        close(cell, find("op/sec", op, role), 1e-7, name);
        assert_eq!(cell["forks"], 2, "{name}");
    }
    let p99 = &jmh[&("sec/op".to_owned(), "RocksGet.get:latency.p99".to_owned())];
    close(p99, find("p99-sec/op", "get", ""), 0.01, "p99");
    let calls = &jmh[&("op/sec".to_owned(), "RocksMultiGet.multiGet:calls".to_owned())];
    close(calls, find("call/sec", "multiget", ""), 1e-6, "calls");

    let db_bench = as_format("db_bench");
    for (name, op, role) in [
        ("get", "get", ""),
        ("multiget", "multiget", ""),
        ("readwrite", "readwrite", ""),
        ("readwrite:put", "readwrite", "put"),
    ] {
        let cell = |unit: &str| &db_bench[&(unit.to_owned(), name.to_owned())];
        // Cut to whole operations a second, and MB to one place.
        close(cell("op/sec"), find("op/sec", op, role), 1e-3, name);
        close(cell("B/sec"), find("B/sec", op, role), 0.2, name);
    }
    // Time of all threads by operations: of one reader it is the wall time.
    let micros = &db_bench[&("sec/op".to_owned(), "readwrite:get".to_owned())];
    close(micros, find("sec/op", "readwrite", "get"), 1e-3, "micros/op");
}

#[test]
fn the_table_of_a_run_is_that_of_its_go_text() {
    let dir = tempfile::tempdir().unwrap();
    let record = dir.path().join("run.jsonl");
    let mut command = abstat();
    command.args(["run", "get,put", "--keys", "500", "--engine", "a=memory", "--engine", "b=memory"]);
    let output = run(command.args(SHORT).arg("--record").arg(&record));
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let own = stdout(&output);
    assert!(own.contains("relative to a; above 1.00 is better"), "{own}");
    let go = run(abstat().args(["run", "-f", "go", "--resume"]).arg(&record));
    let path = dir.path().join("out.txt");
    std::fs::write(&path, &go.stdout).unwrap();
    let text = stdout(&go);
    assert!(text.contains("# fork 2 of 2\n") && text.contains("/engine=b-1\t"), "{text}");
    let from_go = run(abstat().arg(&path).args(["--col", "/engine", "--relative", "--ratio-interval"]));
    assert_eq!(stdout(&from_go), own);
    assert!(own.lines().any(|l| l.contains(" [") && l.ends_with(']') && l.starts_with("RocksDB/op=get")), "{own}");
    // And options after -- are those of the table.
    let other = run(abstat().args(["run", "--resume"]).arg(&record).args(["--", "--base", "b", "--unit", "op/sec"]));
    assert!(stdout(&other).contains("op/sec relative to b"), "{}", stdout(&other));
}

/// The tables of a comparison in JSON.
fn tables(output: &std::process::Output) -> serde_json::Value {
    assert_eq!(output.status.code(), Some(0), "{}", stderr(output));
    let mut json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    json["tables"].take()
}

/// `abstat run ... -f go | abstat --col /engine` says what the run says: the same rows, centers, intervals, p, verdicts and notes.
fn go_text_makes_the_same_comparison(first: &str, second: &str) {
    let dir = tempfile::tempdir().unwrap();
    let record = dir.path().join("run.jsonl");
    let mut command = abstat();
    command.args(["run", "get,put,readwrite", "--keys", "500", "--engine", first, "--engine", second, "--latency"]);
    command.args(["--forks", "3", "--warmup", "1", "--iterations", "2", "--time", "0.1", "-f", "go", "--dir"]);
    let output = run(command.arg(dir.path()).arg("--record").arg(&record));
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let go = dir.path().join("out.txt");
    std::fs::write(&go, &output.stdout).unwrap();
    let resume = || {
        let mut command = abstat();
        command.args(["run", "--resume"]).arg(&record);
        command
    };
    assert_eq!(stdout(&run(resume().args(["-f", "go"]))), stdout(&output), "printed at once and from the record");

    for (options, view) in [(&[][..], &["--relative"][..]), (&["--col", "/engine"], &[])] {
        let own = tables(&run(resume().args(["-f", "json", "--"]).args(options)));
        let piped = tables(&run(abstat().arg(&go).args(["--col", "/engine", "-f", "json"]).args(view)));
        let cell = |i: usize| &own[0]["rows"][i]["cells"][1];
        assert_eq!((cell(0)["n"].as_u64(), cell(0)["forks"].as_u64()), (Some(6), Some(3)), "{own}");
        let comparison = &own[0]["rows"][0]["comparisons"][1];
        assert!(comparison["lo"].is_f64() && comparison["verdict"].is_string(), "{comparison}");
        assert_eq!(own, piped);
        // Three units of five rows, and the percentiles.
        assert!(own.as_array().unwrap().len() >= 3, "{own}");
    }

    // The drop-in for benchstat reads the same file: medians of all iterations.
    let output = run(abstat().args(["benchstat", "-col", "/engine", "-ignore", "rocksdb", "-format", "csv"]).arg(&go));
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let csv = stdout(&output);
    let mut rates: Vec<f64> = stdout(&run(resume().args(["-f", "jsonl"])))
        .lines()
        .map(|l| serde_json::from_str::<serde_json::Value>(l).unwrap())
        .filter(|l| l["abstat"] == "sample" && l["phase"] == "measured" && l["params"]["op"] == "put")
        .filter(|l| l["engine"] == first.split_once('=').unwrap().0)
        .map(|l| l["ops_s"].as_f64().unwrap())
        .collect();
    rates.sort_by(f64::total_cmp);
    assert_eq!(rates.len(), 6);
    let median = f64::midpoint(rates[2], rates[3]);
    let table = csv.split("\n\n").find(|t| t.contains("op/sec")).unwrap_or_else(|| panic!("{csv}"));
    let row = table.lines().find(|l| l.contains("/op=put/")).unwrap_or_else(|| panic!("{table}"));
    let printed: f64 = row.split(',').nth(1).unwrap().parse().unwrap();
    assert!((printed / median - 1.0).abs() < 1e-6, "{printed} {median}");
}

#[test]
fn go_text_of_the_map_makes_the_same_comparison() {
    go_text_makes_the_same_comparison("a=memory", "b=memory");
}

#[test]
fn go_text_of_rocksdb_makes_the_same_comparison() {
    let Some(library) = rocksdb() else { return };
    go_text_makes_the_same_comparison(&format!("lib={}", library.display()), "map=memory");
}

#[test]
fn releases_stand_side_by_side_and_are_a_key() {
    let Some(library) = rocksdb() else { return };
    let dir = tempfile::tempdir().unwrap();
    let record = dir.path().join("run.jsonl");
    let mut command = abstat();
    command.args(["run", "get,put", "--keys", "500", "--engine"]).arg(format!("lib={}", library.display()));
    command.args(["--engine", "memory", "--dir"]).arg(dir.path()).args(SHORT).arg("--record").arg(&record);
    let output = run(&mut command);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let own = stdout(&output);
    assert!(own.lines().any(|l| l.split_whitespace().eq(["lib", "memory"])), "{own}");
    assert!(!own.contains("only in"), "{own}");
    // What stands behind a label is said: the table shows the label alone.
    let said = stderr(&output);
    let line = said.lines().find(|l| l.starts_with("engines: lib RocksDB ")).unwrap_or_else(|| panic!("{said}"));
    assert!(line.contains(&format!("({})", library.display())) && line.ends_with(", memory"), "{line}");
    let options = ["--col", "rocksdb", "--ignore", "/engine", "-f", "json", "--unit", "op/sec"];
    let by_release = run(abstat().arg(&record).args(options));
    let json: serde_json::Value = serde_json::from_slice(&by_release.stdout).unwrap();
    let columns = json["tables"][0]["columns"].as_array().unwrap();
    let labels: Vec<&str> = columns.iter().map(|c| c["label"].as_str().unwrap()).collect();
    assert!(labels.len() == 2 && labels[0].split('.').count() == 3 && labels[1] == "memory", "{labels:?}");
    assert_eq!(listing(dir.path()), ["run.jsonl"]);
}

#[test]
fn every_workload_runs_on_rocksdb_from_the_command_line() {
    let Some(library) = rocksdb() else { return };
    let dir = tempfile::tempdir().unwrap();
    let workloads = "get,get-pinned,get-into,put,multiget,readwrite,comparator,fwdrange,revrange";
    let mut command = abstat();
    command.args(["run", workloads, "--keys", "500", "--forks", "1", "--warmup", "0", "--iterations", "1"]);
    command.args(["--time", "0.1", "--cf", "none,3", "-f", "go", "--dir"]).arg(dir.path());
    let output = run(command.env("ABSTAT_ROCKSDB", &library));
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = stdout(&output);
    let lines = text.lines().filter(|l| l.starts_with("Benchmark")).count();
    // Two more roles of readwrite, three more comparators; all of it for two numbers of families.
    assert_eq!(lines, (9 + 2 + 3) * 2, "{text}");
    assert!(text.contains("\nrocksdb: "), "{text}");
}

#[test]
fn a_record_is_never_written_over_and_can_be_continued() {
    let dir = tempfile::tempdir().unwrap();
    let record = dir.path().join("run.jsonl");
    let name = record.to_str().unwrap();
    let first = memory(dir.path(), &["get,put", "--record", name, "-f", "go"]);
    assert_eq!(first.status.code(), Some(0), "{}", stderr(&first));
    let whole = std::fs::read_to_string(&record).unwrap();
    let again = memory(dir.path(), &["get", "--record", name]);
    assert_eq!(again.status.code(), Some(2));
    let said = stderr(&again);
    assert!(said.contains("never written over") && said.contains("--resume"), "{said}");
    assert_eq!(std::fs::read_to_string(&record).unwrap(), whole);

    // As after a power cut: the third process is half there, its last line torn.
    let starts: Vec<usize> = whole.match_indices("{\"abstat\":\"fork\"").map(|(at, _)| at).collect();
    assert_eq!(starts.len(), 4);
    let cut = whole[starts[2]..].match_indices("{\"abstat\":\"sample\"").nth(2).unwrap().0 + starts[2] + 40;
    std::fs::write(&record, &whole[..cut]).unwrap();
    let resumed = run(abstat().args(["run", "-f", "go", "--resume", name]));
    let said = stderr(&resumed);
    assert_eq!(resumed.status.code(), Some(0), "{said}");
    assert!(said.contains("the last line was cut off") && said.contains("2 of 4 forks are in the record"), "{said}");
    let count = |text: &str| text.lines().filter(|l| l.starts_with("Benchmark")).count();
    assert_eq!(count(&stdout(&resumed)), count(&stdout(&first)));
    // Forks that were there are the same samples.
    let sample = stdout(&first).lines().find(|l| l.starts_with("Benchmark")).unwrap().to_owned();
    assert!(stdout(&resumed).lines().any(|l| l == sample), "{sample}");
    // And read as a file it is whole again.
    let read = cells(&record);
    assert!(read.values().all(|c| c["n"] == 6 && c["forks"] == 2), "{read:?}");
    assert!(std::fs::read_to_string(&record).unwrap().contains("\"attempt\":2"));
    // What the record says cannot be said otherwise.
    let both = run(abstat().args(["run", "put", "--resume", name]));
    assert_eq!(both.status.code(), Some(2));
    assert!(stderr(&both).contains("cannot be used with"), "{}", stderr(&both));
}

#[test]
fn what_cannot_work_is_refused_before_anything_starts() {
    let dir = tempfile::tempdir().unwrap();
    let d = dir.path().to_str().unwrap();
    for (options, word) in [
        (&["gte"][..], "nearest: get"),
        (&["get", "--keys", "many"], "expected a size"),
        (&["get", "--keys", "0"], "--keys"),
        (&["get", "--batch", "5"], "--batch is only used by multiget"),
        (&["get", "--cache", "big"], "expected lru, hcc or none"),
        (&["get", "--cf", "0"], "expected none or a number"),
        (&["get", "--key-size", "1", "--keys", "1000"], "do not fit"),
        (&["get", "--time", "0"], "--time"),
        (&["get", "--time", "1", "--ops", "5"], "cannot be used with"),
        (&["get", "--ops", "5", "--sync-iterations", "no"], "--sync-iterations"),
        (&["get", "--engine", "a b=memory"], "--engine"),
        (&["get", "--engine", "x=memory", "--engine", "x=memory"], "two engines"),
        (&["get", "-f", "xml"], "xml"),
        (&["get", "-f", "go", "--", "--base", "x"], "no use"),
        (&["get", "--", "--nonsense"], "--nonsense"),
        (&["get", "--", "other.txt"], "name no other"),
        (&["get", "--", "--filter", "(("], "--filter"),
        (&["get", "--engine", "memory", "--dir", "/no/such/dir"], "is no directory"),
        (&["get", "--use-db", d], "no RocksDB database"),
        (&["put", "--use-db", d], "--allow-writes"),
        (&["get", "--use-db", d, "--engine", "memory"], "memory engine"),
        (&["get", "--allow-writes"], "--use-db"),
        (&["get", "--resume", "/no/such/record"], "cannot be used with"),
        (&["--resume", "/no/such/record"], "/no/such/record"),
        (&["get", "--engine", "/no/such/lib.so"], "/no/such/lib.so"),
        (&["get", "--engine", "/no/such/lib.jar"], "/no/such/lib.jar"),
    ] {
        let output = run(abstat().arg("run").args(options));
        assert_eq!(output.status.code(), Some(2), "{options:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(word), "{options:?}: {}", stderr(&output));
        assert_eq!(stdout(&output), "", "{options:?}");
    }
    assert_eq!(listing(dir.path()), Vec::<String>::new());
}

#[cfg(target_os = "linux")]
#[test]
fn a_library_that_is_not_rocksdb_is_named() {
    let output = run(abstat().args(["run", "get", "--engine", "libc.so.6"]));
    assert_eq!(output.status.code(), Some(2));
    let said = stderr(&output);
    assert!(said.contains("libc.so.6 is not a RocksDB library"), "{said}");
    assert!(said.contains("hint: expected a shared library of RocksDB"), "{said}");
    // Why a file is none is the loader's to say.
    for (file, why) in [("/no/such/lib.so", "No such file"), ("/etc/passwd", "invalid ELF header")] {
        let said = stderr(&run(abstat().args(["run", "get", "--engine", file])));
        assert!(said.contains(&format!("cannot load {file}: ")) && said.contains(why), "{said}");
    }
}

#[test]
fn presets_set_phases_and_what_is_typed_wins() {
    let dir = tempfile::tempdir().unwrap();
    let d = dir.path().to_str().unwrap();
    let samples = |options: &[&str]| {
        let go = ["--engine", "memory", "--keys", "300", "-f", "go", "--dir", d];
        let output = run(abstat().arg("run").args(options).args(go));
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        stdout(&output).lines().filter(|l| l.starts_with("Benchmark")).map(str::to_owned).collect::<Vec<String>>()
    };
    let quick = samples(&["get", "--quick", "--time", "0.2"]);
    assert_eq!(quick.len(), 3);
    let like = samples(&["put", "--like", "db_bench", "--forks", "2"]);
    assert_eq!(like.len(), 2);
    assert!(like.iter().all(|l| l.split('\t').nth(1).unwrap().trim() == "300"), "{like:?}");
    let phases = ["--forks", "1", "--warmup", "0", "--iterations", "1", "--time", "0.2"];
    let jmh = samples(&[&["get", "--like", "jmh", "--value-size", "64"], &phases[..]].concat());
    // Three numbers of families and three key sizes; keys and value sizes were typed.
    assert_eq!(jmh.len(), 9);
}

#[test]
fn order_of_runs_changes_the_record_and_not_the_result() {
    let dir = tempfile::tempdir().unwrap();
    let order = |order: &str| {
        let record = dir.path().join(order);
        let name = record.to_str().unwrap();
        let output = memory(dir.path(), &["get,put", "--order-of-runs", order, "-f", "go", "--record", name]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert!(stderr(&output).contains(&format!("order {order}")));
        let text = stdout(&output);
        let names = text.lines().filter(|l| l.starts_with("Benchmark")).filter_map(|l| l.split('\t').next());
        let names: Vec<String> = names.map(str::to_owned).collect();
        let fork = |l: &str| (l.contains("op=get"), l.split("\"fork\":").nth(1).unwrap().chars().next().unwrap());
        let text = std::fs::read_to_string(&record).unwrap();
        let forks: Vec<(bool, char)> =
            text.lines().filter(|l| l.starts_with("{\"abstat\":\"fork\"")).map(fork).collect();
        (names, forks)
    };
    let (names, interleaved) = order("interleaved");
    assert_eq!(interleaved, [(true, '1'), (false, '1'), (true, '2'), (false, '2')]);
    let (same, blocked) = order("blocked");
    assert_eq!(blocked, [(true, '1'), (true, '2'), (false, '1'), (false, '2')]);
    assert_eq!(names, same);
    assert_eq!(order("random").0, names);
}

#[test]
fn kept_databases_are_used_again_and_foreign_ones_only_read() {
    let Some(library) = rocksdb() else { return };
    let dir = tempfile::tempdir().unwrap();
    let db = dir.path().join("db");
    let path = db.to_str().unwrap();
    let rocks = |options: &[&str]| {
        let mut command = abstat();
        command.arg("run").args(options).args(["--keys", "500", "-f", "go"]).args(SHORT);
        run(command.env("ABSTAT_ROCKSDB", &library))
    };
    let ok = |output: &std::process::Output| assert_eq!(output.status.code(), Some(0), "{}", stderr(output));
    let refused = |output: &std::process::Output, word: &str| {
        assert_eq!(output.status.code(), Some(2), "{}", stderr(output));
        assert!(stderr(output).contains(word), "{}", stderr(output));
    };
    ok(&rocks(&["put", "--db", path, "--keep"]));
    assert!(db.join("CURRENT").exists());
    let before = listing(&db);
    ok(&rocks(&["get,multiget", "--use-db", path]));
    assert_eq!(listing(&db), before, "only read");
    refused(&rocks(&["get", "--db", path]), "is not empty");
    assert_eq!(listing(&db), before);
    ok(&rocks(&["put", "--use-db", path, "--allow-writes"]));
    refused(&rocks(&["get", "--use-db", path, "--value-size", "50"]), "made with --value-size 100");
    ok(&rocks(&["get", "--overwrite-db", path]));
    assert!(!db.join("CURRENT").exists(), "gone at the end, as it is not to be kept");

    // Somebody else's.
    std::fs::remove_dir(&db).unwrap();
    ok(&rocks(&["put", "--db", path, "--keep"]));
    std::fs::remove_file(db.join("ABSTAT_DB")).unwrap();
    let before = listing(&db);
    ok(&rocks(&["get", "--use-db", path]));
    refused(&rocks(&["get", "--overwrite-db", path]), "was not made by abstat run");
    assert_eq!(listing(&db), before);
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    use std::process::Stdio;
    let dir = tempfile::tempdir().unwrap();
    let mut command = abstat();
    command.args(["run", "get", "--engine", "memory", "--keys", "500", "--dir"]).arg(dir.path()).args(SHORT);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}
