//! The first moments: where answers are waited for rather than worked for, requests in flight grow
//! with each round trip.
//!
//! A window of goodput ([`super::window`]) takes two round trips and more, which for six doublings
//! is longer than a job of some thousand small objects. Here a round ends as soon as half of what
//! was sent since it began has been answered, and goodput is that half over the time it took. A
//! queue gives the same goodput at twice the number, and latency that does not depend on the number
//! gives twice as much, so that one round is enough to distinguish the two.
//!
//! It begins with a small number. Only where its answers are small, take their time, and come
//! together rather than one by one is the next number [`ENOUGH_TO_BEGIN`]. The first round that
//! does not pay ends the ramp with half of the number before it, from where windows go on. What
//! holds: no number is tried before half of the one before it has been answered, and numbers above
//! [`ENOUGH_TO_BEGIN`] only double.

use std::time::Duration;

use super::concurrency::START;
use super::window::{Answered, WAITING_MIN};

/// Requests in flight after the first round: what other tools begin with.
pub(super) const ENOUGH_TO_BEGIN: u32 = 64;
/// Requests in flight where nothing has been answered for [`EARLY_AFTER`]: a job of a hundred small
/// objects is done after one round trip.
const EARLY: u32 = 128;
/// Small requests go on without an answer when there was none for so long: longer than answers
/// that are worked for take, since handshakes at the same time slow the first ones.
pub const EARLY_AFTER: Duration = Duration::from_millis(10);
/// A round pays when goodput grew by this factor.
const PAYS: f64 = 1.3;
/// Answers came together when the slowest took no more than this multiple of the quickest.
const TOGETHER: f64 = 3.0;
/// Mean work of answers up to which [`ENOUGH_TO_BEGIN`] are soon moved and take little memory.
const WORK_MAX: f64 = 1_048_576.0;
/// Rounds in a row in which no request had to wait, after which the ramp ends.
const UNUSED_MAX: u32 = 4;
/// Refusals that end the ramp.
const REFUSED_MAX: u32 = 3;
/// A round without enough answers ends after this time, and the ramp with it.
const LENGTH_MAX: Duration = Duration::from_secs(3);

/// Where the ramp stands.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ramp {
    round: Round,
    /// Number of the round before and its goodput; none in the first round.
    before: Option<(u32, f64)>,
    unused: u32,
    refused: u32,
    /// All requests so far move few bytes.
    are_small: bool,
    /// The number rose before there was an answer.
    is_early: bool,
}

/// What was seen of the requests that were sent since the number changed.
#[derive(Debug, Clone, Copy)]
struct Round {
    began: Duration,
    limit: u32,
    answers: u32,
    work: f64,
    latency: f64,
    quickest: f64,
    slowest: f64,
    was_denied: bool,
}

/// What an answer leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// The round goes on, or another begins with the same number.
    Same,
    /// Another round begins with this number.
    Rise(u32),
    /// The ramp has ended, with this number.
    End(u32),
}

impl Round {
    fn new(began: Duration, limit: u32) -> Self {
        Self {
            began,
            limit,
            answers: 0,
            work: 0.0,
            latency: 0.0,
            quickest: f64::INFINITY,
            slowest: 0.0,
            was_denied: false,
        }
    }

    fn note(&mut self, answer: &Answered) {
        self.answers += 1;
        self.work += answer.work;
        self.latency += answer.latency;
        self.quickest = self.quickest.min(answer.latency);
        self.slowest = self.slowest.max(answer.latency);
    }

    /// Whether answers were waited for, and more can be waited for at once.
    fn is_waiting(&self) -> bool {
        self.latency >= WAITING_MIN.as_secs_f64() * f64::from(self.answers)
            && self.slowest <= self.quickest * TOGETHER
            && self.work <= WORK_MAX * f64::from(self.answers)
    }
}

impl Ramp {
    /// A ramp that begins with `limit` in flight.
    pub(super) fn new(now: Duration, limit: u32) -> Self {
        Self {
            round: Round::new(now, limit),
            before: None,
            unused: 0,
            refused: 0,
            are_small: true,
            is_early: false,
        }
    }

    /// Notes that nothing is in flight: what comes now comes as if nothing had been.
    pub(super) fn rests(&mut self, now: Duration) {
        self.round = Round::new(now, self.round.limit);
    }

    /// Notes that a request goes.
    pub(super) fn sent(&mut self, is_small: bool) {
        self.are_small &= is_small;
    }

    /// Rises where there is no answer after [`EARLY_AFTER`]: answers are waited for rather than
    /// worked for, and small requests need not wait for the first.
    pub(super) fn rise_early(&mut self, now: Duration, cap: u32) -> Next {
        let Round { began, limit, answers, .. } = self.round;
        let is_first = self.before.is_none() && answers == 0 && self.refused == 0;
        let is_late = now.saturating_sub(began) >= EARLY_AFTER;
        if !(is_first && is_late && self.are_small) || limit >= EARLY.min(cap) {
            return Next::Same;
        }
        self.is_early = true;
        self.round.limit = EARLY.min(cap);
        Next::Rise(self.round.limit)
    }

    /// Notes that a request had to wait for the number.
    pub(super) fn denied(&mut self) {
        self.round.was_denied = true;
    }

    /// Notes a refusal. A few of them end the ramp with the number before.
    pub(super) fn refused(&mut self) -> Next {
        self.refused += 1;
        let (before, _) = self.before.unwrap_or((self.unproved(), 0.0));
        if self.refused < REFUSED_MAX { Next::Same } else { Next::End(before) }
    }

    /// The number where this round has not shown that it pays: an early rise is taken back.
    fn unproved(&self) -> u32 {
        let limit = self.round.limit;
        if self.is_early && self.before.is_none() { limit.min(START) } else { limit }
    }

    /// Notes an answer; at most `cap` may be in flight.
    pub(super) fn answer(&mut self, now: Duration, answer: &Answered, cap: u32) -> Next {
        let elapsed = now.saturating_sub(self.round.began);
        // Others were sent before the round began.
        if answer.latency <= elapsed.as_secs_f64() {
            self.round.note(answer);
        }
        if self.round.answers.saturating_mul(2) < self.round.limit {
            let is_over = elapsed >= LENGTH_MAX;
            return if is_over { Next::End(self.unproved()) } else { Next::Same };
        }
        self.decide(now, self.round.work / elapsed.as_secs_f64().max(1e-6), cap)
    }

    fn decide(&mut self, now: Duration, goodput: f64, cap: u32) -> Next {
        let round = self.round;
        let limit = round.limit;
        self.round = Round::new(now, limit);
        if !round.was_denied {
            self.unused += 1;
            return if self.unused > UNUSED_MAX { Next::End(limit) } else { Next::Same };
        }
        self.unused = 0;
        let next = match self.before {
            Some((limit_before, before)) if goodput < before * PAYS => {
                // Half of that, so that it is seen how long requests take without a queue.
                return Next::End((limit_before / 2).max(START.min(limit_before)));
            }
            Some(_) => limit.saturating_mul(2),
            None if round.is_waiting() => ENOUGH_TO_BEGIN.max(limit.saturating_mul(2)),
            None => return Next::End(self.unproved()),
        };
        if limit >= cap {
            return Next::End(limit);
        }
        self.before = Some((limit, goodput));
        self.round.limit = next.min(cap);
        Next::Rise(self.round.limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    fn answer(latency: f64, work: f64) -> Answered {
        Answered { work, latency, kind: 0, bytes: 0, in_flight: 1 }
    }

    /// Keeps the number in flight sent to a service that answers the `n`-th of those that are with
    /// it after `latency_ms(n)`. Gives the numbers tried, and that of the end with its time.
    fn climb(latency_ms: impl Fn(u32) -> u64, work: f64, cap: u32) -> (Vec<u32>, Option<u64>) {
        let mut ramp = Ramp::new(ms(0), 8);
        let (mut limit, mut tried) = (8, vec![8]);
        let mut open: Vec<(u64, u64)> = Vec::new();
        for now in 0..2_000 {
            open.sort_unstable();
            while let Some(&(due, sent)) = open.first().filter(|(due, _)| *due <= now) {
                open.remove(0);
                let latency = ms(due - sent).as_secs_f64();
                match ramp.answer(ms(now), &answer(latency, work), cap) {
                    Next::Same => {}
                    Next::Rise(next) => {
                        limit = next;
                        tried.push(next);
                    }
                    Next::End(last) => {
                        tried.push(last);
                        return (tried, Some(now));
                    }
                }
            }
            while open.len() < limit as usize {
                let inside = u32::try_from(open.len()).unwrap() + 1;
                open.push((now + latency_ms(inside), now));
            }
            ramp.denied();
        }
        (tried, None)
    }

    #[test]
    fn five_round_trips_are_enough_for_hundreds() {
        let (tried, end) = climb(|_| 50, 1e5, 512);
        assert_eq!(tried, [8, 64, 128, 256, 512, 512]);
        assert_eq!(end, Some(250));
    }

    #[test]
    fn a_queue_ends_it_at_once() {
        // One machine that takes 5 ms a request, then one far away with room for 40.
        assert_eq!(climb(|inside| u64::from(inside) * 5, 1e5, 512), (vec![8, 8], Some(20)));
        let (tried, _) = climb(|inside| 20 + u64::from(inside.saturating_sub(40)), 1e5, 512);
        assert!(tried.iter().all(|tried| *tried <= 128), "{tried:?}");
    }

    #[test]
    fn large_objects_and_quick_services_begin_as_ever() {
        assert_eq!(climb(|_| 50, 8e6, 512), (vec![8, 8], Some(50)));
        assert_eq!(climb(|_| 2, 1e5, 512), (vec![8, 8], Some(2)));
    }

    #[test]
    fn small_requests_need_not_wait_for_the_first_answer() {
        let begun = || {
            let mut ramp = Ramp::new(ms(0), 8);
            ramp.sent(true);
            ramp
        };
        let mut ramp = begun();
        assert_eq!(ramp.rise_early(ms(9), 512), Next::Same, "it may come yet");
        assert_eq!(ramp.rise_early(ms(10), 512), Next::Rise(128));
        assert_eq!(ramp.rise_early(ms(10), 512), Next::Same);
        assert_eq!(begun().rise_early(ms(10), 20), Next::Rise(20));
        let mut large = begun();
        large.sent(false);
        assert_eq!(large.rise_early(ms(10), 512), Next::Same);
        let mut answered = begun();
        let _ = answered.answer(ms(2), &answer(0.002, 1e5), 512);
        assert_eq!(answered.rise_early(ms(10), 512), Next::Same);
    }

    #[test]
    fn answers_one_by_one_take_the_early_rise_back() {
        let after = |latency_ms: fn(u64) -> u64| {
            let mut ramp = Ramp::new(ms(0), 8);
            assert_eq!(ramp.rise_early(ms(10), 512), Next::Rise(128));
            ramp.denied();
            let nexts = (1..=64).map(|number| {
                let latency = ms(latency_ms(number));
                ramp.answer(latency, &answer(latency.as_secs_f64(), 1e5), 512)
            });
            nexts.last().unwrap()
        };
        assert_eq!(after(|_| 50), Next::Rise(256));
        assert_eq!(after(|number| number * 10), Next::End(8));
        // So slow that the round ends before half of them are answered.
        assert_eq!(after(|number| number * 100), Next::End(8));
    }

    #[test]
    fn refusals_take_the_early_rise_back() {
        let mut ramp = Ramp::new(ms(0), 8);
        assert_eq!(ramp.rise_early(ms(10), 512), Next::Rise(128));
        assert_eq!(
            [ramp.refused(), ramp.refused(), ramp.refused()],
            [Next::Same, Next::Same, Next::End(8)]
        );
    }

    #[test]
    fn it_does_not_rise_where_no_request_waits() {
        let mut ramp = Ramp::new(ms(0), 8);
        let ends = (1..100).map(|round| ramp.answer(ms(round * 50), &answer(0.05, 1e5), 512));
        let (same, ends): (Vec<_>, Vec<_>) = ends.partition(|next| *next == Next::Same);
        assert!(same.len() >= 16, "{same:?}");
        assert_eq!(ends.first(), Some(&Next::End(8)));
    }

    proptest! {
        #[test]
        fn numbers_stay_within_the_cap(
            cap in 8u32..600,
            steps in prop::collection::vec((0u64..60, 0u64..200, any::<bool>()), 1..400),
        ) {
            let mut ramp = Ramp::new(ms(0), 8);
            let (mut now, mut limit) = (0, 8);
            for (pause, latency, is_denied) in steps {
                now += pause;
                if is_denied {
                    ramp.denied();
                }
                match ramp.answer(ms(now), &answer(ms(latency).as_secs_f64(), 1e5), cap) {
                    Next::Same => {}
                    Next::Rise(next) => {
                        prop_assert!(next > limit && next <= cap && next <= limit.max(32) * 2);
                        limit = next;
                    }
                    Next::End(last) => {
                        prop_assert!(last <= limit);
                        break;
                    }
                }
            }
        }
    }
}
