//! `cargo fuzz run endpoints`: see `s3haul::fuzzing::endpoints`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| s3haul::fuzzing::endpoints(data));
