//! `sync`: the merge of both sides, name by name, into transfers and removals.
//!
//! Nothing is removed that the source may have: a removal is decided only when the source's
//! stream is past the name without error, is never decided for names that could not be looked at,
//! and never for a source that has nothing at all, unless that was asked for.

mod check;
pub(super) mod lookup;
mod planner;

use std::path::PathBuf;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use crate::action::download::target::DownloadTarget;
use crate::action::queue::{Action, Queue, start};
use crate::engine::core::{Engine, Place};
use crate::engine::limits::blocking;
use crate::event::ActionKind;
use crate::fs::WalkOptions;
use crate::job::prepare::Prepared;
use crate::journal::Journal;
use crate::plan::filter::Filter;
use crate::plan::paths::Side;
use crate::plan::removals::RemovalLimit;
use crate::source::hints::{NamesAhead, Original};
use crate::source::listing::NamesRequest;
use crate::source::presence::has_any;
use crate::source::side::SideStream;
use crate::source::walk::names_below;
use crate::task::divided::start_divided;
use crate::task::download_target::{open_root, start_downloads, start_removals};
use crate::task::pipeline::{
    MakeAction, copy_action, download_action, file_removal, object_removal, upload_action,
};
use lookup::Targeted;
use planner::{MakeRemoval, Plan};
use s3haul_wire::error::Result;

/// Runs a `sync`. An error comes back only where nothing was begun.
pub(crate) async fn sync(job: Arc<Prepared>, engine: Arc<Engine>) -> Result<()> {
    if job.spec.to_key.is_some() {
        return lookup::sync(&job, &engine).await;
    }
    let (job, engine) = (&job, &engine);
    let in_bucket = || (start(engine, Place::Target), object_removal as _);
    match job.plan.action {
        ActionKind::Upload => {
            let transfers = (start_divided(job, engine), ());
            run(job, engine, transfers, upload_action, in_bucket()).await;
        }
        ActionKind::Download => {
            let Some(folder) = job.plan.target_directory().map(ToOwned::to_owned) else {
                return Ok(());
            };
            let root = open_root(job, folder).await?;
            let target = DownloadTarget::Below(root.clone());
            let downloads = start_downloads(job, engine, target.clone());
            let in_folder = (start_removals(job, engine, root), file_removal as _);
            run(job, engine, (downloads, target), download_action, in_folder).await;
        }
        _ => {
            let transfers = (start_divided(job, engine), ());
            run(job, engine, transfers, copy_action, in_bucket()).await;
        }
    }
    Ok(())
}

/// Merges both sides while the transfers and removals of the difference are done.
async fn run<A: Targeted, D: Action>(
    job: &Arc<Prepared>,
    engine: &Arc<Engine>,
    ((transfers, transferring), place): ((Queue<A>, impl Future<Output = ()>), A::Place),
    make_transfer: MakeAction<A>,
    ((removals, removing), make_removal): ((Queue<D>, impl Future<Output = ()>), MakeRemoval<D>),
) {
    let journals = journals(job, engine).await;
    let Some((source, target)) = sides(job, engine) else { return };
    let (source, target) = (source.without(journals.clone()), target.without(journals));
    let seen = u64::from(has_names_elsewhere(job, engine).await);
    let sides = (source.having_seen(seen), target);
    let removed = CancellationToken::new();
    let ended = removed.clone();
    let removing = async move {
        removing.await;
        ended.cancel();
    };
    let plan = Plan { place, make_transfer, make_removal, transfers, removals, removed };
    tokio::join!(planner::plan(job, engine, sides, plan), transferring, removing);
}

/// Folders of journals below that of the job. On the other side their names are left out, too:
/// nothing is removed there because it is not read here, and old journals replace no new ones.
async fn journals(job: &Prepared, engine: &Engine) -> Vec<String> {
    let journals = engine.settings.journals.clone();
    let sides = [Some(&job.plan.source), job.plan.target.as_ref()];
    let folder = sides.into_iter().flatten().find_map(|side| match side {
        Side::Local(folder) => Some(PathBuf::from(folder)),
        _ => None,
    });
    let Some(folder) = folder else { return Vec::new() };
    blocking(move || names_below(&folder, &journals)).await
}

/// Whether a folder has names that may lie outside of what is walked of it: an empty range of a
/// shard is no empty source, nor is what an earlier run left. A listing finds that out by itself.
/// What the earlier run saw does not count: the disk may have gone since.
async fn has_names_elsewhere(job: &Arc<Prepared>, engine: &Arc<Engine>) -> bool {
    let is_whole =
        job.spec.shard.is_none() && engine.report.journal().and_then(Journal::settled).is_none();
    let is_folder = matches!(job.plan.source, Side::Local(_));
    is_folder
        && !is_whole
        && job.spec.sync.delete
        && has_any(job, engine, &job.filter).await.unwrap_or(false)
}

/// Opens both sides of a job.
fn sides(job: &Arc<Prepared>, engine: &Arc<Engine>) -> Option<(SideStream, SideStream)> {
    let filter = Arc::clone(&job.filter);
    let target_filter = Arc::clone(&job.target_filter);
    let removes_files = job.spec.sync.delete && job.plan.action == ActionKind::Download;
    let settled = engine.report.journal().and_then(Journal::settled).cloned().unwrap_or_default();
    let range = job.range();
    let after = |place| match place {
        // Keys that an earlier run dealt with have files that come later in order.
        Place::Source if removes_files => &range.after,
        _ => settled.name.as_str().max(&range.after),
    };
    let ahead = Arc::new(NamesAhead::default());
    let open = |side: &Side, filter: Arc<Filter>, place| {
        Some(match side {
            Side::Local(folder) => {
                let options = WalkOptions {
                    follow_symlinks: job.spec.follow_symlinks,
                    takes_temporary: removes_files,
                    after: after(place).to_owned(),
                    through: range.through.clone(),
                    // What is written there goes through the link in any case.
                    follows_root: place == Place::Target,
                    is_written_to: place == Place::Target,
                    may_be_missing: place == Place::Target && job.spec.plans,
                    ..WalkOptions::default()
                };
                SideStream::of_folder(folder, options, filter, engine, &ahead)
            }
            Side::Object(name) => {
                let through = range.through.as_deref();
                let names = names_request(job, engine, place, (&name.key, &ahead), &filter);
                let request = NamesRequest { after: after(place), through, ..names };
                SideStream::of_prefix(engine, request, Arc::clone(&filter))
            }
            Side::Stream => return None,
        })
    };
    let source = open(&job.plan.source, filter, Place::Source)?;
    let target = open(job.plan.target.as_ref()?, target_filter, Place::Target)?;
    let source = source.becoming_files(removes_files);
    let target = target.having_seen(settled.target_seen);
    let (script, conditions) = (job.spec.filter.as_ref(), &job.spec.conditions);
    let selected =
        |side: SideStream| side.selected_by(script).on_conditions(conditions).within(range.clone());
    Some((selected(source), selected(target)))
}

/// What is listed of a side: what its filter can take in, unless all names count.
fn names_request<'a>(
    job: &'a Prepared,
    engine: &Engine,
    place: Place,
    (root, ahead): (&'a str, &Arc<NamesAhead>),
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
        after: "",
        through: None,
        filter: (!counts_all).then_some(filter),
        page_size: job.spec.page_size,
        is_one: false,
        versions: job.spec.versions.filter(|_| place == Place::Source),
        decides_removals: place == Place::Source && options.delete,
        original: Some(match &job.plan.source {
            Side::Object(source) if place == Place::Target => {
                Original::of_source(engine, &source.key)
            }
            // Nothing is noted where no side is a folder.
            _ => Original::Folder(Arc::clone(ahead)),
        }),
    }
}
