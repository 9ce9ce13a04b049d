//! `cargo fuzz run filters`: see `s3haul::fuzzing::filters`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| s3haul::fuzzing::filters(data));
