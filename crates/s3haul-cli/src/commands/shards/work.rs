//! `worker` and `jobs resume`: shards, and steps of large objects, until none is left.

mod failures;

use std::sync::Arc;
use std::time::{Duration, Instant};

use s3haul::event::EventSink;
use s3haul::job::{Manifest, Streams, Summary, TransferSpec, cut_job};
use s3haul::location::ObjectName;
use s3haul::plan::s3_uri;
use s3haul::shard::{
    Begun, Claimed, Commit, Divided, KeyRange, Plan, Shard, Step, Turn, Work, Worker,
};
use serde::Serialize;
use tokio_util::sync::CancellationToken;

use super::status::Status;
use super::transfer;
use super::{
    FolderFlags, SharedClients, clients, folders_of, manifest_state, note, open_manifest, opened,
    push_line, rows_of,
};
use crate::args::WorkerArgs;
use crate::exit;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::printer::Printer;
use crate::render::failures::Failures;
use crate::render::json;
use crate::settings::{JobRequest, Machine, TransferSettings};
use crate::terminal::number_of;
use failures::{ShardFailures, is_denied, refuses_keys};

/// How long a listing is looked at to find where the rest of a shard is cut.
const CUT_AGAIN_TIME: Duration = Duration::from_secs(1);

/// A worker, with what it has at hand.
pub(in crate::commands) struct ShardWork<'a> {
    pub(in crate::commands) worker: Worker,
    pub(in crate::commands) request: JobRequest,
    pub(in crate::commands) machine: Machine,
    pub(in crate::commands) as_json: bool,
    /// What failed is tried again at the end.
    pub(in crate::commands) retries: bool,
    pub(in crate::commands) flags: FolderFlags,
    /// It has done something, or counted what failed: nothing is left because of its machine.
    pub(in crate::commands) is_proven: bool,
    /// The file that names the objects, once it was opened.
    pub(in crate::commands) manifest: Option<Arc<dyn Manifest>>,
    pub(in crate::commands) printer: &'a Arc<Printer>,
}

impl ShardWork<'_> {
    /// Does shards until none is left, and gives the exit code of the job.
    pub(in crate::commands) async fn run(
        mut self,
        args: WorkerArgs,
        interrupt: &Interrupt,
    ) -> Result<u8, Failure> {
        let share = match (args.shard, args.of) {
            (Some(index), Some(count)) if index < count => {
                Some(f64::from(index) / f64::from(count))
            }
            (Some(index), Some(count)) => {
                return Err(Failure::usage(format!(
                    "--shard {index} --of {count}: of {count} workers the last has index {}",
                    count.saturating_sub(1)
                )));
            }
            _ => None,
        };
        // The connections of all shards are the same.
        SharedClients::sharing(Box::pin(async move {
            let ended = Box::pin(self.run_shards(share, args.once, interrupt)).await;
            SharedClients::keep_worker(args.job, self.worker);
            ended
        }))
        .await
    }

    /// Tries again what failed, once nothing is left.
    async fn retry(&mut self, interrupt: &Interrupt) -> Result<(), Failure> {
        self.worker.look_at_retries().await?;
        let failed: Vec<_> = self.worker.ledger().failed().collect();
        for (work, before) in failed {
            let shard = Arc::new(Shard::retrying(&work, &before));
            let ran = self.run_part(&shard, false, interrupt).await?;
            let Some(commit) = ran else { return Ok(()) };
            let Commit { after, through, reached, .. } = before.clone();
            let retry = Commit { after, through, reached, ..commit };
            self.print_end(&work, &retry, true);
            self.worker.retried(&work, &before, retry).await?;
        }
        Ok(())
    }

    async fn run_shards(
        &mut self,
        share: Option<f64>,
        once: bool,
        interrupt: &Interrupt,
    ) -> Result<u8, Failure> {
        let (token, begun) = (interrupt.token(), Instant::now());
        loop {
            match self.worker.next(share).await? {
                Turn::Run(claimed) => Box::pin(self.run_claimed(claimed, interrupt)).await?,
                // All that is left has shown signs of life since.
                Turn::Wait(pause) if once && begun.elapsed() > self.worker.lease() + pause => {}
                Turn::Wait(pause) => {
                    tokio::select! {
                        () = tokio::time::sleep(pause) => continue,
                        () = token.cancelled() => return Ok(exit::FAILED),
                    }
                }
                Turn::Done => {
                    if self.retries {
                        Box::pin(self.retry(interrupt)).await?;
                    }
                    return self.conclude().await;
                }
            }
            if once {
                return Ok(exit::SUCCESS);
            }
            if token.is_cancelled() {
                return Ok(exit::FAILED);
            }
        }
    }

    /// Runs a shard, or a step of a large object, and writes what became of it. Without that it
    /// stays for others.
    async fn run_claimed(
        &mut self,
        claimed: Claimed,
        interrupt: &Interrupt,
    ) -> Result<(), Failure> {
        let budget = Duration::from_secs_f64(self.worker.plan().budget_s);
        let shard = Arc::new(Shard::of_claim(&claimed, budget));
        let stopped = interrupt.token().child_token();
        let by_either = interrupt.of_part(stopped.clone());
        // Nothing is left to others twice: they may be no better.
        let is_range = matches!(claimed.work, Work::Range(_));
        let leaves = is_range && !self.is_proven && !self.retries && !claimed.again;
        let part = Box::pin(self.run_part(&shard, leaves, &by_either));
        let ran = until_lost(part, &claimed.lost, &stopped).await;
        if claimed.lost.is_cancelled() {
            note(self.printer, "note: the shard was taken over by another worker");
        }
        if let (Work::Part(object, Step::Begin), Err(_) | Ok(None)) = (&claimed.work, &ran) {
            // No other step goes on with an upload that this one may have begun.
            self.abort(object, &shard.begun()).await;
        }
        match (claimed.work.clone(), ran) {
            (Work::Part(object, step @ (Step::Begin | Step::Send(_))), Ok(Some(_))) => {
                self.end_step(claimed, (&object, step), &shard, None).await
            }
            // A step has two tries, of different workers where one could not go on.
            (Work::Part(object, step @ (Step::Begin | Step::Send(_))), Err(failure))
                if claimed.again && !is_of_this_machine(&failure) =>
            {
                self.end_step(claimed, (&object, step), &shard, Some(failure.message)).await
            }
            (Work::Part(object, Step::Begin | Step::Send(_)), Err(failure)) => {
                self.worker.release(claimed).await?;
                if ends_worker(&failure) {
                    return Err(failure);
                }
                self.note_failed(&object, &failure.message);
                Ok(())
            }
            (work, Ok(Some(commit))) => {
                let commit = self.commit_of(&work, &shard, commit).await?;
                let shown = commit.clone();
                let is_first = self.worker.commit(claimed, commit).await?;
                self.print_end(&work, &shown, is_first);
                Ok(())
            }
            (_, stopped) => {
                self.worker.release(claimed).await?;
                stopped.map(drop)
            }
        }
    }

    fn note_failed(&self, object: &Divided, reason: &str) {
        let target = &object.target;
        note(self.printer, &format!("note: parts of `{target}` were not sent: {reason}"));
    }

    /// The commit of what came of a run.
    async fn commit_of(
        &mut self,
        work: &Work,
        shard: &Shard,
        commit: Commit,
    ) -> Result<Commit, Failure> {
        let commit = Commit { worker: self.worker.name().to_owned(), ..commit };
        let Work::Range(range) = work else { return Ok(commit) };
        let (reached, divided) = (shard.stopped_at(), shard.divided());
        let cuts = self.cut_again(range, reached.as_ref()).await?;
        let KeyRange { after, through } = range.clone();
        Ok(Commit { after, through, reached, cuts, divided, ..commit })
    }

    /// Writes what became of a step before the last of a large object. Where it failed, the worker
    /// that ends the object does it.
    async fn end_step(
        &mut self,
        claimed: Claimed,
        (object, step): (&Divided, Step),
        shard: &Shard,
        failed: Option<String>,
    ) -> Result<(), Failure> {
        if let Some(reason) = &failed {
            self.note_failed(object, reason);
        }
        if step != Step::Begin {
            self.worker.sent(claimed).await?;
            self.print_part(object, step, failed);
            return Ok(());
        }
        let begun = if failed.is_none() { shard.begun() } else { Begun::default() };
        if !self.worker.begun(claimed, &begun).await? {
            self.abort(object, &begun).await;
        }
        self.print_part(object, step, failed);
        Ok(())
    }

    /// Drops an upload that was begun in vain. One that stays is not worth a failure.
    async fn abort(&mut self, object: &Divided, begun: &Begun) {
        let Some(upload_id) = begun.upload_id() else { return };
        let Ok((spec, clients, _)) = self.settings().await.and_then(opened) else { return };
        let target = s3_uri::parse(spec.target.as_deref().unwrap_or_default());
        if let Ok(ObjectName { bucket, .. }) = target {
            let _ = clients.target.abort_multipart(&bucket, &object.target, upload_id).await;
        }
    }

    /// Runs a part of the job; gives what came of it, or none if it was interrupted. One of which
    /// all failed for want of something that other machines may have can be left to them.
    async fn run_part(
        &mut self,
        shard: &Arc<Shard>,
        leaves: bool,
        interrupt: &Interrupt,
    ) -> Result<Option<Commit>, Failure> {
        let mut settings = self.settings().await?;
        settings.spec.shard = Some(Arc::clone(shard));
        let failures = Arc::new(ShardFailures::default());
        let streams =
            Streams { input: Box::new(std::io::empty()), output: Box::new(std::io::sink()) };
        let observer = Some(Arc::clone(&failures) as Arc<dyn EventSink>);
        let begun = Instant::now();
        let ran =
            transfer::run_observed(settings, self.printer, interrupt, streams, observer).await;
        let (_, summary) = ran?;
        if summary.cancelled {
            return Ok(None);
        }
        if summary.fatal || summary.not_tried > 0 || failures.has_refused_keys() {
            return Err(failures.left().with_status(exit::FAILED));
        }
        let Summary { done, skipped, failed, warnings, bytes, .. } = summary;
        if leaves && done == 0 && failures.may_differ_elsewhere() {
            return Err(failures.left().with_status(exit::FAILED));
        }
        self.is_proven |= done + failed > 0;
        Ok(Some(Commit {
            done,
            skipped,
            failed,
            warnings,
            bytes,
            failures: failures.take(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            seconds: begun.elapsed().as_secs_f64(),
            ..Commit::default()
        }))
    }

    /// The settings of a shard. What it reads must be what the job was cut by.
    async fn settings(&mut self) -> Result<TransferSettings, Failure> {
        let mut settings = TransferSettings::of_job(&self.request, &self.machine)?;
        let plan = self.worker.plan();
        check_folders(&settings.spec, plan)?;
        if let Some(place) = rows_of(&settings) {
            let clients = clients(settings.client.clone(), settings.source_client.clone())?;
            if manifest_state(Some(&place), &clients).await? != plan.manifest {
                return Err(Failure::other(
                    "the file that names the objects has changed since the job was begun: its rows \
                     are no longer those that were counted",
                ));
            }
            settings.spec.manifest = self.manifest.take();
            open_manifest(&mut settings.spec, settings.manifest.clone(), &clients)?;
            self.manifest.clone_from(&settings.spec.manifest);
        }
        Ok(settings)
    }

    /// Cuts what a shard leaves, where others would have nothing to do.
    async fn cut_again(
        &mut self,
        range: &KeyRange,
        reached: Option<&String>,
    ) -> Result<Vec<String>, Failure> {
        let Some(reached) = reached else { return Ok(Vec::new()) };
        let pieces = self.worker.pieces().await?;
        // All rows of a file would have to be read for it.
        if pieces == 1 || self.worker.plan().manifest.is_some() {
            return Ok(Vec::new());
        }
        let (spec, clients, _) = opened(self.settings().await?)?;
        let rest = KeyRange { after: reached.clone(), through: range.through.clone() };
        // A listing that fails now fails the next shard, which says so.
        Ok(cut_job(spec, &clients, &rest, (pieces, CUT_AGAIN_TIME)).await.unwrap_or_default())
    }

    fn print_end(&self, work: &Work, commit: &Commit, is_first: bool) {
        match work {
            Work::Range(_) => self.print_shard(commit, is_first),
            Work::Part(object, step) => {
                let failure = commit.failures.first().map(|failure| failure.error.clone());
                self.print_part(object, *step, failure);
            }
        }
    }

    fn print_part(&self, object: &Divided, step: Step, failed: Option<String>) {
        let step = match step {
            Step::Begin => "begun".to_owned(),
            Step::Send(piece) => format!("piece {}", piece + 1),
            Step::End => "ended".to_owned(),
        };
        self.printer.output(|buffer| {
            if self.as_json {
                let line =
                    PartLine { source: &object.source, target: &object.target, step, failed };
                return json::push(buffer, "part", line);
            }
            let failed = failed.map(|_| ", failed").unwrap_or_default();
            push_line(buffer, &format!("object in parts: `{}`, {step}{failed}", object.target));
        });
        self.printer.flush();
    }

    fn print_shard(&self, commit: &Commit, is_first: bool) {
        self.printer.output(|buffer| {
            if self.as_json {
                return json::push(buffer, "shard", ShardLine { commit, counts: is_first });
            }
            let Commit { after, through, reached, done, bytes, failed, seconds, .. } = commit;
            let end = reached.as_ref().or(through.as_ref());
            let end = end.map_or("the end", String::as_str);
            let from = if after.is_empty() { "the beginning" } else { after.as_str() };
            let twice = if is_first { "" } else { " (another run of it was first)" };
            let line = format!(
                "shard: {}, {bytes} bytes, {failed} failed, {seconds:.1} s, from {from} to \
                 {end}{twice}",
                number_of(*done, "object")
            );
            push_line(buffer, &line);
        });
        self.printer.flush();
    }

    /// The end of a job in which nothing is left.
    async fn conclude(&mut self) -> Result<u8, Failure> {
        let job = Status::of(&mut self.worker).await?;
        let totals = &job.totals;
        if !self.as_json {
            self.printer.output(|buffer| push_line(buffer, &job.line()));
        }
        if totals.failed > 0 {
            let command = self.flags.resume(&self.worker.folder());
            let mut resume = format!("`{command}` tries them again");
            if self.request.job.reports.apply.is_some() {
                resume.push_str("; what has changed since the plan was made takes a new plan");
            }
            let ledger = self.worker.ledger();
            let failures: Vec<_> =
                ledger.failed().flat_map(|(_, commit)| commit.failures).collect();
            let texts = failures.iter().map(|failed| (&*failed.subject, &*failed.error));
            let failures = Failures::of_texts(texts);
            self.printer.error(|buffer| failures.push(buffer, totals.failed));
            note(self.printer, &format!("note: {resume}"));
        }
        Ok(match (totals.failed, totals.warnings) {
            (0, 0) => exit::SUCCESS,
            (0, _) => exit::WARNED,
            _ => exit::FAILED,
        })
    }
}

/// Fails where a folder of the job is another one on this machine.
fn check_folders(spec: &TransferSpec, plan: &Plan) -> Result<(), Failure> {
    let (source, target) = folders_of(spec);
    let source = source.zip(plan.source.as_ref()).filter(|(path, source)| {
        !if spec.sync.delete { source.is_surely_at(path) } else { source.is_at(path) }
    });
    let target = target.zip(plan.target.as_ref()).filter(|(path, target)| !target.is_at(path));
    let Some((path, _)) = source.or(target) else { return Ok(()) };
    Err(Failure::other(format!(
        "`{}` is not the folder that the job was begun with: is its file system mounted on this \
         machine?",
        path.display()
    )))
}

/// Whether something failed because of this machine: others may well do it.
fn is_of_this_machine(failure: &Failure) -> bool {
    let is_refused = failure.cause.as_ref().is_some_and(|cause| refuses_keys(&cause.code));
    is_refused || matches!(failure.status, exit::CONFIGURATION | exit::USAGE)
}

/// Whether a worker that fails so would fail at everything.
fn ends_worker(failure: &Failure) -> bool {
    let cause = failure.cause.as_ref();
    cause.is_some_and(|cause| is_denied(cause.kind, &cause.code)) || is_of_this_machine(failure)
}

/// Runs something to its end, which is soon where its shard is lost.
async fn until_lost<T>(
    run: impl Future<Output = T>,
    lost: &CancellationToken,
    stopped: &CancellationToken,
) -> T {
    tokio::pin!(run);
    tokio::select! {
        ended = &mut run => return ended,
        () = lost.cancelled() => stopped.cancel(),
    }
    run.await
}

#[derive(Serialize)]
struct ShardLine<'a> {
    #[serde(flatten)]
    commit: &'a Commit,
    /// It is the commit that counts.
    counts: bool,
}

#[derive(Serialize)]
struct PartLine<'a> {
    source: &'a str,
    target: &'a str,
    step: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    failed: Option<String>,
}
