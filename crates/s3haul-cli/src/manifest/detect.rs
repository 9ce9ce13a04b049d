//! What a manifest is written in, by its name and its beginning. Pure.

use super::row::Column;
use s3haul::job::value::ManifestFormat;

/// How a manifest is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    /// Row by row.
    Text(TextFormat),
    /// The `manifest.json` of an inventory.
    Inventory,
    /// A table in Parquet.
    Parquet,
    /// A table in ORC, which is refused.
    Orc,
    /// What `list` prints as text or tsv, which is refused: its lines would be taken for keys.
    Listing,
}

/// How text is read row by row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextFormat {
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
    pub(super) fn of(asked: Option<ManifestFormat>, name: &str, head: &[u8]) -> Self {
        let first = first_line(head);
        let is_json = first.trim_start().starts_with('{');
        match asked {
            Some(ManifestFormat::Lines) => Self::Text(TextFormat::Lines),
            Some(ManifestFormat::Csv) => Self::Text(TextFormat::Csv),
            Some(ManifestFormat::Jsonl) => Self::Text(TextFormat::Jsonl),
            Some(ManifestFormat::Report) if is_json => Self::Text(TextFormat::ReportJsonl),
            Some(ManifestFormat::Report) => Self::Text(TextFormat::ReportCsv),
            Some(ManifestFormat::Inventory) => Self::Inventory,
            Some(ManifestFormat::Parquet) => Self::Parquet,
            None if head.starts_with(b"PAR1") => Self::Parquet,
            None if head.starts_with(b"ORC") && head.contains(&0) => Self::Orc,
            None if is_json && is_inventory(head) => Self::Inventory,
            None if is_listing(&first) => Self::Listing,
            None => Self::Text(TextFormat::found(name, &first, is_json)),
        }
    }
}

impl TextFormat {
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
        // So that a JSON document, such as an array of keys, is refused and not taken for keys.
        if ["jsonl", "ndjson", "json"].into_iter().any(has_ending) {
            return Self::Jsonl;
        }
        if has_ending("csv") || is_header(first) { Self::Csv } else { Self::Lines }
    }
}

/// Whether JSON is the `manifest.json` of an inventory, by the names of its fields. Within a key
/// of an object their quotes would be escaped.
fn is_inventory(head: &[u8]) -> bool {
    let text = String::from_utf8_lossy(head);
    text.contains("\"sourceBucket\"") && text.contains("\"destinationBucket\"")
}

/// Whether a line begins as one of `ls` does, with a time and a size or as that of a folder, or is
/// the header of a table with tabs.
fn is_listing(first: &str) -> bool {
    if first.contains('\t') {
        return is_header(&first.replace('\t', ","));
    }
    if first.starts_with("  ") && first.trim_start().starts_with("PRE ") {
        return true;
    }
    let mut words = first.split_ascii_whitespace();
    let is_made_of = |word: Option<&str>, of: &str| {
        let shape: Option<String> = word
            .map(|word| word.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect());
        shape.as_deref() == Some(of)
    };
    is_made_of(words.next(), "0000-00-00")
        && is_made_of(words.next(), "00:00:00")
        && words.next().is_some_and(|size| size.parse::<f64>().is_ok())
        && words.next().is_some()
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
            ("m", "PAR1\x15", Format::Parquet),
            ("m", "ORC\0\x08", Format::Orc),
            ("ORC.txt", "ORC\n", Format::Text(TextFormat::Lines)),
            ("-", "{\n \"sourceBucket\" : \"b\", \"destinationBucket\": 1", Format::Inventory),
            ("keys.txt", "a,b\n", Format::Text(TextFormat::Lines)),
            ("-", "", Format::Text(TextFormat::Lines)),
            ("-", "key\nb", Format::Text(TextFormat::Lines)),
            ("-", "key,size,etag\r\nb", Format::Text(TextFormat::Csv)),
            ("keys.CSV", "b,k\n", Format::Text(TextFormat::Csv)),
            ("keys.csv.gz", "b,k\n", Format::Text(TextFormat::Csv)),
            ("-", " {\"key\":\"a\"}", Format::Text(TextFormat::Jsonl)),
            ("k.jsonl", "", Format::Text(TextFormat::Jsonl)),
            ("k.json", "[\"a\",\"b\"]", Format::Text(TextFormat::Jsonl)),
            ("r", report, Format::Text(TextFormat::ReportJsonl)),
            ("r.csv", "event,action,outcome,reason\n", Format::Text(TextFormat::ReportCsv)),
            ("-", "2026-11-28 11:16:16          2 a\n", Format::Listing),
            ("-", "2026-11-28 11:16:16    1.2 KiB a\n", Format::Listing),
            ("-", "                           PRE d/\n", Format::Listing),
            ("-", "PRE d/\n", Format::Text(TextFormat::Lines)),
            ("-", "2026-11-28 11:16:16\n", Format::Text(TextFormat::Lines)),
            ("-", "2026-11-28/11:16:16 2 a\n", Format::Text(TextFormat::Lines)),
            ("t.tsv", "key\tsize\tlast_modified\n", Format::Listing),
            ("t.tsv", "key\tanything\n", Format::Text(TextFormat::Lines)),
        ] {
            assert_eq!(Format::of(None, name, head.as_bytes()), expected, "{name} {head}");
        }
        let lines = Format::of(Some(ManifestFormat::Lines), "r", report.as_bytes());
        assert_eq!(lines, Format::Text(TextFormat::Lines));
        let asked = Some(ManifestFormat::Report);
        assert_eq!(
            Format::of(asked, "r", report.as_bytes()),
            Format::Text(TextFormat::ReportJsonl)
        );
    }
}
