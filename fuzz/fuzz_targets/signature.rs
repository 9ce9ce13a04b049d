//! `cargo fuzz run signature`: see `s3haul_wire::fuzzing::signature`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| s3haul_wire::fuzzing::signature(data));
