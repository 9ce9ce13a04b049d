//! The server's clock: the system's, or one that follows tokio's (which tests can pause), with an
//! offset for skew.

use std::time::{SystemTime, UNIX_EPOCH};

use http::HeaderValue;
use tokio::time::Instant;

/// Source of the time.
#[derive(Debug)]
pub struct Clock {
    start: Instant,
    start_wall_ms: i64,
    follows_tokio: bool,
    offset_ms: i64,
}

fn system_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

impl Clock {
    /// A clock that shows the system's time, or time as tokio counts it from now on.
    pub(crate) fn new(follows_tokio: bool, offset_ms: i64) -> Self {
        Self { start: Instant::now(), start_wall_ms: system_ms(), follows_tokio, offset_ms }
    }

    /// Milliseconds since 1970 by this clock.
    pub fn now_ms(&self) -> i64 {
        let wall = if self.follows_tokio {
            let elapsed = i64::try_from(self.start.elapsed().as_millis()).unwrap_or(i64::MAX);
            self.start_wall_ms.saturating_add(elapsed)
        } else {
            system_ms()
        };
        wall.saturating_add(self.offset_ms)
    }

    /// This clock's time for answers, `None` if it is the system's, which hyper sends.
    pub(crate) fn http_date(&self) -> Option<HeaderValue> {
        if !self.follows_tokio && self.offset_ms == 0 {
            return None;
        }
        let now = jiff::Timestamp::from_millisecond(self.now_ms()).ok()?;
        let text = now.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string();
        HeaderValue::from_str(&text).ok()
    }

    /// Microseconds since the server was made, by tokio's monotonic clock.
    pub(crate) fn monotonic_us(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_micros()).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_is_wrong_says_so_in_its_answers() {
        assert_eq!(Clock::new(false, 0).http_date(), None);
        let clock = Clock { start_wall_ms: 0, ..Clock::new(true, 86_400_000) };
        assert_eq!(clock.http_date().unwrap(), "Fri, 02 Jan 1970 00:00:00 GMT");
    }
}
