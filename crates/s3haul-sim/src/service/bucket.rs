//! Buckets: making, removing, their region, versioning and website.

#![expect(
    clippy::needless_pass_by_value,
    clippy::unnecessary_wraps,
    reason = "the signatures are those of the trait"
)]

use http::{HeaderMap, HeaderValue};
use s3s::dto::{
    Bucket, BucketLocationConstraint, BucketVersioningStatus, CreateBucketInput,
    CreateBucketOutput, DeleteBucketInput, DeleteBucketOutput, DeleteBucketWebsiteInput,
    DeleteBucketWebsiteOutput, GetBucketLocationInput, GetBucketLocationOutput,
    GetBucketVersioningInput, GetBucketVersioningOutput, GetBucketWebsiteInput,
    GetBucketWebsiteOutput, HeadBucketInput, HeadBucketOutput, ListBucketsInput, ListBucketsOutput,
    PutBucketVersioningInput, PutBucketVersioningOutput, PutBucketWebsiteInput,
    PutBucketWebsiteOutput, WebsiteConfiguration,
};
use s3s::{S3Request, S3Response, S3Result, s3_error};

use super::SimService;
use super::convert::timestamp;
use crate::store::{Bucket as Settings, DEFAULT_REGION, Versioning};

/// Longest name of a region.
const REGION_LENGTH_MAX: usize = 63;

/// How bucket names that S3 keeps for itself begin and end. Those in `-an` belong to name spaces of
/// accounts, which this server has not.
/// <https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html>
const RESERVED_PREFIXES: [&str; 3] = ["xn--", "sthree-", "amzn-s3-demo-"];
const RESERVED_SUFFIXES: [&str; 6] =
    ["-s3alias", "--ol-s3", ".mrap", "--x-s3", "--table-s3", "-an"];

/// Whether a bucket of this name can be created; `s3s` has refused what it knows of these rules.
fn is_free_name(name: &str) -> bool {
    !name.contains(".-")
        && !name.contains("-.")
        && !RESERVED_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
        && !RESERVED_SUFFIXES.iter().any(|suffix| name.ends_with(suffix))
}

/// Whether a name could be a region's: they come back in headers and documents.
fn is_region(name: &str) -> bool {
    name.len() <= REGION_LENGTH_MAX
        && name
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
}

impl SimService {
    pub(super) fn list_buckets(
        &self,
        req: S3Request<ListBucketsInput>,
    ) -> S3Result<S3Response<ListBucketsOutput>> {
        let wanted = req.input.prefix.clone().unwrap_or_default();
        let after = req.input.continuation_token.clone();
        let region = req.input.bucket_region.clone();
        let most = usize::try_from(req.input.max_buckets.unwrap_or(10_000)).unwrap_or_default();
        let mut found = self.store.buckets();
        found.retain(|(name, settings)| {
            name.starts_with(&wanted)
                && after.as_ref().is_none_or(|after| name > after)
                && region.as_ref().is_none_or(|region| *region == settings.region)
        });
        let truncated = found.len() > most;
        found.truncate(most);
        let continuation_token = found.last().filter(|_| truncated).map(|(name, _)| name.clone());
        let paged = req.input.max_buckets.is_some();
        let buckets = found.into_iter().map(|(name, settings)| Bucket {
            bucket_region: paged.then_some(settings.region),
            creation_date: Some(timestamp(settings.created_ms)),
            name: Some(name),
        });
        Ok(S3Response::new(ListBucketsOutput {
            buckets: Some(buckets.collect()),
            continuation_token,
            owner: Some(super::convert::owner()),
            prefix: req.input.prefix,
        }))
    }

    pub(super) fn create_bucket(
        &self,
        req: S3Request<CreateBucketInput>,
    ) -> S3Result<S3Response<CreateBucketOutput>> {
        let name = req.input.bucket;
        if !is_free_name(&name) {
            return Err(s3_error!(InvalidBucketName, "The specified bucket is not valid."));
        }
        let constraint =
            req.input.create_bucket_configuration.and_then(|given| given.location_constraint);
        let region = match constraint.as_ref().map(BucketLocationConstraint::as_str) {
            None | Some("") => self.region.clone(),
            Some("EU") => "eu-west-1".to_owned(),
            Some(region) if is_region(region) => region.to_owned(),
            Some(_) => {
                return Err(s3_error!(
                    InvalidLocationConstraint,
                    "The specified location-constraint is not valid"
                ));
            }
        };
        if let Some(existing) = self.store.bucket(&name) {
            if existing.region == region && region == DEFAULT_REGION {
                // us-east-1 forgives its owner.
                return Ok(created(&name));
            }
            return Err(s3_error!(
                BucketAlreadyOwnedByYou,
                "Your previous request to create the named bucket succeeded and you already own it."
            ));
        }
        let object_lock = req.input.object_lock_enabled_for_bucket.unwrap_or_default();
        // Only versions can be locked.
        let versioning = if object_lock { Versioning::Enabled } else { Versioning::Off };
        let created_ms = self.now_ms();
        let settings =
            Settings { region, created_ms, versioning, object_lock, ..Settings::default() };
        self.store.put_bucket(&name, settings)?;
        Ok(created(&name))
    }

    pub(super) fn delete_bucket(
        &self,
        req: S3Request<DeleteBucketInput>,
    ) -> S3Result<S3Response<DeleteBucketOutput>> {
        self.store.remove_bucket(&req.input.bucket)?;
        for upload in self.store.uploads(&req.input.bucket) {
            self.store.remove_upload(&upload.id)?;
        }
        let status = http::StatusCode::NO_CONTENT;
        Ok(S3Response::with_status(DeleteBucketOutput::default(), status))
    }

    pub(super) fn head_bucket(
        &self,
        req: S3Request<HeadBucketInput>,
    ) -> S3Result<S3Response<HeadBucketOutput>> {
        let settings = self.bucket_settings(&req.input.bucket)?;
        let mut headers = HeaderMap::new();
        if let Ok(region) = HeaderValue::from_str(&settings.region) {
            headers.insert("x-amz-bucket-region", region);
        }
        Ok(S3Response::with_headers(HeadBucketOutput::default(), headers))
    }

    pub(super) fn get_bucket_location(
        &self,
        req: S3Request<GetBucketLocationInput>,
    ) -> S3Result<S3Response<GetBucketLocationOutput>> {
        let region = self.bucket_settings(&req.input.bucket)?.region;
        let location_constraint =
            (region != DEFAULT_REGION).then(|| BucketLocationConstraint::from(region));
        Ok(S3Response::new(GetBucketLocationOutput { location_constraint }))
    }

    pub(super) fn get_bucket_versioning(
        &self,
        req: S3Request<GetBucketVersioningInput>,
    ) -> S3Result<S3Response<GetBucketVersioningOutput>> {
        let status = match self.bucket_settings(&req.input.bucket)?.versioning {
            Versioning::Off => None,
            Versioning::Enabled => Some(BucketVersioningStatus::ENABLED),
            Versioning::Suspended => Some(BucketVersioningStatus::SUSPENDED),
        };
        let status = status.map(BucketVersioningStatus::from_static);
        Ok(S3Response::new(GetBucketVersioningOutput { status, mfa_delete: None }))
    }

    pub(super) fn put_bucket_versioning(
        &self,
        req: S3Request<PutBucketVersioningInput>,
    ) -> S3Result<S3Response<PutBucketVersioningOutput>> {
        let mut settings = self.bucket_settings(&req.input.bucket)?;
        let status = req.input.versioning_configuration.status;
        let is_on = status.as_ref().is_some_and(|s| s.as_str() == BucketVersioningStatus::ENABLED);
        if settings.object_lock && !is_on {
            return Err(s3_error!(
                InvalidBucketState,
                "An Object Lock configuration is present on this bucket, so the versioning state \
                 cannot be changed."
            ));
        }
        settings.versioning = match status.as_ref().map(BucketVersioningStatus::as_str) {
            Some(BucketVersioningStatus::ENABLED) => Versioning::Enabled,
            Some(BucketVersioningStatus::SUSPENDED) => Versioning::Suspended,
            _ => return Err(s3_error!(IllegalVersioningConfigurationException)),
        };
        self.store.put_bucket(&req.input.bucket, settings)?;
        Ok(S3Response::new(PutBucketVersioningOutput::default()))
    }

    pub(super) fn get_bucket_website(
        &self,
        req: S3Request<GetBucketWebsiteInput>,
    ) -> S3Result<S3Response<GetBucketWebsiteOutput>> {
        let website = self.bucket_settings(&req.input.bucket)?.website;
        let website = website.and_then(|stored| serde_json::from_value(stored).ok());
        let Some(WebsiteConfiguration {
            error_document,
            index_document,
            redirect_all_requests_to,
            routing_rules,
        }) = website
        else {
            return Err(s3_error!(
                NoSuchWebsiteConfiguration,
                "The specified bucket does not have a website configuration"
            ));
        };
        Ok(S3Response::new(GetBucketWebsiteOutput {
            error_document,
            index_document,
            redirect_all_requests_to,
            routing_rules,
        }))
    }

    pub(super) fn put_bucket_website(
        &self,
        req: S3Request<PutBucketWebsiteInput>,
    ) -> S3Result<S3Response<PutBucketWebsiteOutput>> {
        let mut settings = self.bucket_settings(&req.input.bucket)?;
        let website = serde_json::to_value(&req.input.website_configuration);
        settings.website = Some(website.map_err(s3s::S3Error::internal_error)?);
        self.store.put_bucket(&req.input.bucket, settings)?;
        Ok(S3Response::new(PutBucketWebsiteOutput::default()))
    }

    pub(super) fn delete_bucket_website(
        &self,
        req: S3Request<DeleteBucketWebsiteInput>,
    ) -> S3Result<S3Response<DeleteBucketWebsiteOutput>> {
        let mut settings = self.bucket_settings(&req.input.bucket)?;
        settings.website = None;
        self.store.put_bucket(&req.input.bucket, settings)?;
        let status = http::StatusCode::NO_CONTENT;
        Ok(S3Response::with_status(DeleteBucketWebsiteOutput::default(), status))
    }
}

fn created(name: &str) -> S3Response<CreateBucketOutput> {
    S3Response::new(CreateBucketOutput { location: Some(format!("/{name}")) })
}
