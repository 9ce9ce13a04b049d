//! Which versions and delete markers a command takes: rules over the stream in which
//! `ListObjectVersions` returns them, keys in order and of each key the newest first.
//!
//! The order of the stream is the truth: times have whole seconds, and several versions may share
//! one. What is known of a key is carried over the ends of pages and is small, whatever the number
//! of versions. Where a server returns a key's versions in another order, removals take less than
//! they might and never more; reading a bucket as it was is an error then.
//!
//! The rules agree with themselves: what is left of a removal that was stopped at any point is what
//! the same rule takes the next time.

use s3haul_wire::error::{Error as WireError, ErrorKind};
use s3haul_wire::ops::ListedVersion;
use thiserror::Error;

/// A version or delete marker, as far as the rules look at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Version<'a> {
    /// Key.
    pub key: &'a str,
    /// The server calls it the current one.
    pub is_latest: bool,
    /// Whether it is a delete marker.
    pub is_delete_marker: bool,
    /// Last modification in seconds since 1970.
    pub last_modified_s: i64,
}

/// Which versions and delete markers are taken.
///
/// `older_than_s` is about the time from which on one was of no use to readers: a noncurrent one
/// must have become noncurrent before that moment, a current one must have been made before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VersionRule {
    /// All versions and delete markers.
    All {
        /// Only those that are older.
        older_than_s: Option<i64>,
    },
    /// All delete markers.
    DeleteMarkers {
        /// Only those that are older.
        older_than_s: Option<i64>,
    },
    /// What is not current, but for the newest versions of it: all that is older than these, with
    /// the delete markers between.
    Noncurrent {
        /// How many noncurrent versions stay; delete markers are not counted.
        keep: u64,
        /// Only those that are older.
        older_than_s: Option<i64>,
    },
    /// The delete markers that hide a key: the current one and those that follow it without a
    /// version between.
    Hiding {
        /// Only those made at this moment or later.
        since_s: Option<i64>,
    },
    /// What was current at a moment; a key of which that is a delete marker was not there.
    AsOf {
        /// The moment in seconds since 1970.
        at_s: i64,
    },
}

/// The server returns versions in an order from which the past cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "the server does not list versions in the order of keys and from the newest to the oldest \
     (`{key}`): the state of the bucket at that time is unknown"
)]
pub struct Disorder {
    key: String,
}

/// Where a version stands among those of its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Standing {
    is_current: bool,
    /// It is the first of its key, and the server calls none the current one.
    is_first: bool,
    /// It is the current one, or the current one and all between are delete markers.
    is_below_markers_only: bool,
    /// Noncurrent versions that are newer, delete markers not counted.
    rank: u64,
    /// When it became noncurrent, which is when its successor was made; none for what is current
    /// and where that is unknown.
    noncurrent_since_s: Option<i64>,
}

/// State of a key from the versions seen so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct KeyState {
    key: String,
    /// Anything at all.
    has_any: bool,
    /// The current one.
    has_current: bool,
    /// A version that is no delete marker.
    has_version: bool,
    /// Versions that are not current.
    noncurrent: u64,
    /// Time of the version seen last.
    last_s: Option<i64>,
    /// What was current at the moment asked for has been found.
    is_found: bool,
    /// Of the delete markers on top one was too old.
    is_top_over: bool,
}

/// A rule at work on a stream.
#[derive(Clone, Debug)]
pub struct VersionSelector {
    rule: VersionRule,
    state: KeyState,
    /// The server says which versions are current.
    knows_current: bool,
}

impl VersionRule {
    /// Whether it is about removing versions for good, and not about reading.
    pub fn removes(self) -> bool {
        !matches!(self, Self::AsOf { .. })
    }
}

impl VersionSelector {
    /// At the beginning of a stream.
    pub fn new(rule: VersionRule) -> Self {
        Self { rule, state: KeyState::default(), knows_current: false }
    }

    /// Whether the next of the stream is taken.
    pub fn takes(&mut self, version: &Version<'_>) -> Result<bool, Disorder> {
        if let VersionRule::AsOf { at_s } = self.rule {
            return self.was_current(version, at_s);
        }
        let standing = self.place(version);
        Ok(match self.rule {
            VersionRule::All { older_than_s } => is_older(standing, version, older_than_s),
            VersionRule::DeleteMarkers { older_than_s } => {
                version.is_delete_marker && is_older(standing, version, older_than_s)
            }
            VersionRule::Noncurrent { keep, older_than_s } => {
                !(standing.is_current || standing.is_first)
                    && standing.rank >= keep
                    && is_older(standing, version, older_than_s)
            }
            VersionRule::Hiding { since_s } => self.hides(standing, version, since_s),
            VersionRule::AsOf { .. } => false,
        })
    }

    /// The same of one as it was listed; fails where the server's order leaves it open.
    pub(crate) fn takes_listed(
        &mut self,
        listed: &ListedVersion,
    ) -> s3haul_wire::error::Result<bool> {
        let taken = self.takes(&Version {
            key: &listed.key,
            is_latest: listed.is_latest,
            is_delete_marker: listed.is_delete_marker,
            last_modified_s: listed.last_modified_s,
        });
        taken.map_err(|disorder| WireError::new(ErrorKind::Server, disorder.to_string()))
    }

    /// Goes on to the next of the stream.
    fn place(&mut self, version: &Version<'_>) -> Standing {
        // A second current version shows that the server began the key anew: counting on
        // would count what stays twice.
        if version.key != self.state.key || version.is_latest {
            self.state = KeyState { key: version.key.to_owned(), ..KeyState::default() };
        }
        let state = &mut self.state;
        self.knows_current |= version.is_latest;
        let (is_current, is_first) = (version.is_latest, !state.has_any && !self.knows_current);
        let standing = Standing {
            is_current,
            is_first,
            is_below_markers_only: !state.has_version && (is_current || state.has_current),
            rank: state.noncurrent,
            // A successor that is older than it is none: the two were returned out of order.
            noncurrent_since_s: state.last_s.filter(|since| *since >= version.last_modified_s),
        };
        state.has_any = true;
        state.has_current |= is_current;
        state.has_version |= !version.is_delete_marker;
        state.noncurrent += u64::from(!is_current && !is_first && !version.is_delete_marker);
        state.last_s = Some(version.last_modified_s);
        standing
    }

    fn hides(&mut self, standing: Standing, version: &Version<'_>, since_s: Option<i64>) -> bool {
        if !version.is_delete_marker || !standing.is_below_markers_only || self.state.is_top_over {
            return false;
        }
        let is_recent = since_s.is_none_or(|since| version.last_modified_s >= since);
        self.state.is_top_over = !is_recent;
        is_recent
    }

    fn was_current(&mut self, version: &Version<'_>, at_s: i64) -> Result<bool, Disorder> {
        let is_same_key = self.state.key == version.key && self.state.has_any;
        if is_same_key && version.is_latest || version.key < self.state.key.as_str() {
            return Err(Disorder { key: version.key.to_owned() });
        }
        if !is_same_key {
            let key = version.key.to_owned();
            self.state = KeyState { key, has_any: true, ..KeyState::default() };
        }
        if self.state.is_found || version.last_modified_s > at_s {
            return Ok(false);
        }
        self.state.is_found = true;
        Ok(!version.is_delete_marker)
    }
}

/// Whether something was of no use to readers before a moment already.
fn is_older(standing: Standing, version: &Version<'_>, moment_s: Option<i64>) -> bool {
    let Some(moment_s) = moment_s else { return true };
    if standing.is_current {
        return version.last_modified_s < moment_s;
    }
    // Where that is not known, it may have become noncurrent just now.
    standing.noncurrent_since_s.is_some_and(|since| since < moment_s)
}

#[cfg(test)]
mod tests;
