//! `plan` and `apply`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::jobs::JournalArgs;
use super::requests::OutputArgs;

/// What to do with plans.
#[derive(Debug, Subcommand)]
pub(crate) enum PlanCommand {
    /// Sum up a plan: actions, bytes, requests and their price, the largest objects, and deletions
    /// by folder.
    Show(PlanShowArgs),
    /// The command that is planned, with --plan FILE.
    #[command(external_subcommand)]
    Of(Vec<OsString>),
}

/// Sums up a plan.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct PlanShowArgs {
    /// The file of the plan.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Take prices from this JSON file instead of those of --region, or of us-east-1.
    /// docs/prices.md has its fields.
    #[arg(long, alias = "price-table", value_name = "FILE")]
    pub(crate) prices: Option<PathBuf>,
    /// Also write a page to look at to this file; docs/html.md says what is on it.
    #[arg(long, value_name = "FILE", conflicts_with = "format")]
    pub(crate) html: Option<PathBuf>,
    /// Print the objects of the plan in another form instead.
    #[arg(long, value_enum)]
    pub(crate) format: Option<PlanFormat>,
}

/// What else a plan can be printed as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PlanFormat {
    /// The manifest of a job of S3 Batch Operations: bucket, key and version, as CSV.
    S3Batch,
}

/// Does what a plan says.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ApplyArgs {
    /// The file of the plan.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Write what became of every object to this file. docs/reports.md has the fields.
    #[arg(long, value_name = "FILE")]
    #[arg(help_heading = "Reports")]
    pub(crate) report: Option<PathBuf>,
    /// Printing.
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    /// Journal.
    #[command(flatten)]
    pub(crate) journal: JournalArgs,
}
