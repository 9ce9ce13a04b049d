//! A report as Parquet: a folder of parts, each whole when it has its name, so that a command that
//! was killed leaves what programs can read.
//!
//! A part ends when it is large, or when it is older than a tenth of the time that the command has
//! run: a command of 40 hours has some 300 parts, and one that is killed loses little.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::row::{COLUMNS, Row};
use crate::table::{Cell, ColumnKind, ColumnSpec, TableFile};

/// Rows of a part at most.
const ROWS_MAX: u64 = 1_000_000;
/// How often the age of a part is looked at; it may be as old.
const TICK: Duration = Duration::from_secs(1);
/// A part is no older.
const AGE_MAX: Duration = Duration::from_mins(10);
/// What the names of parts begin with.
const PART: &str = "part-";
/// And those of parts that are not whole.
const HIDDEN: &str = ".part-";

/// Writes the parts.
pub(super) struct Parts {
    writing: Arc<Mutex<Writing>>,
    /// Closing it ends the thread.
    clock: Mutex<Option<(Sender<()>, JoinHandle<()>)>>,
}

struct Writing {
    folder: PathBuf,
    /// The folder, locked as long as it is written.
    _lock: File,
    /// The number of the next part.
    number: u32,
    table: Option<TableFile>,
    rows: u64,
    begun: Instant,
    part_begun: Instant,
    /// Why nothing more is written.
    failure: Option<io::Error>,
}

impl Parts {
    /// Makes the folder, or takes that of an earlier report, and writes a part with the first row.
    pub(super) fn create(folder: &Path, first: &Row<'_>) -> io::Result<Self> {
        if folder.is_file() {
            let message = "a file has its name, and a report in Parquet is a folder of parts";
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, message));
        }
        // Not the folder that it lies in, as for other reports.
        if !folder.is_dir() {
            fs::create_dir(folder)?;
        }
        let lock = File::open(folder)?;
        if let Err(TryLockError::WouldBlock) = lock.try_lock() {
            return Err(super::writer::in_use());
        }
        remove_parts(folder)?;
        let now = Instant::now();
        let mut writing = Writing {
            folder: folder.to_owned(),
            _lock: lock,
            number: 0,
            table: None,
            rows: 0,
            begun: now,
            part_begun: now,
            failure: None,
        };
        writing.push(first)?;
        writing.end_part()?;
        let writing = Arc::new(Mutex::new(writing));
        let (stop, stopped) = channel::<()>();
        let ticking = Arc::clone(&writing);
        let run = move || {
            while stopped.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                ticking.lock().unwrap_or_else(PoisonError::into_inner).tick();
            }
        };
        let thread = std::thread::Builder::new().name("report".to_owned()).spawn(run)?;
        Ok(Self { writing, clock: Mutex::new(Some((stop, thread))) })
    }

    /// Adds a row.
    pub(super) fn push(&self, row: &Row<'_>) {
        let mut writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        if writing.failure.is_none() {
            writing.failure = writing.push(row).err();
        }
    }

    /// Writes the last row; returns an earlier write error, too.
    pub(super) fn finish(&self, last: &Row<'_>) -> io::Result<()> {
        let clock = self.clock.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some((stop, thread)) = clock else { return Ok(()) };
        drop(stop);
        if let Err(panic) = thread.join() {
            std::panic::resume_unwind(panic);
        }
        let mut writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        match writing.failure.take() {
            Some(failure) => Err(failure),
            None => writing.push(last).and_then(|()| writing.end_part()),
        }
    }
}

impl Writing {
    fn push(&mut self, row: &Row<'_>) -> io::Result<()> {
        if self.table.is_none() {
            let place = (&*self.folder, HIDDEN);
            self.table = Some(TableFile::create(place, "report", columns(), &[])?);
            self.part_begun = Instant::now();
        }
        if let Some(table) = &mut self.table {
            table.push(cells(row))?;
            self.rows += 1;
        }
        if self.rows < ROWS_MAX { Ok(()) } else { self.end_part() }
    }

    /// Gives the part its name.
    fn end_part(&mut self) -> io::Result<()> {
        self.rows = 0;
        let Some(table) = self.table.take() else { return Ok(()) };
        table.persist(&self.folder.join(format!("{PART}{:06}.parquet", self.number)))?;
        self.number += 1;
        Ok(())
    }

    /// Ends a part that is old.
    fn tick(&mut self) {
        let age_max = (self.begun.elapsed() / 10).min(AGE_MAX);
        if self.failure.is_none() && self.table.is_some() && self.part_begun.elapsed() >= age_max {
            self.failure = self.end_part().err();
        }
    }
}

/// The parts of a report in order. The path may also be one of a file.
pub(super) fn parts(path: &Path) -> io::Result<Vec<PathBuf>> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut parts = Vec::new();
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        if entry.file_name().as_encoded_bytes().starts_with(PART.as_bytes()) {
            parts.push(entry.path());
        }
    }
    parts.sort_unstable();
    Ok(parts)
}

/// Removes the parts of an earlier report; a folder that has anything else is not one.
fn remove_parts(folder: &Path) -> io::Result<()> {
    let entries = fs::read_dir(folder)?.collect::<io::Result<Vec<_>>>()?;
    let is_number = |name: &[u8]| name.len() == 6 && name.iter().all(u8::is_ascii_digit);
    // Programs that write tables have names like these, too.
    let is_part = |name: &[u8]| {
        let number = name.strip_prefix(PART.as_bytes());
        let number = number.and_then(|name| name.strip_suffix(b".parquet"));
        name.starts_with(HIDDEN.as_bytes()) || number.is_some_and(is_number)
    };
    if let Some(other) = entries.iter().find(|e| !is_part(e.file_name().as_encoded_bytes())) {
        let name = other.file_name();
        let message = format!("it is a folder and has `{}`, which is no part", name.display());
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, message));
    }
    entries.iter().try_for_each(|entry| fs::remove_file(entry.path()))
}

fn columns() -> Vec<ColumnSpec> {
    let kind = |name| match name {
        "event" | "action" | "outcome" | "reason" => ColumnKind::Word,
        "bytes" | "attempts" => ColumnKind::Number,
        _ => ColumnKind::Text,
    };
    let spec = |name| ColumnSpec { name, kind: kind(name), is_optional: false };
    COLUMNS.into_iter().map(spec).collect()
}

fn cells<'a>(row: &'a Row<'_>) -> impl FnMut(usize) -> Cell<'a> {
    let number = |number: u64| Cell::Number(i64::try_from(number).unwrap_or(i64::MAX));
    let cells: [Cell<'a>; COLUMNS.len()] = [
        Cell::Text(row.event),
        Cell::Text(row.action),
        Cell::Text(row.outcome),
        Cell::Text(row.reason),
        number(row.bytes.unwrap_or(0)),
        number(row.attempts.unwrap_or(0).into()),
        Cell::Text(&row.source),
        Cell::Text(&row.target),
        Cell::Text(&row.error),
        Cell::Text(&row.path_base64),
        Cell::Text(row.version_id),
    ];
    move |column| cells[column]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(folder: &Path) -> usize {
        parts(folder).unwrap().len()
    }

    #[test]
    fn a_killed_command_leaves_whole_parts() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("r.parquet");
        let report = Parts::create(&path, &Row::text("report", "")).unwrap();
        assert_eq!(written(&path), 1, "of which command it is");
        report.push(&Row::text("warning", "w"));
        report.writing.lock().unwrap().begun -= Duration::from_mins(1);
        report.writing.lock().unwrap().tick();
        assert_eq!(written(&path), 1, "it is young");
        report.writing.lock().unwrap().part_begun -= Duration::from_secs(7);
        report.writing.lock().unwrap().tick();
        assert_eq!(written(&path), 2);
        report.push(&Row::text("warning", "lost"));
        let failure = Parts::create(&path, &Row::text("report", "")).err().unwrap();
        assert!(failure.to_string().contains("another command"), "{failure}");
        report.finish(&Row::last(true)).unwrap();
        assert_eq!(written(&path), 3);
        drop(report);
        let report = Parts::create(&path, &Row::text("report", "")).unwrap();
        assert_eq!(written(&path), 1, "a new report takes the place of the old one");
        report.finish(&Row::last(true)).unwrap();
        drop(report);
        fs::write(path.join("mine"), "").unwrap();
        let failure = Parts::create(&path, &Row::text("report", "")).err().unwrap();
        assert!(failure.to_string().contains("has `mine`, which is no part"), "{failure}");
    }
}
