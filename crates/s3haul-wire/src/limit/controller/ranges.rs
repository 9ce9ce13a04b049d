//! Which ranges of keys have a rate of their own.
//!
//! One range holds all keys at first. Where refusals gather, it is cut, so that a hot prefix does
//! not slow the rest; S3's partitions are ranges of keys, not folders. Neighbours without limit
//! are one range again. There are at most `RANGES_MAX`.

use std::time::Duration;

use super::rate::RateLoop;
use super::sample::{Piece, Sample};

/// Ranges at most for each class of operations.
pub const RANGES_MAX: usize = 128;
/// How often neighbours are looked at.
const MERGE_EVERY: Duration = Duration::from_secs(1);
/// A piece with less than this share of the refusals is without limit.
const COLD: f64 = 0.05;
/// While this share is refused, refusals this far apart are not those of one moment.
const OVERLOADED: f64 = 0.1;
const MOMENT: Duration = Duration::from_millis(100);

/// A range of keys and what was learnt of it.
#[derive(Debug, Clone, PartialEq)]
pub struct LearntRange {
    /// First key of the range; it ends where the next begins.
    pub start: Vec<u8>,
    /// Requests a second that the service takes; none where no limit was found.
    pub per_second: Option<f64>,
}

#[derive(Debug, Clone)]
struct Range {
    /// First key of the range; it ends where the next begins.
    start: Vec<u8>,
    rate: RateLoop,
    sample: Sample,
    epoch_began: Duration,
}

/// The ranges of one class, in order.
#[derive(Debug, Clone)]
pub struct Ranges {
    ranges: Vec<Range>,
    merged_at: Duration,
}

impl Ranges {
    /// One range without limit.
    pub fn new(now: Duration) -> Self {
        Self { ranges: vec![Range::new(Vec::new(), RateLoop::new(now), now)], merged_at: now }
    }

    /// How long a request for `key` waits; zero to send it now.
    pub fn wait(&mut self, now: Duration, key: &[u8]) -> Duration {
        let index = self.find(key);
        self.ranges[index].rate.wait(now)
    }

    /// Whether the range of a key has a limit.
    pub fn is_limited(&self, key: &[u8]) -> bool {
        !self.ranges[self.find(key)].rate.is_free()
    }

    /// Notes a request.
    pub fn sent(&mut self, now: Duration, key: &[u8], cost: u32) {
        let index = self.find(key);
        let range = &mut self.ranges[index];
        range.rate.sent(now, cost);
        range.sample.sent(key);
    }

    /// Notes a refusal. Says whether it cut the rate.
    pub fn refused(&mut self, now: Duration, key: &[u8], sent_at: Duration, cost: u32) -> bool {
        let index = self.find(key);
        let range = &mut self.ranges[index];
        range.sample.refused(key);
        let is_cut = range.rate.refused(now, sent_at, cost);
        let is_another = now.saturating_sub(range.epoch_began) >= MOMENT;
        if is_cut || (is_another && range.rate.refused_share(now) >= OVERLOADED) {
            range.sample.next_epoch();
            range.epoch_began = now;
        }
        if is_cut {
            self.split(index, now);
        }
        is_cut
    }

    /// All ranges, in order; nothing where none has a limit.
    pub fn learnt(&self) -> Vec<LearntRange> {
        let learnt = |range: &Range| LearntRange {
            start: range.start.clone(),
            per_second: range.rate.learnt(),
        };
        let all: Vec<_> = self.ranges.iter().map(learnt).collect();
        if all.iter().any(|range| range.per_second.is_some()) { all } else { Vec::new() }
    }

    /// Begins with ranges that were learnt before. What makes no sense is left out.
    pub fn recall(&mut self, now: Duration, mut learnt: Vec<LearntRange>) {
        let is_sensible = |rate: f64| rate.is_finite() && rate > 0.0;
        learnt.retain(|range| range.per_second.is_none_or(is_sensible));
        learnt.sort_by(|left, right| left.start.cmp(&right.start));
        learnt.dedup_by(|right, left| left.start == right.start);
        if learnt.first().is_none_or(|first| !first.start.is_empty()) {
            learnt.insert(0, LearntRange { start: Vec::new(), per_second: None });
        }
        learnt.truncate(RANGES_MAX);
        let range = |LearntRange { start, per_second }| {
            let rate = per_second.map_or_else(
                || RateLoop::new(now),
                |per_second| RateLoop::recalled(per_second, now),
            );
            Range::new(start, rate, now)
        };
        self.ranges = learnt.into_iter().map(range).collect();
    }

    /// Makes neighbours without limit one range.
    pub fn tidy(&mut self, now: Duration) {
        if self.ranges.len() == 1 || now.saturating_sub(self.merged_at) < MERGE_EVERY {
            return;
        }
        self.merged_at = now;
        for range in &mut self.ranges {
            range.rate.wait(now);
        }
        self.ranges.dedup_by(|right, left| left.rate.is_free() && right.rate.is_free());
    }

    fn find(&self, key: &[u8]) -> usize {
        if self.ranges.len() == 1 {
            return 0;
        }
        self.ranges.partition_point(|range| range.start.as_slice() <= key) - 1
    }

    /// Cuts a range where its refusals gather, if they do.
    fn split(&mut self, index: usize, now: Duration) {
        let range = &self.ranges[index];
        let Some(pieces) = range.sample.pieces() else { return };
        if self.ranges.len() + pieces.len() > RANGES_MAX {
            return;
        }
        let rate = |piece: &Piece| {
            if piece.refused < COLD { RateLoop::new(now) } else { range.rate.part(piece.sent, now) }
        };
        let parts: Vec<Range> = pieces
            .into_iter()
            .filter(|piece| piece.start.is_empty() || piece.start > range.start)
            .map(|piece| {
                let rate = rate(&piece);
                Range::new(piece.start.max(range.start.clone()), rate, now)
            })
            .collect();
        self.ranges.splice(index..=index, parts);
    }
}

impl Range {
    fn new(start: Vec<u8>, rate: RateLoop, now: Duration) -> Self {
        Self { start, rate, sample: Sample::default(), epoch_began: now }
    }
}
