//! The rules of S3 over a store, as an implementation of `s3s::S3`, by topic.

mod access;
mod bucket;
mod checksum;
mod complete;
mod conditions;
mod convert;
mod copy;
mod customer_key;
mod delete;
mod finished;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod fuzzing;
mod get;
mod ingest;
mod list;
mod list_versions;
mod list_xml;
mod multipart;
mod protect;
mod put;
mod tagging;

pub(crate) use access::{Admission, ListRoute, Listing};
pub(crate) use finished::Finished;

use std::sync::Arc;

use s3s::{S3, S3Request, S3Response, S3Result, dto, s3_error};

use crate::clock::Clock;
use crate::config::{Limits, ListQuirks};
use crate::store::{Bucket as BucketSettings, Store, Version, Versioning, Versions};

/// The service behind `s3s`.
#[derive(Clone)]
pub(crate) struct SimService {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) clock: Arc<Clock>,
    pub(crate) region: String,
    pub(crate) limits: Limits,
    pub(crate) quirks: ListQuirks,
    pub(crate) finished: Arc<Finished>,
}

impl SimService {
    /// The settings of a bucket that must be there.
    fn bucket_settings(&self, name: &str) -> S3Result<BucketSettings> {
        let settings = self.store.bucket(name);
        settings.ok_or_else(|| s3_error!(NoSuchBucket, "The specified bucket does not exist"))
    }

    /// The version that a request means: the newest, or the one with the given id.
    fn find(&self, bucket: &str, key: &str, id: Option<&str>) -> S3Result<Arc<Version>> {
        let versions: Versions = self.store.versions(bucket, key)?;
        let found = match id {
            None => versions.first().filter(|version| !version.delete_marker),
            Some(id) => versions.iter().find(|version| version.id == id),
        };
        let Some(found) = found else {
            return Err(match id {
                Some(_) => s3_error!(NoSuchVersion, "The specified version does not exist."),
                None => s3_error!(NoSuchKey, "The specified key does not exist."),
            });
        };
        if found.delete_marker {
            return Err(s3_error!(
                MethodNotAllowed,
                "The specified method is not allowed against this resource."
            ));
        }
        Ok(Arc::clone(found))
    }

    /// Changes the version that a request means. Returns the version as it is then.
    fn change_version(
        &self,
        bucket: &str,
        key: &str,
        id: Option<&str>,
        change: impl Fn(&mut Version) -> S3Result<()>,
    ) -> S3Result<Arc<Version>> {
        let mut wanted = self.find(bucket, key, id)?;
        self.store.update(bucket, key, &mut |versions| {
            let found = versions.iter_mut().find(|version| version.id == wanted.id);
            let version =
                found.ok_or_else(|| s3_error!(NoSuchKey, "The specified key does not exist."))?;
            change(Arc::make_mut(version))?;
            wanted = Arc::clone(version);
            Ok(())
        })?;
        Ok(wanted)
    }

    /// Puts a version in front, as the bucket's versioning wants it. Returns the id to show: none
    /// where the version has no id of its own.
    fn push_version(
        versioning: Versioning,
        versions: &mut Versions,
        mut version: Version,
    ) -> Option<String> {
        if versioning == Versioning::Enabled {
            version.id = fresh_version_id(version.modified_ms);
        } else {
            "null".clone_into(&mut version.id);
            versions.retain(|kept| kept.id != "null");
        }
        let shown = (versioning == Versioning::Enabled).then(|| version.id.clone());
        versions.insert(0, Arc::new(version));
        shown
    }

    /// The time for a new version: whole seconds are shown, milliseconds kept.
    fn now_ms(&self) -> i64 {
        self.clock.now_ms()
    }
}

/// The version id that responses show: none for `null` while versioning is off or suspended.
fn shown_version_id(settings: &BucketSettings, version: &Version) -> Option<String> {
    let is_shown = settings.versioning == Versioning::Enabled || version.id != "null";
    is_shown.then(|| version.id.clone())
}

fn fresh_version_id(now_ms: i64) -> String {
    format!("{now_ms:012x}{:016x}", fastrand::u64(..))
}

/// Implements the trait by the methods of the same names.
macro_rules! delegate {
    (
        at once { $($method:ident($input:ident) -> $output:ident;)* }
        in time { $($slow:ident($slow_input:ident) -> $slow_output:ident;)* }
    ) => {
        #[async_trait::async_trait]
        impl S3 for SimService {
            $(async fn $method(
                &self,
                req: S3Request<dto::$input>,
            ) -> S3Result<S3Response<dto::$output>> {
                SimService::$method(self, req)
            })*
            $(async fn $slow(
                &self,
                req: S3Request<dto::$slow_input>,
            ) -> S3Result<S3Response<dto::$slow_output>> {
                SimService::$slow(self, req).await
            })*
        }
    };
}

delegate! {
    at once {
        list_buckets(ListBucketsInput) -> ListBucketsOutput;
        create_bucket(CreateBucketInput) -> CreateBucketOutput;
        delete_bucket(DeleteBucketInput) -> DeleteBucketOutput;
        head_bucket(HeadBucketInput) -> HeadBucketOutput;
        get_bucket_location(GetBucketLocationInput) -> GetBucketLocationOutput;
        get_bucket_versioning(GetBucketVersioningInput) -> GetBucketVersioningOutput;
        put_bucket_versioning(PutBucketVersioningInput) -> PutBucketVersioningOutput;
        get_bucket_website(GetBucketWebsiteInput) -> GetBucketWebsiteOutput;
        put_bucket_website(PutBucketWebsiteInput) -> PutBucketWebsiteOutput;
        delete_bucket_website(DeleteBucketWebsiteInput) -> DeleteBucketWebsiteOutput;
        head_object(HeadObjectInput) -> HeadObjectOutput;
        get_object(GetObjectInput) -> GetObjectOutput;
        get_object_attributes(GetObjectAttributesInput) -> GetObjectAttributesOutput;
        delete_object(DeleteObjectInput) -> DeleteObjectOutput;
        delete_objects(DeleteObjectsInput) -> DeleteObjectsOutput;
        create_multipart_upload(CreateMultipartUploadInput) -> CreateMultipartUploadOutput;
        abort_multipart_upload(AbortMultipartUploadInput) -> AbortMultipartUploadOutput;
        list_parts(ListPartsInput) -> ListPartsOutput;
        list_multipart_uploads(ListMultipartUploadsInput) -> ListMultipartUploadsOutput;
        get_object_tagging(GetObjectTaggingInput) -> GetObjectTaggingOutput;
        put_object_tagging(PutObjectTaggingInput) -> PutObjectTaggingOutput;
        delete_object_tagging(DeleteObjectTaggingInput) -> DeleteObjectTaggingOutput;
        get_bucket_tagging(GetBucketTaggingInput) -> GetBucketTaggingOutput;
        put_bucket_tagging(PutBucketTaggingInput) -> PutBucketTaggingOutput;
        delete_bucket_tagging(DeleteBucketTaggingInput) -> DeleteBucketTaggingOutput;
        get_object_lock_configuration(GetObjectLockConfigurationInput)
            -> GetObjectLockConfigurationOutput;
        put_object_lock_configuration(PutObjectLockConfigurationInput)
            -> PutObjectLockConfigurationOutput;
        get_object_acl(GetObjectAclInput) -> GetObjectAclOutput;
        put_object_acl(PutObjectAclInput) -> PutObjectAclOutput;
        get_object_retention(GetObjectRetentionInput) -> GetObjectRetentionOutput;
        put_object_retention(PutObjectRetentionInput) -> PutObjectRetentionOutput;
        get_object_legal_hold(GetObjectLegalHoldInput) -> GetObjectLegalHoldOutput;
        put_object_legal_hold(PutObjectLegalHoldInput) -> PutObjectLegalHoldOutput;
        restore_object(RestoreObjectInput) -> RestoreObjectOutput;
    }
    in time {
        put_object(PutObjectInput) -> PutObjectOutput;
        copy_object(CopyObjectInput) -> CopyObjectOutput;
        upload_part(UploadPartInput) -> UploadPartOutput;
        upload_part_copy(UploadPartCopyInput) -> UploadPartCopyOutput;
        complete_multipart_upload(CompleteMultipartUploadInput) -> CompleteMultipartUploadOutput;
    }
}
