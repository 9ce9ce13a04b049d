//! What must hold for any file that is given as a manifest.

use std::fs::File;
use std::io::{Cursor, Seek as _, Write as _};

use s3haul::job::ManifestEntry;
use s3haul_wire::error::Result;

use super::detect::{Format, TextFormat};
use super::parquet::ParquetEntries;
use super::row::Column;
use super::text::TextEntries;

/// Entries of a table that are looked at: a few bytes may stand for very many.
const ENTRIES_MAX: usize = 20_000;

/// Text in every form: no more entries than lines, and no longer keys than the text.
///
/// # Panics
///
/// Where there are.
pub fn manifest_text(data: &[u8]) {
    for name in ["-", "m.csv", "m.jsonl"] {
        let _ = Format::of(None, name, "box", &data[..data.len().min(64 * 1024)]);
    }
    for format in [
        TextFormat::Lines,
        TextFormat::Guessed,
        TextFormat::Csv,
        TextFormat::S3Batch,
        TextFormat::Jsonl,
        TextFormat::ReportCsv,
        TextFormat::ReportJsonl,
    ] {
        let text = Box::new(Cursor::new(data.to_vec()));
        check(TextEntries::new(text, format, "m"), data);
    }
    let columns = vec![Some(Column::Bucket), Some(Column::Key), None, Some(Column::IsLatest)];
    check(TextEntries::of_columns(Box::new(Cursor::new(data.to_vec())), columns, "m"), data);
}

fn check(entries: impl Iterator<Item = Result<ManifestEntry>>, data: &[u8]) {
    let (mut count, mut bytes) = (0, 0);
    for entry in entries {
        count += 1;
        bytes += entry.map_or(0, |entry| entry.key.len());
    }
    let lines = data.split(|byte| *byte == b'\n').count();
    assert!(count <= lines && bytes <= data.len(), "{count} entries, {bytes} bytes of keys");
}

/// A table in Parquet: an error or entries, and an end.
///
/// # Panics
///
/// Where the reader does.
pub fn manifest_parquet(data: &[u8]) {
    silence();
    let Ok(entries) = ParquetEntries::open(file(data), "m") else { return };
    assert!(entries.take(ENTRIES_MAX).filter(Result::is_err).count() <= 1);
}

/// Hides caught panics of the library from libFuzzer, which ends with the first panic it sees;
/// those that are not caught still end it.
fn silence() {
    #[cfg(not(test))]
    {
        static ONCE: std::sync::Once = std::sync::Once::new();
        ONCE.call_once(|| std::panic::set_hook(Box::new(|_| {})));
    }
}

fn file(data: &[u8]) -> File {
    let mut file = tempfile::tempfile().expect("a temporary file can be made");
    file.write_all(data).expect("it can be written");
    file.rewind().expect("it can be read from its start");
    file
}
