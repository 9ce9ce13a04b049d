//! Names of things that are moved: a local file, an S3 object, a standard stream.

use std::fmt;
use std::path::PathBuf;

/// Where bytes come from or go to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    /// A local path, as the job resolved it (absolute).
    Local(PathBuf),
    /// An object: bucket (or access point ARN) and key.
    Object(ObjectName),
    /// Standard input or output, written `-`.
    Stream,
}

/// Bucket and key of one object, or a bucket and a prefix; also one version of an object.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjectName {
    /// Bucket name or access point ARN.
    pub bucket: String,
    /// Key, at most 1,024 bytes of UTF-8; may be empty where a whole bucket is meant.
    pub key: String,
    /// The version that is meant; the current one where absent.
    pub version_id: Option<String>,
}

impl ObjectName {
    /// Names an object.
    pub fn new(bucket: impl Into<String>, key: impl Into<String>) -> Self {
        Self { bucket: bucket.into(), key: key.into(), version_id: None }
    }

    /// The same, in one version.
    #[must_use]
    pub fn in_version(self, version_id: Option<String>) -> Self {
        Self { version_id, ..self }
    }
}

impl fmt::Display for ObjectName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "s3://{}/{}", self.bucket, self.key)
    }
}

impl Location {
    /// The version that is meant, where it is not the current one.
    pub fn version_id(&self) -> Option<&str> {
        match self {
            Self::Object(name) => name.version_id.as_deref(),
            Self::Local(_) | Self::Stream => None,
        }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Local(path) => path.display().fmt(f),
            Self::Object(name) => name.fmt(f),
            Self::Stream => f.write_str("-"),
        }
    }
}
