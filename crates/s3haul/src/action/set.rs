//! Properties of objects: looked at, and changed where they differ.
//!
//! What is to be done is decided in [`crate::plan::change`]. A copy onto itself holds on to the
//! state that was looked at, as what is read (`x-amz-copy-source-if-match`) and as what is written
//! over (`If-Match`), and brings everything along in one request, so that a run that is killed
//! leaves each object either as it was or as it shall be. Objects that `CopyObject` does not take
//! go in parts ([`crate::engine::server_copy`]).

use std::sync::Arc;

use async_channel::Receiver;

use crate::action::queue::{Action, Planned};
use crate::action::request_counts::of_set;
use crate::engine::copy_props::{CopyPlan, forget_metadata};
use crate::engine::core::{Engine, Place};
use crate::engine::object::{conditions_of, has_no_conditions, head, refuse_changed};
use crate::engine::server_copy::{assemble, carry_tags, part_size, source_replaced};
use crate::engine::settings::must_copy_in_parts;
use crate::engine::worker_pool::run_each;
use crate::event::{ActionKind, ObjectEvent};
use crate::plan::action::{CopyAction, SetAction};
use crate::plan::change::{LegalHoldStep, ObjectChange, SelfCopy, Steps};
use crate::plan::expected::{Expected, State, TargetState};
use s3haul_wire::error::{Error, ErrorKind, Result};
use s3haul_wire::ops::{Acl, Conditions, CopyObject, CopySource};
use s3haul_wire::units::RequestCounts;
use s3haul_wire::{ObjectHead, ObjectProperties, Retention};

/// Code of an object that never had a legal hold.
const NO_LOCK: &str = "NoSuchObjectLockConfiguration";

impl Planned for SetAction {
    fn expecting(self, expected: Box<Expected>) -> Self {
        Self { expected: Some(expected), ..self }
    }

    fn requests(&self, engine: &Engine) -> (RequestCounts, u64) {
        (of_set(&engine.settings, self.size), 0)
    }
}

impl Action for SetAction {
    type Place = ();

    fn event(self, engine: &Engine, (): &()) -> ObjectEvent {
        let source = engine.source_object(self.key);
        let event = engine.event(ActionKind::Set, source, None, self.size);
        ObjectEvent { expected: self.expected, ..event }
    }

    async fn run(engine: Arc<Engine>, (): (), actions: Receiver<Vec<Self>>) {
        let work = |engine: Arc<Engine>, action: Self| async move {
            let expected = action.expected.as_deref();
            let result = async {
                refuse_changed(&engine, Place::Source, &action.key, expected).await?;
                change(&engine, &action.key, &action.etag).await
            };
            let result = result.await;
            engine.conclude_in_place(action.event(&engine, &()), result);
        };
        run_each(engine, actions, work).await;
    }
}

/// Changes one object, if a look at it finds this `ETag`, or it is empty; returns whether there was
/// something to do.
async fn change(engine: &Arc<Engine>, key: &str, etag: &str) -> Result<bool> {
    let change = &engine.settings.change;
    let mut steps = Steps::default();
    if change.copies() || change.changes_lock() || !etag.is_empty() {
        let head = head(engine, key, None).await?;
        steps = change.steps(&head, engine.source.now_s())?;
        // An earlier run may have made another state of it, in which nothing is left to do.
        let is_done = change.properties.acl.is_none() && steps == Steps::default();
        if !etag.is_empty() && head.etag != etag && !is_done {
            return Err(replaced());
        }
        if let Some(copy) = steps.copy {
            change.refuse_weaker(head.properties.retention, engine.source.now_s())?;
            copy_onto_itself(engine, key, &head, copy).await?;
            return Ok(true);
        }
    }
    let mut did_something = false;
    if let Some(canned) = &change.properties.acl {
        did_something |= set_acl(engine, key, canned).await?;
    }
    if let Some(retention) = steps.retention {
        retain(engine, key, retention).await?;
        did_something = true;
    }
    did_something |= hold(engine, key, steps.legal_hold).await?;
    Ok(did_something)
}

async fn copy_onto_itself(
    engine: &Arc<Engine>,
    key: &str,
    head: &ObjectHead,
    copy: SelfCopy,
) -> Result<()> {
    let SelfCopy { mut properties, replaces_metadata } = copy;
    if engine.settings.change.keep_acl {
        properties.grants = read_acl(engine, key).await?.as_grants();
    }
    let expected = expected(head);
    if must_copy_in_parts(head.size) {
        return match copy_parts(engine, key, (head, expected), properties).await {
            Err(error) if error.is_retried_refusal() && is_changed(engine, key).await => Ok(()),
            Err(error) if error.kind() == ErrorKind::PreconditionFailed => {
                Err(replaced().with_source(error))
            }
            copied => copied,
        };
    }
    let changed = properties.clone();
    if !replaces_metadata {
        forget_metadata(&mut properties);
    }
    let bucket = &engine.settings.source_bucket;
    let if_match = Some(head.etag.as_str()).filter(|etag| !etag.is_empty());
    let input = CopyObject {
        bucket,
        key,
        source: CopySource { bucket, key, if_match, ..CopySource::default() },
        properties: &properties,
        replace_metadata: Some(replaces_metadata),
        replace_tagging: None,
        checksum: None,
        conditions: conditions_of(engine, Some(&expected)),
    };
    let copied = match engine.send(|| engine.source.copy_object(input)).await {
        Err(error) if has_no_conditions(engine, Some(&expected), &error) => {
            let input = CopyObject { conditions: Conditions::default(), ..input };
            engine.send(|| engine.source.copy_object(input)).await
        }
        copied => copied,
    };
    match copied {
        Ok(written) => {
            let touched = ObjectChange::touched(&head.properties, &changed);
            check_first(engine, key, (touched, &written.etag)).await;
        }
        // Servers that do not know the class take the copy for one that changes nothing.
        Err(error) if !replaces_metadata && error.code() == "InvalidRequest" => {
            let message = "the server seems not to have this storage class or encryption";
            return Err(Error::new(ErrorKind::Request, message).with_source(error));
        }
        Err(error) if error.is_retried_refusal() && is_changed(engine, key).await => {}
        Err(error) => return Err(source_replaced(error)),
    }
    Ok(())
}

/// The error of an object that is no longer the one that was to be changed.
fn replaced() -> Error {
    Error::new(ErrorKind::SourceChanged, "the object was replaced meanwhile: nothing was changed")
}

/// The object in the state that was looked at, as what is read and what is written over.
fn expected(head: &ObjectHead) -> Box<Expected> {
    let state = State { size: head.size, etag: head.etag.clone(), ..State::default() };
    Expected::new(state.clone(), TargetState::Found(state))
}

/// Whether a copy would find nothing to change any more.
async fn is_changed(engine: &Engine, key: &str) -> bool {
    let Ok(head) = head(engine, key, None).await else { return false };
    let steps = engine.settings.change.steps(&head, engine.source.now_s());
    steps.is_ok_and(|steps| steps.copy.is_none())
}

/// Checks the first object of a job of which something was changed by a copy: some servers accept a
/// copy and ignore parts of the request.
async fn check_first(engine: &Engine, key: &str, (touched, etag): (u32, &str)) {
    if engine.has_checked(touched) {
        return;
    }
    let Ok(head) = head(engine, key, None).await else { return };
    let ignored = engine.settings.change.ignored(&head);
    if let Some(what) = ignored.filter(|_| head.etag == etag) {
        let bucket = &engine.settings.source_bucket;
        engine.report.warning(format!(
            "`s3://{bucket}/{key}` was copied, but its {what} was not changed as requested: the \
             server seems not to support this"
        ));
    }
}

/// The same for an object that `CopyObject` does not take. Its tags must fit the request that
/// begins the upload, or for a moment there would be an object without them.
async fn copy_parts(
    engine: &Arc<Engine>,
    key: &str,
    (head, expected): (&ObjectHead, Box<Expected>),
    mut properties: ObjectProperties,
) -> Result<()> {
    if head.missing_metadata > 0 {
        let message = "it has metadata that S3 does not return, and that a copy in parts, which an \
                       object of this size needs, would lose: nothing was changed";
        return Err(Error::new(ErrorKind::Request, message));
    }
    let action = CopyAction {
        source_key: key.to_owned(),
        target_key: key.to_owned(),
        size: head.size,
        etag: head.etag.clone(),
        version_id: None,
        head: None,
        reason: None,
        expected: Some(expected),
    };
    let slots = engine.limits.large(head.size.div_ceil(part_size(engine, head.size))).await;
    let plan = CopyPlan { inherit_tags: true, ..CopyPlan::default() };
    if carry_tags(engine, &action, plan, &mut properties).await?.is_some() {
        return Err(Error::new(
            ErrorKind::Request,
            "its tags are too long for the request that begins a copy in parts, which an object \
             of this size needs: nothing was changed",
        ));
    }
    let copied = assemble(engine, &action, head.etag.clone(), properties).await;
    drop(slots);
    copied
}

async fn read_acl(engine: &Engine, key: &str) -> Result<Acl> {
    engine.send(|| engine.source.get_object_acl(&engine.settings.source_bucket, key)).await
}

/// Sets a canned list, unless the object's list is already the same. Permission to write lists does
/// not imply permission to read them.
async fn set_acl(engine: &Engine, key: &str, canned: &str) -> Result<bool> {
    if Acl::default().is_canned(canned).is_some()
        && let Ok(acl) = read_acl(engine, key).await
        && acl.is_canned(canned) == Some(true)
    {
        return Ok(false);
    }
    let set = engine
        .send(|| engine.source.put_object_acl(&engine.settings.source_bucket, key, canned))
        .await;
    set.map(|()| true)
}

async fn retain(engine: &Engine, key: &str, retention: Retention) -> Result<()> {
    let bucket = &engine.settings.source_bucket;
    let bypass = engine.settings.change.bypass_governance;
    engine.send(|| engine.source.put_object_retention(bucket, key, retention, bypass)).await
}

async fn hold(engine: &Engine, key: &str, step: LegalHoldStep) -> Result<bool> {
    let bucket = &engine.settings.source_bucket;
    let is_on = match step {
        LegalHoldStep::Nothing => return Ok(false),
        LegalHoldStep::Put(is_on) => is_on,
        LegalHoldStep::EndIfThere => {
            let told = engine.send(|| engine.source.get_object_legal_hold(bucket, key)).await;
            match told {
                Ok(true) => false,
                Ok(false) => return Ok(false),
                Err(error) if error.code() == NO_LOCK => return Ok(false),
                Err(error) => return Err(error),
            }
        }
    };
    let held = engine.send(|| engine.source.put_object_legal_hold(bucket, key, is_on)).await;
    held.map(|()| true)
}

#[cfg(test)]
mod tests;
