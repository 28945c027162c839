//! The run's own directory: made under a fresh name, so everything in it is ours.

use std::fs;
use std::path::{Path, PathBuf};

use super::error::{Error, Result};

/// Begins the name of every such directory.
const PREFIX: &str = "abstat-run-";
/// Databases that are kept lie in this directory of it.
const KEPT: &str = "db";

/// A directory that goes away when dropped, but for databases that are kept.
#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
}

impl Scratch {
    /// Makes one under `dir`.
    ///
    /// # Errors
    /// The system's.
    pub fn new(dir: &Path) -> Result<Scratch> {
        let made = tempfile::Builder::new()
            .prefix(PREFIX)
            .tempdir_in(dir)
            .and_then(|made| fs::create_dir(made.path().join(KEPT)).map(|()| made))
            .map_err(Error::io("cannot make a directory in", dir))?;
        // Removed in our own way: `--keep` and a child that outlives the parent go through the same function.
        Ok(Scratch { path: made.keep() })
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where databases go.
    pub fn databases(&self) -> PathBuf {
        self.path.join(KEPT)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        remove(&self.path);
    }
}

/// Removes scratch directory `path` with all that is in it, but for databases that were kept (those that are not are gone by now).
pub fn remove(path: &Path) {
    // Never anything but a directory of ours.
    if !path.file_name().and_then(|n| n.to_str()).is_some_and(|n| n.starts_with(PREFIX)) {
        return;
    }
    for entry in fs::read_dir(path).into_iter().flatten().flatten() {
        if entry.file_name() == KEPT {
            // Only when empty.
            let _ = fs::remove_dir(entry.path());
        } else if entry.file_type().is_ok_and(|t| t.is_dir()) {
            let _ = fs::remove_dir_all(entry.path());
        } else {
            let _ = fs::remove_file(entry.path());
        }
    }
    let _ = fs::remove_dir(path);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goes_with_all_but_kept_databases() {
        let dir = tempfile::tempdir().unwrap();
        let scratch = Scratch::new(dir.path()).unwrap();
        let path = scratch.path().to_owned();
        fs::write(path.join("lib.so"), "x").unwrap();
        fs::create_dir(path.join("logs")).unwrap();
        fs::write(path.join("logs/LOG"), "x").unwrap();
        drop(scratch);
        assert!(!path.exists());

        let scratch = Scratch::new(dir.path()).unwrap();
        let path = scratch.path().to_owned();
        fs::create_dir(scratch.databases().join("1")).unwrap();
        fs::create_dir(path.join("logs")).unwrap();
        drop(scratch);
        assert!(path.join("db/1").exists() && !path.join("logs").exists());

        remove(dir.path());
        assert!(dir.path().exists());
    }
}
