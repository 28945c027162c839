//! Names and labels: `o.e.MapBench.get:·gc.alloc.rate` is the benchmark before the first colon and a label after it.

use std::borrow::Cow;

/// Splits `name:label` at the first colon outside braces (`gc.churn.{G1: Eden}`) and puts the label into the spelling of JMH 1.37:
/// `@gc.time`, `·gc.time` are `gc.time`; `get·p0.50` is `p0.50` for a method `get` and `member:p0.50` for a member of a group.
pub fn split(text: &str) -> (&str, Cow<'_, str>) {
    match text.split_once(':') {
        Some((name, label)) => (name, normal(label, method(name))),
        None => (text, Cow::Borrowed("")),
    }
}

/// Last component of a name.
pub fn method(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

/// A label in the spelling of JMH 1.37.
pub fn normal<'a>(label: &'a str, method: &str) -> Cow<'a, str> {
    let label = label.strip_prefix('"').and_then(|l| l.strip_suffix('"')).unwrap_or(label);
    let label = label.strip_prefix(['@', '·']).unwrap_or(label);
    match label.split_once('·') {
        Some((member, rest)) if rest.starts_with("p0.") || rest.starts_with("p1.") => {
            if member == method {
                Cow::Borrowed(rest)
            } else {
                Cow::Owned(format!("{member}:{rest}"))
            }
        }
        _ => Cow::Borrowed(label),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_of_all_versions_are_spelled_alike() {
        for (text, name, label) in [
            ("MapBench.get", "MapBench.get", ""),
            ("Q.rw:rw_get", "Q.rw", "rw_get"),
            ("Q.rw:rw_get:p0.50", "Q.rw", "rw_get:p0.50"),
            ("Q.rw:rw_get·p0.50", "Q.rw", "rw_get:p0.50"),
            ("MapBench.get:get·p0.9999", "MapBench.get", "p0.9999"),
            ("A.b:@gc.count.total", "A.b", "gc.count.total"),
            ("A.b:·gc.churn.{G1 Eden Space}.norm", "A.b", "gc.churn.{G1 Eden Space}.norm"),
            (":p0.50", "", "p0.50"),
        ] {
            let (n, l) = split(text);
            assert_eq!((n, &*l), (name, label), "{text}");
        }
    }
}
