//! `cp`, `mv`, `rm` and `pipe`: one job, its events printed as they come.

use std::path::PathBuf;
use std::sync::Arc;

use s3haul::ErrorKind;
use s3haul::event::EventSink;
use s3haul::job::{Clients, NameSource, Streams, run_transfer};

use super::client;
use crate::exit;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::printer::Printer;
use crate::progress::{Ticker, Totals};
use crate::render::{CommandSink, json};
use crate::report::{FailedNames, Recorded, ReportWriter};
use crate::settings::TransferSettings;

/// Runs the job and gives its exit code.
pub(super) async fn run(
    settings: TransferSettings,
    printer: &Arc<Printer>,
    interrupt: &Interrupt,
) -> Result<u8, Failure> {
    let TransferSettings { mut spec, client: target, source_client, output, report, notices } =
        settings;
    let open = |path: &PathBuf| FailedNames::open(path, &report.sides);
    let failed = report.retry.as_ref().map(open).transpose()?;
    spec.names = failed.clone().map(|failed| Arc::new(failed) as Arc<dyn NameSource>);
    let create = |path: &PathBuf| ReportWriter::create(path, &report.sides).map(Arc::new);
    let report = report.path.as_ref().map(create).transpose()?;
    let target = client(target)?;
    let source = source_client.map_or_else(|| Ok(target.clone()), client)?;
    let totals = Arc::new(Totals::default());
    let working_dir = spec.working_dir.to_string_lossy().into_owned();
    let sink = CommandSink::new(Arc::clone(printer), output, &working_dir, Arc::clone(&totals));
    let sink = Arc::new(sink);
    for notice in &notices {
        sink.notice(notice);
    }
    let writes_stream = spec.target.as_deref() == Some("-");
    let streams =
        Streams { input: Box::new(std::io::stdin()), output: Box::new(printer.byte_stream()) };
    let ticker = Ticker::start(Arc::clone(printer), totals, output);
    let events = events(&sink, report.as_ref());
    let clients = Clients { source, target };
    let result = run_transfer(spec, clients, streams, events, interrupt.token()).await;
    drop(ticker);
    // A job says so where its arguments make no sense.
    let summary = result.map_err(|error| match error.kind() {
        ErrorKind::Config => Failure::from(error).with_status(exit::USAGE),
        _ => error.into(),
    })?;
    if summary.cancelled {
        sink.notice(interrupt.message());
    }
    if failed.is_some_and(|failed| !summary.cancelled && !failed.is_complete()) {
        sink.notice(INCOMPLETE);
    }
    sink.finish();
    let is_complete = !summary.cancelled && !summary.fatal;
    let recorded = report.map_or(Ok(()), |report| report.finish(is_complete));
    let broken_pipe = writes_stream && printer.output_is_closed();
    let status = if broken_pipe { exit::BROKEN_PIPE } else { exit::of_summary(&summary) };
    let status = match recorded {
        Err(text) => {
            sink.notice(&format!("error: {text}"));
            if status == exit::WARNED { exit::FAILED } else { status.max(exit::FAILED) }
        }
        Ok(()) => status,
    };
    if output.json {
        printer.output(|buffer| json::push_summary(buffer, &summary, status));
    }
    Ok(status)
}

/// Said of a report whose run did not come to everything.
const INCOMPLETE: &str = "note: the report is of a command that did not come to its end: what it \
    never came to was not retried";

/// Where events go.
fn events(sink: &Arc<CommandSink>, report: Option<&Arc<ReportWriter>>) -> Arc<dyn EventSink> {
    let sink = Arc::clone(sink);
    match report {
        Some(report) => Arc::new(Recorded { sink, report: Arc::clone(report) }),
        None => sink,
    }
}
