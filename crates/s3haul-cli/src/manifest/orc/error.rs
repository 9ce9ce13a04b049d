//! What is wrong with an ORC file.

use std::io;

/// Why a file cannot be read.
#[derive(Debug)]
pub(crate) enum OrcError {
    Io(io::Error),
    /// It breaks the rules of the format.
    Broken(&'static str),
    /// It has what is not known here.
    Unknown(String),
}

impl From<io::Error> for OrcError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl std::fmt::Display for OrcError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Io(error) => error.fmt(f),
            Self::Broken(what) => write!(f, "its {what} is broken"),
            Self::Unknown(what) => write!(f, "{what} is not supported"),
        }
    }
}

pub(crate) type Orc<T> = std::result::Result<T, OrcError>;
