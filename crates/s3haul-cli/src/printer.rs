//! The only place that writes to the standard streams, or to a file in their place ([`Output`]).
//!
//! Lines are collected in buffers and written in big pieces: at once on a terminal, else when a
//! buffer is full, when [`Printer::flush`] is called (a ticker does, ten times a second) and at
//! the end; what is a big piece already goes past the buffers ([`Printer::write`]). A progress bar
//! is taken away while lines are written, so nothing tears. Once standard output is closed, further
//! output to it is dropped and [`Printer::output_is_closed`] returns true. Control sequences other
//! than colours do not reach a terminal.

use std::io::{self, IsTerminal, Write};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use indicatif::ProgressBar;
use s3haul::fs::{Finish, PendingFile};

use crate::failure::Failure;
use crate::render::escape::tame;
use crate::standard_streams;

/// A buffer that is this full in bytes is written.
const BUFFER_FULL: usize = 64 * 1024;
/// Bytes that are held back at most while something else talks on the terminal.
const HELD_MAX: usize = 1024 * 1024;

/// How progress is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProgressStyle {
    /// As a bar on a terminal.
    Auto,
    /// As a line every some seconds.
    Plain,
}

/// Takes whole lines, and bytes that are none.
pub(crate) type Taker = Arc<dyn Fn(&[u8]) + Send + Sync>;

/// Writes to the standard streams, or hands everything to the program that runs the command.
pub(crate) struct Printer {
    buffers: Mutex<Buffers>,
    /// What takes standard output and standard error in the place of the process's streams.
    takers: Option<[Taker; 2]>,
    output_closed: Arc<AtomicBool>,
    output_failure: OnceLock<io::Error>,
    output_is_terminal: bool,
    error_is_terminal: bool,
    color: bool,
    progress_style: ProgressStyle,
    /// Another task flushes for all commands of the process.
    is_flushed: AtomicBool,
    /// The warning that certificates are not verified was printed.
    has_warned: AtomicBool,
    /// What the job says of lost lines.
    lost_lines: OnceLock<LostLines>,
}

/// What it means for a command that its lines on standard output are lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LostLines {
    /// It fails.
    Fail,
    /// It fails with exit code 1, as the AWS CLI does, though its work is done.
    FailAsAws,
    /// Nothing: they only repeat what was done.
    Warn,
}

#[derive(Default)]
struct Buffers {
    output: Vec<u8>,
    error: Vec<u8>,
    bar: Option<ProgressBar>,
    /// Columns that a progress line without a line feed occupies.
    covered: usize,
    /// Something else talks on the terminal: lines stay in the buffers until these are full.
    is_held: bool,
}

impl Printer {
    /// A printer for this process; `color` is what the flags say, where they do.
    pub(crate) fn new(color: Option<bool>) -> Self {
        let terminals = [io::stdout().is_terminal(), io::stderr().is_terminal()];
        Self::of(None, terminals, color.unwrap_or(terminals[1]))
    }

    /// A printer that hands on what is meant for standard output and standard error.
    pub(crate) fn handing_on(output: Taker, error: Taker) -> Self {
        Self::of(Some([output, error]), [false; 2], false)
    }

    fn of(
        takers: Option<[Taker; 2]>,
        [output_is_terminal, error_is_terminal]: [bool; 2],
        color: bool,
    ) -> Self {
        Self {
            buffers: Mutex::default(),
            takers,
            output_closed: Arc::default(),
            output_failure: OnceLock::new(),
            output_is_terminal,
            error_is_terminal,
            color,
            progress_style: ProgressStyle::Auto,
            is_flushed: AtomicBool::new(false),
            has_warned: AtomicBool::new(false),
            lost_lines: OnceLock::new(),
        }
    }

    /// The same, which shows progress in another way.
    pub(crate) fn with_progress(mut self, progress_style: ProgressStyle) -> Self {
        self.progress_style = progress_style;
        self
    }

    /// How progress is shown, where it is.
    pub(crate) fn progress_style(&self) -> ProgressStyle {
        self.progress_style
    }

    /// Warns once that certificates are not verified.
    pub(crate) fn warn_of_unverified(&self) {
        if !self.has_warned.swap(true, Ordering::Relaxed) {
            let text = b"warning: --no-verify-ssl: the identity of the server is not verified\n";
            self.error(|buffer| buffer.extend_from_slice(text));
        }
    }

    /// Whether standard output is a terminal.
    pub(crate) fn output_is_terminal(&self) -> bool {
        self.output_is_terminal
    }

    /// Whether standard error is a terminal.
    pub(crate) fn error_is_terminal(&self) -> bool {
        self.error_is_terminal
    }

    /// Whether it writes to the streams of the process, and not to a program.
    pub(crate) fn is_of_process(&self) -> bool {
        self.takers.is_none()
    }

    /// Whether messages are coloured.
    pub(crate) fn color(&self) -> bool {
        self.color
    }

    /// Why lines could not be written, where the reason is not that their reader has gone.
    pub(crate) fn output_failure(&self) -> Option<&io::Error> {
        self.output_failure.get()
    }

    /// What lost lines mean: that the command fails, unless its job says something else.
    pub(crate) fn lost_lines(&self) -> LostLines {
        self.lost_lines.get().copied().unwrap_or(LostLines::Fail)
    }

    /// Records that; the first call counts.
    pub(crate) fn set_lost_lines(&self, lost_lines: LostLines) {
        _ = self.lost_lines.set(lost_lines);
    }

    /// Whether the reader of standard output has gone.
    pub(crate) fn output_is_closed(&self) -> bool {
        self.output_closed.load(Ordering::Relaxed)
    }

    /// Lets `write` append whole lines to standard output.
    pub(crate) fn output(&self, write: impl FnOnce(&mut Vec<u8>)) {
        let mut buffers = self.lock();
        let start = buffers.output.len();
        write(&mut buffers.output);
        if self.output_is_terminal {
            tame(&mut buffers.output, start, false);
        }
        let covered = std::mem::take(&mut buffers.covered);
        cover(&mut buffers.output, start, covered);
        if buffers.output.len() >= BUFFER_FULL || (self.output_is_terminal && buffers.bar.is_none())
        {
            self.write_out(&mut buffers);
        }
    }

    /// Writes whole lines to standard output at once, without a copy where they go out as they are.
    pub(crate) fn write(&self, lines: &[u8]) {
        let mut buffers = self.lock();
        let is_shared = buffers.bar.is_some() || buffers.covered > 0 || buffers.is_held;
        if !self.output_is_terminal && self.takers.is_none() && !is_shared {
            self.write_out(&mut buffers);
            return self.write_output(lines);
        }
        drop(buffers);
        self.output(|buffer| buffer.extend_from_slice(lines));
        self.flush();
    }

    /// Lets `write` append whole lines to standard error; what was meant for standard output
    /// before is written before.
    pub(crate) fn error(&self, write: impl FnOnce(&mut Vec<u8>)) {
        let mut buffers = self.lock();
        let start = buffers.error.len();
        write(&mut buffers.error);
        if self.error_is_terminal {
            tame(&mut buffers.error, start, self.color);
        }
        let covered = std::mem::take(&mut buffers.covered);
        cover(&mut buffers.error, start, covered);
        if buffers.bar.is_none() {
            self.write_out(&mut buffers);
        }
    }

    /// Prints a progress line over the last one, or below it.
    pub(crate) fn progress_line(&self, line: &str, multiline: bool) {
        let mut buffers = self.lock();
        let start = buffers.output.len();
        buffers.output.extend_from_slice(line.as_bytes());
        let covered = std::mem::take(&mut buffers.covered);
        buffers.output.push(b'\n');
        cover(&mut buffers.output, start, covered);
        if !multiline {
            buffers.output.pop();
            buffers.output.push(b'\r');
            buffers.covered = line.chars().count();
        }
        self.write_out(&mut buffers);
    }

    /// Puts a progress bar below the lines, or takes it away.
    pub(crate) fn set_bar(&self, bar: Option<ProgressBar>) {
        let mut buffers = self.lock();
        self.write_out(&mut buffers);
        buffers.bar = bar;
    }

    /// Runs a dialogue on the terminal. Lines are held back meanwhile, and progress is not shown.
    pub(crate) fn aside<T>(&self, talk: impl FnOnce() -> T) -> T {
        let bar = {
            let mut buffers = self.lock();
            if std::mem::take(&mut buffers.covered) > 0 {
                buffers.output.push(b'\n');
            }
            self.write_out(&mut buffers);
            buffers.is_held = true;
            buffers.bar.clone()
        };
        let _held = Held(self);
        match bar {
            Some(bar) => bar.suspend(talk),
            None => talk(),
        }
    }

    /// Whether something else talks on the terminal.
    pub(crate) fn is_held(&self) -> bool {
        self.lock().is_held
    }

    /// Records that another task flushes from now on for all commands of the process.
    pub(crate) fn set_flushed(&self) {
        self.is_flushed.store(true, Ordering::Relaxed);
    }

    /// Whether that is so.
    pub(crate) fn is_flushed(&self) -> bool {
        self.is_flushed.load(Ordering::Relaxed)
    }

    /// Writes what is still in the buffers.
    pub(crate) fn flush(&self) {
        self.write_out(&mut self.lock());
    }

    /// Standard output for bytes that are not lines.
    pub(crate) fn byte_stream(&self) -> ByteStream {
        let target = match &self.takers {
            Some([output, _]) => ByteTarget::Taker(Arc::clone(output)),
            None => ByteTarget::Process(
                standard_streams::output_error().map_or_else(duplicate_output, Err),
            ),
        };
        ByteStream { target, closed: Arc::clone(&self.output_closed) }
    }

    fn lock(&self) -> MutexGuard<'_, Buffers> {
        self.buffers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write_out(&self, buffers: &mut Buffers) {
        let size = buffers.output.len() + buffers.error.len();
        if size == 0 || (buffers.is_held && size < HELD_MAX) {
            return;
        }
        let Buffers { output, error, bar, is_held, .. } = buffers;
        if let Some([take_output, take_error]) = &self.takers {
            take_output(output);
            take_error(error);
            output.clear();
            error.clear();
            return;
        }
        let write = || {
            self.write_output(output);
            let mut stream = io::stderr().lock();
            // If standard error cannot be written, there is nowhere left to report it.
            _ = stream.write_all(error);
        };
        match bar {
            // During a dialogue it is not shown, and would wait for the end of that.
            Some(bar) if !*is_held => bar.suspend(write),
            _ => write(),
        }
        buffers.output.clear();
        buffers.error.clear();
    }

    fn write_output(&self, bytes: &[u8]) {
        if bytes.is_empty() || self.output_is_closed() {
            return;
        }
        let mut stream = io::stdout().lock();
        let mut write = || {
            standard_streams::output_error().map_or(Ok(()), Err)?;
            stream.write_all(bytes)?;
            stream.flush()
        };
        if let Err(error) = write() {
            self.output_closed.store(true, Ordering::Relaxed);
            if error.kind() != io::ErrorKind::BrokenPipe {
                _ = self.output_failure.set(error);
            }
        }
    }
}

impl Drop for Printer {
    fn drop(&mut self) {
        self.flush();
    }
}

/// Lines are held back. Dropping it writes them.
struct Held<'p>(&'p Printer);

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.0.lock().is_held = false;
        self.0.flush();
    }
}

/// Pads the line that was appended at `start` so that it hides a progress line.
fn cover(buffer: &mut Vec<u8>, start: usize, columns: usize) {
    if columns == 0 || buffer.len() == start {
        return;
    }
    let line_end = buffer[start..].iter().position(|byte| *byte == b'\n').map(|at| start + at);
    let end = line_end.unwrap_or(buffer.len());
    let width = String::from_utf8_lossy(&buffer[start..end]).chars().count();
    let padding = std::iter::repeat_n(b' ', columns.saturating_sub(width));
    buffer.splice(end..end, padding);
}

/// Standard output as a plain file, so that bytes go out without a buffer between.
pub(crate) struct ByteStream {
    target: ByteTarget,
    closed: Arc<AtomicBool>,
}

enum ByteTarget {
    Process(io::Result<std::fs::File>),
    Taker(Taker),
}

#[cfg(unix)]
fn duplicate_output() -> io::Result<std::fs::File> {
    use std::os::fd::AsFd;
    io::stdout().as_fd().try_clone_to_owned().map(std::fs::File::from)
}

#[cfg(windows)]
fn duplicate_output() -> io::Result<std::fs::File> {
    use std::os::windows::io::AsHandle;
    io::stdout().as_handle().try_clone_to_owned().map(std::fs::File::from)
}

impl Write for ByteStream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let result = match &mut self.target {
            ByteTarget::Process(Ok(file)) => file.write(bytes),
            ByteTarget::Process(Err(error)) => Err(io::Error::new(error.kind(), error.to_string())),
            ByteTarget::Taker(take) => {
                take(bytes);
                Ok(bytes.len())
            }
        };
        if result.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::BrokenPipe) {
            self.closed.store(true, Ordering::Relaxed);
        }
        result
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

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
            let _ = output.file.commit(Finish::default())?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_held_back_during_a_dialogue_up_to_a_bound() {
        let written = Arc::<Mutex<usize>>::default();
        let counted = Arc::clone(&written);
        let count = move |bytes: &[u8]| *counted.lock().unwrap() += bytes.len();
        let printer = Printer::handing_on(Arc::new(count), Arc::new(|_: &[u8]| {}));
        let size = || *written.lock().unwrap();
        let line = |length: usize| printer.output(|buffer| buffer.resize(length, b'x'));
        printer.aside(|| {
            line(BUFFER_FULL);
            assert_eq!(size(), 0);
            line(HELD_MAX);
            assert_eq!(size(), HELD_MAX);
        });
        let talk = || printer.aside(|| panic!("a dialogue that fails"));
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(talk)).unwrap_err();
        assert!(!printer.is_held());
        line(BUFFER_FULL);
        assert_eq!(size(), HELD_MAX + BUFFER_FULL);
    }

    #[test]
    fn lines_cover_the_progress_line_before_them() {
        let mut buffer = b"before\n".to_vec();
        let start = buffer.len();
        buffer.extend_from_slice(b"ab\nc\n");
        cover(&mut buffer, start, 5);
        assert_eq!(buffer, b"before\nab   \nc\n");
    }
}
