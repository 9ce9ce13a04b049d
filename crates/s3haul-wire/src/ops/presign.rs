//! Presigned URLs.

use std::time::Duration;

use http::{HeaderMap, HeaderValue, Method, header};

use crate::client::Client;
use crate::error::{Error, ErrorKind, Result};
use crate::message::headers::{self, Headers};
use crate::message::properties::ObjectProperties;

/// Longest time that a signature may be valid.
const EXPIRES_MAX: Duration = Duration::from_hours(7 * 24);

/// A URL that lets anyone write an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PresignedPut {
    /// The URL.
    pub url: String,
    /// Names and values of the headers that have to be sent along.
    pub headers: Vec<(String, String)>,
}

impl Client {
    /// URL that lets anyone GET an object until `expires_in` has passed (7 days at most). Without
    /// credentials it is that of an object that anyone can GET.
    pub async fn presign_get(
        &self,
        bucket: &str,
        key: &str,
        expires_in: Duration,
    ) -> Result<String> {
        self.presign(&Method::GET, (bucket, key), HeaderMap::new(), expires_in).await
    }

    /// URL that lets anyone PUT an object with these properties until `expires_in` has passed (7
    /// days at most).
    pub async fn presign_put(
        &self,
        bucket: &str,
        key: &str,
        properties: &ObjectProperties,
        expires_in: Duration,
    ) -> Result<PresignedPut> {
        let mut written = Headers::default();
        properties.write(&mut written)?;
        let map: HeaderMap = written.0.into_iter().collect();
        let text = |value: &HeaderValue| headers::value_text(value);
        let headers = map.iter().map(|(name, value)| (name.to_string(), text(value))).collect();
        let url = self.presign(&Method::PUT, (bucket, key), map, expires_in).await?;
        Ok(PresignedPut { url, headers })
    }

    async fn presign(
        &self,
        method: &Method,
        (bucket, key): (&str, &str),
        mut headers: HeaderMap,
        expires_in: Duration,
    ) -> Result<String> {
        if expires_in.as_secs() == 0 || expires_in > EXPIRES_MAX {
            let message = "a presigned URL is valid for 1 second to 7 days";
            return Err(Error::new(ErrorKind::Config, message));
        }
        let parts = self.presign_parts(bucket, key).await?;
        let (host, path) = (&parts.host, &parts.path);
        let Some(signer) = &parts.signer else {
            if *method == Method::GET {
                return Ok(format!("{}://{host}{path}", parts.scheme));
            }
            let message = "a URL that lets anyone write has to be signed, with credentials";
            return Err(Error::new(ErrorKind::Config, message));
        };
        let value = HeaderValue::from_str(host).map_err(|error| {
            Error::new(ErrorKind::Config, "the endpoint has no valid host").with_source(error)
        })?;
        headers.insert(header::HOST, value);
        let query = signer.presign(method, path, &[], &headers, expires_in, parts.now);
        Ok(format!("{}://{host}{path}?{query}", parts.scheme))
    }
}
