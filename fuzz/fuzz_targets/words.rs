//! `cargo fuzz run words`: see `s3haul_cli::fuzzing::words`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| s3haul_cli::fuzzing::words(data));
