//! What both engines must do, run on both.

use std::path::Path;

use super::*;

/// The RocksDB library that tests use: `ABSTAT_ROCKSDB`, else the system's. Where there is none the test says that it was skipped, or fails if
/// `ABSTAT_REQUIRE_ROCKSDB=1` promises one.
pub(crate) fn rocksdb() -> Option<RocksEngine> {
    let Some(path) = library_path() else {
        assert!(
            std::env::var_os("ABSTAT_REQUIRE_ROCKSDB").is_none_or(|v| v != "1"),
            "ABSTAT_REQUIRE_ROCKSDB=1, but there is no RocksDB library; looked in {:?}",
            search_places()
        );
        eprintln!("skipped: no RocksDB library found");
        return None;
    };
    Some(RocksEngine::new(Library::load(&path).unwrap()))
}

fn library_path() -> Option<PathBuf> {
    std::env::var_os("ABSTAT_ROCKSDB").map(PathBuf::from).or_else(find_system_library)
}

fn options(dir: &Path) -> OpenOptions {
    OpenOptions {
        path: dir.join("db"),
        log_dir: None,
        access: Access::Create,
        families: 0,
        cache: Cache::Lru,
        cache_size: 8 << 20,
        direct: false,
        compression: Compression::Default,
        bloom_bits: 0,
        block_size: 4096,
        comparator: Comparator::Bytewise,
        ordered: true,
        default_handle: false,
    }
}

const WRITES: WriteMode = WriteMode { wal: true, sync: false };

/// Runs `check` on the memory engine, and on RocksDB where there is one.
macro_rules! on_both {
    ($check:ident) => {
        #[test]
        fn $check() {
            let dir = tempfile::tempdir().unwrap();
            self::checks::$check(&MemoryEngine, dir.path());
            if let Some(engine) = rocksdb() {
                let dir = tempfile::tempdir().unwrap();
                self::checks::$check(&engine, dir.path());
            }
        }
    };
}

on_both!(reads_find_what_was_written);
on_both!(families_are_apart);
on_both!(scans_walk_in_the_order_of_the_comparator);
on_both!(multi_gets_answer_in_order);

mod checks {
    use super::*;

    pub(super) fn reads_find_what_was_written<E: Engine>(engine: &E, dir: &Path) {
        for (i, bloom_bits) in [0, 10].into_iter().enumerate() {
            let mut o = options(dir);
            o.path = dir.join(format!("db{i}"));
            o.ordered = false;
            o.bloom_bits = bloom_bits;
            let db = engine.open(&o).unwrap();
            let mut s = db.session(WRITES, None).unwrap();
            for n in 0..1000u32 {
                s.put(0, &n.to_be_bytes(), format!("value {n}").as_bytes()).unwrap();
            }
            s.put(0, &7u32.to_be_bytes(), b"another length").unwrap();
            s.put(0, &8u32.to_be_bytes(), b"").unwrap();
            db.flush().unwrap();
            db.compact().unwrap();
            let want = |n: u32| match n {
                7 => "another length".to_owned(),
                8 => String::new(),
                n => format!("value {n}"),
            };
            for n in [0u32, 7, 8, 999] {
                let key = n.to_be_bytes();
                assert_eq!(s.get(0, &key, <[u8]>::to_vec).unwrap().unwrap(), want(n).as_bytes());
                assert_eq!(s.get_pinned(0, &key, <[u8]>::to_vec).unwrap().unwrap(), want(n).as_bytes());
                assert_eq!(s.get_into(0, &key, <[u8]>::to_vec).unwrap().unwrap(), want(n).as_bytes());
            }
            let key = 1000u32.to_be_bytes();
            assert!(s.get(0, &key, |_| ()).unwrap().is_none());
            assert!(s.get_pinned(0, &key, |_| ()).unwrap().is_none());
            assert!(s.get_into(0, &key, |_| ()).unwrap().is_none());
            assert_eq!(db.background_errors().unwrap(), 0);
        }
    }

    pub(super) fn families_are_apart<E: Engine>(engine: &E, dir: &Path) {
        let mut o = options(dir);
        o.families = 3;
        let db = engine.open(&o).unwrap();
        let mut s = db.session(WRITES, None).unwrap();
        for family in 0..3 {
            s.put(family, b"k", &[family as u8]).unwrap();
        }
        s.put(1, b"only in 1", b"").unwrap();
        for family in 0..3 {
            assert_eq!(s.get_pinned(family, b"k", |v| v[0]).unwrap(), Some(family as u8));
            assert_eq!(s.get(family, b"only in 1", |_| ()).unwrap().is_some(), family == 1);
        }
        db.flush().unwrap();
        assert_eq!(db.first_key(1).unwrap().as_deref(), Some(&b"k"[..]));
    }

    pub(super) fn scans_walk_in_the_order_of_the_comparator<E: Engine>(engine: &E, dir: &Path) {
        for comparator in
            [Comparator::Bytewise, Comparator::Reverse, Comparator::CallbackBytewise, Comparator::CallbackReverse]
        {
            let mut o = options(dir);
            o.path = dir.join(format!("{comparator:?}"));
            o.comparator = comparator;
            let db = engine.open(&o).unwrap();
            let mut s = db.session(WRITES, None).unwrap();
            assert_eq!(db.first_key(0).unwrap(), None);
            for n in 0..100u8 {
                s.put(0, &[n * 2], &[n]).unwrap();
            }
            db.flush().unwrap();
            let reverse = comparator.is_reverse();
            assert_eq!(db.first_key(0).unwrap(), Some(vec![if reverse { 198 } else { 0 }]), "{comparator:?}");
            let mut walk = |key: u8, steps: u32, backwards: bool| {
                let mut seen = Vec::new();
                let n = s
                    .scan(0, &[key], steps, backwards, |k, v| {
                        assert_eq!(k[0], v[0] * 2);
                        seen.push(k[0]);
                    })
                    .unwrap();
                assert_eq!(n as usize, seen.len());
                seen
            };
            let (up, down) = (reverse, !reverse);
            assert_eq!(walk(20, 3, up), [20, 22, 24], "{comparator:?}");
            assert_eq!(walk(20, 3, down), [20, 18, 16], "{comparator:?}");
            assert_eq!(walk(196, 3, up), [196, 198]);
            assert_eq!(walk(2, 3, down), [2, 0]);
            // Between two keys a seek lands on the next one in the comparator's order, whichever way it then walks.
            let landing = if reverse { 20 } else { 22 };
            assert_eq!(walk(21, 1, up), [landing]);
            assert_eq!(walk(21, 1, down), [landing]);
            assert_eq!(walk(if reverse { 198 } else { 0 }, 200, false).len(), 100);
        }
    }

    pub(super) fn multi_gets_answer_in_order<E: Engine>(engine: &E, dir: &Path) {
        let mut round = 0;
        for families in [0, 2] {
            for kind in [MultiGet::Plain, MultiGet::Batched] {
                round += 1;
                let mut o = options(dir);
                o.path = dir.join(format!("db{round}"));
                o.families = families;
                o.default_handle = true;
                let db = engine.open(&o).unwrap();
                let mut s = db.session(WRITES, Some(kind)).unwrap();
                let family = families.saturating_sub(1);
                for n in 0..100u8 {
                    s.put(family, &[n; 4], &[n; 3]).unwrap();
                }
                db.flush().unwrap();
                let wanted = [5u8, 200, 0, 99, 5];
                let mut batch = Batch::new(wanted.len(), 4);
                for ((f, key), n) in batch.iter_mut().zip(wanted) {
                    *f = family;
                    key.fill(n);
                }
                let mut got = Vec::new();
                s.multi_get(&batch, |i, v| {
                    assert_eq!(i, got.len());
                    got.push(v.map(<[u8]>::to_vec));
                })
                .unwrap();
                let want: Vec<_> = wanted.iter().map(|&n| (n < 100).then(|| vec![n; 3])).collect();
                assert_eq!(got, want, "{families} families, {kind:?}");
            }
        }
    }
}

#[test]
fn rocksdb_guards_existing_databases_and_tells_its_release() {
    let Some(engine) = rocksdb() else { return };
    let dir = tempfile::tempdir().unwrap();
    let mut o = options(dir.path());
    o.families = 2;
    {
        let db = engine.open(&o).unwrap();
        let version = db.facts().version.unwrap();
        assert!(version.split('.').count() == 3 && version.split('.').all(|p| p.parse::<u32>().is_ok()), "{version}");
        assert!(db.facts().compression.is_some());
        db.session(WRITES, None).unwrap().put(1, b"k", b"v").unwrap();
        // Locked while it is open here.
        let text = engine.open(&OpenOptions { access: Access::ReadWrite, ..o.clone() }).unwrap_err().to_string();
        assert!(text.contains("lock"), "{text}");
    }
    let text = engine.open(&o).unwrap_err().to_string();
    assert!(text.contains("error_if_exists"), "{text}");
    let text = engine
        .open(&OpenOptions { comparator: Comparator::Reverse, access: Access::ReadWrite, ..o.clone() })
        .unwrap_err()
        .to_string();
    assert!(text.contains("does not match existing comparator"), "{text}");

    // Reading only leaves the directory as it is.
    let listing = || {
        let mut l: Vec<_> = std::fs::read_dir(&o.path)
            .unwrap()
            .map(|e| e.unwrap())
            .map(|e| (e.file_name(), e.metadata().unwrap().len(), e.metadata().unwrap().modified().unwrap()))
            .collect();
        l.sort();
        l
    };
    let before = listing();
    {
        let logs = dir.path().join("logs");
        std::fs::create_dir(&logs).unwrap();
        let db = engine.open(&OpenOptions { access: Access::ReadOnly, log_dir: Some(logs), ..o.clone() }).unwrap();
        let mut s = db.session(WRITES, None).unwrap();
        assert_eq!(s.get(1, b"k", <[u8]>::to_vec).unwrap().unwrap(), b"v");
        assert!(s.put(1, b"k", b"w").is_err());
    }
    assert_eq!(listing(), before);
    let text =
        engine.open(&OpenOptions { access: Access::ReadOnly, families: 5, ..o.clone() }).unwrap_err().to_string();
    assert!(text.contains("no column family cf3"), "{text}");
}

#[test]
fn hyper_clock_cache_works_or_names_the_missing_function() {
    let Some(engine) = rocksdb() else { return };
    let dir = tempfile::tempdir().unwrap();
    let opened = engine.open(&OpenOptions { cache: Cache::Hcc, ..options(dir.path()) });
    match opened {
        Ok(db) => assert!(db.facts().version.is_some()),
        Err(e) => {
            let text = e.to_string();
            assert!(text.contains("rocksdb_cache_create_hyper_clock") && text.contains("cache=hcc"), "{text}");
        }
    }
}

#[test]
fn a_compression_that_is_not_built_in_is_an_error_not_a_surprise() {
    let Some(engine) = rocksdb() else { return };
    let dir = tempfile::tempdir().unwrap();
    for (i, compression) in
        [Compression::None, Compression::Snappy, Compression::Lz4, Compression::Zstd].into_iter().enumerate()
    {
        let mut o = options(dir.path());
        o.path = dir.path().join(format!("db{i}"));
        o.compression = compression;
        match engine.open(&o) {
            Ok(db) => {
                let spelled = db.facts().compression.unwrap().to_lowercase();
                let want = match compression {
                    Compression::None => "nocompression",
                    Compression::Snappy => "snappy",
                    Compression::Lz4 => "lz4",
                    _ => "zstd",
                };
                assert_eq!(spelled, want);
            }
            Err(e) => assert!(e.to_string().contains("not linked"), "{e}"),
        }
    }
}

#[test]
fn rocksdb_does_not_count_in_the_threads_of_sessions() {
    use std::ffi::{c_int, c_void};

    let (Some(engine), Some(path)) = (rocksdb(), library_path()) else { return };
    let dir = tempfile::tempdir().unwrap();
    // SAFETY: the library that the engine has loaded already: the loader gives the same one, and nothing is run. It stays loaded.
    let library = unsafe { libloading::Library::new(path) }.unwrap();
    // SAFETY: signatures of rocksdb/c.h, with void pointers for the perf context.
    let (create, destroy, metric, set_level) = unsafe {
        (
            library.get::<unsafe extern "C" fn() -> *mut c_void>(b"rocksdb_perfcontext_create\0").unwrap(),
            library.get::<unsafe extern "C" fn(*mut c_void)>(b"rocksdb_perfcontext_destroy\0").unwrap(),
            library.get::<unsafe extern "C" fn(*mut c_void, c_int) -> u64>(b"rocksdb_perfcontext_metric\0").unwrap(),
            library.get::<unsafe extern "C" fn(c_int)>(b"rocksdb_set_perf_level\0").unwrap(),
        )
    };
    // Keys that this thread has compared: rocksdb_user_key_comparison_count is 0.
    let comparisons = || {
        // SAFETY: made, used and destroyed here.
        unsafe {
            let context = create();
            let n = metric(context, 0);
            destroy(context);
            n
        }
    };
    let db = engine.open(&options(dir.path())).unwrap();
    let mut s = db.session(WRITES, None).unwrap();
    let before = comparisons();
    let mut work = || {
        for n in 0..100u8 {
            s.put(0, &[n.reverse_bits()], &[n]).unwrap();
            assert_eq!(s.get_pinned(0, &[n.reverse_bits()], |v| v[0]).unwrap(), Some(n));
        }
    };
    work();
    assert_eq!(comparisons(), before);
    // It would be seen: the default of a thread, rocksdb_enable_count.
    // SAFETY: a plain value.
    unsafe { set_level(2) };
    work();
    assert!(comparisons() > before);
}
