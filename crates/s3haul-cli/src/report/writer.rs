//! The file of a report. Lines gather in a buffer; full buffers wait in a bounded queue for a
//! thread of their own, which also writes what has lain for a second.

use std::fs::{File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
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
    buffer: Arc<Mutex<Vec<u8>>>,
    queue: SyncSender<Piece>,
    thread: Mutex<Option<JoinHandle<io::Result<()>>>>,
}

enum Piece {
    Rows(Vec<u8>),
    End,
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
        let buffer = Arc::<Mutex<Vec<u8>>>::default();
        let (queue, pieces) = sync_channel(BUFFERS_WAITING_MAX);
        let late = Arc::clone(&buffer);
        let run = move || write(&mut file, &pieces, &late);
        let thread = std::thread::Builder::new().name("report".to_owned()).spawn(run)?;
        Ok(Self { format, buffer, queue, thread: Mutex::new(Some(thread)) })
    }

    fn push(&self, row: &Row<'_>) {
        let mut buffer = self.buffer.lock().unwrap_or_else(PoisonError::into_inner);
        row.push(self.format, &mut buffer);
        if buffer.len() < BUFFER_FULL {
            return;
        }
        let full = std::mem::take(&mut *buffer);
        drop(buffer);
        // The thread receives pieces until `End`, even if it can no longer write.
        _ = self.queue.send(Piece::Rows(full));
    }

    fn finish(&self, last: &Row<'_>) -> io::Result<()> {
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(thread) = thread else { return Ok(()) };
        let mut rest = {
            let mut buffer = self.buffer.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut *buffer)
        };
        last.push(self.format, &mut rest);
        _ = self.queue.send(Piece::Rows(rest));
        _ = self.queue.send(Piece::End);
        match thread.join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }
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

/// Writes until `End`. After an error it only drains the queue.
fn write(file: &mut File, pieces: &Receiver<Piece>, late: &Mutex<Vec<u8>>) -> io::Result<()> {
    let mut result = Ok(());
    loop {
        let rows = match pieces.recv_timeout(LATEST) {
            Ok(Piece::Rows(rows)) => rows,
            Ok(Piece::End) | Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {
                std::mem::take(&mut *late.lock().unwrap_or_else(PoisonError::into_inner))
            }
        };
        if result.is_ok() {
            result = file.write_all(&rows);
        }
    }
    let is_plain = file.metadata().is_ok_and(|facts| facts.is_file());
    // Some file systems report only now that they are full.
    result.and_then(|()| if is_plain { file.sync_all() } else { Ok(()) })
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
