//! A command that runs while Python does something else.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use s3haul::job::Summary;
use s3haul_cli::embed::{Ended, Failure};
use tokio_util::sync::CancellationToken;

use crate::detached::detached;
use crate::failure::exception;
use crate::log;
use crate::rows::Batch;
use crate::table::{Table as _, failures};
use crate::watcher::{Counts, Watcher};

/// Where the end of a command is waited for.
#[derive(Default)]
pub(crate) struct End {
    ended: Mutex<Option<Result<Ended, Failure>>>,
    is_ended: Condvar,
}

impl End {
    /// The command has ended.
    pub(crate) fn set(&self, ended: Result<Ended, Failure>) {
        *self.ended.lock().unwrap_or_else(PoisonError::into_inner) = Some(ended);
        self.is_ended.notify_all();
    }

    /// Waits for the end, at most until then.
    fn wait(&self, until: Instant) -> bool {
        let mut ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        while ended.is_none() {
            let Some(left) = until.checked_duration_since(Instant::now()) else { return false };
            let waited = self.is_ended.wait_timeout(ended, left);
            ended = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }
}

/// A command that runs. Dropping it cancels the command.
#[pyclass(frozen, module = "s3haul._s3haul")]
pub(crate) struct Running {
    pub(crate) watcher: Arc<Watcher>,
    pub(crate) cancel: CancellationToken,
    pub(crate) end: Arc<End>,
    pub(crate) process: u32,
}

/// Counters of a transfer that has ended.
#[derive(IntoPyObject)]
struct Counted {
    done: u64,
    failed: u64,
    skipped: u64,
    not_tried: u64,
    warnings: u64,
    bytes: u64,
    is_fatal: bool,
    is_cancelled: bool,
    requests_write: u64,
    requests_read: u64,
    requests_delete: u64,
}

impl From<Summary> for Counted {
    fn from(summary: Summary) -> Self {
        let (sent, planned) = (summary.requests_sent, summary.requests_planned);
        Self {
            done: summary.done,
            failed: summary.failed,
            skipped: summary.skipped,
            not_tried: summary.not_tried,
            warnings: summary.warnings,
            bytes: summary.bytes,
            is_fatal: summary.fatal,
            is_cancelled: summary.cancelled,
            requests_write: sent.write + planned.write,
            requests_read: sent.read + planned.read,
            requests_delete: sent.delete + planned.delete,
        }
    }
}

/// Exit code, output, and the counters of a transfer.
type Answer<'py> = (u8, Bound<'py, PyBytes>, Option<Counted>);

#[pymethods]
impl Running {
    /// Waits so many seconds for the end: `None` if it has not come, else the exit code, the output
    /// (the first time) and the counters of a transfer.
    fn wait<'py>(&self, py: Python<'py>, seconds: f64) -> PyResult<Option<Answer<'py>>> {
        if self.process != std::process::id() {
            let message = "this job runs in the process that this one was forked from";
            return Err(PyValueError::new_err(message));
        }
        let patience = Duration::try_from_secs_f64(seconds)
            .map_err(|error| PyValueError::new_err(error.to_string()))?;
        let until = Instant::now() + patience;
        let wait = || {
            let is_ended = self.end.wait(until);
            if is_ended {
                log::flush();
            }
            is_ended
        };
        if !detached(py, wait) {
            return Ok(None);
        }
        let mut ended = self.end.ended.lock().unwrap_or_else(PoisonError::into_inner);
        match ended.as_mut() {
            None => Ok(None),
            Some(Err(failure)) => Err(exception(py, failure)),
            Some(Ok(ended)) => {
                let output = PyBytes::new(py, &std::mem::take(&mut ended.output));
                Ok(Some((ended.status, output, ended.summary.map(Counted::from))))
            }
        }
    }

    /// Ends the command early; what it is at comes to its end.
    fn cancel(&self) {
        self.cancel.cancel();
    }

    /// The counters as they are now.
    fn counts(&self) -> Counts {
        self.watcher.counts()
    }

    /// The failures of single objects so far, as a batch; 100,000 at most.
    fn failures(&self, py: Python<'_>) -> PyResult<Batch> {
        let batch = detached(py, || self.watcher.failures().into_batch(&failures()));
        batch.map(Batch).map_err(|error| exception(py, &crate::failure::internal(error)))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.cancel.cancel();
    }
}
