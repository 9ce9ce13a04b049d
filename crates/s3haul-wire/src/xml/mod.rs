//! Documents of S3: a small reader and writer, and pages of listings read into columns. Pure.
//!
//! A page is read by the layout that its entries have in common (`row_layout`), by a scanner where
//! they have none (`list_scan`), and by the strict reader (`document`) where that finds anything
//! unusual; all three give the same page.

pub(crate) mod document;
pub(crate) mod list_page;
pub(crate) mod list_scan;
pub(crate) mod row_layout;
