//! What fails while a shard runs.

use std::sync::{Mutex, PoisonError};

use s3haul::event::{Event, EventSink, Outcome};

use crate::failure::Failure;

/// Failures that a commit holds.
const FAILURES_MAX: usize = 100;

/// Collects what fails.
#[derive(Debug, Default)]
pub(super) struct Failures {
    objects: Mutex<Vec<s3haul::shard::Failure>>,
    fatal: Mutex<Option<Failure>>,
}

impl Failures {
    pub(super) fn take(&self) -> Vec<s3haul::shard::Failure> {
        std::mem::take(&mut *self.objects.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Why a shard did not come to its end.
    pub(super) fn left(&self) -> Failure {
        match self.fatal.lock().unwrap_or_else(PoisonError::into_inner).take() {
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

impl EventSink for Failures {
    fn emit(&self, event: &Event) {
        if let Event::Fatal { error } = event {
            let mut fatal = self.fatal.lock().unwrap_or_else(PoisonError::into_inner);
            fatal.get_or_insert_with(|| error.duplicate().into());
        }
        let Event::Object(object) = event else { return };
        let Outcome::Failed(error) = &object.outcome else { return };
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
