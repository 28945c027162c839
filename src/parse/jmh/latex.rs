//! LaTeX (`-rf latex`): `\texttt{MapBench.get} & \texttt{100} & \texttt{4.5} & \scriptsize $\pm$ \texttt{0.3} & \texttt{ns/op} \\`.
//!
//! It states neither the number of samples nor the mode: `ops/T` is throughput, of time per operation `.mode` stays open. JMH breaks off
//! in the middle of a row where a benchmark lacks a parameter.

use std::borrow::Cow;

use super::label;
use super::number::{self, parse_alone};
use super::unit::{self, Mode};
use super::{CONFIDENCE, Identity, Output, Place, Repeats};
use crate::base::Diagnostic;
use crate::model::{Center, Reading, Settings, Spread, Summary};
use crate::parse::Line;

/// Reader of LaTeX tables.
#[derive(Default)]
pub struct Latex {
    state: State,
    settings: Settings,
    repeats: Repeats,
    line: u64,
}

#[derive(Default)]
enum State {
    #[default]
    Outside,
    /// After `\begin{tabular}`.
    Begun,
    Rows {
        params: Vec<String>,
        unit: Option<String>,
    },
}

impl Latex {
    /// Looks at a line; returns whether it is part of a JMH table.
    pub fn line(&mut self, line: Line<'_>, out: &mut Output<'_>) -> bool {
        let Some(&first) = line.bytes.trim_ascii_start().first() else { return false };
        if first != b'\\' {
            return false;
        }
        let text = super::decode::decode(line.bytes);
        let text = text.trim();
        if text.starts_with("\\begin{tabular}") {
            self.state = State::Begun;
            return false; // it may be any table
        }
        match &self.state {
            State::Outside => false,
            State::Begun => {
                if !text.contains("\\texttt{Benchmark}") || !text.contains("\\texttt{Score") {
                    return false;
                }
                let cells = cells(text);
                let score = cells.last().map(|c| inner(c)).unwrap_or_default();
                let unit = score.strip_prefix("Score, ").map(|u| unescape(u).into_owned());
                let params = cells
                    .get(1..cells.len() - 1)
                    .unwrap_or_default()
                    .iter()
                    .map(|c| unescape(inner(c)).into_owned())
                    .collect();
                self.state = State::Rows { params, unit };
                self.repeats.clear();
                true
            }
            State::Rows { .. } => {
                self.line = line.number;
                if let Some(row) = text.strip_suffix("\\end{tabular}") {
                    self.row(row, line.number, out);
                    self.state = State::Outside;
                } else {
                    self.row(text, line.number, out);
                }
                true
            }
        }
    }

    fn row(&mut self, text: &str, line: u64, out: &mut Output<'_>) {
        let State::Rows { params, unit } = &self.state else { return };
        let text = text.trim();
        if text.is_empty() || text == "\\hline" {
            return;
        }
        let Some(text) = text.strip_suffix("\\\\") else {
            out.diagnose(
                Diagnostic::warning(
                    "cut-latex",
                    "LaTeX table ends in the middle of a row: rows from here on are missing",
                )
                .at_line(line)
                .hint("JMH breaks off where a benchmark lacks a parameter; use its JSON, CSV or text"),
            );
            return;
        };
        let cells = cells(text);
        let want = params.len() + 3 + usize::from(unit.is_none());
        let values: Vec<Cow<'_, str>> = cells.iter().skip(1).take(params.len()).map(|c| unescape(inner(c))).collect();
        let score = cells.get(params.len() + 1).map(|c| inner(c)).unwrap_or_default();
        let error = cells.get(params.len() + 2).map(|c| inner(c)).unwrap_or_default();
        let own_unit = unescape(cells.get(params.len() + 3).map(|c| inner(c)).unwrap_or_default());
        let printed = unit.as_deref().unwrap_or(&own_unit);
        if cells.len() < want || printed.is_empty() {
            out.diagnose(Diagnostic::warning("bad-row", format!("expected {want} cells, found {}", cells.len())).at(
                line,
                text.as_bytes(),
                0..text.len(),
            ));
            return;
        }
        if score == "NaN" {
            return;
        }
        let approximate = score.strip_prefix("$\\approx ").and_then(|s| s.strip_suffix('$'));
        let number = match approximate {
            Some("0") => Some((number::Approx::Zero.value(), 0.0)),
            Some(power) => power
                .strip_prefix("10^{")
                .and_then(|p| p.strip_suffix('}'))
                .and_then(|p| p.parse().ok())
                .map(|n: i32| (number::Approx::Power(n.clamp(-300, 300)).value(), 0.0)),
            None => parse_alone(score).map(|p| (p.value, p.resolution())),
        };
        let Some((value, resolution)) = number else {
            out.diagnose(Diagnostic::warning("bad-number", format!("expected a score, found {score:?}")).at(
                line,
                text.as_bytes(),
                0..text.len(),
            ));
            return;
        };
        let name_text = unescape(cells.first().map(|c| inner(c)).unwrap_or_default());
        let (name, label) = label::split(&name_text);
        let params: Vec<(&str, &str)> =
            params.iter().zip(&values).map(|(k, v)| (k.as_str(), &**v)).filter(|(_, v)| !v.is_empty()).collect();
        let mode = Mode::of_unit(printed).filter(|m| *m == Mode::Thrpt);
        let (id_unit, factor) = out.unit(printed, mode, &label);
        let single = unit::is_percentile(&label) || unit::is_sum(printed, &label);
        let spread = match parse_alone(error) {
            Some(e) if !single => Spread::StudentError {
                half_width: factor.apply(e.value.abs()),
                confidence: CONFIDENCE,
                resolution: factor.apply(e.resolution()),
            },
            _ => Spread::None,
        };
        let summary = Summary {
            center: if single { Center::Single } else { Center::Mean },
            value: factor.apply(value),
            spread,
            n: None,
            forks: None,
            resolution: factor.apply(resolution),
            approximate: approximate.is_some(),
        };
        let id = Identity { name, label: &label, mode: mode.map_or("", Mode::name), params: &params };
        let shown = self.repeats.name(&id, "");
        out.push(
            &Identity { name: &shown, ..id },
            Place::default(),
            &self.settings,
            line,
            None,
            &[(id_unit, Reading::Summary(summary))],
        );
    }

    /// The input ended.
    pub fn finish(&mut self, out: &mut Output<'_>) {
        if let State::Rows { .. } = std::mem::take(&mut self.state) {
            out.diagnose(
                Diagnostic::warning("cut-latex", "LaTeX table ends without \\end{tabular}: rows may be missing")
                    .at_line(self.line),
            );
        }
    }
}

/// Cells between `&` outside braces.
fn cells(text: &str) -> Vec<&str> {
    let mut cells = Vec::new();
    let (mut depth, mut from, mut escaped) = (0usize, 0, false);
    for (i, b) in text.bytes().enumerate() {
        match b {
            _ if escaped => {}
            b'{' => depth += 1,
            b'}' => depth = depth.saturating_sub(1),
            b'&' if depth == 0 => {
                cells.push(&text[from..i]);
                from = i + 1;
            }
            _ => {}
        }
        escaped = b == b'\\' && !escaped;
    }
    cells.push(&text[from..]);
    cells
}

/// What the last `\texttt{...}` of a cell holds.
fn inner(cell: &str) -> &str {
    let cell = cell.trim();
    let Some(at) = cell.rfind("\\texttt{") else { return "" };
    let body = &cell[at + 8..];
    // The closing brace of a \multicolumn around it may follow.
    let (mut depth, mut escaped) = (0usize, false);
    for (i, b) in body.bytes().enumerate() {
        match b {
            _ if escaped => {}
            b'{' => depth += 1,
            b'}' if depth == 0 => return &body[..i],
            b'}' => depth -= 1,
            _ => {}
        }
        escaped = b == b'\\' && !escaped;
    }
    body
}

/// `\_`, `\#`, `\{`, `\}` are all that JMH escapes.
fn unescape(text: &str) -> Cow<'_, str> {
    if !text.contains('\\') {
        return Cow::Borrowed(text);
    }
    Cow::Owned(["_", "#", "{", "}"].iter().fold(text.to_owned(), |t, c| t.replace(&format!("\\{c}"), c)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_and_what_they_hold() {
        let row = r"\texttt{A.b} & \texttt{<t>&} & \texttt{\{x\}} & \texttt{$\approx 10^{-3}$} & \scriptsize $\pm$ \texttt{0.3} ";
        let got: Vec<Cow<'_, str>> = cells(row).iter().map(|c| unescape(inner(c))).collect();
        assert_eq!(got, ["A.b", "<t>&", "{x}", r"$\approx 10^{-3}$", "0.3"]);
        assert_eq!(inner(r"\multicolumn{3}{c}{\texttt{Score, ops/s}} "), "Score, ops/s");
        assert_eq!(inner("  "), "");
    }
}
