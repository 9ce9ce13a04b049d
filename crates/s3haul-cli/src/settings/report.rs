//! `--report`: where to, and which command it is of.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use s3haul::job::value::Reports;
use s3haul::job::{TagTask, TransferCommand, TransferSpec};
use s3haul::plan::paths::absolute;
use s3haul::plan::price::PriceTable;
use s3haul::plan::s3_uri;
use s3haul_wire::ClientConfig;

use super::prices::price_table;
use crate::failure::Failure;
use crate::report::Sides;

/// Reports of a transfer.
#[derive(Clone, Debug, Default)]
pub(crate) struct ReportSettings {
    /// Where to write.
    pub(crate) path: Option<PathBuf>,
    /// The report whose failures are done again.
    pub(crate) retry: Option<PathBuf>,
    /// The plan that is written.
    pub(crate) plan: Option<PlanSettings>,
    /// The plan that is done.
    pub(crate) apply: Option<PathBuf>,
    /// A dry run prints its estimate also where standard error is no terminal.
    pub(crate) estimate: bool,
    /// What requests cost.
    pub(crate) prices: PriceTable,
    /// What a report says it is of.
    pub(crate) sides: Sides,
}

/// The prices of a file, or else those of a region.
pub(crate) fn price_table_of(
    path: Option<&Path>,
    region: Option<&str>,
) -> Result<PriceTable, Failure> {
    path.map_or_else(|| Ok(PriceTable::of_region(region)), price_table)
}

/// A plan that is written.
#[derive(Clone, Debug)]
pub(crate) struct PlanSettings {
    /// Where to.
    pub(crate) path: PathBuf,
    /// The job as JSON.
    pub(crate) job: String,
}

impl ReportSettings {
    /// Checks what a job says.
    pub(super) fn new(
        reports: &Reports,
        spec: &TransferSpec,
        client: &ClientConfig,
    ) -> Result<Self, Failure> {
        let path = reports.report.as_deref().map(|path| spec.working_dir.join(path));
        if let Some(path) = &path {
            refuse_inside(path, spec)?;
        }
        let retry = reports.retry_failed.as_deref().map(|path| spec.working_dir.join(path));
        if retry.is_some() && (spec.source == "-" || spec.target.as_deref() == Some("-")) {
            let message = "--retry-failed cannot be used with standard input and output";
            return Err(Failure::usage(message));
        }
        if let (Some(old), Some(new)) = (&retry, &path)
            && is_same(old, new)
        {
            return Err(Failure::usage(
                "--report would overwrite the report of --retry-failed: give it another file",
            ));
        }
        let apply = reports.apply.as_deref().map(|path| spec.working_dir.join(path));
        let path_of_prices = reports.prices.as_deref().map(|path| spec.working_dir.join(path));
        let region = client.endpoint.region.as_deref();
        let prices = price_table_of(path_of_prices.as_deref(), region)?;
        let (estimate, sides) = (reports.estimate, sides(spec));
        Ok(Self { path, retry, plan: None, apply, estimate, prices, sides })
    }
}

/// The command and its sides, written the same however they were typed.
fn sides(spec: &TransferSpec) -> Sides {
    let directory = spec.working_dir.to_string_lossy();
    let side = |path: &str| {
        let whole = match s3_uri::is_s3(path) {
            true => path.to_owned(),
            false if path == "-" => path.to_owned(),
            false => absolute(path, &directory),
        };
        whole.trim_end_matches('/').to_owned()
    };
    let command = match spec.command {
        TransferCommand::Copy => "cp",
        TransferCommand::Move => "mv",
        TransferCommand::Remove => "rm",
        TransferCommand::Sync => "sync",
        TransferCommand::Set => "set",
        TransferCommand::Restore => "restore",
        TransferCommand::Undelete => "undelete",
        TransferCommand::Tag => match spec.tags {
            TagTask::Get => "tag get",
            TagTask::Set(_) => "tag set",
            TagTask::Add(_) => "tag add",
            TagTask::Remove(_) | TagTask::Clear => "tag remove",
        },
    };
    let target = spec.target.as_deref().map(side).unwrap_or_default();
    Sides { command: command.to_owned(), source: side(&spec.source), target }
}

/// A report among the files of the job would be uploaded while it is written, or removed.
pub(super) fn refuse_inside(report: &Path, spec: &TransferSpec) -> Result<(), Failure> {
    let is_sync = spec.command == TransferCommand::Sync;
    let source = Some(spec.source.as_str()).filter(|_| is_sync || spec.recursive);
    let target = spec.target.as_deref().filter(|_| is_sync && spec.sync.delete);
    for folder in [source, target].into_iter().flatten() {
        if s3_uri::is_s3(folder) || !lies_in(report, &spec.working_dir.join(folder)) {
            continue;
        }
        return Err(Failure::usage(format!(
            "the report `{}` would lie among the files of the command: put it outside of \
             `{folder}`",
            report.display()
        )));
    }
    Ok(())
}

/// Whether two paths name one file, which may have several names.
pub(super) fn is_same(old: &Path, new: &Path) -> bool {
    let real = |path: &Path| {
        // A file that is not there yet has a folder that is.
        let folder = || {
            path.parent()
                .map(|folder| if folder.as_os_str().is_empty() { ".".as_ref() } else { folder })
        };
        let unwritten = || Some(folder()?.canonicalize().ok()?.join(path.file_name()?));
        path.canonicalize().ok().or_else(unwritten)
    };
    let inode = |path: &Path| {
        let facts = path.metadata().ok().filter(Metadata::is_file)?;
        Some((facts.dev(), facts.ino()))
    };
    old == new
        || real(old).is_some_and(|old| Some(old) == real(new))
        || inode(old).is_some_and(|old| Some(old) == inode(new))
}

/// Whether a file is in a folder, or would be.
pub(super) fn lies_in(path: &Path, folder: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().ok();
    // Folders that are not there yet are made for it.
    let parent = path.ancestors().skip(1).find_map(real);
    matches!((parent, real(folder)), (Some(parent), Some(folder)) if parent.starts_with(&folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_with_two_names_is_one_file() {
        let folder = tempfile::tempdir().unwrap();
        let [file, link, other] = ["file", "link", "other"].map(|name| folder.path().join(name));
        std::fs::write(&file, "x").unwrap();
        std::fs::hard_link(&file, &link).unwrap();
        std::fs::write(&other, "x").unwrap();
        assert!(is_same(&file, &link) && is_same(&link, &folder.path().join("./file")));
        assert!(!is_same(&file, &other) && !is_same(&file, &folder.path().join("new")));
    }

    #[test]
    fn what_is_below_a_folder_lies_in_it() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("a/b");
        std::fs::create_dir_all(&inner).unwrap();
        assert!(lies_in(&inner.join("r"), &folder.path().join("a")));
        assert!(lies_in(&folder.path().join("a/../a/r"), &folder.path().join("a")));
        assert!(!lies_in(&folder.path().join("r"), &folder.path().join("a")));
        assert!(lies_in(&inner.join("new/er/r"), &folder.path().join("a")));
        assert!(!lies_in(&folder.path().join("ab/r"), &folder.path().join("a")));
    }
}
