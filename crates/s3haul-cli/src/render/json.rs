//! JSON, one object a line, and the words in it. Every line has `v`, the version of the format, and
//! `event`.

use s3haul::event::{ActionKind, Outcome};
use s3haul_wire::Error;
use serde::Serialize;

use crate::failure::Failure;

/// Version of the format. Names and meanings of fields never change within a version; fields may
/// be added.
pub(crate) const VERSION: u32 = 1;

/// One line.
#[derive(Serialize)]
pub(crate) struct Line<'a, T: Serialize> {
    v: u32,
    event: &'a str,
    #[serde(flatten)]
    fields: T,
}

/// Appends a line.
pub(crate) fn push<T: Serialize>(buffer: &mut Vec<u8>, event: &str, fields: T) {
    // The types here have only string keys, and a vector takes everything.
    _ = serde_json::to_writer(&mut *buffer, &Line { v: VERSION, event, fields });
    buffer.push(b'\n');
}

/// Appends the line of a warning.
pub(crate) fn push_warning(buffer: &mut Vec<u8>, message: &str) {
    push(buffer, "warning", MessageLine { message, failed: false });
}

/// Appends the line of a warning that something is missing in what is printed.
pub(crate) fn push_lack(buffer: &mut Vec<u8>, message: &str) {
    push(buffer, "warning", MessageLine { message, failed: true });
}

/// Appends the line of a command that ended early.
pub(crate) fn push_failure(buffer: &mut Vec<u8>, failure: &Failure) {
    let Failure { status, message, hint, .. } = failure;
    push(buffer, "error", FailureLine { message, hint: hint.as_deref(), exit_code: *status });
}

#[derive(Serialize)]
struct FailureLine<'a> {
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'a str>,
    exit_code: u8,
}

#[derive(Serialize)]
struct MessageLine<'a> {
    message: &'a str,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    failed: bool,
}

/// An error for programs.
#[derive(Serialize)]
pub(crate) struct ErrorFields<'a> {
    kind: &'static str,
    #[serde(skip_serializing_if = "str::is_empty")]
    code: &'a str,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    operation: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    http_status: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    request_id: Option<&'a str>,
    attempts: u32,
    elapsed_ms: u64,
}

impl<'a> ErrorFields<'a> {
    /// Those of an error.
    pub(crate) fn of(error: &'a Error) -> Self {
        let service = error.service_error();
        let effort = error.effort();
        Self {
            kind: error.kind().name(),
            code: error.code(),
            message: error.to_string(),
            operation: error.operation(),
            http_status: service.map(|service| service.status),
            request_id: service.map(|service| &*service.request_id).filter(|id| !id.is_empty()),
            attempts: effort.attempts,
            elapsed_ms: u64::try_from(effort.elapsed.as_millis()).unwrap_or(u64::MAX),
        }
    }
}

/// The word for an action.
pub(crate) fn action(action: ActionKind) -> &'static str {
    match action {
        ActionKind::Upload => "upload",
        ActionKind::Download => "download",
        ActionKind::Copy => "copy",
        ActionKind::Delete => "delete",
        ActionKind::Tag => "tag",
        ActionKind::Set => "set",
        ActionKind::Restore => "restore",
        ActionKind::Undelete => "undelete",
    }
}

/// The word for an outcome.
pub(crate) fn status(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Done => "done",
        Outcome::DryRun => "dry_run",
        Outcome::Skipped => "skipped",
        Outcome::Failed(_) => "failed",
        Outcome::NotTried => "not_tried",
    }
}
