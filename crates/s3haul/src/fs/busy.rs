//! Number of threads that are reading or writing the contents of files.
//!
//! A gauge for whether a job waits for a disk. Nothing is counted before the first question; from
//! then on it costs two atomic additions for each call that reads or writes a file or a part of
//! one. Names and attributes do not count.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

static BUSY: OnceLock<AtomicUsize> = OnceLock::new();

/// Threads that read or write the contents of a file right now, of calls that began after the first
/// call of this function.
pub fn busy_threads() -> usize {
    BUSY.get_or_init(AtomicUsize::default).load(Ordering::Relaxed)
}

/// Counts the calling thread for as long as it is held.
#[derive(Debug)]
pub(in crate::fs) struct Busy(Option<&'static AtomicUsize>);

impl Busy {
    pub(in crate::fs) fn begin() -> Self {
        let busy = BUSY.get();
        if let Some(busy) = busy {
            busy.fetch_add(1, Ordering::Relaxed);
        }
        Self(busy)
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        if let Some(busy) = self.0 {
            busy.fetch_sub(1, Ordering::Relaxed);
        }
    }
}
