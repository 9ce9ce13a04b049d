//! Opens connections: picks an address, connects, speaks to the proxy, wraps in TLS.
//!
//! [`Wire`] is what hyper reads and writes: the plain or encrypted stream, which counts what was
//! written (an upload is alive while bytes are taken) and survives a server that stops reading in
//! the middle of an upload: further bytes are dropped, so that the answer the server sent before
//! it hung up is still read.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Instant;

use super::addresses::{AddressLease, Addresses};
use super::proxy;
use super::tls::{Tls, TlsSession};
use crate::env::{Env, Io};
use crate::error::{Error, ErrorKind, Result};

/// Addresses tried for one connection.
const ADDRESSES_PER_CONNECT: u32 = 3;

/// Between two tries while this process or the machine has no descriptor for a socket: others give
/// theirs back as their requests end.
const DESCRIPTOR_PAUSE: Duration = Duration::from_millis(50);

/// What a connection has written.
#[derive(Debug, Default)]
pub(crate) struct Meter {
    written: AtomicU64,
    is_broken: AtomicBool,
    /// First bytes of a peer that does not speak HTTP.
    greeting: OnceLock<Vec<u8>>,
}

/// Bytes of a greeting that are kept.
const GREETING_MAX: usize = 64;

impl Meter {
    /// Bytes that the socket took.
    pub(crate) fn written(&self) -> u64 {
        self.written.load(Ordering::Relaxed)
    }

    /// Whether the other side answered in TLS on a connection without TLS.
    pub(crate) fn speaks_tls(&self) -> bool {
        self.greeting().is_some_and(is_tls)
    }

    /// First bytes of the other side, where they are no HTTP.
    pub(crate) fn greeting(&self) -> Option<&[u8]> {
        self.greeting.get().map(Vec::as_slice)
    }

    /// Whether the other side stopped reading.
    pub(crate) fn is_broken(&self) -> bool {
        self.is_broken.load(Ordering::Relaxed)
    }
}

enum Stream {
    Plain(Box<dyn Io>),
    Tls(Box<TlsSession>),
}

/// An open stream to a server.
pub(crate) struct Wire {
    stream: Stream,
    meter: Arc<Meter>,
    was_read: bool,
}

impl Wire {
    fn new(stream: Stream) -> Self {
        Self { stream, meter: Arc::default(), was_read: false }
    }

    /// The counters of this stream.
    pub(crate) fn meter(&self) -> Arc<Meter> {
        Arc::clone(&self.meter)
    }

    fn wrote(&self, length: usize, result: io::Result<usize>) -> io::Result<usize> {
        match result {
            Ok(written) => {
                self.meter.written.fetch_add(written as u64, Ordering::Relaxed);
                Ok(written)
            }
            Err(error) if is_hangup(&error) => {
                self.meter.is_broken.store(true, Ordering::Relaxed);
                Ok(length)
            }
            Err(error) => Err(error),
        }
    }
}

/// Whether a record of TLS begins here, an alert or a handshake; no answer in HTTP does so.
fn is_tls(answer: &[u8]) -> bool {
    matches!(answer, [0x15 | 0x16, 0x03, ..])
}

/// Whether an answer in HTTP/1 may begin so.
fn may_be_http(answer: &[u8]) -> bool {
    const BEGINNING: &[u8] = b"HTTP/1.";
    let compared = answer.len().min(BEGINNING.len());
    answer[..compared] == BEGINNING[..compared]
}

fn is_hangup(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset)
}

impl AsyncRead for Wire {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let Self { stream, meter, was_read } = &mut *self;
        match stream {
            Stream::Plain(stream) if *was_read => Pin::new(stream).poll_read(cx, buffer),
            Stream::Plain(stream) => {
                let before = buffer.filled().len();
                ready!(Pin::new(stream).poll_read(cx, buffer))?;
                *was_read = true;
                let first = &buffer.filled()[before..];
                if !may_be_http(first) {
                    meter.greeting.get_or_init(|| first[..first.len().min(GREETING_MAX)].to_vec());
                }
                Poll::Ready(Ok(()))
            }
            Stream::Tls(stream) => Pin::new(stream).poll_read(cx, buffer),
        }
    }
}

impl AsyncWrite for Wire {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if self.meter.is_broken() {
            return Poll::Ready(Ok(bytes.len()));
        }
        let result = ready!(match &mut self.stream {
            Stream::Plain(stream) => Pin::new(stream).poll_write(cx, bytes),
            Stream::Tls(stream) => Pin::new(stream).poll_write(cx, bytes),
        });
        Poll::Ready(self.wrote(bytes.len(), result))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let length = || pieces.iter().map(|piece| piece.len()).sum();
        if self.meter.is_broken() {
            return Poll::Ready(Ok(length()));
        }
        let result = ready!(match &mut self.stream {
            Stream::Plain(stream) => Pin::new(stream).poll_write_vectored(cx, pieces),
            Stream::Tls(stream) => Pin::new(stream).poll_write_vectored(cx, pieces),
        });
        Poll::Ready(self.wrote(length(), result))
    }

    fn is_write_vectored(&self) -> bool {
        match &self.stream {
            Stream::Plain(stream) => stream.is_write_vectored(),
            Stream::Tls(stream) => stream.is_write_vectored(),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.meter.is_broken() {
            return Poll::Ready(Ok(()));
        }
        let result = ready!(match &mut self.stream {
            Stream::Plain(stream) => Pin::new(stream).poll_flush(cx),
            Stream::Tls(stream) => Pin::new(stream).poll_flush(cx),
        });
        Poll::Ready(self.wrote(0, result.map(|()| 0)).map(|_| ()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.stream {
            Stream::Plain(stream) => Pin::new(stream).poll_shutdown(cx),
            Stream::Tls(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }
}

/// Where connections of one kind go.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Route {
    pub(crate) https: bool,
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) proxy: Option<proxy::ProxyTarget>,
}

impl Route {
    /// Host and port to open the socket to.
    pub(crate) fn socket_host(&self) -> (&str, u16) {
        match &self.proxy {
            Some(proxy) => (&proxy.host, proxy.port),
            None => (&self.host, self.port),
        }
    }

    /// Scheme and authority.
    pub(crate) fn url(&self) -> String {
        let (scheme, default) = if self.https { ("https", 443) } else { ("http", 80) };
        let brackets = self.host.contains(':');
        let (open, close) = if brackets { ("[", "]") } else { ("", "") };
        let port = if self.port == default { String::new() } else { format!(":{}", self.port) };
        format!("{scheme}://{open}{}{close}{port}/", self.host)
    }

    /// The URL in quotes, and the proxy on the way, for messages.
    pub(crate) fn shown(&self) -> String {
        let via = self.proxy.as_ref().map(|proxy| format!(" through the proxy {proxy}"));
        format!("\"{}\"{}", self.url(), via.as_deref().unwrap_or_default())
    }
}

/// Opens connections.
#[derive(Debug)]
pub(crate) struct Dialer {
    pub(crate) env: Env,
    pub(crate) tls: Tls,
    pub(crate) connect_timeout: Duration,
}

impl Dialer {
    /// Opens a connection along a route, to one of the addresses, if possible to another than the
    /// one to avoid.
    pub(crate) async fn dial(
        &self,
        route: &Route,
        addresses: &Addresses,
        avoid: Option<SocketAddr>,
    ) -> Result<(Wire, AddressLease)> {
        let deadline = Instant::now() + self.connect_timeout;
        let (socket, address) = self.connect_any(route, addresses, avoid, deadline).await?;
        let wrapped = tokio::time::timeout_at(deadline, self.wrap(route, socket)).await;
        match wrapped {
            Ok(Ok(stream)) => {
                address.opened();
                Ok((Wire::new(stream), address))
            }
            Ok(Err(error)) => Err(error),
            Err(_) => {
                address.failed();
                Err(connect_timeout(route))
            }
        }
    }

    async fn connect_any(
        &self,
        route: &Route,
        addresses: &Addresses,
        avoid: Option<SocketAddr>,
        deadline: Instant,
    ) -> Result<(Box<dyn Io>, AddressLease)> {
        let mut last = None;
        for left in (1..=ADDRESSES_PER_CONNECT).rev() {
            let Some((address, others)) = addresses.pick(avoid) else { break };
            let budget = deadline.saturating_duration_since(Instant::now());
            let share = if others == 0 { budget } else { budget / left };
            let connecting = self.connect(address.address(), Instant::now() + share);
            match tokio::time::timeout(share, connecting).await {
                Ok(Ok(socket)) => return Ok((socket, address)),
                Ok(Err(error)) => last = Some(cannot_connect(route, error)),
                Err(_) => last = Some(connect_timeout(route)),
            }
            address.failed();
            if others == 0 {
                break;
            }
        }
        Err(last.unwrap_or_else(|| cannot_connect(route, io::ErrorKind::AddrNotAvailable.into())))
    }

    /// Waits where there are too many open files; with this error once the time is up.
    async fn connect(&self, address: SocketAddr, deadline: Instant) -> io::Result<Box<dyn Io>> {
        loop {
            let error = match self.env.connector.connect(address).await {
                Err(error) if is_out_of_descriptors(&error) => error,
                other => return other,
            };
            if Instant::now() + 2 * DESCRIPTOR_PAUSE > deadline {
                return Err(error);
            }
            tokio::time::sleep(DESCRIPTOR_PAUSE).await;
        }
    }

    async fn wrap(&self, route: &Route, mut socket: Box<dyn Io>) -> Result<Stream> {
        if !route.https {
            return Ok(Stream::Plain(socket));
        }
        if let Some(proxy) = &route.proxy {
            socket = proxy::tunnel(socket, proxy, &route.host, route.port).await?;
        }
        let stream = self.tls.handshake(route, socket).await?;
        Ok(Stream::Tls(Box::new(stream)))
    }
}

fn is_out_of_descriptors(error: &io::Error) -> bool {
    let limits = [rustix::io::Errno::MFILE, rustix::io::Errno::NFILE];
    error
        .raw_os_error()
        .is_some_and(|code| limits.map(rustix::io::Errno::raw_os_error).contains(&code))
}

/// The error for a host that cannot be reached, worded as the AWS tools do.
pub(crate) fn cannot_connect(route: &Route, source: io::Error) -> Error {
    let message = format!("Could not connect to the endpoint URL: {}", route.shown());
    Error::new(ErrorKind::Transport, message).with_source(source)
}

fn connect_timeout(route: &Route) -> Error {
    let message = format!("Connect timeout on endpoint URL: {}", route.shown());
    Error::new(ErrorKind::Timeout, message)
}
