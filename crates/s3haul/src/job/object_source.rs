//! Objects to be downloaded, copied, removed or tagged: lists or asks for one, filters and names.

use std::borrow::Cow;
use std::sync::Arc;

use super::chooser::{Candidate, Choice, Chooser};
use super::manifest::plan_manifest;
use super::name_listing::{NameListing, NamesRequest};
use super::named;
use super::names::COLLISION;
use super::prepare::Prepared;
use super::queue::{Closed, Planned, Queue};
use super::spec::TransferCommand;
use super::version_source::{check_limit, limit_reached, version_of_source};
use crate::engine::core::Engine;
use crate::engine::limits::blocking;
use crate::engine::object::head;
use crate::engine::remove_object::Place;
use crate::event::{ActionKind, ObjectEvent, Outcome};
use crate::fs::{collapse, warning};
use crate::location::Location;
use crate::plan::action::{CopyAction, DeleteAction, DownloadAction, TagAction};
use crate::plan::conditions::ObjectFacts;
use crate::plan::paths::references_parent;
use crate::plan::removals::{Permit, RemovalGuard, RemovalLimit};
use s3haul_wire::ObjectHead;
use s3haul_wire::error::{Error, ErrorKind, Result, ServiceError};
use s3haul_wire::ops::{ListPage, ListedObject};

/// An object found, before it is an action.
pub(super) struct Found<'a> {
    pub(super) object: ListedObject<'a>,
    /// Version; the current one where absent.
    pub(super) version_id: Option<&'a str>,
    /// Name below the source.
    pub(super) relative: &'a str,
    /// Name at the target, where a script or template made one.
    pub(super) name: Option<String>,
    /// Headers, where the object was asked for by itself.
    pub(super) head: Option<Box<ObjectHead>>,
}

/// Makes the action of an object; nothing when it is left out.
pub(super) type MakeAction<A> =
    Box<dyn Fn(&Prepared, &Engine, Found<'_>) -> Option<A> + Send + Sync>;

/// Plans all actions of a job. A failure to list or to find the one object ends the planning and
/// is told as fatal; what was queued before goes on.
pub(super) async fn plan_objects<A: Planned>(
    job: &Prepared,
    engine: &Arc<Engine>,
    queue: &Queue<A>,
    make: MakeAction<A>,
) {
    match try_plan(job, engine, queue, &make).await {
        Ok(Ok(())) if job.removes_named() => {}
        Ok(Ok(())) => engine.report.plan_complete(),
        Ok(Err(Closed)) => {}
        Err(error) => engine.report.fatal(error),
    }
}

/// The same without a word about its end.
pub(super) async fn try_plan<A: Planned>(
    job: &Prepared,
    engine: &Arc<Engine>,
    queue: &Queue<A>,
    make: &MakeAction<A>,
) -> Result<Result<(), Closed>> {
    if let Some(names) = &job.spec.names {
        named::plan_objects(job, engine, queue, make, names).await
    } else if let Some(manifest) = &job.spec.manifest {
        plan_manifest(job, engine, queue, make, manifest).await
    } else if job.plan.is_directory || job.source_key().is_empty() || job.removes_versions() {
        plan_listing(job, engine, queue, make).await
    } else {
        plan_one(job, engine, queue, make).await
    }
}

async fn plan_one<A: Planned>(
    job: &Prepared,
    engine: &Engine,
    queue: &Queue<A>,
    make: &MakeAction<A>,
) -> Result<Result<(), Closed>> {
    let key = job.source_key();
    let relative = job.plan.single_name();
    let is_included = job.filter.includes(relative);
    // A removal asks nobody, unless a script or a condition has to know more: removing what is not
    // there is a success. Tagging asks nobody either, but fails.
    let is_removal = job.removes();
    if is_removal && is_included {
        check_limit(job, 1, 1)?;
    }
    let conditions = &job.spec.conditions;
    if job.acts_in_place() && job.chooser.is_none() && !conditions.needs_facts() {
        if !is_included || !conditions.takes(relative, &ObjectFacts::default()) {
            return Ok(Ok(()));
        }
        let object = ListedObject { key, ..ListedObject::default() };
        let found = Found { object, version_id: None, relative, name: None, head: None };
        let action = make(job, engine, found);
        return Ok(queue.push(action.into_iter().collect()).await);
    }
    let version_id = version_of_source(job, engine).await?;
    let head = match find(engine, key, version_id.as_deref()).await {
        Err(error) if is_removal && error.kind() == ErrorKind::NotFound => return Ok(Ok(())),
        head => head?,
    };
    // As with the AWS tools, what is missing is an error also where it would be left out.
    if !is_included {
        return Ok(Ok(()));
    }
    let storage_class = head.properties.storage_class.clone().unwrap_or_default();
    let etag = head.etag.clone();
    let object = ListedObject {
        key,
        size: head.size,
        last_modified_s: head.last_modified_s,
        etag: &etag,
        storage_class: &storage_class,
        ..ListedObject::default()
    };
    if !conditions.takes(relative, &facts_of(&object)) {
        return Ok(Ok(()));
    }
    let mut chosen = choose_one(job, engine, object).await?;
    let action = chosen.pop().and_then(|(_, name)| {
        let version_id = version_id.as_deref();
        let found = Found { object, version_id, relative, name, head: Some(Box::new(head)) };
        make(job, engine, found)
    });
    Ok(queue.push(action.into_iter().collect()).await)
}

/// Headers of the one object that a command names.
async fn find(engine: &Engine, key: &str, version_id: Option<&str>) -> Result<ObjectHead> {
    head(engine, key, version_id).await.map_err(|error| match error.kind() {
        ErrorKind::NotFound if error.code() != "NoSuchBucket" => {
            let service = ServiceError {
                code: "404".to_owned(),
                message: format!("Key \"{key}\" does not exist"),
                ..error.service_error().cloned().unwrap_or_default()
            };
            let renamed = Error::service(ErrorKind::NotFound, "HeadObject", service);
            match error.subject() {
                Some(subject) => renamed.with_subject(subject),
                None => renamed,
            }
        }
        _ => error,
    })
}

async fn plan_listing<A: Planned>(
    job: &Prepared,
    engine: &Arc<Engine>,
    queue: &Queue<A>,
    make: &MakeAction<A>,
) -> Result<Result<(), Closed>> {
    let prefix = job.wildcard.as_ref().map_or(job.source_key(), |wildcard| wildcard.prefix());
    learn_sources(job, engine, prefix).await?;
    let limit = count_removals(job, engine, prefix, make).await?;
    let mut gathered = Vec::new();
    let planned = queue_listing(job, engine, queue, make, (limit, &mut gathered)).await;
    // What was planned before a failure is done.
    let is_queued = queue.push(gathered).await.is_ok();
    if is_queued { planned } else { Ok(Err(Closed)) }
}

/// Queues what the source gives. Removals wait until there are as many as one request takes; those
/// that still wait at the end are left in `gathered`.
async fn queue_listing<A: Planned>(
    job: &Prepared,
    engine: &Arc<Engine>,
    queue: &Queue<A>,
    make: &MakeAction<A>,
    (limit, gathered): (RemovalLimit, &mut Vec<A>),
) -> Result<Result<(), Closed>> {
    let prefix = job.wildcard.as_ref().map_or(job.source_key(), |wildcard| wildcard.prefix());
    let together = if job.removes() { A::BATCH_MAX } else { 1 };
    let mut guard = RemovalGuard::new(limit);
    let mut listing = list_source(job, engine, prefix);
    while let Some(page) = listing.next().await? {
        let mut actions = plan_page(job, engine, page, Vec::new(), make).await?;
        let allowed = actions.iter().take_while(|_| guard.ask() == Permit::Now).count();
        let is_refused = allowed < actions.len();
        actions.truncate(allowed);
        gathered.append(&mut actions);
        let rest = gathered.split_off(gathered.len() - gathered.len() % together);
        if queue.push(std::mem::replace(gathered, rest)).await.is_err() {
            return Ok(Err(Closed));
        }
        if is_refused {
            return Err(limit_reached());
        }
    }
    Ok(Ok(()))
}

/// Goes through what is to be removed once before, where there is a limit: nothing is held, and
/// nothing is removed when it is too much.
async fn count_removals<A: Planned>(
    job: &Prepared,
    engine: &Arc<Engine>,
    prefix: &str,
    make: &MakeAction<A>,
) -> Result<RemovalLimit> {
    if !job.removes() || job.spec.sync.max_delete == RemovalLimit::None {
        return Ok(RemovalLimit::None);
    }
    let mut listing = list_source(job, engine, prefix);
    let mut wanted = 0;
    while let Some(page) = listing.next().await? {
        wanted += plan_page(job, engine, page, Vec::new(), make).await?.len() as u64;
    }
    check_limit(job, wanted, listing.listed())
}

/// Plans a page of objects; `heads` has the headers of those that were asked for by themselves.
pub(super) async fn plan_page<A>(
    job: &Prepared,
    engine: &Engine,
    page: ListPage,
    mut heads: Vec<Option<Box<ObjectHead>>>,
    make: &MakeAction<A>,
) -> Result<Vec<A>> {
    let wanted = wanted(job, &page);
    let (page, chosen) = choose(job, engine, page, wanted).await?;
    let action = |(index, name): (usize, Option<String>)| {
        let object = page.get(index)?;
        let relative = job.relative(object.key)?;
        let version_id = page.version_id(index);
        let head = heads.get_mut(index).and_then(Option::take);
        make(job, engine, Found { object, version_id, relative, name, head })
    };
    Ok(chosen.into_iter().filter_map(action).collect())
}

/// What conditions are asked about an object.
pub(super) fn facts_of<'a>(object: &ListedObject<'a>) -> ObjectFacts<'a> {
    ObjectFacts {
        size: Some(object.size),
        modified_s: object.last_modified_s,
        storage_class: Some(object.storage_class),
    }
}

/// Indices of the objects of a page that patterns and conditions include.
pub(super) fn wanted(job: &Prepared, page: &ListPage) -> Vec<usize> {
    let is_in_place = job.acts_in_place();
    let is_meant = |index: usize, object: &ListedObject<'_>, below: &str| {
        let mut facts = facts_of(object);
        if page.is_delete_marker(index) {
            facts = ObjectFacts { size: None, storage_class: None, ..facts };
        }
        job.filter.includes(below) && job.spec.conditions.takes(below, &facts)
    };
    // A job on versions never takes an object in place of one.
    let is_of_kind = |index| job.spec.versions.is_none() || page.version_id(index).is_some();
    let is_wanted = |(index, object): &(usize, ListedObject<'_>)| {
        is_of_kind(*index)
            && (is_in_place || object.size > 0 || !object.key.ends_with('/'))
            && job.wildcard.as_ref().is_none_or(|wildcard| wildcard.matches(object.key))
            && job.relative(object.key).is_some_and(|below| is_meant(*index, object, below))
    };
    let wanted = (0..).zip(page.iter()).filter(is_wanted);
    wanted.map(|(index, _)| index).collect()
}

/// Goes through the sources once before, where new names may be names of sources.
async fn learn_sources(job: &Prepared, engine: &Engine, prefix: &str) -> Result<()> {
    let Some(chooser) = job.chooser.as_ref().filter(|chooser| Chooser::needs_sources(chooser))
    else {
        return Ok(());
    };
    let mut listing = list_source(job, engine, prefix);
    while let Some(page) = listing.next().await? {
        let (chooser, wanted) = (Arc::clone(chooser), wanted(job, &page));
        let learned = blocking(move || {
            Chooser::learn(&chooser, wanted.iter().filter_map(|index| page.get(*index)))
        });
        learned.await?;
    }
    Ok(())
}

/// Objects of a page by their indices, and new names where they get some.
type Chosen = Vec<(usize, Option<String>)>;

/// Decides on one object.
async fn choose_one(job: &Prepared, engine: &Engine, object: ListedObject<'_>) -> Result<Chosen> {
    let page = ListPage::from_objects([object])?;
    if let Some(chooser) = job.chooser.as_ref().filter(|chooser| Chooser::needs_sources(chooser)) {
        Chooser::learn(chooser, page.iter())?;
    }
    Ok(choose(job, engine, page, vec![0]).await?.1)
}

/// Lets scripts and templates decide on objects of a page; collisions are told as failures.
async fn choose(
    job: &Prepared,
    engine: &Engine,
    page: ListPage,
    indices: Vec<usize>,
) -> Result<(ListPage, Chosen)> {
    let Some(chooser) = &job.chooser else {
        return Ok((page, indices.into_iter().map(|index| (index, None)).collect()));
    };
    let name = |index: usize| {
        let key = page.get(index)?.key;
        let relative = job.relative(key).unwrap_or_else(|| job.plan.single_name());
        Some((index, job.target_name(relative).into_owned()))
    };
    let named: Vec<_> = indices.into_iter().filter_map(name).collect();
    let chooser = Arc::clone(chooser);
    // A script may take its time.
    let (page, named, choices) = blocking(move || {
        let choices = {
            let candidates: Vec<_> = named
                .iter()
                .filter_map(|(index, name)| Some(Candidate { object: page.get(*index)?, name }))
                .collect();
            Chooser::choose(&chooser, &candidates)
        };
        (page, named, choices)
    })
    .await;
    let mut chosen = Chosen::with_capacity(named.len());
    for ((index, _), choice) in named.into_iter().zip(choices?) {
        match choice {
            Choice::Leave => {}
            Choice::Take => chosen.push((index, None)),
            Choice::Rename(name) => chosen.push((index, Some(name))),
            Choice::Collides(name) => {
                if let Some(object) = page.get(index) {
                    let version_id = page.version_id(index).map(str::to_owned);
                    let source = engine.source_version(object.key.to_owned(), version_id);
                    report_collision(job, engine, source, &name, object.size);
                }
            }
        }
    }
    Ok((page, chosen))
}

/// Tells that an object is not transferred, because its new name is that of another.
pub(super) fn report_collision(
    job: &Prepared,
    engine: &Engine,
    source: Location,
    name: &str,
    bytes: u64,
) {
    let target = match job.plan.target_directory() {
        Some(folder) if job.plan.action == ActionKind::Download => {
            Location::Local(folder.join(name))
        }
        _ => engine.target_object(name.to_owned()),
    };
    tell_collision(job, engine, source, target, name, bytes);
}

/// The same of a target.
pub(super) fn tell_collision(
    job: &Prepared,
    engine: &Engine,
    source: Location,
    target: Location,
    name: &str,
    bytes: u64,
) {
    let message = format!(
        "the new name `{name}` is also that of another object of this job: nothing was written"
    );
    engine.report.planned(bytes);
    engine.report.object(ObjectEvent {
        action: job.plan.action,
        is_move: engine.settings.is_move,
        source,
        target: Some(target),
        bytes,
        reason: Some(COLLISION),
        outcome: Outcome::Failed(Error::new(ErrorKind::Config, message)),
    });
}

/// Lists what patterns can take in.
fn list_source(job: &Prepared, engine: &Engine, prefix: &str) -> NameListing {
    // So many of a hundred under the address: of all of them, also those that are left out.
    let counts_all = matches!(job.spec.sync.max_delete, RemovalLimit::Percent(_));
    let request = NamesRequest {
        place: Place::Source,
        root: job.source_key(),
        prefix,
        filter: (!counts_all).then_some(&*job.filter),
        page_size: job.spec.page_size,
        is_one: !job.plan.is_directory && !job.source_key().is_empty(),
        versions: job.spec.versions,
        proves_emptiness: false,
    };
    NameListing::new(engine, request)
}

/// The action for a download.
pub(super) fn download_action(
    job: &Prepared,
    engine: &Engine,
    found: Found<'_>,
) -> Option<DownloadAction> {
    if is_archived(job, engine, &found) {
        return None;
    }
    let name = found.name.as_deref().unwrap_or(found.relative);
    if references_parent(name) {
        engine.report.warning(warning::skipping(name, warning::PARENT_REFERENCE));
        return None;
    }
    let relative = collapse(name);
    let is_respelled = found.name.is_none() && matches!(relative, Cow::Owned(_));
    let plain_key = is_respelled.then(|| {
        let root = found.object.key.strip_suffix(found.relative).unwrap_or_default();
        format!("{root}{relative}")
    });
    Some(DownloadAction {
        key: found.object.key.to_owned(),
        version_id: found.version_id.map(str::to_owned),
        relative: relative.into_owned(),
        plain_key,
        size: found.object.size,
        etag: found.object.etag.to_owned(),
        last_modified_s: found.object.last_modified_s,
        head: found.head,
        reason: None,
    })
}

/// The action for a copy.
pub(super) fn copy_action(job: &Prepared, engine: &Engine, found: Found<'_>) -> Option<CopyAction> {
    if is_archived(job, engine, &found) {
        return None;
    }
    Some(CopyAction {
        source_key: found.object.key.to_owned(),
        version_id: found.version_id.map(str::to_owned),
        target_key: found.name.unwrap_or_else(|| job.target_key(found.relative)),
        size: found.object.size,
        etag: found.object.etag.to_owned(),
        head: found.head,
        reason: None,
    })
}

/// The action for a removal.
pub(super) fn delete_action(job: &Prepared, found: &Found<'_>) -> DeleteAction {
    // `rm` removes whatever is there, as the AWS tools do. But what conditions were asked of may
    // be what a manifest told long ago: then it must still be that.
    let is_looked_at = job.chooser.is_some() || job.spec.conditions.needs_facts();
    let is_told = job.spec.manifest.is_some() && is_looked_at;
    DeleteAction {
        key: found.object.key.to_owned(),
        version_id: found.version_id.map(str::to_owned),
        size: found.object.size,
        etag: if is_told { found.object.etag.to_owned() } else { String::new() },
    }
}

/// The action for tags.
pub(super) fn tag_action(found: &Found<'_>) -> TagAction {
    TagAction { key: found.object.key.to_owned(), size: found.object.size }
}

/// Whether an object is archived and not restored, so that it cannot be read; warns.
fn is_archived(job: &Prepared, engine: &Engine, found: &Found<'_>) -> bool {
    let is_archive = matches!(found.object.storage_class, "GLACIER" | "DEEP_ARCHIVE");
    let restore = found.head.as_ref().and_then(|head| head.restore.as_deref());
    let is_restored = restore.is_some_and(|told| told.contains("ongoing-request=\"false\""));
    if !is_archive || is_restored || job.spec.force_glacier_transfer {
        return false;
    }
    if !job.spec.ignore_glacier_warnings {
        let operation = match (engine.settings.is_move, job.plan.action) {
            (true, _) => "move",
            (false, ActionKind::Download) => "download",
            (false, _) => "copy",
        };
        let command = match job.spec.command {
            TransferCommand::Sync => "sync",
            TransferCommand::Move => "mv",
            _ => "cp",
        };
        let path = format!("s3://{}/{}", engine.settings.source_bucket, found.object.key);
        let reason = format!(
            "Object is of storage class GLACIER. Unable to perform {operation} operations on \
             GLACIER objects. You must restore the object to be able to perform the operation. \
             See `s3haul {command} --help` for additional parameter options to ignore or force \
             these transfers."
        );
        engine.report.warning(warning::skipping(path, &reason));
    }
    true
}
