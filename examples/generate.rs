//! Writes inputs to measure with: `cargo run --release --example generate -- few 1000000 old > FILE`.
//!
//! `few`, `many` and `loop` are Go text of so many lines, `old` or `new`; the other formats are given by bytes and, of JMH, have the same
//! benchmarks in `old` and `new`. The bytes are the same on every run. See `scripts/bench.sh`.

use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

#[path = "../benches/speed/inputs.rs"]
#[expect(dead_code, reason = "shared with the benchmarks, which make more")]
mod inputs;

use inputs::{Repeated, Shape, Side, db_bench_runs, go, repeated};

const USAGE: &str = "\
usage: generate few|many|loop LINES old|new
       generate jmh-log|jmh-json|jmh-table|db_bench|db_bench-runs|report-tsv BYTES old|new";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    let Some(written) = generate(&args, &mut out) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    match written.and_then(|()| out.flush()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("generate: {e}");
            ExitCode::FAILURE
        }
    }
}

/// `None` when the arguments are not understood.
fn generate(args: &[&str], out: &mut dyn Write) -> Option<io::Result<()>> {
    let &[format, size, side] = args else { return None };
    let size: usize = size.parse().ok()?;
    let side = match side {
        "old" => Side::Old,
        "new" => Side::New,
        _ => return None,
    };
    let first = usize::from(side == Side::New);
    let bytes = match format {
        "few" => return Some(go(Shape::Few, size, side, out)),
        "many" => return Some(go(Shape::Many, size, side, out)),
        "loop" => return Some(go(Shape::Loop, size, side, out)),
        "jmh-log" => repeated(Repeated::JmhLog, first, size),
        "jmh-json" => repeated(Repeated::JmhJson, first, size),
        "jmh-table" => repeated(Repeated::JmhTable, first, size),
        "db_bench" => repeated(Repeated::DbBench, first, size),
        "db_bench-runs" => db_bench_runs(size),
        "report-tsv" => repeated(Repeated::ReportTsv, first, size),
        _ => return None,
    };
    Some(out.write_all(&bytes))
}
