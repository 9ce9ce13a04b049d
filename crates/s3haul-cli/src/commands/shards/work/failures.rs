//! What fails while a shard runs.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use s3haul::event::{Event, EventSink, Outcome};
use s3haul_wire::{Error, ErrorKind};

use crate::failure::Failure;

/// Failures that a commit holds.
const FAILURES_MAX: usize = 100;

/// Collects what fails.
#[derive(Debug, Default)]
pub(super) struct ShardFailures {
    objects: Mutex<Vec<s3haul::shard::Failure>>,
    fatal: Mutex<Option<Failure>>,
    has_refused_keys: AtomicBool,
    /// What failed first because of the machine, and whether anything failed otherwise.
    of_machine: Mutex<Option<Failure>>,
    has_others: AtomicBool,
}

/// Whether something failed for want of what other machines may have: a permission, a disk, a way
/// to the service.
fn is_of_machine(kind: ErrorKind) -> bool {
    use ErrorKind as Kind;
    matches!(
        kind,
        Kind::AccessDenied
            | Kind::Certificate
            | Kind::Config
            | Kind::Credentials
            | Kind::Local
            | Kind::Timeout
            | Kind::Transport
    )
}

/// Whether the code of an error says that the keys of this machine are not accepted.
pub(super) fn refuses_keys(code: &str) -> bool {
    matches!(
        code,
        "InvalidAccessKeyId"
            | "SignatureDoesNotMatch"
            | "InvalidToken"
            | "ExpiredToken"
            | "TokenRefreshRequired"
    )
}

impl ShardFailures {
    pub(super) fn take(&self) -> Vec<s3haul::shard::Failure> {
        std::mem::take(&mut *self.objects.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Whether objects failed only because the keys of this machine are not accepted.
    pub(super) fn has_refused_keys(&self) -> bool {
        self.has_refused_keys.load(Ordering::Relaxed)
    }

    /// Whether all that failed did so because of the machine.
    pub(super) fn are_of_machine(&self) -> bool {
        let is_some = self.of_machine.lock().unwrap_or_else(PoisonError::into_inner).is_some();
        is_some && !self.has_others.load(Ordering::Relaxed)
    }

    /// Why a shard did not come to its end.
    pub(super) fn left(&self) -> Failure {
        let of_machine = || self.of_machine.lock().unwrap_or_else(PoisonError::into_inner).take();
        let fatal = self.fatal.lock().unwrap_or_else(PoisonError::into_inner).take();
        match fatal.or_else(of_machine) {
            Some(fatal) => Failure {
                message: format!("{}; the shard is left to other workers", fatal.message),
                ..fatal
            },
            None => {
                Failure::other("the shard did not come to its end, and is left to other workers")
            }
        }
    }
}

impl ShardFailures {
    fn fail(&self, error: &Error) {
        let mut fatal = self.fatal.lock().unwrap_or_else(PoisonError::into_inner);
        fatal.get_or_insert_with(|| error.duplicate().into());
    }
}

impl EventSink for ShardFailures {
    fn emit(&self, event: &Event) {
        if let Event::Fatal { error } = event {
            self.fail(error);
        }
        let Event::Object(object) = event else { return };
        let Outcome::Failed(error) = &object.outcome else { return };
        if refuses_keys(error.code()) {
            self.fail(error);
            self.has_refused_keys.store(true, Ordering::Relaxed);
        }
        if is_of_machine(error.kind()) {
            let mut first = self.of_machine.lock().unwrap_or_else(PoisonError::into_inner);
            first.get_or_insert_with(|| error.duplicate().into());
        } else {
            self.has_others.store(true, Ordering::Relaxed);
        }
        let mut failures = self.objects.lock().unwrap_or_else(PoisonError::into_inner);
        if failures.len() < FAILURES_MAX {
            failures.push(s3haul::shard::Failure {
                subject: object.source.to_string(),
                action: format!("{:?}", object.action).to_lowercase(),
                error: error.to_string(),
            });
        }
    }
}
