//! A job into a [`TransferSpec`] and clients.

use crate::settings::check::check_bucket;
use crate::settings::check::invalid_argument_type;
use crate::settings::check::refuse_json;
use std::num::NonZeroU32;

use s3haul::job::value::{
    Compare, CopyTask, MoveTask, Objects, Output, OutputLines, RemoveTask, Select, SyncTask, Task,
    TransferOptions, WriteOptions,
};
use s3haul::job::{
    CaseConflict, CopyProps, RemovalLimit, RestoreTask, Rule, SyncOptions, TagTask,
    TransferCommand, TransferSpec, Tuning,
};
use s3haul::plan::conditions::Conditions;
use s3haul::plan::content_type::KNOWN_FILES;
use s3haul::plan::paths::may_be_same_object;
use s3haul::plan::s3_uri;
use s3haul_wire::{ClientConfig, CustomerKey};

use super::conditions::of_select;
use super::frame::{Frame, Machine};
use super::journal::{self, absolute};
use super::named_files::NamedFiles;
use super::object::{checksum_algorithm, properties};
use super::report::refuse_inside;
use super::versions::{apply_as_of, check_manifest, removal_limit, rule_as_of};
use super::{
    Again, JobRequest, JournalSettings, ManifestSettings, PlanSettings, ReportSettings, script,
};
use crate::failure::Failure;
use crate::render::{AwsProgress, OutputSettings};
use crate::settings::check::address;

/// A transfer, ready to run.
#[derive(Debug)]
pub(crate) struct TransferSettings {
    /// The job.
    pub(crate) spec: TransferSpec,
    /// Client of the target, and of the source where that has none of its own.
    pub(crate) client: ClientConfig,
    /// Client of the source, where it differs.
    pub(crate) source_client: Option<ClientConfig>,
    /// Printing.
    pub(crate) output: OutputSettings,
    /// Reports.
    pub(crate) report: ReportSettings,
    /// Where the objects are named, if not by a listing.
    pub(crate) manifest: Option<ManifestSettings>,
    /// Warnings about the arguments, to be printed first.
    pub(crate) notices: Vec<String>,
    /// Question to be answered with yes on a terminal before anything is done.
    pub(crate) question: Option<String>,
    /// Its journal.
    pub(crate) journal: JournalSettings,
    /// How what failed is tried again.
    pub(crate) again: Again,
}

/// What copies, moves and syncs have in common.
#[derive(Clone, Copy, Debug)]
struct Copying<'a> {
    source: &'a str,
    target: &'a str,
    /// All below the source; for `sync`, this goes without saying.
    recursive: bool,
    dry_run: bool,
    select: &'a Select,
    transfer: &'a TransferOptions,
    write: &'a WriteOptions,
}

impl<'a> From<&'a CopyTask> for Copying<'a> {
    fn from(task: &'a CopyTask) -> Self {
        let CopyTask { source, target, dry_run, select, transfer, write, .. } = task;
        let recursive = task.recursive || task.from.is_some();
        Self { source, target, recursive, dry_run: *dry_run, select, transfer, write }
    }
}

impl<'a> From<&'a MoveTask> for Copying<'a> {
    fn from(task: &'a MoveTask) -> Self {
        let MoveTask { source, target, dry_run, select, transfer, write, .. } = task;
        let recursive = task.recursive || task.from.is_some();
        Self { source, target, recursive, dry_run: *dry_run, select, transfer, write }
    }
}

impl<'a> From<&'a SyncTask> for Copying<'a> {
    fn from(task: &'a SyncTask) -> Self {
        let SyncTask { source, target, dry_run, select, transfer, write, .. } = task;
        Self { source, target, recursive: false, dry_run: *dry_run, select, transfer, write }
    }
}

impl TransferSettings {
    /// What runs for a job: the only way to it, whether flags or a file asked for the job.
    pub(crate) fn of_job(request: &JobRequest, machine: &Machine) -> Result<Self, Failure> {
        let JobRequest { job, keys } = request;
        let frame = |source: &str, target: &str| {
            let has_objects = (s3_uri::is_s3(source), s3_uri::is_s3(target));
            Frame::of_job(job, keys.clone(), machine, has_objects)
        };
        let settings = match &job.task {
            Task::Copy(task) => Self::copy(frame(&task.source, &task.target)?, task),
            Task::Move(task) => Self::moving(frame(&task.source, &task.target)?, task),
            Task::Sync(task) => Self::sync(frame(&task.source, &task.target)?, task),
            Task::Remove(task) => Self::removal(frame(&task.source, "")?, task),
            Task::Undelete(task) => Self::undelete(frame(&task.source, "")?, task),
            Task::Tag(task) => Self::tag(frame(&task.source, "")?, task),
            Task::Set(task) => Self::set(frame(&task.source, "")?, task),
            Task::Restore(task) => Self::restore(frame(&task.source, "")?, task),
            _ => Err(Failure::usage("the job is not one that goes through objects one by one")),
        };
        let again = Again::new(request, machine);
        Self { again, ..settings? }.planned(request, machine)
    }

    /// The same where its plan is written, or done; overwrites none of its files.
    fn planned(mut self, request: &JobRequest, machine: &Machine) -> Result<Self, Failure> {
        // Without its list, the job would act on all that its source names.
        let is_listed = request.job.task.manifest().is_some();
        assert_eq!(self.manifest.is_some(), is_listed, "the list is lost");
        self.spec.journal_folder = journal::folder(&machine.environment).map(|it| absolute(&it));
        let reports = &request.job.reports;
        let is_stream = self.spec.source == "-" || self.spec.target.as_deref() == Some("-");
        if (reports.plan.is_some() || reports.apply.is_some()) && is_stream {
            return Err(Failure::usage("--plan cannot be used with standard input and output"));
        }
        if reports.apply.is_some() {
            // It was looked at, and names its objects as a manifest does.
            self.spec.recursive |= self.manifest.is_some();
            (self.manifest, self.question) = (None, None);
        }
        let files = NamedFiles::of(&request.job, &self.spec.working_dir);
        files.check()?;
        if let Some(path) = &machine.metrics_file {
            files.check_metrics(path, Some(&self.spec))?;
        }
        if let Some(path) = &reports.plan {
            let path = self.spec.working_dir.join(path);
            refuse_inside(&path, &self.spec)?;
            self.report.plan = Some(PlanSettings { path, job: request.planned("--plan")? });
            (self.spec.plans, self.spec.dry_run, self.question) = (true, true, None);
        }
        Ok(self)
    }

    fn copy(frame: Frame, task: &CopyTask) -> Result<Self, Failure> {
        let reports = frame.reports.clone();
        let mut transfer = copying(frame, TransferCommand::Copy, &task.into())?;
        transfer.manifest = ManifestSettings::new(task.from.as_ref(), &reports, &transfer.spec)?;
        transfer.spec.recursive = task.recursive;
        transfer.spec.expected_size = task.expected_size;
        transfer.spec.filter = script::filter(task.select.script.as_deref())?;
        transfer.spec.to_key = script::to_key(task.to_key.as_deref())?;
        apply_as_of(&mut transfer.spec, task.as_of)?;
        check_manifest(&transfer)?;
        Ok(transfer)
    }

    fn moving(frame: Frame, task: &MoveTask) -> Result<Self, Failure> {
        let reports = frame.reports.clone();
        let mut transfer = copying(frame, TransferCommand::Move, &task.into())?;
        transfer.manifest = ManifestSettings::new(task.from.as_ref(), &reports, &transfer.spec)?;
        transfer.spec.recursive = task.recursive;
        transfer.spec.filter = script::filter(task.select.script.as_deref())?;
        transfer.spec.to_key = script::to_key(task.to_key.as_deref())?;
        let (source, target) = (&task.source, &task.target);
        let both_remote = s3_uri::is_s3(source) && s3_uri::is_s3(target);
        let names = s3_uri::parse(source).ok().zip(s3_uri::parse(target).ok());
        if both_remote && names.is_some_and(|(from, to)| may_be_same_object(&from, &to)) {
            if task.validate_same_s3_paths {
                return Err(Failure::usage(
                    "--validate-same-s3-paths cannot look up the buckets behind access points \
                     yet: name the buckets themselves",
                ));
            }
            transfer.notices.push(SAME_PATH_WARNING.to_owned());
        }
        Ok(transfer)
    }

    fn sync(frame: Frame, task: &SyncTask) -> Result<Self, Failure> {
        let sync = SyncOptions {
            rule: rule(task),
            delete: task.delete,
            max_delete: task.max_delete.as_deref().map_or(Ok(RemovalLimit::None), removal_limit)?,
            allow_empty_source: task.allow_empty_source,
        };
        let reports = frame.reports.clone();
        let mut transfer = copying(frame, TransferCommand::Sync, &task.into())?;
        transfer.spec.sync = sync;
        apply_as_of(&mut transfer.spec, task.as_of)?;
        transfer.spec.sync.rule = rule_as_of(&transfer.spec, transfer.spec.sync.rule);
        transfer.spec.filter = script::filter(task.select.script.as_deref())?;
        transfer.spec.to_key = script::to_key(task.to_key.as_deref())?;
        // A sync has no patterns in its paths.
        transfer.spec.raw = true;
        transfer.report = ReportSettings::new(&reports, &transfer.spec, &transfer.client)?;
        Ok(transfer)
    }

    fn removal(frame: Frame, task: &RemoveTask) -> Result<Self, Failure> {
        Self::in_place(frame, TransferCommand::Remove, "rm", &task.objects())?.guarded(task)
    }

    /// What commands that work on objects where they are have in common.
    pub(super) fn in_place(
        frame: Frame,
        command: TransferCommand,
        word: &str,
        objects: &Objects,
    ) -> Result<Self, Failure> {
        if !s3_uri::is_s3(&objects.source) {
            return Err(invalid_argument_type(word, "<S3Uri>"));
        }
        check_bucket(&objects.source)?;
        let mut spec = blank_spec(&frame.tuning, command, &objects.source);
        spec.recursive = objects.recursive;
        spec.dry_run = objects.dry_run;
        apply_select(&mut spec, &objects.select)?;
        spec.filter = script::filter(objects.select.script.as_deref())?;
        let manifest = ManifestSettings::new(objects.from.as_ref(), &frame.reports, &spec)?;
        let report = ReportSettings::new(&frame.reports, &spec, &frame.client)?;
        Ok(Self { report, manifest, ..assemble(frame, spec) })
    }
}

/// What counts as a difference.
fn rule(task: &SyncTask) -> Rule {
    let rule = match task.compare {
        Compare::SizeAndTime => Rule::SizeAndTime,
        Compare::Newer => Rule::NewerSource,
        Compare::SizeOnly => Rule::SizeOnly,
        Compare::ExactTimestamps => Rule::ExactTimes,
        Compare::Checksum => Rule::Content,
    };
    if task.transfer.no_overwrite { Rule::Never } else { rule }
}

/// Refuses the address of a bucket where one object is meant.
pub(super) fn require_object(objects: &Objects) -> Result<(), Failure> {
    let is_one = !objects.recursive && objects.from.is_none();
    if is_one && address(&objects.source)?.key.is_empty() {
        return Err(Failure::usage(format!(
            "`{}` names no object: give --recursive for all objects of the bucket",
            objects.source
        )));
    }
    Ok(())
}

fn assemble(frame: Frame, spec: TransferSpec) -> TransferSettings {
    let output = OutputSettings {
        lines: frame.output.lines,
        json: frame.output.json,
        bar: frame.output.progress,
        aws_progress: None,
        tag_change: None,
        tags: None,
        archive_states: false,
    };
    TransferSettings {
        spec,
        client: frame.client,
        source_client: frame.source_client,
        output,
        report: ReportSettings::default(),
        manifest: None,
        notices: Vec::new(),
        question: None,
        journal: JournalSettings::default(),
        again: Again::default(),
    }
}

/// A job without any flag.
fn blank_spec(tuning: &Tuning, command: TransferCommand, source: &str) -> TransferSpec {
    // Without one, relative paths are refused, and all else is done.
    let working_dir = std::env::current_dir().unwrap_or_default();
    TransferSpec {
        journal: None,
        journal_folder: None,
        shard: None,
        command,
        source: source.to_owned(),
        target: None,
        working_dir,
        recursive: false,
        dry_run: false,
        plans: false,
        raw: false,
        filters: Vec::new(),
        conditions: Conditions::default(),
        names: None,
        manifest: None,
        filter: None,
        to_key: None,
        follow_symlinks: true,
        page_size: None,
        no_overwrite: false,
        case_conflict: CaseConflict::Ignore,
        force_glacier_transfer: false,
        ignore_glacier_warnings: false,
        guess_mime_type: true,
        media_type_tables: KNOWN_FILES.iter().map(std::path::PathBuf::from).collect(),
        properties: s3haul_wire::ObjectProperties::default(),
        streams_copies: false,
        preserve: false,
        metadata_directive: None,
        copy_props: CopyProps::default(),
        source_customer_key: None,
        checksum_algorithm: None,
        checksum_mode: false,
        expected_size: None,
        sync: SyncOptions::default(),
        versions: None,
        bypass_governance: false,
        tags: TagTask::default(),
        change: Box::default(),
        restore: RestoreTask::default(),
        tuning: tuning.clone(),
    }
}

/// What `cp`, `mv` and `sync` have in common.
fn copying(
    mut frame: Frame,
    command: TransferCommand,
    job: &Copying<'_>,
) -> Result<TransferSettings, Failure> {
    let paths = PathPair::check(job, command)?;
    if frame.output.json && job.target == "-" {
        return Err(refuse_json());
    }
    [job.source, job.target].into_iter().try_for_each(check_bucket)?;
    if job.transfer.stream && paths != PathPair::Remote {
        return Err(Failure::usage("--stream is for copies from S3 to S3"));
    }
    let keys = std::mem::take(&mut frame.keys);
    if keys.source.is_some() && paths != PathPair::Remote {
        let message = "--sse-c-copy-source is only supported for copy operations.";
        return Err(Failure::usage(message));
    }
    let mut spec = blank_spec(&frame.tuning, command, job.source);
    spec.target = Some(job.target.to_owned());
    spec.recursive = job.recursive;
    spec.dry_run = job.dry_run;
    apply_select(&mut spec, job.select)?;
    apply_transfer(&mut spec, job.transfer);
    let case_notice = check_case_conflict(&mut spec)?;
    spec.source_customer_key = keys.source;
    apply_write(&mut spec, job.write, keys.target)?;
    let output = frame.output.clone();
    let report = ReportSettings::new(&frame.reports, &spec, &frame.client)?;
    let mut transfer = assemble(frame, spec);
    transfer.output = copy_output(transfer.output, &output, paths);
    transfer.notices.extend(case_notice);
    transfer.report = report;
    Ok(transfer)
}

/// Which objects are taken, but for the script.
fn apply_select(spec: &mut TransferSpec, select: &Select) -> Result<(), Failure> {
    spec.raw = select.raw;
    spec.filters.clone_from(&select.filters);
    spec.conditions = of_select(select)?;
    spec.page_size = select.page_size.map(NonZeroU32::get);
    Ok(())
}

fn apply_transfer(spec: &mut TransferSpec, options: &TransferOptions) {
    spec.no_overwrite = options.no_overwrite;
    spec.follow_symlinks = options.follow_symlinks;
    spec.preserve = options.preserve;
    spec.streams_copies = options.stream;
    spec.force_glacier_transfer = options.force_glacier_transfer;
    spec.ignore_glacier_warnings = options.ignore_glacier_warnings;
    spec.checksum_mode = options.checksum_mode;
    spec.metadata_directive = options.metadata_directive;
    spec.copy_props = options.copy_props;
    spec.case_conflict = options.case_conflict;
}

fn apply_write(
    spec: &mut TransferSpec,
    write: &WriteOptions,
    key: Option<CustomerKey>,
) -> Result<(), Failure> {
    spec.guess_mime_type = write.guess_mime_type;
    spec.checksum_algorithm = write.checksum_algorithm.map(checksum_algorithm);
    spec.properties = properties(write, key)?;
    Ok(())
}

/// Directory buckets list in no order, so that the AWS tools do not look for conflicts there: they
/// refuse or warn.
fn check_case_conflict(spec: &mut TransferSpec) -> Result<Option<String>, Failure> {
    let source = s3_uri::is_s3(&spec.source).then(|| s3_uri::parse(&spec.source).ok()).flatten();
    let is_directory_bucket = source.is_some_and(|name| s3_uri::is_directory_bucket(&name.bucket));
    let is_download = spec.target.as_deref().is_some_and(|target| !s3_uri::is_s3(target));
    if !(is_directory_bucket && is_download && spec.recursive) {
        return Ok(None);
    }
    let name = match std::mem::take(&mut spec.case_conflict) {
        CaseConflict::Ignore => return Ok(None),
        CaseConflict::Warn => return Ok(Some(DIRECTORY_BUCKET_WARNING.to_owned())),
        CaseConflict::Skip => "skip",
        CaseConflict::Error => "error",
    };
    Err(Failure::other(format!(
        "`{name}` is not a valid value for `--case-conflict` when operating on S3 Express \
         directory buckets. Valid values: `warn`, `ignore`."
    )))
}

/// What a copy prints, other than what all commands do.
fn copy_output(plain: OutputSettings, job: &Output, paths: PathPair) -> OutputSettings {
    let mut lines = plain.lines;
    if paths == PathPair::Stream && lines == OutputLines::All && !job.json {
        lines = OutputLines::Errors;
    }
    let asked = job.progress_multiline || job.progress_frequency_s.is_some();
    let aws_progress = (asked && job.progress && lines == OutputLines::All).then(|| AwsProgress {
        multiline: job.progress_multiline,
        frequency_s: job.progress_frequency_s.unwrap_or(0),
    });
    OutputSettings { lines, aws_progress, ..plain }
}

/// What source and target are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PathPair {
    Upload,
    Download,
    Remote,
    Stream,
}

impl PathPair {
    /// Checks that need nothing but the arguments, with the messages of `aws s3`.
    fn check(job: &Copying<'_>, command: TransferCommand) -> Result<Self, Failure> {
        let name = match command {
            TransferCommand::Move => "mv",
            TransferCommand::Sync => "sync",
            _ => "cp",
        };
        let (source, target) = (job.source, job.target);
        let pair = match (s3_uri::is_s3(source), s3_uri::is_s3(target)) {
            (true, true) => Self::Remote,
            (true, false) => Self::Download,
            (false, true) => Self::Upload,
            (false, false) => return Err(invalid_argument_type(name, COPY_USAGE)),
        };
        let is_stream = source == "-" || target == "-";
        if is_stream && (command != TransferCommand::Copy || job.recursive) {
            return Err(Failure::usage(
                "Streaming currently is only compatible with non-recursive cp commands",
            ));
        }
        if job.write.checksum_algorithm.is_some() && pair == Self::Download {
            return Err(pair.refuse("checksum-algorithm", "<LocalPath> <S3Uri>, <S3Uri> <S3Uri>"));
        }
        if job.transfer.checksum_mode && pair != Self::Download {
            return Err(pair.refuse("checksum-mode", "<S3Uri> <LocalPath>"));
        }
        Ok(if is_stream { Self::Stream } else { pair })
    }

    fn refuse(self, flag: &str, expected: &str) -> Failure {
        let received = match self {
            Self::Upload | Self::Stream => "<LocalPath> <S3Uri>",
            Self::Download => "<S3Uri> <LocalPath>",
            Self::Remote => "<S3Uri> <S3Uri>",
        };
        Failure::usage(format!(
            "Expected {flag} parameter to be used with one of following path formats: {expected}. \
             Instead, received {received}."
        ))
    }
}

const COPY_USAGE: &str = "<LocalPath> <S3Uri> or <S3Uri> <LocalPath> or <S3Uri> <S3Uri>";

const DIRECTORY_BUCKET_WARNING: &str = "warning: Recursive copies/moves from an S3 Express \
    directory bucket to a case-insensitive local filesystem may result in undefined behavior if \
    there are S3 object key names that differ only by case. To disable this warning, set the \
    `--case-conflict` parameter to `ignore`. For more information, see \
    `s3haul cp --help`.";

const SAME_PATH_WARNING: &str = "warning: Provided s3 paths may resolve to same underlying s3 \
    object(s) and result in deletion instead of being moved. To resolve and validate underlying \
    s3 paths are not the same, specify the --validate-same-s3-paths flag or set the \
    AWS_CLI_S3_MV_VALIDATE_SAME_S3_PATHS environment variable to true. To resolve s3 outposts \
    access point path, the arn must be used instead of the alias.";

#[cfg(test)]
#[path = "transfer_tests.rs"]
mod tests;
