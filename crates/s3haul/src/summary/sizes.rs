//! Sizes: powers of two, and percentiles from a histogram whose buckets grow with the size.
//!
//! Sizes below 64 have a bucket each, greater ones 64 buckets for each doubling, so that the
//! middle of a bucket is within 1/128 of each size in it.

use super::counts::Counts;

/// Powers of two, and zero.
const POWERS: usize = 65;
/// Buckets of a doubling, as a power of two.
const FINE_BITS: u32 = 6;
const FINE: u64 = 1 << FINE_BITS;
const BUCKETS: usize = (65 - FINE_BITS as usize) << FINE_BITS;

/// Sizes of objects.
#[derive(Clone, Debug)]
pub(super) struct Sizes {
    powers: [Counts; POWERS],
    fine: Vec<u64>,
    min: u64,
    max: u64,
}

impl Sizes {
    pub(super) fn new() -> Self {
        let powers = [Counts::default(); POWERS];
        Self { powers, fine: vec![0; BUCKETS], min: u64::MAX, max: 0 }
    }

    pub(super) fn add(&mut self, size: u64) {
        self.powers[power(size)].add(size);
        self.fine[bucket(size)] += 1;
        self.min = self.min.min(size);
        self.max = self.max.max(size);
    }

    pub(super) fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.powers.iter_mut().zip(other.powers) {
            mine.merge(theirs);
        }
        for (mine, theirs) in self.fine.iter_mut().zip(&other.fine) {
            *mine += theirs;
        }
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    /// Least and greatest size; none where there is no object.
    pub(super) fn extremes(&self) -> Option<(u64, u64)> {
        (self.min <= self.max).then_some((self.min, self.max))
    }

    /// First size, last size and counts of each power of two between the extremes.
    pub(super) fn powers(&self) -> Vec<(u64, u64, Counts)> {
        let Some((min, max)) = self.extremes() else { return Vec::new() };
        let range = |index: usize| match index {
            0 => (0, 0),
            64 => (1 << 63, u64::MAX),
            _ => (1 << (index - 1), (1 << index) - 1),
        };
        let indices = power(min)..=power(max);
        indices.map(|i| (range(i).0, range(i).1, self.powers[i])).collect()
    }

    /// The sizes that these permille of the objects do not exceed, within 1/128; in ascending
    /// order of `permille`.
    pub(super) fn percentiles(&self, permille: &[u64]) -> Vec<u64> {
        let Some((min, max)) = self.extremes() else { return vec![0; permille.len()] };
        let objects: u64 = self.fine.iter().sum();
        let mut sizes = Vec::with_capacity(permille.len());
        let mut seen = 0;
        let mut buckets = self.fine.iter().enumerate();
        let mut index = 0;
        for permille in permille {
            let rank = (u128::from(objects) * u128::from(*permille)).div_ceil(1000).max(1);
            while u128::from(seen) < rank {
                let Some((next, count)) = buckets.next() else { break };
                (index, seen) = (next, seen + count);
            }
            sizes.push(middle(index).clamp(min, max));
        }
        sizes
    }
}

/// 0 for an empty object, else one more than the power of two that the size reaches.
fn power(size: u64) -> usize {
    (64 - size.leading_zeros()) as usize
}

fn bucket(size: u64) -> usize {
    if size < FINE {
        return usize::try_from(size).unwrap_or_default();
    }
    let shift = size.ilog2() - FINE_BITS;
    let within = (size >> shift) - FINE;
    usize::try_from((u64::from(shift) + 1) * FINE + within).unwrap_or(BUCKETS - 1)
}

/// The size in the middle of a bucket.
fn middle(bucket: usize) -> u64 {
    let bucket = bucket as u64;
    let (group, within) = (bucket / FINE, bucket % FINE);
    match group {
        0 => within,
        group => ((FINE + within) << (group - 1)) + ((1 << (group - 1)) >> 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn any_size() -> impl Strategy<Value = u64> {
        (any::<u64>(), 0..64_u32).prop_map(|(bits, shift)| bits >> shift)
    }

    proptest! {
        #[test]
        fn percentiles_are_as_close_as_stated(
            mut sizes in prop::collection::vec(any_size(), 1..300),
        ) {
            let mut histogram = Sizes::new();
            for size in &sizes {
                histogram.add(*size);
            }
            sizes.sort_unstable();
            let permille = [0, 1, 250, 500, 900, 999, 1000];
            for (permille, found) in permille.iter().zip(histogram.percentiles(&permille)) {
                let rank = (sizes.len() as u64 * permille).div_ceil(1000).max(1);
                let exact = sizes[usize::try_from(rank).unwrap() - 1];
                prop_assert!(found.abs_diff(exact) <= exact / 128, "{permille}: {found} {exact}");
            }
            prop_assert_eq!(histogram.extremes(), Some((sizes[0], sizes[sizes.len() - 1])));
            for (first, last, counts) in histogram.powers() {
                let within = sizes.iter().filter(|size| (first..=last).contains(size));
                prop_assert_eq!(counts.objects, within.count() as u64);
            }
        }
    }

    #[test]
    fn nothing_has_no_sizes() {
        let sizes = Sizes::new();
        assert_eq!(sizes.extremes(), None);
        assert!(sizes.powers().is_empty());
        assert_eq!(sizes.percentiles(&[500]), [0]);
    }
}
