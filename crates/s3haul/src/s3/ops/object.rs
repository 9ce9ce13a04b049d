//! Reading, writing and copying single objects.

use crate::error::{Error, ErrorKind, Result};
use crate::s3::{
    BodyStream, Checksum, ChecksumAlgorithm, Client, CustomerKey, ObjectHead, ObjectProperties,
    Payload,
};
use crate::units::ByteRange;

/// Conditions on the object that is read or replaced.
#[derive(Clone, Copy, Debug, Default)]
pub struct Conditions<'a> {
    /// `If-Match`: only this `ETag`.
    pub if_match: Option<&'a str>,
    /// `If-None-Match: *`: only where there is no object yet.
    pub if_absent: bool,
}

/// Input of HeadObject.
#[derive(Clone, Copy, Debug, Default)]
pub struct HeadObject<'a> {
    /// Bucket.
    pub bucket: &'a str,
    /// Key.
    pub key: &'a str,
    /// Version.
    pub version_id: Option<&'a str>,
    /// SSE-C key of the object.
    pub customer_key: Option<&'a CustomerKey>,
    /// Ask for stored checksums (`x-amz-checksum-mode: ENABLED`).
    pub checksums: bool,
}

/// Input of GetObject.
#[derive(Clone, Copy, Debug, Default)]
pub struct GetObject<'a> {
    /// Bucket.
    pub bucket: &'a str,
    /// Key.
    pub key: &'a str,
    /// Version.
    pub version_id: Option<&'a str>,
    /// Bytes; all where absent.
    pub range: Option<ByteRange>,
    /// Conditions.
    pub conditions: Conditions<'a>,
    /// SSE-C key of the object.
    pub customer_key: Option<&'a CustomerKey>,
    /// Ask for stored checksums, and validate a whole body against them.
    pub checksums: bool,
}

/// Input of PutObject.
#[derive(Clone, Debug)]
pub struct PutObject<'a> {
    /// Bucket.
    pub bucket: &'a str,
    /// Key.
    pub key: &'a str,
    /// Bytes, best with digests as [`Client::upload_digests`] plans them.
    pub payload: Payload,
    /// What the object carries.
    pub properties: &'a ObjectProperties,
    /// Checksum algorithm asked for by name.
    pub checksum: Option<ChecksumAlgorithm>,
    /// Conditions on what is replaced.
    pub conditions: Conditions<'a>,
}

/// Object to copy from.
#[derive(Clone, Copy, Debug, Default)]
pub struct CopySource<'a> {
    /// Bucket.
    pub bucket: &'a str,
    /// Key.
    pub key: &'a str,
    /// Version.
    pub version_id: Option<&'a str>,
    /// `x-amz-copy-source-if-match`.
    pub if_match: Option<&'a str>,
    /// SSE-C key of the source.
    pub customer_key: Option<&'a CustomerKey>,
}

/// Input of CopyObject.
#[derive(Clone, Copy, Debug)]
pub struct CopyObject<'a> {
    /// Target bucket.
    pub bucket: &'a str,
    /// Target key.
    pub key: &'a str,
    /// Source.
    pub source: CopySource<'a>,
    /// Properties of the target; content headers and metadata count only with
    /// `replace_metadata`.
    pub properties: &'a ObjectProperties,
    /// `x-amz-metadata-directive`: `Some(true)` REPLACE, `Some(false)` COPY, `None` not sent.
    pub replace_metadata: Option<bool>,
    /// `x-amz-tagging-directive`: likewise.
    pub replace_tagging: Option<bool>,
    /// Checksum algorithm that the server shall compute.
    pub checksum: Option<ChecksumAlgorithm>,
    /// Conditions on what is replaced.
    pub conditions: Conditions<'a>,
}

/// What a successful write tells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// `ETag` with its quotes.
    pub etag: String,
    /// Version id in a versioned bucket.
    pub version_id: Option<String>,
    /// Checksum, where the server told one.
    pub checksum: Option<Checksum>,
}

/// A GET's answer.
#[derive(Debug)]
pub struct ObjectBody {
    /// Headers.
    pub head: ObjectHead,
    /// Range that the body covers.
    pub range: ByteRange,
    /// Bytes.
    pub body: BodyStream,
}

impl Client {
    /// Headers of an object.
    pub async fn head_object(&self, _input: HeadObject<'_>) -> Result<ObjectHead> {
        Err(Error::new(ErrorKind::Config, "not built yet"))
    }

    /// Bytes of an object or a range of it. Retries happen up to the first byte of the body; what
    /// fails later the caller resumes with a range.
    pub async fn get_object(&self, _input: GetObject<'_>) -> Result<ObjectBody> {
        Err(Error::new(ErrorKind::Config, "not built yet"))
    }

    /// Writes an object.
    pub async fn put_object(&self, _input: PutObject<'_>) -> Result<Written> {
        Err(Error::new(ErrorKind::Config, "not built yet"))
    }

    /// Copies an object of at most 5 GB on the server. An error in a 200 answer is an error.
    pub async fn copy_object(&self, _input: CopyObject<'_>) -> Result<Written> {
        Err(Error::new(ErrorKind::Config, "not built yet"))
    }
}
