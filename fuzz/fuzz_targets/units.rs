//! `cargo fuzz run units`: see `s3haul::fuzzing::units`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| s3haul::fuzzing::units(data));
