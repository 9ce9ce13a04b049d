//! `cargo fuzz run config`: see `s3haul_wire::fuzzing::config`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| s3haul_wire::fuzzing::config(data));
