//! Removing one object: by itself, or as the source of a move whose target is safe.

use std::sync::Arc;

use crate::engine::core::{Engine, Place};
use crate::engine::limits::DetachOnDrop;
use crate::engine::object::head_at;
use crate::event::{ActionKind, ObjectEvent};
use s3haul_wire::error::Error;
use s3haul_wire::error::ErrorKind;
use s3haul_wire::error::Result;
use s3haul_wire::ops::DeleteObject;

/// Only by a document of S3: any server says 404 to what it does not know.
pub(crate) fn is_gone(error: &Error) -> bool {
    matches!(error.code(), "NoSuchKey" | "NoSuchVersion")
}

/// One `DeleteObject`.
pub(crate) async fn remove_one(
    engine: &Engine,
    place: Place,
    key: &str,
    version_id: Option<&str>,
    if_match: Option<&str>,
) -> Result<()> {
    engine.send(|| send_removal(engine, place, key, version_id, if_match)).await
}

/// The same for what has the permit of a request.
pub(crate) async fn send_removal(
    engine: &Engine,
    place: Place,
    key: &str,
    version_id: Option<&str>,
    if_match: Option<&str>,
) -> Result<()> {
    let bucket = place.bucket(engine);
    let bypass_governance = engine.settings.bypass_governance;
    let input = DeleteObject { bucket, key, version_id, if_match, bypass_governance };
    place.client(engine).delete_object(input).await
}

/// Removes the source of a move whose target is safe. `etag` is the state that the target has; an
/// object that replaced it meanwhile stays. If the removal fails, the bytes reported as moved are
/// taken back.
pub(crate) async fn remove_source_object(
    engine: &Engine,
    key: &str,
    etag: &str,
    bytes: u64,
) -> Result<()> {
    assert!(engine.settings.is_move, "only a move removes its source");
    let if_match = Some(etag).filter(|etag| !etag.is_empty());
    let removed = match remove_one(engine, Place::Moved, key, None, if_match).await {
        Err(error) if if_match.is_some() => {
            remove_checked(engine, Place::Moved, (key, etag), error).await
        }
        result => result,
    };
    if removed.is_err() {
        engine.report.unmoved(bytes);
    }
    removed
}

/// Removes the object of a move and reports the move.
pub(crate) async fn finish_move(
    engine: &Arc<Engine>,
    event: ObjectEvent,
    (key, etag): (String, String),
) {
    let (held, bytes) = (Arc::clone(engine), event.bytes);
    let removal = async move { remove_source_object(&held, &key, &etag, bytes).await };
    report_removal(engine, event, removal).await;
}

/// Waits for the removal of the source of a move, and reports the move. The end of a cancelled job
/// waits for it, too, for a limited time, so that every removal is reported.
pub(crate) async fn report_removal(
    engine: &Arc<Engine>,
    event: ObjectEvent,
    removal: impl Future<Output = Result<()>> + Send + 'static,
) {
    let engine = Arc::clone(engine);
    let reported = async move {
        let unknown = "the object was copied, but it is unknown whether its source was removed";
        let removed = answered(&engine, removal, unknown).await;
        engine.conclude(event, removed);
    };
    DetachOnDrop::new(reported).await;
}

/// The answer to a removal; an error that says what is unknown where the end of a cancelled job
/// waits for it no longer.
pub(crate) async fn answered<T>(
    engine: &Engine,
    removal: impl Future<Output = Result<T>>,
    unknown: &str,
) -> Result<T> {
    tokio::select! {
        biased;
        answer = removal => answer,
        () = engine.give_up.cancelled() => {
            Err(Error::new(ErrorKind::Cancelled, format!("interrupted: {unknown}")))
        }
    }
}

/// What to do about a conditional removal that was refused: an attempt whose answer was lost may
/// have removed the object, and not every server knows the condition.
pub(crate) async fn remove_checked(
    engine: &Engine,
    place: Place,
    (key, etag): (&str, &str),
    error: Error,
) -> Result<()> {
    let is_refused = error.kind() == ErrorKind::PreconditionFailed;
    if is_gone(&error) {
        return Ok(());
    }
    if !is_refused && error.code() != "NotImplemented" {
        return Err(error);
    }
    match head_at(engine, place, key, None).await {
        Err(error) if error.is_missing_object() => Ok(()),
        Ok(found) if found.etag == etag && !is_refused => {
            remove_one(engine, place, key, None, None).await
        }
        _ if !is_refused => Err(error),
        _ => Err(replaced(place)),
    }
}

/// The error of a removal whose object is no longer the one that was meant.
pub(crate) fn replaced(place: Place) -> Error {
    let what = if place == Place::Moved { "source" } else { "object" };
    let message = format!("the {what} was replaced and was not removed");
    Error::new(ErrorKind::SourceChanged, message)
}

/// Action kind under which removals of a job are reported.
pub(crate) fn removal_kind(engine: &Engine) -> ActionKind {
    if engine.settings.is_undelete { ActionKind::Undelete } else { ActionKind::Delete }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::timeout;

    use super::*;
    use crate::engine::settings::Tuning;
    use crate::engine::testing::engine;
    use s3haul_wire::testing::{Reply, World};

    /// Begins to wait for the removal, and is cancelled.
    async fn cancelled(
        engine: &Arc<Engine>,
        removal: impl Future<Output = Result<()>> + Send + 'static,
    ) {
        let (source, target) =
            (engine.source_object("k".to_owned()), engine.target_object("k".to_owned()));
        let event = engine.event(ActionKind::Copy, source, Some(target), 1);
        let reported = report_removal(engine, event, removal);
        assert!(timeout(Duration::from_millis(1), reported).await.is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn a_removal_that_was_sent_is_reported_after_cancellation() {
        let world = World::new(|_| Reply::status(204, "", ""));
        let (engine, mut ended) = engine(&world, Tuning::default());
        let report = Arc::clone(&engine.report);
        let (removed, answer) = tokio::sync::oneshot::channel();
        cancelled(&engine, async { answer.await.unwrap() }).await;
        removed.send(Ok(())).unwrap();
        drop(engine);
        ended.wait().await;
        assert_eq!((report.counts().done, report.counts().failed), (1, 0));
    }

    #[tokio::test(start_paused = true)]
    async fn a_removal_without_an_answer_is_a_failure_after_cancellation() {
        let world = World::new(|_| Reply::status(204, "", ""));
        let (engine, mut ended) = engine(&world, Tuning::default());
        let report = Arc::clone(&engine.report);
        cancelled(&engine, std::future::pending()).await;
        engine.give_up.cancel();
        drop(engine);
        ended.wait().await;
        assert_eq!((report.counts().done, report.counts().failed), (0, 1));
    }
}
