//! `cargo fuzz run key_codec`: see `s3haul_wire::fuzzing::key_codec`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| s3haul_wire::fuzzing::key_codec(data));
