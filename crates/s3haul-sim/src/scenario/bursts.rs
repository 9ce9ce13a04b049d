//! Calm and rough times that take turns. Pure: the time comes from outside.

use super::draws::Draws;
use super::settings;

/// A process of two states.
#[derive(Debug)]
pub(super) struct Bursts {
    settings: settings::Bursts,
    draws: Draws,
    is_rough: bool,
    /// When the present state ends.
    until_us: u64,
}

/// Shortest stay in a state.
const STAY_US_MIN: u64 = 1_000;

impl Bursts {
    pub(super) fn new(settings: settings::Bursts, seed: u64) -> Self {
        let mut bursts = Self { settings, draws: Draws::new(seed), is_rough: false, until_us: 0 };
        bursts.until_us = bursts.stay_us();
        bursts
    }

    fn stay_us(&mut self) -> u64 {
        let mean_s = if self.is_rough { self.settings.rough_s } else { self.settings.calm_s };
        let stay = std::time::Duration::try_from_secs_f64(self.draws.exponential() * mean_s);
        stay.map_or(u64::MAX, |stay| u64::try_from(stay.as_micros()).unwrap_or(u64::MAX))
            .max(STAY_US_MIN)
    }

    /// How many times more likely faults are at a time; times must not go back.
    pub(super) fn factor(&mut self, now_us: u64) -> f64 {
        while now_us >= self.until_us && self.until_us < u64::MAX {
            self.is_rough = !self.is_rough;
            self.until_us = self.until_us.saturating_add(self.stay_us());
        }
        if self.is_rough { self.settings.factor } else { 1.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_states_last_as_long_as_they_should() {
        let settings = settings::Bursts { calm_s: 3.0, rough_s: 1.0, factor: 5.0 };
        let mut bursts = Bursts::new(settings, 3);
        let rough = (0..400_000_u64).filter(|ms| bursts.factor(ms * 10_000) > 1.0).count();
        assert!((80_000..120_000).contains(&rough), "{rough}");
    }
}
