//! Lines for Python's `logging`, from threads that must not wait for Python's lock: a thread of its
//! own hands them over.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::time::Duration;

use pyo3::prelude::*;

use crate::runtime::PerProcess;

/// Lines that wait at most; more are dropped.
const LINES_MAX: usize = 10_000;
/// Longest wait for lines to be handed over at the end of a call.
const FLUSH_MAX: Duration = Duration::from_secs(1);

static LINES: PerProcess<SyncSender<Item>> = PerProcess::new();
/// There may be lines that are not handed over.
static HAS_LINES: AtomicBool = AtomicBool::new(false);

enum Item {
    Line(String),
    /// All lines before this one are handed over.
    Mark(SyncSender<()>),
}

/// Logs a line. Never waits.
pub(crate) fn line(text: &str) {
    if let Ok(sender) = sender() {
        HAS_LINES.store(true, Ordering::Relaxed);
        // A line that finds no room is lost.
        let _ = sender.try_send(Item::Line(text.to_owned()));
    }
}

/// Waits until the lines so far are handed over, though not for long. Not to be called with
/// Python's lock.
pub(crate) fn flush() {
    if !HAS_LINES.swap(false, Ordering::Relaxed) {
        return;
    }
    let (mark, is_reached) = sync_channel(1);
    if sender().is_ok_and(|sender| sender.try_send(Item::Mark(mark)).is_ok()) {
        // Lines that take longer come later.
        let _ = is_reached.recv_timeout(FLUSH_MAX);
    }
}

fn sender() -> std::io::Result<SyncSender<Item>> {
    LINES.get(|| {
        let (sender, items) = sync_channel::<Item>(LINES_MAX);
        let hand_over = move || {
            while let Ok(item) = items.recv() {
                match item {
                    // At the end of the interpreter there is nothing to hand it to.
                    Item::Line(line) if Python::try_attach(|py| log(py, &line)).is_none() => break,
                    Item::Line(_) => {}
                    // A caller that has waited too long is gone.
                    Item::Mark(mark) => _ = mark.try_send(()),
                }
            }
        };
        std::thread::Builder::new().name("s3haul-log".to_owned()).spawn(hand_over).map(|_| sender)
    })
}

fn log(py: Python<'_>, line: &str) {
    let logged = py.import("s3haul._log").and_then(|module| module.call_method1("line", (line,)));
    if let Err(error) = logged {
        error.write_unraisable(py, None);
    }
}
