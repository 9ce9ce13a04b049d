//! Work without Python's lock, and the end of the interpreter.
//!
//! A daemon thread that takes the lock again while the interpreter ends is ended by it (before
//! Python 3.14 by `pthread_exit`), through frames of ours, which end the process with a signal. So
//! those that come back from work by then wait: the process is about to go.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use pyo3::prelude::*;
use pyo3::types::PyCFunction;

/// How long a thread waits for the end. What runs at exit may wait for it, so it goes on then.
const PATIENCE: Duration = Duration::from_secs(1);
/// How long the end waits for those that take the lock.
const GRACE: Duration = Duration::from_millis(100);

static IS_ENDING: AtomicBool = AtomicBool::new(false);
/// The thread that ends the interpreter; other work at exit may call us in it.
static ENDING: OnceLock<ThreadId> = OnceLock::new();
/// Threads that have begun to take the lock again.
static RETURNING: AtomicUsize = AtomicUsize::new(0);

/// Does work that waits or takes long without the lock.
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

/// Has the end of the interpreter noticed. Other threads than daemons have ended by then.
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
