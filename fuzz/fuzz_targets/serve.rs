//! `cargo fuzz run serve`: see `s3haul_sim::fuzzing::serve`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| s3haul_sim::fuzzing::serve(data));
