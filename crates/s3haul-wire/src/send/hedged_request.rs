//! A request far beyond its expected time is raced by a second one, on another connection.
//!
//! [`super::hedge`] says when, and how often at most. It is decided while the headers of an answer
//! are awaited: a body that stops is the business of its reader. The first answer counts, also
//! where it says that there is no such object; the other request is dropped, which closes its
//! connection. A failure that may pass counts only when the other request has failed, too. The time
//! counts from the sending on: waiting for a permit, for a slot or for a connection is not slow
//! service. A request in time costs a look at the clock for each time that it is polled, and no
//! timer of its own: that of its connection is set to the earlier time. What is late is decided by
//! what is known by then, so that requests whose kind has become slow are not raced in a row.
//!
//! A second request is one in flight like any other. If the client has the bound of a job
//! ([`Client::within`]), the second request waits for a place there while the first one goes on.
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
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::attempt::Run;
use super::failure::Failure;
use super::hedge::Hedging;
use super::retry::Verdict;
use super::shared::Shared;
use super::watch::{Ended, Watch};
use crate::error::ErrorKind;
use crate::message::payload::{Payload, SendProgress};
use crate::message::request::Request;

/// How long a part that was sent twice is waited for.
const REST_TIME_MAX: Duration = Duration::from_secs(5);

/// Whether the first request would fail like the second: for both of them the object is not there,
/// or not as it should be.
fn is_answer(failure: &Failure) -> bool {
    matches!(failure.error.kind(), ErrorKind::NotFound | ErrorKind::PreconditionFailed)
}

/// The request to send beside another one. It reports no progress, as the first one reports the
/// same bytes.
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
    let is_partly_sent =
        payload.progress().is_some_and(|progress| progress.reported() < payload.len());
    if !payload.is_empty() && !is_partly_sent {
        let _ = tokio::time::timeout(REST_TIME_MAX, left).await;
    }
}

/// Stops extra requests for a while if the service asked to slow down.
pub(crate) fn heed(hedging: &Hedging, failure: &Failure) {
    if failure.verdict == Verdict::Throttle {
        hedging.throttled();
    }
}

/// Sends a request once, or twice where the first takes too long. The second one takes a permit of
/// `room`, if there is one.
pub(crate) async fn attempt(run: &mut Run<'_>, room: Option<&Arc<Semaphore>>) -> Ended {
    let (shared, request, watch) = (run.shared, run.request, run.watch);
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
            Err((watch, avoid)) => {
                let second = Second { shared, request, watch, avoid, room };
                Box::pin(race(first, second)).await
            }
        }
    };
    ended
}

/// What the second request is made of.
struct Second<'r> {
    shared: &'r Shared,
    request: &'r Request<'r>,
    watch: &'r Watch<'r>,
    /// The address of the first.
    avoid: SocketAddr,
    room: Option<&'r Arc<Semaphore>>,
}

/// Sends a second request as soon as there is room for it and lets the two race.
async fn race(
    mut first: Pin<&mut (impl Future<Output = Ended> + Send)>,
    second: Second<'_>,
) -> (Ended, Option<OwnedSemaphorePermit>) {
    let Second { shared, request, watch, avoid, room } = second;
    let permit = tokio::select! {
        biased;
        ended = &mut first => {
            watch.hedging.give_back();
            watch.learn(&ended);
            return (ended, None);
        }
        permit = permit_of(room) => permit,
    };
    tracing::debug!(operation = request.operation.name, "late, sent once more");
    if let Some(meter) = shared.admission.meter() {
        meter.hedged();
    }
    let request_again = again(request);
    let second_watch = watch.of_second();
    let run = Run::new(shared, &request_again).away_from(Some(avoid));
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
    (ended, permit)
}

/// A permit among those of the requests in flight; `None` where there is no bound.
async fn permit_of(room: Option<&Arc<Semaphore>>) -> Option<OwnedSemaphorePermit> {
    Arc::clone(room?).acquire_owned().await.ok()
}

#[cfg(test)]
mod tests;
