//! Reads the golden values under `testdata/oracle` and compares with their stated tolerances (see PROVENANCE.md there).

use serde_json::Value;

/// One oracle file.
pub struct Oracle {
    rel: f64,
    abs: f64,
    cases: Vec<Value>,
}

/// One case of a file.
#[derive(Clone, Copy)]
pub struct Case<'a> {
    oracle: &'a Oracle,
    value: &'a Value,
}

impl Oracle {
    pub fn load(quantity: &str) -> Self {
        let path = format!("{}/testdata/oracle/{quantity}.json", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
        let mut doc: Value = serde_json::from_str(&text).unwrap();
        let Value::Array(cases) = doc["cases"].take() else { panic!("{path}: no cases") };
        let tolerance = |name: &str| doc["tolerance"][name].as_f64().unwrap();
        Oracle { rel: tolerance("rel"), abs: tolerance("abs"), cases }
    }

    pub fn cases(&self) -> impl Iterator<Item = Case<'_>> {
        assert!(!self.cases.is_empty());
        self.cases.iter().map(|value| Case { oracle: self, value })
    }

    pub fn of_kind(&self, kind: &str) -> Vec<Case<'_>> {
        let found: Vec<_> = self.cases().filter(|c| c.value["kind"] == kind).collect();
        assert!(!found.is_empty(), "no case of kind {kind}");
        found
    }
}

impl<'a> Case<'a> {
    pub fn id(&self) -> &'a str {
        self.value["id"].as_str().unwrap_or("?")
    }

    pub fn get(&self, name: &str) -> &'a Value {
        &self.value[name]
    }

    /// An object inside the case, checked with the case's tolerance; `None` when null or absent.
    pub fn inner(&self, name: &str) -> Option<Case<'a>> {
        let value = &self.value[name];
        (!value.is_null()).then_some(Case { oracle: self.oracle, value })
    }

    /// Objects of an array inside the case.
    pub fn list(&self, name: &str) -> Vec<Case<'a>> {
        let oracle = self.oracle;
        self.value[name].as_array().unwrap().iter().map(|value| Case { oracle, value }).collect()
    }

    pub fn has(&self, name: &str) -> bool {
        !self.value[name].is_null()
    }

    pub fn f64(&self, name: &str) -> f64 {
        number(&self.value[name]).unwrap_or_else(|| panic!("{}: no number {name}", self.id()))
    }

    pub fn u64(&self, name: &str) -> u64 {
        self.value[name].as_u64().unwrap_or_else(|| panic!("{}: no whole number {name}", self.id()))
    }

    pub fn values(&self, name: &str) -> Vec<f64> {
        values(&self.value[name])
    }

    /// `got` must be the number `name` within tolerance, and that number must be there.
    #[track_caller]
    pub fn number(&self, name: &str, got: f64) {
        self.optional(name, Some(got));
    }

    /// As [`Case::number`], where null stands for undefined.
    #[track_caller]
    pub fn optional(&self, name: &str, got: Option<f64>) {
        self.close(name, got, &self.value[name]);
    }

    /// `got` must be the two numbers of the array `name`, or both undefined.
    #[track_caller]
    pub fn pair(&self, name: &str, got: Option<(f64, f64)>) {
        let want = &self.value[name];
        self.close(name, got.map(|g| g.0), &want[0]);
        self.close(name, got.map(|g| g.1), &want[1]);
    }

    /// `got` must be number `i` of the array `name`, or null as it is.
    #[track_caller]
    pub fn at(&self, name: &str, i: usize, got: Option<f64>) {
        self.close(name, got, &self.value[name][i]);
    }

    #[track_caller]
    fn close(&self, name: &str, got: Option<f64>, want: &Value) {
        let id = self.id();
        match (got, number(want)) {
            (None, None) => {}
            (Some(got), Some(want)) => {
                let rel = self.value["rel_tol"].as_f64().unwrap_or(self.oracle.rel);
                let good = got == want || (got - want).abs() <= (rel * want.abs()).max(self.oracle.abs);
                assert!(good, "{id}: {name}: got {got:?}, want {want:?}, off by {:e}", (got - want) / want);
            }
            (got, want) => panic!("{id}: {name}: got {got:?}, want {want:?}"),
        }
    }
}

pub fn values(array: &Value) -> Vec<f64> {
    array.as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect()
}

fn number(value: &Value) -> Option<f64> {
    match value.as_str() {
        Some("Infinity") => Some(f64::INFINITY),
        Some("-Infinity") => Some(f64::NEG_INFINITY),
        _ => value.as_f64(),
    }
}
