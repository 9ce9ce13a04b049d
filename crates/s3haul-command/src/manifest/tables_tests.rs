//! Tables in ORC and Parquet that another library wrote; `inventory.py` among the fixtures of
//! `s3haul-cli` has the rows.

use std::fs::File;
use std::path::{Path, PathBuf};

use s3haul::job::{ListedFacts, ManifestEntry, Version};

use super::orc::OrcEntries;
use super::parquet::ParquetEntries;

const ROWS: u64 = 800;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../s3haul-cli/tests/fixtures").join(name)
}

fn expected(number: u64) -> ManifestEntry {
    let is_marker = number.is_multiple_of(11);
    let size = if number % 100 == 7 { (1 << 45) + number } else { number * number % 5000 };
    let seconds = if number % 500 == 3 { 1_400_000_000 } else { 1_600_000_000 + number * 1234 };
    let storage_class = if number.is_multiple_of(13) { "GLACIER" } else { "STANDARD" };
    let facts = ListedFacts {
        size,
        last_modified_s: i64::try_from(seconds).unwrap(),
        etag: format!("\"{:032x}\"", number * 48271),
        storage_class: storage_class.to_owned(),
    };
    let is_hidden = is_marker || number.is_multiple_of(5);
    ManifestEntry {
        bucket: Some("box".to_owned()),
        key: format!("logs/{}/file {:06} é.txt", number % 7, number * 7919 % 100_003),
        facts: (!is_marker).then_some(facts),
        version: if is_hidden { Version::Hidden } else { Version::Current },
    }
}

#[test]
fn every_row_of_orc_is_read() {
    for name in ["plain.orc", "snappy.orc", "zlib.orc"] {
        let entries = OrcEntries::open(File::open(fixture(name)).unwrap(), name).unwrap();
        let entries: Vec<_> = entries.map(Result::unwrap).collect();
        assert_eq!(entries.len() as u64, ROWS, "{name}");
        for (number, entry) in (0..).zip(&entries) {
            assert_eq!(*entry, expected(number), "{name} {number}");
        }
    }
}

#[test]
fn every_row_of_parquet_is_read() {
    let name = "snappy.parquet";
    let entries = ParquetEntries::open(File::open(fixture(name)).unwrap(), name).unwrap();
    let entries: Vec<_> = entries.map(Result::unwrap).collect();
    assert_eq!(entries.len() as u64, ROWS);
    for (number, entry) in (0..).zip(&entries) {
        assert_eq!(*entry, expected(number), "{number}");
    }
}

/// What is broken is an error or other rows, and never a panic or without an end.
#[test]
fn broken_tables_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t");
    let whole = std::fs::read(fixture("zlib.orc")).unwrap();
    let read = |bytes: &[u8]| -> Option<String> {
        std::fs::write(&path, bytes).unwrap();
        let entries = match OrcEntries::open(File::open(&path).unwrap(), "t") {
            Ok(entries) => entries,
            Err(error) => return Some(error.to_string()),
        };
        let mut failures = entries.filter_map(Result::err);
        failures.next().map(|error| error.to_string())
    };
    assert_eq!(read(&whole), None);
    for length in [0, 1, 3, whole.len() / 2, whole.len() - 1] {
        let told = read(&whole[..length]).unwrap();
        assert!(told.starts_with("the manifest `t` cannot be read as ORC: "), "{told}");
    }
    let mut broken = whole.clone();
    for at in (0..whole.len()).step_by(97) {
        for byte in [0, 0x7f, 0xff] {
            broken[at] = byte;
            _ = read(&broken);
        }
        broken[at] = whole[at];
    }
    let parquet = std::fs::read(fixture("snappy.parquet")).unwrap();
    std::fs::write(&path, &parquet[..parquet.len() / 2]).unwrap();
    assert!(ParquetEntries::open(File::open(&path).unwrap(), "t").is_err());
}
