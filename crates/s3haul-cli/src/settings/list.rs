//! `ls` and `list`.

use std::path::PathBuf;

use s3haul::location::ObjectName;
use s3haul::plan::wildcard::Wildcard;
use s3haul_wire::ClientConfig;

use super::script;
use super::{FindSettings, ListingSettings, Selection, Settings};
use crate::args::{FormatChoice, ListArgs, LsArgs, TableArgs};
use crate::failure::Failure;
use crate::render::listing::{Field, Format};
use crate::settings::check::address;

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
