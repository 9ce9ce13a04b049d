//! A request far beyond its expected time is raced by a second one, on another connection.
//!
//! [`super::hedge`] says when, and how often at most. It is decided while the headers of an answer
//! are awaited: a body that stops is the business of whoever reads it. The first answer counts,
//! also where it says that there is no such object; the other request is dropped, which closes its
//! connection. A failure that may pass counts only when the other request has failed, too. The
//! time counts from the sending on: waiting for leave, for a slot or for a connection is not slow
//! service. A request in time costs a look at the clock for each time that it is polled, and no
//! timer of its own: that of its connection is set to the earlier time. What is late is decided by
//! what is known by then, so that requests whose kind has become slow are not raced in a row.
//!
//! A second request is one in flight like any other. Where a client was told of the bound of a job
//! ([`Client::within`]), it waits for a place there while the first one goes on.
//!
//! # Parts that are sent twice
//!
//! Both requests have the same bytes, so whichever a server keeps is right. A request of which the
//! connection has not taken all bytes never becomes a part, and is dropped at once. One that was
//! sent whole may become a part later, and that would be no harm to the object, but could be to its
//! upload: with SSE-KMS or SSE-C the `ETag` of a part differs each time, so that completing with
//! the other one's is refused; and an upload that is aborted meanwhile may come back. So it is
//! waited for, [`REST_TIME_MAX`] at most; what a server then still holds back is as late as a
//! part whose connection was lost, which it is not spared either.

use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

use super::attempt::Failure;
use super::hedge::{Class, Hedging};
use super::retry::Verdict;
use crate::client::Client;
use crate::error::ErrorKind;
use crate::message::payload::{Payload, SendProgress};
use crate::message::request::{OpenAnswer, Request};
use crate::send::retry_loop::Run;

/// How soon it is looked again whether a request is late, where nothing is known yet.
const LOOK_AGAIN: Duration = Duration::from_secs(1);
/// How long a part that was sent twice is waited for.
const REST_TIME_MAX: Duration = Duration::from_secs(5);

type Ended = Result<OpenAnswer, Failure>;

/// What is known of a request that may be raced.
#[derive(Debug)]
pub(crate) struct Watch<'h> {
    hedging: &'h Hedging,
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

    fn begin(&self) {
        self.state().sent = None;
    }

    /// Whether it is late now, and there is a second one to be had, which is then taken; gives
    /// where the first was sent.
    fn takes_second(&self) -> Option<SocketAddr> {
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
    fn of_second(&self) -> Self {
        let state = State { after: Duration::MAX, sent: None, is_raced: true };
        Self { state: Mutex::new(state), ..*self }
    }

    /// What was taken for a second one is given back where that was not sent.
    fn give_back_unsent(&self) {
        if self.state().sent.is_none() {
            self.hedging.give_back();
        }
    }

    /// Learns from the time that it took, also where the second one was faster.
    fn learn(&self, ended: &Ended) {
        let sent = self.state().sent;
        if let (Some((at, _)), Ok(_)) = (sent, ended) {
            self.hedging.answered(self.class, self.bytes, at.elapsed());
        }
    }
}

/// Whether the first request would fail like the second: an object is not there, or not as it
/// should be, whoever asks.
fn is_answer(failure: &Failure) -> bool {
    matches!(failure.error.kind(), ErrorKind::NotFound | ErrorKind::PreconditionFailed)
}

/// The request to send beside another one. What is told of the bytes of the first is not told
/// twice.
fn again<'r>(request: &Request<'r>) -> Request<'r> {
    let mut second = request.clone();
    if !second.payload.is_empty() {
        second.payload = second.payload.with_progress(SendProgress::new(Arc::new(|_| {})));
    }
    second
}

/// The request that is still under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Left {
    Neither,
    First,
    Second,
}

/// What the faster of two requests ends with, or what the first does where both fail.
async fn faster(
    mut first: Pin<&mut (impl Future<Output = Ended> + Send)>,
    mut second: Pin<&mut (impl Future<Output = Ended> + Send)>,
    hedging: &Hedging,
) -> (Ended, Left) {
    tokio::select! {
        biased;
        ended = &mut first => match ended {
            Err(failure) if failure.verdict != Verdict::Permanent => {
                heed(hedging, &failure);
                let ended = match second.await {
                    Err(other) if !is_answer(&other) => Err(failure),
                    ended => ended,
                };
                (ended, Left::Neither)
            }
            ended => (ended, Left::Second),
        },
        ended = &mut second => match ended {
            Err(failure) if !is_answer(&failure) => {
                heed(hedging, &failure);
                (first.await, Left::Neither)
            }
            ended => (ended, Left::First),
        },
    }
}

/// Waits for a part that was sent whole and is not needed any more.
async fn settle(left: impl Future<Output = Ended>, payload: &Payload) {
    let is_partly_sent = payload.progress().is_some_and(|told| told.told() < payload.len());
    if !payload.is_empty() && !is_partly_sent {
        let _ = tokio::time::timeout(REST_TIME_MAX, left).await;
    }
}

/// Nothing extra is sent to who asks for less.
pub(crate) fn heed(hedging: &Hedging, failure: &Failure) {
    if failure.verdict == Verdict::Throttle {
        hedging.throttled();
    }
}

impl Client {
    /// A clone whose second requests take a permit each, of those that bound the requests of a
    /// job.
    #[must_use]
    pub fn within(&self, room: Arc<Semaphore>) -> Self {
        Self { room: Some(room), ..self.clone() }
    }

    /// Sends a request once, or twice where the first takes too long.
    pub(crate) async fn attempt(
        &self,
        run: &mut Run<'_>,
        request: &Request<'_>,
        watch: Option<&Watch<'_>>,
    ) -> Ended {
        if let Some(watch) = watch {
            watch.begin();
        }
        // The second place among the requests in flight is given back after the first request.
        let (ended, _room) = {
            let mut first = pin!(run.attempt());
            let in_time = std::future::poll_fn(|cx| match first.as_mut().poll(cx) {
                Poll::Ready(ended) => Poll::Ready(Ok(ended)),
                Poll::Pending => {
                    let Some(watch) = watch else { return Poll::Pending };
                    watch.takes_second().map_or(Poll::Pending, |at| Poll::Ready(Err((watch, at))))
                }
            });
            match in_time.await {
                Ok(ended) => {
                    if let Some(watch) = watch {
                        watch.learn(&ended);
                    }
                    (ended, None)
                }
                Err((watch, at)) => Box::pin(self.race(first, request, watch, at)).await,
            }
        };
        ended
    }

    /// Sends a second request as soon as there is room for it and lets the two race.
    async fn race(
        &self,
        mut first: Pin<&mut (impl Future<Output = Ended> + Send)>,
        request: &Request<'_>,
        watch: &Watch<'_>,
        avoid: SocketAddr,
    ) -> (Ended, Option<OwnedSemaphorePermit>) {
        let room = tokio::select! {
            biased;
            ended = &mut first => {
                watch.hedging.give_back();
                watch.learn(&ended);
                return (ended, None);
            }
            room = self.room() => room,
        };
        tracing::debug!(operation = request.operation.name, "late, sent once more");
        let request_again = again(request);
        let second_watch = watch.of_second();
        let run = Run::new(&self.inner, &request_again).away_from(Some(avoid));
        let mut run = run.watched(Some(&second_watch));
        let mut second = pin!(run.attempt());
        let (ended, left) = faster(first.as_mut(), second.as_mut(), watch.hedging).await;
        watch.learn(&ended);
        match left {
            Left::Neither => {}
            Left::First => settle(first, &request.payload).await,
            Left::Second => settle(second, &request_again.payload).await,
        }
        second_watch.give_back_unsent();
        (ended, room)
    }

    /// A place among the requests in flight; none where there is no bound.
    async fn room(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(self.room.as_ref()?).acquire_owned().await.ok()
    }
}

#[cfg(test)]
mod tests;
