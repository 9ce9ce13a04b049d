//! What holds of the controller whatever the service does. How well it finds limits is asserted
//! in `tests/controller`, against simulated services.

use std::time::Duration;

use proptest::prelude::*;

use super::*;

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

const fn write(key: &[u8]) -> Ask<'_> {
    Ask { class: Class::Write, key, kind: 0, cost: 1, is_rate_only: false, is_small: true }
}

fn controller(max_concurrent_requests: u32) -> Controller {
    Controller::new(Bounds { max_concurrent_requests, ..Bounds::default() }, ms(0))
}

/// Offers a request a millisecond `per_ms` times to a service that admits `limit` a second and
/// refuses at once, until `until`. Gives what was admitted in the last second.
fn overload(rate: &mut RateLoop, from: u64, until: u64, per_ms: u32, limit: f64) -> f64 {
    let (mut saved, mut admitted) = (limit / 10.0, 0.0);
    for time in from..until {
        saved = (saved + limit / 1000.0f64).min(limit / 10.0);
        for _ in 0..per_ms {
            if !rate.wait(ms(time)).is_zero() {
                break;
            }
            rate.sent(ms(time), 1);
            if saved < 1.0 {
                rate.refused(ms(time), ms(time), 1);
            } else {
                saved -= 1.0;
                admitted += f64::from(u32::from(time + 1000 >= until));
            }
        }
    }
    admitted
}

#[test]
fn many_refusals_of_what_was_in_flight_cut_once() {
    let mut rate = RateLoop::new(ms(0));
    for time in 0..100 {
        for _ in 0..10 {
            rate.sent(ms(time), 1);
        }
    }
    for time in 0..100 {
        for _ in 0..5 {
            rate.refused(ms(110), ms(time), 1);
        }
    }
    assert_eq!(rate.cuts(), 1);
    // 10,000/s were sent; it is not cut by more than half before it is known what is admitted.
    assert!(rate.limit().unwrap() > 3_000.0, "{:?}", rate.limit());
}

#[test]
fn a_lone_refusal_cuts_nothing() {
    let mut rate = RateLoop::new(ms(0));
    for time in 0..1_000 {
        rate.sent(ms(time), 1);
        if time % 400 == 0 {
            rate.refused(ms(time), ms(time), 1);
        }
    }
    assert_eq!((rate.cuts(), rate.limit()), (0, None));
}

#[test]
fn a_limit_that_does_not_limit_is_forgotten() {
    let mut rate = RateLoop::new(ms(0));
    overload(&mut rate, 0, 3_000, 5, 1_000.0);
    assert!(rate.limit().is_some());
    overload(&mut rate, 3_000, 70_000, 1, 5_000.0);
    assert_eq!(rate.limit(), None);
}

#[test]
fn other_prefixes_go_on_when_one_is_refused() {
    let mut random = fastrand::Rng::with_seed(1);
    let mut ranges = Ranges::new(ms(0));
    let (mut saved, mut hot_sent, mut hot_refused, mut rest_sent) = (100.0, 0, 0, 0);
    for time in 0..40_000 {
        saved = (saved + 1.0f64).min(100.0);
        let counted = u32::from(time >= 35_000);
        for _ in 0..8 {
            let folder = ["a", "f", "hot", "m", "hot", "z", "hot", "hot"][random.usize(..8)];
            let key = format!("data/{folder}/{:04}", random.u32(..10_000));
            if !ranges.wait(ms(time), key.as_bytes()).is_zero() {
                continue;
            }
            ranges.sent(ms(time), key.as_bytes(), 1);
            if folder != "hot" {
                rest_sent += counted;
                continue;
            }
            hot_sent += counted;
            if saved < 1.0 {
                ranges.refused(ms(time), key.as_bytes(), ms(time), 1);
                hot_refused += counted;
            } else {
                saved -= 1.0;
            }
        }
    }
    assert!(hot_sent - hot_refused > 4_700, "{hot_sent} sent, {hot_refused} refused of 5,000");
    assert!(hot_refused < 150, "{hot_sent} sent, {hot_refused} refused of 5,000");
    assert!(rest_sent > 19_000, "{rest_sent} of 20,000");
}

#[test]
fn classes_are_limited_apart() {
    let mut controller = controller(1_000);
    for time in 0..200 {
        if controller.ask(ms(time), write(b"k")) == Grant::Go {
            controller.answered(
                ms(time),
                write(b"k"),
                (ms(time), Duration::ZERO),
                Outcome::Throttled,
            );
        }
    }
    assert!(controller.learnt(Class::Write).iter().all(|range| range.per_second.is_some()));
    assert_eq!(controller.learnt(Class::Read), []);
    let read = Ask { class: Class::Read, ..write(b"k") };
    assert_eq!(controller.ask(ms(200), read), Grant::Go);
}

#[test]
fn the_fixed_bounds_hold() {
    let bounds =
        Bounds { max_concurrent_requests: 3, max_requests_per_second: Some(50), is_adaptive: true };
    let mut controller = Controller::new(bounds, ms(0));
    let mut granted = 0;
    for time in 0..2_000 {
        while controller.ask(ms(time), write(b"k")) == Grant::Go {
            granted += 1;
        }
        assert!(controller.in_flight() <= 3);
        if controller.in_flight() == 3 {
            for _ in 0..3 {
                controller.answered(
                    ms(time),
                    write(b"k"),
                    (ms(time), Duration::ZERO),
                    Outcome::Done { bytes: 1 },
                );
            }
        }
    }
    assert!((98..=101).contains(&granted), "{granted}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Whatever the limit and the demand: once refused, the rate stays within what was admitted
    /// and twice that, and what is admitted is nearly all that could be.
    #[test]
    fn the_rate_follows_what_is_admitted(limit in 100.0..8_000.0f64, per_ms in 10u32..40) {
        let mut rate = RateLoop::new(ms(0));
        let admitted = overload(&mut rate, 0, 6_000, per_ms, limit);
        // Where so little is admitted, a second holds few requests and a cut lasts as long.
        prop_assert!(admitted >= limit * 0.9 - 10.0, "{admitted} of {limit}");
        let allowed = rate.limit().unwrap();
        prop_assert!(allowed <= admitted * ABOVE_MEASURED_MAX * 1.1, "{allowed} for {admitted}");
    }

    /// Any answers in any order: nothing leaves its bounds, and the same calls give the same.
    #[test]
    fn limits_stay_within_their_bounds(
        cap in 1u32..300,
        steps in prop::collection::vec((0u64..40, any::<u8>(), 0u8..4), 1..1_500),
    ) {
        let mut controller = controller(cap);
        let mut twin = controller.clone();
        let mut open: Vec<(Duration, [u8; 1])> = Vec::new();
        let mut now = ms(0);
        for (pause, byte, what) in steps {
            now += ms(pause);
            let key = [byte];
            for _ in 0..byte / 8 {
                let grant = controller.ask(now, write(&key));
                prop_assert_eq!(grant, twin.ask(now, write(&key)));
                if grant == Grant::Go {
                    open.push((now, key));
                }
            }
            let outcome = match what {
                0 => Outcome::Throttled,
                1 => Outcome::Failed,
                _ => Outcome::Done { bytes: u64::from(byte) << 16 },
            };
            for (sent_at, key) in open.drain(..open.len() / 2) {
                let times = (sent_at, now.saturating_sub(sent_at));
                controller.answered(now, write(&key), times, outcome);
                twin.answered(now, write(&key), times, outcome);
            }
            let limit = controller.limit(Class::Write);
            prop_assert!((LIMIT_MIN.min(cap)..=cap).contains(&limit));
            prop_assert!(controller.in_flight() <= cap);
            let learnt = controller.learnt(Class::Write);
            prop_assert!(learnt.len() <= RANGES_MAX);
            let is_sound = |rate: f64| rate >= RATE_MIN && rate.is_finite();
            let are_sound = learnt.iter().all(|range| range.per_second.is_none_or(is_sound));
            prop_assert!(are_sound, "unsound rates");
            let are_sorted = learnt.is_sorted_by(|left, right| left.start < right.start);
            prop_assert!(are_sorted, "ranges out of order");
            let mut later = Controller::new(Bounds::default(), now);
            later.recall(now, Class::Write, learnt.clone());
            prop_assert_eq!(later.learnt(Class::Write), learnt);
        }
    }
}

#[test]
fn what_is_recalled_limits_from_the_first_request_on() {
    let range = |start: &str, per_second| LearntRange { start: start.into(), per_second };
    let mut controller = controller(1_000);
    // Out of order, without a beginning, one twice, and what is no rate.
    let learnt = vec![
        range("b/x", Some(f64::NAN)),
        range("b/m", None),
        range("b/k", Some(100.0)),
        range("b/k", Some(200.0)),
    ];
    controller.recall(ms(0), Class::Write, learnt);
    let starts = |range: &LearntRange| (range.start.clone(), range.per_second.is_some());
    let learnt: Vec<_> = controller.learnt(Class::Write).iter().map(starts).collect();
    let expected = [(&b""[..], false), (b"b/k", true), (b"b/m", false)];
    assert_eq!(learnt, expected.map(|(start, has_rate)| (start.to_vec(), has_rate)));
    for (key, sent_max) in [(&b"b/a"[..], 1_000), (b"b/l", 110), (b"b/z", 1_000)] {
        let mut sent = 0;
        for time in 0..1_000 {
            if controller.ask(ms(time), write(key)) == Grant::Go {
                let done = Outcome::Done { bytes: 1 };
                controller.answered(ms(time), write(key), (ms(time), Duration::ZERO), done);
                sent += 1;
            }
        }
        assert!((sent_max * 8 / 10..=sent_max).contains(&sent), "{sent} of {sent_max}");
    }
}
