//! What is rendered, and how.

use s3haul::summary::{AGE_LIMITS, Figures, UploadFigures};

/// What ages are called, in their order.
pub(crate) const AGES: [&str; AGE_LIMITS.len()] = [
    "under a day",
    "1 to 7 days",
    "7 to 30 days",
    "30 to 91 days",
    "91 to 365 days",
    "1 to 2 years",
    "2 to 3 years",
    "3 to 5 years",
    "5 to 10 years",
    "over 10 years",
];

/// What is odd in keys, by the names that programs get.
pub(crate) const ODDITIES: [(&str, &str); 10] = [
    ("not_ascii", "beyond ASCII"),
    ("combining_mark", "combining marks"),
    ("control_character", "control characters"),
    ("space", "spaces"),
    ("backslash", "backslashes"),
    ("leading_slash", "a slash at the start"),
    ("double_slash", "two slashes in a row"),
    ("trailing_slash", "a slash at the end"),
    ("dot_component", "a component . or .."),
    ("long_component", "a component over 255 bytes"),
];

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

/// The sizes of a power of two.
pub(crate) fn size_range(from: u64) -> String {
    match from {
        0 => "empty".to_owned(),
        1 => "1 byte".to_owned(),
        from => format!("{} to {}", power(from), power(from.saturating_mul(2))),
    }
}

/// A power of two without decimal places.
fn power(bytes: u64) -> String {
    const UNITS: [&str; 7] = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let (unit, name) = UNITS
        .iter()
        .enumerate()
        .rfind(|(unit, _)| bytes >> (10 * unit) > 0)
        .unwrap_or((0, &"bytes"));
    format!("{} {name}", bytes >> (10 * unit))
}
