//! A request's way through its attempts: connection, answer, and what to do about a failure.

use std::borrow::Cow;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use http::header::PROXY_AUTHORIZATION;
use http::response::Parts;
use http::{HeaderMap, Method, Response, StatusCode};
use hyper::body::Incoming;
use tokio::time::{Instant, timeout};

use super::attempt::{self, Failure};
use super::retry::{self, Verdict};
use crate::credentials::cache::Held;
use crate::endpoint::{SplitUrl, is_amazon_s3};
use crate::error::{Effort, Error, ErrorKind, Result};
use crate::limit::limiter::Permit;
use crate::message::answer::Answer;
use crate::message::answer::{self, Dialect, Doubt};
use crate::message::payload::{DigestPlan, Payload};
use crate::message::request::Expects;
use crate::message::request::Request;
use crate::net::body::OpenAnswer;
use crate::net::body::{BodyStream, Collected};
use crate::net::circuit::SUBJECTS_MIN;
use crate::net::connection::{Broken, Notice};
use crate::net::pool::{Host, Lease};
use crate::net::proxy;
use crate::send::bucket_endpoint::{Site, Sites};
use crate::send::shared::Shared;
use crate::send::watch::Watch;
use crate::sign::redact::Secrets;
use crate::xml::document;
use crate::xml::document::{is_error_root, root_name};

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
/// Difference between the clocks from which a refused signature is blamed on it.
const SKEW_MIN: Duration = Duration::from_mins(4);

/// A request on its way.
pub(crate) struct Run<'r> {
    shared: &'r Shared,
    request: &'r Request<'r>,
    payload: Cow<'r, Payload>,
    /// Shared with the caller, which may send a second request while this one is under way.
    watch: Option<&'r Watch<'r>>,
    /// Set when it is not worth sending any more.
    halted: Option<&'r AtomicBool>,
    /// An address that it should not be sent to.
    avoid: Option<SocketAddr>,
    /// Where the next attempt goes, if not where the bucket's requests usually go.
    site: Option<Arc<Site>>,
    /// Where the last attempt went, and with which credentials.
    last: Option<(Arc<Site>, Option<Arc<Held>>)>,
    started: Instant,
    /// Time that it waited for a permit, which does not count as time spent on retries.
    waited: Duration,
    attempts: u32,
    /// Requests sent once more over a new connection. They do not count against the limit, but
    /// the server may have carried out the first of them.
    resends: u32,
    /// Each of these is done once: following a redirect, mending the clock, new credentials.
    is_redirected: bool,
    is_clock_mended: bool,
    is_refreshed: bool,
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
            is_redirected: false,
            is_clock_mended: false,
            is_refreshed: false,
        }
    }

    /// Records in `watch` when and where the request is sent.
    pub(crate) fn watched(self, watch: Option<&'r Watch<'r>>) -> Self {
        Self { watch, ..self }
    }

    /// What the clones of the client share.
    pub(crate) fn shared(&self) -> &'r Shared {
        self.shared
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
        let body = BodyStream::new(incoming, lease, &head.headers, self.silence());
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
        let words = body.collect_while(FIRST_WORDS_MAX, |_| Some(true));
        let words = timeout(FIRST_WORDS_TIME_MAX, words).await;
        let words = words.ok().and_then(Result::ok).map(|words| words.bytes).unwrap_or_default();
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
        let text = timeout(ERROR_BODY_TIME_MAX, body.collect(ERROR_BODY_MAX)).await;
        let text = text.unwrap_or_else(|_| {
            Err(Error::new(ErrorKind::Timeout, "the rest of an error did not come in time"))
        });
        if head.status == StatusCode::PROXY_AUTHENTICATION_REQUIRED
            && let Some(proxy) = &site.forwarder
        {
            return Failure::new(proxy::asks_for_password(proxy));
        }
        let operation = self.request.operation.name;
        let known = text.as_deref().unwrap_or_default();
        if text.is_ok() && answer::is_foreign_refusal(head.status, &head.headers, known) {
            return self.disbelieve(Doubt::NoMark, head.status, &head.headers, known);
        }
        if root_name(known).is_some_and(is_error_root) {
            site.host.dialect().learn(&head.headers);
        }
        let failure = Failure::answered(operation, head.status, &head.headers, known);
        let mut failure = failure.redacted(&self.secrets());
        if let Some(mut permit) = permit {
            note_refusal(&mut permit, &failure);
        }
        if text.is_err_and(|error| is_cut_off(&error)) && failure.verdict == Verdict::Permanent {
            // What the server objects to was in the part that did not arrive, and may well pass.
            failure.verdict = Verdict::Transient;
        }
        failure
    }

    /// The failure for an answer that is not S3's, or for the error that it contains.
    fn disbelieve(
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
    fn host(&self) -> Option<&Host> {
        self.last.as_ref().map(|(site, _)| &*site.host)
    }

    /// What is known of the answers of the host of the last attempt.
    pub(crate) fn dialect(&self) -> Option<&Dialect> {
        self.host().map(Host::dialect)
    }

    /// The final error for an answer that nothing vouches for.
    pub(crate) fn unmarked(&self, status: StatusCode, headers: &HeaderMap, body: &[u8]) -> Error {
        let failure = self.disbelieve(Doubt::NoMark, status, headers, body);
        self.finish(failure.error, self.started.elapsed())
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
        if self.request.payload.is_empty() && self.request.checksum.is_none() && !self.request.md5 {
            return;
        }
        let have = self.payload.digests();
        let is_hash_needed = is_signed
            && !self.request.payload.is_empty()
            && attempt::signs_payload(self.shared, site);
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
        let permit = self.shared.admission.enter(self.request).await;
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
        loop {
            let mut lease = self.shared.pool.checkout(&site.host, is_fresh, self.avoid).await?;
            let sent = attempt::build(self.shared, self.request, &self.payload, site, held)?;
            self.shared.counters.note(self.request.operation, &self.request.method);
            let wake_after = self.watch.and_then(|watch| watch.sent(lease.connection.address()));
            let say = self.sayer(site);
            let notice = self.first_notice().map(|after| Notice { after, say: &say });
            let exchange = lease.connection.exchange(sent, self.silence(), wake_after, notice);
            let error = match exchange.await {
                Ok(response) => {
                    circuit.note_answer();
                    self.shared.env.waits.note_answer();
                    site.host.dialect().heard();
                    lease.permit = Some(permit);
                    return Ok((lease, response));
                }
                Err(Broken::Lost(_)) if lease.is_reused && !is_fresh => {
                    is_fresh = true;
                    self.resends += 1;
                    continue;
                }
                Err(Broken::Lost(_)) if lease.connection.speaks_tls() => speaks_tls(&lease),
                Err(Broken::Lost(cause))
                    if !site.host.dialect().was_heard()
                        && speaks_no_http(&lease, cause.as_ref()) =>
                {
                    let greeting = lease.connection.greeting().unwrap_or_default();
                    answer::not_http(&lease.shown(), greeting, &self.secrets())
                }
                Err(Broken::Lost(cause)) => lost(&lease, cause),
                Err(Broken::Silent) => {
                    circuit.note_stall(self.subject_hash(), self.silence());
                    silent(&lease)
                }
            };
            return Err(Failure::new(error));
        }
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
            let subject = match (request.bucket, request.key) {
                (Some(bucket), Some(key)) => format!(" s3://{bucket}/{key}"),
                (Some(bucket), None) => format!(" s3://{bucket}"),
                _ => String::new(),
            };
            let (name, of) = (request.operation.name, inner.config.retry.max_attempts);
            let what = format!(
                "an answer of {} to {name}{subject} (attempt {attempt} of {of})",
                site.host.shown()
            );
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
                note_refusal(permit, &failure);
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
        Ok(Answer { status, belief, headers, body, attempts })
    }

    /// Makes the next attempt possible, waiting where that is due, or gives the final error.
    pub(crate) async fn recover(&mut self, failure: Failure) -> Result<()> {
        if self.redirect(&failure) || self.mend_clock(&failure) || self.refresh(&failure) {
            self.attempts -= 1;
            return Ok(());
        }
        let elapsed = self.started.elapsed().saturating_sub(self.waited);
        let verdict = self.verdict(&failure);
        let delay = retry::next_delay(
            &self.shared.config.retry,
            verdict,
            self.attempts,
            elapsed,
            failure.asked,
            self.shared.env.random_f64(),
        );
        tracing::debug!(
            operation = self.request.operation.name,
            attempt = self.attempts,
            kind = ?failure.error.kind(),
            code = failure.error.code(),
            delay_ms = delay.map(|delay| u64::try_from(delay.as_millis()).unwrap_or(u64::MAX)),
            "attempt failed"
        );
        if let Some(delay) = delay {
            let is_refused = verdict == Verdict::Throttle;
            let _rest = is_refused.then(|| self.shared.admission.rest());
            tokio::time::sleep(delay).await;
            return Ok(());
        }
        // A port that accepts connections and never answers is as good as none.
        let was_heard = self.host().is_some_and(|host| host.dialect().was_heard());
        let verdict = if was_heard { verdict } else { Verdict::Unreached };
        let is_down = retry::is_endpoint_down(verdict, failure.error.kind());
        let error = self.finish(failure.error, elapsed);
        Err(if is_down { error.with_endpoint_down() } else { error })
    }

    /// What the failure asks for, which depends on whether the host was ever reached, and still is.
    fn verdict(&self, failure: &Failure) -> Verdict {
        let host = self.last.as_ref().map(|(site, _)| &site.host);
        match (failure.verdict, host) {
            (Verdict::Transient, Some(host)) if host.is_gone() => Verdict::Permanent,
            (Verdict::Transient, Some(host)) if host.circuit().is_open() => Verdict::Permanent,
            (Verdict::Transient, Some(host)) if !host.was_reached() => Verdict::Unreached,
            (verdict, _) => verdict,
        }
    }

    fn finish(&self, error: Error, elapsed: Duration) -> Error {
        let error = error
            .with_operation(self.request.operation.name)
            .with_effort(Effort { attempts: self.attempts + self.resends, elapsed });
        match (self.request.bucket, self.request.key) {
            (Some(bucket), Some(key)) => error.with_subject(format_args!("s3://{bucket}/{key}")),
            (Some(bucket), None) => error.with_subject(format_args!("s3://{bucket}")),
            _ => error,
        }
    }

    /// Follows the server to the bucket's region, and remembers it.
    fn redirect(&mut self, failure: &Failure) -> bool {
        let Some(bucket) = self.request.bucket else { return false };
        if self.is_redirected || self.request.region_override.is_some() {
            return false;
        }
        let Some(site) = self.redirected_site(bucket, failure) else { return false };
        tracing::debug!(bucket, region = site.target.region, "redirected");
        self.is_redirected = true;
        true
    }

    fn redirected_site(&mut self, bucket: &str, failure: &Failure) -> Option<Arc<Site>> {
        let service = failure.error.service_error()?;
        let (present, _) = self.last.as_ref()?;
        let is_head = self.request.method == Method::HEAD;
        let is_redirect = match service.status {
            301 | 302 | 307 | 308 => true,
            400 => is_head || failure.error.kind() == ErrorKind::WrongRegion,
            403 => is_head,
            _ => false,
        };
        if !is_redirect {
            return None;
        }
        let (config, pool) = (&self.shared.config, &self.shared.pool);
        if let Some(region) = &service.region
            && *region != present.target.region
        {
            let site = Sites::resolve(config, pool, Some(bucket), region).ok()?;
            self.shared.sites.remember(bucket, Arc::clone(&site));
            return Some(site);
        }
        let location = SplitUrl::parse(failure.location.as_deref()?)?;
        if !is_trusted(present, &location) {
            return None;
        }
        let site = Sites::elsewhere(config, pool, present, location.host, location.port).ok()?;
        self.site = Some(Arc::clone(&site));
        Some(site)
    }

    /// Takes over the server's clock when a signature was refused and the clocks differ.
    fn mend_clock(&mut self, failure: &Failure) -> bool {
        let Some(date) = failure.date else { return false };
        let is_suspect = match failure.error.code() {
            "RequestTimeTooSkewed" => true,
            "RequestExpired"
            | "RequestInTheFuture"
            | "SignatureDoesNotMatch"
            | "InvalidSignatureException"
            | "AuthFailure"
            | "403" => {
                let now = self.shared.now();
                let apart = now.duration_since(date).unwrap_or_else(|error| error.duration());
                apart > SKEW_MIN
            }
            _ => false,
        };
        if !is_suspect || self.is_clock_mended {
            return false;
        }
        self.is_clock_mended = true;
        self.shared.set_clock(date);
        true
    }

    /// Asks for new credentials when the server calls the present ones expired.
    fn refresh(&mut self, failure: &Failure) -> bool {
        let is_expired = matches!(failure.error.code(), "ExpiredToken" | "TokenRefreshRequired");
        let Some((_, Some(held))) = &self.last else { return false };
        if !is_expired || self.is_refreshed {
            return false;
        }
        self.is_refreshed = true;
        self.shared.credentials.expire(held.generation)
    }
}

/// Reports an error answer to the controller: that there was too much to do, or that the question
/// was answered.
fn note_refusal(permit: &mut Permit, failure: &Failure) {
    if failure.verdict == Verdict::Throttle || failure.error.code() == "RequestTimeout" {
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
fn is_cut_off(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Transport | ErrorKind::Timeout)
}

/// A redirect to another host is followed among Amazon's names of S3 and within the custom
/// endpoint's only, and never from https to http.
fn is_trusted(present: &Site, location: &SplitUrl) -> bool {
    let same_scheme = location.https == present.target.https;
    let is_within = |host: &str, domain: &str| {
        host == domain || host.strip_suffix(domain).is_some_and(|rest| rest.ends_with('.'))
    };
    let amazon = is_amazon_s3(&present.target.host) && is_amazon_s3(&location.host);
    same_scheme && (amazon || is_within(&location.host, &present.target.host))
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
