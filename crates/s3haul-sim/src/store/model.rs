//! The values that stores keep: buckets, versions, blobs, uploads and parts.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use serde::{Deserialize, Serialize};

/// The region that `LocationConstraint` does not name.
pub(crate) const DEFAULT_REGION: &str = "us-east-1";

/// Versioning state of a bucket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) enum Versioning {
    /// Never switched on.
    #[default]
    Off,
    /// New writes get ids.
    Enabled,
    /// New writes are the version `null`.
    Suspended,
}

/// Settings of a bucket.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Bucket {
    /// The region that the bucket was created in.
    pub(crate) region: String,
    /// Creation time in milliseconds since 1970.
    pub(crate) created_ms: i64,
    /// Versioning state.
    pub(crate) versioning: Versioning,
    /// Website configuration, as stored JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) website: Option<serde_json::Value>,
    /// Objects can be locked.
    #[serde(default)]
    pub(crate) object_lock: bool,
    /// Retention of new objects that bring none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) default_retention: Option<DefaultRetention>,
    /// Tags.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) tags: Vec<(String, String)>,
}

/// Retention of new objects: of days or of years.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct DefaultRetention {
    /// As S3 writes it.
    pub(crate) mode: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) days: Option<i32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) years: Option<i32>,
}

/// A permission of an access control list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AclEntry {
    /// As S3 writes it, such as `READ`.
    pub(crate) permission: String,
    /// `id`, `uri` or `emailAddress`.
    pub(crate) kind: String,
    /// Owner.
    pub(crate) grantee: String,
}

impl AclEntry {
    pub(crate) fn new(permission: &str, kind: &str, grantee: &str) -> Self {
        let (permission, kind) = (permission.to_owned(), kind.to_owned());
        Self { permission, kind, grantee: grantee.to_owned() }
    }
}

/// A restore from an archive: times in milliseconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Restore {
    /// From when on the object can be read.
    pub(crate) ready_ms: i64,
    /// Until when.
    pub(crate) expiry_ms: i64,
}

/// What keeps an object from being read, changed or removed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Protection {
    /// Permissions; none where only the owner has some.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) acl: Option<Vec<AclEntry>>,
    /// Mode of the retention, as S3 writes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) lock_mode: Option<String>,
    /// End of the retention in milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) retain_until_ms: Option<i64>,
    /// Legal hold; none where there never was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) legal_hold: Option<bool>,
    /// Restore from an archive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) restore: Option<Restore>,
}

/// The bytes of an object or part.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) enum Blob {
    /// No bytes (also: delete markers).
    #[default]
    Empty,
    /// Bytes in memory.
    #[serde(skip)]
    Memory(Arc<Vec<Bytes>>),
    /// Bytes computed from a seed.
    Computed {
        /// Seed of the content.
        seed: u64,
    },
    /// A file, by its path relative to the store's root.
    File(String),
}

/// A version that was looked up, and where.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    pub(crate) bucket: String,
    pub(crate) key: String,
    pub(crate) version: Arc<Version>,
}

/// A range of a blob, as `Store::assemble` takes it.
#[derive(Debug, Clone)]
pub(crate) struct Piece {
    /// The version that has the blob, where it is one that others may replace meanwhile.
    pub(crate) of: Option<Found>,
    /// The blob to take bytes from.
    pub(crate) blob: Blob,
    /// Offset of the first byte.
    pub(crate) offset: u64,
    /// Number of bytes.
    pub(crate) length: u64,
}

/// Base64 checksums by algorithm.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Checksums {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) crc32: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) crc32c: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) crc64nvme: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) sha1: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) sha256: Option<String>,
    /// `FULL_OBJECT` or `COMPOSITE`; none where there is no checksum.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) kind: Option<String>,
}

/// Headers that an object keeps.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Attributes {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) content_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cache_control: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) content_disposition: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) content_encoding: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) content_language: Option<String>,
    /// `Expires` in milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) expires_ms: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) website_redirect: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) encryption: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) kms_key_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) customer_algorithm: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) customer_key_md5: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) bucket_key_enabled: Option<bool>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) metadata: BTreeMap<String, String>,
}

/// A part of a finished multipart object.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct PartInfo {
    /// Part number as uploaded.
    pub(crate) number: i32,
    /// Size in bytes.
    pub(crate) size: u64,
    /// Checksums of the part.
    #[serde(default)]
    pub(crate) checksums: Checksums,
}

/// One version of an object, or a delete marker.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Version {
    /// Version id; `null` outside versioning.
    pub(crate) id: String,
    /// Whether this is a delete marker.
    pub(crate) delete_marker: bool,
    /// Last modification in milliseconds since 1970.
    pub(crate) modified_ms: i64,
    /// Size in bytes.
    pub(crate) size: u64,
    /// `ETag` without quotes.
    pub(crate) etag: String,
    /// Storage class other than STANDARD.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) storage_class: Option<String>,
    /// Checksums, where any were given or computed.
    pub(crate) checksums: Checksums,
    /// Headers; boxed because most objects have few.
    pub(crate) attributes: Box<Attributes>,
    /// Tags.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) tags: Vec<(String, String)>,
    /// Access control list, lock and restore; boxed because most objects have none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) protection: Option<Box<Protection>>,
    /// Parts, where the object came as a multipart upload.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) parts: Vec<PartInfo>,
    /// The bytes.
    pub(crate) blob: Blob,
}

/// The versions of one key, newest first.
pub(crate) type Versions = Vec<Arc<Version>>;

/// What a listing shows of an object.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Listed<'a> {
    pub(crate) size: u64,
    pub(crate) modified_ms: i64,
    pub(crate) etag: &'a str,
    pub(crate) storage_class: &'a str,
}

/// A key as `Store::scan` shows it.
pub(crate) struct Entry<'a> {
    /// The key.
    pub(crate) key: &'a str,
    /// The current object; none where the newest version is a delete marker.
    pub(crate) current: Option<Listed<'a>>,
    /// All versions; empty in stores that compute their objects.
    pub(crate) versions: &'a [Arc<Version>],
}

/// Where a scan starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Seek {
    /// At the first key not below these bytes (which need not be valid UTF-8).
    At(Vec<u8>),
    /// After these bytes.
    After(Vec<u8>),
}

/// How a scan goes on.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// With the next key.
    Next,
    /// With the first key not below these bytes.
    Jump(Vec<u8>),
    /// Not at all.
    Stop,
}

/// A multipart upload under way.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Upload {
    /// Upload id.
    pub(crate) id: String,
    /// Bucket of the object to be.
    pub(crate) bucket: String,
    /// Key of the object to be.
    pub(crate) key: String,
    /// Start in milliseconds since 1970.
    pub(crate) created_ms: i64,
    /// Checksum algorithm named at the start, as S3 writes it.
    pub(crate) algorithm: Option<String>,
    /// `FULL_OBJECT` or `COMPOSITE`, where an algorithm is set.
    pub(crate) kind: Option<String>,
    /// Storage class other than STANDARD.
    pub(crate) storage_class: Option<String>,
    /// Headers.
    pub(crate) attributes: Box<Attributes>,
    /// Tags.
    pub(crate) tags: Vec<(String, String)>,
    /// Access control list and lock.
    #[serde(default)]
    pub(crate) protection: Option<Box<Protection>>,
}

/// A stored part of an upload.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Part {
    /// Part number.
    pub(crate) number: i32,
    /// Size in bytes.
    pub(crate) size: u64,
    /// `ETag` without quotes.
    pub(crate) etag: String,
    /// Arrival in milliseconds since 1970.
    pub(crate) modified_ms: i64,
    /// Rank of the request that brought it, in the order in which they began.
    #[serde(default)]
    pub(crate) began: u64,
    /// Checksums.
    pub(crate) checksums: Checksums,
    /// The bytes.
    pub(crate) blob: Blob,
}

impl Version {
    /// The storage class as listings show it.
    pub(crate) fn shown_storage_class(&self) -> &str {
        self.storage_class.as_deref().unwrap_or("STANDARD")
    }

    /// What a listing shows of this version.
    pub(crate) fn listed(&self) -> Listed<'_> {
        Listed {
            size: self.size,
            modified_ms: self.modified_ms,
            etag: &self.etag,
            storage_class: self.shown_storage_class(),
        }
    }
}

impl<'a> Entry<'a> {
    /// The entry of a key with kept versions.
    pub(crate) fn of_versions(key: &'a str, versions: &'a [Arc<Version>]) -> Self {
        let current = versions.first().filter(|v| !v.delete_marker).map(|v| v.listed());
        Self { key, current, versions }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the disk store of the first release wrote.
    #[test]
    fn metadata_of_older_versions_is_read() {
        let bucket = r#"{"region":"us-east-1","created_ms":1,"versioning":"Enabled"}"#;
        let bucket: Bucket = serde_json::from_str(bucket).unwrap();
        assert!(!bucket.object_lock && bucket.tags.is_empty());
        assert_eq!(bucket.default_retention, None);
        let part = r#"{"number":1,"size":2,"etag":"e","modified_ms":3,"checksums":{},
                       "blob":{"File":".s3haul/blobs/x"}}"#;
        let part: Part = serde_json::from_str(part).unwrap();
        assert_eq!((part.number, part.began), (1, 0));
        let version = r#"{"id":"null","delete_marker":false,"modified_ms":1,"size":1,"etag":"e",
                          "checksums":{},"attributes":{"customer_algorithm":"AES256"},
                          "blob":"Empty"}"#;
        let version: Version = serde_json::from_str(version).unwrap();
        assert_eq!(version.attributes.customer_key_md5, None);
    }
}
