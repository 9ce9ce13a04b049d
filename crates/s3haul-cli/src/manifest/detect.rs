//! What a manifest is written in, by its name and its beginning. Pure.

use jiff::Timestamp;
use s3haul::job::value::ManifestFormat;

use super::row::Column;
use crate::report::Records;

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
    /// The same of `uploads ls`.
    Uploads,
    /// Lines or comma-separated values, which is refused: one taken for the other names other
    /// objects.
    Unclear,
}

/// How text is read row by row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextFormat {
    /// A key or an address a line.
    Lines,
    /// The same where nothing says so: lines that look like something else are refused.
    Guessed,
    /// Comma-separated values.
    Csv,
    /// The same without a line of names, with URL-encoded keys.
    S3Batch,
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
    /// What was asked for, or else what the name and the first bytes say. The bucket is that of
    /// the command.
    pub(super) fn of(asked: Option<ManifestFormat>, name: &str, bucket: &str, head: &[u8]) -> Self {
        let first = first_line(head);
        let is_json = first.trim_start().starts_with('{');
        match asked {
            Some(ManifestFormat::Lines) => Self::Text(TextFormat::Lines),
            Some(ManifestFormat::Csv) => Self::Text(TextFormat::Csv),
            Some(ManifestFormat::S3Batch) => Self::Text(TextFormat::S3Batch),
            Some(ManifestFormat::Jsonl) => Self::Text(TextFormat::Jsonl),
            Some(ManifestFormat::Report) if is_json => Self::Text(TextFormat::ReportJsonl),
            Some(ManifestFormat::Report) => Self::Text(TextFormat::ReportCsv),
            Some(ManifestFormat::Inventory) => Self::Inventory,
            Some(ManifestFormat::Parquet) => Self::Parquet,
            None if head.starts_with(b"PAR1") => Self::Parquet,
            None if head.starts_with(b"ORC") && head.contains(&0) => Self::Orc,
            None if is_json && is_inventory(head) => Self::Inventory,
            None if is_upload(&first) => Self::Uploads,
            None if is_listing(&first) => Self::Listing,
            None => match TextFormat::found(name, &first, is_json) {
                TextFormat::Guessed if is_unclear(&first, bucket) => Self::Unclear,
                found => Self::Text(found),
            },
        }
    }
}

/// Whether a list that begins with a key would be taken for something else than keys.
pub(crate) fn is_ambiguous(key: &str, bucket: &str) -> bool {
    may_be_ambiguous(key)
        && Format::of(None, "", bucket, key.as_bytes()) != Format::Text(TextFormat::Guessed)
}

/// A cheap pre-check: no false negatives, few false positives.
fn may_be_ambiguous(key: &str) -> bool {
    let is_of_name = |byte: &u8| !matches!(byte, b'_' | b' ');
    let begins_so = match key.as_bytes() {
        [b' ' | b'"' | b'{' | 0x0b | 0x0c, ..] => true,
        // A time.
        [b'0'..=b'9', _, _, _, b'-', ..] => key.contains(' '),
        // The name of a column.
        [b'k' | b'K' | b'_', ..] => key.bytes().filter(is_of_name).take(4).count() < 4,
        other => other.starts_with(b"PAR1"),
    };
    begins_so || key.contains(',')
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
        if has_ending("csv") || is_header(first) { Self::Csv } else { Self::Guessed }
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
    let mut words = behind_time(first);
    words.next().is_some_and(|size| size.parse::<f64>().is_ok()) && words.next().is_some()
}

/// Whether a line is one of `uploads ls`, with an id in the place of a size, or parts behind it.
fn is_upload(first: &str) -> bool {
    let mut words = behind_time(first);
    let (Some(size), Some(parts)) = (words.next(), words.next()) else { return false };
    let cells = first.split("  ").filter(|cell| !cell.is_empty());
    cells.count() > 2 && (size.parse::<f64>().is_err() || parts.parse::<u32>().is_ok())
}

/// The words behind the time that a line begins with; none where it does not.
fn behind_time(line: &str) -> impl Iterator<Item = &str> {
    let mut words = line.split_ascii_whitespace();
    let mut is_made_of = |of: &str| {
        let shape = |word: &str| -> String {
            word.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect()
        };
        words.next().is_some_and(|word| shape(word) == of)
    };
    let has_time = is_made_of("0000-00-00") && is_made_of("00:00:00");
    words.filter(move |_| has_time)
}

/// The first line that has anything.
fn first_line(head: &[u8]) -> String {
    let start = head.iter().position(|byte| !matches!(byte, b'\r' | b'\n')).unwrap_or(0);
    let head = &head[start..];
    let end = head.iter().position(|byte| *byte == b'\n').unwrap_or(head.len());
    String::from_utf8_lossy(&head[..end]).trim_end_matches('\r').to_owned()
}

/// Whether a line is a row of names, of which one is `key` and another one is known, too.
fn is_header(line: &str) -> bool {
    let columns: Vec<_> = cells(line).iter().filter_map(|name| Column::of(name)).collect();
    columns.len() > 1 && columns.contains(&Column::Key)
}

/// Whether a line may be a key, or else the name of a column, a bucket before a key as S3 Batch
/// Operations has it, or a row of a listing with its time.
fn is_unclear(line: &str, bucket: &str) -> bool {
    let cells = cells(line);
    let is_time = |cell: &String| cell.parse::<Timestamp>().is_ok();
    let is_row = cells.len() > 1 && (cells[0] == bucket || cells.iter().any(is_time));
    is_row || cells.iter().any(|name| Column::of(name) == Some(Column::Key))
}

/// The cells of a line of comma-separated values; none where it is not whole.
fn cells(line: &str) -> Vec<String> {
    let found = Records::next_or_rest(&mut line.as_bytes(), line.len() as u64);
    let cells = found.ok().flatten().unwrap_or_default().into_iter();
    cells.map(|cell| String::from_utf8_lossy(&cell).into_owned()).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use s3haul::summary::OpenUpload;
    use s3haul_wire::units::LocalTime;

    use super::*;
    use crate::render::uploads::UploadLines;

    /// They were taken for keys, and removing these succeeded.
    #[test]
    fn uploads_are_not_taken_for_keys() {
        let (key, upload_id) = ("a b".to_owned(), "1f2e3d".to_owned());
        let upload = OpenUpload { key, upload_id, initiated_s: 5, parts: 1, bytes: 7 };
        for sizes in [false, true] {
            let time = LocalTime::utc();
            let mut lines = UploadLines { bucket: "box", sizes, escape: false, time };
            let mut head = Vec::new();
            lines.push_listed(&mut head, &upload);
            assert_eq!(Format::of(None, "-", "box", &head), Format::Uploads, "{sizes}");
        }
    }

    proptest! {
        #[test]
        fn the_glance_misses_no_key(
            key in "(2026-01-0[12] |PAR1|\\{|key|Key|_| |  PRE )?[kKeEyY_ ,\"{0-9:.TZab-]{0,16}",
        ) {
            let is_other = |key: &str| {
                let format = Format::of(None, "", "ab", key.as_bytes());
                !key.is_empty() && format != Format::Text(TextFormat::Guessed)
            };
            prop_assert_eq!(is_ambiguous(&key, "ab"), is_other(&key));
        }
    }

    #[test]
    fn names_and_beginnings_tell() {
        let report = "{\"v\":1,\"event\":\"report\",\"action\":\"rm\"}\n{}";
        for (name, head, expected) in [
            ("m", "PAR1\x15", Format::Parquet),
            ("m", "ORC\0\x08", Format::Orc),
            ("ORC.txt", "ORC\n", Format::Text(TextFormat::Guessed)),
            ("-", "{key: a}\n", Format::Text(TextFormat::Jsonl)),
            ("-", "{\n \"sourceBucket\" : \"b\", \"destinationBucket\": 1", Format::Inventory),
            ("keys.txt", "a,b\n", Format::Text(TextFormat::Guessed)),
            ("keys.txt", "logs/key,size\n", Format::Text(TextFormat::Guessed)),
            ("-", "box/a,b\n", Format::Text(TextFormat::Guessed)),
            ("-", "box\n", Format::Text(TextFormat::Guessed)),
            ("-", "s3://box/key\n", Format::Text(TextFormat::Guessed)),
            ("-", "", Format::Text(TextFormat::Guessed)),
            ("-", "key\nb", Format::Unclear),
            ("keys.txt", "Key\r\nb", Format::Unclear),
            ("-", "\n\r\nkey\nb", Format::Unclear),
            ("-", "\n{\"key\":\"a\"}", Format::Text(TextFormat::Jsonl)),
            ("-", "\"key\"\n\"b\"", Format::Unclear),
            ("-", "key,note\nb,c", Format::Unclear),
            ("-", "a,5,2026-01-31T00:00:00Z\n", Format::Unclear),
            ("-", "2026-01-31T00:00:00Z\n", Format::Text(TextFormat::Guessed)),
            ("-", "box,a%2Fb\n", Format::Unclear),
            ("-", "\"box\",\"a%2Fb\"\n", Format::Unclear),
            ("m.csv", "box,a%2Fb\n", Format::Text(TextFormat::Csv)),
            ("keys.csv", "key\nb", Format::Text(TextFormat::Csv)),
            ("-", "key,size,etag\r\nb", Format::Text(TextFormat::Csv)),
            ("-", "\"key\",\"size\"\nb", Format::Text(TextFormat::Csv)),
            ("-", "note,key,size\nb", Format::Text(TextFormat::Csv)),
            ("-", "bucket,key,tag,value\n", Format::Text(TextFormat::Csv)),
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
            ("-", "2026-11-28 11:16:16 a b\n", Format::Text(TextFormat::Guessed)),
            ("-", "PRE d/\n", Format::Text(TextFormat::Guessed)),
            ("-", "2026-11-28 11:16:16\n", Format::Text(TextFormat::Guessed)),
            ("-", "2026-11-28/11:16:16 2 a\n", Format::Text(TextFormat::Guessed)),
            ("t.tsv", "key\tsize\tlast_modified\n", Format::Listing),
            ("t.tsv", "key\tanything\n", Format::Text(TextFormat::Guessed)),
        ] {
            assert_eq!(Format::of(None, name, "box", head.as_bytes()), expected, "{name} {head}");
        }
        let lines = Format::of(Some(ManifestFormat::Lines), "r", "", report.as_bytes());
        assert_eq!(lines, Format::Text(TextFormat::Lines));
        let asked = Some(ManifestFormat::Report);
        assert_eq!(
            Format::of(asked, "r", "", report.as_bytes()),
            Format::Text(TextFormat::ReportJsonl)
        );
    }
}
