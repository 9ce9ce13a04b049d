//! Whether it is the rate that brings refusals.
//!
//! A limit refuses nothing once the rate is below it. Where a cut did not help, a quarter of the
//! rate is sent for a moment, and the shares that are refused are compared
//! ([`super::super::background`]). If it is not the rate, it goes on as before, and what is refused
//! anyway no longer counts; the comparison is repeated from time to time, because what once was
//! others' doing may be ours by now. Where nearly all is refused, little is sent until something
//! gets through.

use std::time::Duration;

use super::super::background::{Background, Verdict};
use super::super::flow::Sums;
use super::{AT_ONCE_MAX, Episode, HOLD, LOOK_EVERY, REFUSALS_MIN, RateLoop, SAFE_SHARE, State};

/// A cut did not help where this part of the share is refused that was refused before it.
const HELPED_BELOW: f64 = 0.4;
/// Smaller shares are those of chance near a limit, unless the rate was cut to half.
const SUSPICIOUS: f64 = 0.05;
/// What a probe takes of the rate, and its length: the least, that with less than all that it
/// should know, and the most.
const PROBE: f64 = 0.25;
const PROBE_MIN: Duration = Duration::from_millis(100);
const PROBE_LONG: Duration = Duration::from_millis(600);
const PROBE_KNOWN: f64 = 0.3;
const PROBE_MAX: Duration = Duration::from_secs(4);
/// No other probe for so long after one that showed a limit; and how often a background is compared
/// anew.
const PROBE_REST: Duration = Duration::from_secs(1);
const RECHECK: Duration = Duration::from_secs(5);
/// What goes on in an outage of the rate before it, and its bounds in requests a second.
const OUTAGE: f64 = 0.03;
const OUTAGE_MIN: f64 = 20.0;
const OUTAGE_MAX: f64 = 100.0;

impl RateLoop {
    /// What was seen before the last cut, if that has not helped and a probe is due.
    pub(super) fn in_vain(&self, now: Duration) -> Option<Sums> {
        let Episode { before, seen, .. } = self.episode.filter(|_| now >= self.probe_from)?;
        let lately = now.saturating_sub(Duration::from_millis(100)).max(self.epoch);
        let share = self.flow.over(lately, now + Duration::from_millis(20)).refused_share();
        let is_much = share.min(seen.refused_share()) >= SUSPICIOUS
            || self.tokens.rate() <= before * AT_ONCE_MAX;
        let is_sure = seen.refused > REFUSALS_MIN;
        (is_much && is_sure && share >= seen.refused_share() * HELPED_BELOW).then_some(seen)
    }

    /// Begins to compare with what was seen.
    pub(super) fn probe(&mut self, high: Sums, now: Duration) {
        let base = self.limit().unwrap_or_else(|| high.sent_rate());
        self.begin_episode(base, high);
        self.set_rate(base * PROBE, now);
        self.state = State::Probing { high, low: Sums::default(), base };
        self.epoch = now;
        self.used_at = now;
    }

    /// Ends a probe as soon as it is conclusive, or has taken too long.
    pub(super) fn conclude(&mut self, high: Sums, low: Sums, base: f64, now: Duration) {
        let delay = self.delay();
        let elapsed = now.saturating_sub(self.epoch);
        let unanswered = self.flow.over(now.saturating_sub(delay), now + LOOK_EVERY);
        let low = Sums { sent: (low.sent - unanswered.sent).max(0.0), ..low };
        let known = Background::known(high, low);
        let is_whole = known >= 1.0 && elapsed >= PROBE_MIN.max(delay * 2);
        let is_enough = known >= PROBE_KNOWN && elapsed >= PROBE_LONG;
        if !is_whole && !is_enough && elapsed < PROBE_MAX {
            return;
        }
        self.epoch = now;
        let episode = self.episode.take();
        match Background::compared(high, low) {
            Verdict::Limit => {
                self.probe_from = now + PROBE_REST;
                self.background.decrease(low);
                let known = self.background.without(high).admitted_rate();
                self.grow_from((known * SAFE_SHARE).min(base), 0.0, now);
            }
            Verdict::Background(background) => {
                self.background = background;
                self.recheck_from = now + RECHECK;
                if let Some(Episode { was_free: false, before, .. }) = episode {
                    self.grow_from(before.max(base), HOLD, now);
                } else {
                    self.state = State::Free;
                    self.used_at = now;
                }
            }
            Verdict::Outage => {
                let before = episode.map_or(base, |episode| episode.before);
                self.set_rate((before * OUTAGE).clamp(OUTAGE_MIN, OUTAGE_MAX), now);
                self.state = State::Outage { before };
            }
        }
    }

    /// Goes on at half of the rate before an outage once something is admitted again.
    pub(super) fn see_outage(&mut self, before: f64, now: Duration) {
        let end = now.saturating_sub(self.delay());
        let from = end.saturating_sub(Duration::from_millis(400)).max(self.epoch);
        if Background::is_over(self.flow.over(from, end)) {
            self.epoch = now;
            self.grow_from(before / 2.0, HOLD, now);
        }
    }

    /// Remembers the rate before the first of several cuts.
    pub(super) fn begin_episode(&mut self, before: f64, seen: Sums) {
        let was_free = self.is_free();
        self.episode.get_or_insert(Episode { before, was_free, seen });
    }

    /// Lowers the background when less is refused, and looks from time to time whether it is one.
    pub(super) fn see_background(&mut self, now: Duration) {
        let end = now.saturating_sub(self.delay());
        let since = |millis| end.saturating_sub(Duration::from_millis(millis)).max(self.epoch);
        let (short, long) = (self.flow.over(since(200), end), self.flow.over(since(800), end));
        if self.background.decrease(short)
            || self.background.decrease(long)
            || now < self.recheck_from
        {
            return;
        }
        if self.background.is_there() && long.refused >= REFUSALS_MIN {
            self.probe(long, now);
        }
    }
}
