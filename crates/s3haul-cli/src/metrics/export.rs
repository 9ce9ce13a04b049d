//! Exports metrics while a command runs.
//!
//! A thread takes samples and writes the file, another sends to a collector; a task answers
//! scrapes. All end with the command: none is waited for longer than one write or push takes.
//! The file has the end of a command that never began, too, so that it is not taken for the success
//! before it. It replaces nothing but metrics.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime};

use tokio::task::JoinSet;

use super::families::{Run, RunEnd, text};
use super::listen;
use super::push::Push;
use crate::exit;
use crate::failure::Failure;
use crate::observe::Observer;
use crate::printer::Printer;
use crate::settings::{CollectorSettings, MetricsFile, MetricsSettings};
use crate::table::unfinished_file;

/// Time between samples.
const TICK: Duration = Duration::from_millis(100);
/// Samples between two writes of the file.
const WRITE_EVERY: u32 = 50;

/// How the text of metrics begins.
const BEGINNING: &[u8] = b"# HELP s3haul_";

/// The metrics of a command.
pub(crate) struct Export {
    exported: Arc<Exported>,
    /// What scrapes arrive at, until the command runs.
    listener: Option<TcpListener>,
    /// Answers scrapes.
    server: JoinSet<()>,
    /// What is sent to, until the command runs.
    collector: Option<CollectorSettings>,
    /// Sends to it.
    push: Option<Push>,
    stop: Option<SyncSender<()>>,
    thread: Option<JoinHandle<()>>,
}

struct Exported {
    observer: Arc<Observer>,
    run: Arc<Run>,
    file: Option<MetricsFile>,
}

impl Exported {
    /// Writes the file beside itself and puts it into its place, so that a reader sees all of it.
    fn write(&self, file: &MetricsFile, end: Option<RunEnd>) -> Result<(), Failure> {
        let place = &file.place;
        let write = || {
            let folder = place.parent().filter(|folder| !folder.as_os_str().is_empty());
            let folder = folder.unwrap_or(Path::new("."));
            let mut unfinished = unfinished_file(folder, ".s3haul-metrics-")?;
            // The errors of the file itself do not have its temporary name.
            unfinished.as_file_mut().write_all(&text(&self.observer, &self.run, end))?;
            // The command itself may have put a file there.
            if !may_be_replaced(place)? {
                return Err(io::Error::other("it has become another file"));
            }
            unfinished.persist(place).map_err(|error| error.error)?;
            Ok(())
        };
        write().map_err(|error| unwritable(file, &error))
    }
}

impl Export {
    /// Where metrics are asked for. Fails if the address cannot be listened on, or if the file is
    /// one of something else; nothing is written yet.
    pub(crate) fn open(
        settings: MetricsSettings,
        printer: &Printer,
    ) -> Result<Option<Self>, Failure> {
        if settings.is_empty() {
            return Ok(None);
        }
        let MetricsSettings { listen, file, collector, labels, command } = settings;
        if let Some(file) = &file
            && !may_be_replaced(&file.place).map_err(|error| unwritable(file, &error))?
        {
            let name = file.name.display();
            return Err(Failure::usage(format!(
                "--metrics-file would overwrite `{name}`, which holds something else than \
                 metrics: give it another file"
            )));
        }
        let run = Arc::new(Run { command, labels, started: SystemTime::now() });
        let exported = Arc::new(Exported { observer: Observer::begin(), run, file });
        let (server, listener, push) = (JoinSet::new(), None, None);
        let mut export =
            Self { exported, listener, server, collector, push, stop: None, thread: None };
        match listen.as_deref().map(listen_on).transpose() {
            Ok(listener) => export.listener = listener,
            Err(failure) => {
                export.finish(&Err(failure.clone()), printer);
                return Err(failure);
            }
        }
        Ok(Some(export))
    }

    /// Starts: the command begins. Fails if the file cannot be written.
    pub(crate) fn start(&mut self, printer: &Printer) -> Result<(), Failure> {
        let exported = Arc::clone(&self.exported);
        if let Some(file) = &exported.file {
            exported.write(file, None)?;
        }
        if let Some(listener) = self.listener.take() {
            self.server.spawn(serve(listener, &exported, printer)?);
        }
        self.push = self.start_push()?;
        let (stop, stopped) = sync_channel::<()>(1);
        let run = move || {
            let mut ticks = 0;
            while stopped.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                exported.observer.sample();
                ticks += 1;
                if let Some(file) = exported.file.as_ref().filter(|_| ticks % WRITE_EVERY == 0) {
                    // It is tried again, and the last time its failure is reported.
                    _ = exported.write(file, None);
                }
            }
        };
        let thread = std::thread::Builder::new().name("metrics".to_owned()).spawn(run);
        let thread =
            thread.map_err(|error| Failure::other(format!("cannot start a thread: {error}")))?;
        (self.stop, self.thread) = (Some(stop), Some(thread));
        Ok(())
    }

    /// Ends, and writes the file a last time, also where the command never began.
    pub(crate) fn finish(mut self, result: &Result<u8, Failure>, printer: &Printer) {
        let is_begun = self.thread.is_some();
        self.server.abort_all();
        self.join();
        let status = result.as_ref().map_or_else(|failure| failure.status, |status| *status);
        // What is refused is no run.
        let is_refused = !is_begun && status == exit::USAGE;
        self.exported.observer.sample();
        let end = RunEnd { at: SystemTime::now(), status };
        let warn = |message: &str| {
            let message = format!("warning: {message}\n");
            printer.error(|buffer| buffer.extend_from_slice(message.as_bytes()));
        };
        if let Some(file) = &self.exported.file {
            // It may be this very file that is refused: it is only written where it holds metrics.
            let holds_metrics = || beginning(&file.place).is_ok_and(|text| text == BEGINNING);
            if (!is_refused || holds_metrics())
                && let Err(failure) = self.exported.write(file, Some(end))
                && result.as_ref().err() != Some(&failure)
            {
                warn(&failure.message);
            }
        }
        if is_refused {
            return;
        }
        printer.flush();
        // Also of a command that failed before it began.
        let push = self.push.take().map_or_else(|| self.start_push(), |push| Ok(Some(push)));
        match push {
            Ok(push) => _ = push.and_then(|push| push.finish(end)).as_deref().map(warn),
            Err(failure) => warn(&failure.message),
        }
    }

    fn start_push(&mut self) -> Result<Option<Push>, Failure> {
        let Exported { observer, run, .. } = &*self.exported;
        let start = |collector| Push::start(collector, Arc::clone(observer), Arc::clone(run));
        self.collector.take().map(start).transpose()
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

/// Whether a file is not there, is empty, or has metrics.
fn may_be_replaced(place: &Path) -> io::Result<bool> {
    let beginning = beginning(place)?;
    Ok(beginning.is_empty() || beginning == BEGINNING)
}

/// The first bytes of a file; none of one that is not there.
fn beginning(place: &Path) -> io::Result<Vec<u8>> {
    let mut beginning = Vec::new();
    match File::open(place) {
        Ok(file) => file.take(BEGINNING.len() as u64).read_to_end(&mut beginning)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => 0,
        Err(error) => return Err(error),
    };
    Ok(beginning)
}

/// Listens, but does not answer yet.
fn listen_on(address: &str) -> Result<TcpListener, Failure> {
    TcpListener::bind(address).map_err(|error| {
        Failure::other(format!("cannot listen on `{address}` for --metrics-listen: {error}"))
    })
}

/// What answers.
fn serve(
    listener: TcpListener,
    exported: &Arc<Exported>,
    printer: &Printer,
) -> Result<impl Future<Output = ()> + Send + use<>, Failure> {
    let refused =
        |error: io::Error| Failure::other(format!("cannot answer on --metrics-listen: {error}"));
    let address = listener.local_addr().map_err(refused)?;
    listener.set_nonblocking(true).map_err(refused)?;
    let listener = tokio::net::TcpListener::from_std(listener).map_err(refused)?;
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

/// The error without the name that the file has before it is complete.
fn unwritable(file: &MetricsFile, error: &io::Error) -> Failure {
    Failure::other(format!("cannot write the metrics to `{}`: {error}", file.name.display()))
}
