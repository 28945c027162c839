//! `abstat convert`: every sample of any input as tidy rows, or as Go text.

use std::io::{self, BufWriter, Write};

use super::Exit;
use super::args::{ColorChoice, ConvertArgs, ConvertFormat};
use super::messages::Messages;
use super::plan::{Refusal, reading};
use super::run::{failed, read_all, refused};
use crate::base::Error;
use crate::pivot::jmh;
use crate::render::samples;

/// Runs the command.
pub(super) fn run(args: &ConvertArgs) -> Exit {
    let messages = Messages::new(ColorChoice::Auto, false);
    let mut faults = Vec::new();
    let reading = match reading(&args.inputs, args.from.as_deref(), args.filter.as_deref(), &mut faults) {
        Ok(reading) if faults.is_empty() => reading,
        Ok(_) => return refused(&Refusal::Syntax(faults), &messages),
        Err(refusal) => return refused(&refusal, &messages),
    };
    let converted = read_all(&reading, &messages).and_then(|mut set| {
        let ambiguous = jmh::unify_names(&mut set);
        set.diagnostics.extend(ambiguous);
        messages.diagnostics(&set.diagnostics, &set.inputs);
        let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
        let left_out = match args.format {
            ConvertFormat::Jsonl => samples::jsonl(&set, &mut out).map(|()| 0),
            ConvertFormat::Csv => samples::csv(&set, &mut out),
            ConvertFormat::Go => samples::go(&set, &mut out),
        };
        let left_out = left_out
            .and_then(|n| out.flush().map(|()| n))
            .map_err(|source| Error::Write { path: "stdout".into(), source })?;
        if left_out > 0 {
            let them = if left_out == 1 {
                "1 printed summary has".to_owned()
            } else {
                format!("{left_out} printed summaries have")
            };
            messages.line(&format!("warning: {them} no samples and was left out; -f jsonl keeps summaries"));
        }
        Ok(Exit::Done)
    });
    converted.unwrap_or_else(|e| failed(&e, &messages))
}
