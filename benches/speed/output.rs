//! Report to bytes, by every renderer.

use abstat::compare::Plan;
use abstat::compare::benchstat::{Levels, tables};
use abstat::pivot::{Filter, Layout, Mode, layout};
use abstat::render::chart::terminal::TextPlot;
use abstat::render::chart::{Chart, Svg};
use abstat::render::csv::Csv;
use abstat::render::html::Html;
use abstat::render::json::Json;
use abstat::render::markdown::Markdown;
use abstat::render::text::Text;
use abstat::render::{Render, benchstat};
use criterion::{BenchmarkId, Criterion, SamplingMode, Throughput};

use crate::inputs::Shape;
use crate::{pair, read, report, sizes};

pub fn all(c: &mut Criterion) {
    let renderers: [(&str, Box<dyn Render>); 7] = [
        ("text", Box::new(Text::default())),
        ("text with plot", Box::new(TextPlot { text: Text::default() })),
        ("markdown", Box::new(Markdown::default())),
        ("csv", Box::new(Csv)),
        ("json", Box::new(Json)),
        ("html", Box::new(Html { raw_ratio: false })),
        ("svg", Box::new(Svg { chart: Chart::Forest, raw_ratio: false })),
    ];
    let plan = Plan { keep_samples: true, warnings: true, ..Plan::default() };
    let reports = sizes(1000).map(|rows| (rows, report(set(rows), &plan)));
    for (name, renderer) in renderers {
        let mut group = c.benchmark_group(format!("render {name}"));
        group.sampling_mode(SamplingMode::Flat);
        for (rows, report) in &reports {
            group.throughput(Throughput::Elements(*rows as u64));
            group.bench_function(BenchmarkId::from_parameter(rows), |b| {
                b.iter(|| {
                    let mut out = Vec::new();
                    renderer.render(report, &mut out).map(|()| out)
                });
            });
        }
        group.finish();
    }

    let by_benchstat = sizes(1000).map(|rows| {
        let mut set = set(rows);
        let grid = layout(&mut set, &Layout { mode: Mode::Benchstat, ..Layout::default() });
        (rows, tables(grid, Levels::default()))
    });
    for (name, render) in
        [("benchstat text", benchstat::text as fn(&[_]) -> String), ("benchstat csv", |t| benchstat::csv(t).0)]
    {
        let mut group = c.benchmark_group(format!("render {name}"));
        group.sampling_mode(SamplingMode::Flat);
        for (rows, tables) in &by_benchstat {
            group.throughput(Throughput::Elements(*rows as u64));
            group.bench_function(BenchmarkId::from_parameter(rows), |b| b.iter(|| render(tables)));
        }
        group.finish();
    }
}

/// One table of so many rows, 10 values a side.
fn set(rows: usize) -> abstat::model::SeriesSet {
    let times: Filter = ".unit:ns/op".parse().expect("a filter");
    read(&pair(Shape::Many, 10 * rows), &times)
}
