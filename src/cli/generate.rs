//! Shell completions and the man page, made of the same definition as the help.

use std::io::{self, Write};

use clap::{Command, CommandFactory};
use clap_complete::Shell;

use super::Exit;
use super::args::{Cli, ColorChoice, Generate};
use super::messages::Messages;
use crate::base::Error;

/// Runs `abstat generate`.
pub(super) fn run(what: Generate) -> Exit {
    let command = Cli::command();
    let mut stdout = io::stdout().lock();
    let written = match what {
        Generate::Man => man(command, &mut stdout),
        Generate::Completions { shell } => completions(command, shell, &mut stdout),
    };
    match written {
        Err(e) if e.kind() != io::ErrorKind::BrokenPipe => {
            Messages::new(ColorChoice::Auto, false).error(&Error::Write { path: "stdout".into(), source: e });
            Exit::Failed
        }
        _ => Exit::Done,
    }
}

/// Completions of `command` for `shell`.
///
/// # Errors
/// Whatever writing to `out` gives.
pub fn completions(mut command: Command, shell: Shell, out: &mut dyn Write) -> io::Result<()> {
    let name = command.get_name().to_owned();
    // The generator takes a writer that cannot fail.
    let mut buffer = Vec::new();
    clap_complete::generate(shell, &mut command, name, &mut buffer);
    out.write_all(&buffer)
}

/// The manual page of `command` and, behind it, of its subcommands: one page, section 1.
///
/// # Errors
/// Whatever writing to `out` gives.
pub fn man(mut command: Command, out: &mut dyn Write) -> io::Result<()> {
    command.build();
    let mut buffer = Vec::new();
    clap_mangen::Man::new(command.clone()).render(&mut buffer)?;
    for sub in visible(&command) {
        section(sub, &mut buffer)?;
    }
    out.write_all(&buffer)
}

/// Subcommands but `help`, which only repeats the others.
fn visible(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|c| !c.is_hide_set() && c.get_name() != "help")
}

/// A section of a subcommand, and of those below it.
fn section(command: &Command, out: &mut Vec<u8>) -> io::Result<()> {
    let name = command.get_bin_name().unwrap_or(command.get_name());
    writeln!(out, ".SH \"{}\"", name.to_uppercase())?;
    let man = clap_mangen::Man::new(command.clone());
    man.render_description_section(&mut demoted(out))?;
    man.render_synopsis_section(&mut demoted(out))?;
    if command.get_arguments().any(|a| !a.is_hide_set()) {
        man.render_options_section(&mut demoted(out))?;
    }
    visible(command).try_for_each(|sub| section(sub, out))
}

/// Turns the sections written through it into subsections.
fn demoted(out: &mut Vec<u8>) -> Demoted<'_> {
    Demoted { out, buffer: Vec::new() }
}

struct Demoted<'a> {
    out: &'a mut Vec<u8>,
    buffer: Vec<u8>,
}

impl Write for Demoted<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.buffer.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Demoted<'_> {
    fn drop(&mut self) {
        for line in self.buffer.split_inclusive(|b| *b == b'\n') {
            match line.strip_prefix(b".SH ") {
                Some(rest) => {
                    self.out.extend_from_slice(b".SS ");
                    self.out.extend_from_slice(rest);
                }
                None => self.out.extend_from_slice(line),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{CommandFactory, ValueEnum};

    fn command() -> Command {
        super::super::args::Cli::command()
    }

    #[test]
    fn every_shell_completes_the_flags() {
        for shell in Shell::value_variants() {
            let mut out = Vec::new();
            completions(command(), *shell, &mut out).unwrap();
            let text = String::from_utf8(out).unwrap();
            for flag in ["filter", "confidence", "correction"] {
                assert!(text.contains(flag), "{shell}: {flag}");
            }
        }
    }

    #[test]
    fn the_man_page_has_every_flag_and_subcommand() {
        let mut out = Vec::new();
        let of = Command::new("x")
            .about("does x")
            .arg(clap::arg!(--above <N> "a limit"))
            .subcommand(Command::new("sub").about("does less").arg(clap::arg!(--below <N> "another limit")));
        man(of, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(text.starts_with(".ie") || text.contains(".TH x 1"), "{text}");
        for part in ["above", "a limit", ".SH \"X SUB\"", ".SS DESCRIPTION", "below", "another limit"] {
            assert!(text.contains(part), "{part}: {text}");
        }
        let mut out = Vec::new();
        man(command(), &mut out).unwrap();
        assert!(String::from_utf8(out).unwrap().contains("confidence"));
    }
}
