//! What an object carries beside its bytes.

use super::checksum::Checksum;

/// Server-side encryption with keys that S3 manages.
#[derive(Clone, Debug, PartialEq, Eq)]
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
    /// Server-side encryption with the caller's key.
    pub customer_key: Option<CustomerKey>,
    /// Tags, URL-encoded as a query string (`x-amz-tagging`).
    pub tagging: Option<String>,
}

/// What S3 tells of an object in the headers of HEAD and GET.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObjectHead {
    /// Size of the whole object in bytes (also for a ranged GET).
    pub size: u64,
    /// `ETag` with its quotes.
    pub etag: String,
    /// `Last-Modified` in seconds since 1970.
    pub last_modified_s: i64,
    /// `x-amz-version-id`.
    pub version_id: Option<String>,
    /// `x-amz-restore`.
    pub restore: Option<String>,
    /// `x-amz-mp-parts-count`, told only when a part number was asked for.
    pub parts_count: Option<u32>,
    /// Checksums that the server holds, told when checksum mode was on.
    pub checksums: Vec<Checksum>,
    /// Whether the checksum covers the whole object (`x-amz-checksum-type: FULL_OBJECT`, or not
    /// told and without `-N`).
    pub checksum_is_full_object: bool,
    /// `x-amz-tagging-count`.
    pub tagging_count: Option<u32>,
    /// Content headers, storage class, metadata, encryption and redirect, as they would be sent
    /// to write the same object again.
    pub properties: ObjectProperties,
}
