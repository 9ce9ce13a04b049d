//! The client: settings and shared state. How a request is sent is in [`crate::send`].

use std::sync::atomic::{AtomicBool, AtomicI64};
use std::sync::{Arc, OnceLock};
use std::time::{SystemTime, UNIX_EPOCH};

use http::HeaderValue;
use tokio::sync::Semaphore;

use super::config::{ClientConfig, CredentialsConfig};
use super::endpoint::{self, DEFAULT_REGION};
use crate::credentials::cache::CredentialsCache;
use crate::env::Env;
use crate::error::{Error, ErrorKind, Result};
use crate::limit::limiter::Admission;
use crate::message::checksum::{ChecksumAlgorithm, ChecksumMode};
use crate::message::headers::SpareMaps;
use crate::message::payload::DigestPlan;
use crate::net::connect::Dialer;
use crate::net::pool::Pool;
use crate::net::tls::Tls;
use crate::send::bucket_endpoint::Sites;
use crate::send::counts::Counters;
use crate::send::hedge::Hedging;
use crate::send::shared::Shared;
use crate::sign::signature::{Signer, encode_path};
use crate::units::RequestCounts;

/// An S3 client; clones share connections, credentials and what was learned of buckets.
#[derive(Clone, Debug)]
pub struct Client {
    pub(super) inner: Arc<Shared>,
    /// Where second requests take their permits.
    pub(super) room: Option<Arc<Semaphore>>,
    /// Set when the job that it belongs to ended early: objects are not worth requests any more.
    pub(super) halted: Option<Arc<AtomicBool>>,
}

/// What a presigned URL is made of.
#[derive(Debug)]
pub(crate) struct PresignParts {
    pub(crate) scheme: &'static str,
    /// Host with port, as in the URL.
    pub(crate) host: String,
    /// Path in canonical encoding.
    pub(crate) path: String,
    /// None for requests without a signature.
    pub(crate) signer: Option<Arc<Signer>>,
    pub(crate) now: SystemTime,
}

impl Client {
    /// Seconds since 1970, by the server's clock as far as it is known.
    pub fn now_s(&self) -> i64 {
        let since = self.inner.now().duration_since(UNIX_EPOCH).unwrap_or_default();
        i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
    }

    /// Makes a client. Opens no connection and fetches no credentials yet; an endpoint that is no
    /// URL is refused, and a bundle of certificates that cannot be used where there is TLS.
    pub fn new(config: ClientConfig, env: Env) -> Result<Self> {
        let admission = Admission::new(config.load);
        Self::with_admission(config, env, admission)
    }

    /// The same with bounds of requests that it has in common with others; those of its own
    /// settings do not count.
    pub fn with_admission(config: ClientConfig, env: Env, admission: Admission) -> Result<Self> {
        endpoint::check(&config.endpoint)?;
        if !config.is_plain() {
            Tls::check(&config.tls)?;
        }
        let user_agent = HeaderValue::from_str(&config.user_agent).map_err(|error| {
            Error::new(ErrorKind::Config, "the user agent cannot be sent").with_source(error)
        })?;
        let dialer = Dialer {
            env: env.clone(),
            tls: Tls::new(config.tls.clone()),
            connect_timeout: config.timeouts.connect,
        };
        let pool = Pool::new(dialer, config.max_connections);
        let credentials = CredentialsCache::new(&config, &env);
        let (sites, clock_offset_ms) = (Sites::default(), AtomicI64::new(0));
        let (counters, hedging) = (Counters::default(), config.hedging.then(Hedging::new));
        let inner = Shared {
            config,
            env,
            pool,
            admission,
            credentials,
            sites,
            user_agent,
            counters,
            spare_maps: SpareMaps::default(),
            hedging,
            has_listed: Arc::default(),
            takes_trailers: OnceLock::new(),
            clock_offset_ms,
        };
        Ok(Self { inner: Arc::new(inner), room: None, halted: None })
    }

    /// The settings.
    pub fn config(&self) -> &ClientConfig {
        &self.inner.config
    }

    /// Its bounds of requests, and what it has learnt of the service's.
    pub fn admission(&self) -> &Admission {
        &self.inner.admission
    }

    /// How many requests it is worth making at once.
    pub fn requests_wanted(&self) -> usize {
        self.inner.admission.requests_wanted()
    }

    /// Ends when [`Self::requests_wanted`] has grown although no request has been answered yet,
    /// which may never be. `None` once that has been found out.
    pub fn grown_early(&self) -> Option<impl Future<Output = ()> + Send + '_> {
        self.inner.admission.grown_early()
    }

    /// Requests sent so far by this client and its clones, each attempt by itself.
    pub fn requests_sent(&self) -> RequestCounts {
        self.inner.counters.counts()
    }

    /// Requests among them that the service refused because there were too many.
    pub fn requests_refused(&self) -> u64 {
        self.inner.counters.refused()
    }

    /// Whether another client is a clone of this one.
    pub fn is_clone_of(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner)
    }

    /// Region that requests are sent to where nothing else is known of the bucket.
    pub fn region(&self) -> &str {
        self.inner.config.endpoint.region.as_deref().unwrap_or(DEFAULT_REGION)
    }

    /// A clone whose second requests take a permit each, of those that bound the requests of a
    /// job.
    #[must_use]
    pub fn within(&self, room: Arc<Semaphore>) -> Self {
        Self { room: Some(room), ..self.clone() }
    }

    /// A clone whose requests, but for listings and what cleans up, fail once the flag is set.
    #[must_use]
    pub fn halted_by(self, flag: Arc<AtomicBool>) -> Self {
        Self { halted: Some(flag), ..self }
    }

    /// A clone whose requests are sent also after that: what is half done is finished.
    #[must_use]
    pub fn unhalted(&self) -> Self {
        Self { halted: None, ..self.clone() }
    }

    /// Set once a signed listing was answered.
    pub fn has_listed(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.inner.has_listed)
    }

    /// What a presigned URL is made of.
    pub(crate) async fn presign_parts(&self, bucket: &str, key: &str) -> Result<PresignParts> {
        let site = self.inner.site(Some(bucket), None)?;
        let held = self.inner.credentials.get().await?;
        let mut path = site.target.path_prefix.clone();
        path.push('/');
        encode_path(key, &mut path);
        Ok(PresignParts {
            scheme: if site.target.https { "https" } else { "http" },
            host: site.target.authority(),
            path,
            signer: held.map(|held| site.signer(&held)),
            now: self.inner.now(),
        })
    }

    /// Digests that an upload with this client should bring along (computed where blocking is
    /// fine); `algorithm` is what the caller asked for by name.
    pub fn upload_digests(&self, algorithm: Option<ChecksumAlgorithm>) -> DigestPlan {
        let config = &self.inner.config;
        let default = (config.request_checksums == ChecksumMode::WhenSupported)
            .then_some(ChecksumAlgorithm::Crc64Nvme);
        let is_signed = !matches!(config.credentials, CredentialsConfig::Anonymous);
        let sha256 = is_signed && (config.is_plain() || config.payload_signing);
        DigestPlan { sha256, md5: false, checksum: algorithm.or(default) }
    }

    /// The checksum with which parts of an upload may be read while they are sent
    /// ([`Payload::streamed`](crate::Payload::streamed)): over TLS, where no signature covers their
    /// bytes, unless the service was seen not to take it behind a body. SHA-1 and SHA-256, which
    /// take longer than the encryption, are not made by the threads that send.
    pub fn streams_parts(&self, plan: DigestPlan) -> Option<ChecksumAlgorithm> {
        let config = &self.inner.config;
        let is_signed = !matches!(config.credentials, CredentialsConfig::Anonymous);
        let may = is_signed && !config.is_plain() && !config.payload_signing;
        let is_refused = self.inner.takes_trailers.get() == Some(&false);
        plan.checksum.filter(|algorithm| may && !is_refused && algorithm.is_combinable())
    }

    /// Whether the service was seen to take a checksum behind a body, so that parts that are read
    /// while they are sent ([`Self::streams_parts`]) are not sent from memory after all.
    pub fn takes_trailers(&self) -> bool {
        self.inner.takes_trailers.get() == Some(&true)
    }
}

#[cfg(test)]
mod tests;
