//! `cargo fuzz run key_formulas`: see `s3haul_sim::fuzzing::key_formulas`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| s3haul_sim::fuzzing::key_formulas(data));
