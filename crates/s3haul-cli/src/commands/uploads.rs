//! `uploads ls` and `uploads abort`.

use std::sync::Arc;

use s3haul::job::run_uploads;
use s3haul::job::value::UploadsAction;
use s3haul::summary::OpenUpload;
use s3haul_wire::Error;
use s3haul_wire::units::LocalTime;

use crate::commands::shared::client;
use crate::exit;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::render::uploads::UploadLines;
use crate::settings::UploadsSettings;

/// Lists or aborts uploads; the exit code is 1 where one could not be looked at or aborted.
pub(super) async fn run(settings: UploadsSettings, printer: &Arc<Printer>) -> Result<u8, Failure> {
    let client = client(settings.client.clone())?;
    let spec = settings.spec.clone();
    let mut told = Told {
        lines: UploadLines {
            bucket: &spec.bucket,
            sizes: settings.task.action == UploadsAction::Measure,
            escape: printer.output_is_terminal(),
            time: LocalTime::system(),
        },
        settings: &settings,
        printer,
        status: exit::SUCCESS,
    };
    let mut tell = |upload: &OpenUpload, result: Result<(), Error>| {
        told.tell(upload, result.err().as_ref());
    };
    run_uploads(&client, &spec, &mut tell).await?;
    let status = told.status;
    let is_data = !settings.aborts() || settings.task.dry_run;
    Ok(if is_data && printer.output_is_closed() { exit::BROKEN_PIPE } else { status })
}

/// Prints what became of uploads.
struct Told<'a> {
    lines: UploadLines<'a>,
    settings: &'a UploadsSettings,
    printer: &'a Printer,
    status: u8,
}

impl Told<'_> {
    fn tell(&mut self, upload: &OpenUpload, error: Option<&Error>) {
        let Self { lines, settings, printer, status } = self;
        if error.is_some() {
            *status = exit::FAILED;
        }
        if !settings.output.lines.print(error.is_some() || settings.task.dry_run) {
            return;
        }
        let what = if settings.aborts() { "abort" } else { "measure" };
        match (error, settings.output.json) {
            (_, true) => {
                let status = match (error, settings.aborts(), settings.task.dry_run) {
                    (Some(_), ..) => "failed",
                    (None, false, _) => "open",
                    (None, true, true) => "dry_run",
                    (None, true, false) => "aborted",
                };
                printer.output(|buffer| lines.push_json(buffer, status, upload, error));
            }
            (Some(_), false) => {
                let what = format!("{what} failed");
                printer.error(|buffer| lines.push_done(buffer, &what, upload, error));
            }
            (None, false) if settings.aborts() => {
                let what = if settings.task.dry_run { "(dryrun) abort" } else { "abort" };
                printer.output(|buffer| lines.push_done(buffer, what, upload, None));
            }
            (None, false) => printer.output(|buffer| lines.push_listed(buffer, upload)),
        }
    }
}
