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
use crate::engine::core::Engine;
use crate::engine::limits::{Tasks, blocking};
use crate::engine::remove_object::Place;
use crate::event::ActionKind;
use crate::fs::LocalFile;
use crate::job::describe::{describe_copy, describe_download, describe_upload};
use crate::job::prepare::Prepared;
use crate::job::prepare::queue;
use crate::job::queue::{Closed, Planned, Queue};
use crate::location::Location;
use crate::plan::action::{CopyAction, DownloadAction, UploadAction};
use crate::plan::compare::{Reason, difference};
use crate::source::files::plan_files;
use crate::source::make_action::upload_action;
use crate::source::make_action::{copy_action, download_action};
use crate::source::objects::plan_objects;
use crate::source::page_plan::Found;
use crate::source::side::{Entry, Item, ObjectEntry, Pair};
use crate::task::download_target::{open_target, screen};
use s3haul_wire::error::{ErrorKind, Result};
use s3haul_wire::ops::HeadObject;
use s3haul_wire::units::RequestCounts;

/// An action that has to be done only if the target differs.
struct Candidate<A> {
    action: A,
    source: Entry,
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
    let (candidates, found) = Queue::silent(engine, None);
    let (planner, reporter) = (Arc::clone(job), Arc::clone(engine));
    let planned = blocking(move || {
        let make = |file: LocalFile, key| {
            let source = Entry::File(file.clone());
            Candidate { action: upload_action(file, key), source }
        };
        plan_files(&planner, &reporter, &candidates, make);
    });
    let compared = compare_all(job, engine, Target::Bucket, found, transfers);
    tokio::join!(planned, compared, run_uploads(Arc::clone(engine), actions));
}

async fn download(job: &Arc<Prepared>, engine: &Arc<Engine>) -> Result<()> {
    let target = open_target(job).await?;
    let (mut transfers, actions) = queue(job, engine, describe_download(target.clone()));
    screen(job, &target, &mut transfers);
    let (planned, found) = plan(job, engine, download_action);
    let compared = compare_all(job, engine, Target::Folder(target.clone()), found, transfers);
    tokio::join!(planned, compared, run_downloads(Arc::clone(engine), target, actions));
    Ok(())
}

async fn copy(job: &Arc<Prepared>, engine: &Arc<Engine>) {
    let (transfers, actions) = queue(job, engine, describe_copy);
    let (planned, found) = plan(job, engine, copy_action);
    let compared = compare_all(job, engine, Target::Bucket, found, transfers);
    tokio::join!(planned, compared, run_copies(Arc::clone(engine), actions));
}

/// Goes through the objects of the source.
fn plan<A: Planned>(
    job: &Arc<Prepared>,
    engine: &Arc<Engine>,
    make: impl Fn(&Prepared, &Engine, Found<'_>) -> Option<A> + Send + Sync + 'static,
) -> (impl Future<Output = ()>, Receiver<Vec<Candidate<A>>>) {
    let (candidates, found) = Queue::silent(engine, None);
    let make = move |job: &Prepared, engine: &Engine, found: Found<'_>| {
        let source = Item::Object(found.object, found.relative, found.version_id).to_entry();
        Some(Candidate { action: make(job, engine, found)?, source })
    };
    let (job, engine) = (Arc::clone(job), Arc::clone(engine));
    let planned = async move { plan_objects(&job, &engine, &candidates, Box::new(make)).await };
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
                let source = source.location(engine, Place::Source);
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
        Target::Bucket => head(engine, name).await?.map(Entry::Object),
        Target::Folder(folder) => file(folder, name).await.map(Entry::File),
    };
    let Some(there) = there else { return Ok(Some(Reason::Missing)) };
    let (facts, other) = (candidate.source.item().facts(), there.item().facts());
    let different = difference(Checks::listing_rule(job), job.plan.action, facts, other);
    match looker {
        Some(looker) if different.is_none() && looker.concerns(facts.size) => {
            let pair = Pair { source: candidate.source.clone(), target: there };
            looker.look(engine, &Arc::new(pair)).await
        }
        _ => Ok(different),
    }
}

/// The object of a name; none where there is none.
async fn head(engine: &Engine, key: &str) -> Result<Option<ObjectEntry>> {
    let settings = &engine.settings;
    let input = HeadObject {
        bucket: &settings.target_bucket,
        key,
        customer_key: settings.properties.customer_key.as_ref(),
        ..HeadObject::default()
    };
    let head = engine.send(|| engine.target.head_object(input)).await;
    match head {
        Ok(head) => Ok(Some(ObjectEntry::of_head(key.to_owned(), head))),
        Err(error) if error.kind() == ErrorKind::NotFound && error.code() != "NoSuchBucket" => {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// The file of a name; `None` if it does not exist or cannot: the download reports the reason.
async fn file(folder: &DownloadTarget, name: &str) -> Option<LocalFile> {
    let (folder, relative) = (folder.clone(), name.to_owned());
    blocking(move || {
        let info = folder.find(&relative)?;
        let path = folder.path_of(&relative);
        let (size, modified, mode) = (info.size, info.modified, info.mode);
        Some(LocalFile { path, relative, size, modified, mode })
    })
    .await
}
