//! Objects in memory.
//!
//! In null mode the bytes of a body are counted (and hashed unless configured otherwise) and thrown
//! away; a download then gets bytes computed from the object's seed.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use s3s::S3Result;

use super::synthetic::ComputedSource;
use super::{
    Blob, Bucket, CHUNK_BYTES, Change, Index, Part, Piece, Sink, Source, Store, StoreResult, Upload,
};

/// Objects in memory.
pub(crate) struct MemoryStore {
    index: Index,
    null: Option<NullMode>,
    seeds: AtomicU64,
}

/// How the null mode treats bodies.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NullMode {
    /// Whether bodies are hashed for their `ETag` and checksums.
    pub(crate) hash: bool,
}

impl MemoryStore {
    pub(crate) fn new(null: Option<NullMode>) -> Self {
        Self { index: Index::default(), null, seeds: AtomicU64::new(1) }
    }

    fn computed_blob(&self) -> Blob {
        Blob::Computed { seed: self.seeds.fetch_add(1, Ordering::Relaxed) }
    }
}

impl Store for MemoryStore {
    fn index(&self) -> &Index {
        &self.index
    }

    fn put_bucket(&self, name: &str, bucket: Bucket) -> StoreResult {
        self.index.load_bucket(name, bucket);
        Ok(())
    }

    fn remove_bucket(&self, name: &str) -> StoreResult {
        self.index.remove_bucket(name, || Ok(()))
    }

    fn update(&self, bucket: &str, key: &str, change: Change<'_>) -> S3Result<()> {
        self.index.update(bucket, key, change, &mut |_, _| Ok(()))
    }

    fn stage(&self) -> StoreResult<Box<dyn Sink>> {
        Ok(match self.null {
            Some(_) => Box::new(NullSink { blob: self.computed_blob() }),
            None => Box::new(MemorySink::default()),
        })
    }

    fn assemble(&self, pieces: &[Piece]) -> StoreResult<Blob> {
        if self.null.is_some() {
            return Ok(self.computed_blob());
        }
        let mut chunks = Vec::new();
        for piece in pieces {
            if let Blob::Memory(stored) = &piece.blob {
                take_range(stored, piece.offset..piece.offset + piece.length, &mut chunks);
            }
        }
        Ok(Blob::Memory(Arc::new(chunks)))
    }

    fn open(&self, blob: &Blob, range: Range<u64>) -> StoreResult<Box<dyn Source>> {
        match blob {
            Blob::Memory(stored) => {
                let mut chunks = Vec::new();
                take_range(stored, range, &mut chunks);
                Ok(Box::new(MemorySource { chunks: chunks.into_iter() }))
            }
            Blob::Computed { seed } => Ok(Box::new(ComputedSource::new(*seed, range))),
            Blob::Empty | Blob::File(_) => {
                Ok(Box::new(MemorySource { chunks: Vec::new().into_iter() }))
            }
        }
    }

    fn put_upload(&self, upload: Upload) -> StoreResult {
        self.index.put_upload(upload);
        Ok(())
    }

    fn put_part(&self, id: &str, part: Part) -> StoreResult<bool> {
        Ok(self.index.put_part(id, part, &mut None))
    }

    fn skips_hashing(&self) -> bool {
        self.null.is_some_and(|mode| !mode.hash)
    }
}

/// Appends the chunks of a byte range, sharing their memory.
fn take_range(stored: &[Bytes], range: Range<u64>, out: &mut Vec<Bytes>) {
    let mut position = 0;
    for chunk in stored {
        let end = position + chunk.len() as u64;
        let from = range.start.max(position);
        let to = range.end.min(end);
        if from < to {
            out.push(chunk.slice(index(from - position)..index(to - position)));
        }
        position = end;
    }
}

fn index(offset: u64) -> usize {
    usize::try_from(offset).expect("an offset inside a chunk fits the address space")
}

/// Collects bytes in chunks, so that no network buffer stays alive for a few bytes.
#[derive(Default)]
struct MemorySink {
    full: Vec<Bytes>,
    open: Vec<u8>,
}

impl Sink for MemorySink {
    fn write(&mut self, data: Bytes) -> StoreResult {
        self.open.extend_from_slice(&data);
        if self.open.len() >= CHUNK_BYTES {
            self.full.push(std::mem::take(&mut self.open).into());
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> StoreResult<Blob> {
        if !self.open.is_empty() {
            self.open.shrink_to_fit();
            self.full.push(std::mem::take(&mut self.open).into());
        }
        Ok(Blob::Memory(Arc::new(self.full)))
    }
}

struct MemorySource {
    chunks: std::vec::IntoIter<Bytes>,
}

impl Source for MemorySource {
    fn next_chunk(&mut self) -> StoreResult<Option<Bytes>> {
        Ok(self.chunks.next())
    }
}

/// Throws bytes away.
struct NullSink {
    blob: Blob,
}

impl Sink for NullSink {
    fn write(&mut self, _data: Bytes) -> StoreResult {
        Ok(())
    }

    fn finish(self: Box<Self>) -> StoreResult<Blob> {
        Ok(self.blob)
    }
}
