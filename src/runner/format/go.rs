//! Go benchmark text: one line a sample, as `go test -bench -count` prints it.
//!
//! `-N` at the end of a name is the number of threads. `# fork 2 of 3` stands before the lines of a fork: benchstat passes over it, abstat
//! takes it as the process of what follows. With several engines `rocksdb:` changes along the way; `benchstat -ignore rocksdb -col /engine`
//! puts them side by side.

use std::fmt::Write;

use super::{Group, RunOutcome};

pub(super) fn render(outcome: &RunOutcome) -> String {
    let mut out = String::new();
    // Writing into a String cannot fail.
    let _ = write(&mut out, outcome);
    out
}

fn write(out: &mut String, outcome: &RunOutcome) -> std::fmt::Result {
    for (key, value) in outcome.header.settings() {
        writeln!(out, "{key}: {value}")?;
    }
    let measured = || outcome.samples.iter().filter(|s| s.is_measured());
    let width = measured().map(|s| s.benchmark.len()).max().unwrap_or(0);
    let mut rocksdb = None;
    let mut units = false;
    for group in Group::all(outcome) {
        for fork in group.forks() {
            let samples = || group.samples.iter().filter(|s| s.fork == fork && s.is_measured());
            let Some(first) = samples().next() else { continue };
            if rocksdb != Some(&first.rocksdb) {
                writeln!(out, "rocksdb: {}", first.rocksdb)?;
                rocksdb = Some(&first.rocksdb);
            }
            if !units {
                // After all configuration lines: they may only stand together.
                writeln!(out, "Unit op/sec better=higher")?;
                if measured().any(|s| s.calls.is_some()) {
                    writeln!(out, "Unit call/sec better=higher")?;
                }
                units = true;
            }
            writeln!(out, "# fork {fork} of {}", outcome.plan.forks)?;
            for s in samples() {
                write!(out, "Benchmark{:<width$}\t{:>8}", s.benchmark, s.ops)?;
                for m in s.metrics() {
                    write!(out, "\t{} {}", m.value, m.printed)?;
                }
                writeln!(out)?;
            }
        }
    }
    Ok(())
}
