//! Refusals that several commands share.

use std::num::NonZeroU32;

use crate::failure::Failure;
use s3haul::location::ObjectName;
use s3haul::plan::s3_uri;

/// Requests in flight at most, in listings that say how many.
const CONCURRENCY_MAX: u32 = 10_000;

/// Bucket and key of `s3://bucket/key` or `bucket/key`; either may be empty.
pub(crate) fn address(path: &str) -> Result<ObjectName, Failure> {
    s3_uri::parse(path).map_err(|error| Failure::usage(error.to_string()))
}

/// The error for a local path where an address is due, and the other way round.
pub(crate) fn invalid_argument_type(command: &str, usage: &str) -> Failure {
    Failure::usage(format!("usage: s3haul {command} {usage}\nError: Invalid argument type"))
}

/// Refuses `s3://` without a bucket.
pub(crate) fn check_bucket(path: &str) -> Result<(), Failure> {
    let is_nameless =
        s3_uri::is_s3(path) && s3_uri::parse(path).is_ok_and(|object| object.bucket.is_empty());
    if is_nameless {
        return Err(Failure::usage(format!("Invalid bucket name \"\": `{path}` names no bucket")));
    }
    Ok(())
}

/// Requests in flight, as the flag of that name has them at most.
pub(crate) fn concurrency(asked: Option<NonZeroU32>) -> Result<Option<usize>, Failure> {
    match asked.map(NonZeroU32::get) {
        Some(requests) if requests > CONCURRENCY_MAX => Err(Failure::usage(format!(
            "{requests} requests at a time are too many: {CONCURRENCY_MAX} is the most"
        ))),
        requests => Ok(requests.map(|requests| requests as usize)),
    }
}

/// The error for `--json` where standard output is data.
pub(crate) fn refuse_json() -> Failure {
    Failure::usage("--json cannot be used where the objects themselves go to standard output")
}
