//! Objects to objects: by the server, or through this machine ([`relay`]) where the target cannot
//! read the source.
//!
//! `CopyObject` below `copy_threshold`, else a multipart upload whose parts are copied ranges
//! of one state of the source (`x-amz-copy-source-if-match`). What is carried over besides the
//! bytes is decided in [`crate::engine::copy_props`].

mod relay;

use std::sync::Arc;

use async_channel::Receiver;

use crate::action::queue::{Action, Planned};
use crate::action::request_counts::{of_copy, of_relay};
use crate::engine::copy_props::{CopyPlan, inherit};
use crate::engine::core::{Engine, Place};
use crate::engine::limits::Tasks;
use crate::engine::object::{
    changed, conditions_of, has_no_conditions, head_at, refuse_unexpected,
};
use crate::engine::remove_object::finish_move;
use crate::engine::server_copy::assemble;
use crate::engine::server_copy::carry_tags;
use crate::engine::server_copy::head_of;
use crate::engine::server_copy::is_onto_itself;
use crate::engine::server_copy::part_size;
use crate::engine::server_copy::refuse_move_onto_itself;
use crate::engine::server_copy::said_properties;
use crate::engine::server_copy::source_replaced;
use crate::engine::server_copy::write_tags;
use crate::engine::worker_pool::WorkerPool;
use crate::event::{ActionKind, ObjectEvent};
use crate::plan::action::CopyAction;
use crate::plan::compare::Reason;
use crate::plan::expected::Expected;
use s3haul_wire::error::{Error, ErrorKind, Result};
use s3haul_wire::ops::{Conditions, CopyObject, CopySource};
use s3haul_wire::units::RequestCounts;

impl Planned for CopyAction {
    fn bytes(&self) -> u64 {
        self.size
    }

    fn expecting(self, expected: Box<Expected>) -> Self {
        Self { expected: Some(expected), ..self }
    }

    fn requests(&self, engine: &Engine) -> (RequestCounts, u64) {
        let of = if engine.relays { of_relay } else { of_copy };
        (of(&engine.settings, self.size, self.head.is_some()), 0)
    }
}

impl Action for CopyAction {
    type Place = ();

    fn because(self, reason: Reason) -> Self {
        Self { reason: Some(reason), ..self }
    }

    fn event(self, engine: &Engine, (): &()) -> ObjectEvent {
        let target = Some(engine.target_object(self.target_key));
        let source = engine.source_version(self.source_key, self.version_id);
        let event = engine.event(ActionKind::Copy, source, target, self.size);
        let (reason, expected) = (self.reason.map(Reason::name), self.expected);
        ObjectEvent { reason, expected, ..event }
    }

    async fn run(engine: Arc<Engine>, (): (), actions: Receiver<Vec<Self>>) {
        let work = |engine, action| async move { copy_small(&engine, action).await };
        let (mut pool, mut tasks) = (WorkerPool::new(&engine, work), Tasks::new());
        while let Ok(batch) = actions.recv().await {
            for action in batch {
                if engine.is_large_copy(action.size) {
                    pool.flush().await;
                    start_large(&engine, action, &mut tasks).await;
                } else {
                    pool.add(action, &mut tasks).await;
                }
            }
            pool.flush().await;
            tasks.reap();
        }
        drop(pool);
        tasks.finish().await;
    }
}

async fn copy_small(engine: &Arc<Engine>, mut action: CopyAction) {
    let result = if engine.relays {
        Box::pin(relay::relay_whole(engine, &mut action)).await
    } else {
        copy_whole(engine, &action).await
    };
    conclude(engine, action, result).await;
}

/// What this process does of an object whose parts several processes copy.
pub(crate) async fn send_portion(engine: &Arc<Engine>, mut action: CopyAction) -> Result<()> {
    copy_large(engine, &mut action).await
}

async fn copy_large(engine: &Arc<Engine>, action: &mut CopyAction) -> Result<()> {
    if engine.relays {
        return Box::pin(relay::relay_parts(engine, action)).await;
    }
    copy_parts(engine, action).await
}

async fn start_large(engine: &Arc<Engine>, mut action: CopyAction, tasks: &mut Tasks) {
    let part_size = part_size(engine, action.size);
    let slots = engine.limits.large(action.size.div_ceil(part_size)).await;
    let engine = Arc::clone(engine);
    tasks.spawn(async move {
        let result = copy_large(&engine, &mut action).await;
        conclude(&engine, action, result).await;
        drop(slots);
    });
}

async fn conclude(engine: &Arc<Engine>, action: CopyAction, result: Result<()>) {
    if result.is_err() || !engine.settings.is_move {
        return engine.conclude(action.event(engine, &()), result);
    }
    let source = (action.source_key.clone(), action.etag.clone());
    finish_move(engine, action.event(engine, &()), source).await;
}

/// One `CopyObject`.
async fn copy_whole(engine: &Engine, action: &CopyAction) -> Result<()> {
    refuse_move_onto_itself(engine, action)?;
    let expected = action.expected.as_deref();
    refuse_unexpected(engine, &action.target_key, expected).await?;
    let settings = &engine.settings;
    let plan = CopyPlan::whole(settings);
    let mut properties = said_properties(engine, action, plan);
    // What a move removes must be what it copied, what is planned what was planned, and headers
    // those of the bytes.
    let is_held = settings.is_move || expected.is_some();
    let mut etag = if is_held { action.etag.clone() } else { String::new() };
    if plan.inherit_properties {
        let head = head_of(engine, action).await?;
        // Of what is copied onto itself, an attempt whose answer was lost has made another state.
        if etag.is_empty() && !is_onto_itself(engine, action) {
            etag = head.etag;
        }
        inherit(&mut properties, head.properties);
    }
    let input = CopyObject {
        bucket: &settings.target_bucket,
        key: &action.target_key,
        source: CopySource {
            bucket: &settings.source_bucket,
            key: &action.source_key,
            version_id: action.version_id.as_deref(),
            if_match: Some(etag.as_str()).filter(|etag| !etag.is_empty()),
            customer_key: settings.source_customer_key.as_ref(),
        },
        properties: &properties,
        replace_metadata: plan.replace_metadata,
        replace_tagging: plan.replace_tagging,
        checksum: settings.checksum_algorithm,
        conditions: conditions_of(engine, expected),
    };
    let copied = match engine.send(|| engine.target.copy_object(input)).await {
        Err(error) if has_no_conditions(engine, expected, &error) => {
            let input = CopyObject { conditions: Conditions::default(), ..input };
            engine.send(|| engine.target.copy_object(input)).await
        }
        copied => copied,
    };
    let copied = match copied {
        Err(error) if is_in_place(engine, action, &error).await => Ok(()),
        copied => copied.map(drop),
    };
    if let Err(error) = copied {
        // With `--no-overwrite` it may be either condition.
        let is_either = settings.no_overwrite && error.kind() == ErrorKind::PreconditionFailed;
        let is_there = is_either && {
            let found = head_at(engine, Place::Target, &action.target_key, None).await;
            !found.is_err_and(|error| error.is_missing_object())
        };
        return Err(if is_there { error } else { source_replaced(error) });
    }
    engine.report.moved(action.size);
    Ok(())
}

/// Whether a condition on the target failed only because an attempt whose answer was lost had made
/// the copy: just before, the target was as the condition has it ([`refuse_unexpected`]).
async fn is_in_place(engine: &Engine, action: &CopyAction, error: &Error) -> bool {
    let has_condition = action.expected.is_some() || engine.settings.no_overwrite;
    // What is copied onto itself has the ETag of its source without a copy.
    if !has_condition || !error.is_retried_refusal() || is_onto_itself(engine, action) {
        return false;
    }
    let found = head_at(engine, Place::Target, &action.target_key, None).await;
    found.is_ok_and(|found| found.etag == action.etag && found.size == action.size)
}

/// A copy in parts: headers, tags, parts, completion, and the tags that no header can hold.
/// The action learns the state that is copied, where no listing said it.
async fn copy_parts(engine: &Arc<Engine>, action: &mut CopyAction) -> Result<()> {
    refuse_move_onto_itself(engine, action)?;
    refuse_unexpected(engine, &action.target_key, action.expected.as_deref()).await?;
    let plan = CopyPlan::in_parts(&engine.settings);
    let mut properties = said_properties(engine, action, plan);
    // Without a state to hold on to, parts of two states could become one object.
    if plan.inherit_properties || action.etag.is_empty() {
        let head = head_of(engine, action).await?;
        if action.etag.is_empty() {
            if head.size != action.size {
                return Err(changed("the source", action.expected.as_deref()));
            }
            action.etag = head.etag;
        }
        if plan.inherit_properties {
            inherit(&mut properties, head.properties);
        }
    }
    let later_tags = carry_tags(engine, action, plan, &mut properties).await?;
    assemble(engine, action, action.etag.clone(), properties).await?;
    match later_tags {
        Some(tags) if engine.uploads.completes() => write_tags(engine, action, &tags).await,
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
