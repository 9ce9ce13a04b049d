//! What a listing looks like: the lines of `aws s3 ls`, tables for programs, Parquet.
//!
//! Rows go from the columns of a page straight into a byte buffer; no `String` is made for an
//! object. In every table rows stay separate whatever characters a key has; only
//! the lines of `aws s3 ls`, whose form is not ours, are as ambiguous as they are there.

mod entry;
mod json;
mod parquet;
mod rows;
mod table;
mod text;

pub(crate) use entry::{Entry, Field, bare_etag};
pub(crate) use json::push_summary_event;
pub(crate) use parquet::ParquetTable;
pub(crate) use rows::{Format, RowFormat, RowStyle};
pub(crate) use text::{push_prefix_line, push_requests, push_summary, quoted_address};
