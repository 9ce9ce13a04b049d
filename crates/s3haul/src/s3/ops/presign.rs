//! Presigned URLs.

use std::time::Duration;

use http::Method;

use crate::error::{Error, ErrorKind, Result};
use crate::s3::Client;

/// Longest time that a signature may be valid.
const EXPIRES_MAX: Duration = Duration::from_hours(7 * 24);

impl Client {
    /// URL that lets anyone GET an object until `expires_in` has passed (7 days at most).
    pub async fn presign_get(
        &self,
        bucket: &str,
        key: &str,
        expires_in: Duration,
    ) -> Result<String> {
        if expires_in.as_secs() == 0 || expires_in > EXPIRES_MAX {
            let message = "a presigned URL is valid for 1 second to 7 days";
            return Err(Error::new(ErrorKind::Config, message));
        }
        let parts = self.presign_parts(bucket, key).await?;
        let (host, path) = (&parts.host, &parts.path);
        let query = parts.signer.presign(&Method::GET, host, path, &[], expires_in, parts.now);
        Ok(format!("{}://{host}{path}?{query}", parts.scheme))
    }
}
