//! `mb`, `rb`, `versioning` and `website`.

use std::sync::Arc;

use s3haul::job::value::OutputLines;
use s3haul_wire::Error;
use s3haul_wire::ops::{CreateBucket, Versioning};
use serde::Serialize;

use crate::commands::shared::{client, client_of_region};
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::printer::Printer;
use crate::render::escape::push_name;
use crate::render::json;
use crate::settings::{MbSettings, RbSettings, VersioningSettings, WebsiteSettings};
use crate::{exit, hints};

/// Makes a bucket.
pub(super) async fn make(settings: MbSettings, printer: &Arc<Printer>) -> Result<u8, Failure> {
    let client = client_of_region(settings.client).await?;
    let input = CreateBucket {
        bucket: &settings.bucket,
        tags: &settings.task.tags,
        object_lock: settings.task.object_lock,
    };
    let result = client.create_bucket(input).await;
    let (bucket, path) = (&settings.bucket, &settings.task.bucket);
    let lines = OutputLines::All;
    let report = Report { done: "make_bucket", bucket, path, leaves_versions: false, lines };
    let is_made = result.is_ok();
    let status = report.print(result, settings.json, printer);
    if is_made && settings.task.versioning {
        client.put_bucket_versioning(bucket, true).await.map_err(|error| {
            let hint =
                format!("the bucket is there: `s3haul versioning enable {path}` tries again");
            Failure::from(error).with_hint(hint).with_status(exit::FAILED)
        })?;
    }
    Ok(status)
}

/// Prints or changes whether a bucket keeps versions.
pub(super) async fn versioning(
    settings: VersioningSettings,
    printer: &Arc<Printer>,
) -> Result<u8, Failure> {
    let VersioningSettings { client: config, bucket, change, json } = settings;
    let client = client(config)?;
    let state = match change {
        None => client.get_bucket_versioning(&bucket).await?,
        Some(state) => {
            client.put_bucket_versioning(&bucket, state == Versioning::Enabled).await?;
            state
        }
    };
    let word = match state {
        Versioning::Off => "off",
        Versioning::Enabled => "enabled",
        Versioning::Suspended => "suspended",
    };
    printer.output(|buffer| {
        if json {
            json::push(buffer, "versioning", VersioningLine { bucket: &bucket, status: word });
            return;
        }
        if change.is_some() {
            buffer.extend_from_slice(b"versioning ");
        }
        buffer.extend_from_slice(word.as_bytes());
        if change.is_some() {
            buffer.extend_from_slice(b": ");
            push_name(buffer, &bucket, printer.output_is_terminal());
        }
        buffer.push(b'\n');
    });
    Ok(exit::SUCCESS)
}

/// Removes a bucket, with `--force` its objects first.
pub(super) async fn remove(
    settings: RbSettings,
    printer: &Arc<Printer>,
    interrupt: Arc<Interrupt>,
) -> Result<u8, Failure> {
    let leaves_versions =
        settings.empty_first.as_ref().is_some_and(|empty| empty.spec.versions.is_none());
    if let Some(empty) = settings.empty_first {
        let status = super::transfer::run(empty, printer, &interrupt).await?;
        if status != exit::SUCCESS {
            return Err(Failure::other(
                "remove_bucket failed: Unable to delete all objects in the bucket, bucket will \
                 not be deleted.",
            ));
        }
    }
    let client = client(settings.client)?;
    let result = tokio::select! {
        result = client.delete_bucket(&settings.bucket) => result,
        () = interrupt.token().cancelled_owned() => return Ok(exit::INTERRUPTED),
    };
    let (bucket, path) = (&settings.bucket, &settings.path);
    let lines = settings.output.lines;
    let report = Report { done: "remove_bucket", bucket, path, leaves_versions, lines };
    Ok(report.print(result, settings.output.json, printer))
}

/// Sets a bucket's website; says nothing when it is done, like `aws s3 website`.
pub(super) async fn website(
    settings: WebsiteSettings,
    printer: &Arc<Printer>,
) -> Result<u8, Failure> {
    let WebsiteSettings { client: config, bucket, website, json } = settings;
    client(config)?.put_bucket_website(&bucket, &website).await?;
    if json {
        let line = BucketLine { bucket: &bucket, error: None };
        printer.output(|buffer| json::push(buffer, "website", line));
    }
    Ok(exit::SUCCESS)
}

/// Messages at the end of `mb` and `rb`.
struct Report<'a> {
    done: &'static str,
    bucket: &'a str,
    path: &'a str,
    /// The objects were removed, and what is left are versions.
    leaves_versions: bool,
    /// Which of them are printed.
    lines: OutputLines,
}

#[derive(Serialize)]
struct VersioningLine<'a> {
    bucket: &'a str,
    status: &'a str,
}

#[derive(Serialize)]
struct BucketLine<'a> {
    bucket: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<json::ErrorFields<'a>>,
}

impl Report<'_> {
    fn print(&self, result: Result<(), Error>, json: bool, printer: &Printer) -> u8 {
        let error = result.err();
        let status = if error.is_some() { exit::FAILED } else { exit::SUCCESS };
        if !self.lines.print(error.is_some()) {
            return status;
        }
        if json {
            let fields = error.as_ref().map(json::ErrorFields::of);
            let line = BucketLine { bucket: self.bucket, error: fields };
            printer.output(|buffer| json::push(buffer, self.done, line));
        } else if let Some(error) = &error {
            self.print_error(error, printer);
        } else {
            printer.output(|buffer| {
                buffer.extend_from_slice(self.done.as_bytes());
                buffer.extend_from_slice(b": ");
                push_name(buffer, self.bucket, printer.output_is_terminal());
                buffer.push(b'\n');
            });
        }
        status
    }

    fn print_error(&self, error: &Error, printer: &Printer) {
        let line = format!("{} failed: {} {error}", self.done, self.path);
        let hint = if self.leaves_versions && error.code() == "BucketNotEmpty" {
            Some(format!(
                "old versions and delete markers are left: `s3haul rb --force --versions {path}` \
                 or `s3haul rm --recursive --versions {path}` removes them for good",
                path = self.path
            ))
        } else {
            hints::for_error(error)
        };
        let hint = hint.map(|hint| format!("hint: {hint}\n"));
        printer.error(|buffer| {
            push_name(buffer, &line, printer.error_is_terminal());
            buffer.push(b'\n');
            buffer.extend_from_slice(hint.unwrap_or_default().as_bytes());
        });
    }
}
