//! JMH's units: base spelling, factor, direction.
//!
//! `ops/T` and `T/op` scale their denominator or numerator; `MB/sec` of the GC profiler counts 1048576 bytes. All other units
//! (`counts`, `#/op`, `ms` of `gc.time`) keep their spelling.

use hashbrown::HashMap;

use crate::model::Sink;
use crate::units::{Direction, Unit, UnitId, direction};

/// Benchmark mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Throughput.
    Thrpt,
    /// Average time.
    Avgt,
    /// Sampling time.
    Sample,
    /// Single shot.
    Ss,
}

impl Mode {
    /// The short name of tables, JSON and CSV.
    pub fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "thrpt" => Mode::Thrpt,
            "avgt" => Mode::Avgt,
            "sample" => Mode::Sample,
            "ss" => Mode::Ss,
            _ => return None,
        })
    }

    /// The words of a log's `# Benchmark mode:` line.
    pub fn from_log(text: &str) -> Option<Self> {
        [
            ("Throughput", Mode::Thrpt),
            ("Average", Mode::Avgt),
            ("Sampling", Mode::Sample),
            ("Single shot", Mode::Ss),
            ("SingleShot", Mode::Ss),
        ]
        .into_iter()
        .find_map(|(prefix, mode)| text.starts_with(prefix).then_some(mode))
    }

    /// The mode that alone has primary scores in `unit`; time per operation is averaged unless something says otherwise.
    pub fn of_unit(unit: &str) -> Option<Self> {
        match kind(unit)? {
            Kind::Rate => Some(Mode::Thrpt),
            Kind::Time => Some(Mode::Avgt),
        }
    }

    /// The short name.
    pub fn name(self) -> &'static str {
        match self {
            Mode::Thrpt => "thrpt",
            Mode::Avgt => "avgt",
            Mode::Sample => "sample",
            Mode::Ss => "ss",
        }
    }

    /// Whether primary scores of this mode are in such units.
    pub fn fits(self, unit: &str) -> bool {
        match kind(unit) {
            Some(kind) => (kind == Kind::Rate) == (self == Mode::Thrpt),
            None => self == Mode::Ss && seconds(unit).is_some(),
        }
    }
}

/// Kind of a primary score's unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `ops/T`
    Rate,
    /// `T/op`
    Time,
}

/// `ops/T` or `T/op`; `None` for everything else.
pub fn kind(unit: &str) -> Option<Kind> {
    if let Some(t) = unit.strip_prefix("ops/") {
        seconds(t).map(|_| Kind::Rate)
    } else if let Some(t) = unit.strip_suffix("/op") {
        seconds(t).map(|_| Kind::Time)
    } else {
        None
    }
}

/// A time unit in seconds: multiply by the first, divide by the second, one of which is 1 (so that `0.022 us` is the double
/// nearest to 2.2e-8).
fn seconds(unit: &str) -> Option<(f64, f64)> {
    Some(match unit {
        "ns" | "nsec" => (1.0, 1e9),
        "us" | "µs" | "μs" | "usec" => (1.0, 1e6),
        "ms" | "msec" => (1.0, 1e3),
        "s" | "sec" => (1.0, 1.0),
        "min" => (60.0, 1.0),
        "hr" => (3600.0, 1.0),
        "day" => (86400.0, 1.0),
        _ => return None,
    })
}

/// Whether JMH prints this unit; what stands in a unit's place in running text is held against it.
pub fn is_known(unit: &str) -> bool {
    kind(unit).is_some()
        || seconds(unit).is_some()
        || matches!(
            unit,
            "MB/sec" | "B/op" | "counts" | "#" | "#/op" | "%" | "---" | "clks/insn" | "insns/clk" | "threads"
        )
}

/// Units of which JMH adds up all iterations instead of averaging them.
pub fn is_sum(unit: &str, label: &str) -> bool {
    !label.is_empty() && matches!(unit, "counts" | "ms" | "#")
}

/// `p0.50`, `readwrite_get:p0.999`.
pub fn is_percentile(label: &str) -> bool {
    let last = label.rsplit(':').next().unwrap_or(label);
    matches!(last.as_bytes(), [b'p', b'0' | b'1', b'.', rest @ ..] if !rest.is_empty() && rest.iter().all(u8::is_ascii_digit))
}

/// From printed to base values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Factor {
    times: f64,
    over: f64,
}

impl Factor {
    /// The value in base units.
    #[inline]
    pub fn apply(self, value: f64) -> f64 {
        value * self.times / self.over
    }
}

/// What of a label decides about the unit of its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct About {
    /// The values are primary scores or percentiles of them.
    main: bool,
    /// They come from the GC profiler.
    gc: bool,
}

impl About {
    fn of(label: &str) -> Self {
        About { main: label.is_empty() || is_percentile(label), gc: label.starts_with("gc.") }
    }
}

/// Base unit and factor of a unit that JMH printed.
fn resolve(printed: &str, mode: Option<Mode>, About { main, gc }: About) -> (Unit, Factor) {
    let one = Factor { times: 1.0, over: 1.0 };
    let (base, factor) = match kind(printed) {
        Some(Kind::Rate) => {
            let (times, over) = seconds(&printed[4..]).unwrap_or((1.0, 1.0));
            ("op/sec", Factor { times: over, over: times })
        }
        Some(Kind::Time) => {
            let (times, over) = seconds(&printed[..printed.len() - 3]).unwrap_or((1.0, 1.0));
            ("sec/op", Factor { times, over })
        }
        // Single shots were printed without `/op` up to JMH 1.5.1.
        None if mode == Some(Mode::Ss) && main => match seconds(printed) {
            Some((times, over)) => ("sec/op", Factor { times, over }),
            None => (printed, one),
        },
        None if printed == "MB/sec" => ("B/sec", Factor { times: 1_048_576.0, over: 1.0 }),
        None => (printed, one),
    };
    let better = match base {
        "sec/op" => Some(Direction::Lower),
        "op/sec" => Some(Direction::Higher),
        // These rise with the throughput of the program, so neither way is better.
        "B/sec" if gc => None,
        "counts" | "ms" if gc => Some(Direction::Lower),
        "#/op" | "clks/insn" => Some(Direction::Lower),
        "insns/clk" => Some(Direction::Higher),
        "#" | "%" | "---" | "counts" => None,
        _ if main && direction(base).is_none() => match mode {
            Some(Mode::Thrpt) => Some(Direction::Higher),
            Some(_) => Some(Direction::Lower),
            None => None,
        },
        _ => direction(base),
    };
    (Unit::new(base, printed).with_better(better), factor)
}

/// Where a unit was printed, its number and its factor.
#[derive(Debug)]
struct Known {
    mode: Option<Mode>,
    about: About,
    id: UnitId,
    factor: Factor,
}

/// Numbers of the units seen so far in a sink.
#[derive(Debug, Default)]
pub struct Units {
    /// By printed spelling.
    known: HashMap<String, Vec<Known>>,
}

impl Units {
    /// Number and factor of a printed unit.
    pub fn get(&mut self, printed: &str, mode: Option<Mode>, label: &str, out: &mut dyn Sink) -> (UnitId, Factor) {
        let about = About::of(label);
        let known = self.known.entry_ref(printed).or_default();
        if let Some(known) = known.iter().find(|k| (k.mode, k.about) == (mode, about)) {
            return (known.id, known.factor);
        }
        let (unit, factor) = resolve(printed, mode, about);
        let id = out.unit(&unit);
        known.push(Known { mode, about, id, factor });
        (id, factor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_have_base_factor_and_direction() {
        use Direction::{Higher, Lower};
        for (printed, mode, label, base, value, better) in [
            ("ops/s", Mode::Thrpt, "", "op/sec", 1.0, Some(Higher)),
            ("ops/ms", Mode::Thrpt, "", "op/sec", 1e3, Some(Higher)),
            ("ops/ns", Mode::Thrpt, "", "op/sec", 1e9, Some(Higher)),
            ("ops/min", Mode::Thrpt, "", "op/sec", 1.0 / 60.0, Some(Higher)),
            ("ops/s", Mode::Avgt, "", "op/sec", 1.0, Some(Higher)),
            ("ns/op", Mode::Avgt, "", "sec/op", 1e-9, Some(Lower)),
            ("µs/op", Mode::Sample, "p0.50", "sec/op", 1e-6, Some(Lower)),
            ("min/op", Mode::Ss, "", "sec/op", 60.0, Some(Lower)),
            ("ns", Mode::Ss, "", "sec/op", 1e-9, Some(Lower)),
            ("ms", Mode::Avgt, "gc.time", "ms", 1.0, Some(Lower)),
            ("ms", Mode::Ss, "gc.time", "ms", 1.0, Some(Lower)),
            ("counts", Mode::Avgt, "gc.count", "counts", 1.0, Some(Lower)),
            ("MB/sec", Mode::Avgt, "gc.alloc.rate", "B/sec", 1048576.0, None),
            ("MB/sec", Mode::Avgt, "gc.churn.G1_Old_Gen", "B/sec", 1048576.0, None),
            ("B/op", Mode::Avgt, "gc.alloc.rate.norm", "B/op", 1.0, Some(Lower)),
            ("ops/ms", Mode::Thrpt, "hits", "op/sec", 1e3, Some(Higher)),
            ("#", Mode::Thrpt, "retries", "#", 1.0, None),
            ("#/op", Mode::Avgt, "cycles", "#/op", 1.0, Some(Lower)),
        ] {
            let (unit, factor) = resolve(printed, Some(mode), About::of(label));
            assert_eq!((&*unit.name, factor.apply(1.0), unit.better), (base, value, better), "{printed} {label}");
            assert_eq!(&*unit.printed, printed);
        }
        assert_eq!(resolve("us/op", None, About::of("")).1.apply(0.022), 2.2e-8);
    }

    #[test]
    fn modes_know_their_units() {
        assert!(Mode::Thrpt.fits("ops/us") && !Mode::Thrpt.fits("us/op"));
        assert!(Mode::Avgt.fits("us/op") && !Mode::Avgt.fits("ns") && Mode::Ss.fits("ns"));
        assert_eq!(Mode::of_unit("ops/s"), Some(Mode::Thrpt));
        assert_eq!(Mode::of_unit("counts"), None);
        assert_eq!(Mode::from_log("Single shot invocation time"), Some(Mode::Ss));
        assert!(
            is_percentile("p0.9999") && is_percentile("get:p1.00") && !is_percentile("p2.0") && !is_percentile("p0.")
        );
    }
}
