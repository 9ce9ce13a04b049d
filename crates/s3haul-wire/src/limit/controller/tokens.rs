//! A token bucket without a clock: so many units a second, with a little saved for later.

use std::time::Duration;

/// Grants units at a rate.
#[derive(Debug, Clone)]
pub struct Tokens {
    rate: f64,
    saved_max: f64,
    held: f64,
    at: Duration,
}

/// Time for which unused units are saved, so that a timer's grain costs nothing.
const SAVED: f64 = 0.01;

impl Tokens {
    /// A bucket that grants `rate` units a second from `now` on.
    pub fn new(rate: f64, now: Duration) -> Self {
        let mut tokens = Self { rate: 1.0, saved_max: 1.0, held: 1.0, at: now };
        tokens.set_rate(rate);
        tokens
    }

    /// Units a second.
    pub fn rate(&self) -> f64 {
        self.rate
    }

    /// Another rate from the last use on.
    pub fn set_rate(&mut self, rate: f64) {
        debug_assert!(rate > 0.0 && rate.is_finite(), "a rate of zero would never end");
        self.rate = rate;
        self.saved_max = (rate * SAVED).max(1.0);
        self.held = self.held.min(self.saved_max);
    }

    /// How long to wait until something may be taken; zero when it may now.
    pub fn wait(&mut self, now: Duration) -> Duration {
        let passed = now.saturating_sub(self.at);
        if !passed.is_zero() {
            self.held = (self.held + passed.as_secs_f64() * self.rate).min(self.saved_max);
            self.at = now;
        }
        if self.held >= 1.0 {
            return Duration::ZERO;
        }
        Duration::from_secs_f64((1.0 - self.held) / self.rate).max(Duration::from_nanos(1))
    }

    /// Takes units, of which one must be there; the rest may be owed.
    pub fn take(&mut self, cost: u32) {
        self.held -= f64::from(cost);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Over any stretch it grants the rate, what was saved and one piece, and no more.
        #[test]
        fn never_more_than_the_rate(
            rate in 1.0..50_000.0f64,
            steps in prop::collection::vec((0u64..20_000, 1u32..50), 1..300),
        ) {
            let mut tokens = Tokens::new(rate, Duration::ZERO);
            let (mut now, mut taken, mut largest) = (Duration::ZERO, 0.0, 0.0f64);
            for (micros, cost) in steps {
                now += Duration::from_micros(micros);
                if tokens.wait(now).is_zero() {
                    tokens.take(cost);
                    taken += f64::from(cost);
                    largest = largest.max(f64::from(cost));
                }
                let most = rate * now.as_secs_f64() + (rate * SAVED).max(1.0) + largest;
                prop_assert!(taken <= most + 1e-6, "{taken} of {most}");
            }
        }

        /// A request may go after the wait that is returned.
        #[test]
        fn the_wait_is_long_enough(rate in 0.5..50_000.0f64, cost in 1u32..2_000) {
            let mut tokens = Tokens::new(rate, Duration::ZERO);
            tokens.take(cost);
            let wait = tokens.wait(Duration::ZERO);
            let later = wait + Duration::from_nanos(10);
            prop_assert!(tokens.wait(later) < Duration::from_micros(1));
        }
    }
}
