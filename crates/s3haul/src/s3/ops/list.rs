//! One page of a listing, held in columns: a buffer of key bytes with offsets, packed sizes,
//! times, `ETag`s and storage classes; no `String` an object.

use crate::error::{Error, ErrorKind, Result};
use crate::s3::Client;

/// Input of ListObjectsV2 and ListObjects.
#[derive(Clone, Copy, Debug, Default)]
pub struct ListObjects<'a> {
    /// Bucket.
    pub bucket: &'a str,
    /// Only keys that start so.
    pub prefix: &'a str,
    /// Groups keys up to the next delimiter into common prefixes.
    pub delimiter: Option<&'a str>,
    /// Only keys strictly after this one (first page).
    pub start_after: Option<&'a str>,
    /// Token of the page before.
    pub continuation_token: Option<&'a str>,
    /// Keys a page, at most 1,000.
    pub max_keys: Option<u32>,
    /// Ask for owners.
    pub fetch_owner: bool,
}

/// Input of ListObjectVersions.
#[derive(Clone, Copy, Debug, Default)]
pub struct ListVersions<'a> {
    /// Bucket.
    pub bucket: &'a str,
    /// Only keys that start so.
    pub prefix: &'a str,
    /// Groups keys.
    pub delimiter: Option<&'a str>,
    /// Marker of the page before.
    pub key_marker: Option<&'a str>,
    /// Marker of the page before.
    pub version_id_marker: Option<&'a str>,
    /// Entries a page, at most 1,000.
    pub max_keys: Option<u32>,
}

/// One object of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListedObject<'a> {
    /// Key.
    pub key: &'a str,
    /// Size in bytes.
    pub size: u64,
    /// Last modification in seconds since 1970.
    pub last_modified_s: i64,
    /// `ETag` with its quotes.
    pub etag: &'a str,
    /// Storage class; empty where the server tells none.
    pub storage_class: &'a str,
}

/// A page of objects.
#[derive(Clone, Debug, Default)]
pub struct ListPage {
    _text: String,
    /// Common prefixes, in order.
    pub common_prefixes: Vec<String>,
    /// Whether more pages follow.
    pub is_truncated: bool,
    /// Token for the next page (v2), or the marker (v1).
    pub next_token: Option<String>,
}

impl ListPage {
    /// Objects of the page.
    pub fn len(&self) -> usize {
        0
    }

    /// Whether the page holds no object.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The objects in the server's order.
    pub fn iter(&self) -> impl Iterator<Item = ListedObject<'_>> {
        std::iter::empty()
    }
}

/// One version or delete marker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedVersion {
    /// Key.
    pub key: String,
    /// Version id, `null` for objects from before versioning.
    pub version_id: String,
    /// Whether it is the current one.
    pub is_latest: bool,
    /// Whether it is a delete marker (size 0, no `ETag`).
    pub is_delete_marker: bool,
    /// Size in bytes.
    pub size: u64,
    /// Last modification in seconds since 1970.
    pub last_modified_s: i64,
    /// `ETag` with its quotes.
    pub etag: String,
    /// Storage class.
    pub storage_class: String,
}

/// A page of versions.
#[derive(Clone, Debug, Default)]
pub struct VersionPage {
    /// Versions and delete markers in the server's order.
    pub versions: Vec<ListedVersion>,
    /// Common prefixes.
    pub common_prefixes: Vec<String>,
    /// Whether more pages follow.
    pub is_truncated: bool,
    /// Marker for the next page.
    pub next_key_marker: Option<String>,
    /// Marker for the next page.
    pub next_version_id_marker: Option<String>,
}

impl Client {
    /// One page of ListObjectsV2 (`encoding-type=url` always).
    pub async fn list_objects(&self, _input: ListObjects<'_>) -> Result<ListPage> {
        Err(Error::new(ErrorKind::Config, "not built yet"))
    }

    /// One page of ListObjects (version 1); `continuation_token` is the marker.
    pub async fn list_objects_v1(&self, _input: ListObjects<'_>) -> Result<ListPage> {
        Err(Error::new(ErrorKind::Config, "not built yet"))
    }

    /// One page of ListObjectVersions.
    pub async fn list_versions(&self, _input: ListVersions<'_>) -> Result<VersionPage> {
        Err(Error::new(ErrorKind::Config, "not built yet"))
    }
}
