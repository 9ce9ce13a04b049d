//! A question on the terminal of the process, whatever its streams are. The answer is a line that
//! is not shown; editing it and signals are left to the terminal.

use std::fs::File;
use std::io::{ErrorKind, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::fs::OFlags;
use rustix::process::getpgrp;
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcgetpgrp, tcsetattr};

use super::screen;
use crate::interrupt;

/// How long an answer is waited for.
const PATIENCE: Duration = Duration::from_mins(5);
/// Longest answer.
const ANSWER_MAX: usize = 256;

/// The terminal of the open question.
static QUIET: Mutex<Option<Quiet>> = Mutex::new(None);

/// The terminal while an answer is typed. Dropping it restores how it was set.
struct Quiet {
    terminal: File,
    before: Termios,
}

fn gone<T>(_: T) -> String {
    "the terminal has gone".to_owned()
}

fn quiet() -> MutexGuard<'static, Option<Quiet>> {
    QUIET.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Restores the terminal if a question is open, which ends it.
pub(crate) fn restore() {
    drop(quiet().take());
}

/// Setting a terminal stops a process in the background.
fn is_in_foreground(terminal: &File) -> bool {
    tcgetpgrp(terminal).is_ok_and(|group| group == getpgrp())
}

/// Opens the terminal for a question.
fn open() -> Result<File, String> {
    let none = "there is no terminal to ask for it";
    let mut options = File::options();
    // Another process may read the line that this one has waited for.
    options.read(true).write(true).custom_flags(OFlags::NONBLOCK.bits().cast_signed());
    let terminal = options.open("/dev/tty").map_err(|_| none.to_owned())?;
    if screen::is_open() {
        return Err("the terminal is in use".to_owned());
    }
    if !is_in_foreground(&terminal) {
        return Err("this process runs in the background of its terminal".to_owned());
    }
    let before = tcgetattr(&terminal).map_err(|_| none.to_owned())?;
    let copy = terminal.try_clone().map_err(|error| error.to_string())?;
    *quiet() = Some(Quiet { terminal: copy, before });
    Ok(terminal)
}

/// Hides what is typed: at first, and after a shell has had the terminal (Ctrl-Z).
fn hide(terminal: &File) -> Result<(), String> {
    let quiet = quiet();
    if quiet.is_none() || interrupt::has_come() {
        return Err("interrupted".to_owned());
    }
    let mut modes = tcgetattr(terminal).map_err(gone)?;
    if modes.local_modes.contains(LocalModes::ECHO) {
        modes.local_modes.remove(LocalModes::ECHO);
        tcsetattr(terminal, OptionalActions::Flush, &modes).map_err(gone)?;
    }
    Ok(())
}

/// The line that is typed; an empty one where none comes.
fn answer(mut terminal: &File) -> Result<String, String> {
    let deadline = Instant::now() + PATIENCE;
    let mut line = [0; ANSWER_MAX];
    while Instant::now() < deadline {
        hide(terminal)?;
        if !screen::has_input(terminal).map_err(gone)? {
            continue;
        }
        match terminal.read(&mut line) {
            Ok(read) => return Ok(String::from_utf8_lossy(&line[..read]).into()),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(gone(error)),
        }
    }
    Ok(String::new())
}

impl Drop for Quiet {
    fn drop(&mut self) {
        if is_in_foreground(&self.terminal) {
            // If this fails, there is no terminal any more.
            _ = self.terminal.write_all(b"\n");
            _ = tcsetattr(&self.terminal, OptionalActions::Flush, &self.before);
        }
    }
}

/// Asks, and gives the answer or why there is none. Blocks.
pub(crate) fn ask(question: &[u8]) -> Result<String, String> {
    let mut terminal = open()?;
    let asked = hide(&terminal)
        .and_then(|()| terminal.write_all(question).map_err(gone))
        .and_then(|()| answer(&terminal));
    restore();
    asked
}
