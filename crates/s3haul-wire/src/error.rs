//! The one error type of the library.
//!
//! An error names the operation, the object, whose fault it is, how often and for how long the
//! operation was tried, and the server's code and request id. It never holds credentials,
//! signatures or query strings.

use std::error::Error as StdError;
use std::fmt;
use std::time::Duration;

/// Result with the library's error.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong, coarse enough to decide on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The bucket, object, version or upload does not exist.
    NotFound,
    /// The server refused these credentials or this action.
    AccessDenied,
    /// A condition (`If-Match`, `If-None-Match`) did not hold.
    PreconditionFailed,
    /// The server asked to slow down (503 `SlowDown`, 429).
    Throttled,
    /// The server failed (5xx).
    Server,
    /// What answered is not S3, or does not answer as S3 does.
    NotS3,
    /// The server refused the request for another reason (4xx).
    Request,
    /// The bucket lives in another region than the request was sent to.
    WrongRegion,
    /// Connection, DNS or protocol failure.
    Transport,
    /// The TLS peer could not be verified.
    Certificate,
    /// Nothing arrived in time.
    Timeout,
    /// No credentials, or they could not be fetched.
    Credentials,
    /// Configuration or arguments make no sense.
    Config,
    /// Bytes do not match their checksum or length.
    Integrity,
    /// The source changed while it was read.
    SourceChanged,
    /// A local file or folder could not be read or written.
    Local,
    /// More would be removed than the caller allows.
    RemovalRefused,
    /// The caller cancelled.
    Cancelled,
}

impl ErrorKind {
    /// The word for it in JSON and for programs.
    pub fn name(self) -> &'static str {
        match self {
            Self::NotFound => "not_found",
            Self::AccessDenied => "access_denied",
            Self::PreconditionFailed => "precondition_failed",
            Self::Throttled => "throttled",
            Self::Server => "server",
            Self::NotS3 => "not_s3",
            Self::Request => "request",
            Self::WrongRegion => "wrong_region",
            Self::Transport => "transport",
            Self::Certificate => "certificate",
            Self::Timeout => "timeout",
            Self::Credentials => "credentials",
            Self::Config => "config",
            Self::Integrity => "integrity",
            Self::SourceChanged => "source_changed",
            Self::Local => "local",
            Self::RemovalRefused => "removal_refused",
            Self::Cancelled => "cancelled",
        }
    }
}

/// Whose fault an error is; decides the wording of hints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Flags, configuration, permissions: the caller can mend it.
    Caller,
    /// The S3 service.
    Service,
    /// The way to the service.
    Network,
    /// This machine: files, disk.
    Machine,
}

/// What the server said in its error answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServiceError {
    /// HTTP status.
    pub status: u16,
    /// S3 error code, such as `NoSuchKey`; the status (`404`) where the answer had no body.
    pub code: String,
    /// The server's message.
    pub message: String,
    /// `x-amz-request-id`.
    pub request_id: String,
    /// Actual region of the bucket, if the server named it.
    pub region: Option<String>,
    /// Endpoint that the server pointed to.
    pub endpoint: Option<String>,
}

/// How much was tried before giving up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effort {
    /// Requests sent, 0 when none was.
    pub attempts: u32,
    /// Requests among them that were sent and not answered, or whose answer was damaged so that it
    /// does not say what was done: each may have been carried out.
    pub unanswered: u32,
    /// Time from the first attempt to the end of the last.
    pub elapsed: Duration,
}

/// The library's error; cheap to move.
pub struct Error(Box<Inner>);

struct Inner {
    kind: ErrorKind,
    message: String,
    operation: Option<&'static str>,
    subject: Option<String>,
    service: Option<ServiceError>,
    effort: Effort,
    is_endpoint_down: bool,
    source: Option<Box<dyn StdError + Send + Sync>>,
}

impl Inner {
    /// Whether it was tried until the retries ran out. A failure that would come again whatever is
    /// tried says nothing of the retries that other failures caused before it.
    fn gave_up(&self) -> bool {
        let may_pass = matches!(
            self.kind,
            ErrorKind::Throttled
                | ErrorKind::Server
                | ErrorKind::Transport
                | ErrorKind::Timeout
                | ErrorKind::Integrity
        );
        may_pass && self.effort.attempts > 1
    }
}

impl Error {
    /// An error of a kind with a message (a lower-case fragment, no period).
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self(Box::new(Inner {
            kind,
            message: message.into(),
            operation: None,
            subject: None,
            service: None,
            effort: Effort::default(),
            is_endpoint_down: false,
            source: None,
        }))
    }

    /// An error that the server answered.
    pub fn service(kind: ErrorKind, operation: &'static str, service: ServiceError) -> Self {
        let mut error = Self::new(kind, String::new());
        error.0.operation = Some(operation);
        error.0.service = Some(service);
        error
    }

    /// A failure of a local file, with what was being done to which path.
    pub fn local(doing: &str, path: &std::path::Path, source: std::io::Error) -> Self {
        Self::new(ErrorKind::Local, format!("{doing} `{}`", path.display())).with_source(source)
    }

    /// Adds the S3 operation, such as `PutObject`.
    #[must_use]
    pub fn with_operation(mut self, operation: &'static str) -> Self {
        self.0.operation = Some(operation);
        self
    }

    /// Adds what the operation was done to, such as `s3://bucket/key`.
    #[must_use]
    pub fn with_subject(mut self, subject: impl fmt::Display) -> Self {
        self.0.subject = Some(subject.to_string());
        self
    }

    /// Adds how much was tried.
    #[must_use]
    pub fn with_effort(mut self, effort: Effort) -> Self {
        self.0.effort = effort;
        self
    }

    /// Adds the cause.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.0.source = Some(source.into());
        self
    }

    /// Marks that the endpoint was never reached, or has been gone for long: no other request can
    /// do better.
    #[must_use]
    pub fn with_endpoint_down(mut self) -> Self {
        self.0.is_endpoint_down = true;
        self
    }

    /// Whether the endpoint was never reached, or has been gone for long.
    pub fn is_endpoint_down(&self) -> bool {
        self.0.is_endpoint_down
    }

    /// The same error for another caller; its cause becomes text.
    #[must_use]
    pub fn duplicate(&self) -> Self {
        let inner = &*self.0;
        Self(Box::new(Inner {
            kind: inner.kind,
            message: inner.message.clone(),
            operation: inner.operation,
            subject: inner.subject.clone(),
            service: inner.service.clone(),
            effort: inner.effort,
            is_endpoint_down: inner.is_endpoint_down,
            source: inner.source.as_ref().map(|source| source.to_string().into()),
        }))
    }

    /// The same without what a reader of texts takes out of them. The cause becomes text.
    #[must_use]
    pub(crate) fn map_texts(mut self, map: impl Fn(&str) -> String) -> Self {
        let inner = &mut *self.0;
        inner.message = map(&inner.message);
        if let Some(source) = &inner.source {
            let (plain, shown) = (source.to_string(), map(&source.to_string()));
            if plain != shown {
                inner.source = Some(shown.into());
            }
        }
        if let Some(service) = &mut inner.service {
            for text in [&mut service.code, &mut service.message, &mut service.request_id] {
                *text = map(text);
            }
            for text in [&mut service.region, &mut service.endpoint].into_iter().flatten() {
                *text = map(text);
            }
        }
        self
    }

    /// Kind of the error.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// S3 operation that failed.
    pub fn operation(&self) -> Option<&'static str> {
        self.0.operation
    }

    /// Object, bucket or path it happened to.
    pub fn subject(&self) -> Option<&str> {
        self.0.subject.as_deref()
    }

    /// The server's answer, when there was one.
    pub fn service_error(&self) -> Option<&ServiceError> {
        self.0.service.as_ref()
    }

    /// The server's error code, or an empty string.
    pub fn code(&self) -> &str {
        self.0.service.as_ref().map_or("", |service| service.code.as_str())
    }

    /// Whether an object is not there, though its bucket is.
    pub fn is_missing_object(&self) -> bool {
        self.kind() == ErrorKind::NotFound && self.code() != "NoSuchBucket"
    }

    /// Whether a condition failed only after an earlier attempt, which may have been carried out.
    pub fn is_retried_refusal(&self) -> bool {
        self.kind() == ErrorKind::PreconditionFailed && self.effort().attempts > 1
    }

    /// Attempts and time spent.
    pub fn effort(&self) -> Effort {
        self.0.effort
    }

    /// Whose fault it is.
    pub fn fault(&self) -> Fault {
        match self.0.kind {
            ErrorKind::NotFound
            | ErrorKind::AccessDenied
            | ErrorKind::PreconditionFailed
            | ErrorKind::Request
            | ErrorKind::WrongRegion
            | ErrorKind::Credentials
            | ErrorKind::Config
            | ErrorKind::NotS3
            | ErrorKind::SourceChanged
            | ErrorKind::RemovalRefused
            | ErrorKind::Cancelled => Fault::Caller,
            ErrorKind::Throttled | ErrorKind::Server | ErrorKind::Integrity => Fault::Service,
            ErrorKind::Transport | ErrorKind::Certificate | ErrorKind::Timeout => Fault::Network,
            ErrorKind::Local => Fault::Machine,
        }
    }

    /// Whether the same may succeed later as it is: the network, the service or what was allowed
    /// was in the way, and not what was asked for.
    pub fn may_pass(&self) -> bool {
        matches!(
            self.0.kind,
            ErrorKind::Transport
                | ErrorKind::Timeout
                | ErrorKind::Throttled
                | ErrorKind::Server
                | ErrorKind::Credentials
                | ErrorKind::Cancelled
        )
    }
}

impl fmt::Display for Error {
    /// Service errors read as the AWS tools print them, so that scripts that match on them work:
    /// `An error occurred (Code) when calling the Operation operation: message`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inner = &*self.0;
        if let Some(service) = &inner.service {
            write!(f, "An error occurred ({})", service.code)?;
            if let Some(operation) = inner.operation {
                write!(f, " when calling the {operation} operation")?;
            }
            if inner.gave_up() {
                write!(f, " (reached max retries: {})", inner.effort.attempts - 1)?;
            }
            write!(f, ": {}", service.message)?;
        } else {
            f.write_str(&inner.message)?;
            if let Some(source) = &inner.source {
                write!(f, ": {source}")?;
            }
        }
        if inner.gave_up() {
            let seconds = inner.effort.elapsed.as_secs_f64();
            write!(f, " (gave up after {} attempts in {seconds:.1} s)", inner.effort.attempts)?;
        }
        Ok(())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inner = &*self.0;
        f.debug_struct("Error")
            .field("kind", &inner.kind)
            .field("message", &inner.message)
            .field("operation", &inner.operation)
            .field("subject", &inner.subject)
            .field("service", &inner.service)
            .field("effort", &inner.effort)
            .field("is_endpoint_down", &inner.is_endpoint_down)
            .field("source", &inner.source)
            .finish()
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.source.as_deref().map(|source| source as &(dyn StdError + 'static))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duplicate_says_the_same() {
        let service = ServiceError { status: 403, code: "No".into(), ..ServiceError::default() };
        let effort = Effort { attempts: 3, unanswered: 1, elapsed: Duration::from_secs(1) };
        let answered = Error::service(ErrorKind::Throttled, "PutObject", service);
        let failed =
            Error::new(ErrorKind::Transport, "no way").with_source("cut").with_subject("s");
        for error in [answered.with_endpoint_down(), failed.with_operation("GetObject")] {
            let error = error.with_effort(effort);
            assert_eq!(format!("{error} {error:?}"), {
                let same = error.duplicate();
                format!("{same} {same:?}")
            });
        }
    }

    #[test]
    fn all_texts_of_an_error_are_mapped() {
        let hide = |text: &str| text.replace("secret", "******");
        let service = ServiceError {
            status: 403,
            code: "secret-code".to_owned(),
            message: "a secret message".to_owned(),
            request_id: "secret".to_owned(),
            region: Some("secret-1".to_owned()),
            endpoint: Some("secret.test".to_owned()),
        };
        let answered = Error::service(ErrorKind::AccessDenied, "GetObject", service);
        let failed = Error::new(ErrorKind::Transport, "secret").with_source("the secret cause");
        for error in [answered, failed] {
            let shown = error.map_texts(hide);
            let all = format!("{shown} {shown:?}");
            assert!(all.contains("******") && !all.contains("secret"), "{all}");
        }
    }

    #[test]
    fn only_failures_that_may_pass_tell_of_retries() {
        let effort = Effort { attempts: 3, unanswered: 0, elapsed: Duration::from_millis(1_500) };
        let answered = |kind, status, code: &str| {
            let (code, message) = (code.to_owned(), "Why".to_owned());
            let service = ServiceError { status, code, message, ..ServiceError::default() };
            Error::service(kind, "HeadObject", service).with_effort(effort).to_string()
        };
        assert_eq!(
            answered(ErrorKind::NotFound, 404, "404"),
            "An error occurred (404) when calling the HeadObject operation: Why"
        );
        assert_eq!(
            answered(ErrorKind::Throttled, 503, "SlowDown"),
            "An error occurred (SlowDown) when calling the HeadObject operation \
             (reached max retries: 2): Why (gave up after 3 attempts in 1.5 s)"
        );
        let local = |kind| Error::new(kind, "no").with_effort(effort).to_string();
        assert_eq!(local(ErrorKind::Timeout), "no (gave up after 3 attempts in 1.5 s)");
        assert_eq!(local(ErrorKind::Certificate), "no");
    }
}
