//! Other methods, written from their descriptions: the AWS SDK's adaptive mode, one limit by epoch
//! AIMD, Netflix' `Gradient2`, and a probe of rate and latency in the manner of BBR.

use std::time::Duration;

use fastrand::Rng;
use s3haul_wire::controller::{Grant, Tokens};

use crate::client::{Client, Ended, Fixed, Key, backoff};

/// The SDK's adaptive mode: fixed slots before one token bucket that is off until the first
/// refusal, is cut by each refusal and grows by a cubic curve.
#[derive(Debug)]
pub(crate) struct SdkAdaptive {
    slots: Fixed,
    tokens: Option<Tokens>,
    measured: f64,
    window: f64,
    count: f64,
    last_max: f64,
    cut_at: f64,
}

impl SdkAdaptive {
    const BETA: f64 = 0.7;
    const CUBE: f64 = 0.4;
    const SMOOTH: f64 = 0.8;
    const RETRY_COST: u32 = 5;

    pub(crate) fn new(slots: u32) -> Self {
        Self {
            slots: Fixed::new(slots),
            tokens: None,
            measured: 0.0,
            window: 0.0,
            count: 0.0,
            last_max: 0.0,
            cut_at: 0.0,
        }
    }

    fn measure(&mut self, now: f64) {
        self.count += 1.0;
        let window = (now * 2.0).floor() / 2.0;
        if window > self.window {
            let rate = self.count / (window - self.window);
            self.measured = rate * Self::SMOOTH + self.measured * (1.0 - Self::SMOOTH);
            (self.window, self.count) = (window, 0.0);
        }
    }

    fn curve(&self, now: f64) -> f64 {
        let until_max = (self.last_max * (1.0 - Self::BETA) / Self::CUBE).cbrt();
        Self::CUBE * (now - self.cut_at - until_max).powi(3) + self.last_max
    }
}

impl Client for SdkAdaptive {
    fn ask(&mut self, now: Duration, key: Key, attempt: u32) -> Grant {
        if let Some(tokens) = &mut self.tokens {
            let wait = tokens.wait(now);
            if !wait.is_zero() {
                return if attempt > 0 { Grant::Wait(wait) } else { Grant::Full };
            }
        }
        let grant = self.slots.ask(now, key, attempt);
        if let (Grant::Go, Some(tokens)) = (grant, &mut self.tokens) {
            tokens.take(if attempt > 0 { Self::RETRY_COST } else { 1 });
        }
        grant
    }

    fn ended(&mut self, now: Duration, ended: &Ended) -> Option<Duration> {
        let at = now.as_secs_f64();
        self.measure(at);
        let rate = if ended.is_refused {
            let measured = self.measured.max(1.0);
            self.last_max = self.tokens.as_ref().map_or(measured, |t| measured.min(t.rate()));
            self.cut_at = at;
            self.last_max * Self::BETA
        } else {
            self.curve(at)
        };
        let rate = rate.min(2.0 * self.measured).max(0.5);
        match &mut self.tokens {
            Some(tokens) => tokens.set_rate(rate),
            None if ended.is_refused => self.tokens = Some(Tokens::new(rate, now)),
            None => {}
        }
        self.slots.ended(now, ended)
    }
}

/// One rate for everything, changed once an epoch of a second: up by 1.7 at first, then by 4 %;
/// down by 7 % or to the goodput, followed by a hold of three seconds.
#[derive(Debug)]
pub(crate) struct EpochAimd {
    tokens: Tokens,
    epoch: Duration,
    done: f64,
    refused: f64,
    is_ramping: bool,
    hold_until: Duration,
}

impl EpochAimd {
    pub(crate) fn new() -> Self {
        Self {
            tokens: Tokens::new(500.0, Duration::ZERO),
            epoch: Duration::ZERO,
            done: 0.0,
            refused: 0.0,
            is_ramping: true,
            hold_until: Duration::ZERO,
        }
    }

    fn turn(&mut self, now: Duration) {
        let seconds = now.saturating_sub(self.epoch).as_secs_f64();
        if seconds < 1.0 {
            return;
        }
        let (rate, goodput) = (self.tokens.rate(), self.done / seconds);
        let answers = self.done + self.refused;
        let next = if self.refused > 0.01 * answers {
            let factor = if self.is_ramping { 0.85 } else { 0.93 };
            self.is_ramping = false;
            self.hold_until = now + Duration::from_secs(3);
            (rate * factor).min(goodput.max(1.0))
        } else if now < self.hold_until || answers < 0.8 * rate * seconds {
            rate
        } else {
            rate * if self.is_ramping { 1.7 } else { 1.04 }
        };
        self.tokens.set_rate(next);
        (self.epoch, self.done, self.refused) = (now, 0.0, 0.0);
    }
}

impl Client for EpochAimd {
    fn ask(&mut self, now: Duration, _key: Key, _attempt: u32) -> Grant {
        self.turn(now);
        if !self.tokens.wait(now).is_zero() {
            return Grant::Full;
        }
        self.tokens.take(1);
        Grant::Go
    }

    fn ended(&mut self, _now: Duration, ended: &Ended) -> Option<Duration> {
        if ended.is_refused {
            self.refused += 1.0;
        } else {
            self.done += 1.0;
        }
        None
    }
}

/// `Gradient2` with its usual constants, but for the upper bound of 200.
#[derive(Debug)]
pub(crate) struct Gradient {
    limit: f64,
    long: f64,
    samples: f64,
    in_flight: u32,
    random: Rng,
}

impl Gradient {
    const LIMIT_MIN: f64 = 20.0;
    const LIMIT_MAX: f64 = 65_536.0;

    pub(crate) fn new() -> Self {
        Self {
            limit: Self::LIMIT_MIN,
            long: 0.0,
            samples: 0.0,
            in_flight: 0,
            random: Rng::with_seed(9),
        }
    }

    fn sample(&mut self, latency: f64) {
        self.samples += 1.0;
        if self.samples <= 10.0 {
            self.long += (latency - self.long) / self.samples;
        } else {
            self.long += (latency - self.long) * 2.0 / 601.0;
        }
        if self.long / latency > 2.0 {
            self.long *= 0.95;
        }
        if f64::from(self.in_flight) < self.limit / 2.0 {
            return;
        }
        let gradient = (1.5 * self.long / latency).clamp(0.5, 1.0);
        let wanted = self.limit * gradient + 4.0;
        self.limit = (self.limit * 0.8 + wanted * 0.2).clamp(Self::LIMIT_MIN, Self::LIMIT_MAX);
    }
}

impl Client for Gradient {
    fn ask(&mut self, _now: Duration, _key: Key, attempt: u32) -> Grant {
        if attempt == 0 {
            if f64::from(self.in_flight) >= self.limit {
                return Grant::Full;
            }
            self.in_flight += 1;
        }
        Grant::Go
    }

    fn ended(&mut self, now: Duration, ended: &Ended) -> Option<Duration> {
        self.sample(now.saturating_sub(ended.sent_at).as_secs_f64());
        if ended.is_refused {
            return Some(backoff(&mut self.random, ended.attempt));
        }
        self.in_flight -= 1;
        None
    }
}

/// Greatest goodput of ten rounds times the lowest mean latency of a round in ten seconds, paced
/// with gains. (With the lowest latency of all, as TCP has it, a log-normal latency never lets it
/// start.)
#[derive(Debug)]
pub(crate) struct BbrLike {
    tokens: Tokens,
    in_flight: u32,
    round_at: f64,
    done: f64,
    rates: [f64; 10],
    round: usize,
    latency: f64,
    latency_low: f64,
    latency_at: f64,
    /// Rounds of the start without growth; three end it.
    flat: u32,
    best: f64,
}

impl BbrLike {
    const START_GAIN: f64 = 2.89;
    const GAINS: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];

    pub(crate) fn new() -> Self {
        Self {
            tokens: Tokens::new(200.0, Duration::ZERO),
            in_flight: 0,
            round_at: 0.0,
            done: 0.0,
            rates: [0.0; 10],
            round: 0,
            latency: 0.0,
            latency_low: f64::INFINITY,
            latency_at: 0.0,
            flat: 0,
            best: 0.0,
        }
    }

    fn rate(&self) -> f64 {
        self.rates.iter().copied().fold(0.0, f64::max)
    }

    fn end_round(&mut self, now: f64) {
        let length = now - self.round_at;
        if self.done < 16.0 || length < (self.latency / self.done).max(0.02) {
            return;
        }
        self.latency /= self.done;
        if self.latency <= self.latency_low || now - self.latency_at > 10.0 {
            (self.latency_low, self.latency_at) = (self.latency, now);
        }
        let rate = self.done / length;
        self.rates[self.round % 10] = rate;
        self.round += 1;
        (self.round_at, self.done, self.latency) = (now, 0.0, 0.0);
        let gain = if self.flat >= 3 {
            Self::GAINS[self.round % 8]
        } else {
            self.flat = if rate >= self.best * 1.25 { 0 } else { self.flat + 1 };
            self.best = self.best.max(rate);
            Self::START_GAIN
        };
        self.tokens.set_rate((self.rate() * gain).max(10.0));
    }
}

impl Client for BbrLike {
    fn ask(&mut self, now: Duration, _key: Key, _attempt: u32) -> Grant {
        let fitting = if self.latency_low.is_finite() {
            let gain = if self.flat < 3 { Self::START_GAIN } else { 2.0 };
            (gain * self.rate() * self.latency_low).max(16.0)
        } else {
            16.0
        };
        if f64::from(self.in_flight) >= fitting || !self.tokens.wait(now).is_zero() {
            return Grant::Full;
        }
        self.tokens.take(1);
        self.in_flight += 1;
        Grant::Go
    }

    fn ended(&mut self, now: Duration, ended: &Ended) -> Option<Duration> {
        self.in_flight -= 1;
        let at = now.as_secs_f64();
        if !ended.is_refused {
            self.latency += now.saturating_sub(ended.sent_at).as_secs_f64();
            self.done += 1.0;
        }
        self.end_round(at);
        None
    }
}
