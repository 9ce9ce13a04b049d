//! How long requests take, and how long they take without a queue.
//!
//! Kept apart by kind of request and by size, or the first large object after many small ones would
//! look like a queue.

use std::time::Duration;

/// Number of request kinds that are distinguished.
pub(super) const KINDS: usize = 16;
/// Number of size classes: up to 16 KiB, and each four times as large.
const SIZES: usize = 7;
const SLOTS: usize = KINDS * SIZES;
/// How long the lowest latency and the best goodput count.
const REMEMBER: Duration = Duration::from_secs(30);

fn slot(kind: u8, bytes: u64) -> usize {
    let doublings = (bytes >> 14).checked_ilog2().map_or(0, |log| 1 + log / 2);
    usize::from(kind) % KINDS * SIZES + (doublings as usize).min(SIZES - 1)
}

/// Latencies of a while, by kind and size.
#[derive(Debug, Clone)]
pub(super) struct Latencies {
    sums: [(u32, f64); SLOTS],
}

impl Default for Latencies {
    fn default() -> Self {
        Self { sums: [(0, 0.0); SLOTS] }
    }
}

impl Latencies {
    /// Notes a request that took so many seconds.
    pub(super) fn note(&mut self, kind: u8, bytes: u64, seconds: f64) {
        let (count, sum) = &mut self.sums[slot(kind, bytes)];
        *count += 1;
        *sum += seconds;
    }

    fn means(&self) -> impl Iterator<Item = (usize, f64, f64)> {
        let sums = self.sums.iter().enumerate().filter(|(_, (count, _))| *count > 0);
        sums.map(|(slot, (count, sum))| (slot, f64::from(*count), sum / f64::from(*count)))
    }
}

/// The lowest mean latencies of late.
#[derive(Debug, Clone)]
pub(super) struct Lowest {
    records: [Record; SLOTS],
}

impl Lowest {
    pub(super) fn new() -> Self {
        Self { records: [Record::new(f64::min); SLOTS] }
    }

    /// Notes what was seen, with a margin for chance: a low mean of few answers says little.
    pub(super) fn note(&mut self, seen: &Latencies, now: Duration) {
        self.note_with(1.0, seen, now);
    }

    /// The same of answers some of which are still to come: those are the slower ones.
    pub(super) fn note_unfinished(&mut self, seen: &Latencies, now: Duration) {
        self.note_with(0.5, seen, now);
    }

    fn note_with(&mut self, margin: f64, seen: &Latencies, now: Duration) {
        for (slot, count, mean) in seen.means() {
            self.records[slot].note(mean * (1.0 + margin * count.sqrt().recip()), now);
        }
    }

    /// Begins anew with what was seen.
    pub(super) fn restart(&mut self, seen: &Latencies, now: Duration) {
        for (slot, _, mean) in seen.means() {
            self.records[slot].restart(mean, now);
        }
    }

    /// How many times as long as without a queue what was seen took.
    pub(super) fn inflation(&self, seen: &Latencies) -> f64 {
        let (mut took, mut least) = (0.0, 0.0);
        for (slot, count, mean) in seen.means() {
            took += count * mean;
            least += count * self.records[slot].value().min(f64::MAX);
        }
        if least > 0.0 { took / least } else { 1.0 }
    }
}

/// The smallest or greatest value of the last while, in two halves.
#[derive(Debug, Clone, Copy)]
pub(super) struct Record {
    older: f64,
    newer: f64,
    turned: Duration,
    pick: fn(f64, f64) -> f64,
}

impl Record {
    pub(super) fn new(pick: fn(f64, f64) -> f64) -> Self {
        Self { older: f64::NAN, newer: f64::NAN, turned: Duration::ZERO, pick }
    }

    pub(super) fn note(&mut self, value: f64, now: Duration) {
        if now.saturating_sub(self.turned) >= REMEMBER / 2 {
            (self.older, self.newer, self.turned) = (self.newer, f64::NAN, now);
        }
        self.newer = (self.pick)(self.newer, value);
    }

    fn restart(&mut self, value: f64, now: Duration) {
        (self.older, self.newer, self.turned) = (f64::NAN, value, now);
    }

    /// `min` and `max` of floats leave out what is not a number.
    pub(super) fn value(&self) -> f64 {
        (self.pick)(self.older, self.newer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_distinguished() {
        let slots: Vec<_> = [0, 16_383, 16_384, 65_535, 65_536, 1 << 20, 8 << 20, u64::MAX]
            .map(|b| slot(0, b))
            .into();
        assert_eq!(slots, [0, 0, 1, 1, 2, 4, 5, 6]);
        assert_ne!(slot(1, 0), slot(0, u64::MAX));
        assert!(slot(255, u64::MAX) < SLOTS);
    }

    #[test]
    fn a_larger_object_is_no_queue() {
        let mut lowest = Lowest::new();
        let now = Duration::from_secs(1);
        let mut small = Latencies::default();
        (0..100).for_each(|_| small.note(0, 100, 0.01));
        lowest.note(&small, now);
        let mut large = Latencies::default();
        (0..100).for_each(|_| large.note(0, 8 << 20, 0.5));
        lowest.note(&large, now);
        assert!(lowest.inflation(&large) < 1.0);
        let mut slow = Latencies::default();
        (0..100).for_each(|_| slow.note(0, 100, 0.03));
        assert!((2.0..3.0).contains(&lowest.inflation(&slow)));
        lowest.restart(&slow, now);
        assert!((0.9..1.1).contains(&lowest.inflation(&slow)));
    }
}
