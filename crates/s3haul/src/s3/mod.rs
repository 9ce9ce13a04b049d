//! The wire: one async method of [`Client`] for each S3 operation.
//!
//! Owns signing, endpoints, connections, retries, checksums and the shapes of requests and
//! answers. Knows nothing of jobs, files or listings of more than one page. The layers inside:
//! `sign`, `checksum`, `xml`, `endpoint` and `retry` are pure; `pool`, `tls` and `proxy` open
//! connections; `client` runs one request to its end; `ops` says what each operation sends and
//! expects.

mod checksum;
mod client;
mod headers;
mod list_page;
mod list_scan;
pub mod ops;
mod payload;
mod properties;
mod request;
mod sign;
mod xml;

pub use checksum::{Checksum, ChecksumAlgorithm, ChecksumMode, Hasher};
pub use client::{
    AddressingStyle, Client, ClientConfig, CredentialsConfig, EndpointConfig, ProxyConfig,
    RetryConfig, TimeoutConfig, TlsConfig,
};
pub use payload::{DigestPlan, Digests, Payload};
pub use properties::{CustomerKey, Encryption, Grant, ObjectHead, ObjectProperties};
