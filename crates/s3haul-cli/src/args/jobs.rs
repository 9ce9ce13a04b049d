//! Journals: the flags of commands that keep one, and `jobs`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// Flags of commands that keep a journal.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct JournalArgs {
    /// Keep a journal in this folder, and from the beginning on. Default folder:
    /// `S3HAUL_JOURNAL_DIR`, else s3haul/jobs in `XDG_STATE_HOME` or ~/.local/state.
    #[arg(long, value_name = "DIR")]
    #[arg(help_heading = "Journal")]
    pub(crate) journal: Option<PathBuf>,
    /// Keep no journal. Without this flag one is kept once the command has run for two seconds or
    /// done 1,000 objects, so that `s3haul jobs resume` can go on with it if it is interrupted.
    #[arg(long, conflicts_with = "journal")]
    #[arg(help_heading = "Journal")]
    pub(crate) no_journal: bool,
    /// Go on where the last interrupted run of the same command ended; where there is none, begin.
    #[arg(long)]
    #[arg(help_heading = "Journal")]
    pub(crate) resume: bool,
}

impl JournalArgs {
    /// No journal.
    pub(crate) const NONE: Self = Self { journal: None, no_journal: true, resume: false };
}

/// What to do with jobs.
#[derive(Debug, Subcommand)]
pub(crate) enum JobsCommand {
    /// List the jobs that have a journal, the newest first.
    Ls(JobsArgs),
    /// Show how far a job got, and what failed.
    Show(JobShowArgs),
    /// Go on with a job that was interrupted or killed, or try again what failed of it.
    ///
    /// What is finished is neither listed nor compared nor transferred again; what has changed in
    /// it since is left to the next run of the command. Relative paths start from where the job was
    /// started. Output and exit status are those of its command.
    Resume(JobArgs),
    /// Show the progress of a job that another process runs, until it ends: on the whole terminal,
    /// or as lines where there is none, with --json or with --no-progress.
    Watch(JobArgs),
    /// Remove journals: those of complete jobs after a week, all after 60 days, or those named.
    Prune(PruneArgs),
}

/// Which journals.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct JobsArgs {
    /// Folder of the journals. Default: `S3HAUL_JOURNAL_DIR`, else s3haul/jobs in
    /// `XDG_STATE_HOME` or ~/.local/state.
    #[arg(long, value_name = "DIR")]
    pub(crate) journal: Option<PathBuf>,
}

/// Which job.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct JobArgs {
    /// The job, as `s3haul jobs ls` names it. One that workers do is named by its folder.
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// Folder.
    #[command(flatten)]
    pub(crate) folder: JobsArgs,
}

/// Which job, and where it is shown.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct JobShowArgs {
    /// The job.
    #[command(flatten)]
    pub(crate) job: JobArgs,
    /// Also write a page to look at to this file; docs/html.md says what is on it.
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
}

/// Which journals are removed.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct PruneArgs {
    /// Jobs whose journals are removed.
    #[arg(value_name = "ID")]
    pub(crate) ids: Vec<String>,
    /// Remove the journals of all jobs that are not running.
    #[arg(long, conflicts_with = "ids")]
    pub(crate) all: bool,
    /// Folder.
    #[command(flatten)]
    pub(crate) folder: JobsArgs,
}
