//! The extension module of the Python package `s3haul`.
//!
//! Thin: commands are given by their words to [`s3haul_cli::embed`], and what they find comes back
//! as numbers, bytes and Arrow columns. What people call is Python (`python/s3haul`). Whatever
//! waits or works does so without Python's lock.
#![expect(clippy::needless_pass_by_value, reason = "what Python calls gets values")]

mod detached;
mod failure;
mod log;
mod many;
mod rows;
mod running;
mod runtime;
mod server;
mod session;
mod table;
mod watcher;

use pyo3::pymodule;

/// The extension module.
#[pymodule]
mod _s3haul {
    use std::ffi::OsString;

    use pyo3::prelude::*;

    use super::detached::{detached, notice_end};
    #[pymodule_export]
    use super::many::{Getter, Putter};
    #[pymodule_export]
    use super::rows::{Batch, Rows};
    #[pymodule_export]
    use super::running::Running;
    #[pymodule_export]
    use super::server::Server;
    #[pymodule_export]
    use super::session::Session;

    /// Runs a command line, the program's name first, and returns its exit code.
    #[pyfunction]
    fn main(py: Python<'_>, words: Vec<OsString>) -> u8 {
        detached(py, || s3haul_cli::run(words))
    }

    /// What requests cost in USD at the prices of S3 Standard in us-east-1.
    #[pyfunction]
    fn price(write: u64, read: u64, delete: u64) -> f64 {
        let requests = s3haul_wire::units::RequestCounts { write, read, delete };
        s3haul::plan::price::PriceTable::default().cost(requests)
    }

    /// The `Content-Type` that the ending of a name stands for.
    #[pyfunction]
    fn content_type(name: &str) -> Option<&'static str> {
        s3haul::plan::content_type::guess_content_type(name)
    }

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        notice_end(module.py())?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
