//! What `summarize` prints: tables and bars for people, JSON and CSV for programs.

mod bars;
mod json;
pub(crate) mod report;
mod table;
mod tabular;
#[cfg(test)]
mod tests;
mod text;

use s3haul::job::value::SummaryFormat;
use s3haul_wire::units::LocalTime;

use self::report::{Report, Style};

/// The whole report as bytes.
pub(crate) fn render(report: &Report<'_>, format: SummaryFormat, style: Style) -> Vec<u8> {
    match format {
        SummaryFormat::Text => text::render(report, style, LocalTime::system()),
        SummaryFormat::Json => json::render(report),
        SummaryFormat::Csv => tabular::render(report),
    }
}
