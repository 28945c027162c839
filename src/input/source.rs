use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::base::Error;

/// Where the bytes of an input come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceKind {
    /// Standard input.
    Stdin,
    /// A file.
    File(PathBuf),
    /// Text of our own, under a name for messages.
    Bytes(&'static str, Arc<[u8]>),
}

/// An input as the user named it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// What was typed before the `=`, if anything was.
    pub label: Option<String>,
    /// Where its bytes come from.
    pub kind: SourceKind,
}

impl Source {
    /// Standard input without a label.
    pub fn stdin() -> Self {
        Source { label: None, kind: SourceKind::Stdin }
    }

    /// Reads an argument: `PATH`, `-`, `LABEL=PATH` or `LABEL=-`. A path that exists wins over a label.
    pub fn parse(arg: &str) -> Self {
        Source::parse_with(arg, |path| path.exists())
    }

    /// benchstat's reading: the first `=` always splits.
    pub fn parse_split_always(arg: &str) -> Self {
        Source::parse_with(arg, |_| false)
    }

    fn parse_with(arg: &str, exists: impl Fn(&Path) -> bool) -> Self {
        let kind = |path: &str| match path {
            "-" => SourceKind::Stdin,
            _ => SourceKind::File(PathBuf::from(path)),
        };
        match arg.split_once('=') {
            Some((label, path)) if !exists(Path::new(arg)) => {
                Source { label: Some(label.to_owned()), kind: kind(path) }
            }
            _ => Source { label: None, kind: kind(arg) },
        }
    }

    /// It is standard input.
    pub fn is_stdin(&self) -> bool {
        self.kind == SourceKind::Stdin
    }

    /// As messages name it: the path as typed, or `stdin`.
    pub fn name(&self) -> String {
        match &self.kind {
            SourceKind::Stdin => "stdin".to_owned(),
            SourceKind::File(path) => path.display().to_string(),
            SourceKind::Bytes(name, _) => (*name).to_owned(),
        }
    }

    /// Opens it.
    ///
    /// # Errors
    /// [`Error::Read`] when it is missing, a directory or unreadable.
    pub fn open(&self) -> Result<Box<dyn Read + Send>, Error> {
        let fail = |source| Error::Read { name: self.name(), source };
        match &self.kind {
            SourceKind::Stdin => Ok(Box::new(io::stdin())),
            SourceKind::Bytes(_, bytes) => Ok(Box::new(io::Cursor::new(Arc::clone(bytes)))),
            SourceKind::File(path) => {
                let file = File::open(path).map_err(fail)?;
                if file.metadata().map_err(fail)?.is_dir() {
                    return Err(fail(io::Error::new(io::ErrorKind::IsADirectory, "is a directory")));
                }
                Ok(Box::new(file))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_exists_wins_over_a_label() {
        let parse = |arg: &str| Source::parse_with(arg, |p| p == Path::new("run=1.txt"));
        assert_eq!(parse("run=1.txt"), Source { label: None, kind: SourceKind::File("run=1.txt".into()) });
        assert_eq!(parse("a=b=c"), Source { label: Some("a".into()), kind: SourceKind::File("b=c".into()) });
        assert_eq!(parse("head=-"), Source { label: Some("head".into()), kind: SourceKind::Stdin });
        assert_eq!(parse("-"), Source::stdin());
        assert_eq!(parse("=x"), Source { label: Some(String::new()), kind: SourceKind::File("x".into()) });
    }
}
