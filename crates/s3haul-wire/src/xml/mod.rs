//! Documents of S3: a small reader and writer, and pages of listings read into columns. Pure.
//!
//! The entries of a page are read by the layout that they have in common (`row_layout`); those that
//! have none, and all else, by the XML reader (`list_reader`). Both give the same page as the tree
//! of its elements (`document`).

pub(crate) mod document;
pub(crate) mod list_page;
pub(crate) mod list_reader;
pub(crate) mod row_layout;
