//! A run of one client against one service, in steps of a millisecond.

use std::time::Duration;

use fastrand::Rng;
use s3haul_wire::controller::Grant;

use crate::client::{Client, Ended};
use crate::service::Service;

/// Longest time ahead for which something can be planned.
const AHEAD_MS: u64 = 32_768;

/// Requests of one stream that wait for their range at once: those behind them wait, too.
const PARKED_MAX: u32 = 512;

/// What waits for its range asks again after this time at the earliest.
const PARKED_MIN: Duration = Duration::from_millis(5);

/// Demand for objects of one range of keys.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stream {
    pub(crate) first: u64,
    pub(crate) last: u64,
    /// New objects a second; what is late is made up for.
    pub(crate) per_second: f64,
}

impl Stream {
    /// Endless demand.
    pub(crate) const fn endless(first: u64, last: u64) -> Self {
        Self { first, last, per_second: f64::INFINITY }
    }
}

/// All keys.
pub(crate) const EVERYWHERE: Stream = Stream::endless(0, u64::MAX);

/// What comes at a time: an answer, or the end of a pause before a retry.
#[derive(Debug, Clone, Copy)]
struct Planned {
    key: u64,
    sent_ms: u64,
    stream: usize,
    attempt: u32,
    kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Done,
    Refused,
    Retry,
    Parked,
}

/// Answers of one tenth of a second.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tenth {
    pub(crate) done: Vec<u32>,
    pub(crate) refused: u32,
    pub(crate) latency_ms: u64,
}

/// The whole of a run.
pub(crate) struct Simulation<'s> {
    pub(crate) service: &'s mut dyn Service,
    pub(crate) client: &'s mut dyn Client,
    streams: Vec<Stream>,
    random: Rng,
    planned: Vec<Vec<Planned>>,
    parked: Vec<u32>,
    /// Objects of each stream that were begun.
    begun: Vec<u64>,
    in_flight: u32,
    now_ms: u64,
    pub(crate) tenths: Vec<Tenth>,
}

impl<'s> Simulation<'s> {
    pub(crate) fn new(
        service: &'s mut dyn Service,
        client: &'s mut dyn Client,
        streams: &[Stream],
        seed: u64,
    ) -> Self {
        Self {
            service,
            client,
            streams: streams.to_vec(),
            random: Rng::with_seed(seed ^ 0x5eed),
            planned: vec![Vec::new(); AHEAD_MS as usize],
            parked: vec![0; streams.len()],
            begun: vec![0; streams.len()],
            in_flight: 0,
            now_ms: 0,
            tenths: Vec::new(),
        }
    }

    /// Goes on until so many seconds after the beginning.
    pub(crate) fn run_until(&mut self, seconds: u64) {
        while self.now_ms < seconds * 1000 {
            if self.now_ms.is_multiple_of(100) {
                let done = vec![0; self.streams.len()];
                self.tenths.push(Tenth { done, ..Tenth::default() });
            }
            self.take_planned();
            self.send_new();
            self.now_ms += 1;
        }
    }

    fn take_planned(&mut self) {
        let slot = (self.now_ms % AHEAD_MS) as usize;
        let mut planned = std::mem::take(&mut self.planned[slot]);
        for item in planned.drain(..) {
            match item.kind {
                Kind::Retry | Kind::Parked => self.retry(item),
                Kind::Done | Kind::Refused => self.end(item),
            }
        }
        self.planned[slot] = planned;
    }

    fn end(&mut self, item: Planned) {
        self.in_flight -= 1;
        let is_refused = item.kind == Kind::Refused;
        let tenth = self.tenths.last_mut().expect("a tenth has begun");
        if is_refused {
            tenth.refused += 1;
        } else {
            tenth.done[item.stream] += 1;
            tenth.latency_ms += self.now_ms - item.sent_ms;
        }
        let ended = Ended {
            key: item.key.to_be_bytes(),
            sent_at: Duration::from_millis(item.sent_ms),
            attempt: item.attempt,
            is_refused,
        };
        let pause = self.client.ended(Duration::from_millis(self.now_ms), &ended);
        if let Some(pause) = pause {
            let item = Planned { attempt: item.attempt + 1, kind: Kind::Retry, ..item };
            self.plan(pause, item);
        }
    }

    fn retry(&mut self, item: Planned) {
        let now = Duration::from_millis(self.now_ms);
        match self.client.ask(now, item.key.to_be_bytes(), item.attempt) {
            Grant::Go => {
                self.parked[item.stream] -= u32::from(item.kind == Kind::Parked);
                self.send(item);
            }
            Grant::Wait(wait) => self.plan(wait.max(PARKED_MIN), item),
            Grant::Full => self.plan(Duration::from_millis(5), item),
        }
    }

    fn send_new(&mut self) {
        let now = Duration::from_millis(self.now_ms);
        let mut open: Vec<usize> = (0..self.streams.len()).collect();
        while !open.is_empty() {
            open.retain(|&stream| self.is_wanted(stream) && self.send_one(now, stream));
        }
    }

    /// Whether a stream has an object that may be begun.
    fn is_wanted(&self, stream: usize) -> bool {
        let due = self.streams[stream].per_second * (self.now_ms + 1) as f64 / 1000.0;
        self.parked[stream] < PARKED_MAX && (self.begun[stream] as f64) < due
    }

    /// Sends or parks the next object of a stream.
    fn send_one(&mut self, now: Duration, stream: usize) -> bool {
        let Stream { first, last, .. } = self.streams[stream];
        let key = self.random.u64(first..=last);
        let sent_ms = self.now_ms;
        let item = Planned { key, sent_ms, stream, attempt: 0, kind: Kind::Parked };
        match self.client.ask(now, key.to_be_bytes(), 0) {
            Grant::Go => self.send(item),
            Grant::Wait(wait) => {
                self.parked[stream] += 1;
                self.plan(wait.max(PARKED_MIN), item);
            }
            Grant::Full => return false,
        }
        self.begun[stream] += 1;
        true
    }

    fn send(&mut self, item: Planned) {
        self.in_flight += 1;
        let reply = self.service.answer(self.now_ms, item.key, self.in_flight);
        let kind = if reply.is_refused { Kind::Refused } else { Kind::Done };
        let item = Planned { sent_ms: self.now_ms, kind, ..item };
        self.plan(Duration::from_millis(u64::from(reply.latency_ms)), item);
    }

    fn plan(&mut self, after: Duration, item: Planned) {
        let after_ms = (after.as_micros().div_ceil(1000) as u64).clamp(1, AHEAD_MS - 1);
        self.planned[((self.now_ms + after_ms) % AHEAD_MS) as usize].push(item);
    }

    /// Figures of a stretch of whole tenths of a second.
    pub(crate) fn figures(&self, from_tenth: usize, to_tenth: usize) -> Figures {
        let mut figures = Figures { done: vec![0.0; self.streams.len()], ..Figures::default() };
        let tenths = &self.tenths[from_tenth..to_tenth];
        let seconds = tenths.len() as f64 / 10.0;
        let (mut refused, mut latency, mut answers) = (0.0, 0.0, 0.0);
        for tenth in tenths {
            for (sum, done) in figures.done.iter_mut().zip(&tenth.done) {
                *sum += f64::from(*done) / seconds;
                answers += f64::from(*done);
            }
            refused += f64::from(tenth.refused);
            latency += tenth.latency_ms as f64;
        }
        figures.all = figures.done.iter().sum();
        figures.refused_share = refused / (refused + answers).max(1.0);
        figures.latency_ms = latency / answers.max(1.0);
        figures
    }
}

/// What a stretch of time brought.
#[derive(Debug, Clone, Default)]
pub(crate) struct Figures {
    /// Requests a second that were carried out, of each stream.
    pub(crate) done: Vec<f64>,
    /// Of all of them.
    pub(crate) all: f64,
    /// Part of all answers that were refusals.
    pub(crate) refused_share: f64,
    /// Mean milliseconds of what was carried out.
    pub(crate) latency_ms: f64,
}
