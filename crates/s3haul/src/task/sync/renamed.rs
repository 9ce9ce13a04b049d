//! `sync` to names that a script or template makes.
//!
//! They come in no order in which the target could be listed beside the source. So each source is
//! looked up in the target by its new name: a HEAD an object, many at a time, or a look at the
//! disk. Nothing is removed.

use std::sync::Arc;

use async_channel::Receiver;

use super::check::{Checks, Decision, Looker};
use crate::action::copy::run_copies;
use crate::action::download::run_downloads;
use crate::action::download::target::DownloadTarget;
use crate::action::upload::run_uploads;
use crate::engine::core::{Engine, Place};
use crate::engine::limits::Tasks;
use crate::engine::limits::blocking;
use crate::entry::{EntryBatch, OwnedEntry, Root};
use crate::event::ActionKind;
use crate::fs::FileBatch;
use crate::job::describe::{describe_copy, describe_download, describe_upload};
use crate::job::prepare::Prepared;
use crate::job::prepare::queue;
use crate::job::queue::{Closed, Planned, Queue};
use crate::location::Location;
use crate::plan::action::{CopyAction, DownloadAction, UploadAction};
use crate::plan::compare::{Reason, difference};
use crate::select::choose::Taken;
use crate::source::side::Pair;
use crate::task::download_target::{open_target, screen};
use crate::task::make_action::{copy_action, download_action, upload_action};
use crate::task::pipeline::plan;
use s3haul_wire::error::{ErrorKind, Result};
use s3haul_wire::ops::HeadObject;
use s3haul_wire::units::RequestCounts;

/// An action that has to be done only if the target differs.
struct Candidate<A> {
    action: A,
    source: OwnedEntry,
}

impl<A: Planned> Planned for Candidate<A> {
    fn bytes(&self) -> u64 {
        self.action.bytes()
    }

    fn requests(&self, engine: &Engine) -> (RequestCounts, u64) {
        self.action.requests(engine)
    }
}

/// An action with a name at the target.
trait Renamed: Planned + Sync {
    fn target_name(&self) -> &str;
}

impl Renamed for UploadAction {
    fn target_name(&self) -> &str {
        &self.key
    }
}

impl Renamed for CopyAction {
    fn target_name(&self) -> &str {
        &self.target_key
    }
}

impl Renamed for DownloadAction {
    fn target_name(&self) -> &str {
        &self.relative
    }
}

/// Where names are looked up.
#[derive(Clone)]
enum Target {
    Bucket,
    Folder(DownloadTarget),
}

/// Runs a `sync` with new names. An error comes back only where nothing was begun.
pub(crate) async fn sync(job: &Arc<Prepared>, engine: &Arc<Engine>) -> Result<()> {
    match job.plan.action {
        ActionKind::Upload => upload(job, engine).await,
        ActionKind::Download => return download(job, engine).await,
        _ => copy(job, engine).await,
    }
    Ok(())
}

async fn upload(job: &Arc<Prepared>, engine: &Arc<Engine>) {
    let (transfers, actions) = queue(job, engine, describe_upload);
    let (planned, found) = plan_candidates(job, engine, upload_action);
    let compared = compare_all(job, engine, Target::Bucket, found, transfers);
    tokio::join!(planned, compared, run_uploads(Arc::clone(engine), actions));
}

async fn download(job: &Arc<Prepared>, engine: &Arc<Engine>) -> Result<()> {
    let target = open_target(job).await?;
    let (mut transfers, actions) = queue(job, engine, describe_download(target.clone()));
    screen(job, &target, &mut transfers);
    let (planned, found) = plan_candidates(job, engine, download_action);
    let compared = compare_all(job, engine, Target::Folder(target.clone()), found, transfers);
    tokio::join!(planned, compared, run_downloads(Arc::clone(engine), target, actions));
    Ok(())
}

async fn copy(job: &Arc<Prepared>, engine: &Arc<Engine>) {
    let (transfers, actions) = queue(job, engine, describe_copy);
    let (planned, found) = plan_candidates(job, engine, copy_action);
    let compared = compare_all(job, engine, Target::Bucket, found, transfers);
    tokio::join!(planned, compared, run_copies(Arc::clone(engine), actions));
}

/// Plans what has to be done if the target differs.
fn plan_candidates<A: Planned>(
    job: &Arc<Prepared>,
    engine: &Arc<Engine>,
    make: fn(&Prepared, &Engine, Taken<'_>) -> Option<A>,
) -> (impl Future<Output = ()>, Receiver<Vec<Candidate<A>>>) {
    let (candidates, found) = Queue::silent(engine, None);
    let make = move |job: &Prepared, engine: &Engine, taken: Taken<'_>| {
        let source = taken.to_owned_entry()?;
        Some(Candidate { action: make(job, engine, taken)?, source })
    };
    let (job, engine) = (Arc::clone(job), Arc::clone(engine));
    let planned = async move { plan(&job, &engine, &candidates, Box::new(make)).await };
    (planned, found)
}

/// A candidate that was looked up.
type Compared<A> = (Candidate<A>, Decision);

/// Looks all candidates up, as many at a time as there may be requests, and queues those that
/// differ.
async fn compare_all<A: Renamed>(
    job: &Arc<Prepared>,
    engine: &Arc<Engine>,
    target: Target,
    found: Receiver<Vec<Candidate<A>>>,
    transfers: Queue<A>,
) {
    let looker = Looker::of(job);
    let mut tasks: Tasks<Compared<A>> = Tasks::new();
    while let Ok(batch) = found.recv().await {
        let mut ended = Vec::new();
        for candidate in batch {
            while tasks.len() >= engine.workers_wanted() {
                ended.extend(tasks.next().await);
            }
            let (job, engine) = (Arc::clone(job), Arc::clone(engine));
            let (target, looker) = (target.clone(), looker.clone());
            tasks.spawn(async move {
                let decision = compare(&job, &engine, &target, looker, &candidate).await;
                (candidate, decision)
            });
        }
        while let Some(compared) = tasks.try_next() {
            ended.push(compared);
        }
        if pass_on(job, engine, &target, &transfers, ended).await.is_err() {
            return;
        }
    }
    while let Some(compared) = tasks.next().await {
        if pass_on(job, engine, &target, &transfers, vec![compared]).await.is_err() {
            return;
        }
    }
}

/// Queues what differs, and reports what could not be looked up.
async fn pass_on<A: Renamed>(
    job: &Prepared,
    engine: &Engine,
    target: &Target,
    transfers: &Queue<A>,
    ended: Vec<Compared<A>>,
) -> Result<(), Closed> {
    let mut actions = Vec::new();
    for (Candidate { action, source }, decision) in ended {
        match decision {
            Ok(Some(reason)) => actions.push(action.because(reason)),
            Ok(None) => {}
            Err(error) => {
                let name = action.target_name().to_owned();
                let place = match target {
                    Target::Bucket => engine.target_object(name),
                    Target::Folder(folder) => Location::Local(folder.path_of(&name)),
                };
                let source = source.get().location(engine, Place::Source);
                engine.report.planned(0);
                engine.conclude(job.plan.action, source, Some(place), 0, Err(error));
            }
        }
    }
    transfers.push(actions).await
}

/// Why a source is to be transferred, or nothing.
async fn compare<A: Renamed>(
    job: &Prepared,
    engine: &Arc<Engine>,
    target: &Target,
    looker: Option<Looker>,
    candidate: &Candidate<A>,
) -> Decision {
    let name = candidate.action.target_name();
    let there = match target {
        Target::Bucket => head(engine, name).await?,
        Target::Folder(folder) => file(folder, name).await,
    };
    let Some(there) = there else { return Ok(Some(Reason::Missing)) };
    let (facts, other) = (candidate.source.get().facts(), there.get().facts());
    let different = difference(Checks::listing_rule(job), job.plan.action, facts, other);
    match looker {
        Some(looker) if different.is_none() && looker.concerns(facts.size) => {
            let source = candidate.source.duplicate();
            let pair = Pair { source, target: there };
            looker.look(engine, &Arc::new(pair)).await
        }
        _ => Ok(different),
    }
}

/// The object of a name; none where there is none.
async fn head(engine: &Engine, key: &str) -> Result<Option<OwnedEntry>> {
    let settings = &engine.settings;
    let input = HeadObject {
        bucket: &settings.target_bucket,
        key,
        customer_key: settings.properties.customer_key.as_ref(),
        ..HeadObject::default()
    };
    let head = engine.send(|| engine.target.head_object(input)).await;
    match head {
        Ok(head) => {
            let root = Arc::new(Root::Prefix(String::new()));
            let batch = EntryBatch::of_heads([(key, None, &head)], root)?;
            Ok(OwnedEntry::of_row(&batch, 0))
        }
        Err(error) if error.kind() == ErrorKind::NotFound && error.code() != "NoSuchBucket" => {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// The file of a name; `None` if it does not exist or cannot: the download reports the reason.
async fn file(folder: &DownloadTarget, name: &str) -> Option<OwnedEntry> {
    let (folder, relative) = (folder.clone(), name.to_owned());
    blocking(move || {
        let info = folder.find(&relative)?;
        let mut files = FileBatch::of_file(&folder.path_of(&relative));
        files.push(&relative, &info);
        OwnedEntry::of_row(&EntryBatch::Files(files), 0)
    })
    .await
}
