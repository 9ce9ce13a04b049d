//! Where requests go, the name of the profile that signs them, and how many there may be.

use std::num::{NonZeroU32, NonZeroU64};
use std::path::PathBuf;

use serde::de::Error as _;
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{is_default, is_true};

/// The services that hold the source and the target. A local side needs none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Services {
    /// The service of the source.
    #[serde(skip_serializing_if = "is_default")]
    pub source: Service,
    /// The service of the target.
    #[serde(skip_serializing_if = "is_default")]
    pub target: Service,
}

/// An S3 service and how it is spoken to. By default Amazon S3, with credentials of the
/// environment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Service {
    /// Requests are sent to this URL instead of Amazon's. It may not hold a user or a password.
    #[serde(skip_serializing_if = "is_default")]
    pub endpoint_url: Option<EndpointUrl>,
    /// The region. Without it, that of the bucket is found.
    #[serde(skip_serializing_if = "is_default")]
    pub region: Option<String>,
    /// Where the credentials are found.
    #[serde(skip_serializing_if = "is_default")]
    pub credentials: Credentials,
    /// Where the bucket is named in a URL.
    #[serde(skip_serializing_if = "is_default")]
    pub addressing: Addressing,
    /// Endpoints of Amazon for IPv6 are used.
    #[serde(skip_serializing_if = "is_default")]
    pub dualstack: bool,
    /// Endpoints of Amazon that conform to FIPS are used.
    #[serde(skip_serializing_if = "is_default")]
    pub fips: bool,
    /// S3 Transfer Acceleration is used.
    #[serde(skip_serializing_if = "is_default")]
    pub accelerate: bool,
    /// Certificates are verified.
    #[serde(skip_serializing_if = "is_true")]
    pub verify_tls: bool,
    /// Certificates are verified with the authorities in this PEM file.
    #[serde(skip_serializing_if = "is_default")]
    pub ca_bundle: Option<PathBuf>,
    /// Seconds for a connection to be made; 0 for no limit.
    #[serde(skip_serializing_if = "is_default")]
    pub connect_timeout_s: Option<u64>,
    /// Seconds without a byte of an answer; 0 for no limit.
    #[serde(skip_serializing_if = "is_default")]
    pub read_timeout_s: Option<u64>,
    /// Attempts for a request.
    #[serde(skip_serializing_if = "is_default")]
    pub max_attempts: Option<NonZeroU32>,
    /// A second request is sent where one takes far longer than others of its kind.
    #[serde(skip_serializing_if = "is_true")]
    pub hedging: bool,
    /// Bodies are signed also over https.
    #[serde(skip_serializing_if = "is_default")]
    pub payload_signing: bool,
    /// When requests carry a checksum.
    #[serde(skip_serializing_if = "is_default")]
    pub request_checksums: Checksums,
    /// When checksums of answers are verified.
    #[serde(skip_serializing_if = "is_default")]
    pub response_checksums: Checksums,
    /// The requester accepts being charged.
    #[serde(skip_serializing_if = "is_default")]
    pub request_payer: bool,
}

impl Default for Service {
    fn default() -> Self {
        Self {
            endpoint_url: None,
            region: None,
            credentials: Credentials::default(),
            addressing: Addressing::default(),
            dualstack: false,
            fips: false,
            accelerate: false,
            verify_tls: true,
            ca_bundle: None,
            connect_timeout_s: None,
            read_timeout_s: None,
            max_attempts: None,
            hedging: true,
            payload_signing: false,
            request_checksums: Checksums::default(),
            response_checksums: Checksums::default(),
            request_payer: false,
        }
    }
}

/// The URL of a service. One with a user or a password can be used, but neither written nor read
/// as a part of a job, and `Debug` does not show these.
#[derive(Clone, PartialEq, Eq)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct EndpointUrl(String);

/// Why a URL is no part of a job.
const HAS_USER: &str = "the endpoint URL holds a user or a password, and a job must not hold \
    secrets: name a profile or use the environment for credentials";

impl EndpointUrl {
    /// The URL.
    pub fn new(url: impl Into<String>) -> Self {
        Self(url.into())
    }

    /// Its text, with what is secret.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// What follows the user and password, and whether there are any.
    fn without_user(&self) -> (&str, bool) {
        let authority = self.0.split_once("://").map_or(self.0.as_str(), |(_, rest)| rest);
        authority.rsplit_once('@').map_or((&self.0, false), |(_, rest)| (rest, true))
    }
}

impl std::fmt::Debug for EndpointUrl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (shown, has_user) = self.without_user();
        f.write_str(if has_user { "******@" } else { "" })?;
        f.write_str(shown)
    }
}

impl Serialize for EndpointUrl {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.without_user().1 {
            Err(S::Error::custom(HAS_USER))
        } else {
            self.0.serialize(serializer)
        }
    }
}

impl<'de> Deserialize<'de> for EndpointUrl {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let url = Self(String::deserialize(deserializer)?);
        if url.without_user().1 { Err(D::Error::custom(HAS_USER)) } else { Ok(url) }
    }
}

/// Where credentials are found. They are never a part of a job.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum Credentials {
    /// In the environment of the process that runs the job: variables, profiles, SSO, containers
    /// and instance metadata, in the order of the AWS tools.
    #[default]
    Environment,
    /// In the profile of this name.
    Profile(String),
    /// Requests are not signed.
    Anonymous,
}

/// Where the bucket is named in a URL.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum Addressing {
    /// In the host's name where that is possible and the endpoint is Amazon's, else in the path.
    #[default]
    Auto,
    /// In the host's name.
    Virtual,
    /// In the path.
    Path,
}

/// When checksums are used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum Checksums {
    /// Wherever the operation supports them.
    #[default]
    WhenSupported,
    /// Only where the operation demands them.
    WhenRequired,
}

/// Limits on requests, bandwidth and memory. What is absent has its default; the open files and
/// the memory of the process that runs the job may set lower ones.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Limits {
    /// Requests in flight.
    #[serde(skip_serializing_if = "is_default")]
    pub max_concurrent_requests: Option<NonZeroU32>,
    /// Requests a second.
    #[serde(skip_serializing_if = "is_default")]
    pub max_requests_per_second: Option<NonZeroU32>,
    /// Whether the number of requests in flight is adapted to what they are worth.
    #[serde(skip_serializing_if = "is_default")]
    pub adaptive_requests: Option<bool>,
    /// Bytes a second.
    #[serde(skip_serializing_if = "is_default")]
    pub max_bandwidth: Option<NonZeroU64>,
    /// Bytes of memory that the process may use.
    #[serde(skip_serializing_if = "is_default")]
    pub max_memory: Option<NonZeroU64>,
    /// Planned actions that wait.
    #[serde(skip_serializing_if = "is_default")]
    pub max_queue_size: Option<NonZeroU64>,
    /// Objects of this size in bytes and more are transferred in parts.
    #[serde(skip_serializing_if = "is_default")]
    pub multipart_threshold: Option<NonZeroU64>,
    /// Size of a part in bytes.
    #[serde(skip_serializing_if = "is_default")]
    pub multipart_chunksize: Option<NonZeroU64>,
}
