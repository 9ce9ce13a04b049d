//! `jobs watch` on a terminal: the loop between the screen and the job that is looked at. One task
//! looks again and again; what it finds comes through a queue of one, so that a service that does
//! not answer holds up no key.

mod folder;
mod journal;

use std::io::IsTerminal as _;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::Instant;

pub(super) use self::folder::FolderJob;
pub(super) use self::journal::JournalJob;

use super::inputs::{Inputs, no_screen};
use crate::args::GlobalArgs;
use crate::exit;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::printer::Printer;
use crate::render::escape::push_name;
use crate::terminal::{Input, Screen, number_of};
use crate::watch::{Reading, Watch, draw};

/// Whether the whole terminal is used. `--json` and `--no-progress` ask for lines.
pub(super) fn has_screen(global: &GlobalArgs, printer: &Printer) -> bool {
    let is_terminal = printer.output_is_terminal() && std::io::stdin().is_terminal();
    is_terminal && !global.json && !global.no_progress
}

/// A job that can be looked at.
pub(super) trait Watched: Send + 'static {
    /// What it is called.
    fn name(&self) -> String;

    /// Time between two looks.
    fn pause(&self) -> Duration;

    /// How the job is now.
    fn look(&mut self) -> impl Future<Output = Result<Reading, Failure>> + Send;
}

/// Shows a job until the screen is left, and then says in a line how it was last.
pub(super) async fn run(
    mut job: impl Watched,
    unicode: bool,
    printer: &Arc<Printer>,
    interrupt: Arc<Interrupt>,
) -> Result<u8, Failure> {
    let interrupted = interrupt.token();
    // What cannot be looked at is said without a screen.
    let first = tokio::select! {
        first = job.look() => first?,
        () = interrupted.cancelled() => return Ok(exit::INTERRUPTED),
    };
    let mut watch = Watch::new(job.name(), first, unicode);
    let screen = Screen::open(printer).map_err(|error| no_screen(&error))?;
    let left = show(&mut watch, job, screen, printer, &interrupt).await;
    let line = last_line(watch.reading());
    printer.output(|buffer| {
        push_name(buffer, &line, true);
        buffer.push(b'\n');
    });
    left
}

async fn show(
    watch: &mut Watch,
    job: impl Watched,
    mut screen: Screen,
    printer: &Printer,
    interrupt: &Interrupt,
) -> Result<u8, Failure> {
    let (sender, mut found) = mpsc::channel(1);
    let mut looking = JoinSet::new();
    looking.spawn(look_on(job, sender));
    let (mut inputs, begun) = (Inputs::start(), Instant::now());
    let interrupted = interrupt.token();
    loop {
        let has_color = printer.color();
        let drawn = screen.draw(|buffer| draw(watch, has_color, buffer));
        drawn.map_err(|error| no_screen(&error))?;
        tokio::select! {
            () = interrupted.cancelled() => return Ok(exit::INTERRUPTED),
            input = inputs.next() => match input? {
                Input::Resized => {}
                Input::Key(key) => if watch.press(key) {
                    return Ok(exit::SUCCESS);
                },
            },
            Some(reading) = found.recv() => watch.take(reading, begun.elapsed()),
        }
    }
}

/// Looks again and again, until the job is over or the screen is left.
async fn look_on(mut job: impl Watched, found: mpsc::Sender<Result<Reading, String>>) {
    loop {
        tokio::time::sleep(job.pause()).await;
        let reading = job.look().await.map_err(|failure| failure.message);
        let is_over = reading.as_ref().is_ok_and(|reading| reading.is_over);
        if found.send(reading).await.is_err() || is_over {
            return;
        }
    }
}

fn last_line(reading: &Reading) -> String {
    let Reading { state, objects, bytes, failed, .. } = reading;
    format!("{state}: {}, {bytes} bytes, {failed} failed", number_of(*objects, "object"))
}
