//! What `summarize` prints: tables and bars for people, JSON and CSV for programs.

mod bars;
mod json;
pub(crate) mod report;
mod table;
mod tabular;
#[cfg(test)]
mod tests;
mod text;

use clap::ValueEnum;
use s3haul_wire::units::LocalTime;

use self::report::{Report, Style};

/// How a summary is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SummaryFormat {
    /// Tables and bars.
    Text,
    /// One JSON document.
    Json,
    /// One table with a column that names the section.
    Csv,
}

/// The whole report as bytes.
pub(crate) fn render(report: &Report<'_>, format: SummaryFormat, style: Style) -> Vec<u8> {
    match format {
        SummaryFormat::Text => text::render(report, style, LocalTime::system()),
        SummaryFormat::Json => json::render(report),
        SummaryFormat::Csv => tabular::render(report),
    }
}
