//! Why a command ended early: the exit code, the message, and what may help.

use s3haul::journal::JournalError;
use s3haul::script::ScriptError;
use s3haul_wire::{Error, ErrorKind};

use crate::{exit, hints};

/// The end of a command that did not do its work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Exit code.
    pub status: u8,
    /// Printed after `s3haul: error: `.
    pub message: String,
    /// Printed after `hint: `.
    pub hint: Option<String>,
    /// What failed, where it was a request or a file.
    pub cause: Option<Box<Cause>>,
}

/// What programs want to know of an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// What went wrong.
    pub kind: ErrorKind,
    /// The S3 operation, such as `PutObject`.
    pub operation: Option<&'static str>,
    /// What it was done to.
    pub subject: Option<String>,
    /// The server's error code; empty where there was no answer.
    pub code: String,
    /// The server's id of the request; empty where there was no answer.
    pub request_id: String,
    /// HTTP status.
    pub http_status: Option<u16>,
}

impl From<&Error> for Cause {
    fn from(error: &Error) -> Self {
        let service = error.service_error();
        Self {
            kind: error.kind(),
            operation: error.operation(),
            subject: error.subject().map(str::to_owned),
            code: error.code().to_owned(),
            request_id: service.map(|service| service.request_id.clone()).unwrap_or_default(),
            http_status: service.map(|service| service.status),
        }
    }
}

impl Failure {
    /// Arguments that make no sense.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self { status: exit::USAGE, ..Self::other(message) }
    }

    /// Anything that has no code of its own.
    pub(crate) fn other(message: impl Into<String>) -> Self {
        Self { status: exit::OTHER, message: message.into(), hint: None, cause: None }
    }

    /// An error in the arguments, or in a file that they name: exit code 252 for bad configuration.
    pub(crate) fn of_arguments(error: Error) -> Self {
        match error.kind() {
            ErrorKind::Config => Self::from(error).with_status(exit::USAGE),
            _ => error.into(),
        }
    }

    /// Standard output could not be written.
    pub(crate) fn unwritten(error: &std::io::Error) -> Self {
        Self::other(format!("cannot write to standard output: {error}"))
    }

    /// The same with a hint.
    pub(crate) fn with_hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// The same with a hint, where there is one.
    pub(crate) fn with_some_hint(self, hint: Option<String>) -> Self {
        Self { hint: hint.or(self.hint), ..self }
    }

    /// The same with another exit code.
    pub(crate) fn with_status(self, status: u8) -> Self {
        Self { status, ..self }
    }
}

impl From<JournalError> for Failure {
    fn from(error: JournalError) -> Self {
        match error {
            JournalError::Unknown { .. }
            | JournalError::Running { .. }
            | JournalError::Complete { .. } => Self::usage(error.to_string()),
            _ => Self::other(error.to_string()),
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self {
            status: exit::of_error(&error),
            message: error.to_string(),
            hint: hints::for_error(&error),
            cause: Some(Box::new((&error).into())),
        }
    }
}

impl From<ScriptError> for Failure {
    /// A script that fails ends the command: what it would have said of the rest is not known.
    fn from(error: ScriptError) -> Self {
        Self::other(format!("{error:#}")).with_status(exit::FAILED)
    }
}
