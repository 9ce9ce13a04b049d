//! Local files to be uploaded: walks, filters and names on one thread that may block.

use std::path::Path;
use std::sync::Arc;

use crate::engine::core::Engine;
use crate::fs::{LocalFile, Walk, WalkItem, WalkOptions};
use crate::job::prepare::Prepared;
use crate::job::queue::{Closed, Planned, Queue};
use crate::location::Location;
use crate::plan::action::UploadAction;
use crate::plan::local_facts::as_object;
use crate::plan::local_facts::facts_of_file;
use crate::plan::paths::Side;
use crate::select::rename::{Candidate, Choice, Chooser};
use crate::source::make_action::upload_action;
use crate::source::page_plan::report_collision;
use crate::source::report;
use s3haul_wire::error::Result;

/// Plans all uploads of a job. Blocks until the last is queued.
pub(crate) fn plan_uploads(job: &Arc<Prepared>, engine: &Engine, queue: &Queue<UploadAction>) {
    if let Some(names) = &job.spec.names {
        return report::plan_uploads(job, engine, queue, names.as_ref());
    }
    plan_files(job, engine, queue, upload_action);
}

/// Goes through all files of a job, and makes something of each and its key. Blocks.
pub(crate) fn plan_files<A: Planned>(
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

/// What scripts say of files.
fn choose(job: &Prepared, files: &[(LocalFile, String)]) -> Result<Vec<Choice>> {
    let Some(chooser) = &job.chooser else { return Ok(vec![Choice::Take; files.len()]) };
    let candidates: Vec<_> =
        files.iter().map(|(file, key)| Candidate { object: as_object(file), name: key }).collect();
    Chooser::choose(chooser, &candidates)
}
