//! The terminal: taken over, drawn to, and given back whatever happens.

use std::io::{self, BufWriter, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ratatui_core::backend::Backend as _;
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::{Position, Rect};
use ratatui_crossterm::CrosstermBackend;
use ratatui_crossterm::crossterm::cursor::{Hide, Show};
use ratatui_crossterm::crossterm::event::{Event, KeyEventKind, poll, read};
use ratatui_crossterm::crossterm::execute;
use ratatui_crossterm::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};

use super::keys::Key;
use crate::panics;
use crate::printer::{ByteStream, Printer};

/// How long a read of the keyboard waits before it looks whether it is to end.
const READ_WAIT: Duration = Duration::from_millis(50);
/// Bytes that are copied to the clipboard at most; terminals take no more.
const COPIED_MAX: usize = 64 * 1024;

/// A screen is shown.
static IS_OPEN: AtomicBool = AtomicBool::new(false);

/// Whether a screen is shown.
#[cfg(unix)]
pub(super) fn is_open() -> bool {
    IS_OPEN.load(Ordering::Relaxed)
}

type Output = BufWriter<ByteStream>;

/// The terminal while it is ours. Dropping it restores what was there. `Terminal` of ratatui would
/// do, but it panics at its end where the terminal has gone.
pub(crate) struct Screen {
    output: CrosstermBackend<Output>,
    /// What is on the screen.
    shown: Buffer,
}

impl Screen {
    /// Takes the terminal over. Messages of panics are held back until it is restored.
    pub(crate) fn open(printer: &Printer) -> io::Result<Self> {
        printer.flush();
        let output = CrosstermBackend::new(BufWriter::new(printer.byte_stream()));
        let mut screen = Self { output, shown: Buffer::default() };
        panics::hold();
        IS_OPEN.store(true, Ordering::Relaxed);
        enable_raw_mode()?;
        execute!(screen.output, EnterAlternateScreen, Hide)?;
        Ok(screen)
    }

    /// Draws what has changed.
    pub(crate) fn draw(&mut self, draw: impl FnOnce(&mut Buffer)) -> io::Result<()> {
        let area = Rect::from((Position::ORIGIN, self.output.size()?));
        if self.shown.area != area {
            self.output.clear()?;
            self.shown = Buffer::empty(area);
        }
        let mut next = Buffer::empty(area);
        draw(&mut next);
        self.output.draw(self.shown.diff_iter(&next))?;
        ratatui_core::backend::Backend::flush(&mut self.output)?;
        self.shown = next;
        Ok(())
    }

    /// Asks the terminal to copy a text (OSC 52); false where it is too long.
    pub(crate) fn copy(&mut self, text: &str) -> io::Result<bool> {
        if text.len() > COPIED_MAX {
            return Ok(false);
        }
        let output = &mut self.output;
        write!(output, "\x1b]52;c;{}\x07", STANDARD.encode(text))?;
        io::Write::flush(output)?;
        Ok(true)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        // If this fails, there is no terminal any more.
        _ = execute!(self.output, LeaveAlternateScreen, Show);
        _ = disable_raw_mode();
        IS_OPEN.store(false, Ordering::Relaxed);
        panics::release();
    }
}

/// What comes from the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Input {
    /// A key.
    Key(Key),
    /// The terminal has another size.
    Resized,
}

/// Reads what comes from the terminal until `take` wants no more, or until `is_over`. Blocks.
pub(crate) fn read_inputs(
    is_over: impl Fn() -> bool,
    take: impl Fn(Input) -> bool,
) -> io::Result<()> {
    while !is_over() {
        wait_for_input()?;
        // Without an input, too: that is how a new size is seen.
        if !poll(Duration::ZERO)? {
            continue;
        }
        let input = match read()? {
            Event::Key(event) if event.kind != KeyEventKind::Release => {
                Key::of(event).map(Input::Key)
            }
            Event::Resize(..) => Some(Input::Resized),
            _ => None,
        };
        if !input.is_none_or(&take) {
            break;
        }
    }
    Ok(())
}

/// Waits until there is something to read, not for long. Fails where the terminal has gone: then a
/// read of crossterm would never end.
#[cfg(unix)]
fn wait_for_input() -> io::Result<()> {
    has_input(&io::stdin()).map(drop)
}

/// Whether there is something to read of a terminal, which is waited for, not for long. Fails where
/// the terminal has gone.
#[cfg(unix)]
pub(super) fn has_input(input: &impl std::os::fd::AsFd) -> io::Result<bool> {
    use rustix::event::{PollFd, PollFlags, Timespec};
    let wait = Timespec::try_from(READ_WAIT).map_err(io::Error::other)?;
    let mut polled = [PollFd::new(input, PollFlags::IN)];
    match rustix::event::poll(&mut polled, Some(&wait)) {
        // A new size, for instance.
        Ok(_) | Err(rustix::io::Errno::INTR) => {}
        Err(error) => return Err(error.into()),
    }
    if polled[0].revents().intersects(PollFlags::HUP | PollFlags::ERR) {
        return Err(io::Error::other("it has gone"));
    }
    Ok(polled[0].revents().contains(PollFlags::IN))
}

#[cfg(not(unix))]
fn wait_for_input() -> io::Result<()> {
    poll(READ_WAIT).map(drop)
}
