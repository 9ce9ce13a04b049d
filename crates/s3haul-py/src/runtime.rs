//! The runtime of the process: made when it is first needed, and anew after a fork, whose child has
//! none of its threads.

use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use tokio::runtime::{Builder, Runtime};

/// Threads that drive connections at most; as in the command.
const WORKERS_MAX: usize = 16;
/// Threads that may wait, for files and for consumers of rows: two for each listing that is begun
/// and not read.
const BLOCKING_MAX: usize = 4096;

/// A value that belongs to one process: after a fork it is made anew.
pub(crate) struct PerProcess<T>(Mutex<Option<(u32, T)>>);

impl<T: Clone> PerProcess<T> {
    pub(crate) const fn new() -> Self {
        Self(Mutex::new(None))
    }

    /// The value of this process.
    pub(crate) fn get<E>(&self, make: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
        let process = std::process::id();
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, value)) = held.as_ref().filter(|(of, _)| *of == process) {
            return Ok(value.clone());
        }
        let value = make()?;
        // That of the parent has threads that are not here: it cannot be dropped, only left.
        std::mem::forget(held.replace((process, value.clone())));
        Ok(value)
    }
}

static RUNTIME: PerProcess<Arc<Runtime>> = PerProcess::new();

/// The runtime.
pub(crate) fn runtime() -> PyResult<Arc<Runtime>> {
    RUNTIME.get(|| {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let mut builder = Builder::new_multi_thread();
        builder.worker_threads((cores / 2).clamp(1, WORKERS_MAX)).thread_name("s3haul");
        builder.max_blocking_threads(BLOCKING_MAX);
        let runtime = builder.enable_all().build();
        runtime
            .map(Arc::new)
            .map_err(|error| PyOSError::new_err(format!("s3haul cannot start threads: {error}")))
    })
}
