//! Runs against the examples of the specification, and whole files that another library wrote.

use super::rle::{Bits, Numbers};
use super::*;

fn region(bytes: &[u8]) -> (Region, u64) {
    use std::io::Write;
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    (Region::new(file), bytes.len() as u64)
}

fn numbers(bytes: &[u8], is_signed: bool, is_version_2: bool, count: usize) -> Vec<i64> {
    let (region, length) = region(bytes);
    let stream = region.stream(0, length).unwrap();
    let mut numbers = Numbers::new(stream, is_signed, is_version_2);
    (0..count).map(|_| numbers.next().unwrap()).collect()
}

/// The examples of the specification.
#[test]
fn runs_are_those_of_the_specification() {
    assert_eq!(numbers(&[0x61, 0x00, 0x07], false, false, 100), [7; 100]);
    let expected: Vec<_> = (1..=100).rev().collect();
    assert_eq!(numbers(&[0x61, 0xff, 0x64], false, false, 100), expected);
    assert_eq!(numbers(&[0xfb, 2, 3, 6, 7, 11], false, false, 5), [2, 3, 6, 7, 11]);
    assert_eq!(numbers(&[0x0a, 0x27, 0x10], false, true, 5), [10_000; 5]);
    let direct = [0x5e, 0x03, 0x5c, 0xa1, 0xab, 0x1e, 0xde, 0xad, 0xbe, 0xef];
    assert_eq!(numbers(&direct, false, true, 4), [23713, 43806, 57005, 48879]);
    let patched = [
        0x8e, 0x13, 0x2b, 0x21, 0x07, 0xd0, 0x1e, 0x00, 0x14, 0x70, 0x28, 0x32, 0x3c, 0x46, 0x50,
        0x5a, 0x64, 0x6e, 0x78, 0x82, 0x8c, 0x96, 0xa0, 0xaa, 0xb4, 0xbe, 0xfc, 0xe8,
    ];
    let expected = [
        2030, 2000, 2020, 1_000_000, 2040, 2050, 2060, 2070, 2080, 2090, 2100, 2110, 2120, 2130,
        2140, 2150, 2160, 2170, 2180, 2190,
    ];
    assert_eq!(numbers(&patched, false, true, 20), expected);
    let delta = [0xc6, 0x09, 0x02, 0x02, 0x22, 0x42, 0x42, 0x46];
    assert_eq!(numbers(&delta, false, true, 10), [2, 3, 5, 7, 11, 13, 17, 19, 23, 29]);
}

#[test]
fn bits_come_from_runs_of_bytes() {
    let (region, length) = region(&[0x61, 0x00, 0xfe, 0x44, 0x45]);
    let mut bits = Bits::new(region.stream(0, length).unwrap());
    let found: Vec<_> = (0..816).map(|_| bits.next().unwrap()).collect();
    assert!(found[..800].iter().all(|bit| !bit));
    let set: Vec<_> = (800..816).filter(|at| found[*at]).collect();
    assert_eq!(set, [801, 805, 809, 813, 815]);
    assert!(bits.next().is_err(), "there is no more");
}
