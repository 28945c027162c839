//! Directories of databases: what is ours, what is not, and how ours go away again.
//!
//! Every database that the runner makes holds a file [`MARKER`] that says with what it was loaded. Nothing is removed or overwritten
//! without it, and even then only files that RocksDB makes; anything else in the directory stays, with the directory.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::error::{Error, Result};
use super::spec::{Benchmark, format_size, word};

/// Name of the file that marks a database as ours.
pub const MARKER: &str = "ABSTAT_DB";

/// What the marker says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Contents {
    /// What was loaded, and how the database was opened.
    pub benchmark: Benchmark,
    /// Seed of the values.
    pub seed: u64,
    /// Values may be of generations up to this one.
    pub generations: u64,
}

impl Contents {
    /// Writes the marker of the database at `path`.
    ///
    /// # Errors
    /// The system's.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        let text = serde_json::to_string(self).map_err(io::Error::other)?;
        fs::write(path.join(MARKER), text + "\n")
    }

    /// What the marker at `path` says; `None` where there is none, or none that this release can read.
    pub fn read(path: &Path) -> Option<Contents> {
        serde_json::from_str(&fs::read_to_string(path.join(MARKER)).ok()?).ok()
    }

    /// The database can be used for `b`.
    ///
    /// # Errors
    /// [`Error::Refused`] naming the first parameter that differs.
    pub fn fits(&self, b: &Benchmark, path: &Path) -> Result<()> {
        let made = &self.benchmark;
        for (flag, have, want) in [
            ("--cf", made.families.to_string(), b.families.to_string()),
            ("--keys", made.keys.to_string(), b.keys.to_string()),
            ("--key-size", made.key_size.to_string(), b.key_size.to_string()),
            ("--value-size", made.value_size.to_string(), b.value_size.to_string()),
            ("--ratio", made.ratio.to_string(), b.ratio.to_string()),
            ("--comparator", word(&made.comparator), word(&b.comparator)),
        ] {
            if have != want {
                return Err(Error::refused(
                    format!("{}: made with {flag} {have}, asked for {flag} {want}", path.display()),
                    format!("repeat the parameters of the run that made it: {flag} {have}"),
                ));
            }
        }
        Ok(())
    }
}

/// The files that RocksDB puts into a database directory, and the marker.
fn is_ours(name: &str) -> bool {
    let number = |stem: &str| !stem.is_empty() && stem.bytes().all(|b| b.is_ascii_digit());
    match name {
        "CURRENT" | "IDENTITY" | "LOCK" | "LOG" | MARKER => true,
        _ => {
            name.strip_prefix("LOG.old.").is_some_and(number)
                || name.strip_prefix("MANIFEST-").is_some_and(number)
                || name.strip_prefix("OPTIONS-").is_some_and(|n| number(n.strip_suffix(".dbtmp").unwrap_or(n)))
                || name.rsplit_once('.').is_some_and(|(stem, extension)| {
                    number(stem) && matches!(extension, "sst" | "log" | "blob" | "dbtmp")
                })
        }
    }
}

/// A database directory that the runner may fill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Made {
    path: PathBuf,
    /// The directory was there before, empty: it stays.
    existed: bool,
}

impl Made {
    /// Makes directory `path`, or takes it when it is empty, and marks it.
    ///
    /// # Errors
    /// [`Error::Refused`] when something is there; the system's errors.
    pub fn new(path: &Path, contents: &Contents) -> Result<Made> {
        let existed = check_empty(path)?;
        if !existed {
            fs::create_dir(path).map_err(Error::io("cannot create", path))?;
        }
        let made = Made { path: path.to_owned(), existed };
        if let Err(e) = contents.write(path) {
            // Nothing but a part of the marker can be there.
            let _ = fs::remove_file(path.join(MARKER));
            if !existed {
                let _ = fs::remove_dir(path);
            }
            return Err(Error::io("cannot write the marker in", path)(e));
        }
        Ok(made)
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Removes the database. Returns the names of files that are not RocksDB's and stay.
    ///
    /// # Errors
    /// The system's.
    pub fn remove(self) -> Result<Vec<String>> {
        let left = empty(&self.path)?;
        if left.is_empty() && !self.existed {
            fs::remove_dir(&self.path).map_err(Error::io("cannot remove", &self.path))?;
        }
        Ok(left)
    }
}

/// Whether directory `path` exists (and is empty).
///
/// # Errors
/// [`Error::Refused`] when it holds anything or is no directory.
pub fn check_empty(path: &Path) -> Result<bool> {
    let mut entries = match fs::read_dir(path) {
        Ok(entries) => entries,
        Err(e) if e.kind() == io::ErrorKind::NotFound => {
            // A dangling link is something, too.
            return match path.symlink_metadata() {
                Ok(_) => Err(Error::refused(
                    format!("{}: is a link to nothing", path.display()),
                    "name a directory that does not exist yet",
                )),
                Err(_) => Ok(false),
            };
        }
        Err(e) if e.kind() == io::ErrorKind::NotADirectory => {
            return Err(Error::refused(
                format!("{}: is a file", path.display()),
                "name a directory that does not exist yet or is empty",
            ));
        }
        Err(e) => return Err(Error::io("cannot read", path)(e)),
    };
    if entries.next().is_none() {
        return Ok(true);
    }
    Err(Error::refused(
        format!("{}: is not empty; a database is never made over something else", path.display()),
        if path.join("CURRENT").exists() {
            "--use-db reads the database that is there; --overwrite-db replaces one that abstat made"
        } else {
            "name a directory that does not exist yet or is empty"
        },
    ))
}

/// Removes the database of an earlier run at `path`.
///
/// # Errors
/// [`Error::Refused`] unless it holds our marker and is a database; or when foreign files would stay.
pub fn overwrite(path: &Path) -> Result<()> {
    if !path.exists() {
        return Ok(());
    }
    for (file, what) in [(MARKER, "was not made by abstat run"), ("CURRENT", "is no RocksDB database")] {
        if !path.join(file).is_file() {
            return Err(Error::refused(
                format!("{}: {what} (it has no file {file}), so it is not overwritten", path.display()),
                "name another directory, or remove this one yourself",
            ));
        }
    }
    if let Some(by) = locked(path) {
        return Err(Error::refused(
            format!("{}: process {by} has this database open, so it is not overwritten", path.display()),
            "wait for its end, or name another directory",
        ));
    }
    let left = foreign(path)?;
    if !left.is_empty() {
        return Err(Error::refused(
            format!("{}: holds files that are not RocksDB's: {}", path.display(), left.join(", ")),
            "move them away, or name another directory",
        ));
    }
    empty(path).map(|_| ())
}

/// The process that has the database at `path` open: RocksDB keeps a lock on its file LOCK as long.
#[cfg(unix)]
fn locked(path: &Path) -> Option<u32> {
    use rustix::process::{Flock, FlockType, fcntl_getlk};
    // Opened for writing: a lock for writing can be asked about only then.
    let file = fs::OpenOptions::new().write(true).open(path.join("LOCK")).ok()?;
    let holder = fcntl_getlk(&file, &Flock::from(FlockType::WriteLock)).ok()??;
    Some(holder.pid.map_or(0, |pid| pid.as_raw_nonzero().get().unsigned_abs()))
}

/// Elsewhere an open file cannot be removed.
#[cfg(not(unix))]
fn locked(_: &Path) -> Option<u32> {
    None
}

/// Names in `path` that are not RocksDB's.
fn foreign(path: &Path) -> Result<Vec<String>> {
    let mut left = Vec::new();
    for entry in fs::read_dir(path).map_err(Error::io("cannot read", path))? {
        let entry = entry.map_err(Error::io("cannot read", path))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_file = entry.file_type().is_ok_and(|t| t.is_file());
        if !(is_file && is_ours(&name)) {
            left.push(name);
        }
    }
    left.sort();
    Ok(left)
}

/// Removes RocksDB's files from `path`, the marker last; returns what stays.
fn empty(path: &Path) -> Result<Vec<String>> {
    if !path.join(MARKER).is_file() {
        return Err(Error::refused(
            format!("{}: has no file {MARKER}, so nothing in it is removed", path.display()),
            "remove it yourself if you do not need it",
        ));
    }
    for entry in fs::read_dir(path).map_err(Error::io("cannot read", path))? {
        let entry = entry.map_err(Error::io("cannot read", path))?;
        let is_file = entry.file_type().is_ok_and(|t| t.is_file());
        if is_file && entry.file_name().to_str().is_some_and(|n| n != MARKER && is_ours(n)) {
            fs::remove_file(entry.path()).map_err(Error::io("cannot remove", &entry.path()))?;
        }
    }
    let left: Vec<String> = foreign(path)?.into_iter().filter(|n| n != MARKER).collect();
    let marker = path.join(MARKER);
    fs::remove_file(&marker).map_err(Error::io("cannot remove", &marker))?;
    Ok(left)
}

/// Takes up a database that a fork left behind (it crashed): ours by its marker.
pub fn take_up(path: &Path, existed: bool) -> Option<Made> {
    path.join(MARKER).is_file().then(|| Made { path: path.to_owned(), existed })
}

/// Refuses when the file system that holds `path` has less than `need` bytes free for us.
///
/// # Errors
/// [`Error::Refused`], or the system's error.
pub fn check_space(path: &Path, need: u64) -> Result<()> {
    // The directory itself may not exist yet.
    let at = if path.exists() {
        path
    } else {
        path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
    };
    let Some(free) = free_space(at)? else { return Ok(()) };
    if free < need {
        return Err(Error::refused(
            format!(
                "{}: {} free, about {} needed for the database (2.5 times keys and values, and buffers)",
                at.display(),
                about(free),
                about(need)
            ),
            "use --dir for another file system, or fewer or smaller --keys; --force tries all the same",
        ));
    }
    Ok(())
}

/// The file system of `path` has no room left worth the name.
pub fn is_full(path: &Path) -> bool {
    matches!(free_space(path), Ok(Some(free)) if free < 64 << 10)
}

#[cfg(unix)]
fn free_space(path: &Path) -> Result<Option<u64>> {
    let stat =
        rustix::fs::statvfs(path).map_err(|e| Error::io("cannot ask for free space of", path)(io::Error::from(e)))?;
    Ok(Some(stat.f_bavail.saturating_mul(stat.f_frsize)))
}

#[cfg(not(unix))]
fn free_space(_path: &Path) -> Result<Option<u64>> {
    Ok(None)
}

/// A number of bytes for people.
fn about(bytes: u64) -> String {
    for (shift, letter) in [(30, "G"), (20, "M"), (10, "K")] {
        if bytes >= 10 << shift {
            return format!("{}{letter}", bytes >> shift);
        }
    }
    format_size(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runner::spec::Op;

    fn contents() -> Contents {
        Contents { benchmark: Benchmark::new(Op::Get), seed: 42, generations: 7 }
    }

    #[test]
    fn a_new_directory_goes_and_an_empty_one_stays() {
        let dir = tempfile::tempdir().unwrap();
        let new = dir.path().join("new");
        let made = Made::new(&new, &contents()).unwrap();
        fs::write(new.join("000012.sst"), "x").unwrap();
        assert_eq!(Contents::read(&new), Some(contents()));
        assert_eq!(made.remove().unwrap(), Vec::<String>::new());
        assert!(!new.exists());

        let empty = dir.path().join("empty");
        fs::create_dir(&empty).unwrap();
        Made::new(&empty, &contents()).unwrap().remove().unwrap();
        assert!(empty.exists() && fs::read_dir(&empty).unwrap().next().is_none());
    }

    #[test]
    fn what_is_not_ours_is_neither_filled_nor_removed() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("CURRENT"), "MANIFEST-000001\n").unwrap();
        let text = Made::new(dir.path(), &contents()).unwrap_err();
        assert!(text.to_string().contains("not empty") && text.hint().unwrap().contains("--use-db"));
        assert!(overwrite(dir.path()).unwrap_err().to_string().contains("not made by abstat"));
        let file = dir.path().join("CURRENT");
        assert!(Made::new(&file, &contents()).unwrap_err().to_string().contains("is a file"));
        // A marker alone does not make a database.
        fs::remove_file(&file).unwrap();
        contents().write(dir.path()).unwrap();
        assert!(overwrite(dir.path()).unwrap_err().to_string().contains("no RocksDB database"));
        // Nor may there be anything else in it.
        fs::write(&file, "MANIFEST-000001\n").unwrap();
        fs::write(dir.path().join("thesis.tex"), "x").unwrap();
        assert!(overwrite(dir.path()).unwrap_err().to_string().contains("thesis.tex"));
        assert!(file.exists());
        fs::remove_file(dir.path().join("thesis.tex")).unwrap();
        overwrite(dir.path()).unwrap();
        assert!(fs::read_dir(dir.path()).unwrap().next().is_none());
    }

    #[test]
    fn foreign_files_survive_the_removal_of_a_database() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("db");
        let made = Made::new(&path, &contents()).unwrap();
        for name in
            ["CURRENT", "LOG", "LOG.old.1764", "000003.log", "MANIFEST-000004", "OPTIONS-000007", "mine.sst", "1.txt"]
        {
            fs::write(path.join(name), "x").unwrap();
        }
        fs::create_dir(path.join("000009.sst")).unwrap();
        assert_eq!(made.remove().unwrap(), ["000009.sst", "1.txt", "mine.sst"]);
        let mut left: Vec<_> = fs::read_dir(&path).unwrap().map(|e| e.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, ["000009.sst", "1.txt", "mine.sst"]);
        // Without a marker it is no longer ours.
        assert!(take_up(&path, false).is_none());
    }

    #[test]
    fn a_database_of_other_parameters_is_refused() {
        let b = Benchmark { keys: 1000, ..Benchmark::new(Op::Put) };
        let error = contents().fits(&b, Path::new("p")).unwrap_err();
        assert_eq!(error.to_string(), "p: made with --keys 100000, asked for --keys 1000");
        assert!(contents().fits(&Benchmark::new(Op::Put), Path::new("p")).is_ok());
    }

    #[test]
    fn space_is_compared_with_what_is_free() {
        let dir = tempfile::tempdir().unwrap();
        check_space(&dir.path().join("not there yet"), 1).unwrap();
        let error = check_space(dir.path(), u64::MAX).unwrap_err();
        assert!(error.hint().unwrap().contains("--force"));
    }
}
