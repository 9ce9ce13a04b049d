//! Random numbers that are the same on every machine and in every version: splitmix64.

/// A seeded source of numbers.
pub struct Dice(u64);

impl Dice {
    /// The sequence of a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    /// Fills memory with random bytes.
    pub fn fill(&mut self, memory: &mut [u8]) {
        for piece in memory.chunks_mut(8) {
            piece.copy_from_slice(&self.bits().to_le_bytes()[..piece.len()]);
        }
    }

    /// A number below a bound.
    ///
    /// # Panics
    ///
    /// Never.
    pub fn below(&mut self, bound: u64) -> u64 {
        let wide = u128::from(self.bits()) * u128::from(bound);
        u64::try_from(wide >> 64).expect("the upper half of 128 bits is 64 bits")
    }

    /// A number from the first to the last.
    pub fn between(&mut self, first: u64, last: u64) -> u64 {
        first + self.below(last - first + 1)
    }

    /// A number from 0 to below 1.
    #[expect(clippy::cast_precision_loss, reason = "53 bits are a float's own precision")]
    pub fn fraction(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// One of the values.
    ///
    /// # Panics
    ///
    /// Where there is none.
    pub fn pick<'a, T>(&mut self, values: &'a [T]) -> &'a T {
        &values[usize::try_from(self.below(values.len() as u64)).expect("an index fits")]
    }

    /// An index, drawn by weights.
    pub fn weighted(&mut self, weights: &[u32]) -> usize {
        let total: u32 = weights.iter().sum();
        let mut left = self.below(u64::from(total));
        for (index, weight) in weights.iter().enumerate() {
            let weight = u64::from(*weight);
            if left < weight {
                return index;
            }
            left -= weight;
        }
        weights.len() - 1
    }

    /// A size with a heavy tail: at least 1, above `x` with probability `x^-shape`.
    pub fn pareto(&mut self, shape: f64) -> f64 {
        (1.0 - self.fraction()).powf(-1.0 / shape)
    }

    /// Changes the order of the values.
    ///
    /// # Panics
    ///
    /// Never.
    pub fn shuffle<T>(&mut self, values: &mut [T]) {
        for last in (1..values.len()).rev() {
            let other = usize::try_from(self.below(last as u64 + 1)).expect("an index fits");
            values.swap(last, other);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_stay_within_their_bounds_and_reach_them() {
        let mut dice = Dice::new(1);
        let drawn: Vec<u64> = (0..1000).map(|_| dice.between(3, 6)).collect();
        assert_eq!((drawn.iter().min(), drawn.iter().max()), (Some(&3), Some(&6)));
        assert!((0..1000).all(|_| (0.0..1.0).contains(&dice.fraction())));
        let heavy = (0..1000).filter(|_| dice.weighted(&[9, 1]) == 0).count();
        assert!((850..950).contains(&heavy), "{heavy}");
    }
}
