//! What to list: the address and flags of all commands that go through the keys of a bucket.

use clap::Args;

use super::{ConditionArgs, FilterArgs, PrintJobArgs, RequestArgs};

/// Which objects, and how they are listed.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ListingArgs {
    /// Bucket or bucket and prefix, `s3://BUCKET/PREFIX`. It may hold * and ?, which match any
    /// characters. The s3:// may be left out.
    #[arg(value_name = "S3Uri")]
    pub(crate) path: String,
    /// Only keys after this one.
    #[arg(long, value_name = "KEY")]
    pub(crate) start_after: Option<String>,
    /// Only keys up to and including this one; empty: to the last key.
    #[arg(long, value_name = "KEY")]
    pub(crate) stop_at: Option<String>,
    /// Patterns.
    #[command(flatten)]
    pub(crate) filters: FilterArgs,
    /// Conditions.
    #[command(flatten)]
    pub(crate) conditions: ConditionArgs,
    /// Select only objects for which this JavaScript function returns true: `js:(key, object) => …`
    /// or `js:({Key, Size, LastModified, ETag, StorageClass}) => …`, or keys that match `js:/…/`.
    #[arg(long, value_name = "SCRIPT")]
    pub(crate) filter: Option<String>,
    /// Send at most this many requests at a time; by default 64, or `max_concurrent_requests` where
    /// that is lower.
    #[arg(long, value_name = "REQUESTS")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) concurrency: Option<u32>,
    /// List one page after the other, as `aws s3` does.
    #[arg(long, conflicts_with = "concurrency")]
    pub(crate) serial: bool,
    /// Requests.
    #[command(flatten)]
    pub(crate) requests: RequestArgs,
    /// Treat * and ? in the address literally, not as patterns.
    #[arg(long)]
    pub(crate) raw: bool,
    /// Job.
    #[command(flatten)]
    pub(crate) print: PrintJobArgs,
}
