//! Removing one object: by itself, or as the source of a move whose target is safe.

use crate::engine::core::{Engine, Place};
use crate::engine::object::{head_at, is_missing};
use crate::event::ActionKind;
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
    let bucket = place.bucket(engine);
    let bypass_governance = engine.settings.bypass_governance;
    let input = DeleteObject { bucket, key, version_id, if_match, bypass_governance };
    engine.send(|| place.client(engine).delete_object(input)).await
}

/// Removes the source of a move whose target is safe; does nothing for other commands. `etag` is
/// the state that the target has; an object that replaced it meanwhile stays. If the removal fails,
/// the bytes reported as moved are taken back.
pub(crate) async fn remove_source_object(
    engine: &Engine,
    key: &str,
    etag: &str,
    bytes: u64,
) -> Result<()> {
    if !engine.settings.is_move {
        return Ok(());
    }
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
        Err(error) if is_missing(&error) => Ok(()),
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
