//! The keyboard while a command has the whole terminal.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::failure::Failure;
use crate::terminal::{Input, read_inputs};

/// Keys that wait at most.
const QUEUE_MAX: usize = 64;

/// Why the terminal cannot be used.
pub(super) fn no_screen(error: &std::io::Error) -> Failure {
    Failure::other(format!("cannot use the terminal: {error}"))
}

/// What is typed.
pub(super) struct Inputs {
    inputs: mpsc::Receiver<Input>,
    reader: JoinSet<std::io::Result<()>>,
    is_over: Arc<AtomicBool>,
}

impl Inputs {
    /// Begins to read the keyboard.
    pub(super) fn start() -> Self {
        let (sender, inputs) = mpsc::channel(QUEUE_MAX);
        let is_over = Arc::new(AtomicBool::new(false));
        let over = Arc::clone(&is_over);
        let mut reader = JoinSet::new();
        reader.spawn_blocking(move || {
            let send = |input| sender.blocking_send(input).is_ok();
            read_inputs(|| over.load(Ordering::Relaxed), send)
        });
        Self { inputs, reader, is_over }
    }

    /// The next key, or that the terminal has another size.
    pub(super) async fn next(&mut self) -> Result<Input, Failure> {
        if let Some(input) = self.inputs.recv().await {
            return Ok(input);
        }
        let why = match self.reader.join_next().await {
            Some(Ok(Err(error))) => format!(": {error}"),
            _ => String::new(),
        };
        Err(Failure::other(format!("cannot read the terminal{why}")))
    }
}

impl Drop for Inputs {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
    }
}
