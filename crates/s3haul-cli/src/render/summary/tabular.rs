//! The summary as one table, for spreadsheets: each row names its section.

use s3haul::summary::{Counts, FolderFigures, RankedObject};
use s3haul_wire::units::LocalTime;

use crate::render::csv::push_row;
use crate::render::summary::report::Report;

/// Columns. The last two say by how much a row may be short.
const COLUMNS: [&str; 7] = [
    "section",
    "name",
    "objects",
    "bytes",
    "last_modified",
    "missing_objects_max",
    "missing_bytes_max",
];

pub(super) fn render(report: &Report<'_>) -> Vec<u8> {
    let mut rows = Rows { buffer: Vec::new(), time: LocalTime::utc() };
    push_row(&mut rows.buffer, &COLUMNS);
    let figures = report.figures;
    rows.counts("total", "", figures.total);
    if let Some(versions) = &figures.versions {
        rows.counts("versions", "current", versions.current);
        rows.counts("versions", "noncurrent", versions.noncurrent);
        rows.number("versions", "delete_markers", Some(versions.delete_markers), None);
    }
    rows.number("empty", "", Some(figures.empty_objects), Some(0));
    for class in &figures.storage_classes {
        rows.counts("storage_class", &class.name, class.counts);
    }
    let small = figures.below_billing_minimum;
    rows.counts("below_billing_minimum", "stored", small.counts);
    let billed = Some(small.billed_bytes);
    rows.number("below_billing_minimum", "billed", Some(small.counts.objects), billed);
    rows.folders("extension", &figures.extensions);
    rows.counts("extension_other", "", figures.other_extensions);
    for age in &figures.ages {
        rows.counts("age", age.name, age.counts);
    }
    rows.folders("folder", &figures.folders);
    rows.counts("folder_none", "", figures.outside_folders);
    rows.counts("folder_other", "", figures.other_folders);
    rows.sizes(report);
    rows.ranking("largest", &figures.largest);
    rows.ranking("newest", &figures.newest);
    rows.ranking("oldest", &figures.oldest);
    rows.keys(report);
    rows.uploads(report);
    rows.buffer
}

struct Rows {
    buffer: Vec<u8>,
    time: LocalTime,
}

impl Rows {
    fn counts(&mut self, section: &str, name: &str, counts: Counts) {
        self.number(section, name, Some(counts.objects), Some(counts.bytes));
    }

    fn number(&mut self, section: &str, name: &str, objects: Option<u64>, bytes: Option<u64>) {
        let [objects, bytes] = [objects, bytes].map(text);
        push_row(&mut self.buffer, &[section, name, &objects, &bytes, "", "", ""]);
    }

    fn folders(&mut self, section: &str, rows: &[FolderFigures]) {
        for row in rows {
            let numbers = [row.counts.objects, row.counts.bytes];
            let [objects, bytes] = numbers.map(|number| number.to_string());
            let missing = [row.missing_max.objects, row.missing_max.bytes];
            let [fewer, less] = missing.map(|number| text(Some(number).filter(|n| *n > 0)));
            let cells = [section, &row.name, &objects, &bytes, "", &fewer, &less];
            push_row(&mut self.buffer, &cells);
        }
    }

    fn timed(&mut self, section: &str, name: &str, counts: Counts, seconds: i64) {
        let [objects, bytes] = [counts.objects, counts.bytes].map(|number| number.to_string());
        let time = self.time.iso(seconds);
        push_row(&mut self.buffer, &[section, name, &objects, &bytes, &time, "", ""]);
    }

    fn ranking(&mut self, section: &str, rows: &[RankedObject]) {
        for row in rows {
            let counts = Counts { objects: 1, bytes: row.size };
            self.timed(section, &row.key, counts, row.last_modified_s);
        }
    }

    fn sizes(&mut self, report: &Report<'_>) {
        let sizes = &report.figures.sizes;
        for (name, bytes) in [("min", sizes.min), ("mean", sizes.mean), ("max", sizes.max)] {
            self.number("size", name, None, Some(bytes));
        }
        for percentile in &sizes.percentiles {
            self.number("size", percentile.name, None, Some(percentile.bytes));
        }
        for range in &sizes.histogram {
            self.counts("size_from", &range.from.to_string(), range.counts);
        }
    }

    fn keys(&mut self, report: &Report<'_>) {
        let keys = &report.figures.keys;
        let lengths =
            [("min", keys.length_min), ("mean", keys.length_mean), ("max", keys.length_max)];
        for (name, bytes) in lengths {
            self.number("key_length", name, None, Some(bytes));
        }
        for range in &keys.lengths {
            self.number("key_length_from", &range.from.to_string(), Some(range.objects), None);
        }
        for oddity in &keys.oddities {
            self.counts("odd_key", oddity.name, oddity.counts);
        }
    }

    fn uploads(&mut self, report: &Report<'_>) {
        let Some(uploads) = report.uploads else { return };
        self.number("uploads", "", Some(uploads.uploads), Some(uploads.bytes));
        for upload in &uploads.oldest {
            let counts = Counts { objects: 1, bytes: upload.bytes };
            self.timed("uploads_oldest", &upload.key, counts, upload.initiated_s);
        }
    }
}

fn text(number: Option<u64>) -> String {
    number.map_or(String::new(), |number| number.to_string())
}
