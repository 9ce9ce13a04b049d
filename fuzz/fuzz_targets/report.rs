//! `cargo fuzz run report`: see `s3haul_cli::fuzzing::report`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| s3haul_cli::fuzzing::report(data));
