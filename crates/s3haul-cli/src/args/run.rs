//! `run`.

use std::path::PathBuf;

use clap::Args;

/// Runs the commands of a file.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct RunArgs {
    /// The file of commands, or - for standard input.
    #[arg(value_name = "FILE")]
    pub(crate) file: String,
    /// Run at most this many commands at once. By default 64, or `max_concurrent_requests` where
    /// that is lower; never more than 128, or fewer where the address space is limited.
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) jobs: Option<u16>,
    /// Only check the commands and print them.
    #[arg(long)]
    pub(crate) dryrun: bool,
    /// Start no more commands once one has failed; those that run go on to their end.
    #[arg(long)]
    pub(crate) stop_on_error: bool,
    /// Write what became of every command to this file: CSV when its name ends in .csv, else one
    /// JSON object a line.
    #[arg(long, value_name = "FILE", help_heading = "Reports", conflicts_with = "dryrun")]
    pub(crate) report: Option<PathBuf>,
    /// Only run the commands that failed according to this report of the same file.
    #[arg(long, value_name = "FILE", help_heading = "Reports")]
    pub(crate) retry_failed: Option<PathBuf>,
}
