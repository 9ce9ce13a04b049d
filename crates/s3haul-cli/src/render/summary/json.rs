//! The summary as one JSON document on one line.

use s3haul::summary::{Figures, UploadFigures};
use s3haul_wire::units::LocalTime;
use serde::Serialize;

use crate::render::summary::report::Report;

#[derive(Serialize)]
struct Document<'a> {
    version: u32,
    bucket: &'a str,
    prefix: &'a str,
    is_selection: bool,
    at: String,
    #[serde(flatten)]
    figures: &'a Figures,
    #[serde(skip_serializing_if = "Option::is_none")]
    uploads: Option<&'a UploadFigures>,
}

pub(super) fn render(report: &Report<'_>) -> Vec<u8> {
    let document = Document {
        version: Figures::VERSION,
        bucket: report.bucket,
        prefix: report.prefix,
        is_selection: report.is_selection,
        at: LocalTime::utc().iso(report.at_s),
        figures: report.figures,
        uploads: report.uploads,
    };
    let mut buffer = Vec::new();
    // The types here have only string keys, and a vector takes everything.
    _ = serde_json::to_writer(&mut buffer, &document);
    buffer.push(b'\n');
    buffer
}
