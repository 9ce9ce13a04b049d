//! One attempt of a request: it is built and signed, waits for its permit, goes over a connection,
//! and its answer is read. What to do about a failure is not decided here.

use std::borrow::Cow;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use bytes::Bytes;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, HOST, PROXY_AUTHORIZATION, USER_AGENT};
use http::response::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Response, StatusCode, Uri};
use hyper::body::Incoming;
use tokio::time::Instant;

use super::bucket_endpoint::Site;
use super::counts::Counters;
use super::failure::Failure;
use super::retry::Verdict;
use super::shared::Shared;
use super::watch::Watch;
use crate::credentials::cache::Held;
use crate::error::{Error, ErrorKind, Result};
use crate::limit::limiter::Permit;
use crate::message::answer::{self, Answer, Dialect, Doubt};
use crate::message::headers::{DECODED_LENGTH, TRAILER};
use crate::message::payload::{DigestPlan, Payload};
use crate::message::request::{Expects, Request};
use crate::net::body::{BodyStream, Collected, OpenAnswer};
use crate::net::circuit::SUBJECTS_MIN;
use crate::net::connection::{BUFFER_MAX, Broken, Notice, SendBody};
use crate::net::pool::{Host, Lease};
use crate::net::proxy;
use crate::sign::redact::Secrets;
use crate::sign::signature::{PayloadHash, encode_path, encode_query};
use crate::xml::document::{self, is_error_root, root_name};

/// SHA-256 of nothing.
const EMPTY_SHA256: [u8; 32] = [
    0xe3, 0xb0, 0xc4, 0x42, 0x98, 0xfc, 0x1c, 0x14, 0x9a, 0xfb, 0xf4, 0xc8, 0x99, 0x6f, 0xb9, 0x24,
    0x27, 0xae, 0x41, 0xe4, 0x64, 0x9b, 0x93, 0x4c, 0xa4, 0x95, 0x99, 0x1b, 0x78, 0x52, 0xb8, 0x55,
];
/// Headers that a request has beside the operation's own, with room for a few of those.
const HEADERS_TYPICAL: usize = 10;
/// Longest silence of an operation that may work for minutes before it answers.
const SLOW_SILENCE: Duration = Duration::from_mins(30);
/// Silence of such an operation that is worth a notice.
const SLOW_NOTICE: Duration = Duration::from_mins(1);
/// Longest body of an error answer that is read.
const ERROR_BODY_MAX: usize = 256 * 1024;
/// Bytes of an answer that is not believed which are read, to show its first words.
const FIRST_WORDS_MAX: usize = 1024;
/// Longest time without a byte of these.
const FIRST_WORDS_SILENCE: Duration = Duration::from_secs(2);
/// Longest time that these are read for: they may come one by one.
const FIRST_WORDS_TIME_MAX: Duration = Duration::from_secs(10);
/// Longest time that an error answer is read for.
const ERROR_BODY_TIME_MAX: Duration = Duration::from_mins(1);

const CONTENT_MD5: HeaderName = HeaderName::from_static("content-md5");
const REQUEST_PAYER: HeaderName = HeaderName::from_static("x-amz-request-payer");

/// A request on its way.
pub(crate) struct Run<'r> {
    pub(super) shared: &'r Shared,
    pub(super) request: &'r Request<'r>,
    payload: Cow<'r, Payload>,
    /// Shared with the caller, which may send a second request while this one is under way.
    pub(super) watch: Option<&'r Watch<'r>>,
    /// Set when it is not worth sending any more.
    halted: Option<&'r AtomicBool>,
    /// An address that it should not be sent to.
    avoid: Option<SocketAddr>,
    /// Where the next attempt goes, if not where the bucket's requests usually go.
    pub(super) site: Option<Arc<Site>>,
    /// Where the last attempt went, and with which credentials.
    pub(super) last: Option<(Arc<Site>, Option<Arc<Held>>)>,
    pub(super) started: Instant,
    /// Time that it waited for a permit, which does not count as time spent on retries.
    pub(super) waited: Duration,
    pub(super) attempts: u32,
    /// Requests sent once more over a new connection. They do not count against the limit, but
    /// the server may have carried out the first of them.
    pub(super) resends: u32,
    /// Requests that were sent, and whose answer did not come or not whole.
    pub(super) unanswered: u32,
    /// Each of these is done once: following a redirect, mending the clock, new credentials.
    pub(super) is_redirected: bool,
    pub(super) is_clock_mended: bool,
    pub(super) is_refreshed: bool,
}

impl<'r> Run<'r> {
    pub(crate) fn new(shared: &'r Shared, request: &'r Request<'r>) -> Self {
        Self {
            shared,
            request,
            payload: Cow::Borrowed(&request.payload),
            watch: None,
            halted: None,
            avoid: None,
            site: None,
            last: None,
            started: Instant::now(),
            waited: Duration::ZERO,
            attempts: 0,
            resends: 0,
            unanswered: 0,
            is_redirected: false,
            is_clock_mended: false,
            is_refreshed: false,
        }
    }

    /// Records in `watch` when and where the request is sent.
    pub(crate) fn watched(self, watch: Option<&'r Watch<'r>>) -> Self {
        Self { watch, ..self }
    }

    /// Fails unsent once the flag is set.
    pub(crate) fn halted_by(self, halted: Option<&'r AtomicBool>) -> Self {
        Self { halted, ..self }
    }

    fn refuse_halted(&self) -> Result<()> {
        if self.halted.is_some_and(|flag| flag.load(Ordering::Relaxed)) {
            return Err(Error::new(ErrorKind::Cancelled, "not tried: the job ended early"));
        }
        Ok(())
    }

    /// Is rather sent to another address than this one.
    pub(crate) fn away_from(self, avoid: Option<SocketAddr>) -> Self {
        Self { avoid, ..self }
    }

    fn silence(&self) -> Duration {
        if self.request.operation.slow { SLOW_SILENCE } else { self.shared.config.timeouts.read }
    }

    /// Sends the request once; a success is a 2xx status.
    pub(crate) async fn attempt(&mut self) -> Result<OpenAnswer, Failure> {
        self.refuse_halted()?;
        // Counted before anything can fail, or a request that cannot be made is tried for ever.
        self.attempts += 1;
        let held = self.shared.credentials.get().await?;
        let site = match &self.site {
            Some(site) => Arc::clone(site),
            None => self.shared.site(self.request.bucket, self.request.region_override)?,
        };
        self.digest(&site, held.is_some());
        self.last = Some((Arc::clone(&site), held.clone()));
        let (mut lease, response) = self.exchange(&site, held.as_deref()).await?;
        let (head, incoming) = response.into_parts();
        let mut permit = lease.permit.take();
        if head.status.is_success() {
            if let Some(permit) = &mut permit {
                permit.moved(self.payload.len());
            }
            lease.permit = permit.take();
        }
        let mut body = BodyStream::new(incoming, lease, &head.headers, self.silence());
        body.name(|| self.request.to_string());
        tracing::debug!(
            operation = self.request.operation.name,
            status = head.status.as_u16(),
            attempt = self.attempts,
            "answered"
        );
        if head.status.is_success() {
            return match self.request.operation.check_head(head.status, &head.headers) {
                Ok(belief) => {
                    let (status, headers) = (head.status, head.headers);
                    Ok(OpenAnswer { status, belief, headers, body })
                }
                Err(doubt) => Err(Box::pin(self.doubted(doubt, head, body)).await),
            };
        }
        // Boxed, as failures are few: each request in flight would have room for their bodies.
        Err(Box::pin(self.refused(&site, head, body, permit)).await)
    }

    /// The failure for a success that is none of S3's.
    async fn doubted(&self, doubt: Doubt, head: Parts, mut body: BodyStream) -> Failure {
        body.limit_silence(FIRST_WORDS_SILENCE);
        body.limit_time(FIRST_WORDS_TIME_MAX);
        let words = body.collect_while(FIRST_WORDS_MAX, |_| Some(true)).await;
        let words = words.map(|words| words.bytes).unwrap_or_default();
        self.disbelieve(doubt, head.status, &head.headers, &words)
    }

    /// The failure for an answer whose status is one.
    async fn refused(
        &self,
        site: &Site,
        head: Parts,
        mut body: BodyStream,
        permit: Option<Permit>,
    ) -> Failure {
        body.limit_time(ERROR_BODY_TIME_MAX);
        let text = body.collect(ERROR_BODY_MAX).await;
        if head.status == StatusCode::PROXY_AUTHENTICATION_REQUIRED
            && let Some(proxy) = &site.forwarder
        {
            return Failure::new(proxy::asks_for_password(proxy));
        }
        let operation = self.request.operation.name;
        let known = text.as_deref().unwrap_or_default();
        // A service without request IDs may refuse a condition without a document, too.
        let is_plain = known.is_empty() && site.host.dialect().may_be_unmarked() == Some(true);
        let is_foreign = answer::is_foreign_refusal(head.status, &head.headers, known);
        if text.is_ok() && is_foreign && !is_plain {
            return self.disbelieve(Doubt::NoMark, head.status, &head.headers, known);
        }
        if root_name(known).is_some_and(is_error_root) {
            site.host.dialect().learn(&head.headers);
        }
        let failure = Failure::answered(operation, head.status, &head.headers, known);
        let mut failure = failure.redacted(&self.secrets());
        if let Some(mut permit) = permit {
            note_refusal(&mut permit, &failure, &self.shared.counters);
        }
        if text.is_err_and(|error| is_cut_off(&error)) && failure.verdict == Verdict::Permanent {
            // What the server objects to was in the part that did not arrive, and may well pass.
            failure.verdict = Verdict::Transient;
        }
        failure
    }

    /// The failure for an answer that is not S3's, or for the error that it contains.
    pub(super) fn disbelieve(
        &self,
        doubt: Doubt,
        status: StatusCode,
        headers: &HeaderMap,
        body: &[u8],
    ) -> Failure {
        if document::parse_error(body).is_some() {
            let operation = self.request.operation.name;
            return Failure::answered(operation, status, headers, body).redacted(&self.secrets());
        }
        let endpoint = self.host().map(Host::shown).unwrap_or_default();
        let secrets = self.secrets();
        let error = answer::not_s3(&endpoint, doubt, status, headers, body, &secrets);
        Failure::new(error).redacted(&secrets)
    }

    /// Whether the last attempt was signed.
    fn is_signed(&self) -> bool {
        self.last.as_ref().is_some_and(|(_, held)| held.is_some())
    }

    /// Where the last attempt went.
    pub(super) fn host(&self) -> Option<&Host> {
        self.last.as_ref().map(|(site, _)| &*site.host)
    }

    /// What is known of the answers of the host of the last attempt.
    pub(crate) fn dialect(&self) -> Option<&Dialect> {
        self.host().map(Host::dialect)
    }

    /// What the request was signed with and what else it held that no message may show.
    fn secrets(&self) -> Secrets {
        let (site, held) =
            self.last.as_ref().map_or((None, None), |(site, held)| (Some(site), held.as_deref()));
        let mut secrets = held.map(Held::secrets).unwrap_or_default();
        let headers = self.request.headers.iter().map(|(name, value)| (name, value));
        secrets.add_headers(headers);
        let proxy = site.and_then(|site| site.forwarder.as_ref()?.authorization.as_ref());
        secrets.add_headers(proxy.into_iter().map(|value| (&PROXY_AUTHORIZATION, value)));
        secrets
    }

    /// Computes the digests that the payload lacks, once.
    fn digest(&mut self, site: &Site, is_signed: bool) {
        let payload = &self.request.payload;
        let is_bare = payload.is_empty() && self.request.checksum.is_none() && !self.request.md5;
        if is_bare || payload.as_streamed().is_some() {
            return;
        }
        let have = self.payload.digests();
        let is_hash_needed =
            is_signed && !self.request.payload.is_empty() && signs_payload(self.shared, site);
        let plan = DigestPlan {
            sha256: is_hash_needed && have.sha256.is_none(),
            md5: self.request.md5 && have.md5.is_none(),
            checksum: self.request.checksum.filter(|wanted| {
                have.checksum.as_ref().is_none_or(|checksum| checksum.algorithm != *wanted)
            }),
        };
        if plan != DigestPlan::default() {
            self.payload.to_mut().digest(plan);
        }
    }

    /// Sends the request over a connection. When a reused connection turns out to be dead, which
    /// says nothing of the request, it is sent once more over a new one.
    async fn exchange(
        &mut self,
        site: &Site,
        held: Option<&Held>,
    ) -> Result<(Lease, Response<Incoming>), Failure> {
        let mut is_fresh = false;
        let circuit = site.host.circuit();
        let (is_cleanup, was_open) = (self.request.operation.is_cleanup(), circuit.is_open());
        if !is_cleanup && !circuit.admits() {
            self.attempts -= 1;
            return Err(Failure::new(unanswered(site)));
        }
        let mut permit = self.shared.admission.enter(self.request).await;
        self.waited += permit.waited();
        // Nor is anything sent that waited for leave while the job ended.
        if let Err(error) = self.refuse_halted() {
            self.attempts -= 1;
            return Err(error.into());
        }
        // Earlier requests may have found out meanwhile that the host does not answer.
        if !is_cleanup && !was_open && !circuit.admits() {
            self.attempts -= 1;
            return Err(Failure::new(unanswered(site)));
        }
        permit.sending(self.request.operation.name);
        loop {
            let mut lease = self.shared.pool.checkout(&site.host, is_fresh, self.avoid).await?;
            if !lease.is_reused {
                permit.connected();
            }
            let sent = build(self.shared, self.request, &self.payload, site, held)?;
            self.shared.counters.note(self.request.operation, &self.request.method);
            let wake_after = self.watch.and_then(|watch| watch.sent(lease.connection.address()));
            let say = self.sayer(site);
            let notice = self.first_notice().map(|after| Notice { after, say: &say });
            let exchange = lease.connection.exchange(sent, self.silence(), wake_after, notice);
            let broken = match exchange.await {
                Ok(response) => {
                    circuit.note_answer();
                    site.host.note_life();
                    self.shared.env.waits.note_answer();
                    site.host.dialect().heard();
                    permit.answered(response.status(), self.payload.len());
                    lease.permit = Some(permit);
                    return Ok((lease, response));
                }
                Err(broken) => broken,
            };
            self.unanswered += 1;
            if let Some(error) = self.read_error() {
                return Err(Failure::new(error));
            }
            let error = match broken {
                Broken::Lost(Some(cause)) if cause.is_parse_too_large() => too_large(&lease, cause),
                Broken::Lost(_) if lease.is_reused && !is_fresh => {
                    (is_fresh, self.resends) = (true, self.resends + 1);
                    continue;
                }
                Broken::Lost(_) if lease.connection.speaks_tls() => speaks_tls(&lease),
                Broken::Lost(cause)
                    if !site.host.dialect().was_heard()
                        && speaks_no_http(&lease, cause.as_ref()) =>
                {
                    let greeting = lease.connection.greeting().unwrap_or_default();
                    answer::not_http(&lease.shown(), greeting, &self.secrets())
                }
                Broken::Lost(cause) => lost(&lease, cause),
                Broken::Early => early(&lease),
                Broken::Silent => {
                    circuit.note_stall(self.subject_hash(), self.silence());
                    silent(&lease)
                }
            };
            return Err(Failure::new(error));
        }
    }

    /// Why a body could not be read while it was sent.
    fn read_error(&self) -> Option<Error> {
        self.payload.as_streamed()?.take_error()
    }

    /// Silence before it is said what is being waited for.
    fn first_notice(&self) -> Option<Duration> {
        let slow = if self.request.operation.slow { SLOW_NOTICE } else { Duration::ZERO };
        let first = self.shared.env.waits.first_notice(self.silence())?;
        Some(first.max(slow))
    }

    /// Says that this attempt waits for its answer, unless others were answered meanwhile.
    fn sayer<'s>(&self, site: &'s Site) -> impl Fn(Duration) + Sync + use<'r, 's> {
        let (inner, request, attempt) = (self.shared, self.request, self.attempts);
        let seen = AtomicU64::new(inner.env.waits.answers());
        move |waited| {
            let answers = inner.env.waits.answers();
            if seen.swap(answers, Ordering::Relaxed) != answers {
                return;
            }
            let (host, of) = (site.host.shown(), inner.config.retry.max_attempts);
            let what = format!("an answer of {host} to {request} (attempt {attempt} of {of})");
            inner.env.waits.say(what, waited);
        }
    }

    /// Which object, or bucket, it is about.
    fn subject_hash(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        (self.request.bucket, self.request.key).hash(&mut hasher);
        hasher.finish()
    }

    /// Reads the rest of an answer, and finds the error that hides in a 200. A body that is not
    /// that of the operation is not read to its end.
    pub(crate) async fn read_whole(&self, mut open: OpenAnswer) -> Result<Answer, Failure> {
        let attempts = self.attempts + self.resends;
        let operation = &self.request.operation;
        let mut permit = if operation.error_in_200 { open.body.take_permit() } else { None };
        let limit = operation.body_max(self.request.keys);
        let may_become = |beginning: &[u8]| operation.may_become(beginning);
        let Collected { bytes: body, is_whole } =
            open.body.collect_while(limit, may_become).await?;
        let OpenAnswer { status, belief, headers, .. } = open;
        let doubt = match operation.check_body(&body) {
            Ok(()) if is_whole => None,
            Ok(()) => Some(Doubt::Length(limit)),
            Err(doubt) => Some(doubt),
        };
        if let Some(doubt) = doubt {
            let failure = self.disbelieve(doubt, status, &headers, &body);
            if let Some(permit) = &mut permit {
                note_refusal(permit, &failure, &self.shared.counters);
            }
            return Err(failure);
        }
        if let (Expects::Document(_), Some(host)) = (operation.expects, self.host()) {
            host.dialect().learn(&headers);
            if operation.is_listing() && self.is_signed() {
                self.shared.has_listed.store(true, Ordering::Relaxed);
            }
        }
        if let Some(permit) = &mut permit
            && refused_keys(&body) > self.request.keys as usize / 2
        {
            permit.throttled();
        }
        Ok(Answer { status, belief, headers, body, attempts, unanswered: self.unanswered })
    }
}

/// Puts a request into the form in which it is sent, signed for a site.
fn build(
    inner: &Shared,
    request: &Request<'_>,
    payload: &Payload,
    site: &Site,
    held: Option<&Held>,
) -> Result<http::Request<SendBody>> {
    let (target, path_length) = path_and_query(request, site);
    let mut headers = inner.spare_maps.take(HEADERS_TYPICAL + request.headers.len());
    headers.insert(HOST, site.host_header.clone());
    headers.insert(USER_AGENT, inner.user_agent.clone());
    for (name, value) in &request.headers {
        headers.append(name, value.clone());
    }
    add_payload_headers(request, payload, &mut headers);
    if inner.config.request_payer && request.bucket.is_some() {
        headers.insert(REQUEST_PAYER, HeaderValue::from_static("requester"));
    }
    if let Some(held) = held {
        let (path, query) = target.split_at(path_length);
        let hash = payload_hash(inner, payload, site);
        let query = query.strip_prefix('?').unwrap_or(query);
        let signer = site.signer(held);
        signer.sign(&request.method, path, query, &mut headers, hash, inner.now());
    }
    if let Some(value) = site.forwarder.as_ref().and_then(|proxy| proxy.authorization.as_ref()) {
        headers.insert(PROXY_AUTHORIZATION, value.clone());
    }
    let mut sent = http::Request::new(SendBody::new(payload));
    *sent.method_mut() = request.method.clone();
    *sent.uri_mut() = uri(target, site)?;
    *sent.headers_mut() = headers;
    Ok(sent)
}

/// The encoded path with the query, and the length of the path.
fn path_and_query(request: &Request<'_>, site: &Site) -> (String, usize) {
    let key_length = request.key.map_or(0, str::len);
    let mut target = String::with_capacity(site.target.path_prefix.len() + key_length + 64);
    target.push_str(&site.target.path_prefix);
    if let Some(key) = request.key {
        target.push('/');
        encode_path(key, &mut target);
    } else if target.is_empty() {
        target.push('/');
    }
    let path_length = target.len();
    if !request.query.is_empty() {
        let pairs: Vec<_> =
            request.query.iter().map(|(name, value)| (*name, value.as_ref())).collect();
        target.push('?');
        target.push_str(&encode_query(&pairs));
    }
    (target, path_length)
}

fn uri(target: String, site: &Site) -> Result<Uri> {
    let whole = match &site.absolute {
        Some(absolute) => format!("{absolute}{target}"),
        None => target,
    };
    Uri::from_maybe_shared(Bytes::from(whole)).map_err(|error| {
        Error::new(ErrorKind::Request, "the key does not fit into a URL").with_source(error)
    })
}

fn add_payload_headers(request: &Request<'_>, payload: &Payload, headers: &mut HeaderMap) {
    if request.method == Method::PUT || request.method == Method::POST || !payload.is_empty() {
        headers.insert(CONTENT_LENGTH, HeaderValue::from(payload.encoded_length()));
    }
    if let Some(streamed) = payload.as_streamed() {
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static("aws-chunked"));
        headers.insert(&DECODED_LENGTH, HeaderValue::from(payload.len()));
        headers.insert(&TRAILER, HeaderValue::from(streamed.algorithm.header().clone()));
    }
    let digests = payload.digests();
    if let (true, Some(md5)) = (request.md5, digests.md5)
        && let Ok(value) = HeaderValue::from_str(&BASE64.encode(md5))
    {
        headers.insert(CONTENT_MD5, value);
    }
    if let (Some(algorithm), Some(checksum)) = (request.checksum, &digests.checksum)
        && checksum.algorithm == algorithm
        && let Ok(value) = HeaderValue::from_str(&checksum.value)
    {
        headers.insert(algorithm.header(), value);
    }
}

/// Whether the signature must cover the body: always over plain http.
fn signs_payload(inner: &Shared, site: &Site) -> bool {
    !site.target.https || inner.config.payload_signing
}

fn payload_hash(inner: &Shared, payload: &Payload, site: &Site) -> PayloadHash {
    if payload.is_empty() {
        return PayloadHash::Sha256(EMPTY_SHA256);
    }
    if payload.as_streamed().is_some() {
        return PayloadHash::UnsignedTrailer;
    }
    match payload.digests().sha256 {
        Some(hash) if signs_payload(inner, site) => PayloadHash::Sha256(hash),
        _ => PayloadHash::Unsigned,
    }
}

/// Reports an error answer to the controller: that there was too much to do, or that the question
/// was answered.
fn note_refusal(permit: &mut Permit, failure: &Failure, counters: &Counters) {
    if failure.verdict == Verdict::Throttle || failure.error.code() == "RequestTimeout" {
        counters.note_refused();
        permit.throttled();
    } else if failure.verdict == Verdict::Permanent {
        permit.moved(0);
    }
}

/// Keys of a `DeleteObjects` that were refused because there was too much to do.
fn refused_keys(body: &[u8]) -> usize {
    memchr::memmem::find_iter(body, b"<Code>SlowDown</Code>").count()
}

/// Whether a body ended before its end.
pub(super) fn is_cut_off(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Transport | ErrorKind::Timeout)
}
fn unanswered(site: &Site) -> Error {
    let message = format!(
        "the endpoint does not answer: requests for {SUBJECTS_MIN} objects in a row timed out at \
         {}",
        site.host.shown()
    );
    Error::new(ErrorKind::Timeout, message)
}

fn lost(lease: &Lease, cause: Option<hyper::Error>) -> Error {
    let message = format!(
        "Connection was closed before we received a valid response from endpoint URL: {}",
        lease.shown()
    );
    let error = Error::new(ErrorKind::Transport, message);
    match cause {
        Some(cause) => error.with_source(cause),
        None => error,
    }
}

fn too_large(lease: &Lease, cause: hyper::Error) -> Error {
    let message = format!(
        "the server at {} sent more response headers than can be read (at most 100, {} KiB in \
         total)",
        lease.shown(),
        BUFFER_MAX / 1024
    );
    Error::new(ErrorKind::Server, message).with_source(cause)
}

fn early(lease: &Lease) -> Error {
    let shown = lease.shown();
    let message = format!("the server at {shown} answered before the whole request was sent");
    Error::new(ErrorKind::Transport, message)
}

/// Whether what came over a new connection is no HTTP, or HTTP that makes no sense.
fn speaks_no_http(lease: &Lease, cause: Option<&hyper::Error>) -> bool {
    lease.connection.greeting().is_some() || cause.is_some_and(hyper::Error::is_parse)
}

fn speaks_tls(lease: &Lease) -> Error {
    let message =
        format!("the server at {} speaks TLS: use https:// in the endpoint URL", lease.shown());
    Error::new(ErrorKind::Config, message)
}

fn silent(lease: &Lease) -> Error {
    Error::new(ErrorKind::Timeout, format!("Read timeout on endpoint URL: {}", lease.shown()))
}
