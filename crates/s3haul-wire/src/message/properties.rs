//! What an object carries beside its bytes, and the headers that say it.

use std::time::UNIX_EPOCH;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use http::header;
use http::{HeaderMap, HeaderName, HeaderValue};
use md5::{Digest as _, Md5};

use super::checksum::{Checksum, ChecksumAlgorithm};
use super::headers::{self, Headers};
use crate::error::{Error, ErrorKind, Result};
use crate::message::retention::{self, Retention};

/// Server-side encryption with keys that S3 manages.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Encryption {
    /// `AES256` (SSE-S3).
    Aes256,
    /// `aws:kms`, with a key id or the account's default key.
    Kms {
        /// `x-amz-server-side-encryption-aws-kms-key-id`.
        key_id: Option<String>,
    },
}

/// A key for SSE-C. `Debug` never shows it.
#[derive(Clone, PartialEq, Eq)]
pub struct CustomerKey {
    /// Algorithm, `AES256`.
    pub algorithm: String,
    /// The key's bytes.
    pub key: Vec<u8>,
}

impl std::fmt::Debug for CustomerKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CustomerKey")
            .field("algorithm", &self.algorithm)
            .field("key", &"******")
            .finish()
    }
}

impl CustomerKey {
    /// Key and the MD5 of the key, both in base64.
    pub fn encoded(&self) -> (String, String) {
        (BASE64.encode(&self.key), BASE64.encode(Md5::digest(&self.key)))
    }
}

/// The encryption that a write asked for: not every server encrypts, and not every one that does
/// not refuses.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Protection<'a> {
    pub(crate) encryption: Option<&'a Encryption>,
    pub(crate) customer_key: Option<&'a CustomerKey>,
}

impl Protection<'_> {
    /// Whether any was asked for.
    pub(crate) fn is_asked(&self) -> bool {
        self.encryption.is_some() || self.customer_key.is_some()
    }

    /// Whether the headers of an answer confirm it.
    pub(crate) fn is_confirmed(&self, answer: &HeaderMap) -> bool {
        let is = |name, expected: &str| answer.get(name).is_some_and(|told| told == expected);
        let is_encrypted = match self.encryption {
            None => true,
            Some(Encryption::Aes256) => is(&headers::SSE, "AES256"),
            Some(Encryption::Kms { key_id }) => {
                let told = headers::text(answer, &headers::SSE_KMS_KEY_ID);
                is(&headers::SSE, "aws:kms") && may_be_key(key_id.as_deref(), told.as_deref())
            }
        };
        let has_key = self.customer_key.is_none_or(|key| {
            is(&headers::SSEC_ALGORITHM, &key.algorithm)
                && is(&headers::SSEC_KEY_MD5, &key.encoded().1)
        });
        is_encrypted && has_key
    }
}

/// Whether a KMS key can be the one that was requested. Servers report the whole name even if the
/// request named the key in another way.
fn may_be_key(asked: Option<&str>, told: Option<&str>) -> bool {
    let is_whole = |id: &&str| id.starts_with("arn:") && id.contains(":key/");
    match (asked.filter(is_whole), told.filter(is_whole)) {
        (Some(asked), Some(told)) => asked == told,
        _ => true,
    }
}

impl std::fmt::Display for Protection<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match (self.customer_key, self.encryption) {
            (Some(_), _) => "SSE-C",
            (None, Some(Encryption::Kms { .. })) => "aws:kms",
            (None, _) => "AES256",
        })
    }
}

/// One of the `x-amz-grant-*` headers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    /// `read`, `full-control`, `read-acp` or `write-acp`.
    pub permission: &'static str,
    /// Grantees, as `id=…`, `uri=…` or `emailaddress=…`, joined by commas.
    pub grantees: String,
}

/// What a caller sets on an object that it writes. Absent fields are not sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObjectProperties {
    /// `Content-Type`.
    pub content_type: Option<String>,
    /// `Content-Encoding`.
    pub content_encoding: Option<String>,
    /// `Content-Language`.
    pub content_language: Option<String>,
    /// `Content-Disposition`.
    pub content_disposition: Option<String>,
    /// `Cache-Control`.
    pub cache_control: Option<String>,
    /// `Expires`, as an HTTP date.
    pub expires: Option<String>,
    /// User metadata without the `x-amz-meta-` prefix; `None` is "not said", an empty list "none".
    pub metadata: Option<Vec<(String, String)>>,
    /// `x-amz-storage-class`.
    pub storage_class: Option<String>,
    /// `x-amz-website-redirect-location`.
    pub website_redirect: Option<String>,
    /// Canned ACL, `x-amz-acl`.
    pub acl: Option<String>,
    /// Explicit grants.
    pub grants: Vec<Grant>,
    /// Server-side encryption.
    pub encryption: Option<Encryption>,
    /// Whether KMS is called through a key of the bucket, which costs less.
    pub bucket_key: Option<bool>,
    /// Server-side encryption with the caller's key.
    pub customer_key: Option<CustomerKey>,
    /// Tags, URL-encoded as a query string (`x-amz-tagging`).
    pub tagging: Option<String>,
    /// Retention by object lock.
    pub retention: Option<Retention>,
    /// Legal hold by object lock: `Some(true)` ON, `Some(false)` OFF, `None` not sent.
    pub legal_hold: Option<bool>,
}

impl ObjectProperties {
    /// The requested encryption.
    pub(crate) fn protection(&self) -> Protection<'_> {
        let Self { encryption, customer_key, .. } = self;
        Protection { encryption: encryption.as_ref(), customer_key: customer_key.as_ref() }
    }

    /// Refuses what is not allowed in a header.
    pub fn check(&self) -> Result<()> {
        self.write(&mut Headers::default())
    }

    /// Headers that `CreateMultipartUpload`, `PutObject` and `CopyObject` have in common.
    pub(crate) fn write(&self, into: &mut Headers) -> Result<()> {
        into.maybe(&header::CONTENT_TYPE, self.content_type.as_deref())?;
        into.maybe(&header::CONTENT_ENCODING, self.content_encoding.as_deref())?;
        into.maybe(&header::CONTENT_LANGUAGE, self.content_language.as_deref())?;
        into.maybe(&header::CONTENT_DISPOSITION, self.content_disposition.as_deref())?;
        into.maybe(&header::CACHE_CONTROL, self.cache_control.as_deref())?;
        into.maybe(&header::EXPIRES, self.expires.as_deref())?;
        into.metadata(self.metadata.as_deref().unwrap_or_default())?;
        into.maybe(&headers::STORAGE_CLASS, self.storage_class.as_deref())?;
        into.maybe(&headers::WEBSITE_REDIRECT, self.website_redirect.as_deref())?;
        into.maybe(&headers::TAGGING, self.tagging.as_deref())?;
        self.write_access(into)?;
        retention::write(self.retention, self.legal_hold, into)?;
        match &self.encryption {
            None => {}
            Some(Encryption::Aes256) => into.fixed(&headers::SSE, "AES256"),
            Some(Encryption::Kms { key_id }) => {
                into.fixed(&headers::SSE, "aws:kms");
                into.maybe(&headers::SSE_KMS_KEY_ID, key_id.as_deref())?;
            }
        }
        if let Some(is_on) = self.bucket_key {
            into.fixed(&headers::SSE_BUCKET_KEY, if is_on { "true" } else { "false" });
        }
        into.customer_key(self.customer_key.as_ref())
    }

    fn write_access(&self, into: &mut Headers) -> Result<()> {
        into.maybe(&headers::ACL, self.acl.as_deref())?;
        for grant in &self.grants {
            let name = match grant.permission {
                "read" => &headers::GRANT_READ,
                "full-control" => &headers::GRANT_FULL_CONTROL,
                "read-acp" => &headers::GRANT_READ_ACP,
                "write-acp" => &headers::GRANT_WRITE_ACP,
                other => {
                    let message = format!("there is no grant of `{other}`");
                    return Err(Error::new(ErrorKind::Config, message));
                }
            };
            into.text(name, &grant.grantees)?;
        }
        Ok(())
    }

    fn read(found: &Found<'_>, metadata: Vec<(String, String)>) -> Self {
        let text = |value: Option<&HeaderValue>| value.map(headers::value_text);
        let encryption = match found.sse.map(HeaderValue::as_bytes) {
            Some(b"AES256") => Some(Encryption::Aes256),
            Some(b"aws:kms") => Some(Encryption::Kms { key_id: text(found.sse_kms_key_id) }),
            _ => None,
        };
        Self {
            content_type: text(found.content_type),
            content_encoding: text(found.content_encoding),
            content_language: text(found.content_language),
            content_disposition: text(found.content_disposition),
            cache_control: text(found.cache_control),
            expires: text(found.expires),
            metadata: Some(metadata),
            storage_class: text(found.storage_class),
            website_redirect: text(found.website_redirect),
            encryption,
            bucket_key: found.sse_bucket_key.map(|told| told == "true"),
            retention: Retention::read(found.lock_mode, found.lock_until),
            legal_hold: retention::read_legal_hold(found.legal_hold),
            ..Self::default()
        }
    }
}

headers::find_headers! {
    /// What of the headers of HEAD and GET is read.
    Found {
        archive_status = "x-amz-archive-status",
        cache_control = "cache-control",
        checksum_type = "x-amz-checksum-type",
        content_disposition = "content-disposition",
        content_encoding = "content-encoding",
        content_language = "content-language",
        content_type = "content-type",
        etag = "etag",
        expires = "expires",
        last_modified = "last-modified",
        legal_hold = "x-amz-object-lock-legal-hold",
        lock_mode = "x-amz-object-lock-mode",
        lock_until = "x-amz-object-lock-retain-until-date",
        missing_meta = "x-amz-missing-meta",
        parts_count = "x-amz-mp-parts-count",
        restore = "x-amz-restore",
        sse = "x-amz-server-side-encryption",
        sse_bucket_key = "x-amz-server-side-encryption-bucket-key-enabled",
        sse_kms_key_id = "x-amz-server-side-encryption-aws-kms-key-id",
        ssec_algorithm = "x-amz-server-side-encryption-customer-algorithm",
        storage_class = "x-amz-storage-class",
        tagging_count = "x-amz-tagging-count",
        version_id = "x-amz-version-id",
        website_redirect = "x-amz-website-redirect-location",
    }
}

/// User metadata, sorted by name.
fn read_metadata(headers: &HeaderMap) -> Vec<(String, String)> {
    let mut metadata: Vec<_> = headers
        .iter()
        .filter_map(|(name, value)| {
            let name = name.as_str().strip_prefix(headers::METADATA_PREFIX)?;
            Some((name.to_owned(), headers::value_text(value)))
        })
        .collect();
    metadata.sort();
    metadata
}

/// What S3 returns about an object in the headers of HEAD and GET.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObjectHead {
    /// Size of the whole object in bytes (also for a ranged GET).
    pub size: u64,
    /// `ETag` with its quotes.
    pub etag: String,
    /// Pieces of metadata that no header can hold (`x-amz-missing-meta`).
    pub missing_metadata: u32,
    /// Whether the encryption lets the `ETag` be an MD5: none, or one with keys of S3's own.
    pub may_have_md5_etag: bool,
    /// `Last-Modified` in seconds since 1970.
    pub last_modified_s: i64,
    /// `x-amz-version-id`.
    pub version_id: Option<String>,
    /// `x-amz-restore`.
    pub restore: Option<String>,
    /// `x-amz-archive-status`, for objects that `INTELLIGENT_TIERING` has archived.
    pub archive_status: Option<String>,
    /// `x-amz-mp-parts-count`, returned only if a part number was requested.
    pub parts_count: Option<u32>,
    /// Checksums that the server holds, returned only with checksum mode on.
    pub checksums: Vec<Checksum>,
    /// Whether the checksum covers the whole object (`x-amz-checksum-type: FULL_OBJECT`, or no such
    /// header and no `-N`).
    pub checksum_is_full_object: bool,
    /// `x-amz-tagging-count`.
    pub tagging_count: Option<u32>,
    /// Content headers, storage class, metadata, encryption, redirect and object lock, as they
    /// would be sent to write the same object again.
    pub properties: ObjectProperties,
}

impl ObjectHead {
    /// Reads the headers of an answer to HEAD or GET; `size` is the whole object's.
    pub(crate) fn read(headers: &HeaderMap, size: u64) -> Self {
        let found = Found::among(headers);
        let text = |value: Option<&HeaderValue>| value.map(headers::value_text);
        let checksums: Vec<_> = read_checksums(headers).collect();
        let full_object = match found.checksum_type {
            Some(kind) => kind == FULL_OBJECT,
            // Of an object in parts it may be that of the parts' checksums (moto does not say).
            None => checksums.iter().all(|checksum| {
                let is_whole = || checksum.algorithm == ChecksumAlgorithm::Crc64Nvme;
                !checksum.is_composite() && (is_whole() || !is_of_parts(found.etag))
            }),
        };
        let has_own_key =
            found.sse.is_some_and(|told| told != "AES256") || found.ssec_algorithm.is_some();
        let last_modified = found.last_modified.and_then(|date| date.to_str().ok());
        Self {
            size,
            etag: text(found.etag).unwrap_or_default(),
            missing_metadata: found.missing_meta.and_then(headers::value_number).unwrap_or(0),
            may_have_md5_etag: !has_own_key,
            last_modified_s: last_modified.map_or(0, http_date),
            version_id: text(found.version_id),
            restore: text(found.restore),
            archive_status: text(found.archive_status),
            parts_count: found.parts_count.and_then(headers::value_number),
            checksum_is_full_object: full_object && !checksums.is_empty(),
            checksums,
            tagging_count: found.tagging_count.and_then(headers::value_number),
            properties: ObjectProperties::read(&found, read_metadata(headers)),
        }
    }
}

/// Whether an `ETag` is that of an object in parts: `"…-3"`.
fn is_of_parts(etag: Option<&HeaderValue>) -> bool {
    let etag = etag.and_then(|etag| etag.to_str().ok()).unwrap_or_default().trim_end_matches('"');
    let (_, count) = etag.rsplit_once('-').unwrap_or_default();
    !count.is_empty() && count.bytes().all(|byte| byte.is_ascii_digit())
}

/// Type of a checksum of the whole object, and not of the checksums of its parts.
pub(crate) const FULL_OBJECT: &str = "FULL_OBJECT";

/// Prefix of the headers that carry checksums.
const CHECKSUM_PREFIX: &str = "x-amz-checksum-";

/// Checksums among headers, the cheapest to verify first.
pub(crate) fn read_checksums(headers: &HeaderMap) -> impl Iterator<Item = Checksum> {
    const ALL: [ChecksumAlgorithm; 5] = ChecksumAlgorithm::ALL;
    let mut values: [Option<&HeaderValue>; ALL.len()] = Default::default();
    for (name, value) in headers {
        if name.as_str().starts_with(CHECKSUM_PREFIX)
            && let Some(at) = ALL.iter().position(|algorithm| algorithm.header() == name)
        {
            values[at].get_or_insert(value);
        }
    }
    ALL.into_iter().zip(values).filter_map(|(algorithm, value)| {
        let checksum = Checksum { algorithm, value: headers::value_text(value?) };
        // moto returns 32 bits as the CRC64NVME of an object of parts: that says nothing about the
        // bytes, and must not make the object unreadable.
        checksum.has_the_right_width().then_some(checksum)
    })
}

/// Seconds since 1970 of an HTTP date; 0 where it is none.
fn http_date(text: &str) -> i64 {
    let since =
        httpdate::parse_http_date(text).ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    since.and_then(|since| i64::try_from(since.as_secs()).ok()).unwrap_or(0)
}

impl Headers {
    /// Adds the key of SSE-C.
    pub(crate) fn customer_key(&mut self, key: Option<&CustomerKey>) -> Result<()> {
        self.key(key, [&headers::SSEC_ALGORITHM, &headers::SSEC_KEY, &headers::SSEC_KEY_MD5])
    }

    /// Adds the key of SSE-C of a copy's source.
    pub(crate) fn source_customer_key(&mut self, key: Option<&CustomerKey>) -> Result<()> {
        self.key(
            key,
            [
                &headers::SOURCE_SSEC_ALGORITHM,
                &headers::SOURCE_SSEC_KEY,
                &headers::SOURCE_SSEC_KEY_MD5,
            ],
        )
    }

    fn key(&mut self, key: Option<&CustomerKey>, names: [&HeaderName; 3]) -> Result<()> {
        let Some(key) = key else { return Ok(()) };
        let (value, md5) = key.encoded();
        self.text(names[0], &key.algorithm)?;
        for (name, value) in [(names[1], value), (names[2], md5)] {
            self.text(name, &value)?;
            if let Some((_, value)) = self.0.last_mut() {
                value.set_sensitive(true);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::retention::LockMode;

    fn properties() -> ObjectProperties {
        ObjectProperties {
            content_type: Some("text/plain".to_owned()),
            content_encoding: Some("gzip".to_owned()),
            content_language: Some("de".to_owned()),
            content_disposition: Some("inline".to_owned()),
            cache_control: Some("no-store".to_owned()),
            expires: Some("Wed, 21 Oct 2015 07:28:00 GMT".to_owned()),
            metadata: Some(vec![
                ("a".to_owned(), "1".to_owned()),
                ("name".to_owned(), "Größe".to_owned()),
            ]),
            storage_class: Some("STANDARD_IA".to_owned()),
            website_redirect: Some("/there".to_owned()),
            encryption: Some(Encryption::Kms { key_id: Some("arn:key".to_owned()) }),
            bucket_key: Some(true),
            retention: Some(Retention { mode: LockMode::Governance, until_s: 1_893_456_000 }),
            legal_hold: Some(false),
            ..ObjectProperties::default()
        }
    }

    #[test]
    fn what_is_written_is_read_again() {
        let mut written = Headers::default();
        properties().write(&mut written).unwrap();
        let headers: HeaderMap = written.0.into_iter().collect();
        assert_eq!(ObjectHead::read(&headers, 0).properties, properties());
    }

    #[test]
    fn keys_and_grants_have_their_headers() {
        let properties = ObjectProperties {
            acl: Some("private".to_owned()),
            grants: vec![Grant { permission: "read-acp", grantees: "id=1".to_owned() }],
            customer_key: Some(CustomerKey { algorithm: "AES256".to_owned(), key: vec![7; 32] }),
            tagging: Some("a=b".to_owned()),
            ..ObjectProperties::default()
        };
        let mut written = Headers::default();
        properties.write(&mut written).unwrap();
        assert!(!format!("{written:?}").contains("BwcHBw"), "the key is shown");
        let headers: HeaderMap = written.0.into_iter().collect();
        assert_eq!(headers["x-amz-grant-read-acp"], "id=1");
        assert_eq!(headers["x-amz-tagging"], "a=b");
        assert_eq!(
            headers["x-amz-server-side-encryption-customer-key"],
            "BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc="
        );
        assert_eq!(
            headers["x-amz-server-side-encryption-customer-key-md5"],
            "y4HAEFCYWuvAXWFTtA1Qpg=="
        );
    }

    #[test]
    fn what_no_header_can_carry_is_an_error() {
        for (name, value) in [("a", "x\ny"), ("a b", "x"), ("\u{e9}", "x")] {
            let metadata = Some(vec![(name.to_owned(), value.to_owned())]);
            let properties = ObjectProperties { metadata, ..ObjectProperties::default() };
            let error = properties.write(&mut Headers::default()).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Config, "{name:?}");
        }
    }

    #[test]
    fn a_head_shows_what_its_checksums_cover() {
        let read = |pairs: &[(&'static str, &'static str)]| {
            let mut headers = HeaderMap::new();
            for (name, value) in pairs {
                headers.insert(*name, http::HeaderValue::from_static(value));
            }
            ObjectHead::read(&headers, 5)
        };
        assert!(!read(&[]).checksum_is_full_object);
        assert!(read(&[("x-amz-checksum-crc32", "NhCmhg==")]).checksum_is_full_object);
        assert!(!read(&[("x-amz-checksum-crc32", "NhCmhg==-3")]).checksum_is_full_object);
        let of_parts = ("etag", "\"ddc288fb5173df1973502222078c6416-3\"");
        assert!(!read(&[("x-amz-checksum-crc32", "NhCmhg=="), of_parts]).checksum_is_full_object);
        assert!(
            read(&[("x-amz-checksum-crc64nvme", "AAAAAAAAAAA="), of_parts]).checksum_is_full_object
        );
        assert!(read(&[("x-amz-checksum-crc64nvme", "NhCmhg==")]).checksums.is_empty());
        let composite =
            [("x-amz-checksum-crc32", "NhCmhg=="), ("x-amz-checksum-type", "COMPOSITE")];
        assert!(!read(&composite).checksum_is_full_object);
        let head = read(&[("last-modified", "Fri, 24 May 2013 00:00:00 GMT"), ("etag", "\"e\"")]);
        assert_eq!(
            (head.last_modified_s, head.etag.as_str(), head.size),
            (1_369_353_600, "\"e\"", 5)
        );
    }
}
