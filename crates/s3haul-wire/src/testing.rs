//! A scripted world for tests: connections are in-memory pipes, a closure answers each request.

#![expect(
    clippy::new_without_default,
    clippy::return_self_not_must_use,
    clippy::unwrap_used,
    reason = "helpers of tests, which they may fail"
)]

#[cfg(test)]
mod requests;

use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream};
use tokio::task::unconstrained;

use super::config::{ClientConfig, CredentialsConfig, EndpointConfig};
use crate::client::Client;
use crate::config::AddressingStyle;
use crate::env::{BoxFuture, Clock, Connector, Env, Io};

#[cfg(test)]
pub(crate) use requests::{get, operation, put, request};

/// A request as the server saw it.
#[derive(Clone, Debug)]
pub struct Seen {
    /// Number of the request over all connections, from 0.
    pub number: usize,
    pub address: SocketAddr,
    pub head: String,
    pub body: Vec<u8>,
}

impl Seen {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (found, value) = line.split_once(':')?;
            found.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }

    pub fn line(&self) -> &str {
        self.head.lines().next().unwrap()
    }
}

/// What the server does with a request.
#[derive(Clone, Debug)]
pub struct Reply {
    pub bytes: Vec<u8>,
    pub delay: Duration,
    /// Close after the bytes.
    pub close: bool,
    /// Never do anything more.
    pub hang: bool,
    /// Time between the bytes of the body, which come one by one.
    pub trickle: Option<Duration>,
}

impl Reply {
    pub fn raw(bytes: impl Into<Vec<u8>>) -> Self {
        let (close, hang, trickle) = (false, false, None);
        Self { bytes: bytes.into(), delay: Duration::ZERO, close, hang, trickle }
    }

    /// An answer as S3 gives it: with `ETag` and request id, unless other ones are given.
    pub fn status(status: u16, headers: &str, body: &str) -> Self {
        let mut headers = headers.to_owned();
        for (name, value) in [("etag", "\"e\""), ("x-amz-request-id", "1")] {
            if status < 300 && !headers.contains(&format!("{name}:")) {
                headers.extend([name, ": ", value, "\r\n"]);
            }
        }
        Self::raw(format!(
            "HTTP/1.1 {status} X\r\ncontent-length: {}\r\n{headers}\r\n{body}",
            body.len()
        ))
    }

    pub fn ok(body: &str) -> Self {
        Self::status(200, "", body)
    }

    pub fn error(status: u16, code: &str) -> Self {
        let body = format!("<Error><Code>{code}</Code><Message>as planned</Message></Error>");
        Self::status(status, "", &body)
    }

    /// Confirms the encryption that a request asks for.
    pub fn confirming(mut self, seen: &Seen) -> Self {
        const SSE: &str = "x-amz-server-side-encryption";
        let mut echo = String::new();
        for name in ["", "-customer-algorithm", "-customer-key-md5"] {
            let name = format!("{SSE}{name}");
            if let Some(value) = seen.header(&name) {
                echo.extend([&name, ": ", value, "\r\n"]);
            }
        }
        let line_end = self.bytes.iter().position(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        self.bytes.splice(line_end..line_end, echo.into_bytes());
        self
    }

    pub fn closing(self) -> Self {
        Self { close: true, ..self }
    }

    pub fn hanging(self) -> Self {
        Self { hang: true, ..self }
    }

    pub fn trickling(self, pause: Duration) -> Self {
        Self { trickle: Some(pause), ..self }
    }

    pub fn after(self, delay: Duration) -> Self {
        Self { delay, ..self }
    }
}

type Answer = dyn Fn(&Seen) -> Reply + Send + Sync;

/// The server side.
#[derive(Clone)]
pub struct World {
    pub addresses: Arc<Mutex<Vec<SocketAddr>>>,
    pub refused: Arc<Mutex<Vec<SocketAddr>>>,
    pub seen: Arc<Mutex<Vec<Seen>>>,
    pub connections: Arc<AtomicUsize>,
    pub open: Arc<AtomicUsize>,
    pub open_max: Arc<AtomicUsize>,
    /// Requests that begin now are never read to their end.
    pub stuck: Arc<AtomicBool>,
    requests: Arc<AtomicUsize>,
    answer: Arc<Answer>,
}

impl World {
    pub fn new(answer: impl Fn(&Seen) -> Reply + Send + Sync + 'static) -> Self {
        Self {
            addresses: Arc::new(Mutex::new(vec![SocketAddr::from(([10, 0, 0, 1], 80))])),
            refused: Arc::default(),
            seen: Arc::default(),
            connections: Arc::default(),
            open: Arc::default(),
            open_max: Arc::default(),
            stuck: Arc::default(),
            requests: Arc::default(),
            answer: Arc::new(answer),
        }
    }

    pub fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    async fn serve(self, mut stream: DuplexStream, address: SocketAddr) {
        while let Some((head, body)) = read_request(&mut stream, &self.stuck).await {
            let number = self.requests.fetch_add(1, Ordering::SeqCst);
            let seen = Seen { number, address, head, body };
            let reply = (self.answer)(&seen);
            self.seen.lock().unwrap().push(seen);
            if !reply.delay.is_zero() {
                tokio::time::sleep(reply.delay).await;
            }
            if send(&mut stream, &reply).await.is_err() || reply.close {
                break;
            }
            if reply.hang {
                std::future::pending::<()>().await;
            }
        }
        self.open.fetch_sub(1, Ordering::SeqCst);
    }
}

async fn send(stream: &mut DuplexStream, reply: &Reply) -> io::Result<()> {
    let Some(pause) = reply.trickle else { return stream.write_all(&reply.bytes).await };
    let head = reply.bytes.windows(4).position(|end| end == b"\r\n\r\n").unwrap() + 4;
    stream.write_all(&reply.bytes[..head]).await?;
    for byte in &reply.bytes[head..] {
        tokio::time::sleep(pause).await;
        stream.write_all(&[*byte]).await?;
    }
    Ok(())
}

async fn read_request(stream: &mut DuplexStream, stuck: &AtomicBool) -> Option<(String, Vec<u8>)> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.ok()?);
    }
    if stuck.load(Ordering::SeqCst) {
        std::future::pending::<()>().await;
    }
    let head = String::from_utf8(head).unwrap();
    let length = head
        .lines()
        .find_map(|line| {
            line.to_ascii_lowercase().strip_prefix("content-length:").map(str::to_owned)
        })
        .map_or(0, |text| text.trim().parse().unwrap());
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.ok()?;
    Some((head, body))
}

impl Connector for World {
    fn resolve<'a>(
        &'a self,
        _host: &'a str,
        _port: u16,
    ) -> BoxFuture<'a, io::Result<Vec<SocketAddr>>> {
        Box::pin(async move { Ok(self.addresses.lock().unwrap().clone()) })
    }

    fn connect(&self, address: SocketAddr) -> BoxFuture<'_, io::Result<Box<dyn Io>>> {
        Box::pin(async move {
            if self.refused.lock().unwrap().contains(&address) {
                return Err(io::ErrorKind::ConnectionRefused.into());
            }
            let (near, far) = tokio::io::duplex(64 * 1024);
            self.connections.fetch_add(1, Ordering::SeqCst);
            let open = self.open.fetch_add(1, Ordering::SeqCst) + 1;
            self.open_max.fetch_max(open, Ordering::SeqCst);
            // A server that reads byte by byte uses up its budget again and again, and then waits
            // for its own thread, which a test may block.
            tokio::spawn(unconstrained(self.clone().serve(far, address)));
            Ok(Box::new(near) as Box<dyn Io>)
        })
    }
}

/// A clock that starts at a fixed time and follows tokio's.
pub struct PausedClock {
    start: tokio::time::Instant,
}

impl PausedClock {
    pub const START: SystemTime = SystemTime::UNIX_EPOCH;

    pub fn new() -> Self {
        Self { start: tokio::time::Instant::now() }
    }
}

impl Clock for PausedClock {
    fn now(&self) -> SystemTime {
        Self::START + Duration::from_secs(1_700_000_000) + self.start.elapsed()
    }
}

pub fn config() -> ClientConfig {
    ClientConfig {
        endpoint: EndpointConfig {
            url: Some("http://store.test".to_owned()),
            addressing: AddressingStyle::Path,
            ..EndpointConfig::default()
        },
        credentials: CredentialsConfig::Static {
            access_key_id: "AKIDEXAMPLE".to_owned(),
            secret_access_key: "secret".to_owned(),
            session_token: None,
        },
        ..ClientConfig::default()
    }
}

pub fn client(world: &World) -> Client {
    client_with(world, config())
}

pub fn client_with(world: &World, config: ClientConfig) -> Client {
    let env = Env::new(Arc::new(world.clone()), Arc::new(PausedClock::new()), 7);
    Client::new(config, env).unwrap()
}
