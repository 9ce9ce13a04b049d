//! Work without Python's lock, and the end of the interpreter.
//!
//! A daemon thread that takes the lock again while the interpreter ends is ended by it (before
//! Python 3.14 by `pthread_exit`), through frames of ours, which end the process with a signal. So
//! those that come back from work by then stay where they are: the process is about to go.

use std::sync::OnceLock;
use std::thread::{self, ThreadId};

use pyo3::prelude::*;
use pyo3::types::PyCFunction;

/// The thread that ends the interpreter. It may call us still, in what else runs at exit.
static ENDING: OnceLock<ThreadId> = OnceLock::new();

/// Does work that waits or takes long without the lock.
pub(crate) fn detached<T, F>(py: Python<'_>, work: F) -> T
where
    F: Send + FnOnce() -> T,
    T: Send,
{
    py.detach(|| {
        let done = work();
        while ENDING.get().is_some_and(|ending| *ending != thread::current().id()) {
            thread::park();
        }
        done
    })
}

/// Has the end of the interpreter noticed. Other threads than daemons have ended by then.
pub(crate) fn notice_end(py: Python<'_>) -> PyResult<()> {
    let note = PyCFunction::new_closure(py, None, None, |_, _| {
        _ = ENDING.set(thread::current().id());
    })?;
    py.import("atexit")?.call_method1("register", (note,))?;
    Ok(())
}
