//! What a transfer prints.

use s3haul::job::value::{OutputLines, RowFormat};

/// Progress in the form of `aws s3`, printed also where there is no terminal because a flag of
/// its own asked for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AwsProgress {
    /// A new line each time instead of overwriting the last one.
    pub(crate) multiline: bool,
    /// Seconds between lines at least.
    pub(crate) frequency_s: u64,
}

/// What a transfer prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OutputSettings {
    /// Which lines.
    pub(crate) lines: OutputLines,
    /// Events as JSON.
    pub(crate) json: bool,
    /// A progress bar, where there is a terminal.
    pub(crate) bar: bool,
    /// Progress as `aws s3` prints it.
    pub(crate) aws_progress: Option<AwsProgress>,
    /// What a command on tags does to them: `set`, `add` or `remove`.
    pub(crate) tag_change: Option<&'static str>,
    /// Format of the tags that the job reads, which is then all that it prints about objects that
    /// are done.
    pub(crate) tags: Option<RowFormat>,
    /// It is printed whether objects are archived, and nothing else of objects that are done.
    pub(crate) archive_states: bool,
}
