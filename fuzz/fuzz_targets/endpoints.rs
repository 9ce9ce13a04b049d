//! `cargo fuzz run endpoints`: see `s3haul_wire::fuzzing::endpoints`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| s3haul_wire::fuzzing::endpoints(data));
