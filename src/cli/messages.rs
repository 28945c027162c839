//! Everything that goes to stderr: errors, warnings, notes. Lower case; where, what, expected; the hint on its own line.

use std::io::{self, IsTerminal, Write};

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

use super::Exit;
use super::args::ColorChoice;
use super::plan::color;
use crate::base::{Diagnostic, Error, Severity, printable};
use crate::model::Input;
use crate::pivot::SyntaxError;

/// Writes messages.
pub struct Messages {
    color: bool,
    verbose: bool,
}

impl Messages {
    /// A writer to stderr.
    pub fn new(choice: ColorChoice, verbose: bool) -> Self {
        Messages { color: color(choice, io::stderr().is_terminal()), verbose }
    }

    /// The same with nothing chosen.
    pub fn plain() -> Self {
        Messages::new(ColorChoice::Auto, false)
    }

    /// The exit of a run that only had to write to stdout; why it could not is said. Nobody reading on is no error.
    pub fn written(&self, result: io::Result<()>) -> Exit {
        match result {
            Err(source) if source.kind() != io::ErrorKind::BrokenPipe => {
                self.error(&Error::Write { path: "stdout".into(), source });
                Exit::Failed
            }
            _ => Exit::Done,
        }
    }

    fn renderer(&self) -> Renderer {
        if self.color { Renderer::styled() } else { Renderer::plain() }
    }

    /// A closed stderr is nobody's problem.
    fn say(&self, text: &str) {
        let _ = io::stderr().lock().write_all(text.as_bytes());
    }

    /// An error that ends the run.
    pub fn error(&self, error: &Error) {
        self.titled(Level::ERROR, &printable(&error.to_string()));
        self.hint(error.hint());
    }

    /// A plain line, such as the outcome of a gate.
    pub fn line(&self, text: &str) {
        self.say(&format!("{}\n", printable(text)));
    }

    /// Text of our own, as it is.
    pub fn raw(&self, text: &str) {
        self.say(text);
    }

    fn titled(&self, level: Level<'_>, title: &str) {
        let group = Group::with_title(level.primary_title(title));
        self.say(&format!("{}\n", self.renderer().render(&[group])));
    }

    fn hint(&self, hint: Option<&str>) {
        if let Some(hint) = hint {
            let word = if self.color { "\x1b[1mhint\x1b[0m" } else { "hint" };
            self.say(&format!("{word}: {}\n", printable(hint)));
        }
    }

    /// All faults of an expression with carets under it.
    pub fn syntax(&self, flag: &str, error: &SyntaxError) {
        for fault in &error.faults {
            let title = format!("{flag}: {}", printable(&fault.message));
            let text = printable(&error.expression);
            // Escaped text has other offsets; then the message alone must do.
            if *text == error.expression && error.expression.get(fault.span.clone()).is_some() {
                let snippet =
                    Snippet::source(&*text).line_start(1).annotation(AnnotationKind::Primary.span(fault.span.clone()));
                let group = Level::ERROR.primary_title(&*title).element(snippet);
                self.say(&format!("{}\n", self.renderer().render(&[group])));
            } else {
                self.titled(Level::ERROR, &title);
            }
            self.hint(fault.hint.as_deref());
        }
    }

    /// Diagnostics in order; notes only with `-v`.
    pub fn diagnostics(&self, diagnostics: &[Diagnostic], inputs: &[Input]) {
        for d in diagnostics {
            if d.severity == Severity::Note && !self.verbose {
                continue;
            }
            self.diagnostic(d, inputs);
        }
    }

    fn diagnostic(&self, d: &Diagnostic, inputs: &[Input]) {
        let mut title = String::new();
        if let Some(input) = d.source.and_then(|s| inputs.get(s.0 as usize)) {
            title.push_str(&input.path);
            if let Some(pos) = d.pos.filter(|p| p.line > 0) {
                title.push_str(&format!(":{}", pos.line));
                if pos.column > 0 {
                    title.push_str(&format!(":{}", pos.column));
                }
            }
            title.push_str(": ");
        }
        title.push_str(&d.message);
        let title = printable(&title);
        let level = if d.severity == Severity::Note { Level::NOTE } else { Level::WARNING };
        match (&d.excerpt, d.pos) {
            (Some(excerpt), Some(pos)) if pos.line > 0 => {
                // Controls become blanks, so that offsets stay.
                let text: String = excerpt.text.chars().map(blank_control).collect();
                let line = usize::try_from(pos.line).unwrap_or(usize::MAX);
                let span = excerpt.span.start.min(text.len())..excerpt.span.end.min(text.len());
                let snippet = Snippet::source(&*text).line_start(line).annotation(AnnotationKind::Primary.span(span));
                let group = level.primary_title(&*title).element(snippet);
                self.say(&format!("{}\n", self.renderer().render(&[group])));
            }
            _ => self.titled(level, &title),
        }
        self.hint(d.hint.as_deref());
    }
}

/// A control or direction character as blanks of the same length.
fn blank_control(c: char) -> char {
    if c.is_ascii_control() { ' ' } else { c }
}
