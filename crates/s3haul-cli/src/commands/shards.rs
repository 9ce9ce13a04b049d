//! `job start`, `worker`, and what `jobs` says of a job that workers do.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use s3haul::event::{Event, EventSink, Outcome};
use s3haul::job::{Clients, Manifest, Streams, Summary, TransferCommand, TransferSpec, cut_job};
use s3haul::location::ObjectName;
use s3haul::plan::s3_uri;
use s3haul::shard::{
    Begun, Claimed, Commit, Divided, FolderError, JobFolder, KeyRange, Plan, Shard, SourceFolder,
    Step, Turn, Work, Worker,
};
use s3haul_wire::ops::HeadObject;
use s3haul_wire::{ClientConfig, Error, ErrorKind};
use serde::Serialize;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::shared::{SharedClients, clients, folder_client};
use super::transfer;
use crate::args::{JobStartArgs, WorkerArgs};
use crate::exit;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::manifest::ManifestFile;
use crate::plan::PlanFile;
use crate::printer::Printer;
use crate::render::escape::push_name;
use crate::render::json;
use crate::settings::{JobRequest, Machine, ManifestPlace, TransferSettings, quoted};

/// How long a listing is looked at to find where it is cut.
const CUT_TIME: Duration = Duration::from_secs(10);
/// The same for what a shard leaves.
const CUT_AGAIN_TIME: Duration = Duration::from_secs(1);
/// Time between two looks of `watch`.
const WATCH_PAUSE: Duration = Duration::from_secs(2);
/// Failures that a commit holds.
const FAILURES_MAX: usize = 100;
/// Failures that `show` prints to people.
const FAILURES_SHOWN: usize = 10;

/// Whether what names a job is the folder of one that workers do.
pub(crate) fn is_folder(name: &str) -> bool {
    s3_uri::is_s3(name) || name.contains('/') || Path::new(name).is_dir()
}

/// The folder of this name, reached by a client where it is in a bucket.
fn folder(name: &str, config: ClientConfig) -> Result<JobFolder, Failure> {
    if !s3_uri::is_s3(name) {
        let path = std::path::absolute(name).unwrap_or_else(|_| PathBuf::from(name));
        return Ok(JobFolder::Directory(path));
    }
    let ObjectName { bucket, key, .. } = s3_uri::parse(name)
        .map_err(|error| Failure::usage(format!("`{name}` is no folder of a job: {error}")))?;
    let key = if key.is_empty() || key.ends_with('/') { key } else { format!("{key}/") };
    Ok(JobFolder::Bucket { client: folder_client(config)?, prefix: ObjectName::new(bucket, key) })
}

impl From<FolderError> for Failure {
    fn from(error: FolderError) -> Self {
        let message = error.to_string();
        match error {
            FolderError::Wire { source, .. } => Self { message, ..source.into() },
            FolderError::Taken { .. } | FolderError::Missing { .. } => Self::usage(message),
            _ => Self::other(message),
        }
    }
}

/// Begins a job.
pub(super) async fn start(
    args: JobStartArgs,
    (request, machine): (JobRequest, Machine),
    config: ClientConfig,
    printer: &Printer,
) -> Result<u8, Failure> {
    let settings = TransferSettings::of_job(&request, &machine)?;
    let reports = &request.job.reports;
    if reports.report.is_some() || reports.retry_failed.is_some() {
        return Err(Failure::usage(
            "this job cannot be done in shards: dry runs and reports are those of one process",
        ));
    }
    let manifest = request.job.task.manifest().map(|manifest| manifest.file.as_str());
    if manifest.is_some_and(|file| !s3_uri::is_s3(file) && Path::new(file).is_relative()) {
        return Err(Failure::usage(
            "workers have to find the file of --from: give it as an absolute path or as \
             s3://bucket/key",
        ));
    }
    refuse_inside(&args.at, &settings.spec)?;
    let job: Value = serde_json::from_str(&request.planned("job start")?)
        .map_err(|error| Failure::other(format!("the job cannot be written: {error}")))?;
    let folder = folder(&args.at, config)?;
    if args.resume && has_job(&folder, &job).await? {
        note(printer, &format!("note: goes on with the job in `{}`", args.at));
    } else {
        let place = rows_of(&settings);
        let (spec, clients) = opened(settings)?;
        let budget = (args.shards as usize, CUT_TIME);
        let manifest = manifest_state(place.as_ref(), &clients).await?;
        let source = source_of(&spec).as_deref().and_then(SourceFolder::of);
        let cuts = cut_job(spec, &clients, &KeyRange::default(), budget).await;
        let cuts = cuts.map_err(refused)?;
        let count = cuts.len() + 1;
        let (budget_s, lease_s) = (args.budget, args.lease);
        let plan = Plan { budget_s, lease_s, manifest, source, ..Plan::new(job, cuts) };
        folder.begin(&plan.to_json()).await?;
        let noun = if count == 1 { "shard" } else { "shards" };
        note(printer, &format!("note: the job in `{}` has {count} {noun} to begin with", args.at));
    }
    let command = format!("s3haul worker --job {}\n", quoted(folder.name().trim_end_matches('/')));
    printer.output(|buffer| buffer.extend_from_slice(command.as_bytes()));
    Ok(exit::SUCCESS)
}

/// The folder that a job reads, where it is one of this machine.
fn source_of(spec: &TransferSpec) -> Option<PathBuf> {
    let path = (!s3_uri::is_s3(&spec.source)).then(|| spec.working_dir.join(&spec.source))?;
    Some(path).filter(|_| spec.recursive || spec.command == TransferCommand::Sync)
}

/// The file that names the objects of a job, if one does.
fn rows_of(settings: &TransferSettings) -> Option<ManifestPlace> {
    let plan = settings.report.apply.clone().map(ManifestPlace::File);
    plan.or_else(|| settings.manifest.as_ref().map(|manifest| manifest.place.clone()))
}

/// What changes with the file that names the objects of a job.
async fn manifest_state(
    place: Option<&ManifestPlace>,
    clients: &Clients,
) -> Result<Option<String>, Failure> {
    Ok(match place {
        None | Some(ManifestPlace::Input) => None,
        Some(ManifestPlace::File(path)) => {
            let facts = std::fs::metadata(path).map_err(|error| {
                Failure::other(format!("could not read `{}`: {error}", path.display()))
            })?;
            let (seconds, nanoseconds) = (facts.mtime(), facts.mtime_nsec());
            Some(format!("{} bytes, {seconds}.{nanoseconds:09}", facts.len()))
        }
        Some(ManifestPlace::Object(ObjectName { bucket, key, version_id })) => {
            let version_id = version_id.as_deref();
            let input = HeadObject { bucket, key, version_id, ..HeadObject::default() };
            Some(clients.source.head_object(input).await?.etag)
        }
    })
}

/// Refuses a folder whose files the job itself would copy, move or remove.
fn refuse_inside(folder: &str, spec: &TransferSpec) -> Result<(), Failure> {
    let name = |text: &str| {
        if s3_uri::is_s3(text) {
            return format!("{}/", text.trim_end_matches('/'));
        }
        let path = std::path::absolute(text).unwrap_or_else(|_| PathBuf::from(text));
        // As much of it as exists, with links followed.
        let real = path.ancestors().find_map(|above| {
            let rest = path.strip_prefix(above).ok()?;
            Some(above.canonicalize().ok()?.join(rest))
        });
        let path = real.unwrap_or(path);
        format!("{}/", path.display().to_string().trim_end_matches('/'))
    };
    let is_inside = |side: &&str| {
        let pattern = side.find(['*', '?']).filter(|_| s3_uri::is_s3(side) && !spec.raw);
        match pattern {
            Some(at) => name(folder).starts_with(&side[..at]),
            None => name(folder).starts_with(&name(side)),
        }
    };
    let sides = [Some(spec.source.as_str()), spec.target.as_deref()];
    match sides.into_iter().flatten().find(is_inside) {
        None => Ok(()),
        Some(side) => Err(Failure::usage(format!(
            "the folder `{folder}` lies in `{side}`, where the job itself would find its files"
        ))),
    }
}

/// Whether the folder has this job; none may be there, but no other.
async fn has_job(folder: &JobFolder, job: &Value) -> Result<bool, FolderError> {
    match Worker::open(folder.clone()).await {
        Ok(worker) if worker.plan().job == *job => Ok(true),
        Ok(_) => Err(FolderError::Taken { name: folder.name() }),
        Err(FolderError::Missing { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}

fn refused(error: Error) -> Failure {
    match error.kind() {
        ErrorKind::Config => Failure::from(error).with_status(exit::USAGE),
        _ => error.into(),
    }
}

/// The clients of a job, and its specification with the manifest or plan that it reads.
fn opened(settings: TransferSettings) -> Result<(TransferSpec, Clients), Failure> {
    let clients = clients(settings.client, settings.source_client)?;
    let open = |manifest| ManifestFile::open(manifest, clients.source.clone());
    let mut spec = settings.spec;
    if let Some(manifest) = settings.manifest.map(open).transpose()? {
        spec.manifest = Some(Arc::new(manifest));
    }
    if let Some(plan) = &settings.report.apply {
        spec.names = Some(Arc::new(PlanFile::open(plan)?));
    }
    Ok((spec, clients))
}

/// A worker, with what it has at hand.
pub(super) struct ShardWork<'a> {
    pub(super) worker: Worker,
    pub(super) request: JobRequest,
    pub(super) machine: Machine,
    pub(super) as_json: bool,
    /// What failed is tried again at the end.
    pub(super) retries: bool,
    /// The file that names the objects, once it was opened.
    pub(super) manifest: Option<Arc<dyn Manifest>>,
    pub(super) printer: &'a Arc<Printer>,
}

/// The worker of a folder. It knows what the last one of this program knew.
pub(super) async fn open(name: &str, config: ClientConfig) -> Result<Worker, Failure> {
    let worker = Worker::open(folder(name, config)?).await?;
    Ok(match SharedClients::kept_worker(name) {
        Some(earlier) => worker.knowing(earlier),
        None => worker,
    })
}

impl ShardWork<'_> {
    /// Does shards until none is left, and gives the exit code of the job.
    pub(super) async fn run(
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
            let Some(commit) = self.run_part(&shard, interrupt).await? else { return Ok(()) };
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
        let by_either = Interrupt::by(stopped.clone());
        let part = Box::pin(self.run_part(&shard, &by_either));
        let ran = until_lost(part, &claimed.lost, &stopped).await;
        if claimed.lost.is_cancelled() {
            note(self.printer, "note: the shard was taken over by another worker");
        }
        match (claimed.work.clone(), ran) {
            (Work::Part(object, step @ (Step::Begin | Step::Send(_))), ran)
                if !matches!(&ran, Ok(None)) && !ran.as_ref().is_err_and(is_of_this_machine) =>
            {
                self.end_step(claimed, (&object, step), &shard, ran).await
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
        ran: Result<Option<Commit>, Failure>,
    ) -> Result<(), Failure> {
        let failed = ran.err().map(|failure| failure.message);
        if let Some(reason) = &failed {
            let target = &object.target;
            note(self.printer, &format!("note: parts of `{target}` were not sent: {reason}"));
        }
        if step != Step::Begin {
            self.worker.sent(claimed).await?;
            self.print_part(object, step, failed);
            return Ok(());
        }
        let begun = if failed.is_none() { shard.begun() } else { Begun::default() };
        if !self.worker.begun(claimed, &begun).await?
            && let Some(upload_id) = begun.upload_id()
        {
            self.abort(object, upload_id).await?;
        }
        self.print_part(object, step, failed);
        Ok(())
    }

    /// Drops an upload that was begun twice. One that stays is not worth a failure.
    async fn abort(&mut self, object: &Divided, upload_id: &str) -> Result<(), Failure> {
        let (spec, clients) = opened(self.settings().await?)?;
        let target = s3_uri::parse(spec.target.as_deref().unwrap_or_default());
        if let Ok(ObjectName { bucket, .. }) = target {
            let _ = clients.target.abort_multipart(&bucket, &object.target, upload_id).await;
        }
        Ok(())
    }

    /// Runs a part of the job; gives what came of it, or none if it was interrupted.
    async fn run_part(
        &mut self,
        shard: &Arc<Shard>,
        interrupt: &Interrupt,
    ) -> Result<Option<Commit>, Failure> {
        let mut settings = self.settings().await?;
        settings.spec.shard = Some(Arc::clone(shard));
        let failures = Arc::new(Failures::default());
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
        if summary.fatal || summary.not_tried > 0 {
            return Err(failures.left().with_status(exit::FAILED));
        }
        let Summary { done, skipped, failed, warnings, bytes, .. } = summary;
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
        let source = source_of(&settings.spec).zip(plan.source.as_ref());
        if let Some((path, _)) = source.filter(|(path, source)| !source.is_at(path)) {
            return Err(Failure::other(format!(
                "`{}` is not the folder that the job was begun with: is its file system mounted \
                 on this machine?",
                path.display()
            )));
        }
        if let Some(place) = rows_of(&settings) {
            let clients = clients(settings.client.clone(), settings.source_client.clone())?;
            if manifest_state(Some(&place), &clients).await? != plan.manifest {
                return Err(Failure::other(
                    "the file that names the objects has changed since the job was begun: its rows \
                     are no longer those that were counted",
                ));
            }
            if let (None, Some(manifest)) = (&self.manifest, settings.manifest.take()) {
                self.manifest = Some(Arc::new(ManifestFile::open(manifest, clients.source)?));
            }
            settings.manifest = None;
            settings.spec.manifest.clone_from(&self.manifest);
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
        let (spec, clients) = opened(self.settings().await?)?;
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
                "shard: {done} objects, {bytes} bytes, {failed} failed, {seconds:.1} s, from \
                 {from} to {end}{twice}"
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
            let folder = self.worker.folder();
            let resume = format!("`s3haul jobs resume {folder}` tries them again");
            note(self.printer, &format!("note: {} objects failed: {resume}", totals.failed));
        }
        Ok(match (totals.failed, totals.warnings) {
            (0, 0) => exit::SUCCESS,
            (0, _) => exit::WARNED,
            _ => exit::FAILED,
        })
    }
}

/// Whether something failed because of this machine: others may well do it.
fn is_of_this_machine(failure: &Failure) -> bool {
    matches!(failure.status, exit::CONFIGURATION | exit::USAGE)
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

/// Collects what fails.
#[derive(Debug, Default)]
struct Failures {
    objects: Mutex<Vec<s3haul::shard::Failure>>,
    fatal: Mutex<Option<Failure>>,
}

impl Failures {
    fn take(&self) -> Vec<s3haul::shard::Failure> {
        std::mem::take(&mut *self.objects.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Why a shard did not come to its end.
    fn left(&self) -> Failure {
        match self.fatal.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(fatal) => Failure {
                message: format!("{}; the shard is left to other workers", fatal.message),
                ..fatal
            },
            None => {
                Failure::other("the shard did not come to its end, and is left to other workers")
            }
        }
    }
}

impl EventSink for Failures {
    fn emit(&self, event: &Event) {
        if let Event::Fatal { error } = event {
            let mut fatal = self.fatal.lock().unwrap_or_else(PoisonError::into_inner);
            fatal.get_or_insert_with(|| error.duplicate().into());
        }
        let Event::Object(object) = event else { return };
        let Outcome::Failed(error) = &object.outcome else { return };
        let mut failures = self.objects.lock().unwrap_or_else(PoisonError::into_inner);
        if failures.len() < FAILURES_MAX {
            failures.push(s3haul::shard::Failure {
                subject: object.source.to_string(),
                action: format!("{:?}", object.action).to_lowercase(),
                error: error.to_string(),
            });
        }
    }
}

/// How far a job is.
struct Status {
    totals: Commit,
    commits: usize,
    left: Vec<Work>,
}

impl Status {
    async fn of(worker: &mut Worker) -> Result<Self, Failure> {
        let left = worker.look().await?;
        worker.look_at_retries().await?;
        let ledger = worker.ledger();
        Ok(Self { totals: ledger.totals(), commits: ledger.commits().count(), left })
    }

    fn line(&self) -> String {
        let Self { totals: Commit { done, bytes, failed, .. }, commits, left } = self;
        let shards = format!("{commits} shards done, {} left", left.len());
        format!("{}: {done} objects, {bytes} bytes, {failed} failed, {shards}", self.state())
    }

    fn state(&self) -> &'static str {
        match (self.left.is_empty(), self.totals.failed) {
            (false, _) => "running",
            (true, 0) => "done",
            (true, _) => "failed",
        }
    }
}

/// Shows how far a job is, and what failed.
pub(super) async fn show(
    name: String,
    config: ClientConfig,
    as_json: bool,
    printer: &Printer,
) -> Result<u8, Failure> {
    let mut worker = open(&name, config).await?;
    let status = Status::of(&mut worker).await?;
    let ledger = worker.ledger();
    let count = if as_json { usize::MAX } else { FAILURES_SHOWN };
    let failures = ledger.failed().flat_map(|(_, commit)| commit.failures).take(count);
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
            format!("done:       {} objects, {} bytes", totals.done, totals.bytes),
            format!("not needed: {} objects", totals.skipped),
            format!("failed:     {} objects", totals.failed),
            format!("in shards:  {:.1} s", totals.seconds),
        ] {
            push_line(buffer, &line);
        }
        if !left.is_empty() {
            push_line(buffer, &format!("resume:     s3haul worker --job {name}"));
        } else if totals.failed > 0 {
            push_line(buffer, &format!("resume:     s3haul jobs resume {name}"));
        }
        for failed in failures {
            push_line(buffer, &format!("failed:     {}: {}", failed.subject, failed.error));
        }
    });
    SharedClients::keep_worker(name, worker);
    Ok(exit::SUCCESS)
}

/// Prints a line whenever a job got further, until nothing is left.
pub(super) async fn watch(
    name: String,
    config: ClientConfig,
    as_json: bool,
    printer: &Printer,
) -> Result<u8, Failure> {
    let mut worker = open(&name, config).await?;
    let mut commits = None;
    loop {
        let status = Status::of(&mut worker).await?;
        if commits.replace(status.commits) != Some(status.commits) {
            printer.output(|buffer| {
                if as_json {
                    return json::push(buffer, "job", StatusLine::of(&name, &worker, &status));
                }
                push_line(buffer, &status.line());
            });
            printer.flush();
        }
        if status.left.is_empty() || printer.output_is_closed() {
            return Ok(exit::SUCCESS);
        }
        tokio::time::sleep(WATCH_PAUSE).await;
    }
}

/// What a job does, in short.
fn task(job: &Value) -> String {
    let Some((name, task)) = job["task"].as_object().and_then(|task| task.iter().next()) else {
        return String::new();
    };
    let sides = ["source", "target"].into_iter().filter_map(|side| task[side].as_str());
    std::iter::once(name.as_str()).chain(sides).collect::<Vec<_>>().join(" ")
}

fn note(printer: &Printer, text: &str) {
    printer.error(|buffer| push_line(buffer, text));
}

/// What is in it may be meant for a terminal, and is printed as what it is.
fn push_line(buffer: &mut Vec<u8>, line: &str) {
    push_name(buffer, line, true);
    buffer.push(b'\n');
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
