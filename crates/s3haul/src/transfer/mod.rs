//! The engine: upload, download, copy, delete.

pub mod parts;
