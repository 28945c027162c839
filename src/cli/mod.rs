//! The command line: arguments -> plan -> run -> exit code.
//!
//! [`args`] is what was typed; [`plan`] turns it into what is needed, and every usage error is found there; [`run`] does it;
//! [`messages`] is the only place that writes to stderr; [`Exit`] is the contract with scripts.

pub mod args;
pub mod benchstat;
mod convert;
pub mod generate;
mod messages;
mod output;
mod plan;
mod run;
pub mod runner;

use std::ffi::OsString;
use std::io;
use std::process::ExitCode;

use clap::{CommandFactory, Parser};

/// Exit codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Done; all gates passed.
    Done,
    /// A gate tripped.
    Tripped,
    /// Could not do it: usage, input or output.
    Failed,
    /// Nothing to compare, or a gate that could judge nothing.
    Nothing,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(match exit {
            Exit::Done => 0,
            Exit::Tripped => 1,
            Exit::Failed => 2,
            Exit::Nothing => 3,
        })
    }
}

/// Runs the program with these arguments, the program's name first.
pub fn main(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let args: Vec<OsString> = args.into_iter().collect();
    // A link named benchstat replaces the program; its flags are not clap's.
    let program = args.first().map(std::path::Path::new).and_then(std::path::Path::file_stem);
    let named = usize::from(program.is_none_or(|p| p != "benchstat"));
    if named == 0 || args.get(1).is_some_and(|a| a == "benchstat") {
        let rest = args.into_iter().skip(1 + named);
        return benchstat::run(rest, &mut io::stdout().lock(), &mut io::stderr().lock()).into();
    }
    let parsed = match args::Cli::try_parse_from(args) {
        Ok(parsed) => parsed,
        Err(e) => {
            // Help and version go to stdout with 0, usage errors to stderr with 2.
            let printed = e.print().and_then(|()| io::Write::flush(&mut io::stdout()));
            return if e.use_stderr() { Exit::Failed } else { messages::Messages::plain().written(printed) }.into();
        }
    };
    match &parsed.command {
        Some(args::Command::Run(args)) if args.child => crate::runner::child::main(),
        Some(args::Command::Run(args)) => args.run(&messages::Messages::plain()).into(),
        Some(args::Command::Convert(args)) => convert::run(args).into(),
        Some(args::Command::Generate(args)) => args.run(args::Cli::command(), &messages::Messages::plain()).into(),
        // Taken apart above, before clap could stumble over benchstat's flags.
        Some(args::Command::Benchstat { args }) => {
            benchstat::run(args.iter().cloned(), &mut io::stdout().lock(), &mut io::stderr().lock()).into()
        }
        None => run::run(&parsed).into(),
    }
}
