//! `serve`, for tests of other people.

use std::ffi::OsString;
use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;
use s3haul_cli::embed;

use crate::detached::detached;
use crate::failure::exception;
use crate::runtime::runtime;

/// A server on this machine. It ends when it is stopped or dropped.
#[pyclass(frozen, module = "s3haul._s3haul")]
pub(crate) struct Server {
    #[pyo3(get)]
    url: String,
    #[pyo3(get)]
    access_key: String,
    #[pyo3(get)]
    secret_key: String,
    #[pyo3(get)]
    region: String,
    server: Mutex<Option<embed::Server>>,
    process: u32,
}

#[pymethods]
impl Server {
    /// Starts a server with these flags of `serve`.
    #[new]
    fn new(py: Python<'_>, flags: Vec<OsString>) -> PyResult<Self> {
        let runtime = runtime()?;
        let server = detached(py, || runtime.block_on(embed::Server::start(&flags)));
        let server = server.map_err(|failure| exception(py, &failure))?;
        Ok(Self {
            url: server.url.clone(),
            access_key: server.access_key.clone(),
            secret_key: server.secret_key.clone(),
            region: server.region.clone(),
            server: Mutex::new(Some(server)),
            process: std::process::id(),
        })
    }

    /// Stops the server; more than once does nothing more. That of a parent is left alone.
    fn stop(&self, py: Python<'_>) -> PyResult<()> {
        if self.process != std::process::id() {
            return Ok(());
        }
        let server = self.server.lock().unwrap_or_else(PoisonError::into_inner).take();
        let runtime = runtime()?;
        if let Some(server) = server {
            detached(py, || runtime.block_on(server.stop()));
        }
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if self.process != std::process::id() {
            // Its threads are in the parent.
            let server = self.server.get_mut().unwrap_or_else(PoisonError::into_inner).take();
            std::mem::forget(server);
        }
    }
}
