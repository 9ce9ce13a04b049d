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

/// Bucket and key of one object, or a bucket and a prefix.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjectName {
    /// Bucket name or access point ARN.
    pub bucket: String,
    /// Key, at most 1,024 bytes of UTF-8; may be empty where a whole bucket is meant.
    pub key: String,
}

impl ObjectName {
    /// Names an object.
    pub fn new(bucket: impl Into<String>, key: impl Into<String>) -> Self {
        Self { bucket: bucket.into(), key: key.into() }
    }
}

impl fmt::Display for ObjectName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "s3://{}/{}", self.bucket, self.key)
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
