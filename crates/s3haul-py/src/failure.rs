//! Failures as Python exceptions, whose classes are in `s3haul._errors`.

use pyo3::prelude::*;
use s3haul_cli::embed::{Cause, Failure};
use s3haul_wire::Error;

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

/// The exception for an error of one object.
pub(crate) fn of_error(py: Python<'_>, error: Error) -> PyErr {
    exception(py, &Failure::from(error))
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
