//! Connections that are kept: check-out, check-in, the cap, and which host has which.
//!
//! A [`Lease`] is one slot under the cap together with its connection. Idle connections are reused
//! last in, first out, for at most [`IDLE_MAX`] (S3 closes idle connections after about 5 s) and
//! only if they are still alive. Dropping a lease closes its connection; [`Lease::release`] keeps
//! it. There is no background task: a connection is driven by the task that uses it.

use std::collections::{HashMap, VecDeque};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::runtime::{Handle, Id};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

use super::addresses::{AddressLease, Addresses};
use super::circuit::Circuit;
use super::connect::{Dialer, Route, cannot_connect};
use super::connection::Connection;
use crate::env::Waits;
use crate::error::{Error, ErrorKind, Result};
use crate::limit::limiter::Permit;
use crate::message::answer::Dialect;

/// How long an idle connection is kept.
const IDLE_MAX: Duration = Duration::from_millis(3_500);

/// A connection that was put away within this time is used without a look: hardly anything can have
/// been heard of it between two small requests of one task, and a request that it loses is sent
/// once more over a new one.
const UNLOOKED_WITHIN: Duration = Duration::from_millis(1);

/// A host that accepts no connection and sends no answer for this long is gone: what is still to be
/// sent fails at its first attempt, so that a job whose server died ends soon.
const GONE_AFTER: Duration = Duration::from_secs(30);

/// All connections of a client.
#[derive(Debug)]
pub(crate) struct Pool {
    dialer: Dialer,
    slots: Arc<Semaphore>,
    open: Arc<AtomicUsize>,
    open_max: usize,
    hosts: Mutex<HashMap<Route, Arc<Host>>>,
}

/// The connections to one host along one route.
#[derive(Debug)]
pub(crate) struct Host {
    route: Route,
    idle: Mutex<VecDeque<Idle>>,
    addresses: Addresses,
    resolving: tokio::sync::Mutex<()>,
    was_reached: AtomicBool,
    failing: Failing,
    circuit: Circuit,
    dialect: Dialect,
    waits: Arc<Waits>,
}

#[derive(Debug)]
struct Idle {
    connection: Box<Connection>,
    since: Instant,
    /// Whose reactor watches the socket: another runtime would be woken late, or never.
    runtime: Id,
}

/// Counts a connection that is open or being opened, until dropped.
#[derive(Debug)]
struct OpenCount(Arc<AtomicUsize>);

impl OpenCount {
    fn new(open: &Arc<AtomicUsize>) -> Self {
        open.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(open))
    }
}

impl Drop for OpenCount {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// What an open connection is counted by.
#[derive(Debug)]
pub(crate) struct OpenGuard {
    _count: OpenCount,
    address: AddressLease,
}

impl OpenGuard {
    /// Where the connection goes.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address.address()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A connection in use.
#[derive(Debug)]
pub(crate) struct Lease {
    pub(crate) connection: Box<Connection>,
    /// It has carried a request before.
    pub(crate) is_reused: bool,
    /// Leave for the request that it carries.
    pub(crate) permit: Option<Permit>,
    host: Arc<Host>,
    _slot: OwnedSemaphorePermit,
}

impl Lease {
    /// Keeps the connection for the next request if it can carry one, else closes it.
    pub(crate) fn release(mut self) {
        if self.connection.is_idle() {
            self.host.keep(self.connection);
        }
    }

    /// Scheme and authority in quotes, and the proxy on the way, for messages.
    pub(crate) fn shown(&self) -> String {
        self.host.shown()
    }

    /// Where it is said that nothing comes.
    pub(crate) fn waits(&self) -> &Waits {
        &self.host.waits
    }
}

/// Since when no new connection came about and nothing was answered, while none does.
#[derive(Debug, Default)]
struct Failing {
    since: Mutex<Option<Instant>>,
    /// Whether there is such a time, without the lock.
    is_on: AtomicBool,
}

impl Failing {
    fn begin(&self) {
        let mut since = lock(&self.since);
        since.get_or_insert_with(Instant::now);
        self.is_on.store(true, Ordering::Relaxed);
    }

    fn end(&self) {
        if self.is_on.load(Ordering::Relaxed) {
            let mut since = lock(&self.since);
            *since = None;
            self.is_on.store(false, Ordering::Relaxed);
        }
    }

    fn lasts(&self, at_least: Duration) -> bool {
        lock(&self.since).is_some_and(|since| since.elapsed() >= at_least)
    }
}

impl Host {
    /// Whether a connection to it ever came about.
    pub(crate) fn was_reached(&self) -> bool {
        self.was_reached.load(Ordering::Relaxed)
    }

    /// Whether the host was reached before, and for so long now has neither accepted a connection
    /// nor answered that requests should no longer be retried.
    pub(crate) fn is_gone(&self) -> bool {
        self.failing.lasts(GONE_AFTER)
    }

    /// Circuit breaker of the host.
    pub(crate) fn circuit(&self) -> &Circuit {
        &self.circuit
    }

    /// What is known of its answers.
    pub(crate) fn dialect(&self) -> &Dialect {
        &self.dialect
    }

    /// Scheme and authority in quotes, and the proxy on the way, for messages.
    pub(crate) fn shown(&self) -> String {
        self.route.shown()
    }

    fn note_dial(&self, is_connected: bool) {
        if is_connected {
            self.was_reached.store(true, Ordering::Relaxed);
            self.note_life();
        } else {
            self.failing.begin();
        }
    }

    /// A new connection, or an answer over an old one: what refuses connections for want of room
    /// goes on answering, and is not gone.
    pub(crate) fn note_life(&self) {
        self.failing.end();
    }

    fn keep(&self, connection: Box<Connection>) {
        let (since, runtime) = (Instant::now(), Handle::current().id());
        let mut idle = lock(&self.idle);
        idle.push_back(Idle { connection, since, runtime });
        let expired = idle.front().is_some_and(|oldest| oldest.since + IDLE_MAX < since);
        let oldest = if expired { idle.pop_front() } else { None };
        drop(idle);
        drop(oldest);
    }

    /// The idle connection that this runtime used last, if it is still alive; not one to an
    /// address to avoid.
    fn take_idle(&self, avoid: Option<SocketAddr>) -> Option<Box<Connection>> {
        let runtime = Handle::current().id();
        loop {
            let mut idle = self.take_idle_of(runtime, avoid)?;
            let idle_for = idle.since.elapsed();
            if idle_for > IDLE_MAX {
                self.drop_expired();
                return None;
            }
            if idle_for <= UNLOOKED_WITHIN || idle.connection.is_alive() {
                return Some(idle.connection);
            }
        }
    }

    fn take_idle_of(&self, runtime: Id, avoid: Option<SocketAddr>) -> Option<Idle> {
        let mut idle = lock(&self.idle);
        let is_fit = |idle: &Idle| {
            idle.runtime == runtime && avoid.is_none_or(|avoid| avoid != idle.connection.address())
        };
        let at = idle.iter().rposition(is_fit)?;
        idle.remove(at)
    }

    fn drop_expired(&self) {
        let mut idle = lock(&self.idle);
        let fresh = idle.partition_point(|idle| idle.since.elapsed() > IDLE_MAX);
        let expired: Vec<_> = idle.drain(..fresh).collect();
        drop(idle);
        drop(expired);
    }
}

impl Pool {
    pub(crate) fn new(dialer: Dialer, open_max: usize) -> Self {
        let open_max = open_max.clamp(1, Semaphore::MAX_PERMITS);
        Self {
            dialer,
            slots: Arc::new(Semaphore::new(open_max)),
            open: Arc::default(),
            open_max,
            hosts: Mutex::default(),
        }
    }

    /// The host at the end of a route; the same one each time.
    pub(crate) fn host(&self, route: Route) -> Arc<Host> {
        let mut hosts = lock(&self.hosts);
        if let Some(host) = hosts.get(&route) {
            return Arc::clone(host);
        }
        let host = Arc::new(Host {
            route: route.clone(),
            idle: Mutex::default(),
            addresses: Addresses::default(),
            resolving: tokio::sync::Mutex::default(),
            was_reached: AtomicBool::new(false),
            failing: Failing::default(),
            circuit: Circuit::default(),
            dialect: Dialect::default(),
            waits: Arc::clone(&self.dialer.env.waits),
        });
        hosts.insert(route, Arc::clone(&host));
        host
    }

    /// Waits for a slot under the cap and gives a connection: an idle one, unless a `fresh` one is
    /// wanted; to another address than the one to avoid, where the host has several.
    pub(crate) async fn checkout(
        &self,
        host: &Arc<Host>,
        fresh: bool,
        avoid: Option<SocketAddr>,
    ) -> Result<Lease> {
        let slot = match Arc::clone(&self.slots).try_acquire_owned() {
            Ok(slot) => slot,
            Err(_) => Arc::clone(&self.slots)
                .acquire_owned()
                .await
                .map_err(|_| Error::new(ErrorKind::Cancelled, "the client was closed"))?,
        };
        let avoid = avoid.filter(|_| host.addresses.book().has_several());
        let kept = if fresh { None } else { host.take_idle(avoid) };
        let is_reused = kept.is_some();
        let connection = match kept {
            Some(connection) => connection,
            None => self.dial(host, avoid).await?,
        };
        let host = Arc::clone(host);
        Ok(Lease { connection, is_reused, permit: None, host, _slot: slot })
    }

    async fn dial(&self, host: &Host, avoid: Option<SocketAddr>) -> Result<Box<Connection>> {
        self.resolve(host).await?;
        let count = OpenCount::new(&self.open);
        self.make_room();
        let dialing = self.dialer.dial(&host.route, &host.addresses, avoid);
        let (waits, limit) = (&self.dialer.env.waits, self.dialer.connect_timeout);
        let dialed =
            waits.during(limit, || format!("a connection to {}", host.shown()), dialing).await;
        host.note_dial(dialed.is_ok());
        let (wire, address) = dialed?;
        tracing::debug!(address = %address.address(), "connection opened");
        Connection::new(wire, OpenGuard { _count: count, address }).await
    }

    /// Closes one idle connection where the cap is passed: connections in use are bounded by the
    /// slots, so at least one must be idle.
    fn make_room(&self) {
        if self.open.load(Ordering::Relaxed) <= self.open_max {
            return;
        }
        let hosts: Vec<_> = lock(&self.hosts).values().map(Arc::clone).collect();
        let evicted = hosts.iter().find_map(|host| lock(&host.idle).pop_front());
        drop(evicted);
    }

    /// Asks for the host's addresses again when the last answer is old. Others go on meanwhile
    /// with what is known.
    async fn resolve(&self, host: &Host) -> Result<()> {
        let (stale, empty) = {
            let book = host.addresses.book();
            (book.is_stale(Instant::now()), book.is_empty())
        };
        if !stale {
            return Ok(());
        }
        let turn = host.resolving.try_lock();
        let _turn = match turn {
            Ok(turn) => turn,
            Err(_) if !empty => return Ok(()),
            Err(_) => host.resolving.lock().await,
        };
        if !host.addresses.book().is_stale(Instant::now()) {
            return Ok(());
        }
        let (name, port) = host.route.socket_host();
        let asked = self.dialer.env.connector.resolve(name, port);
        let limit = self.dialer.connect_timeout;
        let asked = self.dialer.env.waits.during(
            limit,
            || format!("the address of {name}"),
            tokio::time::timeout(limit, asked),
        );
        let answer = match asked.await {
            Ok(answer) => answer,
            Err(_) => Err(std::io::ErrorKind::TimedOut.into()),
        };
        match answer {
            Ok(addresses) => host.addresses.book().merge(&addresses, Instant::now()),
            Err(error) if empty => return Err(cannot_connect(&host.route, error)),
            Err(error) => tracing::debug!(%error, "name not resolved; the old addresses stay"),
        }
        Ok(())
    }

    /// Connections open now, for tests and reports.
    #[cfg(test)]
    pub(crate) fn open_connections(&self) -> usize {
        self.open.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_failure_lasts_from_the_first_until_something_works() {
        let failing = Failing::default();
        let pass = || tokio::time::advance(GONE_AFTER.mul_f32(0.6));
        failing.end();
        failing.begin();
        pass().await;
        failing.begin();
        assert!(!failing.lasts(GONE_AFTER));
        pass().await;
        assert!(failing.lasts(GONE_AFTER), "the second failure begins nothing anew");
        failing.end();
        assert!(!failing.lasts(GONE_AFTER));
        failing.begin();
        pass().await;
        assert!(!failing.lasts(GONE_AFTER));
    }
}
