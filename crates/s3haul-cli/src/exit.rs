//! Exit codes. They follow `aws s3`, so that scripts can distinguish the same cases.

use s3haul::job::{CompareSummary, Summary};
use s3haul::{Error, ErrorKind};

/// Everything was done, or there was nothing to do.
pub const SUCCESS: u8 = 0;
/// At least one object failed or could not be looked at, the job ended early (also by Ctrl-C), `ls`
/// found nothing for a key, a comparison found a difference, or a bucket could not be made or
/// removed.
pub const FAILED: u8 = 1;
/// Nothing failed, but there were warnings (files skipped, for instance, or a comparison of
/// nothing).
pub const WARNED: u8 = 2;
/// Ctrl-C outside a transfer.
pub const INTERRUPTED: u8 = 130;
/// Standard output was closed before the end (128 + SIGPIPE, as `cat` has it).
pub const BROKEN_PIPE: u8 = 141;
/// The arguments make no sense.
pub const USAGE: u8 = 252;
/// Region or credentials are missing.
pub const CONFIGURATION: u8 = 253;
/// The service refused or failed a request of a command that is not a transfer.
pub const SERVICE: u8 = 254;
/// Anything else: a missing local path, an unreadable configuration, no connection.
pub const OTHER: u8 = 255;

/// Exit code of an error that ended a command (not of one object's failure).
pub(crate) fn of_error(error: &Error) -> u8 {
    if error.service_error().is_some() {
        return SERVICE;
    }
    match error.kind() {
        ErrorKind::Credentials => CONFIGURATION,
        ErrorKind::Cancelled => INTERRUPTED,
        _ => OTHER,
    }
}

/// Exit code of a transfer job.
pub(crate) fn of_summary(summary: &Summary) -> u8 {
    if summary.failed > 0 || summary.not_tried > 0 || summary.fatal || summary.cancelled {
        FAILED
    } else if summary.warnings > 0 {
        WARNED
    } else {
        SUCCESS
    }
}

/// Exit code of a comparison in which everything could be compared.
pub(crate) fn of_comparison(summary: &CompareSummary) -> u8 {
    if !summary.is_same() {
        FAILED
    } else if summary.warnings > 0 {
        WARNED
    } else {
        SUCCESS
    }
}

/// Exit code of a transfer, also where its reader has gone or its report could not be written.
pub(crate) fn of_transfer(summary: &Summary, broken_pipe: bool, is_recorded: bool) -> u8 {
    match of_summary(summary) {
        _ if broken_pipe => BROKEN_PIPE,
        SUCCESS | WARNED if !is_recorded => FAILED,
        status => status,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use s3haul_wire::error::ServiceError;

    #[test]
    fn failures_outrank_warnings() {
        let warned = Summary { warnings: 1, ..Summary::default() };
        assert_eq!(of_summary(&warned), WARNED);
        assert_eq!(of_summary(&Summary { failed: 1, ..warned }), FAILED);
        assert_eq!(of_summary(&Summary { fatal: true, ..warned }), FAILED);
        assert_eq!(of_summary(&Summary { cancelled: true, ..Summary::default() }), FAILED);
        let fine = Summary::default();
        assert_eq!([fine, warned].map(|run| of_transfer(&run, false, false)), [FAILED; 2]);
        assert_eq!([fine, warned].map(|run| of_transfer(&run, false, true)), [SUCCESS, WARNED]);
        assert_eq!(
            [true, false].map(|recorded| of_transfer(&fine, true, recorded)),
            [BROKEN_PIPE; 2]
        );
        assert_eq!(of_summary(&Summary { skipped: 9, ..Summary::default() }), SUCCESS);
    }

    #[test]
    fn errors_of_the_service_have_their_own_code() {
        let service = ServiceError { code: "NoSuchBucket".into(), ..ServiceError::default() };
        let error = Error::service(ErrorKind::NotFound, "ListObjectsV2", service);
        assert_eq!(of_error(&error), SERVICE);
        assert_eq!(of_error(&Error::new(ErrorKind::Credentials, "none")), CONFIGURATION);
        assert_eq!(of_error(&Error::new(ErrorKind::Config, "no")), OTHER);
        assert_eq!(of_error(&Error::new(ErrorKind::Local, "no")), OTHER);
    }
}
