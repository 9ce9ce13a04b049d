//! `sync`: the merge of both sides, name by name, into transfers and removals.
//!
//! Nothing is removed that the source may have: a removal is decided only when the source's
//! stream is past the name without error, is never decided for names that could not be looked at,
//! and never for a source that has nothing at all, unless that was asked for.

mod check;
mod planner;
mod renamed;

use std::sync::Arc;

use crate::action::copy::run_copies;
use crate::action::delete::run_deletes;
use crate::action::download::run_downloads;
use crate::action::download::target::DownloadTarget;
use crate::action::remove_files::run_file_removals;
use crate::action::upload::run_uploads;
use crate::engine::core::{Engine, Place};
use crate::engine::limits::blocking;
use crate::event::ActionKind;
use crate::fs::{TargetRoot, WalkOptions};
use crate::job::describe::{
    describe_copy, describe_delete, describe_download, describe_file_removal, describe_upload,
};
use crate::job::prepare::Prepared;
use crate::job::prepare::queue;
use crate::plan::filter::Filter;
use crate::plan::paths::Side;
use crate::plan::removals::RemovalLimit;
use crate::source::listing::NamesRequest;
use crate::source::side::SideStream;
use crate::task::download_target::screen;
use crate::task::make_action::{
    copy_action, download_action, file_removal, object_removal, upload_action,
};
use planner::Plan;
use s3haul_wire::error::Result;

/// Runs a `sync`. An error comes back only where nothing was begun.
pub(crate) async fn sync(job: Arc<Prepared>, engine: Arc<Engine>) -> Result<()> {
    if job.spec.to_key.is_some() {
        return renamed::sync(&job, &engine).await;
    }
    match job.plan.action {
        ActionKind::Upload => upload(&job, &engine).await,
        ActionKind::Download => return download(&job, &engine).await,
        _ => copy(&job, &engine).await,
    }
    Ok(())
}

/// Opens both sides of a job.
fn sides(job: &Arc<Prepared>, engine: &Arc<Engine>) -> Option<(SideStream, SideStream)> {
    let filter = Arc::clone(&job.filter);
    let target_filter = Arc::clone(&job.target_filter);
    let removes_files = job.spec.sync.delete && job.plan.action == ActionKind::Download;
    let open = |side: &Side, filter: Arc<Filter>, place| {
        Some(match side {
            Side::Local(folder) => {
                let options = WalkOptions {
                    follow_symlinks: job.spec.follow_symlinks,
                    takes_temporary: removes_files,
                    is_target: place == Place::Target,
                    ..WalkOptions::default()
                };
                SideStream::of_folder(folder, options, filter, engine)
            }
            Side::Object(name) => {
                let request = names_request(job, place, &name.key, &filter);
                SideStream::of_prefix(engine, request, Arc::clone(&filter))
            }
            Side::Stream => return None,
        })
    };
    let source = open(&job.plan.source, filter, Place::Source)?;
    let target = open(job.plan.target.as_ref()?, target_filter, Place::Target)?;
    let source = source.becoming_files(removes_files);
    let (script, conditions) = (job.spec.filter.as_ref(), &job.spec.conditions);
    let selected = |side: SideStream| side.selected_by(script).on_conditions(conditions);
    Some((selected(source), selected(target)))
}

/// What is listed of a side: what its filter can take in, unless all names count.
fn names_request<'a>(
    job: &Prepared,
    place: Place,
    root: &'a str,
    filter: &'a Filter,
) -> NamesRequest<'a> {
    let options = &job.spec.sync;
    // So many of a hundred in the target: of all of them, also those that are left out.
    let counts_all =
        place == Place::Target && matches!(options.max_delete, RemovalLimit::Percent(_));
    NamesRequest {
        place,
        root,
        prefix: root,
        filter: (!counts_all).then_some(filter),
        page_size: job.spec.page_size,
        is_one: false,
        versions: job.spec.versions.filter(|_| place == Place::Source),
        proves_emptiness: place == Place::Source && options.delete,
    }
}

async fn upload(job: &Arc<Prepared>, engine: &Arc<Engine>) {
    let (transfers, actions) = queue(job, engine, describe_upload);
    let (removals, removed) = queue(job, engine, describe_delete(Place::Target));
    let Some(sides) = sides(job, engine) else { return };
    let make_transfer = Box::new(upload_action);
    let plan = Plan { make_transfer, make_removal: object_removal, transfers, removals };
    let uploads = run_uploads(Arc::clone(engine), actions);
    let deletes = run_deletes(Arc::clone(engine), Place::Target, removed);
    tokio::join!(planner::plan(job, engine, sides, plan), uploads, deletes);
}

async fn download(job: &Arc<Prepared>, engine: &Arc<Engine>) -> Result<()> {
    let Some(folder) = job.plan.target_directory().map(ToOwned::to_owned) else { return Ok(()) };
    let root = blocking(move || TargetRoot::open(&folder)).await?;
    let place = DownloadTarget::Below(root.clone());
    let (mut transfers, actions) = queue(job, engine, describe_download(place.clone()));
    screen(job, &place, &mut transfers);
    let (removals, removed) = queue(job, engine, describe_file_removal(root.clone()));
    let Some(sides) = sides(job, engine) else { return Ok(()) };
    let make_transfer = Box::new(download_action);
    let plan = Plan { make_transfer, make_removal: file_removal, transfers, removals };
    let downloads = run_downloads(Arc::clone(engine), place, actions);
    let deletes = run_file_removals(Arc::clone(engine), root, removed);
    tokio::join!(planner::plan(job, engine, sides, plan), downloads, deletes);
    Ok(())
}

async fn copy(job: &Arc<Prepared>, engine: &Arc<Engine>) {
    let (transfers, actions) = queue(job, engine, describe_copy);
    let (removals, removed) = queue(job, engine, describe_delete(Place::Target));
    let Some(sides) = sides(job, engine) else { return };
    let make_transfer = Box::new(copy_action);
    let plan = Plan { make_transfer, make_removal: object_removal, transfers, removals };
    let copies = run_copies(Arc::clone(engine), actions);
    let deletes = run_deletes(Arc::clone(engine), Place::Target, removed);
    tokio::join!(planner::plan(job, engine, sides, plan), copies, deletes);
}
