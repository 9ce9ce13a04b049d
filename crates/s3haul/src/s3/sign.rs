//! AWS Signature Version 4 as pure functions.
//!
//! Source: <https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-authenticating-requests.html>.

use std::time::{Duration, SystemTime};

use http::{HeaderMap, Method};

/// Credentials that sign. `Debug` never shows them.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Credentials {
    pub(crate) access_key_id: String,
    pub(crate) secret_access_key: String,
    pub(crate) session_token: Option<String>,
}

impl std::fmt::Debug for Credentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Credentials(******)")
    }
}

/// The hash of the body that is signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PayloadHash {
    /// SHA-256 of the body.
    Sha256([u8; 32]),
    /// `UNSIGNED-PAYLOAD`, over TLS.
    Unsigned,
}

/// Signs requests with one set of credentials for one region; caches the day's key.
#[derive(Debug)]
pub(crate) struct Signer {
    _credentials: Credentials,
    _region: String,
}

impl Signer {
    pub(crate) fn new(credentials: Credentials, region: String) -> Self {
        Self { _credentials: credentials, _region: region }
    }

    /// Adds `x-amz-date`, `x-amz-content-sha256`, `x-amz-security-token` and `authorization`.
    /// `host` must be among the headers. `path` and `query` are already in canonical encoding,
    /// `query` sorted.
    pub(crate) fn sign(
        &self,
        _method: &Method,
        _path: &str,
        _query: &str,
        _headers: &mut HeaderMap,
        _payload: PayloadHash,
        _now: SystemTime,
    ) {
    }

    /// Gives the query string that presigns a request on `host`.
    pub(crate) fn presign(
        &self,
        _method: &Method,
        _host: &str,
        _path: &str,
        _query: &[(&str, &str)],
        _expires_in: Duration,
        _now: SystemTime,
    ) -> String {
        String::new()
    }
}

/// Percent-encodes a key for a path: all but unreserved characters and `/`.
pub(crate) fn encode_path(_key: &str, _into: &mut String) {}

/// Percent-encodes and sorts a query.
pub(crate) fn encode_query(_query: &[(&str, &str)]) -> String {
    String::new()
}
