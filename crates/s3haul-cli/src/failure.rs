//! Why a command ended early: the exit code, the message, and what may help.

use s3haul::journal::JournalError;
use s3haul::script::ScriptError;
use s3haul_wire::Error;

use crate::{exit, hints};

/// The end of a command that did not do its work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    /// Exit code.
    pub(crate) status: u8,
    /// Printed after `s3haul: error: `.
    pub(crate) message: String,
    /// Printed after `hint: `.
    pub(crate) hint: Option<String>,
}

impl Failure {
    /// Arguments that make no sense.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self { status: exit::USAGE, message: message.into(), hint: None }
    }

    /// Anything that has no code of its own.
    pub(crate) fn other(message: impl Into<String>) -> Self {
        Self { status: exit::OTHER, message: message.into(), hint: None }
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
        }
    }
}

impl From<ScriptError> for Failure {
    /// A script that fails ends the command: what it would have said of the rest is not known.
    fn from(error: ScriptError) -> Self {
        Self { status: exit::FAILED, message: format!("{error:#}"), hint: None }
    }
}
