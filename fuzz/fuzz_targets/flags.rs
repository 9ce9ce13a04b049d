//! `cargo fuzz run flags`: see `s3haul_cli::fuzzing::flags`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| s3haul_cli::fuzzing::flags(data));
