//! What the simulation asks of a client, and the two simplest ones.

use std::time::Duration;

use fastrand::Rng;
use s3haul_wire::controller::{Ask, Bounds, Class, Controller, Grant, Outcome};

use crate::simulation::Stream;

/// A key, in the order of partitions.
pub(crate) type Key = [u8; 8];

/// The end of a request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ended {
    pub(crate) key: Key,
    pub(crate) sent_at: Duration,
    /// Attempts before it.
    pub(crate) attempt: u32,
    pub(crate) is_refused: bool,
}

/// Decides what is sent when.
pub(crate) trait Client {
    /// Whether a request may go; a retry keeps its slot where there are slots.
    fn ask(&mut self, now: Duration, key: Key, attempt: u32) -> Grant;
    /// Learns from an end. Gives the pause before a retry that keeps its slot.
    fn ended(&mut self, now: Duration, ended: &Ended) -> Option<Duration>;
}

/// Exponential pause with full jitter.
pub(crate) fn backoff(random: &mut Rng, attempt: u32) -> Duration {
    let most = (0.1 * f64::from(1 << attempt.min(10))).min(20.0);
    Duration::from_secs_f64(most * random.f64())
}

/// So many slots; a refused request pauses in its slot.
#[derive(Debug)]
pub(crate) struct Fixed {
    slots: u32,
    used: u32,
    random: Rng,
}

impl Fixed {
    pub(crate) fn new(slots: u32) -> Self {
        Self { slots, used: 0, random: Rng::with_seed(7) }
    }
}

impl Client for Fixed {
    fn ask(&mut self, _now: Duration, _key: Key, attempt: u32) -> Grant {
        if attempt > 0 {
            return Grant::Go;
        }
        if self.used >= self.slots {
            return Grant::Full;
        }
        self.used += 1;
        Grant::Go
    }

    fn ended(&mut self, _now: Duration, ended: &Ended) -> Option<Duration> {
        if ended.is_refused {
            return Some(backoff(&mut self.random, ended.attempt));
        }
        self.used -= 1;
        None
    }
}

/// The controller under test.
#[derive(Debug)]
pub(crate) struct Ours {
    pub(crate) controller: Controller,
    class: Class,
}

impl Ours {
    pub(crate) fn new(class: Class, max_concurrent_requests: u32) -> Self {
        let bounds = Bounds { max_concurrent_requests, ..Bounds::default() };
        Self { controller: Controller::new(bounds, Duration::ZERO), class }
    }
}

impl Client for Ours {
    fn ask(&mut self, now: Duration, key: Key, _attempt: u32) -> Grant {
        self.controller.ask(
            now,
            Ask {
                class: self.class,
                key: &key,
                kind: 0,
                cost: 1,
                is_rate_only: false,
                is_small: true,
            },
        )
    }

    fn ended(&mut self, now: Duration, ended: &Ended) -> Option<Duration> {
        let outcome =
            if ended.is_refused { Outcome::Throttled } else { Outcome::Done { bytes: 16_384 } };
        let sent = Ask {
            class: self.class,
            key: &ended.key,
            kind: 0,
            cost: 1,
            is_rate_only: false,
            is_small: true,
        };
        self.controller.answered(
            now,
            sent,
            (ended.sent_at, now.saturating_sub(ended.sent_at)),
            outcome,
        );
        None
    }
}

/// Several jobs that know nothing of each other, each with its part of the keys; each begins some
/// seconds after the one before.
#[derive(Debug)]
pub(crate) struct Several {
    jobs: Vec<Ours>,
    apart: Duration,
    /// Keys from one of a job to the first that is its again.
    repeat: u64,
}

impl Several {
    pub(crate) fn new(count: usize, apart: Duration, class: Class, in_flight_max: u32) -> Self {
        let jobs = (0..count).map(|_| Ours::new(class, in_flight_max)).collect();
        Self { jobs, apart, repeat: u64::MAX }
    }

    /// Gives each job its part of the keys of every one of so many partitions.
    pub(crate) fn in_each_of(mut self, partitions: u64) -> Self {
        self.repeat = u64::MAX / partitions;
        self
    }

    /// What each job wants of one of them.
    pub(crate) fn streams(&self, partition: u64, per_second: f64) -> Vec<Stream> {
        let width = self.width();
        let of = |job| {
            let first = self.repeat * partition + width * job;
            Stream { first, last: first + (width - 1), per_second }
        };
        (0..self.jobs.len() as u64).map(of).collect()
    }

    /// The keys of a job in a partition.
    fn width(&self) -> u64 {
        self.repeat / self.jobs.len() as u64
    }

    fn job_of(&self, key: Key) -> usize {
        (u64::from_be_bytes(key) % self.repeat / self.width()) as usize
    }
}

impl Client for Several {
    fn ask(&mut self, now: Duration, key: Key, attempt: u32) -> Grant {
        let job = self.job_of(key);
        if now < self.apart * job as u32 {
            return Grant::Full;
        }
        self.jobs[job].ask(now, key, attempt)
    }

    fn ended(&mut self, now: Duration, ended: &Ended) -> Option<Duration> {
        let job = self.job_of(ended.key);
        self.jobs[job].ended(now, ended)
    }
}
