//! `--from`: objects that a file names, in the formats in which lists of objects are kept.
//!
//! A file is read as a stream, so that there may be any number of objects. What its rows say is
//! made entries of here; what may be acted upon is decided by the library.

mod detect;
mod fetch;
mod file;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod fuzzing;
mod inventory;
mod parquet;
mod row;
mod text;
mod url;

pub(crate) use detect::is_ambiguous;
pub(crate) use file::ManifestFile;

#[cfg(test)]
mod tables_tests;
