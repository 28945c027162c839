//! The machine that measures: what it is, and what about it or about the samples deserves a warning.

use std::fs;
use std::path::Path;

use crate::model::run::{Host, RunSample, RunWarning};

/// This machine; `dir` is where databases will be.
pub fn host(dir: &Path) -> Host {
    let os = match std::env::consts::OS {
        "macos" => "darwin",
        os => os,
    };
    let arch = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        "x86" => "386",
        "powerpc64" => "ppc64le",
        arch => arch,
    };
    Host {
        os: os.to_owned(),
        arch: arch.to_owned(),
        cpu: cpu(),
        cores: cores(),
        kernel: first_line("/proc/sys/kernel/osrelease").unwrap_or_default(),
        filesystem: filesystem(dir).unwrap_or_default(),
    }
}

/// Cores that this process may use.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

fn first_line(path: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    text.lines().next().map(|l| l.trim().to_owned()).filter(|l| !l.is_empty())
}

fn cpu() -> String {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model =
        info.lines().find_map(|l| l.strip_prefix("model name")?.split_once(':').map(|(_, v)| v.trim().to_owned()));
    model.or_else(sysctl_cpu).unwrap_or_default()
}

/// macOS has no `/proc`.
fn sysctl_cpu() -> Option<String> {
    if std::env::consts::OS != "macos" {
        return None;
    }
    let out = std::process::Command::new("sysctl").args(["-n", "machdep.cpu.brand_string"]).output().ok()?;
    Some(String::from_utf8_lossy(&out.stdout).trim().to_owned()).filter(|s| !s.is_empty())
}

/// Type of the file system that holds `dir`, from the mount with the longest matching path.
fn filesystem(dir: &Path) -> Option<String> {
    let dir = dir.canonicalize().ok()?;
    let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
    let mut best: Option<(usize, String)> = None;
    for line in mounts.lines() {
        // ID PARENT MAJOR:MINOR ROOT MOUNT-POINT OPTIONS ... - TYPE SOURCE OPTIONS
        let Some((left, right)) = line.split_once(" - ") else { continue };
        let (Some(point), Some(kind)) = (left.split(' ').nth(4), right.split(' ').next()) else { continue };
        // Blanks in mount points are written as \040; such a mount is passed over rather than decoded.
        if dir.starts_with(point) && best.as_ref().is_none_or(|(len, _)| point.len() >= *len) {
            best = Some((point.len(), kind.to_owned()));
        }
    }
    best.map(|(_, kind)| kind)
}

fn warning(code: &str, message: String) -> RunWarning {
    RunWarning { code: code.to_owned(), message }
}

/// What speaks against measuring here and now; `threads` is the most that will run at once.
pub fn warnings(threads: u32) -> Vec<RunWarning> {
    let mut out = Vec::new();
    if cfg!(debug_assertions) {
        out.push(warning(
            "debug-build",
            "abstat itself is a debug build; its part of an operation is slower".to_owned(),
        ));
    }
    let cores = cores();
    if threads as usize > cores {
        out.push(warning("few-cores", format!("{threads} threads on {cores} cores: they take turns")));
    }
    if let Some(governor) = first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
        && governor != "performance"
    {
        out.push(warning(
            "governor",
            format!("the frequency governor is {governor}, not performance: the clock of the CPU varies"),
        ));
    }
    let load = first_line("/proc/loadavg").and_then(|l| l.split(' ').next().and_then(|n| n.parse::<f64>().ok()));
    if let Some(load) = load
        && load > 0.25 * cores as f64
    {
        out.push(warning("load", format!("the load average is {load:.2} on {cores} cores: something else runs")));
    }
    out
}

/// An iteration this far from the mean of its fork is worth a word.
const FAR: f64 = 0.20;
/// Rise or fall over the iterations of a fork that is worth a word when no iteration goes against it.
const TREND: f64 = 0.05;

/// What is wrong with the measured iterations of one fork, `name` being its benchmark.
pub fn sample_warnings(name: &str, fork: u32, samples: &[&RunSample]) -> Vec<RunWarning> {
    let mut out = Vec::new();
    let idle = samples.iter().filter(|s| s.ops == 0).count();
    if idle > 0 {
        let message = format!(
            "{name}: {idle} iterations of fork {fork} were over before an operation was; they are no samples; longer --time?"
        );
        out.push(warning("no-operations", message));
    }
    let rates: Vec<f64> = samples.iter().map(|s| s.ops_s).collect();
    if rates.len() >= 2 {
        let mean = rates.iter().sum::<f64>() / rates.len() as f64;
        let far = rates.iter().map(|r| (r / mean - 1.0).abs()).fold(0.0, f64::max);
        if mean > 0.0 && far > FAR {
            let message =
                format!("{name}: an iteration of fork {fork} is {:.0} % off the mean of the fork", far * 100.0);
            out.push(warning("spread", message));
        }
    }
    // Five in order by chance: 2 in 120.
    if let (true, Some(first), Some(last)) = (rates.len() >= 5, rates.first(), rates.last()) {
        let rising = rates.windows(2).all(|w| w[0] < w[1]);
        let falling = rates.windows(2).all(|w| w[0] > w[1]);
        let change = last / first - 1.0;
        if (rising || falling) && change.abs() > TREND {
            let message = format!(
                "{name}: fork {fork} {} by {:.0} % from its first to its last iteration; more --warmup?",
                if rising { "speeds up" } else { "slows down" },
                change.abs() * 100.0
            );
            out.push(warning("trend", message));
        }
    }
    let (busy, wall) = samples
        .iter()
        .fold((0.0, 0.0), |(busy, wall), s| (busy + s.thread_seconds, wall + s.seconds * f64::from(s.threads)));
    if wall > 0.0 && busy < 0.95 * wall {
        let message = format!(
            "{name}: threads of fork {fork} ran side by side only {:.0} % of the time; rates are sums over threads",
            busy / wall * 100.0
        );
        out.push(warning("threads-apart", message));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::run::tests::sample;

    #[test]
    fn the_machine_is_described() {
        let host = host(Path::new("/"));
        assert!(!host.os.is_empty() && !host.arch.is_empty() && host.cores >= 1);
        if cfg!(target_os = "linux") {
            assert!(!host.kernel.is_empty() && !host.filesystem.is_empty(), "{host:?}");
        }
        assert!(warnings(1_000_000).iter().any(|w| w.code == "few-cores"));
    }

    fn codes(rates: &[f64]) -> Vec<String> {
        let samples: Vec<RunSample> = rates.iter().map(|&ops_s| RunSample { ops_s, ..sample() }).collect();
        let all: Vec<&RunSample> = samples.iter().collect();
        sample_warnings("b", 1, &all).into_iter().map(|w| w.code).collect()
    }

    #[test]
    fn spread_and_trend_are_seen_and_noise_is_not() {
        assert_eq!(codes(&[100.0, 101.0, 99.0, 100.0, 98.0]), Vec::<String>::new());
        assert_eq!(codes(&[100.0, 100.0, 100.0, 100.0, 150.0]), ["spread"]);
        assert_eq!(codes(&[100.0, 102.0, 104.0, 106.0, 108.0]), ["trend"]);
        assert_eq!(codes(&[100.0, 100.1, 100.2, 100.3, 100.4]), Vec::<String>::new());
        assert_eq!(codes(&[100.0, 110.0, 120.0]), Vec::<String>::new());
        assert_eq!(codes(&[100.0]), Vec::<String>::new());
        assert_eq!(codes(&[0.0]), Vec::<String>::new());
        let idle = RunSample { ops: 0, ops_s: 0.0, ..sample() };
        assert_eq!(sample_warnings("b", 1, &[&idle])[0].code, "no-operations");
        let apart = RunSample { thread_seconds: 0.7, ..sample() };
        assert_eq!(sample_warnings("b", 1, &[&apart])[0].code, "threads-apart");
    }
}
