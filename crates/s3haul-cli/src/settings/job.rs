//! Flags into a [`Job`], and the file of one.

use std::num::NonZeroU32;

use jiff::Timestamp;
use s3haul::job::value::{
    Compare, CopyTask, Job, ManifestFile, Moment, MoveTask, Objects, Output, OutputLines,
    RemoveBucketTask, RemoveTask, RemovedVersions, Reports, Select, Service, Services, SyncTask,
    Task, TransferOptions, UndeleteTask,
};
use s3haul::job::{CaseConflict, CopyProps, MetadataDirective};
use s3haul::plan::s3_uri;
use s3haul_wire::units::local_zone;

use super::Settings;
use super::conditions::{as_of, moments_and_sizes, second};
use super::frame::{self, Frame, Keys, Machine};
use super::object::{copy_write_options, customer_key, key_pair};
use super::sides::SideSettings;
use crate::args::{
    ConditionArgs, CopyArgs, CpArgs, FilterArgs, FromArgs, MvArgs, ObjectsArgs, OutputArgs,
    PipeArgs, RemovedVersionsArgs, ReportArgs, RequestArgs, RmArgs, SidesArgs, SyncArgs,
    UndeleteArgs,
};
use crate::env_vars;
use crate::failure::Failure;
use crate::settings::check::invalid_argument_type;

/// A job that flags ask for, with what it does not hold.
#[derive(Debug)]
pub(crate) struct JobRequest {
    /// The job.
    pub(crate) job: Job,
    /// Keys for SSE-C.
    pub(super) keys: Keys,
}

impl JobRequest {
    /// For `cp`.
    pub(crate) fn cp(settings: &Settings, args: &CpArgs) -> Result<Self, Failure> {
        let copy = &args.copy;
        let task = CopyTask {
            source: copy.paths[0].clone(),
            target: copy.paths[1].clone(),
            recursive: args.recursive,
            dry_run: copy.dryrun,
            from: manifest(&args.from),
            select: of_copy(copy, args.scripts.filter.as_deref(), copy.raw)?,
            to_key: args.scripts.to_key.clone(),
            as_of: as_of(&args.as_of)?,
            expected_size: args.expected_size,
            transfer: transfer(copy)?,
            write: copy_write_options(&copy.object)?,
        };
        Self::copying(settings, copy, Task::Copy(Box::new(task)))
    }

    /// For `mv`.
    pub(crate) fn mv(settings: &Settings, args: &MvArgs) -> Result<Self, Failure> {
        let copy = &args.copy;
        let variable = env_vars::AWS_CLI_S3_MV_VALIDATE_SAME_S3_PATHS;
        let task = MoveTask {
            source: copy.paths[0].clone(),
            target: copy.paths[1].clone(),
            recursive: args.recursive,
            dry_run: copy.dryrun,
            from: manifest(&args.from),
            select: of_copy(copy, args.scripts.filter.as_deref(), copy.raw)?,
            to_key: args.scripts.to_key.clone(),
            validate_same_s3_paths: args.validate_same_s3_paths
                || settings.environment.is_true(variable),
            transfer: transfer(copy)?,
            write: copy_write_options(&copy.object)?,
        };
        Self::copying(settings, copy, Task::Move(Box::new(task)))
    }

    /// For `sync`.
    pub(crate) fn sync(settings: &Settings, args: &SyncArgs) -> Result<Self, Failure> {
        let copy = &args.copy;
        let task = SyncTask {
            source: copy.paths[0].clone(),
            target: copy.paths[1].clone(),
            dry_run: copy.dryrun,
            compare: compare(args),
            delete: args.delete,
            max_delete: args.max_delete.clone(),
            allow_empty_source: args.allow_empty_source,
            // A sync has no patterns in its paths.
            select: of_copy(copy, args.filter.as_deref(), false)?,
            to_key: args.to_key.clone(),
            as_of: as_of(&args.as_of)?,
            transfer: transfer(copy)?,
            write: copy_write_options(&copy.object)?,
        };
        Self::copying(settings, copy, Task::Sync(Box::new(task)))
    }

    /// For `rm`.
    pub(crate) fn rm(settings: &Settings, args: &RmArgs) -> Result<Self, Failure> {
        let task = RemoveTask {
            versions: removed_versions(&args.versions),
            bypass_governance: args.versions.bypass_governance,
            max_delete: args.guard.max_delete.clone(),
            yes: args.guard.yes,
            ..objects(&args.objects)?.into()
        };
        Ok(Self::in_place(settings, &args.objects, Task::Remove(Box::new(task))))
    }

    /// For `undelete`.
    pub(crate) fn undelete(settings: &Settings, args: &UndeleteArgs) -> Result<Self, Failure> {
        let since = args.since.as_deref();
        let since = second("--since", since, Timestamp::now(), &local_zone())?;
        let since = since.map(Moment::from_seconds);
        let task = UndeleteTask { since, ..objects(&args.objects)?.into() };
        Ok(Self::in_place(settings, &args.objects, Task::Undelete(Box::new(task))))
    }

    /// The removal of all objects by `rb --force`.
    pub(super) fn emptying(&self, task: &RemoveBucketTask) -> Self {
        let task = RemoveTask {
            source: task.bucket.clone(),
            recursive: true,
            select: Select { raw: true, ..Select::default() },
            versions: task.versions.then_some(RemovedVersions::All),
            // --force confirms the removal of objects, not that of versions.
            yes: task.yes || !task.versions,
            ..RemoveTask::default()
        };
        let (task, reports) = (Task::Remove(Box::new(task)), Reports::default());
        let job = Job { task, reports, ..self.job.clone() };
        Self { job, keys: Keys::default() }
    }

    /// For `pipe`: `cp` from standard input.
    pub(crate) fn pipe(settings: &Settings, args: &PipeArgs) -> Result<Self, Failure> {
        if !s3_uri::is_s3(&args.path) {
            return Err(invalid_argument_type("pipe", "<S3Uri>"));
        }
        let task = CopyTask {
            source: "-".to_owned(),
            target: args.path.clone(),
            expected_size: args.expected_size,
            transfer: TransferOptions {
                no_overwrite: args.no_overwrite,
                ..TransferOptions::default()
            },
            write: copy_write_options(&args.object)?,
            ..CopyTask::default()
        };
        let request_payer = args.payer.is_requester();
        let target = Service { request_payer, ..settings.service.clone() };
        let services = Services { target, ..Services::default() };
        let lines = if args.quiet { OutputLines::None } else { OutputLines::All };
        let output = frame::output(settings, lines);
        let request = Self::plain(settings, services, output, Task::Copy(Box::new(task)));
        let keys = Keys { target: customer_key(&args.customer_key)?, source: None };
        Ok(Self { keys, ..request })
    }

    /// A command on objects where they are.
    pub(super) fn in_place(settings: &Settings, args: &ObjectsArgs, task: Task) -> Self {
        let request_payer = args.requests.payer.is_requester();
        let source = Service { request_payer, ..settings.service.clone() };
        let services = Services { source, ..Services::default() };
        let output = frame::output(settings, lines(&args.output));
        let mut request = Self::plain(settings, services, output, task);
        request.job.reports = reports(&args.report);
        request
    }

    /// A command on one service that transfers nothing.
    pub(super) fn reading(settings: &Settings, request_payer: bool, task: Task) -> Self {
        let source = Service { request_payer, ..settings.service.clone() };
        let services = Services { source, ..Services::default() };
        Self::plain(settings, services, frame::output(settings, OutputLines::All), task)
    }

    /// What the job has beside its task, where all objects are in one place.
    pub(crate) fn frame(&self, machine: &Machine) -> Result<Frame, Failure> {
        Frame::of_job(&self.job, self.keys.clone(), machine, (true, false))
    }

    /// A command without reports and keys.
    pub(super) fn plain(
        settings: &Settings,
        services: Services,
        output: Output,
        task: Task,
    ) -> Self {
        let limits = settings.limits.clone();
        Self { job: Job { services, limits, output, ..Job::new(task) }, keys: Keys::default() }
    }

    /// What `cp`, `mv` and `sync` have in common.
    fn copying(settings: &Settings, args: &CopyArgs, task: Task) -> Result<Self, Failure> {
        let source_method = args.sse_c_copy_source.as_deref();
        let source_key = args.sse_c_copy_source_key.as_ref();
        let keys = Keys {
            target: customer_key(&args.customer_key)?,
            source: key_pair("--sse-c-copy-source", source_method, source_key)?,
        };
        let output = Output {
            progress_multiline: args.progress_multiline,
            progress_frequency_s: args.progress_frequency,
            ..frame::output(settings, lines(&args.output))
        };
        let job = Job {
            services: services(settings, args)?,
            limits: settings.limits.clone(),
            output,
            reports: reports(&args.report),
            ..Job::new(task)
        };
        Ok(Self { job, keys })
    }

    /// Whether there is a key for SSE-C.
    pub(super) fn has_keys(&self) -> bool {
        self.keys.target.is_some() || self.keys.source.is_some()
    }

    /// The job as JSON, for a flag.
    pub(crate) fn print(&self, flag: &str) -> Result<String, Failure> {
        let keys =
            [(&self.keys.target, "--sse-c-key"), (&self.keys.source, "--sse-c-copy-source-key")];
        if let Some((_, key)) = keys.iter().find(|(key, _)| key.is_some()) {
            return Err(Failure::usage(format!(
                "{flag} cannot be used with {key}: a job holds no secrets, and could not be \
                 run without this key"
            )));
        }
        self.job.to_json().map_err(|error| Failure::usage(format!("{flag}: {error}")))
    }
}

/// The services of both sides; that of a local side is not in a job.
fn services(settings: &Settings, args: &CopyArgs) -> Result<Services, Failure> {
    let is_remote = [&args.paths[0], &args.paths[1]].map(|path| s3_uri::is_s3(path));
    let is_stream = args.paths.iter().any(|path| path == "-");
    // In the AWS tools, too, it is for copies and nothing to others.
    let source_region = args.sides.source_region.clone().filter(|_| is_remote == [true, true]);
    let sides = SidesArgs { source_region, ..args.sides.clone() };
    // A stream counts as either.
    let has_objects =
        if is_remote == [false, false] || is_stream { [true, true] } else { is_remote };
    let services = two_services(settings, &sides, &args.requests, has_objects)?;
    let in_s3 = |service, is_remote| if is_remote { service } else { Service::default() };
    Ok(Services {
        source: in_s3(services.source, is_remote[0]),
        target: in_s3(services.target, is_remote[1]),
    })
}

/// The services of sides that are in S3 or not.
pub(super) fn two_services(
    settings: &Settings,
    sides: &SidesArgs,
    requests: &RequestArgs,
    has_objects: [bool; 2],
) -> Result<Services, Failure> {
    let sides = SideSettings::new(settings, sides, has_objects.into())?;
    Ok(sides.services(&settings.service, requests.payer.is_requester()))
}

fn of_copy(args: &CopyArgs, script: Option<&str>, raw: bool) -> Result<Select, Failure> {
    select(&args.filters, &args.conditions, script, (raw, &args.requests))
}

/// Which objects commands work on where they are.
pub(super) fn objects(args: &ObjectsArgs) -> Result<Objects, Failure> {
    let listing = (args.raw, &args.requests);
    Ok(Objects {
        source: args.path.clone(),
        recursive: args.recursive,
        dry_run: args.dryrun,
        from: manifest(&args.from),
        select: select(&args.filters, &args.conditions, args.filter.as_deref(), listing)?,
    })
}

/// Which objects are taken.
pub(super) fn select(
    filters: &FilterArgs,
    conditions: &ConditionArgs,
    script: Option<&str>,
    (raw, requests): (bool, &RequestArgs),
) -> Result<Select, Failure> {
    Ok(Select {
        filters: filters.rules.clone(),
        script: script.map(str::to_owned),
        raw,
        page_size: requests.page_size.and_then(NonZeroU32::new),
        ..moments_and_sizes(conditions)?
    })
}

/// Where objects are named.
fn manifest(args: &FromArgs) -> Option<ManifestFile> {
    let file = args.from.clone()?;
    Some(ManifestFile { file, format: args.from_format })
}

/// Which lines are printed.
pub(super) fn lines(args: &OutputArgs) -> OutputLines {
    match (args.quiet, args.only_show_errors) {
        (true, _) => OutputLines::None,
        (false, true) => OutputLines::Errors,
        (false, false) => OutputLines::All,
    }
}

/// Reports.
fn reports(args: &ReportArgs) -> Reports {
    Reports {
        report: args.report.clone(),
        retry_failed: args.retry_failed.clone(),
        plan: args.plan.clone(),
        apply: None,
        estimate: args.estimate,
        prices: args.prices.clone(),
    }
}

fn transfer(args: &CopyArgs) -> Result<TransferOptions, Failure> {
    let directive = args.metadata_directive.as_deref();
    Ok(TransferOptions {
        no_overwrite: args.no_overwrite,
        follow_symlinks: !args.no_follow_symlinks,
        preserve: args.preserve,
        stream: args.stream,
        force_glacier_transfer: args.force_glacier_transfer,
        ignore_glacier_warnings: args.ignore_glacier_warnings,
        checksum_mode: args.checksum_mode.is_some(),
        metadata_directive: directive.map(|name| match name {
            "REPLACE" => MetadataDirective::Replace,
            _ => MetadataDirective::Copy,
        }),
        copy_props: copy_props(args.copy_props.as_deref())?,
        case_conflict: match args.case_conflict.as_deref() {
            Some("skip") => CaseConflict::Skip,
            Some("warn") => CaseConflict::Warn,
            Some("error") => CaseConflict::Error,
            _ => CaseConflict::Ignore,
        },
    })
}

fn copy_props(name: Option<&str>) -> Result<CopyProps, Failure> {
    match name {
        None | Some("default") => Ok(CopyProps::Default),
        Some("none") => Ok(CopyProps::None),
        Some("metadata-directive") => Ok(CopyProps::MetadataDirective),
        Some(other) => Err(Failure::usage(format!(
            "--copy-props {other} is not supported yet: use none, metadata-directive or default"
        ))),
    }
}

/// Of several that are asked for, the last here counts.
fn compare(args: &SyncArgs) -> Compare {
    let asked = [
        (args.newer, Compare::Newer),
        (args.size_only, Compare::SizeOnly),
        (args.exact_timestamps, Compare::ExactTimestamps),
        (args.checksum, Compare::Checksum),
    ];
    asked.into_iter().rfind(|(given, _)| *given).map(|(_, compare)| compare).unwrap_or_default()
}

fn removed_versions(args: &RemovedVersionsArgs) -> Option<RemovedVersions> {
    if args.delete_markers_only {
        return Some(RemovedVersions::DeleteMarkers);
    }
    if args.noncurrent {
        return Some(RemovedVersions::Noncurrent { keep: args.keep.unwrap_or(0) });
    }
    args.versions.then_some(RemovedVersions::All)
}
