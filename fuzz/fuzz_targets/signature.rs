//! `cargo fuzz run signature`: see `s3haul::fuzzing::signature`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| s3haul::fuzzing::signature(data));
