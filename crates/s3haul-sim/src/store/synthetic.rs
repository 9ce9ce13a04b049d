//! Objects that are computed: keys from a file or a formula, bytes from the key.
//!
//! A [`KeySource`] is an ordered sequence of keys with positions, so a listing needs neither the
//! bytes nor an index: a formula is searched by bisection over its numbers, a sorted file over its
//! bytes. Every bucket name that exists (one: the configured bucket) shows the same keys.
//! Read-only. `ETag`s end in `-1`, so no client takes them for the MD5 of the bytes.

use std::fs::File;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use memmap2::Mmap;
use s3s::{S3Error, S3Result};

use super::{
    Blob, Bucket, CHUNK_BYTES, Change, Entry, Listed, Part, Piece, Seek, Sink, Source, Step, Store,
    StoreError, StoreResult, Upload, Version, Versions,
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
    #[error("line {line} of the key file `{path}` is not a key in UTF-8 of 1 to 1,024 bytes")]
    KeyLine {
        /// Path of the file.
        path: String,
        /// Number of the line, from 1.
        line: usize,
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

/// An ordered sequence of keys.
trait KeySource: Send + Sync + 'static {
    /// Position of the first key that is not below (or, `after`, that is above) the bytes.
    fn seek(&self, target: &[u8], after: bool) -> u64;
    /// Writes the key at a position; gives its size, if it has one, and the next position.
    /// `None` at the end.
    fn read(&self, position: u64, key: &mut String) -> Option<(Option<u64>, u64)>;
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

fn is_before(key: &[u8], target: &[u8], after: bool) -> bool {
    key < target || (after && key == target)
}

/// Kinds of formulas; each is ascending in its number.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Seq,
    Uuid,
    Dates,
    Deep,
    Hex,
}

/// Keys computed from their number.
#[derive(Debug)]
struct Formula {
    kind: Kind,
    count: u64,
    seed: u64,
}

impl Formula {
    fn key(&self, number: u64, key: &mut String) {
        use std::fmt::Write as _;
        key.clear();
        let written = match self.kind {
            Kind::Seq => write!(key, "key-{number:012}"),
            Kind::Hex => write!(key, "{:016x}", self.spread(number)),
            Kind::Uuid => self.write_uuid(number, key),
            Kind::Dates => self.write_date(number, key),
            Kind::Deep => write!(
                key,
                "d{:04}/e{:03}/f{:03}/file-{:03}.bin",
                number / 1_000_000_000,
                number / 1_000_000 % 1000,
                number / 1000 % 1000,
                number % 1000
            ),
        };
        written.expect("writing to a string cannot fail");
    }

    /// Spreads the numbers evenly over 64 bits, with a random place inside each step.
    fn spread(&self, number: u64) -> u64 {
        let step = u64::MAX / self.count.max(1);
        number * step + mix(self.seed ^ mix(number)) % step.max(1)
    }

    fn write_uuid(&self, number: u64, key: &mut String) -> std::fmt::Result {
        use std::fmt::Write as _;
        let (high, low) = (self.spread(number), mix(self.seed.wrapping_add(number) ^ 0x5bd1));
        write!(
            key,
            "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
            high >> 32,
            (high >> 16) & 0xffff,
            high & 0xffff,
            low >> 48,
            low & 0xffff_ffff_ffff
        )
    }

    /// Ten years of folders by day, the objects spread over the days.
    fn write_date(&self, number: u64, key: &mut String) -> std::fmt::Result {
        use std::fmt::Write as _;
        const DAYS: u64 = 3653;
        let per_day = self.count.div_ceil(DAYS).max(1);
        let first = jiff::civil::date(2015, 1, 1);
        let day =
            first.saturating_add(jiff::Span::new().days(
                i64::try_from((number / per_day).min(DAYS)).expect("a few thousand days fit"),
            ));
        let (year, month, date) = (day.year(), day.month(), day.day());
        write!(key, "{year:04}/{month:02}/{date:02}/object-{:09}.dat", number % per_day)
    }
}

impl KeySource for Formula {
    fn seek(&self, target: &[u8], after: bool) -> u64 {
        let mut key = String::new();
        bisect(self.count, |number| {
            self.key(number, &mut key);
            is_before(key.as_bytes(), target, after)
        })
    }

    fn read(&self, position: u64, key: &mut String) -> Option<(Option<u64>, u64)> {
        (position < self.count).then(|| {
            self.key(position, key);
            (None, position + 1)
        })
    }
}

/// Keys of a mapped file, one a line, `key` or `key TAB size`.
struct KeyFile {
    map: Option<Mmap>,
    /// Line starts in key order, where the file is not sorted.
    sorted_starts: Option<Vec<u64>>,
}

impl KeyFile {
    fn open(path: &Path) -> Result<Self, SyntheticError> {
        let shown = path.display().to_string();
        let failed = |source| SyntheticError::KeyFile { path: shown.clone(), source };
        let file = File::open(path).map_err(failed)?;
        let length = file.metadata().map_err(failed)?.len();
        let map = if length == 0 { None } else { Some(map_file(&file).map_err(failed)?) };
        let mut keys = Self { map, sorted_starts: None };
        let (starts, sorted) = keys.check_lines(&shown)?;
        if !sorted {
            let mut starts = starts;
            starts.sort_by(|a, b| keys.line(*a).0.cmp(keys.line(*b).0));
            keys.sorted_starts = Some(starts);
        }
        Ok(keys)
    }

    /// Checks every line; gives the starts where they are needed for sorting.
    fn check_lines(&self, path: &str) -> Result<(Vec<u64>, bool), SyntheticError> {
        let (mut starts, mut sorted, mut line) = (Vec::new(), true, 0);
        let mut position = 0;
        let mut previous: &[u8] = b"";
        while position < self.bytes().len() as u64 {
            let (key, _, next) = self.line(position);
            line += 1;
            let good = (1..=1024).contains(&key.len()) && std::str::from_utf8(key).is_ok();
            if !good {
                return Err(SyntheticError::KeyLine { path: path.to_owned(), line });
            }
            sorted &= previous < key;
            previous = key;
            starts.push(position);
            position = next;
        }
        if sorted {
            starts = Vec::new();
        }
        Ok((starts, sorted))
    }

    fn bytes(&self) -> &[u8] {
        self.map.as_deref().unwrap_or_default()
    }

    /// Key, size and end of the line that starts at a byte.
    fn line(&self, start: u64) -> (&[u8], Option<u64>, u64) {
        let rest = &self.bytes()[to_index(start)..];
        let end = rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len());
        let next = start + (end as u64 + 1).min(rest.len() as u64);
        let line = &rest[..end];
        match line.iter().rposition(|b| *b == b'\t') {
            Some(tab) => {
                let size = std::str::from_utf8(&line[tab + 1..]).ok().and_then(|t| t.parse().ok());
                (&line[..tab], size, next)
            }
            None => (line, None, next),
        }
    }

    /// Start of the line that holds a byte.
    fn line_start(&self, byte: u64) -> u64 {
        let before = &self.bytes()[..to_index(byte)];
        before.iter().rposition(|b| *b == b'\n').map_or(0, |at| at as u64 + 1)
    }
}

#[expect(unsafe_code, reason = "mapping a file is unsafe: it must not shrink while mapped")]
fn map_file(file: &File) -> std::io::Result<Mmap> {
    // SAFETY: the key file is given by the person who runs the simulator and is only read here.
    unsafe { Mmap::map(file) }
}

fn to_index(position: u64) -> usize {
    usize::try_from(position).expect("a mapped file fits the address space")
}

impl KeySource for KeyFile {
    fn seek(&self, target: &[u8], after: bool) -> u64 {
        if let Some(starts) = &self.sorted_starts {
            let before = |number| is_before(self.line(starts[to_index(number)]).0, target, after);
            return bisect(starts.len() as u64, before);
        }
        let end = self.bytes().len() as u64;
        let byte = bisect(end, |byte| is_before(self.line(self.line_start(byte)).0, target, after));
        if byte == end { end } else { self.line_start(byte) }
    }

    fn read(&self, position: u64, key: &mut String) -> Option<(Option<u64>, u64)> {
        let (start, after) = match &self.sorted_starts {
            Some(starts) => (*starts.get(to_index(position))?, Some(position + 1)),
            None => ((position < self.bytes().len() as u64).then_some(position)?, None),
        };
        let (bytes, size, next) = self.line(start);
        key.clear();
        key.push_str(std::str::from_utf8(bytes).ok()?);
        Some((size, after.unwrap_or(next)))
    }
}

/// The read-only store over a key source.
pub(crate) struct SyntheticStore {
    keys: Box<dyn KeySource>,
    bucket: (String, Bucket),
    size: u64,
}

impl SyntheticStore {
    /// Keys from a file.
    pub(crate) fn from_file(
        path: &Path,
        bucket: &str,
        region: &str,
    ) -> Result<Self, SyntheticError> {
        Ok(Self::new(Box::new(KeyFile::open(path)?), bucket, region, DEFAULT_SIZE_BYTES))
    }

    /// Keys from a formula: `KIND:COUNT[:SEED][:size=BYTES]`.
    pub(crate) fn from_spec(
        spec: &str,
        bucket: &str,
        region: &str,
    ) -> Result<Self, SyntheticError> {
        let (formula, size) =
            parse_spec(spec).ok_or_else(|| SyntheticError::Spec { spec: spec.to_owned() })?;
        Ok(Self::new(Box::new(formula), bucket, region, size))
    }

    fn new(keys: Box<dyn KeySource>, bucket: &str, region: &str, size: u64) -> Self {
        let settings =
            Bucket { region: region.to_owned(), created_ms: MODIFIED_MS, ..Bucket::default() };
        Self { keys, bucket: (bucket.to_owned(), settings), size }
    }

    fn check(&self, bucket: &str) -> StoreResult {
        if bucket == self.bucket.0 { Ok(()) } else { Err(StoreError::NoSuchBucket) }
    }
}

fn parse_spec(spec: &str) -> Option<(Formula, u64)> {
    let mut fields = spec.split(':');
    let kind = match fields.next()? {
        "seq" => Kind::Seq,
        "uuid" => Kind::Uuid,
        "dates" => Kind::Dates,
        "deep" => Kind::Deep,
        "hex" => Kind::Hex,
        _ => return None,
    };
    let count = fields.next()?.replace('_', "").parse().ok()?;
    let (mut seed, mut size) = (0, DEFAULT_SIZE_BYTES);
    for field in fields {
        match field.strip_prefix("size=") {
            Some(bytes) => size = bytes.parse().ok()?,
            None => seed = field.parse().ok()?,
        }
    }
    Some((Formula { kind, count, seed }, size))
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
    use std::fmt::Write as _;
    etag.clear();
    write!(etag, "{seed:016x}{:016x}-1", mix(seed)).expect("writing to a string cannot fail");
}

impl Store for SyntheticStore {
    fn buckets(&self) -> Vec<(String, Bucket)> {
        vec![self.bucket.clone()]
    }

    fn bucket(&self, name: &str) -> Option<Bucket> {
        (name == self.bucket.0).then(|| self.bucket.1.clone())
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
        let (mut key, mut etag) = (String::new(), String::new());
        while let Some((size, next)) = self.keys.read(position, &mut key) {
            write_etag(seed_of(&key), &mut etag);
            let listed = Listed {
                size: size.unwrap_or(self.size),
                modified_ms: MODIFIED_MS,
                etag: &etag,
                storage_class: "STANDARD",
            };
            position = match visit(Entry { key: &key, current: Some(listed), versions: &[] }) {
                Step::Next => next,
                Step::Jump(target) => self.keys.seek(&target, false),
                Step::Stop => break,
            };
        }
        Ok(())
    }

    fn versions(&self, bucket: &str, key: &str) -> StoreResult<Versions> {
        self.check(bucket)?;
        let mut found = String::new();
        let position = self.keys.seek(key.as_bytes(), false);
        let Some((size, _)) = self.keys.read(position, &mut found) else { return Ok(Vec::new()) };
        if found != key {
            return Ok(Vec::new());
        }
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

    fn discard(&self, _blob: &Blob) {}

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

    fn upload(&self, _id: &str) -> Option<Arc<Upload>> {
        None
    }

    fn uploads(&self, _bucket: &str) -> Vec<Arc<Upload>> {
        Vec::new()
    }

    fn put_part(&self, _id: &str, _part: Part) -> StoreResult<bool> {
        Err(StoreError::ReadOnly)
    }

    fn parts(&self, _id: &str) -> Option<Vec<Part>> {
        None
    }

    fn remove_upload(&self, _id: &str) -> StoreResult<bool> {
        Ok(false)
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
    use std::io::Write as _;

    fn all_keys(store: &SyntheticStore, from: Seek) -> Vec<String> {
        let mut keys = Vec::new();
        let mut visit = |entry: Entry<'_>| {
            keys.push(entry.key.to_owned());
            Step::Next
        };
        store.scan("b", from, &mut visit).unwrap();
        keys
    }

    #[test]
    fn every_formula_ascends_and_can_be_entered_anywhere() {
        for kind in ["seq", "uuid", "dates", "deep", "hex"] {
            let store = SyntheticStore::from_spec(&format!("{kind}:5000:7"), "b", "r").unwrap();
            let keys = all_keys(&store, Seek::At(Vec::new()));
            assert_eq!(keys.len(), 5000, "{kind}");
            assert!(keys.windows(2).all(|pair| pair[0] < pair[1]), "{kind}");
            let rest = all_keys(&store, Seek::After(keys[1234].clone().into_bytes()));
            assert_eq!(rest, keys[1235..], "{kind}");
            assert_eq!(store.versions("b", &keys[77]).unwrap().len(), 1, "{kind}");
        }
    }

    #[test]
    fn a_key_file_is_sorted_on_load_where_it_must_be() {
        for lines in ["a\t5\nb/c\nd\t7\n", "d\t7\na\t5\nb/c", ""] {
            let mut file = tempfile::NamedTempFile::new().unwrap();
            file.write_all(lines.as_bytes()).unwrap();
            let store = SyntheticStore::from_file(file.path(), "b", "r").unwrap();
            let keys = all_keys(&store, Seek::At(Vec::new()));
            if lines.is_empty() {
                assert!(keys.is_empty());
                continue;
            }
            assert_eq!(keys, ["a", "b/c", "d"]);
            assert_eq!(all_keys(&store, Seek::After(b"a".to_vec())), ["b/c", "d"]);
            assert_eq!(all_keys(&store, Seek::At(b"b/".to_vec())), ["b/c", "d"]);
            assert_eq!(store.versions("b", "d").unwrap()[0].size, 7);
            assert!(store.versions("b", "c").unwrap().is_empty());
        }
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
