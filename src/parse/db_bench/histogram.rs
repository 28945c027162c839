//! The histogram block that `--histogram=1` prints after a result.
//!
//! ```text
//! Microseconds per read:                      op, read, write, ...: one block each
//! Count: 100000 Average: 6.0690  StdDev: 41.28
//! Min: 1  Median: 3.5580  Max: 8167
//! Percentiles: P50: 3.56 P75: 6.44 P99: 28.55 P99.9: 74.64 P99.99: 210.00      not in LevelDB
//! ------------------------------------------------------
//! [       0,       1 ]     1110   1.110%   1.110%
//! ```
//! Blocks without the title belong to a statistics dump and are not read.

use crate::parse::scan::{decimal, integer, is_blank, word};

/// What a block states, microseconds.
#[derive(Clone, Debug, PartialEq)]
pub struct Histogram {
    /// What was counted: `op`, `read`, `write`, ...
    pub op: Box<str>,
    /// Percentile (`50`, `99.9`) and value, in the order printed.
    pub percentiles: Vec<(Box<str>, f64)>,
    /// Longest single call.
    pub max: Option<f64>,
}

/// What a line was to the reader.
#[derive(Debug)]
pub enum Step {
    /// Not of a block.
    No,
    /// Of a block that goes on.
    Part,
    /// The block is complete, but for its buckets.
    Done(Histogram),
}

/// Reads the blocks of one input.
#[derive(Debug, Default)]
pub struct Reader {
    state: State,
    block: Option<Histogram>,
    /// Calls counted; nothing is known of an empty block.
    count: u64,
}

#[derive(Debug, Default, PartialEq)]
enum State {
    #[default]
    Outside,
    Title,
    Count,
    Min,
    Buckets,
}

impl Reader {
    /// Whether `line`, which begins with a bracket, is a bucket of the last block.
    pub fn bucket(&self, line: &[u8]) -> bool {
        let next = line.get(1).is_some_and(|&b| is_blank(b) || b.is_ascii_digit());
        self.state == State::Buckets && next && line.contains(&b'%')
    }

    /// Looks at one line without blanks at its ends.
    pub fn line(&mut self, line: &[u8]) -> Step {
        if let Some(op) = line.strip_prefix(b"Microseconds per ").and_then(|l| l.strip_suffix(b":")) {
            let op = String::from_utf8_lossy(op.get(..40).unwrap_or(op)).into_owned().into_boxed_str();
            self.block = Some(Histogram { op, percentiles: Vec::new(), max: None });
            self.state = State::Title;
            return Step::Part;
        }
        let next = match self.state {
            State::Outside => return Step::No,
            State::Title => line.strip_prefix(b"Count:").map(|rest| {
                self.count = integer(word(rest).0).unwrap_or(0);
                State::Count
            }),
            State::Count => line.strip_prefix(b"Min:").map(|_| {
                if let Some(block) = &mut self.block {
                    // LevelDB prints no percentiles but this one.
                    block.percentiles.extend(labelled(line, b"Median:").map(|v| ("50".into(), v)));
                    block.max = labelled(line, b"Max:");
                }
                State::Min
            }),
            State::Min => match line.strip_prefix(b"Percentiles:") {
                Some(rest) => {
                    if let Some(block) = &mut self.block {
                        block.percentiles.clear();
                        percentiles(rest, &mut block.percentiles);
                    }
                    Some(State::Buckets)
                }
                None => is_rule(line).then_some(State::Buckets),
            },
            State::Buckets => is_rule(line).then_some(State::Buckets),
        };
        match next {
            Some(state) => {
                self.state = state;
                match self.block.take() {
                    Some(block) if self.state == State::Buckets => match self.count {
                        0 => Step::Part,
                        _ => Step::Done(block),
                    },
                    block => {
                        self.block = block;
                        Step::Part
                    }
                }
            }
            None => {
                self.state = State::Outside;
                self.block = None;
                Step::No
            }
        }
    }
}

fn is_rule(line: &[u8]) -> bool {
    line.len() >= 40 && line.iter().all(|&b| b == b'-')
}

/// The number after `label`.
fn labelled(line: &[u8], label: &[u8]) -> Option<f64> {
    let at = memchr::memmem::find(line, label)? + label.len();
    decimal(word(line.get(at..)?).0).map(|(d, _)| d.value)
}

/// `P50: 3.56 P75: 6.44 ...`
fn percentiles(mut rest: &[u8], out: &mut Vec<(Box<str>, f64)>) {
    loop {
        let (label, after) = word(rest);
        let (value, after) = word(after);
        rest = after;
        let Some(p) = label.strip_prefix(b"P").and_then(|l| l.strip_suffix(b":")) else { return };
        if let (Some((_, used)), Some((v, _))) = (decimal(p), decimal(value))
            && used == p.len()
            && out.len() < 20
        {
            out.push((String::from_utf8_lossy(p).into(), v.value));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(lines: &[&str]) -> Vec<Histogram> {
        let mut reader = Reader::default();
        lines
            .iter()
            .filter_map(|l| if let Step::Done(h) = reader.line(l.as_bytes()) { Some(h) } else { None })
            .collect()
    }

    #[test]
    fn blocks_of_rocksdb_and_leveldb() {
        let rule = "------------------------------------------------------";
        let got = read(&[
            "Microseconds per read:",
            "Count: 100000 Average: 6.0690  StdDev: 41.28",
            "Min: 1  Median: 3.5580  Max: 8167",
            "Percentiles: P50: 3.56 P99: 28.55 P99.99: 210.00",
            rule,
        ]);
        assert_eq!(got.len(), 1);
        assert_eq!(&*got[0].op, "read");
        assert_eq!(got[0].percentiles, [("50".into(), 3.56), ("99".into(), 28.55), ("99.99".into(), 210.0)]);
        assert_eq!(got[0].max, Some(8167.0));
        let got = read(&[
            "Microseconds per op:",
            "Count: 5  Average: 6.0690  StdDev: 41.28",
            "Min: 0.0000  Median: 1.4701  Max: 159.0000",
            rule,
        ]);
        assert_eq!(got[0].percentiles, [("50".into(), 1.4701)]);
    }

    #[test]
    fn nothing_of_an_empty_block_and_of_a_dump() {
        let rule = "------------------------------------------------------";
        let lines = [
            "Count: 0 Average: 0.0000  StdDev: 0.00",
            "Min: 0  Median: 0.0000  Max: 0",
            "Percentiles: P50: 0.00",
            rule,
        ];
        assert_eq!(read(&lines), []);
        assert_eq!(read(&[&["Microseconds per read:"], &lines[..]].concat()), []);
        let broken =
            ["Microseconds per read:", "something else", "Count: 5 Average: 1", "Min: 1 Median: 2 Max: 3", rule];
        assert_eq!(read(&broken), []);
    }
}
