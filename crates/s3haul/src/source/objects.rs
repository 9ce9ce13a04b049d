//! Objects to be downloaded, copied, removed or tagged: lists or asks for one, filters and names.

use std::sync::Arc;

use super::manifest::plan_manifest;
use crate::engine::core::Engine;
use crate::engine::limits::blocking;
use crate::engine::object::head;
use crate::engine::remove_object::Place;
use crate::job::prepare::Prepared;
use crate::job::queue::{Closed, Planned, Queue};
use crate::plan::conditions::ObjectFacts;
use crate::plan::removals::{Permit, RemovalGuard, RemovalLimit};
use crate::select::rename::Chooser;
use crate::source::listing::{NameListing, NamesRequest};
use crate::source::page_plan::Found;
use crate::source::page_plan::MakeAction;
use crate::source::page_plan::choose_one;
use crate::source::page_plan::facts_of;
use crate::source::page_plan::plan_page;
use crate::source::page_plan::wanted;
use crate::source::report;
use crate::source::versions::{check_limit, limit_reached, version_of_source};
use s3haul_wire::ObjectHead;
use s3haul_wire::error::{Error, ErrorKind, Result, ServiceError};
use s3haul_wire::ops::ListedObject;

/// Plans all actions of a job. A failure to list or to find the one object ends the planning and is
/// reported as fatal; what was queued before goes on.
pub(crate) async fn plan_objects<A: Planned>(
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
pub(crate) async fn try_plan<A: Planned>(
    job: &Prepared,
    engine: &Arc<Engine>,
    queue: &Queue<A>,
    make: &MakeAction<A>,
) -> Result<Result<(), Closed>> {
    if let Some(names) = &job.spec.names {
        report::plan_objects(job, engine, queue, make, names).await
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
    // A removal needs no HEAD, unless a script or a condition has to know more: removing what is
    // not there is a success. Tagging needs none either, but fails if the object is missing.
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
