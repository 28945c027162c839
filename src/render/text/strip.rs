//! Values as strips of one line: in run order, and along an axis.

/// Marks from low to high.
fn heights(ascii: bool) -> [char; 8] {
    if ascii {
        ['_', '.', '-', '~', '=', '+', '*', '#']
    } else {
        ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█']
    }
}

/// Values in run order as marks from low to high, a blank between processes; means of neighbours where there are more than fit.
/// `None` where there is nothing to see.
pub fn run_order(runs: &[Vec<f64>], room: usize, ascii: bool) -> Option<String> {
    let total: usize = runs.iter().map(Vec::len).sum();
    let mut runs = runs.to_vec();
    if total + runs.len().saturating_sub(1) > room {
        let per_mark = total.div_ceil(room.saturating_sub(runs.len() - 1).max(1)).max(1);
        for run in &mut runs {
            *run = run.chunks(per_mark).map(|c| c.iter().sum::<f64>() / c.len() as f64).collect();
        }
        // Rounding up in each process may still be too much: then one mark per process.
        if runs.iter().map(|r| r.len() + 1).sum::<usize>() > room + 1 {
            runs = vec![runs.iter().map(|r| r.iter().sum::<f64>() / r.len() as f64).take(room).collect()];
        }
    }
    let (min, max) =
        runs.iter().flatten().fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), &v| (lo.min(v), hi.max(v)));
    if runs.iter().map(Vec::len).sum::<usize>() < 2 || min >= max {
        return None;
    }
    let marks = heights(ascii);
    let mark = |v: f64| {
        let at = ((v - min) / (max - min) * 8.0) as usize;
        marks[at.min(7)]
    };
    let strips: Vec<String> = runs.iter().map(|r| r.iter().map(|&v| mark(v)).collect()).collect();
    Some(strips.join(" "))
}

/// How many values lie where on an axis from `min` to `max`, and the center as a bar.
pub fn dots(runs: &[Vec<f64>], center: Option<f64>, (min, max): (f64, f64), room: usize, ascii: bool) -> String {
    let at = |v: f64| (((v - min) / (max - min) * (room - 1) as f64).round() as usize).min(room - 1);
    let mut counts = vec![0usize; room];
    for &v in runs.iter().flatten() {
        counts[at(v)] += 1;
    }
    let center = center.filter(|c| (min..=max).contains(c)).map(at);
    let strip: String = counts
        .iter()
        .enumerate()
        .map(|(i, n)| match n {
            _ if center == Some(i) => '|',
            0 => ' ',
            1 => {
                if ascii {
                    '.'
                } else {
                    '·'
                }
            }
            2 => ':',
            3 | 4 => '+',
            _ => '#',
        })
        .collect();
    strip.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strips_show_runs_in_order_and_processes_apart() {
        let run = |v: &[f64]| run_order(&[v.to_vec()], 20, true);
        assert_eq!(run(&[1.0, 2.0, 3.0, 2.0]), Some("_=#=".into()));
        assert_eq!(run(&[1.0, 1.0]), None, "nothing to see");
        assert_eq!(run_order(&[vec![1.0, 2.0], vec![8.0]], 20, true), Some("_. #".into()));
        let many: Vec<f64> = (0..1000).map(f64::from).collect();
        assert_eq!(run(&many).unwrap(), "___..---~~==+++**###");
        let forks: Vec<Vec<f64>> = (0..30).map(|i| vec![f64::from(i); 50]).collect();
        assert!(run_order(&forks, 20, false).unwrap().chars().count() <= 20);
        assert_eq!(dots(&[vec![0.0, 0.0, 5.0, 10.0]], Some(5.0), (0.0, 10.0), 11, true), ":    |    .");
    }
}
