//! `set` and `restore`: objects that are changed where they are.

use std::sync::Arc;

use crate::action::restore::{run_beginnings, run_restores};
use crate::action::set::run_changes;
use crate::engine::core::{Engine, Place};
use crate::entry::{Entry, ObjectEntry};
use crate::event::{ActionKind, ObjectEvent, Outcome};
use crate::job::describe::event;
use crate::job::prepare::Prepared;
use crate::job::prepare::queue;
use crate::job::queue::Queue;
use crate::plan::action::{RestoreAction, SetAction};
use crate::select::choose::Taken;
use crate::task::pipeline::{MakeAction, pipeline, try_plan};
use s3haul_wire::units::RequestCounts;

/// Changes all that the source gives.
pub(crate) async fn set(job: &Arc<Prepared>, engine: &Arc<Engine>) {
    let describe = |engine: &Engine, action: SetAction| {
        let source = engine.source_object(action.key);
        event(engine, ActionKind::Set, source, None, action.size)
    };
    let make = Box::new(|_: &_, engine: &_, taken: Taken<'_>| set_action(engine, taken.entry));
    pipeline(job, engine, queue(job, engine, describe), make, run_changes).await;
    // The first object that is copied is looked at afterwards.
    if engine.settings.change.copies() && engine.report.requests_planned().write > 0 {
        engine.report.would_send(RequestCounts { read: 1, ..RequestCounts::default() }, 0);
    }
}

/// The action of a change; `None` if the listing shows that the object is already as wanted.
fn set_action(engine: &Engine, entry: Entry<'_>) -> Option<SetAction> {
    let ObjectEntry { listed, .. } = entry.object()?;
    let wanted = engine.settings.change.only_class();
    if wanted.is_some_and(|class| class == listed.storage_class) {
        skip(engine, ActionKind::Set, entry);
        return None;
    }
    Some(SetAction { key: listed.key.to_owned(), size: listed.size })
}

/// Restores all objects of the source, or reports their state. If the job waits, all restores are
/// begun before, so that they run while one object after the other is waited for.
pub(crate) async fn restore(job: &Arc<Prepared>, engine: &Arc<Engine>) {
    let make: MakeAction<RestoreAction> = Box::new(|_, engine, taken| {
        let action = restore_action(engine, taken.entry);
        if action.is_none() {
            skip(engine, ActionKind::Restore, taken.entry);
        }
        action
    });
    if engine.settings.restore.waits() && !job.spec.dry_run {
        if begin(job, engine).await {
            wait(job, engine, make).await;
        }
        return;
    }
    let before = engine.source.requests_sent();
    pipeline(job, engine, queue(job, engine, describe_restore), make, run_restores).await;
    if engine.settings.restore.waits() {
        // A dry run, for which the objects were listed once.
        engine.report.would_send(engine.source.requests_sent() - before, 0);
    }
}

fn describe_restore(engine: &Engine, action: RestoreAction) -> ObjectEvent {
    let source = engine.source_object(action.key);
    event(engine, ActionKind::Restore, source, None, action.size)
}

/// Begins all restores; they are reported as planned. `false` if the objects could not be listed.
async fn begin(job: &Arc<Prepared>, engine: &Arc<Engine>) -> bool {
    let (queue, actions) = Queue::new(engine, None, false);
    let make: MakeAction<RestoreAction> =
        Box::new(|_, engine, taken| restore_action(engine, taken.entry));
    let planned = async {
        let planned = try_plan(job, engine, &queue, &make).await;
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
async fn wait(job: &Arc<Prepared>, engine: &Arc<Engine>, make: MakeAction<RestoreAction>) {
    let (queue, actions) = Queue::silent(engine, Some(Box::new(describe_restore)));
    let planned = async {
        if let Err(error) = try_plan(job, engine, &queue, &make).await {
            engine.report.fatal(error);
        }
        drop(queue);
    };
    tokio::join!(planned, run_restores(Arc::clone(engine), actions));
}

/// The action of a restore; `None` if the listing shows that there is nothing to do.
fn restore_action(engine: &Engine, entry: Entry<'_>) -> Option<RestoreAction> {
    let ObjectEntry { listed, .. } = entry.object()?;
    let is_skipped = engine.settings.restore.skips(listed.storage_class);
    (!is_skipped).then(|| RestoreAction {
        key: listed.key.to_owned(),
        size: listed.size,
        storage_class: listed.storage_class.to_owned(),
    })
}

/// Reports that nothing is to be done, as the listing shows.
fn skip(engine: &Engine, action: ActionKind, entry: Entry<'_>) {
    let source = entry.location(engine, Place::Source);
    let skipped = event(engine, action, source, None, entry.size());
    engine.report.planned(0);
    engine.report.object(ObjectEvent { outcome: Outcome::Skipped, ..skipped });
}
