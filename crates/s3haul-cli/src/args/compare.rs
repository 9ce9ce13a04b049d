//! `compare` and `verify`.

use std::path::PathBuf;

use clap::Args;
use s3haul::job::value::{RowFormat, Shown};

use super::{CustomerKeyArgs, FilterArgs, PrintJobArgs, RequestArgs, Secret, SidesArgs};

/// What `compare` and `verify` have in common.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct TreesArgs {
    /// Source: a folder, `s3://BUCKET` or `s3://BUCKET/PREFIX`.
    #[arg(value_name = "SOURCE")]
    pub(crate) source: String,
    /// Target, of either kind.
    #[arg(value_name = "TARGET")]
    pub(crate) target: String,
    /// Filters.
    #[command(flatten)]
    pub(crate) filters: FilterArgs,
    /// Treat a different modification time, in whole seconds, as a difference.
    #[arg(long)]
    pub(crate) times: bool,
    /// Show what only the source has, what only the target has, what differs, or what is the same;
    /// separate several with commas.
    #[arg(long, value_enum, value_name = "WHAT", value_delimiter = ',', num_args = 1)]
    #[arg(default_value = "only-source,only-target,different")]
    pub(crate) show: Vec<Shown>,
    /// Print in this format; with any format but text, the totals go to standard error.
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) format: Option<RowFormat>,
    /// Leave out the header line of csv.
    #[arg(long)]
    pub(crate) no_header: bool,
    /// Write to this file, which is replaced when the comparison is complete. (--output is a flag
    /// of the AWS tools with another meaning.)
    #[arg(long, value_name = "FILE")]
    pub(crate) output_file: Option<PathBuf>,
    /// Also write a page to look at to this file, with what differs where; docs/html.md says what
    /// is on it.
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Do not follow symbolic links.
    #[arg(long)]
    pub(crate) no_follow_symlinks: bool,
    /// Requests.
    #[command(flatten)]
    pub(crate) requests: RequestArgs,
    /// Encryption: the key of the target, and of the source where the target is a folder.
    #[command(flatten)]
    pub(crate) customer_key: CustomerKeyArgs,
    /// Decrypt the source with the key of --sse-c-copy-source-key where both sides are in S3.
    /// AES256 is the only method.
    #[arg(long, num_args = 0..=1, default_missing_value = "AES256", value_name = "METHOD")]
    #[arg(value_parser = ["AES256"], help_heading = "Encryption with your own key")]
    pub(crate) sse_c_copy_source: Option<String>,
    /// The key for --sse-c-copy-source.
    #[arg(long, value_name = "KEY", help_heading = "Encryption with your own key")]
    pub(crate) sse_c_copy_source_key: Option<Secret>,
    /// Two places.
    #[command(flatten)]
    pub(crate) sides: SidesArgs,
    /// Job.
    #[command(flatten)]
    pub(crate) print: PrintJobArgs,
}

/// Reports where two trees differ.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct CompareArgs {
    /// What to compare.
    #[command(flatten)]
    pub(crate) trees: TreesArgs,
    /// Compare sizes only, not `ETag`s.
    #[arg(long, conflicts_with = "checksum")]
    pub(crate) size_only: bool,
    /// Where sizes are equal, compare content: by stored checksums and `ETag`s, or by reading the
    /// data where these are not enough.
    #[arg(long)]
    pub(crate) checksum: bool,
}

/// Proves that two trees hold the same bytes.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct VerifyArgs {
    /// What to compare.
    #[command(flatten)]
    pub(crate) trees: TreesArgs,
}
