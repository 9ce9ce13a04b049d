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
    /// Why the shard may have to be left: what ended it, else what failed first for want of what
    /// other machines may have.
    cause: Mutex<Option<Failure>>,
    has_refused_keys: AtomicBool,
    /// Something failed for another reason.
    has_others: AtomicBool,
}

/// Whether something may have failed for want of what other machines have: a permission, room on a
/// disk, a way to the service.
fn may_be_of_machine(error: &Error) -> bool {
    use ErrorKind as Kind;
    is_denied(error.kind(), error.code())
        || matches!(
            error.kind(),
            Kind::Certificate
                | Kind::Config
                | Kind::Credentials
                | Kind::Local
                | Kind::Timeout
                | Kind::Transport
        )
}

/// Whether a permission is missing. An object in an archive is refused with the same status.
pub(super) fn is_denied(kind: ErrorKind, code: &str) -> bool {
    kind == ErrorKind::AccessDenied && code != "InvalidObjectState"
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

    /// Whether all that failed did so for want of what other machines may have.
    pub(super) fn may_differ_elsewhere(&self) -> bool {
        let is_some = self.cause.lock().unwrap_or_else(PoisonError::into_inner).is_some();
        is_some && !self.has_others.load(Ordering::Relaxed)
    }

    /// Why a shard did not come to its end.
    pub(super) fn left(&self) -> Failure {
        match self.cause.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(cause) => Failure {
                message: format!("{}; the shard is left to other workers", cause.message),
                ..cause
            },
            None => {
                Failure::other("the shard did not come to its end, and is left to other workers")
            }
        }
    }
}

impl EventSink for ShardFailures {
    fn emit(&self, event: &Event) {
        let cause = || self.cause.lock().unwrap_or_else(PoisonError::into_inner);
        if let Event::Fatal { error } = event {
            *cause() = Some(error.duplicate().into());
        }
        let Event::Object(object) = event else { return };
        let Outcome::Failed(error) = &object.outcome else { return };
        let refuses_keys = refuses_keys(error.code());
        if refuses_keys {
            self.has_refused_keys.store(true, Ordering::Relaxed);
        }
        if refuses_keys || may_be_of_machine(error) {
            cause().get_or_insert_with(|| error.duplicate().into());
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_in_an_archive_lacks_no_permission() {
        assert!(is_denied(ErrorKind::AccessDenied, "AccessDenied"));
        assert!(!is_denied(ErrorKind::AccessDenied, "InvalidObjectState"));
    }
}
