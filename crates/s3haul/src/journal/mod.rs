//! Journals: what a job decided and how far it got, so that a run which ended before its time is
//! gone on with.
//!
//! `state` says what has to be known, and is pure. The changes of a state go to a log as they
//! happen (`log`), for a process that is killed, and the state goes to `SQLite` once a second
//! (`store`), for a machine that loses its power. [`Journal`] is both, `folder` where journals
//! lie.

pub(crate) mod folder;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod fuzzing;
mod keeper;
mod live;
pub(crate) mod log;
pub(crate) mod state;
mod store;

pub use folder::{
    JobStatus, failures, find_interrupted, jobs, prune, prune_all, rates, remove, status,
};
pub(crate) use keeper::Subject;
pub use keeper::{Journal, JournalRequest, Resumed};
pub use live::Live;
pub use state::Totals;
pub use store::{Ending, Failed, JournalError, LearntRate};
