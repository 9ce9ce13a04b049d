//! Ranges of keys that take so many requests a second, and split where that is too few for long.
//! Pure: the time comes from outside.
//!
//! S3 does this behind the curtain:
//! <https://docs.aws.amazon.com/AmazonS3/latest/userguide/optimizing-performance.html>. A partition
//! is two token buckets that hold a second's worth. One that refused something in every second of
//! the time that is set splits at the middle of the keys it last saw; both halves get the full
//! rate.

use std::collections::BTreeMap;
use std::ops::Bound;

use super::settings;

/// Keys that a partition remembers, to know its middle.
const KEYS_SEEN: usize = 64;
/// Longest time between two refusals of one episode.
const EPISODE_GAP_US: u64 = 1_000_000;

#[derive(Debug)]
struct Tokens {
    per_s: f64,
    left: f64,
    at_us: u64,
}

impl Tokens {
    fn new(per_s: f64, now_us: u64) -> Self {
        Self { per_s, left: per_s.max(1.0), at_us: now_us }
    }

    fn take(&mut self, now_us: u64) -> bool {
        #[expect(clippy::cast_precision_loss, reason = "microseconds of less than centuries")]
        let seconds = now_us.saturating_sub(self.at_us) as f64 / 1e6;
        self.left = (self.left + seconds * self.per_s).min(self.per_s.max(1.0));
        self.at_us = self.at_us.max(now_us);
        let has = self.left >= 1.0;
        if has {
            self.left -= 1.0;
        }
        has
    }
}

#[derive(Debug)]
struct Partition {
    writes: Tokens,
    reads: Tokens,
    /// First and last refusal of the present episode.
    episode_us: Option<(u64, u64)>,
    seen: Vec<String>,
    seen_count: usize,
}

impl Partition {
    fn new(settings: &settings::Partitions, now_us: u64) -> Self {
        Self {
            writes: Tokens::new(settings.writes_per_s, now_us),
            reads: Tokens::new(settings.reads_per_s, now_us),
            episode_us: None,
            seen: Vec::new(),
            seen_count: 0,
        }
    }

    fn note(&mut self, key: &str) {
        if self.seen.len() < KEYS_SEEN {
            self.seen.push(key.to_owned());
        } else if let Some(old) = self.seen.get_mut(self.seen_count % KEYS_SEEN) {
            key.clone_into(old);
        }
        self.seen_count += 1;
    }

    /// Notes a refusal; gives how long refusals have gone on.
    fn refused(&mut self, now_us: u64) -> u64 {
        let first = match self.episode_us {
            Some((first, last)) if now_us.saturating_sub(last) <= EPISODE_GAP_US => first,
            _ => now_us,
        };
        self.episode_us = Some((first, now_us));
        now_us.saturating_sub(first)
    }

    fn middle(&self) -> Option<String> {
        let mut keys: Vec<&String> = self.seen.iter().collect();
        keys.sort();
        keys.dedup();
        keys.get(keys.len() / 2).filter(|_| keys.len() > 1).map(|key| (*key).clone())
    }
}

/// All partitions, by the first name in each; a name is a bucket and a key.
#[derive(Debug)]
pub(super) struct Partitions {
    settings: settings::Partitions,
    by_start: BTreeMap<String, Partition>,
}

impl Partitions {
    pub(super) fn new(settings: settings::Partitions) -> Self {
        let by_start = BTreeMap::from([(String::new(), Partition::new(&settings, 0))]);
        Self { settings, by_start }
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.by_start.len()
    }

    /// Whether a request is let through.
    pub(super) fn admits(&mut self, now_us: u64, name: &str, is_write: bool) -> bool {
        let up_to = (Bound::Unbounded, Bound::Included(name));
        let range = self.by_start.range_mut::<str, _>(up_to).next_back();
        let Some((start, partition)) = range else { return true };
        partition.note(name);
        let tokens = if is_write { &mut partition.writes } else { &mut partition.reads };
        if tokens.take(now_us) {
            return true;
        }
        let start = start.clone();
        let split_us = self.settings.split_after_s * 1e6;
        #[expect(clippy::cast_precision_loss, reason = "microseconds of less than centuries")]
        if partition.refused(now_us) as f64 >= split_us && split_us > 0.0 {
            self.split(&start, now_us);
        }
        false
    }

    fn split(&mut self, start: &str, now_us: u64) {
        if self.by_start.len() >= self.settings.partitions_max {
            return;
        }
        let Some(middle) = self.by_start.get(start).and_then(Partition::middle) else { return };
        let fresh = || Partition::new(&self.settings, now_us);
        let halves = [(start.to_owned(), fresh()), (middle, fresh())];
        self.by_start.extend(halves);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings() -> settings::Partitions {
        settings::Partitions {
            writes_per_s: 10.0,
            reads_per_s: 20.0,
            split_after_s: 3.0,
            partitions_max: 4,
        }
    }

    /// Requests that pass in each second when 100 a second are made for 100 keys.
    fn passed(partitions: &mut Partitions, second: u64) -> usize {
        (0..100)
            .filter(|n| {
                partitions.admits(second * 1_000_000 + n * 10_000, &format!("b/{n:02}"), true)
            })
            .count()
    }

    #[test]
    fn a_partition_under_load_keeps_its_rate_and_splits() {
        let mut partitions = Partitions::new(settings());
        // What a bucket holds, and what comes in within the second.
        assert!((18..=21).contains(&passed(&mut partitions, 0)));
        assert!((9..=11).contains(&passed(&mut partitions, 1)));
        for second in 2..20 {
            passed(&mut partitions, second);
        }
        assert_eq!(partitions.count(), 4, "no more than it may have");
        assert!((38..=42).contains(&passed(&mut partitions, 20)));
    }

    #[test]
    fn reads_and_writes_do_not_share_and_pauses_end_an_episode() {
        let mut partitions = Partitions::new(settings());
        assert_eq!((0..50).filter(|_| partitions.admits(0, "b/k", true)).count(), 10);
        assert_eq!((0..50).filter(|_| partitions.admits(0, "b/k", false)).count(), 20);
        for second in 0..20 {
            let now_us = second * 5_000_000;
            (0..50).for_each(|n| _ = partitions.admits(now_us, &format!("b/{n}"), true));
        }
        assert_eq!(partitions.count(), 1);
    }
}
