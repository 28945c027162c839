//! Replays the corpus of the fuzz targets, with everything they ever found, through the functions that they run.

use std::fs;
use std::path::Path;

#[path = "../fuzz/src/lib.rs"]
mod targets;

#[test]
fn every_target_takes_its_corpus() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus");
    for (name, target) in targets::TARGETS {
        let mut files: Vec<_> = fs::read_dir(corpus.join(name)).unwrap().map(|e| e.unwrap().path()).collect();
        files.sort();
        assert!(!files.is_empty(), "{name}");
        for file in files {
            let data = fs::read(&file).unwrap();
            if std::panic::catch_unwind(|| target(&data)).is_err() {
                panic!("{}", file.display());
            }
        }
    }
}

#[test]
fn every_target_can_be_fuzzed() {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz");
    let manifest = fs::read_to_string(fuzz.join("Cargo.toml")).unwrap();
    for (name, target) in targets::TARGETS {
        assert!(manifest.contains(&format!("name = \"{name}\"\n")), "{name}");
        let text = fs::read_to_string(fuzz.join("targets").join(format!("{name}.rs"))).unwrap();
        assert!(text.contains(&format!("target(\"{name}\")")), "{name}");
        assert!(std::ptr::fn_addr_eq(*target, targets::target(name)));
    }
}
