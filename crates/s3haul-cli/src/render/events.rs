//! The events of a transfer as lines of JSON.

use s3haul::event::{Event, ObjectEvent, Outcome};
use s3haul::job::Summary;
use serde::Serialize;

use super::archive::ArchiveRow;
use super::estimate::Requests;
use super::failures::CauseCount;
use super::json::{self, ErrorFields, push};
use super::tags;

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
        Event::Warning { message } => json::push_warning(buffer, message),
        Event::Fatal { error } => {
            push(buffer, "fatal", ErrorLine { error: ErrorFields::of(error) });
        }
        Event::Planned { .. } | Event::PlanComplete | Event::Progress { .. } => {}
    }
}

/// What programs want to know of the failures of a transfer.
#[derive(Debug, Serialize)]
pub(crate) struct Failed {
    pub(crate) causes: Vec<CauseCount>,
    /// The command that tries them again, where it can be printed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) retry: Option<String>,
}

/// Appends the line that ends a transfer.
pub(crate) fn push_summary(
    buffer: &mut Vec<u8>,
    summary: &Summary,
    failed: Option<&Failed>,
    exit_code: u8,
) {
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
        failures: failed,
        exit_code,
    };
    push(buffer, "summary", fields);
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
            action: json::action(event.action),
            tag_change: None,
            is_move: event.is_move,
            status: json::status(&event.outcome),
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
struct ErrorLine<'a> {
    error: ErrorFields<'a>,
}

#[derive(Serialize)]
struct SummaryLine<'a> {
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
    #[serde(flatten)]
    failures: Option<&'a Failed>,
    exit_code: u8,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_none(count: &u64) -> bool {
    *count == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use s3haul::event::ActionKind;
    use s3haul::location::{Location, ObjectName};
    use s3haul_wire::Error;
    use s3haul_wire::error::{Effort, ErrorKind, ServiceError};
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
        let elapsed = Duration::from_millis(1500);
        let effort = Effort { attempts: 3, elapsed, ..Effort::default() };
        let error = Error::service(ErrorKind::Throttled, "PutObject", service).with_effort(effort);
        let event = Event::Object(ObjectEvent {
            action: ActionKind::Upload,
            is_move: false,
            source: Location::Local("/w/\"f\"".into()),
            target: Some(Location::Object(ObjectName::new("b", "k"))),
            bytes: 7,
            reason: None,
            expected: None,
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
            expected: None,
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
        let summary = Summary { done: 2, bytes: 9, ..Summary::default() };
        push_summary(&mut buffer, &summary, None, 0);
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
