//! What `summarize` prints: tables and bars for people, JSON and CSV for programs.

mod bars;
mod json;
mod table;
mod tabular;
#[cfg(test)]
mod tests;
mod text;

use s3haul::summary::{Figures, UploadFigures};
use s3haul_wire::units::LocalTime;

use crate::args::SummaryFormat;

/// What is to be shown.
pub(crate) struct Report<'a> {
    /// Bucket.
    pub(crate) bucket: &'a str,
    /// What all keys start with.
    pub(crate) prefix: &'a str,
    /// Whether objects under the prefix were left out, by a pattern or a range.
    pub(crate) is_selection: bool,
    /// The time that ages are relative to, in seconds since 1970.
    pub(crate) at_s: i64,
    /// Levels of folders.
    pub(crate) depth: usize,
    /// Rows of rankings.
    pub(crate) top: usize,
    /// Figures of objects.
    pub(crate) figures: &'a Figures,
    /// Figures of uploads, where they were asked for.
    pub(crate) uploads: Option<&'a UploadFigures>,
}

/// How text is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Style {
    /// Characters beyond ASCII may be used for bars and signs.
    pub(crate) unicode: bool,
}

/// The whole report as bytes.
pub(crate) fn render(report: &Report<'_>, format: SummaryFormat, style: Style) -> Vec<u8> {
    match format {
        SummaryFormat::Text => text::render(report, style, LocalTime::system()),
        SummaryFormat::Json => json::render(report),
        SummaryFormat::Csv => tabular::render(report),
    }
}
