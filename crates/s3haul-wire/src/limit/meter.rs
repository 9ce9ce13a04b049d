//! Counters of requests: attempts by operation and status, latencies, bytes; and a sample of them.
//!
//! An [`Admission`](super::limiter::Admission) has a meter only if it was made with one. Without
//! one a request checks a few empty options. With one it costs some atomic additions, two clock
//! reads and one small allocation; nothing is locked, unless single attempts are kept for traces.
//! All counters but the requests in flight only grow.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, SystemTime};

use http::StatusCode;

/// Operations that are counted by their names, in alphabetical order; the last is any other.
pub const OPERATIONS: [&str; 35] = [
    "AbortMultipartUpload",
    "CompleteMultipartUpload",
    "CopyObject",
    "CreateBucket",
    "CreateMultipartUpload",
    "DeleteBucket",
    "DeleteObject",
    "DeleteObjectTagging",
    "DeleteObjects",
    "GetBucketLocation",
    "GetBucketVersioning",
    "GetBucketWebsite",
    "GetObject",
    "GetObjectAcl",
    "GetObjectLegalHold",
    "GetObjectTagging",
    "HeadBucket",
    "HeadObject",
    "ListBuckets",
    "ListMultipartUploads",
    "ListObjectVersions",
    "ListObjects",
    "ListObjectsV2",
    "ListParts",
    "PutBucketVersioning",
    "PutBucketWebsite",
    "PutObject",
    "PutObjectAcl",
    "PutObjectLegalHold",
    "PutObjectRetention",
    "PutObjectTagging",
    "RestoreObject",
    "UploadPart",
    "UploadPartCopy",
    "other",
];

/// Statuses that are counted by their numbers.
const STATUSES: [u16; 23] = [
    200, 204, 206, 301, 302, 304, 307, 400, 401, 403, 404, 405, 408, 409, 411, 412, 416, 429, 500,
    501, 502, 503, 504,
];

/// How a request ended: a status of [`STATUSES`], another one, or without an answer.
const ENDS: usize = STATUSES.len() + 2;

/// Upper bounds of the histogram's buckets in microseconds; one more bucket follows.
pub const LATENCY_BOUNDS_US: [u32; 15] = [
    1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000, 2_000_000,
    5_000_000, 10_000_000, 30_000_000, 60_000_000,
];

/// Failed attempts that are kept between two looks, and as many others.
const KEPT_MAX: usize = 512;

/// What requests do.
#[derive(Debug)]
pub struct Meter {
    operations: Box<[Counters]>,
    in_flight: AtomicI64,
    refusals: AtomicU64,
    retries: AtomicU64,
    hedges: AtomicU64,
    head_us: AtomicU64,
    body_us: AtomicU64,
    /// Single attempts, if they are kept.
    kept: OnceLock<Mutex<Kept>>,
}

/// One attempt of a request that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndedAttempt {
    /// Name of the operation in the API of S3.
    pub operation: &'static str,
    /// HTTP status, unless no answer came.
    pub status: Option<u16>,
    /// When it ended.
    pub ended: SystemTime,
    /// Time from its beginning until the head of the answer came.
    pub head: Duration,
    /// Time from its beginning to its end.
    pub whole: Duration,
    /// Bytes of its body; none if it failed.
    pub sent_bytes: u64,
    /// Bytes of the answer's body, if it was read to its end.
    pub received_bytes: u64,
}

/// Attempts since the last look: the first that failed, and of the others an even sample.
#[derive(Debug, Default)]
struct Kept {
    failed: Vec<EndedAttempt>,
    others: Vec<EndedAttempt>,
    /// Others in all.
    seen: usize,
}

/// Of one operation.
#[derive(Debug, Default)]
struct Counters {
    ends: [AtomicU64; ENDS],
    latencies: [AtomicU64; LATENCY_BOUNDS_US.len() + 1],
    latency_us: AtomicU64,
    sent_bytes: AtomicU64,
    received_bytes: AtomicU64,
}

/// What was counted of one operation.
#[derive(Clone, Debug, PartialEq)]
pub struct OperationCounts {
    /// Its name.
    pub operation: &'static str,
    /// Attempts by status: a number, `other`, or `none` where no answer came.
    pub attempts: Vec<(String, u64)>,
    /// Answers within each of [`LATENCY_BOUNDS_US`], and those that took longer: each is counted
    /// once.
    pub latencies: Vec<u64>,
    /// Sum of the times, in seconds.
    pub latency_sum_s: f64,
    /// Bytes of the bodies of requests that succeeded.
    pub sent_bytes: u64,
    /// Bytes of the bodies of answers that were read to their end.
    pub received_bytes: u64,
}

/// What was counted of all operations together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MeterTotals {
    /// Requests in flight.
    pub in_flight: u64,
    /// Attempts that ended.
    pub attempts: u64,
    /// Attempts that the service refused because there was too much to do.
    pub refusals: u64,
    /// Attempts that were made because an earlier one failed.
    pub retries: u64,
    /// Second requests beside late ones.
    pub hedges: u64,
    /// Time until the heads of answers came, of all reads together.
    pub read_head: Duration,
    /// Time that their bodies took.
    pub read_body: Duration,
    /// Bytes of object data and of all else that was sent.
    pub sent_bytes: u64,
    /// Bytes of answers.
    pub received_bytes: u64,
}

/// What is noted of an attempt when it ends.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Attempt {
    pub(crate) operation: &'static str,
    /// Its status, once its head came; 0 before.
    pub(crate) status: u16,
    /// Time until then.
    pub(crate) head: Duration,
    /// Time until its end.
    pub(crate) whole: Duration,
    pub(crate) sent_bytes: u64,
    pub(crate) received_bytes: u64,
    pub(crate) is_read: bool,
}

impl Default for Meter {
    fn default() -> Self {
        let operations = OPERATIONS.iter().map(|_| Counters::default()).collect();
        let zero = || AtomicU64::new(0);
        let (refusals, retries, hedges, head_us, body_us) =
            (zero(), zero(), zero(), zero(), zero());
        let in_flight = AtomicI64::new(0);
        let kept = OnceLock::new();
        Self { operations, in_flight, refusals, retries, hedges, head_us, body_us, kept }
    }
}

impl Meter {
    /// A request has its permit.
    pub(crate) fn begin(&self) {
        self.in_flight.fetch_add(1, Ordering::Relaxed);
    }

    /// It has ended, in whatever way.
    pub(crate) fn end(&self) {
        self.in_flight.fetch_sub(1, Ordering::Relaxed);
    }

    /// An attempt that was sent has ended.
    pub(crate) fn attempt(&self, attempt: Attempt) {
        let counters = &self.operations[position(attempt.operation)];
        add(&counters.ends[end_of(attempt.status)], 1);
        if let Some(kept) = self.kept.get() {
            let ended = attempt.ended_at(SystemTime::now());
            kept.lock().unwrap_or_else(PoisonError::into_inner).add(ended);
        }
        if attempt.status == 0 {
            return;
        }
        let head_us = micros(attempt.head);
        let place = LATENCY_BOUNDS_US.partition_point(|bound| u64::from(*bound) < head_us);
        add(&counters.latencies[place], 1);
        add(&counters.latency_us, head_us);
        add(&counters.sent_bytes, attempt.sent_bytes);
        add(&counters.received_bytes, attempt.received_bytes);
        if attempt.is_read {
            add(&self.head_us, head_us);
            add(&self.body_us, micros(attempt.whole).saturating_sub(head_us));
        }
    }

    /// Keeps single attempts from now on, for [`Self::take_attempts`].
    pub fn keep_attempts(&self) {
        self.kept.get_or_init(Mutex::default);
    }

    /// Attempts that ended since the last call, in no order: of those that failed the first 512,
    /// and of the others 512 of which each is as likely as another. Empty unless they are kept.
    pub fn take_attempts(&self) -> Vec<EndedAttempt> {
        let Some(kept) = self.kept.get() else { return Vec::new() };
        let taken = std::mem::take(&mut *kept.lock().unwrap_or_else(PoisonError::into_inner));
        let Kept { mut failed, others, .. } = taken;
        failed.extend(others);
        failed
    }

    /// The service had too much to do.
    pub(crate) fn refused(&self) {
        add(&self.refusals, 1);
    }

    /// A request is tried again.
    pub(crate) fn retried(&self) {
        add(&self.retries, 1);
    }

    /// A second request is sent beside a late one.
    pub(crate) fn hedged(&self) {
        add(&self.hedges, 1);
    }

    /// What was counted, of operations that occurred.
    pub fn operations(&self) -> Vec<OperationCounts> {
        let both = OPERATIONS.iter().zip(&*self.operations);
        both.filter_map(|(name, counters)| counters.counts(name)).collect()
    }

    /// What was counted of all operations together.
    pub fn totals(&self) -> MeterTotals {
        let sum = |of: fn(&Counters) -> u64| self.operations.iter().map(of).sum();
        MeterTotals {
            in_flight: u64::try_from(self.in_flight.load(Ordering::Relaxed)).unwrap_or(0),
            attempts: sum(|counters| counters.ends.iter().map(read).sum()),
            refusals: read(&self.refusals),
            retries: read(&self.retries),
            hedges: read(&self.hedges),
            read_head: Duration::from_micros(read(&self.head_us)),
            read_body: Duration::from_micros(read(&self.body_us)),
            sent_bytes: sum(|counters| read(&counters.sent_bytes)),
            received_bytes: sum(|counters| read(&counters.received_bytes)),
        }
    }
}

impl Attempt {
    fn ended_at(&self, ended: SystemTime) -> EndedAttempt {
        let Self { operation, status, head, whole, sent_bytes, received_bytes, .. } = *self;
        let status = (status != 0).then_some(status);
        EndedAttempt { operation, status, ended, head, whole, sent_bytes, received_bytes }
    }
}

impl EndedAttempt {
    /// Whether no answer came, or an error; 404 and 412 are errors, too.
    pub fn is_failure(&self) -> bool {
        self.status.is_none_or(|status| status >= 400)
    }
}

impl Kept {
    fn add(&mut self, attempt: EndedAttempt) {
        if attempt.is_failure() {
            if self.failed.len() < KEPT_MAX {
                self.failed.push(attempt);
            }
            return;
        }
        self.seen += 1;
        if self.others.len() < KEPT_MAX {
            self.others.push(attempt);
            return;
        }
        // The n-th takes the place of an earlier one with the probability `KEPT_MAX / n`.
        if let Some(place) = self.others.get_mut(fastrand::usize(..self.seen)) {
            *place = attempt;
        }
    }
}

impl Counters {
    fn counts(&self, operation: &'static str) -> Option<OperationCounts> {
        let names = STATUSES.iter().map(u16::to_string);
        let names = names.chain(["other".to_owned(), "none".to_owned()]);
        let ends = names.zip(self.ends.iter().map(read));
        let attempts: Vec<_> = ends.filter(|(_, count)| *count > 0).collect();
        let latency_sum_s = Duration::from_micros(read(&self.latency_us)).as_secs_f64();
        (!attempts.is_empty()).then(|| OperationCounts {
            operation,
            attempts,
            latencies: self.latencies.iter().map(read).collect(),
            latency_sum_s,
            sent_bytes: read(&self.sent_bytes),
            received_bytes: read(&self.received_bytes),
        })
    }
}

impl MeterTotals {
    /// What was added since an earlier look; what is in flight is that of now.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            in_flight: self.in_flight,
            attempts: self.attempts.saturating_sub(earlier.attempts),
            refusals: self.refusals.saturating_sub(earlier.refusals),
            retries: self.retries.saturating_sub(earlier.retries),
            hedges: self.hedges.saturating_sub(earlier.hedges),
            read_head: self.read_head.saturating_sub(earlier.read_head),
            read_body: self.read_body.saturating_sub(earlier.read_body),
            sent_bytes: self.sent_bytes.saturating_sub(earlier.sent_bytes),
            received_bytes: self.received_bytes.saturating_sub(earlier.received_bytes),
        }
    }
}

/// The place of an operation in [`OPERATIONS`].
fn position(operation: &str) -> usize {
    let other = OPERATIONS.len() - 1;
    OPERATIONS[..other].binary_search(&operation).unwrap_or(other)
}

/// The place of a status among the ends; 0 stands for no answer.
fn end_of(status: u16) -> usize {
    match STATUSES.binary_search(&status) {
        Ok(place) => place,
        Err(_) if StatusCode::from_u16(status).is_ok() => STATUSES.len(),
        Err(_) => STATUSES.len() + 1,
    }
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

fn add(counter: &AtomicU64, more: u64) {
    counter.fetch_add(more, Ordering::Relaxed);
}

fn read(counter: &AtomicU64) -> u64 {
    counter.load(Ordering::Relaxed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_in_order() {
        assert!(OPERATIONS[..OPERATIONS.len() - 1].is_sorted());
        assert!(STATUSES.is_sorted());
        assert!(LATENCY_BOUNDS_US.is_sorted());
        assert_eq!(OPERATIONS[position("ListObjectsV2")], "ListObjectsV2");
        assert_eq!(OPERATIONS[position("Dance")], "other");
    }

    /// Each operation that this crate sends has a name in the table; what is sent to find out how
    /// a service answers is none.
    #[test]
    fn all_operations_have_a_name() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/ops");
        let makers = ["quick(", "slow(", "get(", "put(", "delete(", "listing("];
        let mut found = 0;
        for file in std::fs::read_dir(folder).unwrap() {
            let path = file.unwrap().path();
            let Ok(text) = std::fs::read_to_string(&path) else { continue };
            for (begin, maker) in makers.iter().flat_map(|maker| text.match_indices(maker)) {
                let Some(rest) = text[begin + maker.len()..].trim_start().strip_prefix('"') else {
                    continue;
                };
                let name = rest.split_once('"').unwrap().0;
                if name.starts_with(char::is_uppercase) && name != "PlainRequest" {
                    assert_ne!(OPERATIONS[position(name)], "other", "{name} in {}", path.display());
                    found += 1;
                }
            }
        }
        assert!(found > 30, "only {found} operations were found");
    }

    #[test]
    fn attempts_are_counted_once() {
        let meter = Meter::default();
        meter.begin();
        let attempt = Attempt {
            operation: "GetObject",
            status: 206,
            head: Duration::from_millis(2),
            whole: Duration::from_millis(7),
            sent_bytes: 0,
            received_bytes: 300,
            is_read: true,
        };
        meter.attempt(attempt);
        meter.attempt(Attempt { operation: "GetObject", ..Attempt::default() });
        meter.attempt(Attempt { operation: "Dance", status: 418, ..attempt });
        let [get, other] = &meter.operations()[..] else { panic!("two operations") };
        assert_eq!(get.attempts, [("206".to_owned(), 1), ("none".to_owned(), 1)]);
        assert_eq!((get.latencies[1], get.latencies.iter().sum::<u64>()), (1, 1));
        assert_eq!((other.operation, &*other.attempts[0].0), ("other", "other"));
        let totals = meter.totals();
        assert_eq!((totals.in_flight, totals.attempts, totals.received_bytes), (1, 3, 600));
        assert_eq!(totals.read_body, Duration::from_millis(10));
        meter.end();
        assert_eq!(meter.take_attempts(), [], "none is kept unless that is wanted");
        let later = meter.totals().since(&totals);
        assert_eq!(later, MeterTotals::default());
    }

    #[test]
    fn failures_are_kept_and_the_others_sampled_evenly() {
        let meter = Meter::default();
        meter.keep_attempts();
        let get = Attempt { operation: "GetObject", ..Attempt::default() };
        let total = 20 * KEPT_MAX as u64;
        for received_bytes in 0..total {
            meter.attempt(Attempt { status: 200, received_bytes, ..get });
        }
        for status in [503, 0] {
            meter.attempt(Attempt { status, ..get });
        }
        let kept = meter.take_attempts();
        assert_eq!(kept.len(), KEPT_MAX + 2);
        let statuses: Vec<_> = kept.iter().filter(|one| one.is_failure()).collect();
        assert_eq!(statuses.iter().map(|one| one.status).collect::<Vec<_>>(), [Some(503), None]);
        // Half of the sample is from the first half, within eight deviations.
        let early = kept.iter().filter(|one| one.received_bytes < total / 2).count() - 2;
        assert!(early.abs_diff(KEPT_MAX / 2) < 91, "{early}");
        assert_eq!(meter.take_attempts(), []);
    }
}
