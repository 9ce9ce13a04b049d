//! `ls`, `list`, `mb`, `rb`, `versioning` and `website`.

use std::path::PathBuf;

use s3haul::location::ObjectName;
use s3haul::plan::s3_uri;
use s3haul::plan::wildcard::Wildcard;
use s3haul_wire::ClientConfig;
use s3haul_wire::ops::{Versioning, Website};

use super::script;
use super::{FindSettings, JobRequest, ListingSettings, Selection, Settings, TransferSettings};
use crate::args::{
    FormatChoice, ListArgs, LsArgs, MbArgs, RbArgs, TableArgs, VersioningCommand, WebsiteArgs,
};
use crate::failure::Failure;
use crate::render::listing::{Field, Format};
use crate::settings::check::address;
use crate::settings::check::invalid_argument_type;

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
    /// Requests in flight.
    pub(crate) concurrency: usize,
    /// Only these buckets.
    pub(crate) bucket_name_prefix: Option<String>,
    /// Only buckets of this region.
    pub(crate) bucket_region: Option<String>,
    /// Which of the listed objects.
    pub(crate) selection: Selection,
    /// JSON output.
    pub(crate) json: bool,
}

impl LsSettings {
    /// From flags.
    pub(crate) fn new(settings: Settings, args: &LsArgs) -> Result<Self, Failure> {
        let request_payer = args.requests.payer.is_requester();
        let object = address(args.path.as_deref().unwrap_or_default())?;
        let wildcard = Wildcard::parse(&object.key).filter(|_| !args.raw);
        let selection = Selection {
            script: script::filter(args.filter.as_deref())?,
            ..Selection::new(&object, wildcard, &args.filters, &args.conditions)?
        };
        if object.bucket.is_empty() && !selection.is_all() {
            return Err(Failure::usage(
                "filters and conditions are about objects: name a bucket to list its objects",
            ));
        }
        Ok(Self {
            client: ClientConfig { request_payer, ..settings.client },
            object,
            recursive: args.recursive,
            human_readable: args.human_readable,
            summarize: args.summarize,
            page_size: args.requests.page_size,
            concurrency: settings.tuning.requests_at_once(),
            bucket_name_prefix: args.bucket_name_prefix.clone(),
            bucket_region: args.bucket_region.clone(),
            selection,
            json: settings.json,
        })
    }
}

/// `list`.
#[derive(Clone, Debug)]
pub(crate) struct ListSettings {
    /// What to list.
    pub(crate) listing: ListingSettings,
    /// In the order of keys.
    pub(crate) sort: bool,
    /// Versions and delete markers.
    pub(crate) versions: bool,
    /// Format.
    pub(crate) format: Format,
    /// Columns, for formats that have some.
    pub(crate) fields: Vec<Field>,
    /// Names of the columns come first.
    pub(crate) header: bool,
    /// File instead of standard output.
    pub(crate) output_file: Option<PathBuf>,
    /// Sizes as KiB.
    pub(crate) human_readable: bool,
    /// Totals at the end.
    pub(crate) summarize: bool,
    /// What `find` has beside `list`.
    pub(crate) find: Option<FindSettings>,
}

impl ListSettings {
    /// From flags.
    pub(crate) fn new(settings: &Settings, args: &ListArgs) -> Result<Self, Failure> {
        let format = format(args.format.map(Format::from), Format::Text, settings.json)?;
        if args.human_readable && format != Format::Text {
            return Err(needs_format("--human-readable", "text"));
        }
        check_table(&args.table, format)?;
        let usual = if args.versions { &Field::OF_VERSIONS[..] } else { &Field::OF_OBJECTS[..] };
        Ok(Self {
            listing: ListingSettings::new(settings, &args.listing, "list")?,
            sort: args.table.sort,
            versions: args.versions,
            format,
            fields: fields(&args.table.fields, usual, args.versions)?,
            header: !args.table.no_header,
            output_file: args.table.output_file.clone(),
            human_readable: args.human_readable,
            summarize: args.summarize,
            find: None,
        })
    }
}

/// The format to print in: events with `--json`, else what was chosen, else the usual one.
pub(super) fn format(choice: Option<Format>, usual: Format, json: bool) -> Result<Format, Failure> {
    match choice {
        Some(_) if json => Err(Failure::usage(
            "--json prints events and cannot be combined with --format: use --format \
             jsonl for rows",
        )),
        None if json => Ok(Format::Events),
        choice => Ok(choice.unwrap_or(usual)),
    }
}

impl From<FormatChoice> for Format {
    fn from(choice: FormatChoice) -> Self {
        match choice {
            FormatChoice::Text => Self::Text,
            FormatChoice::Jsonl => Self::Jsonl,
            FormatChoice::Csv => Self::Csv,
            FormatChoice::Tsv => Self::Tsv,
            FormatChoice::Parquet => Self::Parquet,
            FormatChoice::Keys => Self::Keys,
        }
    }
}

fn needs_format(flag: &str, format: &str) -> Failure {
    Failure::usage(format!("{flag} needs --format {format}"))
}

/// Refuses flags of tables beside formats that are none.
pub(super) fn check_table(args: &TableArgs, format: Format) -> Result<(), Failure> {
    use Format::{Csv, Jsonl, Parquet, Tsv};
    if args.no_header && !matches!(format, Csv | Tsv) {
        return Err(needs_format("--no-header", "csv or tsv"));
    }
    if !args.fields.is_empty() && !matches!(format, Jsonl | Csv | Tsv | Parquet) {
        return Err(needs_format("--fields", "jsonl, csv, tsv or parquet"));
    }
    Ok(())
}

/// The columns with these names, or the usual ones where there are none.
pub(super) fn fields(
    names: &[String],
    usual: &[Field],
    versions: bool,
) -> Result<Vec<Field>, Failure> {
    if names.is_empty() {
        return Ok(usual.to_vec());
    }
    let mut fields = Vec::new();
    for name in names {
        let Some(field) = Field::ALL.into_iter().find(|field| field.name() == name) else {
            let known: Vec<&str> = Field::ALL.iter().map(|field| field.name()).collect();
            let known = known.join(", ");
            return Err(Failure::usage(format!("--fields: no field `{name}`; there are {known}")));
        };
        if field.is_of_versions() && !versions {
            return Err(Failure::usage(format!("--fields: `{name}` needs --versions")));
        }
        if fields.contains(&field) {
            return Err(Failure::usage(format!("--fields: `{name}` is there twice")));
        }
        fields.push(field);
    }
    Ok(fields)
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
