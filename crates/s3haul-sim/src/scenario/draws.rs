//! Random numbers that belong to a request, not to a moment.

/// A hash that is the same everywhere (FNV-1a, with a mixer for the last step).
#[derive(Debug, Clone, Copy)]
pub(super) struct Fingerprint(u64);

impl Fingerprint {
    pub(super) fn new(seed: u64) -> Self {
        Self(0xcbf2_9ce4_8422_2325).and(&seed.to_le_bytes())
    }

    /// Takes in a piece; pieces do not run into each other.
    #[must_use]
    pub(super) fn and(self, piece: &[u8]) -> Self {
        let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        let hash = piece.iter().fold(self.0, |hash, byte| step(hash, *byte));
        let length = piece.len() as u64;
        Self(length.to_le_bytes().iter().fold(hash, |hash, byte| step(hash, *byte)))
    }

    /// The hash, well mixed.
    pub(super) fn finish(self) -> u64 {
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

/// A sequence of draws.
#[derive(Debug)]
pub(super) struct Draws(fastrand::Rng);

impl Draws {
    pub(super) fn new(seed: u64) -> Self {
        Self(fastrand::Rng::with_seed(seed))
    }

    /// Whether something of this probability happens. Always takes one number.
    pub(super) fn happens(&mut self, probability: f64) -> bool {
        self.0.f64() < probability
    }

    /// In [0, 1).
    pub(super) fn fraction(&mut self) -> f64 {
        self.0.f64()
    }

    /// Exponentially distributed with mean 1.
    pub(super) fn exponential(&mut self) -> f64 {
        -(1.0 - self.0.f64()).ln()
    }

    /// Normally distributed with mean 0 and deviation 1 (by Box and Muller).
    pub(super) fn normal(&mut self) -> f64 {
        let radius = (2.0 * self.exponential()).sqrt();
        radius * (std::f64::consts::TAU * self.fraction()).cos()
    }

    /// A whole number below `most`, small ones as likely as large ones of ten times the size.
    pub(super) fn magnitude(&mut self, most: u64) -> u64 {
        #[expect(clippy::cast_precision_loss, reason = "an order of magnitude is wanted")]
        let exponent = (most.max(1) as f64).ln() * self.fraction();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "it is positive, and the cast keeps within the type"
        )]
        let number = exponent.exp() as u64;
        number.saturating_sub(1).min(most.saturating_sub(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_have_their_distributions() {
        let mut draws = Draws::new(7);
        let mut normals: Vec<f64> = (0..4001).map(|_| draws.normal()).collect();
        normals.sort_by(f64::total_cmp);
        assert!(normals[2000].abs() < 0.1 && (normals[3366] - 1.0).abs() < 0.15);
        let mean = (0..4000).map(|_| draws.exponential()).sum::<f64>() / 4000.0;
        assert!((mean - 1.0).abs() < 0.1);
        assert!((0..4000).map(|_| draws.magnitude(1000)).all(|number| number < 1000));
        assert_eq!(draws.magnitude(0), 0);
    }

    #[test]
    fn pieces_do_not_run_into_each_other() {
        let of = |pieces: &[&str]| {
            let all =
                pieces.iter().fold(Fingerprint::new(1), |all, piece| all.and(piece.as_bytes()));
            all.finish()
        };
        assert_ne!(of(&["ab", "c"]), of(&["a", "bc"]));
        assert_eq!(of(&["ab", "c"]), of(&["ab", "c"]));
    }
}
