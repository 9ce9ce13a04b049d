//! Plans read back, as they were written or as another program changed them.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use s3haul::event::ActionKind;
use s3haul::job::{NameSource, Named, Names};
use s3haul::location::Location;
use s3haul::plan::expected::{Expected, State, TargetState};
use s3haul::{Error, ErrorKind, Result};
use s3haul_wire::units::RequestCounts;

use super::row::{Column, JOB};
use crate::report::{action_of, location};
use crate::table::{Cell, TableError, TableReader};

/// The file of a plan.
#[derive(Clone, Debug)]
pub(crate) struct PlanFile {
    path: PathBuf,
    /// None of a plan without rows that another program wrote.
    job: Option<Arc<str>>,
    /// The file itself, and its state: its name may be given to another one.
    identity: Identity,
}

/// Which file it is, and in what state.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Identity {
    file: (u64, u64),
    size: u64,
    modified: Option<SystemTime>,
}

impl Identity {
    fn of(file: &File, path: &Path) -> Result<Self> {
        let metadata = file
            .metadata()
            .map_err(|source| Error::local("could not examine the plan", path, source))?;
        #[cfg(unix)]
        let file = {
            use std::os::unix::fs::MetadataExt as _;
            (metadata.dev(), metadata.ino())
        };
        #[cfg(not(unix))]
        let file = (0, 0);
        Ok(Self { file, size: metadata.len(), modified: metadata.modified().ok() })
    }
}

/// A row of a plan.
#[derive(Debug)]
pub(crate) struct PlanRow {
    pub(crate) action: ActionKind,
    pub(crate) source: Location,
    pub(crate) target: Option<Location>,
    pub(crate) reason: String,
    pub(crate) expected: Box<Expected>,
}

impl PlanFile {
    /// Reads what a plan says of its job. Blocks.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let mut rows = Rows::open(path, None)?;
        let job = rows.reader.value(JOB).map(str::to_owned);
        let job = if job.is_some() {
            job
        } else {
            rows.fill()?;
            let is_empty = rows.read.len() == 0;
            let job = rows.first_job.take();
            if job.is_none() && !is_empty {
                let why = "it does not say which job it is of: it has no rows with a `job`";
                return Err(refused(path, why));
            }
            job
        };
        Ok(Self { path: path.to_owned(), job: job.map(Into::into), identity: rows.identity })
    }

    /// The job as JSON; none where there are no rows, and so nothing to be done.
    pub(crate) fn job(&self) -> Option<&str> {
        self.job.as_deref()
    }

    /// All rows. After an error there are no more. Blocks.
    pub(crate) fn rows(&self) -> Result<impl Iterator<Item = Result<PlanRow>> + Send + use<>> {
        let rows = Rows::open(&self.path, self.job.clone())?;
        if rows.identity != self.identity {
            let path = self.path.display();
            let message = format!("the plan `{path}` was changed while it was read");
            return Err(Error::new(ErrorKind::Config, message));
        }
        Ok(rows)
    }
}

impl NameSource for PlanFile {
    fn names(&self) -> Result<Names> {
        let named = |row: Result<PlanRow>| {
            let PlanRow { action, source, target, expected, .. } = row?;
            Ok(Named { action, source, target, collides: false, expected: Some(expected) })
        };
        Ok(Box::new(self.rows()?.map(named)))
    }

    fn is_plan(&self) -> bool {
        true
    }
}

/// The cells of a row.
#[derive(Clone, Debug, Default)]
struct Raw {
    action: String,
    source: String,
    target: String,
    reason: String,
    source_state: State,
    target_state: String,
    found: State,
    requests: RequestCounts,
}

/// The rows of a file, many read at a time.
struct Rows {
    path: PathBuf,
    identity: Identity,
    reader: TableReader,
    /// The job that all rows must be of.
    job: Option<Arc<str>>,
    /// That of the first row.
    first_job: Option<String>,
    read: std::vec::IntoIter<Raw>,
    number: u64,
    is_over: bool,
}

impl Rows {
    fn open(path: &Path, job: Option<Arc<str>>) -> Result<Self> {
        let file = File::open(path)
            .map_err(|source| Error::local("could not open the plan", path, source))?;
        if path.is_dir() {
            return Err(refused(path, "it is a folder (a report in Parquet?)"));
        }
        let identity = Identity::of(&file, path)?;
        let number = |name: &str| Column::of(name).map(|column| column as usize);
        let reader = TableReader::open(file, number).map_err(|error| unreadable(path, &error))?;
        let is_report = reader.names().any(|name| name == "event");
        for column in Column::ALL {
            let count = reader.columns().filter(|number| *number == column as usize).count();
            if count == 0 && column.is_needed() && is_report {
                return Err(refused(path, "it is a report"));
            }
            if count > 1 || (count == 0 && column.is_needed()) {
                let what = if count == 0 { "no column" } else { "two columns" };
                return Err(refused(path, &format!("it has {what} `{}`", column.name())));
            }
        }
        let (path, read) = (path.to_owned(), Vec::new().into_iter());
        Ok(Self { path, identity, reader, job, first_job: None, read, number: 0, is_over: false })
    }

    /// Reads the next rows.
    fn fill(&mut self) -> Result<()> {
        let (mut rows, mut wrong) = (Vec::<Raw>::new(), None);
        let (job, first_job) = (self.job.as_deref(), &mut self.first_job);
        let read = self.reader.read(&mut |row, column, cell| {
            if rows.len() <= row {
                rows.resize_with(row + 1, Raw::default);
            }
            let column = Column::ALL[column];
            let is_right = match (column, cell) {
                (Column::Job, Cell::Text(text)) => {
                    first_job.get_or_insert_with(|| text.to_owned());
                    job.is_none_or(|job| job == text)
                }
                (Column::Job, _) => false,
                (column, cell) => rows[row].take(column, cell),
            };
            if !is_right {
                wrong = Some((row, column));
            }
            is_right
        });
        if let Some((row, column)) = wrong {
            let (number, name) = (self.number + row as u64 + 1, column.name());
            let why = match column {
                Column::Job => format!("row {number} is of another job"),
                _ => format!("row {number} has an invalid value in `{name}`"),
            };
            return Err(refused(&self.path, &why));
        }
        let count = read.map_err(|error| unreadable(&self.path, &error))?;
        self.is_over = count == 0;
        self.read = rows.into_iter();
        Ok(())
    }
}

impl Iterator for Rows {
    type Item = Result<PlanRow>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.read.len() == 0
            && !self.is_over
            && let Err(error) = self.fill()
        {
            self.is_over = true;
            return Some(Err(error));
        }
        let raw = self.read.next()?;
        self.number += 1;
        let row = raw.into_row();
        Some(row.map_err(|why| {
            self.is_over = true;
            self.read = Vec::new().into_iter();
            refused(&self.path, &format!("row {}: {why}", self.number))
        }))
    }
}

impl Raw {
    /// Takes a cell in; false where it makes no sense. A text that is not there is empty.
    fn take(&mut self, column: Column, cell: Cell<'_>) -> bool {
        let text = match cell {
            Cell::Nothing => Some(""),
            Cell::Text(text) => Some(text),
            Cell::Number(_) | Cell::Flag(_) => None,
        };
        let number = match cell {
            Cell::Number(number) => Some(number),
            _ => None,
        };
        let count = number.and_then(|number| u64::try_from(number).ok());
        let into = |place: &mut String| text.map(|text| text.clone_into(place)).is_some();
        let count_into = |place: &mut u64| count.map(|count| *place = count).is_some();
        let quoted = |text: &str| {
            if text.is_empty() || text.starts_with('"') {
                text.to_owned()
            } else {
                format!("\"{text}\"")
            }
        };
        let etag_into = |place: &mut String| text.map(|text| *place = quoted(text)).is_some();
        let version_into = |place: &mut Option<String>| {
            text.map(|text| *place = Some(text.to_owned()).filter(|id| !id.is_empty())).is_some()
        };
        let (source, found) = (&mut self.source_state, &mut self.found);
        match column {
            Column::Action => into(&mut self.action),
            Column::Source => into(&mut self.source),
            Column::Target => into(&mut self.target),
            Column::Reason => into(&mut self.reason),
            Column::SourceSize => count_into(&mut source.size),
            Column::SourceModified => number.map(|ns| source.modified_ns = ns).is_some(),
            Column::SourceEtag => etag_into(&mut source.etag),
            Column::SourceVersion => version_into(&mut source.version_id),
            Column::SourceClass => into(&mut source.storage_class),
            Column::TargetState => into(&mut self.target_state),
            Column::TargetSize => count_into(&mut found.size),
            Column::TargetModified => number.map(|ns| found.modified_ns = ns).is_some(),
            Column::TargetEtag => etag_into(&mut found.etag),
            Column::TargetVersion => version_into(&mut found.version_id),
            Column::TargetClass => into(&mut found.storage_class),
            Column::RequestsWrite => count_into(&mut self.requests.write),
            Column::RequestsRead => count_into(&mut self.requests.read),
            Column::RequestsDelete => count_into(&mut self.requests.delete),
            Column::Job => true,
        }
    }

    fn into_row(self) -> std::result::Result<PlanRow, String> {
        let Self { action, source, target, reason, source_state, target_state, found, requests } =
            self;
        let place = |text: &str| match location(text, "") {
            Some(Location::Local(path)) if path.is_relative() => {
                Err(format!("`{text}` is not an absolute path"))
            }
            place => place.ok_or_else(|| format!("`{text}` is no file and no object")),
        };
        let action_kind = action_of(&action).ok_or_else(|| format!("`{action}` is no action"))?;
        let source = match place(&source)? {
            Location::Object(name) => {
                Location::Object(name.in_version(source_state.version_id.clone()))
            }
            source => source,
        };
        let target = if target.is_empty() { None } else { Some(place(&target)?) };
        // A size says too little of an object.
        let is_named = |place: &Location, state: &State| {
            let is_object = matches!(place, Location::Object(_));
            !is_object || !state.etag.is_empty() || state.version_id.is_some()
        };
        if !is_named(&source, &source_state) {
            return Err("its source has no `ETag`".to_owned());
        }
        if target_state == "found" && target.as_ref().is_some_and(|place| !is_named(place, &found))
        {
            return Err("its target has no `ETag`".to_owned());
        }
        let target_state = match target_state.as_str() {
            "missing" => TargetState::Missing,
            "found" => TargetState::Found(found),
            "unknown" if target.is_none() => TargetState::Unknown,
            other => return Err(format!("its target cannot be `{other}`")),
        };
        let mut expected = Expected::new(source_state, target_state);
        expected.requests = requests;
        Ok(PlanRow { action: action_kind, source, target, reason, expected })
    }
}

fn unreadable(path: &Path, error: &TableError) -> Error {
    refused(path, &format!("it cannot be read as Parquet: {error}"))
}

fn refused(path: &Path, why: &str) -> Error {
    let message = format!("`{}` is no plan of s3haul: {why}", path.display());
    Error::new(ErrorKind::Config, message)
}
