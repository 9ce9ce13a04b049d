//! The bytes of an answer as they come.
//!
//! Ends with an error if the connection ends early, nothing arrives for the read timeout, next to
//! nothing arrives for far longer, or the checksum does not match. The connection goes back to the
//! pool with the last byte.

use std::task::{Context, Poll};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::header::CONTENT_LENGTH;
use http::{HeaderMap, StatusCode};
use http_body::Body as _;
use hyper::body::Incoming;
use tokio::time::Instant;

use super::pool::Lease;
use crate::env::Waits;
use crate::error::{Error, ErrorKind, Result};
use crate::limit::limiter::Permit;
use crate::message::answer::Belief;
use crate::message::checksum::{Checksum, Hasher};
use crate::message::headers;

/// The bytes of an answer as they come.
#[derive(Debug)]
pub struct BodyStream {
    source: Option<Source>,
    expected: Option<u64>,
    received: u64,
    silence: Duration,
    pace: Pace,
    /// When it began to wait for the next byte.
    since: Option<Instant>,
    /// Since the last byte.
    silent: Option<Waiting>,
    /// Since the last [`Pace::bytes_min`] bytes.
    slow: Option<Waiting>,
    /// The operation and the object or bucket, for notices.
    subject: Option<Box<str>>,
    validation: Option<Box<Validation>>,
}

/// Slowest way in which a body may come: so many bytes within any such time.
#[derive(Clone, Copy, Debug)]
struct Pace {
    bytes_min: u64,
    time_max: Duration,
}

/// Bytes below which [`TRICKLE_TIME`] has brought nothing to speak of: three packets.
const TRICKLE_BYTES: u64 = 4 * 1024;
/// Time in which fewer than [`TRICKLE_BYTES`] bytes mean that the connection is as good as dead:
/// 14 bytes/s, which a modem shared by a hundred requests exceeds. The AWS CRT cuts below 1 byte/s
/// for 30 s, `curl` where `--speed-limit` says so: what is only slow is never cut. Operations that
/// may work for minutes send blanks meanwhile: they have the time of their silence.
const TRICKLE_TIME: Duration = Duration::from_mins(5);
/// Time of such slowness that is worth a notice.
const TRICKLE_NOTICE: Duration = Duration::from_mins(1);

/// A body that was read into memory.
#[derive(Debug)]
pub(crate) struct Collected {
    pub(crate) bytes: Bytes,
    /// Whether these are all of its bytes.
    pub(crate) is_whole: bool,
}

impl Collected {
    fn whole(bytes: Bytes) -> Self {
        Self { bytes, is_whole: true }
    }
}

/// A wait for more bytes.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    /// Time waited before the present byte. What the reader takes for its own work is no wait.
    before: Duration,
    /// Bytes that had come when it began.
    received: u64,
    /// Time after which a notice is due; `None` without a listener.
    notice_after: Option<Duration>,
    /// Answers to other requests that were seen then.
    answers: u64,
}

impl Waiting {
    fn begin(waits: &Waits, received: u64, notice_after: Option<Duration>) -> Self {
        Self { before: Duration::ZERO, received, notice_after, answers: waits.answers() }
    }

    /// How much longer it waits until it has waited for `time`.
    fn left(&self, time: Duration) -> Duration {
        time.saturating_sub(self.before)
    }

    /// The time waited, if a notice of it is due after `waited`, unless other requests were
    /// answered meanwhile.
    fn notice(&mut self, waited: Duration, waits: &Waits) -> Option<Duration> {
        let after = self.notice_after.filter(|after| self.left(*after) <= waited)?;
        self.notice_after = Some(Waits::next_notice(after));
        let answers = waits.answers();
        (std::mem::replace(&mut self.answers, answers) == answers).then_some(after)
    }
}

/// An answer whose body is still coming.
#[derive(Debug)]
pub(crate) struct OpenAnswer {
    pub(crate) status: StatusCode,
    pub(crate) belief: Belief,
    pub(crate) headers: HeaderMap,
    pub(crate) body: BodyStream,
}

/// Room that a body gets at once because it was announced.
const CAPACITY_MAX: usize = 8 * 1024 * 1024;

/// The checksum that the whole body must have, and that of what came so far.
struct Validation {
    expected: Checksum,
    hasher: Hasher,
}

impl std::fmt::Debug for Validation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.expected.fmt(f)
    }
}

#[derive(Debug)]
struct Source {
    incoming: Incoming,
    lease: Lease,
}

/// Whether a body that broke with this error had brought enough to be gone on with as if nothing
/// had failed before. Where a time limit ended it a few bytes do not count: a server that trickles
/// would never be given up.
pub fn is_progress(error: &Error, brought: u64) -> bool {
    let bytes_min = if error.kind() == ErrorKind::Timeout { TRICKLE_BYTES } else { 1 };
    brought >= bytes_min
}

impl BodyStream {
    /// The body of an answer that came over a lease.
    pub(crate) fn new(
        incoming: Incoming,
        lease: Lease,
        headers: &HeaderMap,
        silence: Duration,
    ) -> Self {
        // Nothing follows for an empty body, or for a HEAD, whose `Content-Length` is that of
        // another body.
        let is_over = incoming.is_end_stream();
        let expected = if is_over { None } else { headers::number(headers, &CONTENT_LENGTH) };
        let mut body = Self {
            source: Some(Source { incoming, lease }),
            expected,
            received: 0,
            silence,
            pace: Pace { bytes_min: TRICKLE_BYTES, time_max: TRICKLE_TIME.max(silence) },
            since: None,
            silent: None,
            slow: None,
            subject: None,
            validation: None,
        };
        if is_over {
            body.release();
        }
        body
    }

    /// Bounds the time without a byte, where the client's own limit is not stricter.
    pub fn limit_silence(&mut self, silence_max: Duration) {
        self.silence = self.silence.min(silence_max);
    }

    /// Bounds the time for the whole body, however its bytes come.
    pub(crate) fn limit_time(&mut self, time_max: Duration) {
        self.pace = Pace { bytes_min: u64::MAX, time_max };
    }

    /// Has notices name the request, where there are any and more is to come.
    pub(crate) fn name(&mut self, subject: impl FnOnce() -> String) {
        let source = self.source.as_ref();
        if source.is_some_and(|source| source.lease.waits().has_listener()) {
            self.subject = Some(subject().into_boxed_str());
        }
    }

    /// Lets the body end with an error if its bytes do not have this checksum. To be called before
    /// the first byte is read.
    pub fn validate(&mut self, expected: Checksum) {
        let hasher = Hasher::new(expected.algorithm);
        self.validation = Some(Box::new(Validation { expected, hasher }));
    }

    /// Takes the permit of the request, for the caller that reports how the request ended.
    pub(crate) fn take_permit(&mut self) -> Option<Permit> {
        self.source.as_mut()?.lease.permit.take()
    }

    /// The next piece; `None` at the end. Cancel-safe.
    pub async fn next(&mut self) -> Option<Result<Bytes>> {
        std::future::poll_fn(|cx| self.poll_next(cx)).await
    }

    /// Reads the rest into one buffer; more than `limit` bytes are an error. A body that came in
    /// one piece is not copied. Each other piece is let go before the next is read, so that the
    /// connection reads on into the same memory.
    pub async fn collect(&mut self, limit: usize) -> Result<Bytes> {
        let Collected { bytes, is_whole } = self.collect_while(limit, |_| Some(true)).await?;
        if is_whole {
            return Ok(bytes);
        }
        let message = format!("the response is longer than {limit} bytes");
        Err(Error::new(ErrorKind::Integrity, message))
    }

    /// The same, which ends the connection and gives the beginning where the rest is more than
    /// `limit` bytes, or is not wanted: `is_wanted` judges what came so far, until it can say.
    pub(crate) async fn collect_while(
        &mut self,
        limit: usize,
        mut is_wanted: impl FnMut(&[u8]) -> Option<bool>,
    ) -> Result<Collected> {
        let Some(first) = self.next().await else { return Ok(Collected::whole(Bytes::new())) };
        let mut piece = first?;
        if self.source.is_none() && piece.len() <= limit {
            return Ok(Collected::whole(piece));
        }
        let known = self.expected.and_then(|length| usize::try_from(length).ok()).unwrap_or(0);
        let mut whole = BytesMut::with_capacity(known.min(limit).min(CAPACITY_MAX));
        let mut is_judged = false;
        loop {
            let room = limit - whole.len();
            let is_more = piece.len() > room;
            whole.extend_from_slice(&piece[..piece.len().min(room)]);
            let verdict = if is_judged { Some(true) } else { is_wanted(&whole) };
            is_judged = verdict.is_some();
            if verdict == Some(false) || is_more {
                (self.source, self.validation) = (None, None);
                return Ok(Collected { bytes: whole.freeze(), is_whole: false });
            }
            drop(piece);
            match self.next().await {
                Some(next) => piece = next?,
                None => return Ok(Collected::whole(whole.freeze())),
            }
        }
    }

    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes>>> {
        loop {
            let Some(source) = &mut self.source else {
                return Poll::Ready(self.verify().err().map(Err));
            };
            match source.lease.connection.poll_body(cx, &mut source.incoming) {
                Poll::Ready(Some(Ok(frame))) => {
                    self.waited();
                    let Ok(piece) = frame.into_data() else { continue };
                    return Poll::Ready(Some(self.take(piece)));
                }
                Poll::Ready(Some(Err(error))) => {
                    return Poll::Ready(Some(Err(self.broken(Some(error)))));
                }
                Poll::Ready(None) => return Poll::Ready(self.end()),
                Poll::Pending => {
                    return self.poll_limits(cx).map(|why| Some(Err(self.stalled(&why))));
                }
            }
        }
    }

    /// Becomes ready with the reason when too little came for too long. That it waits is said
    /// before.
    fn poll_limits(&mut self, cx: &mut Context<'_>) -> Poll<String> {
        let Some(source) = &mut self.source else { return Poll::Ready(String::new()) };
        let waits = source.lease.waits();
        let begin = |notice_after| Waiting::begin(waits, self.received, notice_after);
        let silent = self.silent.get_or_insert_with(|| begin(waits.first_notice(self.silence)));
        let slow = self.slow.get_or_insert_with(|| {
            begin(waits.first_notice(self.pace.time_max).map(|first| first.max(TRICKLE_NOTICE)))
        });
        let since = *self.since.get_or_insert_with(Instant::now);
        let end = self.silence.min(slow.left(self.pace.time_max));
        loop {
            let next = [&*silent, &*slow].map(|waiting| Some(waiting.left(waiting.notice_after?)));
            let at = next.into_iter().flatten().fold(end, Duration::min);
            if source.lease.connection.poll_deadline(cx, since + at).is_pending() {
                return Poll::Pending;
            }
            if at == end {
                break;
            }
            let waits = source.lease.waits();
            let due = [&mut *silent, &mut *slow].map(|waiting| waiting.notice(at, waits));
            if let Some(waited) = due.into_iter().flatten().max() {
                let came = came(self.received, self.expected);
                let (host, subject) = (source.lease.shown(), self.subject.as_deref());
                let to = subject.map(|subject| format!(" to {subject}")).unwrap_or_default();
                waits
                    .say(format_args!("the rest of an answer of {host}{to} ({came} came)"), waited);
            }
        }
        Poll::Ready(if end == self.silence {
            format!("no byte for {} s after {} bytes", self.silence.as_secs(), self.received)
        } else {
            let (new, seconds) = (self.received - slow.received, self.pace.time_max.as_secs());
            format!("only {new} bytes in {seconds} s, {}", came(self.received, self.expected))
        })
    }

    /// A wait for the next byte ended.
    fn waited(&mut self) {
        self.silent = None;
        if let (Some(since), Some(slow)) = (self.since.take(), &mut self.slow) {
            slow.before += since.elapsed();
        }
    }

    fn take(&mut self, piece: Bytes) -> Result<Bytes> {
        self.received += piece.len() as u64;
        self.slow.take_if(|slow| self.received - slow.received >= self.pace.bytes_min);
        if let Some(validation) = &mut self.validation {
            validation.hasher.update(&piece);
        }
        if self.source.as_ref().is_some_and(|source| source.incoming.is_end_stream()) {
            self.release();
            // The last piece is not given out if it makes a wrong whole.
            self.verify()?;
        }
        Ok(piece)
    }

    fn release(&mut self) {
        if let Some(mut source) = self.source.take() {
            drop(source.incoming);
            if let Some(permit) = &mut source.lease.permit {
                permit.moved(self.received);
            }
            source.lease.release();
        }
    }

    fn end(&mut self) -> Option<Result<Bytes>> {
        if self.expected.is_some_and(|expected| expected != self.received) {
            return Some(Err(self.broken(None)));
        }
        self.release();
        self.verify().err().map(Err)
    }

    fn verify(&mut self) -> Result<()> {
        let Some(validation) = self.validation.take() else { return Ok(()) };
        let Validation { expected, hasher } = *validation;
        let found = hasher.finish();
        if found == expected {
            return Ok(());
        }
        let message = format!(
            "the checksum of the bytes received ({}) is not the object's ({})",
            found.value, expected.value
        );
        Err(Error::new(ErrorKind::Integrity, message))
    }

    fn broken(&mut self, cause: Option<hyper::Error>) -> Error {
        (self.source, self.validation) = (None, None);
        let message = format!("connection ended after {}", came(self.received, self.expected));
        let error = Error::new(ErrorKind::Transport, message);
        match cause {
            Some(cause) => error.with_source(cause),
            None => error,
        }
    }

    fn stalled(&mut self, why: &str) -> Error {
        let endpoint = self.source.take().map(|source| source.lease.shown()).unwrap_or_default();
        self.validation = None;
        let message = format!("Read timeout on endpoint URL: {endpoint} ({why})");
        Error::new(ErrorKind::Timeout, message)
    }
}

/// How much of a body came.
fn came(received: u64, expected: Option<u64>) -> String {
    match expected {
        Some(expected) => format!("{received} of {expected} bytes"),
        None => format!("{received} bytes"),
    }
}
