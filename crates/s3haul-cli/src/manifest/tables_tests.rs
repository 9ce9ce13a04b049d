//! Tables in Parquet that another library wrote; `inventory.py` among the fixtures of
//! `s3haul-cli` has the rows.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ::parquet::basic::{Compression, GzipLevel, ZstdLevel};
use ::parquet::data_type::{ByteArray, ByteArrayType, Int64Type};
use ::parquet::file::properties::WriterProperties;
use ::parquet::file::writer::SerializedFileWriter;
use ::parquet::schema::parser::parse_message_type;
use s3haul::job::{ListedFacts, ManifestEntry, Version};

use super::parquet::ParquetEntries;

const ROWS: u64 = 800;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
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
fn broken_tables_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t");
    let whole = std::fs::read(fixture("snappy.parquet")).unwrap();
    let read = |bytes: &[u8]| -> Option<String> {
        std::fs::write(&path, bytes).unwrap();
        let entries = match ParquetEntries::open(File::open(&path).unwrap(), "t") {
            Ok(entries) => entries,
            Err(error) => return Some(error.to_string()),
        };
        let mut failures = entries.filter_map(Result::err);
        failures.next().map(|error| error.to_string())
    };
    assert_eq!(read(&whole), None);
    for length in [0, 1, 3, whole.len() / 2, whole.len() - 1] {
        let message = read(&whole[..length]).unwrap();
        assert!(message.starts_with("the manifest `t` cannot be read as Parquet: "), "{message}");
    }
    let mut broken = whole.clone();
    for at in (0..whole.len()).step_by(97) {
        for byte in [0, 0x7f, 0xff] {
            broken[at] = byte;
            _ = read(&broken);
        }
        broken[at] = whole[at];
    }
}

/// A table of a key, a size and a time, as other programs write it.
fn parquet_of(rows: &[(&str, i64)], compression: Compression) -> File {
    let schema = "message rows { REQUIRED BYTE_ARRAY key (STRING); REQUIRED INT64 size; }";
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let properties = WriterProperties::builder().set_compression(compression).build();
    let file = tempfile::tempfile().unwrap();
    let shared = file.try_clone().unwrap();
    let mut writer = SerializedFileWriter::new(shared, schema, Arc::new(properties)).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let keys: Vec<ByteArray> = rows.iter().map(|(key, _)| ByteArray::from(*key)).collect();
    let sizes: Vec<i64> = rows.iter().map(|(_, size)| *size).collect();
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<ByteArrayType>().write_batch(&keys, None, None).unwrap();
    column.close().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<Int64Type>().write_batch(&sizes, None, None).unwrap();
    column.close().unwrap();
    group.close().unwrap();
    writer.close().unwrap();
    file
}

#[test]
fn parquet_of_any_usual_compression_is_read() {
    let names: Vec<String> = (0..5000).map(|number| format!("logs/{number:05}.txt")).collect();
    let rows: Vec<_> = (0..).zip(&names).map(|(size, name)| (name.as_str(), size)).collect();
    for compression in [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::GZIP(GzipLevel::default()),
        Compression::ZSTD(ZstdLevel::default()),
        Compression::LZ4,
        Compression::LZ4_RAW,
    ] {
        let entries = ParquetEntries::open(parquet_of(&rows, compression), "t").unwrap();
        let keys: Vec<_> = entries.map(|entry| entry.unwrap().key).collect();
        assert_eq!(keys, names, "{compression}");
    }
}

#[test]
fn keys_in_parquet_that_are_too_long_are_refused() {
    let (most, long) = ("k".repeat(1024), "k".repeat(3_000_000));
    let file = parquet_of(&[(&most, 1)], Compression::GZIP(GzipLevel::default()));
    assert_eq!(ParquetEntries::open(file, "t").unwrap().next().unwrap().unwrap().key, most);
    let file = parquet_of(&vec![(long.as_str(), 1); 100], Compression::GZIP(GzipLevel::default()));
    let mut entries = ParquetEntries::open(file, "t").unwrap();
    let message = entries.next().unwrap().unwrap_err().to_string();
    assert!(message.contains("its values are far too long"), "{message}");
    assert!(entries.next().is_none());
    let file = parquet_of(&[(&long, 1)], Compression::GZIP(GzipLevel::default()));
    let message = ParquetEntries::open(file, "t").unwrap().next().unwrap().unwrap_err();
    assert!(message.to_string().contains("it has a key of more than 1,024 bytes"), "{message}");
}

#[test]
fn sizes_below_zero_in_parquet_are_refused() {
    let file = parquet_of(&[("a", 5), ("b", -1)], Compression::UNCOMPRESSED);
    let mut entries = ParquetEntries::open(file, "t").unwrap();
    let message = entries.next().unwrap().unwrap_err().to_string();
    assert!(message.contains("a value that is not a size in bytes"), "{message}");
    assert!(entries.next().is_none());
}
