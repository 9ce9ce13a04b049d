//! Local files to be uploaded: walks, filters and names on one thread that may block.

use std::path::Path;
use std::sync::Arc;

use super::prepare::Prepared;
use super::queue::{Closed, Queue};
use crate::fs::{Walk, WalkItem, WalkOptions};
use crate::plan::paths::Side;
use crate::transfer::action::UploadAction;
use crate::transfer::engine::Engine;

/// Plans all uploads of a job. Blocks until the last is queued.
pub(super) fn plan_uploads(job: &Arc<Prepared>, engine: &Engine, queue: &Queue<UploadAction>) {
    let Side::Local(source) = &job.plan.source else { return };
    let mut walk = walk(job, Path::new(source));
    while let Some(batch) = walk.next_batch() {
        if plan_batch(job, engine, queue, batch).is_err() {
            return;
        }
    }
    engine.report.plan_complete();
}

fn walk(job: &Arc<Prepared>, source: &Path) -> Walk {
    let mut options =
        WalkOptions { follow_symlinks: job.spec.follow_symlinks, ..WalkOptions::default() };
    if !job.plan.is_directory {
        return Walk::file(source, options);
    }
    if !job.filter.is_all() {
        let job = Arc::clone(job);
        options.prune = Some(Arc::new(move |folder| job.filter.excludes_all_below(folder)));
    }
    Walk::tree(source, options)
}

fn plan_batch(
    job: &Prepared,
    engine: &Engine,
    queue: &Queue<UploadAction>,
    batch: Vec<WalkItem>,
) -> Result<(), Closed> {
    let mut actions = Vec::with_capacity(batch.len());
    for item in batch {
        match item {
            WalkItem::Warning(text) => engine.report.warning(text),
            WalkItem::File(file) => {
                if job.filter.includes(&file.relative) {
                    let key = job.target_key(&file.relative);
                    actions.push(UploadAction { path: file.path, key, size: file.size });
                }
            }
        }
    }
    queue.push_blocking(actions)
}
