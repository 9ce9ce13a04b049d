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
    /// Begin a job that any number of workers do together, on this machine and on others.
    ///
    /// Cuts the source of the job into shards and writes the job into a folder that all workers
    /// reach: a prefix of a bucket whose service has conditional writes, or a shared directory.
    /// Nothing is done yet: each `s3haul worker --job FOLDER` takes shards until all are done.
    /// docs/cluster.md describes it. The flags about services are those of the folder; the job says
    /// what its own are.
    Start(JobStartArgs),
}

/// Begins a job that workers do.
#[derive(Clone, Debug, Args)]
pub(crate) struct JobStartArgs {
    /// The file of the job, as --print-job writes it. `-` is standard input.
    #[arg(value_name = "FILE")]
    pub(crate) file: String,
    /// The folder of the job: a prefix such as `s3://ops/jobs/a`, or a directory. It must not have
    /// a job yet.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) at: String,
    /// Cut the source into this many shards at most. Those that turn out to be too large are cut
    /// again while they run.
    #[arg(long, value_name = "COUNT", default_value_t = 64)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) shards: u32,
    /// Seconds after which a shard ends and leaves the rest to others.
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0, value_parser = seconds)]
    pub(crate) budget: f64,
    /// Seconds after which a worker that gives no sign of life is taken for dead.
    #[arg(long, value_name = "SECONDS", default_value_t = 30.0, value_parser = seconds)]
    pub(crate) lease: f64,
    /// The file is a plan, as --plan writes it: the workers do what it says. They find it where it
    /// is now.
    #[arg(long)]
    pub(crate) apply: bool,
    /// Where the folder has the same job already, go on with it: nothing is cut anew.
    #[arg(long)]
    pub(crate) resume: bool,
}

/// A number of seconds that a shard or a lease may have.
fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if (0.1..=86_400.0).contains(&seconds) => Ok(seconds),
        _ => Err("a number of seconds from 0.1 to 86400".to_owned()),
    }
}

/// Does shards of a job.
#[derive(Clone, Debug, Args)]
pub(crate) struct WorkerArgs {
    /// The folder of the job, as it was given to `s3haul job start --at`.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) job: String,
    /// Which of the workers this one is, from 0: each begins to look for work at another place.
    /// Schedulers have it in a variable such as `SLURM_ARRAY_TASK_ID` or
    /// `JOB_COMPLETION_INDEX`.
    #[arg(long, value_name = "INDEX", requires = "of")]
    pub(crate) shard: Option<u32>,
    /// How many workers there are.
    #[arg(long, value_name = "COUNT", requires = "shard")]
    pub(crate) of: Option<u32>,
    /// End after one shard, or once all are done. Where others run all that is left, end after a
    /// lease, in which a shard of a dead worker would have been taken over.
    #[arg(long)]
    pub(crate) once: bool,
}

/// Runs a job.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct JobRunArgs {
    /// The file of the job, or - for standard input.
    #[arg(value_name = "FILE")]
    pub(crate) file: String,
    /// Have the nodes of a Ray cluster do the job: its address, such as `auto` or
    /// `ray://head:10001`.
    /// Takes the Python package with its extra `ray`; docs/cluster.md describes it.
    #[arg(long, value_name = "ADDRESS", requires = "at", conflicts_with = "JournalArgs")]
    pub(crate) ray: Option<String>,
    /// With --ray: the folder of the job, which all nodes reach. Where it has the same job already,
    /// the rest of that is done.
    #[arg(long, value_name = "FOLDER", requires = "ray")]
    pub(crate) at: Option<String>,
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
