//! What an answer was, beside what was expected. Pure.

use s3haul_wire::ops::PlainAnswer;
use s3haul_wire::{Error, ErrorKind};

/// What a service does of what a probe expects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It does it.
    Holds,
    /// It does something else, which this says.
    Fails(String),
    /// The question makes no sense here, for this reason.
    Skipped(String),
    /// There was no answer, for this reason.
    Unknown(String),
}

impl Outcome {
    /// Its name.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Fails(_) => "fails",
            Self::Skipped(_) => "skipped",
            Self::Unknown(_) => "unknown",
        }
    }

    pub(super) fn is_skipped(&self) -> bool {
        matches!(self, Self::Skipped(_))
    }

    /// What the service did instead, or why it was not asked; empty where it holds.
    pub fn detail(&self) -> &str {
        match self {
            Self::Holds => "",
            Self::Fails(detail) | Self::Skipped(detail) | Self::Unknown(detail) => detail,
        }
    }
}

/// Result of a probe: `Err` is what was found instead of what was expected.
pub(super) type Judged = Result<(), Mismatch>;

/// Why a probe did not find what it expected.
#[derive(Debug)]
pub(super) enum Mismatch {
    /// The service did something else.
    Other(String),
    /// The question made no sense here.
    Senseless(String),
    /// The answer says nothing about the question: these credentials may not ask, for example.
    Unclear(String),
    /// A request failed.
    Error(Error),
}

impl From<Error> for Mismatch {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

/// Nothing where the condition holds, else what was found.
pub(super) fn ensure(holds: bool, found: impl FnOnce() -> String) -> Judged {
    if holds { Ok(()) } else { Err(Mismatch::Other(found())) }
}

/// Nothing where the condition holds, else what was found in an answer. A refusal of the
/// credentials says nothing about the question.
pub(super) fn ensure_answer(
    holds: bool,
    answer: &PlainAnswer,
    found: impl FnOnce() -> String,
) -> Judged {
    match ensure(holds, found) {
        Err(Mismatch::Other(found)) if matches!(answer.status, 401 | 403) => {
            let is_answer = is_of_odd_key(&answer.code);
            Err(if is_answer { Mismatch::Other(found) } else { Mismatch::Unclear(found) })
        }
        judged => judged,
    }
}

/// Whether a refusal may be due to the key of the object, not to the credentials: a service may
/// read a key otherwise than it was signed.
fn is_of_odd_key(code: &str) -> bool {
    code == "SignatureDoesNotMatch"
}

impl From<Judged> for Outcome {
    fn from(judged: Judged) -> Self {
        match judged {
            Ok(()) => Self::Holds,
            Err(Mismatch::Other(found)) => Self::Fails(found),
            Err(Mismatch::Senseless(why)) => Self::Skipped(why),
            Err(Mismatch::Unclear(why)) => Self::Unknown(why),
            Err(Mismatch::Error(error)) => match error.kind() {
                ErrorKind::AccessDenied if !is_of_odd_key(error.code()) => {
                    Self::Unknown(error.to_string())
                }
                ErrorKind::Transport
                | ErrorKind::Timeout
                | ErrorKind::Certificate
                | ErrorKind::Credentials
                | ErrorKind::Throttled => Self::Unknown(error.to_string()),
                _ => Self::Fails(error.to_string()),
            },
        }
    }
}
