//! Tags of objects: read, replaced, or read and changed.
//!
//! An object takes one request, where its tags must be known before they are changed a second one
//! and only if something changes. The two are not one step for S3: tags that another client writes
//! between them are lost.

use std::sync::{Arc, OnceLock};

use async_channel::Receiver;

use crate::action::queue::{Action, Planned};
use crate::action::request_counts::of_tags;
use crate::engine::core::{Engine, Place};
use crate::engine::object::refuse_changed;
use crate::engine::worker_pool::run_each;
use crate::event::{ActionKind, ObjectEvent};
use crate::plan::action::TagAction;
use crate::plan::expected::Expected;
use crate::plan::tags::{Tag, TagChange, TagTask};
use s3haul_wire::Payload;
use s3haul_wire::error::{Error, ErrorKind, Result};
use s3haul_wire::units::RequestCounts;

impl Planned for TagAction {
    fn expecting(self, expected: Box<Expected>) -> Self {
        Self { expected: Some(expected), ..self }
    }

    fn requests(&self, engine: &Engine) -> (RequestCounts, u64) {
        (of_tags(&engine.settings), 0)
    }
}

impl Action for TagAction {
    type Place = ();

    fn event(self, engine: &Engine, (): &()) -> ObjectEvent {
        let source = engine.source_object(self.key);
        let event = engine.event(ActionKind::Tag, source, None, self.size);
        ObjectEvent { expected: self.expected, ..event }
    }

    async fn run(engine: Arc<Engine>, (): (), actions: Receiver<Vec<Self>>) {
        let same = Arc::new(OnceLock::new());
        let work = move |engine: Arc<Engine>, action: Self| {
            let same = Arc::clone(&same);
            async move {
                let expected = action.expected.as_deref();
                let result = async {
                    refuse_changed(&engine, Place::Source, &action.key, expected).await?;
                    tag(&engine, &action.key, &same).await
                };
                let result = result.await;
                engine.conclude_in_place(action.event(&engine, &()), result);
            }
        };
        run_each(engine, actions, work).await;
    }
}

/// Performs the task on one object; returns whether there was something to do. A payload that is
/// the same for all objects is built and digested once.
async fn tag(engine: &Engine, key: &str, same: &OnceLock<Payload>) -> Result<bool> {
    let task = &engine.settings.tags;
    let current = if task.reads() { read(engine, key).await? } else { Vec::new() };
    if *task == TagTask::Get {
        engine.report.tags(&engine.settings.source_bucket, key, current);
        return Ok(true);
    }
    let change =
        task.change(&current).map_err(|error| Error::new(ErrorKind::Config, error.to_string()))?;
    let same = (!task.reads()).then_some(same);
    write(engine, key, change, same).await
}

async fn read(engine: &Engine, key: &str) -> Result<Vec<Tag>> {
    let bucket = &engine.settings.source_bucket;
    engine.send(|| engine.source.get_object_tagging(bucket, key, None)).await
}

async fn write(
    engine: &Engine,
    key: &str,
    change: TagChange,
    same: Option<&OnceLock<Payload>>,
) -> Result<bool> {
    let bucket = &engine.settings.source_bucket;
    match change {
        TagChange::Nothing => return Ok(false),
        TagChange::Write(tags) => {
            let make = || engine.source.tagging(&tags);
            let tagging = same.map_or_else(make, |same| same.get_or_init(make).clone());
            engine.send(|| engine.source.put_tagging(bucket, key, None, tagging)).await
        }
        TagChange::Clear => {
            engine.send(|| engine.source.delete_object_tagging(bucket, key, None)).await
        }
    }
    .map(|()| true)
}
