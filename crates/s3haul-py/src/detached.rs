//! Work without Python's lock, and the end of the interpreter.
//!
//! Before Python 3.14, a daemon thread that takes the lock while the interpreter ends is ended by
//! `pthread_exit`. That unwinds through Rust frames, which kills the process. So a thread that
//! comes back from work by then sleeps instead of taking the lock: the process is about to exit.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use pyo3::prelude::*;
use pyo3::types::PyCFunction;

/// How long a thread sleeps. An exit handler may wait for the thread, so it goes on afterwards.
const PATIENCE: Duration = Duration::from_secs(1);
/// How long the exit handler waits for threads that are taking the lock.
const GRACE: Duration = Duration::from_millis(100);

static IS_ENDING: AtomicBool = AtomicBool::new(false);
/// The thread that ends the interpreter. It goes on: other exit handlers may call this package.
static ENDING: OnceLock<ThreadId> = OnceLock::new();
/// Threads that are taking the lock again.
static RETURNING: AtomicUsize = AtomicUsize::new(0);

/// Does work without the lock.
pub(crate) fn detached<T, F>(py: Python<'_>, work: F) -> T
where
    F: Send + FnOnce() -> T,
    T: Send,
{
    let done = py.detach(|| {
        let done = work();
        RETURNING.fetch_add(1, Ordering::SeqCst);
        let is_ending = IS_ENDING.load(Ordering::SeqCst);
        if is_ending && ENDING.get() != Some(&thread::current().id()) {
            RETURNING.fetch_sub(1, Ordering::SeqCst);
            thread::sleep(PATIENCE);
            RETURNING.fetch_add(1, Ordering::SeqCst);
        }
        done
    });
    RETURNING.fetch_sub(1, Ordering::SeqCst);
    done
}

/// Registers the exit handler. Python runs it when all threads but daemons have ended.
pub(crate) fn notice_end(py: Python<'_>) -> PyResult<()> {
    let note = PyCFunction::new_closure(py, None, None, |arguments, _| {
        _ = ENDING.set(thread::current().id());
        IS_ENDING.store(true, Ordering::SeqCst);
        let until = Instant::now() + GRACE;
        arguments.py().detach(|| {
            while RETURNING.load(Ordering::SeqCst) > 0 && Instant::now() < until {
                thread::sleep(Duration::from_millis(1));
            }
        });
    })?;
    py.import("atexit")?.call_method1("register", (note,))?;
    Ok(())
}
