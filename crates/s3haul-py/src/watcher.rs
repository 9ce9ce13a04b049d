//! Counts the events of a transfer, and keeps its failures.

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use s3haul::event::{ActionKind, Event, EventSink, ObjectEvent, Outcome};
use s3haul::{Error, ErrorKind};
use s3haul_cli::embed::Failure;

use crate::table::FailureColumns;

/// Failures that are kept at most; all are counted.
const FAILURES_MAX: usize = 100_000;
/// Bytes of their messages, after which no more are kept.
const MESSAGE_BYTES_MAX: usize = 64 << 20;

/// What is known of a transfer so far.
#[derive(Default)]
pub(crate) struct Watcher {
    planned: AtomicU64,
    planned_bytes: AtomicU64,
    is_plan_complete: AtomicBool,
    done: AtomicU64,
    failed: AtomicU64,
    skipped: AtomicU64,
    bytes: AtomicI64,
    failures: Mutex<FailureColumns>,
    fatal: Mutex<Option<Failure>>,
    /// What the last object failed by.
    last: Mutex<Option<Error>>,
}

/// Counters, as Python gets them.
#[derive(pyo3::IntoPyObject)]
pub(crate) struct Counts {
    planned: u64,
    planned_bytes: u64,
    is_plan_complete: bool,
    done: u64,
    failed: u64,
    skipped: u64,
    bytes: i64,
}

impl Watcher {
    /// The counters.
    pub(crate) fn counts(&self) -> Counts {
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Counts {
            planned: get(&self.planned),
            planned_bytes: get(&self.planned_bytes),
            is_plan_complete: self.is_plan_complete.load(Ordering::Relaxed),
            done: get(&self.done),
            failed: get(&self.failed),
            skipped: get(&self.skipped),
            bytes: self.bytes.load(Ordering::Relaxed),
        }
    }

    /// The failures so far.
    pub(crate) fn failures(&self) -> FailureColumns {
        self.failures.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Why the job could not go on to its end.
    pub(crate) fn take_fatal(&self) -> Option<Failure> {
        self.fatal.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Why a job could not go on. One that ended early, since all objects would fail in the same
    /// way, ended by what they failed by.
    fn reason(&self, fatal: &Error) -> Failure {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner).take();
        match last.filter(|_| fatal.kind() == ErrorKind::Cancelled) {
            None => fatal.duplicate().into(),
            Some(last) => {
                let failure = Failure::from(last);
                Failure { message: format!("{}; {fatal}", failure.message), ..failure }
            }
        }
    }

    fn object(&self, event: &ObjectEvent) {
        let counter = match &event.outcome {
            Outcome::Done | Outcome::DryRun => &self.done,
            Outcome::Skipped => &self.skipped,
            Outcome::NotTried => return,
            Outcome::Failed(error) => {
                let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
                *last = Some(error.duplicate());
                let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
                let has_room = failures.message_bytes() < MESSAGE_BYTES_MAX;
                if has_room && failures.len() < FAILURES_MAX {
                    let target = event.target.as_ref().map(ToString::to_string);
                    failures.push(
                        action(event),
                        &event.source.to_string(),
                        target.as_deref(),
                        error,
                    );
                }
                &self.failed
            }
        };
        counter.fetch_add(1, Ordering::Relaxed);
    }
}

impl EventSink for Watcher {
    fn emit(&self, event: &Event) {
        match event {
            Event::Planned { bytes } => {
                self.planned.fetch_add(1, Ordering::Relaxed);
                self.planned_bytes.fetch_add(*bytes, Ordering::Relaxed);
            }
            Event::PlanComplete => self.is_plan_complete.store(true, Ordering::Relaxed),
            Event::Progress { bytes } => {
                self.bytes.fetch_add(*bytes, Ordering::Relaxed);
            }
            Event::Object(object) => self.object(object),
            Event::Fatal { error } => {
                let mut fatal = self.fatal.lock().unwrap_or_else(PoisonError::into_inner);
                fatal.get_or_insert_with(|| self.reason(error));
            }
            Event::Tags { .. } | Event::Archive { .. } | Event::Warning { .. } => {}
        }
    }
}

/// A watcher as the sink of a command.
pub(crate) fn sink(watcher: &Arc<Watcher>) -> Arc<dyn EventSink> {
    Arc::clone(watcher) as Arc<dyn EventSink>
}

fn action(event: &ObjectEvent) -> &'static str {
    match event.action {
        _ if event.is_move => "move",
        ActionKind::Upload => "upload",
        ActionKind::Download => "download",
        ActionKind::Copy => "copy",
        ActionKind::Delete => "delete",
        ActionKind::Tag => "tag",
        ActionKind::Set => "set",
        ActionKind::Restore => "restore",
        ActionKind::Undelete => "undelete",
    }
}
