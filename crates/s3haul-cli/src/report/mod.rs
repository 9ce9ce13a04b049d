//! `--report` and `--retry-failed`: what became of every object, as a file that programs read and
//! that a later run takes its names from.
//!
//! The format is in `docs/reports.md`. Rows have the same fields as JSON lines, CSV and Parquet.

#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod fuzzing;
mod parts;
mod reader;
mod records;
mod row;
mod sink;
mod writer;

pub(crate) use reader::{FailedNames, action_of, location};
pub(crate) use records::Records;
pub(crate) use row::{Format, Sides, is_parquet, text};
pub(crate) use sink::Recorded;
pub(crate) use writer::{ReportWriter, open_alone};
