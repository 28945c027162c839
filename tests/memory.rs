//! Memory is bounded by what is kept, not by what is read. One test, for the peak of the children is one number.
#![cfg(target_os = "linux")]

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use assert_cmd::cargo::CommandCargoExt as _;
use nix::sys::resource::{UsageWho, getrusage};

/// Bytes of each stream.
const STREAM: usize = 50 << 20;

/// Most bytes that a process may take at once.
const MOST: i64 = 128 << 20;

/// A log of `bytes` bytes: results of 1000 benchmarks with three units, and what programs print between them.
fn log(bytes: usize, out: &mut dyn Write) -> std::io::Result<()> {
    let mut out = BufWriter::with_capacity(1 << 16, out);
    let mut written = 0;
    let mut n = 0u64;
    while written < bytes {
        let value = 1000 + n * 7919 % 1013;
        let line = match n % 4 {
            0 => format!("2024/05/01 10:00:00 cache: {value} entries, compaction of level {} done\n", n % 7),
            _ => format!(
                "BenchmarkGet{}/size=1KiB-8 \t 1000 \t {value}.25 ns/op \t {} B/op \t 3 allocs/op\n",
                n % 1000,
                n % 64
            ),
        };
        out.write_all(line.as_bytes())?;
        written += line.len();
        n += 1;
    }
    out.flush()
}

/// Writes a stream.
type Feed<'a> = &'a dyn Fn(&mut dyn Write);

/// Runs `abstat` over `file`, or over what `feed` writes. What it printed, and the peak of all children so far in bytes.
fn abstat(args: &[&str], feed: Option<Feed<'_>>) -> (String, i64) {
    let mut child = Command::cargo_bin("abstat")
        .unwrap()
        .args(args)
        .stdin(if feed.is_some() { Stdio::piped() } else { Stdio::null() })
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    if let Some(feed) = feed {
        feed(&mut child.stdin.take().unwrap());
    }
    let out = child.wait_with_output().unwrap();
    assert_eq!(out.status.code(), Some(0));
    // Linux counts in KiB.
    let peak = getrusage(UsageWho::RUSAGE_CHILDREN).unwrap().max_rss() * 1024;
    (String::from_utf8(out.stdout).unwrap(), peak)
}

/// zstd's shortest way to say a lot: blocks of one byte 128 Ki times, a line end after each.
fn zstd_bomb(lines: usize, path: &Path) {
    let mut out = BufWriter::new(File::create(path).unwrap());
    // Magic, no content size, a window of 128 KiB.
    out.write_all(&[0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x38]).unwrap();
    let block = |kind: u32, size: u32, last: u32| (size << 3 | kind << 1 | last).to_le_bytes();
    for _ in 0..lines {
        out.write_all(&block(1, 128 << 10, 0)[..3]).unwrap();
        out.write_all(b"x").unwrap();
        out.write_all(&block(0, 1, 0)[..3]).unwrap();
        out.write_all(b"\n").unwrap();
    }
    let end = b"BenchmarkGet7/size=1KiB-8 1000 1 ns/op\n";
    out.write_all(&block(0, end.len() as u32, 1)[..3]).unwrap();
    out.write_all(end).unwrap();
}

#[test]
fn a_long_stream_of_which_little_is_kept_takes_little_memory() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).to_string_lossy().into_owned();
    let filter = ["-f", "csv", "--filter", ".name:Get7 .unit:ns/op"];
    let with = |input: &str| [&filter[..], &[input]].concat().into_iter().map(str::to_owned).collect::<Vec<_>>();
    let run = |input: &str, feed: Option<Feed<'_>>| {
        let args = with(input);
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        abstat(&args, feed)
    };

    let (piped, peak) = run("log=-", Some(&|out| log(STREAM, out).unwrap()));
    assert!(piped.contains("Get7"), "{piped}");
    assert!(peak < MOST, "from a pipe: {} MiB", peak >> 20);

    log(STREAM, &mut File::create(path("log.txt")).unwrap()).unwrap();
    let (read, peak) = run(&format!("log={}", path("log.txt")), None);
    assert_eq!(read, piped);
    assert!(peak < MOST, "from a file: {} MiB", peak >> 20);

    let gz = File::create(path("log.txt.gz")).unwrap();
    let mut gz = flate2::write::GzEncoder::new(gz, flate2::Compression::fast());
    log(STREAM / 5, &mut gz).unwrap();
    gz.finish().unwrap();
    let (_, peak) = run(&path("log.txt.gz"), None);
    assert!(peak < MOST, "packed: {} MiB", peak >> 20);

    // Much of one byte, packed.
    let bomb = File::create(path("bomb.gz")).unwrap();
    let mut gz = flate2::write::GzEncoder::new(bomb, flate2::Compression::fast());
    for _ in 0..10 {
        gz.write_all(&vec![b'x'; 1 << 20]).unwrap();
        gz.write_all(b"\n").unwrap();
    }
    gz.write_all(b"BenchmarkGet7/size=1KiB-8 1000 1 ns/op\n").unwrap();
    gz.finish().unwrap();
    let (_, peak) = run(&path("bomb.gz"), None);
    assert!(peak < MOST, "gzip bomb: {} MiB", peak >> 20);

    zstd_bomb(400, Path::new(&path("bomb.zst")));
    assert!(std::fs::metadata(path("bomb.zst")).unwrap().len() < 20_000);
    let (_, peak) = run(&path("bomb.zst"), None);
    assert!(peak < MOST, "zstd bomb: {} MiB", peak >> 20);
    eprintln!("peak: {} MiB", peak >> 20);
}
