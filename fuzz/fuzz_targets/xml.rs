//! `cargo fuzz run xml`: see `s3haul_wire::fuzzing::xml`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| s3haul_wire::fuzzing::xml(data));
