//! What a manifest is written in, by its name and its beginning. Pure.

use super::row::Column;
use crate::args::FromFormat;

/// How a manifest is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    /// A key or an address a line.
    Lines,
    /// Comma-separated values.
    Csv,
    /// A JSON object a line.
    Jsonl,
    /// Rows of a report as comma-separated values.
    ReportCsv,
    /// Rows of a report as JSON.
    ReportJsonl,
}

/// Beginning of the first line of a report as comma-separated values.
const REPORT_HEADER: &str = "event,action,outcome,";

impl Format {
    /// What was asked for, or else what the name and the first bytes say.
    pub(super) fn of(asked: Option<FromFormat>, name: &str, head: &[u8]) -> Self {
        let first = first_line(head);
        let is_json = first.trim_start().starts_with('{');
        match asked {
            Some(FromFormat::Lines) => Self::Lines,
            Some(FromFormat::Csv) => Self::Csv,
            Some(FromFormat::Jsonl) => Self::Jsonl,
            Some(FromFormat::Report) if is_json => Self::ReportJsonl,
            Some(FromFormat::Report) => Self::ReportCsv,
            None => Self::found(name, &first, is_json),
        }
    }

    fn found(name: &str, first: &str, is_json: bool) -> Self {
        let name = name.to_ascii_lowercase();
        let name = name.strip_suffix(".gz").unwrap_or(&name);
        let has_ending = |ending: &str| name.rsplit_once('.').is_some_and(|(_, end)| end == ending);
        if is_json {
            let is_report = serde_json::from_str::<serde_json::Value>(first)
                .is_ok_and(|row| row["event"] == "report");
            return if is_report { Self::ReportJsonl } else { Self::Jsonl };
        }
        if first.starts_with(REPORT_HEADER) {
            return Self::ReportCsv;
        }
        if has_ending("jsonl") || has_ending("ndjson") {
            return Self::Jsonl;
        }
        if has_ending("csv") || is_header(first) { Self::Csv } else { Self::Lines }
    }
}

fn first_line(head: &[u8]) -> String {
    let end = head.iter().position(|byte| *byte == b'\n').unwrap_or(head.len());
    String::from_utf8_lossy(&head[..end]).trim_end_matches('\r').to_owned()
}

/// Whether a line holds names of columns and nothing else, several of them, and the key's.
fn is_header(line: &str) -> bool {
    let columns: Option<Vec<_>> = line.split(',').map(Column::of).collect();
    columns.is_some_and(|columns| columns.len() > 1 && columns.contains(&Column::Key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_beginnings_tell() {
        let report = "{\"v\":1,\"event\":\"report\",\"action\":\"rm\"}\n{}";
        for (name, head, expected) in [
            ("keys.txt", "a,b\n", Format::Lines),
            ("-", "", Format::Lines),
            ("-", "key\nb", Format::Lines),
            ("-", "key,size,etag\r\nb", Format::Csv),
            ("keys.CSV", "b,k\n", Format::Csv),
            ("keys.csv.gz", "b,k\n", Format::Csv),
            ("-", " {\"key\":\"a\"}", Format::Jsonl),
            ("k.jsonl", "", Format::Jsonl),
            ("r", report, Format::ReportJsonl),
            ("r.csv", "event,action,outcome,reason\n", Format::ReportCsv),
        ] {
            assert_eq!(Format::of(None, name, head.as_bytes()), expected, "{name} {head}");
        }
        assert_eq!(Format::of(Some(FromFormat::Lines), "r", report.as_bytes()), Format::Lines);
        let asked = Some(FromFormat::Report);
        assert_eq!(Format::of(asked, "r", report.as_bytes()), Format::ReportJsonl);
    }
}
