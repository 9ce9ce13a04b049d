//! The client: settings, shared state, and the loop that runs one request to its end.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64};
use std::time::{SystemTime, UNIX_EPOCH};

use http::HeaderValue;
use http::header::ETAG;
use tokio::sync::Semaphore;

use super::config::{ClientConfig, CredentialsConfig};
use super::endpoint::{self, DEFAULT_REGION};
use crate::credentials::cache::CredentialsCache;
use crate::env::Env;
use crate::error::{Error, ErrorKind, Result};
use crate::limit::limiter::Admission;
use crate::message::answer::Answer;
use crate::message::answer::{Belief, Dialect, Doubt, not_s3};
use crate::message::checksum::{ChecksumAlgorithm, ChecksumMode};
use crate::message::headers::SpareMaps;
use crate::message::payload::DigestPlan;
use crate::message::request::Request;
use crate::net::body::OpenAnswer;
use crate::net::connect::Dialer;
use crate::net::pool::Pool;
use crate::net::tls::Tls;
use crate::send::attempt::Failure;
use crate::send::bucket_endpoint::Sites;
use crate::send::counts::Counters;
use crate::send::hedge::Hedging;
use crate::send::hedged_request::{attempt, heed};
use crate::send::retry_loop::Run;
use crate::send::shared::Shared;
use crate::send::watch::Watch;
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
    pub(crate) signer: Arc<Signer>,
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
            clock_offset_ms,
        };
        Ok(Self { inner: Arc::new(inner), room: None, halted: None })
    }

    /// The settings.
    pub fn config(&self) -> &ClientConfig {
        &self.inner.config
    }

    /// How many requests it is worth making at once.
    pub fn requests_wanted(&self) -> usize {
        self.inner.admission.requests_wanted()
    }

    /// Requests sent so far by this client and its clones, each attempt by itself.
    pub fn requests_sent(&self) -> RequestCounts {
        self.inner.counters.counts()
    }

    /// Whether another client is a clone of this one.
    pub fn is_clone_of(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner)
    }

    /// Region that requests are sent to where nothing else is known of the bucket.
    pub fn region(&self) -> &str {
        self.inner.config.endpoint.region.as_deref().unwrap_or(DEFAULT_REGION)
    }

    /// Sends a request with retries and gives its whole answer, which is a success (2xx without
    /// an error in its body) and S3's. A body that is longer than the operation's ever is, or
    /// another document, is an error.
    pub(crate) async fn call(&self, request: &Request<'_>) -> Result<Answer> {
        let watch = self.watch(request);
        let mut run =
            Run::new(&self.inner, request).watched(watch.as_ref()).halted_by(self.halting(request));
        loop {
            let result = match attempt(&mut run, request, watch.as_ref(), self.room.as_ref()).await
            {
                Ok(open) => run.read_whole(open).await,
                Err(failure) => Err(failure),
            };
            match result {
                Ok(answer) if answer.belief == Belief::Unmarked => {
                    return Box::pin(self.vouched(run, request, answer)).await;
                }
                Ok(answer) => return Ok(answer),
                Err(failure) => self.recover(&mut run, failure).await?,
            }
        }
    }

    /// An answer without a mark of S3, where the host is known for such answers.
    async fn vouched(&self, run: Run<'_>, request: &Request<'_>, answer: Answer) -> Result<Answer> {
        if self.may_be_unmarked(&run, request).await {
            return Ok(answer);
        }
        Err(run.unmarked(answer.status, &answer.headers, &answer.body))
    }

    /// Whether the host of a request is known to answer without marks. If nothing is known of the
    /// host, a document is requested from it first; requests that end at the same time share this
    /// request.
    async fn may_be_unmarked(&self, run: &Run<'_>, request: &Request<'_>) -> bool {
        let (Some(dialect), Some(bucket)) = (run.dialect(), request.bucket) else { return false };
        let _asking = match dialect.may_be_unmarked() {
            Some(known) => return known,
            None => dialect.asking().acquire().await,
        };
        if dialect.may_be_unmarked().is_none() {
            let location = Request::location(bucket);
            let mut asking = Run::new(&self.inner, &location);
            if let Ok(open) = asking.attempt().await {
                // What it learned of the host is what counts.
                drop(asking.read_whole(open).await);
            }
        }
        dialect.may_be_unmarked() == Some(true)
    }

    /// The error for an answer that is not what it should be inside.
    pub(super) fn disbelieve(&self, request: &Request<'_>, answer: &Answer, doubt: Doubt) -> Error {
        let site = self.inner.site(request.bucket, request.region_override);
        let endpoint = site.map(|site| site.host.shown()).unwrap_or_default();
        let Answer { status, headers, body, .. } = answer;
        not_s3(&endpoint, doubt, *status, headers, body, &self.inner.secrets())
    }

    /// Sends a request with retries up to the headers of a successful answer and gives the body
    /// to read. An answer with the `ETag` that the object is known to have needs no other proof.
    pub(crate) async fn open(
        &self,
        request: &Request<'_>,
        known_etag: Option<&str>,
    ) -> Result<OpenAnswer> {
        let watch = self.watch(request);
        let mut run =
            Run::new(&self.inner, request).watched(watch.as_ref()).halted_by(self.halting(request));
        loop {
            match attempt(&mut run, request, watch.as_ref(), self.room.as_ref()).await {
                Ok(open) if open.belief == Belief::Sure || has_etag(&open, known_etag) => {
                    return Ok(open);
                }
                Ok(open) => {
                    let known = run.dialect().and_then(Dialect::may_be_unmarked);
                    if known == Some(true) {
                        return Ok(open);
                    }
                    let OpenAnswer { status, headers, body, .. } = open;
                    // Its connection may be what the question is waiting for.
                    drop(body);
                    if !Box::pin(self.may_be_unmarked(&run, request)).await {
                        return Err(run.unmarked(status, &headers, &[]));
                    }
                }
                Err(failure) => self.recover(&mut run, failure).await?,
            }
        }
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

    /// The flag that ends a request which was not sent yet.
    fn halting(&self, request: &Request<'_>) -> Option<&AtomicBool> {
        let halted = self.halted.as_deref()?;
        let is_exempt = request.operation.is_listing() || request.operation.is_cleanup();
        (!is_exempt).then_some(halted)
    }

    async fn recover(&self, run: &mut Run<'_>, failure: Failure) -> Result<()> {
        if let Some(hedging) = &self.inner.hedging {
            heed(hedging, &failure);
        }
        run.recover(failure).await
    }

    fn watch(&self, request: &Request<'_>) -> Option<Watch<'_>> {
        Watch::of(request, self.inner.hedging.as_ref()?)
    }

    /// What a presigned URL is made of.
    pub(crate) async fn presign_parts(&self, bucket: &str, key: &str) -> Result<PresignParts> {
        let site = self.inner.site(Some(bucket), None)?;
        let held = self.inner.credentials.get().await?.ok_or_else(|| {
            Error::new(ErrorKind::Credentials, "anonymous requests cannot be presigned")
        })?;
        let mut path = site.target.path_prefix.clone();
        path.push('/');
        encode_path(key, &mut path);
        Ok(PresignParts {
            scheme: if site.target.https { "https" } else { "http" },
            host: site.target.authority(),
            path,
            signer: site.signer(&held),
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
}

/// Whether an answer is about the object that is known by this `ETag`.
fn has_etag(open: &OpenAnswer, known: Option<&str>) -> bool {
    let told = open.headers.get(ETAG).map(HeaderValue::as_bytes);
    known.is_some_and(|known| !known.is_empty() && told == Some(known.as_bytes()))
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::new(error)
    }
}

#[cfg(test)]
mod tests;
