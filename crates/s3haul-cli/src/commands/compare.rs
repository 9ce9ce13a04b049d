//! `compare` and `verify`: what two trees have in common, printed as it is found.

use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use s3haul::job::value::Shown;
use s3haul::job::{CompareSink, CompareSummary, Compared, Status, run_compare};
use tokio_util::sync::CancellationToken;

use crate::commands::shared::clients;
use crate::failure::Failure;
use crate::printer::{Output, Printer};
use crate::render::compare::{ComparedFormat, Rows, push_summary, push_summary_event};
use crate::render::escape::push_name;
use crate::render::html::compare::ComparePage;
use crate::render::json;
use crate::settings::CompareSettings;
use crate::{exit, hints};

/// Rows in bytes that are written at once.
const BUFFER_FULL: usize = 32 * 1024;
/// Time after which fewer are.
const HELD_MAX: Duration = Duration::from_millis(200);

/// Compares and prints.
pub(super) async fn run(settings: CompareSettings, printer: &Arc<Printer>) -> Result<u8, Failure> {
    let nothing = settings.nothing();
    let CompareSettings { spec, client, source_client, format, header, show, .. } = settings;
    let CompareSettings { output_file, html, .. } = settings;
    let html = html.map(|path| Output::new(Some(&path), printer)).transpose()?;
    let (depth, sides) = (spec.depth, [spec.source.clone(), spec.target.clone()]);
    let clients = clients(client, source_client)?;
    let output = Output::new(output_file.as_deref(), printer)?;
    let rows = Rows::new(format, output.is_terminal());
    let page = html.is_some().then(ComparePage::new);
    let (buffer, written) = (Vec::new(), Instant::now());
    let held = Held { rows, page, buffer, written, failure: None, cut_off: None };
    let held = Mutex::new(held);
    let sink = Arc::new(Sink { printer: Arc::clone(printer), output, format, show, held });
    if header {
        let mut held = sink.held();
        let Held { rows, buffer, .. } = &mut *held;
        rows.push_header(buffer);
    }
    let shared = Arc::clone(&sink) as Arc<dyn CompareSink>;
    let result = run_compare(spec, clients, shared, CancellationToken::new()).await;
    let in_use = || Failure::other("the output is still being written");
    let sink = Arc::into_inner(sink).ok_or_else(in_use)?;
    let mut summary = result.map_err(|error| {
        sink.write_rest();
        Failure::of_arguments(error)
    })?;
    if let Some(cut_off) = sink.held().cut_off.take() {
        return cut_off;
    }
    // A name that is misspelt twice must not pass for a proof.
    if summary.is_empty() && !summary.cancelled {
        sink.warning(&nothing);
        summary.warnings += 1;
    }
    if let (Some(html), Some(page), false) = (html, sink.held().page.take(), summary.cancelled) {
        let sides = sides.each_ref().map(String::as_str);
        let now_s = Timestamp::now().as_second();
        _ = html.write(&page.finish(depth, sides, &summary, now_s))?;
        html.commit()?;
    }
    sink.finish(&summary)
}

/// Prints the events of a comparison.
struct Sink {
    printer: Arc<Printer>,
    output: Output,
    format: ComparedFormat,
    show: Vec<Shown>,
    held: Mutex<Held>,
}

/// Rows that are not written yet.
struct Held {
    rows: Rows,
    /// What is gathered for a page, where one was asked for.
    page: Option<ComparePage>,
    buffer: Vec<u8>,
    written: Instant,
    /// The first failure of a pair.
    failure: Option<Failure>,
    /// How the command ends because no more rows could be written: nothing is known of the others.
    cut_off: Option<Result<u8, Failure>>,
}

impl Sink {
    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn shows(&self, status: &Status) -> bool {
        let shown = match status {
            Status::OnlySource => Shown::OnlySource,
            Status::OnlyTarget => Shown::OnlyTarget,
            Status::Different(_) => Shown::Different,
            Status::Same(_) => Shown::Same,
            Status::Failed(_) => return self.format != ComparedFormat::Text,
        };
        self.show.contains(&shown)
    }

    /// Reports a pair that could not be compared; the first one determines the exit status.
    fn fail(&self, held: &mut Held, compared: &Compared) {
        let Status::Failed(error) = &compared.status else { return };
        if self.format != ComparedFormat::Events {
            let escape = self.printer.error_is_terminal();
            self.printer.error(|buffer| {
                buffer.extend_from_slice(b"compare failed: ");
                push_name(buffer, &compared.name, escape);
                buffer.push(b' ');
                push_name(buffer, &error.to_string(), escape);
                buffer.push(b'\n');
            });
        }
        held.failure.get_or_insert_with(|| Failure {
            status: exit::of_error(error),
            message: error.to_string(),
            hint: hints::for_error(error),
            cause: Some(Box::new(error.into())),
        });
    }

    fn write(&self, held: &mut Held) -> ControlFlow<()> {
        held.written = Instant::now();
        let written = self.output.write(&held.buffer);
        held.buffer.clear();
        held.cut_off = match written {
            Ok(ControlFlow::Continue(())) => return ControlFlow::Continue(()),
            Ok(ControlFlow::Break(())) => Some(Ok(exit::BROKEN_PIPE)),
            Err(failure) => Some(Err(failure)),
        };
        ControlFlow::Break(())
    }

    /// Writes the output before an error; a file is not replaced.
    fn write_rest(&self) {
        if matches!(self.output, Output::Printer(_)) {
            _ = self.write(&mut self.held());
        }
    }

    /// Ends the output and gives the exit code.
    fn finish(self, summary: &CompareSummary) -> Result<u8, Failure> {
        let mut held = self.held();
        if summary.cancelled {
            return match held.failure.take() {
                Some(failure) => Err(failure),
                None => Ok(exit::BROKEN_PIPE),
            };
        }
        let status = match &held.failure {
            Some(failure) => failure.status,
            None => exit::of_comparison(summary),
        };
        let mut text = Vec::new();
        match self.format {
            ComparedFormat::Events => push_summary_event(&mut held.buffer, summary, status),
            ComparedFormat::Text => {
                let is_first = !held.rows.has_rows();
                push_summary(&mut held.buffer, summary, is_first);
            }
            _ => push_summary(&mut text, summary, true),
        }
        let flow = self.output.write(&held.buffer)?;
        if let Some(hint) = held.failure.as_ref().and_then(|failure| failure.hint.as_ref()) {
            text.extend_from_slice(format!("hint: {hint}\n").as_bytes());
        }
        drop(held);
        self.printer.error(|buffer| buffer.extend_from_slice(&text));
        self.output.commit()?;
        Ok(if flow.is_break() { exit::BROKEN_PIPE } else { status })
    }
}

impl CompareSink for Sink {
    fn compared(&self, compared: &Compared) -> ControlFlow<()> {
        let mut held = self.held();
        self.fail(&mut held, compared);
        if let Some(page) = &mut held.page {
            page.add(compared);
        }
        if !self.shows(&compared.status) {
            return ControlFlow::Continue(());
        }
        let Held { rows, buffer, .. } = &mut *held;
        rows.push(buffer, compared);
        let is_due = held.buffer.len() >= BUFFER_FULL || held.written.elapsed() >= HELD_MAX;
        if is_due { self.write(&mut held) } else { ControlFlow::Continue(()) }
    }

    fn warning(&self, message: &str) {
        if self.format == ComparedFormat::Events {
            let mut held = self.held();
            json::push_warning(&mut held.buffer, message);
            return;
        }
        let escape = self.printer.error_is_terminal();
        self.printer.error(|buffer| {
            buffer.extend_from_slice(b"warning: ");
            push_name(buffer, message, escape);
            buffer.push(b'\n');
        });
    }
}
