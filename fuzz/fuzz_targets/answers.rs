//! `cargo fuzz run answers`: see `s3haul_wire::fuzzing::answers`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| s3haul_wire::fuzzing::answers(data));
