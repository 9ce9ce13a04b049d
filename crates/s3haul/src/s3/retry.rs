//! The retry policy: what failed, whether to try again, and after how long. Pure.
//!
//! Backoff has full jitter (<https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/>).
//! A server that names a time is obeyed within [`BACKOFF_MAX`]. There is no retry quota: a bulk job
//! with a few percent of throttles must slow down, not fail.

use std::time::Duration;

use super::config::RetryConfig;
use crate::error::ErrorKind;

/// First backoff after a transient failure.
const BACKOFF_BASE: Duration = Duration::from_millis(50);
/// First backoff after a throttle.
const THROTTLE_BASE: Duration = Duration::from_millis(400);
/// Longest backoff, also where the server asks for more.
pub(crate) const BACKOFF_MAX: Duration = Duration::from_secs(20);

/// What a failure asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The server asks to slow down.
    Throttle,
    /// It may well go better next time.
    Transient,
    /// Trying again gives the same.
    Permanent,
}

/// Codes that ask to slow down, whatever the status.
const THROTTLE_CODES: [&str; 10] = [
    "SlowDown",
    "Throttling",
    "ThrottlingException",
    "ThrottledException",
    "RequestThrottled",
    "RequestThrottledException",
    "TooManyRequestsException",
    "RequestLimitExceeded",
    "BandwidthLimitExceeded",
    "ServiceUnavailable",
];

/// Codes of failures that pass, whatever the status.
const TRANSIENT_CODES: [&str; 7] = [
    "InternalError",
    "RequestTimeout",
    "RequestTimeoutException",
    "PriorRequestNotComplete",
    "OperationAborted",
    "IncompleteBody",
    "BadDigest",
];

/// Classifies a server's error answer.
pub(crate) fn classify_service(status: u16, code: &str) -> Verdict {
    if THROTTLE_CODES.contains(&code) || status == 429 || status == 503 {
        return Verdict::Throttle;
    }
    if TRANSIENT_CODES.contains(&code) || matches!(status, 408 | 500 | 502 | 504 | 509) {
        return Verdict::Transient;
    }
    Verdict::Permanent
}

/// Classifies a failure without an answer.
pub(crate) fn classify_kind(kind: ErrorKind) -> Verdict {
    match kind {
        ErrorKind::Transport | ErrorKind::Timeout | ErrorKind::Integrity => Verdict::Transient,
        _ => Verdict::Permanent,
    }
}

/// Kind of a server's error answer.
pub(crate) fn service_kind(status: u16, code: &str) -> ErrorKind {
    match code {
        "NoSuchKey" | "NoSuchBucket" | "NoSuchVersion" | "NoSuchUpload" | "NotFound" => {
            return ErrorKind::NotFound;
        }
        "PreconditionFailed" => return ErrorKind::PreconditionFailed,
        "PermanentRedirect"
        | "TemporaryRedirect"
        | "AuthorizationHeaderMalformed"
        | "IllegalLocationConstraintException" => return ErrorKind::WrongRegion,
        "ExpiredToken" | "TokenRefreshRequired" => return ErrorKind::Credentials,
        _ => {}
    }
    match classify_service(status, code) {
        Verdict::Throttle => return ErrorKind::Throttled,
        Verdict::Transient => return ErrorKind::Server,
        Verdict::Permanent => {}
    }
    match status {
        401 | 403 => ErrorKind::AccessDenied,
        404 | 405 if code != "MethodNotAllowed" => ErrorKind::NotFound,
        304 | 412 => ErrorKind::PreconditionFailed,
        301 | 302 | 307 | 308 => ErrorKind::WrongRegion,
        500.. => ErrorKind::Server,
        _ => ErrorKind::Request,
    }
}

/// Longest the next wait may be, before jitter; `attempt` counts from 1.
fn ceiling(verdict: Verdict, attempt: u32) -> Duration {
    let base = if verdict == Verdict::Throttle { THROTTLE_BASE } else { BACKOFF_BASE };
    base.saturating_mul(1 << (attempt - 1).min(16)).min(BACKOFF_MAX)
}

/// How long to wait after failed attempt number `attempt` (from 1), or `None` to give up.
/// `fraction` is random in [0, 1); `asked` is what the server asked for.
pub(crate) fn next_delay(
    config: &RetryConfig,
    verdict: Verdict,
    attempt: u32,
    elapsed: Duration,
    asked: Option<Duration>,
    fraction: f64,
) -> Option<Duration> {
    if verdict == Verdict::Permanent || attempt >= config.max_attempts.max(1) {
        return None;
    }
    let jittered = ceiling(verdict, attempt).mul_f64(fraction);
    let delay = match asked {
        // Spread those who were told the same time a little.
        Some(asked) => asked.min(BACKOFF_MAX) + BACKOFF_BASE.mul_f64(fraction),
        None => jittered,
    };
    (elapsed + delay < config.max_elapsed).then_some(delay)
}
