//! Requests about one object that several actions make.

use std::sync::atomic::Ordering;

use super::core::{Engine, Place};
use crate::engine::range_reader::wants_checksums;
use crate::plan::expected::{Expected, TargetState};
use s3haul_wire::ObjectHead;
use s3haul_wire::ObjectProperties;
use s3haul_wire::Payload;
use s3haul_wire::error::Error;
use s3haul_wire::error::ErrorKind;
use s3haul_wire::error::Result;
use s3haul_wire::ops::Conditions;
use s3haul_wire::ops::HeadObject;
use s3haul_wire::ops::PutObject;

/// `HeadObject` of a source object, or of one version of it.
pub(crate) async fn head(
    engine: &Engine,
    key: &str,
    version_id: Option<&str>,
) -> Result<ObjectHead> {
    head_at(engine, Place::Source, key, version_id).await
}

/// The same of an object of either side.
pub(crate) async fn head_at(
    engine: &Engine,
    place: Place,
    key: &str,
    version_id: Option<&str>,
) -> Result<ObjectHead> {
    let input = HeadObject {
        bucket: place.bucket(engine),
        key,
        version_id,
        customer_key: place.customer_key(engine),
        // Those of the target are of no use to what is written there.
        checksums: place != Place::Target && wants_checksums(engine),
    };
    engine.send(|| place.client(engine).head_object(input)).await
}

/// One `PutObject`.
pub(crate) async fn put(
    engine: &Engine,
    (key, expected): (&str, Option<&Expected>),
    payload: Payload,
    properties: &ObjectProperties,
) -> Result<()> {
    let size = payload.len();
    engine.bandwidth.take(size).await;
    let conditions = conditions_of(engine, expected);
    let again = expected.map(|_| payload.clone());
    match put_if(engine, key, payload, properties, conditions).await {
        Err(error) if has_no_conditions(engine, expected, &error) => {
            let payload = again.unwrap_or_else(Payload::empty);
            put_if(engine, key, payload, properties, Conditions::default()).await
        }
        sent => sent,
    }
}

async fn put_if(
    engine: &Engine,
    key: &str,
    payload: Payload,
    properties: &ObjectProperties,
    conditions: Conditions<'_>,
) -> Result<()> {
    let settings = &engine.settings;
    let sent = engine.send(|| {
        let (payload, sending) = engine.report.sending(payload);
        let input = PutObject {
            bucket: &settings.target_bucket,
            key,
            payload,
            properties,
            checksum: settings.checksum_algorithm,
            conditions,
        };
        let sent = engine.target.put_object(input);
        async move {
            sent.await?;
            sending.done();
            Ok(())
        }
    });
    sent.await
}

/// The conditions of a request that writes to the target.
pub(crate) fn conditions_of<'a>(engine: &Engine, expected: Option<&'a Expected>) -> Conditions<'a> {
    if expected.is_some() && engine.conditions_refused.load(Ordering::Relaxed) {
        return Conditions::default();
    }
    let if_match = match expected.map(|expected| &expected.target) {
        Some(TargetState::Found(state)) => state.if_match(),
        Some(TargetState::Missing) => return Conditions { if_match: None, if_absent: true },
        Some(TargetState::Unknown) | None => None,
    };
    Conditions { if_match, if_absent: engine.settings.no_overwrite && if_match.is_none() }
}

/// Whether a service refused a request because it has no conditions on what is written. A plan is
/// done without them: each target was looked at.
pub(crate) fn has_no_conditions(
    engine: &Engine,
    expected: Option<&Expected>,
    error: &Error,
) -> bool {
    let is_refused = expected.is_some() && error.code() == "NotImplemented";
    if is_refused && !engine.conditions_refused.swap(true, Ordering::Relaxed) {
        engine.report.note(
            "the service has no conditions on what is written: each target is looked at just \
             before it is written, and a change in between goes unnoticed"
                .to_owned(),
        );
    }
    is_refused
}

/// Refuses to change or remove an object that is no longer as it was found.
pub(crate) async fn refuse_changed(
    engine: &Engine,
    place: Place,
    key: &str,
    expected: Option<&Expected>,
) -> Result<()> {
    let Some(Expected { source, .. }) = expected else { return Ok(()) };
    let head = head_at(engine, place, key, source.version_id.as_deref()).await?;
    if source.is_object(head.size, &head.etag) {
        return Ok(());
    }
    Err(changed("the object", expected))
}

/// Refuses an object that is no longer as it was found.
pub(crate) fn check_source(expected: Option<&Expected>, head: &ObjectHead) -> Result<()> {
    match expected {
        Some(Expected { source, .. }) if !source.is_object(head.size, &head.etag) => {
            Err(changed("the source", expected))
        }
        _ => Ok(()),
    }
}

/// What an action was made of is not there any more.
pub(crate) fn changed(what: &str, expected: Option<&Expected>) -> Error {
    let message = format!("{}: nothing was done", change_of(what, expected));
    Error::new(ErrorKind::PreconditionFailed, message)
}

/// That something has changed, and since when.
pub(crate) fn change_of(what: &str, expected: Option<&Expected>) -> String {
    let is_planned = expected.is_some_and(|expected| expected.is_planned);
    let since = if is_planned { "this was planned" } else { "it was looked at" };
    format!("{what} has changed since {since}")
}

/// With `--no-overwrite`, learns before much is sent that it is not wanted. The request that
/// writes holds the same condition again, at servers that know it there.
///
/// Where a plan is done, a target that is no longer as it was found. Amazon S3 heeds the condition
/// of the request; of other services it is not known.
pub(crate) async fn refuse_unexpected(
    engine: &Engine,
    key: &str,
    expected: Option<&Expected>,
) -> Result<()> {
    if let Some(Expected { target, .. }) = expected {
        let found = match target {
            TargetState::Unknown => return Ok(()),
            TargetState::Missing | TargetState::Found(_) => {
                head_at(engine, Place::Target, key, None).await
            }
        };
        return match (target, found) {
            (TargetState::Missing, Err(error)) if error.is_missing_object() => Ok(()),
            (_, Err(error)) if !error.is_missing_object() => Err(error),
            (TargetState::Found(state), Ok(head)) if state.is_object(head.size, &head.etag) => {
                Ok(())
            }
            _ => Err(changed("the target", expected)),
        };
    }
    if engine.settings.no_overwrite && head_at(engine, Place::Target, key, None).await.is_ok() {
        return Err(Error::new(ErrorKind::PreconditionFailed, "the target exists"));
    }
    Ok(())
}
