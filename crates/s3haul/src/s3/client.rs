//! Runs one request to its end: endpoint, signature, connection, retries, errors.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::checksum::{ChecksumAlgorithm, ChecksumMode};
use super::payload::DigestPlan;
use super::request::{Answer, OpenAnswer, Request};
use crate::env::Env;
use crate::error::{Error, ErrorKind, Result};

/// How the bucket is put into the URL.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AddressingStyle {
    /// Virtual host where the bucket's name allows it and the endpoint is Amazon's; else path.
    #[default]
    Auto,
    /// `https://bucket.host/key`.
    Virtual,
    /// `https://host/bucket/key`.
    Path,
}

/// Where requests go.
#[derive(Clone, Debug, Default)]
pub struct EndpointConfig {
    /// Custom endpoint URL.
    pub url: Option<String>,
    /// Region; found from the bucket where absent.
    pub region: Option<String>,
    /// Addressing style.
    pub addressing: AddressingStyle,
    /// Dual-stack endpoints.
    pub dualstack: bool,
    /// FIPS endpoints.
    pub fips: bool,
    /// Transfer acceleration.
    pub accelerate: bool,
}

/// Where credentials come from.
#[derive(Clone, Default)]
pub enum CredentialsConfig {
    /// Environment, profiles, SSO, web identity, containers, instance metadata, in the order of
    /// the AWS tools.
    #[default]
    Chain,
    /// The same, with a named profile.
    Profile(String),
    /// Given.
    Static {
        /// Access key id.
        access_key_id: String,
        /// Secret access key.
        secret_access_key: String,
        /// Session token.
        session_token: Option<String>,
    },
    /// Requests are not signed.
    Anonymous,
}

impl std::fmt::Debug for CredentialsConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Chain => "Chain",
            Self::Profile(_) => "Profile",
            Self::Static { .. } => "Static(******)",
            Self::Anonymous => "Anonymous",
        })
    }
}

/// TLS settings.
#[derive(Clone, Debug)]
pub struct TlsConfig {
    /// Verify the server's certificate. On unless the user says `--no-verify-ssl`.
    pub verify: bool,
    /// PEM file with the certificates to trust instead of the system's.
    pub ca_bundle: Option<PathBuf>,
}

impl Default for TlsConfig {
    fn default() -> Self {
        Self { verify: true, ca_bundle: None }
    }
}

/// Proxies, as URLs (`HTTP_PROXY`, `HTTPS_PROXY`, `NO_PROXY`).
#[derive(Clone, Debug, Default)]
pub struct ProxyConfig {
    /// For `http://` endpoints.
    pub http: Option<String>,
    /// For `https://` endpoints.
    pub https: Option<String>,
    /// Hosts that are reached directly, comma separated.
    pub no_proxy: Option<String>,
}

/// Time limits.
#[derive(Clone, Copy, Debug)]
pub struct TimeoutConfig {
    /// To open a connection, TLS included.
    pub connect: Duration,
    /// Without a byte while one is due: the first byte of quick operations, and between the bytes
    /// of a body. Operations that may rightly be silent for long have their own limit.
    pub read: Duration,
}

impl Default for TimeoutConfig {
    fn default() -> Self {
        Self { connect: Duration::from_secs(10), read: Duration::from_secs(20) }
    }
}

/// Limits of retrying.
#[derive(Clone, Copy, Debug)]
pub struct RetryConfig {
    /// Attempts in all, at least 1.
    pub max_attempts: u32,
    /// No new attempt after this time.
    pub max_elapsed: Duration,
}

impl Default for RetryConfig {
    fn default() -> Self {
        Self { max_attempts: 10, max_elapsed: Duration::from_secs(180) }
    }
}

/// Settings of a client.
#[derive(Clone, Debug)]
pub struct ClientConfig {
    /// Where requests go.
    pub endpoint: EndpointConfig,
    /// Who signs them.
    pub credentials: CredentialsConfig,
    /// TLS.
    pub tls: TlsConfig,
    /// Proxies.
    pub proxy: ProxyConfig,
    /// Time limits.
    pub timeouts: TimeoutConfig,
    /// Limits of retrying.
    pub retry: RetryConfig,
    /// `payload_signing_enabled`: sign bodies also over https. Over http they always are.
    pub payload_signing: bool,
    /// `request_checksum_calculation`.
    pub request_checksums: ChecksumMode,
    /// `response_checksum_validation`.
    pub response_checksums: ChecksumMode,
    /// Send `x-amz-request-payer: requester`.
    pub request_payer: bool,
    /// Open connections at most, over all hosts.
    pub max_connections: usize,
    /// `User-Agent`.
    pub user_agent: String,
}

impl Default for ClientConfig {
    fn default() -> Self {
        Self {
            endpoint: EndpointConfig::default(),
            credentials: CredentialsConfig::default(),
            tls: TlsConfig::default(),
            proxy: ProxyConfig::default(),
            timeouts: TimeoutConfig::default(),
            retry: RetryConfig::default(),
            payload_signing: false,
            request_checksums: ChecksumMode::default(),
            response_checksums: ChecksumMode::default(),
            request_payer: false,
            max_connections: 1024,
            user_agent: concat!("s3haul/", env!("CARGO_PKG_VERSION")).to_owned(),
        }
    }
}

/// An S3 client; clones share connections, credentials and what was learned of buckets.
#[derive(Clone, Debug)]
pub struct Client {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    config: ClientConfig,
    #[expect(dead_code, reason = "contract stub")]
    env: Env,
}

impl Client {
    /// Makes a client. Opens no connection and fetches no credentials yet.
    pub fn new(config: ClientConfig, env: Env) -> Result<Self> {
        Ok(Self { inner: Arc::new(Inner { config, env }) })
    }

    /// The settings.
    pub fn config(&self) -> &ClientConfig {
        &self.inner.config
    }

    /// Sends a request with retries and gives its whole answer, which is a success (2xx without
    /// an error in its body). Bodies of answers are small here; more than 64 MiB is an error.
    pub(crate) async fn call(&self, _request: &Request<'_>) -> Result<Answer> {
        Err(Error::new(ErrorKind::Config, "not built yet"))
    }

    /// Sends a request with retries up to the headers of a successful answer and gives the body
    /// to read.
    pub(crate) async fn open(&self, _request: &Request<'_>) -> Result<OpenAnswer> {
        Err(Error::new(ErrorKind::Config, "not built yet"))
    }

    /// Digests that an upload with this client should bring along (computed where blocking is
    /// fine); `algorithm` is what the caller asked for by name.
    pub fn upload_digests(&self, algorithm: Option<ChecksumAlgorithm>) -> DigestPlan {
        let default = (self.inner.config.request_checksums == ChecksumMode::WhenSupported)
            .then_some(ChecksumAlgorithm::Crc64Nvme);
        DigestPlan { sha256: true, md5: false, checksum: algorithm.or(default) }
    }
}
