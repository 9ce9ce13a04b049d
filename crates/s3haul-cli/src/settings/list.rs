//! `ls` and `list`.

use std::num::NonZeroU32;

use s3haul::job::value::{ListFormat, ListTask, LsTask, Task};
use s3haul::location::ObjectName;
use s3haul::plan::conditions::NameGlob;
use s3haul_wire::ClientConfig;

use super::frame::Frame;
use super::job::select;
use super::listing::of_args;
use super::{FindSettings, JobRequest, ListingSettings, Selection, Settings};
use crate::args::{ListArgs, ListingArgs, LsArgs, TableArgs};
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
    /// Requests in flight.
    pub(crate) concurrency: usize,
    /// The options.
    pub(crate) task: LsTask,
    /// Which of the listed objects.
    pub(crate) selection: Selection,
    /// JSON output.
    pub(crate) json: bool,
}

impl JobRequest {
    /// For `ls`.
    pub(crate) fn ls(settings: &Settings, args: &LsArgs) -> Result<Self, Failure> {
        let requests = (args.raw, &args.requests);
        let task = LsTask {
            source: args.path.clone().unwrap_or_default(),
            recursive: args.recursive,
            human_readable: args.human_readable,
            summarize: args.summarize,
            select: select(&args.filters, &args.conditions, args.filter.as_deref(), requests)?,
            bucket_name_prefix: args.bucket_name_prefix.clone(),
            bucket_region: args.bucket_region.clone(),
        };
        let request_payer = args.requests.payer.is_requester();
        Ok(Self::reading(settings, request_payer, Task::Ls(Box::new(task))))
    }

    /// For `list`.
    pub(crate) fn list(settings: &Settings, args: &ListArgs) -> Result<Self, Failure> {
        let task = ListTask {
            listing: of_args(&args.listing)?,
            versions: args.versions,
            find: None,
            format: args.format,
            human_readable: args.human_readable,
            summarize: args.summarize,
            ..of_table(&args.table)
        };
        Ok(Self::listing(settings, &args.listing, task))
    }

    /// For `list` and `find`.
    pub(super) fn listing(settings: &Settings, args: &ListingArgs, task: ListTask) -> Self {
        let request_payer = args.requests.payer.is_requester();
        Self::reading(settings, request_payer, Task::List(Box::new(task)))
    }
}

/// Order, columns and place.
pub(super) fn of_table(args: &TableArgs) -> ListTask {
    ListTask {
        sort: args.sort,
        fields: args.fields.clone(),
        header: !args.no_header,
        output_file: args.output_file.clone(),
        ..ListTask::default()
    }
}

impl LsSettings {
    /// Keys a page.
    pub(crate) fn page_size(&self) -> Option<u32> {
        self.task.select.page_size.map(NonZeroU32::get)
    }

    /// For a job.
    pub(crate) fn of_job(frame: Frame, task: &LsTask) -> Result<Self, Failure> {
        let object = address(&task.source)?;
        let selection = if task.recursive {
            Selection::of_tree(&object, &task.select)?
        } else {
            Selection::new(&object, &task.select)?
        };
        if object.bucket.is_empty() && !selection.is_all() {
            return Err(Failure::usage(
                "filters and conditions are about objects: name a bucket to list its objects",
            ));
        }
        Ok(Self {
            concurrency: frame.tuning.requests_at_once(),
            json: frame.output.json,
            client: frame.client,
            object,
            selection,
            task: task.clone(),
        })
    }
}

/// `list`, `versions` and `find`.
#[derive(Clone, Debug)]
pub(crate) struct ListSettings {
    /// What to list.
    pub(crate) listing: ListingSettings,
    /// The options.
    pub(crate) task: ListTask,
    /// Format.
    pub(crate) format: Format,
    /// Columns, for formats that have some.
    pub(crate) fields: Vec<Field>,
    /// What `find` has beside `list`.
    pub(crate) find: Option<FindSettings>,
}

impl ListSettings {
    /// For a job.
    pub(crate) fn of_job(frame: Frame, task: &ListTask) -> Result<Self, Failure> {
        let find = task.find.as_ref().map(|find| FindSettings::new(find, task)).transpose()?;
        let command = if find.is_some() { "find" } else { "list" };
        let format = format(task, frame.output.json)?;
        if task.human_readable && format != Format::Text {
            return Err(needs_format("--human-readable", "text"));
        }
        check_table(task, format)?;
        let mut listing = ListingSettings::new(frame, &task.listing, command)?;
        if let Some(find) = &task.find {
            let globs = find.names.iter().map(|name| NameGlob::new(name));
            listing.selection.conditions.names = globs.collect();
        }
        Ok(Self { listing, format, fields: fields(task)?, find, task: task.clone() })
    }
}

/// The format to print in: events with `--json`, else what was chosen, else text.
fn format(task: &ListTask, json: bool) -> Result<Format, Failure> {
    let text = if task.find.is_some() { Format::Addresses } else { Format::Text };
    Ok(match task.format {
        Some(_) if json => return Err(events_or_rows()),
        None if json => Format::Events,
        None | Some(ListFormat::Text) => text,
        Some(ListFormat::Jsonl) => Format::Jsonl,
        Some(ListFormat::Csv) => Format::Csv,
        Some(ListFormat::Tsv) => Format::Tsv,
        Some(ListFormat::Parquet) => Format::Parquet,
        Some(ListFormat::Keys) => Format::Keys,
    })
}

/// The error for `--json` beside `--format`.
pub(super) fn events_or_rows() -> Failure {
    Failure::usage(
        "--json prints events and cannot be combined with --format: use --format jsonl for rows",
    )
}

fn needs_format(flag: &str, format: &str) -> Failure {
    Failure::usage(format!("{flag} needs --format {format}"))
}

/// Refuses flags of tables beside formats that are none.
fn check_table(task: &ListTask, format: Format) -> Result<(), Failure> {
    use Format::{Csv, Jsonl, Parquet, Tsv};
    if !task.header && !matches!(format, Csv | Tsv) {
        return Err(needs_format("--no-header", "csv or tsv"));
    }
    if !task.fields.is_empty() && !matches!(format, Jsonl | Csv | Tsv | Parquet) {
        return Err(needs_format("--fields", "jsonl, csv, tsv or parquet"));
    }
    Ok(())
}

/// The columns; where none are named, the usual ones. What `find` finds is named by bucket and key.
fn fields(task: &ListTask) -> Result<Vec<Field>, Failure> {
    if task.fields.is_empty() {
        let bucket = task.find.is_some().then_some(Field::Bucket);
        let usual = if task.versions { &Field::OF_VERSIONS[..] } else { &Field::OF_OBJECTS[..] };
        return Ok(bucket.into_iter().chain(usual.iter().copied()).collect());
    }
    let mut fields = Vec::new();
    for name in &task.fields {
        let Some(field) = Field::ALL.into_iter().find(|field| field.name() == name) else {
            let known: Vec<&str> = Field::ALL.iter().map(|field| field.name()).collect();
            let known = known.join(", ");
            return Err(Failure::usage(format!("--fields: no field `{name}`; there are {known}")));
        };
        if field.is_of_versions() && !task.versions {
            return Err(Failure::usage(format!("--fields: `{name}` needs --versions")));
        }
        if fields.contains(&field) {
            return Err(Failure::usage(format!("--fields: `{name}` is there twice")));
        }
        fields.push(field);
    }
    Ok(fields)
}
