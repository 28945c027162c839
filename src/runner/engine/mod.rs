//! What is measured: a key-value store opened in this process.
//!
//! Two engines stand behind the traits [`Engine`], [`Database`] and [`Session`]: RocksDB through its C API, found in a shared library at
//! run time ([`Library`], [`RocksEngine`]), and a sharded map in memory ([`MemoryEngine`]), which is always there.
//!
//! This module tree is the only place of the crate with `unsafe`. One process loads at most one library, because two copies of RocksDB
//! may bind to each other's C++ symbols; so each fork is a child process.

#[allow(
    clippy::all,
    clippy::pedantic,
    clippy::restriction,
    dead_code,
    missing_docs,
    non_camel_case_types,
    non_snake_case,
    reason = "made by bindgen"
)]
#[rustfmt::skip]
mod bindings;
mod db;
mod extra;
mod jar;
mod library;
mod memory;
#[cfg(test)]
pub(crate) mod tests;

use std::path::{Path, PathBuf};

pub use db::RocksEngine;
pub use jar::{extract, is_archive};
pub use library::{Library, find_system_library, search_places};
pub use memory::{MemoryDb, MemoryEngine};
use serde::{Deserialize, Serialize};

/// What an engine could not do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// RocksDB's own status text.
    #[error("{0}")]
    Status(String),
    /// The shared library could not be loaded.
    #[error("cannot load {}: {message}", path.display())]
    Load {
        /// The library.
        path: PathBuf,
        /// What the loader said.
        message: String,
    },
    /// The library was loaded but is not RocksDB.
    #[error("{} is not a RocksDB library: it has no function {function}", path.display())]
    NotRocksDb {
        /// The library.
        path: PathBuf,
        /// The first function looked for.
        function: &'static str,
    },
    /// A function that is needed is not in this release.
    #[error("{} has no function {function}; {needed_for} cannot be measured with this release", path.display())]
    MissingFunction {
        /// The library.
        path: PathBuf,
        /// The C name.
        function: &'static str,
        /// What it is needed for.
        needed_for: &'static str,
    },
    /// A setting that the library accepted but did not follow.
    #[error("{0}")]
    NotHonoured(String),
    /// Something about a file or a name.
    #[error("{path}: {message}")]
    File {
        /// The file.
        path: String,
        /// What is wrong with it.
        message: String,
    },
}

/// Shorthand of this module.
pub type Result<T> = std::result::Result<T, Error>;

/// Block cache of a RocksDB database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cache {
    /// LRU.
    Lru,
    /// Hyper clock; since RocksDB 8.
    Hcc,
    /// No block cache.
    None,
}

/// Order of keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Comparator {
    /// RocksDB's default.
    Bytewise,
    /// RocksDB's own reverse order.
    Reverse,
    /// The default order through a callback into this program.
    CallbackBytewise,
    /// The reverse order through a callback into this program.
    CallbackReverse,
}

impl Comparator {
    /// The largest key comes first.
    pub fn is_reverse(self) -> bool {
        matches!(self, Comparator::Reverse | Comparator::CallbackReverse)
    }
}

/// Compression of SST files. The numbers are those of RocksDB's file format and so the same in all releases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Compression {
    /// What the library takes by itself: Snappy where it was built in.
    Default,
    /// None.
    None,
    /// Snappy.
    Snappy,
    /// zlib.
    Zlib,
    /// LZ4.
    Lz4,
    /// LZ4 HC.
    Lz4hc,
    /// Zstandard.
    Zstd,
}

/// What may be done to a database that is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Access {
    /// Make a new one; an existing one is an error.
    Create,
    /// Open an existing one and leave it as it is.
    ReadOnly,
    /// Open an existing one for writes too.
    ReadWrite,
}

/// How a database is opened. Sizes in bytes.
#[derive(Clone, Debug)]
pub struct OpenOptions {
    /// Directory of the database.
    pub path: PathBuf,
    /// Where RocksDB's own log goes; `None`: into the database. Set for databases that are only read.
    pub log_dir: Option<PathBuf>,
    /// Make, read, or write.
    pub access: Access,
    /// 0: the default family holds the keys; n: `cf1` .. `cfn` do.
    pub families: u32,
    /// Kind of block cache.
    pub cache: Cache,
    /// Its capacity.
    pub cache_size: u64,
    /// Direct I/O for reads, flush and compaction.
    pub direct: bool,
    /// Compression of SST files.
    pub compression: Compression,
    /// Bits a key of a Bloom filter; 0: none.
    pub bloom_bits: u32,
    /// Block size of SST files.
    pub block_size: u64,
    /// Order of keys.
    pub comparator: Comparator,
    /// Keys will be walked in order (the memory engine needs to know).
    pub ordered: bool,
    /// A handle of the default family is needed although the keys are in no other (batched multi-get).
    pub default_handle: bool,
}

/// Size of a memtable: RocksDB's default, set so that all releases agree.
pub const WRITE_BUFFER: u64 = 64 << 20;

/// What the engine says of itself once a database is open.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    /// Release, `7.8.3`, from the head of the library's log; not known where it writes none (a database that is only read).
    pub version: Option<String>,
    /// Compression in force, as the library spells it.
    pub compression: Option<String>,
}

/// How writes of a session are made.
#[derive(Clone, Copy, Debug)]
pub struct WriteMode {
    /// Write-ahead log.
    pub wal: bool,
    /// fsync at every write.
    pub sync: bool,
}

/// How a batch of keys is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MultiGet {
    /// `rocksdb_multi_get`: copies, keys of any family.
    Plain,
    /// `rocksdb_batched_multi_get_cf`: pinned, keys of one family.
    Batched,
}

/// Something that opens databases.
pub trait Engine {
    /// What it opens.
    type Db: Database;

    /// Opens or makes a database.
    ///
    /// # Errors
    /// RocksDB's status, or a function or setting that this release lacks.
    fn open(&self, options: &OpenOptions) -> Result<Self::Db>;
}

/// An open database. Closed when dropped.
pub trait Database: Sync {
    /// What one thread works with.
    type Session<'d>: Session
    where
        Self: 'd;

    /// Options and buffers for one thread, made before the clock starts. Turns RocksDB's own counters off in the calling thread.
    ///
    /// # Errors
    /// A function that this release lacks.
    fn session(&self, mode: WriteMode, multi_get: Option<MultiGet>) -> Result<Self::Session<'_>>;

    /// Writes memtables of all families to files and waits for it.
    ///
    /// # Errors
    /// RocksDB's status.
    fn flush(&self) -> Result<()>;

    /// Compacts all families.
    ///
    /// # Errors
    /// A function that this release lacks.
    fn compact(&self) -> Result<()>;

    /// Flushes or compactions that run or wait now.
    ///
    /// # Errors
    /// A function that this release lacks.
    fn background_work(&self) -> Result<u64>;

    /// Background errors since opening.
    ///
    /// # Errors
    /// A function that this release lacks.
    fn background_errors(&self) -> Result<u64>;

    /// Key that stands first in `family`, under the comparator in force.
    ///
    /// # Errors
    /// RocksDB's status.
    fn first_key(&self, family: u32) -> Result<Option<Vec<u8>>>;

    /// Release and settings in force.
    fn facts(&self) -> Facts;
}

/// Reads and writes of one thread. `family` is 0-based and below the families asked for (0 when there is only the default one).
/// Calls allocate nothing on this side but what the method says.
pub trait Session {
    /// Copies the value into memory that is fresh for this call and lends it to `read`; `None` when there is no such key.
    ///
    /// # Errors
    /// RocksDB's status.
    fn get<R>(&mut self, family: u32, key: &[u8], read: impl FnOnce(&[u8]) -> R) -> Result<Option<R>>;

    /// Pins the value where it is and lends it to `read`.
    ///
    /// # Errors
    /// RocksDB's status.
    fn get_pinned<R>(&mut self, family: u32, key: &[u8], read: impl FnOnce(&[u8]) -> R) -> Result<Option<R>>;

    /// Copies the value into a buffer that this session reuses and lends it to `read`.
    ///
    /// # Errors
    /// RocksDB's status.
    fn get_into<R>(&mut self, family: u32, key: &[u8], read: impl FnOnce(&[u8]) -> R) -> Result<Option<R>>;

    /// Asks for all keys of `batch` in one call; `read` gets the place in the batch and the value of each, in order.
    ///
    /// # Errors
    /// RocksDB's status of the first key that failed.
    fn multi_get(&mut self, batch: &Batch, read: impl FnMut(usize, Option<&[u8]>)) -> Result<()>;

    /// Writes one key.
    ///
    /// # Errors
    /// RocksDB's status.
    fn put(&mut self, family: u32, key: &[u8], value: &[u8]) -> Result<()>;

    /// Goes to `key` and reads up to `steps` entries from there on, moving after each, as db_bench's seekrandom does; returns how many
    /// were read. A fresh iterator each time.
    ///
    /// # Errors
    /// RocksDB's status.
    fn scan(
        &mut self,
        family: u32,
        key: &[u8],
        steps: u32,
        backwards: bool,
        visit: impl FnMut(&[u8], &[u8]),
    ) -> Result<u32>;
}

/// Keys of one multi-get, in memory made once.
#[derive(Debug)]
pub struct Batch {
    key_size: usize,
    keys: Vec<u8>,
    families: Vec<u32>,
}

impl Batch {
    /// Room for `len` keys of `key_size` bytes, all zero.
    pub fn new(len: usize, key_size: usize) -> Self {
        Batch { key_size, keys: vec![0; len * key_size], families: vec![0; len] }
    }

    /// Number of keys.
    pub fn len(&self) -> usize {
        self.families.len()
    }

    /// No keys at all.
    pub fn is_empty(&self) -> bool {
        self.families.is_empty()
    }

    /// Family and bytes of each key, in order.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &[u8])> {
        self.families.iter().copied().zip(self.keys.chunks_exact(self.key_size))
    }

    /// The same, to fill in.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (&mut u32, &mut [u8])> {
        self.families.iter_mut().zip(self.keys.chunks_exact_mut(self.key_size))
    }
}

/// Name of family `index` (0-based) of the families that the runner makes: `cf1`, `cf2`, ...
fn family_name(index: u32) -> String {
    format!("cf{}", index + 1)
}

/// Facts from the head of RocksDB's log in `dir`, whatever the file is called there (`LOG`, or `<path>_LOG` in a log directory).
fn read_log(dir: &Path) -> (Facts, Option<String>) {
    use std::io::Read;

    let mut head = String::new();
    let newest = std::fs::read_dir(dir)
        .into_iter()
        .flatten()
        .flatten()
        .filter(|e| e.file_name().to_str().is_some_and(|n| n == "LOG" || n.ends_with("_LOG")))
        .max_by_key(|e| e.metadata().and_then(|m| m.modified()).ok());
    if let Some(entry) = newest
        && let Ok(file) = std::fs::File::open(entry.path())
    {
        let mut bytes = Vec::new();
        // Options of all families follow the head; those of the first are enough.
        if file.take(256 << 10).read_to_end(&mut bytes).is_ok() {
            head = String::from_utf8_lossy(&bytes).into_owned();
        }
    }
    let after = |label: &str| {
        head.lines().find_map(|l| l.split_once(label)).map(|(_, v)| v.trim().to_owned()).filter(|v| !v.is_empty())
    };
    let facts = Facts { version: after("RocksDB version:"), compression: after("Options.compression:") };
    (facts, after("filter_policy:"))
}
