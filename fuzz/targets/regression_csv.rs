#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| abstat_fuzz::target("regression_csv")(data));
