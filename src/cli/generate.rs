//! Shell completions and the man page, made of the same definition as the help.

use std::io::{self, Write};

use clap::{Args, Command, Subcommand};
use clap_complete::Shell;

use super::Exit;
use super::messages::Messages;

/// `abstat generate`
#[derive(Clone, Debug, Args)]
pub struct GenerateArgs {
    /// What to print.
    #[command(subcommand)]
    pub what: What,
}

/// What can be made of the definition of the command line.
#[derive(Clone, Debug, Subcommand)]
pub enum What {
    /// Completions for a shell, such as: abstat generate completions bash > /etc/bash_completion.d/abstat
    Completions {
        /// The shell.
        #[arg(value_enum)]
        shell: Shell,
    },
    /// The manual page, such as: abstat generate man > /usr/share/man/man1/abstat.1
    Man,
}

impl GenerateArgs {
    /// Prints it for `command`.
    pub(super) fn run(&self, command: Command, messages: &Messages) -> Exit {
        let mut out = io::stdout().lock();
        let written = match self.what {
            What::Completions { shell } => completions(command, shell, &mut out),
            What::Man => man(command, &mut out),
        };
        messages.written(written.and_then(|()| out.flush()))
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

/// The manual page of `command`, section 1, with a section for each of its subcommands.
///
/// # Errors
/// Whatever writing to `out` gives.
pub fn man(mut command: Command, out: &mut dyn Write) -> io::Result<()> {
    command.build();
    let mut page = Vec::new();
    let man = clap_mangen::Man::new(command.clone());
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    subcommands(&command, &mut page)?;
    examples(&command, "SH", &mut page)?;
    if command.get_version().is_some() {
        man.render_version_section(&mut page)?;
    }
    out.write_all(&page)
}

/// Sections of the subcommands but `help`, which only repeats the others, and of those below them.
fn subcommands(command: &Command, out: &mut Vec<u8>) -> io::Result<()> {
    for sub in command.get_subcommands().filter(|c| !c.is_hide_set() && c.get_name() != "help") {
        let name = sub.get_bin_name().unwrap_or(sub.get_name());
        writeln!(out, ".SH \"{}\"", name.to_uppercase())?;
        let man = clap_mangen::Man::new(sub.clone());
        man.render_description_section(&mut demoted(out))?;
        man.render_synopsis_section(&mut demoted(out))?;
        if sub.get_arguments().any(|a| !a.is_hide_set() && a.get_id() != "help") {
            man.render_options_section(&mut demoted(out))?;
        }
        examples(sub, "SS", out)?;
        subcommands(sub, out)?;
    }
    Ok(())
}

/// What stands below the flags in the help, its lines kept as they are.
fn examples(command: &Command, level: &str, out: &mut Vec<u8>) -> io::Result<()> {
    let Some(text) = command.get_after_long_help().or(command.get_after_help()) else { return Ok(()) };
    writeln!(out, ".{level} NOTES\n.nf")?;
    for line in text.to_string().lines() {
        // A line that begins with a dot or a quote would be a request, a backslash an escape, a bare hyphen may become a dash.
        let line = line.replace('\\', "\\e").replace('-', "\\-").replace('\'', "\\(aq");
        writeln!(out, "{}{line}", if line.starts_with('.') { "\\&" } else { "" })?;
    }
    writeln!(out, ".fi")
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
        let text = String::from_utf8(out).unwrap();
        for part in
            ["confidence", ".SH \"ABSTAT GENERATE MAN\"", "abstat old.txt new.txt \\-\\-fail\\-on \\(aqslower>5%\\(aq"]
        {
            assert!(text.contains(part), "{part}");
        }
    }
}
