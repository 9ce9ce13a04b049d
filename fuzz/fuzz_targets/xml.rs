//! `cargo fuzz run xml`: see `s3haul::fuzzing::xml`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| s3haul::fuzzing::xml(data));
