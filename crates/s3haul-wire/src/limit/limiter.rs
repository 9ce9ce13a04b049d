//! Admission of requests: every attempt waits here until the controller admits it.
//!
//! [`Controller`] is pure; this module supplies the time and queues the requests that it refuses.
//! There are two queues: one for **room**, released by answers, and one for a **rate**, checked by
//! a timer task. The task exists only while requests wait for a rate; a waiting request starts
//! another one if the task's runtime has ended or is idle. Later requests do not overtake: where
//! others wait for room, a request waits behind them, and the same holds for ranges with a rate. A
//! range without one is not held up by those that have one.
//!
//! The queues are bounded by the requests that exist, which their callers bound.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use http::{Method, StatusCode};
use smallvec::SmallVec;
use tokio::runtime::Handle;
use tokio::sync::futures::Notified;
use tokio::sync::{Notify, oneshot};
use tokio::task::AbortHandle;
use tokio::time::Instant;

use crate::limit::controller::{
    Ask, Bounds, Class, Controller, EARLY_AFTER, Grant, LearntRange, Outcome,
};
use crate::limit::meter::{Attempt, Meter};
use crate::message::request::Request;

/// Grain of waiting for a rate. Tokens are saved for longer, so that none is lost.
const TICK: Duration = Duration::from_millis(2);
/// Longest time between two checks of the requests that wait for a rate.
const LOOK_MAX: Duration = Duration::from_secs(1);

/// How many requests are in flight, and how many a second, of all clients that hold a clone.
#[derive(Clone, Debug)]
pub struct Admission {
    pub(crate) limiter: Arc<Limiter>,
}

/// What holds requests at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AdmissionLoad {
    /// GET and HEAD that may be in flight, as far as was found.
    pub read_limit: u32,
    /// The same of PUT, POST and DELETE.
    pub write_limit: u32,
    /// Requests that wait for others to end.
    pub waiting_for_room: usize,
    /// Requests that wait for a rate: that of `max_requests_per_second`, or of a range of keys that
    /// the service refused.
    pub waiting_for_rate: usize,
    /// Requests that were refused and wait before they are tried again.
    pub resting: usize,
}

#[derive(Debug)]
pub(crate) struct Limiter {
    started: Instant,
    state: Mutex<State>,
    /// Refused requests that wait before they ask again.
    resting: AtomicUsize,
    /// Whether the first request of a class has a connection.
    has_begun: [AtomicBool; 2],
    /// Notifies that more requests are worth making although none has been answered.
    grown_early: Notify,
    /// Whether it has been found out if they are.
    has_looked: AtomicBool,
    /// Counts requests, if metrics or progress are enabled.
    meter: Option<Arc<Meter>>,
}

#[derive(Debug)]
pub(crate) struct State {
    pub(crate) controller: Controller,
    /// Wait for room, by class.
    for_room: [VecDeque<Waiting>; 2],
    /// Wait for a rate.
    for_rate: VecDeque<Waiting>,
    timer: Option<Timer>,
    /// Limits that were logged last.
    logged_limits: [u32; 2],
}

/// The task that checks the requests that wait for a rate, and when it does.
#[derive(Debug)]
struct Timer {
    task: AbortHandle,
    due: Duration,
}

impl Timer {
    /// Whether it looks in time, as far as known.
    fn runs(&self, now: Duration) -> bool {
        !self.task.is_finished() && now < self.due + LOOK_MAX
    }
}

#[derive(Debug)]
struct Waiting {
    request_key: RequestKey,
    waiting_since: Duration,
    wakeup: oneshot::Sender<Wakeup>,
}

/// Message to a waiting request.
#[derive(Debug)]
enum Wakeup {
    Go(Permit),
    /// There is room, but not yet for the rate of its range: the next wakeup arrives here.
    Later(oneshot::Receiver<Wakeup>),
}

/// Slot of a waiting request in a queue.
#[derive(Debug)]
struct WaitSlot {
    receiver: oneshot::Receiver<Wakeup>,
    is_for_rate: bool,
}

/// What the controller decides by; kept while the request is in flight.
#[derive(Clone, Debug)]
struct RequestKey {
    class: Class,
    key: Box<[u8]>,
    kind: u8,
    cost: u32,
    is_rate_only: bool,
    is_small: bool,
}

/// Largest body of a request that moves few bytes.
const SMALL_MAX: u64 = 1 << 20;

impl RequestKey {
    fn of(request: &Request<'_>) -> Self {
        let is_read = request.method == Method::GET || request.method == Method::HEAD;
        Self {
            class: if is_read { Class::Read } else { Class::Write },
            key: partition_key(request),
            kind: request.operation.kind(),
            cost: request.keys,
            // A cleanup does not wait for the requests that it aborts.
            is_rate_only: request.operation.is_listing() || request.operation.is_cleanup(),
            // How much a GET brings is not known here.
            is_small: request.method != Method::GET
                && (!request.operation.slow || request.operation.is_copy())
                && request.keys == 1
                && request.payload.len() <= SMALL_MAX,
        }
    }

    fn ask(&self) -> Ask<'_> {
        let Self { class, key, kind, cost, is_rate_only, is_small } = self;
        let (is_rate_only, is_small) = (*is_rate_only, *is_small);
        Ask { class: *class, key, kind: *kind, cost: *cost, is_rate_only, is_small }
    }
}

/// Bucket and key, which order requests as the service's partitions do; of a listing the key
/// after which it goes on.
fn partition_key(request: &Request<'_>) -> Box<[u8]> {
    let listed = |name| request.query.iter().find(|(other, _)| *other == name);
    let within = match request.key {
        Some(key) => key,
        None if request.operation.is_listing() => ["start-after", "marker", "key-marker", "prefix"]
            .into_iter()
            .find_map(listed)
            .map_or("", |(_, value)| value),
        None => "",
    };
    let bucket = request.bucket.unwrap_or_default();
    let mut place = Vec::with_capacity(bucket.len() + 1 + within.len());
    place.extend_from_slice(bucket.as_bytes());
    place.push(b'/');
    place.extend_from_slice(within.as_bytes());
    place.into_boxed_slice()
}

/// Permission for one attempt. Dropping it reports to the controller how the attempt ended.
#[derive(Debug)]
pub(crate) struct Permit {
    limiter: Arc<Limiter>,
    request_key: RequestKey,
    /// How long its request waited for it.
    waited: Duration,
    sent_at: Duration,
    /// When its connection was open.
    connected_at: Duration,
    outcome: Outcome,
    /// What is measured of the attempt, once it is being sent and if there is a meter.
    attempt: Option<Box<Attempt>>,
}

impl Permit {
    /// How long its request waited for it.
    pub(crate) fn waited(&self) -> Duration {
        self.waited
    }

    /// Records success, and `more` bytes of the object moved.
    pub(crate) fn moved(&mut self, more: u64) {
        let before = if let Outcome::Done { bytes } = self.outcome { bytes } else { 0 };
        self.outcome = Outcome::Done { bytes: before + more };
    }

    /// Records that the request goes out.
    pub(crate) fn sending(&mut self, operation: &'static str) {
        let is_metered = self.limiter.meter.is_some();
        self.attempt = is_metered.then(|| Box::new(Attempt { operation, ..Attempt::default() }));
    }

    /// Records that a connection had to be opened for it, which is open now.
    pub(crate) fn connected(&mut self) {
        self.connected_at = self.limiter.now();
        let RequestKey { class, is_rate_only, .. } = self.request_key;
        let has_begun = &self.limiter.has_begun[class as usize];
        if !is_rate_only && !has_begun.swap(true, Ordering::Relaxed) {
            self.limiter.look_early(class);
        }
    }

    /// Records the status of the answer to a request with a body of so many bytes.
    pub(crate) fn answered(&mut self, status: StatusCode, sent_bytes: u64) {
        let Some(attempt) = &mut self.attempt else { return };
        attempt.status = status.as_u16();
        attempt.head = self.limiter.now().saturating_sub(self.sent_at);
        attempt.sent_bytes = if status.is_success() { sent_bytes } else { 0 };
    }

    fn measure(&self, meter: &Meter) {
        meter.end();
        if self.outcome == Outcome::Throttled {
            meter.refused();
        }
        let Some(attempt) = &self.attempt else { return };
        let moved = if let Outcome::Done { bytes } = self.outcome { bytes } else { 0 };
        let attempt = Attempt {
            whole: self.limiter.now().saturating_sub(self.sent_at),
            received_bytes: moved.saturating_sub(attempt.sent_bytes),
            is_read: self.request_key.class == Class::Read,
            ..**attempt
        };
        meter.attempt(attempt);
    }

    /// Records that the service refused for overload.
    pub(crate) fn throttled(&mut self) {
        self.outcome = Outcome::Throttled;
    }
}

/// A refused request that waits before it asks again.
pub(crate) struct Rest<'a>(&'a AtomicUsize);

impl Drop for Rest<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        if let Some(meter) = &self.limiter.meter {
            self.measure(meter);
        }
        self.limiter.release(self);
    }
}

impl Admission {
    /// Starts small, within the bounds.
    pub fn new(bounds: Bounds) -> Self {
        Self::metered(bounds, None)
    }

    /// The same, which counts what requests do.
    pub fn metered(bounds: Bounds, meter: Option<Arc<Meter>>) -> Self {
        let state = State {
            controller: Controller::new(bounds, Duration::ZERO),
            for_room: Default::default(),
            for_rate: VecDeque::new(),
            timer: None,
            logged_limits: [0; 2],
        };
        Self { limiter: Arc::new(Limiter::new(state, meter)) }
    }

    /// Counts what its requests do.
    pub fn meter(&self) -> Option<&Arc<Meter>> {
        self.limiter.meter.as_ref()
    }

    /// What holds requests now.
    pub fn load(&self) -> AdmissionLoad {
        let state = self.limiter.lock();
        let [read_limit, write_limit] =
            [Class::Read, Class::Write].map(|class| state.controller.limit(class));
        AdmissionLoad {
            read_limit,
            write_limit,
            waiting_for_room: state.for_room.iter().map(VecDeque::len).sum(),
            waiting_for_rate: state.for_rate.len(),
            resting: self.limiter.resting.load(Ordering::Relaxed),
        }
    }

    /// What was learnt of a class of operations: ranges of bucket and key, with a slash between.
    /// Nothing where no limit was found.
    pub fn learnt(&self, class: Class) -> Vec<LearntRange> {
        self.limiter.lock().controller.learnt(class)
    }

    /// Begins with what another process learnt.
    pub fn recall(&self, class: Class, learnt: Vec<LearntRange>) {
        let now = self.limiter.now();
        self.limiter.lock().controller.recall(now, class, learnt);
    }

    /// How many requests it is worth making at once: what may be in flight of either class, some
    /// that are being made, and some for those that wait for the rate of their range or after a
    /// refusal, so that they do not hold up the others.
    pub(crate) fn requests_wanted(&self) -> usize {
        let state = self.limiter.lock();
        let limit = [Class::Read, Class::Write].map(|class| state.controller.limit(class));
        let limit = limit[0].max(limit[1]) as usize;
        limit + limit / 4 + state.for_rate.len() + self.limiter.resting.load(Ordering::Relaxed)
    }

    /// Ends when more requests are worth making although none has been answered, which may never
    /// be. `None` once that has been found out.
    pub(crate) fn grown_early(&self) -> Option<Notified<'_>> {
        let grown = self.limiter.grown_early.notified();
        (!self.limiter.has_looked.load(Ordering::Acquire)).then_some(grown)
    }

    /// Counts a refused request as one that waits for as long as this is held.
    pub(crate) fn rest(&self) -> Rest<'_> {
        self.limiter.resting.fetch_add(1, Ordering::Relaxed);
        Rest(&self.limiter.resting)
    }

    /// Waits until an attempt may be made.
    pub(crate) async fn enter(&self, request: &Request<'_>) -> Permit {
        let request_key = RequestKey::of(request);
        let mut place = match Limiter::try_enter(&self.limiter, request_key) {
            Ok(permit) => return permit,
            Err(place) => place,
        };
        loop {
            match place.wakeup(&self.limiter).await {
                Wakeup::Go(permit) => return permit,
                Wakeup::Later(receiver) => place = WaitSlot { receiver, is_for_rate: true },
            }
        }
    }
}

impl WaitSlot {
    /// Requests that wait for room are released by the answers that make it, and need no timer:
    /// while one waits for room, others are in flight.
    async fn wakeup(&mut self, limiter: &Arc<Limiter>) -> Wakeup {
        let receiver = loop {
            if !self.is_for_rate {
                break (&mut self.receiver).await;
            }
            match tokio::time::timeout(LOOK_MAX, &mut self.receiver).await {
                Ok(receiver) => break receiver,
                // The runtime of the timer task may have ended, or be idle.
                Err(_) => limiter.ensure_timer(),
            }
        };
        receiver.expect("the queues outlive the requests that wait in them")
    }
}

impl Limiter {
    fn new(state: State, meter: Option<Arc<Meter>>) -> Self {
        let (started, resting) = (Instant::now(), AtomicUsize::new(0));
        Self {
            started,
            state: Mutex::new(state),
            resting,
            has_begun: Default::default(),
            grown_early: Notify::new(),
            has_looked: AtomicBool::new(false),
            meter,
        }
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self) -> Duration {
        self.started.elapsed()
    }

    fn try_enter(self: &Arc<Self>, request_key: RequestKey) -> Result<Permit, WaitSlot> {
        let now = self.now();
        let mut state = self.lock();
        let grant = state.grant(now, &request_key);
        if grant == Grant::Go {
            drop(state);
            return Ok(self.permit(request_key, now, now));
        }
        let (wakeup, receiver) = oneshot::channel();
        let class = request_key.class as usize;
        let waiting = Waiting { request_key, waiting_since: now, wakeup };
        let is_for_rate = if let Grant::Wait(wait) = grant {
            state.for_rate.push_back(waiting);
            self.start_timer(&mut state, wait);
            true
        } else {
            state.for_room[class].push_back(waiting);
            false
        };
        Err(WaitSlot { receiver, is_for_rate })
    }

    fn permit(
        self: &Arc<Self>,
        request_key: RequestKey,
        waiting_since: Duration,
        sent_at: Duration,
    ) -> Permit {
        let waited = sent_at.saturating_sub(waiting_since);
        if let Some(meter) = &self.meter {
            meter.begin();
        }
        let (limiter, outcome) = (Arc::clone(self), Outcome::Failed);
        let connected_at = sent_at;
        Permit { limiter, request_key, waited, sent_at, connected_at, outcome, attempt: None }
    }

    /// Finds out once whether the first requests of a class wait for their answers.
    fn look_early(self: &Arc<Self>, class: Class) {
        let Ok(runtime) = Handle::try_current() else { return };
        let limiter = Arc::downgrade(self);
        runtime.spawn(async move {
            tokio::time::sleep(EARLY_AFTER).await;
            let Some(limiter) = limiter.upgrade() else { return };
            let now = limiter.now();
            let mut state = limiter.lock();
            let has_grown = state.controller.rise_early(now, class);
            let granted = limiter.grant_room(&mut state, now);
            state.log_limit(class);
            drop(state);
            deliver(granted);
            limiter.has_looked.store(true, Ordering::Release);
            if has_grown {
                limiter.grown_early.notify_waiters();
            }
        });
    }

    /// Records the end of an attempt, and releases the requests that waited for it.
    fn release(self: &Arc<Self>, permit: &Permit) {
        let now = self.now();
        let mut state = self.lock();
        let times = (permit.sent_at, now.saturating_sub(permit.connected_at));
        state.controller.answered(now, permit.request_key.ask(), times, permit.outcome);
        let granted = self.grant_room(&mut state, now);
        state.log_limit(permit.request_key.class);
        drop(state);
        deliver(granted);
    }

    /// Releases requests that wait for room, as far as there is some.
    fn grant_room(self: &Arc<Self>, state: &mut State, now: Duration) -> AllGranted {
        let mut granted = AllGranted::new();
        for class in 0..state.for_room.len() {
            while let Some(waiting) = state.for_room[class].pop_front() {
                if waiting.wakeup.is_closed() {
                    continue;
                }
                match state.controller.ask(now, waiting.request_key.ask()) {
                    Grant::Go => granted.push(self.granted(waiting, now)),
                    Grant::Full => {
                        state.for_room[class].push_front(waiting);
                        break;
                    }
                    Grant::Wait(wait) => {
                        state.for_rate.extend(waiting.requeued_for_rate());
                        self.start_timer(state, wait);
                    }
                }
            }
        }
        granted
    }

    fn granted(self: &Arc<Self>, waiting: Waiting, now: Duration) -> Granted {
        (waiting.wakeup, self.permit(waiting.request_key, waiting.waiting_since, now))
    }

    /// Releases the requests that have waited long enough for a rate, and schedules the next check
    /// if any are left.
    fn tick(self: &Arc<Self>) {
        let now = self.now();
        let mut state = self.lock();
        state.timer = None;
        let mut granted = AllGranted::new();
        let mut next = Duration::MAX;
        for _ in 0..state.for_rate.len() {
            let Some(waiting) = state.for_rate.pop_front() else { break };
            if waiting.wakeup.is_closed() {
                continue;
            }
            match state.controller.ask(now, waiting.request_key.ask()) {
                Grant::Go => granted.push(self.granted(waiting, now)),
                Grant::Full => {
                    state.for_room[waiting.request_key.class as usize].push_back(waiting);
                }
                Grant::Wait(wait) => {
                    next = next.min(wait);
                    state.for_rate.push_back(waiting);
                }
            }
        }
        // Perhaps nothing is in flight whose answer would release them.
        granted.append(&mut self.grant_room(&mut state, now));
        if !state.for_rate.is_empty() {
            self.start_timer(&mut state, next);
        }
        drop(state);
        deliver(granted);
    }

    /// Makes sure that a task checks the requests that wait for a rate, after this time at the
    /// latest.
    pub(crate) fn start_timer(self: &Arc<Self>, state: &mut State, wait: Duration) {
        let (now, wait) = (self.now(), wait.clamp(TICK, LOOK_MAX));
        let due = now + wait;
        if state.timer.as_ref().is_some_and(|timer| timer.due <= due && timer.runs(now)) {
            return;
        }
        // The answer ended outside of a runtime; the waiting requests check by themselves.
        let Ok(runtime) = Handle::try_current() else { return };
        let limiter = Arc::downgrade(self);
        let task = runtime.spawn(async move {
            tokio::time::sleep(wait).await;
            if let Some(limiter) = limiter.upgrade() {
                limiter.tick();
            }
        });
        let timer = Timer { task: task.abort_handle(), due };
        if let Some(earlier) = state.timer.replace(timer) {
            earlier.task.abort();
        }
    }

    /// Starts another task if the present one does not check the requests that wait for a rate.
    fn ensure_timer(self: &Arc<Self>) {
        let now = self.now();
        let mut state = self.lock();
        let runs = state.timer.as_ref().is_some_and(|timer| timer.runs(now));
        if !runs && !state.for_rate.is_empty() {
            self.start_timer(&mut state, TICK);
        }
    }
}

impl Drop for Limiter {
    fn drop(&mut self) {
        if let Some(timer) = self.lock().timer.take() {
            timer.task.abort();
        }
    }
}

impl State {
    /// Decision of the controller; requests do not overtake those already waiting.
    fn grant(&mut self, now: Duration, request_key: &RequestKey) -> Grant {
        if !request_key.is_rate_only && !self.for_room[request_key.class as usize].is_empty() {
            return Grant::Full;
        }
        if !self.for_rate.is_empty()
            && self.controller.has_rate(request_key.class, &request_key.key)
        {
            return Grant::Wait(TICK);
        }
        self.controller.ask(now, request_key.ask())
    }

    /// Logs the limit of requests in flight if it has changed.
    fn log_limit(&mut self, class: Class) {
        let limit = self.controller.limit(class);
        let logged = std::mem::replace(&mut self.logged_limits[class as usize], limit);
        if logged != limit {
            tracing::debug!(?class, limit, "requests in flight at most");
        }
    }
}

impl Waiting {
    /// Notifies a request that waited for room that it now waits for a rate, and returns its new
    /// place; `None` if it no longer waits.
    fn requeued_for_rate(self) -> Option<Self> {
        let (wakeup, receiver) = oneshot::channel();
        let sent = self.wakeup.send(Wakeup::Later(receiver));
        sent.is_ok().then_some(Self { wakeup, ..self })
    }
}

type Granted = (oneshot::Sender<Wakeup>, Permit);
/// An answer mostly makes room for one.
type AllGranted = SmallVec<[Granted; 1]>;

/// Runs outside of the lock: the permit of a request that was dropped meanwhile is given back here.
fn deliver(granted: AllGranted) {
    for (wakeup, permit) in granted {
        drop(wakeup.send(Wakeup::Go(permit)));
    }
}

#[cfg(test)]
mod tests;
