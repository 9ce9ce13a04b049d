//! What copies have in common, whether an object is copied to another place, onto itself, or
//! through this machine: what is carried over, and copies in parts by the server.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering;

use xxhash_rust::xxh3::xxh3_128;

use crate::engine::copy_props::CarriedTags;
use crate::engine::copy_props::CopyPlan;
use crate::engine::copy_props::tagging_query;
use crate::engine::core::Engine;
use crate::engine::limits::Tasks;
use crate::engine::multipart::SentPart;
use crate::engine::multipart::complete_upload;
use crate::engine::multipart::sent_before;
use crate::engine::object::head;
use crate::engine::open_uploads::OpenUpload;
use crate::engine::parts::Part;
use crate::engine::parts::parts;
use crate::engine::parts::upload_part_size;
use crate::engine::route::is_same_service;
use crate::engine::settings::Settings;
use crate::journal::state::PartsSource;
use crate::plan::action::CopyAction;
use s3haul_wire::ObjectHead;
use s3haul_wire::ObjectProperties;
use s3haul_wire::error::Error;
use s3haul_wire::error::ErrorKind;
use s3haul_wire::error::Result;
use s3haul_wire::ops::CompletedPart;
use s3haul_wire::ops::CopySource;
use s3haul_wire::ops::DeleteObject;
use s3haul_wire::ops::UploadPartCopy;

/// Headers of the source: those that planning fetched, or fresh ones.
pub(crate) async fn head_of(engine: &Engine, action: &CopyAction) -> Result<ObjectHead> {
    match &action.head {
        Some(head) => Ok((**head).clone()),
        None => head(engine, &action.source_key, action.version_id.as_deref()).await,
    }
}

/// What the user says of the target, with the guessed media type where the metadata is replaced.
pub(crate) fn said_properties(
    engine: &Engine,
    action: &CopyAction,
    plan: CopyPlan,
) -> ObjectProperties {
    let mut properties = engine.settings.properties.clone();
    if plan.guess_content_type && properties.content_type.is_none() {
        properties.content_type = engine.guess_content_type(&action.source_key).map(str::to_owned);
    }
    properties
}

/// Whether source and target of an action are one object. Buckets of one name on two endpoints are
/// two buckets.
pub(crate) fn is_onto_itself(engine: &Engine, action: &CopyAction) -> bool {
    let settings = &engine.settings;
    settings.source_bucket == settings.target_bucket
        && action.source_key == action.target_key
        && is_same_service(engine.source.config(), engine.target.config())
}

/// A move onto itself would copy and then remove its own result: the object would be lost. The
/// rule of the command line sees it only where both paths are written alike.
pub(crate) fn refuse_move_onto_itself(engine: &Engine, action: &CopyAction) -> Result<()> {
    if engine.settings.is_move && is_onto_itself(engine, action) {
        return Err(Error::new(ErrorKind::Request, "Cannot mv a file onto itself"));
    }
    Ok(())
}

pub(crate) fn part_size(engine: &Engine, size: u64) -> u64 {
    upload_part_size(engine.settings.tuning.multipart_chunksize, Some(size))
}

/// Copies one state of an object in parts.
pub(crate) async fn assemble(
    engine: &Arc<Engine>,
    action: &CopyAction,
    etag: String,
    properties: ObjectProperties,
) -> Result<()> {
    let copy = PartsCopy::begin(engine, action, etag, properties).await?;
    let mut tasks = Tasks::new();
    let result = copy.run(&mut tasks).await;
    if let Err(error) = &result {
        copy.abandon(tasks, error).await;
    }
    result
}

/// Puts the source's tags, where they are carried over, into the header that begins an upload;
/// gives those that it cannot hold, for [`write_tags`].
pub(crate) async fn carry_tags(
    engine: &Engine,
    action: &CopyAction,
    plan: CopyPlan,
    properties: &mut ObjectProperties,
) -> Result<Option<Vec<(String, String)>>> {
    if !plan.inherit_tags || properties.tagging.is_some() {
        return Ok(None);
    }
    match tagging_query(source_tags(engine, action).await?) {
        CarriedTags::None => Ok(None),
        CarriedTags::Header(query) => {
            properties.tagging = Some(query);
            Ok(None)
        }
        CarriedTags::Later(tags) => Ok(Some(tags)),
    }
}

/// Tags of the source; none where a server has no tags at all.
async fn source_tags(engine: &Engine, action: &CopyAction) -> Result<Vec<(String, String)>> {
    let bucket = &engine.settings.source_bucket;
    let (key, version_id) = (&action.source_key, action.version_id.as_deref());
    let tags = engine.send(|| engine.source.get_object_tagging(bucket, key, version_id)).await;
    match tags {
        Err(error) if matches!(error.code(), "NotImplemented" | "NoSuchTagSet") => Ok(Vec::new()),
        tags => tags,
    }
}

/// Tags the finished target; a target without the source's tags must not stay.
pub(crate) async fn write_tags(
    engine: &Engine,
    action: &CopyAction,
    tags: &[(String, String)],
) -> Result<()> {
    let (bucket, key) = (&engine.settings.target_bucket, &action.target_key);
    let tagged = engine.send(|| engine.target.put_object_tagging(bucket, key, None, tags)).await;
    if tagged.is_err() {
        engine.report.unmoved(action.size);
    }
    // Copied onto itself, the target is also the only source; two endpoints may lead to one server.
    let settings = &engine.settings;
    let may_be_source = settings.source_bucket == *bucket && action.source_key == *key;
    if tagged.is_err() && !may_be_source {
        let input = DeleteObject { bucket, key, ..DeleteObject::default() };
        if let Err(error) = engine.send(|| engine.target.delete_object(input)).await {
            engine.report.warning(format!(
                "s3://{bucket}/{key} was copied without its tags and could not be removed: {error}"
            ));
        }
    }
    tagged
}

/// A multipart copy at work.
#[derive(Clone)]
struct PartsCopy {
    engine: Arc<Engine>,
    upload: Arc<OpenUpload>,
    action: Arc<CopyAction>,
    moved: Arc<AtomicU64>,
    /// Parts that an earlier run copied.
    before: Arc<[SentPart]>,
}

impl PartsCopy {
    async fn begin(
        engine: &Arc<Engine>,
        action: &CopyAction,
        etag: String,
        properties: ObjectProperties,
    ) -> Result<Self> {
        let settings = &engine.settings;
        let (bucket, key) = (&settings.target_bucket, &action.target_key);
        let source = PartsSource {
            state: parts_state(settings, (&etag, action.version_id.as_deref()), &properties),
            size: action.size,
            part_size: part_size(engine, action.size),
        };
        let resume = || engine.uploads.resume(bucket, key, &properties, &source);
        let (upload, before) = if let Some((upload, listed)) = engine.send(resume).await? {
            (upload, sent_before(listed, &source, |_| true))
        } else {
            let (checksum, source) = (settings.checksum_algorithm, Some(source));
            let begin = || engine.uploads.begin(bucket, key, properties, checksum, source);
            (engine.send(begin).await?, Vec::new())
        };
        let before_bytes = before.iter().map(|sent| sent.size).sum();
        let moved = engine.uploads.resumed(&engine.report, before_bytes);
        Ok(Self {
            engine: Arc::clone(engine),
            upload,
            action: Arc::new(CopyAction { etag, ..action.clone() }),
            moved: Arc::new(moved.into()),
            before: before.into(),
        })
    }

    async fn run(&self, tasks: &mut Tasks<Result<SentPart>>) -> Result<()> {
        let size = self.action.size;
        let mut copied = self.before.to_vec();
        let uploads = &self.engine.uploads;
        let is_needed = |part: &Part| {
            let is_done = self.before.iter().any(|sent| sent.part.part_number == part.number);
            !is_done && uploads.sends(part.number)
        };
        for part in parts(size, part_size(&self.engine, size)).filter(is_needed) {
            while tasks.len() >= self.engine.limits.requests_max() {
                copied.extend(tasks.next().await.transpose()?);
            }
            let copy = self.clone();
            tasks.spawn(async move { copy.copy_part(part).await });
        }
        while let Some(part) = tasks.next().await {
            copied.push(part?);
        }
        if !uploads.completes() {
            return Ok(());
        }
        let object = (size, self.action.expected.as_deref());
        complete_upload(&self.engine, &self.upload, &mut copied, object, false).await
    }

    async fn copy_part(&self, part: Part) -> Result<SentPart> {
        let copied = self.engine.send(|| self.engine.uploads.outliving(self.request(part))).await;
        let copied = copied.map_err(source_replaced)?;
        self.moved.fetch_add(part.range.len(), Ordering::Relaxed);
        self.engine.report.moved(part.range.len());
        Ok(SentPart { part: copied, size: part.range.len() })
    }

    /// The request, which holds nothing of the engine, so that it may outlive the job.
    fn request(&self, part: Part) -> impl Future<Output = Result<CompletedPart>> + Send + 'static {
        let settings = &self.engine.settings;
        let (client, upload) = (self.engine.target.clone(), Arc::clone(&self.upload));
        let (action, bucket) = (Arc::clone(&self.action), settings.source_bucket.clone());
        let source_key = settings.source_customer_key.clone();
        let target_key = settings.properties.customer_key.clone();
        async move {
            let source = CopySource {
                bucket: &bucket,
                key: &action.source_key,
                version_id: action.version_id.as_deref(),
                if_match: Some(action.etag.as_str()).filter(|etag| !etag.is_empty()),
                customer_key: source_key.as_ref(),
            };
            let input = UploadPartCopy {
                bucket: &upload.bucket,
                key: &upload.key,
                upload_id: &upload.id,
                part_number: part.number,
                source,
                range: part.range,
                customer_key: target_key.as_ref(),
            };
            client.upload_part_copy(input).await
        }
    }

    /// Lets the parts in flight end, takes back their progress and drops the upload.
    async fn abandon(&self, mut tasks: Tasks<Result<SentPart>>, error: &Error) {
        while tasks.next().await.is_some() {}
        let (uploads, moved) = (&self.engine.uploads, self.moved.load(Ordering::Relaxed));
        uploads.abandoned(&self.engine.report, moved);
        self.engine.send(|| uploads.give_up(&self.upload, error)).await;
    }
}

/// The state of a source, and of what an upload of it is begun with: metadata, tags and locks
/// change without the `ETag`.
pub(crate) fn parts_state(
    settings: &Settings,
    (etag, version): (&str, Option<&str>),
    properties: &ObjectProperties,
) -> String {
    let is_guessed = CopyPlan::in_parts(settings).guess_content_type
        && settings.properties.content_type.is_none();
    let mut properties = properties.clone();
    if is_guessed {
        // Machines may guess differently.
        properties.content_type = None;
    }
    format!("{etag} {} {:032x}", version.unwrap_or_default(), fingerprint(properties))
}

fn fingerprint(mut properties: ObjectProperties) -> u128 {
    properties.metadata.iter_mut().for_each(|metadata| metadata.sort_unstable());
    xxh3_128(format!("{properties:?}").as_bytes())
}

/// A condition on the source that no longer holds is not one on the target.
pub(crate) fn source_replaced(error: Error) -> Error {
    if error.kind() == ErrorKind::PreconditionFailed {
        return Error::new(ErrorKind::SourceChanged, error.to_string());
    }
    error
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_of_what_an_upload_was_begun_with() {
        let properties = |metadata: &[&str], tagging: &str| ObjectProperties {
            metadata: Some(metadata.iter().map(|name| ((*name).into(), "1".into())).collect()),
            tagging: Some(tagging.to_owned()),
            ..ObjectProperties::default()
        };
        let of = |metadata, tagging| fingerprint(properties(metadata, tagging));
        assert_eq!(of(&["a", "b"], "t=1"), of(&["b", "a"], "t=1"));
        assert_ne!(of(&["a", "b"], "t=1"), of(&["a", "b"], "t=2"));
        assert_ne!(of(&["a"], "t=1"), of(&["a", "b"], "t=1"));
    }
}
