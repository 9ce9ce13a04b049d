//! `cargo fuzz run headers`: see `s3haul_wire::fuzzing::headers`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| s3haul_wire::fuzzing::headers(data));
