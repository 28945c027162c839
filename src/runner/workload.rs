//! What a measuring thread does: which key, which value, which call, and whether the work was really done.
//!
//! Nothing here looks at a clock (but [`Paced`], which is there to wait) or allocates once a thread has started.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hasher};
use std::hint::black_box;
use std::ops::RangeInclusive;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use super::engine::{self, Batch, MultiGet, Session};
use super::spec::{Benchmark, Order};

/// Random numbers, 64 bits: xorshift64* started by splitmix64, which turns neighbouring seeds into unlike states.
#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    /// The sequence of `seed`.
    pub fn new(seed: u64) -> Self {
        let mut z = seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        Rng((z ^ (z >> 31)).max(1))
    }

    /// The next number.
    pub fn draw(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// A number below `n`, by multiplication instead of division; the bias is below n / 2^64.
    pub fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.draw()) * u128::from(n)) >> 64) as u64
    }
}

/// Which key comes next.
#[derive(Clone, Debug)]
pub struct Indexes {
    rng: Rng,
    keys: u64,
    /// Next sequential index, `None`: random.
    at: Option<u64>,
    range: (u64, u64),
    /// Random numbers below it ask for a key that exists; `None`: all do.
    hit: Option<u64>,
}

impl Indexes {
    /// Keys of thread `thread` (from 0) of `threads` with the same role.
    pub fn new(b: &Benchmark, seed: u64, thread: u32, threads: u32) -> Self {
        let cut = |t: u32| (u128::from(b.keys) * u128::from(t) / u128::from(threads.max(1))) as u64;
        let range = (cut(thread), cut(thread + 1));
        Indexes {
            rng: Rng::new(seed),
            keys: b.keys,
            at: (b.order == Order::Seq).then_some(range.0),
            range,
            // Exact at 0; 1 has no limit at all.
            hit: (b.hit_rate < 1.0).then_some((b.hit_rate * 2f64.powi(64)) as u64),
        }
    }

    /// An index, and whether a key of it exists.
    fn ask(&mut self) -> (u64, bool) {
        if let Some(at) = &mut self.at {
            let index = *at;
            *at = if index + 1 >= self.range.1 { self.range.0 } else { index + 1 };
            return (index, true);
        }
        let index = self.rng.below(self.keys);
        match self.hit {
            None => (index, true),
            Some(limit) if self.rng.draw() < limit => (index, true),
            Some(_) => (self.keys + index, false),
        }
    }

    /// Number of keys in the thread's own range.
    pub fn range_len(&self) -> u64 {
        self.range.1 - self.range.0
    }
}

/// Bytes of keys: the index as 8 big-endian bytes (the low ones where a key is shorter), filled up with `'0'`.
#[derive(Clone, Debug)]
pub struct Keys {
    buffer: Vec<u8>,
    families: u64,
}

/// Writes the index part of a key.
fn write_index(key: &mut [u8], index: u64) {
    let bytes = index.to_be_bytes();
    match key.first_chunk_mut::<8>() {
        Some(head) => *head = bytes,
        None => {
            let len = key.len();
            key.copy_from_slice(&bytes[8 - len..]);
        }
    }
}

impl Keys {
    /// Keys of `b`.
    pub fn new(b: &Benchmark) -> Self {
        Keys { buffer: vec![b'0'; b.key_size as usize], families: u64::from(b.families) }
    }

    /// Makes the key of `index`; returns its family.
    pub fn set(&mut self, index: u64) -> u32 {
        write_index(&mut self.buffer, index);
        self.family(index)
    }

    fn family(&self, index: u64) -> u32 {
        if self.families <= 1 { 0 } else { (index % self.families) as u32 }
    }

    /// The key made last.
    pub fn bytes(&self) -> &[u8] {
        &self.buffer
    }
}

/// Number of families that share the keys, at least 1.
fn shares(b: &Benchmark) -> u64 {
    u64::from(b.families.max(1))
}

/// Values: slices of pools of at least 1 MiB made of 100-byte pieces of which `ratio` is random, as db_bench makes them.
///
/// There are several pools with different contents: one for the load, where key `i` gets slice `i`, and some for the iterations in turn,
/// from which a writer takes one slice after another. So a value read tells whether it was written, and about when.
#[derive(Debug)]
pub struct Values {
    bytes: Vec<u8>,
    size: usize,
    /// Slices of a pool.
    slices: usize,
    /// Hash of each slice -> pools that hold it, as bits; made when it is first needed.
    origins: OnceLock<HashMap<u64, u8>>,
}

/// One for the load, the others for iterations in turn. As long as overwritten values come from another pool, a lost write is seen.
const POOLS: usize = 4;

/// The pool of a generation.
fn pool(generation: u64) -> usize {
    if generation == 0 { 0 } else { 1 + ((generation - 1) % (POOLS as u64 - 1)) as usize }
}

fn hash(value: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(value);
    hasher.finish()
}

impl Values {
    /// The pools of `b` for `seed`.
    pub fn new(b: &Benchmark, seed: u64) -> Self {
        const PIECE: usize = 100;
        let size = b.value_size as usize;
        let slices = (1usize << 20).div_ceil(size).max(2);
        let mut rng = Rng::new(seed ^ 0x5EED_0F7A_1C0D_E5A1);
        let random = ((PIECE as f64 * b.ratio).round() as usize).clamp(1, PIECE);
        let total = size * slices * POOLS;
        let mut bytes = Vec::with_capacity(total + PIECE);
        let mut piece = [0u8; PIECE];
        while bytes.len() < total {
            piece[..random].fill_with(|| (rng.draw() >> 32) as u8);
            for i in random..PIECE {
                piece[i] = piece[i - random];
            }
            bytes.extend_from_slice(&piece);
        }
        bytes.truncate(total);
        Values { bytes, size, slices, origins: OnceLock::new() }
    }

    fn slice(&self, number: usize) -> &[u8] {
        &self.bytes[number * self.size..(number + 1) * self.size]
    }

    /// The value that the load gives key `index`.
    pub fn loaded(&self, index: u64) -> &[u8] {
        self.slice((index % self.slices as u64) as usize)
    }

    /// `value` was written to key `index` in one of `generations` (0: the load).
    fn is_of(&self, value: &[u8], index: u64, generations: &RangeInclusive<u64>) -> bool {
        if *generations.start() == 0 && value == self.loaded(index) {
            return true;
        }
        // A writer does not remember which key got which slice; which pool it was from is known.
        let written = (*generations.start()).max(1)..=*generations.end();
        let pools = written.take(POOLS).fold(0u8, |bits, g| bits | 1 << pool(g));
        if pools == 0 {
            return false;
        }
        let origins = self.origins.get_or_init(|| {
            let mut origins = HashMap::new();
            for number in 0..self.slices * POOLS {
                *origins.entry(hash(self.slice(number))).or_insert(0) |= 1 << (number / self.slices);
            }
            origins
        });
        origins.get(&hash(value)).is_some_and(|from| from & pools != 0)
    }
}

/// The next value, and the next.
#[derive(Clone, Debug)]
struct Supply<'a> {
    values: &'a Values,
    /// First slice of the pool, and the one behind its last.
    pool: (usize, usize),
    next: usize,
}

impl<'a> Supply<'a> {
    fn new(values: &'a Values, generation: u64) -> Self {
        let first = pool(generation) * values.slices;
        Supply { values, pool: (first, first + values.slices), next: first }
    }

    fn take(&mut self) -> &'a [u8] {
        let value = self.values.slice(self.next);
        self.next += 1;
        if self.next == self.pool.1 {
            self.next = self.pool.0;
        }
        value
    }
}

/// What was done since the last reset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Operations.
    pub ops: u64,
    /// Calls of the engine, where they are not operations.
    pub calls: u64,
    /// Operations that found what they looked for.
    pub found: u64,
    /// Operations that had to find something.
    pub expected: u64,
    /// Key and value bytes of what was found or written.
    pub bytes: u64,
    /// Bytes that `found` must have moved, where it is known.
    pub expected_bytes: u64,
}

impl Tally {
    /// Adds `other`.
    pub fn add(&mut self, other: &Tally) {
        self.ops += other.ops;
        self.calls += other.calls;
        self.found += other.found;
        self.expected += other.expected;
        self.bytes += other.bytes;
        self.expected_bytes += other.expected_bytes;
    }
}

/// What a value that is read may be.
#[derive(Clone, Debug)]
pub enum Known<'a> {
    /// Written by us from this pool, in one of these generations.
    Values(&'a Values, RangeInclusive<u64>),
    /// Of a database that somebody else made.
    Nothing,
}

impl Known<'_> {
    fn check(&self, index: u64, value: &[u8]) -> Result<(), String> {
        match self {
            Known::Values(values, generations) if !values.is_of(value, index, generations) => {
                Err(format!("key {index} holds {} bytes that were not written there", value.len()))
            }
            _ => Ok(()),
        }
    }
}

/// Keys whose content is looked at after each iteration by each thread.
const CHECKED: usize = 32;

/// Something that is done over and over.
pub trait Operation {
    /// Once. May do nothing when it has to wait.
    ///
    /// # Errors
    /// The engine's.
    fn call(&mut self) -> engine::Result<()>;

    /// What was done since [`Operation::start`].
    fn tally(&self) -> &Tally;

    /// A new iteration begins, which writes values of `generation`.
    fn start(&mut self, generation: u64);

    /// Repeats the first calls of the iteration, off the clock, and looks at what they read or wrote.
    ///
    /// # Errors
    /// What is wrong with which key.
    fn check(&mut self, known: &Known<'_>) -> Result<(), String>;
}

/// The found and missing keys of an iteration are what they had to be.
///
/// # Errors
/// What is missing.
pub fn check_tally(op: &str, t: &Tally) -> Result<(), String> {
    if t.found != t.expected {
        return Err(format!("{op}: found {} of {} keys that exist", t.found, t.expected));
    }
    if t.expected_bytes != 0 && t.bytes != t.expected_bytes {
        return Err(format!("{op}: read {} bytes, expected {}", t.bytes, t.expected_bytes));
    }
    Ok(())
}

/// The way a value is read.
pub trait Way {
    /// Reads through `session`.
    ///
    /// # Errors
    /// The engine's.
    fn read<S: Session, R>(
        session: &mut S,
        family: u32,
        key: &[u8],
        read: impl FnOnce(&[u8]) -> R,
    ) -> engine::Result<Option<R>>;
}

/// Copied to fresh memory.
#[derive(Debug)]
pub struct Fresh;
/// Pinned where it is.
#[derive(Debug)]
pub struct Pinned;
/// Copied into a reused buffer.
#[derive(Debug)]
pub struct Into;

impl Way for Fresh {
    fn read<S: Session, R>(
        session: &mut S,
        family: u32,
        key: &[u8],
        read: impl FnOnce(&[u8]) -> R,
    ) -> engine::Result<Option<R>> {
        session.get(family, key, read)
    }
}

impl Way for Pinned {
    fn read<S: Session, R>(
        session: &mut S,
        family: u32,
        key: &[u8],
        read: impl FnOnce(&[u8]) -> R,
    ) -> engine::Result<Option<R>> {
        session.get_pinned(family, key, read)
    }
}

impl Way for Into {
    fn read<S: Session, R>(
        session: &mut S,
        family: u32,
        key: &[u8],
        read: impl FnOnce(&[u8]) -> R,
    ) -> engine::Result<Option<R>> {
        session.get_into(family, key, read)
    }
}

/// `get`, `get-pinned`, `get-into`.
#[derive(Debug)]
pub struct Lookup<S, W> {
    session: S,
    keys: Keys,
    indexes: Indexes,
    first: Indexes,
    /// Key and value; 0 where values are of unknown size.
    entry_size: u64,
    tally: Tally,
    way: std::marker::PhantomData<W>,
}

impl<S: Session, W: Way> Lookup<S, W> {
    /// Lookups of one thread; `known` when the database was loaded by us.
    pub fn new(session: S, b: &Benchmark, indexes: Indexes, known: bool) -> Self {
        let entry_size = if known { u64::from(b.key_size) + u64::from(b.value_size) } else { 0 };
        Lookup {
            session,
            keys: Keys::new(b),
            first: indexes.clone(),
            indexes,
            entry_size,
            tally: Tally::default(),
            way: std::marker::PhantomData,
        }
    }
}

impl<S: Session, W: Way> Operation for Lookup<S, W> {
    #[inline]
    fn call(&mut self) -> engine::Result<()> {
        let (index, exists) = self.indexes.ask();
        let family = self.keys.set(index);
        let len = W::read(&mut self.session, family, self.keys.bytes(), |v| black_box(v).len())?;
        let t = &mut self.tally;
        t.ops += 1;
        t.expected += u64::from(exists);
        if let Some(len) = len {
            t.found += 1;
            t.bytes += (self.keys.bytes().len() + len) as u64;
            t.expected_bytes += self.entry_size;
        }
        Ok(())
    }

    fn tally(&self) -> &Tally {
        &self.tally
    }

    fn start(&mut self, _generation: u64) {
        self.first = self.indexes.clone();
        self.tally = Tally::default();
    }

    fn check(&mut self, known: &Known<'_>) -> Result<(), String> {
        let mut again = self.first.clone();
        for _ in 0..CHECKED {
            let (index, exists) = again.ask();
            let family = self.keys.set(index);
            let found = W::read(&mut self.session, family, self.keys.bytes(), |v| known.check(index, v))
                .map_err(|e| e.to_string())?;
            match found {
                Some(_) if !exists => return Err(format!("key {index} was found, but never written")),
                Some(checked) => checked?,
                None if exists => return Err(format!("key {index} was not found")),
                None => {}
            }
        }
        Ok(())
    }
}

/// `put`.
#[derive(Debug)]
pub struct Put<'a, S> {
    session: S,
    keys: Keys,
    indexes: Indexes,
    first: Indexes,
    supply: Supply<'a>,
    tally: Tally,
}

impl<'a, S: Session> Put<'a, S> {
    /// Puts of one thread.
    pub fn new(session: S, b: &Benchmark, mut indexes: Indexes, values: &'a Values) -> Self {
        indexes.hit = None;
        Put {
            session,
            keys: Keys::new(b),
            first: indexes.clone(),
            indexes,
            supply: Supply::new(values, 0),
            tally: Tally::default(),
        }
    }
}

impl<S: Session> Operation for Put<'_, S> {
    #[inline]
    fn call(&mut self) -> engine::Result<()> {
        let (index, _) = self.indexes.ask();
        let family = self.keys.set(index);
        let value = self.supply.take();
        self.session.put(family, self.keys.bytes(), value)?;
        let t = &mut self.tally;
        t.ops += 1;
        t.found += 1;
        t.expected += 1;
        t.bytes += (self.keys.bytes().len() + value.len()) as u64;
        Ok(())
    }

    fn tally(&self) -> &Tally {
        &self.tally
    }

    fn start(&mut self, generation: u64) {
        self.supply = Supply::new(self.supply.values, generation);
        self.first = self.indexes.clone();
        self.tally = Tally::default();
    }

    fn check(&mut self, known: &Known<'_>) -> Result<(), String> {
        let mut again = self.first.clone();
        for _ in 0..self.tally.ops.min(CHECKED as u64) {
            let (index, _) = again.ask();
            let family = self.keys.set(index);
            match self.session.get_pinned(family, self.keys.bytes(), |v| known.check(index, v)) {
                Err(e) => return Err(e.to_string()),
                Ok(None) => return Err(format!("key {index} was written, but not found")),
                Ok(Some(checked)) => checked.map_err(|e| format!("{e} by the last iteration"))?,
            }
        }
        Ok(())
    }
}

/// `multiget`.
#[derive(Debug)]
pub struct MultiLookup<S> {
    session: S,
    batch: Batch,
    /// Index of each key of the batch, and whether it exists.
    asked: Vec<(u64, bool)>,
    /// All keys of a batch are in one family.
    one_family: bool,
    shares: u64,
    indexes: Indexes,
    first: Indexes,
    entry_size: u64,
    tally: Tally,
}

impl<S: Session> MultiLookup<S> {
    /// Batches of one thread; `known` when the database was loaded by us.
    pub fn new(session: S, b: &Benchmark, indexes: Indexes, known: bool) -> Self {
        let len = b.batch as usize;
        let mut batch = Batch::new(len, b.key_size as usize);
        batch.iter_mut().for_each(|(_, key)| key.fill(b'0'));
        MultiLookup {
            session,
            batch,
            asked: vec![(0, false); len],
            one_family: b.multi_get == MultiGet::Batched,
            shares: shares(b),
            first: indexes.clone(),
            indexes,
            entry_size: if known { u64::from(b.key_size) + u64::from(b.value_size) } else { 0 },
            tally: Tally::default(),
        }
    }

    fn fill(&mut self) {
        let mut home = None;
        for ((family, key), asked) in self.batch.iter_mut().zip(&mut self.asked) {
            let (mut index, exists) = self.indexes.ask();
            if self.shares > 1 {
                if self.one_family {
                    let home = *home.get_or_insert(index % self.shares);
                    // The nearest index of that family on the same side of the border between keys and no keys.
                    index = index - index % self.shares + home;
                    if exists && index >= self.indexes.keys {
                        index -= self.shares;
                    } else if !exists && index < self.indexes.keys {
                        index += self.shares;
                    }
                }
                *family = (index % self.shares) as u32;
            }
            write_index(key, index);
            *asked = (index, exists);
        }
    }
}

impl<S: Session> Operation for MultiLookup<S> {
    #[inline]
    fn call(&mut self) -> engine::Result<()> {
        self.fill();
        let t = &mut self.tally;
        let key_size = self.batch.iter().next().map_or(0, |(_, k)| k.len());
        let entry_size = self.entry_size;
        self.session.multi_get(&self.batch, |_, value| {
            if let Some(value) = value {
                t.found += 1;
                t.bytes += (key_size + black_box(value).len()) as u64;
                t.expected_bytes += entry_size;
            }
        })?;
        t.calls += 1;
        t.ops += self.asked.len() as u64;
        t.expected += self.asked.iter().filter(|(_, exists)| *exists).count() as u64;
        Ok(())
    }

    fn tally(&self) -> &Tally {
        &self.tally
    }

    fn start(&mut self, _generation: u64) {
        self.first = self.indexes.clone();
        self.tally = Tally::default();
    }

    fn check(&mut self, known: &Known<'_>) -> Result<(), String> {
        let now = std::mem::replace(&mut self.indexes, self.first.clone());
        self.fill();
        self.indexes = now;
        let mut answer = Ok(());
        let asked = &self.asked;
        self.session
            .multi_get(&self.batch, |i, value| {
                let (index, exists) = asked.get(i).copied().unwrap_or_default();
                let this = match value {
                    Some(_) if !exists => Err(format!("key {index} was found, but never written")),
                    Some(value) => known.check(index, value),
                    None if exists => Err(format!("key {index} was not found")),
                    None => Ok(()),
                };
                if answer.is_ok() {
                    answer = this;
                }
            })
            .map_err(|e| e.to_string())?;
        answer
    }
}

/// `fwdrange`, `revrange`.
#[derive(Debug)]
pub struct Scan<S> {
    session: S,
    keys: Keys,
    shares: u64,
    indexes: Indexes,
    first: Indexes,
    steps: u32,
    backwards: bool,
    /// Indexes rise along the walk.
    ascending: bool,
    /// Key and value; 0 where values are of unknown size.
    entry_size: u64,
    tally: Tally,
}

impl<S: Session> Scan<S> {
    /// Walks of one thread; `known` when the database was loaded by us.
    pub fn new(session: S, b: &Benchmark, indexes: Indexes, backwards: bool, known: bool) -> Self {
        Scan {
            session,
            keys: Keys::new(b),
            shares: shares(b),
            first: indexes.clone(),
            indexes,
            steps: b.nexts,
            backwards,
            ascending: backwards == b.comparator.is_reverse(),
            entry_size: if known { u64::from(b.key_size) + u64::from(b.value_size) } else { 0 },
            tally: Tally::default(),
        }
    }

    /// Entries that a walk from `index` must see.
    fn entries(&self, index: u64) -> u64 {
        let place = index / self.shares;
        let in_family = (self.indexes.keys - index % self.shares).div_ceil(self.shares);
        let ahead = if self.ascending { in_family - place } else { place + 1 };
        ahead.min(u64::from(self.steps))
    }
}

impl<S: Session> Operation for Scan<S> {
    #[inline]
    fn call(&mut self) -> engine::Result<()> {
        let (index, _) = self.indexes.ask();
        let family = self.keys.set(index);
        let t = &mut self.tally;
        let key = self.keys.bytes();
        // The first entry must be the key itself.
        let mut landed = None;
        let seen = self.session.scan(family, key, self.steps, self.backwards, |k, v| {
            landed.get_or_insert_with(|| k == key);
            t.bytes += (black_box(k).len() + black_box(v).len()) as u64;
        })?;
        t.ops += 1;
        t.expected += 1;
        t.expected_bytes += u64::from(seen) * self.entry_size;
        let complete = landed == Some(true) && u64::from(seen) == self.entries(index);
        self.tally.found += u64::from(complete);
        Ok(())
    }

    fn tally(&self) -> &Tally {
        &self.tally
    }

    fn start(&mut self, _generation: u64) {
        self.first = self.indexes.clone();
        self.tally = Tally::default();
    }

    fn check(&mut self, known: &Known<'_>) -> Result<(), String> {
        let mut again = self.first.clone();
        let mut wanted_key = self.keys.clone();
        for _ in 0..CHECKED {
            let (index, _) = again.ask();
            let family = self.keys.set(index);
            let (ascending, shares) = (self.ascending, self.shares);
            let mut at = Some(index);
            let mut answer = Ok(());
            self.session
                .scan(family, self.keys.bytes(), self.steps, self.backwards, |key, value| {
                    let Some(wanted) = at else { return };
                    wanted_key.set(wanted);
                    if key != wanted_key.bytes() {
                        answer = Err(format!("a walk from key {index} came to another key than {wanted}"));
                        at = None;
                        return;
                    }
                    if let Err(e) = known.check(wanted, value) {
                        answer = Err(e);
                        at = None;
                        return;
                    }
                    at = if ascending { wanted.checked_add(shares) } else { wanted.checked_sub(shares) };
                })
                .map_err(|e| e.to_string())?;
            answer?;
        }
        Ok(())
    }
}

/// An operation that keeps to a rate of bytes a second. The only one that looks at a clock.
#[derive(Debug)]
pub struct Paced<O> {
    inner: O,
    /// Bytes a second, above 0.
    rate: f64,
    started: Instant,
    /// Bytes up to which the clock need not be asked.
    free: u64,
}

impl<O> Paced<O> {
    /// `inner` at `rate` bytes a second.
    pub fn new(inner: O, rate: u64) -> Self {
        Paced { inner, rate: (rate as f64).max(1.0), started: Instant::now(), free: 0 }
    }
}

impl<O: Operation> Operation for Paced<O> {
    fn call(&mut self) -> engine::Result<()> {
        // Short naps, so that the end of an iteration is seen.
        const NAP: Duration = Duration::from_millis(10);
        let sent = self.inner.tally().bytes;
        if sent >= self.free {
            let due = sent as f64 / self.rate;
            let elapsed = self.started.elapsed().as_secs_f64();
            if elapsed < due {
                std::thread::sleep(NAP.min(Duration::from_secs_f64(due - elapsed)));
                return Ok(());
            }
            // What the rate allows until a nap later.
            self.free = ((elapsed + NAP.as_secs_f64()) * self.rate) as u64;
        }
        self.inner.call()
    }

    fn tally(&self) -> &Tally {
        self.inner.tally()
    }

    fn start(&mut self, generation: u64) {
        self.inner.start(generation);
        self.started = Instant::now();
        self.free = 0;
    }

    fn check(&mut self, known: &Known<'_>) -> Result<(), String> {
        self.inner.check(known)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runner::engine::{Comparator, Database, Engine, MemoryDb, MemoryEngine, WriteMode};
    use crate::runner::fork::open_options;
    use crate::runner::spec::Op;

    #[test]
    fn random_numbers_are_spread_and_repeatable() {
        let draw = |seed| {
            let mut rng = Rng::new(seed);
            (0..10_000).map(|_| rng.below(10)).collect::<Vec<u64>>()
        };
        let mut counts = [0u32; 10];
        for n in draw(42) {
            counts[n as usize] += 1;
        }
        // 1000 each; the standard deviation is 30.
        assert!(counts.iter().all(|&c| (880..1120).contains(&c)), "{counts:?}");
        assert_eq!(draw(42), draw(42));
        assert_ne!(draw(42), draw(43));
    }

    #[test]
    fn keys_are_in_index_order_and_padded() {
        let mut keys = Keys::new(&Benchmark { key_size: 12, families: 20, ..Benchmark::new(Op::Get) });
        assert_eq!(keys.set(0x0102), 0x0102 % 20);
        assert_eq!(keys.bytes(), b"\0\0\0\0\0\0\x01\x020000");
        let mut short = Keys::new(&Benchmark { key_size: 3, ..Benchmark::new(Op::Get) });
        assert_eq!(short.set(0x010203), 0);
        assert_eq!(short.bytes(), [1, 2, 3]);
    }

    #[test]
    fn sequential_threads_share_the_keys_without_gap_or_overlap() {
        let b = Benchmark { keys: 10, order: Order::Seq, ..Benchmark::new(Op::Put) };
        let mut all = Vec::new();
        for thread in 0..3 {
            let mut i = Indexes::new(&b, 1, thread, 3);
            let len = i.range_len();
            let mine: Vec<u64> = (0..len).map(|_| i.ask().0).collect();
            assert_eq!(i.ask().0, mine[0], "starts again");
            all.extend(mine);
        }
        assert_eq!(all, (0..10).collect::<Vec<u64>>());
    }

    #[test]
    fn hit_rate_is_the_share_of_existing_keys() {
        for (rate, low, high) in [(0.0, 0, 0), (0.25, 2300, 2700), (1.0, 10_000, 10_000)] {
            let b = Benchmark { keys: 100, hit_rate: rate, ..Benchmark::new(Op::Get) };
            let mut i = Indexes::new(&b, 7, 0, 1);
            let hits = (0..10_000)
                .filter(|_| {
                    let (index, exists) = i.ask();
                    assert_eq!(exists, index < 100);
                    exists
                })
                .count();
            assert!((low..=high).contains(&hits), "{rate}: {hits}");
        }
    }

    #[test]
    fn values_compress_to_about_their_ratio_and_differ_by_generation() {
        for (ratio, low, high) in [(0.1, 0.0, 0.35), (0.5, 0.4, 0.75), (1.0, 0.95, 1.1)] {
            let b = Benchmark { ratio, value_size: 400, ..Benchmark::new(Op::Put) };
            let values = Values::new(&b, 42);
            assert!(values.slices * values.size >= 1 << 20);
            let mut zip = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::fast());
            std::io::Write::write_all(&mut zip, &values.bytes).unwrap();
            let got = zip.finish().unwrap().len() as f64 / values.bytes.len() as f64;
            assert!((low..high).contains(&got), "{ratio}: {got}");
        }
        for value_size in [1 << 21, 100, 8] {
            let b = Benchmark { value_size, ..Benchmark::new(Op::Put) };
            let values = Values::new(&b, 42);
            assert_eq!(values.loaded(5).len(), value_size as usize);
            assert_ne!(values.loaded(5), values.loaded(6));
            assert!(values.is_of(values.loaded(5), 5, &(0..=0)) && !values.is_of(values.loaded(5), 6, &(0..=0)));
            for generation in 1..10 {
                let mut supply = Supply::new(&values, generation);
                let value = supply.take();
                assert!(values.is_of(value, 5, &(generation..=generation)));
                assert!(values.is_of(value, 5, &(0..=generation)) && values.is_of(value, 5, &(0..=100)));
                assert!(!values.is_of(value, 5, &(0..=generation - 1)) || generation > 3, "{generation}");
                assert!(!values.is_of(value, 5, &(generation + 1..=generation + 1)));
                assert!(!values.is_of(values.loaded(5), 5, &(generation..=generation)));
                assert!((0..values.slices).all(|_| !values.is_of(supply.take(), 5, &(0..=0))));
                assert_eq!(value, Supply::new(&values, generation).take(), "from the start again");
            }
            assert!(!values.is_of(b"never written", 5, &(0..=100)));
        }
    }

    fn memory(b: &Benchmark) -> MemoryDb {
        MemoryEngine.open(&open_options(b, std::path::Path::new("unused"))).unwrap()
    }

    const MODE: WriteMode = WriteMode { wal: true, sync: false };

    fn load(db: &MemoryDb, b: &Benchmark, values: &Values, count: u64) {
        let mut keys = Keys::new(b);
        let mut session = db.session(MODE, None).unwrap();
        for index in 0..count {
            let family = keys.set(index);
            session.put(family, keys.bytes(), values.loaded(index)).unwrap();
        }
    }

    #[test]
    fn every_read_workload_finds_all_and_notices_a_lost_key() {
        for op in [Op::Get, Op::GetPinned, Op::GetInto, Op::MultiGet, Op::FwdRange, Op::RevRange] {
            for families in [0, 1, 3] {
                for comparator in [Comparator::Bytewise, Comparator::Reverse] {
                    for multi_get in [MultiGet::Plain, MultiGet::Batched] {
                        let b = Benchmark { families, keys: 100, comparator, multi_get, ..Benchmark::new(op) };
                        let values = Values::new(&b, 1);
                        // A third of the keys is missing in the second round.
                        for count in [100, 67] {
                            let db = memory(&b);
                            load(&db, &b, &values, count);
                            let session = db.session(MODE, Some(multi_get)).unwrap();
                            let indexes = Indexes::new(&b, 9, 0, 1);
                            let known = Known::Values(&values, 0..=0);
                            let (tally, check) = match op {
                                Op::Get => drive(Lookup::<_, Fresh>::new(session, &b, indexes, true), &known),
                                Op::GetPinned => drive(Lookup::<_, Pinned>::new(session, &b, indexes, true), &known),
                                Op::GetInto => drive(Lookup::<_, Into>::new(session, &b, indexes, true), &known),
                                Op::MultiGet => drive(MultiLookup::new(session, &b, indexes, true), &known),
                                _ => drive(Scan::new(session, &b, indexes, op == Op::RevRange, true), &known),
                            };
                            let counted = check_tally("x", &tally);
                            if count == 100 {
                                assert_eq!((counted, check), (Ok(()), Ok(())), "{op:?} {families} {comparator:?}");
                            } else {
                                assert!(counted.is_err(), "{op:?} {families} {comparator:?} {tally:?}");
                            }
                        }
                    }
                }
            }
        }
    }

    fn drive<O: Operation>(mut op: O, known: &Known<'_>) -> (Tally, Result<(), String>) {
        op.start(1);
        for _ in 0..500 {
            op.call().unwrap();
        }
        (*op.tally(), op.check(known))
    }

    #[test]
    fn hit_rate_below_one_is_what_is_found() {
        for op in [Op::Get, Op::MultiGet] {
            for families in [0, 7] {
                for multi_get in [MultiGet::Plain, MultiGet::Batched] {
                    let b = Benchmark { families, keys: 100, hit_rate: 0.5, multi_get, ..Benchmark::new(op) };
                    let values = Values::new(&b, 1);
                    let db = memory(&b);
                    load(&db, &b, &values, 100);
                    let session = db.session(MODE, Some(multi_get)).unwrap();
                    let indexes = Indexes::new(&b, 9, 0, 1);
                    let known = Known::Values(&values, 0..=0);
                    let (tally, check) = match op {
                        Op::Get => drive(Lookup::<_, Fresh>::new(session, &b, indexes, true), &known),
                        _ => drive(MultiLookup::new(session, &b, indexes, true), &known),
                    };
                    assert_eq!((check_tally("x", &tally), check), (Ok(()), Ok(())));
                    let share = tally.found as f64 / tally.ops as f64;
                    assert!((0.4..0.6).contains(&share), "{share}");
                }
            }
        }
    }

    #[test]
    fn wrong_values_and_lost_overwrites_are_noticed() {
        let b = Benchmark { keys: 100, ..Benchmark::new(Op::Put) };
        let values = Values::new(&b, 1);
        let db = memory(&b);
        load(&db, &b, &values, 100);
        let mut put = Put::new(db.session(MODE, None).unwrap(), &b, Indexes::new(&b, 3, 0, 1), &values);
        put.start(1);
        for _ in 0..50 {
            put.call().unwrap();
        }
        assert_eq!(put.check(&Known::Values(&values, 1..=1)), Ok(()));
        // As if the store had lost the writes: the old values come back.
        load(&db, &b, &values, 100);
        let error = put.check(&Known::Values(&values, 1..=1)).unwrap_err();
        assert!(error.contains("not written there by the last iteration"), "{error}");
        // And a reader notices bytes that nobody wrote.
        let mut session = db.session(MODE, None).unwrap();
        let mut keys = Keys::new(&b);
        for index in 0..100 {
            keys.set(index);
            session.put(0, keys.bytes(), &[0; 100]).unwrap();
        }
        let mut get = Lookup::<_, Pinned>::new(session, &b, Indexes::new(&b, 3, 0, 1), true);
        get.start(1);
        assert!(get.check(&Known::Values(&values, 0..=1)).is_err());
        assert_eq!(get.check(&Known::Nothing), Ok(()));
    }

    #[test]
    fn a_paced_writer_keeps_its_rate() {
        let b = Benchmark { keys: 100, ..Benchmark::new(Op::Put) };
        let values = Values::new(&b, 1);
        let db = memory(&b);
        let put = Put::new(db.session(MODE, None).unwrap(), &b, Indexes::new(&b, 3, 0, 1), &values);
        let mut paced = Paced::new(put, 1 << 20);
        paced.start(1);
        let start = Instant::now();
        while start.elapsed() < Duration::from_millis(300) {
            paced.call().unwrap();
        }
        let rate = paced.tally().bytes as f64 / start.elapsed().as_secs_f64();
        // Never above; below only as far as a busy machine wakes it late.
        assert!(rate < 1.15 * f64::from(1 << 20), "{rate}");
        assert!(rate > 0.3 * f64::from(1 << 20), "{rate}");
    }
}
