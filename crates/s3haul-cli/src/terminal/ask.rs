//! A question on the terminal of the process, whatever its streams are. The answer is not shown.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::time::{Duration, Instant};

use rustix::process::getpgrp;
use rustix::termios::{
    LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcgetpgrp, tcsetattr,
};

use super::screen;
use crate::interrupt;

/// How long an answer is waited for.
const PATIENCE: Duration = Duration::from_mins(5);
/// How long a read waits before it is looked whether it is to end, in tenths of a second.
const READ_WAIT: u8 = 1;
/// Longest answer.
const ANSWER_MAX: usize = 256;

/// What keys send that are no part of an answer.
const INTERRUPT: u8 = 0x03;
const END: u8 = 0x04;
const BACKSPACE: [u8; 2] = [0x08, 0x7f];
const ERASE_LINE: u8 = 0x15;

/// The terminal while an answer is typed. Dropping it restores how it was set.
struct Quiet {
    terminal: File,
    before: Termios,
    /// Ctrl-C was typed.
    is_interrupted: bool,
}

impl Quiet {
    /// Signals are typed like all else: nothing ends the process before the terminal is restored.
    fn open() -> Result<Self, String> {
        let none = "there is no terminal to ask for it";
        let terminal = File::options().read(true).write(true).open("/dev/tty");
        let terminal = terminal.map_err(|_| none.to_owned())?;
        if screen::is_open() {
            return Err("the terminal is in use".to_owned());
        }
        // One that is not in the foreground would be stopped.
        if tcgetpgrp(&terminal).is_ok_and(|group| group != getpgrp()) {
            return Err("this process runs in the background of its terminal".to_owned());
        }
        let before = tcgetattr(&terminal).map_err(|_| none.to_owned())?;
        let mut quiet = before.clone();
        quiet.local_modes.remove(LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG);
        quiet.special_codes[SpecialCodeIndex::VMIN] = 0;
        quiet.special_codes[SpecialCodeIndex::VTIME] = READ_WAIT;
        tcsetattr(&terminal, OptionalActions::Flush, &quiet).map_err(|_| none.to_owned())?;
        Ok(Self { terminal, before, is_interrupted: false })
    }

    fn answer(&mut self) -> Result<String, String> {
        let deadline = Instant::now() + PATIENCE;
        let (mut answer, mut buffer) = (Vec::new(), [0; ANSWER_MAX]);
        let gone = |_| "the terminal has gone".to_owned();
        loop {
            let read = self.terminal.read(&mut buffer).map_err(gone)?;
            for &byte in &buffer[..read] {
                match byte {
                    b'\n' | b'\r' | END => return Ok(String::from_utf8_lossy(&answer).into()),
                    INTERRUPT => {
                        self.is_interrupted = true;
                        return Err("interrupted".to_owned());
                    }
                    ERASE_LINE => answer.clear(),
                    byte if BACKSPACE.contains(&byte) => drop(answer.pop()),
                    _ if answer.len() < ANSWER_MAX => answer.push(byte),
                    _ => {}
                }
            }
            if interrupt::has_come() {
                return Err("interrupted".to_owned());
            }
            if Instant::now() > deadline {
                return Err(format!("no answer came within {} min", PATIENCE.as_secs() / 60));
            }
            // Of one that has gone reads end at once.
            if read == 0 {
                tcgetattr(&self.terminal).map_err(|error| gone(error.into()))?;
            }
        }
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        // If this fails, there is no terminal any more.
        _ = self.terminal.write_all(b"\n");
        _ = tcsetattr(&self.terminal, OptionalActions::Flush, &self.before);
    }
}

/// Asks, and gives the answer or why there is none. Blocks.
pub(crate) fn ask(question: &[u8]) -> Result<String, String> {
    if interrupt::has_come() {
        return Err("interrupted".to_owned());
    }
    let mut quiet = Quiet::open()?;
    let asked = quiet.terminal.write_all(question).map_err(|error| error.to_string());
    let answer = asked.and_then(|()| quiet.answer());
    let is_interrupted = quiet.is_interrupted;
    drop(quiet);
    if is_interrupted {
        interrupt::raise();
    }
    answer
}
