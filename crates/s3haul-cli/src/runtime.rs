//! The tokio runtime, built only by commands that need it.

use std::future::Future;
use std::time::Duration;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::failure::Failure;

/// Worker threads at most: beyond this the connections, not the CPUs, are the limit.
const WORKERS_MAX: usize = 16;

/// Open files that are of use.
const OPEN_FILES: u64 = 16_384;

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

/// Lets the process hold as many connections and files as it is allowed to, up to what is of use:
/// the usual soft limit of 1,024 is for programs that use `select`.
fn raise_open_files() {
    let limit = getrlimit(Resource::Nofile);
    let wanted = limit.maximum.map_or(OPEN_FILES, |most| most.min(OPEN_FILES));
    if limit.current.is_some_and(|current| current < wanted) {
        let raised = setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), ..limit });
        tracing::debug!(wanted, ok = raised.is_ok(), "limit of open files");
    }
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

fn run<T>(workers: usize, future: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    raise_open_files();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(workers.clamp(1, WORKERS_MAX))
        .enable_all()
        .build()
        .map_err(|error| Failure::other(format!("cannot start threads: {error}")))?;
    let result = runtime.block_on(future);
    runtime.shutdown_timeout(SHUTDOWN_WAIT);
    result
}
