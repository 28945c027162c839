//! `abstat run`: what was typed, and what is needed of it.

use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::sync::Arc;

use clap::{Args, Parser, ValueEnum};

use super::Exit;
use super::args::Cli;
use super::messages::Messages;
use super::plan::Refusal;
use crate::base::Error as BaseError;
use crate::input::{Source, SourceKind};
use crate::runner::clock::Length;
use crate::runner::engine::{Cache, Comparator, Compression, MultiGet};
use crate::runner::format::{self, SampleFormat};
use crate::runner::plan::{EngineSpec, Place, Plan, RunOrder, Source as EngineSource};
use crate::runner::process::ChildCommand;
use crate::runner::progress::Show;
use crate::runner::spec::{Grid, Io, Op, Order, parse_size};
use crate::runner::{self, Error, Options, Result, RunOutcome};

const EXAMPLES: &str = "\
Examples:
  abstat run get,put                              two workloads on the RocksDB of this system
  abstat run get --engine v7=/usr/lib/x86_64-linux-gnu/librocksdb.so.7.8 \\
                 --engine v8=rocksdbjni-8.3.2.jar two releases side by side
  abstat run get,put --engine memory --quick      a map in memory, in seconds
  abstat run put --cf none,1,20 --threads 1,4 --record puts.jsonl
                                                  six benchmarks, samples kept in a file
  abstat run --resume puts.jsonl -f go > puts.txt the same samples for benchstat or abstat;
                                                  goes on first if the run was cut off";

const LONG_HELP: &str = "\
Each benchmark runs in --forks processes of its own, interleaved with the others: open a new
database, load --keys keys in order, flush, wait for background work, --warmup and --iterations
iterations, check, remove. Found keys are counted and values looked at: work that was not done
fails the run instead of looking fast.

What differs from db_bench and from the JMH classes of RocksJava, on purpose:
  keys        8-byte index and zeros (as db_bench); JMH's padded decimal keys collide
  families    key index modulo --cf, --keys in all; JMH loads every family and rotates,
              db_bench picks at random
  put         one call of rocksdb_put; db_bench fills a write batch anew, which is about 3 % faster
  get-pinned  the C API makes a pinned slice for each call; db_bench uses one over and over
  counters    RocksDB's own (perf context) are off, as in db_bench; JMH and most programs leave
              them on, which costs a put of a random key about 6 %, of the next key 1 %, a get 5 %
  multiget    one key is one operation (as db_bench); calls are given beside
  random      one generator per thread, seed + 1000 * process + thread: every process has its
              own order of keys
  comparator  through callbacks the C API cannot shorten keys of index blocks, so more than the
              calls differs from bytewise

Exit codes: 0 done; 2 a process failed, or it could not be done; 1 and 3 come from --fail-on
after --, as in abstat itself.";

/// What a record says by itself.
const OF_THE_RECORD: [&str; 48] = [
    "record",
    "ops",
    "engine",
    "keys",
    "key_size",
    "value_size",
    "cf",
    "threads",
    "readers",
    "writers",
    "write_rate",
    "while_writing",
    "cache",
    "cache_size",
    "io",
    "wal",
    "sync",
    "compression",
    "ratio",
    "bloom",
    "block_size",
    "order",
    "hit_rate",
    "batch",
    "multiget",
    "comparator",
    "nexts",
    "fresh",
    "compact",
    "quick",
    "like",
    "forks",
    "warmup",
    "iterations",
    "time",
    "ops_count",
    "order_of_runs",
    "sync_iterations",
    "seed",
    "latency",
    "dir",
    "db",
    "use_db",
    "allow_writes",
    "overwrite_db",
    "keep",
    "force",
    "timeout",
];

/// Measures RocksDB: get, put and range workloads in processes of their own.
#[derive(Clone, Debug, Args)]
#[command(after_help = EXAMPLES, after_long_help = [EXAMPLES, "\n\n", LONG_HELP].concat())]
pub struct RunArgs {
    /// Workloads: get, get-pinned, get-into, put, multiget, readwrite, comparator, fwdrange, revrange (default: get,put).
    ///
    /// get copies each value to fresh memory, get-pinned reads it where it is, get-into copies it into a reused buffer; put overwrites
    /// loaded keys; multiget counts keys; readwrite runs get-pinned and put side by side; comparator is put under each key order;
    /// a range is one seek and --nexts steps.
    #[arg(value_name = "WORKLOADS", value_delimiter = ',', value_parser = op)]
    pub ops: Vec<Op>,

    /// What is measured: LABEL=PATH or PATH of a librocksdb.so, .dylib or rocksdbjni jar, memory, or system; repeatable, one column each.
    ///
    /// Default: the library that ABSTAT_ROCKSDB names, else the system's. `apt-get install librocksdb7.8` brings one, and every rocksdbjni
    /// jar of Maven Central holds one.
    #[arg(long, value_name = "[LABEL=]PATH", help_heading = "What")]
    pub engine: Vec<String>,

    /// Number of keys in all (default: 100000); lists make a cross product, as with all that follow.
    #[arg(long, value_name = "N,...", value_delimiter = ',', value_parser = size, help_heading = "What")]
    pub keys: Vec<u64>,

    /// Bytes of a key (default: 16).
    #[arg(long, value_name = "BYTES,...", value_delimiter = ',', value_parser = size32, help_heading = "What")]
    pub key_size: Vec<u32>,

    /// Bytes of a value (default: 100).
    #[arg(long, value_name = "BYTES,...", value_delimiter = ',', value_parser = size32, help_heading = "What")]
    pub value_size: Vec<u32>,

    /// Column families that share the keys: none (default; the default family), 1, 20, ...
    #[arg(long, value_name = "N,...", value_delimiter = ',', value_parser = families, help_heading = "What")]
    pub cf: Vec<u32>,

    /// Threads (default: 1).
    #[arg(long, value_name = "N,...", value_delimiter = ',', help_heading = "What")]
    pub threads: Vec<u32>,

    /// Reading threads of readwrite (default: 1).
    #[arg(long, value_name = "N,...", value_delimiter = ',', help_heading = "What")]
    pub readers: Vec<u32>,

    /// Writing threads of readwrite (default: 1).
    #[arg(long, value_name = "N,...", value_delimiter = ',', help_heading = "What")]
    pub writers: Vec<u32>,

    /// Bytes a second that all writers of readwrite together may write.
    #[arg(long, value_name = "BYTES,...", value_delimiter = ',', value_parser = size, help_heading = "What")]
    pub write_rate: Vec<u64>,

    /// One more thread writes this many bytes a second beside reads (0: as many as it can); only the reads are reported.
    #[arg(long, value_name = "BYTES,...", value_delimiter = ',', value_parser = size, help_heading = "What")]
    pub while_writing: Vec<u64>,

    /// Block cache: lru (default), hcc (hyper clock, RocksDB 8 and later), none.
    #[arg(long, value_name = "KIND,...", value_delimiter = ',', value_parser = cache, help_heading = "What")]
    pub cache: Vec<Cache>,

    /// Capacity of the block cache (default: 32M).
    #[arg(long, value_name = "BYTES,...", value_delimiter = ',', value_parser = size, help_heading = "What")]
    pub cache_size: Vec<u64>,

    /// I/O: buffered (default), direct.
    #[arg(long, value_name = "KIND,...", value_delimiter = ',', value_parser = io_kind, help_heading = "What")]
    pub io: Vec<Io>,

    /// Write-ahead log: on (default), off.
    #[arg(long, value_name = "ON,...", value_delimiter = ',', value_parser = on_off, help_heading = "What")]
    pub wal: Vec<bool>,

    /// fsync at each write: on, off; alone: on.
    #[arg(long, value_name = "ON,...", value_delimiter = ',', value_parser = on_off, num_args = 0..=1, require_equals = true,
        default_missing_value = "on", help_heading = "What")]
    pub sync: Vec<bool>,

    /// Compression: default (the library's), none, snappy, zlib, lz4, lz4hc, zstd.
    #[arg(long, value_name = "KIND,...", value_delimiter = ',', value_parser = compression, help_heading = "What")]
    pub compression: Vec<Compression>,

    /// What values compress to, 0 to 1 (default: 0.5).
    #[arg(long, value_name = "RATIO,...", value_delimiter = ',', help_heading = "What")]
    pub ratio: Vec<f64>,

    /// Bits a key of a Bloom filter (default: 0, none).
    #[arg(long, value_name = "BITS,...", value_delimiter = ',', help_heading = "What")]
    pub bloom: Vec<u32>,

    /// Bytes of a block (default: 4K).
    #[arg(long, value_name = "BYTES,...", value_delimiter = ',', value_parser = size, help_heading = "What")]
    pub block_size: Vec<u64>,

    /// Order in which keys are used: random (default), seq.
    #[arg(long, value_name = "ORDER,...", value_delimiter = ',', value_parser = order, help_heading = "What")]
    pub order: Vec<Order>,

    /// Share of lookups that ask for a key that exists, 0 to 1 (default: 1).
    #[arg(long, value_name = "SHARE,...", value_delimiter = ',', help_heading = "What")]
    pub hit_rate: Vec<f64>,

    /// Keys of one multi-get (default: 10).
    #[arg(long, value_name = "N,...", value_delimiter = ',', help_heading = "What")]
    pub batch: Vec<u32>,

    /// Call of multiget: plain (default; copies, any family), batched (pinned, one family).
    #[arg(long, value_name = "CALL,...", value_delimiter = ',', value_parser = multi_get, help_heading = "What")]
    pub multiget: Vec<MultiGet>,

    /// Order of keys in the database: bytewise (default), reverse, callback-bytewise, callback-reverse.
    #[arg(long, value_name = "ORDER,...", value_delimiter = ',', value_parser = comparator, help_heading = "What")]
    pub comparator: Vec<Comparator>,

    /// Steps of a range after its seek (default: 10).
    #[arg(long, value_name = "N,...", value_delimiter = ',', help_heading = "What")]
    pub nexts: Vec<u32>,

    /// Puts fill a new database in each iteration (fillseq with --order seq, fillrandom).
    #[arg(long, help_heading = "What")]
    pub fresh: bool,

    /// Compact after the load.
    #[arg(long, help_heading = "What")]
    pub compact: bool,

    /// One process x (1 + 3) x 0.5 s: a look, not a measurement.
    #[arg(long, conflicts_with = "like", help_heading = "How long")]
    pub quick: bool,

    /// Parameters and phases as another tool has them by default; what else is typed wins.
    #[arg(long, value_enum, help_heading = "How long")]
    pub like: Option<Like>,

    /// Processes of each benchmark (default: 3).
    #[arg(long, value_name = "N", help_heading = "How long")]
    pub forks: Option<u32>,

    /// Iterations of each process that do not count (default: 2).
    #[arg(long, value_name = "N", help_heading = "How long")]
    pub warmup: Option<u32>,

    /// Iterations of each process that count (default: 5).
    #[arg(long, value_name = "N", help_heading = "How long")]
    pub iterations: Option<u32>,

    /// Seconds of an iteration (default: 2).
    #[arg(long, value_name = "SECONDS", conflicts_with = "ops_count", help_heading = "How long")]
    pub time: Option<f64>,

    /// Operations of each thread in an iteration, instead of a time.
    #[arg(long = "ops", value_name = "N", value_parser = size, help_heading = "How long")]
    pub ops_count: Option<u64>,

    /// Order of the processes.
    #[arg(long, value_enum, default_value_t, help_heading = "How long")]
    pub order_of_runs: OrderChoice,

    /// Whether threads wait for each other between iterations.
    #[arg(long, value_name = "yes|no", value_parser = yes_no, default_value = "yes", help_heading = "How long")]
    pub sync_iterations: bool,

    /// Base of all random numbers.
    #[arg(long, value_name = "N", default_value = "42", help_heading = "How long")]
    pub seed: u64,

    /// Also time single operations: one clock reading each, percentiles as further metrics.
    #[arg(long, help_heading = "How long")]
    pub latency: bool,

    /// Directory in which databases are made, under fresh names (default: the system's for temporary files).
    #[arg(long, value_name = "DIR", conflicts_with_all = ["db", "use_db", "overwrite_db"], help_heading = "Where")]
    pub dir: Option<PathBuf>,

    /// Directory of the database itself; it must not exist yet, or be empty.
    #[arg(long, value_name = "PATH", conflicts_with_all = ["use_db", "overwrite_db"], help_heading = "Where")]
    pub db: Option<PathBuf>,

    /// Use the database that is there, for reads only.
    #[arg(long, value_name = "PATH", conflicts_with_all = ["overwrite_db", "keep"], help_heading = "Where")]
    pub use_db: Option<PathBuf>,

    /// Let puts change the database of --use-db.
    #[arg(long, requires = "use_db", help_heading = "Where")]
    pub allow_writes: bool,

    /// As --db, but a database that abstat made may be there and is removed first.
    #[arg(long, value_name = "PATH", help_heading = "Where")]
    pub overwrite_db: Option<PathBuf>,

    /// Leave databases where they are.
    #[arg(long, help_heading = "Where")]
    pub keep: bool,

    /// Start although the disk seems too small.
    #[arg(long, help_heading = "Where")]
    pub force: bool,

    /// Seconds without a sign of life after which a process counts as hanging.
    #[arg(long, value_name = "SECONDS", default_value = "600", help_heading = "Where")]
    pub timeout: f64,

    /// Append samples to this new file as they are made.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub record: Option<PathBuf>,

    /// Go on with the run that began this record; everything but the output is read from it.
    ///
    /// A record that is complete is only printed, in any --format.
    #[arg(long, value_name = "FILE", conflicts_with_all = OF_THE_RECORD, help_heading = "Output")]
    pub resume: Option<PathBuf>,

    /// Samples as go, jmh, db_bench or jsonl; or the comparison as text, csv, json, markdown, html, svg (default: text).
    #[arg(short, long, value_name = "FORMAT", help_heading = "Output")]
    pub format: Option<String>,

    /// Progress on standard error: a bar on a terminal (auto), lines (always), nothing (never).
    #[arg(long, value_enum, default_value_t, help_heading = "Output")]
    pub progress: ProgressChoice,

    /// Options for the table of the run, as `abstat` takes them: -- --base v7 --fail-on 'slower>5%'.
    #[arg(last = true, value_name = "OPTIONS", help_heading = "Output")]
    pub table: Vec<String>,

    /// A process of a run.
    #[arg(long, hide = true, exclusive = true)]
    pub child: bool,
}

/// `--like`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Like {
    /// 1,000,000 keys, as many operations a thread, one measurement a process, 5 processes.
    #[value(name = "db_bench")]
    DbBench,
    /// 5 processes x (5 + 5) x 10 s; families none,1,20, keys 1000,100000, key sizes 12,64,128, value sizes 64,1024,65536.
    Jmh,
}

/// `--order-of-runs`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum OrderChoice {
    /// First processes of all, then second ones of all, ...
    #[default]
    Interleaved,
    /// All processes of one benchmark, then of the next.
    Blocked,
    /// Shuffled by the seed.
    Random,
}

/// `--progress`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ProgressChoice {
    /// A bar on a terminal.
    #[default]
    Auto,
    /// A line per iteration.
    Always,
    /// Nothing.
    Never,
}

type Parsed<T> = std::result::Result<T, String>;

fn op(text: &str) -> Parsed<Op> {
    Op::parse(text).ok_or_else(|| {
        let names: Vec<&str> = Op::ALL.iter().map(|(name, _)| *name).collect();
        let near = names.iter().max_by(|a, b| strsim::jaro_winkler(a, text).total_cmp(&strsim::jaro_winkler(b, text)));
        format!("expected one of {}; nearest: {}", names.join(", "), near.copied().unwrap_or_default())
    })
}

fn size(text: &str) -> Parsed<u64> {
    parse_size(text)
}

fn size32(text: &str) -> Parsed<u32> {
    parse_size(text)?.try_into().map_err(|_| format!("expected less than 4G, found {text}"))
}

fn families(text: &str) -> Parsed<u32> {
    match text {
        "none" => Ok(0),
        _ => match text.parse() {
            Ok(0) | Err(_) => Err(format!("expected none or a number above 0, found {text:?}")),
            Ok(n) => Ok(n),
        },
    }
}

fn on_off(text: &str) -> Parsed<bool> {
    match text {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err(format!("expected on or off, found {text:?}")),
    }
}

fn yes_no(text: &str) -> Parsed<bool> {
    match text {
        "yes" => Ok(true),
        "no" => Ok(false),
        _ => Err(format!("expected yes or no, found {text:?}")),
    }
}

/// A word that serde knows.
fn word<T: serde::de::DeserializeOwned>(text: &str, expected: &str) -> Parsed<T> {
    serde_json::from_value(text.into()).map_err(|_| format!("expected {expected}, found {text:?}"))
}

fn cache(text: &str) -> Parsed<Cache> {
    word(text, "lru, hcc or none")
}

fn io_kind(text: &str) -> Parsed<Io> {
    word(text, "buffered or direct")
}

fn compression(text: &str) -> Parsed<Compression> {
    word(text, "default, none, snappy, zlib, lz4, lz4hc or zstd")
}

fn order(text: &str) -> Parsed<Order> {
    word(text, "random or seq")
}

fn multi_get(text: &str) -> Parsed<MultiGet> {
    word(text, "plain or batched")
}

fn comparator(text: &str) -> Parsed<Comparator> {
    word(text, "bytewise, reverse, callback-bytewise or callback-reverse")
}

/// What was typed, else what stands there.
fn set<T: Clone>(to: &mut Vec<T>, typed: &[T]) {
    if !typed.is_empty() {
        *to = typed.to_vec();
    }
}

impl RunArgs {
    /// The run that was asked for.
    ///
    /// # Errors
    /// [`Error::Usage`] and [`Error::Refused`], naming the flag.
    pub fn plan(&self) -> Result<Plan> {
        let mut grid = Grid::default();
        if self.like == Some(Like::DbBench) {
            grid.keys = vec![1_000_000];
        }
        if self.like == Some(Like::Jmh) {
            grid.families = vec![0, 1, 20];
            grid.keys = vec![1000, 100_000];
            grid.key_size = vec![12, 64, 128];
            grid.value_size = vec![64, 1024, 65_536];
        }
        set(&mut grid.ops, &self.ops);
        set(&mut grid.keys, &self.keys);
        set(&mut grid.key_size, &self.key_size);
        set(&mut grid.value_size, &self.value_size);
        set(&mut grid.families, &self.cf);
        set(&mut grid.threads, &self.threads);
        set(&mut grid.readers, &self.readers);
        set(&mut grid.writers, &self.writers);
        let some = |list: &[u64]| list.iter().copied().map(Some).collect::<Vec<_>>();
        set(&mut grid.write_rate, &some(&self.write_rate));
        set(&mut grid.while_writing, &some(&self.while_writing));
        set(&mut grid.cache, &self.cache);
        set(&mut grid.cache_size, &self.cache_size);
        set(&mut grid.io, &self.io);
        set(&mut grid.wal, &self.wal);
        set(&mut grid.sync, &self.sync);
        set(&mut grid.compression, &self.compression);
        set(&mut grid.ratio, &self.ratio);
        set(&mut grid.bloom, &self.bloom);
        set(&mut grid.block_size, &self.block_size);
        set(&mut grid.order, &self.order);
        set(&mut grid.hit_rate, &self.hit_rate);
        set(&mut grid.batch, &self.batch);
        set(&mut grid.multi_get, &self.multiget);
        set(&mut grid.nexts, &self.nexts);
        if !self.comparator.is_empty() {
            grid.comparator = Some(self.comparator.clone());
        }
        grid.fresh = self.fresh;
        if self.compact {
            grid.compact = vec![true];
        }
        let benchmarks = grid.expand()?;
        self.useless(&benchmarks)?;
        let mut plan = Plan::new(benchmarks);
        if self.quick {
            (plan.forks, plan.warmup, plan.iterations, plan.length) = (1, 1, 3, Length::Seconds(0.5));
        }
        match self.like {
            Some(Like::DbBench) => {
                let ops = grid.keys.first().copied().unwrap_or(1);
                (plan.forks, plan.warmup, plan.iterations, plan.length) = (5, 0, 1, Length::Ops(ops));
            }
            Some(Like::Jmh) => {
                (plan.forks, plan.warmup, plan.iterations, plan.length) = (5, 5, 5, Length::Seconds(10.0));
            }
            None => {}
        }
        plan.forks = self.forks.unwrap_or(plan.forks);
        plan.warmup = self.warmup.unwrap_or(plan.warmup);
        plan.iterations = self.iterations.unwrap_or(plan.iterations);
        if let Some(seconds) = self.time {
            plan.length = Length::Seconds(seconds);
        }
        if let Some(ops) = self.ops_count {
            plan.length = Length::Ops(ops);
        }
        plan.order = match self.order_of_runs {
            OrderChoice::Interleaved => RunOrder::Interleaved,
            OrderChoice::Blocked => RunOrder::Blocked,
            OrderChoice::Random => RunOrder::Random,
        };
        (plan.seed, plan.latency, plan.synchronized) = (self.seed, self.latency, self.sync_iterations);
        (plan.keep, plan.force, plan.timeout) = (self.keep, self.force, self.timeout);
        plan.place = match (&self.db, &self.use_db, &self.overwrite_db) {
            (Some(path), _, _) => Place::New(path.clone()),
            (_, Some(path), _) => Place::Use { path: path.clone(), writes: self.allow_writes },
            (_, _, Some(path)) => Place::Overwrite(path.clone()),
            _ => Place::Temporary(self.dir.clone().unwrap_or_else(std::env::temp_dir)),
        };
        plan.engines = if self.engine.is_empty() {
            vec![EngineSpec { label: None, source: EngineSource::System }]
        } else {
            self.engine.iter().map(|e| EngineSpec::parse(e)).collect::<Result<_>>()?
        };
        plan.check()?;
        Ok(plan)
    }

    /// Parameters that no workload of the run looks at are a mistake.
    fn useless(&self, benchmarks: &[runner::spec::Benchmark]) -> Result<()> {
        let has = |ops: &[Op]| benchmarks.iter().any(|b| ops.contains(&b.op));
        let looks_up = [Op::Get, Op::GetPinned, Op::GetInto, Op::MultiGet];
        let writes = benchmarks.iter().any(|b| !b.op.only_reads() || b.while_writing.is_some());
        let reads = benchmarks.iter().any(|b| b.op.only_reads());
        for (typed, flag, used, by) in [
            (!self.batch.is_empty(), "--batch", has(&[Op::MultiGet]), "multiget"),
            (!self.multiget.is_empty(), "--multiget", has(&[Op::MultiGet]), "multiget"),
            (!self.nexts.is_empty(), "--nexts", has(&[Op::FwdRange, Op::RevRange]), "fwdrange and revrange"),
            (!self.readers.is_empty(), "--readers", has(&[Op::ReadWrite]), "readwrite"),
            (!self.writers.is_empty(), "--writers", has(&[Op::ReadWrite]), "readwrite"),
            (!self.write_rate.is_empty(), "--write-rate", has(&[Op::ReadWrite]), "readwrite"),
            (!self.hit_rate.is_empty(), "--hit-rate", has(&looks_up), "get, get-pinned, get-into and multiget"),
            (!self.while_writing.is_empty(), "--while-writing", reads, "workloads that only read"),
            (self.fresh, "--fresh", has(&[Op::Put, Op::Comparator]), "put and comparator"),
            (!self.wal.is_empty(), "--wal", writes, "workloads that write"),
            (!self.sync.is_empty(), "--sync", writes, "workloads that write"),
        ] {
            if typed && !used {
                return Err(Error::usage(format!("{flag} is only used by {by}, which this run does not have")));
            }
        }
        Ok(())
    }

    /// Formats of samples; `None`: a format of the comparison.
    fn sample_format(&self) -> Option<SampleFormat> {
        self.format.as_deref().and_then(|f| f.parse().ok())
    }

    /// The command line of the run's own table.
    fn table_arguments(&self, engines: usize) -> Vec<String> {
        let mut arguments = vec!["abstat".to_owned()];
        if let Some(format) = &self.format {
            arguments.extend(["-f".to_owned(), format.clone()]);
        }
        let given = |flag: &str| self.table.iter().any(|a| a == flag || a.starts_with(&format!("{flag}=")));
        if engines > 1 && !given("--col") {
            arguments.extend(["--col", "/engine"].map(str::to_owned));
            if !given("--relative") && !given("--row") {
                arguments.push("--relative".to_owned());
                if !given("--ratio-interval") {
                    arguments.push("--ratio-interval".to_owned());
                }
            }
        }
        arguments.extend(self.table.iter().cloned());
        // In place of an input: the run itself.
        arguments.push("-".to_owned());
        arguments
    }

    /// Runs, and writes what came of it.
    pub fn run(&self, messages: &Messages) -> Exit {
        match self.try_run(messages) {
            Ok(exit) => exit,
            Err(Failure::Runner(e)) => {
                messages.error(&BaseError::Usage { message: e.to_string(), hint: e.hint() });
                Exit::Failed
            }
            Err(Failure::Base(e)) => {
                if super::run::broken_pipe(&e) {
                    return Exit::Done;
                }
                messages.error(&e);
                Exit::Failed
            }
        }
    }

    fn try_run(&self, messages: &Messages) -> std::result::Result<Exit, Failure> {
        // A table that cannot be made is better known before hours of measuring than after.
        let engines = self.engine.len().max(1);
        if self.sample_format().is_none() {
            self.table_plan(engines, messages)?;
        } else if !self.table.is_empty() {
            return Err(Failure::Runner(Error::usage(format!(
                "-f {} prints samples, not a table: options after -- have no use",
                self.format.as_deref().unwrap_or_default()
            ))));
        }
        let show = match (self.progress, io::stderr().is_terminal()) {
            (ProgressChoice::Auto, true) | (ProgressChoice::Always, true) => Show::Bar,
            (ProgressChoice::Always, false) => Show::Lines,
            (ProgressChoice::Auto | ProgressChoice::Never, _) => Show::Nothing,
        };
        let child = ChildCommand::this_program()
            .map_err(|e| Error::usage(format!("cannot find this program to start processes of it: {e}")))?;
        let options = Options { record: self.record.clone(), show, child };
        let outcome = match &self.resume {
            Some(path) => runner::resume(path, &options, &mut io::stderr())?,
            None => runner::run(self.plan()?, &options, &mut io::stderr())?,
        };
        let exit = if outcome.is_empty() { Exit::Failed } else { self.write(&outcome, messages)? };
        // What is missing outweighs what a gate says of the rest.
        Ok(if outcome.failed() { Exit::Failed } else { exit })
    }

    fn write(&self, outcome: &RunOutcome, messages: &Messages) -> std::result::Result<Exit, Failure> {
        if let Some(format) = self.sample_format() {
            let text = format::render(format, outcome);
            let mut stdout = io::stdout().lock();
            stdout
                .write_all(text.as_bytes())
                .and_then(|()| stdout.flush())
                .map_err(|source| BaseError::Write { path: "stdout".into(), source })?;
            return Ok(Exit::Done);
        }
        // The same way as everybody else's output: as text.
        // What there was to warn of was said when it happened.
        let said = RunOutcome { warnings: Vec::new(), ..outcome.clone() };
        let text = format::render(SampleFormat::Jsonl, &said);
        let (cli, mut plan) = self.table_plan(outcome.plan.engines.len(), messages)?;
        plan.reading.sources = vec![Source {
            label: None,
            kind: SourceKind::Bytes("abstat run", Arc::from(text.into_bytes().into_boxed_slice())),
        }];
        plan.reading.labels = vec!["run".to_owned()];
        Ok(super::run::answer(&cli.compare, &plan, messages)?)
    }

    /// The plan of the run's own table.
    fn table_plan(
        &self,
        engines: usize,
        messages: &Messages,
    ) -> std::result::Result<(Cli, super::plan::Plan), Failure> {
        let usage = |message: String| Failure::Runner(Error::usage(message));
        let cli = Cli::try_parse_from(self.table_arguments(engines)).map_err(|e| {
            let text = e.to_string();
            let text = text.lines().next().unwrap_or_default();
            usage(format!("options of the table: {}", text.strip_prefix("error: ").unwrap_or(text)))
        })?;
        if cli.compare.inputs.len() != 1 {
            return Err(usage("options of the table: the input is the run itself; name no other".to_owned()));
        }
        match super::plan::plan(&cli.compare) {
            Ok(plan) => Ok((cli, plan)),
            Err(Refusal::Usage(e)) => Err(Failure::Base(e)),
            Err(Refusal::Syntax(faults)) => {
                for (flag, error) in &faults {
                    messages.syntax(flag, error);
                }
                Err(usage("options of the table: see above".to_owned()))
            }
            Err(Refusal::NoInput) => Err(usage("options of the table: no input".to_owned())),
        }
    }
}

/// What ended it.
enum Failure {
    Runner(Error),
    Base(BaseError),
}

impl From<Error> for Failure {
    fn from(e: Error) -> Self {
        Failure::Runner(e)
    }
}

impl From<BaseError> for Failure {
    fn from(e: BaseError) -> Self {
        Failure::Base(e)
    }
}
