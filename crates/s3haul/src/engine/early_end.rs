//! When a job ends before its end: once several objects in a row failed for a reason that every
//! other object shares. Pure.
//!
//! Without credentials the first failure says it all. Of other reasons [`FAILURES_MAX`] objects in
//! a row have to fail for the same one, with no success and no other answer between them. What may
//! concern one object alone, such as `AccessDenied`, never counts, and neither does a server that
//! may be restarting: the client retries it as long as it was reached before.

use s3haul_wire::error::{Error, ErrorKind};

/// Objects in a row that fail for the same reason before the job ends.
pub(crate) const FAILURES_MAX: u32 = 5;

/// Codes of answers that every object of the job would get.
const CODES: [&str; 14] = [
    "AccountProblem",
    "AllAccessDisabled",
    "ExpiredToken",
    "ExpiredTokenException",
    "InvalidAccessKeyId",
    "InvalidBucketName",
    "InvalidClientTokenId",
    "InvalidToken",
    "NoSuchBucket",
    "NotSignedUp",
    "RequestTimeTooSkewed",
    "TokenRefreshRequired",
    "UnrecognizedClientException",
    SIGNATURE,
];

/// May concern single keys, which a proxy on the way rewrites: it counts only while nothing
/// succeeded, be it a listing, and so does what a filter on the way says of some objects.
const SIGNATURE: &str = "SignatureDoesNotMatch";

/// A reason that does not depend on the object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    /// There are no credentials, or they could not be fetched.
    NoCredentials,
    /// The server's certificate is not trusted.
    Certificate,
    /// Something that is no S3 service answers.
    NotS3,
    /// The endpoint was never reached, or has been gone for long.
    Endpoint,
    /// A setting of the client makes no sense.
    Settings,
    /// The bucket is in another region, and the server did not say where.
    Region,
    /// The server's answer.
    Code(&'static str),
}

impl Cause {
    /// The reason of an error; `None` where the next object may do better.
    pub(crate) fn of(error: &Error) -> Option<Self> {
        if error.service_error().is_some() {
            let code = CODES.iter().find(|code| **code == error.code());
            return match code {
                Some(code) => Some(Self::Code(code)),
                None if error.kind() == ErrorKind::WrongRegion => Some(Self::Region),
                None => is_refused_without_document(error).then_some(Self::NotS3),
            };
        }
        match error.kind() {
            ErrorKind::Credentials => Some(Self::NoCredentials),
            ErrorKind::Certificate => Some(Self::Certificate),
            ErrorKind::NotS3 => Some(Self::NotS3),
            ErrorKind::Transport | ErrorKind::Timeout if error.is_endpoint_down() => {
                Some(Self::Endpoint)
            }
            // Of a request, not of what was to be written.
            ErrorKind::Config if error.operation().is_some() => Some(Self::Settings),
            _ => None,
        }
    }

    /// Objects that may fail for it in a row.
    fn failures_max(self) -> u32 {
        if self == Self::NoCredentials { 1 } else { FAILURES_MAX }
    }
}

/// Whether something refused a request with a status alone, which S3 does only for HEAD: its code
/// is then the status.
fn is_refused_without_document(error: &Error) -> bool {
    let is_head = error.operation().is_some_and(|operation| operation.starts_with("Head"));
    !is_head && error.code().starts_with('4') && error.code() != "404"
}

/// What the job has seen of the server before a failure.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Seen {
    /// An object succeeded.
    pub(crate) any_done: bool,
    /// Signed listings were answered on each side: a refused signature is that of one key.
    pub(crate) is_signature_known: bool,
}

/// The failures since the last success.
#[derive(Debug, Default)]
pub(crate) struct Streak {
    cause: Option<Cause>,
    length: u32,
}

impl Streak {
    /// An object succeeded.
    pub(crate) fn succeeded(&mut self) {
        *self = Self::default();
    }

    /// An object failed; returns whether the job ends.
    pub(crate) fn failed(&mut self, error: &Error, seen: Seen) -> bool {
        let Some(cause) = Cause::of(error) else {
            // What is wrong with a file says nothing about the server.
            let is_local = matches!(
                error.kind(),
                ErrorKind::Local | ErrorKind::SourceChanged | ErrorKind::RemovalRefused
            );
            if !is_local {
                self.succeeded();
            }
            return false;
        };
        let is_one_objects = match cause {
            Cause::Code(SIGNATURE) => seen.any_done || seen.is_signature_known,
            Cause::NotS3 => seen.any_done,
            _ => false,
        };
        if is_one_objects {
            return false;
        }
        if self.cause != Some(cause) {
            *self = Self { cause: Some(cause), length: 0 };
        }
        self.length += 1;
        self.length >= cause.failures_max()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use s3haul_wire::error::ServiceError;

    const DONE: Seen = Seen { any_done: true, is_signature_known: true };

    fn answered(kind: ErrorKind, code: &str) -> Error {
        let service = ServiceError { status: 400, code: code.into(), ..ServiceError::default() };
        Error::service(kind, "PutObject", service)
    }

    fn ends_after(errors: impl IntoIterator<Item = Error>, any_done: bool) -> Option<usize> {
        ends_after_seen(errors, Seen { any_done, ..Seen::default() })
    }

    fn ends_after_seen(errors: impl IntoIterator<Item = Error>, seen: Seen) -> Option<usize> {
        let mut streak = Streak::default();
        errors.into_iter().position(|error| streak.failed(&error, seen)).map(|at| at + 1)
    }

    fn again(make: impl Fn() -> Error) -> impl Iterator<Item = Error> {
        std::iter::repeat_with(make).take(100)
    }

    #[test]
    fn what_every_object_has_ends_it_after_a_few() {
        let few = Some(FAILURES_MAX as usize);
        for code in CODES {
            assert_eq!(ends_after(again(|| answered(ErrorKind::Request, code)), false), few);
        }
        let plain = |kind| move || Error::new(kind, "no");
        assert_eq!(ends_after(again(plain(ErrorKind::Credentials)), true), Some(1));
        assert_eq!(ends_after(again(plain(ErrorKind::Certificate)), true), few);
        assert_eq!(ends_after(again(plain(ErrorKind::NotS3)), false), few);
        assert_eq!(ends_after(again(|| answered(ErrorKind::Request, "405")), false), few);
        let down = || Error::new(ErrorKind::Transport, "refused").with_endpoint_down();
        assert_eq!(ends_after(again(down), true), few);
        let config = || Error::new(ErrorKind::Config, "no").with_operation("PutObject");
        assert_eq!(ends_after(again(config), true), few);
        let moved = || answered(ErrorKind::WrongRegion, "PermanentRedirect");
        assert_eq!(ends_after(again(moved), true), few);
    }

    #[test]
    fn what_one_object_may_have_does_not() {
        for kind in [ErrorKind::Transport, ErrorKind::Timeout, ErrorKind::Config, ErrorKind::Local]
        {
            assert_eq!(ends_after(again(|| Error::new(kind, "no")), false), None, "{kind:?}");
        }
        assert_eq!(ends_after(again(|| Error::new(ErrorKind::NotS3, "no")), true), None);
        for code in ["AccessDenied", "NoSuchKey", "404", "SlowDown", "InternalError"] {
            let same = again(|| answered(ErrorKind::AccessDenied, code));
            assert_eq!(ends_after(same, false), None, "{code}");
        }
        let signature = || answered(ErrorKind::AccessDenied, SIGNATURE);
        assert_eq!(ends_after(again(signature), true), None);
        // Different answers.
        let turns = (0..100).map(|at| answered(ErrorKind::Request, CODES[at % 2]));
        assert_eq!(ends_after(turns, false), None);
    }

    #[test]
    fn what_fails_on_this_machine_does_not_interrupt_a_streak() {
        for kind in [ErrorKind::Local, ErrorKind::SourceChanged, ErrorKind::RemovalRefused] {
            let missing = || answered(ErrorKind::NotFound, "NoSuchBucket");
            let errors = again(missing).flat_map(|error| [error, Error::new(kind, "no")]);
            let last = 2 * FAILURES_MAX as usize - 1;
            assert_eq!(ends_after(errors, true), Some(last), "{kind:?}");
        }
    }

    #[test]
    fn an_accepted_listing_counts_for_signatures_alone() {
        let seen = Seen { is_signature_known: true, any_done: false };
        let signature = || answered(ErrorKind::AccessDenied, SIGNATURE);
        assert_eq!(ends_after_seen(again(signature), seen), None);
        let few = Some(FAILURES_MAX as usize);
        let missing = || answered(ErrorKind::NotFound, "NoSuchBucket");
        assert_eq!(ends_after_seen(again(missing), seen), few);
        assert_eq!(ends_after_seen(again(|| Error::new(ErrorKind::NotS3, "no")), seen), few);
    }

    proptest! {
        #[test]
        fn it_ends_at_the_first_run_without_a_success(ends in prop::collection::vec(0..3, 0..60)) {
            let mut streak = Streak::default();
            let found = ends.iter().position(|end| match end {
                0 => { streak.succeeded(); false }
                1 => streak.failed(&Error::new(ErrorKind::Local, "unreadable"), DONE),
                _ => streak.failed(&answered(ErrorKind::NotFound, "NoSuchBucket"), DONE),
            });
            let mut run = 0;
            let expected = ends.iter().position(|end| {
                run = match end { 0 => 0, 1 => run, _ => run + 1 };
                run == FAILURES_MAX && *end == 2
            });
            prop_assert_eq!(found, expected);
        }
    }
}
