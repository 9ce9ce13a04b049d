//! Tags of objects.

use std::sync::Arc;

use s3s::dto::{
    DeleteObjectTaggingInput, DeleteObjectTaggingOutput, GetObjectTaggingInput,
    GetObjectTaggingOutput, PutObjectTaggingInput, PutObjectTaggingOutput, Tag,
};
use s3s::{S3Request, S3Response, S3Result, s3_error};

use super::convert::check_tags;
use super::{SimService, shown_version_id};
use crate::store::Version;

impl SimService {
    pub(super) fn get_object_tagging(
        &self,
        req: S3Request<GetObjectTaggingInput>,
    ) -> S3Result<S3Response<GetObjectTaggingOutput>> {
        let input = req.input;
        let settings = self.bucket_settings(&input.bucket)?;
        let version = self.find(&input.bucket, &input.key, input.version_id.as_deref())?;
        let tags = version.tags.iter();
        let tag_set = tags
            .map(|(key, value)| Tag { key: Some(key.clone()), value: Some(value.clone()) })
            .collect();
        let version_id = shown_version_id(&settings, &version);
        Ok(S3Response::new(GetObjectTaggingOutput { tag_set, version_id }))
    }

    pub(super) fn put_object_tagging(
        &self,
        req: S3Request<PutObjectTaggingInput>,
    ) -> S3Result<S3Response<PutObjectTaggingOutput>> {
        let input = req.input;
        let tags = input.tagging.tag_set.into_iter();
        let tags =
            tags.map(|tag| (tag.key.unwrap_or_default(), tag.value.unwrap_or_default())).collect();
        let tags = check_tags(tags)?;
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
        let wanted = self.find(bucket, key, id)?.id.clone();
        let mut shown = None;
        self.store.update(bucket, key, &mut |versions| {
            let found = versions.iter_mut().find(|version| version.id == wanted);
            let version =
                found.ok_or_else(|| s3_error!(NoSuchKey, "The specified key does not exist."))?;
            let changed = Version { tags: tags.to_vec(), ..(**version).clone() };
            shown = shown_version_id(&settings, &changed);
            *version = Arc::new(changed);
            Ok(())
        })?;
        Ok(shown)
    }
}
