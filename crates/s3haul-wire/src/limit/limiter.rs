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
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use http::Method;
use smallvec::SmallVec;
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::task::AbortHandle;
use tokio::time::Instant;

use crate::limit::controller::{Ask, Bounds, Class, Controller, Grant, Outcome};
use crate::message::request::Request;

/// Grain of waiting for a rate. Tokens are saved for longer, so that none is lost.
const TICK: Duration = Duration::from_millis(2);
/// Longest time between two checks of the requests that wait for a rate.
const LOOK_MAX: Duration = Duration::from_secs(1);

/// How many requests are in flight, and how many a second, of all clients that hold a clone.
#[derive(Clone, Debug)]
pub struct Admission {
    pub(crate) gate: Arc<Gate>,
}

#[derive(Debug)]
pub(crate) struct Gate {
    started: Instant,
    state: Mutex<State>,
    /// Refused requests that wait before they ask again.
    resting: AtomicUsize,
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
    told: [u32; 2],
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
    asked: Asked,
    asked_at: Duration,
    word: oneshot::Sender<Word>,
}

/// Message to a waiting request.
#[derive(Debug)]
enum Word {
    Go(Pass),
    /// There is room, but not yet for the rate of its range: the next word comes here.
    Later(oneshot::Receiver<Word>),
}

/// Slot of a waiting request in a queue.
#[derive(Debug)]
struct Place {
    heard: oneshot::Receiver<Word>,
    is_for_rate: bool,
}

/// What the controller decides by; kept while the request is in flight.
#[derive(Clone, Debug)]
struct Asked {
    class: Class,
    key: Box<[u8]>,
    kind: u8,
    cost: u32,
    is_rate_only: bool,
}

impl Asked {
    fn of(request: &Request<'_>) -> Self {
        let is_read = request.method == Method::GET || request.method == Method::HEAD;
        Self {
            class: if is_read { Class::Read } else { Class::Write },
            key: place_of(request),
            kind: request.operation.kind(),
            cost: request.keys,
            // A cleanup does not wait for the requests that it aborts.
            is_rate_only: request.operation.is_listing() || request.operation.is_cleanup(),
        }
    }

    fn ask(&self) -> Ask<'_> {
        let Self { class, key, kind, cost, is_rate_only } = self;
        Ask { class: *class, key, kind: *kind, cost: *cost, is_rate_only: *is_rate_only }
    }
}

/// Bucket and key, which order requests as the service's partitions do; of a listing the key
/// after which it goes on.
fn place_of(request: &Request<'_>) -> Box<[u8]> {
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
pub(crate) struct Pass {
    gate: Arc<Gate>,
    asked: Asked,
    /// How long its request waited for it.
    waited: Duration,
    sent_at: Duration,
    outcome: Outcome,
}

impl Pass {
    /// How long its request waited for it.
    pub(crate) fn waited(&self) -> Duration {
        self.waited
    }

    /// Records success, and `more` bytes of the object moved.
    pub(crate) fn moved(&mut self, more: u64) {
        let before = if let Outcome::Done { bytes } = self.outcome { bytes } else { 0 };
        self.outcome = Outcome::Done { bytes: before + more };
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

impl Drop for Pass {
    fn drop(&mut self) {
        self.gate.leave(self);
    }
}

impl Admission {
    /// Starts small, within the bounds.
    pub fn new(bounds: Bounds) -> Self {
        let state = State {
            controller: Controller::new(bounds, Duration::ZERO),
            for_room: Default::default(),
            for_rate: VecDeque::new(),
            timer: None,
            told: [0; 2],
        };
        Self { gate: Arc::new(Gate::new(state)) }
    }

    /// How many requests it is worth making at once: what may be in flight of either class, some
    /// that are being made, and some for those that wait for the rate of their range or after a
    /// refusal, so that they do not hold up the others.
    pub(crate) fn requests_wanted(&self) -> usize {
        let state = self.gate.lock();
        let limit = [Class::Read, Class::Write].map(|class| state.controller.limit(class));
        let limit = limit[0].max(limit[1]) as usize;
        limit + limit / 4 + state.for_rate.len() + self.gate.resting.load(Ordering::Relaxed)
    }

    /// Counts a refused request as one that waits for as long as this is held.
    pub(crate) fn rest(&self) -> Rest<'_> {
        self.gate.resting.fetch_add(1, Ordering::Relaxed);
        Rest(&self.gate.resting)
    }

    /// Waits until an attempt may be made.
    pub(crate) async fn enter(&self, request: &Request<'_>) -> Pass {
        let asked = Asked::of(request);
        let mut place = match Gate::try_enter(&self.gate, asked) {
            Ok(pass) => return pass,
            Err(place) => place,
        };
        loop {
            match place.word(&self.gate).await {
                Word::Go(pass) => return pass,
                Word::Later(heard) => place = Place { heard, is_for_rate: true },
            }
        }
    }
}

impl Place {
    /// Requests that wait for room are released by the answers that make it, and need no timer:
    /// while one waits for room, others are in flight.
    async fn word(&mut self, gate: &Arc<Gate>) -> Word {
        let heard = loop {
            if !self.is_for_rate {
                break (&mut self.heard).await;
            }
            match tokio::time::timeout(LOOK_MAX, &mut self.heard).await {
                Ok(heard) => break heard,
                // The runtime of the task that should look may have come to its end, or rest.
                Err(_) => gate.see_to_timer(),
            }
        };
        heard.expect("whoever waits is let go before the queues end, which the admission keeps")
    }
}

impl Gate {
    fn new(state: State) -> Self {
        let (started, resting) = (Instant::now(), AtomicUsize::new(0));
        Self { started, state: Mutex::new(state), resting }
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self) -> Duration {
        self.started.elapsed()
    }

    fn try_enter(self: &Arc<Self>, asked: Asked) -> Result<Pass, Place> {
        let now = self.now();
        let mut state = self.lock();
        let grant = state.grant(now, &asked);
        if grant == Grant::Go {
            drop(state);
            return Ok(self.pass(asked, now, now));
        }
        let (word, heard) = oneshot::channel();
        let class = asked.class as usize;
        let waiting = Waiting { asked, asked_at: now, word };
        let is_for_rate = if let Grant::Wait(wait) = grant {
            state.for_rate.push_back(waiting);
            self.start_timer(&mut state, wait);
            true
        } else {
            state.for_room[class].push_back(waiting);
            false
        };
        Err(Place { heard, is_for_rate })
    }

    fn pass(self: &Arc<Self>, asked: Asked, asked_at: Duration, sent_at: Duration) -> Pass {
        let waited = sent_at.saturating_sub(asked_at);
        Pass { gate: Arc::clone(self), asked, waited, sent_at, outcome: Outcome::Failed }
    }

    /// Records the end of an attempt, and releases the requests that waited for it.
    fn leave(self: &Arc<Self>, pass: &Pass) {
        let now = self.now();
        let mut state = self.lock();
        state.controller.answered(now, pass.asked.ask(), pass.sent_at, pass.outcome);
        let granted = self.grant_room(&mut state, now);
        state.tell(pass.asked.class);
        drop(state);
        deliver(granted);
    }

    /// Releases requests that wait for room, as far as there is some.
    fn grant_room(self: &Arc<Self>, state: &mut State, now: Duration) -> AllGranted {
        let mut granted = AllGranted::new();
        for class in 0..state.for_room.len() {
            while let Some(waiting) = state.for_room[class].pop_front() {
                if waiting.word.is_closed() {
                    continue;
                }
                match state.controller.ask(now, waiting.asked.ask()) {
                    Grant::Go => granted.push(self.granted(waiting, now)),
                    Grant::Full => {
                        state.for_room[class].push_front(waiting);
                        break;
                    }
                    Grant::Wait(wait) => {
                        state.for_rate.extend(waiting.later());
                        self.start_timer(state, wait);
                    }
                }
            }
        }
        granted
    }

    fn granted(self: &Arc<Self>, waiting: Waiting, now: Duration) -> Granted {
        (waiting.word, self.pass(waiting.asked, waiting.asked_at, now))
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
            if waiting.word.is_closed() {
                continue;
            }
            match state.controller.ask(now, waiting.asked.ask()) {
                Grant::Go => granted.push(self.granted(waiting, now)),
                Grant::Full => state.for_room[waiting.asked.class as usize].push_back(waiting),
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
        let gate = Arc::downgrade(self);
        let task = runtime.spawn(async move {
            tokio::time::sleep(wait).await;
            if let Some(gate) = gate.upgrade() {
                gate.tick();
            }
        });
        let timer = Timer { task: task.abort_handle(), due };
        if let Some(earlier) = state.timer.replace(timer) {
            earlier.task.abort();
        }
    }

    /// Starts another task if the present one does not check the requests that wait for a rate.
    fn see_to_timer(self: &Arc<Self>) {
        let now = self.now();
        let mut state = self.lock();
        let runs = state.timer.as_ref().is_some_and(|timer| timer.runs(now));
        if !runs && !state.for_rate.is_empty() {
            self.start_timer(&mut state, TICK);
        }
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        if let Some(timer) = self.lock().timer.take() {
            timer.task.abort();
        }
    }
}

impl State {
    /// What the controller says, unless others waited for the same before.
    fn grant(&mut self, now: Duration, asked: &Asked) -> Grant {
        if !asked.is_rate_only && !self.for_room[asked.class as usize].is_empty() {
            return Grant::Full;
        }
        if !self.for_rate.is_empty() && self.controller.has_rate(asked.class, &asked.key) {
            return Grant::Wait(TICK);
        }
        self.controller.ask(now, asked.ask())
    }

    /// Logs the limit of requests in flight if it has changed.
    fn tell(&mut self, class: Class) {
        let limit = self.controller.limit(class);
        let told = std::mem::replace(&mut self.told[class as usize], limit);
        if told != limit {
            tracing::debug!(?class, limit, "requests in flight at most");
        }
    }
}

impl Waiting {
    /// Notifies a request that waited for room that it now waits for a rate, and returns its new
    /// place; `None` if it no longer waits.
    fn later(self) -> Option<Self> {
        let (word, heard) = oneshot::channel();
        let told = self.word.send(Word::Later(heard));
        told.is_ok().then_some(Self { word, ..self })
    }
}

type Granted = (oneshot::Sender<Word>, Pass);
/// An answer mostly makes room for one.
type AllGranted = SmallVec<[Granted; 1]>;

/// Runs outside of the lock: the permit of a request that was dropped meanwhile is given back here.
fn deliver(granted: AllGranted) {
    for (word, pass) in granted {
        drop(word.send(Word::Go(pass)));
    }
}

#[cfg(test)]
mod tests;
