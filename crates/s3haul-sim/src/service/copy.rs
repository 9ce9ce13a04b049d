//! `CopyObject`, and the source of copies.

use std::ops::Range;
use std::sync::Arc;

use http::header::{HeaderMap, HeaderName, IF_MATCH, IF_NONE_MATCH};
use s3s::dto::{
    ChecksumType, CopyObjectInput, CopyObjectOutput, CopyObjectResult, CopySource, ETagCondition,
    MetadataDirective, TaggingDirective,
};
use s3s::{S3Request, S3Response, S3Result, s3_error};
use tokio::task::JoinError;

use super::checksum::{Algorithm, FULL_OBJECT};
use super::conditions::{self, ReadConditions, source_conditions};
use super::convert::{
    attributes_of, check_metadata, echo_encryption, etag, parse_tagging, show_checksums,
    storage_class, timestamp,
};
use super::customer_key::{CustomerKey, customer_key, source_key};
use super::get::OPEN_ATTEMPTS;
use super::ingest::{Digests, hex};
use super::protect::protection_of;
use super::put::named_algorithm;
use super::{SimService, shown_version_id};
use crate::store::{Blob, Checksums, Found, Piece, Store, StoreError, StoreResult, Version};

/// The version that a copy takes its bytes from.
pub(super) struct CopyFrom {
    pub(super) version: Arc<Version>,
    /// Version id to show.
    pub(super) version_id: Option<String>,
    /// Bucket and key.
    name: (String, String),
    /// Whether the request names a version.
    names_version: bool,
}

impl CopyFrom {
    fn piece(&self, range: Range<u64>) -> Piece {
        let (bucket, key) = self.name.clone();
        Piece {
            of: Some(Found { bucket, key, version: Arc::clone(&self.version) }),
            blob: self.version.blob.clone(),
            offset: range.start,
            length: range.end - range.start,
        }
    }
}

/// What a copy's request says about its source.
pub(super) struct SourceRequest<'a> {
    pub(super) source: &'a CopySource,
    pub(super) key: CustomerKey<'a>,
    pub(super) conditions: ReadConditions<'a>,
}

/// A condition on the object that a copy would replace.
fn target_condition(headers: &HeaderMap, name: &HeaderName) -> S3Result<Option<ETagCondition>> {
    let Some(value) = headers.get(name) else { return Ok(None) };
    let condition = ETagCondition::parse_http_header(value.as_bytes());
    condition.map(Some).map_err(|_| s3_error!(InvalidArgument, "The condition is no ETag"))
}

impl SimService {
    /// Finds the source of a copy and checks the conditions on it.
    fn copy_from(&self, request: &SourceRequest<'_>) -> S3Result<CopyFrom> {
        let CopySource::Bucket { bucket, key: name, version_id } = request.source else {
            return Err(s3_error!(NotImplemented, "Copies from access points are not implemented"));
        };
        let settings = self.bucket_settings(bucket)?;
        let version = self.find(bucket, name, version_id.as_deref())?;
        request.key.check_read(&version.attributes)?;
        request.conditions.check_copy(&version)?;
        self.check_readable(&version)?;
        Ok(CopyFrom {
            version_id: shown_version_id(&settings, &version),
            version,
            name: (bucket.to_string(), name.to_string()),
            names_version: version_id.is_some(),
        })
    }

    /// Copies the bytes of a range that is chosen when the source is found; those of the next
    /// version if it is replaced while it is being opened.
    pub(super) async fn copy_bytes(
        &self,
        request: SourceRequest<'_>,
        range: impl Fn(&CopyFrom) -> S3Result<Range<u64>>,
    ) -> S3Result<(CopyFrom, Staged)> {
        for _ in 0..OPEN_ATTEMPTS {
            let from = self.copy_from(&request)?;
            let range = range(&from)?;
            self.check_copy_size(range.end - range.start)?;
            match self.assemble(vec![from.piece(range)]).await {
                Err(StoreError::Gone) => {}
                staged => return Ok((from, staged?)),
            }
        }
        Err(StoreError::Gone.into())
    }

    /// Joins pieces to a blob, on a blocking thread where that means file work. If the
    /// request is gone by then, the result is dropped.
    pub(super) async fn assemble(&self, pieces: Vec<Piece>) -> StoreResult<Staged> {
        let store = Arc::clone(&self.store);
        let assemble = move || store.assemble(&pieces).map(|blob| Staged { store, blob });
        if !self.store.blocks() {
            return assemble();
        }
        let joined = tokio::task::spawn_blocking(assemble).await;
        let failed = |error: JoinError| StoreError::Io { action: "copying", source: error.into() };
        joined.map_err(failed)?
    }

    /// Hashes a range of a stored blob, on a blocking thread where that means file work.
    pub(super) async fn digest(
        &self,
        blob: &Blob,
        range: Range<u64>,
        algorithms: Vec<Algorithm>,
    ) -> S3Result<(u64, Option<[u8; 16]>, Checksums)> {
        if !self.store.blocks() {
            return Ok(digest_now(self.store.as_ref(), blob, range, algorithms)?);
        }
        let (store, blob) = (Arc::clone(&self.store), blob.clone());
        let hash = move || digest_now(store.as_ref(), &blob, range, algorithms);
        let hashed = tokio::task::spawn_blocking(hash).await;
        Ok(hashed.map_err(s3s::S3Error::internal_error)??)
    }

    pub(super) async fn copy_object(
        &self,
        req: S3Request<CopyObjectInput>,
    ) -> S3Result<S3Response<CopyObjectOutput>> {
        // `s3s` does not know the conditions on the target of a copy.
        let if_match = target_condition(&req.headers, &IF_MATCH)?;
        let if_none_match = target_condition(&req.headers, &IF_NONE_MATCH)?;
        let input = req.input;
        let settings = self.bucket_settings(&input.bucket)?;
        customer_key!(input).check_write(input.server_side_encryption.as_ref())?;
        let request = SourceRequest {
            source: &input.copy_source,
            key: source_key!(input),
            conditions: source_conditions!(input),
        };
        let whole = |from: &CopyFrom| {
            check_self_copy(&input, from)?;
            Ok(0..from.version.size)
        };
        let (from, staged) = self.copy_bytes(request, whole).await?;
        let mut version = copied_version(&input, &from.version)?;
        version.protection = protection_of!(input, &settings, self.now_ms())?;
        version.blob = staged.blob.clone();
        let wanted = named_algorithm(input.checksum_algorithm.as_ref());
        self.rehash(&mut version, &from.version, wanted).await?;
        version.modified_ms = self.now_ms();
        let mut result = CopyObjectResult {
            e_tag: Some(etag(&version.etag)),
            last_modified: Some(timestamp(version.modified_ms)),
            ..CopyObjectResult::default()
        };
        show_checksums!(result, version.checksums);
        result.checksum_type = version.checksums.kind.clone().map(ChecksumType::from);
        let mut output = CopyObjectOutput {
            copy_object_result: Some(result),
            copy_source_version_id: from.version_id,
            ..CopyObjectOutput::default()
        };
        echo_encryption!(output, version.attributes);
        let mut version = Some(version);
        self.store.update(&input.bucket, &input.key, &mut |versions| {
            let current = versions.first().map(AsRef::as_ref);
            conditions::check_write(current, if_match.as_ref(), if_none_match.as_ref())?;
            let version = version.take().unwrap_or_default();
            output.version_id = Self::push_version(settings.versioning, versions, version);
            Ok(())
        })?;
        Ok(S3Response::new(output))
    }

    /// Refuses to copy more than one request may.
    fn check_copy_size(&self, bytes: u64) -> S3Result<()> {
        let most = self.limits.copy_bytes_max;
        if bytes > most {
            return Err(s3_error!(
                InvalidRequest,
                "The specified copy source is larger than the maximum allowable size \
                 for a copy source: {most}"
            ));
        }
        Ok(())
    }

    /// A copy is an object in one piece: a multipart source gets a new `ETag` and whole checksums,
    /// as does one whose `ETag` is no MD5 because a customer's key encrypts it.
    async fn rehash(
        &self,
        version: &mut Version,
        source: &Version,
        wanted: Option<Algorithm>,
    ) -> S3Result<()> {
        let has_md5 = source.parts.is_empty() && source.attributes.customer_key_md5.is_none();
        let has_wanted = wanted.is_none_or(|wanted| version.checksums.get(wanted).is_some());
        let is_full = version.checksums.kind.as_deref() == Some(FULL_OBJECT);
        let is_done = self.store.skips_hashing() || (has_md5 && has_wanted && is_full);
        if !is_done {
            let mut algorithms: Vec<_> = wanted.into_iter().collect();
            if algorithms.is_empty() {
                algorithms.extend(version.checksums.present());
            }
            if algorithms.is_empty() {
                algorithms.push(Algorithm::Crc64Nvme);
            }
            let range = 0..version.size;
            let (_, md5, checksums) = self.digest(&version.blob, range, algorithms).await?;
            version.etag = md5.map_or_else(|| version.etag.clone(), |md5| hex(&md5));
            version.checksums = checksums;
        }
        version.etag = version.attributes.etag_of(std::mem::take(&mut version.etag));
        Ok(())
    }
}

/// A blob of which no object or part is made yet. Its temporary file is gone with this value, if
/// none has taken it: also where the request failed or its client went away.
pub(super) struct Staged {
    store: Arc<dyn Store>,
    pub(super) blob: Blob,
}

impl Drop for Staged {
    fn drop(&mut self) {
        // What was taken has another name by now.
        self.store.discard(&self.blob);
    }
}

fn digest_now(
    store: &dyn Store,
    blob: &Blob,
    range: Range<u64>,
    algorithms: Vec<Algorithm>,
) -> Result<(u64, Option<[u8; 16]>, Checksums), StoreError> {
    let mut source = store.open(blob, range)?;
    let mut digests = Digests::new(true, algorithms.into_iter());
    while let Some(chunk) = source.next_chunk()? {
        digests.update(&chunk);
    }
    Ok(digests.finish())
}

fn replaces_metadata(input: &CopyObjectInput) -> bool {
    let directive = input.metadata_directive.as_ref();
    directive.is_some_and(|directive| directive.as_str() == MetadataDirective::REPLACE)
}

fn check_self_copy(input: &CopyObjectInput, from: &CopyFrom) -> S3Result<()> {
    let is_self = from.name.0 == input.bucket && from.name.1 == input.key;
    let changes = replaces_metadata(input)
        || from.names_version
        || input.storage_class.is_some()
        || input.server_side_encryption.is_some()
        || input.sse_customer_algorithm.is_some()
        // Without a key for the target, the copy is no longer encrypted under one.
        || from.version.attributes.customer_key_md5.is_some()
        || input.website_redirect_location.is_some();
    if is_self && !changes {
        return Err(s3_error!(
            InvalidRequest,
            "This copy request is illegal because it is trying to copy an object to itself \
             without changing the object's metadata, storage class, website redirect location or \
             encryption attributes."
        ));
    }
    Ok(())
}

/// The new version, still with the source's `ETag` and checksums, without bytes.
fn copied_version(input: &CopyObjectInput, source: &Version) -> S3Result<Version> {
    let given = attributes_of!(input);
    let attributes = if replaces_metadata(input) {
        given
    } else {
        // These are never copied: they are the request's, or the bucket's.
        crate::store::Attributes {
            website_redirect: given.website_redirect,
            encryption: given.encryption,
            kms_key_id: given.kms_key_id,
            customer_algorithm: given.customer_algorithm,
            customer_key_md5: given.customer_key_md5,
            bucket_key_enabled: given.bucket_key_enabled,
            ..(*source.attributes).clone()
        }
    };
    check_metadata(&attributes)?;
    let directive = input.tagging_directive.as_ref();
    let tags = if directive.is_some_and(|d| d.as_str() == TaggingDirective::REPLACE) {
        parse_tagging(input.tagging.as_deref())?
    } else {
        source.tags.clone()
    };
    Ok(Version {
        size: source.size,
        etag: source.etag.clone(),
        storage_class: storage_class(input.storage_class.as_ref())?,
        checksums: source.checksums.clone(),
        attributes: Box::new(attributes),
        tags,
        ..Version::default()
    })
}
