//! Multipart uploads.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use s3s::crypto::{Checksum as _, Md5};
use s3s::dto::{
    AbortMultipartUploadInput, AbortMultipartUploadOutput, ChecksumAlgorithm, ChecksumType,
    CommonPrefix, CompleteMultipartUploadInput, CompleteMultipartUploadOutput, CompletedPart,
    CopyPartResult, CreateMultipartUploadInput, CreateMultipartUploadOutput, EncodingType,
    ListMultipartUploadsInput, ListMultipartUploadsOutput, ListPartsInput, ListPartsOutput,
    MultipartUpload, Part, ServerSideEncryption, StorageClass, UploadPartCopyInput,
    UploadPartCopyOutput, UploadPartInput, UploadPartOutput,
};
use s3s::{S3Request, S3Response, S3Result, s3_error};

use super::SimService;
use super::checksum::{Algorithm, FULL_OBJECT, combine_composite, combine_full};
use super::conditions::{self, ReadConditions};
use super::convert::{
    attributes_of, check_metadata, checksums_of, echo_encryption, etag, owner, parse_tagging,
    show_checksums, storage_class, timestamp,
};
use super::ingest::{Received, Said, hex, unhashed_etag};
use super::protect::protection_of;
use super::put::named_algorithm;
use crate::store::{Checksums, Part as StoredPart, PartInfo, Piece, Upload, Version};

/// Most parts of an upload.
const PARTS_MAX: i32 = 10_000;
/// Most parts or uploads of one page.
const PAGE_MAX: i32 = 1000;

fn no_such_upload() -> s3s::S3Error {
    s3_error!(
        NoSuchUpload,
        "The specified upload does not exist. The upload ID may be invalid, or the \
         upload may have been aborted or completed."
    )
}

fn fresh_upload_id(now_ms: i64) -> String {
    format!("{now_ms:012x}{:016x}{:016x}", fastrand::u64(..), fastrand::u64(..))
}

impl SimService {
    fn open_upload(&self, bucket: &str, key: &str, id: &str) -> S3Result<Arc<Upload>> {
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
            protection: protection_of!(input, &settings)?,
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
        let mut input = req.input;
        check_part_number(input.part_number)?;
        let upload = self.open_upload(&input.bucket, &input.key, &input.upload_id)?;
        let of_upload = upload.algorithm.as_deref().and_then(Algorithm::parse);
        let said = Said {
            md5: input.content_md5.take(),
            checksums: checksums_of!(input),
            algorithm: named_algorithm(input.checksum_algorithm.as_ref()).or(of_upload),
            trailers: req.trailing_headers,
            default_crc: true,
        };
        let received = self.receive(input.body.take(), said).await?;
        let mut output =
            UploadPartOutput { e_tag: Some(etag(&received.etag)), ..UploadPartOutput::default() };
        show_checksums!(output, received.checksums);
        echo_encryption!(output, upload.attributes);
        self.keep_part(&upload.id, input.part_number, received)?;
        Ok(S3Response::new(output))
    }

    fn keep_part(&self, id: &str, number: i32, received: Received) -> S3Result<()> {
        let part = StoredPart {
            number,
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
        let input = req.input;
        check_part_number(input.part_number)?;
        let upload = self.open_upload(&input.bucket, &input.key, &input.upload_id)?;
        let conditions = ReadConditions {
            if_match: input.copy_source_if_match.as_ref(),
            if_none_match: input.copy_source_if_none_match.as_ref(),
            if_modified_since: input.copy_source_if_modified_since.as_ref(),
            if_unmodified_since: input.copy_source_if_unmodified_since.as_ref(),
        };
        let from = self.copy_from(&input.copy_source, &conditions)?;
        let range = copy_range(input.copy_source_range.as_deref(), from.version.size)?;
        let length = range.end - range.start;
        if length > self.limits.copy_bytes_max {
            return Err(s3_error!(
                InvalidRequest,
                "The specified copy source is larger than the maximum allowable size \
                 for a copy source: {}",
                self.limits.copy_bytes_max
            ));
        }
        let piece = Piece { blob: from.version.blob.clone(), offset: range.start, length };
        let staged = self.assemble(vec![piece]).await?;
        let blob = staged.blob.clone();
        let of_upload = upload.algorithm.as_deref().and_then(Algorithm::parse);
        let algorithm = of_upload.unwrap_or(Algorithm::Crc64Nvme);
        let (hash, checksums) = if self.store.skips_hashing() {
            (unhashed_etag(), Checksums::default())
        } else {
            let (_, md5, checksums) = self.digest(&blob, 0..length, vec![algorithm]).await?;
            (md5.map_or_else(unhashed_etag, |md5| hex(&md5)), checksums)
        };
        let mut result = CopyPartResult {
            e_tag: Some(etag(&hash)),
            last_modified: Some(timestamp(self.now_ms())),
            ..CopyPartResult::default()
        };
        if of_upload.is_some() {
            show_checksums!(result, checksums);
        }
        let received = Received { blob, size: length, etag: hash, checksums };
        self.keep_part(&upload.id, input.part_number, received)?;
        let mut output = UploadPartCopyOutput {
            copy_part_result: Some(result),
            copy_source_version_id: from.version_id,
            ..UploadPartCopyOutput::default()
        };
        echo_encryption!(output, upload.attributes);
        Ok(S3Response::new(output))
    }

    pub(super) async fn complete_multipart_upload(
        &self,
        req: S3Request<CompleteMultipartUploadInput>,
    ) -> S3Result<S3Response<CompleteMultipartUploadOutput>> {
        let input = req.input;
        let settings = self.bucket_settings(&input.bucket)?;
        let upload = self.open_upload(&input.bucket, &input.key, &input.upload_id)?;
        let stored = self.store.parts(&upload.id).ok_or_else(no_such_upload)?;
        let named = input.multipart_upload.as_ref().and_then(|given| given.parts.as_deref());
        let parts = pick_parts(named.unwrap_or_default(), &stored, self.limits.part_bytes_min)?;
        let mut version = assembled_version(&upload, &parts, &input)?;
        version.modified_ms = self.now_ms();
        let current = self.store.versions(&input.bucket, &input.key)?;
        let (if_match, if_none_match) = (input.if_match.as_ref(), input.if_none_match.as_ref());
        conditions::check_write(current.first().map(AsRef::as_ref), if_match, if_none_match)?;
        let pieces = parts.iter().map(|part| Piece {
            blob: part.blob.clone(),
            offset: 0,
            length: part.size,
        });
        let staged = self.assemble(pieces.collect()).await?;
        version.blob = staged.blob.clone();
        let mut output = CompleteMultipartUploadOutput {
            bucket: Some(input.bucket.clone()),
            key: Some(input.key.clone()),
            location: Some(format!("/{}/{}", input.bucket, input.key)),
            e_tag: Some(etag(&version.etag)),
            ..CompleteMultipartUploadOutput::default()
        };
        show_checksums!(output, version.checksums);
        output.checksum_type = version.checksums.kind.clone().map(ChecksumType::from);
        output.server_side_encryption =
            version.attributes.encryption.clone().map(ServerSideEncryption::from);
        output.ssekms_key_id.clone_from(&version.attributes.kms_key_id);
        let mut version = Some(version);
        self.store.update(&input.bucket, &input.key, &mut |versions| {
            conditions::check_write(versions.first().map(AsRef::as_ref), if_match, if_none_match)?;
            let version = version.take().unwrap_or_default();
            output.version_id = Self::push_version(settings.versioning, versions, version);
            Ok(())
        })?;
        self.store.remove_upload(&upload.id)?;
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
        return Ok(wanted.map(|kind| kind.as_str().to_owned()));
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

/// The stored parts that a completion names, checked.
fn pick_parts(
    named: &[CompletedPart],
    stored: &[StoredPart],
    least: u64,
) -> S3Result<Vec<StoredPart>> {
    if named.is_empty() {
        return Err(s3_error!(
            MalformedXML,
            "The XML you provided was not well-formed or did not validate against our \
             published schema"
        ));
    }
    let ascending = named.windows(2).all(|pair| pair[0].part_number < pair[1].part_number);
    if !ascending {
        return Err(s3_error!(
            InvalidPartOrder,
            "The list of parts was not in ascending order. Parts must be ordered by part number."
        ));
    }
    let picked: Vec<_> =
        named.iter().map(|part| pick_part(part, stored)).collect::<S3Result<_>>()?;
    let all_but_last = picked.iter().take(picked.len() - 1);
    if all_but_last.clone().any(|part| part.size < least) {
        return Err(s3_error!(
            EntityTooSmall,
            "Your proposed upload is smaller than the minimum allowed size"
        ));
    }
    Ok(picked)
}

fn pick_part(named: &CompletedPart, stored: &[StoredPart]) -> S3Result<StoredPart> {
    let found = stored.iter().find(|part| Some(part.number) == named.part_number);
    let is_it = |part: &&StoredPart| {
        let said = checksums_of!(named);
        named.e_tag.as_ref().is_some_and(|tag| tag.value() == part.etag)
            && said.present().all(|algorithm| {
                // A checksum that was not computed at the time cannot be compared.
                part.checksums.get(algorithm).is_none_or(|sum| Some(sum) == said.get(algorithm))
            })
    };
    found.filter(is_it).cloned().ok_or_else(|| {
        s3_error!(
            InvalidPart,
            "One or more of the specified parts could not be found. The part may not have been \
             uploaded, or the specified entity tag may not match the part's entity tag."
        )
    })
}

/// The finished version, without its bytes.
fn assembled_version(
    upload: &Upload,
    parts: &[StoredPart],
    input: &CompleteMultipartUploadInput,
) -> S3Result<Version> {
    let size = parts.iter().map(|part| part.size).sum();
    if input.mpu_object_size.is_some_and(|said| u64::try_from(said) != Ok(size)) {
        return Err(s3_error!(
            InvalidRequest,
            "The provided 'x-amz-mp-object-size' header does not match what was computed."
        ));
    }
    let checksums = whole_checksums(upload, parts)?;
    let said = checksums_of!(input);
    check_said_whole(&checksums, &said, parts)?;
    Ok(Version {
        size,
        etag: multipart_etag(parts),
        storage_class: upload.storage_class.clone(),
        checksums,
        attributes: upload.attributes.clone(),
        tags: upload.tags.clone(),
        protection: upload.protection.clone(),
        parts: parts
            .iter()
            .map(|part| PartInfo {
                number: part.number,
                size: part.size,
                checksums: part.checksums.clone(),
            })
            .collect(),
        ..Version::default()
    })
}

/// MD5 of the parts' MD5s and their number.
fn multipart_etag(parts: &[StoredPart]) -> String {
    let mut md5 = Md5::new();
    for part in parts {
        // Odd where a part was not hashed; any stable value will do there.
        md5.update(&unhex(&part.etag).unwrap_or_else(|| part.etag.clone().into_bytes()));
    }
    format!("{}-{}", hex(md5.finalize().as_ref()), parts.len())
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes().chunks(2);
    digits.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect()
}

/// The checksum of the object: of the upload's algorithm, CRC64NVME where none was named.
fn whole_checksums(upload: &Upload, parts: &[StoredPart]) -> S3Result<Checksums> {
    let named = upload.algorithm.as_deref().and_then(Algorithm::parse);
    let algorithm = named.unwrap_or(Algorithm::Crc64Nvme);
    let sums: Option<Vec<_>> = parts
        .iter()
        .map(|part| part.checksums.get(algorithm).map(|sum| (sum.as_str(), part.size)))
        .collect();
    let mut whole = Checksums::default();
    let Some(sums) = sums else { return Ok(whole) };
    let kind = upload.kind.as_deref().unwrap_or(algorithm.default_kind());
    let sum = if kind == FULL_OBJECT {
        combine_full(algorithm, &sums)?
    } else {
        combine_composite(algorithm, &sums)?
    };
    whole.set(algorithm, sum);
    whole.kind = Some(kind.to_owned());
    Ok(whole)
}

/// Checks the checksum that the client gave for the whole object.
fn check_said_whole(computed: &Checksums, said: &Checksums, parts: &[StoredPart]) -> S3Result<()> {
    for algorithm in said.present() {
        let Some(wanted) = said.get(algorithm) else { continue };
        let bare = |sum: &str| sum.split('-').next().unwrap_or_default().to_owned();
        let is_it = match computed.get(algorithm) {
            Some(sum) => bare(sum) == bare(wanted),
            None => full_of(algorithm, parts).is_none_or(|sum| sum == *wanted),
        };
        if BASE64.decode(bare(wanted)).is_err() {
            return Err(s3_error!(
                InvalidRequest,
                "Value for x-amz-checksum-{} header is invalid.",
                algorithm.name().to_lowercase()
            ));
        }
        if !is_it {
            return Err(s3_error!(
                BadDigest,
                "The {} you specified did not match the calculated checksum.",
                algorithm.name().to_lowercase()
            ));
        }
    }
    Ok(())
}

/// The whole-object checksum of an algorithm that the upload did not name, where it is known.
fn full_of(algorithm: Algorithm, parts: &[StoredPart]) -> Option<String> {
    let sums: Option<Vec<_>> = parts
        .iter()
        .map(|part| part.checksums.get(algorithm).map(|sum| (sum.as_str(), part.size)))
        .collect();
    combine_full(algorithm, &sums?).ok()
}
