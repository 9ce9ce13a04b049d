//! `run`.

use std::path::PathBuf;

use s3haul::job::Tuning;
use s3haul_wire::controller::Bounds;

use super::report::is_same;
use super::{Environment, Settings};
use crate::args::{GlobalArgs, RunArgs};
use crate::failure::Failure;
use crate::memory;
use crate::report::is_parquet;

/// Threads for blocking work that a line may hold as long as it runs, as the walk of its source
/// does.
const THREADS_OF_LINE: usize = 4;

/// `run`.
#[derive(Debug)]
pub(crate) struct RunSettings {
    /// The file of commands; none for standard input.
    pub(crate) file: Option<PathBuf>,
    /// Commands at once.
    pub(crate) jobs: usize,
    /// Only check.
    pub(crate) dry_run: bool,
    /// Start nothing more after a failure.
    pub(crate) stop_on_error: bool,
    /// Where the report goes.
    pub(crate) report: Option<PathBuf>,
    /// The report whose failures are run again.
    pub(crate) retry: Option<PathBuf>,
    /// JSON output.
    pub(crate) json: bool,
    /// Limits of all commands together.
    pub(crate) tuning: Tuning,
    /// The file of their metrics.
    pub(crate) metrics_file: Option<PathBuf>,
    /// Bounds of their requests.
    pub(crate) load: Bounds,
    /// Flags of all commands, for those of the file.
    pub(crate) global: GlobalArgs,
    /// The environment, for the settings of the commands.
    pub(crate) environment: Environment,
}

impl RunSettings {
    /// From flags.
    pub(crate) fn new(settings: Settings, args: &RunArgs) -> Result<Self, Failure> {
        let working_dir = std::env::current_dir().map_err(|error| {
            Failure::other(format!("cannot determine the working directory: {error}"))
        })?;
        let file = (args.file != "-").then(|| working_dir.join(&args.file));
        let [report, retry] = [&args.report, &args.retry_failed]
            .map(|path| path.as_deref().map(|path| working_dir.join(path)));
        if let Some(report) = &report
            && [&retry, &file].into_iter().flatten().any(|read| is_same(read, report))
        {
            return Err(Failure::usage(
                "--report would overwrite a file that is read: give it another one",
            ));
        }
        let metrics = settings.metrics_file.as_deref().map(|path| working_dir.join(path));
        if let Some(metrics) = &metrics
            && [&report, &retry, &file].into_iter().flatten().any(|own| is_same(own, metrics))
        {
            return Err(Failure::usage(
                "--metrics-file would overwrite a file that `run` has in use: give it another one",
            ));
        }
        if report.as_deref().is_some_and(is_parquet) {
            let message = "`run` writes its report as JSON lines or CSV: give it another name";
            return Err(Failure::usage(message));
        }
        let Settings { client, tuning, json, environment, global, metrics_file, .. } = settings;
        // Bars of several commands would overwrite each other.
        // Metrics are those of all commands together.
        let global = GlobalArgs {
            no_progress: true,
            progress: None,
            metrics_listen: None,
            metrics_file: None,
            otlp_endpoint: None,
            label: Vec::new(),
            ..global
        };
        let jobs = args.jobs.map_or(tuning.requests_at_once(), usize::from);
        let jobs = jobs.min(memory::blocking_threads() / THREADS_OF_LINE).max(1);
        let (dry_run, stop_on_error) = (args.dryrun, args.stop_on_error);
        Ok(Self {
            file,
            jobs,
            dry_run,
            stop_on_error,
            report,
            retry,
            json,
            tuning,
            metrics_file,
            load: client.load,
            global,
            environment,
        })
    }

    /// How the file is called in a report.
    pub(crate) fn source(&self) -> String {
        self.file.as_ref().map_or_else(|| "-".to_owned(), |file| file.display().to_string())
    }
}
