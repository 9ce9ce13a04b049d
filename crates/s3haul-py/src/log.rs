//! Lines for Python's `logging`, from threads that must not wait for Python's lock: a thread of its
//! own hands them over.

use std::sync::mpsc::{SyncSender, sync_channel};

use pyo3::prelude::*;

use crate::runtime::PerProcess;

/// Lines that wait at most; more are dropped.
const LINES_MAX: usize = 10_000;

static LINES: PerProcess<SyncSender<String>> = PerProcess::new();

/// Logs a line. Never waits.
pub(crate) fn line(text: &str) {
    let sender = LINES.get(|| {
        let (sender, lines) = sync_channel::<String>(LINES_MAX);
        let hand_over = move || {
            while let Ok(line) = lines.recv() {
                // At the end of the interpreter there is nobody to hand it to.
                let handed = Python::try_attach(|py| log(py, &line));
                if handed.is_none() {
                    break;
                }
            }
        };
        std::thread::Builder::new().name("s3haul-log".to_owned()).spawn(hand_over).map(|_| sender)
    });
    if let Ok(sender) = sender {
        // A line that finds no room is lost.
        let _ = sender.try_send(text.to_owned());
    }
}

fn log(py: Python<'_>, line: &str) {
    let logged = py.import("s3haul._log").and_then(|module| module.call_method1("line", (line,)));
    if let Err(error) = logged {
        error.write_unraisable(py, None);
    }
}
