//! Objects to be downloaded, copied or removed: lists or asks for one, filters and names.

use std::borrow::Cow;
use std::sync::Arc;

use super::prepare::Prepared;
use super::queue::{Closed, Planned, Queue};
use crate::error::{Error, ErrorKind, Result, ServiceError};
use crate::event::ActionKind;
use crate::fs::{collapse, warning};
use crate::list::{ListRequest, Listing, Order, list};
use crate::plan::paths::references_parent;
use crate::s3::ObjectHead;
use crate::s3::ops::{ListPage, ListedObject};
use crate::transfer::action::{CopyAction, DeleteAction, DownloadAction};
use crate::transfer::engine::Engine;
use crate::transfer::ranged::head;

/// One in so many of the requests that a job may have in flight lists.
const LISTING_SHARE: usize = 4;

/// An object found, before it is an action.
pub(super) struct Found<'a> {
    pub(super) object: ListedObject<'a>,
    /// Name below the source.
    pub(super) relative: &'a str,
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
    let planned = if job.plan.is_directory || job.source_key().is_empty() {
        plan_listing(job, engine, queue, &make).await
    } else {
        plan_one(job, engine, queue, &make).await
    };
    match planned {
        Ok(Ok(())) => engine.report.plan_complete(),
        Ok(Err(Closed)) => {}
        Err(error) => engine.report.fatal(error),
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
    if !job.filter.includes(relative) {
        return Ok(Ok(()));
    }
    // A removal asks nobody: removing what is not there is a success.
    if job.plan.action == ActionKind::Delete {
        let object = ListedObject { key, size: 0, last_modified_s: 0, etag: "", storage_class: "" };
        let action = make(job, engine, Found { object, relative, head: None });
        return Ok(queue.push(action.into_iter().collect()).await);
    }
    let head = find(engine, key).await?;
    let storage_class = head.properties.storage_class.clone().unwrap_or_default();
    let etag = head.etag.clone();
    let object = ListedObject {
        key,
        size: head.size,
        last_modified_s: head.last_modified_s,
        etag: &etag,
        storage_class: &storage_class,
    };
    let found = Found { object, relative, head: Some(Box::new(head)) };
    let action = make(job, engine, found);
    Ok(queue.push(action.into_iter().collect()).await)
}

/// Headers of the one object that a command names.
async fn find(engine: &Engine, key: &str) -> Result<ObjectHead> {
    head(engine, key).await.map_err(|error| match error.kind() {
        ErrorKind::NotFound if error.code() != "NoSuchBucket" => {
            let service = ServiceError {
                code: "404".to_owned(),
                message: format!("Key \"{key}\" does not exist"),
                ..error.service_error().cloned().unwrap_or_default()
            };
            Error::service(ErrorKind::NotFound, "HeadObject", service)
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
    let mut listing = list_prefix(engine, prefix, job.spec.page_size);
    while let Some(piece) = listing.next().await {
        for notice in listing.take_notices() {
            tracing::info!(%notice, prefix, "listing");
        }
        let actions = plan_page(job, engine, &piece?.page, make);
        if queue.push(actions).await.is_err() {
            return Ok(Err(Closed));
        }
    }
    Ok(Ok(()))
}

fn plan_page<A>(job: &Prepared, engine: &Engine, page: &ListPage, make: &MakeAction<A>) -> Vec<A> {
    let root = job.source_key();
    // A path that names no key and no tree matches nothing.
    if !job.plan.is_directory {
        return Vec::new();
    }
    let is_removal = job.plan.action == ActionKind::Delete;
    page.iter()
        .filter(|object| is_removal || object.size > 0 || !object.key.ends_with('/'))
        .filter(|object| job.wildcard.as_ref().is_none_or(|wildcard| wildcard.matches(object.key)))
        .filter_map(|object| {
            let relative = object.key.strip_prefix(root)?;
            let included = job.filter.includes(relative);
            included.then(|| make(job, engine, Found { object, relative, head: None }))?
        })
        .collect()
}

/// Lists a prefix in the order of keys. Requests count among those of the job; a prefix of one page
/// costs one.
fn list_prefix(engine: &Engine, prefix: &str, page_size: Option<u32>) -> Listing {
    let request = ListRequest {
        prefix: prefix.to_owned(),
        order: Order::Ascending,
        concurrency: engine.limits.requests_max().div_ceil(LISTING_SHARE),
        page_size,
        permits: Some(engine.limits.requests()),
        ..ListRequest::new(engine.settings.source_bucket.clone())
    };
    list(engine.source.clone(), request)
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
    if references_parent(found.relative) {
        engine.report.warning(warning::skipping(found.relative, warning::PARENT_REFERENCE));
        return None;
    }
    let relative = collapse(found.relative);
    let plain_key = matches!(relative, Cow::Owned(_)).then(|| {
        let root = found.object.key.strip_suffix(found.relative).unwrap_or_default();
        format!("{root}{relative}")
    });
    Some(DownloadAction {
        key: found.object.key.to_owned(),
        relative: relative.into_owned(),
        plain_key,
        size: found.object.size,
        etag: found.object.etag.to_owned(),
        last_modified_s: found.object.last_modified_s,
        head: found.head,
    })
}

/// The action for a copy.
pub(super) fn copy_action(job: &Prepared, engine: &Engine, found: Found<'_>) -> Option<CopyAction> {
    if is_archived(job, engine, &found) {
        return None;
    }
    Some(CopyAction {
        source_key: found.object.key.to_owned(),
        target_key: job.target_key(found.relative),
        size: found.object.size,
        etag: found.object.etag.to_owned(),
        head: found.head,
    })
}

/// The action for a removal.
pub(super) fn delete_action(found: &Found<'_>) -> DeleteAction {
    DeleteAction { key: found.object.key.to_owned(), size: found.object.size }
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
        let path = format!("s3://{}/{}", engine.settings.source_bucket, found.object.key);
        let reason = format!(
            "Object is of storage class GLACIER. Unable to perform {operation} operations on \
             GLACIER objects. You must restore the object to be able to perform the operation. \
             See aws s3 {operation} help for additional parameter options to ignore or force \
             these transfers."
        );
        engine.report.warning(warning::skipping(path, &reason));
    }
    true
}
