//! The concurrency loop: how many requests of one class are in flight at once.
//!
//! Starts small and doubles as long as goodput follows: each round trip at first (`ramp`), then
//! over whole windows. Then it goes back to the knee (goodput times the latency without queue, and
//! half as much again) and tries a little more or less from time to time: more only where no queue
//! is seen, less only where one is, and either is kept only when goodput says so. Where something
//! else limits (the rate, the demand) the limit shrinks to twice what is used, and is learnt anew
//! when it is reached again.

use std::time::Duration;

use super::latency::{Lowest, Record};
use super::ramp::{Next, Ramp};
use super::window::{Answered, Measured, Window};

/// Requests in flight at the start.
pub const START: u32 = 8;
/// Never fewer.
pub const LIMIT_MIN: u32 = 4;
/// Doubling goes on when goodput grew by this factor.
const PAYS: f64 = 1.2;
/// Windows in a row without that, after which doubling ends.
const MISSES_MAX: u32 = 2;
/// Headroom over goodput × latency without queue.
const KNEE: f64 = 1.6;
/// A queue is seen when the latency is above this multiple of the lowest: then less is tried,
/// else more.
const QUEUE_SEEN: f64 = 1.5;
/// Steps of trying.
const MORE: f64 = 1.25;
const LESS: f64 = 0.8;
/// More is kept when goodput is above this multiple, less when it is above that one.
const MORE_PAYS: f64 = 1.05;
const LESS_COSTS: f64 = 0.985;
/// Windows between trials.
const REST_WINDOWS: u32 = 3;
/// Answers of a window while doubling (twice the limit, within bounds), and while trying.
const ANSWERS_START_MIN: u32 = 16;
const ANSWERS_START_MAX: u32 = 64;
const ANSWERS_TRIAL: u32 = 1_000;
/// Seconds at most until a window begins after a change.
const SETTLE_MAX_S: f64 = 5.0;

#[derive(Debug, Clone, Copy)]
enum Phase {
    /// The first moments.
    Ramp(Ramp),
    /// Doubling: goodput before the last doubling, and windows in a row in which it did not follow.
    Doubling { before: f64, misses: u32 },
    /// Something else limits.
    Idle,
    /// At the knee for so many windows.
    Resting { windows: u32 },
    /// Trying another limit: the one before, and its goodput.
    Trying { limit: u32, goodput: f64 },
}

/// The limit of one class of operations.
#[derive(Debug, Clone)]
pub struct ConcurrencyLoop {
    limit: u32,
    cap: u32,
    phase: Phase,
    window: Window,
    lowest: Lowest,
    goodput_best: Record,
    /// No doubling ever paid, so that even the start may be above the knee, and the lowest latency
    /// seen that of a queue.
    is_knee_below: bool,
}

impl ConcurrencyLoop {
    /// Starts small, and never goes above `cap`.
    pub fn new(cap: u32, now: Duration) -> Self {
        let cap = cap.max(1);
        let limit = START.min(cap);
        Self {
            limit,
            cap,
            phase: Phase::Ramp(Ramp::new(now, limit)),
            window: Window::new(now, limit),
            lowest: Lowest::new(),
            goodput_best: Record::new(f64::max),
            is_knee_below: true,
        }
    }

    /// Requests in flight at most.
    pub fn limit(&self) -> u32 {
        self.limit
    }

    /// Records that `in_flight` requests were in flight until now. Must be called before each
    /// change.
    pub fn observe_in_flight(&mut self, now: Duration, in_flight: u32) {
        if let Phase::Ramp(ramp) = &mut self.phase
            && in_flight == 0
        {
            ramp.rests(now);
        }
        self.window.observe_in_flight(now, in_flight);
    }

    /// Whether one more may be sent while `in_flight` are.
    pub fn admits(&mut self, in_flight: u32) -> bool {
        let is_room = in_flight < self.limit;
        if !is_room {
            self.window.denied();
            if let Phase::Ramp(ramp) = &mut self.phase {
                ramp.denied();
            }
        }
        is_room
    }

    /// Notes that a request goes.
    pub(super) fn sent(&mut self, is_small: bool) {
        if let Phase::Ramp(ramp) = &mut self.phase {
            ramp.sent(is_small);
        }
    }

    /// Raises the limit where nothing has been answered yet. Says whether it has.
    pub(super) fn rise_early(&mut self, now: Duration) -> bool {
        let Phase::Ramp(ramp) = &mut self.phase else { return false };
        let Next::Rise(limit) = ramp.rise_early(now, self.cap) else { return false };
        self.set(limit);
        self.window = Window::new(now, self.limit);
        true
    }

    /// Notes an answer that did useful work.
    pub(super) fn answered(&mut self, now: Duration, answer: Answered) {
        let limit = self.limit;
        self.window.answer(now, answer);
        let (latencies, answers) = match &mut self.phase {
            Phase::Ramp(ramp) => {
                let next = ramp.answer(now, &answer, self.cap);
                return self.climb(next, now, answer.latency);
            }
            Phase::Doubling { .. } | Phase::Idle => {
                (1.0, (2 * limit.min(1 << 20)).clamp(ANSWERS_START_MIN, ANSWERS_START_MAX))
            }
            _ => (2.0, ANSWERS_TRIAL.max(limit)),
        };
        if let Some(measured) = self.window.measured(now, latencies, answers) {
            self.lowest.note(&self.window.latencies, now);
            self.goodput_best.note(measured.goodput, now);
            let before = self.limit;
            self.step(measured, now);
            let settle = if self.limit == before { 0.0 } else { measured.latency };
            let begin = now + Duration::from_secs_f64(settle.min(SETTLE_MAX_S));
            self.window = Window::new(begin, self.limit);
        }
    }

    /// Notes a refusal of a request that took so many seconds.
    pub(super) fn refused(&mut self, now: Duration, latency: f64) {
        if let Phase::Ramp(ramp) = &mut self.phase {
            let next = ramp.refused();
            self.climb(next, now, latency);
        }
    }

    /// The ramp's rounds are windows, too, so that it is known how long requests take without
    /// queue. Where it ends with a number that was measured before, that is measured anew.
    fn climb(&mut self, next: Next, now: Duration, latency: f64) {
        let (limit, settle) = match next {
            Next::Same => return,
            Next::Rise(limit) => (limit, 0.0),
            Next::End(limit) => {
                self.phase = Phase::Doubling { before: 0.0, misses: 0 };
                if limit == self.limit {
                    return;
                }
                (limit, latency.min(SETTLE_MAX_S))
            }
        };
        self.lowest.note_unfinished(&self.window.latencies, now);
        self.set(limit);
        self.window = Window::new(now + Duration::from_secs_f64(settle), self.limit);
    }

    fn step(&mut self, measured: Measured, now: Duration) {
        if !measured.is_full {
            return self.shrink_to_use(measured);
        }
        match self.phase {
            // Its answers are not measured by windows.
            Phase::Ramp(_) => {}
            Phase::Doubling { before, misses } => self.double(before, misses, measured),
            Phase::Idle => self.double(0.0, 0, measured),
            Phase::Resting { windows } if windows < REST_WINDOWS => {
                self.phase = Phase::Resting { windows: windows + 1 };
            }
            Phase::Resting { .. } => self.start_trial(measured),
            Phase::Trying { limit, goodput } => self.end_trial(limit, goodput, measured, now),
        }
    }

    fn double(&mut self, before: f64, misses: u32, measured: Measured) {
        if measured.goodput >= before * PAYS {
            self.is_knee_below = before <= 0.0;
            self.phase = Phase::Doubling { before: measured.goodput, misses: 0 };
            self.set(self.limit.saturating_mul(2));
        } else if misses + 1 < MISSES_MAX {
            self.phase = Phase::Doubling { before, misses: misses + 1 };
        } else {
            let knee = measured.goodput.max(before) / measured.goodput * self.knee() * KNEE;
            self.set(ceiling(knee).min(self.limit));
            self.phase = Phase::Resting { windows: 0 };
        }
    }

    /// Requests in flight that would do as much work without queue.
    fn knee(&self) -> f64 {
        f64::from(self.limit) / self.inflation()
    }

    fn inflation(&self) -> f64 {
        self.lowest.inflation(&self.window.latencies)
    }

    fn start_trial(&mut self, measured: Measured) {
        let is_queue = self.is_knee_below || self.inflation() > QUEUE_SEEN;
        let factor = if is_queue { LESS } else { MORE };
        let limit = self.limit;
        self.set(ceiling(f64::from(limit) * factor));
        self.phase = if self.limit == limit {
            Phase::Resting { windows: 0 }
        } else {
            Phase::Trying { limit, goodput: measured.goodput }
        };
    }

    fn end_trial(&mut self, limit: u32, goodput: f64, measured: Measured, now: Duration) {
        let is_more = self.limit > limit;
        if is_more && measured.goodput >= goodput * MORE_PAYS {
            self.phase = Phase::Doubling { before: goodput, misses: 0 };
            return;
        }
        let best = goodput.max(self.goodput_best.value() * LESS_COSTS);
        if is_more {
            self.set(limit);
        } else if measured.goodput < best * LESS_COSTS {
            // Goodput fell with the limit, so there was no queue: the lowest latency was chance.
            self.set(limit);
            self.is_knee_below = false;
            self.lowest.restart(&self.window.latencies, now);
        }
        self.phase = Phase::Resting { windows: 0 };
    }

    fn shrink_to_use(&mut self, measured: Measured) {
        let wanted = measured.in_flight_max.saturating_mul(2).max(START);
        if wanted < self.limit {
            self.set(self.limit - (self.limit - wanted).div_ceil(4));
        }
        self.phase = Phase::Idle;
    }

    fn set(&mut self, limit: u32) {
        self.limit = limit.max(LIMIT_MIN).min(self.cap);
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is clamped")]
fn ceiling(value: f64) -> u32 {
    value.ceil().clamp(1.0, f64::from(u32::MAX)) as u32
}
