//! Sources that are each looked up in the target: a HEAD an object, many at a time, or a look at
//! the disk.
//!
//! `sync` to names that a script or template makes does so, because these come in no order in which
//! the target could be listed beside the source; nothing is removed then. A plan of `cp` or `mv` is
//! made in the same way: it says what would be written over.

use std::sync::Arc;

use async_channel::Receiver;

use super::check::{Checks, Decision, Looker};
use crate::action::download::target::DownloadTarget;
use crate::action::queue::{Action, Closed, Planned, Queue, start};
use crate::engine::core::Engine;
use crate::engine::limits::Tasks;
use crate::engine::limits::blocking;
use crate::entry::{EntryBatch, OwnedEntry};
use crate::event::{ActionKind, ObjectEvent};
use crate::fs::FileBatch;
use crate::job::prepare::Prepared;
use crate::job::spec::TransferCommand;
use crate::plan::action::{CopyAction, DownloadAction, UploadAction};
use crate::plan::compare::{Reason, difference};
use crate::plan::expected::{Expected, TargetState};
use crate::select::choose::Taken;
use crate::source::side::{Pair, target_object};
use crate::task::download_target::{open_target, start_downloads};
use crate::task::pipeline::{MakeAction, copy_action, download_action, pipeline, upload_action};
use s3haul_wire::error::Result;
use s3haul_wire::units::RequestCounts;

/// An action that has to be done only if the target differs.
struct Candidate<A> {
    action: A,
    source: OwnedEntry,
}

impl<A: Planned> Planned for Candidate<A> {
    fn expecting(self, expected: Box<Expected>) -> Self {
        Self { action: self.action.expecting(expected), ..self }
    }

    fn requests(&self, engine: &Engine) -> (RequestCounts, u64) {
        self.action.requests(engine)
    }
}

/// An action with a name at the target.
pub(super) trait Targeted: Action + Sync {
    const MAKE: MakeAction<Self>;

    fn target_name(&self) -> &str;

    /// What has a name at the target; `None` where there is nothing.
    fn find(
        engine: &Engine,
        place: &Self::Place,
        name: &str,
    ) -> impl Future<Output = Result<Option<OwnedEntry>>> + Send;

    /// Whether it is of a file that is missing.
    fn is_of_missing(&self) -> bool {
        false
    }

    /// Whether a folder stands where the target is to be. Blocks.
    fn meets_folder(&self, _place: &Self::Place) -> bool {
        false
    }

    /// Removes a folder if no file is in it. Blocks.
    fn remove_folder(_place: &Self::Place, _name: &str) {}
}

impl Targeted for UploadAction {
    const MAKE: MakeAction<Self> = upload_action;

    fn target_name(&self) -> &str {
        &self.key
    }

    async fn find(engine: &Engine, (): &(), name: &str) -> Result<Option<OwnedEntry>> {
        target_object(engine, name).await
    }
}

impl Targeted for CopyAction {
    const MAKE: MakeAction<Self> = copy_action;

    fn target_name(&self) -> &str {
        &self.target_key
    }

    async fn find(engine: &Engine, (): &(), name: &str) -> Result<Option<OwnedEntry>> {
        target_object(engine, name).await
    }
}

impl Targeted for DownloadAction {
    const MAKE: MakeAction<Self> = download_action;

    fn target_name(&self) -> &str {
        &self.relative
    }

    async fn find(_: &Engine, folder: &DownloadTarget, name: &str) -> Result<Option<OwnedEntry>> {
        Ok(file(folder, name).await)
    }

    fn is_of_missing(&self) -> bool {
        self.reason == Some(Reason::Missing)
    }

    fn meets_folder(&self, target: &DownloadTarget) -> bool {
        matches!(target, DownloadTarget::Below(root) if root.is_folder(&self.relative))
    }

    fn remove_folder(target: &DownloadTarget, name: &str) {
        if let DownloadTarget::Below(root) = target {
            root.remove_empty_tree(name);
        }
    }
}

/// Runs a `sync` with new names. An error comes back only where nothing was begun.
pub(crate) async fn sync(job: &Arc<Prepared>, engine: &Arc<Engine>) -> Result<()> {
    match job.plan.action {
        ActionKind::Upload => run::<UploadAction>(job, engine, (), start(engine, ())).await,
        ActionKind::Download => {
            let target = open_target(job).await?;
            let downloads = start_downloads(job, engine, target.clone());
            run(job, engine, target, downloads).await;
        }
        _ => run::<CopyAction>(job, engine, (), start(engine, ())).await,
    }
    Ok(())
}

/// Plans what has to be done if the target differs, looks whether it does, and does it.
async fn run<A: Targeted>(
    job: &Arc<Prepared>,
    engine: &Arc<Engine>,
    place: A::Place,
    (transfers, transferring): (Queue<A>, impl Future<Output = ()>),
) {
    let (candidates, found) = Queue::passing(engine);
    let comparing = compare_all(job, engine, place, found, transfers);
    let compared = pipeline(job, engine, (candidates.silent(), comparing), candidate);
    tokio::join!(compared, transferring);
}

fn candidate<A: Targeted>(
    job: &Prepared,
    engine: &Engine,
    taken: Taken<'_>,
) -> Option<Candidate<A>> {
    let source = taken.to_owned_entry()?;
    Some(Candidate { action: (A::MAKE)(job, engine, taken)?, source })
}

/// A candidate that was looked up, and its number in its batch.
struct Compared<A> {
    number: usize,
    candidate: Candidate<A>,
    decision: Decision,
    target: TargetState,
}

/// Looks all candidates up, as many at a time as there may be requests, and queues those that
/// differ.
async fn compare_all<A: Targeted>(
    job: &Arc<Prepared>,
    engine: &Arc<Engine>,
    place: A::Place,
    found: Receiver<Vec<Candidate<A>>>,
    transfers: Queue<A>,
) {
    let looker = Looker::of(job);
    let mut tasks: Tasks<Compared<A>> = Tasks::new();
    while let Ok(batch) = found.recv().await {
        let mut ended = Vec::new();
        for (number, candidate) in batch.into_iter().enumerate() {
            while tasks.len() >= engine.workers_wanted() {
                ended.extend(tasks.next().await);
            }
            let (job, engine) = (Arc::clone(job), Arc::clone(engine));
            let (place, looker) = (place.clone(), looker.clone());
            tasks.spawn(async move {
                let (decision, target) = compare(&job, &engine, &place, looker, &candidate).await;
                Compared { number, candidate, decision, target }
            });
        }
        while let Some(compared) = tasks.try_next() {
            ended.push(compared);
        }
        if job.spec.plans {
            // A plan is in the order of its source.
            while let Some(compared) = tasks.next().await {
                ended.push(compared);
            }
            ended.sort_unstable_by_key(|compared| compared.number);
        }
        if pass_on(job, engine, &place, &transfers, ended).await.is_err() {
            return;
        }
    }
    while let Some(compared) = tasks.next().await {
        if pass_on(job, engine, &place, &transfers, vec![compared]).await.is_err() {
            return;
        }
    }
}

/// Queues what differs, and reports what could not be looked up.
async fn pass_on<A: Targeted>(
    job: &Prepared,
    engine: &Engine,
    place: &A::Place,
    transfers: &Queue<A>,
    ended: Vec<Compared<A>>,
) -> Result<(), Closed> {
    let mut actions = Vec::new();
    for Compared { candidate: Candidate { action, source }, decision, target, .. } in ended {
        match decision {
            Ok(Some(reason)) if job.spec.says_states() => {
                let expected = Expected::new(source.get().state(), target);
                actions.push(action.because(reason).expecting(expected));
            }
            Ok(Some(reason)) => actions.push(action.because(reason)),
            Ok(None) => {
                if let Some(journal) = engine.report.journal() {
                    journal.same(source.get().mark(journal, false));
                }
            }
            Err(error) => {
                engine.report.planned(0);
                engine
                    .conclude(ObjectEvent { bytes: 0, ..action.event(engine, place) }, Err(error));
            }
        }
    }
    transfers.push(actions).await
}

/// Why a source is to be transferred, or nothing, and what its target is.
async fn compare<A: Targeted>(
    job: &Prepared,
    engine: &Arc<Engine>,
    place: &A::Place,
    looker: Option<Looker>,
    candidate: &Candidate<A>,
) -> (Decision, TargetState) {
    let found = A::find(engine, place, candidate.action.target_name()).await;
    let there = match found {
        Ok(Some(there)) => there,
        Ok(None) => return (Ok(Some(Reason::Missing)), TargetState::Missing),
        Err(error) => return (Err(error), TargetState::Unknown),
    };
    let target = TargetState::Found(there.get().state());
    if job.spec.command != TransferCommand::Sync {
        let decision = (!job.spec.no_overwrite).then_some(Reason::Overwrite);
        return (Ok(decision), target);
    }
    (differs(job, engine, looker, candidate, there).await, target)
}

/// Why a source is to be transferred to a target that is there, or nothing.
async fn differs<A>(
    job: &Prepared,
    engine: &Arc<Engine>,
    looker: Option<Looker>,
    candidate: &Candidate<A>,
    there: OwnedEntry,
) -> Decision {
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
