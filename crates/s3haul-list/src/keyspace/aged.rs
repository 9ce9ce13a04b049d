//! A map of bounded size that forgets what has not been touched for longest.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Keys are hashes already.
#[derive(Default, Debug)]
pub(super) struct Identity(u64);

impl Hasher for Identity {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("keys are u64");
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = value;
    }
}

/// A map with `u64` hashes as keys that drops the older half of its entries when it is full.
#[derive(Debug)]
pub(super) struct Aged<V> {
    entries: HashMap<u64, (u32, V), BuildHasherDefault<Identity>>,
    now: u32,
    limit: usize,
}

impl<V: Default> Aged<V> {
    pub(super) fn new(limit: usize) -> Self {
        Self { entries: HashMap::default(), now: 0, limit }
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn get(&self, key: u64) -> Option<&V> {
        self.entries.get(&key).map(|(_, value)| value)
    }

    /// The entry, made new where there is none.
    pub(super) fn touch(&mut self, key: u64) -> &mut V {
        let entry = self.entries.entry(key).or_default();
        entry.0 = self.now;
        &mut entry.1
    }

    /// Time goes on by one step; what has not been touched for longest goes when there is too
    /// much.
    pub(super) fn advance(&mut self) {
        self.now += 1;
        if self.entries.len() <= self.limit {
            return;
        }
        let mut stamps: Vec<u32> = self.entries.values().map(|(stamp, _)| *stamp).collect();
        let middle = stamps.len() / 2;
        let (_, median, _) = stamps.select_nth_unstable(middle);
        let median = *median;
        self.entries.retain(|_, (stamp, _)| *stamp > median);
    }
}

/// Spreads a hash over all its bits.
pub(super) fn spread(hash: u64) -> u64 {
    let hash = (hash ^ (hash >> 32)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    hash ^ (hash >> 29)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_what_is_touched_and_stays_within_its_limit() {
        let mut aged = Aged::<u32>::new(100);
        for step in 0..10_000_u64 {
            *aged.touch(0) += 1;
            *aged.touch(spread(step + 1)) += 1;
            aged.advance();
            assert!(aged.len() <= 101);
        }
        assert_eq!(aged.get(0), Some(&10_000));
        assert_eq!(aged.get(spread(1)), None);
    }
}
