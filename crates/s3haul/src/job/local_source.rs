//! Local files to be uploaded: walks, filters and names on one thread that may block.

use std::path::Path;
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use super::chooser::{Candidate, Choice, Chooser};
use super::named;
use super::object_source::report_collision;
use super::prepare::Prepared;
use super::queue::{Closed, Queue};
use crate::error::Result;
use crate::fs::{LocalFile, Walk, WalkItem, WalkOptions};
use crate::location::Location;
use crate::plan::paths::Side;
use crate::s3::ops::ListedObject;
use crate::transfer::action::UploadAction;
use crate::transfer::engine::Engine;

/// Plans all uploads of a job. Blocks until the last is queued.
pub(super) fn plan_uploads(job: &Arc<Prepared>, engine: &Engine, queue: &Queue<UploadAction>) {
    if let Some(names) = &job.spec.names {
        return named::plan_uploads(job, engine, queue, names.as_ref());
    }
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
    let mut files = Vec::with_capacity(batch.len());
    for item in batch {
        match item {
            WalkItem::Warning(text) | WalkItem::Skipped { text, .. } => engine.report.warning(text),
            WalkItem::File(file) if job.filter.includes(&file.relative) => {
                let key = job.target_key(&file.relative);
                files.push((file, key));
            }
            WalkItem::File(_) => {}
        }
    }
    let choices = choose(job, &files).map_err(|error| {
        engine.report.fatal(error);
        Closed
    })?;
    let mut actions = Vec::with_capacity(files.len());
    for ((file, key), choice) in files.into_iter().zip(choices) {
        let action = |key| UploadAction { path: file.path, key, size: file.size, reason: None };
        match choice {
            Choice::Leave => {}
            Choice::Take => actions.push(action(key)),
            Choice::Rename(key) => actions.push(action(key)),
            Choice::Collides(key) => {
                let UploadAction { path, key, size, .. } = action(key);
                report_collision(job, engine, Location::Local(path), &key, size);
            }
        }
    }
    queue.push_blocking(actions)
}

/// What scripts see of a file.
pub(super) fn as_object(file: &LocalFile) -> ListedObject<'_> {
    let since = file.modified.duration_since(UNIX_EPOCH).unwrap_or_default();
    ListedObject {
        key: &file.relative,
        size: file.size,
        last_modified_s: i64::try_from(since.as_secs()).unwrap_or_default(),
        etag: "",
        storage_class: "",
    }
}

/// What scripts say of files.
fn choose(job: &Prepared, files: &[(LocalFile, String)]) -> Result<Vec<Choice>> {
    let Some(chooser) = &job.chooser else { return Ok(vec![Choice::Take; files.len()]) };
    let candidates: Vec<_> =
        files.iter().map(|(file, key)| Candidate { object: as_object(file), name: key }).collect();
    Chooser::choose(chooser, &candidates)
}
