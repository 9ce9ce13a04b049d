//! `cargo fuzz run local_names`: see `s3haul::fuzzing::local_names`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| s3haul::fuzzing::local_names(data));
