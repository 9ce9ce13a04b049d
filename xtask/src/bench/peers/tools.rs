//! The tools, in the order of the tables.

use super::call::Line;
use super::{aws, s3haul};

/// Where a tool comes from when nobody says where it is.
#[derive(Clone, Copy)]
pub(super) enum Source {
    /// Built here.
    Ours,
    /// The Python environment of the tests' servers.
    Servers,
}

/// A tool that a benchmark knows.
pub(super) struct Tool {
    /// What it is called in tables and in `--tool-path`.
    pub(super) name: &'static str,
    /// Its program's file name.
    pub(super) program: &'static str,
    pub(super) source: Source,
    pub(super) line: Line,
}

pub(super) const TOOLS: &[Tool] = &[
    Tool { name: "s3haul", program: "s3haul", source: Source::Ours, line: s3haul::line },
    Tool { name: "aws", program: "aws", source: Source::Servers, line: aws::line },
];
