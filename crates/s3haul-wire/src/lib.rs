//! S3 over HTTP: one async method of [`Client`] for each operation.
//!
//! Owns signing, endpoints, connections, retries, checksums and the shapes of requests and answers.
//! Knows nothing of jobs, files or listings of more than one page. Its modules, each of which uses
//! only those above it; `client`, `config`, `error`, `env`, `quirks` and `units` stand beside
//! them:
//!
//! | module | what is in it |
//! |---|---|
//! | `sign`, `xml` | signatures and secrets; documents and pages of listings |
//! | `message` | headers, payloads, checksums, what makes an answer believable |
//! | `limit` | how many requests at once and per second |
//! | `net` | connections, TLS, proxies, the pool, bodies |
//! | `credentials` | the files in `~/.aws` and the other sources |
//! | `send` | a request from its first attempt to its last |
//! | [`ops`] | what each operation sends and expects |

mod client;
mod config;
mod credentials;
mod endpoint;
pub mod env;
pub mod error;
#[doc(hidden)]
#[cfg(any(test, feature = "fuzzing"))]
pub mod fuzzing;
mod limit;
mod message;
mod net;
pub mod ops;
pub mod quirks;
mod send;
mod sign;
#[doc(hidden)]
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod units;
mod xml;

pub use client::Client;
pub use config::{
    AddressingStyle, ClientConfig, CredentialsConfig, CredentialsFunction, EndpointConfig,
    ProxyConfig, RetryConfig, TimeoutConfig, TlsConfig,
};
pub use credentials::cache::instance_region;
pub use credentials::profile::{ConfigFiles, Profile};
pub use error::{Error, ErrorKind, Result};
pub use limit::controller;
pub use limit::limiter::{Admission, AdmissionLoad};
pub use limit::meter;
pub use message::checksum::{Checksum, ChecksumAlgorithm, ChecksumMode, Hasher};
pub use message::payload::{DigestPlan, Digests, Payload, SendProgress};
pub use message::properties::{CustomerKey, Encryption, Grant, ObjectHead, ObjectProperties};
pub use message::retention::{LockMode, Retention};
pub use message::streamed::PayloadSource;
pub use net::body::{BodyStream, is_progress};
pub use net::fetch::Fetcher;
