//! `mb`, `rb`, `versioning` and `website`.

use s3haul::job::value::{
    MakeBucketTask, Output, RemoveBucketTask, Task, VersioningTask, WebsiteTask,
};
use s3haul::location::ObjectName;
use s3haul::plan::s3_uri;
use s3haul_wire::ClientConfig;
use s3haul_wire::ops::{Versioning, Website};

use super::check::{address, invalid_argument_type};
use super::frame::{Frame, Machine};
use super::job::lines;
use super::{JobRequest, Settings, TransferSettings};
use crate::args::{MbArgs, RbArgs, VersioningCommand, WebsiteArgs};
use crate::failure::Failure;

/// `mb`.
#[derive(Debug)]
pub(crate) struct MbSettings {
    /// Client.
    pub(crate) client: ClientConfig,
    /// Bucket.
    pub(crate) bucket: String,
    /// The options.
    pub(crate) task: MakeBucketTask,
    /// JSON output.
    pub(crate) json: bool,
}

impl JobRequest {
    /// For `mb`.
    pub(crate) fn make_bucket(settings: &Settings, args: &MbArgs) -> Self {
        let tags = args.tags.chunks_exact(2).map(|pair| (pair[0].clone(), pair[1].clone()));
        let task = MakeBucketTask {
            bucket: args.path.clone(),
            tags: tags.collect(),
            object_lock: args.object_lock,
            versioning: args.versioning,
        };
        Self::reading(settings, false, Task::MakeBucket(task))
    }

    /// For `rb`.
    pub(crate) fn remove_bucket(settings: &Settings, args: &RbArgs) -> Self {
        let task = RemoveBucketTask {
            bucket: args.path.clone(),
            force: args.force,
            versions: args.versions,
            yes: args.yes,
        };
        let mut request = Self::reading(settings, false, Task::RemoveBucket(task));
        request.job.output.lines = lines(&args.output);
        request
    }

    /// For `versioning`.
    pub(crate) fn versioning(settings: &Settings, command: &VersioningCommand) -> Self {
        let keep = match command {
            VersioningCommand::Get(_) => None,
            VersioningCommand::Enable(_) => Some(true),
            VersioningCommand::Suspend(_) => Some(false),
        };
        let task = VersioningTask { bucket: command.bucket().path.clone(), keep };
        Self::reading(settings, false, Task::Versioning(task))
    }

    /// For `website`.
    pub(crate) fn website(settings: &Settings, args: &WebsiteArgs) -> Self {
        let task = WebsiteTask {
            bucket: args.path.clone(),
            index_document: args.index_document.clone(),
            error_document: args.error_document.clone(),
        };
        Self::reading(settings, false, Task::Website(task))
    }
}

impl MbSettings {
    /// For a job.
    pub(crate) fn of_job(frame: Frame, task: &MakeBucketTask) -> Result<Self, Failure> {
        let object = bucket_address(&task.bucket, "mb")?;
        if s3_uri::is_directory_bucket(&object.bucket) {
            return Err(Failure::usage("Cannot use mb command with a directory bucket."));
        }
        Ok(Self {
            client: frame.client,
            bucket: object.bucket,
            task: task.clone(),
            json: frame.output.json,
        })
    }
}

/// `rb`.
#[derive(Debug)]
pub(crate) struct RbSettings {
    /// Client.
    pub(crate) client: ClientConfig,
    /// The address as typed.
    pub(crate) path: String,
    /// Bucket.
    pub(crate) bucket: String,
    /// What empties the bucket first, with `--force`.
    pub(crate) empty_first: Option<TransferSettings>,
    /// Printing.
    pub(crate) output: Output,
}

impl RbSettings {
    /// For a job.
    pub(crate) fn of_job(
        request: &JobRequest,
        machine: &Machine,
        task: &RemoveBucketTask,
    ) -> Result<Self, Failure> {
        let object = whole_bucket(&task.bucket, "rb")?;
        if (task.versions && !task.force) || (task.yes && !task.versions) {
            return Err(Failure::usage("rb: --versions needs --force, and --yes needs --versions"));
        }
        let frame = request.frame(machine)?;
        let empty = || TransferSettings::of_job(&request.emptying(task), machine);
        Ok(Self {
            client: frame.client,
            path: task.bucket.clone(),
            bucket: object.bucket,
            empty_first: task.force.then(empty).transpose()?,
            output: frame.output,
        })
    }
}

/// `website`.
#[derive(Debug)]
pub(crate) struct WebsiteSettings {
    /// Client.
    pub(crate) client: ClientConfig,
    /// Bucket.
    pub(crate) bucket: String,
    /// What it serves.
    pub(crate) website: Website,
    /// JSON output.
    pub(crate) json: bool,
}

impl WebsiteSettings {
    /// For a job. `aws` takes the bucket with `s3://` or without, and a slash after it.
    pub(crate) fn of_job(frame: Frame, task: &WebsiteTask) -> Result<Self, Failure> {
        let ObjectName { bucket, key, .. } = address(&task.bucket)?;
        if bucket.is_empty() || !key.is_empty() {
            let path = task.bucket.strip_prefix(s3_uri::SCHEME).unwrap_or(&task.bucket);
            let name = path.strip_suffix('/').unwrap_or(path);
            let message = format!(
                "Parameter validation failed:\nInvalid bucket name \"{name}\": website takes the \
                 name of a bucket, such as s3://my-bucket"
            );
            return Err(Failure::usage(message));
        }
        let website = Website {
            index_document: task.index_document.clone(),
            error_document: task.error_document.clone(),
        };
        Ok(Self { client: frame.client, bucket, website, json: frame.output.json })
    }
}

/// `versioning`.
#[derive(Debug)]
pub(crate) struct VersioningSettings {
    /// Client.
    pub(crate) client: ClientConfig,
    /// Bucket.
    pub(crate) bucket: String,
    /// What it is to be, if it is to be changed.
    pub(crate) change: Option<Versioning>,
    /// JSON output.
    pub(crate) json: bool,
}

impl VersioningSettings {
    /// For a job.
    pub(crate) fn of_job(frame: Frame, task: &VersioningTask) -> Result<Self, Failure> {
        let change =
            task.keep.map(|keeps| if keeps { Versioning::Enabled } else { Versioning::Suspended });
        let bucket = whole_bucket(&task.bucket, "versioning")?.bucket;
        Ok(Self { client: frame.client, bucket, change, json: frame.output.json })
    }
}

/// Refuses a key where a bucket is meant.
fn whole_bucket(path: &str, command: &str) -> Result<ObjectName, Failure> {
    let object = bucket_address(path, command)?;
    if !object.key.is_empty() {
        return Err(Failure::usage(format!(
            "Please specify a valid bucket name only. E.g. s3://{}",
            object.bucket
        )));
    }
    Ok(object)
}

fn bucket_address(path: &str, command: &str) -> Result<ObjectName, Failure> {
    let object = address(path)?;
    if !s3_uri::is_s3(path) || object.bucket.is_empty() {
        return Err(invalid_argument_type(command, "<S3Uri>"));
    }
    Ok(object)
}
