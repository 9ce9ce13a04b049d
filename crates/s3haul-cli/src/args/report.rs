//! Reports of what became of every object.

use std::path::PathBuf;

use clap::Args;

/// `--report` and what belongs to it.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ReportArgs {
    /// Write what became of every object to this file: CSV when its name ends in .csv, Parquet, a
    /// folder of parts, when it ends in .parquet, else one JSON object a line. docs/reports.md has
    /// the fields.
    #[arg(long, value_name = "FILE")]
    #[arg(help_heading = "Reports")]
    pub(crate) report: Option<PathBuf>,
    /// Repeat only what failed according to this report of the same command, without a listing. May
    /// be combined with --report to another file.
    #[arg(long, value_name = "FILE")]
    #[arg(help_heading = "Reports")]
    pub(crate) retry_failed: Option<PathBuf>,
    /// Do nothing, and write everything that would be done to this Parquet file, with what was
    /// found of both sides. `s3haul plan show` sums it up, `s3haul apply` does it; docs/plans.md
    /// has its columns.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["report", "retry_failed", "estimate"])]
    #[arg(help_heading = "Reports")]
    pub(crate) plan: Option<PathBuf>,
    /// Print what --dryrun estimates, the requests and their price, to standard error even if that
    /// is not a terminal.
    #[arg(long, requires = "dryrun")]
    #[arg(help_heading = "Reports")]
    pub(crate) estimate: bool,
    /// Estimate the price for --dryrun with this JSON file instead of the prices of the region.
    /// docs/prices.md has its fields.
    #[arg(long, alias = "price-table", value_name = "FILE")]
    #[arg(help_heading = "Reports")]
    pub(crate) prices: Option<PathBuf>,
}
