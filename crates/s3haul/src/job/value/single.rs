//! Commands on one bucket or on single objects, and their options.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

use super::is_default;

/// Writes objects to standard output, one after the other.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CatTask {
    /// Addresses `s3://bucket/key`, which may hold * and ?.
    pub sources: Vec<String>,
    /// Bytes of each object: `START-END`, `START-`, or `-LENGTH` for the last.
    #[serde(default, skip_serializing_if = "is_default")]
    pub range: Option<String>,
    /// The version, of a single object.
    #[serde(default, skip_serializing_if = "is_default")]
    pub version_id: Option<String>,
    /// The characters * and ? in an address stand for themselves.
    #[serde(default, skip_serializing_if = "is_default")]
    pub raw: bool,
}

/// Shows what the service knows of an object, or whether a bucket is there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct HeadTask {
    /// An address `s3://bucket/key` or `s3://bucket`.
    pub source: String,
    /// The version.
    #[serde(default, skip_serializing_if = "is_default")]
    pub version_id: Option<String>,
}

/// Prints a URL with which anyone can read or write an object for a while.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PresignTask {
    /// An address `s3://bucket/key`.
    pub source: String,
    /// Seconds for which the URL is valid, at most 604,800; 3,600 if not given.
    #[serde(default, skip_serializing_if = "is_default")]
    pub expires_in_s: Option<NonZeroU32>,
    /// The URL is for writing the object, with these headers.
    #[serde(default, skip_serializing_if = "is_default")]
    pub put: Option<PresignedHeaders>,
}

/// What an object has to be written with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PresignedHeaders {
    /// `Content-Type`.
    #[serde(skip_serializing_if = "is_default")]
    pub content_type: Option<String>,
    /// Metadata by name.
    #[serde(skip_serializing_if = "is_default")]
    pub metadata: Option<BTreeMap<String, String>>,
}

/// Makes a bucket.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MakeBucketTask {
    /// An address `s3://bucket`.
    pub bucket: String,
    /// Tags of the bucket.
    #[serde(default, skip_serializing_if = "is_default")]
    pub tags: Vec<(String, String)>,
    /// Objects can be locked.
    #[serde(default, skip_serializing_if = "is_default")]
    pub object_lock: bool,
    /// Versions are kept.
    #[serde(default, skip_serializing_if = "is_default")]
    pub versioning: bool,
}

/// Removes a bucket.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RemoveBucketTask {
    /// An address `s3://bucket`.
    pub bucket: String,
    /// All objects are removed first.
    #[serde(default, skip_serializing_if = "is_default")]
    pub force: bool,
    /// All versions and delete markers are removed first; needs `force`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub versions: bool,
    /// It is not asked for confirmation before versions are removed.
    #[serde(default, skip_serializing_if = "is_default")]
    pub yes: bool,
}

/// Shows or changes whether a bucket keeps versions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct VersioningTask {
    /// An address `s3://bucket`.
    pub bucket: String,
    /// Whether it is to keep them from now on; it is only shown if not given.
    #[serde(default, skip_serializing_if = "is_default")]
    pub keep: Option<bool>,
}

/// Sets what a bucket's website serves for folders and for errors.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct WebsiteTask {
    /// An address `s3://bucket`, or the name of the bucket.
    pub bucket: String,
    /// Name of the object of a folder that is served where an address ends in /.
    #[serde(default, skip_serializing_if = "is_default")]
    pub index_document: Option<String>,
    /// Key of the object that is served for errors.
    #[serde(default, skip_serializing_if = "is_default")]
    pub error_document: Option<String>,
}
