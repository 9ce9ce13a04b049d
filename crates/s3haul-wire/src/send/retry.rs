//! The retry policy: what failed, whether to try again, and after how long. Pure.
//!
//! Backoff has full jitter
//! (<https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/>).
//! A server that names a time is obeyed within [`BACKOFF_MAX`]. A host that this client never
//! reached (connection refused, name not found, no handshake) is given up after
//! [`UNREACHED_ATTEMPTS_MAX`] attempts within a few seconds: most likely its name is wrong or it
//! was not started, and the caller should get the error soon (the AWS tools make 3 attempts, too).
//! One that was reached before may be restarting and gets all attempts, until it was gone for half
//! a minute. There is no retry quota: a bulk job with a few percent of throttles must slow down,
//! not fail.

use std::time::Duration;

use crate::config::RetryConfig;
use crate::error::ErrorKind;

/// First backoff after a transient failure.
const BACKOFF_BASE: Duration = Duration::from_millis(50);
/// First backoff after a throttle.
const THROTTLE_BASE: Duration = Duration::from_millis(400);
/// First backoff where the host was never reached.
const UNREACHED_BASE: Duration = Duration::from_secs(1);
/// Attempts at most where the host was never reached.
const UNREACHED_ATTEMPTS_MAX: u32 = 3;
/// Attempts that are made however long they take.
const TIMED_ATTEMPTS_MIN: u32 = 3;
/// Longest backoff, also where the server asks for more.
pub(crate) const BACKOFF_MAX: Duration = Duration::from_secs(20);

/// What a failure asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The server asks to slow down.
    Throttle,
    /// It may well go better next time.
    Transient,
    /// No connection to the host came about, now or ever before.
    Unreached,
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
const TRANSIENT_CODES: [&str; 9] = [
    "InternalError",
    "RequestTimeout",
    "RequestTimeoutException",
    "PriorRequestNotComplete",
    "OperationAborted",
    "ConditionalRequestConflict",
    "IncompleteBody",
    "BadDigest",
    "XAmzContentSHA256Mismatch",
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

/// Whether a failure that is final says that no other request would reach the endpoint.
pub(crate) fn is_endpoint_down(verdict: Verdict, kind: ErrorKind) -> bool {
    let is_of_way = matches!(kind, ErrorKind::Transport | ErrorKind::Timeout);
    is_of_way && matches!(verdict, Verdict::Unreached | Verdict::Permanent)
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
        "AccessDenied"
        | "InvalidAccessKeyId"
        | "SignatureDoesNotMatch"
        | "AllAccessDisabled"
        | "AccountProblem"
        | "InvalidToken" => return ErrorKind::AccessDenied,
        _ => {}
    }
    match classify_service(status, code) {
        Verdict::Throttle => return ErrorKind::Throttled,
        Verdict::Transient => return ErrorKind::Server,
        Verdict::Unreached | Verdict::Permanent => {}
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
    let base = match verdict {
        Verdict::Throttle => THROTTLE_BASE,
        Verdict::Unreached => UNREACHED_BASE,
        Verdict::Transient | Verdict::Permanent => BACKOFF_BASE,
    };
    base.saturating_mul(1 << attempt.saturating_sub(1).min(16)).min(BACKOFF_MAX)
}

/// How long to wait after failed attempt number `attempt` (from 1), or `None` to give up.
/// `fraction` is random in [0, 1); `asked` is what the server asked for. The time limit counts from
/// attempt [`TIMED_ATTEMPTS_MIN`], as one attempt may rightly take longer, or from the first where
/// the server was `silent` to an operation that may take half an hour.
pub(crate) fn next_delay(
    config: &RetryConfig,
    verdict: Verdict,
    attempt: u32,
    elapsed: Duration,
    asked: Option<Duration>,
    silent: bool,
    fraction: f64,
) -> Option<Duration> {
    let attempts_max = match verdict {
        // Also before the first attempt: what failed may have kept it from being made.
        Verdict::Permanent => return None,
        Verdict::Unreached => config.max_attempts.clamp(1, UNREACHED_ATTEMPTS_MAX),
        Verdict::Throttle | Verdict::Transient => config.max_attempts.max(1),
    };
    if attempt >= attempts_max {
        return None;
    }
    let jittered = ceiling(verdict, attempt).mul_f64(fraction);
    let delay = match asked {
        // Spreads requests that were given the same time a little.
        Some(asked) => asked.min(BACKOFF_MAX) + BACKOFF_BASE.mul_f64(fraction),
        None => jittered,
    };
    let is_timed = silent || attempt >= TIMED_ATTEMPTS_MIN;
    (!is_timed || elapsed + delay < config.max_elapsed).then_some(delay)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn answers_are_classified() {
        let table = [
            (503, "SlowDown", Verdict::Throttle, ErrorKind::Throttled),
            (429, "429", Verdict::Throttle, ErrorKind::Throttled),
            (400, "RequestLimitExceeded", Verdict::Throttle, ErrorKind::Throttled),
            (200, "SlowDown", Verdict::Throttle, ErrorKind::Throttled),
            (200, "InternalError", Verdict::Transient, ErrorKind::Server),
            (500, "500", Verdict::Transient, ErrorKind::Server),
            (502, "502", Verdict::Transient, ErrorKind::Server),
            (400, "RequestTimeout", Verdict::Transient, ErrorKind::Server),
            (501, "NotImplemented", Verdict::Permanent, ErrorKind::Server),
            (403, "AccessDenied", Verdict::Permanent, ErrorKind::AccessDenied),
            (404, "NoSuchKey", Verdict::Permanent, ErrorKind::NotFound),
            (404, "404", Verdict::Permanent, ErrorKind::NotFound),
            (405, "MethodNotAllowed", Verdict::Permanent, ErrorKind::Request),
            (412, "PreconditionFailed", Verdict::Permanent, ErrorKind::PreconditionFailed),
            (301, "PermanentRedirect", Verdict::Permanent, ErrorKind::WrongRegion),
            (400, "InvalidArgument", Verdict::Permanent, ErrorKind::Request),
            (400, "ExpiredToken", Verdict::Permanent, ErrorKind::Credentials),
        ];
        for (status, code, verdict, kind) in table {
            assert_eq!(classify_service(status, code), verdict, "{status} {code}");
            assert_eq!(service_kind(status, code), kind, "{status} {code}");
        }
    }

    #[test]
    fn permanent_failures_and_spent_budgets_end_it() {
        let config = RetryConfig { max_attempts: 5, max_elapsed: Duration::from_secs(10) };
        let next_of = |silent, verdict, attempt, elapsed_s, asked_s: Option<u64>| {
            let (elapsed, asked) =
                (Duration::from_secs(elapsed_s), asked_s.map(Duration::from_secs));
            next_delay(&config, verdict, attempt, elapsed, asked, silent, 0.5)
        };
        let next = |verdict, attempt, elapsed_s, asked_s| {
            next_of(false, verdict, attempt, elapsed_s, asked_s)
        };
        assert_eq!(next(Verdict::Permanent, 0, 0, None), None);
        assert_eq!(next(Verdict::Permanent, 1, 0, None), None);
        assert_eq!(next(Verdict::Transient, 1, 0, None), Some(Duration::from_millis(25)));
        assert_eq!(next(Verdict::Throttle, 2, 0, None), Some(Duration::from_millis(400)));
        assert_eq!(next(Verdict::Transient, 5, 0, None), None);
        // Even before anything was sent, as when there are no credentials.
        assert_eq!(next(Verdict::Permanent, 0, 0, None), None);
        assert_eq!(next(Verdict::Transient, 3, 10, None), None);
        assert_eq!(next(Verdict::Transient, 3, 5, Some(9)), None);
        assert!(next(Verdict::Transient, 3, 5, Some(2)).unwrap() >= Duration::from_secs(2));
        // One attempt that took longer, as of a large part over a slow line, is not the last.
        assert!(next(Verdict::Transient, 2, 600, None).is_some());
        assert_eq!(next_of(true, Verdict::Transient, 1, 10, None), None);
    }

    proptest! {
        #[test]
        fn delays_are_bounded(
            attempt in 1_u32..1_000,
            fraction in 0.0..1.0,
            asked in 0_u64..1_000_000,
        ) {
            let config = RetryConfig { max_attempts: u32::MAX, max_elapsed: Duration::MAX };
            let most = BACKOFF_MAX + BACKOFF_BASE;
            for asked in [None, Some(Duration::from_secs(asked))] {
                let (verdict, begin) = (Verdict::Throttle, Duration::ZERO);
                let delay = next_delay(&config, verdict, attempt, begin, asked, false, fraction);
                prop_assert!(delay.unwrap() <= most);
            }
        }
    }
}
