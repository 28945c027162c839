//! Tidy lines: what `abstat convert -f jsonl` writes and format `abstat` reads, one JSON object a line for each value.
//!
//! ```json
//! {"name":"Get/size=1KiB-8","scheme":"go","keys":{},"settings":{"goos":"linux"},"unit":"sec/op","printed":"ns/op","better":"lower","value":1.718e-06,"block":2,"file":"old"}
//! ```
//!
//! | field | | meaning |
//! |---|---|---|
//! | `name` | required | the benchmark as its producer prints it ([`Record::name`]) |
//! | `unit` | required | base unit: `sec/op`, `op/sec`, `B/sec`, ... |
//! | `value` | required | in that unit, a finite number |
//! | `scheme` | `"plain"` | `go`, `jmh` or `plain`: how the name is taken apart ([`Scheme`]) |
//! | `keys`, `settings` | `{}` | further parts of the identity; settings of the run. Values are text; numbers and booleans are taken as they are spelled |
//! | `printed` | the unit | the unit as the producer spelled it |
//! | `better` | what the unit says | `lower`, `higher`, or `null`: neither way |
//! | `weight` | 1 | how often the value was seen |
//! | `block` | | process (fork, run) it comes from |
//! | `file` | the input's label | label of the column |
//! | `summary` | | the value is not a sample but a printed statistic: [`TidySummary`] |
//!
//! Other fields are passed over, so that a line may carry more. Order of fields does not matter.

use std::borrow::Cow;
use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Center, Reading, Record, Scheme, Spread, Summary};
use crate::units::{Direction, Unit};

/// One value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TidyLine<'a> {
    /// See the table above.
    #[serde(borrow)]
    pub name: Cow<'a, str>,
    /// How the name is taken apart.
    #[serde(default, skip_serializing_if = "TidyScheme::is_plain")]
    pub scheme: TidyScheme,
    /// Further parts of the identity.
    #[serde(default)]
    pub keys: Pairs,
    /// Settings of the run.
    #[serde(default)]
    pub settings: Pairs,
    /// Base unit.
    #[serde(borrow)]
    pub unit: Cow<'a, str>,
    /// The unit as the producer spelled it, where that differs.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub printed: Option<Cow<'a, str>>,
    /// `None`: not said, the unit's built-in direction holds. `Some(None)`: neither way is better.
    #[serde(default, deserialize_with = "said", skip_serializing_if = "Option::is_none")]
    pub better: Option<Option<Better>>,
    /// In base units, finite.
    pub value: f64,
    /// How often the value was seen; `None`: once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<u64>,
    /// Process it comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block: Option<u32>,
    /// Label of the column, or of the input it was converted from.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub file: Option<Cow<'a, str>>,
    /// What `value` is, when it is not a sample.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<TidySummary>,
}

fn said<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Option<Better>>, D::Error> {
    Option::<Better>::deserialize(from).map(Some)
}

impl<'a> TidyLine<'a> {
    /// The line of one reading of `record`; `None` for a comparison that a table printed, which is not a value.
    /// `file` is the label of the input, used where the record has no column of its own.
    pub fn new(record: &Record<'a>, unit: &'a Unit, reading: &Reading, file: Option<&'a str>) -> Option<Self> {
        let (value, weight, summary) = match reading {
            Reading::One { value, weight } => (*value, (*weight != 1).then_some(*weight), None),
            Reading::Summary(s) => (s.value, None, Some(TidySummary::new(s, false))),
            Reading::Reported(s) => (s.value, None, Some(TidySummary::new(s, true))),
            Reading::Printed(_) => return None,
        };
        Some(TidyLine {
            name: record.name.into(),
            scheme: record.scheme.into(),
            keys: record.keys.iter().copied().collect(),
            settings: record.settings.iter().collect(),
            unit: (&*unit.name).into(),
            printed: (unit.printed != unit.name).then(|| (&*unit.printed).into()),
            better: Some(unit.better.map(Better::from)),
            value,
            weight,
            block: record.block,
            file: record.column.or(file).map(Cow::from),
            summary,
        })
    }

    /// The unit meant.
    pub fn unit(&self) -> Unit {
        let unit = Unit::new(&self.unit, self.printed.as_deref().unwrap_or(&self.unit));
        match self.better {
            None => unit,
            Some(better) => unit.with_better(better.map(Direction::from)),
        }
    }

    /// The reading meant.
    pub fn reading(&self) -> Reading {
        match &self.summary {
            None => Reading::One { value: self.value, weight: self.weight.unwrap_or(1) },
            Some(s) if s.reported => Reading::Reported(s.summary(self.value)),
            Some(s) => Reading::Summary(s.summary(self.value)),
        }
    }
}

/// [`Scheme`] as it is spelled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TidyScheme {
    /// [`Scheme::Go`]
    Go,
    /// [`Scheme::Jmh`]
    Jmh,
    /// [`Scheme::Plain`]
    #[default]
    Plain,
}

impl TidyScheme {
    fn is_plain(&self) -> bool {
        *self == TidyScheme::Plain
    }
}

impl From<Scheme> for TidyScheme {
    fn from(scheme: Scheme) -> Self {
        match scheme {
            Scheme::Go => TidyScheme::Go,
            Scheme::Jmh => TidyScheme::Jmh,
            Scheme::Plain => TidyScheme::Plain,
        }
    }
}

impl From<TidyScheme> for Scheme {
    fn from(scheme: TidyScheme) -> Self {
        match scheme {
            TidyScheme::Go => Scheme::Go,
            TidyScheme::Jmh => Scheme::Jmh,
            TidyScheme::Plain => Scheme::Plain,
        }
    }
}

/// [`Direction`] as it is spelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Better {
    /// Less is better.
    Lower,
    /// More is better.
    Higher,
}

impl From<Direction> for Better {
    fn from(direction: Direction) -> Self {
        match direction {
            Direction::Lower => Better::Lower,
            Direction::Higher => Better::Higher,
        }
    }
}

impl From<Better> for Direction {
    fn from(better: Better) -> Self {
        match better {
            Better::Lower => Direction::Lower,
            Better::Higher => Direction::Higher,
        }
    }
}

/// What a producer printed instead of samples, or beside them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TidySummary {
    /// Which statistic the value is.
    pub center: TidyCenter,
    /// How it spreads; absent: nothing printed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spread: Option<TidySpread>,
    /// Number of values behind it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub n: Option<u64>,
    /// Forks behind it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forks: Option<u64>,
    /// Half a unit of the last printed place, base units.
    #[serde(default)]
    pub resolution: f64,
    /// Only the order of magnitude is known.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub approximate: bool,
    /// The samples are there too; this is what the producer states about them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reported: bool,
}

/// [`Center`] as it is spelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "one to one with Center")]
pub enum TidyCenter {
    Median,
    Mean,
    ForkMean,
    Mode,
    Single,
}

/// [`Spread`] as it is spelled; widths in base units.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[expect(missing_docs, reason = "one to one with Spread")]
pub enum TidySpread {
    StudentError { half_width: f64, confidence: f64, resolution: f64 },
    NormalError { half_width: f64, confidence: f64, resolution: f64 },
    StdDev { value: f64 },
    Percent { value: f64 },
    Infinite,
}

impl TidySummary {
    fn new(s: &Summary, reported: bool) -> Self {
        TidySummary {
            center: match s.center {
                Center::Median => TidyCenter::Median,
                Center::Mean => TidyCenter::Mean,
                Center::ForkMean => TidyCenter::ForkMean,
                Center::Mode => TidyCenter::Mode,
                Center::Single => TidyCenter::Single,
            },
            spread: match s.spread {
                Spread::None => None,
                Spread::StudentError { half_width, confidence, resolution } => {
                    Some(TidySpread::StudentError { half_width, confidence, resolution })
                }
                Spread::NormalError { half_width, confidence, resolution } => {
                    Some(TidySpread::NormalError { half_width, confidence, resolution })
                }
                Spread::StdDev(value) => Some(TidySpread::StdDev { value }),
                Spread::Percent(value) => Some(TidySpread::Percent { value }),
                Spread::Infinite => Some(TidySpread::Infinite),
            },
            n: s.n,
            forks: s.forks,
            resolution: s.resolution,
            approximate: s.approximate,
            reported,
        }
    }

    fn summary(&self, value: f64) -> Summary {
        Summary {
            center: match self.center {
                TidyCenter::Median => Center::Median,
                TidyCenter::Mean => Center::Mean,
                TidyCenter::ForkMean => Center::ForkMean,
                TidyCenter::Mode => Center::Mode,
                TidyCenter::Single => Center::Single,
            },
            value,
            spread: match self.spread {
                None => Spread::None,
                Some(TidySpread::StudentError { half_width, confidence, resolution }) => {
                    Spread::StudentError { half_width, confidence, resolution }
                }
                Some(TidySpread::NormalError { half_width, confidence, resolution }) => {
                    Spread::NormalError { half_width, confidence, resolution }
                }
                Some(TidySpread::StdDev { value }) => Spread::StdDev(value),
                Some(TidySpread::Percent { value }) => Spread::Percent(value),
                Some(TidySpread::Infinite) => Spread::Infinite,
            },
            n: self.n,
            forks: self.forks,
            resolution: self.resolution,
            approximate: self.approximate,
        }
    }
}

/// Names and values in their order: a JSON object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pairs(pub Vec<(String, String)>);

impl Pairs {
    /// The value of `key`.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.0.iter().find(|(k, _)| k == key).map(|(_, v)| v.as_str())
    }

    /// All, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(k, v)| (k.as_str(), v.as_str()))
    }
}

impl<K: Into<String>, V: Into<String>> FromIterator<(K, V)> for Pairs {
    fn from_iter<T: IntoIterator<Item = (K, V)>>(iter: T) -> Self {
        Pairs(iter.into_iter().map(|(k, v)| (k.into(), v.into())).collect())
    }
}

impl Serialize for Pairs {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(Some(self.0.len()))?;
        for (k, v) in &self.0 {
            map.serialize_entry(k, v)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Pairs {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Object;
        impl<'de> Visitor<'de> for Object {
            type Value = Pairs;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of texts, numbers or booleans")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pairs, A::Error> {
                let mut pairs = Vec::new();
                while let Some((key, value)) = map.next_entry::<String, Scalar>()? {
                    if key.is_empty() {
                        return Err(serde::de::Error::custom("a key without a name"));
                    }
                    // null: absent. Absent keys are left out everywhere.
                    if let Some(value) = value.0 {
                        pairs.push((key, value));
                    }
                }
                Ok(Pairs(pairs))
            }
        }
        from.deserialize_map(Object)
    }
}

/// A text, number or boolean as text.
struct Scalar(Option<String>);

impl<'de> Deserialize<'de> for Scalar {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Any;
        impl Visitor<'_> for Any {
            type Value = Scalar;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text, number or boolean")
            }
            fn visit_str<E>(self, v: &str) -> Result<Scalar, E> {
                Ok(Scalar(Some(v.to_owned())))
            }
            fn visit_u64<E>(self, v: u64) -> Result<Scalar, E> {
                Ok(Scalar(Some(v.to_string())))
            }
            fn visit_i64<E>(self, v: i64) -> Result<Scalar, E> {
                Ok(Scalar(Some(v.to_string())))
            }
            fn visit_f64<E>(self, v: f64) -> Result<Scalar, E> {
                Ok(Scalar(Some(v.to_string())))
            }
            fn visit_bool<E>(self, v: bool) -> Result<Scalar, E> {
                Ok(Scalar(Some(v.to_string())))
            }
            fn visit_unit<E>(self) -> Result<Scalar, E> {
                Ok(Scalar(None))
            }
        }
        from.deserialize_any(Any)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Settings;

    #[test]
    fn every_reading_survives_writing_and_reading() {
        let mut settings = Settings::default();
        settings.set("goos", "linux");
        settings.set("a key", "with \"quotes\"");
        let summary = |spread| Summary {
            center: Center::Mean,
            value: 2.5e-7,
            spread,
            n: Some(25),
            forks: None,
            resolution: 5e-10,
            approximate: false,
        };
        let spreads = [
            Spread::None,
            Spread::StudentError { half_width: 1e-8, confidence: 0.999, resolution: 5e-10 },
            Spread::NormalError { half_width: 1e-8, confidence: 0.95, resolution: 0.0 },
            Spread::StdDev(1.0 / 3.0),
            Spread::Percent(3.0),
            Spread::Infinite,
        ];
        let mut readings =
            vec![Reading::One { value: 0.1 + 0.2, weight: 1 }, Reading::One { value: -1e300, weight: 12 }];
        for spread in spreads {
            readings.push(Reading::Summary(summary(spread)));
            readings.push(Reading::Reported(summary(spread)));
        }
        for better in [None, Some(Direction::Lower), Some(Direction::Higher)] {
            let unit = Unit::new("sec/op", "ns/op").with_better(better);
            for reading in &readings {
                let record = Record {
                    line: 7,
                    name: "Get/size=1-8",
                    scheme: Scheme::Go,
                    keys: &[("z", "1"), ("a", "b c")],
                    settings: &settings,
                    block: Some(3),
                    readings: &[],
                    column: None,
                };
                let line = TidyLine::new(&record, &unit, reading, Some("old")).unwrap();
                let text = serde_json::to_string(&line).unwrap();
                let back: TidyLine<'_> = serde_json::from_str(&text).unwrap();
                assert_eq!(back, line, "{text}");
                assert_eq!(back.unit(), unit, "{text}");
                assert_eq!(back.reading(), *reading, "{text}");
                assert_eq!(back.keys.0, [("z".to_owned(), "1".to_owned()), ("a".to_owned(), "b c".to_owned())]);
            }
        }
    }

    #[test]
    fn a_line_written_by_hand_needs_three_fields() {
        let line: TidyLine<'_> = serde_json::from_str(
            r#"{"value":3,"unit":"op/sec","name":"x","keys":{"n":1024,"f":0.5,"on":true,"none":null},"more":[1]}"#,
        )
        .unwrap();
        assert_eq!(line.unit().better, Some(Direction::Higher));
        assert_eq!(line.reading(), Reading::One { value: 3.0, weight: 1 });
        assert_eq!(line.keys.iter().collect::<Vec<_>>(), [("n", "1024"), ("f", "0.5"), ("on", "true")]);
        assert_eq!(line.scheme, TidyScheme::Plain);
        let none: TidyLine<'_> =
            serde_json::from_str(r#"{"value":3,"unit":"op/sec","name":"x","better":null}"#).unwrap();
        assert_eq!(none.unit().better, None);
    }
}
