//! The seam to the world: connections, wall clock and randomness.
//!
//! Production uses [`Env::system`]. Simulations hand in a connector that returns in-memory pipes,
//! a clock derived from tokio's paused time and a seeded generator; nothing else differs.
//! Sleeping and timeouts always go through `tokio::time`.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use tokio::io::{AsyncRead, AsyncWrite};

/// A byte stream to a server.
pub trait Io: AsyncRead + AsyncWrite + Send + Unpin + 'static {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin + 'static> Io for T {}

/// A boxed future, for the object-safe seam only.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Resolves names and opens plain (not yet TLS) connections.
pub trait Connector: Send + Sync {
    /// All addresses of a host.
    fn resolve<'a>(
        &'a self,
        host: &'a str,
        port: u16,
    ) -> BoxFuture<'a, io::Result<Vec<SocketAddr>>>;
    /// Opens a connection to one address.
    fn connect(&self, address: SocketAddr) -> BoxFuture<'_, io::Result<Box<dyn Io>>>;
}

/// Tells the wall-clock time, for signatures and time stamps.
pub trait Clock: Send + Sync {
    /// Now.
    fn now(&self) -> SystemTime;
}

/// The outside world as the library sees it.
#[derive(Clone)]
pub struct Env {
    /// Opens connections.
    pub connector: Arc<dyn Connector>,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
    random: Arc<Mutex<fastrand::Rng>>,
}

impl std::fmt::Debug for Env {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Env").finish_non_exhaustive()
    }
}

impl Env {
    /// Real sockets, real clock, randomness from the system.
    pub fn system() -> Self {
        Self {
            connector: Arc::new(TcpConnector),
            clock: Arc::new(SystemClock),
            random: Arc::new(Mutex::new(fastrand::Rng::new())),
        }
    }

    /// A world of the caller's making.
    pub fn new(connector: Arc<dyn Connector>, clock: Arc<dyn Clock>, seed: u64) -> Self {
        Self { connector, clock, random: Arc::new(Mutex::new(fastrand::Rng::with_seed(seed))) }
    }

    /// A random number in [0, 1).
    pub fn random_f64(&self) -> f64 {
        self.random.lock().unwrap_or_else(PoisonError::into_inner).f64()
    }
}

struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> SystemTime {
        SystemTime::now()
    }
}

/// Silence after which the kernel asks whether the other side is still there.
const KEEPALIVE: Duration = Duration::from_mins(1);

struct TcpConnector;

impl Connector for TcpConnector {
    fn resolve<'a>(
        &'a self,
        host: &'a str,
        port: u16,
    ) -> BoxFuture<'a, io::Result<Vec<SocketAddr>>> {
        Box::pin(async move { Ok(tokio::net::lookup_host((host, port)).await?.collect()) })
    }

    fn connect(&self, address: SocketAddr) -> BoxFuture<'_, io::Result<Box<dyn Io>>> {
        Box::pin(async move {
            let stream = tokio::net::TcpStream::connect(address).await?;
            stream.set_nodelay(true)?;
            // An operation may be silent for minutes: notice a peer that is gone.
            let keepalive = socket2::TcpKeepalive::new().with_time(KEEPALIVE);
            socket2::SockRef::from(&stream).set_tcp_keepalive(&keepalive)?;
            Ok(Box::new(stream) as Box<dyn Io>)
        })
    }
}
