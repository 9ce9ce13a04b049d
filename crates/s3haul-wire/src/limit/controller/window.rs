//! One measurement of the concurrency loop: work done, time taken, and whether the limit was used.

use std::time::Duration;

use super::latency::Latencies;

/// What is seen while the limit stays the same.
#[derive(Debug, Clone, Default)]
pub(super) struct Window {
    /// Answers before this belong to the limit before.
    began: Duration,
    answers: u32,
    work: f64,
    latency: f64,
    /// The same by kind and size.
    pub(super) latencies: Latencies,
    /// Seconds of requests in flight, up to `seen`.
    in_flight_s: f64,
    seen: Duration,
    limit: u32,
    was_denied: bool,
    in_flight_max: u32,
}

/// A whole window.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Measured {
    /// Units of work a second.
    pub(super) goodput: f64,
    /// Mean seconds of a request.
    pub(super) latency: f64,
    /// Whether more would have been sent, had the limit been higher.
    pub(super) is_full: bool,
    pub(super) in_flight_max: u32,
}

/// Share of the limit in flight on average from which a window counts as full.
const FULL: f64 = 0.75;
/// A window without enough answers ends after this time.
const LENGTH_MAX: Duration = Duration::from_secs(3);
/// Shortest window where answers are waited for.
const LENGTH_MIN_S: f64 = 0.02;
/// Shortest window where they are worked for: there it costs little to know for sure, and each
/// connection that is opened for nothing costs as much as some requests.
const LENGTH_MIN_QUICK_S: f64 = 0.1;
/// Answers that come sooner on average are worked for.
pub(super) const WAITING_MIN: Duration = Duration::from_millis(6);

impl Window {
    /// A window that begins at `began`.
    pub(super) fn new(began: Duration, limit: u32) -> Self {
        Self { began, seen: began, limit, ..Self::default() }
    }

    /// Records that so many were in flight until now. Over time, not at answers: these often come
    /// together, and leave few in flight for a moment that means nothing.
    pub(super) fn observe_in_flight(&mut self, now: Duration, in_flight: u32) {
        if let Some(passed) = now.checked_sub(self.seen) {
            self.in_flight_s += f64::from(in_flight) * passed.as_secs_f64();
            self.seen = now;
        }
    }

    /// Notes that a request had to wait for the limit.
    pub(super) fn denied(&mut self) {
        self.was_denied = true;
    }

    /// Notes an answer.
    pub(super) fn answer(&mut self, now: Duration, answer: Answered) {
        // Those of the first moment were sent a latency before it, and belong to the time before.
        if now <= self.began {
            return;
        }
        // So do those that come while more are in flight than may be.
        if answer.in_flight > self.limit {
            if self.answers > 0 {
                *self = Self::new(now, self.limit);
            }
            (self.began, self.seen, self.in_flight_s) = (now, now, 0.0);
            return;
        }
        self.answers += 1;
        self.work += answer.work;
        self.latency += answer.latency;
        self.latencies.note(answer.kind, answer.bytes, answer.latency);
        self.in_flight_max = self.in_flight_max.max(answer.in_flight);
    }

    /// The measurement, once the window has `answers` and two latencies of time.
    pub(super) fn measured(&self, now: Duration, latencies: f64, answers: u32) -> Option<Measured> {
        let elapsed = now.saturating_sub(self.began);
        if self.answers == 0 || elapsed.is_zero() {
            return None;
        }
        let latency = self.latency / f64::from(self.answers);
        let shortest =
            if latency < WAITING_MIN.as_secs_f64() { LENGTH_MIN_QUICK_S } else { LENGTH_MIN_S };
        let is_long = elapsed.as_secs_f64() >= (latency * latencies).max(shortest);
        if !(is_long && self.answers >= answers) && elapsed < LENGTH_MAX {
            return None;
        }
        let most_s = f64::from(self.limit) * elapsed.as_secs_f64();
        Some(Measured {
            goodput: self.work / elapsed.as_secs_f64(),
            latency,
            is_full: self.was_denied && self.in_flight_s >= FULL * most_s,
            in_flight_max: self.in_flight_max,
        })
    }
}

/// An answer as a window sees it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Answered {
    pub(super) work: f64,
    /// Seconds.
    pub(super) latency: f64,
    pub(super) kind: u8,
    pub(super) bytes: u64,
    /// With it.
    pub(super) in_flight: u32,
}
