//! The file of a report. Lines gather in a buffer; full buffers wait, not too many of them, for a
//! thread of their own, which also writes what has lain for a second. Before a journal is written
//! all lines are written that there are, if they go to a regular file: a pipe or a terminal takes
//! them when its reader does.

use std::fs::{File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use super::parts::Parts;
use super::row::{COLUMNS, Format, Row, Sides, is_parquet};
use crate::failure::Failure;
use crate::render::csv;

/// A buffer that is this full in bytes is written.
const BUFFER_FULL: usize = 64 * 1024;
/// Full buffers that may wait; with more, writers wait for the disk.
const BUFFERS_WAITING_MAX: usize = 16;
/// Time after which a buffer is written that is not full.
const LATEST: Duration = Duration::from_secs(1);

/// Writes a report.
pub(crate) struct ReportWriter {
    path: PathBuf,
    rows: Rows,
}

enum Rows {
    Lines(Lines),
    Parts(Parts),
}

/// Writes lines.
struct Lines {
    format: Format,
    is_regular: bool,
    shared: Arc<Shared>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// What the thread shares with the threads that add rows.
struct Shared {
    waiting: Mutex<Waiting>,
    /// A buffer is full or was taken, or the report ends.
    changed: Condvar,
    /// Taken before `waiting`, so that rows come in the order in which they were taken.
    file: Mutex<(File, io::Result<()>)>,
}

/// Rows that are not in the file.
#[derive(Default)]
struct Waiting {
    /// Full buffers.
    full: Vec<Vec<u8>>,
    buffer: Vec<u8>,
    is_over: bool,
}

impl ReportWriter {
    /// Makes the file and writes its first row.
    pub(crate) fn create(path: &Path, sides: &Sides) -> Result<Self, Failure> {
        let first = Row::first(sides);
        let rows = if is_parquet(path) {
            Parts::create(path, &first).map(Rows::Parts)
        } else {
            Lines::create(path, &first).map(Rows::Lines)
        };
        let rows = rows.map_err(|error| Failure::other(describe(path, &error)))?;
        Ok(Self { path: path.to_owned(), rows })
    }

    /// Adds a row.
    pub(super) fn push(&self, row: &Row<'_>) {
        match &self.rows {
            Rows::Lines(lines) => lines.push(row),
            Rows::Parts(parts) => parts.push(row),
        }
    }

    /// Writes the rows that were added to a regular file, as far as the format allows it: parts of
    /// Parquet are whole or not there. Never waits for a reader.
    pub(crate) fn flush(&self) {
        if let Rows::Lines(lines) = &self.rows
            && lines.is_regular
        {
            lines.shared.write();
        }
    }

    /// Writes the last row and closes the file; returns an earlier write error, too.
    pub(crate) fn finish(&self, is_complete: bool) -> Result<(), String> {
        let last = Row::last(is_complete);
        let written = match &self.rows {
            Rows::Lines(lines) => lines.finish(&last),
            Rows::Parts(parts) => parts.finish(&last),
        };
        written.map_err(|error| describe(&self.path, &error))
    }
}

impl Lines {
    fn create(path: &Path, row: &Row<'_>) -> io::Result<Self> {
        let format = Format::of(path);
        let mut first = Vec::new();
        if format == Format::Csv {
            csv::push_row(&mut first, &COLUMNS);
        }
        row.push(format, &mut first);
        let mut file = open_alone(path)?;
        file.write_all(&first)?;
        let is_regular = file.metadata().is_ok_and(|facts| facts.is_file());
        let shared = Arc::new(Shared {
            waiting: Mutex::default(),
            changed: Condvar::new(),
            file: Mutex::new((file, Ok(()))),
        });
        let late = Arc::clone(&shared);
        let run = move || late.write_on();
        let thread = std::thread::Builder::new().name("report".to_owned()).spawn(run)?;
        Ok(Self { format, is_regular, shared, thread: Mutex::new(Some(thread)) })
    }

    fn push(&self, row: &Row<'_>) {
        let Shared { waiting, changed, .. } = &*self.shared;
        let mut waiting = lock(waiting);
        row.push(self.format, &mut waiting.buffer);
        if waiting.buffer.len() < BUFFER_FULL {
            return;
        }
        // The thread takes buffers until the end, even if it can no longer write.
        let is_behind =
            |waiting: &mut Waiting| waiting.full.len() >= BUFFERS_WAITING_MAX && !waiting.is_over;
        waiting = changed.wait_while(waiting, is_behind).unwrap_or_else(PoisonError::into_inner);
        let full = std::mem::take(&mut waiting.buffer);
        waiting.full.push(full);
        changed.notify_all();
    }

    fn finish(&self, last: &Row<'_>) -> io::Result<()> {
        let Some(thread) = lock(&self.thread).take() else { return Ok(()) };
        let mut waiting = lock(&self.shared.waiting);
        last.push(self.format, &mut waiting.buffer);
        waiting.is_over = true;
        drop(waiting);
        self.shared.changed.notify_all();
        if let Err(panic) = thread.join() {
            std::panic::resume_unwind(panic);
        }
        let mut file = lock(&self.shared.file);
        let (file, result) = &mut *file;
        // Some file systems report only now that they are full.
        let result = std::mem::replace(result, Ok(()));
        result.and_then(|()| if self.is_regular { file.sync_all() } else { Ok(()) })
    }
}

impl Shared {
    /// Writes full buffers, and what has lain for a while, until the report is over.
    fn write_on(&self) {
        loop {
            let waiting = lock(&self.waiting);
            let is_idle = |waiting: &mut Waiting| waiting.full.is_empty() && !waiting.is_over;
            let waited = self.changed.wait_timeout_while(waiting, LATEST, is_idle);
            let is_over = waited.unwrap_or_else(PoisonError::into_inner).0.is_over;
            self.write();
            if is_over {
                return;
            }
        }
    }

    /// Writes all rows that were added before. After an error it only drops them.
    fn write(&self) {
        let mut file = lock(&self.file);
        let mut waiting = lock(&self.waiting);
        let rows = (std::mem::take(&mut waiting.full), std::mem::take(&mut waiting.buffer));
        drop(waiting);
        let (full, rest) = rows;
        if !full.is_empty() {
            self.changed.notify_all();
        }
        let (file, result) = &mut *file;
        for rows in full.iter().chain([&rest]).filter(|rows| !rows.is_empty()) {
            if result.is_ok() {
                *result = file.write_all(rows);
            }
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Drop for ReportWriter {
    fn drop(&mut self) {
        // A command that ended early has printed why.
        _ = self.finish(false);
    }
}

/// Makes or empties a file that no other command is writing, such as another line of `run`: their
/// rows would lie over each other. Where files cannot be locked that is not looked for.
pub(crate) fn open_alone(path: &Path) -> io::Result<File> {
    let file = File::options().write(true).create(true).truncate(false).open(path)?;
    if !file.metadata()?.is_file() {
        return Ok(file);
    }
    if let Err(TryLockError::WouldBlock) = file.try_lock() {
        return Err(in_use());
    }
    file.set_len(0)?;
    Ok(file)
}

/// Another command is writing this report.
pub(super) fn in_use() -> io::Error {
    let message = "another command is writing it: give each its own file";
    io::Error::new(io::ErrorKind::ResourceBusy, message)
}

fn describe(path: &Path, error: &io::Error) -> String {
    format!("could not write the report `{}`: {error}", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_whole_and_between_the_first_and_the_last() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("r.jsonl");
        let report = ReportWriter::create(&path, &Sides::default()).unwrap();
        let text = "x".repeat(1_000);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..500 {
                        report.push(&Row::text("warning", text.as_str()));
                    }
                });
            }
        });
        report.finish(true).unwrap();
        let written = std::fs::read_to_string(&path).unwrap();
        let lines: Vec<_> = written.lines().collect();
        assert_eq!(lines.len(), 2_002);
        assert!(lines[0].contains("\"report\"") && lines[2_001].contains("\"complete\""));
        for line in lines {
            let _: serde_json::Value = serde_json::from_str(line).unwrap();
        }
    }

    #[test]
    fn what_was_flushed_is_in_the_file_also_behind_full_buffers() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("r.jsonl");
        let report = ReportWriter::create(&path, &Sides::default()).unwrap();
        let text = "x".repeat(BUFFER_FULL / 3);
        for count in 1..20 {
            report.push(&Row::text("warning", text.as_str()));
            report.flush();
            assert_eq!(std::fs::read_to_string(&path).unwrap().lines().count(), 1 + count);
        }
        (0..10).for_each(|_| report.push(&Row::text("warning", text.as_str())));
        report.flush();
        assert_eq!(std::fs::read_to_string(&path).unwrap().lines().count(), 30);
    }

    #[test]
    fn a_journal_does_not_wait_for_the_reader_of_a_report() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        // Open on both sides, it has a reader, which never reads.
        let reader = File::options().read(true).write(true).open(&path).unwrap();
        let report = ReportWriter::create(&path, &Sides::default()).unwrap();
        // More than a pipe holds.
        let text = "x".repeat(BUFFER_FULL);
        (0..4).for_each(|_| report.push(&Row::text("warning", text.as_str())));
        report.flush();
        drop(reader);
        assert!(report.finish(true).is_err());
    }

    #[test]
    fn two_commands_do_not_write_one_report() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("r.csv");
        std::fs::write(&path, "x".repeat(10_000)).unwrap();
        let first = ReportWriter::create(&path, &Sides::default()).unwrap();
        let failure = ReportWriter::create(&path, &Sides::default()).err().unwrap();
        assert!(failure.message.contains("another command is writing it"), "{failure:?}");
        first.finish(true).unwrap();
        drop(first);
        assert!(!std::fs::read_to_string(&path).unwrap().contains('x'));
        ReportWriter::create(&path, &Sides::default()).unwrap();
    }

    #[test]
    fn a_full_disk_is_an_error() {
        if !Path::new("/dev/full").exists() {
            return;
        }
        let failure = ReportWriter::create(Path::new("/dev/full"), &Sides::default()).err();
        assert!(failure.unwrap().message.contains("could not write the report `/dev/full`"));
    }
}
