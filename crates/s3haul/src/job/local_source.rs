//! Local files to be uploaded: walks, filters and names on one thread that may block.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::chooser::{Candidate, Choice, Chooser};
use super::named;
use super::object_source::report_collision;
use super::prepare::Prepared;
use super::queue::{Closed, Planned, Queue};
use crate::engine::core::Engine;
use crate::fs::{LocalFile, Walk, WalkItem, WalkOptions};
use crate::location::Location;
use crate::plan::action::UploadAction;
use crate::plan::conditions::ObjectFacts;
use crate::plan::paths::Side;
use s3haul_wire::error::Result;
use s3haul_wire::ops::ListedObject;

/// Plans all uploads of a job. Blocks until the last is queued.
pub(super) fn plan_uploads(job: &Arc<Prepared>, engine: &Engine, queue: &Queue<UploadAction>) {
    if let Some(names) = &job.spec.names {
        return named::plan_uploads(job, engine, queue, names.as_ref());
    }
    plan_files(job, engine, queue, upload_action);
}

/// The action for an upload.
pub(super) fn upload_action(file: LocalFile, key: String) -> UploadAction {
    UploadAction { path: file.path, key, size: file.size, reason: None }
}

/// Goes through all files of a job, and makes something of each and its key. Blocks.
pub(super) fn plan_files<A: Planned>(
    job: &Arc<Prepared>,
    engine: &Engine,
    queue: &Queue<A>,
    make: impl Fn(LocalFile, String) -> A,
) {
    let Side::Local(source) = &job.plan.source else { return };
    let mut walk = walk(job, Path::new(source));
    while let Some(batch) = walk.next_batch() {
        if plan_batch(job, engine, queue, &make, batch).is_err() {
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

/// Whether filters and conditions take a file.
fn is_wanted(job: &Prepared, file: &LocalFile) -> bool {
    let name = &file.relative;
    job.filter.includes(name) && job.spec.conditions.takes(name, &facts_of_file(file))
}

/// What conditions are asked about a file.
pub(super) fn facts_of_file(file: &LocalFile) -> ObjectFacts<'static> {
    facts_of_content(file.size, file.modified)
}

/// The same of size and time alone. Times of objects are whole seconds, which is no difference to
/// conditions, whose moments are.
pub(super) fn facts_of_content(size: u64, modified: SystemTime) -> ObjectFacts<'static> {
    let whole = |duration: Duration| i64::try_from(duration.as_secs()).unwrap_or(i64::MAX);
    let modified_s = match modified.duration_since(UNIX_EPOCH) {
        Ok(after) => whole(after),
        Err(before) => {
            let before = before.duration();
            -whole(before) - i64::from(before.subsec_nanos() > 0)
        }
    };
    ObjectFacts { size: Some(size), modified_s, storage_class: None }
}

fn plan_batch<A: Planned>(
    job: &Prepared,
    engine: &Engine,
    queue: &Queue<A>,
    make: &impl Fn(LocalFile, String) -> A,
    batch: Vec<WalkItem>,
) -> Result<(), Closed> {
    let mut files = Vec::with_capacity(batch.len());
    for item in batch {
        match item {
            WalkItem::Warning(text) | WalkItem::Skipped { text: Some(text), .. } => {
                engine.report.warning(text);
            }
            WalkItem::File(file) if is_wanted(job, &file) => {
                let key = job.target_key(&file.relative);
                files.push((file, key));
            }
            WalkItem::File(_) | WalkItem::Skipped { text: None, .. } => {}
        }
    }
    let choices = choose(job, &files).map_err(|error| {
        engine.report.fatal(error);
        Closed
    })?;
    let mut actions = Vec::with_capacity(files.len());
    for ((file, key), choice) in files.into_iter().zip(choices) {
        match choice {
            Choice::Leave => {}
            Choice::Take => actions.push(make(file, key)),
            Choice::Rename(key) => actions.push(make(file, key)),
            Choice::Collides(key) => {
                report_collision(job, engine, Location::Local(file.path), &key, file.size);
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
        ..ListedObject::default()
    }
}

/// What scripts say of files.
fn choose(job: &Prepared, files: &[(LocalFile, String)]) -> Result<Vec<Choice>> {
    let Some(chooser) = &job.chooser else { return Ok(vec![Choice::Take; files.len()]) };
    let candidates: Vec<_> =
        files.iter().map(|(file, key)| Candidate { object: as_object(file), name: key }).collect();
    Chooser::choose(chooser, &candidates)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_rounded_down_also_before_1970() {
        let half = Duration::from_millis(1500);
        let seconds = |time| facts_of_content(0, time).modified_s;
        assert_eq!(seconds(UNIX_EPOCH + half), 1);
        assert_eq!(seconds(UNIX_EPOCH - half), -2);
        assert_eq!(seconds(UNIX_EPOCH - Duration::from_secs(2)), -2);
    }
}
