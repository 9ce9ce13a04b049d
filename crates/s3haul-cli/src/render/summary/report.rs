//! What is rendered, and how.

use s3haul::summary::{Figures, UploadFigures};

/// What is to be shown.
pub(crate) struct Report<'a> {
    /// Bucket.
    pub(crate) bucket: &'a str,
    /// What all keys start with.
    pub(crate) prefix: &'a str,
    /// Whether objects under the prefix were left out, by a pattern or a range.
    pub(crate) is_selection: bool,
    /// The time that ages are relative to, in seconds since 1970.
    pub(crate) at_s: i64,
    /// Levels of folders.
    pub(crate) depth: usize,
    /// Rows of rankings.
    pub(crate) top: usize,
    /// Figures of objects.
    pub(crate) figures: &'a Figures,
    /// Figures of uploads, where they were asked for.
    pub(crate) uploads: Option<&'a UploadFigures>,
}

/// How text is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Style {
    /// Characters beyond ASCII may be used for bars and signs.
    pub(crate) unicode: bool,
}
