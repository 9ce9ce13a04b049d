//! One HTTP/1.1 connection, driven by the task that uses it.
//!
//! hyper splits a connection into a sender and a driver. Both live here: each poll for an answer or
//! a piece of its body first polls the driver, so no task is spawned and no other task is woken.
//! What the driver makes ready is looked at right after, with a waker that does nothing.

use std::collections::VecDeque;
use std::future::Future as _;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::time::{Instant, Sleep};

use super::connect::{Meter, Wire};
use super::pool::OpenGuard;
use crate::env::Waits;
use crate::error::{Error, ErrorKind, Result};
use crate::message::payload::{Payload, SendProgress};
use crate::message::streamed::{self, Piece, WaitsForFile};

/// Read buffer of a connection at most, and bytes of a body queued for writing.
pub(crate) const BUFFER_MAX: usize = 256 * 1024;
/// Longest slice of a body whose progress is reported.
const SLICE_MAX: usize = 256 * 1024;
/// Bytes that the kernel may hold after it took the last of an upload.
const KERNEL_BUFFER: u64 = 4 * 1024 * 1024;
/// Slowest way out that is still waited for.
const SLOWEST_BYTES_PER_S: u64 = 64 * 1024;

/// Pieces of a payload on their way into a connection.
#[derive(Debug)]
pub(crate) struct SendBody {
    pieces: Pieces,
    left: u64,
    progress: Option<SendProgress>,
}

#[derive(Debug)]
enum Pieces {
    One(Option<Bytes>),
    Many(VecDeque<Bytes>),
    Streamed(Box<streamed::Pieces>),
}

impl Pieces {
    /// The next piece, cut where it is in memory and longer than `most`.
    fn poll_next(&mut self, cx: &mut Context<'_>, most: usize) -> Poll<Option<Result<Piece>>> {
        let first = match self {
            Self::One(one) => one.as_mut(),
            Self::Many(many) => many.front_mut(),
            Self::Streamed(pieces) => return pieces.poll_next(cx),
        };
        if let Some(long) = first.filter(|piece| piece.len() > most) {
            return Poll::Ready(Some(Ok(Piece::Data(long.split_to(most)))));
        }
        let piece = match self {
            Self::One(one) => one.take(),
            Self::Many(many) => many.pop_front(),
            Self::Streamed(_) => None,
        };
        Poll::Ready(piece.map(|piece| Ok(Piece::Data(piece))))
    }
}

impl SendBody {
    /// The payload's pieces, not copied.
    pub(crate) fn new(payload: &Payload) -> Self {
        let pieces = match (payload.as_streamed(), payload.chunks()) {
            (Some(body), _) => Pieces::Streamed(Box::new(streamed::Pieces::new(body.clone()))),
            (None, []) => Pieces::One(None),
            (None, [one]) => Pieces::One(Some(one.clone())),
            (None, many) => Pieces::Many(many.iter().cloned().collect()),
        };
        let progress = payload.progress().cloned();
        if let Some(progress) = &progress {
            // What an attempt before this one sent is sent again.
            progress.take_back();
        }
        Self { pieces, left: payload.encoded_length(), progress }
    }

    /// Whether it waits for its file, at any time; a body in memory never does.
    fn waits_for_file(&self) -> Option<WaitsForFile> {
        match &self.pieces {
            Pieces::Streamed(pieces) => Some(pieces.waits()),
            Pieces::One(_) | Pieces::Many(_) => None,
        }
    }

    pub(crate) fn from_bytes(bytes: Bytes) -> Self {
        let left = bytes.len() as u64;
        Self { pieces: Pieces::One(Some(bytes)), left, progress: None }
    }
}

impl Body for SendBody {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>>>> {
        let most = if self.progress.is_some() { SLICE_MAX } else { usize::MAX };
        let piece = ready!(self.pieces.poll_next(cx, most));
        Poll::Ready(piece.map(|piece| {
            let bytes = match piece? {
                Piece::Frame(bytes) => bytes,
                Piece::Data(bytes) => {
                    if let Some(progress) = &self.progress {
                        progress.took(bytes.len());
                    }
                    bytes
                }
            };
            self.left -= bytes.len() as u64;
            Ok(Frame::data(bytes))
        }))
    }

    fn is_end_stream(&self) -> bool {
        self.left == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}

/// What is said while no answer comes.
#[derive(Clone, Copy)]
pub(crate) struct Notice<'n> {
    /// Silence before the first notice.
    pub(crate) after: Duration,
    /// Takes how long it has been silent.
    pub(crate) say: &'n (dyn Fn(Duration) + Sync),
}

/// Why an exchange gave no answer.
#[derive(Debug)]
pub(crate) enum Broken {
    /// The connection failed before the first byte of an answer.
    Lost(Option<hyper::Error>),
    /// An answer that says that all went well came before the whole request was sent.
    Early,
    /// Nothing came in time.
    Silent,
}

/// One connection.
pub(crate) struct Connection {
    sender: http1::SendRequest<SendBody>,
    driver: http1::Connection<TokioIo<Wire>, SendBody>,
    has_ended: bool,
    meter: Arc<Meter>,
    timer: Option<Pin<Box<Sleep>>>,
    open: OpenGuard,
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connection").field("has_ended", &self.has_ended).finish_non_exhaustive()
    }
}

impl Connection {
    /// Speaks HTTP over an open stream.
    pub(crate) async fn new(wire: Wire, open: OpenGuard) -> Result<Box<Self>> {
        let meter = wire.meter();
        let (sender, driver) = http1::Builder::new()
            .max_buf_size(BUFFER_MAX)
            .handshake(TokioIo::new(wire))
            .await
            .map_err(|error| Error::new(ErrorKind::Transport, "HTTP").with_source(error))?;
        let (has_ended, timer) = (false, None);
        Ok(Box::new(Self { sender, driver, has_ended, meter, timer, open }))
    }

    /// Whether the other side answered in TLS on a connection without TLS.
    pub(crate) fn speaks_tls(&self) -> bool {
        self.meter.speaks_tls()
    }

    /// First bytes of the other side, where they are no HTTP.
    pub(crate) fn greeting(&self) -> Option<&[u8]> {
        self.meter.greeting()
    }

    /// Where it goes.
    pub(crate) fn address(&self) -> SocketAddr {
        self.open.address()
    }

    /// Whether the last exchange is complete in both directions and leaves the connection open.
    pub(crate) fn is_idle(&mut self) -> bool {
        if self.has_ended || self.meter.is_broken() {
            return false;
        }
        self.sender.is_ready() || self.is_alive()
    }

    /// Whether the other side of an idle connection has not hung up, as far as is known.
    pub(crate) fn is_alive(&mut self) -> bool {
        self.drive(&mut Context::from_waker(Waker::noop()));
        !self.has_ended && self.sender.is_ready()
    }

    fn drive(&mut self, cx: &mut Context<'_>) {
        if !self.has_ended {
            self.has_ended = Pin::new(&mut self.driver).poll(cx).is_ready();
        }
    }

    /// Sends a request and returns the head of its answer. `silence` is how long nothing may happen
    /// after the request was taken by the socket; time in which bytes are taken, or read from a
    /// file, does not count. The polling task is woken after `wake_after`, and then each quarter of
    /// it, to check the time for purposes of its own. `notice` is called while nothing comes.
    pub(crate) async fn exchange(
        &mut self,
        request: Request<SendBody>,
        silence: Duration,
        wake_after: Option<Duration>,
        notice: Option<Notice<'_>>,
    ) -> std::result::Result<Response<Incoming>, Broken> {
        let (body_length, file) = (request.body().left, request.body().waits_for_file());
        let grace = body_length.min(KERNEL_BUFFER) / SLOWEST_BYTES_PER_S;
        let silence = silence + Duration::from_secs(grace);
        let mut written = self.meter.written();
        let written_whole = written + body_length;
        let mut silent_since = None;
        let mut wake_at = wake_after.map(|after| Instant::now() + after);
        let wake_every = wake_after.unwrap_or_default() / 4;
        let mut notice_after = notice.as_ref().map(|notice| notice.after);
        let mut answer = pin!(tokio::task::unconstrained(self.sender.send_request(request)));
        std::future::poll_fn(|cx| {
            self.drive(cx);
            match answer.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
                // What was not sent yet cannot have been stored. The head counts as well, so that
                // a body that is shorter than its head, or lies in a buffer of TLS, is not noticed.
                Poll::Ready(Ok(answer))
                    if answer.status().is_success() && self.meter.written() < written_whole =>
                {
                    return Poll::Ready(Err(Broken::Early));
                }
                Poll::Ready(Ok(answer)) => return Poll::Ready(Ok(answer)),
                Poll::Ready(Err(error)) => return Poll::Ready(Err(Broken::Lost(Some(error)))),
                Poll::Pending if self.has_ended => return Poll::Ready(Err(Broken::Lost(None))),
                Poll::Pending => {}
            }
            if self.meter.written() != written || file.as_ref().is_some_and(WaitsForFile::get) {
                written = self.meter.written();
                silent_since = None;
            }
            let since = *silent_since.get_or_insert_with(Instant::now);
            let deadline = since + silence;
            loop {
                let notice_at = notice_after.map(|after| since + after);
                let next = [wake_at, notice_at].into_iter().flatten().min();
                let at = next.map_or(deadline, |at| at.min(deadline));
                if self.poll_deadline(cx, at).is_pending() {
                    return Poll::Pending;
                }
                if at == deadline {
                    return Poll::Ready(Err(Broken::Silent));
                }
                if wake_at == Some(at) {
                    wake_at = Some(Instant::now() + wake_every);
                } else if let (Some(notice), Some(after)) = (&notice, notice_after) {
                    (notice.say)(after);
                    notice_after = Some(Waits::next_notice(after));
                }
            }
        })
        .await
    }

    /// The next frame of a body. `Pending` means that the timer and the socket will wake.
    pub(crate) fn poll_body(
        &mut self,
        cx: &mut Context<'_>,
        body: &mut Incoming,
    ) -> Poll<Option<std::result::Result<Frame<Bytes>, hyper::Error>>> {
        let mut quiet = Context::from_waker(Waker::noop());
        if let Poll::Ready(frame) = Pin::new(&mut *body).poll_frame(&mut quiet) {
            return Poll::Ready(frame);
        }
        self.drive(cx);
        match Pin::new(body).poll_frame(&mut quiet) {
            Poll::Pending if self.has_ended => Poll::Ready(None),
            other => other,
        }
    }

    /// Becomes ready at a deadline. The timer is kept from request to request and only moved when
    /// it fires early, so that a quick request costs no timer operation.
    pub(crate) fn poll_deadline(&mut self, cx: &mut Context<'_>, deadline: Instant) -> Poll<()> {
        let timer = self.timer.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(deadline)));
        if deadline < timer.deadline() {
            timer.as_mut().reset(deadline);
        }
        while timer.as_mut().poll(cx).is_ready() {
            if Instant::now() >= deadline {
                return Poll::Ready(());
            }
            timer.as_mut().reset(deadline);
        }
        Poll::Pending
    }
}
