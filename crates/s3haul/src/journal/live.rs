//! Figures of a run, to be seen from elsewhere. None of it is needed to resume.

use serde::{Deserialize, Serialize};

/// Figures of one run, as of its last snapshot. Fields that a writer did not know are zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Live {
    /// Objects of which it was decided what is to be done.
    pub planned_objects: u64,
    /// Their bytes.
    pub planned_bytes: u64,
    /// Objects among them that ended in any way.
    pub ended_objects: u64,
    /// Bytes moved.
    pub moved_bytes: u64,
    /// Bytes that are not left to be moved: those moved, and those of objects that were not. An
    /// older writer adds both up in `moved_bytes`.
    pub settled_bytes: u64,
    /// Nothing more will be planned.
    pub is_planned: bool,
    /// Requests sent, each attempt by itself.
    pub requests: u64,
    /// Those that the service refused because there were too many.
    pub refused: u64,
}

/// Where the figures of a run come from.
pub(super) struct Figures(pub(super) Box<dyn Fn() -> Live + Send + Sync>);

impl std::fmt::Debug for Figures {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0().fmt(f)
    }
}
