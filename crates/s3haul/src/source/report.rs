//! Plans what an earlier run named: sources are looked at again, one by one, nothing is listed and
//! nothing is filtered, for that was decided.
//!
//! A name must lie on both sides of the job as the job would name it; what a script or template
//! named keeps that name. Sources that are gone are reported and left out.

mod removals;

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use futures_util::future::join_all;

use crate::engine::core::Engine;
use crate::engine::limits::blocking;
use crate::engine::object::head;
use crate::event::ActionKind;
use crate::fs::{Walk, WalkItem, WalkOptions, collapse, warning};
use crate::job::names::{NameSource, Named, Names};
use crate::job::prepare::Prepared;
use crate::job::queue::{Closed, Planned, Queue};
use crate::location::Location;
use crate::plan::action::UploadAction;
use crate::plan::paths::Side;
use crate::source::page_plan::{Found, MakeAction, tell_collision};
use s3haul_wire::ObjectHead;
use s3haul_wire::error::{Error, ErrorKind, Result};
use s3haul_wire::ops::ListedObject;

pub(crate) use removals::remove;

/// Names that are looked at together.
const BATCH_MAX: usize = 64;
/// What is said of a source that is not there any more.
const GONE: &str = "It is no longer there.";

/// Plans all uploads that are named. Blocks until the last is queued.
pub(crate) fn plan_uploads(
    job: &Prepared,
    engine: &Engine,
    queue: &Queue<UploadAction>,
    names: &dyn NameSource,
) {
    let planned = names.names().and_then(|mut names| {
        loop {
            let (batch, is_last) = take(&mut names, ActionKind::Upload)?;
            let mut actions = Vec::new();
            for named in batch {
                actions.extend(upload_action(job, engine, &named)?);
            }
            if queue.push_blocking(actions).is_err() {
                return Ok(false);
            }
            if is_last {
                return Ok(true);
            }
        }
    });
    match planned {
        Ok(is_end) if !is_end || job.removes_named() => {}
        Ok(_) => engine.report.plan_complete(),
        Err(error) => engine.report.fatal(error),
    }
}

/// The next names with an action, and whether they are the last.
fn take(names: &mut Names, action: ActionKind) -> Result<(Vec<Named>, bool)> {
    let mut batch = Vec::new();
    for named in names {
        let named = named?;
        if named.action == action {
            batch.push(named);
        }
        if batch.len() == BATCH_MAX {
            return Ok((batch, false));
        }
    }
    Ok((batch, true))
}

fn upload_action(job: &Prepared, engine: &Engine, named: &Named) -> Result<Option<UploadAction>> {
    let (Location::Local(path), Side::Local(source)) = (&named.source, &job.plan.source) else {
        return Err(foreign(named));
    };
    let below = if job.plan.is_directory { path.strip_prefix(source).ok() } else { None };
    let relative = match below.map(Path::to_str) {
        Some(Some(relative)) if is_plain(relative) => relative,
        None if !job.plan.is_directory && path == Path::new(source) => job.plan.single_name(),
        _ => return Err(foreign(named)),
    };
    let key = object_target(job, engine, named, relative)?;
    if named.collides {
        refuse_collision(job, engine, named);
        return Ok(None);
    }
    let options =
        WalkOptions { follow_symlinks: job.spec.follow_symlinks, ..WalkOptions::default() };
    let mut size = None;
    let mut walk = Walk::file(path, options);
    while let Some(items) = walk.next_batch() {
        for item in items {
            match item {
                WalkItem::File(file) => size = Some(file.size),
                WalkItem::Warning(text) | WalkItem::Skipped { text: Some(text), .. } => {
                    engine.report.warning(text);
                }
                WalkItem::Skipped { text: None, .. } => {}
            }
        }
    }
    Ok(size.map(|size| UploadAction { path: path.clone(), key, size, reason: None }))
}

/// Whether a name stays below the folder that it is in.
fn is_plain(relative: &str) -> bool {
    Path::new(relative).components().all(|component| matches!(component, Component::Normal(_)))
}

/// Key at the target: the one that the job gives, or one that a script or template gave.
fn object_target(job: &Prepared, engine: &Engine, named: &Named, relative: &str) -> Result<String> {
    let Some(Location::Object(target)) = &named.target else { return Err(foreign(named)) };
    let key = job.target_key(relative);
    let root = match &job.plan.target {
        Some(Side::Object(name)) => name.key.as_str(),
        _ => return Err(foreign(named)),
    };
    let is_renamed = job.spec.to_key.is_some() && target.key.starts_with(root);
    if target.bucket != engine.settings.target_bucket || (target.key != key && !is_renamed) {
        return Err(foreign(named));
    }
    Ok(target.key.clone())
}

/// Plans downloads, copies, removals or tags that are named.
pub(crate) async fn plan_objects<A: Planned>(
    job: &Prepared,
    engine: &Arc<Engine>,
    queue: &Queue<A>,
    make: &MakeAction<A>,
    names: &Arc<dyn NameSource>,
) -> Result<Result<(), Closed>> {
    let mut names = open(names).await?;
    loop {
        let (rest, batch, is_last) = next(names, job.plan.action).await?;
        names = rest;
        let found = batch.iter().map(|named| object_action(job, engine, make, named));
        let mut actions = Vec::with_capacity(batch.len());
        for action in join_all(found).await {
            actions.extend(action?);
        }
        if queue.push(actions).await.is_err() {
            return Ok(Err(Closed));
        }
        if is_last {
            return Ok(Ok(()));
        }
    }
}

async fn open(names: &Arc<dyn NameSource>) -> Result<Names> {
    let names = Arc::clone(names);
    blocking(move || names.names()).await
}

async fn next(mut names: Names, action: ActionKind) -> Result<(Names, Vec<Named>, bool)> {
    blocking(move || take(&mut names, action).map(|(batch, is_last)| (names, batch, is_last))).await
}

async fn object_action<A>(
    job: &Prepared,
    engine: &Engine,
    make: &MakeAction<A>,
    named: &Named,
) -> Result<Option<A>> {
    let action = job.plan.action;
    let place = match place(job, engine, named) {
        Ok(place) => place,
        // A manifest had this name, and it was refused then, too.
        Err(error) if job.spec.manifest.is_some() => {
            engine.report.planned(0);
            engine.conclude(action, named.source.clone(), named.target.clone(), 0, Err(error));
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    if job.removes() && !removals::is_still_taken(job, engine, named, &place).await {
        return Ok(None);
    }
    let NamedPlace { key, relative, version_id } = place;
    if job.acts_in_place() {
        let object = ListedObject { key, ..ListedObject::default() };
        let found = Found { object, version_id, relative, name: None, head: None };
        return Ok(make(job, engine, found));
    }
    let name = match action {
        ActionKind::Copy => Some(object_target(job, engine, named, relative)?),
        _ => file_target(job, named, relative)?,
    };
    if named.collides {
        refuse_collision(job, engine, named);
        return Ok(None);
    }
    match head(engine, key, version_id).await {
        Ok(head) => {
            let storage_class = head.properties.storage_class.clone().unwrap_or_default();
            let etag = head.etag.clone();
            let object = listed(key, &head, &etag, &storage_class);
            let head = Some(Box::new(head));
            Ok(make(job, engine, Found { object, version_id, relative, name, head }))
        }
        Err(error) if is_gone(&error) => {
            engine.report.warning(warning::skipping(&named.source, GONE));
            Ok(None)
        }
        Err(error) => {
            engine.report.planned(0);
            let (source, target) = (named.source.clone(), named.target.clone());
            engine.conclude(action, source, target, 0, Err(error));
            Ok(None)
        }
    }
}

/// Reports again that the new name of a source is also that of another: it is no longer known which
/// of them is there.
fn refuse_collision(job: &Prepared, engine: &Engine, named: &Named) {
    let Some(target) = named.target.clone() else { return };
    let name = match &target {
        Location::Object(object) => object.key.clone(),
        other => other.to_string(),
    };
    tell_collision(job, engine, named.source.clone(), target, &name, 0);
}

fn listed<'a>(
    key: &'a str,
    head: &ObjectHead,
    etag: &'a str,
    storage_class: &'a str,
) -> ListedObject<'a> {
    let last_modified_s = head.last_modified_s;
    ListedObject {
        key,
        size: head.size,
        last_modified_s,
        etag,
        storage_class,
        ..ListedObject::default()
    }
}

/// Which object of the source is named.
struct NamedPlace<'a> {
    key: &'a str,
    relative: &'a str,
    version_id: Option<&'a str>,
}

/// Key of a name, what of it lies below the source, and its version. A job on versions never takes
/// the current one instead, and one on objects never removes a version for good.
fn place<'a>(job: &'a Prepared, engine: &Engine, named: &'a Named) -> Result<NamedPlace<'a>> {
    let Location::Object(name) = &named.source else { return Err(foreign(named)) };
    let (is_about_versions, has_version) = (job.spec.versions.is_some(), name.version_id.is_some());
    let is_other_kind = is_about_versions != has_version && (is_about_versions || job.removes());
    if name.bucket != engine.settings.source_bucket || is_other_kind {
        return Err(foreign(named));
    }
    let relative = match name.key.strip_prefix(job.source_key()) {
        Some(relative) if job.plan.is_directory => relative,
        Some("") => job.plan.single_name(),
        _ => return Err(foreign(named)),
    };
    Ok(NamedPlace { key: &name.key, relative, version_id: name.version_id.as_deref() })
}

/// Name of a file below the target folder, where it is not the one that the job gives.
fn file_target(job: &Prepared, named: &Named, relative: &str) -> Result<Option<String>> {
    let Some(Location::Local(path)) = &named.target else { return Err(foreign(named)) };
    let expected = match (job.plan.target_directory(), &job.plan.target) {
        (Some(folder), _) => folder.join(&*collapse(relative)),
        (None, Some(Side::Local(path))) => PathBuf::from(path),
        _ => return Err(foreign(named)),
    };
    if *path == expected {
        return Ok(None);
    }
    let folder = job.plan.target_directory().filter(|_| job.spec.to_key.is_some());
    let name = folder.and_then(|folder| path.strip_prefix(folder).ok()).and_then(Path::to_str);
    name.map(|name| Some(name.to_owned())).ok_or_else(|| foreign(named))
}

fn is_gone(error: &Error) -> bool {
    error.kind() == ErrorKind::NotFound && error.code() != "NoSuchBucket"
}

fn foreign(named: &Named) -> Error {
    let Named { source, target, .. } = named;
    let target = target.as_ref().map(|target| format!(" to `{target}`")).unwrap_or_default();
    let message = format!(
        "`{source}`{target} is not what this command would do: nothing more of \
         the names is done"
    );
    Error::new(ErrorKind::Config, message)
}
