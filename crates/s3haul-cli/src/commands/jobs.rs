//! `jobs`: what journals say of jobs, and the resumption of one.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use s3haul::journal::{self, Ending, JobStatus, LearntRate};
use s3haul_wire::controller::Class;
use s3haul_wire::units::LocalTime;
use serde::Serialize;

use crate::args::{JobArgs, JobShowArgs, JobsArgs, PruneArgs};
use crate::exit;
use crate::failure::Failure;
use crate::printer::{Output, Printer};
use crate::render::escape::push_name;
use crate::render::failures::{Failures, NAMED_MAX};
use crate::render::html::jobs as html;
use crate::render::json;
use crate::settings::{Environment, journal_folder, resume_command};
use crate::terminal::number_of;

/// Failures that are counted by cause.
pub(super) const FAILURES_MAX: u32 = 10_000;
/// Time between two lines of `watch`.
const WATCH_PAUSE: Duration = Duration::from_secs(1);

/// The folder of the journals that a command is about.
pub(super) fn folder(args: &JobsArgs, environment: &Environment) -> Result<PathBuf, Failure> {
    let folder = args.journal.clone().or_else(|| journal_folder(environment));
    folder.ok_or_else(|| {
        Failure::usage("there is no home directory for journals: give --journal a folder")
    })
}

/// The jobs of a folder, and how they are printed. What it does blocks.
pub(super) struct Jobs<'a> {
    pub(super) folder: PathBuf,
    pub(super) as_json: bool,
    pub(super) printer: &'a Arc<Printer>,
}

impl Jobs<'_> {
    /// Lists all jobs.
    pub(super) fn list(&self) -> u8 {
        let mut status = exit::SUCCESS;
        let jobs = journal::jobs(&self.folder, |error| {
            status = exit::FAILED;
            self.note(&format!("s3haul: error: {error}"));
        });
        if jobs.is_empty() && status == exit::SUCCESS && !self.as_json {
            self.note(&format!("note: there are no jobs in `{}`", self.folder.display()));
        }
        for job in &jobs {
            self.printer.output(|buffer| push_job(buffer, job, self.as_json));
        }
        status
    }

    fn note(&self, text: &str) {
        self.printer.error(|buffer| push_line(buffer, text));
    }

    /// Shows how far a job got, and what failed of it.
    pub(super) fn show(&self, args: &JobShowArgs) -> Result<u8, Failure> {
        let JobShowArgs { job: args, html } = args;
        let job = journal::status(&self.folder, &args.id)?;
        let failures = journal::failures(&self.folder, &args.id, FAILURES_MAX)?;
        let rates = journal::rates(&self.folder, &args.id)?;
        if let Some(path) = html {
            self.write_page(path, &job, args)?;
        }
        self.printer.output(|buffer| {
            if self.as_json {
                push_job(buffer, &job, true);
                for rate in &rates {
                    json::push(buffer, "rate", RateLine::of(rate));
                }
                for failed in failures.iter().take(NAMED_MAX) {
                    let journal::Failed { subject, action, error } = failed;
                    json::push(buffer, "failed", FailedLine { subject, action, error });
                }
                return;
            }
            push_details(buffer, &job, args);
            for rate in &rates {
                let RateLine { class, start, per_second } = RateLine::of(rate);
                let taken = per_second.map_or("no limit".to_owned(), |rate| format!("{rate}/s"));
                push_line(buffer, &format!("{class} rate: {taken} from {start}"));
            }
            if !failures.is_empty() {
                let texts = failures.iter().map(|failed| (&*failed.subject, &*failed.error));
                let causes = Failures::of_texts(texts);
                push_line(buffer, &format!("causes:     {}", causes.line()));
            }
            for failed in failures.iter().take(NAMED_MAX) {
                push_line(buffer, &format!("failed:     {}: {}", failed.subject, failed.error));
            }
        });
        Ok(exit::SUCCESS)
    }

    fn write_page(&self, path: &Path, job: &JobStatus, args: &JobArgs) -> Result<(), Failure> {
        let failures = journal::failures(&self.folder, &args.id, html::FAILURES_MAX)?;
        let failures = failures.iter().map(|failed| html::JobFailure {
            subject: &failed.subject,
            action: &failed.action,
            error: &failed.error,
        });
        let totals = &job.totals;
        let resume = job.is_resumable();
        let page = html::page(
            html::JobPage {
                name: job.id.clone(),
                task: job.command.clone(),
                state: state(job),
                done: totals.objects,
                bytes: bytes_moved(job),
                skipped: totals.skipped,
                failed: totals.failed,
                // The journal has none.
                warnings: 0,
                left: ("In work", in_work(job)),
                resume: resume.then(|| resume_command(&job.id, args.folder.journal.as_deref())),
                listed: "last",
            },
            failures,
        );
        let output = Output::new(Some(path), self.printer)?;
        _ = output.write(&page)?;
        output.commit()
    }

    /// Prints a line a second until no process runs the job.
    pub(super) async fn watch(self, id: String) -> Result<u8, Failure> {
        let Self { folder, as_json, printer } = self;
        let mut before: Option<JobStatus> = None;
        loop {
            let (folder, id) = (folder.clone(), id.clone());
            let look = tokio::task::spawn_blocking(move || journal::status(&folder, &id)).await;
            let job = look.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()))?;
            if before.as_ref() != Some(&job) {
                printer.output(|buffer| {
                    if as_json {
                        return push_job(buffer, &job, true);
                    }
                    push_progress(buffer, &job, before.as_ref());
                });
                printer.flush();
            }
            if job.process.is_none() || printer.output_is_closed() {
                return Ok(exit::SUCCESS);
            }
            before = Some(job);
            tokio::time::sleep(WATCH_PAUSE).await;
        }
    }

    /// Removes journals, and prints of which jobs.
    pub(super) fn prune(&self, args: &PruneArgs) -> u8 {
        let push = |id: &str| {
            self.printer.output(|buffer| {
                if self.as_json {
                    return json::push(buffer, "removed", IdLine { id });
                }
                buffer.extend_from_slice(format!("removed: {id}\n").as_bytes());
            });
        };
        let mut status = exit::SUCCESS;
        for id in &args.ids {
            match journal::remove(&self.folder, id) {
                Ok(()) => push(id),
                Err(error) => {
                    status = exit::FAILED;
                    self.note(&format!("s3haul: error: {error}"));
                }
            }
        }
        if args.ids.is_empty() {
            let removed = if args.all { journal::prune_all } else { journal::prune };
            for id in removed(&self.folder) {
                push(&id);
            }
        }
        status
    }
}

/// Bytes that were moved; of large objects also what was moved before they end, while they do.
fn bytes_moved(job: &JobStatus) -> u64 {
    let live = job.live.filter(|_| job.process.is_some());
    live.map_or(0, |live| live.moved_bytes).max(job.totals.bytes)
}

/// What was begun and has not ended. What failed is tried again, and so it is pending as well.
pub(super) fn in_work(job: &JobStatus) -> u64 {
    job.pending.saturating_sub(job.totals.failed)
}

/// How a job stands, in a word.
pub(super) fn state(job: &JobStatus) -> &'static str {
    match (job.process, job.ending) {
        (Some(_), _) => "running",
        (None, Ending::Open) => "killed",
        (None, Ending::Interrupted) => "interrupted",
        (None, Ending::Failed) => "failed",
        (None, Ending::Done) => "done",
    }
}

fn push_job(buffer: &mut Vec<u8>, job: &JobStatus, as_json: bool) {
    if as_json {
        return json::push(buffer, "job", JobLine::of(job));
    }
    let JobStatus { id, command, totals, .. } = job;
    let noun = if totals.objects == 1 { "object" } else { "objects" };
    let line = format!("{id}  {:<11}  {:>12} {noun:<7}  {command}", state(job), totals.objects);
    push_line(buffer, &line);
}

fn push_details(buffer: &mut Vec<u8>, job: &JobStatus, args: &JobArgs) {
    let mut time = LocalTime::system();
    let mut at = |ms: i64| time.iso(ms.div_euclid(1000));
    let totals = &job.totals;
    let process = job.process.map(|process| format!(" (process {process})")).unwrap_or_default();
    let mut lines = vec![
        format!("job:        {}", job.id),
        format!("command:    {}", job.command),
        format!("started in: {}", job.directory.display()),
        format!("state:      {}{process}", state(job)),
        format!("begun:      {}", at(job.created_ms)),
        format!("last noted: {}", at(job.updated_ms)),
        format!("done:       {}, {} bytes", number_of(totals.objects, "object"), bytes_moved(job)),
        format!("not needed: {}", number_of(totals.skipped, "object")),
        format!("failed:     {}", number_of(totals.failed, "object")),
        format!(
            "in work:    {}, {} of them in parts",
            number_of(in_work(job), "object"),
            job.in_parts
        ),
    ];
    if !job.looked.is_empty() {
        lines.push(format!("looked at:  {}", looked(&job.command, &job.looked)));
    }
    if job.is_resumable() {
        let command = resume_command(&job.id, args.folder.journal.as_deref());
        lines.push(format!("resume:     {command}"));
    }
    for line in lines {
        push_line(buffer, &line);
    }
}

/// What is in it may be meant for a terminal, and is printed as what it is.
fn push_line(buffer: &mut Vec<u8>, line: &str) {
    push_name(buffer, line, true);
    buffer.push(b'\n');
}

/// How far a job has come in its listing, or in the list that names its objects.
pub(super) fn looked(command: &str, position: &str) -> String {
    match row(command, position) {
        Some(row) => format!("the first {row} rows of its list"),
        None => format!("all names up to {position}"),
    }
}

/// The number that a position is in the list of a job that has one.
fn row(command: &str, position: &str) -> Option<u64> {
    let digits = position.trim_start_matches('r');
    let is_row = digits.len() == 20 && digits.bytes().all(|byte| byte.is_ascii_digit());
    let has_list = command.contains(" --from") || command.contains("apply ");
    digits.parse().ok().filter(|_| is_row && has_list)
}

fn push_progress(buffer: &mut Vec<u8>, job: &JobStatus, before: Option<&JobStatus>) {
    let totals = &job.totals;
    let rate = before.map_or(0, |before| {
        let elapsed_ms = job.updated_ms.saturating_sub(before.updated_ms).max(1).unsigned_abs();
        totals.objects.saturating_sub(before.totals.objects) * 1000 / elapsed_ms
    });
    let at = match &*job.looked {
        "" => String::new(),
        looked => match row(&job.command, looked) {
            Some(row) => format!(", at row {row}"),
            None => format!(", at {looked}"),
        },
    };
    let line = format!(
        "{}: {}, {} bytes, {} failed, {rate} objects/s{at}",
        state(job),
        number_of(totals.objects, "object"),
        bytes_moved(job),
        totals.failed,
    );
    push_line(buffer, &line);
}

#[derive(Serialize)]
struct IdLine<'a> {
    id: &'a str,
}

/// What the service takes of a range of keys, which ends where the next begins.
#[derive(Serialize)]
struct RateLine {
    class: &'static str,
    start: String,
    per_second: Option<u64>,
}

impl RateLine {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a positive rate")]
    fn of(rate: &LearntRate) -> Self {
        let class = if rate.class == Class::Read { "read" } else { "write" };
        let start = String::from_utf8_lossy(&rate.range.start);
        let per_second = rate.range.per_second.map(|rate| rate.round() as u64);
        Self { class, start: format!("s3://{start}"), per_second }
    }
}

#[derive(Serialize)]
struct FailedLine<'a> {
    subject: &'a str,
    action: &'a str,
    error: &'a str,
}

#[derive(Serialize)]
struct JobLine<'a> {
    id: &'a str,
    state: &'static str,
    command: &'a str,
    directory: String,
    begun_ms: i64,
    updated_ms: i64,
    process: Option<u32>,
    objects: u64,
    bytes: u64,
    skipped: u64,
    failed: u64,
    pending: u64,
    in_parts: u64,
    looked: &'a str,
    can_resume: bool,
}

impl<'a> JobLine<'a> {
    fn of(job: &'a JobStatus) -> Self {
        let totals = &job.totals;
        Self {
            id: &job.id,
            state: state(job),
            command: &job.command,
            directory: job.directory.to_string_lossy().into_owned(),
            begun_ms: job.created_ms,
            updated_ms: job.updated_ms,
            process: job.process,
            objects: totals.objects,
            bytes: bytes_moved(job),
            skipped: totals.skipped,
            failed: totals.failed,
            pending: job.pending,
            in_parts: job.in_parts,
            looked: &job.looked,
            can_resume: job.is_resumable(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// It was "all names up to 00000000000000001500".
    #[test]
    fn a_position_in_a_list_is_no_name() {
        let row = "00000000000000001500";
        for command in ["s3haul rm s3://b --from keys", "s3haul apply p.parquet"] {
            assert_eq!(looked(command, row), "the first 1500 rows of its list");
            assert_eq!(looked(command, "a/b"), "all names up to a/b");
        }
        assert_eq!(looked("s3haul rm s3://b", row), format!("all names up to {row}"));
    }
}
