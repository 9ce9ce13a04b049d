//! `cargo fuzz run store_names`: see `s3haul_sim::fuzzing::store_names`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| s3haul_sim::fuzzing::store_names(data));
