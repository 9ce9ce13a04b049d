//! A line that takes so many bytes a second. Pure: the time comes from outside.

use std::time::Duration;

/// A line.
#[derive(Debug)]
pub(crate) struct Link {
    bytes_per_s: u64,
    /// When all that was taken has gone.
    free_at: Duration,
}

impl Link {
    /// A line; 0 is one without limit.
    pub(crate) fn new(bytes_per_s: u64) -> Self {
        Self { bytes_per_s, free_at: Duration::ZERO }
    }

    /// Takes bytes; gives the time when they have gone.
    pub(crate) fn take(&mut self, now: Duration, bytes: usize) -> Duration {
        if self.bytes_per_s > 0 {
            #[expect(clippy::cast_precision_loss, reason = "a time of a few bytes")]
            let seconds = bytes as f64 / self.bytes_per_s as f64;
            self.free_at = self.free_at.max(now) + Duration::from_secs_f64(seconds);
            return self.free_at;
        }
        now
    }

    /// Bytes that go within a short time: what is taken at once.
    pub(crate) fn step(&self) -> usize {
        const STEPS_PER_S: u64 = 50;
        match self.bytes_per_s {
            0 => usize::MAX,
            rate => usize::try_from(rate / STEPS_PER_S).unwrap_or(usize::MAX).max(1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_queue_up() {
        let mut link = Link::new(1000);
        let second = Duration::from_secs(1);
        assert_eq!(link.take(second, 500), second + second / 2);
        assert_eq!(link.take(second, 500), second * 2);
        assert_eq!(link.take(second * 5, 1000), second * 6);
        assert_eq!(Link::new(0).take(second, 1 << 30), second);
    }
}
