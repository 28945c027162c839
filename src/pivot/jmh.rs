//! JMH shortens class names by what a run has in common; results of one benchmark must meet in one row all the same.

use crate::base::Diagnostic;
use crate::model::jmh_names::{Named, unify};
use crate::model::{Scheme, SeriesSet};

/// Gives all groups of one JMH benchmark the name it has in the first run. What fits two benchmarks is kept apart, with a warning.
pub fn unify_names(set: &mut SeriesSet) -> Vec<Diagnostic> {
    let of_jmh: Vec<usize> = (0..set.groups.len()).filter(|&i| set.groups[i].scheme == Scheme::Jmh).collect();
    // Names are shortened together within one table of one input.
    let runs: Vec<(u32, &str)> =
        of_jmh.iter().map(|&i| (set.groups[i].source.0, set.groups[i].key(".table").unwrap_or(""))).collect();
    let mut order = runs.clone();
    order.sort_by(|a, b| a.0.cmp(&b.0).then_with(|| a.1.len().cmp(&b.1.len())).then_with(|| a.1.cmp(b.1)));
    order.dedup();
    if order.len() < 2 {
        return Vec::new();
    }
    let number: std::collections::HashMap<(u32, &str), u32> = order.iter().zip(0..).map(|(run, n)| (*run, n)).collect();
    let names: Vec<Named<'_>> = of_jmh
        .iter()
        .zip(&runs)
        .map(|(&i, run)| Named { name: without_copy(&set.groups[i].name), run: number[run] })
        .collect();
    let unified = unify(&names);
    let warnings = unified
        .ambiguous
        .iter()
        .map(|(name, others)| {
            Diagnostic::warning("ambiguous-name", format!("{name} may be {}; they are kept apart", others.join(" or ")))
                .hint("results with full names (-rf json) tell them apart")
        })
        .collect();
    let renamed: Vec<(usize, Box<str>)> = of_jmh
        .iter()
        .zip(&names)
        .zip(&unified.canonical)
        .filter(|((_, old), new)| old.name != **new)
        .map(|((&i, old), new)| (i, format!("{new}{}", &set.groups[i].name[old.name.len()..]).into()))
        .collect();
    for (i, name) in renamed {
        set.groups[i].name = name;
    }
    warnings
}

/// The name without the `#2` of a repeated result.
fn without_copy(name: &str) -> &str {
    match name.rsplit_once('#') {
        Some((stem, n)) if !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()) => stem,
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::without_copy;

    #[test]
    fn the_number_of_a_repeated_result_is_no_part_of_its_name() {
        assert_eq!(without_copy("a.B.c#2"), "a.B.c");
        assert_eq!(without_copy("a.B.c#x"), "a.B.c#x");
        assert_eq!(without_copy("a.B.c#"), "a.B.c#");
    }
}
