//! Multipart uploads, up to their completion.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use s3s::dto::{
    AbortMultipartUploadInput, AbortMultipartUploadOutput, ChecksumAlgorithm, ChecksumType,
    CommonPrefix, CopyPartResult, CreateMultipartUploadInput, CreateMultipartUploadOutput,
    EncodingType, ListMultipartUploadsInput, ListMultipartUploadsOutput, ListPartsInput,
    ListPartsOutput, MultipartUpload, Part, StorageClass, UploadPartCopyInput,
    UploadPartCopyOutput, UploadPartInput, UploadPartOutput,
};
use s3s::{S3Request, S3Response, S3Result, s3_error};

use super::SimService;
use super::checksum::Algorithm;
use super::conditions::source_conditions;
use super::convert::{
    attributes_of, check_metadata, checksums_of, echo_encryption, etag, owner, parse_tagging,
    show_checksums, storage_class, timestamp,
};
use super::copy::{CopyFrom, SourceRequest};
use super::customer_key::{customer_key, source_key};
use super::ingest::{Chunked, Received, Said, hex, unhashed_etag};
use super::protect::protection_of;
use super::put::named_algorithm;
use crate::store::{Checksums, Part as StoredPart, Upload};

/// Most parts of an upload.
const PARTS_MAX: i32 = 10_000;
/// Most parts or uploads of one page.
const PAGE_MAX: i32 = 1000;

pub(super) fn no_such_upload() -> s3s::S3Error {
    s3_error!(
        NoSuchUpload,
        "The specified upload does not exist. The upload ID may be invalid, or the \
         upload may have been aborted or completed."
    )
}

/// The rank of a request among those that bring parts, in the order in which they begin; also
/// after a restart.
fn next_rank() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let now_us = u64::try_from(since_epoch.as_micros()).unwrap_or(u64::MAX);
    let next = |last: u64| now_us.max(last.saturating_add(1));
    let last = LAST.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |last| Some(next(last)));
    next(last.unwrap_or_default())
}

fn fresh_upload_id(now_ms: i64) -> String {
    format!("{now_ms:012x}{:016x}{:016x}", fastrand::u64(..), fastrand::u64(..))
}

impl SimService {
    pub(super) fn open_upload(&self, bucket: &str, key: &str, id: &str) -> S3Result<Arc<Upload>> {
        self.bucket_settings(bucket)?;
        let upload = self.store.upload(id);
        upload.filter(|u| u.bucket == bucket && u.key == key).ok_or_else(no_such_upload)
    }

    pub(super) fn create_multipart_upload(
        &self,
        req: S3Request<CreateMultipartUploadInput>,
    ) -> S3Result<S3Response<CreateMultipartUploadOutput>> {
        let input = req.input;
        let settings = self.bucket_settings(&input.bucket)?;
        customer_key!(input).check_write(input.server_side_encryption.as_ref())?;
        let attributes = Box::new(attributes_of!(input));
        check_metadata(&attributes)?;
        let algorithm = named_algorithm(input.checksum_algorithm.as_ref());
        let kind = checksum_kind(algorithm, input.checksum_type.as_ref())?;
        let created_ms = self.now_ms();
        let upload = Upload {
            id: fresh_upload_id(created_ms),
            bucket: input.bucket.clone(),
            key: input.key.clone(),
            created_ms,
            algorithm: algorithm.map(|algorithm| algorithm.name().to_owned()),
            kind: kind.clone(),
            storage_class: storage_class(input.storage_class.as_ref())?,
            attributes,
            tags: parse_tagging(input.tagging.as_deref())?,
            protection: protection_of!(input, &settings, created_ms)?,
        };
        let mut output = CreateMultipartUploadOutput {
            bucket: Some(input.bucket),
            key: Some(input.key),
            upload_id: Some(upload.id.clone()),
            checksum_algorithm: upload.algorithm.clone().map(ChecksumAlgorithm::from),
            checksum_type: kind.map(ChecksumType::from),
            ..CreateMultipartUploadOutput::default()
        };
        echo_encryption!(output, upload.attributes);
        self.store.put_upload(upload)?;
        Ok(S3Response::new(output))
    }

    pub(super) async fn upload_part(
        &self,
        req: S3Request<UploadPartInput>,
    ) -> S3Result<S3Response<UploadPartOutput>> {
        let began = next_rank();
        let mut input = req.input;
        check_part_number(input.part_number)?;
        let upload = self.open_upload(&input.bucket, &input.key, &input.upload_id)?;
        customer_key!(input).check_part(&upload.attributes)?;
        let of_upload = upload.algorithm.as_deref().and_then(Algorithm::parse);
        let said = Said {
            md5: input.content_md5.take(),
            checksums: checksums_of!(input),
            // The checksum of the object is made of those of its parts.
            algorithms: [
                named_algorithm(input.checksum_algorithm.as_ref()),
                of_upload.or(Some(Algorithm::Crc64Nvme)),
            ],
            chunked: Chunked::new(&req.headers, req.trailing_headers),
        };
        let mut received = self.receive(input.body.take(), said).await?;
        received.etag = upload.attributes.etag_of(received.etag);
        let mut output =
            UploadPartOutput { e_tag: Some(etag(&received.etag)), ..UploadPartOutput::default() };
        show_checksums!(output, received.checksums);
        echo_encryption!(output, upload.attributes);
        self.keep_part(&upload.id, (input.part_number, began), received)?;
        Ok(S3Response::new(output))
    }

    fn keep_part(&self, id: &str, which: (i32, u64), received: Received) -> S3Result<()> {
        let (number, began) = which;
        let part = StoredPart {
            number,
            began,
            size: received.size,
            etag: received.etag,
            modified_ms: self.now_ms(),
            checksums: received.checksums,
            blob: received.blob,
        };
        if self.store.put_part(id, part)? { Ok(()) } else { Err(no_such_upload()) }
    }

    pub(super) async fn upload_part_copy(
        &self,
        req: S3Request<UploadPartCopyInput>,
    ) -> S3Result<S3Response<UploadPartCopyOutput>> {
        let began = next_rank();
        let input = req.input;
        check_part_number(input.part_number)?;
        let upload = self.open_upload(&input.bucket, &input.key, &input.upload_id)?;
        customer_key!(input).check_part(&upload.attributes)?;
        let request = SourceRequest {
            source: &input.copy_source,
            key: source_key!(input),
            conditions: source_conditions!(input),
        };
        let range =
            |from: &CopyFrom| copy_range(input.copy_source_range.as_deref(), from.version.size);
        let (from, staged) = self.copy_bytes(request, range).await?;
        let range = range(&from)?;
        let length = range.end - range.start;
        let blob = staged.blob.clone();
        let of_upload = upload.algorithm.as_deref().and_then(Algorithm::parse);
        let algorithm = of_upload.unwrap_or(Algorithm::Crc64Nvme);
        let (hash, checksums) = if self.store.skips_hashing() {
            (unhashed_etag(), Checksums::default())
        } else {
            let (_, md5, checksums) = self.digest(&blob, 0..length, vec![algorithm]).await?;
            (md5.map_or_else(unhashed_etag, |md5| hex(&md5)), checksums)
        };
        let hash = upload.attributes.etag_of(hash);
        let mut result = CopyPartResult {
            e_tag: Some(etag(&hash)),
            last_modified: Some(timestamp(self.now_ms())),
            ..CopyPartResult::default()
        };
        if of_upload.is_some() {
            show_checksums!(result, checksums);
        }
        let received = Received { blob, size: length, etag: hash, checksums };
        self.keep_part(&upload.id, (input.part_number, began), received)?;
        let mut output = UploadPartCopyOutput {
            copy_part_result: Some(result),
            copy_source_version_id: from.version_id,
            ..UploadPartCopyOutput::default()
        };
        echo_encryption!(output, upload.attributes);
        Ok(S3Response::new(output))
    }

    pub(super) fn abort_multipart_upload(
        &self,
        req: S3Request<AbortMultipartUploadInput>,
    ) -> S3Result<S3Response<AbortMultipartUploadOutput>> {
        let input = req.input;
        let upload = self.open_upload(&input.bucket, &input.key, &input.upload_id)?;
        self.store.remove_upload(&upload.id)?;
        let status = http::StatusCode::NO_CONTENT;
        Ok(S3Response::with_status(AbortMultipartUploadOutput::default(), status))
    }

    pub(super) fn list_parts(
        &self,
        req: S3Request<ListPartsInput>,
    ) -> S3Result<S3Response<ListPartsOutput>> {
        let input = req.input;
        let upload = self.open_upload(&input.bucket, &input.key, &input.upload_id)?;
        let most = page_size(input.max_parts)?;
        let marker = input.part_number_marker.unwrap_or_default();
        let mut parts = self.store.parts(&upload.id).ok_or_else(no_such_upload)?;
        parts.retain(|part| part.number > marker);
        let is_truncated = parts.len() > most;
        parts.truncate(most);
        let shows_checksums = upload.algorithm.is_some();
        Ok(S3Response::new(ListPartsOutput {
            bucket: Some(input.bucket),
            key: Some(input.key),
            upload_id: Some(input.upload_id),
            checksum_algorithm: upload.algorithm.clone().map(ChecksumAlgorithm::from),
            checksum_type: upload.kind.clone().map(ChecksumType::from),
            is_truncated: Some(is_truncated),
            max_parts: i32::try_from(most).ok(),
            part_number_marker: Some(marker),
            next_part_number_marker: Some(parts.last().map_or(0, |part| part.number)),
            owner: Some(owner()),
            storage_class: Some(shown_class(&upload)),
            parts: Some(parts.iter().map(|part| listed_part(part, shows_checksums)).collect()),
            ..ListPartsOutput::default()
        }))
    }

    pub(super) fn list_multipart_uploads(
        &self,
        req: S3Request<ListMultipartUploadsInput>,
    ) -> S3Result<S3Response<ListMultipartUploadsOutput>> {
        let input = req.input;
        self.bucket_settings(&input.bucket)?;
        let most = page_size(input.max_uploads)?;
        let page = super::list::page_uploads(self.store.uploads(&input.bucket), &input, most);
        let url = input.encoding_type.as_ref().is_some_and(|e| e.as_str() == EncodingType::URL);
        let encode = |text: &str| {
            let mut out = String::new();
            if url {
                crate::xml::url_encode(&mut out, text);
            } else {
                out.push_str(text);
            }
            out
        };
        let uploads = page.uploads.iter().map(|upload| MultipartUpload {
            checksum_algorithm: upload.algorithm.clone().map(ChecksumAlgorithm::from),
            checksum_type: upload.kind.clone().map(ChecksumType::from),
            initiated: Some(timestamp(upload.created_ms)),
            key: Some(encode(&upload.key)),
            owner: Some(owner()),
            storage_class: Some(shown_class(upload)),
            upload_id: Some(upload.id.clone()),
            initiator: None,
        });
        let prefixes =
            page.prefixes.iter().map(|prefix| CommonPrefix { prefix: Some(encode(prefix)) });
        Ok(S3Response::new(ListMultipartUploadsOutput {
            bucket: Some(input.bucket.clone()),
            uploads: Some(uploads.collect()),
            common_prefixes: Some(prefixes.collect()),
            is_truncated: Some(page.next.is_some()),
            next_key_marker: page.next.as_ref().map(|(key, _)| encode(key)),
            next_upload_id_marker: page.next.as_ref().map(|(_, id)| id.clone()),
            max_uploads: i32::try_from(most).ok(),
            delimiter: input.delimiter.as_deref().map(encode),
            prefix: input.prefix.as_deref().map(encode),
            key_marker: input.key_marker.as_deref().map(encode),
            upload_id_marker: input.upload_id_marker.clone(),
            encoding_type: input.encoding_type.clone(),
            request_charged: None,
        }))
    }
}

fn shown_class(upload: &Upload) -> StorageClass {
    StorageClass::from(upload.storage_class.clone().unwrap_or_else(|| "STANDARD".to_owned()))
}

fn page_size(wanted: Option<i32>) -> S3Result<usize> {
    usize::try_from(wanted.unwrap_or(PAGE_MAX).min(PAGE_MAX))
        .map_err(|_| s3_error!(InvalidArgument, "A page size must not be negative"))
}

fn listed_part(part: &StoredPart, shows_checksums: bool) -> Part {
    let mut shown = Part {
        e_tag: Some(etag(&part.etag)),
        last_modified: Some(timestamp(part.modified_ms)),
        part_number: Some(part.number),
        size: i64::try_from(part.size).ok(),
        ..Part::default()
    };
    if shows_checksums {
        show_checksums!(shown, part.checksums);
    }
    shown
}

fn check_part_number(number: i32) -> S3Result<()> {
    if (1..=PARTS_MAX).contains(&number) {
        return Ok(());
    }
    Err(s3_error!(
        InvalidArgument,
        "Part number must be an integer between 1 and {PARTS_MAX}, inclusive"
    ))
}

/// The kind of checksum of a new upload.
fn checksum_kind(
    algorithm: Option<Algorithm>,
    wanted: Option<&ChecksumType>,
) -> S3Result<Option<String>> {
    let Some(algorithm) = algorithm else {
        return match wanted {
            None => Ok(None),
            Some(_) => Err(s3_error!(
                InvalidRequest,
                "The x-amz-checksum-type header can only be used with the x-amz-checksum-algorithm \
                 header."
            )),
        };
    };
    let kind = wanted.map_or(algorithm.default_kind(), ChecksumType::as_str);
    if !algorithm.can_be(kind) {
        let name = algorithm.name();
        return Err(s3_error!(
            InvalidRequest,
            "The {kind} checksum type cannot be used with the {name} checksum algorithm."
        ));
    }
    Ok(Some(kind.to_owned()))
}

/// The byte range of `x-amz-copy-source-range`, which must lie inside the source.
pub(super) fn copy_range(header: Option<&str>, size: u64) -> S3Result<std::ops::Range<u64>> {
    let Some(header) = header else { return Ok(0..size) };
    let invalid = || {
        s3_error!(
            InvalidArgument,
            "The x-amz-copy-source-range value must be of the form bytes=first-last where \
             first and last are the zero-based offsets of the first and last bytes to copy"
        )
    };
    let (first, last) =
        header.strip_prefix("bytes=").and_then(|r| r.split_once('-')).ok_or_else(invalid)?;
    let first: u64 = first.parse().map_err(|_| invalid())?;
    let last: u64 = last.parse().map_err(|_| invalid())?;
    if first > last {
        return Err(invalid());
    }
    if last >= size {
        return Err(s3_error!(
            InvalidRange,
            "Range specified is not valid for source object of size: {size}"
        ));
    }
    Ok(first..last + 1)
}
