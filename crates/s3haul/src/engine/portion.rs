//! What one process does of an object whose parts several processes send.
//!
//! One begins the upload, any number send parts of it, one completes it. Only the last may drop it:
//! what the others have sent is of use as long as it is open.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use crate::journal::state::PartsInProgress;

/// What this process does of the object.
#[derive(Debug)]
pub(crate) struct Portion {
    step: PortionStep,
    /// The upload, once it was begun.
    upload: Mutex<Option<PartsInProgress>>,
}

/// One of the steps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PortionStep {
    /// Begins the upload.
    Begin,
    /// Sends the parts of these numbers.
    Send(Range<u32>),
    /// Sends what is missing, and completes the upload.
    End,
}

impl Portion {
    /// A step, of an upload that may be begun.
    pub(crate) fn new(step: PortionStep, upload: Option<PartsInProgress>) -> Self {
        Self { step, upload: Mutex::new(upload) }
    }

    /// Whether it ends the object's transfer.
    pub(crate) fn is_end(&self) -> bool {
        self.step == PortionStep::End
    }

    /// Whether it begins the upload and does nothing else.
    pub(crate) fn is_begin(&self) -> bool {
        self.step == PortionStep::Begin
    }

    /// Whether it sends a part.
    pub(crate) fn sends(&self, part_number: u32) -> bool {
        match &self.step {
            PortionStep::Begin => false,
            PortionStep::Send(numbers) => numbers.contains(&part_number),
            PortionStep::End => true,
        }
    }

    /// The upload, if it was begun.
    pub(crate) fn upload(&self) -> Option<PartsInProgress> {
        self.upload.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The upload was begun, for others to send its parts.
    pub(crate) fn begun(&self, upload: PartsInProgress) {
        if self.is_begin() {
            *self.upload.lock().unwrap_or_else(PoisonError::into_inner) = Some(upload);
        }
    }

    /// The upload has become an object.
    pub(crate) fn completed(&self) {
        *self.upload.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Whether others send parts of an upload, too.
    pub(crate) fn shares(&self, upload_id: &str) -> bool {
        self.upload().is_some_and(|upload| upload.handle == upload_id)
    }
}
