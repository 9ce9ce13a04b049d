//! Where journals lie, and whether a command keeps one.

use std::ffi::OsString;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::again::command_line;
use super::{Environment, JobRequest, Machine};
use crate::args::JournalArgs;
use crate::env_vars;
use crate::failure::Failure;
use crate::render::escape::quoted;
use s3haul::job::value::{Job, Limits, ManifestFile, Output, Reports, RestoreAction, Task};
use s3haul::journal::{Journal, JournalRequest, Resumed};
use s3haul::plan::s3_uri;

/// The journal of a command.
#[derive(Debug, Default)]
pub(crate) struct JournalSettings {
    /// The journal, if there is one.
    pub(crate) kept: KeptJournal,
    /// The folder, where the command named it.
    pub(crate) named_folder: Option<PathBuf>,
}

/// Whether a command keeps a journal, and which.
#[derive(Debug, Default)]
pub(crate) enum KeptJournal {
    /// It keeps none.
    #[default]
    None,
    /// It keeps one.
    New {
        /// What it is made of.
        request: JournalRequest,
        /// The last interrupted run of the same command is gone on with.
        resumes: bool,
    },
    /// It is that of an earlier run.
    Resumed(std::sync::Arc<Journal>),
}

impl JournalSettings {
    /// That of a command.
    ///
    /// # Errors
    ///
    /// `--journal` or `--resume` was given, and the command cannot keep a journal.
    pub(crate) fn new(
        request: &JobRequest,
        args: &JournalArgs,
        machine: &Machine,
    ) -> Result<Self, Failure> {
        let named_folder = args.journal.as_deref().map(absolute);
        let kept = match new_journal(request, args, machine) {
            Ok(request) => KeptJournal::New { request, resumes: args.resume },
            Err(reason) if args.resume => return Err(nothing_kept("--resume", &reason)),
            Err(reason) if args.journal.is_some() => {
                return Err(nothing_kept("--journal", &reason));
            }
            Err(_) => KeptJournal::None,
        };
        Ok(Self { kept, named_folder })
    }

    /// That of `jobs resume`; the working directory is that of the job.
    pub(crate) fn resumed(
        resumed: Resumed,
        request: &JobRequest,
        named_folder: Option<PathBuf>,
    ) -> Result<Self, Failure> {
        if resumed.manifest != manifest_state(&request.job) {
            let file = named_by(&request.job).unwrap_or_default();
            let file = file.display();
            return Err(Failure::other(format!(
                "the job cannot be resumed: `{file}`, which names its objects, has changed since; \
                 run its command again"
            )));
        }
        if gives_new_names(&request.job) {
            return Err(Failure::other(
                "the job cannot be resumed: with --to-key only one run knows which new names it \
                 has given. A `cp` or `sync` can be run again; `s3haul uploads` finds what it left \
                 open",
            ));
        }
        let kept = KeptJournal::Resumed(resumed.journal);
        Ok(Self { kept, named_folder })
    }
}

fn nothing_kept(flag: &str, reason: &str) -> Failure {
    Failure::usage(format!("{flag} cannot be used here: no journal is kept {reason}"))
}

/// What a journal is made of; else why there is none.
fn new_journal(
    request: &JobRequest,
    args: &JournalArgs,
    machine: &Machine,
) -> Result<JournalRequest, String> {
    let folder = args.journal.clone().or_else(|| folder(&machine.environment));
    let reasons = [
        (args.no_journal, "with --no-journal"),
        // They share limits, and `run --retry-failed` runs them again.
        (machine.shared.is_some(), "for a line of `run`"),
        (request.job.task.is_dry_run(), "for a dry run"),
        (request.job.reports.plan.is_some(), "for a plan that is written"),
        (!request.job.task.is_transfer(), "for this command"),
        (is_stream(&request.job.task), "for streams"),
        (reads_names(&request.job), "where standard input, an object or a report names them"),
        (has_password(machine.environment.words()), "where an address holds a user or a password"),
        (waits(&request.job.task), "where restores are waited for"),
        (gives_new_names(&request.job), "with --to-key"),
        (moves_below_itself(&request.job), "where a prefix is moved to one below it"),
        (request.has_keys(), "with an SSE-C key, which is never written"),
        (folder.is_none(), "without a home directory"),
    ];
    if let Some((_, reason)) = reasons.into_iter().find(|(is_so, _)| *is_so) {
        return Err(reason.to_owned());
    }
    let unwritten = |error| format!("because {error}");
    let job = request.job.to_json().map_err(unwritten)?;
    let directory = std::env::current_dir().unwrap_or_default();
    let manifest = manifest_state(&request.job);
    let identity = identity(&request.job, &directory, &manifest).map_err(unwritten)?;
    let is_of_plan = request.job.reports.apply.is_some();
    let words = machine.environment.words().iter();
    Ok(JournalRequest {
        folder: absolute(&folder.unwrap_or_default()),
        command: command_line(words.map(OsString::as_os_str)),
        directory,
        job,
        identity,
        manifest,
        // Without one, what the first run of a plan wrote would be a change to the second.
        from_beginning: args.journal.is_some() || is_of_plan,
        is_of_plan,
    })
}

/// Whether new names are found while the job runs: only that run knows which ones it has given. A
/// plan has them.
fn gives_new_names(job: &Job) -> bool {
    let finds = match &job.task {
        Task::Copy(task) => task.to_key.is_some(),
        Task::Move(task) => task.to_key.is_some(),
        Task::Sync(task) => task.to_key.is_some(),
        _ => false,
    };
    finds && job.reports.apply.is_none()
}

/// Whether a prefix is moved to one below it: what one run has moved is a source of the next one.
pub(super) fn moves_below_itself(job: &Job) -> bool {
    let Task::Move(task) = &job.task else { return false };
    // One service may have several host names.
    if job.reports.apply.is_some() {
        return false;
    }
    let parsed = |path: &str| s3_uri::is_s3(path).then(|| s3_uri::parse(path).ok()).flatten();
    let (Some(source), Some(target)) = (parsed(&task.source), parsed(&task.target)) else {
        return false;
    };
    let folder = |key: &str| match key.trim_end_matches('/') {
        "" => String::new(),
        key => format!("{key}/"),
    };
    let root = match source.key.find(['*', '?']).filter(|_| !task.select.raw) {
        Some(wildcard) => folder(source.key[..wildcard].rsplit_once('/').map_or("", |it| it.0)),
        None if task.recursive || task.from.is_some() => folder(&source.key),
        None => return false,
    };
    let target = (target.bucket, folder(&target.key));
    target.0 == source.bucket && target.1 != root && target.1.starts_with(&root)
}

fn is_stream(task: &Task) -> bool {
    matches!(task, Task::Copy(task) if task.source == "-" || task.target == "-")
}

/// Whether the objects of a job are named by what cannot be read again from a position on, or may
/// be another then.
fn reads_names(job: &Job) -> bool {
    let is_file = |from: &ManifestFile| from.file != "-" && !s3_uri::is_s3(&from.file);
    let is_plan = job.reports.apply.is_some();
    let is_read_once = job.task.manifest().is_some_and(|from| !is_file(from));
    job.reports.retry_failed.is_some() || (!is_plan && is_read_once)
}

/// Whether the command as typed holds a user or a password before the host of a URL.
pub(super) fn has_password(words: &[OsString]) -> bool {
    words.iter().any(|word| {
        let word = word.to_string_lossy();
        let url = word.split_once("http://").or_else(|| word.split_once("https://"));
        let host = url.and_then(|(_, rest)| rest.split('/').next());
        host.is_some_and(|host| host.contains('@'))
    })
}

/// Whether the source is looked through twice, so that all that is begun is pending meanwhile.
fn waits(task: &Task) -> bool {
    let Task::Restore(task) = task else { return false };
    matches!(task.action, RestoreAction::Begin { wait: true, .. })
}

/// The file that names the objects of a job: a plan or a manifest.
fn named_by(job: &Job) -> Option<PathBuf> {
    let manifest = || job.task.manifest().map(|from| PathBuf::from(&from.file));
    job.reports.apply.clone().or_else(manifest)
}

/// Size and time of the file that names the objects of a job; empty where there is none, and for
/// objects.
fn manifest_state(job: &Job) -> String {
    let facts = named_by(job).and_then(|file| std::fs::metadata(file).ok());
    let state = |facts: std::fs::Metadata| {
        format!("{} bytes, {}.{:09}", facts.len(), facts.mtime(), facts.mtime_nsec())
    };
    facts.map(state).unwrap_or_default()
}

pub(super) fn absolute(folder: &Path) -> PathBuf {
    std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned())
}

/// The folder of journals that nothing else names.
pub(crate) fn folder(environment: &Environment) -> Option<PathBuf> {
    if let Some(folder) = environment.get(env_vars::S3HAUL_JOURNAL_DIR) {
        return Some(environment.expand_path(folder));
    }
    let state = environment.get(env_vars::XDG_STATE_HOME).map(PathBuf::from);
    let state = state.filter(|path| path.is_absolute());
    let state = state.or_else(|| Some(environment.home()?.join(".local/state")))?;
    Some(state.join("s3haul/jobs"))
}

/// The command that resumes a job.
pub(crate) fn resume_command(id: &str, named_folder: Option<&Path>) -> String {
    let folder = named_folder.map(|folder| format!(" --journal {}", quoted(folder.as_os_str())));
    format!("s3haul jobs resume {id}{}", folder.unwrap_or_default())
}

/// What is the same for two jobs that do the same: what they print and how fast they are makes no
/// difference, nor does the directory in which a plan is done.
fn identity(
    job: &Job,
    directory: &Path,
    manifest: &str,
) -> Result<String, s3haul::job::value::JobError> {
    let (limits, output) = (Limits::default(), Output::default());
    let plan = job.reports.apply.as_ref();
    let apply = plan.map(|file| std::fs::canonicalize(file).unwrap_or_else(|_| file.clone()));
    let directory = plan.map_or(directory, |_| Path::new(""));
    let reports = Reports { apply, ..Reports::default() };
    let job = Job { limits, output, reports, ..job.clone() };
    Ok(format!("{}\n{manifest}\n{}", directory.display(), job.to_json()?))
}
