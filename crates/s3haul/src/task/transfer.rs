//! `cp`, `mv`, `rm`, `tag`, `undelete` and the frame of `sync`, `set` and `restore`.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::in_place::{restore, set};
use super::sync::{lookup, sync};
use crate::action::queue::start;
use crate::action::stream::{download_stream, upload_stream};
use crate::engine::core::{Engine, Place};
use crate::engine::limits::blocking;
use crate::engine::object::head;
use crate::engine::open_uploads::{OpenUpload, OpenUploads};
use crate::engine::reporter::Reporter;
use crate::engine::route::is_same_service;
use crate::event::{ActionKind, EventSink};
use crate::fs::{Access, TargetRoot, sync_file_system};
use crate::job::case_conflict::Releasing;
use crate::job::prepare::Prepared;
use crate::job::spec::{Clients, Streams, Summary, TransferCommand, TransferSpec};
use crate::journal::state::PartsInProgress;
use crate::journal::{Ending, Journal};
use crate::location::Location;
use crate::plan::paths::Side;
use crate::script::rename::Chooser;
use crate::source::presence::has_any;
use crate::source::report;
use crate::source::versions::{refuse_unversioned, version_of_source};
use crate::task::divided::{run_part, start_divided};
use crate::task::download_target::{open_target, start_downloads};
use crate::task::pipeline::{
    copy_action, delete_action, download_action, pipeline, tag_action, upload_action,
};
use s3haul_wire::Client;
use s3haul_wire::error::{Error, ErrorKind, Result};
use s3haul_wire::units::RequestCounts;

/// Time that the end of a job waits for what cannot be interrupted: blocking file work.
const END_TIME_MAX: Duration = Duration::from_secs(30);

/// Time limit for removals still in flight when a move is cancelled.
const REMOVALS_TIME_MAX: Duration = Duration::from_secs(2);

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
    let sink = match job.case_guard.clone() {
        Some(guard) => Arc::new(Releasing { sink, guard }) as Arc<_>,
        None => sink,
    };
    let journal = job.spec.journal.clone();
    let report = Arc::new(Reporter::new(sink).journalled(journal.clone()));
    let (sent_before, Clients { source, target }) = (clients.requests_sent(), clients.clone());
    let (engine, mut ended) = Engine::new(job.settings(), source, target, Arc::clone(&report));
    refuse_emptied(&job, &engine).await?;
    let (uploads, stop) = (Arc::clone(&engine.uploads), engine.stop.clone());
    let give_up = engine.give_up.clone();
    let (target_bucket, written) = (engine.settings.target_bucket.clone(), written_folder(&job));
    let of_shard = match written.clone().filter(|_| job.spec.shard.is_some()) {
        Some(folder) => blocking(move || Some((File::open(&folder).ok(), folder))).await,
        None => None,
    };
    let keeping = keep(journal.as_ref(), &clients.target, written.as_ref(), &report).await;
    let result = tokio::select! {
        biased;
        () = cancel.cancelled() => None,
        () = stop.cancelled() => Some(Ok(())),
        result = run(job, engine, streams) => Some(result),
    };
    if timeout(REMOVALS_TIME_MAX, ended.wait()).await.is_err() {
        give_up.cancel();
        let _ = timeout(END_TIME_MAX, ended.wait()).await;
    }
    abort_open(&uploads, &report).await;
    if let Some(folder) = of_shard.filter(|_| matches!(result, Some(Ok(()))))
        && let Err(error) = make_durable(folder).await
    {
        report.fatal(error);
    }
    report.conclude_early_end();
    let counts = report.counts();
    let cancelled = result.is_none();
    if cancelled {
        report.settle();
    }
    drop(keeping);
    if let Some(journal) = journal {
        let is_whole = !counts.fatal && counts.failed == 0 && counts.not_tried == 0;
        let ending = match &result {
            None => Ending::Interrupted,
            Some(Ok(())) if is_whole => Ending::Done,
            Some(_) => Ending::Failed,
        };
        if ending == Ending::Done {
            drop_parts(&journal, &uploads, &target_bucket, written.as_deref()).await;
            abort_open(&uploads, &report).await;
        }
        finish(journal, written, ending, &report).await;
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
        requests_sent: clients.requests_sent() - sent_before,
        requests_planned: report.requests_planned(),
    })
}

/// Begins to keep a journal of a job that writes files to a folder, until what it gives is dropped.
async fn keep(
    journal: Option<&Arc<Journal>>,
    client: &Client,
    written: Option<&PathBuf>,
    report: &Arc<Reporter>,
) -> JoinSet<()> {
    let mut keeping = JoinSet::new();
    if let Some(journal) = journal.map(Arc::clone) {
        journal.learn(client.admission());
        let (begun, target, report) = (Arc::clone(&journal), written.cloned(), Arc::clone(report));
        blocking(move || begun.begin(target.as_deref())).await;
        let target = written.cloned();
        keeping.spawn(async move { journal.keep(target, |text| report.note(text)).await });
    }
    keeping
}

/// Waits until the files of a shard are on the disk: it will be taken for done whatever becomes of
/// this machine. A job that keeps a journal does the same before each snapshot.
/// The folder is opened before the first file where it was there: errors from then on count.
async fn make_durable((opened, folder): (Option<File>, PathBuf)) -> Result<()> {
    blocking(move || {
        // A folder that is not there has nothing in it.
        let Some(opened) = opened.or_else(|| File::open(&folder).ok()) else { return Ok(()) };
        sync_file_system(&opened)
            .map_err(|error| Error::local("could not write to the disk what is in", &folder, error))
    })
    .await
}

/// Aborts the uploads that are open, and warns of those that stay or may have been left.
async fn abort_open(uploads: &Arc<OpenUploads>, report: &Reporter) {
    for left in uploads.abort_all().await {
        report.warning(format!(
            "could not abort the multipart upload {} of s3://{}/{}",
            left.id, left.bucket, left.key
        ));
    }
    // No failure: an upload without parts costs nothing.
    uploads.take_lost().warning().into_iter().for_each(|text| report.note(text));
}

/// Writes the end of a job to its journal.
async fn finish(
    journal: Arc<Journal>,
    written: Option<PathBuf>,
    ending: Ending,
    report: &Reporter,
) {
    let warning = blocking(move || {
        journal.finish(written.as_deref(), ending);
        journal.take_warning()
    });
    warning.await.into_iter().for_each(|text| report.note(text));
}

/// Drops what earlier runs left of objects in parts that are not at the source any more.
async fn drop_parts(
    journal: &Arc<Journal>,
    uploads: &OpenUploads,
    bucket: &str,
    written: Option<&Path>,
) {
    for PartsInProgress { target, handle, .. } in journal.all_parts() {
        let Some(folder) = written.map(Path::to_owned) else {
            let (bucket, key, id) = (bucket.to_owned(), target, handle);
            uploads.leave(OpenUpload { bucket, key, id, encryption: None });
            continue;
        };
        blocking(move || {
            let relative = Path::new(&target).strip_prefix(&folder).ok()?.to_str()?;
            // The temporary file is removed with its descriptor.
            TargetRoot::open(&folder).ok()?.reopen(relative, Access::Owner, &handle)
        })
        .await;
    }
}

/// The folder that a job writes files to.
fn written_folder(job: &Prepared) -> Option<PathBuf> {
    if job.plan.action != ActionKind::Download {
        return None;
    }
    match (job.plan.target_directory(), &job.plan.target) {
        (Some(folder), _) => Some(folder.to_owned()),
        (None, Some(Side::Local(file))) => Path::new(file).parent().map(Path::to_owned),
        _ => None,
    }
}

async fn run(job: Arc<Prepared>, engine: Arc<Engine>, streams: Streams) -> Result<()> {
    let (chooser, report) = (job.chooser.clone(), Arc::clone(&engine.report));
    run_task(job, engine, streams).await?;
    if let Some(warning) = chooser.as_ref().and_then(Chooser::warning) {
        report.note(warning);
    }
    Ok(())
}

async fn run_task(job: Arc<Prepared>, engine: Arc<Engine>, streams: Streams) -> Result<()> {
    if job.plan.is_stream() {
        refuse_unversioned(&job, &engine).await?;
        run_stream(&job, &engine, streams).await;
        return Ok(());
    }
    drop(streams);
    refuse_unversioned(&job, &engine).await?;
    if let Some(part) = job.spec.shard.as_ref().and_then(|shard| shard.part()) {
        return run_part(&job, &engine, part).await;
    }
    let Some(names) = job.spec.names.clone() else {
        let is_sync = job.spec.command == TransferCommand::Sync;
        return if is_sync { sync(job, engine).await } else { act(&job, &engine).await };
    };
    if names.is_plan() {
        report::check_plan(&job, &engine, &names).await?;
    }
    let in_the_way = match report::make_way(&job, &engine, &names).await {
        Ok(removed) => removed,
        // Some may have been removed.
        Err(error) => {
            engine.report.fatal(error);
            return Ok(());
        }
    };
    act(&job, &engine).await?;
    if job.removes_named() && !engine.report.ends_early() {
        report::remove(job, engine, names, in_the_way).await;
    }
    Ok(())
}

/// Refuses to go on with a job whose source has become empty: with nothing left to do it would
/// count as done, while the disk may only not be mounted. Its journal stays as it is. Moves empty
/// their source themselves.
async fn refuse_emptied(job: &Prepared, engine: &Arc<Engine>) -> Result<()> {
    let TransferSpec { command, source, names, manifest, sync, .. } = &job.spec;
    let Some(journal) = engine.report.journal().filter(|journal| journal.found_any()) else {
        return Ok(());
    };
    let is_kept = matches!(command, TransferCommand::Copy | TransferCommand::Sync);
    let is_move = *command == TransferCommand::Move;
    let is_given = names.is_some() || manifest.is_some();
    let may_be_empty = is_given || !job.plan.is_directory || sync.allow_empty_source;
    // What cannot be listed now fails in the job itself.
    if may_be_empty
        || !(is_kept || is_move)
        || has_any(job, engine, &job.filter).await.unwrap_or(true)
    {
        return Ok(());
    }
    if is_move {
        engine
            .report
            .note(format!("the source `{source}` is empty: what was left counts as moved"));
        return Ok(());
    }
    let message = format!(
        "nothing is found in the source `{source}` any more, and nothing was done: is it mounted \
         and readable? `s3haul jobs prune {}` drops this job",
        journal.id()
    );
    Err(Error::new(ErrorKind::Local, message))
}

/// Does what the paths say to all that the source gives.
async fn act(job: &Arc<Prepared>, engine: &Arc<Engine>) -> Result<()> {
    let action = job.plan.action;
    if job.spec.plans
        && matches!(action, ActionKind::Upload | ActionKind::Download | ActionKind::Copy)
    {
        return lookup::sync(job, engine).await;
    }
    if job.spec.dry_run
        && job.spec.no_overwrite
        && matches!(action, ActionKind::Upload | ActionKind::Copy)
    {
        engine.report.note(
            "this dry run does not look at the target: the run leaves out what exists there; \
             --plan leaves it out, too"
                .to_owned(),
        );
    }
    match action {
        ActionKind::Upload => {
            pipeline(job, engine, start_divided(job, engine), upload_action).await;
        }
        ActionKind::Download => {
            let downloads = start_downloads(job, engine, open_target(job).await?);
            pipeline(job, engine, downloads, download_action).await;
        }
        ActionKind::Copy => pipeline(job, engine, start_divided(job, engine), copy_action).await,
        ActionKind::Delete | ActionKind::Undelete => {
            pipeline(job, engine, start(engine, Place::Source), delete_action).await;
        }
        ActionKind::Tag => pipeline(job, engine, start(engine, ()), tag_action).await,
        ActionKind::Set => set(job, engine).await,
        ActionKind::Restore => restore(job, engine).await,
    }
    Ok(())
}

/// The version that is written to standard output; none for the current one.
async fn stream_version(job: &Prepared, engine: &Arc<Engine>) -> Result<Option<String>> {
    if job.source_key().is_empty() {
        // The bucket would be asked, and answers otherwise than for an object.
        let message = "Parameter validation failed:\nInvalid length for parameter Key, value: 0, \
                       valid min length: 1";
        return Err(Error::new(ErrorKind::Request, message));
    }
    version_of_source(job, engine).await
}

async fn run_stream(job: &Prepared, engine: &Arc<Engine>, streams: Streams) {
    if job.plan.action == ActionKind::Upload {
        let key = job.target_key("-");
        if job.spec.dry_run {
            let target = Some(engine.target_object(key));
            let event = engine.event(ActionKind::Upload, Location::Stream, target, 0);
            return engine.report.object(event);
        }
        return upload_stream(engine, streams.input, key, job.spec.expected_size).await;
    }
    let key = job.source_key().to_owned();
    let (version_id, found) = match stream_version(job, engine).await {
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
            let event = engine.event(ActionKind::Download, source, target, 0);
            engine.conclude(event, Err(error));
        }
        Ok(head) if job.spec.dry_run => {
            let source = engine.source_version(key, version_id);
            let target = Some(Location::Stream);
            let requests = RequestCounts { read: 1, ..RequestCounts::default() };
            engine.report.would_send(requests, 0);
            engine.report.object(engine.event(ActionKind::Download, source, target, head.size));
        }
        Ok(head) => download_stream(engine, streams.output, (key, version_id), &head).await,
    }
}
