//! Commands that only read, and their options.

use std::num::NonZeroU32;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::{Moment, Select, is_default, is_true};
use crate::plan::content::Depth;
use crate::plan::filter::FilterRule;

/// Objects under an address, and how they are listed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Listing {
    /// An address `s3://bucket/prefix`, which may hold * and ?.
    pub source: String,
    /// Only keys after this one.
    #[serde(default, skip_serializing_if = "is_default")]
    pub start_after: Option<String>,
    /// Only keys up to this one, itself included.
    #[serde(default, skip_serializing_if = "is_default")]
    pub stop_at: Option<String>,
    /// Which objects are taken.
    #[serde(default, skip_serializing_if = "is_default")]
    pub select: Select,
    /// Requests in flight.
    #[serde(default, skip_serializing_if = "is_default")]
    pub concurrency: Option<NonZeroU32>,
    /// One page is listed after the other.
    #[serde(default, skip_serializing_if = "is_default")]
    pub serial: bool,
}

/// Lists objects or versions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ListTask {
    /// What is listed.
    pub listing: Listing,
    /// All versions and delete markers are listed.
    #[serde(default, skip_serializing_if = "is_default")]
    pub versions: bool,
    /// The command is `find`: addresses are printed, of objects that also meet these conditions.
    #[serde(default, skip_serializing_if = "is_default")]
    pub find: Option<Find>,
    /// They are printed in the order of their keys.
    #[serde(default, skip_serializing_if = "is_default")]
    pub sort: bool,
    /// The format.
    #[serde(default, skip_serializing_if = "is_default")]
    pub format: Option<ListFormat>,
    /// Columns, for formats that have some: see `--fields`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub fields: Vec<String>,
    /// The names of the columns come first, in formats that have them.
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    pub header: bool,
    /// The file that is written instead of standard output.
    #[serde(default, skip_serializing_if = "is_default")]
    pub output_file: Option<PathBuf>,
    /// Sizes are printed as KiB and so on.
    #[serde(default, skip_serializing_if = "is_default")]
    pub human_readable: bool,
    /// The number of objects and their size are printed at the end.
    #[serde(default, skip_serializing_if = "is_default")]
    pub summarize: bool,
}

impl Default for ListTask {
    fn default() -> Self {
        Self {
            listing: Listing::default(),
            versions: false,
            find: None,
            sort: false,
            format: None,
            fields: Vec::new(),
            header: true,
            output_file: None,
            human_readable: false,
            summarize: false,
        }
    }
}

/// Conditions of `find` beside those of [`Select`]. All have to hold.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Find {
    /// Patterns, one of which has to match what follows the last slash of the key.
    #[serde(skip_serializing_if = "is_default")]
    pub names: Vec<String>,
    /// Tags in the form `KEY` or `KEY=VALUE`.
    #[serde(skip_serializing_if = "is_default")]
    pub tags: Vec<String>,
    /// Metadata in the form `KEY` or `KEY=VALUE`.
    #[serde(skip_serializing_if = "is_default")]
    pub metadata: Vec<String>,
}

/// How a list of objects is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum ListFormat {
    /// The lines of `aws s3 ls --recursive`; those of find are addresses, with --versions followed
    /// by a tab and the version id. find puts the address of a key with a line break into quotes,
    /// as a JSON string.
    Text,
    /// A JSON object a line.
    Jsonl,
    /// Comma-separated values after RFC 4180.
    Csv,
    /// Tab-separated values; tabs, line breaks and backslashes in a text are escaped by a
    /// backslash.
    Tsv,
    /// Apache Parquet.
    Parquet,
    /// Keys, one a line; an address where a key would be read as something else.
    Keys,
}

/// Counts what is under an address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SummarizeTask {
    /// What is listed.
    pub listing: Listing,
    /// Folders are counted to this depth.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub depth: u32,
    /// Rows of rankings.
    #[serde(default = "ten", skip_serializing_if = "is_ten")]
    pub top: u32,
    /// The format.
    #[serde(default, skip_serializing_if = "is_default")]
    pub format: Option<SummaryFormat>,
    /// Incomplete multipart uploads are counted, too.
    #[serde(default, skip_serializing_if = "is_default")]
    pub uploads: bool,
    /// All versions and delete markers are counted.
    #[serde(default, skip_serializing_if = "is_default")]
    pub versions: bool,
    /// The file that is written instead of standard output.
    #[serde(default, skip_serializing_if = "is_default")]
    pub output_file: Option<PathBuf>,
    /// A page that is written beside the output.
    #[serde(default, skip_serializing_if = "is_default")]
    pub html: Option<PathBuf>,
    /// Earlier summaries as JSON that the page compares with.
    #[serde(default, skip_serializing_if = "is_default")]
    pub since: Vec<PathBuf>,
    /// Prices of the page instead of those that are built in.
    #[serde(default, skip_serializing_if = "is_default")]
    pub prices: Option<PathBuf>,
}

impl Default for SummarizeTask {
    fn default() -> Self {
        Self {
            listing: Listing::default(),
            depth: one(),
            top: ten(),
            format: None,
            uploads: false,
            versions: false,
            output_file: None,
            html: None,
            since: Vec::new(),
            prices: None,
        }
    }
}

/// How a summary is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum SummaryFormat {
    /// Tables and bars.
    Text,
    /// One JSON document.
    Json,
    /// One table with a column that names the section.
    Csv,
}

/// Reports where two trees differ, or proves that they hold the same bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CompareTask {
    /// A path or an address `s3://bucket/prefix`.
    pub source: String,
    /// A path or an address `s3://bucket/prefix`.
    pub target: String,
    /// How far the comparison goes. That of `verify` is `proof`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub depth: Depth,
    /// Another modification time, in whole seconds, is a difference.
    #[serde(default, skip_serializing_if = "is_default")]
    pub times: bool,
    /// Patterns in the order in which they count: the last one that matches a name decides.
    #[serde(default, skip_serializing_if = "is_default")]
    pub filters: Vec<FilterRule>,
    /// Keys in a page of a listing.
    #[serde(default, skip_serializing_if = "is_default")]
    pub page_size: Option<NonZeroU32>,
    /// Symbolic links are followed.
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    pub follow_symlinks: bool,
    /// What is shown.
    #[serde(default = "differences", skip_serializing_if = "is_differences")]
    pub show: Vec<Shown>,
    /// The format.
    #[serde(default, skip_serializing_if = "is_default")]
    pub format: Option<RowFormat>,
    /// The names of the columns come first, in formats that have them.
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    pub header: bool,
    /// The file that is written instead of standard output.
    #[serde(default, skip_serializing_if = "is_default")]
    pub output_file: Option<PathBuf>,
    /// A page that is written beside the output.
    #[serde(default, skip_serializing_if = "is_default")]
    pub html: Option<PathBuf>,
}

impl Default for CompareTask {
    fn default() -> Self {
        Self {
            source: String::new(),
            target: String::new(),
            depth: Depth::default(),
            times: false,
            filters: Vec::new(),
            page_size: None,
            follow_symlinks: true,
            show: differences(),
            format: None,
            header: true,
            output_file: None,
            html: None,
        }
    }
}

/// What is shown of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Shown {
    /// Only the source has it.
    OnlySource,
    /// Only the target has it.
    OnlyTarget,
    /// Both have it, and it differs.
    Different,
    /// Both have the same.
    Same,
}

/// How rows are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum RowFormat {
    /// Lines for people.
    #[default]
    Text,
    /// A JSON object a line.
    Jsonl,
    /// Comma-separated values after RFC 4180.
    Csv,
}

/// Prints what JavaScript functions make of objects.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MapTask {
    /// What is listed.
    pub listing: Listing,
    /// Called with each object.
    #[serde(default, skip_serializing_if = "is_default")]
    pub map: Option<String>,
    /// Joins two results into one.
    #[serde(default, skip_serializing_if = "is_default")]
    pub reduce: Option<String>,
    /// Called with the last result.
    #[serde(default, skip_serializing_if = "is_default")]
    pub finally: Option<String>,
    /// Printed where there is no result.
    #[serde(default, skip_serializing_if = "is_default")]
    pub default: Option<String>,
    /// Objects come in the order of their keys.
    #[serde(default, skip_serializing_if = "is_default")]
    pub sort: bool,
}

/// Calls a JavaScript function for each object.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct EachTask {
    /// What is listed.
    pub listing: Listing,
    /// Called with each object.
    #[serde(default, skip_serializing_if = "is_default")]
    pub each: Option<String>,
    /// Called with the objects of each page.
    #[serde(default, skip_serializing_if = "is_default")]
    pub map_list: Option<String>,
    /// Objects come in the order of their keys.
    #[serde(default, skip_serializing_if = "is_default")]
    pub sort: bool,
}

/// Lists buckets, or the objects and common prefixes under an address, as `aws s3 ls` does.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LsTask {
    /// An address `s3://bucket/prefix`, which may hold * and ?; all buckets where it is empty.
    #[serde(skip_serializing_if = "is_default")]
    pub source: String,
    /// All objects under the address are listed, with their whole keys.
    #[serde(skip_serializing_if = "is_default")]
    pub recursive: bool,
    /// Sizes are printed as KiB and so on.
    #[serde(skip_serializing_if = "is_default")]
    pub human_readable: bool,
    /// The number of objects and their size are printed at the end.
    #[serde(skip_serializing_if = "is_default")]
    pub summarize: bool,
    /// Which objects are listed; folders are all.
    #[serde(skip_serializing_if = "is_default")]
    pub select: Select,
    /// Only buckets whose names start with this.
    #[serde(skip_serializing_if = "is_default")]
    pub bucket_name_prefix: Option<String>,
    /// Only buckets of this region.
    #[serde(skip_serializing_if = "is_default")]
    pub bucket_region: Option<String>,
}

/// Lists the buckets of an account, and counts what is in them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ListBucketsTask {
    /// Only buckets whose names start with this.
    #[serde(skip_serializing_if = "is_default")]
    pub bucket_name_prefix: Option<String>,
    /// Only buckets of this region.
    #[serde(skip_serializing_if = "is_default")]
    pub bucket_region: Option<String>,
    /// Objects and bytes are counted.
    #[serde(skip_serializing_if = "is_default")]
    pub count: bool,
    /// The format.
    #[serde(skip_serializing_if = "is_default")]
    pub format: Option<RowFormat>,
    /// Requests in flight.
    #[serde(skip_serializing_if = "is_default")]
    pub concurrency: Option<NonZeroU32>,
}

/// Lists or aborts incomplete multipart uploads.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct UploadsTask {
    /// An address `s3://bucket/prefix`.
    pub source: String,
    /// What is done with each.
    #[serde(default, skip_serializing_if = "is_default")]
    pub action: UploadsAction,
    /// Only uploads that began at this moment or before.
    #[serde(default, skip_serializing_if = "is_default")]
    pub begun_until: Option<Moment>,
    /// Nothing is aborted: what would be done is printed.
    #[serde(default, skip_serializing_if = "is_default")]
    pub dry_run: bool,
}

/// What is done with incomplete multipart uploads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum UploadsAction {
    /// They are listed.
    #[default]
    List,
    /// They are listed with the number and bytes of their parts.
    Measure,
    /// They are aborted, and their parts are gone.
    Abort,
}

fn yes() -> bool {
    true
}

fn one() -> u32 {
    1
}

fn ten() -> u32 {
    10
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_one(value: &u32) -> bool {
    *value == one()
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_ten(value: &u32) -> bool {
    *value == ten()
}

fn differences() -> Vec<Shown> {
    vec![Shown::OnlySource, Shown::OnlyTarget, Shown::Different]
}

fn is_differences(shown: &[Shown]) -> bool {
    shown == differences()
}
