//! `cargo fuzz run answers`: see `s3haul::fuzzing::answers`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| s3haul::fuzzing::answers(data));
