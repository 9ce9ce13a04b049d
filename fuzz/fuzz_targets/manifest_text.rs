//! `cargo fuzz run manifest_text`: see `s3haul_cli::fuzzing::manifest_text`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| s3haul_cli::fuzzing::manifest_text(data));
