//! The few pieces that charts are drawn from, as SVG elements with classes; colours are CSS.
//!
//! Places are given to a tenth of a pixel. Text that comes from an input is escaped by the markup writer and cleared of what
//! XML cannot hold.

use std::fmt::Write as _;

use maud::{Markup, html};
use unicode_width::UnicodeWidthStr;

use crate::base::printable;

/// A finished chart.
pub struct Figure {
    /// Pixels.
    pub width: f64,
    /// Pixels.
    pub height: f64,
    /// What it shows, for those who cannot see it.
    pub title: String,
    /// What is not drawn, and why.
    pub note: Option<String>,
    /// Its elements.
    pub body: Markup,
}

/// Width of a monospaced character at 12 pixels: 0.6 em, as in DejaVu, Menlo and Courier; Consolas is narrower.
const MONO: f64 = 7.3;

/// Pixels that `text` takes in the class `name`.
pub fn mono_width(text: &str) -> f64 {
    MONO * text.width() as f64
}

/// `text` as it can stand in XML and on one line.
pub fn plain(text: &str) -> String {
    printable(text).replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}")
}

/// At most `max` characters of `text`, the middle left out.
pub fn cut(text: &str, max: usize) -> String {
    let text = plain(text);
    let n = text.chars().count();
    if n <= max || max < 3 {
        return text;
    }
    let (head, tail) = (max / 2, max - max / 2 - 1);
    let front: String = text.chars().take(head).collect();
    let back: String = text.chars().skip(n - tail).collect();
    format!("{front}…{back}")
}

/// A place to a tenth of a pixel.
pub fn px(v: f64) -> String {
    let text = format!("{:.1}", if v.is_finite() { v } else { 0.0 });
    match text.strip_suffix(".0") {
        Some("-0") => "0".to_owned(),
        Some(whole) => whole.to_owned(),
        None => text,
    }
}

/// A straight line.
pub fn line(class: &str, from: (f64, f64), to: (f64, f64)) -> Markup {
    html! { line class=(class) x1=(px(from.0)) y1=(px(from.1)) x2=(px(to.0)) y2=(px(to.1)) {} }
}

/// A filled rectangle.
pub fn rect(class: &str, x: (f64, f64), y: (f64, f64)) -> Markup {
    html! { rect class=(class) x=(px(x.0)) y=(px(y.0)) width=(px(x.1 - x.0)) height=(px(y.1 - y.0)) {} }
}

/// A line through points.
pub fn path(class: &str, points: &[(f64, f64)]) -> Markup {
    let mut d = String::new();
    for (i, (x, y)) in points.iter().enumerate() {
        // Writing to a String cannot fail.
        let _ = write!(d, "{}{} {}", if i == 0 { "M" } else { "L" }, px(*x), px(*y));
    }
    html! { path class=(class) d=(d) {} }
}

/// Where text stands relative to its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// Begins there.
    Start,
    /// Is centered there.
    Middle,
    /// Ends there.
    End,
}

/// A line of text on its baseline.
pub fn text(class: &str, at: (f64, f64), anchor: Anchor, text: &str) -> Markup {
    let anchor = match anchor {
        Anchor::Start => None,
        Anchor::Middle => Some("middle"),
        Anchor::End => Some("end"),
    };
    html! { text class=(class) x=(px(at.0)) y=(px(at.1)) text-anchor=[anchor] { (plain(text)) } }
}

/// Marks that differ in shape, not in colour alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// ●
    Circle,
    /// ■
    Square,
    /// ▲
    Up,
    /// ▼
    Down,
    /// ◆
    Diamond,
    /// ×
    Cross,
}

impl Shape {
    /// Shapes that tell processes or lines apart, in order of use.
    pub const ALL: [Shape; 6] = [Shape::Circle, Shape::Square, Shape::Up, Shape::Diamond, Shape::Down, Shape::Cross];

    /// The `n`th of them, from the start again after the last.
    pub fn nth(n: usize) -> Shape {
        Shape::ALL[n % Shape::ALL.len()]
    }
}

/// A mark around `at`, `r` pixels from its middle to its edge.
pub fn mark(class: &str, shape: Shape, at: (f64, f64), r: f64) -> Markup {
    let (x, y) = at;
    let polygon = |points: &[(f64, f64)]| {
        let points: Vec<String> =
            points.iter().map(|(dx, dy)| format!("{},{}", px(x + r * dx), px(y + r * dy))).collect();
        html! { polygon class=(class) points=(points.join(" ")) {} }
    };
    match shape {
        Shape::Circle => html! { circle class=(class) cx=(px(x)) cy=(px(y)) r=(px(r)) {} },
        Shape::Square => polygon(&[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)]),
        Shape::Up => polygon(&[(0.0, -1.1), (1.1, 0.9), (-1.1, 0.9)]),
        Shape::Down => polygon(&[(0.0, 1.1), (1.1, -0.9), (-1.1, -0.9)]),
        Shape::Diamond => polygon(&[(0.0, -1.25), (1.25, 0.0), (0.0, 1.25), (-1.25, 0.0)]),
        Shape::Cross => {
            let d = format!(
                "M{} {}L{} {}M{} {}L{} {}",
                px(x - r),
                px(y - r),
                px(x + r),
                px(y + r),
                px(x - r),
                px(y + r),
                px(x + r),
                px(y - r)
            );
            html! { path class=(format!("{class} stroked")) d=(d) {} }
        }
    }
}

/// Colours of one scheme. All text and marks have a contrast of 4.5 or more with the background.
struct Scheme {
    background: &'static str,
    text: &'static str,
    dim: &'static str,
    grid: &'static str,
    band: &'static str,
    better: &'static str,
    worse: &'static str,
    unclear: &'static str,
    series: [&'static str; 8],
}

const LIGHT: Scheme = Scheme {
    background: "#ffffff",
    text: "#1b1f24",
    dim: "#59636e",
    grid: "#d8dee4",
    band: "#eaeef2",
    better: "#116329",
    worse: "#b3261e",
    unclear: "#7a5b00",
    series: ["#0550ae", "#a04100", "#0f6b5c", "#8a3b8f", "#7a5b00", "#b3123f", "#3d5a80", "#59636e"],
};

const DARK: Scheme = Scheme {
    background: "#14171a",
    text: "#e6edf3",
    dim: "#9aa4ad",
    grid: "#343b43",
    band: "#252b32",
    better: "#5bd17a",
    worse: "#ff8a80",
    unclear: "#e2b93b",
    series: ["#79b8ff", "#ffab70", "#56d4c0", "#dba6e8", "#e2b93b", "#ff8fab", "#a5b8d8", "#9aa4ad"],
};

impl Scheme {
    fn css(&self) -> String {
        let Scheme { background, text, dim, grid, band, better, worse, unclear, .. } = self;
        let mut css = format!(
            ".chart .ground{{fill:{background}}}\
             .chart text{{fill:{text}}}\
             .chart text.dim{{fill:{dim}}}\
             .chart .grid{{stroke:{grid}}}\
             .chart .zero{{stroke:{dim}}}\
             .chart .band{{fill:{band}}}"
        );
        let mut class = |name: &str, colour: &str| {
            let _ = write!(
                css,
                ".chart .{name}{{fill:{colour};stroke:{colour}}}.chart .{name}.hollow{{fill:{background}}}\
                 .chart text.{name}{{fill:{colour};stroke:none}}"
            );
        };
        for (name, colour) in
            [("better", better), ("worse", worse), ("unclear", unclear), ("same", dim), ("other", text)]
        {
            class(name, colour);
        }
        for (i, colour) in self.series.iter().enumerate() {
            class(&format!("s{i}"), colour);
        }
        css
    }
}

/// How many colours tell lines apart before they repeat.
pub const SERIES: usize = LIGHT.series.len();

/// The style of all charts: light, and dark where the reader prefers that on a screen.
pub fn css() -> String {
    format!(
        ".chart text{{font:12px system-ui,-apple-system,'Segoe UI',sans-serif}}\
         .chart text.name{{font-family:ui-monospace,'DejaVu Sans Mono',Menlo,monospace}}\
         .chart text.title{{font-weight:600;font-size:13px}}\
         .chart .grid{{stroke-width:1}}.chart .zero{{stroke-width:1.5}}\
         .chart .whisker{{stroke-width:2;fill:none}}.chart path.stroked,.chart path.way{{fill:none;stroke-width:1.6}}\
         .chart .hollow{{stroke-width:1.6}}.chart .dot{{fill-opacity:.6;stroke-opacity:.9;stroke-width:.6}}\
         .chart .dash1{{stroke-dasharray:7 3}}.chart .dash2{{stroke-dasharray:2 3}}.chart .dash3{{stroke-dasharray:9 3 2 3}}\
         .chart rect.spread{{fill-opacity:.18;stroke:none}}\
         {}@media screen and (prefers-color-scheme:dark){{{}}}",
        LIGHT.css(),
        DARK.css()
    )
}
