//! `list-buckets`.

use clap::Args;
use s3haul::job::value::RowFormat;

use super::PrintJobArgs;

/// Lists the buckets of the account with their regions, and on request what is in them.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ListBucketsArgs {
    /// List only buckets whose names start with this.
    #[arg(long, value_name = "PREFIX")]
    pub(crate) bucket_name_prefix: Option<String>,
    /// List only buckets of this region.
    #[arg(long, value_name = "REGION")]
    pub(crate) bucket_region: Option<String>,
    /// Count the objects and bytes of each bucket, by listing all of it.
    #[arg(long)]
    pub(crate) count: bool,
    /// Write columns (text), a JSON object a line (jsonl) or comma-separated values (csv).
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) format: Option<RowFormat>,
    /// Send at most this many requests at a time; by default what the profile
    /// sets, 64 at most.
    #[arg(long, value_name = "REQUESTS")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) concurrency: Option<u32>,
    /// Job.
    #[command(flatten)]
    pub(crate) print: PrintJobArgs,
}
