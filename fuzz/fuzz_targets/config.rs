//! `cargo fuzz run config`: see `s3haul_cli::fuzzing::config`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| s3haul_cli::fuzzing::config(data));
