//! Commands of a program, with flags, credentials and connections that they have in common.

use std::collections::HashMap;
use std::ffi::OsString;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use s3haul::event::EventSink;
use s3haul::job::value::{OutputLines, Task};
use s3haul::job::{CompareSink, CompareSummary, Depth, Streams, Summary, run_compare};
use s3haul::journal;
use s3haul_sim::RunningServer;
use s3haul_wire::{Client, ClientConfig, CredentialsConfig, ObjectProperties};
use tokio_util::sync::CancellationToken;

use super::columns::{ColumnsWorker, ComparedRows};
use super::{Columns, ComparedColumns};
use crate::args::{self, Command, GlobalArgs, JobCommand, JobsCommand};
use crate::commands::{self, SharedClients, Work};
use crate::exit;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::printer::Printer;
use crate::settings::{
    CompareSettings, Environment, JobRequest, ListSettings, Machine, ManifestPlace,
    MetricsSettings, ServeSettings, Settings, TransferSettings, journal_folder,
};

/// Takes a line of what a command would print to standard error.
type Log = Arc<dyn Fn(&str) + Send + Sync>;

/// Commands of a program, which share flags, credentials and connections.
pub struct Session {
    flags: Vec<OsString>,
    credentials: Option<CredentialsConfig>,
    clients: Arc<SharedClients>,
    log: Log,
}

/// A command as it would be typed, without the program's name, and the environment that it finds.
#[derive(Clone, Debug, Default)]
pub struct Line {
    /// Words.
    pub words: Vec<OsString>,
    /// Environment variables.
    pub variables: HashMap<String, String>,
}

impl Line {
    fn of<const N: usize>(words: [&str; N], variables: HashMap<String, String>) -> Self {
        Self { words: words.into_iter().map(OsString::from).collect(), variables }
    }
}

/// What goes along with a command.
#[derive(Default)]
pub struct Call {
    /// Receives the events of a transfer.
    pub observer: Option<Arc<dyn EventSink>>,
    /// Standard input and output of the command; without them `-` is refused.
    pub streams: Option<Streams>,
    /// Ends the command early.
    pub cancel: CancellationToken,
}

/// How a command ended.
#[derive(Debug)]
pub struct Ended {
    /// Exit code of the command ([`crate::exit`]).
    pub status: u8,
    /// What it would have printed to standard output; a transfer prints nothing here but tags and
    /// the states of archived objects.
    pub output: Vec<u8>,
    /// Counters of a transfer.
    pub summary: Option<Summary>,
}

/// A printer for one command, and what it printed.
struct Capture {
    printer: Arc<Printer>,
    output: Arc<Mutex<Vec<u8>>>,
    is_kept: Arc<AtomicBool>,
}

impl Capture {
    fn take(&self) -> Vec<u8> {
        self.printer.flush();
        std::mem::take(&mut *self.output.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Session {
    /// A session whose commands all have these flags, such as `--region=eu-central-1`. Credentials
    /// given here are those of commands that name no profile. Lines for standard error go to the
    /// log, from any thread.
    ///
    /// # Errors
    ///
    /// The flags are not flags of all commands.
    pub fn new(
        flags: Vec<OsString>,
        credentials: Option<CredentialsConfig>,
        log: Log,
    ) -> Result<Self, Failure> {
        let waits = Arc::new(Printer::handing_on(Arc::new(|_: &[u8]| {}), lines_to(&log)));
        let clients = Arc::new(SharedClients::of_program(waits));
        let session = Self { flags, credentials, clients, log };
        if !session.flags.is_empty() {
            session.parse(&["ls".into()])?;
        }
        Ok(session)
    }

    /// The job that a command is, as JSON.
    ///
    /// # Errors
    ///
    /// The words make no sense, the command is no job, or it would hold a secret.
    pub fn job(&self, line: &Line) -> Result<String, Failure> {
        // What cannot run is not written.
        self.check(line)?.print("a job")
    }

    /// The job of a command that can run.
    ///
    /// # Errors
    ///
    /// The words make no sense, or the command is no job.
    fn check(&self, line: &Line) -> Result<JobRequest, Failure> {
        let (settings, command) = self.settings(line)?;
        let (request, ..) = commands::request(&settings, &command)?;
        commands::work(&settings, &command, &self.capture().printer)?;
        Ok(request)
    }

    /// Refuses words that make no sense, without a request.
    ///
    /// # Errors
    ///
    /// The words make no sense, or the command is no job.
    pub fn refuse_nonsense(&self, line: &Line) -> Result<(), Failure> {
        self.check(line).map(drop)
    }

    /// Runs a command to its end, without asking for confirmation.
    ///
    /// # Errors
    ///
    /// The words make no sense, or the command failed as a whole; failures of single objects are
    /// events.
    pub async fn run(&self, line: &Line, call: Call) -> Result<Ended, Failure> {
        let (global, command) = match self.parse(&line.words) {
            Err(help) if help.status == exit::SUCCESS => {
                let output = help.message.into_bytes();
                return Ok(Ended { status: exit::SUCCESS, output, summary: None });
            }
            parsed => parsed?,
        };
        refuse_what_holds_the_process(&command)?;
        MetricsSettings::refuse(&global, "metrics are those of a command line")?;
        let environment = self.environment(line);
        check_directory(&command, &environment)?;
        let capture = self.capture();
        let prepare = async { commands::prepare(&global, &command, environment, &capture.printer) };
        let work = self.clients.with(prepare).await?;
        self.carry_out(work, &capture, call).await
    }

    /// Runs a job that was written as JSON; `journal` are flags of its journal.
    ///
    /// # Errors
    ///
    /// As [`Self::run`], and where the JSON is not that of a job.
    pub async fn run_job(&self, json: &str, journal: Line, call: Call) -> Result<Ended, Failure> {
        let mut line = Line::of(["job", "run", "-"], journal.variables);
        line.words.extend(journal.words);
        let (global, command) = self.parse(&line.words)?;
        let Command::Job { command: JobCommand::Run(args) } = command else {
            return Err(Failure::usage("the journal's flags make no sense"));
        };
        let request = JobRequest::of_text(&global, json.as_bytes(), "the job")?;
        let capture = self.capture();
        let machine = Machine::new(&global, self.environment(&line));
        let prepare = async { commands::job(&request, &args.journal, &machine, &capture.printer) };
        let work = self.clients.with(prepare).await?;
        self.carry_out(work, &capture, call).await
    }

    /// Lists what `list`, `versions` or `find` with these words lists; the rows go to `take`, from
    /// several threads, until it returns `Break`. Gives the number of objects that could not be
    /// looked at.
    ///
    /// # Errors
    ///
    /// As [`Self::run`]; rows that were handed on until then are not all.
    pub async fn list(
        &self,
        line: &Line,
        take: Arc<dyn Fn(Columns) -> ControlFlow<()> + Send + Sync>,
    ) -> Result<u64, Failure> {
        let (settings, command) = self.settings(line)?;
        let (request, ..) = commands::request(&settings, &command)?;
        let Task::List(task) = &request.job.task else {
            return Err(Failure::usage("this command does not list objects"));
        };
        let settings = ListSettings::of_job(request.frame(&settings.machine())?, task)?;
        let capture = self.capture();
        let make = move || Ok(ColumnsWorker::new(Arc::clone(&take)));
        let listing = commands::list_through(&settings, &capture.printer, make);
        let listed = self.clients.with(listing).await;
        capture.printer.flush();
        listed
    }

    /// Compares what `compare` or `verify` with these words compares; rows go to `take` in the
    /// order of names.
    ///
    /// # Errors
    ///
    /// As [`Self::run`], and a proof about nothing.
    pub async fn compare(
        &self,
        line: &Line,
        take: Arc<dyn Fn(ComparedColumns) -> ControlFlow<()> + Send + Sync>,
        cancel: CancellationToken,
    ) -> Result<CompareSummary, Failure> {
        let (settings, command) = self.settings(line)?;
        let (request, ..) = commands::request(&settings, &command)?;
        let Task::Compare(task) = &request.job.task else {
            return Err(Failure::usage("this command does not compare"));
        };
        let settings = CompareSettings::of_job(&request, &settings.machine(), task)?;
        let nothing = settings.nothing();
        let log = Arc::clone(&self.log);
        let rows = Arc::new(ComparedRows {
            show: settings.show,
            take,
            warn: Box::new(move |text| log(&format!("warning: {text}"))),
            held: Mutex::default(),
        });
        let sink = Arc::clone(&rows) as Arc<dyn CompareSink>;
        let compare = async {
            let clients = commands::clients(settings.client, settings.source_client)?;
            run_compare(settings.spec, clients, sink, cancel).await.map_err(Failure::of_arguments)
        };
        let compared = self.clients.with(compare).await;
        rows.finish();
        let summary = compared?;
        if summary.is_empty() && !summary.cancelled {
            // A name that is misspelt twice must not pass for a proof.
            if task.depth == Depth::Proof {
                return Err(Failure::other(nothing).with_status(exit::WARNED));
            }
            (self.log)(&format!("warning: {nothing}"));
        }
        Ok(summary)
    }

    /// A client for single requests with the flags of a transfer, how many of them are worth
    /// sending at once, and the properties of objects that they write.
    ///
    /// # Errors
    ///
    /// The words or the configuration make no sense.
    pub async fn client(&self, line: &Line) -> Result<(Client, usize, ObjectProperties), Failure> {
        let (settings, command) = self.settings(line)?;
        let (request, ..) = commands::request(&settings, &command)?;
        let transfer = TransferSettings::of_job(&request, &settings.machine())?;
        let at_once = settings.tuning.requests_at_once();
        let request_payer = transfer.client.request_payer;
        let config = ClientConfig { request_payer, ..settings.client };
        let client = self.clients.with(async { commands::client(config) }).await?;
        Ok((client, at_once, transfer.spec.properties))
    }

    async fn carry_out(
        &self,
        work: Work<'_>,
        capture: &Capture,
        call: Call,
    ) -> Result<Ended, Failure> {
        let interrupt = Arc::new(Interrupt::by(call.cancel));
        let (status, summary) = match work {
            Work::Transfer(settings, printer) => {
                let mut settings = *settings;
                let streams = streams(&settings, call.streams)?;
                settings.output.bar = false;
                settings.output.aws_progress = None;
                if settings.output.tags.is_none() && !settings.output.archive_states {
                    settings.output.lines = OutputLines::Errors;
                    capture.is_kept.store(false, Ordering::Relaxed);
                }
                let observer = call.observer;
                let run = commands::run_observed(settings, printer, &interrupt, streams, observer);
                let (status, summary) = self.clients.with(Box::pin(run)).await?;
                (status, Some(summary))
            }
            work => (self.clients.with(work.run(&interrupt)).await?, None),
        };
        Ok(Ended { status, output: capture.take(), summary })
    }

    fn parse(&self, words: &[OsString]) -> Result<(GlobalArgs, Command), Failure> {
        let program = std::iter::once(OsString::from("s3haul"));
        parse(program.chain(self.flags.iter().chain(words).cloned()))
    }

    fn settings(&self, line: &Line) -> Result<(Settings, Command), Failure> {
        let (global, command) = self.parse(&line.words)?;
        Ok((Settings::load(&global, self.environment(line))?, command))
    }

    fn environment(&self, line: &Line) -> Environment {
        let words = self.flags.iter().chain(&line.words).cloned().collect();
        Environment::of_program(line.variables.clone(), words, self.credentials.clone())
    }

    fn capture(&self) -> Capture {
        let output = Arc::new(Mutex::new(Vec::new()));
        let is_kept = Arc::new(AtomicBool::new(true));
        let (written, keeps) = (Arc::clone(&output), Arc::clone(&is_kept));
        let keep = move |bytes: &[u8]| {
            if keeps.load(Ordering::Relaxed) {
                written.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
            }
        };
        let printer = Arc::new(Printer::handing_on(Arc::new(keep), lines_to(&self.log)));
        Capture { printer, output, is_kept }
    }
}

/// A server on this machine, as `serve` has it. It ends when it is dropped.
pub struct Server {
    /// Its URL.
    pub url: String,
    /// Access key id.
    pub access_key: String,
    /// Secret access key.
    pub secret_key: String,
    /// Region.
    pub region: String,
    server: RunningServer,
}

impl Server {
    /// Starts a server, with the flags of `serve`. Needs a runtime.
    ///
    /// # Errors
    ///
    /// The flags make no sense, or the address cannot be listened on.
    pub async fn start(flags: &[OsString]) -> Result<Self, Failure> {
        let words = ["s3haul", "serve"].into_iter().map(OsString::from);
        let (global, command) = parse(words.chain(flags.iter().cloned()))?;
        let Command::Serve(args) = command else {
            return Err(Failure::usage("these are not the flags of a server"));
        };
        let environment = Environment::default();
        let settings = ServeSettings::new(&global, &args, &environment)?;
        let (access_key, secret_key, region) =
            (settings.access_key.clone(), settings.secret_key.clone(), settings.region.clone());
        let server = commands::start_server(settings).await?;
        Ok(Self { url: server.endpoint_url(), access_key, secret_key, region, server })
    }

    /// Stops the server.
    pub async fn stop(self) {
        self.server.shutdown().await;
    }
}

/// Parses a command line. Help and the version are failures with the status of a success.
fn parse(words: impl IntoIterator<Item = OsString>) -> Result<(GlobalArgs, Command), Failure> {
    args::parse(words).map_err(|error| {
        let text = error.render().to_string();
        if error.use_stderr() {
            return Failure::usage(text.strip_prefix("error: ").unwrap_or(&text).trim_end());
        }
        Failure::other(text).with_status(exit::SUCCESS)
    })
}

/// Refuses commands that would listen for signals, wait for good or read standard input.
fn refuse_what_holds_the_process(command: &Command) -> Result<(), Failure> {
    let is_refused = match command {
        Command::Serve(_) | Command::Run(_) | Command::Browse(_) => true,
        Command::Jobs { command } => matches!(command, JobsCommand::Watch(_)),
        Command::Job { command: JobCommand::Run(args) } => args.file == "-",
        Command::Job { command: JobCommand::Start(args) } => args.file == "-",
        _ => false,
    };
    if is_refused {
        return Err(Failure::usage("this command runs on the command line only"));
    }
    Ok(())
}

/// Refuses to go on with a job of another directory: that of the process stays as it is.
fn check_directory(command: &Command, environment: &Environment) -> Result<(), Failure> {
    let Command::Jobs { command: JobsCommand::Resume(args) } = command else { return Ok(()) };
    if commands::is_job_folder(&args.id) {
        return Ok(());
    }
    let folder = args.folder.journal.clone().or_else(|| journal_folder(environment));
    let directory = journal::status(&folder.unwrap_or_default(), &args.id)?.directory;
    // It is empty where that was removed before the job began, which has no relative paths then.
    if directory.as_os_str().is_empty()
        || std::env::current_dir().is_ok_and(|here| here == directory)
    {
        return Ok(());
    }
    let directory = directory.display();
    Err(Failure::usage(format!(
        "the job was started in `{directory}`: change to that directory first, or run `s3haul \
         jobs resume {}`",
        args.id
    )))
}

/// Standard input and output of a transfer.
fn streams(settings: &TransferSettings, given: Option<Streams>) -> Result<Streams, Failure> {
    let spec = &settings.spec;
    let is_stream = spec.source == "-" || spec.target.as_deref() == Some("-");
    let manifest = settings.manifest.as_ref().map(|manifest| &manifest.place);
    if matches!(manifest, Some(ManifestPlace::Input)) {
        return Err(Failure::usage("`--from -` is for the command line only"));
    }
    match given {
        Some(streams) => Ok(streams),
        None if is_stream => Err(Failure::usage("`-` is for the command line only")),
        None => {
            Ok(Streams { input: Box::new(std::io::empty()), output: Box::new(std::io::sink()) })
        }
    }
}

/// Hands on lines one by one.
fn lines_to(log: &Log) -> crate::printer::Taker {
    let log = Arc::clone(log);
    Arc::new(move |bytes: &[u8]| {
        String::from_utf8_lossy(bytes).lines().for_each(|line| log(line));
    })
}
