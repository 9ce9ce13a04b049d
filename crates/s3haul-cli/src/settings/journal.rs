//! Where journals lie, and whether a command keeps one.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use s3haul::job::value::{Job, Limits, Output, Reports};
use s3haul::journal::{Journal, JournalRequest};

use super::{Environment, JobRequest};
use crate::args::JournalArgs;
use crate::env_vars;
use crate::failure::Failure;

/// The journal of a command.
#[derive(Debug, Default)]
pub(crate) enum JournalSettings {
    /// It keeps none.
    #[default]
    None,
    /// It keeps one.
    Kept {
        /// What it is made of.
        request: JournalRequest,
        /// The last interrupted run of the same command is gone on with.
        resumes: bool,
    },
    /// It is that of an earlier run.
    Resumed(Arc<Journal>),
}

impl JournalSettings {
    /// That of a command. A job with keys for SSE-C keeps none: it
    /// could not be resumed without them, and they are never written.
    pub(crate) fn new(
        request: &JobRequest,
        args: &JournalArgs,
        environment: &Environment,
    ) -> Result<Self, Failure> {
        let folder = args.journal.clone().or_else(|| folder(environment));
        let Some(folder) = folder.filter(|_| !args.no_journal && !request.has_keys()) else {
            return if args.resume { Err(nothing_kept()) } else { Ok(Self::None) };
        };
        let directory = std::env::current_dir().unwrap_or_default();
        let job = request.print()?;
        let words = std::env::args().skip(1).map(|word| quoted(&word));
        let command = std::iter::once("s3haul".to_owned()).chain(words);
        let command = command.collect::<Vec<_>>().join(" ");
        let identity = identity(&request.job, &directory)?;
        let from_beginning = args.journal.is_some();
        let request = JournalRequest { folder, command, directory, job, identity, from_beginning };
        Ok(Self::Kept { request, resumes: args.resume })
    }
}

fn nothing_kept() -> Failure {
    Failure::usage("--resume needs a journal, and this command keeps none")
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

/// What is the same for two jobs that do the same: what they print and how fast they are makes no
/// difference.
fn identity(job: &Job, directory: &Path) -> Result<String, Failure> {
    let (limits, output, reports) = (Limits::default(), Output::default(), Reports::default());
    let job = Job { limits, output, reports, ..job.clone() };
    let text = job.to_json().map_err(|error| Failure::other(error.to_string()))?;
    Ok(format!("{}\n{text}", directory.display()))
}

/// A word as a shell reads it.
fn quoted(word: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./:=@%+,".contains(&byte);
    if !word.is_empty() && word.bytes().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}
