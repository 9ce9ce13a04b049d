//! Simulated services: partitions with limits, and a small server with few cores.

use fastrand::Rng;

use crate::latency::Latency;

/// Requests that a partition saves up, in seconds of its limit.
const BURST_SECONDS: f64 = 0.25;
/// Milliseconds of a refusal.
const REFUSAL_MS: u32 = 10;
/// Share of its limit from which a partition counts as loaded.
const LOADED: f64 = 0.85;

/// What a service answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Reply {
    pub(crate) latency_ms: u32,
    pub(crate) is_refused: bool,
}

/// A service under load.
pub(crate) trait Service {
    /// Answers a request that arrives at `now_ms` while `in_flight` are with it.
    fn answer(&mut self, now_ms: u64, key: u64, in_flight: u32) -> Reply;
    /// Multiplies its limit.
    fn change(&mut self, factor: f64);
    /// Requests a second that it takes when keys are spread evenly.
    fn allowed(&self) -> f64;
}

/// A range of keys with a token bucket.
#[derive(Debug, Clone)]
struct Partition {
    start: u64,
    tokens: f64,
    at_ms: u64,
    /// Requests taken in the present second, and seconds under load in a row.
    taken: f64,
    second: u64,
    loaded_seconds: u64,
}

/// Partitions that divide all keys evenly, each with the same limit.
#[derive(Debug)]
pub(crate) struct Partitions {
    partitions: Vec<Partition>,
    limit: f64,
    /// Seconds of load after which a partition splits.
    split_after: Option<u64>,
    latency: Latency,
    random: Rng,
}

impl Partitions {
    pub(crate) fn new(count: u64, limit: f64, median_ms: f64, seed: u64) -> Self {
        let width = u64::MAX / count;
        let partitions = (0..count).map(|index| Partition::new(index * width, limit, 0)).collect();
        let mut random = Rng::with_seed(seed);
        let latency = Latency::new(median_ms, &mut random);
        Self { partitions, limit, split_after: None, latency, random }
    }

    /// Partitions that split after so many seconds of load.
    pub(crate) fn splitting_after(mut self, seconds: u64) -> Self {
        self.split_after = Some(seconds);
        self
    }

    fn split(&mut self, index: usize, now_ms: u64) {
        let end = self.partitions.get(index + 1).map_or(u64::MAX, |next| next.start);
        let start = self.partitions[index].start;
        let middle = start + (end - start) / 2;
        self.partitions[index].loaded_seconds = 0;
        self.partitions.insert(index + 1, Partition::new(middle, self.limit, now_ms));
    }
}

impl Partition {
    fn new(start: u64, limit: f64, at_ms: u64) -> Self {
        let tokens = limit * BURST_SECONDS;
        Self { start, tokens, at_ms, taken: 0.0, second: 0, loaded_seconds: 0 }
    }

    fn takes(&mut self, now_ms: u64, limit: f64) -> bool {
        let passed = (now_ms - self.at_ms) as f64 / 1000.0;
        self.tokens = (self.tokens + passed * limit).min(limit * BURST_SECONDS);
        self.at_ms = now_ms;
        if now_ms / 1000 != self.second {
            let is_loaded = self.taken >= limit * LOADED;
            self.loaded_seconds = if is_loaded { self.loaded_seconds + 1 } else { 0 };
            (self.second, self.taken) = (now_ms / 1000, 0.0);
        }
        if self.tokens < 1.0 {
            return false;
        }
        self.tokens -= 1.0;
        self.taken += 1.0;
        true
    }
}

impl Service for Partitions {
    fn answer(&mut self, now_ms: u64, key: u64, _in_flight: u32) -> Reply {
        let index = self.partitions.partition_point(|partition| partition.start <= key) - 1;
        let partition = &mut self.partitions[index];
        let is_taken = partition.takes(now_ms, self.limit);
        if self.split_after.is_some_and(|after| partition.loaded_seconds >= after) {
            self.split(index, now_ms);
        }
        if is_taken {
            Reply { latency_ms: self.latency.draw(&mut self.random), is_refused: false }
        } else {
            Reply { latency_ms: REFUSAL_MS, is_refused: true }
        }
    }

    fn change(&mut self, factor: f64) {
        self.limit *= factor;
    }

    fn allowed(&self) -> f64 {
        self.limit * self.partitions.len() as f64
    }
}

/// A service that for a time also refuses a share of what comes, however much that is.
#[derive(Debug)]
pub(crate) struct Stormy {
    service: Partitions,
    share: f64,
    from_ms: u64,
    until_ms: u64,
    random: Rng,
}

impl Stormy {
    /// A storm of so many seconds.
    pub(crate) fn new(service: Partitions, share: f64, seconds: std::ops::Range<u64>) -> Self {
        let (from_ms, until_ms) = (seconds.start * 1_000, seconds.end.saturating_mul(1_000));
        let random = Rng::with_seed(service.random.get_seed() ^ 0x570);
        Self { service, share, from_ms, until_ms, random }
    }
}

impl Service for Stormy {
    fn answer(&mut self, now_ms: u64, key: u64, in_flight: u32) -> Reply {
        let is_storm = (self.from_ms..self.until_ms).contains(&now_ms);
        if is_storm && self.random.f64() < self.share {
            return Reply { latency_ms: REFUSAL_MS, is_refused: true };
        }
        self.service.answer(now_ms, key, in_flight)
    }

    fn change(&mut self, factor: f64) {
        self.service.change(factor);
    }

    fn allowed(&self) -> f64 {
        self.service.allowed()
    }
}

/// One machine: so many cores, a queue before them, and work that takes longer the more requests
/// are inside (memory, threads, locks).
#[derive(Debug)]
pub(crate) struct SmallServer {
    free_at_ms: Vec<f64>,
    service_ms: f64,
    network_ms: f64,
    /// Requests inside that make the work twice as long.
    crowd: f64,
    random: Rng,
}

impl SmallServer {
    pub(crate) fn new(
        cores: usize,
        service_ms: f64,
        network_ms: f64,
        crowd: f64,
        seed: u64,
    ) -> Self {
        let random = Rng::with_seed(seed);
        Self { free_at_ms: vec![0.0; cores], service_ms, network_ms, crowd, random }
    }
}

impl Service for SmallServer {
    fn answer(&mut self, now_ms: u64, _key: u64, in_flight: u32) -> Reply {
        let arrived = now_ms as f64 + self.network_ms / 2.0 + self.random.f64();
        let slower = 1.0 + f64::from(in_flight) / self.crowd;
        let work = -self.service_ms * slower * (1.0 - self.random.f64()).ln();
        let core = self.free_at_ms.iter_mut().min_by(|left, right| left.total_cmp(right));
        let core = core.expect("a server has cores");
        *core = core.max(arrived) + work;
        let latency = *core - now_ms as f64 + self.network_ms / 2.0;
        Reply { latency_ms: (latency.round() as u32).max(1), is_refused: false }
    }

    fn change(&mut self, factor: f64) {
        self.service_ms /= factor;
    }

    fn allowed(&self) -> f64 {
        self.free_at_ms.len() as f64 * 1000.0 / self.service_ms
    }
}
