//! Objects that are computed: keys from a file or a formula, bytes from the key.
//!
//! A [`KeySource`] is an ordered sequence of keys with positions, so a listing needs neither the
//! bytes nor an index: a formula is searched by bisection over its numbers, a sorted file over its
//! bytes. Every bucket name that exists (one: the configured bucket) shows the same keys.
//! Read-only. `ETag`s end in `-1`, so no client takes them for the MD5 of the bytes.

mod formula;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod fuzzing;
mod key_file;

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use s3s::{S3Error, S3Result};

use super::{
    Blob, Bucket, CHUNK_BYTES, Change, Entry, Index, Listed, Part, Piece, Seek, Sink, Source, Step,
    Store, StoreError, StoreResult, Upload, Version, Versions,
};

/// Size of an object whose key file or formula names none.
const DEFAULT_SIZE_BYTES: u64 = 1024;
/// Modification time of every synthetic object: 2024-01-01T00:00:00Z.
const MODIFIED_MS: i64 = 1_704_067_200_000;

/// Why a synthetic store could not be made.
#[derive(Debug, thiserror::Error)]
pub enum SyntheticError {
    /// The key file could not be read.
    #[error("could not read the key file `{path}`: {source}")]
    KeyFile {
        /// Path of the file.
        path: String,
        /// The file system's answer.
        source: std::io::Error,
    },
    /// A line of the key file is no key.
    #[error(
        "line {line} of the key file `{path}` is neither a key in UTF-8 of 1 to 1,024 bytes nor \
         such a key, a tab and a size"
    )]
    KeyLine {
        /// Path of the file.
        path: String,
        /// Number of the line, from 1.
        line: usize,
    },
    /// A key stands in the file twice.
    #[error("the key file `{path}` has the key `{key}` twice")]
    KeyTwice {
        /// Path of the file.
        path: String,
        /// The key.
        key: String,
    },
    /// The formula is not one that this store knows.
    #[error(
        "unknown synthetic keys `{spec}`: want KIND:COUNT[:SEED][:size=BYTES] with KIND one of \
         seq, uuid, dates, deep, hex"
    )]
    Spec {
        /// What was given.
        spec: String,
    },
}

/// A key and what comes after it.
struct Read<'a> {
    key: &'a str,
    size: Option<u64>,
    /// Position of the next key.
    next: u64,
}

/// An ordered sequence of keys.
trait KeySource: Send + Sync + 'static {
    /// Position of the first key that is not below (or, `after`, that is above) the bytes.
    fn seek(&self, target: &[u8], after: bool) -> u64;
    /// The key at a position, which may be written to the buffer. `None` at the end.
    fn read<'a>(&'a self, position: u64, buffer: &'a mut String) -> Option<Read<'a>>;
}

/// First number in `0..count` for which the key is not below the target.
fn bisect(count: u64, mut below: impl FnMut(u64) -> bool) -> u64 {
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = low + (high - low) / 2;
        if below(middle) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

fn to_index(position: u64) -> usize {
    usize::try_from(position).expect("what is mapped or asked for fits the address space")
}

fn is_before(key: &[u8], target: &[u8], after: bool) -> bool {
    key < target || (after && key == target)
}

/// The read-only store over a key source.
pub(crate) struct SyntheticStore {
    keys: Box<dyn KeySource>,
    /// Holds the one bucket, and no objects.
    index: Index,
    size: u64,
}

impl SyntheticStore {
    /// Keys from a file.
    pub(crate) fn from_file(
        path: &Path,
        bucket: &str,
        region: &str,
    ) -> Result<Self, SyntheticError> {
        Ok(Self::new(Box::new(key_file::KeyFile::open(path)?), bucket, region, DEFAULT_SIZE_BYTES))
    }

    /// Keys from a formula: `KIND:COUNT[:SEED][:size=BYTES]`.
    pub(crate) fn from_spec(
        spec: &str,
        bucket: &str,
        region: &str,
    ) -> Result<Self, SyntheticError> {
        let (formula, size) = formula::parse_spec(spec, DEFAULT_SIZE_BYTES)
            .ok_or_else(|| SyntheticError::Spec { spec: spec.to_owned() })?;
        Ok(Self::new(Box::new(formula), bucket, region, size))
    }

    fn new(keys: Box<dyn KeySource>, bucket: &str, region: &str, size: u64) -> Self {
        let settings =
            Bucket { region: region.to_owned(), created_ms: MODIFIED_MS, ..Bucket::default() };
        let index = Index::default();
        index.load_bucket(bucket, settings);
        Self { keys, index, size }
    }

    fn check(&self, bucket: &str) -> StoreResult {
        self.index.bucket(bucket).map(drop).ok_or(StoreError::NoSuchBucket)
    }
}

/// A well-mixed 64-bit number (the finalizer of splitmix64).
fn mix(mut x: u64) -> u64 {
    x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

fn seed_of(key: &str) -> u64 {
    key.as_bytes().chunks(8).fold(key.len() as u64, |seed, chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        mix(seed ^ u64::from_le_bytes(word))
    })
}

fn write_etag(seed: u64, etag: &mut String) {
    etag.clear();
    push_hex(etag, seed);
    push_hex(etag, mix(seed));
    etag.push_str("-1");
}

/// Sixteen digits; a third of the time that `write!` takes, for each key of each page.
fn push_hex(text: &mut String, number: u64) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut digits = [0; 16];
    for (at, digit) in digits.iter_mut().enumerate() {
        *digit = DIGITS[to_index((number >> (60 - 4 * at)) & 15)];
    }
    text.push_str(std::str::from_utf8(&digits).expect("digits are ASCII"));
}

impl Store for SyntheticStore {
    fn index(&self) -> &Index {
        &self.index
    }

    fn put_bucket(&self, _name: &str, _bucket: Bucket) -> StoreResult {
        Err(StoreError::ReadOnly)
    }

    fn remove_bucket(&self, _name: &str) -> StoreResult {
        Err(StoreError::ReadOnly)
    }

    fn scan(
        &self,
        bucket: &str,
        from: Seek,
        visit: &mut dyn FnMut(Entry<'_>) -> Step,
    ) -> StoreResult {
        self.check(bucket)?;
        let mut position = match from {
            Seek::At(target) => self.keys.seek(&target, false),
            Seek::After(target) => self.keys.seek(&target, true),
        };
        let (mut buffer, mut etag) = (String::new(), String::new());
        while let Some(read) = self.keys.read(position, &mut buffer) {
            write_etag(seed_of(read.key), &mut etag);
            let listed = Listed {
                size: read.size.unwrap_or(self.size),
                modified_ms: MODIFIED_MS,
                etag: &etag,
                storage_class: "STANDARD",
            };
            let entry = Entry { key: read.key, current: Some(listed), versions: &[] };
            position = match visit(entry) {
                Step::Next => read.next,
                Step::Jump(target) => self.keys.seek(&target, false),
                Step::Stop => break,
            };
        }
        Ok(())
    }

    fn versions(&self, bucket: &str, key: &str) -> StoreResult<Versions> {
        self.check(bucket)?;
        let mut buffer = String::new();
        let position = self.keys.seek(key.as_bytes(), false);
        let read = self.keys.read(position, &mut buffer).filter(|read| read.key == key);
        let Some(Read { size, .. }) = read else { return Ok(Vec::new()) };
        let seed = seed_of(key);
        let mut version = Version {
            id: "null".to_owned(),
            modified_ms: MODIFIED_MS,
            size: size.unwrap_or(self.size),
            blob: Blob::Computed { seed },
            ..Version::default()
        };
        write_etag(seed, &mut version.etag);
        Ok(vec![Arc::new(version)])
    }

    fn update(&self, _bucket: &str, _key: &str, _change: Change<'_>) -> S3Result<()> {
        Err(S3Error::from(StoreError::ReadOnly))
    }

    fn stage(&self) -> StoreResult<Box<dyn Sink>> {
        Err(StoreError::ReadOnly)
    }

    fn assemble(&self, _pieces: &[Piece]) -> StoreResult<Blob> {
        Err(StoreError::ReadOnly)
    }

    fn open(&self, blob: &Blob, range: Range<u64>) -> StoreResult<Box<dyn Source>> {
        match blob {
            Blob::Computed { seed } => Ok(Box::new(ComputedSource::new(*seed, range))),
            _ => Ok(Box::new(ComputedSource::new(0, 0..0))),
        }
    }

    fn put_upload(&self, _upload: Upload) -> StoreResult {
        Err(StoreError::ReadOnly)
    }

    fn put_part(&self, _id: &str, _part: Part) -> StoreResult<bool> {
        Err(StoreError::ReadOnly)
    }
}

/// Bytes as a function of seed and offset, so that any range can be computed alone.
pub(crate) struct ComputedSource {
    seed: u64,
    range: Range<u64>,
}

impl ComputedSource {
    pub(crate) fn new(seed: u64, range: Range<u64>) -> Self {
        Self { seed, range }
    }
}

impl Source for ComputedSource {
    fn next_chunk(&mut self) -> StoreResult<Option<Bytes>> {
        if self.range.is_empty() {
            return Ok(None);
        }
        let start = self.range.start;
        let end = self.range.end.min(start + CHUNK_BYTES as u64);
        let first_word = start / 8;
        let last_word = end.div_ceil(8);
        let mut bytes = Vec::with_capacity(to_index((last_word - first_word) * 8));
        for word in first_word..last_word {
            bytes.extend_from_slice(&mix(self.seed ^ word.wrapping_mul(0x2545_f491)).to_le_bytes());
        }
        self.range.start = end;
        let skip = to_index(start - first_word * 8);
        Ok(Some(Bytes::from(bytes).slice(skip..skip + to_index(end - start))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The keys of a scan.
    pub(super) fn all_keys(store: &SyntheticStore, from: Seek) -> Vec<String> {
        let mut keys = Vec::new();
        let mut visit = |entry: Entry<'_>| {
            keys.push(entry.key.to_owned());
            Step::Next
        };
        store.scan("b", from, &mut visit).unwrap();
        keys
    }

    #[test]
    fn a_range_of_computed_bytes_is_a_slice_of_all() {
        let read = |range| {
            let mut source = ComputedSource::new(42, range);
            let mut all = Vec::new();
            while let Some(chunk) = source.next_chunk().unwrap() {
                all.extend_from_slice(&chunk);
            }
            all
        };
        let all = read(0..300_001);
        assert_eq!(all.len(), 300_001);
        assert_eq!(read(3..19), all[3..19]);
        assert_eq!(read(262_139..262_150), all[262_139..262_150]);
    }
}
