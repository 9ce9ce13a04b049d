//! Connections: hyper in front, the weather and the gate in the middle, `s3s` behind.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};
use tokio_rustls::TlsAcceptor;

use crate::SimError;
use crate::body_timeouts::Patient;
use crate::builder::SimBuilder;
use crate::clock::Clock;
use crate::config::SimConfig;
use crate::handler::Core;
use crate::ledger::Ledger;
use crate::listener::Listener;
use crate::socket::{Socket, TlsFiles};
use crate::weather::Weather;
use crate::wire::Wire;

/// How long a shutdown waits for requests under way.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(5);
/// Pause after a failed accept (too many open files, say).
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Makes simulators.
#[derive(Debug)]
pub struct SimServer;

impl SimServer {
    /// Starts a configuration: in memory, region us-east-1, default keys.
    pub fn builder() -> SimBuilder {
        SimBuilder::default()
    }
}

/// A simulator: serves connections from any source.
#[derive(Clone)]
pub struct Sim {
    core: Arc<Core>,
    /// Whether access keys were given, not defaulted.
    has_own_keys: bool,
}

impl Sim {
    /// Makes a simulator.
    pub fn new(config: SimConfig) -> Result<Self, SimError> {
        let has_own_keys = !config.access_keys.is_empty();
        Ok(Self { core: Arc::new(Core::new(config)?), has_own_keys })
    }

    /// The same objects without weather, and with a ledger of its own: for tests to prepare,
    /// change and inspect the store.
    pub fn calm(&self) -> Result<Self, SimError> {
        Ok(Self { core: Arc::new(self.core.calm()?), has_own_keys: self.has_own_keys })
    }

    /// The record of requests.
    pub fn ledger(&self) -> &Ledger {
        self.core.ledger()
    }

    /// Number of the folder's files and versions that are not served because they, or the data
    /// that they describe, could not be read at the start. The log names them.
    pub fn left_out(&self) -> usize {
        self.core.left_out()
    }

    /// The conditions.
    pub fn weather(&self) -> &Weather {
        self.core.weather()
    }

    /// The server's clock.
    pub fn clock(&self) -> &Clock {
        self.core.clock()
    }

    /// Serves one connection over any stream, until it ends.
    pub async fn serve_connection<I>(&self, io: I)
    where
        I: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let (_keep, stop) = watch::channel(false);
        let reset = Arc::new(AtomicBool::new(false));
        serve(Arc::clone(&self.core), io, reset, stop).await;
    }

    /// Listens on an address; `127.0.0.1:0` takes a free port.
    pub async fn bind(self, address: impl AsRef<str>) -> Result<RunningServer, SimError> {
        let config = self.core.config();
        let listener = Listener::bind(address.as_ref(), config, self.has_own_keys).await?;
        Ok(self.listen(listener))
    }

    /// Serves the connections of a socket.
    pub(crate) fn listen(self, listener: Listener) -> RunningServer {
        let (address, (stop, stopped)) = (listener.address, watch::channel(false));
        let accepting = tokio::spawn(accept(Arc::clone(&self.core), listener, stopped));
        RunningServer { sim: self, address, stop, accepting: Some(accepting) }
    }
}

/// A simulator that listens; stops when dropped.
pub struct RunningServer {
    sim: Sim,
    address: SocketAddr,
    stop: watch::Sender<bool>,
    accepting: Option<JoinHandle<()>>,
}

impl RunningServer {
    /// The address it listens on.
    pub fn addr(&self) -> SocketAddr {
        self.address
    }

    /// The URL for clients.
    pub fn endpoint_url(&self) -> String {
        match self.sim.core.config().tls {
            Some(_) => TlsFiles::url(self.address),
            None => format!("http://{}", self.address),
        }
    }

    /// The simulator behind it.
    pub fn sim(&self) -> &Sim {
        &self.sim
    }

    /// The record of requests.
    pub fn ledger(&self) -> &Ledger {
        self.sim.ledger()
    }

    /// The conditions.
    pub fn weather(&self) -> &Weather {
        self.sim.weather()
    }

    /// The server's clock.
    pub fn clock(&self) -> &Clock {
        self.sim.clock()
    }

    /// Stops accepting, lets requests under way end for a few seconds, then closes everything.
    pub async fn shutdown(mut self) {
        let _ = self.stop.send(true);
        if let Some(accepting) = self.accepting.take() {
            let _ = accepting.await;
        }
        if let Err(error) = self.sim.ledger().flush() {
            tracing::warn!(%error, "could not write the ledger's file");
        }
    }
}

impl Drop for RunningServer {
    fn drop(&mut self) {
        // Aborting the task drops its `JoinSet`, which ends every connection.
        if let Some(accepting) = &self.accepting {
            accepting.abort();
            let _ = self.sim.ledger().flush();
        }
    }
}

async fn accept(core: Arc<Core>, listener: Listener, mut stop: watch::Receiver<bool>) {
    let mut connections = JoinSet::new();
    let most = core.config().limits.connections_max;
    loop {
        tokio::select! {
            _ = stop.changed() => break,
            Some(_) = connections.join_next() => {}
            accepted = listener.tcp.accept(), if connections.len() < most => match accepted {
                Ok((stream, _)) => {
                    let (core, stop) = (Arc::clone(&core), stop.clone());
                    connections.spawn(serve_tcp(core, stream, listener.tls.clone(), stop));
                }
                Err(error) => {
                    tracing::warn!(%error, "could not accept a connection");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            }
        }
    }
    drop(listener);
    let drained = async { while connections.join_next().await.is_some() {} };
    let _ = tokio::time::timeout(SHUTDOWN_GRACE, drained).await;
}

async fn serve_tcp(
    core: Arc<Core>,
    stream: TcpStream,
    tls: Option<TlsAcceptor>,
    mut stop: watch::Receiver<bool>,
) {
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "could not set TCP_NODELAY");
    }
    let reset = Arc::new(AtomicBool::new(false));
    let time_limit = core.config().limits.header_timeout;
    let socket = tokio::select! {
        socket = Socket::new(stream, tls, time_limit, Arc::clone(&reset)) => socket,
        () = stopped(&mut stop) => return,
    };
    match socket {
        Ok(socket) => serve(core, socket, reset, stop).await,
        Err(error) => tracing::debug!(%error, "a handshake failed"),
    }
}

async fn serve<I>(core: Arc<Core>, io: I, reset: Arc<AtomicBool>, mut stop: watch::Receiver<bool>)
where
    I: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let limits = core.config().limits.clone();
    let plan = core.weather().plan();
    let idle_ms = plan.as_ref().map_or(0, |plan| plan.scenario().idle_close_ms);
    let idle = (idle_ms > 0).then(|| Duration::from_millis(idle_ms));
    let io = Patient::new(io, limits.answer_timeout);
    let io = Wire::new(io, plan.clone(), core.next_connection());
    let service = service_fn(move |request| {
        let (core, reset) = (Arc::clone(&core), Arc::clone(&reset));
        async move { core.handle(request, reset).await }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(idle.unwrap_or(limits.header_timeout).min(limits.header_timeout))
        .max_buf_size(limits.header_bytes_max)
        .serve_connection(TokioIo::new(io), service);
    let mut connection = std::pin::pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = stopped(&mut stop) => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        if let Some(plan) = plan.filter(|_| idle.is_some() && error.is_timeout()) {
            plan.note("idle_close");
        }
        tracing::debug!(%error, "a connection ended badly");
    }
}

/// Waits for the signal to stop; for ever if its sender is gone.
async fn stopped(stop: &mut watch::Receiver<bool>) {
    if stop.changed().await.is_err() {
        std::future::pending::<()>().await;
    }
}
