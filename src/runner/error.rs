//! What keeps a run from starting, or ends it. All of it is exit code 2.

use std::io;
use std::path::{Path, PathBuf};

use super::engine;

/// Why there is no (complete) run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Options that cannot work together, or at all.
    #[error("{message}")]
    Usage {
        /// What is wrong, naming the flag.
        message: String,
        /// The way out.
        hint: Option<String>,
    },
    /// Something that would touch what is not ours, or does not fit on the disk.
    #[error("{message}")]
    Refused {
        /// What was found, where.
        message: String,
        /// The way out.
        hint: Option<String>,
    },
    /// No RocksDB was named and none is installed.
    #[error("no RocksDB library found")]
    NoLibrary {
        /// Where it was looked for.
        places: Vec<PathBuf>,
    },
    /// An engine does not work.
    #[error("engine {label}: {message}")]
    Engine {
        /// Its label.
        label: String,
        /// What it said.
        message: String,
        /// The way out.
        hint: Option<String>,
    },
    /// The record cannot be continued or written.
    #[error("{}: {message}", path.display())]
    Record {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        message: String,
        /// The way out.
        hint: Option<String>,
    },
    /// The user ended it before anything was measured.
    #[error("interrupted before anything was measured")]
    Interrupted,
    /// The system refused something.
    #[error("{what} {}: {source}", path.display())]
    Io {
        /// What was tried: `cannot create`.
        what: &'static str,
        /// On what.
        path: PathBuf,
        /// What it said.
        source: io::Error,
    },
}

/// Shorthand of the runner.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// A usage error without a hint.
    pub fn usage(message: impl Into<String>) -> Self {
        Error::Usage { message: message.into(), hint: None }
    }

    pub(crate) fn usage_hint(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Error::Usage { message: message.into(), hint: Some(hint.into()) }
    }

    pub(crate) fn refused(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Error::Refused { message: message.into(), hint: Some(hint.into()) }
    }

    pub(crate) fn io(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Error::Io { what, path, source }
    }

    pub(crate) fn engine(label: &str, error: &engine::Error) -> Self {
        Error::Engine { label: label.to_owned(), message: error.to_string(), hint: None }
    }

    /// Advice to print after the message, without the `hint:`.
    pub fn hint(&self) -> Option<String> {
        match self {
            Error::Usage { hint, .. }
            | Error::Refused { hint, .. }
            | Error::Engine { hint, .. }
            | Error::Record { hint, .. } => hint.clone(),
            Error::NoLibrary { places } => {
                let places: Vec<String> = places.iter().map(|p| p.display().to_string()).collect();
                Some(format!(
                    "install one (Debian, Ubuntu: apt-get install librocksdb7.8, or librocksdb-dev whatever its version; macOS: brew install \
                     rocksdb), or name one: --engine LABEL=PATH or ABSTAT_ROCKSDB=PATH, where PATH is a librocksdb.so, .dylib, or a \
                     rocksdbjni-X.Y.Z.jar from Maven Central (org.rocksdb:rocksdbjni); --engine memory runs without. Looked in {}",
                    places.join(", ")
                ))
            }
            Error::Io { .. } | Error::Interrupted => None,
        }
    }
}
