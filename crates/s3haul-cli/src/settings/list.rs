//! `ls` and `list`; and what is listed, by these and by all commands that go through the keys of a
//! bucket.

use std::num::NonZeroU32;
use std::sync::Arc;

use s3haul::job::FilterRule;
use s3haul::job::value::{ListFormat, ListTask, Listing, LsTask, Select, Task};
use s3haul::location::ObjectName;
use s3haul::plan::conditions::{Conditions, NameGlob};
use s3haul::plan::filter::{Filter, FilterRoots};
use s3haul::plan::wildcard::Wildcard;
use s3haul::script::Program;
use s3haul_list::{KeyRange, ListRequest, Order};
use s3haul_wire::ClientConfig;

use super::check::{address, concurrency, invalid_argument_type};
use super::conditions::of_select;
use super::frame::Frame;
use super::job::select;
use super::{FindSettings, JobRequest, Settings, script};
use crate::args::{ListArgs, ListingArgs, LsArgs, TableArgs};
use crate::failure::Failure;
use crate::open_files;
use crate::render::listing::{Entry, Field, Format};

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

/// What is listed, as a part of a job.
pub(super) fn of_args(args: &ListingArgs) -> Result<Listing, Failure> {
    let requests = (args.raw, &args.requests);
    Ok(Listing {
        source: args.path.clone(),
        start_after: args.start_after.clone(),
        stop_at: args.stop_at.clone(),
        select: select(&args.filters, &args.conditions, args.filter.as_deref(), requests)?,
        concurrency: args.concurrency.and_then(NonZeroU32::new),
        serial: args.serial,
    })
}

/// What to list and how.
#[derive(Clone, Debug)]
pub(crate) struct ListingSettings {
    /// Client.
    pub(crate) client: ClientConfig,
    /// Bucket.
    pub(crate) bucket: String,
    /// What all keys start with.
    pub(crate) prefix: String,
    /// Only keys in it.
    pub(crate) range: KeyRange,
    /// Which of the listed objects.
    pub(crate) selection: Selection,
    /// Requests in flight.
    pub(crate) concurrency: usize,
    /// One page after the other.
    pub(crate) is_serial: bool,
    /// Keys a page.
    pub(crate) page_size: Option<u32>,
    /// JSON output.
    pub(crate) json: bool,
}

impl ListingSettings {
    /// Of a job.
    pub(super) fn new(frame: Frame, listing: &Listing, command: &str) -> Result<Self, Failure> {
        let object = address(&listing.source)?;
        if object.bucket.is_empty() {
            return Err(invalid_argument_type(command, "<S3Uri>"));
        }
        let concurrency = match (listing.serial, concurrency(listing.concurrency)?) {
            (true, None) => 1,
            (false, Some(requests)) => requests,
            (false, None) => frame.tuning.requests_at_once(),
            (true, Some(_)) => {
                let text = "a listing is either serial or has a number of requests at a time";
                return Err(Failure::usage(text));
            }
        };
        let mut client = frame.client;
        let wanted = client.max_connections.max(concurrency);
        client.max_connections = open_files::connections_within(wanted);
        let selection = Selection::new(&object, &listing.select)?;
        Ok(Self {
            client,
            prefix: selection.prefix_of(&object).to_owned(),
            bucket: object.bucket,
            range: KeyRange {
                after: listing.start_after.clone().unwrap_or_default(),
                through: listing.stop_at.clone().filter(|key| !key.is_empty()),
            },
            selection,
            concurrency,
            is_serial: listing.serial,
            page_size: listing.select.page_size.map(NonZeroU32::get),
            json: frame.output.json,
        })
    }

    /// Whether the address names no key.
    pub(crate) fn is_whole_bucket(&self) -> bool {
        self.prefix.is_empty() && self.selection.wildcard.is_none()
    }

    /// Whether objects under the prefix are left out.
    pub(crate) fn is_selection(&self) -> bool {
        // `versions` of one key ends its listing at that.
        let ends_itself = self.range.after.is_empty()
            && self.range.through.as_deref() == Some(self.prefix.as_str());
        !self.selection.is_all() || (self.range != KeyRange::default() && !ends_itself)
    }

    /// In which order pages are worked on: what is listed serially stays in the server's order.
    pub(crate) fn work_order(&self, order: Order) -> Order {
        if self.is_serial { Order::Ascending } else { order }
    }

    /// The request to list it all.
    pub(crate) fn request(&self, order: Order) -> ListRequest {
        ListRequest {
            prefix: self.prefix.clone(),
            range: self.range.clone(),
            order,
            concurrency: self.concurrency,
            page_size: self.page_size,
            is_eager: !self.is_serial,
            is_serial: self.is_serial,
            ..ListRequest::default()
        }
    }
}

/// Which of the listed objects are wanted.
#[derive(Clone, Debug, Default)]
pub(crate) struct Selection {
    /// The address, where it has wildcards.
    pub(crate) wildcard: Option<Wildcard>,
    /// `--include` and `--exclude`.
    pub(crate) filter: Option<NameFilter>,
    /// Conditions, which are about the same names as these.
    pub(crate) conditions: Conditions,
    /// Length of what comes before them.
    pub(super) root_length: usize,
    /// `--filter`; what it says is not known here.
    pub(crate) script: Option<Program>,
}

impl Selection {
    /// Of the objects under an address.
    pub(super) fn new(object: &ObjectName, select: &Select) -> Result<Self, Failure> {
        Self::of(object, Wildcard::parse(&object.key), select)
    }

    /// Of the same with `--recursive`.
    pub(super) fn of_tree(object: &ObjectName, select: &Select) -> Result<Self, Failure> {
        Self::of(object, Wildcard::parse_tree(&object.key), select)
    }

    fn of(
        object: &ObjectName,
        wildcard: Option<Wildcard>,
        select: &Select,
    ) -> Result<Self, Failure> {
        let wildcard = wildcard.filter(|_| !select.raw);
        let prefix = wildcard.as_ref().map_or(object.key.as_str(), Wildcard::prefix);
        let root_length = prefix.rfind('/').map_or(0, |slash| slash + 1);
        let root = &prefix[..root_length];
        let filter = (!select.filters.is_empty())
            .then(|| NameFilter::new(&select.filters, &format!("{}/{root}", object.bucket)));
        let (conditions, script) = (of_select(select)?, script::filter(select.script.as_deref())?);
        Ok(Self { wildcard, filter, conditions, root_length, script })
    }

    /// What all selected keys start with.
    fn prefix_of<'a>(&'a self, object: &'a ObjectName) -> &'a str {
        self.wildcard.as_ref().map_or(object.key.as_str(), Wildcard::prefix)
    }

    /// Whether nothing is left out.
    pub(crate) fn is_all(&self) -> bool {
        self.wildcard.is_none()
            && self.filter.is_none()
            && self.conditions.is_empty()
            && self.script.is_none()
    }

    /// Whether an object is selected, as far as the listing shows.
    pub(crate) fn includes(&self, entry: &Entry<'_>) -> bool {
        let key = entry.object.key;
        self.includes_name(key) && self.conditions.takes(self.name_of(key), &entry.facts())
    }

    /// Whether the address and `--include` and `--exclude` select a key.
    pub(crate) fn includes_name(&self, key: &str) -> bool {
        self.wildcard.as_ref().is_none_or(|wildcard| wildcard.matches(key))
            && self.filter.as_ref().is_none_or(|filter| filter.includes(self.name_of(key)))
    }

    fn name_of<'k>(&self, key: &'k str) -> &'k str {
        key.get(self.root_length..).unwrap_or(key)
    }
}

/// `--include` and `--exclude`. Patterns are about what follows the last slash of the listed
/// prefix.
#[derive(Clone, Debug)]
pub(crate) struct NameFilter(Arc<Filter>);

impl NameFilter {
    fn new(rules: &[FilterRule], root: &str) -> Self {
        let roots = FilterRoots { source: root.to_owned(), target: root.to_owned() };
        Self(Arc::new(Filter::new(rules, &roots, root)))
    }

    fn includes(&self, name: &str) -> bool {
        self.0.includes(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use s3haul_wire::ops::ListedObject;

    fn selection(key: &str, filters: &[(bool, &str)], select: &Select) -> Selection {
        let rule = |(include, pattern): &(bool, &str)| {
            let rule = if *include { FilterRule::Include } else { FilterRule::Exclude };
            rule((*pattern).into())
        };
        let filters = filters.iter().map(rule).collect();
        Selection::new(&ObjectName::new("b", key), &Select { filters, ..select.clone() }).unwrap()
    }

    fn includes(selection: &Selection, key: &str, size: u64) -> bool {
        let object = ListedObject { key, size, ..ListedObject::default() };
        selection.includes(&Entry::from(object))
    }

    #[test]
    fn patterns_are_about_what_follows_the_last_slash_of_the_prefix() {
        let rules = [(false, "*"), (true, "lo*.gz")];
        let regex = Select { regex: vec!["^lo".to_owned()], ..Select::default() };
        for (filters, conditions) in [(&rules[..], &Select::default()), (&[], &regex)] {
            let below = selection("data/lo", filters, conditions);
            assert!(includes(&below, "data/logs/x.gz", 1));
            assert!(!includes(&below, "data/x.txt", 1));
            let whole = selection("", filters, conditions);
            assert!(includes(&whole, "logs/x.gz", 1) && !includes(&whole, "data/logs/x.gz", 1));
        }
    }

    #[test]
    fn all_rules_must_agree() {
        let none = Select::default();
        let sized = Select { min_size: Some(2), ..none.clone() };
        assert!(Selection::default().is_all() && selection("k", &[], &none).is_all());
        assert!(!selection("a*z", &[], &none).is_all() && !selection("", &[], &sized).is_all());
        let both = selection("a*z", &[(false, "*y*")], &sized);
        assert!(includes(&both, "a/z", 2) && !includes(&both, "a/z", 1));
        assert!(!includes(&both, "a/yz", 2) && !includes(&both, "a/x", 2));
    }
}
