//! Writes Go benchmark text to measure with: `cargo run --release --example generate -- SHAPE LINES SIDE > FILE`.
//!
//! `SHAPE` is `few`, `many` or `loop`, `SIDE` is `old` or `new`; the bytes are the same on every run. See `scripts/bench.sh`.

use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

#[path = "../benches/speed/inputs.rs"]
#[expect(dead_code, reason = "shared with the benchmarks, which make other formats too")]
mod inputs;

use inputs::{Shape, Side, go};

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let parsed = match args[..] {
        [shape, lines, side] => parse(shape, lines, side),
        _ => None,
    };
    let Some((shape, lines, side)) = parsed else {
        eprintln!("usage: generate few|many|loop LINES old|new");
        return ExitCode::from(2);
    };
    let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    match go(shape, lines, side, &mut out).and_then(|()| out.flush()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("generate: {e}");
            ExitCode::FAILURE
        }
    }
}

fn parse(shape: &str, lines: &str, side: &str) -> Option<(Shape, usize, Side)> {
    let shape = match shape {
        "few" => Shape::Few,
        "many" => Shape::Many,
        "loop" => Shape::Loop,
        _ => return None,
    };
    let side = match side {
        "old" => Side::Old,
        "new" => Side::New,
        _ => return None,
    };
    Some((shape, lines.parse().ok()?, side))
}
