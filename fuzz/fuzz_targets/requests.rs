//! `cargo fuzz run requests`: see `s3haul_sim::fuzzing::requests`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| s3haul_sim::fuzzing::requests(data));
