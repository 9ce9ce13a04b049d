//! `cargo fuzz run scenario`: see `s3haul_sim::fuzzing::scenario`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| s3haul_sim::fuzzing::scenario(data));
