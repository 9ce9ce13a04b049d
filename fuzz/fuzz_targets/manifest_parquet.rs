//! `cargo fuzz run manifest_parquet`: see `s3haul_cli::fuzzing::manifest_parquet`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| s3haul_cli::fuzzing::manifest_parquet(data));
