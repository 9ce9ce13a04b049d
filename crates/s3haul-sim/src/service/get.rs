//! `GetObject`, `HeadObject` and `GetObjectAttributes`.

#![expect(clippy::needless_pass_by_value, reason = "the signatures are those of the trait")]

use std::ops::Range as ByteRange;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_util::Stream;
use http::{HeaderMap, HeaderValue};
use s3s::dto::{
    Checksum, ChecksumMode, ChecksumType, GetObjectAttributesInput, GetObjectAttributesOutput,
    GetObjectAttributesParts, GetObjectInput, GetObjectOutput, HeadObjectInput, HeadObjectOutput,
    ObjectLockMode, ObjectPart, Range, StorageClass, StreamingBlob,
};
use s3s::stream::{ByteStream, RemainingLength};
use s3s::{S3Request, S3Response, S3Result, StdError, s3_error};

use super::conditions::read_conditions;
use super::convert::{custom_error, echo_encryption, etag, show_checksums, timestamp};
use super::customer_key::customer_key;
use super::protect::hold_status;
use super::{SimService, shown_version_id};
use crate::store::{Blob, Found, PartInfo, Source, StoreError, Version};

/// How often a read looks again for an object that was replaced while it was being opened.
pub(super) const OPEN_ATTEMPTS: usize = 8;

/// The bytes that a request wants of a version.
struct Slice {
    range: ByteRange<u64>,
    /// `Content-Range`, where the answer is 206.
    content_range: Option<String>,
    parts_count: Option<i32>,
}

impl Slice {
    fn partial(range: ByteRange<u64>, size: u64, parts_count: Option<i32>) -> Self {
        let content_range =
            (!range.is_empty()).then(|| format!("bytes {}-{}/{size}", range.start, range.end - 1));
        Self { range, content_range, parts_count }
    }

    fn of(version: &Version, range: Option<&Range>, part_number: Option<i32>) -> S3Result<Self> {
        match (range, part_number) {
            (Some(_), Some(_)) => Err(s3_error!(
                InvalidRequest,
                "Cannot specify both Range header and partNumber query parameter"
            )),
            (Some(range), None) => {
                // The last bytes of an empty object are no range, either.
                let found = range.check(version.size).ok().filter(|range| !range.is_empty());
                let found = found.ok_or_else(|| invalid_range(version.size))?;
                Ok(Self::partial(found, version.size, None))
            }
            (None, Some(number)) => Self::of_part(version, number),
            (None, None) => {
                Ok(Self { range: 0..version.size, content_range: None, parts_count: None })
            }
        }
    }

    fn of_part(version: &Version, number: i32) -> S3Result<Self> {
        let wrong = || {
            let status = http::StatusCode::RANGE_NOT_SATISFIABLE;
            custom_error("InvalidPartNumber", status, "The requested partnumber is not satisfiable")
        };
        if version.parts.is_empty() {
            // An object that came in one piece has one part.
            let whole = Self::partial(0..version.size, version.size, None);
            return if number == 1 { Ok(whole) } else { Err(wrong()) };
        }
        let index = usize::try_from(number - 1).map_err(|_| wrong())?;
        let part = version.parts.get(index).ok_or_else(wrong)?;
        let start: u64 = version.parts[..index].iter().map(|part| part.size).sum();
        let count = i32::try_from(version.parts.len()).ok();
        Ok(Self::partial(start..start + part.size, version.size, count))
    }

    fn is_whole(&self, version: &Version) -> bool {
        self.range == (0..version.size)
    }

    fn length(&self) -> Option<i64> {
        i64::try_from(self.range.end - self.range.start).ok()
    }
}

fn invalid_range(size: u64) -> s3s::S3Error {
    let mut error = s3_error!(InvalidRange, "The requested range is not satisfiable");
    let mut headers = HeaderMap::new();
    if let Ok(value) = HeaderValue::from_str(&format!("bytes */{size}")) {
        headers.insert(http::header::CONTENT_RANGE, value);
    }
    headers.insert(http::header::CONTENT_TYPE, HeaderValue::from_static("application/xml"));
    error.set_headers(headers);
    error
}

fn wants_checksums(mode: Option<&ChecksumMode>) -> bool {
    mode.is_some_and(|mode| mode.as_str() == ChecksumMode::ENABLED)
}

/// Sets the fields that the outputs of GET and HEAD share.
macro_rules! describe {
    ($output:ident, $version:expr, $slice:expr, $settings:expr, $checksums:expr, $now_ms:expr) => {{
        let (version, slice, attributes) = (&$version, &$slice, &$version.attributes);
        $output.accept_ranges = Some("bytes".to_owned());
        $output.content_length = slice.length();
        $output.content_range = slice.content_range.clone();
        $output.parts_count = slice.parts_count;
        $output.e_tag = Some(etag(&version.etag));
        $output.last_modified = Some(timestamp(version.modified_ms));
        $output.storage_class = version.storage_class.clone().map(StorageClass::from);
        $output.version_id = shown_version_id($settings, version);
        let kind = attributes.content_type.clone();
        $output.content_type = Some(kind.unwrap_or_else(|| "binary/octet-stream".to_owned()));
        $output.cache_control = attributes.cache_control.clone();
        $output.content_disposition = attributes.content_disposition.clone();
        $output.content_encoding = attributes.content_encoding.clone();
        $output.content_language = attributes.content_language.clone();
        $output.expires = attributes.expires_ms.map(timestamp);
        $output.website_redirect_location = attributes.website_redirect.clone();
        $output.metadata = Some(attributes.metadata.clone().into_iter().collect());
        echo_encryption!($output, attributes);
        $output.restore = version.shown_restore($now_ms);
        if let Some(protection) = &version.protection {
            $output.object_lock_mode = protection.lock_mode.clone().map(ObjectLockMode::from);
            $output.object_lock_retain_until_date = protection.retain_until_ms.map(timestamp);
            $output.object_lock_legal_hold_status = protection.legal_hold.map(hold_status);
        }
        // A checksum of bytes that were thrown away does not fit those computed in their place.
        let is_kept = !matches!(version.blob, Blob::Computed { .. });
        if $checksums && is_kept && slice.is_whole(version) {
            show_checksums!($output, version.checksums);
            $output.checksum_type = version.checksums.kind.clone().map(ChecksumType::from);
        }
    }};
}

impl SimService {
    pub(super) fn get_object(
        &self,
        req: S3Request<GetObjectInput>,
    ) -> S3Result<S3Response<GetObjectOutput>> {
        let input = &req.input;
        let settings = self.bucket_settings(&input.bucket)?;
        let conditions = read_conditions!(input);
        for _ in 0..OPEN_ATTEMPTS {
            let version =
                self.find_shown(&input.bucket, &input.key, input.version_id.as_deref())?;
            customer_key!(input).check_read(&version.attributes)?;
            conditions.check_get(&version)?;
            self.check_readable(&version)?;
            let slice = Slice::of(&version, input.range.as_ref(), input.part_number)?;
            let (bucket, key) = (input.bucket.clone(), input.key.clone());
            let found = Found { bucket, key, version: Arc::clone(&version) };
            let source = match self.store.open_found(&found, slice.range.clone()) {
                Err(StoreError::Gone) => continue,
                source => source?,
            };
            let mut output = GetObjectOutput::default();
            describe!(
                output,
                version,
                slice,
                &settings,
                wants_checksums(input.checksum_mode.as_ref()),
                self.now_ms()
            );
            output.tag_count = i32::try_from(version.tags.len()).ok().filter(|count| *count > 0);
            let length = slice.range.end - slice.range.start;
            output.body = Some(StreamingBlob::new(Download::new(source, length)));
            return Ok(S3Response::new(output));
        }
        Err(StoreError::Gone.into())
    }

    pub(super) fn head_object(
        &self,
        req: S3Request<HeadObjectInput>,
    ) -> S3Result<S3Response<HeadObjectOutput>> {
        let input = &req.input;
        let settings = self.bucket_settings(&input.bucket)?;
        let version = self.find_shown(&input.bucket, &input.key, input.version_id.as_deref())?;
        customer_key!(input).check_read(&version.attributes)?;
        let conditions = read_conditions!(input);
        conditions.check_get(&version)?;
        let slice = Slice::of(&version, input.range.as_ref(), input.part_number)?;
        let mut output = HeadObjectOutput::default();
        let checksums = wants_checksums(input.checksum_mode.as_ref());
        describe!(output, version, slice, &settings, checksums, self.now_ms());
        let is_partial = output.content_range.is_some();
        let mut response = S3Response::new(output);
        if !version.tags.is_empty() {
            // `s3s` has no field for it.
            response.headers.insert("x-amz-tagging-count", version.tags.len().into());
        }
        if is_partial {
            response.status = Some(http::StatusCode::PARTIAL_CONTENT);
        }
        Ok(response)
    }

    /// Finds a version; a delete marker is the error that GET and HEAD return.
    fn find_shown(&self, bucket: &str, key: &str, id: Option<&str>) -> S3Result<Arc<Version>> {
        self.find(bucket, key, id).map_err(|mut error| {
            let versions = self.store.versions(bucket, key).unwrap_or_default();
            let wanted = match id {
                None => versions.first(),
                Some(id) => versions.iter().find(|version| version.id == id),
            };
            if let Some(marker) = wanted.filter(|version| version.delete_marker) {
                let mut headers = HeaderMap::new();
                headers.insert("x-amz-delete-marker", HeaderValue::from_static("true"));
                if let Ok(value) = HeaderValue::from_str(&marker.id) {
                    headers.insert("x-amz-version-id", value);
                }
                let kind = HeaderValue::from_static("application/xml");
                headers.insert(http::header::CONTENT_TYPE, kind);
                error.set_headers(headers);
            }
            error
        })
    }

    pub(super) fn get_object_attributes(
        &self,
        req: S3Request<GetObjectAttributesInput>,
    ) -> S3Result<S3Response<GetObjectAttributesOutput>> {
        let input = &req.input;
        let settings = self.bucket_settings(&input.bucket)?;
        let version = self.find_shown(&input.bucket, &input.key, input.version_id.as_deref())?;
        customer_key!(input).check_read(&version.attributes)?;
        let wants = |name: &str| {
            let mut names = input.object_attributes.iter();
            names.any(|a| a.as_str().split(',').any(|a| a.trim() == name))
        };
        let mut output = GetObjectAttributesOutput {
            last_modified: Some(timestamp(version.modified_ms)),
            version_id: shown_version_id(&settings, &version),
            ..GetObjectAttributesOutput::default()
        };
        if wants("ETag") {
            output.e_tag = Some(etag(&version.etag));
        }
        if wants("ObjectSize") {
            output.object_size = i64::try_from(version.size).ok();
        }
        if wants("StorageClass") {
            output.storage_class =
                Some(StorageClass::from(version.shown_storage_class().to_owned()));
        }
        if wants("Checksum") && version.checksums.present().next().is_some() {
            let mut shown = Checksum::default();
            show_checksums!(shown, version.checksums);
            shown.checksum_type = version.checksums.kind.clone().map(ChecksumType::from);
            output.checksum = Some(shown);
        }
        if wants("ObjectParts") && !version.parts.is_empty() {
            output.object_parts = Some(object_parts(&version.parts, input));
        }
        Ok(S3Response::new(output))
    }
}

fn object_parts(parts: &[PartInfo], input: &GetObjectAttributesInput) -> GetObjectAttributesParts {
    let marker = input.part_number_marker.unwrap_or_default();
    let most = usize::try_from(input.max_parts.unwrap_or(1000)).unwrap_or_default();
    let after: Vec<_> = parts.iter().filter(|part| part.number > marker).collect();
    let page: Vec<ObjectPart> = after.iter().take(most).map(|part| object_part(part)).collect();
    GetObjectAttributesParts {
        is_truncated: Some(after.len() > page.len()),
        max_parts: i32::try_from(most).ok(),
        next_part_number_marker: page.last().and_then(|part| part.part_number),
        part_number_marker: Some(marker),
        total_parts_count: i32::try_from(parts.len()).ok(),
        parts: Some(page),
    }
}

fn object_part(part: &PartInfo) -> ObjectPart {
    let mut shown = ObjectPart {
        part_number: Some(part.number),
        size: i64::try_from(part.size).ok(),
        ..ObjectPart::default()
    };
    show_checksums!(shown, part.checksums);
    shown
}

/// A blob's source as a response body. The mutex is never contended: `s3s` asks for `Sync`.
struct Download {
    source: Mutex<Box<dyn Source>>,
    remaining: u64,
}

impl Download {
    fn new(source: Box<dyn Source>, length: u64) -> Self {
        Self { source: Mutex::new(source), remaining: length }
    }
}

impl Stream for Download {
    type Item = Result<Bytes, StdError>;

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let source = self.source.get_mut().unwrap_or_else(PoisonError::into_inner);
        match source.next_chunk() {
            Ok(Some(chunk)) => {
                self.remaining = self.remaining.saturating_sub(chunk.len() as u64);
                Poll::Ready(Some(Ok(chunk)))
            }
            Ok(None) => Poll::Ready(None),
            Err(error) => Poll::Ready(Some(Err(error.into()))),
        }
    }
}

impl ByteStream for Download {
    fn remaining_length(&self) -> RemainingLength {
        usize::try_from(self.remaining)
            .map_or_else(|_| RemainingLength::unknown(), RemainingLength::new_exact)
    }
}
