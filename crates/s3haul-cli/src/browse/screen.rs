//! The terminal: taken over, drawn to, and given back whatever happens.

use std::io::{self, BufWriter, Write as _};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ratatui_core::buffer::Buffer;
use ratatui_core::terminal::Terminal;
use ratatui_crossterm::CrosstermBackend;
use ratatui_crossterm::crossterm::cursor::Show;
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

type Output = BufWriter<ByteStream>;

/// The terminal while it is ours. Dropping it restores what was there.
pub(crate) struct Screen {
    terminal: Terminal<CrosstermBackend<Output>>,
}

impl Screen {
    /// Takes the terminal over. Messages of panics are held back until it is restored.
    pub(crate) fn open(printer: &Printer) -> io::Result<Self> {
        printer.flush();
        let terminal = Terminal::new(CrosstermBackend::new(BufWriter::new(printer.byte_stream())))?;
        let mut screen = Self { terminal };
        panics::hold();
        enable_raw_mode()?;
        execute!(screen.output(), EnterAlternateScreen)?;
        screen.terminal.clear()?;
        Ok(screen)
    }

    fn output(&mut self) -> &mut CrosstermBackend<Output> {
        self.terminal.backend_mut()
    }

    /// Draws what has changed.
    pub(crate) fn draw(&mut self, draw: impl FnOnce(&mut Buffer)) -> io::Result<()> {
        self.terminal.draw(|frame| draw(frame.buffer_mut()))?;
        Ok(())
    }

    /// Asks the terminal to copy a text (OSC 52); false where it is too long.
    pub(crate) fn copy(&mut self, text: &str) -> io::Result<bool> {
        if text.len() > COPIED_MAX {
            return Ok(false);
        }
        let output = self.output();
        write!(output, "\x1b]52;c;{}\x07", STANDARD.encode(text))?;
        output.flush()?;
        Ok(true)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        // If this fails, there is no terminal any more.
        _ = execute!(self.output(), LeaveAlternateScreen, Show);
        _ = disable_raw_mode();
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
        if !poll(READ_WAIT)? {
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
