//! Failures as Python exceptions, whose classes are in `s3haul._errors`.

use std::panic::AssertUnwindSafe;

use futures_util::FutureExt as _;
use pyo3::prelude::*;
use s3haul_cli::embed::{Cause, Failure};

/// The exception for a failure.
pub(crate) fn exception(py: Python<'_>, failure: &Failure) -> PyErr {
    let Failure { status, message, hint, cause } = failure;
    let of = || {
        let class = py.import("s3haul._errors")?.getattr("of_failure")?;
        let cause = cause.as_deref();
        let text = |text: fn(&Cause) -> &str| cause.map(text).filter(|text| !text.is_empty());
        class.call1((
            message,
            hint.as_deref(),
            *status,
            cause.map(|cause| cause.kind.name()),
            cause.and_then(|cause| cause.operation),
            cause.and_then(|cause| cause.subject.as_deref()),
            text(|cause| &cause.code),
            text(|cause| &cause.request_id),
            cause.and_then(|cause| cause.http_status),
        ))
    };
    of().map_or_else(|error| error, PyErr::from_value)
}

/// What work returns. A panic is a failure of it: something waits for that.
pub(crate) async fn caught<T, E: Into<Failure>>(
    work: impl Future<Output = Result<T, E>>,
) -> Result<T, Failure> {
    match AssertUnwindSafe(work).catch_unwind().await {
        Ok(result) => result.map_err(Into::into),
        Err(_) => Err(internal("it panicked")),
    }
}

/// A failure of this module itself.
pub(crate) fn internal(what: impl std::fmt::Display) -> Failure {
    Failure {
        status: s3haul_cli::exit::OTHER,
        message: format!("s3haul failed in an unexpected way: {what}"),
        hint: None,
        cause: None,
    }
}
