//! Where a listing goes: standard output, or a file that is there only when it is whole.

use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use s3haul::fs::PendingFile;

use crate::failure::Failure;
use crate::printer::Printer;

/// Takes pieces of whole lines from several threads.
pub(crate) enum Output {
    /// Standard output.
    Printer(Arc<Printer>),
    /// A file.
    File(OutputFile),
}

/// A file that takes its name when it is whole; what had the name before stays until then.
pub(crate) struct OutputFile {
    file: PendingFile,
    /// The next byte's.
    position: Mutex<u64>,
}

impl Output {
    /// Standard output, or a file with this name.
    pub(crate) fn new(path: Option<&Path>, printer: &Arc<Printer>) -> Result<Self, Failure> {
        Ok(match path {
            None => Self::Printer(Arc::clone(printer)),
            Some(path) => {
                Self::File(OutputFile { file: PendingFile::at(path)?, position: Mutex::new(0) })
            }
        })
    }

    /// Writes; `Break` once the output is closed.
    pub(crate) fn write(&self, bytes: &[u8]) -> Result<ControlFlow<()>, Failure> {
        match self {
            Self::Printer(printer) => {
                printer.write(bytes);
                if printer.output_is_closed() {
                    return Ok(ControlFlow::Break(()));
                }
            }
            Self::File(file) => {
                let mut position = file.position.lock().unwrap_or_else(PoisonError::into_inner);
                file.file.write_at(*position, bytes)?;
                *position += bytes.len() as u64;
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Whether it is a terminal.
    pub(crate) fn is_terminal(&self) -> bool {
        match self {
            Self::Printer(printer) => printer.output_is_terminal(),
            Self::File(_) => false,
        }
    }

    /// Puts a file in its place once it is on the disk.
    pub(crate) fn commit(self) -> Result<(), Failure> {
        if let Self::File(output) = self {
            output.file.sync()?;
            // Without a time to set there is nothing to warn of.
            let _ = output.file.commit(s3haul::fs::Finish::default())?;
        }
        Ok(())
    }
}

/// An output as a stream of bytes.
pub(crate) struct OutputStream(pub(crate) Arc<Output>);

impl Write for OutputStream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.0.write(bytes) {
            Ok(ControlFlow::Continue(())) => Ok(bytes.len()),
            Ok(ControlFlow::Break(())) => Err(io::ErrorKind::BrokenPipe.into()),
            Err(failure) => Err(io::Error::other(failure.message)),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
