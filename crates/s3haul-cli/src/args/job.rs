//! `job run`, and the flag that writes jobs.

use clap::{Args, Subcommand};

use super::jobs::JournalArgs;

/// What to do with a job.
#[derive(Debug, Subcommand)]
pub(crate) enum JobCommand {
    /// Run the job of a file.
    ///
    /// The file is JSON, written by hand or by --print-job; docs/job.md describes it. Output, exit
    /// status and reports are those of the command that the job is of. Relative paths start from
    /// the working directory. Credentials are found where the job says, never in the job itself.
    Run(JobRunArgs),
}

/// Runs a job.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct JobRunArgs {
    /// The file of the job, or - for standard input.
    #[arg(value_name = "FILE")]
    pub(crate) file: String,
    /// Journal.
    #[command(flatten)]
    pub(crate) journal: JournalArgs,
}

/// Writes a job.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(crate) struct PrintJobArgs {
    /// Do nothing, and print the job that the flags and the configuration describe as JSON to
    /// standard output. `s3haul job run` runs it; docs/job.md describes it.
    #[arg(long)]
    pub(crate) print_job: bool,
}
