//! `ls`, `mb` and `rb`.

use s3haul::location::ObjectName;
use s3haul::plan::s3_uri;
use s3haul::s3::ClientConfig;

use super::stream::address;
use super::transfer::invalid_argument_type;
use super::{Lines, Settings, TransferSettings};
use crate::args::{LsArgs, MbArgs, RbArgs};
use crate::failure::Failure;

/// `ls`.
#[derive(Debug)]
pub(crate) struct LsSettings {
    /// Client.
    pub(crate) client: ClientConfig,
    /// Bucket and key prefix or pattern; all buckets where both are empty.
    pub(crate) object: ObjectName,
    /// Whole keys of all objects.
    pub(crate) recursive: bool,
    /// Sizes as KiB.
    pub(crate) human_readable: bool,
    /// Totals at the end.
    pub(crate) summarize: bool,
    /// Keys a page.
    pub(crate) page_size: Option<u32>,
    /// Only these buckets.
    pub(crate) bucket_name_prefix: Option<String>,
    /// Only buckets of this region.
    pub(crate) bucket_region: Option<String>,
    /// Wildcards are plain characters.
    pub(crate) raw: bool,
    /// JSON output.
    pub(crate) json: bool,
}

impl LsSettings {
    /// From flags.
    pub(crate) fn new(settings: Settings, args: &LsArgs) -> Result<Self, Failure> {
        let request_payer = args.request_payer.is_some();
        Ok(Self {
            client: ClientConfig { request_payer, ..settings.client },
            object: address(args.path.as_deref().unwrap_or_default())?,
            recursive: args.recursive,
            human_readable: args.human_readable,
            summarize: args.summarize,
            page_size: args.page_size,
            bucket_name_prefix: args.bucket_name_prefix.clone(),
            bucket_region: args.bucket_region.clone(),
            raw: args.raw,
            json: settings.json,
        })
    }
}

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
    pub(crate) fn new(settings: Settings, args: &RbArgs) -> Result<Self, Failure> {
        let object = bucket_address(&args.path, "rb")?;
        if !object.key.is_empty() {
            return Err(Failure::usage(format!(
                "Please specify a valid bucket name only. E.g. s3://{}",
                object.bucket
            )));
        }
        let (client, json) = (settings.client.clone(), settings.json);
        let lines = Lines::from(&args.output);
        let empty_first = args
            .force
            .then(|| TransferSettings::empty_bucket(settings, &args.path, lines))
            .transpose()?;
        Ok(Self { client, path: args.path.clone(), bucket: object.bucket, empty_first, json })
    }
}

fn bucket_address(path: &str, command: &str) -> Result<ObjectName, Failure> {
    let object = address(path)?;
    if !s3_uri::is_s3(path) || object.bucket.is_empty() {
        return Err(invalid_argument_type(command, "<S3Uri>"));
    }
    Ok(object)
}
