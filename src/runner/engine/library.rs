//! A shared library that holds RocksDB's C API: where it is found, how it is loaded, how its functions are looked up.

use std::ffi::{CStr, c_char, c_void};
use std::path::{Path, PathBuf};
use std::ptr;

use super::bindings::RocksDb as Functions;
use super::extra::Extra;
use super::{Error, Result};

/// RocksDB's functions. Never unloaded: RocksDB leaves threads and thread-local destructors behind whose code would vanish.
pub struct Library {
    pub(super) functions: Functions,
    pub(super) extra: Extra,
    path: PathBuf,
}

impl std::fmt::Debug for Library {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Library").field("path", &self.path).finish_non_exhaustive()
    }
}

/// The function pointer `$name` of library `$lib`, or [`Error::MissingFunction`]. Called through the field and not through bindgen's method,
/// which would panic.
macro_rules! function {
    ($lib:expr, $name:ident, $needed_for:expr) => {
        match &$lib.functions.$name {
            Ok(f) => Ok(*f),
            Err(_) => Err($lib.missing(stringify!($name), $needed_for)),
        }
    };
}
pub(super) use function;

impl Library {
    /// Loads the library at `path`; a bare file name is looked for the way the system's loader does.
    ///
    /// # Errors
    /// The loader's message, or that this is no RocksDB.
    pub fn load(path: &Path) -> Result<&'static Library> {
        let load_error = |e: libloading::Error| {
            // Its own words are only which call failed; the loader's are behind them.
            let message = std::error::Error::source(&e).map_or_else(|| e.to_string(), ToString::to_string);
            // They begin with the file, as ours do.
            let named = format!("{}: ", path.display());
            let message = message.strip_prefix(&named).map(str::to_owned).unwrap_or(message);
            Error::Load { path: path.to_owned(), message }
        };
        #[cfg(unix)]
        let library: libloading::Library = {
            use libloading::os::unix;
            // All symbols now, so that a broken library fails here and not in a measurement; none of them visible to others.
            // SAFETY: initialisers of the library run here. The user named it (or it is the system's RocksDB); running code of
            // a RocksDB release is what this program is asked to do.
            unsafe { unix::Library::open(Some(path), unix::RTLD_NOW | unix::RTLD_LOCAL) }.map_err(load_error)?.into()
        };
        #[cfg(not(unix))]
        // SAFETY: as above.
        let library = unsafe { libloading::Library::new(path) }.map_err(load_error)?;
        // SAFETY: the library is kept for the rest of the process (leaked below).
        let extra = unsafe { Extra::load(&library) };
        // SAFETY: bindgen's `from_library` looks symbols up by name and takes them for functions of the header's types; the signatures used
        // are the same in all releases from 6 to 11 (functions.txt names no other).
        let functions = unsafe { Functions::from_library(library) }.map_err(load_error)?;
        if functions.rocksdb_open.is_err() {
            return Err(Error::NotRocksDb { path: path.to_owned(), function: "rocksdb_open" });
        }
        Ok(Box::leak(Box::new(Library { functions, extra, path: path.to_owned() })))
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn missing(&self, function: &'static str, needed_for: &'static str) -> Error {
        Error::MissingFunction { path: self.path.clone(), function, needed_for }
    }

    /// The text at `error` as a status, if there is one; frees it.
    pub(super) fn check(&self, error: *mut c_char) -> Result<()> {
        if error.is_null() { Ok(()) } else { Err(self.status(error)) }
    }

    #[cold]
    fn status(&self, error: *mut c_char) -> Error {
        // SAFETY: RocksDB's C API sets an error pointer to a NUL-terminated string that it gives away.
        let text = unsafe { CStr::from_ptr(error) }.to_string_lossy().into_owned();
        self.free(error.cast());
        Error::Status(text)
    }

    /// Frees memory that this library allocated.
    pub(super) fn free(&self, memory: *mut c_void) {
        // A library without rocksdb_free leaks a message; it cannot be freed by another allocator.
        if let Ok(free) = &self.functions.rocksdb_free {
            // SAFETY: every caller passes a pointer that a function of this library returned for the caller to free, once.
            unsafe { free(memory) };
        }
    }

    /// Calls `f` with an error pointer and turns what it leaves there into a status.
    pub(super) fn checked<T>(&self, f: impl FnOnce(*mut *mut c_char) -> T) -> Result<T> {
        let mut error: *mut c_char = ptr::null_mut();
        let value = f(&mut error);
        self.check(error).map(|()| value)
    }
}

/// Directories in which a system's RocksDB is looked for, in order.
pub fn search_places() -> Vec<PathBuf> {
    let mut places: Vec<PathBuf> = Vec::new();
    for variable in ["LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"] {
        if let Some(value) = std::env::var_os(variable) {
            places.extend(std::env::split_paths(&value).filter(|p| !p.as_os_str().is_empty()));
        }
    }
    places.push("/usr/local/lib".into());
    places.push("/usr/local/lib64".into());
    // Debian's /usr/lib/<triple>.
    if let Ok(entries) = std::fs::read_dir("/usr/lib") {
        let triple = format!("{}-", std::env::consts::ARCH);
        let mut found: Vec<PathBuf> = entries
            .flatten()
            .filter(|e| e.file_name().to_str().is_some_and(|n| n.starts_with(&triple)))
            .map(|e| e.path())
            .collect();
        found.sort();
        places.extend(found);
    }
    for place in ["/usr/lib64", "/usr/lib", "/lib64", "/lib", "/opt/homebrew/lib", "/usr/local/opt/rocksdb/lib"] {
        places.push(place.into());
    }
    places
}

/// The RocksDB library installed on this system: in the first directory of [`search_places`] that has one, `librocksdb.so` (or `.dylib`)
/// before the numbered ones, the highest number of those.
pub fn find_system_library() -> Option<PathBuf> {
    search_places().iter().find_map(|dir| find_in(dir))
}

fn find_in(dir: &Path) -> Option<PathBuf> {
    let mut best: Option<(bool, Vec<u64>, PathBuf)> = None;
    for entry in std::fs::read_dir(dir).ok()?.flatten() {
        let name = entry.file_name();
        let Some(name) = name.to_str() else { continue };
        let Some(rest) = name.strip_prefix("librocksdb.") else { continue };
        let numbers = rest.strip_prefix("so").or_else(|| rest.strip_suffix("dylib"));
        let Some(numbers) = numbers else { continue };
        let parts: Vec<&str> = numbers.split('.').filter(|p| !p.is_empty()).collect();
        let Ok(version) = parts.iter().map(|p| p.parse()).collect::<std::result::Result<Vec<u64>, _>>() else {
            continue;
        };
        let path = entry.path();
        if !path.is_file() {
            continue;
        }
        let candidate = (version.is_empty(), version, path);
        // The longer name of equal versions is the same file; keep the order total by the path.
        if best.as_ref().is_none_or(|b| candidate > *b) {
            best = Some(candidate);
        }
    }
    best.map(|(_, _, path)| path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_name_wins_then_the_highest_number() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(find_in(dir.path()), None);
        for name in ["librocksdb.so.7.8", "librocksdb.so.7.10", "librocksdb.so.x", "librocksdb_env.so", "librocksdb.a"]
        {
            std::fs::write(dir.path().join(name), "").unwrap();
        }
        assert_eq!(find_in(dir.path()), Some(dir.path().join("librocksdb.so.7.10")));
        std::fs::write(dir.path().join("librocksdb.so"), "").unwrap();
        assert_eq!(find_in(dir.path()), Some(dir.path().join("librocksdb.so")));
    }

    #[test]
    fn a_missing_file_and_a_file_that_is_no_library_are_load_errors() {
        let dir = tempfile::tempdir().unwrap();
        let missing = dir.path().join("no.so");
        assert!(matches!(Library::load(&missing), Err(Error::Load { .. })));
        std::fs::write(&missing, "not an object file").unwrap();
        let text = Library::load(&missing).unwrap_err().to_string();
        assert!(text.starts_with("cannot load ") && text.contains("no.so"), "{text}");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn another_library_is_not_taken_for_rocksdb() {
        // libc is always there; Library::load must say what is wrong with it.
        let text = Library::load(Path::new("libc.so.6")).map(|_| ()).unwrap_err().to_string();
        assert!(text.contains("not a RocksDB library"), "{text}");
    }
}
