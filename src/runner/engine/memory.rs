//! A map in memory with the runner's interface: the ceiling line beside RocksDB, and what tests run on where there is no RocksDB.
//!
//! Not a database: nothing is written anywhere, `put` overwrites in place, there are no snapshots. Point lookups use hash shards behind
//! read-write locks; where keys are walked in order, one ordered map behind one lock.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, Hasher};
use std::ops::Bound;
use std::sync::{PoisonError, RwLock};

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

use super::{Access, Batch, Database, Engine, Error, Facts, MultiGet, OpenOptions, Result, Session, WriteMode};

/// Power of two, well above the threads that anyone runs on one machine.
const SHARDS: usize = 256;

type Pair = (Box<[u8]>, Box<[u8]>);
type Sorted = BTreeMap<Box<[u8]>, Box<[u8]>>;

/// On a cache line of its own, so that locks of neighbours do not slow each other down.
#[derive(Default)]
#[repr(align(128))]
struct Shard(RwLock<HashTable<Pair>>);

enum Family {
    Hashed(Box<[Shard]>),
    Ordered(RwLock<Sorted>),
}

fn hash(key: &[u8]) -> u64 {
    let mut hasher = FxBuildHasher.build_hasher();
    hasher.write(key);
    hasher.finish()
}

/// The shard comes from middle bits: the table inside uses the low and the top ones.
fn shard(shards: &[Shard], hash: u64) -> &Shard {
    &shards[(hash >> 24) as usize % shards.len()]
}

impl Family {
    fn read<R>(&self, key: &[u8], read: impl FnOnce(&[u8]) -> R) -> Option<R> {
        match self {
            Family::Hashed(shards) => {
                let hash = hash(key);
                let table = shard(shards, hash).0.read().unwrap_or_else(PoisonError::into_inner);
                table.find(hash, |(k, _)| **k == *key).map(|(_, v)| read(v))
            }
            Family::Ordered(map) => map.read().unwrap_or_else(PoisonError::into_inner).get(key).map(|v| read(v)),
        }
    }

    fn write(&self, key: &[u8], value: &[u8]) {
        match self {
            Family::Hashed(shards) => {
                let hash = hash(key);
                let mut table = shard(shards, hash).0.write().unwrap_or_else(PoisonError::into_inner);
                match table.find_mut(hash, |(k, _)| **k == *key) {
                    Some((_, v)) => overwrite(v, value),
                    None => {
                        table.insert_unique(hash, (key.into(), value.into()), |(k, _)| self::hash(k));
                    }
                }
            }
            Family::Ordered(map) => {
                let mut map = map.write().unwrap_or_else(PoisonError::into_inner);
                match map.get_mut(key) {
                    Some(v) => overwrite(v, value),
                    None => {
                        map.insert(key.into(), value.into());
                    }
                }
            }
        }
    }
}

fn overwrite(old: &mut Box<[u8]>, new: &[u8]) {
    if old.len() == new.len() {
        old.copy_from_slice(new);
    } else {
        *old = new.into();
    }
}

/// Opens maps in memory.
#[derive(Clone, Copy, Debug, Default)]
pub struct MemoryEngine;

impl Engine for MemoryEngine {
    type Db = MemoryDb;

    fn open(&self, options: &OpenOptions) -> Result<MemoryDb> {
        if options.access != Access::Create {
            return Err(Error::Status("the memory engine has no database on disk to open".to_owned()));
        }
        let families = (0..options.families.max(1))
            .map(|_| {
                if options.ordered {
                    Family::Ordered(RwLock::default())
                } else {
                    Family::Hashed((0..SHARDS).map(|_| Shard::default()).collect())
                }
            })
            .collect();
        Ok(MemoryDb { families, reverse: options.comparator.is_reverse() })
    }
}

/// Maps of all families.
pub struct MemoryDb {
    families: Vec<Family>,
    reverse: bool,
}

impl std::fmt::Debug for MemoryDb {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MemoryDb").field("families", &self.families.len()).finish_non_exhaustive()
    }
}

impl MemoryDb {
    fn family(&self, index: u32) -> Result<&Family> {
        self.families.get(index as usize).ok_or_else(|| Error::Status(format!("no column family {index}")))
    }
}

impl Database for MemoryDb {
    type Session<'d> = MemorySession<'d>;

    fn session(&self, _mode: WriteMode, _multi_get: Option<MultiGet>) -> Result<MemorySession<'_>> {
        Ok(MemorySession { db: self, buffer: Vec::new() })
    }

    fn flush(&self) -> Result<()> {
        Ok(())
    }

    fn compact(&self) -> Result<()> {
        Ok(())
    }

    fn background_work(&self) -> Result<u64> {
        Ok(0)
    }

    fn background_errors(&self) -> Result<u64> {
        Ok(0)
    }

    fn first_key(&self, family: u32) -> Result<Option<Vec<u8>>> {
        let pick = |keys: &mut dyn Iterator<Item = &[u8]>| {
            if self.reverse { keys.max().map(<[u8]>::to_vec) } else { keys.min().map(<[u8]>::to_vec) }
        };
        Ok(match self.family(family)? {
            Family::Hashed(shards) => {
                let firsts: Vec<Vec<u8>> = shards
                    .iter()
                    .filter_map(|s| {
                        let table = s.0.read().unwrap_or_else(PoisonError::into_inner);
                        pick(&mut table.iter().map(|(k, _)| &**k))
                    })
                    .collect();
                pick(&mut firsts.iter().map(Vec::as_slice))
            }
            Family::Ordered(map) => {
                let map = map.read().unwrap_or_else(PoisonError::into_inner);
                let entry = if self.reverse { map.last_key_value() } else { map.first_key_value() };
                entry.map(|(k, _)| k.to_vec())
            }
        })
    }

    fn facts(&self) -> Facts {
        Facts::default()
    }
}

/// Access of one thread.
#[derive(Debug)]
pub struct MemorySession<'d> {
    db: &'d MemoryDb,
    buffer: Vec<u8>,
}

impl Session for MemorySession<'_> {
    fn get<R>(&mut self, family: u32, key: &[u8], read: impl FnOnce(&[u8]) -> R) -> Result<Option<R>> {
        let copy = self.db.family(family)?.read(key, |v| v.to_vec());
        Ok(copy.map(|v| read(&v)))
    }

    fn get_pinned<R>(&mut self, family: u32, key: &[u8], read: impl FnOnce(&[u8]) -> R) -> Result<Option<R>> {
        Ok(self.db.family(family)?.read(key, read))
    }

    fn get_into<R>(&mut self, family: u32, key: &[u8], read: impl FnOnce(&[u8]) -> R) -> Result<Option<R>> {
        let buffer = &mut self.buffer;
        let found = self.db.family(family)?.read(key, |v| {
            buffer.clear();
            buffer.extend_from_slice(v);
        });
        Ok(found.map(|()| read(&self.buffer)))
    }

    fn multi_get(&mut self, batch: &Batch, mut read: impl FnMut(usize, Option<&[u8]>)) -> Result<()> {
        for (i, (family, key)) in batch.iter().enumerate() {
            let family = self.db.family(family)?;
            if family.read(key, |v| read(i, Some(v))).is_none() {
                read(i, None);
            }
        }
        Ok(())
    }

    fn put(&mut self, family: u32, key: &[u8], value: &[u8]) -> Result<()> {
        self.db.family(family)?.write(key, value);
        Ok(())
    }

    fn scan(
        &mut self,
        family: u32,
        key: &[u8],
        steps: u32,
        backwards: bool,
        mut visit: impl FnMut(&[u8], &[u8]),
    ) -> Result<u32> {
        let Family::Ordered(map) = self.db.family(family)? else {
            return Err(Error::Status("the memory engine was opened without order".to_owned()));
        };
        let map = map.read().unwrap_or_else(PoisonError::into_inner);
        let mut seen = 0;
        let mut take = |k: &[u8], v: &[u8]| {
            visit(k, v);
            seen += 1;
        };
        let steps = steps as usize;
        // A seek lands on the first key not before `key` in the comparator's order; under the reverse one that is the largest key <= `key`.
        if self.db.reverse != backwards {
            let start = if self.db.reverse {
                Some(Bound::Included(key.into()))
            } else {
                map.range::<[u8], _>((Bound::Included(key), Bound::Unbounded))
                    .next()
                    .map(|(k, _)| Bound::Included(k.clone()))
            };
            if let Some(start) = start {
                map.range::<Box<[u8]>, _>((Bound::Unbounded, start)).rev().take(steps).for_each(|(k, v)| take(k, v));
            }
        } else {
            let start: Option<Box<[u8]>> = if self.db.reverse {
                map.range::<[u8], _>((Bound::Unbounded, Bound::Included(key))).next_back().map(|(k, _)| k.clone())
            } else {
                Some(key.into())
            };
            if let Some(start) = start {
                map.range::<Box<[u8]>, _>((Bound::Included(start), Bound::Unbounded))
                    .take(steps)
                    .for_each(|(k, v)| take(k, v));
            }
        }
        Ok(seen)
    }
}
