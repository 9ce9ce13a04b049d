//! The screen of `jobs watch`: what is known of a job, how it changed, what keys do. Knows no
//! journal and no folder: `commands/watch` looks at the job and hands over what it found.

mod history;
mod reading;
mod view;

pub(crate) use reading::{Reading, Slowest, Whole, WorkerRow};
pub(crate) use view::{draw, rate_of};

use std::time::Duration;

use self::history::History;
use crate::terminal::Key;

/// What is on the screen. Pure.
#[derive(Debug)]
pub(crate) struct Watch {
    /// Name of the job.
    name: String,
    reading: Reading,
    history: History,
    /// Why the last look failed.
    trouble: Option<String>,
    scrolled: usize,
    help: Option<usize>,
    /// Rows that are scrolled at a time.
    page: usize,
    /// Bars and lines are drawn with characters beyond ASCII.
    unicode: bool,
    /// Rows below the heading when it was drawn last.
    rows: usize,
}

impl Watch {
    /// A job, as it was when it was looked at first.
    pub(crate) fn new(name: String, reading: Reading, unicode: bool) -> Self {
        let mut history = History::default();
        history.add(&reading, Duration::ZERO);
        let (trouble, help) = (None, None);
        Self { name, reading, history, trouble, scrolled: 0, help, page: 1, unicode, rows: 0 }
    }

    /// Takes what a look found so long after the first one. Where it failed, the figures stay.
    pub(crate) fn take(&mut self, found: Result<Reading, String>, at: Duration) {
        match found {
            Ok(reading) => {
                self.history.add(&reading, at);
                (self.reading, self.trouble) = (reading, None);
            }
            Err(error) => self.trouble = Some(error),
        }
    }

    /// What was found last.
    pub(crate) fn reading(&self) -> &Reading {
        &self.reading
    }

    /// Does what a key says; true where it leaves the screen.
    pub(crate) fn press(&mut self, key: Key) -> bool {
        if key == Key::Interrupt {
            return true;
        }
        let scrolled = self.help.as_mut().unwrap_or(&mut self.scrolled);
        if let Some(to) = key.moved(*scrolled, usize::MAX, self.page) {
            // Drawing keeps it within what there is.
            *scrolled = to;
            return false;
        }
        match key {
            _ if self.help.is_some() => self.help = None,
            Key::Character('?' | 'h') => self.help = Some(0),
            Key::Character('q') | Key::Escape => return true,
            _ => {}
        }
        false
    }
}
