//! Bodies as the connection sees them: counted, limited in time and size, and spoiled by weather.

use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use tokio::time::{Instant, Sleep, sleep};

use crate::clock::Clock;
use crate::ledger::{Ending, Ledger};
use crate::weather::Effect;

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Why a body ended early; also what makes hyper drop a connection without an answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Interrupted {
    #[error("the weather cut the connection")]
    Weather,
    #[error("RequestTimeout: the body stopped arriving")]
    Timeout,
    #[error("EntityTooLarge: the body is larger than this server accepts")]
    TooLarge,
}

/// What the server and a request's body share.
#[derive(Default)]
pub(crate) struct Intake {
    read: AtomicU64,
    /// The body broke off.
    is_broken: AtomicBool,
    /// The body, when its reader went away before the end.
    rest: Mutex<Option<Incoming>>,
}

impl Intake {
    pub(crate) fn bytes_read(&self) -> u64 {
        self.read.load(Ordering::Relaxed)
    }

    /// Whether the body broke off before its end.
    pub(crate) fn is_broken(&self) -> bool {
        self.is_broken.load(Ordering::Relaxed)
    }

    /// The unread rest of the body.
    pub(crate) fn take_rest(&self) -> Option<Incoming> {
        self.rest.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Least bytes of a body that must come within one body timeout: a client that sends a trickle
/// cannot hold a connection open.
const DRIBBLE_BYTES_MIN: u64 = 4096;

/// A request's body.
pub(crate) struct RequestBody {
    inner: Option<Incoming>,
    intake: Arc<Intake>,
    bytes_max: u64,
    patience: Duration,
    /// What is left of the patience; whole again whenever enough has come.
    left: Duration,
    /// Bytes that came since it was whole.
    come: u64,
    alarm: Option<Pin<Box<Sleep>>>,
    /// Since when the reader waits. Time in which no reader waited does not count.
    waiting: Option<Instant>,
}

impl RequestBody {
    pub(crate) fn new(
        inner: Incoming,
        intake: Arc<Intake>,
        bytes_max: u64,
        patience: Duration,
    ) -> Self {
        let (left, come, alarm, waiting) = (patience, 0, None, None);
        Self { inner: Some(inner), intake, bytes_max, patience, left, come, alarm, waiting }
    }

    /// Fires when too little has come for as long as the patience lasts.
    fn poll_alarm(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let left = self.left;
        let alarm = self.alarm.get_or_insert_with(|| Box::pin(sleep(left)));
        if self.waiting.is_none() {
            let now = Instant::now();
            self.waiting = Some(now);
            alarm.as_mut().reset(now + left);
        }
        alarm.as_mut().poll(cx)
    }

    /// Notes that bytes came.
    fn note(&mut self, bytes: u64) {
        let waited = self.waiting.take().map_or(Duration::ZERO, |since| since.elapsed());
        self.left = self.left.saturating_sub(waited);
        self.come += bytes;
        if self.come >= DRIBBLE_BYTES_MIN {
            self.come = 0;
            self.left = self.patience;
        }
    }
}

impl Body for RequestBody {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let this = &mut *self;
        let Some(inner) = &mut this.inner else { return Poll::Ready(None) };
        let Poll::Ready(frame) = Pin::new(inner).poll_frame(cx) else {
            ready!(this.poll_alarm(cx));
            this.intake.is_broken.store(true, Ordering::Relaxed);
            return Poll::Ready(Some(Err(Interrupted::Timeout.into())));
        };
        if let Some(Ok(frame)) = &frame
            && let Some(data) = frame.data_ref()
        {
            let length = data.len() as u64;
            this.note(length);
            let before = this.intake.read.fetch_add(length, Ordering::Relaxed);
            if before + length > this.bytes_max {
                return Poll::Ready(Some(Err(Interrupted::TooLarge.into())));
            }
        }
        if matches!(frame, Some(Err(_))) {
            this.intake.is_broken.store(true, Ordering::Relaxed);
        }
        Poll::Ready(frame.map(|frame| frame.map_err(Into::into)))
    }

    fn is_end_stream(&self) -> bool {
        self.inner.as_ref().is_none_or(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.as_ref().map(Body::size_hint).unwrap_or_default()
    }
}

impl Drop for RequestBody {
    fn drop(&mut self) {
        if let Some(inner) = self.inner.take()
            && !inner.is_end_stream()
        {
            *self.intake.rest.lock().unwrap_or_else(PoisonError::into_inner) = Some(inner);
        }
    }
}

/// Ends a request's record, whichever way the request ends.
pub(crate) struct Account {
    pub(crate) ledger: Arc<Ledger>,
    pub(crate) clock: Arc<Clock>,
    pub(crate) number: u64,
    pub(crate) intake: Arc<Intake>,
    pub(crate) sent: u64,
}

impl Drop for Account {
    fn drop(&mut self) {
        let ending = Ending {
            request_bytes: self.intake.bytes_read(),
            response_bytes: self.sent,
            at_us: self.clock.monotonic_us(),
        };
        self.ledger.end(self.number, ending);
    }
}

/// How a response's body is spoiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Spoil {
    Cut { after: u64, reset: bool },
    Corrupt { offset: u64 },
    Pause { after: u64, time: Duration },
    Trickle { every: Duration },
}

/// A response's body.
pub(crate) struct ResponseBody {
    inner: s3s::Body,
    account: Account,
    spoil: Option<Spoil>,
    /// Makes the connection reset instead of closing in order.
    reset: Arc<AtomicBool>,
    /// Turns given to the connection to flush what was sent before a cut.
    pauses: u8,
    /// Ends a pause, or the wait for the next byte.
    alarm: Option<Pin<Box<Sleep>>>,
    /// What comes after it.
    held: Option<Bytes>,
}

impl ResponseBody {
    pub(crate) fn new(
        inner: s3s::Body,
        account: Account,
        effect: Option<&Effect>,
        reset: Arc<AtomicBool>,
    ) -> Self {
        let length = Body::size_hint(&inner).exact();
        let beyond = |at: u64| length.is_some_and(|length| at >= length);
        let spoil = match effect {
            Some(Effect::ResetAfter { bytes }) => Some(Spoil::Cut { after: *bytes, reset: true }),
            Some(Effect::Truncate { bytes }) if !beyond(*bytes) => {
                Some(Spoil::Cut { after: *bytes, reset: false })
            }
            Some(Effect::CorruptByte { offset }) => {
                let last = length.map_or(*offset, |length| length.saturating_sub(1));
                Some(Spoil::Corrupt { offset: (*offset).min(last) })
            }
            Some(Effect::Pause { bytes, time }) if !beyond(*bytes) => {
                Some(Spoil::Pause { after: *bytes, time: *time })
            }
            Some(Effect::Trickle { every }) => Some(Spoil::Trickle { every: *every }),
            _ => None,
        };
        Self { inner, account, spoil, reset, pauses: 0, alarm: None, held: None }
    }

    /// Gives the connection some turns to send what it has, then breaks it.
    fn poll_cut(&mut self, cx: &mut Context<'_>, reset: bool) -> Poll<BoxError> {
        const PAUSES: u8 = 4;
        if self.pauses < PAUSES {
            self.pauses += 1;
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        if reset {
            self.reset.store(true, Ordering::Relaxed);
        }
        Poll::Ready(Interrupted::Weather.into())
    }

    /// Waits where a pause is due.
    fn poll_pause(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let time = match self.spoil {
            Some(Spoil::Pause { after, time }) if self.account.sent >= after => time,
            Some(Spoil::Trickle { every }) => every,
            _ => return Poll::Ready(()),
        };
        ready!(self.alarm.get_or_insert_with(|| Box::pin(sleep(time))).as_mut().poll(cx));
        self.alarm = None;
        self.spoil.take_if(|spoil| matches!(spoil, Spoil::Pause { .. }));
        Poll::Ready(())
    }

    fn spoiled(&mut self, data: Bytes) -> Bytes {
        let sent = self.account.sent;
        match self.spoil {
            Some(Spoil::Pause { after, .. }) if sent + data.len() as u64 > after => {
                let mut before = data;
                let at = usize::try_from(after - sent).unwrap_or(usize::MAX);
                self.held = Some(before.split_off(at));
                before
            }
            Some(Spoil::Trickle { .. }) if data.len() > 1 => {
                let mut first = data;
                self.held = Some(first.split_off(1));
                first
            }
            Some(Spoil::Cut { after, .. }) if sent + data.len() as u64 > after => {
                data.slice(..usize::try_from(after - sent).unwrap_or(usize::MAX))
            }
            Some(Spoil::Corrupt { offset })
                if (sent..sent + data.len() as u64).contains(&offset) =>
            {
                let mut bytes = data.to_vec();
                if let Some(byte) =
                    usize::try_from(offset - sent).ok().and_then(|at| bytes.get_mut(at))
                {
                    *byte ^= 1;
                }
                bytes.into()
            }
            _ => data,
        }
    }
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let this = &mut *self;
        if let Some(Spoil::Cut { after, reset }) = this.spoil
            && this.account.sent >= after
        {
            return this.poll_cut(cx, reset).map(|error| Some(Err(error)));
        }
        ready!(this.poll_pause(cx));
        let frame = match this.held.take() {
            Some(held) => Some(Ok(Frame::data(held))),
            None => ready!(Body::poll_frame(Pin::new(&mut this.inner), cx)),
        };
        let Some(Ok(frame)) = frame else { return Poll::Ready(frame) };
        match frame.into_data() {
            Ok(data) => {
                let data = this.spoiled(data);
                this.account.sent += data.len() as u64;
                Poll::Ready(Some(Ok(Frame::data(data))))
            }
            Err(other) => Poll::Ready(Some(Ok(other))),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.held.is_none()
            && !matches!(self.spoil, Some(Spoil::Cut { .. }))
            && Body::is_end_stream(&self.inner)
    }

    fn size_hint(&self) -> SizeHint {
        Body::size_hint(&self.inner)
    }
}
