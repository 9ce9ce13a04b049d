//! `cp`, `mv`, `rm`, `tag`, `undelete` and the frame of `sync`, `set` and `restore`.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_channel::Receiver;
use tokio_util::sync::CancellationToken;

use super::case_conflict::Releasing;
use super::in_place::{restore, set};
use super::local_source::plan_uploads;
use super::named;
use super::object_source::{
    MakeAction, copy_action, delete_action, download_action, plan_objects, tag_action,
};
use super::prepare::Prepared;
use super::queue::{Planned, Queue, Screened};
use super::spec::{Clients, Streams, Summary, TransferCommand, TransferSpec};
use super::sync::sync;
use super::version_source::{refuse_unversioned, version_of_source};
use crate::action::copy::run_copies;
use crate::action::delete::run_deletes;
use crate::action::download::run_downloads;
use crate::action::download::target::DownloadTarget;
use crate::action::stream::{download_stream, upload_stream};
use crate::action::tag::run_tags;
use crate::action::upload::run_uploads;
use crate::engine::core::Engine;
use crate::engine::limits::blocking;
use crate::engine::object::head;
use crate::engine::remove_object::{Place, removal_kind};
use crate::engine::reporter::Reporter;
use crate::engine::route::is_same_service;
use crate::event::{ActionKind, EventSink, ObjectEvent, Outcome};
use crate::fs::TargetRoot;
use crate::location::Location;
use crate::plan::action::{
    CopyAction, DeleteAction, DownloadAction, RemoveFileAction, TagAction, UploadAction,
};
use crate::plan::compare::Reason;
use crate::plan::paths::Side;
use s3haul_wire::error::Result;
use s3haul_wire::units::RequestCounts;

/// Time that the end of a job waits for what cannot be interrupted: blocking file work.
const END_TIME_MAX: Duration = Duration::from_secs(30);

/// Runs a job to its end. Objects that fail are events and counted; an error comes back only
/// where nothing was begun: [`crate::ErrorKind::Config`] for arguments that make no sense (exit
/// status 252), [`crate::ErrorKind::Local`] for a missing source path or a target folder that
/// cannot be made (255).
///
/// Cancelling stops new work, drops what is in flight, aborts multipart uploads, removes
/// temporary files and returns with `cancelled` set. Dropping the future instead cannot abort
/// uploads.
pub async fn run_transfer(
    spec: TransferSpec,
    clients: Clients,
    streams: Streams,
    sink: Arc<dyn EventSink>,
    cancel: CancellationToken,
) -> Result<Summary> {
    let is_one_service = is_same_service(clients.source.config(), clients.target.config());
    let job = Arc::new(Prepared::new(spec, is_one_service).await?);
    let sink = match &job.case_guard {
        Some(guard) => Arc::new(Releasing { sink, guard: Arc::clone(guard) }) as Arc<_>,
        None => sink,
    };
    let report = Arc::new(Reporter::new(sink));
    let Clients { source, target } = clients.clone();
    let sent_before = requests_sent(&clients);
    let (engine, ended) = Engine::new(job.settings(), source, target, Arc::clone(&report));
    let (uploads, stop) = (Arc::clone(&engine.uploads), engine.stop.clone());
    let result = tokio::select! {
        biased;
        () = cancel.cancelled() => None,
        () = stop.cancelled() => Some(Ok(())),
        result = run(job, engine, streams) => Some(result),
    };
    let _ = tokio::time::timeout(END_TIME_MAX, ended.wait()).await;
    for left in uploads.abort_all().await {
        report.warning(format!(
            "could not abort the multipart upload {} of s3://{}/{}",
            left.id, left.bucket, left.key
        ));
    }
    report.conclude_early_end();
    let counts = report.counts();
    let cancelled = result.is_none();
    if cancelled {
        report.settle();
    }
    result.transpose()?;
    Ok(Summary {
        done: counts.done,
        failed: counts.failed,
        skipped: counts.skipped,
        not_tried: counts.not_tried,
        warnings: counts.warnings,
        bytes: counts.bytes,
        fatal: counts.fatal,
        cancelled,
        requests_sent: requests_sent(&clients) - sent_before,
        requests_planned: report.requests_planned(),
    })
}

/// Requests that the clients of a job sent so far.
fn requests_sent(clients: &Clients) -> RequestCounts {
    let Clients { source, target } = clients;
    let both = source.requests_sent();
    if source.is_clone_of(target) { both } else { both + target.requests_sent() }
}

async fn run(job: Arc<Prepared>, engine: Arc<Engine>, streams: Streams) -> Result<()> {
    if job.plan.is_stream() {
        refuse_unversioned(&job, &engine).await?;
        run_stream(&job, &engine, streams).await;
        return Ok(());
    }
    drop(streams);
    refuse_unversioned(&job, &engine).await?;
    let is_sync = job.spec.command == TransferCommand::Sync;
    let Some(names) = job.spec.names.clone().filter(|_| is_sync) else {
        return if is_sync { sync(job, engine).await } else { act(job, engine).await };
    };
    act(Arc::clone(&job), Arc::clone(&engine)).await?;
    if job.removes_named() && !engine.report.ends_early() {
        named::remove(job, engine, names).await;
    }
    Ok(())
}

/// Does what the paths say to all that the source gives.
async fn act(job: Arc<Prepared>, engine: Arc<Engine>) -> Result<()> {
    match job.plan.action {
        ActionKind::Upload => upload(job, engine).await,
        ActionKind::Download => return download(job, engine).await,
        ActionKind::Copy => copy(&job, engine).await,
        ActionKind::Delete | ActionKind::Undelete => remove(&job, engine).await,
        ActionKind::Tag => tag(&job, engine).await,
        ActionKind::Set => set(&job, engine).await,
        ActionKind::Restore => restore(&job, engine).await,
    }
    Ok(())
}

/// Queue of a job; in a dry run everything ends there, and after an early end.
pub(super) fn queue<A: Planned>(
    job: &Prepared,
    engine: &Arc<Engine>,
    describe: impl Fn(&Engine, A) -> ObjectEvent + Send + Sync + 'static,
) -> (Queue<A>, Receiver<Vec<A>>) {
    Queue::new(engine, Some(Box::new(describe)), job.spec.dry_run)
}

pub(super) fn event(
    engine: &Engine,
    action: ActionKind,
    source: Location,
    target: Option<Location>,
    bytes: u64,
) -> ObjectEvent {
    let is_move = engine.settings.is_move;
    let outcome = Outcome::DryRun;
    ObjectEvent { action, is_move, source, target, bytes, reason: None, outcome }
}

/// What a dry run tells of an upload.
pub(super) fn describe_upload(engine: &Engine, action: UploadAction) -> ObjectEvent {
    let target = Some(engine.target_object(action.key));
    let reason = action.reason.map(Reason::name);
    let source = Location::Local(action.path);
    let event = event(engine, ActionKind::Upload, source, target, action.size);
    ObjectEvent { reason, ..event }
}

/// What a dry run tells of a download.
pub(super) fn describe_download(
    place: DownloadTarget,
) -> impl Fn(&Engine, DownloadAction) -> ObjectEvent + Send + Sync {
    move |engine, action| {
        let path = Location::Local(place.path_of(&action.relative));
        let source = engine.source_version(action.key, action.version_id);
        let reason = action.reason.map(Reason::name);
        let event = event(engine, ActionKind::Download, source, Some(path), action.size);
        ObjectEvent { reason, ..event }
    }
}

/// What a dry run tells of a copy.
pub(super) fn describe_copy(engine: &Engine, action: CopyAction) -> ObjectEvent {
    let target = Some(engine.target_object(action.target_key));
    let source = engine.source_version(action.source_key, action.version_id);
    let reason = action.reason.map(Reason::name);
    let event = event(engine, ActionKind::Copy, source, target, action.size);
    ObjectEvent { reason, ..event }
}

/// What a dry run tells of a removal.
pub(super) fn describe_delete(
    place: Place,
) -> impl Fn(&Engine, DeleteAction) -> ObjectEvent + Send + Sync {
    move |engine, action| {
        let source = place.version(engine, action.key, action.version_id);
        event(engine, removal_kind(engine), source, None, action.size)
    }
}

/// What a dry run tells of tags.
fn describe_tag(engine: &Engine, action: TagAction) -> ObjectEvent {
    let source = engine.source_object(action.key);
    event(engine, ActionKind::Tag, source, None, action.size)
}

/// What a dry run tells of the removal of a file.
pub(super) fn describe_file_removal(
    root: TargetRoot,
) -> impl Fn(&Engine, RemoveFileAction) -> ObjectEvent + Send + Sync {
    move |engine, action| {
        let source = Location::Local(root.path_of(&action.relative));
        event(engine, ActionKind::Delete, source, None, action.size)
    }
}

async fn upload(job: Arc<Prepared>, engine: Arc<Engine>) {
    let (queue, actions) = queue(&job, &engine, describe_upload);
    let planner = Arc::clone(&engine);
    let planned = blocking(move || plan_uploads(&job, &planner, &queue));
    tokio::join!(planned, run_uploads(engine, actions));
}

async fn download(job: Arc<Prepared>, engine: Arc<Engine>) -> Result<()> {
    let target = open_target(&job).await?;
    let (mut queue, actions) = queue(&job, &engine, describe_download(target.clone()));
    screen(&job, &target, &mut queue);
    let make: MakeAction<DownloadAction> = Box::new(download_action);
    let planned = async {
        plan_objects(&job, &engine, &queue, make).await;
        drop(queue);
    };
    tokio::join!(planned, run_downloads(Arc::clone(&engine), target, actions));
    Ok(())
}

/// Lets downloads be looked at before they are queued, where that is asked for.
pub(super) fn screen(job: &Prepared, target: &DownloadTarget, queue: &mut Queue<DownloadAction>) {
    // A sync compares before, but for names that an earlier run gave.
    let is_compared = job.spec.command == TransferCommand::Sync && job.spec.names.is_none();
    let no_overwrite = job.spec.no_overwrite && !is_compared;
    let (place, guard) = (target.clone(), job.case_guard.clone());
    if !no_overwrite && guard.is_none() {
        return;
    }
    queue.screen_with(Arc::new(move |engine, mut actions| {
        if no_overwrite {
            actions = skip_existing(engine, &place, actions);
        }
        match &guard {
            Some(guard) => guard.screen(engine, &place, actions),
            None => Screened { actions, is_end: false },
        }
    }));
}

/// Leaves out objects whose files exist (`--no-overwrite`). Blocks.
fn skip_existing(
    engine: &Engine,
    target: &DownloadTarget,
    actions: Vec<DownloadAction>,
) -> Vec<DownloadAction> {
    let (existing, missing): (Vec<_>, Vec<_>) =
        actions.into_iter().partition(|action| target.exists(&action.relative));
    for action in existing {
        let path = Location::Local(target.path_of(&action.relative));
        let source = engine.source_version(action.key, action.version_id);
        let event = event(engine, ActionKind::Download, source, Some(path), action.size);
        engine.report.planned(action.size);
        engine.report.object(ObjectEvent { outcome: Outcome::Skipped, ..event });
    }
    missing
}

pub(super) async fn open_target(job: &Prepared) -> Result<DownloadTarget> {
    if let Some(folder) = job.plan.target_directory() {
        let folder = folder.to_owned();
        let file = named_file(job, &folder);
        return blocking(move || match file {
            // As with the AWS tools: for an object that is not there no folder is made.
            Some(file) if !folder.exists() => Ok(DownloadTarget::Exactly(file)),
            _ => TargetRoot::open(&folder).map(DownloadTarget::Below),
        })
        .await;
    }
    let path = match &job.plan.target {
        Some(Side::Local(path)) => PathBuf::from(path),
        _ => PathBuf::new(),
    };
    Ok(DownloadTarget::Exactly(path))
}

/// The one file of a job, where its name is told by the paths alone.
fn named_file(job: &Prepared, folder: &Path) -> Option<PathBuf> {
    let name = job.plan.single_name();
    let mut components = Path::new(name).components();
    let is_plain = matches!(components.next(), Some(Component::Normal(first)) if first == name)
        && components.next().is_none();
    let is_told = !job.plan.is_directory && job.chooser.is_none() && job.spec.names.is_none();
    (is_told && is_plain).then(|| folder.join(name))
}

async fn copy(job: &Prepared, engine: Arc<Engine>) {
    let (queue, actions) = queue(job, &engine, describe_copy);
    let make: MakeAction<CopyAction> = Box::new(copy_action);
    let planned = async {
        plan_objects(job, &engine, &queue, make).await;
        drop(queue);
    };
    tokio::join!(planned, run_copies(Arc::clone(&engine), actions));
}

async fn remove(job: &Prepared, engine: Arc<Engine>) {
    let (queue, actions) = queue(job, &engine, describe_delete(Place::Source));
    let make: MakeAction<DeleteAction> = Box::new(|job, _, found| Some(delete_action(job, &found)));
    let planned = async {
        plan_objects(job, &engine, &queue, make).await;
        drop(queue);
    };
    tokio::join!(planned, run_deletes(Arc::clone(&engine), Place::Source, actions));
}

async fn tag(job: &Prepared, engine: Arc<Engine>) {
    let (queue, actions) = queue(job, &engine, describe_tag);
    let make: MakeAction<TagAction> = Box::new(|_, _, found| Some(tag_action(&found)));
    let planned = async {
        plan_objects(job, &engine, &queue, make).await;
        drop(queue);
    };
    tokio::join!(planned, run_tags(Arc::clone(&engine), actions));
}

async fn run_stream(job: &Prepared, engine: &Arc<Engine>, streams: Streams) {
    if job.plan.action == ActionKind::Upload {
        let key = job.target_key("-");
        if job.spec.dry_run {
            let target = Some(engine.target_object(key));
            return engine.report.object(event(
                engine,
                ActionKind::Upload,
                Location::Stream,
                target,
                0,
            ));
        }
        return upload_stream(engine, streams.input, key, job.spec.expected_size).await;
    }
    let key = job.source_key().to_owned();
    let (version_id, found) = match version_of_source(job, engine).await {
        Ok(version_id) => {
            let found = head(engine, &key, version_id.as_deref()).await;
            (version_id, found)
        }
        Err(error) => (None, Err(error)),
    };
    match found {
        Err(error) => {
            engine.report.planned(0);
            engine.report.plan_complete();
            let (source, target) = (engine.source_object(key), Some(Location::Stream));
            engine.conclude(ActionKind::Download, source, target, 0, Err(error));
        }
        Ok(head) if job.spec.dry_run => {
            let source = engine.source_version(key, version_id);
            let target = Some(Location::Stream);
            let requests = RequestCounts { read: 1, ..RequestCounts::default() };
            engine.report.would_send(requests, 0);
            engine.report.object(event(engine, ActionKind::Download, source, target, head.size));
        }
        Ok(head) => download_stream(engine, streams.output, (key, version_id), &head).await,
    }
}
