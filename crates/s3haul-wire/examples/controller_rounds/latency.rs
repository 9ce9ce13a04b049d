//! Latencies: log-normal, and one in a hundred eight times as long.

use fastrand::Rng;

/// Width of the distribution.
const SIGMA: f64 = 0.35;
const TAIL_SHARE: f64 = 0.01;
const TAIL_FACTOR: f64 = 8.0;

/// Drawn beforehand, so that a simulation is quick in a debug build, too.
#[derive(Debug)]
pub(crate) struct Latency {
    drawn: Vec<u32>,
}

impl Latency {
    pub(crate) fn new(median_ms: f64, random: &mut Rng) -> Self {
        let drawn = (0..8192).map(|_| {
            let normal = (-2.0 * (1.0 - random.f64()).ln()).sqrt()
                * (std::f64::consts::TAU * random.f64()).cos();
            let tail = if random.f64() < TAIL_SHARE { TAIL_FACTOR } else { 1.0 };
            (median_ms * (SIGMA * normal).exp() * tail).round().clamp(1.0, 7_000.0) as u32
        });
        Self { drawn: drawn.collect() }
    }

    pub(crate) fn draw(&self, random: &mut Rng) -> u32 {
        self.drawn[random.usize(..self.drawn.len())]
    }
}
