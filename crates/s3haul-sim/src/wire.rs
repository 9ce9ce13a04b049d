//! What the weather does to the bytes of a connection: bandwidth, and `100 Continue` withheld.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep_until};

use crate::scenario::{FaultPlan, Link};

/// What a server says to a client that waits before it sends a body.
const CONTINUE: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";

/// A stream under the weather; without weather it is the stream itself.
pub(crate) struct Wire<I> {
    io: I,
    weather: Option<Lanes>,
}

/// Both directions of a connection.
struct Lanes {
    plan: Arc<FaultPlan>,
    /// When time began for the links.
    begin: Instant,
    ways: [Way; 2],
    withholds_continue: bool,
}

/// One direction.
struct Way {
    own: Link,
    /// Runs until what was taken has gone.
    alarm: Option<Pin<Box<Sleep>>>,
}

const INWARD: usize = 0;
const OUTWARD: usize = 1;

impl<I> Wire<I> {
    pub(crate) fn new(io: I, plan: Option<Arc<FaultPlan>>, connection: u64) -> Self {
        let lanes = |plan: Arc<FaultPlan>| {
            let rate = plan.scenario().bandwidth.connection_bytes_per_s;
            let way = || Way { own: Link::new(rate), alarm: None };
            let withholds_continue = plan.withholds_continue(connection);
            Lanes { begin: plan.begin(), ways: [way(), way()], withholds_continue, plan }
        };
        Self { io, weather: plan.map(lanes) }
    }
}

impl Lanes {
    fn now(&self) -> Duration {
        self.begin.elapsed()
    }

    /// Ready when the line is free.
    fn poll_free(&mut self, way: usize, cx: &mut Context<'_>) -> Poll<()> {
        let Some(way) = self.ways.get_mut(way) else { return Poll::Ready(()) };
        if let Some(alarm) = &mut way.alarm {
            ready!(alarm.as_mut().poll(cx));
            way.alarm = None;
        }
        Poll::Ready(())
    }

    /// Bytes to take at once at most.
    fn step(&self, way: usize) -> usize {
        let (Some(own), Some(shared)) = (self.ways.get(way), self.plan.lines.get(way)) else {
            return usize::MAX;
        };
        own.own.step().min(lock(shared).step())
    }

    /// Notes that bytes are on their way.
    fn sent(&mut self, way: usize, bytes: usize) {
        let now = self.now();
        let Some(shared) = self.plan.lines.get(way) else { return };
        let Some(way) = self.ways.get_mut(way) else { return };
        let gone = way.own.take(now, bytes).max(lock(shared).take(now, bytes));
        if gone > now {
            way.alarm = Some(Box::pin(sleep_until(self.begin + gone)));
        }
    }
}

fn lock(link: &Mutex<Link>) -> std::sync::MutexGuard<'_, Link> {
    link.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<I: AsyncRead + Unpin> AsyncRead for Wire<I> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        let Some(lanes) = &mut this.weather else {
            return Pin::new(&mut this.io).poll_read(cx, buf);
        };
        ready!(lanes.poll_free(INWARD, cx));
        let mut part = buf.take(lanes.step(INWARD));
        ready!(Pin::new(&mut this.io).poll_read(cx, &mut part))?;
        let filled = part.filled().to_vec();
        buf.put_slice(&filled);
        lanes.sent(INWARD, filled.len());
        Poll::Ready(Ok(()))
    }
}

impl<I: AsyncWrite + Unpin> AsyncWrite for Wire<I> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = &mut *self;
        let Some(lanes) = &mut this.weather else {
            return Pin::new(&mut this.io).poll_write(cx, buf);
        };
        if lanes.withholds_continue && buf.starts_with(CONTINUE) {
            lanes.plan.note("no_continue");
            return Poll::Ready(Ok(CONTINUE.len()));
        }
        ready!(lanes.poll_free(OUTWARD, cx));
        let length = buf.len().min(lanes.step(OUTWARD));
        let part = buf.get(..length).unwrap_or(buf);
        let written = ready!(Pin::new(&mut this.io).poll_write(cx, part))?;
        lanes.sent(OUTWARD, written);
        Poll::Ready(Ok(written))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        if self.weather.is_none() {
            return Pin::new(&mut self.io).poll_write_vectored(cx, bufs);
        }
        let first = bufs.iter().find(|buf| !buf.is_empty());
        self.poll_write(cx, first.map_or(&[], |buf| &**buf))
    }

    fn is_write_vectored(&self) -> bool {
        self.weather.is_none() && self.io.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(cx)
    }
}
