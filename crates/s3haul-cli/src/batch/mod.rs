//! `run`: the lines of a file of commands, as types and values. What runs them is in `commands`.

#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod fuzzing;
mod line;
mod report;
mod words;

pub(crate) use line::{Line, Parser};
pub(crate) use report::{FailedLines, LineReport, LineResult};
pub(crate) use words::split as split_words;
