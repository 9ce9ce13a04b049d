//! Multipart uploads and copies.

use super::object::{Conditions, CopySource, Written};
use crate::error::{Error, ErrorKind, Result};
use crate::s3::{Checksum, ChecksumAlgorithm, Client, CustomerKey, ObjectProperties, Payload};
use crate::units::ByteRange;

/// Input of CreateMultipartUpload.
#[derive(Clone, Copy, Debug)]
pub struct CreateMultipart<'a> {
    /// Bucket.
    pub bucket: &'a str,
    /// Key.
    pub key: &'a str,
    /// What the object will carry.
    pub properties: &'a ObjectProperties,
    /// Checksum algorithm of the parts; CRCs are asked for as full-object checksums.
    pub checksum: Option<ChecksumAlgorithm>,
}

/// Input of UploadPart.
#[derive(Clone, Debug)]
pub struct UploadPart<'a> {
    /// Bucket.
    pub bucket: &'a str,
    /// Key.
    pub key: &'a str,
    /// Upload id.
    pub upload_id: &'a str,
    /// 1 to 10,000.
    pub part_number: u32,
    /// Bytes of the part.
    pub payload: Payload,
    /// Checksum algorithm of the upload.
    pub checksum: Option<ChecksumAlgorithm>,
    /// SSE-C key of the upload.
    pub customer_key: Option<&'a CustomerKey>,
}

/// Input of UploadPartCopy.
#[derive(Clone, Copy, Debug)]
pub struct UploadPartCopy<'a> {
    /// Bucket of the upload.
    pub bucket: &'a str,
    /// Key of the upload.
    pub key: &'a str,
    /// Upload id.
    pub upload_id: &'a str,
    /// 1 to 10,000.
    pub part_number: u32,
    /// Object to copy from.
    pub source: CopySource<'a>,
    /// Bytes of the source.
    pub range: ByteRange,
    /// SSE-C key of the upload.
    pub customer_key: Option<&'a CustomerKey>,
}

/// A part that is there, for CompleteMultipartUpload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompletedPart {
    /// 1 to 10,000.
    pub part_number: u32,
    /// `ETag` with its quotes.
    pub etag: String,
    /// Checksum of the part, where one was sent or told.
    pub checksum: Option<Checksum>,
    /// Size in bytes (told by ListParts; 0 where unknown).
    pub size: u64,
}

/// Input of CompleteMultipartUpload.
#[derive(Clone, Copy, Debug)]
pub struct CompleteMultipart<'a> {
    /// Bucket.
    pub bucket: &'a str,
    /// Key.
    pub key: &'a str,
    /// Upload id.
    pub upload_id: &'a str,
    /// All parts in ascending order.
    pub parts: &'a [CompletedPart],
    /// Checksum of the whole object, to be verified by the server.
    pub full_object_checksum: Option<&'a Checksum>,
    /// Size of the whole object (`x-amz-mp-object-size`), verified by the server.
    pub object_size: Option<u64>,
    /// Conditions on the target.
    pub conditions: Conditions<'a>,
    /// SSE-C key of the upload.
    pub customer_key: Option<&'a CustomerKey>,
}

/// Input of ListParts.
#[derive(Clone, Copy, Debug)]
pub struct ListParts<'a> {
    /// Bucket.
    pub bucket: &'a str,
    /// Key.
    pub key: &'a str,
    /// Upload id.
    pub upload_id: &'a str,
    /// Parts after this number.
    pub part_number_marker: Option<u32>,
}

/// A page of parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PartPage {
    /// Parts in ascending order.
    pub parts: Vec<CompletedPart>,
    /// Marker for the next page.
    pub next_marker: Option<u32>,
}

/// An upload that was begun and not ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MultipartUpload {
    /// Key.
    pub key: String,
    /// Upload id.
    pub upload_id: String,
    /// Begin in seconds since 1970.
    pub initiated_s: i64,
}

/// A page of uploads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UploadPage {
    /// Uploads.
    pub uploads: Vec<MultipartUpload>,
    /// Markers (key, upload id) for the next page.
    pub next_markers: Option<(String, String)>,
}

impl Client {
    /// Begins a multipart upload; gives its id.
    pub async fn create_multipart(&self, _input: CreateMultipart<'_>) -> Result<String> {
        Err(Error::new(ErrorKind::Config, "not built yet"))
    }

    /// Uploads one part.
    pub async fn upload_part(&self, _input: UploadPart<'_>) -> Result<CompletedPart> {
        Err(Error::new(ErrorKind::Config, "not built yet"))
    }

    /// Copies a range of an object as one part.
    pub async fn upload_part_copy(&self, _input: UploadPartCopy<'_>) -> Result<CompletedPart> {
        Err(Error::new(ErrorKind::Config, "not built yet"))
    }

    /// Makes the object of its parts. May take minutes; an error in a 200 answer is an error. A
    /// retry that finds the upload gone checks whether the object is there.
    pub async fn complete_multipart(&self, _input: CompleteMultipart<'_>) -> Result<Written> {
        Err(Error::new(ErrorKind::Config, "not built yet"))
    }

    /// Drops a multipart upload and its parts; succeeds also where it is gone.
    pub async fn abort_multipart(&self, _bucket: &str, _key: &str, _upload_id: &str) -> Result<()> {
        Err(Error::new(ErrorKind::Config, "not built yet"))
    }

    /// One page of the parts of an upload.
    pub async fn list_parts(&self, _input: ListParts<'_>) -> Result<PartPage> {
        Err(Error::new(ErrorKind::Config, "not built yet"))
    }

    /// One page of the open uploads of a bucket.
    pub async fn list_multipart_uploads(
        &self,
        _bucket: &str,
        _prefix: &str,
        _markers: Option<(&str, &str)>,
    ) -> Result<UploadPage> {
        Err(Error::new(ErrorKind::Config, "not built yet"))
    }
}
