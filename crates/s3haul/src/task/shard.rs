//! Which jobs can be done in shards, and where their source is cut.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crate::engine::core::Engine;
use crate::engine::limits::blocking;
use crate::engine::reporter::Reporter;
use crate::engine::route::is_same_service;
use crate::event::{ActionKind, NoEvents};
use crate::job::case_conflict::CaseConflict;
use crate::job::manifest_entry::Manifest;
use crate::job::names::NameSource;
use crate::job::prepare::Prepared;
use crate::job::spec::{Clients, TransferCommand, TransferSpec};
use crate::location::ObjectName;
use crate::plan::paths::Side;
use crate::plan::removals::RemovalLimit;
use crate::plan::s3_uri::is_directory_bucket;
use crate::select::choose::chooser_that_learns;
use crate::shard::{cut_files, cut_keys, cut_rows};
use crate::source::entries::is_listed;
use crate::source::report::check_plan;
use s3haul_list::{KeyRange, objects, versions};
use s3haul_wire::error::{Error, ErrorKind, Result};

/// Positions behind which a range of a job's source is cut into so many shards at most. A listing
/// is looked at for so long.
///
/// # Errors
/// [`ErrorKind::Config`] for a job that cannot be done in shards: its message says why.
pub async fn cut_job(
    spec: TransferSpec,
    clients: &Clients,
    range: &KeyRange,
    (shards, time): (usize, Duration),
) -> Result<Vec<String>> {
    let is_one_service = is_same_service(clients.source.config(), clients.target.config());
    let job = Arc::new(Prepared::new(spec, is_one_service).await?);
    if let Some(reason) = refusal(&job) {
        let message = format!("this job cannot be done in shards: {reason}");
        return Err(Error::new(ErrorKind::Config, message));
    }
    if let Some(names) = &job.spec.names {
        let rows = check_rows(&job, clients, names).await?;
        return Ok(cut_rows(rows, range, shards));
    }
    if let Some(manifest) = &job.spec.manifest {
        let rows = count_rows(Arc::clone(manifest)).await?;
        return Ok(cut_rows(rows, range, shards));
    }
    match &job.plan.source {
        Side::Local(folder) if job.plan.is_directory => {
            Ok(cut_files(Path::new(folder), range, shards).await)
        }
        Side::Object(name) if is_listed(&job) => {
            if is_directory_bucket(&name.bucket) {
                return Ok(Vec::new());
            }
            let root = ObjectName::new(name.bucket.clone(), job.source_key());
            let prefix =
                job.wildcard.as_ref().map_or(job.source_key(), |wildcard| wildcard.prefix());
            let (client, limits) = (clients.source.clone(), (shards, time));
            if job.spec.versions.is_some() {
                let source = versions(client, &root.bucket);
                return cut_keys(source, (&root, prefix), range, limits).await;
            }
            cut_keys(objects(client, &root.bucket), (&root, prefix), range, limits).await
        }
        _ => Ok(Vec::new()),
    }
}

/// Why a job has to be done as a whole, if so.
fn refusal(job: &Prepared) -> Option<&'static str> {
    let spec = &job.spec;
    if job.plan.is_stream() {
        return Some("a standard stream is read or written by one process");
    }
    if spec.dry_run || spec.names.as_ref().is_some_and(|names| !names.is_plan()) {
        return Some("dry runs and reports are those of one process");
    }
    if spec.sync.max_delete != RemovalLimit::None {
        return Some("--max-delete counts the removals of one process");
    }
    if spec.to_key.is_some() && spec.names.is_none() {
        return Some(
            "--to-key has to know all names, so that no two objects get the same one: a plan has \
             them (`s3haul plan`, `job start --apply`)",
        );
    }
    if spec.names.is_none() && chooser_that_learns(job).is_some() {
        return Some(
            "one prefix of the move lies within the other, so that all names have to be known \
             before one object is moved over another: a plan has them (`s3haul plan`, \
             `job start --apply`)",
        );
    }
    if spec.command == TransferCommand::Move && job.names_one() {
        return Some("it moves one object");
    }
    if spec.case_conflict != CaseConflict::Ignore {
        return Some("--case-conflict compares all names");
    }
    if spec.sync.delete && job.plan.action == ActionKind::Download {
        return Some("keys such as a//b become files that another shard would remove (--delete)");
    }
    None
}

/// Number of rows of a plan, once all of them were found to be what its job would do.
async fn check_rows(
    job: &Arc<Prepared>,
    clients: &Clients,
    names: &Arc<dyn NameSource>,
) -> Result<u64> {
    let Clients { source, target } = clients.clone();
    let report = Arc::new(Reporter::new(Arc::new(NoEvents)));
    let (engine, _) = Engine::new(job.settings(), source, target, report);
    check_plan(job, &engine, names).await?;
    let names = Arc::clone(names);
    blocking(move || Ok(names.names()?.count() as u64)).await
}

async fn count_rows(manifest: Arc<dyn Manifest>) -> Result<u64> {
    blocking(move || {
        let mut rows = 0;
        for entry in manifest.entries()? {
            entry?;
            rows += 1;
        }
        Ok(rows)
    })
    .await
}
