//! `summarize`, also called `du`.

use std::path::PathBuf;

use clap::Args;
use s3haul::job::value::SummaryFormat;

use super::ListingArgs;

/// Counts what is under an address: objects and bytes by folder, storage class, extension, age and
/// size, the largest, newest and oldest objects, and keys that other tools cannot handle.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct SummarizeArgs {
    /// What to list.
    #[command(flatten)]
    pub(crate) listing: ListingArgs,
    /// Count folders to this depth; 0 leaves them out.
    #[arg(long, short = 'd', value_name = "LEVELS", default_value_t = 1)]
    #[arg(value_parser = clap::value_parser!(u32).range(0..=64))]
    pub(crate) depth: u32,
    /// Show this many folders, extensions and single objects.
    #[arg(long, value_name = "ROWS", default_value_t = 10)]
    #[arg(value_parser = clap::value_parser!(u32).range(0..=1000))]
    pub(crate) top: u32,
    /// Write tables and bars (text), one JSON document (json) or one table (csv).
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) format: Option<SummaryFormat>,
    /// Also count incomplete multipart uploads and the bytes of their parts, which takes a request
    /// for each. Only keys that the address, --include and --exclude select count.
    #[arg(long)]
    pub(crate) uploads: bool,
    /// Count all versions and delete markers instead of only the current objects.
    #[arg(long, alias = "all-versions")]
    pub(crate) versions: bool,
    /// Write to this file instead of standard output, once the listing is complete.
    #[arg(long, value_name = "FILE")]
    pub(crate) output_file: Option<PathBuf>,
    /// Also write a page to look at to this file: a map of all folders, histograms, and what costs
    /// money. It needs no network; docs/html.md says what is on it.
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Show on the page what changed since this summary, which --format json wrote; may be given
    /// for several.
    #[arg(long, value_name = "FILE", requires = "html")]
    pub(crate) since: Vec<PathBuf>,
    /// Take the prices of the page from this JSON file instead of those of the region.
    /// docs/prices.md has its fields.
    #[arg(long, value_name = "FILE", requires = "html")]
    pub(crate) prices: Option<PathBuf>,
    /// Accepted because other tools have it: sizes are always readable, and exact in the other
    /// formats.
    #[arg(long, short = 'H', alias = "humanize", hide = true)]
    pub(crate) human_readable: bool,
    /// Accepted because other tools have it: storage classes are always shown.
    #[arg(long, short = 'g', hide = true)]
    pub(crate) group: bool,
}
