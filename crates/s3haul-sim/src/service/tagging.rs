//! Tags of objects and buckets.

#![expect(clippy::needless_pass_by_value, reason = "the signatures are those of the trait")]

use s3s::dto::{
    DeleteBucketTaggingInput, DeleteBucketTaggingOutput, DeleteObjectTaggingInput,
    DeleteObjectTaggingOutput, GetBucketTaggingInput, GetBucketTaggingOutput,
    GetObjectTaggingInput, GetObjectTaggingOutput, PutBucketTaggingInput, PutBucketTaggingOutput,
    PutObjectTaggingInput, PutObjectTaggingOutput, Tag, Tagging,
};
use s3s::{S3Request, S3Response, S3Result, s3_error};

use super::convert::{BUCKET_TAGS_MAX, OBJECT_TAGS_MAX, check_tags};
use super::{SimService, shown_version_id};

/// Tags as answers show them: in the order of their keys.
fn tag_set(tags: &[(String, String)]) -> Vec<Tag> {
    let mut sorted: Vec<_> = tags.iter().collect();
    sorted.sort();
    let shown = |(key, value): &(String, String)| Tag {
        key: Some(key.clone()),
        value: Some(value.clone()),
    };
    sorted.into_iter().map(shown).collect()
}

fn tags_of(tagging: Tagging) -> Vec<(String, String)> {
    let tags = tagging.tag_set.into_iter();
    tags.map(|tag| (tag.key.unwrap_or_default(), tag.value.unwrap_or_default())).collect()
}

impl SimService {
    pub(super) fn get_bucket_tagging(
        &self,
        req: S3Request<GetBucketTaggingInput>,
    ) -> S3Result<S3Response<GetBucketTaggingOutput>> {
        let settings = self.bucket_settings(&req.input.bucket)?;
        if settings.tags.is_empty() {
            return Err(s3_error!(NoSuchTagSet, "The TagSet does not exist"));
        }
        Ok(S3Response::new(GetBucketTaggingOutput { tag_set: tag_set(&settings.tags) }))
    }

    pub(super) fn put_bucket_tagging(
        &self,
        req: S3Request<PutBucketTaggingInput>,
    ) -> S3Result<S3Response<PutBucketTaggingOutput>> {
        let input = req.input;
        let mut settings = self.bucket_settings(&input.bucket)?;
        settings.tags = check_tags(tags_of(input.tagging), BUCKET_TAGS_MAX)?;
        self.store.put_bucket(&input.bucket, settings)?;
        let status = http::StatusCode::NO_CONTENT;
        Ok(S3Response::with_status(PutBucketTaggingOutput::default(), status))
    }

    pub(super) fn delete_bucket_tagging(
        &self,
        req: S3Request<DeleteBucketTaggingInput>,
    ) -> S3Result<S3Response<DeleteBucketTaggingOutput>> {
        let mut settings = self.bucket_settings(&req.input.bucket)?;
        settings.tags = Vec::new();
        self.store.put_bucket(&req.input.bucket, settings)?;
        let status = http::StatusCode::NO_CONTENT;
        Ok(S3Response::with_status(DeleteBucketTaggingOutput::default(), status))
    }

    pub(super) fn get_object_tagging(
        &self,
        req: S3Request<GetObjectTaggingInput>,
    ) -> S3Result<S3Response<GetObjectTaggingOutput>> {
        let input = req.input;
        let settings = self.bucket_settings(&input.bucket)?;
        let version = self.find(&input.bucket, &input.key, input.version_id.as_deref())?;
        let tag_set = tag_set(&version.tags);
        let version_id = shown_version_id(&settings, &version);
        Ok(S3Response::new(GetObjectTaggingOutput { tag_set, version_id }))
    }

    pub(super) fn put_object_tagging(
        &self,
        req: S3Request<PutObjectTaggingInput>,
    ) -> S3Result<S3Response<PutObjectTaggingOutput>> {
        let input = req.input;
        let tags = check_tags(tags_of(input.tagging), OBJECT_TAGS_MAX)?;
        let id = input.version_id.as_deref();
        let version_id = self.set_tags(&input.bucket, &input.key, id, &tags)?;
        Ok(S3Response::new(PutObjectTaggingOutput { version_id }))
    }

    pub(super) fn delete_object_tagging(
        &self,
        req: S3Request<DeleteObjectTaggingInput>,
    ) -> S3Result<S3Response<DeleteObjectTaggingOutput>> {
        let input = req.input;
        let id = input.version_id.as_deref();
        let version_id = self.set_tags(&input.bucket, &input.key, id, &[])?;
        let output = DeleteObjectTaggingOutput { version_id };
        Ok(S3Response::with_status(output, http::StatusCode::NO_CONTENT))
    }

    fn set_tags(
        &self,
        bucket: &str,
        key: &str,
        id: Option<&str>,
        tags: &[(String, String)],
    ) -> S3Result<Option<String>> {
        let settings = self.bucket_settings(bucket)?;
        let changed = self.change_version(bucket, key, id, |version| {
            tags.clone_into(&mut version.tags);
            Ok(())
        })?;
        Ok(shown_version_id(&settings, &changed))
    }
}
