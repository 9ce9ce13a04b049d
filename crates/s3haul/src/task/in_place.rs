//! `set` and `restore`: objects that are changed where they are.

use std::sync::Arc;

use crate::action::queue::{Queue, start};
use crate::action::restore::run_beginnings;
use crate::engine::core::{Engine, Place};
use crate::entry::{Entry, ObjectEntry};
use crate::event::{ActionKind, ObjectEvent, Outcome};
use crate::job::prepare::Prepared;
use crate::plan::action::{RestoreAction, SetAction};
use crate::select::choose::Taken;
use crate::source::entries::Pass;
use crate::task::pipeline::{pipeline, try_plan};
use s3haul_wire::error::{Error, ErrorKind};
use s3haul_wire::units::RequestCounts;

/// Changes all that the source gives.
pub(crate) async fn set(job: &Arc<Prepared>, engine: &Arc<Engine>) {
    pipeline(job, engine, start(engine, ()), set_action).await;
    // At least one object that is copied is looked at afterwards.
    if engine.settings.change.copies() && engine.report.requests_planned().write > 0 {
        engine.report.would_send(RequestCounts { read: 1, ..RequestCounts::default() }, 0);
    }
}

/// The action of a change; `None` if the listing shows that the object is already as wanted.
fn set_action(
    job: &Prepared,
    engine: &Engine,
    Taken { entry, .. }: Taken<'_>,
) -> Option<SetAction> {
    let ObjectEntry { listed, .. } = entry.object()?;
    let wanted = engine.settings.change.only_class();
    if wanted.is_some_and(|class| class == listed.storage_class) {
        skip(engine, ActionKind::Set, entry);
        return None;
    }
    // What conditions were checked on is changed, and nothing that has replaced it.
    let etag = if job.checks_facts() { listed.etag } else { "" };
    let (key, etag) = (listed.key.to_owned(), etag.to_owned());
    Some(SetAction { key, size: listed.size, etag, expected: None })
}

/// Restores all objects of the source, or reports their state. If the job waits, all restores are
/// begun before, so that they run while one object after the other is waited for.
pub(crate) async fn restore(job: &Arc<Prepared>, engine: &Arc<Engine>) {
    if engine.settings.restore.waits() && !job.spec.dry_run {
        if job.spec.manifest.as_ref().is_some_and(|manifest| !manifest.is_lasting()) {
            let message = "--wait reads the list of names twice, and this one can be read only \
                           once: write it to a file";
            return engine.report.fatal(Error::new(ErrorKind::Config, message));
        }
        if begin(job, engine).await {
            wait(job, engine).await;
        }
        return;
    }
    let before = engine.source.requests_sent();
    pipeline(job, engine, start(engine, ()), restore_or_skip).await;
    if engine.settings.restore.waits() {
        // A dry run, for which the objects were listed once.
        engine.report.would_send(engine.source.requests_sent() - before, 0);
    }
}

/// Begins all restores; they are reported as planned. `false` if the objects could not be listed.
async fn begin(job: &Arc<Prepared>, engine: &Arc<Engine>) -> bool {
    let (queue, actions) = Queue::passing(engine);
    let planned = async {
        let planned = try_plan(job, engine, &queue, restore_action, Pass::Ahead).await;
        drop(queue);
        planned
    };
    let (planned, ()) = tokio::join!(planned, run_beginnings(Arc::clone(engine), actions));
    match planned {
        Ok(_) => engine.report.plan_complete(),
        Err(error) => {
            engine.report.fatal(error);
            return false;
        }
    }
    true
}

/// Waits for the objects, which were reported as planned before.
async fn wait(job: &Arc<Prepared>, engine: &Arc<Engine>) {
    let (queue, restores) = start(engine, ());
    let queue = queue.silent();
    let planned = async {
        if let Err(error) = try_plan(job, engine, &queue, restore_or_skip, Pass::Act).await {
            engine.report.fatal(error);
        }
        drop(queue);
    };
    tokio::join!(planned, restores);
}

/// The action of a restore; `None` if the listing shows that there is nothing to do.
fn restore_action(
    _: &Prepared,
    engine: &Engine,
    Taken { entry, .. }: Taken<'_>,
) -> Option<RestoreAction> {
    let ObjectEntry { listed, .. } = entry.object()?;
    let is_skipped = engine.settings.restore.skips(listed.storage_class);
    (!is_skipped).then(|| RestoreAction {
        key: listed.key.to_owned(),
        size: listed.size,
        storage_class: listed.storage_class.to_owned(),
        expected: None,
    })
}

/// The same, with a report of those that need none.
fn restore_or_skip(job: &Prepared, engine: &Engine, taken: Taken<'_>) -> Option<RestoreAction> {
    let entry = taken.entry;
    let action = restore_action(job, engine, taken);
    if action.is_none() {
        skip(engine, ActionKind::Restore, entry);
    }
    action
}

/// Reports that nothing is to be done, as the listing shows.
fn skip(engine: &Engine, action: ActionKind, entry: Entry<'_>) {
    let source = entry.location(engine, Place::Source);
    let skipped = engine.event(action, source, None, entry.size());
    engine.report.planned(0);
    engine.report.object(ObjectEvent { outcome: Outcome::Skipped, ..skipped });
}
