//! The controller: how many requests are in flight, and how many a second.
//!
//! Pure: it has no clock, waits for nothing and starts nothing. Each call brings the time since
//! the job began; [`Controller::ask`] says whether a request may go, and
//! [`Controller::answered`] learns from its end. Two loops:
//!
//! - **concurrency** (`concurrency`), for each class of operations: finds the number in flight
//!   beyond which goodput no longer grows;
//! - **rate** (`rate`), for each class and each range of keys that showed throttling (`ranges`):
//!   finds how many requests a second the service takes.
//!
//! What holds: limits are never zero and never above the cap; many refusals of what was in flight
//! cut once; the same calls give the same answers; memory is bounded (`RANGES_MAX` ranges of a few
//! kilobytes, and 512 sampled keys each).
//!
//! `limit::limiter` calls it for every attempt of a request. `docs/design/03-controller.md` has the
//! comparison behind it.

mod background;
mod concurrency;
mod flow;
mod latency;
mod ramp;
mod ranges;
mod rate;
mod sample;
mod tokens;
mod window;

#[cfg(test)]
mod tests;

use std::time::Duration;

use window::Answered;

pub use concurrency::{ConcurrencyLoop, LIMIT_MIN, START};
pub use ramp::EARLY_AFTER;
pub use ranges::{LearntRange, RANGES_MAX, Ranges};
pub use rate::{ABOVE_MEASURED_MAX, RATE_MIN, RateLoop};
pub use tokens::Tokens;

/// Work that a request is worth beside its bytes, so that small and large objects add up.
const REQUEST_WORK_BYTES: f64 = 65_536.0;

/// Classes that a service limits apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Class {
    /// GET, HEAD and LIST.
    Read,
    /// PUT, COPY, POST and DELETE.
    Write,
}

/// A request that wants to go.
#[derive(Debug, Clone, Copy)]
pub struct Ask<'k> {
    /// Its class.
    pub class: Class,
    /// Bucket and key, or what else orders requests as the service's partitions do.
    pub key: &'k [u8],
    /// Requests of one kind take equally long, but for their bytes. Sixteen kinds are
    /// distinguished.
    pub kind: u8,
    /// What it counts for: the number of keys of a `DeleteObjects`, else 1.
    pub cost: u32,
    /// The caller bounds how many are in flight, so that only the rate does here: requests of a
    /// listing, whose splitting depends on their number.
    pub is_rate_only: bool,
    /// It moves few bytes and should be answered soon, so that many may be sent before the first
    /// answer.
    pub is_small: bool,
}

/// What [`Controller::ask`] says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grant {
    /// Send it; it is counted as in flight.
    Go,
    /// Ask again after this time; others may go meanwhile.
    Wait(Duration),
    /// Ask again after an answer.
    Full,
}

/// How a request ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It was carried out and moved so many bytes.
    Done {
        /// Bytes of the object that moved.
        bytes: u64,
    },
    /// 503, 429, `SlowDown`, `RequestTimeout` and their like.
    Throttled,
    /// Anything else, which says nothing of load.
    Failed,
}

/// What the user fixed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Requests in flight at most, of both classes together.
    pub max_concurrent_requests: u32,
    /// Requests a second at most, of both classes together.
    pub max_requests_per_second: Option<u32>,
    /// Find out how many are worth it within these bounds, else use them up.
    pub is_adaptive: bool,
}

impl Default for Bounds {
    /// What one process with the usual number of open files can do.
    fn default() -> Self {
        Self { max_concurrent_requests: 512, max_requests_per_second: None, is_adaptive: true }
    }
}

/// The limits of one class.
#[derive(Debug, Clone)]
struct ClassControl {
    concurrency: ConcurrencyLoop,
    ranges: Ranges,
    in_flight: u32,
}

/// Both loops for both classes.
#[derive(Debug, Clone)]
pub struct Controller {
    classes: [ClassControl; 2],
    in_flight_max: u32,
    is_adaptive: bool,
    requests: Option<Tokens>,
}

impl Controller {
    /// Starts small, within the bounds.
    pub fn new(bounds: Bounds, now: Duration) -> Self {
        let in_flight_max = bounds.max_concurrent_requests.max(1);
        let class = ClassControl {
            concurrency: ConcurrencyLoop::new(in_flight_max, now),
            ranges: Ranges::new(now),
            in_flight: 0,
        };
        let requests = bounds.max_requests_per_second;
        Self {
            classes: [class.clone(), class],
            in_flight_max,
            is_adaptive: bounds.is_adaptive,
            requests: requests.map(|rate| Tokens::new(f64::from(rate.max(1)), now)),
        }
    }

    /// Whether a request may go now. Where it may, it is in flight until [`Self::answered`].
    pub fn ask(&mut self, now: Duration, ask: Ask<'_>) -> Grant {
        let is_room = ask.is_rate_only || self.in_flight() < self.in_flight_max;
        let class = &mut self.classes[ask.class as usize];
        let is_fixed = ask.is_rate_only || !self.is_adaptive;
        if !is_room || !(is_fixed || class.concurrency.admits(class.in_flight)) {
            return Grant::Full;
        }
        let mut wait =
            if self.is_adaptive { class.ranges.wait(now, ask.key) } else { Duration::ZERO };
        if let Some(requests) = &mut self.requests {
            wait = wait.max(requests.wait(now));
        }
        if !wait.is_zero() {
            return Grant::Wait(wait);
        }
        if let Some(requests) = &mut self.requests {
            requests.take(1);
        }
        if self.is_adaptive {
            class.ranges.sent(now, ask.key, ask.cost);
        }
        if !ask.is_rate_only {
            class.concurrency.observe_in_flight(now, class.in_flight);
            class.concurrency.sent(ask.is_small);
            class.in_flight += 1;
        }
        Grant::Go
    }

    /// Whether requests for a key may have to wait for a rate.
    pub fn has_rate(&self, class: Class, key: &[u8]) -> bool {
        self.requests.is_some() || self.classes[class as usize].ranges.is_limited(key)
    }

    /// Lets more requests of a class be in flight where the first ones are small and none has been
    /// answered for [`EARLY_AFTER`]. Says whether it has.
    pub fn rise_early(&mut self, now: Duration, class: Class) -> bool {
        self.is_adaptive && self.classes[class as usize].concurrency.rise_early(now)
    }

    /// Notes the end of a request that was let go at `sent_at` and answered after `latency`, in
    /// which the opening of its connection does not count: that would look like a service that lets
    /// requests wait.
    pub fn answered(
        &mut self,
        now: Duration,
        sent: Ask<'_>,
        (sent_at, latency): (Duration, Duration),
        outcome: Outcome,
    ) {
        let class = &mut self.classes[sent.class as usize];
        let in_flight = class.in_flight;
        class.in_flight = in_flight.saturating_sub(u32::from(!sent.is_rate_only));
        if !self.is_adaptive {
            return;
        }
        if !sent.is_rate_only {
            class.concurrency.observe_in_flight(now, in_flight);
        }
        let latency = latency.as_secs_f64();
        match outcome {
            Outcome::Done { .. } if sent.is_rate_only => {}
            Outcome::Done { bytes } => {
                let work = REQUEST_WORK_BYTES * f64::from(sent.cost) + bytes_f64(bytes);
                let answer = Answered { work, latency, kind: sent.kind, bytes, in_flight };
                class.concurrency.answered(now, answer);
            }
            Outcome::Throttled => {
                class.concurrency.refused(now, latency);
                class.ranges.refused(now, sent.key, sent_at, sent.cost);
            }
            Outcome::Failed => {}
        }
        class.ranges.tidy(now);
    }

    /// Requests in flight.
    pub fn in_flight(&self) -> u32 {
        self.classes.iter().map(|class| class.in_flight).sum()
    }

    /// Requests of a class in flight at most.
    pub fn limit(&self, class: Class) -> u32 {
        if self.is_adaptive {
            self.classes[class as usize].concurrency.limit()
        } else {
            self.in_flight_max
        }
    }

    /// The ranges of a class and what was learnt of them; nothing where there is no limit.
    pub fn learnt(&self, class: Class) -> Vec<LearntRange> {
        self.classes[class as usize].ranges.learnt()
    }

    /// Begins with what was learnt before, which then changes as ever.
    pub fn recall(&mut self, now: Duration, class: Class, learnt: Vec<LearntRange>) {
        self.classes[class as usize].ranges.recall(now, learnt);
    }
}

#[expect(clippy::cast_precision_loss, reason = "a figure of work")]
fn bytes_f64(bytes: u64) -> f64 {
    bytes as f64
}
