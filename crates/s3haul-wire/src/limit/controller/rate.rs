//! The rate loop: how many requests a second one range of keys takes.
//!
//! Without limit until the service refuses something. Then, once an epoch, however many refusals
//! come from what was in flight: less at once, a moment to see what the service admits while it
//! refuses, and from there a hold and a growth that is slow near the known limit and fast
//! far beyond it. It never pauses, because S3 splits a partition only under load.
//!
//! Where cuts do not help, a probe (`probe`) finds out whether the rate causes the refusals.

mod probe;

use std::time::Duration;

use super::background::Background;
use super::flow::{Flow, Sums};
use super::tokens::Tokens;

/// Never slower, whatever is refused: requests a second.
pub const RATE_MIN: f64 = 5.0;
/// A first cut does not go below this on the little that is known by then.
const FIRST_MIN: f64 = 100.0;
/// What is taken of a measured limit.
const SAFE_SHARE: f64 = 0.98;
/// Time at that rate before it grows.
const HOLD: f64 = 0.8;
/// Speed of growth: after the hold the rate is multiplied by `exp(GROWTH * seconds²)`.
const GROWTH: f64 = 0.16;
/// Seconds of growth that a rate begins with where little was measured.
const AGE_IF_UNSURE: f64 = 1.5;
/// A rate is never above this multiple of what was admitted lately.
pub const ABOVE_MEASURED_MAX: f64 = 2.0;
/// Used less than this, a rate is not what limits.
const USED_MIN: f64 = 0.8;
/// A limit that did not limit for this time is forgotten.
const FORGET_AFTER: Duration = Duration::from_mins(1);
/// Refusals that a cut needs, and the share of requests in the last 100 ms or in the last second.
const REFUSALS_MIN: f64 = 3.0;
const SHARE_SHORT: f64 = 0.01;
const SHARE_LONG: f64 = 0.005;
/// The share within this time after a measurement: what the service saves for bursts is used up
/// then, and chance alone brings refusals until it has saved again.
const SHARE_AFTER: f64 = 0.03;
const AFTER: Duration = Duration::from_millis(250);
/// The most that is cut before it is known what the service admits, and the least.
const AT_ONCE_MAX: f64 = 0.5;
const AT_ONCE_MIN: f64 = 0.9;
/// Bounds of the time in which the limit is measured.
const MEASURE_MIN: Duration = Duration::from_millis(100);
const MEASURE_MAX: Duration = Duration::from_secs(1);
/// Requests that a measurement needs.
const MEASURED_MIN: f64 = 50.0;
/// The limit measured last still counts for so many requests, unless the rate had already grown to
/// this multiple of it: few refusals are a small sample.
const LAST_COUNTS: f64 = 200.0;
const STILL_HOLDS: f64 = 1.3;
/// Cuts belong together until the rate has grown by this factor, or until no larger share than this
/// of so many requests was refused.
const GREW: f64 = 1.2;
const GONE_SHARE: f64 = 0.002;
const GONE_SENT: f64 = 100.0;
/// How often the rate is reconsidered.
const LOOK_EVERY: Duration = Duration::from_millis(20);

#[derive(Debug, Clone, Copy)]
enum State {
    /// Nothing was refused lately.
    Free,
    /// Cut; what the service admits is being measured. `before` is the rate before the cut, `known`
    /// the limit that was measured last, if it still seemed to hold.
    Measuring { before: f64, known: Option<f64> },
    /// Much slower for a moment, to see whether a smaller share is refused than in `high`. `low` is
    /// what was sent since and refused of it: more than the flow remembers where that is little.
    Probing { high: Sums, low: Sums, base: f64 },
    /// Nearly all is refused, whatever the rate, which was `before`.
    Outage { before: f64 },
    /// Growing from a measured rate; `age` is the time in which it was used.
    Growing { base: f64, age: f64 },
}

/// Cuts that follow each other without growth between them.
#[derive(Debug, Clone, Copy)]
struct Episode {
    /// The rate before the first of them, and whether it was without limit.
    before: f64,
    was_free: bool,
    /// What was measured after the last.
    seen: Sums,
}

/// The rate of one range and class of operations.
#[derive(Debug, Clone)]
pub struct RateLoop {
    flow: Flow,
    state: State,
    tokens: Tokens,
    /// Refusals of requests sent before do not cut again.
    epoch: Duration,
    cuts: u64,
    background: Background,
    episode: Option<Episode>,
    /// No probe before, and none to look at the background again.
    probe_from: Duration,
    recheck_from: Duration,
    /// Seconds from sending to refusal, smoothed.
    refusal_delay: f64,
    /// When the rate was last what limited; of a free loop, its begin.
    used_at: Duration,
    looked_at: Duration,
}

impl RateLoop {
    /// No limit.
    pub fn new(now: Duration) -> Self {
        Self {
            flow: Flow::new(),
            state: State::Free,
            tokens: Tokens::new(RATE_MIN, now),
            epoch: Duration::ZERO,
            cuts: 0,
            background: Background::default(),
            episode: None,
            probe_from: now,
            recheck_from: now,
            refusal_delay: 0.02,
            used_at: now,
            looked_at: now,
        }
    }

    /// A loop that begins with what was learnt before.
    pub(super) fn recalled(rate: f64, now: Duration) -> Self {
        let mut recalled = Self::new(now);
        recalled.epoch = now;
        recalled.grow_from(rate, 0.0, now);
        recalled
    }

    /// Requests a second that the service takes, as far as known: not the rate of a moment in which
    /// it is tried out how many those are.
    pub(super) fn learnt(&self) -> Option<f64> {
        match self.state {
            State::Free => None,
            State::Growing { .. } => Some(self.tokens.rate()),
            State::Measuring { known, .. } => Some(known.unwrap_or_else(|| self.tokens.rate())),
            State::Probing { base, .. } => Some(base),
            State::Outage { before } => Some(before),
        }
    }

    /// A loop that begins with a guess, part of another's rate.
    pub(super) fn part(&self, share: f64, now: Duration) -> Self {
        let mut part = Self {
            cuts: self.cuts,
            background: self.background,
            probe_from: self.probe_from,
            recheck_from: self.recheck_from,
            refusal_delay: self.refusal_delay,
            ..Self::new(now)
        };
        if let Some(rate) = self.limit() {
            part.epoch = now;
            part.grow_from(rate * share, HOLD, now);
        }
        part
    }

    /// Requests a second, if there is a limit.
    pub fn limit(&self) -> Option<f64> {
        match self.state {
            State::Free => None,
            _ => Some(self.tokens.rate()),
        }
    }

    /// Whether nothing limits.
    pub(super) fn is_free(&self) -> bool {
        matches!(self.state, State::Free)
    }

    /// Epochs that began with a cut.
    pub fn cuts(&self) -> u64 {
        self.cuts
    }

    /// How long to wait before sending; zero to send now.
    pub fn wait(&mut self, now: Duration) -> Duration {
        self.look(now);
        if self.is_free() { Duration::ZERO } else { self.tokens.wait(now) }
    }

    /// Notes that a request of so many units was sent.
    pub fn sent(&mut self, now: Duration, cost: u32) {
        self.flow.sent(now, cost);
        if let State::Probing { low, .. } = &mut self.state {
            low.sent += f64::from(cost);
        }
        if !self.is_free() {
            self.tokens.take(cost);
        }
    }

    /// Notes that a request sent at `sent_at` was refused. Says whether this began a cut.
    pub fn refused(&mut self, now: Duration, sent_at: Duration, cost: u32) -> bool {
        self.flow.refused(sent_at, cost);
        if let State::Probing { low, .. } = &mut self.state
            && sent_at >= self.epoch
        {
            low.refused += f64::from(cost);
        }
        let delay = now.saturating_sub(sent_at).as_secs_f64();
        self.refusal_delay += (delay - self.refusal_delay) * 0.1;
        let is_settled = matches!(self.state, State::Free | State::Growing { .. });
        let is_new = sent_at >= self.epoch && is_settled;
        if is_new && self.is_too_much(now) {
            self.cut(now);
            return true;
        }
        false
    }

    /// Share of the last tenth of a second that was refused.
    pub(super) fn refused_share(&self, now: Duration) -> f64 {
        self.flow.over(now.saturating_sub(Duration::from_millis(100)), now).refused_share()
    }

    fn is_too_much(&self, now: Duration) -> bool {
        // The present bin is not whole yet, and what it lacks has not been refused.
        let end = now + Duration::from_millis(20);
        let since = |millis| now.saturating_sub(Duration::from_millis(millis)).max(self.epoch);
        let over = |millis, share| {
            let sums = self.flow.over(since(millis), end);
            let excess = self.background.excess(sums);
            excess >= REFUSALS_MIN && excess >= sums.sent * share
        };
        if now.saturating_sub(self.epoch) < AFTER && !self.is_free() {
            return over(100, SHARE_AFTER);
        }
        over(100, SHARE_SHORT) || over(1_000, SHARE_LONG)
    }

    fn cut(&mut self, now: Duration) {
        self.cuts += 1;
        if let Some(high) = self.in_vain(now) {
            return self.probe(high, now);
        }
        let lately = self.flow.over(now.saturating_sub(Duration::from_millis(120)), now);
        let before = self.limit().unwrap_or_else(|| self.first_rate(now).max(2.0 * FIRST_MIN));
        let safe = match self.state {
            State::Growing { base, .. } => base / before,
            _ => 1.0,
        };
        let kept = safe.min(1.0 - lately.refused_share()).clamp(AT_ONCE_MAX, AT_ONCE_MIN);
        let known = match self.state {
            State::Growing { base, .. } if before < base * STILL_HOLDS => Some(base / SAFE_SHARE),
            _ => None,
        };
        self.begin_episode(before, Sums::default());
        self.set_rate(before * kept, now);
        self.state = State::Measuring { before, known };
        self.epoch = now;
        self.used_at = now;
    }

    /// Time after which what was sent has been refused, if it is.
    fn delay(&self) -> Duration {
        Duration::from_secs_f64((self.refusal_delay * 2.0).clamp(0.02, 0.3))
    }

    /// What was sent lately, of a loop that may be younger than a bin.
    fn first_rate(&self, now: Duration) -> f64 {
        let (lately, bin) = (Duration::from_millis(120), Duration::from_millis(20));
        let sums = self.flow.over(now.saturating_sub(lately), now + bin);
        sums.sent / now.saturating_sub(self.used_at).clamp(bin, lately).as_secs_f64()
    }

    fn look(&mut self, now: Duration) {
        let passed = now.saturating_sub(self.looked_at);
        if passed < LOOK_EVERY {
            return;
        }
        self.looked_at = now;
        if self.background.is_there() && matches!(self.state, State::Free | State::Growing { .. }) {
            self.see_background(now);
        }
        match self.state {
            State::Free => {}
            State::Measuring { before, known } => self.measure(before, known, now),
            State::Probing { high, low, base } => self.conclude(high, low, base, now),
            State::Outage { before } => self.see_outage(before, now),
            State::Growing { base, age } => self.grow(base, age, passed.min(LOOK_EVERY * 3), now),
        }
    }

    /// Sets the rate to what was admitted while things were refused, when that is known.
    fn measure(&mut self, before: f64, last: Option<f64>, now: Duration) {
        let delay = self.delay();
        let elapsed = now.saturating_sub(self.epoch);
        if elapsed < MEASURE_MIN.max(delay * 2) {
            return;
        }
        let from = self.epoch.saturating_sub(Duration::from_millis(200));
        let to = now.saturating_sub(delay);
        let measured = self.flow.while_refusing(from, to);
        let (known, age) = match measured.filter(|sums| sums.sent >= MEASURED_MIN) {
            Some(sums) => (sums, 0.0),
            None if elapsed < MEASURE_MAX => return,
            // So few that single refusals bound the stretch: rather all that was admitted since,
            // with no hold, because it may be far too low.
            None => (self.flow.over(from, to), HOLD + AGE_IF_UNSURE),
        };
        if let Some(episode) = &mut self.episode {
            let is_little = episode.seen.sent < MEASURED_MIN;
            episode.seen = if is_little { episode.seen.and(known) } else { known };
        }
        let known = self.background.without(known);
        let known = last.map_or(known.admitted_rate(), |last| known.pooled(last, LAST_COUNTS));
        self.epoch = now;
        self.grow_from((known * SAFE_SHARE).min(before), age, now);
    }

    fn grow_from(&mut self, base: f64, age: f64, now: Duration) {
        self.set_rate(base, now);
        self.state = State::Growing { base: self.tokens.rate(), age };
        self.used_at = now;
    }

    fn grow(&mut self, base: f64, age: f64, passed: Duration, now: Duration) {
        let lately = self.flow.over(now.saturating_sub(Duration::from_millis(300)), now);
        let rate = self.tokens.rate();
        if lately.sent_rate() >= rate * USED_MIN {
            self.used_at = now;
        } else if now.saturating_sub(self.used_at) >= FORGET_AFTER {
            self.state = State::Free;
            self.used_at = now;
            return;
        }
        let age = age + passed.as_secs_f64();
        let beyond = (age - HOLD).max(0.0);
        let wanted = base * (GROWTH * beyond * beyond).min(50.0).exp();
        let tried = rate * now.saturating_sub(self.epoch).as_secs_f64();
        let has_grown = wanted > base * GREW && tried >= MEASURED_MIN;
        if self.episode.is_some() && (has_grown || self.are_refusals_gone(now)) {
            self.episode = None;
        }
        let lately = self.background.without(lately);
        let most = (lately.admitted_rate() * ABOVE_MEASURED_MAX).max(rate);
        if wanted <= most {
            self.state = State::Growing { base, age };
        }
        self.set_rate(wanted.min(most), now);
    }

    /// Whether the last cut helped.
    fn are_refusals_gone(&self, now: Duration) -> bool {
        let end = now.saturating_sub(self.delay());
        let from = end.saturating_sub(Duration::from_secs(1)).max(self.epoch);
        let lately = self.flow.over(from, end);
        lately.sent >= GONE_SENT && lately.refused <= lately.sent * GONE_SHARE
    }

    fn set_rate(&mut self, rate: f64, now: Duration) {
        if self.is_free() {
            self.tokens = Tokens::new(rate.max(RATE_MIN), now);
        } else {
            self.tokens.set_rate(rate.max(RATE_MIN));
        }
    }
}
