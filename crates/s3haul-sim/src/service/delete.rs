//! `DeleteObject` and `DeleteObjects`, with versions and delete markers.

use std::sync::Arc;

use s3s::dto::{
    DeleteObjectInput, DeleteObjectOutput, DeleteObjectsInput, DeleteObjectsOutput, DeletedObject,
    ETagCondition, Error, ObjectIdentifier,
};
use s3s::{S3Error, S3Request, S3Response, S3Result, s3_error};

use super::{SimService, conditions, fresh_version_id};
use crate::handler::InjectedError;
use crate::store::{Bucket as Settings, Version, Versioning, Versions};

/// Most keys of one `DeleteObjects`.
const DELETE_KEYS_MAX: usize = 1000;

/// What a deletion did.
#[derive(Debug, Default)]
struct Deleted {
    /// Whether a delete marker was made, or removed.
    marker: bool,
    /// Id of the marker that was made, or of the version that was removed.
    version_id: Option<String>,
}

/// Which version to delete, and on what condition.
struct Deletion<'a> {
    key: &'a str,
    version_id: Option<&'a str>,
    if_match: Option<ETagCondition>,
    /// Locks in governance mode do not count.
    may_bypass: bool,
}

impl SimService {
    fn delete_one(
        &self,
        bucket: &str,
        settings: &Settings,
        deletion: &Deletion<'_>,
    ) -> S3Result<Deleted> {
        let now_ms = self.now_ms();
        let mut deleted = Deleted::default();
        self.store.update(bucket, deletion.key, &mut |versions| {
            let current = versions.first().map(AsRef::as_ref);
            conditions::check_write(current, deletion.if_match.as_ref(), None)?;
            if let Some(id) = deletion.version_id {
                let version = versions.iter().find(|version| version.id == id);
                let protection = version.and_then(|version| version.protection.as_ref());
                protection.map_or(Ok(()), |it| it.check_removal(now_ms, deletion.may_bypass))?;
            }
            deleted = match deletion.version_id {
                Some(id) => remove_version(versions, id),
                None => remove_current(versions, settings.versioning, now_ms),
            };
            Ok(())
        })?;
        Ok(deleted)
    }

    pub(super) fn delete_object(
        &self,
        req: S3Request<DeleteObjectInput>,
    ) -> S3Result<S3Response<DeleteObjectOutput>> {
        let input = req.input;
        let settings = self.bucket_settings(&input.bucket)?;
        if input.version_id.as_deref().is_some_and(|id| !id.bytes().all(|b| b.is_ascii_graphic())) {
            // It would have to come back in a header.
            return Err(s3_error!(InvalidArgument, "Invalid version id specified"));
        }
        let deletion = Deletion {
            key: &input.key,
            version_id: input.version_id.as_deref(),
            if_match: input.if_match,
            may_bypass: input.bypass_governance_retention.unwrap_or_default(),
        };
        let deleted = self.delete_one(&input.bucket, &settings, &deletion)?;
        let output = DeleteObjectOutput {
            delete_marker: deleted.marker.then_some(true),
            version_id: deleted.version_id,
            request_charged: None,
        };
        Ok(S3Response::with_status(output, http::StatusCode::NO_CONTENT))
    }

    pub(super) fn delete_objects(
        &self,
        req: S3Request<DeleteObjectsInput>,
    ) -> S3Result<S3Response<DeleteObjectsOutput>> {
        let injected = req.extensions.get::<InjectedError>().cloned();
        let input = req.input;
        let settings = self.bucket_settings(&input.bucket)?;
        if input.delete.objects.is_empty() || input.delete.objects.len() > DELETE_KEYS_MAX {
            return Err(s3_error!(
                MalformedXML,
                "The XML you provided was not well-formed or did not validate against our \
                 published schema"
            ));
        }
        let quiet = input.delete.quiet.unwrap_or(false);
        let may_bypass = input.bypass_governance_retention.unwrap_or_default();
        let (mut done, mut errors) = (Vec::new(), Vec::new());
        for object in input.delete.objects {
            if let Some(InjectedError(code)) = &injected {
                errors.push(injected_error(object, code));
                continue;
            }
            // Conditions of directory buckets, which are not heeded here.
            if object.size.is_some() || object.last_modified_time.is_some() {
                errors.push(failure(object, &s3_error!(NotImplemented)));
                continue;
            }
            let deletion = Deletion {
                key: &object.key,
                version_id: object.version_id.as_deref(),
                if_match: object.e_tag.clone().map(ETagCondition::ETag),
                may_bypass,
            };
            match self.delete_one(&input.bucket, &settings, &deletion) {
                Ok(_) if quiet => {}
                Ok(deleted) => done.push(shown(object, deleted)),
                Err(error) => errors.push(failure(object, &error)),
            }
        }
        Ok(S3Response::new(DeleteObjectsOutput {
            deleted: Some(done),
            errors: Some(errors),
            request_charged: None,
        }))
    }
}

fn remove_version(versions: &mut Versions, id: &str) -> Deleted {
    let found = versions.iter().position(|version| version.id == id);
    let marker = found.is_some_and(|index| versions.remove(index).delete_marker);
    Deleted { marker, version_id: Some(id.to_owned()) }
}

fn remove_current(versions: &mut Versions, versioning: Versioning, now_ms: i64) -> Deleted {
    let id = match versioning {
        Versioning::Off => {
            versions.clear();
            return Deleted::default();
        }
        Versioning::Enabled => fresh_version_id(now_ms),
        Versioning::Suspended => {
            versions.retain(|version| version.id != "null");
            "null".to_owned()
        }
    };
    let marker =
        Version { id: id.clone(), delete_marker: true, modified_ms: now_ms, ..Version::default() };
    versions.insert(0, Arc::new(marker));
    Deleted { marker: true, version_id: Some(id) }
}

fn shown(object: ObjectIdentifier, deleted: Deleted) -> DeletedObject {
    DeletedObject {
        delete_marker: deleted.marker.then_some(true),
        delete_marker_version_id: deleted.version_id.filter(|_| deleted.marker),
        key: Some(object.key),
        version_id: object.version_id,
    }
}

fn failure(object: ObjectIdentifier, error: &S3Error) -> Error {
    Error {
        code: Some(error.code().as_str().to_owned()),
        key: Some(object.key),
        message: error.message().map(str::to_owned),
        version_id: object.version_id,
    }
}

fn injected_error(object: ObjectIdentifier, code: &str) -> Error {
    Error {
        code: Some(code.to_owned()),
        key: Some(object.key),
        message: Some("An error ordered by the weather.".to_owned()),
        version_id: object.version_id,
    }
}
