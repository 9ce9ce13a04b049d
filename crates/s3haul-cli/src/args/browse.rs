//! `browse`.

use std::path::PathBuf;

use clap::Args;

use super::RequestArgs;

/// Shows a prefix on the whole terminal.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct BrowseArgs {
    /// A bucket or prefix, or a file with a listing: what `list` writes, an inventory's
    /// `manifest.json`, or any file that --from takes.
    #[arg(value_name = "S3Uri|FILE")]
    pub(crate) path: String,
    /// Take the prices of plans from this JSON file instead of those of the region.
    /// docs/prices.md has its fields.
    #[arg(long, alias = "price-table", value_name = "FILE")]
    pub(crate) prices: Option<PathBuf>,
    /// Requests.
    #[command(flatten)]
    pub(crate) requests: RequestArgs,
}
