//! Events as JSON, one object a line. Every line has `v`, the version of the format, and `event`.

use s3haul::event::{ActionKind, Event, ObjectEvent, Outcome};
use s3haul::job::Summary;
use s3haul_wire::Error;
use s3haul_wire::error::ErrorKind;
use serde::Serialize;

use super::archive::ArchiveRow;
use super::estimate::Requests;
use super::tags;
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

/// Appends the line of an event; progress has none. `tag_change` is what the command does to tags.
pub(crate) fn push_event(buffer: &mut Vec<u8>, event: &Event, tag_change: Option<&'static str>) {
    match event {
        Event::Object(object) => {
            push(buffer, "object", ObjectLine { tag_change, ..ObjectLine::of(object) });
        }
        Event::Tags { object, tags } => tags::push_event(buffer, object, tags),
        Event::Archive { object, storage_class, state, until } => {
            let row = ArchiveRow { object, storage_class, state, until: until.as_deref() };
            row.push_event(buffer);
        }
        Event::Warning { message } => push_warning(buffer, message),
        Event::Fatal { error } => {
            push(buffer, "fatal", ErrorLine { error: ErrorFields::of(error) });
        }
        Event::Planned { .. } | Event::PlanComplete | Event::Progress { .. } => {}
    }
}

/// Appends the line of a warning.
pub(crate) fn push_warning(buffer: &mut Vec<u8>, message: &str) {
    push(buffer, "warning", MessageLine { message });
}

/// Appends the line that ends a transfer.
pub(crate) fn push_summary(buffer: &mut Vec<u8>, summary: &Summary, exit_code: u8) {
    let fields = SummaryLine {
        done: summary.done,
        failed: summary.failed,
        skipped: summary.skipped,
        not_tried: summary.not_tried,
        warnings: summary.warnings,
        bytes: summary.bytes,
        fatal: summary.fatal,
        cancelled: summary.cancelled,
        requests: Requests::of(summary.requests_sent),
        exit_code,
    };
    push(buffer, "summary", fields);
}

/// Appends the line of a command that ended early.
pub(crate) fn push_failure(buffer: &mut Vec<u8>, failure: &Failure) {
    let Failure { status, message, hint } = failure;
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
struct ObjectLine<'a> {
    action: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    tag_change: Option<&'static str>,
    #[serde(rename = "move")]
    is_move: bool,
    status: &'static str,
    source: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    version_id: Option<&'a str>,
    bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<ErrorFields<'a>>,
}

impl<'a> ObjectLine<'a> {
    fn of(event: &'a ObjectEvent) -> Self {
        let error = match &event.outcome {
            Outcome::Failed(error) => Some(ErrorFields::of(error)),
            _ => None,
        };
        Self {
            action: action(event.action),
            tag_change: None,
            is_move: event.is_move,
            status: status(&event.outcome),
            source: event.source.to_string(),
            target: event.target.as_ref().map(ToString::to_string),
            version_id: event.source.version_id(),
            bytes: event.bytes,
            reason: event.reason,
            error,
        }
    }
}

#[derive(Serialize)]
struct MessageLine<'a> {
    message: &'a str,
}

#[derive(Serialize)]
struct ErrorLine<'a> {
    error: ErrorFields<'a>,
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
            kind: kind(error.kind()),
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

#[derive(Serialize)]
struct SummaryLine {
    done: u64,
    failed: u64,
    skipped: u64,
    #[serde(skip_serializing_if = "is_none")]
    not_tried: u64,
    warnings: u64,
    bytes: u64,
    fatal: bool,
    cancelled: bool,
    requests: Requests,
    exit_code: u8,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_none(count: &u64) -> bool {
    *count == 0
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

fn kind(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::NotFound => "not_found",
        ErrorKind::AccessDenied => "access_denied",
        ErrorKind::PreconditionFailed => "precondition_failed",
        ErrorKind::Throttled => "throttled",
        ErrorKind::Server => "server",
        ErrorKind::NotS3 => "not_s3",
        ErrorKind::Request => "request",
        ErrorKind::WrongRegion => "wrong_region",
        ErrorKind::Transport => "transport",
        ErrorKind::Certificate => "certificate",
        ErrorKind::Timeout => "timeout",
        ErrorKind::Credentials => "credentials",
        ErrorKind::Config => "config",
        ErrorKind::Integrity => "integrity",
        ErrorKind::SourceChanged => "source_changed",
        ErrorKind::Local => "local",
        ErrorKind::Cancelled => "cancelled",
        _ => "other",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use s3haul::location::{Location, ObjectName};
    use s3haul_wire::error::{Effort, ServiceError};
    use std::time::Duration;

    fn line(event: &Event) -> String {
        let mut buffer = Vec::new();
        push_event(&mut buffer, event, None);
        String::from_utf8(buffer).unwrap()
    }

    #[test]
    fn objects_and_errors_have_all_that_is_known() {
        let service = ServiceError {
            status: 503,
            code: "SlowDown".into(),
            message: "Please reduce".into(),
            request_id: "R1".into(),
            ..ServiceError::default()
        };
        let effort = Effort { attempts: 3, elapsed: Duration::from_millis(1500) };
        let error = Error::service(ErrorKind::Throttled, "PutObject", service).with_effort(effort);
        let event = Event::Object(ObjectEvent {
            action: ActionKind::Upload,
            is_move: false,
            source: Location::Local("/w/\"f\"".into()),
            target: Some(Location::Object(ObjectName::new("b", "k"))),
            bytes: 7,
            reason: None,
            outcome: Outcome::Failed(error),
        });
        let value: serde_json::Value = serde_json::from_str(&line(&event)).unwrap();
        assert_eq!(value["v"], 1);
        assert_eq!(value["event"], "object");
        assert_eq!(value["status"], "failed");
        assert_eq!(value["source"], "/w/\"f\"");
        assert_eq!(value["error"]["kind"], "throttled");
        assert_eq!(value["error"]["code"], "SlowDown");
        assert_eq!(value["error"]["attempts"], 3);
        assert_eq!(value["error"]["request_id"], "R1");
    }

    /// What programs parse: a change here needs a new version.
    #[test]
    fn version_1_looks_like_this() {
        let done = Event::Object(ObjectEvent {
            action: ActionKind::Copy,
            is_move: true,
            source: Location::Object(ObjectName::new("a", "k")),
            target: Some(Location::Object(ObjectName::new("b", "ü"))),
            bytes: 7,
            reason: None,
            outcome: Outcome::Done,
        });
        assert_eq!(
            line(&done),
            "{\"v\":1,\"event\":\"object\",\"action\":\"copy\",\"move\":true,\"status\":\"done\",\
             \"source\":\"s3://a/k\",\"target\":\"s3://b/ü\",\"bytes\":7}\n"
        );
        let fatal = Event::Fatal { error: Error::new(ErrorKind::Transport, "gone") };
        assert_eq!(
            line(&fatal),
            "{\"v\":1,\"event\":\"fatal\",\"error\":{\"kind\":\"transport\",\"message\":\"gone\",\
             \"attempts\":0,\"elapsed_ms\":0}}\n"
        );
        let mut buffer = Vec::new();
        push_summary(&mut buffer, &Summary { done: 2, bytes: 9, ..Summary::default() }, 0);
        assert_eq!(
            String::from_utf8(buffer).unwrap(),
            "{\"v\":1,\"event\":\"summary\",\"done\":2,\"failed\":0,\"skipped\":0,\
             \"warnings\":0,\"bytes\":9,\"fatal\":false,\"cancelled\":false,\
             \"requests\":{\"put_copy_post_list\":0,\"get_head\":0,\"delete\":0},\
             \"exit_code\":0}\n"
        );
    }

    #[test]
    fn a_line_is_one_line() {
        let event = Event::Warning { message: "a\nb".into() };
        assert_eq!(line(&event), "{\"v\":1,\"event\":\"warning\",\"message\":\"a\\nb\"}\n");
        assert_eq!(line(&Event::PlanComplete), "");
    }
}
