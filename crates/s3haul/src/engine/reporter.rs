//! Emits events and counts them, so that the summary and the events always agree.

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::early_end::{Cause, Seen, Streak};
use crate::engine::settings::KEYS_MAX;
use crate::event::{ActionKind, Event, EventSink, ObjectEvent, Outcome};
use crate::journal::Journal;
use crate::location::{Location, ObjectName};
use crate::plan::restore::ArchiveState;
use crate::plan::tags::Tag;
use s3haul_wire::error::{Error, ErrorKind};
use s3haul_wire::units::{MIB, RequestCounts};
use s3haul_wire::{Payload, SendProgress};

/// Smallest body whose progress is reported while it is sent.
const TOLD_SIZE_MIN: u64 = MIB;

/// Counters of a job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) done: u64,
    pub(crate) failed: u64,
    pub(crate) skipped: u64,
    pub(crate) not_tried: u64,
    pub(crate) warnings: u64,
    pub(crate) bytes: u64,
    pub(crate) fatal: bool,
}

/// Passes events to the sink and counts them.
pub(crate) struct Reporter {
    sink: Arc<dyn EventSink>,
    done: AtomicU64,
    failed: AtomicU64,
    skipped: AtomicU64,
    not_tried: AtomicU64,
    warnings: AtomicU64,
    bytes: AtomicU64,
    fatal: AtomicBool,
    would_send: WouldSend,
    /// Bytes reported as progress that do not belong to an object that has ended.
    under_way: AtomicI64,
    is_settled: AtomicBool,
    is_plan_complete: AtomicBool,
    streak: Mutex<Streak>,
    /// Whether there is anything to forget in the streak: successes are many.
    is_troubled: AtomicBool,
    /// The job ends early.
    early_end: Arc<AtomicBool>,
    /// Set once a signed listing of the source was answered, and of the target.
    listed: OnceLock<[Arc<AtomicBool>; 2]>,
    /// Where it is written how objects ended.
    journal: Option<Arc<Journal>>,
}

/// Requests that a dry run would send; keys to be removed go out many at a time.
#[derive(Default)]
struct WouldSend {
    write: AtomicU64,
    read: AtomicU64,
    delete: AtomicU64,
    keys: AtomicU64,
}

/// A body being sent. Dropping it before [`Self::done`] takes back the progress reported for it.
#[derive(Debug)]
#[must_use]
pub(crate) struct Sending {
    reporter: Arc<Reporter>,
    size: u64,
    progress: Option<SendProgress>,
}

impl Sending {
    /// The server has the whole body.
    pub(crate) fn done(mut self) {
        let reported = self.progress.take().map_or(0, |progress| progress.reported());
        self.reporter.moved(self.size.saturating_sub(reported));
    }
}

impl Drop for Sending {
    fn drop(&mut self) {
        if let Some(progress) = &self.progress {
            progress.take_back();
        }
    }
}

impl std::fmt::Debug for Reporter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reporter").field("counts", &self.counts()).finish_non_exhaustive()
    }
}

/// Whether a success shows that the server answers: the removal of a file does not.
fn is_about_server(event: &ObjectEvent) -> bool {
    event.target.is_some() || !matches!(event.source, Location::Local(_))
}

/// The outcome of an object whose failure is due to an early end. Its copy may be complete, where
/// it is moved: then it was tried, and what is there twice must be known.
fn left_behind(event: &ObjectEvent, error: &Error) -> Outcome {
    if !event.is_move || error.operation() != Some("DeleteObject") {
        return Outcome::NotTried;
    }
    let message = format!("copied, source not removed: {error}");
    Outcome::Failed(Error::new(ErrorKind::Server, message))
}

impl Reporter {
    /// A reporter with all counters at zero.
    pub(crate) fn new(sink: Arc<dyn EventSink>) -> Self {
        Self {
            sink,
            done: AtomicU64::new(0),
            failed: AtomicU64::new(0),
            skipped: AtomicU64::new(0),
            not_tried: AtomicU64::new(0),
            warnings: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            fatal: AtomicBool::new(false),
            would_send: WouldSend::default(),
            under_way: AtomicI64::new(0),
            is_settled: AtomicBool::new(false),
            is_plan_complete: AtomicBool::new(false),
            streak: Mutex::default(),
            is_troubled: AtomicBool::new(false),
            early_end: Arc::default(),
            listed: OnceLock::new(),
            journal: None,
        }
    }

    /// The same, and it is written to a journal how objects end.
    #[must_use]
    pub(crate) fn journalled(self, journal: Option<Arc<Journal>>) -> Self {
        Self { journal, ..self }
    }

    /// Gives the flags that are set once signed listings are answered.
    pub(crate) fn watch_listings(&self, listed: [Arc<AtomicBool>; 2]) {
        // Where two engines report together, the first one's count.
        _ = self.listed.set(listed);
    }

    fn seen(&self) -> Seen {
        let listed = self.listed.get();
        Seen {
            any_done: self.done.load(Ordering::Relaxed) > 0,
            is_signature_known: listed
                .is_some_and(|listed| listed.iter().all(|flag| flag.load(Ordering::Relaxed))),
        }
    }

    /// An action was queued.
    pub(crate) fn planned(&self, bytes: u64) {
        self.sink.emit(&Event::Planned { bytes });
    }

    /// A dry run would send these requests, and remove so many keys beside.
    pub(crate) fn would_send(&self, requests: RequestCounts, keys: u64) {
        let WouldSend { write, read, delete, keys: all_keys } = &self.would_send;
        write.fetch_add(requests.write, Ordering::Relaxed);
        read.fetch_add(requests.read, Ordering::Relaxed);
        delete.fetch_add(requests.delete, Ordering::Relaxed);
        all_keys.fetch_add(keys, Ordering::Relaxed);
    }

    /// All that a dry run would send.
    pub(crate) fn requests_planned(&self) -> RequestCounts {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let WouldSend { write, read: reads, delete, keys } = &self.would_send;
        let together = read(keys).div_ceil(KEYS_MAX as u64);
        RequestCounts { write: read(write), read: read(reads), delete: read(delete) + together }
    }

    /// Nothing more will be planned.
    pub(crate) fn plan_complete(&self) {
        self.is_plan_complete.store(true, Ordering::Relaxed);
        self.sink.emit(&Event::PlanComplete);
    }

    /// Bytes were moved.
    pub(crate) fn moved(&self, bytes: u64) {
        self.progress(i64::try_from(bytes).unwrap_or(i64::MAX));
    }

    /// Takes back bytes that were reported as moved.
    pub(crate) fn unmoved(&self, bytes: u64) {
        self.progress(-i64::try_from(bytes).unwrap_or(i64::MAX));
    }

    fn progress(&self, bytes: i64) {
        if bytes != 0 && !self.is_settled.load(Ordering::Relaxed) {
            self.under_way.fetch_add(bytes, Ordering::Relaxed);
            self.sink.emit(&Event::Progress { bytes });
        }
    }

    /// Settles the counts after cancellation: progress of objects that will not end is taken back,
    /// and no more is reported for them.
    pub(crate) fn settle(&self) {
        let bytes = self.under_way.load(Ordering::Relaxed);
        self.progress(-bytes);
        self.is_settled.store(true, Ordering::Relaxed);
    }

    /// Reports the progress of a body while it is sent, if the body is large enough for that to
    /// matter.
    pub(crate) fn sending(self: &Arc<Self>, payload: Payload) -> (Payload, Sending) {
        let size = payload.len();
        let reporter = Arc::clone(self);
        if size < TOLD_SIZE_MIN {
            return (payload, Sending { reporter, size, progress: None });
        }
        let teller = Arc::clone(self);
        let tell = move |bytes| teller.progress(bytes);
        let progress = SendProgress::new(Arc::new(tell));
        let payload = payload.with_progress(progress.clone());
        (payload, Sending { reporter, size, progress: Some(progress) })
    }

    /// Set once the job ends early.
    pub(crate) fn early_end(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.early_end)
    }

    /// Whether the job ends early.
    pub(crate) fn ends_early(&self) -> bool {
        self.early_end.load(Ordering::Relaxed)
    }

    /// Whether planning goes on after an early end, for the sake of the events.
    pub(crate) fn wants_untried(&self) -> bool {
        self.sink.wants_untried()
    }

    /// Takes in how an object ended, and ends the job where all others would fail alike. Returns
    /// whether a failure is only due to that end.
    pub(crate) fn judge(&self, failure: Option<&Error>) -> bool {
        let Some(error) = failure else {
            if self.is_troubled.load(Ordering::Relaxed) {
                self.streak().succeeded();
                self.is_troubled.store(false, Ordering::Relaxed);
            }
            return false;
        };
        let mut streak = self.streak();
        if self.ends_early() {
            return error.kind() == ErrorKind::Cancelled || Cause::of(error).is_some();
        }
        self.is_troubled.store(true, Ordering::Relaxed);
        if streak.failed(error, self.seen()) {
            self.early_end.store(true, Ordering::Relaxed);
        }
        false
    }

    fn streak(&self) -> std::sync::MutexGuard<'_, Streak> {
        self.streak.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says that the job ended early, where that left something undone.
    pub(crate) fn conclude_early_end(&self) {
        let is_complete = self.is_plan_complete.load(Ordering::Relaxed);
        let count = self.not_tried.load(Ordering::Relaxed);
        if !self.ends_early() || (is_complete && count == 0) {
            return;
        }
        if !is_complete {
            self.fatal.store(true, Ordering::Relaxed);
        }
        let rest = match count {
            1 if is_complete => "1 object was not tried".to_owned(),
            count if is_complete => format!("{count} objects were not tried"),
            _ => "the rest was not tried".to_owned(),
        };
        let message =
            format!("ended early, because every object would fail in the same way: {rest}");
        self.sink.emit(&Event::Fatal { error: Error::new(ErrorKind::Cancelled, message) });
    }

    /// An object ended.
    pub(crate) fn object(&self, mut event: ObjectEvent) {
        match &event.outcome {
            Outcome::Done if is_about_server(&event) => _ = self.judge(None),
            Outcome::Failed(error) if self.judge(Some(error)) => {
                event.outcome = left_behind(&event, error);
            }
            _ => {}
        }
        match &event.outcome {
            Outcome::Done => {
                self.done.fetch_add(1, Ordering::Relaxed);
                self.bytes.fetch_add(event.bytes, Ordering::Relaxed);
                if matches!(
                    event.action,
                    ActionKind::Upload | ActionKind::Download | ActionKind::Copy
                ) {
                    let bytes = i64::try_from(event.bytes).unwrap_or(i64::MAX);
                    self.under_way.fetch_sub(bytes, Ordering::Relaxed);
                }
            }
            Outcome::DryRun => {}
            Outcome::NotTried => {
                self.not_tried.fetch_add(1, Ordering::Relaxed);
            }
            Outcome::Skipped => {
                self.skipped.fetch_add(1, Ordering::Relaxed);
            }
            Outcome::Failed(_) => {
                self.failed.fetch_add(1, Ordering::Relaxed);
            }
        }
        let event = Event::Object(event);
        // Report before journal: a kill in between duplicates a row, but loses none.
        self.sink.emit(&event);
        if let (Some(journal), Event::Object(event)) = (&self.journal, &event) {
            journal.ended(event);
        }
    }

    /// The same for what outlives the report.
    pub(crate) fn journal_handle(&self) -> Option<Arc<Journal>> {
        self.journal.clone()
    }

    /// The journal of the job, where it has one.
    pub(crate) fn journal(&self) -> Option<&Journal> {
        self.journal.as_deref()
    }

    /// The tags of an object were read.
    pub(crate) fn tags(&self, bucket: &str, key: &str, tags: Vec<Tag>) {
        self.sink.emit(&Event::Tags { object: ObjectName::new(bucket, key), tags });
    }

    /// It is known whether an object can be read.
    pub(crate) fn archive(&self, bucket: &str, key: &str, class: String, state: ArchiveState) {
        let object = ObjectName::new(bucket, key);
        let (name, until) = (state.name(), state.until());
        self.sink.emit(&Event::Archive { object, storage_class: class, state: name, until });
    }

    /// Something to know that is no failure.
    pub(crate) fn warning(&self, message: String) {
        self.warnings.fetch_add(1, Ordering::Relaxed);
        self.sink.emit(&Event::Warning { message });
    }

    /// Something to know that the AWS tools print as a warning and do not count.
    pub(crate) fn note(&self, message: String) {
        self.sink.emit(&Event::Warning { message });
    }

    /// The job cannot go on.
    pub(crate) fn fatal(&self, error: Error) {
        self.fatal.store(true, Ordering::Relaxed);
        self.sink.emit(&Event::Fatal { error });
    }

    /// What was counted so far.
    pub(crate) fn counts(&self) -> Counts {
        Counts {
            done: self.done.load(Ordering::Relaxed),
            failed: self.failed.load(Ordering::Relaxed),
            skipped: self.skipped.load(Ordering::Relaxed),
            not_tried: self.not_tried.load(Ordering::Relaxed),
            warnings: self.warnings.load(Ordering::Relaxed),
            bytes: self.bytes.load(Ordering::Relaxed),
            fatal: self.fatal.load(Ordering::Relaxed),
        }
    }
}
