//! `ls`, `list`, `mb`, `rb` and `website`.

use std::path::PathBuf;

use s3haul::location::ObjectName;
use s3haul::plan::s3_uri;
use s3haul::s3::ClientConfig;
use s3haul::s3::ops::Website;

use super::stream::address;
use super::transfer::invalid_argument_type;
use super::{Lines, ListingSettings, Settings, TransferSettings};
use crate::args::{FormatChoice, ListArgs, LsArgs, MbArgs, RbArgs, WebsiteArgs};
use crate::failure::Failure;
use crate::render::listing::{Field, Format};

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
    /// Wildcards are plain characters.
    pub(crate) raw: bool,
    /// JSON output.
    pub(crate) json: bool,
}

impl LsSettings {
    /// From flags.
    pub(crate) fn new(settings: Settings, args: &LsArgs) -> Result<Self, Failure> {
        let request_payer = args.requests.payer.is_requester();
        Ok(Self {
            client: ClientConfig { request_payer, ..settings.client },
            object: address(args.path.as_deref().unwrap_or_default())?,
            recursive: args.recursive,
            human_readable: args.human_readable,
            summarize: args.summarize,
            page_size: args.requests.page_size,
            concurrency: settings.tuning.max_concurrent_requests,
            bucket_name_prefix: args.bucket_name_prefix.clone(),
            bucket_region: args.bucket_region.clone(),
            raw: args.raw,
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
}

impl ListSettings {
    /// From flags.
    pub(crate) fn new(settings: &Settings, args: &ListArgs) -> Result<Self, Failure> {
        let format = format(args.format, settings.json)?;
        let is_text = format == Format::Text;
        let needs =
            |flag, format| Err(Failure::usage(format!("{flag} goes with --format {format}")));
        if args.human_readable && !is_text {
            return needs("--human-readable", "text");
        }
        if args.no_header && !matches!(format, Format::Csv | Format::Tsv) {
            return needs("--no-header", "csv or tsv");
        }
        if !args.fields.is_empty() && matches!(format, Format::Text | Format::Keys | Format::Events)
        {
            return needs("--fields", "jsonl, csv, tsv or parquet");
        }
        Ok(Self {
            listing: ListingSettings::new(settings, &args.listing, "list")?,
            sort: args.sort,
            versions: args.versions,
            format,
            fields: fields(&args.fields, args.versions)?,
            header: !args.no_header,
            output_file: args.output_file.clone(),
            human_readable: args.human_readable,
            summarize: args.summarize,
        })
    }
}

fn format(choice: Option<FormatChoice>, json: bool) -> Result<Format, Failure> {
    match choice {
        Some(_) if json => Err(Failure::usage(
            "--json prints events and goes with no --format: use --format jsonl for rows",
        )),
        None if json => Ok(Format::Events),
        None | Some(FormatChoice::Text) => Ok(Format::Text),
        Some(FormatChoice::Jsonl) => Ok(Format::Jsonl),
        Some(FormatChoice::Csv) => Ok(Format::Csv),
        Some(FormatChoice::Tsv) => Ok(Format::Tsv),
        Some(FormatChoice::Parquet) => Ok(Format::Parquet),
        Some(FormatChoice::Keys) => Ok(Format::Keys),
    }
}

/// The columns with these names, or the usual ones where there are none.
fn fields(names: &[String], versions: bool) -> Result<Vec<Field>, Failure> {
    if names.is_empty() {
        let usual = if versions { &Field::OF_VERSIONS[..] } else { &Field::OF_OBJECTS[..] };
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
            return Err(Failure::usage(format!("--fields: `{name}` goes with --versions")));
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
        let ObjectName { bucket, key } = address(&args.path)?;
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

fn bucket_address(path: &str, command: &str) -> Result<ObjectName, Failure> {
    let object = address(path)?;
    if !s3_uri::is_s3(path) || object.bucket.is_empty() {
        return Err(invalid_argument_type(command, "<S3Uri>"));
    }
    Ok(object)
}
