//! Tags of objects: read, replaced, or read and changed.
//!
//! An object takes one request, where its tags must be known before they are changed a second one
//! and only if something changes. The two are not one step for S3: tags that somebody else writes
//! between them are lost.

use std::sync::Arc;

use async_channel::Receiver;

use super::engine::Engine;
use super::scheduler::Tasks;
use crate::error::{Error, ErrorKind, Result};
use crate::event::{ActionKind, ObjectEvent, Outcome};
use crate::plan::tags::{Tag, TagChange, TagTask};
use crate::transfer::action::TagAction;

/// Does the job's task to all that comes until the channel closes.
pub(crate) async fn run_tags(engine: Arc<Engine>, actions: Receiver<Vec<TagAction>>) {
    let (one_in, one_out) = async_channel::bounded::<TagAction>(1);
    let mut tasks = Tasks::new();
    for _ in 0..engine.workers() {
        let (engine, queue) = (Arc::clone(&engine), one_out.clone());
        tasks.spawn(async move {
            while let Ok(action) = queue.recv().await {
                let result = tag(&engine, &action.key).await;
                conclude(&engine, action, result);
            }
        });
    }
    drop(one_out);
    while let Ok(batch) = actions.recv().await {
        for action in batch {
            let sent = one_in.send(action).await;
            debug_assert!(sent.is_ok(), "taggers end after the dispatcher");
        }
    }
    drop(one_in);
    tasks.finish().await;
}

/// Does the task to one object; tells whether there was something to do.
async fn tag(engine: &Engine, key: &str) -> Result<bool> {
    let task = &engine.settings.tags;
    let current = if task.reads() { read(engine, key).await? } else { Vec::new() };
    if *task == TagTask::Get {
        engine.report.tags(&engine.settings.source_bucket, key, current);
        return Ok(true);
    }
    let change =
        task.change(&current).map_err(|error| Error::new(ErrorKind::Config, error.to_string()))?;
    write(engine, key, change).await
}

async fn read(engine: &Engine, key: &str) -> Result<Vec<Tag>> {
    let permit = engine.limits.request().await;
    let bucket = &engine.settings.source_bucket;
    let tags = engine.source.get_object_tagging(bucket, key, None).await;
    drop(permit);
    tags
}

async fn write(engine: &Engine, key: &str, change: TagChange) -> Result<bool> {
    if change == TagChange::Nothing {
        return Ok(false);
    }
    let bucket = &engine.settings.source_bucket;
    let permit = engine.limits.request().await;
    let result = match change {
        TagChange::Nothing => Ok(()),
        TagChange::Write(tags) => engine.source.put_object_tagging(bucket, key, None, &tags).await,
        TagChange::Clear => engine.source.delete_object_tagging(bucket, key, None).await,
    };
    drop(permit);
    result.map(|()| true)
}

fn conclude(engine: &Engine, action: TagAction, result: Result<bool>) {
    let outcome = match result {
        Ok(true) => Outcome::Done,
        Ok(false) => Outcome::Skipped,
        Err(error) => Outcome::Failed(error),
    };
    engine.report.object(ObjectEvent {
        action: ActionKind::Tag,
        is_move: false,
        source: engine.source_object(action.key),
        target: None,
        bytes: action.size,
        reason: None,
        outcome,
    });
}
