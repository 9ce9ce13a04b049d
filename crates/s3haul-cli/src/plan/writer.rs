//! Writing a plan: it has its name when it is complete, and not before.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use s3haul::event::ObjectEvent;

use super::row::{Column, JOB, cells, sides};
use crate::failure::Failure;
use crate::table::{ColumnKind, ColumnSpec, TableFile};

/// Writes a plan.
pub(crate) struct PlanWriter {
    path: PathBuf,
    state: Mutex<Writing>,
}

struct Writing {
    table: Option<TableFile>,
    rows: u64,
    /// Why nothing more is written.
    failure: Option<io::Error>,
}

impl PlanWriter {
    /// Begins the plan of a job beside the file that it becomes.
    pub(crate) fn create(path: &Path, job: &str) -> Result<Self, Failure> {
        let create = || {
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
            let place = (folder.unwrap_or(Path::new(".")), ".s3haul-plan-");
            let columns = Column::ALL.into_iter().map(|column| spec(column, job)).collect();
            let table = TableFile::create(place, "plan", columns, &[(JOB, job)])?;
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
            .map_err(io::Error::other)
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
                return Err(error);
            }
            table.map_or(Ok(()), |table| table.persist(&self.path))
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
