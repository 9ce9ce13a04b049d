//! `ls`.

use clap::Args;

/// Lists buckets, or the objects and common prefixes under an address. Addresses may hold * and
/// ?, which match any characters.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct LsArgs {
    /// What to list; all buckets where absent. The s3:// may be left out.
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
    /// Ask for this many keys a page, at most 1,000.
    #[arg(long, value_name = "KEYS", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) page_size: Option<u32>,
    /// Accept being charged for requests to buckets whose owner lets requesters pay.
    #[arg(long, num_args = 0..=1, default_missing_value = "requester", value_name = "WHO")]
    #[arg(value_parser = ["requester"])]
    pub(crate) request_payer: Option<String>,
    /// List only buckets whose names start so.
    #[arg(long, value_name = "PREFIX")]
    pub(crate) bucket_name_prefix: Option<String>,
    /// List only buckets of this region.
    #[arg(long, value_name = "REGION")]
    pub(crate) bucket_region: Option<String>,
    /// Take * and ? in the address for the characters themselves.
    #[arg(long)]
    pub(crate) raw: bool,
}
