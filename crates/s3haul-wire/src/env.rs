//! The seam to the world: connections, wall clock, randomness, a voice for what takes long, and
//! questions to a person.
//!
//! Production uses [`Env::system`]. Simulations hand in a connector that returns in-memory pipes,
//! a clock derived from tokio's paused time and a seeded generator; nothing else differs.
//! Sleeping and timeouts always go through `tokio::time`.

use std::fmt::Display;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::Instant;

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

/// Source of the wall-clock time, for signatures and time stamps.
pub trait Clock: Send + Sync {
    /// Now.
    fn now(&self) -> SystemTime;
}

/// The outside world as the library sees it.
#[derive(Clone)]
pub struct Env {
    /// Opens connections.
    pub connector: Arc<dyn Connector>,
    /// Wall clock.
    pub clock: Arc<dyn Clock>,
    random: Arc<Mutex<fastrand::Rng>>,
    pub(crate) waits: Arc<Waits>,
    pub(crate) ask: Option<Ask>,
}

/// Puts a question to the person at the terminal, and gives the answer or why there is none. May
/// block.
pub(crate) type Ask = Arc<dyn Fn(&str) -> Result<String, String> + Send + Sync>;

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
            waits: Arc::default(),
            ask: None,
        }
    }

    /// A world of the caller's making.
    pub fn new(connector: Arc<dyn Connector>, clock: Arc<dyn Clock>, seed: u64) -> Self {
        let random = Arc::new(Mutex::new(fastrand::Rng::with_seed(seed)));
        Self { connector, clock, random, waits: Arc::default(), ask: None }
    }

    /// The same, which says what is being waited for after some seconds and then at widening
    /// intervals: `waiting for an answer of … for 10 s`.
    #[must_use]
    pub fn saying_waits(self, say: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self { waits: Arc::new(Waits { say: Some(Box::new(say)), ..Waits::default() }), ..self }
    }

    /// The same with a way to ask for what only a person knows, such as the code of an MFA device:
    /// it gives the answer to a question, or why there is none, and may block.
    #[must_use]
    pub fn asking(
        self,
        ask: impl Fn(&str) -> Result<String, String> + Send + Sync + 'static,
    ) -> Self {
        Self { ask: Some(Arc::new(ask)), ..self }
    }

    /// A random number in [0, 1).
    pub fn random_f64(&self) -> f64 {
        self.random.lock().unwrap_or_else(PoisonError::into_inner).f64()
    }
}

/// Silence after which it is said what is being waited for; half the time limit where that is
/// less.
const FIRST_NOTICE: Duration = Duration::from_secs(5);
/// Longest time between two notices of one wait.
const NOTICE_EVERY_MAX: Duration = Duration::from_mins(1);
/// Notices of several waits come no closer together than this part of the time between those of
/// one.
const NOTICE_APART: u32 = 2;

/// A line to say.
type Say = Box<dyn Fn(&str) + Send + Sync>;

/// Says what is being waited for. Of many waits at once one speaks, and none while answers come.
#[derive(Default)]
pub(crate) struct Waits {
    say: Option<Say>,
    said: Mutex<Option<Instant>>,
    answers: AtomicU64,
}

impl std::fmt::Debug for Waits {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Waits").finish_non_exhaustive()
    }
}

impl Waits {
    /// Whether anybody hears what is said.
    pub(crate) fn has_listener(&self) -> bool {
        self.say.is_some()
    }

    /// When the first notice of a wait is due that may last as long as this; `None` without a
    /// listener.
    pub(crate) fn first_notice(&self, limit: Duration) -> Option<Duration> {
        self.say.as_ref().map(|_| FIRST_NOTICE.min(limit / 2).max(Duration::from_millis(1)))
    }

    /// Time from the beginning of a wait to the notice after the one at `waited`.
    pub(crate) fn next_notice(waited: Duration) -> Duration {
        waited + waited.min(NOTICE_EVERY_MAX)
    }

    /// An answer came.
    pub(crate) fn note_answer(&self) {
        self.answers.fetch_add(1, Ordering::Relaxed);
    }

    /// Number of answers so far.
    pub(crate) fn answers(&self) -> u64 {
        self.answers.load(Ordering::Relaxed)
    }

    /// Says what was waited for and for how long, unless another wait spoke just before.
    pub(crate) fn say(&self, what: impl Display, waited: Duration) {
        let Some(say) = &self.say else { return };
        let now = Instant::now();
        {
            let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
            let apart = waited.min(NOTICE_EVERY_MAX) / NOTICE_APART;
            if said.is_some_and(|at| now.duration_since(at) < apart) {
                return;
            }
            *said = Some(now);
        }
        let seconds = waited.as_secs_f64();
        let shown = if seconds < 1.0 { format!("{seconds:.1}") } else { format!("{seconds:.0}") };
        let line = format!("waiting for {what} for {shown} s");
        tracing::info!("{line}");
        say(&line);
    }

    /// Waits for a future, and says so.
    pub(crate) async fn during<T>(
        &self,
        limit: Duration,
        what: impl Fn() -> String,
        future: impl Future<Output = T>,
    ) -> T {
        let Some(mut notice) = self.first_notice(limit) else { return future.await };
        let mut future = std::pin::pin!(future);
        let start = Instant::now();
        loop {
            let timed = tokio::time::timeout_at(start + notice, future.as_mut());
            if let Ok(value) = timed.await {
                return value;
            }
            self.say(what(), notice);
            notice = Self::next_notice(notice);
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn listening() -> (Env, Arc<Mutex<Vec<String>>>) {
        let heard = Arc::<Mutex<Vec<String>>>::default();
        let lines = Arc::clone(&heard);
        (Env::system().saying_waits(move |line| lines.lock().unwrap().push(line.to_owned())), heard)
    }

    #[tokio::test(start_paused = true)]
    async fn waits_are_said_at_widening_intervals_and_once_of_many() {
        let (env, heard) = listening();
        let limit = Duration::from_mins(10);
        let long = || {
            let sleep = tokio::time::sleep(Duration::from_secs(200));
            env.waits.during(limit, || "x".to_owned(), sleep)
        };
        tokio::join!(long(), long(), long());
        let expected = [5, 10, 20, 40, 80, 140].map(|at| format!("waiting for x for {at} s"));
        assert_eq!(*heard.lock().unwrap(), expected);
    }

    #[tokio::test(start_paused = true)]
    async fn short_waits_and_silent_clients_say_nothing() {
        let (env, heard) = listening();
        let (short, minute) = (Duration::from_secs(4), Duration::from_mins(1));
        env.waits.during(minute, || unreachable!(), tokio::time::sleep(short)).await;
        let silent = Env::system();
        silent.waits.during(minute, || unreachable!(), tokio::time::sleep(minute)).await;
        assert!(heard.lock().unwrap().is_empty());
        // A time limit that is shorter is said before it is over.
        env.waits.during(short, || "x".to_owned(), tokio::time::sleep(short)).await;
        assert_eq!(*heard.lock().unwrap(), ["waiting for x for 2 s"]);
    }
}
