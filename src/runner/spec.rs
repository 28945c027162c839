//! What is measured: workloads, their parameters, the cross product of parameter lists, and names.
//!
//! | workload | one operation | db_bench | JMH class of RocksJava |
//! |---|---|---|---|
//! | `get` | value copied to fresh memory | readrandom | `GetBenchmarks.get` |
//! | `get-pinned` | value pinned, its length read, released | readrandom | |
//! | `get-into` | value copied into a reused buffer | | `GetBenchmarks.preallocatedGet` |
//! | `put` | one put of a loaded key (`fresh`: of a new one) | overwrite; fillseq, fillrandom | `PutBenchmarks.put` |
//! | `multiget` | one key of a batch | multireadrandom | `MultiGetBenchmarks` (counts calls; both are given) |
//! | `readwrite` | `get-pinned` of readers beside `put` of writers | like readwhilewriting, writers measured | |
//! | `comparator` | one put under each comparator | | `ComparatorBenchmarks.put` |
//! | `fwdrange`, `revrange` | one seek and 10 steps | seekrandom | |
//!
//! Differences that are meant:
//! * Keys are an 8-byte big-endian index filled up with `0` (db_bench's form). RocksJava's JMH classes write `key` and the decimal index and
//!   fill up with `0`, so that key 1, 10 and 100 are the same bytes.
//! * The family of a key is its index modulo the number of families, so that a key is always found; `keys` is the total over all families.
//!   JMH loads every key into every family and rotates a counter; db_bench picks a family at random.
//! * A comparator of the C API cannot shorten the keys of index blocks, so those of `callback-bytewise` are larger than those of `bytewise`:
//!   their difference is more than the cost of the calls.
//! * Values are the next slices of a pool, as db_bench's; there is one pool for the load and others for the iterations in turn, so that a
//!   value that is read back tells when it was written and a lost overwrite is seen.

use serde::{Deserialize, Serialize};

use super::engine::{Cache, Comparator, Compression, MultiGet, WRITE_BUFFER};
use super::error::{Error, Result};

/// A workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "see the table of the module")]
pub enum Op {
    Get,
    GetPinned,
    GetInto,
    Put,
    #[serde(rename = "multiget")]
    MultiGet,
    #[serde(rename = "readwrite")]
    ReadWrite,
    Comparator,
    #[serde(rename = "fwdrange")]
    FwdRange,
    #[serde(rename = "revrange")]
    RevRange,
}

impl Op {
    /// All workloads with their names.
    pub const ALL: [(&'static str, Op); 9] = [
        ("get", Op::Get),
        ("get-pinned", Op::GetPinned),
        ("get-into", Op::GetInto),
        ("put", Op::Put),
        ("multiget", Op::MultiGet),
        ("readwrite", Op::ReadWrite),
        ("comparator", Op::Comparator),
        ("fwdrange", Op::FwdRange),
        ("revrange", Op::RevRange),
    ];

    /// As typed.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, op)| *op == self).map_or("", |(name, _)| name)
    }

    /// The workload called `name`.
    pub fn parse(name: &str) -> Option<Op> {
        Self::ALL.iter().find(|(n, _)| *n == name).map(|(_, op)| *op)
    }

    /// Measured operations read only.
    pub fn only_reads(self) -> bool {
        !matches!(self, Op::Put | Op::ReadWrite | Op::Comparator)
    }

    /// Single keys or batches of them are looked up, which may miss.
    fn looks_up(self) -> bool {
        matches!(self, Op::Get | Op::GetPinned | Op::GetInto | Op::MultiGet)
    }

    /// An iterator walks.
    pub fn walks(self) -> bool {
        matches!(self, Op::FwdRange | Op::RevRange)
    }
}

/// How files are read and written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Io {
    /// Through the page cache.
    Buffered,
    /// `O_DIRECT` for reads, flush and compaction.
    Direct,
}

/// Order in which keys are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// Uniform at random, with repetition.
    Random,
    /// Ascending index, each thread its own range, from the start again at its end.
    Seq,
}

/// The word that serde uses for a value of a fieldless enum.
pub(crate) fn word<T: Serialize>(value: &T) -> String {
    serde_json::to_value(value).ok().and_then(|v| v.as_str().map(str::to_owned)).unwrap_or_default()
}

/// One combination of parameters: one row of the result. Sizes in bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Benchmark {
    /// The workload.
    pub op: Op,
    /// Column families that share the keys; 0: the default one.
    pub families: u32,
    /// Keys loaded, over all families.
    pub keys: u64,
    /// Size of a key.
    pub key_size: u32,
    /// Size of a value.
    pub value_size: u32,
    /// Block cache.
    pub cache: Cache,
    /// Its capacity.
    pub cache_size: u64,
    /// Buffered or direct.
    pub io: Io,
    /// Write-ahead log for measured writes and for the load.
    pub wal: bool,
    /// fsync at each measured write.
    pub sync: bool,
    /// Compression of SST files.
    pub compression: Compression,
    /// What a value compresses to, 0 to 1.
    pub ratio: f64,
    /// Bits a key of a Bloom filter; 0: none.
    pub bloom: u32,
    /// Block size.
    pub block_size: u64,
    /// Random or sequential keys.
    pub order: Order,
    /// Share of keys asked for that exist, 0 to 1.
    pub hit_rate: f64,
    /// Threads, of workloads with one role.
    pub threads: u32,
    /// Reading threads of `readwrite`.
    pub readers: u32,
    /// Writing threads of `readwrite`.
    pub writers: u32,
    /// Keys of one multi-get.
    pub batch: u32,
    /// Which call of it.
    pub multi_get: MultiGet,
    /// Order of keys in the database.
    pub comparator: Comparator,
    /// Steps after a seek.
    pub nexts: u32,
    /// Bytes a second of one more thread that writes beside reads, unmeasured; 0: as fast as it can.
    pub while_writing: Option<u64>,
    /// Bytes a second of all writers of `readwrite`.
    pub write_rate: Option<u64>,
    /// Every iteration fills a new database instead of overwriting.
    pub fresh: bool,
    /// Compact after the load.
    pub compact: bool,
}

impl Benchmark {
    /// `op` with all defaults.
    pub fn new(op: Op) -> Self {
        Benchmark {
            op,
            families: 0,
            keys: 100_000,
            key_size: 16,
            value_size: 100,
            cache: Cache::Lru,
            cache_size: 32 << 20,
            io: Io::Buffered,
            wal: true,
            sync: false,
            compression: Compression::Default,
            ratio: 0.5,
            bloom: 0,
            block_size: 4096,
            order: Order::Random,
            hit_rate: 1.0,
            threads: 1,
            readers: 1,
            writers: 1,
            batch: 10,
            multi_get: MultiGet::Plain,
            comparator: Comparator::Bytewise,
            nexts: 10,
            while_writing: None,
            write_rate: None,
            fresh: false,
            compact: false,
        }
    }

    /// The same with parameters that its workload does not use set to their defaults, so that a list given for another workload does not
    /// multiply it.
    fn normalized(mut self) -> Self {
        let default = Benchmark::new(self.op);
        if !self.op.looks_up() {
            self.hit_rate = default.hit_rate;
        }
        if self.op != Op::MultiGet {
            self.batch = default.batch;
            self.multi_get = default.multi_get;
        }
        if !self.op.walks() {
            self.nexts = default.nexts;
        }
        if !self.op.only_reads() {
            self.while_writing = None;
        }
        if self.op == Op::ReadWrite {
            self.threads = default.threads;
        } else {
            self.readers = default.readers;
            self.writers = default.writers;
            self.write_rate = None;
        }
        if !matches!(self.op, Op::Put | Op::Comparator) {
            self.fresh = false;
        }
        if self.fresh {
            self.compact = false;
        }
        if self.op.only_reads() && self.while_writing.is_none() {
            self.wal = default.wal;
            self.sync = default.sync;
        }
        if self.cache == Cache::None {
            self.cache_size = default.cache_size;
        }
        self
    }

    /// Threads whose operations are counted.
    pub fn measured_threads(&self) -> u32 {
        if self.op == Op::ReadWrite { self.readers.saturating_add(self.writers) } else { self.threads }
    }

    /// All threads that run.
    pub fn all_threads(&self) -> u32 {
        self.measured_threads().saturating_add(u32::from(self.while_writing.is_some()))
    }

    /// Key and value bytes of all keys.
    pub fn data_size(&self) -> u64 {
        self.keys.saturating_mul(u64::from(self.key_size) + u64::from(self.value_size))
    }

    /// Disk space that must be free: two and a half times the data, and memtables on their way to files.
    pub fn disk_need(&self) -> u64 {
        let data = self.data_size();
        let buffers = if self.op.only_reads() && self.while_writing.is_none() {
            data.min(2 * WRITE_BUFFER)
        } else {
            // Log and level-0 files that wait for compaction.
            6 * WRITE_BUFFER
        };
        data.saturating_mul(5) / 2 + buffers
    }

    /// Every parameter that the workload uses, by its short name, in the order of names.
    pub fn parts(&self) -> Vec<(&'static str, String)> {
        let size = |n: u64| format_size(n);
        let rate = |n: u64| if n == 0 { "max".to_owned() } else { format_size(n) };
        let on = |on: bool| if on { "on" } else { "off" }.to_owned();
        let mut out = vec![
            ("op", self.op.name().to_owned()),
            ("cf", if self.families == 0 { "none".to_owned() } else { self.families.to_string() }),
            ("keys", self.keys.to_string()),
            ("ksize", self.key_size.to_string()),
            ("vsize", self.value_size.to_string()),
            ("cache", word(&self.cache)),
            ("io", word(&self.io)),
        ];
        if self.cache != Cache::None {
            out.push(("csize", size(self.cache_size)));
        }
        if !self.op.only_reads() || self.while_writing.is_some() {
            out.push(("wal", on(self.wal)));
            out.push(("sync", on(self.sync)));
        }
        out.push(("compression", word(&self.compression)));
        out.push(("ratio", self.ratio.to_string()));
        out.push(("bloom", self.bloom.to_string()));
        out.push(("block", size(self.block_size)));
        out.push(("order", word(&self.order)));
        if self.op.looks_up() {
            out.push(("hit", self.hit_rate.to_string()));
        }
        if self.op == Op::MultiGet {
            out.push(("batch", self.batch.to_string()));
            out.push(("multiget", word(&self.multi_get)));
        }
        out.push(("comparator", word(&self.comparator)));
        if self.op.walks() {
            out.push(("nexts", self.nexts.to_string()));
        }
        if let Some(bytes) = self.while_writing {
            out.push(("while", rate(bytes)));
        }
        if self.op == Op::ReadWrite {
            out.push(("readers", self.readers.to_string()));
            out.push(("writers", self.writers.to_string()));
            if let Some(bytes) = self.write_rate {
                out.push(("wrate", rate(bytes)));
            }
        }
        if matches!(self.op, Op::Put | Op::Comparator) {
            out.push(("fresh", on(self.fresh)));
        }
        if !self.fresh {
            out.push(("compact", on(self.compact)));
        }
        out
    }

    /// The parameters that names show: the basic ones, those that differ from the default, and those in `varied`.
    pub fn shown(&self, varied: &[&str]) -> Vec<(&'static str, String)> {
        let default = Benchmark::new(self.op).parts();
        let mut parts = self.parts();
        parts.retain(|(key, value)| {
            matches!(*key, "op" | "cf" | "keys" | "ksize" | "vsize" | "cache" | "io" | "readers" | "writers")
                || matches!((self.op, *key), (Op::MultiGet, "batch") | (Op::Comparator, "comparator"))
                || varied.contains(key)
                || !default.iter().any(|(k, v)| k == key && v == value)
        });
        parts
    }

    /// The name in Go's style. `engine` and `role` are parts too, where there is more than one.
    pub fn name(&self, varied: &[&str], engine: Option<&str>, role: Option<&str>) -> String {
        let parts = self.shown(varied);
        let more = [("engine", engine), ("role", role)];
        let more = more.iter().filter_map(|(key, value)| value.map(|value| (*key, value)));
        let mut name = "RocksDB".to_owned();
        for (key, value) in parts.iter().map(|(key, value)| (*key, value.as_str())).chain(more) {
            name.push('/');
            name.push_str(key);
            name.push('=');
            name.push_str(value);
        }
        format!("{name}-{}", self.measured_threads())
    }

    /// What a progress line says: the workload and what varies.
    pub fn short_name(&self, varied: &[&str]) -> String {
        let mut name = self.op.name().to_owned();
        for (key, value) in self.parts() {
            if key != "op" && varied.contains(&key) {
                name.push_str(&format!(" {key}={value}"));
            }
        }
        if varied.contains(&"threads") {
            name.push_str(&format!(" threads={}", self.measured_threads()));
        }
        name
    }

    /// Whether it can be done at all.
    ///
    /// # Errors
    /// [`Error::Usage`] naming the flag.
    pub fn check(&self) -> Result<()> {
        let usage = |message: String| Err(Error::usage(message));
        if self.keys == 0 {
            return usage("--keys: expected 1 or more, found 0".to_owned());
        }
        if self.value_size == 0 || self.value_size > 1 << 28 {
            return usage(format!("--value-size: expected 1 to 256M, found {}", self.value_size));
        }
        if self.key_size == 0 || self.key_size > 1 << 20 {
            return usage(format!("--key-size: expected 1 to 1M, found {}", self.key_size));
        }
        // Keys that are asked for in vain have indexes above those that exist.
        let indexes = if self.hit_rate < 1.0 { self.keys.saturating_mul(2) } else { self.keys };
        if self.key_size < 8 && (indexes - 1) >> (8 * self.key_size) != 0 {
            return Err(Error::usage_hint(
                format!("--key-size {}: {indexes} different keys do not fit into {0} bytes", self.key_size),
                "the index of a key is written as up to 8 bytes",
            ));
        }
        if !(self.ratio > 0.0 && self.ratio <= 1.0) {
            return usage(format!("--ratio: expected a number above 0 and up to 1, found {}", self.ratio));
        }
        if !(0.0..=1.0).contains(&self.hit_rate) {
            return usage(format!("--hit-rate: expected 0 to 1, found {}", self.hit_rate));
        }
        if self.hit_rate < 1.0 && self.order == Order::Seq {
            return usage("--hit-rate below 1 needs --order random".to_owned());
        }
        for (flag, count) in [
            ("--threads", self.threads),
            ("--readers", self.readers),
            ("--writers", self.writers),
            ("--batch", self.batch),
            ("--nexts", self.nexts),
        ] {
            if count == 0 {
                return usage(format!("{flag}: expected 1 or more, found 0"));
            }
        }
        let roles = [self.threads, self.readers, self.writers];
        if self.order == Order::Seq && roles.iter().any(|&t| u64::from(t) > self.keys) {
            return usage(format!("--order seq: {} keys cannot be shared by more threads", self.keys));
        }
        if self.op == Op::MultiGet && self.families > 0 && self.multi_get == MultiGet::Batched {
            let per_family = self.keys / u64::from(self.families);
            if per_family == 0 {
                return usage(format!("--cf {}: {} keys do not fill the families", self.families, self.keys));
            }
        }
        if self.sync && !self.wal {
            return usage("--sync needs the write-ahead log: it cannot go with --wal off".to_owned());
        }
        if self.families > 1000 {
            return usage(format!("--cf: expected none or 1 to 1000, found {}", self.families));
        }
        Ok(())
    }
}

/// Lists of values of each parameter; the cross product of them is measured.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "as in Benchmark")]
pub struct Grid {
    pub ops: Vec<Op>,
    pub families: Vec<u32>,
    pub keys: Vec<u64>,
    pub key_size: Vec<u32>,
    pub value_size: Vec<u32>,
    pub cache: Vec<Cache>,
    pub cache_size: Vec<u64>,
    pub io: Vec<Io>,
    pub wal: Vec<bool>,
    pub sync: Vec<bool>,
    pub compression: Vec<Compression>,
    pub ratio: Vec<f64>,
    pub bloom: Vec<u32>,
    pub block_size: Vec<u64>,
    pub order: Vec<Order>,
    pub hit_rate: Vec<f64>,
    pub threads: Vec<u32>,
    pub readers: Vec<u32>,
    pub writers: Vec<u32>,
    pub batch: Vec<u32>,
    pub multi_get: Vec<MultiGet>,
    /// `None`: bytewise, and all four for the workload `comparator`.
    pub comparator: Option<Vec<Comparator>>,
    pub nexts: Vec<u32>,
    pub while_writing: Vec<Option<u64>>,
    pub write_rate: Vec<Option<u64>>,
    pub fresh: bool,
    pub compact: Vec<bool>,
}

impl Default for Grid {
    fn default() -> Self {
        let b = Benchmark::new(Op::Get);
        Grid {
            ops: vec![Op::Get, Op::Put],
            families: vec![b.families],
            keys: vec![b.keys],
            key_size: vec![b.key_size],
            value_size: vec![b.value_size],
            cache: vec![b.cache],
            cache_size: vec![b.cache_size],
            io: vec![b.io],
            wal: vec![b.wal],
            sync: vec![b.sync],
            compression: vec![b.compression],
            ratio: vec![b.ratio],
            bloom: vec![b.bloom],
            block_size: vec![b.block_size],
            order: vec![b.order],
            hit_rate: vec![b.hit_rate],
            threads: vec![b.threads],
            readers: vec![b.readers],
            writers: vec![b.writers],
            batch: vec![b.batch],
            multi_get: vec![b.multi_get],
            comparator: None,
            nexts: vec![b.nexts],
            while_writing: vec![b.while_writing],
            write_rate: vec![b.write_rate],
            fresh: b.fresh,
            compact: vec![b.compact],
        }
    }
}

/// More combinations than this are a mistake.
const MOST_COMBINATIONS: usize = 10_000;

impl Grid {
    /// All combinations, the first list turning slowest; each that a workload can tell apart once.
    ///
    /// # Errors
    /// [`Error::Usage`] for a combination that cannot be done, or for too many.
    pub fn expand(&self) -> Result<Vec<Benchmark>> {
        const ALL_COMPARATORS: [Comparator; 4] =
            [Comparator::Bytewise, Comparator::Reverse, Comparator::CallbackBytewise, Comparator::CallbackReverse];
        let mut out: Vec<Benchmark> = Vec::new();
        for &op in &self.ops {
            let comparators = match &self.comparator {
                Some(list) => list.clone(),
                None if op == Op::Comparator => ALL_COMPARATORS.to_vec(),
                None => vec![Comparator::Bytewise],
            };
            let mut of_op = vec![Benchmark { fresh: self.fresh, ..Benchmark::new(op) }];
            vary(&mut of_op, &self.families, |b, &v| b.families = v)?;
            vary(&mut of_op, &self.keys, |b, &v| b.keys = v)?;
            vary(&mut of_op, &self.key_size, |b, &v| b.key_size = v)?;
            vary(&mut of_op, &self.value_size, |b, &v| b.value_size = v)?;
            vary(&mut of_op, &self.cache, |b, &v| b.cache = v)?;
            vary(&mut of_op, &self.cache_size, |b, &v| b.cache_size = v)?;
            vary(&mut of_op, &self.io, |b, &v| b.io = v)?;
            vary(&mut of_op, &self.while_writing, |b, &v| b.while_writing = v)?;
            vary(&mut of_op, &self.wal, |b, &v| b.wal = v)?;
            vary(&mut of_op, &self.sync, |b, &v| b.sync = v)?;
            vary(&mut of_op, &self.compression, |b, &v| b.compression = v)?;
            vary(&mut of_op, &self.ratio, |b, &v| b.ratio = v)?;
            vary(&mut of_op, &self.bloom, |b, &v| b.bloom = v)?;
            vary(&mut of_op, &self.block_size, |b, &v| b.block_size = v)?;
            vary(&mut of_op, &self.order, |b, &v| b.order = v)?;
            vary(&mut of_op, &self.hit_rate, |b, &v| b.hit_rate = v)?;
            vary(&mut of_op, &self.batch, |b, &v| b.batch = v)?;
            vary(&mut of_op, &self.multi_get, |b, &v| b.multi_get = v)?;
            vary(&mut of_op, &comparators, |b, &v| b.comparator = v)?;
            vary(&mut of_op, &self.nexts, |b, &v| b.nexts = v)?;
            vary(&mut of_op, &self.write_rate, |b, &v| b.write_rate = v)?;
            vary(&mut of_op, &self.readers, |b, &v| b.readers = v)?;
            vary(&mut of_op, &self.writers, |b, &v| b.writers = v)?;
            vary(&mut of_op, &self.compact, |b, &v| b.compact = v)?;
            vary(&mut of_op, &self.threads, |b, &v| b.threads = v)?;
            out.extend(of_op);
        }
        dedup(&mut out);
        for benchmark in &out {
            benchmark.check()?;
        }
        Ok(out)
    }
}

/// Replaces each benchmark by one for each value.
fn vary<T>(benchmarks: &mut Vec<Benchmark>, values: &[T], set: impl Fn(&mut Benchmark, &T)) -> Result<()> {
    let mut out = Vec::with_capacity(benchmarks.len() * values.len());
    for benchmark in benchmarks.iter() {
        for value in values {
            let mut b = benchmark.clone();
            set(&mut b, value);
            out.push(b.normalized());
        }
    }
    dedup(&mut out);
    if out.len() > MOST_COMBINATIONS {
        return Err(Error::usage(format!("the lists of parameters make more than {MOST_COMBINATIONS} combinations")));
    }
    *benchmarks = out;
    Ok(())
}

/// Keeps the first of equal benchmarks.
fn dedup(benchmarks: &mut Vec<Benchmark>) {
    let mut seen = std::collections::HashSet::new();
    benchmarks.retain(|b| {
        // Names with everything in them; floats are compared as they print.
        let mut all: Vec<String> = b.parts().into_iter().map(|(k, v)| format!("{k}={v}")).collect();
        all.push(b.threads.to_string());
        seen.insert(all)
    });
}

/// Parameters that differ between `benchmarks` where several have them; `threads` (the number at the end of the name) where it differs
/// within one workload.
pub fn varied(benchmarks: &[Benchmark]) -> Vec<&'static str> {
    let mut values: Vec<(&'static str, Vec<String>)> = Vec::new();
    let mut threads: Vec<(Op, u32)> = Vec::new();
    for b in benchmarks {
        for (key, value) in b.parts() {
            match values.iter_mut().find(|(k, _)| *k == key) {
                Some((_, seen)) if seen.contains(&value) => {}
                Some((_, seen)) => seen.push(value),
                None => values.push((key, vec![value])),
            }
        }
        if !threads.contains(&(b.op, b.measured_threads())) {
            threads.push((b.op, b.measured_threads()));
        }
    }
    let mut out: Vec<&'static str> =
        values.into_iter().filter(|(_, seen)| seen.len() > 1).map(|(key, _)| key).collect();
    if threads.iter().enumerate().any(|(i, (op, _))| threads.iter().skip(i + 1).any(|(other, _)| other == op)) {
        out.push("threads");
    }
    out
}

/// Bytes as they are typed: `4096`, `4K`, `32M`, powers of two.
pub fn format_size(bytes: u64) -> String {
    for (shift, letter) in [(30, "G"), (20, "M"), (10, "K")] {
        if bytes >= 1 << shift && bytes.trailing_zeros() >= shift {
            return format!("{}{letter}", bytes >> shift);
        }
    }
    bytes.to_string()
}

/// Reads what [`format_size`] writes, also with `i`, `B`, `iB` after the letter and in lower case.
///
/// # Errors
/// What was expected.
pub fn parse_size(text: &str) -> std::result::Result<u64, String> {
    let bad = || format!("expected a size such as 4096, 4K, 32M or 1G, found {text:?}");
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, suffix) = text.split_at(digits);
    let number: u64 = number.parse().map_err(|_| bad())?;
    let shift = match suffix.to_ascii_lowercase().as_str() {
        "" | "b" => 0,
        "k" | "kb" | "kib" | "ki" => 10,
        "m" | "mb" | "mib" | "mi" => 20,
        "g" | "gb" | "gib" | "gi" => 30,
        "t" | "tb" | "tib" | "ti" => 40,
        _ => return Err(bad()),
    };
    number.checked_mul(1 << shift).ok_or_else(bad)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_come_back() {
        for bytes in [0, 1, 100, 1000, 1024, 4096, 4097, 32 << 20, 3 << 30, u64::MAX] {
            assert_eq!(parse_size(&format_size(bytes)), Ok(bytes));
        }
        assert_eq!(parse_size("64k"), Ok(65536));
        assert_eq!(parse_size("2MiB"), Ok(2 << 20));
        for bad in ["", "M", "-1", "1.5M", "1X", "99999999999T", "1 M"] {
            assert!(parse_size(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn basic_parameters_are_in_every_name_and_others_when_they_matter() {
        let b = Benchmark { families: 20, value_size: 1024, threads: 8, ..Benchmark::new(Op::Get) };
        assert_eq!(
            b.name(&[], None, None),
            "RocksDB/op=get/cf=20/keys=100000/ksize=16/vsize=1024/cache=lru/io=buffered-8"
        );
        let b = Benchmark { wal: false, readers: 3, ..Benchmark::new(Op::ReadWrite) };
        assert_eq!(
            b.name(&["bloom"], Some("v7"), Some("put")),
            "RocksDB/op=readwrite/cf=none/keys=100000/ksize=16/vsize=100/cache=lru/io=buffered/wal=off/bloom=0\
             /readers=3/writers=1/engine=v7/role=put-4"
        );
        let names: Vec<String> = Grid { ops: vec![Op::Comparator], ..Grid::default() }
            .expand()
            .unwrap()
            .iter()
            .map(|b| b.name(&[], None, None).rsplit('/').next().unwrap().to_owned())
            .collect();
        assert_eq!(
            names,
            [
                "comparator=bytewise-1",
                "comparator=reverse-1",
                "comparator=callback-bytewise-1",
                "comparator=callback-reverse-1"
            ]
        );
    }

    #[test]
    fn lists_multiply_only_the_workloads_that_use_them() {
        let grid = Grid {
            ops: vec![Op::Get, Op::Put, Op::MultiGet, Op::ReadWrite],
            families: vec![0, 1, 20],
            batch: vec![10, 100],
            threads: vec![1, 2],
            readers: vec![1, 3],
            wal: vec![true, false],
            hit_rate: vec![1.0, 0.5],
            ..Grid::default()
        };
        let all = grid.expand().unwrap();
        let count = |op| all.iter().filter(|b| b.op == op).count();
        // families x threads x hit rates; wal is for writes.
        assert_eq!(count(Op::Get), 3 * 2 * 2);
        assert_eq!(count(Op::Put), 3 * 2 * 2);
        assert_eq!(count(Op::MultiGet), 3 * 2 * 2 * 2);
        // families x readers x wal: no threads there.
        assert_eq!(count(Op::ReadWrite), 3 * 2 * 2);
        let mut names: Vec<String> = all.iter().map(|b| b.name(&varied(&all), None, None)).collect();
        let total = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), total, "names must tell all combinations apart");
        assert_eq!(varied(&all), ["op", "cf", "hit", "wal", "batch", "readers", "threads"]);
    }

    #[test]
    fn wal_matters_to_readers_beside_a_writer() {
        let grid = Grid {
            ops: vec![Op::Get],
            wal: vec![true, false],
            while_writing: vec![None, Some(1 << 20)],
            ..Grid::default()
        };
        assert_eq!(grid.expand().unwrap().len(), 3);
    }

    #[test]
    fn impossible_combinations_are_named() {
        let base = || Benchmark::new(Op::Get);
        for (b, word) in [
            (Benchmark { keys: 0, ..base() }, "--keys"),
            (Benchmark { keys: 257, key_size: 1, ..base() }, "do not fit"),
            (Benchmark { keys: 200, key_size: 1, hit_rate: 0.5, ..base() }, "do not fit"),
            (Benchmark { ratio: 0.0, ..base() }, "--ratio"),
            (Benchmark { ratio: f64::NAN, ..base() }, "--ratio"),
            (Benchmark { hit_rate: 1.5, ..base() }, "--hit-rate"),
            (Benchmark { hit_rate: 0.5, order: Order::Seq, ..base() }, "--order random"),
            (Benchmark { threads: 0, ..base() }, "--threads"),
            (Benchmark { keys: 2, threads: 3, order: Order::Seq, ..base() }, "shared"),
            (Benchmark { sync: true, wal: false, ..Benchmark::new(Op::Put) }, "--sync"),
            (Benchmark { value_size: 0, ..base() }, "--value-size"),
        ] {
            let text = b.check().unwrap_err().to_string();
            assert!(text.contains(word), "{text}");
        }
        assert!(Benchmark { keys: 256, key_size: 1, ..base() }.check().is_ok());
        assert!(
            Grid { keys: (1..=101).collect(), value_size: (1..=100).collect(), ..Grid::default() }.expand().is_err()
        );
    }
}
