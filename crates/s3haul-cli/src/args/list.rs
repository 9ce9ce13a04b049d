//! `ls` and `list`.

use std::path::PathBuf;

use clap::Args;
use s3haul::job::value::ListFormat;

use super::{ConditionArgs, FilterArgs, ListingArgs, PrintJobArgs, RequestArgs};

/// Lists buckets, or the objects and common prefixes under an address. Addresses may hold * and
/// ?, which match any characters.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct LsArgs {
    /// What to list; all buckets if omitted. The s3:// may be left out.
    #[arg(value_name = "S3Uri")]
    pub(crate) path: Option<String>,
    /// List all objects under the address, with their whole keys.
    #[arg(long)]
    pub(crate) recursive: bool,
    /// Print sizes as KiB, MiB and so on.
    #[arg(long)]
    pub(crate) human_readable: bool,
    /// Print the number of objects and their total size at the end.
    #[arg(long)]
    pub(crate) summarize: bool,
    /// Requests.
    #[command(flatten)]
    pub(crate) requests: RequestArgs,
    /// Patterns; they are about objects, and folders are shown all the same.
    #[command(flatten)]
    pub(crate) filters: FilterArgs,
    /// Conditions.
    #[command(flatten)]
    pub(crate) conditions: ConditionArgs,
    /// Select only objects for which this JavaScript function returns true: `js:(key, object) =>
    /// …`, or keys that match `js:/…/`. Folders are shown all the same, also with other conditions.
    #[arg(long, value_name = "SCRIPT")]
    pub(crate) filter: Option<String>,
    /// List only buckets whose names start with this.
    #[arg(long, value_name = "PREFIX")]
    pub(crate) bucket_name_prefix: Option<String>,
    /// List only buckets of this region.
    #[arg(long, value_name = "REGION")]
    pub(crate) bucket_region: Option<String>,
    /// Treat * and ? in the address literally, not as patterns.
    #[arg(long)]
    pub(crate) raw: bool,
    /// Job.
    #[command(flatten)]
    pub(crate) print: PrintJobArgs,
}

/// Order, columns and place of what is listed.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct TableArgs {
    /// Print in the order of the keys instead of the order of arrival.
    #[arg(long)]
    pub(crate) sort: bool,
    /// Columns of jsonl, csv, tsv and parquet, in this order: of `key`, `size`, `last_modified`,
    /// `etag`, `storage_class`, `bucket`, and of versions `version_id`, `is_latest` and
    /// `is_delete_marker`. Times are UTC.
    #[arg(long, value_name = "NAMES", value_delimiter = ',', num_args = 1)]
    pub(crate) fields: Vec<String>,
    /// Leave out the header line of csv and tsv.
    #[arg(long)]
    pub(crate) no_header: bool,
    /// Write to this file, which is replaced when the listing is complete. (--output is a flag of
    /// the AWS tools with another meaning.)
    #[arg(long, value_name = "FILE")]
    pub(crate) output_file: Option<PathBuf>,
}

/// Lists all objects under an address with many requests in flight.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ListArgs {
    /// What to list.
    #[command(flatten)]
    pub(crate) listing: ListingArgs,
    /// List all versions and delete markers. In text a line has two marks and the version id
    /// before the key: L for the latest version, D for a delete marker.
    #[arg(long)]
    pub(crate) versions: bool,
    /// Print in this format.
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) format: Option<ListFormat>,
    /// Table.
    #[command(flatten)]
    pub(crate) table: TableArgs,
    /// Print sizes as KiB, MiB and so on.
    #[arg(long)]
    pub(crate) human_readable: bool,
    /// Print the number of objects and their total size at the end; with any format but text, on
    /// standard error.
    #[arg(long)]
    pub(crate) summarize: bool,
}
