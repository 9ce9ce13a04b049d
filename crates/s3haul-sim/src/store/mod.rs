//! Where objects live: one small trait, three stores behind it.
//!
//! A store knows buckets, an ordered map from key to the versions of that key, blobs (the bytes)
//! and unfinished multipart uploads. It knows nothing of HTTP, conditions or checksums: those
//! rules are written once, in `service`.

pub(crate) mod codec;
pub(crate) mod disk;
mod index;
pub(crate) mod memory;
mod model;
pub(crate) mod synthetic;

pub(crate) use index::Index;
pub(crate) use model::{
    AclEntry, Attributes, Blob, Bucket, Checksums, DEFAULT_REGION, DefaultRetention, Entry, Found,
    Listed, Part, PartInfo, Piece, Protection, Restore, Seek, Step, Upload, Version, Versioning,
    Versions,
};

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;
use s3s::{S3Result, s3_error};

/// Size of the pieces in which stored bytes are read, copied and computed.
pub(crate) const CHUNK_BYTES: usize = 256 * 1024;

/// What can go wrong below the rules of S3.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StoreError {
    /// The bucket is not there.
    #[error("no such bucket")]
    NoSuchBucket,
    /// A bucket that still holds objects was to be removed.
    #[error("the bucket is not empty")]
    BucketNotEmpty,
    /// A write reached a store that computes its objects.
    #[error("this store is read-only")]
    ReadOnly,
    /// The blob was replaced while it was being opened: look the version up again.
    #[error("the blob is gone")]
    Gone,
    /// Another server has the store.
    #[error("another server serves the folder `{}`", .0.display())]
    InUse(PathBuf),
    /// The file system failed.
    #[error("{action} failed: {source}")]
    Io {
        /// What was being done.
        action: &'static str,
        /// The file system's answer.
        source: std::io::Error,
    },
}

impl From<StoreError> for s3s::S3Error {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::NoSuchBucket => {
                s3_error!(NoSuchBucket, "The specified bucket does not exist")
            }
            StoreError::BucketNotEmpty => {
                s3_error!(BucketNotEmpty, "The bucket you tried to delete is not empty")
            }
            StoreError::ReadOnly => {
                s3_error!(MethodNotAllowed, "The store behind this server is read-only")
            }
            StoreError::Gone => {
                s3_error!(InternalError, "The object's data were replaced, or are gone")
            }
            StoreError::InUse(_) | StoreError::Io { .. } => {
                let message = error.to_string();
                s3_error!(InternalError, "{message}")
            }
        }
    }
}

/// Result of a store's method.
pub(crate) type StoreResult<T = ()> = Result<T, StoreError>;

/// Takes the bytes of one blob. Dropped before `finish`, it leaves nothing behind.
pub(crate) trait Sink: Send {
    /// Appends bytes.
    fn write(&mut self, data: Bytes) -> StoreResult;
    /// Ends the blob; it belongs to no object until `Store::update` commits it.
    fn finish(self: Box<Self>) -> StoreResult<Blob>;
}

/// Gives the bytes of one blob, chunk by chunk; `None` at the end.
pub(crate) trait Source: Send {
    /// The next chunk.
    fn next_chunk(&mut self) -> StoreResult<Option<Bytes>>;
}

/// The change `Store::update` applies to the versions of one key.
pub(crate) type Change<'a> = &'a mut dyn FnMut(&mut Versions) -> S3Result<()>;

/// A place for buckets and objects.
pub(crate) trait Store: Send + Sync + 'static {
    /// What the store keeps in order: of computed objects only the bucket.
    fn index(&self) -> &Index;
    /// All buckets in the order of their names.
    fn buckets(&self) -> Vec<(String, Bucket)> {
        self.index().buckets()
    }
    /// One bucket's settings.
    fn bucket(&self, name: &str) -> Option<Bucket> {
        self.index().bucket(name)
    }
    /// Creates a bucket or replaces its settings.
    fn put_bucket(&self, name: &str, bucket: Bucket) -> StoreResult;
    /// Removes an empty bucket.
    fn remove_bucket(&self, name: &str) -> StoreResult;
    /// Visits keys in byte order from a position on, until the visitor stops.
    fn scan(
        &self,
        bucket: &str,
        from: Seek,
        visit: &mut dyn FnMut(Entry<'_>) -> Step,
    ) -> StoreResult {
        self.index().scan(bucket, from, visit)
    }
    /// The versions of one key, newest first; empty where there is no such key.
    fn versions(&self, bucket: &str, key: &str) -> StoreResult<Versions> {
        self.index().versions(bucket, key)
    }
    /// Changes the versions of one key atomically; an error of the change changes nothing.
    /// Blobs that no version names any more are removed.
    fn update(&self, bucket: &str, key: &str, change: Change<'_>) -> S3Result<()>;
    /// Starts a blob.
    fn stage(&self) -> StoreResult<Box<dyn Sink>>;
    /// Removes a finished blob that no version names.
    fn discard(&self, _blob: &Blob) {}
    /// Joins pieces of blobs to a new one.
    fn assemble(&self, pieces: &[Piece]) -> StoreResult<Blob>;
    /// Opens a range of a blob that no change replaces meanwhile.
    fn open(&self, blob: &Blob, range: Range<u64>) -> StoreResult<Box<dyn Source>>;
    /// Opens a range of a version; `StoreError::Gone` if it has been replaced since it was found.
    fn open_found(&self, found: &Found, range: Range<u64>) -> StoreResult<Box<dyn Source>> {
        self.open(&found.version.blob, range)
    }
    /// Notes a new multipart upload.
    fn put_upload(&self, upload: Upload) -> StoreResult;
    /// One multipart upload.
    fn upload(&self, id: &str) -> Option<Arc<Upload>> {
        self.index().upload(id)
    }
    /// All multipart uploads of a bucket, by key and id.
    fn uploads(&self, bucket: &str) -> Vec<Arc<Upload>> {
        self.index().uploads(bucket)
    }
    /// Stores a part in place of one of that number, unless the request for that began later.
    /// Returns false where the upload is unknown.
    fn put_part(&self, id: &str, part: Part) -> StoreResult<bool>;
    /// The parts of an upload in the order of their numbers.
    fn parts(&self, id: &str) -> Option<Vec<Part>> {
        self.index().parts(id)
    }
    /// Forgets an upload and its parts.
    fn remove_upload(&self, id: &str) -> StoreResult<bool> {
        Ok(self.index().remove_upload(id))
    }
    /// Whether bodies need not be hashed (null and synthetic stores may say so).
    fn skips_hashing(&self) -> bool {
        false
    }
    /// Whether `assemble` does enough file work to belong on a blocking thread.
    fn blocks(&self) -> bool {
        false
    }
    /// Number of files and versions that could not be read when the store was opened.
    fn left_out(&self) -> usize {
        0
    }
}
