//! The wire: one async method of [`Client`] for each S3 operation.
//!
//! Owns signing, endpoints, connections, retries, checksums and the shapes of requests and
//! answers. Knows nothing of jobs, files or listings of more than one page. The layers inside:
//! `sign`, `checksum`, `xml`, `endpoint` and `retry` are pure; `pool`, `tls` and `proxy` open
//! connections; `client` runs one request to its end; `ops` says what each operation sends and
//! expects.

mod addresses;
mod admission;
mod answer;
mod attempt;
mod body;
mod checksum;
mod circuit;
mod client;
mod config;
mod connect;
mod connection;
mod counts;
mod credentials;
mod endpoint;
mod headers;
mod hedge;
mod ini;
mod list_layout;
mod list_page;
mod list_scan;
mod lock;
mod no_proxy;
pub mod ops;
mod payload;
mod pool;
mod profile;
mod properties;
mod proxy;
mod race;
mod redact;
mod request;
mod retry;
mod run;
mod sign;
mod site;
mod tls;
mod xml;

#[cfg(test)]
mod admission_tests;
#[cfg(test)]
mod client_tests;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod fuzzing;
#[cfg(test)]
mod race_tests;
#[cfg(test)]
mod secret_tests;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tls_tests;

pub use admission::Admission;
pub use body::BodyStream;
pub use checksum::{Checksum, ChecksumAlgorithm, ChecksumMode, Hasher};
pub use client::Client;
pub use config::{
    AddressingStyle, ClientConfig, CredentialsConfig, EndpointConfig, ProxyConfig, RetryConfig,
    TimeoutConfig, TlsConfig,
};
pub use lock::{LockMode, Retention};
pub use payload::{DigestPlan, Digests, Payload, SendProgress};
pub use profile::{ConfigFiles, Profile};
pub use properties::{CustomerKey, Encryption, Grant, ObjectHead, ObjectProperties};
