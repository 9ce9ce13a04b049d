//! What was sent in the last second and what of it was refused, **by the time of sending**.
//!
//! A refusal comes back within milliseconds, an answer with data after a hundred. What was
//! admitted is therefore counted as sent less refused, which is known as soon as refusals of that
//! time can have arrived and does not depend on how slow the service is.

use std::time::Duration;

/// Length of one bin.
const BIN: Duration = Duration::from_millis(20);
/// Bins kept: 1.28 s.
const BINS: u8 = 64;

#[derive(Debug, Clone, Copy, Default)]
struct Bin {
    index: u64,
    sent: u32,
    refused: u32,
}

/// Counts of the last second in bins.
#[derive(Debug, Clone)]
pub(super) struct Flow {
    bins: [Bin; BINS as usize],
}

/// Sums over a stretch of time.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Sums {
    pub(super) sent: f64,
    pub(super) refused: f64,
    pub(super) seconds: f64,
}

impl Sums {
    /// Part of what was sent that was refused.
    pub(super) fn refused_share(&self) -> f64 {
        if self.sent > 0.0 { (self.refused / self.sent).min(1.0) } else { 0.0 }
    }

    /// Units sent a second.
    pub(super) fn sent_rate(&self) -> f64 {
        if self.seconds > 0.0 { self.sent / self.seconds } else { 0.0 }
    }

    /// Units admitted a second.
    pub(super) fn admitted_rate(&self) -> f64 {
        if self.seconds > 0.0 { (self.sent - self.refused).max(0.0) / self.seconds } else { 0.0 }
    }
}

impl Sums {
    /// Both stretches together.
    pub(super) fn and(self, other: Self) -> Self {
        Self {
            sent: self.sent + other.sent,
            refused: self.refused + other.refused,
            seconds: self.seconds + other.seconds,
        }
    }

    /// Units admitted a second, together with `count` that were admitted at another rate.
    pub(super) fn pooled(&self, rate: f64, count: f64) -> f64 {
        (self.sent - self.refused + count).max(0.0) / (self.seconds + count / rate)
    }
}

impl Flow {
    pub(super) fn new() -> Self {
        Self { bins: [Bin::default(); BINS as usize] }
    }

    pub(super) fn sent(&mut self, now: Duration, cost: u32) {
        let index = index_of(now);
        let bin = &mut self.bins[slot_of(index)];
        if bin.index != index {
            *bin = Bin { index, sent: 0, refused: 0 };
        }
        bin.sent = bin.sent.saturating_add(cost);
    }

    /// Notes that something sent at `sent_at` was refused.
    pub(super) fn refused(&mut self, sent_at: Duration, cost: u32) {
        let index = index_of(sent_at);
        let bin = &mut self.bins[slot_of(index)];
        if bin.index == index {
            bin.refused = bin.refused.saturating_add(cost).min(bin.sent);
        }
    }

    /// Sums over the whole bins that began at `from` or later and ended at `to` or earlier.
    pub(super) fn over(&self, from: Duration, to: Duration) -> Sums {
        self.sums(first_whole(from).max(oldest(to)), index_of(to))
    }

    /// Sums from the first refusal to the last one within the time, whose ends show that the
    /// service had nothing left: what it admitted in between is its limit. The first bin may hold
    /// what was saved before and is left out where there are others.
    pub(super) fn while_refusing(&self, from: Duration, to: Duration) -> Option<Sums> {
        let (start, end) = (index_of(from).max(oldest(to)), index_of(to));
        let mut refusing = (start..end).filter(|index| self.bin(*index).refused > 0);
        let first = refusing.next()?;
        let last = refusing.next_back().unwrap_or(first);
        let first = if last > first { first + 1 } else { first };
        Some(self.sums(first, last + 1))
    }

    fn bin(&self, index: u64) -> Bin {
        let bin = self.bins[slot_of(index)];
        if bin.index == index { bin } else { Bin::default() }
    }

    fn sums(&self, start: u64, end: u64) -> Sums {
        let mut sums = Sums::default();
        for index in start..end {
            let bin = self.bin(index);
            sums.sent += f64::from(bin.sent);
            sums.refused += f64::from(bin.refused);
            sums.seconds += BIN.as_secs_f64();
        }
        sums
    }
}

/// The first bin is number one, so that a bin never used is not mistaken for one.
fn index_of(time: Duration) -> u64 {
    u64::try_from(time.as_nanos() / BIN.as_nanos()).unwrap_or(u64::MAX - 1) + 1
}

fn first_whole(time: Duration) -> u64 {
    let index = index_of(time);
    if time.as_nanos().is_multiple_of(BIN.as_nanos()) { index } else { index + 1 }
}

fn oldest(now: Duration) -> u64 {
    index_of(now).saturating_sub(u64::from(BINS) - 1)
}

fn slot_of(index: u64) -> usize {
    usize::try_from(index % u64::from(BINS)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn refusals_count_where_their_requests_were_sent() {
        let mut flow = Flow::new();
        for time in 0..200 {
            flow.sent(ms(time), 1);
        }
        for time in 100..200 {
            flow.refused(ms(time), u32::from(time % 2 == 0));
        }
        let before = flow.over(ms(0), ms(100));
        assert_eq!((before.sent, before.refused), (100.0, 0.0));
        let sums = flow.while_refusing(ms(0), ms(200)).unwrap();
        assert_eq!((sums.sent, sums.refused, sums.admitted_rate()), (80.0, 40.0, 500.0));
    }

    #[test]
    fn what_is_older_than_the_bins_is_forgotten() {
        let mut flow = Flow::new();
        flow.sent(ms(0), 5);
        flow.sent(ms(1_280), 1);
        flow.refused(ms(0), 5);
        assert!(flow.over(ms(0), ms(1_300)).refused < 1.0);
        assert_eq!(flow.while_refusing(ms(0), ms(1_300)), None);
    }

    proptest! {
        #[test]
        fn never_more_refused_than_sent(
            notes in prop::collection::vec((0u64..3_000, 0u64..300, any::<bool>()), 0..400),
        ) {
            let mut flow = Flow::new();
            let mut now = 0;
            for (step, back, is_refused) in notes {
                now += step / 20;
                if is_refused {
                    flow.refused(ms(now.saturating_sub(back)), 2);
                } else {
                    flow.sent(ms(now), 1);
                }
                let sums = flow.over(Duration::ZERO, ms(now));
                prop_assert!(sums.refused <= sums.sent);
                prop_assert!(sums.seconds < 1.3);
            }
        }
    }
}
