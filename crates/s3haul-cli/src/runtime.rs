//! The tokio runtime, built only by commands that need it.

use std::future::Future;
use std::time::Duration;

use crate::failure::Failure;
use crate::{memory, open_files};

/// Worker threads at most: beyond this the connections, not the CPUs, are the limit.
const WORKERS_MAX: usize = 16;

/// How long threads that are still blocked at the end, for instance on standard input, are waited
/// for.
const SHUTDOWN_WAIT: Duration = Duration::from_millis(100);

/// Runs a client's future on a runtime of its own. Files are read, hashed and written on blocking
/// threads beside those that drive connections, so half the cores is enough for the wire; with
/// more, each finds less to do whenever it wakes (measured on two cores: one thread instead of two
/// saves 4 of 54 µs a file of 32 KiB).
pub(crate) fn block_on<T>(future: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    run(cores() / 2, future)
}

/// Runs a server's future, which does all its work on the runtime's threads.
pub(crate) fn serve_on<T>(future: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    run(cores(), future)
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

fn run<T>(workers: usize, future: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    open_files::raise();
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder.max_blocking_threads(memory::blocking_threads());
    let runtime = builder
        .worker_threads(workers.clamp(1, WORKERS_MAX))
        .enable_all()
        .build()
        .map_err(|error| Failure::other(format!("cannot start threads: {error}")))?;
    let result = runtime.block_on(future);
    runtime.shutdown_timeout(SHUTDOWN_WAIT);
    // A question may be open on a thread that was not waited for.
    #[cfg(unix)]
    crate::terminal::restore();
    result
}
