//! The format of a listing, chosen once and applied to row after row.

use s3haul_wire::ops::ListPage;
use s3haul_wire::units::LocalTime;

use super::entry::{Entry, Field};
use super::table::{Cells, Row};
use super::{json, text};

/// What a listing is printed as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// The lines of `aws s3 ls`.
    Text,
    /// Addresses, one a line.
    Addresses,
    /// A JSON object a line.
    Jsonl,
    /// Comma-separated values.
    Csv,
    /// Tab-separated values.
    Tsv,
    /// Keys, one a line.
    Keys,
    /// Apache Parquet.
    Parquet,
    /// The events of `--json`.
    Events,
}

/// How lines are adapted to their reader: a terminal or a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RowStyle {
    /// Sizes as KiB.
    pub(crate) human_readable: bool,
    /// Control characters are shown as escapes, for a terminal.
    pub(crate) escape: bool,
}

/// Appends rows to buffers. Each thread has its own, because times are remembered.
pub(crate) struct RowFormat {
    format: Format,
    fields: Vec<Field>,
    bucket: String,
    style: RowStyle,
    time: LocalTime,
    /// Whether a list of keys that begins with a key of a bucket would be taken for another thing.
    is_ambiguous: fn(&str, &str) -> bool,
}

impl RowFormat {
    /// For the rows of one bucket.
    pub(crate) fn new(format: Format, fields: &[Field], bucket: &str, style: RowStyle) -> Self {
        let time = if format == Format::Text { LocalTime::system() } else { LocalTime::utc() };
        let (fields, bucket) = (fields.to_vec(), bucket.to_owned());
        Self { format, fields, bucket, style, time, is_ambiguous: |_, _| false }
    }

    /// The same, which prints the address of each key for which `is_ambiguous` returns true.
    pub(crate) fn with_addresses_of(self, is_ambiguous: fn(&str, &str) -> bool) -> Self {
        Self { is_ambiguous, ..self }
    }

    /// Appends what comes before the first row, where the format has such a thing.
    pub(crate) fn push_header(&self, buffer: &mut Vec<u8>) {
        match self.format {
            Format::Csv => Cells::Comma.push_header(buffer, &self.fields),
            Format::Tsv => Cells::Tab.push_header(buffer, &self.fields),
            _ => {}
        }
    }

    /// Appends a row that shows this name instead of the whole key, where it is a line of text.
    pub(crate) fn push_named(&mut self, buffer: &mut Vec<u8>, entry: &Entry<'_>, name: &str) {
        if self.format == Format::Text {
            text::push_text_line(buffer, entry, name, &mut self.time, self.style);
        } else {
            self.push(buffer, entry);
        }
    }

    /// Appends the rows of a page, if they can be made all at once; `true` if they were.
    pub(crate) fn push_page(&mut self, buffer: &mut Vec<u8>, page: &ListPage) -> bool {
        let is_plain = self.format == Format::Text && self.style == RowStyle::default();
        if is_plain {
            text::push_lines(buffer, page, &mut self.time);
        }
        is_plain
    }

    /// Appends a row. Parquet has no rows; see [`super::ParquetTable`].
    pub(crate) fn push(&mut self, buffer: &mut Vec<u8>, entry: &Entry<'_>) {
        let time = &mut self.time;
        let cells = match self.format {
            Format::Text => {
                return text::push_text_line(buffer, entry, entry.object.key, time, self.style);
            }
            Format::Addresses => {
                return text::push_address(buffer, entry, &self.bucket, self.style.escape);
            }
            Format::Jsonl => {
                return json::push_row(buffer, &self.fields, entry, &self.bucket, time);
            }
            Format::Events => return json::push_event(buffer, entry, time),
            Format::Csv => Cells::Comma,
            Format::Keys => {
                let (key, bucket) = (entry.object.key, self.bucket.as_str());
                let is_ambiguous = (self.is_ambiguous)(key, bucket);
                return text::push_key(buffer, key, bucket, is_ambiguous, self.style.escape);
            }
            Format::Tsv => Cells::Tab,
            Format::Parquet => return,
        };
        let row = Row { fields: &self.fields, entry, bucket: &self.bucket };
        cells.push_row(buffer, &row, time, self.style.escape);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use s3haul_wire::ops::ListedObject;

    fn shown(format: Format, fields: &[Field]) -> String {
        let mut rows = RowFormat::new(format, fields, "b", RowStyle::default());
        let mut buffer = Vec::new();
        rows.push_header(&mut buffer);
        let object = ListedObject {
            key: "a\n,b",
            size: 7,
            last_modified_s: 86_400,
            etag: "\"e\"",
            storage_class: "",
            ..ListedObject::default()
        };
        rows.push(&mut buffer, &object.into());
        String::from_utf8(buffer).unwrap()
    }

    #[test]
    fn a_row_in_every_format() {
        let all = Field::OF_OBJECTS;
        assert_eq!(
            shown(Format::Csv, &all),
            "key,size,last_modified,etag,storage_class\r\n\"a\n,b\",7,1970-01-02T00:00:00Z,e,\r\n"
        );
        assert_eq!(shown(Format::Tsv, &[Field::Size, Field::Key]), "size\tkey\n7\ta\\n,b\n");
        assert_eq!(shown(Format::Keys, &all), "\"s3://b/a\\n,b\"\n");
        assert_eq!(
            shown(Format::Jsonl, &[Field::Bucket, Field::StorageClass, Field::Key]),
            "{\"bucket\":\"b\",\"storage_class\":null,\"key\":\"a\\n,b\"}\n"
        );
        assert_eq!(
            shown(Format::Events, &all),
            "{\"v\":1,\"event\":\"listed\",\"key\":\"a\\n,b\",\"size\":7,\
             \"last_modified\":\"1970-01-02T00:00:00Z\",\"etag\":\"\\\"e\\\"\"}\n"
        );
        assert!(shown(Format::Text, &all).ends_with("          7 a\n,b\n"));
    }
}
