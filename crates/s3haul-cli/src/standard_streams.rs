//! Standard input and output that may be closed (`s3haul pipe s3://b/k <&-`, `s3haul ls >&-`).
//!
//! The runtime of Rust opens `/dev/null` in the place of a standard stream that is closed, before
//! `main` runs: reads then end at once, and writes succeed and go nowhere. So the file descriptors
//! are looked at before that, by a constructor of the program.

use std::io::{self, Read};

/// The error that writes to standard output would have, had the runtime opened nothing there.
pub(crate) fn output_error() -> Option<io::Error> {
    #[cfg(unix)]
    if state::is_output_closed() {
        return Some(rustix::io::Errno::BADF.into());
    }
    None
}

/// Standard input; where it is closed, reading it fails in the words of the AWS CLI.
pub(crate) fn input() -> Box<dyn Read + Send> {
    #[cfg(unix)]
    if state::is_input_closed() {
        return Box::new(ClosedInput);
    }
    Box::new(io::stdin())
}

struct ClosedInput;

impl Read for ClosedInput {
    fn read(&mut self, _buffer: &mut [u8]) -> io::Result<usize> {
        Err(io::Error::other("stdin is required for this operation, but is not available."))
    }
}

#[cfg(unix)]
mod state {
    use std::sync::atomic::{AtomicBool, Ordering};

    static IS_INPUT_CLOSED: AtomicBool = AtomicBool::new(false);
    static IS_OUTPUT_CLOSED: AtomicBool = AtomicBool::new(false);

    // Sound before `main`: system calls and stores, nothing of the standard library that needs its
    // runtime.
    ctor::declarative::ctor! {
        #[ctor(unsafe)]
        fn look() {
            let input = rustix::io::fcntl_getfd(rustix::stdio::stdin());
            IS_INPUT_CLOSED.store(input.is_err(), Ordering::Relaxed);
            let output = rustix::io::fcntl_getfd(rustix::stdio::stdout());
            IS_OUTPUT_CLOSED.store(output.is_err(), Ordering::Relaxed);
        }
    }

    pub(super) fn is_input_closed() -> bool {
        IS_INPUT_CLOSED.load(Ordering::Relaxed)
    }

    pub(super) fn is_output_closed() -> bool {
        IS_OUTPUT_CLOSED.load(Ordering::Relaxed)
    }
}
