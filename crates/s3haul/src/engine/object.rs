//! Requests about one object that several actions make.

use super::core::{Engine, Place};
use crate::engine::range_reader::wants_checksums;
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

/// Whether an object is not there, though its bucket is.
pub(crate) fn is_missing(error: &Error) -> bool {
    error.kind() == ErrorKind::NotFound && error.code() != "NoSuchBucket"
}

/// One `PutObject`.
pub(crate) async fn put(
    engine: &Engine,
    key: &str,
    payload: Payload,
    properties: &ObjectProperties,
) -> Result<()> {
    let settings = &engine.settings;
    let size = payload.len();
    engine.bandwidth.take(size).await;
    let sent = engine.send(|| {
        let (payload, sending) = engine.report.sending(payload);
        let input = PutObject {
            bucket: &settings.target_bucket,
            key,
            payload,
            properties,
            checksum: settings.checksum_algorithm,
            conditions: Conditions { if_match: None, if_absent: settings.no_overwrite },
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

/// With `--no-overwrite`, learns before much is sent that it is not wanted. The request that
/// writes holds the same condition again, at servers that know it there.
pub(crate) async fn refuse_existing(engine: &Engine, key: &str) -> Result<()> {
    if engine.settings.no_overwrite && head_at(engine, Place::Target, key, None).await.is_ok() {
        return Err(Error::new(ErrorKind::PreconditionFailed, "the target exists"));
    }
    Ok(())
}
