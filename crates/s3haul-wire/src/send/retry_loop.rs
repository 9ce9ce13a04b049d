//! The loop around a request: attempts until an answer is believed or a failure is final, and what
//! each failure changes before the next attempt. [`super::retry`] decides whether there is one.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use http::header::ETAG;
use http::{HeaderMap, HeaderValue, Method, StatusCode};

use super::attempt::{Run, is_cut_off};
use super::bucket_endpoint::{Site, Sites};
use super::failure::Failure;
use super::hedged_request::{attempt, heed};
use super::retry::{self, Verdict};
use super::watch::Watch;
use crate::client::Client;
use crate::endpoint::{SplitUrl, is_amazon_s3};
use crate::error::{Effort, Error, ErrorKind, Result};
use crate::message::answer::{Answer, Belief, Dialect, Doubt, not_s3};
use crate::message::request::Request;
use crate::net::body::OpenAnswer;

/// Difference between the clocks from which a refused signature is blamed on it.
const SKEW_MIN: Duration = Duration::from_mins(4);

impl Client {
    /// Sends a request with retries and gives its whole answer, which is a success (2xx without
    /// an error in its body) and S3's. A body that is longer than the operation's ever is, or
    /// another document, is an error.
    pub(crate) async fn call(&self, request: &Request<'_>) -> Result<Answer> {
        // Each function that waits for this one moves its future: unboxed, 55 KiB for an upload.
        Box::pin(self.call_unboxed(request)).await
    }

    async fn call_unboxed(&self, request: &Request<'_>) -> Result<Answer> {
        let watch = self.watch(request);
        let mut run =
            Run::new(&self.inner, request).watched(watch.as_ref()).halted_by(self.halting(request));
        loop {
            let result = match attempt(&mut run, self.room.as_ref()).await {
                Ok(open) => run.read_whole(open).await.inspect_err(|failure| {
                    run.unanswered += u32::from(is_cut_off(&failure.error));
                }),
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

    /// Sends a request with retries up to the headers of a successful answer and gives the body
    /// to read. An answer with the `ETag` that the object is known to have needs no other proof.
    pub(crate) async fn open(
        &self,
        request: &Request<'_>,
        known_etag: Option<&str>,
    ) -> Result<OpenAnswer> {
        Box::pin(self.open_unboxed(request, known_etag)).await
    }

    async fn open_unboxed(
        &self,
        request: &Request<'_>,
        known_etag: Option<&str>,
    ) -> Result<OpenAnswer> {
        let watch = self.watch(request);
        let mut run =
            Run::new(&self.inner, request).watched(watch.as_ref()).halted_by(self.halting(request));
        loop {
            match attempt(&mut run, self.room.as_ref()).await {
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
    pub(crate) fn disbelieve(&self, request: &Request<'_>, answer: &Answer, doubt: Doubt) -> Error {
        let site = self.inner.site(request.bucket, request.region_override);
        let endpoint = site.map(|site| site.host.shown()).unwrap_or_default();
        let Answer { status, headers, body, .. } = answer;
        not_s3(&endpoint, doubt, *status, headers, body, &self.inner.secrets())
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
}

/// Whether an answer is about the object that is known by this `ETag`.
fn has_etag(open: &OpenAnswer, known: Option<&str>) -> bool {
    let told = open.headers.get(ETAG).map(HeaderValue::as_bytes);
    known.is_some_and(|known| !known.is_empty() && told == Some(known.as_bytes()))
}

impl Run<'_> {
    /// The final error for an answer that nothing vouches for.
    pub(crate) fn unmarked(&self, status: StatusCode, headers: &HeaderMap, body: &[u8]) -> Error {
        let failure = self.disbelieve(Doubt::NoMark, status, headers, body);
        self.finish(failure.error, self.started.elapsed())
    }

    /// Makes the next attempt possible, waiting where that is due, or gives the final error.
    pub(crate) async fn recover(&mut self, failure: Failure) -> Result<()> {
        if self.redirect(&failure) || self.mend_clock(&failure) || self.refresh(&failure).await {
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
            self.request.operation.slow && failure.error.kind() == ErrorKind::Timeout,
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
            if let Some(meter) = self.shared.admission.meter() {
                meter.retried();
            }
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
        let (attempts, unanswered) = (self.attempts + self.resends, self.unanswered);
        let effort = Effort { attempts, unanswered, elapsed };
        self.request.blamed(error).with_effort(effort)
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

    /// Asks for new credentials when the server calls the present ones expired, or may have: the
    /// answer to a HEAD has no code.
    async fn refresh(&mut self, failure: &Failure) -> bool {
        let Some((_, Some(held))) = &self.last else { return false };
        if self.is_refreshed {
            return false;
        }
        let (credentials, is_head) =
            (&self.shared.credentials, self.request.method == Method::HEAD);
        match failure.error.code() {
            "ExpiredToken" | "TokenRefreshRequired" => {
                self.is_refreshed = true;
                credentials.expire(held.generation)
            }
            "400" if is_head && held.credentials.session_token.is_some() => {
                self.is_refreshed = true;
                credentials.replace(held.generation).await
            }
            _ => false,
        }
    }
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
