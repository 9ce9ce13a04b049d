//! `max_bandwidth`: spreads uploads and downloads over time.
//!
//! Every piece of data books the next free stretch of time on one line and waits for its begin.
//! Bookings are in order of arrival, so no transfer starves. Copies by the server do not count.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// Idle time that may be made up for, so that small pieces do not each pay for a timer's grain.
const CREDIT_MAX: Duration = Duration::from_millis(50);

/// The line of bookings, without a clock: times are durations since the job's begin.
#[derive(Debug)]
struct Line {
    bytes_per_second: u64,
    free_at: Duration,
}

impl Line {
    /// Books `bytes`; gives the time at which they may start.
    fn book(&mut self, now: Duration, bytes: u64) -> Duration {
        let start = self.free_at.max(now.saturating_sub(CREDIT_MAX));
        let nanos = u128::from(bytes) * 1_000_000_000 / u128::from(self.bytes_per_second);
        self.free_at = start + Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX));
        start
    }
}

/// Limits the bytes moved a second; without a limit it costs nothing.
#[derive(Debug)]
pub(crate) struct Bandwidth {
    line: Option<Mutex<Line>>,
    began: Instant,
}

impl Bandwidth {
    /// Whether there is a limit.
    pub(crate) fn is_limited(&self) -> bool {
        self.line.is_some()
    }

    /// A limit in bytes a second, or none.
    pub(crate) fn new(bytes_per_second: Option<u64>) -> Self {
        let line = bytes_per_second.map(|rate| {
            Mutex::new(Line { bytes_per_second: rate.max(1), free_at: Duration::ZERO })
        });
        Self { line, began: Instant::now() }
    }

    /// Whether the next byte would have to wait.
    pub(crate) fn is_used_up(&self) -> bool {
        self.line.as_ref().is_some_and(|line| {
            line.lock().unwrap_or_else(PoisonError::into_inner).free_at > self.began.elapsed()
        })
    }

    /// Waits until `bytes` may move.
    pub(crate) async fn take(&self, bytes: u64) {
        let Some(line) = &self.line else { return };
        let now = self.began.elapsed();
        let start = line.lock().unwrap_or_else(PoisonError::into_inner).book(now, bytes);
        if start > now {
            tokio::time::sleep_until(self.began + start).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// However pieces arrive, no window moves more than rate × time + one credit + one piece.
        #[test]
        fn the_rate_is_never_exceeded(
            pieces in prop::collection::vec((0_u64..200, 1_u64..100_000), 1..100),
        ) {
            let mut line = Line { bytes_per_second: 1_000_000, free_at: Duration::ZERO };
            let mut now = Duration::ZERO;
            let (mut moved, mut last) = (0_u64, 0_u64);
            for (gap_ms, bytes) in pieces {
                now += Duration::from_millis(gap_ms);
                let start = line.book(now, bytes);
                moved += bytes;
                last = last.max(bytes);
                // A million bytes a second is a byte a microsecond.
                let allowed = (start.max(now) + CREDIT_MAX).as_micros();
                prop_assert!(u128::from(moved - bytes) <= allowed + u128::from(last));
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn ten_pieces_of_a_tenth_of_a_second_take_a_second() {
        let bandwidth = Bandwidth::new(Some(1_000_000));
        let began = Instant::now();
        for _ in 0..11 {
            bandwidth.take(100_000).await;
        }
        let took = began.elapsed();
        assert!((took.as_secs_f64() - 1.0).abs() < 0.1, "{took:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn no_limit_never_waits() {
        let began = Instant::now();
        Bandwidth::new(None).take(u64::MAX).await;
        assert_eq!(began.elapsed(), Duration::ZERO);
    }
}
