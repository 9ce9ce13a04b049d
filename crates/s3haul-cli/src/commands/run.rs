//! `run`: the commands of a file, many at a time, over the same connections.
//!
//! A thread reads and parses lines ahead, at most as many as run at once; each command is a task.
//! What they print comes in whole lines. Their transfers keep the limits of one job together.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::sync::{Arc, OnceLock};
use std::time::SystemTime;

use s3haul::job::SharedLimits;
use serde::Serialize;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::shared::{SharedClients, bound_requests, noting_failure};
use crate::args::GlobalArgs;
use crate::batch::{FailedLines, Line, LineReport, LineResult, Parser};
use crate::commands::dispatch::work;
use crate::exit;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::printer::Printer;
use crate::progress::Ticker;
use crate::render::escape::push_name;
use crate::render::json;
use crate::settings::{Environment, MetricsSettings, RunSettings, Settings};
use crate::standard_streams;

/// Longest line.
const LINE_MAX: u64 = 1024 * 1024;
/// Lines that cannot be run and are named, at most; more are counted.
const BAD_MAX: usize = 10;
/// Said where the report that is tried again is not of all lines.
const INCOMPLETE: &str = "the report is of a run that did not come to its end: what it never \
    came to was not run";

/// Runs the commands and gives the exit code.
pub(super) async fn run(
    settings: RunSettings,
    printer: &Arc<Printer>,
    interrupt: Arc<Interrupt>,
) -> Result<u8, Failure> {
    let settings = Arc::new(settings);
    let shared = Arc::new(Shared::new(&settings, printer)?);
    let can_be_read_twice = shared.is_regular()?;
    if can_be_read_twice || settings.dry_run {
        let (checked, token) = (Arc::clone(&shared), interrupt.token());
        let mut check = JoinSet::new();
        check.spawn_blocking(move || checked.check());
        tokio::select! {
            Some(result) = check.join_next() => carry_on_panic(result)?,
            () = token.cancelled_owned() => return Ok(exit::INTERRUPTED),
        }
    }
    if settings.dry_run {
        return Ok(if shared.is_of_all() { exit::SUCCESS } else { exit::WARNED });
    }
    let report = settings.report.as_deref();
    let report = report.map(|path| LineReport::create(path, &settings.source())).transpose()?;
    let flusher = Ticker::for_all(printer);
    let mut run = Run { settings, shared, interrupt, report, tally: Tally::default() };
    let is_complete = run.all().await;
    drop(flusher);
    Ok(run.finish(is_complete))
}

/// What all commands have in common.
struct Shared {
    settings: Arc<RunSettings>,
    failed: Option<FailedLines>,
    clients: Arc<SharedClients>,
    limits: SharedLimits,
    printer: Arc<Printer>,
    /// Size and time of the file when its lines were checked.
    state: OnceLock<(u64, Option<SystemTime>)>,
}

/// A line that was read.
struct Item {
    number: u64,
    shown: String,
    line: Result<Line, String>,
}

impl Shared {
    fn new(settings: &Arc<RunSettings>, printer: &Arc<Printer>) -> Result<Self, Failure> {
        let read = |path| FailedLines::read(path, &settings.source());
        bound_requests(settings.load);
        Ok(Self {
            settings: Arc::clone(settings),
            failed: settings.retry.as_deref().map(read).transpose()?,
            clients: Arc::default(),
            limits: SharedLimits::new(&settings.tuning),
            printer: Arc::clone(printer),
            state: OnceLock::new(),
        })
    }

    /// Whether the file can be read more than once.
    fn is_regular(&self) -> Result<bool, Failure> {
        let Some(path) = &self.settings.file else { return Ok(false) };
        let facts = path.metadata().map_err(|error| self.cannot_read(&error))?;
        Ok(facts.is_file())
    }

    /// Notes a file as it is now, and fails if it has changed since that was done first: only lines
    /// that were checked are to be run.
    fn refuse_changed(&self, file: Option<&File>) -> Result<(), Failure> {
        let Some(file) = file else { return Ok(()) };
        let facts = file.metadata().map_err(|error| self.cannot_read(&error))?;
        let state = (facts.len(), facts.modified().ok());
        if !facts.is_file() || *self.state.get_or_init(|| state) == state {
            return Ok(());
        }
        let source = self.settings.source();
        let message = format!("`{source}` has changed since its lines were checked");
        Err(Failure::other(message))
    }

    fn cannot_read(&self, error: &std::io::Error) -> Failure {
        Failure::other(format!("could not read `{}`: {error}", self.settings.source()))
    }

    /// Reads the lines one by one until the end, or until `take` wants no more. Blocks.
    fn read(&self, mut take: impl FnMut(Item) -> Result<bool, Failure>) -> Result<(), Failure> {
        let open = |path| File::open(path).map_err(|error| self.cannot_read(&error));
        let file = self.settings.file.as_ref().map(open).transpose()?;
        self.refuse_changed(file.as_ref())?;
        let stream: Box<dyn Read> = match &file {
            Some(file) => Box::new(file),
            None => standard_streams::input(),
        };
        let mut reader = BufReader::new(stream);
        let mut parser = Parser::new();
        let mut bytes = Vec::new();
        let mut failed = self.failed.as_ref().map(FailedLines::numbers).unwrap_or_default();
        for number in 1.. {
            bytes.clear();
            let read = reader.by_ref().take(LINE_MAX).read_until(b'\n', &mut bytes);
            if read.map_err(|error| self.cannot_read(&error))? == 0 {
                break;
            }
            if is_cut(&bytes) {
                // What is left of it is no line of its own.
                reader.skip_until(b'\n').map_err(|error| self.cannot_read(&error))?;
            }
            let Some(item) = self.item(&mut parser, number, &bytes) else { continue };
            failed.remove(&number);
            if !take(item)? {
                return Ok(());
            }
        }
        if let Some(number) = failed.first() {
            let source = self.settings.source();
            return Err(Failure::usage(format!(
                "line {number} failed according to the report, and `{source}` has no command \
                 there any more"
            )));
        }
        self.refuse_changed(file.as_ref())
    }

    /// A line, if there is a command in it that is to be run.
    fn item(&self, parser: &mut Parser, number: u64, bytes: &[u8]) -> Option<Item> {
        let refused =
            |shown: String, why: &str| Some(Item { number, shown, line: Err(why.to_owned()) });
        if is_cut(bytes) {
            return refused(String::new(), "the line is too long");
        }
        let Ok(text) = std::str::from_utf8(bytes) else {
            return refused(String::new(), "the line is not UTF-8");
        };
        // Editors of Windows mark UTF-8 at the beginning of a file.
        let text = if number == 1 { text.trim_start_matches('\u{feff}') } else { text };
        let text = text.trim_end_matches(['\n', '\r']);
        let shown = Line::shown(text);
        if shown.is_empty() {
            return None;
        }
        match self.failed.as_ref().map(|failed| failed.has(number, &shown)) {
            Some(Ok(false)) => return None,
            Some(Err(why)) => return refused(shown, &why),
            Some(Ok(true)) | None => {}
        }
        let line = parser.parse(text, &self.settings.global).transpose()?;
        Some(Item { number, shown, line })
    }

    /// Whether the report that is tried again is of all lines; warns if not.
    fn is_of_all(&self) -> bool {
        let is_complete = self.failed.as_ref().is_none_or(|failed| failed.is_complete);
        if !is_complete && self.settings.json {
            self.printer.output(|buffer| json::push_warning(buffer, INCOMPLETE));
        } else if !is_complete {
            self.printer.error(|buffer| buffer.extend(format!("warning: {INCOMPLETE}\n").bytes()));
        }
        is_complete
    }

    /// Checks all lines; those that cannot be run are an error together. Blocks.
    fn check(&self) -> Result<(), Failure> {
        let (mut bad, mut others) = (Vec::new(), 0_u64);
        let read = self.read(|item| {
            let Item { number, shown, line } = item;
            let checked = line.map_err(Failure::usage).and_then(|line| {
                if line.global.no_verify_ssl {
                    self.printer.warn_of_unverified();
                }
                let settings = self.settings_of(&line.global, self.settings.environment.clone())?;
                work(&settings, &line.command, &self.printer).map(drop)
            });
            if let Err(failure) = checked {
                let message = format!("line {number}: {}: `{shown}`", failure.message);
                match bad.len() {
                    BAD_MAX.. => others += 1,
                    _ => bad.push(Failure { message, ..failure }),
                }
                return Ok(true);
            }
            if self.settings.dry_run && self.settings.json {
                let planned = PlannedLine { outcome: "dry_run", line: number, command: &shown };
                self.printer.output(|buffer| json::push(buffer, "line", planned));
            } else if self.settings.dry_run {
                let escape = self.printer.output_is_terminal();
                self.printer.output(|buffer| {
                    buffer.extend_from_slice(b"(dryrun) ");
                    push_name(buffer, &shown, escape);
                    buffer.push(b'\n');
                });
            }
            Ok(true)
        });
        all_of(bad, others).map_or(read, Err)
    }

    fn settings_of(
        &self,
        global: &GlobalArgs,
        environment: Environment,
    ) -> Result<Settings, Failure> {
        crate::settings::refuse_unsupported(global)?;
        MetricsSettings::refuse(global, "`run` has metrics of all its lines together")?;
        if global.no_hints && !self.settings.global.no_hints {
            return Err(Failure::usage("--no-hints holds for all lines: give it to `run`"));
        }
        let mut settings = Settings::load(global, environment)?;
        settings.tuning.shared = Some(self.limits.clone());
        settings.metrics_file.clone_from(&self.settings.metrics_file);
        Ok(settings)
    }

    /// Runs a command to its end.
    async fn execute(&self, line: Line, interrupt: &Arc<Interrupt>) -> Result<u8, Failure> {
        let settings = self.settings_of(&line.global, self.settings.environment.clone())?;
        let work =
            self.clients.with(async { work(&settings, &line.command, &self.printer) }).await?;
        self.clients.with(work.run(interrupt)).await
    }
}

/// What is wrong with several lines, as one failure: like the first, if there is one.
fn all_of(bad: Vec<Failure>, others: u64) -> Option<Failure> {
    let mut messages: Vec<_> = bad.iter().map(|failure| failure.message.clone()).collect();
    if others > 0 {
        messages.push(format!("and {others} more"));
    }
    bad.into_iter().next().map(|first| Failure { message: messages.join("\n"), ..first })
}

/// Whether a line is longer than what was read of it.
fn is_cut(bytes: &[u8]) -> bool {
    bytes.len() as u64 == LINE_MAX && !bytes.ends_with(b"\n")
}

/// How the commands so far ended.
#[derive(Clone, Copy, Debug, Default, Serialize)]
struct Tally {
    commands: u64,
    failed: u64,
    warned: u64,
}

/// A run under way.
struct Run {
    settings: Arc<RunSettings>,
    shared: Arc<Shared>,
    interrupt: Arc<Interrupt>,
    report: Option<LineReport>,
    tally: Tally,
}

impl Run {
    /// Runs all lines; false where it did not come to the last.
    async fn all(&mut self) -> bool {
        let (sender, mut items) = mpsc::channel(self.settings.jobs);
        let shared = Arc::clone(&self.shared);
        let mut reader = JoinSet::new();
        let read = move || shared.read(|item| Ok(sender.blocking_send(item).is_ok()));
        reader.spawn_blocking(read);
        let mut tasks = JoinSet::new();
        let cancelled = self.interrupt.token();
        let came_to_end = loop {
            if self.is_over() {
                break false;
            }
            let has_room = tasks.len() < self.settings.jobs;
            tokio::select! {
                biased;
                () = cancelled.cancelled() => break false,
                Some(ended) = tasks.join_next() => self.record(&carry_on_panic(ended)),
                item = items.recv(), if has_room => match item {
                    Some(item) => self.start(item, &mut tasks),
                    None => break true,
                },
            }
        };
        drop(items);
        while let Some(ended) = tasks.join_next().await {
            self.record(&carry_on_panic(ended));
        }
        if !came_to_end {
            return false;
        }
        match reader.join_next().await.map(carry_on_panic) {
            Some(Err(failure)) => {
                self.tell(&format!("error: {}", failure.message));
                false
            }
            _ => !self.interrupt.token().is_cancelled(),
        }
    }

    /// Whether nothing more is to be started.
    fn is_over(&self) -> bool {
        (self.settings.stop_on_error && self.tally.failed > 0)
            || self.shared.printer.output_is_closed()
    }

    fn start(&mut self, item: Item, tasks: &mut JoinSet<LineResult>) {
        let Item { number, shown, line } = item;
        let result =
            move |exit_code, error| LineResult { line: number, exit_code, command: shown, error };
        let line = match line {
            Ok(line) => line,
            Err(why) => return self.record(&result(exit::USAGE, Some(why))),
        };
        let (shared, interrupt) = (Arc::clone(&self.shared), Arc::clone(&self.interrupt));
        tasks.spawn(async move {
            match noting_failure(shared.execute(line, &interrupt)).await {
                (Ok(status), why) => result(status, why),
                (Err(failure), _) => result(failure.status, Some(failure.message)),
            }
        });
    }

    fn record(&mut self, result: &LineResult) {
        let outcome = result.outcome();
        self.tally.commands += 1;
        self.tally.failed += u64::from(outcome == "failed");
        self.tally.warned += u64::from(outcome == "warned");
        if let Some(report) = &self.report {
            report.push(result);
        }
        if self.settings.json {
            self.shared.printer.output(|buffer| json::push(buffer, "line", result));
        } else if outcome == "failed" {
            let LineResult { line, exit_code, command, error } = result;
            let error = error.as_ref().map(|error| format!(": {error}")).unwrap_or_default();
            self.tell(&format!("line {line}: exit {exit_code}: {command}{error}"));
        }
    }

    /// Prints a line to standard error.
    fn tell(&self, text: &str) {
        let printer = &self.shared.printer;
        printer.error(|buffer| {
            push_name(buffer, text, printer.error_is_terminal());
            buffer.push(b'\n');
        });
    }

    /// Ends the report and gives the exit code.
    fn finish(self, came_to_end: bool) -> u8 {
        let Tally { commands, failed, warned } = self.tally;
        let was_complete = self.shared.is_of_all();
        if let Some(message) = self.interrupt.message() {
            self.tell(message);
        }
        if failed > 0 && !self.settings.json {
            self.tell(&format!("{failed} of {commands} commands failed"));
        }
        let finish = |report: &LineReport| report.finish(came_to_end && was_complete);
        let written = self.report.as_ref().map_or(Ok(()), finish);
        if let Err(text) = &written {
            self.tell(&format!("error: {text}"));
        }
        let status = match () {
            () if self.shared.printer.output_is_closed() => exit::BROKEN_PIPE,
            () if failed > 0 || !came_to_end || written.is_err() => exit::FAILED,
            () if warned > 0 || !was_complete => exit::WARNED,
            () => exit::SUCCESS,
        };
        if self.settings.json {
            let summary =
                RunSummary { tally: self.tally, complete: came_to_end, exit_code: status };
            self.shared.printer.output(|buffer| json::push(buffer, "run_summary", summary));
        }
        status
    }
}

/// A line that would be run.
#[derive(Serialize)]
struct PlannedLine<'a> {
    outcome: &'static str,
    line: u64,
    command: &'a str,
}

#[derive(Serialize)]
struct RunSummary {
    #[serde(flatten)]
    tally: Tally,
    complete: bool,
    exit_code: u8,
}

fn carry_on_panic<T>(joined: Result<T, tokio::task::JoinError>) -> T {
    joined.unwrap_or_else(|error| match error.try_into_panic() {
        Ok(panic) => std::panic::resume_unwind(panic),
        Err(error) => unreachable!("tasks are only cancelled by dropping their set: {error}"),
    })
}
