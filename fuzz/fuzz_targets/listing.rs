//! `cargo fuzz run listing`: see `s3haul_wire::fuzzing::listing`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| s3haul_wire::fuzzing::listing(data));
