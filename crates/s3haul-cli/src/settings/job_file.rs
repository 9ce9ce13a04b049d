//! `job run`: the job of a file.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use s3haul::job::value::{
    Job, OutputLines, Reports, RestoreAction, TagAction, Task, UploadsAction,
};
use s3haul::plan::paths::directory_text;
use s3haul::plan::s3_uri;

use super::frame::Keys;
use super::job::lines;
use super::{JobRequest, Settings};
use crate::args::{ApplyArgs, GlobalArgs, JobRunArgs};
use crate::failure::Failure;
use crate::printer::LostLines;
use crate::standard_streams;

/// Longest file of a job.
const JOB_BYTES_MAX: u64 = 16 * 1024 * 1024;

impl JobRequest {
    /// For `job run`. The flags of all commands only add to what is printed.
    pub(crate) fn file(global: &GlobalArgs, args: &JobRunArgs) -> Result<Self, Failure> {
        refuse_flags(global, "job run")?;
        refuse_limits(global)?;
        Self::of_file(global, &args.file)
    }

    /// For the file of a job, or `-`.
    pub(crate) fn of_file(global: &GlobalArgs, file: &str) -> Result<Self, Failure> {
        let request = Self::of_text(global, &read(file)?, &format!("`{file}`"))?;
        if file == "-" && reads_input(&request.job.task) {
            return Err(Failure::usage(
                "the job reads standard input, where the job itself is read from: put it into a \
                 file",
            ));
        }
        Ok(request)
    }

    /// For the JSON of a job, which errors call by this name.
    pub(crate) fn of_text(global: &GlobalArgs, text: &[u8], name: &str) -> Result<Self, Failure> {
        let mut job = Job::from_json(text)
            .map_err(|error| Failure::usage(format!("{name} cannot be run: {error}")))?;
        job.output.json |= global.json;
        job.output.progress &= !global.hides_progress();
        Ok(Self { job, keys: Keys::default() })
    }

    /// For `jobs resume`: the job of a journal, within the limits that the flags give.
    pub(crate) fn resumed(
        settings: &Settings,
        global: &GlobalArgs,
        text: &str,
    ) -> Result<Self, Failure> {
        refuse_flags(global, "jobs resume")?;
        Self::within(settings, global, text)
    }

    /// For a worker: the job of a folder, within the limits that the flags give. What they say of a
    /// service is about the folder. A line is printed for each shard instead of each object.
    pub(crate) fn shared(
        settings: &Settings,
        global: &GlobalArgs,
        text: &str,
    ) -> Result<Self, Failure> {
        let mut request = Self::within(settings, global, text)?;
        (request.job.output.progress, request.job.output.json) = (false, false);
        if request.job.output.lines == OutputLines::All {
            request.job.output.lines = OutputLines::Errors;
        }
        Ok(request)
    }

    /// A job that was written down, within the limits that the flags of a command give.
    fn within(settings: &Settings, global: &GlobalArgs, text: &str) -> Result<Self, Failure> {
        let mut job = Job::from_json(text.as_bytes())
            .map_err(|error| Failure::other(format!("the job cannot be read: {error}")))?;
        let (given, limits) = (&settings.limits, &mut job.limits);
        if global.max_concurrent_requests.is_some() {
            limits.max_concurrent_requests = given.max_concurrent_requests;
        }
        if global.max_requests_per_second.is_some() {
            limits.max_requests_per_second = given.max_requests_per_second;
        }
        if global.max_memory.is_some() {
            limits.max_memory = given.max_memory;
        }
        if global.max_bandwidth.is_some() {
            limits.max_bandwidth = given.max_bandwidth;
        }
        job.output.json |= global.json;
        job.output.progress &= !global.hides_progress();
        Ok(Self { job, keys: Keys::default() })
    }

    /// For `apply`: the job of a plan, within the limits that the flags give.
    pub(crate) fn applied(
        settings: &Settings,
        global: &GlobalArgs,
        args: &ApplyArgs,
        text: &str,
    ) -> Result<Self, Failure> {
        refuse_flags(global, "apply")?;
        let mut request = Self::within(settings, global, text)?;
        // What is printed is said by the flags, or else by the planned command.
        match lines(&args.output) {
            OutputLines::All => {}
            fewer => request.job.output.lines = fewer,
        }
        let report = args.report.clone();
        request.job.reports =
            Reports { apply: Some(absolute(&args.file)), report, ..Reports::default() };
        Ok(request)
    }

    /// For `job start --apply`: the job of a plan.
    pub(crate) fn of_plan(global: &GlobalArgs, file: &Path, text: &str) -> Result<Self, Failure> {
        let name = format!("the job of the plan `{}`", file.display());
        let mut request = Self::of_text(global, text.as_bytes(), &name)?;
        let apply = Some(absolute(file));
        request.job.reports = Reports { apply, ..Reports::default() };
        Ok(request)
    }

    /// The job as a plan has it: what it names is found from any folder, and it can be done. `by`
    /// is what it is written for.
    pub(crate) fn planned(&self, by: &str) -> Result<String, Failure> {
        let mut planned = Self { job: self.job.clone(), keys: self.keys.clone() };
        let apply = self.job.reports.apply.as_deref().map(absolute);
        planned.job.reports = Reports { apply, ..Reports::default() };
        let directory = std::env::current_dir().unwrap_or_default();
        for path in planned.job.task.paths_mut() {
            directory_text(&directory, [path.as_str()])
                .map_err(|error| Failure::other(error.message))?;
            if s3_uri::is_s3(path) {
                continue;
            }
            let is_folder = path.ends_with('/');
            *path = absolute(Path::new(path)).to_string_lossy().into_owned();
            if is_folder && !path.ends_with('/') {
                path.push('/');
            }
        }
        planned.print(by)
    }

    /// What it means that the lines of the job are lost.
    pub(crate) fn lost_lines(&self) -> LostLines {
        let Job { task, output, .. } = &self.job;
        let only_repeats = match task {
            Task::MakeBucket(_) | Task::RemoveBucket(_) => return LostLines::FailAsAws,
            Task::Tag(task) => !matches!(task.action, TagAction::Get { .. }),
            Task::Restore(task) => task.action != RestoreAction::Status,
            Task::Uploads(task) => task.action == UploadsAction::Abort,
            Task::Versioning(task) => task.keep.is_some(),
            task => task.is_transfer(),
        };
        if only_repeats && !task.is_dry_run() && !output.json {
            return LostLines::Warn;
        }
        LostLines::Fail
    }

    /// Whether a certificate is not verified.
    pub(crate) fn is_unverified(&self) -> bool {
        let services = &self.job.services;
        !(services.source.verify_tls && services.target.verify_tls)
    }
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

fn read(file: &str) -> Result<Vec<u8>, Failure> {
    let fail = |error| Failure::other(format!("could not read `{file}`: {error}"));
    let stream: Box<dyn std::io::Read> = match file {
        "-" => standard_streams::input(),
        path => Box::new(std::fs::File::open(path).map_err(fail)?),
    };
    let mut text = Vec::new();
    let read = stream.take(JOB_BYTES_MAX + 1).read_to_end(&mut text).map_err(fail)?;
    if read as u64 > JOB_BYTES_MAX {
        return Err(Failure::usage(format!("`{file}` is too long for a job")));
    }
    Ok(text)
}

/// Whether standard input is a part of the job.
fn reads_input(task: &Task) -> bool {
    let is_stream = matches!(task, Task::Copy(task) if task.source == "-");
    is_stream || task.manifest().is_some_and(|from| from.file == "-")
}

/// Refuses flags whose place is the job.
fn refuse_flags(global: &GlobalArgs, command: &str) -> Result<(), Failure> {
    let given = [
        ("--profile", global.profile.is_some()),
        ("--region", global.region.is_some()),
        ("--endpoint-url", global.endpoint_url.is_some()),
        ("--no-sign-request", global.no_sign_request),
        ("--no-verify-ssl", global.no_verify_ssl),
        ("--ca-bundle", global.ca_bundle.is_some()),
        ("--cli-read-timeout", global.cli_read_timeout.is_some()),
        ("--cli-connect-timeout", global.cli_connect_timeout.is_some()),
    ];
    refuse(&given, command)
}

/// Refuses flags of limits, which `jobs resume` takes.
fn refuse_limits(global: &GlobalArgs) -> Result<(), Failure> {
    let given = [
        ("--max-concurrent-requests", global.max_concurrent_requests.is_some()),
        ("--max-requests-per-second", global.max_requests_per_second.is_some()),
        ("--max-memory", global.max_memory.is_some()),
        ("--max-bandwidth", global.max_bandwidth.is_some()),
    ];
    refuse(&given, "job run")
}

fn refuse(given: &[(&str, bool)], command: &str) -> Result<(), Failure> {
    match given.iter().find(|(_, is_given)| *is_given) {
        None => Ok(()),
        Some((flag, _)) => Err(Failure::usage(format!(
            "{flag} cannot be used with `{command}`: the job itself says so; change it there"
        ))),
    }
}
