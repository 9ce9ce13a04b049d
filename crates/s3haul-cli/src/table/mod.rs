//! Tables as Apache Parquet: listings, manifests, plans and reports.

mod reader;
mod writer;

use ::parquet::errors::ParquetError;

pub(crate) use reader::TableReader;
pub(crate) use writer::{ColumnKind, ColumnSpec, TableFile, TableWriter, unfinished_file};

/// Why a table could not be written or read.
pub(crate) type TableError = ParquetError;

/// What a cell holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cell<'a> {
    /// No value.
    Nothing,
    /// Text.
    Text(&'a str),
    /// A number; of times seconds since 1970.
    Number(i64),
    /// Yes or no.
    Flag(bool),
}
