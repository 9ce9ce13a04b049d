//! `map` and `each`: scripts over the pages of a listing.
//!
//! Lines are made by one script runtime a core, or one in all with `--sort`. Results are joined in
//! one runtime, one after the other, because their order may matter.

use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};

use s3haul::script::{Limits, Program, Runtime};
use s3haul_wire::ops::ListedObject;

use super::listing::{PageWorker, SelectedPage, for_each_page};
use crate::commands::shared::client;
use crate::exit;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::render::escape::push_name;
use crate::settings::{How, ScriptSettings};

/// Runs scripts over what is listed.
pub(super) async fn run(settings: ScriptSettings, printer: &Arc<Printer>) -> Result<u8, Failure> {
    match settings.how.clone() {
        How::Map { default } => {
            let is_silent = lines(settings, printer, false).await?;
            print(printer, &Vec::from_iter(default.filter(|_| is_silent)));
        }
        How::Each => _ = lines(settings, printer, true).await?,
        How::Reduce { default } => reduce(settings, printer, default).await?,
    }
    Ok(if printer.output_is_closed() { exit::BROKEN_PIPE } else { exit::SUCCESS })
}

fn runtime(programs: &[Program]) -> Result<Runtime, Failure> {
    Ok(Runtime::new(programs, Limits::default())?)
}

/// Prints line by line; `true` if there was none.
async fn lines(
    settings: ScriptSettings,
    printer: &Arc<Printer>,
    is_each: bool,
) -> Result<bool, Failure> {
    let client = client(settings.listing.client.clone())?;
    let (programs, json) = (settings.programs, settings.listing.json);
    let output = Arc::clone(printer);
    let make = move || {
        let runtime = runtime(&programs)?;
        let printer = Arc::clone(&output);
        Ok(Lines { runtime, printer, is_each, json, is_silent: true })
    };
    let silent = for_each_page(client, &settings.listing, settings.order, printer, make).await?;
    Ok(silent.into_iter().all(|is_silent| is_silent))
}

/// Prints what scripts make of objects.
struct Lines {
    runtime: Runtime,
    printer: Arc<Printer>,
    is_each: bool,
    json: bool,
    /// Whether nothing was printed yet.
    is_silent: bool,
}

impl PageWorker for Lines {
    type Done = bool;
    const IS_SLOW: bool = true;

    fn page(&mut self, page: &SelectedPage<'_>) -> Result<ControlFlow<()>, Failure> {
        let objects: Vec<ListedObject<'_>> = page.iter().collect();
        let objects = objects.iter().copied();
        let lines = if self.is_each {
            self.runtime.each(objects, self.json)
        } else {
            self.runtime.map(objects, self.json)
        };
        let lines = lines?;
        self.is_silent &= lines.is_empty();
        print(&self.printer, &lines);
        let is_closed = self.printer.output_is_closed();
        Ok(if is_closed { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    }

    fn finish(self) -> Result<bool, Failure> {
        Ok(self.is_silent)
    }
}

fn print(printer: &Printer, lines: &[String]) {
    let escape = printer.output_is_terminal();
    printer.output(|buffer| {
        for line in lines {
            push_name(buffer, line, escape);
            buffer.push(b'\n');
        }
    });
}

async fn reduce(
    settings: ScriptSettings,
    printer: &Arc<Printer>,
    default: Option<String>,
) -> Result<(), Failure> {
    let client = client(settings.listing.client.clone())?;
    let shared = Arc::new(Mutex::new(runtime(&settings.programs)?));
    let taken = Arc::clone(&shared);
    let make = move || Ok(Join { runtime: Arc::clone(&taken) });
    for_each_page(client, &settings.listing, settings.order, printer, make).await?;
    let mut runtime = shared.lock().unwrap_or_else(PoisonError::into_inner);
    let result = runtime.finish(settings.listing.json)?;
    print(printer, &Vec::from_iter(result.or(default)));
    Ok(())
}

/// Joins objects with those before.
struct Join {
    runtime: Arc<Mutex<Runtime>>,
}

impl PageWorker for Join {
    type Done = ();
    const IS_SLOW: bool = true;

    fn page(&mut self, page: &SelectedPage<'_>) -> Result<ControlFlow<()>, Failure> {
        let objects: Vec<ListedObject<'_>> = page.iter().collect();
        let mut runtime = self.runtime.lock().unwrap_or_else(PoisonError::into_inner);
        runtime.fold(objects.iter().copied())?;
        Ok(ControlFlow::Continue(()))
    }

    fn finish(self) -> Result<(), Failure> {
        Ok(())
    }
}
