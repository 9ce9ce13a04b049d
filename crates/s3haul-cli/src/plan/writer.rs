//! Writing a plan: it has its name when it is complete, and not before.

use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use s3haul::event::ObjectEvent;
use tempfile::NamedTempFile;

use super::row::{Column, JOB, cells, sides};
use crate::failure::Failure;
use crate::table::{ColumnKind, ColumnSpec, TableError, TableWriter, unfinished_file};

/// Writes a plan.
pub(crate) struct PlanWriter {
    path: PathBuf,
    state: Mutex<Writing>,
}

struct Writing {
    table: Option<Table>,
    rows: u64,
    /// Why nothing more is written.
    failure: Option<TableError>,
}

type Table = TableWriter<BufWriter<NamedTempFile>>;

impl PlanWriter {
    /// Begins the plan of a job beside the file that it becomes.
    pub(crate) fn create(path: &Path, job: &str) -> Result<Self, Failure> {
        let create = || {
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
            let file = unfinished_file(folder.unwrap_or(Path::new(".")), ".s3haul-plan-")?;
            let columns = Column::ALL.into_iter().map(|column| spec(column, job)).collect();
            let output = BufWriter::new(file);
            let table = TableWriter::new(output, "plan", columns, &[(JOB, job)])
                .map_err(io::Error::other)?;
            // A plan that fails must not leave an older one to be taken for it.
            match std::fs::symlink_metadata(path) {
                Ok(old) if old.is_file() => std::fs::remove_file(path)?,
                Ok(_) => return Err(io::Error::other("it exists and is not a file")),
                Err(_) => {}
            }
            let state = Mutex::new(Writing { table: Some(table), rows: 0, failure: None });
            Ok(Self { path: path.to_owned(), state })
        };
        create().map_err(|error: io::Error| Failure::other(describe(path, &error)))
    }

    /// Adds what would be done.
    pub(super) fn push(&self, event: &ObjectEvent) {
        let Some(expected) = &event.expected else { return };
        let sides = sides(event);
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(table) = &mut state.table else { return };
        let pushed = sides
            .and_then(|(source, target)| table.push(cells(event, expected, (&source, &target))));
        state.rows += 1;
        if let Err(error) = pushed {
            (state.table, state.failure) = (None, Some(error));
        }
    }

    /// Gives the plan its name; returns the number of its rows. Blocks.
    pub(crate) fn finish(&self) -> Result<u64, String> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let (table, failure) = (state.table.take(), state.failure.take());
        let write = || {
            if let Some(error) = failure {
                return Err(io::Error::other(error));
            }
            let Some(table) = table else { return Ok(()) };
            let file = table.finish().map_err(io::Error::other)?;
            let file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
            file.as_file().sync_all()?;
            file.persist(&self.path)?;
            Ok(())
        };
        write().map_err(|error| describe(&self.path, &error))?;
        Ok(state.rows)
    }

    /// Where the plan is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

fn spec(column: Column, job: &str) -> ColumnSpec {
    let kind = match column {
        Column::Action
        | Column::Reason
        | Column::SourceClass
        | Column::TargetState
        | Column::TargetClass => ColumnKind::Word,
        Column::Source
        | Column::Target
        | Column::SourceEtag
        | Column::SourceVersion
        | Column::TargetEtag
        | Column::TargetVersion => ColumnKind::Text,
        Column::Job => ColumnKind::Constant(Arc::from(job)),
        _ => ColumnKind::Number,
    };
    ColumnSpec { name: column.name(), kind, is_optional: false }
}

fn describe(path: &Path, error: &io::Error) -> String {
    format!("could not write the plan `{}`: {error}", path.display())
}
