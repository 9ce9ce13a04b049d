//! `job start`: a job is cut into shards and written into its folder.

use std::path::{Path, PathBuf};
use std::time::Duration;

use s3haul::job::{TransferSpec, cut_job};
use s3haul::plan::s3_uri;
use s3haul::shard::{FolderError, JobFolder, KeyRange, Plan, SharedFolder, Worker};
use s3haul_wire::ClientConfig;
use serde_json::Value;

use super::transfer::INCOMPLETE_LIST;
use super::{FolderFlags, folder, folders_of, manifest_state, note, opened, rows_of};
use crate::args::JobStartArgs;
use crate::exit;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::settings::{JobRequest, Machine, TransferSettings};

/// How long a listing is looked at to find where it is cut.
const CUT_TIME: Duration = Duration::from_secs(10);

/// Begins a job. How its folder is reached goes into the command of the workers.
pub(in crate::commands) async fn start(
    args: JobStartArgs,
    flags: FolderFlags,
    (request, machine): (JobRequest, Machine),
    config: ClientConfig,
    printer: &Printer,
) -> Result<u8, Failure> {
    let settings = TransferSettings::of_job(&request, &machine)?;
    let reports = &request.job.reports;
    if reports.report.is_some() || reports.retry_failed.is_some() {
        return Err(Failure::usage(
            "this job cannot be done in shards: dry runs and reports are those of one process",
        ));
    }
    let manifest = request.job.task.manifest().map(|manifest| manifest.file.as_str());
    if manifest.is_some_and(|file| !s3_uri::is_s3(file) && Path::new(file).is_relative()) {
        return Err(Failure::usage(
            "workers have to find the file of --from: give it as an absolute path or as \
             s3://bucket/key",
        ));
    }
    refuse_inside(&args.at, &settings.spec)?;
    let job: Value = serde_json::from_str(&request.planned("job start")?)
        .map_err(|error| Failure::other(format!("the job cannot be written: {error}")))?;
    let folder = folder(&args.at, config)?;
    if args.resume && has_job(&folder, &job).await? {
        note(printer, &format!("note: goes on with the job in `{}`", args.at));
    } else {
        let place = rows_of(&settings);
        let (spec, clients, list) = opened(settings)?;
        let budget = (args.shards as usize, CUT_TIME);
        let manifest = manifest_state(place.as_ref(), &clients).await?;
        let folders = folders_of(&spec);
        let cuts = cut_job(spec, &clients, &KeyRange::default(), budget).await;
        let cuts = cuts.map_err(Failure::of_arguments)?;
        if list.is_some_and(|list| !list.is_complete()) {
            note(printer, &format!("warning: {INCOMPLETE_LIST}"));
        }
        let count = cuts.len() + 1;
        let (source, target) = shared(folders)?;
        let (budget_s, lease_s) = (args.budget, args.lease);
        let plan = Plan { budget_s, lease_s, manifest, source, target, ..Plan::new(job, cuts) };
        folder.begin(&plan.to_json()).await?;
        let noun = if count == 1 { "shard" } else { "shards" };
        note(printer, &format!("note: the job in `{}` has {count} {noun} to begin with", args.at));
    }
    let command = flags.worker(folder.name().trim_end_matches('/'));
    printer.output(|buffer| buffer.extend_from_slice(format!("{command}\n").as_bytes()));
    Ok(exit::SUCCESS)
}

/// What the folders of a job are known by on other machines. The one that it writes is made, so
/// that workers find it.
fn shared(
    (source, target): (Option<PathBuf>, Option<PathBuf>),
) -> Result<(Option<SharedFolder>, Option<SharedFolder>), Failure> {
    if let Some(target) = &target {
        std::fs::create_dir_all(target).map_err(|error| {
            Failure::other(format!("could not make `{}`: {error}", target.display()))
        })?;
    }
    let known = |folder: Option<PathBuf>| folder.as_deref().and_then(SharedFolder::of);
    Ok((known(source), known(target)))
}

/// Refuses a folder whose files the job itself would copy, move or remove.
fn refuse_inside(folder: &str, spec: &TransferSpec) -> Result<(), Failure> {
    let name = |text: &str| {
        if s3_uri::is_s3(text) {
            return format!("{}/", text.trim_end_matches('/'));
        }
        let path = std::path::absolute(text).unwrap_or_else(|_| PathBuf::from(text));
        // As much of it as exists, with links followed.
        let real = path.ancestors().find_map(|above| {
            let rest = path.strip_prefix(above).ok()?;
            Some(above.canonicalize().ok()?.join(rest))
        });
        let path = real.unwrap_or(path);
        format!("{}/", path.display().to_string().trim_end_matches('/'))
    };
    let is_inside = |side: &&str| {
        let pattern = side.find(['*', '?']).filter(|_| s3_uri::is_s3(side) && !spec.raw);
        match pattern {
            Some(at) => name(folder).starts_with(&side[..at]),
            None => name(folder).starts_with(&name(side)),
        }
    };
    let sides = [Some(spec.source.as_str()), spec.target.as_deref()];
    match sides.into_iter().flatten().find(is_inside) {
        None => Ok(()),
        Some(side) => Err(Failure::usage(format!(
            "the folder `{folder}` lies in `{side}`, where the job itself would find its files"
        ))),
    }
}

/// Whether the folder has this job; none may be there, but no other.
async fn has_job(folder: &JobFolder, job: &Value) -> Result<bool, FolderError> {
    match Worker::open(folder.clone()).await {
        Ok(worker) if worker.plan().job == *job => Ok(true),
        Ok(_) => Err(FolderError::Taken { name: folder.name() }),
        Err(FolderError::Missing { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}
