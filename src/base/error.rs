use std::io;
use std::path::PathBuf;

/// What ends a run. Everything wrong *inside* an input is a [`super::Diagnostic`] instead.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An input could not be opened or read.
    #[error("{name}: {source}")]
    Read {
        /// The input as typed.
        name: String,
        /// What the system said.
        source: io::Error,
    },
    /// An output could not be written.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// The file, or `stdout`.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Arguments that cannot work.
    #[error("{message}")]
    Usage {
        /// What is wrong, naming the flag.
        message: String,
        /// The way out.
        hint: Option<String>,
    },
    /// An input without anything in it.
    #[error("{name}: no data")]
    Empty {
        /// The input as typed.
        name: String,
    },
    /// No input held a result.
    #[error("{message}")]
    NoResults {
        /// Names the inputs and what they look like.
        message: String,
        /// The way out.
        hint: Option<String>,
    },
    /// Results on both sides, but none in common.
    #[error("{message}")]
    NothingToCompare {
        /// Names of each side.
        message: String,
        /// The nearest pair.
        hint: Option<String>,
    },
}

impl Error {
    /// A usage error without a hint.
    pub fn usage(message: impl Into<String>) -> Self {
        Error::Usage { message: message.into(), hint: None }
    }

    /// Advice to print after the message, without the `hint:`.
    pub fn hint(&self) -> Option<&str> {
        match self {
            Error::Usage { hint, .. } | Error::NoResults { hint, .. } | Error::NothingToCompare { hint, .. } => {
                hint.as_deref()
            }
            Error::Empty { .. } => Some("did the benchmark command fail? its output goes before the pipe"),
            Error::Read { .. } | Error::Write { .. } => None,
        }
    }
}
