//! Files, variables, commands and HTTP for the credential sources.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use reqsign_core::{
    CommandExecute, CommandOutput, Context, Error as SourceError, FileRead, HttpSend, OsEnv,
};

use super::program;
use crate::env::Waits;
use crate::net::fetch::Fetcher;

/// Limit for programs that print credentials. Some ask a user.
const PROGRAM_PATIENCE: Duration = Duration::from_mins(5);

/// A context on the real environment with our HTTP.
pub(super) fn system(fetcher: Fetcher) -> Context {
    let waits = fetcher.waits();
    Context::new()
        .with_env(OsEnv)
        .with_file_read(Files)
        .with_command_execute(Commands { waits })
        .with_http_send(fetcher)
}

/// Reads files on a thread that may block.
#[derive(Debug)]
pub(super) struct Files;

impl FileRead for Files {
    async fn file_read(&self, path: &str) -> reqsign_core::Result<Vec<u8>> {
        let path = path.to_owned();
        let failed = |message: String| SourceError::config_invalid(message);
        tokio::task::spawn_blocking(move || {
            std::fs::read(&path).map_err(|error| failed(format!("`{path}`: {error}")))
        })
        .await
        .map_err(|error| failed(error.to_string()))?
    }
}

/// Replaces a file that only its owner may read, as a whole or not at all. Blocks.
pub(super) fn replace_file(path: &str, bytes: &[u8]) -> io::Result<()> {
    private_folder(path)?;
    let temporary = format!("{path}.{}-{:08x}.tmp", std::process::id(), fastrand::u32(..));
    let written = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&temporary);
    let written = written.and_then(|mut target| {
        target.write_all(bytes)?;
        target.sync_all()?;
        fs::rename(&temporary, path)
    });
    if written.is_err() {
        _ = fs::remove_file(&temporary);
    }
    written
}

/// A file that only its owner may read, in a folder likewise. Blocks.
pub(super) fn private_file(path: &str) -> io::Result<fs::File> {
    private_folder(path)?;
    OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path)
}

/// Makes the folder of a file.
fn private_folder(path: &str) -> io::Result<()> {
    let Some(folder) = Path::new(path).parent() else { return Ok(()) };
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// A cache file that could not be written.
struct Unwritten {
    path: String,
    /// What it has held since before.
    old: Option<Vec<u8>>,
    new: Vec<u8>,
}

/// Latest last, one for each path.
static UNWRITTEN: Mutex<Vec<Unwritten>> = Mutex::new(Vec::new());
/// Cache files that are kept in memory at most.
const UNWRITTEN_MAX: usize = 64;

/// Reads a cache file, or what [`write_cached`] could not write to it unless it has changed since.
pub(super) async fn read_cached(context: &Context, path: &str) -> reqsign_core::Result<Vec<u8>> {
    let read = context.file_read(path).await;
    let unwritten = UNWRITTEN.lock().unwrap_or_else(PoisonError::into_inner);
    let is_latest = |one: &&Unwritten| one.path == path && one.old == read.as_ref().ok().cloned();
    match unwritten.iter().find(is_latest) {
        Some(one) => Ok(one.new.clone()),
        None => read,
    }
}

/// Replaces a cache file; keeps its new content for this process where that fails. Blocks.
pub(super) fn write_cached(path: &str, bytes: Vec<u8>) -> io::Result<()> {
    let written = replace_file(path, &bytes);
    let mut unwritten = UNWRITTEN.lock().unwrap_or_else(PoisonError::into_inner);
    unwritten.retain(|one| one.path != path);
    if written.is_err() {
        if unwritten.len() == UNWRITTEN_MAX {
            unwritten.remove(0);
        }
        unwritten.push(Unwritten { path: path.to_owned(), old: fs::read(path).ok(), new: bytes });
    }
    written
}

/// Runs programs on a thread that may block; their stderr goes to the user's.
#[derive(Debug, Default)]
pub(super) struct Commands {
    waits: Arc<Waits>,
}

impl CommandExecute for Commands {
    async fn command_execute<'a>(
        &'a self,
        program: &'a str,
        arguments: &'a [&'a str],
    ) -> reqsign_core::Result<CommandOutput> {
        let mut command = std::process::Command::new(program);
        command.args(arguments).stdin(std::process::Stdio::null());
        let program = program.to_owned();
        let failed = |message: String| SourceError::config_invalid(message);
        let what = format!("credentials of the program `{program}`");
        let running = tokio::task::spawn_blocking(move || {
            program::output(command, PROGRAM_PATIENCE)
                .map_err(|error| failed(format!("`{program}`: {error}")))
        });
        let output = self
            .waits
            .during(PROGRAM_PATIENCE, || what.clone(), running)
            .await
            .map_err(|error| failed(error.to_string()))??;
        let status = output.status.code().unwrap_or(-1);
        Ok(CommandOutput { status, stdout: output.stdout, stderr: output.stderr })
    }
}

impl HttpSend for Fetcher {
    async fn http_send(&self, request: Request<Bytes>) -> reqsign_core::Result<Response<Bytes>> {
        self.fetch(&request).await.map_err(|error| SourceError::unexpected(error.to_string()))
    }
}
