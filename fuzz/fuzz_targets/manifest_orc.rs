//! `cargo fuzz run manifest_orc`: see `s3haul_cli::fuzzing::manifest_orc`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| s3haul_cli::fuzzing::manifest_orc(data));
