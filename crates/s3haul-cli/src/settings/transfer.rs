//! `cp`, `mv`, `rm`, `pipe` and `rb --force`: flags into a [`TransferSpec`].

use s3haul::job::{
    CaseConflict, CopyProps, FilterRule, MetadataDirective, RestoreTask, SyncOptions, TagTask,
    TransferCommand, TransferSpec, VersionRule,
};
use s3haul::plan::conditions::Conditions;
use s3haul::plan::content_type::KNOWN_FILES;
use s3haul::plan::s3_uri;
use s3haul_wire::{ClientConfig, CustomerKey};

use super::conditions::conditions;
use super::object::{checksum_algorithm, customer_key, key_pair, properties};
use super::sides::SideClients;
use super::stream::address;
use super::versions::{apply_as_of, check_manifest, question};
use super::{
    AwsProgress, Lines, ManifestSettings, OutputSettings, ReportSettings, Settings, script,
};
use crate::args::{
    CopyArgs, CpArgs, MvArgs, ObjectArgs, ObjectsArgs, PipeArgs, RbArgs, RmArgs, ScriptArgs,
    SidesArgs,
};
use crate::env_vars;
use crate::failure::Failure;

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
    /// To be answered with yes before anything is done, where there is somebody to answer.
    pub(crate) question: Option<String>,
}

impl TransferSettings {
    /// For `cp`.
    pub(crate) fn cp(settings: Settings, args: &CpArgs) -> Result<Self, Failure> {
        let recursive = args.recursive || args.from.from.is_some();
        let mut transfer = copying(settings, &args.copy, TransferCommand::Copy, recursive)?;
        let report = &args.copy.report;
        transfer.manifest = ManifestSettings::new(&args.from, report, &transfer.spec)?;
        transfer.spec.recursive = args.recursive;
        transfer.spec.expected_size = args.expected_size;
        apply_scripts(&mut transfer.spec, &args.scripts)?;
        apply_as_of(&mut transfer.spec, &args.as_of)?;
        check_manifest(&transfer)?;
        Ok(transfer)
    }

    /// For `mv`.
    pub(crate) fn mv(settings: Settings, args: &MvArgs) -> Result<Self, Failure> {
        let validate = args.validate_same_s3_paths
            || settings.environment.is_true(env_vars::AWS_CLI_S3_MV_VALIDATE_SAME_S3_PATHS);
        let recursive = args.recursive || args.from.from.is_some();
        let mut transfer = copying(settings, &args.copy, TransferCommand::Move, recursive)?;
        let report = &args.copy.report;
        transfer.manifest = ManifestSettings::new(&args.from, report, &transfer.spec)?;
        transfer.spec.recursive = args.recursive;
        apply_scripts(&mut transfer.spec, &args.scripts)?;
        let paths = (&args.copy.paths[0], &args.copy.paths[1]);
        let both_remote = s3_uri::is_s3(paths.0) && s3_uri::is_s3(paths.1);
        if both_remote && may_be_same_object(paths.0, paths.1) {
            if validate {
                return Err(Failure::usage(
                    "--validate-same-s3-paths cannot look up the buckets behind access points \
                     yet: name the buckets themselves",
                ));
            }
            transfer.notices.push(SAME_PATH_WARNING.to_owned());
        }
        Ok(transfer)
    }

    /// For `rm`.
    pub(crate) fn rm(settings: Settings, args: &RmArgs) -> Result<Self, Failure> {
        Self::in_place(settings, TransferCommand::Remove, "rm", &args.objects)?
            .guarded(&args.versions, &args.guard)
    }

    /// For commands that work on objects where they are.
    pub(super) fn in_place(
        settings: Settings,
        command: TransferCommand,
        word: &str,
        args: &ObjectsArgs,
    ) -> Result<Self, Failure> {
        if !s3_uri::is_s3(&args.path) {
            return Err(invalid_argument_type(word, "<S3Uri>"));
        }
        let output = OutputSettings { lines: Lines::from(&args.output), ..output(&settings) };
        check_bucket(&args.path)?;
        let mut spec = blank_spec(&settings, command, &args.path)?;
        spec.recursive = args.recursive;
        spec.dry_run = args.dryrun;
        spec.raw = args.raw;
        spec.filters.clone_from(&args.filters.rules);
        spec.conditions = conditions(&args.conditions)?;
        spec.filter = script::filter(args.filter.as_deref())?;
        spec.page_size = args.requests.page_size;
        let manifest = ManifestSettings::new(&args.from, &args.report, &spec)?;
        let report = ReportSettings::new(&args.report, &spec)?;
        let transfer = assemble(settings, spec, args.requests.payer.is_requester(), output);
        Ok(Self { report, manifest, ..transfer })
    }

    /// For `pipe`.
    pub(crate) fn pipe(settings: Settings, args: &PipeArgs) -> Result<Self, Failure> {
        if !s3_uri::is_s3(&args.path) {
            return Err(invalid_argument_type("pipe", "<S3Uri>"));
        }
        let lines = match (args.quiet, settings.json) {
            (true, _) => Lines::Silent,
            (false, true) => Lines::All,
            (false, false) => Lines::OnlyErrors,
        };
        let output = OutputSettings { lines, ..output(&settings) };
        check_bucket(&args.path)?;
        let mut spec = blank_spec(&settings, TransferCommand::Copy, "-")?;
        spec.target = Some(args.path.clone());
        spec.expected_size = args.expected_size;
        spec.no_overwrite = args.no_overwrite;
        apply_object(&mut spec, &args.object, customer_key(&args.customer_key)?)?;
        Ok(assemble(settings, spec, args.payer.is_requester(), output))
    }

    /// For the removal of all objects by `rb --force`.
    pub(crate) fn empty_bucket(
        settings: Settings,
        lines: Lines,
        args: &RbArgs,
    ) -> Result<Self, Failure> {
        let output = OutputSettings { lines, ..output(&settings) };
        let mut spec = blank_spec(&settings, TransferCommand::Remove, &args.path)?;
        spec.recursive = true;
        spec.raw = true;
        spec.versions = args.versions.then_some(VersionRule::All { older_than_s: None });
        // Who gives --force was asked already.
        let asks = args.versions && !args.yes;
        let question = if asks { question(&spec) } else { None };
        Ok(Self { question, ..assemble(settings, spec, false, output) })
    }
}

/// Refuses the address of a bucket where one object is meant.
pub(super) fn require_object(args: &ObjectsArgs) -> Result<(), Failure> {
    if !args.recursive && args.from.from.is_none() && address(&args.path)?.key.is_empty() {
        return Err(Failure::usage(format!(
            "`{}` names no object: give --recursive for all objects of the bucket",
            args.path
        )));
    }
    Ok(())
}

fn assemble(
    settings: Settings,
    spec: TransferSpec,
    request_payer: bool,
    output: OutputSettings,
) -> TransferSettings {
    let client = ClientConfig { request_payer, ..settings.client };
    let report = ReportSettings::default();
    TransferSettings {
        spec,
        client,
        source_client: None,
        output,
        report,
        manifest: None,
        notices: Vec::new(),
        question: None,
    }
}

fn output(settings: &Settings) -> OutputSettings {
    OutputSettings {
        lines: Lines::All,
        json: settings.json,
        bar: settings.progress,
        aws_progress: None,
        tag_change: None,
        tags: None,
        archive_states: false,
    }
}

/// A job without any flag.
fn blank_spec(
    settings: &Settings,
    command: TransferCommand,
    source: &str,
) -> Result<TransferSpec, Failure> {
    let working_dir = std::env::current_dir().map_err(|error| {
        Failure::other(format!("cannot determine the working directory: {error}"))
    })?;
    Ok(TransferSpec {
        command,
        source: source.to_owned(),
        target: None,
        working_dir,
        recursive: false,
        dry_run: false,
        raw: false,
        filters: Vec::<FilterRule>::new(),
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
        tuning: settings.tuning.clone(),
    })
}

/// What `cp`, `mv` and `sync` have in common.
pub(super) fn copying(
    settings: Settings,
    args: &CopyArgs,
    command: TransferCommand,
    recursive: bool,
) -> Result<TransferSettings, Failure> {
    let paths = PathPair::check(args, command, recursive)?;
    if settings.json && args.paths[1] == "-" {
        return Err(refuse_json());
    }
    args.paths.iter().try_for_each(|path| check_bucket(path))?;
    let mut spec = blank_spec(&settings, command, &args.paths[0])?;
    spec.target = Some(args.paths[1].clone());
    spec.recursive = recursive;
    spec.dry_run = args.dryrun;
    spec.raw = args.raw;
    spec.filters.clone_from(&args.filters.rules);
    spec.conditions = conditions(&args.conditions)?;
    spec.follow_symlinks = !args.no_follow_symlinks;
    spec.page_size = args.requests.page_size;
    spec.no_overwrite = args.no_overwrite;
    spec.case_conflict = case_conflict(args.case_conflict.as_deref());
    let case_notice = check_case_conflict(&mut spec)?;
    spec.force_glacier_transfer = args.force_glacier_transfer;
    spec.ignore_glacier_warnings = args.ignore_glacier_warnings;
    spec.checksum_mode = args.checksum_mode.is_some();
    spec.metadata_directive = args.metadata_directive.as_deref().map(metadata_directive);
    spec.copy_props = copy_props(args.copy_props.as_deref())?;
    spec.source_customer_key = source_customer_key(args, paths)?;
    apply_object(&mut spec, &args.object, customer_key(&args.customer_key)?)?;
    let output = copy_output(&settings, args, paths);
    let clients = side_clients(&settings, args, paths)?;
    spec.streams_copies = args.stream;
    spec.preserve = args.preserve;
    let request_payer = args.requests.payer.is_requester();
    let mut transfer = assemble(settings, spec, request_payer, output);
    (transfer.client, transfer.source_client) = clients.beside(transfer.client, request_payer);
    transfer.notices.extend(case_notice);
    transfer.report = ReportSettings::new(&args.report, &transfer.spec)?;
    Ok(transfer)
}

fn apply_scripts(spec: &mut TransferSpec, args: &ScriptArgs) -> Result<(), Failure> {
    spec.filter = script::filter(args.filter.as_deref())?;
    spec.to_key = script::to_key(args.to_key.as_deref())?;
    Ok(())
}

fn apply_object(
    spec: &mut TransferSpec,
    args: &ObjectArgs,
    key: Option<CustomerKey>,
) -> Result<(), Failure> {
    spec.guess_mime_type = !args.no_guess_mime_type;
    spec.checksum_algorithm = checksum_algorithm(args)?;
    spec.properties = properties(args, key)?;
    Ok(())
}

fn metadata_directive(name: &str) -> MetadataDirective {
    match name {
        "REPLACE" => MetadataDirective::Replace,
        _ => MetadataDirective::Copy,
    }
}

fn case_conflict(name: Option<&str>) -> CaseConflict {
    match name {
        Some("skip") => CaseConflict::Skip,
        Some("warn") => CaseConflict::Warn,
        Some("error") => CaseConflict::Error,
        _ => CaseConflict::Ignore,
    }
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

fn source_customer_key(args: &CopyArgs, paths: PathPair) -> Result<Option<CustomerKey>, Failure> {
    let method = args.sse_c_copy_source.as_deref();
    let key = key_pair("--sse-c-copy-source", method, args.sse_c_copy_source_key.as_ref())?;
    if key.is_some() && paths != PathPair::Remote {
        let message = "--sse-c-copy-source is only supported for copy operations.";
        return Err(Failure::usage(message));
    }
    Ok(key)
}

fn copy_output(settings: &Settings, args: &CopyArgs, paths: PathPair) -> OutputSettings {
    let mut lines = Lines::from(&args.output);
    if paths == PathPair::Stream && lines == Lines::All && !settings.json {
        lines = Lines::OnlyErrors;
    }
    let asked = args.progress_multiline || args.progress_frequency.is_some();
    let aws_progress = (asked && settings.progress && lines == Lines::All).then(|| AwsProgress {
        multiline: args.progress_multiline,
        frequency_s: args.progress_frequency.unwrap_or(0),
    });
    OutputSettings { lines, aws_progress, ..output(settings) }
}

/// Clients of the sides that have flags of their own.
fn side_clients(
    settings: &Settings,
    args: &CopyArgs,
    paths: PathPair,
) -> Result<SideClients, Failure> {
    if paths == PathPair::Remote {
        return SideClients::new(settings, &args.sides, paths.has_objects());
    }
    if args.stream {
        return Err(Failure::usage("--stream is for copies from S3 to S3"));
    }
    // In the AWS tools, too, it is for copies and nothing to others.
    let sides = SidesArgs { source_region: None, ..args.sides.clone() };
    SideClients::new(settings, &sides, paths.has_objects())
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
    /// Checks what can be told from the arguments alone, with the texts of `aws s3`.
    fn check(args: &CopyArgs, command: TransferCommand, recursive: bool) -> Result<Self, Failure> {
        let name = match command {
            TransferCommand::Move => "mv",
            TransferCommand::Sync => "sync",
            _ => "cp",
        };
        let (source, target) = (&args.paths[0], &args.paths[1]);
        let pair = match (s3_uri::is_s3(source), s3_uri::is_s3(target)) {
            (true, true) => Self::Remote,
            (true, false) => Self::Download,
            (false, true) => Self::Upload,
            (false, false) => return Err(invalid_argument_type(name, COPY_USAGE)),
        };
        let is_stream = source == "-" || target == "-";
        if is_stream && (command != TransferCommand::Copy || recursive) {
            return Err(Failure::usage(
                "Streaming currently is only compatible with non-recursive cp commands",
            ));
        }
        if args.object.checksum_algorithm.is_some() && pair == Self::Download {
            return Err(pair.refuse("checksum-algorithm", "<LocalPath> <S3Uri>, <S3Uri> <S3Uri>"));
        }
        if args.checksum_mode.is_some() && pair != Self::Download {
            return Err(pair.refuse("checksum-mode", "<S3Uri> <LocalPath>"));
        }
        Ok(if is_stream { Self::Stream } else { pair })
    }

    /// Whether source and target are in S3. A stream is either, and its other side is.
    fn has_objects(self) -> (bool, bool) {
        match self {
            Self::Upload => (false, true),
            Self::Download => (true, false),
            Self::Remote | Self::Stream => (true, true),
        }
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

/// The error for a local path where an address is due, and the other way round.
pub(super) fn invalid_argument_type(command: &str, usage: &str) -> Failure {
    Failure::usage(format!("usage: s3haul {command} {usage}\nError: Invalid argument type"))
}

/// Refuses `s3://` without a bucket.
pub(super) fn check_bucket(path: &str) -> Result<(), Failure> {
    let is_nameless =
        s3_uri::is_s3(path) && s3_uri::parse(path).is_ok_and(|object| object.bucket.is_empty());
    if is_nameless {
        return Err(Failure::usage(format!("Invalid bucket name \"\": `{path}` names no bucket")));
    }
    Ok(())
}

/// The error for `--json` where standard output is data.
pub(super) fn refuse_json() -> Failure {
    Failure::usage("--json cannot be used where the objects themselves go to standard output")
}

/// Whether source and target have the same key and one of them is an access point, so that both
/// may be the same object.
fn may_be_same_object(source: &str, target: &str) -> bool {
    let (Ok(source), Ok(target)) = (s3_uri::parse(source), s3_uri::parse(target)) else {
        return false;
    };
    let (source_key, target_key) = (&source.key, &target.key);
    let base = source_key.rsplit('/').next().unwrap_or_default();
    let same_key = source_key == target_key
        || ((target_key.ends_with('/') || target_key.is_empty())
            && *source_key == format!("{target_key}{base}"));
    same_key && [source.bucket, target.bucket].iter().any(|bucket| is_access_point(bucket))
}

fn is_access_point(bucket: &str) -> bool {
    bucket.starts_with("arn:") || bucket.ends_with("-s3alias") || bucket.ends_with("--op-s3")
}

#[cfg(test)]
#[path = "transfer_tests.rs"]
mod tests;
