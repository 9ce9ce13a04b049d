//! Removing objects.

use crate::error::{Error, ErrorKind, Result};
use crate::s3::Client;

/// Input of DeleteObject.
#[derive(Clone, Copy, Debug, Default)]
pub struct DeleteObject<'a> {
    /// Bucket.
    pub bucket: &'a str,
    /// Key.
    pub key: &'a str,
    /// Version to remove for good.
    pub version_id: Option<&'a str>,
}

/// One entry of DeleteObjects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObjectIdentifier {
    /// Key.
    pub key: String,
    /// Version.
    pub version_id: Option<String>,
    /// Only if the object still has this `ETag`.
    pub etag: Option<String>,
}

/// A key that DeleteObjects did not remove.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeleteRefused {
    /// Key.
    pub key: String,
    /// Version.
    pub version_id: Option<String>,
    /// Error code.
    pub code: String,
    /// Message.
    pub message: String,
}

/// Result of DeleteObjects: keys not named here are gone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeleteOutcome {
    /// Keys that were refused after the retries.
    pub refused: Vec<DeleteRefused>,
}

impl Client {
    /// Removes one object; succeeds also where there is none.
    pub async fn delete_object(&self, _input: DeleteObject<'_>) -> Result<()> {
        Err(Error::new(ErrorKind::Config, "not built yet"))
    }

    /// Removes up to 1,000 objects with one request (quiet mode). Entries that fail with a
    /// throttle or server error are tried again inside.
    pub async fn delete_objects(
        &self,
        _bucket: &str,
        _objects: &[ObjectIdentifier],
    ) -> Result<DeleteOutcome> {
        Err(Error::new(ErrorKind::Config, "not built yet"))
    }
}
