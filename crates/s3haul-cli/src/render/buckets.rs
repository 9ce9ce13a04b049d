//! Rows of `list-buckets`.

use s3haul::job::value::RowFormat;
use s3haul_wire::Error;
use s3haul_wire::units::{LocalTime, format_size};
use serde::Serialize;

use super::csv;
use super::escape::push_name;
use super::json::{self, ErrorFields};
use crate::printer::Printer;

/// Regions have up to 14 letters as of today; longer ones push the rest to the right.
const REGION_COLUMNS: usize = 14;
const OBJECTS_COLUMNS: usize = 14;
const SIZE_COLUMNS: usize = 10;

/// Objects and bytes of a bucket.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct BucketCounts {
    /// Objects.
    pub(crate) objects: u64,
    /// Bytes.
    pub(crate) bytes: u64,
}

/// What is known of a bucket.
#[derive(Clone, Debug)]
pub(crate) struct BucketRow {
    /// Name.
    pub(crate) name: String,
    /// Creation in seconds since 1970.
    pub(crate) created_s: i64,
    /// Region.
    pub(crate) region: Option<String>,
    /// What is in it.
    pub(crate) counts: Option<BucketCounts>,
}

#[derive(Serialize)]
struct JsonRow<'a> {
    bucket: &'a str,
    created: String,
    region: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    objects: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<ErrorFields<'a>>,
}

/// Prints rows as they come.
pub(crate) struct BucketRows<'a> {
    format: RowFormat,
    has_counts: bool,
    printer: &'a Printer,
    time: LocalTime,
    buckets: u64,
    total: BucketCounts,
}

impl<'a> BucketRows<'a> {
    /// Prints the header, where the format has one.
    pub(crate) fn new(format: RowFormat, has_counts: bool, printer: &'a Printer) -> Self {
        let is_text = format == RowFormat::Text;
        let time = if is_text { LocalTime::system() } else { LocalTime::utc() };
        if format == RowFormat::Csv {
            let counts: &[&str] = if has_counts { &["objects", "bytes"] } else { &[] };
            let header = [&["bucket", "region", "created"], counts].concat();
            printer.output(|buffer| csv::push_row(buffer, &header));
        }
        Self { format, has_counts, printer, time, buckets: 0, total: BucketCounts::default() }
    }

    /// Prints a row.
    pub(crate) fn push(&mut self, row: &BucketRow, error: Option<&Error>) {
        let counts = row.counts.unwrap_or_default();
        self.buckets += 1;
        self.total.objects += counts.objects;
        self.total.bytes = self.total.bytes.saturating_add(counts.bytes);
        let printer = self.printer;
        printer.output(|buffer| match self.format {
            RowFormat::Text => self.text(buffer, row),
            RowFormat::Jsonl => json::push(buffer, "bucket", self.json(row, error)),
            RowFormat::Csv => self.csv(buffer, row),
        });
        printer.flush();
    }

    /// Prints totals below the columns, if every bucket could be counted.
    pub(crate) fn finish(&self, is_complete: bool) {
        if self.format != RowFormat::Text || !self.has_counts || !is_complete {
            return;
        }
        let (buckets, total) = (self.buckets, self.total);
        let noun = if buckets == 1 { "bucket" } else { "buckets" };
        let first = "YYYY-MM-DD HH:MM:SS".len();
        let what = format!("{buckets} {noun}");
        let (objects, size) = (total.objects, format_size(total.bytes));
        let line = format!(
            "\n{what:<first$}  {:<REGION_COLUMNS$}  {objects:>OBJECTS_COLUMNS$}  \
             {size:>SIZE_COLUMNS$}",
            ""
        );
        self.printer.output(|buffer| {
            buffer.extend_from_slice(line.as_bytes());
            buffer.push(b'\n');
        });
    }

    fn text(&mut self, buffer: &mut Vec<u8>, row: &BucketRow) {
        self.time.push(buffer, row.created_s);
        let region = row.region.as_deref().unwrap_or("-");
        buffer.extend_from_slice(format!("  {region:<REGION_COLUMNS$}  ").as_bytes());
        if self.has_counts {
            let objects = row.counts.map_or("-".to_owned(), |counts| counts.objects.to_string());
            let size = row.counts.map_or("-".to_owned(), |counts| format_size(counts.bytes));
            let columns = format!("{objects:>OBJECTS_COLUMNS$}  {size:>SIZE_COLUMNS$}  ");
            buffer.extend_from_slice(columns.as_bytes());
        }
        push_name(buffer, &row.name, self.printer.output_is_terminal());
        buffer.push(b'\n');
    }

    fn json<'r>(&mut self, row: &'r BucketRow, error: Option<&'r Error>) -> JsonRow<'r> {
        JsonRow {
            bucket: &row.name,
            created: self.time.iso(row.created_s),
            region: row.region.as_deref(),
            objects: row.counts.map(|counts| counts.objects),
            bytes: row.counts.map(|counts| counts.bytes),
            error: error.map(ErrorFields::of),
        }
    }

    fn csv(&mut self, buffer: &mut Vec<u8>, row: &BucketRow) {
        let created = self.time.iso(row.created_s);
        let count = |count: fn(BucketCounts) -> u64| {
            row.counts.map_or(String::new(), |counts| count(counts).to_string())
        };
        let (objects, bytes) = (count(|counts| counts.objects), count(|counts| counts.bytes));
        let region = row.region.as_deref().unwrap_or_default();
        let cells = [row.name.as_str(), region, &created, &objects, &bytes];
        csv::push_row(buffer, if self.has_counts { &cells } else { &cells[..3] });
    }
}
