//! Where a report goes: stdout, and files that appear whole or not at all.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::args::FormatChoice;
use crate::base::Error;
use crate::render::Render;
use crate::render::chart::terminal::TextPlot;
use crate::render::chart::{Chart, Svg};
use crate::render::csv::Csv;
use crate::render::html::Html;
use crate::render::json::Json;
use crate::render::markdown::{Markdown, MarkdownOptions};
use crate::render::text::Text;
use crate::report::Report;

/// The format draws single samples.
pub fn draws_samples(format: FormatChoice) -> bool {
    matches!(format, FormatChoice::Html | FormatChoice::Svg)
}

/// A file to write.
pub struct Target {
    pub format: FormatChoice,
    pub path: PathBuf,
}

const NAMES: &[(&str, FormatChoice)] = &[
    ("text", FormatChoice::Text),
    ("txt", FormatChoice::Text),
    ("csv", FormatChoice::Csv),
    ("json", FormatChoice::Json),
    ("markdown", FormatChoice::Markdown),
    ("md", FormatChoice::Markdown),
    ("html", FormatChoice::Html),
    ("htm", FormatChoice::Html),
    ("svg", FormatChoice::Svg),
];

/// Reads `FORMAT:FILE`, or `FILE` whose extension is a format.
pub fn target(arg: &Path) -> Result<Target, Error> {
    let text = arg.to_string_lossy();
    let named = |name: &str| NAMES.iter().find(|(n, _)| *n == name).map(|(_, f)| *f);
    if let Some((format, path)) = text.split_once(':')
        && let Some(format) = named(format)
    {
        return Ok(Target { format, path: path.into() });
    }
    match arg.extension().and_then(|e| e.to_str()).and_then(named) {
        Some(format) => Ok(Target { format, path: arg.to_owned() }),
        None => {
            let names: Vec<&str> = NAMES.iter().map(|(n, _)| *n).collect();
            Err(Error::Usage {
                message: format!("--output: expected FORMAT:FILE or a file with a known extension, found {text:?}"),
                hint: Some(format!("formats: {}", names.join(", "))),
            })
        }
    }
}

/// What the formats can be told.
#[derive(Clone, Debug)]
pub struct Options {
    pub text: Text,
    pub markdown: MarkdownOptions,
    pub chart: Chart,
    /// Pictures below text.
    pub plot: bool,
}

/// The renderer of a format.
pub fn renderer(format: FormatChoice, options: &Options) -> Box<dyn Render> {
    match format {
        FormatChoice::Text if options.plot => Box::new(TextPlot { text: options.text.clone() }),
        FormatChoice::Text => Box::new(options.text.clone()),
        FormatChoice::Markdown => Box::new(Markdown(options.markdown.clone())),
        FormatChoice::Html => Box::new(Html { raw_ratio: options.text.raw_ratio }),
        FormatChoice::Svg => Box::new(Svg { chart: options.chart, raw_ratio: options.text.raw_ratio }),
        FormatChoice::Csv => Box::new(Csv),
        FormatChoice::Json => Box::new(Json),
    }
}

/// Writes the report to a file: under a temporary name beside it, then renamed. A file that was there stays as it was until then.
pub fn write_file(target: &Target, report: &Report, options: &Options) -> Result<(), Error> {
    let fail = |source: io::Error| Error::Write { path: target.path.clone(), source };
    let plain = Options { text: Text { color: false, ..options.text.clone() }, ..options.clone() };
    let before = std::fs::metadata(&target.path).ok();
    // A device or a pipe cannot be replaced by renaming.
    if before.as_ref().is_some_and(|m| !m.is_file()) {
        let mut file = std::fs::OpenOptions::new().write(true).open(&target.path).map_err(fail)?;
        return match renderer(target.format, &plain).render(report, &mut file).and_then(|()| file.flush()) {
            // Nobody reads on: no error, and no reason to leave out the other outputs.
            Err(source) if source.kind() != io::ErrorKind::BrokenPipe => Err(fail(source)),
            _ => Ok(()),
        };
    }
    // A link stays one: the file behind it is replaced.
    let path = if before.is_some() { target.path.canonicalize().map_err(fail)? } else { target.path.clone() };
    let directory = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    builder.prefix(".abstat-");
    // Temporary files are private by default; a report has the permissions of the file it replaces, or of any new file.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut file = builder.tempfile_in(directory).map_err(fail)?;
    renderer(target.format, &plain).render(report, &mut file).map_err(fail)?;
    file.flush().map_err(fail)?;
    if let Some(before) = before {
        file.as_file().set_permissions(before.permissions()).map_err(fail)?;
    }
    file.persist(&path).map_err(|e| fail(e.error))?;
    Ok(())
}
