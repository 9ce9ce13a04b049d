//! One row of a report, and how it is written.

use std::borrow::Cow;
use std::fmt;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use s3haul::event::{ObjectEvent, Outcome};
use s3haul::location::Location;
use serde::Serialize;

use crate::render::{csv, json};

/// Names of the columns, in order. Columns are only ever added, at the end.
pub(super) const COLUMNS: [&str; 11] = [
    "event",
    "action",
    "outcome",
    "reason",
    "bytes",
    "attempts",
    "source",
    "target",
    "error",
    "path_base64",
    "version_id",
];

/// Whether a report is written as Parquet: its name ends in `.parquet`.
pub(crate) fn is_parquet(path: &Path) -> bool {
    path.extension().is_some_and(|end| end.eq_ignore_ascii_case("parquet"))
}

/// How rows are written, where they are lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// One JSON object a line.
    JsonLines,
    /// Comma-separated values.
    Csv,
}

impl Format {
    /// CSV for names that end in `.csv`.
    pub(crate) fn of(path: &Path) -> Self {
        let is_csv = path.extension().is_some_and(|end| end.eq_ignore_ascii_case("csv"));
        if is_csv { Self::Csv } else { Self::JsonLines }
    }
}

/// The command that a report is of, with its sides as they are compared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sides {
    /// Name of the command.
    pub(crate) command: String,
    /// Source, absolute, without `/` at its end.
    pub(crate) source: String,
    /// Target; empty for `rm`.
    pub(crate) target: String,
}

impl fmt::Display for Sides {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { command, source, target } = self;
        write!(f, "{command} {source}{}{target}", if target.is_empty() { "" } else { " " })
    }
}

/// A row; empty fields are left out of JSON.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct Row<'a> {
    #[serde(skip)]
    pub(super) event: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    pub(super) action: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    pub(super) outcome: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    pub(super) reason: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) attempts: Option<u32>,
    #[serde(skip_serializing_if = "str::is_empty")]
    pub(super) source: Cow<'a, str>,
    #[serde(skip_serializing_if = "str::is_empty")]
    pub(super) target: Cow<'a, str>,
    #[serde(skip_serializing_if = "str::is_empty")]
    pub(super) error: Cow<'a, str>,
    #[serde(skip_serializing_if = "str::is_empty")]
    pub(super) path_base64: String,
    #[serde(skip_serializing_if = "str::is_empty")]
    pub(super) version_id: &'a str,
}

impl<'a> Row<'a> {
    /// The first row: of which command the report is.
    pub(super) fn first(sides: &'a Sides) -> Self {
        Self {
            event: "report",
            action: &sides.command,
            source: Cow::Borrowed(&sides.source),
            target: Cow::Borrowed(&sides.target),
            ..Self::default()
        }
    }

    /// The last row: whether the command came to everything.
    pub(super) fn last(is_complete: bool) -> Self {
        let outcome = if is_complete { "complete" } else { "incomplete" };
        Self { event: "end", outcome, ..Self::default() }
    }

    /// How an object ended.
    pub(super) fn of(event: &'a ObjectEvent) -> Self {
        let (source, target) = (text(&event.source), event.target.as_ref().map(text));
        let failure = match &event.outcome {
            Outcome::Failed(error) => Some(error),
            _ => None,
        };
        let bytes = [Some(&event.source), event.target.as_ref()];
        Self {
            event: "object",
            action: json::action(event.action),
            outcome: json::status(&event.outcome),
            reason: event.reason.unwrap_or_default(),
            bytes: Some(event.bytes),
            attempts: failure.map(|error| error.effort().attempts),
            source,
            target: target.unwrap_or_default(),
            error: failure.map(|error| error.to_string().into()).unwrap_or_default(),
            path_base64: bytes.into_iter().flatten().find_map(undecodable).unwrap_or_default(),
            version_id: event.source.version_id().unwrap_or_default(),
        }
    }

    /// Rows that are about no object: `warning` or `fatal`.
    pub(super) fn text(event: &'a str, text: impl Into<Cow<'a, str>>) -> Self {
        Self { event, error: text.into(), ..Self::default() }
    }

    /// Appends it.
    pub(super) fn push(&self, format: Format, buffer: &mut Vec<u8>) {
        match format {
            Format::JsonLines => json::push(buffer, self.event, self),
            Format::Csv => {
                let number = |number: Option<String>| number.unwrap_or_default();
                let bytes = number(self.bytes.map(|bytes| bytes.to_string()));
                let attempts = number(self.attempts.map(|attempts| attempts.to_string()));
                let cells: [&str; COLUMNS.len()] = [
                    self.event,
                    self.action,
                    self.outcome,
                    self.reason,
                    &bytes,
                    &attempts,
                    &self.source,
                    &self.target,
                    &self.error,
                    &self.path_base64,
                    self.version_id,
                ];
                csv::push_row(buffer, &cells);
            }
        }
    }
}

/// How a location is written in a row.
pub(crate) fn text(location: &Location) -> Cow<'_, str> {
    match location {
        Location::Local(path) => path.to_string_lossy(),
        Location::Stream => Cow::Borrowed("-"),
        Location::Object(_) => Cow::Owned(location.to_string()),
    }
}

/// The bytes of a path that is not UTF-8.
fn undecodable(location: &Location) -> Option<String> {
    match location {
        Location::Local(path) if path.to_str().is_none() => {
            Some(BASE64.encode(path.as_os_str().as_encoded_bytes()))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use s3haul::event::ActionKind;
    use s3haul::location::ObjectName;
    use s3haul::{Error, ErrorKind};
    use s3haul_wire::error::{Effort, ServiceError};

    fn lines(format: Format, rows: &[Row<'_>]) -> String {
        let mut buffer = Vec::new();
        for row in rows {
            row.push(format, &mut buffer);
        }
        String::from_utf8(buffer).unwrap()
    }

    fn failed(source: Location, key: &str) -> ObjectEvent {
        let service =
            ServiceError { status: 503, code: "SlowDown".into(), ..ServiceError::default() };
        let effort = Effort { attempts: 3, ..Effort::default() };
        let error = Error::service(ErrorKind::Request, "PutObject", service).with_effort(effort);
        ObjectEvent {
            action: ActionKind::Upload,
            is_move: false,
            source,
            target: Some(Location::Object(ObjectName::new("b", key))),
            bytes: 7,
            reason: Some("size"),
            expected: None,
            outcome: Outcome::Failed(error),
        }
    }

    /// What programs parse: a change here needs a new version.
    #[test]
    fn version_1_looks_like_this() {
        let sides = Sides { command: "sync".into(), source: "/w".into(), target: "s3://b".into() };
        let event = failed(Location::Local("/w/a,\"b\"".into()), "k\nl");
        let rows =
            [Row::first(&sides), Row::of(&event), Row::text("warning", "w"), Row::last(true)];
        assert_eq!(
            lines(Format::JsonLines, &rows),
            "{\"v\":1,\"event\":\"report\",\"action\":\"sync\",\"source\":\"/w\",\
             \"target\":\"s3://b\"}\n\
             {\"v\":1,\"event\":\"object\",\"action\":\"upload\",\"outcome\":\"failed\",\
             \"reason\":\"size\",\"bytes\":7,\"attempts\":3,\"source\":\"/w/a,\\\"b\\\"\",\
             \"target\":\"s3://b/k\\nl\",\"error\":\"An error occurred (SlowDown) when calling the \
             PutObject operation: \"}\n\
             {\"v\":1,\"event\":\"warning\",\"error\":\"w\"}\n\
             {\"v\":1,\"event\":\"end\",\"outcome\":\"complete\"}\n"
        );
        assert_eq!(
            lines(Format::Csv, &rows),
            "report,sync,,,,,/w,s3://b,,,\n\
             object,upload,failed,size,7,3,\"/w/a,\"\"b\"\"\",\"s3://b/k\nl\",An error occurred \
             (SlowDown) when calling the PutObject operation: ,,\n\
             warning,,,,,,,,w,,\n\
             end,,complete,,,,,,,,\n"
        );
    }

    #[cfg(unix)]
    #[test]
    fn paths_that_are_no_text_keep_their_bytes() {
        use std::os::unix::ffi::OsStringExt as _;
        let path = std::ffi::OsString::from_vec(b"/w/caf\xe9".to_vec());
        let event = failed(Location::Local(path.into()), "k");
        let row = Row::of(&event);
        assert_eq!(row.source, "/w/caf\u{fffd}");
        assert_eq!(row.path_base64, BASE64.encode(b"/w/caf\xe9"));
    }

    #[test]
    fn the_name_of_the_file_says_the_format() {
        assert_eq!(Format::of(Path::new("a/r.CSV")), Format::Csv);
        assert_eq!(Format::of(Path::new("r.jsonl")), Format::JsonLines);
        assert_eq!(Format::of(Path::new("csv")), Format::JsonLines);
    }
}
