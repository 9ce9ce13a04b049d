//! Requests about one object that several actions make.

use super::core::Engine;
use crate::engine::range_reader::wants_checksums;
use s3haul_wire::Client;
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
    head_with(engine, &engine.source, key, version_id).await
}

/// The same with another client of the source.
pub(crate) async fn head_with(
    engine: &Engine,
    client: &Client,
    key: &str,
    version_id: Option<&str>,
) -> Result<ObjectHead> {
    let input = HeadObject {
        bucket: &engine.settings.source_bucket,
        key,
        version_id,
        customer_key: engine.settings.source_customer_key.as_ref(),
        checksums: wants_checksums(engine),
    };
    engine.send(|| client.head_object(input)).await
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
    let settings = &engine.settings;
    if !settings.no_overwrite {
        return Ok(());
    }
    let bucket = &settings.target_bucket;
    let customer_key = settings.properties.customer_key.as_ref();
    let input = HeadObject { bucket, key, customer_key, ..HeadObject::default() };
    let head = engine.send(|| engine.target.head_object(input)).await;
    if head.is_ok() {
        return Err(Error::new(ErrorKind::PreconditionFailed, "the target exists"));
    }
    Ok(())
}
