//! Tags of objects.

use crate::error::{Error, ErrorKind, Result};
use crate::s3::Client;

impl Client {
    /// Tags of an object.
    pub async fn get_object_tagging(
        &self,
        _bucket: &str,
        _key: &str,
        _version_id: Option<&str>,
    ) -> Result<Vec<(String, String)>> {
        Err(Error::new(ErrorKind::Config, "not built yet"))
    }

    /// Replaces the tags of an object.
    pub async fn put_object_tagging(
        &self,
        _bucket: &str,
        _key: &str,
        _version_id: Option<&str>,
        _tags: &[(String, String)],
    ) -> Result<()> {
        Err(Error::new(ErrorKind::Config, "not built yet"))
    }

    /// Removes the tags of an object.
    pub async fn delete_object_tagging(
        &self,
        _bucket: &str,
        _key: &str,
        _version_id: Option<&str>,
    ) -> Result<()> {
        Err(Error::new(ErrorKind::Config, "not built yet"))
    }
}
