//! Functions that the header behind `bindings.rs` (7.8.3, the oldest release still packaged widely) does not have yet; declared by hand from
//! RocksDB's documentation of the C API. Delete an entry when the header is moved past its release.

use libloading::Library;

use super::bindings::rocksdb_cache_t;

/// Since RocksDB 8.1; the second argument is the expected size of an entry (0: find out, since 8.8).
pub(super) type CacheCreateHyperClock = unsafe extern "C" fn(usize, usize) -> *mut rocksdb_cache_t;

/// Newer functions, each `None` where the library lacks it.
#[derive(Debug)]
pub(super) struct Extra {
    pub(super) rocksdb_cache_create_hyper_clock: Option<CacheCreateHyperClock>,
}

impl Extra {
    /// Looks the functions up in `library`.
    ///
    /// # Safety
    /// `library` must stay loaded as long as the functions are used, and a function of this name must have this signature.
    pub(super) unsafe fn load(library: &Library) -> Self {
        // SAFETY: the caller vouches for the signature, which has not changed since the function appeared.
        let symbol = unsafe { library.get::<CacheCreateHyperClock>(b"rocksdb_cache_create_hyper_clock\0") };
        Extra { rocksdb_cache_create_hyper_clock: symbol.ok().map(|s| *s) }
    }
}
