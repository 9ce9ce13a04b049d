//! `cargo fuzz run paths`: see `s3haul::fuzzing::paths`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| s3haul::fuzzing::paths(data));
