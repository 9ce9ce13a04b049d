//! `job start`, `worker`, and what `jobs` says of a job that workers do.

mod start;
mod status;
mod work;

use std::ffi::OsString;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use s3haul::job::{Clients, TransferCommand, TransferSpec};
use s3haul::location::ObjectName;
use s3haul::plan::s3_uri;
use s3haul::shard::{FolderError, JobFolder, Worker};
use s3haul_wire::ClientConfig;
use s3haul_wire::ops::HeadObject;

pub(super) use start::start;
pub(super) use status::{Status, show, task, watch};
pub(super) use work::ShardWork;

use super::shared::{SharedClients, clients, folder_client};
use super::transfer::{self, open_manifest};
use crate::args::GlobalArgs;
use crate::failure::Failure;
use crate::manifest::ManifestFile;
use crate::plan::PlanFile;
use crate::printer::Printer;
use crate::render::escape::push_name;
use crate::settings::{ManifestPlace, TransferSettings, command_line, flags_of};

/// The flags by which the folder of a job was reached, for commands that go on with the job.
#[derive(Clone, Debug, Default)]
pub(super) struct FolderFlags(Vec<OsString>);

impl FolderFlags {
    /// Those of a command about the folder.
    pub(super) fn new(global: &GlobalArgs) -> Self {
        Self(flags_of(
            [&global.profile, &global.region, &global.endpoint_url].map(Option::as_deref),
            global.ca_bundle.as_deref(),
            [global.no_sign_request, global.no_verify_ssl],
        ))
    }

    /// The command of a worker.
    pub(super) fn worker(&self, folder: &str) -> String {
        self.command(["worker", "--job", folder])
    }

    /// The command that ends the job alone, and tries again what failed.
    pub(super) fn resume(&self, folder: &str) -> String {
        self.command(["jobs", "resume", folder])
    }

    fn command(&self, words: [&str; 3]) -> String {
        command_line(words.iter().map(AsRef::as_ref).chain(self.0.iter().map(AsRef::as_ref)))
    }
}

/// Whether what names a job is the folder of one that workers do.
pub(crate) fn is_folder(name: &str) -> bool {
    s3_uri::is_s3(name) || name.contains('/') || Path::new(name).is_dir()
}

/// The folder of this name, reached by a client where it is in a bucket.
fn folder(name: &str, config: ClientConfig) -> Result<JobFolder, Failure> {
    if !s3_uri::is_s3(name) {
        let path = std::path::absolute(name).unwrap_or_else(|_| PathBuf::from(name));
        return Ok(JobFolder::Directory(path));
    }
    let ObjectName { bucket, key, .. } = s3_uri::parse(name)
        .map_err(|error| Failure::usage(format!("`{name}` is no folder of a job: {error}")))?;
    let key = if key.is_empty() || key.ends_with('/') { key } else { format!("{key}/") };
    Ok(JobFolder::Bucket { client: folder_client(config)?, prefix: ObjectName::new(bucket, key) })
}

impl From<FolderError> for Failure {
    fn from(error: FolderError) -> Self {
        let message = error.to_string();
        match error {
            FolderError::Wire { source, .. } => Self { message, ..source.into() },
            FolderError::Taken { .. } | FolderError::Missing { .. } => Self::usage(message),
            _ => Self::other(message),
        }
    }
}

/// The folders that a job reads and writes, where they are those of a file system.
fn folders_of(spec: &TransferSpec) -> (Option<PathBuf>, Option<PathBuf>) {
    let is_tree = spec.recursive || spec.command == TransferCommand::Sync;
    let folder =
        |side: &String| (is_tree && !s3_uri::is_s3(side)).then(|| spec.working_dir.join(side));
    (folder(&spec.source), spec.target.as_ref().and_then(folder))
}

/// The file that names the objects of a job, if one does.
fn rows_of(settings: &TransferSettings) -> Option<ManifestPlace> {
    let plan = settings.report.apply.clone().map(ManifestPlace::File);
    plan.or_else(|| settings.manifest.as_ref().map(|manifest| manifest.place.clone()))
}

/// What changes with the file that names the objects of a job.
async fn manifest_state(
    place: Option<&ManifestPlace>,
    clients: &Clients,
) -> Result<Option<String>, Failure> {
    Ok(match place {
        None | Some(ManifestPlace::Input) => None,
        Some(ManifestPlace::File(path)) => {
            let facts = std::fs::metadata(path).map_err(|error| {
                Failure::other(format!("could not read `{}`: {error}", path.display()))
            })?;
            let (seconds, nanoseconds) = (facts.mtime(), facts.mtime_nsec());
            Some(format!("{} bytes, {seconds}.{nanoseconds:09}", facts.len()))
        }
        Some(ManifestPlace::Object(ObjectName { bucket, key, version_id })) => {
            let version_id = version_id.as_deref();
            let input = HeadObject { bucket, key, version_id, ..HeadObject::default() };
            Some(clients.source.head_object(input).await?.etag)
        }
    })
}

/// The clients of a job, its specification with the manifest or plan that it reads, and the
/// manifest where it was opened for this.
fn opened(
    settings: TransferSettings,
) -> Result<(TransferSpec, Clients, Option<Arc<ManifestFile>>), Failure> {
    let clients = clients(settings.client, settings.source_client)?;
    let mut spec = settings.spec;
    let manifest = open_manifest(&mut spec, settings.manifest, &clients)?;
    if let Some(plan) = &settings.report.apply {
        spec.names = Some(Arc::new(PlanFile::open(plan).map_err(Failure::of_arguments)?));
    }
    Ok((spec, clients, manifest))
}

/// The worker of a folder. It knows what the last one of this program knew.
pub(super) async fn open(name: &str, config: ClientConfig) -> Result<Worker, Failure> {
    let worker = Worker::open(folder(name, config)?).await?;
    Ok(match SharedClients::kept_worker(name) {
        Some(earlier) => worker.knowing(earlier),
        None => worker,
    })
}

fn note(printer: &Printer, text: &str) {
    printer.error(|buffer| push_line(buffer, text));
}

/// What is in it may be meant for a terminal, and is printed as what it is.
fn push_line(buffer: &mut Vec<u8>, line: &str) {
    push_name(buffer, line, true);
    buffer.push(b'\n');
}
