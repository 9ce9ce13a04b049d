//! How far a job is: `jobs show` and `jobs watch` of its folder.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use s3haul::shard::{Commit, Work, Worker};
use s3haul_wire::ClientConfig;
use serde::Serialize;
use serde_json::Value;

use super::{FolderFlags, SharedClients, open, push_line};
use crate::args::JobShowArgs;
use crate::exit;
use crate::failure::Failure;
use crate::printer::{Output, Printer};
use crate::render::failures::{Failures, NAMED_MAX};
use crate::render::html::jobs as html;
use crate::render::json;
use crate::terminal::number_of;

/// Time between two looks of `watch`.
const WATCH_PAUSE: Duration = Duration::from_secs(2);

/// How far a job is.
pub(in crate::commands) struct Status {
    pub(in crate::commands) totals: Commit,
    pub(in crate::commands) commits: usize,
    pub(in crate::commands) left: Vec<Work>,
}

impl Status {
    pub(in crate::commands) async fn of(worker: &mut Worker) -> Result<Self, Failure> {
        let left = worker.look().await?;
        worker.look_at_retries().await?;
        let ledger = worker.ledger();
        Ok(Self { totals: ledger.totals(), commits: ledger.commits().count(), left })
    }

    pub(super) fn line(&self) -> String {
        let Self { totals: Commit { done, bytes, failed, warnings, .. }, commits, left } = self;
        let warned = match warnings {
            0 => String::new(),
            warnings => format!(" warnings: {warnings},"),
        };
        let (objects, shards) = (number_of(*done, "object"), number_of(*commits as u64, "shard"));
        let (state, left) = (self.state(), left.len());
        format!(
            "{state}: {objects}, {bytes} bytes, {failed} failed,{warned} {shards} done, {left} left"
        )
    }

    pub(in crate::commands) fn state(&self) -> &'static str {
        match (self.left.is_empty(), self.totals.failed) {
            (false, _) => "running",
            (true, 0) => "done",
            (true, _) => "failed",
        }
    }
}

/// Shows how far a job is, and what failed.
pub(in crate::commands) async fn show(
    args: JobShowArgs,
    flags: FolderFlags,
    config: ClientConfig,
    as_json: bool,
    printer: &Arc<Printer>,
) -> Result<u8, Failure> {
    let name = args.job.id;
    let mut worker = open(&name, config).await?;
    let status = Status::of(&mut worker).await?;
    if let Some(path) = args.html {
        write_page(&path, (&name, &flags), &worker, &status, printer)?;
    }
    let ledger = worker.ledger();
    let failures: Vec<_> = ledger.failed().flat_map(|(_, commit)| commit.failures).collect();
    printer.output(|buffer| {
        let Status { totals, commits, left } = &status;
        if as_json {
            json::push(buffer, "job", StatusLine::of(&name, &worker, &status));
            for failed in failures {
                json::push(buffer, "failed", failed);
            }
            return;
        }
        for line in [
            format!("job:        {name}"),
            format!("task:       {}", task(&worker.plan().job)),
            format!("state:      {}", status.state()),
            format!("shards:     {commits} done, {} left", left.len()),
            format!("done:       {}, {} bytes", number_of(totals.done, "object"), totals.bytes),
            format!("not needed: {}", number_of(totals.skipped, "object")),
            format!("failed:     {}", number_of(totals.failed, "object")),
            format!("warnings:   {}", totals.warnings),
            format!("in shards:  {:.1} s", totals.seconds),
        ] {
            push_line(buffer, &line);
        }
        if !left.is_empty() {
            push_line(buffer, &format!("resume:     {}", flags.worker(&name)));
        } else if totals.failed > 0 {
            push_line(buffer, &format!("resume:     {}", flags.resume(&name)));
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
    SharedClients::keep_worker(name, worker);
    Ok(exit::SUCCESS)
}

fn write_page(
    path: &Path,
    (name, flags): (&str, &FolderFlags),
    worker: &Worker,
    status: &Status,
    printer: &Arc<Printer>,
) -> Result<(), Failure> {
    let failures = worker.ledger().failed().flat_map(|(_, commit)| commit.failures);
    let failures: Vec<_> = failures.take(html::FAILURES_MAX as usize).collect();
    let totals = &status.totals;
    let resume = match (status.left.is_empty(), totals.failed) {
        (true, 0) => None,
        (true, _) => Some(flags.resume(name)),
        (false, _) => Some(flags.worker(name)),
    };
    let job = html::JobPage {
        name: name.to_owned(),
        task: task(&worker.plan().job),
        state: status.state(),
        done: totals.done,
        bytes: totals.bytes,
        skipped: totals.skipped,
        failed: totals.failed,
        warnings: totals.warnings,
        left: ("Shards left", status.left.len() as u64),
        resume,
        listed: "first",
    };
    let failures = failures.iter().map(|failed| html::JobFailure {
        subject: &failed.subject,
        action: &failed.action,
        error: &failed.error,
    });
    let output = Output::new(Some(path), printer)?;
    _ = output.write(&html::page(job, failures))?;
    output.commit()
}

/// Prints a line whenever a job got further, until nothing is left.
pub(in crate::commands) async fn watch(
    name: String,
    config: ClientConfig,
    as_json: bool,
    printer: &Printer,
) -> Result<u8, Failure> {
    let mut worker = open(&name, config).await?;
    let mut shown = None;
    loop {
        let status = Status::of(&mut worker).await?;
        let line = status.line();
        if shown.as_ref() != Some(&line) {
            printer.output(|buffer| {
                if as_json {
                    return json::push(buffer, "job", StatusLine::of(&name, &worker, &status));
                }
                push_line(buffer, &line);
            });
            printer.flush();
            shown = Some(line);
        }
        if status.left.is_empty() || printer.output_is_closed() {
            return Ok(exit::SUCCESS);
        }
        tokio::time::sleep(WATCH_PAUSE).await;
    }
}

/// What a job does, in short.
pub(in crate::commands) fn task(job: &Value) -> String {
    let Some((name, task)) = job["task"].as_object().and_then(|task| task.iter().next()) else {
        return String::new();
    };
    let sides = ["source", "target"].into_iter().filter_map(|side| task[side].as_str());
    std::iter::once(name.as_str()).chain(sides).collect::<Vec<_>>().join(" ")
}

#[derive(Serialize)]
struct StatusLine<'a> {
    id: &'a str,
    state: &'static str,
    job: &'a Value,
    objects: u64,
    bytes: u64,
    skipped: u64,
    failed: u64,
    warnings: u64,
    shard_seconds: f64,
    shards_done: usize,
    shards_left: usize,
}

impl<'a> StatusLine<'a> {
    fn of(id: &'a str, worker: &'a Worker, status: &Status) -> Self {
        let Status { totals, commits, left } = status;
        Self {
            id,
            state: status.state(),
            job: &worker.plan().job,
            objects: totals.done,
            bytes: totals.bytes,
            skipped: totals.skipped,
            failed: totals.failed,
            warnings: totals.warnings,
            shard_seconds: totals.seconds,
            shards_done: *commits,
            shards_left: left.len(),
        }
    }
}
