//! What a comparison looks like: lines, JSON or CSV, and its sums.

use std::fmt::Write as _;

use s3haul::job::{CompareSummary, Compared, Evidence, Facts, Status, Tally};
use s3haul_wire::units::LocalTime;
use serde::Serialize;

use super::csv;
use super::escape::push_name;
use super::json::{self, ErrorFields};

/// Columns of CSV.
const COLUMNS: [&str; 8] = [
    "status",
    "reason",
    "name",
    "source_size",
    "target_size",
    "source_last_modified",
    "target_last_modified",
    "error",
];

/// What is printed of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ComparedFormat {
    /// Lines.
    Text,
    /// JSON objects.
    Jsonl,
    /// Comma-separated values.
    Csv,
    /// Events as JSON.
    Events,
}

/// Writes rows.
pub(crate) struct Rows {
    format: ComparedFormat,
    escape: bool,
    time: LocalTime,
    has_rows: bool,
}

impl Rows {
    /// Rows of a format; on a terminal control characters in names are escaped.
    pub(crate) fn new(format: ComparedFormat, escape: bool) -> Self {
        Self { format, escape, time: LocalTime::utc(), has_rows: false }
    }

    /// Whether there was one.
    pub(crate) fn has_rows(&self) -> bool {
        self.has_rows
    }

    /// Appends the names of the columns, where the format has some.
    pub(crate) fn push_header(&self, buffer: &mut Vec<u8>) {
        if self.format == ComparedFormat::Csv {
            csv::push_row(buffer, &COLUMNS);
        }
    }

    /// Appends a row.
    pub(crate) fn push(&mut self, buffer: &mut Vec<u8>, compared: &Compared) {
        self.has_rows = true;
        match self.format {
            ComparedFormat::Text => self.push_text(buffer, compared),
            ComparedFormat::Csv => self.push_csv(buffer, compared),
            ComparedFormat::Jsonl => {
                let fields = Fields::of(compared, &mut self.time);
                // The types here have only string keys, and a vector takes everything.
                _ = serde_json::to_writer(&mut *buffer, &fields);
                buffer.push(b'\n');
            }
            ComparedFormat::Events => {
                json::push(buffer, "compared", Fields::of(compared, &mut self.time));
            }
        }
    }

    fn push_text(&self, buffer: &mut Vec<u8>, compared: &Compared) {
        let Compared { name, status, .. } = compared;
        let start = format!("{:<11}  {:<8}  ", status.name(), status.reason());
        buffer.extend_from_slice(start.as_bytes());
        push_name(buffer, name, self.escape);
        buffer.push(b'\n');
    }

    fn push_csv(&mut self, buffer: &mut Vec<u8>, compared: &Compared) {
        let Compared { name, source, target, status } = compared;
        let size = |facts: &Option<Facts>| facts.map_or(String::new(), |f| f.size.to_string());
        let mut time = |facts: &Option<Facts>| {
            facts.map_or(String::new(), |facts| self.time.iso(facts.modified_s()))
        };
        let error = match status {
            Status::Failed(error) => error.to_string(),
            _ => String::new(),
        };
        let cells = [
            status.name(),
            status.reason(),
            name,
            &size(source),
            &size(target),
            &time(source),
            &time(target),
            &error,
        ];
        csv::push_row(buffer, &cells);
    }
}

#[derive(Serialize)]
struct Fields<'a> {
    status: &'static str,
    #[serde(skip_serializing_if = "str::is_empty")]
    reason: &'static str,
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<SideFields>,
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<SideFields>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<ErrorFields<'a>>,
}

#[derive(Serialize)]
struct SideFields {
    size: u64,
    last_modified: String,
}

impl<'a> Fields<'a> {
    fn of(compared: &'a Compared, time: &mut LocalTime) -> Self {
        let Compared { name, source, target, status } = compared;
        let mut side = |facts: &Option<Facts>| {
            let facts = (*facts)?;
            Some(SideFields { size: facts.size, last_modified: time.iso(facts.modified_s()) })
        };
        let error = match status {
            Status::Failed(error) => Some(ErrorFields::of(error)),
            _ => None,
        };
        let (source, target) = (side(source), side(target));
        Self { status: status.name(), reason: status.reason(), name, source, target, error }
    }
}

/// Appends the sums as lines; an empty line before them unless they come first.
pub(crate) fn push_summary(buffer: &mut Vec<u8>, summary: &CompareSummary, is_first: bool) {
    let mut text = if is_first { String::new() } else { "\n".to_owned() };
    // Writing to a string cannot fail.
    let mut line = |name: &str, tally: Tally, rest: &str| {
        let Tally { objects, bytes } = tally;
        _ = writeln!(text, "{name:>14}: {objects} ({bytes} bytes{rest})");
    };
    line("Only in source", summary.only_source, "");
    line("Only in target", summary.only_target, "");
    let target_bytes = summary.different_in_target.bytes;
    line("Different", summary.different, &format!(", {target_bytes} bytes in the target"));
    line("Same", summary.same_total(), "");
    for (evidence, tally) in Evidence::ALL.into_iter().zip(summary.same) {
        if tally.objects > 0 {
            line(&format!("by {evidence}"), tally, "");
        }
    }
    if summary.failed.objects > 0 {
        line("Not compared", summary.failed, "");
    }
    buffer.extend_from_slice(text.as_bytes());
}

#[derive(Serialize)]
struct TallyFields {
    objects: u64,
    bytes: u64,
}

impl From<Tally> for TallyFields {
    fn from(tally: Tally) -> Self {
        Self { objects: tally.objects, bytes: tally.bytes }
    }
}

#[derive(Serialize)]
struct SameFields {
    size: TallyFields,
    etag: TallyFields,
    checksum: TallyFields,
    content: TallyFields,
}

#[derive(Serialize)]
struct SummaryFields {
    only_source: TallyFields,
    only_target: TallyFields,
    different: TallyFields,
    different_target_bytes: u64,
    same: TallyFields,
    same_by: SameFields,
    failed: TallyFields,
    warnings: u64,
    exit_code: u8,
}

/// Appends the event with the sums.
pub(crate) fn push_summary_event(buffer: &mut Vec<u8>, summary: &CompareSummary, exit_code: u8) {
    let [size, etag, checksum, content] = summary.same.map(TallyFields::from);
    let fields = SummaryFields {
        only_source: summary.only_source.into(),
        only_target: summary.only_target.into(),
        different: summary.different.into(),
        different_target_bytes: summary.different_in_target.bytes,
        same: summary.same_total().into(),
        same_by: SameFields { size, etag, checksum, content },
        failed: summary.failed.into(),
        warnings: summary.warnings,
        exit_code,
    };
    json::push(buffer, "compare_summary", fields);
}

#[cfg(test)]
mod tests {
    use super::*;
    use s3haul::job::Difference;

    fn rendered(format: ComparedFormat) -> String {
        let facts = |size| Some(Facts { size, modified_us: 1_500_000 });
        let rows = [
            (Status::OnlySource, facts(1), None),
            (Status::Different(Difference::Bytes(Evidence::Etag)), facts(2), facts(2)),
            (Status::Same(Evidence::Size), facts(3), facts(3)),
        ];
        let (mut buffer, mut rows_of) = (Vec::new(), Rows::new(format, false));
        rows_of.push_header(&mut buffer);
        for (status, source, target) in rows {
            rows_of.push(&mut buffer, &Compared { name: "a,b".into(), source, target, status });
        }
        String::from_utf8(buffer).unwrap()
    }

    #[test]
    fn rows_have_their_formats() {
        assert_eq!(
            rendered(ComparedFormat::Text),
            "only-source            a,b\ndifferent    etag      a,b\nsame         size      a,b\n"
        );
        let csv = rendered(ComparedFormat::Csv);
        let second = "only-source,,\"a,b\",1,,1970-01-01T00:00:01Z,,";
        assert_eq!(csv.lines().nth(1).unwrap(), second);
        let jsonl = rendered(ComparedFormat::Jsonl);
        let first = "{\"status\":\"only-source\",\"name\":\"a,b\",\"source\":{\"size\":1,\
                     \"last_modified\":\"1970-01-01T00:00:01Z\"}}";
        assert_eq!(jsonl.lines().next().unwrap(), first);
        let events = rendered(ComparedFormat::Events);
        assert!(events.starts_with("{\"v\":1,\"event\":\"compared\",\"status\""), "{events}");
    }

    #[test]
    fn sums_tell_what_shows_it() {
        let tally = |objects, bytes| Tally { objects, bytes };
        let summary = CompareSummary {
            only_source: tally(1, 2),
            same: [tally(0, 0), tally(2, 10), tally(1, 5), tally(0, 0)],
            ..CompareSummary::default()
        };
        let mut buffer = Vec::new();
        push_summary(&mut buffer, &summary, true);
        let expected = "Only in source: 1 (2 bytes)\n\
                        Only in target: 0 (0 bytes)\n     \
                        Different: 0 (0 bytes, 0 bytes in the target)\n          \
                        Same: 3 (15 bytes)\n       \
                        by etag: 2 (10 bytes)\n   \
                        by checksum: 1 (5 bytes)\n";
        assert_eq!(String::from_utf8(buffer).unwrap(), expected);
    }
}
