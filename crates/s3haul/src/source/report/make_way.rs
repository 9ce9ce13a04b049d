//! Files of the target that stand where named downloads need folders, and folders that stand where
//! they need files. The removals of those files and of what is in those folders, which are named as
//! well, come before the downloads, all others after them.

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
use crate::plan::expected::TargetState;
use s3haul_wire::error::Result;

/// What stands in the way of downloads.
#[derive(Debug, Default)]
pub(crate) struct InTheWay {
    files: BTreeSet<PathBuf>,
    folders: BTreeSet<PathBuf>,
}

impl InTheWay {
    /// Whether a removal is that of one of the files, or of one in the folders.
    pub(super) fn has(&self, removal: &Named) -> bool {
        let Location::Local(path) = &removal.source else { return false };
        let is_inside = || path.ancestors().any(|folder| self.folders.contains(folder));
        self.files.contains(path) || (!self.folders.is_empty() && is_inside())
    }

    /// Leaves out the folders that something is written below. Blocks.
    fn without_written(mut self, names: Names) -> Result<Self> {
        for named in names {
            let Some(Location::Local(path)) = named?.target else { continue };
            for folder in path.ancestors().skip(1) {
                self.folders.remove(folder);
            }
        }
        Ok(self)
    }

    /// Removes the folders in which no files are left. Blocks.
    fn remove_folders(&self, root: &TargetRoot, path: &Path) {
        let below = |folder: &PathBuf| folder.strip_prefix(path).ok()?.to_str().map(str::to_owned);
        for relative in self.folders.iter().filter_map(below) {
            root.remove_empty_tree(&relative);
        }
    }
}

/// Removes what stands in the way, where the removals of the files are named, and gives it.
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
    let may_remove_folders = !(job.spec.dry_run || job.spec.no_overwrite);
    let mut found = blocking(move || in_the_way(all, &below, may_remove_folders)).await?;
    if !found.folders.is_empty() {
        let (all, _) = open(names, 0).await?;
        found = blocking(move || found.without_written(all)).await?;
    }
    if found.files.is_empty() && found.folders.is_empty() {
        return Ok(found);
    }
    let path = folder.clone();
    let root = blocking(move || TargetRoot::open(&path)).await?;
    let (queue, removing) = start(engine, root.clone());
    let (queued, ()) = tokio::join!(queue_all(job, engine, queue, (names, &found)), removing);
    queued?;
    if engine.report.ends_early() || engine.stop.is_cancelled() {
        return Ok(found);
    }
    Ok(blocking(move || {
        found.remove_folders(&root, &folder);
        found
    })
    .await)
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

/// What stands where the downloads need folders, and perhaps where they need files. Blocks.
fn in_the_way(names: Names, root: &Path, may_remove_folders: bool) -> Result<InTheWay> {
    let mut found = InTheWay::default();
    let (mut last, mut is_there) = (PathBuf::new(), false);
    for named in names {
        let Named { target: Some(Location::Local(path)), expected, .. } = named? else { continue };
        let is_new = expected.is_none_or(|expected| expected.target == TargetState::Missing);
        let Some(folder) = path.parent() else { continue };
        if folder != last {
            found.files.extend(first_file(folder, root).map(Path::to_owned));
            is_there = folder.is_dir();
            folder.clone_into(&mut last);
        }
        // What a link leads to stays.
        let is_folder = || path.symlink_metadata().is_ok_and(|found| found.is_dir());
        if may_remove_folders && is_new && is_there && is_folder() {
            found.folders.insert(path);
        }
    }
    Ok(found)
}

/// The file, if any, because of which a folder below the root cannot be there.
fn first_file<'a>(folder: &'a Path, root: &Path) -> Option<&'a Path> {
    let mut below = folder.ancestors().take_while(|folder| *folder != root);
    let found = below.find_map(|folder| Some((folder, metadata(folder).ok()?)));
    found.filter(|(_, found)| !found.is_dir()).map(|(path, _)| path)
}
