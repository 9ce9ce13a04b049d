//! Exports metrics while a command runs.
//!
//! A thread takes samples and writes the file; a task answers scrapes. Both end with the command:
//! neither is waited for longer than one write of the file takes.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime};

use tokio::net::TcpListener;
use tokio::task::JoinSet;

use super::families::{Run, RunEnd, text};
use super::listen;
use crate::failure::Failure;
use crate::observe::Observer;
use crate::printer::Printer;
use crate::settings::MetricsSettings;
use crate::table::unfinished_file;

/// Time between samples.
const TICK: Duration = Duration::from_millis(100);
/// Samples between two writes of the file.
const WRITE_EVERY: u32 = 50;

/// The metrics of a command that runs.
pub(crate) struct Export {
    exported: Arc<Exported>,
    /// Answers scrapes.
    server: JoinSet<()>,
    stop: Option<SyncSender<()>>,
    thread: Option<JoinHandle<()>>,
}

struct Exported {
    observer: Arc<Observer>,
    run: Run,
    file: Option<PathBuf>,
}

impl Exported {
    /// Writes the file beside itself and puts it into its place, so that a reader sees all of it.
    fn write(&self, path: &Path, end: Option<RunEnd>) -> io::Result<()> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let mut file = unfinished_file(folder.unwrap_or(Path::new(".")), ".s3haul-metrics-")?;
        file.write_all(&text(&self.observer, &self.run, end))?;
        file.persist(path).map_err(|error| error.error)?;
        Ok(())
    }
}

impl Export {
    /// Starts, where metrics are asked for. Fails if the address cannot be listened on, or the file
    /// not be written.
    pub(crate) async fn start(
        settings: MetricsSettings,
        printer: &Printer,
    ) -> Result<Option<Self>, Failure> {
        if settings.is_empty() {
            return Ok(None);
        }
        let MetricsSettings { listen, file, labels, command } = settings;
        let run = Run { command, labels, started: SystemTime::now() };
        let exported = Arc::new(Exported { observer: Observer::begin(), run, file });
        if let Some(path) = &exported.file {
            exported.write(path, None).map_err(|error| unwritable(path, &error))?;
        }
        let mut server = JoinSet::new();
        if let Some(address) = listen {
            server.spawn(serve(&address, &exported, printer).await?);
        }
        let (stop, stopped) = sync_channel::<()>(1);
        let sampled = Arc::clone(&exported);
        let run = move || {
            let mut ticks = 0;
            while stopped.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                sampled.observer.sample();
                ticks += 1;
                if let Some(path) = sampled.file.as_deref().filter(|_| ticks % WRITE_EVERY == 0) {
                    // It is tried again, and the last time its failure is reported.
                    _ = sampled.write(path, None);
                }
            }
        };
        let thread = std::thread::Builder::new().name("metrics".to_owned()).spawn(run);
        let thread =
            thread.map_err(|error| Failure::other(format!("cannot start a thread: {error}")))?;
        Ok(Some(Self { exported, server, stop: Some(stop), thread: Some(thread) }))
    }

    /// Ends, and writes the file a last time.
    pub(crate) fn finish(mut self, status: u8, printer: &Printer) {
        self.server.abort_all();
        self.join();
        let Some(path) = &self.exported.file else { return };
        self.exported.observer.sample();
        let end = RunEnd { at: SystemTime::now(), status };
        if let Err(error) = self.exported.write(path, Some(end)) {
            let message = format!("warning: {}\n", unwritable(path, &error).message);
            printer.error(|buffer| buffer.extend_from_slice(message.as_bytes()));
        }
    }

    fn join(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            // A panic of the thread has printed itself.
            _ = thread.join();
        }
    }
}

impl Drop for Export {
    fn drop(&mut self) {
        self.join();
    }
}

/// Listens, and gives what answers.
async fn serve(
    address: &str,
    exported: &Arc<Exported>,
    printer: &Printer,
) -> Result<impl Future<Output = ()> + Send + use<>, Failure> {
    let refused = |error: io::Error| {
        Failure::other(format!("cannot listen on `{address}` for --metrics-listen: {error}"))
    };
    let listener = TcpListener::bind(address).await.map_err(refused)?;
    let address = listener.local_addr().map_err(refused)?;
    printer.error(|buffer| {
        buffer.extend_from_slice(
            format!("note: metrics are at http://{address}/metrics\n").as_bytes(),
        );
    });
    printer.flush();
    let exported = Arc::clone(exported);
    let render = move || {
        exported.observer.sample();
        text(&exported.observer, &exported.run, None)
    };
    Ok(listen::serve(listener, Arc::new(render)))
}

fn unwritable(path: &Path, error: &io::Error) -> Failure {
    Failure::other(format!("cannot write the metrics to `{}`: {error}", path.display()))
}
