//! Settings of a client: plain values, read from nowhere.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::limit::controller::Bounds;
use crate::message::checksum::ChecksumMode;

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

/// Where requests go. `Debug` never shows the user and password that a URL may hold.
#[derive(Clone, Default, PartialEq, Eq)]
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

impl std::fmt::Debug for EndpointConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EndpointConfig")
            .field("url", &self.shown_url())
            .field("region", &self.region)
            .field("addressing", &self.addressing)
            .field("dualstack", &self.dualstack)
            .field("fips", &self.fips)
            .field("accelerate", &self.accelerate)
            .finish()
    }
}

impl EndpointConfig {
    /// The URL as it may be shown: what follows the user and password that it may have.
    pub fn shown_url(&self) -> Option<&str> {
        self.url.as_deref().map(without_user)
    }
}

/// What follows the user and password of a URL, or all of it where it has none.
pub(super) fn without_user(url: &str) -> &str {
    url.rsplit_once('@').map_or(url, |(_, host)| host)
}

/// Where credentials come from.
#[derive(Clone, Default, PartialEq, Eq)]
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
    /// Asked of the program whenever they are needed.
    Function(CredentialsFunction),
    /// Requests are not signed.
    Anonymous,
}

/// A function that returns credentials as `credential_process` prints them: JSON with `Version`,
/// `AccessKeyId`, `SecretAccessKey` and perhaps `SessionToken` and `Expiration`, or why there are
/// none. It may block. Two are equal if they are clones.
///
/// <https://docs.aws.amazon.com/sdkref/latest/guide/feature-process-credentials.html>
#[derive(Clone)]
pub struct CredentialsFunction(pub(crate) Arc<dyn Fn() -> Result<Vec<u8>, String> + Send + Sync>);

impl CredentialsFunction {
    /// Wraps a function.
    pub fn new(function: impl Fn() -> Result<Vec<u8>, String> + Send + Sync + 'static) -> Self {
        Self(Arc::new(function))
    }
}

impl PartialEq for CredentialsFunction {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for CredentialsFunction {}

impl std::fmt::Debug for CredentialsConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Chain => "Chain",
            Self::Profile(_) => "Profile",
            Self::Static { .. } => "Static(******)",
            Self::Function(_) => "Function",
            Self::Anonymous => "Anonymous",
        })
    }
}

/// TLS settings.
#[derive(Clone, Debug, PartialEq, Eq)]
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

/// Proxies, as URLs (`HTTP_PROXY`, `HTTPS_PROXY`, `NO_PROXY`). `Debug` never shows the user and
/// password that they may hold.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct ProxyConfig {
    /// For `http://` endpoints.
    pub http: Option<String>,
    /// For `https://` endpoints.
    pub https: Option<String>,
    /// Hosts, addresses and networks that are reached directly, comma separated.
    pub no_proxy: Option<String>,
}

impl std::fmt::Debug for ProxyConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ProxyConfig")
            .field("http", &self.http.as_deref().map(without_user))
            .field("https", &self.https.as_deref().map(without_user))
            .field("no_proxy", &self.no_proxy)
            .finish()
    }
}

/// Time limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryConfig {
    /// Attempts in all, at least 1.
    pub max_attempts: u32,
    /// No new attempt after this time, except the second and the third.
    pub max_elapsed: Duration,
}

impl Default for RetryConfig {
    fn default() -> Self {
        Self { max_attempts: 10, max_elapsed: Duration::from_mins(3) }
    }
}

/// Settings of a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientConfig {
    /// Where requests go.
    pub endpoint: EndpointConfig,
    /// Credentials that sign them.
    pub credentials: CredentialsConfig,
    /// Stands for the variables that credentials are looked up with, where a program may change
    /// them: clients of the old ones keep what they found.
    pub credentials_key: u64,
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
    /// Send a second request where one takes far longer than others of its kind.
    pub hedging: bool,
    /// Send `x-amz-request-payer: requester`.
    pub request_payer: bool,
    /// How many requests at once, and how many a second.
    pub load: Bounds,
    /// Open connections at most, over all hosts.
    pub max_connections: usize,
    /// `User-Agent`.
    pub user_agent: String,
}

impl ClientConfig {
    /// Whether the endpoint speaks plain http.
    pub fn is_plain(&self) -> bool {
        let url = self.endpoint.url.as_deref().unwrap_or_default();
        url.trim_start().get(..7).is_some_and(|scheme| scheme.eq_ignore_ascii_case("http://"))
    }
}

impl Default for ClientConfig {
    fn default() -> Self {
        Self {
            endpoint: EndpointConfig::default(),
            credentials: CredentialsConfig::default(),
            credentials_key: 0,
            tls: TlsConfig::default(),
            proxy: ProxyConfig::default(),
            timeouts: TimeoutConfig::default(),
            retry: RetryConfig::default(),
            payload_signing: false,
            request_checksums: ChecksumMode::default(),
            response_checksums: ChecksumMode::default(),
            hedging: true,
            request_payer: false,
            load: Bounds::default(),
            max_connections: 1024,
            user_agent: concat!("s3haul/", env!("CARGO_PKG_VERSION")).to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_within_urls_are_not_shown() {
        let url = Some("http://user:p%40ss@store.test:9000/base".to_owned());
        let endpoint = EndpointConfig { url: url.clone(), ..EndpointConfig::default() };
        let proxy = ProxyConfig { http: url, ..ProxyConfig::default() };
        let shown = format!("{:?}", ClientConfig { endpoint, proxy, ..ClientConfig::default() });
        assert_eq!(shown.matches("store.test:9000/base").count(), 2, "{shown}");
        assert!(!shown.contains("user:") && !shown.contains("p%40ss"), "{shown}");
    }
}
