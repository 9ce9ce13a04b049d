//! Failures summed up: how many there were of each cause, and the first of them. Pure; what is
//! kept is bounded, whatever fails.

use std::collections::BTreeMap;
use std::io;

use s3haul_wire::{Error, ErrorKind};
use serde::Serialize;

use super::escape::push_name;

/// Failures that are named.
pub(crate) const NAMED_MAX: usize = 10;
/// Causes that are counted each by itself; what else there is counts as one more.
const CAUSES_MAX: usize = 15;
/// Longest error code of a server that is shown as a cause.
const CODE_LENGTH_MAX: usize = 40;
/// Cause where a plan is no longer right.
pub(crate) const CHANGED: &str = "changed since it was planned";
/// Cause that stays with the same command.
pub(crate) const IMPOSSIBLE: &str = "not possible as asked for";
/// Stands for causes that are not known, or are too many.
const OTHER: &str = "other causes";

/// What failed, by cause, and the first failures.
#[derive(Debug, Default)]
pub(crate) struct Failures {
    causes: BTreeMap<String, u64>,
    named: Vec<Named>,
    /// Why the whole ended early.
    fatal: Option<String>,
}

#[derive(Debug)]
struct Named {
    subject: String,
    message: String,
}

/// How many objects failed for a cause.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct CauseCount {
    pub(crate) cause: String,
    pub(crate) count: u64,
}

impl Failures {
    /// Counts a failure.
    pub(crate) fn add(&mut self, cause: String, subject: &str, message: &str) {
        let is_known = self.causes.len() < CAUSES_MAX || self.causes.contains_key(&cause);
        let cause = if is_known { cause } else { OTHER.to_owned() };
        *self.causes.entry(cause).or_default() += 1;
        if self.named.len() < NAMED_MAX {
            let (subject, message) = (subject.to_owned(), message.to_owned());
            self.named.push(Named { subject, message });
        }
    }

    /// Failures of which no more than subjects and messages were kept.
    pub(crate) fn of_texts<'a>(texts: impl Iterator<Item = (&'a str, &'a str)>) -> Self {
        let mut failures = Self::default();
        for (subject, message) in texts {
            let cause = of_text(message).unwrap_or_else(|| OTHER.to_owned());
            failures.add(cause, subject, message);
        }
        failures
    }

    /// The causes, the most frequent first.
    pub(crate) fn causes(&self) -> Vec<CauseCount> {
        let count =
            |(cause, count): (&String, &u64)| CauseCount { cause: cause.clone(), count: *count };
        let mut causes: Vec<_> = self.causes.iter().map(count).collect();
        causes.sort_by_key(|cause| std::cmp::Reverse(cause.count));
        causes
    }

    /// Whether all that failed did so for one cause.
    pub(crate) fn is_all(&self, cause: &str) -> bool {
        self.causes.len() == 1 && self.causes.contains_key(cause)
    }

    /// The causes in a line: `11 access denied (403), 1 disk full`.
    pub(crate) fn line(&self) -> String {
        let causes = self.causes().into_iter();
        causes
            .map(|CauseCount { cause, count }| format!("{count} {cause}"))
            .collect::<Vec<_>>()
            .join(", ")
    }

    /// Notes an error that is of no object and ends the whole, if it is the first.
    pub(crate) fn end_by(&mut self, message: String) {
        self.fatal.get_or_insert(message);
    }

    /// The first of `failed` failures, and how many there are beside it, or else what ended the
    /// whole; none where there is none.
    pub(crate) fn first(&self, failed: u64) -> Option<String> {
        let Some(Named { subject, message }) = self.named.first() else {
            return self.fatal.clone();
        };
        Some(match failed {
            0 | 1 => format!("{subject}: {message}"),
            2 => format!("{subject}: {message}, and 1 more failure"),
            _ => format!("{subject}: {message}, and {} more failures", failed - 1),
        })
    }

    /// Appends how many of `failed` objects failed for which cause, and a line for each of the
    /// first. Names are shown as on a terminal everywhere: a line is one failure.
    pub(crate) fn push(&self, buffer: &mut Vec<u8>, failed: u64) {
        let noun = if failed == 1 { "object" } else { "objects" };
        buffer.extend_from_slice(format!("note: {failed} {noun} failed: ").as_bytes());
        push_name(buffer, &self.line(), true);
        buffer.push(b'\n');
        for Named { subject, message } in &self.named {
            buffer.extend_from_slice(b"  ");
            push_name(buffer, subject, true);
            buffer.extend_from_slice(b": ");
            push_name(buffer, message, true);
            buffer.push(b'\n');
        }
        let others = failed.saturating_sub(self.named.len() as u64);
        if others > 0 {
            buffer.extend_from_slice(format!("  and {others} more\n").as_bytes());
        }
    }
}

/// The cause of an error, in words that stay the same.
pub(crate) fn of_error(error: &Error) -> String {
    let code = error.code();
    if !code.is_empty() {
        return of_code(code);
    }
    of_text(&error.to_string()).unwrap_or_else(|| of_kind(error.kind()).to_owned())
}

/// The cause that a message names, if it does.
fn of_text(message: &str) -> Option<String> {
    if let Some(rest) = message.strip_prefix("An error occurred (") {
        return rest.split_once(')').map(|(code, _)| of_code(code));
    }
    let system = message.rsplit_once("(os error ").and_then(|(_, rest)| {
        let number = rest.split_once(')')?.0.parse().ok()?;
        of_system(number)
    });
    let lower = message.to_lowercase();
    let is_late = lower.contains("timeout on endpoint") || lower.contains("timed out");
    let is_changed = lower.contains(" has changed since this was planned")
        || lower.contains(", which a plan does not replace");
    let other = is_late.then_some("timed out").or(is_changed.then_some(CHANGED));
    system.or(other).map(str::to_owned)
}

/// The cause behind an error code of a server, or the status of an answer without one.
fn of_code(code: &str) -> String {
    let known = match code {
        "AccessDenied" | "Forbidden" | "AllAccessDisabled" | "403" => "access denied (403)",
        "InvalidAccessKeyId"
        | "SignatureDoesNotMatch"
        | "InvalidToken"
        | "ExpiredToken"
        | "ExpiredTokenException"
        | "TokenRefreshRequired"
        | "401" => "credentials not accepted",
        "NoSuchKey" | "404" => "no such key",
        "NoSuchBucket" => "no such bucket",
        "NoSuchVersion" => "no such version",
        "NoSuchUpload" => "no such upload",
        "PreconditionFailed" | "ConditionalRequestConflict" | "412" => "condition not met (412)",
        "InvalidObjectState" => "archived",
        "SlowDown" | "TooManyRequests" | "RequestLimitExceeded" | "429" => "asked to slow down",
        "ServiceUnavailable" | "503" => "service unavailable (503)",
        "InternalError" | "500" => "server error (500)",
        "RequestTimeout" => "timed out",
        "RequestTimeTooSkewed" => "wrong clock",
        "KeyTooLongError" => "key too long",
        "EntityTooLarge" => "object too large",
        "BadDigest" | "InvalidDigest" | "XAmzContentSHA256Mismatch" => "checksum mismatch",
        "PermanentRedirect" | "AuthorizationHeaderMalformed" | "301" => "wrong region",
        "TemporaryRedirect" | "302" | "307" => "redirected",
        "NotImplemented" | "501" => "not supported by the server",
        other => return refused(other),
    };
    known.to_owned()
}

/// A cause of which only the code is known, which may be anything.
fn refused(code: &str) -> String {
    let is_plain = code.len() <= CODE_LENGTH_MAX
        && !code.is_empty()
        && code.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte));
    if is_plain { format!("refused ({code})") } else { "refused by the server".to_owned() }
}

/// The cause behind an error of the operating system.
fn of_system(number: i32) -> Option<&'static str> {
    use io::ErrorKind as Kind;
    Some(match io::Error::from_raw_os_error(number).kind() {
        Kind::StorageFull => "disk full",
        Kind::QuotaExceeded => "disk quota exceeded",
        Kind::FileTooLarge => "file too large",
        Kind::ReadOnlyFilesystem => "read-only file system",
        Kind::PermissionDenied => "no permission for the file",
        Kind::NotFound => "no such file",
        Kind::AlreadyExists | Kind::IsADirectory | Kind::NotADirectory => {
            "file or folder in the way"
        }
        Kind::InvalidFilename => "file name not possible",
        Kind::TimedOut => "timed out",
        Kind::ConnectionRefused => "connection refused",
        Kind::ConnectionReset | Kind::ConnectionAborted | Kind::BrokenPipe => "connection lost",
        Kind::HostUnreachable | Kind::NetworkUnreachable => "network unreachable",
        _ => return None,
    })
}

/// The cause of an error that says no more than its kind.
fn of_kind(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::NotFound => "not found",
        ErrorKind::AccessDenied => "access denied (403)",
        ErrorKind::PreconditionFailed => "condition not met (412)",
        ErrorKind::Throttled => "asked to slow down",
        ErrorKind::Server => "server error (500)",
        ErrorKind::NotS3 => "not an answer of S3",
        ErrorKind::Request => "refused by the server",
        ErrorKind::WrongRegion => "wrong region",
        ErrorKind::Transport => "connection failed",
        ErrorKind::Certificate => "certificate not accepted",
        ErrorKind::Timeout => "timed out",
        ErrorKind::Credentials => "no credentials",
        ErrorKind::Config => IMPOSSIBLE,
        ErrorKind::Integrity => "checksum mismatch",
        ErrorKind::SourceChanged => "source has changed",
        ErrorKind::Local => "file error",
        ErrorKind::RemovalRefused => "removals refused",
        ErrorKind::Cancelled => "interrupted",
        _ => OTHER,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use s3haul_wire::error::ServiceError;

    fn answered(kind: ErrorKind, code: &str) -> Error {
        let service = ServiceError { code: code.into(), ..ServiceError::default() };
        Error::service(kind, "PutObject", service)
    }

    fn local(number: i32) -> Error {
        Error::local("could not write", "f".as_ref(), io::Error::from_raw_os_error(number))
    }

    /// That it can be tried again was advised, for ever.
    #[test]
    fn a_link_that_a_plan_does_not_replace_makes_it_wrong() {
        let message = "the target is a symbolic link, which a plan does not replace";
        assert_eq!(of_text(message).as_deref(), Some(CHANGED));
    }

    #[test]
    fn causes_are_short_and_the_same_for_errors_and_their_texts() {
        for (error, cause) in [
            (answered(ErrorKind::AccessDenied, "AccessDenied"), "access denied (403)"),
            (answered(ErrorKind::AccessDenied, "403"), "access denied (403)"),
            (answered(ErrorKind::NotFound, "NoSuchKey"), "no such key"),
            (answered(ErrorKind::Request, "KeyTooLongError"), "key too long"),
            (answered(ErrorKind::Request, "Odd.Code-1"), "refused (Odd.Code-1)"),
            (answered(ErrorKind::Request, "\x1b[31m"), "refused by the server"),
            (answered(ErrorKind::Request, &"x".repeat(41)), "refused by the server"),
            (Error::new(ErrorKind::Timeout, "Read timeout on endpoint URL: \"x\""), "timed out"),
            (local(28), "disk full"),
            (local(13), "no permission for the file"),
            (local(20), "file or folder in the way"),
        ] {
            assert_eq!(of_error(&error), cause, "{error}");
            assert_eq!(of_text(&error.to_string()).as_deref(), Some(cause), "{error}");
        }
        let reset = Error::new(ErrorKind::Transport, "it went away");
        assert_eq!((of_error(&reset), of_text("it went away")), ("connection failed".into(), None));
    }

    #[test]
    fn a_line_is_one_failure() {
        let mut failures = Failures::default();
        for number in 0..12 {
            let cause = if number == 3 { "disk full" } else { "timed out" };
            failures.add(cause.to_owned(), &format!("s3://b/\n\x1b[2J{number}"), "no\r\nway");
        }
        let mut buffer = Vec::new();
        failures.push(&mut buffer, 14);
        let text = String::from_utf8(buffer).unwrap();
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines[0], "note: 14 objects failed: 11 timed out, 1 disk full");
        assert_eq!(lines[1], r"  s3://b/\n\u{1b}[2J0: no\r\nway");
        assert_eq!((lines.len(), lines[11]), (12, "  and 4 more"));
    }

    proptest! {
        #[test]
        fn what_is_kept_is_bounded(codes in proptest::collection::vec("[a-zA-Z]{1,3}", 0..200)) {
            let mut failures = Failures::default();
            for code in &codes {
                failures.add(of_code(code), code, "no");
            }
            let causes = failures.causes();
            prop_assert!(causes.len() <= CAUSES_MAX + 1 && failures.named.len() <= NAMED_MAX);
            let counted: u64 = causes.iter().map(|cause| cause.count).sum();
            prop_assert_eq!(counted, codes.len() as u64);
            prop_assert!(causes.is_sorted_by(|one, next| one.count >= next.count));
        }
    }
}
