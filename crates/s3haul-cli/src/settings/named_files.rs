//! Which files of this machine a job names, so that nothing it writes overwrites another of them.

use std::path::{Path, PathBuf};

use s3haul::job::TransferSpec;
use s3haul::job::value::{Job, Task};
use s3haul::plan::s3_uri;

use super::frame::Machine;
use super::report::{is_same, lies_in, refuse_inside};
use super::{JobRequest, MetricsFile};
use crate::failure::Failure;

/// The files of a job.
#[derive(Debug)]
pub(super) struct NamedFiles<'f> {
    /// What relative paths start from.
    folder: &'f Path,
    /// Also folders.
    read: Vec<PathBuf>,
    written: Vec<PathBuf>,
    /// Folders all of which is compared.
    compared: Vec<PathBuf>,
}

impl<'f> NamedFiles<'f> {
    /// Of a job that runs in this folder.
    pub(super) fn of(job: &Job, folder: &'f Path) -> Self {
        let (mut task, reports) = (job.task.clone(), &job.reports);
        let manifest = task.manifest().map(|manifest| manifest.file.clone());
        let mut sides: Vec<_> = task.paths_mut().into_iter().map(|path| path.clone()).collect();
        sides.extend(manifest);
        let read = [&reports.prices, &reports.apply, &reports.retry_failed];
        let mut read: Vec<_> = read.into_iter().flatten().cloned().collect();
        let mut written = vec![reports.plan.clone(), reports.report.clone()];
        let mut compared = Vec::new();
        let local = |path: &String| (!s3_uri::is_s3(path)).then(|| PathBuf::from(path));
        match task {
            Task::List(task) => written.push(task.output_file),
            Task::Summarize(task) => {
                written.extend([task.output_file, task.html]);
                read.extend(task.since.into_iter().chain(task.prices));
            }
            Task::Compare(task) => {
                written.extend([task.output_file, task.html]);
                // What is left out by a filter is for the user to say.
                if task.filters.is_empty() {
                    compared.extend([&task.source, &task.target].into_iter().filter_map(local));
                }
                sides.extend([task.source, task.target]);
            }
            _ => {}
        }
        read.extend(sides.iter().filter_map(local));
        Self { folder, read, written: written.into_iter().flatten().collect(), compared }
    }

    /// Refuses to write among what is compared: it would be compared, too.
    fn check_outside(&self, written: &Path) -> Result<(), Failure> {
        let whole = self.folder.join(written);
        // A link, and what it leads to.
        let place = MetricsFile::new(&whole).place;
        let lies = |folder: &&PathBuf| {
            let folder = self.folder.join(folder);
            lies_in(&whole, &folder) || lies_in(&place, &folder)
        };
        let Some(folder) = self.compared.iter().find(lies) else { return Ok(()) };
        let (path, folder) = (written.display(), folder.display());
        let message =
            format!("`{path}` would lie in `{folder}`, which is compared: put it elsewhere");
        Err(Failure::usage(message))
    }

    /// Refuses to write over what is read, or twice to the same file.
    pub(super) fn check(&self) -> Result<(), Failure> {
        let [written, read] = [&self.written, &self.read]
            .map(|paths| paths.iter().map(|path| self.folder.join(path)));
        let (written, read): (Vec<_>, Vec<_>) = (written.collect(), read.collect());
        refuse_overwriting(
            written.iter().map(|path| Some(path.as_path())),
            read.iter().map(PathBuf::as_path),
        )
    }

    /// Refuses a file of metrics that is one of these, or lies among what is transferred.
    pub(super) fn check_metrics(
        &self,
        metrics: &Path,
        spec: Option<&TransferSpec>,
    ) -> Result<(), Failure> {
        self.refuse_read(metrics)?;
        let (path, whole) = (metrics.display(), self.folder.join(metrics));
        if self.written.iter().any(|written| is_same(&self.folder.join(written), &whole)) {
            return Err(Failure::usage(format!(
                "--metrics-file would overwrite `{path}`, which the command writes: give it \
                 another file"
            )));
        }
        let Some(spec) = spec else { return Ok(()) };
        // A link, and what it leads to.
        let place = MetricsFile::new(&whole).place;
        let is_outside = refuse_inside(&whole, spec).and_then(|()| refuse_inside(&place, spec));
        is_outside.map_err(|_| {
            Failure::usage(format!(
                "the metrics file `{path}` would lie among the files of the command: put it into \
                 another folder"
            ))
        })
    }

    fn refuse_read(&self, written: &Path) -> Result<(), Failure> {
        let whole = self.folder.join(written);
        if !self.read.iter().any(|read| is_same(&self.folder.join(read), &whole)) {
            return Ok(());
        }
        let path = written.display();
        let message = format!("`{path}` would be overwritten, and the command has it in use");
        Err(Failure::usage(message))
    }
}

impl JobRequest {
    /// Refuses to overwrite what the job reads, and a file of metrics that it reads or writes.
    pub(crate) fn check_files(&self, machine: &Machine) -> Result<(), Failure> {
        let folder = std::env::current_dir().unwrap_or_default();
        let files = NamedFiles::of(&self.job, &folder);
        // Transfers have words of their own for some of it, and check the rest themselves.
        if matches!(self.job.task, Task::List(_) | Task::Summarize(_) | Task::Compare(_)) {
            files.check()?;
        }
        for written in files.written.iter().chain(&machine.metrics_file) {
            files.check_outside(written)?;
        }
        match &machine.metrics_file {
            Some(metrics) => files.check_metrics(metrics, None),
            None => Ok(()),
        }
    }
}

/// Refuses to write over what the command reads, or twice to the same file.
pub(crate) fn refuse_overwriting<'a>(
    written: impl IntoIterator<Item = Option<&'a Path>>,
    read: impl IntoIterator<Item = &'a Path>,
) -> Result<(), Failure> {
    let written: Vec<&Path> = written.into_iter().flatten().collect();
    let refused = |path: &Path, why: &str| {
        Err(Failure::usage(format!("`{}` would be overwritten, and {why}", path.display())))
    };
    for path in read {
        if let Some(same) = written.iter().find(|written| is_same(path, written)) {
            return refused(same, "the command reads it");
        }
    }
    for (place, path) in written.iter().enumerate() {
        if written[..place].iter().any(|earlier| is_same(earlier, path)) {
            return refused(path, "the command writes it twice");
        }
    }
    Ok(())
}
