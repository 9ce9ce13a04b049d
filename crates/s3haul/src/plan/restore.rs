//! Archived objects: whether one can be read, is being restored, or has to be restored first.
//!
//! <https://docs.aws.amazon.com/AmazonS3/latest/userguide/archived-objects.html>

use s3haul_wire::ops::RestoreTier;

/// Storage classes whose objects cannot be read before they are restored.
const ARCHIVES: [&str; 2] = ["GLACIER", "DEEP_ARCHIVE"];
/// The storage class that moves objects into an archive of its own and back for good.
pub const INTELLIGENT_TIERING: &str = "INTELLIGENT_TIERING";

/// What S3 returns about an object, as far as it matters here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ArchiveFacts<'a> {
    /// Storage class; empty for STANDARD.
    pub storage_class: &'a str,
    /// `x-amz-restore`: `ongoing-request="true"`, or `ongoing-request="false", expiry-date="…"`.
    pub restore: Option<&'a str>,
    /// `x-amz-archive-status`, returned for what `INTELLIGENT_TIERING` has archived.
    pub archive_status: Option<&'a str>,
}

/// Whether an object can be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ArchiveState {
    /// It is in no archive.
    NotArchived,
    /// It has to be restored first.
    Archived,
    /// A restore is under way.
    InProgress,
    /// It can be read, until this HTTP date where there is one.
    Restored {
        /// The date.
        until: Option<String>,
    },
}

impl ArchiveState {
    /// What the headers of an object say.
    pub fn of(facts: ArchiveFacts<'_>) -> Self {
        let is_archive = ARCHIVES.contains(&facts.storage_class) || facts.archive_status.is_some();
        match facts.restore {
            Some(told) if told.contains("ongoing-request=\"true\"") => Self::InProgress,
            Some(told) if is_archive && told.contains("ongoing-request=\"false\"") => {
                Self::Restored { until: expiry(told) }
            }
            _ if is_archive => Self::Archived,
            _ => Self::NotArchived,
        }
    }

    /// The word for it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::NotArchived => "not archived",
            Self::Archived => "archived",
            Self::InProgress => "in progress",
            Self::Restored { .. } => "restored",
        }
    }

    /// The date until which it is restored.
    pub fn until(self) -> Option<String> {
        match self {
            Self::Restored { until } => until,
            _ => None,
        }
    }

    /// Whether the object can be read and copied.
    pub fn is_readable(&self) -> bool {
        matches!(self, Self::NotArchived | Self::Restored { .. })
    }
}

/// Whether the storage class in a listing says that an object is in no archive. An empty class is
/// unknown.
pub fn is_never_archived(storage_class: &str) -> bool {
    let is_told = !storage_class.is_empty();
    is_told && !ARCHIVES.contains(&storage_class) && storage_class != INTELLIGENT_TIERING
}

fn expiry(told: &str) -> Option<String> {
    let (_, rest) = told.split_once("expiry-date=\"")?;
    Some(rest.split_once('"')?.0.to_owned())
}

/// What is done about archived objects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RestoreTask {
    /// Reports whether they can be read.
    #[default]
    Tell,
    /// They are restored.
    Begin {
        /// Days that the copies stay.
        days: u32,
        /// Tier.
        tier: Option<RestoreTier>,
        /// The job ends when all can be read.
        waits: bool,
    },
}

impl RestoreTask {
    /// The tier that requests name.
    pub(crate) fn tier(self) -> Option<RestoreTier> {
        if let Self::Begin { tier, .. } = self { tier } else { None }
    }

    /// Whether the job waits until the objects can be read.
    pub(crate) fn waits(self) -> bool {
        matches!(self, Self::Begin { waits: true, .. })
    }

    /// Whether it has nothing to do for an object, as the listing shows.
    pub(crate) fn skips(self, storage_class: &str) -> bool {
        self != Self::Tell && is_never_archived(storage_class)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(class: &str, restore: Option<&str>, archive_status: Option<&str>) -> String {
        let state =
            ArchiveState::of(ArchiveFacts { storage_class: class, restore, archive_status });
        let name = state.name();
        state.until().map_or(name.to_owned(), |until| format!("{name} until {until}"))
    }

    #[test]
    fn headers_tell_the_state() {
        let done = Some("ongoing-request=\"false\", expiry-date=\"Fri, 21 Dec 2012 00:00:00 GMT\"");
        let ongoing = Some("ongoing-request=\"true\"");
        for (class, restore, status, expected) in [
            ("", None, None, "not archived"),
            ("GLACIER_IR", None, None, "not archived"),
            ("GLACIER", None, None, "archived"),
            ("DEEP_ARCHIVE", ongoing, None, "in progress"),
            ("GLACIER", done, None, "restored until Fri, 21 Dec 2012 00:00:00 GMT"),
            ("GLACIER", Some("ongoing-request=\"false\""), None, "restored"),
            ("INTELLIGENT_TIERING", None, None, "not archived"),
            ("INTELLIGENT_TIERING", None, Some("DEEP_ARCHIVE_ACCESS"), "archived"),
            ("INTELLIGENT_TIERING", ongoing, Some("ARCHIVE_ACCESS"), "in progress"),
            ("INTELLIGENT_TIERING", Some("ongoing-request=\"false\""), None, "not archived"),
        ] {
            assert_eq!(state(class, restore, status), expected, "{class} {restore:?} {status:?}");
        }
    }

    #[test]
    fn a_listing_shows_what_needs_no_head() {
        for class in ["STANDARD", "GLACIER_IR", "REDUCED_REDUNDANCY", "EXPRESS_ONEZONE"] {
            assert!(is_never_archived(class), "{class}");
        }
        for class in ["", "GLACIER", "DEEP_ARCHIVE", "INTELLIGENT_TIERING"] {
            assert!(!is_never_archived(class), "{class}");
        }
    }
}
