//! What is known of a request that may be sent twice while it is under way.

use std::net::SocketAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::failure::Failure;
use super::hedge::{Class, Hedging};
use crate::message::request::Request;
use crate::net::body::OpenAnswer;

/// How soon it is looked again whether a request is late, where nothing is known yet.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// How an attempt ends.
pub(crate) type Ended = Result<OpenAnswer, Failure>;

/// What is known of a request that may be raced.
#[derive(Debug)]
pub(crate) struct Watch<'h> {
    pub(crate) hedging: &'h Hedging,
    class: Class,
    bytes: u64,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// Time after which it may be late by what was known when it began.
    after: Duration,
    sent: Option<(Instant, SocketAddr)>,
    is_raced: bool,
}

impl<'h> Watch<'h> {
    /// Watches a request that may be sent twice.
    pub(crate) fn of(request: &Request<'_>, hedging: &'h Hedging) -> Option<Self> {
        let class = Class::of(request)?;
        let bytes = request.payload.len();
        let after = hedging.begins(class, bytes).unwrap_or(LOOK_AGAIN);
        let state = State { after, sent: None, is_raced: false };
        Some(Self { hedging, class, bytes, state: Mutex::new(state) })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// It is being sent; gives the time after which it is to be polled again, and again.
    pub(crate) fn sent(&self, address: SocketAddr) -> Option<Duration> {
        let mut state = self.state();
        state.sent = Some((Instant::now(), address));
        (!state.is_raced).then_some(state.after)
    }

    pub(crate) fn begin(&self) {
        self.state().sent = None;
    }

    /// Whether it is late now, and there is a second one to be had, which is then taken; gives
    /// where the first was sent.
    pub(crate) fn takes_second(&self) -> Option<SocketAddr> {
        let mut state = self.state();
        let (at, address) = state.sent.filter(|_| !state.is_raced)?;
        let waited = at.elapsed();
        if waited < state.after || !self.hedging.take(self.class, self.bytes, waited) {
            return None;
        }
        state.is_raced = true;
        Some(address)
    }

    /// Watches the second one, which is not raced.
    pub(crate) fn of_second(&self) -> Self {
        let state = State { after: Duration::MAX, sent: None, is_raced: true };
        Self { state: Mutex::new(state), ..*self }
    }

    /// What was taken for a second one is given back where that was not sent.
    pub(crate) fn give_back_unsent(&self) {
        if self.state().sent.is_none() {
            self.hedging.give_back();
        }
    }

    /// Learns from the time that it took, also where the second one was faster.
    pub(crate) fn learn(&self, ended: &Ended) {
        let sent = self.state().sent;
        if let (Some((at, _)), Ok(_)) = (sent, ended) {
            self.hedging.answered(self.class, self.bytes, at.elapsed());
        }
    }
}
