//! How the figures of a job changed while it was watched: rates, and when it may end. Pure.

use std::collections::VecDeque;
use std::time::Duration;

use super::reading::{Reading, Whole};

/// Looks that are kept: more than a terminal has columns.
const POINTS_MAX: usize = 512;
/// Looks over which a rate is taken.
const RATE_POINTS: usize = 10;

/// The figures of one look.
#[derive(Clone, Copy, Debug)]
struct Point {
    at: Duration,
    stamp: i64,
    objects: u64,
    bytes: u64,
    requests: Option<(u64, u64)>,
}

/// A figure that only grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Figure {
    Objects,
    Bytes,
    Requests,
    Refused,
}

/// The last looks.
#[derive(Debug, Default)]
pub(super) struct History(VecDeque<Point>);

impl Point {
    fn of(&self, figure: Figure) -> Option<u64> {
        match figure {
            Figure::Objects => Some(self.objects),
            Figure::Bytes => Some(self.bytes),
            Figure::Requests => self.requests.map(|(sent, _)| sent),
            Figure::Refused => self.requests.map(|(_, refused)| refused),
        }
    }

    /// How much a figure grew in a second until a later look. Where it is less by then, another run
    /// began to count anew.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        clippy::cast_sign_loss,
        reason = "shown with two or three digits"
    )]
    fn rate(&self, later: &Self, figure: Figure) -> Option<u64> {
        let grown = later.of(figure)?.checked_sub(self.of(figure)?)?;
        let seconds = later.at.checked_sub(self.at)?.as_secs_f64();
        (seconds > 0.0).then(|| (grown as f64 / seconds).round() as u64)
    }
}

impl History {
    /// Adds a look; one that found nothing new is left out.
    pub(super) fn add(&mut self, reading: &Reading, at: Duration) {
        let Reading { stamp, objects, bytes, requests, .. } = *reading;
        if self.0.back().is_some_and(|last| last.stamp == stamp) {
            return;
        }
        if self.0.len() == POINTS_MAX {
            self.0.pop_front();
        }
        self.0.push_back(Point { at, stamp, objects, bytes, requests });
    }

    /// Growth a second from look to look.
    pub(super) fn rates(&self, figure: Figure) -> Vec<Option<u64>> {
        let pairs = self.0.iter().zip(self.0.iter().skip(1));
        pairs.map(|(before, after)| before.rate(after, figure)).collect()
    }

    /// Growth a second over the last looks; none before the second one.
    pub(super) fn rate(&self, figure: Figure) -> Option<u64> {
        let last = self.0.back()?;
        let first = self.0.get(self.0.len().saturating_sub(RATE_POINTS + 1))?;
        first.rate(last, figure)
    }

    /// Seconds until the end, if all that is left goes as the last of it did.
    pub(super) fn seconds_left(&self, whole: &Whole) -> Option<u64> {
        if whole.seconds_left.is_some() {
            return whole.seconds_left;
        }
        let (done, all) = whole.share();
        let left = all.saturating_sub(done);
        if left == 0 && whole.bytes.is_some() {
            // Removals and empty objects have no bytes.
            let left = whole.all.saturating_sub(whole.done);
            return left.checked_div(self.rate(Figure::Objects)?);
        }
        let figure = if whole.bytes.is_some() { Figure::Bytes } else { Figure::Objects };
        left.checked_div(self.rate(figure)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn reading(stamp: i64, objects: u64, bytes: u64) -> Reading {
        Reading {
            stamp,
            objects,
            bytes,
            requests: Some((objects.saturating_mul(2), 0)),
            ..Reading::default()
        }
    }

    fn second(at: u64) -> Duration {
        Duration::from_secs(at)
    }

    #[test]
    fn rates_are_growth_over_time() {
        let mut history = History::default();
        assert_eq!(history.rate(Figure::Bytes), None);
        history.add(&reading(1, 10, 100), second(0));
        assert_eq!(history.rate(Figure::Bytes), None);
        history.add(&reading(2, 20, 300), second(2));
        // Nothing new.
        history.add(&reading(2, 20, 300), second(3));
        history.add(&reading(3, 50, 300), second(4));
        assert_eq!(history.rates(Figure::Bytes), [Some(100), Some(0)]);
        assert_eq!(history.rate(Figure::Objects), Some(10));
        assert_eq!(history.rate(Figure::Requests), Some(20));
        // Another run goes on with the job.
        history.add(&reading(4, 0, 300), second(5));
        assert_eq!(history.rates(Figure::Objects).last(), Some(&None));
    }

    #[test]
    fn the_end_follows_from_what_is_left() {
        let mut history = History::default();
        history.add(&reading(1, 0, 0), second(0));
        history.add(&reading(2, 10, 1000), second(10));
        let whole = Whole { noun: "object", done: 10, all: 40, ..Whole::default() };
        assert_eq!(history.seconds_left(&whole), Some(30));
        let bytes = |moved| Whole { bytes: Some((moved, 5000)), ..whole.clone() };
        assert_eq!(history.seconds_left(&bytes(1000)), Some(40));
        assert_eq!(history.seconds_left(&bytes(5000)), Some(30), "objects without bytes are left");
        let known = Whole { seconds_left: Some(7), ..whole };
        assert_eq!(history.seconds_left(&known), Some(7));
        let still = History::default();
        assert_eq!(still.seconds_left(&bytes(0)), None);
    }

    proptest! {
        #[test]
        fn any_looks_are_kept_within_bounds(
            looks in proptest::collection::vec((any::<i64>(), any::<u64>(), 0_u64..9), 0..900),
        ) {
            let mut history = History::default();
            let mut at = 0;
            for (stamp, bytes, pause) in looks {
                at += pause;
                history.add(&reading(stamp, bytes / 2, bytes), second(at));
                let whole = Whole { bytes: Some((bytes, u64::MAX)), ..Whole::default() };
                history.seconds_left(&whole);
            }
            prop_assert!(history.rates(Figure::Bytes).len() < POINTS_MAX);
        }
    }
}
