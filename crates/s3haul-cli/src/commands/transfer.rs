//! `cp`, `mv`, `rm` and `pipe`: one job, its events printed as they come.

use std::sync::Arc;

use s3haul::ErrorKind;
use s3haul::event::EventSink;
use s3haul::job::{Streams, run_transfer};

use super::clients;
use crate::exit;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::printer::Printer;
use crate::progress::{Ticker, Totals};
use crate::render::{CommandSink, json};
use crate::settings::TransferSettings;

/// Runs the job and gives its exit code.
pub(super) async fn run(
    settings: TransferSettings,
    printer: &Arc<Printer>,
    interrupt: &Interrupt,
) -> Result<u8, Failure> {
    let TransferSettings { spec, client, source_client, output, notices } = settings;
    let clients = clients(client, source_client)?;
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
    let events = Arc::clone(&sink) as Arc<dyn EventSink>;
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
    sink.finish();
    let broken_pipe = writes_stream && printer.output_is_closed();
    let status = if broken_pipe { exit::BROKEN_PIPE } else { exit::of_summary(&summary) };
    if output.json {
        printer.output(|buffer| json::push_summary(buffer, &summary, status));
    }
    Ok(status)
}
