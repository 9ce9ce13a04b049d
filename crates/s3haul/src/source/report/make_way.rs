//! Files of the target that stand where named downloads need folders. Their removals, which are
//! named as well, come before the downloads, all others after them.

use std::collections::BTreeSet;
use std::fs::metadata;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures_util::future::join_all;

use super::removals::{mark, refuse_empty_source, removal};
use super::{Batch, next, open};
use crate::action::queue::{Queue, start};
use crate::engine::core::Engine;
use crate::engine::limits::blocking;
use crate::event::ActionKind;
use crate::fs::TargetRoot;
use crate::job::names::{NameSource, Named, Names};
use crate::job::prepare::Prepared;
use crate::location::Location;
use crate::plan::action::RemoveFileAction;
use s3haul_wire::error::Result;

/// Files that stand in the way of downloads.
#[derive(Debug, Default)]
pub(crate) struct InTheWay(BTreeSet<PathBuf>);

impl InTheWay {
    /// Whether a removal is that of one of them.
    pub(super) fn has(&self, removal: &Named) -> bool {
        matches!(&removal.source, Location::Local(path) if self.0.contains(path))
    }
}

/// Removes the files that stand in the way, where their removal is named, and gives them.
pub(crate) async fn make_way(
    job: &Arc<Prepared>,
    engine: &Arc<Engine>,
    names: &Arc<dyn NameSource>,
) -> Result<InTheWay> {
    let Some(folder) = job.plan.target_directory().filter(|_| job.removes_named()) else {
        return Ok(InTheWay::default());
    };
    let folder = folder.to_owned();
    let ((all, _), below) = (open(names, 0).await?, folder.clone());
    let found = blocking(move || in_the_way(all, &below)).await?;
    if !found.0.is_empty() {
        let root = blocking(move || TargetRoot::open(&folder)).await?;
        let (queue, removing) = start(engine, root);
        let (queued, ()) = tokio::join!(queue_all(job, engine, queue, (names, &found)), removing);
        queued?;
    }
    Ok(found)
}

/// Queues the removals of files that stand in the way.
async fn queue_all(
    job: &Prepared,
    engine: &Arc<Engine>,
    queue: Queue<RemoveFileAction>,
    (names, found): (&Arc<dyn NameSource>, &InTheWay),
) -> Result<()> {
    let journal = engine.report.journal().filter(|_| names.is_plan());
    let mut may_be_empty = !job.spec.sync.allow_empty_source;
    let (mut left, _) = open(names, 0).await?;
    loop {
        let Batch { names: rest, found: mut batch, is_last, .. } =
            next(left, ActionKind::Delete, u64::MAX).await?;
        left = rest;
        batch.retain(|named| found.has(named));
        if !batch.is_empty() && std::mem::take(&mut may_be_empty) {
            refuse_empty_source(job, engine).await?;
        }
        let removals = batch.iter().map(|named| removal(job, engine, named));
        let mut actions = Vec::with_capacity(batch.len());
        for (named, action) in batch.iter().zip(join_all(removals).await) {
            // What stays has no end that a journal would wait for.
            if let Some(action) = action? {
                journal.inspect(|journal| journal.begun(vec![mark(journal, named)]));
                actions.push(action);
            }
        }
        // The receiving side is closed if the job was cancelled.
        if queue.push(actions).await.is_err() || is_last {
            return Ok(());
        }
    }
}

/// What stands where the downloads need folders. Blocks.
fn in_the_way(names: Names, root: &Path) -> Result<InTheWay> {
    let mut found = BTreeSet::new();
    let mut last = PathBuf::new();
    for named in names {
        let Some(Location::Local(path)) = named?.target else { continue };
        let Some(folder) = path.parent().filter(|folder| *folder != last) else { continue };
        found.extend(first_file(folder, root).map(Path::to_owned));
        folder.clone_into(&mut last);
    }
    Ok(InTheWay(found))
}

/// The file, if any, because of which a folder below the root cannot be there.
fn first_file<'a>(folder: &'a Path, root: &Path) -> Option<&'a Path> {
    let mut below = folder.ancestors().take_while(|folder| *folder != root);
    let found = below.find_map(|folder| Some((folder, metadata(folder).ok()?)));
    found.filter(|(_, found)| !found.is_dir()).map(|(path, _)| path)
}
