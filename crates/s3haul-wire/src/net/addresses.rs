//! The addresses of one host and how they do: which one the next connection goes to. Pure.
//!
//! Connections are spread over all addresses seen in the last [`REMEMBERED`]; one where connecting
//! failed is set aside for a time that doubles with each failure.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// How long an address counts after the last answer that named it.
const REMEMBERED: Duration = Duration::from_mins(5);
/// How long names are trusted before the next connection asks again.
const FRESH: Duration = Duration::from_secs(3);
/// First time that a failing address is set aside; doubles up to 64 times that.
const SET_ASIDE: Duration = Duration::from_secs(1);

#[derive(Debug)]
struct Entry {
    address: SocketAddr,
    connections: usize,
    failures: u32,
    seen: Instant,
    set_aside_until: Option<Instant>,
    last_picked: u64,
}

/// The addresses of one host.
#[derive(Debug, Default)]
pub(crate) struct AddressBook {
    entries: Vec<Entry>,
    resolved: Option<Instant>,
    picks: u64,
}

impl AddressBook {
    /// Whether the name should be resolved again.
    pub(crate) fn is_stale(&self, now: Instant) -> bool {
        self.resolved.is_none_or(|at| now.duration_since(at) > FRESH)
    }

    /// Whether there is an address to try.
    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Takes the answer of a resolver.
    pub(crate) fn merge(&mut self, addresses: &[SocketAddr], now: Instant) {
        self.resolved = Some(now);
        for &address in addresses {
            match self.find(address) {
                Some(entry) => entry.seen = now,
                None => self.entries.push(Entry {
                    address,
                    connections: 0,
                    failures: 0,
                    seen: now,
                    set_aside_until: None,
                    last_picked: 0,
                }),
            }
        }
        self.entries
            .retain(|entry| entry.connections > 0 || now.duration_since(entry.seen) <= REMEMBERED);
    }

    /// Whether there is more than one.
    pub(crate) fn has_several(&self) -> bool {
        self.entries.len() > 1
    }

    /// The address for the next connection, and how many others there are: the one with the
    /// fewest connections of those not set aside, else the one whose time ends first; rather any
    /// of them than the one to avoid. Counts the connection; [`Self::closed`] takes it back.
    fn pick(&mut self, now: Instant, avoid: Option<SocketAddr>) -> Option<(SocketAddr, usize)> {
        self.picks += 1;
        let (picks, others) = (self.picks, self.entries.len().saturating_sub(1));
        let chosen = self.entries.iter_mut().min_by_key(|entry| {
            let waits = entry.set_aside_until.filter(|until| *until > now);
            let gone = now.duration_since(entry.seen) > REMEMBERED;
            let avoided = avoid == Some(entry.address);
            (waits, avoided, gone, entry.connections, entry.last_picked)
        })?;
        chosen.last_picked = picks;
        chosen.connections += 1;
        Some((chosen.address, others))
    }

    /// A connection is open.
    fn opened(&mut self, address: SocketAddr) {
        if let Some(entry) = self.find(address) {
            entry.failures = 0;
            entry.set_aside_until = None;
        }
    }

    /// A picked address did not answer.
    fn failed(&mut self, address: SocketAddr, now: Instant) {
        if let Some(entry) = self.find(address) {
            entry.set_aside_until = Some(now + SET_ASIDE * (1 << entry.failures.min(6)));
            entry.failures += 1;
        }
    }

    /// A connection ended.
    fn closed(&mut self, address: SocketAddr) {
        if let Some(entry) = self.find(address) {
            entry.connections = entry.connections.saturating_sub(1);
        }
    }

    fn find(&mut self, address: SocketAddr) -> Option<&mut Entry> {
        self.entries.iter_mut().find(|entry| entry.address == address)
    }
}

/// The addresses of one host, shared by its connections.
#[derive(Clone, Debug, Default)]
pub(crate) struct Addresses(Arc<Mutex<AddressBook>>);

impl Addresses {
    /// The book itself, for as long as nothing is awaited.
    pub(crate) fn book(&self) -> MutexGuard<'_, AddressBook> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The address for the next connection, and how many others there are.
    pub(crate) fn pick(&self, avoid: Option<SocketAddr>) -> Option<(AddressLease, usize)> {
        let (address, others) = self.book().pick(Instant::now(), avoid)?;
        Some((AddressLease { addresses: self.clone(), address }, others))
    }
}

/// An address that a connection uses, or tries to; counted until dropped.
#[derive(Debug)]
pub(crate) struct AddressLease {
    addresses: Addresses,
    address: SocketAddr,
}

impl AddressLease {
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// A connection was opened there.
    pub(crate) fn opened(&self) {
        self.addresses.book().opened(self.address);
    }

    /// Nothing answered there.
    pub(crate) fn failed(&self) {
        self.addresses.book().failed(self.address, Instant::now());
    }
}

impl Drop for AddressLease {
    fn drop(&mut self) {
        self.addresses.book().closed(self.address);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(last: u8) -> SocketAddr {
        SocketAddr::from(([10, 0, 0, last], 443))
    }

    #[tokio::test(start_paused = true)]
    async fn connections_are_spread_evenly_and_failures_are_set_aside() {
        let mut book = AddressBook::default();
        let now = Instant::now();
        assert!(book.is_stale(now) && book.is_empty());
        book.merge(&[address(1), address(2), address(3)], now);
        let picked: Vec<_> = (0..6).map(|_| book.pick(now, None).unwrap().0).collect();
        for last in 1..=3 {
            assert_eq!(picked.iter().filter(|one| **one == address(last)).count(), 2);
        }
        book.closed(address(2));
        assert_eq!(book.pick(now, None).unwrap(), (address(2), 2));
        book.failed(address(2), now);
        book.closed(address(2));
        let next: Vec<_> = (0..2).map(|_| book.pick(now, None).unwrap().0).collect();
        assert!(!next.contains(&address(2)));
        assert_ne!(book.pick(now + SET_ASIDE, Some(address(2))).unwrap().0, address(2));
        assert_eq!(book.pick(now + SET_ASIDE, None).unwrap().0, address(2));
    }

    #[tokio::test(start_paused = true)]
    async fn addresses_are_forgotten_after_a_while() {
        let mut book = AddressBook::default();
        let now = Instant::now();
        book.merge(&[address(1)], now);
        let later = now + REMEMBERED + Duration::from_secs(1);
        book.merge(&[address(2)], later);
        assert_eq!(book.pick(later, Some(address(2))).unwrap(), (address(2), 0));
    }
}
