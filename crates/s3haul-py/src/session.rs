//! Commands with flags, credentials and connections in common.

use std::collections::HashMap;
use std::ffi::OsString;
use std::io::{Cursor, Read, Write};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyDict};
use s3haul::job::Streams;
use s3haul_cli::embed::{self, Call, Ended, Failure, Line};
use s3haul_wire::{CredentialsConfig, CredentialsFunction};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::detached::detached;
use crate::failure::{caught, exception, internal};
use crate::log;
use crate::rows::{Rows, Rowsender};
use crate::running::{End, Running};
use crate::runtime::{PerProcess, runtime};
use crate::table::{comparison, listing};
use crate::watcher::{Watcher, sink};

/// Transfers that run at a time, over all sessions: each has a thread, and needs others. As many
/// reads, writes of single objects and queries run beside them, which may not wait for long ones.
const COMMANDS_MAX: usize = 64;

static TRANSFER_TURNS: PerProcess<Arc<Semaphore>> = PerProcess::new();
static QUERY_TURNS: PerProcess<Arc<Semaphore>> = PerProcess::new();

/// Flags, credentials and connections of several commands.
#[pyclass(frozen, module = "s3haul._s3haul")]
pub(crate) struct Session {
    shared: Arc<Shared>,
}

/// What makes a session, in this process or in one that is forked from it.
struct Shared {
    flags: Vec<OsString>,
    credentials: Option<CredentialsConfig>,
    session: PerProcess<Arc<embed::Session>>,
}

impl Shared {
    fn get(&self) -> Result<Arc<embed::Session>, Failure> {
        self.session.get(|| {
            let (flags, credentials) = (self.flags.clone(), self.credentials.clone());
            embed::Session::new(flags, credentials, Arc::new(log::line)).map(Arc::new)
        })
    }
}

/// A source of credentials: a function that returns the JSON of a `credential_process`.
fn function(callable: Py<PyAny>) -> CredentialsConfig {
    let call = move || {
        let called = Python::try_attach(|py| {
            let json: PyBackedBytes = callable.call0(py)?.extract(py)?;
            PyResult::Ok(json.to_vec())
        });
        let called = called.ok_or_else(|| "the interpreter has ended".to_owned())?;
        called.map_err(|error| error.to_string())
    };
    CredentialsConfig::Function(CredentialsFunction::new(call))
}

#[pymethods]
impl Session {
    /// `flags` are words of the command line for all commands; `credentials` returns the JSON of a
    /// `credential_process` as bytes.
    #[new]
    #[pyo3(signature = (flags, credentials=None))]
    fn new(py: Python<'_>, flags: Vec<OsString>, credentials: Option<Py<PyAny>>) -> PyResult<Self> {
        let credentials = credentials.map(function);
        let shared = Arc::new(Shared { flags, credentials, session: PerProcess::new() });
        shared.get().map_err(|failure| exception(py, &failure))?;
        Ok(Self { shared })
    }

    /// The job that a command is, as JSON.
    fn job(&self, py: Python<'_>, words: Vec<OsString>) -> PyResult<String> {
        let line = line(py, words)?;
        let job = detached(py, || self.shared.get()?.job(&line));
        job.map_err(|failure| exception(py, &failure))
    }

    /// Starts a command; `data` is its standard input.
    #[pyo3(signature = (words, data=None))]
    fn start(
        &self,
        py: Python<'_>,
        words: Vec<OsString>,
        data: Option<PyBackedBytes>,
    ) -> PyResult<Running> {
        let line = line(py, words)?;
        let input = data.map(|data| Box::new(Cursor::new(data)) as Box<dyn Read + Send>);
        let is_transfer = input.is_none() && may_run_for_long(&line.words);
        self.spawn(py, is_transfer, input, move |session, call| {
            Box::pin(async move { session.run(&line, call).await })
        })
    }

    /// Starts a job that is JSON; `journal` are flags of its journal.
    fn start_job(&self, py: Python<'_>, json: String, journal: Vec<OsString>) -> PyResult<Running> {
        let journal = line(py, journal)?;
        self.spawn(py, true, None, move |session, call| {
            Box::pin(async move { session.run_job(&json, journal, call).await })
        })
    }

    /// What `list`, `versions` or `find` with these words lists.
    fn rows(&self, py: Python<'_>, words: Vec<OsString>, has_versions: bool) -> PyResult<Rows> {
        let line = line(py, words)?;
        detached(py, || self.shared.get()?.refuse_nonsense(&line))
            .map_err(|failure| exception(py, &failure))?;
        let (shared, line) = (Arc::clone(&self.shared), Arc::new(line));
        let start = move |rows: Rowsender| {
            let (session, line) = (shared.get(), Arc::clone(&line));
            runtime()?.spawn(async move {
                let taken = rows.clone();
                let take = Arc::new(move |columns| taken.send(columns));
                let list = async { session?.list(&line, take).await };
                // A consumer that goes away while nothing is found is seen here.
                let listed = tokio::select! {
                    listed = caught(list) => listed,
                    () = rows.closed() => return,
                };
                match listed {
                    Ok(0) => rows.end().await,
                    Ok(count) => rows.fail(not_looked_at(count)).await,
                    Err(failure) => rows.fail(failure).await,
                }
            });
            Ok(())
        };
        Ok(Rows::new(listing(has_versions), Arc::new(start)))
    }

    /// What `compare` or `verify` with these words finds.
    fn compared(&self, py: Python<'_>, words: Vec<OsString>) -> PyResult<Rows> {
        let line = line(py, words)?;
        detached(py, || self.shared.get()?.refuse_nonsense(&line))
            .map_err(|failure| exception(py, &failure))?;
        let (shared, line) = (Arc::clone(&self.shared), Arc::new(line));
        let start = move |rows: Rowsender| {
            let (session, line) = (shared.get(), Arc::clone(&line));
            let runtime = runtime()?;
            let compare = async move {
                let (taken, cancel) = (rows.clone(), CancellationToken::new());
                let take = Arc::new(move |columns| taken.send(columns));
                let _cancelled = cancel.clone().drop_guard();
                let compare = async { Box::pin(session?.compare(&line, take, cancel)).await };
                let compared = tokio::select! {
                    compared = caught(compare) => compared,
                    () = rows.closed() => return,
                };
                match compared {
                    Ok(_) => rows.end().await,
                    Err(failure) => rows.fail(failure).await,
                }
            };
            // It waits for its consumer, which no thread of the runtime may do.
            let name = "s3haul-compare".to_owned();
            std::thread::Builder::new().name(name).spawn(move || runtime.block_on(compare))?;
            Ok(())
        };
        Ok(Rows::new(comparison(), Arc::new(start)))
    }
}

/// A command line with the environment as it is now.
pub(crate) fn line(py: Python<'_>, words: Vec<OsString>) -> PyResult<Line> {
    Ok(Line { words, variables: variables(py)? })
}

/// The environment variables that are Unicode, as Python has them. The process's own must not be
/// read without Python's lock: Python changes them with it.
fn variables(py: Python<'_>) -> PyResult<HashMap<String, String>> {
    let copied = py.import("os")?.getattr("environ")?.call_method0("copy")?;
    let copied = copied.cast::<PyDict>()?;
    let pair = |(name, value): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
        Some((name.extract().ok()?, value.extract().ok()?))
    };
    Ok(copied.iter().filter_map(pair).collect())
}

/// Whether a command may run for long.
fn may_run_for_long(words: &[OsString]) -> bool {
    let word = |at: usize| words.get(at).and_then(|word| word.to_str()).unwrap_or_default();
    match (word(0), word(1)) {
        ("jobs", then) => then == "resume",
        ("tag", then) => then != "get",
        (
            "apply" | "cp" | "job" | "mv" | "plan" | "rb" | "restore" | "rm" | "run" | "set"
            | "sync" | "undelete" | "verify",
            _,
        ) => true,
        _ => false,
    }
}

/// Whether this is called by a function for credentials.
fn is_for_credentials(py: Python<'_>) -> PyResult<bool> {
    py.import("s3haul._credentials")?.getattr("is_fetching")?.call0()?.extract()
}

/// What ends the rows of a search that could not look at everything.
fn not_looked_at(count: u64) -> Failure {
    Failure {
        status: s3haul_cli::exit::FAILED,
        message: format!("{count} objects could not be looked at; the log says which and why"),
        hint: None,
        cause: None,
    }
}

type Work = std::pin::Pin<Box<dyn Future<Output = Result<Ended, Failure>>>>;

impl Session {
    /// The session of this process.
    pub(crate) fn get(&self) -> Result<Arc<embed::Session>, Failure> {
        self.shared.get()
    }

    fn spawn(
        &self,
        py: Python<'_>,
        is_transfer: bool,
        input: Option<Box<dyn Read + Send>>,
        work: impl FnOnce(Arc<embed::Session>, Call) -> Work + Send + 'static,
    ) -> PyResult<Running> {
        let session = self.shared.get();
        let (watcher, end) = (Arc::new(Watcher::default()), Arc::new(End::default()));
        let cancel = CancellationToken::new();
        let output = input.is_some().then(Written::default);
        let streams = input
            .map(|input| Streams { input, output: Box::new(output.clone().unwrap_or_default()) });
        let call = Call { observer: Some(sink(&watcher)), streams, cancel: cancel.clone() };
        let runtime = runtime()?;
        let (handle, ending) = (runtime.handle().clone(), Arc::clone(&end));
        let watched = Arc::clone(&watcher);
        let run = move || {
            let mut ended = session.and_then(|session| handle.block_on(work(session, call)))?;
            if let Some(failure) = watched.take_fatal() {
                return Err(failure);
            }
            if let Some(written) = output.map(|output| output.take()) {
                if ended.output.is_empty() {
                    // A large object is not copied.
                    ended.output = written;
                } else {
                    ended.output.extend_from_slice(&written);
                }
            }
            Ok(ended)
        };
        let cancelled = cancel.clone();
        let turns = if is_transfer { &TRANSFER_TURNS } else { &QUERY_TURNS };
        let turns = turns.get(|| PyResult::Ok(Arc::new(Semaphore::new(COMMANDS_MAX))))?;
        // Commands that have their turn may wait for this one.
        let is_at_once = is_for_credentials(py)?;
        runtime.spawn(async move {
            // One that waits for its turn is cancelled like one that runs.
            let _turn = tokio::select! {
                turn = turns.acquire(), if !is_at_once => turn.ok(),
                () = cancelled.cancelled(), if !is_at_once => None,
                else => None,
            };
            let ended = tokio::task::spawn_blocking(run).await;
            ending.set(ended.unwrap_or_else(|error| Err(internal(error))));
        });
        Ok(Running { watcher, cancel, end, process: std::process::id() })
    }
}

/// Standard output of a transfer.
#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl Written {
    fn take(&self) -> Vec<u8> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Python's bytes, without a copy.
pub(crate) fn shared_bytes(bytes: PyBackedBytes) -> Bytes {
    Bytes::from_owner(bytes)
}

/// Pieces as one Python object.
pub(crate) fn joined<'py>(py: Python<'py>, pieces: &[Bytes]) -> PyResult<Bound<'py, PyBytes>> {
    if let [piece] = pieces {
        return Ok(PyBytes::new(py, piece));
    }
    PyBytes::new_with(py, pieces.iter().map(Bytes::len).sum(), |mut room| {
        for piece in pieces {
            let (here, rest) = room.split_at_mut(piece.len());
            here.copy_from_slice(piece);
            room = rest;
        }
        Ok(())
    })
}
