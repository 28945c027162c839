//! RocksDB through its C API: safe wrappers, each with the lifetime of what it is made from.
//!
//! Every `unsafe` block calls a function of the C API. Common to all of them: the function pointer comes from the library that made the
//! objects (one [`Library`] per process, never unloaded), handles are non-null and live as long as their owner here, slices are passed as
//! pointer and length and are only read during the call.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::Path;
use std::ptr::{self, NonNull};

use super::bindings::{
    rocksdb_block_based_table_options_t, rocksdb_cache_t, rocksdb_column_family_handle_t, rocksdb_comparator_t,
    rocksdb_iterator_t, rocksdb_options_t, rocksdb_pinnableslice_t, rocksdb_readoptions_t, rocksdb_t,
    rocksdb_writeoptions_t,
};
use super::library::{Library, function};
use super::{
    Access, Batch, Cache, Comparator, Compression, Database, Engine, Error, Facts, MultiGet, OpenOptions, Result,
    Session, WRITE_BUFFER, WriteMode, family_name, read_log,
};

/// A thing of the C API with its destroying function.
struct Owned<T> {
    raw: NonNull<T>,
    destroy: unsafe extern "C" fn(*mut T),
}

impl<T> Owned<T> {
    /// `raw` must come from a constructor of which `destroy` is the counterpart, and nobody else may destroy it.
    fn new(raw: *mut T, destroy: unsafe extern "C" fn(*mut T), what: &str) -> Result<Self> {
        match NonNull::new(raw) {
            Some(raw) => Ok(Owned { raw, destroy }),
            None => Err(Error::Status(format!("RocksDB made no {what}"))),
        }
    }

    fn as_ptr(&self) -> *mut T {
        self.raw.as_ptr()
    }
}

impl<T> Drop for Owned<T> {
    fn drop(&mut self) {
        // SAFETY: `raw` was made by the constructor that belongs to `destroy` (see `new`), and is destroyed here only.
        unsafe { (self.destroy)(self.raw.as_ptr()) }
    }
}

fn c_path(path: &Path) -> Result<CString> {
    #[cfg(unix)]
    let bytes = std::os::unix::ffi::OsStrExt::as_bytes(path.as_os_str()).to_vec();
    #[cfg(not(unix))]
    let bytes = path.to_string_lossy().into_owned().into_bytes();
    CString::new(bytes).map_err(|_| Error::File {
        path: path.display().to_string(),
        message: "a path cannot hold a NUL byte".to_owned(),
    })
}

fn c_text(text: &str) -> Result<CString> {
    CString::new(text).map_err(|_| Error::Status("an option cannot hold a NUL byte".to_owned()))
}

// Comparators that RocksDB calls back. They are called from many threads at once and keep no state; they do not unwind: comparing slices
// cannot panic.

unsafe extern "C" fn compare_bytewise(
    _: *mut c_void,
    a: *const c_char,
    a_len: usize,
    b: *const c_char,
    b_len: usize,
) -> c_int {
    // SAFETY: RocksDB passes two keys of the given lengths that it keeps alive during the call.
    let (a, b) = unsafe { (bytes(a, a_len), bytes(b, b_len)) };
    a.cmp(b) as c_int
}

unsafe extern "C" fn compare_reverse(
    _: *mut c_void,
    a: *const c_char,
    a_len: usize,
    b: *const c_char,
    b_len: usize,
) -> c_int {
    // SAFETY: as in `compare_bytewise`.
    let (a, b) = unsafe { (bytes(a, a_len), bytes(b, b_len)) };
    b.cmp(a) as c_int
}

unsafe extern "C" fn name_bytewise(_: *mut c_void) -> *const c_char {
    c"abstat.bytewise.cb".as_ptr()
}

unsafe extern "C" fn name_reverse(_: *mut c_void) -> *const c_char {
    c"abstat.reverse.cb".as_ptr()
}

unsafe extern "C" fn destroy_nothing(_: *mut c_void) {}

/// The bytes at `data`.
///
/// # Safety
/// `data` points at `len` initialised bytes that stay unchanged for `'a`, or `len` is 0.
unsafe fn bytes<'a>(data: *const c_char, len: usize) -> &'a [u8] {
    if len == 0 || data.is_null() {
        return &[];
    }
    // SAFETY: the caller's promise; c_char and u8 have the same layout.
    unsafe { std::slice::from_raw_parts(data.cast(), len) }
}

/// RocksDB of one library.
#[derive(Clone, Copy, Debug)]
pub struct RocksEngine {
    library: &'static Library,
}

impl RocksEngine {
    /// An engine on a loaded library.
    pub fn new(library: &'static Library) -> Self {
        RocksEngine { library }
    }
}

/// Options and what they point at; must outlive the database.
struct Settings {
    options: Owned<rocksdb_options_t>,
    // Dropped after the options that point at it: fields drop in order.
    _comparator: Option<Owned<rocksdb_comparator_t>>,
}

impl RocksEngine {
    /// `rocksdb_options_create` with a typed setter for all that is set.
    fn options(&self, o: &OpenOptions) -> Result<Settings> {
        let lib = self.library;
        let create = function!(lib, rocksdb_options_create, "anything")?;
        let destroy = function!(lib, rocksdb_options_destroy, "anything")?;
        // SAFETY: a constructor without arguments.
        let mut options = Owned::new(unsafe { create() }, destroy, "options")?;
        let flag = |on: bool| u8::from(on);
        {
            let raw = options.as_ptr();
            let create_if_missing = function!(lib, rocksdb_options_set_create_if_missing, "a new database")?;
            let create_families =
                function!(lib, rocksdb_options_set_create_missing_column_families, "column families")?;
            let error_if_exists = function!(lib, rocksdb_options_set_error_if_exists, "a new database")?;
            let max_open_files = function!(lib, rocksdb_options_set_max_open_files, "anything")?;
            let write_buffer = function!(lib, rocksdb_options_set_write_buffer_size, "anything")?;
            let new = o.access == Access::Create;
            let write_buffer_size = usize::try_from(WRITE_BUFFER).unwrap_or(usize::MAX);
            // SAFETY: setters of plain values on options that we own.
            unsafe {
                create_if_missing(raw, flag(new));
                create_families(raw, flag(new));
                error_if_exists(raw, flag(new));
                max_open_files(raw, -1);
                write_buffer(raw, write_buffer_size);
            }
            if o.direct {
                let reads = function!(lib, rocksdb_options_set_use_direct_reads, "direct I/O")?;
                let writes = function!(lib, rocksdb_options_set_use_direct_io_for_flush_and_compaction, "direct I/O")?;
                // SAFETY: as above.
                unsafe {
                    reads(raw, 1);
                    writes(raw, 1);
                }
            }
            if let Some(dir) = &o.log_dir {
                let set = function!(lib, rocksdb_options_set_db_log_dir, "a database that is only read")?;
                let dir = c_path(dir)?;
                // SAFETY: the string is copied.
                unsafe { set(raw, dir.as_ptr()) };
            }
            let compression = match o.compression {
                Compression::Default => None,
                Compression::None => Some(0),
                Compression::Snappy => Some(1),
                Compression::Zlib => Some(2),
                Compression::Lz4 => Some(4),
                Compression::Lz4hc => Some(5),
                Compression::Zstd => Some(7),
            };
            if let Some(compression) = compression {
                let set = function!(lib, rocksdb_options_set_compression, "a chosen compression")?;
                // SAFETY: a plain value.
                unsafe { set(raw, compression) };
            }
        }
        self.set_table(&options, o)?;
        if o.bloom_bits > 0 {
            // Not through rocksdb_filterpolicy_create_bloom: its argument was an int up to 6.x and is a double since.
            let text = format!("block_based_table_factory={{filter_policy=bloomfilter:{}:false}}", o.bloom_bits);
            options = self.with_text(&options, &text)?;
        }
        let mut comparator = None;
        match o.comparator {
            Comparator::Bytewise => {}
            Comparator::Reverse => {
                options = self.with_text(&options, "comparator=rocksdb.ReverseBytewiseComparator")?;
            }
            Comparator::CallbackBytewise => comparator = Some(self.callback(compare_bytewise, name_bytewise)?),
            Comparator::CallbackReverse => comparator = Some(self.callback(compare_reverse, name_reverse)?),
        }
        if let Some(comparator) = &comparator {
            let set = function!(lib, rocksdb_options_set_comparator, "a callback comparator")?;
            // SAFETY: both are alive; `Settings` keeps the comparator until after the options, `RocksDb` both until after the database.
            unsafe { set(options.as_ptr(), comparator.as_ptr()) };
        }
        Ok(Settings { options, _comparator: comparator })
    }

    /// Block size and block cache.
    fn set_table(&self, options: &Owned<rocksdb_options_t>, o: &OpenOptions) -> Result<()> {
        let lib = self.library;
        let create = function!(lib, rocksdb_block_based_options_create, "anything")?;
        let destroy = function!(lib, rocksdb_block_based_options_destroy, "anything")?;
        // SAFETY: a constructor without arguments.
        let table: Owned<rocksdb_block_based_table_options_t> =
            Owned::new(unsafe { create() }, destroy, "table options")?;
        let set_size = function!(lib, rocksdb_block_based_options_set_block_size, "anything")?;
        let size = usize::try_from(o.block_size).unwrap_or(usize::MAX);
        // SAFETY: a plain value.
        unsafe { set_size(table.as_ptr(), size) };
        match self.cache(o)? {
            Some(cache) => {
                let set = function!(lib, rocksdb_block_based_options_set_block_cache, "a block cache")?;
                // SAFETY: the table options take a shared reference to the cache; ours is released when `cache` drops.
                unsafe { set(table.as_ptr(), cache.as_ptr()) };
            }
            None => {
                let set =
                    function!(lib, rocksdb_block_based_options_set_no_block_cache, "running without a block cache")?;
                // SAFETY: a plain value.
                unsafe { set(table.as_ptr(), 1) };
            }
        }
        let set = function!(lib, rocksdb_options_set_block_based_table_factory, "anything")?;
        // SAFETY: the factory copies the table options.
        unsafe { set(options.as_ptr(), table.as_ptr()) };
        Ok(())
    }

    fn cache(&self, o: &OpenOptions) -> Result<Option<Owned<rocksdb_cache_t>>> {
        let lib = self.library;
        let capacity = usize::try_from(o.cache_size).unwrap_or(usize::MAX);
        let raw = match o.cache {
            Cache::None => return Ok(None),
            Cache::Lru => {
                let create = function!(lib, rocksdb_cache_create_lru, "cache=lru")?;
                // SAFETY: a constructor of a plain value.
                unsafe { create(capacity) }
            }
            Cache::Hcc => {
                let create = lib
                    .extra
                    .rocksdb_cache_create_hyper_clock
                    .ok_or_else(|| lib.missing("rocksdb_cache_create_hyper_clock", "cache=hcc"))?;
                // SAFETY: a constructor of plain values. An entry is about a block.
                unsafe { create(capacity, usize::try_from(o.block_size).unwrap_or(usize::MAX)) }
            }
        };
        let destroy = function!(lib, rocksdb_cache_destroy, "a block cache")?;
        Owned::new(raw, destroy, "cache").map(Some)
    }

    /// A copy of `base` with the options of `text`, which all releases have under the same name.
    fn with_text(&self, base: &Owned<rocksdb_options_t>, text: &str) -> Result<Owned<rocksdb_options_t>> {
        let lib = self.library;
        let create = function!(lib, rocksdb_options_create, "anything")?;
        let destroy = function!(lib, rocksdb_options_destroy, "anything")?;
        let parse = function!(lib, rocksdb_get_options_from_string, "options set by name")?;
        // SAFETY: a constructor without arguments.
        let options = Owned::new(unsafe { create() }, destroy, "options")?;
        let text = c_text(text)?;
        // SAFETY: both options are alive; the text is read during the call.
        lib.checked(|error| unsafe { parse(base.as_ptr(), text.as_ptr(), options.as_ptr(), error) })?;
        Ok(options)
    }

    fn callback(
        &self,
        compare: unsafe extern "C" fn(*mut c_void, *const c_char, usize, *const c_char, usize) -> c_int,
        name: unsafe extern "C" fn(*mut c_void) -> *const c_char,
    ) -> Result<Owned<rocksdb_comparator_t>> {
        let lib = self.library;
        let create = function!(lib, rocksdb_comparator_create, "a callback comparator")?;
        let destroy = function!(lib, rocksdb_comparator_destroy, "a callback comparator")?;
        // SAFETY: the state is null and no function looks at it; the functions are `extern "C"`, live for ever and do not unwind.
        let raw = unsafe { create(ptr::null_mut(), Some(destroy_nothing), Some(compare), Some(name)) };
        Owned::new(raw, destroy, "comparator")
    }

    /// Names of the families of the database at `path`.
    fn families_of(&self, settings: &Settings, path: &CStr) -> Result<Vec<CString>> {
        let lib = self.library;
        let list = function!(lib, rocksdb_list_column_families, "opening an existing database")?;
        let destroy = function!(lib, rocksdb_list_column_families_destroy, "opening an existing database")?;
        let mut len = 0usize;
        // SAFETY: options and path are alive; `len` is written before the call returns.
        let names = lib.checked(|error| unsafe { list(settings.options.as_ptr(), path.as_ptr(), &mut len, error) })?;
        let mut out = Vec::with_capacity(len);
        for i in 0..len {
            // SAFETY: the list has `len` NUL-terminated strings; they are copied before the list is destroyed.
            out.push(unsafe { CStr::from_ptr(*names.add(i)) }.to_owned());
        }
        // SAFETY: the list that `list` gave, once.
        unsafe { destroy(names, len) };
        Ok(out)
    }
}

impl Engine for RocksEngine {
    type Db = RocksDb;

    fn open(&self, o: &OpenOptions) -> Result<RocksDb> {
        let lib = self.library;
        let settings = self.options(o)?;
        let path = c_path(&o.path)?;
        let close = function!(lib, rocksdb_close, "anything")?;
        let mut names = Vec::new();
        if o.access == Access::Create {
            if o.families > 0 || o.default_handle {
                names.push(c_text("default")?);
                for i in 0..o.families {
                    names.push(c_text(&family_name(i))?);
                }
            }
        } else {
            names = self.families_of(&settings, &path)?;
            if names.len() == 1 && o.families == 0 && !o.default_handle {
                names.clear();
            }
        }
        let options: *const rocksdb_options_t = settings.options.as_ptr();
        let read_only = o.access == Access::ReadOnly;
        let mut handles: Vec<*mut rocksdb_column_family_handle_t> = vec![ptr::null_mut(); names.len()];
        let raw = if names.is_empty() {
            if read_only {
                let open = function!(lib, rocksdb_open_for_read_only, "a database that is only read")?;
                // SAFETY: options and path are alive during the call, and the options until after the database (`RocksDb` keeps them).
                lib.checked(|error| unsafe { open(options, path.as_ptr(), 0, error) })?
            } else {
                let open = function!(lib, rocksdb_open, "anything")?;
                // SAFETY: as above.
                lib.checked(|error| unsafe { open(options, path.as_ptr(), error) })?
            }
        } else {
            let c_names: Vec<*const c_char> = names.iter().map(|n| n.as_ptr()).collect();
            let c_options = vec![options; names.len()];
            let count = c_int::try_from(names.len()).unwrap_or(c_int::MAX);
            if read_only {
                let open = function!(lib, rocksdb_open_for_read_only_column_families, "a database that is only read")?;
                // SAFETY: three arrays of `count` entries each, alive during the call; the handles are written before it returns.
                lib.checked(|error| unsafe {
                    open(
                        options,
                        path.as_ptr(),
                        count,
                        c_names.as_ptr(),
                        c_options.as_ptr(),
                        handles.as_mut_ptr(),
                        0,
                        error,
                    )
                })?
            } else {
                let open = function!(lib, rocksdb_open_column_families, "column families")?;
                // SAFETY: as above.
                lib.checked(|error| unsafe {
                    open(
                        options,
                        path.as_ptr(),
                        count,
                        c_names.as_ptr(),
                        c_options.as_ptr(),
                        handles.as_mut_ptr(),
                        error,
                    )
                })?
            }
        };
        let raw = NonNull::new(raw).ok_or_else(|| Error::Status("RocksDB opened no database".to_owned()))?;
        let destroy_handle = function!(lib, rocksdb_column_family_handle_destroy, "column families")?;
        let handles: Vec<Owned<rocksdb_column_family_handle_t>> = handles
            .into_iter()
            .map(|h| Owned::new(h, destroy_handle, "column family handle"))
            .collect::<Result<_>>()?;
        let mut db = RocksDb {
            library: lib,
            used: Vec::new(),
            handles,
            raw,
            close,
            _settings: settings,
            facts: Facts::default(),
        };
        for i in 0..o.families {
            let wanted = c_text(&family_name(i))?;
            let at = names
                .iter()
                .position(|n| *n == wanted)
                .ok_or_else(|| Error::Status(format!("the database has no column family {}", family_name(i))))?;
            db.used.push(at);
        }
        let (facts, filter) = read_log(o.log_dir.as_ref().unwrap_or(&o.path));
        if o.bloom_bits > 0 && filter.as_deref().is_some_and(|f| f.contains("nullptr")) {
            return Err(Error::NotHonoured(format!(
                "{} did not take the Bloom filter of {} bits",
                lib.path().display(),
                o.bloom_bits
            )));
        }
        db.facts = facts;
        Ok(db)
    }
}

/// An open database. Dropping it closes it.
pub struct RocksDb {
    library: &'static Library,
    /// Place in `handles` of each family that holds keys; empty: the default family without a handle.
    used: Vec<usize>,
    handles: Vec<Owned<rocksdb_column_family_handle_t>>,
    raw: NonNull<rocksdb_t>,
    close: unsafe extern "C" fn(*mut rocksdb_t),
    /// Comparator and options must outlive the database: RocksDB keeps a pointer to the comparator.
    _settings: Settings,
    facts: Facts,
}

// SAFETY: a RocksDB database may be used from many threads at once (its documented contract: "no external synchronization for Get, Put,
// Write, NewIterator, ..."), and so may column family handles and the comparator, which has no state. Options are not changed after opening.
// Closing happens in `drop`, with exclusive access.
unsafe impl Sync for RocksDb {}
// SAFETY: nothing in RocksDB ties a database to the thread that opened it.
unsafe impl Send for RocksDb {}

impl std::fmt::Debug for RocksDb {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RocksDb")
            .field("library", &self.library.path())
            .field("facts", &self.facts)
            .finish_non_exhaustive()
    }
}

impl Drop for RocksDb {
    fn drop(&mut self) {
        // Handles go before the database.
        self.handles.clear();
        // SAFETY: opened by this library, closed here only; sessions borrow the database, so none is left.
        unsafe { (self.close)(self.raw.as_ptr()) }
    }
}

impl RocksDb {
    /// Handles of the families that hold keys; one `None` for the default family.
    fn families(&self) -> Vec<Option<*mut rocksdb_column_family_handle_t>> {
        if self.used.is_empty() {
            return vec![None];
        }
        self.used.iter().filter_map(|&i| self.handles.get(i)).map(|h| Some(h.as_ptr())).collect()
    }

    /// The number that `property` has, summed over the families; 0 where the library does not know it.
    fn property(&self, property: &str) -> Result<u64> {
        let lib = self.library;
        let name = c_text(property)?;
        let mut sum = 0u64;
        for family in self.families() {
            let text = match family {
                None => {
                    let value = function!(lib, rocksdb_property_value, "the state of the database")?;
                    // SAFETY: database and name are alive.
                    unsafe { value(self.raw.as_ptr(), name.as_ptr()) }
                }
                Some(handle) => {
                    let value = function!(lib, rocksdb_property_value_cf, "the state of the database")?;
                    // SAFETY: as above; the handle belongs to this database.
                    unsafe { value(self.raw.as_ptr(), handle, name.as_ptr()) }
                }
            };
            if text.is_null() {
                continue;
            }
            // SAFETY: a NUL-terminated string that is ours to free.
            let number = unsafe { CStr::from_ptr(text) }.to_string_lossy().trim().parse::<u64>().unwrap_or(0);
            lib.free(text.cast());
            sum = sum.saturating_add(number);
        }
        Ok(sum)
    }
}

impl Database for RocksDb {
    type Session<'d> = RocksSession<'d>;

    fn session(&self, mode: WriteMode, multi_get: Option<MultiGet>) -> Result<RocksSession<'_>> {
        RocksSession::new(self, mode, multi_get)
    }

    fn flush(&self) -> Result<()> {
        let lib = self.library;
        let create = function!(lib, rocksdb_flushoptions_create, "a flush")?;
        let destroy = function!(lib, rocksdb_flushoptions_destroy, "a flush")?;
        let set_wait = function!(lib, rocksdb_flushoptions_set_wait, "a flush")?;
        // SAFETY: a constructor without arguments.
        let options = Owned::new(unsafe { create() }, destroy, "flush options")?;
        // SAFETY: a plain value.
        unsafe { set_wait(options.as_ptr(), 1) };
        for family in self.families() {
            match family {
                None => {
                    let flush = function!(lib, rocksdb_flush, "a flush")?;
                    // SAFETY: database and options are alive.
                    lib.checked(|error| unsafe { flush(self.raw.as_ptr(), options.as_ptr(), error) })?;
                }
                Some(handle) => {
                    let flush = function!(lib, rocksdb_flush_cf, "a flush of column families")?;
                    // SAFETY: as above; the handle belongs to this database.
                    lib.checked(|error| unsafe { flush(self.raw.as_ptr(), options.as_ptr(), handle, error) })?;
                }
            }
        }
        Ok(())
    }

    fn compact(&self) -> Result<()> {
        let lib = self.library;
        for family in self.families() {
            match family {
                None => {
                    let compact = function!(lib, rocksdb_compact_range, "--compact")?;
                    // SAFETY: null limits mean the whole range.
                    unsafe { compact(self.raw.as_ptr(), ptr::null(), 0, ptr::null(), 0) };
                }
                Some(handle) => {
                    let compact = function!(lib, rocksdb_compact_range_cf, "--compact")?;
                    // SAFETY: as above; the handle belongs to this database.
                    unsafe { compact(self.raw.as_ptr(), handle, ptr::null(), 0, ptr::null(), 0) };
                }
            }
        }
        Ok(())
    }

    fn background_work(&self) -> Result<u64> {
        let mut sum = 0u64;
        for property in [
            "rocksdb.mem-table-flush-pending",
            "rocksdb.num-running-flushes",
            "rocksdb.compaction-pending",
            "rocksdb.num-running-compactions",
        ] {
            sum = sum.saturating_add(self.property(property)?);
        }
        Ok(sum)
    }

    fn background_errors(&self) -> Result<u64> {
        self.property("rocksdb.background-errors")
    }

    fn first_key(&self, family: u32) -> Result<Option<Vec<u8>>> {
        let lib = self.library;
        let create = function!(lib, rocksdb_readoptions_create, "reads")?;
        let destroy = function!(lib, rocksdb_readoptions_destroy, "reads")?;
        // SAFETY: a constructor without arguments.
        let options = Owned::new(unsafe { create() }, destroy, "read options")?;
        let handle = self.families().get(family as usize).copied().flatten();
        let calls = Walk::resolve(lib)?;
        let first = function!(lib, rocksdb_iter_seek_to_first, "iterators")?;
        let iter = calls.open(self, options.as_ptr(), handle)?;
        // SAFETY: the iterator is alive until the end of this function and belongs to this database.
        unsafe {
            first(iter.as_ptr());
            if (calls.valid)(iter.as_ptr()) == 0 {
                return calls.status(lib, &iter).map(|()| None);
            }
            let mut len = 0usize;
            let key = (calls.key)(iter.as_ptr(), &mut len);
            Ok(Some(bytes(key, len).to_vec()))
        }
    }

    fn facts(&self) -> Facts {
        self.facts.clone()
    }
}

type Handle = *mut rocksdb_column_family_handle_t;
type Iter = *mut rocksdb_iterator_t;
type ReadOpts = *const rocksdb_readoptions_t;
type ErrorOut = *mut *mut c_char;

/// Functions of an iterator.
#[derive(Clone, Copy)]
struct Walk {
    create: unsafe extern "C" fn(*mut rocksdb_t, ReadOpts) -> Iter,
    create_cf: unsafe extern "C" fn(*mut rocksdb_t, ReadOpts, Handle) -> Iter,
    destroy: unsafe extern "C" fn(Iter),
    valid: unsafe extern "C" fn(*const rocksdb_iterator_t) -> u8,
    seek: unsafe extern "C" fn(Iter, *const c_char, usize),
    next: unsafe extern "C" fn(Iter),
    prev: unsafe extern "C" fn(Iter),
    key: unsafe extern "C" fn(*const rocksdb_iterator_t, *mut usize) -> *const c_char,
    value: unsafe extern "C" fn(*const rocksdb_iterator_t, *mut usize) -> *const c_char,
    error: unsafe extern "C" fn(*const rocksdb_iterator_t, ErrorOut),
}

impl Walk {
    fn resolve(lib: &'static Library) -> Result<Walk> {
        Ok(Walk {
            create: function!(lib, rocksdb_create_iterator, "iterators")?,
            create_cf: function!(lib, rocksdb_create_iterator_cf, "iterators")?,
            destroy: function!(lib, rocksdb_iter_destroy, "iterators")?,
            valid: function!(lib, rocksdb_iter_valid, "iterators")?,
            seek: function!(lib, rocksdb_iter_seek, "iterators")?,
            next: function!(lib, rocksdb_iter_next, "iterators")?,
            prev: function!(lib, rocksdb_iter_prev, "iterators")?,
            key: function!(lib, rocksdb_iter_key, "iterators")?,
            value: function!(lib, rocksdb_iter_value, "iterators")?,
            error: function!(lib, rocksdb_iter_get_error, "iterators")?,
        })
    }

    fn open(&self, db: &RocksDb, options: ReadOpts, family: Option<Handle>) -> Result<Owned<rocksdb_iterator_t>> {
        // SAFETY: database, options and handle are alive and outlive the iterator: callers keep it on the stack.
        let raw = unsafe {
            match family {
                None => (self.create)(db.raw.as_ptr(), options),
                Some(handle) => (self.create_cf)(db.raw.as_ptr(), options, handle),
            }
        };
        Owned::new(raw, self.destroy, "iterator")
    }

    /// The error that ended a walk, if any.
    fn status(&self, lib: &Library, iter: &Owned<rocksdb_iterator_t>) -> Result<()> {
        // SAFETY: the iterator is alive.
        lib.checked(|error| unsafe { (self.error)(iter.as_ptr(), error) })
    }
}

/// Functions of a point read or write.
#[derive(Clone, Copy)]
struct Point {
    get: unsafe extern "C" fn(*mut rocksdb_t, ReadOpts, *const c_char, usize, *mut usize, ErrorOut) -> *mut c_char,
    get_cf: unsafe extern "C" fn(
        *mut rocksdb_t,
        ReadOpts,
        Handle,
        *const c_char,
        usize,
        *mut usize,
        ErrorOut,
    ) -> *mut c_char,
    free: unsafe extern "C" fn(*mut c_void),
    get_pinned:
        unsafe extern "C" fn(*mut rocksdb_t, ReadOpts, *const c_char, usize, ErrorOut) -> *mut rocksdb_pinnableslice_t,
    get_pinned_cf: unsafe extern "C" fn(
        *mut rocksdb_t,
        ReadOpts,
        Handle,
        *const c_char,
        usize,
        ErrorOut,
    ) -> *mut rocksdb_pinnableslice_t,
    pinned_value: unsafe extern "C" fn(*const rocksdb_pinnableslice_t, *mut usize) -> *const c_char,
    unpin: unsafe extern "C" fn(*mut rocksdb_pinnableslice_t),
    put: unsafe extern "C" fn(
        *mut rocksdb_t,
        *const rocksdb_writeoptions_t,
        *const c_char,
        usize,
        *const c_char,
        usize,
        ErrorOut,
    ),
    put_cf: unsafe extern "C" fn(
        *mut rocksdb_t,
        *const rocksdb_writeoptions_t,
        Handle,
        *const c_char,
        usize,
        *const c_char,
        usize,
        ErrorOut,
    ),
}

type MultiGetFn = unsafe extern "C" fn(
    *mut rocksdb_t,
    ReadOpts,
    usize,
    *const *const c_char,
    *const usize,
    *mut *mut c_char,
    *mut usize,
    *mut *mut c_char,
);
type MultiGetCfFn = unsafe extern "C" fn(
    *mut rocksdb_t,
    ReadOpts,
    *const *const rocksdb_column_family_handle_t,
    usize,
    *const *const c_char,
    *const usize,
    *mut *mut c_char,
    *mut usize,
    *mut *mut c_char,
);
type BatchedMultiGetFn = unsafe extern "C" fn(
    *mut rocksdb_t,
    ReadOpts,
    Handle,
    usize,
    *const *const c_char,
    *const usize,
    *mut *mut rocksdb_pinnableslice_t,
    *mut *mut c_char,
    bool,
);

/// The call of a multi-get.
#[derive(Clone, Copy)]
enum Many {
    Default(MultiGetFn),
    Families(MultiGetCfFn),
    /// The handle for the default family, where keys are in that one.
    Batched(BatchedMultiGetFn),
}

/// Arrays of a multi-get, grown once.
#[derive(Default)]
struct ManyBuffers {
    keys: Vec<*const c_char>,
    sizes: Vec<usize>,
    families: Vec<*const rocksdb_column_family_handle_t>,
    values: Vec<*mut c_char>,
    value_sizes: Vec<usize>,
    pinned: Vec<*mut rocksdb_pinnableslice_t>,
    errors: Vec<*mut c_char>,
}

/// `rocksdb_disable` of the header, the same in all releases.
const PERF_DISABLE: c_int = 1;

/// Reads and writes of one thread. Holds raw pointers, so it stays on the thread that made it.
pub struct RocksSession<'d> {
    db: &'d RocksDb,
    point: Point,
    walk: Walk,
    many: Option<Many>,
    buffers: ManyBuffers,
    read: Owned<rocksdb_readoptions_t>,
    write: Owned<rocksdb_writeoptions_t>,
    /// Empty: the default family, by the functions without a handle.
    families: Vec<Handle>,
    buffer: Vec<u8>,
}

impl std::fmt::Debug for RocksSession<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RocksSession").field("db", &self.db).finish_non_exhaustive()
    }
}

impl<'d> RocksSession<'d> {
    fn new(db: &'d RocksDb, mode: WriteMode, multi_get: Option<MultiGet>) -> Result<Self> {
        let lib = db.library;
        let create_read = function!(lib, rocksdb_readoptions_create, "reads")?;
        let destroy_read = function!(lib, rocksdb_readoptions_destroy, "reads")?;
        let create_write = function!(lib, rocksdb_writeoptions_create, "writes")?;
        let destroy_write = function!(lib, rocksdb_writeoptions_destroy, "writes")?;
        // SAFETY: constructors without arguments.
        let (read, write) = unsafe { (create_read(), create_write()) };
        let read = Owned::new(read, destroy_read, "read options")?;
        let write = Owned::new(write, destroy_write, "write options")?;
        // RocksDB counts comparisons, block reads and more in every thread unless told not to, which is 6 % of a put of a random key.
        // Nobody reads these counters here, and db_bench has them off (--perf_level=1). A library without this function keeps counting.
        if let Ok(set_perf_level) = &lib.functions.rocksdb_set_perf_level {
            // SAFETY: a plain value, of the calling thread: the one that the session stays on.
            unsafe { set_perf_level(PERF_DISABLE) };
        }
        if mode.sync {
            let set = function!(lib, rocksdb_writeoptions_set_sync, "--sync")?;
            // SAFETY: a plain value.
            unsafe { set(write.as_ptr(), 1) };
        }
        if !mode.wal {
            let set = function!(lib, rocksdb_writeoptions_disable_WAL, "--wal off")?;
            // SAFETY: a plain value.
            unsafe { set(write.as_ptr(), 1) };
        }
        let many = match multi_get {
            None => None,
            Some(MultiGet::Plain) if db.used.is_empty() => {
                Some(Many::Default(function!(lib, rocksdb_multi_get, "multiget")?))
            }
            Some(MultiGet::Plain) => Some(Many::Families(function!(lib, rocksdb_multi_get_cf, "multiget")?)),
            Some(MultiGet::Batched) => {
                Some(Many::Batched(function!(lib, rocksdb_batched_multi_get_cf, "multiget=batched")?))
            }
        };
        let mut families: Vec<Handle> = db.families().into_iter().flatten().collect();
        if matches!(many, Some(Many::Batched(_))) && families.is_empty() {
            // The batched call wants a handle; the database was opened with one for this (see `OpenOptions::default_handle`).
            families.extend(db.handles.first().map(Owned::as_ptr));
            if families.is_empty() {
                return Err(Error::Status("a batched multi-get needs column family handles".to_owned()));
            }
        }
        Ok(RocksSession {
            db,
            point: Point {
                get: function!(lib, rocksdb_get, "get")?,
                get_cf: function!(lib, rocksdb_get_cf, "get")?,
                free: function!(lib, rocksdb_free, "get")?,
                get_pinned: function!(lib, rocksdb_get_pinned, "get-pinned")?,
                get_pinned_cf: function!(lib, rocksdb_get_pinned_cf, "get-pinned")?,
                pinned_value: function!(lib, rocksdb_pinnableslice_value, "get-pinned")?,
                unpin: function!(lib, rocksdb_pinnableslice_destroy, "get-pinned")?,
                put: function!(lib, rocksdb_put, "put")?,
                put_cf: function!(lib, rocksdb_put_cf, "put")?,
            },
            walk: Walk::resolve(lib)?,
            many,
            buffers: ManyBuffers::default(),
            read,
            write,
            families,
            buffer: Vec::new(),
        })
    }

    fn handle(&self, family: u32) -> Option<Handle> {
        self.families.get(family as usize).copied()
    }

    /// Pins the value of `key`; `None` when there is none. The caller unpins.
    fn pin(&self, family: u32, key: &[u8]) -> Result<Option<Pinned>> {
        let (db, options) = (self.db.raw.as_ptr(), self.read.as_ptr().cast_const());
        let mut error: *mut c_char = ptr::null_mut();
        // SAFETY: database, options and handle are alive (borrowed or owned by the session); the key is only read.
        let raw = unsafe {
            match self.handle(family) {
                None => (self.point.get_pinned)(db, options, key.as_ptr().cast(), key.len(), &mut error),
                Some(handle) => {
                    (self.point.get_pinned_cf)(db, options, handle, key.as_ptr().cast(), key.len(), &mut error)
                }
            }
        };
        self.db.library.check(error)?;
        Ok(NonNull::new(raw).map(|raw| Pinned { raw, value: self.point.pinned_value, unpin: self.point.unpin }))
    }
}

/// A pinned value.
struct Pinned {
    raw: NonNull<rocksdb_pinnableslice_t>,
    value: unsafe extern "C" fn(*const rocksdb_pinnableslice_t, *mut usize) -> *const c_char,
    unpin: unsafe extern "C" fn(*mut rocksdb_pinnableslice_t),
}

impl Pinned {
    fn bytes(&self) -> &[u8] {
        let mut len = 0usize;
        // SAFETY: the slice is pinned until `self` drops; the bytes live as long.
        unsafe {
            let data = (self.value)(self.raw.as_ptr(), &mut len);
            bytes(data, len)
        }
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        // SAFETY: made by a get_pinned of this library, destroyed here only.
        unsafe { (self.unpin)(self.raw.as_ptr()) }
    }
}

impl Session for RocksSession<'_> {
    fn get<R>(&mut self, family: u32, key: &[u8], read: impl FnOnce(&[u8]) -> R) -> Result<Option<R>> {
        let (db, options) = (self.db.raw.as_ptr(), self.read.as_ptr().cast_const());
        let mut error: *mut c_char = ptr::null_mut();
        let mut len = 0usize;
        // SAFETY: database, options and handle are alive; the key is only read; `len` is written before the call returns.
        let value = unsafe {
            match self.handle(family) {
                None => (self.point.get)(db, options, key.as_ptr().cast(), key.len(), &mut len, &mut error),
                Some(handle) => {
                    (self.point.get_cf)(db, options, handle, key.as_ptr().cast(), key.len(), &mut len, &mut error)
                }
            }
        };
        self.db.library.check(error)?;
        if value.is_null() {
            return Ok(None);
        }
        // SAFETY: a copy of `len` bytes that is ours until it is freed below.
        let result = read(unsafe { bytes(value, len) });
        // SAFETY: the copy, once.
        unsafe { (self.point.free)(value.cast()) };
        Ok(Some(result))
    }

    fn get_pinned<R>(&mut self, family: u32, key: &[u8], read: impl FnOnce(&[u8]) -> R) -> Result<Option<R>> {
        Ok(self.pin(family, key)?.map(|pinned| read(pinned.bytes())))
    }

    fn get_into<R>(&mut self, family: u32, key: &[u8], read: impl FnOnce(&[u8]) -> R) -> Result<Option<R>> {
        let Some(pinned) = self.pin(family, key)? else { return Ok(None) };
        self.buffer.clear();
        self.buffer.extend_from_slice(pinned.bytes());
        drop(pinned);
        Ok(Some(read(&self.buffer)))
    }

    fn multi_get(&mut self, batch: &Batch, mut read: impl FnMut(usize, Option<&[u8]>)) -> Result<()> {
        let Some(many) = self.many else {
            return Err(Error::Status("this session was made without multi-get".to_owned()));
        };
        let n = batch.len();
        let (db, options) = (self.db.raw.as_ptr(), self.read.as_ptr().cast_const());
        let b = &mut self.buffers;
        b.keys.clear();
        b.sizes.clear();
        b.families.clear();
        let mut first_family = 0;
        for (i, (family, key)) in batch.iter().enumerate() {
            if i == 0 {
                first_family = family;
            }
            b.keys.push(key.as_ptr().cast());
            b.sizes.push(key.len());
            if matches!(many, Many::Families(_)) {
                let handle = self.families.get(family as usize).copied();
                b.families.push(handle.ok_or_else(|| Error::Status(format!("no column family {family}")))?);
            }
        }
        b.errors.clear();
        b.errors.resize(n, ptr::null_mut());
        let mut failure = Ok(());
        if let Many::Batched(call) = many {
            let handle = self.families.get(first_family as usize).copied();
            let handle = handle.ok_or_else(|| Error::Status(format!("no column family {first_family}")))?;
            b.pinned.clear();
            b.pinned.resize(n, ptr::null_mut());
            // SAFETY: four arrays of `n` entries each; the keys are only read; results and errors are written before the call returns.
            unsafe {
                call(
                    db,
                    options,
                    handle,
                    n,
                    b.keys.as_ptr(),
                    b.sizes.as_ptr(),
                    b.pinned.as_mut_ptr(),
                    b.errors.as_mut_ptr(),
                    false,
                );
            }
            for (i, (&raw, &error)) in b.pinned.iter().zip(&b.errors).enumerate() {
                let pinned = NonNull::new(raw).map(|raw| Pinned {
                    raw,
                    value: self.point.pinned_value,
                    unpin: self.point.unpin,
                });
                match self.db.library.check(error) {
                    Ok(()) => read(i, pinned.as_ref().map(Pinned::bytes)),
                    Err(e) if failure.is_ok() => failure = Err(e),
                    Err(_) => {}
                }
            }
            return failure;
        }
        b.values.clear();
        b.values.resize(n, ptr::null_mut());
        b.value_sizes.clear();
        b.value_sizes.resize(n, 0);
        let (keys, sizes) = (b.keys.as_ptr(), b.sizes.as_ptr());
        let (values, value_sizes, errors) = (b.values.as_mut_ptr(), b.value_sizes.as_mut_ptr(), b.errors.as_mut_ptr());
        // SAFETY: arrays of `n` entries each; the keys are only read; values, sizes and errors are written before the call returns.
        unsafe {
            match many {
                Many::Default(call) => call(db, options, n, keys, sizes, values, value_sizes, errors),
                Many::Families(call) => {
                    call(db, options, b.families.as_ptr(), n, keys, sizes, values, value_sizes, errors);
                }
                Many::Batched(_) => {}
            }
        }
        for (i, ((&value, &len), &error)) in b.values.iter().zip(&b.value_sizes).zip(&b.errors).enumerate() {
            match self.db.library.check(error) {
                Ok(()) if value.is_null() => read(i, None),
                // SAFETY: a copy of `len` bytes that is ours until it is freed below.
                Ok(()) => read(i, Some(unsafe { bytes(value, len) })),
                Err(e) if failure.is_ok() => failure = Err(e),
                Err(_) => {}
            }
            if !value.is_null() {
                // SAFETY: the copy, once.
                unsafe { (self.point.free)(value.cast()) };
            }
        }
        failure
    }

    fn put(&mut self, family: u32, key: &[u8], value: &[u8]) -> Result<()> {
        let (db, options) = (self.db.raw.as_ptr(), self.write.as_ptr().cast_const());
        let (key, key_len, value, len) = (key.as_ptr().cast(), key.len(), value.as_ptr().cast(), value.len());
        let mut error: *mut c_char = ptr::null_mut();
        // SAFETY: database, options and handle are alive; key and value are only read.
        unsafe {
            match self.handle(family) {
                None => (self.point.put)(db, options, key, key_len, value, len, &mut error),
                Some(handle) => (self.point.put_cf)(db, options, handle, key, key_len, value, len, &mut error),
            }
        }
        self.db.library.check(error)
    }

    fn scan(
        &mut self,
        family: u32,
        key: &[u8],
        steps: u32,
        backwards: bool,
        mut visit: impl FnMut(&[u8], &[u8]),
    ) -> Result<u32> {
        let walk = self.walk;
        let iter = walk.open(self.db, self.read.as_ptr(), self.handle(family))?;
        let raw = iter.as_ptr();
        let step = if backwards { walk.prev } else { walk.next };
        let mut seen = 0;
        // SAFETY: the iterator is alive until the end of this function; key and value of a valid position stay until it moves.
        unsafe {
            (walk.seek)(raw, key.as_ptr().cast(), key.len());
            while seen < steps && (walk.valid)(raw) != 0 {
                let (mut key_len, mut len) = (0usize, 0usize);
                let key = (walk.key)(raw, &mut key_len);
                let value = (walk.value)(raw, &mut len);
                visit(bytes(key, key_len), bytes(value, len));
                step(raw);
                seen += 1;
            }
        }
        if seen < steps {
            walk.status(self.db.library, &iter)?;
        }
        Ok(seen)
    }
}
