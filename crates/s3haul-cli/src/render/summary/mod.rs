//! What `summarize` prints: tables and bars for people, JSON and CSV for programs.

mod bars;
mod json;
pub(crate) mod report;
mod table;
mod tabular;
#[cfg(test)]
mod tests;
mod text;

use crate::render::summary::report::Report;
use crate::render::summary::report::Style;
use s3haul_wire::units::LocalTime;

use crate::args::SummaryFormat;

/// The whole report as bytes.
pub(crate) fn render(report: &Report<'_>, format: SummaryFormat, style: Style) -> Vec<u8> {
    match format {
        SummaryFormat::Text => text::render(report, style, LocalTime::system()),
        SummaryFormat::Json => json::render(report),
        SummaryFormat::Csv => tabular::render(report),
    }
}
