//! When a request is far beyond its expected time, so that a second one is sent to race it. Pure.
//!
//! Of each class of requests it learns what time all but one in twenty keep. Three times that is
//! "far beyond": past the 99th percentile of any body of latencies that is not itself spread over
//! orders of magnitude, and, other than that percentile, not moved by the stragglers, as long as
//! they are fewer than one in twenty. The time of a part is counted by its bytes, so that it is
//! the present throughput that a part is held against.
//!
//! Bounds: nothing is said before a class has [`Class::samples_min`] answers, nor below
//! [`Class::floor`]. Each request earns a fiftieth of a second one, so that extra requests are at
//! most 2 % of the others at any moment, whatever comes; [`SAVED_MAX`] can be saved. While the
//! service has asked to slow down, and [`CALM_AFTER`] from then, there are none.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use http::Method;
use tokio::time::Instant;

use crate::message::request::Request;

/// Requests that pay for one extra.
pub(crate) const REQUESTS_PER_EXTRA: u32 = 50;
/// Extra requests that can be saved for when they are needed.
const SAVED_MAX: u32 = 16;
/// How many times the usual time is far beyond it.
const FAR_BEYOND: u32 = 3;
/// One in so many is not usual.
const ONE_IN: u32 = 20;
/// Time after a request to slow down in which nothing extra is sent.
const CALM_AFTER: Duration = Duration::from_secs(10);
/// Answers after which a limit is worked out anew.
const LEARN_EVERY: u32 = 16;
/// What a part costs beside its bytes, in KiB of them.
const PART_OVERHEAD_KIB: u64 = 512;

/// Requests that take about the same time, and that may be sent twice without harm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// HEAD, and small questions about one object.
    Head,
    /// An object or a range of it, to the first byte.
    Get,
    /// A page of a listing, to the first byte.
    List,
    /// One part of an upload.
    Part,
}

impl Class {
    /// The class of a request; none where a second one could do something else than the first.
    /// What writes, copies or removes objects is never sent twice. A copy of a part could be, but
    /// it is the server's work, which cannot be called off, and may rightly take minutes.
    pub(crate) fn of(request: &Request<'_>) -> Option<Self> {
        let name = request.operation.name;
        match request.method {
            Method::GET if name == "GetObject" => Some(Self::Get),
            Method::GET if name.starts_with("List") => Some(Self::List),
            Method::GET | Method::HEAD => Some(Self::Head),
            Method::PUT if name == "UploadPart" => Some(Self::Part),
            _ => None,
        }
    }

    /// Answers that have to be known before anything is said.
    fn samples_min(self) -> u32 {
        if self == Self::Part { 16 } else { 64 }
    }

    /// Answers that are remembered: twice as many at most, then half of them are forgotten.
    fn samples_kept(self) -> u32 {
        if self == Self::Part { 64 } else { 512 }
    }

    /// What is never too long: a pause of the server, of the network or of this machine.
    fn floor(self) -> Duration {
        Duration::from_millis(match self {
            Self::Head | Self::Get => 200,
            Self::List => 500,
            Self::Part => 1_000,
        })
    }

    /// What the time of a request is counted by.
    fn weight(self, bytes: u64) -> u64 {
        if self == Self::Part { bytes / 1024 + PART_OVERHEAD_KIB } else { 1 }
    }
}

/// Counters: eight for each doubling, so that a time is known to within an eighth.
const BUCKETS: usize = 8 * 42;

/// The times of one class.
#[derive(Debug)]
struct Times {
    class: Class,
    counts: [u32; BUCKETS],
    total: u32,
    /// Answers since the limit was worked out.
    fresh: u32,
    /// What all but one in [`ONE_IN`] keep, in ns by weight.
    usual_ns: Option<u64>,
}

fn bucket_of(ns: u64) -> usize {
    let ns = ns.max(8);
    let doublings = ns.ilog2();
    let eighth = (ns >> (doublings - 3)) & 7;
    ((doublings as usize - 3) * 8 + usize::try_from(eighth).unwrap_or(0)).min(BUCKETS - 1)
}

/// The longest time that a bucket counts.
fn longest_of(bucket: usize) -> u64 {
    let (doublings, eighth) = (bucket / 8, bucket as u64 % 8);
    ((9 + eighth) << doublings) - 1
}

impl Times {
    fn new(class: Class) -> Self {
        Self { class, counts: [0; BUCKETS], total: 0, fresh: 0, usual_ns: None }
    }

    fn note(&mut self, bytes: u64, took: Duration) {
        let ns = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        self.counts[bucket_of(ns / self.class.weight(bytes))] += 1;
        self.total += 1;
        self.fresh += 1;
        if self.total >= 2 * self.class.samples_kept() {
            self.counts.iter_mut().for_each(|count| *count /= 2);
            self.total = self.counts.iter().sum();
        }
        if self.fresh >= LEARN_EVERY && self.total >= self.class.samples_min() {
            self.fresh = 0;
            self.usual_ns = Some(self.usual());
        }
    }

    fn usual(&self) -> u64 {
        let mut above = 0;
        let kept_by_most = self.counts.iter().rposition(|count| {
            above += count;
            above > self.total / ONE_IN
        });
        longest_of(kept_by_most.unwrap_or(BUCKETS - 1))
    }

    fn far_beyond(&self, bytes: u64) -> Option<Duration> {
        let usual_ns = self.usual_ns?.saturating_mul(self.class.weight(bytes));
        let far = Duration::from_nanos(usual_ns.saturating_mul(u64::from(FAR_BEYOND)));
        Some(far.max(self.class.floor()))
    }
}

/// What is known of a client's requests.
#[derive(Debug)]
struct Policy {
    times: [Times; 4],
    /// Fiftieths of an extra request.
    saved: u32,
    calm_from: Option<Instant>,
}

impl Policy {
    fn new() -> Self {
        let times = [Class::Head, Class::Get, Class::List, Class::Part].map(Times::new);
        Self { times, saved: 0, calm_from: None }
    }

    /// A request is about to be sent; gives the time after which a second one may be.
    fn begins(&mut self, class: Class, bytes: u64) -> Option<Duration> {
        self.saved = (self.saved + 1).min(SAVED_MAX * REQUESTS_PER_EXTRA);
        self.far_beyond(class, bytes)
    }

    /// A request was answered so long after it was sent.
    fn answered(&mut self, class: Class, bytes: u64, took: Duration) {
        self.times[class as usize].note(bytes, took);
    }

    /// The service asked to slow down.
    fn throttled(&mut self, now: Instant) {
        self.calm_from = Some(now + CALM_AFTER);
    }

    /// Takes an extra request for one that was sent so long ago, if that is too long by what is
    /// known now, and if there is one to be had.
    fn take(&mut self, class: Class, bytes: u64, waited: Duration, now: Instant) -> bool {
        let is_late = self.far_beyond(class, bytes).is_some_and(|after| after <= waited);
        let is_calm = self.calm_from.is_none_or(|calm| calm <= now);
        let takes = is_late && is_calm && self.saved >= REQUESTS_PER_EXTRA;
        if takes {
            self.saved -= REQUESTS_PER_EXTRA;
        }
        takes
    }

    /// What was taken was not sent.
    fn give_back(&mut self) {
        self.saved = (self.saved + REQUESTS_PER_EXTRA).min(SAVED_MAX * REQUESTS_PER_EXTRA);
    }

    fn far_beyond(&self, class: Class, bytes: u64) -> Option<Duration> {
        self.times[class as usize].far_beyond(bytes)
    }
}

/// The policy of a client and its clones.
#[derive(Debug)]
pub(crate) struct Hedging(Mutex<Policy>);

impl Hedging {
    /// Nothing is known yet.
    pub(crate) fn new() -> Self {
        Self(Mutex::new(Policy::new()))
    }

    fn policy(&self) -> MutexGuard<'_, Policy> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A request is about to be sent; gives the time after which a second one may be.
    pub(crate) fn begins(&self, class: Class, bytes: u64) -> Option<Duration> {
        self.policy().begins(class, bytes)
    }

    /// A request was answered so long after it was sent.
    pub(crate) fn answered(&self, class: Class, bytes: u64, took: Duration) {
        self.policy().answered(class, bytes, took);
    }

    /// The service asked to slow down.
    pub(crate) fn throttled(&self) {
        self.policy().throttled(Instant::now());
    }

    /// Takes an extra request for one that was sent so long ago, if that is too long by what is
    /// known now, and if there is one to be had.
    pub(crate) fn take(&self, class: Class, bytes: u64, waited: Duration) -> bool {
        self.policy().take(class, bytes, waited, Instant::now())
    }

    /// What was taken was not sent.
    pub(crate) fn give_back(&self) {
        self.policy().give_back();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing;

    const CLASSES: [Class; 4] = [Class::Head, Class::Get, Class::List, Class::Part];

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    /// A policy that knows answers of these times.
    fn knows(class: Class, times: impl IntoIterator<Item = Duration>) -> Policy {
        let mut policy = Policy::new();
        times.into_iter().for_each(|took| policy.answered(class, 0, took));
        policy
    }

    #[test]
    fn what_cannot_be_repeated_has_no_class() {
        let class = |name, method| {
            let mut request = testing::request(method, "key");
            request.operation.name = name;
            Class::of(&request)
        };
        for name in ["PutObject", "CopyObject", "UploadPartCopy", "PutObjectTagging"] {
            assert_eq!(class(name, Method::PUT), None, "{name}");
        }
        for name in ["CreateMultipartUpload", "CompleteMultipartUpload", "DeleteObjects"] {
            assert_eq!(class(name, Method::POST), None, "{name}");
        }
        assert_eq!(class("AbortMultipartUpload", Method::DELETE), None);
        assert_eq!(class("DeleteObject", Method::DELETE), None);
        assert_eq!(class("HeadObject", Method::HEAD), Some(Class::Head));
        assert_eq!(class("GetObjectTagging", Method::GET), Some(Class::Head));
        assert_eq!(class("GetObject", Method::GET), Some(Class::Get));
        assert_eq!(class("ListObjectsV2", Method::GET), Some(Class::List));
        assert_eq!(class("UploadPart", Method::PUT), Some(Class::Part));
    }

    #[test]
    fn stragglers_do_not_move_what_is_far_beyond() {
        // Four in a hundred take fifty times as long.
        let times = (0..1_000).map(|n| ms(if n % 25 == 0 { 5_000 } else { 80 + n % 40 }));
        let after = knows(Class::Get, times).begins(Class::Get, 0).unwrap();
        assert!((ms(3 * 110)..ms(3 * 136)).contains(&after), "{after:?}");
    }

    #[test]
    fn noise_does_not_trigger() {
        let quick = (0..500).map(|n| Duration::from_micros(200 + n));
        assert_eq!(knows(Class::Head, quick).begins(Class::Head, 0), Some(ms(200)));
    }

    #[test]
    fn a_part_is_held_against_the_throughput_of_late() {
        let mut policy = Policy::new();
        // 10 MiB/s, then 1 MiB/s.
        for (seconds, after) in [(0.8, 2.4..2.8), (8.0, 24.0..28.0)] {
            for _ in 0..500 {
                policy.answered(Class::Part, 8 << 20, Duration::from_secs_f64(seconds));
            }
            let found = policy.begins(Class::Part, 8 << 20).unwrap().as_secs_f64();
            assert!(after.contains(&found), "{found}");
            let twice = policy.begins(Class::Part, 16 << 20).unwrap().as_secs_f64();
            assert!((1.9 * found..2.0 * found).contains(&twice), "{found} {twice}");
        }
    }

    #[test]
    fn a_refusal_stops_it_for_a_while() {
        let (mut policy, start) = (Policy::new(), Instant::now());
        for _ in 0..REQUESTS_PER_EXTRA + 20 {
            policy.begins(Class::Get, 0);
            policy.answered(Class::Get, 0, ms(50));
        }
        let mut takes = |waited, after| policy.take(Class::Get, 0, ms(waited), start + after);
        assert!(!takes(149, Duration::ZERO), "it is not late");
        policy.throttled(start);
        let mut takes = |waited, after| policy.take(Class::Get, 0, ms(waited), start + after);
        assert!(!takes(500, Duration::ZERO) && !takes(500, CALM_AFTER / 2));
        assert!(takes(500, CALM_AFTER));
        assert!(!takes(500, CALM_AFTER), "that was the only one");
        policy.give_back();
        assert!(policy.take(Class::Get, 0, ms(500), start + CALM_AFTER));
    }

    #[test]
    fn buckets_hold_what_they_say() {
        for bucket in 0..BUCKETS {
            assert_eq!(bucket_of(longest_of(bucket)), bucket);
            assert_eq!(bucket_of(longest_of(bucket) + 1), (bucket + 1).min(BUCKETS - 1));
        }
        assert_eq!((bucket_of(0), bucket_of(u64::MAX)), (0, BUCKETS - 1));
    }

    #[derive(Clone, Copy, Debug)]
    enum Step {
        Begins(usize),
        Answered(usize, u64),
        Throttled,
        Take(usize),
        GiveBack,
        Waits(u64),
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let step = prop_oneof![
            8 => (0..4_usize).prop_map(Step::Begins),
            4 => (0..4_usize, 0..100_000_u64).prop_map(|(at, ms)| Step::Answered(at, ms)),
            1 => Just(Step::Throttled),
            4 => (0..4_usize).prop_map(Step::Take),
            1 => Just(Step::GiveBack),
            1 => (0..30_000_u64).prop_map(Step::Waits),
        ];
        prop::collection::vec(step, 0..3_000)
    }

    proptest! {
        #[test]
        fn extra_requests_keep_to_their_share(steps in steps()) {
            let mut both = [Policy::new(), Policy::new()];
            let (mut now, mut sent, mut extra) = (Instant::now(), 0_u32, 0_u32);
            let mut answers = [0_u32; 4];
            for step in steps {
                let told = both.each_mut().map(|policy| match step {
                    Step::Begins(at) => (policy.begins(CLASSES[at], 1 << 20), false),
                    Step::Answered(at, took) => {
                        policy.answered(CLASSES[at], 1 << 20, ms(took));
                        (None, false)
                    }
                    Step::Throttled => {
                        policy.throttled(now);
                        (None, false)
                    }
                    Step::Take(at) => {
                        (None, policy.take(CLASSES[at], 1 << 20, Duration::MAX, now))
                    }
                    Step::GiveBack if extra > 0 => {
                        policy.give_back();
                        (None, false)
                    }
                    Step::GiveBack | Step::Waits(_) => (None, false),
                });
                prop_assert_eq!(told[0], told[1]);
                let (after, is_extra) = told[0];
                match step {
                    Step::Begins(at) => {
                        sent += 1;
                        let (class, known) = (CLASSES[at], answers[at]);
                        prop_assert!(after.is_none() || known >= class.samples_min());
                        prop_assert!(after.is_none_or(|after| after >= class.floor()));
                    }
                    Step::Answered(at, _) => answers[at] += 1,
                    Step::Waits(waits) => now += ms(waits),
                    Step::Take(at) => {
                        prop_assert!(!is_extra || answers[at] >= CLASSES[at].samples_min());
                        extra += u32::from(is_extra);
                    }
                    Step::GiveBack => extra = extra.saturating_sub(1),
                    Step::Throttled => {}
                }
                prop_assert!(extra * REQUESTS_PER_EXTRA <= sent, "{} of {}", extra, sent);
            }
        }

        #[test]
        fn most_answers_come_long_before(
            looks in prop::collection::vec(prop::array::uniform16(1..10_000_u64), 4..60),
        ) {
            let mut times = looks.concat();
            let after = knows(Class::Get, times.iter().map(|took| ms(*took)))
                .begins(Class::Get, 0)
                .unwrap();
            times.sort_unstable();
            let most = times[times.len() - 1 - times.len() / 20];
            prop_assert!(after >= ms(most) * FAR_BEYOND, "{:?} {}", after, most);
        }
    }
}
