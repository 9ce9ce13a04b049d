//! What an earlier run of `mv --no-overwrite` had begun and may have copied: it may have been
//! killed before it removed the source. Where the target is no older than the job and holds what
//! the source holds, the source goes. Else the target is somebody else's, as in any run.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;

use futures_util::future::join_all;

use crate::action::upload::remove_source;
use crate::engine::copy_props::CopyPlan;
use crate::engine::core::{Engine, Place};
use crate::engine::limits::blocking;
use crate::engine::object::{head, head_at, is_missing};
use crate::engine::remove_object::remove_source_object;
use crate::entry::OwnedEntry;
use crate::event::ActionKind;
use crate::fs::read::open_with_identity;
use crate::fs::{collapse, refused};
use crate::job::prepare::Prepared;
use crate::location::Location;
use crate::plan::content::Depth;
use crate::plan::paths::Side;
use crate::select::choose::Selected;
use crate::source::content::examine;
use crate::source::side::{Pair, file_now};
use s3haul_wire::ObjectHead;
use s3haul_wire::error::{Error, ErrorKind, Result};

/// What is left to be moved of a batch.
pub(super) async fn finish_moves(
    job: &Prepared,
    engine: &Arc<Engine>,
    selected: Selected,
) -> Selected {
    let is_meant = engine.settings.is_move && job.spec.no_overwrite && job.spec.names.is_none();
    let Some(journal) = engine.report.journal().filter(|_| is_meant) else { return selected };
    let begun = selected.copies(|entry| journal.has_begun(entry.mark(journal, false)));
    let since_s = journal.writes_since_s();
    let finished = begun.into_iter().map(|(row, source)| async move {
        finish_move(job, engine, source, since_s).await.then_some(row)
    });
    let finished: HashSet<_> = join_all(finished).await.into_iter().flatten().collect();
    selected.without(&finished)
}

/// Removes a source that was copied, and reports it; gives whether it was reported.
async fn finish_move(
    job: &Prepared,
    engine: &Arc<Engine>,
    source: OwnedEntry,
    since_s: i64,
) -> bool {
    let entry = source.get();
    let (action, size) = (job.plan.action, entry.size());
    let (from, relative) = (entry.location(engine, Place::Source), entry.relative());
    let target = match action {
        ActionKind::Download => target_path(job, relative).map(Location::Local),
        _ => Some(engine.target_object(job.target_key(relative))),
    };
    let Some(target) = target else { return false };
    let removed = match remove_copied(engine, (source, &from), &target, since_s).await {
        Ok(false) => return false,
        removed => removed.map(drop),
    };
    engine.report.planned(size);
    if removed.is_ok() {
        engine.report.moved(size);
    }
    engine.conclude(engine.event(action, from, Some(target), size), removed);
    true
}

/// The file that an object is moved to; none where it is not written to a file.
fn target_path(job: &Prepared, relative: &str) -> Option<PathBuf> {
    let Some(folder) = job.plan.target_directory() else {
        let Some(Side::Local(path)) = &job.plan.target else { return None };
        return Some(PathBuf::from(path));
    };
    let name = collapse(relative);
    refused(&name).is_none().then(|| folder.join(&*name))
}

/// Removes a source whose target holds the same; gives whether that was so.
async fn remove_copied(
    engine: &Arc<Engine>,
    (listed, source): (OwnedEntry, &Location),
    target: &Location,
    since_s: i64,
) -> Result<bool> {
    let size = listed.get().size();
    let (target, copied) = match target {
        Location::Local(path) => (file_now(path).await, None),
        Location::Object(name) => match head_at(engine, Place::Target, &name.key, None).await {
            Ok(head) if head.last_modified_s >= since_s => {
                (Some(OwnedEntry::of_head((&name.key, None, &head))?), Some(head))
            }
            Ok(_) => (None, None),
            Err(error) if is_missing(&error) => (None, None),
            Err(error) => return Err(error),
        },
        Location::Stream => (None, None),
    };
    let Some(target) = target.filter(|target| target.get().size() == size) else {
        return Ok(false);
    };
    let Location::Object(name) = source else {
        return remove_file(engine, listed, target).await;
    };
    let head = match head(engine, &name.key, None).await {
        Err(error) if is_missing(&error) => return Ok(false),
        head => head?,
    };
    let source = OwnedEntry::of_head((&name.key, None, &head))?;
    if examine(engine, &Pair { source, target }, Depth::Checksums).await?.is_err() {
        return Ok(false);
    }
    if let Some(copied) = copied
        && lacks_tags(engine, &head, &copied)
    {
        let message = "the target has fewer tags than the source, which was not removed";
        return Err(Error::new(ErrorKind::Config, message));
    }
    remove_source_object(engine, &name.key, &head.etag, 0).await.map(|()| true)
}

/// Whether a run may have been killed between a copy and the tags that no header could hold.
fn lacks_tags(engine: &Engine, source: &ObjectHead, target: &ObjectHead) -> bool {
    let settings = &engine.settings;
    let plan = if engine.relays { CopyPlan::relayed } else { CopyPlan::in_parts };
    let count = |head: &ObjectHead| head.tagging_count.unwrap_or(0);
    plan(settings).inherit_tags
        && settings.properties.tagging.is_none()
        && count(target) < count(source)
}

/// The same of a file.
async fn remove_file(engine: &Arc<Engine>, source: OwnedEntry, target: OwnedEntry) -> Result<bool> {
    let Some(path) = source.get().file().map(|file| file.path()) else { return Ok(false) };
    let opened = path.clone();
    let (_, identity) = blocking(move || open_with_identity(&opened)).await?;
    if examine(engine, &Pair { source, target }, Depth::Checksums).await?.is_err() {
        return Ok(false);
    }
    remove_source(engine, path, identity, 0).await.map(|()| true)
}
