//! `check-server`: asks the probes, removes what they wrote, prints what was found.

use std::sync::Arc;

use s3haul::probe::{self, Ground, Report};
use s3haul_wire::Error;

use crate::args::FindingsFormat;
use crate::commands::shared::client;
use crate::exit;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::printer::Printer;
use crate::render::findings::{Checked, push_json, push_markdown, push_text};
use crate::settings::CheckServerSettings;

/// Checks a service; the exit code is 1 where something is missing that s3haul relies on.
pub(super) async fn run(
    settings: CheckServerSettings,
    printer: &Arc<Printer>,
    interrupt: Arc<Interrupt>,
) -> Result<u8, Failure> {
    let CheckServerSettings { client: config, place, format, name } = settings;
    let endpoint = config.endpoint.shown_url().map(str::to_owned);
    let client = client(config)?;
    let ground = Ground::new(client.clone(), place);
    let started = tokio::time::Instant::now();
    let checked = tokio::select! {
        checked = check(&ground) => Some(checked),
        () = interrupt.token().cancelled_owned() => None,
    };
    let left = ground.clear().await;
    for what in &left {
        printer.error(|buffer| {
            buffer.extend_from_slice(format!("warning: not removed: {what}\n").as_bytes());
        });
    }
    let Some(checked) = checked else { return Ok(exit::INTERRUPTED) };
    let report = checked.map_err(|error| refused(error, &ground))?;
    let sent = client.requests_sent();
    let checked = Checked {
        name: name.as_deref(),
        endpoint: endpoint.as_deref(),
        report: &report,
        requests: sent.read + sent.write + sent.delete,
        elapsed: started.elapsed(),
        left: &left,
    };
    printer.output(|buffer| match format {
        FindingsFormat::Text => push_text(buffer, &checked, printer.output_is_terminal()),
        FindingsFormat::Json => push_json(buffer, &checked),
        FindingsFormat::Markdown => push_markdown(buffer, &checked),
    });
    Ok(if report.is_sound() && left.is_empty() { exit::SUCCESS } else { exit::FAILED })
}

async fn check(ground: &Ground) -> Result<Report, Error> {
    ground.open().await?;
    Ok(probe::run(ground).await)
}

/// The failure of a check that could not begin.
fn refused(error: Error, ground: &Ground) -> Failure {
    let hint = match error.code() {
        "" | "SignatureDoesNotMatch" | "InvalidAccessKeyId" | "ExpiredToken" => None,
        // A status without a document of S3's, which an answer to HEAD may not have.
        code if ground.is_own() && code.parse::<u16>().is_ok() => {
            Some("this is no answer of S3's: check the endpoint URL")
        }
        _ if ground.is_own() => Some(
            "name a bucket in which objects may be written and removed: `s3haul check-server \
             s3://BUCKET/PREFIX` leaves all else in it alone",
        ),
        _ => None,
    };
    Failure::from(error).with_some_hint(hint.map(str::to_owned))
}
