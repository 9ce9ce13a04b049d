//! `mb`, `rb`, `versioning` and `website`.

use s3haul::location::ObjectName;
use s3haul::plan::s3_uri;
use s3haul_wire::ClientConfig;
use s3haul_wire::ops::{Versioning, Website};

use super::check::{address, invalid_argument_type};
use super::{JobRequest, Settings, TransferSettings};
use crate::args::{MbArgs, RbArgs, VersioningCommand, WebsiteArgs};
use crate::failure::Failure;

/// `mb`.
#[derive(Debug)]
pub(crate) struct MbSettings {
    /// Client.
    pub(crate) client: ClientConfig,
    /// The address as typed.
    pub(crate) path: String,
    /// Bucket.
    pub(crate) bucket: String,
    /// Tags.
    pub(crate) tags: Vec<(String, String)>,
    /// Objects can be locked.
    pub(crate) object_lock: bool,
    /// Versions are kept.
    pub(crate) versioning: bool,
    /// JSON output.
    pub(crate) json: bool,
}

impl MbSettings {
    /// From flags.
    pub(crate) fn new(settings: Settings, args: &MbArgs) -> Result<Self, Failure> {
        let object = bucket_address(&args.path, "mb")?;
        if s3_uri::is_directory_bucket(&object.bucket) {
            return Err(Failure::usage("Cannot use mb command with a directory bucket."));
        }
        let tags = args.tags.chunks_exact(2).map(|pair| (pair[0].clone(), pair[1].clone()));
        Ok(Self {
            client: settings.client,
            path: args.path.clone(),
            bucket: object.bucket,
            tags: tags.collect(),
            object_lock: args.object_lock,
            versioning: args.versioning,
            json: settings.json,
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
    /// JSON output.
    pub(crate) json: bool,
}

impl RbSettings {
    /// From flags.
    pub(crate) fn new(settings: &Settings, args: &RbArgs) -> Result<Self, Failure> {
        let object = whole_bucket(&args.path, "rb")?;
        let (client, json) = (settings.client.clone(), settings.json);
        let empty = || {
            let request = JobRequest::empty_bucket(settings, args);
            TransferSettings::of_job(&request, &settings.machine())
        };
        let empty_first = args.force.then(empty).transpose()?;
        Ok(Self { client, path: args.path.clone(), bucket: object.bucket, empty_first, json })
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
    /// From flags. `aws` takes the bucket with `s3://` or without, and a slash after it.
    pub(crate) fn new(settings: Settings, args: &WebsiteArgs) -> Result<Self, Failure> {
        let ObjectName { bucket, key, .. } = address(&args.path)?;
        if bucket.is_empty() || !key.is_empty() {
            let path = args.path.strip_prefix(s3_uri::SCHEME).unwrap_or(&args.path);
            let name = path.strip_suffix('/').unwrap_or(path);
            let message = format!(
                "Parameter validation failed:\nInvalid bucket name \"{name}\": website takes the \
                 name of a bucket, such as s3://my-bucket"
            );
            return Err(Failure::usage(message));
        }
        let website = Website {
            index_document: args.index_document.clone(),
            error_document: args.error_document.clone(),
        };
        Ok(Self { client: settings.client, bucket, website, json: settings.json })
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
    /// From flags.
    pub(crate) fn new(settings: Settings, command: &VersioningCommand) -> Result<Self, Failure> {
        let (args, change) = match command {
            VersioningCommand::Get(args) => (args, None),
            VersioningCommand::Enable(args) => (args, Some(Versioning::Enabled)),
            VersioningCommand::Suspend(args) => (args, Some(Versioning::Suspended)),
        };
        let bucket = whole_bucket(&args.path, "versioning")?.bucket;
        Ok(Self { client: settings.client, bucket, change, json: settings.json })
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
